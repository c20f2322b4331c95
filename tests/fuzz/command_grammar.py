"""Valid inputs of every command, by grammar: files as people have them, and the words of a command line."""

from __future__ import annotations

import gzip
import io
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["GRAMMAR", "LEFT_OUT", "WHOLE_GRAMMAR", "Input", "Line", "Table", "is_number", "make_pantry"]

# commands without an end of their own
LEFT_OUT = {"serve": "runs until Ctrl-C; tests/e2e/test_serve.py starts it"}


@dataclass
class Table:
    """A table of text cells and how it is written to a file."""

    columns: list[tuple[str, list[str]]]
    form: str = "csv"
    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    end: str = "\n"
    ragged: dict[int, str] = field(default_factory=dict)  # text added to a line

    @property
    def n(self) -> int:
        return len(self.columns[0][1]) if self.columns else 0

    def lines(self) -> list[str]:
        rows = zip(*(cells for _, cells in self.columns))
        lines = [self.sep.join(map(self._cell, row)) for row in ([name for name, _ in self.columns], *rows)]
        return [line + self.ragged.get(k, "") for k, line in enumerate(lines)]

    def _cell(self, text: str) -> str:
        if self.decimal == "," and is_number(text):
            text = text.replace(".", ",")
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in (self.sep, '"', "\n", "\r")) else text

    def content(self) -> bytes:
        text = self.end.join(self.lines()) + self.end
        if self.form in ("csv", "tsv"):
            return text.encode(self.encoding, "replace")
        if self.form == "csv.gz":
            return gzip.compress(text.encode(self.encoding, "replace"), mtime=0)
        if self.form == "jsonl":
            rows = (dict(zip([n for n, _ in self.columns], row)) for row in zip(*(c for _, c in self.columns)))
            return "".join(
                json.dumps({k: _value(v) for k, v in row.items()}, ensure_ascii=False) + "\n" for row in rows
            ).encode(self.encoding, "replace")
        try:
            return getattr(self, f"_{self.form}")()
        except (
            TypeError,
            ValueError,
            OverflowError,
        ):  # this format cannot hold the table: plain text under its name then
            return text.encode(self.encoding, "replace")

    def _parquet(self) -> bytes:
        import pandas as pd

        out = io.BytesIO()
        frame = pd.concat([_series(name, cells) for name, cells in self.columns], axis=1)
        frame.to_parquet(out)
        return out.getvalue()

    def _npz(self) -> bytes:
        out = io.BytesIO()
        *features, (_, target) = self.columns
        numbers = [[_number(c) for c in cells] for _, cells in features]
        np.savez_compressed(out, X=np.array(numbers, float).T, y=np.array([_value(c) for c in target]))
        return out.getvalue()

    def _arff(self) -> bytes:
        head = ["@relation r"]
        for name, cells in self.columns:
            labels = sorted({c for c in cells if c})
            kind = "numeric" if all(map(is_number, labels)) else "{" + ",".join(f"'{c}'" for c in labels) + "}"
            head.append(f"@attribute '{name}' {kind}")
        rows = [",".join(c if is_number(c) else f"'{c}'" if c else "?" for c in row) for row in zip(*self.cells())]
        return self.end.join([*head, "@data", *rows, ""]).encode(self.encoding, "replace")

    def cells(self) -> list[list[str]]:
        return [cells for _, cells in self.columns]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _number(text: str) -> float:
    return float(text) if is_number(text) else np.nan


def _value(text: str) -> Any:
    """Return what a file with kinds of its own would hold in place of the text."""
    if text == "":
        return None
    if text.lstrip("-").isdecimal() and text.isascii() and len(text) < 19:
        return int(text)
    return float(text) if is_number(text) and np.isfinite(float(text)) else text


def _series(name: str, cells: list[str]) -> Any:
    import pandas as pd

    values = [_value(c) for c in cells]
    kinds = {type(v) for v in values if v is not None}
    return pd.Series(values if kinds <= {int, float} or kinds <= {str} else cells, name=name)


@dataclass
class Line:
    """The words of a command: its name, its files and names, and its options with their values (None for a flag)."""

    command: tuple[str, ...]
    places: list[str]
    options: list[tuple[str, str | None]]

    def words(self) -> list[str]:
        given = [word for name, value in self.options for word in ((name,) if value is None else (name, value))]
        return [*self.command, *self.places, *given]


