"""The contract of an engine: same numbers whatever the workers, failures as rows, probes kept, models untouched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import FitError
from unseen.core.losses import PredictionTable
from unseen.designs.bootstrap import Bootstrap
from unseen.designs.kfold import KFold
from unseen.testing._samples import Centroids, sample

__all__ = ["ENGINE_CHECKS", "check_engine"]


@dataclass(frozen=True)
class Fickle:
    """A model that draws from its seed, and fails if the first training row is among `bad`."""

    bad: tuple[int, ...] = ()
    name: str = "Fickle()"

    def fit(self, data: Data, seed: int) -> Any:
        """Return class means shaken by the seed, or raise."""
        if data.ids is not None and int(data.ids[0]) in self.bad:
            raise RuntimeError("this fit does not like its first row")
        fitted = Centroids().fit(data, seed)
        fitted.means[:] += np.random.default_rng(seed).normal(0, 0.5, fitted.means.shape)
        return fitted


def _sample() -> Data:
    data = sample()
    return replace(data, ids=np.arange(data.n))


def _run(execute: Any, model: Any, design: Any, **options: Any) -> PredictionTable:
    data = _sample()
    result: PredictionTable = execute(model, data, design.plan(data, np.random.default_rng(0)), seed=11, **options)
    return result


def workers_do_not_matter(execute: Any) -> None:
    """One and two workers give bit-identical tables, and so does a second run."""
    tables = [
        _run(execute, Fickle(), Bootstrap(40), train=True, full=True, scores=True, n_jobs=jobs) for jobs in (1, 2, 1)
    ]
    for part in ("test", "train", "full"):
        for column in ("split", "row", "value", "score", "count"):
            values = [getattr(getattr(t, part), column) for t in tables]
            for other in values[1:]:
                assert (other is None) == (values[0] is None), f"{part}.{column} is kept for some workers only"
                assert other is None or np.array_equal(values[0], other), f"{part}.{column} depends on the workers"


def seeds_belong_to_tasks(execute: Any) -> None:
    """Another seed gives other fits; the seed of a fit does not depend on how many there are."""
    data = _sample()
    plan = KFold(10).plan(data, np.random.default_rng(0))
    short = type(plan)(plan.design, plan.splits[:4], plan.units)
    whole, part = (execute(Fickle(), data, p, seed=11).test for p in (plan, short))
    assert np.array_equal(whole.value[: len(part)], part.value), "the first fits depend on the number of fits"
    other = execute(Fickle(), data, plan, seed=12).test
    assert not np.array_equal(whole.value, other.value), "the seed of the run does not reach the fits"


def failures_become_rows(execute: Any) -> None:
    """A failed fit is counted with its reason, the others are kept; when all fail that is an error."""
    data = _sample()
    plan = KFold(6).plan(data, np.random.default_rng(0))
    first = sorted({int(s.train[0]) for s in plan})
    rarest = min(first, key=lambda row: sum(int(s.train[0]) == row for s in plan))
    table = execute(Fickle(bad=(rarest,)), data, plan, seed=11)
    failed = [f.split for f in table.failures]
    wanted = [j for j, s in enumerate(plan) if int(s.train[0]) == rarest]
    assert failed == wanted, f"splits {wanted} failed, the table says {failed}"
    assert "does not like" in table.failures[0].reason, "the reason of a failure is lost"
    assert not np.isin(table.test.split, failed).any(), "a failed split has predictions"
    assert any(n.code == "U008" for n in table.notes), "failures are not noted"
    try:
        execute(Fickle(bad=tuple(first)), data, plan, seed=11)
    except FitError as error:
        assert "does not like" in str(error), "the error of a run that failed altogether hides the reason"
    else:
        raise AssertionError("a run in which every fit failed returned a table")


def probes_are_kept(execute: Any) -> None:
    """Values that probes return come back by name and split, in order."""
    probes = {"means": lambda fitted, train, test: fitted.means, "sizes": lambda fitted, train, test: (train.n, test.n)}
    table = _run(execute, Fickle(), KFold(5), probes=probes)
    assert [tuple(s) for s in table.probe("sizes")] == [(48, 12)] * 5, "a probe saw the wrong parts"
    assert all(np.shape(m) == (2, 3) for m in table.probe("means")), "a probe's array is lost"


def predictions_are_of_the_right_rows(execute: Any) -> None:
    """Every test row of a split has its own prediction, equal to that of a model fitted on the same rows."""
    data = _sample()
    plan = KFold(4).plan(data, np.random.default_rng(0))
    table = execute(Centroids(), data, plan, seed=11)
    for j, split in enumerate(plan):
        here = table.test.split == j
        assert np.array_equal(np.sort(table.test.row[here]), np.sort(split.test)), "test rows are not the plan's"
        fitted = Centroids().fit(data.take(split.train), 0)
        assert np.array_equal(table.test.value[here], fitted.predict(data.X[table.test.row[here]])), (
            f"split {j}: predictions are not those of a model fitted on the same rows"
        )


def data_and_model_are_untouched(execute: Any) -> None:
    """A user's estimator and arrays are the same after a run."""
    from sklearn.tree import DecisionTreeClassifier

    from unseen.models.sklearn import as_model

    data, tree = _sample(), DecisionTreeClassifier(max_depth=3)
    X, y = data.X.copy(), data.y.copy()
    execute(as_model(tree), data, KFold(3).plan(data, np.random.default_rng(0)), seed=1)
    assert not hasattr(tree, "tree_"), "the user's estimator was fitted"
    assert tree.get_params() == DecisionTreeClassifier(max_depth=3).get_params(), "the user's estimator was changed"
    assert np.array_equal(X, data.X) and np.array_equal(y, data.y), "the user's data were changed"


ENGINE_CHECKS = (
    workers_do_not_matter,
    seeds_belong_to_tasks,
    failures_become_rows,
    probes_are_kept,
    predictions_are_of_the_right_rows,
    data_and_model_are_untouched,
)


def check_engine(execute: Any) -> None:
    """Check an engine against the contract.

    Parameters
    ----------
    execute : callable
        Takes what `unseen.engine.run.execute` takes and returns a PredictionTable.

    Examples
    --------
    >>> from unseen.engine.run import execute
    >>> check_engine(execute)
    """
    for check in ENGINE_CHECKS:
        check(execute)
