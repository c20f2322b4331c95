"""The error in each slice of the cases, with intervals that hold together (Hall, 1992; Welch, 1951; Zou & Donner, 2008)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats, Ints
from unseen.core.errors import InputError, NotApplicable
from unseen.core.estimate import Estimate
from unseen.core.losses import LossTable
from unseen.core.notes import Note, note
from unseen.core.result import Result, plain
from unseen.core.rng import stream
from unseen.core.scale import measure_name
from unseen.estimators.out_of_bag import MIN_REPLICATES
from unseen.estimators.rate import trusted_size
from unseen.estimators.subsampling import degrees_of_freedom
from unseen.estimators.training_sets import (
    VariancePart,
    split_deviations,
    training_moves,
    variance_of_roles,
    variance_of_sets,
)
from unseen.evaluation.measure_intervals import BootstrapIntervals
from unseen.evaluation.scored_cases import ScoredCases
from unseen.evaluation.slice_columns import RowsOfSlice
from unseen.show.text import text_table

__all__ = [
    "AddedVariance",
    "Slice",
    "SliceGap",
    "SliceTest",
    "Slices",
    "WorstSlice",
    "fold_spread",
    "mid_p_ends",
    "skewed_ends",
    "slices_of_cases",
    "slices_of_losses",
    "table_slices",
]

# below, an interval of a slice rests on its assumptions more than on the data
FEW_UNITS = 10
# a standard error of fewer units means nothing
LEAST_UNITS = 3
# units that the design effect of all slices counts as for each: a slice of 20 units then decides half of its own
BORROWED = 20
# the Monte-Carlo error of a quantile at 95% is then .005 standard errors of a slice
DRAWS = 40_000
# the smallest p-value is then .0001
PERMUTATIONS = 9_999
# ends of BCa intervals that hold for many slices together lie far out
LEAST_RESAMPLES = 5_000
JOINT_RESAMPLES = 400
# a correction below this share of the interval changes nothing that a reader would act on
NOTABLE = 0.02
DIFFERENCE = "difference of "
# correlations below are rounding: the slices share no unit
UNRELATED = 1e-9
# more slices as bad as the worst are counted, not named
MOST_NAMED = 3
# halvings that bring the ends of a mid-P interval below the rounding of doubles
HALVINGS = 60
# shares of the cases of a class, which are counts as error rates are
RATES = (
    "sensitivity",
    "specificity",
    "false-alarm-rate",
    "miss-rate",
    "positive-predictive-value",
    "negative-predictive-value",
)
# shown as a percentage
RATE_LOSSES = frozenset({"zero-one"})
SHARES = frozenset({"zero-one", "accuracy", "balanced-accuracy", *RATES})


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One slice: how many cases and independent units it has, its value, and limits that hold for all slices together."""

    column: str
    name: str
    n: int
    n_units: int
    value: float | None
    std_error: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class SliceGap:
    """Value of slice a minus that of slice b, with limits that hold for all pairs of the column together."""

    column: str
    a: str
    b: str
    value: float
    low: float | None
    high: float | None

    @property
    def differs(self) -> bool:
        """Whether the limits leave zero out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, kw_only=True)
class SliceTest:
    """Test whether the slices of a column differ at all: its name, statistic and p-value (None if it cannot be made)."""

    column: str
    test: str
    statistic: float | None
    p: float | None


@dataclass(frozen=True, kw_only=True)
class WorstSlice:
    """The slice with the worst value; `corrected` is what to expect of it, since the worst of several looks worse than it is."""

    column: str
    name: str
    value: float
    low: float | None
    high: float | None
    corrected: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Slices(Result):
    """One measure in each slice of the cases; all its intervals hold together with the stated confidence.

    Parameters
    ----------
    measure : str
        What is measured: "zero-one" is the share of cases misclassified, "rmse" the root of the mean squared error.
    slices : tuple of Slice
        One for each slice, in the order of the columns.
    gaps : tuple of SliceGap
        Every pair of slices of a column.
    tests : tuple of SliceTest
        One for each column.
    worst : WorstSlice
        The worst slice.
    higher : bool
        Whether more is better.
    level : float
        Confidence with which all intervals hold together.
    method : str
        How the intervals were made.
    of : str
        What the values are of, such as the name of a file or of a pair of models; empty if there is one.
    notes : tuple of Note
        Statistical weaknesses.

    References
    ----------
    Hall, P. (1992). On the removal of skewness by transformation. JRSS B 54, 221-228. Welch, B. L. (1951). On the comparison of
    several mean values: an alternative approach. Biometrika 38, 330-336. Zou, G. Y. and Donner, A. (2008). Construction of
    confidence limits about effect measures. Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> rng = np.random.default_rng(0)
    >>> y, site = rng.integers(0, 2, 400), np.repeat(["north", "south"], 200)
    >>> wrong = rng.random(400) < np.where(site == "south", 0.3, 0.1)
    >>> s = unseen.measure(y, np.where(wrong, 1 - y, y), by={"site": site}).slices["zero-one"]
    >>> s.worst.name, s.tests[0].p < 0.01, s["north", "south"].differs
    ('south', True, True)
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    measure: str
    slices: tuple[Slice, ...]
    gaps: tuple[SliceGap, ...]
    tests: tuple[SliceTest, ...]
    worst: WorstSlice
    higher: bool
    level: float
    method: str
    of: str = ""
    notes: tuple[Note, ...] = ()

    def __getitem__(self, key: str | tuple[str, str]) -> Slice | SliceGap:
        """Return a slice by its name, or the gap between two."""
        if isinstance(key, str):
            found = [s for s in self.slices if s.name == key]
            if not found:
                raise InputError(f"there is no slice {key!r}; there are {', '.join(s.name for s in self.slices)}.")
            return found[0]
        for gap in self.gaps:
            if (gap.a, gap.b) == key:
                return gap
            if (gap.b, gap.a) == key:
                low, high = (None if end is None else -end for end in (gap.high, gap.low))
                return replace(gap, a=gap.b, b=gap.a, value=-gap.value, low=low, high=high)
        raise InputError(f"there is no pair {key[0]!r} and {key[1]!r} of one column.")

    @property
    def title(self) -> str:
        """Title of a report."""
        return f"{self.word[:1].upper()}{self.word[1:]} by {', '.join(t.column for t in self.tests)}"

    @property
    def is_difference(self) -> bool:
        """Whether the values are differences of two models' losses."""
        return self.measure.startswith(DIFFERENCE)

    @property
    def word(self) -> str:
        """What is measured, in a word: "error", or the name of a measure."""
        if self.is_difference:
            return "difference"
        return "error" if self.measure == "zero-one" else measure_name(self.measure)

    def value_text(self, value: float) -> str:
        """Return a value as people say it."""
        if self.is_difference:
            return (
                f"{value + 0.0:+.4g}" if self.measure != f"{DIFFERENCE}zero-one" else f"{100 * value + 0.0:+.1f} points"
            )
        return f"{100 * value:.1f}%" if self.measure in SHARES else f"{value:.4g}"

    def _lead_text(self, value: float) -> str:
        """Return by how much the first model leads: a difference of losses with its sign turned, without a plus."""
        return self.value_text(0.0 - value).removeprefix("+")

    def worst_slices(self) -> tuple[Slice, ...]:
        """Return the worst slice and those with the same digits; none if all of several slices have them."""
        text = self.value_text(self.worst.value)
        values = [(s, s.value) for s in self.slices if s.value is not None and s.std_error is not None]
        found = tuple(s for s, value in values if self.value_text(value) == text)
        return () if len(found) == len(values) > 1 else found

    def _in_worst(self) -> str:
        """Return where the values are worst: a column is said once for its slices."""
        found = self.worst_slices()
        if len(found) > MOST_NAMED:
            return f"{len(found)} of {sum(s.std_error is not None for s in self.slices)} slices"
        names = {column: [s.name for s in found if s.column == column] for column in (s.column for s in found)}
        return " and ".join(f"{column} {' and '.join(same)}" for column, same in names.items())

    def sentence(self) -> str:
        """Return the worst slice with its correction, and whether slices differ."""
        w, count = self.worst, sum(s.low is not None for s in self.slices)
        tied, where = self.worst_slices(), self._in_worst()
        what, say = f"{self.of}: the" if self.of else "The", self.value_text
        low, high, corrected = w.low, w.high, w.corrected
        first, pair, second = self.of.partition(" − ")
        if not tied:
            text = f"{what} {self.word} is {say(w.value)} in every slice"
        elif self.is_difference and pair and w.value < 0:  # the first is better even there
            say = self._lead_text
            low, high = w.high, w.low
            text = f"{first}'s lead over {second} is smallest in {where}: {say(w.value)}"
        elif self.is_difference and pair:
            text = f"{first} does worst against {second} in {where}: {say(w.value)}"
        elif self.is_difference:
            text = f"{what} difference is largest in {where}: {say(w.value)}"
        else:
            text = f"{what} {self.word} is worst in {where}: {say(w.value)}"
        if low is not None and high is not None:
            held = f"all {count} slices together" if count > 1 else "the slice"
            held += f", in {w.name}" if len(tied) != 1 else ""
            ends = say(low), say(high)
            span = f"{ends[0].removesuffix(' points') if ends[1].endswith(' points') else ends[0]} to {ends[1]}"
            text += f" ({100 * self.level:g}% interval for {held}: {span})"
            if tied and abs(corrected - w.value) > NOTABLE * abs(high - low):
                text += f"; expect about {say(corrected)}, as the worst of {count} looks worse than it is"
        parts = []
        for t in self.tests:
            if t.p is not None:
                clear = t.p < 1 - self.level
                verb = "differ" if clear else "do not differ by more than chance"
                parts.append(f"slices of {t.column} {verb} (p {'< 0.0001' if t.p <= 0.0001 else f'= {t.p:.2g}'})")
        tail = "; ".join(parts)
        return f"{text}." + (f" {tail[:1].upper()}{tail[1:]}." if tail else "")

    def complement(self, measure: str) -> Slices:
        """Return one less every value: error rates as accuracies.

        Parameters
        ----------
        measure : str
            Name of what one less the measure is.
        """

        def turn(one: Any) -> Any:
            low, high = (None if end is None else 1 - end for end in (one.high, one.low))
            return replace(one, value=None if one.value is None else 1 - one.value, low=low, high=high)

        gaps = tuple(
            replace(g, value=-g.value, low=None if g.high is None else -g.high, high=None if g.low is None else -g.low)
            for g in self.gaps
        )
        worst = replace(turn(self.worst), corrected=1 - self.worst.corrected)
        slices = tuple(turn(s) for s in self.slices)
        return replace(self, measure=measure, slices=slices, gaps=gaps, worst=worst, higher=not self.higher)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per slice."""
        return [
            {
                **({"of": self.of} if self.of else {}),
                "column": s.column,
                "slice": s.name,
                "measure": self.measure,
                "estimate": s.value,
                "std_error": s.std_error,
                "lower": s.low,
                "upper": s.high,
                "level": self.level,
                "n": s.n,
                "units": s.n_units,
            }
            for s in self.slices
        ]

    def gap_rows(self) -> list[dict[str, Any]]:
        """Return one dict per pair of slices, the largest gap first."""
        ordered = sorted(self.gaps, key=lambda g: -abs(g.value))
        return [
            {
                "column": g.column,
                "a": g.a,
                "b": g.b,
                "gap": g.value,
                "lower": g.low,
                "upper": g.high,
                "differs": g.differs,
            }
            for g in ordered
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return slices, gaps, tests and the worst slice as plain values."""
        made: dict[str, Any] = plain(
            {
                "measure": self.measure,
                "of": self.of or None,
                "level": self.level,
                "method": self.method,
                "sentence": self.sentence(),
                "slices": self.rows(),
                "gaps": self.gap_rows(),
                "tests": [vars(t) for t in self.tests],
                "worst": vars(self.worst),
                "notes": [n.to_dict() for n in self.notes],
            }
        )
        return made

    def table(self) -> str:
        """Return the slices as text."""
        lines = [
            {
                "column": s.column,
                "slice": s.name,
                "n": s.n,
                self.word: "-" if s.value is None else self.value_text(s.value),
                "interval": ""
                if s.low is None or s.high is None
                else f"{self.value_text(s.low)} to {self.value_text(s.high)}",
            }
            for s in self.slices
        ]
        return text_table(lines, right=("n", self.word))

    def shown_gap(self, value: float) -> str:
        """Return a difference of two values as people say it."""
        shares = self.measure in SHARES or self.measure == f"{DIFFERENCE}zero-one"
        return f"{100 * value + 0.0:+.1f} points" if shares else f"{value + 0.0:+.4g}"

    def gap_words(self, gap: SliceGap) -> str:
        """Return a gap as people say it, with its limits."""
        text = f"{gap.a} less {gap.b}: {self.shown_gap(gap.value)}"
        if gap.low is None or gap.high is None:
            return text
        return f"{text} ({self.shown_gap(gap.low)} to {self.shown_gap(gap.high)})"

    def __str__(self) -> str:
        lines = [self.sentence(), self.table()]
        widest = sorted((g for g in self.gaps if g.low is not None), key=lambda g: -abs(g.value))[:1]
        lines += [f"Largest gap: {self.gap_words(g)}." for g in widest if len(self.slices) > 1]
        return "\n".join([*lines, *map(str, self.notes)])


