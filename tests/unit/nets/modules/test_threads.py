"""Nets compute with one thread of the CPU unless the user asks for more, and leave torch's number as it was."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unseen.core.errors import InputError
from unseen.nets import (
    Classifier,
    Zoo,
    ZooGrid,
    bench,
    build_measure,
    estimate,
    fit_many,
    make_mlp,
    posterior,
    rank,
    sample_net,
    use_threads,
)

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = RNG.normal(size=(40, 4)) + Y[:, None]
SHORT = {"epochs": 1, "stop": "none", "device": "cpu"}


class Spy(torch.nn.Module):
    """A net that notes how many threads torch has while it runs."""

    def __init__(self, features: int = 4) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(features, 2)
        self.seen: list[int] = []

    def forward(self, x):
        """Note the threads, then run."""
        self.seen.append(torch.get_num_threads())
        return self.inner(x)


@pytest.fixture(autouse=True)
def several_threads():
    """Give torch three threads, as a machine with cores would, and demand them back after the test."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert after == 3, "the number of threads was not restored"


def fit(seen: list[int]) -> None:
    fit_many(make_mlp, X, Y, seeds=[0, 1], after_epoch=lambda *_: seen.append(torch.get_num_threads()), **SHORT)


def test_a_fit_has_one_thread_and_leaves_the_number_as_it_was():
    seen: list[int] = []
    fit(seen)
    assert seen == [1]
    assert torch.get_num_threads() == 3


def test_the_user_may_ask_for_more():
    seen: list[int] = []
    with use_threads(2):
        fit(seen)
        assert torch.get_num_threads() == 3  # only while nets compute
    fit(seen)
    assert seen == [2, 1]


def test_threads_come_back_after_an_error():
    with pytest.raises(InputError):
        fit_many(make_mlp, X, Y[:3], seeds=[0], **SHORT)
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize("number", [0, -1, 1.5, True, None])
def test_a_number_of_threads_is_whole_and_positive(number):
    with pytest.raises(InputError, match="number of threads"), use_threads(number):
        pass


def test_a_classifier_fits_and_predicts_with_one_thread():
    seen: list[int] = []
    net = Classifier(Spy, after_epoch=lambda *_: seen.append(torch.get_num_threads()), random_state=0, **SHORT)
    net.fit(X, Y)
    net.module_.seen.clear()
    copied = net.module_.seen
    net.predict(X)
    assert set(seen) == {1}
    assert copied == []
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize("method", ["bolster", "posterior"])
def test_estimates_have_one_thread(method):
    net = Spy()
    estimate(net, X, Y, method=method, n_mc=2, exact=False, random_state=0)
    assert net.seen
    assert set(net.seen) == {1}


def test_samplers_have_one_thread():
    net = Spy()
    samples = posterior(net, X, Y, sampler="laplace", n_samples=2, random_state=0)
    net.seen.clear()
    samples.logits(X)
    posterior(net, X, Y, sampler="sgld", n_samples=2, n_chains=2, burn_in=1, thin=1, random_state=0)
    assert set(net.seen) <= {1}


def test_measures_and_rankings_have_one_thread():
    nets = {name: sample_net("vector", seed) for name, seed in (("a", 0), ("b", 1))}
    seen: list[int] = []
    handles = [
        net.module.register_forward_hook(lambda *_: seen.append(torch.get_num_threads())) for net in nets.values()
    ]
    build_measure("inverse-margin")(nets["a"])
    rank(nets, measures=["inverse-margin"], device="cpu")
    for handle in handles:
        handle.remove()
    assert seen
    assert set(seen) == {1}


def test_zoos_and_benches_have_one_thread(tmp_path, monkeypatch):
    import unseen.nets.zoo.plan as plan

    seen: list[int] = []
    real = plan._score

    def score(*args):
        seen.append(torch.get_num_threads())
        return real(*args)

    monkeypatch.setattr(plan, "_score", score)
    axes = {"width": (4, 8), "depth": (1, 2), "weight_decay": (0.0, 0.03)}
    grid = ZooGrid("toy", make_mlp, axes, epochs=30, accuracy=0.5)
    y = np.arange(300) % 2
    wide = RNG.normal(size=(300, 20)) + 0.6 * y[:, None]
    data = (wide[:40], y[:40], wide[40:], y[40:])
    zoo = Zoo.train(grid, data, store=tmp_path, seeds=1, copies=False, device="cpu")
    assert seen
    assert set(seen) == {1}
    bench(zoo, ["path-norm"], n_permutations=20)
    assert torch.get_num_threads() == 3
