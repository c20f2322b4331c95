"""Calibration of the kernels' size: copies of the net trained on 80%, all at once, and the kappa at which their bias vanishes.

Ghane (2022), dissertation, Texas A&M University, section 2.2.4.2.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.core.rng import stream, task_seed
from unseen.nets.estimates.kernels import KernelPoints, Kernels
from unseen.nets.estimates.problem import EstimateOptions, Problem, problem_of
from unseen.nets.estimates.temperature import Temperature, fit_temperature
from unseen.nets.modules.layers import eval_mode
from unseen.nets.modules.logits import LogitFunction
from unseen.nets.modules.tokens import TokensAsNumbers
from unseen.nets.training.fit_many import fit_many, training_options

__all__ = ["KappaSearch", "Trials", "fresh_copy", "search_kappa", "splits_of", "train_trials", "trials_of_modules"]

ATTEMPTS = 200  # random splits tried before a class counts as too small


def fresh_copy(module: nn.Module) -> nn.Module:
    """Return a copy of a module with every layer's weights drawn anew.

    Examples
    --------
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> bool(torch.equal(fresh_copy(net)[0].weight, net[0].weight))
    False
    """
    new = copy.deepcopy(module)
    covered: set[int] = set()
    for part in new.modules():
        if callable(getattr(part, "reset_parameters", None)):
            part.reset_parameters()
            covered |= {id(p) for p in part.parameters()}
    left = [name for name, p in new.named_parameters() if id(p) not in covered]
    if left:
        raise InputError(
            f"parameters {', '.join(left[:5])} belong to no layer with reset_parameters, so the net cannot be started anew; "
            "give factory=, a function that returns a fresh net."
        )
    return new


@dataclass(frozen=True, eq=False, kw_only=True)
class Trials:
    """Nets trained on parts of a sample, with kernels of their parts and their errors on the rest.

    Parameters
    ----------
    problems : list of Problem
        One per part.
    kernels : list of Kernels
        Sized from the part.
    points : list of Points
        The same for every kappa.
    errors : ndarray
        Observed error on the rows left out.
    held_out : list of (logits, codes)
        Of the rows left out.
    left_out : list of ndarray of int
        Which rows those are.
    """

    problems: list[Problem]
    kernels: list[Kernels]
    points: list[KernelPoints]
    errors: Floats
    held_out: list[tuple[Any, Any]]
    left_out: list[Ints]
    _cache: dict[tuple[int, float], float] = field(default_factory=dict)

    def deviation(self, trial: int, kappa: float, exact: bool = True) -> float:
        """Return bolstered minus observed error of one trial with kernels scaled by kappa; asked again, it is remembered."""
        key = (trial, round(float(kappa), 6))
        if key not in self._cache:
            problem, points = self.problems[trial], self.points[trial]
            means = problem.misclassified_share(replace(self.kernels[trial], scale=key[1]), points, exact)
            self._cache[key] = float(problem.weights @ means.values) - float(self.errors[trial])
        return self._cache[key]

    def wrong(self) -> list[Floats]:
        """Return 1 for each row that a copy left out and got wrong, else 0."""
        return [(logits.argmax(1) != codes).double().cpu().numpy() for logits, codes in self.held_out]

    def temperature(self, level: float) -> Temperature:
        """Return the temperature of the copies' probabilities on the rows they left out."""
        sizes = [len(rows) for rows in self.left_out]
        return fit_temperature(
            torch.cat([logits for logits, _ in self.held_out]),
            torch.cat([codes for _, codes in self.held_out]),
            rows=np.concatenate(self.left_out),
            copies=np.repeat(np.arange(len(sizes)), sizes),
            level=level,
        )

    def deviations(self, kappa: float, exact: bool = True, count: int | None = None) -> Floats:
        """Return the deviations of the first `count` trials, of all by default."""
        return np.array(
            [self.deviation(k, kappa, exact) for k in range(len(self.problems) if count is None else count)]
        )


