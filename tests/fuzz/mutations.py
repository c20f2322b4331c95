"""One change of a valid input: of a cell, a column, a header, an encoding, a file's bytes, or of the command line."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints

import typer.models
from command_grammar import Input, Table

__all__ = ["MUTATIONS", "mutate", "options_of"]

Draw = random.Random
Mutation = Callable[[Input, Draw], bool]  # False if this input has nothing to change in this way
MUTATIONS: dict[str, tuple[float, Mutation]] = {}


def mutation(weight: float) -> Callable[[Mutation], Mutation]:
    def add(change: Mutation) -> Mutation:
        MUTATIONS[change.__name__.replace("_", " ")] = weight, change
        return change

    return add


def mutate(made: Input, draw: Draw) -> Input:
    """Apply one change that fits this input, and name it."""
    names = list(MUTATIONS)
    while True:
        name = draw.choices(names, [MUTATIONS[n][0] for n in names])[0]
        if MUTATIONS[name][1](made, draw):
            made.mutation = name
            return made


def table_of(made: Input, draw: Draw) -> Table | None:
    return draw.choice(list(made.tables.values())) if made.tables else None


ODD_CELLS = (
    "", "NA", "nan", "inf", "-inf", "1e400", "1e-320", "1e308", "-0", "00", "0x10", "1_000", "1,5", "1.5.2", "?", "None", "null",
    "true", "9223372036854775808", "-1", "1e9", "é", "\u202eabc", "\x1b[31m", "\x00", "a\nb", 'a"b', " ", "  7 ", "text", "=1+1",
    "١٢", "½", "2024-01-01", "0.1%", "a" * 3000, "\ufeff", "'", "-", ",", ";", "\\", "{}", "[1]",
)  # fmt: skip


@mutation(8)
def cell(made: Input, draw: Draw) -> bool:
    table = table_of(made, draw)
    if table is None or table.n == 0:
        return False
    draw.choice(table.columns)[1][draw.randrange(table.n)] = draw.choice(ODD_CELLS)
    return True


@mutation(3)
def cells_of_a_column(made: Input, draw: Draw) -> bool:
    table = table_of(made, draw)
    if table is None or table.n == 0:
        return False
    cells = draw.choice(table.columns)[1]
    how = draw.choice(["constant", "missing", "odd", "shuffle", "distinct", "half missing", "huge", "tiny"])
    n = len(cells)
    changed = {
        "constant": [cells[0]] * n,
        "missing": [""] * n,
        "odd": [draw.choice(ODD_CELLS) for _ in range(n)],
        "shuffle": draw.sample(cells, n),
        "distinct": [f"v{k}" for k in range(n)],
        "half missing": [c if k % 2 else "" for k, c in enumerate(cells)],
        "huge": [f"{k + 1}e300" for k in range(n)],
        "tiny": [f"{k + 1}e-310" for k in range(n)],
    }
    cells[:] = changed[how]
    return True


@mutation(3)
def columns(made: Input, draw: Draw) -> bool:
    table = table_of(made, draw)
    if table is None or not table.columns:
        return False
    at = draw.randrange(len(table.columns))
    name, cells = table.columns[at]
    how = draw.choice(["drop", "copy", "same name", "move", "move", "more", "text", "date"])
    if how == "drop":
        del table.columns[at]
    elif how == "move":
        table.columns.insert(0, table.columns.pop(at))
    else:
        rows = range(table.n)
        new = {
            "copy": (f"{name} again", list(cells)),
            "same name": (name, list(cells)),
            "more": ("extra", [str(k * k % 7) for k in rows]),
            "text": ("words", [draw.choice(["u v", "w", ""]) for _ in rows]),
            "date": ("day", [f"2024-01-{k % 28 + 1:02d}" for k in rows]),
        }
        table.columns.insert(0, new[how])
    return bool(table.columns)


@mutation(2)
def header(made: Input, draw: Draw) -> bool:
    table = table_of(made, draw)
    if table is None or not table.columns:
        return False
    at = draw.randrange(len(table.columns))
    name, cells = table.columns[at]
    odd = (
        "",
        " ",
        name.upper(),
        f" {name} ",
        f"{name}\u202e",
        "\x07",
        "1",
        "nan",
        "a,b",
        'a"b',
        "a\nb",
        "é" * 300,
        "\ufeff" + name,
    )
    table.columns[at] = draw.choice(odd), cells
    return True


@mutation(4)
def rows(made: Input, draw: Draw) -> bool:
    table = table_of(made, draw)
    if table is None or table.n < 3:
        return False
    keep = list(range(table.n))
    how = draw.choice(["none", "one", "two", "half", "all twice", "one again", "reversed", "but one", "shuffled"])
    order = {
        "none": [],
        "one": keep[:1],
        "two": keep[:2],
        "half": keep[::2],
        "all twice": keep + keep,
        "one again": [*keep, 0],
        "reversed": keep[::-1],
        "but one": keep[1:],
        "shuffled": draw.sample(keep, len(keep)),
    }[how]
    for _, cells in table.columns:
        cells[:] = [cells[k] for k in order]
    return True


@mutation(2)
def encoding(made: Input, draw: Draw) -> bool:
    table = table_of(made, draw)
    if table is None or table.form in ("npz", "parquet"):
        return False
    table.encoding = draw.choice(
        ["utf-8-sig", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "utf-32", "cp1252", "ascii"]
    )
    return True


@mutation(4)
def text_format(made: Input, draw: Draw) -> bool:
    table = table_of(made, draw)
    if table is None or table.form not in ("csv", "tsv", "csv.gz") or table.n == 0:
        return False
    how = draw.choice(["end", "sep", "more cells", "quote", "blank line", "comment", "blanks", "decimal"])
    if how == "end":
        table.end = draw.choice(["\r\n", "\r\n", "\r", "\n\n", ""])
    elif how == "sep":
        table.sep = draw.choice([",", ";", "\t", "|", " ", "::", ":"])
    elif how == "decimal":
        table.decimal = ","
    else:
        added = {
            "more cells": table.sep + "9",
            "quote": '"',
            "blank line": table.end,
            "comment": f"{table.end}# note",
            "blanks": "   ",
        }
        table.ragged[draw.randrange(table.n + 1)] = added[how]
    return True


@mutation(2)
def form(made: Input, draw: Draw) -> bool:
    """Write a file in another format than its name says, or under another name."""
    if not made.tables:
        return False
    name, table = draw.choice(list(made.tables.items()))
    other = draw.choice(["csv", "tsv", "csv.gz", "jsonl", "parquet", "npz", "arff"])
    if draw.random() < 0.5:
        table.form = other
        return True
    new = f"renamed.{other}"
    made.tables = {new if key == name else key: value for key, value in made.tables.items()}
    line = made.line
    line.places = [new if p == name else p for p in line.places]
    line.options = [(option, new if value == name else value) for option, value in line.options]
    return True


@mutation(4)
def bytes_of_a_file(made: Input, draw: Draw) -> bool:
    """Cut a file, change or add some of its bytes."""
    names = [*made.tables, *made.files]
    if not names:
        return False
    name = draw.choice(names)
    content = bytearray(made.tables.pop(name).content() if name in made.tables else made.files[name])
    how = draw.choice(["cut", "empty", "byte", "byte", "bytes", "twice", "tail", "folder"])
    if how == "cut":
        del content[draw.randrange(len(content) + 1) :]
    elif how == "empty":
        content.clear()
    elif how in ("byte", "bytes"):
        for _ in range(1 if how == "byte" else 8):
            if content:
                content[draw.randrange(len(content))] = draw.randrange(256)
    elif how == "twice":
        content += bytes(content)
    elif how == "tail":
        content += draw.randbytes(20)
    made.files.pop(name, None)
    made.files[name + "/inside" if how == "folder" else name] = bytes(content)
    return True


@cache
def options_of(words: tuple[str, ...]) -> dict[str, type]:
    """Return the options of a command by their long names, with the kind of value each takes; bool is a flag."""
    from unseen.cli import app
    from unseen.request.command_line import COMMANDS

    app._attach_commands()
    found = next(c for c in COMMANDS if tuple(filter(None, (c.group, c.name))) == words)
    made = getattr(found.function, "__signature__", None)
    hints = (
        get_type_hints(found.function, include_extras=True)
        if made is None
        else {name: p.annotation for name, p in made.parameters.items()}
    )
    out: dict[str, type] = {}
    for name, hint in hints.items():
        info = next(
            (part for part in getattr(hint, "__metadata__", ()) if isinstance(part, typer.models.OptionInfo)), None
        )
        if info is not None:
            kinds = [k for k in (bool, int, float, Path) if k in (get_args(hint)[0], *get_args(get_args(hint)[0]))]
            first = [info.default] if str(info.default).startswith("-") else []  # where typer puts it inside Annotated
            for declared in [*first, *(info.param_decls or ())] or [f"--{name.replace('_', '-')}"]:
                out |= {declared: kinds[0] if kinds else str} if declared.startswith("--") else {}
    return out


COUNTS = (
    "0",
    "-1",
    "1",
    "2",
    "3",
    "7",
    "1.5",
    "",
    "x",
    "1e3",
    "1000000000000000000",
    "99999999999999999999",
    "nan",
    "0x2",
    "٣",
)
NUMBERS = (
    "0",
    "-1",
    "1",
    "0.5",
    "1e-9",
    "0.999999",
    "2",
    "100",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-320",
    "",
    "x",
    "0,5",
    "-0",
)
WORDS = (
    "", " ", "y", "x0", "p", "Y", "nothing", "a,b", "0", "1", "-", "--", "auto", "none", "é", "\x1b[0m", "a" * 500, "=", "k=v", "x=1,y=2", "*",
    "knn", "knn:0", "knn:k=x", "nope:f", "os:system", "dummy:a=1", "zero-one", "squared", "auc", "r2", "classification", "regression", "holm",
)  # fmt: skip
PATHS = (
    "",
    ".",
    "missing/out.html",
    "nofile.csv",
    "/dev/null",
    "/dev/full",
    "data.csv",
    "a" * 300,
    "out.xyz",
    "./x.html",
    "/proc/x",
)
# what an option takes that may start processes or reach other machines
BOUNDED = {
    "--jobs": ("1", "0", "x", "1.5", "", "-7"),
    "--workers": ("1", "0", "x", "-7"),
    "--scheduler": ("local:0", "nonsense", "local:-1", "local:x", "", "tcp://", "tcp://127.0.0.1"),
    "--store": (
        "",
        "nothing.db",
        "data.csv",
        "missing/s.db",
        "sqlite:///",
        "mysql://x/y",
        "sqlite:///a/b/c.db",
        "postgresql://",
        ":memory:",
    ),
    "--memory": ("0", "16", "512", "-1", "x"),
    "--seconds": ("0", "0.1", "5", "-1", "x", "nan"),
    "--interval": ("0", "0.1", "wald", "wilson", "nope"),
}


def odd_value(option: str, kind: type, draw: Draw) -> str:
    """Return a value at or beyond the borders of what an option takes."""
    if option in BOUNDED:
        return draw.choice(BOUNDED[option])
    return draw.choice({int: COUNTS, float: NUMBERS, Path: PATHS}.get(kind, WORDS + PATHS[:4] + NUMBERS[:6]))


@mutation(6)
def value_of_an_option(made: Input, draw: Draw) -> bool:
    given = [k for k, (_, value) in enumerate(made.line.options) if value is not None]
    if not given:
        return False
    at = draw.choice(given)
    option = made.line.options[at][0]
    known = options_of(made.line.command)
    if option not in known:
        return False
    made.line.options[at] = option, odd_value(option, known[option], draw)
    return True


@mutation(5)
def one_more_option(made: Input, draw: Draw) -> bool:
    known = options_of(made.line.command)
    option = draw.choice(sorted(known))
    made.line.options.append((option, None if known[option] is bool else odd_value(option, known[option], draw)))
    return True


@mutation(4)
def one_option_less(made: Input, draw: Draw) -> bool:
    # a look at runs that is not asked for once would never end
    droppable = [
        k
        for k, (name, _) in enumerate(made.line.options)
        if name not in ("--quick", "--n", "--splits", "--once", "--n-mc")
    ]
    droppable = [
        k for k in droppable if not (made.line.command[0] == "reproduce" or made.line.options[k][0] == "--permutations")
    ]
    if not droppable:
        return False
    del made.line.options[draw.choice(droppable)]
    return True


@mutation(2)
def order_of_options(made: Input, draw: Draw) -> bool:
    draw.shuffle(made.line.options)
    return bool(made.line.options)


@mutation(1)
def unknown_option(made: Input, draw: Draw) -> bool:
    made.line.options.append(
        (draw.choice(["--nope", "-Z", "--targets", "--js", "--", "-", "--seed=", "--seed=3"]), None)
    )
    return True


@mutation(1.5)
def places(made: Input, draw: Draw) -> bool:
    """Give one file or name more or less, or another one."""
    line = made.line
    how = draw.choice(["less", "more", "other", "twice"])
    if how == "more" or not line.places:
        line.places.append(draw.choice(["data.csv", "iris", "", "nofile.csv", "."]))
    elif how == "less":
        line.places.pop()
    elif how == "twice":
        line.places.append(line.places[0])
    else:
        line.places[-1] = draw.choice(["iris", "nofile.csv", ".", "", "/dev/null", "a" * 300, "http://localhost/x.csv"])
    return True


@mutation(7)
def sane_change(made: Input, draw: Draw) -> bool:
    """Change what stays valid: a number of a cell, its digits, the seed, the way of showing."""
    how = draw.choice(["digits", "seed", "json", "numbers"])
    table = table_of(made, draw)
    if how in ("digits", "numbers") and table is not None and table.n:
        cells = draw.choice(table.columns)[1]
        at = draw.randrange(len(cells))
        try:
            cells[at] = f"{float(cells[at]):.{draw.choice([1, 2, 20])}{draw.choice('fe')}}"
        except ValueError:
            cells[at] = f" {cells[at]}" if draw.random() < 0.5 else cells[at]
    elif how == "json":
        held = [o for o in made.line.options if o[0] != "--json"]
        made.line.options = held if len(held) < len(made.line.options) else [*held, ("--json", None)]
    else:
        made.line.options = [
            *(o for o in made.line.options if o[0] != "--seed"),
            ("--seed", str(draw.randrange(2**63))),
        ]
    return True
