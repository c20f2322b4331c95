"""Files of every kind, and what is refused."""

from __future__ import annotations

import builtins
import gzip
import logging
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unseen.core.errors import InputError, MissingExtra, UnknownName
from unseen.datasets.bundled import load
from unseen.datasets.conversion import with_positive
from unseen.datasets.frames import read_frame
from unseen.datasets.read import _origins, origin_of, read, subsample

PLAIN = "a,b,y\n1,2,u\n3,4,v\n5,6,u\n"


@pytest.fixture
def write(tmp_path: Path):
    def put(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


class TestLayout:
    @pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
    def test_separator_is_found(self, write, sep) -> None:
        data = read(write(PLAIN.replace(",", sep)), "y")
        assert data.X.to_numpy().tolist() == [[1, 2], [3, 4], [5, 6]]
        assert data.y.tolist() == ["u", "v", "u"]

    def test_blanks_by_request(self, write) -> None:
        data = read(write("a  b y\n1 2   u\n 3\t4 v \n"), "y", sep=" ")
        assert data.X.to_numpy().tolist() == [[1, 2], [3, 4]]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_ends_and_blank_lines(self, write, end) -> None:
        assert read(write(("\n" + PLAIN + "\n  \n").replace("\n", end)), "y").n == 3

    @pytest.mark.parametrize("name", ["t.csv.gz", "t.csv", "t.tsv.gz", "t"])
    def test_gzip_by_content(self, write, name) -> None:
        assert read(write(gzip.compress(PLAIN.encode()), name), "y").n == 3

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_encodings(self, write, encoding) -> None:
        data = read(write("a,größe,y\n1,é,u\n3,ü,v\n".encode(encoding)), "y")
        assert data.X["größe"].tolist() == ["é", "ü"]

    def test_other_encodings_are_said(self, write, caplog) -> None:
        with caplog.at_level(logging.WARNING, "unseen"):
            data = read(write("a,b,y\n1,é,u\n3,€,v\n".encode("cp1252")), "y")
        assert data.X["b"].tolist() == ["é", "€"]
        assert "not UTF-8" in caplog.text

    def test_quotes(self, write) -> None:
        data = read(write('a,b,y\n1,"two\nlines",u\n3,"x, ""q""",v\n'), "y")
        assert data.X["b"].tolist() == ["two\nlines", 'x, "q"']

    def test_roles_and_drop(self, write) -> None:
        text = "g,t,w,id,z,x,y\n01,2020-02-01,1,007,9,1,u\n1,2020-01-01,2,008,9,2,v\n"
        data = read(write(text), "y", groups="g", time="t", weights="w", ids="id", drop=["z"])
        assert data.names == ("x",)
        assert data.groups.tolist() == ["01", "1"]
        assert data.ids.tolist() == ["007", "008"]
        assert data.weights.tolist() == [1, 2]
        assert np.argsort(data.order).tolist() == [1, 0]

    def test_unnamed_row_names_become_ids(self, write) -> None:
        data = read(write(",b,y\nr1,2,u\nr2,4,v\n"), "y")
        assert data.names == ("b",)
        assert data.ids.tolist() == ["r1", "r2"]


class TestValues:
    def test_kinds(self, write) -> None:
        text = "n,f,t,d,c,y\n1,1.5,True,2020-01-02,red,u\n2,,False,2021-03-04,blue,v\n3,2.5,,,NA,u\n"
        X = read(write(text), "y").X
        assert [X[c].dtype.kind for c in "nftd"] == ["i", "f", "f", "M"]
        np.testing.assert_array_equal(X["f"], [1.5, np.nan, 2.5])
        np.testing.assert_array_equal(X["t"], [1, 0, np.nan])
        assert isinstance(X["c"].dtype, pd.CategoricalDtype)
        assert X["c"].isna().tolist() == [False, False, True]

    @pytest.mark.parametrize("mark", ["", "NA", "N/A", "NaN", "nan", "null", "?", ".", "-", "None", "missing", "  "])
    def test_missing_numbers(self, write, mark) -> None:
        X = read(write(f"a,b,y\n1.5,{mark},u\n3,4,v\n5,6,u\n"), "y").X
        np.testing.assert_array_equal(X["b"], [np.nan, 4, 6])

    def test_huge_numbers(self, write) -> None:
        X = read(write("a,b,y\n99999999999999999999999,2,u\n3,18446744073709551616,v\n"), "y").X
        assert X["a"].tolist() == [1e23, 3.0]
        assert X["b"].tolist() == [2.0, 2.0**64]

    def test_numbers_keep_every_digit(self, write) -> None:
        values = np.random.default_rng(0).standard_normal(50)
        text = "a,y\n" + "".join(f"{v!r},{k % 2}\n" for k, v in enumerate(values.tolist()))
        assert read(write(text), "y").X["a"].tolist() == values.tolist()

    @pytest.mark.parametrize("sep", [";", "\t", "|"])
    def test_decimal_commas(self, write, sep) -> None:
        text = "a;b;c;y\n1,5;-2,25;7;u\n3,5;4e2;8;v\n;1,0e-3;9;u\n".replace(";", sep)
        X = read(write(text.replace("4e2", "4,0e2")), "y").X
        np.testing.assert_array_equal(X["a"], [1.5, 3.5, np.nan])
        np.testing.assert_array_equal(X["b"], [-2.25, 400, 0.001])
        assert X["c"].dtype.kind == "i"

    def test_decimal_comma_in_the_target(self, write) -> None:
        data = read(write("a;y\n" + "".join(f"{k};{k},5\n" for k in range(30))), "y")
        assert data.task == "regression"
        assert data.y[3] == 3.5

    def test_decimal_by_request(self, write) -> None:
        X = read(write('a,b,y\n"1.234,5",2,u\n"3,5",4,v\n'), "y", decimal=",").X
        assert X["a"].tolist() == [1234.5, 3.5]
        assert X["b"].dtype.kind == "i"

    @pytest.mark.parametrize(
        "text",
        [
            'a,b,y\n"1,5",2,u\n"3,5",4,v\n',
            "a;b;y\n1,5;2.25;u\n3,5;4.1;v\n",
            "a;b;y\n1.234,5;2;u\n3,5;4;v\n",
            "a\tb\ty\n1,234\t2\tu\n3,567\t4\tv\n",
            'a,b,y\n"1,234.5",2,u\n"3,567.0",4,v\n',
            "a;b;y\n1.234.567;2;u\n3.000.000;4;v\n",
        ],
    )
    def test_doubtful_commas_are_refused_with_the_hint(self, write, text) -> None:
        with pytest.raises(InputError, match=r"column 'a' holds numbers such as .* give --decimal"):
            read(write(text), "y")

    def test_text_with_digits_stays_text(self, write) -> None:
        X = read(write("a,b,y\n1.2.3,10-20,u\n1.2.4,20-30,v\n1.2.3,3+,u\n"), "y").X
        assert X["a"].tolist() == ["1.2.3", "1.2.4", "1.2.3"]
        assert X["b"].tolist() == ["10-20", "20-30", "3+"]


REFUSED = {
    "empty": ("", "is empty"),
    "blank": ("\n\n \n", "is empty"),
    "header only": ("a,b,y\n", "no rows below"),
    "one row": ("a,b,y\n1,2,u\n", "there is 1 row"),
    "one class": ("a,b,y\n1,2,u\n3,4,u\n", "one class only"),
    "one column": ("y\n1\n2\n", "only one column"),
    "blanks": ("a b y\n1 2 u\n", "--sep ' '"),
    "NaN target": (
        "a,y\n1,u\n2,\n3,v\n4,\n",
        r"missing in 2 of 4 rows .* \(row 2, 4; the first row under the names is 1\)",
    ),
    "infinite": ("a,y\n1,u\n-inf,v\n", r"column 'a' holds infinite values \(first: row 2, counted from 1\)"),
    "overflow": ("a,y\n1,u\n1e999,v\n", "column 'a' holds infinite"),
    "twice": ("a,a,y\n1,2,u\n3,4,v\n", "several columns called 'a'"),
    "too many fields": ("a,b,y\n1,2,u\n3,4,5,v\n", "line 3 of .* has 4 fields, but there are 3"),
    "too few fields": ("a,b,y\n1,2,u\n3,v\n", "line 3 of .* has 2 fields"),
    "open quote": ('a,b,y\n1,2,u\n3,"4,v\n5,6,u\n', "has 2 fields|cannot be read|stray quot"),
    "no header": ("5.1,3.5,0.2,1\n4.9,3.0,0.2,2\n", "first line looks like data"),
    "no name": ("a,,y\n1,2,u\n3,4,v\n", "column 2 .* has no name"),
    "repeating row names": (",b,y\nr,2,u\nr,4,v\n", "no name and its values repeat"),
    "no feature": ("y,z\nu,1\nv,2\n", "no feature column"),
    "bad date": ("a,d,y\n1,2020-13-45,u\n2,2020-01-01,v\n", "not a date"),
    "binary": (bytes(range(256)) * 4, "binary data"),
    "nul": (b"a,y\n1,u\n\0,v\n", "binary data"),
    "spreadsheet": (b"PK\x03\x04" + b"\0" * 20 + b"[Content_Types].xml", "spreadsheet"),
    "zip": (b"PK\x03\x04 not really", "npz"),
    "pdf": (b"%PDF-1.4 ...", "PDF"),
    "bad gzip": (b"\x1f\x8bjunk", "damaged"),
    "cut gzip": (gzip.compress(PLAIN.encode() * 9000)[:-50], "damaged"),
    "odd utf-16": (b"\xff\xfea\0,\0y\0\n\0x", "encoding|empty|column|fields"),
}


class TestRefused:
    @pytest.mark.parametrize("case", REFUSED)
    def test_content(self, write, case) -> None:
        content, words = REFUSED[case]
        with pytest.raises(InputError, match=words) as caught:
            read(write(content), "y", drop=["z"] if case == "no feature" else (), missing_target="error")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600

    def test_missing_and_directory(self, tmp_path) -> None:
        with pytest.raises(InputError, match="there is no file"):
            read(tmp_path / "none.csv", "y")
        with pytest.raises(InputError, match="is a directory"):
            read(tmp_path, "y")
        with pytest.raises(UnknownName, match="did you mean 'iris'"):
            read("irs", "y")

    def test_unreadable(self, write) -> None:
        path = write(PLAIN)
        path.chmod(0)
        try:
            path.open("rb").close()
        except PermissionError:
            with pytest.raises(InputError, match="cannot be read: Permission denied"):
                read(path, "y")
        else:
            pytest.skip("this user may read everything")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"target": "Y"}, "unknown target column 'Y': did you mean 'y'"),
            ({"target": None}, "one of: a, b, y"),
            ({"groups": "bb"}, "unknown groups column"),
            ({"groups": "y"}, "both as target and as groups"),
            ({"drop": ["q"]}, "unknown drop column"),
            ({"sep": ";"}, "looks separated by comma"),
            ({"sep": "xx"}, "one character"),
            ({"decimal": "x"}, "decimal mark is"),
            ({"time": "c"}, "unknown time"),
            ({"n": 1}, "at least 2"),
            ({"n": 4}, "only 3 rows"),
            ({"weights": "y"}, "both as"),
            ({"positive": "w"}, "unknown class"),
            ({"task": "regression"}, "must be numbers"),
        ],
    )
    def test_options(self, write, options, words) -> None:
        given = {"target": "y"} | options
        with pytest.raises(InputError, match=words):
            read(write(PLAIN), given.pop("target"), **given)

    def test_time_that_has_no_order(self, write) -> None:
        with pytest.raises(InputError, match="ISO dates"):
            read(write("t,x,y\n31.12.2020,1,u\n1.1.2021,2,v\n"), "y", time="t")

    def test_too_wide(self, write, monkeypatch) -> None:
        monkeypatch.setattr("unseen.datasets.delimited.MAX_COLUMNS", 2)
        with pytest.raises(InputError, match="turned on its side"):
            read(write(PLAIN), "y")


