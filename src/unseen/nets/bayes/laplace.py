"""Laplace approximation of the last layer's posterior with the full generalised Gauss-Newton matrix (MacKay, 1992)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from unseen.core.errors import InputError, NotApplicable
from unseen.nets.modules.cut import last_linear
from unseen.nets.modules.layers import first_input

__all__ = ["LastLayer", "last_layer_posterior", "two_columns"]

LARGEST = 20_000  # weights: a full covariance of float64 then takes 3.2 GB
PIECE = 2**24  # numbers held while the curvature of a few examples is added


@dataclass(frozen=True, eq=False)
class LastLayer:
    """A Gaussian over the weights (and bias) of the last linear layer.

    Parameters
    ----------
    module : nn.Module
        The net; everything before the last layer stays as trained.
    name : str
        The last layer.
    mean : tensor of shape (outputs, features + bias)
        Trained weights, the bias as last column.
    root : tensor of shape (P, P)
        Square root of the covariance of the flattened weights: covariance = root root'.
    """

    module: nn.Module
    name: str
    mean: Any
    root: Any

    def features(self, X: Any) -> Any:
        """Return what flows into the last layer, with a column of ones if it has a bias."""
        return _features(self.module, self.name, X, self.mean.shape[1])

    def sampled_logits(self, X: Any, weights: Any) -> Any:
        """Return (S, m, c) logits for weight samples of shape (S, outputs, features)."""
        return two_columns(torch.einsum("mf,scf->smc", self.features(X).to(weights), weights)).to(X.dtype)

    def samples(self, count: int, seed: int) -> Any:
        """Return weight samples of shape (count, outputs, features)."""
        generator = torch.Generator(device=self.mean.device).manual_seed(seed)
        z = torch.randn(
            (count, self.root.shape[0]), generator=generator, device=self.mean.device, dtype=self.root.dtype
        )
        return self.mean + (z @ self.root.T).reshape(count, *self.mean.shape)

    def probit_logits(self, X: Any) -> Any:
        """Return (1, m, c) logits shrunk by 1 / sqrt(1 + pi/8 variance), the probit approximation of the predictive."""
        phi = self.features(X).to(self.mean)
        outputs = len(self.mean)
        # variance of output c at x: |root_c' phi|^2, root_c the rows of that output's weights
        blocks = self.root.reshape(outputs, -1, self.root.shape[1])
        variance = torch.stack([(phi @ block).square().sum(1) for block in blocks], dim=1)
        logits = phi @ self.mean.T / torch.sqrt(1 + math.pi / 8 * variance)
        return two_columns(logits[None]).to(X.dtype)


def last_layer_posterior(module: nn.Module, X: Any, codes: Any, prior_scale: float, temperature: float) -> LastLayer:
    """Return the Laplace approximation at the trained weights.

    The precision is the sum over examples of (diag(p) - p p') x phi phi', plus the identity over prior_scale^2; a single
    output has p (1 - p) instead. `temperature` multiplies the covariance.

    References
    ----------
    MacKay, D. J. C. (1992). The evidence framework applied to classification networks. Neural Computation 4, 720-736.
    """
    name = last_linear(module, X)
    layer = module.get_submodule(name)
    weight = layer.weight.detach().double()
    mean = weight if layer.bias is None else torch.cat([weight, layer.bias.detach().double()[:, None]], 1)
    outputs, width = mean.shape
    if outputs * width > LARGEST:
        raise InputError(
            f"the last layer has {outputs * width} weights; a full covariance is made for {LARGEST} at most."
        )
    precision = torch.eye(outputs * width, dtype=torch.float64, device=X.device) / prior_scale**2
    with torch.no_grad():
        _check_output(module, name, X[:8], mean)
        for part in X.split(max(1, min(1024, PIECE // (outputs * outputs * width)))):
            phi = _features(module, name, part, width).double()
            logits = phi @ mean.T
            precision += _gauss_newton(phi, logits)
    covariance = temperature * torch.cholesky_inverse(torch.linalg.cholesky(precision))
    return LastLayer(module, name, mean, torch.linalg.cholesky(covariance))


def _gauss_newton(phi: Any, logits: Any) -> Any:
    if logits.shape[1] == 1:
        p = logits.sigmoid()
        return (phi * (p * (1 - p))).T @ phi
    p = logits.softmax(1)
    curvature = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    size = logits.shape[1] * phi.shape[1]
    return torch.einsum("ncd,nf,ng->cfdg", curvature, phi, phi).reshape(size, size)


def _features(module: nn.Module, name: str, X: Any, width: int) -> Any:
    seen: list[Any] = []
    handle = module.get_submodule(name).register_forward_pre_hook(
        lambda _, args, named: seen.append(first_input(args, named)), with_kwargs=True
    )
    try:
        module(X)
    finally:
        handle.remove()
    phi = seen[-1]
    ones = [torch.ones_like(phi[:, :1])] if phi.shape[1] < width else []
    return torch.cat([phi, *ones], 1)


def _check_output(module: nn.Module, name: str, X: Any, mean: Any) -> None:
    out = module(X)
    own = _features(module, name, X, mean.shape[1]).double() @ mean.T
    if out.shape != own.shape or not torch.allclose(out.double(), own, rtol=1e-3, atol=1e-4):
        raise NotApplicable(
            f"the net's output is not that of its last linear layer {name!r}; the last-layer method needs plain logits."
        )


def two_columns(logits: Any) -> Any:
    """Return logits of two classes from a single output z: the columns 0 and z; others as they are."""
    return torch.cat([torch.zeros_like(logits), logits], -1) if logits.shape[-1] == 1 else logits
