"""Estimates of nets: linear nets against exact formulas, deep nets against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn

import unseen.nets as nets
from unseen.core.errors import InputError, KindError, NotApplicable, UnseenError
from unseen.nets.estimates.calibration import search_kappa
from unseen.nets.estimates.kernel_sizes import chi_median, diagonal_sizes, spherical_sizes
from unseen.nets.estimates.methods import _calibration_error
from unseen.nets.estimates.problem import EstimateOptions


def sample(n=60, d=5, c=2, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    X = rng.standard_normal((n, d))
    X[:, 0] += shift * y
    return X, y


class LinearFace:
    """A scikit-learn face of a linear net, for the exact formulas of `unseen.resubstitution`."""

    def __init__(self, net):
        from sklearn.linear_model import LogisticRegression

        self.model = LogisticRegression()
        weight, bias = (p.detach().double().numpy() for p in (net.weight, net.bias))
        self.model.classes_ = np.arange(2)
        self.model.coef_ = (weight[1] - weight[0])[None]
        self.model.intercept_ = np.array([bias[1] - bias[0]])


def linear_net(d=5, c=2, seed=1, dtype=torch.float64):
    torch.manual_seed(seed)
    return nn.Linear(d, c).to(dtype)


@pytest.mark.parametrize(
    ("method", "function"), [("bolster", "bolster"), ("naive-bayes-bolster", "naive_bayes_bolster")]
)
def test_a_linear_net_agrees_with_the_exact_formulas(method, function):
    from unseen import resubstitution

    X, y = sample()
    net = linear_net()
    exact = getattr(resubstitution, function)(LinearFace(net).model, X, y)
    ours = nets.estimate(net, X, y, method=method)
    assert exact.integration == "exact" == ours.integration
    np.testing.assert_allclose(ours.contributions, exact.contributions, atol=1e-9)
    np.testing.assert_allclose(ours.bandwidth, exact.bandwidth, rtol=1e-9)
    drawn = nets.estimate(net, X, y, method=method, exact=False, n_mc=2000, random_state=0)
    assert 0 < drawn.mc_error < 0.01
    assert abs(drawn.value - exact.value) < 4 * drawn.mc_error


def test_class_average_and_posteriors_agree_with_the_tabular_family():
    from unseen import resubstitution

    X, y = sample(n=50)
    y = (np.arange(50) % 5 == 0).astype(int)
    net = linear_net()
    face = LinearFace(net).model
    pairs = [
        (nets.estimate(net, X, y, method="resub"), resubstitution.resub(face, X, y)),
        (
            nets.estimate(net, X, y, method="bolster", average="class"),
            resubstitution.bolster(face, X, y, average="class"),
        ),
        (nets.estimate(net, X, y, method="posterior", posterior="knn", k=3), resubstitution.posterior(face, X, y, k=3)),
        (nets.estimate(net, X, y, method="posterior"), resubstitution.posterior(face, X, y, posterior="model")),
        (
            nets.estimate(net, X, y, method="bolster-posterior", mode="product_error", posterior="knn"),
            resubstitution.bolster_posterior_product(face, X, y),
        ),
        (
            nets.estimate(net, X, y, method="bolster-posterior", mode="product_accuracy"),
            resubstitution.bolster_posterior_accuracy(face, X, y, posterior="model"),
        ),
    ]
    for ours, theirs in pairs:
        assert ours.value == pytest.approx(theirs.value, abs=1e-9), ours.measure


@pytest.mark.parametrize("posterior", ["softmax", "knn"])
def test_bolstered_posterior_agrees_with_the_tabular_family_within_monte_carlo(posterior):
    from unseen import resubstitution

    X, y = sample(n=40)
    net = linear_net()
    theirs = resubstitution.bolster_posterior(
        LinearFace(net).model, X, y, posterior="model" if posterior == "softmax" else "knn", n_mc=1000, random_state=0
    )
    ours = nets.estimate(net, X, y, method="bolster-posterior", posterior=posterior, n_mc=1000, random_state=0)
    assert abs(ours.value - theirs.value) < 4 * np.hypot(ours.mc_error, theirs.mc_error)


def test_a_net_of_many_classes_agrees_with_the_tabular_family():
    from sklearn.linear_model import LogisticRegression

    from unseen import resubstitution

    X, y = sample(n=90, c=3)
    face = LogisticRegression().fit(X, y)
    net = nn.Linear(5, 3).double()
    with torch.no_grad():
        net.weight.copy_(torch.as_tensor(face.coef_))
        net.bias.copy_(torch.as_tensor(face.intercept_))
    theirs = resubstitution.bolster(face, X, y, random_state=0)
    ours = nets.estimate(net, X, y, method="bolster", n_mc=1000, random_state=0)
    assert ours.integration.startswith("Monte Carlo")
    assert abs(ours.value - theirs.value) < 4 * np.hypot(ours.mc_error, theirs.mc_error or 0)


def test_sizes_agree_with_the_tabular_kernels():
    from scipy.stats import chi

    from unseen.resubstitution.kernels import Diagonal, Spherical

    assert chi_median(784) == pytest.approx(chi(784).median(), rel=1e-10)
    X, y = sample(n=60, d=4, c=3)
    X[:, 1] = np.round(X[:, 1])  # many ties
    X[:, 2] = np.where(y == 1, 7.0, X[:, 2])  # constant within a class
    points, codes = torch.as_tensor(X), torch.as_tensor(y)
    np.testing.assert_allclose(
        spherical_sizes(points, codes, 3), Spherical().spread(X, y, np.arange(3)).factor, rtol=1e-10
    )
    for nearest in ("distinct", "any"):
        expected = Diagonal(nearest=nearest).spread(X, y, np.arange(3)).factor
        np.testing.assert_allclose(diagonal_sizes(points, codes, 3, nearest), expected, rtol=1e-10)


def test_kernels_behind_a_layer_are_those_of_the_rest_on_its_features():
    X, y = sample(n=40, d=3)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    features = net[:2](torch.as_tensor(X)).detach()
    inside = nets.estimate(net, X, y, method="bolster", layer="1")
    outside = nets.estimate(net[2], features, y, method="bolster")
    assert inside.space == "1"
    assert inside.value == pytest.approx(outside.value, abs=1e-12)
    assert inside.value != pytest.approx(nets.estimate(net, X, y, method="bolster", random_state=0).value, abs=1e-4)


def test_a_cut_by_hooks_gives_what_a_cut_of_a_sequence_gives():
    class Around(nn.Module):
        def __init__(self, inner, skip):
            super().__init__()
            self.inner, self.skip = inner, skip

        def forward(self, x):
            return self.inner(x) + self.skip * x[:, :2]

    X, y = sample(n=30, d=3)
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    plain = nets.estimate(inner, X, y, method="bolster", layer="1", exact=False, draws=3)
    hooked = nets.estimate(Around(inner, 0.0), X, y, method="bolster", layer="inner.1", exact=False, draws=3)
    np.testing.assert_array_equal(plain.contributions, hooked.contributions)
    around = nets.estimate(Around(inner, 5.0), X, y, method="bolster", layer="inner.1", exact=False, draws=3)
    assert around.value != plain.value


def test_memory_bound_blocks_and_the_same_draws_give_the_same_numbers(monkeypatch):
    from unseen.nets.estimates import kernels

    X, y = sample(n=30, d=8, c=3)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3)).double()
    one, two = (nets.estimate(net, X, y, method="naive-bayes-bolster", draws=5, random_state=s) for s in (1, 2))
    np.testing.assert_array_equal(one.contributions, two.contributions)
    monkeypatch.setattr(kernels, "CPU_BLOCK", 64)  # less than one kernel's points
    small = nets.estimate(net, X, y, method="naive-bayes-bolster", draws=5)
    assert abs(small.value - one.value) < 4 * np.hypot(small.mc_error, one.mc_error)
    assert small.value != one.value


def test_antithetic_points_lower_the_error_of_a_linear_score():
    X, y = sample(n=40)
    net = linear_net()
    exact = nets.estimate(net, X, y, method="bolster").value
    paired = nets.estimate(net, X, y, method="bolster", exact=False, sampler="antithetic", n_mc=400, random_state=0)
    plain = nets.estimate(net, X, y, method="bolster", exact=False, n_mc=400, random_state=0)
    assert paired.mc_error < plain.mc_error
    assert abs(paired.value - exact) < 4 * paired.mc_error


def test_released_form_of_the_posterior_estimate():
    X, y = sample(n=60, c=3)
    torch.manual_seed(0)
    net = nn.Linear(5, 3).double()
    p = net(torch.as_tensor(X)).softmax(1).detach().numpy()
    own, right = p[np.arange(60), y], p.argmax(1) == y
    assert nets.estimate(net, X, y, method="posterior").value == pytest.approx((1 - p.max(1)).mean())
    released = nets.estimate(net, X, y, method="posterior", form="released").value
    assert released == pytest.approx(np.where(right, 1 - own, own).mean())


def test_temperature_from_validation_rows_is_that_of_the_rows():
    X, y = sample(n=400, shift=1.0)
    torch.manual_seed(0)
    net = nn.Linear(5, 2).double()
    with torch.no_grad():  # the true rule of these classes, eight times too sure
        net.weight.zero_(), net.bias.zero_()
        net.weight[1, 0], net.bias[1] = 8.0, -4.0
    fresh, labels = sample(n=4000, seed=9)
    e = nets.estimate(net, X, y, method="posterior", posterior="temperature", validation=(fresh, labels))
    assert 7 < float(e.measure.split()[-1]) < 9
    assert e.value == pytest.approx(0.3085, abs=0.02)  # Phi(-1/2), the error of that rule
    with pytest.raises(InputError, match="validation="):
        nets.estimate(net, X, y, method="posterior", posterior="temperature")


def test_calibration_trains_copies_and_keeps_the_whole_path():
    X, y = sample(n=60, d=3, shift=1.5)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
    training = {"epochs": 60, "batch_size": 16, "lr": 0.5, "stop": "none"}
    fits = nets.fit_many(net, X, y, None, seeds=[0], device="cpu", **training)
    e = nets.estimate(fits.module(0), X, y, method="calibrated-bolster", repeats=3, training=training, random_state=0)
    assert e.n_fits == 3
    assert e.deviations.shape == (len(e.curve), 3)
    np.testing.assert_allclose(e.curve[:, 1], e.deviations.mean(1))
    assert e.curve[0, 0] == 1.0
    assert np.allclose(np.diff(e.curve[:, 0]), 0.1)
    assert e.kappa == e.curve[np.abs(e.curve[:, 1]).argmin(), 0]
    plain = nets.estimate(fits.module(0), X, y, method="bolster", kappa=e.kappa, n_mc=500, random_state=1)
    assert abs(e.value - plain.value) < 4 * np.hypot(e.mc_error, plain.mc_error)
    both = nets.estimate(
        fits.module(0),
        X,
        y,
        method="calibrated-bolster",
        repeats=3,
        training=training,
        random_state=0,
        bidirectional=True,
    )
    assert both.curve[0, 0] < 1.0
    again = nets.estimate(
        fits.module(0), X, y, method="calibrated-bolster", repeats=3, training=training, random_state=0
    )
    assert again.value == e.value


class LinearTrials:
    """Trials whose bias vanishes at known kappas."""

    def __init__(self, zeros):
        self.problems, self.zeros = zeros, np.array(zeros)

    def deviations(self, kappa, exact):
        return kappa - self.zeros


def test_the_error_of_a_calibration_is_that_of_the_mean_kappa():
    zeros = [1.2, 1.5, 1.8, 2.1]  # kappa is their mean, and the estimate is 0.1 kappa
    found = _calibration_error(LinearTrials(zeros), EstimateOptions(step=0.01), {}, lambda kappa: 0.1 * kappa)
    assert found == pytest.approx(0.1 * np.std(zeros, ddof=1) / 2, rel=1e-3)
    assert np.isnan(_calibration_error(LinearTrials([1.2]), EstimateOptions(), {}, float))


@pytest.mark.slow
def test_the_error_of_a_calibration_is_what_other_splits_and_copies_make_of_it():
    X, y = sample(n=60, d=3, shift=1.5)
    training = {"epochs": 60, "batch_size": 16, "lr": 0.5, "stop": "none"}
    net = nets.fit_many(nets.make_mlp, X, y, None, seeds=[0], device="cpu", **training).module(0)
    options = {"method": "calibrated-bolster", "repeats": 5, "training": training, "n_mc": 50, "draws": 1}
    found = [nets.estimate(net, X, y, random_state=seed, **options) for seed in range(24)]
    realised = np.std([e.value for e in found], ddof=1)
    promised = np.sqrt(np.mean([e.calibration_error**2 for e in found]))
    assert 0.6 < realised / promised < 1.6
    assert realised > 3 * np.mean([e.mc_error for e in found])  # the error of the integration says nothing about it


def test_copies_of_a_net_with_probabilities_need_a_factory():
    X, y = sample(n=40, d=3)
    net = nn.Sequential(nn.Linear(3, 2), nn.Softmax(1))
    options = {
        "method": "calibrated-bolster",
        "repeats": 2,
        "n_mc": 10,
        "training": {"epochs": 2, "stop": "none"},
        "random_state": 0,
    }
    with pytest.raises(InputError, match="factory="):
        nets.estimate(net, X, y, **options)
    assert nets.estimate(net, X, y, factory=lambda: nn.Linear(3, 2), **options).n_fits == 2


def test_the_search_stops_after_two_steps_that_do_not_lower_the_bias():
    biases = {1.0: -0.3, 1.1: -0.2, 1.2: -0.25, 1.3: -0.1, 1.4: 0.1, 1.5: 0.12, 1.6: 0.0}
    kappa, curve, _ = search_kappa(lambda k: np.array([biases[round(k, 1)]]))
    assert kappa == 1.3
    assert curve[:, 0].tolist() == [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]  # 1.2 is one step, 1.4 and 1.5 are two


def test_the_net_is_left_as_it_was():
    X, y = sample(n=20)
    net = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2)).double().train()
    net[2].eval()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    one, two = (nets.estimate(net, X, y, method="bolster", draws=1).value for _ in range(2))
    assert one == two
    assert net.training
    assert net[1].training
    assert not net[2].training
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())


def test_one_output_and_ready_probabilities_are_understood():
    X, y = sample(n=40)
    net = linear_net()
    single = nn.Linear(5, 1).double()
    with torch.no_grad():
        single.weight.copy_(net.weight[1:] - net.weight[:1])
        single.bias.copy_(net.bias[1:] - net.bias[:1])
    variants = [
        single,
        nn.Sequential(single, nn.Sigmoid()),
        nn.Sequential(net, nn.Softmax(1)),
        nn.Sequential(net, nn.LogSoftmax(1)),
    ]
    for method in ("resub", "posterior", "bolster"):
        expected = nets.estimate(net, X, y, method=method, exact=False, draws=0).value
        for variant in variants:
            assert nets.estimate(variant, X, y, method=method, exact=False, draws=0).value == pytest.approx(
                expected, abs=1e-9
            )


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize(
    ("labels", "classes", "words"),
    [
        ([0, 1, 2], None, "from 0 to 2, but the net distinguishes 2 classes, classes 0 to 1;"),
        (["a", "b", "c"], None, "3 different labels, but the net distinguishes 2 classes"),
        (["a", "b", "c"], ["a", "b", "c"], "names 3 labels, but the net distinguishes 2 classes"),
    ],
)
def test_one_output_is_not_told_that_it_is_two(width, labels, classes, words):
    X, _ = sample(n=30)
    with pytest.raises(InputError, match=words) as caught:
        nets.estimate(nn.Linear(5, width).double(), X, np.array(labels)[np.arange(30) % 3], "resub", classes=classes)
    assert "output" not in str(caught.value)


def test_wrappers_and_labels_are_understood():
    X, y = sample(n=40)
    net = linear_net()
    names = np.array(["ill", "well"])

    class Wrapper:
        module_, classes_ = net, names

    class Proba:
        classes_ = names

        def predict_proba(self, rows):
            return net(torch.as_tensor(rows, dtype=torch.float64)).softmax(1).detach().numpy()

    expected = nets.estimate(net, X, y, method="posterior").value
    assert nets.estimate(Wrapper(), X, names[y], method="posterior").value == pytest.approx(expected)
    assert nets.estimate(Proba(), X, names[y], method="posterior").value == pytest.approx(expected, abs=1e-6)
    swapped = nets.estimate(net, X, names[::-1][y], method="resub", classes=["well", "ill"]).value
    assert swapped == nets.estimate(net, X, y, method="resub").value


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"method": "bolstr"}, InputError, "bolster"),
        ({"layer": "fc9"}, InputError, "layers are: 0, 1, 2"),
        ({"y": np.full(20, 2)}, InputError, "class indices from 2 to 2"),
        ({"y": np.zeros(19)}, InputError, "shape"),
        ({"X": np.full((20, 5), np.nan)}, InputError, "NaN"),
        ({"X": np.ones((20, 4))}, InputError, "cannot take inputs of shape"),
        ({"n_mc": 1}, InputError, "n_mc"),
        ({"average": "clas"}, InputError, "class"),
        ({"kapa": 1}, InputError, "kappa"),
        ({"nearest": "near", "method": "naive-bayes-bolster"}, InputError, "nearest"),
        ({"method": "bayesian"}, InputError, "posterior="),
        ({"module": object()}, KindError, "predict_proba"),
        ({"y": np.r_[1, np.zeros(19, int)]}, InputError, "one point"),
        ({"device": "cuda:99"}, UnseenError, "no GPU"),
        ({"posterior": "knn", "k": 99, "method": "posterior"}, InputError, "k is 99"),
    ],
)
def test_misuse_is_answered_in_words(change, kind, words):
    if change.get("device") and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    X, y = sample(n=20)
    net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2))
    given = {"module": net, "X": X, "y": y, "method": "bolster", **change}
    with pytest.raises(kind, match=words):
        nets.estimate(given.pop("module"), given.pop("X"), given.pop("y"), **given)


def test_wrong_number_of_channels_is_named():
    net = nn.Sequential(nn.Conv2d(3, 2, 3), nn.Flatten(), nn.Linear(2 * 36, 2))
    with pytest.raises(InputError, match="channels first"):
        nets.estimate(net, np.zeros((4, 1, 8, 8)), [0, 1, 0, 1], method="resub")


def test_outputs_in_another_order_than_the_labels_are_noted():
    """A net that names the classes backwards has an error near 1: a question of order, not of generalization."""
    X, y = sample(n=60, c=2, shift=8.0)
    net = nn.Linear(5, 2).double()
    with torch.no_grad():
        net.weight.zero_()
        net.bias.copy_(torch.tensor([4.0, 0.0]))
        net.weight[1, 0] = 1.0
    labels = np.array(["zebra", "ant"])[y]
    wrong = nets.estimate(net, X, labels, method="resub", classes=["ant", "zebra"])
    right = nets.estimate(net, X, labels, method="resub", classes=["zebra", "ant"])
    assert wrong.value == pytest.approx(1 - right.value)
    assert right.value < 0.1
    assert [n.code for n in wrong.notes] == ["N023"]
    assert "30" in wrong.notes[0].text
    assert right.notes == ()


def test_a_layer_that_runs_twice_is_refused():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.out = nn.Linear(5, 5), nn.Linear(5, 2)

        def forward(self, x):
            return self.out(self.part(torch.tanh(self.part(x))))

    X, y = sample(n=20)
    with pytest.raises(InputError, match="runs 2 times"):
        nets.estimate(Twice(), X, y, method="bolster", layer="part")


def test_a_short_memory_halves_the_batches_and_says_so():
    X, y = sample(n=20)

    class Greedy(nn.Linear):
        def forward(self, x):
            if len(x) > 64:
                raise torch.OutOfMemoryError("no more")
            return super().forward(x)

    torch.manual_seed(1)
    greedy, plain = Greedy(5, 2).double(), nn.Linear(5, 2).double()
    plain.load_state_dict(greedy.state_dict())
    e = nets.estimate(greedy, X, y, method="bolster", exact=False, draws=0)
    assert [n.code for n in e.notes] == ["N021"]
    assert e.value == nets.estimate(plain, X, y, method="bolster", exact=False, draws=0).value


def test_layers_need_a_module():
    class Proba:
        def predict_proba(self, rows):
            return np.full((len(rows), 2), 0.5)

    X, y = sample(n=20)
    with pytest.raises(NotApplicable, match="no torch module"):
        nets.estimate(Proba(), X, y, method="bolster", layer="0")


def test_a_classifier_knows_how_its_copies_are_trained():
    X, y = sample(n=60, d=4, shift=2.0)
    labels = np.array(["a", "b"])[y]
    flat = nets.Classifier(epochs=15, random_state=0, device="cpu").fit(X, labels)
    e = nets.estimate(flat, X, labels, method="calibrated-naive-bayes-bolster", repeats=2, n_mc=20, random_state=0)
    assert e.n_fits == 2
    assert 0 <= e.value < 0.5
    assert nets.estimate(flat, X, labels, method="resub").value == pytest.approx(1 - flat.score(X, labels))
    with pytest.raises(InputError, match="not trained yet"):
        nets.estimate(nets.Classifier(), X, labels)
    image = nets.Classifier(nets.make_lenet5, input_shape=(1, 12, 12), epochs=2, device="cpu", random_state=0)
    images = np.random.default_rng(0).random((30, 144))
    image.fit(images, np.arange(30) % 3)
    assert nets.estimate(image, images, np.arange(30) % 3, n_mc=4).contributions.shape == (30,)


def test_records_tuples_and_tokens_are_understood():
    class Record:
        def __init__(self, logits):
            self.logits = logits

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.out = nn.Embedding(9, 4), nn.Linear(12, 2)

        def forward(self, x):
            return Record(self.out(self.words(x).flatten(1)))

    torch.manual_seed(0)
    net, X = Tokens(), np.random.default_rng(0).integers(0, 9, (30, 3))
    y = (X[:, 0] > 4).astype(int)
    expected = net(torch.as_tensor(X)).logits.argmax(1).numpy()
    assert nets.estimate(net, X, y, method="resub").value == pytest.approx((expected != y).mean())
    inside = nets.estimate(net, X, y, method="bolster", layer="words", exact=False, n_mc=500, random_state=0)
    outside = nets.estimate(net.out, net.words(torch.as_tensor(X)).flatten(1).detach(), y, method="bolster")
    assert abs(inside.value - outside.value) < 4 * inside.mc_error
    default = nets.estimate(net, X, y, method="bolster", n_mc=500, random_state=0)  # tokens cannot be moved themselves
    assert (default.value, default.space) == (inside.value, "words")


@pytest.mark.parametrize(
    ("d", "n_mc", "sampler"),
    [(3000, 100, "plain"), (50_000, 100, "plain"), (50_000, 100, "antithetic"), (3, 7, "antithetic")],
)
def test_blocks_stay_within_their_budget_and_leave_nothing_out(d, n_mc, sampler):
    from unseen.nets.estimates.kernels import CPU_BLOCK, KernelPoints

    points, seen = KernelPoints(n_mc, sampler, 0), np.zeros(9, int)
    for rows, z in points.blocks(9, d, torch.device("cpu"), torch.float32):
        assert z.numel() <= CPU_BLOCK
        seen[rows] += z.shape[1] * z.shape[2]
    assert set(seen) == {points.per_kernel}


@pytest.mark.parametrize("average", ["points", "class"])
def test_copies_are_judged_on_the_rows_left_out_and_sized_by_their_own(average):
    from unseen.nets.estimates.calibration import trials_of_modules
    from unseen.nets.estimates.kernel_sizes import spherical_sizes
    from unseen.nets.estimates.problem import problem_of
    from unseen.nets.modules.logits import logit_function

    X, y = sample(n=40)
    torch.manual_seed(0)
    copies = [nn.Linear(5, 2).double() for _ in range(2)]
    splits = [(np.arange(9, 40), np.arange(9)), (np.arange(33), np.arange(33, 40))]  # uneven classes are left out
    options = EstimateOptions(repeats=2, n_mc=4, average=average)
    view, data = logit_function(copies[0], X)
    trials = trials_of_modules(problem_of(view, data, y, options), copies, splits, "spherical", options, 0)
    labels = np.asarray(y)
    for copy, (train, test), error, kernels in zip(copies, splits, trials.errors, trials.kernels):
        with torch.no_grad():
            decided = copy(data[test]).argmax(1).numpy()
        wrong = decided != labels[test]
        by_class = np.mean([wrong[labels[test] == c].mean() for c in (0, 1)])
        assert error == pytest.approx(wrong.mean() if average == "points" else by_class)
        assert wrong.mean() != pytest.approx(by_class)
        own = spherical_sizes(data[train], torch.as_tensor(labels[train]), 2)
        assert torch.allclose(kernels.sizes, own)


def test_the_default_is_that_of_the_command():
    """Nearest to the truth with what was given: spherical kernels, or copies if it is said how to train them."""
    torch.manual_seed(0)
    y = np.arange(40) % 2
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32) + y[:, None]
    net = nn.Linear(3, 2)
    assert nets.estimate(net, X, y).value == nets.estimate(net, X, y, method="bolster").value
    training = {"epochs": 2, "lr": 0.1}
    made = nets.estimate(net, X, y, training=training, repeats=2, n_mc=5, random_state=0)
    assert made.method == "copies"


@pytest.mark.parametrize("average", ["points", "class"])
def test_copies_are_the_mean_of_their_errors_on_the_rows_they_left_out(average, monkeypatch):
    """Three copies with known mistakes: the estimate is the mean of their errors, shared out among the rows they judged."""
    from unseen.nets.estimates import methods

    torch.manual_seed(0)
    y = np.repeat([0, 1], [26, 14])
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32) + y[:, None]
    net, seen = nn.Linear(3, 2), []
    train_trials = methods.train_trials

    def watched(*arguments):
        seen.append(train_trials(*arguments))
        return seen[-1]

    monkeypatch.setattr(methods, "train_trials", watched)
    given = {"repeats": 3, "average": average, "random_state": 0, "training": {"epochs": 3, "lr": 0.1}}
    e = nets.estimate(net, X, y, method="copies", **given)
    (trials,) = seen
    errors, parts = [], np.zeros(40)
    for (logits, codes), rows in zip(trials.held_out, trials.left_out):
        wrong = (logits.argmax(1) != codes).numpy().astype(float)
        assert np.array_equal(codes.numpy(), y[rows])
        own = [wrong.mean()] if average == "points" else [wrong[y[rows] == c].mean() for c in np.unique(y[rows])]
        errors.append(np.mean(own))
        parts[rows] += 1
    assert len(rows) == 8
    assert e.value == pytest.approx(np.mean(errors))
    assert e.n_fits == 3
    weights = np.full(40, 1 / 40) if average == "points" else np.where(y == 0, 1 / 52, 1 / 28)
    assert weights @ e.contributions == pytest.approx(e.value)
    assert np.all(e.contributions[parts == 0] == 0)
    assert e.temperature.n_copies == 3
    assert (e.interval is None) is (average == "class")
    if e.interval is not None:
        assert e.value in e.interval
    assert "N022" in {one.code for one in nets.estimate(net, X, y, method="copies", repeats=1, random_state=0).notes}
