"""Records of options that commands share: which options a command gets, in which order, and what reaches it."""

import inspect
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from unseen.request.command_line import (
    After,
    ColumnOptions,
    RunOptions,
    TableOptions,
    Without,
    command,
    read_sample,
)


@pytest.fixture
def commands(monkeypatch):
    """An empty list of commands, so that those of a test do not stay."""
    found = []
    monkeypatch.setattr("unseen.request.command_line.COMMANDS", found)
    return found


def test_fields_become_options_in_their_place(commands):
    @command("one")
    def one(
        *,
        first: Annotated[int, typer.Option("--first")] = 1,
        table: Annotated[TableOptions, Without("decimal", "missing_target")],
        own: Annotated[int, typer.Option("--own"), After("report")] = 2,
        run: Annotated[RunOptions, Without("jobs", "scheduler")],
    ) -> None:
        typer.echo(f"{first} {table} {own} {run.seed} {run.progress}")

    (made,) = commands
    names = ["first", "n", "sep", "report", "own", "store", "seed", "json", "quiet"]
    assert list(inspect.signature(made.function).parameters) == names
    app = typer.Typer()
    app.command()(made.function)
    out = CliRunner().invoke(app, ["--n", "5", "--own", "7", "--seed", "3", "-q"])
    assert out.output.strip() == "1 TableOptions(n=5, sep=None, decimal=None, missing_target='drop') 7 3 False"


def test_a_command_without_records_stays_as_it_is(commands):
    @command("plain")
    def plain(own: Annotated[int, typer.Option("--own")] = 2) -> None: ...

    assert commands[0].function is plain


def test_an_option_that_no_record_has_is_refused(commands):
    with pytest.raises(TypeError, match=r"TableOptions has no options \['rows'\]"):

        @command("wrong")
        def wrong(*, table: Annotated[TableOptions, Without("rows")]) -> None: ...

    assert commands == []


def test_a_sample_is_read_as_the_options_say(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id;x;z;y\n" + "".join(f"r{k};{k},5;1;{k % 2}\n" for k in range(12)))
    columns = ColumnOptions(ids="id", drop=["z"], task="classification")
    data = read_sample(str(file), "y", columns, TableOptions(n=8, sep=";", decimal=","), 0)
    assert (data.n, data.n_features, data.task) == (8, 1, "classification")
