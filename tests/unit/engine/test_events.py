"""The progress bar: nothing on stdout, lines above it as they were written, nothing while a run is short."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import unseen
from unseen.engine import events
from unseen.engine.events import Bar, Silent, reporter_for


def test_a_line_is_written_as_it_is_with_and_without_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(events, "PATIENCE", -1.0)
    text = "waiting for [3] tasks " + "of other drivers " * 12
    bar = Bar()
    bar.say(text)
    bar.expect(4, "kfold")
    bar.advance(1)
    bar.say(text)
    bar.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count(f"unseen: {text}") == 2


def test_a_short_run_shows_no_bar(capsys):
    bar = Bar()
    bar.expect(4, "kfold")
    bar.advance(4)
    bar.close()
    assert capsys.readouterr() == ("", "")


def test_where_stderr_is_no_terminal_nothing_is_shown(capsys):
    assert isinstance(reporter_for(None), Silent)
    assert isinstance(reporter_for(True), Bar)
    mine = Silent()
    assert reporter_for(mine) is mine


def test_a_long_run_says_so_once_where_stderr_is_no_terminal(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    lines = events.reporter_for(None)
    assert isinstance(lines, events.Lines)
    lines.expect(100, "repeated-kfold")
    for _ in range(8):
        now[0] += 3.0
        lines.advance(1)
    assert capsys.readouterr().err == "unseen: about 5 min expected for 100 fits\n"


def test_a_short_run_says_nothing_and_quiet_is_quiet(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    lines, quiet = events.reporter_for(None), events.reporter_for(False)
    for one in (lines, quiet):
        one.expect(100, "kfold")
    now[0] += 3.0
    lines.advance(50)
    now[0] += 300.0
    quiet.advance(1)
    assert capsys.readouterr().err == ""


class Slow(ClassifierMixin, BaseEstimator):
    """A model whose fits take ten seconds of a clock that is not real."""

    def __init__(self, now=None):
        self.now = now

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.now[0] += 10.0
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_call_that_takes_long_says_so(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    X, y = np.arange(40.0)[:, None], np.tile([0, 1], 20)
    unseen.run(Slow(now), X, y, cv=20, random_state=0)
    assert "about 3 min expected for 20 fits" in capsys.readouterr().err
