"""Controls that any measure should beat: a random number, the number of parameters, training loss, epochs, and the hold-out error of a copy."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["Epochs", "Holdout80", "ParameterCount", "RandomOrder", "TrainingLoss"]


@register
@dataclass(frozen=True)
class RandomOrder(Measure):
    """A uniform random number that depends on the seed and on every weight, so that networks get different ones.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> RandomOrder()(sample_net("conv")).value != RandomOrder()(sample_net("conv"), random_state=1).value
    True
    """

    id: ClassVar[str] = "random-order"
    family: ClassVar[str] = "controls"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    cost: ClassVar[str] = "weights only"
    default_draws: ClassVar[int] = 1

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Draw it."""
        start = float(torch.rand(1, generator=generator, dtype=torch.float64))
        weights = hashlib.sha256()
        for parameter in net.module.parameters():  # all of them: the first pixel's weight may never move from zero
            weights.update(parameter.detach().cpu().double().numpy().tobytes())
        return (start + int.from_bytes(weights.digest()[:6], "big") / 2**48) % 1.0


@register
@dataclass(frozen=True)
class ParameterCount(Measure):
    """Number of parameters, biases included.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> ParameterCount()(sample_net("vector")).value
    1899.0
    """

    id: ClassVar[str] = "parameter-count"
    family: ClassVar[str] = "controls"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Count."""
        return float(sum(p.numel() for p in net.module.parameters()))


@register
@dataclass(frozen=True)
class TrainingLoss(Measure):
    """Mean cross-entropy on the training data when training stopped.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> TrainingLoss()(sample_net("conv")).value > 0
    True
    """

    id: ClassVar[str] = "training-loss"
    family: ClassVar[str] = "controls"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"
    needs: ClassVar[frozenset[str]] = frozenset({"train_loss"})

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return it."""
        return float(net.train_loss)  # type: ignore[arg-type]


@register
@dataclass(frozen=True)
class Epochs(Measure):
    """Passes over the training data until the stop rule was met.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Epochs()(sample_net("conv")).value == 30.0
    True
    """

    id: ClassVar[str] = "epochs"
    family: ClassVar[str] = "controls"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    cost: ClassVar[str] = "weights only"
    needs: ClassVar[frozenset[str]] = frozenset({"epochs"})

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return it."""
        return float(net.epochs)  # type: ignore[arg-type]


@register
@dataclass(frozen=True)
class Holdout80(Measure):
    """Share of the held-out rows that the copy trained on the others gets wrong.

    Its standard error is the binomial one: the held-out rows are the draws.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= Holdout80()(sample_net("conv")).value <= 1
    True
    """

    id: ClassVar[str] = "holdout80"
    family: ClassVar[str] = "controls"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    cost: ClassVar[str] = "retrains"
    needs: ClassVar[frozenset[str]] = frozenset({"copy80"})
    default_draws: ClassVar[int] = 1

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return one 0 or 1 per held-out row."""
        copy = net.copy80
        rows = copy.held_out.to(net.device)  # type: ignore[union-attr]
        with torch.no_grad():
            parts = [copy.module(net.X_train[r]).argmax(1) for r in rows.split(net.batch_size)]  # type: ignore[union-attr]
        return (torch.cat(parts) != net.y_train[rows]).double().cpu().numpy()

    def std_error(self, sample: NDArray[np.float64]) -> float | None:
        """Return the binomial standard error."""
        share = float(sample.mean())
        return math.sqrt(share * (1 - share) / len(sample))
