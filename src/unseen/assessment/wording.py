"""An assessment in words: its sentences, the picture of its interval in text, and the lines of each estimate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any, TypeVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.estimate import Estimate, Interval
from unseen.core.notes import Note
from unseen.core.scale import as_measure, measure_name
from unseen.show.style import quantity
from unseen.show.text import RATES, percent_or_number

__all__ = [
    "GUESS_ONE_CLASS",
    "LOSSES_OF_PROBABILITIES",
    "EstimateLine",
    "also_sentence",
    "compare_with_guessing",
    "estimate_line",
    "fit_notes",
    "guess_in_words",
    "headline_sentence",
    "in_units",
    "interval_picture",
    "name_in_words",
    "name_with_article",
    "narrow_sentence",
    "shown_model",
    "source_sentence",
    "value_in_units",
    "verdict_sentence",
]

LOSSES_OF_PROBABILITIES = (
    "log-loss",
    "brier",
)  # guessing gives each class its frequency: one class for sure costs 16 or 1
# shares of the cases that are called so: who never calls a case so has none, and who always does has the class's frequency
GUESS_ONE_CLASS = {"positive-predictive-value": "positive", "negative-predictive-value": "negative"}
LONGEST_MODEL = 80  # characters that fit one line of the report
WIDTH = 79  # columns of the narrowest terminal in use, less one for the cursor
CELLS = 40  # of the picture of an interval, which leaves room for its ends and what its signs mean
MOST_BESIDE = 4  # other measures that fit two lines
STEPS = 8  # round steps that the values of the picture span at least: fewer would leave much of it empty
NARROWEST = 4  # cells below which an interval can no longer be read
MINOR = frozenset(
    {"U003", "U007", "U011", "U017", "U019", "U022", "U026", "U030", "U045"}
)  # they do not change how far the headline holds

Value = TypeVar("Value", float, Floats)


def shown_model(name: str, longest: int = LONGEST_MODEL) -> str:
    """Return the name of a model or class as sentences use it; the full one stands in the last section of the report.

    Examples
    --------
    >>> len(shown_model("Pipeline(" + "x" * 200))
    80
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


def value_in_units(loss: str, value: Value) -> tuple[str, Value]:
    """Return name and value of a loss in the units people think in: scores as scores, squared errors as their root.

    Examples
    --------
    >>> value_in_units("squared", 9.0), value_in_units("1 - auc", 0.25)
    (('rmse', 3.0), ('auc', 0.75))
    """
    if loss == "squared":
        root: Any = np.sqrt(np.maximum(value, 0.0))
        told: Value = root if isinstance(value, np.ndarray) else float(root)
        return "rmse", told
    return as_measure(loss, value)


def in_units(e: Estimate) -> Estimate:
    """Return an estimate in the units people think in; the interval of a root is the root of the interval.

    Examples
    --------
    >>> from unseen.core.estimate import Interval, Target
    >>> e = Estimate(
    ...     value=9.0, std_error=1.0, interval=Interval(4.0, 16.0, 0.95), df=9, method="range-t",
    ...     target=Target.MODEL.at(100), loss="squared", n_units=100, n_fits=50,
    ... )
    >>> in_units(e).loss, in_units(e).value, str(in_units(e).interval)
    ('rmse', 3.0, '[2, 4]')
    """
    if e.loss != "squared":
        return e.on_scale()
    name, value = value_in_units(e.loss, e.value)
    ends = e.interval
    if ends is not None:
        ends = Interval(value_in_units(e.loss, ends.low)[1], value_in_units(e.loss, ends.high)[1], ends.level)
    # by the delta method: the root moves half as fast as the square, divided by the root
    error = None if e.std_error is None or value <= 0 else e.std_error / (2 * value)
    return replace(e, loss=name, value=value, interval=ends, std_error=error)


def headline_sentence(model: str, headline: Estimate, also: Mapping[str, Estimate] | None = None) -> str:
    """Return the headline in plain words.

    Parameters
    ----------
    model : str
        Name of the model.
    headline : Estimate
        The headline.
    also : mapping of str to Estimate, optional
        Other measures of the same run; those of numbers stand in the sentence.

    Examples
    --------
    >>> from unseen.core.estimate import Interval, Target
    >>> e = Estimate(
    ...     value=0.2, std_error=0.05, interval=Interval(0.1, 0.3, 0.95), df=24, method="corrected-t",
    ...     target=Target.ALGORITHM.at(90), loss="zero-one", n_units=100, n_fits=25,
    ... )
    >>> print(headline_sentence("lda", e).split(". ")[0])
    lda is expected to misclassify 20.0% of new cases (95% interval 10.0% to 30.0%)
    """
    shown = in_units(headline)
    value = percent_or_number(shown.value, shown.loss)
    if shown.loss == "rmse":
        text = f"{model} predicts new cases with a typical error (RMSE) of {value}"
    elif shown.loss in RATES:
        text = f"{model} is expected to misclassify {value} of new cases"
    else:
        text = f"{model} has an expected {name_in_words(headline.loss)} of {value} on new cases"
    if shown.interval is None:
        text += " (no valid interval exists here)"
    else:
        text += f" ({100 * shown.interval.level:g}% interval {_span(shown)})"
    beside = [_beside(name, e) for name, e in (also or {}).items() if shown.loss == "rmse" and name in NUMBERS]
    text = "; ".join([text, ", ".join(beside)]) if beside else text
    return f"{text}. This is the {quantity(shown.loss)} of {headline.target}."


