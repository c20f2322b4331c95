"""The estimators of a net's error by name, each a small class that turns a task into an estimate (Ghane, 2022, chapter 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import torch

from unseen.core.errors import InputError
from unseen.core.estimate import Interval, Target
from unseen.core.notes import Note, note
from unseen.core.rng import task_seed
from unseen.nets.estimates.calibration import Trials, search_kappa, train_trials
from unseen.nets.estimates.class_probabilities import probabilities_of
from unseen.nets.estimates.error_interval import interval_from_copies, interval_from_zoos
from unseen.nets.estimates.kernels import KernelMeans, KernelPoints, Kernels, kernel_means
from unseen.nets.estimates.problem import EstimateOptions, Problem, point_weights
from unseen.nets.estimates.records import CalibratedNetEstimate, NetEstimate
from unseen.nets.estimates.temperature import Temperature
from unseen.nets.modules.layers import eval_mode

__all__ = ["METHODS", "EstimateTask", "NetMethod", "default_method", "error_probabilities"]


FIT_APART = 0.02  # training errors that differ by less are those of the same training; copies see fewer rows and fit them a little better


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimateTask:
    """What one estimate computes with: a net with its sample, options and a seed; methods add notes and the temperature of copies to it."""

    method: str
    problem: Problem
    options: EstimateOptions
    seed: int
    notes: list[Note] = field(default_factory=list)
    temperatures: list[Temperature] = field(default_factory=list)

    @property
    def points(self) -> KernelPoints:
        """The kernel points."""
        seed = task_seed(self.seed, "points") if self.options.draws is None else int(self.options.draws)
        return KernelPoints(self.options.n_mc, self.options.sampler, seed)

    def kernels(self, kind: str) -> Kernels:
        """Return the kernels, scaled by kappa if it is given."""
        return self.problem.kernels(
            kind, self.options, 1.0 if self.options.kappa is None else float(self.options.kappa)
        )

    def trials(self, kind: str | None) -> Trials:
        """Train copies on 80% of the sample; without a kind of kernels they are only counted on the rows they left out."""
        return train_trials(self.problem, kind, self.options, task_seed(self.seed, "trials"))

    def interval(self, trials: Trials) -> Interval | None:
        """Return the interval from copies; None if classes count alike or another share was left out, which the zoos did not judge."""
        if self.options.average != "points" or self.options.fraction != 0.2:
            return None
        return interval_from_copies(trials.wrong(), trials.left_out, self.options.level)

    def record(self, means: KernelMeans, measure: str, kernels: Kernels | None = None, n_fits: int = 0) -> NetEstimate:
        """Return the record of the weighted mean of the points' values."""
        weights, n = self.problem.weights, len(self.problem.X)
        return NetEstimate(
            value=float(weights @ means.values),
            std_error=None,
            interval=None,
            df=None,
            method=self.method,
            target=Target.MODEL.at(n),
            loss="zero-one",
            n_units=n,
            n_fits=n_fits,
            seconds=0.0,
            notes=(),
            mc_error=means.error(weights),
            contributions=means.values,
            space=self.problem.cut.name,
            measure=measure,
            integration=means.how,
            bandwidth=None if kernels is None else kernels.bandwidth,
        )


def error_probabilities(p: Any, assigned: Any, codes: Any, form: str) -> Any:
    """Return 1 - p(assigned class), or as the released code has it: p(y) if the class assigned is wrong."""
    rows = torch.arange(len(p), device=p.device)
    if form == "predicted":
        return 1 - p[rows, assigned]
    own = p[rows, codes]
    return torch.where(assigned == codes, 1 - own, own)


class NetMethod(Protocol):
    """An estimator of the error of a trained net."""

    def __call__(self, task: EstimateTask) -> NetEstimate:
        """Return the estimate."""


@dataclass(frozen=True)
class NetResub:
    """Error on the training points themselves."""

    def __call__(self, task: EstimateTask) -> NetEstimate:
        """Count the points that the net gets wrong."""
        wrong = (task.problem.assigned != task.problem.codes).double().cpu().numpy()
        return task.record(KernelMeans(wrong, np.zeros(len(wrong)), "exact"), "mass 1/n on each training point")


@dataclass(frozen=True)
class BolsterMethod:
    """Error under kernels around the training points; `kind` is "spherical" or "diagonal"."""

    kind: str

    def __call__(self, task: EstimateTask) -> NetEstimate:
        """Average the misclassified share of the kernels."""
        kernels = task.kernels(self.kind)
        means = task.problem.misclassified_share(kernels, task.points, task.options.exact)
        made = task.record(means, f"{self.kind} kernels", kernels)
        if task.options.average != "points" or task.options.kappa is not None or task.options.layer is not None:
            return made  # the zoos judged kernels of the natural size around the inputs
        return replace(made, interval=interval_from_zoos(task.method, made.value, made.n_units, task.options.level))


