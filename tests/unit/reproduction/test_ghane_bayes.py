"""The Bayesian-network experiment at a very small setting: rows, restart, what a row says, checks, the shipped run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unseen.core.errors import InputError, UnknownName
from unseen.core.summary import summarize
from unseen.nets import write_idx
from unseen.reproduction import reproduce
from unseen.reproduction.ghane_bayes import runs as bayes
from unseen.reproduction.ghane_bayes import setting as rows_of

BARE = """
import runpy, sys
from importlib.machinery import PathFinder

ABSENT = {"scipy", "sklearn", "pandas", "matplotlib", "joblib", "rich", "typer", "narwhals", "jinja2", "safetensors", "PIL"}

class Bare:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.split(".")[0] in ABSENT else PathFinder.find_spec(name, path, target)

sys.meta_path = [Bare if finder is PathFinder else finder for finder in sys.meta_path]
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
QUICK = {"n_samples": 8, "chains": 2, "burn_in": 4, "thin": 2, "n_mc": 4}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A folder like MNIST's: ten blocky patterns with noise."""
    folder = tmp_path_factory.mktemp("digits")
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 2, (10, 7, 7)).repeat(4, axis=1).repeat(4, axis=2)
    for part, n in (("train", 300), ("t10k", 60)):
        y = np.arange(n) % 10
        images = np.clip(180 * patterns[y] + rng.normal(0, 40, (n, 28, 28)), 0, 255)
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images.astype(np.uint8))
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", y.astype(np.uint8))
    return folder


def small(**more):
    return rows_of.setting_of("synthetic", **QUICK, n_test=50, **more)


def run(setting, repetitions, out=None, **more):
    options = {"device": "cpu", "out": out, "say": lambda text: None, **more}
    return bayes.run_cell(bayes.GaussianSamples(), 5, 20, repetitions, setting, **options)


def test_rows_are_kept_and_a_restart_goes_on(tmp_path):
    out = tmp_path / "rows.csv"
    first = run(small(), range(3), out)
    whole = out.read_bytes()
    out.write_bytes(whole[:-20])  # killed while writing the third row
    said = []
    again = run(small(), range(3), out, say=said.append)
    assert said[0].startswith("synthetic width=5 n=20: 2 nets")  # the two chains of one repetition only
    assert set(again[0]) == set(rows_of.COLUMNS)
    for name in ("true_error", "resub", "bayesian", "bayesian_bolster", "net_true_error"):
        for one, other in zip(first, again):
            assert other[name] == pytest.approx(one[name], rel=1e-4)
    with pytest.raises(InputError, match="another setting"):
        rows_of.ROWS.read(out, small(temperature=0.5))
    run(small(prior="fan-in"), range(2), out)  # another prior goes into the same file
    assert [row["prior"] for row in rows_of.ROWS.read(out)] == ["unit"] * 3 + ["fan-in"] * 2


def test_repetitions_do_not_depend_on_their_company():
    alone, together = run(small(), range(2), chunk=1), run(small(), range(2))
    for one, other in zip(alone, together):
        assert one["bayesian"] == pytest.approx(other["bayesian"], rel=1e-4)
    assert together[0]["bayesian"] != together[1]["bayesian"]


