"""Layouts and conventions at the top of an exam file."""

import json
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pytest
from sentences import refused_saying

from symattn.foundation.dice import Dice
from symattn.page.document import AnswerGrid, Columns, Falk, all_blocks
from symattn.teaching.exam.deploy import copies, freeze, make_exam
from symattn.teaching.exam.papers import key, paper
from symattn.teaching.exam.spec import exam_spec

QUESTION = {"type": "full", "mechanism": "attention", "level": "starter", "points": 8}


@cache
def exam(layout, conventions="full"):
    """A paper, its key, and the frozen exam."""
    data = {"layout": layout, "conventions": conventions, "variants": 1, "question": [QUESTION, {"type": "choice"}]}
    spec = exam_spec(MappingProxyType(data), Path("midterm.toml"))
    dice = Dice.seeded(3)
    made = make_exam(spec, dice)
    [(_, copy)] = copies(made)
    return paper(spec, copy, made.questions(0)), key(spec, copy.sheet, made.questions(0)), freeze(made, dice)


def found(document, kind):
    return [block for block in all_blocks(document.blocks) if isinstance(block, kind)]


@pytest.mark.slow
def test_papers_and_keys_have_the_layout_that_the_exam_states_and_the_frozen_questions_none():
    (page, answers, _), columns, usual = exam("falk"), exam("columns")[0], exam("matrix")[0]
    assert len(found(page, Falk)) == 2  # scores and output
    assert found(answers, Falk)  # exact weights may be too wide for one
    assert not found(usual, Falk)
    [both] = found(columns, Columns)
    assert len(both.rows) == 3
    assert found(columns, AnswerGrid) == found(usual, AnswerGrid)
    assert len({json.dumps(json.loads(exam(layout)[2])["questions"]) for layout in ("matrix", "falk", "columns")}) == 1


@pytest.mark.slow
def test_conventions_may_be_bare_and_never_left_out():
    bare, full = (exam("matrix", conventions)[0] for conventions in ("bare", "full"))
    assert bare != full
    with refused_saying("conventions is 'none'; one of full, bare was expected"):
        exam("matrix", "none")
    with refused_saying(r"midterm.toml: layout is 'fancy'; one of matrix, falk, columns"):
        exam("fancy")
