"""The UCI experiment: padded nets are the nets they stand for, rows survive a cut, flags are kept and not hidden."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.reproduction import reproduce
from unseen.reproduction.ghane_uci.experiment import GhaneUci
from unseen.reproduction.ghane_uci.runs import ROWS, TrainTest, UciSetting, run_set, widths_for

torch = pytest.importorskip("torch", reason="torch is not installed")


def toy(n=40, d=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, d)).astype(np.float32)
    y = (X[:, 0] + 0.5 * rng.normal(size=2 * n) > 0).astype(np.int64)
    return TrainTest(name="toy", X=X[:n], y=y[:n], X_test=X[n:], y_test=y[n:])


@pytest.mark.slow
@pytest.mark.sample
def test_a_padded_net_is_the_narrow_net():
    from functools import partial

    from unseen.core.rng import task_seed
    from unseen.nets import fit_many, make_mlp

    data, setting = toy(), UciSetting(seed=3, epochs=25, stop_at=0.999, dropout=0.0, n_mc=4)
    (rows,) = run_set(data, setting, device="cpu", depths=(2,))
    first = 8 * (task_seed(3, "ghane-uci", "toy", 2) // 8)
    for k, width in enumerate(widths_for(3)):
        alone = fit_many(
            partial(make_mlp, depth=2, width=width),
            data.X,
            data.y,
            seeds=[first + k],
            epochs=25,
            batch_size=4,
            lr=0.001,
            optimizer="adam",
            stop="train-accuracy",
            stop_at=0.999,
            device="cpu",
        )
        wrong = (alone.logits(data.X)[0].argmax(1).numpy() != data.y).mean()
        true = (alone.logits(data.X_test)[0].argmax(1).numpy() != data.y_test).mean()
        doubt = 1 - alone.probabilities(data.X)[0].amax(1)
        assert rows[k]["width"] == width
        assert rows[k]["resub"] == pytest.approx(wrong, abs=1e-6)
        assert rows[k]["true_error"] == pytest.approx(true, abs=1e-6)
        assert rows[k]["posterior"] == pytest.approx(float(np.mean(np.asarray(doubt))), abs=1e-4)


def test_bolstered_figures_are_those_of_the_estimators():
    from unseen.nets import estimate, fit_many
    from unseen.reproduction.ghane_uci.runs import PaddedNets, errors_at_kernel_points

    data, setting = toy(), UciSetting(n_mc=2000)
    fits = fit_many(
        PaddedNets(widths_for(3), 1, 0.0),
        data.X,
        data.y,
        [np.arange(40)] * 8,
        seeds=range(8),
        epochs=15,
        stop="none",
        device="cpu",
    )
    X, y = torch.as_tensor(data.X), torch.as_tensor(data.y)
    wrong, doubt = errors_at_kernel_points(fits, X, y, 2, setting)
    for k in (0, 7):
        for found, method in ((wrong, "bolster"), (doubt, "bolster-posterior")):
            e = estimate(fits.module(k), data.X, data.y, method=method, n_mc=2000, random_state=1)
            assert float(found[k]) == pytest.approx(e.value, abs=5 * e.mc_error + 1e-9)


def test_rows_survive_a_cut_line(tmp_path):
    data, setting = toy(), UciSetting(epochs=2, n_mc=2)
    (rows,) = run_set(data, setting, device="cpu", depths=(1,))
    path = tmp_path / "rows.csv"
    ROWS.append(path, rows)
    text = path.read_text()
    path.write_text(text + "toy,40,3,2")
    assert ROWS.read(path) == rows


def test_flags_and_checks(tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for name in ("a", "b", "congressional-voting"):
        for depth in (1, 2):
            for k in range(8):
                truth = float(rng.uniform(0.06, 0.6))
                rows.append(
                    {
                        "set": name,
                        "n": 50,
                        "d": 4,
                        "classes": 2,
                        "depth": depth,
                        "width_number": k,
                        "width": 10,
                        "epochs": 5,
                        "train_accuracy": 0.96 if k else 0.9,
                        "true_error": truth,
                        "resub": truth - 0.2,
                        "bolster": truth - 0.1,
                        "posterior": truth - 0.15,
                        "bolster_posterior": truth + 0.01,
                        "seconds": 0.1,
                    }
                )
    ROWS.append(tmp_path / "r.csv", rows)
    r = reproduce("ghane-uci", results=str(tmp_path / "r.csv"))
    cells = {(c.table, c.cell): c for c in r.cells}
    assert cells["nets", "share that reached the training accuracy"].ours == pytest.approx(7 / 8)
    assert cells["nets", "share that reached the training accuracy"].published == pytest.approx(3066 / 3600)
    assert cells["bias", "all nets: bolster"].ours == pytest.approx(-0.1)
    assert r.kept.sum() == 28
    assert [c.passed for c in r.checks] == [True, True]
    assert "congressional-voting" in " ".join(r.remarks)


def test_runs_on_real_sets_and_goes_on(shared, tmp_path):
    options = {"data": str(shared / "data" / "fd121"), "sets": ("balloons",), "epochs": 3, "n_mc": 5, "device": "cpu"}
    out = str(tmp_path / "uci.csv")
    reproduce("ghane-uci", depths=(1,), out=out, **options)
    r = reproduce("ghane-uci", depths=(1, 2), out=out, **options)
    assert len(ROWS.read(tmp_path / "uci.csv")) == 16
    again = reproduce("ghane-uci", depths=(1, 2), **options)
    for name in ("true_error", "bolster", "posterior"):
        assert np.array_equal(r.nets[name], again.nets[name])


def test_bad_input(shared, tmp_path):
    with pytest.raises(InputError, match="give the folder"):
        reproduce("ghane-uci")
    with pytest.raises(InputError, match=r"splits\.npz"):
        reproduce("ghane-uci", data=str(tmp_path))
    with pytest.raises(InputError, match="no such set"):
        reproduce("ghane-uci", data=str(shared / "data" / "fd121"), sets=("irsi",))
    with pytest.raises(InputError, match="no finished rows"):
        GhaneUci(results=str(tmp_path / "none.csv"))._read_runs()


def test_an_interrupt_names_the_file_that_holds_what_is_done(shared, tmp_path, monkeypatch):
    from unseen.core.errors import Paused
    from unseen.reproduction.ghane_uci import experiment as ghane_uci

    options = {"data": str(shared / "data" / "fd121"), "sets": ("balloons",), "epochs": 2, "n_mc": 2, "device": "cpu"}
    made = ghane_uci.run_set

    def stopped(*given, **more):
        yield next(made(*given, **more))
        raise KeyboardInterrupt

    monkeypatch.setattr(ghane_uci, "run_set", stopped)
    out = tmp_path / "rows.csv"
    with pytest.raises(Paused, match=r"kept in .*rows\.csv.* goes on from there"):
        reproduce("ghane-uci", out=str(out), **options)
    assert len(ROWS.read(out)) == 8
    with pytest.raises(KeyboardInterrupt) as plain:
        reproduce("ghane-uci", **options)
    assert not isinstance(plain.value, Paused)


def test_the_finished_run_is_summed_up_by_its_checks():
    r = reproduce("ghane-uci", results="shipped")
    assert len(r.nets["set"]) == 3600
    assert len(set(r.nets["set"])) == 90
    assert r.sentence == "No published number can be judged; 2 of 3 checks of what the publication concludes hold."
    assert str(r).endswith(r.sentence)
