"""What `unseen.assess` returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any, ClassVar

from unseen.assessment.improvement import still_improves
from unseen.assessment.wording import (
    WIDTH,
    also_sentence,
    compare_with_guessing,
    estimate_line,
    fit_notes,
    headline_sentence,
    in_units,
    interval_picture,
    name_in_words,
    narrow_sentence,
    shown_model,
    value_in_units,
    verdict_sentence,
)
from unseen.core.data import Data
from unseen.core.distribution import ErrorDistribution
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.losses import LossTable
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.core.trust import Trust, trust
from unseen.evaluation.slices import Slices
from unseen.show.style import quantity
from unseen.show.text import text_table

__all__ = ["Assessment"]

MOST_LINES = 12  # of the first screen
LONGEST_LABEL = 20  # characters of the positive class on the first screen
HEAVY_TAILS = "U040"
OF = {"model": "this model", "algorithm": "the algorithm, at its training size"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment(Result):
    """An error estimate with its interval, everything that supports it, and how to repeat it.

    Parameters
    ----------
    headline : Estimate
        The estimate whose value, interval and target are `error`, `interval` and `target`.
    estimates : mapping of str to Estimate
        Every estimate by method id, the headline's included.
    baseline : Estimate
        The first run's method for the majority class or the mean; the interval of a majority class is Wilson's.
    tables : mapping of str to LossTable
        Losses by design id.
    data : Data
        The sample.
    model : str
        Description of the model.
    settings : mapping
        Seed, effort, designs, level, versions and how to repeat the run.
    notes : tuple of Note
        Statistical weaknesses of data and run.
    seconds : float
        Wall time.
    also : mapping of str to Estimate
        By id, the headlines of the other measures asked for, from the same predictions; for numbers MAE and R2.
    slices : Slices or None
        The headline's measure in each slice, if `by` was given.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> a = unseen.assess(GaussianNB(), X, y, random_state=0, effort="quick")
    >>> low, high = a.interval
    >>> low <= a.error <= high, str(a.target)
    (True, 'this model trained on 150 rows')
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    headline: Estimate
    estimates: Mapping[str, Estimate]
    baseline: Estimate
    tables: Mapping[str, LossTable]
    data: Data
    model: str
    settings: Mapping[str, Any]
    notes: tuple[Note, ...] = ()
    seconds: float = 0.0
    also: Mapping[str, Estimate] = field(default_factory=dict)
    slices: Slices | None = None

    @property
    def command(self) -> str:
        """Command line or call that made it."""
        return str(self.settings.get("repeat", ""))

    @property
    def error(self) -> float:
        """Value of the headline."""
        return self.headline.value

    @property
    def interval(self) -> Interval | None:
        """Interval of the headline."""
        return self.headline.interval

    @property
    def target(self) -> Target:
        """What the headline is the error of."""
        return self.headline.target

    @property
    def expected_rms(self) -> dict[str, float]:
        """By method id, the RMS it had against the true error on similar data sets; only methods that were studied."""
        return {m: e.expected_rms for m, e in self.estimates.items() if e.expected_rms is not None}

    @property
    def rounds(self) -> int:
        """Rounds of cross-validation behind the result; `rounds=` repeats them, whatever cut them short. 0 if there are none."""
        return int(self.settings["effort"]["repeats"]) if "repeated-kfold" in self.tables else 0

    @property
    def complete(self) -> bool:
        """Whether nothing was interrupted."""
        return all(n.code != "U018" for n in self.notes)

    @property
    def trust(self) -> Trust:
        """Whether the headline can be trusted: its `ok` is False if a note is an alarm, and its `reasons` say why."""
        return trust(self.notes)

    @property
    def distribution(self) -> ErrorDistribution | None:
        """Distribution of the error over leave-out splits."""
        table = self.tables.get("leave-out")
        if table is None:
            return None
        n_test, n_train = table.plan.mean_sizes()
        return ErrorDistribution(
            table.split_means(),
            table.loss,
            plan=table.plan.fingerprint,
            n_train=n_train,
            n_test=n_test,
            model=self.model,
        )

    @property
    def title(self) -> str:
        """Title of the report."""
        return f"Expected {self._what} of {self.model}"

    def sentence(self) -> str:
        """Return the headline in plain words, after the reasons not to trust it if there are any."""
        return self.trust.before(self.plain_sentence())

    def plain_sentence(self) -> str:
        """Return the headline in plain words, without a warning before it."""
        return headline_sentence(shown_model(self.model), self.headline, self.also)

    @property
    def against_guessing(self) -> str:
        """How the model compares with guessing: "better", "worse", "not distinguishable"; empty without an interval."""
        return compare_with_guessing(self.headline, self.baseline)

    def verdict(self) -> str:
        """Return how the model compares with guessing, in a sentence."""
        return verdict_sentence(self.headline, self.baseline, self.data.task)

    @property
    def curve_improves(self) -> bool:
        """Whether the learning curve still improves at its end, by more than chance: the corrected t over its repetitions."""
        table = self.tables.get("learning-curve")
        return table is not None and still_improves(table)

    def narrow(self) -> str:
        """Return what would narrow the interval, in a sentence; empty if that is not known."""
        if not self.trust.ok or any(n.code == HEAVY_TAILS for n in self.headline.notes):
            return (
                ""  # no number of rows helps a number that cannot be trusted, or halves an interval that does not hold
            )
        unit = self.data.unit
        if self.settings.get("effort", {}).get("rows"):
            return f"The {unit}s that were left out would narrow the interval: give a larger budget, or none."
        return narrow_sentence(self.interval, self.data.n_units, unit, self.curve_improves, self._what)

    def _headline_on_scale(self) -> dict[str, Any]:
        """Return the headline on the scale that was asked for."""
        shown = self.headline.on_scale()
        low, high = (None, None) if shown.interval is None else shown.interval
        return {"name": shown.loss, "value": shown.value, "lower": low, "upper": high}

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per estimate, the headline first, then by what they are the error of; scores as scores."""
        rows = [{**e.on_scale().row(), "expected_rms": e.expected_rms} for e in self.ordered()]
        guess = {**self.baseline.on_scale().row(), "method": "baseline", "expected_rms": None}
        return [*rows, guess]

    def ordered(self) -> list[Estimate]:
        """Return the estimates, the headline first, then those of the same target, then the others; each method once."""
        # a rule that chose a method shown already adds nothing
        distinct = {e.method: e for e in reversed(list(self.estimates.values()))} | {
            self.headline.method: self.headline
        }
        order = [self.headline.method, *(m for m in dict.fromkeys(e.method for e in self.estimates.values()))]
        found = [distinct[m] for m in dict.fromkeys(order)]
        return sorted(found, key=lambda e: (e is not self.headline, e.target.kind != self.target.kind))

    def table(self) -> str:
        """Return all estimates as text, grouped by what each is the error of."""
        found = self.ordered()
        rms = {"expected_rms": "expected RMS"} if self.expected_rms else {}
        columns = {"method": "method", "value": self._what, "interval": "interval", "fits": "fits", **rms}
        parts = []
        for kind in dict.fromkeys(e.target.kind for e in found):
            lines = [estimate_line(e.method, e) for e in found if e.target.kind == kind]
            if kind == self.baseline.target.kind:
                lines.append(estimate_line("guessing", self.baseline))
            shown = columns if kind == "model" else {**columns, "trained_on": "trained on"}
            heading = f"{self._what[:1].upper()}{self._what[1:]} of {OF[kind]}"
            parts.append(f"{heading}\n{text_table([vars(line) for line in lines], shown, indent='  ')}")
        return "\n\n".join(parts)

    @property
    def scale(self) -> str:
        """What is shown: "error", or the name of the score if a measure such as AUC was asked for."""
        name = self.headline.on_scale().loss
        return "error" if name == self.headline.loss else name

    @property
    def _what(self) -> str:
        """What is shown, in words."""
        return quantity(self.headline.on_scale().loss)

    def _measures(self) -> dict[str, dict[str, Any]]:
        """Return each measure asked for, the headline's first, in the units people think in."""
        found = {in_units(self.headline).loss: self.headline, **self.also}
        made = {}
        for name, e in found.items():
            shown = in_units(e)
            low, high = (None, None) if shown.interval is None else shown.interval
            made[name] = {
                "value": shown.value,
                "lower": low,
                "upper": high,
                "method": shown.method,
                "target": str(shown.target),
                "notes": [n.to_dict() for n in e.notes],
            }
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the tables as plain values."""
        spread = self.distribution
        optimism = {
            name: t.rows() for name, t in self.tables.items() if name == self.headline_design and t.train is not None
        }
        result: dict[str, Any] = plain(
            {
                "error": self.error,
                "interval": None if self.interval is None else list(self.interval),
                "level": self.settings["level"],
                "target": str(self.target),
                "sentence": self.sentence(),
                "trust": self.trust.ok,
                "trust_reasons": list(self.trust.reasons),
                "against_guessing": self.against_guessing or None,
                "verdict": self.verdict(),
                "narrow": self.narrow(),
                "model": self.model,
                "loss": self.headline.loss,
                "measure": self._headline_on_scale(),
                "measures": self._measures(),
                "n": self.data.n,
                "n_units": self.data.n_units,
                "classes": None if self.data.classes is None else self.data.classes.tolist(),
                "positive": self.data.positive,
                "estimates": {m: e.to_dict() for m, e in self.estimates.items()},
                "baseline": self.baseline.to_dict(),
                "expected_rms": dict(self.expected_rms),
                "distribution": None if spread is None else spread.to_dict(),
                "splits": optimism,
                **({} if self.slices is None else {"slices": self.slices.to_dict()}),
                "notes": [n.to_dict() for n in self.notes],
                "complete": self.complete,
                "settings": dict(self.settings),
                "seconds": self.seconds,
            }
        )
        return result

    @property
    def headline_design(self) -> str:
        """Design id of the headline's table."""
        return str(self.settings["headline_design"])

    def one_line(self) -> str:
        """Return model, value, interval and target in one line."""
        shown = in_units(self.headline)
        span = "" if shown.interval is None else f", {100 * shown.interval.level:g}% interval {shown.interval}"
        doubt = "" if self.trust.ok else " (not to be trusted)"
        return f"{shown_model(self.model)}: {name_in_words(self.headline.loss)} {shown.value:.4g}{span}, {self.target}{doubt}"

    def __str__(self) -> str:
        verdict = self.verdict()
        scores = any(e.on_scale().loss != e.loss for e in (self.headline, *self.also.values()))
        if scores and self.data.classes is not None and len(self.data.classes) == 2:
            verdict += f" Positive class: {shown_model(str(self.data.positive), LONGEST_LABEL)}."
        drawn = interval_picture(in_units(self.headline), in_units(self.baseline), self._range())
        also = also_sentence(self.headline, self.also)
        texts = [wrap(self.sentence(), WIDTH), [drawn] if drawn else [], wrap(verdict, WIDTH), wrap(also, WIDTH)]
        lines = [line for text in texts for line in text]
        narrow = wrap(self.narrow(), WIDTH)
        if len(lines) + len(narrow) + bool(self.notes) <= MOST_LINES:  # a warning comes before advice
            lines += narrow
        below = [] if self.slices is None else ["", *wrap(self.slices.sentence(), WIDTH), self.slices.table()]
        return "\n".join([*lines, *fit_notes(self.notes, max(MOST_LINES - len(lines), 1)), *below])

    def _range(self) -> tuple[float, float]:
        """Return the smallest and the largest value the headline can have, in the units people think in."""
        table = next(iter(self.tables.values()), None)
        low, high = (-math.inf, math.inf) if table is None or table.loss != self.headline.loss else table.range
        ends = sorted(value_in_units(self.headline.loss, float(v))[1] for v in (low, high))
        return ends[0], ends[1]
