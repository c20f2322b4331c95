"""`unseen datasets`: the data sets that are known by name."""

from __future__ import annotations

import typer

from unseen.cli._common import Json, Quiet, Seed, emit, table

__all__ = ["attach"]


def datasets(seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """List the bundled data sets: size, task and origin."""
    from unseen.datasets.bundled import summary

    rows = summary()
    if json:
        emit({"datasets": rows}, True)
        return
    typer.echo(table(rows, ["name", "rows", "features", "task", "classes", "description"]))


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("datasets")(datasets)
