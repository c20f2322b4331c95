"""Which program carries a module: the fastest that gives the module's own logits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from unseen.core.errors import InputError
from unseen.nets._device import exact_float32, ran_out
from unseen.nets._layers import norms_of
from unseen.nets._program import Grouped, Plain, Program, Vmapped
from unseen.nets._values import Unbatchable

__all__ = ["choose_program", "described"]


def choose_program(
    net: nn.Module, params: dict[str, Tensor], buffers: dict[str, Tensor], X: Tensor, strategy: str
) -> tuple[Program, str]:
    """Return the fastest way that gives the module's own logits, and why a faster one was not taken."""
    with (
        exact_float32()
    ):  # rounded to TF32, the same net computed in two ways differs by more than the comparison forgives
        return _chosen(net, params, buffers, X, strategy)


def _chosen(
    net: nn.Module, params: dict[str, Tensor], buffers: dict[str, Tensor], X: Tensor, strategy: str
) -> tuple[Program, str]:
    net = net.to(X.device, X.dtype)
    plain = Plain(net)
    few = {k: _telling(v[:2]) for k, v in params.items()}, {k: v[:2].clone() for k, v in buffers.items()}
    with torch.no_grad():
        expected = plain(*few, X[:3], train=False, shared=True)
    apart = None if norms_of(net) or len(X) < 2 else plain
    reasons: list[str] = []
    kinds: dict[str, type] = {"grouped": Grouped, "vmap": Vmapped}
    for name in kinds if strategy == "auto" else {strategy} & set(kinds):
        try:
            program = kinds[name](net)
            _compare(program, few, X, expected, apart)
            if name == "grouped" and X.device.type == "cpu":  # a grouped convolution is slower than a loop there
                program = program.with_convolution("looped")
            return program, "; ".join(reasons)
        except Unbatchable as error:
            reasons.append(str(error))
        except Exception as error:  # vmap and traced graphs raise many kinds, all meaning the same here
            if ran_out(error):
                raise
            reasons.append(str(error).splitlines()[0] if str(error) else type(error).__name__)
        if strategy == name:
            raise InputError(f'strategy="{name}" cannot train this module: {reasons[-1]}.')
    return plain, "asked for" if strategy == "one-by-one" else "; ".join(reasons)


def _compare(program: Program, state: Any, X: Tensor, expected: Tensor, apart: Program | None) -> None:
    """Run a small batch in both modes and refuse a program that does not give the module's own logits.

    `apart` is the module itself, given where examples must not meet: what pads a batch, or a net that rests, has to leave
    no trace. Batch normalisation, where they do meet, leaves both out by masks.
    """
    with torch.no_grad():
        params, buffers = state
        got = program(params, buffers, X[:3].clone(), train=False, shared=True)
        _demand_same(got, expected, "a batched form that does not repeat the module's logits")
        rows, written = torch.stack([X[:3]] * len(got)), [{k: v.clone() for k, v in buffers.items()} for _ in range(2)]
        trained = program(params, written[0], rows.clone(), train=True)
        if apart is None:
            return
        with torch.random.fork_rng(devices=[X.device] if X.device.type == "cuda" else []):
            fewer = apart(params, written[1], rows[:, :-1].clone(), train=True)
        _demand_same(trained[:, :-1], fewer, "a forward pass in which the examples of a batch meet")
        for name, value in buffers.items():
            for after in written:
                _demand_same(after[name], value, f"a forward pass that writes to its buffer {name}")


def _telling(weights: Tensor) -> Tensor:
    """Return weights as they are, or others where all are zero: behind a layer of zeros every program looks right."""
    if bool(weights.any()):
        return weights
    numbers = torch.arange(1, weights.numel() + 1, device=weights.device, dtype=weights.dtype)
    return 0.1 * numbers.sin().reshape(weights.shape)


def _demand_same(got: Tensor, expected: Tensor, otherwise: str) -> None:
    if got.shape != expected.shape or not torch.allclose(got, expected, rtol=1e-3, atol=1e-4, equal_nan=True):
        raise Unbatchable(otherwise)


def described(program: Program, graph: bool, why: str) -> str:
    """Say how nets were trained, and why not faster where they went one by one."""
    if isinstance(program, Plain):
        return f"one by one: {why}"
    return program.how + (", CUDA graph" if graph else "")
