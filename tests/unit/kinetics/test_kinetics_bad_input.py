"""Each kind of bad input is a sentence that names subject and row; other subjects are still fitted."""

from __future__ import annotations

import pandas as pd
import pytest

import unseen
from unseen.core.errors import InputError, KindError

kinetics = unseen.kinetics


@pytest.fixture
def tables():
    made = kinetics.simulate(subjects=2, noise=0.02, between=0.1, random_state=0)
    return pd.DataFrame(made.ttr).astype({"ttr": object, "time": object}), pd.DataFrame(made.doses).astype(object)


def spoil(ttr, doses, what):
    first = ttr["subject"] == "s1"
    if what == "analyte":
        ttr = ttr[~(first & (ttr["analyte"] == "Tyr-6"))]
    elif what == "dose zero":
        doses.loc[0, "dose_product"] = 0
    elif what == "dose text":
        doses.loc[0, "dose_product"] = "much"
    elif what == "no dose":
        doses = doses.iloc[1:]
    elif what == "two doses":
        doses = pd.concat([doses, doses.iloc[:1]])
    elif what == "negative time":
        ttr.loc[3, "time"] = -5
    elif what == "time zero":
        ttr.loc[3, "time"] = 0
    elif what == "duplicate":
        ttr.loc[3, "time"] = 15.0
    elif what == "few":
        ttr = ttr[~(first & (ttr["analyte"] == "Phe-6") & (ttr["time"].astype(float) > 20))]
    elif what == "percent":
        ttr.loc[first, "ttr"] = ttr.loc[first, "ttr"].astype(float) * 100
    elif what == "zero curve":
        ttr.loc[first & (ttr["analyte"] == "Tyr-6"), "ttr"] = 0.0
    elif what == "text":
        ttr.loc[5, "ttr"] = "n/a"
    elif what == "missing":
        ttr.loc[5, "ttr"] = float("nan")
    return ttr, doses


CASES = {
    "analyte": r"subject s1: no usable sample of Tyr-6",
    "dose zero": r"subject s1, doses row 1: dose_product is 0",
    "dose text": r"subject s1, doses row 1: dose_product is 'much'",
    "no dose": r"subject s1: no row in the doses table",
    "two doses": r"subject s1: 2 rows \(rows 1, 3\)",
    "negative time": r"subject s1, row 4 \(Phe-6\): time is -5",
    "time zero": r"subject s1, row 4 \(Phe-6\): time is 0",
    "duplicate": r"subject s1, rows 3 and 4: two samples of Phe-6 at 15 min",
    "few": r"subject s1: 4 samples of Phe-6 \(rows 1, 2, 3, 4\); at least 5",
    "percent": r"subject s1, row 1 \(Phe-6\): ttr is [\d.]+, which looks like per cent",
    "zero curve": r"subject s1, rows 25 to 36: all TTR of Tyr-6 are 0 or below",
    "text": r"subject s1, row 6 \(Phe-6\): ttr is 'n/a', which is not a finite number",
    "missing": r"subject s1, row 6 \(Phe-6\): ttr is missing; correct the cell",
}


@pytest.mark.parametrize("what", CASES)
def test_the_subject_fails_with_a_reason_and_the_other_is_fitted(tables, what):
    ttr, doses = spoil(*tables, what)
    study = kinetics.fit(ttr, doses, locations=["EC-EC"])
    assert [f.subject for f in study] == ["s2"]
    with pytest.raises(InputError, match=CASES[what]):
        study["s1"]
    row = study.frame().set_index("subject").loc["s1"]
    assert row["failure"] == study.failures["s1"]
    assert pd.isna(row["k21"])
    assert any(n.code == "K010" for n in study.notes)


@pytest.mark.parametrize("what", ["percent", "no dose"])
def test_the_same_reasons_come_from_the_areas(tables, what):
    ttr, doses = spoil(*tables, what)
    result = kinetics.nca(ttr, doses)
    assert [s.subject for s in result.subjects] == ["s2"]
    with pytest.raises(InputError, match=CASES[what]):
        result["s1"]


def test_when_no_subject_is_left_the_reasons_are_raised(tables):
    ttr, doses = tables
    with pytest.raises(InputError, match=r"no subject could be fitted.*s1.*s2"):
        kinetics.fit(ttr, doses.iloc[:0])


