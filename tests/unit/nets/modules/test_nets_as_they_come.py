"""Nets, weights and pictures as users have them: softmax ends, modules that insist on float32, checkpoints, damaged files, 16 bits."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from sklearn.base import clone
from torch import nn

import unseen
import unseen.nets as nets
from unseen.core.errors import FitError, InputError, KindError, UnseenError

RNG = np.random.default_rng(0)
CODES = np.arange(90) % 3
X = RNG.normal(size=(90, 4)) + 1.5 * CODES[:, None]


class Ending(nn.Module):
    """A net as skorch's guide writes it: class probabilities at the end."""

    def __init__(self, n_features=4, n_classes=3):
        super().__init__()
        self.layer = nn.Linear(n_features, n_classes)
        self.end = nn.Softmax(dim=-1)

    def forward(self, x):
        return self.end(self.layer(x))


class Bare(Ending):
    def forward(self, x):
        return self.layer(x)


class Insisting(nn.Module):
    """The softmax is in the code, not among the layers."""

    def __init__(self, n_features=4, n_classes=3):
        super().__init__()
        self.layer = nn.Linear(n_features, n_classes)

    def forward(self, x):
        return torch.softmax(self.layer(x), 1)


def test_a_softmax_at_the_end_trains_as_the_net_without_it(tmp_path):
    options = {"seeds": [0, 1], "epochs": 8, "lr": 0.1, "device": "cpu", "dtype": "float64"}
    ended, bare = (nets.fit_many(kind, X, CODES, None, **options) for kind in (Ending, Bare))
    assert torch.equal(ended.logits(X), bare.logits(X))
    net = nets.Classifier(Ending, epochs=30, lr=0.1, random_state=0, device="cpu").fit(X, CODES)
    weight, bias = (net.module_.state_dict()[f"layer.{name}"].double() for name in ("weight", "bias"))
    by_hand = torch.softmax(torch.as_tensor(X) @ weight.T + bias, 1)
    assert np.allclose(net.predict_proba(X), by_hand.numpy())
    net.save(tmp_path / "net.safetensors")
    again = nets.Classifier.load(tmp_path / "net.safetensors", module=Ending)
    assert np.array_equal(again.predict_proba(X), net.predict_proba(X))


def test_probabilities_that_cannot_be_undone_are_refused():
    with pytest.raises(InputError, match="leave out the softmax"):
        nets.fit_many(Insisting, X, CODES, seeds=[0], device="cpu")
    for sampler in ("sghmc", "laplace", "mc-dropout"):
        with pytest.raises(InputError, match="returns probabilities"):
            nets.posterior(Insisting(), X, CODES, sampler=sampler)


