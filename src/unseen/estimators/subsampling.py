"""Error left out of subsamples without copies, with an interval by the infinitesimal jackknife (Wager & Athey, 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate
from unseen.core.kinds import TableMethod
from unseen.core.losses import LossTable, PredictionTable
from unseen.core.method import check_table, normal_interval, t_interval
from unseen.core.registry import register
from unseen.core.scale import as_loss
from unseen.designs.monte_carlo import MonteCarlo
from unseen.estimators._jackknife import influences, unit_matrix, variance_of
from unseen.estimators.out_of_bag import MIN_REPLICATES, check_replicates

__all__ = ["Subsampling", "can_subsample", "degrees_of_freedom"]

LEFT_OUT = 0.368  # share that a bootstrap sample leaves out: large enough to test, small enough to train on the rest
STEP = 1e-5  # weight moved to find the slope of a measure; its second-order error is far below the standard error
# for areas the least variance, that of fixed predictions, rises by three quarters of what the Monte-Carlo error exceeds half of it by, at
# most by three quarters: where such noise takes the variance of deep trees down to the least, a third of equal pairs would differ at .05
HIDDEN, RISE = 0.5, 0.75


def can_subsample(measure: Any, n_classes: int) -> bool:
    """Say whether the method has a form for a measure: losses of single rows, counts of labels, and AUC of two classes.

    Examples
    --------
    >>> from unseen.measures.areas import Auc, AveragePrecision
    >>> can_subsample(Auc(), 2), can_subsample(Auc(), 3), can_subsample(AveragePrecision(), 2)
    (True, False, False)
    """
    if measure.kind != "set":
        return True
    if measure.needs_score:
        return bool(measure.id == "auc" and n_classes == 2)
    return n_classes > 0


@register
@dataclass(frozen=True)
class Subsampling(TableMethod):
    """Mean over units of their errors when they were left out, with a standard error from the same subsamples.

    Each subsample trains on about 63% of the units, none of them twice, and tests the rest, so the error is that of a smaller training
    set. The infinitesimal jackknife asks how the mean moves with the weight of each unit, as a test case and as a training case; what
    the number of subsamples adds to that is taken off. Training sets that differ are allowed for in this way, which is why the test of a
    difference keeps its size for unstable models too. Measures of labels such as F1 are taken from all units' counts together and enter by
    their slope; AUC is the mean over pairs of units of both classes that were left out together. Such measures rest on fewer units than
    there are (those of a rare class, say), so that their interval is Student's, with one degree of freedom less than the rarest class has
    rows; for measures of labels with as many as the squares of the units' influences have (Satterthwaite), if that is more.

    References
    ----------
    Wager, S. and Athey, S. (2018). Estimation and inference of heterogeneous treatment effects using random forests. JASA 113,
    1228-1242. Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA 92, 548-560,
    section 5. Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics 2, 110-114. Yousef, W. A., Wagner, R. F. and Loew, M. H. (2005). Estimating the uncertainty in the estimated mean area under the ROC
    curve of a classifier. Pattern Recognition Letters 26, 2600-2610.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> design = unseen.designs.MonteCarlo(0.368, 200)
    >>> e = unseen.estimate(GaussianNB(), X, y, method="subsampling", design=design, random_state=0)
    >>> e.n_fits, e.value in e.interval, str(e.target)
    (200, True, 'the algorithm trained on 94 rows')
    """

    id: ClassVar[str] = "subsampling"
    designs: ClassVar[frozenset[str]] = frozenset({"leave-out", "monte-carlo"})
    weighted: ClassVar[bool] = False
    by_split: ClassVar[bool] = True
    in_assess: ClassVar[bool] = False
    note_codes: ClassVar[frozenset[str]] = frozenset({"U012"})
    version: ClassVar[int] = 2

    def default_design(self, data: Data) -> MonteCarlo:
        """Return 500 subsamples of 63%."""
        return MonteCarlo(fraction=LEFT_OUT, n_splits=500)

    def difference_design(self, data: Data) -> MonteCarlo:
        """Return 200 subsamples of 63%: what two models share cancels, so that fewer are enough."""
        return MonteCarlo(fraction=LEFT_OUT, n_splits=MIN_REPLICATES)

    def __call__(self, table: LossTable, *, level: float = 0.95) -> Estimate:
        """Return the error and its interval: normal for a mean of losses, Student's for a measure of a whole set."""
        level = check_table(self, table, level)
        notes = check_replicates(self.id, table, "subsamples", "MonteCarlo(0.368, 500)")
        if not table.by_split:
            losses, drawn = unit_matrix(table)
            value, _, variance = _of_losses(losses, drawn)
            return normal_interval(self, table, value, float(np.sqrt(variance)), level, notes)
        measure: Any = table.measure
        classes = () if table.data.classes is None else table.data.classes
        if not can_subsample(measure, len(classes)):
            raise NotApplicable(f"{self.id} has no form for {measure.id} on these data; use corrected-t.")
        rarer = max(float(np.bincount(table.data.codes).min()) - 1, 1.0)
        if measure.needs_score:
            if table.data.groups is not None:
                raise InputError(
                    f"{self.id} takes areas over pairs of rows, and these come in groups; use corrected-t."
                )
            value, own, variance = _of_pairs(table)
            df = rarer
        else:
            value, losses, drawn = _slopes(table, measure)
            own, variance = _of_losses(losses, drawn)[1:]
            df = max(degrees_of_freedom(own), rarer)
        return t_interval(self, table, value, float(np.sqrt(variance)), level, df=df, notes=notes)


