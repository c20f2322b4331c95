"""`unseen serve`: a read-only dashboard of a store in the browser."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Annotated

import typer

from unseen.request.command_line import Json, Quiet, Seed, command

__all__: list[str] = []


@command("serve")
def serve(
    store: Annotated[
        str, typer.Option("--store", help="The store: sqlite:///file.db, postgresql://user@host/name, or a path.")
    ] = "sqlite:///unseen.db",
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; other than this machine, a token is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port; 0 takes any free one.")] = 8765,
    token: Annotated[
        str | None,
        typer.Option("--token", envvar="UNSEEN_TOKEN", help="Secret of 16 characters or more; made if needed."),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show studies and kept results in the browser until Ctrl-C; nothing in the store is changed."""
    from unseen.web import serve as run

    def announce(address: str) -> None:
        if as_json:
            typer.echo(json.dumps({"address": address}))
        elif not quiet or "token=" in address:
            # the address carries the token, which is shown nowhere else
            typer.echo(f"unseen: dashboard at {address} (Ctrl-C ends it)", err=True)

    with suppress(KeyboardInterrupt):
        run(store, host=host, port=port, token=token, announce=announce)
    if not quiet:
        typer.echo("unseen: dashboard ended.", err=True)