class Single(nn.Module):
    """Casts to float32 and keeps a plain tensor, as much code in the wild does."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.layer = nn.Linear(n_features, n_classes)
        self.mix = torch.eye(n_features)

    def forward(self, x):
        return self.layer(x.float() @ self.mix)


def test_a_module_that_insists_on_float32_predicts():
    net = nets.Classifier(Single, epochs=40, lr=0.1, random_state=0, device="cpu").fit(X, CODES)
    with torch.no_grad():
        own = net.module_(torch.as_tensor(X, dtype=torch.float32)).softmax(1).numpy()
    assert np.allclose(net.predict_proba(X), own, atol=1e-6)
    assert net.score(X, CODES) > 0.7
    assert net.score(X, CODES, sample_weight=(net.predict(X) == CODES).astype(float)) == 1.0


def test_a_net_trained_elsewhere_becomes_a_classifier():
    labels = np.array(["ash", "birch", "cedar"])
    trained = nets.fit_many(nets.make_mlp, X, CODES, seeds=[0], epochs=40, lr=0.1, device="cpu").module(0)
    net = nets.Classifier.from_module(trained, X, classes=labels, epochs=3, lr=0.1, device="cpu")
    with torch.no_grad():
        decided = trained(torch.as_tensor(X, dtype=torch.float32)).argmax(1).numpy()
    assert (net.predict(X) == labels[decided]).all()
    assert unseen.nets.estimate(net, X, labels[CODES], method="resub").value == pytest.approx((decided != CODES).mean())
    assert clone(net).fit(X, labels[CODES]).n_epochs_ == 3  # trained anew, from fresh weights
    for wrong in (["a", "b"], ["a", "a", "b"]):
        with pytest.raises(InputError, match="3 different labels"):
            nets.Classifier.from_module(trained, X, classes=wrong)
    with pytest.raises(KindError, match=r"trained torch\.nn\.Module"):
        nets.Classifier.from_module("net", X)
    with pytest.raises(InputError, match=r"one output; a classifier needs a logit per class"):
        nets.Classifier.from_module(torch.nn.Linear(X.shape[1], 1), X)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda state: {"state_dict": state},
        lambda state: {"epoch": 3, "model_state_dict": state, "optimizer_state_dict": {}},
        lambda state: {f"module.{k}": v for k, v in state.items()},
        lambda state: {f"_orig_mod.{k}": v for k, v in state.items()},
    ],
    ids=["lightning", "tutorial", "DataParallel", "compiled"],
)
def test_checkpoints_are_read(tmp_path, wrap):
    net = nets.make_mlp(4, 3)
    torch.save(wrap(net.state_dict()), tmp_path / "a.pt")
    again = nets.load_weights(nets.make_mlp(4, 3), tmp_path / "a.pt")
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters()))


def test_a_prefix_of_some_weights_only_is_no_prefix(tmp_path):
    state = nets.make_mlp(4, 3).state_dict()
    torch.save(
        {"a.0.weight": state["0.weight"], **{k: v for k, v in state.items() if k != "0.weight"}}, tmp_path / "a.pt"
    )
    with pytest.raises(InputError, match="lack"):
        nets.load_weights(nets.make_mlp(4, 3), tmp_path / "a.pt")


def safetensors(path, header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def test_damaged_files_of_weights_are_named(tmp_path):
    net = nets.Classifier(epochs=1, random_state=0, device="cpu").fit(X, CODES)
    net.save(tmp_path / "good.safetensors")
    raw = (tmp_path / "good.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header, body = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    told = json.loads(header["__metadata__"]["unseen"])

    def with_header(new):
        text = new if isinstance(new, str) else json.dumps(new)
        return {**header, "__metadata__": {"unseen": text}}

    wrong = {
        "damaged": with_header("{no json"),
        "lacks architecture": with_header({k: v for k, v in told.items() if k != "architecture"}),
        "unexpected keyword": with_header({**told, "params": {**told["params"], "nonsense": 1}}),
        "not written by": with_header([1]),
        "no readable safetensors": [1, 2],
        "weights of kind 'F4'": {**header, "0.weight": {**header["0.weight"], "dtype": "F4"}},
    }
    for words, given in wrong.items():
        with pytest.raises(InputError, match=words):
            nets.Classifier.load(safetensors(tmp_path / "bad.safetensors", given, body))
    with pytest.raises(InputError, match="no readable safetensors"):
        nets.load_weights(nets.make_mlp(4, 3), safetensors(tmp_path / "list.safetensors", [1, 2]))
    with pytest.raises(InputError, match="there is no file"):
        nets.Classifier.load(tmp_path / "absent.safetensors")


def test_sixteen_bits_of_grey_are_kept(tmp_path):
    image = pytest.importorskip("PIL.Image")
    grey = (np.arange(64).reshape(8, 8) * 1040).astype(np.uint16)  # 0 to 65,520 of 65,535
    for name in "ab":
        (tmp_path / name).mkdir()
        image.fromarray(grey).save(tmp_path / name / "0.png")
    e = nets.read_examples(tmp_path)
    assert e.X.shape == (2, 1, 8, 8)
    assert np.abs(e.X[0, 0] - grey / 65535).max() <= 1 / 255
    assert len(np.unique(e.X)) == 64
    assert np.array_equal(nets.read_examples(tmp_path, channels=3).X[:, 2], e.X[:, 0])
    full = image.fromarray(np.full((2, 2), 65535, np.uint16))
    (tmp_path / "white").mkdir()
    (tmp_path / "white" / "c").mkdir()
    full.save(tmp_path / "white" / "c" / "0.png")
    assert nets.read_examples(tmp_path / "white").X.min() == 1.0
    image.fromarray(np.zeros((8, 8), np.float32)).save(tmp_path / "b" / "1.tif")
    with pytest.raises(InputError, match="floats of unknown range"):
        nets.read_examples(tmp_path)


def test_a_dataset_of_pictures_comes_channels_first():
    image = pytest.importorskip("PIL.Image")
    colour = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)
    e = nets.read_examples([(image.fromarray(colour), "cat"), (image.fromarray(colour), "dog")])
    assert np.allclose(e.X[0], colour.transpose(2, 0, 1) / 255)
    assert nets.read_examples([(image.fromarray(colour[..., 0]), k) for k in range(2)]).X.shape == (2, 1, 5, 6)


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ([(np.zeros(3), np.eye(2)[0])] * 3, {}, "label of item 0"),
        ([(np.zeros(3), None)] * 3, {}, "label of item 0"),
        ((np.zeros((3, 2)), np.array(["a", None, "b"], dtype=object)), {}, "one label is None"),
        ({"X": np.zeros((3, 2)), "y": [0, 1, 0]}, {}, "source is a dict"),
        ((np.zeros((3, 2)), [0, 1, 0]), {"limit": 0}, "limit is 0"),
        ((np.zeros((3, 2)), [0, 1, 0]), {"limit": -1}, "limit is -1"),
        ((np.zeros((3, 2)), [0, 1, 0]), {"limit": "2"}, "limit is '2'"),
    ],
)
def test_sources_that_are_none(source, options, words):
    with pytest.raises(UnseenError, match=words):
        nets.read_examples(source, **options)


def test_a_file_that_is_no_archive_is_not_called_a_pickle(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("hello")
    with pytest.raises(InputError, match="is no NPZ file"):
        nets.read_examples(file)


class Greedy(nn.Linear):
    """Refuses more than eight rows at a time, in the words of torch's allocator on a CPU."""

    most = 8

    def forward(self, x):
        if len(x) > self.most:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: tried")
        return super().forward(x)


