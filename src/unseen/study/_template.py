"""The commented spec that `unseen study new` writes."""

from __future__ import annotations

from importlib.resources import files
from os import PathLike
from pathlib import Path

from unseen.core.errors import InputError

__all__ = ["template", "write_template"]


def template(name: str = "my-study") -> str:
    """Return a commented spec that runs as it is.

    Examples
    --------
    >>> 'name = "mine"' in template("mine")
    True
    """
    text = (files("unseen.study") / "template.toml").read_text(encoding="utf-8")
    return text.replace('name = "my-study"', f'name = "{_plain(name)}"', 1)


def _plain(name: str) -> str:
    """Return a name that needs no escape in TOML."""
    return "".join(c for c in name if c.isalnum() or c in "-_. ").strip() or "my-study"


def write_template(path: str | PathLike[str]) -> Path:
    """Write the commented spec to a new file, its name taken from the file's."""
    place = Path(path)
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(template(place.stem))
    except FileExistsError as error:
        raise InputError(f"{str(path)!r} is there already and is not overwritten; give another name.") from error
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from error
    return place
