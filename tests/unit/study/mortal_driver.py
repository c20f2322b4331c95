"""Drives studies in child processes that kill themselves at a named point, or are killed at a given moment.

Called as `python mortal_driver.py` with a JSON list of deaths on stdin: {"url", "point"} or {"url", "after"}. Every death happens in a
fork of this process, which itself opens nothing; prints the exit status of each child.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time

POINTS = ("before-claim", "after-claim", "mid-chunk", "before-commit", "after-commit", "during-summary")
CELLS, REPLICATIONS = 3, 20


def make_study(store, name="mine", replications=REPLICATIONS):
    from unseen.store import TaskRow

    cells = [{"method": f"m{k}"} for k in range(CELLS)]
    rows = [TaskRow(f"{c:03d}-{r:05d}", c, r, r) for r in range(replications) for c in range(CELLS)]
    store.add_study(name, "study", {"seed": 5}, cells, rows)


def result_of(row):
    """Return numbers that follow from the task alone."""
    from unseen.core.rng import stream
    from unseen.store import TaskResult

    draw = stream(5, row.cell, row.replication)
    truth, noise = draw.uniform(0.1, 0.3), draw.normal(0, 0.05)
    extra = json.dumps({"draw": draw.uniform()}) if row.cell == 0 else ""
    return TaskResult(
        row.id,
        estimate=truth + noise,
        truth=truth,
        lower=truth + noise - 0.1,
        upper=truth + noise + 0.1,
        spread=None,
        p_value=draw.uniform(),
        seconds=0.001,
        extra=extra,
    )


def runner(spec, cells, rows):
    time.sleep(0.002 * len(rows))
    return [result_of(row) for row in rows]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def deadly(call, turn, before):
    """Return `call` as it was, but for its turn-th use, which dies before or after."""
    uses = iter(range(1, 10**6))

    def wrapped(*args, **options):
        use = next(uses)
        if before and use == turn:
            die()
        answer = call(*args, **options)
        if not before and use == turn:
            die()
        return answer

    return wrapped


def arm(store, point):
    """Make a store, or the runner that is returned, kill this process at a point."""
    from sqlalchemy import event

    if point in ("before-claim", "after-claim"):
        store.claim = deadly(store.claim, 2, point == "before-claim")
    if point == "after-commit":
        store.finish = deadly(store.finish, 3, False)
    if point == "before-commit":
        finish = store.finish

        def finish_without_commit(*args):
            turn.append(1)
            if len(turn) == 3:
                event.listen(store.engine, "commit", lambda connection: die())
            return finish(*args)

        turn: list[int] = []
        store.finish = finish_without_commit
    if point == "during-summary":
        from unseen.store import reading

        reading._moments_of = lambda sums: die()
    if point == "mid-chunk":
        left = [10]

        def dying_runner(spec, cells, rows):
            for row in rows:
                left[0] -= 1
                if left[0] == 0:
                    die()
                result_of(row)
            return runner(spec, cells, rows)

        return dying_runner
    return runner


def live(url, point=None):
    from unseen.store import open_store
    from unseen.study.driver import drive

    store = open_store(url)
    make_study(store)
    drive(store, "mine", chunk=4, runner=arm(store, point))
    store.moments("mine")


def death(url, point=None, after=math.inf):
    """Return the exit status of a child that drives the study of a store until it dies."""
    child = os.fork()
    if child == 0:
        try:
            live(url, point)
        finally:
            os._exit(0)
    if after < math.inf:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def main():
    import unseen.store.sql_store
    import unseen.study.driver  # noqa: F401  so that children start at once

    json.dump([death(**one) for one in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
