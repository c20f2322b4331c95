"""Where the commands on nets get networks and data from: one way of reading for all of them."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.core.errors import InputError
from unseen.request.command_line import SharedOptions

__all__ = ["DataOptions", "describe_error", "import_function", "read_names", "read_pairs"]

TEXTS = ("posterior_layer",)  # options whose value is text, also if it looks like a number


@dataclass(frozen=True, kw_only=True)
class DataOptions(SharedOptions):
    """How examples are read, and what the outputs of the nets are called."""

    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            help="Read so many examples of the data at most: the first ones, of pictures equally many of every class.",
        ),
    ] = None
    channels: Annotated[
        int | None,
        typer.Option("--channels", min=1, max=3, help="Turn pictures to grey (1) or colour (3); as the first one is."),
    ] = None
    size: Annotated[
        int | None, typer.Option("--size", min=1, help="Bring pictures to so many pixels a side, cut in the middle.")
    ] = None
    mean: Annotated[
        str | None,
        typer.Option(
            "--mean", help="Mean that images (0 to 1) were normalised by in training: one number, or one per channel."
        ),
    ] = None
    std: Annotated[str | None, typer.Option("--std", help="Standard deviation for the same; numbers as --mean.")] = None
    value_range: Annotated[
        str | None,
        typer.Option("--range", help="Values of black and white of images that are normalised already, such as -1,1."),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option("--classes", help="Labels of the net's outputs in their order, between commas, or their number."),
    ] = None

    def read(self, path: Path) -> Any:
        """Return the examples of a file or folder."""
        from unseen.nets import read_examples

        return read_examples(
            path,
            limit=self.limit,
            channels=self.channels,
            size=self.size,
            mean=_numbers("--mean", self.mean),
            std=_numbers("--std", self.std),
        )

    def ends(self) -> tuple[float, float] | None:
        """Return the values of black and white, if they are given."""
        found = _numbers("--range", self.value_range)
        if found is not None and (len(found) != 2 or not found[0] < found[1]):
            raise InputError(f"--range {self.value_range!r}: give two numbers, black below white, as in -1,1.")
        return None if found is None else (found[0], found[1])

    def labels(self, examples: Any) -> Any:
        """Return the labels of the net's outputs, in the kind of the data's labels; None if the data name them."""
        text = self.classes
        if text is None:
            return None
        names = [part.strip() for part in text.split(",")]
        whole = examples.y.dtype.kind == "i"
        if whole and len(names) == 1 and names[0].isdecimal() and int(names[0]) > 0:
            return list(range(int(names[0])))
        if "" in names or len(set(names)) < len(names) or len(names) < 2:
            raise InputError(
                f"--classes {text!r}: give different labels between commas, as in cat,dog, or their number."
            )
        try:
            return [int(name) for name in names] if whole else names
        except ValueError:
            raise InputError(f"--classes {text!r}: the labels of the data are whole numbers.") from None


def _numbers(flag: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} {text!r}: give numbers between commas, as in 0.49,0.48,0.45.") from None


def read_names(text: str) -> list[str]:
    """Return names between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def import_function(name: str) -> Any:
    """Import the function that makes the net; the working folder counts as a place to import from."""
    path, found, function = name.partition(":")
    if not found or not path or path.startswith(".") or not function.isidentifier():
        raise InputError(f"--module {name!r}: write it as package.module:function.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        made = getattr(importlib.import_module(path), function, None)
    except (Exception, SystemExit) as error:  # importing runs the user's code, which may do anything
        raise InputError(f"--module {name!r}: cannot import {path!r}: {describe_error(error)}.") from error
    if not callable(made):
        raise InputError(f"--module {name!r}: {path!r} has no function {function!r}.")
    return made


def describe_error(error: BaseException) -> str:
    """Return what somebody's code raised, in one line."""
    text = str(error).strip().split("\n")[0].rstrip(".")
    return text if isinstance(error, ImportError) else f"{type(error).__name__}: {text}"


def read_pairs(flag: str, texts: list[str] | None) -> dict[str, Any]:
    """Return options written as key=value, numbers and truth values as such."""
    out: dict[str, Any] = {}
    for text in texts or []:
        key, found, value = text.partition("=")
        if not found or not key.isidentifier():
            raise InputError(f"{flag} {text!r}: write it as key=value.")
        out[key] = value if key in TEXTS else _value(value)
    return out


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
