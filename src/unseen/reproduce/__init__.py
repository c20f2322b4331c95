"""Published experiments run again, one self-registering file each, with the published numbers beside it."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Check": "unseen.reproduce._record",
        "Cell": "unseen.reproduce._record",
        "Reproduction": "unseen.reproduce._record",
        "SeedRuns": "unseen.reproduce._seeds",
        "experiments": "unseen.reproduce._experiment",
        "published": "unseen.reproduce._published",
        "reproduce": "unseen.reproduce._experiment",
        "reproduce_over_seeds": "unseen.reproduce._seeds",
    },
)