def brief_answer(e: Estimate) -> str:
    """Return value and interval of an estimate, for a line of progress.

    Examples
    --------
    >>> from unseen.core.estimate import Interval, Target
    >>> e = Estimate(
    ...     value=0.2, std_error=0.05, interval=Interval(0.1, 0.3, 0.95), df=24, method="range-t",
    ...     target=Target.MODEL.at(90), loss="zero-one", n_units=100, n_fits=10,
    ... )
    >>> brief_answer(e)
    'error 20.0% (10.0% to 30.0%)'
    """
    shown = in_units(e)
    span = f" ({_span(shown)})" if shown.interval is not None else ""
    return f"{quantity(shown.loss)} {percent_or_number(shown.value, shown.loss)}{span}"


def name_in_words(loss: str) -> str:
    """Return what a loss is called in a sentence.

    Examples
    --------
    >>> name_in_words("squared"), name_in_words("rms"), name_in_words("1 - auc"), name_in_words("quantile"), name_in_words("absolute")
    ('RMSE', 'RMSE', 'AUC', 'quantile loss', 'absolute error')
    """
    told = value_in_units(loss, 0.0)[0]
    name = measure_name(told)
    return (
        name
        if told != loss or name.endswith(("loss", "error", "score", "cost", "misclassified", "RMSE"))
        else f"{name} loss"
    )


def name_with_article(name: str) -> str:
    """Return a name with its article.

    Examples
    --------
    >>> name_with_article("AUC"), name_with_article("RMSE"), name_with_article("log loss"), name_with_article("Matthews correlation")
    ('an AUC', 'an RMSE', 'a log loss', 'a Matthews correlation')
    """
    spelled = len(name) > 1 and (
        name[:2].upper() == name[:2] or name[1].isdigit()
    )  # letters said one by one: an R, an F
    return f"{'an' if name[0].lower() in ('aefhilmnorsx' if spelled else 'aeio') else 'a'} {name}"


NUMBERS = {"absolute": "mean absolute error (MAE)", "r2": "R²"}  # measures of numbers, as a sentence names them


def _span(shown: Estimate) -> str:
    """Return the ends of an interval; empty without one."""
    if shown.interval is None:
        return ""
    return " to ".join(percent_or_number(end, shown.loss) for end in shown.interval)


def _beside(name: str, e: Estimate) -> str:
    """Return one more measure: its name, value and interval."""
    shown = in_units(e)
    span = f" ({_span(shown)})" if shown.interval is not None else ""
    return f"{NUMBERS.get(name) or name_in_words(e.loss)} {percent_or_number(shown.value, shown.loss)}{span}"


def also_sentence(headline: Estimate, also: Mapping[str, Estimate]) -> str:
    """Return the measures beside the headline that its sentence leaves out, with their intervals; empty if there are none."""
    told = NUMBERS if headline.loss == "squared" else {}
    parts = [_beside(name, e) for name, e in also.items() if name not in told]
    if len(parts) > MOST_BESIDE:
        parts = [*parts[:MOST_BESIDE], f"and {len(parts) - MOST_BESIDE} more in the report"]
    return f"Also: {', '.join(parts)}." if parts else ""


def compare_with_guessing(headline: Estimate, baseline: Estimate) -> str:
    """Return "better" or "worse" than guessing, "not distinguishable" from it, or nothing without an interval.

    Better: the whole interval lies beyond the value of guessing. Worse: it lies beyond all that guessing may have, because the
    class to guess was chosen on the same rows, and guessing looks better than it is if classes are balanced.
    """
    if headline.interval is None:
        return ""
    if headline.interval.high < baseline.value:
        return "better"
    reach = baseline.value if baseline.interval is None else baseline.interval.high
    return "worse" if headline.interval.low > reach else "not distinguishable"


