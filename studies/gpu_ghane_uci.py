"""The UCI experiment on a machine with a GPU and many cores, numpy and torch alone; resumable, rows written as they come.

python3 studies/gpu_ghane_uci.py --data carry/fd121 --out "$OUT" --budget 480 --cores 13 --shared 3

Nets of one set and depth are trained side by side. Groups with little arithmetic in a step are too small to fill a GPU: they go to single cores, `--cores` at a time;
the others go to the GPU, `--shared` processes at a time. With `--cores 0` or `--shared 0` that kind is left for another call.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import os
import queue
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from unseen.reproduction.ghane_uci.runs import (
    DEPTHS,
    ROWS,
    TrainTest,
    UciSetting,
    read_set,
    run_set,
    sets_in,
)

HEAVY = 1e8


def operations(data: TrainTest, depth: int) -> float:
    """Return the floating-point operations of one step of eight nets, padded to the widest."""
    n, d = data.X.shape
    width = max(8 * d, 40)
    return 8 * 6 * max(1, round(n / 10)) * (d * width + (depth - 1) * width**2 + width * data.n_classes)


def work(tasks, results, folder: str, setting: UciSetting, device: str) -> None:
    """Take (set, depth) pairs until none is left."""
    import torch

    torch.set_num_threads(1)
    while True:
        try:
            name, depth = tasks.get(timeout=1.0)
        except queue.Empty:
            return
        begun = time.perf_counter()
        try:
            (rows,) = run_set(read_set(folder, name, setting.fold), setting, device=device, depths=(depth,))
        except Exception as error:  # one set must not end the others
            results.put((name, depth, [], f"{type(error).__name__}: {error}", time.perf_counter() - begun))
        else:
            results.put((name, depth, rows, device, time.perf_counter() - begun))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--done", help="CSV of rows that need not be run again")
    parser.add_argument("--budget", type=float, default=480.0)
    parser.add_argument("--cores", type=int, default=13)
    parser.add_argument("--shared", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=800)
    parser.add_argument("--sets", default="")
    given = parser.parse_args()
    start = time.perf_counter()
    out = Path(given.out) / "ghane_uci.csv"
    rows = ROWS.read(out) + (ROWS.read(Path(given.done)) if given.done else [])
    done = {(row["set"], row["depth"]) for row in rows}
    wanted = [name for name in sets_in(given.data) if not given.sets or name in given.sets.split(",")]
    pairs = [(name, depth) for name in wanted for depth in DEPTHS if (name, depth) not in done]
    data = {name: read_set(given.data, name, 1) for name in {name for name, _ in pairs}}
    pairs.sort(
        key=lambda pair: -operations(data[pair[0]], pair[1])
    )  # the longest first, so that none is left for the end
    heavy = [pair for pair in pairs if operations(data[pair[0]], pair[1]) > HEAVY]
    light = [pair for pair in pairs if pair not in heavy]
    os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    context = mp.get_context("spawn")
    for_cores, for_gpu, results = context.Queue(), context.Queue(), context.Queue()
    for tasks, some in ((for_cores, light), (for_gpu, heavy)):
        for pair in some:
            tasks.put(pair)
    pairs = light * bool(given.cores) + heavy * bool(given.shared)
    kinds = [(for_cores, "cpu")] * given.cores + [(for_gpu, "cuda")] * given.shared
    setting = UciSetting(epochs=given.epochs)
    workers = [
        context.Process(target=work, args=(q, results, given.data, setting, device), daemon=True) for q, device in kinds
    ]
    for worker in workers:
        worker.start()
    left = len(pairs)
    while left and time.perf_counter() - start < given.budget and any(w.is_alive() for w in workers):
        try:
            name, depth, made, how, seconds = results.get(timeout=2.0)
        except queue.Empty:
            continue
        left -= 1
        if made:
            ROWS.append(out, made)
        print(f"{time.perf_counter() - start:7.1f} s  {name} depth {depth}: {how}, {seconds:.1f} s", flush=True)
    for worker in workers:
        worker.kill()
    print(f"{left} of {len(pairs)} groups left after {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
