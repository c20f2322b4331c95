"""An estimate that is a weighted mean of others, with the RMS it had on held-out data sets in situations like this one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from unseen.core.data import Data
from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.core.estimate import Estimate, Target
from unseen.core.evidence import in_situation, recipe_weights, rule_family, unlike_the_study
from unseen.core.notes import merge_notes, note

__all__ = ["CombinedEstimate", "WeightedRecipe", "weighted_mean"]


@dataclass(frozen=True)
class CombinedEstimate(Estimate):
    """A weighted mean of estimates that err in different ways.

    Parameters
    ----------
    weights, values : mapping of str to float
        Weight and value of each part.
    expected_rms : float or None
        Root mean squared deviation from the true error that the method had on held-out data sets in such a situation;
        not a standard error of this estimate.
    situation : str
        The situation that figure was measured in.
    mc_error : float or None
        Monte-Carlo error of the parts' integrals together; None where a part is resampled.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import LinearSVC
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> e = unseen.estimate(LinearSVC(), X, y, method="combined", random_state=0)
    >>> abs(e.value - sum(w * e.values[k] for k, w in e.weights.items())) < 1e-12, 0 < e.expected_rms < 0.2
    (True, True)
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    expected_rms: float | None = None
    situation: str = ""
    mc_error: float | None = None

    def situated(self, native: Any, data: Data) -> CombinedEstimate:
        """Return the same estimate with the RMS to expect for such a model and such data."""
        found = in_situation(self.method, self.loss, self.value, native, data)
        if found is None:
            return self
        notes = self.notes
        if found.extrapolated:
            text = f"{data.n_units} units are outside the 20 to 100 the expected RMS was measured at"
            notes = merge_notes(notes, (note("U022", text),))
        if differs := unlike_the_study(data):
            notes = merge_notes(notes, (note("U030", differs),))
        return replace(self, expected_rms=found.rms, situation=found.situation, notes=notes)

    def row(self) -> dict[str, Any]:
        """Return the shared columns, `expected_rms` and, where it is known, `mc_error`."""
        error = {} if self.mc_error is None else {"mc_error": self.mc_error}
        return {**super().row(), "expected_rms": self.expected_rms, **error}

    def __str__(self) -> str:
        made = " + ".join(f"{w:g} {name}" for name, w in self.weights.items())
        rms = "" if self.expected_rms is None else f"; expected RMS {self.expected_rms:.3f} ({self.situation})"
        return f"{super().__str__()} = {made}{rms}"


def weighted_mean(method: Any, parts: Mapping[str, Estimate], weights: Mapping[str, float]) -> CombinedEstimate:
    """Return the combination of `parts`; it speaks of error rates of this model only."""
    missing = [name for name in weights if name not in parts]
    if missing:
        raise InputError(f"{method.id} is made of {', '.join(weights)}; missing: {', '.join(missing)}.")
    used = {name: parts[name] for name in weights}
    other = [e.loss for e in used.values() if e.loss != "zero-one"]
    if other:
        raise NotApplicable(f"{method.id} combines error rates; the loss here is {other[0]}.")
    first = next(iter(used.values()))
    value = sum(weights[name] * e.value for name, e in used.items())
    target = Target.MODEL.at(first.n_units)
    notes = merge_notes(*(e.notes for e in used.values()))
    errors = [weights[name] * error for name, e in used.items() if (error := getattr(e, "mc_error", None)) is not None]
    # the parts draw their points independently of each other
    together = math.hypot(*errors) if len(errors) == len(used) else None
    return CombinedEstimate(
        float(value), None, None, None, method.id, target, "zero-one", first.n_units, max(e.n_fits for e in used.values()),
        sum(e.seconds for e in used.values()), notes, dict(weights), {name: e.value for name, e in used.items()},
        mc_error=together,
    )  # fmt: skip


@dataclass(frozen=True)
class WeightedRecipe:
    """A recipe whose weights are data, by family of rules.

    Parameters
    ----------
    family : str
        "linear", "kernel", "tree", "neighbours", "generative" or "any"; "auto" goes by the model's class.
    """

    family: str = "auto"
    id: ClassVar[str] = ""
    target: ClassVar[Target] = Target.MODEL
    weighted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        known = recipe_weights(self.id)
        if self.family not in ("auto", *known):
            raise UnknownName("family", self.family, ("auto", *known))

    def suited(self, native: Any) -> Self:
        """Return the recipe with the weights for a model, unless a family was chosen."""
        return replace(self, family=rule_family(native)) if self.family == "auto" else self

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the parts that count for the family."""
        known = recipe_weights(self.id)["any" if self.family == "auto" else self.family]
        return {name: weight for name, weight in known.items() if weight > 0}

    @property
    def needed(self) -> tuple[str, ...]:
        """Parts that have to be made for the family; the others have no weight."""
        return tuple(self.weights)

    def __call__(self, parts: Mapping[str, Estimate], *, level: float = 0.95) -> CombinedEstimate:
        """Return the weighted mean."""
        return weighted_mean(self, parts, self.weights)
