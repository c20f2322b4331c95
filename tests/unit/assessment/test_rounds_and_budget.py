"""An answer after every round, the best one so far after Ctrl-C, and a budget that is kept and can be repeated."""

import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.core.errors import InputError, Stopped
from unseen.request.budget import TimeBudget, affordable_units, draw_units
from unseen.request.request import open_request

FOLDS_ONLY = "repeats=4,direct=0"


class Slow(ClassifierMixin, BaseEstimator):
    """Naive Bayes that sleeps in every fit, for a time that grows with the rows."""

    def __init__(self, seconds=0.0, per_row=0.0):
        self.seconds = seconds
        self.per_row = per_row

    def fit(self, X, y):
        time.sleep(self.seconds + self.per_row * len(X))
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)


class Interrupted(Slow):
    """Naive Bayes during whose k-th fit somebody presses Ctrl-C; as slow as a fit must be to be a chunk of its own."""

    count = 0
    at = 0

    def fit(self, X, y):
        type(self).count += 1
        if type(self).count == type(self).at:
            raise KeyboardInterrupt
        time.sleep(0.21 if type(self).count < 3 else 0.0)
        return super().fit(X, y)


def sample(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 4)) + y[:, None] * 0.8, y


def estimates(a):
    return {name: (e.value, None if e.interval is None else tuple(e.interval)) for name, e in a.estimates.items()}


def test_every_round_gives_an_answer_and_fewer_rounds_are_the_first_ones():
    heard = []
    a = unseen.assess(Slow(), *sample(), random_state=3, effort=FOLDS_ONLY, progress=heard.append)
    answers = [e.answer for e in heard if e.answer is not None]
    assert [round(e.n_fits) for e in answers] == [10, 20, 30, 40]
    assert answers[-1].value == a.estimates["range-t"].value
    for rounds in (1, 2, 3):
        b = unseen.assess(Slow(), *sample(), random_state=3, effort=FOLDS_ONLY, rounds=rounds)
        assert b.rounds == rounds
        assert b.headline.value == answers[rounds - 1].value
        assert tuple(b.interval) == tuple(answers[rounds - 1].interval)
    # the interval of one round allows for the luck of its folds
    assert answers[0].df == 9
    assert answers[-1].df == 39


@pytest.mark.parametrize(("at", "rounds"), [(26, 2), (12, 1)])
def test_an_interrupt_leaves_the_whole_rounds(at, rounds, monkeypatch):
    monkeypatch.setattr(Interrupted, "count", 0)
    monkeypatch.setattr(Interrupted, "at", at)
    monkeypatch.setattr("unseen.engine.joblib_.SERIAL_CHUNK_SECONDS", 0.0)
    a = unseen.assess(Interrupted(), *sample(), random_state=3, effort=FOLDS_ONLY, duplicates="apart")
    assert not a.complete
    assert a.rounds == rounds
    again = unseen.assess(Slow(), *sample(), random_state=3, effort=a.settings["effort"], rounds=a.rounds)
    assert again.complete
    assert estimates(again) == estimates(a)


def test_an_interrupt_in_the_first_round_leaves_its_folds(monkeypatch):
    monkeypatch.setattr(Interrupted, "count", 0)
    monkeypatch.setattr(Interrupted, "at", 7)
    monkeypatch.setattr("unseen.engine.joblib_.SERIAL_CHUNK_SECONDS", 0.0)
    a = unseen.assess(Interrupted(), *sample(), random_state=3, effort=FOLDS_ONLY)
    table = a.tables["repeated-kfold"]
    assert len(table.plan) in (5, 6)  # a fit before the folds may show whether there are scores
    whole = unseen.assess(Slow(), *sample(), random_state=3, effort=FOLDS_ONLY).tables["repeated-kfold"]
    np.testing.assert_array_equal(table.split_means(), whole.split_means()[: len(table.plan)])
    assert any("of 10 folds" in n.text for n in a.notes)
    # half the rows were tested, so the interval is wider than that of a whole round
    one = unseen.assess(Slow(), *sample(), random_state=3, effort=FOLDS_ONLY, rounds=1)
    assert a.interval.width > one.interval.width


def test_an_interrupt_before_two_folds_has_no_answer(monkeypatch):
    monkeypatch.setattr(Interrupted, "count", 0)
    monkeypatch.setattr(Interrupted, "at", 2)
    with pytest.raises((Stopped, KeyboardInterrupt)):
        unseen.assess(Interrupted(), *sample(), random_state=3, effort=FOLDS_ONLY)