@dataclass
class Input:
    """One command line with the files it reads; `kept` are files and folders of the pantry that it needs."""

    line: Line
    tables: dict[str, Table] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    mutation: str = "none"

    def write(self, folder: Path) -> None:
        """Put the files of this input into a folder."""
        for name, table in self.tables.items():
            (folder / name).write_bytes(table.content())
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


Draw = random.Random
GRAMMAR: dict[tuple[str, ...], tuple[float, Callable[[Draw], Input]]] = {}


def command(words: str, weight: float) -> Callable[[Callable[[Draw], Input]], Callable[[Draw], Input]]:
    """Register what makes valid inputs of a command; the weight says how often it is drawn."""

    def add(make: Callable[[Draw], Input]) -> Callable[[Draw], Input]:
        GRAMMAR[tuple(words.split())] = weight, make
        return make

    return add


def maybe(draw: Draw, chance: float, *options: tuple[str, str | None]) -> list[tuple[str, str | None]]:
    """Return the options or nothing."""
    return list(options) if draw.random() < chance else []


def common(draw: Draw, level: bool = True, report: float = 0.06) -> list[tuple[str, str | None]]:
    """Return options that nearly every command has."""
    return [
        *maybe(draw, 0.5, ("--json", None)),
        *maybe(draw, 0.2, ("--seed", str(draw.randrange(100)))),
        *(maybe(draw, 0.2, ("--level", draw.choice(["0.5", "0.8", "0.9", "0.99"]))) if level else []),
        *maybe(draw, report, ("--report", "report.html")),
        ("--quiet", None),
    ]


LABELS = (("no", "yes"), ("0", "1"), ("setosa", "virginica"), ("a b", "c,d"), ("é", "ü"))


def numbers(draw: Draw, n: int, shift: list[float] | None = None) -> list[str]:
    """Return a column of numbers, with gaps of their own in some."""
    digits = draw.choice([1, 3, 15])
    gaps = draw.random() < 0.15
    out = [f"{draw.gauss(0, 1) + (shift[k] if shift else 0):.{digits}f}" for k in range(n)]
    return [("" if gaps and k > 5 and draw.random() < 0.1 else v) for k, v in enumerate(out)]


def sample(draw: Draw, task: str | None = None, forms: tuple[str, ...] = ()) -> tuple[str, Table, str, list[str]]:
    """Return the name of a file, a table of features and a target, its kind of task and the labels."""
    n = draw.choice([16, 24, 30, 41])
    task = task or draw.choice(["classification", "classification", "regression"])
    labels = list(draw.choice(LABELS)) + (["third"] if task == "classification" and draw.random() < 0.2 else [])
    codes = [k % len(labels) for k in range(n)]
    draw.shuffle(codes)
    columns = [(f"x{k}", numbers(draw, n, [1.2 * c * (k == 0) for c in codes])) for k in range(draw.choice([1, 2, 3]))]
    if draw.random() < 0.2 and "npz" not in forms:
        columns.append(("colour", [draw.choice(["red", "green", "blue"]) for _ in range(n)]))
    target = (
        [labels[c] for c in codes] if task == "classification" else [f"{3 * c + draw.gauss(0, 1):.4f}" for c in codes]
    )
    columns.append(("y", target))
    form = draw.choice(forms or ("csv", "csv", "csv", "tsv", "csv.gz", "parquet", "npz", "arff"))
    if form == "npz" and any(name == "colour" for name, _ in columns):
        form = "csv"
    if form == "arff" and any("," in label for label in labels):
        form = "csv"
    table = Table(columns, form, sep="\t" if form == "tsv" else draw.choice([",", ",", ";"]) if form == "csv" else ",")
    if table.sep == ";" and draw.random() < 0.5:
        table.decimal = ","
    return f"data.{form}", table, task, labels


def add_column(draw: Draw, table: Table, name: str, cells: list[str]) -> bool:
    """Add a column beside the features; an NPZ file holds nothing but X and y."""
    if table.form == "npz":
        return False
    table.columns.insert(0, (name, cells))
    return True


