"""A ranking of networks with its uncertainty. Needs numpy alone, so that drawing it does not need torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from unseen.core.arrays import Floats
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.nets.augmentation.sheet import AugmentationSheet
from unseen.nets.measures.value import MeasureValue

__all__ = ["ExpectedErrors", "NetRanking"]

NOT_DISTINGUISHABLE = 0.05  # a network that is better than the first with more than this probability is as good as it
NAMED = 3  # networks in the sentence
APART = "do not fit their training data as the others do; by training error:"


@dataclass(frozen=True, kw_only=True)
class ExpectedErrors(Result):
    """Expected test error of each network of a ranking, in its order.

    Parameters
    ----------
    error : tuple of float
        Along the score, around a level for all networks.
    train_error, gap : tuple of float
        Training error, and how far the expected error is above it.
    low, high : tuple of float
        95% interval of what differs between the networks: the measures' draws, and what rankings by them missed on the zoos.
    lowest, highest : tuple of float
        95% interval that also holds the level of the gaps, which moves all networks alike.
    probability_better : tuple of float
        Probability that the test error of each is below that of the first.
    level : float
        Typical gap that the predictions rest on.
    source : str
        Where the level comes from.
    apart : tuple of bool
        Whether a network does not fit its training data as the others do: it stands below them by its training error.
    """

    error: tuple[float, ...]
    train_error: tuple[float, ...]
    gap: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    probability_better: tuple[float, ...]
    level: float
    source: str
    apart: tuple[bool, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per network, in the order of the ranking."""
        names = ("error", "train_error", "gap", "low", "high", "lowest", "highest", "probability_better", "apart")
        columns = [getattr(self, name) or (False,) * len(self.error) for name in names]
        return [{"rank": i + 1, **dict(zip(names, values))} for i, values in enumerate(zip(*columns))]

    def __str__(self) -> str:
        return f"expected test errors {min(self.error):.3f} to {max(self.error):.3f}, gaps around {self.level:.3f} ({self.source})"


@dataclass(frozen=True, kw_only=True)
class NetRanking(Result):
    """Networks in the order of their expected test error, the smallest first.

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
    expected : ExpectedErrors or None
        Expected test errors; None for a ranking that was kept before there were any.
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
    expected: ExpectedErrors | None = None
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

    @property
    def ties(self) -> tuple[str, ...]:
        """Networks that are not distinguishable from the first."""
        if self.expected is None:
            return ()
        chances = self.expected.probability_better
        return tuple(name for name, p in zip(self.names[1:], chances[1:]) if p > NOT_DISTINGUISHABLE)

    @property
    def advice(self) -> str:
        """Which network to take, in a sentence."""
        ties = self.ties
        if not ties:
            return f"Take {self.best}."
        if len(ties) == len(self.names) - 1 and len(ties) > 1:
            return f"Take {self.best}; none of the others is distinguishable from it."
        shown = [*ties[:NAMED], *([f"{len(ties) - NAMED} more"] if len(ties) > NAMED else [])]
        words = " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
        return f"Take {self.best}; {words} {'are' if len(ties) > 1 else 'is'} not distinguishable from it."

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
                **self._expected_of(i),
                "score": self.score[i],
                "probability_best": float(self.probability[i, 0]),
                "train_accuracy": self.accuracy[i],
                **{m: found[i].value for m, found in self.values.items()},
            }
            for i, name in enumerate(self.names)
        ]

    def _expected_of(self, i: int) -> dict[str, Any]:
        if self.expected is None:
            return {}
        e = self.expected
        own = {"expected_error": e.error[i], "low": e.low[i], "high": e.high[i], "gap": e.gap[i]}
        return {**own, "apart": self.is_apart(i)}

    def is_apart(self, i: int) -> bool:
        """Return whether the network at a place does not fit its training data as the others do."""
        return self.expected is not None and any(self.expected.apart[i : i + 1])

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
        wide, e = max(20, *map(len, self.names)), self.expected
        about = "" if e is None else f"{'error':>7s} {'95% interval':>15s} {'train':>6s} {'gap':>6s} "
        head = f"{'rank':>4s}  {'network':{wide}s} {about}{'P(best)':>8s} " + " ".join(f"{m:>18s}" for m in self.values)
        body = []
        for i, name in enumerate(self.names):
            error = ""
            if e is not None:
                between = f"{e.low[i]:.3f} to {e.high[i]:.3f}"
                error = f"{e.error[i]:7.3f} {between:>15s} {e.train_error[i]:6.3f} {e.gap[i]:6.3f} "
            values = " ".join(f"{found[i].value:18.5g}" for found in self.values.values())
            if i and self.is_apart(i) and not self.is_apart(i - 1):
                body.append(f"{'':6s}{APART}")
            body.append(f"{i + 1:4d}  {name:{wide}s} {error}{self.probability[i, 0]:8.3f} {values}")
        agreed = [
            f"agreement of {a} and {b}: "
            + (f"tau {tau:.2f}" if tau == tau else "undefined, one of them ties all networks")
            for (a, b), tau in self.agreement.items()
        ]
        meant = []
        if e is not None:
            meant.append(
                f"error: expected test error, which follows the measures; gap: less the training error. The level ({e.source}) moves all alike: "
                f"the first's error lies between {e.lowest[0]:.3f} and {e.highest[0]:.3f}."
            )
        meant.append("P(best): that endless draws of the measures would put it first; what they miss is not in it.")
        first = [] if e is None else [self.advice]
        return "\n".join([*first, head, *body, *meant, *agreed, *map(str, self.notes)])
