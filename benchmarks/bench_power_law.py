"""Power-law exponents of a network's layers, against weightwatcher."""

from __future__ import annotations

import contextlib
import io
import logging

from benchmarks.timing import alternating, row, same_value


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    import torch
    import weightwatcher

    from unseen.nets import Net, build_measure, make_vgg
    from unseen.nets.measures.alpha import FEWEST_EIGENVALUES

    logging.getLogger("weightwatcher").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = make_vgg(blocks=3, width=64, dense=2).eval()
    net = Net(module, torch.rand(20, 3, 32, 32), torch.arange(20) % 10)
    alpha = build_measure("alpha")

    def peer() -> float:
        with contextlib.redirect_stdout(io.StringIO()):
            found = weightwatcher.WeightWatcher(model=module).analyze(plot=False, randomize=False)
        return float(found["alpha"][found["num_evals"] >= FEWEST_EIGENVALUES].mean())

    ours, theirs = alternating(lambda: alpha(net).value, peer, repeats=5)
    return [
        row(
            "alpha of a VGG of 6 convolutions and 3 dense layers",
            ours,
            theirs,
            against="weightwatcher 0.7.7",
            same=same_value("mean alpha", ours.result, theirs.result, rtol=1e-4),
            target="not slower",
            met=ours.cpu <= theirs.cpu,
            remark=f"the mean over layers of at least {FEWEST_EIGENVALUES} eigenvalues, as ours takes it",
        )
    ]