def _weight_moves(drawn: Floats) -> Floats:
    """Return by how much a subsample moves the weight of each unit: a drawn unit takes another's place, hence the division."""
    share = drawn.mean(axis=1, keepdims=True)
    return np.asarray((drawn - share) / (1 - share))


def _of_losses(losses: Floats, drawn: Floats) -> tuple[float, Floats, float]:
    """Return the mean over units that were left out at least once, their influences as test cases, and its variance."""
    seen = (drawn == 0).any(axis=0)
    by_unit, influence, noise = influences(losses[:, seen], drawn[:, seen], _weight_moves(drawn)[:, seen])
    value = float(by_unit.mean())
    own = (by_unit - value) / len(by_unit)
    return value, own, variance_of(own, influence, noise)


def degrees_of_freedom(own: Floats) -> float:
    """Return what the sum of the squared influences is worth: one less than their number if they are normal, less if a few decide."""
    squares = np.square(own)
    spread = float(np.square(squares - squares.mean()).sum())
    if spread == 0:
        return float(len(own) - 1)
    return float(np.clip(2 * squares.sum() ** 2 / spread, 1, len(own) - 1))


def _positive(data: Data) -> int:
    assert data.classes is not None
    return len(data.classes) - 1 if data.positive is None else int(np.searchsorted(data.classes, data.positive))


def _places(table: LossTable, source: PredictionTable) -> tuple[Ints, Ints]:
    """Return which predictions of a model belong to splits that all models completed, and their place among these."""
    place = np.full(len(table.plan), -1)
    place[table.completed] = np.arange(len(table.completed))
    kept = np.flatnonzero(place[source.test.split] >= 0)
    return kept, place[source.test.split[kept]]


def _training_counts(table: LossTable) -> Floats:
    """Return the matrix replicate x unit of who was trained on."""
    data, n = table.data, table.data.n_units
    rows = np.bincount(data.units, minlength=n)
    return np.array([np.bincount(data.units[table.plan.splits[j].train], minlength=n) for j in table.completed]) / rows


def _slopes(table: LossTable, measure: Any) -> tuple[float, Floats, Floats]:
    """Return a measure of labels, or a difference of two, over all units alike, and its slope as losses of single units."""
    data, n = table.data, table.data.n_units
    drawn = _training_counts(table)
    total, losses = 0.0, np.zeros(drawn.shape)
    for sign, source in zip((1, -1), table.source):
        kept, place = _places(table, source)
        rows, called = source.test.row[kept], source.test.value[kept].astype(np.int64)
        cell = data.codes[rows] * len(data.classes) + called  # type: ignore[arg-type]
        unit = data.units[rows]
        weight = 1.0 / np.bincount(unit, minlength=n)[unit]
        value, slope = _tangent(measure, np.bincount(cell, weight, len(data.classes) ** 2), _positive(data))  # type: ignore[arg-type]
        at = place * n + unit
        tested = np.bincount(at, minlength=losses.size)
        sums = np.bincount(at, slope[cell], losses.size)
        losses += sign * np.divide(sums, tested, out=np.zeros(losses.size), where=tested > 0).reshape(losses.shape)
        total += sign * value
    return total, losses, drawn


