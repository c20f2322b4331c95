"""`unseen.disagree`: compare two classifiers on unlabelled points, then label only points on which they disagree."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Interval, check_level
from unseen.core.notes import Note, note
from unseen.core.result import Result, plain
from unseen.core.rng import RandomState, root_seed, stream
from unseen.core.writing import written_whole
from unseen.datasets.frames import read_frame
from unseen.evaluation.prediction_files import column, is_missing, labels_of, match_rows, sources_by_name

__all__ = [
    "Disagreement",
    "LabelCounts",
    "LabelledDisagreement",
    "binomial_interval",
    "disagree",
    "file_interval",
    "hypergeometric_interval",
    "population_interval",
]


# usual names of the column that names a point, and of the column of predictions, the most telling first
IDS = ("id", "item", "name", "key", "uid")
PREDICTIONS = ("pred", "prediction", "yhat", "y_pred", "y_hat", "predicted", "label", "class", "answer")
# decimal predictions with more different values are numbers, not labels
MAX_NUMBERS = 50
# the exact intervals hold with any number of labels, but with fewer they are wide
FEW_LABELS = 30
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
# part of the error allowance spent on p, which rests on far more points than the labels do
SHARE_FOR_P = 0.1


def binomial_interval(hits: int, n: int, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for a share.

    Examples
    --------
    >>> [round(v, 4) for v in binomial_interval(2, 10, 0.95)]
    [0.0252, 0.5561]
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    return low, 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - tail))


def hypergeometric_interval(hits: int, sample: int, size: int, level: float) -> tuple[int, int]:
    """Return the numbers of marked units in a file of `size` that `hits` marked ones in a random sample do not reject.

    Parameters
    ----------
    hits, sample : int
        Marked units in the sample, and its size.
    size : int
        Units in the file.
    level : float
        Confidence level; each tail gets half of the rest.

    Examples
    --------
    >>> hypergeometric_interval(3, 10, 10, 0.95), hypergeometric_interval(0, 5, 100, 0.95)
    ((3, 3), (0, 51))
    """
    from scipy.stats import hypergeom

    tail = (1 - level) / 2
    least, most = hits, size - (sample - hits)
    # both tails are monotone in the number of marked units
    low = _first(lambda marked: hypergeom.sf(hits - 1, size, marked, sample) > tail, least, most)
    high = most - _first(lambda fewer: hypergeom.cdf(hits, size, most - fewer, sample) > tail, 0, most - least)
    return low, high


def _first(holds: Callable[[int], Any], low: int, high: int) -> int:
    """Return the smallest number from which on a condition holds; the last one is taken to hold."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


@dataclass(frozen=True, kw_only=True)
class LabelCounts:
    """What the labels of a random part of the disagreements showed.

    Parameters
    ----------
    first, second : int
        Labelled points that the first, or the second classifier alone got right.
    labels, differ, n : int
        Labelled points, points on which the two disagree, and all points.
    two_classes : bool
        Whether one of the two must be right if they disagree.
    """

    first: int
    second: int
    labels: int
    differ: int
    n: int
    two_classes: bool


def file_interval(counts: LabelCounts, level: float) -> Interval:
    """Return the interval of A1 - A2 on the points of this file, of which only a random part was labelled.

    Two classes: exactly one of the classifiers is right if they disagree, so the number W of points the first gets right
    decides all: A1 - A2 = (2 W - D) / n. More classes: both may be wrong, and the two counts are bounded
    each at half the error allowance (Bonferroni).
    """
    labels, differ, n = counts.labels, counts.differ, counts.n
    if counts.two_classes:
        low, high = hypergeometric_interval(counts.first, labels, differ, level)
        return Interval((2 * low - differ) / n, (2 * high - differ) / n, level)
    each = 1 - (1 - level) / 2
    plus = hypergeometric_interval(counts.first, labels, differ, each)
    minus = hypergeometric_interval(counts.second, labels, differ, each)
    # points already seen to be lost by a model cannot be won by it
    low = max(plus[0] - minus[1], plus[0] - (differ - plus[0]))
    high = min(plus[1] - minus[0], (differ - minus[0]) - minus[0])
    return Interval(low / n, high / n, level)


