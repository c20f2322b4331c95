"""What a network says of augmented training images: right or wrong, how sure, and at what penalty."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from unseen.nets.augmentation.augment import augment
from unseen.nets.augmentation.factors import Factors
from unseen.nets.modules.net import Net

__all__ = ["AugmentedOutcome", "classify_augmented", "semi_pp_costs"]


@dataclass(frozen=True)
class AugmentedOutcome:
    """Per image: whether it is misclassified, and the probability the network gives to the true class."""

    wrong: torch.Tensor
    p_true: torch.Tensor


@torch.no_grad()
def classify_augmented(
    net: Net, factors: Factors, *, module: torch.nn.Module | None = None, rows: torch.Tensor | None = None
) -> AugmentedOutcome:
    """Augment training images and classify them, batch by batch."""
    module = net.module if module is None else module
    X = net.X_train if rows is None else net.X_train[rows]
    y = net.y_train if rows is None else net.y_train[rows]
    wrong, p_true = [], []
    for start in range(0, len(X), net.batch_size):
        part = slice(start, start + net.batch_size)
        images = net.from_unit(augment(net.to_unit(X[part]), factors[part].to(net.device)))
        logits = module(images)
        wrong.append(logits.argmax(1) != y[part])
        p_true.append(logits.double().softmax(1).gather(1, y[part, None])[:, 0])
    return AugmentedOutcome(torch.cat(wrong), torch.cat(p_true))


def semi_pp_costs(result: AugmentedOutcome, penalty: torch.Tensor) -> torch.Tensor:
    """Return equation 3.4: one minus the probability of the true class if right, max(1, penalty) if wrong."""
    return torch.where(result.wrong, penalty.to(result.p_true).clamp(min=1), 1 - result.p_true)
