"""Expected posterior error under kernels around the training inputs (Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.nets._measure import register
from unseen.nets.measures._estimated import Estimated

__all__ = ["BolsterPosterior"]


@register
@dataclass(frozen=True)
class BolsterPosterior(Estimated):
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
    >>> 0 <= BolsterPosterior()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "bolster-posterior"
    method: ClassVar[str] = "bolster-posterior"
