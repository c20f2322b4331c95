"""What an estimate of a net's error says beyond its number: the measure, the space it lives in, the path of a calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unseen.core.estimate import CalibratedEstimate, SmoothedEstimate
from unseen.nets.estimates.temperature import Temperature

__all__ = ["CalibratedNetEstimate", "NetEstimate"]


@dataclass(frozen=True, kw_only=True)
class NetEstimate(SmoothedEstimate):
    """The error of a trained net integrated under an empirical measure.

    Parameters
    ----------
    space : str
        Where kernels and distances live: "input", or the name of a layer.
    measure : str
        The measure in words.
    integration : str
        "exact", or how points were drawn.
    bandwidth : ndarray or None
        Root mean variance over coordinates of the kernels of each class.
    interval : Interval or None
        Of the net's error: from copies trained on 80% if there are some, else from how far this estimate was off on the zoos; None for methods the zoos did not judge.
    temperature : Temperature or None
        Of the net's probabilities; None if there were neither copies nor rows of your own to find it.

    Examples
    --------
    >>> import torch, unseen.nets
    >>> X = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    >>> e = unseen.nets.estimate(torch.nn.Linear(2, 2), X, (X[:, 0] > 0).long(), method="bolster", random_state=0)
    >>> e.space, e.integration, len(e.bandwidth)
    ('input', 'exact', 2)
    """

    shown_by: ClassVar[str] = "unseen.nets"

    temperature: Temperature | None = None

    kept_as = "nets-estimate"

    @property
    def title(self) -> str:
        """Title of the report."""
        return f"Error of a trained net by {self.method}"

    def __str__(self) -> str:
        error = f", Monte-Carlo error {self.mc_error:.2g}" if self.mc_error else ""
        where = "" if self.space == "input" else f" behind layer {self.space}"
        ends = "" if self.interval is None else f", {100 * self.interval.level:g}% interval {self.interval}"
        return f"{self.method}: {self.loss} {self.value:.4g}{ends}{error} ({self.measure}{where}; {self.integration}; {self.target})"


@dataclass(frozen=True, kw_only=True)
class CalibratedNetEstimate(NetEstimate, CalibratedEstimate):
    """A bolstered estimate whose kernels were scaled to remove an estimated bias.

    Parameters
    ----------
    kappa : float
        The factor on the kernels' standard deviations that was chosen.
    curve : ndarray of shape (evaluations, 3)
        Every kappa tried, in increasing order, the mean estimated bias and its standard deviation over the repetitions.
    deviations : ndarray of shape (evaluations, r)
        Estimated minus observed error of each repetition behind the curve.
    uncalibrated : float
        The estimate with kappa = 1.
    calibration_error : float
        Standard error of the estimate over other splits and other copies, by the jackknife over the repetitions; NaN with
        one repetition. `mc_error` is that of the integration with kappa given.
    """

    def __str__(self) -> str:
        known = self.calibration_error == self.calibration_error
        error = f"error of the calibration {self.calibration_error:.2g}; " if known else ""
        return f"{super().__str__()}; {error}{self.uncalibrated:.4g} at kappa 1"
