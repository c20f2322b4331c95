"""Examples in named columns: Parquet files, data sets of Hugging Face on disk, items that are dictionaries; pictures as bytes, texts as tokens."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError, MissingExtra
from unseen.core.unpacking import check_unpacked

__all__ = ["LABELS", "TEXT_ENTRIES", "from_columns", "from_items", "is_table_folder", "pad_tokens", "read_columns"]

LABELS = ("label", "labels", "target", "targets", "y", "class", "fine_label", "coarse_label")
PICTURES = ("image", "img", "picture", "pixel_values", "images", "inputs", "x", "X", "features", "data")
TEXT_ENTRIES = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
PARTS = {"train": ("train", "training"), "test": ("test", "validation", "valid", "val")}

Decode = Callable[[Any], np.ndarray]  # an opened picture to (channels, height, width) bytes


def is_table_folder(folder: Path) -> bool:
    """Return whether a folder holds Parquet files, or a data set of Hugging Face as `save_to_disk` writes it."""
    if (folder / "dataset_dict.json").is_file() or (folder / "state.json").is_file():
        return True
    return any(folder.glob("*.parquet")) or any((folder / "data").glob("*.parquet"))


def read_columns(path: Path, part: str | None, limit: int | None) -> dict[str, list[Any]]:
    """Return the columns of a Parquet file, of a folder of them, or of a data set of Hugging Face on disk.

    Parameters
    ----------
    path : Path
        File or folder.
    part : {"train", "test"} or None
        Which part of a folder that has several; "train" by default.
    limit : int, optional
        Rows at most.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "frames", "reading Parquet and Arrow files") from error
    files = [path] if path.is_file() else _files(path, part)
    tables, rows = [], 0
    for file in files:
        try:
            if file.suffix == ".arrow":
                with arrow.memory_map(str(file)) as source:
                    table = arrow.ipc.open_stream(source).read_all()
            else:
                found = parquet.ParquetFile(file)
                held = found.metadata
                check_unpacked(sum(held.row_group(k).total_byte_size for k in range(held.num_row_groups)), file)
                table = found.read()
        except (arrow.ArrowException, OSError) as error:
            raise InputError(f"cannot read {str(file)!r}: {str(error).splitlines()[0]}.") from error
        tables.append(table.slice(0, None if limit is None else limit - rows))
        rows += len(tables[-1])
        if limit is not None and rows >= limit:
            break
    whole = arrow.concat_tables(tables, promote_options="default")
    return {name: whole.column(name).to_pylist() for name in whole.column_names}


def _files(folder: Path, part: str | None) -> list[Path]:
    names = PARTS[part or "train"]
    if (folder / "dataset_dict.json").is_file():
        found = [folder / name for name in names if (folder / name / "state.json").is_file()]
        if not found:
            there = ", ".join(sorted(p.name for p in folder.iterdir() if p.is_dir())) or "none"
            raise InputError(f"{str(folder)!r} has the parts {there}; {' or '.join(names)} is needed.")
        folder = found[0]
    if (folder / "state.json").is_file():
        return sorted(folder.glob("*.arrow"))
    files = sorted(folder.glob("*.parquet")) or sorted((folder / "data").glob("*.parquet"))
    return [file for file in files if file.name.startswith(names)] or files


