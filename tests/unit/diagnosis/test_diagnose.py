"""`unseen.diagnose`: each part against a closed form or a simulation with a known answer."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

import unseen
from unseen.core.errors import InputError
from unseen.core.plan import Split
from unseen.diagnosis.coefficients import jackknife_coefficients
from unseen.diagnosis.dependence import Dependence
from unseen.diagnosis.diagnose import DiagnosisEffort
from unseen.diagnosis.learning_curve import fit_curve, learning_curve, power_law
from unseen.diagnosis.noise import Corrupted
from unseen.diagnosis.optimism import optimism_link
from unseen.diagnosis.ranking import ranking_stability
from unseen.diagnosis.units import unit_report

SMALL = DiagnosisEffort(splits=20, sizes=4, repeats=3, noise=4, permutations=19, bootstrap=30)


@pytest.fixture(scope="module")
def cancer():
    data = unseen.datasets.load("breast-cancer")
    return unseen.diagnose("lda", data, others={"bayes": "naive-bayes", "dummy": "dummy"}, random_state=0, effort=SMALL)


def test_delete_d_jackknife_of_a_mean_is_the_textbook_error():
    """Over all subsets, (n1/n2) (1/J) sum (b_j - mean)^2 of the sample mean is exactly s^2 / n."""
    x = np.random.default_rng(0).standard_normal(9)
    means = np.array([[x[list(keep)].mean()] for keep in combinations(range(9), 6)])
    c = jackknife_coefficients(means, np.array([x.mean()]), ("mean",), 6, 3, 0.95)
    assert c.std_error[0] ** 2 == pytest.approx(x.var(ddof=1) / 9, rel=1e-12)


def test_coefficient_intervals_are_those_of_least_squares():
    """Jackknife and bootstrap errors near the classical ones; a feature without effect is marked, one with effect is not."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 3))
    y = 2 * X[:, 0] + 0.0 * X[:, 1] - 1 * X[:, 2] + rng.standard_normal(120)
    design = np.column_stack([np.ones(120), X])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    classical = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (residual @ residual) / 116)[1:]
    for how in ("jackknife", "bootstrap"):
        d = unseen.diagnose(
            LinearRegression(),
            X,
            y,
            random_state=0,
            coefficients=how,
            effort=DiagnosisEffort(splits=300, sizes=4, repeats=2, noise=1, permutations=1, bootstrap=300),
        )
        c = d.coefficients
        assert c.value == pytest.approx(LinearRegression().fit(X, y).coef_)
        assert c.std_error == pytest.approx(classical, rel=0.25)
        assert not c.near_zero[0]
        assert not c.near_zero[2]
        assert c.near_zero[1] == (c.low[1] <= 0 <= c.high[1])


def test_units_by_hand(loss_table):
    splits = [Split(np.array([3, 4]), np.array([0, 1, 2])), Split(np.array([2, 4]), np.array([0, 1, 3]))]
    splits.append(Split(np.array([3, 4]), np.array([0, 1])))
    losses = loss_table(splits, [[1, 0, 1], [1, 1, 0], [1, 0]], "leave-out", rate=True)
    u = unit_report(losses)
    assert u.names == ("1", "2", "3", "4")
    assert u.error == pytest.approx([1, 1 / 3, 1, 0])
    assert u.agreement[:2] == pytest.approx([1, 1 / 3])  # three models: all agree; one of three pairs agrees
    assert np.isnan(u.agreement[2:]).all()
    assert u.hard.tolist() == [0, 2]
    assert u.unstable.tolist() == [1]


def test_ranking_by_hand(loss_table):
    splits = [Split(np.array([2, 3]), np.array([0, 1]), repeat=j) for j in range(4)]
    a = loss_table(splits, [[0, 0], [0, 0], [1, 1], [1, 1]], "leave-out", rate=True)
    b = loss_table(splits, [[1, 0], [0, 0], [0, 0], [1, 1]], "leave-out", rate=True)
    c = loss_table(splits, [[1, 1], [1, 1], [1, 1], [1, 0]], "leave-out", rate=True)
    r = ranking_stability({"a": a, "b": b, "c": c})
    assert r.names == ("b", "a", "c")
    assert r.first == pytest.approx(((0 + 1 / 2 + 1 + 0) / 4, (1 + 1 / 2 + 0 + 0) / 4, 1 / 4))
    means = np.array([t.split_means() for t in (b, a, c)])
    assert r.tau == pytest.approx(np.mean([kendalltau(col, means.mean(axis=1)).statistic for col in means.T]))
    with pytest.raises(InputError, match="at least two"):
        ranking_stability({"a": a})