class TestParquet:
    def table(self) -> pd.DataFrame:
        whole = pd.array([1, None, 3], dtype="Int64")
        return pd.DataFrame({"i": whole, "s": ["a", "b", None], "y": [0, 1, 0]}, index=pd.Index([5, 6, 7], name="pid"))

    def test_read(self, tmp_path) -> None:
        self.table().to_parquet(tmp_path / "t.parquet")
        data = read(tmp_path / "t.parquet", "y", ids="pid")
        np.testing.assert_array_equal(data.X["i"], [1, np.nan, 3])
        assert data.ids.tolist() == [5, 6, 7]
        packed = tmp_path / "t.parquet.gz"
        packed.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
        assert read(packed, "y", ids="pid").fingerprint == data.fingerprint

    @pytest.mark.parametrize("content", [b"PAR1 and nothing more", b"no such thing"])
    def test_damaged(self, write, content) -> None:
        with pytest.raises(InputError, match=r"Parquet|does not begin"):
            read(write(content, "t.parquet"), "y")

    def test_without_pyarrow(self, tmp_path, monkeypatch) -> None:
        self.table().to_parquet(tmp_path / "t.parquet")
        real = builtins.__import__

        def missing(name, *args, **options):
            if name == "pyarrow":
                raise ModuleNotFoundError(name)
            return real(name, *args, **options)

        monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
        monkeypatch.setattr(builtins, "__import__", missing)
        with pytest.raises(MissingExtra, match=r"pip install 'pyarrow>="):
            read(tmp_path / "t.parquet", "y")


