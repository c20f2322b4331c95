"""Every public name of every package is on the page of Python names."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

pytest.importorskip("torch")
PAGE = Path(__file__).parents[2] / "docs" / "make_tables.py"


def test_every_public_name_is_documented():
    spec = importlib.util.spec_from_file_location("make_tables_of_docs", PAGE)
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    lines = set(tables.api().splitlines())
    packages = tables.packages()
    assert {"unseen.nets", "unseen.study", "unseen.store", "unseen.web", "unseen.designs"} <= set(packages)
    for package in packages:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if name.startswith("__") or inspect.ismodule(value):
                continue
            kind = "autoclass" if inspect.isclass(value) else "autofunction" if callable(value) else "data"
            assert f".. {kind}:: {package}.{name}" in lines
            assert kind == "data" or inspect.getdoc(value), f"{package}.{name} has no docstring"
