"""A store for long studies: SQLite by default, PostgreSQL for teams; nothing that was finished is ever lost."""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "DEFAULT_URL": "unseen.store._open",
        "Kept": "unseen.store._records",
        "Progress": "unseen.store._records",
        "Result": "unseen.store._records",
        "SqlStore": "unseen.store._sql",
        "StoreBusy": "unseen.store._errors",
        "StoreError": "unseen.store._errors",
        "StoreFull": "unseen.store._errors",
        "StoreLost": "unseen.store._errors",
        "TaskRow": "unseen.store._records",
        "masked": "unseen.store._open",
        "open_store": "unseen.store._open",
    },
)
