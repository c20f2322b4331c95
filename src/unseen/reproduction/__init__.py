"""Published experiments run again, one folder each, with the published numbers beside it."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
