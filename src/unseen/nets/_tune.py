"""The fastest form of a convolutional step on this GPU and for these sizes, found by timing it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace

import torch

from unseen.nets._group import Group, Job
from unseen.nets._program import Grouped, Program, Streamed
from unseen.nets._train import Record

__all__ = ["timed_step", "tuned"]

LOG = logging.getLogger("unseen")
WORTHWHILE_STEPS = 300
TIMED_STEPS = 5


def tuned(job: Job, record: Record, together: int) -> Job:
    """Return the job with the fastest of the batched forms; unchanged where training is too short to be worth it.

    Whether one grouped convolution or a convolution per net is faster depends on channels, batch and the number of nets.
    """
    program = job.program
    steps = -(-int(job.sets.lengths.max()) // job.settings.batch_size) * job.settings.epochs
    if not isinstance(program, Grouped) or not program.convolves or together < 2 or steps < WORTHWHILE_STEPS:
        return job
    looped = program.with_convolution("looped")
    forms: list[Program] = [program, *([looped, Streamed(looped)] if together <= 64 else [])]
    times = [timed_step(replace(job, program=form), range(together), record) for form in forms]
    best = min(range(len(forms)), key=times.__getitem__)
    LOG.debug("seconds per step: %s", {f.how: t for f, t in zip(forms, times)})
    return replace(job, program=forms[best])


def timed_step(job: Job, nets: Sequence[int], record: Record) -> float:
    """Return seconds per step of nets trained together; infinite where the form does not run."""
    chosen = torch.tensor(list(nets), device=job.X.device)
    state = [{k: v[chosen] for k, v in d.items()} for d in (record.params, record.buffers)]
    group = Group(job, nets, state[0], state[1])
    seconds = float("inf")
    with contextlib.suppress(torch.OutOfMemoryError, RuntimeError):
        group.prepare(0)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        group.run_batch(0)
        start.record()
        for _ in range(TIMED_STEPS):
            group.cursor.zero_()
            group.run_batch(0)
        end.record()
        torch.cuda.synchronize()
        seconds = start.elapsed_time(end) / 1000 / TIMED_STEPS
    del group
    torch.cuda.empty_cache()
    return seconds
