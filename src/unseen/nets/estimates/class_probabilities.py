"""Class probabilities at a point: the net's own softmax, a temperature-scaled one, nearest neighbours, or samples of a posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from unseen.core.errors import InputError, KindError, NotApplicable
from unseen.nets.estimates.problem import EstimateOptions, Problem
from unseen.nets.estimates.temperature import best_temperature
from unseen.nets.modules.cut import cut_at
from unseen.nets.modules.inputs import class_codes, input_tensor
from unseen.nets.modules.layers import eval_mode

__all__ = ["Probabilities", "probabilities_of", "validation_logits"]

Probabilities = Callable[[Any, Any, Any, Any], Any]
BLOCK = 2**24  # numbers of a block of similarities in memory


def probabilities_of(problem: Problem, options: EstimateOptions, held_out: Any) -> tuple[Probabilities, str]:
    """Return a function (points, rows, logits, own) -> probabilities of shape (m, c), and its name in words.

    `held_out()` gives logits and codes of rows that the nets behind them were not trained on; `own` says which training row
    each point is, if they are training points themselves.
    """
    given = options.posterior
    if isinstance(given, str):
        if given == "softmax":
            return lambda points, rows, logits, own: logits.softmax(1), "the net's own softmax"
        if given == "temperature":
            t = best_temperature(*_rows_not_seen(problem, options, held_out))
            return lambda points, rows, logits, own: (logits / t).softmax(1), f"softmax at temperature {t:.4g}"
        where = f" behind layer {options.posterior_layer}" if options.posterior_layer else ""
        return _by_neighbours(problem, options), f"{options.k}-nearest-neighbour posterior{where}"
    if hasattr(given, "predictive"):
        _require_input_space(problem, "samples of a posterior")
        return _by_samples(problem, given), str(given)
    if callable(given):
        _require_input_space(problem, "a function of points")
        return lambda points, rows, logits, own: _check_shape(
            torch.as_tensor(given(points)), problem
        ), "a given posterior"
    raise KindError(f"posterior is a {type(given).__name__}; give a name, a `Posterior` or a function of points.")


def _by_samples(problem: Problem, samples: Any) -> Probabilities:
    if samples.fixed is not None and samples.fixed.shape[1] != len(problem.X):
        raise InputError(f"the sampled logits are for {samples.fixed.shape[1]} rows, X has {len(problem.X)}.")

    def average(points: Any, rows: Any, logits: Any, own: Any) -> Any:
        if own and samples.fixed is not None:
            return _check_shape(samples.fixed.softmax(2).mean(0), problem)
        return _check_shape(problem.net.map_batches(samples.predictive, points), problem)

    return average


def _require_input_space(problem: Problem, what: str) -> None:
    if problem.cut.name != "input":
        raise NotApplicable(f"{what} needs kernels in the space of the inputs; leave layer=None.")


def _check_shape(p: Any, problem: Problem) -> Any:
    if p.ndim != 2 or p.shape[1] != problem.n_classes:
        raise InputError(f"the posterior gives shape {tuple(p.shape)}; (points, {problem.n_classes}) is needed.")
    return p.to(problem.net.device, problem.net.dtype)


def _rows_not_seen(problem: Problem, options: EstimateOptions, held_out: Any) -> tuple[Any, Any]:
    return held_out() if options.validation is None else validation_logits(problem, options)


def validation_logits(problem: Problem, options: EstimateOptions) -> tuple[Any, Any]:
    """Return the net's logits and the classes of the rows given as `validation`."""
    X, y = options.validation
    X = input_tensor(X, problem.net.device, problem.net.dtype)
    codes, _ = class_codes(y, problem.n_classes, problem.classes, len(X))
    with eval_mode(problem.net.module):
        return problem.net.all_logits(X), torch.as_tensor(codes, device=X.device)


def _by_neighbours(problem: Problem, options: EstimateOptions) -> Probabilities:
    n = len(problem.X)
    if options.k > n:
        raise InputError(f"k is {options.k}, but there are {n} training points.")
    if options.posterior_layer is None:
        features = problem.points
        head: Any = None
    else:
        _require_input_space(problem, "a posterior in the space of another layer")
        head = cut_at(problem.net, options.posterior_layer).head
        with torch.no_grad(), eval_mode(problem.net.module):
            features = problem.net.map_batches(head, problem.X).flatten(1)
    centre = features.mean(0)
    among = features - centre
    half = 0.5 * among.square().sum(1)
    hot = torch.nn.functional.one_hot(problem.codes, problem.n_classes).to(features.dtype)

    def votes(points: Any, rows: Any, logits: Any, own: Any) -> Any:
        points = points if head is None else problem.net.map_batches(head, points)
        out = []
        for part, mine in zip(*(t.split(max(1, BLOCK // n)) for t in (points.flatten(1), rows))):
            similarity = (part - centre) @ among.T - half
            if own:
                similarity[torch.arange(len(part), device=part.device), mine] = torch.inf
            out.append(hot[similarity.topk(options.k, dim=1).indices].mean(1))
        return torch.cat(out)

    return votes
