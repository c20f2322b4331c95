"""Expected test errors by closed forms, time and interruption of a ranking, and the sentence that comes first."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

torch = pytest.importorskip("torch", reason="rankings of networks need torch")
from torch import nn

from unseen.core.errors import InputError, Paused
from unseen.core.rng import stream
from unseen.nets import Copy80, Net, build_measure, make_mlp, rank, sample_net
from unseen.nets.ranking.expected_error import (
    ErrorOrder,
    GapLevel,
    _transfer,
    correlation,
    expected_errors,
    gap_level,
    order_of_errors,
    stand_apart,
)
from unseen.nets.ranking.measuring import plan_effort, some_examples
from unseen.nets.ranking.ranking_record import NetRanking
from unseen.show.sections import Picture, Text


class Slope(nn.Module):
    """Two classes from one feature: wrong on `wrong` of the rows, with logits of a given size."""

    def __init__(self, size, at=0.0):
        super().__init__()
        self.layer = nn.Linear(1, 2)
        self.layer.weight.data = size * torch.tensor([[-1.0], [1.0]])
        self.layer.bias.data = size * torch.tensor([at, -at])

    def forward(self, x):
        return self.layer(x)


X = torch.linspace(-1, 1, 40)[:, None]
Y = (X[:, 0] > 0).long()


def order(score, train, level, measure="always-generalize", rows=1000, guessing=0.9):
    score = np.asarray(score, float)
    return order_of_errors(
        score, np.tile(score, (4, 1)), np.asarray(train, float), level, [measure], rows=rows, guessing=guessing
    )


def test_the_error_follows_the_score_as_on_the_zoos_and_not_the_training_error():
    score, train = np.array([0.0, 0.5, 1.0]), np.array([0.03, 0.0, 0.02])
    r, s = correlation(["always-generalize"]), _transfer()["spread"]
    found = order(score, train, 0.2)
    z = (score - 0.5) / math.sqrt(1 / 6)
    base = 0.05 / 3
    level = base + 0.2 * (1 - base / 0.9)
    np.testing.assert_allclose(found.errors, level * np.exp(r * s * z))
    np.testing.assert_allclose(found.simulated, np.tile(found.errors, (4, 1)))
    assert found.share_of_gap == pytest.approx(1 - base / level)
    assert not found.apart.any()
    assert correlation(["random-order"]) == 0.05  # says nothing: errors are all but equal
    assert correlation(["a measure of tomorrow"]) == 0.05


def test_a_network_with_a_high_training_error_leaves_the_others_as_they_are():
    score, train = np.array([0.0, 0.25, 0.5, 0.75, 1.0]), np.array([0.6, 0.01, 0.0, 0.02, 0.0])
    found, without = order(score, train, 0.1), order(score[1:], train[1:], 0.1)
    assert found.apart.tolist() == [True, False, False, False, False]
    base = 0.03 / 4  # of the four that fit: the fifth has no part in the level
    follow = correlation(["always-generalize"]) * _transfer()["spread"]
    z = (score[1:] - 0.625) / np.std(score[1:])
    expected = (base + 0.1 * (1 - base / 0.9)) * np.exp(follow * z)
    np.testing.assert_allclose(found.errors[1:], expected)
    np.testing.assert_allclose(without.errors, expected)
    assert found.errors[0] == pytest.approx(0.6 + 0.1 * (1 - 0.6 / 0.9))
    assert found.share_of_gap[0] == pytest.approx(1 - 0.6 / found.errors[0])


def test_at_most_a_third_stands_apart_and_only_by_more_than_sampling_explains():
    assert stand_apart(np.array([0.5, 0.0]), 500).tolist() == [True, False]
    # half fit badly: that is how networks fit here
    assert not stand_apart(np.array([0.3, 0.35, 0.32, 0.0, 0.0, 0.01]), 500).any()
    rng, counts = np.random.default_rng(0), []
    for n in (2, 3, 5, 9, 20):
        for _ in range(200):
            train = rng.beta(0.5, 2, n) * 0.8
            apart = stand_apart(train, 400, 0.9)
            counts.append(apart.sum())
            assert apart.sum() <= max(1, n // 3)
            assert not apart.any() or train[apart].min() > train[~apart].max()
    assert max(counts) == 6
    # alike but for sampling: one in a thousand may seem to fit worse
    rows, false = 200, 0
    for _ in range(1000):
        false += stand_apart(rng.binomial(rows, 0.05, 9) / rows, rows, 0.9).any()
    assert false <= 10
    lowest = 0.02 + 0.02 + 3 * math.sqrt(0.02 * 0.98 / 100)
    assert stand_apart(np.array([0.02, 0.0, lowest + 1e-6]), 100).tolist() == [False, False, True]
    assert stand_apart(np.array([0.02, 0.0, lowest - 1e-6]), 100).tolist() == [False, False, False]


def test_no_network_that_fits_like_most_is_expected_below_its_training_error_and_the_order_stays():
    score, train = [0.0, 0.25, 0.5, 0.75, 1.0], [0.5, 0.45, 0.4, 0.5, 0.0]
    found, same = order(score, train, 0.05), order(score, train, 0.9)
    assert not found.apart.any()
    assert found.errors[0] == pytest.approx(0.5)
    assert np.all(np.diff(found.errors) > 0)
    np.testing.assert_allclose(found.errors[1:3] / found.errors[0], same.errors[1:3] / same.errors[0])


def test_networks_that_stand_apart_come_below_the_others_by_training_error_in_every_draw():
    rng = np.random.default_rng(1)
    for _ in range(50):
        score, simulated = rng.random(9), rng.random((30, 9))
        train = np.append(rng.uniform(0, 0.03, 6), rng.uniform(0.1, 0.5, 3))
        found = order_of_errors(score, simulated, train, 0.01, ["vpm"], rows=2000, guessing=0.9)
        assert found.apart.tolist() == [False] * 6 + [True] * 3
        assert np.all(found.errors[6:] >= train[6:])
        assert found.errors[6:].min() > found.errors[:6].max()
        assert np.all(found.simulated[:, 6:].min(1) > found.simulated[:, :6].max(1))
        own = found.errors[6:] > (1 + 1e-8) * found.errors[:6].max()
        assert np.all(np.diff(found.errors[6:][own][np.argsort(train[6:][own])]) > 0)


def test_a_network_that_has_learned_next_to_nothing_comes_last():
    found = order([0.0, 0.5, 1.0], [0.85, 0.0, 0.0], 0.1)
    assert found.errors.argmax() == 0
    assert found.errors[0] == pytest.approx(0.85 + 0.1 * (1 - 0.85 / 0.9))
    nothing = order([0.0, 0.5, 1.0], [0.9, 0.9, 0.9], 0.1)
    np.testing.assert_allclose(nothing.errors, 0.9)
    assert nothing.apart.all()


def test_networks_that_the_draws_cannot_tell_apart_share_their_expected_error():
    """Two that change places at every other draw are alike, wherever the mean of the draws put them."""
    score = np.array([0.0, 0.5, 1.0])
    simulated = np.array([[0.0, 0.5, 1.0], [0.5, 0.0, 1.0]] * 50)
    found = order_of_errors(score, simulated, np.zeros(3), 0.1, ["vpm"], rows=100)
    assert found.errors[0] == found.errors[1] < found.errors[2]
    # the order is that of the values: where few wild draws would turn it round, the networks are level
    wild = np.array([[0.0, 0.5, 1.0]] * 3 + [[1.0, 0.0, 0.5]] * 2)  # mean places .4, .3 and .8
    found = order_of_errors(score, wild, np.zeros(3), 0.1, ["vpm"], rows=100)
    assert found.errors[0] == found.errors[1] < found.errors[2]
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(0)
    for _ in range(20):
        score, drawn = rng.permutation(8) / 7, rng.random((5, 8))
        found = order_of_errors(score, drawn, np.zeros(8), 0.1, ["always-generalize"], rows=100)
        along = correlation(["always-generalize"]) * _transfer()["spread"] / np.std(score)
        places = isotonic_regression(drawn.mean(0)[np.argsort(score)]).x
        np.testing.assert_allclose(np.sort(found.errors), 0.1 * np.exp(along * (places - 0.5)))


def test_checkpoints_of_a_real_run_are_not_judged_by_their_first_epochs(tmp_path):
    """A net after one epoch hardly changes its mind about any image; taking it for that would be a bad joke."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    shapes = np.stack(
        [np.tile([1.0, 1, 0, 0], (8, 2)), np.kron([[1, 0] * 2, [0, 1] * 2] * 2, np.ones((2, 2))), np.tri(8)]
    )
    X = torch.as_tensor(np.clip(0.35 + 0.3 * shapes[y] + 0.3 * rng.normal(size=(300, 8, 8)), 0, 1)[:, None]).float()
    labels, fits = torch.as_tensor(y), {}
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(216, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(9):
        fits[f"epoch-{epoch}"] = copy.deepcopy(net)
        for rows in torch.randperm(200).split(20):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(X[rows]), labels[rows]).backward()
            optimizer.step()
    wrong = {k: float((m(X[200:]).argmax(1) != labels[200:]).double().mean()) for k, m in fits.items()}
    found = rank(fits, X[:200], labels[:200], device="cpu")
    e = found.expected
    apart = [name for name, aside in zip(found.names, e.apart) if aside]
    assert "epoch-0" in apart
    assert found.names[-len(apart) :] == tuple(apart)
    assert wrong[found.best] <= min(wrong.values()) + 0.05
    assert all(error >= train for error, train in zip(e.error, e.train_error))
    left = rank({k: m for k, m in fits.items() if k not in apart}, X[:200], labels[:200], device="cpu")
    assert left.expected.error == pytest.approx(e.error[: -len(apart)], rel=0.05)  # places differ, the level does not
    text, rows = str(found), found.rows()
    assert text.index("do not fit their training data") < text.index(f" {apart[0]} ")
    assert text.index(found.names[len(fits) - len(apart) - 1]) < text.index("do not fit their training data")
    assert [row["apart"] for row in rows] == list(e.apart)
    found.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "training data as the others do" in page
    assert "does not fit its training data" in page


