"""Measures by augmentation and by mixup, on networks whose answer is known beforehand."""

from __future__ import annotations

import colorsys
import dataclasses
import math

import numpy as np
import pytest
from scipy import ndimage
from sklearn.metrics import davies_bouldin_score

pytest.importorskip("torch", reason="measures of generalization need torch")

import torch
from torch import nn

from unseen.core.errors import InputError, NotApplicable, UnknownName
from unseen.nets import Copy80, Net, augment, build_measure, draw_factors, known_measures, sample_net
from unseen.nets.augmentation.changes import across, change_images, draw_rectangles, saturate
from unseen.nets.measures._augmented import classify_augmented, semi_pp_costs
from unseen.nets.measures.dbi_mixup import davies_bouldin
from unseen.nets.measures.first_layer_margins import mildly
from unseen.nets.measures.par_search import search_rings


class Constant(nn.Module):
    """Gives class 0 with probability p whatever it sees."""

    def __init__(self, p, classes=2):
        super().__init__()
        rest = math.log((1 - p) / (classes - 1))
        self.logits = nn.Parameter(torch.tensor([math.log(p)] + [rest] * (classes - 1)))

    def forward(self, X):
        return self.logits.expand(len(X), -1)


class Side(nn.Module):
    """Class 0 where the left half is brighter than the right, with certainty."""

    def forward(self, X):
        half = X.shape[-1] // 2
        led = X[..., :half].sum((1, 2, 3)) - X[..., half:].sum((1, 2, 3))
        return torch.stack([1000 * (led - 0.01), torch.zeros_like(led)], dim=1)


