"""The one place that opens model files: skops and ONNX, in a process of their own; pickles are refused unread."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError, MissingExtra
from unseen.models.files.remote import RemoteModel
from unseen.models.files.sandbox import ModelProcessError, Sandbox

__all__ = ["format_of", "open_model"]

# a file is read whole, so that it must fit the memory beside its model
LARGEST_FILE = 1 << 30
# a list of parts must not fill the memory before one of them is read
LARGEST_ENTRIES = 200_000
# the release that the extra `models` asks for
OLDEST_SKOPS = (0, 13)
ADVICE = "Save it with skops (skops.io.dump) or as ONNX instead."
# first bytes of formats that are known and not accepted, with what they are
MAGIC = (
    (b"\x80\x02", "a pickle"), (b"\x80\x03", "a pickle"), (b"\x80\x04", "a pickle"), (b"\x80\x05", "a pickle"),
    (b"\x1f\x8b", "compressed with gzip, as joblib does with pickles"), (b"\x78\x9c", "compressed with zlib, as joblib does with pickles"),
    (b"\x78\x01", "compressed with zlib, as joblib does with pickles"), (b"\x78\xda", "compressed with zlib, as joblib does with pickles"),
    (b"\x78\x5e", "compressed with zlib, as joblib does with pickles"),
    (b"BZh", "compressed with bzip2, as joblib does with pickles"), (b"\xfd7zXZ", "compressed with xz, as joblib does with pickles"),
    (b"]\x00\x00", "compressed with lzma, as joblib does with pickles"), (b"\x04\x22\x4d\x18", "compressed with lz4, as joblib does with pickles"),
    (b"\x89HDF", "an HDF5 file, as Keras writes"), (b"\x93NUMPY", "an array of numpy"), (b"PAR1", "a Parquet table"), (b"\x7fELF", "a program"),
)  # fmt: skip
PICKLE_NAMES = (".pkl", ".pickle", ".joblib", ".p", ".dill", ".sav", ".pt", ".pth")


def open_model(
    path: str | PathLike[str],
    *,
    trusted: Sequence[str] = (),
    classes: Sequence[Any] | None = None,
    memory_mb: int = 2048,
    seconds: float = 60.0,
) -> RemoteModel:
    """Open a trained model from a skops or ONNX file, without running code from it and without training anything.

    Parameters
    ----------
    path : path
        File written by `skops.io.dump`, or an ONNX graph.
    trusted : sequence of str
        Full names of types in a skops file that you vouch for, beyond the reviewed types of scikit-learn.
    classes : sequence, optional
        Labels behind the columns of an ONNX graph that only has numbers.
    memory_mb : int
        Memory the model may use in its process, beyond the libraries.
    seconds : float
        Time it may take to load, and to answer each request.

    Returns
    -------
    RemoteModel
        Predicts like the object that was saved; the object itself stays in its process. Use it in a `with` block, or
        call `close()`.

    Examples
    --------
    >>> import tempfile, pathlib, unseen, skops.io
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = unseen.datasets.load("iris").xy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.skops"
    ...     skops.io.dump(GaussianNB().fit(X, y), file)
    ...     with open_model(file) as model:
    ...         same = bool((model.predict(X) == GaussianNB().fit(X, y).predict(X)).all())
    >>> same
    True
    """
    _check_limits(memory_mb, seconds)
    kind = format_of(path)
    content = Path(path).read_bytes()
    if kind == "skops":
        _check_archive(path, content, memory_mb << 20)
    _check_installed(kind)
    try:
        sandbox = Sandbox(content, kind, trusted, memory_mb, seconds)
    except InputError as error:
        hint = (
            " If you know where the file comes from, name them in `trusted`." if "reviewed list" in str(error) else ""
        )
        raise InputError(f"{str(path)!r} is refused: {error}.{hint}") from error
    except ModelProcessError as error:
        raise ModelProcessError(f"{str(path)!r} cannot be opened: {error}") from error
    return RemoteModel(sandbox, classes)


def format_of(path: str | PathLike[str]) -> str:
    """Return "skops" or "onnx" from the first bytes of a file, refusing everything else; reads no more than the start.

    Examples
    --------
    >>> import tempfile, pathlib, pickle
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.bin"
    ...     _ = file.write_bytes(pickle.dumps([1, 2]))
    ...     try: format_of(file)
    ...     except InputError as error: print("pickle" in str(error))
    True
    """
    place = Path(path)
    try:
        if place.is_dir():
            raise InputError(f"{str(path)!r} is a folder; give a model file (skops or ONNX).")
        size = place.stat().st_size
        with place.open("rb") as file:
            head = file.read(4096)
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}.") from error
    if not head:
        raise InputError(f"{str(path)!r} is empty.")
    if not any(head):
        raise InputError(f"{str(path)!r} holds nothing but zeros; it is not a model.")
    if size > LARGEST_FILE:
        raise InputError(f"{str(path)!r} has {size >> 20} MiB; a model file may have {LARGEST_FILE >> 20} MiB at most.")
    return _recognise(str(path), place.suffix.lower(), head)


def _recognise(path: str, suffix: str, head: bytes) -> str:
    for magic, what in MAGIC:
        if head.startswith(magic):
            raise InputError(
                f"{path!r} is {what}. Pickles run code when they are opened and are never read here. {_way_out(path)}"
            )
    if head.startswith(b"PK\x03\x04"):
        return "skops"
    if suffix in PICKLE_NAMES or (head[:1] in b"(c]}" and b"\n" in head[:200] and suffix != ".onnx"):
        raise InputError(
            f"{path!r} looks like a pickle, which runs code when it is opened and is never read here. {_way_out(path)}"
        )
    # an ONNX graph is a protobuf message whose first field is the format's version, a small number
    if head[0] == 0x08 and 0 < head[1] < 0x40:
        return "onnx"
    if suffix == ".onnx":
        raise InputError(f"{path!r} is not an ONNX graph, or damaged: it does not begin with a version.")
    if head[8:9] == b"{":
        raise InputError(f"{path!r} looks like safetensors, which holds weights without a model. {ADVICE}")
    raise InputError(f"{path!r} is no model file that is known here. {ADVICE}")


def _way_out(path: str) -> str:
    """Return the lines that convert a pickle; whoever made the file may run them."""
    return (
        f"{ADVICE} If you made the file yourself, two lines of Python convert it:\n"
        "  import joblib, skops.io\n"
        f"  skops.io.dump(joblib.load({path!r}), {str(Path(path).with_suffix('.skops'))!r})"
    )


def _check_archive(path: str | PathLike[str], content: bytes, memory: int) -> None:
    """Refuse archives that are damaged, no skops file, or would unpack into more than the memory allowed.

    Nothing is unpacked here: a small file may hold a schema that fills the memory, and the model's process has a limit.
    """
    if content.count(b"PK\x01\x02") > LARGEST_ENTRIES:  # before a list of them is made
        raise InputError(f"{str(path)!r} lists more than {LARGEST_ENTRIES} parts; that is no model.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            names = {e.filename for e in entries}
            if any(name.endswith("data.pkl") for name in names):
                raise InputError(
                    f"{str(path)!r} is a PyTorch file, which holds a pickle and is never read here. {ADVICE}"
                )
            total = sum(e.file_size for e in entries)
            if len(entries) > LARGEST_ENTRIES or total > memory:
                raise InputError(
                    f"{str(path)!r} would unpack into {len(entries)} parts and {total >> 20} MiB, more than the {memory >> 20} MiB allowed."
                )
            if "schema.json" not in names:
                raise InputError(f"{str(path)!r} is an archive without a skops schema. {ADVICE}")
    except InputError:
        raise
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        RecursionError,
    ) as error:
        raise InputError(f"{str(path)!r} is damaged or was cut short: {error}.") from error
    except Exception as error:  # zlib raises a kind of its own
        raise InputError(f"{str(path)!r} is damaged: {error}.") from error


def _check_limits(memory_mb: Any, seconds: Any) -> None:
    if isinstance(memory_mb, bool) or not isinstance(memory_mb, (int, np.integer)) or memory_mb < 16:
        raise InputError(f"memory_mb is {memory_mb!r}; it must be a whole number of at least 16.")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 1e6:
        raise InputError(f"seconds is {seconds!r}; it must be a positive number.")


def _check_installed(kind: str) -> None:
    import importlib.metadata

    package = "skops" if kind == "skops" else "onnxruntime"
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingExtra(package, "models", f"opening a {kind} file") from error
    if package == "skops" and tuple(int(p) for p in version.split(".")[:2]) < OLDEST_SKOPS:
        needed = ".".join(map(str, OLDEST_SKOPS))
        raise InputError(f"skops {version} has known gaps in its type check; install skops >= {needed}.")
