"""Scores run without torch; what runs with numpy and torch alone is in test_nets_bare_machine."""

from __future__ import annotations

import subprocess
import sys


def test_scores_do_not_need_torch():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import unseen.nets as nets\n"
        "grid = {'a': [0, 0, 1, 1], 'b': [0, 1, 0, 1]}\n"
        "print(nets.cmi([1, 2, 3, 4], [1, 2, 3, 4], grid, sizes=(1,)).value > 0.999, nets.kendall_tau([1, 2], [1, 2]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "1.0"]
