"""Bolstered resubstitution of a trained network (Braga-Neto and Dougherty, 2004; Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.nets._measure import register
from unseen.nets.measures._estimated import Estimated

__all__ = ["Bolster"]


@register
@dataclass(frozen=True)
class Bolster(Estimated):
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
    >>> 0 <= Bolster()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "bolster"
    method: ClassVar[str] = "bolster"