def mid_p_ends(share: Floats, size: Floats, level: float) -> Floats:
    """Return mid-P limits of binomial shares: exact tails with half the probability of the count seen, one row per share.

    The count may be a fraction, as an effective size of dependent cases gives it.

    References
    ----------
    Berry, G. and Armitage, P. (1995). Mid-P confidence intervals: a brief review. The Statistician 44, 417-423.

    Examples
    --------
    >>> mid_p_ends(np.array([0.1]), np.array([20.0]), 0.95).round(4).tolist()
    [[0.0171, 0.2929]]
    """
    from scipy.special import betainc

    share, size = np.asarray(share, dtype=float), np.asarray(size, dtype=float)
    count, rest = share * size, (1 - share) * size
    none, all_ = count <= 1e-9, rest <= 1e-9

    def below(p: Floats) -> Floats:
        """Return P(fewer than seen) + P(as many) / 2."""
        at_most = np.where(all_, 1.0, 1 - betainc(count + 1, np.where(all_, 1.0, rest), p))
        fewer = np.where(none, 0.0, 1 - betainc(np.where(none, 1.0, count), rest + 1, p))
        return np.asarray((at_most + fewer) / 2)

    ends = []
    for tail in ((1 + level) / 2, (1 - level) / 2):
        low, high = np.zeros_like(share), np.ones_like(share)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            above = below(middle) > tail
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        ends.append((low + high) / 2)
    return np.stack([np.where(none, 0.0, ends[0]), np.where(all_, 1.0, ends[1])], axis=1)


