"""What an earlier release froze is marked as it was printed, whatever later ones say and give otherwise.

The files in tests/frozen are kept as they were written, with right answers and with the marks that stood on the keys:
these are the witness, and so is every number of a key, written by SymPy or with one added.
"""

import json
import re
from dataclasses import replace
from functools import cache

import pytest
from frozen_files import FOLDER, right
from scripts import exactly
from sentences import refused_saying
from test_frozen_sheets import sealed

import symattn
from symattn.errors import InputError
from symattn.exact.reading import read
from symattn.marking.grading.source import papers
from symattn.page.document import Paragraph, Words
from symattn.teaching import frozen as freezing
from symattn.teaching.exam.frozen_exam import thawed
from symattn.teaching.frozen import FORMAT, as_frozen, freeze_parts
from symattn.teaching.problems import drawn_types
from symattn.teaching.question import (
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    Mark,
    MatrixAnswer,
    Question,
    RubricAnswer,
    StepAnswer,
    total,
)
from symattn.teaching.sheets import thaw_sheets

FORMATS = sorted(path.name for path in FOLDER.iterdir())
NUMBERS = (StepAnswer, EntriesAnswer, MatrixAnswer, FormulaAnswer)
NEWEST = FOLDER / f"format-{FORMAT}"


def told(form, name):
    return json.loads((FOLDER / form / f"{name}-marks.json").read_text("utf-8"))


SHEETS = [(form, sheet) for form in FORMATS for sheet in told(form, "worksheets")]
PAPERS = [(form, paper) for form in FORMATS for paper in told(form, "exam")]


@cache
def frozen_set(form):
    return papers(FOLDER / form / "worksheets.json")


@cache
def questions():
    """The questions of the newest set by type."""
    path = NEWEST / "worksheets.json"
    made = thaw_sheets(path.read_text("utf-8"), path.name)
    return {question.type: question for question in made.values()}


def by_a_person(part):
    """The marks of a part that only a person can give."""
    return sum(m.number for m in part.marks if m.rule == "reason" or isinstance(part.answer, RubricAnswer))


def printed(marks):
    """B1 M2 is 3."""
    return sum(int(number) for number in re.findall(r"[MAB](\d+)", marks))


def expect_marks(question, said):
    """Every part is worth what is printed; right answers get all that needs no person, and what is left out nothing."""
    marks = {part.name: printed(said["marks"][part.name]) for part in question.parts}
    assert {part.name: total(part.marks) for part in question.parts} == marks
    earned = {part.name: marks[part.name] - by_a_person(part) for part in question.parts}
    assert symattn.check(question, said["answers"]).total == sum(earned.values())
    *others, _ = said["answers"]
    without = symattn.check(question, {name: said["answers"][name] for name in others})
    assert without.total == sum(earned[name] for name in others)


def test_there_are_files_of_every_format_and_a_sheet_of_every_type():
    assert [f"format-{n}" for n in range(1, FORMAT + 1)] == FORMATS
    assert {said["type"] for said in told(NEWEST.name, "worksheets").values()} == set(drawn_types())


@pytest.mark.parametrize(("form", "sheet"), SHEETS)
def test_a_sheet_of_an_earlier_release_is_marked_as_it_was_printed(form, sheet):
    (question,) = frozen_set(form).questions(sheet)
    said = told(form, "worksheets")[sheet]
    expect_marks(question, said)
    if form != "format-1":  # which has no marks
        assert {part.name: " ".join(map(str, part.marks)) for part in question.parts} == said["marks"]


@pytest.mark.parametrize(("form", "paper"), PAPERS)
def test_a_paper_of_an_earlier_release_is_marked_as_it_was_printed(form, paper):
    asked = papers(FOLDER / form / "exam.json").questions(paper)
    listed = told(form, "exam")[paper]
    assert [question.type for question in asked] == [said["type"] for said in listed]
    assert [question.marks for question in asked] == [10, 10, 30]
    for question, said in zip(asked, listed, strict=True):
        expect_marks(question, said)


@pytest.mark.parametrize("otherwise", ["refused", "shared out otherwise", "alike"])
def test_an_exam_without_marks_in_its_file_keeps_the_numbers_on_its_paper(otherwise, monkeypatch):
    """Whatever a later version makes of points: it may refuse so few, or share them out otherwise."""
    path = FOLDER / "format-1" / "exam.json"
    exam, _ = thawed(path.read_text("utf-8"), path)
    own = Question.worth

    def worth(question, points):
        if otherwise == "refused":
            raise InputError("points is 10; more were expected.")
        return own(question, points + (otherwise != "alike"))

    monkeypatch.setattr(Question, "worth", worth)
    for paper, listed in told("format-1", "exam").items():
        for question, said in zip(exam.questions(exam.ids.index(paper)), listed, strict=True):
            assert {p.name: total(p.marks) for p in question.parts} == {k: printed(m) for k, m in said["marks"].items()}


# ------------------------------------------------------------------------------------------------ what may change


def reworded(question):
    """What a later release may say otherwise: every sentence, the layout, hints, words of options, features."""
    other = (Paragraph((Words("Said in other words."),)),)

    def part(old):
        answer = old.answer
        if isinstance(answer, ChoiceAnswer):
            options = [replace(o, text=(Words(f"Option {k}"),), why=()) for k, o in enumerate(answer.options)]
            answer = replace(answer, options=tuple(options))
        marks = tuple(replace(mark, what=mark.what and "for something") for mark in old.marks)
        return replace(old, title=(Words("Another title"),), ask=other, key=other, answer=answer, marks=marks)

    parts = tuple(part(old) for old in question.parts)
    return replace(question, title="Another title", introduction=other, given=other, parts=parts, features={"load": 1})


