"""Error estimates of a trained net from its own training data (Ghane, 2022, sections 2.2.4.2, 2.2.4.3 and 2.3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.estimate import Target
from unseen.core.notes import Note, merge_notes, note
from unseen.core.rng import RandomState, root_seed, task_seed
from unseen.nets._doubt import probabilities_of
from unseen.nets._noise import Kernels, Means, Points, kernel_means
from unseen.nets._problem import Options, Problem, options_from, problem_of
from unseen.nets._records import CalibratedNetEstimate, NetEstimate
from unseen.nets._trials import Trials, search_kappa, trained_trials
from unseen.nets._view import held_still, view_of

__all__ = ["METHODS", "estimate"]


@dataclass(frozen=True, eq=False)
class Work:
    """Everything one estimate computes with."""

    method: str
    problem: Problem
    options: Options
    seed: int
    notes: list[Note] = field(default_factory=list)

    @property
    def points(self) -> Points:
        """The kernel points."""
        seed = task_seed(self.seed, "points") if self.options.draws is None else int(self.options.draws)
        return Points(self.options.n_mc, self.options.sampler, seed)

    def kernels(self, kind: str) -> Kernels:
        """The kernels, scaled by kappa where it is given."""
        return self.problem.kernels(
            kind, self.options, 1.0 if self.options.kappa is None else float(self.options.kappa)
        )

    def trials(self, kind: str) -> Trials:
        """Train copies on 80% of the sample."""
        return trained_trials(self.problem, kind, self.options, task_seed(self.seed, "trials"))

    def record(self, means: Means, measure: str, kernels: Kernels | None = None, n_fits: int = 0) -> NetEstimate:
        """Fill in the record."""
        weights, n = self.problem.weights, len(self.problem.X)
        return NetEstimate(
            float(weights @ means.values), None, None, None, self.method, Target.MODEL.at(n), "zero-one", n, n_fits, 0.0, (),
            means.error(weights), means.values, self.problem.cut.name, measure, means.how,
            None if kernels is None else kernels.bandwidth,
        )  # fmt: skip


def _resub(work: Work) -> NetEstimate:
    wrong = (work.problem.assigned != work.problem.codes).double().cpu().numpy()
    return work.record(Means(wrong, np.zeros(len(wrong)), "exact"), "mass 1/n on each training point")


def _bolstered(kind: str) -> Callable[[Work], NetEstimate]:
    def run(work: Work) -> NetEstimate:
        kernels = work.kernels(kind)
        means = work.problem.misclassified(kernels, work.points, work.options.exact)
        return work.record(means, f"{kind} kernels", kernels)

    return run


def _calibrated(kind: str) -> Callable[[Work], NetEstimate]:
    def run(work: Work) -> NetEstimate:
        options, problem = work.options, work.problem
        if options.kappa is not None:
            raise InputError(
                f"kappa={options.kappa} is given, but {work.method} finds it; use the uncalibrated method."
            )
        trials = work.trials(kind)
        kappa, curve, table = search_kappa(
            lambda k: trials.deviations(k, options.exact),
            step=options.step, max_kappa=options.max_kappa, bidirectional=options.bidirectional,
        )  # fmt: skip
        kernels = problem.kernels(kind, options)
        plain = problem.misclassified(kernels, work.points, options.exact)
        scaled = replace(kernels, scale=kappa)
        means = problem.misclassified(scaled, work.points, options.exact)
        base = work.record(means, f"{kind} kernels scaled by {kappa:.4g}", scaled, options.repeats)
        return CalibratedNetEstimate(
            **vars(base), kappa=kappa, curve=curve, deviations=table, uncalibrated=float(problem.weights @ plain.values)
        )

    return run


def _held_out(work: Work) -> Callable[[], tuple[Any, Any]]:
    def logits() -> tuple[Any, Any]:
        if work.options.training is None and work.options.factory is None:
            raise InputError(
                "a temperature fitted to the training rows would trust the net as much as it trusts itself: give "
                "validation=(X, y) of rows it was not trained on, or training=dict(...) to train copies on 80%."
            )
        held = work.trials("spherical").held_out
        return torch.cat([z for z, _ in held]), torch.cat([c for _, c in held])

    return logits


def _doubt(p: Any, assigned: Any, codes: Any, form: str) -> Any:
    """Return 1 - p(assigned class), or the released code's version: p(y) where the class assigned is wrong."""
    rows = torch.arange(len(p), device=p.device)
    if form == "predicted":
        return 1 - p[rows, assigned]
    own = p[rows, codes]
    return torch.where(assigned == codes, 1 - own, own)


