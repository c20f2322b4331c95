"""Start-up: what it costs to import the package and to ask for help."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import NO_NUMBERS, Time, alternating, row


def child_times(ours: list[str], peer: list[str], repeats: int = 7) -> tuple[Time, Time]:
    """Return the smallest times of two child processes, run in turn."""

    def start(arguments: list[str]) -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    return alternating(lambda: start(ours), lambda: start(peer), repeats)


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    own, numpy = child_times(["-c", "import unseen"], ["-c", "import numpy"])
    help_, sklearn = child_times(["-m", "unseen", "--help"], ["-c", "import sklearn.model_selection"])
    return [
        row(
            "import unseen",
            own,
            numpy,
            against="import numpy",
            same=NO_NUMBERS,
            target="under 0.3 s",
            met=own.cpu < 0.3,
        ),
        row(
            "unseen --help",
            help_,
            sklearn,
            against="import sklearn.model_selection",
            same=NO_NUMBERS,
            target="under 0.6 s",
            met=help_.cpu < 0.6,
        ),
    ]