def skewed_ends(value: Floats, error: Floats, skewness: Floats, n: Floats, quantile: Floats) -> Floats:
    """Return limits of means from Student's t, turned by Hall's cubic so that a skewed loss misses on both sides alike.

    References
    ----------
    Hall, P. (1992). On the removal of skewness by transformation. Journal of the Royal Statistical Society B 54, 221-228.

    Examples
    --------
    >>> one = np.ones(1)
    >>> skewed_ends(one, 0.1 * one, 0.0 * one, 25 * one, 2.0 * one).round(3).tolist()
    [[0.8, 1.2]]
    >>> skewed_ends(one, 0.1 * one, 2.0 * one, 25 * one, 2.0 * one).round(3).tolist()
    [[0.842, 1.332]]
    """
    a = np.asarray(skewness, dtype=float) / np.sqrt(n)
    safe = np.where(np.abs(a) < 1e-8, 1.0, a)

    def inverse(x: Floats) -> Floats:
        return np.where(np.abs(a) < 1e-8, x, 3 / safe * (np.cbrt(1 + safe * (x - safe / 6)) - 1))

    return np.stack([value - error * inverse(quantile), value - error * inverse(-np.asarray(quantile))], axis=1)


@dataclass(frozen=True, eq=False)
class AddedVariance:
    """What comes to the variance of each slice's mean beyond that over rows, and how uncertain it is itself: its own variance."""

    value: Floats
    noise: Floats

    @classmethod
    def of(cls, parts: Sequence[VariancePart]) -> AddedVariance:
        """Return the parts of all slices, one per slice."""
        return cls(np.array([p.value for p in parts]), np.array([p.noise for p in parts]))


@dataclass(frozen=True, eq=False, kw_only=True)
class _SliceValues:
    """One value per slice with its error, degrees of freedom and correlation; `limits` gives all ends at a level of each."""

    value: Floats
    error: Floats
    freedom: Floats
    cases: Ints
    units: Ints
    correlation: Floats | None
    limits: Callable[[float], Floats]
    counts: tuple[Floats, Floats] | None = None

    @property
    def usable(self) -> Array:
        """Slices that have a value and a standard error."""
        return np.isfinite(self.value) & np.isfinite(self.error)


