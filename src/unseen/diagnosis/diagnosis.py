"""What `unseen.diagnose` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.core.data import Data
from unseen.core.losses import LossTable
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.diagnosis.coefficients import Coefficients
from unseen.diagnosis.dependence import Dependence
from unseen.diagnosis.importance import Importance
from unseen.diagnosis.learning_curve import LearningCurveFit
from unseen.diagnosis.noise import NoiseTolerance
from unseen.diagnosis.optimism import OptimismLink
from unseen.diagnosis.ranking import RankingStability
from unseen.diagnosis.units import UnitReport
from unseen.show.text import RATES, percent_or_number, three_digits

__all__ = ["Diagnosis"]

SHOWN = 10  # units named in the text; the report lists more


@dataclass(frozen=True, eq=False, kw_only=True)
class Diagnosis(Result):
    """What resampling shows about a model beyond one number.

    Parameters
    ----------
    units : UnitReport
        Error and stability of every unit; hard and unstable ones.
    optimism : OptimismLink
        Optimism against training error over splits.
    coefficients : Coefficients or None
        If the model has them.
    curve : LearningCurveFit or None
        Learning curve and what it says of more data.
    noise : NoiseTolerance or None
        Error under growing noise.
    dependence : Dependence or None
        Test of any dependence at all.
    importance : Importance or None
        How much each column matters on unseen rows.
    ranking : RankingStability or None
        Where other models were given.
    table : LossTable
        The leave-out run behind units, optimism and coefficients.
    data, model, settings, notes
        The sample, the model's description, seed and effort, and remarks.
    command : str
        Command line or call that made it, if it is known.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("iris").xy
    >>> d = unseen.diagnose("lda", X, y, random_state=0, effort="quick")
    >>> len(d.units.units), d.dependence.p < 0.05, d.optimism.mean > 0
    (150, True, True)
    """

    shown_by: ClassVar[str] = "unseen.diagnosis"

    units: UnitReport
    optimism: OptimismLink
    coefficients: Coefficients | None
    curve: LearningCurveFit | None
    noise: NoiseTolerance | None
    dependence: Dependence | None
    importance: Importance | None
    ranking: RankingStability | None
    table: LossTable
    data: Data
    model: str
    settings: Mapping[str, Any]
    notes: tuple[Note, ...] = ()
    command: str = ""

    @property
    def title(self) -> str:
        """Title of the report."""
        return f"Diagnosis of {self.model}"

    def sentences(self) -> list[str]:
        """Return the findings in plain words."""
        return [s for s in (self._of_units(), self._of_optimism(), *self._of_rest()) if s]

    def _of_units(self) -> str:
        u = self.units
        what = "are missed by most splits" if u.task == "classification" else "have an outlying error"
        tested = (
            f"{len(u.units)} units"
            if len(u.units) == self.data.n_units
            else f"the {len(u.units)} units that were tested"
        )
        text = f"{len(u.hard)} of {tested} {what}"
        if u.task == "classification":
            return f"{text}; two models trained on different splits agree on {100 * u.stability:.1f}% of cases."
        return f"{text}; predictions of models trained on different splits vary with a standard deviation of {u.stability:.4g}."

    def _of_optimism(self) -> str:
        r = self.optimism.correlation
        tail = "" if r != r else f"; over splits, this optimism and the training error have a correlation of {r:.2f}"
        size = self.table.plan.mean_sizes()[1]
        head = f"Trained on {size:g} of the {self.data.n_units} units, a model's training error"
        if len(self.optimism.optimism) < 2:  # one split says nothing of how far another would be off
            return f"{head} is too small{tail}." if self.optimism.mean > 0 else ""
        mean, spread = (self._gap(float(v)) for v in (self.optimism.mean, self.optimism.optimism.std(ddof=1)))
        return f"{head} is too small by {mean} on average (standard deviation over splits {spread}){tail}."

    def _gap(self, value: float) -> str:
        return f"{100 * value + 0.0:.1f} points" if self.table.loss in RATES else three_digits(value)

    def _of_rest(self) -> list[str]:
        out = []
        if self.importance is not None:
            out.append(self.importance.sentence())
        if self.coefficients is not None:
            c = self.coefficients
            out.append(
                f"{int(c.near_zero.sum())} of {len(c.names)} coefficients cannot be distinguished from zero ({c.method})."
            )
        if self.curve is not None:
            n = self.data.n_units
            now, more, low, high = (
                percent_or_number(float(v), self.table.loss) for v in (self.curve.at(n)[0], *self.curve.at(2 * n))
            )
            limits = f"{100 * self.curve.level:g}% limits {low} to {high}, if it goes on as a power law"
            out.append(f"The learning curve gives {now} at {n} units and foresees {more} at {2 * n} ({limits}).")
        if self.noise is not None:
            k = self.noise
            words = [
                [percent_or_number(float(v[j]), self.table.loss) for v in (k.error, k.low, k.high)] for j in (0, -1)
            ]
            clean, noisy = (f"{value} ({low} to {high})" for value, low, high in words)
            within = f"in brackets the middle {100 * k.level:g}% of the bootstrap samples"
            out.append(
                f"With noise of {k.rates[-1]:g} in the {k.what} the error goes from {clean} to {noisy}, {within}."
            )
        if self.dependence is not None:
            d = self.dependence
            verdict = "depends" if d.p < 1 - self.settings["level"] else "is not shown to depend"
            out.append(f"The target {verdict} on the features (permutation test, {d.p_in_words}).")
        if self.ranking is not None:
            best, share = self.ranking.names[0], self.ranking.first[0]
            out.append(f"{best} is first in {100 * share:.0f}% of splits (mean Kendall tau {self.ranking.tau:.2f}).")
        return out

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per tested unit, hardest first."""
        order = sorted(range(len(self.units.units)), key=lambda k: -self.units.error[k])
        return self.units.table(order)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the table as plain values."""
        u = self.units
        result: dict[str, Any] = plain(
            {
                "model": self.model,
                "n": self.data.n,
                "n_units": self.data.n_units,
                "loss": self.table.loss,
                "findings": self.sentences(),
                "hard": u.table(u.hard),
                "unstable": u.table(u.unstable),
                "stability": u.stability,
                "optimism": {"mean": self.optimism.mean, "correlation_with_training_error": self.optimism.correlation},
                "coefficients": None if self.coefficients is None else self.coefficients.rows(),
                "importance": None if self.importance is None else self.importance.rows(),
                "learning_curve": self.curve,
                "noise": self.noise,
                "dependence": None
                if self.dependence is None
                else {"error": self.dependence.error, "p": self.dependence.p, "permuted": self.dependence.permuted},
                "ranking": self.ranking,
                "settings": dict(self.settings),
                "notes": list(self.notes),
            }
        )
        return result

    def __str__(self) -> str:
        lines = [self.title, *self.sentences()]
        hard = self.units.table(self.units.hard[:SHOWN])
        if hard:
            lines += ["", "Hardest units: " + ", ".join(f"{r['unit']} ({r['error']:.3g})" for r in hard)]
        return "\n".join([*lines, *(str(n) for n in self.notes)])
