"""In which order images are changed, and that what is drawn for one factor says nothing of another."""

from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch", reason="augmentation needs torch")

from unseen.nets import augment, draw_factors, no_augmentation
from unseen.nets.augmentation.factors import LARGEST, Factors


def only(**given: float | bool) -> Factors:
    return dataclasses.replace(no_augmentation(1), **{name: torch.tensor([value]) for name, value in given.items()})


def step(low: float, high: float, size: int = 8) -> torch.Tensor:
    """An image whose right half is lighter than its left half."""
    X = torch.full((1, 1, size, size), low)
    X[..., size // 2 :] = high
    return X


def test_the_sobel_filter_comes_before_brightness() -> None:
    # the edge of .4 to 1 is .6, times 1.5; brightened first, the edge were one of .6 to 1
    out = augment(step(0.4, 1.0), only(sobel=True, brightness=1.5))
    assert float(out[0, 0, 4, 3]) == pytest.approx(0.9)


def test_the_sobel_filter_comes_before_the_rectangle() -> None:
    out = augment(
        torch.full((1, 1, 8, 8), 0.7), only(sobel=True, cut_height=0.5, cut_width=0.5, cut_top=0.5, cut_left=0.5)
    )
    assert float(out.abs().max()) < 1e-6  # the edge of the rectangle is none of the image


def test_the_sobel_filter_comes_after_the_zoom() -> None:
    # magnified twice, a step is spread over two pixels: 3/4 of the change lie within the filter's reach of two
    out = augment(step(0.0, 0.4), only(sobel=True, zoom_horizontal=0.5))
    assert float(out.max()) == pytest.approx(0.3)


def test_shifts_are_made_on_the_image_as_it_was_mirrored_and_turned() -> None:
    X = torch.zeros(1, 1, 8, 8)
    X[..., 0, 0] = 1
    quarter = torch.pi / 2
    moved = augment(X, only(flip=True, rotation=quarter, shift_width=0.25))
    mirrored = torch.rot90(X.flip(-1), 1, (2, 3))
    assert torch.allclose(moved[..., 2:], mirrored[..., :-2], atol=1e-5)


def test_cutout_places_rows_and_columns_apart_and_other_factors_are_drawn_on_their_own() -> None:
    f = draw_factors(4000, torch.Generator().manual_seed(0))
    drawn = [getattr(f, name).double() for name in (*LARGEST, "cut_top", "cut_left", "flip", "sobel")]
    together = torch.corrcoef(torch.stack(drawn)) - torch.eye(len(drawn))
    assert float(together.abs().max()) < 5 / 4000**0.5
    assert float(f.cut_top.min()) < 0.01 < 0.99 < float(f.cut_top.max())


@pytest.mark.parametrize("options", [{}, {"sampling": "rings"}, {"ring": 2}])
def test_factors_follow_from_the_generator_alone(options: dict) -> None:
    torch.manual_seed(1)
    first = draw_factors(50, torch.Generator().manual_seed(7), **options)
    torch.manual_seed(2)
    again = draw_factors(50, torch.Generator().manual_seed(7), **options)
    for field in dataclasses.fields(Factors):
        assert torch.equal(getattr(first, field.name), getattr(again, field.name))


def test_in_rings_all_factors_of_an_image_share_their_ring() -> None:
    f = draw_factors(2000, torch.Generator().manual_seed(0), sampling="rings")
    rings = torch.stack(
        [((getattr(f, k) - float(k[0] in "zb")).abs() / most * 3).ceil() for k, most in LARGEST.items()]
    )
    assert bool((rings == rings[0]).double().mean() > 0.999)
    assert {1.0, 2.0, 3.0} <= set(rings[0].tolist())


@pytest.mark.parametrize(("ring", "share"), [(1, 0.0), (2, 0.5), (3, 1.0)])
def test_rings_of_coins_are_never_half_and_always(ring: int, share: float) -> None:
    f = draw_factors(2000, torch.Generator().manual_seed(0), ring={"flip": ring, "sobel": 4 - ring})
    assert float(f.flip.double().mean()) == pytest.approx(share, abs=0.05)
    assert float(f.sobel.double().mean()) == pytest.approx(1 - share, abs=0.05)


def test_a_coin_is_the_probability_of_a_change() -> None:
    f = draw_factors(2000, torch.Generator().manual_seed(0), coin=0.2)
    assert float(f.flip.double().mean()) == pytest.approx(0.2, abs=0.05)
    assert float(f.sobel.double().mean()) == pytest.approx(0.2, abs=0.05)


def test_signs_do_not_enter_the_penalty_and_the_largest_change_alone_does() -> None:
    for name in ("shift_height", "shift_width", "rotation"):
        assert torch.equal(only(**{name: -0.3}).penalty(), only(**{name: 0.3}).penalty())
    for name in ("zoom_horizontal", "zoom_vertical", "brightness"):
        assert only(**{name: 0.8}).penalty() == pytest.approx(only(**{name: 1.2}).penalty())
    both = only(shift_height=-0.25, zoom_vertical=1.1)
    assert float(both.penalty()) == pytest.approx(9 - 0.5)
    assert float(only(brightness=1.25, rotation=-torch.pi / 8).penalty()) == pytest.approx(9 - 3 * 0.5)
