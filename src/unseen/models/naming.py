"""Short names of models, as a sentence uses them."""

from __future__ import annotations

import inspect
import re
from functools import lru_cache
from typing import Any

from unseen.models.parameters import defaults_of, own_parameters

__all__ = ["full_name", "short_name"]

LONGEST = 60  # characters of a name with its parameters, so that a sentence with it stays one line
MOST_PARAMETERS = 3  # further ones stand in the full name
LONGEST_FULL = 2000  # characters of a report's last section
# how a fit runs, not what is fitted
LEFT_OUT = frozenset({"random_state", "n_jobs", "verbose", "max_iter", "tol", "copy_X", "cache_size", "warm_start"})
KINDS = ("Classifier", "Regressor", "CV")  # ends of names that say nothing of the method
# classes whose names are no words
WORDS = {
    "SVC": "support vector machine",
    "NuSVC": "support vector machine",
    "LinearSVC": "linear support vector machine",
    "SVR": "support vector regression",
    "LinearSVR": "linear support vector regression",
    "GaussianNB": "Gaussian naive Bayes",
    "MultinomialNB": "multinomial naive Bayes",
    "BernoulliNB": "Bernoulli naive Bayes",
    "ComplementNB": "complement naive Bayes",
    "KNeighborsClassifier": "nearest neighbours",
    "KNeighborsRegressor": "nearest neighbours",
    "MLPClassifier": "neural net",
    "MLPRegressor": "neural net",
    "SGDClassifier": "linear model by stochastic gradients",
    "SGDRegressor": "linear model by stochastic gradients",
    "AdaBoostClassifier": "AdaBoost",
    "AdaBoostRegressor": "AdaBoost",
    "HistGradientBoostingClassifier": "gradient boosting",
    "HistGradientBoostingRegressor": "gradient boosting",
    "XGBClassifier": "XGBoost",
    "XGBRegressor": "XGBoost",
    "LGBMClassifier": "LightGBM",
    "LGBMRegressor": "LightGBM",
    "CatBoostClassifier": "CatBoost",
    "CatBoostRegressor": "CatBoost",
    "GridSearchCV": "grid search",
    "RandomizedSearchCV": "random search",
    "HalvingGridSearchCV": "halving grid search",
    "HalvingRandomSearchCV": "halving random search",
}


def short_name(model: Any) -> str:
    """Return what a model is called in a sentence: words of its class, parameters that were set, and what it stands in.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> short_name(DecisionTreeClassifier(max_depth=2))
    'decision tree (max_depth=2)'
    >>> pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    >>> short_name(pipeline)
    'logistic regression (pipeline of 2 steps)'
    >>> short_name(GridSearchCV(pipeline, {"logisticregression__C": [1, 10]}))
    'logistic regression (grid search, pipeline of 2 steps)'
    """
    inner, around = _unwrap(model)
    set_to = _parameters(inner)
    name = _words_of(inner)
    whole = _join_details(name, [*around, *set_to])
    if len(whole) > LONGEST:
        whole = _join_details(name, around)
    return whole if len(whole) <= LONGEST else name[:LONGEST]


def full_name(model: Any) -> str:
    """Return a model's own text in one line, addresses in memory left out.

    Examples
    --------
    >>> full_name(object())
    '<object object>'
    """
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(repr(model).split()))
    return text if len(text) <= LONGEST_FULL else text[: LONGEST_FULL - 1] + "…"


def _join_details(name: str, details: list[str]) -> str:
    return f"{name} ({', '.join(details)})" if details else name


def _unwrap(model: Any) -> tuple[Any, list[str]]:
    """Return the predictor inside pipelines and searches, and what it stands in, outermost first."""
    around: list[str] = []
    for _ in range(10):  # a model inside itself ends here
        steps = getattr(model, "steps", None)
        if isinstance(steps, list) and steps:
            around.append(f"pipeline of {len(steps)} step{'s' * (len(steps) > 1)}")
            model = steps[-1][1]
            continue
        inside = next(
            (
                found
                for name in ("estimator", "regressor", "base_estimator")
                if hasattr(found := getattr(model, name, None), "fit")
                and not isinstance(found, type)
                and _was_given(model, name)
            ),
            None,
        )
        if inside is None:
            break
        around.append(_words_of(model))
        model = inside
    return model, around


def _was_given(model: Any, name: str) -> bool:
    """Say whether an attribute is a parameter of the model: the tree that a forest keeps as its `estimator` is none."""
    return not hasattr(model, "get_params") or isinstance(model, type) or name in own_parameters(model)


def _words_of(model: Any) -> str:
    """Return the class of a model in words; a function by its name."""
    if not hasattr(model, "get_params") and inspect.isroutine(model):
        name = str(getattr(model, "__name__", "function"))
        return "function" if name == "<lambda>" else name
    name = type(model).__name__
    if name in WORDS:
        return WORDS[name]
    if name.islower() or not name.isidentifier():
        return name
    parts = getattr(model, "estimators", None)
    plain = next((name.removesuffix(end) for end in KINDS if name.endswith(end)), name) or name
    text = _separate_words(plain) or name
    return f"{text} of {len(parts)} model{'s' * (len(parts) > 1)}" if isinstance(parts, list) and parts else text


@lru_cache(256)
def _separate_words(name: str) -> str:
    """Return the words of a name in capitals and small letters."""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+", name)
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words)


def _parameters(model: Any) -> list[str]:
    """Return the parameters that differ from their defaults, if they are plain values."""
    if not hasattr(model, "get_params"):
        return []
    try:
        cls: Any = type(model)
        given, defaults = own_parameters(model), defaults_of(cls)
    except (TypeError, ValueError, AttributeError):
        return []
    found = []
    for name, value in given.items():
        plain = isinstance(value, (str, bool, int, float)) and len(str(value)) < 20
        if plain and name not in LEFT_OUT and name in defaults and value != defaults[name]:
            found.append(
                f"{name}={value if isinstance(value, str) else format(value, 'g') if isinstance(value, float) else value}"
            )
    return found[:MOST_PARAMETERS]
