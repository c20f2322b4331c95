"""Many nets of one architecture, trained side by side, as many at a time as memory allows."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unseen.core.errors import FitError, InputError, KindError, UnknownName
from unseen.engine.events import reporter_for
from unseen.nets.modules.device import (
    device_of,
    dtype_of,
    exact_float32,
    is_out_of_memory,
    limited_torch,
    rows_at_once,
    tensor_of,
)
from unseen.nets.training.dropout import dropouts_of, norms_of, with_seeded_dropout
from unseen.nets.training.executors import Plain, choose_executor, describe_executor
from unseen.nets.training.fits import Fits
from unseen.nets.training.index_sets import index_arrays, make_sets, names_of_copies, rows_with_weight, sets_and_seeds
from unseen.nets.training.initial_weights import (
    count_outputs,
    fresh_nets,
    maker_of,
    require_pairs,
    stacked_state,
    strip_softmax,
)
from unseen.nets.training.loop import (
    EvaluationTooLarge,
    NotCaptured,
    RunningNets,
    TrainingJob,
    TrainingRecord,
    epoch_hook,
    train_group,
)
from unseen.nets.training.settings import (
    TrainingSettings,
    class_weights,
    per_net,
    weights_of_rows,
    whole,
    whole_or_none,
)

__all__ = ["fit_many", "train_in_chunks", "training_options"]


LOG = logging.getLogger("unseen")


@limited_torch()
def fit_many(
    module: Any,
    X: Any,
    y: Any,
    index_sets: Any = None,
    *,
    seeds: Any,
    epochs: int = 200,
    batch_size: int = 32,
    lr: Any = 0.02,
    momentum: Any = 0.0,
    weight_decay: Any = 0.0,
    dropout: Any = None,
    patience: int = 10,
    validation: Any = 0.1,
    stop: str = "patience",
    stop_at: float | None = None,
    class_weight: Any = None,
    sample_weight: Any = None,
    copies: Any = None,
    optimizer: str = "sgd",
    halve_every: int | None = None,
    n_classes: int | None = None,
    device: Any = "auto",
    dtype: Any = None,
    augment: Callable[..., Tensor] | None = None,
    progress: Any = False,
    after_epoch: Callable[[int, RunningNets], Any] | None = None,
    max_together: int | None = None,
    eval_batch: int | None = None,
    strategy: str = "auto",
    tf32: bool = False,
) -> Fits:
    """Train one net per index set and seed, all of one architecture, side by side.

    Each net has its own rows, first weights, order of batches, dropout masks, augmentation and stopping point, all from
    its own seed: what becomes of it does not depend on the nets trained with it. One step moves all nets: convolutions
    are grouped, dense layers are batched matrix products, and on a GPU the step is captured as a graph. A module with
    a layer unknown here goes through `torch.func.vmap`, and one that vmap refuses is trained one net at a time; `how`
    says which it was.

    Parameters
    ----------
    module : nn.Module, class or callable
        An architecture: a module (copied and initialised anew for every seed), its class, or a function that makes
        one, called with those of `n_features` (a shape for images) and `n_classes` that it asks for.
    X, y : array or Tensor
        Examples (n, ...) and class numbers 0 .. c - 1.
    index_sets : sequence of int arrays, optional
        Rows of each net, of any lengths, repeats allowed; all rows for every net by default.
    seeds : int or sequence of int
        One seed per net; a single number s means s, s + 1, ...
    epochs, batch_size : int
        Most epochs, and examples per step.
    lr, momentum, weight_decay : float or one per net
        Step length, momentum and L2 penalty, as torch.optim.SGD takes them.
    dropout : float or one per net, optional
        Replaces the rate of every dropout layer.
    patience, validation : int; float or sequence of int arrays
        With `stop="patience"`: this share of each net's rows (or the rows named) is kept out of training, and a net stops
        after so many epochs without a lower validation loss. Its weights at the lowest loss are kept. Copies of a row
        stay on one side.
    stop : {"patience", "train-accuracy", "train-loss", "none"}
        Stopping rule. The second and third look at all training rows in evaluation mode once per epoch.
    stop_at : float, optional
        Accuracy to reach (.95) or loss to get below (.02).
    class_weight : None, "balanced", dict or array
        Weights of classes in the loss, one row for all nets or one per net.
    sample_weight : array of float, optional
        Weight of each row of X in losses and accuracies. Rows of weight 0 are left out, and a whole number counts as that many
        copies of the row if a batch holds all rows; smaller batches and validation shares are drawn by rows, whatever they
        weigh.
    copies : array, optional
        Name of the example that each row of X is a copy of, if rows were drawn with repeats before: rows with one name stay on one side
        of the validation share, as rows named twice in an index set do.
    optimizer : {"sgd", "adam"}
        Kind of step.
    halve_every : int, optional
        Halve the step length every so many epochs.
    n_classes : int, optional
        Number of classes, if y does not show all of them.
    device, dtype
        "auto" (a GPU if there is one), "cpu", "cuda"; float32 by default, or float64.
    augment : callable, optional
        `augment(x, draw)`: changes training batches x (S, B, ...); `draw(*shape)` gives uniform numbers of that shape for each example; `flips_and_crops` is one.
    progress : bool or Reporter
        Show a bar.
    after_epoch : callable, optional
        `after_epoch(epoch, running)` is called after every epoch with the nets still in training, by number; `Monitor.follow` is one.
    max_together : int, optional
        Most nets trained at once; halved by itself when memory runs out.
    eval_batch : int, optional
        Examples, summed over nets, in one evaluation pass.
    strategy : {"auto", "grouped", "vmap", "one-by-one"}
        Forces one way, for comparisons.
    tf32 : bool
        Let a GPU round float32 products to TF32: faster, about three digits. Off by default, so that a GPU and a CPU agree.

    Returns
    -------
    Fits

    Notes
    -----
    On a CPU the same call gives the same bits. On a GPU cuDNN may add in another order, so that runs differ in the last
    digits.

    References
    ----------
    Early stopping with patience: Prechelt (1998), Neural Networks 11, 761-767.

    Examples
    --------
    >>> import numpy as np, unseen.nets as nets
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(90) % 3
    >>> X = rng.normal(size=(90, 4)) + 2 * y[:, None]
    >>> fits = nets.fit_many(nets.make_mlp, X, y, [np.arange(60), np.arange(30, 90)], seeds=0, epochs=30, lr=[0.05, 0.1])
    >>> fits.how, len(fits)
    ('batched matrix products', 2)
    >>> bool((fits.logits(X).argmax(2).numpy() == y).mean() > 0.8)
    True
    """
    where, kind = device_of(device), dtype_of(dtype)
    X, y = _examples(X, kind), _classes(y)
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} rows and y has {len(y)}; they must be equally many.")
    rows, seeds = sets_and_seeds(index_sets, seeds, len(X))
    row_weights = weights_of_rows(sample_weight, len(X))
    rows = rows_with_weight(rows, row_weights)
    count = len(rows)
    if stop == "patience" and isinstance(validation, (int, float)) and not 0 < validation < 1:
        raise InputError(
            f'stop="patience" needs a validation share between 0 and 1; it is {validation}. Use stop="none" to train all epochs.'
        )
    settings = TrainingSettings(
        epochs=whole("epochs", epochs),
        batch_size=whole("batch_size", batch_size),
        lr=per_net("lr", lr, count),
        momentum=per_net("momentum", momentum, count),
        weight_decay=per_net("weight_decay", weight_decay, count),
        dropout=None if dropout is None else per_net("dropout", dropout, count),
        patience=whole("patience", patience),
        stop=stop,
        stop_at=stop_at,
        optimizer=optimizer,
        halve_every=whole_or_none("halve_every", halve_every),
        augment=augment,
        strategy=strategy,
        eval_batch=whole_or_none("eval_batch", eval_batch),
        after_epoch=epoch_hook(after_epoch, lambda: nets[0]),
    )
    if not (progress is None or isinstance(progress, bool) or hasattr(progress, "advance")):
        raise KindError(f"progress is {progress!r}; give True, False or a reporter.")
    max_together = whole_or_none("max_together", max_together)
    c = int(y.max()) + 1 if n_classes is None else whole("n_classes", n_classes)
    nets = strip_softmax(fresh_nets(maker_of(module, X.shape[1:], c), seeds), X)
    n_logits = count_outputs(nets[0], X)
    if y.max() >= n_logits:
        raise InputError(
            f"y holds the class {int(y.max())}, but the module gives {n_logits} logits (classes 0 to {n_logits - 1})."
        )
    ready = with_seeded_dropout(nets[0])
    params, buffers = stacked_state(nets, where, kind)
    _add_dropouts(ready, buffers, settings, where, count)
    kept_out = validation if stop == "patience" else 0
    if not isinstance(kept_out, (int, float)):
        kept_out = rows_with_weight(index_arrays(kept_out, len(X), None), row_weights)
    weights = class_weights(class_weight, y, rows, n_logits, row_weights)
    sets = make_sets(rows, seeds, kept_out, names_of_copies(copies, len(X)))
    if norms_of(ready):
        require_pairs(nets[0], X, sets.lengths, settings.batch_size)
    X_there = _to_device(X, where)
    with exact_float32(tf32):
        executor, why = choose_executor(ready, params, buffers, X_there, strategy)
        job = TrainingJob(
            executor=executor,
            X=X_there,
            y=torch.from_numpy(y).to(where),
            sets=sets,
            seeds=seeds,
            weights=None if weights is None else torch.from_numpy(weights).to(where, kind),
            settings=settings,
            trainable=tuple(k for k, p in ready.named_parameters() if p.requires_grad),
            dropouts=tuple(f"{path}.key" for path, _ in dropouts_of(ready)),
            normalised=bool(norms_of(ready)),
            eval_batch=eval_batch or rows_at_once(X.shape[1:], where),
            graph=where.type == "cuda" and not isinstance(executor, Plain),
            row_weights=None if row_weights is None else torch.from_numpy(row_weights).to(where, kind),
        )
        job, record, notes = train_in_chunks(job, params, buffers, max_together, progress)
    return _result(
        job, record, notes, nets[0], n_logits, describe_executor(job.executor, job.graph, why), tf32, eval_batch
    )


def _examples(X: Any, dtype: torch.dtype) -> Tensor:
    tensor = X.detach().cpu() if isinstance(X, Tensor) else None
    if tensor is None:
        array = np.asarray(X)
        if array.dtype == object or array.dtype.kind not in "fiub":
            raise KindError(f"X must hold numbers; it has kind {array.dtype}.")
        tensor = tensor_of(array)
    if tensor.dim() < 2 or len(tensor) == 0:
        raise InputError(
            f"X must have one row per example and at least one feature; it has shape {tuple(tensor.shape)}."
        )
    tensor = tensor.to(dtype).contiguous()
    if not bool(torch.isfinite(tensor).all()):
        raise InputError("X holds NaN or infinite values; fill or drop them first.")
    return tensor


def _to_device(X: Tensor, device: torch.device) -> Tensor:
    try:
        return X.to(device)
    except torch.OutOfMemoryError as error:
        size = X.numel() * X.element_size() / 1e9
        raise FitError(
            f"X needs {size:.1f} GB of GPU memory at once, and there is less; use device='cpu' or fewer rows."
        ) from error


def _classes(y: Any) -> np.ndarray:
    codes = np.asarray(y.detach().cpu() if isinstance(y, Tensor) else y)
    if codes.ndim != 1 or codes.dtype.kind not in "iub":
        raise KindError(
            f"y must be one class number per row; it has kind {codes.dtype} and shape {codes.shape}. unseen.nets.Classifier takes labels of any kind."
        )
    codes = codes.astype(np.int64)
    if codes.size and codes.min() < 0:
        raise InputError(f"y holds the class {int(codes.min())}; classes are numbered from 0.")
    return codes


def _add_dropouts(
    net: nn.Module, buffers: dict[str, Tensor], settings: TrainingSettings, device: torch.device, count: int
) -> None:
    """Add each net's dropout rate, in float64 whatever the weights are, and the place of its key."""
    if settings.dropout is not None and any(settings.dropout) and not list(dropouts_of(net)):
        raise InputError(
            f"dropout={max(settings.dropout):g} was asked for, but the module has no dropout layer; add nn.Dropout layers to it."
        )
    for path, layer in dropouts_of(net):
        own = (float(layer.rate),) * count
        rates = torch.tensor(own if settings.dropout is None else settings.dropout, dtype=torch.float64)
        buffers[f"{path}.rate"] = rates.to(device)
        buffers[f"{path}.key"] = torch.zeros(count, dtype=torch.int64, device=device)