ARFF = """% a comment
@RELATION 'x y'
@attribute a NUMERIC
@attribute 'b c' {x,'y z', "w"}
@attribute s string
@attribute d date "yyyy-MM-dd"
@ATTRIBUTE y {u,v}
@DATA
1, x, 'it\\'s', 2020-01-01, u
?, 'y z', ?, ?, v
% another
2.5,w,plain text,2020-02-01,u
"""


class TestArff:
    def test_read(self, write) -> None:
        for path in (write(ARFF, "t.arff"), write(gzip.compress(ARFF.encode()), "t.arff.gz")):
            X = read(path, "y").X
            np.testing.assert_array_equal(X["a"], [1, np.nan, 2.5])
            assert X["b c"].tolist() == ["x", "y z", "w"]
            assert X["b c"].cat.categories.tolist() == ["x", "y z", "w"]
            assert X["s"].tolist()[0] == "it's"
            assert X["s"].isna().tolist() == [False, True, False]
            assert X["d"].tolist()[2] == pd.Timestamp("2020-02-01")

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("1, x", "{0 1, 1 x", "line 9 .* sparse"),
            ("1, x", "1, q", "line 9 .* 'q' is not a declared level of 'b c'"),
            ("2.5,w", "2,5,w", "line 12 .* 6 values for 5"),
            ("2.5,w", "'2,5',w", "decimal commas"),
            ("u\n?", "u, {5}\n?", "instance weights"),
            ("'it\\'s'", "'its", "quotation mark"),
            ("@DATA\n", "", "not part of an ARFF header"),
            ("NUMERIC", "relational", "numeric, nominal, string and date"),
            ("'b c'", "a", "'a' twice"),
            ("2020-02-01", "1.2.2020", "ISO"),
            ("{u,v}", "{u,u}", "different values"),
        ],
    )
    def test_refused(self, write, old, new, words) -> None:
        with pytest.raises(InputError, match=words):
            read(write(ARFF.replace(old, new, 1), "t.arff"), "y")

    @pytest.mark.parametrize(
        "content", ["junk", "@relation x\n@attribute a numeric\n@attribute y {u,v}\n@data\n", "@relation x\n"]
    )
    def test_incomplete(self, write, content) -> None:
        with pytest.raises(InputError):
            read(write(content, "t.arff"), "y")

    def test_latin_text(self, write, caplog) -> None:
        with caplog.at_level(logging.WARNING, "unseen"):
            data = read(write(ARFF.replace("plain text", "é").encode("latin-1"), "t.arff"), "y")
        assert data.X["s"].tolist()[2] == "é"
        assert "not UTF-8" in caplog.text

    def test_separator_is_not_for_arff(self, write) -> None:
        with pytest.raises(InputError, match="for CSV"):
            read(write(ARFF, "t.arff"), "y", sep=";")


