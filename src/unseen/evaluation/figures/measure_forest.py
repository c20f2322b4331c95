"""All measures of a set of predictions that share the range 0 to 1, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen.core.scale import measure_name
from unseen.evaluation.measure_record import Measures
from unseen.evaluation.slices import SHARES
from unseen.show.figures import Figure, figure
from unseen.show.style import GREY, MAIN, OTHER, label, tidy

__all__ = ["MeasureForestInfo", "measure_in_words"]

# more lines make the figure taller than a page
MOST_LINES = 40
NEUTRAL = "; the upright stroke marks what scores without information would get"


@dataclass(frozen=True, kw_only=True)
class MeasureForestInfo:
    """Names, values and interval ends, one line each, the value of guessing (None if it depends on the data), and whether it is in per cent."""

    labels: tuple[str, ...]
    values: tuple[float, ...]
    ends: tuple[tuple[float, float] | None, ...]
    neutral: tuple[float | None, ...]
    shares: tuple[bool, ...]
    caption: str
    size: tuple[float, float]

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        return "; ".join(f"{name} {value:.3g}" for name, value in zip(self.labels[:8], self.values))


def info(m: Measures) -> MeasureForestInfo | None:
    """Return the measures between 0 and 1 that the answer shows."""
    from unseen.core.registry import classes_in

    classes = classes_in("measures")
    rows = []
    for name, e in (m.estimates if m.cases.outputs else m.known).items():
        cls = classes.get(name.split("[")[0].split(" at ")[0])
        if cls is not None and cls.range == (0.0, 1.0):
            rows.append((name, e, cls.neutral))
    rows = rows[:MOST_LINES]
    if not rows:
        return None
    ends = tuple(None if e.interval is None else (e.interval.low, e.interval.high) for _, e, _ in rows)
    return MeasureForestInfo(
        labels=tuple(measure_in_words(name) for name, _, _ in rows),
        values=tuple(e.value for _, e, _ in rows),
        ends=ends,
        neutral=tuple(n for _, _, n in rows),
        shares=tuple(name.split("[")[0].split(" at ")[0] in SHARES for name, _, _ in rows),
        caption=f"Points with their confidence intervals{'' if all(n is None for _, _, n in rows) else NEUTRAL}.",
        size=(7.0, 0.9 + 0.26 * len(rows)),
    )


def measure_in_words(name: str) -> str:
    """Return the name of a measure as sentences have it, with the class or the prevalence that it belongs to.

    Examples
    --------
    >>> measure_in_words("sensitivity[no finding at all]"), measure_in_words("positive-predictive-value at 10%")
    ('sensitivity of no finding at all', 'positive predictive value at 10%')
    """
    base = name.split("[")[0].split(" at ")[0]
    inside, closed, after = name[len(base) :].removeprefix("[").rpartition("]")
    return f"{measure_name(base)} of {inside}{after}" if closed else measure_name(base) + name[len(base) :]


def draw(numbers: MeasureForestInfo, ax: Any) -> None:
    """Draw one point and interval per measure."""
    tidy(ax, "x")
    for k, (value, ends, neutral) in enumerate(zip(numbers.values, numbers.ends, numbers.neutral)):
        if ends is not None:
            ax.plot(ends, [-k, -k], color=MAIN, linewidth=2.4, solid_capstyle="butt")
        ax.plot(value, -k, "o", color=MAIN, markersize=6, markerfacecolor=MAIN if ends is not None else "none")
        if neutral is not None:
            ax.plot([neutral], [-k], "|", color=OTHER, markersize=11, markeredgewidth=2)
    ax.set_yticks([-k for k in range(len(numbers.labels))], [label(text, 44) for text in numbers.labels])
    ax.set_ylim(-len(numbers.labels) + 0.4, 0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.axvline(0, color=GREY, linewidth=0.6)
    ax.axvline(1, color=GREY, linewidth=0.6)
    if all(numbers.shares):
        ax.xaxis.set_major_formatter(lambda value, place: f"{round(100 * value, 6):g}%")
        ax.set_xlabel("share of cases")
    else:
        ax.set_xlabel("value (0.5 is 50%)" if any(numbers.shares) else "value")


figure(
    Figure(
        name="measures",
        record=Measures,
        info=info,
        draw=draw,
        title="Measures",
        caption=f"Points with their confidence intervals{NEUTRAL}.",
        order=20,
    )
)
