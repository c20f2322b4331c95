"""What a fitted subject offers: rates, pools, fluxes, intervals, locations and diagnostics."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unseen.core.arrays import Array
from unseen.core.errors import UnknownName
from unseen.core.estimate import Interval, check_level
from unseen.core.notes import Note
from unseen.core.result import Result, plain
from unseen.core.rng import RandomState
from unseen.kinetics.identifiability import Identifiability, identifiability
from unseen.kinetics.intervals import BootstrapRefits, Profile, bootstrap, delta_interval, profile, std_errors
from unseen.kinetics.joint import SampledCurves
from unseen.kinetics.location_fit import LocationFit
from unseen.kinetics.mammillary import TwoPoolInterval, interval_identifiability
from unseen.kinetics.noise import ErrorModel
from unseen.kinetics.noncompartmental import Appearance
from unseen.kinetics.plausibility import REFERENCES, Judgement, Reference, location_rows, rank_locations
from unseen.kinetics.quantities import Derived, PrintedConvention
from unseen.kinetics.scheme import Scheme
from unseen.kinetics.table import Removal

__all__ = ["KineticFit"]

METHODS = ("delta", "profile", "bootstrap")


@dataclass(frozen=True, kw_only=True)
class KineticFit(Result):
    """One subject: the joint fit at every location, and what follows from it.

    Rates are per minute, pools in the unit of the doses, fluxes in that unit per hour. The four rates of each substrate in
    ``rates`` are those of the tracer model: ``k02`` is the total loss of the precursor, conversion included.

    Attributes
    ----------
    subject : str
    scheme : Scheme
    doses : tuple of float
    curves : SampledCurves
        Samples that were fitted.
    removed : tuple of Removal
        Samples that were not, and why.
    error : ErrorModel
    alternatives : tuple of LocationFit
        One fit per location.
    location : str
        The location used if none is named.
    convention : {"mass_balance", "printed"}
    nca : Appearance or None
        Non-compartmental result, None if the areas could not be computed.
    covariates : mapping
        Further columns of the dose table.
    notes : tuple of Note

    Examples
    --------
    >>> import unseen
    >>> made = unseen.kinetics.simulate(subjects=1, noise=0.02, between=0.0, random_state=1)
    >>> one = unseen.kinetics.fit(made.ttr, made.doses, locations=["EC-EC", "IC-IC"])["s1"]
    >>> one.locations[0]["location"], 0.026 in one.interval("k02"), sorted(one.pools)
    ('EC-EC', True, ['Q1', 'Q2', 'Q3', 'Q4'])
    >>> one.fluxes("EC-EC")["U_Phe"] == one.values("EC-EC")["U_Phe"]
    True
    """

    shown_by: ClassVar[str] = "unseen.kinetics"

    subject: str
    scheme: Scheme
    doses: tuple[float, float]
    curves: SampledCurves
    removed: tuple[Removal, ...]
    error: ErrorModel
    alternatives: tuple[LocationFit, ...]
    location: str
    convention: str
    nca: Appearance | None
    covariates: Mapping[str, Any]
    notes: tuple[Note, ...] = ()

    @property
    def title(self) -> str:
        """Heading of the report."""
        return f"Tracer kinetics of subject {self.subject}"

    @property
    def order(self) -> tuple[int, int]:
        """Exponentials of the precursor and of the product."""
        return self.alternatives[0].model.n, self.alternatives[0].model.m

    def at(self, location: str | None = None) -> LocationFit:
        """The joint fit at one location; the fit's own location by default."""
        wanted = location or self.location
        for one in self.alternatives:
            if one.location == wanted:
                return one
        raise UnknownName("location", wanted, [a.location for a in self.alternatives])

    def derivation(self, location: str | None = None, convention: str | None = None) -> tuple[LocationFit, Derived]:
        """The fit and the functions that turn its parameters into rates, pools and fluxes."""
        chosen = convention or self.convention
        if chosen == "printed":
            # the dissertation derives all three alternatives from the one curve of equation 4.3e, which is EC-EC
            fit = self.at("EC-EC")
            return fit, Derived(
                model=fit.model,
                doses=self.doses,
                scheme=self.scheme,
                convention="printed",
                location=location or self.location,
            )
        fit = self.at(location)
        return fit, Derived(model=fit.model, doses=self.doses, scheme=self.scheme, convention=chosen)

    @property
    def rates(self) -> dict[str, float]:
        """Fractional rates of the tracer model, per minute."""
        fit, derived = self.derivation()
        return {k: float(v) for k, v in derived.rates(fit.theta).items()}

    @property
    def pools(self) -> dict[str, float]:
        """Pool sizes, in the unit of the doses."""
        fit, derived = self.derivation()
        return {k: v for k, v in derived.fluxes(fit.theta).items() if k.startswith("Q")}

    def fluxes(self, location: str | None = None, convention: str | None = None) -> dict[str, float]:
        """Fluxes per hour under one alternative.

        Parameters
        ----------
        location : str, optional
        convention : {"mass_balance", "printed"}, optional
            ``"printed"`` warns: its formulas count conversion twice.

        Returns
        -------
        dict
            ``Fij`` (to i from j, 0 outside), ``Fconv`` and the two appearances ``U_...``.
        """
        if (convention or self.convention) == "printed":
            warnings.warn(
                "convention='printed' follows the dissertation, whose k02 already contains conversion: U counts it twice.",
                PrintedConvention,
                stacklevel=2,
            )
        fit, derived = self.derivation(location, convention)
        return {k: v for k, v in derived.fluxes(fit.theta).items() if not k.startswith(("Q", "k"))}

    def values(self, location: str | None = None) -> dict[str, float]:
        """Every rate, pool and flux by name."""
        fit, derived = self.derivation(location)
        return derived(fit.theta)

    def std_errors(self, location: str | None = None) -> dict[str, float]:
        """Delta-method standard error of every quantity, with the full covariance."""
        return std_errors(*self.derivation(location))

    def _check(self, name: str, location: str | None) -> tuple[LocationFit, Derived]:
        fit, derived = self.derivation(location)
        known = derived(fit.theta)
        if name not in known:
            raise UnknownName("quantity", name, known)
        return fit, derived

    def interval(
        self,
        name: str,
        method: str = "delta",
        *,
        level: float = 0.95,
        location: str | None = None,
        draws: int = 500,
        random_state: RandomState = None,
    ) -> Interval:
        """Confidence interval of a rate, pool or flux.

        Parameters
        ----------
        name : str
            Such as ``"k21"``, ``"Q2"`` or ``"U_Phe"``.
        method : {"delta", "profile", "bootstrap"}
        level : float
        location : str, optional
        draws : int
            Refits of the bootstrap.
        random_state : int or Generator, optional
            Of the bootstrap.

        Returns
        -------
        Interval
        """
        check_level(level)
        if method not in METHODS:
            raise UnknownName("interval method", method, METHODS)
        fit, derived = self._check(name, location)
        if method == "profile":
            return profile(fit, derived, self.curves, name, level).interval
        if method == "bootstrap":
            return self.bootstrap(draws=draws, location=location, random_state=random_state).interval(name, level)
        return delta_interval(
            derived(fit.theta)[name], std_errors(fit, derived)[name], fit.df, level, derived.may_be_negative(name)
        )

    def profile(self, name: str, *, level: float = 0.95, location: str | None = None, points: int = 9) -> Profile:
        """Profile of the sum of squares along one quantity, for a look at its shape."""
        fit, derived = self._check(name, location)
        return profile(fit, derived, self.curves, name, check_level(level), points)

    def bootstrap(
        self,
        *,
        kind: str = "parametric",
        draws: int = 500,
        location: str | None = None,
        random_state: RandomState = None,
    ) -> BootstrapRefits:
        """Refits of resampled data, every quantity at once."""
        fit, derived = self.derivation(location)
        return bootstrap(fit, derived, self.curves, self.error, kind=kind, draws=draws, random_state=random_state)

    def identifiability(self, location: str | None = None) -> Identifiability:
        """Singular values, correlations and flags of the fit."""
        return identifiability(self.at(location), self.curves)

    def ranges(self) -> dict[str, TwoPoolInterval]:
        """Interval identifiability of each substrate, both pools allowed to lose; appearance per hour."""
        a, l, b, g, _ = self.at().model.unpack(self.at().theta)
        out = {}
        for name, amplitudes, rates, dose in zip(self.scheme.substrates, (a, b), (l, g), self.doses):
            if rates.size == 2:
                found = interval_identifiability(amplitudes, rates, dose)
                out[name] = TwoPoolInterval(**{**vars(found), "U": (60 * found.U[0], 60 * found.U[1])})
        return out

    def plausibility(self, references: Sequence[Reference] = REFERENCES) -> tuple[Judgement, ...]:
        """Alternatives ranked by physical limits, then AICc, then distance from published values; best first."""
        return rank_locations(self.alternatives, self.doses, self.scheme, references)

    @property
    def locations(self) -> list[dict[str, Any]]:
        """Criteria of every location, best AICc first."""
        return location_rows(self.alternatives, self.plausibility())

    def predict(self, time: ArrayLike, analyte: str, location: str | None = None) -> Array:
        """Fitted TTR of one analyte at given minutes."""
        fit, t = self.at(location), np.asarray(time, float)
        return fit.model.predict(fit.theta, t, np.full(t.shape, self._code(analyte)))

    def band(
        self, time: ArrayLike, analyte: str, *, level: float = 0.95, location: str | None = None
    ) -> tuple[Array, Array]:
        """Pointwise confidence band of the fitted curve."""
        return self.at(location).band(np.asarray(time, float), self._code(analyte), level)

    def _code(self, analyte: str) -> int:
        if analyte not in self.scheme.analytes:
            raise UnknownName("analyte", analyte, self.scheme.analytes)
        return self.scheme.analytes.index(analyte)

    def rows(self, level: float = 0.95, location: str | None = None) -> list[dict[str, Any]]:
        """One row per rate, pool and flux, with its delta interval."""
        fit, derived = self.derivation(location)
        values, errors = derived(fit.theta), std_errors(fit, derived)
        rows = []
        for name, value in values.items():
            low, high = delta_interval(value, errors[name], fit.df, level, derived.may_be_negative(name))
            rows.append(
                {
                    "subject": self.subject,
                    "quantity": name,
                    "unit": derived.unit(name),
                    "estimate": value,
                    "std_error": errors[name],
                    "lower": low,
                    "upper": high,
                    "level": level,
                    "location": derived.where,
                    "convention": derived.convention,
                }
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        fit = self.at()
        return {
            "subject": self.subject,
            "location": self.location,
            "convention": self.convention,
            "order": list(self.order),
            "doses": list(self.doses),
            "quantities": plain(self.rows()),
            "locations": plain(self.locations),
            "ranges": plain(self.ranges()),
            "nca": None if self.nca is None else plain(self.nca.rows()[0]),
            "error": {
                "model": self.error.kind,
                "cv": plain(fit.cv),
                "floor": plain(fit.floor),
                "scales": plain(fit.scales),
            },
            "removed": plain(self.removed),
            "covariates": plain(self.covariates),
            "notes": plain(self.notes),
        }

    def __str__(self) -> str:
        fit = self.at()
        lines = [
            f"subject {self.subject}: conversion {self.location} ({self.convention}), chi2 {fit.chi2:.4g} on {fit.spare} df{self.error.remark}, "
            f"AICc {fit.aicc:.1f}"
        ]
        for row in self.rows():
            unit = {"dose": "", "dose/h": "/h", "1/min": "/min"}[row["unit"]]
            span = f"[{row['lower']:.4g}, {row['upper']:.4g}]"
            lines.append(f"  {row['quantity']:<6} {row['estimate']:>9.4g} {unit:<4} {span}")
        lines += [f"  {n}" for n in self.notes]
        return "\n".join(lines)
