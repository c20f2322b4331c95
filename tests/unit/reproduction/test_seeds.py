"""An experiment at several seeds: values side by side, counted against the limits of one run."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.reproduction import Cell, Check, Reproduction, SeedRuns, reproduce, reproduce_over_seeds
from unseen.reproduction.figures import share_of
from unseen.reproduction.seeds import CheckOverSeeds, parse_seeds
from unseen.show import figures_for


@pytest.fixture
def toy(toys):
    base, register = toys

    @register
    @dataclass(frozen=True)
    class Toy(base):
        """Two checks, of which the first rises with the seed; two cells, of which the second never agrees."""

        step: float = 0.5

        def run(self, replications, seed, reporter, n_jobs):
            cells = (
                Cell("1", "drifts", published=0.5, ours=0.5 + 0.02 * seed, mc_error=0.01),
                Cell("1", "off", published=0.5, ours=0.9, mc_error=0.01),
                Cell("1", "lost", published=None, ours=0.9),
            )
            checks = (Check("drift", 1.0 + self.step * seed, high=2.0), Check("ratio", 1.0, low=0.9, high=1.1))
            return Reproduction(
                experiment=self.id,
                title=self.title,
                source=self.source,
                cells=cells,
                checks=checks,
                replications=replications,
                seed=seed,
            )


def test_every_check_is_counted_against_its_limits_at_every_seed(toy):
    result = reproduce_over_seeds("toy", range(4))
    drift, ratio = result.checks
    assert drift.values == (1.0, 1.5, 2.0, 2.5)
    assert (drift.passing, ratio.passing, result.passing) == (3, 4, 3)
    assert drift.mean.value == 1.75
    assert drift.mean.passed
    assert not result.passed
    assert reproduce_over_seeds("toy", [0, 2]).passed


def test_the_mean_over_seeds_may_miss_a_limit_that_most_runs_keep(toy):
    result = reproduce_over_seeds("toy", [0, 1, 9])
    assert result.checks[0].passing == 2
    assert not result.checks[0].mean.passed
    assert result.sentence == (
        "Every check passes at 2 of 3 seeds; the mean over the seeds keeps the limits in 1 of 2 checks."
    )


def test_cells_are_averaged_and_unjudged_ones_left_out(toy):
    drifts, off = reproduce_over_seeds("toy", range(4)).cells()
    assert (drifts["ours"], drifts["z"]) == (pytest.approx(0.53), pytest.approx(3.0))
    assert (drifts["agreeing"], drifts["judged"]) == (2, 4)
    assert (off["cell"], off["agreeing"]) == ("off", 0)


def test_text_names_what_agrees_at_no_seed(toy):
    text = str(reproduce_over_seeds("toy", range(4)))
    assert "7 replications at each of 4 seeds" in text
    (line,) = [row for row in text.splitlines() if row.startswith("drift")]
    assert line.split() == ["drift", "at", "most", "2", "1.75", "1", "2.5", "3", "of", "4"]
    after = text.split("agree at no seed:")[1]
    assert "off" in after
    assert "drifts" not in after


def test_json_and_frame_have_the_value_of_every_seed(toy):
    result = reproduce_over_seeds("toy", [0, 3], step=1.0)
    content = json.loads(result.to_json())
    assert content["checks"][0]["seed 3"] == 4.0
    assert (content["passing"], content["passed"], content["seeds"]) == (1, False, [0, 3])
    assert (content["experiment"], content["title"], content["replications"]) == ("toy", "Toy", 7)
    assert "runs" not in content
    assert list(result.frame()["seed 0"]) == [1.0, 1.0]


def test_report_and_figure(toy, tmp_path):
    result = reproduce_over_seeds("toy", range(4))
    page = tmp_path / "r.html"
    result.report(page)
    text = page.read_text()
    assert "<title>Toy" in text
    assert "3 of 4" in text
    assert "seeds 0 to 3" in text
    assert "1 of 2 checks within their limits at every seed; not so: drift" in text
    ax = result.plot()
    crosses = [line for line in ax.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert [list(line.get_xdata()) for line in crosses] == [[1.25]]


def test_shares_run_from_0_to_1_within_the_limits():
    assert np.allclose(share_of(CheckOverSeeds("a", (0.88, 1.01, 1.14), 0.88, 1.14)), [0.0, 0.5, 1.0])
    assert np.allclose(share_of(CheckOverSeeds("a", (3.0,), high=1.5)), [2.0])
    assert share_of(CheckOverSeeds("a", (3.0,), low=1.5)) is None


def test_the_figure_names_what_it_leaves_out_and_knows_which_limits_there_are(toy):
    cells = {"cells": (), "replications": 1}
    runs = tuple(
        Reproduction(
            experiment="x",
            title="X",
            source="A paper",
            checks=(
                Check("rise", value, low=1.0),
                Check("bias", value, high=2.0),
                Check("ratio", 1.0, low=0.5, high=2.0),
            ),
            seed=seed,
            **cells,
        )
        for seed, value in enumerate((-0.5, 1.5))
    )
    result = SeedRuns(runs)
    found = next(one for one in figures_for(result) if one.name == "checks-over-seeds").info(result)
    assert found.names == ("bias", "ratio")
    assert found.caption.endswith("Not drawn, as no range lies between their limits: rise.")
    assert found.summary == "2 of 2 checks within their limits at every seed"
    crosses = [line for line in result.plot().lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert not crosses


def test_each_run_is_the_one_of_its_seed():
    few = {"replications": 2, "sizes": (20,), "rules": ("3nn",), "bootstrap": 3, "n_jobs": 1}
    result = reproduce_over_seeds("ghane-synthetic", (4, 1), **few)
    alone = reproduce("ghane-synthetic", random_state=1, **few)
    assert isinstance(result, SeedRuns)
    assert [check.values[1] for check in result.checks] == [check.value for check in alone.checks]


@pytest.mark.parametrize(
    ("text", "seeds"), [("0-3", [0, 1, 2, 3]), ("5,1", [5, 1]), (" 2 , 4-5", [2, 4, 5]), ("0-999", list(range(1000)))]
)
def test_seeds_are_read(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "0-", "-3", "0-x", "4-2", "1,,2", "0-1000", "1.5,2", "²,3"])
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match="--seeds"):
        parse_seeds(text)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [([3], "2 to 1000"), ([], "2 to 1000"), ([1, 1], "twice"), ([1, -1], "at least 0"), ([1, True], "whole numbers")],
)
def test_other_seeds_are_refused(toy, seeds, message):
    with pytest.raises(InputError, match=message):
        reproduce_over_seeds("toy", seeds)


def test_a_random_state_beside_seeds_is_refused(toy):
    with pytest.raises(InputError, match="random_state"):
        reproduce_over_seeds("toy", [1, 2], random_state=3)