def data_options(draw: Draw, table: Table, task: str, has: tuple[str, ...]) -> list[tuple[str, str | None]]:
    """Return options about columns, and add the columns they name."""
    n = table.n
    out: list[tuple[str, str | None]] = [] if table.form == "npz" else [("--target", "y")]
    if "groups" in has and draw.random() < 0.15 and add_column(draw, table, "g", [f"p{k // 2}" for k in range(n)]):
        out.append(("--groups", "g"))
    elif "time" in has and draw.random() < 0.1 and add_column(draw, table, "t", [str(k) for k in range(n)]):
        out.append(("--time", "t"))
    if (
        "weights" in has
        and draw.random() < 0.1
        and add_column(draw, table, "w", [draw.choice("123") for _ in range(n)])
    ):
        out.append(("--weights", "w"))
    if "id" in has and draw.random() < 0.1 and add_column(draw, table, "id", [f"r{k}" for k in range(n)]):
        out.append(("--id", "id"))
    if draw.random() < 0.3:
        out.append(("--task", task))
    return out


CLASSIFIERS = ("knn:3", "naive-bayes", "lda", "cart", "dummy", "ridge", "logistic", "qda")
REGRESSORS = ("ols", "ridge", "dummy", "cart", "knn:3")


def model(draw: Draw, task: str) -> str:
    return draw.choice(CLASSIFIERS if task == "classification" else REGRESSORS)


LOSSES = {
    "classification": ("zero-one", "auc", "f1", "log-loss", "brier", "accuracy", "balanced-error"),
    "regression": ("squared", "absolute", "r2", "rms"),
}


@command("assess", 14)
def assess(draw: Draw) -> Input:
    name, table, task, labels = sample(draw)
    options = data_options(draw, table, task, ("groups", "time", "weights", "id"))
    options += [("--model", model(draw, task))]
    if draw.random() < 0.85:
        options.append(("--quick", None))
    else:
        options.append(("--effort", "splits=5,leave_out=20"))
    if "time" not in dict(options):
        scored = LOSSES[task] if len(labels) == 2 else LOSSES[task][:1]
        options += [("--measure", draw.choice(scored[:2] if task == "classification" else scored))] * (
            draw.random() < 0.2
        )
    options += maybe(draw, 0.1, ("--fail-if", draw.choice(["0", "0.3", "5"])))
    options += maybe(draw, 0.1, ("--n", "14")) + maybe(draw, 0.1, ("--all", None))
    options += maybe(draw, 0.04, ("--store", "kept.db")) + maybe(draw, 0.06, ("--save", "run.npz"))
    options += maybe(draw, 0.1, ("--duplicates", draw.choice(["auto", "together", "apart"])))
    return Input(Line(("assess",), [name], options + common(draw)), {name: table})


@command("compare", 5)
def compare(draw: Draw) -> Input:
    name, table, task, _ = sample(draw)
    options = data_options(draw, table, task, ("weights",))
    pool = ("knn:3", "naive-bayes", "dummy", "lda") if task == "classification" else ("ols", "dummy", "ridge")
    tests = ("mcnemar", "5x2cv", "cv-wald") if task == "classification" else ("cv-wald", "5x2cv")
    options += [("--model", m) for m in draw.sample(pool, 2)] + [("--test", draw.choice(tests))]
    if "--weights" in dict(options):
        options = [(k, v) for k, v in options if k != "--test"] + [("--test", "corrected-t")]
    options += maybe(draw, 0.1, ("--rope", "0.05")) + maybe(draw, 0.1, ("--adjust", "none"))
    return Input(Line(("compare",), [name], options + common(draw)), {name: table})


@command("diagnose", 0.3)
def diagnose(draw: Draw) -> Input:
    name, table, task, _ = sample(draw, "classification")
    options = data_options(draw, table, task, ("groups", "id"))
    options += [("--model", draw.choice(["lda", "naive-bayes", "logistic"])), ("--quick", None), ("--n", "16")]
    return Input(Line(("diagnose",), [name], options + common(draw, report=0.03)), {name: table})


