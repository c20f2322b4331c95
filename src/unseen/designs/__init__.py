"""Designs: what is fitted on what, one file each; `design.plan(data, rng)` draws the splits."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
