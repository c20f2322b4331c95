"""Stores on SQLite and on a real PostgreSQL keep the contract of stores."""

from __future__ import annotations

from functools import partial

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.store import open_store
from unseen.testing import STORE_CHECKS


@pytest.fixture
def handles():
    """Return a function that opens a store by its URL, and closes what it opened."""
    opened = []

    def again(url, **options):
        opened.append(open_store(url, **options))
        return opened[-1]

    yield again
    for store in opened:
        store.close()


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda c: c.__name__)
def test_sqlite(check, handles, tmp_path):
    check(partial(handles, f"sqlite:///{tmp_path / 'store.db'}"))


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda c: c.__name__)
def test_postgres(check, handles, postgres):
    check(partial(handles, postgres.new_database()))
