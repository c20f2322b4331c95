"""Fixtures shared by all tests, and the rule about required parts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# a loaded machine must not fail a property for being slow to draw examples
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

REQUIRED = set(filter(None, os.environ.get("UNSEEN_REQUIRE", "").split(",")))
SHARED = Path(__file__).resolve().parents[2] / "shared"


def absent(part: str, reason: str) -> None:
    """Skip a test whose part is absent here, or fail where CI requires the part."""
    if part in REQUIRED:
        pytest.fail(f"{part} is required by UNSEEN_REQUIRE, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the shared data sets; skips where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the shared data sets are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a chromium; skips where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        absent("browser", "no chromium is installed")
    return str(path)


@pytest.fixture(scope="session")
def distributed():
    """The package distributed; skips where it is not installed."""
    try:
        import distributed as package
    except ImportError:
        absent("dask", "distributed is not installed")
    return package


@pytest.fixture(scope="session")
def loss_table():
    """Return a function that makes a table of losses from index pairs (or splits) and the losses of their test rows."""
    import numpy as np

    from unseen.core.data import Data
    from unseen.core.plan import Plan, Split
    from unseen.core.table import Predictions, PredictionTable

    def make(pairs, losses, design, *, rate=False, groups=None, weights=None, n=None, model="m", seed=0):
        splits = [
            p if isinstance(p, Split) else Split(np.asarray(p[0]), np.asarray(p[1]), repeat=j)
            for j, p in enumerate(pairs)
        ]
        n = n or 1 + max(int(max(s.train.max(), s.test.max())) for s in splits)
        target = np.zeros(n, dtype=np.int64 if rate else float)
        data = Data(
            None, target, "classification" if rate else "regression", np.array([0, 1]) if rate else None,
            groups=groups, weights=weights,
        )  # fmt: skip
        rows = np.concatenate([s.test for s in splits]).astype(np.int64)
        split = np.repeat(np.arange(len(splits)), [len(s.test) for s in splits])
        value = np.concatenate([np.asarray(v) for v in losses]).astype(np.int64 if rate else float)
        table = PredictionTable(
            Plan(design, tuple(splits), data.units), data, Predictions(split, rows, value), model=model, seed=seed
        )
        return table.losses("zero-one" if rate else "absolute")

    return make
