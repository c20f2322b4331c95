"""The report of a single estimate, and of a result that registered nothing."""

from __future__ import annotations

from dataclasses import dataclass

from unseen.core.estimate import Estimate, Interval, ResubEstimate, Target
from unseen.core.notes import note
from unseen.core.result import Result
from unseen.show import build, render
from unseen.show.sections import Picture, Table, Text

ALGORITHM = Target.ALGORITHM.at(90)
ONE = Estimate(
    value=0.2,
    std_error=0.05,
    interval=Interval(0.1, 0.3, 0.95),
    df=24,
    method="corrected-t",
    target=ALGORITHM,
    loss="zero-one",
    n_units=100,
    n_fits=25,
)


def lead(result):
    return next(b.text for b in build(result)[0].blocks if isinstance(b, Text) and b.lead)


def test_the_answer_names_value_interval_and_target():
    assert lead(ONE) == (
        "Estimated share of cases misclassified: 20.0% (95% interval 10.0% to 30.0%). "
        "This is the error of the algorithm trained on 90 units."
    )
    assert any(isinstance(b, Picture) for b in build(ONE)[0].blocks)


def test_without_an_interval_none_is_claimed():
    bare = Estimate(
        value=3.5,
        std_error=None,
        interval=None,
        df=None,
        method="resub",
        target=Target.MODEL,
        loss="squared",
        n_units=100,
        n_fits=1,
    )
    assert "no valid interval" in lead(bare)
    assert "squared error: 3.5" in lead(bare)


def test_a_measure_that_is_no_error_is_not_called_one():
    area = Estimate(
        value=0.9,
        std_error=None,
        interval=Interval(0.8, 0.95, 0.95),
        df=None,
        method="bca",
        target=ALGORITHM,
        loss="auc",
        n_units=100,
        n_fits=25,
    )
    assert lead(area) == (
        "Estimated AUC: 0.9 (95% interval 0.8 to 0.95). This is the AUC of the algorithm trained on 90 units; higher is better."
    )


def test_a_monte_carlo_error_is_named_as_such():
    bolster = ResubEstimate(
        value=0.1,
        std_error=None,
        interval=None,
        df=None,
        method="bolster",
        target=Target.MODEL,
        loss="zero-one",
        n_units=100,
        n_fits=0,
        mc_error=0.0123,
    )
    numbers = next(s for s in build(bolster) if s.id == "numbers")
    rows = {row[0]: row[1] for row in next(b for b in numbers.blocks if isinstance(b, Table)).rows}
    assert rows["standard error (sampling)"] is None
    assert rows["Monte-Carlo error of the integration (not a sampling error)"] == 0.0123


def test_notes_appear_only_where_there_are_any():
    assert "notes" not in [s.id for s in build(ONE)]
    noted = Estimate(
        value=0.2,
        std_error=None,
        interval=None,
        df=None,
        method="resub",
        target=Target.MODEL,
        loss="zero-one",
        n_units=9,
        n_fits=1,
        notes=(note("U009", "9 units"),),
    )
    assert "9 units" in render("x", build(noted))


@dataclass(frozen=True)
class Unregistered(Result):
    """A result that no section was written for."""

    words: str = "<b>plain</b>"

    def rows(self):
        return [{"words": self.words}]


def test_a_result_without_sections_still_gets_a_page():
    html = render("Unregistered", build(Unregistered()))
    assert "&lt;b&gt;plain&lt;/b&gt;" in html
    assert "<b>plain" not in html
