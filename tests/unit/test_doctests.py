"""Every example in a docstring runs and says what it claims; a new module is found without an edit here."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import unseen

OPTIONAL = {"torch", "safetensors", "sqlalchemy", "pydantic", "psycopg", "dask", "distributed", "starlette", "uvicorn"}


def modules() -> dict[str, bool]:
    """Return the name of every module, and whether its source holds an example."""
    found = {"unseen": True}
    for module in pkgutil.walk_packages(unseen.__path__, "unseen.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            spec = module.module_finder.find_spec(module.name)
            found[module.name] = ">>> " in Path(spec.origin).read_text(encoding="utf-8")
    return found


MODULES = modules()


def imported(name: str):
    """Return the module, or None if it needs a package that is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = (error.name or "").split(".")[0]
        if missing in OPTIONAL and find_spec(missing) is None:
            return None
        raise


@pytest.mark.parametrize("name", [name for name, example in MODULES.items() if example])
def test_examples_of(name, request, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    if name.startswith("unseen.models.files."):
        request.getfixturevalue("forked_models")
    module = imported(name)
    if module is None:
        pytest.skip(f"{name} needs a package that is not installed")
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report: list[str] = []
    for example in finder.find(module, name):
        runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_modules_without_an_example_load():
    for name, example in MODULES.items():
        if not example:
            imported(name)
