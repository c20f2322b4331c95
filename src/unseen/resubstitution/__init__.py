"""Error estimation without retraining: generalized resubstitution, one method per file, one function per method.

`bolster(fitted, X, y)` and its siblings take a model that is trained already and never refit it.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