def slices_of_losses(
    values: Floats,
    parts: Sequence[RowsOfSlice],
    *,
    loss: str,
    units: Ints,
    weight: Floats | None = None,
    span: tuple[float, float] = (-np.inf, np.inf),
    extra: AddedVariance | None = None,
    apart: AddedVariance | None = None,
    level: float = 0.95,
    seed: int = 0,
    of: str = "",
) -> Slices:
    """Return the mean loss in each slice.

    Parameters
    ----------
    values : ndarray
        Loss of each row.
    parts : sequence of RowsOfSlice
        The slices.
    loss : str
        Id of the loss; squared errors are shown as their root.
    units : ndarray of int
        Independent unit of each row.
    weight : ndarray, optional
        Weight of each row.
    span : tuple of float
        Smallest and largest possible loss.
    extra : AddedVariance, optional
        Variance of each slice's mean beyond that over rows.
    apart : AddedVariance, optional
        The same for gaps, which what all slices have in common leaves alone; `extra` if not given.
    level, seed, of
        Confidence of all intervals together, seed, and what the values are of.
    """
    own = np.ones(len(values)) if weight is None else weight

    def means(more: AddedVariance | None) -> _SliceValues:
        rate = loss in RATE_LOSSES or _two_valued(values, span)
        made = _values_of_losses(values, parts, units, own, span, rate, more, loss == DIFFERENCE)
        return _as_roots(made) if loss == "squared" else made

    return _slices(
        means(extra),
        parts,
        "rmse" if loss == "squared" else loss,
        False,
        level,
        seed,
        of,
        apart=None if apart is None else means(apart),
    )


def _two_valued(values: Floats, span: tuple[float, float]) -> bool:
    return bool(np.isfinite(span).all()) and span[0] >= 0 and bool(np.all((values == span[0]) | (values == span[1])))


def slices_of_cases(
    cases: ScoredCases,
    parts: Sequence[RowsOfSlice],
    one: Any,
    estimate: Callable[[BootstrapIntervals, Any], Estimate | None],
    *,
    level: float = 0.95,
    seed: int = 0,
    n_bootstrap: int = 2000,
) -> Slices:
    """Return a measure of predictions in each slice; `estimate` gives those that are neither means of losses nor rates."""
    if one.task not in (cases.task, "any"):
        raise NotApplicable(f"{one.id} is a measure for {one.task}, and these are predictions of {cases.task}.")
    if one.needs_score and cases.score is None:
        raise InputError(f"{one.id} needs scores, and only decisions were given.")
    higher = one.direction == "higher"
    if one.kind == "loss":
        losses = one.per_example(cases.y, cases.value, cases.score)
        return slices_of_losses(
            losses, parts, loss=one.id, units=cases.units, weight=cases.weight, span=one.range, level=level, seed=seed
        )
    share = _share_of(cases, one)
    if share is not None:
        part, whole = share
        inside = [replace(p, rows=p.rows & (whole > 0)) for p in parts]
        made = _values_of_losses(part, inside, cases.units, cases.weight, (0.0, 1.0), True)
    else:
        resamples = BootstrapIntervals(cases=cases, n_draws=max(n_bootstrap, LEAST_RESAMPLES), seed=seed, level=level)
        made = _values_of_sets(resamples, parts, one, estimate)
    return _slices(made, parts, one.id, higher, level, seed, "")


def _share_of(cases: ScoredCases, one: Any) -> tuple[Floats, Floats] | None:
    """Return the parts and the wholes, case by case, of a measure that is a share of cases; None for any other."""
    if one.id == "accuracy":
        return (cases.y == cases.value).astype(float), np.ones(cases.n)
    if one.id not in RATES or cases.size != 2 or one.average not in ("auto", "positive"):
        return None
    true, called = cases.y == cases.positive, cases.value == cases.positive
    cells = [c.astype(float) for c in (true & called, true & ~called, ~true & called, ~true & ~called)]
    part, whole = one.share(*cells)
    return np.asarray(part, dtype=float), np.asarray(whole, dtype=float)


