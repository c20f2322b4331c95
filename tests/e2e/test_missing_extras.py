"""With the required packages alone, a command that needs an extra names it in one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = ("sqlalchemy", "psycopg", "dask", "distributed", "starlette", "uvicorn", "torch", "safetensors")
BARE = f"""
import sys

class Without:  # a finder that does not see the packages, as on a machine that lacks them
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *rest):
        return None if name.partition(".")[0] in {PACKAGES!r} else self.finder.find_spec(name, *rest)
    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path = [Without(finder) for finder in sys.meta_path]
from unseen.cli.app import main
sys.argv = ["unseen", *sys.argv[1:]]
main()
"""


def bare(folder, *words):
    return subprocess.run([sys.executable, "-c", BARE, *words], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("study", "run", "s.toml"), "study"),
        (("study", "status"), "study"),
        (("study", "export", "s", "--to", "a.csv"), "study"),
        (("assess", "iris", "--quick", "--store", "sqlite:///a.db"), "study"),
        (("serve",), "web"),
        (("assess", "iris", "--quick", "--scheduler", "local:2"), "dask"),
        (("nets", "estimate", "--module", "m:f", "--weights", "w.safetensors", "--data", "d.npz"), "torch"),
        (("nets", "rank", "--zoo", ".", "--data", "d.npz"), "torch"),
        (("reproduce", "ghane-uci"), "torch"),
    ],
)
def test_the_extra_is_named(tmp_path, words, extra):
    (tmp_path / "s.toml").write_text('name = "s"\n')
    done = bare(tmp_path, *words)
    assert done.returncode == 2, done.stderr
    assert f"unseen[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "words", [("study", "new", "n.toml"), ("reproduce", "--list"), ("nets", "--help"), ("methods",)]
)
def test_what_needs_no_extra_works_without(tmp_path, words):
    done = bare(tmp_path, *words)
    assert done.returncode == 0, done.stderr
