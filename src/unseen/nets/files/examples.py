"""Examples for nets from files and objects: IDX (as MNIST comes), NPZ, Parquet, folders of images, any Dataset or loader."""

from __future__ import annotations

import gzip
import itertools
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError, KindError
from unseen.core.unpacking import check_archive, check_unpacked
from unseen.nets.files.columns import (
    LABELS,
    TEXT_ENTRIES,
    from_columns,
    from_items,
    is_table_folder,
    pad_tokens,
    read_columns,
)

__all__ = ["Examples", "normalise", "open_arrays", "read_examples", "read_idx", "write_idx"]


NPZ_NAMES = {
    None: (("X", "y"), ("x", "y"), ("data", "target"), ("images", "labels"), ("x_train", "y_train"), ("X_train", "y_train")),
    "train": (("x_train", "y_train"), ("X_train", "y_train")),
    "test": (("x_test", "y_test"), ("X_test", "y_test")),
}  # fmt: skip
PARTS = {"train": "train", "test": "t10k"}
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
CHANNELS = {1: "L", 3: "RGB"}


@dataclass(frozen=True, eq=False)
class Examples:
    """Inputs and labels as arrays.

    Parameters
    ----------
    X : ndarray, or dict of ndarray
        Images as (n, channels, height, width), or whatever shape the source has, float32; bytes from 0 to 255 become 0 to 1, other whole
        numbers stay. Texts are a dictionary of tokens: input_ids, attention_mask.
    y : ndarray
        Labels.
    classes : tuple
        Different labels, sorted; the names of the subfolders for a folder of images.
    source : str
        Where they come from.
    value_range : tuple or None
        Values of black and white after `mean` and `std`, per channel; None if the values are as they came.

    Examples
    --------
    >>> e = read_examples((np.zeros((2, 3)), np.array([0, 1])))
    >>> e.X.dtype, e.classes, len(e)
    (dtype('float32'), (0, 1), 2)
    """

    X: Any
    y: Any
    classes: tuple[Any, ...]
    source: str
    value_range: tuple[Any, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input; of a text that of its tokens."""
        X = next(iter(self.X.values())) if isinstance(self.X, Mapping) else self.X
        return tuple(int(d) for d in X.shape[1:])

    @property
    def is_images(self) -> bool:
        """Whether the inputs have the shape of images."""
        return len(self.shape) == 3

    def __len__(self) -> int:
        return len(self.y)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))


def read_examples(
    source: Any,
    *,
    part: str | None = None,
    channels: int | None = None,
    n_classes: int | None = None,
    limit: int | None = None,
    size: int | None = None,
    mean: Sequence[float] | float | None = None,
    std: Sequence[float] | float | None = None,
) -> Examples:
    """Read inputs and labels for a net.

    Parameters
    ----------
    source : path, (X, y), Dataset, iterable of pairs, or DataLoader
        A folder with IDX files (plain or gzip, named as MNIST's), a folder with one subfolder of images per class, an NPZ
        file (X and y, or x_train and y_train, or input_ids, attention_mask and y; never unpickled), a Parquet file or a folder of them, a data
        set of Hugging Face on disk (`save_to_disk`), two arrays, or a torch Dataset or DataLoader whose items are pairs or
        dictionaries with a label. A loader's own order does not matter; its `collate_fn` is used if it is one of your own.
    part : {"train", "test"}, optional
        Which part of a source that has two; "train" by default for IDX.
    channels : {1, 3}, optional
        Turn the pictures of a folder to grey or colour; as the first one is by default.
    n_classes : int, optional
        Refuse whole-number labels of n_classes and above.
    limit : int, optional
        Read so many examples at most: the first ones, or equally many of every class of a folder of pictures.
    size : int, optional
        Bring pictures to so many pixels a side: the shorter side by scaling, the longer one by cutting off its ends.
    mean, std : float or one per channel, optional
        Normalise images as the net was trained on: (x - mean) / std, with x from 0 to 1.

    Returns
    -------
    Examples

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "a.npz"
    ...     np.savez(file, X=np.eye(3), y=[0, 1, 1])
    ...     X, y = read_examples(file)
    >>> X.shape, y.tolist()
    ((3, 3), [0, 1, 1])
    """
    if part not in NPZ_NAMES:
        raise InputError(f"part is {part!r}; it is 'train', 'test' or None.")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 1):
        raise InputError(f"limit is {limit!r}; it is a whole number of at least 1.")
    if size is not None and (isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1):
        raise InputError(f"size is {size!r}; it is a whole number of pixels.")
    if isinstance(source, Examples):
        if mean is None and std is None and limit is None:
            return source
        source = (source.X, source.y)
    look = _Look(channels, size)
    X: Any
    if isinstance(source, tuple) and len(source) == 2:
        X, y, name = _inputs(source[0]), _array(source[1]), "arrays"
    elif isinstance(source, (str, PathLike)):
        X, y, name = *_from_path(Path(source), part, look, limit), str(source)
    elif hasattr(source, "dataset") and hasattr(source, "batch_size"):
        X, y, name = *_from_loader(source, limit, look), type(source).__name__
    elif not isinstance(source, Mapping) and (hasattr(source, "__getitem__") or hasattr(source, "__iter__")):
        X, y, name = *_from_dataset(source, limit, look), type(source).__name__
    else:
        raise KindError(f"source is a {type(source).__name__}; give a path, a pair (X, y), a Dataset or a DataLoader.")
    return normalise(_check_examples(X, y, name, n_classes, limit), mean, std)


def normalise(examples: Examples, mean: Any, std: Any) -> Examples:
    """Return examples with images shifted and scaled as the net was trained on them; as they are if neither is given.

    Examples
    --------
    >>> e = normalise(read_examples((np.ones((2, 1, 4, 4)), [0, 1])), 0.5, 0.25)
    >>> float(e.X.max()), e.value_range
    (2.0, ([-2.0], [2.0]))
    """
    if mean is None and std is None:
        return examples
    if not examples.is_images:
        raise InputError(
            f"mean and std are for images (channels, height, width); the inputs have shape {examples.shape}."
        )
    count = examples.shape[0]
    ends = []
    for name, values, usual in (("mean", mean, 0.0), ("std", std, 1.0)):
        found = np.atleast_1d(np.asarray(usual if values is None else values, dtype=np.float64))
        if (
            found.shape not in ((1,), (count,))
            or not np.isfinite(found).all()
            or (name == "std" and (found <= 0).any())
        ):
            raise InputError(
                f"{name} is {values!r}; one number is needed, or {count}, one per channel{', above 0' if name == 'std' else ''}."
            )
        ends.append(np.broadcast_to(found, (count,)))
    shift, scale = ends
    low, high = float(examples.X.min()), float(examples.X.max())
    if low < -1e-3 or high > 1 + 1e-3:
        raise InputError(
            f"images have values from {low:.4g} to {high:.4g}; mean and std are for values from 0 to 1. Leave them out if the images are normalised already."
        )
    X = ((examples.X - shift[:, None, None]) / scale[:, None, None]).astype(np.float32)
    black, white = ((-shift / scale).tolist(), ((1 - shift) / scale).tolist())
    return replace(examples, X=X, value_range=(black, white))


@dataclass(frozen=True)
class _Look:
    """How pictures are read: their channels and their size."""

    channels: int | None = None
    size: int | None = None


def _inputs(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {str(key): _array(one) for key, one in values.items()}
    return _array(values)


def _array(values: Any) -> np.ndarray:
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def _check_examples(X: Any, y: np.ndarray, name: str, n_classes: int | None, limit: int | None) -> Examples:
    parts = dict(X) if isinstance(X, Mapping) else {"": X}
    if limit is not None and y.ndim and all(one.ndim for one in parts.values()):
        parts, y = {key: one[:limit] for key, one in parts.items()}, y[:limit]
    for key, one in parts.items():
        if y.ndim != 1 or one.shape[:1] != y.shape or len(y) == 0:
            raise InputError(f"{name}: {one.shape} inputs and {y.shape} labels; one label per input is needed.")
        parts[key] = _numbers(one, name, keep=bool(key))
    X = parts if isinstance(X, Mapping) else parts[""]
    if y.dtype.kind == "f":
        if not np.array_equal(y, np.round(y)):
            raise InputError(f"{name}: labels are fractions or NaN; classes are needed.")
        y = y.astype(np.int64)
    if n_classes is not None and y.dtype.kind in "bui" and (y.min() < 0 or y.max() >= n_classes):
        raise InputError(
            f"{name}: labels run from {y.min()} to {y.max()}; with {n_classes} classes they run from 0 to {n_classes - 1}."
        )
    if y.dtype == object and not all(isinstance(label, str) for label in y):
        odd = next(label for label in y if not isinstance(label, str))
        raise InputError(f"{name}: one label is {odd!r}; labels are all text or all whole numbers.")
    y = y.astype(np.int64) if y.dtype.kind in "bui" else y.astype(str) if y.dtype.kind in "OS" else y
    return Examples(X, y, tuple(np.unique(y).tolist()), name)


def _numbers(X: np.ndarray, name: str, keep: bool) -> np.ndarray:
    """Return inputs as finite numbers: bytes from 0 to 1, other whole numbers as they are, floats in single precision."""
    if X.dtype.kind not in "buif":
        raise InputError(f"{name}: inputs of kind {X.dtype}; numbers are needed.")
    if X.dtype.kind in "bui" and (keep or X.dtype not in (np.uint8, np.bool_)):
        return X.astype(np.int64)
    X = X.astype(np.float32) / 255 if X.dtype == np.uint8 else X.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(X.reshape(len(X), -1)).all(axis=1))
    if len(bad):
        raise InputError(
            f"{name}: {len(bad)} examples hold NaN or infinite values, the first at row {bad[0] + 1}, counted from 1; remove them."
        )
    return X


def _from_path(path: Path, part: str | None, look: _Look, limit: int | None) -> tuple[Any, np.ndarray]:
    if not (path.is_file() or path.is_dir()):
        raise InputError(f"there is no file or folder {str(path)!r}.")
    if path.is_file() and path.suffix not in (".parquet", ".pq", ".arrow"):
        return _from_npz(path, part)
    if path.is_file() or is_table_folder(path):
        return from_columns(read_columns(path, part, limit), str(path), _PictureDecoder(look, str(path)))
    images = sorted(p for p in path.iterdir() if "idx" in p.name and "images" in p.name)
    return _from_idx(path, images, part or "train") if images else _from_pictures(path, part, look, limit)


def _from_npz(path: Path, part: str | None) -> tuple[Any, np.ndarray]:
    with path.open("rb") as file:
        start = file.read(6)
    if not start.startswith((b"PK", b"\x93NUMPY")):
        raise InputError(
            f"{str(path)!r} is no NPZ file; give one with X and y, or the folder that holds IDX files or pictures by class."
        )
    with open_arrays(path) as archive:
        if not hasattr(archive, "files"):
            raise InputError(f"{str(path)!r} holds one array; an NPZ file with X and y is needed.")
        for names in NPZ_NAMES[part]:
            if set(names) <= set(archive.files):
                X, y = (archive[name] for name in names)
                return X, y
        label = next((name for name in ("y", "labels", "label") if name in archive.files), None)
        if part is None and label is not None and "input_ids" in archive.files:
            return {name: archive[name] for name in TEXT_ENTRIES if name in archive.files}, archive[label]
        wanted = " and ".join(NPZ_NAMES[part][0])
        raise InputError(f"{str(path)!r} holds {', '.join(archive.files)}; arrays called {wanted} are needed.")


def _from_idx(folder: Path, images: list[Path], part: str) -> tuple[np.ndarray, np.ndarray]:
    chosen = [p for p in images if p.name.startswith(PARTS[part])]
    if len(chosen) != 1:
        names = ", ".join(p.name for p in images)
        raise InputError(f"{str(folder)!r} holds {names}; exactly one file of images must begin with {PARTS[part]!r}.")
    stem = chosen[0].name.replace("images-idx3", "labels-idx1")
    labels = [folder / name for name in (stem, stem.removesuffix(".gz"), stem + ".gz") if (folder / name).is_file()]
    if not labels:
        raise InputError(f"{str(folder)!r} has images but no labels {stem!r}.")
    X, y = read_idx(chosen[0]), read_idx(labels[0])
    return (X[:, None] if X.ndim == 3 else X), y


def _from_pictures(folder: Path, part: str | None, look: _Look, limit: int | None) -> tuple[np.ndarray, np.ndarray]:
    root = folder / part if part is not None and (folder / part).is_dir() else folder
    if look.channels not in (None, 1, 3):
        raise InputError(f"channels is {look.channels!r}; pictures have 1 (grey) or 3 (colour).")
    kinds = sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    files = [(p, kind.name) for kind in kinds for p in sorted(kind.rglob("*")) if p.suffix.lower() in PICTURES]
    if not files:
        raise InputError(
            f"{str(root)!r} has neither IDX files nor subfolders with pictures ({', '.join(PICTURES)}), nor Parquet files."
        )
    files = _some_of_every_class(files, limit)
    first = _picture(files[0][0], look)
    out = np.empty((len(files), *first.shape), dtype=np.uint8)
    for k, (path, _) in enumerate(files):
        image = _picture(path, replace(look, channels=first.shape[0]))
        if image.shape != first.shape:
            raise InputError(
                f"{str(path)!r} has {image.shape[2]} x {image.shape[1]} pixels, the first picture {first.shape[2]} x {first.shape[1]}; "
                "bring them to one size first, or give size= (--size 64)."
            )
        out[k] = image
    return out, np.array([name for _, name in files])


def _some_of_every_class(files: list[tuple[Path, str]], limit: int | None) -> list[tuple[Path, str]]:
    """Return the first files of every class in turn until there are enough, in their old order."""
    if limit is None or limit >= len(files):
        return files
    seen: Counter[str] = Counter()
    turns = []
    for k, (_, name) in enumerate(files):
        turns.append((seen[name], k))
        seen[name] += 1
    return [files[k] for k in sorted(k for _, k in sorted(turns)[:limit])]


class _PictureDecoder:
    """Decodes the pictures of one source, all with the channels of the first."""

    def __init__(self, look: _Look, name: str) -> None:
        self.look, self.name = look, name

    def __call__(self, picture: Any) -> np.ndarray:
        """Return a picture, opened or as bytes, as (channels, height, width) bytes."""
        opened = hasattr(picture, "convert") and hasattr(picture, "mode")
        values = _pixels(picture, self.look) if opened else _picture(picture, self.look, self.name)
        self.look = replace(self.look, channels=values.shape[0])
        return values


def _picture(path: Any, look: _Look, name: str | None = None) -> np.ndarray:
    """Return a picture as (channels, height, width) bytes."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise InputError(
            "reading pictures needs the package 'pillow', which is not installed: pip install pillow."
        ) from error
    try:
        with Image.open(path) as image:
            values = _pixels(image, look)
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"cannot read the picture {str(path) if name is None else name!r}: {error}.") from error
    return values