def test_intervals_and_probabilities_are_those_of_the_lognormal():
    r, s = correlation(["vpm"]), _transfer()["spread"]
    missed = s * math.sqrt(1 - r * r)
    train, errors, level = np.array([0.02, 0.02]), np.array([0.12, 0.13]), GapLevel(0.1, 0.5, "test")
    drawn = ErrorOrder(errors[::-1], np.tile(errors[::-1], (40_000, 1)), np.array([0.8, 0.8]), np.array([False, False]))
    e = expected_errors(
        train=train, found=drawn, order=np.array([1, 0]), level=level, measures=["vpm"], rng=stream(0, "t")
    )
    z = stats.norm.ppf(0.975)
    sure, level_only = np.random.default_rng(0).standard_normal((2, 400_000))
    for k in range(2):
        assert e.error[k] == pytest.approx(errors[k])
        assert e.gap[k] == pytest.approx(errors[k] - 0.02)
        low, high = (errors[k] * math.exp(sign * z * missed - missed**2 / 2) for sign in (-1, 1))
        assert (e.low[k], e.high[k]) == pytest.approx((low, high), abs=0.002)
        whole = errors[k] * np.exp(missed * sure - missed**2 / 2) * (0.2 + 0.8 * np.exp(0.5 * level_only))
        assert (e.lowest[k], e.highest[k]) == pytest.approx(tuple(np.quantile(whole, [0.025, 0.975])), rel=0.02)
    # what moves all alike does not help to tell them apart, and does not hinder
    expected = stats.norm.cdf((math.log(0.12) - math.log(0.13)) / (missed * math.sqrt(2)))
    assert e.probability_better == pytest.approx((0.5, expected), abs=0.01)


