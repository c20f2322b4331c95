"""Row weights, pipelines and images: what reaches a net, and that it is trained as if alone."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import unseen
from unseen.core.errors import InputError
from unseen.nets import Classifier, fit_many, make_mlp
from unseen.nets.training import classifier as _classifier

WHOLE = {"batch_size": 1000, "stop": "none", "epochs": 15, "lr": 0.1, "device": "cpu", "dtype": "float64"}


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + y[:, None], y


def make_conv():
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 36, 2))


def pictures(n=40):
    rng = np.random.default_rng(1)
    y = np.array(["dark", "light"])[np.arange(n) % 2]
    return rng.normal(size=(n, 1, 8, 8)) + (y == "light")[:, None, None, None], y


@pytest.fixture
def trainings(monkeypatch):
    """Count the nets of every call of `fit_many` that a classifier makes."""
    calls, real = [], _classifier.fit_many

    def counted(*args, **options):
        fits = real(*args, **options)
        calls.append(len(fits))
        return fits

    monkeypatch.setattr(_classifier, "fit_many", counted)
    return calls


class TestWeights:
    @pytest.mark.parametrize("strategy", ["auto", "one-by-one"])
    @pytest.mark.parametrize("class_weight", [None, "balanced", [1.0, 2.0, 0.5]])
    def test_a_whole_weight_is_that_many_copies_of_a_row(self, strategy, class_weight):
        X, y = sample()
        weights = np.random.default_rng(1).integers(0, 4, size=60)
        options = {**WHOLE, "seeds": [3], "strategy": strategy, "class_weight": class_weight}
        weighted = fit_many(make_mlp, X, y, None, sample_weight=weights, **options).logits(X)
        copied = fit_many(make_mlp, X.repeat(weights, 0), y.repeat(weights), None, **options).logits(X)
        assert torch.allclose(weighted, copied, atol=1e-9)
        assert not torch.allclose(weighted, fit_many(make_mlp, X, y, None, **options).logits(X), atol=1e-3)

    def test_only_their_ratios_matter(self):
        X, y = sample()
        weights = np.random.default_rng(1).uniform(0.5, 2, size=60)
        options = {"seeds": [0], "epochs": 5, "device": "cpu", "dtype": "float64"}
        once, twice = (fit_many(make_mlp, X, y, None, sample_weight=k * weights, **options).logits(X) for k in (1, 7))
        assert torch.allclose(once, twice, atol=1e-9)

    def test_rows_of_weight_zero_are_absent_in_small_batches_too(self):
        X, y = sample()
        counts = np.arange(60) % 5 > 0
        options = {"seeds": [0], "epochs": 12, "batch_size": 8, "device": "cpu", "dtype": "float64"}
        weighted = fit_many(make_mlp, X, y, None, sample_weight=counts * 1.0, **options)
        absent = fit_many(make_mlp, X[counts], y[counts], None, **options)
        assert torch.allclose(weighted.logits(X), absent.logits(X), atol=1e-9)

    def test_losses_and_accuracies_of_the_stopping_rules_are_weighted(self):
        X, y = sample()
        weights = np.random.default_rng(2).integers(1, 4, size=60)
        options = {**WHOLE, "seeds": [0], "stop": "train-accuracy", "stop_at": 0.999, "epochs": 4}
        weighted = fit_many(make_mlp, X, y, None, sample_weight=weights, **options).history[0]
        copied = fit_many(make_mlp, X.repeat(weights, 0), y.repeat(weights), None, **options).history[0]
        for column in ("train_loss", "evaluated_loss", "evaluated_accuracy"):
            assert np.allclose(weighted[column], copied[column], atol=1e-9), column

    @pytest.mark.parametrize(
        ("weights", "words"),
        [
            (np.ones(59), "one weight per row of X .60."),
            (np.full(60, -1.0), "not negative"),
            (np.full(60, np.nan), "finite"),
            (np.zeros(60), "zero for all rows"),
            (np.where(np.arange(60) < 20, 0.0, 1.0), "all rows of index set 0"),
        ],
    )
    def test_refused(self, weights, words):
        X, y = sample()
        with pytest.raises(InputError, match=words):
            fit_many(make_mlp, X, y, [range(20), range(20, 60)], seeds=0, sample_weight=weights, device="cpu")

    def test_a_weighted_cross_validation_is_one_training_and_equals_ten(self, trainings, monkeypatch):
        X, y = sample()
        weights = np.random.default_rng(1).uniform(0.2, 3, size=60)
        net = Classifier(epochs=8, device="cpu", dtype="float64")
        together = unseen.run(net, X, y, sample_weight=weights, random_state=0, scores=True)
        assert trainings == [10]
        monkeypatch.setattr(Classifier, "fit_many", None)
        alone = unseen.run(net, X, y, sample_weight=weights, random_state=0, scores=True)
        assert np.allclose(together.test.score, alone.test.score, atol=1e-9)
        assert not np.allclose(alone.test.score, unseen.run(net, X, y, random_state=0, scores=True).test.score)


class TestPipelines:
    @pytest.mark.parametrize("design", ["kfold", unseen.designs.Bootstrap(6)])
    def test_splits_are_one_training_and_nothing_changes(self, trainings, monkeypatch, design):
        X, y = sample()
        model = make_pipeline(StandardScaler(), PCA(3), Classifier(epochs=8, device="cpu", dtype="float64"))
        together = unseen.run(model, 100 * X, y, design=design, random_state=0, scores=True, train=True)
        count = len(together.plan.fits)
        assert trainings == [count]
        monkeypatch.setattr(Classifier, "fit_many", None)
        alone = unseen.run(model, 100 * X, y, design=design, random_state=0, scores=True, train=True)
        assert trainings == [count] + [1] * count
        assert np.array_equal(together.test.value, alone.test.value)
        assert np.allclose(together.test.score, alone.test.score, atol=1e-9)
        assert np.allclose(together.train.score, alone.train.score, atol=1e-9)

    def test_weights_reach_the_net(self, trainings, monkeypatch):
        X, y = sample()
        weights = np.random.default_rng(1).uniform(0.2, 3, size=60)
        model = make_pipeline(StandardScaler(), Classifier(epochs=8, device="cpu", dtype="float64"))
        together = unseen.run(model, X, y, sample_weight=weights, random_state=0, scores=True)
        assert trainings == [10]
        monkeypatch.setattr(Classifier, "fit_many", None)
        alone = unseen.run(model, X, y, sample_weight=weights, random_state=0, scores=True)
        assert np.allclose(together.test.score, alone.test.score, atol=1e-9)

    def test_a_transformer_that_fails_is_named(self):
        X, y = sample()
        with pytest.raises(unseen.core.errors.FitError, match="n_components"):
            unseen.run(make_pipeline(PCA(90), Classifier(epochs=2, device="cpu")), X, y, random_state=0)

    def test_too_much_for_memory_is_fitted_split_by_split(self, trainings, monkeypatch):
        from unseen.models import pipelines

        monkeypatch.setattr(pipelines, "MOST_NUMBERS", 1000)
        X, y = sample()
        unseen.run(make_pipeline(StandardScaler(), Classifier(epochs=2, device="cpu")), X, y, random_state=0)
        assert trainings == [1] * 10


class TestProgress:
    @pytest.mark.parametrize("front", [[], [StandardScaler()]])
    def test_a_batched_training_shows_its_own_bar_where_one_is_shown(self, monkeypatch, front):
        seen, real = [], _classifier.fit_many
        monkeypatch.setattr(_classifier, "fit_many", lambda *a, **o: seen.append(o["progress"]) or real(*a, **o))
        X, y = sample()
        model = (
            make_pipeline(*front, Classifier(epochs=2, device="cpu")) if front else Classifier(epochs=2, device="cpu")
        )
        for progress in (False, True):
            unseen.run(model, X, y, random_state=0, progress=progress)
        assert seen == [False, True]


class TestImages:
    def test_a_net_gets_them_in_their_shape_and_a_table_model_flat(self, trainings):
        X, y = pictures()
        net = Classifier(make_conv, epochs=4, device="cpu", dtype="float64")
        shaped = unseen.run(net, X, y, random_state=0, scores=True)
        assert trainings == [10]
        flat = Classifier(make_conv, epochs=4, device="cpu", dtype="float64", input_shape=(1, 8, 8))
        told = unseen.run(flat, X.reshape(40, -1), y, random_state=0, scores=True)
        assert np.allclose(shaped.test.score, told.test.score, atol=1e-9)
        assert shaped.data.fingerprint == told.data.fingerprint
        pair = unseen.compare({"net": net, "line": LogisticRegression()}, X, y, random_state=0)
        alone = unseen.run(
            LogisticRegression(), X.reshape(40, -1), y, design=unseen.designs.LeaveOut(0.1, 25), random_state=0
        )
        assert pair.rows()
        assert alone.data.fingerprint == shaped.data.fingerprint

    def test_one_by_one_gives_the_same(self, monkeypatch):
        X, y = pictures()
        net = Classifier(make_conv, epochs=4, device="cpu", dtype="float64")
        together = unseen.run(net, X, y, random_state=0, scores=True)
        monkeypatch.setattr(Classifier, "fit_many", None)
        alone = unseen.run(net, X, y, random_state=0, scores=True)
        assert np.allclose(together.test.score, alone.test.score, atol=1e-9)

    def test_tensors_and_a_search(self):
        X, y = pictures()
        search = GridSearchCV(Classifier(make_conv, epochs=2, device="cpu", random_state=0), {"lr": [0.01, 0.1]}, cv=2)
        table = unseen.run(search, torch.as_tensor(X), y, design=2, random_state=0)
        assert len(table.failures) == 0

    def test_a_trained_net_answers_for_images_and_for_flat_rows(self):
        X, y = pictures()
        net = Classifier(make_conv, epochs=6, lr=0.05, device="cpu", random_state=0).fit(X, y)
        assert np.array_equal(net.predict_proba(X), net.predict_proba(X.reshape(40, -1)))
        wrong = float(np.mean(net.predict(X) != y))
        assert unseen.estimate(net, X, y, method="resub", fitted=True).value == pytest.approx(wrong)
        found = unseen.resubstitute(net, X, y, methods=["bolster", "resub"], random_state=0)
        again = unseen.resubstitution.bolster(net, X.reshape(40, -1), y, random_state=0)
        assert found["bolster"].value == pytest.approx(again.value)

    def test_copies_of_a_trained_net_are_trained_on_images(self):
        X, y = pictures()
        net = Classifier(make_conv, epochs=3, device="cpu", random_state=0).fit(X, y)
        found = unseen.estimate(net, X, y, method="calibrated-bolster", fitted=True, random_state=0, r=2)
        assert found.kappa >= 1
        assert found.deviations.shape[1] == 2

    def test_a_function_of_images_sees_images(self):
        X, y = pictures()

        def rule(images):
            assert images.shape[1:] == (1, 8, 8)
            return np.where(images.mean(axis=(1, 2, 3)) > 0.5, "light", "dark")

        wrong = float(np.mean(rule(X) != y))
        assert unseen.estimate(rule, X, y, method="resub", fitted=True).value == pytest.approx(wrong)
        assert unseen.estimate(rule, X, y, method="bolster", fitted=True, random_state=0).value >= 0

    def test_assess_takes_them(self):
        X, y = pictures()
        result = unseen.assess(Classifier(make_conv, epochs=2, device="cpu"), X, y, random_state=0, effort="quick")
        assert 0 <= result.error <= 1
