"""The house: quick imports, nothing heavy loaded, a wheel that works elsewhere."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("sklearn", "pandas", "matplotlib.pyplot", "torch", "scipy.stats", "pyarrow")


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, **options)


def child_cpu(*arguments: str, below: float) -> float:
    """Return the smallest of at most three CPU times of a child process, as noise only adds; stop at one below the limit."""
    least = math.inf
    for _ in range(3):
        before = os.times()
        assert run(*arguments).returncode == 0
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        least = min(least, spent)
        if least < below:
            break
    return least


def test_import_loads_nothing_heavy():
    code = f"import sys, unseen; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run("-c", code).stdout.strip() == "[]"


def test_import_is_quick():
    assert child_cpu("-c", "import unseen", below=0.3) < 0.3


def test_help_is_quick():
    assert child_cpu("-m", "unseen", "--help", below=0.6) < 0.6


def test_version_is_told_once():
    import unseen

    assert run("-m", "unseen", "--version").stdout.strip() == f"unseen {unseen.__version__}"


def test_public_names_all_load():
    import unseen

    for name in unseen.__all__:
        assert getattr(unseen, name) is not None


def test_no_machine_path_or_author_in_the_tree():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix in {".png", ".npz", ".gz", ".xz"} or path == Path(__file__) or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        assert "/root/" not in text, name
        assert "/work/" not in text, name


def test_wheel_runs_the_demo_from_another_folder(tmp_path):
    """Install the built wheel in a clean environment that borrows only the third-party packages of this one."""
    built = run("-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=ROOT)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.stat().st_size < 2_000_000
    with zipfile.ZipFile(wheel) as parts:
        data = [
            i for i in parts.infolist() if not i.filename.endswith((".py", ".pyi")) and "dist-info" not in i.filename
        ]
    assert sum(i.compress_size for i in data) < 200_000, "what only studies need belongs in studies/, not in the wheel"
    env = tmp_path / "env"
    assert run("-m", "venv", "--without-pip", str(env)).returncode == 0
    python = env / "bin" / "python"
    site = Path(
        subprocess.check_output(
            [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], text=True
        ).strip()
    )
    installed = run("-m", "pip", "--python", str(python), "install", "-q", "--no-deps", str(wheel))
    assert installed.returncode == 0, installed.stderr
    (site / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [
        env / "bin" / "unseen",
        "assess",
        "iris",
        "--model",
        "lda",
        "--effort",
        "splits=10,leave_out=20",
        "--report",
        "r.html",
        "--json",
        "--quiet",
    ]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert 0 <= json.loads(done.stdout)["error"] < 0.2
    assert "<svg" in (elsewhere / "r.html").read_text()
    where = subprocess.check_output([python, "-c", "import unseen; print(unseen.__file__)"], cwd=elsewhere, text=True)
    assert str(env) in where
    listing = subprocess.run(
        [env / "bin" / "unseen", "reproduce", "--list"], cwd=elsewhere, capture_output=True, text=True
    )
    assert listing.returncode == 0, listing.stderr
    assert (site / "unseen" / "py.typed").exists()
    assert (site / "unseen" / "__init__.pyi").exists()