def test_a_ranking_holds_the_training_error_and_what_exceeds_it():
    nets = {"fits": Slope(1.0), "flat": Slope(0.2), "wrong": Slope(9.0, at=0.6)}
    found = rank(nets, X, Y, measures=["spectral-sum"], device="cpu", level=0.1)
    assert found.names == ("flat", "fits", "wrong")
    wrong = float(((X[:, 0] > 0.6).long() != Y).double().mean())
    assert found.expected.train_error == pytest.approx((0, 0, wrong))
    assert found.expected.error[2] == pytest.approx(wrong + found.expected.gap[2])
    assert min(found.expected.gap) >= -1e-12
    assert found.expected.source == "given"
    assert found.rows()[2]["expected_error"] == found.expected.error[2]
    with pytest.raises(InputError, match="a gap lies between 0 and 1"):
        rank(nets, X, Y, measures=["spectral-sum"], device="cpu", level=2.0)


def test_the_level_comes_from_copies_if_there_are_any():
    held = torch.arange(0, 40, 4)
    copy = Slope(1.0, at=0.25)
    wrong = ((X[:, 0] > 0.25).long() != Y).double()
    seen = torch.ones(40, dtype=torch.bool)
    seen[held] = False
    nets = {name: Net(Slope(k), X, Y, copy80=Copy80(copy, held)) for name, k in (("a", 1.0), ("b", 2.0))}
    level = gap_level(nets)
    assert level.gap == pytest.approx(max(0.05, float(wrong[held].mean() - wrong[seen].mean())))
    assert level.source == "copies trained on 80%"
    assert level.log_error == pytest.approx(math.sqrt(level.gap * (1 - level.gap) / 10) / level.gap)
    bare = {name: replace(net, copy80=None) for name, net in nets.items()}
    assert gap_level(bare).gap == _transfer()["level"]["typical"]
    assert gap_level(bare).source == "the typical gap of the zoos"


