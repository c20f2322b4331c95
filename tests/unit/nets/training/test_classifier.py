"""Classifier: scikit-learn's own checks, labels, files, the engine's hook, and life without scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from sklearn.utils.estimator_checks import estimator_checks_generator
from torch import nn

import unseen
from unseen.core.errors import InputError, UnseenError
from unseen.nets import Classifier, load_weights, make_lenet5, make_mlp

SOURCE = Path(unseen.__file__).parents[1]


def sample(n=90, gap=1.5, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + gap * codes[:, None], np.array(["ash", "birch", "cedar"])[codes]


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    CHECKS = list(estimator_checks_generator(Classifier(epochs=60, lr=0.05, device="cpu", random_state=0)))


@pytest.mark.parametrize("pair", CHECKS, ids=lambda p: getattr(p[1], "func", p[1]).__name__)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_check(pair):
    estimator, check = pair
    if getattr(check, "func", check).__name__ == "check_sample_weight_equivalence_on_dense_data":
        # weights are copies of rows only where a step sees all rows: smaller batches are drawn by rows, as in every SGD
        estimator = Classifier(epochs=60, batch_size=200, stop="none", dtype="float64", device="cpu")
    check(estimator)


def test_labels_are_text_and_probabilities_follow_their_order():
    X, y = sample()
    net = Classifier(random_state=0, device="cpu").fit(X, y)
    assert net.classes_.tolist() == ["ash", "birch", "cedar"]
    assert net.score(X, y) > 0.85
    shares = net.predict_proba(X)
    assert np.allclose(shares.sum(1), 1)
    assert (net.classes_[shares.argmax(1)] == net.predict(X)).all()
    assert np.allclose(np.log(shares[:, 1] / shares[:, 0]), np.diff(net.decision_function(X)[:, :2])[:, 0])


def test_same_random_state_same_bits():
    X, y = sample()
    runs = [Classifier(epochs=5, random_state=s, device="cpu").fit(X, y).predict_proba(X) for s in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.allclose(runs[0], runs[2])
    drawn = [
        Classifier(epochs=5, random_state=np.random.default_rng(3), device="cpu").fit(X, y).predict_proba(X)
        for _ in "ab"
    ]
    assert np.array_equal(*drawn)


def test_float32_and_float64_rows_give_one_net():
    X, y = sample()
    X = X.astype(np.float32)
    nets = [Classifier(epochs=5, random_state=0, device="cpu").fit(kind(X), y) for kind in (np.float32, np.float64)]
    assert np.array_equal(nets[0].predict_proba(X), nets[1].predict_proba(X.astype(np.float64)))


def test_images_flat_or_not():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1, 12, 12)) + y[:, None, None, None]
    options = {"epochs": 3, "random_state": 0, "device": "cpu"}
    whole = Classifier(make_lenet5, **options).fit(X, y).predict_proba(X)
    flat = Classifier(make_lenet5, input_shape=(1, 12, 12), **options).fit(X.reshape(40, -1), y)
    assert np.array_equal(flat.predict_proba(X.reshape(40, -1)), whole)
    guessed = Classifier(make_lenet5, **options).fit(X.reshape(40, -1), y)
    assert np.array_equal(guessed.predict_proba(X.reshape(40, -1)), whole)
    with pytest.raises(InputError, match="input_shape \\(1, 11, 11\\) holds 121 numbers"):
        Classifier(make_lenet5, input_shape=(1, 11, 11), **options).fit(X, y)


def test_cross_validation_is_one_batched_training(monkeypatch):
    from unseen.nets.training import classifier

    X, y = sample()
    calls, real = [], classifier.fit_many

    def counted(*args, **options):
        fits = real(*args, **options)
        calls.append(len(fits))
        return fits

    monkeypatch.setattr(classifier, "fit_many", counted)
    net = Classifier(epochs=15, device="cpu", dtype="float64")
    together = unseen.run(net, X, y, design="kfold", random_state=0, scores=True)
    assert calls == [10]
    monkeypatch.setattr(Classifier, "fit_many", None)
    alone = unseen.run(net, X, y, design="kfold", random_state=0, scores=True)
    assert calls == [10] + [1] * 10
    assert np.array_equal(together.test.value, alone.test.value)
    assert np.allclose(together.test.score, alone.test.score, atol=1e-9)


def test_the_hook_steps_aside_where_it_cannot_answer():
    X, y = sample(30)
    y = np.where(np.arange(30) == 0, "rare", y)
    table = unseen.run(Classifier(epochs=2, device="cpu"), X, y, design="loo", random_state=0)
    assert len(table.failures) == 0
    data = unseen.datasets.load("iris")
    assert 0 < unseen.assess(Classifier(epochs=5, device="cpu"), data, random_state=0, effort="quick").error < 0.7


def test_weights_of_classes_by_label():
    X, y = sample(gap=0.0)
    heavy = Classifier(epochs=10, class_weight={"birch": 1000.0}, random_state=0, device="cpu").fit(X, y)
    assert (heavy.predict(X) == "birch").all()
    with pytest.raises(InputError, match="'oak', which is no label"):
        Classifier(class_weight={"oak": 1.0}).fit(X, y)


@pytest.mark.parametrize("module", [None, partial(make_mlp, depth=2, width=7, dropout=0.1)], ids=["default", "partial"])
def test_saved_and_read_again(tmp_path, module):
    import pandas as pd
    from safetensors import safe_open

    X, y = sample()
    X = pd.DataFrame(X, columns=list("abcd"))
    net = Classifier(module, epochs=4, random_state=0, device="cpu").fit(X, y)
    net.save(tmp_path / "net.safetensors")
    again = Classifier.load(tmp_path / "net.safetensors")
    assert np.array_equal(again.predict_proba(X), net.predict_proba(X))
    assert again.predict(X).tolist() == net.predict(X).tolist()
    assert again.epochs == 4
    with safe_open(tmp_path / "net.safetensors", "pt") as file:
        assert sorted(file.keys()) == sorted(net.module_.state_dict())
    with pytest.raises(InputError, match="feature names should match"):
        again.predict(X[list("bacd")])


class Own(nn.Module):
    def __init__(self, n_features, n_classes):
        super().__init__()
        self.layer = nn.Linear(n_features, n_classes)

    def forward(self, x):
        return self.layer(x)


def test_a_file_never_names_code_to_run(tmp_path):
    X, y = sample()
    net = Classifier(Own, epochs=2, random_state=0, device="cpu").fit(X, y)
    net.save(tmp_path / "own.safetensors")
    with pytest.raises(InputError, match="your own architecture"):
        Classifier.load(tmp_path / "own.safetensors")
    again = Classifier.load(tmp_path / "own.safetensors", module=Own)
    assert np.array_equal(again.predict_proba(X), net.predict_proba(X))
    with pytest.raises(InputError, match="do not fit the module"):
        Classifier.load(tmp_path / "own.safetensors", module=make_mlp)


class Bomb:
    def __reduce__(self):
        return print, ("the payload ran",)


def test_pickled_payloads_are_refused_and_do_not_run(tmp_path, capsys):
    torch.save({"layer.weight": Bomb()}, tmp_path / "bomb.pt")
    torch.save(Own(2, 2), tmp_path / "module.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pt", "module.pt", "plain.pt"):
        with pytest.raises(InputError, match="pickles can run code"):
            load_weights(Own(2, 2), tmp_path / name)
    assert "payload" not in capsys.readouterr().out
    torch.save([torch.zeros(2)], tmp_path / "list.pt")
    with pytest.raises(InputError, match="state dictionary"):
        load_weights(Own(2, 2), tmp_path / "list.pt")
    (tmp_path / "broken.safetensors").write_bytes(b"\xff" * 30)
    with pytest.raises(InputError, match="no readable safetensors"):
        load_weights(Own(2, 2), tmp_path / "broken.safetensors")


def test_weights_that_do_not_fit_are_told(tmp_path):
    torch.save(Own(2, 3).state_dict(), tmp_path / "net.pt")
    with pytest.raises(InputError, match=r"'layer\.weight' has shape \(3, 2\) there and \(2, 2\)"):
        load_weights(Own(2, 2), tmp_path / "net.pt")
    with pytest.raises(InputError, match=r"lack '0\.bias'"):
        load_weights(make_mlp(2, 3), tmp_path / "net.pt")
    assert torch.equal(
        load_weights(Own(2, 3), tmp_path / "net.pt").layer.bias, torch.load(tmp_path / "net.pt")["layer.bias"]
    )


class LooksLikeLightning(nn.Module):
    """A module with the methods of a LightningModule; only `forward` may be used."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x)

    def training_step(self, batch, number):
        raise AssertionError("the loop is ours")

    configure_optimizers = training_step


