"""Commands that list what is known by name: `unseen datasets` and `unseen models`."""

from __future__ import annotations

import typer

from unseen.request.command_line import Json, Quiet, Seed, command, emit
from unseen.show.text import text_table

__all__: list[str] = []


@command("datasets")
def datasets(seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """List the bundled data sets: size, task and origin."""
    from unseen.datasets.bundled import summary

    rows = summary()
    if json:
        emit({"datasets": rows}, True)
        return
    typer.echo(text_table(rows, ["name", "rows", "features", "task", "classes", "description"]))


_HELP = """
Parameters follow a colon, as in knn:3 or 'rbf-svm:C=10,gamma=0.1'; package.module:factory names a function of your own.
Missing values, categories and scales are dealt with inside every fit."""


@command("models")
def models(seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """List the models: what each learns, and how it is set."""
    from unseen.models.named import describe

    rows = describe()
    if json:
        emit({"models": rows}, True)
        return
    shown = [
        row
        | {
            "tasks": " ".join(row["tasks"]),
            "settings": ", ".join(f"{k}={v!r}" for k, v in row["settings"].items()) or None,
        }
        for row in rows
    ]
    typer.echo(text_table(shown, ["name", "tasks", "description", "settings"]))
    typer.echo(_HELP)