@pytest.mark.parametrize(("seconds", "budget"), [(0.02, 1.2), (0.1, 1.5), (0.3, 1.0)])
def test_a_budget_is_kept_and_its_effort_repeats_the_run(seconds, budget):
    unseen.assess(Slow(), *sample(), random_state=1, effort="quick")  # imports are not the run's
    start = time.perf_counter()
    a = unseen.assess(Slow(seconds), *sample(150), random_state=1, budget=budget)
    spent = time.perf_counter() - start
    assert spent < 1.2 * budget
    note = next(n for n in a.notes if n.code == "U019")
    assert "leave_out" in note.text
    if "time ended" not in note.text:
        b = unseen.assess(Slow(), *sample(150), random_state=1, effort=a.settings["effort"])
        assert estimates(a) == estimates(b)


def test_without_time_for_a_fit_on_all_rows_a_part_of_them_answers():
    X, y = sample(30_000)
    start = time.perf_counter()
    a = unseen.assess(Slow(per_row=1e-4), X, y, random_state=1, budget=2.0)  # a fit on all rows sleeps for 3 s
    assert time.perf_counter() - start < 2.4
    assert 200 <= a.data.n < 10_000
    assert str(a.target) == f"this model trained on {a.data.n} rows"
    assert any(n.code == "U053" and "of 30,000 rows" in n.text for n in a.notes)
    b = unseen.assess(Slow(), X, y, random_state=1, effort=a.settings["effort"])
    assert b.data.n == a.data.n
    assert estimates(a) == estimates(b)


def units_of(monkeypatch, budget, seconds_of):
    """Return how many of 10,000 units a budget allows if the k-th timed fit, on n rows, takes `seconds_of(k, n)`."""
    timed = []

    def time_fit(request, data):
        timed.append(data.n)
        return seconds_of(len(timed), data.n)

    monkeypatch.setattr("unseen.request.budget._time_fit", time_fit)
    data = unseen.datasets.as_data(*sample(10_000))
    with open_request("naive-bayes", data, random_state=1, progress=False) as request:
        return affordable_units(request, TimeBudget(budget)).units


def test_imports_and_other_programs_do_not_make_a_fit_look_slow(monkeypatch):
    # the first fit of a process imports what later ones need, and every third one waits for another program
    assert units_of(monkeypatch, 10.0, lambda k, n: 1.5 if k == 1 else 0.1 if k % 3 == 0 else 0.001) == 10_000


def test_a_fixed_cost_of_a_fit_is_told_from_one_that_grows(monkeypatch):
    # 1.1 s on all rows, of which the first 200 take a fifth
    assert units_of(monkeypatch, 8.0, lambda k, n: 0.2 + 9e-5 * n) == 10_000
    assert units_of(monkeypatch, 8.0, lambda k, n: 1e-3 * n) < 1000


def test_rows_that_were_left_out_are_what_would_help():
    X, y = sample(2000)
    part = unseen.assess(Slow(), X, y, random_state=1, effort="rows=300,repeats=1,direct=0")
    assert part.data.n == 300
    assert "The rows that were left out would narrow the interval" in str(part)
    whole = unseen.assess(Slow(), X, y, random_state=1, effort="rows=2000,repeats=1,direct=0")
    assert whole.data.n == 2000
    assert "6,000 more rows would halve the interval" in str(whole)


def test_a_fit_that_alone_takes_too_long_is_said_in_one_sentence():
    with pytest.raises(
        InputError, match=r"one fit on all 150 rows takes 0\.\d+ s, too long for an answer within 0\.5 s"
    ):
        unseen.assess(Slow(0.4), *sample(150), random_state=1, budget=0.5)


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True, "two"])
def test_senseless_rounds_are_refused(rounds):
    with pytest.raises(InputError, match="rounds is"):
        unseen.assess(GaussianNB(), *sample(), rounds=rounds)


def test_units_drawn_hold_every_class_and_whole_groups():
    X, y = sample(1000)
    y = np.where(np.arange(1000) < 3, 2, y)
    data = unseen.datasets.as_data(X, y, groups=np.arange(1000) // 5)
    some = draw_units(data, 30, 0)
    assert some.n_units == 30
    assert set(some.y.tolist()) == {0, 1, 2}
    assert some.n == 150
    assert np.all(np.bincount(some.units) == 5)


def test_no_budget_is_no_limit():
    assert TimeBudget(None).until is None
    assert TimeBudget(None).allows(1e9)
    assert not TimeBudget(10.0).allows(9.0)  # what comes after the fits needs time too
