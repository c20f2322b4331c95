"""Power-law exponent of the layers' spectra, data-free (Martin and Mahoney, 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import NotApplicable
from unseen.nets._measure import LayerLog, Measure, register
from unseen.nets._net import Net
from unseen.nets._power_law import FEWEST_EIGENVALUES, PowerLaw, eigenvalues, fit_power_law
from unseen.nets._weight_layers import left_out, weight_layers

__all__ = ["Alpha", "layer_fits"]


def layer_fits(net: Net, layers: LayerLog) -> list[PowerLaw]:
    """Return the power-law fit of each layer with enough eigenvalues."""
    for name in left_out(net.module):
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
    range: ClassVar[tuple[float, float]] = (1.0, math.inf)
    cost: ClassVar[str] = "weights only"

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean exponent."""
        fits = layer_fits(net, layers)
        return sum(fit.alpha for fit in fits) / len(fits)
