"""Copies of a row stay on one side of a net's validation share, whichever way the net was trained."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unseen
from unseen.core.data import Data
from unseen.core.errors import InputError
from unseen.nets import Classifier, fit_many, make_mlp
from unseen.nets.training import classifier as _classifier
from unseen.nets.training import fit_many as _fit_many

OPTIONS = {"epochs": 30, "lr": 0.1, "patience": 3, "validation": 0.25, "device": "cpu", "dtype": "float64"}


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + y[:, None], y


@pytest.fixture
def sides(monkeypatch):
    """Collect the two sides of every net's validation share, each row by its content: no two rows of the samples here are alike."""
    seen, tables = [], []
    train, split = _classifier.fit_many, _fit_many.make_sets

    def with_table(module, X, *args, **options):
        tables.append(np.asarray(X))
        return train(module, X, *args, **options)

    def with_sides(*args):
        sets = split(*args)
        parts = ((sets.rows, sets.lengths), (sets.kept, sets.kept_lengths))
        for i in range(len(sets.lengths)):
            seen.append(tuple([tables[-1][k].tobytes() for k in rows[i, : n[i]]] for rows, n in parts))
        return sets

    monkeypatch.setattr(_classifier, "fit_many", with_table)
    monkeypatch.setattr(_fit_many, "make_sets", with_sides)
    return seen


