"""Every call gives the values that were stored before: numbers, keys, codes and short words."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# they guard refactorings, and CI runs them
pytestmark = [pytest.mark.slow, pytest.mark.sample]


def load_calls():
    """Import calls.py, which lies beside this file and in no package."""
    name = "unseen_golden_calls"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "calls.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


calls = load_calls()
VALUES = json.loads((HERE / "values.json").read_text())


def differences(stored, found, rel, where="$"):
    """Return where two reduced results differ, and how."""
    if isinstance(stored, dict) and isinstance(found, dict):
        out = [f"{where}: keys {sorted(stored.keys() ^ found.keys())}"] if stored.keys() != found.keys() else []
        for key in stored.keys() & found.keys():
            out += differences(stored[key], found[key], rel, f"{where}.{key}")
        return out
    if isinstance(stored, list) and isinstance(found, list):
        if len(stored) != len(found):
            return [f"{where}: {len(stored)} elements stored, {len(found)} found"]
        return [line for k, (a, b) in enumerate(zip(stored, found)) for line in differences(a, b, rel, f"{where}[{k}]")]
    if isinstance(stored, float) and isinstance(found, float):
        same = math.isclose(stored, found, rel_tol=rel, abs_tol=1e-12 if rel < 1e-6 else 1e-6)
        return [] if same else [f"{where}: {stored!r} stored, {found!r} found"]
    same = type(stored) is type(found) and stored == found
    return [] if same else [f"{where}: {stored!r} stored, {found!r} found"]


def test_every_call_is_stored():
    assert list(VALUES) == list(calls.CALLS)


@pytest.mark.parametrize("name", list(VALUES))
def test_values_are_those_stored(name, request):
    one = calls.CALLS[name]
    if name == "resub_file":
        request.getfixturevalue("forked_models")
    for package in (*one.needs, *(("torch",) if one.torch else ())):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    found = json.loads(json.dumps(calls.run_call(name)))
    lines = differences(VALUES[name], found, one.rel)
    assert not lines, "\n".join(lines[:20])
