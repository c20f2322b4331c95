"""The estimators of a net's error by name, each a function of one trained net with its sample (Ghane, 2022, chapter 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError
from unseen.core.estimate import Target
from unseen.core.notes import Note, note
from unseen.core.rng import task_seed
from unseen.nets.estimates.calibration import Trials, search_kappa, train_trials
from unseen.nets.estimates.class_probabilities import probabilities_of
from unseen.nets.estimates.kernels import KernelMeans, KernelPoints, Kernels, kernel_means
from unseen.nets.estimates.problem import EstimateOptions, Problem
from unseen.nets.estimates.records import CalibratedNetEstimate, NetEstimate
from unseen.nets.modules.layers import eval_mode

__all__ = ["METHODS", "EstimateTask", "error_probabilities"]


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimateTask:
    """Everything one estimate computes with."""

    method: str
    problem: Problem
    options: EstimateOptions
    seed: int
    notes: list[Note] = field(default_factory=list)

    @property
    def points(self) -> KernelPoints:
        """The kernel points."""
        seed = task_seed(self.seed, "points") if self.options.draws is None else int(self.options.draws)
        return KernelPoints(self.options.n_mc, self.options.sampler, seed)

    def kernels(self, kind: str) -> Kernels:
        """The kernels, scaled by kappa where it is given."""
        return self.problem.kernels(
            kind, self.options, 1.0 if self.options.kappa is None else float(self.options.kappa)
        )

    def trials(self, kind: str) -> Trials:
        """Train copies on 80% of the sample."""
        return train_trials(self.problem, kind, self.options, task_seed(self.seed, "trials"))

    def record(self, means: KernelMeans, measure: str, kernels: Kernels | None = None, n_fits: int = 0) -> NetEstimate:
        """Fill in the record."""
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


def _resub(work: EstimateTask) -> NetEstimate:
    wrong = (work.problem.assigned != work.problem.codes).double().cpu().numpy()
    return work.record(KernelMeans(wrong, np.zeros(len(wrong)), "exact"), "mass 1/n on each training point")


def _bolstered(kind: str) -> Callable[[EstimateTask], NetEstimate]:
    def run(work: EstimateTask) -> NetEstimate:
        kernels = work.kernels(kind)
        means = work.problem.misclassified_share(kernels, work.points, work.options.exact)
        return work.record(means, f"{kind} kernels", kernels)

    return run


def _calibrated(kind: str) -> Callable[[EstimateTask], NetEstimate]:
    def run(work: EstimateTask) -> NetEstimate:
        options, problem = work.options, work.problem
        if options.kappa is not None:
            raise InputError(
                f"kappa={options.kappa} is given, but {work.method} finds it; use the uncalibrated method."
            )
        if not set(options.training or ()) - {"progress"}:
            said = "training= was not given; the copies behind kappa may be better or worse trained than the net"
            work.notes.append(note("N022", said))
        trials = work.trials(kind)
        kappa, curve, table = search_kappa(
            lambda k: trials.deviations(k, options.exact),
            step=options.step,
            max_kappa=options.max_kappa,
            bidirectional=options.bidirectional,
        )
        kernels = problem.kernels(kind, options)
        plain = problem.misclassified_share(kernels, work.points, options.exact)
        scaled = replace(kernels, scale=kappa)
        means = problem.misclassified_share(scaled, work.points, options.exact)
        base = work.record(means, f"{kind} kernels scaled by {kappa:.4g}", scaled, options.repeats)

        def at(other: float) -> float:
            again = problem.misclassified_share(replace(kernels, scale=other), work.points, options.exact)
            return float(problem.weights @ again.values)

        return CalibratedNetEstimate(
            **vars(base),
            kappa=kappa,
            curve=curve,
            deviations=table,
            uncalibrated=float(problem.weights @ plain.values),
            calibration_error=_calibration_error(trials, options, {kappa: base.value}, at),
        )

    return run


def _calibration_error(
    trials: Trials, options: EstimateOptions, known: dict[float, float], at: Callable[[float], float]
) -> float:
    """Jackknife over the copies: kappa is searched again without each of them, and the net judged with what is found."""
    count = len(trials.problems)
    if count < 2:
        return float("nan")
    values = []
    for left_out in range(count):

        def others(kappa: float, left_out: int = left_out) -> Any:
            return np.delete(trials.deviations(kappa, options.exact), left_out)

        kappa = search_kappa(
            others, step=options.step, max_kappa=options.max_kappa, bidirectional=options.bidirectional
        )[0]
        if kappa not in known:
            known[kappa] = at(kappa)
        values.append(known[kappa])
    return float(np.sqrt((count - 1) / count * np.sum((np.array(values) - np.mean(values)) ** 2)))


def _held_out(work: EstimateTask) -> Callable[[], tuple[Any, Any]]:
    def logits() -> tuple[Any, Any]:
        if work.options.training is None and work.options.factory is None:
            raise InputError(
                "a temperature fitted to the training rows would trust the net as much as it trusts itself: give "
                "validation=(X, y) of rows it was not trained on, or training=dict(...) to train copies on 80%."
            )
        held = work.trials("spherical").held_out
        return torch.cat([z for z, _ in held]), torch.cat([c for _, c in held])

    return logits


def error_probabilities(p: Any, assigned: Any, codes: Any, form: str) -> Any:
    """Return 1 - p(assigned class), or the released code's version: p(y) where the class assigned is wrong."""
    rows = torch.arange(len(p), device=p.device)
    if form == "predicted":
        return 1 - p[rows, assigned]
    own = p[rows, codes]
    return torch.where(assigned == codes, 1 - own, own)


