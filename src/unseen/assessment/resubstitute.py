"""`unseen.resubstitute`: every estimate that needs no retraining, for a model that is trained already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.assessment.estimate import check_no_retraining, estimate_on_all_rows
from unseen.assessment.wording import in_units, name_in_words
from unseen.core.call import Call
from unseen.core.errors import InputError, UnknownName, UnseenError
from unseen.core.estimate import Estimate
from unseen.core.notes import merge_notes
from unseen.core.registry import build, classes_in, find
from unseen.core.result import Result
from unseen.core.rng import RandomState
from unseen.engine.events import Reporter
from unseen.estimators.combined.evidence import LARGEST_OF_ALL, attach_expected_rms, reason_not_studied
from unseen.estimators.combined.situation import STUDIED_UNITS, unlike_the_study
from unseen.models.naming import short_name
from unseen.request.prepare import data_of, task_of
from unseen.request.request import open_request
from unseen.show.text import RATES, percent_or_number

__all__ = ["Resubstitutions", "direct_methods", "known_methods", "methods_for", "resubstitute"]

AUTO = "auto-resub"
TOO_LOW = ("resub", "bayesian")  # on the points the model was trained on; docs/guides/resubstitution.md
HELD_IF_LARGE = "85%"  # of the samples of 400 units from families of data sets left out of its fit; docs/tables/interval_auto-resub.md


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
    unstudied : str
        How the sample differs from those that an expected RMS was measured on; empty if it does not.
    command : str
        Command line or call that made them, if it is known.
    """

    shown_by: ClassVar[str] = "unseen.assessment"

    model: str
    estimates: tuple[Estimate, ...]
    left_out: dict[str, str]
    unstudied: str = ""
    command: str = ""

    @property
    def title(self) -> str:
        """Title of the report."""
        return f"Error of {self.model[:80]} without retraining"

    @property
    def headline(self) -> Estimate:
        """The estimate to go by: `auto-resub` if it was made, else the first that is not known to be too low."""
        found = [e for e in self.estimates if e.method == AUTO]
        return next(iter([*found, *(e for e in self.estimates if e.method not in TOO_LOW), *self.estimates]))

    def sentence(self) -> str:
        """Return the headline in plain words."""
        shown = in_units(self.headline)
        model = " ".join(self.model.split())[:80]
        value = percent_or_number(shown.value, shown.loss)
        if shown.loss in RATES:
            text = f"{model} is expected to misclassify {value} of new cases"
        elif shown.loss == "rmse":
            text = f"{model} predicts new cases with a typical error (RMSE) of {value}"
        else:
            text = f"{model} has an expected {name_in_words(self.headline.loss)} of {value} on new cases"
        how = f"{shown.method}, without retraining"
        if shown.interval is not None:
            low, high = (percent_or_number(end, shown.loss) for end in shown.interval)
            how = f"{100 * shown.interval.level:g}% interval {low} to {high}; {how}"
        return f"{text} ({how})."

    def meaning(self) -> str:
        """Return what the interval rests on, or why there is none."""
        e = self.headline
        if e.method == "resub":
            return "No interval: this is the error on the points it was trained on, which is too low for new ones."
        if e.interval is None:
            return f"No interval: {self._reason_for_no_interval()}."
        text = "The interval holds the true errors of data sets on which auto-resub gave such a value."
        if e.n_units > LARGEST_OF_ALL:
            text += (
                f" It may be too narrow here: with {STUDIED_UNITS[1]} units it held in {HELD_IF_LARGE} of the samples."
            )
        return f"{text} If the model can be retrained, `unseen assess` is nearer to the truth."

    def _reason_for_no_interval(self) -> str:
        e = self.headline
        if e.method != AUTO:
            return f"{AUTO}, which has one, was left out" if AUTO in self.left_out else f"only {AUTO} has one"
        return "; ".join(n.text for n in e.notes if n.code == "U030")

    def __getitem__(self, method: str) -> Estimate:
        return next(e for e in self.estimates if e.method == method)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per estimate."""
        return [e.row() for e in self.estimates]

    def to_dict(self) -> dict[str, Any]:
        """Return the headline, the estimates and what was left out as plain values."""
        interval = self.headline.interval
        return {
            "model": self.model,
            "error": self.headline.value,
            "interval": None if interval is None else list(interval),
            "sentence": self.sentence(),
            "estimates": [e.to_dict() for e in self.estimates],
            "left_out": self.left_out,
        }

    def __str__(self) -> str:
        width = max(len(e.method) for e in self.estimates)
        lines = [self.sentence(), self.meaning(), "", f"All estimates, from {self.headline.target.size}:"]
        for e in self.estimates:
            error = getattr(e, "mc_error", None)
            integration = f"  (integration error {error:.2g})" if error else ""
            around = (
                "" if e.expected_rms is None else f"  (expected RMS {e.expected_rms:.3f}, at worst {e.worst_rms:.3f})"
            )
            remarks = "".join(f"  [{n.code}]" for n in e.notes)
            shown = in_units(e)
            value = f"{shown.value:.4f}" if shown.loss in RATES else percent_or_number(shown.value, shown.loss)
            lines.append(f"  {e.method:{width}}  {value}{around}{integration}{remarks}")
        if rms := self.rms_sentence():
            lines.append(rms)
        lines += [f"{n}." for n in merge_notes(*(e.notes for e in self.estimates))]
        reasons = {why: [n for n, w in self.left_out.items() if w == why] for why in self.left_out.values()}
        return "\n".join([*lines, *(f"Left out: {', '.join(names)}: {why}" for why, names in reasons.items())])

    def rms_sentence(self) -> str:
        """Return what the expected RMS is, or why there is none; empty if no method here was studied."""
        if situation := self.situation:
            return f"Expected RMS: deviation from the true error on a typical data set, and on the worst, with {situation}."
        return f"No expected RMS: {self.unstudied}." if self.unstudied and self.headline.loss in RATES else ""

    @property
    def situation(self) -> str:
        """Models and data on which the expected RMS was measured, in words; empty if it was not."""
        found = {e.situation for e in self.estimates if e.situation}
        if (
            len({s.partition(";")[0] for s in found}) > 1
        ):  # some methods were studied in narrower situations than others
            return "such a rule, sample size, number of features and classes"
        return max(found, key=len, default="")


def direct_methods() -> list[str]:
    """Return the ids of methods that never retrain.

    Examples
    --------
    >>> "resub" in direct_methods(), "calibrated-bolster" in direct_methods()
    (True, False)
    """
    return [
        name
        for name, cls in classes_in("resubstitution").items()
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
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: str = "auto",
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
        Options of the method, if exactly one is asked for.
    progress : bool, Reporter or None
        A bar over the methods; by default if stderr is a terminal.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        Whether copies of rows count as one unit, as in `unseen.assess`.

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
    >>> print(found.sentence().split(";")[0])
    linear support vector machine is expected to misclassify 24.0% of new cases (95% interval 9.8% to 45.5%
    """
    call = Call.of(resubstitute, locals())
    if options and (methods is None or len(methods) != 1):
        raise InputError("options belong to one method; name exactly one in `methods`.")
    task = task_of(fitted, X, task)
    data = data_of(
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        time=time,
        ids=ids,
        positive=positive,
        task=task,
        duplicates=duplicates,
    )
    names = direct_methods() if methods is None else known_methods(methods, fitted)
    # resub first: a wrong model fails there at once
    order = sorted(names, key=lambda n: n != "resub") if methods is None else names
    chosen = {name: build(name, "resubstitution", "estimators", options=options) for name in order}
    estimates: dict[str, Estimate] = {}
    left_out: dict[str, str] = {}
    with open_request(fitted, data, level=level, random_state=random_state, progress=progress, fitted=True) as request:
        request.reporter.expect(len(order), "methods")
        for name, method in chosen.items():
            try:
                check_no_retraining(method)
                estimates[name], _ = estimate_on_all_rows(method, request)
            except UnseenError as error:
                if methods is not None or name == "resub":
                    raise
                left_out[name] = str(error)
            request.reporter.advance(1)
    estimates = attach_expected_rms(estimates, request.model.native, data, chosen)
    ordered = tuple(estimates[name] for name in names if name in estimates)
    unstudied = reason_not_studied(data.n_units) or (unlike_the_study(data) if data.classes is not None else "")
    name = str(getattr(fitted, "name", None) or short_name(fitted))
    return Resubstitutions(name, ordered, left_out, unstudied, call.text(random_state=request.seed))


