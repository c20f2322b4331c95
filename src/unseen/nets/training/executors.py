"""One forward pass for all nets: explicitly batched, by `torch.func.vmap`, or net by net; the fastest that gives the module's own logits is chosen."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call, vmap
from torch.nn import functional as F

from unseen.core.errors import InputError
from unseen.nets.modules.device import exact_float32, is_out_of_memory
from unseen.nets.training.batched_layers import (
    CONVOLUTIONS,
    SHARED,
    STACKED,
    Activations,
    ForwardPass,
    Unbatchable,
    flatten,
    layer_of,
    spatial,
)
from unseen.nets.training.dropout import SeededDropout, norms_of

__all__ = ["Executor", "Grouped", "Plain", "Vmapped", "choose_executor", "describe_executor"]


SAME_EVERYWHERE = {
    torch.relu,
    torch.tanh,
    torch.sigmoid,
    F.relu,
    F.tanh,
    F.sigmoid,
    F.gelu,
    F.silu,
    F.elu,
    F.leaky_relu,
    F.softplus,
    torch.nn.functional.relu6,
    torch.exp,
    torch.abs,
    torch.square,
    torch.sqrt,
}
METHODS_SAME = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "contiguous": lambda t: t}
SPATIAL = {F.max_pool2d, F.avg_pool2d, F.adaptive_avg_pool2d, F.adaptive_max_pool2d, F.max_pool1d, F.avg_pool1d}
ARITHMETIC = {operator.add, operator.sub, operator.mul, operator.truediv, torch.add, torch.mul, operator.iadd}


class Executor:
    """Logits (S, B, c) of S nets; `x` is (B, ...) if shared, else (S, B, ...)."""

    how = ""

    def __call__(
        self,
        params: Mapping[str, Tensor],
        buffers: Mapping[str, Tensor],
        x: Tensor,
        *,
        train: bool,
        shared: bool = False,
        valid: Tensor | None = None,
    ) -> Tensor:
        """Return the logits."""
        raise NotImplementedError


class _Tracer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, qualified_name: str) -> bool:
        return isinstance(m, SeededDropout) or super().is_leaf_module(m, qualified_name)


def _trace(module: nn.Module, train: bool) -> list[fx.Node]:
    """Return the steps of a forward pass in one mode, since it may look at `self.training`."""
    module = copy.deepcopy(module).train(train)  # tracing may leave proxies in it
    with torch.random.fork_rng(devices=[]):
        before = torch.get_rng_state()
        try:
            nodes = list(_Tracer().trace(module).nodes)
        except Exception as error:  # tracing runs the user's forward, which may raise anything
            raise Unbatchable(f"the forward pass cannot be traced ({str(error).splitlines()[0]})") from error
        if not torch.equal(torch.get_rng_state(), before):
            raise Unbatchable("a forward pass that draws random numbers of its own")
    if sum(node.op == "placeholder" for node in nodes) != 1:
        raise Unbatchable("a forward pass with more than one input")
    return nodes


class Grouped(Executor):
    """A traced module whose every layer has a batched form; raises `Unbatchable` if one has none."""

    def __init__(self, module: nn.Module, convolution: str = "grouped") -> None:
        self.convolution = convolution
        self.modules = dict(module.named_modules())
        self.convolves = any(isinstance(m, tuple(CONVOLUTIONS)) for m in self.modules.values())
        self.nodes = {train: _trace(module, train) for train in (True, False)}
        if len(dict(module.named_parameters(remove_duplicate=False))) != len(dict(module.named_parameters())):
            raise Unbatchable("weights that layers share")
        for node in (*self.nodes[True], *self.nodes[False]):
            if node.op == "call_module":
                layer_of(self.modules[str(node.target)])
            if node.op == "get_attr":
                raise Unbatchable(f"the parameter {node.target} used outside a layer")

    def __call__(self, params, buffers, x, *, train, shared=False, valid=None):  # type: ignore[no-untyped-def]
        """Walk the traced graph with values of all nets."""
        nets = next(iter(params.values())).shape[0]
        run = ForwardPass(
            params=params, buffers=buffers, nets=nets, train=train, valid=valid, convolution=self.convolution
        )
        values: dict[fx.Node, Any] = {}
        for node in self.nodes[train]:
            if node.op == "placeholder":
                values[node] = Activations(x, SHARED if shared else STACKED, nets)
            elif node.op == "output":
                return fx.node.map_arg(node.args[0], values.__getitem__).stack()
            else:
                values[node] = self._step(run, node, values)
        raise Unbatchable("a forward pass without output")

    @property
    def how(self) -> str:  # type: ignore[override]
        """What carries the nets."""
        if not self.convolves:
            return "batched matrix products"
        return "grouped convolutions" if self.convolution == "grouped" else "batched, convolutions net by net"

    def with_convolution(self, convolution: str) -> Grouped:
        """Return the same executor with another form of convolution."""
        other = copy.copy(self)
        other.convolution = convolution
        return other

    def _step(self, run: ForwardPass, node: fx.Node, values: dict[fx.Node, Any]) -> Any:
        args = fx.node.map_arg(node.args, values.__getitem__)
        options = fx.node.map_arg(node.kwargs, values.__getitem__)
        if node.op == "call_module":
            layer = self.modules[str(node.target)]
            return layer_of(layer)(run, layer, str(node.target), *args, **options)
        if node.op == "call_method":
            return _method(str(node.target), *args, **options)
        return _function(node.target, *args, **options)


def _method(name: str, value: Any, *args: Any, **options: Any) -> Any:
    if not isinstance(value, Activations):
        return getattr(value, name)(*args, **options)
    if name in METHODS_SAME:
        return value.like(METHODS_SAME[name](value.tensor))
    if name == "size":
        return value.shape[args[0]] if args else value.shape
    if name == "flatten":
        return flatten(value, *args, **options)
    if name in ("view", "reshape"):
        shape = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        if len(shape) < 2:
            raise Unbatchable("reshaping the examples into one axis")
        return value.like(value.stack().reshape(value.nets, *shape), STACKED)
    if name == "mean" and (args or "dim" in options):
        return _mean(value, *args, **options)
    raise Unbatchable(f"the tensor method {name}")


def _mean(value: Activations, dim: Any, keepdim: bool = False) -> Activations:
    dims = [dim] if isinstance(dim, int) else list(dim)
    if 0 in dims:
        raise Unbatchable("a mean over the examples")
    return value.like(value.stack().mean([d + 1 if d > 0 else d for d in dims], keepdim), STACKED)


def _function(function: Any, *args: Any, **options: Any) -> Any:
    values = [a for a in args if isinstance(a, Activations)]
    if not values:
        return function(*args, **options)
    first = args[0]
    if function in SAME_EVERYWHERE and isinstance(first, Activations):
        return first.like(
            function(first.tensor, *args[1:], **{**options, **({"inplace": False} if "inplace" in options else {})})
        )
    if function in SPATIAL and isinstance(first, Activations):
        return spatial(lambda t: function(t, *args[1:], **options), first)
    if function is torch.flatten and isinstance(first, Activations):
        return flatten(first, *args[1:], **options)
    if function is torch.mean and isinstance(first, Activations):
        return _mean(first, *args[1:], **options)
    if function is getattr and isinstance(first, Activations) and args[1] == "shape":
        return first.shape
    if function in ARITHMETIC and not options:
        return _arithmetic(operator.add if function is operator.iadd else function, *args)
    raise Unbatchable(f"the operation {getattr(function, '__name__', function)}")


def _arithmetic(function: Any, left: Any, right: Any) -> Activations:
    if isinstance(left, Activations) and isinstance(right, Activations):
        if left.layout == right.layout and left.tensor.dim() == right.tensor.dim():
            return left.like(function(left.tensor, right.tensor))
        return left.like(function(left.stack(), right.stack()), STACKED)
    if isinstance(left, Activations) and isinstance(right, (int, float)):
        return left.like(function(left.tensor, right))
    if isinstance(right, Activations) and isinstance(left, (int, float)):
        return right.like(function(left, right.tensor))
    raise Unbatchable("arithmetic with a tensor of the module")


class Vmapped(Executor):
    """`torch.func.vmap` over stacked weights, for modules without a batched form of their own."""

    how = "batched (vmap)"

    def __init__(self, module: nn.Module) -> None:
        if norms_of(module):
            raise Unbatchable("batch normalisation inside a forward pass that only vmap can batch")
        self.module = module

    def __call__(self, params, buffers, x, *, train, shared=False, valid=None):  # type: ignore[no-untyped-def]
        """Map the module over the first axis of its weights."""
        self.module.train(train)

        def one(p: Any, b: Any, rows: Tensor) -> Tensor:
            return functional_call(self.module, (p, b), (rows,))

        return vmap(one, in_dims=(0, 0, None if shared else 0))(dict(params), dict(buffers), x)


class Plain(Executor):
    """The module itself, for one net: nothing is batched and nothing is padded."""

    how = "one by one"

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    def __call__(self, params, buffers, x, *, train, shared=False, valid=None):  # type: ignore[no-untyped-def]
        """Call the module with the weights of the only net, or with each net's in turn if several are given."""
        self.module.train(train)
        nets = next(iter(params.values())).shape[0]
        outs = []
        for s in range(nets):
            state = {k: v[s] for k, v in (*params.items(), *buffers.items())}
            held = {k: state[k] for k in buffers}
            outs.append(functional_call(self.module, state, (x.clone() if shared else x[s],)))  # it may write to them
            for name, value in held.items():
                if state[name] is not value:  # the forward pass put another tensor in its place
                    value.copy_(state[name].detach())
        return torch.stack(outs)


