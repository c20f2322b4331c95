"""Scores and measures run with numpy and torch alone, as on a bare GPU machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="measures of generalization need torch")

BARE = """
import builtins

usual = builtins.__import__
absent = {"scipy", "sklearn", "pandas", "matplotlib", "joblib", "narwhals", "typer", "jinja2"}

def refusing(name, globals=None, *rest, **options):
    if name.split(".")[0] in absent and (globals or {}).get("__name__", "").startswith("unseen"):
        raise ModuleNotFoundError(f"{globals['__name__']} imports {name}", name=name)
    return usual(name, globals, *rest, **options)

builtins.__import__ = refusing
import unseen.nets as nets

net = nets.sample_net("conv")
for name in "%s".split():
    nets.build_measure(name)(net, draws=2)
gap = [0.1, 0.2, 0.3, 0.4, 0.15, 0.25, 0.36, 0.45]
grid = {"a": [0, 0, 0, 0, 1, 1, 1, 1], "b": [0, 0, 1, 1] * 2, "c": [0, 1] * 4}
print(nets.cmi(gap, gap, grid).noise_floor(9).n_permutations)
print(nets.augmentation_sheet(net.X_train[:1]))
"""
MEASURES = "par-search multi-augment weighted-augment dbi-mixup mixup-margin augment-margin always-generalize vpm wcv vr kv-margin kv-gn-margin"


def test_scores_and_measures_need_numpy_and_torch_alone():
    done = subprocess.run([sys.executable, "-c", BARE % MEASURES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "9"


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
