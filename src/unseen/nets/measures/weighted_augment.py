"""Weighted Augment - Semi PP: misclassified augmented images weighed by how mildly they were changed (Ghane 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import InputError, UnknownName
from unseen.nets.augmentation.factors import draw_factors
from unseen.nets.measures._augmented import classify_augmented, semi_pp_costs
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["WeightedAugment"]


@register
@dataclass(frozen=True)
class WeightedAugment(Measure):
    """Mean penalty of augmented training images: all eight augmentations at once, flip and Sobel filter by a fair coin.

    If an augmented image is classified as labelled, it costs one minus the probability of its class; if it is not,
    it costs max(1, penalty), up to 9 for an image that was hardly changed. A draw augments every image once.

    Parameters
    ----------
    sampling : str
        "uniform" over the whole range of each factor, or "rings": nearly normal, as `multi-augment` draws them.
    coin : float
        Probability of flip and of the Sobel filter.
    orient : str
        "gap": the mean penalty, larger for a larger gap; "printed": minus the sum over images, as equation 3.5 has it.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, equations 3.3 to 3.5; oriented so that larger is worse, and a mean
    instead of the sum.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> result = WeightedAugment()(sample_net("conv"), random_state=0)
    >>> 0 < result.value < 9, result.draws
    (True, 5)
    """

    sampling: str = "uniform"
    coin: float = 0.5
    orient: str = "gap"

    id: ClassVar[str] = "weighted-augment"
    range: ClassVar[tuple[float, float]] = (0.0, 9.0)
    needs: ClassVar[frozenset[str]] = frozenset({"images"})
    sheets: ClassVar[tuple[str, ...]] = ("strong", "weak", "fixed", "all")
    default_draws: ClassVar[int] = 5

    def __post_init__(self) -> None:
        if self.sampling not in ("uniform", "rings"):
            raise UnknownName("sampling", self.sampling, ["uniform", "rings"])
        if not 0 <= self.coin <= 1:
            raise InputError(f"coin is {self.coin!r}; a probability lies between 0 and 1.")
        if self.orient not in ("gap", "printed"):
            raise UnknownName("orientation", self.orient, ["gap", "printed"])

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean penalty of one augmented copy of the training images."""
        factors = draw_factors(net.n, generator, sampling=self.sampling, coin=self.coin, device=net.device)
        penalties = semi_pp_costs(classify_augmented(net, factors), factors.penalty())
        return float(penalties.mean()) if self.orient == "gap" else -float(penalties.sum())
