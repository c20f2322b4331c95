"""Hold-out error of a copy trained on 80 % of the data; the control for everything that retrains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net

__all__ = ["Holdout80"]


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
