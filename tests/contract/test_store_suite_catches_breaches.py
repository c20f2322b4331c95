"""Each rule of the store's contract catches a store that breaks it."""

from __future__ import annotations

import json
from functools import partial

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

from sqlalchemy import text

from unseen.store import claims, open_store, reading, schema, sql_store, studies
from unseen.testing import stores


def forgets_claims(patch):
    patch(claims, "claim", lambda c, study, owner, limit, *rest: claims._waiting(c, study, limit))


def stores_failures_as_done(patch):
    patch(claims, "_count_failed", lambda c, study, bad, most: claims._store(c, study, bad))


def never_gives_up(patch):
    patch(sql_store.SqlStore, "max_attempts", property(lambda self: 10**6, lambda self, value: None), raising=False)


def buries_the_living(patch):
    patch(claims, "renew", lambda *args: None)


def buries_nobody(patch):
    patch(claims, "_expire_leases", lambda *args: None)


def hands_all_suspects_out_at_once(patch):
    patch(claims, "SHRINK", 1)


def cuts_groups(patch):
    patch(
        claims,
        "_waiting",
        lambda c, study, limit: claims._free(
            c, (schema.tasks.c.study == study) & (schema.tasks.c.state == schema.WAITING), (schema.tasks.c.grp,), limit
        ),
    )


def rounds_numbers(patch):
    patch(claims, "_number", lambda value: None if value is None or value != value else float(f"{value:.15g}"))


def overwrites_results(patch):
    patch(
        claims,
        "finish",
        lambda c, study, owner, results, *rest, old=claims.finish: (
            c.execute(text("UPDATE tasks SET state = 1")),
            c.execute(text("DELETE FROM results")),
            old(c, study, owner, results, *rest),
        )[-1],
    )


def divides_by_n(patch):
    old = reading._moments_of
    patch(reading, "_moments_of", lambda x: {**old(x), "deviation_variance": x["dd"] / x["n_pairs"]})


def counts_misses_as_covered(patch):
    patch(reading, "MOMENTS", reading.MOMENTS.replace("BETWEEN r.lower AND r.upper", "BETWEEN r.upper AND r.lower"))


def takes_anything(patch):
    patch(sql_store, "_check_results", lambda results: None)
    patch(studies, "as_json", lambda value, what: json.dumps(value, default=str))


def keeps_old_versions(patch):
    patch(studies, "_drop_outdated", lambda c, study: c.execute(text("UPDATE tasks SET state = 2 WHERE state = 5")))


def ignores_the_seed(patch):
    patch(studies, "_check_same", lambda *args: None)


def ignores_cancellation(patch):
    patch(sql_store.SqlStore, "cancel", lambda self, name: None)


def remembers_attempts(patch):
    patch(
        claims,
        "renew_attempts",
        lambda c, study: c.execute(text("UPDATE tasks SET attempts = 0, deaths = 0, state = 0 WHERE state = 3")),
    )


def charges_for_releases(patch):
    patch(
        claims,
        "release",
        lambda c, study, owner, keep, old=claims.release: (
            c.execute(text("UPDATE tasks SET attempts = attempts + 1, state = 3 WHERE attempts > 0 AND state = 1")),
            c.execute(text("UPDATE tasks SET attempts = attempts + 1 WHERE state = 1")),
            old(c, study, owner, keep),
        )[-1],
    )


def removes_everything(patch):
    patch(sql_store.SqlStore, "remove", lambda self, name: _emptied(self))


def _emptied(store):
    with store._writing() as connection:
        for table in ("results", "tasks", "studies"):
            connection.execute(text(f"DELETE FROM {table}"))


def writes_for_readers(patch):
    patch(sql_store.SqlStore, "_writing", sql_store.SqlStore._reading)


BREACHES = [
    (forgets_claims, stores.no_task_goes_to_two_owners),
    (stores_failures_as_done, stores.failures_are_retried_then_recorded),
    (never_gives_up, stores.failures_are_retried_then_recorded),
    (never_gives_up, stores.deaths_are_bounded_and_narrowed),
    (buries_the_living, stores.leases_run_out),
    (buries_nobody, stores.leases_run_out),
    (hands_all_suspects_out_at_once, stores.deaths_are_bounded_and_narrowed),
    (cuts_groups, stores.groups_stay_together),
    (rounds_numbers, stores.numbers_come_back_exactly),
    (overwrites_results, stores.results_are_stored_once),
    (divides_by_n, stores.moments_agree_with_columns),
    (counts_misses_as_covered, stores.moments_agree_with_columns),
    (takes_anything, stores.only_plain_values_are_kept),
    (keeps_old_versions, stores.raised_versions_run_again),
    (ignores_the_seed, stores.more_can_be_asked_for),
    (ignores_cancellation, stores.cancelling_is_noticed),
    (remembers_attempts, stores.reopening_renews_all_attempts),
    (charges_for_releases, stores.released_tasks_are_as_new),
    (removes_everything, stores.removing_removes_one),
    (writes_for_readers, stores.reading_changes_nothing),
]


@pytest.mark.parametrize(("breach", "check"), BREACHES, ids=lambda x: x.__name__)
def test_breach_is_caught(breach, check, tmp_path, monkeypatch):
    breach(monkeypatch.setattr)
    with pytest.raises(Exception):  # noqa: B017  a broken store may fail in any way, but not pass
        check(partial(open_store, tmp_path / "store.db"))
