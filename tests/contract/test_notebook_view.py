"""Every result in a notebook: a sentence, a picture where there is one to draw, and its table folded."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import unseen
from unseen.core.errors import UnseenError
from unseen.core.result import Result
from unseen.show.figures import figures_for

OWN_PROCESS = ("unseen.__main__", "unseen.models.files.child")


def records():
    for module in pkgutil.walk_packages(unseen.__path__, "unseen.", onerror=lambda name: None):
        if module.name in OWN_PROCESS:
            continue
        try:
            content = vars(importlib.import_module(module.name))
        except (ImportError, UnseenError):  # an extra that is not installed
            continue
        for value in content.values():
            if inspect.isclass(value) and value.__module__ == module.name and issubclass(value, Result):
                yield value


RECORDS = sorted(set(records()) - {Result}, key=lambda cls: cls.__qualname__)


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__qualname__)
def test_a_record_has_a_sentence_and_rows(cls):
    """What the view in a notebook is made of; a record without them would show its fields, or nothing."""
    assert cls._repr_html_ is Result._repr_html_
    assert cls.rows is not Result.rows
    assert cls.__str__ is not object.__str__


def made():
    rng = np.random.default_rng(0)
    truth = rng.random(120) < 0.4
    score = np.clip(0.25 + 0.4 * truth + 0.2 * rng.normal(size=120), 0.01, 0.99)
    m = unseen.measure(truth.astype(int), y_score=score, n_bootstrap=100, random_state=0)
    X, y = rng.normal(size=(60, 2)) + truth[:60, None], truth[:60].astype(int)
    runs = [unseen.run(model, X, y, design="repeated-kfold", random_state=0) for model in ("lda", "naive-bayes")]
    yield from (m, m.roc(), m.precision_recall(), m.confusion(), m.calibration(), runs[0])
    yield from (unseen.estimate(runs[0]), unseen.compare(*runs), unseen.distribution(runs[0]))
    yield from (unseen.power(n=300, difference=0.03, disagreement=0.2), unseen.disagree(y, y[::-1]))


@pytest.mark.slow
@pytest.mark.sample
def test_the_view_has_a_sentence_a_picture_and_a_folded_table():
    for result in made():
        html = result._repr_html_()
        name = type(result).__name__
        assert len(re.sub("<[^>]*>", "", re.search(r"<p[^>]*>.*?</p>", html, re.S).group())) > 8, name
        if any(one.info(result) is not None for one in figures_for(result)):
            assert "<svg" in html, name
        outside = re.sub(r"<details>.*?</details>", "", html, flags=re.S)
        assert "<table" in html, name
        assert "<table" not in outside, f"the table of {name} is not folded"
        assert "<script" not in html
