"""What feedback says beyond the entries: where to practise, and what in the file could not be used."""

import json

import pytest
from commands import run

import symattn
from symattn.page.document import Code, Paragraph, all_blocks, spans

D = symattn.derive("attention", Q=[[1, 0], [0, 2]], K=[[1, 0], [1, 1]], V=[[1], [2]], scale=2)
RIGHT = {"S": [[1, 1], [0, 2]], "S'": [["1/2", "1/2"], [0, 1]], "A": [["1/2", "1/2"], ["1/(1+e)", "e/(1+e)"]]}


def commands(answers):
    document = symattn.check(D, answers).document("student")
    blocks = (block for block in all_blocks(document.blocks) if isinstance(block, Paragraph))
    return [part.text for block in blocks for part in spans(block.content) if isinstance(part, Code)]


@pytest.mark.parametrize(
    ("part", "wrong"), [("S", [[1, 1], [0, 7]]), ("A", [["1/2", "1/2"], ["1/3", "2/3"]])],
)  # fmt: skip
def test_a_student_practises_the_step_that_went_wrong_and_is_told_no_command(part, wrong):
    marking = symattn.check(D, {**RIGHT, part: wrong})
    [asked] = marking.exercise.question.parts
    assert asked.answer.step == part
    assert commands({**RIGHT, part: wrong}) == []


def test_the_exercise_is_printed_when_it_is_wanted(tmp_path):
    lists = {name: [[str(x) for x in row] for row in rows] for name, rows in {**RIGHT, "S": [[1, 1], [0, 7]]}.items()}
    (tmp_path / "answers.json").write_text(json.dumps({"answers": lists}), "utf-8")
    givens = 'mechanism = "attention"\nscale = 2\n[given]\nQ = [[1, 0], [0, 2]]\nK = [[1, 0], [1, 1]]\nV = [[1], [2]]\n'
    (tmp_path / "problem.toml").write_text(givens, "utf-8")
    files = [str(tmp_path / name) for name in ("problem.toml", "answers.json")]
    said = [run("check", *files, *more).output for more in ((), ("--exercise",))]
    assert "A fresh exercise" not in said[0]
    assert said[1].startswith(said[0])
    assert "A fresh exercise" in said[1]


def test_who_makes_no_mistake_has_nothing_to_practise():
    assert commands(RIGHT) == []
    assert symattn.check(D, RIGHT).exercise is None


def test_what_belongs_to_no_question_is_on_the_page():
    marking = symattn.check(D, 'name = "Ada"\nanswers = 3\n')
    remarks = marking.submission.remarks
    assert remarks
    for reader in ("student", "teacher"):
        text = " ".join(marking.text("text", reader).split())
        for remark in remarks:
            assert remark.says in text
