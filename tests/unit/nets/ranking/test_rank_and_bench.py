"""Ranking networks, and scoring measures on a zoo, where the answer is known beforehand."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

torch = pytest.importorskip("torch", reason="rankings of networks need torch")
from torch import nn
from typer.testing import CliRunner

from unseen.cli import app as command
from unseen.core.errors import InputError, KindError
from unseen.nets import Net, Zoo, ZooGrid, bench, bench_of, build_measure, cmi, make_mlp, rank, sample_net
from unseen.nets.files.weights import write_weights
from unseen.nets.ranking.bench import MeasureRow, measure_zoo, read_rows, write_table


class Leaning(nn.Module):
    """Two classes from one feature, with logits of a given size and a given number of useless parameters."""

    def __init__(self, size: float, extra: int = 0) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.layer.weight.data = size * torch.tensor([[-1.0, 0.0], [1.0, 0.0]])
        self.layer.bias.data.zero_()
        self.extra = nn.Parameter(torch.zeros(extra))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def leaning_data() -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.arange(40) % 2
    X = torch.stack([(2.0 * y - 1) * (1 + torch.arange(40) / 40), torch.zeros(40)], dim=1)
    return X, y


def test_the_smallest_expected_gap_comes_first() -> None:
    X, y = leaning_data()
    nets = {"small": Leaning(1.0), "large": Leaning(4.0), "middle": Leaning(2.0)}
    found = rank(nets, X, y, measures=["inverse-margin"], device="cpu")
    assert found.names == ("large", "middle", "small")
    assert found.best == "large"
    assert found.score == (0.0, 0.5, 1.0)
    assert np.allclose(found.probability, np.eye(3))
    assert rank(nets, X, y, measures=["frobenius-sum"], device="cpu").names == ("small", "middle", "large")


def test_measures_that_contradict_each_other_show_it() -> None:
    X, y = leaning_data()
    nets = {"small": Leaning(1.0), "large": Leaning(4.0), "middle": Leaning(2.0)}
    found = rank(nets, X, y, measures=["inverse-margin", "frobenius-sum", "spectral-sum"], device="cpu")
    assert found.agreement == {
        ("inverse-margin", "frobenius-sum"): -1.0,
        ("inverse-margin", "spectral-sum"): -1.0,
        ("frobenius-sum", "spectral-sum"): 1.0,
    }
    assert found.names[0] == "small"
    assert found.score == pytest.approx((1 / 3, 0.5, 2 / 3))
    assert np.allclose(found.probability.sum(0), 1)
    assert np.allclose(found.probability.sum(1), 1)


def test_probabilities_follow_the_measures_own_error() -> None:
    """Two networks whose measures differ by d with errors e: the first is best with probability Phi(d / sqrt(2 e^2))."""
    from unseen.nets.measures.measure import MeasureValue
    from unseen.nets.ranking.rank import _chances, _scores

    table = {
        "m": [
            MeasureValue(measure="m", value=1.0, std_error=0.3, draws=5, seconds=0.0),
            MeasureValue(measure="m", value=1.4, std_error=0.3, draws=5, seconds=0.0),
        ]
    }
    chance = _chances(_scores(table, seed=4)[1])
    assert chance[0, 0] == pytest.approx(stats.norm.cdf(0.4 / (0.3 * math.sqrt(2))), abs=4 * math.sqrt(0.15 / 1000))
    tied = {"m": [MeasureValue(measure="m", value=1.0, std_error=0.0, draws=5, seconds=0.0)] * 2}
    assert _chances(_scores(tied, seed=4)[1])[0, 0] == pytest.approx(0.5, abs=0.07)


def test_networks_that_share_their_draws_are_told_apart_by_differences() -> None:
    """Draw by draw both measures go up and down together: what counts is Student's t of the differences."""
    from unseen.nets.measures.measure import MeasureValue
    from unseen.nets.ranking.rank import _chances, _scores

    first, second = np.array([1.0, 3.0, 8.0]), np.array([1.5, 3.4, 8.3])
    moves = [(x - x.mean()) / math.sqrt(6) for x in (first, second)]
    errors = [math.sqrt(float(m @ m)) for m in moves]
    table = {
        "m": [
            MeasureValue(measure="m", value=float(x.mean()), std_error=e, draws=3, seconds=0.0, moves=tuple(m))
            for x, e, m in zip((first, second), errors, moves)
        ]
    }
    chance = _chances(_scores(table, seed=4)[1])
    expected = stats.ttest_rel(second, first, alternative="greater").pvalue
    assert chance[0, 0] == pytest.approx(1 - expected, abs=4 * math.sqrt(expected / 1000))
    assert chance[0, 0] > 0.95  # apart from each other their errors of 2 would leave it open which is smaller


