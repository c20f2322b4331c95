"""Sheets of augmented images: what is on them, and that they can be drawn and reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="augmentations need torch")

import torch

from unseen import show
from unseen.core.errors import InputError, UnknownName
from unseen.nets import augmentation_sheet, cmi
from unseen.reproduction import read_published


@pytest.fixture
def images():
    return torch.rand(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def test_growing_rows_start_and_end_where_the_table_says(images):
    strong = augmentation_sheet(images, "strong", columns=5)
    assert strong.penalties.shape == (5, 5)
    np.testing.assert_allclose(strong.penalties[:3, 0], 9)
    np.testing.assert_allclose(strong.penalties[:, -1], 8, atol=1e-6)
    np.testing.assert_allclose(strong.penalties[3:, 2], 9)
    np.testing.assert_allclose(strong.images[0, 0], images[0].permute(1, 2, 0).numpy(), atol=1e-6)
    weak = augmentation_sheet(images, "weak", columns=3)
    np.testing.assert_allclose(weak.penalties, [[6, 9, 6], [6, 9, 6]], atol=1e-6)
    assert weak.labels[1] == ("rotation -45°", "as it is", "rotation +45°")
    assert weak.images[0, 0].mean() < weak.images[0, 1].mean() < weak.images[0, 2].mean()


def test_fixed_rows_show_sobel_and_flip(images):
    sheet = augmentation_sheet(images, "fixed")
    np.testing.assert_allclose(sheet.penalties, [[9, 7, 6, 4]] * 3)
    np.testing.assert_allclose(sheet.images[1, 2], sheet.images[1, 0][:, ::-1], atol=1e-6)
    assert sheet.labels[0] == ("as it is", "Sobel", "flip", "Sobel, flip")


def test_combinations_are_sorted_by_penalty_and_repeat(images):
    one, two = (augmentation_sheet(images, "all", random_state=4) for _ in range(2))
    assert (np.diff(one.penalties, axis=1) <= 0).all()
    assert np.array_equal(one.images, two.images)
    assert not np.array_equal(one.images, augmentation_sheet(images, "all", random_state=5).images)
    assert len(one.rows()) == 21


def test_bad_requests_are_refused(images):
    with pytest.raises(UnknownName, match="'strong'"):
        augmentation_sheet(images, "strog")
    with pytest.raises(InputError, match="columns"):
        augmentation_sheet(images, columns=1)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_sheet_is_drawn_and_reported(images, channels, tmp_path):
    X = torch.rand(2, channels, 6, 9)
    sheet = augmentation_sheet(X, "all", columns=3)
    ax = sheet.plot()
    assert len(ax.images) == 6
    texts = {t.get_text() for t in ax.texts}
    assert {f"{p:.2f}" for p in sheet.penalties.ravel()} | {"image 1", "image 2"} == texts
    assert "penalties from" in show.info(sheet).summary
    assert "Augmented images" in Path(sheet.report(tmp_path / "sheet.html")).read_text()


def test_sets_are_drawn_smallest_first(tmp_path):
    rows = read_published("pgdl_task2")
    grid = {h: [r[h] for r in rows] for h in ("h1", "h2", "h3", "h4")}
    score = cmi([r["gap"] for r in rows], [r["wcv"] for r in rows], grid)
    numbers = show.info(score, "sets")
    assert numbers.scores[0] == pytest.approx(37.4413798762)
    assert numbers.labels[0] == "h2 and h3"
    assert (np.diff(numbers.scores) >= 0).all()
    assert len(score.plot("sets").patches) == 6
    assert "37.44" in Path(score.report(tmp_path / "score.html")).read_text()
