"""Augmentations against closed cases and scipy.ndimage; penalties against the vectors of the dissertation."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, ndimage

pytest.importorskip("torch", reason="augmentations need torch")

import torch

from unseen.core.errors import InputError, UnknownName
from unseen.nets import Factors, augment, draw_factors, no_augmentation
from unseen.nets.augmentation.augment import sobel
from unseen.nets.augmentation.factors import KINDS, LARGEST, ring_counts


def images(n=3, channels=3, height=8, width=8, seed=0):
    return torch.rand(n, channels, height, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def only(n=3, **values):
    given_ = {k: torch.as_tensor([v] * n) for k, v in values.items()}
    return dataclasses.replace(no_augmentation(n), **given_)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_nothing_changes_without_augmentation(channels):
    X = images(channels=channels)
    torch.testing.assert_close(augment(X, no_augmentation(3)), X)


def test_flip_mirrors_left_to_right():
    X = images()
    torch.testing.assert_close(augment(X, only(flip=True)), X.flip(-1))


@pytest.mark.parametrize("turns", [-1, 1, 2, 3])
def test_quarter_turns_are_exact_and_counter_clockwise(turns):
    X = images()
    torch.testing.assert_close(
        augment(X, only(rotation=turns * math.pi / 2)), torch.rot90(X, turns, (2, 3)), atol=1e-6, rtol=0
    )


@pytest.mark.parametrize(("down", "right"), [(2, 0), (-3, 0), (0, 1), (2, -3)])
def test_whole_shifts_move_down_and_right_and_repeat_the_edge(down, right):
    X = images(height=8, width=12)
    moved = augment(X, only(shift_height=down / 8, shift_width=right / 12))
    rows, columns = np.clip(np.arange(8) - down, 0, 7), np.clip(np.arange(12) - right, 0, 11)
    torch.testing.assert_close(moved, X[:, :, rows][:, :, :, columns], atol=1e-6, rtol=0)


def by_scipy(X, f, i):
    """Where each output pixel comes from, written out in pixels, read by scipy's linear interpolation."""
    height, width = X.shape[2:]
    y, x = np.mgrid[:height, :width].astype(float)
    y -= (height - 1) / 2 + float(f.shift_height[i]) * height
    x -= (width - 1) / 2 + float(f.shift_width[i]) * width
    y, x = y * float(f.zoom_vertical[i]), x * float(f.zoom_horizontal[i])
    angle = float(f.rotation[i])
    # counter-clockwise on a screen whose y points down
    x, y = x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)
    x = -x if bool(f.flip[i]) else x
    places = np.stack([y + (height - 1) / 2, x + (width - 1) / 2])
    return np.stack([ndimage.map_coordinates(c, places, order=1, mode="nearest") for c in X[i].numpy()])


@given(st.integers(0, 10_000), st.sampled_from([(8, 8), (7, 12), (10, 6)]))
def test_geometry_agrees_with_scipy(seed, shape):
    X = images(height=shape[0], width=shape[1], seed=seed)
    drawn = draw_factors(3, torch.Generator().manual_seed(seed)).to("cpu", torch.float64)
    neutral = no_augmentation(3).to("cpu", torch.float64)
    keep = ("shift_height", "shift_width", "zoom_horizontal", "zoom_vertical", "rotation", "flip")
    factors = dataclasses.replace(neutral, **{k: getattr(drawn, k) for k in keep})
    got = augment(X, factors).numpy()
    for i in range(3):
        np.testing.assert_allclose(got[i], by_scipy(X, factors, i), atol=1e-9)


def test_zoom_below_one_magnifies_and_above_one_repeats_the_edge():
    X = torch.zeros(1, 1, 8, 8)
    X[..., 3:5, 3:5] = 1
    assert augment(X, only(1, zoom_horizontal=0.5, zoom_vertical=0.5)).sum() > X.sum()
    assert augment(X, only(1, zoom_horizontal=1.5, zoom_vertical=1.5)).sum() < X.sum()
    X[..., :, 0] = 0.7
    assert torch.allclose(augment(X, only(1, zoom_horizontal=1.5))[..., 0], torch.tensor(0.7))


