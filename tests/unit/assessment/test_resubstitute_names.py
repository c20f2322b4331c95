"""Names of methods for a trained model: an unknown one is answered with those that take the model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import unseen
from unseen.assessment.resubstitute import methods_for
from unseen.core.errors import InputError, UnknownName
from unseen.core.registry import classes_in

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = RNG.standard_normal((60, 3)) + Y[:, None]
CLASSIFIER = LogisticRegression(C=1e6, tol=1e-10, max_iter=10_000).fit(X, Y)
FOREST = RandomForestClassifier(5, random_state=0).fit(X, Y)
REGRESSION = LinearRegression().fit(X[:, :2], X[:, 2])


def listed(error):
    return str(error).partition("known: ")[2].rstrip(".").split(", ")


def taken(model, X, y, name):
    try:
        return unseen.resubstitute(model, X, y, methods=[name], random_state=0)[name].value >= 0
    except InputError:
        return False


def test_an_estimator_is_told_every_method_that_takes_it():
    with pytest.raises(UnknownName) as caught:
        unseen.resubstitute(CLASSIFIER, X, Y, methods=["xyzzy"])
    every = {*classes_in("resubstitution"), *classes_in("estimators")}
    samples = ((CLASSIFIER, X, Y), (FOREST, X, Y), (REGRESSION, X[:, :2], X[:, 2]))
    found = {n for n in every if any(taken(*sample, n) for sample in samples)}
    assert set(listed(caught.value)) == found
    assert {"calibrated-bolster", "fpe", "nic"} < found


def test_a_model_file_is_told_only_what_needs_no_estimator(forked_models, tmp_path, monkeypatch, capsys):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    from unseen.cli.app import main
    from unseen.models.files.load import open_model

    skops.dump(CLASSIFIER, tmp_path / "c.skops")
    table = np.column_stack([X, Y])
    np.savetxt(tmp_path / "c.csv", table, delimiter=",", header="a,b,c,y", comments="")
    monkeypatch.chdir(tmp_path)

    monkeypatch.setattr("sys.argv", ["unseen", "resub", "c.skops", "c.csv", "-t", "y", "-m", "resub", "-m", "xyzzy"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    named = listed(capsys.readouterr().err.rstrip())
    with open_model(tmp_path / "c.skops") as model:
        found = {n for n in {*classes_in("resubstitution"), *classes_in("estimators")} if taken(model, X, Y, n)}
        assert set(methods_for(model)) == found
    assert set(named) == found
    assert {"bolster", "vc-bound"} < found


def test_names_are_looked_at_before_any_method_runs():
    def predict(points):
        raise AssertionError("asked for predictions")

    with pytest.raises(UnknownName, match="unknown method 'bolsterr': did you mean 'bolster'"):
        unseen.resubstitute(predict, X, Y, methods=["resub", "bolsterr"])


@pytest.mark.parametrize("name", ["k-fold", "wilsn", "calibrated-bolstr"])
def test_what_would_be_refused_is_not_suggested(name):
    with pytest.raises(UnknownName) as caught:
        unseen.resubstitute(lambda points: points[:, 0] > 0, X, Y, methods=[name])
    assert not any(f"'{wrong}'" in str(caught.value) for wrong in ("kfold", "wilson", "calibrated-bolster"))
