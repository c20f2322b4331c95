"""A store for long studies: SQLite by default, PostgreSQL for teams; nothing that was finished is ever lost."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