def test_optimism_of_the_majority_rule_falls_with_the_training_error():
    """Seed 003: labels that depend on nothing; the risk is 1/2, so optimism is 1/2 - training error but for test noise."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 1)), rng.integers(0, 2, 200)
    t = unseen.run("dummy", X, y, design=unseen.designs.LeaveOut(0.9, 60), train=True, random_state=0)
    link = optimism_link(t.losses())
    assert link.correlation < -0.7
    assert link.optimism == pytest.approx(t.losses().split_means() - t.losses().train_errors())


@pytest.mark.parametrize(("a", "b", "c"), [(0.1, 2.0, 1.0), (0.05, 0.8, 0.5), (0.2, 0.0, 1.0)])
def test_a_power_law_is_found_again(a, b, c):
    n = np.array([10.0, 20, 40, 80, 160])
    got = power_law(n, a + b * n**-c)
    assert got[0] + got[1] * 1000.0 ** -got[2] == pytest.approx(a + b * 1000.0**-c, abs=0.01)
    rng = np.random.default_rng(0)
    errors = a + b * n**-c + 0.01 * rng.standard_normal((10, 5))
    parts = errors.T[:, :, None], np.ones((5, 10, 1))
    parameters, law, low, high = fit_curve(n, errors, parts, np.array([160.0, 640.0]), rng, 0.95)
    assert low[1] <= a + b * 640.0**-c + 0.02
    assert high[1] >= a + b * 640.0**-c - 0.02
    assert law.shape == (2,)
    assert parameters[2] > 0


def test_limits_of_the_learning_curve_hold_the_expected_error():
    """Least squares with an intercept on p Gaussian inputs: expected error (n + 1)(n - 2) / (n (n - p - 2)).

    Limits from repetitions alone, which share their units, held it in 64% of data sets.
    """
    n, p, held = 80, 5, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, p))
        table = unseen.run(
            LinearRegression(),
            X,
            X.sum(axis=1) + rng.standard_normal(n),
            random_state=seed,
            task="regression",
            design=unseen.designs.LearningCurve(6, 10),
        )
        curve = learning_curve(table.losses(), n, rng, 0.95)
        held += [
            [low <= (k + 1) * (k - 2) / (k * (k - p - 2)) <= high for k in (n, 2 * n) for _, low, high in [curve.at(k)]]
        ]
    assert np.mean(held, axis=0).min() >= 0.85


def test_the_optimism_sentence_names_the_size_it_was_seen_at():
    """Splits train on three quarters; least squares is more optimistic there than on all rows, by about 4/3."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    d = unseen.diagnose("ols", X, X[:, 0] + rng.standard_normal(40), random_state=0, effort=SMALL)
    assert d.sentences()[1].startswith("Trained on 30 of the 40 units, a model's training error is too small by")


def test_noise_changes_the_share_of_labels_it_says():
    data = unseen.datasets.load("iris")
    seen = {}

    class Spy:
        name = "spy"

        def fit(self, data, seed):
            seen["data"] = data

    Corrupted(Spy(), 0.3).fit(data, 5)
    assert np.mean(seen["data"].y != data.y) == pytest.approx(0.3, abs=0.08)
    assert set(seen["data"].y) <= set(data.y)
    Corrupted(Spy(), 0.5, "features").fit(data, 5)
    added = seen["data"].X - data.X
    added = np.asarray(added, dtype=float)
    assert added.std(axis=0) == pytest.approx(0.5 * np.asarray(data.X, dtype=float).std(axis=0), rel=0.25)
    assert np.array_equal(seen["data"].y, data.y)


def test_a_p_value_at_the_floor_of_its_permutations_is_at_most(cancer):
    found = [s for s in cancer.sentences() if "permutation test" in s]
    lowest = 1 / (1 + len(cancer.dependence.permuted))
    assert cancer.dependence.p == lowest
    assert f"p at most {lowest:.3g}" in found[0]
    assert Dependence(0.45, np.array([0.4, 0.5, 0.6])).p_in_words == "p = 0.5"


