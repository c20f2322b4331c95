"""`unseen methods`: every way of estimating an error, with its target, designs, cost and paper."""

from __future__ import annotations

from typing import Annotated

import typer

from unseen.cli._common import Json, Quiet, Seed, emit, table

__all__ = ["attach"]


def methods(
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only resampling, direct, recipe, resubstitution or comparison.")
    ] = None,
    references: Annotated[bool, typer.Option("--references", help="Show the papers too.")] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the methods: what each estimates, on which designs, at how many fits."""
    from unseen.core.errors import UnknownName
    from unseen.verbs.listing import method_rows

    rows = method_rows()
    kinds = sorted({row["kind"] for row in rows})
    if kind is not None and kind not in kinds:
        raise UnknownName("kind of method", kind, kinds)
    rows = [row for row in rows if kind in (None, row["kind"])]
    if json:
        emit({"methods": rows}, True)
        return
    shown = [row | {"designs": " ".join(row["designs"]) or None} for row in rows]
    columns = ["id", "kind", "target", "fits", "designs", "description"]
    typer.echo(table(shown, [*columns, "reference"] if references else columns))


def attach(app: typer.Typer) -> None:
    """Add the command."""
    app.command("methods")(methods)
