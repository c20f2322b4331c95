"""`unseen.preprocessing_leak`: how much the error changes when preprocessing is moved inside the resampling loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unseen.core.comparison import Comparison
from unseen.core.estimate import Estimate
from unseen.core.notes import Note, note
from unseen.core.registry import build
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed
from unseen.designs.splits import as_design
from unseen.engine.run import execute
from unseen.request.prepare import data_of, model_of, plan_of
from unseen.significance.paired import from_estimate

__all__ = ["PreprocessingLeak", "preprocessing_leak"]


@dataclass(frozen=True)
class PreprocessingLeak(Result):
    """The error with preprocessing fitted on all rows, with it fitted inside every split, and their paired difference.

    Parameters
    ----------
    outside, inside : Estimate
        Error as it looks with the leak, and as it is.
    difference : Comparison
        Outside minus inside on the same splits; negative if the leak makes the error look smaller.
    notes : tuple of Note
        A warning if the difference is shown.
    """

    outside: Estimate
    inside: Estimate
    difference: Comparison
    notes: tuple[Note, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return both errors and the difference."""
        pairs = {
            "outside the loop": self.outside,
            "inside the loop": self.inside,
            "difference": self.difference.estimate,
        }
        return [{"preprocessing": where, **e.row()} for where, e in pairs.items()]

    def __str__(self) -> str:
        p = self.difference.p
        lines = [
            f"fitted outside the loop: {self.outside.value:.4g}",
            f"fitted inside the loop:  {self.inside.value:.4g}",
            f"difference: {self.difference.difference:+.4g}" + ("" if p is None else f" (p = {p:.3g})"),
        ]
        return "\n".join([*lines, *(str(n) for n in self.notes)])


def preprocessing_leak(
    transformer: Any,
    model: Any,
    X: Any,
    y: Any,
    *,
    loss: str = "auto",
    level: float = 0.95,
    design: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> PreprocessingLeak:
    """Measure what fitting a transformer on all rows before cross-validation hides.

    Parameters
    ----------
    transformer : object with fit and transform
        Preprocessing, such as a selection of features.
    model : object with fit and predict
        What is trained on its output.
    X, y : array-like
        Sample.
    loss, level, random_state, n_jobs
        As in `unseen.estimate`.
    design : optional
        Splits; 25 random 75/25 ones by default.

    Returns
    -------
    PreprocessingLeak

    References
    ----------
    Ambroise, C. and McLachlan, G. J. (2002). Selection bias in gene extraction on the basis of microarray gene-expression
    data. PNAS 99, 6562-6566.

    Examples
    --------
    >>> import numpy as np, unseen
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((40, 500)), np.repeat([0, 1], 20)
    >>> leak = unseen.preprocessing_leak(SelectKBest(k=5), GaussianNB(), X, y, random_state=0)
    >>> leak.outside.value < 0.4 < leak.inside.value, [n.code for n in leak.notes]
    (True, ['U005'])
    """
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    seed = root_seed(random_state)
    whole = data_of(X, y)
    leaked = data_of(clone(transformer).fit_transform(whole.X, whole.y), whole.y, task=whole.task, duplicates="apart")
    leaked = replace(leaked, joined=whole.joined)  # one plan serves both
    method = build("corrected-t", "estimators")
    plan = plan_of(method.difference_design(whole) if design is None else as_design(design), whole, seed)
    runs = {"outside": (clone(model), leaked), "inside": (make_pipeline(clone(transformer), clone(model)), whole)}
    tables = {
        name: execute(model_of(one, data), data, plan, seed=seed, n_jobs=n_jobs).losses(loss)
        for name, (one, data) in runs.items()
    }
    alone = {name: method(table, level=level) for name, table in tables.items()}
    pair = from_estimate(method, tables["outside"].minus(tables["inside"]), level)
    notes: tuple[Note, ...] = ()
    if pair.difference < 0 and pair.p is not None and pair.p < 1 - level:
        text = f"preprocessing fitted on all rows makes the error look smaller by {-pair.difference:.3g}; fit it inside the loop"
        notes = (note("U005", text),)
    return PreprocessingLeak(alone["outside"], alone["inside"], pair, notes)