def population_interval(counts: LabelCounts, level: float) -> Interval:
    """Return the interval of A1 - A2 for new points like these: binomial, with the error of the share p itself.

    The allowance 1 - level is split by Bonferroni: a tenth for p, the rest for what the labels say.
    """
    share = binomial_interval(counts.differ, counts.n, 1 - SHARE_FOR_P * (1 - level))
    rest = (1 - SHARE_FOR_P) * (1 - level)
    if counts.two_classes:
        low, high = binomial_interval(counts.first, counts.labels, 1 - rest)
        ends = (2 * low - 1, 2 * high - 1)
    else:
        plus = binomial_interval(counts.first, counts.labels, 1 - rest / 2)
        minus = binomial_interval(counts.second, counts.labels, 1 - rest / 2)
        ends = (max(plus[0] - minus[1], 2 * plus[0] - 1), min(plus[1] - minus[0], 1 - 2 * minus[0]))
        # the two intervals can together exclude what is possible only by accident of rounding
        ends = (max(ends[0], -1.0), min(ends[1], 1.0))
    corners: Floats = np.array([p * delta for p in share for delta in ends])
    return Interval(float(corners.min()), float(corners.max()), level)


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
        with written_whole(target, "the request") as partial, partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, REQUEST_COLUMNS)
            writer.writeheader()
            writer.writerows(self.request_rows())
        return str(target)

    def with_labels(self, labels: Mapping[Any, Any]) -> LabelledDisagreement:
        """Return what the labels say; `labels` maps the ids of requested points to their true labels."""

        given = {str(k): v for k, v in labels.items()}
        rows = [{**row, "label": given.get(str(row["id"]), "")} for row in self.request_rows()]
        return labelled_disagreement(rows, self.level, "the labels")

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
        low, high = self.interval
        lines = [
            f"{self.first} and {self.second} disagree on {self.n_disagree} of {self.n} points ({100 * self.share:.1f}%; for new "
            f"points {100 * self.level:g}% interval {100 * low:.1f}% to {100 * high:.1f}%).",
            f"Whatever the labels, their accuracies on these points differ by at most {100 * self.share:.1f} percentage points.",
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
        """Difference of the accuracies on the points on which the two disagree."""
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
        here, new = (
            " to ".join(f"{100 * end + 0.0:+.1f}" for end in ends) for ends in (self.interval, self.population)
        )
        lines = [
            f"accuracy of {self.first} minus {self.second}: {100 * self.difference + 0.0:+.1f} percentage points",
            f"  on these {self.n} points, {level} interval {here}",
            f"  for new points,  {level} interval {new}",
            f"{self.labels} labels: {self.first} alone right {self.first_right}, {self.second} alone right "
            f"{self.second_right}, both wrong {self.both_wrong}; the two disagree on {100 * self.share:.1f}% of the points.",
            f"{self.saved} labels saved against labelling everything; a plain random sample would need about "
            f"{self.equivalent_sample:.0f} labels to hold as many disagreements.",
        ]
        return "\n".join([*lines, *map(str, self.notes)])


def disagree(
    a: Any = None,
    b: Any = None,
    *,
    labelled: Any = None,
    pred: str | None = None,
    id: str | None = None,
    budget: int | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    sep: str | None = None,
    random_state: RandomState = 0,
) -> Disagreement | LabelledDisagreement:
    """Find the points on which two classifiers disagree and choose which to label; or read the labels.

    The share p of points on which two classifiers disagree needs no labels, bounds the difference of their accuracies,
    and A1 - A2 = p Delta, where Delta is their difference on the disagreements alone, estimated from labels of a random
    sample of them.

    Parameters
    ----------
    a, b : paths or data frames, or sequences of labels
        Predictions of the two classifiers for the same points.
    labelled : path or data frame, optional
        Instead: a request written by `Disagreement.write` with its column `label` filled in.
    pred, id : str, optional
        Columns with the predicted label and the name of the point; found by their usual names by default. Without
        names, rows are paired by place.
    budget : int, optional
        Number of disagreements to label; all of them by default.
    names : sequence of str, optional
        Names of the two classifiers.
    level : float
        Confidence level.
    sep : str, optional
        Field separator of text files; found by default.
    random_state : int
        Seed of the sample.

    Returns
    -------
    Disagreement or LabelledDisagreement

    Examples
    --------
    >>> import unseen
    >>> first, second = ["u"] * 100, ["u"] * 80 + ["v"] * 20
    >>> d = unseen.disagree(first, second, budget=10)
    >>> d.share, len(d.request), d.saved
    (0.2, 10, 90)
    >>> d.with_labels({key: "u" for key, _, _ in d.request}).difference
    0.2
    """
    check_level(level)
    if labelled is not None:
        if a is not None or b is not None:
            raise InputError("disagree: give two files of predictions, or a labelled request; not both.")
        return _read_labelled(labelled, level, sep)
    if a is None or b is None:
        raise InputError("disagree: give the predictions of two classifiers, or labelled= for a request with labels.")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 1):
        raise InputError(f"disagree: budget is {budget!r}; the number of labels is a whole number of at least 1.")
    files = sources_by_name([_as_source(a), _as_source(b)], names)
    frames = {name: read_frame(one, IDS if id is None else [id], sep) for name, one in files.items()}
    key = id if id is not None else _usual_column(frames, IDS)
    matched = match_rows(frames, key)
    columns = []
    for file, frame in frames.items():
        values = column(frame, _prediction_column(frame, pred, key, file), file)[matched.rows[file]]
        lost = is_missing(values)
        if lost.any():
            raise InputError(
                f"{file}: {int(lost.sum())} predictions are missing (first: {matched.ids[np.argmax(lost)]!r})."
            )
        columns.append(values)
    _refuse_numbers(columns)
    labels = labels_of(columns)
    first, second = labels.codes
    differ = np.flatnonzero(first != second)
    size = len(differ) if budget is None else min(int(budget), len(differ))
    sample = stream(root_seed(random_state), "disagree").permutation(differ)[:size]
    request = tuple((matched.ids[k], str(labels.classes[first[k]]), str(labels.classes[second[k]])) for k in sample)
    name_a, name_b = frames
    return Disagreement(
        first=name_a,
        second=name_b,
        n=len(first),
        n_disagree=len(differ),
        n_classes=len(labels.classes),
        request=request,
        level=level,
        notes=matched.notes,
    )


