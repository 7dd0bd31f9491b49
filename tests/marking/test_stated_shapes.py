"""The shape that a sheet asks for, stated beside the name of its matrix: it earns the mark for shapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts import exactly, key_of
from trials import tries

from symattn.api import make_recipe
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.marker.report import Report
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.entries import grid
from symattn.page.writers import markdown
from symattn.teaching.explanation import question_document
from symattn.teaching.question import Question
from symattn.teaching.sheets import sheets

Rows = list[list[str]]

STATEMENTS: dict[str, str] = {
    "behind a colon": "Q: {n} × {d}",
    "behind an equals sign": "Q = {n}x{d}",
    "in brackets": "Q ({n} x {d})",
    "as an index": "Q_{{{n}×{d}}}",
    "as an index in TeX": "$Q_{{{n} \\times {d}}}$",
    "in a sentence": "Q is a {n} by {d} matrix.",
    "in a sentence with its word": "The shape of Q is ({n}, {d}).",
    "as in NumPy": "Q.shape = ({n}, {d})",
    "as a space": "Q ∈ ℝ^{{{n}×{d}}}",
    "by its word": "Queries: {n}×{d}",
    "in German": "Q hat die Form {n}×{d}",
    "in French": "Les dimensions de Q sont {n}×{d}",
    "in Chinese": "Q 的形状：{n}×{d}",
    "by the part": "(a) {n}x{d}",
    "two on a line": "K: 3 x 4, Q: {n} x {d}",
}

BESIDE: dict[str, Callable[[Rows, int, int], str]] = {
    "before a matrix": lambda q, n, d: f"Q ({n} x {d}) = {inline(q)}",
    "as an index of a matrix": lambda q, n, d: f"Q_{n}x{d} = {inline(q)}",
    "behind a matrix": lambda q, n, d: f"Q = {inline(q)}, {n} × {d}",
    "in brackets behind it": lambda q, n, d: f"Q = {inline(q)} ({n}×{d})",
    "above its rows": lambda q, n, d: f"Q: {n}×{d}\n" + "\n".join(" ".join(row) for row in q),
    "on a line of its own": lambda q, n, d: f"Q is {n}×{d}\n\nQ = {inline(q)}",
    "in TeX": lambda q, n, d: f"$$Q_{{{n} \\times {d}}} = {in_tex(q)}$$",
}


def inline(rows: Rows) -> str:
    return "[" + "; ".join(" ".join(row) for row in rows) + "]"


def in_tex(rows: Rows) -> str:
    return "\\begin{bmatrix}" + " \\\\ ".join(" & ".join(row) for row in rows) + "\\end{bmatrix}"


@cache
def question() -> Question:
    """Q is 3×4, and one mark of three is for its shape."""
    (sheet,) = sheets(make_recipe("self_attention", seed=9), 1)
    return sheet.question


@cache
def queries() -> Rows:
    return [[exactly(x) for x in row] for row in key_of(question())["Q"]]


def marked(text: str, form: str = "markdown") -> Report:
    return mark(question(), read_submission(text, [question()], form=form).attempts[0])


def shapes_mark(report: Report) -> int:
    (given,) = (given for given in report.marks if given.code == "B")
    return given.given


@pytest.mark.parametrize("form", STATEMENTS)
def test_a_right_shape_alone_earns_its_mark(form: str) -> None:
    report = marked(STATEMENTS[form].format(n=3, d=4))
    assert (report.total, shapes_mark(report)) == (1, 1)
    assert not report.attempt.remarks
    assert not report.attempt.unread
    assert not report.notices


@pytest.mark.parametrize("form", STATEMENTS)
def test_a_wrong_shape_alone_earns_nothing_and_is_told(form: str) -> None:
    report = marked(STATEMENTS[form].format(n=4, d=3))
    assert report.total == 0
    assert not report.attempt.unread
    assert [notice.says for notice in report.notices] == ["The shape is not 4×3: a shape is rows × columns."]


@pytest.mark.parametrize("form", BESIDE)
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (7, 2)])
def test_a_matrix_of_the_right_shape_is_enough(form: str, shape: tuple[int, int]) -> None:
    report = marked(BESIDE[form](queries(), *shape))
    assert report.total == 3
    assert not report.events
    assert bool(report.notices) == (shape != (3, 4))


@pytest.mark.parametrize("form", BESIDE)
def test_the_right_shape_beside_a_matrix_of_another(form: str) -> None:
    lacks = [row[:-1] for row in queries()]
    assert shapes_mark(marked(BESIDE[form](lacks, 3, 4))) == 1


@pytest.mark.parametrize("form", [*BESIDE])
def test_tokens_as_columns_are_no_mistake(form: str) -> None:
    """Whoever has tokens as columns throughout states the shapes that these matrices have."""
    pages = {name: [[exactly(x) for x in row] for row in rows] for name, rows in key_of(question()).items()}
    turned = {name: [list(column) for column in zip(*rows, strict=True)] for name, rows in pages.items()}
    text = "\n\n".join(
        [BESIDE[form](turned["Q"], 4, 3), *(f"{n} = {inline(rows)}" for n, rows in turned.items() if n != "Q")]
    )
    report = marked(text)
    assert report.total == report.available
    assert not report.events
    assert all(notice.kind == "layout" for notice in report.notices)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", "Q,3x4\n"),
        ("toml", 'Q = "3 × 4"\n'),
        ("json", json.dumps({"Q": "(3 x 4)"})),
        ("markdown", "## Queries\n\n3 × 4\n"),
    ],
)
def test_in_files_of_all_kinds(form: str, text: str) -> None:
    report = marked(text, form)
    assert (report.total, shapes_mark(report)) == (1, 1)
    assert not report.attempt.remarks


@pytest.mark.parametrize(
    "written",
    [
        "beside its name. 3×4",
        "beside its name.\n\n3×4",
        "beside its name.\n\nShape of Q: 3×4",
        "| Q (3×4) |",
        "| Q 3×4 |",
    ],
)
def test_on_a_sheet_of_ours(written: str) -> None:
    sheet = markdown.write(question_document(question()))
    put = "| Q |" if written.startswith("|") else "beside its name."
    assert sheet.count(put) == 1
    report = marked(sheet.replace(put, written))
    assert (report.total, shapes_mark(report)) == (1, 1)
    assert not report.attempt.unread


@pytest.mark.parametrize(
    "text", ["Q = X W^Q (3x5)(5x4)", "Q = 3x5 · 5x4", "the batch is 3x4", "X W^Q: 3×5 times 5×4", "Q^T is 4x3", "2x3x4"]
)
def test_what_may_be_another_shape_is_none_of_these(text: str) -> None:
    report = marked(f"K = {inline(queries())}\n{text}\n")
    assert not report.attempt.shapes


@tries(15)
@given(data=st.data())
def test_a_stated_shape_never_costs_a_mark(data: st.DataObject) -> None:
    """Whatever else was written, and whatever shape is stated."""
    key = key_of(question())
    chosen = data.draw(st.sets(st.sampled_from(sorted(key))), label="written")
    answers = {}
    for name in sorted(chosen):
        rows = [[exactly(x) for x in row] for row in key[name]]
        if data.draw(st.booleans(), label=f"{name} wrong"):
            i, j = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
            rows[i][j] = str(data.draw(st.integers(-9, 9)))
        answers[name] = rows
    said = {name: grid(rows) for name, rows in answers.items()}
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)), label="shape")
    before, after = mark(question(), Attempt(said)), mark(question(), Attempt(said, shapes={"Q": shape}))
    assert after.total >= before.total
    assert after.total == before.total or shape == (3, 4)
    assert after.events == before.events
