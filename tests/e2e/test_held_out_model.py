"""`unseen assess test.csv --model model.skops`: the whole report for rows that the trained model has not seen."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unseen

skops = pytest.importorskip("skops.io")


@pytest.fixture
def trained(tmp_path):
    """A folder with a trained model, the rows it has not seen, and what it says of them."""
    data = unseen.datasets.load("breast-cancer")
    frame = pd.DataFrame(np.asarray(data.X), columns=list(data.names))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame[::2], data.y[::2])
    skops.dump(model, tmp_path / "m.skops")
    X, y = frame[1::2], data.y[1::2]
    X.assign(diagnosis=y).to_csv(tmp_path / "test.csv", index=False)
    return tmp_path, model.predict(X) != y, roc_auc_score(y == "malignant", model.predict_proba(X)[:, 1])


@pytest.mark.slow
def test_a_file_of_a_model_and_a_file_of_rows_give_the_whole_report(trained, run_unseen):
    folder, wrong, area = trained
    shared = ("assess", "test.csv", "--model", "m.skops", "--target", "diagnosis")
    ended = run_unseen(*shared, "--report", "r.html", "--json", "--quiet", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["error"] == pytest.approx(wrong.mean())
    wilson = binomtest(int(wrong.sum()), len(wrong)).proportion_ci(method="wilson")
    assert found["interval"] == pytest.approx([wilson.low, wilson.high])
    assert (found["target"], found["model"], found["n"]) == ("this model", "m.skops", len(wrong))
    page = (folder / "r.html").read_text()
    for part in (
        "Which class is taken for which",
        "ROC curve",
        "Precision and recall",
        "Calibration",
        "Decision curve",
    ):
        assert part in page
    assert f"area {area:.3f}" in page
    told = run_unseen(*shared, cwd=folder)
    assert "This is the error of this model." in " ".join(told.stdout.split())
    assert f"{100 * wrong.mean():.1f}%" in told.stdout


@pytest.mark.slow
def test_a_pickle_is_refused_with_two_lines_that_convert_it(trained, run_unseen):
    import joblib

    folder, *_ = trained
    joblib.dump(skops.load(folder / "m.skops"), folder / "m.joblib")
    ended = run_unseen("assess", "test.csv", "--model", "m.joblib", "--target", "diagnosis", cwd=folder)
    assert ended.returncode == 2
    first, second = (line.strip() for line in ended.stderr.splitlines() if line.startswith("  "))
    (folder / "m.skops").unlink()
    exec(f"{first}\n{second.replace('m.', f'{folder}/m.')}", {})
    assert (
        run_unseen("assess", "test.csv", "--model", "m.skops", "--target", "diagnosis", "-q", cwd=folder).returncode
        == 0
    )


@pytest.mark.slow
def test_nothing_is_fitted_so_nothing_about_fitting_is_taken(trained, run_unseen):
    folder, *_ = trained
    ended = run_unseen("assess", "test.csv", "--model", "m.skops", "--target", "diagnosis", "--quick", cwd=folder)
    assert ended.returncode == 2
    assert "nothing is fitted" in ended.stderr


def test_a_graph_with_labels_in_words_is_assessed_as_the_model_it_was_made_from(trained):
    skl2onnx = pytest.importorskip("skl2onnx")
    folder, wrong, area = trained
    test = pd.read_csv(folder / "test.csv")
    model = make_pipeline(StandardScaler(), LogisticRegression())
    data = unseen.datasets.load("breast-cancer")
    model.fit(np.asarray(data.X)[::2], data.y[::2])
    made = skl2onnx.to_onnx(model, np.zeros((1, 30), np.float32), options={id(model): {"zipmap": False}})
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    with unseen.open_model(folder / "m.onnx") as opened:
        a = unseen.assess(opened, test, "diagnosis", prefit=True, measures=["accuracy", "auc"], random_state=0)
    assert a.error == pytest.approx(wrong.mean(), abs=1 / len(wrong))  # graphs compute in single precision
    assert a.also["auc"].on_scale().value == pytest.approx(area, abs=1e-3)
    with pytest.raises(unseen.UnseenError, match="classes has 3 labels; the graph has 2 columns"):
        unseen.open_model(folder / "m.onnx", classes=["a", "b", "c"])


def test_a_model_in_a_file_has_a_short_name(trained):
    with unseen.open_model(trained[0] / "m.skops") as opened:
        assert opened.name == "logistic regression (pipeline of 2 steps)"
        X, y = unseen.datasets.load("breast-cancer").xy
        assert (
            unseen.resubstitute(opened, X[:90], y[:90], methods=["resub"])
            .sentence()
            .startswith("logistic regression (")
        )


def test_what_a_trained_model_cannot_predict_is_one_sentence(trained):
    folder, *_ = trained
    test = pd.read_csv(folder / "test.csv")
    X = test.drop(columns="diagnosis")
    model = LogisticRegression(max_iter=5000).fit(X, test.diagnosis)
    for given in (X.iloc[:, :3], X.rename(columns={X.columns[0]: "another"})):
        with pytest.raises(
            unseen.UnseenError, match=r"the trained model could not predict the 284 rows; it says: ValueError"
        ):
            unseen.assess(model, given, test.diagnosis, prefit=True)


@pytest.mark.parametrize("call", ["assess", "estimate", "run", "diagnose"])
def test_a_class_is_no_model(call):
    with pytest.raises(unseen.UnseenError, match=r"the model is the class LogisticRegression; give an object of it"):
        getattr(unseen, call)(LogisticRegression, *unseen.datasets.load("iris").xy)
