"""As many nets together as memory allows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from unseen.core.errors import FitError
from unseen.engine.events import reporter_for
from unseen.nets._device import ran_out
from unseen.nets._group import EvaluationTooLarge, Job, NotCaptured
from unseen.nets._program import Plain
from unseen.nets._train import Record, train_group

__all__ = ["train_all"]

LOG = logging.getLogger("unseen")
TRAINING, EVALUATION = "training", "evaluation"  # where memory ran out


def train_all(
    job: Job, params: dict[str, Tensor], buffers: dict[str, Tensor], max_together: int | None, progress: Any
) -> tuple[Job, Record, list[str]]:
    """Train all nets, as many together as memory allows; return the job as it was last run, and notes."""
    count = len(job.seeds)
    notes: list[str] = []
    record = Record.empty(params, buffers)
    size = 1 if isinstance(job.program, Plain) else min(count, max_together or count)
    reporter = reporter_for(progress)
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
            if trouble in (TRAINING, EVALUATION):
                job, size, words = _with_less(job, len(nets), trouble)
                notes.append(f"memory ran out {words} from net {start} on.")
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
    except EvaluationTooLarge:
        return EVALUATION
    except (torch.OutOfMemoryError, RuntimeError) as error:
        if not ran_out(error):
            raise
        return TRAINING
    return ""


def _rewind(record: Record, params: dict[str, Tensor], buffers: dict[str, Tensor], nets: Sequence[int]) -> None:
    """Put the nets of a failed attempt back to their first weights."""
    for store, first in ((record.params, params), (record.buffers, buffers)):
        for name, value in first.items():
            store[name][list(nets)] = value[list(nets)]
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _with_less(job: Job, size: int, trouble: str) -> tuple[Job, int, str]:
    """Return a job and a number of nets that ask for half the memory, and what changed; the batch is halved last, as it changes what is learnt."""
    if trouble == EVALUATION and job.eval_batch > 1:
        fewer = job.eval_batch // 2
        return replace(job, eval_batch=fewer), size, f"in evaluation: at most {fewer} examples at a time"
    if trouble == TRAINING and size > 1:
        return job, size // 2, f"with {size} nets together: {size // 2} at a time"
    batch = job.settings.batch_size
    if trouble == TRAINING and batch > 1:
        settings = replace(job.settings, batch_size=batch // 2)
        return replace(job, settings=settings), size, f"with one net: batches of {batch // 2} instead of {batch}"
    raise FitError("memory ran out with one net and one example at a time; use another device or a smaller module.")
