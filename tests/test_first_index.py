"""Names and indices of entries: told apart, and from 0 as from 1, with sums that end one earlier."""

import re
from itertools import product

import pytest

import symattn
from symattn.api import derive
from symattn.derivation.mechanisms import mechanisms
from symattn.page.notation import load_notation, notations, read_notation
from symattn.teaching.explanation.wording import Wording


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


# ------------------------------------------------------------------------------------------------ names of entries


@pytest.mark.covering(most=12, rest=3)
@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_entries_are_told_apart(name):
    sizes = dict.fromkeys(mechanisms()[name].letters, 2)
    for orientation, used in (("columns", {"columns"}), ("rows", set(notations()) - {"columns"})):
        solution = symattn.derive(name, symbolic=True, sizes=sizes, orientation=orientation)
        matrices = (*solution.givens, *(step.name for step in solution))
        wordings = [(notation, Wording(solution.derivation, load_notation(notation))) for notation in used]
        for matrix, (notation, wording) in product(matrices, wordings):
            rows, columns = solution.derivation.value(matrix).shape
            names = {wording.entry(matrix, i, j) for i, j in product(range(rows), range(columns))}
            assert len(names) == rows * columns, (matrix, notation)
