"""Options of `unseen nets estimate` that do not go together, and labels given as text."""

from __future__ import annotations

from typing import Any

from unseen.core.errors import InputError

__all__ = ["check_given", "labels_of"]

FLAGS = {
    "method": "--method", "layer": "--layer", "kappa": "--kappa", "n_mc": "--n-mc", "repeats": "--repeats", "device": "--device",
    "training": "--train", "random_state": "--seed", "progress": "--quiet", "validation": "--validation", "classes": "--classes",
    "factory": "--module",
}  # fmt: skip


def check_given(
    method: str, options: dict[str, Any], training: dict[str, Any], given: dict[str, Any], module: str | None
) -> None:
    """Refuse what cannot work, in the words of the command line, before anything is read."""
    for name in options:
        if name in FLAGS:
            raise InputError(f"--option {name}: this has a flag of its own, {FLAGS[name]}.")
    tempered = options.get("posterior") == "temperature"
    if tempered and not training and given["--validation"] is None and module is not None:
        raise InputError(
            "posterior=temperature needs rows that the net was not trained on, as in --validation held_out.npz, or copies of the net "
            "trained on 80% of the data; say how, as in --train epochs=200 --train lr=0.02."
        )
    if given["--validation"] is not None and not tempered:
        raise InputError("--validation is for --option posterior=temperature.")
    _check_samples(method, training, given, module)


def _check_samples(method: str, training: dict[str, Any], given: dict[str, Any], module: str | None) -> None:
    sampler, own = given["--sampler"], given["--samples"]
    if sampler is not None and own is not None:
        raise InputError("--sampler samples the weights and --samples gives samples of your own; give one of them.")
    if method.startswith("bayesian") and sampler is None and own is None:
        raise InputError(
            f"{method} averages over samples of the weights; say how to sample, as in --sampler laplace or --sampler sghmc, or give --samples."
        )
    if sampler == "ensemble" and not training and module is not None:
        raise InputError("an ensemble trains the net from other first weights; say how, as in --train epochs=200.")
    for flag in ("--sampler", "--samples"):
        if given[flag] is not None and not method.startswith("bayesian"):
            raise InputError(f"{flag} is for the methods bayesian and bayesian-bolster; the method is {method}.")
    if given["--sample"] and sampler is None:
        raise InputError("--sample says how a sampler works; name it with --sampler.")


def labels_of(text: str | None, examples: Any) -> Any:
    """Return the labels of the net's outputs, in the kind of the data's labels; None if the data name them."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",")]
    whole = examples.y.dtype.kind == "i"
    if whole and len(names) == 1 and names[0].isdecimal() and int(names[0]) > 0:
        return list(range(int(names[0])))
    if "" in names or len(set(names)) < len(names) or len(names) < 2:
        raise InputError(f"--classes {text!r}: give different labels between commas, as in cat,dog, or their number.")
    try:
        return [int(name) for name in names] if whole else names
    except ValueError:
        raise InputError(f"--classes {text!r}: the labels of the data are whole numbers.") from None
