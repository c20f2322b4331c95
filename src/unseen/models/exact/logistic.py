"""Logistic regressions on parts of the data, all at once, by Newton steps from the fit on all rows (Pregibon, 1981)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.plan import RowParts
from unseen.core.registry import register
from unseen.engine.fits import ManyAnswers, ManyFits
from unseen.models.exact.hat import apply_weights
from unseen.models.exact.learner import Exact, Sample, decide, probabilities
from unseen.models.exact.scaling import Scaling, scaling_of
from unseen.models.exact.scatter import CHUNK_NUMBERS, MAX_OUTER, changed_scatter
from unseen.models.exact.stopped import Descent

__all__ = ["Logistic"]

SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")
STEPS = 30  # of Newton's method; penalised fits that start from the one on all rows need three to eight
CONVERGED = 1e-8  # largest change of a standardised weight in the last step, over the largest weight
SLOW = 0.1  # by how much a step must shrink, else the second derivatives are computed anew
OWN_DERIVATIVES = 200  # fits up to which second derivatives are computed at each step from the start
SAME_SCORE = 1e-6  # how far a decision value may be from that of scikit-learn's solver if probabilities are wanted
EXACT_TOLERANCE = 1e-6  # of a user's solver, above which its probabilities are not those of the optimum
SMALLEST = 1e-8  # eigenvalue of the second derivatives over the mean one, below which refitting is the safe way
# times the distance from the optimum that a gradient of the solver's tolerance means; in 1,800 fits the median of the largest over all
# rows was 0.7, and a row that is both so far off and so close to the boundary is not to be expected
STOPPED_EARLY = 1.5
MOST_DOUBTFUL = 0.5  # share of fits beyond which all are refitted at once
WORTH_PRODUCTS = 20  # fits from which on products of columns are made once for all
LONGEST = 4.0  # change of a linear function in one step
SAME_STOP = 1e-8  # how close to scikit-learn's decision values the solver's own steps must come on all rows
STOP_ROUNDING = 1e-6  # of such decision values on a part
MAX_STEPPED = (
    400_000  # numbers of the sample up to which a fit costs less here than in scikit-learn, whose checks are most of it
)
MOST_ITERATIONS = 0.5  # share of the solver's iterations that the fit on all rows may take; others might not converge


@register
@dataclass(frozen=True)
class Logistic(Exact):
    """scikit-learn's LogisticRegression, two classes or more, with a squared penalty or none, bare or behind scalers.

    The optimum of every fit is found to 1e-8. scikit-learn's own solvers stop before it, at a gradient of `tol`, so that a fit whose
    decision is closer than that leaves open is refitted; probabilities are given for Newton's solvers with a `tol` of at most 1e-6 only.

    Declines, so that the engine refits, for: other penalties and solvers, weights of classes, no intercept, and models whose solver
    needs more than half of its iterations for all rows.

    References
    ----------
    Pregibon, D. (1981). Logistic regression diagnostics. Annals of Statistics 9, 705-724.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = unseen.datasets.load("iris").xy
    >>> model = LogisticRegression(max_iter=1000)
    >>> quick, slow = (unseen.run(model, X, y, design="loo", shortcuts=s).test.value for s in (True, False))
    >>> bool(np.array_equal(quick, slow))
    True
    """

    id: ClassVar[str] = "logistic"
    learners: ClassVar[tuple[str, ...]] = ("LogisticRegression",)

    @classmethod
    def examples(cls) -> Sequence[Any]:
        """Return models that are answered for."""
        from sklearn.linear_model import LogisticRegression

        exact = {"tol": 1e-10, "solver": "newton-cholesky"}
        return [LogisticRegression(**exact), LogisticRegression(C=0.1, **exact), LogisticRegression()]

    def answer(self, scalers: Sequence[Any], final: Any, sample: Sample, fits: ManyFits) -> ManyAnswers | None:
        """Return the wanted predictions of all fits, or None."""
        penalty = _penalty(final)
        if penalty is None or (fits.scores and not _meets_optimum(final)):
            return None
        scaling = scaling_of(scalers, sample, fits)
        K = sample.n_classes
        outputs = 1 if K == 2 else K
        n, p = sample.X.shape
        if scaling is None or K < 2 or (p + 1) ** 2 * outputs**2 > CHUNK_NUMBERS or n * (p + 1) ** 2 > MAX_OUTER:
            return None
        problem = _LogisticProblem.of(sample, scaling, penalty, outputs)
        start, doubtful, descent = _start(scalers, final, sample, problem)
        # a fit is in doubt if one of its rows is; most fits being so, the algebra would only add to refitting
        if start is None or (descent is None and (1 - doubtful) ** (len(fits.row) / len(fits)) < 1 - MOST_DOUBTFUL):
            return None
        here = fits.class_counts
        safe = scaling.safe & np.all(here > 0, axis=1)
        weights = np.empty((len(fits), p + 1, outputs))
        reach = np.empty(len(fits.row))
        size = (outputs * (p + 1)) ** 2 + 3 * outputs * n
        step = max(1, CHUNK_NUMBERS // size)
        for first in range(0, len(fits), step):
            which = np.arange(first, min(first + step, len(fits)))
            part = fits.some(which) if len(which) < len(fits) else fits
            at = slice(int(fits.starts[which[0]]), int(fits.starts[which[-1] + 1]))
            weights[which], fine, reach[at] = problem.solve(part, which, start)
            safe[which] &= fine
        decision = apply_weights(fits, problem.rows, weights)
        joint = decision if outputs > 1 else np.hstack([np.zeros_like(decision), decision])
        open_ = STOPPED_EARLY * final.tol * reach
        if fits.scores:
            safe[fits.fit[open_ > SAME_SCORE]] = False
        tolerance = open_ + 1e-7
        if descent is not None:
            _follow(descent, fits, sample, scaling, joint, tolerance, safe)
        return decide(fits, joint, tolerance, safe, probabilities(joint) if fits.scores else None, "probability")


def _meets_optimum(final: Any) -> bool:
    """Say whether scikit-learn's probabilities are those of the optimum; its L-BFGS also stops if the loss hardly falls any more."""
    return bool(final.solver != "lbfgs" and final.tol <= EXACT_TOLERANCE)