def _posterior(work: Work) -> NetEstimate:
    means, name = _doubt_at_points(work)
    return work.record(means, name)


def _doubt_at_points(work: Work) -> tuple[Means, str]:
    problem, options = work.problem, work.options
    probabilities, name = probabilities_of(problem, options, _held_out(work))
    rows = torch.arange(len(problem.X), device=problem.view.device)
    with torch.no_grad(), held_still(problem.view.module):
        p = probabilities(problem.features, rows, problem.view.all_logits(problem.X), True)
    values = _doubt(p, problem.assigned, problem.codes, options.form).double().cpu().numpy()
    return Means(values, np.zeros(len(values)), "exact"), name


def _bolster_posterior(kind: str) -> Callable[[Work], NetEstimate]:
    def run(work: Work) -> NetEstimate:
        problem, options = work.problem, work.options
        kernels = work.kernels(kind)
        if options.mode != "expectation":
            return _product(work, kernels, kind)
        probabilities, name = probabilities_of(problem, options, _held_out(work))

        def integrand(points: Any, rows: Any) -> Any:
            logits = problem.logits_at(points, rows)
            p = probabilities(points, rows, logits, False)
            return _doubt(p, logits.argmax(1), problem.codes[rows], options.form)

        with held_still(problem.view.module):
            means = kernel_means(kernels, work.points, integrand)
        return work.record(means, f"{name} at points of {kind} kernels", kernels)

    return run


def _product(work: Work, kernels: Kernels, kind: str) -> NetEstimate:
    """Equations (2.38) and (2.51): products of the kernel's share and the posterior at its centre, for study."""
    share = work.problem.misclassified(kernels, work.points, work.options.exact)
    doubt, name = _doubt_at_points(work)
    if work.options.mode == "product_error":
        values, slope = share.values * doubt.values, doubt.values
    else:
        values, slope = 1 - (1 - share.values) * (1 - doubt.values), 1 - doubt.values
    work.notes.append(note("U027", f"mode={work.options.mode!r} is a printed product, offered for study"))
    return work.record(Means(values, share.variances * slope**2, share.how), f"{name} times {kind} kernels", kernels)


def _bayesian(work: Work) -> NetEstimate:
    _need_posterior(work)
    return _posterior(work)


def _bayesian_bolster(work: Work) -> NetEstimate:
    _need_posterior(work)
    return _bolster_posterior("diagonal")(work)


def _need_posterior(work: Work) -> None:
    if not hasattr(work.options.posterior, "predictive"):
        raise InputError(
            f"{work.method} averages over samples of a posterior: give posterior=unseen.nets.posterior(...)."
        )