def _pixels(image: Any, look: _Look) -> np.ndarray:
    """Return an opened picture as (channels, height, width) bytes; 16 bits of grey become 8 by division."""
    if image.mode == "F":
        raise OSError("its pixels are floats of unknown range; save it with 8 or 16 bits, or give the numbers as NPZ")
    if look.size is not None:
        image = _at_size(image, look.size)
    if image.mode.startswith("I"):
        values = (np.asarray(image).astype(np.int64) // 257).clip(0, 255).astype(np.uint8)[None]
        return np.repeat(values, look.channels or 1, axis=0)
    mode = CHANNELS[look.channels] if look.channels else ("L" if image.mode in ("1", "L", "LA") else "RGB")
    values = np.asarray(image.convert(mode))
    return values[None] if values.ndim == 2 else values.transpose(2, 0, 1)


def _at_size(image: Any, size: int) -> Any:
    """Return a picture as a square of `size` pixels: scaled by its shorter side, the middle of the longer one kept."""
    wide, high = image.size
    if (wide, high) == (size, size):
        return image
    scale = size / min(wide, high)
    wide, high = max(size, round(wide * scale)), max(size, round(high * scale))
    if image.mode in ("P", "1"):
        image = image.convert("RGB" if image.mode == "P" else "L")
    image = image.resize((wide, high), 2)  # 2: bilinear, as torchvision and timm resize by default
    left, top = (wide - size) // 2, (high - size) // 2
    return image.crop((left, top, left + size, top + size))


def _label(value: Any, k: int) -> Any:
    if isinstance(value, str):
        return value
    values = _array(value)
    if values.size != 1 or values.dtype.kind not in "biufUS":
        raise InputError(f"the label of item {k} is {value!r}; a class number or a name is needed.")
    return values.item()


def _from_dataset(dataset: Any, limit: int | None, look: _Look) -> tuple[Any, np.ndarray]:
    indexed = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    items = (dataset[k] for k in range(len(dataset))) if indexed else iter(dataset)
    decode = _PictureDecoder(look, "of the dataset")
    inputs: list[Any] = []
    labels: list[Any] = []
    for k, item in enumerate(itertools.islice(items, limit)):
        if isinstance(item, Mapping):
            inputs.append(item)
            continue
        if not isinstance(item, (tuple, list)) or len(item) < 2:
            raise InputError(f"item {k} of the dataset is a {type(item).__name__}; pairs (input, label) are needed.")
        picture = hasattr(item[0], "convert") and hasattr(
            item[0], "mode"
        )  # as torchvision's sets give without a transform
        inputs.append(item[0] if isinstance(item[0], Mapping) else decode(item[0]) if picture else _array(item[0]))
        labels.append(_label(item[1], k))
    if not inputs:
        raise InputError("the dataset is empty; examples are needed.")
    if isinstance(inputs[0], Mapping):
        if labels:
            inputs = [{**one, "label": label} for one, label in zip(inputs, labels)]
        return from_items(inputs, "the dataset", decode)
    shapes = {x.shape for x in inputs}
    if len(shapes) != 1:
        raise InputError(f"inputs of the dataset have shapes {sorted(shapes)[:3]}; one shape is needed.")
    return np.stack(inputs), np.array(labels)


def _from_loader(loader: Any, limit: int | None, look: _Look) -> tuple[Any, np.ndarray]:
    """Read the data set of a loader in its own order; batch by batch if the loader puts batches together in a way of its own."""
    from torch.utils.data import DataLoader, default_collate

    own = getattr(loader, "collate_fn", default_collate)
    if own is default_collate or not isinstance(loader, DataLoader):
        return _from_dataset(loader.dataset, limit, look)
    batches, count = [], 0
    for batch in DataLoader(loader.dataset, batch_size=loader.batch_size or 1, shuffle=False, collate_fn=own):
        pair = batch if isinstance(batch, (tuple, list)) else (batch, None)
        inputs = dict(pair[0]) if isinstance(pair[0], Mapping) else {"": pair[0]}
        label = pair[1] if pair[1] is not None else next((inputs[n] for n in LABELS if n in inputs), None)
        if label is None:
            raise InputError(f"a batch of the loader holds {', '.join(map(str, inputs))}; labels are needed.")
        batches.append(({k: _array(v) for k, v in inputs.items() if k not in LABELS}, _array(label)))
        count += len(batches[-1][1])
        if limit is not None and count >= limit:
            break
    if not batches:
        raise InputError("the loader is empty; examples are needed.")
    columns = {key: [one for inputs, _ in batches for one in inputs[key]] for key in batches[0][0]}
    y = np.concatenate([label for _, label in batches])
    if "input_ids" in columns:
        return pad_tokens({key: columns[key] for key in TEXT_ENTRIES if key in columns}), y
    if len(columns) != 1:
        raise InputError(f"a batch of the loader holds {', '.join(columns)}; one input, or input_ids, is needed.")
    return np.stack(next(iter(columns.values()))), y


KINDS = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
LARGEST = 1 << 33  # bytes: a header that promises more is taken for damage
PIECE = 1 << 24  # bytes read at a time


def read_idx(path: str | PathLike[str]) -> Any:
    """Return the array in an IDX file.

    References
    ----------
    LeCun, Y., Cortes, C. and Burges, C. J. C. The MNIST database of handwritten digits (description of the file format).

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_idx(os.path.join(folder, "a.gz"), np.arange(6, dtype=np.uint8).reshape(2, 3))
    ...     read_idx(os.path.join(folder, "a.gz")).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    place = Path(path)
    try:
        with place.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        with gzip.open(place) if zipped else place.open("rb") as file:
            return _decode(file, str(path), zipped)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{str(path)!r} is damaged or was cut short: {error}.") from error


def _decode(file: Any, name: str, zipped: bool) -> Any:
    head = file.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in KINDS or head[3] == 0:
        raise InputError(
            f"{name!r} is no IDX file: it begins with {head.hex(' ') or 'nothing'} instead of 00 00, a kind and a number of sizes."
        )
    sizes = file.read(4 * head[3])
    if len(sizes) < 4 * head[3]:
        raise InputError(f"{name!r} was cut short within its sizes.")
    shape = struct.unpack(f">{head[3]}I", sizes)
    kind = np.dtype(KINDS[head[2]])
    wanted = int(np.prod(shape, dtype=object)) * kind.itemsize
    if zipped:
        check_unpacked(wanted, name)
    if wanted > LARGEST:
        raise InputError(f"{name!r} announces {wanted >> 20} MiB; at most {LARGEST >> 20} MiB are read.")
    content = _read_bytes(file, wanted)
    if len(content) < wanted:
        raise InputError(f"{name!r} was cut short: {wanted} bytes of numbers are announced, {len(content)} are there.")
    if file.read(1):
        raise InputError(f"{name!r} holds more than the {wanted} bytes of numbers it announces.")
    values = np.frombuffer(content, dtype=kind).reshape(shape)
    return values.astype(kind.newbyteorder("="))


def _read_bytes(file: Any, wanted: int) -> bytes:
    """Read so many bytes or all there are, piece by piece, so that a header's promise alone reserves no memory."""
    parts, left = [], wanted
    while left > 0:
        piece = file.read(min(left, PIECE))
        if not piece:
            break
        parts.append(piece)
        left -= len(piece)
    return b"".join(parts)


def write_idx(path: str | PathLike[str], values: Any) -> None:
    """Write an array as IDX, compressed if the name ends in .gz."""
    values = np.asarray(values)
    codes = {np.dtype(kind).newbyteorder("="): code for code, kind in KINDS.items()}
    if values.dtype not in codes or values.ndim < 1:
        raise InputError(
            f"IDX holds bytes, short and long whole numbers and floats in at least one dimension; got {values.dtype}."
        )
    code = codes[values.dtype]
    content = bytes([0, 0, code, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    content += values.astype(KINDS[code]).tobytes()
    Path(path).write_bytes(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


@contextmanager
def open_arrays(path: str | PathLike[str], what: str = "NPZ") -> Iterator[Any]:
    """Open the array of an NPY file, or the archive of an NPZ file, whose arrays are read one by one on demand.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     np.savez(file, X=np.ones(2))
    ...     _ = file.seek(0)
    ...     with open_arrays(file.name) as arrays:
    ...         arrays["X"].tolist()
    [1.0, 1.0]
    """
    try:
        with open(path, "rb") as file:  # numpy leaves a damaged archive open if it opens the file itself
            found = np.load(file, allow_pickle=False)
            check_archive(found, path)
            try:
                yield found
            finally:
                if hasattr(found, "close"):
                    found.close()
    except InputError:
        raise
    except Exception as error:  # zipfile, zlib and numpy each raise kinds of their own
        pickled = "it holds Python objects, which are never unpickled here"
        text = pickled if "pickle" in str(error).lower() else str(error)
        raise InputError(f"cannot read {str(path)!r} as {what}: {text}.") from error