def _values_of_losses(
    values: Floats,
    parts: Sequence[RowsOfSlice],
    units: Ints,
    weight: Floats,
    span: tuple[float, float],
    rate: bool,
    extra: AddedVariance | None = None,
    difference: bool = False,
) -> _SliceValues:
    """Return mean losses: shares by mid-P limits, other losses by Student's t with Hall's correction of skewness.

    Differences of bounded losses have no long tails: the skewness of the few units where two models disagree is chance, and Student's t
    covers better without it. Differences of others have them, so that their variance is worth fewer degrees of freedom than there are
    units (Satterthwaite, 1946). How many fewer is uncertain in one slice, so that it is taken from all. What comes to the variance over
    rows costs degrees of freedom by its own noise.
    """
    from scipy.special import stdtrit

    k, n_units = len(parts), int(units.max()) + 1
    value, error, skew = (np.full(k, np.nan) for _ in range(3))
    cases, counted = np.zeros(k, np.int64), np.zeros(k, np.int64)
    pull, worth = np.zeros((n_units, k)), np.ones(k)
    bounded, more = bool(np.isfinite(span).all()), extra or AddedVariance(np.zeros(k), np.zeros(k))
    for j, part in enumerate(parts):
        rows = part.rows & (weight > 0)
        cases[j] = int(rows.sum())
        if not cases[j]:
            continue
        w, v, own = weight[rows], values[rows], units[rows]
        value[j] = float(w @ v / w.sum())
        pull[:, j] = np.bincount(own, w * (v - value[j]), n_units) / w.sum()
        there = np.bincount(own, minlength=n_units) > 0
        counted[j] = int(there.sum())
        if counted[j] > 1:
            each = pull[there, j]
            variance = float(np.square(each).sum() * counted[j] / (counted[j] - 1))
            error[j] = np.sqrt(variance + more.value[j])
            worth[j] = (counted[j] - 1) / degrees_of_freedom(each)
            scale = float(np.sqrt(np.square(each).mean()))
            skew[j] = 0.0 if scale <= 0 or (difference and bounded) else float((each**3).mean()) / scale**3
    correlation = _correlation(pull) if _share_units(units, parts) else None
    tails = difference and not bounded and bool(counted.any())
    fewer = float(np.average(worth, weights=counted)) if tails else 1.0
    freedom = np.maximum((counted - 1) / fewer, 1.0)
    whole, over_rows = np.square(np.nan_to_num(error)), np.square(np.nan_to_num(error)) - more.value
    noisy = more.noise > 0
    uncertain = np.square(over_rows) / freedom + more.noise / 2
    freedom[noisy] = np.clip(np.square(whole[noisy]) / uncertain[noisy], 1.0, freedom[noisy])
    low, high = span
    if rate:
        share = (value - low) / (high - low)
        effect, known = _design_effects(share, error / (high - low), cases, counted)
        sizes = np.maximum(cases / effect, 1.0)
        # rows of a group stand or fall together: Student's t over groups, on the logit scale, covers better than a count of rows
        grouped = (counted < cases) & (counted >= LEAST_UNITS) & (share * (1 - share) > 0) & (error > 0)
        near = (share * sizes + 0.5) / (sizes + 1)  # a share of 0 or 1 is no certainty
        rough = (high - low) * np.sqrt(near * (1 - near) / sizes)

        def limits(each: float) -> Floats:
            trusted = np.array(
                [
                    trusted_size(s, int(max(c, np.ceil(s - 1e-6))), int(f) + 1, each) if c else np.nan
                    for s, c, f in zip(sizes, cases, known)
                ]
            )
            ends = mid_p_ends(np.nan_to_num(share), np.nan_to_num(trusted, nan=1.0), each)
            quantile = np.asarray(stdtrit(freedom, (1 + each) / 2), dtype=float)
            ends[grouped] = _logit_ends(share, error / (high - low), quantile)[grouped]
            return np.asarray(low + (high - low) * ends)

        plain_cases = n_units == len(values) and bool(np.all(weight == 1))
        counts = (share * cases, cases.astype(float)) if plain_cases and _two_valued(values, span) else None
        return _SliceValues(
            value=value,
            error=np.where(cases > 0, rough, np.nan),
            freedom=freedom,
            cases=cases,
            units=counted,
            correlation=correlation,
            limits=limits,
            counts=counts,
        )
    error = np.where((counted < LEAST_UNITS) | ~(error > 0), np.nan, error)

    def limits_of_means(each: float) -> Floats:
        quantile = np.asarray(stdtrit(freedom, (1 + each) / 2), dtype=float)
        return np.clip(skewed_ends(value, error, np.nan_to_num(skew), np.maximum(counted, 1), quantile), low, high)

    return _SliceValues(
        value=value,
        error=error,
        freedom=freedom,
        cases=cases,
        units=counted,
        correlation=correlation,
        limits=limits_of_means,
    )


def _logit_ends(share: Floats, error: Floats, quantile: Floats) -> Floats:
    """Return limits of shares that are symmetric on the logit scale."""
    with np.errstate(invalid="ignore", divide="ignore"):
        middle, half = np.log(share / (1 - share)), quantile * error / (share * (1 - share))
        return np.stack([1 / (1 + np.exp(half - middle)), 1 / (1 + np.exp(-half - middle))], axis=1)


def _design_effects(share: Floats, error: Floats, cases: Ints, units: Ints) -> tuple[Floats, Floats]:
    """Return by how much the variance of each share exceeds that of independent cases, and on how many units that rests.

    The variance over few units is uncertain itself, so each slice's factor is drawn towards the mean of all, which counts as
    `BORROWED` units.
    """
    freedom = np.maximum(units - 1.0, 0.0)
    inside = (share * (1 - share) > 0) & (freedom > 0)
    own = np.ones(len(share))
    # the variance over units has n - 1 below it: with this factor independent cases have an effect of exactly 1
    own[inside] = (np.square(error) * cases * freedom / np.maximum(units, 1))[inside] / (share * (1 - share))[inside]
    if not inside.any():
        return own, np.where(units >= cases, cases - 1.0, freedom)
    mean = float(np.average(own[inside], weights=freedom[inside]))
    weight = np.where(inside, freedom, 0.0)
    effect = (weight * own + BORROWED * mean) / (weight + BORROWED)
    borrowed = np.minimum(weight + BORROWED, freedom[inside].sum())
    return np.maximum(effect, 0.1), np.where(units >= cases, np.maximum(cases - 1.0, 1.0), np.maximum(borrowed, 1.0))


def _correlation(pull: Floats) -> Floats:
    """Return the correlation of slices that share units."""
    product = pull.T @ pull
    scale = np.sqrt(np.diag(product))
    with np.errstate(invalid="ignore", divide="ignore"):
        made = np.nan_to_num(product / np.outer(scale, scale))
    np.fill_diagonal(made, 1.0)
    return np.asarray(made)


def _as_roots(made: _SliceValues) -> _SliceValues:
    """Return mean squares as their roots; limits follow, errors by the delta method."""
    root = np.sqrt(made.value)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = made.error / (2 * root)
    return replace(made, value=root, error=error, limits=lambda each: np.sqrt(np.maximum(made.limits(each), 0.0)))


