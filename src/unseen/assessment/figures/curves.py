"""ROC, precision and recall, and calibration of two classes, from predictions of models that had not seen the case."""

from __future__ import annotations

from typing import Any

from unseen.assessment.assessment import Assessment
from unseen.assessment.figures._tables import CROSS_VALIDATED
from unseen.core.errors import InputError
from unseen.evaluation.figures.calibration import ReliabilityInfo, of_measures
from unseen.evaluation.figures.calibration import draw as draw_calibration
from unseen.evaluation.figures.decision_curve import draw as draw_decision
from unseen.evaluation.figures.decision_curve import of_measures as decision_info
from unseen.evaluation.figures.roc import PrecisionInfo, RocInfo, draw_precision, precision_info
from unseen.evaluation.figures.roc import draw as draw_roc
from unseen.evaluation.figures.roc import info as roc_info
from unseen.evaluation.measure import measure
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.scored_cases import one_round
from unseen.show.figures import Figure, figure

__all__ = ["measures_of"]

SIZE = (4.6, 3.3)  # two in a row of a page
SHOWN = ("sensitivity", "false-alarm-rate")  # the decision made, a point of the ROC curve
RESAMPLES = 500  # of the one bootstrap behind them, the interval of average precision


def measures_of(a: Assessment) -> Measures | None:
    """Return the measures of one round of cross-validation; None if there are no scores of two classes."""
    table = next((a.tables[name] for name in CROSS_VALIDATED if name in a.tables), None)
    if table is None or a.data.classes is None or len(a.data.classes) != 2 or table.source[0].test.score is None:
        return None
    found = one_round(table.source[0])
    if not len(found.test):
        return None
    try:
        return measure(
            found,
            measures=SHOWN,
            level=float(a.settings["level"]),
            n_bootstrap=RESAMPLES,
            random_state=int(a.settings["seed"]),
        )
    except InputError:  # too few cases of a class were tested
        return None


def _info_of(make: Any) -> Any:
    def info(a: Assessment) -> Any:
        found = measures_of(a)
        return None if found is None else make(found)

    return info


def draw_small_roc(numbers: RocInfo, ax: Any) -> None:
    """Draw the ROC curve with its legend in the corner that a useful curve leaves free."""
    draw_roc(numbers, ax)
    ax.set_aspect("auto")
    ax.legend(loc="lower right", frameon=False)


def draw_small_precision(numbers: PrecisionInfo, ax: Any) -> None:
    """Draw precision and recall with the legend in the corner that a useful curve leaves free."""
    draw_precision(numbers, ax)
    ax.legend(loc="lower left", frameon=False)


def draw_small_calibration(numbers: ReliabilityInfo, ax: Any) -> None:
    """Draw the calibration over the whole width."""
    draw_calibration(numbers, ax)
    ax.set_aspect("auto")


for name, title, make, draw, caption, order in (
    ("roc", "ROC curve", roc_info, draw_small_roc, "The band holds the whole true curve with this confidence.", 52),
    (
        "precision-recall",
        "Precision and recall",
        precision_info,
        draw_small_precision,
        "Share of positives among the cases called positive; the shade holds pointwise Wilson limits.",
        54,
    ),
    (
        "calibration",
        "Calibration",
        of_measures,
        draw_small_calibration,
        "Calibrated probabilities lie on the dashed line; the shade holds the whole true curve.",
        56,
    ),
    (
        "decision-curve",
        "Decision curve",
        decision_info,
        draw_decision,
        "Where the shade lies above both other lines, acting on the probabilities helps.",
        58,
    ),
):
    figure(
        Figure(
            name=name,
            record=Assessment,
            info=_info_of(make),
            draw=draw,
            title=title,
            caption=f"{title}. {caption}",
            size=SIZE,
            order=order,
        )
    )