def _penalty(final: Any) -> float | None:
    """Return 1 / C, zero without a penalty; None if the model is of another kind."""
    kind = getattr(final, "penalty", "l2")
    plain = final.solver in SOLVERS and not final.dual and final.fit_intercept and final.class_weight is None
    if (
        not plain
        or getattr(final, "multi_class", "deprecated") not in ("deprecated", "auto")
        or kind not in ("deprecated", "l2", None)
    ):
        return None
    if kind == "deprecated" and final.l1_ratio not in (0, None):
        return None
    return 0.0 if kind is None else 1.0 / float(final.C)


def _follow(
    descent: Descent, fits: ManyFits, sample: Sample, scaling: Scaling, joint: Floats, tolerance: Floats, safe: Array
) -> None:
    """Go to where scikit-learn's solver stops in each fit whose classes depend on that, and put the decision values of that point."""
    doubtful = np.unique(fits.fit[_leads(joint) <= tolerance])
    outputs = range(1 if joint.shape[1] == 2 else joint.shape[1])
    for j in doubtful[safe[doubtful]].tolist():
        rows, times = np.unique(fits.train[j], return_counts=True)
        k = j if len(scaling.shift) > 1 else 0
        X = (sample.X - scaling.shift[k]) / scaling.scale[k]
        labels = [1] if len(outputs) == 1 else list(outputs)
        target = (sample.codes[rows, None] == labels).astype(float)
        weights = times if sample.weights is None else times * sample.weights[rows]
        theta = descent.weights(X[rows], target, np.asarray(weights, dtype=float))
        if theta is None:
            safe[j] = False
            continue
        here = fits.wanted(j)
        joint[here, -len(outputs) :] = theta[0] + X[fits.row[here]] @ theta[1:]
        tolerance[here] = STOP_ROUNDING * (1 + np.abs(joint[here]).max(axis=1))


def _leads(joint: Floats) -> Floats:
    """Return how far the largest value of each row is above the next."""
    two = np.partition(joint, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])