def _values_of_sets(
    resamples: BootstrapIntervals,
    parts: Sequence[RowsOfSlice],
    one: Any,
    estimate: Callable[[BootstrapIntervals, Any], Estimate | None],
) -> _SliceValues:
    """Return a measure of whole sets in each slice, each with the interval it has in `unseen.measure`."""
    from scipy.special import ndtri

    cases, seed = resamples.cases, resamples.seed
    inside = [_cases_of(cases, part.rows) for part in parts]

    def estimates(each: float) -> list[Estimate | None]:
        return [
            None
            if own is None
            else estimate(replace(resamples, cases=own, seed=slice_seed(seed, part), level=each), one)
            for part, own in zip(parts, inside)
        ]

    k = len(parts)
    value, error = np.full(k, np.nan), np.full(k, np.nan)
    for j, e in enumerate(estimates(resamples.level)):
        if e is not None and np.isfinite(e.value):
            value[j] = e.value
            if e.interval is not None:  # an area of 1 has no spread, but limits
                error[j] = e.std_error or e.interval.width / (2 * ndtri((1 + resamples.level) / 2))
    units = np.array([0 if c is None else c.n_units for c in inside])

    def limits(each: float) -> Floats:
        found = [None if e is None else e.interval for e in estimates(each)]
        return np.array([(np.nan, np.nan) if i is None else (i.low, i.high) for i in found], dtype=float)

    return _SliceValues(
        value=value,
        error=error,
        freedom=np.maximum(units - 1.0, 1.0),
        cases=np.array([int(p.rows.sum()) for p in parts]),
        units=units,
        correlation=_joint_correlation(cases, parts, one, seed) if _share_units(cases.units, parts) else None,
        limits=limits,
    )


def _share_units(units: Ints, parts: Sequence[RowsOfSlice]) -> bool:
    """Say whether a unit has rows in several slices."""
    n = int(units.max()) + 1
    return bool((np.stack([np.bincount(units[p.rows], minlength=n) > 0 for p in parts]).sum(axis=0) > 1).any())


def slice_seed(seed: int, part: RowsOfSlice) -> int:
    """Return a seed of its own for each slice, so that a slice keeps its resamples whatever the others are."""
    return int(stream(seed, "slices", part.column, part.name).integers(2**62))


def _cases_of(cases: ScoredCases, rows: Array) -> ScoredCases | None:
    """Return the cases of one slice; None if it has none, or only one class."""
    if not rows.any() or (cases.classes is not None and len(np.unique(cases.y[rows])) < 2):
        return None
    return replace(
        cases,
        y=cases.y[rows],
        value=cases.value[rows],
        score=None if cases.score is None else cases.score[rows],
        units=np.unique(cases.units[rows], return_inverse=True)[1].astype(np.int64).reshape(-1),
        weight=cases.weight[rows],
    )


def _joint_correlation(cases: ScoredCases, parts: Sequence[RowsOfSlice], one: Any, seed: int) -> Floats:
    """Return the correlation of a measure over slices that share units, from resamples that all of them see."""
    rng = stream(seed, "slices", "joint")
    n = cases.n_units
    drawn = rng.multinomial(n, np.full(n, 1 / n), JOINT_RESAMPLES).astype(float)
    weights = drawn[:, cases.units] * cases.weight
    values = np.stack(
        [one.of_weights(cases.y, cases.value, cases.score, weights * p.rows, cases.positive) for p in parts], axis=1
    )
    kept = values[np.isfinite(values).all(axis=1)]
    if len(kept) < JOINT_RESAMPLES / 2:
        return np.eye(len(parts))
    return _correlation(kept - kept.mean(axis=0))


def _slices(
    made: _SliceValues,
    parts: Sequence[RowsOfSlice],
    measure: str,
    higher: bool,
    level: float,
    seed: int,
    of: str,
    apart: _SliceValues | None = None,
) -> Slices:
    """Return the record: limits of all slices together, gaps, tests, and the worst slice; `apart` is without what slices share."""
    own = made if apart is None else apart
    good = np.flatnonzero(made.usable)
    if len(good) < 1:
        raise InputError(f"no slice has enough independent units for {measure}; join slices.")
    draws = _normal_draws(made, good, seed)
    each = _level_of_each(draws, None if made.correlation is None else draws, len(good), level)
    ends = made.limits(each)
    columns = list(dict.fromkeys(p.column for p in parts))
    there = set(good.tolist())
    listed = tuple(
        Slice(
            column=p.column,
            name=p.name,
            n=int(made.cases[j]),
            n_units=int(made.units[j]),
            value=_or_none(made.value[j]),
            std_error=_or_none(made.error[j]),
            low=_or_none(ends[j, 0]) if j in there else None,
            high=_or_none(ends[j, 1]) if j in there else None,
        )
        for j, p in enumerate(parts)
    )
    gaps: list[SliceGap] = []
    tests: list[SliceTest] = []
    for column in columns:
        mine = [j for j in good.tolist() if parts[j].column == column]
        tests.append(_test(own, mine, column, seed))
        gaps += _gaps(own, mine, parts, draws[:, np.searchsorted(good, mine)], level)
    small = [s for s in listed if 0 < s.n_units < FEW_UNITS]
    notes: tuple[Note, ...] = ()
    if small:
        names = ", ".join(f"{s.name} ({s.n_units})" for s in small[:4]) + (
            f" and {len(small) - 4} more" if len(small) > 4 else ""
        )
        notes = (
            note(
                "U048", f"{len(small)} of {len(listed)} slices have fewer than {FEW_UNITS} independent units: {names}"
            ),
        )
    return Slices(
        measure=measure,
        slices=listed,
        gaps=tuple(gaps),
        tests=tuple(tests),
        worst=_worst(made, good, listed, draws, higher),
        higher=higher,
        level=level,
        method="mid-p" if made.counts is not None or measure in SHARES else "max-t",
        of=of,
        notes=notes,
    )


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _normal_draws(made: _SliceValues, good: Ints, seed: int) -> Floats:
    """Return draws of the standardised errors of the slices, which are independent unless they share units."""
    z = stream(seed, "slices", "max").standard_normal((DRAWS, len(good)))
    if made.correlation is None:
        return z
    size, vectors = np.linalg.eigh(made.correlation[np.ix_(good, good)])
    return np.asarray(z @ (vectors * np.sqrt(np.maximum(size, 0.0))).T)


def _level_of_each(draws: Floats, dependent: Floats | None, count: int, level: float) -> float:
    """Return the level at which each interval must hold so that all do: Sidak's if independent, else from the largest of all."""
    from scipy.special import ndtr

    if dependent is None:
        return float(level ** (1 / count))
    largest = np.abs(draws).max(axis=1)
    return float(2 * ndtr(np.quantile(largest, level)) - 1)


