"""Figures of a study: their numbers, what they leave out, and that they draw."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import unseen.display
from unseen.study._summarize import summarized

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
        "cell": np.repeat(np.arange(count), per), "replication": np.tile(np.arange(per), count),
        "estimate": rng.normal(3.0, 1.0, size), "truth": rng.normal(3.0, 0.1, size), "seconds": np.ones(size),
        "spread": np.full(size, NAN), "lower": np.full(size, NAN), "upper": np.full(size, NAN),
        "p_value": np.where(np.repeat(np.arange(count), per) >= 4, rng.random(size), NAN),
    }  # fmt: skip
    bounded = columns["cell"] == 1
    columns["lower"][bounded], columns["upper"][bounded] = -np.inf, np.inf
    columns["lower"][bounded] = columns["estimate"][bounded] - 2
    columns["upper"][bounded] = columns["estimate"][bounded] + 2
    spec = {"replications": per, "seed": 0, "level": 0.95}
    return summarized("s", spec, cells, columns, [], (size, size, 0))


def test_boxes_are_those_of_the_deviations(study):
    info = unseen.display.info(study, "study-deviations")
    assert info.box.shape == (2, 2, 5)
    np.testing.assert_allclose(info.box[1, 0, 2], np.median(study.deviations[0].values[1][0]))
    assert info.loss == "squared"


def test_lines_hold_every_method_and_size(study):
    info = unseen.display.info(study, "study-rms")
    assert (info.methods, info.sizes) == (("a", "b$"), (20, 40))
    assert info.value[1, 0] == study["b$", 20].deviation.rms
    assert info.error[0, 1] == study["a", 40].deviation.rms_error
    assert "n = 40" in info.summary


def test_coverage_and_rejections_are_shares_with_their_mark(study):
    coverage = unseen.display.info(study, "study-coverage")
    assert coverage.methods == ("b$",)
    assert coverage.mark == 0.95
    assert coverage.share
    rejects = unseen.display.info(study, "study-rejections")
    assert rejects.methods == ("t",)
    assert rejects.mark == pytest.approx(0.05)
    assert unseen.display.info(study.only("p", "m"), "study-rejections") is None


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
        "cell": np.zeros(3, int), "replication": np.arange(3), "seconds": np.ones(3),
        "estimate": np.array([0.1, 0.2, 0.3]), "truth": np.full(3, 0.2),
    }  # fmt: skip
    s = summarized("<b>s</b>", {"replications": 5, "seed": 0}, cells, columns, [], (5, 3, 1))
    page = tmp_path / "s.html"
    s.report(page)
    text = page.read_text()
    assert "<b>s</b>" not in text
    assert "not complete" in text
    assert "1 tasks failed" in text
    assert "Coverage" not in text.replace("Coverage is held", "")


def test_an_empty_study_has_a_report_too(tmp_path):
    columns = {k: np.zeros(0) for k in ("lower", "upper", "spread", "p_value", "seconds", "estimate", "truth")}
    columns |= {"cell": np.zeros(0, int), "replication": np.zeros(0, int)}
    s = summarized("s", {"replications": 5, "seed": 0}, [], columns, [], (5, 0, 0))
    s.report(tmp_path / "s.html")
    assert str(s).startswith("s: 0 of 5 tasks done, 5 missing")
    assert s.rows() == []
