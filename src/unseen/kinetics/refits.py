"""What refits of resampled data say about a quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unseen.core.errors import UnknownName
from unseen.core.estimate import Interval

__all__ = ["Bootstrap"]


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """Refits of resampled data: every quantity of every refit.

    Attributes
    ----------
    kind : {"parametric", "residual"}
    draws : dict
        ``{quantity: values}``.
    failed : int
        Refits that did not converge; they are left out.
    centre : dict
        ``{quantity: estimate}`` of the data themselves.
    df : float
        Degrees of freedom of the estimated errors; infinite where they are known.
    """

    kind: str
    draws: Mapping[str, NDArray]
    failed: int
    centre: Mapping[str, float] = field(default_factory=dict)
    df: float = np.inf

    def interval(self, name: str, level: float = 0.95) -> Interval:
        """Interval of one quantity from the percentiles of its refits.

        Refits know how the data vary only from the residuals of one fit, which are few. The ends are therefore moved away from
        the estimate by the ratio of Student's t to the normal quantile, on the log scale where all refits are positive.

        Examples
        --------
        >>> found = Bootstrap(kind="parametric", draws={"U": np.linspace(-1, 1, 101)}, failed=0, centre={"U": 0.0}, df=3)
        >>> [round(end, 3) for end in found.interval("U", 0.5)]     # half the refits lie between -0.5 and 0.5
        [-0.567, 0.567]
        """
        if name not in self.draws:
            raise UnknownName("quantity", name, self.draws)
        ends = np.quantile(self.draws[name], [0.5 - level / 2, 0.5 + level / 2])
        if np.isfinite(self.df):
            upper = 0.5 + level / 2
            wide, centre = float(stats.t.ppf(upper, self.df) / stats.norm.ppf(upper)), self.centre[name]
            positive = centre > 0 and (self.draws[name] > 0).all()
            ends = centre * (ends / centre) ** wide if positive else centre + wide * (ends - centre)
        return Interval(float(ends[0]), float(ends[1]), level)
