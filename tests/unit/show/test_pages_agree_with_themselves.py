"""What a page says twice it says alike: numbers, units, names; and nothing on it is code, a repr or an empty word."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.show import write
from unseen.show.inline_svg import LONGEST_NAME, break_name
from unseen.show.page import cell, prose
from unseen.show.sections import Section, Table, Text, build, table_of
from unseen.show.style import points

EFFORT = "splits=5,repeats=1,bootstrap=20,leave_out=20,curve=2"
samples = runpy.run_path(str(Path(__file__).parents[2] / "e2e" / "report_samples.py"))


def data(n: int = 120, seed: int = 6) -> tuple[np.ndarray, np.ndarray]:
    code = np.arange(n) % 2
    return np.random.default_rng(seed).normal(size=(n, 6)) + 1.3 * np.eye(2, 6)[code], code


def section_of(result, id: str) -> Section:
    return next(s for s in build(result) if s.id == id)


def texts(section: Section) -> list[str]:
    return [b.text for b in section.blocks if isinstance(b, Text)]


def tables(section: Section) -> list[Table]:
    return [b for b in section.blocks if isinstance(b, Table)]


def words_of(path) -> str:
    """Return what a reader of a report sees, without styles, scripts and the shapes of figures."""
    page = Path(path).read_text()
    page = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


@pytest.fixture(scope="module")
def two():
    X, code = data()
    return unseen.assess("logistic", X, np.where(code == 0, "yes", "no"), random_state=0, effort=EFFORT)


@pytest.fixture(scope="module")
def numbers():
    return unseen.assess("ridge", *unseen.datasets.load("diabetes").xy, random_state=0, effort=EFFORT)


def test_the_last_points_of_a_learning_curve_come_from_its_last_repetitions_alone(two):
    (table,) = tables(section_of(two, "learning-curve-numbers"))
    repetitions = table.rows[-1][-1]
    assert repetitions == 2
    (why,) = texts(section_of(two, "learning-curve"))
    assert f"come from {repetitions} splits" in why


def test_means_beside_a_figure_are_those_of_its_legend(numbers):
    made = section_of(numbers, "optimism")
    (table,) = tables(made)
    legend = next(b.svg for b in made.blocks if hasattr(b, "svg"))
    for row in table.rows:
        assert f"mean {row[1].text}<" in legend, row[0]
    losses = numbers.tables[numbers.headline_design]
    training, test, optimism = (row[1].sort for row in table.rows)
    np.testing.assert_allclose(test, np.sqrt(numbers.headline.value), rtol=1e-12)
    np.testing.assert_allclose(training, np.sqrt(losses.train_errors().mean()), rtol=1e-12)
    np.testing.assert_allclose(optimism, test - training, rtol=1e-12)


def test_a_short_run_took_some_time(two):
    from dataclasses import replace

    assert "the run took less than 0.1 s" in texts(section_of(replace(two, seconds=0.04), "headline"))[-1]
    assert "the run took 2.5 s" in texts(section_of(replace(two, seconds=2.5), "headline"))[-1]


def test_the_line_that_repeats_an_assessment_names_groups_time_and_the_positive_class():
    X, code = data()
    groups = np.repeat(np.arange(30), 4)
    by_group = unseen.assess("lda", X, code, groups=groups, positive=0, quick=True, random_state=0)
    assert "X, y, groups=groups, positive=0, random_state=0" in by_group.settings["repeat"]
    in_time = unseen.assess("ridge", X, X[:, 0] + np.arange(120), time=np.arange(120), quick=True, random_state=0)
    assert "X, y, time=time, random_state=0" in in_time.settings["repeat"]
    plain = unseen.assess("lda", X, code, quick=True, random_state=0)
    assert "X, y, random_state=0" in plain.settings["repeat"]


def test_a_picture_of_the_algorithms_error_does_not_call_it_this_models():
    X, _ = data()
    a = unseen.assess("ridge", X, X[:, 0] + np.arange(120), time=np.arange(120), quick=True, random_state=0)
    drawn = next(b.svg for b in section_of(a, "headline").blocks if hasattr(b, "svg"))
    assert str(a.target).startswith("the algorithm")
    assert ">the algorithm<" in drawn
    assert ">this model<" not in drawn


def test_a_curve_of_groups_is_not_said_to_have_a_band():
    X, code = data()
    a = unseen.assess("lda", X, code, groups=np.repeat(np.arange(30), 4), random_state=0, effort=EFFORT)
    captions = [p.caption for b in section_of(a, "confusion").blocks for p in getattr(b, "pictures", ())]
    assert "ROC curve." in captions
    m = unseen.measure(code, X[:, 0], groups=np.repeat(np.arange(30), 4), n_bootstrap=100)
    assert "band" not in next(b.caption for b in section_of(m, "roc").blocks)
    alone = unseen.measure(code, X[:, 0], n_bootstrap=100)
    assert "band" in next(b.caption for b in section_of(alone, "roc").blocks)


def test_a_held_out_report_does_not_speak_of_splits():
    from sklearn.linear_model import LogisticRegression

    X, code = data(240)
    fitted = LogisticRegression().fit(X[:120], code[:120])
    a = unseen.assess(fitted, X[120:], code[120:], prefit=True, random_state=0)
    wrong = int((fitted.predict(X[120:]) != code[120:]).sum())
    made = section_of(a, "hardest")
    assert texts(made) == [f"{120 - wrong} of 120 rows were right, {wrong} wrong."]
    assert [row[0].sort for row in tables(made)[0].rows] == [
        k + 1 for k in np.flatnonzero(fitted.predict(X[120:]) != code[120:])[:15]
    ]
    said = [b.caption for b in section_of(a, "confusion").blocks[0].pictures]
    said += [str(cell) for t in tables(section_of(a, "methods")) for row in t.rows for cell in row]
    assert not [text for text in said if "split" in text]


def test_a_class_called_no_finding_at_all_is_not_at_a_prevalence():
    names = np.array(["a", "b", "no finding at all"])
    truth = names[np.arange(90) % 3]
    m = unseen.measure(truth, np.roll(truth, 1), random_state=0, n_bootstrap=100)
    assert not [name for name in m.known if "[" in name]
    other = unseen.measure([1, 0] * 30, [0.9, 0.2] * 30, prevalence=0.1, random_state=0, n_bootstrap=100)
    assert [name for name in other.known if " at " in name]


def test_the_line_that_repeats_measures_gives_them_again():
    truth = np.array(["ill", "well"] * 40)
    score = np.clip(np.linspace(0, 1, 80) + 0.2 * (truth == "ill"), 0, 1)
    m = unseen.measure(truth, score, positive="ill", threshold=0.6, n_bootstrap=100, random_state=1)
    (code,) = [b.text for b in section_of(m, "repeat").blocks if type(b).__name__ == "Code"]
    again = eval(code, {"unseen": unseen, "y_true": truth, "y_score": score})
    assert again.to_dict() == m.to_dict()


def test_a_comparison_says_its_differences_in_points_throughout():
    X, code = data(seed=3)
    c = unseen.compare(["lda", "cart"], X, code, random_state=0)
    (table,) = tables(section_of(c, "pairs"))
    row = dict(zip(table.columns, table.rows[0]))
    pair = c.pairs[0]
    assert row["difference (points)"].text == f"{100 * pair.difference:+.1f}"
    assert row["p"].sort == pair.p
    drawn = next(b.svg for b in section_of(c, "pairs").blocks if hasattr(b, "svg"))
    assert "percentage points" in drawn
    assert not re.search(r">-?\d+(\.\d)?%<", drawn)


def test_squared_errors_are_called_by_their_names():
    c = unseen.compare(["ols", "knn:5"], *unseen.datasets.load("diabetes").xy, random_state=0)
    own = {name: e.value**0.5 for name, e in c.estimates.items()}
    assert c.sentence.startswith(
        f"Ship ols: its RMSE is {own['ols']:.4g} against {own['knn:5']:.4g} (its mean squared error is "
    )
    assert all(": RMSE " in line for line in c.model_sentences())


def test_the_worst_slice_of_a_difference_is_not_called_its_largest_number():
    X, code = data(150)
    site = np.array(["north", "south", "west"])[np.arange(150) % 3]
    c = unseen.compare(["lda", "cart"], X, code, random_state=0, by={"site": site})
    (found,) = c.slices
    most = max(found.slices, key=lambda s: s.value)
    assert found.sentence().startswith(
        f"lda's lead over cart is smallest in site {most.name}: {-100 * most.value:.1f} points"
    )


def test_units_of_a_regression_agree_on_the_left():
    d = unseen.diagnose("ridge", unseen.datasets.load("diabetes").take(range(120)), effort="quick", random_state=0)
    caption = next(b.caption for b in section_of(d, "units").blocks if hasattr(b, "svg"))
    assert "to the left: models agree" in caption  # the axis is the spread of predictions
    assert "e+0" not in " ".join(d.sentences())


def test_planning_says_shares_in_points_and_per_cent():
    p = unseen.power(n=300, difference=0.03, disagreement=0.2)
    assert f"a difference of 3 points with a chance (power) of {100 * p.power:.1f}%" in str(p)
    size = unseen.plan_test_size(0.02, error=0.1)
    assert "plus or minus 2 points" in str(size)
    assert "error rate of 10%" in str(size)
    plain = unseen.plan_test_size(0.5, sd=2.0)
    assert "plus or minus 0.5" in str(plain)
    for one in (p, size, plain, unseen.power(difference=0.3, sd=2.0, power=0.8)):
        first = build(one)[0]
        assert first.title == "The answer"
        assert texts(first)[0] == str(one).splitlines()[0]


def test_failed_checks_stand_in_the_sentence_of_a_reproduction():
    from dataclasses import replace

    from unseen.reproduction import reproduce
    from unseen.reproduction.record import Check

    found = reproduce("pgdl-scores", random_state=0)
    agree, judged = found.agreeing
    assert found.passed
    assert found.sentence.endswith("Monte-Carlo errors.")
    failed = replace(found, checks=(*found.checks, Check("made up", 2.0, None, 1.0)))
    assert failed.sentence.startswith(f"{agree} of {judged} judged cells agree")
    assert failed.sentence.endswith(f"and 1 of {len(failed.checks)} checks failed.")


@pytest.mark.parametrize(
    "name",
    ["assess-prefit", "compare", "measure-two", "predictions", "disagree", "disagree-labelled", "permutation-test", "power", "test-size",
     "progress", "kinetics-simulated", "resub"],
)  # fmt: skip
def test_no_page_shows_code_where_words_belong(name, tmp_path):
    made = samples["makers"](tmp_path)[name]()
    seen = words_of(write(made, tmp_path / "report.html")).splitlines()
    assert not [line for line in seen if re.fullmatch(r"\s*(None|nan|True|False)\s*", line)]
    assert not [
        line for line in seen if re.search(r"\{'|=None|\[0\.\d|\b[a-z]+_[a-z]+\b(?!\.csv|_)", line) and not _given(line)
    ]
    assert not [line for line in seen if re.fullmatch(r"\s*[A-Z][a-z]+[A-Z]\w*\s*", line)]  # the name of a class


def _given(line: str) -> bool:
    """Say whether a line is a call, or holds a name of the user's."""
    return "unseen." in line or "_model" in line or "_net" in line or "random_state" in line