class LooksLikeSkorch:
    """What a skorch net shows: `module`, `module__...` parameters, fit and predict_proba."""

    def __init__(self, module, module__hidden):
        self.module, self.hidden = module, module__hidden

    def get_params(self, deep=True):
        return {"module": self.module, "module__hidden": self.hidden}

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return self.classes_[np.zeros(len(X), int)]


class Hidden(nn.Module):
    def __init__(self, n_features, n_classes, hidden=2):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_features, hidden), nn.Tanh(), nn.Linear(hidden, n_classes))

    def forward(self, x):
        return self.layers(x)


def test_lightning_and_skorch_look_alikes_are_taken():
    X, y = sample()
    light = Classifier(LooksLikeLightning(), epochs=60, random_state=0, device="cpu").fit(X, y)
    assert type(light.module_).__name__ == "LooksLikeLightning"
    assert light.score(X, y) > 0.7
    net = Classifier(LooksLikeSkorch(Hidden, 5), epochs=10, random_state=0, device="cpu").fit(X, y)
    assert net.module_.layers[0].out_features == 5


ALONE = """
import sys
for name in ("scipy", "sklearn", "pandas", "joblib", "threadpoolctl", "narwhals", "matplotlib", "rich", "typer", "jinja2", "safetensors"):
    sys.modules[name] = None
import numpy as np, torch, unseen.nets as nets
rng = np.random.default_rng(0)
y = np.arange(60) % 2
X = rng.normal(size=(60, 3)) + 2 * y[:, None]
fits = nets.fit_many(nets.make_mlp, X, y, [range(40), range(20, 60)], seeds=0, epochs=5, device="cpu", progress=True)
net = nets.Classifier(epochs=20, random_state=0, device="cpu").fit(X, y)
net.save("net.safetensors")
again = nets.Classifier.load("net.safetensors")
assert np.array_equal(again.predict(X), net.predict(X))
try:
    nets.Classifier().predict(X)
except ValueError as error:
    assert "not fitted" in str(error)
print(fits.logits(X).shape, net.score(X, y) > 0.8)
"""


def test_numpy_and_torch_are_enough(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "torch.Size([2, 60, 2]) True"


def test_a_bar_without_rich_does_not_stop_training(monkeypatch):
    from unseen.engine import events

    monkeypatch.setattr(events, "PATIENCE", -1.0)
    monkeypatch.setitem(sys.modules, "rich", None)
    X, y = sample()
    assert Classifier(epochs=2, progress=True, device="cpu").fit(X, y).n_epochs_ == 2


def test_refusals():
    X, y = sample()
    with pytest.raises(UnseenError, match="one class only"):
        Classifier().fit(X, np.zeros(90, int))
    with pytest.raises(UnseenError, match="mixes text and numbers"):
        Classifier().fit(X, np.array(["a", 1, "b"] * 30, dtype=object))
    with pytest.raises(UnseenError, match="has no parameter 'epoch'"):
        Classifier().set_params(epoch=3)
    with pytest.raises(UnseenError, match="random_state"):
        Classifier(random_state="lucky").fit(X, y)
