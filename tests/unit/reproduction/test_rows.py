"""Finished rows in a file: what is written, what is read back, and what a kill or another setting does to it."""

from __future__ import annotations

import gzip
import lzma
from dataclasses import dataclass

import pytest

from unseen.core.errors import InputError
from unseen.reproduction.rows import RowFile

LAYOUT = RowFile(columns=("prior", "n", "error"), words=("prior",), whole=("n",), setting_words=("prior",))
ROW = {"prior": "unit", "n": 20, "error": 1 / 3}


@dataclass(frozen=True)
class Prior:
    prior: str = "unit"
    step: float = 0.1


def test_a_file_states_each_setting_once_and_its_columns_once(tmp_path):
    file = tmp_path / "rows.csv"
    for setting in (Prior(), Prior(), Prior("flat")):
        LAYOUT.append(file, [{**ROW, "prior": setting.prior}], setting)
    assert file.read_bytes() == (
        b'# {"prior": "unit", "step": 0.1}\nprior,n,error\nunit,20,0.333333\nunit,20,0.333333\n'
        b'# {"prior": "flat", "step": 0.1}\nflat,20,0.333333\n'
    )


def test_floats_may_be_written_in_full_and_rows_end_as_asked(tmp_path):
    file = tmp_path / "rows.csv"
    RowFile(columns=("n", "error"), digits=None, line_end="\r\n").append(file, [ROW])
    assert file.read_bytes() == b"n,error\r\n20,0.3333333333333333\r\n"


def test_a_line_that_was_cut_short_is_neither_read_nor_joined_to_the_next(tmp_path):
    file = tmp_path / "rows.csv"
    LAYOUT.append(file, [ROW])
    with file.open("a") as out:
        out.write("unit,40,0.2")
    assert [row["n"] for row in LAYOUT.read(file)] == [20]
    LAYOUT.append(file, [{**ROW, "n": 60}])
    assert [row["n"] for row in LAYOUT.read(file)] == [20, 60]


@pytest.mark.parametrize("line", ["unit,40\n", "unit,40,\n", "unit,40,0.2,0.3\n"])
def test_a_line_with_too_few_or_too_many_values_is_left_out(tmp_path, line):
    file = tmp_path / "rows.csv"
    LAYOUT.append(file, [ROW])
    with file.open("a") as out:
        out.write(line)
    assert [row["n"] for row in LAYOUT.read(file)] == [20]


def test_another_setting_of_the_same_words_is_refused(tmp_path):
    file = tmp_path / "rows.csv"
    LAYOUT.append(file, [ROW], Prior())
    assert LAYOUT.read(file, Prior("flat", step=0.5)) == LAYOUT.read(file)
    with pytest.raises(InputError, match="another setting"):
        LAYOUT.read(file, Prior(step=0.5))


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_compressed_rows_are_those_of_the_plain_file(tmp_path, compress):
    plain, packed = tmp_path / "rows.csv", tmp_path / "rows.packed"
    LAYOUT.append(plain, [ROW], Prior())
    packed.write_bytes(compress(plain.read_bytes()))
    assert LAYOUT.read(packed) == LAYOUT.read(plain) == [{"prior": "unit", "n": 20, "error": 0.333333}]
    assert LAYOUT.read(tmp_path / "none.csv") == []
