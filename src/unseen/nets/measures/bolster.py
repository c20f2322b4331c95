"""Bolstered error estimates as measures: the trained network's error under kernels around its training inputs (Braga-Neto and Dougherty, 2004; Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets.estimates.estimate import estimate
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net
from unseen.nets.modules.tokens import space_of_kernels

__all__ = ["BolsterMeasure", "BolsterPosteriorMeasure", "KernelEstimateMeasure", "NaiveBayesBolsterMeasure"]


@dataclass(frozen=True)
class KernelEstimateMeasure(Measure):
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
            classes=list(class_numbers(net)),
            layer=space_of_kernels(net.module),
        )
        return float(found.value)


def class_numbers(net: Net) -> range:
    """Return the class numbers the network gives logits for."""
    return range(int(net.logits(net.X_train[:1]).shape[1]))


@register
@dataclass(frozen=True)
class BolsterMeasure(KernelEstimateMeasure):
    """Error under spherical kernels around the training inputs, sized by nearest neighbours within each class.

    Parameters
    ----------
    n : int
        Training inputs that carry kernels: the first n.
    n_mc : int
        Points per kernel and draw.

    References
    ----------
    U. M. Braga-Neto, E. R. Dougherty (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= BolsterMeasure()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "bolster"
    family: ClassVar[str] = "bolster"
    method: ClassVar[str] = "bolster"


@register
@dataclass(frozen=True)
class NaiveBayesBolsterMeasure(KernelEstimateMeasure):
    """Error under kernels with a size of their own for every input coordinate and class.

    Parameters
    ----------
    n : int
        Training inputs that carry kernels: the first n.
    n_mc : int
        Points per kernel and draw.

    References
    ----------
    P. Ghane (2022). Dissertation, Texas A&M University, section 2.2.4.2.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= NaiveBayesBolsterMeasure()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "naive-bayes-bolster"
    family: ClassVar[str] = "bolster"
    method: ClassVar[str] = "naive-bayes-bolster"


@register
@dataclass(frozen=True)
class BolsterPosteriorMeasure(KernelEstimateMeasure):
    """Mean over points of spherical kernels of one minus the probability the network gives to the class it assigns.

    Parameters
    ----------
    n : int
        Training inputs that carry kernels: the first n.
    n_mc : int
        Points per kernel and draw.

    References
    ----------
    P. Ghane (2022). Dissertation, Texas A&M University, section 2.2.3.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= BolsterPosteriorMeasure()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "bolster-posterior"
    family: ClassVar[str] = "bolster"
    method: ClassVar[str] = "bolster-posterior"
