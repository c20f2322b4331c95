"""Which form of convolution is fastest on this card for these nets: tried and timed, as libraries do with their algorithms."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

import torch
from torch import Tensor

from unseen.nets._fits import ran_out
from unseen.nets._product_convolution import as_products
from unseen.nets._program import Grouped, Program

__all__ = ["fastest_form"]

LOG = logging.getLogger("unseen")
WARM_UP, TIMED = 2, 5


def fastest_form(
    program: Program, params: dict[str, Tensor], buffers: dict[str, Tensor], X: Tensor, batch_size: int
) -> Program:
    """Return the program with the form of convolution whose step (forward and backward) is fastest; on a CPU, the program itself."""
    if (
        not isinstance(program, Grouped)
        or X.device.type != "cuda"
        or not any(map(as_products, program.modules.values()))
    ):
        return program
    seconds = {}
    for form in ("grouped", "products"):
        try:
            seconds[form] = _seconds(program.with_convolution(form), params, buffers, X, batch_size)
        except (
            RuntimeError
        ) as error:  # too large, or a step that no graph can hold: training itself finds that out and says so
            seconds[form] = math.inf
            if ran_out(error):
                torch.cuda.empty_cache()
    LOG.info("step of %d nets: %s", len(next(iter(params.values()))), seconds)
    return program.with_convolution(min(seconds, key=lambda form: seconds[form]))


def _seconds(
    program: Program, params: dict[str, Tensor], buffers: dict[str, Tensor], X: Tensor, batch_size: int
) -> float:
    """Return the shortest of a few replays of one captured step."""
    nets = len(next(iter(params.values())))
    rows = torch.arange(nets * batch_size, device=X.device) % len(X)
    x = X.index_select(0, rows).unflatten(0, (nets, batch_size))
    weights = {k: v.detach().clone().requires_grad_(v.is_floating_point()) for k, v in params.items()}
    state = {k: v.clone() for k, v in buffers.items()}

    def step() -> None:
        logits = program(weights, state, x, train=True)
        torch.autograd.grad(logits.square().mean(), list(weights.values()), allow_unused=True)

    return _timed(_captured(step))


def _captured(step: Callable[[], None]) -> Callable[[], None]:
    """Return a replay of the step as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def _timed(run: Callable[[], None]) -> float:
    run()
    best = math.inf
    for _ in range(TIMED):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) / 1000)
    return best
