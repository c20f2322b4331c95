"""The one text table: columns, sides, missing values and the rows it takes."""

from __future__ import annotations

import pytest

from unseen.show.text import text_table


def test_numbers_none_and_chosen_columns() -> None:
    rows = [{"a": 1.23456, "b": None, "c": "x"}, {"a": 10, "b": "long text", "c": "y"}]
    assert text_table(rows, ["b", "a"]) == "b          a\n-          1.235\nlong text  10"
    assert text_table([]) == "(none)"


def test_right_columns_indent_and_no_header() -> None:
    lines = text_table([("u", 1.5), ("vv", 200.0)], ["name", "value"], header=False, right=["value"], indent="> ")
    assert lines == "> u   1.5\n> vv  200"


def test_header_counts_for_the_width() -> None:
    assert text_table([(1,), (2,)], ["wide"], right=["wide"]) == "wide\n   1\n   2"


def test_empty_columns_are_left_out_if_asked_for() -> None:
    rows = [{"n": 20, "rms": "", "bias": 0.1}, {"n": 40, "rms": None, "bias": ""}]
    assert text_table(rows, omit_empty=True) == "n   bias\n20  0.1\n40  -"
    assert "rms" in text_table(rows)


def test_rows_of_cells_need_names() -> None:
    with pytest.raises(TypeError, match="give columns"):
        text_table([(1, 2)])
