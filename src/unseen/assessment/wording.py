"""An assessment in words: its sentences, and the line of each estimate in text and report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unseen.core.estimate import Estimate
from unseen.show.text import RATES, percent_or_number, text_table

__all__ = [
    "EstimateLine",
    "baseline_sentence",
    "estimate_line",
    "estimates_text",
    "headline_sentence",
]


def headline_sentence(model: str, headline: Estimate) -> str:
    """Return the headline in plain words.

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
    shown = headline.on_scale()
    turned = shown.loss != headline.loss
    if turned:
        text = f"{model} has an expected {shown.loss} of {shown.value:.4g} on new cases"
    elif shown.loss in RATES:
        text = f"{model} is expected to misclassify {percent_or_number(shown.value, shown.loss)} of new cases"
    else:
        what = shown.loss if shown.loss == "cost" else f"{shown.loss} loss"
        text = f"{model} has an expected {what} of {percent_or_number(shown.value, shown.loss)} on new cases"
    if shown.interval is None:
        text += " (no valid interval exists here)"
    else:
        ends = (f"{v:.4g}" if turned else percent_or_number(v, shown.loss) for v in shown.interval)
        text += f" ({100 * shown.interval.level:g}% interval {' to '.join(ends)})"
    return f"{text}. This is the {shown.loss if turned else 'error'} of {headline.target}."


def baseline_sentence(baseline: Estimate, task: str) -> str:
    """Return what guessing would give."""
    shown = baseline.on_scale()
    guess = "the most frequent class" if task == "classification" else "the mean"
    value = percent_or_number(shown.value, baseline.loss) + ("" if shown.loss == baseline.loss else f" {shown.loss}")
    return f"For comparison, always guessing {guess} has {value} on the same test parts."


@dataclass(frozen=True, kw_only=True)
class EstimateLine:
    """One estimate as text, cell by cell; None if there is nothing to show."""

    method: str
    value: str
    interval: str | None
    agrees: str | None
    expected_rms: str | None
    fits: str
    target: str


def estimate_line(
    row: Mapping[str, Any], number: Callable[[float], str], small: Callable[[float], str]
) -> EstimateLine:
    """Return a row of `Assessment.rows()` as text.

    Parameters
    ----------
    row : mapping
        One row.
    number, small : callable
        How errors are written, and how the expected RMS is.

    Examples
    --------
    >>> row = {"method": "kfold", "estimate": 0.25, "lower": 0.2, "upper": 0.3, "agrees": True, "fits": 10,
    ...        "expected_rms": None, "target": "the algorithm trained on 90 rows"}
    >>> line = estimate_line(row, "{:.2f}".format, "{:.1f}".format)
    >>> line.value, line.interval, line.agrees, line.expected_rms
    ('0.25', '0.20 to 0.30', 'yes', None)
    """
    return EstimateLine(
        method=row["method"],
        value=number(row["estimate"]),
        interval=None if row["lower"] is None else f"{number(row['lower'])} to {number(row['upper'])}",
        agrees={True: "yes", False: "no", None: None}[row["agrees"]],
        expected_rms=None if row["expected_rms"] is None else small(row["expected_rms"]),
        fits=str(row["fits"]),
        target=row["target"],
    )


def estimates_text(rows: Sequence[Mapping[str, Any]], scale: str) -> str:
    """Return the rows of an assessment as a text table; `scale` is "error" or the name of a score."""
    lines = [estimate_line(row, "{:.4f}".format, "{:.3f}".format) for row in rows]
    columns = {"method": "method", "value": scale, "interval": "interval", "fits": "fits", "agrees": "agrees"}
    if any(line.expected_rms is not None for line in lines):
        columns["expected_rms"] = "expected RMS"
    return text_table([vars(line) for line in lines], {**columns, "target": f"{scale} of"})
