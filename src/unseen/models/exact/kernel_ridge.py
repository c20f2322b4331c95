"""Kernel ridge regression with rows left out, from the inverse of one kernel matrix (Cawley & Talbot, 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.learner import Exact, Sample

__all__ = ["KernelRidgeRegression"]

MAX_ROWS = 5000  # the kernel matrix and its inverse then take 400 MB
SMALLEST = 1e-9  # eigenvalue of the equations over the largest one, below which refitting is the safe way


@register
@dataclass(frozen=True)
class KernelRidgeRegression(Exact):
    """scikit-learn's KernelRidge, which is also the least-squares support vector machine without a constant, with rows left out.

    With A the inverse of K + alpha I and c = A y, leaving the rows C out changes the coefficients to c - A_C (A_CC)^-1 c_C. A part that
    repeats rows has other equations and is refitted.

    References
    ----------
    Cawley, G. C. and Talbot, N. L. C. (2004). Fast exact leave-one-out cross-validation of sparse least-squares support vector
    machines. Neural Networks 17, 1467-1475.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> X, y = unseen.datasets.load("diabetes").xy
    >>> quick, slow = (
    ...     unseen.run(KernelRidge(kernel="rbf"), X, y, design="kfold", random_state=0, shortcuts=s).test.value
    ...     for s in (True, False)
    ... )
    >>> bool(np.allclose(quick, slow))
    True
    """

    id: ClassVar[str] = "kernel-ridge"
    learners: ClassVar[tuple[str, ...]] = ("KernelRidge",)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.kernel_ridge import KernelRidge

        return [KernelRidge(kernel="rbf"), KernelRidge(alpha=0.1), KernelRidge(kernel="poly", degree=2)]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        n = len(sample.X)
        named = isinstance(final.kernel, str) and final.kernel != "precomputed"
        if scalers or not named or np.ndim(final.alpha) != 0 or not final.alpha > 0 or n > MAX_ROWS:
            return None
        from sklearn.metrics.pairwise import pairwise_kernels

        options = final.kernel_params or {}
        if not options:
            options = {"gamma": final.gamma, "degree": final.degree, "coef0": final.coef0}
        K = np.asarray(pairwise_kernels(sample.X, metric=final.kernel, filter_params=True, **options), dtype=float)
        root = np.ones(n) if sample.weights is None else np.sqrt(sample.weights)
        system = K * root * root[:, None] + float(final.alpha) * np.eye(n)
        values, vectors = np.linalg.eigh(system)
        if not values[0] > SMALLEST * values[-1]:
            return None
        inverse = (vectors / values) @ vectors.T
        solution = inverse @ (root * np.asarray(sample.data.y, dtype=float))
        return _without(fits, K * root, inverse, solution)


def _without(fits: ManyFits, kernel: Floats, inverse: Floats, solution: Floats) -> ManyAnswers:
    """Take the rows that each fit leaves out from the equations of all rows."""
    out = np.zeros(len(fits.row))
    if fits.left_out is not None:
        gone = fits.left_out
        ratio = solution[gone] / inverse[gone, gone]
        fit, row = fits.fit, fits.row
        out = kernel @ solution
        # predictions of all rows fall by K A_i c_i / A_ii
        falls = np.einsum("ij,ij->i", kernel[row], inverse[gone[fit]]) * ratio[fit]
        return ManyAnswers(values=out[row] - falls, safe=np.ones(len(fits), dtype=bool))
    safe: Array = np.bincount(fits.changes.fit[fits.changes.by > 0], minlength=len(fits)) == 0
    where = np.searchsorted(fits.changes.fit, np.arange(len(fits) + 1))
    for j in np.flatnonzero(safe).tolist():
        gone = fits.changes.row[where[j] : where[j + 1]]
        here = fits.wanted(j)
        own = solution - inverse[:, gone] @ np.linalg.solve(inverse[np.ix_(gone, gone)], solution[gone])
        own[gone] = 0.0
        out[here] = kernel[fits.row[here]] @ own
    return ManyAnswers(values=out, safe=safe)
