"""Rankings and benches: every column of their tables from its definition, on networks few enough to do by hand."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import Ridge

torch = pytest.importorskip("torch", reason="rankings of networks need torch")
from torch import nn

from unseen.nets import Net, Zoo, ZooGrid, bench, bench_of, cmi, granulated_tau, make_mlp, rank, robust_error
from unseen.nets.measures.measure import LayerLog, Measure, MeasureValue
from unseen.nets.ranking.bench import MeasureRow, bench_controls, measure_zoo, read_rows
from unseen.nets.ranking.rank import _chances, _fractions, _scores

CELLS = list(itertools.product((0, 1), repeat=3))


@dataclass(frozen=True)
class Drawn(Measure):
    """A uniform number that knows nothing of the network."""

    id: ClassVar[str] = "drawn"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    default_draws: ClassVar[int] = 3

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        return float(torch.rand(1, generator=generator, dtype=torch.float64))


def table(
    gaps: list[float], columns: dict[str, list[float]], *, accuracy: float = 0.8, **more: list[float]
) -> tuple[list[dict], list[MeasureRow]]:
    """Networks on a 2 x 2 x 2 grid, seed by seed, and the rows of their measures."""
    nets, rows = [], []
    for k, gap in enumerate(gaps):
        seed, (a, b, c) = k // 8, CELLS[k % 8]
        net = {
            "zoo": "made-up",
            "name": f"n{k % 8}s{seed}",
            "seed": seed,
            "train_accuracy": 1.0,
            "test_accuracy": accuracy,
        }
        nets.append({**net, "gap": gap, "a": a, "b": b, "c": c})
        for measure, values in columns.items():
            error, seconds = (more.get(name, [0.0] * len(gaps))[k] for name in ("std_error", "seconds"))
            rows.append(
                MeasureRow(
                    zoo="made-up",
                    seed=seed,
                    net=net["name"],
                    measure=measure,
                    value=values[k],
                    std_error=error,
                    draws=2,
                    seconds=seconds,
                )
            )
    return nets, rows


def effects(a: float, b: float, c: float) -> list[float]:
    return [a * cell[0] + b * cell[1] + c * cell[2] for cell in CELLS]


def test_pairs_closer_than_the_error_of_a_difference_do_not_count() -> None:
    # the root of 2 times .8 times .2 over 32 is a tenth: steps of .101 are seen, steps of .099 are not
    columns = {"wrong on b": effects(0.101, -0.099, 0.3), "wrong on a": effects(-0.101, 0.099, 0.3)}
    found = bench_of(*table(effects(0.101, 0.099, 0.3), columns), n_permutations=2, n_test=32)
    assert found.line("wrong on b").robust_error == 0
    assert found.line("wrong on a").robust_error == 1
    assert found.line("wrong on a").worst == "a 0 to 1"


def test_every_column_of_a_bench_is_what_its_name_says() -> None:
    rng = np.random.default_rng(3)
    gaps = rng.normal(0.2, 0.05, 16)
    values = (gaps + rng.normal(0, 0.05, 16)).tolist()
    times = {"seconds": [*range(15), 1000.0], "std_error": [1.0] * 7 + [2.0] + [9.0] * 7 + [float("nan")]}
    nets, rows = table(gaps.tolist(), {"m": values}, **times)
    found = bench_of(nets, rows, n_permutations=100)
    line = found.line("m")
    axes, seeds = {name: [net[name] for net in nets] for name in "abc"}, np.repeat([0, 1], 8)
    parts = [
        100 * cmi(gaps[s == seeds], np.array(values)[s == seeds], dict(zip("abc", zip(*CELLS)))).value for s in (0, 1)
    ]
    assert parts[0] != pytest.approx(parts[1])
    assert (line.cmi, line.cmi_low, line.cmi_high) == pytest.approx((np.mean(parts), min(parts), max(parts)))
    honest = cmi(gaps, values, axes, seeds=seeds, self_pairs=False, n_bootstrap=2).value
    assert line.cmi_honest == pytest.approx(100 * honest)
    assert line.cmi_honest != pytest.approx(line.cmi)
    assert line.seconds == 7.5  # the median of 0 to 14 and 1000
    assert line.std_error == 2  # the middle of seven times 1, one 2 and seven times 9; what is not known does not count
    floor = cmi(gaps, values, axes, seeds=seeds, n_bootstrap=2).noise_floor(100)
    assert found.noise_floor == pytest.approx(100 * floor.quantile, rel=0.35)
    assert found.noise_floor > 130 * floor.mean
    assert [one.cmi for one in found.lines] == sorted((one.cmi for one in found.lines), reverse=True)


def test_the_rank_correlation_is_the_mean_over_seeds() -> None:
    # perfect in one seed, reversed in the other, and levels that would make both together look perfect
    gaps = [*effects(4, 2, 1), *np.add(effects(4, 2, 1), 100)]
    values = [*effects(4, 2, 1), *(100 - np.array(effects(4, 2, 1)))]
    assert bench_of(*table(gaps, {"m": values}), n_permutations=2).line("m").tau == pytest.approx(0)
    grid = {name: [cell[k] for cell in CELLS] * 2 for k, name in enumerate("abc")}
    assert granulated_tau(gaps, values, grid, seeds=np.repeat([0, 1], 8)).by_axis == {"a": 0.0, "b": 0.0, "c": 0.0}


def test_values_are_found_by_name_and_seed() -> None:
    gaps = [*effects(4, 2, 1), *effects(1, 2, 4)]
    nets, rows = table(gaps, {"m": gaps})
    nets = [{**net, "name": net["name"][:2]} for net in nets]
    rows = [
        MeasureRow(
            zoo=r.zoo, seed=r.seed, net=r.net[:2], measure=r.measure, value=r.value, std_error=0.0, draws=1, seconds=0.0
        )
        for r in rows
    ]
    assert bench_of(nets, rows[::-1], n_permutations=2).values["m"].tolist() == gaps


def test_hyper_parameters_predict_as_ridge_regression_on_the_other_cells() -> None:
    axes = {"depth": [a for a, _, _ in CELLS] * 2, "rest": [f"{b}{c}" for _, b, c in CELLS] * 2}
    gap, seeds = np.random.default_rng(0).normal(size=16), np.repeat([0, 1], 8)
    design = np.array(
        [[d == k for k in (0, 1)] + [r == k for k in ("00", "01", "10", "11")] for d, r in zip(*axes.values())],
        dtype=float,
    )
    for k in range(8):
        others = np.arange(16) % 8 != k
        mean = gap[others].mean()
        model = Ridge(alpha=1.0, fit_intercept=False).fit(design[others], gap[others] - mean)
        expected = mean + model.predict(design[[k]])[0]
        assert bench_controls(gap, seeds, axes)["hyper-parameters"][[k, k + 8]] == pytest.approx(np.full(2, expected))


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    grid = ZooGrid(
        "toy", make_mlp, {"width": (2, 3), "lr": (0.1, 0.2), "weight_decay": (0.0, 0.1)}, epochs=2, accuracy=0
    )
    folder = tmp_path_factory.mktemp("zoo")
    return Zoo.train(grid, (X[:30], y[:30], X[30:], y[30:]), store=folder, seeds=1, copies=False, device="cpu")


def test_a_bench_knows_how_many_test_inputs_are_behind_the_gaps(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    def noted(*args: object, **options: object) -> object:
        seen.update(options)
        return bench_of(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("unseen.nets.ranking.bench.bench_of", noted)
    bench(zoo, ["path-norm"], n_permutations=2, images=False)
    assert seen["n_test"] == 70


def test_networks_of_a_zoo_meet_the_same_draws_measure_by_measure(zoo: Zoo, tmp_path: Path) -> None:
    rows = measure_zoo(zoo, [Drawn(), "path-norm"], path=tmp_path / "m.csv", random_state=5, draws={"drawn": 4})
    assert [row.measure for row in rows] == ["drawn"] * 8 + ["path-norm"] * 8
    assert len({row.value for row in rows[:8]}) == 1
    assert {row.draws for row in rows[:8]} == {4}
    assert all(row.seconds > 0 for row in rows)
    assert measure_zoo(zoo, [Drawn()], random_state=6)[0].value != rows[0].value
    again = measure_zoo(zoo, [Drawn(), "path-norm"], path=tmp_path / "m.csv", random_state=6)
    assert [row.seconds for row in again] == pytest.approx(
        [row.seconds for row in rows]
    )  # what is there is not measured anew
    for kept, row in zip(read_rows(tmp_path / "m.csv"), rows, strict=True):
        assert (kept.value, kept.std_error) == pytest.approx((row.value, row.std_error), rel=1e-8)


def test_ties_share_their_mean_place() -> None:
    assert _fractions(np.array([1.0, 1.0, 2.0])).tolist() == [0.25, 0.25, 1.0]
    assert _fractions(np.array([[3.0, 1.0], [2.0, 2.0]])).tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_chances_belong_to_networks_and_scores_are_mean_places() -> None:
    def sure(*values: float) -> list[MeasureValue]:
        return [MeasureValue(measure="m", value=value, std_error=None, draws=1, seconds=0.0) for value in values]

    score, drawn = _scores({"m": sure(2.0, 3.0, 1.0)}, seed=0)
    chance = _chances(drawn)
    assert score.tolist() == [0.5, 1.0, 0.0]
    assert chance.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    score, _ = _scores({"m": sure(2.0, 3.0, 1.0), "k": sure(1.0, 2.0, 3.0)}, seed=0)
    assert score.tolist() == [0.25, 0.75, 0.5]


class Threshold(nn.Module):
    """Says class 1 above a threshold; its number of parameters decides its place."""

    def __init__(self, at: float, extra: int) -> None:
        super().__init__()
        self.at, self.extra = at, nn.Parameter(torch.ones(extra))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([self.at - x[:, 0], x[:, 0] - self.at], dim=1) * self.extra.mean()


def test_training_accuracies_follow_the_order_of_the_names_and_the_threshold_itself_is_enough() -> None:
    X, y = torch.arange(20.0)[:, None], (torch.arange(20) >= 10).long()
    nets = {"big": Threshold(9.5, 3), "small": Threshold(8.5, 1), "middle": Threshold(6.5, 2)}
    found = rank(nets, X, y, measures=["parameter-count"], accuracy=0.95, device="cpu")
    assert found.names == ("small", "middle", "big")
    assert found.accuracy == pytest.approx((0.95, 0.85, 1.0))
    assert found.score == (0.0, 0.5, 1.0)
    fitted = {name: Threshold(9.5, k) for name, k in (("big", 3), ("small", 1), ("middle", 2))}
    assert rank(fitted, X, y, measures=["parameter-count"], device="cpu").names == ("small", "middle", "big")
    (poor,) = [n.text for n in found.notes if n.code == "N006"]
    assert "middle (0.850)" in poor
    assert "small" not in poor


def test_equal_scores_go_to_the_network_that_is_best_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = torch.arange(20.0)[:, None], (torch.arange(20) >= 10).long()
    found = {"a": Threshold(9.5, 1), "b": Threshold(9.5, 2)}
    drawn = np.array([[0.6, 0.4]] * 8 + [[0.4, 0.6]] * 2)
    monkeypatch.setattr("unseen.nets.ranking.rank._scores", lambda *_: (np.array([0.5, 0.5]), drawn))
    assert rank(found, X, y, measures=["parameter-count"], device="cpu").names == ("b", "a")


def test_networks_of_a_ranking_meet_the_same_draws() -> None:
    X, y = torch.arange(20.0)[:, None], (torch.arange(20) >= 10).long()
    nets = {name: Threshold(9.5, k) for k, name in enumerate("abc", 1)}
    both = rank(nets, X, y, measures=[Drawn(), "parameter-count"], device="cpu")
    assert list(both.values) == ["drawn", "parameter-count"]
    found = rank(nets, X, y, measures=[Drawn()], device="cpu")
    assert len({one.value for one in found.values["drawn"]}) == 1
    assert found.score == (0.5, 0.5, 0.5)
    again = rank(nets, X, y, measures=[Drawn()], device="cpu", random_state=1)
    assert again.values["drawn"][0].value != found.values["drawn"][0].value


def test_networks_with_equal_gaps_are_no_pair_to_order() -> None:
    found = robust_error([0.1, 0.1, 0.2, 0.3], [1.0, 2.0, 3.0, 4.0], {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    assert found.pairs == {"a 0 to 1": 2, "b 0 to 1": 1}
    assert found.value == 0