@pytest.mark.slow
@pytest.mark.sample
def test_the_transfer_is_what_the_study_makes_of_the_stored_zoos():
    import importlib
    import pathlib
    import sys

    root = pathlib.Path(__file__).resolve().parents[4]
    sys.path.insert(0, str(root))
    try:
        study = importlib.import_module("studies.gap_transfer")
        assert study.transfer(study.read_zoos()) == _transfer()
    finally:
        sys.path.remove(str(root))


def ranking(errors, better):
    nets = {name: Slope(1.0) for name in "abcdefgh"[: len(errors)]}
    found = rank(nets, X, Y, measures=["spectral-sum"], device="cpu", level=0.1)
    found = replace(found, names=tuple(nets))
    return replace(found, expected=replace(found.expected, error=tuple(errors), probability_better=tuple(better)))


@pytest.mark.parametrize(
    ("better", "words"),
    [
        ((0.5, 0.04, 0.01), "Take a."),
        ((0.5, 0.2, 0.01), "Take a; b is not distinguishable from it."),
        ((0.5, 0.3, 0.01, 0.06), "Take a; b and d are not distinguishable from it."),
        ((0.5, 0.3, 0.2), "Take a; none of the others is distinguishable from it."),
        ((0.5, 0.3, 0.2, 0.1, 0.1, 0.1, 0.0), "Take a; b, c, d and 2 more are not distinguishable from it."),
    ],
)
def test_the_sentence(better, words):
    found = ranking([0.1] * len(better), better)
    assert found.advice == words
    assert str(found).startswith(words + "\n")


