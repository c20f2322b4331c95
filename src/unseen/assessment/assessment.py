"""What `unseen.assess` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.assessment.wording import baseline_sentence, estimates_text, headline_sentence
from unseen.core.data import Data
from unseen.core.distribution import ErrorDistribution
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.losses import LossTable
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.core.trust import Trust, trust

__all__ = ["Assessment"]


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
        The same method for the majority class or the mean.
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
        return f"Expected {self.scale} of {self.model}"

    def agrees(self, method: str) -> bool | None:
        """Say whether an estimate lies inside the headline's interval."""
        return None if self.interval is None else self.estimates[method].value in self.interval

    def sentence(self) -> str:
        """Return the headline in plain words, after the reasons not to trust it if there are any."""
        return self.trust.before(headline_sentence(self.model, self.headline))

    def _headline_on_scale(self) -> dict[str, Any]:
        """Return the headline on the scale that was asked for."""
        shown = self.headline.on_scale()
        low, high = (None, None) if shown.interval is None else shown.interval
        return {"name": shown.loss, "value": shown.value, "lower": low, "upper": high}

    def baseline_sentence(self) -> str:
        """Return how the model compares with guessing."""
        return baseline_sentence(self.baseline, self.data.task)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per estimate, the headline first, with whether it agrees with the headline; scores as scores."""
        order = [self.headline.method, *(m for m in self.estimates if m != self.headline.method)]
        rows = [
            {
                **self.estimates[m].on_scale().row(),
                "agrees": self.agrees(m),
                "expected_rms": self.estimates[m].expected_rms,
            }
            for m in order
        ]
        guess = {**self.baseline.on_scale().row(), "method": "baseline", "agrees": None, "expected_rms": None}
        return [*rows, guess]

    @property
    def scale(self) -> str:
        """What the rows show: "error", or the name of the score if a measure such as AUC was asked for."""
        name = self.headline.on_scale().loss
        return "error" if name == self.headline.loss else name

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
                "model": self.model,
                "loss": self.headline.loss,
                "measure": self._headline_on_scale(),
                "n": self.data.n,
                "n_units": self.data.n_units,
                "classes": None if self.data.classes is None else self.data.classes.tolist(),
                "positive": self.data.positive,
                "estimates": {m: e.to_dict() | {"agrees": self.agrees(m)} for m, e in self.estimates.items()},
                "baseline": self.baseline.to_dict(),
                "expected_rms": dict(self.expected_rms),
                "distribution": None if spread is None else spread.to_dict(),
                "splits": optimism,
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

    def __str__(self) -> str:
        lines = [self.sentence(), self.baseline_sentence()]
        if self.data.classes is not None and len(self.data.classes) == 2:
            lines.append(f"Positive class: {self.data.positive}.")
        if len(self.estimates) > 1:
            lines += ["", estimates_text(self.rows(), self.scale)]
        if (spread := self.distribution) is not None:
            parts = ", ".join(f"{k} {v:.4g}" for k, v in spread.summary().items())
            what = "Error" if self.scale == "error" else spread.loss
            lines += ["", f"{what} over {len(spread.values)} leave-out splits: {parts}"]
        lines += ["", *(str(n) for n in self.notes)] if self.notes else []
        return "\n".join(lines)
