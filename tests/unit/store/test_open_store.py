"""Opening stores: URLs, paths, versions, and every refusal as a sentence without secrets."""

from __future__ import annotations

import builtins
import os
import re
import sqlite3

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from sqlalchemy import event, inspect, text

from unseen.core.errors import InputError, MissingExtra
from unseen.store import StoreError, StoreLost, TaskResult, TaskRow, mask_password, open_store, schema


def add(store):
    store.add_study("mine", "study", {"seed": 1}, [{"n": 20}], [TaskRow(f"t{k}", 0, k, k) for k in range(4)])


def finish(store, **numbers):
    rows = store.claim("mine", "me", 10, 60)
    return store.finish("mine", "me", [TaskResult(row.id, estimate=0.5, **numbers) for row in rows])


def test_a_plain_path_and_a_url_open_the_same_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, way in enumerate(["a.db", tmp_path / "a.db", "sqlite:///a.db", f"sqlite:///{tmp_path / 'a.db'}"]):
        with open_store(way) as store:
            assert store.keep("assessment", str(way), {}) == k + 1


def test_sqlite_writes_ahead_and_syncs_what_was_finished(tmp_path):
    with open_store(tmp_path / "a.db") as store:
        modes = []

        @event.listens_for(store.engine, "commit")
        def look(connection):
            modes.append([connection.exec_driver_sql(f"PRAGMA {x}").scalar() for x in ("journal_mode", "synchronous")])

        add(store)
        rows = store.claim("mine", "me", 10, 60)
        store.finish("mine", "me", [TaskResult(row.id, estimate=0.5) for row in rows])
        store.keep("assessment", "x", {})
        assert modes == [["wal", 2], ["wal", 1], ["wal", 2], ["wal", 2]]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "empty URL"),
        ("mysql://ann:secret@host/db", "unknown kind of store 'mysql://ann:***@host/db'"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///no/such/folder/a.db", "folder 'no/such/folder' does not exist"),
        ("/", "is a folder"),
        ("postgresql://ann:secret@host:port/db", "cannot read the URL"),
    ],
)
def test_bad_urls_are_told_without_their_password(url, words):
    if url.startswith("postgres"):
        pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(InputError) as caught:
        open_store(url)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("postgresql://ann:p@ss:w/rd@host:5432/db", "postgresql://ann:***@host:5432/db"),
        ("postgresql://host/db?user=a&password=secret&x=1", "postgresql://host/db?user=a&password=***&x=1"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("sqlite:///a.db", "sqlite:///a.db"),
    ],
)
def test_passwords_are_masked(url, safe):
    assert mask_password(url) == safe


def test_a_server_that_is_not_there_is_told_without_the_password():
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(StoreLost, match=r"cannot reach the store postgresql://ann:\*\*\*@127.0.0.1:1/db") as caught:
        open_store("postgresql://ann:secret@127.0.0.1:1/db")
    assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_is_told(postgres):
    url = f"postgresql://unseen@127.0.0.1:{postgres.port}/nowhere"
    with pytest.raises(StoreError, match=r"nowhere does not exist on that server"):
        open_store(url)
    with pytest.raises(StoreError, match=r"refuses this user or password"):
        open_store(postgres.new_database().replace("unseen@", "nobody:secret@"))


@pytest.mark.parametrize(("package", "line"), [("sqlalchemy", "SQLAlchemy>="), ("psycopg", "psycopg[binary]>=")])
def test_a_missing_package_comes_with_the_line_that_installs_it(package, line, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name == package:
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=re.escape(f"pip install '{line}")):
        open_store("postgresql://host/db")


def test_something_else_under_the_name_is_told(tmp_path):
    (tmp_path / "a.db").write_bytes(b"certainly not a database" * 100)
    with pytest.raises(StoreError, match="not an SQLite database"):
        open_store(tmp_path / "a.db")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_told(tmp_path):
    open_store(tmp_path / "a.db").close()
    (tmp_path / "a.db").chmod(0o400)
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="can only be read"):
        open_store(tmp_path / "a.db")


