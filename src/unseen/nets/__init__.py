"""Deep nets: training side by side, error estimates without retraining, and measures of generalization, for any torch module.

Needs numpy and torch alone (the extra ``torch``), so that it also runs from the source tree on a bare GPU machine.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
