"""Figures and reports of benches and rankings: their numbers, and that every one can be drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unseen.nets.ranking.bench_record import Bench, BenchLine
from unseen.nets.ranking.measure_scores import score_measures
from unseen.nets.ranking.ranking_record import ExpectedErrors, NetRanking
from unseen.show import figures_for


def _line(name: str, cmi: float, control: bool = False) -> BenchLine:
    return BenchLine(
        measure=name,
        control=control,
        cmi=cmi,
        cmi_low=cmi - 1,
        cmi_high=cmi + 1,
        cmi_honest=cmi - 0.5,
        p_value=0.01,
        tau=0.3,
        granulated_tau=0.2,
        robust_error=0.6,
        worst="depth 1 to 2",
        seconds=0.1,
        std_error=0.0,
    )


@pytest.fixture
def bench() -> Bench:
    gap = np.linspace(0.1, 0.2, 8)
    values = {"good": gap**2, "bad": np.ones(8), "epochs": np.arange(8.0)}
    axes = {"depth": [1, 1, 1, 1, 2, 2, 2, 2], "width": [8, 9] * 4}
    lines = (_line("good", 40.0), _line("epochs", 12.0, True), _line("bad", 1.0))
    return Bench(
        zoo="made-up",
        lines=lines,
        noise_floor=5.0,
        gap=gap,
        values=values,
        axes=axes,
        seeds=np.zeros(8, int),
        left_out={"alpha": "8 of 8 networks: too small"},
    )


@pytest.fixture
def ranking() -> NetRanking:
    probability = np.array([[0.7, 0.3, 0.0], [0.3, 0.6, 0.1], [0.0, 0.1, 0.9]])
    return NetRanking(
        names=("a", "b", "c"),
        score=(0.1, 0.5, 0.9),
        probability=probability,
        values={},
        agreement={},
        accuracy=(1.0, 1.0, 0.97),
        expected=ExpectedErrors(
            error=(0.1, 0.11, 0.2),
            train_error=(0.0, 0.0, 0.03),
            gap=(0.1, 0.11, 0.17),
            low=(0.09, 0.1, 0.18),
            high=(0.12, 0.13, 0.22),
            lowest=(0.05, 0.06, 0.1),
            highest=(0.2, 0.22, 0.4),
            probability_better=(0.5, 0.2, 0.01),
            level=0.1,
            source="a test",
        ),
    )


def _infos(result: object) -> dict[str, object]:
    return {one.name: one.info(result) for one in figures_for(result)}


def test_the_figure_of_scores_holds_them_in_order_with_controls_marked(bench: Bench) -> None:
    found = _infos(bench)["scores"]
    assert found.labels == ("good", "epochs", "bad")
    assert found.scores.tolist() == [40.0, 12.0, 1.0]
    assert found.control.tolist() == [False, True, False]
    assert (found.low.tolist(), found.high.tolist()) == ([39.0, 11.0, 0.0], [41.0, 13.0, 2.0])
    assert "2 are above the noise floor of 5.0" in found.summary


def test_the_scatter_shows_the_best_measure_and_the_axis_that_moves_the_gap(bench: Bench) -> None:
    found = _infos(bench)["scatter"]
    assert found.measure == "good"
    assert found.axis == "depth"
    assert np.allclose(found.values, bench.gap**2)


def test_a_long_ranking_is_cut(ranking: NetRanking) -> None:
    assert _infos(ranking)["ranks"].left == 0
    long = NetRanking(
        names=tuple(map(str, range(60))),
        score=(0.0,) * 60,
        probability=np.eye(60),
        values={},
        agreement={},
        accuracy=(1.0,) * 60,
    )
    found = _infos(long)["ranks"]
    assert (len(found.names), found.left, found.probability.shape) == (40, 20, (40, 40))


def test_the_figure_of_expected_errors_tells_the_first_and_its_equals(ranking: NetRanking) -> None:
    found = _infos(ranking)["expected-errors"]
    assert found.ties == ("b",)
    assert found.inner.tolist() == [[0.09, 0.1, 0.18], [0.12, 0.13, 0.22]]
    assert found.outer.tolist() == [[0.05, 0.06, 0.1], [0.2, 0.22, 0.4]]
    assert _infos(replace(ranking, expected=None))["expected-errors"] is None


def test_every_figure_draws_and_every_report_is_written(bench: Bench, ranking: NetRanking, tmp_path) -> None:
    for result in (bench, ranking):
        for one in figures_for(result):
            ax = result.plot(one.name)
            assert ax.has_data() or ax.patches
            ax.figure.clf()
        text = Path(result.report(tmp_path / "report.html")).read_text()
        assert "<svg" in text
    assert "Take a; b is not distinguishable from it. Its expected test error is 10.0% (5.0% to 20.0%)." in text
    before = replace(ranking, expected=None)  # a ranking that was kept before there were expected errors
    text = Path(before.report(tmp_path / "report.html")).read_text()
    assert "a is expected to generalize best of 3 networks" in text
    text = Path(bench.report(tmp_path / "bench.html")).read_text()
    assert "good says most about the gap: it scores 40.0 of 100" in text
    assert "8 of 8 networks: too small" in text


def test_a_report_says_when_no_measure_beats_a_control(bench: Bench, tmp_path) -> None:
    lines = (_line("epochs", 50.0, True), *bench.lines[:1])
    beaten = Bench(
        zoo="made-up",
        lines=lines,
        noise_floor=5.0,
        gap=bench.gap,
        values=bench.values,
        axes=bench.axes,
        seeds=bench.seeds,
    )
    assert "No measure beats the control epochs" in Path(beaten.report(tmp_path / "b.html")).read_text()


def test_scored_measures_are_drawn_with_a_floor_each() -> None:
    gap = np.array([0.1, 0.12, 0.15, 0.19, 0.21, 0.26, 0.3, 0.33])
    grid = {"depth": [1, 1, 1, 1, 2, 2, 2, 2], "width": [8, 8, 9, 9] * 2, "dropout": [0, 1] * 4}
    found = score_measures(gap, {"none": np.ones(8), "all": gap}, grid, n_permutations=19)
    drawn = _infos(found)["scores"]
    assert drawn.labels == ("all", "none")
    assert drawn.scores.tolist() == pytest.approx([100.0, 0.0])
    assert drawn.floors.tolist() == [100 * found.floors["all"].quantile, 0.0]
    assert not drawn.control.any()
    assert "1 are above the noise floor of 0.0 to" in drawn.summary
    scatter = _infos(found)["scatter"]
    assert (scatter.measure, scatter.axis, scatter.tau) == ("all", "depth", 1.0)
    for one in figures_for(found):
        assert found.plot(one.name).has_data()


def test_no_point_is_lost_where_a_hyper_parameter_has_many_values(bench: Bench) -> None:
    many = Bench(
        zoo="made-up",
        lines=bench.lines,
        noise_floor=5.0,
        gap=bench.gap,
        values=bench.values,
        axes={"epochs": list(range(8))},
        seeds=bench.seeds,
    )
    ax = many.plot("scatter")
    assert sum(len(line.get_xdata()) for line in ax.get_lines()) == 8
    looks = {(line.get_color(), line.get_marker()) for line in ax.get_lines()}
    assert len(looks) == 8


def test_figures_on_squares_can_be_read_in_light_and_dark(ranking: NetRanking) -> None:
    """The ink is the page's own, never white: a pale square must not hide it."""
    ax = ranking.plot("ranks")
    assert {text.get_text() for text in ax.texts} == {"0.70", "0.30", "0.60", "0.90"}
    assert {text.get_color() for text in ax.texts} == {"black"}
    (squares,) = ax.collections
    assert squares.get_alpha() == 0.4
    areas = squares.get_sizes() / squares.get_sizes().max()
    # the area is the probability, whatever the shape of the axes
    assert areas.tolist() == pytest.approx([p / 0.9 for p in (0.7, 0.3, 0.3, 0.6, 0.1, 0.1, 0.9)])
    assert squares.get_offsets().tolist()[:3] == [[1, 0], [2, 0], [1, 1]]