def test_reading_needs_a_store(tmp_path):
    with pytest.raises(InputError, match="there is no store at"):
        open_store(tmp_path / "a.db", read_only=True)
    assert not (tmp_path / "a.db").exists()
    sqlite3.connect(tmp_path / "b.db").execute("CREATE TABLE other (x)")
    with pytest.raises(StoreError, match="has no tables of unseen"):
        open_store(tmp_path / "b.db", read_only=True)


@pytest.mark.parametrize("table", ["other (x)", "tasks (x)", "meta (name, version)"])
def test_the_database_of_another_program_is_left_as_it_is(tmp_path, table):
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute(f"CREATE TABLE {table}")
    with pytest.raises(StoreError, match="tables of another program"):
        open_store(path)
    with pytest.raises(StoreError, match="has no tables of unseen; check its address"):
        open_store(path, read_only=True)
    with sqlite3.connect(path) as theirs:
        assert theirs.execute("SELECT count(*) FROM sqlite_master").fetchall() == [(1,)]


def make_version_1(url):
    """Write a store as version 1 did: no p-values, no filed results; half of its tasks are done."""
    with open_store(url) as store:
        add(store)
        store.finish("mine", "me", [TaskResult(r.id, estimate=0.25) for r in store.claim("mine", "me", 2, 60)])
        store.release("mine", "me")
        with store._writing() as connection:
            connection.execute(text("DROP TABLE kept"))
            connection.execute(text("ALTER TABLE results DROP COLUMN p_value"))
            connection.execute(text("UPDATE meta SET value = '1' WHERE key = 'version'"))


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_an_old_store_is_brought_up_to_date_with_its_results(database, tmp_path, request):
    url = str(tmp_path / "a.db") if database == "sqlite" else request.getfixturevalue("postgres").new_database()
    make_version_1(url)
    with pytest.raises(StoreError, match="older version 1"):
        open_store(url, read_only=True)
    with open_store(url) as store:
        assert store.progress("mine").done == 2
        assert finish(store, p_value=0.125) == 2
        assert store.columns("mine")["estimate"].tolist() == [0.25, 0.25, 0.5, 0.5]
        assert store.columns("mine")["p_value"].tolist()[2:] == [0.125, 0.125]
        assert store.keep("assessment", "x", {}) == 1
    with open_store(url) as store, store.engine.connect() as connection:
        assert connection.execute(text("SELECT value FROM meta WHERE key = 'version'")).scalar() == str(schema.VERSION)
        for table in schema.metadata.sorted_tables:
            found = {column["name"] for column in inspect(connection).get_columns(table.name)}
            assert found == {column.name for column in table.columns}, f"{table.name} is not what a new store has"


def test_a_migration_that_fails_changes_nothing(tmp_path, monkeypatch):
    from unseen.store import migrations

    make_version_1(tmp_path / "a.db")
    monkeypatch.setitem(migrations.STEPS, 2, lambda connection: connection.execute(text("nonsense")))
    with pytest.raises(StoreError, match="refused"):
        open_store(tmp_path / "a.db")
    columns = [c[1] for c in sqlite3.connect(tmp_path / "a.db").execute("PRAGMA table_info(results)")]
    assert "p_value" not in columns


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_store_is_refused_and_left_alone(tmp_path, read_only):
    with open_store(tmp_path / "a.db") as store:
        add(store)
        with store._writing() as connection:
            connection.execute(text("UPDATE meta SET value = '99'"))
    with pytest.raises(StoreError, match=r"written by a newer unseen \(its tables are version 99.*upgrade unseen"):
        open_store(tmp_path / "a.db", read_only=read_only)


def test_two_programs_may_open_a_new_store_at_once(postgres, tmp_path):
    import threading

    for url in (postgres.new_database(), tmp_path / "a.db"):
        errors = []

        def create(url=url, errors=errors):
            try:
                open_store(url).close()
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=create) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