def test_the_first_screen_of_the_report():
    nets = {
        "good.pt": sample_net("conv"),
        "other.pt": sample_net("conv", 1),
        "poor.pt": sample_net("conv", 0, epochs=1),
    }
    found = rank(nets, measures=["weighted-augment"], draws={"weighted-augment": 2}, device="cpu")
    from unseen.nets.sections import ranking_answer

    blocks = ranking_answer(found).blocks
    assert isinstance(blocks[0], Text)
    assert blocks[0].lead
    assert blocks[0].text.startswith(f"{found.advice} Its expected test error is ")
    assert "ranked by expected test error, which follows the measures" in blocks[1].text
    assert "One does not fit its training data as the others do" in blocks[1].text
    assert found.names[-1] == "poor.pt"
    pictures = [block for block in blocks if isinstance(block, Picture)]
    assert "Expected test error of each network" in pictures[0].alt
    assert len(pictures) == 2  # errors, and what augmentation does
    assert found.names[-1] == "poor.pt"


def test_a_kept_ranking_comes_back_with_its_expected_errors(tmp_path):
    from unseen.nets import from_store
    from unseen.store import open_store

    found = rank({"a": Slope(1.0), "b": Slope(2.0)}, X, Y, measures=["spectral-sum"], device="cpu")
    number = found.keep(tmp_path / "kept.db", "mine")
    with open_store(tmp_path / "kept.db") as store:
        again = from_store(store.record(number))
    assert isinstance(again, NetRanking)
    assert again.expected == found.expected
    assert again.advice == found.advice


def many(count):
    made = {}
    for k in range(count):
        torch.manual_seed(k)
        made[f"net{k}"] = make_mlp(4, 3)
    data = torch.randn(900, 4, generator=torch.Generator().manual_seed(0))
    return {name: Net(net, data, torch.arange(900) % 3) for name, net in made.items()}


def test_a_part_of_the_examples_is_the_same_for_all_and_balanced():
    nets = many(2)
    part = some_examples(nets, 60, seed=3)
    assert torch.bincount(part["net0"].y_train).tolist() == [20, 20, 20]
    assert torch.equal(part["net0"].X_train, part["net1"].X_train)
    assert not torch.equal(part["net0"].X_train, some_examples(nets, 60, seed=4)["net0"].X_train)
    rows = {tuple(row) for row in nets["net0"].X_train.tolist()}
    assert all(tuple(row) in rows for row in part["net0"].X_train.tolist())
    few = {"a": replace(nets["net0"], y_train=(torch.arange(900) >= 895).long())}
    assert torch.bincount(some_examples(few, 20, seed=0)["a"].y_train).tolist() == [15, 5]


class Slow:
    """A measure whose cost per example and draw is known."""

    def __init__(self, name, cost, draws, clock):
        self.id, self.cost, self.draws, self.clock = name, cost, draws, clock

    def draws_for(self, net):
        return self.draws

    def __call__(self, net, *, draws, random_state):
        self.clock[0] += self.cost * net.n * draws


@pytest.mark.parametrize(
    ("seconds", "examples", "draws", "left_out"),
    [
        (1000.0, 900, {}, ()),  # 3 nets x 900 examples x 10 draws x (.001 + .004) = 135 s
        (100.0, 900, {"dear": 5, "cheap": 5}, ()),
        (30.0, 900, {"dear": 1, "cheap": 1}, ()),
        (8.0, 225, {"dear": 1, "cheap": 1}, ()),
        (3.0, 225, {"cheap": 1}, ("dear",)),
    ],
)
def test_the_effort_fits_the_time(monkeypatch, seconds, examples, draws, left_out):
    clock = [0.0]
    monkeypatch.setattr("unseen.nets.ranking.measuring.time.perf_counter", lambda: clock[0])
    measures = [Slow("dear", 0.004, 10, clock), Slow("cheap", 0.001, 10, clock)]
    effort = plan_effort(many(3), measures, seconds, seed=0)
    assert (effort.examples, effort.draws, effort.left_out) == (examples, draws, left_out)
    if seconds > 5:
        planned = 3 * effort.examples * sum(m.cost * effort.draws.get(m.id, 10) for m in measures)
        assert planned + clock[0] <= seconds


