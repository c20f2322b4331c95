"""Naive-Bayes bolstered resubstitution with calibrated kernels (Ghane, 2022, section 2.2.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.core.registry import register
from unseen.resubstitution.kernels import Kernel
from unseen.resubstitution.methods.calibrated_bolster import CalibratedBolster
from unseen.resubstitution.methods.naive_bayes_bolster import check_diagonal, diagonal

__all__ = ["CalibratedNaiveBayesBolster"]


@register
@dataclass(frozen=True)
class CalibratedNaiveBayesBolster(CalibratedBolster):
    """Calibrated bolstering with diagonal kernels, as published for images.

    Parameters
    ----------
    kernel, nearest
        As in `naive-bayes-bolster`.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.2.4.2, tables 2.6 to 2.9.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(
    ...     KNeighborsClassifier(3), X, y, method="calibrated-naive-bayes-bolster", search="root", random_state=0
    ... )
    >>> e.kappa > 0, e.n_fits
    (True, 6)
    """

    kernel: Any = "diagonal"
    nearest: str = "distinct"
    id: ClassVar[str] = "calibrated-naive-bayes-bolster"

    def __post_init__(self) -> None:
        check_diagonal(self)
        super().__post_init__()

    @property
    def chosen_kernel(self) -> Kernel:
        """The diagonal kernel with its size set."""
        return diagonal(self)