def test_a_table_of_rows_shows_shares_and_differences():
    rows = [{"who": "a", "share": 0.125, "gap": -0.02, "n_all": 3}, {"who": "b", "share": 1.0, "gap": 0.0, "n_all": 4}]
    table = table_of(rows, percent={"share"}, points={"gap"}, heads={"n_all": ""})
    assert list(table.columns) == ["who", "share", "gap (points)"]
    assert [[getattr(c, "text", c) for c in row] for row in table.rows] == [
        ["a", "12.5%", "-2.0"],
        ["b", "100.0%", "+0.0"],
    ]


def test_long_names_break_between_their_words():
    for name in ("the_model_of_last_year.csv", "positive predictive value of no finding at all", "x" * 45):
        lines = break_name(name).split("\n")
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
        assert max(map(len, lines)) <= LONGEST_NAME
    assert break_name("the_model_of_last_year.csv").split("\n")[0].endswith("_")


def test_an_axis_of_differences_counts_points():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert points(ax.xaxis, True) == ", percentage points"
    assert ax.xaxis.get_major_formatter()(-0.025, 0) == "-2.5"
    assert points(ax.yaxis, False) == ""


def test_no_rule_of_the_documentation_breaks_words_of_a_table():
    css = (Path(__file__).parents[3] / "docs" / "_static" / "unseen.css").read_text()
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", css, flags=re.S))
    cells = {what: how for what, how in rules if re.search(r"\b(td|th)\b", what)}
    assert cells
    assert not [what for what, how in cells.items() if "anywhere" in how or "break-all" in how]


