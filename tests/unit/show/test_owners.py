"""A record is shown by its owner alone: a report of a support vector machine loads no flat of another subject."""

from __future__ import annotations

import json
import os
import subprocess
import sys

CHILD = """
import json, sys
import unseen
from sklearn.svm import SVC

data = unseen.datasets.load("iris").take(range(20, 120, 2))
a = unseen.assess(SVC(), data, random_state=0, effort="splits=4,bootstrap=4")
a.report(sys.argv[1])
print(json.dumps(sorted(name for name in sys.modules if name.startswith("unseen."))))
"""


def test_the_report_of_an_assessment_loads_the_flat_of_its_record_alone(tmp_path):
    page = tmp_path / "a.html"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", CHILD, str(page)], capture_output=True, text=True, env=env, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "All estimates" in page.read_text()
    assert "unseen.assessment.sections" in loaded
    flats = {name.split(".")[1] for name in loaded}
    assert not flats & {
        "comparison",
        "diagnosis",
        "kinetics",
        "nets",
        "planning",
        "study",
        "reproduction",
        "web",
        "cli",
    }
