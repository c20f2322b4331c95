"""Overtraining on random data: figure 2 of Hutton (1992), population error at the test-set minimum and at a criterion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.core.registry import register
from unseen.core.rng import stream
from unseen.engine.events import Reporter
from unseen.reproduction.hutton_overtraining.backprop import Nets, new_nets
from unseen.reproduction.record import Cell, Check, Reproduction

__all__ = ["HuttonOvertraining", "HuttonResult"]

REMARKS = (
    "The paper prints a curve and no numbers: 5 training and 5 test patterns, drawn at random within each class, of a population of "
    "100 random ones; the numbers of inputs and hidden nodes, learning rate and momentum are not given and are options here.",
    "The test set chooses the epoch, so its own minimum is optimistic; the population error shown at that epoch is not.",
    "Hutton expects faster training where input-to-hidden weights start at 0 and cites Lee for it; both starts are timed here on the same "
    "patterns, with the same hidden-to-output start weights.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class HuttonResult(Reproduction):
    """The reproduction with root mean square errors by epoch: `epoch`, then train, test and population of the first repeat
    and their means over repeats; `choices` holds, per repeat, epoch and population error at the test minimum and at the end.
    """

    shown_by: ClassVar[str] = "unseen.reproduction.hutton_overtraining"

    curves: dict[str, Floats] = field(default_factory=dict)
    choices: Floats | None = None


@register
@dataclass(frozen=True)
class HuttonOvertraining:
    """Nets trained on 5 of 100 random patterns: where quitting at the test-set minimum leads, and where the criterion does.

    Parameters
    ----------
    inputs, hidden : int
        Random binary inputs and hidden nodes.
    rate, momentum : float
        Of gradient descent.
    criterion : float
        Root mean square training error at which training stops.
    epochs : int
        Most epochs.
    zero_first : bool
        Start the input-to-hidden weights at 0; training times of both starts are compared either way.

    References
    ----------
    Hutton, L. V. (1992). Using statistics to assess the performance of neural network classifiers. Johns Hopkins APL
    Technical Digest 13, 291-299.

    Examples
    --------
    >>> HuttonOvertraining(hidden=5).criterion
    0.025
    """

    inputs: int = 10
    hidden: int = 10
    rate: float = 4.0
    momentum: float = 0.7
    criterion: float = 0.025
    epochs: int = 4000
    zero_first: bool = False
    group: ClassVar[str] = "reproduction"
    id: ClassVar[str] = "hutton-overtraining"
    title: ClassVar[str] = "Overtraining in a very noisy environment"
    source: ClassVar[str] = "Hutton (1992), Johns Hopkins APL Technical Digest 13, figure 2"
    replications: ClassVar[int] = 100
    extra: ClassVar[str] = ""
    minutes: ClassVar[float] = 0.3

    def run(self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None) -> HuttonResult:
        """Train all nets at once and compute the three errors by epoch."""
        if not 0 < self.criterion < 0.5:
            raise InputError(
                f"criterion is {self.criterion}; a root mean square error of outputs lies between 0 and 0.5."
            )
        reporter.expect(2, self.id)
        rng = stream(seed, self.id)
        X, target, train, test = population(replications, self.inputs, rng)
        nets = new_nets(replications, self.inputs, self.hidden, 1, rng, zero_first=self.zero_first)
        other = new_nets(replications, self.inputs, self.hidden, 1, stream(seed, self.id, "other start"))
        other.first = other.first if self.zero_first else np.zeros_like(other.first)
        other.second = nets.second.copy()
        errors, done = error_curves(nets, X, target, train, test, self)
        reporter.advance(1)
        _, done_otherwise = error_curves(other, X, target, train, test, self)
        reporter.advance(1)
        starts = (done_otherwise, done) if self.zero_first else (done, done_otherwise)
        return self._result(errors, done, target, replications, seed, training_times(*starts))

    def _result(
        self, errors: Floats, done: Floats, target: Floats, count: int, seed: int, times: tuple[Cell, ...]
    ) -> HuttonResult:
        epochs = errors.shape[1]
        inside = np.arange(epochs) <= done[:, None]
        rows = np.arange(count)
        best = np.argmin(np.where(inside, errors[:, :, 1], np.inf), axis=1)
        ahead, late = errors[rows, best, 2], errors[rows, done, 2]
        guess = target.std(axis=1)[:, 0]
        share = float(np.mean(ahead < late))
        table = "figure 2, population rms error"
        cells = (
            Cell(
                table,
                "at the test-set minimum",
                published=None,
                ours=float(ahead.mean()),
                mc_error=_error_of_mean(ahead),
            ),
            Cell(
                table,
                "at the training criterion",
                published=None,
                ours=float(late.mean()),
                mc_error=_error_of_mean(late),
            ),
            Cell(table, "guessing the mean", published=None, ours=float(guess.mean()), mc_error=_error_of_mean(guess)),
            *times,
        )
        checks = (
            Check(
                "share of repeats in which quitting at the test minimum is better for the population", share, low=0.8
            ),
            Check(
                "mean gain in population rms error", float(np.mean(late - ahead)), low=3 * _error_of_mean(late - ahead)
            ),
            Check(
                "population rms error at the criterion minus guessing the mean", float(np.mean(late - guess)), low=0.0
            ),
            Check(
                "share of nets that reached the criterion",
                float(np.mean(errors[rows, done, 0] <= self.criterion)),
                low=0.9,
            ),
        )
        # a net that met the criterion keeps its last error
        reached = np.minimum(np.arange(epochs), done[:, None])
        mean = errors[rows[:, None], reached].mean(axis=0)
        curves = {"epoch": np.arange(epochs, dtype=float)}
        for k, name in enumerate(("train", "test", "population")):
            curves |= {name: errors[0, : done[0] + 1, k], f"mean {name}": mean[:, k]}
        choices = np.column_stack([best, ahead, done, late])
        return HuttonResult(
            experiment=self.id,
            title=self.title,
            source=self.source,
            cells=cells,
            checks=checks,
            replications=count,
            seed=seed,
            seconds=0.0,
            remarks=REMARKS,
            curves=curves,
            choices=choices,
        )


def _error_of_mean(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def training_times(random: Floats, zero: Floats) -> tuple[Cell, ...]:
    """Return epochs to the criterion with random and with zero input-to-hidden start weights, on the same patterns."""
    table = "training time, epochs to the criterion"
    starts = {"random start weights": random, "input weights start at 0": zero, "zero minus random": zero - random}
    return tuple(
        Cell(table, name, published=None, ours=float(v.mean()), mc_error=_error_of_mean(v.astype(float)))
        for name, v in starts.items()
    )


def population(count: int, inputs: int, rng: np.random.Generator, size: int = 100, part: int = 5) -> tuple[Array, ...]:
    """Return random patterns with random targets, half of each class, and rows for training and test, stratified by class."""
    X = rng.integers(0, 2, (count, size, inputs)).astype(float)
    target = np.repeat([0.0, 1.0], size // 2)[None, :, None].repeat(count, axis=0)
    train, test = np.empty((2, count, part), dtype=np.int64)
    for k in range(count):
        zeros, ones = rng.permutation(size // 2), size // 2 + rng.permutation(size // 2)
        more = part - part // 2
        train[k] = np.concatenate([zeros[: part // 2], ones[:more]])
        test[k] = np.concatenate([zeros[part // 2 : 2 * (part // 2)], ones[more : 2 * more]])
    return X, target, train, test


def error_curves(
    nets: Nets, X: Floats, target: Floats, train: Array, test: Array, options: HuttonOvertraining
) -> tuple[Floats, Floats]:
    """Return rms errors (net, epoch, [train, test, population]) and the epoch at which each net met the criterion."""
    rows = np.arange(len(X))[:, None]
    mine, goal = X[rows, train], target[rows, train]
    errors = np.empty((len(X), options.epochs + 1, 3))
    done = np.full(len(X), options.epochs)
    for epoch in range(options.epochs + 1):
        square = np.square(nets.outputs(X) - target)[:, :, 0]
        errors[:, epoch] = np.sqrt(
            np.column_stack([square[rows, train].mean(1), square[rows, test].mean(1), square.mean(1)])
        )
        done = np.where((errors[:, epoch, 0] <= options.criterion) & (done > epoch), epoch, done)
        if np.all(done <= epoch):
            return errors[:, : epoch + 1], done
        nets.step(mine, goal, options.rate, options.momentum)
    return errors, done
