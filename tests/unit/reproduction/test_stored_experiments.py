"""Experiments in a store: the same numbers bit for bit, and a killed run goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from unseen.core.registry import find
from unseen.reproduction import experiments, reproduce
from unseen.reproduction.stored import study_name
from unseen.reproduction.verification import recorded_runs
from unseen.store import TaskResult, open_store

FEW = {"replications": 3, "sizes": (20,), "rules": ("3nn", "cart"), "bootstrap": 5}


def untimed(result):
    return [(c.table, c.cell, c.ours) for c in result.cells if "milliseconds" not in c.table]


@pytest.fixture(scope="module")
def plain():
    return reproduce("ghane-synthetic", n_jobs=1, **FEW)


def test_the_synthetic_experiment_is_the_same_from_a_store(plain, tmp_path):
    store = tmp_path / "g.db"
    kept = reproduce("ghane-synthetic", n_jobs=1, store=store, **FEW)
    assert untimed(kept) == untimed(plain)
    with open_store(store) as opened:
        (study,) = opened.studies()
        assert (study.kind, study.total, study.state) == ("reproduction", 2 * 8 * 3, "done")
        (filed,) = opened.records("reproduction")
        assert opened.record(filed.id).payload["experiment"] == "ghane-synthetic"
    assert untimed(reproduce("ghane-synthetic", n_jobs=1, store=store, **FEW)) == untimed(plain)


def test_its_report_has_the_box_plots_of_figures_2_1_and_2_2(plain, tmp_path):
    page = tmp_path / "r.html"
    plain.report(page)
    text = page.read_text()
    assert "figures 2.1 and 2.2" in text
    assert text.count("Deviation from the true error, ") >= 2
    boxes = plain.deviations[1]
    assert (boxes.title, boxes.groups) == ("cart", ("n = 20",))
    bias = next(c.ours for c in plain.cells if c.table == "2.2 bias" and c.cell == "cart n=20 resub")
    assert boxes.values[0][boxes.estimators.index("resub")].mean() == pytest.approx(bias)
    assert "deviations" not in plain.to_dict()


def test_a_stored_experiment_can_be_summed_up_as_a_study(plain, tmp_path):
    import unseen

    reproduce("ghane-synthetic", n_jobs=1, store=tmp_path / "g.db", **FEW)
    with open_store(tmp_path / "g.db") as opened:
        name = opened.studies()[0].name
    summary = unseen.Study(name, tmp_path / "g.db").summary()
    ours = next(c.ours for c in plain.cells if c.table == "2.4 rms" and c.cell == "cart n=20 bolster")
    assert summary["cart", "bolster"].deviation.rms == pytest.approx(ours)


def test_the_tests_study_is_the_same_from_a_store(tmp_path):
    few = {"replications": 2, "letter": "", "synthetic_sets": 30, "variance_sets": 30}
    plain = reproduce("nadeau-bengio", n_jobs=1, **few).to_dict()
    kept = reproduce("nadeau-bengio", n_jobs=1, store=tmp_path / "n.db", **few).to_dict()
    plain.pop("seconds")
    kept.pop("seconds")
    assert kept == plain


def test_names_tell_runs_apart():
    cls = find("ghane-synthetic", "reproduction")
    assert study_name(cls(), 200, 0) == "ghane-synthetic, 200 replications, seed 0"
    assert study_name(cls(rules=("cart",)), 200, 1) == "ghane-synthetic, 200 replications, seed 1, rules cart"


def test_an_experiment_without_tasks_is_filed_all_the_same(tmp_path):
    reproduce("larsen-hansen", replications=3, true_values=100, n_splits=10, store=tmp_path / "l.db")
    with open_store(tmp_path / "l.db") as opened:
        assert opened.studies() == []
        assert [k.name for k in opened.records("reproduction")] == ["larsen-hansen"]


def test_a_failing_task_stops_with_its_reason(tmp_path, monkeypatch):
    from unseen.core.errors import FitError

    def broken(spec, cells, rows):
        return [TaskResult(row.id, reason="no luck") for row in rows]

    monkeypatch.setattr(find("ghane-synthetic", "reproduction"), "run_group", staticmethod(broken))
    with pytest.raises(FitError, match=r"48 of 48 tasks .* failed; the first says: no luck"):
        reproduce("ghane-synthetic", n_jobs=1, store=tmp_path / "g.db", **FEW)


COMMAND = (
    "reproduce",
    "ghane-synthetic",
    "--replications",
    "8",
    "--seed",
    "4",
    "--sizes",
    "20",
    "--rules",
    "cart,3nn",
    "--jobs",
    "1",
    "--json",
    "--quiet",
)


@pytest.mark.slow
@pytest.mark.sample
def test_a_killed_experiment_goes_on_where_it_stopped(run_unseen, tmp_path):
    store = tmp_path / "g.db"
    command = [sys.executable, "-m", "unseen", *COMMAND]
    child = subprocess.Popen([*command, "--store", str(store)], stdout=subprocess.DEVNULL, cwd=tmp_path)
    done = _wait_for_results(store, child)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert 0 < done < 128
    again = run_unseen(*COMMAND, "--store", store, cwd=tmp_path)
    whole = run_unseen(*COMMAND, cwd=tmp_path)
    assert again.returncode == whole.returncode == 0, again.stderr
    one, other = (
        [c["ours"] for c in json.loads(run.stdout)["cells"] if "milliseconds" not in c["table"]]
        for run in (again, whole)
    )
    assert one == other
    with open_store(store) as opened:
        assert opened.studies()[0].done == 128


def _wait_for_results(store, child):
    for _ in range(1200):
        time.sleep(0.05)
        assert child.poll() is None, "the run ended before it could be killed"
        if not store.exists():
            continue
        try:
            with open_store(store, read_only=True) as opened:
                studies = opened.studies()
        except Exception:  # the file is there before its tables are
            continue
        if studies and studies[0].done >= 16:
            return studies[0].done
    raise AssertionError("no results came")


def test_the_list_reads_like_a_table_of_what_was_verified():
    rows = {row["experiment"]: row for row in experiments()}
    assert set(recorded_runs()) <= set(rows)
    assert rows["nadeau-bengio"]["checks"] == "39 of 39 passed"
    assert rows["ghane-synthetic"]["checks"] == "23 of 23 passed"
    assert rows["ghane-synthetic"]["cells"] == "537 of 551 agree"
    for name, row in recorded_runs().items():
        assert 0 <= row["passed"] <= row["checks"], name
        assert row["replications"] == rows[name]["replications"], name