def splits_of(
    codes: np.ndarray, options: EstimateOptions, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (training, left-out) rows of each repetition, every class with two training rows at least.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row.
    options : EstimateOptions
        `repeats` splits, each leaving out the share `fraction`.
    rng : numpy.random.Generator
        Source of randomness.

    Examples
    --------
    >>> splits = splits_of(np.arange(20) % 2, EstimateOptions(repeats=3), np.random.default_rng(0))
    >>> [(len(train), len(test)) for train, test in splits]
    [(16, 4), (16, 4), (16, 4)]
    """
    n = len(codes)
    size = int(np.ceil(options.fraction * n))
    present = np.unique(codes)
    out = []
    for _ in range(options.repeats):
        for _ in range(ATTEMPTS):
            order = rng.permutation(n)
            counts = np.bincount(codes[order[size:]], minlength=codes.max() + 1)
            if counts[present].min() >= 2:
                break
        else:
            raise InputError(
                f"training on {100 * (1 - options.fraction):.0f}% of the sample leaves the smallest class without two points; "
                "merge or drop it, or use the uncalibrated method."
            )
        out.append((np.sort(order[size:]), np.sort(order[:size])))
    return out


def train_trials(problem: Problem, kind: str | None, options: EstimateOptions, seed: int) -> Trials:
    """Train the repetitions side by side and lay out their kernels."""
    factory = options.factory
    if factory is None:
        module = problem.net.module
        if module is None or problem.net.probabilities:
            what = "returns probabilities" if module is not None else "shows no torch module"
            raise InputError(
                f"copies are trained by the cross-entropy of logits, but the model {what}; give factory=, a function that makes a net with logits."
            )
        factory = lambda: fresh_copy(module)  # noqa: E731
    tokens = not problem.X.is_floating_point()
    make = (lambda: TokensAsNumbers(factory())) if tokens else factory
    codes = problem.codes.cpu().numpy()
    splits = splits_of(codes, options, stream(seed, "splits"))
    seeds = [task_seed(seed, "fit", k) for k in range(options.repeats)]
    fits = fit_many(
        make,
        problem.X.float() if tokens else problem.X,
        problem.codes,
        [train for train, _ in splits],
        seeds=seeds,
        device=problem.net.device,
        dtype=problem.net.dtype,
        n_classes=problem.n_classes,
        **training_options(options.training or {}),
    )
    fits.demand_all("the copy of the net number")
    modules: list[Any] = [fits.module(k).to(problem.net.device) for k in range(options.repeats)]
    modules = [module.module for module in modules] if tokens else modules
    return trials_of_modules(problem, modules, splits, kind, options, seed)


def trials_of_modules(
    problem: Problem,
    modules: list[nn.Module],
    splits: list[tuple[Any, Any]],
    kind: str | None,
    options: EstimateOptions,
    seed: int,
) -> Trials:
    """Return the trials of nets that are trained already, with the splits they were trained on.

    Parameters
    ----------
    problem : Problem
        The net and the whole sample; see `problem_of`.
    modules : list of nn.Module
        Copies of the net, one trained on each split; they return logits.
    splits : list of (training, left-out)
        Rows of each copy; see `splits_of`.
    kind : {"spherical", "diagonal"} or None
        Kernels of the parts; None if errors on the rows left out are all that is asked.
    options : EstimateOptions
        As for the estimate itself.
    seed : int
        Of the kernel points.

    Returns
    -------
    Trials
        Errors on the rows left out, and `deviations(kappa)` of the bolstered errors from them, for `search_kappa`.

    Examples
    --------
    >>> net = nn.Linear(1, 2)
    >>> _ = net.load_state_dict({"weight": torch.tensor([[-1.0], [1.0]]), "bias": torch.zeros(2)})
    >>> view = LogitFunction(raw=net, module=net, device=torch.device("cpu"), dtype=torch.float32)
    >>> X, options = torch.tensor([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]]), EstimateOptions()
    >>> problem = problem_of(view, X, [0, 0, 0, 1, 1, 1], options)
    >>> trials = trials_of_modules(problem, [net], [([0, 1, 4, 5], [2, 3])], "diagonal", options, 0)
    >>> trials.errors.tolist(), trials.deviations(0.0).tolist()
    ([0.0], [0.0])
    """
    net = problem.net
    problems, errors, held = [], [], []
    for module, (train, test) in zip(modules, splits):
        own = LogitFunction(
            raw=module,
            module=module,
            device=net.device,
            dtype=net.dtype,
            probabilities=False,
            classes=problem.classes,
        )  # copies return logits
        train, test = (torch.as_tensor(rows, device=net.device) for rows in (train, test))
        labels = problem.codes.cpu().numpy()
        mine = problem_of(own, problem.X[train], problem.classes[labels[train.cpu().numpy()]], options)
        problems.append(mine)
        with eval_mode(module):
            logits = own.all_logits(problem.X[test])
        wrong = (logits.argmax(1) != problem.codes[test]).double()
        errors.append(_mean_error(wrong, problem.codes[test], options.average))
        held.append((logits, problem.codes[test]))
    draws = [KernelPoints(options.n_mc, options.sampler, task_seed(seed, "trial", k)) for k in range(len(problems))]
    return Trials(
        problems=problems,
        kernels=[] if kind is None else [p.kernels(kind, options) for p in problems],
        points=draws,
        errors=np.array(errors),
        held_out=held,
        left_out=[np.asarray(test) for _, test in splits],
    )


def _mean_error(wrong: Any, codes: Any, average: str) -> float:
    if average == "points":
        return float(wrong.mean())
    return float(torch.stack([wrong[codes == c].mean() for c in codes.unique()]).mean())


class KappaSearch(NamedTuple):
    """The kappa with the smallest bias, the curve (kappa, bias, spread) of those tried, and the deviations behind it."""

    kappa: float
    curve: Floats
    deviations: Floats


def search_kappa(
    deviations: Callable[[float], Floats], *, step: float = 0.1, max_kappa: float = 20.0, bidirectional: bool = False
) -> KappaSearch:
    """Search the kappa at which the mean deviation, the bias, is nearest to 0.

    From kappa = 1 upwards in steps until the size of the bias has not fallen for two steps; `bidirectional` also goes downwards, as far as 0.

    Parameters
    ----------
    deviations : callable
        Function of kappa that returns the deviation of each trial, estimate minus observed error.
    step : float
        Distance of the kappas tried.
    max_kappa : float
        Where the search ends.
    bidirectional : bool
        Also search below 1.

    Returns
    -------
    KappaSearch
        Best kappa, the curve of those tried, and the deviations behind it.

    Examples
    --------
    >>> kappa, curve, _ = search_kappa(lambda k: np.array([k - 1.33]))
    >>> kappa, curve[:, 0].round(1).tolist()
    (1.3, [1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    >>> search_kappa(lambda k: np.array([k - 0.52]), bidirectional=True)[0]
    0.5
    """
    tried: dict[float, Floats] = {}

    def bias(kappa: float) -> float:
        tried[kappa] = np.asarray(deviations(kappa), dtype=float)
        return abs(float(tried[kappa].mean()))

    start = bias(1.0)
    for direction in (1, -1) if bidirectional else (1,):
        last, stalled, k = start, 0, 0
        while stalled < 2:
            k += 1
            kappa = round(1 + direction * k * step, 6)
            if not 0 <= kappa <= max_kappa:
                break
            now = bias(kappa)
            stalled = stalled + 1 if now >= last else 0
            last = now
    kappas = np.array(sorted(tried))
    table = np.array([tried[k] for k in kappas])
    spread = table.std(axis=1, ddof=1) if table.shape[1] > 1 else np.full(len(table), np.nan)
    means = table.mean(axis=1)
    best = float(kappas[np.abs(means).argmin()])
    return KappaSearch(best, np.column_stack([kappas, means, spread]), table)
