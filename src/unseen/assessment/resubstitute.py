"""`unseen.resubstitute`: every estimate that needs no retraining, for a model that is trained already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.assessment.estimate import estimate
from unseen.assessment.untrained import known_methods
from unseen.core.data import Data
from unseen.core.errors import InputError, UnseenError
from unseen.core.estimate import Estimate, ResubEstimate, check_level
from unseen.core.evidence import ANY, level_of
from unseen.core.notes import merge_notes
from unseen.core.registry import build, known
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed
from unseen.engine.events import Reporter, reporting
from unseen.request.prepare import data_of, task_of

__all__ = ["Resubstitutions", "direct_methods", "resubstitute"]


@dataclass(frozen=True, eq=False)
class Resubstitutions(Result):
    """Estimates of one trained model's error, made without retraining.

    Parameters
    ----------
    model : str
        Description of the model.
    estimates : tuple of Estimate
        In the order asked for.
    left_out : mapping of str to str
        Methods that do not apply here, with the reason.
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    model: str
    estimates: tuple[Estimate, ...]
    left_out: dict[str, str]

    @property
    def title(self) -> str:
        """Title of the report."""
        return f"Error of {self.model[:80]} without retraining"

    def __getitem__(self, method: str) -> Estimate:
        return next(e for e in self.estimates if e.method == method)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per estimate."""
        return [e.row() for e in self.estimates]

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates and what was left out as plain values."""
        return {"model": self.model, "estimates": [e.to_dict() for e in self.estimates], "left_out": self.left_out}

    def __str__(self) -> str:
        width = max(len(e.method) for e in self.estimates)
        lines = [f"error of {self.model}, estimated without retraining ({self.estimates[0].n_units} units):"]
        for e in self.estimates:
            error = getattr(e, "mc_error", None)
            doubt = f"  (integration error {error:.2g})" if error else ""
            rms = getattr(e, "expected_rms", None)
            around = "" if rms is None else f"  (expected RMS {rms:.3f})"
            remarks = "".join(f"  [{n.code}]" for n in e.notes)
            lines.append(f"  {e.method:{width}}  {e.value:.4f}{around}{doubt}{remarks}")
        if situation := self.situation:
            lines.append(f"Expected RMS: deviation from the true error on data sets with {situation}.")
        lines += [f"{n}." for n in merge_notes(*(e.notes for e in self.estimates))]
        reasons = {why: [n for n, w in self.left_out.items() if w == why] for why in self.left_out.values()}
        return "\n".join([*lines, *(f"Left out: {', '.join(names)}: {why}" for why, names in reasons.items())])

    @property
    def situation(self) -> str:
        """Situation in which the RMS to expect was measured, in words; empty where it was not."""
        found = {s for e in self.estimates if (s := getattr(e, "situation", ""))}
        if (
            len({s.partition(";")[0] for s in found}) > 1
        ):  # some methods were studied in narrower situations than others
            return "such a rule, sample size, number of features and classes"
        return max(found, key=len, default="")


def _expecting(estimates: list[Estimate], fitted: Any, data: Data) -> list[Estimate]:
    """Return the estimates with the RMS to expect of each where errors are as rare or frequent as `auto-resub` says."""
    level = level_of({e.method: e for e in estimates})
    native = getattr(fitted, "native", fitted)
    if level == ANY:
        return estimates
    return [
        e.expecting(build(e.method, "resubstitution"), native, data, level) if isinstance(e, ResubEstimate) else e
        for e in estimates
    ]


def direct_methods() -> list[str]:
    """Return the ids of methods that never retrain.

    Examples
    --------
    >>> "resub" in direct_methods(), "calibrated-bolster" in direct_methods()
    (True, False)
    """
    return [
        name
        for name, cls in known("resubstitution").items()
        if cls.kind == "recipe" or (cls.kind == "direct" and cls.in_assess)
    ]


def resubstitute(
    fitted: Any,
    X: Any,
    y: Any = None,
    *,
    methods: Sequence[str] | None = None,
    random_state: RandomState = None,
    level: float = 0.95,
    options: dict[str, Any] | None = None,
    progress: bool | Reporter | None = None,
    **columns: Any,
) -> Resubstitutions:
    """Estimate the error of a trained model by several methods that do not retrain it.

    Parameters
    ----------
    fitted : fitted estimator, function of X, or model opened from a file
        Never refitted.
    X, y : array-like
        The points it was trained on.
    methods : sequence of str, optional
        Ids of methods; by default all that never retrain, where those that do not apply are left out with a reason.
    random_state : int, Generator or None
        Same seed, same numbers.
    level : float
        Confidence level.
    options : dict, optional
        Options of the method, where exactly one is asked for.
    progress : bool, Reporter or None
        A bar over the methods; by default where stderr is a terminal.
    **columns
        As in `unseen.datasets.as_data`.

    Returns
    -------
    Resubstitutions

    Examples
    --------
    >>> import unseen
    >>> from sklearn.svm import LinearSVC
    >>> X, y = unseen.datasets.load("gaussian-blocks").xy
    >>> found = unseen.resubstitute(LinearSVC().fit(X, y), X, y, random_state=0)
    >>> found["resub"].value < found["bolster"].value
    True
    """
    check_level(level)
    if task := task_of(fitted, X, columns.get("task")):
        columns["task"] = task
    data = data_of(X, y, columns, resubstitute)
    seed = root_seed(random_state)
    if options and (methods is None or len(methods) != 1):
        raise InputError("options belong to one method; name exactly one in `methods`.")
    estimates: list[Estimate] = []
    left_out: dict[str, str] = {}
    names = direct_methods() if methods is None else known_methods(methods, fitted)
    # resub first: a wrong model fails there at once
    order = sorted(names, key=lambda n: n != "resub") if methods is None else names
    with reporting(progress, len(order), "methods") as reporter:
        for name in order:
            method = build(name, "resubstitution", "estimators", options=options)
            try:
                estimates.append(
                    estimate(fitted, data, method=method, fitted=True, random_state=seed, level=level, progress=False)
                )
            except UnseenError as error:
                if methods is not None or name == "resub":
                    raise
                left_out[name] = str(error)
            reporter.advance(1)
    estimates = sorted(_expecting(estimates, fitted, data), key=lambda e: names.index(e.method))
    return Resubstitutions(str(getattr(fitted, "name", fitted)), tuple(estimates), left_out)
