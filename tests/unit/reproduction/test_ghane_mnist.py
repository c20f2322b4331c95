"""The MNIST experiment at a very small setting: rows, restart, tables; MNIST-like digits stand in for MNIST."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unseen.core.errors import InputError
from unseen.core.summary import summarize
from unseen.nets import write_idx
from unseen.reproduction import read_published, reproduce
from unseen.reproduction.ghane_mnist import runs as mnist

QUICK = {"n_mc": 4, "calibration_mc": 4, "epochs": 6, "batch_size": 16}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A folder like MNIST's: ten blocky patterns with noise."""
    folder = tmp_path_factory.mktemp("digits")
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 2, (10, 7, 7)).repeat(4, axis=1).repeat(4, axis=2)
    for part, n in (("train", 400), ("t10k", 100)):
        y = np.arange(n) % 10
        images = np.clip(180 * patterns[y] + rng.normal(0, 40, (n, 28, 28)) * (rng.random((n, 28, 28)) < 0.5), 0, 255)
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images.astype(np.uint8))
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", y.astype(np.uint8))
    return folder


@pytest.mark.slow
@pytest.mark.sample
def test_rows_are_kept_and_a_restart_goes_on(digits, tmp_path):
    data, out, setting = mnist.read_mnist(digits), tmp_path / "rows.csv", mnist.MnistSetting(**QUICK)
    first = mnist.run_size(data, 60, range(2), setting, device="cpu", out=out, say=lambda text: None)
    assert [row["repetition"] for row in mnist.ROWS.read(out, setting)] == [0, 1]
    whole = out.read_bytes()
    out.write_bytes(whole[:-20])  # killed while writing the second row
    said = []
    again = mnist.run_size(data, 60, range(2), setting, device="cpu", out=out, say=said.append)
    assert said[0].startswith("n=60: 6 nets")  # one repetition only
    assert set(again[0]) == set(mnist.COLUMNS)
    for name in ("true_error", "resub", "nb_bolster", "calibrated_r5", "kappa_r1"):
        assert again[1][name] == pytest.approx(first[1][name], rel=1e-5)
        assert again[0][name] == pytest.approx(first[0][name], rel=1e-5)
    with pytest.raises(InputError, match="another setting"):
        mnist.ROWS.read(out, mnist.MnistSetting(lr=0.1))


def test_a_row_says_what_its_net_does(digits):
    X, y, X_test, y_test = (torch.as_tensor(part) for part in mnist.read_mnist(digits))
    rows, splits = mnist.subsets(y.numpy(), 60, 0, mnist.MnistSetting())
    assert len(set(rows)) == 60
    assert all(len(train) == 48 and len(test) == 12 and not set(train) & set(test) for train, test in splits)
    torch.manual_seed(0)
    nets = [mnist.make_net("glorot").eval() for _ in range(6)]
    row = mnist.estimates_of(nets, X[rows], y[rows], (X_test, y_test), splits, mnist.MnistSetting(**QUICK), 0)
    assert row["true_error"] == pytest.approx(float((nets[0](X_test).argmax(1) != y_test).float().mean()))
    assert row["resub"] == pytest.approx(float((nets[0](X[rows]).argmax(1) != y[rows]).float().mean()))
    held = [
        float((net(X[rows][test]).argmax(1) != y[rows][test]).float().mean())
        for net, (_, test) in zip(nets[1:], splits)
    ]
    assert row["left_out_error"] == pytest.approx(np.mean(held))
    assert row["kappa_r1"] >= 1
    assert row["kappa_r5"] >= 1


@pytest.mark.slow
@pytest.mark.sample
def test_tables_beside_the_published_ones(digits):
    result = reproduce(
        "ghane-mnist", replications=2, data=str(digits), sizes=(200,), device="cpu", **{**QUICK, "epochs": 2}
    )
    cells = {(c.table, c.cell): c for c in result.cells}
    assert cells["2.6 bias", "n=200 resub"].published == -0.131
    run = result.runs[200]
    assert cells["2.6 bias", "n=200 nb-bolster"].ours == pytest.approx((run["nb_bolster"] - run["true_error"]).mean())
    assert cells["2.7 variance", "n=200 resub"].ours == pytest.approx(np.var(run["resub"] - run["true_error"], ddof=1))
    rms = summarize(run["calibrated_r5"], run["true_error"]).rms
    assert cells["2.8 rms", "n=200 calibrated-r5"].ours == pytest.approx(rms)
    assert result.kappas[:2] == (0.0, 1.0)
    assert result.digits.shape == (3, 10, 28, 28)
    assert result.plot("noisy-digits") is not None
    assert "2.9 seconds" in str(result)


def test_the_misprint_is_mended():
    rows = {(r["table"], r["n"], r["estimator"]): r for r in read_published("ghane_mnist")}
    assert len(rows) == 64
    mended = rows["2.8 rms", 600, "calibrated_r5"]
    assert mended["value"] == 0.0304
    assert "0.3040" in mended["note"]
    # what the two uncalibrated columns print agrees to rounding: rms^2 = bias^2 + variance
    for n in (200, 400, 600, 800):
        for column in ("resub", "nb_bolster"):
            bias, variance = rows["2.6 bias", n, column]["value"], rows["2.7 variance", n, column]["value"]
            assert rows["2.8 rms", n, column]["value"] == pytest.approx(np.sqrt(bias**2 + variance), abs=0.002)


def test_noise_is_that_of_the_kernel(digits):
    X, y, *_ = mnist.read_mnist(digits)
    none, one, three = mnist.noisy_digits(X[:100], y[:100], (0.0, 1.0, 3.0), 0)
    np.testing.assert_array_equal(none[4], X[:100][y[:100] == 4][0, 0])
    np.testing.assert_allclose(three - none, 3 * (one - none), atol=1e-5)


def test_misuse(tmp_path):
    with pytest.raises(InputError, match="--data DIR"):
        reproduce("ghane-mnist")
    with pytest.raises(InputError, match="at least 40"):
        reproduce("ghane-mnist", data=str(tmp_path), sizes=(20,))
    with pytest.raises(InputError, match="no finished rows"):
        reproduce("ghane-mnist", results=str(tmp_path / "none.csv"))


def test_the_shipped_full_run():
    result = reproduce("ghane-mnist", results="shipped")
    assert {n: len(run["n"]) for n, run in result.runs.items()} == dict.fromkeys((200, 400, 600, 800), 200)
    assert result.passed  # every conclusion of the dissertation
    cells = {(c.table, c.cell): c for c in result.cells}
    for n in (200, 400, 600, 800):
        assert abs(cells["2.6 bias", f"n={n} resub"].ours - cells["2.6 bias", f"n={n} resub"].published) < 0.01
        for repeats in ("r1", "r5"):
            cell = cells["2.8 rms", f"n={n} calibrated-{repeats}"]
            assert abs(cell.ours - cell.published) < 0.012
    assert result.plot("mnist-rms") is not None
