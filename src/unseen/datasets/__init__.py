"""Files, bundled data sets, and populations whose true error is known."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
