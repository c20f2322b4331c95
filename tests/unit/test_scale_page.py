"""The page on scale says what benchmarks/RESULTS.md says, and the benchmark of memory sees growth."""

from __future__ import annotations

import importlib
import importlib.util
import mmap
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tables():
    spec = importlib.util.spec_from_file_location("make_tables_of_docs", ROOT / "docs" / "make_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_of_the_page_come_from_the_recorded_benchmarks(tables, tmp_path, monkeypatch):
    recorded = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    chunk = re.search(r"([\d.]+) ms a chunk", recorded)[1]
    assert f"{chunk} ms a chunk" in tables.scale_costs()
    other = tmp_path / "RESULTS.md"
    other.write_text(recorded.replace(f"{chunk} ms a chunk", "9.75 ms a chunk"))
    monkeypatch.setattr(tables, "RESULTS", other)
    assert all("9.75" in part for part in (tables.scale_costs(), tables.scale_workers(), tables.scale_example()))
    other.write_text("| nothing |")
    with pytest.raises(KeyError, match="store, claim and finish"):
        tables.scale_costs()


def test_the_page_itself_has_no_milliseconds_of_its_own():
    page = (ROOT / "docs" / "validation" / "scale.md").read_text()
    for name in ("scale_costs", "scale_workers", "scale_example"):
        assert f"_generated/{name}.md" in page
    assert not re.search(r"\d\.\d+ ms", page)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is sampled from /proc")
def test_growth_below_an_earlier_peak_is_seen(monkeypatch):
    """A high-water mark taken after 64 MiB were used and freed would say that 32 more cost nothing."""
    pytest.importorskip("sqlalchemy")
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    bench = importlib.import_module("benchmarks.bench_store")

    def take(size):  # pages of its own: the allocator would hand out what was freed before
        made = mmap.mmap(-1, size)
        made.write(b"x" * size)
        return made

    take(2**26).close()
    kept = []
    assert bench.watched(lambda: kept.append(take(2**25))) > 24
