"""The shipped bench tables follow from the shipped networks and values, and the default combination does what the documentation says."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="zoos need torch")

from unseen.nets import cmi
from unseen.nets._rank import DEFAULT_MEASURES, _fractions

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "zoo"
AXES = ("depth", "width", "dropout", "weight_decay", "batch_size")


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


def _table(zoo: str) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, list[str]], np.ndarray]:
    nets = _rows(f"networks_{zoo}.csv")
    values: dict[str, dict[str, float]] = {}
    for row in _rows(f"measures_{zoo}.csv"):
        values.setdefault(row["measure"], {})[row["net"]] = float(row["value"])
    columns = {
        name: np.array([found[net["name"]] for net in nets])
        for name, found in values.items()
        if len(found) == len(nets)
    }
    seeds = np.array([int(net["seed"]) for net in nets])
    return np.array([float(net["gap"]) for net in nets]), columns, {a: [net[a] for net in nets] for a in AXES}, seeds


def _combined(names: tuple[str, ...], values: dict[str, np.ndarray], seeds: np.ndarray) -> np.ndarray:
    out = np.empty(len(seeds))
    for seed in np.unique(seeds):
        own = seeds == seed
        out[own] = _fractions(np.stack([values[name][own] for name in names])).mean(axis=0)
    return out


@pytest.mark.parametrize("zoo", ["mnist-mlp", "fashion-mlp"])
def test_scores_follow_from_the_values(zoo: str) -> None:
    gap, values, axes, seeds = _table(zoo)
    stored = {row["measure"]: float(row["cmi"]) for row in _rows(f"bench_{zoo}.csv")}
    for name in ("pac-bayes-magnitude", "bolster", "vpm", "path-norm", "random-order"):
        assert 100 * cmi(gap, values[name], axes, seeds=seeds, n_bootstrap=2).value == pytest.approx(
            stored[name], rel=1e-3, abs=1e-3
        )
    assert all(float(row["train_accuracy"]) >= 0.95 for row in _rows(f"networks_{zoo}.csv"))


@pytest.mark.parametrize(("zoo", "score"), [("mnist-mlp", 19.5), ("fashion-mlp", 21.1)])
def test_the_default_combination_scores_what_the_page_says(zoo: str, score: float) -> None:
    gap, values, axes, seeds = _table(zoo)
    found = cmi(gap, _combined(DEFAULT_MEASURES, values, seeds), axes, seeds=seeds, n_bootstrap=2)
    assert 100 * found.value == pytest.approx(score, abs=0.06)


def test_a_combination_chosen_on_one_zoo_beats_every_single_measure_on_the_other() -> None:
    for row in _rows("combination.csv"):
        gap, values, axes, seeds = _table(row["held_out"])
        found = (
            100
            * cmi(gap, _combined(tuple(row["measures"].split()), values, seeds), axes, seeds=seeds, n_bootstrap=2).value
        )
        assert found == pytest.approx(float(row["cmi"]), abs=1e-2)
        controls = {
            "par-search",
            "resubstitution",
            "epochs",
            "training-loss",
            "holdout80",
            "parameter-count",
            "random-order",
        }
        singles = {
            m: 100 * cmi(gap, v, axes, seeds=seeds, n_bootstrap=2).value for m, v in values.items() if m not in controls
        }
        assert found > max(singles.values())
        assert max(singles, key=singles.__getitem__) == row["best_single"]
