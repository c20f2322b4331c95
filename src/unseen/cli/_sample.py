"""Options of every command that reads a sample from a file."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "DataFile",
    "Decimal",
    "DropColumns",
    "GroupColumn",
    "IdColumn",
    "ModelName",
    "PositiveClass",
    "Rows",
    "Separator",
    "TargetColumn",
    "TaskName",
    "TimeColumn",
    "WeightColumn",
]

DataFile = Annotated[str, typer.Argument(help="File (CSV, TSV, Parquet, ARFF, NPZ, gzipped or not) or bundled name.")]
ModelName = Annotated[
    str, typer.Option("--model", "-m", help="Model, such as rbf-svm or 'knn:5'; see `unseen models`.")
]
TargetColumn = Annotated[str | None, typer.Option("--target", "-t", help="Column to predict.")]
GroupColumn = Annotated[str | None, typer.Option("--groups", help="Column of groups that must not be split.")]
TimeColumn = Annotated[str | None, typer.Option("--time", help="Column that orders the rows in time.")]
WeightColumn = Annotated[str | None, typer.Option("--weights", help="Column of row weights.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Column that names the rows.")]
PositiveClass = Annotated[str | None, typer.Option("--positive", help="Positive class.")]
TaskName = Annotated[str | None, typer.Option("--task", help="classification or regression; guessed by default.")]
DropColumns = Annotated[list[str] | None, typer.Option("--drop", help="Column that is no feature; may be given again.")]
Rows = Annotated[int | None, typer.Option("--n", min=2, help="Use a random subsample of this many rows.")]
Separator = Annotated[str | None, typer.Option("--sep", help="Column separator of a text file.")]
Decimal = Annotated[str | None, typer.Option("--decimal", help="Decimal mark of a text file.")]
