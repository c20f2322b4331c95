"""Error estimates of a trained net from its own training data (Ghane, 2022, sections 2.2.4.2, 2.2.4.3 and 2.3)."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import torch

from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.estimate import Target
from unseen.core.notes import Note, merge_notes, note
from unseen.core.rng import RandomState, root_seed
from unseen.nets.estimates.class_probabilities import validation_logits
from unseen.nets.estimates.methods import METHODS, EstimateTask, default_method, error_probabilities
from unseen.nets.estimates.problem import EstimateOptions, Problem, point_weights, problem_of
from unseen.nets.estimates.progress import progress_bar
from unseen.nets.estimates.records import NetEstimate
from unseen.nets.estimates.temperature import fit_temperature
from unseen.nets.files.examples import read_examples
from unseen.nets.modules.device import limited_torch
from unseen.nets.modules.inputs import class_codes
from unseen.nets.modules.logits import logit_function
from unseen.nets.modules.tokens import NamedInputs, embedding_of, has_tokens, in_one_tensor
from unseen.nets.training.classifier import TrainingSpec, inputs_for

__all__ = ["estimate"]


F = TypeVar("F", bound=Callable[..., Any])


def _suggest_options(function: F) -> F:
    """Name the nearest option if a keyword is misspelt, which Python's own message does not do."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                raise UnknownName("option of nets.estimate", name, known)
        return function(*args, **options)

    return cast(F, call)


