"""Tracer kinetics: hybrid and conventional compartmental models that balance.

``fit`` takes tracer-to-tracee ratios of three labelled analytes on two tracees and gives rates, pools and fluxes at every
location the conversion may have, with honest intervals.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Bolus": "unseen.kinetics.systems",
        "CompartmentModel": "unseen.kinetics.systems",
        "CurveFit": "unseen.kinetics.curve",
        "GroupMean": "unseen.kinetics._group",
        "Infusion": "unseen.kinetics.systems",
        "KineticFit": "unseen.kinetics.record",
        "KineticStudy": "unseen.kinetics.study",
        "LOCATIONS": "unseen.kinetics.shapes",
        "NcaStudy": "unseen.kinetics._nca",
        "Output": "unseen.kinetics.systems",
        "PHE_TYR": "unseen.kinetics.scheme",
        "Scheme": "unseen.kinetics.scheme",
        "SimulatedStudy": "unseen.kinetics._simulate",
        "GroupComparison": "unseen.kinetics._compare_groups",
        "compare_groups": "unseen.kinetics._compare_groups",
        "conventional": "unseen.kinetics._conventional",
        "fit": "unseen.kinetics._fit",
        "fit_conventional": "unseen.kinetics._conventional",
        "fit_system": "unseen.kinetics._system_fit",
        "SystemFit": "unseen.kinetics._system_fit",
        "fit_curve": "unseen.kinetics.curve",
        "group_mean": "unseen.kinetics._group",
        "interval_identifiability": "unseen.kinetics.mammillary",
        "nca": "unseen.kinetics._nca",
        "printed_tracee": "unseen.kinetics.balance",
        "product_curve": "unseen.kinetics.exponentials",
        "simulate": "unseen.kinetics._simulate",
        "tracee": "unseen.kinetics.balance",
    },
)
