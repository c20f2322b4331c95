"""What a failed fit says: the model's words, and what to do about columns of words and gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVR

import unseen
from unseen.core.errors import FitError


def frame(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"age": rng.normal(size=n), "sex": rng.choice(["f", "m"], n), "site": rng.choice(["a", "b"], n)}
    )


def labels(n=60):
    return np.tile([0, 1], n // 2)


def test_columns_of_words_are_named_with_the_way_out():
    with pytest.raises(FitError, match="could not convert string to float") as caught:
        unseen.assess(RandomForestClassifier(5), frame(), labels(), quick=True, random_state=0)
    assert "'. The columns sex, site hold words: put an encoder before the model in a pipeline" in str(caught.value)
    assert 'such as "logistic", which encodes them by itself' in str(caught.value)


def test_a_run_names_them_too():
    with pytest.raises(FitError, match="The column sex holds words: put an encoder"):
        unseen.run(LogisticRegression(), frame()[["age", "sex"]], labels(), random_state=0)


@pytest.mark.parametrize("kind", ["float", "Float64", "array"])
def test_gaps_are_named_with_the_way_out(kind):
    X = frame()[["age"]].assign(dose=np.arange(60.0))
    X.loc[3, "dose"] = np.nan
    given = X.to_numpy() if kind == "array" else X.astype(kind) if kind == "Float64" else X
    name = "x1" if kind == "array" else "dose"
    with pytest.raises(FitError, match=f"The column {name} has gaps: put an imputer") as caught:
        unseen.assess(LinearSVR(), given, np.arange(60.0), quick=True, random_state=0)
    assert '"ridge", which fills them by itself' in str(caught.value)


def test_other_reasons_get_no_advice():
    with pytest.raises(FitError) as caught:
        unseen.assess(Ridge(alpha=-1), np.arange(60.0).reshape(-1, 1), np.arange(60.0), quick=True, random_state=0)
    assert "column" not in str(caught.value)


def test_many_columns_are_counted():
    X = pd.DataFrame({f"c{k}": frame()["sex"] for k in range(8)})
    with pytest.raises(FitError, match="The columns c0, c1, c2, c3, c4 and 3 more hold words"):
        unseen.assess(RandomForestClassifier(5), X, labels(), quick=True, random_state=0)


def test_classes_that_stand_in_one_group_each_are_named():
    y = labels()
    with pytest.raises(FitError, match=r"\. All rows of '0', '1' stand in one group, and whole groups are left out"):
        unseen.assess(LogisticRegression(), frame()[["age"]], y, groups=y, quick=True, random_state=0)
