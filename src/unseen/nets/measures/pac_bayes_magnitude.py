"""PAC-Bayes flatness under noise in proportion to each weight (Jiang and others, 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.nets._measure import register
from unseen.nets.measures.pac_bayes_flatness import PacBayesFlatness

__all__ = ["PacBayesMagnitude"]


@register
@dataclass(frozen=True)
class PacBayesMagnitude(PacBayesFlatness):
    """One over sigma squared, the noise of each weight having sigma times its magnitude as standard deviation.

    References
    ----------
    Y. Jiang, B. Neyshabur, H. Mobahi, D. Krishnan, S. Bengio (2020). Fantastic generalization measures and where to find them. ICLR.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> PacBayesMagnitude()(sample_net("mlp"), draws=3).value > 0
    True
    """

    id: ClassVar[str] = "pac-bayes-magnitude"
    relative: ClassVar[bool] = True