def marked_otherwise(question):
    """Marks of another kind, one more in every part, and a part that was not there."""
    parts = [replace(p, marks=(*p.marks, Mark("A", 1))) for p in question.parts]
    return replace(question, parts=(replace(parts[0], name="new"), *parts))


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("type", drawn_types())
def test_other_words_and_other_marks_refuse_nothing(type):
    question = questions()[type]
    parts = freeze_parts(question)
    for change in (reworded, marked_otherwise, lambda q: marked_otherwise(reworded(q))):
        again = as_frozen(change(question), parts, "Sheet 1", "symattn 0.0.1")
        assert [part.name for part in again.parts] == [part.name for part in question.parts]
        assert [list(map(str, p.marks)) for p in again.parts] == [list(map(str, p.marks)) for p in question.parts]
        answers = {part.name: right(question, part) for part in question.parts}
        assert symattn.check(again, answers).total == symattn.check(question, answers).total


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("type", drawn_types())
def test_any_other_number_on_the_key_is_refused_with_its_place_and_the_same_one_written_otherwise_is_not(type):
    question, tried = questions()[type], 0
    parts = freeze_parts(question)
    assert as_frozen(question, parts, "Sheet 1", "symattn 0.0.1") is question
    for k, part in enumerate(parts):
        answer = question.parts[k].answer
        for place, text in part.right.items():
            same = exactly(read(text, symbols=True).value) if isinstance(answer, NUMBERS) else text
            for other, refused in ((same, False), (f"{text} + 1", True)):
                changed = replace(part, right={**part.right, place: other})
                listed = (*parts[:k], changed, *parts[k + 1 :])
                if not refused:
                    as_frozen(question, listed, "Sheet 1", "symattn 0.0.1")
                    continue
                with pytest.raises(InputError) as error:
                    as_frozen(question, listed, "Sheet 1", "symattn 0.0.1")
                assert f"{part.name}{place} was {other} on the key, and is {text} now" in str(error.value)
                assert "mark with symattn 0.0.1" in str(error.value)
                tried += 1
    assert tried


def test_what_is_not_asked_any_more_is_refused_by_name():
    question = questions()["full"]
    fewer = replace(question, parts=question.parts[1:])
    with refused_saying(f"its part {question.parts[0].name} is not made any more"):
        as_frozen(fewer, freeze_parts(question), "Sheet 1", "symattn 0.0.1")


@pytest.mark.parametrize("form", FORMATS)
def test_another_key_is_refused_in_every_format(form):
    path = FOLDER / form / "worksheets.json"
    data = json.loads(path.read_text("utf-8"))
    [full] = [sheet for sheet in data["sheets"] if sheet["content"]["type"] == "full"]
    name = "V" if "V" in full["content"]["given"] else "X"
    full["content"]["given"][name][0][0] += 1
    with refused_saying(f"^Sheet {full['id']} of set.json would be marked by another key"):
        thaw_sheets(sealed(data), "set.json")[full["id"]]
    exam = json.loads((FOLDER / form / "exam.json").read_text("utf-8"))
    exam["questions"][0]["variants"][0]["content"]["given"]["V"][0][0] += 1
    made, _ = thawed(sealed(exam), path)
    with pytest.raises(
        InputError, match=r"of question 1 would be marked by another key .*: Z\[1,1\] was .* now\. Comp"
    ):
        made.question(0, 0)


def test_one_sheet_with_another_key_costs_nobody_else_a_mark(tmp_path, monkeypatch):
    """A class is begun with a sheet that can be marked."""
    data = json.loads((NEWEST / "worksheets.json").read_text("utf-8"))
    types = {sheet["id"]: sheet["content"]["type"] for sheet in data["sheets"]}
    chosen = [sheet for sheet in data["sheets"] if types[sheet["id"]] in ("full", "shapes")]
    data["sheets"] = sorted(chosen, key=lambda sheet: types[sheet["id"]])
    data["sheets"][0]["parts"][-1]["right"]["[1,1]"] += " + 1"
    path, (full, shapes) = tmp_path / "set.json", [sheet["id"] for sheet in data["sheets"]]
    path.write_text(sealed(data), "utf-8")
    said = told(NEWEST.name, "worksheets")
    (tmp_path / "in").mkdir()
    for sheet in (full, shapes):
        answers = [f"{json.dumps(name)} = {json.dumps(given)}" for name, given in said[sheet]["answers"].items()]
        text = "\n".join([f'sheet = "{sheet}"', "[answers]", *answers])
        (tmp_path / "in" / f"{sheet}.toml").write_text(text, "utf-8")
    rows = {row.sheet: row for row in symattn.grade(path, tmp_path / "in").rows}
    assert (rows[full].status, rows[shapes].status) == ("broken", "marked")
    assert rows[shapes].total == sum(map(printed, said[shapes]["marks"].values()))
    assert rows[full].reason.startswith(f"Sheet {full} of {path} would be marked by another key")


def test_the_version_is_named_only_if_it_is_another_one():
    here = f"symattn {symattn.__version__}"
    assert here not in str(freezing.refused("Sheet 1", "Z was 1", here))
    assert "symattn 0.0.1" in str(freezing.refused("Sheet 1", "Z was 1", "symattn 0.0.1"))
