"""Bolstered error of a LeNet-5: through torch on its own device against the tabular estimator that asks `predict`, on a CPU."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from benchmarks.timing import alternating, row, within_noise

ROWS, POINTS = 100, 20


def run() -> list[dict]:
    """Return the rows of this benchmark; none without torch."""
    if find_spec("torch") is None:
        return []
    import torch

    from unseen import nets, resubstitution

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 10  # classes so close that a trained net errs on some noisy images
    X = (0.2 * rng.random((10, 784))[y] + 0.8 * rng.random((ROWS, 784))).astype(np.float32)
    options = {"epochs": 30, "lr": 0.003, "optimizer": "adam", "stop": "none", "device": "cpu", "random_state": 0}
    net = nets.Classifier(nets.make_lenet5, input_shape=(1, 28, 28), **options).fit(X, y)
    ours, tabular = alternating(
        lambda: nets.estimate(net, X, y, method="naive-bayes-bolster", n_mc=POINTS, random_state=0),
        lambda: resubstitution.naive_bayes_bolster(net, X, y, n_mc=POINTS, random_state=0),
        3,
    )
    a, b = ours.result, tabular.result
    return [
        row(
            f"naive-Bayes bolster of LeNet-5, {ROWS} x {POINTS} images",
            ours,
            tabular,
            against="unseen.resubstitution on the same net",
            same=within_noise(a.value, b.value, float(np.hypot(a.mc_error, b.mc_error)), "error"),
            target="no slower",
            met=tabular.cpu >= 0.95 * ours.cpu,
            remark=f"{1e6 * ours.cpu / (ROWS * POINTS):.0f} us per noisy image; the other draws and judges "
            "the same integral in numpy's float64",
        )
    ]
