"""The choice among ways to batch a net is made in exact float32, whatever training may round to."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="nets need torch")

from unseen.nets import fit_many, make_mlp
from unseen.nets.training import executors


def test_tf32_is_off_while_ways_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, compare = [], executors._compare

    def watched(*arguments: object) -> None:
        seen.append((torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32))
        compare(*arguments)

    monkeypatch.setattr(executors, "_compare", watched)
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    rng = np.random.default_rng(0)
    fit_many(
        make_mlp,
        rng.normal(size=(20, 3)),
        np.arange(20) % 2,
        seeds=[0, 1],
        epochs=1,
        stop="none",
        tf32=True,
        device="cpu",
    )
    assert seen == [(False, False)]
    assert (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32) == before