@command("distribution", 5)
def distribution(draw: Draw) -> Input:
    name, table, task, _ = sample(draw)
    options = data_options(draw, table, task, ("groups",))
    options += [("--model", model(draw, task)), ("--splits", draw.choice(["2", "5", "12"]))]
    options += maybe(draw, 0.3, ("--fraction", draw.choice(["0.2", "0.3", "0.5"]))) + maybe(draw, 0.2, ("--log", None))
    return Input(Line(("distribution",), [name], options + common(draw, level=False)), {name: table})


TEXT_FORMS = ("csv", "csv", "tsv", "parquet", "jsonl", "csv.gz")


def predictions_table(draw: Draw, task: str) -> tuple[Table, list[str]]:
    """Return a table of truth, predictions and scores, and its labels."""
    n, labels = draw.choice([6, 25, 60]), list(draw.choice(LABELS))
    if task == "regression":
        truth = [draw.gauss(0, 2) for _ in range(n)]
        columns = [("y", [f"{t:.5f}" for t in truth]), ("p", [f"{t + draw.gauss(0, 1):.5f}" for t in truth])]
    else:
        codes = [k % 2 for k in range(n)]
        chance = [min(max(0.2 + 0.6 * c + draw.gauss(0, 0.25), 0.01), 0.99) for c in codes]
        columns = [
            ("y", [labels[c] for c in codes]),
            ("p", [labels[v > 0.5] for v in chance]),
            ("score", [f"{v:.4f}" for v in chance]),
        ]
    columns.append(("id", [f"i{k}" for k in range(n)]))
    columns.append(("site", [f"s{k % 5}" for k in range(n)]))
    columns.append(("w", [draw.choice(["1", "2", "0.5"]) for _ in range(n)]))
    form = draw.choice(TEXT_FORMS)
    return Table(columns, form, sep="\t" if form == "tsv" else ","), labels


@command("measure", 16)
def measure(draw: Draw) -> Input:
    task = draw.choice(["classification", "classification", "regression"])
    table, labels = predictions_table(draw, task)
    options: list[tuple[str, str | None]] = [("--truth", "y")]
    if task == "regression":
        options += [("--pred", "p"), *maybe(draw, 0.4, ("--task", "regression"))]
        options += maybe(draw, 0.2, ("--measure", draw.choice(["r2", "rms", "rms,absolute"])))
    else:
        kind = draw.choice(["pred", "score", "both"])
        options += [("--pred", "p")] * (kind != "score") + [("--score", "score")] * (kind != "pred")
        options += maybe(draw, 0.7, ("--positive", labels[1]))
        options += maybe(draw, 0.2, ("--task", "classification"))
        if kind == "score":
            options += maybe(draw, 0.3, ("--threshold", draw.choice(["0.5", "0.3"])))
    options += maybe(draw, 0.15, ("--cluster", "site")) + maybe(draw, 0.1, ("--weights", "w"))
    name = f"pred.{table.form}"
    return Input(Line(("measure",), [name], options + common(draw, report=0.03)), {name: table})


@command("predictions", 16)
def predictions(draw: Draw) -> Input:
    task = draw.choice(["classification", "classification", "regression"])
    table, labels = predictions_table(draw, task)
    options: list[tuple[str, str | None]] = [("--truth", "y"), ("--pred", "p")]
    if task == "classification" and draw.random() < 0.4:
        options = [("--truth", "y"), ("--prob", "score"), ("--positive", labels[1])]
        options += maybe(draw, 0.5, ("--measure", draw.choice(["brier", "auc", "zero-one", "log-loss"])))
    elif task == "regression":
        options += maybe(draw, 0.4, ("--measure", draw.choice(["squared", "absolute", "r2"])))
    options += maybe(draw, 0.2, ("--cluster", "site")) + maybe(draw, 0.2, ("--missing", "drop"))
    tables = {f"a.{table.form}": table}
    if draw.random() < 0.5:
        other = Table([(n, list(c)) for n, c in table.columns], table.form, table.sep)
        cells = dict(other.columns)["p"]
        draw.shuffle(cells)
        tables[f"b.{table.form}"] = other
        options += [("--id", "id")]
    options += maybe(draw, 0.1, ("--fail-if", "0.4"))
    return Input(Line(("predictions",), list(tables), options + common(draw, report=0.03)), tables)


