"""Where scikit-learn's L-BFGS stops: the same steps on the same loss, without the checks around every fit (Byrd et al., 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from unseen.core.arrays import Floats

__all__ = ["Descent"]

LINE_STEPS = 50  # options that scikit-learn gives to the solver
FLAT = 64 * np.finfo(float).eps
BORDERLINE = 1e-5  # a gradient so close to the tolerance, relatively, may have been a last one or not


@dataclass(frozen=True)
class Descent:
    """Penalised log likelihoods, minimised by the steps of scikit-learn's LogisticRegression.

    Parameters
    ----------
    ridge : float
        Penalty 1 / C.
    tolerance : float
        Largest entry of the gradient of the mean loss at which the solver stops.
    iterations : int
        Most steps.

    References
    ----------
    Byrd, R. H., Lu, P., Nocedal, J. and Zhu, C. (1995). A limited memory algorithm for bound constrained optimization.
    SIAM Journal on Scientific Computing 16, 1190-1208.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([0, 1, 0, 1])
    >>> model = LogisticRegression().fit(X, y)
    >>> found = Descent(1.0, 1e-4, 100).weights(X, y[:, None].astype(float), np.ones(4))
    >>> bool(np.allclose(found[:, 0], [model.intercept_[0], model.coef_[0, 0]], rtol=1e-9))
    True
    """

    ridge: float
    tolerance: float
    iterations: int

    def weights(self, X: Floats, target: Floats, weights: Floats) -> Floats | None:
        """Return intercepts, then weights, as (1 + p, outputs), at which scikit-learn's solver stops.

        None if it is not clear where that is: if it stopped for another reason than the gradient, or if a gradient on the way was
        so close to the tolerance that rounding decides.

        Parameters
        ----------
        X : ndarray, (n, p)
            Rows as the solver sees them.
        target : ndarray, (n, outputs)
            Indicators of the classes; of the second one alone if there are two.
        weights : ndarray, (n,)
            Weights of the rows.
        """
        (n, p), q = X.shape, target.shape[1]
        rows = np.hstack([np.ones((n, 1)), X])
        columns = np.ascontiguousarray(rows.T)
        total = weights.sum()
        share = weights / total
        observed = columns @ (share[:, None] * target)
        penalty = np.full((p + 1, 1), self.ridge / total)
        penalty[0] = 0.0
        largest: list[float] = []

        def loss(flat: Any) -> tuple[float, Floats]:
            theta = flat.reshape(p + 1, q)
            linear = rows @ theta
            shrunk = penalty * theta
            if q == 1:
                level, probability = np.logaddexp(0.0, linear[:, 0]), expit(linear)
            else:
                level = logsumexp(linear, axis=1)
                probability = np.exp(linear - level[:, None])
            slope = columns @ (share[:, None] * probability) - observed + shrunk
            largest.append(float(np.abs(slope).max()))
            return float(share @ level + np.sum(theta * (0.5 * shrunk - observed))), slope.ravel()

        options: Any = {"maxiter": self.iterations, "maxls": LINE_STEPS, "gtol": self.tolerance, "ftol": FLAT}
        found: Any = minimize(loss, np.zeros((p + 1) * q), method="L-BFGS-B", jac=True, options=options)
        close = np.abs(np.array(largest) / self.tolerance - 1) <= BORDERLINE
        if not found.success or largest[-1] > self.tolerance or close.any():
            return None
        return np.asarray(found.x.reshape(p + 1, q))
