"""Power-law exponents of a network's layers, against weightwatcher."""

from __future__ import annotations

import contextlib
import io
import logging

from benchmarks.timing import alternating, row


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    import torch
    import weightwatcher

    from unseen.nets import Net, build_measure, make_vgg

    logging.getLogger("weightwatcher").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = make_vgg(blocks=3, width=64, dense=2).eval()
    net = Net(module, torch.rand(20, 3, 32, 32), torch.arange(20) % 10)
    alpha = build_measure("alpha")

    def peer() -> float:
        with contextlib.redirect_stdout(io.StringIO()):
            return float(weightwatcher.WeightWatcher(model=module).analyze(plot=False, randomize=False)["alpha"].mean())

    ours, theirs = alternating(lambda: alpha(net).value, peer, repeats=5)
    target = "not slower"
    return [
        row(
            "alpha of a VGG of 6 convolutions and 3 dense layers",
            ours,
            theirs,
            "weightwatcher 0.7.7",
            target,
            ours <= theirs,
        )
    ]
