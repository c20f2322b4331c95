"""The command `unseen`: attaches the commands of the flats and turns every error into a sentence and an exit code."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import json
import os
import sys
import traceback
from functools import cache
from typing import Annotated, Any

import typer

from unseen._version import __version__
from unseen.core.controls import escape_controls
from unseen.core.discovery import import_all
from unseen.core.errors import InputError, Paused, UnseenError, as_missing_extra
from unseen.request.command_line import COMMANDS, GROUPS

__all__ = ["app", "main"]


COMMAND_MODULES = (
    "unseen.assessment.commands",
    "unseen.cli.lists",
    "unseen.comparison.commands",
    "unseen.diagnosis.commands",
    "unseen.evaluation.commands",
    "unseen.kinetics.commands",
    "unseen.nets.commands",
    "unseen.planning.commands",
    "unseen.reproduction.commands",
    "unseen.study.commands",
    "unseen.web.commands",
)
# BadParameter -> UsageError -> the base of everything the parser raises, wherever typer keeps its copy of it.
ParserError: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="unseen",
    help="How well will this model do on data it has never seen, and how sure can I be?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unseen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@cache
def _attach_commands() -> None:
    for module in COMMAND_MODULES:
        import_all(module)
    groups = {"": app}
    for name, help in GROUPS.items():
        groups[name] = typer.Typer(name=name, help=help, no_args_is_help=True, rich_markup_mode=None)
        app.add_typer(groups[name], name=name)
    for command in sorted(COMMANDS, key=lambda c: "" if c.group else c.name):
        groups[command.group].command(command.name, **command.settings)(_past_the_parser(command.function))


class _Interrupted(Exception):
    """Ctrl-C on its way out; the parser would turn a KeyboardInterrupt into a bare exit code and lose its message."""


class _ReaderLeft(Exception):
    """Nobody reads stdout any longer; the parser would end the program with 1, which means a finding."""


def _past_the_parser(callback: Any) -> Any:
    """Return a command whose ends reach `main`, and not the parser, which has codes of its own for some."""

    @functools.wraps(callback)
    def run(*args: Any, **options: Any) -> Any:
        try:
            return callback(*args, **options)
        except KeyboardInterrupt as stop:
            raise _Interrupted(str(stop) or "stopped") from stop
        except BrokenPipeError as error:
            raise _ReaderLeft from error
        except SystemExit as end:
            raise InputError(f"code that this command called ended the program (sys.exit({end.code!r}))") from end

    return run


# what the operating system says if a file, or the device behind stdout, does not take what is written
NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EBADF})
# what it says of a path that cannot be used, wherever a command first touches it
NO_PATH = frozenset(
    {errno.ENAMETOOLONG, errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO}
)
# characters of an unforeseen error's own words that are shown; numpy and pandas may quote whole arrays
LONGEST_REASON = 300


def _fail(kind: str, message: str, code: int) -> int:
    if "--json" in sys.argv:
        text = json.dumps({"error": {"kind": kind, "message": message}}, ensure_ascii=False)
    else:
        text = f"unseen: {message}"
    with contextlib.suppress(OSError, ValueError):  # stderr may be full or closed too; the code still says it
        typer.echo(escape_controls(text), err=True)
    return code


def _usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return 0
    return _fail("UsageError", error.format_message(), 2)


def _system_error(error: OSError) -> int:
    """Return the code for what the operating system refused: a path, output that was not written, else an internal error."""
    if error.errno in NO_PATH and error.filename is not None:
        return _fail("InputError", f"{str(error.filename)!r} cannot be used: {error.strerror}; give another path.", 2)
    if error.errno not in NOT_WRITTEN:
        return _internal(error)
    where = f" to {str(error.filename)!r}" if error.filename else ""
    return _fail("NotWritten", f"the result was not written{where} and is lost: {error.strerror}.", 74)


def _internal(error: BaseException) -> int:
    """Return the code for an error nobody foresaw, said in one sentence; `UNSEEN_DEBUG=1` shows where it happened."""
    reason = " ".join(str(error).split())[:LONGEST_REASON].rstrip(".")
    shown = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    advice = "set UNSEEN_DEBUG=1 to see where"
    if os.environ.get("UNSEEN_DEBUG") == "1":
        with contextlib.suppress(OSError, ValueError):
            typer.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        advice = "the lines above say where"
    message = f"internal error, a fault of unseen {__version__} and not of yours ({shown}); {advice}, and report it with the command."
    return _fail("InternalError", message, 70)


def _run() -> int:
    """Run the command that was asked for and return its exit code."""
    try:
        _attach_commands()
        code = app(standalone_mode=False)
    except UnseenError as error:
        return _fail(type(error).__name__, str(error), error.exit_code)
    except ModuleNotFoundError as error:
        missing = as_missing_extra(error, "this command")
        return _internal(error) if missing is error else _fail("MissingExtra", str(missing), 2)
    except ParserError as error:
        return _usage(error)
    except typer.Abort:
        return _fail("Stopped", "stopped; nothing was kept.", 130)
    except _Interrupted as error:
        resumable = isinstance(error.__cause__, Paused)
        return _fail("Stopped", str(error), 3) if resumable else _fail("Stopped", f"{error}; nothing was kept.", 130)
    except KeyboardInterrupt:
        return _fail("Stopped", "stopped; nothing was kept.", 130)
    except MemoryError:
        return _fail("MemoryError", "the machine ran out of memory; use fewer rows (--n) or fewer workers (--jobs).", 2)
    except OSError as error:
        return _system_error(error)
    except _ReaderLeft:
        raise
    except Exception as error:  # the one place where whatever escapes becomes a sentence
        return _internal(error)
    return code if isinstance(code, int) else 0


class _EscapedStdout(io.TextIOBase):
    """Stdout on which control characters and marks of direction, which come from files, are seen and not obeyed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(escape_controls(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return bool(self._stream.isatty())

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._stream.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(getattr(self._stream, "encoding", None) or "utf-8")

    @property
    def errors(self) -> str:  # type: ignore[override]
        return str(getattr(self._stream, "errors", None) or "strict")


def _give_up_stdout() -> None:
    """Point stdout at nothing, so that the interpreter does not try again to write what is left in its buffer."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line.

    Exit codes: 0 done, 1 a finding above a threshold asked for, 2 misuse, 3 partial results, 70 internal error, 74 output not
    written, 130 interrupted without an answer.
    """
    if sys.stdout is None:
        sys.exit(_fail("NotWritten", "stdout is closed, so that the result would be lost; send it to a file.", 74))
    try:
        with contextlib.redirect_stdout(_EscapedStdout(sys.stdout)):
            code = _run()
        sys.stdout.flush()
    except (_ReaderLeft, BrokenPipeError):  # the reader, such as `head`, has what it wants
        code = 0
        _give_up_stdout()
    except OSError as error:
        code = _system_error(error)
    if code == 74:
        _give_up_stdout()
    sys.exit(code)