class TestNpz:
    def test_read(self, tmp_path) -> None:
        pictures = np.random.default_rng(0).random((6, 2, 3))
        np.savez(tmp_path / "t.npz", X=pictures, y=list("ababab"), g=[1, 1, 2, 2, 3, 3])
        data = read(tmp_path / "t.npz", groups="g")
        np.testing.assert_array_equal(data.X, pictures.reshape(6, 6))
        assert data.n_units == 3

    def test_pickles_are_never_opened(self, tmp_path) -> None:
        np.savez(tmp_path / "t.npz", X=np.eye(4), y=np.array([0, 1, 0, 1], dtype=object))
        with pytest.raises(InputError, match="pickled objects, which are never read"):
            read(tmp_path / "t.npz")

    @pytest.mark.parametrize(
        ("arrays", "target", "words"),
        [
            ({"Z": np.eye(4), "y": [0, 1, 0, 1]}, None, "no array for features"),
            ({"X": np.eye(4)}, None, "no array for the target"),
            ({"X": np.eye(4), "y": [0, 1, 0, 1]}, "yy", "unknown target array"),
            ({"X": np.eye(4), "y": [0, 1, 0, 1]}, "X", "both the array"),
            ({"X": np.eye(4), "y": [0, 1, 0, np.nan]}, None, "missing in 1 of 4"),
            ({"X": np.array(3.0), "y": [0, 1]}, None, "0 dimensions"),
        ],
    )
    def test_refused(self, tmp_path, arrays, target, words) -> None:
        np.savez(tmp_path / "t.npz", **arrays)
        with pytest.raises(InputError, match=words):
            read(tmp_path / "t.npz", target, missing_target="error")