def two_linear_nets():
    """Samples of two linear rules on two features, and a third rule as the trained net."""
    weights = torch.tensor([[[0.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])
    draws = bayes.LogitDraws(lambda x: torch.einsum("mf,scf->smc", x, weights), 2)

    class Point:
        @staticmethod
        def logits(x):
            return torch.stack([torch.stack([torch.zeros(len(x)), -x[:, 0]], 1)])

    return draws, Point()


def test_a_row_says_what_its_posterior_does():
    draws, point = two_linear_nets()
    rng = np.random.default_rng(1)
    X, fresh = (torch.as_tensor(rng.standard_normal((n, 2)), dtype=torch.float32) for n in (30, 200))
    y, truth = (X[:, 0] > 0.3).long(), (fresh[:, 0] > 0.3).long()
    row = bayes.estimates_of(draws, point, X, y, (fresh, truth), small(), 0)

    def p1(x):
        x = x.double().numpy()
        return (1 / (1 + np.exp(-2 * x[:, 0])) + 1 / (1 + np.exp(-x[:, 1]))) / 2

    p, q, labels = p1(X), p1(fresh), y.numpy()
    assert row["resub"] == pytest.approx(np.mean((p > 0.5) != labels))
    assert row["bayesian"] == pytest.approx(np.mean(np.minimum(p, 1 - p)), abs=1e-6)
    assert row["true_error"] == pytest.approx(np.mean((q > 0.5) != truth.numpy()))
    assert row["test_doubt"] == pytest.approx(np.mean(np.minimum(q, 1 - q)), abs=1e-6)
    decided = (X[:, 0] < 0).numpy()  # the trained net says the opposite of the first rule
    assert row["net_resub"] == pytest.approx(np.mean(decided != labels))
    assert row["net_bayesian"] == pytest.approx(np.mean(np.where(decided, 1 - p, p)), abs=1e-6)
    assert row["net_posterior"] == pytest.approx(np.mean(1 / (1 + np.exp(np.abs(X[:, 0].double().numpy())))), abs=1e-6)


def test_bolstered_estimates_are_means_over_the_kernels():
    draws, point = two_linear_nets()
    rng = np.random.default_rng(2)
    X = torch.as_tensor(rng.standard_normal((12, 2)), dtype=torch.float32)
    y = torch.as_tensor(np.arange(12) % 2)
    row = bayes.estimates_of(draws, point, X, y, (X, y), small().__class__(n_mc=20_000), 0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    expected = wrong = product = 0.0
    for i in range(12):
        mine = X[y == y[i]].numpy()
        ordered = np.sort(mine, axis=0)
        gaps = np.diff(ordered, axis=0)
        nearest = np.vstack([gaps[:1], np.minimum(gaps[:-1], gaps[1:]), gaps[-1:]]).mean(0) / 0.6744897501960817
        a, b = (X[i, k].item() + nearest[k] * nodes for k in range(2))
        p = (1 / (1 + np.exp(-2 * a))[:, None] + 1 / (1 + np.exp(-b))[None, :]) / 2
        doubt = float(weights @ np.minimum(p, 1 - p) @ weights)
        share = float(weights @ ((p > 0.5) != bool(y[i])) @ weights)
        at = (1 / (1 + np.exp(-2 * X[i, 0].item())) + 1 / (1 + np.exp(-X[i, 1].item()))) / 2
        expected += doubt / 12
        wrong += share / 12
        product += (1 - (1 - share) * max(at, 1 - at)) / 12
    assert row["bayesian_bolster"] == pytest.approx(expected, abs=0.004)
    assert row["nb_bolster"] == pytest.approx(wrong, abs=0.01)
    assert row["product_bolster"] == pytest.approx(product, abs=0.01)


@pytest.mark.parametrize("sampler", ["sgld", "ensemble", "laplace"])
def test_other_samplers(sampler):
    row = run(small(sampler=sampler, step=0.05), range(2))[0]
    assert 0 < row["bayesian"] < 0.5
    assert np.isfinite(row["r_hat"]) == (sampler == "sgld")


@pytest.mark.slow
@pytest.mark.sample
def test_cells_and_checks():
    result = reproduce("ghane-bayes", replications=2, sizes=(20, 30), widths=(3, 12), device="cpu", **QUICK)
    cells = {(c.table, c.cell): c for c in result.cells}
    one = result.runs[3, 20]
    assert cells["2.9 bias", "W=3 n=20 bayesian"].ours == pytest.approx((one["bayesian"] - one["true_error"]).mean())
    wide = summarize(result.runs[12, 30]["resub"], result.runs[12, 30]["true_error"])
    assert cells["2.9 rms", "W=12 n=30 resub"].ours == pytest.approx(wide.rms)
    checks = {c.name: c.value for c in result.checks}
    assert len(checks) == 4 + 2 + 2
    narrow = summarize(result.runs[3, 30]["bayesian"], result.runs[3, 30]["true_error"]).variance
    other = summarize(result.runs[12, 30]["bayesian"], result.runs[12, 30]["true_error"]).variance
    assert checks["n=30: variance of bayesian at W=3 less that at W=12"] == pytest.approx(narrow - other)
    assert result.plot("bayes-panels") is not None
    assert result.plot("bayes-calibration") is not None
    trained = reproduce(
        "ghane-bayes", replications=2, sizes=(20,), widths=(3,), device="cpu", classifier="net", **QUICK
    )
    assert trained.columns[0] == "net_true_error"


@pytest.mark.slow
@pytest.mark.sample
def test_mnist_on_a_bare_machine(digits, tmp_path):
    script = Path(__file__).resolve().parents[3] / "studies" / "gpu_ghane_bayes.py"
    options = [
        "--sizes",
        "40,50",
        "--repeats",
        "2",
        "--n-samples",
        "4",
        "--burn-in",
        "3",
        "--thin",
        "1",
        "--n-mc",
        "2",
        "--epochs",
        "2",
    ]
    command = [
        sys.executable,
        "-c",
        BARE,
        str(script),
        "--data",
        str(digits),
        "--part",
        "lenet",
        "--out",
        str(tmp_path),
        *options,
    ]
    done = subprocess.run(
        [*command, "--budget", "600", "--device", "cpu"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "bayesian_bolster: bias" in done.stdout
    result = reproduce("ghane-bayes", part="lenet", results=str(tmp_path / "ghane_bayes.csv"), sizes=(40, 50))
    assert {c.table.split()[0] for c in result.cells} == {"2.7"}
    assert len(result.checks) == 2


def test_misuse(tmp_path):
    with pytest.raises(UnknownName, match="part"):
        reproduce("ghane-bayes", part="vgg")
    with pytest.raises(UnknownName, match="classifier"):
        reproduce("ghane-bayes", classifier="both")
    with pytest.raises(InputError, match="--data DIR"):
        reproduce("ghane-bayes", part="mlp")
    with pytest.raises(InputError, match="at least 8"):
        reproduce("ghane-bayes", sizes=(4,))
    with pytest.raises(InputError, match="no finished rows"):
        reproduce("ghane-bayes", results=str(tmp_path / "none.csv"))


def test_the_shipped_run_of_figure_9():
    result = reproduce("ghane-bayes", results="shipped")
    assert {key: len(run["n"]) for key, run in result.runs.items()} == {
        (w, n): 50 for w in (10, 30, 100) for n in (20, 40, 60, 80, 100)
    }
    assert result.passed  # what the text concludes
    found = result.summaries
    for (w, n), run in result.runs.items():
        # chains have settled where the largest R-hat is what chance alone gives
        assert np.mean(run["r_hat"]) < np.mean(run["r_hat_limit"]) + 0.03, (w, n)
        assert found[w, n, "resub"].bias < found[w, n, "bayesian"].bias < found[w, n, "bayesian-bolster"].bias < 0
        np.testing.assert_array_less(run["bayesian"], run["product_bolster"] + 1e-6)  # alpha is at most 1
    # no classifier does better than the best one, but for the noise of 5,000 points
    assert min(run["true_error"].min() for run in result.runs.values()) > 0.1916 - 4 * np.sqrt(0.19 * 0.81 / 5000)