def _start(
    scalers: Sequence[Any], final: Any, sample: Sample, problem: _LogisticProblem
) -> tuple[Floats | None, float, Descent | None]:
    """Return the optimum on all rows, if scikit-learn's solver finds it too with ease, else None; the share of rows in doubt; and
    the solver's own steps, if these stop where it stopped on all rows.
    """
    everything = np.arange(len(sample.X))
    one = ManyFits(
        data=sample.data,
        train=[everything],
        fit=np.zeros_like(everything),
        row=everything,
        held_out=RowParts.of([everything[:0]]),
    )
    own = scaling_of(scalers, sample, one)
    if own is None or not own.safe.all():
        return None, 1.0, None
    alone = _LogisticProblem.of(sample, own, problem.ridge, problem.outputs)
    weights, fine, reach = alone.solve(one, np.zeros(1, dtype=np.int64), np.zeros(problem.shape))
    if not fine.all():
        return None, 1.0, None
    import warnings

    from sklearn.base import clone

    fitted, X = clone(final), (sample.X - own.shift) / own.scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(X, sample.data.y, sample_weight=sample.weights)
    away = fitted.decision_function(X).reshape(len(sample.X), -1)
    descent = None
    if final.solver == "lbfgs" and X.size * problem.outputs <= MAX_STEPPED:
        descent = Descent(problem.ridge, float(final.tol), int(final.max_iter))
        found = descent.weights(X, problem.target, problem.case_weights)
        near_stop = SAME_STOP * (1 + np.abs(away).max())
        if found is None or np.abs(found[0] + X @ found[1:] - away).max() > near_stop:
            descent = None
    ours = problem.rows @ weights[0]
    away, ours = (v - v.mean(axis=1, keepdims=True) if problem.outputs > 1 else v for v in (away, ours))
    quick = np.max(fitted.n_iter_) <= max(MOST_ITERATIONS * final.max_iter, 1)
    open_ = STOPPED_EARLY * final.tol * reach
    near = np.abs(away - ours).max(axis=1) <= open_ + 1e-6 * (1 + np.abs(ours).max(axis=1))
    lead = np.abs(ours[:, 0]) if problem.outputs == 1 else np.diff(np.sort(ours, axis=1)[:, -2:], axis=1)[:, 0]
    return (weights[0] if quick and near.all() else None), float(np.mean(lead <= open_)), descent


