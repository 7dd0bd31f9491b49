"""What was written and not read is seen by a person before a mark is lost for it: never a finished mark with a zero."""

from __future__ import annotations

from functools import cache

import pytest
from scripts import key_of

import symattn
from symattn.api import make_recipe
from symattn.marking.marker import mark
from symattn.marking.marker.report import Report
from symattn.marking.submissions import read_submission
from symattn.page.writers import markdown
from symattn.teaching.explanation import question_document
from symattn.teaching.question import Question
from symattn.teaching.sheets import sheets


@cache
def question() -> Question:
    return (
        symattn.derive("attention", Q=[[1, 0], [0, 1]], K=[[2, 0], [1, 1]], V=[[1], [2]], scale="none")
        .worksheet()
        .question
    )


@cache
def recurrence() -> Question:
    (sheet,) = sheets(make_recipe(problem="recurrence", seed=50016), 1)
    return sheet.question


def marked(text: str, asked: Question, form: str = "markdown") -> Report:
    (attempt,) = read_submission(text, [asked], form=form).attempts
    return mark(asked, attempt)


def pending(report: Report) -> set[str]:
    return {part for given in report.marks if given.pending for part in given.parts}


RIGHT = "S = [[2, 1], [0, 1]]\n\nA = [[e/(1+e), 1/(1+e)], [1/(1+e), e/(1+e)]]\n\n"
STRAY = "for the last one I took the third column twice and got roughly the same\n"


def test_text_that_was_not_read_keeps_open_what_has_no_answer() -> None:
    assert set(key_of(question())) == {"S", "A", "Z"}
    assert pending(marked(RIGHT + STRAY, question())) == {"Z"}
    assert pending(marked(RIGHT, question())) == set()


def test_where_everything_is_answered_nothing_is_kept_open() -> None:
    report = marked(RIGHT + "Z = [[(e+2)/(1+e)], [(1+2e)/(1+e)]]\n\n" + STRAY, question())
    assert report.total == report.available
    assert not report.pending


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("S,2,1\n,0,1\nanything,3,4\n", "csv"),
        ('S = [[2, 1], [0, 1]]\nanything = [[3], [4]]\n', "toml"),
        ('{"answers": {"S": [[2, 1], [0, 1]], "anything": [[3], [4]]}}', "json"),
        (r"$S = \begin{bmatrix} 2 & 1 \\ 0 & 1 \end{bmatrix}$ $Y_0 = \begin{bmatrix} 3 \\ 4 \end{bmatrix}$", "latex"),
        ("S = [[2, 1], [0, 1]]\n\nanything = [[3], [4]]\n", "markdown"),
    ],
)  # fmt: skip
def test_so_it_is_in_every_form(text: str, form: str) -> None:
    assert "Z" in pending(marked(text, question(), form))


def test_an_answer_of_another_kind_is_seen_by_a_person() -> None:
    report = marked('{"answers": {"parallel": "the first two, and those below"}}', recurrence(), "json")
    assert pending(report) == {"parallel"}
    assert not pending(marked('{"answers": {"parallel": "B"}}', recurrence(), "json"))


def test_working_beside_a_wrong_number_keeps_its_method_mark_open() -> None:
    blank = markdown.write(question_document(recurrence()))
    number = next(k for k, part in enumerate(recurrence().parts, 1) if part.name == "overtaking")
    head, rest = blank.split(f"## {number}\\.")
    line = next(line for line in rest.splitlines() if line.startswith("$n$"))
    answered = head + f"## {number}\\." + rest.replace(line, "$n$ \\= 640", 1)
    worked = answered.replace("$n$ \\= 640", "2n²d = 4nd² => n = 2d = 640\n\n$n$ \\= 640", 1)
    assert [given.pending for given in marked(answered, recurrence()).marks if "overtaking" in given.parts] == [
        False
    ] * 2
    given = {g.code: g for g in marked(worked, recurrence()).marks if "overtaking" in g.parts}
    assert (given["M"].pending, given["A"].pending) == (True, False)


@pytest.mark.parametrize("written", ["from 301 tokens on", "n > 300", "301 or so, I think"])
def test_a_count_that_cannot_be_read_is_seen_by_a_person(written: str) -> None:
    [asked] = [part for part in recurrence().parts if part.name == "overtaking"]
    assert pending(marked(f"## 6\\. When\n\nAnswer: {written}\n", recurrence())) >= {asked.name}
