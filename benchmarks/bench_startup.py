"""Start-up: what it costs to import the package and to ask for help."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from benchmarks.timing import row


def child_cpu(arguments: list[str], repeats: int = 7) -> float:
    """Return the smallest CPU time of a child process."""
    best = float("inf")
    for _ in range(repeats):
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = os.times()
        best = min(best, after.children_user + after.children_system - before.children_user - before.children_system)
        time.sleep(0.05)
    return best


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    numpy = child_cpu(["-c", "import numpy"])
    own = child_cpu(["-c", "import unseen"])
    sklearn = child_cpu(["-c", "import sklearn.model_selection"])
    help_ = child_cpu(["-m", "unseen", "--help"])
    return [
        row("import unseen", own, numpy, "import numpy", "under 0.3 s", own < 0.3),
        row("unseen --help", help_, sklearn, "import sklearn.model_selection", "under 0.6 s", help_ < 0.6),
    ]
