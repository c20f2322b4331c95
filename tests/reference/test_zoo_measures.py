"""Measures of six networks of the zoo mnist-mlp, trained and measured on a GPU, found again on the CPU from the shipped weights."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="measures of generalization need torch")

from unseen.nets import Zoo
from unseen.nets.ranking.bench import measure_zoo, read_rows

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).with_name("zoo_mnist")
# without random-order: the stored numbers are those of a control that looked at the first weight alone
ALL = (
    "alpha", "alpha-hat", "augment-margin", "constrained-margin", "distance-from-initial", "frobenius-product", "frobenius-sum",
    "inverse-margin", "margin-distribution", "mixup-margin", "pac-bayes-magnitude", "parameter-count", "path-norm", "posterior",
    "sharpness", "spectral-margin", "spectral-product", "spectral-sum", "training-loss", "wcv", "dbi-mixup",
)  # fmt: skip
SLOW = (
    "bayesian",
    "gi-score",
    "gi-score-between",
    "kv-margin",
    "pac-bayes-flatness",
    "pal-score-between",
    "vpm",
    "vr",
    "weighted-augment",
)


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    read = runpy.run_path(str(ROOT / "studies" / "zoo_data.py"))["read"]
    return Zoo.load(FOLDER, read(FOLDER / "train.xz"))


@pytest.fixture(scope="module")
def stored() -> dict[tuple[str, str], object]:
    rows = read_rows(ROOT / "studies" / "zoo" / "measures_mnist-mlp.csv")
    return {(row.net, row.measure): row for row in rows}


def test_the_networks_have_the_accuracy_they_had(zoo: Zoo) -> None:
    assert len(zoo) == 6
    for k, record in enumerate(zoo.nets):
        assert zoo.net(k).training_accuracy() == pytest.approx(record.train_accuracy, abs=1e-3)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("name", ALL)
def test_a_measure_is_the_same_on_the_cpu(name: str, zoo: Zoo, stored: dict) -> None:
    for row in measure_zoo(zoo, [name]):
        assert row.value == pytest.approx(stored[row.net, name].value, rel=1e-4)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("name", SLOW)
def test_a_slower_measure_is_the_same_on_the_cpu(name: str, zoo: Zoo, stored: dict) -> None:
    for row in measure_zoo(zoo, [name], nets=[0, 5]):
        assert row.value == pytest.approx(stored[row.net, name].value, rel=1e-4)
