"""Fourteen everyday scripts: the version with unseen is no longer, and what both compute agrees."""

from __future__ import annotations

import ast
import importlib.util
import io
import tokenize
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "everyday"

# what both versions compute, read from the names that they leave, and how far apart the two may be
SHARED = {
    "cross_val_score": (lambda s: s["scores"].mean(), lambda u: u["a"].headline.on_scale().value, 1e-9),
    "cross_validate": (lambda s: s["found"]["test_roc_auc"].mean(), lambda u: u["a"].headline.on_scale().value, 1e-9),
    "classification_report": (lambda s: _recall(s), lambda u: u["m"]["sensitivity"].value, 1e-9),
    "held_out": (lambda s: s["accuracy"], lambda u: u["a"].headline.on_scale().value, 1e-9),
    # scikit-learn counts on one test set of 60 rows, ours over all rows
    "importance": (lambda s: s["found"].importances_mean.max(), lambda u: u["importance"].value.max(), 0.1),
    # other folds, a hundredth of the error apart
    "permutation_test": (lambda s: -s["score"], lambda u: u["test"].error, 60),
    "calibration": (lambda s: s["brier"], lambda u: u["m"]["brier"].value, 1e-9),
    "roc": (lambda s: s["auc"], lambda u: u["roc"].auc.value, 1e-9),
    # folds of 17 and 18 rows: a mean over folds and a mean over rows
    "grid_search": (lambda s: 1 - s["scores"].mean(), lambda u: u["a"].error, 0.002),
    "two_models": (lambda s: s["difference"], lambda u: u["c"]["lda", "tree"].difference, 1e-9),
    # other splits, and a curve through all sizes
    "learning_curve": (lambda s: s["errors"][-1], lambda u: u["curve"].at(300)[0], 0.02),
    "confusion": (lambda s: s["counts"], lambda u: u["confusion"].counts, 0),
    "groups": (lambda s: 1 - s["scores"].mean(), lambda u: u["a"].error, 1e-9),
    "time_order": (lambda s: -s["scores"].mean(), lambda u: u["a"].headline.on_scale().value, 1e-9),
}


def _recall(names):
    from sklearn.metrics import recall_score

    return recall_score(names["y_test"], names["predicted"], average="macro")


def _pairs():
    spec = importlib.util.spec_from_file_location("make_pairs_of_docs", ROOT / "docs" / "make_pairs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _code_lines(path):
    """Return the number of lines with code: neither blank, nor comment, nor docstring."""
    text = path.read_text()
    first = ast.parse(text).body[0]
    skip = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for t in tokens if t.type not in skip for line in range(t.start[0], t.end[0] + 1)}
    return len(lines - set(range(first.lineno, first.end_lineno + 1)))


def test_no_version_with_unseen_is_longer():
    lengths = {p: tuple(_code_lines(SCRIPTS / f"{p}_{lib}.py") for lib in ("sklearn", "unseen")) for p in SHARED}
    assert len(lengths) == 14
    assert not {pair: both for pair, both in lengths.items() if both[1] > both[0]}


def test_the_page_shows_the_scripts_as_they_are():
    pairs = _pairs()
    assert set(pairs.PAIRS) == set(SHARED)
    page = pairs.PAGE.read_text()
    for pair in SHARED:
        for library in ("sklearn", "unseen"):
            code = pairs.code_of(SCRIPTS / f"{pair}_{library}.py")
            assert f"```py\n{code}\n```" in page, "stale: run python docs/make_pairs.py"
    assert {p.stem for p in SCRIPTS.glob("*.py")} == {f"{p}_{lib}" for p in SHARED for lib in ("sklearn", "unseen")}


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("pair", list(SHARED))
def test_what_both_compute_agrees(pair, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = _pairs()
    if pair in module.TABLES and not (module.SHARED / module.TABLES[pair]).exists():
        pytest.skip("the shared data sets are not beside this checkout")
    theirs, ours, apart = SHARED[pair]
    (left, _), (right, text) = (module.run(SCRIPTS / f"{pair}_{lib}.py") for lib in ("sklearn", "unseen"))
    np.testing.assert_allclose(ours(right), theirs(left), rtol=0, atol=apart)
    assert text


def test_a_clone_without_the_tables_keeps_what_the_page_shows(tmp_path, monkeypatch):
    module = _pairs()
    monkeypatch.setattr(module, "SHARED", tmp_path)
    page = module.PAGE.read_text()
    for pair in module.TABLES:
        text = module.section(pair)
        assert text in page, pair
        assert text.count("```text") == 2, pair
        assert "\n## " not in text, pair
    monkeypatch.setattr(module, "PAGE", tmp_path / "everyday.md")
    module.PAGE.write_text(page.replace("groups=speaker", "groups=None"))
    with pytest.raises(SystemExit, match=r"groups changed.*vowel\.csv\.gz, which is not here"):
        module.section("groups")


@pytest.mark.parametrize("script", ["groups_sklearn", "groups_unseen", "time_order_sklearn", "time_order_unseen"])
def test_a_script_says_which_table_is_missing(script, tmp_path):
    folder = tmp_path / "clone" / "examples" / "everyday"
    folder.mkdir(parents=True)
    (folder / "script.py").write_text((SCRIPTS / f"{script}.py").read_text())
    with pytest.raises(SystemExit, match=r"\.csv\.gz is not here: put .* there"):
        _pairs().run(folder / "script.py")
