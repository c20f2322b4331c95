"""Naive-Bayes bolstered resubstitution: diagonal kernels (Jiang & Braga-Neto, 2014)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from unseen.core.errors import InputError, UnknownName
from unseen.core.registry import register
from unseen.resubstitution.kernels import Diagonal, Kernel, as_kernel
from unseen.resubstitution.methods.bolster import Bolster

__all__ = ["NaiveBayesBolster"]


@register
@dataclass(frozen=True)
class NaiveBayesBolster(Bolster):
    """Bolstering with a width of its own in every coordinate, for samples of many dimensions.

    The standard deviation of class y in coordinate k is the mean distance to the nearest distinct value of that class
    there, over alpha_1; a coordinate that is constant within the class gets 0.

    Parameters
    ----------
    kernel : "diagonal" or Diagonal
        Diagonal kernels only.
    nearest : {"distinct", "any"}
        "any" counts ties as distance 0, as printed: if most values of a coordinate are equal, nothing moves.

    References
    ----------
    Jiang, X. and Braga-Neto, U. (2014). A naive-Bayes approach to bolstered error estimation in high-dimensional spaces.
    IEEE International Workshop on Genomic Signal Processing and Statistics.
    Ghane, P. (2022). Dissertation, Texas A&M University, equation 2.40.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("digits").xy
    >>> e = unseen.estimate(LogisticRegression(max_iter=200), X[:300], y[:300], method="naive-bayes-bolster", random_state=0)
    >>> 0 < e.value < 0.2
    True
    """

    kernel: Any = "diagonal"
    nearest: str = "distinct"
    id: ClassVar[str] = "naive-bayes-bolster"

    def __post_init__(self) -> None:
        check_diagonal(self)
        super().__post_init__()

    @property
    def chosen_kernel(self) -> Kernel:
        """The diagonal kernel with its size set."""
        return diagonal(self)


def check_diagonal(method: Any) -> None:
    """Refuse another kernel than a diagonal one, and an unknown rule for ties."""
    if method.kernel != "diagonal" and not isinstance(method.kernel, Diagonal):
        raise InputError(f"{method.id} uses diagonal kernels, not {method.kernel!r}; use bolster for other kernels.")
    if method.nearest not in ("distinct", "any"):
        raise UnknownName("nearest", method.nearest, ("distinct", "any"))


def diagonal(method: Any) -> Kernel:
    """Return the diagonal kernel a method's options ask for."""
    kernel = as_kernel(method.kernel, method.bandwidth, method.scale)
    if method.kernel == "diagonal" and isinstance(kernel, Diagonal):
        return replace(kernel, nearest=method.nearest)
    return kernel
