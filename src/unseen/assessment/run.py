"""`unseen.run` and `unseen.load`: make a table of predictions, and read one back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

from unseen.core.errors import InputError
from unseen.core.losses import PredictionTable, load_table
from unseen.core.rng import RandomState
from unseen.designs.splits import as_design
from unseen.request.prepare import data_of
from unseen.request.request import open_request

__all__ = ["load", "run"]


def run(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    design: Any = None,
    cv: Any = None,
    random_state: RandomState = None,
    train: bool = False,
    full: bool = False,
    scores: bool = False,
    probes: Mapping[str, Callable[..., Any]] | None = None,
    shortcuts: bool = True,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: str = "auto",
) -> PredictionTable:
    """Fit a model on every split of a design and keep all its predictions.

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        Cloned before every fit.
    X, y : array-like
        Sample; pandas and polars frames and sparse matrices are welcome.
    design : design, id of one, scikit-learn splitter, index pairs or number of folds
        What is fitted on what; 10-fold cross-validation by default.
    cv : int, scikit-learn splitter or index pairs
        The same in scikit-learn's words: a whole number is a round of so many folds, and splits get the name of the design they
        have the form of, so that its methods apply.
    random_state : int, Generator or None
        Same seed, same numbers, whatever `n_jobs`.
    train, full, scores : bool
        Keep predictions for training rows too (optimism needs them); add the fit on all rows; keep probabilities or decision values.
    probes : mapping of str to callable, optional
        Functions of (fitted, train, test); what they return is kept by name.
    shortcuts : bool
        Answer for learners such as least squares, LDA or nearest neighbours by algebra, which equals refitting; False refits.
    n_jobs : int, optional
        Worker processes, as in joblib.
    engine : None, "joblib", "dask", "local:N", address or distributed.Client
        Where the fits run; by default on the active dask client if there is one, else here. Same numbers everywhere.
    progress : bool, optional
        Progress bar on stderr; by default if that is a terminal.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        Rows with equal features stay on one side of every split: "together" all of them, "apart" none, "auto" those that chance
        does not make, if neither groups nor time are given.

    Returns
    -------
    PredictionTable

    Examples
    --------
    >>> import unseen
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = unseen.datasets.load("iris").xy
    >>> t = unseen.run(DecisionTreeClassifier(), X, y, design=unseen.designs.LeaveOut(0.25, 20), random_state=0)
    >>> t.losses("zero-one").split_means().shape
    (20,)
    """
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
        model=model,
    )
    if cv is not None and design is not None:
        raise InputError("cv and design both say what is fitted on what; give one of them.")
    with open_request(
        model,
        data,
        random_state=random_state,
        n_jobs=n_jobs,
        engine=engine,
        progress=progress,
        shortcuts=shortcuts,
    ) as request:
        chosen = as_design("kfold" if design is None else design) if cv is None else request.design_of(cv)
        return request.run(chosen, train=train, full=full, scores=scores, probes=probes)


def load(path: str | PathLike[str]) -> PredictionTable:
    """Read a table written by `PredictionTable.save`; nothing is unpickled.

    Examples
    --------
    >>> import tempfile, pathlib, unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> t = unseen.run(GaussianNB(), X, y, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     u = unseen.load(t.save(pathlib.Path(folder) / "run.npz"))
    >>> u.plan.fingerprint == t.plan.fingerprint
    True
    """
    return load_table(path)
