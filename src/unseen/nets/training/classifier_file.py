"""A fitted `Classifier` as one safetensors file with a JSON header; nothing is pickled."""

from __future__ import annotations

import json
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError
from unseen.nets.files.checkpoints import fill_module
from unseen.nets.files.weights import read_metadata, read_weights, write_weights
from unseen.nets.modules import architectures
from unseen.nets.training.initial_weights import maker_of, strip_softmax

__all__ = ["read_classifier", "write_classifier"]


OWN = tuple(architectures.__all__)


FORMAT = "unseen.nets.Classifier/1"


def write_classifier(path: str | PathLike[str], net: Any) -> None:
    """Write a fitted classifier."""
    labels = net.classes_
    if labels.dtype.kind not in "iufbUO" or (labels.dtype == object and not all(isinstance(v, str) for v in labels)):
        raise InputError(f"labels of kind {labels.dtype} cannot be written to a JSON header; use text or numbers.")
    params = {k: v for k, v in net.get_params().items() if k != "module" and _is_plain(v)}
    header = {
        "format": FORMAT,
        "architecture": _architecture_of(net.module),
        "params": params,
        "classes": labels.tolist(),
        "classes_kind": "object" if labels.dtype == object else labels.dtype.str,
        "sample_shape": list(net.sample_shape_),
        "n_features": net.n_features_in_,
        "names": list(getattr(net, "feature_names_in_", [])),
        "n_epochs": net.n_epochs_,
        "reason": net.reason_,
        "how": net.how_,
    }
    write_weights(path, net.module_.state_dict(), {"unseen": json.dumps(header)})


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True


def _architecture_of(module: Any) -> dict[str, Any] | None:
    """Describe an architecture of this package, also with options bound by functools.partial; None for others."""
    options: dict[str, Any] = {}
    if isinstance(module, partial):
        if module.args or not _is_plain(module.keywords):
            return None
        options, module = dict(module.keywords), module.func
    name = "make_mlp" if module is None else getattr(module, "__name__", "")
    known = name in OWN and (module is None or module is getattr(architectures, name))
    return {"name": name, "options": options} if known else None


def read_classifier(kind: Any, path: str | PathLike[str], module: Any = None) -> Any:
    """Read a classifier that `write_classifier` wrote."""
    header = _read_header(path)
    if module is None:
        own = header["architecture"]
        if own is None or own["name"] not in OWN:
            raise InputError(
                f"{str(path)!r} holds a net of your own architecture; give it: Classifier.load(path, module=...)."
            )
        make = getattr(architectures, own["name"])
        module = partial(make, **own["options"]) if own["options"] else make
    params = {k: tuple(v) if isinstance(v, list) else v for k, v in header["params"].items()}
    try:
        net = kind(module, **params)
        net.classes_ = np.array(header["classes"], dtype=np.dtype(header["classes_kind"]))
        net.sample_shape_, net.n_features_in_ = tuple(header["sample_shape"]), int(header["n_features"])
    except (TypeError, ValueError) as error:
        raise InputError(f"the header of {str(path)!r} is damaged: {error}.") from error
    if header["names"]:
        net.feature_names_in_ = np.array(header["names"], dtype=object)
    net.n_epochs_, net.reason_, net.how_, net.history_ = header["n_epochs"], header["reason"], header["how"], {}
    made = maker_of(module, net.sample_shape_, len(net.classes_))()
    dtype = torch.float64 if params.get("dtype") == "float64" else torch.float32
    (made,) = strip_softmax([made.to(dtype)], torch.zeros(2, *net.sample_shape_, dtype=dtype))
    net.module_ = fill_module(made, read_weights(path), str(path)).eval()
    return net


HEADER = (
    "architecture",
    "params",
    "classes",
    "classes_kind",
    "sample_shape",
    "n_features",
    "names",
    "n_epochs",
    "reason",
    "how",
)


def _read_header(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the header of a saved classifier, whole."""
    text = read_metadata(path).get("unseen")
    try:
        header = json.loads(text) if text else {}
    except ValueError as error:
        raise InputError(f"the header of {str(path)!r} is damaged: {error}.") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(
            f"{str(path)!r} was not written by Classifier.save; load_weights(module, path) reads plain weights."
        )
    missing = [name for name in HEADER if name not in header]
    if missing or not isinstance(header["params"], dict):
        raise InputError(f"the header of {str(path)!r} is damaged: it lacks {', '.join(missing) or 'params'}.")
    return header
