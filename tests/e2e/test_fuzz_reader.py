"""Arbitrary bytes and arbitrary small tables through the reader: valid data or a clear error, nothing else."""

from __future__ import annotations

import gzip
import math
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from unseen.core.data import Data
from unseen.core.errors import UnseenError
from unseen.datasets.conversion import as_data
from unseen.datasets.identifiers import without_identifiers
from unseen.datasets.read import read

SCALE = int(os.environ.get("UNSEEN_FUZZ", "1"))
STEADY = settings(
    max_examples=120 * SCALE, deadline=None, derandomize=SCALE == 1, suppress_health_check=list(HealthCheck)
)
NAMES = ("t.csv", "t.tsv", "t", "t.arff", "t.npz", "t.parquet", "t.csv.gz")


def read_or_refuse(content: bytes, name: str, **options) -> Data | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        data, words = None, "read"
        try:
            data = read(path, "y", **options)
        except UnseenError as error:
            words = str(error).strip()
    assert words
    assert "\n" not in words
    if data is not None:
        check(data)
    return data


def check(data: Data) -> None:
    """Assert what every part that follows relies on."""
    assert data.n >= 2
    assert data.X.shape == (data.n, data.n_features)
    assert data.n_features >= 1
    assert len(set(data.names)) == data.n_features
    assert data.fingerprint
    if data.task == "classification":
        assert len(data.classes) >= 2
        assert np.array_equal(data.classes[data.codes], data.y)
        assert data.positive in data.classes
    else:
        assert np.all(np.isfinite(data.y))
    numbers = data.X.select_dtypes("number").to_numpy(float) if hasattr(data.X, "iloc") else np.asarray(data.X, float)
    assert not np.any(np.isinf(numbers))


class TestBytes:
    @STEADY
    @given(st.binary(max_size=300), st.sampled_from(NAMES), st.booleans())
    @example(b"y,a\n1,2\n3", "t.csv", False)
    @example(b'y,a\n"', "t.csv", False)
    @example(b"\xff\xfe", "t.csv", False)
    @example(b"\xef\xbb\xbf", "t.csv", False)
    def test_any(self, content, name, packed) -> None:
        read_or_refuse(gzip.compress(content) if packed else content, name)

    @STEADY
    @given(
        st.text(alphabet="y,;|\t\n\r\"' \\01.-e?aé{}%@", max_size=120), st.sampled_from(["t.csv", "t.tsv", "t.arff"])
    )
    @example("y,a\n0,1\n1,\n", "t.csv")
    @example('y,a\n0,"1\n1,2\n', "t.csv")
    @example("y;a\n0;1,5\n1;2.5\n", "t.csv")
    def test_text_that_looks_like_a_table(self, text, name) -> None:
        read_or_refuse(text.encode(), name)

    @STEADY
    @given(
        st.lists(
            st.lists(st.text(alphabet="01,.;e-+naN?uv \"'", max_size=5), min_size=2, max_size=4), min_size=1, max_size=8
        ),
        st.sampled_from([None, ",", ";", "\t", " ", "|", "tab", "''", ""]),
        st.sampled_from([None, ".", ",", "x"]),
        st.sampled_from(["", ",", ";"]),
    )
    def test_fields(self, rows, sep, decimal, between) -> None:
        lines = [["y", "a", "b", "c"][: len(rows[0])], *rows]
        text = "\n".join((between or ",").join(line) for line in lines)
        read_or_refuse(text.encode(), "t.csv", sep=sep, decimal=decimal)

    @STEADY
    @given(st.data())
    def test_damaged_files(self, data) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            table = pd.DataFrame({"a": [1.5, 2.5, 3.5], "s": ["u", "v", "w"], "y": [0, 1, 0]})
            table.to_parquet(place / "t.parquet")
            np.savez_compressed(place / "t.npz", X=np.eye(3), y=[0, 1, 0])
            (place / "t.arff").write_text(
                "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\n?,0\n"
            )
            table.to_csv(place / "t.csv.gz", index=False)
            name = data.draw(st.sampled_from(["t.parquet", "t.npz", "t.arff", "t.csv.gz"]))
            content = bytearray((place / name).read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            place_of_harm = data.draw(st.integers(0, len(content) - 1))
            content[place_of_harm] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(len(content) // 2, len(content)))
        read_or_refuse(bytes(content[:cut]), name)


WORDS = st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=6)
PLAIN_WORDS = WORDS.filter(
    lambda w: (
        not any(c.isdigit() for c in w)
        and w.strip("?.-#&%'\"\\{},")
        not in (
            "",
            "NA",
            "NAN",
            "NaN",
            "nan",
            "N/A",
            "null",
            "NULL",
            "None",
            "none",
            "Missing",
            "missing",
            "True",
            "False",
            "TRUE",
            "FALSE",
            "true",
            "false",
            "inf",
            "Inf",
            "infinity",
            "Infinity",
            "INF",
        )
        and "_" not in w
        and not w.lower().lstrip("+-").startswith(("inf", "nan"))
    )
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def tables(draw, text: bool = True) -> pd.DataFrame:
    """Draw a table whose columns mean the same in every kind of file: fractions, whole numbers, text; some missing."""
    n = draw(st.integers(4, 12))
    columns: dict[str, object] = {}
    for k in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["real", "gaps", "whole", *(["text", "text gaps"] if text else [])]))
        if kind == "whole":
            columns[f"c{k}"] = np.array(draw(st.lists(st.integers(-(2**50), 2**50), min_size=n, max_size=n)))
        elif kind in ("real", "gaps"):
            values = np.array(draw(st.lists(NUMBERS, min_size=n, max_size=n)))
            values[0] += 0.5 if abs(values[0]) < 1e9 else 0
            values[1:3] = [0.25, 1e300]
            columns[f"c{k}"] = np.where(np.arange(n) == n - 1, np.nan, values) if kind == "gaps" else values
        else:
            words = draw(st.lists(PLAIN_WORDS, min_size=n, max_size=n))
            columns[f"c{k}"] = [None, *words[1:]] if kind == "text gaps" else words
    columns["y"] = [("no", "yes")[k % 2] for k in range(n)]
    return pd.DataFrame(columns)


