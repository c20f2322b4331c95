"""The other side of the sandbox: a process that holds one model from a file and answers with plain arrays.

It is started by `unseen.models.files.sandbox`, limits itself before it looks at the file, and speaks over its standard streams.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

import numpy as np

from unseen.models.files.frames import pack, table_of, unpack

__all__ = ["main"]

FORBIDDEN = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.startfile",
             "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.putenv",
             "shutil.", "ftplib.", "http.", "urllib.", "smtplib.", "webbrowser.", "pty.", "pickle.")  # fmt: skip
# room for a traceback, and none to fill a disk
STDERR_BYTES = 1 << 20
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Refused(Exception):
    """The file is not going to be used; the message says why."""


def main() -> None:
    """Read requests until the stream ends."""
    stream_in = os.fdopen(os.dup(0), "rb")
    stream_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a model prints must not end up between the frames
    model: Any = None
    while True:
        try:
            message, arrays, blobs = unpack(stream_in.read)
        except EOFError:
            return
        try:
            if message["do"] == "load":
                _import_before_limits(message["format"])
                _limit_memory(message["memory"])
                _lock_down()
                _limit_time(message["seconds"])
                model = _load(message, blobs[0])
                answer, results = model.describe(), []
            else:
                _limit_time(message["seconds"])
                answer, results = model.answer(message, arrays)
        except Refused as error:
            answer, results = {"refused": str(error)}, []
        except MemoryError:
            answer, results = {"memory": True}, []
        except BaseException as error:  # whatever a damaged model raises becomes a sentence in the other process
            answer, results = {"error": f"{type(error).__name__}: {error}"[:2000]}, []
        for part in pack(answer, [_wire(a) for a in results]):
            stream_out.write(part)
        stream_out.flush()


def _import_before_limits(format: str) -> None:
    import scipy.sparse  # noqa: F401

    if format == "skops":
        import pandas  # noqa: F401
        import sklearn.pipeline  # noqa: F401
        import skops.io  # noqa: F401
        from sklearn.utils import all_estimators

        all_estimators()  # imports every module a reviewed type can come from, while imports are free
    else:
        import onnxruntime  # noqa: F401
    warnings.simplefilter("ignore")


def _limit_memory(extra: int) -> None:
    """Allow `extra` bytes of address space beyond what the libraries take, no files and no core dumps."""
    import resource

    try:
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))
    except OSError:  # no /proc: the limit then counts from nothing
        resource.setrlimit(resource.RLIMIT_AS, (extra, extra))
    resource.setrlimit(resource.RLIMIT_FSIZE, (STDERR_BYTES, STDERR_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """Allow `seconds` of processor time from now on; the other process counts the clock as well."""
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime + seconds) + 2, hard))


def _lock_down() -> None:
    """Refuse, from now on, to start processes, reach the network, write files or unpickle."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(FORBIDDEN):
            raise PermissionError(f"a model file may not do {event}")
        # os.open gives flags and no mode
        if event == "open" and (set(arguments[1] or "") & set("wax+") or arguments[2] & WRITING):
            raise PermissionError("a model file may not write files")

    sys.addaudithook(hook)


def _load(message: dict[str, Any], content: bytes) -> Any:
    if message["format"] == "onnx":
        from unseen.models.files.onnx import OnnxAnswers

        return OnnxAnswers(content)
    return SkopsAnswers(content, message["trusted"])


class SkopsAnswers:
    """A scikit-learn object from a skops file."""

    def __init__(self, content: bytes, trusted: list[str]) -> None:
        import io
        import zipfile

        from skops.io import get_untrusted_types, loads

        from unseen.models.files.trust import REVIEWED, strangers

        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                schema = json.loads(archive.read("schema.json"))
        except MemoryError:
            raise
        except Exception as error:  # zlib, json and zipfile each raise kinds of their own
            raise Refused(f"it is damaged or was cut short: {error}") from error
        found = strangers(schema, get_untrusted_types(data=content), trusted)
        if found:
            raise Refused(f"it holds types that are not on the reviewed list: {', '.join(found)}")
        self.model = loads(content, trusted=sorted(REVIEWED | set(trusted)))
        while hasattr(self.model, "best_estimator_"):  # a search predicts by what it found best
            self.model = self.model.best_estimator_
        if not hasattr(self.model, "predict"):
            raise Refused(f"it holds a {type(self.model).__name__}, which cannot predict")

    def describe(self) -> dict[str, Any]:
        """Return what the model can do."""
        from sklearn.base import is_classifier

        from unseen.models.naming import short_name

        model = self.model
        steps = list(getattr(model, "steps", ()))
        final = steps[-1][1] if steps else model
        return {
            "name": short_name(model),
            "kind": type(model).__name__,
            "kernel": str(getattr(model, "kernel", "")),
            "classes": _labels(getattr(model, "classes_", None)),
            "classifier": bool(is_classifier(model)),
            "n_features": _number(getattr(model, "n_features_in_", None)),
            "names": [str(v) for v in getattr(model, "feature_names_in_", ())],
            "can": _scores_of(model),
            "can_final": _scores_of(final),
            "steps": [name for name, _ in steps],
            "kinds": [step if isinstance(step, str) else type(step).__name__ for _, step in steps],
            "linear": _coefficients(final) is not None,
        }

    def answer(self, message: dict[str, Any], arrays: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """Return the arrays asked for."""
        model = self.model
        part = message.get("part", "all")
        if part == "final":
            model = model.steps[-1][1]
        if message["do"] == "linear":
            return {}, list(_coefficients(model) or ())
        X = table_of(message, arrays)
        if part == "before":
            return {}, [_dense(model[:-1].transform(X))]
        if message["do"] in ("predict", "predict_proba", "decision_function"):
            return {}, [getattr(model, message["do"])(X)]
        raise ValueError(f"cannot do {message['do']!r}")


def _coefficients(model: Any) -> tuple[Any, Any] | None:
    # a kernel machine with another kernel than the linear one has no coef_
    coef, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if coef is None or intercept is None or not hasattr(model, "decision_function"):
        return None
    if hasattr(model, "dual_coef_") and len(getattr(model, "classes_", ())) > 2:
        return None  # pairwise votes, no largest score
    return _dense(coef), np.asarray(intercept, dtype=float)


def _scores_of(model: Any) -> list[str]:
    return [name for name in ("predict_proba", "decision_function") if hasattr(model, name)]


def _dense(values: Any) -> Any:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _labels(classes: Any) -> list[Any] | None:
    return None if classes is None else [v.item() if hasattr(v, "item") else v for v in np.asarray(classes)]


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _wire(values: Any) -> Any:
    array = np.asarray(values)
    return array.astype(str) if array.dtype == object else array


if __name__ == "__main__":
    main()
