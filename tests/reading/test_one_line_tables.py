"""A table with a name and its matrix in every row is read row by row; no row of it vanishes."""

import pytest
from scripts import drawn

from symattn.marking.submissions import read_submission

ASKED = drawn("self_attention")


def line(name, rows=None):
    rows = ASKED.problem.derivation[name].result.rows if rows is None else rows
    return f"| {name} | [{', '.join(str(list(row)) for row in rows)}] |"


def read(head, *lines):
    text = "\n".join((head, "|---|---|", *lines))
    return read_submission(text.encode(), [ASKED], form="markdown", source="work.md")


def test_heads_are_passed_over():
    assert list(read("| Step | Result |", line("Q"), line("K")).attempts[0].answers) == ["Q", "K"]


@pytest.mark.parametrize("lines", [
    (line("Xy", [[5, 5], [9, 9]]), line("Q"), line("K"), line("V")),
    ("| Step | Result |", line("Q"), line("K"), line("Xy", [[5, 5], [9, 9]]), line("V"), line("S")),
])  # fmt: skip
def test_a_row_that_nothing_is_known_of_is_told(lines):
    found = read(*lines)
    assert [name for name in found.attempts[0].answers if name in "QKV"] == ["Q", "K", "V"]
    said = " ".join(remark.says for remark in (*found.remarks, *found.attempts[0].remarks))
    assert "Xy [[5, 5], [9, 9]]" in said
