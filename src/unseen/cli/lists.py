"""`unseen models`: the models that are known by name."""

from __future__ import annotations

import typer

from unseen.cli._common import Json, Quiet, Seed, emit, table

__all__ = ["attach"]

_HELP = """
Parameters follow a colon, as in knn:3 or 'rbf-svm:C=10,gamma=0.1'; package.module:factory names a function of your own.
Missing values, categories and scales are dealt with inside every fit."""


def models(seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """List the models: what each learns, and how it is set."""
    from unseen.learners.named import describe

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
    typer.echo(table(shown, ["name", "tasks", "description", "settings"]))
    typer.echo(_HELP)


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("models")(models)
