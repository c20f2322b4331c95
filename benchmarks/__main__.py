"""Runs every `bench_*.py` and writes RESULTS.md, going on where it stopped; those named on the command line are only printed."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import ast
import hashlib
import importlib
import pkgutil
import platform
import shutil
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.pictures import write_ratios
from benchmarks.timing import markdown, not_measured

HERE = Path(__file__).parent
KEPT = HERE.parent / ".benchmarks"  # tables of a whole run that is not over
PACKAGES = ("unseen", "numpy", "scipy", "scikit-learn", "mlxtend", "lmfit", "baycomp", "statsmodels")


def versions() -> str:
    """Return the versions of what was measured."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def title_of(name: str) -> str:
    """Return the first line of a benchmark's docstring, read without importing it."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())) or name
    return text.strip().splitlines()[0]


def measured(name: str) -> tuple[str, float]:
    """Return the table of a benchmark and the seconds it took; a peer that is not installed is a row that says so."""
    start = time.perf_counter()
    try:
        rows = importlib.import_module(f"benchmarks.{name}").run()
    except ImportError as error:
        rows = [not_measured(f"{error.name or 'a peer'} is not installed")]
    return markdown(rows), time.perf_counter() - start


def stamp() -> str:
    """Return the state of the code: a table that was made of another one is made again."""
    digest = hashlib.sha256()
    for path in sorted([*HERE.glob("*.py"), *(HERE.parent / "src").rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Run, print and write. A whole run that was stopped goes on where it stopped, unless the code has changed."""
    wanted = {name.removeprefix("bench_") for name in sys.argv[1:]}
    names = sorted(m.name for m in pkgutil.iter_modules([str(HERE)]) if m.name.startswith("bench_"))
    unknown = wanted - {n.removeprefix("bench_") for n in names}
    if unknown:
        known = ", ".join(n.removeprefix("bench_") for n in names)
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are {known}.")
    if wanted:
        for name in names:
            if name.removeprefix("bench_") in wanted:
                table, seconds = measured(name)
                print(f"\n{title_of(name)}\n{table}\n{name}: {seconds:.0f} s", flush=True)
        return
    kept = KEPT / stamp()
    kept.mkdir(parents=True, exist_ok=True)
    for name in names:
        file = kept / f"{name}.md"
        if not file.exists():
            table, seconds = measured(name)
            file.write_text(f"## {title_of(name)}\n\n{table}\n")
            print(f"\n{file.read_text()}\n{name}: {seconds:.0f} s", flush=True)
    head = (
        "# Benchmarks\n\nWritten by `make bench`. Seconds of CPU (child processes included) and on the clock, one BLAS thread, "
        "the smallest of several alternating runs. Ratios are the peer's over ours, both measured in the same minute on the "
        'same machine. A row about something else than time has it, with its unit, under "other quantity". "same numbers" '
        "says by how much the results agree with the peer's, or with a reference of another origin; a target is met only if "
        "they do. A dash stands where there is nothing.\n\n![Ratios of time, peers to unseen](ratios.svg)\n\n"
        f"Python {platform.python_version()}, {versions()}.\n"
    )
    (HERE / "RESULTS.md").write_text(head + "\n" + "\n".join((kept / f"{name}.md").read_text() for name in names))
    write_ratios()
    shutil.rmtree(kept)


if __name__ == "__main__":
    main()