@pytest.mark.parametrize("front", [[], [StandardScaler()]], ids=["net", "pipeline"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
class TestBothRoutes:
    def test_a_bootstrap_gives_the_same_losses_by_both(self, front, weighted, sides, monkeypatch):
        X, y = sample()
        weights = np.random.default_rng(1).integers(0, 3, 60).astype(float) if weighted else None
        model = make_pipeline(*front, Classifier(**OPTIONS)) if front else Classifier(**OPTIONS)
        given = {"design": unseen.designs.Bootstrap(6), "sample_weight": weights, "random_state": 0, "scores": True}
        together = unseen.run(model, X, y, **given, train=True)
        at_once = len(sides)
        monkeypatch.setattr(Classifier, "fit_many", None)
        alone = unseen.run(model, X, y, **given, train=True)
        assert len(together.plan.fits) == at_once == len(sides) - at_once
        assert np.array_equal(together.test.value, alone.test.value)
        assert np.allclose(together.test.score, alone.test.score, atol=1e-9)
        assert np.allclose(together.train.score, alone.train.score, atol=1e-9)
        first, second = (
            unseen.estimate(together, method="bootstrap-zero"),
            unseen.estimate(alone, method="bootstrap-zero"),
        )
        assert first.value == second.value

    def test_no_copy_is_on_both_sides(self, front, weighted, sides, monkeypatch):
        X, y = sample()
        weights = np.random.default_rng(1).integers(0, 3, 60).astype(float) if weighted else None
        model = make_pipeline(*front, Classifier(**OPTIONS)) if front else Classifier(**OPTIONS)
        given = {"design": unseen.designs.Bootstrap(6), "sample_weight": weights, "random_state": 0}
        unseen.run(model, X, y, **given)
        monkeypatch.setattr(Classifier, "fit_many", None)
        unseen.run(model, X, y, **given)
        assert len(sides) == 12
        repeated = 0
        for train, held in sides:
            assert not set(train) & set(held)
            repeated += len(held) - len(set(held))
        assert repeated > 10  # copies there are, and they lie together


def test_estimating_by_the_bootstrap_gives_one_number_by_both_routes(monkeypatch):
    X, y = sample(45)
    values, given = [], {"method": "bootstrap-zero", "design": unseen.designs.Bootstrap(12), "random_state": 1}
    for hook in (Classifier.fit_many, None):
        monkeypatch.setattr(Classifier, "fit_many", hook)
        values.append(unseen.estimate(Classifier(**OPTIONS), X, y, **given).value)
    assert values[0] == values[1]
    assert 0 < values[0] < 0.6


def test_named_copies_are_trained_as_rows_named_twice():
    """A table of drawn rows with their names is the sample itself with the rows' numbers."""
    X, y = sample()
    drawn = np.random.default_rng(2).integers(0, 60, 80)
    options = {**OPTIONS, "seeds": [5]}
    numbered = fit_many(make_mlp, X, y, [drawn], **options)
    told = fit_many(make_mlp, X[drawn], y[drawn], copies=drawn, **options)
    text = fit_many(make_mlp, X[drawn], y[drawn], copies=[f"row {k}" for k in drawn], **options)
    blind = fit_many(make_mlp, X[drawn], y[drawn], **options)
    for fits in (told, text):
        assert np.array_equal(fits.history[0]["validation_loss"], numbered.history[0]["validation_loss"])
        assert torch.equal(fits.logits(X), numbered.logits(X))
    assert not torch.allclose(blind.logits(X), numbered.logits(X), atol=1e-3)


def test_equal_rows_that_are_no_copies_are_drawn_apart():
    """Rows of a few categories are equal by chance: kept together, they would be categories that the net never sees."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2)).astype(float)
    y = (rng.uniform(size=400) < np.where(X[:, 0] == X[:, 1], 0.9, 0.1)).astype(int)
    content = (4 * y + 2 * X[:, 0] + X[:, 1]).astype(int)
    options = {**OPTIONS, "seeds": range(5), "validation": 0.1, "patience": 10, "epochs": 100}
    apart, together = (
        fit_many(make_mlp, X, y, [np.arange(400)] * 5, copies=copies, **options) for copies in (None, content)
    )
    right = [(fits.logits(X).argmax(2).numpy() == y).mean(1) for fits in (apart, together)]
    assert right[0].min() > 0.85
    assert right[1].mean() < 0.8


def test_a_resampled_sample_keeps_its_copies_together(sides):
    X, y = sample()
    drawn = np.random.default_rng(3).integers(0, 60, 90)
    data = Data(X, y, "classification", np.unique(y))
    unseen.run(Classifier(**OPTIONS), data.take(drawn), design=3, random_state=0)
    assert len(sides) >= 3
    assert all(not set(train) & set(held) for train, held in sides)


@pytest.mark.parametrize("front", [[], [StandardScaler()]], ids=["net", "pipeline"])
def test_rows_of_a_group_stay_on_one_side_by_both_routes(front, sides, monkeypatch):
    X, y = sample()
    groups = np.array([f"patient {k}" for k in np.random.default_rng(4).integers(0, 15, 60)])
    group_of = {row.tobytes(): group for row, group in zip(X, groups)}
    model = make_pipeline(*front, Classifier(**OPTIONS)) if front else Classifier(**OPTIONS)
    tables = []
    for hook in (Classifier.fit_many, None):
        monkeypatch.setattr(Classifier, "fit_many", hook)
        tables.append(unseen.run(model, X, y, groups=groups, design=3, random_state=0, scores=True))
    assert np.allclose(tables[0].test.score, tables[1].test.score, atol=1e-9)
    assert len(sides) == 6
    if not front:  # a pipeline's net sees scaled rows
        for train, held in sides:
            assert not {group_of[row] for row in train} & {group_of[row] for row in held}
            assert len(held) > 3


def test_a_single_group_left_to_learn_from_is_parted_after_all(sides):
    X, y = sample()
    groups = np.arange(60) < 30
    unseen.run(Classifier(**OPTIONS), X, y, groups=groups, design=2, random_state=0)
    assert len(sides) == 2
    assert all(len(held) in (7, 8) for _, held in sides)


def test_copies_of_another_length_are_refused():
    X, y = sample()
    with pytest.raises(InputError, match=r"copies has shape \(3,\); it must hold one name per row of X \(60\)"):
        Classifier(**OPTIONS).fit(X, y, copies=[1, 2, 3])