def _result(
    job: TrainingJob,
    record: TrainingRecord,
    notes: list[str],
    template: nn.Module,
    n_classes: int,
    how: str,
    tf32: bool,
    eval_batch: int | None,
) -> Fits:
    history = [{name: np.array(values) for name, values in h.items()} for h in record.history]
    shape = tuple(int(d) for d in job.X.shape[1:])
    fits = Fits(
        params=record.params,
        buffers=record.buffers,
        epochs=record.epochs,
        best_epochs=record.best_epochs,
        history=history,
        reasons=record.reasons,
        how=how,
        n_classes=n_classes,
        sample_shape=shape,
        template=template,
        executor=job.executor,
        notes=notes,
        tf32=tf32,
        eval_batch=eval_batch,
    )
    bad = np.flatnonzero(fits.failed)
    if len(bad) == len(fits):
        raise FitError(
            f"the loss of {'the net' if len(fits) == 1 else f'all {len(fits)} nets'} became NaN or infinite (net 0: {record.reasons[0]}); "
            "use a smaller lr, or scale the features."
        )
    if how.startswith("one by one: ") and len(fits) > 1:
        notes.append(f"the nets were trained {how}")
        LOG.info(notes[-1])
    for i in bad.tolist():
        notes.append(f"net {i} (seed {job.seeds[i]}): {record.reasons[i]}; it was stopped, the others went on.")
        LOG.warning(notes[-1])
    return fits


