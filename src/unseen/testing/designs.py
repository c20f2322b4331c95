"""The contract of a design: sound splits, the same for the same seed, groups whole, every class trained on."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.core.data import Data
from unseen.core.errors import UnseenError
from unseen.core.plan import Plan
from unseen.core.registry import declare
from unseen.testing._describe import check_described, check_record, check_sourced
from unseen.testing._samples import sample

__all__ = ["DESIGN_CHECKS", "check_design"]


def _plan(design: Any, data: Data, seed: int = 3) -> Plan:
    result: Plan = design.plan(data, np.random.default_rng(seed))
    return result


def is_described(design: Any) -> None:
    """File, docstring, source, options."""
    for check in (check_described, check_sourced, check_record):
        check(type(design))


def splits_are_sound(design: Any) -> None:
    """Indices exist, neither part is empty, no unit stands on both sides, sizes are right."""
    for data in (sample(), sample("regression", 41), sample(n=61)):
        plan = _plan(design, data)
        assert len(plan) > 0, f"{design.id} returned no splits"
        assert np.array_equal(plan.units, data.units), f"{design.id}: the plan does not carry the data's units"
        for s in plan:
            assert s.train.dtype == np.int64 == s.test.dtype, f"{design.id}: index arrays are not int64"
            assert len(s.train) and len(s.test), f"{design.id}: a part of a split is empty"
            both = np.concatenate([s.train, s.test])
            assert both.min() >= 0 and both.max() < data.n, f"{design.id}: an index is outside the data"
            assert not np.intersect1d(s.train, s.test).size, f"{design.id}: a row is trained on and tested"
            assert len(np.unique(s.test)) == len(s.test), f"{design.id}: a row is tested twice in a split"


def same_seed_same_plan(design: Any) -> None:
    """The generator alone decides."""
    first, second = _plan(design, sample()), _plan(design, sample())
    assert first.fingerprint == second.fingerprint, f"{design.id}: the same seed gave two plans"


def fingerprint_is_stable(design: Any) -> None:
    """Another process gets the same fingerprint for the same seed."""
    cls = type(design)
    code = (
        "import numpy as np, sys, importlib; from unseen.testing._samples import sample; "
        f"d = getattr(importlib.import_module({cls.__module__!r}), {cls.__qualname__!r})(); "
        "print(d.plan(sample(), np.random.default_rng(3)).fingerprint)"
    )
    if design != cls():
        return
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = _plan(design, sample()).fingerprint
    assert out.stdout.strip() == here, f"{design.id}: fingerprint {here} here, {out.stdout.strip()} elsewhere"


def groups_stay_whole(design: Any) -> None:
    """No group has rows on both sides, and a group is taken with all its rows or none."""
    data = sample(grouped=True)
    plan = _plan(design, data)
    assert plan.n_units == data.n_units, f"{design.id}: {plan.n_units} units instead of {data.n_units} groups"
    size = np.bincount(data.units)
    for s in plan:
        train, test = np.unique(data.units[s.train]), np.unique(data.units[s.test])
        assert not np.intersect1d(train, test).size, f"{design.id}: a group stands on both sides of a split"
        assert np.array_equal(np.bincount(data.units[s.test], minlength=data.n_units)[test], size[test]), (
            f"{design.id}: only part of a group is tested"
        )
        count = np.bincount(data.units[s.train], minlength=data.n_units)[train]
        assert np.all(count % size[train] == 0), f"{design.id}: only part of a group is trained on"


def every_class_is_trained(design: Any) -> None:
    """No training part lacks a class, even one of four members in sixty."""
    data = sample()
    y = np.zeros(data.n, dtype=int)
    y[[3, 18, 33, 48]] = 1
    rare = replace(data, y=y)
    for s in _plan(design, rare):
        assert len(np.unique(rare.y[s.train])) == 2, f"{design.id}: a training part lacks a class"


def tiny_samples_are_refused_or_split(design: Any) -> None:
    """Two or three rows give sound splits or an error in words, never anything else."""
    for n in (2, 3, 4):
        data = sample("regression").take(np.arange(n))
        try:
            plan = _plan(design, data)
        except UnseenError as error:
            assert len(str(error)) > 20, f"{design.id}: the error for {n} rows says too little"
            continue
        assert all(len(s.train) and len(s.test) for s in plan), f"{design.id}: an empty part with {n} rows"


def options_are_written_down(design: Any) -> None:
    """The plan carries the design's options, so that a report can repeat it."""
    plan = _plan(design, sample())
    assert plan.design in (design.id, getattr(design, "kind", design.id)), f"{design.id}: the plan says {plan.design}"
    for name in plan.options:
        assert hasattr(design, name), f"{design.id}: the plan names an option {name!r} that the design has not"


DESIGN_CHECKS = (
    is_described,
    splits_are_sound,
    same_seed_same_plan,
    fingerprint_is_stable,
    groups_stay_whole,
    every_class_is_trained,
    tiny_samples_are_refused_or_split,
    options_are_written_down,
)


def check_design(cls: type[Any], **options: Any) -> None:
    """Run the whole contract over a design.

    Parameters
    ----------
    cls : type
        A registered design.
    **options
        Options to build it with; none by default.

    Examples
    --------
    >>> from unseen.designs.kfold import KFold
    >>> check_design(KFold)
    """
    declare(cls)
    for check in DESIGN_CHECKS:
        check(cls(**options))
