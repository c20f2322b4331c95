"""Power-law exponents of the layers' spectra, without data (Clauset, Shalizi and Newman, 2009; Martin and Mahoney, 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import nn

from unseen.core.errors import InputError, NotApplicable
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net
from unseen.nets.modules.weight_layers import other_layers, weight_layers

__all__ = ["Alpha", "AlphaHat", "PowerLaw", "eigenvalues", "fit_power_law", "layer_fits"]


def layer_fits(net: Net, layers: LayerLog) -> list[PowerLaw]:
    """Return the power-law fit of each layer with enough eigenvalues."""
    for name in other_layers(net.module):
        layers.skip(name, "neither dense nor convolution")
    fits = []
    for name, layer in weight_layers(net.module).items():
        values = eigenvalues(layer)
        values = values[values > 1e-10 * values.max()]
        if values.size < FEWEST_EIGENVALUES:
            layers.skip(name, f"{values.size} eigenvalues, fewer than {FEWEST_EIGENVALUES}")
            continue
        layers.use(name)
        fits.append(fit_power_law(values))
    if not fits:
        raise NotApplicable(
            f"no layer has {FEWEST_EIGENVALUES} eigenvalues or more; the exponent of a spectrum needs a layer that wide."
        )
    return fits


@register
@dataclass(frozen=True)
class Alpha(Measure):
    """Mean over layers of the exponent of the power law fitted to the tail of the eigenvalues of W'W.


    References
    ----------
    C. H. Martin, M. W. Mahoney (2021). Implicit self-regularization in deep neural networks. JMLR 22(165).

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> Alpha()(sample_net("conv")).used
    ('3',)
    """

    id: ClassVar[str] = "alpha"
    family: ClassVar[str] = "alpha"
    range: ClassVar[tuple[float, float]] = (1.0, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean exponent."""
        fits = layer_fits(net, layers)
        return sum(fit.alpha for fit in fits) / len(fits)


@register
@dataclass(frozen=True)
class AlphaHat(Measure):
    """Mean over layers of the exponent times the decimal logarithm of the largest eigenvalue.

    References
    ----------
    C. H. Martin, T. Peng, M. W. Mahoney (2021). Predicting trends in the quality of state-of-the-art neural networks without access to
    training or testing data. Nature Communications 12, 4122.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> AlphaHat()(sample_net("conv")).skipped["0"]
    '9 eigenvalues, fewer than 20'
    """

    id: ClassVar[str] = "alpha-hat"
    family: ClassVar[str] = "alpha"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean of the weighted exponents."""
        fits = layer_fits(net, layers)
        return sum(fit.alpha * math.log10(fit.largest) for fit in fits) / len(fits)


FEWEST_EIGENVALUES = 20  # the tail of a shorter spectrum does not determine an exponent


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """Exponent, start of the tail, distance between fit and data, tail size and largest value."""

    alpha: float
    xmin: float
    distance: float
    n_tail: int
    largest: float


def fit_power_law(values: np.ndarray) -> PowerLaw:
    """Fit a continuous power law to the upper tail of positive values; the tail starts where the fit is closest.

    For each value as start of the tail the exponent is the maximum-likelihood one, 1 + n / sum log(x / start); the start kept is the one with the
    smallest Kolmogorov-Smirnov distance.

    Parameters
    ----------
    values : array
        Positive numbers, at least three different ones.

    References
    ----------
    A. Clauset, C. R. Shalizi, M. E. J. Newman (2009). Power-law distributions in empirical data. SIAM Review 51, 661-703.

    Examples
    --------
    >>> quantiles = (1 - (np.arange(2000) + 0.5) / 2000) ** (-1 / 1.5)
    >>> round(fit_power_law(quantiles).alpha, 1)
    2.5
    """
    x = np.sort(np.asarray(values, float))
    x = x[x > 0]
    if np.unique(x).size < 3:
        raise InputError(f"a power law needs at least three different positive values; {np.unique(x).size} were given.")
    logs = np.log(x)
    n = x.size - np.arange(x.size - 1)
    sums = logs[::-1].cumsum()[::-1][:-1] - n * logs[:-1]
    with np.errstate(divide="ignore"):
        alphas = 1 + n / sums
    best = PowerLaw(alpha=float("nan"), xmin=x[0], distance=np.inf, n_tail=x.size, largest=x[-1])
    for k in np.flatnonzero(sums > 0):
        fitted = 1 - np.exp((1 - alphas[k]) * (logs[k:] - logs[k]))
        distance = np.abs(fitted - np.arange(n[k]) / n[k]).max()
        if distance < best.distance:
            best = PowerLaw(
                alpha=float(alphas[k]),
                xmin=float(x[k]),
                distance=float(distance),
                n_tail=int(n[k]),
                largest=float(x[-1]),
            )
    return best


def eigenvalues(layer: nn.Module) -> np.ndarray:
    """Return the squared singular values of a layer, as weightwatcher takes them.

    A convolution is one matrix per position of its kernel, scaled by the square root of one half as weightwatcher 0.7.7 does; their eigenvalues are pooled.

    References
    ----------
    C. H. Martin, M. W. Mahoney (2021). Implicit self-regularization in deep neural networks. JMLR 22(165).

    Examples
    --------
    >>> eigenvalues(nn.Conv2d(4, 6, 3)).size, eigenvalues(nn.Linear(5, 3)).size
    (36, 3)
    """
    weight = layer.weight.detach().double()
    if weight.ndim == 2:
        return torch.linalg.svdvals(weight).cpu().numpy() ** 2
    slices = weight.flatten(2).permute(2, 0, 1)
    return torch.linalg.svdvals(slices * 0.5**0.5).flatten().cpu().numpy() ** 2