def as_arff(table: pd.DataFrame) -> str:
    def quoted(value: object) -> str:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "?"
        return (
            repr(value)
            if isinstance(value, (int, float))
            else "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
        )

    kinds = {c: "numeric" if table[c].dtype.kind in "fi" else "string" for c in table.columns}
    header = "".join(f"@attribute {c} {kind}\n" for c, kind in kinds.items())
    rows = (",".join(map(quoted, row)) for row in table.astype(object).to_numpy().tolist())
    return f"@relation r\n{header}@data\n" + "\n".join(rows) + "\n"


def same(a: Data, b: Data) -> None:
    b = without_identifiers(b)  # as a reader leaves them out
    assert a.names == b.names
    assert a.y.tolist() == b.y.tolist()
    for name in a.names:
        mine, other = a.X[name], b.X[name]
        assert mine.isna().tolist() == other.isna().tolist()
        assert mine.dropna().tolist() == other.dropna().tolist(), name
    assert a.fingerprint == b.fingerprint


class TestRoundTrips:
    @STEADY
    @given(
        tables(),
        st.sampled_from([",", ";", "\t", "|"]),
        st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
        st.booleans(),
    )
    def test_delimited(self, table, sep, encoding, packed) -> None:
        text = table.to_csv(sep=sep, index=False)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("t.csv.gz" if packed else "t.csv")
            path.write_bytes(gzip.compress(text.encode(encoding)) if packed else text.encode(encoding))
            try:
                found = read(path, "y", sep=sep)
            except UnseenError as error:
                assume("decimal" not in str(error))  # text that is made of points and commas alone may be refused
                raise
        same(found, as_data(table.drop(columns="y"), table["y"]))

    @STEADY
    @given(tables(), st.sampled_from([",", ";", "\t", "|"]))
    def test_the_separator_is_found(self, table, sep) -> None:
        simple = table.select_dtypes("number").assign(y=table["y"])
        assume(simple.shape[1] > 1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            simple.to_csv(path, sep=sep, index=False)
            same(read(path, "y"), as_data(simple.drop(columns="y"), simple["y"]))

    @STEADY
    @given(tables(text=False))
    def test_decimal_commas(self, table) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            table.to_csv(path, sep=";", decimal=",", index=False)
            same(read(path, "y"), as_data(table.drop(columns="y"), table["y"]))

    @STEADY
    @given(tables())
    def test_parquet(self, table) -> None:
        with tempfile.TemporaryDirectory() as folder:
            table.to_parquet(Path(folder) / "t.parquet", index=False)
            same(read(Path(folder) / "t.parquet", "y"), as_data(table.drop(columns="y"), table["y"]))

    @STEADY
    @given(tables())
    def test_arff(self, table) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.arff"
            path.write_text(as_arff(table), encoding="utf-8")
            same(read(path, "y"), as_data(table.drop(columns="y"), table["y"]))

    @STEADY
    @given(tables(text=False))
    def test_npz(self, table) -> None:
        X = table.drop(columns="y").to_numpy(float)
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder) / "t.npz", X=X, y=table["y"].to_numpy(str))
            found = read(Path(folder) / "t.npz")
        np.testing.assert_array_equal(found.X, X)
        assert found.fingerprint == as_data(X, table["y"].to_numpy(str)).fingerprint


@pytest.mark.parametrize("n", [2, 3, 50])
def test_subsamples_of_anything_are_valid(n) -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        size = int(rng.integers(n, n + 40))
        y = rng.integers(0, 3, size)
        if len(np.unique(y)) < 2:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            pd.DataFrame({"a": rng.random(size), "y": y}).to_csv(path, index=False)
            if n < len(np.unique(y)):
                with pytest.raises(UnseenError, match="classes"):
                    read(path, "y", n=n, seed=1, task="classification")
                continue
            data = read(path, "y", n=n, seed=1, task="classification")
        check(data)
        assert data.n == n
        assert len(np.unique(data.y)) == len(np.unique(y))
