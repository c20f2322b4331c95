"""What users hold in memory, as checked data."""

from __future__ import annotations

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from unseen.core.errors import InputError, KindError, UnknownName
from unseen.datasets.conversion import as_data

Y = [0, 1, 0, 1]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "whole": pd.array([1, None, 3, 4], dtype="Int64"),
            "full": pd.array([1, 2, 3, 4], dtype="Int64"),
            "truth": pd.array([True, None, False, True], dtype="boolean"),
            "real": pd.array([1.5, None, 2, 3], dtype="Float64"),
            "text": ["a", None, "b", "a"],
            "string": pd.array(["a", None, "b", "a"], dtype="string"),
            "level": pd.Categorical(["u", "v", "u", None]),
            "date": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-04"]),
            "zoned": pd.date_range("2020-01-01", periods=4, tz="Europe/Berlin"),
        }
    )


class TestFrames:
    def test_nullable_columns_become_plain_with_nan(self) -> None:
        X = as_data(frame(), Y).X
        assert X["whole"].dtype == "float64"
        np.testing.assert_array_equal(X["whole"], [1, np.nan, 3, 4])
        assert X["full"].dtype == "int64"
        np.testing.assert_array_equal(X["truth"], [1, np.nan, 0, 1])
        np.testing.assert_array_equal(X["real"], [1.5, np.nan, 2, 3])
        for name in ("text", "string", "level"):
            assert X[name].isna().tolist().count(True) == 1
            assert not any(v is pd.NA for v in X[name])
        assert X["date"].dtype.kind == "M"
        assert X["zoned"].tolist()[0] == pd.Timestamp("2019-12-31 23:00")

    def test_the_callers_frame_is_not_changed(self) -> None:
        given = frame()
        as_data(given, Y)
        pd.testing.assert_frame_equal(given, frame())

    @pytest.mark.parametrize(
        "convert", [pl.from_pandas, pa.Table.from_pandas, lambda f: f.convert_dtypes(dtype_backend="pyarrow")]
    )
    def test_polars_and_arrow_mean_the_same(self, convert) -> None:
        given = frame().drop(columns="zoned")
        mine, other = as_data(given, Y).X, as_data(convert(given), Y).X
        assert list(mine.columns) == list(other.columns)
        for name in mine.columns:
            a, b = mine[name].astype(object), other[name].astype(object)
            assert a.isna().tolist() == b.isna().tolist()
            assert a.dropna().astype(str).tolist() == b.dropna().astype(str).tolist()

    def test_fingerprint_sees_values_names_and_target(self) -> None:
        base = pd.DataFrame({"a": [1.0, 2, 3, 4], "s": list("xyxy")})
        mark = as_data(base, Y).fingerprint
        assert as_data(base.copy(), Y).fingerprint == mark
        assert as_data(base.astype({"s": "category"}), Y).fingerprint == mark
        others = [base.assign(a=[1.0, 2, 3, 5]), base.assign(s=list("xyxz")), base.rename(columns={"a": "b"})]
        assert len({mark, as_data(base, [0, 1, 1, 1]).fingerprint, *(as_data(o, Y).fingerprint for o in others)}) == 5

    def test_names_become_text(self) -> None:
        assert as_data(pd.DataFrame(np.eye(4)), Y).names == ("0", "1", "2", "3")
        both = pd.DataFrame(np.eye(4), columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]]))
        assert as_data(both, Y).names == ("a.1", "a.2", "b.1", "b.2")

    def test_object_columns(self) -> None:
        X = as_data(pd.DataFrame({"n": pd.Series([1, 2, None, 4], dtype=object), "m": [1, "a", None, 2.5]}), Y).X
        np.testing.assert_array_equal(X["n"], [1, 2, np.nan, 4])
        assert X["m"].tolist()[:2] == ["1", "a"]
        dates = pd.DataFrame({"d": [dt.date(2020, 1, k) for k in (1, 2, 3, 4)]})
        assert as_data(dates, Y).X["d"].dtype.kind == "M"

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (pd.DataFrame([[1, 2]] * 4, columns=["a", "a"]), "several columns called 'a'"),
            (pd.DataFrame({"l": [[1], [2], [3], [4]]}), "'l' holds lists"),
            (pd.DataFrame({"c": [1j, 2, 3, 4]}), "complex"),
            (pd.DataFrame({"a": [1, np.inf, 2, 3]}), "column 'a' holds infinite values .first: row 2, counted from 1"),
            (pd.DataFrame(index=range(4)), "no columns"),
            (pl.DataFrame({"a": [1, 2, 3, 4]}).lazy(), "collect"),
        ],
    )
    def test_refused(self, given, words) -> None:
        with pytest.raises((InputError, KindError), match=words):
            as_data(given, Y)


