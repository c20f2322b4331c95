"""The UCI experiment on a GPU machine with numpy and torch alone; resumable, rows written as they come.

python3 benchmarks/gpu_ghane_uci.py --data carry/fd121 --out "$OUT" --budget 200
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from unseen.reproduce._ghane_uci_runs import DEPTHS, Setting, append_rows, finished_rows, read_set, run_set, sets_in


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--done", help="CSV of rows that need not be run again")
    parser.add_argument("--budget", type=float, default=500.0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=800)
    parser.add_argument("--sets", default="")
    given = parser.parse_args()
    start = time.perf_counter()
    out = Path(given.out) / "ghane_uci.csv"
    rows = finished_rows(out) + (finished_rows(Path(given.done)) if given.done else [])
    done = {(row["set"], row["depth"]) for row in rows}
    wanted = [name for name in sets_in(given.data) if not given.sets or name in given.sets.split(",")]
    for name in wanted:
        missing = [depth for depth in DEPTHS if (name, depth) not in done]
        begun = time.perf_counter()
        for made in run_set(
            read_set(given.data, name, 1), Setting(epochs=given.epochs), device=given.device, depths=missing
        ):
            append_rows(out, made)
            if time.perf_counter() - start > given.budget:
                print(f"budget spent at {name}, depth {made[0]['depth']}", flush=True)
                return
        if missing:
            print(f"{time.perf_counter() - start:7.1f} s  {name} in {time.perf_counter() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
