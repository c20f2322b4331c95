"""Every method that needs no retraining reports the seconds it took."""

from __future__ import annotations

import time

from sklearn.naive_bayes import GaussianNB

import unseen


def test_every_method_reports_its_seconds():
    X, y = (part[:200] for part in unseen.datasets.load("breast-cancer").xy)
    start = time.perf_counter()
    found = unseen.resubstitute(GaussianNB().fit(X, y), X, y, random_state=0).estimates
    elapsed = time.perf_counter() - start
    # an answer within a microsecond would be a clock that was never read
    assert [e.method for e in found if not 1e-6 < e.seconds < elapsed] == []
    # a recipe takes the time of its parts
    assert next(e for e in found if e.method == "auto-resub").seconds > 1e-4
