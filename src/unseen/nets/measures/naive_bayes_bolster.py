"""Naive-Bayes bolstered resubstitution of a trained network (Jiang and Braga-Neto, 2014; Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.nets._measure import register
from unseen.nets.measures._estimated import Estimated

__all__ = ["NaiveBayesBolster"]


@register
@dataclass(frozen=True)
class NaiveBayesBolster(Estimated):
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
    >>> 0 <= NaiveBayesBolster()(sample_net("conv"), draws=2).value <= 1
    True
    """

    id: ClassVar[str] = "naive-bayes-bolster"
    method: ClassVar[str] = "naive-bayes-bolster"
