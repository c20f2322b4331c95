"""Studies in a store: workers, additions, budgets, exports."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.study.export import latex_table

SPEC = {
    "seed": 2, "sizes": [20], "replications": 6, "n_test": 200, "populations": ["gaussian-blocks"],
    "models": ["cart", "knn:3"], "methods": ["resub", "holdout", "clopper-pearson"],
    "comparisons": [{"model_a": "cart", "model_b": "knn:3", "test": "mcnemar"}],
}  # fmt: skip
RESULTS = ("cell", "replication", "estimate", "truth", "lower", "upper", "spread", "p_value")


def numbers(study):
    columns = study.columns()
    return {name: columns[name] for name in RESULTS}, sorted(study.store.extras(study.name))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    return unseen.Study("s", folder / "s.db").run(SPEC, n_jobs=1, progress=False)


def assert_same(one, other):
    (a, more), (b, others) = numbers(one), numbers(other)
    for name in RESULTS:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    assert more == others


def test_a_study_is_done(alone):
    status = alone.status()
    assert (status.state, status.done, status.failed, status.kind) == ("done", 42, 0, "study")
    assert len(alone.summary().cells) == 7


@pytest.mark.slow
@pytest.mark.sample
def test_two_workers_give_the_same_bits(alone, tmp_path):
    assert_same(alone, unseen.Study("s", tmp_path / "t.db").run(SPEC, n_jobs=2, progress=False))


def test_running_again_changes_nothing(alone, tmp_path):
    study = unseen.Study("s", tmp_path / "t.db").run(SPEC, n_jobs=1)
    before = study.columns()["seconds"]
    study.run(SPEC, n_jobs=1)
    np.testing.assert_array_equal(before, study.columns()["seconds"])


def test_replications_and_methods_can_be_added(alone, tmp_path):
    less = {**SPEC, "replications": 2, "methods": SPEC["methods"][:1]}
    study = unseen.Study("s", tmp_path / "t.db").run(less, n_jobs=1)
    assert study.status().total == 6
    study.run(SPEC, n_jobs=1)
    assert study.status().state == "done"
    cells = {(c.cell.model, c.cell.method): c.deviation.bias for c in study.summary().cells}
    assert cells == {(c.cell.model, c.cell.method): c.deviation.bias for c in alone.summary().cells}


@pytest.mark.parametrize(("change", "message"), [({"seed": 3}, "with seed 2"), ({"replications": 2}, "fewer")])
def test_what_contradicts_is_refused(tmp_path, change, message):
    study = unseen.Study("s", tmp_path / "t.db").run({**SPEC, "replications": 3}, n_jobs=1)
    with pytest.raises(InputError, match=message):
        study.run({**SPEC, "replications": 3, **change}, n_jobs=1)


def test_a_budget_stops_and_resume_goes_on(alone, tmp_path):
    study = unseen.Study("s", tmp_path / "t.db").run({**SPEC, "budget": {"seconds": 1e-4}}, n_jobs=1)
    assert study.status().missing > 0
    assert study.status().state == "partial" or study.status().done == 0
    study.resume(n_jobs=1, seconds=600)
    assert study.status().state == "done"
    assert_same(alone, study)


def test_cancelled_studies_wait_for_resume(tmp_path):
    study = unseen.Study("s", tmp_path / "t.db").run(SPEC, n_jobs=1, seconds=1e-4).cancel()
    assert study.status().state == "cancelled"
    with pytest.raises(InputError, match="was cancelled"):
        study.run(SPEC, n_jobs=1)
    assert study.resume(n_jobs=1).status().state == "done"


def test_failures_name_their_cell_and_reason(tmp_path):
    study = unseen.Study("f", tmp_path / "t.db")
    study.run({**SPEC, "models": ["cart"], "comparisons": [], "methods": ["resub", "fpe"], "replications": 2}, n_jobs=1)
    assert study.status().failed == 2
    first = study.failures()[0]
    assert (first["method"], first["model"], first["replication"]) == ("fpe", "cart", 0)
    assert "closed form" in first["reason"]
    summary = study.summary()
    assert [c.cell.method for c in summary.cells] == ["resub"]
    assert "2 failed" in str(summary)


def test_csv_and_parquet_hold_every_task(alone, tmp_path):
    import pandas as pd

    with alone.export(tmp_path / "s.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 42
    columns = alone.columns()
    assert [float(r["estimate"]) for r in rows] == columns["estimate"].tolist()
    assert rows[0]["method"] == "resub"
    assert rows[0]["lower"] == ""
    frame = pd.read_parquet(alone.export(tmp_path / "s.parquet"))
    assert list(frame["truth"]) == columns["truth"].tolist()
    summary = pd.read_csv(alone.export(tmp_path / "sum.csv", "summary"))
    assert list(summary["rms"]) == [c.deviation.rms for c in alone.summary().cells]


def test_latex_holds_the_summary(alone, tmp_path):
    text = alone.export(tmp_path / "s.tex").read_text()
    assert text.count(r"\\") == 8
    assert text.startswith(r"\begin{tabular}{llrl")
    c = alone.summary()["cart", "resub"]
    assert f"{c.deviation.bias:.4f} ({c.deviation.bias_error:.4f})" in text
    row = {"population": "a_b & c%", "model": "\\x{}", "n": 2, "method": "$^~#"}
    assert r"a\_b \& c\% & \textbackslash{}x\{\} & 2 & \$\textasciicircum{}\textasciitilde{}\#" in latex_table([row])


@pytest.mark.parametrize(
    ("path", "what", "message"),
    [
        ("s.xlsx", None, "ends in '.xlsx'"),
        ("s.tex", "tasks", "holds the summary"),
        ("s.csv", "all", "'tasks' or 'summary'"),
        ("no/s.csv", None, "does not exist"),
    ],
)
def test_exports_that_cannot_be_are_refused(alone, tmp_path, path, what, message):
    with pytest.raises(InputError, match=message):
        alone.export(tmp_path / path, what)


def test_unknown_studies_and_names(alone, tmp_path):
    with pytest.raises(UnknownName, match="'s'"):
        unseen.Study("ss", alone.store).status()
    with pytest.raises(InputError, match="name of the study"):
        unseen.Study("", tmp_path / "t.db")
    assert repr(alone).startswith("Study('s', store=SqlStore(")


def test_a_study_closes_its_store(tmp_path):
    with unseen.Study("s", tmp_path / "t.db") as study:
        study.run({**SPEC, "replications": 2, "comparisons": []}, n_jobs=1)
    assert unseen.Study("s", tmp_path / "t.db").status().state == "done"


def test_the_summary_is_json(alone):
    content = json.loads(alone.summary().to_json())
    assert content["total"] == 42
    assert {c["target"] for c in content["cells"]} == {
        "this model trained on 20 units",
        "this model trained on 13 units",
    }


@pytest.mark.slow
@pytest.mark.sample
def test_dask_workers_give_the_same_bits(alone, tmp_path):
    pytest.importorskip("distributed")
    assert_same(alone, unseen.Study("s", tmp_path / "t.db").run(SPEC, scheduler="local:2", progress=False))
