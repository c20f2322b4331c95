"""The shipped bench tables follow from the shipped networks and values, and the default combination is the one that the zoos chose."""

from __future__ import annotations

import csv
import importlib.util
import sys
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("torch", reason="zoos need torch")

from unseen.nets import cmi, known_measures
from unseen.nets.ranking.bench_record import CONTROLS
from unseen.nets.ranking.rank import DEFAULT_ANY_INPUTS, DEFAULT_MEASURES, _fractions
from unseen.nets.zoo.plan import without_failures

STUDIES = Path(__file__).resolve().parents[2] / "studies"
FOLDER = STUDIES / "zoo"
BENCHED = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.csv"))


@cache
def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


@cache
def _table(zoo: str) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, list[str]], np.ndarray]:
    """Read a zoo by code of its own: networks of the complete grid, hyper-parameters that vary among them, full columns."""
    nets = _rows(f"networks_{zoo}.csv")
    names = list(nets[0])[list(nets[0]).index("gap") + 1 :]
    least = 0.0 if "label_noise" in names else 0.95  # networks with noisy labels need not fit them
    failed = [float(net["train_accuracy"]) < least for net in nets]
    kept, _ = without_failures(nets, failed, names, least, [net["seed"] for net in nets])
    nets = [nets[k] for k in kept]
    axes = {a: [net[a] for net in nets] for a in names if len({net[a] for net in nets}) > 1}
    found: dict[str, dict[str, float]] = {}
    for row in _rows(f"measures_{zoo}.csv"):
        found.setdefault(row["measure"], {})[row["net"]] = float(row["value"])
    columns = {
        name: np.array([known[net["name"]] for net in nets])
        for name, known in found.items()
        if all(np.isfinite(known.get(net["name"], np.nan)) for net in nets)
    }
    return np.array([float(net["gap"]) for net in nets]), columns, axes, np.array([int(net["seed"]) for net in nets])


def _combined(names: list[str], values: dict[str, np.ndarray], seeds: np.ndarray) -> np.ndarray:
    out = np.empty(len(seeds))
    for seed in np.unique(seeds):
        own = seeds == seed
        out[own] = np.round(_fractions(np.stack([values[name][own] for name in names])).mean(axis=0), 12)
    return out


def _script(name: str) -> ModuleType:
    sys.path.insert(0, str(STUDIES))
    try:
        spec = importlib.util.spec_from_file_location(name, STUDIES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(STUDIES))


@pytest.mark.parametrize("zoo", BENCHED)
def test_scores_follow_from_the_values(zoo: str) -> None:
    stored = {row["measure"]: float(row["cmi"]) for row in _rows(f"bench_{zoo}.csv")}
    gap, values, axes, seeds = _table(zoo)
    assert set(values) <= set(stored)
    for name in ("pac-bayes-magnitude", "bolster", "vpm", "path-norm", "random-order"):
        if name in values:
            score = cmi(gap, values[name], axes, seeds=seeds, n_bootstrap=2).value
            assert 100 * score == pytest.approx(stored[name], rel=1e-3, abs=1e-3)


def test_held_out_scores_of_the_combination_follow_from_the_values() -> None:
    rows = [row for row in _rows("combination.csv") if not row["held_out"].startswith("none")]
    assert len(rows) >= 2
    for row in rows:
        assert row["held_out"] not in row["chosen_on"].split()
        gap, values, axes, seeds = _table(row["held_out"])
        found = cmi(gap, _combined(row["measures"].split(), values, seeds), axes, seeds=seeds, n_bootstrap=2)
        assert 100 * found.value == pytest.approx(float(row["cmi"]), abs=1e-3)


def test_the_claim_about_single_measures_is_what_the_tables_say() -> None:
    rows = [row for row in _rows("combination.csv") if not row["held_out"].startswith("none")]
    ours = {row["held_out"]: float(row["cmi"]) for row in rows}
    scores = {
        zoo: {r["measure"]: float(r["cmi"]) for r in _rows(f"bench_{zoo}.csv") if r["measure"] in _table(zoo)[1]}
        for zoo in ours
    }
    stored = {row["measure"]: row for row in _rows("combination_singles.csv")}
    assert set(stored) == set().union(*scores.values()) - set(CONTROLS)
    lost = []
    for name, row in stored.items():
        there = [zoo for zoo in ours if name in scores[zoo]]
        single, combined = np.mean([scores[z][name] for z in there]), np.mean([ours[z] for z in there])
        assert single == pytest.approx(float(row["mean_cmi"]), rel=1e-3, abs=2e-3)
        assert combined - single == pytest.approx(float(row["difference"]), abs=5e-3)
        lost += [name] if float(row["difference"]) <= 0 else []
    page = (STUDIES.parent / "docs" / "tables" / "net_combination.md").read_text().splitlines()[0]
    assert ("It beats every single measure." in page) == (not lost)
    assert all(f"`{name}`" in page for name in lost)


@pytest.mark.parametrize(("inputs", "default"), [("images", DEFAULT_MEASURES), ("any", DEFAULT_ANY_INPUTS)])
def test_rank_takes_the_best_single_measure_that_points_the_right_way_on_every_zoo(
    inputs: str, default: tuple[str, ...]
) -> None:
    rows = [row for row in _rows("ranking_singles.csv") if row["inputs"] == inputs]
    zoos = max(int(row["zoos"]) for row in rows)
    able = [row for row in rows if int(row["zoos"]) == zoos and float(row["least_tau_same_data"]) > 0]
    best = max(able, key=lambda row: float(row["mean_cmi"]))
    assert list(default) == [best["measure"]]
    assert best["kind"] == "published"
    if inputs == "any":
        assert not any("images" in known_measures()[name].needs for name in default)