@pytest.mark.parametrize("name", ["t.arff.gz", "t.csv.gz", "t.parquet.gz", "t.npz.gz"])
def test_gzip_that_breaks_off_late(tmp_path, name) -> None:
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(20_000), "y": np.arange(20_000) % 2})
    plain = tmp_path / name.removesuffix(".gz")
    if "arff" in name:
        head = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n"
        plain.write_text(head + frame.to_csv(index=False, header=False))
    elif "npz" in name:
        np.savez(plain, X=frame[["a"]].to_numpy(), y=frame["y"].to_numpy())
    elif "parquet" in name:
        frame.to_parquet(plain)
    else:
        frame.to_csv(plain, index=False)
    whole = gzip.compress(plain.read_bytes())
    packed = tmp_path / name
    packed.write_bytes(whole)
    assert read(packed, "y").n == 20_000
    packed.write_bytes(whole[: len(whole) * 9 // 10])
    with pytest.raises(InputError, match="damaged"):
        read(packed, "y")


class TestBundledAndSubsample:
    def test_a_file_wins_over_a_name(self, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert read("iris").n == 150
        (tmp_path / "iris").write_text(PLAIN)
        assert read("iris", "y").n == 3

    def test_options_of_bundled_sets(self) -> None:
        assert read("iris", "target", positive="setosa").positive == "setosa"
        assert read("iris", positive="setosa").names == load("iris").names
        for options in ({"target": "species"}, {"groups": "g"}, {"sep": ";"}, {"drop": ["a"]}):
            with pytest.raises(InputError):
                read("iris", **options)

    def test_simple_random_and_repeatable(self) -> None:
        data = load("breast-cancer")
        a, b = subsample(data, 80, 0), subsample(data, 80, 0)
        assert a.fingerprint == b.fingerprint != subsample(data, 80, 1).fingerprint
        rows = [np.flatnonzero((x == data.X).all(axis=1))[0] for x in a.X]
        assert len(set(rows)) == 80
        assert rows == sorted(rows)
        assert a.names == data.names

    def test_every_row_is_as_likely(self) -> None:
        # Inclusion counts of 40 rows in 2,000 samples of 10 are binomial(2000, 1/4): sd 19.4.
        from unseen.datasets.conversion import as_data

        data = as_data(np.arange(40.0)[:, None], np.arange(40.0) + 0.5)
        counts = np.zeros(40)
        for seed in range(2000):
            counts[subsample(data, 10, seed).X[:, 0].astype(int)] += 1
        assert np.all(np.abs(counts - 500) < 4.5 * 19.4)

    def test_no_class_is_lost(self) -> None:
        from unseen.datasets.conversion import as_data

        y = np.array(["a"] * 97 + ["b", "b", "c"])
        data = as_data(np.arange(100.0)[:, None], y)
        for seed in range(50):
            part = subsample(data, 5, seed)
            assert part.n == 5
            assert set(part.y) == {"a", "b", "c"}
        with pytest.raises(InputError, match="3 classes"):
            subsample(data, 2)

    def test_a_sample_is_what_its_rows_alone_would_be(self) -> None:
        from unseen.datasets.conversion import as_data

        text = ["only here"] + [None] * 39
        frame = pd.DataFrame(
            {"number": np.arange(40.0), "text": pd.Series(text, dtype=object), "kind": pd.Categorical(list("ab") * 20)}
        )
        more = {"groups": np.arange(40) % 4, "sample_weight": np.arange(40.0), "ids": [f"r{k}" for k in range(40)]}
        data = as_data(frame, ["no", "yes"] * 20, positive="no", **more)
        part = subsample(data, 12, 1)
        rows = part.X["number"].to_numpy().astype(int)
        assert 0 not in rows
        alone = as_data(
            frame.iloc[rows], data.y[rows], positive="no", **{k: np.asarray(v)[rows] for k, v in more.items()}
        )
        assert part.fingerprint == alone.fingerprint != data.fingerprint
        pd.testing.assert_frame_equal(part.X, alone.X)
        assert part.X["text"].dtype == float
        assert part.positive == "no"
        assert part.source is None

    def test_a_sample_that_does_not_serve_is_refused_as_any_other(self) -> None:
        from unseen.datasets.conversion import as_data

        X, y = np.arange(40.0)[:, None], np.arange(40.0) + 0.5
        rare = np.arange(40) == 0
        with pytest.raises(InputError, match="groups has one group only"):
            subsample(as_data(X, y, groups=rare), 3, 1)
        with pytest.raises(InputError, match="not all zero"):
            subsample(as_data(X, y, sample_weight=rare), 3, 1)
        with pytest.raises(InputError, match="no class is seen twice"):
            subsample(as_data(X, [f"c{k // 2}" for k in range(40)]), 20)


def test_shared_files_read_like_pandas(shared) -> None:
    path = shared / "data" / "uci" / "letter.csv.gz"
    if not path.exists():
        pytest.skip("the letter data are absent")
    frame = pd.read_csv(path)
    data = read(path, "target")
    np.testing.assert_array_equal(data.X.to_numpy(), frame.drop(columns="target").to_numpy())
    np.testing.assert_array_equal(data.y, frame["target"])


class TestFolderOfParquet:
    """The partitions of one table."""

    @pytest.fixture
    def folder(self, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(1200, 3)), columns=["a", "b", "c"])
        frame["k"] = rng.integers(0, 9, 1200)
        frame["level"] = np.array(["low", "middle", "high"], dtype=object)[rng.integers(0, 3, 1200)]
        frame.loc[3, "level"] = None
        frame.loc[700, "a"] = np.nan
        frame["y"] = np.array(["no", "yes"])[rng.integers(0, 2, 1200)]
        frame.to_parquet(tmp_path / "one.parquet")
        place = tmp_path / "parts"
        place.mkdir()
        for j in range(12):  # part.10 comes after part.9, not after part.1
            frame.iloc[100 * j : 100 * (j + 1)].to_parquet(place / f"part.{j}.parquet")
        (place / "_SUCCESS").write_text("")
        (place / ".part.0.parquet.crc").write_bytes(b"x")
        return place

    def part(self, folder, number, **changed):
        path = folder / f"part.{number}.parquet"
        pd.read_parquet(path).assign(**changed).to_parquet(path)

    def test_it_is_read_as_the_one_table(self, folder) -> None:
        whole, parts = read(folder.parent / "one.parquet", "y"), read(folder, "y")
        pd.testing.assert_frame_equal(parts.X, whole.X)
        assert parts.y.tolist() == whole.y.tolist()
        assert parts.fingerprint == whole.fingerprint
        for j, name in enumerate(sorted(path.name for path in folder.glob("part.*"))):
            (folder / name).rename(folder / f"other-{j}.pq")
        assert read(folder, "y").fingerprint != whole.fingerprint, "the order of the names is that of the rows"

    def test_codes_and_text_and_a_part_without_values(self, folder) -> None:
        whole = read(folder, "y")
        self.part(folder, 5, level=lambda t: t["level"].astype("category"))
        again = read(folder, "y")
        assert again.X["level"].astype(object).equals(whole.X["level"].astype(object))
        self.part(folder, 7, level=None, a=None)
        lost = read(folder, "y").X
        assert lost["a"][700:800].isna().all()
        assert lost["level"][700:800].isna().all()
        assert lost["a"][800:].equals(whole.X["a"][800:])

    @pytest.mark.parametrize(
        ("changed", "words"),
        [
            ({"k": 0.5}, "the column 'k' is double in 'part.3.parquet' and int64 in 'part.0.parquet'"),
            ({"k": "many"}, "the column 'k' is text in 'part.3.parquet'"),
            ({"z": 1}, "'part.0.parquet' has no column 'z'"),
        ],
    )
    def test_parts_that_do_not_fit(self, folder, changed, words) -> None:
        self.part(folder, 3, **changed)
        with pytest.raises(InputError, match="are parts of one table, but") as caught:
            read(folder, "y")
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_what_is_no_such_folder(self, folder, tmp_path) -> None:
        (folder / "part.4.parquet").write_text("hello")
        with pytest.raises(InputError, match=r"part\.4\.parquet' is called a parquet file but does not begin like one"):
            read(folder, "y")
        (tmp_path / "deep" / "year=2020").mkdir(parents=True)
        with pytest.raises(InputError, match="subfolders are not looked into: give one of them, such as 'year=2020'"):
            read(tmp_path / "deep", "y")
        table = tmp_path / "t.jsonl"
        table.mkdir()
        (folder / "part.0.parquet").rename(table / "part.0.parquet")
        with pytest.raises(InputError, match="a single file is needed here"):
            read_frame(table)

    def test_a_bomb_in_many_parts(self, folder, monkeypatch) -> None:
        monkeypatch.setattr("unseen.core.unpacking.ALWAYS", 0)
        monkeypatch.setattr("unseen.core.unpacking.MOST_TIMES", 0.5)
        with pytest.raises(InputError, match=r"parts' has .* MB and unpacks to"):
            read(folder, "y")


class TestOrigin:
    """Where features were read, so that a worker can read them too."""

    def test_the_same_rows_are_read_again(self, write) -> None:
        path = write("name,a,b,y,w\n" + "".join(f"p{k},{k % 7},{k},{'uv'[k % 2]},1\n" for k in range(60)))
        data = read(path, "y", weights="w", n=40, seed=3, drop=["b"], positive="u")
        origin = origin_of(data.X)
        again = origin.read()
        assert again.fingerprint == data.fingerprint == origin.fingerprint
        assert again.X.equals(data.X)
        assert again.ids.tolist() == data.ids.tolist()
        assert origin.sizes() == (path.stat().st_size,)
        path.unlink()
        assert origin.sizes() == ()

    def test_only_the_very_features_have_one(self, write) -> None:
        data = read(write(PLAIN), "y")
        assert origin_of(data.X) is not None
        assert origin_of(with_positive(data, "u").X) is not None
        assert origin_of(data.X.copy()) is None
        assert origin_of(data.take(np.array([0, 1, 2])).X) is None
        assert origin_of(load("iris").X) is None
        assert origin_of(read("iris").X) is None
        known = len(_origins)
        del data
        assert len(_origins) == known - 1, "what is gone is forgotten"

    def test_a_sample_by_a_generator_cannot_be_drawn_again(self, write) -> None:
        rows = "a,y\n" + "".join(f"{k},{'uv'[k % 2]}\n" for k in range(60))
        assert origin_of(read(write(rows), "y", n=20, seed=np.random.default_rng(0)).X) is None


def test_an_empty_name_is_not_the_folder_one_is_in(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pandas as pd

    pd.DataFrame({"a": [1, 2], "y": [0, 1]}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="name of a file is empty"):
        read("", "y")
