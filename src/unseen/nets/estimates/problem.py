"""One trained net, its sample and the options of an estimate, checked and laid out on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.estimate import check_level
from unseen.nets.estimates.kernel_sizes import diagonal_sizes, spherical_sizes
from unseen.nets.estimates.kernels import KernelMeans, KernelPoints, Kernels, kernel_means
from unseen.nets.modules.cut import Cut, cut_at, linear_rule
from unseen.nets.modules.inputs import class_codes
from unseen.nets.modules.layers import eval_mode
from unseen.nets.modules.logits import LogitFunction

__all__ = ["EstimateOptions", "Problem", "point_weights", "problem_of"]

POSTERIORS = ("softmax", "temperature", "knn")
MODES = ("expectation", "product_error", "product_accuracy")
FORMS = ("predicted", "released")


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """Options that estimates of nets share; see `unseen.nets.estimate`, whose arguments have the same names and defaults.

    Examples
    --------
    >>> EstimateOptions(n_mc=50).repeats
    5
    """

    n_mc: int = 100
    repeats: int = 5
    layer: str | None = None
    kappa: float | None = None
    average: str = "points"
    nearest: str = "distinct"
    sampler: str = "plain"
    draws: int | None = None
    exact: bool = True
    posterior: Any = "softmax"
    k: int = 3
    posterior_layer: str | None = None
    mode: str = "expectation"
    form: str = "predicted"
    validation: Any = None
    factory: Any = None
    training: dict[str, Any] | None = None
    step: float = 0.1
    fraction: float = 0.2
    max_kappa: float = 20.0
    bidirectional: bool = False
    level: float = 0.95

    def __post_init__(self) -> None:
        for name, allowed in (("average", ("points", "class")), ("mode", MODES), ("form", FORMS)):
            if getattr(self, name) not in allowed:
                raise UnknownName(name, getattr(self, name), allowed)
        if isinstance(self.posterior, str) and self.posterior not in POSTERIORS:
            raise UnknownName(
                "posterior", self.posterior, POSTERIORS, "A `Posterior` or a function of points works too."
            )
        if not (self.training is None or isinstance(self.training, dict)):
            raise KindError(
                f"training is a {type(self.training).__name__}; give a dict such as dict(epochs=200, lr=0.02)."
            )
        for name, least in (("repeats", 1), ("k", 1), ("draws", 0)):
            value = getattr(self, name)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least
            if not whole and not (name == "draws" and value is None):
                raise InputError(f"{name} is {value!r}; it is a whole number of at least {least}.")
        check_level(self.level)
        for name in ("exact", "bidirectional"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise InputError(f"{name} is {getattr(self, name)!r}; it is True or False.")
        for name in ("layer", "posterior_layer"):
            if not isinstance(getattr(self, name), (str, type(None))):
                raise KindError(f"{name} is {getattr(self, name)!r}; a layer is named by text, as in named_modules().")
        if not (self.validation is None or (isinstance(self.validation, (tuple, list)) and len(self.validation) == 2)):
            raise KindError(f"validation is a {type(self.validation).__name__}; give a pair (X, y) of rows and labels.")
        for name, low, high in (("fraction", 0.0, 1.0), ("step", 0.0, 10.0), ("max_kappa", 1.0, 1e6)):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.floating)) or not low < value < high:
                raise InputError(f"{name} is {value!r}; it must lie strictly between {low:g} and {high:g}.")
        if self.kappa is not None and not (
            isinstance(self.kappa, (int, float, np.floating)) and 0 <= self.kappa < np.inf
        ):
            raise InputError(f"kappa is {self.kappa!r}; the factor on the kernels' size is a number of at least 0.")
        KernelPoints(self.n_mc, self.sampler, 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """A net with its sample: inputs, class codes, features in the space of the kernels, weights of the points."""

    net: LogitFunction
    cut: Cut
    X: torch.Tensor
    codes: torch.Tensor
    classes: Any
    features: torch.Tensor
    assigned: torch.Tensor
    weights: Floats

    @property
    def n_classes(self) -> int:
        """Number of outputs."""
        return len(self.classes)

    @property
    def points(self) -> torch.Tensor:
        """Features as rows of floats, in which distances make sense."""
        if not self.features.is_floating_point():
            raise KindError(
                f"the space {self.cut.name!r} holds whole numbers (tokens); name a layer= whose output is floats, such as the embedding."
            )
        return self.features.flatten(1)

    def kernels(self, kind: str, options: EstimateOptions, scale: float = 1.0) -> Kernels:
        """Return the kernels, "spherical" or "diagonal", sized for this sample."""
        flat = self.points
        if kind == "spherical":
            sizes = spherical_sizes(flat, self.codes, self.n_classes, self.classes)
        else:
            sizes = diagonal_sizes(flat, self.codes, self.n_classes, options.nearest, self.classes)
        return Kernels(self.features, self.codes, sizes, scale)

    def logits_at(self, points: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Return logits at points of the kernels' space that belong to training rows."""
        if self.cut.rest is not None or self.cut.name == "input":
            return self.net.map_batches(lambda p: self.cut.tail(p, None), points)
        return self.net.map_batches(lambda p, r: self.cut.tail(p, self.X[r]), points, rows)

    def misclassified_share(self, kernels: Kernels, points: KernelPoints, exact: bool = True) -> KernelMeans:
        """Return the share of each kernel that the net assigns to another class."""
        rule = linear_rule(self.cut.rest) if exact and self.n_classes == 2 else None
        if rule is not None:
            return _exact(kernels, *rule)
        with eval_mode(self.net.module):
            return kernel_means(
                kernels, points, lambda p, rows: (self.logits_at(p, rows).argmax(1) != self.codes[rows]).float()
            )


