"""The common start of direct methods, under its former name."""

from unseen.core.trained import codes_of, trained

__all__ = ["codes_of", "trained"]
