"""Tracer kinetics: hybrid and conventional compartmental models that balance.

``fit`` takes tracer-to-tracee ratios of three labelled analytes on two tracees and gives rates, pools and fluxes at every
location the conversion may have, with honest intervals.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