def test_a_ranking_within_a_time_can_be_repeated_without_the_clock(monkeypatch):
    nets = many(2)
    from unseen.nets.ranking.measuring import MeasuringEffort

    monkeypatch.setattr(
        "unseen.nets.ranking.rank.plan_effort",
        lambda *_: MeasuringEffort(examples=90, draws={"vpm": 2}, left_out=("alpha",)),
    )
    timed = rank(nets, measures=["vpm", "alpha"], seconds=60, device="cpu", accuracy=0)
    assert [n.text for n in timed.notes] == ["within 60 s: 90 of 900 examples, vpm with 2 draws, without alpha"]
    again = rank(nets, measures=["vpm"], examples=90, draws={"vpm": 2}, device="cpu", accuracy=0)
    assert [v.value for v in again.values["vpm"]] == [v.value for v in timed.values["vpm"]]
    assert again.names == timed.names


def test_a_stopped_ranking_goes_on_where_it_was(tmp_path, monkeypatch):
    nets, path = many(3), tmp_path / "values.jsonl"
    whole = rank(nets, measures=["vpm", "path-norm"], draws={"vpm": 2}, device="cpu", accuracy=0, level=0.1)
    measured: list[str] = []
    real = type(build_measure("vpm")).__call__

    def call(self, net, **options):
        measured.append(self.id)
        if len(measured) == 3:
            raise KeyboardInterrupt
        return real(self, net, **options)

    monkeypatch.setattr("unseen.nets.measures.measure.Measure.__call__", call)
    again = {
        "measures": ["vpm", "path-norm"],
        "draws": {"vpm": 2},
        "device": "cpu",
        "accuracy": 0,
        "path": path,
        "level": 0.1,
    }
    with pytest.raises(Paused, match=r"values\.jsonl.*goes on from there"):
        rank(nets, **again)
    assert len(path.read_text().splitlines()) == 2
    with path.open("a") as file:
        file.write('{"kind": "cut')  # the line that was being written
    measured[:] = ["", "", ""]
    found = rank(nets, **again)
    assert len(measured) - 3 == 4  # one value of vpm and three path norms
    for name in whole.values:
        assert {n: v.value for n, v in zip(found.names, found.values[name])} == {
            n: v.value for n, v in zip(whole.names, whole.values[name])
        }
    assert np.allclose(sorted(found.probability[:, 0]), sorted(whole.probability[:, 0]))
    before = len(measured)
    rank({**nets, "net0": replace(nets["net0"], module=make_mlp(4, 3))}, **again)  # other weights under an old name
    assert len(measured) - before == 2
    path.write_text("no values\nat all\n")
    with pytest.raises(InputError, match="name a new file"):
        rank(nets, **again)


def test_the_command_keeps_nothing_of_a_run_that_ended(tmp_path, monkeypatch, capsys):
    from unseen.cli.app import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets").mkdir()
    networks = {}
    for k in range(2):
        torch.manual_seed(k)
        torch.save(make_mlp(4, 3, width=8).state_dict(), tmp_path / "nets" / f"{k}.pt")
        networks[f"{k}"] = {"weights": f"{k}.pt", "make": "make_mlp"}
    (tmp_path / "nets" / "manifest.json").write_text(json.dumps({"networks": networks}))
    np.savez("train.npz", X=np.random.default_rng(0).normal(size=(60, 4)), y=np.arange(60) % 3)

    def run(*words):
        fixed = ("unseen", "nets", "rank", "nets", "--data", "train.npz", "--measures", "path-norm", "--device", "cpu")
        monkeypatch.setattr("sys.argv", [*fixed, *words])
        with pytest.raises(SystemExit) as done:
            main()
        return done.value.code, *capsys.readouterr()

    code, out, _ = run("--json", "--quiet", "--examples", "30", "--train", "epochs=2")
    assert code == 0
    got = json.loads(out)
    assert got["expected"]["source"] == "copies trained on 80%"
    assert len(got["expected"]["error"]) == 2
    assert not (tmp_path / "nets" / "unseen_values.jsonl").exists()
    assert run("--quiet", "--values", "kept.jsonl", "--seconds", "30")[0] == 0
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 2
    code, _, err = run("--train", "epochs")
    assert code == 2
    assert "key=value" in err
