"""Indices from 0: the same page as from 1, every index one less, and sums that end one earlier."""

import re

import pytest

from symattn.api import derive
from symattn.page.notation import read_notation


def entries(latex):
    """Every entry's name at the head of an equation: (letter, row, column)."""
    found = re.findall(r"^ *([qkvsaz])_\{(\d)(\d)\} &?=", latex, re.MULTILINE)
    return [(letter, int(i), int(j)) for letter, i, j in found]


def test_entries_count_from_zero(tmp_path):
    path = tmp_path / "zero.toml"
    path.write_text("first_index = 0\n", "utf-8")
    ones = entries(derive("note-000", notation="standard").text("latex"))
    zeros = entries(derive("note-000", notation=path).text("latex"))
    assert len(ones) >= 25
    assert zeros == [(letter, i - 1, j - 1) for letter, i, j in ones]


def test_sums_over_letters_end_one_earlier(tmp_path):
    path = tmp_path / "zero.toml"
    path.write_text("first_index = 0\n", "utf-8")
    sizes = {"n": 2, "d_model": "d", "d_k": "p", "d_v": "p"}
    for notation, lower, upper in (("standard", "1", "d"), (path, "0", "d - 1")):
        page = derive("self_attention", symbolic=True, sizes=sizes, notation=notation).text("latex")
        assert re.search(rf"\\sum_\{{k=({lower})\}}\^\{{({upper})\}}", page), page


def test_first_index_is_0_or_1():
    assert read_notation({"first_index": 0}, "mine").first_index == 0
    with pytest.raises(ValueError, match=r"first_index is 2; one of 0, 1 was expected"):
        read_notation({"first_index": 2}, "mine")
