"""Sheet of augmented images, the penalty of misclassifying each written below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.nets.augmentation.sheet import AugmentationSheet
from unseen.show.figures import Figure, figure
from unseen.show.style import PHONE_INCHES, label

__all__ = ["AugmentationsInfo"]

NARROW_COLUMNS = 4  # images beside each other on a phone
CAPTION = 0.34  # height of the line below an image, in image heights


@dataclass(frozen=True)
class AugmentationsInfo:
    """Images (rows, columns, height, width, channels) with row names and penalties."""

    images: NDArray[np.float64]
    row_labels: tuple[str, ...]
    penalties: NDArray[np.float64]

    @property
    def size(self) -> tuple[float, float]:
        """Inches, as many as the images need."""
        rows, columns, height, width = self.images.shape[:4]
        wide = min(10.0, 1.6 + 1.05 * columns)
        return wide, 0.3 + (wide - 1.6) / columns * rows * (height / width + CAPTION)

    @property
    def narrow_size(self) -> tuple[float, float]:
        """Inches on a phone, where a row of images is broken."""
        rows, columns, height, width = self.images.shape[:4]
        lines = rows * -(-columns // NARROW_COLUMNS)
        return PHONE_INCHES, 0.3 + (PHONE_INCHES - 1.0) / NARROW_COLUMNS * lines * (height / width + CAPTION)

    @property
    def summary(self) -> str:
        """What the picture shows, in words."""
        rows, columns = self.penalties.shape
        return (
            f"{rows} rows of {columns} images ({', '.join(self.row_labels)}); "
            f"penalties from {self.penalties.min():.2f} to {self.penalties.max():.2f}"
        )


def info(sheet: AugmentationSheet) -> AugmentationsInfo:
    """Return the images with their penalties."""
    return AugmentationsInfo(sheet.images, sheet.row_labels, sheet.penalties)


def draw(numbers: AugmentationsInfo, ax: Any) -> None:
    """Draw the images row by row."""
    rows, columns, height, width, channels = numbers.images.shape
    tall = height / width
    pitch = tall + CAPTION
    across = NARROW_COLUMNS if ax.figure.get_figwidth() <= PHONE_INCHES else columns
    lines = -(-columns // across)  # of one row
    for i in range(rows):
        for k in range(columns):
            top, left = (i * lines + k // across) * pitch, 1.08 * (k % across)
            tile = numbers.images[i, k]
            grey = channels not in (3, 4)
            ax.imshow(
                tile.mean(axis=2) if grey else tile[..., :3],
                cmap="gray" if grey else None,
                vmin=0,
                vmax=1,
                extent=(left, left + 1, top + tall, top),
                interpolation="nearest",
            )
            ax.text(left + 0.5, top + tall + 0.05, f"{numbers.penalties[i, k]:.2f}", ha="center", va="top", fontsize=10)
        ax.text(-0.08, i * lines * pitch + tall / 2, label(numbers.row_labels[i]), ha="right", va="center", fontsize=10)
    ax.set_xlim(-0.02, 1.08 * across - 0.06)
    ax.set_ylim(rows * lines * pitch, -0.05)
    ax.set_aspect("equal")
    ax.axis("off")


figure(
    Figure(
        name="augmentations",
        record=AugmentationSheet,
        info=info,
        draw=draw,
        title="Augmented images and their penalties",
        caption="Below each image its penalty: of misclassifying it (9 for one left alone, 0 for one changed most; failing under a mild change costs more), or, under the "
        "changes of Always Generalize, of another predicted class.",
        order=10,
    )
)