def _posterior(work: EstimateTask) -> NetEstimate:
    means, name = _doubt_at_points(work)
    return work.record(means, name)


def _doubt_at_points(work: EstimateTask) -> tuple[KernelMeans, str]:
    problem, options = work.problem, work.options
    probabilities, name = probabilities_of(problem, options, _held_out(work))
    rows = torch.arange(len(problem.X), device=problem.net.device)
    with torch.no_grad(), eval_mode(problem.net.module):
        p = probabilities(problem.features, rows, problem.net.all_logits(problem.X), True)
    values = error_probabilities(p, problem.assigned, problem.codes, options.form).double().cpu().numpy()
    return KernelMeans(values, np.zeros(len(values)), "exact"), name


def _bolster_posterior(kind: str) -> Callable[[EstimateTask], NetEstimate]:
    def run(work: EstimateTask) -> NetEstimate:
        problem, options = work.problem, work.options
        kernels = work.kernels(kind)
        if options.mode != "expectation":
            return _product(work, kernels, kind)
        probabilities, name = probabilities_of(problem, options, _held_out(work))

        def integrand(points: Any, rows: Any) -> Any:
            logits = problem.logits_at(points, rows)
            p = probabilities(points, rows, logits, False)
            return error_probabilities(p, logits.argmax(1), problem.codes[rows], options.form)

        with eval_mode(problem.net.module):
            means = kernel_means(kernels, work.points, integrand)
        return work.record(means, f"{name} at points of {kind} kernels", kernels)

    return run


def _product(work: EstimateTask, kernels: Kernels, kind: str) -> NetEstimate:
    """Equations (2.38) and (2.51): products of the kernel's share and the posterior at its centre, for study."""
    share = work.problem.misclassified_share(kernels, work.points, work.options.exact)
    doubt, name = _doubt_at_points(work)
    if work.options.mode == "product_error":
        values, slope = share.values * doubt.values, doubt.values
    else:
        values, slope = 1 - (1 - share.values) * (1 - doubt.values), 1 - doubt.values
    work.notes.append(note("U027", f"mode={work.options.mode!r} is a printed product, offered for study"))
    return work.record(
        KernelMeans(values, share.variances * slope**2, share.how), f"{name} times {kind} kernels", kernels
    )


def _bayesian(work: EstimateTask) -> NetEstimate:
    _need_posterior(work)
    return _posterior(work)


def _bayesian_bolster(work: EstimateTask) -> NetEstimate:
    _need_posterior(work)
    return _bolster_posterior("diagonal")(work)


def _need_posterior(work: EstimateTask) -> None:
    if not hasattr(work.options.posterior, "predictive"):
        raise InputError(
            f"{work.method} averages over samples of a posterior: give posterior=unseen.nets.posterior(...)."
        )


METHODS: dict[str, Callable[[EstimateTask], NetEstimate]] = {
    "resub": _resub,
    "bolster": _bolstered("spherical"),
    "naive-bayes-bolster": _bolstered("diagonal"),
    "calibrated-bolster": _calibrated("spherical"),
    "calibrated-naive-bayes-bolster": _calibrated("diagonal"),
    "posterior": _posterior,
    "bolster-posterior": _bolster_posterior("spherical"),
    "naive-bayes-bolster-posterior": _bolster_posterior("diagonal"),
    "bayesian": _bayesian,
    "bayesian-bolster": _bayesian_bolster,
}
