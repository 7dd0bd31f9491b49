"""What an exam cannot ask is said before its variants are drawn, and not after hours."""

import pytest

from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.teaching.exam import read_exam_file
from symattn.teaching.exam.deploy import make_exam

EXAM = """
title = "Midterm"
variants = 5

[[question]]
mechanism = "self_attention"

[[question]]
mechanism = "attention"
given = {Q = [[1, 2]], K = [[1]], V = [[1]]}
"""


def test_a_question_that_cannot_be_asked_is_told_after_one_variant_of_those_before_it(tmp_path):
    path = tmp_path / "midterm.toml"
    path.write_text(EXAM, encoding="utf-8")
    drawn = []
    with pytest.raises(InputError, match=r"^Question 2: "):
        make_exam(read_exam_file(path), Dice.seeded(1), drawn.append)
    assert len(drawn) == 1


def test_every_variant_is_told_of_once(tmp_path):
    path = tmp_path / "midterm.toml"
    path.write_text(EXAM.replace("K = [[1]]", "K = [[1, 0]]"), encoding="utf-8")
    drawn = []
    exam = make_exam(read_exam_file(path), Dice.seeded(1), drawn.append)
    assert sorted(map(len, exam.pools)) == [1, 5]
    assert sorted(v.id for v in drawn) == sorted(v.id for variants in exam.pools for v in variants)
