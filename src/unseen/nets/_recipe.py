"""What a fitted `Classifier` knows of its net: how it is made and trained, the shape of what it reads; and one around a trained net."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from unseen.core.errors import InputError, KindError
from unseen.nets._architectures import make_mlp
from unseen.nets._device import dtype_of, tensor_of
from unseen.nets._estimator import checked_features
from unseen.nets._start import giving_logits, probed

__all__ = ["around", "recipe_of"]

TRAINING = (
    "epochs",
    "batch_size",
    "lr",
    "momentum",
    "weight_decay",
    "dropout",
    "patience",
    "validation",
    "stop",
    "stop_at",
    "optimizer",
)


def recipe_of(module: Any, X: Any) -> tuple[dict[str, Any], Any]:
    """Return how a `Classifier` makes and trains its net, and inputs in the shape the net reads; nothing of other nets.

    Examples
    --------
    >>> import unseen.nets as nets
    >>> X, y = np.eye(6).reshape(6, 6), np.arange(6) % 2
    >>> net = nets.Classifier(epochs=1, lr=0.5, stop="none", device="cpu", random_state=0).fit(X, y)
    >>> recipe, same = recipe_of(net, X)
    >>> recipe["training"]["lr"], recipe_of(net.module_, X)[0]
    (0.5, {})
    """
    from unseen.nets._classifier import Classifier

    if not isinstance(module, Classifier):
        return {}, X
    if not hasattr(module, "module_"):
        raise InputError("the Classifier is not trained yet; call fit(X, y) first.")
    X = module._as_images(X) if module.input_shape is None else module._shaped(np.asarray(X))
    training = {name: getattr(module, name) for name in TRAINING}
    weights = module.class_weight
    if isinstance(weights, dict):
        weights = {k: weights[label] for k, label in enumerate(module.classes_.tolist()) if label in weights}
    training["class_weight"] = weights
    return {"factory": make_mlp if module.module is None else module.module, "training": training}, X


def around(kind: Any, module: Any, X: Any, classes: Any, params: dict[str, Any]) -> Any:
    """Return a fitted classifier around a net that was trained elsewhere; see `Classifier.from_module`."""
    if not isinstance(module, nn.Module):
        raise KindError(f"module is a {type(module).__name__}; give a trained torch.nn.Module.")
    first = next((p for p in module.parameters() if p.is_floating_point()), None)
    dtype = "float64" if first is not None and first.dtype == torch.float64 else "float32"
    net = kind(copy.deepcopy(module).cpu(), **{"dtype": dtype, **params})
    rows = tensor_of(net._shaped(checked_features(net, X, first=True))).to(dtype_of(net.dtype))
    (net.module_,) = giving_logits([copy.deepcopy(net.module).to(rows.dtype).eval()], rows)
    outputs = probed(net.module_, rows)
    if outputs == 1:
        raise InputError(
            "the module has one output; a classifier needs a logit per class. For two classes put the output beside a zero, "
            "as in torch.cat([torch.zeros_like(z), z], dim=1)."
        )
    net.classes_ = np.arange(outputs) if classes is None else np.asarray(classes)
    if net.classes_.shape != (outputs,) or len(np.unique(net.classes_)) != outputs:
        raise InputError(f"classes must name {outputs} different labels, one per output; it is {classes!r}.")
    net.sample_shape_ = tuple(int(size) for size in rows.shape[1:])
    net.history_, net.reason_, net.how_, net.n_epochs_ = {}, "trained elsewhere", "trained elsewhere", 0
    return net
