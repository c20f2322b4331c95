"""scikit-learn's scorers and functions of (y_true, y_pred) as measures."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.data import Data
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.measure import SetMeasure
from unseen.core.registry import classes_in, find
from unseen.measures.confusion import MOST_IN_TABLES, counts_of

__all__ = ["Scoring", "resolve_measure"]

EVERYTHING = (float("-inf"), float("inf"))
# ranges of scikit-learn's functions by what their names end with; the interval of a measure stays inside its range
RANGES = {
    "f1_score": (0.0, 1.0), "fbeta_score": (0.0, 1.0), "precision_score": (0.0, 1.0), "recall_score": (0.0, 1.0),
    "jaccard_score": (0.0, 1.0), "roc_auc_score": (0.0, 1.0), "top_k_accuracy_score": (0.0, 1.0), "accuracy_score": (0.0, 1.0),
    "balanced_accuracy_score": (0.0, 1.0), "average_precision_score": (0.0, 1.0), "matthews_corrcoef": (-1.0, 1.0),
    "cohen_kappa_score": (-1.0, 1.0), "r2_score": (float("-inf"), 1.0), "explained_variance_score": (float("-inf"), 1.0),
    "d2_absolute_error_score": (float("-inf"), 1.0), "d2_pinball_score": (float("-inf"), 1.0),
    "d2_tweedie_score": (float("-inf"), 1.0), "d2_log_loss_score": (float("-inf"), 1.0), "d2_brier_score": (float("-inf"), 1.0),
    "zero_one_loss": (0.0, 1.0), "hamming_loss": (0.0, 1.0), "positive_likelihood_ratio": (0.0, float("inf")),
    "negative_likelihood_ratio": (0.0, float("inf")),
}  # fmt: skip
# last words of names of which less is better: the first three are scikit-learn's own rule
LOWER = frozenset({"error", "loss", "deviance", "cost", "costs", "risk"})
NUMBERS = (
    "squared",
    "absolute",
    "max_error",
    "deviance",
    "pinball",
    "tweedie",
    "r2_",
    "explained_variance",
    "log_error",
)


@dataclass(frozen=True, repr=False)
class Scoring(SetMeasure):
    """A function of true and predicted values as a measure, with what an interval has to know of it.

    Parameters
    ----------
    function : callable
        Called as `function(y_true, y_pred)`, or with scores if `response` is not "predict"; labels are those of the data.
        Weights go to its argument `sample_weight`, if it has one.
    name : str
        What it is called; the function's own name by default.
    range : tuple of float, optional
        Smallest and largest possible value. Without it the interval is a bootstrap over units.
    direction : {"higher", "lower"}, optional
        Which side is better. By default lower if the last word of the name is error, loss, deviance, cost or risk, else higher.
    response : {"predict", "predict_proba", "decision_function"}
        What the function is given beside the truth: predicted values, probabilities, or any score that orders the cases.
    options : mapping
        Further arguments of the function.

    Examples
    --------
    >>> from sklearn.metrics import fbeta_score
    >>> f2 = Scoring(fbeta_score, range=(0, 1), options={"beta": 2})
    >>> round(f2.of_set(np.array([1, 1, 1, 0]), np.array([1, 1, 0, 0])), 3)
    0.714
    """

    function: Callable[..., Any]
    name: str = ""
    range: tuple[float, float] | None = None  # type: ignore[assignment,misc]
    direction: str = ""  # type: ignore[misc]
    response: str = "predict"
    options: Mapping[str, Any] = field(default_factory=dict)
    labels: Array | None = field(default=None, repr=False, compare=False)
    bounded: bool = field(default=True, init=False, repr=False, compare=False)
    id: ClassVar[str] = "scoring"
    task: ClassVar[str] = "any"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise KindError(f"the function of a measure is {self.function!r}; give one of (y_true, y_pred).")
        own = getattr(self.function, "__name__", type(self.function).__name__)
        name = self.name or ("function" if own == "<lambda>" else own)
        known = RANGES.get(own, (0.0, float("inf")) if own in _losses_of_numbers() else None)
        span = known if self.range is None else self.range
        direction = self.direction or ("lower" if name.rpartition("_")[2] in LOWER else "higher")
        if direction not in ("lower", "higher"):
            raise UnknownName("direction", direction, ("lower", "higher"))
        if span is not None and not (len(span) == 2 and span[0] < span[1]):
            raise InputError(f"range is {span!r}; give the smallest and the largest possible value, such as (0, 1).")
        made = {
            "id": name,
            "name": name,
            "bounded": span is not None,
            "range": EVERYTHING if span is None else (float(span[0]), float(span[1])),
            "direction": direction,
            "needs_score": self.response != "predict",
            "needs_probability": self.response == "predict_proba",
        }
        for key, value in made.items():
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        return self.typed if self.typed else f"Scoring({self.name})"

    @property
    def typed(self) -> str:
        """The name that scikit-learn has for it, in quotes; empty for other functions."""
        from sklearn.metrics import get_scorer_names

        known = get_scorer_names()
        return next((repr(name) for name in (self.name, f"neg_{self.name}") if name in known), "")

    def for_data(self, data: Data) -> Scoring:
        """Return the measure with the labels of the data, as the function wants them; of two classes one is positive."""
        return self if data.classes is None else self.for_classes(data.classes, data.positive)

    def for_classes(self, classes: Array, positive: Any) -> Scoring:
        """Return the measure for predictions of these classes, of which one is positive."""
        options = dict(self.options)
        # scikit-learn's own functions take the codes, which are faster to sort than texts; others may look at the labels
        labels = np.arange(len(classes)) if self._of_scikit_learn else classes
        takes = _arguments(self.function)
        average = options.get("average", takes.get("average"))
        one_class = len(classes) == 2 and average in (None, "binary", inspect.Parameter.empty)
        if "pos_label" in takes and "pos_label" not in options and one_class:
            options["pos_label"] = labels[np.flatnonzero(classes == positive)[0]].item()
        elif self._of_scikit_learn and options.get("pos_label") is not None:
            options["pos_label"] = self._code_of(options["pos_label"], classes)
        span = self.range if self.bounded else None
        return replace(self, labels=labels, options=options, range=span)

    def _code_of(self, label: Any, classes: Array) -> int:
        found = np.flatnonzero(classes == label)
        if len(found) == 0:
            raise UnknownName(f"pos_label of {self.name}", label, map(str, classes))
        return int(found[0])

    @property
    def _of_scikit_learn(self) -> bool:
        plain = not {"labels", "classes"} & set(self.options)  # such options name labels
        return plain and str(getattr(self.function, "__module__", "")).startswith("sklearn.")

    def of_weights(self, y: Array, value: Array, score: Floats | None, weights: Floats, positive: int = 1) -> Floats:
        """Return what the function gives for many weightings; the shares of classes that everyone uses from their counts at once."""
        if self.labels is None or not self._is_counted or len(self.labels) > MOST_IN_TABLES:
            return super().of_weights(y, value, score, weights, positive)
        hits, misses, alarms, _ = counts_of(y, value, weights, len(self.labels))
        share = _SHARES[self.function.__name__]
        average = self.options.get("average", "binary")
        if average == "binary":
            place = int(self.options.get("pos_label", 1))
            return _ratio(*share(hits[:, place], misses[:, place], alarms[:, place], self.options))
        if average == "micro":
            return _ratio(*share(hits.sum(axis=1), misses.sum(axis=1), alarms.sum(axis=1), self.options))
        # a class that is neither true nor predicted has no part in the mean
        weight = (hits + misses + alarms > 0).astype(float) if average == "macro" else hits + misses
        return _ratio((_ratio(*share(hits, misses, alarms, self.options)) * weight).sum(axis=1), weight.sum(axis=1))

    @property
    def _is_counted(self) -> bool:
        """Whether it is one of scikit-learn's shares of classes, with no options but those that are known here."""
        known = {"average", "beta", "pos_label"} if self._of_scikit_learn else set()
        name = getattr(self.function, "__name__", "")
        average = self.options.get("average", "binary")
        two = self.labels is not None and len(self.labels) == 2 and "pos_label" in self.options
        usual = average in ("macro", "micro", "weighted") or (average == "binary" and two)
        return name in _SHARES and set(self.options) <= known and usual

    def of_set(
        self, y: Array, value: Array, score: Floats | None = None, weight: Floats | None = None, positive: int = 1
    ) -> float:
        """Return what the function gives; rows of whole weights are repeated if it takes no weights."""
        given = value if self.response == "predict" else self._scores(score, positive)
        options = dict(self.options)
        truth = y
        if weight is not None and np.ptp(weight) > 0:
            there = weight > 0  # a class whose rows all have weight 0 is absent, and not one without hits
            truth, given, weight = truth[there], given[there], weight[there]
            if "sample_weight" in _arguments(self.function):
                options["sample_weight"] = weight
            else:
                if np.any(weight != np.round(weight)):
                    raise InputError(
                        f"{self.name} takes no sample_weight, and rows have weights; leave the weights out, or give another measure."
                    )
                copies = np.repeat(np.arange(len(truth)), weight.astype(np.int64))
                truth, given = truth[copies], given[copies]
        if self.labels is not None:
            truth = self.labels[truth]
            given = self.labels[given] if self.response == "predict" else given
            if self.response != "predict" and "labels" in _arguments(self.function) and given.ndim == 2:
                options.setdefault("labels", self.labels)
        try:
            with (
                warnings.catch_warnings()
            ):  # on a part where a class is missing or never predicted, many scores warn and are 0
                warnings.simplefilter("ignore", UserWarning)
                return float(self.function(truth, given, **options))
        except (ValueError, TypeError, ZeroDivisionError, FloatingPointError) as error:
            if len(np.unique(truth)) < 2:  # a test part without a class, on which many scores do not exist
                return float("nan")
            raise InputError(f"the measure {self.name} cannot be computed: {error}") from error

    def _scores(self, score: Floats | None, positive: int) -> Floats:
        """Return scores as scikit-learn hands them on: of two classes those of the positive or the second one, else all columns."""
        if score is None:
            raise InputError(f"{self.name} needs scores, and the model gives none; it needs predict_proba.")
        if score.ndim != 2 or score.shape[1] > 2:
            return score
        if positive == 0 and "pos_label" in self.options:
            return score[:, 0] if score.shape[1] == 2 else -score[:, 0]
        return score[:, -1]


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part over whole, 0 if there is nothing, as scikit-learn has it."""
    return np.asarray(
        np.divide(part, whole, out=np.zeros_like(np.asarray(part, dtype=float)), where=np.asarray(whole) > 0)
    )


def _fbeta(hits: Floats, misses: Floats, alarms: Floats, options: Mapping[str, Any]) -> tuple[Floats, Floats]:
    square = float(options.get("beta", 1.0)) ** 2
    return (1 + square) * hits, (1 + square) * hits + square * misses + alarms


# part and whole of scikit-learn's shares of classes, from hits, misses and false alarms
_SHARES: Mapping[str, Callable[[Floats, Floats, Floats, Mapping[str, Any]], tuple[Floats, Floats]]] = {
    "f1_score": _fbeta,
    "fbeta_score": _fbeta,
    "precision_score": lambda hits, misses, alarms, options: (hits, hits + alarms),
    "recall_score": lambda hits, misses, alarms, options: (hits, hits + misses),
    "jaccard_score": lambda hits, misses, alarms, options: (hits, hits + misses + alarms),
}


def _arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of a function by name, with their defaults; none if it does not tell."""
    try:
        return {name: p.default for name, p in inspect.signature(function).parameters.items()}
    except (TypeError, ValueError):
        return {}