@pytest.mark.parametrize(("measure", "draws"), [("mixup-margin", 5), ("gi-score-between", 3), ("vpm", 4)])
def test_the_moves_of_a_measure_add_up_to_its_error(measure: str, draws: int) -> None:
    found = build_measure(measure)(sample_net("conv"), draws=draws, random_state=2)
    assert len(found.moves) == draws
    assert math.sqrt(sum(m * m for m in found.moves)) == pytest.approx(found.std_error)
    assert sum(found.moves) == pytest.approx(0, abs=1e-9)
    assert build_measure(measure)(sample_net("conv"), draws=1).moves == ()
    assert "moves" not in found.to_dict()


def test_default_measures_fit_the_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.nets.ranking.rank.DEFAULT_MEASURES", ("augment-margin",))
    monkeypatch.setattr("unseen.nets.ranking.rank.DEFAULT_ANY_INPUTS", ("path-norm",))
    images = rank({"a": sample_net("conv"), "b": sample_net("mlp")}, device="cpu")
    assert list(images.values) == ["augment-margin"]
    y = torch.arange(20) % 2
    flat = rank({name: torch.nn.Linear(3, 2) for name in "ab"}, torch.rand(20, 3), y, accuracy=0, device="cpu")
    assert list(flat.values) == ["path-norm"]


def test_a_ranking_is_the_same_for_the_same_seed_and_tells_its_layers() -> None:
    nets = {"a": sample_net("conv"), "b": sample_net("conv", seed=1)}
    first, again = (rank(nets, measures=["bolster-posterior", "alpha"], device="cpu", random_state=3) for _ in range(2))
    assert first.to_dict()["probability"] == again.to_dict()["probability"]
    layers = [row for row in first.layers() if row["measure"] == "alpha"]
    assert layers[0]["used"] == ["3"]
    assert "fewer than 20" in layers[0]["skipped"]["0"]
    assert json.loads(first.to_json())["names"] == list(first.names)
    assert first.frame().shape == (2, 12)


def test_what_a_ranking_refuses_and_flags() -> None:
    X, y = leaning_data()
    with pytest.raises(InputError, match="at least two"):
        rank({"only": Leaning(1.0)}, X, y)
    with pytest.raises(KindError, match="mapping"):
        rank([Leaning(1.0), Leaning(2.0)], X, y)
    with pytest.raises(InputError, match="X_train and y_train"):
        rank({"a": Leaning(1.0), "b": Leaning(2.0)})
    with pytest.raises(KindError, match=r"torch\.nn\.Module"):
        rank({"a": "a.pt", "b": "b.pt"}, X, y, device="cpu")
    images = 255 * torch.rand(10, 1, 8, 8)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    with pytest.raises(InputError, match="outside value_range"):
        rank({"a": net, "b": net}, images, torch.arange(10) % 2, device="cpu")
    poor = rank({"good": Leaning(1.0), "bad": Leaning(-1.0)}, X, y, measures=["path-norm"], device="cpu")
    assert [n.code for n in poor.notes] == ["N006"]
    assert "bad (0.000)" in poor.notes[0].text
    with pytest.raises(InputError, match=r"none of the measures applies.*eigenvalues"):
        rank({"a": Leaning(1.0), "b": Leaning(2.0)}, X, y, measures=["alpha"], device="cpu")
    mixed = rank({"a": Leaning(1.0), "b": Leaning(2.0)}, X, y, measures=["alpha", "path-norm"], device="cpu")
    assert list(mixed.values) == ["path-norm"]
    assert [n.code for n in mixed.notes] == ["N007"]


def test_the_callers_module_is_left_alone() -> None:
    X, y = leaning_data()
    nets = {"a": Leaning(1.0), "b": Leaning(2.0).train()}
    rank(nets, X, y, measures=["inverse-margin", "sharpness"], device="cpu")
    assert nets["b"].training
    assert all(p.requires_grad and p.grad is None for p in nets["a"].parameters())


