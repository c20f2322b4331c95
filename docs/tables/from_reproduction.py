"""Turns the JSON of `unseen reproduce NAME --json` into the tables the pages include: checks, and cells as CSV."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Read the JSON named on the command line."""
    result = json.loads(Path(sys.argv[1]).read_text())
    name = result["experiment"].replace("-", "_")
    lines = ["| check | value | limits | outcome |", "|---|---:|---|---|"]
    for check in result["checks"]:
        outcome = "passed" if check["passed"] else "FAILED"
        name_shown = check["check"].replace("|", "\\|")
        lines.append(f"| {name_shown} | {check['value']:.3g} | {check['limits']} | {outcome} |")
    head = (
        f"{result['replications']} replications, seed {result['seed']}: {result['agreeing']} of {result['judged']} judged cells "
        "agree within 3 Monte-Carlo errors."
    )
    (HERE / f"{name}_checks.md").write_text("\n".join([head, "", *lines]) + "\n")
    with (HERE / f"{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "cell", "published", "ours", "z", "verdict"])
        for cell in result["cells"]:
            numbers = ["" if cell[k] is None else f"{cell[k]:.5g}" for k in ("published", "ours")]
            writer.writerow(
                [
                    cell["table"],
                    cell["cell"],
                    *numbers,
                    "" if cell["z"] is None else f"{cell['z']:.2f}",
                    cell["verdict"],
                ]
            )


if __name__ == "__main__":
    main()
