"""A driver as a process of its own: `python driver_process.py URL SIDE-FILE SECONDS-PER-TASK [n_jobs]`.

Writes one line per task that is run to the side file, and ends as the command line would: message on stderr, exit code 3 when partial.
"""

from __future__ import annotations

import os
import sys
import time


def make_runner(side, seconds):
    def runner(spec, cells, rows):
        from unseen.core.rng import stream
        from unseen.store import TaskResult

        results = []
        for row in rows:
            with open(side, "a") as file:  # one short line: written whole
                file.write(f"{row.id} {os.getpid()}\n")
            time.sleep(seconds)
            results.append(TaskResult(row.id, estimate=stream(5, row.cell, row.replication).random(), seconds=seconds))
        return results

    return runner


def main(url, side, seconds, n_jobs="1"):
    from unseen.core.errors import PartialRun, Paused
    from unseen.store import open_store
    from unseen.study.driver import drive

    store = open_store(url)
    try:
        made = drive(store, "mine", n_jobs=int(n_jobs), chunk=5, runner=make_runner(side, float(seconds)))
    except (Paused, PartialRun) as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    sys.exit(0 if made.state == "done" else 3)


if __name__ == "__main__":
    main(*sys.argv[1:])