def tables(seeds: int = 2) -> tuple[list[dict], list[MeasureRow]]:
    """Networks on a 3 x 2 x 2 grid with gaps of known effects, and measures that know them, know half, or know nothing."""
    rng = np.random.default_rng(1)
    nets, rows = [], []
    for seed in range(seeds):
        for k, (a, b, c) in enumerate(itertools.product((1, 2, 3), (8, 16), (0.0, 0.5))):
            gap = 0.1 + 0.03 * a + 0.02 * (b == 16) + 0.011 * (c > 0) + 0.002 * rng.normal()
            name = f"n{k:03d}s{seed}"
            common = {
                "zoo": "made-up",
                "name": name,
                "seed": seed,
                "epochs": 5,
                "train_loss": 0.01,
                "train_accuracy": 1.0,
            }
            nets.append(
                {
                    **common,
                    "test_accuracy": 1 - gap,
                    "n_parameters": 9,
                    "reason": "",
                    "holdout_error": None,
                    "gap": gap,
                    "a": a,
                    "b": b,
                    "c": c,
                }
            )
            for measure, value in (("knows", 5 * gap - 3), ("half", a), ("noise", rng.random()), ("constant", 1.0)):
                rows.append(
                    MeasureRow(
                        zoo="made-up",
                        seed=seed,
                        net=name,
                        measure=measure,
                        value=value,
                        std_error=0.0,
                        draws=1,
                        seconds=0.5,
                    )
                )
    return nets, rows


def test_a_bench_puts_the_gap_first_and_the_constant_last() -> None:
    found = bench_of(*tables(), n_permutations=50)
    knows, half, constant = (found.line(name) for name in ("knows", "half", "constant"))
    assert knows.cmi == pytest.approx(100)
    assert knows.tau == pytest.approx(1)
    assert knows.granulated_tau == pytest.approx(1)
    assert knows.robust_error == 0
    assert knows.p_value == pytest.approx(1 / 51)
    assert found.lines[0].measure in ("knows", "hyper-parameters", "other-seed")
    assert constant.cmi == pytest.approx(0, abs=1e-9)
    assert constant.robust_error == 0.5
    assert 0 <= half.cmi < knows.cmi
    assert half.granulated_tau == pytest.approx(1 / 3)
    assert {line.measure for line in found.lines if line.control} == {"hyper-parameters", "other-seed"}


def test_a_bench_scores_as_the_competition() -> None:
    nets, rows = tables()
    found = bench_of(nets, rows, n_permutations=20)
    gap, seeds = found.gap, found.seeds
    axes = {name: [net[name] for net in nets] for name in "abc"}
    for name in ("half", "noise"):
        values = [row.value for row in rows if row.measure == name]
        assert found.line(name).cmi == pytest.approx(100 * cmi(gap, values, axes, seeds=seeds).value)
        assert found.line(name).tau == pytest.approx(
            np.mean([stats.kendalltau(gap[seeds == s], np.array(values)[seeds == s]).statistic for s in (0, 1)])
        )
    other = np.array([gap[(seeds != seeds[k])][k % 12] for k in range(24)])
    assert np.allclose(found.values["other-seed"], other)


def test_hyper_parameters_alone_predict_cells_they_have_not_seen() -> None:
    nets, rows = tables()
    found = bench_of(nets, rows, n_permutations=20)
    assert np.corrcoef(found.values["hyper-parameters"], found.gap)[0, 1] > 0.9
    own = found.values["hyper-parameters"][0]
    moved = [dict(net) for net in nets]
    for net in moved:
        if (net["a"], net["b"], net["c"]) == (1, 8, 0.0):
            net["gap"] += 0.5
    assert bench_of(moved, rows, n_permutations=5).values["hyper-parameters"][0] == pytest.approx(own)


def test_incomplete_columns_and_failed_cells_are_left_out_in_words() -> None:
    nets, rows = tables()
    fewer = [row for row in rows if not (row.measure == "half" and row.net == "n003s1")]
    found = bench_of(nets, fewer, n_permutations=5)
    assert "1 of 24 networks" in found.left_out["half"]
    assert "N007" in [n.code for n in found.notes]
    with pytest.raises(InputError, match="no measure 'half'"):
        found.line("half")
    one_seed = [row for row in rows if not (row.measure == "half" and row.seed == 1)]
    alone, first = bench_of(nets, one_seed, n_permutations=5), bench_of(*tables(1), n_permutations=5)
    assert "scored on seed 0 alone" in alone.left_out["half"]
    assert alone.line("half").cmi == pytest.approx(first.line("half").cmi)
    assert alone.line("knows").cmi_low <= alone.line("knows").cmi
    assert "N007" not in [n.code for n in alone.notes]
    assert np.isfinite(alone.values["half"]).sum() == 12
    for net in nets:
        if net["a"] == 3 and net["seed"] == 0:
            net["train_accuracy"] = 0.8
    cut = bench_of(nets, rows, n_permutations=5)
    assert len(cut.gap) == 16
    assert "8 networks per seed" in next(n.text for n in cut.notes if n.code == "N002")
    assert "a=3" in next(n.text for n in cut.notes if n.code == "N004")


