"""Random numbers that are computed from keys, so that a net draws the same ones wherever it is trained."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="nets need torch")

import torch

from unseen.nets.training.draws import _at, keep_mask, keys_of


def test_masks_do_not_depend_on_whether_torch_can_reinterpret_numbers(monkeypatch):
    keys, rate = keys_of([3, 4, 5], "dropout"), torch.tensor([0.1, 0.5, 0.9])
    usual, view = keep_mask(keys, rate, (7, 9)), torch.Tensor.view

    def refuse(self, *shape):
        if isinstance(shape[0], torch.dtype):
            raise RuntimeError("Batching rule not implemented for aten::view.dtype")
        return view(self, *shape)

    monkeypatch.setattr(torch.Tensor, "view", refuse)
    assert torch.equal(keep_mask(keys, rate, (7, 9)), usual)


def test_each_hash_gives_four_draws_of_its_own():
    keys, count = keys_of([11], "dropout"), 4000
    hashes = _at(keys, (count // 4,)).numpy()[0].astype(np.uint64)
    parts = np.stack([(hashes >> np.uint64(s)) & np.uint64(0xFFFF) for s in (0, 16, 32, 48)], axis=1).reshape(-1)
    signed = parts.astype(np.int64) - 2**16 * (parts >= 2**15).astype(np.int64)
    floor = round(0.3 * 2**16) - 2**15
    kept = keep_mask(keys, torch.tensor([0.3]), (count,)).numpy()[0]
    assert (kept == (signed >= floor)).all()
    assert abs(kept.mean() - 0.7) < 4 * np.sqrt(0.21 / count)
