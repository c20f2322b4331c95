"""Everything that follows from the fitted parameters: rates, pools and fluxes, with their gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.core.arrays import Array
from unseen.core.errors import InputError, UnknownName
from unseen.kinetics.balance import ALTERNATIVES, printed_tracee, tracee, tracer_rates
from unseen.kinetics.joint import JointModel
from unseen.kinetics.scheme import Scheme

__all__ = ["CONVENTIONS", "Derived", "PrintedConvention"]

CONVENTIONS = ("mass_balance", "printed")
_STEP = 1e-5  # of central differences on the log scale: about the cube root of rounding
# Differences, whose estimates may be negative though what they estimate is not: their intervals stay on the natural scale, cut at zero.
SIGNED = ("U_product", "F34", "F04", "F02", "F01", "Q4")


class PrintedConvention(UserWarning):
    """Fluxes were asked for by formulas that count conversion twice."""


@dataclass(frozen=True, kw_only=True)
class Derived:
    """Rates, pools and fluxes as functions of the log parameters.

    Parameters
    ----------
    model : JointModel
    doses : tuple of float
    scheme : Scheme
    convention : {"mass_balance", "printed"}
        ``"printed"`` follows the dissertation and counts conversion twice.
    location : str, optional
        Tracee model; that of the fit by default.

    Examples
    --------
    >>> from unseen.kinetics.scheme import PHE_TYR
    >>> model = JointModel(2, 2, "EC-EC")
    >>> derived = Derived(model=model, doses=(3.6, 2.85), scheme=PHE_TYR)
    >>> theta = model.pack([.2, .1], [.16, .02], [.1, .05], [.15, .017], .033)
    >>> round(derived(theta)["Fconv"], 3)
    5.643
    """

    model: JointModel
    doses: tuple[float, float]
    scheme: Scheme
    convention: str = "mass_balance"
    location: str | None = None

    def __post_init__(self) -> None:
        if self.convention not in CONVENTIONS:
            raise UnknownName("convention", self.convention, CONVENTIONS)
        if self.convention == "printed":
            if (self.model.n, self.model.m) != (2, 2):
                raise InputError("convention='printed' is defined for two exponentials per substrate only.")
            if self.where not in ALTERNATIVES:
                raise UnknownName("location in the printed convention", self.where, ALTERNATIVES)

    @property
    def where(self) -> str:
        """Location of the tracee model."""
        return self.location or self.model.location

    def rates(self, theta: Array) -> dict[str, float]:
        """Fractional rates of the tracer model, per minute."""
        return tracer_rates(*self.model.unpack(theta))

    def fluxes(self, theta: Array) -> dict[str, float]:
        """Pools, in the unit of the doses, and fluxes per hour."""
        a, l, b, g, kappa = self.model.unpack(theta)
        if self.convention == "printed":
            q1, q3 = self.doses[0] / float(a.sum()), self.doses[1] / float(b.sum())
            out = printed_tracee(self.rates(theta), q1, q3, self.where)
        else:
            out = tracee(a, l, b, g, kappa, self.doses, self.where)
        return {self.scheme.public(k): float(v) for k, v in out.items()}

    def __call__(self, theta: Array) -> dict[str, float]:
        """All quantities by name."""
        return {k: float(v) for k, v in self.rates(theta).items()} | self.fluxes(theta)

    def gradients(self, theta: Array) -> dict[str, Array]:
        """Gradient of every quantity by the log parameters, by central differences."""
        names = list(self(theta))
        columns = []
        for i in range(theta.size):
            step = np.zeros(theta.size)
            step[i] = _STEP
            up, down = self(theta + step), self(theta - step)
            columns.append([(up[n] - down[n]) / (2 * _STEP) for n in names])
        table = np.array(columns).T
        return dict(zip(names, table))

    def may_be_negative(self, name: str) -> bool:
        """Whether the estimate of a quantity may be negative."""
        return name in {self.scheme.public(s) for s in SIGNED}

    @staticmethod
    def unit(name: str) -> str:
        """Unit of a quantity: of a rate, of a pool or of a flux."""
        return "1/min" if name.startswith("k") else "dose" if name.startswith("Q") else "dose/h"
