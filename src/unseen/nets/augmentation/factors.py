"""Augmentation factors, one set per image: drawn, normalised and turned into penalties (Ghane 2022, table 3.2 and equation 3.3)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from unseen.core.errors import InputError, UnknownName

__all__ = ["KINDS", "Factors", "draw_factors", "no_augmentation", "ring_counts"]

# order of table 3.2; the largest deviation from the value that changes nothing
LARGEST = {
    "cut_height": 0.5,
    "cut_width": 0.5,
    "shift_height": 0.5,
    "shift_width": 0.5,
    "zoom_horizontal": 0.5,
    "zoom_vertical": 0.5,
    "brightness": 0.5,
    "rotation": math.pi / 4,
}
NEUTRAL = {"zoom_horizontal": 1.0, "zoom_vertical": 1.0, "brightness": 1.0}
COINS = ("sobel", "flip")
KINDS = (*tuple(LARGEST)[:6], "sobel", "brightness", "rotation", "flip")
RING_SHARES = (0.68, 0.27, 0.04)  # of a normal distribution in its first, second and third standard deviation
# weights of equation 3.3, where an image that was hardly augmented ranks high
RANK_STRONG, RANK_MODERATE, RANK_WEAK = 1.0, 2.0, 3.0


@dataclass(frozen=True, kw_only=True)
class Factors:
    """What is done to each image of a batch; every field is a tensor with one entry per image.

    Parameters
    ----------
    cut_height, cut_width : torch.Tensor
        Sides of the blackened rectangle as shares of the image's sides, 0 to 0.5.
    cut_top, cut_left : torch.Tensor
        Place of the rectangle: share of the free room above and to its left.
    shift_height, shift_width : torch.Tensor
        Shift down and to the right as shares of the sides; negative for up and left.
    zoom_horizontal, zoom_vertical : torch.Tensor
        Factor on the sampling coordinates: below 1 magnifies, above 1 shrinks and repeats the edge.
    sobel, flip : torch.Tensor
        True where the image is replaced by its gradient magnitude, or mirrored left to right.
    brightness : torch.Tensor
        Factor on the pixel values.
    rotation : torch.Tensor
        Counter-clockwise, in radians.
    """

    cut_height: torch.Tensor
    cut_width: torch.Tensor
    cut_top: torch.Tensor
    cut_left: torch.Tensor
    shift_height: torch.Tensor
    shift_width: torch.Tensor
    zoom_horizontal: torch.Tensor
    zoom_vertical: torch.Tensor
    sobel: torch.Tensor
    brightness: torch.Tensor
    rotation: torch.Tensor
    flip: torch.Tensor

    def __len__(self) -> int:
        return len(self.rotation)

    def __getitem__(self, rows: slice | torch.Tensor) -> Factors:
        return Factors(**{f.name: getattr(self, f.name)[rows] for f in dataclasses.fields(self)})

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Factors:
        """Return the same factors on a device, numbers in a given precision."""
        moved = {f.name: getattr(self, f.name).to(device) for f in dataclasses.fields(self)}
        kind = dtype or self.rotation.dtype
        return Factors(**{k: v if v.dtype == torch.bool else v.to(kind) for k, v in moved.items()})

    def normalise(self) -> dict[str, torch.Tensor]:
        """Return the nine factors on the scale 0 (nothing) to 1 (most), as equation 3.3 takes them.

        Examples
        --------
        >>> import dataclasses
        >>> f = dataclasses.replace(no_augmentation(1), rotation=torch.tensor([-math.pi / 8]))
        >>> {k: round(float(v), 4) for k, v in f.normalise().items() if v > 0}
        {'rotation': 0.5}
        """
        return {
            "cut": 4 * self.cut_height * self.cut_width,
            "shift_height": 2 * self.shift_height.abs(),
            "shift_width": 2 * self.shift_width.abs(),
            "zoom_horizontal": 2 * (1 - self.zoom_horizontal).abs(),
            "zoom_vertical": 2 * (1 - self.zoom_vertical).abs(),
            "brightness": 2 * (1 - self.brightness).abs(),
            "rotation": 4 * self.rotation.abs() / math.pi,
            "flip": self.flip.to(self.rotation.dtype),
            "sobel": self.sobel.to(self.rotation.dtype),
        }

    def penalty(self) -> torch.Tensor:
        """Return the penalty of a misclassified image, 9 if it was left alone to 0 if all was changed most.

        Failing under a mild change costs more: (1 - largest strong factor) + 3 (1 - largest weak factor) + 3 (1 - flip)
        + 2 (1 - Sobel); strong are cutout, shifts and zooms, weak are brightness and rotation.

        References
        ----------
        Ghane, P. (2022). Dissertation, Texas A&M University, equation 3.3.

        Examples
        --------
        >>> no_augmentation(1).penalty()
        tensor([9.])
        """
        f = self.normalise()
        strong = torch.stack([f[k] for k in ("cut", "shift_height", "shift_width", "zoom_horizontal", "zoom_vertical")])
        weak = torch.stack([f["brightness"], f["rotation"]])
        return (
            RANK_STRONG * (1 - strong.amax(0))
            + RANK_WEAK * (1 - weak.amax(0))
            + RANK_WEAK * (1 - f["flip"])
            + RANK_MODERATE * (1 - f["sobel"])
        )


def no_augmentation(n: int, device: torch.device | str = "cpu") -> Factors:
    """Return factors that leave n images as they are; change some with `dataclasses.replace`."""
    zero, one = torch.zeros(n, device=device), torch.ones(n, device=device)
    off = torch.zeros(n, dtype=torch.bool, device=device)
    return Factors(
        cut_height=zero,
        cut_width=zero,
        cut_top=zero,
        cut_left=zero,
        shift_height=zero,
        shift_width=zero,
        zoom_horizontal=one,
        zoom_vertical=one,
        sobel=off,
        brightness=one,
        rotation=zero,
        flip=off,
    )


def draw_factors(
    n: int,
    generator: torch.Generator,
    *,
    sampling: str = "uniform",
    ring: Sequence[int] | dict[str, int] | int | None = None,
    coin: float = 0.5,
    device: torch.device | str = "cpu",
) -> Factors:
    """Draw one set of augmentation factors per image, all independent.

    Parameters
    ----------
    n : int
        Number of images.
    generator : torch.Generator
        On the CPU, so that every device sees the same factors.
    sampling : str
        "uniform" over the ranges of table 3.2, or "rings": thirds of the largest deviation, drawn for each image with
        shares 17 : 7 : 1, uniform inside a ring.
    ring : int or dict, optional
        Ring 1, 2 or 3 of all factors, or of each by name; overrides `sampling`. For "sobel" and "flip" the rings are
        never, by a fair coin, always, if the dict names them.
    coin : float
        Probability of Sobel filter and of flip.
    device : torch.device
        Where the factors shall lie.

    Returns
    -------
    Factors

    Examples
    --------
    >>> f = draw_factors(1000, torch.Generator().manual_seed(0), ring=1)
    >>> bool(f.rotation.abs().max() <= math.pi / 12)
    True
    """
    if sampling not in ("uniform", "rings"):
        raise UnknownName("sampling", sampling, ["uniform", "rings"])
    draws = torch.rand(n, len(LARGEST), generator=generator)
    signs = 1 - 2 * torch.randint(0, 2, (n, len(LARGEST)), generator=generator)
    places = torch.rand(n, 2, generator=generator)
    coins = torch.rand(n, 2, generator=generator)
    low, width = _bands(n, generator, sampling, ring)
    cut = torch.tensor([name.startswith("cut") for name in LARGEST])
    most, neutral = torch.tensor(list(LARGEST.values())), torch.tensor([NEUTRAL.get(name, 0.0) for name in LARGEST])
    numbers = neutral + torch.where(cut, most, signs * most) * (low + width * draws)
    chances = _chances(ring, coin)
    flags = coins < torch.tensor([chances[name] for name in COINS])
    # one copy to the device for all numbers and one for all flags
    columns = torch.cat([numbers, places], dim=1).T.contiguous().to(device)
    marks = dict(zip(COINS, flags.T.contiguous().to(device)))
    return Factors(**dict(zip((*LARGEST, "cut_top", "cut_left"), columns)), **marks)


def _bands(
    n: int, generator: torch.Generator, sampling: str, ring: object
) -> tuple[torch.Tensor, torch.Tensor | float]:
    """Lower end and width of each factor's band, as shares of its largest deviation."""
    if ring is None and sampling == "uniform":
        return torch.zeros(n, len(LARGEST)), 1.0
    if ring is None:
        shares = torch.tensor([17.0, 7.0, 1.0])
        rings = torch.multinomial(shares, n, replacement=True, generator=generator)[:, None].expand(n, len(LARGEST))
    elif isinstance(ring, dict):
        rings = torch.tensor([_ring(ring.get(name, 1)) - 1 for name in LARGEST]).expand(n, -1)
    else:
        rings = torch.full((n, len(LARGEST)), _ring(ring) - 1)
    return rings / 3, 1 / 3


