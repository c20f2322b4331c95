"""What `unseen.disagree` returns: where two classifiers disagree, and what labels of those points say."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from unseen.core.errors import InputError
from unseen.core.estimate import Interval
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.evaluation.disagreement import binomial_interval

__all__ = ["REQUEST_COLUMNS", "Disagreement", "LabelledDisagreement"]

REQUEST_COLUMNS = (
    "id",
    "first",
    "second",
    "label",
    "n_points",
    "n_disagree",
    "n_classes",
    "first_name",
    "second_name",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Disagreement(Result):
    """Two classifiers on the same unlabelled points.

    Parameters
    ----------
    first, second : str
        Names of the classifiers.
    n, n_disagree, n_classes : int
        Points, points with two different predictions, and different labels predicted.
    request : tuple of (id, first label, second label)
        Random sample of the disagreements to be labelled, in random order.
    level : float
        Confidence level.
    notes : tuple of Note
        Remarks.
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    first: str
    second: str
    n: int
    n_disagree: int
    n_classes: int
    request: tuple[tuple[Any, str, str], ...]
    level: float
    notes: tuple[Note, ...] = ()

    @property
    def title(self) -> str:
        """Heading of the report."""
        return f"Disagreement of {self.first} and {self.second}"

    @property
    def share(self) -> float:
        """Share p of the points on which the two disagree; their accuracies differ by at most this."""
        return self.n_disagree / self.n

    @property
    def interval(self) -> Interval:
        """Exact interval of that share for new points like these."""
        return Interval(*binomial_interval(self.n_disagree, self.n, self.level), self.level)

    @property
    def saved(self) -> int:
        """Labels saved against labelling every point."""
        return self.n - len(self.request)

    def request_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the file to be labelled; the column `label` is empty."""
        fixed = (self.n, self.n_disagree, self.n_classes, self.first, self.second)
        return [dict(zip(REQUEST_COLUMNS, (key, a, b, "", *fixed))) for key, a, b in self.request]

    def write(self, path: str | PathLike[str]) -> str:
        """Write the request as CSV; fill in its column `label` and hand it to `unseen.disagree(labelled=path)`."""
        target = Path(path)
        try:
            with target.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, REQUEST_COLUMNS)
                writer.writeheader()
                writer.writerows(self.request_rows())
        except OSError as error:
            raise InputError(f"cannot write the request to {str(path)!r}: {error.strerror or error}.") from error
        return str(target)

    def labelled(self, labels: Mapping[Any, Any]) -> LabelledDisagreement:
        """Return what the labels say; `labels` maps the ids of requested points to their true labels."""
        from unseen.evaluation.disagree import from_rows

        given = {str(k): v for k, v in labels.items()}
        rows = [{**row, "label": given.get(str(row["id"]), "")} for row in self.request_rows()]
        return from_rows(rows, self.level, "the labels")

    def rows(self) -> list[dict[str, Any]]:
        """Return one row."""
        low, high = self.interval
        return [
            {
                "first": self.first,
                "second": self.second,
                "n": self.n,
                "n_disagree": self.n_disagree,
                "share": self.share,
                "lower": low,
                "upper": high,
                "level": self.level,
                "bound": self.share,
                "requested": len(self.request),
                "saved": self.saved,
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the row, the ids to label and the notes."""
        return {
            **plain(self.rows()[0]),
            "request": plain([key for key, _, _ in self.request]),
            "notes": plain(self.notes),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.first} and {self.second} disagree on {self.n_disagree} of {self.n} points ({self.share:.2%}; for new "
            f"points {100 * self.level:g}% interval {self.interval}).",
            f"Whatever the labels, their accuracies on these points differ by at most {self.share:.4g}.",
        ]
        if self.request:
            lines.append(
                f"{len(self.request)} of the disagreements are to be labelled, which saves {self.saved} labels."
            )
        return "\n".join([*lines, *map(str, self.notes)])


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledDisagreement(Result):
    """Accuracy of the first classifier minus that of the second, from labels of a random part of their disagreements.

    Parameters
    ----------
    first, second : str
        Names of the classifiers.
    n, n_disagree : int
        Points, and points with two different predictions.
    first_right, second_right, both_wrong : int
        Labelled disagreements by who was right.
    two_classes : bool
        Whether one of the two must be right.
    interval : Interval
        For the points of this file, labelled or not.
    population : Interval
        For new points like these.
    notes : tuple of Note
        Remarks.
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    first: str
    second: str
    n: int
    n_disagree: int
    first_right: int
    second_right: int
    both_wrong: int
    two_classes: bool
    interval: Interval
    population: Interval
    notes: tuple[Note, ...] = ()

    @property
    def title(self) -> str:
        """Heading of the report."""
        return f"Accuracy of {self.first} minus {self.second}"

    @property
    def labels(self) -> int:
        """Labelled disagreements."""
        return self.first_right + self.second_right + self.both_wrong

    @property
    def share(self) -> float:
        """Share p of the points on which the two disagree."""
        return self.n_disagree / self.n

    @property
    def delta(self) -> float:
        """Difference of the accuracies where the two disagree."""
        return (self.first_right - self.second_right) / self.labels if self.labels else 0.0

    @property
    def difference(self) -> float:
        """Accuracy of the first minus accuracy of the second: p times `delta`."""
        if not self.labels:
            return 0.0
        return self.n_disagree * (self.first_right - self.second_right) / (self.labels * self.n)

    @property
    def saved(self) -> int:
        """Labels saved against labelling every point."""
        return self.n - self.labels

    @property
    def equivalent_sample(self) -> float:
        """Labels a plain random sample of all points would need to hold as many disagreements."""
        return self.labels / self.share if self.share else float("inf")

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for the points of this file and one for new points."""
        shared = {"first": self.first, "second": self.second, "difference": self.difference}
        rest = {"labels": self.labels, "n_disagree": self.n_disagree, "n": self.n, "saved": self.saved}
        return [
            {**shared, "lower": i.low, "upper": i.high, "level": i.level, "of": what, **rest}
            for what, i in (("these points", self.interval), ("new points", self.population))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return rows, counts and notes."""
        counts = {k: getattr(self, k) for k in ("first_right", "second_right", "both_wrong", "two_classes")}
        more = {"share": self.share, "delta": self.delta, "equivalent_sample": self.equivalent_sample}
        return {
            **plain(self.rows()[0]),
            "intervals": plain(self.rows()),
            **counts,
            **plain(more),
            "notes": plain(self.notes),
        }

    def __str__(self) -> str:
        level = f"{100 * self.interval.level:g}%"
        lines = [
            f"accuracy of {self.first} minus {self.second}: {self.difference:+.4g}",
            f"  on these {self.n} points, {level} interval {self.interval}",
            f"  for new points,  {level} interval {self.population}",
            f"{self.labels} labels: {self.first} alone right {self.first_right}, {self.second} alone right "
            f"{self.second_right}, both wrong {self.both_wrong}; the two disagree on {self.share:.2%} of the points.",
            f"{self.saved} labels saved against labelling everything; a plain random sample would need about "
            f"{self.equivalent_sample:.0f} labels to hold as many disagreements.",
        ]
        return "\n".join([*lines, *map(str, self.notes)])
