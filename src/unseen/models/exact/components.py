"""Principal components in front of a learner: the map that every training part gives, from its own scatter (Jolliffe, 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.engine.fits import ManyFits
from unseen.models.exact.learner import Sample, is_sklearn
from unseen.models.exact.scaling import Scaling, scaling_of
from unseen.models.exact.scatter import MAX_OUTER, changed_scatter
from unseen.models.exact.sums import changed_sums

__all__ = ["Components", "components_of"]

# gap between the last component that is kept and the first that is not, over the largest variance; the space that the kept ones
# span is then known to ten digits
WELL_APART = 1e-6
TALL, WIDE = 10, 1000  # where scikit-learn's "auto" takes the scatter matrix: rows per column, columns
SMALL = 500  # and where it takes all singular vectors
MOST_SHARE = 0.8  # of the components, from which on it takes them too


@dataclass(frozen=True, eq=False)
class Components:
    """Each fit sees (x - its mean) M: the scaled row in the directions of largest variance.

    The directions have signs, and turn where two variances are equal; a learner that asks for lengths and angles alone gives the same
    predictions whatever they are.

    Parameters
    ----------
    kept : int
        Number of components.
    sample : Sample
        All rows.
    scaling : Scaling
        What scalers do before.
    """

    kept: int
    sample: Sample
    scaling: Scaling

    def maps(self, fits: ManyFits, which: Ints) -> tuple[Floats, Array]:
        """Return the maps of some fits, (fits, features, kept), and whether each is known to all digits.

        Parameters
        ----------
        fits : ManyFits
            These fits alone.
        which : ndarray of int
            Their numbers among all.
        """
        X = self.sample.X
        p = X.shape[1]
        scale = np.broadcast_to(self.scaling.scale[which if len(self.scaling.scale) > 1 else [0]], (len(which), p))
        units = np.median(self.scaling.scale, axis=0)
        rows = (X - X.mean(axis=0)) / units
        size = fits.sizes.astype(float)
        total = rows.sum(axis=0) + changed_sums(fits, rows)[:, 0]
        scatter = rows.T @ rows + changed_scatter(fits, rows)[:, 0]
        scatter -= total[:, :, None] * (total / size[:, None])[:, None, :]
        by = units / scale
        scatter *= by[:, :, None] * by[:, None, :]
        safe = np.asarray(np.isfinite(scatter).all(axis=(1, 2)))
        values, vectors = np.linalg.eigh(np.where(safe[:, None, None], scatter, np.eye(p)))
        # the first of those that are left out, or nothing
        last, next_ = values[:, p - self.kept], values[:, p - self.kept - 1] if self.kept < p else 0.0
        safe &= last - next_ > WELL_APART * values[:, -1]
        return vectors[:, :, p - self.kept :] / scale[:, :, None], safe & self.scaling.safe[which]


def components_of(steps: Sequence[Any], sample: Sample, fits: ManyFits) -> Components | None:
    """Return the components if the last step before the learner is a principal component analysis that has no chance in it.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from unseen.core.data import Data
    >>> X = np.array([[0.0, 1.0], [2.0, 2.0], [4.0, 3.0], [6.0, 4.1]])
    >>> two = ManyFits(data=Data(X, X[:, 0], "regression"), train=[np.arange(3), np.arange(4)], fit=np.zeros(0, int), row=np.zeros(0, int))
    >>> maps, safe = components_of([PCA(1)], Sample(X, two.data), two).maps(two, np.arange(2))
    >>> np.abs(maps[0, :, 0]).round(4).tolist(), safe.tolist()
    ([0.8944, 0.4472], [True, True])
    """
    if not steps or not is_sklearn(steps[-1], "PCA"):
        return None
    pca, (n, p) = steps[-1], sample.X.shape
    kept = p if pca.n_components is None else pca.n_components
    if not isinstance(kept, int | np.integer) or not 1 <= kept <= p or pca.whiten or n * p**2 > MAX_OUTER:
        return None
    # a part with fewer rows than columns has fewer directions
    smallest = int(fits.sizes.min())
    if smallest <= p or any(_draws(pca.svd_solver, size, p, int(kept)) for size in (smallest, int(fits.sizes.max()))):
        return None
    scaling = scaling_of(steps[:-1], sample, fits)
    return None if scaling is None else Components(int(kept), sample, scaling)


def _draws(solver: str, n: int, p: int, kept: int) -> bool:
    """Say whether scikit-learn draws random directions for a part of n rows."""
    if solver == "auto":
        tall, few = p <= WIDE and n >= TALL * p, max(n, p) <= SMALL
        return not tall and not few and kept < MOST_SHARE * min(n, p)
    return solver not in ("full", "covariance_eigh")