KINDS = ("resubstitution", "estimators")


def methods_for(fitted: Any) -> list[str]:
    """Return the ids of the methods that take a trained model as it is.

    Parameters
    ----------
    fitted : fitted estimator, function of X, or model opened from a file
        A function or a model in a file only answers; methods that train copies of the model or read its coefficients need
        the estimator itself.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> [name in methods_for(LinearSVC()) for name in ("bolster", "calibrated-bolster", "kfold")]
    [True, True, False]
    >>> [name in methods_for(lambda X: X[:, 0] > 0) for name in ("bolster", "calibrated-bolster", "kfold")]
    [True, False, False]
    """
    itself = hasattr(getattr(fitted, "native", fitted), "fit")
    return [name for kind in KINDS for name, cls in classes_in(kind).items() if _takes(cls, itself)]


def _takes(cls: type[Any], itself: bool) -> bool:
    every = [cls, *(find(name, *KINDS) for name in cls.parts)]
    return not any(one.kind == "table" or (one.whole_model and not itself) for one in every)


def known_methods(names: Sequence[str], fitted: Any) -> list[str]:
    """Return the names as they are, or refuse the first that no method has by naming those that take the model."""
    for name in names:
        try:
            find(name, *KINDS)
        except UnknownName:
            raise UnknownName("method", name, methods_for(fitted)) from None
    return list(names)
