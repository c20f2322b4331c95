"""What a measure of generalization is, and the registry of those in this folder."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.core.discovery import Registry
from unseen.core.errors import InputError, NotApplicable, UnknownName, UnseenError
from unseen.core.registry import make
from unseen.core.rng import RandomState, root_seed, task_seed
from unseen.nets.measures.value import MeasureValue
from unseen.nets.modules.device import limited_torch
from unseen.nets.modules.layers import convolution_layers, eval_mode
from unseen.nets.modules.net import Net

__all__ = [
    "COSTS",
    "NEEDS",
    "LayerLog",
    "Measure",
    "MeasureValue",
    "MedianMeasure",
    "build_measure",
    "build_measures",
    "known_measures",
    "register",
    "register_measure",
]

COSTS = ("forward passes", "gradients", "retrains", "weights only")
NEEDS = {
    "images": "inputs of shape (n, channels, height, width)",
    "convolution": "a convolution layer",
    "copy80": "a copy trained on 80% of the rows with the rows held out (`Net.copy80`)",
    "initial": "the weights before training (`Net.initial`)",
    "hyper": "the hyper-parameters (`Net.hyper`)",
    "epochs": "the number of epochs (`Net.epochs`)",
    "train_loss": "the training loss (`Net.train_loss`)",
}


class LayerLog:
    """Layers a measure used, and those it skipped with the reason."""

    def __init__(self) -> None:
        self._used: dict[str, None] = {}
        self._skipped: dict[str, str] = {}

    def use(self, *names: str) -> None:
        """Note layers that were used."""
        self._used.update(dict.fromkeys(names))

    def skip(self, name: str, reason: str) -> None:
        """Note a layer that was skipped and why."""
        self._skipped[name] = reason

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the layers that were used, in order."""
        return tuple(self._used)

    @property
    def skipped(self) -> dict[str, str]:
        """Names of the layers that were skipped, with reasons."""
        return dict(self._skipped)


class Measure:
    """Base of every measure: subclasses give `once` (one draw), the rest follows.

    A subclass is a frozen dataclass whose fields are its options, decorated with `register`, in a file named by its id, or by
    its `family` if several measures of one idea share a file. Larger values stand for a larger expected gap between training and test accuracy.

    Attributes
    ----------
    id : str
        Name in kebab-case.
    family : str
        Name of the file that several measures share; empty for a measure with a file of its own.
    range : tuple of float
        Smallest and largest possible value.
    cost : str
        One of `COSTS`.
    needs : frozenset of str
        Keys of `NEEDS`; a network without them is refused in words.
    default_draws : int
        Draws when none are asked for; 0 for a measure that draws nothing.
    """

    id: ClassVar[str]
    family: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]]
    cost: ClassVar[str] = "forward passes"
    needs: ClassVar[frozenset[str]] = frozenset()
    sheets: ClassVar[tuple[str, ...]] = ()  # categories of `augmentation_sheet` that show what it looks at
    default_draws: ClassVar[int] = 0
    higher_is_worse: ClassVar[bool] = True

    @limited_torch()
    def __call__(self, net: Net, *, draws: int | None = None, random_state: RandomState = 0) -> MeasureValue:
        """Measure a network.

        Parameters
        ----------
        net : Net
            Trained module with its training data. It is left as it was found.
        draws : int, optional
            Number of independent draws; the measure's own default otherwise. Ignored by a measure that draws nothing.
        random_state : int, Generator or None
            Same seed, same number on the same machine; draws are made on the CPU, so that every device sees the same.

        Returns
        -------
        MeasureValue
        """
        check_needs(self, net)
        count = self._count(net, draws)
        generator = torch.Generator().manual_seed(task_seed(root_seed(random_state), self.id))
        layers, start = LayerLog(), time.perf_counter()
        modules = [net.module] if net.copy80 is None else [net.module, net.copy80.module]
        with eval_mode(*modules):
            try:
                sample = np.asarray(self.sample(net, count, generator, layers), dtype=float)
            except NotApplicable as error:
                if self.id in str(error):
                    raise
                raise NotApplicable(f"{self.id}: {error}") from error
            value = float(self.statistic(sample))
        if not math.isfinite(value):
            raise NotApplicable(f"{self.id} is not finite for this network: {self.explain_infinite()}")
        spread = self.std_error(sample) if self.default_draws else 0.0
        moves = self._moves(sample, spread) if spread and len(sample) == count else ()
        seconds = time.perf_counter() - start
        return MeasureValue(
            measure=self.id,
            value=value,
            std_error=spread,
            draws=count,
            seconds=seconds,
            used=layers.used,
            skipped=layers.skipped,
            moves=moves,
        )

    def draws_for(self, net: Net) -> int:
        """Return the number of draws when none is asked for; override if it depends on the data."""
        return self.default_draws

    def _count(self, net: Net, draws: int | None) -> int:
        if self.default_draws == 0:
            return 1
        count = self.draws_for(net) if draws is None else draws
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise InputError(f"draws is {draws!r}; it must be a whole number of at least 1.")
        return int(count)

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float | tuple[float, ...]:
        """Return one draw: a number, or the parts `statistic` combines."""
        raise NotImplementedError

    def sample(self, net: Net, count: int, generator: torch.Generator, layers: LayerLog) -> Any:
        """Return all draws, the first axis counting them; override if they can be made at once."""
        return [self.once(net, generator, layers) for _ in range(count)]

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return the value from the draws: their mean, unless the measure says otherwise."""
        return float(np.mean(sample))

    def std_error(self, sample: NDArray[np.float64]) -> float | None:
        """Return the Monte-Carlo error of `statistic` by the jackknife over draws; for a mean the usual one."""
        return None if len(sample) < 2 else float(np.sqrt(np.sum(self.influence(sample) ** 2)))

    def influence(self, sample: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each draw contributes to the Monte-Carlo error, which is the root of the sum of squares."""
        n = len(sample)
        left_out = np.array([self.statistic(np.delete(sample, i, axis=0)) for i in range(n)])
        return np.sqrt((n - 1) / n) * (left_out - left_out.mean())

    def _moves(self, sample: NDArray[np.float64], spread: float) -> tuple[float, ...]:
        found = self.influence(sample)
        length = float(np.sqrt(np.sum(found**2)))
        return tuple((spread / length * found).tolist()) if length > 0 else ()

    def explain_infinite(self) -> str:
        """Return why the value may not be finite, in words."""
        return "its formula divides by zero here, or the logits are not finite."


