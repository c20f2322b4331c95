"""Torch modules as everything here sees them: device, inputs, logits, layers, and small architectures."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
