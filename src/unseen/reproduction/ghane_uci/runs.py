"""The UCI experiment: 40 fully connected nets per data set, trained, their errors estimated, one row per net.

Needs numpy and torch alone, so that it runs from the source tree on a bare GPU machine.
"""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.core.rng import task_seed
from unseen.reproduction.rows import RowFile

__all__ = [
    "DEFECTIVE",
    "DEPTHS",
    "ROWS",
    "TrainTest",
    "UciSetting",
    "read_set",
    "run_set",
    "sets_in",
    "widths_for",
]

DEPTHS = (1, 2, 3, 4, 5)
MOST_ROWS = 5000  # which leaves the 90 sets of the dissertation
DEFECTIVE = ("congressional-voting", "statlog-australian-credit")
COLUMNS = (
    "set",
    "n",
    "d",
    "classes",
    "depth",
    "width_number",
    "width",
    "epochs",
    "train_accuracy",
    "true_error",
    "resub",
    "bolster",
    "posterior",
    "bolster_posterior",
    "seconds",
)
ROWS = RowFile(
    columns=COLUMNS,
    words=("set",),
    whole=("n", "d", "classes", "depth", "width_number", "width", "epochs"),
    digits=None,
    line_end="\r\n",
)
POINTS_AT_ONCE = 200_000  # kernel points in memory at once, for eight nets
Say = Callable[[str], None]
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class UciSetting:
    """How the nets are trained and their errors estimated; see `GhaneUci`."""

    seed: int = 0
    fold: int = 1
    epochs: int = 800
    stop_at: float = 0.95
    lr: float = 0.001
    halve_every: int | None = None
    dropout: float = 0.05
    n_mc: int = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainTest:
    """One data set, split by a fold of the archive."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of classes of the whole set."""
        return int(max(self.y.max(), self.y_test.max())) + 1


def sets_in(folder: str | os.PathLike[str]) -> list[str]:
    """Return the names of the sets with at most 5,000 rows, those that are quick to train first."""
    splits = _splits(Path(folder))
    small = [name for name in splits.files if len(splits[name]) <= MOST_ROWS]
    return sorted(small, key=lambda name: (len(splits[name]) * _width(Path(folder), name) ** 2, name))


def _splits(folder: Path) -> Any:
    path = folder / "splits.npz"
    if not path.is_file():
        raise InputError(f"{str(folder)!r} holds no splits.npz; give the folder of the 121 sets, --data DIR.")
    return np.load(path, allow_pickle=False)


def _width(folder: Path, name: str) -> int:
    with gzip.open(folder / f"{name}.csv.gz", "rt") as file:
        return file.readline().count(",")


def read_set(folder: str | os.PathLike[str], name: str, fold: int) -> TrainTest:
    """Read one set and split it by column `fold` (1 to 4) of the archive's splits."""
    if fold not in (1, 2, 3, 4):
        raise InputError(f"fold is {fold}; the archive has folds 1 to 4.")
    table = np.genfromtxt(Path(folder) / f"{name}.csv.gz", delimiter=",", skip_header=1, ndmin=2)
    part = _splits(Path(folder))[name][:, fold]
    X, y = np.nan_to_num(table[:, :-1]).astype(np.float32), table[:, -1].astype(np.int64)
    return TrainTest(name=name, X=X[part == 1], y=y[part == 1], X_test=X[part == 2], y_test=y[part == 2])


def widths_for(d: int) -> tuple[int, ...]:
    """Return the eight widths of a set with d features.

    Examples
    --------
    >>> widths_for(4)
    (10, 20, 30, 40, 8, 16, 24, 32)
    """
    return (10, 20, 30, 40, 2 * d, 4 * d, 6 * d, 8 * d)


class PaddedNets:
    """Makes nets of eight widths with weights of one shape: units beyond a net's own are 0, get no gradient and stay 0.

    The last octal digit of its seed says which width a net has.
    """

    def __init__(self, widths: Sequence[int], depth: int, dropout: float) -> None:
        self.widths, self.depth, self.dropout = tuple(widths), depth, dropout

    def __call__(self, n_features: int, n_classes: int) -> Any:
        import torch

        from unseen.nets import make_mlp

        width = self.widths[torch.initial_seed() % len(self.widths)]
        own = make_mlp(n_features, n_classes, self.depth, width, self.dropout)
        whole = make_mlp(n_features, n_classes, self.depth, max(self.widths), self.dropout)
        with torch.no_grad():
            for small, large in zip(own.parameters(), whole.parameters()):
                large.zero_()
                large[tuple(slice(k) for k in small.shape)] = small
        return whole


