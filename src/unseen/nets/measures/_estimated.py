"""Error estimates of this package as measures: integrate the trained network's error under another empirical measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets._estimate import estimate
from unseen.nets._measure import LayerLog, Measure
from unseen.nets._net import Net

__all__ = ["Estimated"]


@dataclass(frozen=True)
class Estimated(Measure):
    """Base of the bolstered measures; subclasses name the method of `unseen.nets.estimate`.

    Parameters
    ----------
    n : int
        Training inputs that carry kernels, the same for every draw; the first ones.
    n_mc : int
        Points per kernel and draw.
    """

    n: int = 1000
    n_mc: int = 5

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    default_draws: ClassVar[int] = 4
    method: ClassVar[str]

    def __post_init__(self) -> None:
        if self.n < 2 or self.n_mc < 2:
            raise InputError(f"n is {self.n} and n_mc is {self.n_mc}; both must be at least 2.")

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the estimate for one draw of kernel points."""
        seed = int(torch.randint(2**31, (1,), generator=generator))
        rows = slice(self.n)
        found: Any = estimate(
            net.module,
            net.X_train[rows],
            net.y_train[rows],
            self.method,
            n_mc=self.n_mc,
            random_state=seed,
            outputs="logits",
            classes=list(range_of(net)),
        )
        return float(found.value)


def range_of(net: Net) -> range:
    """Return the class numbers the network gives logits for."""
    return range(int(net.logits(net.X_train[:1]).shape[1]))
