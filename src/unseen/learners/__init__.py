"""scikit-learn estimators of this package, and models by name."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "describe": "unseen.learners.named",
        "named_model": "unseen.learners.named",
        "names": "unseen.learners.named",
    },
)
