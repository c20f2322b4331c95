from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from unseen.cli.app import main
from unseen.core.errors import InputError, UnknownName
from unseen.engine.events import Silent
from unseen.reproduction import Cell, Check, Reproduction, experiments, read_published, reproduce
from unseen.reproduction.experiment import parse_options


@pytest.fixture
def toy(toys):
    base, register = toys

    @register
    @dataclass(frozen=True)
    class Toy(base):
        """A toy."""

        shift: float = 0.0
        sizes: tuple[int, ...] = (1, 2)
        loud: bool = False
        data: str = ""

        def run(self, replications, seed, reporter, n_jobs):
            cells = (Cell("1", "a", published=0.5, ours=0.5 + self.shift, mc_error=0.01),)
            return Reproduction(
                experiment=self.id,
                title=self.title,
                source=self.source,
                cells=cells,
                checks=(),
                replications=replications,
                seed=seed,
            )

    return Toy


def test_z_is_ours_minus_published_in_monte_carlo_errors():
    assert Cell("t", "c", published=0.2, ours=0.26, mc_error=0.02).z == pytest.approx(3.0)
    assert Cell("t", "c", published=0.2, ours=0.14, mc_error=0.02).z == pytest.approx(-3.0)


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [
        (Cell("t", "c", published=0.2, ours=0.2599, mc_error=0.02), "agrees"),
        (Cell("t", "c", published=0.2, ours=0.2601, mc_error=0.02), "differs"),
        (Cell("t", "c", published=0.2, ours=0.1399, mc_error=0.02), "differs"),
        (Cell("t", "c", published=None, ours=0.2, mc_error=0.02), "not judged"),
        (Cell("t", "c", published=0.2, ours=0.2, mc_error=None), "not judged"),
        (Cell("t", "c", published=0.2, ours=0.2, mc_error=0.02, remark="misprint"), "not judged"),
    ],
)
def test_verdict(cell, verdict):
    assert cell.verdict == verdict


@pytest.mark.parametrize(
    ("check", "passed"),
    [
        (Check("x", 1.5, high=1.5), True),
        (Check("x", 1.51, high=1.5), False),
        (Check("x", 0.87, 0.88, 1.14), False),
        (Check("x", 1.15, 0.88, 1.14), False),
        (Check("x", float("nan"), high=1.5), False),
    ],
)
def test_check_limits(check, passed):
    assert check.passed is passed


def test_record_counts_prints_and_serialises():
    cells = (
        Cell("t", "a", published=0.2, ours=0.2, mc_error=0.02),
        Cell("t", "b", published=0.2, ours=0.9, mc_error=0.02),
        Cell("t", "c", published=None, ours=0.9),
    )
    record = Reproduction(
        experiment="x",
        title="T",
        source="S",
        cells=cells,
        checks=(Check("all", 2.0, high=1.0),),
        replications=5,
        seed=3,
        remarks=("read this",),
    )
    assert record.agreeing == (1, 2)
    assert not record.passed
    text = str(record)
    assert "FAILED  all: 2 (at most 1)" in text
    assert "- read this" in text
    content = json.loads(record.to_json())
    assert content["passed"] is False
    assert content["cells"][1]["verdict"] == "differs"
    assert content["cells"][1]["z"] == pytest.approx(35.0)
    assert content["cells"][2]["published"] is None


def test_report_holds_title_cells_and_checks(tmp_path):
    record = Reproduction(
        experiment="x",
        title="Title here",
        source="Paper",
        cells=(Cell("t", "a", published=0.2, ours=0.2, mc_error=0.02),),
        checks=(Check("c", 1.0),),
        replications=5,
        seed=3,
    )
    page = tmp_path / "r.html"
    record.report(page)
    text = page.read_text()
    assert "Title here" in text
    assert "Paper" in text
    assert "no limit" in text


def test_reproduce_passes_default_and_given_replications(toy):
    assert reproduce("toy").replications == 7
    assert reproduce("toy", replications=3, shift=0.5).cells[0].verdict == "differs"
    assert reproduce("toy", random_state=9).seed == 9


@pytest.mark.parametrize("count", [1, 0, -3, 2.5, True])
def test_replications_are_checked(toy, count):
    with pytest.raises(InputError, match="replications"):
        reproduce("toy", replications=count)


def test_unknown_names_are_refused(toy):
    with pytest.raises(UnknownName, match="toy"):
        reproduce("toyy")
    with pytest.raises(UnknownName, match="shift"):
        reproduce("toy", shif=1.0)
    with pytest.raises(InputError, match="no published numbers"):
        read_published("nothing")


def test_options_from_text_take_the_kind_of_the_default(toy):
    given = {"shift": "0.5", "sizes": "3,4", "loud": "yes", "data": "folder"}
    assert parse_options("toy", given) == {"shift": 0.5, "sizes": (3, 4), "loud": True, "data": "folder"}
    with pytest.raises(InputError, match="sizes"):
        parse_options("toy", {"sizes": "a"})


def test_list_names_the_experiments_and_their_options():
    rows = {row["experiment"]: row for row in experiments()}
    assert rows["ghane-synthetic"]["options"] == "sizes, rules, bootstrap"


def test_listing_imports_nothing_heavy():
    code = (
        "import sys; from unseen.reproduction import experiments; experiments(); "
        "print([m for m in ('sklearn', 'torch', 'pandas', 'matplotlib.pyplot', 'joblib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_published_numbers_are_read_with_their_kinds():
    rows = read_published("ghane_synthetic")
    assert len(rows) == 870
    assert rows[0] == {
        "table": "2.1",
        "rule": "linear-svm",
        "n": 20,
        "estimator": "true-error",
        "value": 0.311,
        "note": "",
    }
    lost = [row for row in rows if row["note"] == "lost in the scan"]
    assert len(lost) == 2
    assert all(row["value"] is None for row in lost)


def test_silent_reporter_is_enough(toy):
    assert toy().run(2, 0, Silent(), None).replications == 2


def test_json_of_numbers_that_are_not_finite_holds_null(monkeypatch, capsys):
    """Few data sets leave no power to compare, and a ratio of nothing."""
    sizes = ["-r", "2", "--seed", "1", "--synthetic-sets", "20", "--variance-sets", "20", "--letter", ""]
    monkeypatch.setattr(sys, "argv", ["unseen", "reproduce", "nadeau-bengio", *sizes, "--json", "--quiet", "-j", "1"])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert not end.value.code, err
    content = json.loads(out, parse_constant=pytest.fail)
    assert [check["check"][:12] for check in content["checks"] if check["value"] is None] == ["power gained"]
    assert any(cell["z"] is None for cell in content["cells"])
