"""Intervals of measures: Wilson for rates, logit-DeLong for areas, BCa for most others; none leaves the range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.notes import Note, note
from unseen.core.rng import stream
from unseen.estimators.bootstrap_intervals import bca_ends
from unseen.estimators.rate import trusted_size
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.scored_cases import ScoredCases
from unseen.measures.area_variance import area_ends, area_freedom, delong, mean_area
from unseen.measures.areas import FromCurve, Sweep
from unseen.measures.confusion import MOST_IN_TABLES, Counts, against_rest, counts_of, tables_of

__all__ = [
    "MANY_UNITS",
    "ONE_NUMBER",
    "BootstrapIntervals",
    "area_estimate",
    "blocks_of",
    "called_sizes",
    "effective_size",
    "estimate_of",
    "few_units",
    "mean_area_estimate",
    "rate_estimate",
    "rate_of_counts",
]

# the acceleration of BCa leaves out each unit up to this many, then blocks of them, which cost less
EACH_UNTIL = 400
BLOCKS = 200
# a few rows of weights at a time stay in the cache
CELLS_AT_ONCE = 250_000
# draws by cases; with more cases fewer resamples are drawn, but never fewer than LEAST_DRAWS
MOST_CELLS = 200_000_000
# the same number under another name, or one minus it: the same draws, so that one number has one interval
ONE_NUMBER = {"pineda-p": "r2", "normalised-squared": "r2"}
LEAST_DRAWS = 200
# from so many units on, influence values and counts in ranges of scores give what the bootstrap of all cases would
MANY_UNITS = 10_000
# ranges of scores of equal size
RANGES = 4_000
# of fewer units there are at most 35 different resamples, too few for the tails
LEAST_UNITS = 5
# as in `unseen.checks.few_units` and `unseen.checks.small_classes`
FEW_UNITS, FEW_OF_CLASS = 20, 10
# differences below this are rounding of doubles near 1
ROUND_OFF = 1e-12


def estimate_of(
    cases: ScoredCases,
    name: str,
    value: float,
    se: float | None,
    ends: tuple[float, float] | None,
    level: float,
    method: str,
    notes: tuple[Note, ...] = (),
) -> Estimate:
    """Return an estimate whose target is this model; nothing was fitted for it."""
    interval = None if ends is None else Interval(float(ends[0]), float(ends[1]), level)
    return Estimate(
        value=float(value),
        std_error=se,
        interval=interval,
        df=None,
        method=method,
        target=Target.MODEL,
        loss=name,
        n_units=cases.n_units,
        n_fits=0,
        notes=notes,
    )


def effective_size(
    cases: ScoredCases, part: Array, whole: Array, value: float, level: float
) -> tuple[float, float | None]:
    """Return how many independent cases a ratio rests on, p (1 - p) / SE^2, and its standard error over units, if any.

    Korn, E. L. and Graubard, B. I. (1998). Survey Methodology 24, 193-201; see `trusted_size` for few units.
    """
    count = float(whole.sum())
    if cases.simple:
        return count, float(np.sqrt(value * (1 - value) / count))
    total = float(cases.weight @ whole)
    pull = np.bincount(cases.units, cases.weight * (part - value * whole), cases.n_units) / total
    units = len(np.unique(cases.units[whole > 0]))
    if units < 2:
        return 1.0, None
    variance = float(np.square(pull).sum()) * units / (units - 1)
    if variance <= 0:
        return float(units), 0.0
    return trusted_size(value * (1 - value) / variance, int(count), units, level), float(np.sqrt(variance))


def called_sizes(cases: ScoredCases, positive: Array, score: Floats, threshold: Floats, level: float) -> Floats:
    """Return the effective number of cases called positive at each threshold, highest first."""
    order = np.argsort(-score, kind="stable")
    at = np.searchsorted(-score[order], -threshold, side="right") - 1
    if cases.simple:
        return (at + 1).astype(float)
    units, weight = cases.units[order], cases.weight[order]
    hits = weight * positive[order]
    squares, cross, total = (
        _summed_products(units, a, b)[at] for a, b in ((hits, hits), (hits, weight), (weight, weight))
    )
    count, mass = np.cumsum(_first_cases(units))[at], np.cumsum(weight)[at]
    share = np.cumsum(hits)[at] / mass
    variance = (squares - 2 * share * cross + share**2 * total) / mass**2 * count / np.maximum(count - 1, 1)
    sizes = []
    for k in range(len(at)):
        spread = variance[k] > ROUND_OFF / (at[k] + 1)
        raw = share[k] * (1 - share[k]) / variance[k] if spread else np.inf
        one = float(count[k]) if not 0 < share[k] < 1 else trusted_size(raw, int(at[k]) + 1, int(count[k]), level)
        sizes.append(one if count[k] > 1 else 1.0)
    return np.array(sizes)


def _count_units(cases: ScoredCases, chosen: Array) -> int:
    """Return how many units have a case among the chosen ones."""
    return int(np.count_nonzero(chosen if cases.simple else np.bincount(cases.units[chosen])))


def _first_cases(units: Ints) -> Floats:
    """Return 1 at the first case of each unit, else 0."""
    out = np.zeros(len(units))
    out[np.unique(units, return_index=True)[1]] = 1.0
    return out


def _summed_products(units: Ints, a: Floats, b: Floats) -> Floats:
    """Return, after each case, the sum over units of the product of the unit's sums of a and of b so far."""
    order = np.argsort(units, kind="stable")
    begin = np.flatnonzero(np.diff(units[order], prepend=-1))

    def before(values: Floats) -> Floats:
        run = np.cumsum(values[order]) - values[order]
        out = np.empty(len(values))
        out[order] = run - np.repeat(run[begin], np.diff(np.append(begin, len(values))))
        return out

    return np.cumsum(before(a) * b + before(b) * a + a * b)


