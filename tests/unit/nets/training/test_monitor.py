"""Training progress of torch loops: the same numbers as for scikit-learn's perceptron, records that survive a crash."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn

from unseen.core.errors import InputError, KindError
from unseen.models.progress import TrainingProgress
from unseen.nets import Monitor, read_progress
from unseen.nets.files.progress import NAMES, DamagedRecord, runs_in


def parts(n=80, seed=0, c=3):
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % c
    X = torch.randn(n, 4, generator=generator)
    X[:, 0] += 2 * y
    return X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :]


def trained(net, X, y, watch, epochs, lr=0.5):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(X), y)
        loss.backward()
        optimizer.step()
        watch(loss=loss.item())
        if watch.stop:
            return


def test_numbers_by_hand(tmp_path):
    X, y, Xm, ym = parts()
    torch.manual_seed(0)
    net = nn.Linear(4, 3)
    watch = Monitor(net, X, y, Xm, ym, path=tmp_path / "run.jsonl")
    trained(net, X, y, watch, 3)
    p = net(Xm).softmax(1).detach().double().numpy()
    hot = np.eye(3)[ym.numpy()]
    error = np.square(hot - p).mean()
    w = np.concatenate([q.detach().double().numpy().ravel() for q in net.parameters()])
    last = watch.lines[-1]
    assert last["monitor_error"] == pytest.approx(error, rel=1e-6)
    assert last["monitor_p"] == pytest.approx(1 - error / hot.var(axis=0).mean(), rel=1e-6)
    assert last["monitor_wrong"] == pytest.approx((p.argmax(1) != ym.numpy()).mean())
    assert last["length"] == pytest.approx(np.linalg.norm(w), rel=1e-6)
    assert np.cos(last["angle"]) == pytest.approx(w.sum() / np.sqrt(len(w)) / np.linalg.norm(w), rel=1e-6)
    assert last["variance"] == pytest.approx(np.sin(last["angle"]) ** 2 / len(w), rel=1e-6)
    assert last["rate"] == pytest.approx(abs(last["angle"] - watch.lines[-2]["angle"]))
    assert isinstance(watch.progress, TrainingProgress)
    stored = read_progress(tmp_path / "run.jsonl")
    for name in ("train_error", "monitor_p", "angle", "rate"):
        np.testing.assert_allclose(getattr(stored, name), getattr(watch.progress, name))
    assert stored.target_variance == pytest.approx(np.eye(3)[y.numpy()].var(axis=0).mean())


def test_the_same_as_the_monitor_of_scikit_learn_models():
    from sklearn.neural_network import MLPClassifier

    from unseen.models.progress import monitor

    X, y, Xm, ym = (t.numpy() for t in parts(c=2))
    model = MLPClassifier(
        (5,), activation="tanh", solver="sgd", learning_rate_init=0.1, batch_size=40, alpha=0, random_state=0
    )
    theirs = monitor(model, X, y, Xm, ym, epochs=2)
    fitted = MLPClassifier(**model.get_params())
    for _ in range(2):
        fitted.partial_fit(X, y, classes=[0, 1])
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1)).double()
    with torch.no_grad():
        for layer, w, b in zip((net[0], net[2]), fitted.coefs_, fitted.intercepts_):
            layer.weight.copy_(torch.as_tensor(w.T))
            layer.bias.copy_(torch.as_tensor(b))
    line = Monitor(net, X, y, Xm, ym)()
    assert line["train_error"] == pytest.approx(theirs.train_error[-1], rel=1e-6)
    assert line["monitor_p"] == pytest.approx(theirs.monitor_p[-1], rel=1e-6)
    assert line["angle"] == pytest.approx(theirs.angle[-1], rel=1e-6)
    assert line["length"] == pytest.approx(theirs.length[-1], rel=1e-6)


def test_it_stops_and_restores_the_best_epoch():
    X, y, Xm, ym = parts(n=24, seed=3)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 3))
    watch = Monitor(net, X, torch.randperm(12) % 3, Xm, ym, patience=5)
    trained(net, X, torch.randperm(12) % 3, watch, 300)
    errors = watch.progress.monitor_error
    assert watch.stop
    assert len(errors) == watch.best_epoch + 5
    assert watch.restore() == int(np.argmin(errors)) + 1 == watch.progress.best
    again = Monitor(net, X, y, Xm, ym)()
    assert again["monitor_error"] == pytest.approx(errors.min(), rel=1e-6)


def test_looking_changes_nothing():
    X, y, Xm, ym = parts()
    net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 3)).train()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    watch = Monitor(net, X, y, Xm, ym)
    one, two = watch(), watch()
    assert one["train_error"] == two["train_error"]
    assert net.training
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())


def test_a_crash_costs_at_most_the_line_being_written(tmp_path):
    X, y, Xm, ym = parts()
    torch.manual_seed(0)
    net, file = nn.Linear(4, 3), tmp_path / "run.jsonl"
    watch = Monitor(net, X, y, Xm, ym, path=file)
    trained(net, X, y, watch, 3)
    with file.open("a") as stream:
        stream.write('{"epoch": 4, "train_er')  # the machine stopped here
    assert len(read_progress(file).train_error) == 3
    with pytest.raises(InputError, match="resume=True"):
        Monitor(net, X, y, Xm, ym, path=file)
    again = Monitor(net, X, y, Xm, ym, path=file, resume=True)
    line = again()
    assert line["epoch"] == 4
    assert line["rate"] == pytest.approx(abs(line["angle"] - watch.lines[-1]["angle"]))
    again.close("patience")
    assert [json.loads(text)["epoch"] for text in file.read_text().splitlines()[1:-1]] == [1, 2, 3, 4]
    assert runs_in(tmp_path)[0][0]["state"] == "patience"
    with pytest.raises(InputError, match="weights"):
        Monitor(nn.Linear(4, 4), X, y, Xm, ym, path=file, resume=True)


def test_numbers_as_targets():
    X, _, Xm, _ = parts()
    net = nn.Linear(4, 1)
    line = Monitor(net, X, X[:, 0], Xm, Xm[:, 0])()
    assert line["monitor_error"] == pytest.approx(float((net(Xm)[:, 0] - Xm[:, 0]).square().mean().detach()), rel=1e-5)
    assert np.isnan(line["monitor_wrong"])
    whole = Monitor(net, X, torch.arange(40.0), Xm, torch.arange(40.0), task="numbers")()
    assert whole["train_error"] > 100


def test_rows_of_a_folder_leave_other_files_alone(tmp_path):
    X, y, Xm, ym = parts()
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "deep").mkdir()
    net = nn.Linear(4, 3)
    watch = Monitor(net, X, y, Xm, ym, path=tmp_path / "deep" / "a.jsonl")
    assert runs_in(tmp_path)[0][0]["epoch"] == 0
    trained(net, X, y, watch, 2)
    rows, damaged = runs_in(tmp_path)
    assert damaged == []
    assert [row["run"] for row in rows] == ["deep/a.jsonl"]
    assert rows[0]["epoch"] == 2
    assert rows[0]["best_error"] == pytest.approx(watch.progress.monitor_error.min())
    with pytest.raises(InputError, match="no record"):
        runs_in(tmp_path / "other.jsonl")
    with pytest.raises(InputError, match="no file"):
        runs_in(tmp_path / "none")


HEAD = b'{"kind": "unseen training progress 1", "parameters": 15}\n'
LINE = json.dumps({"epoch": 1, **dict.fromkeys(NAMES, 0.5)})
DAMAGED = {
    "not UTF-8": (HEAD + b"\xff\n", "byte 58 is no UTF-8 text"),
    "head cut": (b'{"kind": "unseen train\n', "line 1 is no JSON"),
    "line cut": (HEAD + b"\n" + LINE[:9].encode() + b"\n", "line 3 is no JSON"),
    "a number": (HEAD + LINE.encode() + b"\n3\n", "line 3 is no record of an epoch"),
    "nested too deeply": (HEAD + b"[" * 100_000 + b"\n", "line 2 is no JSON (RecursionError)"),
    "text for an error": (
        HEAD + LINE.replace('r": 0.5', 'r": "x"', 1).encode() + b"\n",
        "line 2 holds no number as train_error",
    ),
    "columns lost": (HEAD + b'{"epoch": null, "train_error": 1}\n', "line 2 holds no number as epoch, monitor_error, "),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_record_is_told_from_a_file_that_is_none(case, tmp_path):
    content, words = DAMAGED[case]
    (tmp_path / "other.jsonl").write_text('{"a": 1}\nnot JSON\n')
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "run.jsonl").write_bytes(content)
    rows, (sentence,) = runs_in(tmp_path)
    assert rows == []
    assert words in sentence
    assert "run.jsonl" in sentence
    with pytest.raises(DamagedRecord, match=r"run\.jsonl"):
        read_progress(tmp_path / "run.jsonl")
    (tmp_path / "good.jsonl").write_bytes(HEAD + LINE.encode() + b"\n")
    rows, damaged = runs_in(tmp_path)
    assert [row["run"] for row in rows] == ["good.jsonl"]
    assert damaged == [sentence]


def test_misuse():
    X, y, Xm, ym = parts()
    with pytest.raises(KindError):
        Monitor("net", X, y, Xm, ym)
    with pytest.raises(InputError, match="patience"):
        Monitor(nn.Linear(4, 3), X, y, Xm, ym, patience=0)
    with pytest.raises(InputError, match="class indices"):
        Monitor(nn.Linear(4, 2), X, y, Xm, ym)
    with pytest.raises(InputError, match="nothing is recorded"):
        _ = Monitor(nn.Linear(4, 3), X, y, Xm, ym).progress


def test_p_of_the_monitored_part_is_measured_by_its_own_targets():
    X, y, Xm, ym = parts()
    rare = torch.cat([ym[ym == 0], ym[ym == 1][:2], ym[ym == 2][:1]])
    rows = torch.cat([Xm[ym == 0], Xm[ym == 1][:2], Xm[ym == 2][:1]])
    torch.manual_seed(0)
    net = nn.Linear(4, 3)
    line = Monitor(net, X, y, rows, rare)()
    error = np.square(np.eye(3)[rare.numpy()] - net(rows).softmax(1).detach().double().numpy()).mean()
    spread, other = (np.eye(3)[part.numpy()].var(axis=0).mean() for part in (rare, y))
    assert abs(spread - other) > 0.05
    assert line["monitor_p"] == pytest.approx(1 - error / spread, rel=1e-6)


def test_training_that_diverged_keeps_its_best_epoch():
    X, y, Xm, ym = parts()
    torch.manual_seed(0)
    net = nn.Linear(4, 3)
    watch = Monitor(net, X, y, Xm, ym, patience=2)
    trained(net, X, y, watch, 2)
    with torch.no_grad():
        net.weight.fill_(torch.nan)
    watch()
    watch()
    assert watch.stop
    assert watch.progress.best == watch.best_epoch == 2
    assert "at epoch 2" in str(watch.progress)
    assert watch.restore() == 2
    assert torch.isfinite(net.weight).all()


def test_the_training_of_a_classifier_is_followed_epoch_by_epoch(tmp_path):
    from functools import partial

    from unseen.core.errors import InputError, KindError
    from unseen.nets import Classifier, fit_many, make_mlp

    X, y, Xm, ym = parts()
    make = partial(make_mlp, width=8, dropout=0.2)
    watch = Monitor(make(4, 3), X, y, Xm, ym, path=tmp_path / "run.jsonl")
    options = {"epochs": 12, "lr": 0.1, "stop": "none", "device": "cpu", "random_state": 0}
    net = Classifier(make, after_epoch=watch.follow, **options).fit(X, y)
    assert len(read_progress(tmp_path / "run.jsonl").angle) == net.n_epochs_ == 12
    last = Monitor(net.module_, X, y, Xm, ym)()
    for name in ("train_error", "monitor_error", "monitor_wrong", "angle", "length"):
        assert watch.lines[-1][name] == pytest.approx(last[name], rel=1e-6)
    assert watch.lines[0]["train_error"] > watch.lines[-1]["train_error"]
    plain = Classifier(make, **options).fit(X, y)  # looking changes nothing
    assert np.array_equal(plain.predict_proba(X), net.predict_proba(X))
    seen = []
    fits = fit_many(
        make,
        X,
        y,
        None,
        seeds=[0, 1, 2],
        epochs=4,
        lr=[0.1, 0.1, 1e30],
        stop="none",
        device="cpu",
        after_epoch=lambda epoch, running: seen.append((epoch, list(running))),
    )
    assert [epoch for epoch, _ in seen] == [1, 2, 3, 4]
    assert seen[0][1] == [0, 1, 2]
    assert seen[-1][1] == [0, 1]  # the third diverged
    assert fits.failed.tolist() == [False, False, True]
    with pytest.raises(InputError, match="another architecture"):
        fit_many(make_mlp, X, y, None, seeds=[0], epochs=1, device="cpu", after_epoch=watch.follow)
    with pytest.raises(KindError, match="after_epoch"):
        fit_many(make_mlp, X, y, None, seeds=[0], epochs=1, device="cpu", after_epoch=3)
