"""Monte-Carlo studies of the estimators themselves: a spec, a store, many replications, one summary."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