def test_missing_columns_are_named(tables):
    ttr, doses = tables
    with pytest.raises(InputError, match="no column 'analyte'"):
        kinetics.fit(ttr.drop(columns="analyte"), doses)
    with pytest.raises(InputError, match="no column 'dose_precursor', 'dose_product'"):
        kinetics.fit(ttr, doses[["subject"]])


def test_empty_tables_and_wrong_kinds_are_refused(tables, tmp_path):
    ttr, doses = tables
    with pytest.raises(InputError, match="no rows"):
        kinetics.fit(ttr.iloc[:0], doses)
    with pytest.raises(KindError, match="list"):
        kinetics.fit([1, 2], doses)
    with pytest.raises(InputError, match="does not exist"):
        kinetics.fit(tmp_path / "nosuch.csv", doses)


def test_sd_is_asked_for_where_it_is_needed(tables):
    ttr, doses = tables
    with pytest.raises(InputError, match="column sd"):
        kinetics.fit(ttr, doses, error="sd")
    ttr["sd"] = 0.01
    ttr.loc[0, "sd"] = 0.0
    study = kinetics.fit(ttr, doses, error="sd", locations=["EC-EC"])
    assert "row 1 (Phe-6): sd is 0.0" in study.failures["s1"]


def test_negative_ratios_are_kept_with_a_note(tables):
    ttr, doses = tables
    ttr.loc[24, "ttr"] = -1e-4
    study = kinetics.fit(ttr, doses, locations=["EC-EC"], outliers=None)
    assert any(n.code == "K002" and "s1" in n.text for n in study.notes)


def test_unknown_analytes_and_doubtful_units_are_noted(tables):
    ttr, doses = tables
    extra = pd.concat([ttr, ttr.iloc[:12].assign(analyte="Leu-3")])
    study = kinetics.fit(extra, doses, locations=["EC-EC"])
    assert any(n.code == "K004" and "Leu-3" in n.text for n in study.notes)
    study = kinetics.fit(ttr, doses, unit="percent", locations=["EC-EC"])
    assert any(n.code == "K003" for n in study.notes)


def test_files_frames_and_polars_give_the_same(tables, tmp_path):
    import polars as pl

    made = kinetics.simulate(subjects=1, noise=0.02, between=0.1, random_state=0)
    ttr, doses = pd.DataFrame(made.ttr), pd.DataFrame(made.doses)
    ttr.to_csv(tmp_path / "ttr.csv", index=False)
    doses.to_csv(tmp_path / "doses.csv", index=False)
    options = {"locations": ["EC-EC"]}
    by_file = kinetics.fit(tmp_path / "ttr.csv", tmp_path / "doses.csv", **options)
    by_frame = kinetics.fit(ttr, doses, **options)
    by_polars = kinetics.fit(pl.DataFrame(made.ttr), pl.DataFrame(made.doses), **options)
    assert by_file["s1"].rates == pytest.approx(by_frame["s1"].rates, rel=1e-9)
    assert by_polars["s1"].rates == by_frame["s1"].rates


def test_files_with_semicolons_decimal_commas_and_numbered_subjects_are_read_as_the_plain_ones(tables, tmp_path):
    ttr, doses = (t.replace({"subject": {"s1": "001", "s2": "002"}}) for t in tables)
    ttr.to_csv(tmp_path / "ttr.csv", sep=";", decimal=",", index=False)
    doses.to_csv(tmp_path / "doses.csv", sep=";", decimal=",", index=False)
    from_files = kinetics.fit(tmp_path / "ttr.csv", tmp_path / "doses.csv")
    plain = kinetics.fit(ttr.astype({"ttr": float, "time": float}), doses)
    assert [f.subject for f in from_files.fits] == ["001", "002"]
    assert from_files["002"].rates["k21"] == pytest.approx(plain["002"].rates["k21"], rel=1e-9)


@pytest.mark.slow
@pytest.mark.sample
def test_hours_taken_for_minutes_are_asked_about_and_notes_are_printed(tables):
    ttr, doses = tables
    study = kinetics.fit(ttr.assign(time=ttr["time"].astype(float) / 60), doses)
    assert "ended at its bound (5); is time_unit right?" in str(study)
    right = kinetics.fit(ttr.assign(time=ttr["time"].astype(float) / 60), doses, time_unit="h")
    assert "time_unit" not in str(right)


def test_a_removed_sample_is_named_in_the_printed_study(tables):
    ttr, doses = tables
    ttr.loc[5, "ttr"] = 3 * float(ttr.loc[5, "ttr"])
    assert "K001 samples removed: subject s1: Phe-6" in str(kinetics.fit(ttr, doses))