def _gaps(
    made: _SliceValues, mine: list[int], parts: Sequence[RowsOfSlice], draws: Floats, level: float
) -> list[SliceGap]:
    """Return every pair of slices of a column, all pairs holding together: limits recovered from those of independent slices."""
    from scipy.special import ndtr, stdtrit

    pairs = list(combinations(range(len(mine)), 2))
    if not pairs:
        return []
    error = made.error[mine]
    rho = np.eye(len(mine)) if made.correlation is None else made.correlation[np.ix_(mine, mine)]
    largest = np.zeros(len(draws))
    for a, b in pairs:
        spread = np.sqrt(max(error[a] ** 2 + error[b] ** 2 - 2 * rho[a, b] * error[a] * error[b], 1e-30))
        largest = np.maximum(largest, np.abs(draws[:, a] * error[a] - draws[:, b] * error[b]) / spread)
    each = level if len(pairs) == 1 else float(2 * ndtr(np.quantile(largest, level)) - 1)
    ends, value = made.limits(each)[mine], made.value[mine]
    out = []
    for a, b in pairs:
        below, above = value[[a, b]] - ends[[a, b], 0], ends[[a, b], 1] - value[[a, b]]
        gap = value[a] - value[b]
        down, up = float(np.hypot(below[0], above[1])), float(np.hypot(above[0], below[1]))
        if (
            abs(rho[a, b]) > UNRELATED
        ):  # what slices share cancels in the difference of each unit, not in skewed limits of each
            shared = error[a] ** 2 + error[b] ** 2 - 2 * rho[a, b] * error[a] * error[b]
            freedom = float(min(made.freedom[mine[a]], made.freedom[mine[b]]))
            down = up = float(stdtrit(freedom, (1 + each) / 2)) * float(np.sqrt(max(shared, 0.0)))
        one, two = parts[mine[a]], parts[mine[b]]
        out.append(
            SliceGap(
                column=one.column,
                a=one.name,
                b=two.name,
                value=float(gap),
                low=_or_none(gap - down),
                high=_or_none(gap + up),
            )
        )
    return out


def _test(made: _SliceValues, mine: list[int], column: str, seed: int) -> SliceTest:
    """Test whether slices of a column differ: exactly for counts, by Welch's F, or by Hotelling's if they share units."""
    if len(mine) < 2:
        return SliceTest(column=column, test="none", statistic=None, p=None)
    if made.counts is not None:
        return _count_test(made.counts[0][mine], made.counts[1][mine], column, stream(seed, "slices", "test", column))
    value, error = made.value[mine], made.error[mine]
    if made.correlation is not None:
        rho = made.correlation[np.ix_(mine, mine)]
        if np.abs(rho - np.eye(len(mine))).max() > UNRELATED:
            return _shared_test(value, np.outer(error, error) * rho, int(made.units[mine].max()), column)
    return _welch_test(value, error, made.freedom[mine], column)


def _count_test(wrong: Floats, n: Floats, column: str, rng: np.random.Generator) -> SliceTest:
    """Pearson's chi-square for counts, its p-value from all ways to deal the errors to the slices (random ones)."""
    counts, sizes = np.rint(wrong).astype(np.int64), n.astype(np.int64)
    total, size = int(counts.sum()), int(sizes.sum())
    if total in (0, size):
        return SliceTest(column=column, test="chi-square, permutations", statistic=0.0, p=1.0)
    expected = sizes * total / size
    scale = expected * (1 - total / size)

    def statistic(drawn: Any) -> Any:
        return (np.square(drawn - expected) / scale).sum(axis=-1)

    seen = float(statistic(counts))
    drawn = statistic(rng.multivariate_hypergeometric(sizes, total, PERMUTATIONS, method="marginals"))
    p = (1 + int((drawn >= seen - 1e-9).sum())) / (PERMUTATIONS + 1)
    return SliceTest(column=column, test="chi-square, permutations", statistic=seen, p=float(p))


def _welch_test(value: Floats, error: Floats, freedom: Floats, column: str) -> SliceTest:
    from scipy.special import fdtrc

    k = len(value)
    w = 1 / np.square(error)
    mean = float(w @ value / w.sum())
    lack = float((np.square(1 - w / w.sum()) / freedom).sum())
    f = float((w * np.square(value - mean)).sum()) / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * lack)
    return SliceTest(column=column, test="Welch's F", statistic=f, p=float(fdtrc(k - 1, (k**2 - 1) / (3 * lack), f)))


def _shared_test(value: Floats, covariance: Floats, units: int, column: str) -> SliceTest:
    from scipy.special import fdtrc

    k = len(value) - 1
    contrast = np.eye(k, k + 1) - np.eye(k, k + 1, 1)
    gap = contrast @ value
    t2 = float(gap @ np.linalg.pinv(contrast @ covariance @ contrast.T) @ gap)
    freedom = units - k
    if freedom < 1:
        return SliceTest(column=column, test="Hotelling's T-square", statistic=t2, p=None)
    f = t2 * freedom / (k * (units - 1))
    return SliceTest(column=column, test="Hotelling's T-square", statistic=t2, p=float(fdtrc(k, freedom, f)))


def _worst(made: _SliceValues, good: Ints, listed: Sequence[Slice], draws: Floats, higher: bool) -> WorstSlice:
    """Return the worst slice and what to expect of it: less what choosing the worst of several adds on average."""
    sign = -1.0 if higher else 1.0
    value = sign * made.value[good]
    place = int(np.argmax(value))
    again = value + draws * made.error[good]
    chosen = again.argmax(axis=1)
    luck = float((draws * made.error[good])[np.arange(len(draws)), chosen].mean())
    worst = listed[int(good[place])]
    assert worst.value is not None
    return WorstSlice(
        column=worst.column,
        name=worst.name,
        value=worst.value,
        low=worst.low,
        high=worst.high,
        corrected=float(sign * (value[place] - max(luck, 0.0))),
    )