def from_columns(columns: Mapping[str, Sequence[Any]], name: str, decode: Decode) -> tuple[Any, np.ndarray]:
    """Return inputs and labels from named columns.

    Tokens (`input_ids` with `attention_mask` and the like) become a dictionary of whole numbers, padded to one length; pictures
    are decoded; other columns are features, one number each, or one column of arrays.

    Parameters
    ----------
    columns : mapping
        Name to values, one per example.
    name : str
        Where they come from, for messages.
    decode : function
        Turns an opened picture into bytes.

    Examples
    --------
    >>> columns = {"input_ids": [[5, 6, 7], [8]], "attention_mask": [[1, 1, 1], [1]], "label": [0, 1]}
    >>> X, y = from_columns(columns, "texts", lambda picture: picture)
    >>> X["input_ids"].tolist(), X["attention_mask"].tolist(), y.tolist()
    ([[5, 6, 7], [8, 0, 0]], [[1, 1, 1], [1, 0, 0]], [0, 1])
    """
    label = next((key for key in LABELS if key in columns), None)
    if label is None:
        raise InputError(
            f"{name} has the columns {', '.join(columns)}; none of them is called {', '.join(LABELS[:5])}."
        )
    y = np.array([_plain(value) for value in columns[label]])
    if "input_ids" in columns:
        return pad_tokens({key: columns[key] for key in TEXT_ENTRIES if key in columns}), y
    rest = {key: values for key, values in columns.items() if key != label}
    chosen = next((key for key in PICTURES if key in rest and _is_array(rest[key][0])), None)
    chosen = chosen or next((key for key in rest if _is_array(rest[key][0])), None)
    if chosen is not None:
        return _stack([_values(value, decode, f"{name}, row {k + 1}") for k, value in enumerate(rest[chosen])], name), y
    numbers = {key: values for key, values in rest.items() if isinstance(values[0], (int, float, np.number))}
    if not numbers:
        raise InputError(
            f"{name} has the columns {', '.join(columns)}; pictures (image), tokens (input_ids) or numbers are needed."
        )
    return np.array([[_plain(v) for v in values] for values in numbers.values()], dtype=np.float32).T, y


def from_items(items: Sequence[Mapping[str, Any]], name: str, decode: Decode) -> tuple[Any, np.ndarray]:
    """Return inputs and labels from items that are dictionaries."""
    return from_columns({key: [item[key] for item in items] for key in items[0]}, name, decode)


def pad_tokens(entries: Mapping[str, Sequence[Any]]) -> dict[str, np.ndarray]:
    """Return lists of tokens as whole numbers of one length, short ones filled with 0; a mask is made if there is none.

    Examples
    --------
    >>> {k: v.tolist() for k, v in pad_tokens({"input_ids": [[4, 5], [6]]}).items()}
    {'input_ids': [[4, 5], [6, 0]], 'attention_mask': [[1, 1], [1, 0]]}
    """
    rows = {key: [np.asarray(_array(one)).reshape(-1) for one in values] for key, values in entries.items()}
    longest = max(len(one) for one in rows["input_ids"])
    uneven = any(len(one) < longest for one in rows["input_ids"])
    if uneven and "attention_mask" not in rows:
        rows["attention_mask"] = [np.ones(len(one)) for one in rows["input_ids"]]
    out = {key: np.zeros((len(values), longest), dtype=np.int64) for key, values in rows.items()}
    for key, values in rows.items():
        for k, one in enumerate(values):
            out[key][k, : len(one)] = one
    return out


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 1) != 0 else value
    if value is None:
        raise InputError("one label or number is missing; remove the row.")
    return value


def _array(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value


def _is_array(value: Any) -> bool:
    if isinstance(value, (bytes, Mapping)) or (hasattr(value, "convert") and hasattr(value, "mode")):
        return True
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def _values(value: Any, decode: Decode, place: str) -> np.ndarray:
    """Return one input: a picture decoded from bytes or a file, or an array as it is."""
    if isinstance(value, Mapping) and ("bytes" in value or "path" in value):
        value = value.get("bytes") or _file(value.get("path"), place)
    if isinstance(value, bytes):
        return decode(io.BytesIO(value))
    if hasattr(value, "convert") and hasattr(value, "mode"):
        return decode(value)
    found = np.asarray(_array(value))
    if found.dtype == np.uint8 and found.ndim == 3 and found.shape[-1] in (1, 3) and found.shape[0] not in (1, 3):
        return found.transpose(2, 0, 1)  # bytes with the channels last are a picture as it is kept
    if found.dtype == np.uint8 and found.ndim == 2:
        return found[None]
    return found


def _file(path: Any, place: str) -> bytes:
    raise InputError(
        f"{place}: the picture is the name of a file, {path!r}, and no bytes; embed the pictures, or give their folder."
    )


def _stack(inputs: list[np.ndarray], name: str) -> np.ndarray:
    shapes = {x.shape for x in inputs}
    if len(shapes) != 1:
        raise InputError(
            f"inputs of {name} have shapes {sorted(shapes)[:3]}; one shape is needed. Pictures are brought to one by size= (--size)."
        )
    return np.stack(inputs)