@dataclass(frozen=True, eq=False)
class _LogisticProblem:
    """Penalised log likelihoods of all fits, in standardised columns.

    Parameters
    ----------
    rows : ndarray, (n, 1 + p)
        A constant and the standardised columns.
    target : ndarray, (n, outputs)
        Indicators of the classes; of the second one alone if there are two.
    case_weights : ndarray, (n,)
        Weight of each row.
    ridge : float
        Penalty 1 / C of scikit-learn's weights.
    factor : ndarray, (fits or 1, p)
        scikit-learn's weights over the standardised ones.
    offset : ndarray, (fits or 1, p)
        What scikit-learn's intercept has of the standardised weights.
    outputs : int
        Linear functions: 1 for two classes.
    """

    rows: Floats
    target: Floats
    case_weights: Floats
    ridge: float
    factor: Floats
    offset: Floats
    outputs: int

    @classmethod
    def of(cls, sample: Sample, scaling: Scaling, ridge: float, outputs: int) -> _LogisticProblem:
        X = sample.X
        middle, spread = X.mean(axis=0), X.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        rows = np.column_stack([np.ones(len(X)), (X - middle) / spread])
        labels = [1] if outputs == 1 else np.arange(outputs)
        target = (sample.codes[:, None] == labels).astype(float)
        w = np.ones(len(X)) if sample.weights is None else sample.weights
        return cls(rows, target, w, ridge, scaling.scale / spread, (scaling.shift - middle) / spread, outputs)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the weights of one fit."""
        return self.rows.shape[1], self.outputs

    def solve(self, fits: ManyFits, which: Ints, start: Floats) -> tuple[Floats, Array, Floats]:
        """Return the weights of some fits, whether each was found, and how far the solver's tolerance reaches at each wanted row."""
        J, (m, q) = len(fits), self.shape
        factor = np.broadcast_to(self.factor[which if len(self.factor) > 1 else [0]], (J, m - 1))
        ridge = np.zeros((J, m))
        ridge[:, 1:] = self.ridge * factor**2
        theta = np.broadcast_to(start, (J, m, q)).copy()
        learned = _Learned.of(fits, self.case_weights)
        if J > OWN_DERIVATIVES and start.any():
            hessian = self._curvature_at(start, fits)
        else:
            hessian = self._curvature(theta, learned.times(np.arange(J)))
        inverse, fine = self._inverse(hessian, ridge)
        last = np.full(J, np.inf)
        active = np.arange(J)
        # all fits begin at one point, so that one row of linear functions serves them all
        linear = (start.T @ self.rows.T)[None]
        longest = float(np.sqrt(np.square(self.rows).sum(axis=1).max()))
        for _ in range(STEPS):
            slope = self._gradient(linear, learned, active) + ridge[active, :, None] * theta[active]
            step = (inverse[active] @ slope.transpose(0, 2, 1).reshape(len(active), q * m, 1)).reshape(-1, q, m)
            change = step @ self.rows.T
            # a step that is too long for the quadratic it stands on is cut
            size = np.sqrt(np.square(step).sum(axis=2).max(axis=1))
            cut = np.ones(len(active))
            if not np.all(size * longest <= LONGEST):
                cut = np.minimum(1.0, LONGEST / np.maximum(np.abs(change).max(axis=(1, 2)), 1e-300))
                change *= cut[:, None, None]
            linear = np.subtract(linear, change, out=change)
            step = cut[:, None, None] * step.transpose(0, 2, 1)
            theta[active] -= step
            size = np.abs(step).max(axis=(1, 2)) / (1 + np.abs(theta[active]).max(axis=(1, 2)))
            # the next step would be shorter by as much as this one is shorter than the one before
            before = last[active]
            done = size * np.where(np.isfinite(before), np.minimum(1.0, size / before), 1.0) <= CONVERGED
            stale = ~done & ((size > SLOW * before) | (cut < 1))
            last[active] = size
            if stale.any():
                again = active[stale]
                inverse[again], fine[again] = self._inverse(
                    self._curvature(theta[again], learned.times(again)), ridge[again]
                )
                last[again] = np.inf
            go_on = ~done & np.isfinite(size) & fine[active]
            if not go_on.all():
                active, linear = active[go_on], linear[go_on]
            if not len(active):
                break
        fine[active] = False
        fine &= np.isfinite(theta).all(axis=(1, 2))
        return theta, fine, self._reach(fits, which, inverse, factor, learned.total)

    def _probability(self, linear: Floats) -> Floats:
        """Return the probability of each output in each fit, (fits, outputs, n), from the linear functions."""
        if self.outputs == 1:
            return np.asarray(expit(linear))
        power = np.exp(linear - linear.max(axis=1, keepdims=True))
        return np.asarray(power / power.sum(axis=1, keepdims=True))

    def _gradient(self, linear: Floats, learned: _Learned, which: Ints) -> Floats:
        """Return the slopes of the log likelihoods of some fits, (fits, 1 + p, outputs)."""
        residual = self._probability(linear)
        residual -= self.target.T
        return np.asarray(learned.sum_rows(residual, self.rows, which).transpose(0, 2, 1))

    @cached_property
    def _products(self) -> Floats:
        """Products of every two columns, (n, pairs)."""
        upper, columns = np.triu_indices(self.rows.shape[1]), np.ascontiguousarray(self.rows.T)
        return (columns[upper[0]] * columns[upper[1]]).T

    def _pairs(self) -> list[tuple[int, int]]:
        return [(a, b) for a in range(self.outputs) for b in range(a, self.outputs)]

    def _curvature(self, theta: Floats, counts: Floats) -> Floats:
        """Return second derivatives at the weights of each fit, (fits, outputs m, outputs m)."""
        probability = self._probability(theta.transpose(0, 2, 1) @ self.rows.T)
        m = self.rows.shape[1]
        upper = np.triu_indices(m)
        out = np.empty((len(theta), self.outputs, m, self.outputs, m))
        for a, b in self._pairs():
            spread = counts * probability[:, a] * ((1.0 if a == b else 0.0) - probability[:, b])
            if len(theta) < WORTH_PRODUCTS:
                block = self.rows.T @ (spread[:, :, None] * self.rows)
            else:
                block = np.empty((len(theta), m, m))
                block[:, upper[0], upper[1]] = block[:, upper[1], upper[0]] = spread @ self._products
            out[:, a, :, b, :] = out[:, b, :, a, :] = block
        return out.reshape(len(theta), self.outputs * m, self.outputs * m)

    def _curvature_at(self, start: Floats, fits: ManyFits) -> Floats:
        """Return second derivatives at the same weights for all fits, from those of all rows."""
        whole = self._curvature(start[None], self.case_weights[None])[0]
        m, q = self.shape
        probability = self._probability((self.rows @ start).T[None])[0]
        out = np.broadcast_to(whole, (len(fits), q * m, q * m)).copy().reshape(len(fits), q, m, q, m)
        for a, b in self._pairs():
            spread = self.case_weights * probability[a] * ((1.0 if a == b else 0.0) - probability[b])
            rows = self.rows * np.sqrt(np.abs(spread))[:, None]
            block = changed_scatter(fits, rows)[:, 0] * (1.0 if a == b else -1.0)
            out[:, a, :, b, :] += block
            if a != b:
                out[:, b, :, a, :] += block
        return out.reshape(len(fits), q * m, q * m)

    def _inverse(self, hessian: Floats, ridge: Floats) -> tuple[Floats, Array]:
        m, q = self.shape
        system = hessian + np.tile(ridge, (1, q))[:, :, None] * np.eye(q * m)
        if q > 1:
            # moving all outputs alike changes no probability; steps have no share in it, so any number may stand there
            free = ridge == 0
            level = np.einsum("jii->j", hessian) / (q * m)
            shared = np.tile(np.eye(m), (q, q)) * np.tile(free, (1, q))[:, :, None]
            system = system + level[:, None, None] * shared / q
        good: Array = np.asarray(np.isfinite(system).all(axis=(1, 2)))
        system[~good] = np.eye(q * m)
        values, vectors = np.linalg.eigh(system) if len(system) <= OWN_DERIVATIVES else (None, None)
        if values is not None and vectors is not None:
            good &= values[:, 0] > SMALLEST * values.mean(axis=1)
            return (vectors / np.where(good[:, None], values, 1.0)[:, None, :]) @ vectors.transpose(0, 2, 1), good
        try:
            inverse = np.linalg.inv(system)
        except np.linalg.LinAlgError:
            return np.broadcast_to(np.eye(q * m), system.shape).copy(), np.zeros(len(system), dtype=bool)
        # the largest eigenvalue of the inverse is below its trace
        good &= np.einsum("jii->j", inverse) * SMALLEST * np.einsum("jii->j", system) / (q * m) < 1.0
        return np.asarray(inverse, dtype=float), good

    def _reach(self, fits: ManyFits, which: Ints, inverse: Floats, factor: Floats, total: Floats) -> Floats:
        """Return how much a decision value moves, at most, if the mean gradient of scikit-learn's weights has length one."""
        J, (m, q) = len(fits), self.shape
        offset = np.broadcast_to(self.offset[which if len(self.offset) > 1 else [0]], (J, m - 1))
        # from standardised weights to scikit-learn's
        change = np.zeros((J, m, m))
        change[:, 0, 0] = 1.0
        change[:, 0, 1:] = offset
        change[:, np.arange(1, m), np.arange(1, m)] = factor
        blocks = inverse.reshape(J, q, m, q, m)
        out = np.zeros(len(fits.row))
        for a in range(q):
            turned = (change @ blocks[:, a, :, a, :]) * total[:, None, None]
            moved = apply_weights(fits, self.rows, turned.transpose(0, 2, 1))
            np.maximum(out, np.sqrt(np.square(moved).sum(axis=1)), out=out)
        return out


