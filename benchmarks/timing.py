"""CPU time of a call, and the row every benchmark returns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any


def cpu_seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """Return the smallest CPU time of several calls: noise only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def alternating(ours: Callable[[], Any], peer: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Return the smallest CPU time of each of two calls, run in turn so that both meet the same machine."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for k, call in enumerate((ours, peer)):
            best[k] = min(best[k], cpu_seconds(call, 1))
    return best[0], best[1]


def row(
    name: str, ours: float, peer: float, peer_name: str, target: str, met: bool, remark: str = ""
) -> dict[str, Any]:
    """Return a result: seconds of both, how many times the peer's time ours is, the target and whether it is met."""
    return {
        "benchmark": name,
        "ours (s)": ours,
        "peer (s)": peer,
        "peer": peer_name,
        "peer / ours": peer / ours if ours else float("nan"),
        "target": target,
        "met": "yes" if met else "NO",
        "remark": remark,
    }
