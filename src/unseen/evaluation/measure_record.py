"""What `unseen.measure` returns: every measure of a set of predictions with its interval, and the curves behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.estimate import Estimate
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.core.scale import measure_name
from unseen.estimators.wilson import wilson_interval
from unseen.evaluation.curves import Calibration, Confusion, PrecisionRecall, Roc, calibration_of
from unseen.evaluation.decision_curve import DecisionCurve, decision_curve_of
from unseen.evaluation.measure_intervals import BootstrapIntervals, area_estimate, called_sizes, effective_size
from unseen.evaluation.scored_cases import ScoredCases
from unseen.evaluation.slices import Slices
from unseen.measures.areas import AveragePrecision, sweep
from unseen.measures.confusion import tables_of
from unseen.measures.outliers import Outlying, outlying, surprising
from unseen.show.text import text_table

__all__ = ["PRICED", "Measures"]

# what people look for first, in that order
KNOWN = (
    "accuracy",
    "balanced-accuracy",
    "sensitivity",
    "specificity",
    "positive-predictive-value",
    "f1",
    "mcc",
    "auc",
    "average-precision",
    "brier",
)
KNOWN_OF_NUMBERS = ("rms", "absolute", "r2")
# what a cost matrix adds
PRICED = ("cost", "utility")


def _elsewhere(name: str) -> bool:
    """Say whether a measure is one at another prevalence; a class may be called "no finding at all"."""
    return " at " in name.rpartition("]")[2]


@dataclass(frozen=True, eq=False, kw_only=True)
class Measures(Result):
    """Measures of one set of predictions, each an `Estimate` with an interval inside the measure's range.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        By id; those of one class against the rest are called "sensitivity[a]".
    cases : ScoredCases
        Truth, decisions and scores.
    level, seed, n_bootstrap, stratified
        Confidence level of the intervals, seed and number of resamples of the BCa ones, and whether these kept the sizes of
        the classes.
    notes : tuple of Note
        Notes on statistical weakness.
    title : str
        Title of the report.
    command : str
        Command line or call that made it, if it is known.
    asked : bool
        Whether the measures were asked for by name; text and report then show all of them first.
    slices : mapping of str to Slices
        By measure, its value in each slice, if `by` was given.

    Examples
    --------
    >>> import unseen
    >>> m = unseen.measure(["ill", "well", "ill", "well", "ill"], ["ill", "well", "well", "well", "ill"], positive="ill")
    >>> round(m["sensitivity"].value, 3), m["specificity"].value, m.confusion()["ill", "well"]
    (0.667, 1.0, 1.0)
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    estimates: Mapping[str, Estimate]
    cases: ScoredCases
    level: float
    seed: int
    n_bootstrap: int
    stratified: bool = False
    notes: tuple[Note, ...] = ()
    title: str = "Measures of a set of predictions"
    command: str = ""
    asked: bool = False
    slices: Mapping[str, Slices] = field(default_factory=dict)

    def __getitem__(self, name: str | tuple[str, Any]) -> Estimate:
        key = f"{name[0]}[{name[1]}]" if isinstance(name, tuple) else name
        if key not in self.estimates:
            raise UnknownName("measure of these predictions", key, self.estimates)
        return self.estimates[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    @property
    def positive(self) -> str | None:
        """Label of the positive class."""
        return None if self.cases.classes is None else self.cases.label(self.cases.positive)

    def _class(self, label: Any) -> tuple[int, Any]:
        if self.cases.classes is None:
            raise NotApplicable("these are predictions of numbers; there is no such curve.")
        code = self.cases.code(label)
        return code, self.cases.y == code

    def roc(self, label: Any = None) -> Roc:
        """Return the ROC curve of a class against the rest; the positive class by default."""
        cases = self.cases
        code, positive = self._class(label)
        score = cases.column(code)
        auc = area_estimate(cases, "auc", positive, score, self.level)
        if auc is None:
            raise InputError(f"a ROC curve of {cases.label(code)} needs at least 2 cases of it and 2 others.")
        curve = sweep(positive, score, cases.weight[None])
        threshold = np.concatenate([[np.inf], curve.threshold])
        weight = None if np.all(cases.weight == 1) else cases.weight
        return Roc(
            label=cases.label(code),
            threshold=threshold,
            hit_rate=curve.hit_rate[0],
            alarm_rate=curve.alarm_rate[0],
            auc=auc,
            positive=positive,
            score=score,
            units=cases.units,
            weight=weight,
        )

    def precision_recall(self, label: Any = None) -> PrecisionRecall:
        """Return precision against sensitivity of a class against the rest."""
        cases = self.cases
        code, positive = self._class(label)
        score = cases.column(code)
        curve = sweep(positive, score, cases.weight[None])
        precision, called = curve.precision[0, 1:], called_sizes(cases, positive, score, curve.threshold, self.level)
        ends = np.array([wilson_interval(float(p), float(n), self.level) for p, n in zip(precision, called)])
        area = BootstrapIntervals(
            cases=cases, n_draws=self.n_bootstrap, seed=self.seed, level=self.level, stratified=self.stratified
        ).of_weights(
            "average-precision",
            lambda w: AveragePrecision().of_weights(positive.astype(int), positive, score[:, None], w),
            (0.0, 1.0),
        )
        if area is None:
            raise InputError("average precision is undefined on most resamples; there are too few cases of the class.")
        share = float(np.average(positive, weights=cases.weight))
        return PrecisionRecall(
            label=cases.label(code),
            threshold=curve.threshold,
            recall=curve.hit_rate[0, 1:],
            precision=precision,
            low=ends[:, 0],
            high=ends[:, 1],
            average_precision=area,
            prevalence=share,
        )

    def calibration(self, label: Any = None, n_bins: int | None = None) -> Calibration:
        """Return observed shares against predicted probabilities of a class; about 10 bins by default."""
        cases = self.cases
        code, _ = self._class(label)
        if not cases.probability:
            raise NotApplicable("these scores are no probabilities, so there is nothing to calibrate.")
        return calibration_of(cases, code, n_bins or int(np.clip(cases.n // 10, 2, 10)), self.level, self.seed)

    def decision_curve(self, thresholds: Sequence[float] | None = None, label: Any = None) -> DecisionCurve:
        """Return the net benefit of acting on a class's probabilities, next to treating all and treating none.

        Parameters
        ----------
        thresholds : sequence of float, optional
            Probabilities from which on one would act; 1% to 99% by default.
        label : label, optional
            The class; the positive one by default.
        """
        cases = self.cases
        code, _ = self._class(label)
        if not cases.probability:
            raise NotApplicable("these scores are no probabilities, so that no threshold has odds to weigh by.")
        return decision_curve_of(cases, code, self.level, self.seed, thresholds)

    def confusion(self) -> Confusion:
        """Return the confusion matrix with an interval for every cell's share of its row."""
        cases = self.cases
        if cases.classes is None:
            raise NotApplicable("these are predictions of numbers; there is no confusion matrix.")
        size = len(cases.classes)
        counts = tables_of(cases.y, cases.value, cases.weight[None], size)[0]
        share, low, high = (np.full((size, size), np.nan) for _ in range(3))
        for i in range(size):
            whole = cases.y == i
            if not whole.any() or counts[i].sum() <= 0:
                continue
            for k in range(size):
                share[i, k] = counts[i, k] / counts[i].sum()
                part = (whole & (cases.value == k)).astype(float)
                size_of, _ = effective_size(cases, part, whole.astype(float), share[i, k], self.level)
                low[i, k], high[i, k] = wilson_interval(share[i, k], size_of, self.level)
        return Confusion(
            classes=tuple(str(c) for c in cases.classes),
            counts=counts,
            share=share,
            low=low,
            high=high,
            level=self.level,
        )

    def outlying(self, label: Any = None) -> Outlying:
        """Return the cases that stand out: by their errors, or by the small probability given to their true class.

        The label names a class, or one of several outputs.
        """
        cases = self.cases
        if cases.outputs:
            if str(label) not in cases.outputs:
                raise UnknownName("output", label, cases.outputs, "Several were measured; name one.")
            errors = (cases.y - cases.value).reshape(cases.n_cases, -1)
            return outlying(errors[:, cases.outputs.index(str(label))])
        if cases.classes is None:
            return outlying(cases.y - cases.value)
        code, positive = self._class(label)
        if not cases.probability:
            raise NotApplicable(
                "errors of single cases need probabilities, and these are decisions or decision values."
            )
        return surprising(positive, cases.column(code))

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per measure."""
        return [e.row() for e in self.estimates.values()]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures, the confusion matrix and the settings as plain values."""
        cases = self.cases
        result: dict[str, Any] = plain(
            {
                "n": cases.n_cases,
                "outputs": list(cases.outputs),
                "n_units": cases.n_units,
                "task": cases.task,
                "level": self.level,
                "seed": self.seed,
                "n_bootstrap": self.n_bootstrap,
                "stratified": self.stratified,
                "threshold": cases.threshold,
                "positive": self.positive,
                "classes": None if cases.classes is None else [str(c) for c in cases.classes],
                "measures": {k: e.to_dict() for k, e in self.estimates.items()},
                "confusion": None if cases.classes is None else self.confusion().rows(),
                "sentence": self.sentence(),
                "calibration": self._calibration_dict(),
                **({"slices": {name: s.to_dict() for name, s in self.slices.items()}} if self.slices else {}),
                "notes": list(self.notes),
            }
        )
        return result

    def _calibration_dict(self) -> dict[str, Any] | None:
        """Return slope, intercept, calibration error and tests of two classes' probabilities."""
        if not self.cases.probability or self.cases.size != 2:
            return None
        fit = self.calibration().fit
        return {
            "slope": None if fit.slope is None else fit.slope.row(),
            "intercept": None if fit.intercept is None else fit.intercept.row(),
            "ece": fit.ece.row(),
            "raw_ece": fit.raw_ece,
            "spiegelhalter": vars(fit.spiegelhalter),
            "recalibration": vars(fit.recalibration),
            "sentence": fit.sentence(),
        }

    @property
    def known(self) -> dict[str, Estimate]:
        """The measures most people know, in their order, and what a cost matrix or a prevalence adds; all if asked for by name."""
        if self.asked:
            return dict(self.estimates)
        first = [n for n in (KNOWN if self.cases.classes is not None else KNOWN_OF_NUMBERS) if n in self.estimates]
        return {
            name: self.estimates[name]
            for name in (*first, *(n for n in self.estimates if _elsewhere(n) or n in PRICED))
        }

    def sentence(self) -> str:
        """Return the answer: the error with its interval, on how many cases, and the area under the ROC curve if there are scores."""
        e = self.estimates
        lead = "accuracy" if "accuracy" in e else "rms" if "rms" in e else next(iter(e), None)
        units = "" if self.cases.n_units == self.cases.n_cases else f" of {self.cases.n_units:,} independent units"
        on = f"on {self.cases.n_cases:,} cases{units}"
        if lead is None:
            return f"None of these measures exists {on}."
        if lead == "accuracy":
            one = e[lead]
            text = f"{_percent(1 - one.value)} of the cases are misclassified"
            if one.interval is not None:
                low, high = (_percent(1 - end) for end in (one.interval.high, one.interval.low))
                text += f" ({100 * self.level:g}% interval {low} to {high})"
            text += f", {on}"
            if "auc" in e:
                text += f"; AUC {_with_interval(e['auc'])}"
            return f"{text}."
        name = measure_name(lead)
        rest = f"; R² {_with_interval(e['r2'])}" if lead == "rms" and "r2" in e else ""
        ends = e[lead].interval
        interval = "" if ends is None else f" ({100 * self.level:g}% interval {ends.low:.4g} to {ends.high:.4g})"
        said = name if "_" in name else f"{name[:1].upper()}{name[1:]}"  # scikit-learn's words stay as they are
        return f"{said} {e[lead].value:.4g}{interval}, {on}{rest}."

    def table(self, every: bool = True) -> str:
        """Return the measures as text: all of them, or only those most people know."""
        found = self.estimates if every else self.known
        rows = [
            (name, f"{e.value:.4g}", "" if e.interval is None else f"{100 * self.level:g}% {e.interval}", e.method)
            for name, e in found.items()
        ]
        return (
            text_table(rows, ("measure", "value", "interval", "method"), header=False, right=("value",)) if rows else ""
        )

    def __str__(self) -> str:
        outputs = self.cases.outputs
        lines = [self.sentence()]
        if self.positive is not None and self.cases.size == 2:
            lines.append(f"Positive class: {self.positive}.")
        lines += [f"{len(outputs)} outputs: {', '.join(outputs)}."] if outputs else []
        if self.estimates:
            lines.append(self.table(every=bool(outputs)))
        hidden = 0 if outputs else len(self.estimates) - len(self.known)
        if hidden > 0:
            lines.append(f"{hidden} more: m.table() or --all.")
        if self.cases.probability and self.cases.size == 2 and not self.asked:
            lines.append(self.calibration().fit.sentence())
        for one in self.slices.values():
            lines += ["", one.sentence(), one.table()]
        return "\n".join([*lines, *(str(n) for n in self.notes)])


def _percent(share: float) -> str:
    return f"{100 * share + 0.0:.1f}%"


def _with_interval(e: Estimate) -> str:
    return f"{e.value:.4g}" if e.interval is None else f"{e.value:.4g} ({e.interval.low:.4g} to {e.interval.high:.4g})"
