"""Worksheets and keys from one source: blank, partly worked, worked, and with marks."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from catalogue_sheets import every_row, only, sheet, sheet_of
from commands import run
from oracles import floats, softmax
from pypdf import PdfReader
from sentences import refused_saying

import symattn
from symattn.exact import decimal_text
from symattn.formula import Name
from symattn.formula.nodes import children
from symattn.page.document import (
    AnswerGrid,
    Code,
    Entries,
    Heading,
    Paragraph,
    Program,
    Solved,
    all_blocks,
    settled,
    spans,
)
from symattn.page.writers.characters import on_one_line
from symattn.page.writers.markdown import write as written
from symattn.page.writers.text import write
from symattn.teaching.explanation.documents import Pages, question_document
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import marks_text, matrix_of
from symattn.teaching.rendering import read_besides, render
from symattn.teaching.sheets import SOLUTIONS

every_type = only(kind="type")


def grids(document):
    return [block for block in all_blocks(settled(document).blocks) if isinstance(block, AnswerGrid)]


def parts(document):
    """The parts of a question: what is neither its introduction nor what comes after."""
    found = [block for block in all_blocks(document.blocks) if isinstance(block, Solved)]
    return [block for block in found if block.ask and block.worked]


# ------------------------------------------------------------------------------------------------ blank


@pytest.mark.covering(most=5, rest=3)
@every_row
def test_a_blank_one_is_the_same_whatever_its_solutions_say(row):
    """Nothing of a key can be in a document that does not change with it."""
    question = sheet(row).question
    other = replace(
        question,
        parts=tuple(replace(part, key=(Paragraph(()),), marking=()) for part in question.parts),
        checks=tuple,
    )
    blank = question_document(question, layout=row.layout)
    assert blank == question_document(other, layout=row.layout)
    assert not any(isinstance(block, Solved) for block in all_blocks(blank.blocks))


@pytest.mark.covering(most=8, rest=4)
@every_row
def test_a_format_needs_nothing_else_of_a_document_than_it_says(row):
    pages = Pages(sheet(row).question, row.layout)
    for solutions in SOLUTIONS[:4]:
        everything, read = pages.document(solutions), pages.document(solutions, besides=read_besides([row.form]))
        assert render(read, row.form) == render(everything, row.form)


def test_a_key_that_is_read_as_it_is_shown_holds_no_other_version():
    shown = Pages(sheet_of("full").question).document("key", besides=read_besides(["markdown", "text"]))
    blocks = list(all_blocks(shown.blocks))
    assert not any(isinstance(block, Solved | Program | AnswerGrid) for block in blocks)
    assert any(isinstance(block, Entries) for block in blocks)


# ------------------------------------------------------------------------------------------------ one structure


@every_type
def test_all_are_one_document_of_which_something_else_is_shown(row):
    question = sheet(row).question
    made = {
        solutions: question_document(question, "X", "", solutions, row.layout)
        for solutions in SOLUTIONS
        if solutions != "diagnosis"
    }
    assert made["worked"].blocks == made["key"].blocks == made["partly"].blocks
    assert settled(replace(made["key"], solutions="blank")).blocks == made["blank"].blocks
    assert len(parts(made["key"])) == len(question.parts)
    headings = [b for b in all_blocks(made["blank"].blocks) if isinstance(b, Heading) and b.content[0] != "Given"]
    marks = [heading.marks for heading in headings if heading.marks]
    assert marks == [f"[{sum(m.number for m in part.marks)}]" for part in question.parts if part.marks]


@every_type
def test_codes_of_marks_are_for_the_marker_alone(row):
    question = sheet(row).question
    codes = [marks_text(part.marks) for part in question.parts if part.marks]
    for solutions in (solutions for solutions in SOLUTIONS if question.diagnosis or solutions != "diagnosis"):
        blocks = all_blocks(settled(question_document(question, solutions=solutions)).blocks)
        found = [block.marks for block in blocks if isinstance(block, Paragraph) and block.marks]
        assert found == (codes if solutions == "key" else [])


# ------------------------------------------------------------------------------------------------ partly worked


@pytest.mark.covering(most=6, rest=3)
@only(kind="mechanism")
def test_the_first_row_is_given_and_right(row):
    """Where tokens are columns, the first column."""
    question = sheet(row).question
    along = -1 if question.problem.derivation.orientation == "columns" else 1
    document = question_document(question, solutions="partly")
    for part, solved in zip(question.parts, parts(document), strict=True):
        result = matrix_of(question.problem.derivation, part.answer.step)
        [grid] = [block for block in all_blocks(solved.partly) if isinstance(block, AnswerGrid)]
        rows, columns = result.shape[::along]
        given = [cell[::along] for cell, _ in grid.filled]
        if rows > 1:
            assert given == [(0, j) for j in range(columns)]
        else:
            assert given == [(0, j) for j in range(columns // 2)]
        whole = question.problem.exact or all(isinstance(x, int) for x in result)
        for cell, shown in grid.filled:
            if whole:
                assert shown == Wording(question.problem.derivation, question.problem.notation).number(result[cell])
            else:
                assert on_one_line(shown).replace("−", "-") == decimal_text(result[cell], 4).replace("−", "-")


def names(formula):
    found = {on_one_line(formula)} if isinstance(formula, Name) else set()
    return found.union(*map(names, children(formula))) if not isinstance(formula, Name) else found


def test_what_is_still_to_be_found_stands_by_name():
    """The working of s_12 takes the first query, which is given, and the second key, which is not."""
    [made] = symattn.worksheet("self_attention", seed=5)
    question = made.question
    scores = next(p for p, part in enumerate(question.parts) if part.name == "S")
    solved = parts(question_document(question, solutions="partly"))[scores]
    [working] = [block for block in all_blocks(solved.partly) if isinstance(block, Entries)]
    assert [names(x) for x in working.equations] == [
        {"s₁₁"},
        {"s₁₂", "k₂₁", "k₂₂", "k₂₃", "k₂₄"},
        {"s₁₃", "k₃₁", "k₃₂", "k₃₃", "k₃₄"},
    ]


@every_type
def test_at_least_one_box_is_left_and_what_is_printed_stays(row):
    question = sheet(row).question
    blank, partly = question_document(question), question_document(question, solutions="partly")
    for before, after in zip(grids(blank), grids(partly), strict=True):
        assert set(before.filled) <= set(after.filled)
        boxes = before.rows * before.columns
        if len(before.filled) < boxes:
            assert len(after.filled) < boxes
        assert replace(after, filled=before.filled) == before


def test_letters_for_sizes_have_no_boxes_to_begin():
    sheet = symattn.derive("note-001").worksheet()
    assert settled(sheet.document("partly")).blocks == sheet.worksheet.blocks


# ------------------------------------------------------------------------------------------------ conventions


@pytest.mark.covering(most=2, rest=3)
@only(kind="mechanism")
def test_a_bare_box_leaves_no_convention_out(row):
    """It has a line wherever the full box has one or more."""
    question = sheet(row).question
    for conventions in ("bare", "full"):
        [box] = [b for b in question_document(question, conventions=conventions).blocks if hasattr(b, "title")]
        items = box.blocks[0].items
        assert len(items) == len(question.conventions) or conventions == "bare"
        assert len(items) >= len(question.conventions) - 1


# ------------------------------------------------------------------------------------------------ choosing


def test_the_files_of_a_set(tmp_path):
    def written(*options):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        done = run("worksheet", "attention", "--seed", 3, "--format", "text", "--out", folder, *options)
        assert done.exit_code == 0, done.output
        return sorted(path.stem for path in folder.glob("*.txt"))

    assert written() == ["attention-3-01", "attention-3-01-key"]
    assert written("--solutions", "partly,worked") == ["attention-3-01-partly", "attention-3-01-worked"]
    assert written("--together", "--solutions", "blank,worked") == ["attention-3-all", "attention-3-all-worked"]


def test_derive_writes_them_too():
    def printed(*options):
        done = run("derive", "note-002", *options)
        assert done.exit_code == 0, done.output
        return done.output

    assert "Partly worked" in printed("--as", "worksheet", "--solutions", "partly")
    assert "Worked solutions" in printed("--as", "worksheet", "--solutions", "worked")
    assert printed("--as", "worksheet", "--solutions", "key") == printed("--as", "key")
    assert printed("--as", "worksheet", "--solutions", "blank") == printed("--as", "worksheet")


def test_what_there_is_not_is_named():
    with refused_saying("Questions of the type drills have no common wrong answers to list"):
        question_document(sheet_of("drills").question, solutions="diagnosis")
    with refused_saying("solutions is 'half'"):
        question_document(sheet_of("attention").question, solutions="half")
    with refused_saying("conventions is 'few'"):
        question_document(sheet_of("attention").question, conventions="few")


def test_a_type_without_common_wrong_answers_has_everything_else_written(tmp_path):
    asked = ("worksheet", "--problem", "counts", "--seed", 3, "--format", "markdown", "--out", tmp_path, "--solutions")
    done = run(*asked, "blank,key,diagnosis")
    assert done.exit_code == 0
    assert "Questions of the type counts have no common wrong answers, so no diagnosis was written." in done.stderr
    assert sorted(path.name for path in tmp_path.glob("*.md")) == [
        "counts-3-01-key.md",
        "counts-3-01.md",
    ]
    done = run(*asked, "diagnosis")
    assert done.exit_code == 2
    assert "leave out diagnosis." in done.stderr


# ------------------------------------------------------------------------------------------------ feedback

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


# ------------------------------------------------------------------------------------------------ answers alone


def test_the_name_of_a_wrong_line_is_a_formula():
    """Beside it stands the letter of an option, which may be A as well."""
    for one in symattn.worksheet(problem="find-error", seed=11, n=3):
        line = next(line for line in written(one.document("answers")).splitlines() if "wrong line" in line)
        assert line.endswith(f"| ${one.question.parts[0].answer.word}$ |")


def test_decimals_are_those_of_numpy():
    sheet = symattn.worksheet("attention", seed=1)[0]
    d = sheet.problem.derivation
    q, k, v = (floats(d.value(name)) for name in "QKV")
    weights = softmax(q @ k.T / np.sqrt(k.shape[1]))
    numbers = {text.lstrip("−") for text in write(sheet.document("answers")).split()}
    for x in map(abs, [*weights.ravel(), *(weights @ v).ravel()]):
        assert {f"{x:.4f}", f"{x:g}"} & numbers, x


@pytest.mark.parametrize("name", ["cross_attention", "multi_head_attention"])
def test_they_take_one_page(name):
    document = symattn.worksheet(name, seed=11)[0].document("answers")
    assert len(PdfReader(io.BytesIO(render(document, "pdf")[1])).pages) == 1


def test_on_the_command_line(tmp_path):
    made = run("worksheet", "attention", "--solutions", "answers", "--format", "markdown", "--out", tmp_path)
    assert made.exit_code == 0, made.output
    [file] = tmp_path.glob("*-answers.md")
    assert "Answers" in file.read_text("utf-8")
    assert "Fill in every box" not in file.read_text("utf-8")
