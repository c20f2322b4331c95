"""Progress of estimates of nets, and how copies of a classifier are trained."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

from unseen.core.errors import InputError, KindError
from unseen.nets import Classifier, estimate, fit_many, make_mlp
from unseen.nets.estimates import calibration


class Listener:
    """Keeps what it is told."""

    def __init__(self):
        self.expected, self.done, self.closed = {}, 0, 0

    def expect(self, fits, label):
        self.expected[label] = self.expected.get(label, 0) + fits

    def advance(self, fits, failed=0):
        self.done += fits

    def say(self, text):
        pass

    def close(self):
        self.closed += 1


def sample():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    return (rng.normal(size=(30, 3)) + y[:, None]).astype(np.float32), y


def test_every_point_of_a_kernel_is_told():
    X, y = sample()
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    heard = Listener()
    estimate(net, X, y, method="bolster", n_mc=11, progress=heard, random_state=0)
    assert heard.expected == {"kernel points": 330}
    assert heard.done == 330
    assert heard.closed == 1


def test_a_calibration_tells_of_training_too():
    X, y = sample()
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    heard = Listener()
    options = {"repeats": 2, "n_mc": 5, "training": {"epochs": 3, "stop": "none"}, "random_state": 0}
    told = estimate(net, X, y, method="calibrated-bolster", progress=heard, **options)
    assert heard.expected["net epochs"] == 6
    assert heard.done == sum(heard.expected.values())
    assert told.value == estimate(net, X, y, method="calibrated-bolster", **options).value


def test_training_is_a_dict_of_known_options():
    X, y = sample()
    net = torch.nn.Linear(3, 2)
    with pytest.raises(InputError, match=r"unknown option of training 'epoch'.*epochs"):
        estimate(net, X, y, method="calibrated-bolster", training={"epoch": 3})
    with pytest.raises(KindError, match="training is a int"):
        estimate(net, X, y, method="calibrated-bolster", training=3)


def test_copies_are_trained_with_the_classifiers_own_weights_of_classes(monkeypatch):
    X, y = sample()
    labels = np.array(["rare", "usual"])[y]
    net = Classifier(epochs=3, device="cpu", random_state=0, class_weight={"usual": 5.0}).fit(X, labels)
    seen = []
    real = calibration.training_options
    monkeypatch.setattr(calibration, "training_options", lambda given: seen.append(given) or real(given))
    estimate(net, X, labels, method="calibrated-bolster", repeats=2, n_mc=5, random_state=0)
    assert seen[0]["class_weight"] == {1: 5.0}


def test_copies_of_a_plain_module_are_trained_by_default_and_it_is_said():
    X, y = sample()
    trained = fit_many(make_mlp, X, y, seeds=[0], epochs=40, lr=0.1, device="cpu").module(0)
    net = torch.nn.Sequential(*trained)  # nothing tells how it was trained
    options = {"method": "calibrated-naive-bayes-bolster", "repeats": 2, "n_mc": 5, "random_state": 0}
    silent = estimate(net, X, y, **options)
    assert [n.code for n in silent.notes] == ["N022"]
    told = estimate(net, X, y, training={"epochs": 200, "lr": 0.02}, **options)
    assert told.notes == ()
    assert told.value == silent.value
    assert np.array_equal(told.curve, silent.curve)
