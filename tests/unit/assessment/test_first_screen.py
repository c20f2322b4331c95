"""The first screen of an assessment: at most twelve lines that hold sentence, picture, verdict, what narrows it, and warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.assessment.improvement import still_improves
from unseen.assessment.wording import CELLS, fit_notes, in_units, interval_picture, narrow_sentence, verdict_sentence
from unseen.core.data import Data
from unseen.core.estimate import Estimate, Interval, Target
from unseen.core.losses import Predictions, PredictionTable
from unseen.core.notes import note
from unseen.designs.learning_curve import LearningCurve


def estimate(value, ends=None, loss="zero-one", method="range-t"):
    return Estimate(
        value=value,
        std_error=None,
        interval=None if ends is None else Interval(*ends, 0.95),
        df=None,
        method=method,
        target=Target.MODEL.at(100),
        loss=loss,
        n_units=100,
        n_fits=10,
    )


def read_back(line):
    """Return the ends of a picture's axis and the value at each of its signs."""
    left, cells, rest = line.split("|")
    low, high = (float(t.strip().split()[k].rstrip("%")) for t, k in ((left, -1), (rest, 0)))
    assert len(cells) == CELLS
    return (low, high), {sign: low + cells.index(sign) / (CELLS - 1) * (high - low) for sign in "[o]G" if sign in cells}


@pytest.mark.parametrize(
    ("value", "ends", "guess", "loss", "span"),
    [
        (0.058, (0.015, 0.137), 0.5, "zero-one", (0, 1)),
        (0.6, (0.5, 0.7), 0.45, "zero-one", (0, 1)),
        (0.984, (0.956, 0.994), 0.9, "auc", (0, 1)),
        (54.9, (51.6, 58.4), 77.2, "rmse", (0, np.inf)),
        (-3.0, (-9.0, 4.0), 1.0, "utility", (-np.inf, np.inf)),
        (0.0, (0.0, 0.04), 0.1, "zero-one", (0, 1)),
        (1e-4, (5e-5, 2e-4), 3e-4, "squared", (0, np.inf)),
        (25_000.0, (19_000.0, 40_000.0), 60_000.0, "rmse", (0, np.inf)),
    ],
)
def test_every_sign_of_the_picture_stands_where_its_value_is(value, ends, guess, loss, span):
    line = interval_picture(estimate(value, ends, loss), estimate(guess, loss=loss), span)
    scale = 100 if loss == "zero-one" else 1
    (low, high), at = read_back(line)
    cell = (high - low) / (CELLS - 1)
    for sign, true in (("[", ends[0]), ("o", value), ("]", ends[1]), ("G", guess)):
        if sign == "[" and value == ends[0]:
            continue  # the estimate stands on the end of its interval
        assert at[sign] == pytest.approx(scale * true, abs=0.51 * cell), sign
    assert span[0] * scale <= low < high <= span[1] * scale
    assert line.isascii()
    assert len(line) < 80


def test_guessing_far_away_is_named_beside_the_axis():
    line = interval_picture(estimate(0.99, (0.985, 0.995), "auc"), estimate(0.5, loss="auc"), (0, 1))
    (low, high), at = read_back(line)
    assert line.startswith("0.5 (guessing) < ")
    assert "G" not in line
    assert "G" not in at
    assert len(line) < 80
    assert low > 0.9
    assert high <= 1
    line = interval_picture(estimate(0.001, (0.0005, 0.002)), estimate(0.5), (0, 1))
    assert "> 50.0% (guessing)" in line


def test_guessing_as_good_as_the_estimate_is_seen_beside_it():
    for guess, pair in ((0.2001, "oG"), (0.1999, "Go")):
        assert pair in interval_picture(estimate(0.2, (0.1, 0.3)), estimate(guess), (0, 1))


def test_without_an_interval_only_the_estimate_and_guessing_are_drawn():
    line = interval_picture(estimate(0.2), estimate(0.5), (0, 1))
    assert "[" not in line
    assert "=" not in line
    assert set(read_back(line)[1]) == {"o", "G"}
    assert interval_picture(estimate(float("nan")), estimate(0.5), (0, 1)) == ""


def test_scores_are_better_if_larger():
    """Losses are compared inside; the words speak of the score that is shown."""
    guess = estimate(0.5, loss="1 - auc")
    assert verdict_sentence(estimate(0.2, (0.1, 0.3), "1 - auc"), guess, "classification").startswith("Better than")
    assert verdict_sentence(estimate(0.7, (0.6, 0.8), "1 - auc"), guess, "classification").startswith("Worse than")
    between = verdict_sentence(estimate(0.5, (0.4, 0.6), "1 - auc"), guess, "classification")
    assert between.startswith(
        "Not distinguishable from guessing: always guessing the most frequent class has an AUC of 0.5"
    )