@_suggest_options
@limited_torch()
def estimate(
    module: Any,
    X: Any,
    y: Any = None,
    method: str | None = None,
    *,
    repeats: int = 5,
    n_mc: int = 100,
    device: Any = "auto",
    layer: str | None = None,
    kappa: float | None = None,
    random_state: RandomState = None,
    outputs: str = "auto",
    classes: Any = None,
    progress: Any = False,
    average: str = "points",
    nearest: str = "distinct",
    sampler: str = "plain",
    draws: int | None = None,
    exact: bool = True,
    posterior: Any = "softmax",
    k: int = 3,
    posterior_layer: str | None = None,
    validation: Any = None,
    mode: str = "expectation",
    form: str = "predicted",
    training: dict[str, Any] | None = None,
    factory: Any = None,
    step: float = 0.1,
    max_kappa: float = 20.0,
    fraction: float = 0.2,
    bidirectional: bool = False,
    level: float = 0.95,
) -> NetEstimate:
    """Estimate the error of a trained net on unseen data from its training data, without training it again.

    The net runs in evaluation mode and is left as it was. Kernel points are drawn on the device block by block: memory does
    not grow with the sample.

    Parameters
    ----------
    module : nn.Module, Classifier, wrapper with `module_`, Posterior, or object with predict_proba
        The trained net; None with a `Posterior` lets the posterior predictive decide.
    X, y : array-like or tensor
        The sample it was trained on: inputs as the net takes them, and labels. `X` alone may be whatever `read_examples` takes, such as
        a DataLoader; tokens may come as a dictionary (input_ids, attention_mask).
    method : str, optional
        "bolster" by default, "copies" if `training` is given. One of "resub"; "copies" (the error of `repeats` copies trained on 80%, side by side, on the rows they left out); "bolster" (spherical kernels,
        class-wise nearest-neighbour size); "naive-bayes-bolster" (a size for every coordinate); "calibrated-bolster" and "calibrated-naive-bayes-bolster" (size scaled by the kappa that removes an
        estimated bias; these train `repeats` copies on 80%, side by side); "posterior"; "bolster-posterior" and
        "naive-bayes-bolster-posterior" (posterior at kernel points); "bayesian" and "bayesian-bolster" (posterior
        predictive over samples; the second with diagonal kernels).
    repeats : int
        80/20 splits, one copy of the net each.
    n_mc : int
        Points per kernel.
    device : str
        "auto" leaves a module where it lies.
    layer : str, optional
        Put kernels (and nearest neighbours) in the space of this layer's output, named as in `named_modules()`; behind the embedding by default if
        the net reads tokens.
    kappa : float, optional
        Factor on the kernels' standard deviations, 1 by default.
    random_state : int, Generator or None
        Same seed, same numbers on one kind of device.
    outputs : {"auto", "logits", "probabilities"}
        What the net returns.
    classes : array-like, optional
        Label of each output.
    progress : bool or None
        Show a bar after two seconds; None shows it in a terminal.
    average : {"points", "class"}
        Mean over all points, or each class with equal weight.
    nearest : {"distinct", "any"}
        Diagonal kernels from the nearest different value within the class, or with ties counting as 0.
    sampler : {"plain", "antithetic"}
        How kernel points are drawn.
    draws : int
        Seed of the kernel points: nets given the same one are compared on the same points.
    exact : bool
        Use the exact integral if the net is one linear layer with two classes, True by default.
    posterior : {"softmax", "temperature", "knn"}, Posterior or function
        Class probabilities of the posterior methods; "temperature" needs `validation` or `training`.
    k, posterior_layer : int, str
        Neighbours of "knn" (the point is its own first), and a layer whose space they are sought in.
    validation : (X, y)
        Rows the net was not trained on, to find the temperature of its probabilities; without them, copies do if some are trained.
    mode : {"expectation", "product_error", "product_accuracy"}
        Expectation of the posterior error over the kernel, or the printed products (2.38) and (2.51), for study.
    form : {"predicted", "released"}
        1 - P(class assigned), or the released code's P(y) if the class assigned is wrong.
    training : dict
        Options of `fit_many` for the copies of a calibration: how the net itself was trained. A `Classifier` knows it; for other nets
        the defaults of `fit_many` are taken without it, with note N022.
    factory : function
        Returns a fresh net; by default the layers of `module` are re-initialised.
    step, max_kappa, fraction, bidirectional
        Of a calibration: width of a step (0.1), largest kappa (20), share left out (0.2), and whether kappa may fall below 1, which the published method does not.
    level : float
        Confidence level of the interval of the error, and of the temperature's.

    Returns
    -------
    NetEstimate
        A `CalibratedNetEstimate` with the whole path of kappa for calibrated methods. `value` is the estimate,
        `contributions` the error attributed to each point, `mc_error` the Monte-Carlo error of the integration alone; `interval` holds the net's error as often as the zoos showed
        (docs/nets-estimates.md); `temperature` calibrates its probabilities if there were copies or `validation`; `calibration_error`
        of calibrated methods is the standard error over other splits and copies.

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
    method = default_method(training) if method is None else method
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    start = time.perf_counter()
    if y is None:
        examples = read_examples(X)
        X, y = examples.X, examples.y
    spec, X = TrainingSpec.of(module), X if isinstance(X, Mapping) else inputs_for(module, X)
    if isinstance(module, torch.nn.Module):
        tokens = has_tokens(module, X)
        module, X = in_one_tensor(module, X)
        if isinstance(module, NamedInputs) and factory is not None:
            factory = partial(_with_names, factory, module.widths)
        if tokens and layer is None and "bolster" in method:
            layer = embedding_of(module, torch.as_tensor(X).long())
    elif isinstance(X, Mapping):
        raise KindError(f"X is a dictionary of inputs; {type(module).__name__} takes one array. Give the torch module.")
    if isinstance(validation, tuple) and len(validation) == 2:
        validation = (inputs_for(module, validation[0]), validation[1])
    given = EstimateOptions(
        n_mc=n_mc,
        repeats=repeats,
        layer=layer,
        kappa=kappa,
        average=average,
        nearest=nearest,
        sampler=sampler,
        draws=draws,
        exact=exact,
        posterior=posterior,
        k=k,
        posterior_layer=posterior_layer,
        mode=mode,
        form=form,
        validation=validation,
        factory=spec.factory if factory is None else factory,
        training=spec.training if training is None else training,
        step=step,
        fraction=fraction,
        max_kappa=max_kappa,
        bidirectional=bidirectional,
        level=level,
    )
    if module is None:
        module = given.posterior
        if not hasattr(module, "predictive"):
            raise KindError("module is None; give a trained net, or posterior= to let the posterior predictive decide.")
        if module.fixed is not None:
            return _estimate_from_logits(method, y, given)
    if isinstance(given.training, dict) or (given.training is None and method.startswith(("calibrated", "copies"))):
        given = replace(given, training={"progress": progress, **(given.training or {})})
    net, data = logit_function(module, X, device=device, outputs=outputs, classes=classes)
    with progress_bar(progress):
        task = EstimateTask(
            method=method, problem=problem_of(net, data, y, given), options=given, seed=root_seed(random_state)
        )
        result = METHODS[method](task)
        if validation is not None:
            task.temperatures[:] = [fit_temperature(*validation_logits(task.problem, given), level=level)]
    notes = merge_notes(
        tuple(task.notes),
        *(found.notes for found in task.temperatures),
        tuple(net.notes),
        _small_class_notes(task.problem),
        _majority_notes(task.problem),
    )
    temperature = task.temperatures[0] if task.temperatures else None
    return replace(result, temperature=temperature, notes=notes, seconds=time.perf_counter() - start)


def _with_names(factory: Callable[[], torch.nn.Module], widths: dict[str, int]) -> torch.nn.Module:
    return NamedInputs(factory(), widths)


def _estimate_from_logits(method: str, y: Any, options: EstimateOptions) -> NetEstimate:
    """Return the Bayesian estimate if nothing but logits of the training rows is known: the predictive decides."""
    if method not in ("bayesian", "resub"):
        raise InputError(
            f"{method} needs the net at other points than the training rows; give module=, or samples of its weights."
        )
    p = options.posterior.fixed.softmax(2).mean(0).double()
    codes, classes = class_codes(y, p.shape[1], options.posterior.classes_, len(p))
    assigned, target = p.argmax(1), torch.as_tensor(codes)
    doubt = (
        (assigned != target).double() if method == "resub" else error_probabilities(p, assigned, target, options.form)
    )
    weights, values = point_weights(codes, len(classes), options.average), doubt.numpy()
    return NetEstimate(
        value=float(weights @ values),
        std_error=None,
        interval=None,
        df=None,
        method=method,
        target=Target.MODEL.at(len(p)),
        loss="zero-one",
        n_units=len(p),
        n_fits=0,
        seconds=0.0,
        notes=(),
        mc_error=0.0,
        contributions=values,
        space="input",
        measure=str(options.posterior),
    )


def _small_class_notes(problem: Problem) -> tuple[Note, ...]:
    counts = np.bincount(problem.codes.cpu().numpy(), minlength=problem.n_classes)
    small = [str(problem.classes[c]) for c in np.flatnonzero((counts > 0) & (counts < 5))]
    return (note("U001", f"fewer than 5 points in {', '.join(small[:5])}"),) if small else ()


def _majority_notes(problem: Problem) -> tuple[Note, ...]:
    """Note a net that does worse on its own training rows than no net: its outputs most likely stand in another order."""
    right = int((problem.assigned == problem.codes).sum())
    largest = int(torch.bincount(problem.codes).max())
    if right >= largest:
        return ()
    return (note("N023", f"{right} of {len(problem.codes)} training rows are right, the largest class has {largest}"),)