GIVEN_ELSEWHERE = ("module", "X", "y", "index_sets", "seeds", "device", "dtype", "n_classes")


def training_options(given: Any) -> dict[str, Any]:
    """Return how copies of a net are trained after checking the names against those of `fit_many`."""

    if not isinstance(given, dict):
        raise KindError(f"training is a {type(given).__name__}; give a dict such as dict(epochs=200, lr=0.02).")
    known = [name for name in inspect.signature(fit_many).parameters if name not in GIVEN_ELSEWHERE]
    for name in given:
        if name not in known:
            raise UnknownName("option of training", name, known)
    return given


TRAINING, EVALUATION = "training", "evaluation"  # where memory ran out


def train_in_chunks(
    job: TrainingJob, params: dict[str, Tensor], buffers: dict[str, Tensor], max_together: int | None, progress: Any
) -> tuple[TrainingJob, TrainingRecord, list[str]]:
    """Train all nets, as many together as memory allows; return the job as it was last run, and notes."""
    count = len(job.seeds)
    notes: list[str] = []
    record = TrainingRecord.empty(params, buffers)
    size = 1 if isinstance(job.executor, Plain) else min(count, max_together or count)
    reporter = reporter_for(progress)
    reporter.expect(count * job.settings.epochs, "net epochs")
    start = 0
    try:
        while start < count:
            nets = range(start, min(start + size, count))
            trouble = _try_together(job, nets, record, reporter.advance)
            if not trouble:
                reporter.advance(sum(job.settings.epochs - int(record.epochs[i]) for i in nets))
                start += len(nets)
                continue
            _rewind(record, params, buffers, nets)
            if trouble in (TRAINING, EVALUATION):
                job, size, words = _halve_memory(job, len(nets), trouble)
                notes.append(f"memory ran out {words} from net {start} on.")
            else:
                job = replace(job, graph=False)
                notes.append(f"the step could not be captured as a CUDA graph and runs without: {trouble}")
            LOG.info(notes[-1])
    finally:
        reporter.close()
    return job, record, notes


def _try_together(job: TrainingJob, nets: Sequence[int], record: TrainingRecord, advance: Callable[[int], None]) -> str:
    """Train nets together; return what went wrong, if it can be helped, with all that the attempt held let go."""
    try:
        train_group(job, nets, record, advance)
    except NotCaptured as error:
        return str(error)
    except EvaluationTooLarge:
        return EVALUATION
    except (torch.OutOfMemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return TRAINING
    return ""


def _rewind(record: TrainingRecord, params: dict[str, Tensor], buffers: dict[str, Tensor], nets: Sequence[int]) -> None:
    """Put the nets of a failed attempt back to their first weights."""
    for store, first in ((record.params, params), (record.buffers, buffers)):
        for name, value in first.items():
            store[name][list(nets)] = value[list(nets)]
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _halve_memory(job: TrainingJob, size: int, trouble: str) -> tuple[TrainingJob, int, str]:
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