@dataclass(frozen=True, eq=False)
class _Learned:
    """How much each fit learns of each row: all rows less the one it leaves out, or any counts.

    Parameters
    ----------
    case_weights : ndarray, (n,)
        Weight of each row.
    left_out : ndarray, (fits,), or None
        The row that each fit leaves out, if that is all it does.
    counts : ndarray, (fits, n), or None
        Else how often each fit learns each row.
    """

    case_weights: Floats
    left_out: Ints | None
    counts: Array | None

    @classmethod
    def of(cls, fits: ManyFits, case_weights: Floats) -> _Learned:
        """Return what all fits learn."""
        return cls(case_weights, fits.left_out, None if fits.left_out is not None else fits.counts)

    @property
    def total(self) -> Floats:
        """Weight of all rows that each fit learns."""
        if self.left_out is not None:
            return np.asarray(self.case_weights.sum() - self.case_weights[self.left_out])
        assert self.counts is not None
        return np.asarray(self.counts @ self.case_weights)

    def times(self, which: Ints) -> Floats:
        """Return the weights of all rows in some fits, (fits, n)."""
        if self.left_out is None:
            assert self.counts is not None
            return np.asarray(self.counts[which] * self.case_weights)
        out = np.tile(self.case_weights, (len(which), 1))
        out[np.arange(len(which)), self.left_out[which]] = 0.0
        return out

    def sum_rows(self, values: Floats, rows: Floats, which: Ints) -> Floats:
        """Return the sums of rows times values, (fits or 1, outputs, n), over what some fits learn: (fits, outputs, columns)."""
        if self.left_out is None:
            return np.asarray((values * self.times(which)[:, None, :]) @ rows)
        weighted = rows * self.case_weights[:, None]
        left = self.left_out[which]
        own = values[np.arange(len(which)) if len(values) > 1 else 0, :, left]
        return np.asarray(values @ weighted - own[:, :, None] * weighted[left][:, None, :])
