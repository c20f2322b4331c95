"""Trust: alarms change the headline, other notes do not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.core.data import Data
from unseen.core.estimate import Target
from unseen.core.notes import known_notes, note
from unseen.core.trust import trust

ALARMS = {"U002", "U005", "U037", "U038"}


def test_these_codes_are_alarms() -> None:
    assert {code for code, kind in known_notes().items() if kind.alarm} == ALARMS


def test_reasons_come_from_alarms_only_and_once() -> None:
    plain = note("U009", "there are only 12 rows")
    leak = note("U005", "x gives the class away")
    assert trust([plain]).ok
    assert trust([plain]).warning() == ""
    found = trust([leak, plain, leak, note("U002", "rows repeat")])
    assert not found.ok
    assert not found
    assert found.reasons == ("x gives the class away", "rows repeat")
    assert (
        found.before("The error is 3%.")
        == "Do not trust this number: x gives the class away; rows repeat. The error is 3%."
    )


def assess(X, y, **options):
    return unseen.assess("lda", X, y, effort="quick", random_state=0, **options)


@pytest.fixture(scope="module")
def leaked():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = np.column_stack([rng.standard_normal((100, 2)), y + 0.1 * rng.standard_normal(100)])
    return X, y


def test_an_assessment_with_a_leak(leaked) -> None:
    a = assess(*leaked)
    assert not a.trust.ok
    assert a.sentence().startswith("Do not trust this number: one column alone gives the class away")
    assert str(a).startswith("Do not trust this number: ")
    content = json.loads(a.to_json())
    assert content["trust"] is False
    assert content["trust_reasons"] == list(a.trust.reasons)
    assert "x2" in content["trust_reasons"][0]


def test_an_assessment_without_one(leaked) -> None:
    X, y = leaked
    a = assess(X[:, :2], y)
    assert a.trust.ok
    assert a.sentence().startswith("lda is expected")
    content = json.loads(a.to_json())
    assert content["trust"] is True
    assert content["trust_reasons"] == []


def test_the_report_is_framed_by_the_warning(leaked, tmp_path) -> None:
    X, y = leaked
    warned = Path(assess(X, y).report(tmp_path / "a.html")).read_text()
    assert warned.count('<div class="warning" role="alert">') == 1
    first = warned.index('<div class="warning"')
    assert first < warned.index('class="lead"')
    assert "Do not trust this number" in warned[first : first + 300]
    assert "was known before the target" in warned[first : first + 800]
    plain = Path(assess(X[:, :2], y).report(tmp_path / "b.html")).read_text()
    assert '<div class="warning"' not in plain


def test_groups_that_are_the_classes() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 2)), np.arange(120) % 3
    from unseen.checks.registry import data_notes
    from unseen.datasets import as_data

    def alarms(groups, y=y):
        return [n.code for n in data_notes(as_data(X, y, groups=groups)) if n.alarm]

    assert alarms(y) == ["U038"]
    assert alarms(np.arange(120) % 6) == []  # every group holds one class, every class has two groups
    assert alarms(np.where(y == 2, 99, np.arange(120) % 20)) == ["U038"]  # one class in one group
    rare = (np.arange(120) < 5).astype(int)
    assert alarms(np.arange(120) // 5, rare) == []  # 4% of the rows
    rare = (np.arange(120) < 6).astype(int)
    assert alarms(np.arange(120) // 6, rare) == ["U038"]  # 5% of the rows


def series(n, correlation, seed, noise):
    rng = np.random.default_rng(seed)
    steps = rng.standard_normal((n, 4))
    x = np.empty_like(steps)
    x[0] = steps[0]
    for i in range(1, n):
        x[i] = correlation * x[i - 1] + np.sqrt(1 - correlation**2) * steps[i]
    error = x[:, 3] if noise == "alike" else rng.standard_normal(n)
    return x[:, :3], x[:, 0] + error


class TestSeries:
    def codes(self, X, y, **options):
        a = unseen.assess("ols", X, y, effort="quick", random_state=0, **options)
        return [n.code for n in a.notes if n.alarm]

    def test_rows_in_time(self) -> None:
        X, y = series(200, 0.8, 0, "alike")
        assert self.codes(X, y) == ["U037"]

    def test_not_in_random_order_nor_if_time_is_given(self) -> None:
        X, y = series(200, 0.8, 0, "alike")
        order = np.random.default_rng(1).permutation(200)
        assert self.codes(X[order], y[order]) == []
        assert self.codes(X, y, time=np.arange(200)) == []

    def test_inputs_alone_that_are_alike_do_no_harm(self) -> None:
        found = [self.codes(*series(200, 0.8, seed, "independent")) for seed in range(10)]
        assert sum(bool(codes) for codes in found) <= 2  # the residuals are tested at level .05

    def test_a_sorted_file_is_none(self) -> None:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300, 3))
        y = X[:, 0] + rng.standard_normal(300)
        for key in (y, X[:, 0], X[:, 1]):
            order = np.argsort(key)
            assert self.codes(X[order], y[order]) == []


class TestWords:
    @pytest.mark.parametrize(
        ("name", "word"),
        [("patient", "patient"), ("patient_id", "patient"), ("SubjectID", "subject"), ("Person Id", "person"),
         ("grid", "grid"), ("", "group"), ("g1", "group"), ("id", "group"), ("the patient", "group")],
    )  # fmt: skip
    def test_word_of_a_group(self, name, word) -> None:
        y = np.arange(4.0)
        assert Data(None, y, "regression", groups=y, group_name=name).unit == word

    def test_targets_say_whole_units_and_rows(self) -> None:
        assert str(Target.ALGORITHM.at(1058.5, unit="row")) == "the algorithm trained on 1058 rows"
        assert str(Target.MODEL.at(1, unit="group", rows=5)) == "this model trained on 1 group (5 rows)"
        assert (
            str(Target.ALGORITHM.at(45, unit="species", rows=220)) == "the algorithm trained on 45 species (220 rows)"
        )
        assert Target.ALGORITHM.at(45, unit="patient", rows=220) == Target.ALGORITHM.at(45)

    def test_from_the_column_of_groups(self) -> None:
        rng = np.random.default_rng(0)
        groups = pd.Series(np.repeat(np.arange(50), 4), name="patient_id")
        X, y = rng.standard_normal((200, 2)), rng.integers(0, 2, 200)
        a = assess(X, y, groups=groups)
        assert str(a.target) == "the algorithm trained on 45 patients (180 rows)"
        assert a.sentence().endswith("trained on 45 patients (180 rows).")
        assert a.headline.to_dict()["target"] == {"kind": "algorithm", "n_train": 45.0, "unit": "patient", "rows": 180}
        assert str(assess(X, y).target) == "the algorithm trained on 180 rows"

    def test_copies_are_said(self) -> None:
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((100, 3)), np.arange(100) % 2
        a = assess(np.vstack([X, X[:20]]), np.r_[y, y[:20]])
        assert str(a.target) == "the algorithm trained on 90 distinct rows (108 rows)"


def test_few_errors_are_counted_by_row() -> None:
    """600 rows in 12 groups; of 11 groups one is always wrong by 131 rows: many errors, though group means add up to few."""
    from unseen.estimators.corrected_t import few_errors

    groups = np.repeat(np.arange(12), 50)
    y = np.zeros(600, int)
    y[:131] = 1  # the rows of two groups and more, which the majority class misses
    table = unseen.run("dummy", np.arange(600.0)[:, None], y, groups=groups, design="kfold", random_state=0).losses()
    assert np.nansum(table.by_unit()) < 10
    assert np.nansum(table.by_row()) == 131
    assert few_errors(table) == ()
    y = np.zeros(600, int)
    y[[0, 60, 130, 400]] = 1
    few = unseen.run("dummy", np.arange(600.0)[:, None], y, groups=groups, design="kfold", random_state=0).losses()
    assert few_errors(few)[0].text.startswith("about 4 of 600 tested rows (in 12 groups) were wrong")
