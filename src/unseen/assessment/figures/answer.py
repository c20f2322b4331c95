"""The headline with its interval against guessing, over the whole width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.assessment.assessment import Assessment
from unseen.assessment.figures.estimates import PAGE
from unseen.assessment.wording import in_units
from unseen.core.estimate import Estimate
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, axis_name, percent, tidy
from unseen.show.text import percent_or_number

__all__ = ["AnswerInfo"]


@dataclass(frozen=True, kw_only=True)
class AnswerInfo:
    """Value and ends (None without a valid interval) of the headline and of guessing, and what the headline is the error of."""

    value: float
    ends: tuple[float, float] | None
    guess: float
    guess_ends: tuple[float, float] | None
    level: float
    loss: str
    of: str

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return f"{self.words(self.value, self.ends)}; guessing {self.words(self.guess, self.guess_ends)}"

    def words(self, value: float, ends: tuple[float, float] | None) -> str:
        """Return a value with its interval as text."""
        text = percent_or_number(value, self.loss)
        return text if ends is None else f"{text} ({' to '.join(percent_or_number(v, self.loss) for v in ends)})"


def info(a: Assessment) -> AnswerInfo:
    """Return the headline and the baseline."""
    shown, guess = in_units(a.headline), in_units(a.baseline)
    return AnswerInfo(
        value=shown.value,
        ends=_ends(shown),
        guess=guess.value,
        guess_ends=_ends(guess),
        level=float(a.settings["level"]),
        loss=shown.loss,
        of="this model" if a.target.kind == "model" else "the algorithm",
    )


def _ends(e: Estimate) -> tuple[float, float] | None:
    return None if e.interval is None else (e.interval.low, e.interval.high)


def draw(numbers: AnswerInfo, ax: Any) -> None:
    """Draw both as a point on a line; a hollow point has no valid interval."""
    tidy(ax, "x")
    parts = (
        (1, numbers.value, numbers.ends, MAIN, "o", 5.0, numbers.of),
        (0, numbers.guess, numbers.guess_ends, GREY, "s", 2.0, "guessing"),
    )
    for at, value, ends, colour, marker, width, _ in parts:
        if ends is not None:
            ax.plot(ends, [at, at], color=colour, linewidth=width, solid_capstyle="butt")
        face = "none" if ends is None else colour
        ax.plot([value], [at], marker=marker, color=colour, markerfacecolor=face, markersize=9)
        ax.annotate(
            numbers.words(value, ends), (value, at), (0, 9), textcoords="offset points", ha="center", va="bottom"
        )
    ax.set_yticks([at for at, *_ in parts], [name for *_, name in parts])
    ax.set_ylim(-0.5, 1.75)
    ax.margins(x=0.12)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(axis_name(numbers.loss))
    percent(ax.xaxis, numbers.loss)


figure(
    Figure(
        name="answer",
        record=Assessment,
        info=info,
        draw=draw,
        title="The answer against guessing",
        caption="",
        size=(PAGE, 1.9),
        order=15,
    )
)
