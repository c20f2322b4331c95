"""Sheets of augmented images with their factors and penalties, as figures 3.2 to 3.7 of Ghane's dissertation (2022) show them."""

from __future__ import annotations

import base64
import dataclasses
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unseen.core.errors import InputError, UnknownName
from unseen.core.result import Result
from unseen.core.rng import RandomState, root_seed, task_seed

if TYPE_CHECKING:
    import torch

    from unseen.nets.augmentation.factors import Factors

__all__ = ["AugmentationSheet", "augmentation_sheet", "pack_images", "sheets_for", "unpack_images"]


STRONG = ("cutout", "height shift", "width shift", "horizontal zoom", "vertical zoom")
WEAK = ("brightness", "rotation")
CATEGORIES = ("strong", "weak", "fixed", "all", "changes")
LARGEST = 64  # pixels a side on a sheet beside a ranking or a bench


@dataclass(frozen=True, kw_only=True)
class AugmentationSheet(Result):
    """Augmented images in rows and columns, each with what was done to it and the penalty of misclassifying it.

    Parameters
    ----------
    category : str
        "strong", "weak", "fixed", "all" or "changes".
    row_labels : tuple of str
        What varies along each row.
    labels : tuple of tuple of str
        What was done to each image.
    penalties : numpy.ndarray
        Penalty of each image by equation 3.3, 9 for an image left alone and 0 for one changed most; of "changes" those of Always Generalize.
    images : numpy.ndarray
        Shape (rows, columns, height, width, channels), black 0 and white 1.
    """

    shown_by: ClassVar[str] = "unseen.nets"

    category: str
    row_labels: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    penalties: NDArray[np.float64]
    images: NDArray[np.float64] = field(repr=False, metadata={"shown": False})

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per image."""
        return [
            {"row": name, "column": k, "augmentation": text, "penalty": float(self.penalties[i, k])}
            for i, (name, texts) in enumerate(zip(self.row_labels, self.labels))
            for k, text in enumerate(texts)
        ]

    kept_as = "nets-augmentations"

    def to_record(self) -> dict[str, Any]:
        """Return plain values, the images packed."""
        return {**self.to_dict(), "images": pack_images(self.images)}

    def __str__(self) -> str:
        rows, columns = self.penalties.shape
        return f"{rows} x {columns} images ({self.category}), penalties {self.penalties.min():.2f} to {self.penalties.max():.2f}"


def augmentation_sheet(
    X: torch.Tensor, category: str = "all", *, columns: int = 7, random_state: RandomState = 0
) -> AugmentationSheet:
    """Show what augmentations do to images, and what misclassifying them costs.

    Parameters
    ----------
    X : torch.Tensor
        Images of shape (n, channels, height, width), black 0 and white 1; of "strong" and "weak" only the first is used.
    category : str
        "strong" and "weak": one augmentation a row, growing from left to right; "fixed": each image as it is, through the
        Sobel filter, mirrored, and both; "all": each image with random combinations, sorted by penalty; "changes": each image as it is and under the
        seven changes of Always Generalize.
    columns : int
        Images in a row, for all but "fixed" and "changes".
    random_state : int, Generator or None
        Of the combinations.

    Returns
    -------
    AugmentationSheet

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> sheet = augmentation_sheet(sample_net("conv").X_train[:2], "fixed")
    >>> sheet.penalties[0].tolist(), sheet.row_labels
    ([9.0, 7.0, 6.0, 4.0], ('image 1', 'image 2'))
    """
    if category not in CATEGORIES:
        raise UnknownName("category of augmentations", category, CATEGORIES)
    if isinstance(columns, bool) or not isinstance(columns, int) or columns < 2:
        raise InputError(f"columns is {columns!r}; at least 2 are needed.")
    if category in ("strong", "weak"):
        return _growing_sheet(X[:1], category, columns)
    if category == "fixed":
        return _fixed_sheet(X)
    return (
        _changes_sheet(X, root_seed(random_state))
        if category == "changes"
        else _combined_sheet(X, columns, root_seed(random_state))
    )


def sheets_for(
    categories: Iterable[str], X: torch.Tensor, value_range: tuple[Any, Any]
) -> tuple[AugmentationSheet, ...]:
    """Return one sheet per category from the first two images; none if the inputs are no images.

    Parameters
    ----------
    categories : iterable of str
        As `augmentation_sheet` takes them; a measure names those that show what it looks at as `Measure.sheets`.
    X : torch.Tensor
        Training inputs; large images are shrunk.
    value_range : tuple
        Black and white, each a number or one number per channel.
    """
    import torch

    wanted = set(categories)
    if X.ndim != 4 or not wanted:
        return ()
    low, high = (torch.as_tensor(v, dtype=X.dtype, device=X.device).reshape(-1, 1, 1) for v in value_range)
    unit = ((X[:2] - low) / (high - low)).clamp(0, 1).float().cpu()
    shrink = math.ceil(max(unit.shape[2:]) / LARGEST)
    small = torch.nn.functional.avg_pool2d(unit, shrink, ceil_mode=True) if shrink > 1 else unit
    return tuple(augmentation_sheet(small, category) for category in CATEGORIES if category in wanted)


def _growing_sheet(X: torch.Tensor, category: str, columns: int) -> AugmentationSheet:
    """One augmentation a row; signed ones from their smallest to their largest value."""
    import torch

    from unseen.nets.augmentation.factors import no_augmentation

    up, both = torch.linspace(0, 1, columns), torch.linspace(-1, 1, columns)
    side = 0.5 * up
    changes: dict[str, dict[str, Any]] = {
        "cutout": {"cut_height": side, "cut_width": side, "cut_top": up * 0 + 0.5, "cut_left": up * 0 + 0.5},
        "height shift": {"shift_height": side},
        "width shift": {"shift_width": side},
        "horizontal zoom": {"zoom_horizontal": 1 + 0.5 * both},
        "vertical zoom": {"zoom_vertical": 1 + 0.5 * both},
        "brightness": {"brightness": 1 + 0.5 * both},
        "rotation": {"rotation": both * torch.pi / 4},
    }
    names = STRONG if category == "strong" else WEAK
    made = [(name, dataclasses.replace(no_augmentation(columns), **changes[name])) for name in names]
    return _sheet(category, [(name, X.expand(columns, -1, -1, -1), factors) for name, factors in made])


def _fixed_sheet(X: torch.Tensor) -> AugmentationSheet:
    import torch

    from unseen.nets.augmentation.factors import no_augmentation

    coins = dataclasses.replace(
        no_augmentation(4),
        sobel=torch.tensor([False, True, False, True]),
        flip=torch.tensor([False, False, True, True]),
    )
    return _sheet("fixed", [(f"image {i + 1}", X[i : i + 1].expand(4, -1, -1, -1), coins) for i in range(len(X))])


def _changes_sheet(X: torch.Tensor, seed: int) -> AugmentationSheet:
    import torch

    from unseen.nets.augmentation.changes import named_changes

    made = [
        ("as it is", 0.0, X),
        *named_changes(X, torch.Generator().manual_seed(task_seed(seed, "sheet", "changes"))),
    ]
    images = np.stack([tiles.permute(0, 2, 3, 1).cpu().double().numpy() for _, _, tiles in made], axis=1)
    labels = (tuple(name for name, _, _ in made),) * len(X)
    penalties = np.tile([cost for _, cost, _ in made], (len(X), 1))
    return AugmentationSheet(
        category="changes",
        row_labels=tuple(f"image {i + 1}" for i in range(len(X))),
        labels=labels,
        penalties=penalties,
        images=images,
    )


def _combined_sheet(X: torch.Tensor, columns: int, seed: int) -> AugmentationSheet:
    import torch

    from unseen.nets.augmentation.factors import draw_factors

    parts = []
    for i in range(len(X)):
        factors = draw_factors(columns, torch.Generator().manual_seed(task_seed(seed, "sheet", i)))
        order = factors.penalty().argsort(descending=True)
        parts.append((f"image {i + 1}", X[i : i + 1].expand(columns, -1, -1, -1), factors[order]))
    return _sheet("all", parts)


def _sheet(category: str, parts: list[tuple[str, torch.Tensor, Factors]]) -> AugmentationSheet:
    from unseen.nets.augmentation.augment import augment

    images = [augment(X, factors).permute(0, 2, 3, 1).cpu().double().numpy() for _, X, factors in parts]
    penalties = np.stack([factors.penalty().double().cpu().numpy() for _, _, factors in parts])
    labels = tuple(tuple(_words(factors, k) for k in range(len(factors))) for _, _, factors in parts)
    return AugmentationSheet(
        category=category,
        row_labels=tuple(name for name, _, _ in parts),
        labels=labels,
        penalties=penalties,
        images=np.stack(images),
    )


def _words(factors: Factors, k: int) -> str:
    """What was done to one image."""
    f = factors[k : k + 1]
    cut = float(f.cut_height * f.cut_width)
    shift, rotation = (float(f.shift_height), float(f.shift_width)), float(f.rotation)
    said = [
        f"cutout {100 * cut:.0f}%" if cut > 0.005 else "",
        f"down {100 * shift[0]:+.0f}%" if abs(shift[0]) > 0.005 else "",
        f"right {100 * shift[1]:+.0f}%" if abs(shift[1]) > 0.005 else "",
        f"zoom across {float(f.zoom_horizontal):.2f}" if abs(float(f.zoom_horizontal) - 1) > 0.005 else "",
        f"zoom down {float(f.zoom_vertical):.2f}" if abs(float(f.zoom_vertical) - 1) > 0.005 else "",
        f"brightness {100 * float(f.brightness):.0f}%" if abs(float(f.brightness) - 1) > 0.005 else "",
        f"rotation {np.degrees(rotation):+.0f}°" if abs(rotation) > 0.005 else "",
        "Sobel" if bool(f.sobel) else "",
        "flip" if bool(f.flip) else "",
    ]
    return ", ".join(filter(None, said)) or "as it is"


MOST_BYTES = 50_000_000  # a text of a few bytes must not fill the memory


def pack_images(images: NDArray[np.float64]) -> dict[str, Any]:
    """Return an array of values between 0 and 1, rounded to bytes, as its shape and a text.

    Examples
    --------
    >>> held = pack_images(np.array([[0.0, 0.5, 1.0]]))
    >>> held["shape"], (255 * unpack_images(held)).round().tolist()
    ([1, 3], [[0.0, 128.0, 255.0]])
    """
    values = np.round(255 * np.clip(images, 0, 1)).astype(np.uint8)
    return {
        "shape": list(values.shape),
        "bytes": base64.b64encode(zlib.compress(values.tobytes(), 9)).decode("ascii"),
    }


def unpack_images(held: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the array that `pack_images` was given, to the byte; never more than its shape says.

    Examples
    --------
    >>> unpack_images({"shape": [10**9], "bytes": ""})
    Traceback (most recent call last):
    ...
    unseen.core.errors.InputError: images of shape [1000000000] are not what a record holds.
    """
    shape = held["shape"]
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= MOST_BYTES for n in shape):
        raise InputError(f"images of shape {shape!r} are not what a record holds.")
    size = math.prod(shape)
    if size > MOST_BYTES:
        raise InputError(f"images of shape {shape!r} are not what a record holds.")
    try:
        raw = zlib.decompressobj().decompress(base64.b64decode(held["bytes"], validate=True), size + 1)
    except (zlib.error, ValueError) as error:
        raise InputError(f"the images of the record are damaged: {error}.") from error
    if len(raw) != size:
        raise InputError(f"the images of the record are damaged: shape {shape!r} does not fit them.")
    return np.frombuffer(raw, np.uint8).reshape(shape).astype(float) / 255