@command("disagree", 5)
def disagree(draw: Draw) -> Input:
    table, _ = predictions_table(draw, "classification")
    other = Table([(n, list(c)) for n, c in table.columns], table.form, table.sep)
    cells = dict(other.columns)["p"]
    cells[:] = cells[1:] + cells[:1]
    if draw.random() < 0.3:
        n = table.n
        labelled = Table(
            [
                ("id", [f"i{k}" for k in range(n)]),
                ("first", ["no", "yes"] * (n // 2) + ["no"] * (n % 2)),
                ("second", ["yes", "no"] * (n // 2) + ["yes"] * (n % 2)),
                ("label", [draw.choice(["no", "yes"]) for _ in range(n)]),
                ("n_points", [str(3 * n)] * n),
                ("n_disagree", [str(n + 4)] * n),
                ("n_classes", ["2"] * n),
                ("first_name", ["a.csv"] * n),
                ("second_name", ["b.csv"] * n),
            ]
        )
        return Input(Line(("disagree",), [], [("--labelled", "asked.csv"), *common(draw)]), {"asked.csv": labelled})
    names = [f"a.{table.form}", f"b.{table.form}"]
    options = [("--pred", "p"), ("--id", "id"), ("--budget", draw.choice(["1", "3", "5"]))]
    options += maybe(draw, 0.5, ("--out", "asked.csv"))
    return Input(Line(("disagree",), names, options + common(draw)), dict(zip(names, (table, other))))


@command("power", 6)
def power(draw: Draw) -> Input:
    known = {"--n": draw.choice(["50", "200", "1000"]), "--difference": draw.choice(["0.05", "0.1"]), "--power": "0.8"}
    known.pop(draw.choice(list(known)))
    options: list[tuple[str, str | None]] = list(known.items())
    options += [("--sd", "0.4")] if draw.random() < 0.5 else [("--disagreement", "0.3")]
    options += maybe(draw, 0.2, ("--sides", "1")) + maybe(draw, 0.2, ("--alpha", "0.01"))
    return Input(Line(("power",), [], options + common(draw, level=False)))


@command("plan-test-size", 5)
def plan_test_size(draw: Draw) -> Input:
    options: list[tuple[str, str | None]] = [("--half-width", draw.choice(["0.02", "0.05", "0.1"]))]
    if draw.random() < 0.5:
        options += [("--error", draw.choice(["0.1", "0.5"]))]
        options += maybe(draw, 0.4, ("--interval", draw.choice(["wald", "wilson", "clopper-pearson"])))
    else:
        options += [("--sd", "0.5")] if draw.random() < 0.5 else [("--disagreement", "0.3"), ("--difference", "0.05")]
    options += maybe(draw, 0.2, ("--cluster-size", "4"), ("--icc", "0.1"))
    return Input(Line(("plan-test-size",), [], options + common(draw)))


@command("methods", 0.3)
def methods(draw: Draw) -> Input:
    return Input(Line(("methods",), [], maybe(draw, 0.5, ("--json", None))))


@command("models", 0.3)
def models(draw: Draw) -> Input:
    return Input(Line(("models",), [], maybe(draw, 0.5, ("--json", None))))


@command("datasets", 0.3)
def datasets(draw: Draw) -> Input:
    return Input(Line(("datasets",), [], maybe(draw, 0.5, ("--json", None))))


@command("resub", 0.7)
def resub(draw: Draw) -> Input:
    rng = np.random.default_rng(draw.randrange(1000))
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + y[:, None]
    columns = [(f"x{k}", [f"{v:.4f}" for v in X[:, k]]) for k in (0, 1)] + [
        ("kind", ["no" if c == 0 else "yes" for c in y])
    ]
    options: list[tuple[str, str | None]] = [
        ("--target", "kind"),
        ("--method", draw.choice(["resub", "bolster", "posterior"])),
    ]
    options += maybe(draw, 0.2, ("--fail-if", "0.2"))
    return Input(
        Line(("resub",), ["model.skops", "data.csv"], options + common(draw)),
        {"data.csv": Table(columns)},
        kept=("model.skops",),
    )


SPEC = """name = "s"
seed = {seed}
replications = {replications}
sizes = [{sizes}]
n_test = 50
[[populations]]
id = "{population}"
[[models]]
model = "{model}"
[[methods]]
id = "{method}"
"""


@command("study run", 3)
def study_run(draw: Draw) -> Input:
    text = SPEC.format(
        seed=draw.randrange(50),
        replications=draw.choice([2, 3]),
        sizes=draw.choice(["12", "10, 14"]),
        population=draw.choice(["gaussian-blocks", "sparse-logistic"]),
        model=draw.choice(["knn:3", "dummy", "lda"]),
        method=draw.choice(["resub", "holdout", "kfold"]),
    )
    options = maybe(draw, 0.2, ("--name", "other")) + maybe(draw, 0.2, ("--replications", "2"))
    return Input(
        Line(("study", "run"), ["s.toml"], [("--store", "s.db"), *options, *common(draw, level=False)]),
        files={"s.toml": text.encode()},
    )


def stored(words: str, weight: float, *options: tuple[str, str | None], report: float = 0.0) -> None:
    """Register a command that reads the study in the store of the pantry."""

    def make(draw: Draw) -> Input:
        places = ["s"] if words not in ("study list",) else []
        given = [*options, ("--store", "studies.db"), *common(draw, level=False, report=report)]
        return Input(Line(tuple(words.split()), places, given), kept=("studies.db",))

    command(words, weight)(make)


stored("study status", 0.6)
stored("study resume", 0.6, report=0.1)
stored("study cancel", 0.3)
stored("study summary", 0.8, report=0.1)
stored("study export", 0.8, ("--to", "out.csv"))
stored("study list", 0.3)
stored("study remove", 0.4, ("--yes", None))


@command("study new", 0.4)
def study_new(draw: Draw) -> Input:
    return Input(Line(("study", "new"), ["new.toml"], [("--quiet", None)]))


def kinetics_tables(draw: Draw, n_subjects: int | None = None) -> dict[str, Table]:
    """Return a table of tracer ratios and one of doses, from curves of two exponentials."""
    subjects = [f"s{k}" for k in range(n_subjects or draw.choice([1, 2, 4]))]
    times = [5, 10, 15, 30, 60, 90, 120, 180, 240]
    shapes = {"Phe-6": (0.2, 0.05), "Tyr-4": (0.1, 0.03), "Tyr-6": (0.01, 0.008)}
    rows = []
    for subject in subjects:
        for analyte, (height, rate) in shapes.items():
            for t in times:
                first, second = np.exp(-rate * t), np.exp(-rate * t / 8)
                rise = 1 - np.exp(-t / 20) if analyte == "Tyr-6" else 1.0
                value = height * (0.7 * first + 0.3 * second) * rise * (1 + 0.02 * draw.gauss(0, 1))
                rows.append([subject, str(float(t)), analyte, f"{value:.6f}"])
    columns = [(name, [row[k] for row in rows]) for k, name in enumerate(("subject", "time", "analyte", "ttr"))]
    n = len(subjects)
    doses = [("subject", subjects), ("dose_precursor", ["3.6"] * n), ("dose_product", ["2.85"] * n)]
    doses.append(("group", [("a", "b")[k % 2] for k in range(n)]))
    return {"ttr.csv": Table(columns), "doses.csv": Table(doses)}


@command("kinetics fit", 0.3)
def kinetics_fit(draw: Draw) -> Input:
    options: list[tuple[str, str | None]] = [("--doses", "doses.csv")]
    options += maybe(draw, 0.2, ("--error", "proportional")) + maybe(draw, 0.2, ("--outliers", "none"))
    options += maybe(draw, 0.3, ("--location", "EC-EC")) + maybe(draw, 0.2, ("--order", draw.choice(["1,1", "2,2"])))
    return Input(
        Line(("kinetics", "fit"), ["ttr.csv"], options + common(draw, level=False, report=0.02)), kinetics_tables(draw)
    )


@command("kinetics nca", 3)
def kinetics_nca(draw: Draw) -> Input:
    options: list[tuple[str, str | None]] = [("--doses", "doses.csv"), *maybe(draw, 0.2, ("--drop-early", "Phe-6=6"))]
    return Input(Line(("kinetics", "nca"), ["ttr.csv"], options + common(draw, level=False)), kinetics_tables(draw))


@command("kinetics compare-groups", 0.05)
def kinetics_groups(draw: Draw) -> Input:
    tables = kinetics_tables(draw, 6)
    options = [("--doses", "doses.csv"), ("--group", "group"), ("--location", "EC-EC"), ("--permutations", "19")]
    return Input(
        Line(("kinetics", "compare-groups"), ["ttr.csv"], options + common(draw, level=False, report=0.0)), tables
    )


@command("kinetics simulate", 1.5)
def kinetics_simulate(draw: Draw) -> Input:
    options = [("--out", "k.csv"), ("--subjects", draw.choice(["1", "2", "5"])), *maybe(draw, 0.3, ("--noise", "0.1"))]
    return Input(Line(("kinetics", "simulate"), [], options + common(draw, level=False)))


@command("nets cmi", 1.5)
def nets_cmi(draw: Draw) -> Input:
    cells = [(a, b, c, s) for a in (1, 2, 3) for b in (8, 16) for c in (0, 0.5) for s in (0, 1)]
    columns = [(name, [str(cell[k]) for cell in cells]) for k, name in enumerate(("depth", "width", "dropout", "seed"))]
    columns.append(("gap", [f"{0.02 * a + 0.01 * draw.random():.4f}" for a, *_ in cells]))
    columns.append(("m", [f"{a + draw.random():.4f}" for a, *_ in cells]))
    form = draw.choice(TEXT_FORMS)
    options = [
        ("--measure", "m"),
        ("--grid", "depth,width,dropout"),
        ("--permutations", "19"),
        ("--seed-column", "seed"),
    ]
    options += maybe(draw, 0.2, ("--sizes", draw.choice(["0", "1", "0,1,2"])))
    table = Table(columns, form, sep="\t" if form == "tsv" else ",")
    return Input(Line(("nets", "cmi"), [f"nets.{form}"], options + common(draw, report=0.02)), {f"nets.{form}": table})


@command("nets monitor", 3)
def nets_monitor(draw: Draw) -> Input:
    names = ("train_error", "monitor_error", "train_p", "monitor_p", "angle", "rate", "length", "variance")
    lines = [{"kind": "unseen training progress 1"}]
    lines += [{"epoch": k, **{name: round(draw.random(), 4) for name in names}} for k in range(draw.choice([0, 1, 5]))]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    options = [("--once", None), *maybe(draw, 0.5, ("--json", None))]
    return Input(Line(("nets", "monitor"), ["runs"], options), files={"runs/a.jsonl": text.encode()})


CODE = (
    b"from torch import nn\n\ndef make_net():\n    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\n"
)


def arrays(draw: Draw, names: tuple[str, str] = ("X", "y"), n: int = 20, d: int = 3, c: int = 2) -> bytes:
    rng = np.random.default_rng(draw.randrange(1000))
    y = np.arange(n) % c
    X = (rng.standard_normal((n, d)) + y[:, None]).astype(np.float32)
    out = io.BytesIO()
    np.savez(out, **{names[0]: X, names[1]: y})
    return out.getvalue()


@command("nets estimate", 2)
def nets_estimate(draw: Draw) -> Input:
    method = draw.choice(["resub", "bolster", "naive-bayes-bolster", "posterior"])
    options = [("--data", "train.npz"), ("--module", "own_nets:make_net"), ("--weights", "net.safetensors")]
    options += [("--method", method), ("--n-mc", "5"), ("--device", "cpu"), *maybe(draw, 0.2, ("--fail-if", "0.2"))]
    return Input(
        Line(("nets", "estimate"), [], options + common(draw, level=False, report=0.03)),
        files={"train.npz": arrays(draw), "own_nets.py": CODE},
        kept=("net.safetensors",),
    )


@command("nets rank", 1.2)
def nets_rank(draw: Draw) -> Input:
    nets = {
        name: {"weights": f"{name}.safetensors", "make": "make_mlp", "options": {"depth": 0}}
        for name in ("flat", "steep")
    }
    measures = draw.choice(["inverse-margin", "path-norm", "inverse-margin,path-norm"])
    options = [("--data", "train.npz"), ("--measures", measures), ("--device", "cpu")]
    return Input(
        Line(("nets", "rank"), ["zoo"], options + common(draw, level=False, report=0.0)),
        files={"train.npz": arrays(draw), "zoo/manifest.json": json.dumps({"networks": nets}).encode()},
        kept=("zoo/flat.safetensors", "zoo/steep.safetensors"),
    )


@command("nets bench", 1.5)
def nets_bench(draw: Draw) -> Input:
    nets, values = [], []
    for k, (a, b, c, seed) in enumerate(
        (a, b, c, s) for a in (1, 2, 3) for b in (8, 16) for c in (0, 0.5) for s in (0, 1)
    ):
        gap = 0.1 + 0.03 * a + 0.02 * (b == 16) + 0.002 * draw.random()
        known = {
            "zoo": "made-up",
            "name": f"n{k // 2}s{seed}",
            "seed": seed,
            "epochs": 5,
            "train_loss": 0.01,
            "train_accuracy": 1.0,
        }
        nets.append(
            {
                **known,
                "test_accuracy": 1 - gap,
                "n_parameters": 9,
                "reason": "",
                "holdout_error": "",
                "gap": gap,
                "a": a,
                "b": b,
                "c": c,
            }
        )
        for measure, value in (("half", a), ("noise", draw.random())):
            row = {"zoo": "made-up", "seed": seed, "net": known["name"], "measure": measure, "value": value}
            values.append({**row, "std_error": 0.0, "draws": 1, "seconds": 0.1, "reason": ""})
    tables = {
        name: Table([(key, [str(row[key]) for row in rows]) for key in rows[0]])
        for name, rows in (("networks.csv", nets), ("values.csv", values))
    }
    options = [("--networks", "networks.csv"), ("--values", "values.csv"), ("--permutations", "5")]
    return Input(Line(("nets", "bench"), [], options + common(draw, level=False, report=0.02)), tables)


@command("reproduce", 0.2)
def reproduce(draw: Draw) -> Input:
    name = draw.choice(["larsen-hansen", "pgdl-scores"])
    options = [("--replications", draw.choice(["2", "3"]))] if name == "larsen-hansen" else []
    return Input(Line(("reproduce",), [name], options + common(draw, level=False, report=0.0)))


@command("permutation-test", 1)
def permutation_test(draw: Draw) -> Input:
    name, table, task, _ = sample(draw)
    options = data_options(draw, table, task, ("weights",))
    options += [("--model", model(draw, task)), ("--permutations", draw.choice(["1", "9"])), ("--n", "16")]
    return Input(Line(("permutation-test",), [name], options + common(draw, level=False, report=0.1)), {name: table})


WHOLE_GRAMMAR = tuple(GRAMMAR)  # also what an optional package that is absent takes out below


def make_pantry(folder: Path, run: Callable[[list[str], Path], Any]) -> None:
    """Make what takes long to make: a model file, a store with a study, a trained net and a small zoo."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"] * 15)
    X = rng.normal(size=(30, 2)) + (y == "yes")[:, None]
    try:
        import skops.io

        skops.io.dump(LogisticRegression().fit(X, y), folder / "model.skops")
    except ImportError:
        GRAMMAR.pop(("resub",), None)
    spec = SPEC.format(seed=1, replications=2, sizes="12", population="gaussian-blocks", model="knn:3", method="resub")
    (folder / "s.toml").write_text(spec)
    run(["study", "run", "s.toml", "--store", "studies.db", "--quiet"], folder)
    with closing(sqlite3.connect(folder / "studies.db")) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # inputs copy this file alone
    (folder / "s.toml").unlink()
    try:
        _make_nets(folder)
    except ImportError:
        for words in [w for w in GRAMMAR if w[0] == "nets" and w[1] not in ("cmi", "monitor", "bench")]:
            GRAMMAR.pop(words)


def _make_nets(folder: Path) -> None:
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    save_file(net.state_dict(), folder / "net.safetensors")
    (folder / "zoo").mkdir()
    for name, size in (("steep", 4.0), ("flat", 1.0)):
        weights = {"0.weight": size * torch.tensor([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), "0.bias": torch.zeros(2)}
        save_file(weights, folder / "zoo" / f"{name}.safetensors")
