"""Dense and convolution layers of any module: which there are, what shapes reach them, their size as operators."""

from __future__ import annotations

import copy
import math
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from unseen.core.errors import InputError, NotApplicable
from unseen.nets.modules.layers import first_input

__all__ = ["frobenius_norm", "input_shapes", "other_layers", "path_norm", "spectral_norm", "weight_layers"]

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
ACTIVATIONS = (
    nn.ReLU,
    nn.LeakyReLU,
    nn.ELU,
    nn.GELU,
    nn.SiLU,
    nn.Tanh,
    nn.Sigmoid,
    nn.Hardtanh,
    nn.Softsign,
    nn.Softplus,
    nn.Softmax,
    nn.LogSoftmax,
)
NORMALISING = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def weight_layers(module: nn.Module) -> dict[str, nn.Module]:
    """Return the dense and convolution layers of a module by name, in order of definition.

    Examples
    --------
    >>> list(weight_layers(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 2))))
    ['0', '2']
    """
    found = {name: m for name, m in module.named_modules() if isinstance(m, (nn.Linear, *CONVOLUTIONS))}
    if not found:
        raise NotApplicable(
            f"{type(module).__name__} has no dense or convolution layer; measures of weights need at least one."
        )
    return found


def other_layers(module: nn.Module) -> tuple[str, ...]:
    """Return the names of layers that hold parameters but are neither dense nor convolution.

    Examples
    --------
    >>> other_layers(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    ('1',)
    """
    known = weight_layers(module)
    return tuple(
        name
        for name, m in module.named_modules()
        if name not in known and any(True for _ in m.parameters(recurse=False))
    )


def input_shapes(module: nn.Module, example: torch.Tensor) -> dict[str, tuple[int, ...]]:
    """Return the shape of what reaches each weight layer, without the batch, found by one forward pass.

    Layers that the pass does not reach are missing from the result.
    """
    shapes: dict[str, tuple[int, ...]] = {}

    def keep(name: str) -> Any:
        def hook(_layer: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
            shapes[name] = tuple(first_input(args, named).shape[1:])

        return hook

    handles = [m.register_forward_pre_hook(keep(name), with_kwargs=True) for name, m in weight_layers(module).items()]
    try:
        with torch.no_grad():
            module(example[:1])
    finally:
        for handle in handles:
            handle.remove()
    return shapes


def frobenius_norm(layer: nn.Module) -> float:
    """Return the square root of the sum of squared weights, biases left out."""
    return float(layer.weight.detach().double().norm())


def spectral_norm(layer: nn.Module, shape: tuple[int, ...], *, tolerance: float = 1e-5, max_steps: int = 500) -> float:
    """Return the largest factor by which a layer stretches an input of a shape, biases left out.

    A dense layer gives the largest singular value of its matrix. A convolution is taken as the linear map it is on inputs of that shape, with
    its stride and padding, by power iteration (Sedghi, Gupta and Long, 2019, discuss why the reshaped kernel will not do).

    Parameters
    ----------
    layer : torch.nn.Module
        A dense or convolution layer.
    shape : tuple of int
        Shape of one input.
    tolerance : float
        Relative change of the norm at which the iteration stops.
    max_steps : int
        Most steps of the iteration.

    References
    ----------
    H. Sedghi, V. Gupta, P. Long (2019). The singular values of convolutional layers. ICLR.

    Examples
    --------
    >>> layer = nn.Linear(2, 2)
    >>> _ = layer.weight.data.copy_(torch.tensor([[3.0, 0.0], [0.0, 4.0]]))
    >>> spectral_norm(layer, (2,))
    4.0
    """
    weight = layer.weight.detach()
    if weight.dtype in (torch.float16, torch.bfloat16):
        weight, layer = weight.float(), copy.deepcopy(layer).float()
    if isinstance(layer, nn.Linear):
        return float(torch.linalg.matrix_norm(weight, 2))
    asked = (tuple(shape), tolerance, max_steps, weight.device, weight.dtype)
    known = _norms.get(layer)
    if known is not None and known[0] == asked and torch.equal(known[1], weight):
        return known[2]
    norm = _largest_stretch(layer, shape, tolerance, max_steps)
    _norms[layer] = asked, weight.clone(), norm
    return norm


# norms of convolutions with the weights they belong to: several measures ask for them, and the search is long
_norms: WeakKeyDictionary[nn.Module, tuple[tuple[Any, ...], torch.Tensor, float]] = WeakKeyDictionary()


def _largest_stretch(layer: nn.Module, shape: tuple[int, ...], tolerance: float, max_steps: int) -> float:
    """Return the norm of a convolution by power iteration."""
    weight, bare = layer.weight.detach(), copy.deepcopy(layer)
    bare.bias = None
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, *shape, generator=generator).to(weight)
    norm = last = 0.0
    for step in range(max_steps):
        x = (x / x.norm()).requires_grad_()
        y = bare(x)
        (x,) = torch.autograd.grad(y, x, y.detach())
        if step % 10 == 9:
            norm = math.sqrt(float(x.norm()))
            if abs(norm - last) <= tolerance * norm:
                break
            last = norm
    return norm


