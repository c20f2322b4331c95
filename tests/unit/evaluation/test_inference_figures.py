"""Figures of distributions, power, disagreement and prediction files: their numbers, and that they draw."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.core.distribution import ErrorDistribution
from unseen.evaluation.figures.decision_curve import draw as draw_decision
from unseen.evaluation.figures.decision_curve import info as of_curve
from unseen.show import draw, figures_for, info, svg


@pytest.fixture
def results():
    rng = np.random.default_rng(0)
    a = ErrorDistribution(rng.random(50), "zero-one", model="a $ model", n_train=30, n_test=10)
    b = ErrorDistribution(rng.random(50), "zero-one", model="b", n_train=30, n_test=10)
    y = rng.choice(list("uv"), 60)
    one = pd.DataFrame({"id": range(60), "y": y, "pred": np.where(rng.random(60) < 0.8, y, "u")})
    two = one.assign(pred=np.where(rng.random(60) < 0.6, y, "v"))
    d = unseen.disagree(one, two, budget=5, names=("one", "two"))
    return {
        "distribution": a,
        "comparison": a.compare(b),
        "power": unseen.power(300, 0.03, disagreement=0.2),
        "size": unseen.plan_test_size(0.05),
        "disagreement": d,
        "labelled": d.with_labels(dict(zip(one.id, one.y))),
        "files": unseen.predictions({"one": one, "two": two}, truth="y", pred="pred", id="id"),
    }


@pytest.mark.slow
@pytest.mark.sample
def test_every_result_has_figures_that_draw_and_a_report(results, tmp_path):
    for name, result in results.items():
        found = figures_for(result)
        assert found, name
        for one in found:
            numbers = one.info(result)
            assert numbers is not None
            assert svg(one, numbers).startswith("<svg")
        page = (tmp_path / f"{name}.html").resolve()
        result.report(page)
        assert "<svg" in page.read_text()
        assert result._repr_html_()


def test_distribution_curves_hold_the_fractiles(results):
    d = results["distribution"]
    curve = info(d, "error-distribution").curves[0]
    assert curve.fractiles.tolist() == [d.fractile(0.05), d.fractile(0.5), d.fractile(0.95)]
    ax = draw(results["comparison"])
    assert [line.get_linestyle() for line in ax.get_lines()[:2]] == ["-", "--"]


def test_power_curves_pass_through_the_point_asked_about(results):
    lines = info(results["power"], "power-by-size")
    middle = lines.lines[1]
    assert np.interp(300, middle.x, middle.y) == pytest.approx(results["power"].power, abs=0.002)
    width = info(results["size"], "half-width")
    assert width.point == (385, pytest.approx(0.05, abs=1e-4))


def test_disagreement_counts_add_up(results):
    d = results["disagreement"]
    assert sum(info(d, "disagreement").counts) == d.n
    spans = info(results["labelled"], "disagreement-intervals")
    assert spans.ends[0] == tuple(results["labelled"].interval)


def test_no_figure_of_differences_for_one_file(results):
    one = unseen.predictions(pd.DataFrame({"s": [1.0, 0.0, 1.0]}), score="s")
    assert info(one, "file-differences") is None
    shown = info(one, "file-errors")
    assert (shown.values, shown.xlabel) == ((pytest.approx(2 / 3),), "s")


def test_the_band_of_a_decision_curve_does_not_flatten_the_curve():
    rng = np.random.default_rng(1)
    logit = rng.normal(size=120)
    y = (rng.random(120) < 1 / (1 + np.exp(-logit))).astype(int)
    curve = unseen.measure(y, 1 / (1 + np.exp(-logit)), random_state=0).decision_curve()
    highest = max(curve.net_benefit.max(), curve.treat_all.max())
    assert curve.high.max() > 3 * highest  # where hardly a case is called
    _, ax = plt.subplots()
    draw_decision(of_curve(curve), ax)
    assert highest < ax.get_ylim()[1] < 2 * highest
    plt.close("all")


def test_measures_are_called_in_the_picture_as_in_the_table():
    y = np.tile([0, 1], 40)
    m = unseen.measure(y, np.where(np.arange(80) % 5 == 0, 1 - y, y), random_state=0)
    labels = info(m, "measures").labels
    assert {"F1", "balanced accuracy", "accuracy"} <= set(labels)


def test_numbers_are_drawn_against_what_was_observed(tmp_path):
    truth = np.random.default_rng(0).normal(size=50)
    m = unseen.measure(truth, 0.5 * truth, random_state=0)
    numbers = info(m, "residuals")
    assert np.array_equal(numbers.predicted, 0.5 * numbers.observed)
    assert np.array_equal(numbers.observed, np.sort(truth))
    m.report(tmp_path / "m.html")
    assert "Predicted against observed" in (tmp_path / "m.html").read_text()
    assert info(unseen.measure(truth > 0, truth > 0.1, random_state=0), "residuals") is None


def test_differences_of_files_are_coloured_by_their_verdict():
    rng = np.random.default_rng(1)
    y = rng.choice(list("uv"), 200)

    def file(right):
        return pd.DataFrame({"id": range(200), "y": y, "pred": np.where(rng.random(200) < right, y, "u")})

    three = {"one": file(0.95), "two": file(0.94), "bad": file(0.3)}
    files = unseen.predictions(three, truth="y", pred="pred", id="id")
    numbers = info(files, "file-differences")
    assert numbers.shown == tuple(p.decided is not None for p in files.pairs) == (False, True, True)
    ax = draw(files, "file-differences")
    assert [line.get_marker() for line in ax.lines if line.get_marker() in ("o", "D")] == ["o", "D", "D"]
    points = [line.get_color() for line in ax.lines if line.get_marker() in ("o", "D")]
    assert points[1] == points[2] != points[0]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["no difference shown", "difference shown"]
    assert "adjusted p-values" in numbers.caption
    pair = unseen.predictions({k: three[k] for k in ("one", "two")}, truth="y", pred="pred", id="id")
    assert "adjusted" not in info(pair, "file-differences").caption


def test_the_axis_of_measures_has_the_unit_of_their_table():
    truth = np.tile(list("ab"), 30)
    shares = unseen.measure(
        truth, np.where(np.arange(60) < 9, "a", truth), measures=["accuracy", "sensitivity"], n_bootstrap=100
    )
    ax = draw(shares, "measures")
    ax.figure.canvas.draw()
    assert "60%" in [t.get_text() for t in ax.get_xticklabels()]
    assert ax.get_xlabel() == "share of cases"
    both = unseen.measure(truth, np.where(np.arange(60) < 9, "a", truth), measures=["accuracy", "f1"], n_bootstrap=100)
    assert draw(both, "measures").get_xlabel() == "value (0.5 is 50%)"


def test_names_of_few_classes_are_not_cut_to_save_a_letter():
    names = np.array(["no finding at all", "lymphoma", "melanoma"])
    truth = names[np.arange(60) % 3]
    ax = draw(unseen.measure(truth, np.roll(truth, 1), n_bootstrap=100), "confusion")
    assert "no finding at all" in [t.get_text() for t in ax.get_xticklabels()]
