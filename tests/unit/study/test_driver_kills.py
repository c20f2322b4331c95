"""A driver that is killed, wherever and whenever, loses nothing that was finished and nothing is stored twice."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from unseen.store import open_store
from unseen.study.driver import drive

SCRIPT = Path(__file__).with_name("mortal_driver.py")
spec = importlib.util.spec_from_file_location("mortal_driver", SCRIPT)
mortal = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mortal)

RANDOM_DEATHS = 50


def deaths(*plans):
    """Run the script and return how its children ended."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input=json.dumps(plans),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return json.loads(done.stdout)


def table_of(store, name="mine"):
    """Return everything a study gave, timings aside, as bytes."""
    columns, moments = store.columns(name), store.moments(name)
    numbers = {f"column {k}": v.tobytes() for k, v in columns.items() if k != "seconds"}
    numbers |= {f"moment {k}": v.tobytes() for k, v in moments.items() if k != "seconds"}
    return numbers | {"extras": store.extras(name)}


@pytest.fixture(scope="module")
def uninterrupted(request, tmp_path_factory):
    """Return a function: the kind of database to the table of a run there that nothing disturbed."""

    @functools.cache
    def run(database):
        whole = tmp_path_factory.mktemp("whole") / "store.db"
        url = whole if database == "sqlite" else request.getfixturevalue("postgres").new_database()
        with open_store(url) as store:
            mortal.make_study(store)
            assert drive(store, "mine", runner=mortal.runner).state == "done"
            return table_of(store)

    return run


@pytest.fixture(scope="module")
def killed_on_sqlite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    urls = {point: f"sqlite:///{folder / point}.db" for point in mortal.POINTS}
    return urls, dict(zip(urls, deaths(*({"url": url, "point": point} for point, url in urls.items()))))


@pytest.fixture(scope="module")
def killed_on_postgres(postgres):
    urls = {point: postgres.new_database() for point in mortal.POINTS}
    return urls, dict(zip(urls, deaths(*({"url": url, "point": point} for point, url in urls.items()))))


# chunks of 4, but a claim of 8 holds two whole groups of 3
DONE_AT_DEATH = dict(zip(mortal.POINTS, (6, 6, 6, 6, 10, 60)))


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("point", mortal.POINTS)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_killed_at_a_named_point(point, database, uninterrupted, request):
    urls, status = request.getfixturevalue(f"killed_on_{database}")
    assert os.WTERMSIG(status[point]) == signal.SIGKILL, f"the driver was not killed {point}"
    with open_store(urls[point]) as store:
        assert store.progress("mine").done == DONE_AT_DEATH[point], "the driver died somewhere else"
        mortal.make_study(store)
        assert drive(store, "mine", runner=mortal.runner).state == "done"
        assert table_of(store) == uninterrupted(database)
        assert store.failures("mine") == []
        assert store.owners("mine") == []


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_killed_at_fifty_random_moments(database, uninterrupted, tmp_path, request):
    draw = random.Random(17)
    if database == "sqlite":
        urls = [f"sqlite:///{tmp_path / str(k)}.db" for k in range(RANDOM_DEATHS)]
    else:
        server = request.getfixturevalue("postgres")
        urls = [server.new_database() for _ in range(RANDOM_DEATHS)]
    deaths(*({"url": url, "after": draw.uniform(0.0, 1.0)} for url in urls))
    done = []
    for url in urls:
        with open_store(url) as store:
            mortal.make_study(store)
            done.append(store.progress("mine").done)
            assert drive(store, "mine", runner=mortal.runner).state == "done"
            assert table_of(store) == uninterrupted(database)
    assert len(set(done)) > 5, f"the deaths came too early or too late to tell: {sorted(done)}"


@pytest.mark.slow
def test_killed_again_and_again(uninterrupted, tmp_path):
    draw = random.Random(18)
    url = f"sqlite:///{tmp_path / 'store.db'}"
    ends = deaths(*({"url": url, "after": draw.uniform(0.01, 0.12)} for _ in range(RANDOM_DEATHS)))
    assert np.sum([os.WIFSIGNALED(end) for end in ends]) > 3
    with open_store(url) as store:
        mortal.make_study(store)
        store.reopen("mine")
        assert drive(store, "mine", runner=mortal.runner).state == "done"
        assert table_of(store) == uninterrupted("sqlite")