def test_effects_are_stated_with_their_spread(cancer):
    text = " ".join(cancer.sentences())
    assert re.search(r"too small by [\d.]+ points on average \(standard deviation over splits [\d.]+ points\)", text)
    assert re.search(r"goes from [\d.]+% \([\d.]+% to [\d.]+%\) to [\d.]+% \([\d.]+% to [\d.]+%\), in brackets", text)


def test_permutation_p_values():
    assert Dependence(0.1, np.array([0.5, 0.4, 0.6])).p == 0.25
    assert Dependence(0.5, np.array([0.5, 0.4, 0.6])).p == 0.75
    rng = np.random.default_rng(0)
    p = [
        unseen.diagnose(
            "lda",
            rng.standard_normal((40, 2)),
            rng.permutation(np.repeat([0, 1], 20)),
            random_state=k,
            effort=DiagnosisEffort(splits=2, sizes=3, repeats=2, noise=0, permutations=19, bootstrap=2),
        ).dependence.p
        for k in range(8)
    ]
    assert np.mean(np.array(p) <= 0.1) <= 0.4
    assert np.mean(p) > 0.25


@pytest.mark.slow
@pytest.mark.sample
def test_the_whole_picture(cancer, tmp_path):
    d = cancer
    assert d.dependence.p == 0.05
    assert d.noise.error[-1] > d.noise.error[0]
    assert d.curve.train[0, 0] <= d.curve.test[0, 0]
    assert d.ranking.names[-1] == "dummy"
    assert sum(d.ranking.first) == pytest.approx(1)
    assert d.units.error.mean() == pytest.approx(d.table.split_means().mean(), abs=0.01)
    assert len(d.sentences()) == 8
    assert d.importance.names[0] in d.sentences()[2]
    assert [name.rpartition("__")[2] for name in d.coefficients.names] == list(
        unseen.datasets.load("breast-cancer").names
    )
    again = unseen.diagnose(
        "lda",
        unseen.datasets.load("breast-cancer"),
        others={"bayes": "naive-bayes", "dummy": "dummy"},
        random_state=0,
        effort=SMALL,
    )
    assert again.to_dict() == d.to_dict()
    json.dumps(d.to_dict(), allow_nan=False)
    d.report(tmp_path / "d.html")
    text = (tmp_path / "d.html").read_text()
    for anchor in ("findings", "units", "coefficients", "more", "repeat"):
        assert f'id="{anchor}"' in text


def test_groups_and_numbers():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(30), 2)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + 0.3 * rng.standard_normal(60)
    y[9] += 15
    d = unseen.diagnose("ols", X, y, groups=groups, random_state=0, effort=SMALL)
    assert d.units.names[d.units.hard[0]] == "4"
    assert d.dependence is None
    assert any("permuted" in n.text for n in d.notes)
    alone = unseen.diagnose("ols", X, y, random_state=0, effort=SMALL, noise="features")
    assert alone.units.table(alone.units.hard[:1])[0]["rows"] == "10"


def test_refusals():
    data = unseen.datasets.load("breast-cancer")
    with pytest.raises(InputError, match="effort"):
        unseen.diagnose("lda", data, effort="huge")
    with pytest.raises(InputError, match="whole test parts"):
        unseen.diagnose("lda", data, loss="f1", effort=SMALL)
    with pytest.raises(InputError, match="coefficients is"):
        unseen.diagnose("lda", data, coefficients="raw")
    with pytest.raises(InputError, match="noise is"):
        unseen.diagnose("lda", data, rates=[-1])


