"""Wrong options of nets, one by one: each is answered by an error of this package that names the option."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import unseen.nets as nets  # noqa: E402
from unseen.core.errors import UnseenError  # noqa: E402

CODES = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 4)) + 1.5 * CODES[:, None]
NET = nets.make_mlp(4, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("halve_every", 0),
        ("halve_every", "a"),
        ("max_together", 0),
        ("max_together", "a"),
        ("eval_batch", -1),
        ("n_classes", -1),
        ("augment", 3),
        ("seeds", "a"),
        ("seeds", 1.5),
        ("seeds", None),
        ("seeds", [[1]]),
        ("stop_at", float("nan")),
        ("class_weight", {"a": 1}),
        ("sample_weight", "a"),
        ("progress", "a"),
    ],
)
def test_fit_many(name, value):
    with pytest.raises(UnseenError, match=name):
        nets.fit_many(nets.make_mlp, X, CODES, None, **{"seeds": [0], "epochs": 2, "device": "cpu", name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("friction", -1),
        ("friction", 0),
        ("friction", 2),
        ("friction", "a"),
        ("jitter", -1),
        ("jitter", "a"),
        ("burn_in", -1),
        ("burn_in", 2.5),
        ("burn_in", "a"),
        ("batch_size", 0),
        ("batch_size", "a"),
        ("step", "a"),
        ("temperature", float("inf")),
    ],
)
def test_posterior(name, value):
    with pytest.raises(UnseenError, match=f"{name} is"):
        nets.posterior(NET, X, CODES, **{name: value})


def test_the_ends_of_the_ranges_are_allowed():
    p = nets.posterior(NET, X, CODES, friction=1, jitter=0, burn_in=0, thin=1, n_samples=4, random_state=0)
    assert p.n_samples == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("draws", "a"),
        ("draws", 1.5),
        ("draws", -1),
        ("exact", "no"),
        ("bidirectional", "no"),
        ("layer", 3),
        ("posterior_layer", 3),
        ("classes", 3),
        ("validation", 3),
        ("validation", (X,)),
        ("validation", "file"),
    ],
)
def test_estimate(name, value):
    with pytest.raises(UnseenError, match=name):
        nets.estimate(NET, X, CODES, **{name: value})


def test_validation_rows_of_another_shape():
    with pytest.raises(UnseenError, match=r"cannot take inputs of shape \(2,\)"):
        nets.estimate(NET, X, CODES, method="posterior", posterior="temperature", validation=(X[:, :2], CODES))


def test_samples_of_ones_own():
    with pytest.raises(UnseenError, match="logits hold"):
        nets.Posterior.from_logits("a")
    for states in ([3], [{"0.weight": [1.0]}]):
        with pytest.raises(UnseenError, match="state 0 is a"):
            nets.Posterior.from_states(NET, states)
    assert nets.Posterior.from_logits(torch.zeros(2, 5, 3, requires_grad=True)).n_samples == 2


def test_monitor(tmp_path):
    for patience in (0, 1.5, "a"):
        with pytest.raises(UnseenError, match="patience is"):
            nets.Monitor(NET, X, CODES, X, CODES, patience=patience)
    watch = nets.Monitor(NET, X, CODES, X, CODES)
    with pytest.raises(UnseenError, match="the monitor itself records"):
        watch(epoch=3)
    with pytest.raises(UnseenError, match="one number per epoch"):
        watch(loss="low")
    assert watch(loss=torch.tensor([0.5]))["loss"] == 0.5
    with pytest.raises(UnseenError, match="cannot write the record"):
        nets.Monitor(NET, X, CODES, X, CODES, path=tmp_path / "absent" / "run.jsonl")