def test_the_width_halves_with_four_times_the_units():
    """Three times as many more; a Wilson interval at that size shows it."""
    from unseen.estimators.wilson import wilson_interval

    text = narrow_sentence(Interval(0.1, 0.2, 0.95), 250, "row", falls=False)
    assert text == "About 750 more rows would halve the interval."
    low, high = wilson_interval(0.15, 250, 0.95)
    narrow = wilson_interval(0.15, 250 + 750, 0.95)
    assert (narrow[1] - narrow[0]) / (high - low) == pytest.approx(0.5, abs=0.01)
    assert "About 1,700 more groups" in narrow_sentence(Interval(0.1, 0.2, 0.95), 569, "group", falls=False)
    assert narrow_sentence(None, 100, "row", falls=False) == ""
    assert narrow_sentence(None, 100, "row", falls=True, what="AUC") == (
        "More rows should raise the AUC: the learning curve still rises."
    )


def test_heavy_tails_leave_no_promise(regressed):
    """Errors of a t law with two degrees of freedom, found by the check itself; normal ones keep the promise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    heavy = unseen.assess("ols", X, X[:, 0] + rng.standard_t(2, 120), random_state=0, effort="repeats=1")
    assert "heavy tails" in {n.title for n in heavy.headline.notes}
    assert heavy.narrow() == ""
    assert "would halve" in regressed.narrow()


def curve_table(rng, n, error_at):
    """Return a learning curve of a rule whose error at each size is given; units differ in difficulty."""
    data = Data(None, np.arange(n) % 2, "classification", np.array([0, 1]))
    plan = LearningCurve(5, 5).plan(data, rng)
    hard = rng.beta(2, 2, n)
    split = np.concatenate([np.full(len(s.test), j) for j, s in enumerate(plan.splits)])
    row = np.concatenate([s.test for s in plan.splits])
    part = np.array([s.part for s in plan.splits])[split]
    wrong = rng.random(len(row)) < 2 * hard[row] * np.asarray(error_at)[part]
    value = np.where(wrong, 1 - data.codes[row], data.codes[row])
    return PredictionTable(plan=plan, data=data, test=Predictions(split=split, row=row, value=value)).losses()


def test_a_flat_curve_is_seldom_called_falling_and_a_steep_one_mostly():
    rng = np.random.default_rng(0)
    flat = np.mean([still_improves(curve_table(rng, 60, [0.25] * 5)) for _ in range(400)])
    assert flat <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
    steep = np.mean([still_improves(curve_table(rng, 300, [0.45, 0.4, 0.35, 0.25, 0.15])) for _ in range(50)])
    assert steep > 0.9
    rising = np.mean([still_improves(curve_table(rng, 300, [0.15, 0.25, 0.3, 0.35, 0.45])) for _ in range(50)])
    assert rising == 0


def test_a_curve_of_one_repetition_or_few_sizes_says_nothing():
    X, y = unseen.datasets.load("iris").xy
    for curve in (LearningCurve(5, 1), LearningCurve(2, 5)):
        table = unseen.run("lda", X, y, design=curve, random_state=0).losses()
        assert not still_improves(table)


def test_notes_fill_the_lines_that_are_left_the_weighty_ones_first():
    notes = [
        note("U022", "minor"),
        note("U005", "feature a gives the class away"),
        note("U018", "stopped by the user"),
        note("U001", "class b has 4 rows"),
    ]
    full = fit_notes(notes, 10)
    assert [line.split(": ")[1] for line in full] == [
        "stopped by the user (U018)",
        "feature a gives the class away (U005)",
        "class b has 4 rows (U001)",
        "minor (U022)",
    ]
    assert fit_notes(notes, 3) == [*full[:2], "2 more notes in the report."]
    assert fit_notes(notes, 1) == ["4 notes in the report."]
    assert fit_notes(notes[:1], 1) == full[3:]
    assert fit_notes([], 5) == []


def long_notes(count):
    return tuple(note("U016", f"number {k} " + "of a long story " * 12) for k in range(count))


def test_twelve_lines_hold_the_answer_whatever_the_model_and_the_notes(plain, regression):
    for a in (plain, regression):
        long = replace(a, model="Pipeline(" + "step, " * 100, notes=long_notes(30))
        lines = str(long).splitlines()
        assert len(lines) <= 12
        assert all(len(line) < 80 for line in lines)
        assert lines[-1].endswith("in the report.")
        text = " ".join(lines)
        assert a.verdict() in text
        assert a.narrow() in text
        assert any("o estimate  G guessing" in line for line in lines)
        assert "2 more" not in str(a)


def test_the_first_screen_of_an_assessment(plain):
    lines = str(plain).splitlines()
    assert " ".join(lines).startswith(plain.sentence())
    assert not [line for line in lines if line.startswith("method ")], "the table of all methods is elsewhere"
    low, high = plain.interval
    picture = next(line for line in lines if "o estimate" in line)
    at = read_back(picture)[1]
    cell = 100 / CELLS
    assert at["["] == pytest.approx(100 * low, abs=cell)
    assert at["]"] == pytest.approx(100 * high, abs=cell)
    assert at["G"] == pytest.approx(100 * plain.baseline.value, abs=cell)


def test_the_table_groups_every_estimate_by_what_it_is_the_error_of(plain):
    first, second = plain.table().split("\n\n")
    assert first.startswith("Error of this model\n  method ")
    assert second.startswith("Error of the algorithm, at its training size\n")
    kinds = {e.method: e.target.kind for e in plain.estimates.values()}
    for text, kind in ((first, "model"), (second, "algorithm")):
        names = [line.split()[0] for line in text.splitlines()[2:]]
        assert set(names) - {"guessing"} == {m for m, k in kinds.items() if k == kind}
    assert first.splitlines()[2].split()[0] == plain.headline.method
    line = next(line for line in second.splitlines() if line.split()[0] == "leave-out")
    assert f"{100 * plain.estimates['leave-out'].value:.1f}%" in line
    assert line.split()[-1] == f"{plain.estimates['leave-out'].target.n_train:g}"


def test_rows_and_json_have_no_agreement_and_say_the_verdict(plain):
    assert "agrees" not in plain.frame().columns
    values = plain.to_dict()
    assert not [e for e in values["estimates"].values() if "agrees" in e]
    assert values["verdict"] == plain.verdict()
    assert values["against_guessing"] == "better"
    assert values["narrow"] == plain.narrow() != ""
    methods = [row["method"] for row in plain.rows()]
    assert methods[0] == plain.headline.method
    assert methods[-1] == "baseline"
    kinds = [row["target"].split(" trained")[0] for row in plain.rows()[:-1]]
    assert kinds == sorted(kinds, key=lambda kind: kind != "this model")


def test_numbers_are_told_as_rmse_with_mae_and_r2(regressed):
    """Means over all test rows, by hand; roots of the squared error's interval."""
    table = regressed.tables["repeated-kfold"].source[0]
    rmse = np.sqrt(regressed.error)
    low, high = np.sqrt(list(regressed.interval))
    mae = np.abs(table.data.y[table.test.row] - table.test.value).mean()
    assert regressed.also["absolute"].value == pytest.approx(mae, rel=1e-12)
    y, said = table.data.y[table.test.row], table.test.value
    r2 = 1 - np.mean((y - said) ** 2) / np.var(table.data.y)
    shown = in_units(regressed.also["r2"])
    assert shown.value == pytest.approx(r2, abs=0.01)
    text = regressed.sentence()
    assert f"a typical error (RMSE) of {rmse:.4g} (95% interval {low:.4g} to {high:.4g}); " in text
    assert f"mean absolute error (MAE) {mae:.4g} (" in text
    assert f"R² {shown.value:.4g} ({shown.interval.low:.4g} to {shown.interval.high:.4g})" in text
    assert f"an RMSE of {np.sqrt(regressed.baseline.value):.4g}" in regressed.verdict()
    measures = regressed.to_dict()["measures"]
    assert list(measures) == ["rmse", "absolute", "r2"]
    assert measures["rmse"]["value"] == pytest.approx(rmse)
    assert measures["r2"]["lower"] < measures["r2"]["value"] < measures["r2"]["upper"]
    assert regressed.error == regressed.headline.value == pytest.approx(rmse**2)


def test_what_a_design_cannot_give_is_left_out_of_the_usual_measures():
    X, y = unseen.datasets.load("diabetes").xy
    a = unseen.assess("ridge", X, y, time=np.arange(len(y)), random_state=0, effort="quick")
    assert list(a.also) == ["absolute"]
    assert "R²" not in a.sentence()


def test_no_rows_are_asked_for_if_the_number_cannot_be_trusted():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([rng.standard_normal((60, 2)), y + 0.01 * rng.standard_normal(60)])
    leaky, sound = (unseen.assess("lda", X[:, :d], y, random_state=0, effort="repeats=1") for d in (3, 2))
    assert (leaky.trust.ok, leaky.narrow()) == (False, "")
    assert sound.narrow().startswith("About ")
