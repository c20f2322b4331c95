"""Errors that tell what was given, what is needed and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

__all__ = [
    "DesignError",
    "FitError",
    "InputError",
    "KindError",
    "MissingExtra",
    "NotApplicable",
    "NotWritten",
    "PartialRun",
    "Paused",
    "Stopped",
    "UnknownName",
    "UnseenError",
    "as_missing_extra",
    "install_line",
    "nearest",
]


class UnseenError(Exception):
    """Base of every error this package raises on purpose.

    Examples
    --------
    >>> [issubclass(InputError, kind) for kind in (UnseenError, ValueError, TypeError)]
    [True, True, False]
    """

    exit_code = 2  # of the command line

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the message on the way from a worker; an error whose arguments are not its message cannot be made again from it."""
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[UnseenError], args: tuple[Any, ...], state: dict[str, Any]) -> UnseenError:
    """Return an error as it was pickled, without the constructor that made its message."""
    error = kind.__new__(kind, *args)
    super(UnseenError, error).__init__(*args)
    error.__dict__.update(state)
    return error


class InputError(UnseenError, ValueError):
    """A value that cannot be used."""


class KindError(UnseenError, TypeError):
    """An object of a kind that cannot be used."""


class DesignError(InputError):
    """A method was given a table of a design it is not valid for."""


class NotApplicable(InputError):
    """A method does not apply to this kind of model, task or loss; `assess` leaves it out without a word."""


class NotWritten(InputError):
    """A result could not be written: the disk is full, or the place cannot be written to."""

    exit_code = 74


class FitError(UnseenError, RuntimeError):
    """Every fit of a run failed, or the one on all rows."""


class PartialRun(UnseenError, RuntimeError):
    """A long run had to stop; what was finished is kept and the run can be resumed."""

    exit_code = 3


class MissingExtra(UnseenError, ImportError):
    """An optional package is needed; the message names the extra to install."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed: {install_line(extra, package)}."
        )


# what an extra of this package asks for, as in pyproject.toml: a hint names packages that are on the index
REQUIREMENTS = {
    "frames": ("pyarrow>=15",), "models": ("skops>=0.13", "onnxruntime>=1.19"), "study": ("SQLAlchemy>=2.0.30", "pydantic>=2.8"),
    "postgres": ("psycopg[binary]>=3.2",), "dask": ("dask>=2024.8", "distributed>=2024.8"), "web": ("starlette>=0.40", "uvicorn>=0.30"),
    "torch": ("torch>=2.11", "safetensors>=0.4.5"),
}  # fmt: skip


def install_line(extra: str, package: str = "") -> str:
    """Return the command that installs what an extra asks for.

    Examples
    --------
    >>> install_line("frames"), install_line("mlflow", "mlflow")
    ("pip install 'pyarrow>=15'", 'pip install mlflow')
    """
    needed = REQUIREMENTS.get(extra)
    return (
        f"pip install {package or extra}" if needed is None else "pip install " + " ".join(f"'{one}'" for one in needed)
    )


EXTRAS = {
    "sqlalchemy": "study", "pydantic": "study", "psycopg": "postgres", "dask": "dask", "distributed": "dask",
    "starlette": "web", "uvicorn": "web", "torch": "torch", "safetensors": "torch", "pyarrow": "frames", "skops": "models",
    "onnxruntime": "models",
}  # fmt: skip


def as_missing_extra(error: ModuleNotFoundError, purpose: str) -> ModuleNotFoundError | MissingExtra:
    """Return what to raise for a package that was not found: the extra's name if the package belongs to one.

    Examples
    --------
    >>> str(as_missing_extra(ModuleNotFoundError(name="sqlalchemy.orm"), "unseen.store"))
    "unseen.store needs the package 'sqlalchemy', which is not installed: pip install 'SQLAlchemy>=2.0.30' 'pydantic>=2.8'."
    """
    package = (error.name or "").partition(".")[0]
    return MissingExtra(package, EXTRAS[package], purpose) if package in EXTRAS else error


class Stopped(KeyboardInterrupt):
    """The run was interrupted; the message says what was kept, and `table` has the predictions made before, if they are enough."""

    def __init__(self, message: str = "", table: Any = None) -> None:
        super().__init__(message)
        self.table = table


class Paused(Stopped):
    """The run was interrupted and can be resumed; the message says what is kept and how to go on."""


class UnknownName(InputError):
    """A name that is not registered; the message suggests the nearest ones."""

    def __init__(self, what: str, name: object, known: Iterable[str], hint: str = "") -> None:
        names = sorted(known)
        close = nearest(str(name), names)
        advice = f"did you mean {' or '.join(repr(c) for c in close)}?" if close else f"known: {', '.join(names[:40])}."
        super().__init__(f"unknown {what} {name!r}: {advice}{' ' + hint if hint else ''}")


def nearest(name: str, names: Iterable[str], count: int = 2) -> list[str]:
    """Return the names most like `name`, best first; empty if none is near.

    Examples
    --------
    >>> nearest("corected-t", ["corrected-t", "kfold"])
    ['corrected-t']
    """
    by_lower = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=count, cutoff=0.6)
    return [by_lower[c] for c in close]
