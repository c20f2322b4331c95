"""What can be assessed: scikit-learn estimators, functions, models by name and models from files."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