@dataclass(frozen=True)
class CopiesMethod:
    """Mean error of copies trained on 80% on the rows they left out: on the zoos nearer to the test error than any kernel calibrated on them."""

    def __call__(self, task: EstimateTask) -> NetEstimate:
        """Train the copies and count what they get wrong."""
        options, problem = task.options, task.problem
        _note_defaults(task)
        trials = task.trials(None)  # kernels would ask for a space of floats, which tokens are not
        task.notes.extend(_training_notes(problem, trials))
        codes, parts = problem.codes.cpu().numpy(), np.zeros(len(problem.X))
        for wrong, rows in zip(trials.wrong(), trials.left_out):
            weights = point_weights(codes[rows], problem.n_classes, options.average)
            parts[rows] += wrong * weights / options.repeats
        shares = parts / problem.weights  # so that the weighted mean over all points is the mean over copies
        words = f"rows that {options.repeats} copies left out"
        made = task.record(KernelMeans(shares, np.zeros(len(shares)), "exact"), words, n_fits=options.repeats)
        task.temperatures.append(trials.temperature(options.level))
        return replace(made, space="input", interval=task.interval(trials))


def _note_defaults(task: EstimateTask) -> None:
    """Say if nobody said how the net was trained."""
    if not set(task.options.training or ()) - {"progress"}:
        text = "training= was not given; the copies may be better or worse trained than the net"
        task.notes.append(note("N022", text))


@dataclass(frozen=True)
class CalibratedBolsterMethod:
    """Bolstered error with kernels scaled by the kappa that removes the bias seen on copies trained on 80%."""

    kind: str

    def __call__(self, task: EstimateTask) -> NetEstimate:
        """Train the copies, search kappa, and integrate with it."""
        options, problem = task.options, task.problem
        if options.kappa is not None:
            raise InputError(
                f"kappa={options.kappa} is given, but {task.method} finds it; use the uncalibrated method."
            )
        _note_defaults(task)
        trials = task.trials(self.kind)
        task.notes.extend(_training_notes(problem, trials))
        found = search_kappa(
            lambda k: trials.deviations(k, options.exact),
            step=options.step,
            max_kappa=options.max_kappa,
            bidirectional=options.bidirectional,
        )
        kernels = problem.kernels(self.kind, options)

        def means_at(kappa: float) -> KernelMeans:
            return problem.misclassified_share(replace(kernels, scale=kappa), task.points, options.exact)

        def value_at(kappa: float) -> float:
            return float(problem.weights @ means_at(kappa).values)

        uncalibrated = value_at(1.0)
        scaled = replace(kernels, scale=found.kappa)
        base = task.record(
            means_at(found.kappa), f"{self.kind} kernels scaled by {found.kappa:.4g}", scaled, options.repeats
        )
        known = {**vars(base), "interval": task.interval(trials)}
        task.notes.extend(_bias_notes(base.value, known["interval"], options))
        task.temperatures.append(trials.temperature(options.level))
        return CalibratedNetEstimate(
            **known,
            kappa=found.kappa,
            curve=found.curve,
            deviations=found.deviations,
            uncalibrated=uncalibrated,
            calibration_error=_calibration_error(trials, options, {found.kappa: base.value}, value_at),
        )


def _bias_notes(value: float, interval: Interval | None, options: EstimateOptions) -> list[Note]:
    """Say if the estimate contradicts the copies it was calibrated on."""
    if interval is None or value in interval:
        return []
    why = "" if options.bidirectional else "; bidirectional=True (--option bidirectional=true) lets kappa fall below 1"
    return [note("N026", f"the estimate is {value:.3f}, the copies' errors allow {interval}{why}")]


def _training_notes(problem: Problem, trials: Trials) -> list[Note]:
    """Say if the copies fit their rows otherwise than the net fits its own: they were trained in another way, and their errors say little about it."""
    own, copies = (
        float(np.mean([(p.assigned != p.codes).double().mean().item() for p in parts]))
        for parts in ([problem], trials.problems)
    )
    sampling = np.sqrt(max(own * (1 - own), copies * (1 - copies)) / len(problem.X))
    if abs(own - copies) <= max(FIT_APART, 2 * sampling):
        return []
    return [note("N025", f"training error {own:.3f} of the net, {copies:.3f} of its copies")]


def _calibration_error(
    trials: Trials, options: EstimateOptions, known: dict[float, float], value_at: Callable[[float], float]
) -> float:
    """Return the jackknife error over the copies: kappa is searched again without each of them, and the net estimated with it."""
    count = len(trials.problems)
    if count < 2:
        return float("nan")
    values = []
    for left_out in range(count):

        def others(kappa: float, left_out: int = left_out) -> Any:
            return np.delete(trials.deviations(kappa, options.exact), left_out)

        kappa = search_kappa(
            others, step=options.step, max_kappa=options.max_kappa, bidirectional=options.bidirectional
        ).kappa
        if kappa not in known:
            known[kappa] = value_at(kappa)
        values.append(known[kappa])
    return float(np.sqrt((count - 1) / count * np.sum((np.array(values) - np.mean(values)) ** 2)))


