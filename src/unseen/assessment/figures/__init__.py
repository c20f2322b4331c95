"""Figures of an assessment, of single estimates, of distributions and of resubstitution."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