def rate_estimate(cases: ScoredCases, name: str, part: Array, whole: Array, level: float) -> Estimate | None:
    """Return the share of `whole` cases that are `part` with Wilson's interval; None if there is no such case."""
    total = float(cases.weight @ whole)
    if total <= 0:
        return None
    value = float(cases.weight @ part) / total
    size, se = effective_size(cases, part.astype(float), whole.astype(float), value, level)
    notes: tuple[Note, ...] = ()
    if not cases.simple:
        notes = (note("U016", f"{name}: {int(whole.sum())} cases count as {size:.1f} independent ones"),)
    return estimate_of(cases, name, value, se, wilson_interval(value, size, level), level, "wilson", notes)


def rate_of_counts(cases: ScoredCases, name: str, part: float, whole: float, level: float) -> Estimate | None:
    """Return a share of independent, unweighted cases from its counts, as `rate_estimate` does; None if there is no such case."""
    if whole <= 0:
        return None
    value = part / whole
    ends = wilson_interval(value, whole, level)
    return estimate_of(cases, name, value, float(np.sqrt(value * (1 - value) / whole)), ends, level, "wilson")


def area_estimate(cases: ScoredCases, name: str, positive: Array, score: Floats, level: float) -> Estimate | None:
    """Return the area under a ROC curve with DeLong's error on the logit scale and Student's t; see `area_ends` for 0 and 1."""
    if min(positive.sum(), (~positive).sum()) < 2:
        return None
    weight = None if np.all(cases.weight == 1) else cases.weight
    areas, covariance = delong(positive, score, units=None if cases.n_units == cases.n else cases.units, weight=weight)
    value, se = float(areas[0]), float(np.sqrt(max(covariance[0, 0], 0.0)))
    fewer = min(_count_units(cases, positive), _count_units(cases, ~positive))
    low, high, how = area_ends(value, se, level, fewer, area_freedom(positive, score, cases.units, weight))
    notes = (note("U010", f"{name}: {how}"),) if how else ()
    return estimate_of(cases, name, value, se, (low, high), level, "wilson" if how else "logit-delong", notes)


def mean_area_estimate(cases: ScoredCases, level: float) -> Estimate | None:
    """Return the mean area of all classes, each against the rest, with an interval on the logit scale."""
    assert cases.score is not None
    value, se = mean_area(cases.y, cases.score, cases.units, None if np.all(cases.weight == 1) else cases.weight)
    low, high, how = area_ends(value, se, level, cases.n_units, float(max(cases.n_units - 1, 1)))
    notes = (note("U010", f"auc: {how}"),) if how else ()
    return estimate_of(cases, "auc", value, se, (low, high), level, "wilson" if how else "logit-delong", notes)