def _held_out_logits(task: EstimateTask) -> tuple[Any, Any]:
    """Return logits and classes of rows that the nets behind them were not trained on, from copies trained on 80%."""
    if task.options.training is None and task.options.factory is None:
        raise InputError(
            "a temperature fitted to the training rows would trust the net as much as it trusts itself: give "
            "validation=(X, y) of rows it was not trained on, or training=dict(...) to train copies on 80%."
        )
    trials = task.trials("spherical")
    task.temperatures.append(trials.temperature(task.options.level))
    return torch.cat([logits for logits, _ in trials.held_out]), torch.cat([codes for _, codes in trials.held_out])


def _require_samples(task: EstimateTask) -> None:
    if not hasattr(task.options.posterior, "predictive"):
        raise InputError(
            f"{task.method} averages over samples of a posterior: give posterior=unseen.nets.posterior(...)."
        )


def _error_at_points(task: EstimateTask) -> tuple[KernelMeans, str]:
    """Return the posterior error at each training point, and the posterior in words."""
    problem, options = task.problem, task.options
    probabilities, name = probabilities_of(problem, options, lambda: _held_out_logits(task))
    rows = torch.arange(len(problem.X), device=problem.net.device)
    with torch.no_grad(), eval_mode(problem.net.module):
        p = probabilities(problem.features, rows, problem.net.all_logits(problem.X), True)
    values = error_probabilities(p, problem.assigned, problem.codes, options.form).double().cpu().numpy()
    return KernelMeans(values, np.zeros(len(values)), "exact"), name


@dataclass(frozen=True)
class PosteriorMethod:
    """Posterior probability of an error at the training points; with `samples` the posterior is one of sampled weights."""

    samples: bool = False

    def __call__(self, task: EstimateTask) -> NetEstimate:
        """Average the probabilities."""
        if self.samples:
            _require_samples(task)
        return task.record(*_error_at_points(task))


@dataclass(frozen=True)
class BolsterPosteriorMethod:
    """Posterior probability of an error at points of the kernels; with `samples` the posterior is one of sampled weights."""

    kind: str
    samples: bool = False

    def __call__(self, task: EstimateTask) -> NetEstimate:
        """Average the probabilities over the kernels."""
        if self.samples:
            _require_samples(task)
        problem, options = task.problem, task.options
        kernels = task.kernels(self.kind)
        if options.mode != "expectation":
            return self._product(task, kernels)
        probabilities, name = probabilities_of(problem, options, lambda: _held_out_logits(task))

        def integrand(points: Any, rows: Any) -> Any:
            logits = problem.logits_at(points, rows)
            p = probabilities(points, rows, logits, False)
            return error_probabilities(p, logits.argmax(1), problem.codes[rows], options.form)

        with eval_mode(problem.net.module):
            means = kernel_means(kernels, task.points, integrand)
        return task.record(means, f"{name} at points of {self.kind} kernels", kernels)

    def _product(self, task: EstimateTask, kernels: Kernels) -> NetEstimate:
        """Equations (2.38) and (2.51): products of the kernel's share and the posterior at its centre, for study."""
        share = task.problem.misclassified_share(kernels, task.points, task.options.exact)
        error, name = _error_at_points(task)
        if task.options.mode == "product_error":
            values, slope = share.values * error.values, error.values
        else:
            values, slope = 1 - (1 - share.values) * (1 - error.values), 1 - error.values
        task.notes.append(note("U027", f"mode={task.options.mode!r} is a printed product, offered for study"))
        means = KernelMeans(values, share.variances * slope**2, share.how)
        return task.record(means, f"{name} times {self.kind} kernels", kernels)


def default_method(training: Any) -> str:
    """Return the method nearest to the true error with what was given: copies are trained only if it is said how."""
    return "copies" if training else "bolster"


METHODS: dict[str, NetMethod] = {
    "resub": NetResub(),
    "bolster": BolsterMethod("spherical"),
    "naive-bayes-bolster": BolsterMethod("diagonal"),
    "copies": CopiesMethod(),
    "calibrated-bolster": CalibratedBolsterMethod("spherical"),
    "calibrated-naive-bayes-bolster": CalibratedBolsterMethod("diagonal"),
    "posterior": PosteriorMethod(),
    "bolster-posterior": BolsterPosteriorMethod("spherical"),
    "naive-bayes-bolster-posterior": BolsterPosteriorMethod("diagonal"),
    "bayesian": PosteriorMethod(samples=True),
    "bayesian-bolster": BolsterPosteriorMethod("diagonal", samples=True),
}
