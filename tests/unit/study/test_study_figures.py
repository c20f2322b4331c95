"""Figures of a study: their numbers, what they leave out, and that they draw."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import unseen.show
from unseen.study.summary import TaskCounts, summarize_columns

matplotlib.use("Agg")
NAN = float("nan")


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(0)
    cells = [
        {"population": "p", "model": "m", "n": n, "method": m, "kind": "estimate", "loss": "squared"}
        for n in (20, 40)
        for m in ("a", "b$")
    ]
    cells += [{"population": "p", "model": "m - k", "n": n, "method": "t", "kind": "comparison"} for n in (20, 40)]
    per, count = 30, 6
    size = per * count
    columns = {
        "cell": np.repeat(np.arange(count), per),
        "replication": np.tile(np.arange(per), count),
        "estimate": rng.normal(3.0, 1.0, size),
        "truth": rng.normal(3.0, 0.1, size),
        "seconds": np.ones(size),
        "spread": np.full(size, NAN),
        "lower": np.full(size, NAN),
        "upper": np.full(size, NAN),
        "p_value": np.where(np.repeat(np.arange(count), per) >= 4, rng.random(size), NAN),
    }
    bounded = columns["cell"] == 1
    columns["lower"][bounded], columns["upper"][bounded] = -np.inf, np.inf
    columns["lower"][bounded] = columns["estimate"][bounded] - 2
    columns["upper"][bounded] = columns["estimate"][bounded] + 2
    spec = {"replications": per, "seed": 0, "level": 0.95}
    return summarize_columns("s", spec, cells, columns, [], TaskCounts(size, size, 0))


def test_boxes_are_those_of_the_deviations(study):
    info = unseen.show.info(study, "study-deviations")
    assert info.box.shape == (2, 2, 5)
    np.testing.assert_allclose(info.box[1, 0, 2], np.median(study.deviations[0].values[1][0]))
    assert info.loss == "squared"


def test_lines_hold_every_method_and_size(study):
    info = unseen.show.info(study, "study-rms")
    assert (info.methods, info.sizes) == (("a", "b$"), (20, 40))
    assert info.value[1, 0] == study["b$", 20].deviation.rms
    assert info.error[0, 1] == study["a", 40].deviation.rms_error
    assert "n = 40" in info.summary


def test_coverage_and_rejections_are_shares_with_their_mark(study):
    coverage = unseen.show.info(study, "study-coverage")
    assert coverage.methods == ("b$",)
    assert coverage.mark == 0.95
    assert coverage.share
    rejects = unseen.show.info(study, "study-rejections")
    assert rejects.methods == ("t",)
    assert rejects.mark == pytest.approx(0.05)
    assert unseen.show.info(study.only("p", "m"), "study-rejections") is None


@pytest.mark.parametrize("name", ["study-deviations", "study-rms", "study-coverage", "study-rejections"])
def test_figures_draw(study, name):
    import matplotlib.pyplot as plt

    ax = study.plot(name)
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    assert np.isfinite([low, high]).all()
    plt.close("all")


def test_bars_of_a_share_stay_inside_its_range(study):
    import matplotlib.pyplot as plt

    ax = study.plot("study-coverage")
    tops = [s.get_segments() for s in ax.collections]
    ends = np.concatenate([np.concatenate(one) for one in tops])[:, 1]
    assert np.nanmin(ends) >= 0
    assert np.nanmax(ends) <= 1
    plt.close("all")


def test_a_report_of_one_size_and_no_interval(tmp_path):
    cells = [{"population": "p", "model": "m", "n": 20, "method": "a", "kind": "estimate"}]
    columns = {k: np.full(3, NAN) for k in ("lower", "upper", "spread", "p_value")}
    columns |= {
        "cell": np.zeros(3, int),
        "replication": np.arange(3),
        "seconds": np.ones(3),
        "estimate": np.array([0.1, 0.2, 0.3]),
        "truth": np.full(3, 0.2),
    }
    s = summarize_columns("<b>s</b>", {"replications": 5, "seed": 0}, cells, columns, [], TaskCounts(5, 3, 1))
    page = tmp_path / "s.html"
    s.report(page)
    text = page.read_text()
    assert "<b>s</b>" not in text
    assert "not complete" in text
    assert "1 tasks failed" in text
    assert "Coverage" not in text.replace("Coverage is that of", "")


def test_an_empty_study_has_a_report_too(tmp_path):
    columns = {k: np.zeros(0) for k in ("lower", "upper", "spread", "p_value", "seconds", "estimate", "truth")}
    columns |= {"cell": np.zeros(0, int), "replication": np.zeros(0, int)}
    s = summarize_columns("s", {"replications": 5, "seed": 0}, [], columns, [], TaskCounts(5, 0, 0))
    s.report(tmp_path / "s.html")
    assert str(s).startswith("s: 0 of 5 tasks done, 5 missing")
    assert s.rows() == []


@pytest.fixture(scope="module")
def million():
    rng = np.random.default_rng(1)
    cells = [
        {"population": "p", "model": "m", "n": n, "method": m, "kind": "estimate", "loss": "squared"}
        for n in (20, 40, 80, 160, 320)
        for m in ("a", "b", "c", "d")
    ]
    per, count = 50_000, len(cells)
    nothing = np.full(per * count, NAN)
    columns = {
        "cell": np.repeat(np.arange(count), per),
        "replication": np.tile(np.arange(per), count),
        "estimate": rng.standard_t(5, per * count),
        "truth": np.zeros(per * count),
        "seconds": np.ones(per * count),
        "spread": nothing,
        "lower": nothing,
        "upper": nothing,
        "p_value": nothing,
    }
    spec = {"replications": per, "seed": 0, "level": 0.95}
    return summarize_columns("s", spec, cells, columns, [], TaskCounts(per * count, per * count, 0))


def test_a_million_results_are_a_small_picture_and_a_small_page(million):
    from unseen.show import build, figures_for, render, svg

    one = next(f for f in figures_for(million) if f.name == "study-deviations")
    picture = svg(one, one.info(million))
    assert len(picture.encode()) < 200_000
    assert "dots drawn, evenly by rank" in picture
    page = render("A million", build(million))
    assert len(page.encode()) < 200_000
    assert "A box shows at most 200 dots" in page


def test_of_many_dots_the_farthest_and_an_even_share_are_kept(million):
    info = unseen.show.info(million, "study-deviations")
    values = million.deviations[0].values[2][1]
    q1, median, q3 = np.quantile(values, (0.25, 0.5, 0.75))
    np.testing.assert_allclose(info.box[2, 1, 1:4], (q1, median, q3))
    beyond = np.sort(values[np.abs(values - (q1 + q3) / 2) > 2 * (q3 - q1)])
    dots = info.outside[(info.outside[:, 0] == 2) & (info.outside[:, 1] == 1), 2]
    assert (dots[0], dots[-1]) == (beyond[0], beyond[-1])
    assert set(dots) <= set(beyond)
    assert len(dots) == 2400 // 20
    # evenly by rank: half of the dots lie below the median of all that lie beyond
    assert np.mean(dots < np.median(beyond)) == pytest.approx(0.5, abs=0.01)
    assert info.n_outside > 20 * len(dots)
    assert "evenly by rank" in info.caption


def test_few_dots_are_all_drawn(study):
    info = unseen.show.info(study, "study-deviations")
    assert info.n_outside == len(info.outside)
    assert "evenly by rank" not in info.caption
