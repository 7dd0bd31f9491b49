"""Worksheets and papers filled in and read back: the same answers, whatever happened to the file on the way."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

import pytest
from filling import fill
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

from symattn.foundation.dice import Dice
from symattn.foundation.identity import identity
from symattn.marking.attempt import BLANK, Attempt, Grid, Grids, Ordered, Shaded, Shaped, Text, Ticked
from symattn.marking.submissions import entry, read_submission
from symattn.marking.submissions.answers import grids_of, shape_of
from symattn.page.writers import markdown
from symattn.teaching.exam.frozen_exam import Copy
from symattn.teaching.exam.papers import paper
from symattn.teaching.exam.spec import ExamSpec
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.pool import pool
from symattn.teaching.problems import drawn_types, problem_type
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    OrderAnswer,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    WordAnswer,
)

TYPES = sorted(drawn_types())
NOTATIONS = ("standard", "columns", "note-000", "note-001", "note-002", "note-003", "note-004")
COLUMNS = {"full", "faded", "find-error", "translate", "drills", "choice", "counts", "recurrence"}
"""Types that can be worded for tokens as columns."""


@cache
def question(name, notation="standard"):
    stated = {"notation": notation}
    return next(iter(pool(problem_type(name).spec(stated), Dice.seeded(4))))


@cache
def blank(name, notation="standard"):
    q = question(name, notation)
    return markdown.write(question_document(q, identity(q.frozen), "symattn worksheet x"))


def read(text, *questions, mark="auto"):
    return list(read_submission(text, questions, form="markdown", decimal_mark=mark).attempts)


# ------------------------------------------------------------------------------------ answers at random

POINT = ("0", "1", "-3", "1/2", "0.25", "-.5", "25 %", "1 1/2", "e^2/(1+2e^2)", "2*e*3", "√2/2", "−∞", "$\\frac{1}{2}$",
         "**4**", "banana", "~~3~~ 4", "1 | 2", "x_1*y_2*z", "e^-1", "\\frac{e}{1+e}")  # fmt: skip
WORDS = st.lists(
    st.sampled_from(["so", "Because 1 < 2.", "# no heading", "| a | b |", "- [x] **A.** yes", "$$", "3) (a)",
                     "*Working:*", "e^2", "```", "Q = 3", "---", "> quoted", "Name: Bob"]), min_size=1, max_size=6,
)  # fmt: skip


@st.composite
def said(draw, part, mark):
    """Something that can be answered to a part, right or wrong."""

    def entries(shape, cells=()):
        grid = of(lambda i, j: draw(st.sampled_from(POINT)).replace(".", mark), shape, cells, mark)
        return grid.put(*min(cells, default=(0, 0)), entry("7", mark)) if grid.empty else grid

    match part.answer:
        case EntriesAnswer(_, cells):
            return entries(shape_of(part), cells)
        case ShapeAnswer():
            sizes = st.one_of(st.integers(1, 30), st.sampled_from(["n", "d_k"]))
            return Shaped(draw(st.none() | st.tuples(sizes, sizes)))
        case ChoiceAnswer(options):
            return Ticked(draw(st.frozensets(st.integers(0, len(options) - 1), min_size=1)))
        case OrderAnswer(groups):
            labels = draw(st.permutations([label for group in groups for label in group]))
            cut = draw(st.integers(0, len(labels) - 1))
            return Ordered((*((label,) for label in labels[:cut]), tuple(labels[cut:])))
        case PropertyAnswer(model=model):
            return Grids({name: entries(matrix.shape) for name, matrix in model.items()})
        case RubricAnswer():
            return Text("\n".join(["First:", *draw(WORDS)]))
        case FormulaAnswer() | CellsAnswer() | WordAnswer():
            return telling(part, draw(st.integers(2, 9)))
    return entries(shape_of(part))


@st.composite
def attempts(draw, q, mark):
    parts = [part for part in q.parts if draw(st.integers(0, 5))]
    return Attempt({part.name: draw(said(part, mark)) for part in parts})


def agree(found, expected):
    assert dict(found.answers) == dict(expected.answers)
    assert dict(found.more) == dict(expected.more)


# ------------------------------------------------------------------------------------ the law


@pytest.mark.slow
@tries(25)
@given(st.data(), st.sampled_from(TYPES), st.sampled_from(NOTATIONS), st.sampled_from([".", ","]))
def test_what_was_filled_in_is_read_back(data, name, notation, mark):
    if notation == "columns" and name not in COLUMNS:
        notation = "standard"
    q = question(name, notation)
    attempt = data.draw(attempts(q, mark))
    filled = fill(blank(name, notation), [q], [attempt], name="Ada Lovelace", student="17")
    found = read_submission(filled, [q], form="markdown", decimal_mark=mark)
    agree(found.attempts[0], attempt)
    assert (found.sheet, found.name, found.student) == (identity(q.frozen), "Ada Lovelace", "17")


SPEC = ExamSpec("An exam", data_sheet=True, blank_pages=1, exponentials=True, formula_sheet="full")
PAPERS = (("full", "masks", "full"), ("design", "counts", "estimate"), ("shapes", "find-error"), ("faded", "drills"),
          ("translate", "choice", "heatmap"), ("prove", "recurrence"), ("full",))  # fmt: skip


@cache
def exam(names):
    questions = [question(name) for name in names]
    return questions, markdown.write(paper(SPEC, Copy(0, identity(list(names))), questions))


@pytest.mark.slow
@tries(10)
@given(st.data(), st.sampled_from(PAPERS))
def test_exam_papers(data, names):
    questions, page = exam(names)
    all_of_them = [data.draw(attempts(q, ".")) for q in questions]
    found = read_submission(fill(page, questions, all_of_them, name="Bo", student="3"), questions, decimal_mark=".")
    for attempt, expected in zip(found.attempts, all_of_them, strict=True):
        agree(attempt, expected)
    assert (found.sheet, found.name, found.student) == (identity(list(names)), "Bo", "3")


def test_a_blank_paper_without_its_head_and_its_comments_has_nothing_unread():
    questions, page = exam(PAPERS[2])
    found = read_submission(without_comments(page).split("---\n", 2)[2], questions, form="markdown")
    assert not any(remark.loose for remark in found.remarks)
    assert not any(attempt.unread for attempt in found.attempts)


# ------------------------------------------------------------------------------------ what happens to files


def without_comments(text):
    return re.sub(r"<!--.*?-->\n*", "", text)


def without_headings(text):
    return re.sub(r"(?m)^##.*\n", "", text)


HARMLESS = {
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "byte order mark": lambda text: "\ufeff" + text,
    "no comments": without_comments,
    "no front matter": lambda text: text.split("---\n", 2)[2],
    "no comments, no front matter": lambda text: without_comments(text.split("---\n", 2)[2]),
    "other bullets": lambda text: text.replace("- [", "*   [").replace("[x]", "[X]"),
    "tabs in tables": lambda text: re.sub(r"(?m)^\|.*\|$", lambda row: row[0].replace(" | ", "\t|\t"), text),
    "wide tables": lambda text: text.replace(" | ", "     |    ").replace(":---:", ":------------:"),
    "no outer bars": lambda text: re.sub(r"(?m)^\| (.*) \|$", r"\1", text),
    "prose between": lambda text: text.replace("<!-- symattn:grid", "I multiply, 1·2 + 3·4.\n\n<!-- symattn:grid"),
    "quotes round headings": lambda text: re.sub(r"(?m)^## (\d+\\\..*)$", r"**\1**", text),
    "no headings": without_headings,
}  # fmt: skip
SAMPLE = ("full", "masks", "design", "counts", "shapes", "faded", "recurrence", "drills", "choice", "translate")


def numbers_only(q):
    """Numbers that tell their part and place, and something for every other part."""
    return Attempt({part.name: telling(part, k) for k, part in enumerate(q.parts, 2)})


def telling(part, k):
    def text(i, j):
        return f"{k}{i}/{j + 7}"

    match part.answer:
        case RubricAnswer():
            return Text("For every row sums to one.")
        case ChoiceAnswer(options):
            return Ticked(frozenset([k % len(options)]))
        case CellsAnswer():
            return Shaded(frozenset([(0, 1), (1, 0)]))
        case OrderAnswer(groups):
            return Ordered(groups)
        case ShapeAnswer():
            return Shaped((k, k + 1))
        case FormulaAnswer():
            return entry(f"{k}/7", symbols=True)
        case WordAnswer():
            return Text("keys")
        case PropertyAnswer(model=model):
            return Grids({name: of(text, matrix.shape) for name, matrix in model.items()})
    return of(text, shape_of(part), getattr(part.answer, "cells", ()))


def of(
    text,
    shape,
    cells=(),
    mark=".",
):
    """A matrix of these texts, in these cells or in all."""
    rows, columns = map(range, shape)
    return Grid(
        tuple(tuple(BLANK if cells and (i, j) not in cells else entry(text(i, j), mark) for j in columns) for i in rows)
    )


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize("change", HARMLESS, ids=str)
@pytest.mark.parametrize("name", SAMPLE)
def test_changes_that_do_no_harm(name, change):
    q = question(name)
    attempt = numbers_only(q)
    changed = HARMLESS[change](fill(blank(name), [q], [attempt], name="Ada"))
    found = read_submission(changed, [q], form="markdown")
    agree(found.attempts[0], attempt)
    assert (found.sheet, found.name) == (identity(q.frozen), "Ada")
    assert change == "no headings" or not found.attempts[0].remarks


@pytest.mark.covering(most=1)
@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
@pytest.mark.parametrize("name", SAMPLE[:6])
def test_pandoc_writes_it_again(name):
    q = question(name)
    attempt = numbers_only(q)
    filled = fill(blank(name), [q], [attempt], name="Ada")
    again = subprocess.run(
        ["pandoc", "-f", "gfm", "-t", "gfm"], input=filled, text=True, encoding="utf-8", capture_output=True, check=True
    ).stdout
    found = read_submission(again, [q], form="markdown")
    agree(found.attempts[0], attempt)
    assert (found.sheet, found.name) == (identity(q.frozen), "Ada")


# ------------------------------------------------------------------------------------ what students do


GRIDS = {
    "rows of working": (
        "| Q | 1 | 2 |\n|---|---|---|\n| **1** | 1 | 2 |\n| working | 1·2 | |\n| **2** | 3 | 4 |",
        [["1", "2"], ["3", "4"]],
        [],
    ),
    "columns of working": ("| Q | 1 | 2 | sum |\n|---|---|---|---|\n| **1** | 1 | 2 | 99 |", [["1", "2"]], []),
    "what cannot be read": (
        "| Q | 1 | 2 |\n|---|---|---|\n| **1** | 1 | two |\n| **2** | ? | |",
        [["1", "two"], ["", ""]],
        ["Q[1,2]"],
    ),
}


@pytest.mark.parametrize("what", GRIDS)
def test_a_grid_written_into_is_read(what):
    typed, rows, told = GRIDS[what]
    text = blank("full")
    found = read(text[: text.index("| Q | 1")] + typed + "\n\n" + text[text.index("## 2") :], question("full"))[0]
    assert (values(found.answers["Q"]), [remark.where for remark in found.remarks]) == (rows, told)


def values(said):
    assert isinstance(said, Grid)
    return [[str(e.value) if e.readable else e.text for e in row] for row in said.rows]


def test_a_table_of_something_else_is_told():
    text = blank("full").replace("## 2\\.", "| powers | 1 | 2 |\n|---|---|---|\n| e | 5 | 6 |\n\n## 2\\.")
    found = read(text, question("full"))[0]
    assert not found.answers
    assert not found.more
    assert ["powers" in remark.says for remark in found.remarks] == [True]


def test_printed_entries_are_no_answers_and_a_change_is_told():
    q = question("faded")
    part = next(p for p in q.parts if isinstance(p.answer, EntriesAnswer) and grids_of(p)[0].filled)
    assert isinstance(part.answer, EntriesAnswer)
    (i, j), _ = grids_of(part)[0].filled[0]
    text = blank("faded")
    at = text.index(f"<!-- symattn:grid id={markdown.grid_id(grids_of(part)[0])} ")
    rows = text[at:].split("\n")
    row = next(k for k, line in enumerate(rows) if line.startswith(f"| **{i + 1}** |"))
    cells = rows[row].split("|")
    cells[j + 2] = " 987 "
    rows[row] = "|".join(cells)
    found = read(text[:at] + "\n".join(rows), q)[0]
    assert part.name not in found.answers
    assert [remark.where for remark in found.remarks] == [f"{part.name}[{i + 1},{j + 1}]"]


@pytest.mark.parametrize(
    ("mark", "shades"),
    [*((mark, True) for mark in ("x", "X", "☑", "■", "1", "[x]", "✓", "-inf")), *((mark, False) for mark in "☐0.-")],
)
def test_signs_that_shade_a_cell_and_signs_that_leave_it_white(mark, shades):
    text = blank("masks").replace("| $2$ | ☐", f"| $2$ | {mark}", 1)
    said = read(text, question("masks"))[0].answers.values()
    assert ([*said] == [Shaded(frozenset([(1, 0)]))]) is shades
    assert shades or not any(one != Shaded(frozenset()) for one in said)


def test_a_choice_crossed_out_or_written_below():
    q = question("choice")
    first = q.parts[0].name
    lines = blank("choice").split("\n")
    at = next(k for k, line in enumerate(lines) if line.startswith("- [ ] **B.**"))
    crossed = [
        *lines[:at],
        lines[at].replace("- [ ] ", "- [x] ~~") + "~~",
        lines[at + 1].replace("[ ]", "[x]"),
        *lines[at + 2 :],
    ]
    assert read("\n".join(crossed), q)[0].answers == {first: Ticked(frozenset([2]))}
    end = next(k for k in range(at, len(lines)) if not lines[k])
    below = [*lines[:end], "", "Answer: D", *lines[end:]]
    assert read("\n".join(below), q)[0].answers == {first: Ticked(frozenset([3]))}


LATEX = "\n\n$$\nQ = XW = \\frac12\\begin{pmatrix} 2 & 4 \\\\ 6 & 8 \\end{pmatrix}\n$$\n\n"


def test_a_matrix_in_latex_counts_where_the_grid_is_empty():
    q = question("full")
    below = blank("full").replace("## 2\\.", LATEX + "## 2\\.")
    assert values(read(below, q)[0].answers["Q"]) == [["1", "2"], ["3", "4"]]
    full = numbers_only(q)
    agree(read(fill(blank("full"), [q], [full]).replace("## 2\\.", LATEX + "## 2\\."), q)[0], full)


def test_the_space_for_a_line_put_right_takes_any_matrix():
    q = question("find-error")
    part = next(p for p in q.parts if not grids_of(p) and shape_of(p) != (0, 0))
    number = q.parts.index(part) + 1
    for matrix in (
        "$$\n\\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix} = K\n$$",
        "$$K = \\begin{matrix}1&2\\\\3&4\\end{matrix}$$",
        "[[1, 2], [3, 4]]",
        "```\n1 2\n3 4\n```",
        "|  | 1 | 2 |\n|---|---|---|\n| 1 | 1 | 2 |\n| 2 | 3 | 4 |",
    ):
        head, _, rest = blank("find-error").partition(f"## {number}\\.")
        text = head + f"## {number}\\." + rest.replace("&nbsp;", matrix, 1)
        assert values(read(text, q)[0].answers[part.name]) == [["1", "2"], ["3", "4"]], matrix