def guess_in_words(loss: str, task: str) -> str:
    """Return what the model that guesses says.

    Examples
    --------
    >>> guess_in_words("zero-one", "classification"), guess_in_words("log-loss", "classification")
    ('most frequent class', 'frequencies of the classes')
    """
    if task != "classification":
        return "mean"
    if name := GUESS_ONE_CLASS.get(as_measure(loss, 0.0)[0]):
        return f"{name} class"
    return "frequencies of the classes" if loss in LOSSES_OF_PROBABILITIES else "most frequent class"


def verdict_sentence(headline: Estimate, baseline: Estimate, task: str) -> str:
    """Return how the model compares with guessing, in words."""
    shown = in_units(baseline)
    value = percent_or_number(shown.value, shown.loss)
    what = f"always guessing the {guess_in_words(baseline.loss, task)}"
    has = (
        f"would misclassify {value}"
        if shown.loss in RATES
        else f"has {name_with_article(name_in_words(baseline.loss))} of {value}"
    )
    verdict = compare_with_guessing(headline, baseline)
    if not verdict:
        return f"For comparison, {what} {has}."
    if verdict == "better":
        return f"Better than guessing: {what} {has}, and the whole interval is better than that."
    if verdict == "worse":
        return f"Worse than guessing: {what} {has}, and the whole interval is worse than that."
    assert headline.interval is not None
    if headline.interval.low > baseline.value:
        return (
            f"Not distinguishable from guessing: {what} {has}, and may have {_span(shown)}, which the interval reaches."
        )
    return f"Not distinguishable from guessing: {what} {has}, and the interval reaches that."


def narrow_sentence(interval: Interval | None, n_units: int, unit: str, falls: bool, what: str = "error") -> str:
    """Return what would narrow the interval: its width goes like one over the root of the number of units.

    Parameters
    ----------
    interval : Interval or None
        The headline's.
    n_units, unit : int, str
        How many independent units there are, and what one is called.
    falls : bool
        Whether the learning curve still improves.
    what : str
        What improves: "error", or the name of a score.

    Examples
    --------
    >>> print(narrow_sentence(Interval(0.1, 0.2, 0.95), 200, "row", falls=True))
    About 600 more rows would halve the interval. They should also lower the error: the learning curve still falls.
    """
    better = f"lower the {what}" if what == "error" else f"raise the {what}"
    moves = "falls" if what == "error" else "rises"
    if interval is None or not interval.width > 0:
        return f"More {unit}s should {better}: the learning curve still {moves}." if falls else ""
    more = _two_digits(3 * n_units)
    text = f"About {more:,} more {unit}s would halve the interval."
    return f"{text} They should also {better}: the learning curve still {moves}." if falls else text


def _two_digits(number: int) -> int:
    """Return a whole number rounded to two digits, if it has more.

    Examples
    --------
    >>> _two_digits(1707), _two_digits(24)
    (1700, 24)
    """
    return int(round(number, 2 - len(str(number)))) if number >= 100 else number


def source_sentence(what: str, design: str, told: str, answer: Estimate, share: float, called: str = "headline") -> str:
    """Say why the error behind a part of the report is not the answer's; empty if both are written alike.

    Parameters
    ----------
    what : str
        The part, such as "These counts".
    design : str
        Where it comes from, in words.
    told : str
        Its error as text.
    answer : Estimate
        The headline, or another measure beside it.
    share : float
        Share of the units that its models were trained on.
    called : str
        What the answer is called.
    """
    shown = in_units(answer)
    lead = percent_or_number(shown.value, shown.loss)
    if told == lead:
        return ""
    named = quantity(shown.loss)
    why = (
        "combined weighs such errors with other estimates of this model"
        if answer.method == "combined"
        else f"{answer.method} is made from other splits"
    )
    return (
        f"{what} come from {design}: their {named}, {told}, is that of models trained on {100 * share:.0f}% of the data. "
        f"The {called} is {lead}: {why}."
    )


