"""Many small perceptrons trained at once by gradient descent with momentum (Rumelhart, Hinton & Williams, 1986)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.arrays import Floats

__all__ = ["Nets", "new_nets"]


@dataclass
class Nets:
    """A stack of nets of one shape; weights have the net on the first axis and the bias in the last row.

    `first` is None for perceptrons without a hidden layer; `logistic` says whether outputs are squashed.
    """

    first: Any
    second: Floats
    logistic: bool = True
    velocity: Any = None

    def outputs(self, X: Floats) -> Floats:
        """Return the outputs of every net for patterns X of shape (nets, patterns, inputs) or (1, patterns, inputs)."""
        return self._forward(X)[1]

    def _forward(self, X: Floats) -> tuple[Floats, Floats]:
        hidden = X if self.first is None else _squash(X @ self.first[:, :-1] + self.first[:, -1:])
        total = hidden @ self.second[:, :-1] + self.second[:, -1:]
        return hidden, _squash(total) if self.logistic else total

    def step(self, X: Floats, target: Floats, rate: float, momentum: float = 0.0) -> Floats:
        """Move every net down the gradient of its mean squared error once; return those errors before the step."""
        hidden, out = self._forward(X)
        gap = out - target
        delta = gap * out * (1 - out) if self.logistic else gap
        delta = delta / X.shape[1]
        gradients = [_gradient(hidden, delta)]
        if self.first is not None:
            back = delta @ self.second[:, :-1].transpose(0, 2, 1) * hidden * (1 - hidden)
            gradients.append(_gradient(X, back))
        if self.velocity is None:
            self.velocity = [np.zeros_like(g) for g in gradients]
        self.velocity = [momentum * v - rate * g for v, g in zip(self.velocity, gradients)]
        self.second = self.second + self.velocity[0]
        if self.first is not None:
            self.first = self.first + self.velocity[1]
        return np.asarray(np.square(gap).mean(axis=(1, 2)))


def _squash(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


def _gradient(below: Floats, delta: Floats) -> Floats:
    below = np.broadcast_to(below, (len(delta), *below.shape[1:]))
    return np.concatenate([below.transpose(0, 2, 1) @ delta, delta.sum(axis=1, keepdims=True)], axis=1)


def new_nets(
    count: int,
    inputs: int,
    hidden: int,
    outputs: int,
    rng: np.random.Generator,
    *,
    spread: float = 0.3,
    zero_first: bool = False,
    logistic: bool = True,
) -> Nets:
    """Return nets with small random start weights; `zero_first` starts the input-to-hidden ones at 0."""

    def draw(rows: int, columns: int) -> Floats:
        return rng.uniform(-spread, spread, (count, rows + 1, columns))

    if hidden == 0:
        return Nets(None, draw(inputs, outputs), logistic)
    first = draw(inputs, hidden)
    return Nets(np.zeros_like(first) if zero_first else first, draw(hidden, outputs), logistic)