def _without_activations(module: nn.Module) -> nn.Module:
    """Replace activations by the identity: a path norm is a sum over paths of weights, whatever bends the signal."""
    if isinstance(module, ACTIVATIONS):
        return nn.Identity()
    for name, child in module.named_children():
        setattr(module, name, _without_activations(child))
    return module


def _with_plain_weights(module: nn.Module) -> nn.Module:
    """Replace weights made of others (weight norm, spectral norm; parametrized or by hooks) by what they stand for.

    Copies share the class of a parametrized layer with their original, from which torch's own removal would take the weights too.
    """
    for m in list(module.modules()):
        if parametrize.is_parametrized(m):
            made = {name: getattr(m, name).detach().clone() for name in m.parametrizations}
            m.__class__ = type(m).__bases__[0]
            del m._modules["parametrizations"]
            for name, weight in made.items():
                m.register_parameter(name, nn.Parameter(weight))
        for key, hook in list(m._forward_pre_hooks.items()):
            if isinstance(hook, (WeightNorm, SpectralNorm)):
                hook.remove(m)
                del m._forward_pre_hooks[key]
    return module


def path_norm(module: nn.Module, shape: tuple[int, ...]) -> float:
    """Return the square root of the sum over all paths and outputs of the product of squared weights (Neyshabur and others, 2015).

    Every parameter is squared, activations are left out, and an input of ones is sent through; batch normalisation counts as the scale and shift it applies when evaluated.

    References
    ----------
    B. Neyshabur, R. Salakhutdinov, N. Srebro (2015). Path-SGD. NeurIPS.

    Examples
    --------
    >>> net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1))
    >>> for layer, w in ((net[0], -2.0), (net[2], 3.0)):
    ...     _ = layer.weight.data.fill_(w), layer.bias.data.zero_()
    >>> path_norm(net, (1,))
    6.0
    """
    device = next(module.parameters()).device
    squared = _without_activations(_with_plain_weights(copy.deepcopy(module).double().eval()))
    with torch.no_grad():
        for m in squared.modules():
            if isinstance(m, NORMALISING) and m.running_var is not None and m.running_mean is not None:
                scale = (m.weight if m.weight is not None else 1.0) / (m.running_var + m.eps).sqrt()
                shift = (m.bias if m.bias is not None else 0.0) - m.running_mean * scale
                m.weight, m.bias = nn.Parameter(scale**2), nn.Parameter(shift**2)
                m.running_mean.zero_()
                m.running_var.fill_(1.0 - m.eps)
            else:
                for p in m.parameters(recurse=False):
                    p.square_()
        total = squared(torch.ones(1, *shape, dtype=torch.float64, device=device)).sum()
    if not bool(torch.isfinite(total)):
        raise InputError("the path norm is not finite; are there infinite or missing weights?")
    return float(total.sqrt())