def run_set(
    data: TrainTest, setting: UciSetting, *, device: str, depths: Sequence[int] = DEPTHS
) -> Iterator[list[Row]]:
    """Yield the rows of eight nets of each depth, trained side by side."""
    import torch

    from unseen.nets import fit_many
    from unseen.nets.modules import device_of

    where = device_of(device)
    X, y = torch.as_tensor(data.X, device=where), torch.as_tensor(data.y, device=where)
    widths = widths_for(data.X.shape[1])
    for depth in depths:
        start = time.perf_counter()
        first = 8 * (task_seed(setting.seed, "ghane-uci", data.name, depth) // 8)
        fits = fit_many(
            PaddedNets(widths, depth, setting.dropout),
            X,
            data.y,
            [np.arange(len(data.y))] * 8,
            seeds=[first + k for k in range(8)],
            epochs=setting.epochs,
            batch_size=max(1, round(len(data.y) / 10)),
            lr=setting.lr,
            optimizer="adam",
            halve_every=setting.halve_every,
            stop="train-accuracy",
            stop_at=setting.stop_at,
            n_classes=data.n_classes,
            device=device,
        )
        errors = _errors_of(fits, X, y, data, setting)
        seconds = (time.perf_counter() - start) / 8
        yield [
            {
                "set": data.name,
                "n": len(data.y),
                "d": data.X.shape[1],
                "classes": data.n_classes,
                "depth": depth,
                "width_number": k,
                "width": width,
                "epochs": int(fits.epochs[k]),
                **{name: float(v[k]) for name, v in errors.items()},
                "seconds": round(seconds, 3),
            }
            for k, width in enumerate(widths)
        ]


def _errors_of(fits: Any, X: Any, y: Any, data: TrainTest, setting: UciSetting) -> dict[str, np.ndarray]:
    """Return accuracy, true error and the four estimates of every net; all nets see the same kernel points."""
    import torch

    logits = fits.logits(X)
    right = (logits.argmax(2) == y).double().mean(1)
    probability = logits.double().softmax(2).amax(2).mean(1)
    test = torch.as_tensor(data.y_test, device=y.device)
    true = (fits.logits(data.X_test).argmax(2) != test).double().mean(1)
    wrong, unsure = errors_at_kernel_points(fits, X, y, data.n_classes, setting)
    found = {
        "train_accuracy": right,
        "true_error": true,
        "resub": 1 - right,
        "bolster": wrong,
        "posterior": 1 - probability,
        "bolster_posterior": unsure,
    }
    return {name: values.cpu().numpy().round(6) for name, values in found.items()}


def errors_at_kernel_points(fits: Any, X: Any, y: Any, n_classes: int, setting: UciSetting) -> tuple[Any, Any]:
    """Return means over kernel points: of being wrong, and of one less the probability of the assigned class."""
    import torch

    from unseen.nets.estimates import spherical_sizes

    counts = torch.bincount(y, minlength=n_classes)
    several = counts[y] > 1  # a class with one row has no nearest neighbour: its kernel is the point itself
    sizes = torch.zeros(len(y), dtype=X.dtype, device=X.device)
    sizes[several] = spherical_sizes(X[several], y[several], n_classes).to(X.dtype)[y[several]]
    generator = torch.Generator(device=X.device).manual_seed(
        task_seed(setting.seed, "kernel", len(y), X.shape[1]) % (1 << 63)
    )
    wrong = unsure = torch.zeros(len(fits), dtype=torch.float64, device=X.device)
    step = max(1, POINTS_AT_ONCE // setting.n_mc)
    for begin in range(0, len(y), step):
        rows = slice(begin, begin + step)
        noise = torch.randn(
            (len(y[rows]), setting.n_mc, X.shape[1]), generator=generator, device=X.device, dtype=X.dtype
        )
        points = (X[rows, None] + sizes[rows, None, None] * noise).flatten(0, 1)
        logits = fits.logits(points)
        label = y[rows].repeat_interleave(setting.n_mc)
        wrong = wrong + (logits.argmax(2) != label).double().sum(1)
        unsure = unsure + (1 - logits.double().softmax(2).amax(2)).sum(1)
    total = len(y) * setting.n_mc
    return wrong / total, unsure / total
