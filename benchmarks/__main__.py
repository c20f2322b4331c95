"""Runs every `bench_*.py` (or those named on the command line) and writes RESULTS.md."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import importlib
import pkgutil
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.pictures import write_ratios

HERE = Path(__file__).parent
COLUMNS = ("benchmark", "ours (s)", "peer (s)", "peer", "peer / ours", "target", "met", "remark")
PACKAGES = ("unseen", "numpy", "scipy", "scikit-learn", "mlxtend", "lmfit", "baycomp", "statsmodels")


def cell(value: Any) -> str:
    """Return a cell's text."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cell(r.get(c, "")) for c in COLUMNS) + " |" for r in rows]
    return "\n".join(lines)


def versions() -> str:
    """Return the versions of what was measured."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> None:
    """Run, print and write."""
    wanted = set(sys.argv[1:])
    names = [m.name for m in pkgutil.iter_modules([str(HERE)]) if m.name.startswith("bench_")]
    parts = []
    for name in sorted(names):
        if wanted and name not in wanted and name.removeprefix("bench_") not in wanted:
            continue
        module = importlib.import_module(f"benchmarks.{name}")
        title = (module.__doc__ or name).strip().splitlines()[0]
        print(f"\n{title}", flush=True)
        table = markdown(module.run())
        print(table, flush=True)
        parts.append(f"## {title}\n\n{table}\n")
    if not wanted:
        head = (
            "# Benchmarks\n\nWritten by `make bench`. CPU seconds, one BLAS thread, smallest of several alternating runs; "
            "ratios compare runs of the same minute on the same machine.\n\n![Ratios of CPU time, peers to unseen](ratios.svg)\n\n"
            f"Python {platform.python_version()}, {versions()}.\n"
        )
        (HERE / "RESULTS.md").write_text(head + "\n" + "\n".join(parts))
        write_ratios()


if __name__ == "__main__":
    main()
