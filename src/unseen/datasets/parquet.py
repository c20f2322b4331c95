"""Parquet files and folders of them, by pyarrow."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError, MissingExtra
from unseen.core.unpacking import check_unpacked
from unseen.datasets.source import SourceFile, open_source

__all__ = ["read_columns", "read_parquet", "release_memory", "rows_of"]

# bytes of a value in memory by its kind in the file; text counts as a pointer, its letters as the file has them
AT_ONCE = 1 << 20  # values of a table that are read at a time where all of it need not be in memory
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT96": 12}


def read_parquet(source: SourceFile) -> Any:
    """Return the table as a pandas frame; a named index becomes columns again, text categories."""
    import pandas as pd

    try:
        import pyarrow
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "frames", "reading Parquet files") from error
    try:
        frame = _read_parts(source)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the file {str(source.path)!r} cannot be read as Parquet: {reason}") from error
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=named) if named else frame
    text = [c for c in frame.columns if pd.api.types.infer_dtype(frame[c], skipna=True) == "string"]
    return frame.astype(dict.fromkeys(text, "category")) if text else frame


def _read_parts(source: SourceFile) -> Any:
    """Return the table of a file or a folder; every part has the columns of the first, by name and type, in its order."""
    from pyarrow.parquet import read_table

    with ExitStack() as stack:
        opened: list[Any] = [stack.enter_context(part.open("rb")) for part in source.parts]
        files = opened or [stack.enter_context(source.seekable())]
        check_unpacked(sum(map(_unpacked_size, files)), source.path, source.size)
        tables: list[Any] = []
        for k, file in enumerate(files):
            file.seek(0)
            table = read_table(file)
            if tables:
                _check_schema(tables[0].schema, table.schema, source.parts[0], source.parts[k])
                table = table.select(tables[0].column_names)
            tables.append(table)
    whole = tables[0] if len(tables) == 1 else _join(tables)
    del table, tables
    # each column goes as soon as it is converted: one copy of the table, not two
    frame = whole.to_pandas(self_destruct=True)
    del whole
    release_memory()
    return frame


def rows_of(path: str) -> int:
    """Return how many rows a Parquet file, or a folder of them, has; 0 for any other file."""
    source = open_source(path)
    if source.kind != "parquet" or source.gzipped:
        return 0
    from pyarrow.parquet import read_metadata

    return sum(int(read_metadata(part).num_rows) for part in source.parts or (source.path,))


def read_columns(path: str, names: Sequence[str]) -> Iterator[tuple[int, int, Any]]:
    """Yield the number of a column, the row it begins at, and values as a series: some megabytes of the table at a time.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "small.parquet"
    ...     pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_parquet(file)
    ...     [(column, first, values.tolist()) for column, first, values in read_columns(str(file), ["b", "a"])]
    [(0, 0, [3, 4]), (1, 0, [1, 2])]
    """
    from pyarrow.parquet import ParquetFile

    source, first = open_source(path), 0
    for part in source.parts or (source.path,):
        with ParquetFile(part) as file:
            for group in range(file.num_row_groups):
                rows = int(file.metadata.row_group(group).num_rows)
                step = max(1, AT_ONCE // max(rows, 1))
                for k in range(0, len(names), step):
                    some = list(names[k : k + step])
                    table = file.read_row_group(group, columns=some, use_threads=False)
                    for j, name in enumerate(some, k):
                        yield j, first, table.column(name).to_pandas()
                    del table
                release_memory()
                first += rows


def release_memory() -> None:
    """Give back to the system what pyarrow keeps for its next table."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


def _join(tables: list[Any]) -> Any:
    from pyarrow import concat_tables

    codes = {name for name in tables[0].column_names if len({t.schema.field(name).type for t in tables}) > 1}
    # a column without any value in a part has no type there
    return concat_tables([_decode(t, codes) for t in tables], promote_options="default").unify_dictionaries()


def _check_schema(first: Any, other: Any, first_path: Path, path: Path) -> None:
    where = f"{str(path)!r} and {str(first_path)!r} are parts of one table, but"
    for one, two, lacks in ((first, other, path), (other, first, first_path)):
        missing = [name for name in one.names if name not in two.names]
        if missing:
            raise InputError(f"{where} {lacks.name!r} has no column {missing[0]!r}; give parts with the same columns.")
    for name in first.names:
        one, two = _value_type(first.field(name).type), _value_type(other.field(name).type)
        if one != two and "null" not in (str(one), str(two)):
            raise InputError(
                f"{where} the column {name!r} is {_word(two)} in {path.name!r} and {_word(one)} in {first_path.name!r}; write all parts with one type."
            )


def _word(kind: Any) -> str:
    return "text" if str(kind) == "large_string" else str(kind)


def _decode(table: Any, names: set[str]) -> Any:
    """Return the table with these columns as plain values, where they are kept as codes."""
    for name in names:
        kind = table.schema.field(name).type
        plain = _value_type(kind)
        if plain != kind and str(kind) != "null":
            table = table.set_column(table.column_names.index(name), name, table[name].cast(plain))
    return table


def _value_type(kind: Any) -> Any:
    """Return the type of the values where a column is kept as codes of them; of the types of text, the widest."""
    from pyarrow import large_string, types

    value = kind.value_type if types.is_dictionary(kind) else kind
    return large_string() if str(value) in ("string", "string_view") else value


def _unpacked_size(file: Any) -> int:
    """Return about how many bytes the table takes; a column of equal values takes none in the file, whatever its length."""
    from pyarrow.parquet import read_metadata

    found = read_metadata(file)
    width = sum(WIDTHS.get(found.schema.column(k).physical_type, 8) for k in range(found.num_columns))
    letters = sum(int(found.row_group(k).total_byte_size) for k in range(found.num_row_groups))
    return max(int(found.num_rows) * int(width), letters)