def _losses_of_numbers() -> frozenset[str]:
    """Return the names of scikit-learn's losses of numbers, which are 0 or more."""
    names = "mean_squared mean_absolute median_absolute max mean_squared_log root_mean_squared root_mean_squared_log mean_absolute_percentage"
    return frozenset(f"{name}_error" for name in names.split()) | {
        "mean_poisson_deviance",
        "mean_gamma_deviance",
        "mean_tweedie_deviance",
        "mean_pinball_loss",
    }


def resolve_measure(given: Any) -> Any:
    """Return a measure as this package takes it: the id of a registered one, or an object.

    Parameters
    ----------
    given : str, measure, scorer or function
        An id such as "auc", a name of scikit-learn's such as "roc_auc" or "neg_mean_absolute_error", a scorer made by
        `sklearn.metrics.make_scorer`, or a function of (y_true, y_pred).

    Examples
    --------
    >>> resolve_measure("roc_auc"), resolve_measure("mae"), resolve_measure("auto")
    ('auc', 'absolute', 'auto')
    >>> resolve_measure("f1_macro").range, resolve_measure("neg_median_absolute_error").direction
    ((0.0, 1.0), 'lower')
    """
    if isinstance(given, str):
        if given == "auto":
            return given
        try:
            return find(given, "measures").id
        except UnknownName:
            return _named_scorer(given)
    if hasattr(given, "needs_score"):
        return given
    if hasattr(given, "_score_func"):
        return _of_scorer(given, "")
    if callable(given) and not isinstance(given, type):
        return _of_function(given)
    raise KindError(
        f"the measure is {given!r}; give an id such as 'auc', a name or scorer of scikit-learn's, a function of "
        "(y_true, y_pred), or an object such as unseen.measures.Cost(...)."
    )