def test_sobel_agrees_with_scipy_and_is_clipped():
    X = images(height=9, width=7)
    for i in range(3):
        for c in range(3):
            size = np.hypot(*(ndimage.sobel(X[i, c].numpy(), axis=a, mode="nearest") for a in (0, 1))) / 4
            np.testing.assert_allclose(sobel(X)[i, c].numpy(), np.minimum(size, 1), atol=1e-12)
    torch.testing.assert_close(augment(X, only(sobel=True)), sobel(X))
    corner = torch.zeros(1, 1, 4, 4)
    corner[..., 2:, 2:] = 1
    assert float(sobel(corner).max()) <= 1


def test_brightness_multiplies_and_stops_at_white():
    X = images()
    torch.testing.assert_close(augment(X, only(brightness=0.5)), X / 2)
    torch.testing.assert_close(augment(X, only(brightness=1.5)), (1.5 * X).clamp(max=1))


def test_cutout_blackens_a_rectangle_wholly_inside():
    X = torch.ones(2, 3, 8, 12)
    for top, left in ((0.0, 0.0), (1.0, 1.0), (0.4, 0.7)):
        out = augment(X, only(2, cut_height=0.25, cut_width=0.5, cut_top=top, cut_left=left))
        assert int((out[0, 0] == 0).sum()) == 2 * 6
        assert bool((out[0, 0] == out[1, 2]).all())
    corner = augment(X, only(2, cut_height=0.5, cut_width=0.5))
    assert bool((corner[..., :4, :6] == 0).all())
    assert float(corner.sum()) == 2 * 3 * 8 * 12 * 0.75


def test_each_image_has_its_own_factors():
    X = images(6)
    factors = draw_factors(6, torch.Generator().manual_seed(1))
    together = augment(X, factors)
    for i in range(6):
        alone = augment(X[i : i + 1], factors[i : i + 1])
        torch.testing.assert_close(together[i : i + 1], alone)
    assert len({round(float(v), 6) for v in factors.rotation}) == 6


def test_images_stay_between_black_and_white():
    X = images(50)
    out = augment(X, draw_factors(50, torch.Generator().manual_seed(2)))
    assert float(out.min()) >= 0
    assert float(out.max()) <= 1


def test_same_generator_same_images():
    X = images(5)
    one, two = (augment(X, draw_factors(5, torch.Generator().manual_seed(3))) for _ in range(2))
    assert torch.equal(one, two)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (torch.zeros(3, 8, 8), "shape"),
        (torch.zeros(2, 1, 8, 8), "2 images and factors for 3"),
        (torch.zeros(3, 1, 8, 8, dtype=torch.uint8), "floats"),
        (np.zeros((3, 1, 8, 8)), "torch.Tensor"),
    ],
)
def test_bad_images_are_refused(X, message):
    with pytest.raises((InputError, TypeError), match=message):
        augment(X, no_augmentation(3))


# penalties ------------------------------------------------------------------------------------------------------------


def strongest(n=1):
    return only(
        n,
        cut_height=0.5,
        cut_width=0.5,
        shift_height=-0.5,
        shift_width=0.5,
        zoom_horizontal=0.5,
        zoom_vertical=1.5,
        brightness=1.5,
        rotation=-math.pi / 4,
        sobel=True,
        flip=True,
    )


def test_penalty_is_9_without_and_0_with_all_augmentation():
    assert float(no_augmentation(1).penalty()) == 9
    assert float(strongest().penalty()) == pytest.approx(0, abs=1e-6)


def test_penalty_of_figure_3_7():
    factors = only(1, shift_width=-0.19, zoom_vertical=1.1, brightness=0.535, rotation=0.1, flip=True, sobel=True)
    assert float(factors.penalty()) == pytest.approx(0.83, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "penalty"),
    [
        ({"flip": True}, 6),
        ({"sobel": True}, 7),
        ({"rotation": math.pi / 8}, 9 - 1.5),
        ({"brightness": 0.75}, 9 - 1.5),
        ({"cut_height": 0.5, "cut_width": 0.25}, 8.5),
        ({"shift_height": -0.1}, 8.8),
        ({"zoom_horizontal": 1.2, "zoom_vertical": 0.9}, 8.6),
    ],
)
def test_penalty_of_single_changes(change, penalty):
    assert float(only(1, **change).penalty()) == pytest.approx(penalty, abs=1e-6)


