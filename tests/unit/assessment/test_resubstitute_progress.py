"""Estimates without retraining tell how far they are, method by method."""

from __future__ import annotations

from sklearn.svm import LinearSVC

import unseen
from unseen.engine.events import Silent


class Heard(Silent):
    def __init__(self):
        self.expected, self.done = 0, 0

    def expect(self, total, label):
        self.expected += total

    def advance(self, steps):
        self.done += steps


def test_every_method_is_a_step_of_the_bar():
    X, y = unseen.datasets.load("gaussian-blocks").xy
    heard = Heard()
    found = unseen.resubstitute(LinearSVC().fit(X, y), X, y, random_state=0, progress=heard)
    assert heard.expected == heard.done == len(found.estimates) + len(found.left_out)
