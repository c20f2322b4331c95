"""Losses and measures: `per_example` where they decompose over examples, else `of_set`; one file each."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
