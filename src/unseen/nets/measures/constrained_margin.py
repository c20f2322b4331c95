"""Margins in input space along the leading principal components (Mouton, Theunissen and Davel, 2023)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from unseen.core.errors import InputError, NotApplicable
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["ConstrainedMargin", "leading_components"]

MOST_ROWS = 4000  # training inputs behind the principal components, spread evenly over the sample
_components: Any = WeakTensorKeyDictionary()


def leading_components(X: torch.Tensor) -> torch.Tensor:
    """Return the principal directions up to the elbow of the explained variance, as columns.

    The elbow is the point of the falling curve farthest below the straight line between its ends.

    Examples
    --------
    >>> X = torch.zeros(6, 4)
    >>> X[:, 0] = torch.tensor([3.0, -3.0, 3.0, -3.0, 3.0, -3.0])
    >>> X[:, 1] = torch.tensor([0.1, 0.1, -0.1, -0.1, 0.0, 0.0])
    >>> leading_components(X).abs().round(decimals=2)[:, 0].tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    if X not in _components:
        flat = X[:: -(-len(X) // MOST_ROWS)].flatten(1)
        flat = flat - flat.mean(0)
        variances, directions = torch.linalg.eigh((flat.T @ flat).double() / len(flat))
        variances, directions = variances.flip(0).clamp_min(0), directions.flip(1)
        share = variances / variances.sum().clamp_min(1e-30)
        line = torch.linspace(float(share[0]), float(share[-1]), len(share), dtype=share.dtype, device=share.device)
        elbow = int((line - share).argmax()) + 1
        _components[X] = directions[:, :elbow].to(X.dtype)
    return _components[X]


@register
@dataclass(frozen=True)
class ConstrainedMargin(Measure):
    """Minus the mean distance from training inputs to the decision boundary when moving only along the leading principal components.

    The boundary is approached by Newton steps towards the nearest of the strongest other classes, all along the components, until the answer changes or the
    steps run out. Inputs that are misclassified at the start count as distance 0.

    Parameters
    ----------
    n : int
        Training inputs per draw.
    steps : int
        Most steps.
    rivals : int
        Other classes considered per input, the strongest ones at the start.

    References
    ----------
    C. Mouton, M. W. Theunissen, M. H. Davel (2024). Input margins can predict generalization too. AAAI; arXiv:2308.15466.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> ConstrainedMargin()(sample_net("conv"), draws=2).value < 0
    True
    """

    n: int = 100
    steps: int = 6
    rivals: int = 3

    id: ClassVar[str] = "constrained-margin"
    range: ClassVar[tuple[float, float]] = (-math.inf, 0.0)
    cost: ClassVar[str] = "gradients"
    default_draws: ClassVar[int] = 4

    def __post_init__(self) -> None:
        if min(self.n, self.steps, self.rivals) < 1:
            raise InputError("n, steps and rivals must be at least 1.")

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return minus the mean margin of each draw."""
        if net.n_classes < 2:
            raise NotApplicable("a margin needs two classes; the training labels hold one.")
        size = min(self.n, net.n)
        rows = torch.cat([torch.randperm(net.n, generator=generator)[:size] for _ in range(count)]).to(net.device)
        basis = leading_components(net.X_train)
        margins = torch.cat([self._margins(net, part, basis) for part in rows.split(net.batch_size)])
        return [-float(part.double().mean()) for part in margins.split(size)]

    def _margins(self, net: Net, rows: torch.Tensor, basis: torch.Tensor) -> torch.Tensor:
        X, y = net.X_train[rows], net.y_train[rows]
        start = net.logits(X)
        rivals = start.scatter(1, y[:, None], float("-inf")).topk(min(self.rivals, start.shape[1] - 1), dim=1).indices
        moved = torch.zeros(len(X), basis.shape[1], dtype=X.dtype, device=X.device)
        inside = start.argmax(1) == y
        for _ in range(self.steps):
            here = X + (moved @ basis.T).reshape(X.shape)
            step, still = self._step(net, here, y, rivals, basis)
            inside = inside & still
            if not bool(inside.any()):
                break
            moved = torch.where(inside[:, None], moved + step, moved)
        return moved.norm(dim=1)

    @staticmethod
    def _step(
        net: Net, here: torch.Tensor, y: torch.Tensor, rivals: torch.Tensor, basis: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the shortest step to the linearised boundary with a rival, and which inputs are still on their own side."""
        best, shortest = torch.zeros(len(y), basis.shape[1], dtype=here.dtype, device=here.device), None
        with torch.enable_grad():
            here = here.detach().requires_grad_()
            logits = net.module(here)
            own = logits.gather(1, y[:, None])[:, 0]
            for k in range(rivals.shape[1]):
                lead = own - logits.gather(1, rivals[:, k : k + 1])[:, 0]
                (slope,) = torch.autograd.grad(lead.sum(), here, retain_graph=True)
                along = slope.flatten(1) @ basis
                squared = along.square().sum(1).clamp_min(1e-20)
                distance = lead.detach().abs() / squared.sqrt()
                step = -(1.02 * lead.detach() / squared)[:, None] * along
                closer = torch.ones_like(distance, dtype=torch.bool) if shortest is None else distance < shortest
                best = torch.where(closer[:, None], step, best)
                shortest = distance if shortest is None else torch.minimum(shortest, distance)
        return best, logits.detach().argmax(1) == y
