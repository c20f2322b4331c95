"""Losses of single examples and measures of whole sets; those of one shape share a file."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
