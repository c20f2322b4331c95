"""What a bench of measures gives: one line per measure, and the values behind it. Needs numpy alone, so that drawing it does not need torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.nets.augmentation.sheet import AugmentationSheet

__all__ = ["CONTROLS", "NOT_MEASURED", "Bench", "BenchLine"]

CONTROLS = ("random-order", "parameter-count", "training-loss", "epochs", "holdout80", "hyper-parameters", "other-seed")


NOT_MEASURED = "not measured"


@dataclass(frozen=True, kw_only=True)
class BenchLine:
    """Scores of one measure on one zoo: CMI as the competition's program and without self pairs (both out of 100), and rank agreement.

    `p_value` is that of this measure alone, `adjusted` takes in that all measures of the bench were looked at; a control is looked at by itself.
    """

    measure: str
    control: bool
    cmi: float
    cmi_low: float
    cmi_high: float
    cmi_honest: float
    p_value: float
    tau: float
    granulated_tau: float
    robust_error: float
    worst: str
    seconds: float
    std_error: float
    adjusted: float = float("nan")


@dataclass(frozen=True, kw_only=True)
class Bench(Result):
    """Scores of measures on a zoo, the best CMI first.

    Parameters
    ----------
    zoo : str
        Name of the grid.
    lines : tuple of BenchLine
        One per measure and control.
    noise_floor : float
        CMI (out of 100) that one in twenty measures without information exceeds on this grid.
    gap : numpy.ndarray
        Gaps of the networks.
    values : dict of str to numpy.ndarray
        Every measure's values, in the order of `gap`; NaN for a seed on which the measure was not taken.
    axes : dict
        Hyper-parameters of the networks.
    seeds : numpy.ndarray
        Seed of each network.
    left_out : dict
        Measures without a full column of values, with the reason; those that have all networks of one seed are scored on it.
    notes : tuple of Note
        Statistical weakness.
    sheets : tuple of AugmentationSheet
        What measures that augment images look at, from the first two training images; empty if no measure does.
    """

    shown_by: ClassVar[str] = "unseen.nets"

    zoo: str
    lines: tuple[BenchLine, ...]
    noise_floor: float
    gap: Floats = field(repr=False, metadata={"shown": False})
    values: dict[str, Floats] = field(repr=False, metadata={"shown": False})
    axes: dict[str, list[Any]] = field(repr=False, metadata={"shown": False})
    seeds: Ints = field(repr=False, metadata={"shown": False})
    left_out: dict[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    sheets: tuple[AugmentationSheet, ...] = field(default=(), repr=False, metadata={"shown": False})

    kept_as = "nets-bench"

    @property
    def title(self) -> str:
        """Heading of its report."""
        return f"Measures of generalization on the zoo {self.zoo}"

    @property
    def complete(self) -> bool:
        """Whether every measure was taken on every network it applies to."""
        return not any(f": {NOT_MEASURED}" in reason for reason in self.left_out.values())

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per measure."""
        return [{"zoo": self.zoo, **vars(line)} for line in self.lines]

    def line(self, measure: str) -> BenchLine:
        """Return the line of one measure."""
        for found in self.lines:
            if found.measure == measure:
                return found
        raise InputError(
            f"the bench of {self.zoo!r} has no measure {measure!r}: {self.left_out.get(measure, 'it was not asked for')}."
        )

    def to_record(self) -> dict[str, Any]:
        """Return plain values with the gaps, the measures' values and the sheets."""
        more = {name: plain(getattr(self, name)) for name in ("gap", "values", "axes", "seeds")}
        return {**self.to_dict(), **more, "sheets": [sheet.to_record() for sheet in self.sheets]}

    def __str__(self) -> str:
        head = f"{'measure':24s} {'CMI':>6s} {'honest':>6s} {'p':>6s} {'adj. p':>6s} {'tau':>6s} {'gran.':>6s} {'worst':>6s} {'seconds':>8s}"
        body = [
            f"{line.measure + (' *' if line.control else ''):24s} {line.cmi:6.2f} {line.cmi_honest:6.2f} {line.p_value:6.3f} {line.adjusted:6.3f} {line.tau:6.3f} "
            f"{line.granulated_tau:6.3f} {line.robust_error:6.3f} {line.seconds:8.3f}"
            for line in self.lines
        ]
        foot = [
            f"* control. Noise floor (95%): {self.noise_floor:.2f}. {len(self.gap)} networks, {len(set(self.seeds.tolist()))} seeds."
        ]
        out = [f"left out: {name} ({reason})" for name, reason in self.left_out.items()]
        return "\n".join([f"zoo {self.zoo}", head, *body, *foot, *out, *map(str, self.notes)])