Factory = Callable[..., nn.Module]


def choose_executor(
    net: nn.Module, params: dict[str, Tensor], buffers: dict[str, Tensor], X: Tensor, strategy: str
) -> tuple[Executor, str]:
    """Return the fastest way that gives the module's own logits, and why a faster one was not taken."""
    with (
        exact_float32()
    ):  # rounded to TF32, the same net computed in two ways differs by more than the comparison forgives
        return _choose_fastest(net, params, buffers, X, strategy)


def _choose_fastest(
    net: nn.Module, params: dict[str, Tensor], buffers: dict[str, Tensor], X: Tensor, strategy: str
) -> tuple[Executor, str]:
    net = net.to(X.device, X.dtype)
    plain = Plain(net)
    few = {k: _nonzero_weights(v[:2]) for k, v in params.items()}, {k: v[:2].clone() for k, v in buffers.items()}
    with torch.no_grad():
        expected = plain(*few, X[:3], train=False, shared=True)
    apart = None if norms_of(net) or len(X) < 2 else plain
    reasons: list[str] = []
    kinds: dict[str, type] = {"grouped": Grouped, "vmap": Vmapped}
    for name in kinds if strategy == "auto" else {strategy} & set(kinds):
        try:
            executor = kinds[name](net)
            _compare(executor, few, X, expected, apart)
            if name == "grouped" and X.device.type == "cpu":  # a grouped convolution is slower than a loop there
                executor = executor.with_convolution("looped")
            return executor, "; ".join(reasons)
        except Unbatchable as error:
            reasons.append(str(error))
        except Exception as error:  # vmap and traced graphs raise many kinds, all meaning the same here
            if is_out_of_memory(error):
                raise
            reasons.append(str(error).splitlines()[0] if str(error) else type(error).__name__)
        if strategy == name:
            raise InputError(f'strategy="{name}" cannot train this module: {reasons[-1]}.')
    return plain, "asked for" if strategy == "one-by-one" else "; ".join(reasons)