def _named_scorer(name: str) -> Any:
    from sklearn.metrics import get_scorer, get_scorer_names

    known = get_scorer_names()
    if name not in known:
        ours = [alias for cls in classes_in("measures").values() for alias in (cls.id, *cls.aliases)]
        raise UnknownName("measure", name, {*ours, *known})
    return _of_scorer(get_scorer(name), name.removeprefix("neg_"))


def _of_scorer(scorer: Any, name: str) -> Any:
    """Return the measure of a scorer: its function with its options, the sign turned into a direction."""
    function, response = scorer._score_func, getattr(scorer, "_response_method", "predict")
    kinds = (response,) if isinstance(response, str) else tuple(response)
    options = dict(scorer._kwargs)
    average = options.get("average")
    if not name:
        own = getattr(function, "__name__", "function").removesuffix("_score")
        name = own if average in (None, "binary") else f"{own}_{average}"
    direction = "lower" if scorer._sign < 0 else "higher"
    if options.get("pos_label", 0) is None:  # scikit-learn's way to say that it does not matter
        del options["pos_label"]
    return Scoring(function, name, None, direction, kinds[0], options)


def _of_function(function: Callable[..., Any]) -> Any:
    required = [name for name, default in _arguments(function).items() if default is inspect.Parameter.empty]
    if len(required) > 2 and required[0] in ("estimator", "model", "clf"):
        raise KindError(
            f"the measure {getattr(function, '__name__', function)!r} takes (estimator, X, y); give a function of (y_true, y_pred), "
            "so that it can be resampled without refitting."
        )
    return Scoring(function)
