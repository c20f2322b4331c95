"""CPU and wall time of a call, by how much two results agree, and the row every benchmark returns."""

from __future__ import annotations

import gc
import math
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

COLUMNS = (
    "benchmark",
    "ours CPU (s)",
    "ours wall (s)",
    "peer CPU (s)",
    "peer wall (s)",
    "peer",
    "CPU ratio",
    "wall ratio",
    "other quantity",
    "same numbers",
    "target",
    "met",
    "remark",
)
EMPTY = "–"
NOISE = 4.0  # Monte-Carlo errors that two random results may differ by: beyond it lies one difference in 16,000


@dataclass(frozen=True)
class Time:
    """What a call took: CPU seconds, its child processes included, and seconds on the clock; and what it returned."""

    cpu: float
    wall: float
    result: Any = field(default=None, repr=False, compare=False)

    def times(self, factor: float) -> Time:
        """Return the time of so many such calls."""
        return Time(self.cpu * factor, self.wall * factor, self.result)


@dataclass(frozen=True)
class Agreement:
    """By how much the numbers of two sides agree, in words, and whether that is enough."""

    text: str
    holds: bool = True

    def also(self, other: Agreement) -> Agreement:
        """Return both agreements as one, which holds if both do."""
        return Agreement(f"{self.text}; {other.text}", self.holds and other.holds)


NO_NUMBERS = Agreement("no numbers")