@pytest.mark.parametrize("batch_size", [None, 20])
@pytest.mark.parametrize("sampler", ["sghmc", "sgld"])
def test_chains_in_pieces_are_chains_at_once_and_it_is_said(sampler, batch_size):
    torch.manual_seed(0)
    greedy, plain = Greedy(4, 3).double(), nn.Linear(4, 3).double()
    plain.load_state_dict(greedy.state_dict())
    options = {
        "sampler": sampler,
        "n_samples": 8,
        "burn_in": 20,
        "thin": 5,
        "batch_size": batch_size,
        "random_state": 0,
    }
    pieces, whole = (nets.posterior(net, X, CODES, **options) for net in (greedy, plain))
    assert torch.allclose(pieces.logits(X), whole.logits(X), atol=1e-9)
    assert "N021" in [n.code for n in pieces.notes]
    assert "N021" not in [n.code for n in whole.notes]


def test_memory_that_one_row_exceeds_is_told(monkeypatch):
    monkeypatch.setattr(Greedy, "most", 0)
    with pytest.raises(FitError, match="one example at a time"):
        nets.estimate(Greedy(4, 3), X, CODES)
    monkeypatch.setattr(Greedy, "most", 8)
    trained = nets.fit_many(nn.Linear(4, 3), X, CODES, seeds=[0], epochs=20, lr=0.1, device="cpu").module(0)
    greedy = Greedy(4, 3)
    greedy.load_state_dict(trained.state_dict())  # weights that fit: random ones may be told that they do not
    e = nets.estimate(greedy, X, CODES, n_mc=5)
    assert [n.code for n in e.notes] == ["N021"]


class Moody(nn.Linear):
    calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > 2:
            raise KeyError("boom")
        return super().forward(x)


def test_code_of_the_net_that_fails_later_is_told():
    with pytest.raises(InputError, match=r"KeyError: .boom."):
        nets.estimate(Moody(4, 3), X, CODES)


def test_a_classifier_brings_its_shape_and_training_to_the_samplers():
    images = RNG.normal(size=(30, 144)) + CODES[:30, None]
    net = nets.Classifier(nets.make_lenet5, input_shape=(1, 12, 12), epochs=1, device="cpu", random_state=0)
    net.fit(images, CODES[:30])
    for sampler in ("laplace", "ensemble"):
        p = nets.posterior(net, images, CODES[:30], sampler=sampler, n_samples=3, random_state=0)
        e = nets.estimate(net, images, CODES[:30], method="bayesian", posterior=p)
        assert 0 < e.value < 1
    e = nets.estimate(
        net, images, CODES[:30], method="posterior", posterior="temperature", validation=(images, CODES[:30])
    )
    assert e.measure.startswith("softmax at temperature")


def test_what_cannot_be_batched_is_said():
    class Odd(nn.Module):
        def __init__(self, n_features, n_classes):
            super().__init__()
            self.layer = nn.Linear(n_features, n_classes)

        def forward(self, x):
            return self.layer(x) * (1.0 if x.sum().item() > -1e9 else 2.0)

    fits = nets.fit_many(Odd, X, CODES, None, seeds=[0, 1], epochs=2, device="cpu")
    assert fits.how.startswith("one by one: ")
    assert any("one by one" in note for note in fits.notes)


def test_a_copy_or_member_that_diverges_is_named_and_not_used():
    training = {"epochs": 4, "stop": "none", "lr": [0.01, 0.01, 1e30]}
    net = nets.make_mlp(4, 3)
    with pytest.raises(FitError, match="copy of the net number 2 of 3 failed: the loss became NaN"):
        nets.estimate(net, X, CODES, method="calibrated-bolster", repeats=3, training=training, random_state=0)
    with pytest.raises(FitError, match="member of the ensemble number 2 of 3 failed"):
        nets.posterior(net, X, CODES, sampler="ensemble", n_samples=3, training=training, random_state=0)


@pytest.mark.filterwarnings("error")
def test_arrays_that_must_not_be_written_to_are_taken_in_silence():
    frozen = X.astype(np.float32)
    frozen.flags.writeable = False
    net = nets.Classifier(epochs=2, random_state=0, device="cpu").fit(frozen, CODES)
    net.predict(frozen)
    nets.estimate(net.module_, frozen, CODES, method="bolster", n_mc=4)
    nets.fit_many(nets.make_mlp, frozen, CODES, seeds=[0], epochs=1, device="cpu").logits(frozen)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    net = nets.Classifier(epochs=1, random_state=0, device="cpu").fit(X, CODES)
    with pytest.raises(InputError, match=r"cannot write .*No such file"):
        net.save(tmp_path / "absent" / "net.safetensors")
    with pytest.raises(InputError, match=r"one class only \(0\)"):
        nets.Classifier(device="cpu").fit(X, np.zeros(90, int))
