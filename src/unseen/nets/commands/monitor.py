"""`unseen nets monitor`: where the training runs of a folder stand, live."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.core.errors import InputError
from unseen.request.command_line import Json, Quiet, Seed, command, emit
from unseen.show.text import text_table

__all__: list[str] = []

COLUMNS = [
    "run",
    "epoch",
    "train_error",
    "monitor_error",
    "monitor_wrong",
    "monitor_p",
    "angle",
    "rate",
    "best_epoch",
    "best_error",
    "state",
    "seconds_ago",
]


@command("monitor", group="nets")
def monitor(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder with records (*.jsonl) of unseen.nets.Monitor or checkpoints, or one record."),
    ],
    once: Annotated[bool, typer.Option("--once", help="Print the table once and stop.")] = False,
    interval: Annotated[float, typer.Option("--interval", min=0.1, help="Seconds between looks.")] = 2.0,
    as_json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Show where training runs stand: errors, Pineda's P, weight angle, best epoch; refreshed until Ctrl-C."""
    from unseen.core.result import plain
    from unseen.nets.files.progress import runs_in

    rows, damaged = runs_in(folder)
    known: dict[Any, Any] = {}
    rows += _checkpoints(folder, known)
    if damaged and not rows:
        raise InputError(" ".join(damaged))
    for sentence in damaged if not quiet else ():
        typer.echo(f"unseen: {sentence}", err=True)
    if not rows and not quiet:
        typer.echo(
            f"unseen: no record of training (*.jsonl of unseen.nets.Monitor) under {str(folder)!r} yet.", err=True
        )
    if as_json:
        emit(plain(rows), True)
    elif once or not sys.stdout.isatty():
        typer.echo(text_table(rows, COLUMNS))
    else:
        _live(rows, interval, lambda: [*runs_in(folder)[0], *_checkpoints(folder, known)])


def _checkpoints(folder: Path, known: dict[Any, Any]) -> list[dict[str, Any]]:
    """Return where the checkpoints of a folder stand; none without torch, which alone can read them."""
    if not folder.is_dir() or importlib.util.find_spec("torch") is None:
        return []
    from unseen.nets.files.checkpoints import checkpoint_rows

    return checkpoint_rows(folder, known)


def _live(rows: list[dict[str, Any]], interval: float, read: Any) -> None:
    from rich.live import Live

    with Live(_page(rows), auto_refresh=False) as live:
        try:
            while True:
                time.sleep(interval)
                live.update(_page(read()), refresh=True)
        except KeyboardInterrupt:
            return


def _page(rows: list[dict[str, Any]]) -> Any:
    """Return the table for a terminal, lines cut at its width."""
    from rich.text import Text

    return Text(text_table(rows, COLUMNS), no_wrap=True, overflow="ellipsis")
