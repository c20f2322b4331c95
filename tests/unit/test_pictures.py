"""Pictures of the documentation: what they show is kept, and a picture that shows something else is found."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def pictures(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("make_images_of_docs", DOCS / "make_images.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_stale_picture_is_found_and_last_digits_are_forgiven(pictures):
    old = pictures.words_of("rbf-svm is expected to misclassify 5.8% of 1,200 new cases; the run took 5.4 s")
    again = pictures.words_of("rbf-svm is expected to misclassify 5.81% of 1,200 new cases; the run took 60 s")
    assert 1200.0 in old
    assert pictures.differs(old, again) is None
    assert "5.8 in the picture, 6.2 now" in pictures.differs(
        old, pictures.words_of("rbf-svm is expected to misclassify 6.2%")
    )
    other = pictures.words_of("rbf-svm is thought to misclassify 5.8% of 1,200 new cases; the run took 5.4 s")
    assert "'expected' in the picture, 'thought' now" in pictures.differs(old, other)
    assert "words and numbers" in pictures.differs(old, old[:-1])
    assert pictures.differs(None, old) == "no picture yet"


def test_a_figure_shows_its_points_and_words(pictures):
    from matplotlib.figure import Figure

    def drawn(shift, label="error"):
        ax = Figure().add_subplot()
        ax.plot([1, 2, 3], [1 + shift, 2, 4])
        ax.set_xlabel(label)
        return pictures.shown_by_figure(ax.figure)

    assert pictures.differs(drawn(0), drawn(0)) is None
    assert pictures.differs(drawn(0), drawn(0.01)) is None
    assert pictures.differs(drawn(0), drawn(1.0)) is not None
    assert pictures.differs(drawn(0), drawn(0, "rank")) is not None


def test_the_style_of_a_page_counts(pictures):
    assert pictures.style_of("a { color: red }") != pictures.style_of("a { color: blue }")
    assert pictures.page_text("<style>p {}</style><p>5&nbsp;cases<svg><text>9</text></svg></p>").split() == [
        "5",
        "cases",
    ]


def test_every_picture_is_there_and_what_it_shows_is_kept(pictures, tmp_path):
    kept = json.loads((DOCS / "images" / "shown.json").read_text())
    assert set(kept) == set(pictures.pictures(tmp_path))
    assert all((DOCS / "images" / name).stat().st_size < 300_000 for name in kept)
    gallery = (DOCS / "guides" / "gallery.md").read_text()
    assert set(re.findall(r"images/(gallery/\w+\.png)", gallery)) == {n for n in kept if n.startswith("gallery/")}
