"""A process of its own for a model from a file, with limits on memory and time; only plain arrays come back."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence
from typing import IO, Any

from unseen.core.arrays import Array
from unseen.core.errors import InputError, MissingExtra, UnseenError
from unseen.models.files.frames import pack, unpack

__all__ = ["ModelProcessError", "Sandbox"]

START_SECONDS = 60.0  # imports from a cold disk
GRACE_SECONDS = 3.0  # for an answer that is under way when the time of a prediction ends
KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "HOME")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class ModelProcessError(UnseenError, RuntimeError):
    """The process that holds the model failed: it crashed, ran out of memory or took too long."""


class Sandbox:
    """Holds one model in a child process and asks it for arrays.

    Parameters
    ----------
    content : bytes
        The file's content.
    format : {"skops", "onnx"}
        How to read it.
    trusted : sequence of str
        Full names of types the caller vouches for, beyond the reviewed ones.
    memory_mb : int
        Address space the model may use beyond the libraries it needs.
    seconds : float
        Time for loading, and for each answer.
    """

    def __init__(self, content: bytes, format: str, trusted: Sequence[str], memory_mb: int, seconds: float) -> None:
        if sys.platform == "win32":
            raise InputError(
                "model files are opened in a limited process, which Windows does not offer; use Linux or macOS."
            )
        self.seconds = seconds
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115, closed by the finalizer
        self._folder = tempfile.TemporaryDirectory(prefix="unseen-model-")
        environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
        paths = os.pathsep.join(os.path.abspath(p) for p in sys.path if p and not p.endswith(".zip"))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "unseen.models.files.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self._folder.name,
            bufsize=0,
            env={**environment, **ONE_THREAD, "PYTHONPATH": paths},
            close_fds=True,
        )
        self._finalizer = weakref.finalize(self, _end, self._process, self._errors, self._folder)
        request = {
            "do": "load",
            "format": format,
            "trusted": list(trusted),
            "memory": memory_mb << 20,
            "seconds": seconds,
        }
        try:
            self.description = self._exchange(request, (), (content,), seconds + START_SECONDS)[0]
        except BaseException:  # Ctrl-C too: no child is left behind, and the error goes on
            self.close()
            raise

    def ask(self, message: dict[str, Any], arrays: Sequence[Array] = ()) -> tuple[dict[str, Any], list[Array]]:
        """Send a request and return the answer with its arrays."""
        return self._exchange({**message, "seconds": self.seconds}, arrays, (), self.seconds + GRACE_SECONDS)

    def close(self) -> None:
        """End the process."""
        self._finalizer()

    def _exchange(
        self, message: dict[str, Any], arrays: Sequence[Array], blobs: Sequence[bytes], limit: float
    ) -> tuple[dict[str, Any], list[Array]]:
        if not self._finalizer.alive:
            raise ModelProcessError("the model's process has ended; open the file again.")
        deadline = time.monotonic() + limit
        try:
            for part in pack(message, arrays, blobs):
                self._send(part, deadline)
            answer, results, _ = unpack(lambda size: self._receive(size, deadline))
        except TimeoutError as error:
            self.close()
            raise ModelProcessError(
                f"the model took more than {self.seconds:g} s and was stopped; allow more time."
            ) from error
        except (EOFError, BrokenPipeError, ValueError) as error:
            raise self._death() from error
        return self._check(answer), results

    def _check(self, answer: dict[str, Any]) -> dict[str, Any]:
        if "refused" in answer:
            raise InputError(answer["refused"])
        if answer.get("memory"):
            raise ModelProcessError("the model needs more memory than it was allowed; allow more.")
        if "error" in answer:
            text = str(answer["error"])
            if text.startswith("ModuleNotFoundError") and ("'skops" in text or "'onnxruntime" in text):
                package = "skops" if "skops" in text else "onnxruntime"
                raise MissingExtra(package, "models", "opening a model file")
            raise ModelProcessError(f"the model failed: {text}")
        return answer

    def _send(self, part: bytes, deadline: float) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        view = memoryview(part)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_WRITE)
            while view:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                # a pipe takes at most 64 KiB at once without blocking
                view = view[os.write(pipe.fileno(), view[: 1 << 12]) :]

    def _receive(self, size: int, deadline: float) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        chunks, missing = [], size
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while missing:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                chunk = os.read(pipe.fileno(), min(missing, 1 << 20))
                if not chunk:
                    break
                chunks.append(chunk)
                missing -= len(chunk)
        return b"".join(chunks)

    def _death(self) -> ModelProcessError:
        """Say how the process ended, from its exit code and the last line it wrote."""
        try:
            code = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            code = 0
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self.close()
        if code in (-24, -9):
            return ModelProcessError(f"the model used more than {self.seconds:g} s and was stopped; allow more time.")
        reason = f"signal {-code}" if code < 0 else (lines[-1][:300] if lines else f"exit code {code}")
        return ModelProcessError(f"the model's process crashed ({reason}); the file is damaged or made to do harm.")


def _end(process: subprocess.Popen[bytes], errors: IO[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    if process.poll() is None:
        process.kill()
    process.wait()
    errors.close()
    folder.cleanup()
