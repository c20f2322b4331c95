"""Runs reproductions at their default size and writes what they passed to src/unseen/reproduction/verified.csv.

`python tools/verify_reproductions.py larsen-hansen ghane-hcm` runs the named ones and replaces their rows. Those that were run on a GPU are tabulated
from the rows that come with the package, and long ones whose checks were recorded under docs/tables by a run of their own are read from there: `--recorded`.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "src" / "unseen" / "reproduction" / "verified.csv"
COLUMNS = ("experiment", "replications", "seed", "passed", "checks", "agreeing", "judged", "version", "date")
SHIPPED = ("ghane-bayes", "ghane-mnist", "ghane-uci")  # run on a GPU; their rows come with the package
RECORDED = {"ghane-synthetic": "ghane_synthetic_checks.md", "nadeau-bengio": "nadeau_bengio_checks.md"}


def from_run(name: str) -> dict[str, Any]:
    """Run an experiment and return its row."""
    from unseen.reproduction import reproduce

    stored = {"results": "shipped"} if name in SHIPPED else {}
    result = reproduce(name, random_state=0, progress=False, **stored)
    passed = sum(check.passed for check in result.checks)
    agreeing, judged = result.agreeing
    return _row(name, result.replications, 0, passed, len(result.checks), agreeing, judged)


def from_table(name: str, file: str) -> dict[str, Any]:
    """Return the row of a run whose checks are a table of the documentation."""
    text = (ROOT / "docs" / "tables" / file).read_text(encoding="utf-8")
    found = re.match(r"(\d+) replications, seed (\d+): (\d+) of (\d+) judged", text)
    if found is None:
        raise SystemExit(f"{file} does not begin with the size of its run.")
    outcomes = re.findall(r"\| (passed|FAILED) \|$", text, re.M)
    replications, seed, agreeing, judged = map(int, found.groups())
    command = ["git", "log", "-1", "--format=%as", "--", f"docs/tables/{file}"]
    date = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return _row(name, replications, seed, outcomes.count("passed"), len(outcomes), agreeing, judged, date=date)


def _row(*values: Any, date: str = "") -> dict[str, Any]:
    from unseen import __version__

    today = datetime.now(UTC).date().isoformat()
    return dict(zip(COLUMNS, (*values, __version__, date or today), strict=True))


def main() -> int:
    """Update the rows that were asked for."""
    rows: dict[str, dict[str, Any]] = {}
    if FILE.exists():
        with FILE.open(newline="", encoding="utf-8") as file:
            rows = {row["experiment"]: row for row in csv.DictReader(file)}
    names = sys.argv[1:]
    if "--recorded" in names:
        rows |= {name: from_table(name, file) for name, file in RECORDED.items()}
    for name in (n for n in names if n != "--recorded"):
        rows[name] = from_run(name)
        print(rows[name])
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
