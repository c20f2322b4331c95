"""Every example in a docstring runs and says what it claims; a new module is found without an edit here."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.util import find_spec

import pytest

import unseen

OPTIONAL = {"torch", "safetensors", "sqlalchemy", "pydantic", "psycopg", "dask", "distributed", "starlette", "uvicorn"}


def modules() -> list[str]:
    found = [m.name for m in pkgutil.walk_packages(unseen.__path__, "unseen.", onerror=lambda name: None)]
    return ["unseen", *(name for name in found if not name.endswith("__main__"))]


@pytest.mark.parametrize("name", modules())
def test_examples_of(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        missing = (error.name or "").split(".")[0]
        if missing in OPTIONAL and find_spec(missing) is None:
            pytest.skip(f"{name} needs {missing}, which is not installed")
        raise
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report: list[str] = []
    for example in finder.find(module, name):
        runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)
