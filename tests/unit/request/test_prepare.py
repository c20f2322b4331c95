"""What stands at the front of every public function: arguments that it does not have are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.core.errors import InputError
from unseen.request.prepare import data_of


@pytest.mark.parametrize(
    "function", [unseen.assess, unseen.run, unseen.diagnose, unseen.distribution, unseen.resubstitute]
)
@pytest.mark.parametrize("name", ["rando_state", "group"])
def test_misspelt_arguments_are_refused(function, name):
    data = unseen.datasets.load("iris")
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        function(GaussianNB(), data, **{name: 1})


@pytest.mark.parametrize("more", [{"y": [1, 2]}, {"groups": [1, 2]}, {"task": "regression"}])
def test_columns_beside_a_data_object_are_refused(more):
    with pytest.raises(InputError, match=f"{next(iter(more))} came with a Data object"):
        unseen.assess(GaussianNB(), unseen.datasets.load("iris"), **more)


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "c"])
    frame["who"], frame["w"] = rng.integers(0, 30, 90), rng.uniform(1, 2, 90)
    frame["y"] = np.array(["no", "yes"])[rng.integers(0, 2, 90)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_a_path_stands_for_the_table_at_it(file):
    frame, roles = pd.read_csv(file), {"groups": "who", "sample_weight": "w", "positive": "no"}
    given, named = data_of(frame, "y", **roles), data_of(file, "y", **roles)
    assert named.X.equals(given.X)
    assert named.positive == "no"
    assert np.array_equal(named.weights, given.weights)
    assert len(set(zip(named.units, given.units))) == given.n_units, "a file's groups are text"
    options = {"random_state": 0, "effort": "quick"}
    first, second = (unseen.assess("naive-bayes", X, "y", **options) for X in (str(file), frame))
    assert (first.error, first.interval) == (second.error, second.interval)
    pair = unseen.compare("naive-bayes", "lda", file, "y", random_state=0, cv=5)
    assert pair.frame().equals(unseen.compare("naive-bayes", "lda", frame, "y", random_state=0, cv=5).frame())
    fitted = GaussianNB().fit(frame[["a", "b", "c"]], frame["y"])
    with pytest.raises(InputError, match=r"Give --target, one of"):
        unseen.resubstitute(fitted, file)
    assert unseen.assess("lda", "iris", cv=5, random_state=0).data.n == 150, "bundled names too"


def test_columns_of_a_file_are_named(file):
    with pytest.raises(InputError, match=r"X is the path .*t\.csv', so groups must be the name of one of its columns"):
        unseen.assess("lda", file, "y", groups=[1, 2])
