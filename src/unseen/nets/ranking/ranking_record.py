"""A ranking of networks with its uncertainty. Needs numpy alone, so that drawing it does not need torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from unseen.core.arrays import Floats
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.nets.augmentation.sheet import AugmentationSheet
from unseen.nets.measures.value import MeasureValue

__all__ = ["NetRanking"]


@dataclass(frozen=True, kw_only=True)
class NetRanking(Result):
    """Networks in the order in which they are expected to generalize, the smallest expected gap first.

    Parameters
    ----------
    names : tuple of str
        Networks, best first.
    score : tuple of float
        Mean over measures of the network's place among the others, 0 (always best) to 1 (always worst).
    probability : numpy.ndarray
        Row i, column k: probability that network i of `names` would have rank k + 1 had the measures been drawn without end.
    values : dict
        Measure to the values of the networks, each a `MeasureValue`, in the order of `names`.
    agreement : dict
        Pairs of measures to Kendall's tau between their orders.
    accuracy : tuple of float
        Training accuracy of each network.
    notes : tuple of Note
        Networks that do not fit their data, measures that do not apply.
    sheets : tuple of AugmentationSheet
        What measures that augment images look at, from the first two training images; empty if no measure does.
    """

    shown_by: ClassVar[str] = "unseen.nets"

    names: tuple[str, ...]
    score: tuple[float, ...]
    probability: Floats
    values: dict[str, tuple[MeasureValue, ...]]
    agreement: dict[tuple[str, str], float]
    accuracy: tuple[float, ...]
    notes: tuple[Note, ...] = field(default=())
    sheets: tuple[AugmentationSheet, ...] = field(default=(), repr=False, metadata={"shown": False})

    kept_as = "nets-rank"

    @property
    def title(self) -> str:
        """Heading of its report."""
        return "Which network will generalize?"

    @property
    def best(self) -> str:
        """The network ranked first."""
        return self.names[0]

    def layers(self) -> list[dict[str, Any]]:
        """Return for each network and measure which layers were used and which were skipped, with the reason."""
        return [
            {"network": name, "measure": measure, "used": list(found[i].used), "skipped": dict(found[i].skipped)}
            for measure, found in self.values.items()
            for i, name in enumerate(self.names)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per network: rank, name, probability of being best, and every measure."""
        return [
            {
                "rank": i + 1,
                "network": name,
                "score": self.score[i],
                "probability_best": float(self.probability[i, 0]),
                "train_accuracy": self.accuracy[i],
                **{m: found[i].value for m, found in self.values.items()},
            }
            for i, name in enumerate(self.names)
        ]

    def to_record(self) -> dict[str, Any]:
        """Return plain values with the sheets; lists if a store would lose an order."""
        pairs = [{"measure": a, "other": b, "tau": plain(tau)} for (a, b), tau in self.agreement.items()]
        values = {
            measure: [{**one.to_dict(), "skipped": list(map(list, one.skipped.items()))} for one in found]
            for measure, found in self.values.items()
        }
        sheets = [sheet.to_record() for sheet in self.sheets]
        more = {"agreement": pairs, "measures": list(self.values), "values": values, "sheets": sheets}
        return {**self.to_dict(), **more}

    def __str__(self) -> str:
        wide = max(20, *map(len, self.names))
        head = f"{'rank':>4s}  {'network':{wide}s} {'P(best)':>8s} " + " ".join(f"{m:>18s}" for m in self.values)
        body = [
            f"{i + 1:4d}  {name:{wide}s} {self.probability[i, 0]:8.3f} "
            + " ".join(f"{found[i].value:18.5g}" for found in self.values.values())
            for i, name in enumerate(self.names)
        ]
        agreed = [
            f"agreement of {a} and {b}: "
            + (f"tau {tau:.2f}" if tau == tau else "undefined, one of them ties all networks")
            for (a, b), tau in self.agreement.items()
        ]
        meant = (
            "P(best): that endless draws of the measures would put it first; what they miss about the gap is not in it."
        )
        return "\n".join([head, *body, meant, *agreed, *map(str, self.notes)])
