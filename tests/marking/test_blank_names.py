"""A matrix whose name is nothing that can be seen has no name: it is told, and whatever else was written is read."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

import pytest

import symattn
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.data import read_latex
from symattn.teaching.question import Question

UNSEEN = [
    c for c in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(c) in ("Zs", "Zl", "Zp", "Cc", "Cf") or c.isspace()
]  # fmt: skip
NAMED = r"\[ S = \begin{bmatrix} 2 & 1 \\ 0 & 1 \end{bmatrix} \]"


@cache
def question() -> Question:
    return (
        symattn.derive("attention", Q=[[1, 0], [0, 1]], K=[[2, 0], [1, 1]], V=[[1], [2]], scale="none")
        .worksheet()
        .question
    )


def in_latex(name: str) -> str:
    """A document with S, and with a matrix of another name."""
    return rf"\begin{{document}}{NAMED}\[ {name} = \begin{{bmatrix}} 7 & 2 \\ 3 & 4 \end{{bmatrix}} \]\end{{document}}"


def test_no_unseen_name_stops_the_reader() -> None:
    assert {"\u3000", "\u2028", "\r", "\u200b", "\x00"} <= set(UNSEEN)
    for character in UNSEEN:
        [written] = read_latex(in_latex(character), [question()]).written
        assert set(written.parts) == {"S"}, repr(character)
        assert [remark.says for remark in written.remarks] == ["This could not be read as an answer: '7 2 3 4'"]
        assert written.unread == {""}, repr(character)


@pytest.mark.parametrize("form", ["latex", "markdown", ""])
@pytest.mark.parametrize("name", ["\u3000", "\u2028", "\r", "\u200b\u3000", "\x1c", " "])
def test_a_blank_name_is_told_in_any_form(name: str, form: str) -> None:
    [attempt] = read_submission(in_latex(name), [question()], form=form).attempts
    assert set(attempt.answers) == {"S"}
    assert attempt.unread == {"A", "Z"}
    assert any("7 2 3 4" in remark.says or "7 & 2" in remark.says for remark in attempt.remarks)