def cpu_of_processes(workers: bool = False) -> float:
    """Return the CPU seconds of this process and its children that have ended; with `workers`, of those alive too."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = time.process_time() + ended.ru_utime + ended.ru_stime
    if workers:
        import psutil

        for child in psutil.Process().children(recursive=True):
            try:
                found += sum(child.cpu_times()[:4])  # its own, and of its children that have ended
            except psutil.NoSuchProcess:
                continue
    return found


def time_of(call: Callable[[], Any], repeats: int = 5, *, workers: bool = False) -> Time:
    """Return the smallest CPU and wall times of several calls, since noise only ever adds, and the last result.

    With `workers`, the CPU of living child processes counts.
    """
    cpu, wall, result = math.inf, math.inf, None
    for _ in range(repeats):
        result = None  # the result of the call before must not stand beside the next one in memory
        gc.collect()
        begin, start = cpu_of_processes(workers), time.perf_counter()
        result = call()
        wall = min(wall, time.perf_counter() - start)
        cpu = min(cpu, cpu_of_processes(workers) - begin)
    return Time(cpu, wall, result)


def alternating(
    ours: Callable[[], Any], peer: Callable[[], Any], repeats: int = 5, *, workers: bool = False
) -> tuple[Time, Time]:
    """Return the smallest times of each of two calls, run in turn so that both meet the same machine."""
    best = [Time(math.inf, math.inf), Time(math.inf, math.inf)]
    for _ in range(repeats):
        for k, call in enumerate((ours, peer)):
            best[k] = faster(best[k], time_of(call, 1, workers=workers))
    return best[0], best[1]


def faster(before: Time, after: Time) -> Time:
    """Return the smaller CPU and the smaller wall time of two runs of one call, with the later result."""
    return Time(min(before.cpu, after.cpu), min(before.wall, after.wall), after.result)


def same_numbers(ours: Any, peer: Any, what: str, *, rtol: float = 1e-9, atol: float = 1e-12) -> Agreement:
    """Return how many of two lists of numbers differ by more than rounding; none may.

    Examples
    --------
    >>> same_numbers([0.1, 0.2], [0.1, 0.3], "errors")
    Agreement(text='1 of 2 errors differs', holds=False)
    """
    a, b = np.asarray(ours, dtype=float).ravel(), np.asarray(peer, dtype=float).ravel()
    if a.shape != b.shape:
        return Agreement(f"{a.size} and {b.size} {what}", False)
    differ = int(np.sum(~np.isclose(a, b, rtol=rtol, atol=atol)))
    return Agreement(f"{differ:,} of {a.size:,} {what} {'differs' if differ == 1 else 'differ'}", differ == 0 < a.size)


def largest_difference(ours: Any, peer: Any, limit: float, what: str = "") -> Agreement:
    """Return the largest absolute difference of two lists of numbers, which may be at most `limit`.

    Examples
    --------
    >>> largest_difference([1.0, 2.0], [1.0, 2.5], 0.1)
    Agreement(text='largest difference 0.5 (at most 0.1)', holds=False)
    """
    a, b = np.asarray(ours, dtype=float).ravel(), np.asarray(peer, dtype=float).ravel()
    if a.shape != b.shape or not a.size:
        return Agreement(f"{a.size} and {b.size} {what or 'numbers'}", False)
    largest = float(np.max(np.abs(a - b)))
    of = f"{what}: " if what else ""
    return Agreement(f"{of}largest difference {largest:.2g} (at most {limit:.2g})", bool(largest <= limit))


def same_value(what: str, ours: float, peer: float, *, rtol: float = 1e-9) -> Agreement:
    """Return two values that must be equal but for rounding.

    Examples
    --------
    >>> same_value("error", 0.243, 0.243)
    Agreement(text='error 0.243 and 0.243', holds=True)
    """
    a, b = (f"{v:,}" if isinstance(v, int) else f"{v:.6g}" for v in (ours, peer))
    return Agreement(f"{what} {a} and {b}", bool(np.isclose(ours, peer, rtol=rtol, atol=1e-12)))


def within_noise(ours: float, peer: float, error: float, what: str = "") -> Agreement:
    """Return by how many Monte-Carlo errors of their difference two random values differ; four are allowed.

    Examples
    --------
    >>> within_noise(0.5, 0.52, 0.01, "error")
    Agreement(text='error within 2.0 Monte-Carlo errors (0.5 and 0.52; at most 4)', holds=True)
    """
    away = 0.0 if ours == peer else abs(ours - peer) / error if error > 0 else math.inf
    head = f"{what} " if what else ""
    text = f"{head}within {away:.1f} Monte-Carlo errors ({ours:.4g} and {peer:.4g}; at most {NOISE:g})"
    return Agreement(text, bool(away <= NOISE))


def row(
    benchmark: str,
    ours: Time,
    peer: Time | None = None,
    *,
    against: str = "",
    same: Agreement,
    target: str,
    met: bool,
    other: str = "",
    remark: str = "",
) -> dict[str, Any]:
    """Return a result; the target is met if the numbers agree too.

    Parameters
    ----------
    benchmark : str
        What was measured.
    ours, peer : Time
        What it took. A peer of which one clock alone is known has NaN for the other.
    against : str
        Who the peer is.
    same : Agreement
        By how much the numbers of both sides agree.
    target : str
        What is asked for.
    met : bool
        Whether the time, or the other quantity, is what is asked for.
    other : str
        A quantity other than seconds that the row is about, with its unit: an exponent, a memory, a mean value.
    remark : str
        What a reader should know.
    """
    return {
        "benchmark": benchmark,
        "ours CPU (s)": ours.cpu,
        "ours wall (s)": ours.wall,
        "peer CPU (s)": peer.cpu if peer else EMPTY,
        "peer wall (s)": peer.wall if peer else EMPTY,
        "peer": against,
        "CPU ratio": peer.cpu / ours.cpu if peer and ours.cpu else EMPTY,
        "wall ratio": peer.wall / ours.wall if peer and ours.wall else EMPTY,
        "other quantity": other,
        "same numbers": same.text,
        "target": target,
        "met": "yes" if met and same.holds else "NO",
        "remark": remark,
    }


def not_measured(reason: str) -> dict[str, Any]:
    """Return the row of a benchmark that cannot run here."""
    return {**dict.fromkeys(COLUMNS, ""), "benchmark": "not measured", "remark": reason}


def cell(value: Any) -> str:
    """Return a cell's text: a dash where there is nothing, or no number.

    Examples
    --------
    >>> cell(0.123456), cell(""), cell(float("nan")), cell("a | b")
    ('0.123', '–', '–', 'a / b')
    """
    if isinstance(value, (float, np.floating)):
        return f"{value:.3g}" if math.isfinite(value) else EMPTY
    return EMPTY if value in ("", None) else str(value).replace("|", "/")


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cell(r[c]) for c in COLUMNS) + " |" for r in rows]
    return "\n".join(lines)


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the cells of Markdown tables by the names of their columns.

    Examples
    --------
    >>> rows_of("| benchmark | met |" + chr(10) + "|---|---|" + chr(10) + "| LDA | yes |")
    [{'benchmark': 'LDA', 'met': 'yes'}]
    """
    found: list[dict[str, str]] = []
    head: list[str] = []
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif set(cells[0]) != {"-"}:
            found.append(dict(zip(head, cells)))
    return found