def _compare(executor: Executor, state: Any, X: Tensor, expected: Tensor, apart: Executor | None) -> None:
    """Run a small batch in both modes and refuse an executor that does not give the module's own logits.

    `apart` is the module itself, given if examples must not meet: what pads a batch, or a net that rests, has to leave
    no trace. Batch normalisation, if they do meet, leaves both out by masks.
    """
    with torch.no_grad():
        params, buffers = state
        got = executor(params, buffers, X[:3].clone(), train=False, shared=True)
        _check_same(got, expected, "a batched form that does not repeat the module's logits")
        rows, written = torch.stack([X[:3]] * len(got)), [{k: v.clone() for k, v in buffers.items()} for _ in range(2)]
        trained = executor(params, written[0], rows.clone(), train=True)
        if apart is None:
            return
        with torch.random.fork_rng(devices=[X.device] if X.device.type == "cuda" else []):
            fewer = apart(params, written[1], rows[:, :-1].clone(), train=True)
        _check_same(trained[:, :-1], fewer, "a forward pass in which the examples of a batch meet")
        for name, value in buffers.items():
            for after in written:
                _check_same(after[name], value, f"a forward pass that writes to its buffer {name}")


def _nonzero_weights(weights: Tensor) -> Tensor:
    """Return weights as they are, or others if all are zero: behind a layer of zeros every executor looks right."""
    if bool(weights.any()):
        return weights
    numbers = torch.arange(1, weights.numel() + 1, device=weights.device, dtype=weights.dtype)
    return 0.1 * numbers.sin().reshape(weights.shape)


def _check_same(got: Tensor, expected: Tensor, otherwise: str) -> None:
    if got.shape != expected.shape or not torch.allclose(got, expected, rtol=1e-3, atol=1e-4, equal_nan=True):
        raise Unbatchable(otherwise)


def describe_executor(executor: Executor, graph: bool, why: str) -> str:
    """Return how nets were trained, in words, and why not faster if they went one by one."""
    if isinstance(executor, Plain):
        return f"one by one: {why}"
    return executor.how + (", CUDA graph" if graph else "")
