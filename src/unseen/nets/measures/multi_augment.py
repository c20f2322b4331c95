"""Multi-Augment: the error on many mildly augmented copies, in rings like a normal distribution (Ghane 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets.augmentation.factors import draw_factors, ring_counts
from unseen.nets.measures._augmented import classify_augmented, semi_pp_costs
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["MultiAugment"]


@register
@dataclass(frozen=True)
class MultiAugment(Measure):
    """Share of augmented training images that are misclassified, over `n_augment` copies of each.

    Of 25 copies 17 have every factor in the first third of its range, 7 in the second and 1 in the last, uniform inside.
    A draw makes all the copies; the Monte-Carlo error is over draws.

    Parameters
    ----------
    n_augment : int
        Copies of each image.
    semi_pp : bool
        Average the penalties of `weighted-augment` instead of the misclassifications.
    coin : float
        Probability of flip and of the Sobel filter.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 3.2.3.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= MultiAugment()(sample_net("conv")).value <= 1
    True
    """

    n_augment: int = 25
    semi_pp: bool = False
    coin: float = 0.5

    id: ClassVar[str] = "multi-augment"
    range: ClassVar[tuple[float, float]] = (0.0, 9.0)
    needs: ClassVar[frozenset[str]] = frozenset({"images"})
    sheets: ClassVar[tuple[str, ...]] = ("strong", "weak", "fixed", "all")
    default_draws: ClassVar[int] = 2

    def __post_init__(self) -> None:
        ring_counts(self.n_augment)
        if not 0 <= self.coin <= 1:
            raise InputError(f"coin is {self.coin!r}; a probability lies between 0 and 1.")

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean outcome of all copies of all images."""
        total = 0.0
        for ring, copies in enumerate(ring_counts(self.n_augment), start=1):
            for _ in range(copies):
                factors = draw_factors(net.n, generator, ring=ring, coin=self.coin, device=net.device)
                result = classify_augmented(net, factors)
                costs = semi_pp_costs(result, factors.penalty()) if self.semi_pp else result.wrong.double()
                total += float(costs.mean())
        return total / self.n_augment