def _exact(kernels: Kernels, a: torch.Tensor, b: torch.Tensor) -> KernelMeans:
    """Phi((-1)^y (a.x + b) / sqrt(a'Ka)) of each kernel."""
    score = kernels.centres.flatten(1).double() @ a + b
    sizes = kernels.sizes.double() * kernels.scale
    width = sizes * a.norm() if sizes.ndim == 1 else (sizes * a).norm(dim=1)
    signed = torch.where(kernels.codes == 1, -score, score)
    # a kernel without width is its own centre; a point on the boundary is assigned to the first class
    point = torch.where(kernels.codes == 1, (score <= 0).double(), (score > 0).double())
    along = width[kernels.codes]
    mass = torch.where(along > 0, torch.special.ndtr(signed / along.clamp_min(1e-300)), point)
    return KernelMeans(mass.cpu().numpy(), np.zeros(len(mass)), "exact")


def problem_of(net: LogitFunction, X: torch.Tensor, y: Any, options: EstimateOptions) -> Problem:
    """Lay out a sample: labels as codes, features at the layer, the class assigned to each point.

    Parameters
    ----------
    net : LogitFunction
        The trained net.
    X : tensor
        Inputs, on the device of the net.
    y : array_like
        Labels.
    options : EstimateOptions
        `layer` and `average` are used.

    Returns
    -------
    Problem
        What kernels are sized from, and errors on them computed with.

    Examples
    --------
    >>> from unseen.nets.modules import LogitFunction
    >>> net = torch.nn.Linear(1, 2)
    >>> _ = net.load_state_dict({"weight": torch.tensor([[-1.0], [1.0]]), "bias": torch.zeros(2)})
    >>> view = LogitFunction(raw=net, module=net, device=torch.device("cpu"), dtype=torch.float32)
    >>> problem = problem_of(view, torch.tensor([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1], EstimateOptions())
    >>> problem.assigned.tolist(), problem.weights.tolist()
    ([0, 0, 1, 1], [0.25, 0.25, 0.25, 0.25])
    """
    with torch.no_grad(), eval_mode(net.module):
        logits = net.all_logits(X)
        cut = cut_at(net, options.layer)
        features = X if cut.name == "input" else net.map_batches(cut.head, X)
    codes, classes = class_codes(y, logits.shape[1], net.classes, len(X))
    return Problem(
        net=net,
        cut=cut,
        X=X,
        codes=torch.as_tensor(codes, device=net.device),
        classes=classes,
        features=features,
        assigned=logits.argmax(1),
        weights=point_weights(codes, len(classes), options.average),
    )


def point_weights(codes: np.ndarray, n_classes: int, average: str) -> Floats:
    """Weight of each point, summing to 1: all alike, or each class present with the same share."""
    weights = np.ones(len(codes))
    if average == "class":
        weights = 1 / np.bincount(codes, minlength=n_classes)[codes]
    return np.asarray(weights / weights.sum())