METHODS: dict[str, Callable[[Work], NetEstimate]] = {
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


def estimate(
    module: Any,
    X: Any,
    y: Any,
    method: str = "naive-bayes-bolster",
    *,
    repeats: int = 5,
    n_mc: int = 100,
    device: Any = "auto",
    layer: str | None = None,
    kappa: float | None = None,
    random_state: RandomState = None,
    outputs: str = "auto",
    classes: Any = None,
    **options: Any,
) -> NetEstimate:
    """Estimate the error of a trained net on unseen data from its training data, without training it again.

    The net is held in evaluation mode and left as it was. Kernel points are drawn on the device block by block: memory does
    not grow with the sample.

    Parameters
    ----------
    module : nn.Module, Classifier, wrapper with `module_`, Posterior, or object with predict_proba
        The trained net; None with a `Posterior` lets the posterior predictive decide.
    X, y : array-like or tensor
        The sample it was trained on: inputs as the net takes them, and labels.
    method : str
        "resub"; "bolster" (spherical kernels, class-wise nearest-neighbour size); "naive-bayes-bolster" (a size for every
        coordinate); "calibrated-bolster" and "calibrated-naive-bayes-bolster" (size scaled by the kappa that removes an
        estimated bias; these train `repeats` copies on 80%, side by side); "posterior"; "bolster-posterior" and
        "naive-bayes-bolster-posterior" (posterior at kernel points); "bayesian" and "bayesian-bolster" (posterior
        predictive over samples; the second with diagonal kernels).
    repeats : int
        80/20 splits of a calibration.
    n_mc : int
        Points per kernel.
    device : str
        "auto" leaves a module where it lies.
    layer : str, optional
        Put kernels (and nearest neighbours) in the space of this layer's output, named as in `named_modules()`.
    kappa : float, optional
        Factor on the kernels' standard deviations, 1 by default.
    random_state : int, Generator or None
        Same seed, same numbers on one kind of device.
    outputs : {"auto", "logits", "probabilities"}
        What the net returns.
    classes : array-like, optional
        Label of each output.
    average : {"points", "class"}
        Mean over all points, or each class with equal weight.
    nearest : {"distinct", "any"}
        Diagonal kernels from the nearest different value within the class, or with ties counting as 0.
    sampler : {"plain", "antithetic"}
        How kernel points are drawn.
    draws : int
        Seed of the kernel points: nets given the same one are compared on the same points.
    exact : bool
        Use the exact integral where the net is one linear layer with two classes, True by default.
    posterior : {"softmax", "temperature", "knn"}, Posterior or function
        Class probabilities of the posterior methods; "temperature" needs `validation` or `training`.
    k, posterior_layer : int, str
        Neighbours of "knn" (the point is its own first), and a layer whose space they are sought in.
    validation : (X, y)
        Rows the net was not trained on, to fit the temperature.
    mode : {"expectation", "product_error", "product_accuracy"}
        Expectation of the posterior error over the kernel, or the printed products (2.38) and (2.51), for study.
    form : {"predicted", "released"}
        1 - P(class assigned), or the released code's P(y) where the class assigned is wrong.
    training : dict
        Options of `fit_many` for the copies of a calibration.
    factory : function
        Returns a fresh net; by default the layers of `module` are re-initialised.
    step, max_kappa, fraction, bidirectional
        Of a calibration: width of a step (0.1), largest kappa (20), share left out (0.2), and whether kappa may fall below 1.

    Returns
    -------
    NetEstimate
        A `CalibratedNetEstimate` with the whole path of kappa for calibrated methods. `value` is the estimate,
        `contributions` the error attributed to each point, `mc_error` the Monte-Carlo error of the integration alone.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, sections 2.2 and 2.3.
    Braga-Neto, U. M. and Dougherty, E. R. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> import torch, unseen.nets
    >>> generator = torch.Generator().manual_seed(0)
    >>> X = torch.randn(60, 4, generator=generator)
    >>> y = (X[:, 0] > 0).long()
    >>> net = torch.nn.Linear(4, 2)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[-1.0, 0, 0, 0], [1.0, 0, 0, 0]])), net.bias.zero_()
    >>> unseen.nets.estimate(net, X, y, method="resub").value
    0.0
    >>> e = unseen.nets.estimate(net, X, y, method="bolster")
    >>> 0 < e.value < 0.5, e.integration, e.contributions.shape
    (True, 'exact', (60,))
    """
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    start = time.perf_counter()
    given = options_from(
        {"repeats": repeats, "n_mc": n_mc, "layer": layer, "kappa": kappa, **_of_wrapper(module), **options}
    )
    if module is None:
        module = given.posterior
        if not hasattr(module, "predictive"):
            raise KindError("module is None; give a trained net, or posterior= to let the posterior predictive decide.")
    view, data = view_of(module, X, device=device, outputs=outputs, classes=classes)
    work = Work(method, problem_of(view, data, y, given), given, root_seed(random_state))
    result = METHODS[method](work)
    notes = merge_notes(tuple(work.notes), tuple(view.notes), _few(work.problem))
    return replace(result, notes=notes, seconds=time.perf_counter() - start)


def _of_wrapper(module: Any) -> dict[str, Any]:
    """Return what a `Classifier` knows about how its net is made and trained."""
    recipe = getattr(module, "training_recipe", None)
    return dict(recipe()) if callable(recipe) and not isinstance(module, torch.nn.Module) else {}


def _few(problem: Problem) -> tuple[Note, ...]:
    counts = np.bincount(problem.codes.cpu().numpy(), minlength=problem.n_classes)
    small = [str(problem.classes[c]) for c in np.flatnonzero((counts > 0) & (counts < 5))]
    return (note("U001", f"fewer than 5 points in {', '.join(small[:5])}"),) if small else ()
