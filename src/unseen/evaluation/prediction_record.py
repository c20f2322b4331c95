"""What `unseen.predictions` returns: each file's error, and the paired differences between files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.core.comparison import Comparison, p_words, pair_of
from unseen.core.estimate import Estimate, scale_sentence
from unseen.core.notes import Note, merge_notes
from unseen.core.result import Result, plain
from unseen.core.scale import measure_name
from unseen.evaluation.slices import Slices

__all__ = ["PredictionFiles"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionFiles(Result):
    """Errors of files of predictions on the rows they share, and their paired differences.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        Error of each file, with its interval.
    pairs : tuple of Comparison
        Every pair of files once: the difference, its interval and the paired t test.
    tests : tuple of Comparison
        The same pairs by the other tests that apply.
    unmatched : mapping of str to list
        Names of the rows of each file that not every file has.
    n : int
        Rows used.
    loss : str
        Id of the loss, or name of the column it was read from.
    remarks : tuple of Note
        Notes on the files.
    command : str
        Command line or call that made it, if it is known.
    slices : tuple of Slices
        Errors of each file, and differences of each pair, in every slice, if `by` was given.
    """

    shown_by: ClassVar[str] = "unseen.evaluation"

    estimates: Mapping[str, Estimate]
    pairs: tuple[Comparison, ...]
    tests: tuple[Comparison, ...]
    unmatched: Mapping[str, list[Any]]
    n: int
    loss: str
    remarks: tuple[Note, ...] = ()
    command: str = ""
    slices: tuple[Slices, ...] = ()

    @property
    def title(self) -> str:
        """Heading of the report."""
        return "Predictions of " + ", ".join(self.estimates)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the files, on each estimate and on each pair, each once."""
        return merge_notes(
            self.remarks,
            *(e.notes for e in self.estimates.values()),
            *(p.notes for p in (*self.pairs, *self.tests)),
            *(s.notes for s in self.slices),
        )

    def __getitem__(self, names: tuple[str, str]) -> Comparison:
        return pair_of(self.pairs, names, self.estimates, "file", "result['a.csv', 'b.csv']")

    def sentence(self) -> str:
        """Return the answer: which file has the smallest error, with its interval, and whether the next one can be told from it."""
        shown = {name: e.on_scale() for name, e in self.estimates.items()}
        best = min(self.estimates, key=lambda name: self.estimates[name].value)
        e = shown[best]

        def say(value: float) -> str:
            return f"{100 * value + 0.0:.1f}%" if e.loss == "zero-one" else f"{value:.4g}"

        what = "error" if e.loss == "zero-one" else measure_name(e.loss)
        ends = (
            ""
            if e.interval is None
            else f" ({100 * e.interval.level:g}% interval {say(e.interval.low)} to {say(e.interval.high)})"
        )
        if len(shown) == 1:
            return f"{best} has {_article(what)} {what} of {say(e.value)}{ends}, on {self.n:,} rows."
        near = min((p for p in self.pairs if best in (p.a, p.b)), key=lambda p: abs(p.difference))
        other = near.b if near.a == best else near.a
        p = near.p if near.p_adjusted is None else near.p_adjusted
        clear = p is not None and p < 1 - near.level
        verb = "is better than" if clear else "cannot be told from"
        tail = "" if p is None or p != p else f" ({p_words(p)})"
        most = "smallest" if e.loss == self.estimates[best].loss else "best"
        return (
            f"{best} has the {most} {what}, {say(e.value)}{ends}; it {verb} {other}, {say(shown[other].value)}{tail}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per file, or one per pair and test if there are several files."""
        if not self.pairs:
            return self.by_file()
        ordered = [c for pair in self.pairs for c in (pair, *(t for t in self.tests if (t.a, t.b) == (pair.a, pair.b)))]
        return [_test_row(c) for c in ordered]

    def by_file(self) -> list[dict[str, Any]]:
        """Return one row per file, a score such as AUC as itself."""
        rows = [{"file": name, **e.on_scale().row()} for name, e in self.estimates.items()]
        return [{**row, "measure": row["term"]} for row in rows]

    def scale_sentence(self) -> str:
        """Say how the errors of pairs relate to the score asked for; empty for a plain loss."""
        return scale_sentence(self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return estimates, pairs, tests, every unmatched row and the notes."""
        return {
            "sentence": self.sentence(),
            "n": self.n,
            "loss": self.loss,
            "files": {name: plain(e.row()) for name, e in self.estimates.items()},
            "pairs": [p.to_dict() for p in self.pairs],
            "tests": [t.to_dict() for t in self.tests],
            **({"slices": [s.to_dict() for s in self.slices]} if self.slices else {}),
            "unmatched": plain(dict(self.unmatched)),
            "notes": [n.to_dict() for n in self.notes],
        }

    def __str__(self) -> str:
        lines = [self.sentence(), *(f"{name}: {_error_sentence(e)}" for name, e in self.estimates.items())]
        lines += [self.scale_sentence()] if self.pairs and self.scale_sentence() else []
        lines += [str(c) for c in (*self.pairs, *self.tests)]
        lines += [line for s in self.slices for line in ("", s.sentence(), s.table(), "")]
        lines.append(f"{self.n} rows" + (" in common" if len(self.estimates) > 1 else ""))
        return "\n".join([*lines, *map(str, self.notes)])


def _article(word: str) -> str:
    return "an" if word[:1].lower() in "aeiou" else "a"


def _test_row(c: Comparison) -> dict[str, Any]:
    """Return one test of one pair; shares over splits mean nothing on one test set and are left out."""
    low, high = (None, None) if c.interval is None else c.interval
    return {
        "a": c.a,
        "b": c.b,
        "test": c.test,
        "difference": c.difference,
        "std_error": c.std_error,
        "lower": low,
        "upper": high,
        "statistic": c.statistic,
        "p": c.p,
        "p_adjusted": c.p_adjusted,
        "verdict": c.verdict,
    }


def _error_sentence(e: Estimate) -> str:
    row = e.on_scale().row()
    span = (
        "" if e.interval is None else f", {100 * e.interval.level:g}% interval [{row['lower']:.4g}, {row['upper']:.4g}]"
    )
    error = "" if e.std_error is None else f", std error {e.std_error:.3g}"
    return f"{row['term']} {row['estimate']:.4g}{span}{error} ({e.method}, {e.n_units} units)"
