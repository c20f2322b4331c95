"""`unseen reproduce`: run a published experiment again, or list the experiments."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unseen.core.errors import InputError
from unseen.request.command_line import (
    Jobs,
    RunOptions,
    Seed,
    Store,
    Without,
    check_store,
    command,
    emit,
)
from unseen.show.text import text_table

__all__: list[str] = []

HELP = """Run a published experiment again: published | ours | difference in Monte-Carlo errors | verdict.

An experiment's own options (see --list) are given as --option key=value, or directly: --sizes 20,40.
With --store the result is filed there; ghane-synthetic and nadeau-bengio keep every task in it, and the same command
goes on where a killed run stopped.
With --seeds 0-9 it is run at each of them, and the checks say how much of their outcome is luck.
"""

LISTED = """
checks and cells are those of the run named beside them; minutes is what a run of that size takes on two idle cores.
Options, given as --option value:"""


@command("reproduce", help=HELP, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reproduce(
    context: typer.Context,
    *,
    name: Annotated[str | None, typer.Argument(help="Id of an experiment; --list names them.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False,
    replications: Annotated[
        int | None,
        typer.Option(
            "--replications", "--repeats", "-r", min=2, help="Number of replications; the publication's by default."
        ),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="key=value, an option of the experiment.")
    ] = None,
    fail_if: Annotated[
        str | None,
        typer.Option(
            "--fail-if", help="'checks': exit with code 1 where a check of the experiment fails, at any seed."
        ),
    ] = None,
    store: Store = None,
    seed: Seed = 0,
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", help="Several runs, such as 0-9 or 0,3,7: at how many seeds each check passes."),
    ] = None,
    jobs: Jobs = None,
    run: Annotated[RunOptions, Without("store", "jobs", "scheduler", "seed")],
) -> None:
    """Run a published experiment again, or list them."""
    from unseen.reproduction import experiment as framework
    from unseen.reproduction.seeds import parse_seeds, reproduce_over_seeds

    if listing:
        _list(framework.experiments(), run.json)
        return
    if name is None:
        raise InputError("name an experiment, or give --list to see them all.")
    if fail_if not in (None, "checks"):
        raise InputError(f"--fail-if is {fail_if!r}; the one finding an experiment can fail by is 'checks'.")
    run.check()
    check_store(store)
    options = {
        "replications": replications,
        "n_jobs": jobs,
        "progress": run.progress,
        "store": store,
        **framework.parse_options(name, _pairs(option or [], context.args)),
    }
    result = (
        framework.reproduce(name, random_state=seed, **options)
        if seeds is None
        else reproduce_over_seeds(name, parse_seeds(seeds), **options)
    )
    run.emit(result)
    run.save(result, name)
    if fail_if and not result.passed:
        raise typer.Exit(1)


def _list(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        emit(rows, True)
        return
    typer.echo(text_table(rows, ["experiment", "checks", "cells", "run", "minutes", "extra", "title"]))
    typer.echo("\n".join([LISTED, *(f"  {row['experiment']}: {row['options'] or 'none'}" for row in rows)]))


def _pairs(named: list[str], loose: list[str]) -> dict[str, str]:
    """Read `key=value` texts and `--key value` or `--key=value` arguments."""
    out: dict[str, str] = {}
    for text in named:
        key, found, value = text.partition("=")
        if not found:
            raise InputError(f"--option {text!r}: write it as key=value.")
        out[key] = value
    queue = list(loose)
    while queue:
        key, found, value = queue.pop(0).partition("=")
        if not key.startswith("--") or (not found and not queue):
            raise InputError(f"unexpected argument {key!r}; options of an experiment are written --key value.")
        out[key[2:].replace("-", "_")] = value if found else queue.pop(0)
    return out