class MedianMeasure(Measure):
    """Base of measures whose value is the median over draws; its error is that of a median of normal values."""

    def statistic(self, sample: NDArray[np.float64]) -> float:
        """Return the median over draws."""
        return float(np.median(sample))

    def influence(self, sample: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each draw contributes to sqrt(pi / 2) times the standard error of the mean; the jackknife fails for medians."""
        n = len(sample)
        return np.sqrt(np.pi / 2 / (n * (n - 1))) * (np.asarray(sample) - np.mean(sample))


def check_needs(measure: Measure, net: Net) -> None:
    """Refuse a network that lacks what the measure needs."""
    if not isinstance(net, Net):
        raise InputError(f"{measure.id} measures an unseen.nets.Net; a {type(net).__name__} was given.")
    check_runs(net, measure.id)
    for need in sorted(measure.needs):
        if need == "images":
            present = net.is_images
        elif need == "convolution":
            with eval_mode(net.module):
                present = bool(convolution_layers(net.module, net.X_train))
        else:
            present = bool(getattr(net, need) is not None and (need != "hyper" or net.hyper))
        if not present:
            raise NotApplicable(f"{measure.id} needs {NEEDS[need]}, which this network does not have.")


@torch.no_grad()
def check_runs(net: Net, who: str) -> None:
    """Run a few inputs, so that a module that gives no logits is refused here and not deep inside a measure."""
    with eval_mode(net.module):
        try:
            logits = net.module(net.X_train[:8])
        except (RuntimeError, TypeError, ValueError) as error:
            reason = str(error).strip().split("\n")[0]
            raise InputError(f"{who}: the module cannot be run on its training inputs: {reason}") from error
    if not isinstance(logits, torch.Tensor) or logits.ndim != 2 or logits.shape[1] < max(2, net.n_classes):
        got = tuple(logits.shape[1:]) if isinstance(logits, torch.Tensor) else f"a {type(logits).__name__}"
        raise InputError(
            f"{who}: the module gives {got} for an input; one logit for each of {max(2, net.n_classes)} classes is needed."
        )
    if not bool(torch.isfinite(logits).all()):
        raise InputError(f"{who}: the module gives logits that are not finite; are its weights finite?")
    if bool((logits >= 0).all()) and bool(((logits.sum(1) - 1).abs() < 1e-4).all()):
        raise InputError(
            f"{who}: the module gives probabilities (each row is non-negative and sums to 1), as behind a softmax; logits "
            "are needed: leave the softmax out, or put a logarithm behind it."
        )


def _check_declarations(cls: type[Any]) -> None:
    if cls.cost not in COSTS:
        raise UnseenError(f"{cls.id}: cost is {cls.cost!r}, not one of {', '.join(COSTS)}.")
    unknown = set(cls.needs) - set(NEEDS)
    if unknown:
        raise UnseenError(f"{cls.id}: needs {sorted(unknown)} are not among {', '.join(NEEDS)}.")


_MEASURES: Registry[type[Any]] = Registry(
    "unseen.nets.measures", "measure", "unseen.nets.measures", _check_declarations
)
T = TypeVar("T", bound=type[Any])


def register(cls: T) -> T:
    """Class decorator: make a measure known under its `id`."""
    _MEASURES.add(cls.id, cls)
    return cls


register_measure = register  # the name under which plug-ins import it


def known_measures() -> dict[str, type[Any]]:
    """Return every registered measure by id, in alphabetical order.

    Third parties add theirs through the entry-point group ``unseen.nets.measures``.

    Examples
    --------
    >>> "weighted-augment" in known_measures()
    True
    """
    return _MEASURES.all()


def build_measure(name: str, **options: Any) -> Any:
    """Make the measure registered under an id, with its options.

    Examples
    --------
    >>> build_measure("weighted-augment", sampling="rings").sampling
    'rings'
    """
    known = known_measures()
    if name not in known:
        raise UnknownName("measure of generalization", name, known)
    return make(known[name], options)


def build_measures(measures: str | Iterable[str | Measure]) -> list[Measure]:
    """Return measures from "all", ids, or measures themselves.

    Examples
    --------
    >>> [m.id for m in build_measures(["alpha", "path-norm"])]
    ['alpha', 'path-norm']
    """
    if isinstance(measures, str):
        return [build_measure(name) for name in known_measures()] if measures == "all" else [build_measure(measures)]
    found = [build_measure(m) if isinstance(m, str) else m for m in measures]
    if not found:
        raise InputError("no measure is named; give the ids of some, or 'all'.")
    return found
