"""What both kV margins share: margins over the optimal-transport spread of each class at a layer (Chuang et al. 2021)."""

from __future__ import annotations

import torch

from unseen.core.errors import InputError, NotApplicable
from unseen.nets._measure import LayerLog
from unseen.nets._net import Net
from unseen.nets._traced import weighted
from unseen.nets.measures._transport import wasserstein

__all__ = ["check_layer", "chosen_layer", "class_spreads"]


def check_layer(layer: object, per_class: int) -> None:
    """Refuse options that cannot be meant."""
    if isinstance(layer, bool) or not isinstance(layer, int):
        raise InputError(f"layer is {layer!r}; give a whole number: 1 the first hidden features, -1 the last.")
    if per_class < 2:
        raise InputError(f"per_class is {per_class}; two halves need at least 2 inputs of a class.")


def chosen_layer(net: Net, layer: int, layers: LayerLog, name: str) -> str:
    """Return the layer whose input is looked at; the last one where the module has fewer."""
    found = [one.name for one in weighted(net.module, net.X_train)]
    if len(found) < 2:
        raise NotApplicable(f"{name} needs a hidden layer; the module has {len(found)} dense or convolution layers.")
    place = max(1, len(found) + layer) if layer < 0 else min(max(1, layer), len(found) - 1)
    layers.use(found[place])
    for k, other in enumerate(found):
        if k != place:
            layers.skip(other, "the measure looks at the features into one layer only")
    return found[place]


def class_spreads(features: torch.Tensor, y: torch.Tensor, net: Net, name: str) -> dict[int, tuple[float, float]]:
    """Return for every class its share and the transport distance between two halves of its features (in random order)."""
    if not bool(torch.isfinite(features).all()):  # the search for the cheapest transport would never end
        raise NotApplicable(f"{name} needs finite features, and some of this network's are not.")
    counts = torch.bincount(net.y_train, minlength=net.n_classes).double() / net.n
    found = {}
    for k in range(net.n_classes):
        own = features[y == k]
        half = len(own) // 2
        if half:
            found[k] = float(counts[k]), wasserstein(own[:half], own[half : 2 * half])
    if not any(weight * spread for weight, spread in found.values()):
        raise NotApplicable(f"{name} divides by the spread of features within classes, which is 0 for this network.")
    return found
