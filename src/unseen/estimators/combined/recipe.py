"""An estimate made of others, with the RMS it had on held-out data sets in situations like this one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.estimate import Estimate, Target, check_level
from unseen.core.kinds import Recipe
from unseen.core.notes import merge_notes, note
from unseen.estimators.combined.evidence import recipe_weights
from unseen.estimators.combined.predictive import predictive
from unseen.estimators.combined.situation import FAMILIES, Situation, rule_family

__all__ = ["BALANCED", "LEVEL", "CombinedEstimate", "WeightedRecipe", "bounded_moves", "weighted_mean", "with_interval"]

BALANCED = "-balanced"  # a part with this ending is the same method with every class counting the same
ASSUMED = frozenset(
    {"U016", "U023"}
)  # what a part assumes was in the study's errors, so that weights and interval allow for it
LEVEL = "level"  # the weight of a constant, in units of the spread


@dataclass(frozen=True, kw_only=True)
class CombinedEstimate(Estimate):
    """An estimate made of others that err in different ways.

    Parameters
    ----------
    weights, values : mapping of str to float
        Weight and value of each part.
    moves : mapping of str to float
        How far each part moved the first one, if parts may pull only so far; empty for a weighted mean.
    mc_error : float or None
        Monte-Carlo error of the parts' integrals together; None if a part is resampled.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import LinearSVC
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(LinearSVC(), X, y, method="combined", random_state=0)
    >>> abs(e.value - e.values["632plus"] - sum(e.moves.values())) < 1e-12, 0 < e.expected_rms < 0.2
    (True, True)
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    moves: Mapping[str, float] = field(default_factory=dict)
    expected_rms: float | None = None
    worst_rms: float | None = None
    situation: str = ""
    mc_error: float | None = None

    def row(self) -> dict[str, Any]:
        """Return the shared columns, `expected_rms`, `worst_rms` and, if it is known, `mc_error`."""
        error = {} if self.mc_error is None else {"mc_error": self.mc_error}
        return {**super().row(), "expected_rms": self.expected_rms, "worst_rms": self.worst_rms, **error}

    def __str__(self) -> str:
        if self.moves:
            first, start = next(iter(self.values.items()))
            made = f"{first} {start:.3g}, moved {self.value - start:+.3g} by {len(self.values) - 1} others"
        else:
            made = " + ".join(f"{w:g} {name}" for name, w in self.weights.items())
        rms = ""
        if self.expected_rms is not None:
            rms = (
                f"; expected RMS {self.expected_rms:.3f}, on the worst data set {self.worst_rms:.3f} ({self.situation})"
            )
        return f"{super().__str__()} = {made}{rms}"


def weighted_mean(method: Any, parts: Mapping[str, Estimate], weights: Mapping[str, float]) -> CombinedEstimate:
    """Return the weighted mean of `parts`; it is an error rate of this model."""
    used = _check_parts(method, parts, tuple(weights))
    value = sum(weights[name] * e.value for name, e in used.items())
    errors = [weights[name] * error for name, e in used.items() if (error := getattr(e, "mc_error", None)) is not None]
    # the parts draw their points independently of each other
    together = math.hypot(*errors) if len(errors) == len(used) else None
    made = _combine(method, used, value, weights, {name: e.value for name, e in used.items()})
    return replace(made, mc_error=together)


def bounded_moves(
    method: Any, parts: Mapping[str, Estimate], weights: Mapping[str, float], centre: str, bound: float
) -> CombinedEstimate:
    """Return the estimate `centre`, moved by the differences of others from it, none counted beyond `bound` spreads.

    A part that differs by no more than sampling noise helps by averaging; one far off shows its own bias on these data.
    The spread is the standard deviation an error rate counted on as many units would have.
    """
    named = [name.removesuffix(BALANCED) for name in weights if name != LEVEL]
    used = _check_parts(method, parts, (centre, *named))
    start, n = used[centre].value, used[centre].n_units
    near = (n * start + 1) / (n + 2)
    spread = math.sqrt(near * (1 - near) / n)
    values = {name: _value(method, used, name) for name in weights if name != LEVEL}
    moves = {name: weights[name] * min(max(v - start, -bound * spread), bound * spread) for name, v in values.items()}
    moves[LEVEL] = weights.get(LEVEL, 0.0) * spread
    value = min(max(start + math.fsum(moves.values()), 0.0), 1.0)
    return replace(_combine(method, used, value, weights, {centre: start, **values}), moves=moves)


