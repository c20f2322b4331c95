"""Estimates, posteriors, loaders, the monitor, scores and measures run where numpy and torch are the only packages installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

CODE = """
import sys
from importlib.machinery import PathFinder

ABSENT = {"scipy", "sklearn", "pandas", "matplotlib", "joblib", "rich", "typer", "narwhals", "jinja2", "safetensors", "PIL"}

class Bare:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.split(".")[0] in ABSENT else PathFinder.find_spec(name, path, target)

sys.meta_path = [Bare if finder is PathFinder else finder for finder in sys.meta_path]
import numpy as np
import torch
import unseen.nets as nets

MEASURES = "par-search multi-augment weighted-augment dbi-mixup mixup-margin augment-margin always-generalize vpm wcv vr kv-margin kv-gn-margin"

X = np.random.default_rng(0).standard_normal((24, 3)).astype(np.float32)
y = (X[:, 0] > 0).astype(int)
training = dict(epochs=3, batch_size=8, lr=0.1, stop="none")
net = nets.fit_many(nets.make_mlp, X, y, None, seeds=[0], device="cpu", **training).module(0)
for method in ("resub", "bolster", "naive-bayes-bolster", "calibrated-bolster", "posterior", "bolster-posterior"):
    print(nets.estimate(net, X, y, method=method, n_mc=4, repeats=2, training=training, random_state=0))
p = nets.posterior(net, X, y, sampler="sgld", n_samples=4, burn_in=5, thin=1, random_state=0)
print(nets.estimate(None, X, y, method="bayesian-bolster", posterior=p, n_mc=4, random_state=0))
watch = nets.Monitor(net, X[:12], y[:12], X[12:], y[12:])
print(watch()["epoch"], watch.progress.best, len(nets.read_examples((X, y))))

sample = nets.sample_net("conv")
for name in MEASURES.split():
    nets.build_measure(name)(sample, draws=2)
gap = [0.1, 0.2, 0.3, 0.4, 0.15, 0.25, 0.36, 0.45]
grid = {"a": [0, 0, 0, 0, 1, 1, 1, 1], "b": [0, 0, 1, 1] * 2, "c": [0, 1] * 4}
print(nets.augmentation_sheet(sample.X_train[:1]))
print(nets.cmi(gap, gap, grid).noise_floor(9).n_permutations)
from unseen.reproduction.ghane_mnist.runs import MnistSetting
print(MnistSetting().lr)
"""


@pytest.mark.slow
@pytest.mark.sample
def test_numpy_and_torch_are_enough():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["9", "0.02"]