class TestArrays:
    @pytest.mark.parametrize(
        "make", [sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.csr_array, sp.lil_matrix, sp.dok_array]
    )
    def test_sparse_becomes_csr(self, make) -> None:
        data = as_data(make(np.eye(4)), Y)
        assert data.X.format == "csr"
        assert data.take(np.array([2, 0])).X.toarray().tolist() == np.eye(4)[[2, 0]].tolist()

    def test_all_sparse_pandas_becomes_csr(self) -> None:
        data = as_data(pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(np.eye(4)), columns=list("abcd")), Y)
        assert data.X.format == "csr"
        assert data.names == ("a", "b", "c", "d")

    def test_lists_masks_and_records(self) -> None:
        np.testing.assert_array_equal(as_data([[1, None], [2, 3], [4, 5], [6, 7]], Y).X[0], [1, np.nan])
        masked = np.ma.masked_array(np.ones((4, 1)), mask=[[1], [0], [0], [0]])
        np.testing.assert_array_equal(as_data(masked, Y).X[:, 0], [np.nan, 1, 1, 1])
        records = np.array([(1, 2.5)] * 4, dtype=[("a", int), ("b", float)])
        assert as_data(records, Y).names == ("a", "b")

    def test_images_are_flat_rows_that_know_their_shape(self) -> None:
        images = np.arange(4 * 2 * 3 * 3, dtype=np.uint8).reshape(4, 2, 3, 3)
        data = as_data(images, Y)
        np.testing.assert_array_equal(data.X, images.reshape(4, 18))
        assert data.sample_shape == (2, 3, 3)
        assert data.take(np.array([2, 0])).sample_shape == (2, 3, 3)
        flat = as_data(images.reshape(4, 18), Y)
        assert flat.sample_shape == ()
        assert flat.fingerprint == data.fingerprint
        turned = as_data(images.transpose(0, 2, 3, 1), Y)
        np.testing.assert_array_equal(turned.X[1], images[1].transpose(1, 2, 0).ravel())
        broken = images.astype(float)
        broken[1, 0, 0, 2] = np.inf
        with pytest.raises(InputError, match="column 'x2' holds infinite"):
            as_data(broken, Y)
        with pytest.raises(InputError, match="no columns"):
            as_data(np.zeros((4, 3, 0)), Y)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ([[1, 2], [3], [4, 5], [6, 7]], "same number of columns"),
            ([["a"], ["b"], ["c"], ["d"]], "pandas or polars"),
            (np.eye(4, dtype=complex), "not numbers"),
            (np.arange(4), "reshape"),
            (np.zeros((4, 0)), "no columns"),
            (np.zeros((0, 3)), "X has 0 rows and y has 4"),
            (None, "X is None"),
            ("x.csv", "reads one from a file"),
            (3, "0 dimensions"),
            (np.array([[1, np.inf]] * 4), "column 'x1' holds infinite"),
            (
                sp.csr_matrix(np.array([[0, 0], [0, -np.inf], [0, 0], [0, 0]])),
                "column 'x1' holds infinite values .first: row 2, counted from 1",
            ),
            (sp.coo_array(np.arange(4)), "1 dimensions"),
        ],
    )
    def test_refused(self, given, words) -> None:
        with pytest.raises((InputError, KindError), match=words):
            as_data(given, Y)