def with_interval(
    made: CombinedEstimate, level: float, situation: Situation | None, family: str = "auto"
) -> CombinedEstimate:
    """Attach the interval that the true error of this model had around the recipe on data sets that were left out.

    Outside the samples that were studied there is no interval, and a note says why.
    """
    check_level(level)
    if situation is not None and (reason := situation.outside_the_study()):
        return replace(made, notes=merge_notes(made.notes, (note("U030", reason),)))
    law = predictive(made.method, family, 2 if situation is None else situation.n_classes)
    return replace(made, interval=law.interval(made.value, made.n_units, level))


def _check_parts(method: Any, parts: Mapping[str, Estimate], names: tuple[str, ...]) -> dict[str, Estimate]:
    names = tuple(dict.fromkeys(names))
    missing = [name for name in names if name not in parts]
    if missing:
        raise InputError(f"{method.id} is made of {', '.join(names)}; missing: {', '.join(missing)}.")
    other = [parts[name].loss for name in names if parts[name].loss != "zero-one"]
    if other:
        raise NotApplicable(f"{method.id} combines error rates; the loss here is {other[0]}.")
    return {name: parts[name] for name in names}


def _value(method: Any, used: Mapping[str, Estimate], name: str) -> float:
    if not name.endswith(BALANCED):
        return used[name].value
    found = getattr(used[name.removesuffix(BALANCED)], "balanced", None)
    if found is None:
        raise InputError(f"{method.id} needs {name.removesuffix(BALANCED)} with its mean over classes.")
    return float(found)


def _combine(
    method: Any, used: Mapping[str, Estimate], value: float, weights: Mapping[str, float], values: Mapping[str, float]
) -> CombinedEstimate:
    first = next(iter(used.values()))
    notes = tuple(n for n in merge_notes(*(e.notes for e in used.values())) if n.code not in ASSUMED)
    return CombinedEstimate(
        value=float(value),
        std_error=None,
        interval=None,
        df=None,
        method=method.id,
        target=Target.MODEL.like(first.target, first.n_units),
        loss="zero-one",
        n_units=first.n_units,
        n_fits=max(e.n_fits for e in used.values()),
        seconds=sum(e.seconds for e in used.values()),
        notes=notes,
        weights=dict(weights),
        values=dict(values),
    )


@dataclass(frozen=True)
class WeightedRecipe(Recipe):
    """A recipe whose weights are data, by family of rules.

    Parameters
    ----------
    family : str
        "linear", "kernel", "tree", "neighbours", "generative", "boosting" or "any"; "auto" goes by the model's class.
    """

    family: str = "auto"

    def __post_init__(self) -> None:
        known = ("auto", *FAMILIES, "any")
        if self.family not in known:
            raise UnknownName("family", self.family, known)

    def for_model(self, native: Any) -> Self:
        """Return the recipe with the weights for a model, unless a family was chosen."""
        return replace(self, family=rule_family(native)) if self.family == "auto" else self

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the parts that count for the family."""
        known = recipe_weights(self.id)
        return {name: weight for name, weight in known.get(self.family, known["any"]).items() if weight != 0}

    @property
    def needed(self) -> tuple[str, ...]:
        """Parts that have to be made for the family; the others have no weight."""
        return tuple(self.weights)

    def __call__(
        self, parts: Mapping[str, Estimate], *, level: float = 0.95, situation: Situation | None = None
    ) -> CombinedEstimate:
        """Return the weighted mean."""
        return weighted_mean(self, parts, self.weights)
