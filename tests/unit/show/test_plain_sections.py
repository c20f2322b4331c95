"""Results without sections of their own: their text, their rows and their figures."""

from __future__ import annotations

import numpy as np

from unseen.core.result import Result
from unseen.resubstitution._deviations import deviations
from unseen.show import build
from unseen.show.sections import Picture, Table, Text


def texts(result):
    return [(b.text, b.lead) for s in build(result) for b in s.blocks if isinstance(b, Text)]


def test_many_lines_are_left_to_the_table():
    rng = np.random.default_rng(0)
    sizes = [f"n = {n}" for n in (20, 40, 60, 80)]
    d = deviations(
        {n: {"a": rng.random(9), "b": rng.random(9)} for n in sizes}, {n: rng.random(9) for n in sizes}, title="two"
    )
    assert texts(d) == [("two", True)]
    blocks = [b for s in build(d) for b in s.blocks]
    assert len(next(b for b in blocks if isinstance(b, Table)).rows) == 8
    assert any(isinstance(b, Picture) for b in blocks)


class Few(Result):
    def rows(self):
        return [{"x": 1}]

    def __str__(self):
        return "first\nsecond"


class Wordy(Few):
    def rows(self):
        return []

    def __str__(self):
        return "\n".join("abcdefghij")


def test_few_lines_and_lines_without_a_table_are_kept():
    assert texts(Few()) == [("first", True), ("second", False)]
    assert [text for text, _ in texts(Wordy())] == list("abcdefghij")


def test_a_long_table_stands_after_the_figures():
    from sklearn.linear_model import SGDClassifier

    import unseen

    X = np.random.default_rng(0).normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    p = unseen.monitor(SGDClassifier(loss="log_loss", random_state=0), X[:50], y[:50], X[50:], y[50:], epochs=30)
    first, *figures, last = build(p)
    assert first.title == "Training progress"
    assert [type(b) for b in first.blocks] == [Text]
    assert all(isinstance(b, Picture) for s in figures for b in s.blocks)
    assert len(figures) == 2
    assert last.folded
    assert len(last.blocks[0].rows) == 30