def interval_picture(headline: Estimate, baseline: Estimate, span: tuple[float, float] = (-math.inf, math.inf)) -> str:
    """Return the interval on a line of text, with the estimate (o) and guessing (G).

    Parameters
    ----------
    headline, baseline : Estimate
        In the units they are shown in.
    span : tuple of float
        Smallest and largest possible value.

    Examples
    --------
    >>> from unseen.core.estimate import Interval, Target
    >>> e = Estimate(
    ...     value=0.2, std_error=None, interval=Interval(0.1, 0.3, 0.95), df=None, method="kfold",
    ...     target=Target.MODEL.at(100), loss="zero-one", n_units=100, n_fits=10,
    ... )
    >>> from dataclasses import replace
    >>> print(interval_picture(e, replace(e, value=0.45, interval=None), (0.0, 1.0)))
    0% |--------[=======o======]-----------G----| 50%   o estimate  G guessing
    """
    value, guess = headline.value, baseline.value
    ends = (value, value) if headline.interval is None else (headline.interval.low, headline.interval.high)
    if not all(map(math.isfinite, (value, guess, *ends))):
        return ""
    axis = _axis(min(*ends, guess), max(*ends, guess), span)
    outside = ""
    if ends[0] < ends[1] and (ends[1] - ends[0]) / (axis[1] - axis[0]) * (CELLS - 1) < NARROWEST:
        axis = _axis(*ends, span)
        outside = "" if axis[0] <= guess <= axis[1] else "left" if guess < axis[0] else "right"

    def cell(v: float) -> int:
        return int(np.clip(round((v - axis[0]) / (axis[1] - axis[0]) * (CELLS - 1)), 0, CELLS - 1))

    line = ["-"] * CELLS
    if headline.interval is not None:
        low, high = (cell(v) for v in ends)
        line[low : high + 1] = "=" * (high + 1 - low)
        line[low], line[high] = "[", "]"
    line[cell(value)] = "o"
    if not outside:
        at = cell(guess)
        if at == cell(value):  # beside the estimate, on its own side of it
            at = int(np.clip(at + (1 if guess >= value else -1), 0, CELLS - 1))
        line[at] = "G"
    left, right = (_end_text(v, headline.loss) for v in axis)
    far = f"{percent_or_number(guess, baseline.loss)} (guessing)"
    left, right = (
        (f"{far} < " if outside == "left" else "") + left,
        right + (f" > {far}" if outside == "right" else ""),
    )
    signs = "" if outside else "   o estimate  G guessing"
    return f"{left} |{''.join(line)}| {right}{signs}"


def _axis(low: float, high: float, span: tuple[float, float]) -> tuple[float, float]:
    """Return round ends of an axis around two values, inside the range; zero is an end if it is near."""
    if 0 <= low <= 0.5 * high:
        low = 0.0
    width = high - low if high > low else abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(width / STEPS))
    step *= next(k for k in (1, 2, 5, 10) if width / STEPS <= k * step * (1 + 1e-9))
    first, last = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    last = last if last > first else first + step
    return max(round(first, 12), span[0]), min(round(last, 12), span[1])


def _end_text(value: float, loss: str) -> str:
    return f"{round(100 * value, 6):g}%" if loss in RATES else f"{value:g}"


def fit_notes(notes: Sequence[Note], lines: int) -> list[str]:
    """Return the notes that fit into some lines, those first that weigh most, and how many more there are.

    Examples
    --------
    >>> from unseen.core.notes import note
    >>> fit_notes([note("U008", "3 of 25 fits failed"), note("U018", "stopped")], 1)
    ['2 notes in the report.']
    """
    ordered = sorted(notes, key=lambda n: (n.code != "U018", n.code in MINOR))
    out: list[str] = []
    for k, one in enumerate(ordered):
        made = wrap(f"! {one.title}: {one.text} ({one.code})", WIDTH, subsequent_indent="  ")
        left = len(ordered) - k - 1
        if len(out) + len(made) + (left > 0) > lines:
            left += 1
            some = f"{left} more note{'s' * (left > 1)}" if out else f"{left} note{'s' * (left > 1)}"
            return [*out, f"{some} in the report."] if lines > 0 else out
        out += made
    return out


@dataclass(frozen=True, kw_only=True)
class EstimateLine:
    """One estimate as text, cell by cell; None if there is nothing to show."""

    method: str
    value: str
    interval: str | None
    expected_rms: str | None
    fits: str
    trained_on: str | None


def estimate_line(method: str, e: Estimate) -> EstimateLine:
    """Return an estimate as text, in the units people think in.

    Parameters
    ----------
    method : str
        What the line is called.
    e : Estimate
        The estimate.

    Examples
    --------
    >>> from unseen.core.estimate import Interval, Target
    >>> e = Estimate(
    ...     value=0.25, std_error=None, interval=Interval(0.2, 0.3, 0.95), df=None, method="kfold",
    ...     target=Target.ALGORITHM.at(90), loss="zero-one", n_units=100, n_fits=10,
    ... )
    >>> line = estimate_line("kfold", e)
    >>> line.value, line.interval, line.trained_on, line.expected_rms
    ('25.0%', '20.0% to 30.0%', '90', None)
    """
    shown = in_units(e)
    size = e.target.n_train
    return EstimateLine(
        method=method,
        value=percent_or_number(shown.value, shown.loss),
        interval=_span(shown) or None,
        expected_rms=None if e.expected_rms is None else percent_or_number(e.expected_rms, shown.loss),
        fits=str(e.n_fits),
        trained_on=None if size is None else f"{size:.1f}".removesuffix(".0"),
    )