def few_units(cases: ScoredCases) -> tuple[Note, ...]:
    """Return U009 if there are few units, or few of a class, so that intervals of all but rates may be too short."""
    codes = () if cases.classes is None else np.flatnonzero(np.bincount(cases.y))
    sizes = [_count_units(cases, cases.y == k) for k in codes]
    if cases.n_units >= FEW_UNITS and min(sizes, default=FEW_OF_CLASS) >= FEW_OF_CLASS:
        return ()
    what = f"{cases.n_units} independent units"
    if cases.n_units >= FEW_UNITS:
        place = int(np.argmin(sizes))
        what = f"{sizes[place]} independent units of class {cases.label(int(codes[place]))}"
    return (note("U009", f"only {what}; intervals of figures other than rates may cover too little"),)


@dataclass(frozen=True, kw_only=True)
class BootstrapIntervals:
    """Resampling of independent units for any measure of a set of predictions.

    Parameters
    ----------
    cases : ScoredCases
        The cases.
    n_draws, seed, level
        Resamples, seed and confidence level.
    stratified : bool
        Draw within the true classes, whose sizes were fixed by design.
    """

    cases: ScoredCases
    n_draws: int
    seed: int
    level: float
    stratified: bool = False

    @property
    def draws(self) -> int:
        """Number of resamples, fewer if there are very many cases."""
        return int(min(self.n_draws, max(LEAST_DRAWS, MOST_CELLS // self.cases.n)))

    def of_tables(self, name: str, measure: Callable[[Floats], Floats], span: tuple[float, float]) -> Estimate | None:
        """Return a measure of the confusion matrix; with simple cases whole matrices are drawn at once."""
        cases = self.cases
        size = max(2, cases.size)
        if not cases.simple:
            return self.of_weights(name, lambda w: measure(tables_of(cases.y, cases.value, w, size)), span)
        table = tables_of(cases.y, cases.value, np.ones((1, cases.n)), size)
        counts = table.reshape(-1).astype(np.int64)
        resampled = self._resampled_tables(stream(self.seed, "measure", name), counts.reshape(size, size))
        there = np.flatnonzero(counts)
        less = table.reshape(-1) - np.eye(len(counts))[there]
        left = measure(less.reshape(-1, size, size)).repeat(counts[there])
        return self._estimate(name, float(measure(table)[0]), measure(resampled.reshape(-1, size, size)), left, span)

    def of_classes(self, name: str, measure: Callable[[Counts], Floats], span: tuple[float, float]) -> Estimate | None:
        """Return a measure of the counts of each class; with many classes all such measures share their resamples."""
        if self.cases.size <= MOST_IN_TABLES:
            return self.of_tables(name, lambda tables: measure(against_rest(tables)), span)
        whole, drawn, left = self._class_counts
        return self._estimate(name, float(measure(whole)[0]), measure(drawn), measure(left), span)

    @cached_property
    def _class_counts(self) -> tuple[Counts, Counts, Counts]:
        """Counts of each class against the rest: of all cases, of each resample, and with each block of units left out."""
        cases = self.cases
        rng = stream(self.seed, "measure", "classes")
        step = max(1, CELLS_AT_ONCE // cases.n)
        parts = [
            self._counts(self._unit_counts(rng, min(step, self.draws - begin))) for begin in range(0, self.draws, step)
        ]
        blocks = blocks_of(cases.n_units)
        last = int(blocks[-1]) + 1
        left = [
            self._counts((blocks != np.arange(begin, min(begin + step, last))[:, None]).astype(float))
            for begin in range(0, last, step)
        ]
        return self._counts(np.ones((1, cases.n_units))), _join_counts(parts), _join_counts(left)

    def _counts(self, units: Floats) -> Counts:
        cases = self.cases
        weights = units if cases.simple else units[:, cases.units] * cases.weight
        return counts_of(cases.y, cases.value, weights, cases.size)

    def _resampled_tables(self, rng: np.random.Generator, counts: Ints) -> Floats:
        """Return resampled confusion matrices: of all cases, or row by row if the classes' sizes are fixed."""
        if not self.stratified:
            return rng.multinomial(counts.sum(), counts.reshape(-1) / counts.sum(), self.n_draws).astype(float)
        drawn = np.zeros((self.n_draws, *counts.shape))
        for code, row in enumerate(counts):
            if row.sum():
                drawn[:, code] = rng.multinomial(row.sum(), row / row.sum(), self.n_draws)
        return drawn

    def of_weights(self, name: str, measure: Callable[[Floats], Floats], span: tuple[float, float]) -> Estimate | None:
        """Return a measure that is a function of case weights."""
        cases = self.cases
        rng = stream(self.seed, "measure", ONE_NUMBER.get(name, name))
        step = max(1, CELLS_AT_ONCE // cases.n)
        values = []
        for begin in range(0, self.draws, step):
            units = self._unit_counts(rng, min(step, self.draws - begin))
            values.append(measure(units if cases.simple else units[:, cases.units] * cases.weight))
        blocks = blocks_of(cases.n_units)
        left = []
        for begin in range(0, int(blocks[-1]) + 1, step):
            some = np.arange(begin, min(begin + step, int(blocks[-1]) + 1))
            out = (blocks != some[:, None]).astype(float)
            with np.errstate(invalid="ignore", divide="ignore"):  # the only unit left out leaves nothing
                left.append(measure(out if cases.simple else out[:, cases.units] * cases.weight))
        whole = float(measure(cases.weight[None])[0])
        return self._estimate(name, whole, np.concatenate(values), np.concatenate(left), span)

    def of_influence(self, name: str, value: float, influence: Floats, span: tuple[float, float]) -> Estimate | None:
        """Return a measure with the interval that the influence of each case gives: what BCa tends to as resamples grow.

        The variance is that of the infinitesimal jackknife; the skewness of the units' influence moves the ends as it does in BCa,
        and bends the quantiles (Cornish and Fisher). Curvature of the measure, which goes like 1 / n, is left out.

        Efron, B. (1982). The jackknife, the bootstrap and other resampling plans. SIAM, chapter 6.
        """
        from scipy.special import ndtri

        cases = self.cases
        if not np.isfinite(value) or not np.all(np.isfinite(influence)):
            return None
        pull = np.bincount(cases.units, cases.weight * influence, cases.n_units) / cases.weight.sum()
        if self.stratified:  # sizes of classes do not vary, so that only what happens within them counts
            pull = pull - (np.bincount(cases.y, pull) / np.maximum(np.bincount(cases.y), 1))[cases.y]
        square = float(np.square(pull).sum())
        if np.sqrt(square) <= ROUND_OFF * max(1.0, abs(value)):
            text = f"{name}: no case moves it"
            return estimate_of(cases, name, value, 0.0, None, self.level, "influence", (note("U010", text),))
        se = float(np.sqrt(square * cases.n_units / (cases.n_units - 1)))
        skew = float(np.sum(pull**3) / (6 * square**1.5))
        ends = []
        for tail in ((1 - self.level) / 2, (1 + self.level) / 2):
            z = skew + float(ndtri(tail))
            moved = skew + z / max(1 - skew * z, 1e-9)
            ends.append(value + se * (moved + skew * (moved**2 - 1)))
        low, high = np.clip(ends, *span)
        return estimate_of(cases, name, value, se, (low, high), self.level, "influence")

    def of_curve(self, name: str, one: FromCurve) -> Estimate | None:
        """Return a measure of a curve of many scores: resamples count cases of either class in ranges of scores, the same for all curves.

        With as many ranges a threshold within one moves a rate by less than a hundredth of its interval's width.
        """
        cases = self.cases
        whole = one.of_weights(cases.y, cases.value, cases.score, cases.weight[None], cases.positive)
        counts, drawn, left = self._curve_counts
        step = max(1, CELLS_AT_ONCE // counts.shape[1])

        def of(tables: Array) -> Floats:
            parts = [_curves(tables[k : k + step].astype(float)) for k in range(0, len(tables), step)]
            return np.concatenate([one.of_sweep(part) for part in parts])

        shift = float(whole[0]) - float(of(counts)[0])
        return self._estimate(name, float(whole[0]), of(drawn) + shift, of(left), one.range)

    @cached_property
    def _curve_counts(self) -> tuple[Array, Array, Array]:
        """Counts by range of scores, highest first, and class (negative, positive): of all cases, of resamples, with blocks left out."""
        cases = self.cases
        rng = stream(self.seed, "measure", "curves")
        score, positive = cases.column(cases.positive), cases.y == cases.positive
        edges = np.unique(np.quantile(score, np.linspace(0, 1, RANGES + 1)[1:-1], method="inverted_cdf"))
        place = len(edges) - np.searchsorted(edges, score, side="left")
        cells = np.bincount(2 * place + positive, minlength=2 * (len(edges) + 1))
        drawn = np.empty((self.n_draws, len(cells)), dtype=np.int32)
        for mine in (slice(0, None, 2), slice(1, None, 2)) if self.stratified else (slice(None),):
            own = cells[mine]
            drawn[:, mine] = rng.multinomial(own.sum(), own / own.sum(), self.n_draws)
        blocks = rng.multinomial(cells, np.full(BLOCKS, 1 / BLOCKS)).T
        shape = (-1, len(cells) // 2, 2)
        return cells.reshape(shape), drawn.reshape(shape), (cells - blocks).reshape(shape)

    def _unit_counts(self, rng: np.random.Generator, rows: int) -> Floats:
        """Return how often each unit is drawn, within the true classes if their sizes are fixed."""
        cases = self.cases
        if not self.stratified:
            return _resample_counts(rng, rows, cases.n_units)
        out = np.empty((rows, cases.n))
        for code in np.unique(cases.y):
            mine = np.flatnonzero(cases.y == code)
            out[:, mine] = _resample_counts(rng, rows, len(mine))
        return out

    def _estimate(
        self, name: str, value: float, draws: Floats, left: Floats, span: tuple[float, float]
    ) -> Estimate | None:
        kept, rest = draws[np.isfinite(draws)], left[np.isfinite(left)]
        if not np.isfinite(value) or len(kept) < len(draws) / 2:
            return None
        se = float(kept.std(ddof=1))
        if float(np.ptp(kept)) <= ROUND_OFF * max(1.0, abs(value)):
            text = f"{name}: all resamples gave the same value"
            return estimate_of(self.cases, name, value, se, None, self.level, "bca", (note("U010", text),))
        if self.cases.n_units < LEAST_UNITS:
            text = f"fewer than {LEAST_UNITS} independent units: no interval by resampling"
            return estimate_of(self.cases, name, value, None, None, self.level, "bca", (note("U009", text),))
        ends = np.clip(bca_ends(value, kept, rest, self.level), *span)
        return estimate_of(self.cases, name, value, se, (ends[0], ends[1]), self.level, "bca")


def _join_counts(parts: list[Counts]) -> Counts:
    return Counts(*(np.concatenate(columns) for columns in zip(*parts)))


def _curves(counts: Floats) -> Sweep:
    """Return the sums at or above each range of scores from counts by draw, range and class."""
    sums = np.cumsum(counts, axis=1)
    zero = np.zeros((len(counts), 1))
    minus, plus = (np.hstack([zero, sums[:, :, k]]) for k in (0, 1))
    return Sweep(np.arange(counts.shape[1])[::-1].astype(float), plus, minus)


def blocks_of(n: int) -> Ints:
    """Return the block of each unit for leave-out values: every unit its own up to 400, then 200 blocks."""
    return np.arange(n) * (n if n <= EACH_UNTIL else BLOCKS) // n


def _resample_counts(rng: np.random.Generator, rows: int, n: int) -> Floats:
    """Return how often each of n units is drawn in each of several samples of n."""
    place = rng.integers(0, n, (rows, n), dtype=np.int32 if rows * n < 2**31 else np.int64)
    place += n * np.arange(rows, dtype=place.dtype)[:, None]
    return np.bincount(place.reshape(-1), minlength=rows * n).astype(float).reshape(rows, n)
