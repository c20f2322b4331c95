"""Reports of comparisons: what they say and what they escape."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import unseen
from unseen.core.notes import note
from unseen.show import build, render
from unseen.show.sections import Notes, Picture, Table, Text


@pytest.fixture(scope="module")
def three():
    models = {"bayes": GaussianNB(), "<b>stump</b>": DecisionTreeClassifier(max_depth=1), "dummy": DummyClassifier()}
    return unseen.compare(models, *unseen.datasets.load("iris").xy, random_state=0)


def blocks(result, kind):
    return [b for s in build(result) for b in s.blocks if isinstance(b, kind)]


@pytest.mark.slow
@pytest.mark.sample
def test_sections_and_sentences(three):
    sections = build(three)
    assert [s.id for s in sections] == [
        "answer",
        "models",
        "pairs",
        "repeat",
    ]  # the correction changes no digit: no note
    words = " ".join(b.text for b in blocks(three, Text))
    assert "bayes against dummy: bayes has the smaller error" in words
    assert "percentage points in favour of bayes, p < 0.001" in words
    assert blocks(three, Text)[0].text == three.sentence
    assert three.test_sentence in words
    assert "correcting for that choice among 3 models leaves these digits as they are" in words
    assert len(blocks(three, Picture)) == 2
    pairs = next(b for b in blocks(three, Table) if "verdict" in b.columns)
    assert len(pairs.rows) == 3
    assert "region" not in pairs.columns
    noted = replace(three, remarks=(note("U024", "chosen"),))
    assert [s.id for s in build(noted)] == ["answer", "models", "pairs", "notes", "repeat"]
    assert blocks(noted, Notes)[0].notes == noted.notes


@pytest.mark.slow
@pytest.mark.sample
def test_a_score_is_spoken_of_on_its_own_scale():
    models = {"bayes": GaussianNB(), "dummy": DummyClassifier()}
    c = unseen.compare(models, *unseen.datasets.load("breast-cancer").xy, measure="auc", random_state=0)
    words = " ".join(b.text for b in blocks(c, Text))
    area = 1 - c.estimates["bayes"].value
    assert area > 0.9
    assert "bayes against dummy: bayes has the larger AUC" in words
    assert f"bayes has the largest AUC, {area:.4g}." in words
    w = c.winner.measure_values
    same = f"{w['naive']:.4g}" == f"{w['corrected']:.4g}"
    assert (
        "that choice among 2 models leaves these digits as they are"
        if same
        else "is the AUC to expect of the best of 2 models"
    ) in words
    assert "smallest" not in words
    assert "smaller" not in words


def test_names_are_escaped_and_nothing_is_fetched(three, tmp_path):
    page = render(three.title, build(three))
    assert "<b>stump</b>" not in page
    assert "&lt;b&gt;stump" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert three.report(tmp_path / "c.html").endswith("c.html")
    assert three.sentence.replace("<", "&lt;").replace(">", "&gt;") in three._repr_html_()


def test_one_pair_and_a_ranking(three):
    assert "bayes against dummy" in blocks(three["bayes", "dummy"], Text)[0].text
    r = unseen.rank({"a": [0.1, 0.2, 0.1] * 4, "b": [0.2, 0.3, 0.2] * 4, "c": [0.3, 0.4, 0.3] * 4})
    assert "3 models differ" in blocks(r, Text)[0].text
    assert len(blocks(r, Picture)) == 1


def test_a_bayesian_comparison_shows_its_posterior():
    c = unseen.compare(
        GaussianNB(), DummyClassifier(), *unseen.datasets.load("iris").xy, test="bayesian-t", random_state=0
    )
    assert "posterior" in [s.id for s in build(c)]
    assert "adjusted" not in " ".join(b.text for b in blocks(c, Text))
