"""Which test `compare` takes if none is named: by the data, the models and the measure, never by the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unseen.core.data import Data
from unseen.core.errors import DesignError
from unseen.core.losses import LossTable
from unseen.estimators.out_of_bag import MIN_REPLICATES
from unseen.estimators.subsampling import can_subsample
from unseen.models.inner_resampling import resamples_inside
from unseen.request.prepare import measure_kind, needs_scores

__all__ = ["choose_by_design", "choose_test", "target_words"]

MOST_UNITS = 2000  # above, 200 fits of each model cost hours, and 25 splits show all differences but tiny ones
BY_DESIGN = {  # tests made for one design; random splits and folds have the corrected t
    "5x2cv": "5x2cv",
    "bootstrap": "out-of-bag",
    "nested": "nested-cv",
    "split-halves": "conservative-z",
    "time-ordered": "time-ordered",
    "holdout": "wald",
}
ONE_ROUND = frozenset({"kfold", "loo"})  # cv-wald, made for these, finds .17 of equal pairs of unstable models at .05
FOLDS_AND_PARTS = frozenset({"holdout", "kfold", "loo"})  # each case is tested once: DeLong's variance holds


def choose_test(models: Mapping[str, Any], data: Data, loss: Any) -> tuple[str, str]:
    """Return the id of the test for models that are to be fitted, and why it was taken.

    Parameters
    ----------
    models : mapping of str to model
        What is compared.
    data : Data
        The sample.
    loss : str or measure
        What is compared by.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegressionCV
    >>> iris = unseen.datasets.load("iris")
    >>> choose_test({"a": None, "b": None}, iris, "zero-one")[0]
    'subsampling'
    >>> choose_test({"a": LogisticRegressionCV(), "b": None}, iris, "zero-one")
    ('corrected-t', 'LogisticRegressionCV cross-validates inside its fit, and 200 such fits are many')
    """
    if reason := _why_not(models, data, loss):
        return "corrected-t", reason
    return "subsampling", f"the default up to {MOST_UNITS:,} rows"


def _why_not(models: Mapping[str, Any], data: Data, loss: Any) -> str:
    """Return why 200 subsamples do not suit; empty if they do."""
    classes = 0 if data.classes is None else len(data.classes)
    if loss != "auto" and not can_subsample(measure_kind(loss), classes):
        return f"{measure_kind(loss).id} is no mean of losses"
    if data.groups is not None:
        return "rows come in groups"
    if data.weights is not None:
        return "rows are weighted"
    if data.order is not None:
        return "rows are ordered in time"
    if data.n_units > MOST_UNITS:
        return f"more than {MOST_UNITS:,} rows"
    for model in models.values():
        if reason := resamples_inside(model, data.n, scores=needs_scores(loss)):
            return f"{reason}, and {MIN_REPLICATES} such fits are many"
    return ""


def choose_by_design(design: str, loss: Any) -> tuple[str, str]:
    """Return the id of the test that suits a design, and why it was taken.

    Examples
    --------
    >>> choose_by_design("bootstrap", "auto")[0], choose_by_design("monte-carlo", "auc")[0], choose_by_design("loo", "auc")[0]
    ('out-of-bag', 'corrected-t', 'delong')
    """
    if loss == "auc" and design in FOLDS_AND_PARTS:
        return "delong", f"it suits areas on the design {design}"
    if design in ONE_ROUND:
        raise DesignError(
            f"one round of {design} has no recommended test; give cv=10 for folds with the corrected t (also to unseen.run, for "
            "tables), or name a test: mcnemar, permutation, wilcoxon or cv-wald."
        )
    return BY_DESIGN.get(design, "corrected-t"), f"it suits the design {design}"


def target_words(test: Any, table: LossTable) -> str:
    """Return what a difference is the difference of, with its training size.

    Examples
    --------
    >>> import unseen
    >>> from unseen.core.registry import build
    >>> X, y = unseen.datasets.load("iris").xy
    >>> t = unseen.run("lda", X, y, design=unseen.designs.Bootstrap(5), random_state=0).losses()
    >>> target_words(build("out-of-bag", "estimators"), t)
    'the algorithms trained on about 95 distinct rows of 150'
    """
    unit = "rows" if table.data.groups is None else "groups"
    n = table.data.n_units
    if test.target is not None and test.target.kind == "model":
        return f"the two models as they were trained, on {_size(table.plan.mean_sizes()[1])} of {n:,} {unit}"
    if table.plan.design == "bootstrap":
        return f"the algorithms trained on about {_size((1 - (1 - 1 / n) ** n) * n)} distinct {unit} of {n:,}"
    size = n if test.id == "nested-cv" else table.plan.mean_sizes()[1]
    return f"the algorithms trained on {_size(size)} of {n:,} {unit}"


def _size(n: float) -> str:
    return f"{n:,.0f}"