def table_slices(table: LossTable, parts: Sequence[RowsOfSlice], *, level: float, seed: int, of: str = "") -> Slices:
    """Return the mean loss of each row over the splits that tested it, slice by slice.

    Differences are those of two algorithms: to the variance over rows comes what training sets add to it. Any other table is read for
    the error of the model trained on all rows, for which the variance over rows is right if models of different splits agree (Bayle et
    al., 2020). If they do not, averages over rounds are steadier than one model is: its variance is that of single predictions.

    References
    ----------
    Bayle, P., Bayle, A., Janson, L. and Mackey, L. (2020). Cross-validation confidence intervals for test error. NeurIPS 33. Efron, B.
    and Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics 9, 586-596.
    """
    values = table.by_row()
    tested = np.isfinite(values)
    inside = [replace(p, rows=p.rows & tested) for p in parts]
    weight = table.row_weights(np.arange(table.data.n))
    extra, apart = (
        _training_variance(table, inside, weight)
        if table.is_difference
        else (_variance_over_splits(table, inside, weight), None)
    )
    found = slices_of_losses(
        np.nan_to_num(values),
        inside,
        loss=DIFFERENCE if table.is_difference else table.loss,
        units=table.data.units,
        weight=weight,
        span=table.range,
        extra=extra,
        apart=apart,
        level=level,
        seed=seed,
        of=of,
    )
    return replace(found, measure=DIFFERENCE + table.loss) if table.is_difference else found


def _training_variance(
    table: LossTable, parts: Sequence[RowsOfSlice], weight: Floats
) -> tuple[AddedVariance, AddedVariance]:
    """Return what training sets add to the variance of each slice's mean difference, and of gaps between slices.

    Both parts are measured in each slice; gaps go without what all test cases have in common, as slices share most of it. If every row
    was tested once, its loss does not show what another model would do, and the variance over rows grows as Nadeau and Bengio (2003)
    have it.
    """
    nothing = VariancePart(0.0, 0.0)
    slices, gaps = [nothing] * len(parts), [nothing] * len(parts)
    if len(table.completed) < 2:
        return AddedVariance.of(slices), AddedVariance.of(gaps)
    values, units = np.nan_to_num(table.by_row()), table.data.units
    again = bool(table.times_tested().max() > 1)
    moves = training_moves(table) if again else np.empty(0)
    bounded = bool(np.isfinite(table.range).all())
    for j, part in enumerate(parts):
        w = weight * part.rows
        if w.sum() <= 0:
            continue
        own = np.bincount(units, w * (values - w @ values / w.sum()), table.data.n_units) / w.sum()
        if again:
            deviations = split_deviations(table, w)
            roles = variance_of_roles(moves, deviations, own)
            if len(table.completed) < MIN_REPLICATES:  # mostly noise then, which may not take from the other part
                roles = _at_least_nothing(roles)
            found = variance_of_sets(moves, deviations)
            sets = _counted(found, bounded)
            noise = roles.noise + (found.noise if sets.value > 0 else 0.0)
            slices[j] = _counted(VariancePart(roles.value + sets.value, noise), bounded)
            gaps[j] = _counted(roles, bounded)
        else:
            counted = len(np.unique(units[w > 0]))
            wider = (fold_spread(table) ** 2 - 1) * float(np.square(own).sum()) * counted / max(counted - 1, 1)
            slices[j] = gaps[j] = VariancePart(wider, 0.0)
    return AddedVariance.of(slices), AddedVariance.of(gaps)


def _at_least_nothing(part: VariancePart) -> VariancePart:
    return part if part.value > 0 else VariancePart(0.0, 0.0)


def _counted(part: VariancePart, bounded: bool) -> VariancePart:
    """Return a part as it counts: at least nothing, and for bounded losses drawn towards nothing by its noise.

    There what training sets add is small beside the variance over rows, and its noise, which counts only where it adds, is larger than
    itself. Unbounded losses differ between slices by more than that; their noise costs degrees of freedom instead.
    """
    if part.value <= 0 or not bounded:
        return _at_least_nothing(part)
    square = part.value**2
    return VariancePart(part.value * square / (square + part.noise), 0.0)


def _variance_over_splits(table: LossTable, parts: Sequence[RowsOfSlice], weight: Floats) -> AddedVariance:
    """Return by how much the variance of a slice's mean grows if each unit is tested by one model only, drawn from its splits."""
    row, split, n_units = table.test.row, table.test.split, table.data.n_units
    place = table.data.units[row].astype(np.int64) * len(table.plan) + split
    found = np.zeros(len(parts))
    for j, part in enumerate(parts):
        mine = part.rows[row]
        cells, at = np.unique(place[mine], return_inverse=True)
        totals = np.bincount(at, weight[row[mine]] * table.test.value[mine])
        unit = cells // len(table.plan)
        times = np.bincount(unit, minlength=n_units)
        mean = np.bincount(unit, totals, n_units) / np.maximum(times, 1)
        squares = np.bincount(unit, np.square(totals - mean[unit]), n_units)
        again = times > 1
        whole = float(weight[part.rows].sum())
        found[j] = 0.0 if whole <= 0 else float((squares[again] / (times[again] - 1)).sum()) / whole**2
    return AddedVariance(found, np.zeros(len(parts)))


def fold_spread(table: LossTable) -> float:
    """Return the factor on standard errors for models that share training rows (Nadeau & Bengio, 2003), at least 1."""
    n_test, n_train = table.plan.mean_sizes()
    splits = len(table.completed)
    return float(max(1.0, np.sqrt((1 / splits + n_test / n_train) * table.data.n_units / n_test)))