def _tangent(measure: Any, counts: Floats, positive: int) -> tuple[float, Floats]:
    """Return the loss of a table of truth by call, and how it moves with the share of each cell."""
    size = round(np.sqrt(len(counts)))
    truth, called = np.divmod(np.arange(len(counts)), size)
    _, offset, sign = as_loss(measure)
    share = counts / counts.sum()

    def error(weights: Floats) -> float:
        kept = weights > 0
        return float(offset + sign * measure.of_set(truth[kept], called[kept], None, weights[kept], positive))

    whole = error(share)
    slope = np.zeros(len(counts))
    for k in np.flatnonzero(share > 0):
        step = np.where(np.arange(len(counts)) == k, min(STEP, share[k] / 2), 0.0)
        slope[k] = (error(share + step) - error(share - step)) / (2 * step[k])
    return whole, slope


def _of_pairs(table: LossTable) -> tuple[float, Floats, float]:
    """Return 1 - AUC, or a difference of two, over pairs left out together, the rows' influences as test cases, and its variance."""
    data, drawn = table.data, _training_counts(table)
    positive = data.codes == _positive(data)
    ones, zeros = np.flatnonzero(positive), np.flatnonzero(~positive)
    times, sums = np.zeros((len(ones), len(zeros))), np.zeros((len(ones), len(zeros)))
    scores = [_scores(table, source, _positive(data)) for source in table.source]
    signs = (1.0, -1.0)

    def loss(b: int) -> Floats:
        """Return by how much each pair is ordered wrongly by the models of one subsample, first minus second."""
        out = np.zeros(times.shape)
        for sign, score in zip(signs, scores):
            gap = np.sign(score[b][ones][:, None] - score[b][zeros][None])
            out += sign * (0.5 - 0.5 * gap)
        return out

    def together(b: int) -> Floats:
        """Return which pairs a subsample left out."""
        return np.outer(drawn[b][ones] == 0, drawn[b][zeros] == 0)

    for b in range(len(drawn)):
        times += together(b)
        sums += np.where(together(b), loss(b), 0.0)
    seen = times > 0
    mean = np.divide(sums, times, out=np.zeros_like(sums), where=seen)
    value = float(mean[seen].mean())
    weight = np.divide(1.0, times, out=np.zeros_like(times), where=seen) / seen.sum()
    rest = np.array([float(np.sum((loss(b) - mean) * weight * together(b))) for b in range(len(drawn))])
    own = np.zeros(data.n)
    own[ones] = np.where(seen, mean - value, 0.0).sum(axis=1) / seen.sum()
    own[zeros] = np.where(seen, mean - value, 0.0).sum(axis=0) / seen.sum()
    products = _weight_moves(drawn) * rest[:, None]
    return value, own, _variance_of_areas(own, products)


def _variance_of_areas(own: Floats, products: Floats) -> float:
    """Return the jackknife's variance less its Monte-Carlo noise, at least that of fixed predictions and a little of the noise."""
    count = len(products)
    centred = (products - products.mean(axis=0)) * np.sqrt(count / (count - 1))
    noise = float(np.square(centred).sum())
    error = float(np.sqrt(2 * np.square(centred @ centred.T).sum()))
    fixed = float(np.square(own).sum())
    least = fixed + RISE * float(np.clip(error - HIDDEN * fixed, 0, fixed))
    return max(float(np.square(own + products.sum(axis=0)).sum()) - noise, least)


def _scores(table: LossTable, source: PredictionTable, positive: int) -> Floats:
    """Return the matrix replicate x row of scores, zero where a row was not tested."""
    if source.test.score is None:
        raise InputError("subsampling needs scores for auc; make the table with run(..., scores=True).")
    kept, place = _places(table, source)
    score = source.test.score[kept]
    column = (score[:, 0] if positive == 1 else -score[:, 0]) if score.shape[1] == 1 else score[:, positive]
    out = np.zeros((len(table.completed), table.data.n))
    out[place, source.test.row[kept]] = column
    return out
