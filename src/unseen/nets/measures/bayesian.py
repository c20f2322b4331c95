"""Posterior-predictive error on the training data, the last layer's weights uncertain (MacKay, 1992; Ghane, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import InputError
from unseen.nets.bayes.samplers import posterior
from unseen.nets.estimates.estimate import estimate
from unseen.nets.measures.bolster import class_numbers
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.cut import last_linear
from unseen.nets.modules.net import Net
from unseen.nets.modules.weight_layers import weight_layers

__all__ = ["BayesianMeasure"]


@register
@dataclass(frozen=True)
class BayesianMeasure(Measure):
    """Mean over training inputs of one minus the predictive probability of the class assigned, under the last layer's Laplace approximation.

    The predictive is the closed (probit) form, so that nothing is drawn.

    Parameters
    ----------
    n : int
        Training inputs, the first ones.
    prior_scale : float
        Standard deviation of every weight of the last layer under the prior.

    References
    ----------
    D. J. C. MacKay (1992). A practical Bayesian framework for backpropagation networks. Neural Computation 4, 448-472.
    P. Ghane (2022). Dissertation, Texas A&M University, section 2.3.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> BayesianMeasure()(sample_net("conv")).used
    ('9',)
    """

    n: int = 2000
    prior_scale: float = 1.0

    id: ClassVar[str] = "bayesian"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.n < 2 or not self.prior_scale > 0:
            raise InputError(
                f"n is {self.n} and prior_scale {self.prior_scale}; n must be at least 2, the scale above 0."
            )

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Return the mean."""
        X, y, classes = net.X_train[: self.n], net.y_train[: self.n], list(class_numbers(net))
        uncertain = posterior(
            net.module,
            X,
            y,
            "laplace",
            predictive="probit",
            prior_scale=self.prior_scale,
            classes=classes,
            random_state=0,
        )
        last = last_linear(net.module, X)
        layers.use(last)
        for name in weight_layers(net.module):
            if name != last:
                layers.skip(name, "its weights are taken as certain")
        found = estimate(
            net.module, X, y, "bayesian", posterior=uncertain, outputs="logits", classes=classes, random_state=0
        )
        return float(found.value)