def halves(n=40, side=0, size=8):
    """Images whose left (side 0) or right half is white."""
    X = torch.zeros(n, 1, size, size)
    half = slice(0, size // 2) if side == 0 else slice(size // 2, size)
    X[..., half] = 1
    return X, torch.full((n,), side)


def net_of(module, X, y, **options):
    return Net(module, X, y, **options)


def test_weighted_augment_of_a_sure_and_right_network_is_one_minus_its_probability():
    X = torch.rand(30, 3, 6, 6)
    result = build_measure("weighted-augment")(net_of(Constant(0.8), X, torch.zeros(30, dtype=torch.long)))
    assert result.value == pytest.approx(0.2, abs=1e-6)
    assert result.std_error == pytest.approx(0, abs=1e-12)


def test_weighted_augment_of_a_wrong_network_is_the_mean_penalty():
    X = torch.rand(4000, 1, 4, 4)
    result = build_measure("weighted-augment")(net_of(Constant(0.8), X, torch.ones(4000, dtype=torch.long)), draws=10)
    assert result.value == pytest.approx(3.745214, abs=4 * result.std_error)
    assert 0.002 < result.std_error < 0.03


def test_weighted_augment_goes_by_the_true_label_not_by_the_prediction():
    X = torch.rand(2000, 1, 4, 4)
    y = (torch.arange(2000) % 4 == 0).long()
    result = build_measure("weighted-augment")(net_of(Constant(0.9), X, y), draws=20)
    assert result.value == pytest.approx(0.75 * 0.1 + 0.25 * 3.745214, abs=4 * result.std_error)


def test_the_printed_orientation_is_minus_the_sum():
    net = sample_net("conv")
    ours, printed = (build_measure("weighted-augment", orient=o)(net).value for o in ("gap", "printed"))
    assert printed == pytest.approx(-48 * ours)
    with pytest.raises(UnknownName):
        build_measure("weighted-augment", orient="up")


def test_semi_pp_image_by_image():
    net = sample_net("conv")
    factors = draw_factors(net.n, torch.Generator().manual_seed(1))
    got = semi_pp_costs(classify_augmented(net, factors), factors.penalty())
    for i in range(net.n):
        p = net.logits(augment(net.X_train[i : i + 1], factors[i : i + 1])).softmax(1)[0]
        right = int(p.argmax()) == int(net.y_train[i])
        expected = 1 - float(p[net.y_train[i]]) if right else max(1.0, float(factors.penalty()[i]))
        assert float(got[i]) == pytest.approx(expected, abs=1e-5)


def test_standardised_images_give_the_same_value_as_images_between_0_and_1():
    plain = sample_net("conv")

    class Rescaled(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, X):
            return self.inner(X * 0.25 + 0.5)

    scaled = Net(Rescaled(plain.module), (plain.X_train - 0.5) / 0.25, plain.y_train, value_range=(-2.0, [2.0]))
    for name in ("weighted-augment", "multi-augment", "always-generalize", "augment-margin"):
        one, two = (build_measure(name)(net, draws=2).value for net in (plain, scaled))
        assert one == pytest.approx(two, rel=1e-4)


@pytest.mark.parametrize(
    "name", ["weighted-augment", "multi-augment", "par-search", "always-generalize", "mixup-margin", "vpm", "kv-margin"]
)
def test_batch_size_does_not_matter(name):
    net = sample_net("conv")
    small = dataclasses.replace(net, batch_size=7)
    one, two = (build_measure(name)(n, draws=3).value for n in (net, small))
    assert one == pytest.approx(two, rel=1e-5)


def test_multi_augment_counts_misclassifications():
    X = torch.rand(50, 1, 4, 4)
    wrong = net_of(Constant(0.7), X, torch.ones(50, dtype=torch.long))
    assert build_measure("multi-augment")(wrong).value == 1
    mixed = net_of(Constant(0.7), X, (torch.arange(50) < 10).long())
    assert build_measure("multi-augment")(mixed).value == pytest.approx(0.2)


def test_multi_augment_semi_pp_has_the_mean_penalty_of_its_rings():
    X = torch.rand(3000, 1, 2, 2)
    result = build_measure("multi-augment", semi_pp=True)(net_of(Constant(0.7), X, torch.ones(3000, dtype=torch.long)))
    expected = 0.0
    for ring, share in ((1, 17 / 25), (2, 7 / 25), (3, 1 / 25)):
        # ring r: shares are (r - 1 + u) / 3; cutout is a product of two, the strong maximum is over it and four others
        u = np.random.default_rng(ring).random((200_000, 8))
        f = (ring - 1 + u) / 3
        strong = np.maximum(f[:, 0] * f[:, 1], f[:, 2:6].max(1))
        base = 1 - strong + 3 * (1 - f[:, 6:].max(1))
        expected += share * np.mean([np.maximum(1, base + 3 * a + 2 * b).mean() for a in (0, 1) for b in (0, 1)])
    assert result.value == pytest.approx(expected, abs=0.01)


def test_multi_augment_sees_flips():
    X, y = halves()
    X[:, :, [0, 1, 4, 5]] = 0  # stripes, which the Sobel filter leaves on their side
    net = net_of(Side(), X, y)
    assert build_measure("multi-augment", coin=0.0)(net).value < 0.05
    assert build_measure("multi-augment", coin=1.0)(net).value > 0.9


@pytest.mark.parametrize(
    "name", ["weighted-augment", "multi-augment", "always-generalize", "augment-margin", "par-search"]
)
def test_plain_vectors_are_refused_by_measures_of_images(name):
    with pytest.raises(NotApplicable, match=f"{name} needs inputs of shape"):
        build_measure(name)(sample_net("vector"))


def test_errors_over_draws_are_what_repetition_shows():
    net = sample_net("conv", epochs=8)
    values = [build_measure("weighted-augment")(net, random_state=s) for s in range(60)]
    shown = np.std([v.value for v in values], ddof=1)
    claimed = math.sqrt(np.mean([v.std_error**2 for v in values]))
    assert 0.7 < claimed / shown < 1.4


# par-search -----------------------------------------------------------------------------------------------------------


class Bright(nn.Module):
    """Class 0 where the brightest pixel is above 0.45; of the augmentations only brightness and Sobel filter matter to it."""

    def forward(self, X):
        led = X.amax((1, 2, 3)) - 0.45
        return torch.stack([1000 * led, torch.zeros_like(led)], dim=1)


def grey(share, n=2000):
    """Even grey images of 0.6, of which a copy has not seen a fifth; a share of those is too dark for it."""
    X, held_out = torch.full((n, 1, 8, 8), 0.6), torch.arange(n // 5)
    X[: round(share * n / 5)] = 0.3
    return Net(Bright(), X, torch.zeros(n, dtype=torch.long), copy80=Copy80(Bright(), held_out))


@pytest.mark.parametrize(
    ("share", "sobel", "brightness"),
    [(0.0, 1, 1), (0.22, 1, 2), (0.5, 2, 1), (0.7, 2, 3), (1.0, 3, 1)],
)
def test_search_finds_the_strength_that_gives_the_hold_out_error(share, sobel, brightness):
    # misclassified shares: Sobel never, half or always; brightness 0, 1/4 or 1/2 of the rest by ring
    rings, left = search_rings(grey(share), torch.Generator().manual_seed(0))
    assert (rings["sobel"], rings["brightness"]) == (sobel, brightness)
    expected = (sobel - 1) / 2 + (1 - (sobel - 1) / 2) * (brightness - 1) / 4
    assert left == pytest.approx(abs(expected - share), abs=0.05)
    assert all(rings[k] == 1 for k in rings if k not in ("sobel", "brightness"))


def test_par_search_judges_the_network_itself_with_the_rings_found():
    net = grey(0.5)
    robust = dataclasses.replace(net, module=Constant(0.9))
    assert build_measure("par-search")(net, draws=4).value == pytest.approx(0.5 + 0.5 * 200 / 2000, abs=0.03)
    assert build_measure("par-search")(robust).value == 0


def test_par_search_needs_the_copy():
    net = dataclasses.replace(sample_net("conv"), copy80=None)
    with pytest.raises(NotApplicable, match="copy trained on 80%"):
        build_measure("par-search")(net)


# Davies-Bouldin and mixup -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_davies_bouldin_agrees_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 7)) + np.arange(4)[rng.integers(0, 4, 60)][:, None] * 0.5, rng.integers(0, 4, 60)
    ours = davies_bouldin(torch.tensor(X), torch.tensor(y))
    assert ours == pytest.approx(davies_bouldin_score(X, y), rel=1e-10)


def test_davies_bouldin_of_degenerate_clusters_agrees_with_scikit_learn():
    X, y = np.array([[0.0], [0.0], [3.0], [3.0], [0.0], [0.0]]), np.array([0, 0, 1, 1, 2, 2])
    assert davies_bouldin(torch.tensor(X), torch.tensor(y)) == davies_bouldin_score(X, y) == 0


def test_dbi_mixup_by_hand():
    net = sample_net("conv", epochs=4)
    measure = build_measure("dbi-mixup", points=48, per_class=16)  # all inputs: nothing is left to chance
    with torch.no_grad():
        features = nn.functional.max_pool2d(net.module[0](net.X_train), 4).flatten(1).numpy()
    index = davies_bouldin_score(features, net.y_train.numpy())
    shares = []
    for k in range(3):
        own = net.X_train[net.y_train == k]
        pairs = torch.stack([(own[i] + own[j]) / 2 for i in range(16) for j in range(i + 1, 16)])
        shares.append(float((net.module(pairs).argmax(1) == k).double().mean()))
    result = measure(net, draws=3)
    assert result.value == pytest.approx(index * (1 - np.mean(shares)), rel=1e-5)
    assert result.std_error == pytest.approx(0, abs=1e-6)
    assert result.used == ("0",)


def test_dbi_mixup_takes_the_first_dense_layer_where_there_is_no_convolution():
    assert build_measure("dbi-mixup")(sample_net("mlp")).used == ("1",)


def test_a_class_of_one_is_refused():
    net = sample_net("conv")
    keep = torch.cat([torch.nonzero(net.y_train != 2)[:, 0], torch.nonzero(net.y_train == 2)[:1, 0]])
    lone = Net(net.module, net.X_train[keep], net.y_train[keep])
    with pytest.raises(
        NotApplicable, match="dbi-mixup needs at least 2 training examples of every class; class 2 has 1"
    ):
        build_measure("dbi-mixup")(lone)


# Always Generalize ----------------------------------------------------------------------------------------------------


def test_always_generalize_of_a_constant_network_is_0():
    net = net_of(Constant(0.8), torch.rand(20, 3, 8, 8), torch.zeros(20, dtype=torch.long))
    assert build_measure("always-generalize")(net, draws=3).value == pytest.approx(0, abs=1e-9)


def test_always_generalize_by_hand():
    # a white left half: flip (6) and flip with saturation (12) turn the answer, so does the Sobel filter (3), whose edge is
    # symmetric; crop, brightness, saturation of grey and no rectangle that leaves some white do not
    net = net_of(Side(), *halves(30))
    assert build_measure("always-generalize")(net, draws=4).value == pytest.approx(21, abs=1e-6)


def test_always_generalize_does_not_use_labels():
    X, y = halves(30)
    one, two = (build_measure("always-generalize")(net_of(Side(), X, labels), draws=2) for labels in (y, 1 - y))
    assert one.value == two.value


def test_always_generalize_changes_images_as_its_penalties_say():
    X = torch.rand(3, 3, 10, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    X[0] = torch.linspace(0.1, 1, 10, dtype=torch.float64)  # a ramp: what a crop leaves of it is known
    factor = torch.tensor([[0.6, 1.6], [1.0, 0.7], [1.5, 1.0]], dtype=torch.float64)
    black = draw_rectangles(3, X.shape[2:], torch.Generator().manual_seed(2))
    changed = list(change_images(X, factor, black.to("cpu", X.dtype)))
    assert [cost for cost, _ in changed] == [6, 1, 2, 3, 1, 12, 2]
    flip, saturated, crop, sobel, bright, both, cut = (images for _, images in changed)
    assert torch.equal(flip, X.flip(-1))
    assert torch.equal(saturated, saturate(X, factor[:, 0]))
    assert torch.equal(both, saturate(flip, factor[:, 1]))
    middle = crop[0, 0, 5, 1:-1].diff()
    np.testing.assert_allclose(middle, 0.9 * 0.1, atol=1e-12)  # 90% of the ramp's height over the same width
    np.testing.assert_allclose(sobel[1, 2], ndimage.sobel(X[1, 2].numpy(), axis=1, mode="mirror") / 4 + 0.5, atol=1e-12)
    assert torch.equal(bright, X + 0.5)
    for image, whole in zip(cut, X):
        gone = (image == 0).all(0)
        assert 0 < int(gone.sum()) < gone.numel()
        assert torch.equal(gone, gone.any(1)[:, None] & gone.any(0))  # one rectangle
        assert torch.equal(image[:, ~gone], whole[:, ~gone])


def test_saturation_agrees_with_colorsys():
    X = torch.rand(4, 3, 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    factor = torch.tensor([0.6, 1.0, 1.3, 1.6], dtype=torch.float64)
    got = saturate(X, factor)
    for i in range(4):
        for a in range(2):
            for b in range(2):
                h, s, v = colorsys.rgb_to_hsv(*X[i, :, a, b].tolist())
                expected = colorsys.hsv_to_rgb(h, min(1, s * float(factor[i])), v)
                np.testing.assert_allclose(got[i, :, a, b], expected, atol=1e-12)
    grey = torch.rand(2, 1, 3, 3)
    assert torch.equal(saturate(grey, factor[:2].float()), grey)


def test_derivative_agrees_with_scipy():
    X = torch.rand(2, 3, 6, 5, dtype=torch.float64)
    for i in range(2):
        for c in range(3):
            np.testing.assert_allclose(
                across(X)[i, c], ndimage.sobel(X[i, c].numpy(), axis=1, mode="mirror"), atol=1e-12
            )


def test_mild_augmentation_flips_half_pales_and_crops():
    ramp = torch.linspace(0, 1, 16).expand(2000, 1, 16, 16).contiguous()
    out = mildly(ramp, torch.Generator().manual_seed(0))
    slope = out[..., 8, 15] - out[..., 8, 0]
    assert float((slope < 0).double().mean()) == pytest.approx(0.5, abs=0.05)
    # contrast 0.7 to 1 about the mean; half of the images are also cropped to 85 to 100%, which takes away outer values
    size = slope.abs().flatten().numpy()
    assert 0.7 * 0.85 - 0.05 < size.min() < 0.66
    assert 0.95 < size.max() <= 1
    assert float(out.mean()) == pytest.approx(0.5, abs=1e-3)


def test_augment_margin_of_even_images_by_hand():
    # images of one grey value and weights that see their mean: flip, contrast and crop change nothing
    y = torch.arange(40) % 2
    X = (0.2 + 0.5 * y.float())[:, None, None, None].expand(40, 1, 6, 6).contiguous()
    module = nn.Sequential(nn.Flatten(), nn.Linear(36, 3), nn.Linear(3, 2))
    with torch.no_grad():
        module[1].weight.copy_(torch.tensor([[1.0], [2.0], [-1.0]]).expand(3, 36) / 36)
        module[1].bias.zero_()
        module[2].weight.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 1.0]]))
        module[2].bias.copy_(torch.tensor([1.0, 0.0]))
    grey = 0.2 + 0.5 * y.double().numpy()
    led = np.where(y.numpy() == 0, 1 - 2 * grey, 2 * grey - 1)  # logits are grey + 1 and 3 grey
    spread = np.mean([k**2 * grey.var() for k in (1, 2, -1)])  # three features: no value is trimmed
    expected = -np.mean(led / 6**0.5) / spread**0.5
    result = build_measure("augment-margin", batch=40)(Net(module, X, y), draws=2)
    assert result.value == pytest.approx(expected, rel=1e-4)


