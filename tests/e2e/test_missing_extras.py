"""With the required packages alone, a command that needs an extra names it in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from unseen.core.errors import install_line

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
import json, os
from unseen.cli.app import main

for k, words in enumerate(json.load(sys.stdin)):
    child = os.fork()  # a copy of this process for each command, so that none sees what another has loaded
    if not child:
        for descriptor in (1, 2):
            os.dup2(os.open(f"{{k}}.{{descriptor}}", os.O_WRONLY | os.O_CREAT), descriptor)
        sys.argv = ["unseen", *words]
        main()
    open(f"{{k}}.code", "w").write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""
NEED = [
    (("study", "run", "s.toml"), "study"),
    (("study", "status"), "study"),
    (("study", "export", "s", "--to", "a.csv"), "study"),
    (("assess", "iris", "--quick", "--store", "sqlite:///a.db"), "study"),
    (("serve",), "web"),
    (("assess", "iris", "--quick", "--scheduler", "local:2"), "dask"),
    (("nets", "estimate", "--module", "m:f", "--weights", "w.safetensors", "--data", "d.npz"), "torch"),
    (("nets", "rank", ".", "--data", "d.npz"), "torch"),
    (("reproduce", "ghane-uci"), "torch"),
]
WORK = [("study", "new", "n.toml"), ("reproduce", "--list"), ("nets", "--help"), ("methods",)]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Return a function that says how a command ended; all of them run in copies of one process."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "s.toml").write_text('name = "s"\n')
    commands = [*(words for words, _ in NEED), *WORK]
    subprocess.run(
        [sys.executable, "-c", BARE], cwd=folder, input=json.dumps(commands), text=True, timeout=300, check=True
    )

    def ended(words):
        k = commands.index(words)
        code, out, err = ((folder / f"{k}.{end}").read_text() for end in ("code", "1", "2"))
        return subprocess.CompletedProcess(words, int(code), out, err)

    return ended


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("words", "extra"), NEED)
def test_the_extra_is_named(bare, words, extra):
    done = bare(words)
    assert done.returncode == 2, done.stderr
    assert install_line(extra) in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("words", WORK)
def test_what_needs_no_extra_works_without(bare, words):
    done = bare(words)
    assert done.returncode == 0, done.stderr
