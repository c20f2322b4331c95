"""Figures and reports of tracer results: every figure gives its numbers back and draws, every report is one file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.show import figures_for, info
from unseen.show.sections import Picture, Text, build

kinetics = unseen.kinetics


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")


@pytest.fixture(scope="module")
def study():
    groups = {"low": {}, "high": {"k02": 3.0}}
    made = kinetics.simulate(subjects=6, noise=0.02, between=0.1, groups=groups, gross_errors=1, random_state=5)
    table = dict(made.ttr)
    table["ttr"] = ["x" if s == "s6" else v for s, v in zip(table["subject"], table["ttr"])]
    doses = dict(made.doses)
    return kinetics.fit(made.ttr, doses, locations=["EC-EC", "IC-IC", "whole-body"], drop_early={"Tyr-4": 10})


def test_curves_hold_the_samples_and_the_removed_ones(study):
    one = study["s1"]
    numbers = info(one, "curves")
    assert numbers.samples[1][0].min() == 15
    assert sum(r[0].size for r in numbers.removed) == len(one.removed) >= 2
    at = np.interp(60.0, numbers.minutes, numbers.curves[0])
    assert at == pytest.approx(one.predict([60.0], "Phe-6")[0], rel=1e-3)
    assert (numbers.low[0] < numbers.high[0]).all()


def test_residuals_are_in_standard_deviations(study):
    one = study["s1"]
    numbers = info(one, "residuals")
    assert sum(float(r @ r) for r in numbers.residuals) == pytest.approx(one.at().chi2, rel=1e-9)


def test_locations_intervals_and_ranges_repeat_the_fit(study):
    one = study["s1"]
    assert info(one, "locations").locations[0] == one.locations[0]["location"]
    numbers = info(one, "intervals")
    at = numbers.names.index("U_Phe")
    assert numbers.low[at] * numbers.values[at] == pytest.approx(one.interval("U_Phe").low)
    ranges = info(one, "ranges")
    assert ranges.low[0] == pytest.approx(one.ranges()["Phe"].U[0])


def test_the_mixed_locations_are_said_to_be_alike_only_if_they_are():
    from unseen.kinetics.figures.locations import LocationsInfo

    def caption(*differences):
        found = LocationsInfo(("IC-EC", "IC-IC", "EC-IC"), np.array(differences), np.full(3, np.nan), "IC-EC")
        return found.caption

    assert "IC-EC and EC-IC cannot be distinguished" in caption(0.0, 1.0, 1.5)
    assert "cannot be distinguished" not in caption(0.0, 1.0, 8.0)


def test_a_range_is_seen_to_begin_and_its_left_end_is_the_fitted_curve_s(study):
    ranges = info(study["s1"], "ranges")
    ax = study["s1"].plot("ranges")
    assert ax.get_xlim()[0] < ranges.low.min() - 0.02 * (ranges.high.max() - ranges.low.min())
    assert "rate of the fitted curve" in ax.get_xlabel()


def test_numbers_of_the_whole_body_diagram_do_not_overprint_on_a_phone(study):
    from matplotlib.figure import Figure

    from unseen.show.style import PHONE_INCHES

    one = next(f for f in figures_for(study["s1"]) if f.name == "pools-whole-body")
    numbers = one.info(study["s1"])
    drawn = Figure(figsize=(PHONE_INCHES, numbers.size[1]))
    ax = drawn.add_subplot()
    one.draw(numbers, ax)
    drawn.canvas.draw()
    fluxes = [t for t in ax.texts if t.get_text().startswith(("F12", "Fconv", "F43"))]
    boxes = {t.get_text()[:4]: t.get_window_extent() for t in fluxes}
    assert len(boxes) == 3
    assert not boxes["Fcon"].overlaps(boxes["F12 "])
    assert not boxes["Fcon"].overlaps(boxes["F43 "])


def test_profiles_touch_zero_at_the_estimate(study):
    numbers = info(study["s1"], "profiles")
    for ratios, roots in zip(numbers.ratios, numbers.roots):
        assert roots[np.argmin(np.abs(ratios - 1))] == pytest.approx(0, abs=0.02)


def test_pool_diagrams_exist_for_the_fitted_locations_only(study):
    drawn = [f.name for f in figures_for(study["s1"]) if f.name.startswith("pools-") and f.info(study["s1"])]
    assert drawn == ["pools-ec-ec", "pools-ic-ic", "pools-whole-body"]
    numbers = info(study["s1"], "pools-ec-ec")
    assert numbers.values["Fconv"] == study["s1"].fluxes("EC-EC")["Fconv"]
    assert "Fconv" in numbers.summary


def test_diagram_of_a_study_has_what_its_number_of_subjects_allows(study):
    means = study.means()
    numbers = info(study, "pools")
    assert numbers.values["F21"] == means["F21"].mean
    assert numbers.spans["F21"] == tuple(means["F21"].interval)
    two = replace(study, fits=study.fits[:2])
    assert info(two, "pools").spans["F21"] == two.means()["F21"].spread
    one = replace(study, fits=study.fits[:1])
    assert info(one, "pools").spans is None
    assert info(one, "pools").errors["F21"] == study.fits[0].std_errors()["F21"]


@pytest.mark.slow
@pytest.mark.sample
def test_reports_open_with_the_diagram_and_its_numbers_on_the_arrows(study):
    for result in (study, replace(study, fits=study.fits[:2]), replace(study, fits=study.fits[:1]), study["s1"]):
        blocks = build(result)[0].blocks
        first = next(b for b in blocks if not (isinstance(b, Text) and b.lead))
        assert isinstance(first, Picture)
        numbers = info(result, "pools")
        assert f"F21 {numbers.values['F21']:.3g}" in first.svg
        assert numbers.error_of("F21") in first.svg
        assert "nan" not in "".join(str(b) for b in blocks if not isinstance(b, Picture))


def test_every_figure_draws(study):
    import matplotlib.pyplot as plt

    for result in (study["s1"], study):
        for one in figures_for(result):
            if one.info(result) is not None:
                axes = result.plot(one.name)
                assert axes.figure is not None
                plt.close(axes.figure)


@pytest.mark.slow
@pytest.mark.sample
def test_reports_are_single_files_that_name_every_subject(study, tmp_path):
    page = (tmp_path / "study.html", tmp_path / "one.html")
    study.report(page[0])
    study["s2"].report(page[1])
    text = page[0].read_text()
    for subject in ("s1", "s6", "Fconv", "whole-body", "mean ± SE"):
        assert subject in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "Condition number" in page[1].read_text()


def test_group_report_and_figure(study, undrawn, tmp_path):
    result = kinetics.compare_groups(study, group="group", permutations=19, random_state=0, methods=("bolster", "loo"))
    numbers = info(result, "groups")
    assert numbers.groups == ("high", "low")
    assert sum(len(r) for r in numbers.ratios) == 6
    result.plot()
    result.report(tmp_path / "groups.html")
    assert "Which rates and pools differ" in (tmp_path / "groups.html").read_text()


def test_failures_are_on_the_page(undrawn, tmp_path):
    made = kinetics.simulate(subjects=2, noise=0.02, random_state=5)
    doses = {k: v[:1] for k, v in made.doses.items()}
    study = kinetics.fit(made.ttr, doses, locations=["EC-EC"])
    study.report(tmp_path / "f.html")
    assert "no row in the doses table" in (tmp_path / "f.html").read_text()
    kinetics.nca(made.ttr, doses).report(tmp_path / "n.html")
    assert "no row in the doses table" in (tmp_path / "n.html").read_text()