GRID = ZooGrid(
    "toy-bench",
    make_mlp,
    {"width": (4, 16), "depth": (1, 2), "weight_decay": (0.0, 0.03)},
    lr=0.1,
    epochs=40,
    accuracy=0.5,
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    rng = np.random.default_rng(0)
    y = np.arange(340) % 2
    X = rng.normal(size=(340, 12)) + 0.7 * y[:, None]
    return Zoo.train(GRID, (X[:40], y[:40], X[40:], y[40:]), store=tmp_path_factory.mktemp("bench"), device="cpu")


def test_a_stopped_bench_goes_on_and_gives_the_same_table(small: Zoo, tmp_path: Path) -> None:
    names = ["path-norm", "pac-bayes-flatness", "epochs", "holdout80"]
    whole = bench(small, names, n_permutations=20)
    path = tmp_path / "values.csv"
    measure_zoo(small, names[:2], path=path)
    half = len(read_rows(path))
    assert half == 32
    text = path.read_text()
    path.write_text(text[: len(text) - 12])  # the last line was cut off
    again = bench(small, names, path=path, n_permutations=20)
    keep = ("measure", "cmi", "tau", "p_value", "granulated_tau", "robust_error")
    assert [[row[k] for k in keep] for row in again.rows()] == [[row[k] for k in keep] for row in whole.rows()]
    write_table(tmp_path / "networks.csv", small.rows())
    read = bench_of(tmp_path / "networks.csv", path, n_permutations=20, accuracy=0.5, n_test=300)
    assert [line.measure for line in read.lines] == [line.measure for line in whole.lines]
    assert [line.cmi for line in read.lines] == pytest.approx([line.cmi for line in whole.lines])
    assert "noise floor" in str(whole).lower()


def run(*arguments: str) -> tuple[int, str]:
    command._attach_commands()
    found = CliRunner().invoke(command.app, ["nets", *arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, found.stdout


def test_bench_command_reads_tables(tmp_path: Path) -> None:
    nets, rows = tables()
    write_table(tmp_path / "networks.csv", nets)
    write_table(tmp_path / "values.csv", [vars(row) for row in rows])
    code, text = run(
        "bench",
        "--networks",
        str(tmp_path / "networks.csv"),
        "--values",
        str(tmp_path / "values.csv"),
        "--permutations",
        "20",
        "--json",
    )
    assert code == 0
    lines = {line["measure"]: line for line in json.loads(text)["lines"]}
    assert lines["knows"]["cmi"] == pytest.approx(100)
    with pytest.raises(InputError, match="--zoo and --data"):
        run("bench", "--networks", str(tmp_path / "networks.csv"))


def test_rank_command_reads_a_folder_of_networks(tmp_path: Path) -> None:
    X, y = leaning_data()
    np.savez(tmp_path / "train.npz", X=X.numpy(), y=y.numpy())
    networks = {}
    for name, size in (("steep", 4.0), ("flat", 1.0)):
        write_weights(
            tmp_path / f"{name}.safetensors",
            {"0.weight": size * torch.tensor([[-1.0, 0.0], [1.0, 0.0]]), "0.bias": torch.zeros(2)},
        )
        networks[name] = {"weights": f"{name}.safetensors", "make": "make_mlp", "options": {"depth": 0}}
    (tmp_path / "manifest.json").write_text(json.dumps({"networks": networks}))
    base = ("rank", str(tmp_path), "--data", str(tmp_path / "train.npz"), "--device", "cpu")
    code, text = run(*base, "--measures", "inverse-margin", "--json")
    assert code == 0
    assert json.loads(text)["names"] == ["steep", "flat"]
    networks["far"] = {"weights": "../far.safetensors", "make": "make_mlp"}
    (tmp_path / "manifest.json").write_text(json.dumps({"networks": networks}))
    with pytest.raises(InputError, match="must lie in the folder"):
        run(*base)
    networks["far"] = {"weights": "steep.safetensors", "make": "eval"}
    (tmp_path / "manifest.json").write_text(json.dumps({"networks": networks}))
    with pytest.raises(InputError, match="architecture 'eval'"):
        run(*base)


def test_rank_command_reads_a_zoo(small: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.nets.zoo import grids

    monkeypatch.setitem(grids.GRIDS, GRID.id, GRID)
    rng = np.random.default_rng(0)
    y = np.arange(340) % 2
    X = rng.normal(size=(340, 12)) + 0.7 * y[:, None]
    np.savez(tmp_path / "train.npz", X_train=X[:40], y_train=y[:40])
    only = f"{small.nets[0].name},{small.nets[5].name}"
    code, text = run(
        "rank",
        str(small.folder),
        "--data",
        str(tmp_path / "train.npz"),
        "--only",
        only,
        "--measures",
        "path-norm,epochs",
        "--device",
        "cpu",
        "--json",
    )
    assert code == 0
    assert set(json.loads(text)["names"]) == set(only.split(","))


def test_nets_bring_their_own_data() -> None:
    X, y = leaning_data()
    nets = {"a": Net(Leaning(1.0), X, y), "b": Leaning(3.0)}
    assert rank(nets, X, y, measures=["inverse-margin"], device="cpu").names == ("b", "a")


def _two_nets(last=None):
    torch.manual_seed(0)
    X, y = torch.rand(12, 1, 4, 4), torch.arange(12) % 3
    made = [torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 3)) for _ in range(2)]
    if last is not None:
        made[1].append(last)
    return {"plain": made[0], "other": made[1]}, X, y


def test_ranking_leaves_a_module_in_training_mode_as_it_was():
    nets, X, y = _two_nets(torch.nn.BatchNorm1d(3))
    norm = nets["other"].train()[-1]
    rank(nets, X, y, measures=["path-norm"], device="cpu")
    assert norm.training
    assert int(norm.num_batches_tracked) == 0
    assert torch.equal(norm.running_mean, torch.zeros(3))


def test_ranking_refuses_what_gives_no_logits_and_names_the_network():
    nets, X, y = _two_nets(torch.nn.Softmax(1))
    with pytest.raises(InputError, match="network 'other': the module gives probabilities"):
        rank(nets, X, y, measures=["path-norm"], device="cpu")
    nets, X, y = _two_nets()
    with pytest.raises(InputError, match="network 'plain': the module cannot be run on its training inputs"):
        rank(nets, X[..., :2], y, measures=["path-norm"], device="cpu")
    with pytest.raises(KindError, match="class numbers"):
        rank(nets, X, np.array(["a", "b", "c"])[y.numpy()], measures=["path-norm"], device="cpu")
    with torch.no_grad():
        nets["other"][1].weight[0, 0] = float("nan")
    with pytest.raises(InputError, match="network 'other'"):
        rank(nets, X, y, measures=["bolster"], device="cpu")


def test_measures_that_contradict_each_other_are_not_said_to_agree():
    nets, X, y = _two_nets()
    found = rank(nets, X, y, measures=["path-norm", "parameter-count"], device="cpu")
    assert "undefined" in str(found)
    assert "agree:" not in str(found)
    assert "nan" not in str(found)


def test_a_zoo_with_a_poor_network_says_so_and_is_not_measured_in_vain(
    small: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = json.loads((small.folder / "manifest.json").read_text())
    poor = next(r for group in manifest["groups"].values() for r in group if r["hyper"]["width"] == 4)
    poor["train_accuracy"] = 0.3
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    zoo = Zoo.load(tmp_path, grid=GRID)
    assert [n.text for n in zoo.notes if n.code == "N006"] == [f"training accuracy below 0.5: {poor['name']}"]
    assert "N006" not in [n.code for n in small.notes]
    codes = [n.code for n in zoo.complete().notes]
    assert "N004" in codes
    assert "N006" not in codes
    monkeypatch.setattr("unseen.nets.ranking.bench.measure_zoo", lambda *given, **named: pytest.fail("it measures"))
    blind = replace(small, nets=tuple(replace(net, test_accuracy=float("nan")) for net in small.nets))
    with pytest.raises(InputError, match="trained without X_test"):
        bench(blind, ["path-norm"])
    with pytest.raises(KindError, match="zoo is a dict"):
        bench({"a": 1}, ["path-norm"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"cannot be scored: .* Left out .* \(1 network below 0\.5\)"):
        bench(zoo, ["path-norm"])
