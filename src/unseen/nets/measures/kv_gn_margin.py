"""kV-GN-Margin: the median gradient-normed margin over the transport spread within classes (Chuang et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.nets._measure import register
from unseen.nets.measures.kv_margin import KvMargin

__all__ = ["KvGnMargin"]


@register
@dataclass(frozen=True)
class KvGnMargin(KvMargin):
    """Minus the median of lead over gradient norm, over the class-weighted spread of features within classes.

    As `kv-margin`, but each lead is divided by the norm of its own gradient at the layer, and the spreads are not multiplied by the
    steepest slope.

    Parameters
    ----------
    layer : int
        Whose input the features are, counting dense and convolution layers from 0: 1 the first hidden features, -1 the last.
    per_class : int
        Inputs of the subset, per class on average.

    References
    ----------
    Chuang, C.-Y., Mroueh, Y., Greenewald, K., Torralba, A. and Jegelka, S. (2021). Measuring generalization with optimal transport. NeurIPS.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> KvGnMargin()(sample_net("mlp")).used
    ('3',)
    """

    id: ClassVar[str] = "kv-gn-margin"

    def _over_spread(
        self, leads: torch.Tensor, norms: torch.Tensor, y: torch.Tensor, spreads: dict[int, tuple[float, float]]
    ) -> float:
        scale = sum(weight * spread for weight, spread in spreads.values())
        return -float((leads / (norms + 1e-6)).median()) / scale