def test_a_value_is_not_broken_into_two_lines():
    space = chr(0xA0)
    assert str(prose("no difference (p = 0.16)")) == f"no difference (p{space}={space}0.16)"
    assert str(prose("p > 0.99 after 0.4 s")) == f"p{space}&gt;{space}0.99 after 0.4{space}s"
    assert str(prose("`p = 1` at 3 samples")) == "<code>p = 1</code> at 3 samples"


def test_small_numbers_are_written_out():
    assert [cell(v) for v in (-8.333e-06, 9.94e-05, 1.5e-12, 0.0, 0.0001234)] == [
        "-0.0000083", "0.000099", "1.5e-12", "0", "0.0001234",
    ]  # fmt: skip


def test_hints_of_measures_are_true_and_said_once():
    names = np.array(["a", "b", "c"])
    truth = names[np.arange(90) % 3]
    m = unseen.measure(truth, np.where(np.arange(90) < 20, "a", truth), random_state=0, n_bootstrap=100)
    (table,) = tables(section_of(m, "all-measures"))
    hints = {row[0].sort: row[0].hint for row in table.rows}
    assert hints["sensitivity"].endswith("; mean over classes, each as the positive one.")
    assert "mean over classes" not in hints["accuracy"]
    assert [hints[f"sensitivity[{name}]"] for name in names] == ["", "", ""]
    two = unseen.measure(names[np.arange(60) % 2], names[np.arange(60) // 2 % 2], random_state=0, n_bootstrap=100)
    assert not [r[0].hint for r in tables(section_of(two, "measures"))[0].rows if "mean over classes" in r[0].hint]
    y = np.arange(40.0)
    of_numbers = unseen.measure(y, y + np.sin(y), random_state=0, n_bootstrap=100)
    rows = [row[0] for t in tables(section_of(of_numbers, "measures")) for row in t.rows]
    assert len({c.text for c in rows if c.sort in ("pov", "r2")}) == len([c for c in rows if c.sort in ("pov", "r2")])
    assert "variance explained" not in "".join(c.text for c in rows)


def test_what_a_score_is_called_is_said_with_the_class():
    m = unseen.measure(["ill", "well"] * 20, [0.9, 0.2] * 20, positive="ill", threshold=0.5, n_bootstrap=100)
    assert "Positive class: ill, called ill if the score is 0.5 or more." in texts(section_of(m, "measures"))
    (parts,) = [t for t in texts(section_of(m, "calibration")) if t.startswith("Brier")]
    assert parts == f"{m.calibration().brier.sentence()}."
    assert parts.endswith(" within bins.")


def test_a_study_of_several_models_names_each_figure(tmp_path):
    s = samples["makers"](tmp_path)["study"]()
    drawn = [b.caption for id in ("summary", "deviations") for b in section_of(s, id).blocks if hasattr(b, "svg")]
    assert [c.split(".")[0] for c in drawn if "Smaller is better" in c] == [f"RMS for {b}, {a}" for a, b in s.groups()]
    assert not [c for c in drawn if "evenly by rank" in c]
    assert f"Study “{s.name}”: {s.done} of {s.total} tasks done" in " ".join(texts(section_of(s, "summary")))


def test_a_test_is_named_once():
    c = unseen.compare(["lda", "cart"], *data(), random_state=0)
    said = texts(section_of(c, "answer"))
    assert len([text for text in said if c.test in text]) == 1
    assert len([text for text in said if text.startswith("How: ")]) == 1
    assert f"Test: {c.test}. How: " in " ".join(texts(section_of(c.pairs[0], "answer")))