@pytest.mark.parametrize("name", ["always-generalize", "pal-score-between"])
def test_tau_with_the_test_error_among_networks_of_the_same_data_by_code_of_its_own(name: str) -> None:
    row = next(r for r in _rows("ranking_singles.csv") if r["inputs"] == "images" and r["measure"] == name)
    found = []
    for zoo in sorted(path.stem.removeprefix("networks_") for path in FOLDER.glob("networks_*.csv")):
        values = {r["net"]: float(r["value"]) for r in _rows(f"measures_{zoo}.csv") if r["measure"] == name}
        if zoo == "letter-noise":  # has no images
            continue
        sets: dict[tuple[str, ...], list[tuple[float, float]]] = {}
        for net in _rows(f"networks_{zoo}.csv"):
            key = (net["seed"], net.get("label_noise", ""), net.get("train_rows", ""))
            sets.setdefault(key, []).append((1 - float(net["test_accuracy"]), values[net["name"]]))
        found.append(np.mean([stats.kendalltau(*zip(*pairs)).statistic for pairs in sets.values()]))
    assert len(found) == 8
    assert np.mean(found) == pytest.approx(float(row["tau_same_data"]), abs=2e-3)
    assert min(found) == pytest.approx(float(row["least_tau_same_data"]), abs=5e-3)


def test_the_default_measures_are_those_that_the_rule_names() -> None:
    from studies import net_default as study

    from unseen.nets.ranking.rank import DEFAULT_ANY_INPUTS, DEFAULT_MEASURES

    assert study.made() == study.TABLE.read_text()
    for inputs, default in (("images", DEFAULT_MEASURES), ("any", DEFAULT_ANY_INPUTS)):
        zoos = study.zoos_of(inputs)
        assert (study.default_of(zoos),) == default
        best, one = study.Figures(99.0, 0.9), next(iter(zoos))
        # one that points the wrong way on a single zoo, was not measured everywhere, or is no published measure is out however large its CMI
        backwards = {zoo: {**found, "other": best} for zoo, found in zoos.items()}
        assert study.default_of(backwards) == "other"
        backwards[one]["other"] = study.Figures(99.0, 0.0)
        assert (study.default_of(backwards),) == default
        del backwards[one]["other"]
        assert (study.default_of(backwards),) == default
        for name in ("bolster", "holdout80"):
            assert (study.default_of({zoo: {**found, name: best} for zoo, found in zoos.items()}),) == default
    # the figures are those of the older study's table
    rows = {row["measure"]: row for row in _rows("ranking_singles.csv") if row["inputs"] == "images"}
    zoos = study.zoos_of("images")
    for name in ("always-generalize", "vpm", "pac-bayes-magnitude"):
        found = [z[name] for z in zoos.values()]
        assert np.mean([f.cmi for f in found]) == pytest.approx(float(rows[name]["mean_cmi"]), abs=2e-3)
        assert np.mean([f.tau for f in found]) == pytest.approx(float(rows[name]["tau_same_data"]), abs=2e-3)


def test_the_table_of_networks_that_do_not_fit_is_what_the_study_makes() -> None:
    from studies import checkpoint_ranking as study

    runs = study.choices_of_runs()
    assert len(runs) >= 9
    assert all(len(c.train) == len(study.EPOCHS) for c in runs)
    assert study.judge(runs + study.choices_of_zoos()) == study.TABLE.read_text()
    # the rule as the study spells it for other shares is that of the package
    same = study.apart_by(1 / 3, 0.02)
    for c in runs:
        assert np.array_equal(same(c) > 1, study.stand_apart(c.train, c.rows, 0.9))


def test_choosing_looks_at_the_choosing_zoos_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    script = _script("choose_net_measures")
    monkeypatch.setattr(script, "NOT_CANDIDATES", set())

    def zoo(good: str, seed: int) -> object:
        rng = np.random.default_rng(seed)
        a, b, c, d = (list(v) for v in zip(*product(range(2), range(2), range(2), range(6))))
        gap = rng.normal(size=48)
        values = {"one": rng.normal(size=48), "two": rng.normal(size=48), "wrong way": -gap}
        values[good] = gap + 0.3 * rng.normal(size=48)
        axes = {"a": a, "b": b, "c": c, "d": d}
        return script.Bench(
            zoo="z", lines=(), noise_floor=0.0, gap=gap, values=values, axes=axes, seeds=np.zeros(48, dtype=int)
        )

    chooser = script.Chooser({"x": zoo("one", 0), "y": zoo("one", 1), "z": zoo("two", 2)})
    assert chooser.chosen(["x", "y"]) == ["one"]
    assert chooser.chosen(["z"]) == ["two"]
    assert "wrong way" not in chooser.chosen(["x", "y", "z"])


@pytest.mark.slow
def test_the_stored_choice_is_what_the_procedure_finds() -> None:
    script = _script("choose_net_measures")
    zoos = [row["held_out"] for row in _rows("combination.csv") if not row["held_out"].startswith("none")]
    benches, _ = script.stored_benches(FOLDER, zoos, n_permutations=1)
    chooser = script.Chooser(benches)
    for row in _rows("combination.csv"):
        if row["held_out"] != "none, any inputs":
            assert chooser.chosen(row["chosen_on"].split()) == row["measures"].split()