# options and records --------------------------------------------------------------------------------------------------


def test_unknown_measures_and_options_are_refused_with_advice():
    with pytest.raises(UnknownName, match="did you mean 'weighted-augment'"):
        build_measure("weighted-augmet")
    with pytest.raises(UnknownName, match="did you mean 'sampling'"):
        build_measure("weighted-augment", samplin="rings")
    with pytest.raises(UnknownName, match="sampling"):
        build_measure("weighted-augment", sampling="stars")
    with pytest.raises(InputError, match="draws"):
        build_measure("weighted-augment")(sample_net("conv"), draws=0)
    with pytest.raises(InputError, match="measures an unseen"):
        build_measure("weighted-augment")(nn.Linear(2, 2))


def test_one_draw_cannot_tell_its_error():
    assert build_measure("weighted-augment")(sample_net("conv"), draws=1).std_error is None


def test_every_file_of_this_part_is_registered():
    assert set(known_measures()) >= {
        "par-search",
        "multi-augment",
        "weighted-augment",
        "dbi-mixup",
        "mixup-margin",
        "augment-margin",
        "always-generalize",
        "vpm",
        "wcv",
        "vr",
        "kv-margin",
        "kv-gn-margin",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X_train": torch.full((4, 1, 2, 2), 200.0)}, "outside value_range"),
        ({"X_train": torch.zeros(4, 1, 2, 2, dtype=torch.uint8)}, "floats"),
        ({"X_train": torch.full((4, 1, 2, 2), math.nan)}, "not finite"),
        ({"y_train": torch.zeros(3, dtype=torch.long)}, "4 whole class numbers"),
        ({"y_train": torch.zeros(4)}, "whole class numbers"),
        ({"y_train": torch.tensor([0, 1, -1, 0])}, "negative"),
        ({"module": "net"}, "torch.nn.Module"),
        ({"y_train": [0, 1, 0, 1]}, "torch.Tensor"),
        ({"value_range": (1.0, 0.0)}, "below white"),
        ({"value_range": ([0.0, 0.0], 1.0)}, "one per channel"),
        ({"copy80": Copy80(Side(), torch.tensor([9]))}, "held_out"),
        ({"X_train": torch.zeros(1, 1, 2, 2), "y_train": torch.zeros(1, dtype=torch.long)}, "at least 2"),
    ],
)
def test_bad_networks_are_refused(change, message):
    good = {"module": Side(), "X_train": torch.rand(4, 1, 2, 2), "y_train": torch.tensor([0, 1, 0, 1])}
    Net(**good)
    with pytest.raises((InputError, TypeError), match=message):
        Net(**{**good, **change})


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.Linear(9, 2), "cannot be run on its training inputs"),
        (nn.Identity(), "one logit for each of 2 classes"),
        (nn.Sequential(nn.Flatten(), nn.Linear(4, 1)), "one logit for each of 2 classes"),
    ],
)
def test_modules_that_give_no_logits_are_refused(module, message):
    net = Net(module, torch.rand(4, 1, 2, 2), torch.tensor([0, 1, 0, 1]))
    with pytest.raises(InputError, match=message):
        build_measure("weighted-augment")(net)