def test_normalised_factors_are_all_one_at_the_largest_change():
    assert all(float(v) == pytest.approx(1, abs=1e-6) for v in strongest().normalise().values())
    assert set(strongest().normalise()) == {
        "cut",
        "shift_height",
        "shift_width",
        "zoom_horizontal",
        "zoom_vertical",
        "brightness",
        "rotation",
        "flip",
        "sobel",
    }


def test_mean_penalties_in_closed_form():
    # distribution of the largest strong factor: product of two uniforms for the cutout, four uniforms; weak: two uniforms
    mean_strong = integrate.quad(lambda x: 1 - x**4 * x * (1 - math.log(x)), 0, 1)[0]
    assert 1 - mean_strong + 3 * (1 - 2 / 3) + 3 / 2 + 2 / 2 == pytest.approx(133 / 36, abs=1e-10)
    p = draw_factors(2_000_000, torch.Generator().manual_seed(0)).penalty().double()
    error = float(p.std()) / math.sqrt(len(p))
    assert float(p.mean()) == pytest.approx(133 / 36, abs=4 * error)
    assert float(p.clamp(min=1).mean()) == pytest.approx(3.745214, abs=4 * error)
    assert 0 <= float(p.min()) <= float(p.max()) <= 9


# draws ----------------------------------------------------------------------------------------------------------------


def deviations(f: Factors):
    neutral = {"zoom_horizontal": 1.0, "zoom_vertical": 1.0, "brightness": 1.0}
    return {k: (getattr(f, k) - neutral.get(k, 0.0)) / most for k, most in LARGEST.items()}


@pytest.mark.parametrize("ring", [1, 2, 3])
def test_rings_are_thirds_of_the_range_with_both_signs(ring):
    f = draw_factors(4000, torch.Generator().manual_seed(ring), ring=ring)
    for name, d in deviations(f).items():
        size = d.abs()
        assert float(size.min()) >= (ring - 1) / 3 - 1e-5
        assert float(size.max()) <= ring / 3 + 1e-5
        assert float(size.mean()) == pytest.approx((ring - 0.5) / 3, abs=0.01)
        share = float((d > 0).double().mean())
        assert share == 1 if name.startswith("cut") else 0.46 < share < 0.54


def test_uniform_draws_fill_the_range():
    f = draw_factors(20_000, torch.Generator().manual_seed(0))
    for d in deviations(f).values():
        assert float(d.abs().mean()) == pytest.approx(0.5, abs=0.01)
        assert float(d.abs().max()) > 0.999
    assert float(f.flip.double().mean()) == pytest.approx(0.5, abs=0.02)
    together = torch.stack([*deviations(f).values(), f.flip, f.sobel]).double()
    off = torch.corrcoef(together) - torch.eye(len(together))
    assert float(off.abs().max()) < 0.03


def test_rings_at_random_keep_their_shares():
    f = draw_factors(20_000, torch.Generator().manual_seed(0), sampling="rings")
    ring = (deviations(f)["rotation"].abs() * 3).ceil()
    shares = [float((ring == k).double().mean()) for k in (1, 2, 3)]
    assert shares == pytest.approx([17 / 25, 7 / 25, 1 / 25], abs=0.012)


def test_rings_by_name_set_the_coins():
    f = draw_factors(500, torch.Generator().manual_seed(0), ring={**dict.fromkeys(KINDS, 1), "flip": 3, "sobel": 1})
    assert bool(f.flip.all())
    assert not bool(f.sobel.any())


@pytest.mark.parametrize(("m", "counts"), [(25, (17, 7, 1)), (100, (69, 27, 4)), (50, (34, 14, 2)), (1, (1, 0, 0))])
def test_ring_counts(m, counts):
    assert ring_counts(m) == counts
    assert sum(counts) == m


@pytest.mark.parametrize(
    "bad", [{"ring": 4}, {"ring": {"flop": 1}}, {"ring": {"flip": 0}}, {"sampling": "stars"}, {"coin": 2}]
)
def test_bad_draws_are_refused(bad):
    with pytest.raises((InputError, UnknownName)):
        draw_factors(3, torch.Generator(), **bad)