def _as_source(values: Any) -> Any:
    """Return a path or frame as it is, and a plain sequence of labels as a frame."""
    if isinstance(values, (str, PathLike)) or hasattr(values, "columns"):
        return values
    import pandas as pd

    return pd.DataFrame({"pred": np.asarray(values, dtype=object)})


def _usual_column(frames: dict[str, Any], usual: Sequence[str]) -> str | None:
    return next((name for name in usual if all(name in frame.columns for frame in frames.values())), None)


def _prediction_column(frame: Any, pred: str | None, id: str | None, file: str) -> str:
    if pred is not None:
        return pred
    rest = [str(c) for c in frame.columns if c != id]
    usual = [c for c in PREDICTIONS if c in rest]
    if usual:
        return usual[0]
    if len(rest) == 1:
        return rest[0]
    raise UnknownName(f"column of predictions in {file}", "(none given)", rest, "Name it with pred.")


def _refuse_numbers(columns: list[Any]) -> None:
    values = np.concatenate(columns)
    if all(isinstance(v, (float, np.floating)) for v in values) and len(set(values.tolist())) > MAX_NUMBERS:
        raise InputError(
            "the predictions are numbers with many values; disagreement is about labels. For numbers compare losses "
            "with unseen.predictions."
        )


def _read_labelled(source: Any, level: float, sep: str | None) -> LabelledDisagreement:
    frame = read_frame(source, ["id", "first", "second", "label", "first_name", "second_name"], sep)
    called = str(source) if isinstance(source, (str, PathLike)) else "the frame"
    lost = [name for name in REQUEST_COLUMNS if name not in frame.columns]
    if lost:
        raise InputError(
            f"{called} is no request written by unseen disagree: it lacks {', '.join(map(repr, lost))}; keep all columns "
            "and fill in 'label'."
        )
    columns = {name: column(frame, name, called) for name in REQUEST_COLUMNS}
    return labelled_disagreement([dict(zip(columns, values)) for values in zip(*columns.values())], level, called)


def labelled_disagreement(rows: list[dict[str, Any]], level: float, called: str) -> LabelledDisagreement:
    """Return the difference of the accuracies from the rows of a request, some of them labelled; `called` names them in errors."""
    n, differ, n_classes = (_shared_number(rows, name, called) for name in ("n_points", "n_disagree", "n_classes"))
    ids = [str(row["id"]) for row in rows]
    if len(set(ids)) < len(ids):
        raise InputError(f"{called}: an id stands in several rows; every requested point is labelled once.")
    there = ~is_missing(np.array([row["label"] for row in rows], dtype=object))
    if not there.any():
        raise InputError(f"{called}: the column 'label' is empty; fill in the true labels of at least some rows.")
    done = [row for row, filled in zip(rows, there) if filled]
    labels = labels_of([np.array([row[k] for row in done], dtype=object) for k in ("first", "second", "label")])
    first, second, true = labels.codes
    if np.any(first == second) or not 1 <= len(rows) <= differ <= n:
        raise InputError(f"{called}: the rows are not a sample of {differ} disagreements; the file was changed.")
    first_right, second_right = int((true == first).sum()), int((true == second).sum())
    wrong = len(done) - first_right - second_right
    counts = LabelCounts(
        first=first_right,
        second=second_right,
        labels=len(done),
        differ=differ,
        n=n,
        two_classes=n_classes <= 2 and wrong == 0,
    )
    return LabelledDisagreement(
        first=str(rows[0]["first_name"]),
        second=str(rows[0]["second_name"]),
        n=n,
        n_disagree=differ,
        first_right=first_right,
        second_right=second_right,
        both_wrong=wrong,
        two_classes=counts.two_classes,
        interval=file_interval(counts, level),
        population=population_interval(counts, level),
        notes=_label_notes(len(done), len(rows), wrong, n_classes),
    )


def _shared_number(rows: list[dict[str, Any]], name: str, called: str) -> int:
    try:
        values = {int(float(row[name])) for row in rows}
    except (TypeError, ValueError) as error:
        raise InputError(f"{called}: {name!r} must hold one whole number, the same in every row.") from error
    if len(values) != 1:
        raise InputError(f"{called}: {name!r} differs between rows; the rows come from different requests.")
    return values.pop()


def _label_notes(done: int, asked: int, wrong: int, n_classes: int) -> tuple[Note, ...]:
    notes = []
    if done < asked:
        text = f"{asked - done} of {asked} requested rows have no label; the labelled ones count as a random part"
        notes.append(note("U016", text))
    if n_classes <= 2 and wrong:
        notes.append(
            note("U016", f"{wrong} labels are neither prediction, so the intervals allow for more than two classes")
        )
    if done < FEW_LABELS:
        notes.append(note("U009", f"only {done} labels"))
    return tuple(notes)