def _ring(value: object) -> int:
    if value not in (1, 2, 3):
        raise InputError(f"ring is {value!r}; rings are numbered 1, 2, 3.")
    return int(value)


def _chances(ring: object, coin: float) -> dict[str, float]:
    if not 0 <= coin <= 1:
        raise InputError(f"coin is {coin!r}; a probability lies between 0 and 1.")
    chances = dict.fromkeys(COINS, coin)
    if isinstance(ring, dict):
        unknown = set(ring) - set(KINDS)
        if unknown:
            raise UnknownName("augmentation", sorted(unknown)[0], KINDS)
        chances |= {name: (_ring(ring[name]) - 1) / 2 for name in COINS if name in ring}
    return chances


def ring_counts(m: int) -> tuple[int, int, int]:
    """Return how many of m augmented images fall into each ring: 68, 27 and 4%, the remainder to the first.

    Examples
    --------
    >>> ring_counts(25), ring_counts(10)
    ((17, 7, 1), (7, 3, 0))
    """
    if isinstance(m, bool) or not isinstance(m, int) or m < 1:
        raise InputError(f"the number of augmented images is {m!r}; it must be a whole number of at least 1.")
    second, third = round(RING_SHARES[1] * m), round(RING_SHARES[2] * m)
    return m - second - third, second, third
