"""`unseen.Study`: a study by its name in a store; run it, stop it, resume it, sum it up."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from unseen.core.arrays import Array
from unseen.core.errors import InputError
from unseen.engine.events import reporter_for
from unseen.store import DEFAULT_URL, Progress, SqlStore, open_store
from unseen.study.summary import StudySummary

__all__ = ["Study"]

KIND = "study"


class Study:
    """A Monte-Carlo study of error estimators that loses nothing: what is done is in the store, what is missing can be run.

    Parameters
    ----------
    name : str
        Name of the study in the store.
    store : str, path or store
        URL such as `sqlite:///studies.db` or `postgresql://user@host/database`, the path of an SQLite file, or an open
        store.

    Examples
    --------
    >>> import unseen
    >>> spec = {
    ...     "replications": 5, "sizes": [20], "populations": ["gaussian-blocks"], "models": ["knn:3"],
    ...     "methods": ["resub", "bolster"], "n_test": 500,
    ... }
    >>> s = unseen.Study("mine", store="studies.db").run(spec, n_jobs=1)
    >>> s.status().state, s.summary()["resub"].deviation.bias < 0
    ('done', True)
    """

    def __init__(self, name: str, store: str | PathLike[str] | SqlStore = DEFAULT_URL) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"the name of the study is {name!r}; give a text.")
        self.name = name
        self.store = store if isinstance(store, SqlStore) else open_store(_url(store))

    def run(
        self,
        spec: Any,
        *,
        n_jobs: int | None = None,
        scheduler: Any = None,
        progress: Any = None,
        seconds: float | None = None,
    ) -> Study:
        """Add what the spec asks for to the store and run what is missing.

        Parameters
        ----------
        spec : path, dict or StudySpec
            What to run; a spec with more replications, sizes, models or methods than the stored one adds the missing
            tasks. The study's name takes the place of the spec's.
        n_jobs : int, optional
            Worker processes of this machine.
        scheduler : str or dask client, optional
            Dask cluster to run on: tcp://host:8786 or local:4.
        progress : bool, optional
            Progress bar on stderr; by default if that is a terminal.
        seconds : float, optional
            Stop after so many seconds; the spec's own budget by default.

        Returns
        -------
        Study
            The study itself; `status()` says whether all is done.
        """
        from unseen.study.spec import as_spec

        checked = as_spec(spec, self.name)
        self.store.add_study(self.name, KIND, checked.to_dict(), checked.cells(), checked.tasks())
        return self._drive(n_jobs, scheduler, progress, seconds)

    def resume(
        self, *, n_jobs: int | None = None, scheduler: Any = None, progress: Any = None, seconds: float | None = None
    ) -> Study:
        """Run what is missing, tasks that failed or were cancelled included."""
        self.store.reopen(self.name)
        return self._drive(n_jobs, scheduler, progress, seconds)

    def _drive(self, n_jobs: int | None, scheduler: Any, progress: Any, seconds: float | None) -> Study:
        from unseen.study.driver import drive

        if seconds is None:
            seconds = (self.store.spec(self.name).get("budget") or {}).get("seconds")
        reporter = reporter_for(progress)
        try:
            drive(self.store, self.name, n_jobs=n_jobs, scheduler=scheduler, reporter=reporter, stop_after=seconds)
        finally:
            reporter.close()
        return self

    def status(self) -> Progress:
        """Return how far the study is."""
        return self.store.progress(self.name)

    def cancel(self) -> Study:
        """Ask all drivers of the study to stop; what is done stays."""
        self.store.cancel(self.name)
        return self

    def summary(self) -> StudySummary:
        """Return bias, variance, RMS, coverage, width, size, power and time, from what is done so far."""
        from unseen.study.summary import summary_of

        return summary_of(self.store, self.name)

    def columns(self) -> dict[str, Array]:
        """Return the results as arrays, ordered by cell and replication."""
        return self.store.columns(self.name)

    def failures(self) -> list[dict[str, Any]]:
        """Return the failed tasks with their reasons, and which cell each is of."""
        cells = self.store.cells(self.name)
        names = ("population", "model", "n", "method")
        return [{**{k: cells[one["cell"]].get(k) for k in names}, **one} for one in self.store.failures(self.name)]

    def export(self, path: str | PathLike[str], what: str | None = None) -> Path:
        """Write the results to a file: .csv and .parquet hold one line per task, .tex the summary as a table.

        Parameters
        ----------
        path : path
            The ending says the format.
        what : {"tasks", "summary"}, optional
            What to write; tasks for .csv and .parquet, the summary for .tex by default.
        """
        from unseen.study.export import export

        return export(self, path, what)

    def close(self) -> None:
        """Close the store; a study that was closed cannot be used again."""
        self.store.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Study({self.name!r}, store={self.store!r})"


def _url(store: str | PathLike[str]) -> str | Path:
    return store if isinstance(store, str) else Path(store)
