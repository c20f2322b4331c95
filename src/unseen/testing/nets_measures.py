"""The contract of a measure of generalization, checked on two tiny networks and one on plain vectors; needs torch."""

from __future__ import annotations

import importlib
import math
from typing import Any

from unseen.core.discovery import module_name
from unseen.core.errors import NotApplicable
from unseen.testing._describe import check_record, check_sourced

__all__ = ["NET_MEASURE_CHECKS", "check_net_measure"]

SUBJECTS = ("conv", "mlp", "vector")


def _subjects() -> list[Any]:
    from unseen.nets.modules.sample import sample_net

    return [sample_net(kind) for kind in SUBJECTS]


def _call(measure: Any, net: Any, **options: Any) -> Any:
    """Return the measure's value, or None where it refuses the network in words."""
    try:
        return measure(net, **{"random_state": 3, **options})
    except NotApplicable as error:
        text = str(error)
        assert measure.id in text and len(text) > 40, f"{measure.id}: the refusal says too little: {text}"
        return None


def _first_line(cls: type[Any]) -> str:
    return (importlib.import_module(cls.__module__).__doc__ or " ").strip().partition("\n")[0]


def _check_file(cls: type[Any]) -> None:
    """Demand the file of the id or of the family (of this package's own files), a module docstring and an example."""
    stem, wanted = cls.__module__.rsplit(".", 1)[-1], cls.family or module_name(cls.id)
    assert not cls.__module__.startswith("unseen.") or stem == wanted, (
        f"{cls.id} lives in {stem}.py, not in {wanted}.py"
    )
    assert _first_line(cls), f"{cls.id}: its module has no docstring"
    names = getattr(importlib.import_module(cls.__module__), "__all__", ())
    assert cls.__name__ in names, f"{cls.id}: {cls.__name__} is not in its module's __all__"
    text = cls.__doc__ or ""
    assert ">>>" in text and "Examples" in text, f"{cls.id}: the docstring has no Examples section with code"


def is_described(measure: Any) -> None:
    """File, docstring, source, options and class attributes."""
    from unseen.nets.measures.measure import COSTS, NEEDS

    cls = type(measure)
    _check_file(cls)
    check_record(cls)
    if "control" not in _first_line(cls).lower():  # a control is there to be beaten and has no paper
        check_sourced(cls)
    low, high = cls.range
    assert low < high, f"{cls.id}: range is {cls.range}"
    assert cls.cost in COSTS, f"{cls.id}: cost is {cls.cost!r}"
    assert set(cls.needs) <= set(NEEDS), f"{cls.id}: needs are {sorted(cls.needs)}"
    assert cls.higher_is_worse is True, f"{cls.id} must be oriented so that larger means a larger gap"
    assert isinstance(cls.default_draws, int) and cls.default_draws >= 0, f"{cls.id}: default_draws is not declared"


def value_is_whole(measure: Any) -> None:
    """A finite number in its range with an error, or a refusal that names the measure and the reason."""
    answers = [_call(measure, net) for net in _subjects()]
    assert any(answers), f"{measure.id} refuses all of the sample networks"
    low, high = measure.range
    for got in filter(None, answers):
        assert math.isfinite(got.value), f"{measure.id}: the value is {got.value}"
        assert low - 1e-9 <= got.value <= high + 1e-9, f"{measure.id}: {got.value} is outside {measure.range}"
        assert got.measure == measure.id, f"{measure.id}: labelled {got.measure}"
        assert got.std_error is None or got.std_error >= 0, f"{measure.id}: std_error is {got.std_error}"
        assert got.std_error is not None or got.draws == 1, f"{measure.id}: {got.draws} draws and no std_error"
        assert got.seconds >= 0 and got.draws >= 1, f"{measure.id}: {got.seconds} s, {got.draws} draws"
        assert not set(got.used) & set(got.skipped), f"{measure.id}: a layer is both used and skipped"
        assert all(got.skipped.values()), f"{measure.id}: a layer is skipped without a reason"
        assert got.measure in str(got) and got.rows()[0]["value"] == got.value


def same_seed_same_value(measure: Any) -> None:
    """The same seed gives the same number; a measure that draws nothing gives it for every seed."""
    for net in _subjects():
        first, second = _call(measure, net), _call(measure, net)
        if first is None:
            continue
        assert first.value == second.value, f"{measure.id}: the same seed gave {first.value} and {second.value}"
        assert first.std_error == second.std_error, f"{measure.id}: the same seed gave two errors"
        if measure.default_draws == 0:
            other = _call(measure, net, random_state=4, draws=3)
            assert other.value == first.value, f"{measure.id} says it draws nothing but depends on the seed"


def mode_does_not_matter(measure: Any) -> None:
    """A module in training mode gives what one in evaluation mode gives."""
    for net in _subjects():
        net.module.eval()
        quiet = _call(measure, net)
        net.module.train()
        if net.copy80 is not None:
            net.copy80.module.train()
        busy = _call(measure, net)
        assert (quiet is None) == (busy is None), f"{measure.id}: refuses in one mode only"
        assert quiet is None or quiet.value == busy.value, f"{measure.id} depends on the mode: {quiet}, {busy}"


def network_is_left_alone(measure: Any) -> None:
    """Weights, buffers, modes, gradients, hooks, data and torch's global generator are as before."""
    import torch

    for net in _subjects():
        modules = [net.module] if net.copy80 is None else [net.module, net.copy80.module]
        for module in modules:
            module.train()
            next(module.children()).eval()
        before, state = [_trace(m) for m in modules], torch.random.get_rng_state()
        images = net.X_train.clone(), net.y_train.clone()
        _call(measure, net)
        for old, new in zip(before, map(_trace, modules)):
            for what, value in old.items():
                same = value == new[what] if what != "state" else _same_state(value, new[what])
                assert same, f"{measure.id} changed the module's {what}"
        assert torch.equal(torch.random.get_rng_state(), state), f"{measure.id} used torch's global generator"
        assert torch.equal(images[0], net.X_train) and torch.equal(images[1], net.y_train), f"{measure.id} changed data"


def _same_state(a: dict[str, Any], b: dict[str, Any]) -> bool:
    import torch

    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def _trace(module: Any) -> dict[str, Any]:
    parts = list(module.modules())
    return {
        "state": {k: v.clone() for k, v in module.state_dict().items()},
        "mode": [part.training for part in parts],
        "hooks": [
            (len(part._forward_hooks), len(part._forward_pre_hooks), len(part._backward_hooks)) for part in parts
        ],
        "gradients": [p.grad is None for p in module.parameters()],
        "need of gradients": [p.requires_grad for p in module.parameters()],
    }


NET_MEASURE_CHECKS = (
    is_described,
    value_is_whole,
    same_seed_same_value,
    mode_does_not_matter,
    network_is_left_alone,
)


def check_net_measure(cls: type[Any], **options: Any) -> None:
    """Check that a measure of generalization keeps the contract.

    Parameters
    ----------
    cls : type
        A measure decorated with `unseen.nets.measures.measure.register`.
    **options
        Options to build it with; none by default.

    Examples
    --------
    >>> import importlib.util
    >>> if importlib.util.find_spec("torch"):
    ...     from unseen.nets.measures.weighted_augment import WeightedAugment
    ...     check_net_measure(WeightedAugment)
    """
    for check in NET_MEASURE_CHECKS:
        check(cls(**options))
