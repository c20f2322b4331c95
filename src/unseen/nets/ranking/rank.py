"""Which of these networks will generalize best: a ranking from the training data alone, with its uncertainty."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, KindError
from unseen.core.notes import note
from unseen.core.rng import RandomState, root_seed, stream
from unseen.nets.augmentation.sheet import sheets_for
from unseen.nets.files.examples import read_examples
from unseen.nets.measures.measure import Measure, MeasureValue, build_measures, check_runs
from unseen.nets.modules.device import device_of, limited_torch
from unseen.nets.modules.net import Net
from unseen.nets.ranking.expected_error import GapLevel, expected_errors, gap_level, order_of_errors
from unseen.nets.ranking.measuring import effort_note, measure_networks, plan_effort, some_examples
from unseen.nets.ranking.rank_scores import kendall_tau
from unseen.nets.ranking.ranking_record import NetRanking

__all__ = ["DEFAULT_ANY_INPUTS", "DEFAULT_MEASURES", "rank"]

# by the rule of studies/net_default.py: the published measures with the largest CMI of those that order no zoo backwards; no combination did better on zoos left out
DEFAULT_MEASURES = ("always-generalize",)  # Aithal, Kashyap and Subramanyam (2021)
DEFAULT_ANY_INPUTS = ("pal-score-between",)  # Schiff and others (2021)
SIMULATIONS = 1000  # the probability of a rank is then known to about 0.016


@limited_torch()
def rank(
    nets: Mapping[str, Any],
    X_train: Any = None,
    y_train: Any = None,
    *,
    measures: str | Iterable[str | Measure] | None = None,
    draws: Mapping[str, int] | None = None,
    examples: int | None = None,
    seconds: float | None = None,
    path: str | PathLike[str] | None = None,
    level: float | None = None,
    device: Any = "auto",
    value_range: tuple[Any, Any] = (0.0, 1.0),
    accuracy: float = 0.95,
    images: bool = True,
    random_state: RandomState = 0,
    progress: Any = None,
) -> NetRanking:
    """Rank trained networks by their expected test error, without a test set.

    Each measure orders the networks; a network's score is its mean place over the measures, and its expected test error follows the score as it does on the zoos.
    Networks whose training error is clearly above that of the others, at most a third, stand apart below them, by their training error; the others' expected errors do not depend on them. Among networks that
    fit alike the training error is a column: added to a predicted gap it made the order worse. How sure each rank is follows from the measures' own
    draws, which all networks share: the probability that endless draws would give that rank. What the measures miss is not part of it (see
    the bench), and a measure taken with one draw counts as if it had no noise.

    Parameters
    ----------
    nets : mapping of str to torch.nn.Module or Net
        At least two trained networks by name, or what `read_networks` found in a folder. A `Net` brings its own training data, and what some measures need besides
        (initial weights, a copy trained on 80%).
    X_train, y_train : array-like
        Training data of all modules: inputs as the networks take them, and class numbers. `X_train` alone may be whatever `read_examples` takes, such
        as a DataLoader or a folder; tokens may come as a dictionary. Not needed if every entry is a `Net`.
    measures : sequence of str or Measure, or "all", optional
        Measures by id; by default those that the bench's zoos chose, among all measures for images, else among those that take any inputs.
    draws : mapping of str to int, optional
        Draws of single measures.
    examples : int, optional
        Measure on so many training examples, drawn by class; all by default.
    seconds : float, optional
        Choose examples, draws and measures so that it takes about so long; note N012 says which, so that `examples` and `draws` repeat it.
    path : path, optional
        File that values are added to as they come; a ranking that was stopped goes on from there.
    level : float, optional
        Typical gap of such networks, if you know it; by default from copies trained on 80% if networks bring them, else that of the zoos, which may be
        wrong by a factor of three (in the same way for all networks).
    device : str
        "auto" takes a GPU if there is one.
    value_range : tuple
        Values of black and white pixels, see `Net`.
    accuracy : float
        Networks with a smaller training accuracy are flagged.
    images : bool
        Show the first two training images, augmented, beside a ranking by measures that augment images.
    random_state : int, Generator or None
        Same seed, same ranking on one machine; all networks meet the same draws.
    progress : bool, optional
        Progress bar on stderr; by default if that is a terminal.

    Returns
    -------
    NetRanking

    References
    ----------
    Y. Jiang and others (2020). NeurIPS 2020 competition: predicting generalization in deep learning. arXiv:2012.07976.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> a, b = sample_net("conv"), sample_net("mlp")
    >>> found = rank({"conv": a, "mlp": b}, measures=["path-norm", "inverse-margin"], device="cpu")
    >>> found.names, found.agreement
    (('mlp', 'conv'), {('path-norm', 'inverse-margin'): 1.0})
    """
    if not 0 <= accuracy <= 1:
        raise InputError(f"accuracy is {accuracy!r}; a share of the training inputs lies between 0 and 1.")
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds is {seconds!r}; the time is a number above 0.")
    if examples is not None and (
        isinstance(examples, bool) or not isinstance(examples, (int, np.integer)) or examples < 2
    ):
        raise InputError(f"examples is {examples!r}; it is a whole number of at least 2.")
    where, seed = device_of(device), root_seed(random_state)
    ready = _ready(nets, X_train, y_train, where, value_range)
    names, notes = list(ready), list(getattr(nets, "notes", ()))
    for name, net in ready.items():
        check_runs(net, f"network {name!r}")
    trained = {name: net.training_accuracy() for name, net in ready.items()}
    poor = [f"{name} ({share:.3f})" for name, share in trained.items() if share < accuracy]
    if poor:
        notes.append(note("N006", f"training accuracy below {accuracy:g}: {', '.join(poor)}"))
    default = DEFAULT_MEASURES if all(net.is_images for net in ready.values()) else DEFAULT_ANY_INPUTS
    wanted = build_measures(default if measures is None else measures)
    part, counts, deadline = ready, dict(draws or {}), None
    if seconds is not None:
        deadline = time.perf_counter() + seconds
        effort = plan_effort(ready, wanted, seconds, seed, counts)
        short = effort_note(effort, ready[names[0]].n, seconds)
        notes += [short] if short is not None else []
        counts |= effort.draws
        wanted = [measure for measure in wanted if measure.id not in effort.left_out]
        part = some_examples(ready, min(effort.examples, examples or effort.examples), seed)
    elif examples is not None:
        part = some_examples(ready, examples, seed)
    measured = measure_networks(part, wanted, draws=counts, seed=seed, path=path, deadline=deadline, progress=progress)
    table = measured.values
    notes += measured.notes
    used = [measure for measure in wanted if measure.id in table]
    if not table:
        reasons = "; ".join(n.text for n in notes if n.code == "N007")
        raise InputError(f"none of the measures applies to these networks: {reasons}")
    score, simulated = _scores(table, seed)
    train = np.array([1 - trained[name] for name in names])
    typical = gap_level(ready) if level is None else GapLevel(float(level), 0.0, "given")
    counts_of = torch.bincount(ready[names[0]].y_train)
    guessing = 1 - float(counts_of.max()) / float(counts_of.sum())  # error of naming the largest class
    found = order_of_errors(
        score, simulated, train, typical.gap, table, rows=ready[names[0]].n, guessing=max(guessing, 1e-9)
    )
    chance = _chances(found.simulated)
    # among networks that fit a tie goes to the smaller score, then to the one that is best more often
    by = np.where(found.apart, train, np.round(score, 12))
    order = np.lexsort((-chance[:, 0], by, np.round(found.errors, 12), found.apart))
    expected = expected_errors(
        train=train,
        found=found,
        order=order,
        level=typical,
        measures=table,
        rng=stream(seed, "rank", "expected errors"),
    )
    agreement = {
        (a, b): kendall_tau([v.value for v in table[a]], [v.value for v in table[b]])
        for i, a in enumerate(table)
        for b in list(table)[i + 1 :]
    }
    return NetRanking(
        names=tuple(names[k] for k in order),
        score=tuple(float(score[k]) for k in order),
        probability=chance[order],
        values={m: tuple(found[k] for k in order) for m, found in table.items()},
        agreement=agreement,
        accuracy=tuple(trained[names[k]] for k in order),
        notes=tuple(notes),
        expected=expected,
        sheets=sheets_for((c for m in used for c in m.sheets), ready[names[0]].X_train, ready[names[0]].value_range)
        if images
        else (),
    )


def _ready(
    nets: Mapping[str, Any], X: Any, y: Any, device: torch.device, value_range: tuple[Any, Any]
) -> dict[str, Net]:
    if not isinstance(nets, Mapping):
        raise KindError(f"nets is a {type(nets).__name__}; give a mapping of names to trained networks.")
    if len(nets) < 2:
        count = "is 1 network" if nets else "are no networks"
        raise InputError(f"there {count}; a ranking needs at least two. To look at one network, call a measure itself.")
    bare = [name for name, net in nets.items() if not isinstance(net, Net)]
    if not bare:
        return dict(nets)
    if X is not None and y is None:  # a folder, a data set or a loader brings its labels
        examples = read_examples(X)
        X, y = examples.X, examples.y
    if X is None or y is None:
        raise InputError(f"X_train and y_train are needed to measure {bare[0]!r}, which is a bare module.")
    inputs = (
        X if isinstance(X, Mapping) else torch.as_tensor(X).to(device)
    )  # once, so that all networks share one tensor
    labels = _class_numbers(y).to(device)
    made = {}
    for name, net in nets.items():
        if isinstance(net, Net):
            made[name] = net
        elif isinstance(net, torch.nn.Module):
            made[name] = Net.of(net, inputs, labels, device=device, value_range=value_range)
        else:
            raise KindError(
                f"network {name!r} is a {type(net).__name__}; give a torch.nn.Module or an unseen.nets.Net."
            )
    return made


def _class_numbers(y: Any) -> torch.Tensor:
    try:
        return torch.as_tensor(y).long()
    except (TypeError, ValueError) as error:
        raise KindError(
            f"y_train holds {np.asarray(y).dtype} values; give class numbers 0, 1, ..., in the order of the networks' outputs."
        ) from error


def _fractions(values: np.ndarray) -> np.ndarray:
    """Return places from 0 (smallest) to 1 along the last axis, ties sharing their mean place."""
    less = (values[..., None, :] < values[..., :, None]).sum(-1)
    same = (values[..., None, :] == values[..., :, None]).sum(-1) - 1
    return (less + same / 2) / (values.shape[-1] - 1)


def _noise(found: list[MeasureValue], rng: np.random.Generator) -> np.ndarray:
    """Return how far one measure's values may be from those of endless draws: simulations, networks.

    Networks that met the same draws move together, so that their order is surer than each value is. The size of the moves is
    itself known from few draws, hence Student's t and not the normal.
    """
    shared = {len(v.moves) for v in found if v.std_error}
    if len(shared) == 1 and (draws := shared.pop()) > 1:
        moves = np.array([v.moves or (0.0,) * draws for v in found])
        size = np.sqrt(rng.chisquare(draws - 1, SIMULATIONS) / (draws - 1))
        return (rng.standard_normal((SIMULATIONS, draws)) / size[:, None]) @ moves.T
    return np.array([v.std_error or 0.0 for v in found]) * rng.standard_normal((SIMULATIONS, len(found)))


def _scores(table: Mapping[str, Sequence[MeasureValue]], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean place of each network, and its mean places in simulations of the measures' draws."""
    values = np.array([[v.value for v in found] for found in table.values()])
    rng = stream(seed, "rank", "draws")
    noisy = values + np.stack([_noise(list(found), rng) for found in table.values()], axis=1)
    scores = _fractions(noisy).mean(axis=1)
    # ties are broken by lot, so that each rank is given once
    return _fractions(values).mean(axis=0), scores + 1e-9 * rng.random(scores.shape)


def _chances(scores: np.ndarray) -> np.ndarray:
    """Return the probability of each rank of each network over simulations."""
    ranks = scores.argsort(axis=1).argsort(axis=1)
    return np.stack([(ranks == k).mean(axis=0) for k in range(scores.shape[1])], axis=1)