def test_command_line(tmp_path):
    from unseen.cli.app import _attach_commands, app

    _attach_commands()
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((40, 2)), columns=["u", "v"])
    frame["y"] = np.where(frame["u"] + rng.standard_normal(40) > 0, "yes", "no")
    frame.to_csv(tmp_path / "d.csv", index=False)
    arguments = ["diagnose", str(tmp_path / "d.csv"), "--target", "y", "--model", "lda", "--quick", "--json", "--quiet"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    got = json.loads(result.stdout)
    assert [c["coefficient"].rpartition("__")[2] for c in got["coefficients"]] == ["u", "v"]
    assert 0 < got["dependence"]["p"] <= 1


def test_units_of_a_subsample_are_named_by_their_row_in_the_file():
    from unseen.datasets.read import read

    whole = unseen.datasets.load("breast-cancer")
    part = read("breast-cancer", n=60, seed=1)
    assert np.array_equal(whole.X[np.asarray(part.ids) - 1], part.X)
    d = unseen.diagnose("lda", part, random_state=0, effort="quick")
    for row in d.units.table(d.units.hard):
        assert row["unit"] == row["rows"]
        assert int(row["unit"]) in set(part.ids)
    places = {str(i): k for k, i in enumerate(part.ids)}
    assert [int(rows[0]) for rows in d.units.rows] == [places[name] for name in d.units.names]


def test_the_permutation_test_alone_on_the_command_line(tmp_path):
    from unseen.cli.app import _attach_commands, app

    _attach_commands()
    page = tmp_path / "test.html"
    words = ["permutation-test", "iris", "--model", "lda", "--permutations", "19", "--quiet"]
    result = CliRunner().invoke(app, [*words, "--json", "--report", str(page)])
    assert result.exit_code == 0, result.output
    got = json.loads(result.stdout)
    assert (got["p"], got["permutations"], len(got["permuted"])) == (1 / 20, 19, 19)
    found = unseen.permutation_test("lda", unseen.datasets.load("iris"), n_permutations=19, random_state=0)
    assert got["error"] == found.error
    assert got["permuted"] == found.permuted.tolist()
    assert "The target depends on the features: lda has an error of" in page.read_text()
    assert page.read_text().count("<svg") == 2  # for a wide page and for a phone
    text = CliRunner().invoke(app, words)
    assert "".join(text.stdout.split()) == "".join(str(found).split())


def test_targets_of_pure_chance_are_not_called_dependent():
    found = Dependence(0.5, np.array([0.4, 0.5, 0.6, 0.45]), "zero-one", "lda")
    assert found.sentence().startswith(
        "The target is not shown to depend on the features: lda has an error of 50.0%, and 48.8% "
    )
    assert found.rows()[0]["p"] == (1 + 3) / (1 + 4)


def test_a_model_that_never_changes_has_a_picture_of_its_permutations(tmp_path):
    """Permuted errors of a constant guess differ by rounding alone, which a histogram cannot cut into bars."""
    found = unseen.permutation_test("dummy", unseen.datasets.load("iris"), n_permutations=9, random_state=0)
    found = replace(found, permuted=found.error + np.arange(9) * 1e-17)
    found.report(tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text()


def units_of(error, spread, names):
    from types import SimpleNamespace

    from unseen.diagnosis.units import UnitReport

    k = np.arange(len(error))
    report = UnitReport(
        units=k, names=names, rows=tuple(k[:, None]), error=np.array(error), agreement=np.array(spread), tested=k + 1, task="regression"
    )  # fmt: skip
    return SimpleNamespace(units=report, table=SimpleNamespace(loss="squared"))


def test_names_of_units_do_not_overlap_and_the_caption_counts_them():
    from unseen.diagnosis.figures.units import units_info

    rest = [0.0, 0.1, 0.2, 0.1] * 5
    near = units_of([*rest, 10.0, 9.9], [*rest, 1.0, 1.01], tuple(f"u{k}" for k in range(22)))
    shown = units_info(near)
    assert [name for _, _, name in shown.names] == ["u20"]
    assert shown.caption.endswith(" 1 of the 2 hard units are named.")
    far = units_of([*rest, 10.0, 5.0], [*rest, 1.0, 1.01], tuple(f"u{k}" for k in range(22)))
    assert [name for _, _, name in units_info(far).names] == ["u20", "u21"]
    assert "are named" not in units_info(far).caption


def test_units_that_were_not_tested_are_not_counted_in_silence(cancer):
    from dataclasses import replace

    d, n = cancer, cancer.data.n_units
    some = replace(
        d.units, units=d.units.units[: n - 1], error=d.units.error[: n - 1], agreement=d.units.agreement[: n - 1]
    )
    assert f" of the {n - 1} units that were tested are missed" in replace(d, units=some).sentences()[0]
    whole = replace(d.units, units=np.arange(n))
    assert f" of {n} units are missed" in replace(d, units=whole).sentences()[0]
    assert "have a correlation of " in d.sentences()[1]
