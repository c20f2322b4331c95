"""A trained network with what it was trained on: the input of every measure of generalization."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import torch
from torch.func import functional_call

from unseen.core.errors import InputError, KindError, NotApplicable
from unseen.nets.modules.device import limited_torch, rows_at_once
from unseen.nets.modules.layers import eval_mode
from unseen.nets.modules.logits import plain_output
from unseen.nets.modules.tokens import BehindEmbedding, NamedInputs, has_tokens, in_one_tensor

__all__ = ["Copy80", "Net"]

MOST_AT_ONCE = 2048
LARGE_CARD_AT_ONCE = 8192  # a data-centre GPU waits for the processor between smaller batches
LARGE_CARD = 32 * 2**30  # bytes


@dataclass(frozen=True)
class Copy80:
    """The same architecture trained on about 80% of the training data, and the rows held out from it.

    Parameters
    ----------
    module : torch.nn.Module
        The trained copy, on the device of the data.
    held_out : torch.Tensor
        Whole numbers: rows of the training data the copy has not seen.
    """

    module: torch.nn.Module
    held_out: torch.Tensor


@dataclass(frozen=True)
class Net:
    """A trained classifier and its training data.

    Parameters
    ----------
    module : torch.nn.Module
        Takes a batch of inputs, gives logits of shape (batch, classes).
    X_train : torch.Tensor
        Training inputs as floats on the module's device; images as (n, channels, height, width).
    y_train : torch.Tensor
        Class numbers 0, 1, ... of the training inputs.
    value_range : tuple
        Values of black and white pixels: two numbers, or two sequences with one number per channel. (0, 1) by default;
        for standardised images the ends after standardising.
    initial : mapping of str to torch.Tensor, optional
        State of the module before training.
    hyper : mapping, optional
        Hyper-parameters by name.
    copy80 : Copy80, optional
        A copy trained on 80% of the rows.
    epochs : int, optional
        Passes over the data until training stopped.
    train_loss : float, optional
        Mean cross-entropy on the training data at the end, in evaluation mode.
    batch_size : int
        Inputs pushed through the module at a time; 0, the default, takes 2,048 of small images and fewer of large ones.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> net = sample_net("conv")
    >>> net.n, net.n_classes, net.is_images, tuple(net.logits(net.X_train).shape)
    (48, 3, True, (48, 3))
    """

    module: torch.nn.Module
    X_train: torch.Tensor
    y_train: torch.Tensor
    _: KW_ONLY
    value_range: tuple[Any, Any] = (0.0, 1.0)
    initial: Mapping[str, torch.Tensor] | None = None
    hyper: Mapping[str, Any] = field(default_factory=dict)
    copy80: Copy80 | None = None
    epochs: int | None = None
    train_loss: float | None = None
    batch_size: int = 0

    def __post_init__(self) -> None:
        _check(self)
        if not self.batch_size:  # photographs would fill the memory where small images keep a device busy
            most = LARGE_CARD_AT_ONCE if _is_large_card(self.device) else MOST_AT_ONCE
            object.__setattr__(self, "batch_size", min(most, rows_at_once(self.X_train.shape[1:], self.device)))

    @classmethod
    def of(
        cls, module: torch.nn.Module, X: Any, y: Any, *, device: Any, value_range: tuple[Any, Any] = (0.0, 1.0)
    ) -> Net:
        """Return any trained classifier with its data: nets that give records, take dictionaries, or read tokens.

        Tokens are taken behind the net's embedding, where they can be moved and mixed, see `BehindEmbedding`.

        Parameters
        ----------
        module : torch.nn.Module
            The trained net; a copy of it goes to the device if it lies elsewhere.
        X : array-like, or mapping of str to array-like
            Training inputs as the net takes them.
        y : array-like
            Class numbers.
        device : torch.device
            Where to compute.
        value_range : tuple
            Values of black and white pixels.

        Examples
        --------
        >>> net = torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.Flatten(), torch.nn.Linear(8, 2))
        >>> found = Net.of(net, [[1, 2], [3, 4]], [0, 1], device=torch.device("cpu"))
        >>> found.X_train.shape, found.n_classes
        (torch.Size([2, 10]), 2)
        """
        where = torch.device(device)
        there = {p.device.type for p in module.parameters()} <= {where.type}
        module = module if there else copy.deepcopy(module).to(where)  # the caller's module stays where it lies
        tokens = has_tokens(module, X)
        module, X = in_one_tensor(module, X)
        inputs = torch.as_tensor(X).to(where)
        inputs = inputs if inputs.is_floating_point() else inputs.long() if tokens else inputs.float()
        module = _with_plain_outputs(module, inputs)
        if tokens:
            module, inputs = BehindEmbedding.of(module, inputs)
        return cls(module, inputs, torch.as_tensor(y).long().to(where), value_range=value_range)

    @property
    def n(self) -> int:
        """Number of training inputs."""
        return len(self.X_train)

    @property
    def n_classes(self) -> int:
        """Number of classes in the training labels."""
        return int(self.y_train.max()) + 1

    @property
    def device(self) -> torch.device:
        """Where data and module lie."""
        return self.X_train.device

    @property
    def is_images(self) -> bool:
        """Whether the inputs have the shape of images."""
        return self.X_train.ndim == 4

    @limited_torch()
    @torch.no_grad()
    def logits(self, X: torch.Tensor) -> torch.Tensor:
        """Return the module's logits of inputs, batch by batch, in evaluation mode and without gradients."""
        with eval_mode(self.module):
            return torch.cat([self.module(part) for part in X.split(self.batch_size)])

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the module's parameters by name, as they are and without gradients."""
        found = {name: p.detach() for name, p in self.module.named_parameters()}
        if not found:
            raise NotApplicable("the module has no parameters; there are no weights to change.")
        return found

    def logits_with(self, weights: Mapping[str, torch.Tensor], X: torch.Tensor) -> torch.Tensor:
        """Return the logits that the module would give with other weights (names as in `weights`)."""
        module, other = self.module, dict(weights)
        if isinstance(module, torch.jit.ScriptModule):
            raise NotApplicable(
                "a scripted or traced module lets no weights be changed; give the module it was made from."
            )
        if isinstance(module, torch.nn.DataParallel):
            module, other = module.module, {name.removeprefix("module."): value for name, value in other.items()}
        return functional_call(module, other, (X,))

    def bounds(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return black and white as tensors that broadcast over images."""
        low, high = (torch.as_tensor(v, dtype=self.X_train.dtype, device=self.device) for v in self.value_range)
        return low.reshape(-1, 1, 1), high.reshape(-1, 1, 1)

    def to_unit(self, X: torch.Tensor) -> torch.Tensor:
        """Return images on the scale black 0, white 1."""
        low, high = self.bounds()
        return (X - low) / (high - low)

    def from_unit(self, X: torch.Tensor) -> torch.Tensor:
        """Return images of the scale 0 to 1 on the module's own scale."""
        low, high = self.bounds()
        return low + X * (high - low)

    def training_accuracy(self) -> float:
        """Return the share of training inputs that are classified as labelled."""
        return float((self.logits(self.X_train).argmax(1) == self.y_train).double().mean())


def _is_large_card(device: torch.device) -> bool:
    return device.type == "cuda" and bool(torch.cuda.get_device_properties(device).total_memory >= LARGE_CARD)


@torch.no_grad()
def _with_plain_outputs(module: torch.nn.Module, X: torch.Tensor) -> torch.nn.Module:
    """Return a module that gives a tensor where this one gives a record with logits, or a tuple that begins with them."""
    try:
        with eval_mode(module):
            given = module(X[:2])
    except (RuntimeError, TypeError, ValueError, IndexError):
        return module  # whoever runs it next says why it cannot be run
    if isinstance(given, torch.Tensor) or not isinstance(plain_output(given), torch.Tensor):
        return module
    return NamedInputs(module, {})


def _check(net: Net) -> None:
    if not isinstance(net.module, torch.nn.Module):
        raise KindError(f"module is a {type(net.module).__name__}; give a torch.nn.Module that returns logits.")
    for name in ("X_train", "y_train"):
        if not isinstance(getattr(net, name), torch.Tensor):
            raise KindError(f"{name} is a {type(getattr(net, name)).__name__}; give a torch.Tensor.")
    if not net.X_train.is_floating_point():
        raise KindError(f"X_train holds {net.X_train.dtype}; convert it to floats, images to the range 0 to 1.")
    if net.y_train.is_floating_point() or net.y_train.ndim != 1 or len(net.y_train) != len(net.X_train):
        raise InputError(
            f"y_train has shape {tuple(net.y_train.shape)} and kind {net.y_train.dtype}; "
            f"{len(net.X_train)} whole class numbers are needed."
        )
    if len(net.X_train) < 2:
        raise InputError(f"there are {len(net.X_train)} training inputs; at least 2 are needed.")
    if int(net.y_train.min()) < 0:
        raise InputError("y_train holds negative class numbers; number the classes 0, 1, ...")
    if not bool(torch.isfinite(net.X_train).all()):
        raise InputError("X_train holds values that are not finite; remove or replace them.")
    if net.is_images:
        _check_range(net)
    if net.copy80 is not None:
        rows = net.copy80.held_out
        if rows.numel() == 0 or int(rows.min()) < 0 or int(rows.max()) >= len(net.X_train):
            raise InputError(f"copy80.held_out must name some of the {len(net.X_train)} training rows.")


def _check_range(net: Net) -> None:
    try:
        low, high = net.bounds()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"value_range is {net.value_range!r}; give the values of black and white, two numbers or two sequences of numbers."
        ) from error
    if low.numel() not in (1, net.X_train.shape[1]) or high.numel() not in (1, net.X_train.shape[1]):
        raise InputError(
            f"value_range must hold two numbers, or two sequences of {net.X_train.shape[1]} numbers, one per channel."
        )
    if not bool((low < high).all()):
        raise InputError(f"value_range is {net.value_range}; black must be below white.")
    slack = 1e-3 * (high - low)
    if bool((net.X_train < low - slack).any()) or bool((net.X_train > high + slack).any()):
        raise InputError(
            f"images have values from {float(net.X_train.min()):.4g} to {float(net.X_train.max()):.4g}, outside value_range "
            f"{net.value_range}; rescale them to 0 to 1, or state the values of black and white by `value_range` (--range)."
        )
