"""The command `unseen`: attaches the commands of the flats and turns every error into a sentence and an exit code."""

from __future__ import annotations

import functools
import json
import sys
from functools import cache
from typing import Annotated, Any

import typer

from unseen._version import __version__
from unseen.core.errors import Paused, UnseenError, as_missing_extra
from unseen.core.registry import import_all
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
        groups[command.group].command(command.name, **command.settings)(_keep_interrupt_message(command.function))


class _Interrupted(Exception):
    """Ctrl-C on its way out; the parser would turn a KeyboardInterrupt into a bare exit code and lose its message."""


def _keep_interrupt_message(callback: Any) -> Any:
    @functools.wraps(callback)
    def run(*args: Any, **options: Any) -> Any:
        try:
            return callback(*args, **options)
        except KeyboardInterrupt as stop:
            raise _Interrupted(str(stop) or "stopped") from stop

    return run


def _fail(kind: str, message: str, code: int) -> int:
    if "--json" in sys.argv:
        typer.echo(json.dumps({"error": {"kind": kind, "message": message}}, ensure_ascii=False), err=True)
    else:
        typer.echo(f"unseen: {message}", err=True)
    return code


def _usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return 0
    return _fail("UsageError", error.format_message(), 2)


def main() -> None:
    """Run the command line.

    Exit codes: 0 done, 1 a finding above a threshold asked for, 2 misuse, 3 partial results, 130 interrupted without an answer.
    """
    _attach_commands()
    try:
        code = app(standalone_mode=False)
    except UnseenError as error:
        code = _fail(type(error).__name__, str(error), error.exit_code)
    except ModuleNotFoundError as error:
        missing = as_missing_extra(error, "this command")
        if missing is error:
            raise
        code = _fail("MissingExtra", str(missing), 2)
    except ParserError as error:
        code = _usage(error)
    except typer.Abort:
        code = _fail("Stopped", "stopped; nothing was kept.", 130)
    except _Interrupted as error:
        resumable = isinstance(error.__cause__, Paused)
        code = _fail("Stopped", str(error), 3) if resumable else _fail("Stopped", f"{error}; nothing was kept.", 130)
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except MemoryError:
        code = _fail("MemoryError", "the machine ran out of memory; use fewer rows (--n) or fewer workers (--jobs).", 2)
    sys.exit(code if isinstance(code, int) else 0)
