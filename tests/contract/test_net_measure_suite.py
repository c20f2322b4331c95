"""The suite for measures of generalization catches measures that break each of its rules."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import ClassVar

import pytest

pytest.importorskip("torch", reason="measures of generalization need torch")

import torch

from unseen.core.errors import NotApplicable
from unseen.nets import Measure
from unseen.nets.measures.weighted_augment import WeightedAugment
from unseen.testing import check_net_measure, nets_measures


@dataclass(frozen=True)
class Plain(Measure):
    """Mean logit.

    References
    ----------
    None, 1900.

    Examples
    --------
    >>> Plain().id
    'plain'
    """

    id: ClassVar[str] = "plain"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def once(self, net, generator, layers):
        return float(net.logits(net.X_train).double().mean())


__all__ = ["Plain"]


class Drawing(Plain):
    def once(self, net, generator, layers):
        return float(torch.rand(1, generator=generator))


class Clock(Plain):
    def once(self, net, generator, layers):
        return time.perf_counter()


class GlobalRandom(Plain):
    default_draws: ClassVar[int] = 2

    def once(self, net, generator, layers):
        return float(torch.rand(1))


class Teaching(Plain):
    def once(self, net, generator, layers):
        with torch.no_grad():
            next(net.module.parameters()).add_(1e-3)
        return super().once(net, generator, layers)


class Hooking(Plain):
    def once(self, net, generator, layers):
        next(net.module.children()).register_forward_hook(lambda *a: None)
        return super().once(net, generator, layers)


class Backward(Plain):
    def once(self, net, generator, layers):
        with torch.enable_grad():
            net.module(net.X_train).sum().backward()
        return super().once(net, generator, layers)


class Waking(Plain):
    def once(self, net, generator, layers):
        net.module.train()(net.X_train)  # moves batch statistics; `net.logits` would look in evaluation mode
        return super().once(net, generator, layers)


class Painting(Plain):
    def once(self, net, generator, layers):
        net.X_train.mul_(0.5)
        return super().once(net, generator, layers)


class OutOfRange(Plain):
    range: ClassVar[tuple[float, float]] = (1e6, 1e7)


class Mute(Plain):
    def __call__(self, net, **options):
        raise NotApplicable("no")


class Refusing(Plain):
    needs: ClassVar[frozenset[str]] = frozenset({"epochs"})

    def once(self, net, generator, layers):
        raise NotApplicable("there is no network that this could ever be made for")


class UpsideDown(Plain):
    higher_is_worse: ClassVar[bool] = False


class Confused(Plain):
    def once(self, net, generator, layers):
        layers.use("0")
        layers.skip("0", "on second thoughts")
        return super().once(net, generator, layers)


BREACHES = [
    (Drawing, nets_measures.same_seed_same_value),
    (Clock, nets_measures.same_seed_same_value),
    (GlobalRandom, nets_measures.network_is_left_alone),
    (Teaching, nets_measures.network_is_left_alone),
    (Hooking, nets_measures.network_is_left_alone),
    (Backward, nets_measures.network_is_left_alone),
    (Waking, nets_measures.network_is_left_alone),
    (Painting, nets_measures.network_is_left_alone),
    (OutOfRange, nets_measures.value_is_whole),
    (Mute, nets_measures.value_is_whole),
    (Refusing, nets_measures.value_is_whole),
    (UpsideDown, nets_measures.is_described),
    (Confused, nets_measures.value_is_whole),
]


@pytest.mark.parametrize(("cls", "check"), BREACHES, ids=lambda v: v.__name__)
def test_breach_is_caught(cls, check):
    with pytest.raises(AssertionError):
        check(cls())


def test_a_good_measure_passes():
    check_net_measure(Plain)
    check_net_measure(WeightedAugment, sampling="rings")
