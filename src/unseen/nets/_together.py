"""As many nets together as memory allows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from unseen.core.errors import FitError
from unseen.engine.events import reporter_for
from unseen.nets._fits import ran_out
from unseen.nets._group import Job, NotCaptured
from unseen.nets._program import Plain
from unseen.nets._train import Record, train_group

__all__ = ["train_all"]

LOG = logging.getLogger("unseen")
MEMORY = "memory ran out"


def train_all(
    job: Job, params: dict[str, Tensor], buffers: dict[str, Tensor], max_together: int | None, progress: Any
) -> tuple[Job, Record, list[str]]:
    """Train all nets, as many together as memory allows; return the job as it was last run, and notes."""
    count = len(job.seeds)
    notes: list[str] = []
    record = Record.empty(params, buffers)
    size = 1 if isinstance(job.program, Plain) else min(count, max_together or count)
    reporter = reporter_for(progress if find_spec("rich") or not isinstance(progress, (bool, type(None))) else False)
    reporter.expect(count * job.settings.epochs, "net epochs")
    start = 0
    try:
        while start < count:
            nets = range(start, min(start + size, count))
            trouble = _trouble(job, nets, record, reporter.advance)
            if not trouble:
                reporter.advance(sum(job.settings.epochs - int(record.epochs[i]) for i in nets))
                start += len(nets)
                continue
            _rewind(record, params, buffers, nets)
            if trouble == MEMORY:
                job, size = _with_less(job, size)
                notes.append(f"memory ran out with {len(nets)} nets together: {size} at a time from net {start} on.")
            else:
                job = replace(job, graph=False)
                notes.append(f"the step could not be captured as a CUDA graph and runs without: {trouble}")
            LOG.info(notes[-1])
    finally:
        reporter.close()
    return job, record, notes


def _trouble(job: Job, nets: Sequence[int], record: Record, advance: Callable[[int], None]) -> str:
    """Train nets together; return what went wrong, if it can be helped, with all that the attempt held let go."""
    try:
        train_group(job, nets, record, advance)
    except NotCaptured as error:
        return str(error)
    except (torch.OutOfMemoryError, RuntimeError) as error:
        if not ran_out(error):
            raise
        return MEMORY
    return ""


def _rewind(record: Record, params: dict[str, Tensor], buffers: dict[str, Tensor], nets: Sequence[int]) -> None:
    """Put the nets of a failed attempt back to their first weights."""
    for store, first in ((record.params, params), (record.buffers, buffers)):
        for name, value in first.items():
            store[name][list(nets)] = value[list(nets)]
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _with_less(job: Job, size: int) -> tuple[Job, int]:
    """Return a job and a number of nets that ask for half the memory."""
    if size == 1 and job.eval_batch <= 1:
        raise FitError("memory ran out with one net and one example at a time; use a smaller batch_size or module.")
    return replace(job, eval_batch=max(1, job.eval_batch // 2)), max(1, size // 2)