class TestTarget:
    @pytest.mark.parametrize(
        ("y", "task", "classes"),
        [
            ([0, 1, 0, 1], "classification", [0, 1]),
            ([True, False, True, False], "classification", [False, True]),
            (["b", "a", "b", "a"], "classification", ["a", "b"]),
            (pd.Categorical(["b", "a", "b", "a"], categories=["b", "a", "z"]), "classification", ["a", "b"]),
            (pl.Series(["b", "a", "b", "a"]), "classification", ["a", "b"]),
            (pa.chunked_array([[1, 2], [1, 2]]), "classification", [1, 2]),
            (np.array([b"x", b"y", b"x", b"y"]), "classification", ["x", "y"]),
            ([0.5, 1, 2, 3], "regression", None),
            (pd.DataFrame({"q": [0, 1, 0, 1]}), "classification", [0, 1]),
        ],
    )
    def test_kind(self, y, task, classes) -> None:
        data = as_data(np.eye(4), y)
        assert data.task == task
        assert (None if data.classes is None else data.classes.tolist()) == classes

    def test_whole_numbers(self) -> None:
        rng = np.random.default_rng(0)
        assert as_data(rng.random((60, 1)), rng.integers(0, 20, 60)).task == "classification"
        assert as_data(rng.random((60, 1)), np.arange(60)).task == "regression"
        assert as_data(rng.random((15, 1)), np.arange(15)).task == "regression"

    def test_name(self) -> None:
        assert as_data(np.eye(4), pd.Series(Y, name="outcome")).target_name == "outcome"
        assert as_data(np.eye(4), pd.DataFrame({"q": Y})).target_name == "q"
        assert as_data(np.eye(4), Y).target_name == "y"

    def test_positive(self) -> None:
        assert as_data(np.eye(4), [0.0, 1, 0, 1], positive="1").positive == 1.0
        assert as_data(np.eye(4), Y, positive=0).positive == 0
        assert as_data(np.eye(4), Y).positive == 1
        with pytest.raises(UnknownName, match="positive"):
            as_data(np.eye(4), Y, positive=7)
        with pytest.raises(InputError, match="regression"):
            as_data(np.eye(4), [0.5, 1, 2, 3], positive=1)

    @pytest.mark.parametrize(
        ("y", "options", "words"),
        [
            (
                pd.array([1, None, 2, None], dtype="Int64"),
                {"missing_target": "error"},
                "missing in 2 of 4 rows .rows 2, 4, counted from 1",
            ),
            (["a", "b", None, "a"], {"missing_target": "error"}, "missing in 1 of 4 rows .row 3, counted from 1"),
            ([0, 1, np.nan, 1], {"missing_target": "error"}, "missing in 1 of 4"),
            ([None] * 4, {}, "missing in 4 of 4"),
            ([0, 1, 0, 1], {"missing_target": "keep"}, "missing_target"),
            ([1, 1, 1, 1], {}, "one class only"),
            ([1.5, 2, 3, 4], {"task": "classification"}, "fraction"),
            (["a", "b", "a", "b"], {"task": "regression"}, "must be numbers"),
            ([0, 1, np.inf, 1], {}, "infinite"),
            ([0, 1, 0, 1], {"task": "clasification"}, "did you mean 'classification'"),
            (np.array(["2020-01-01"] * 4, dtype="datetime64[D]"), {}, "dates"),
            ([[0, 1], [1, 0], [0, 1], [1, 0]], {}, "one column"),
            ([0, 1, 0], {}, "X has 4 rows and y has 3"),
            ("abcd", {}, "column of values"),
            (None, {}, "column of values"),
        ],
    )
    def test_refused(self, y, options, words) -> None:
        with pytest.raises(InputError, match=words):
            as_data(np.eye(4), y, **options)

    def test_a_column_of_names_is_no_target(self) -> None:
        with pytest.raises(InputError, match="no class is seen twice"):
            as_data(np.eye(15), [f"p{k}" for k in range(15)])

    def test_one_row(self) -> None:
        with pytest.raises(InputError, match="there is 1 row"):
            as_data([[1.0]], [1])


class TestOtherColumns:
    def test_kept(self) -> None:
        days = [dt.date(2020, 1, k) for k in (4, 3, 2, 1)]
        data = as_data(
            np.eye(4), Y, groups=["a", "a", "b", "b"], time=days, sample_weight=[1, 2, 3, 4], ids=list("wxyz")
        )
        assert data.n_units == 2
        assert np.argsort(data.order).tolist() == [3, 2, 1, 0]
        assert data.weights.dtype == float

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"groups": [1, 1, 1, 1]}, "one group only"),
            ({"groups": [1, 2, None, 1]}, "groups is missing in 1 of 4"),
            ({"groups": [1, 2]}, "2 entries"),
            ({"sample_weight": ["a"] * 4}, "must be numbers"),
            ({"sample_weight": [-1, 1, 1, 1]}, "not negative"),
            ({"sample_weight": [0, 0, 0, 0]}, "not all zero"),
            ({"sample_weight": [np.inf, 1, 1, 1]}, "finite"),
        ],
    )
    def test_refused(self, options, words) -> None:
        with pytest.raises(InputError, match=words):
            as_data(np.eye(4), Y, **options)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("low", [0, -100, 120, 2**62])
def test_classes_of_whole_numbers_are_their_different_values(kind, low):
    if not np.iinfo(kind).min <= low <= np.iinfo(kind).max - 5:
        low = np.iinfo(kind).max - 5
    y = (np.array([3, 0, 5, 3, 0, 5, 5, 0, 3, 0, 0, 5, 3]).astype(kind) + kind(low)).astype(kind)
    found = as_data(np.arange(13.0)[:, None], y).classes
    assert found.dtype == y.dtype
    assert np.array_equal(found, np.unique(y))


def test_what_was_computed_from_a_sample_does_not_travel_with_it():
    data = as_data(np.arange(40.0)[:, None], np.tile(["a", "b"], 20))
    assert len(data.units) == len(data.codes) == 40
    again = pickle.loads(pickle.dumps(data.without_features()))
    assert not {"units", "codes"} & set(again.__dict__)
    assert again.X is None
    assert again.codes.tolist() == data.codes.tolist()
    assert again.fingerprint == data.fingerprint
