"""A practice session says what `symattn.check` says of the same answers given in Python, and its hints add up."""

import json
import re
import tomllib
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from practice_pages import cells_of, drawn, filled, lines_of, places, right_values
from sentences import refused_saying

import symattn
from symattn.derivation.ops.linear import MatMul
from symattn.page.document import AnswerGrid, all_blocks
from symattn.page.writers import html
from symattn.practice.session import Session, answer, recipe_of
from symattn.practice.site import read_course
from symattn.teaching.problems import drawn_types
from symattn.teaching.question import StepAnswer
from symattn.teaching.sheets import sheets

STARTER = "attention --level starter"


@pytest.fixture(scope="module")
def session():
    return Session()


@pytest.fixture(scope="module")
def starter(session):
    """A sheet as the session shows it, and the same sheet drawn beside it."""
    return drawn(session, STARTER, 7)


def one_wrong(lines):
    """One more in the first number of the first line: all that follows is as the key has it."""
    name = next(iter(lines))
    first = [[str(Fraction(lines[name][0][0]) + 1), *lines[name][0][1:]], *lines[name][1:]]
    return {**lines, name: first}


def unreadable(lines):
    name = next(iter(lines))
    return {**lines, name: [["1/", *lines[name][0][1:]], *lines[name][1:]]}


SCRIPTS = {
    "right": lambda lines: lines,
    "one wrong": one_wrong,
    "begun": lambda lines: dict(list(lines.items())[:1]),
    "turned round row by row": lambda lines: {name: [row[::-1] for row in rows] for name, rows in lines.items()},
    "unreadable": unreadable,
}


@pytest.mark.parametrize(
    ("recipe", "script"),
    [(STARTER, "right"), (STARTER, "one wrong"), ("self_attention", "begun"), (STARTER, "turned round row by row"),
     ("attention --ask S,Z --marks Z=7", "one wrong"),
     pytest.param("multi_head_attention", "unreadable", marks=pytest.mark.slow)],
)  # fmt: skip
def test_a_page_is_marked_as_check_marks_the_same_answers(recipe, script, session):
    shown, sheet = drawn(session, recipe, 7)
    lines = SCRIPTS[script](lines_of(sheet))
    marked = session.marked(shown["sheet"], filled(shown["html"], cells_of(sheet, lines))).mark()
    [report] = symattn.check(sheet, lines).reports
    names = [part.name for part in sheet.question.parts]
    assert (marked["total"], marked["of"]) == (report.total, report.available)
    assert [(e["part"], e["row"], e["column"], e["state"]) for e in marked["entries"]] == [
        (names.index(v.part) + 1, v.i + 1, v.j + 1, v.state) for v in report.verdicts
    ]
    assert [(e["part"], e["kind"], e["candidates"]) for e in marked["events"]] == [
        (names.index(e.part) + 1, e.kind, [c.id for c in e.candidates]) for e in report.events
    ]
    assert marked["total"] == marked["of"] or script != "right"


@pytest.mark.covering(most=4, rest=2)
@pytest.mark.parametrize("name", sorted(drawn_types()))
def test_every_box_of_a_page_says_its_place_and_a_blank_one_waits_for_nobody(name, session, monkeypatch):
    """And its marking needs no fonts which a browser has not."""
    shown, sheet = drawn(session, f"--problem {name}", 7)
    grids = [b for b in all_blocks(sheet.worksheet.blocks) if isinstance(b, AnswerGrid)]
    assert len(places(shown["html"])) == sum(g.rows * g.columns - len(g.filled) for g in grids)
    headings = re.findall(r'<h\d data-part="(\d+)"', shown["html"])
    assert headings == [str(k) for k in range(1, len(sheet.question.parts) + 1)]
    monkeypatch.setattr(html, "write", lambda document: pytest.fail("a page with its fonts was written"))
    marked = session.marked(shown["sheet"], shown["html"]).mark()
    assert (marked["total"], marked["pending"], marked["events"]) == (0, False, [])


def test_hints_tell_a_little_more_each_time_and_end_with_the_dot_product(session):
    shown, sheet = drawn(session, "self_attention", 7)
    givens = sheet.problem.givens
    assert isinstance(sheet.problem["Q"].op, MatMul)
    product = sum(givens["X"][1, k] * givens["W_Q"][k, 2] for k in range(givens["X"].shape[1]))
    told = [session.marked(shown["sheet"], shown["html"]).hint(1, 2, 3, level)["html"] for level in range(1, 5)]
    assert all(less in more and len(less) < len(more) for less, more in pairwise(told))
    assert "row 2 of" in told[0]
    assert "column 3 of" in told[0]
    first = givens["X"][1, 0] * givens["W_Q"][0, 2]
    assert told[1].count(f"equals {first}".replace("-", "minus ")) == 1
    equations = [
        spoken for spoken in re.findall(r'alttext="([^"]*)"', told[3]) if spoken.startswith("q sub 2 3 equals")
    ]
    assert equations[-1].endswith(f"equals {product}".replace("-", "minus "))
    assert not any(spoken.endswith(f"equals {product}") for spoken in re.findall(r'alttext="([^"]*)"', told[0]))


def test_hints_go_on_with_what_was_written(session, starter):
    shown, sheet = starter
    lines = {"A": [["2", "3", "4"], ["1", "1", "1"], ["1", "1", "1"]], "S": lines_of(sheet)["S"]}
    page = filled(shown["html"], cells_of(sheet, lines))
    values = sheet.problem.givens["V"]
    expected = sum(weight * values[k, 0] for k, weight in enumerate((2, 3, 4)))
    told = session.marked(shown["sheet"], page).hint(3, 1, 1, 4)["html"]
    assert f"equals {expected}" in told
    assert "Fill in" in session.marked(shown["sheet"], shown["html"]).hint(3, 1, 1, 4)["html"]


@pytest.mark.parametrize("recipe", [STARTER, pytest.param("--problem block", marks=pytest.mark.slow)])
def test_every_level_of_a_hint_says_more_and_the_last_is_told_to_be_the_last(recipe, session):
    shown, sheet = drawn(session, recipe, 7)
    page = filled(shown["html"], cells_of(sheet, lines_of(sheet))) if recipe == STARTER else shown["html"]
    for part in range(1, len(sheet.question.parts) + 1, 2):
        first = session.marked(shown["sheet"], page).hint(part, 1, 1, 1)
        told = [session.marked(shown["sheet"], page).hint(part, 1, 1, level) for level in range(1, first["of"] + 1)]
        assert [one["level"] for one in told] == list(range(1, first["of"] + 1))
        assert all(len(less["html"]) < len(more["html"]) for less, more in pairwise(told))
        assert session.marked(shown["sheet"], page).hint(part, 1, 1, first["of"] + 1) == told[-1]


def test_what_stands_above_is_no_hint(session):
    shown, _ = drawn(session, "--problem choice", 1)
    assert shown["parts"][0]["hints"] is False
    assert "no hint" in session.marked(shown["sheet"], shown["html"]).hint(1, 1, 1, 1)["html"]


def test_a_fresh_exercise_asks_for_the_step_that_went_wrong_with_other_numbers(session, starter):
    shown, sheet = starter
    page = filled(shown["html"], cells_of(sheet, one_wrong(lines_of(sheet))))
    fresh = session.exercise(shown["sheet"], page, 1)
    assert len(fresh["parts"]) == 1
    assert len(places(fresh["html"])) == len(list(sheet.problem["S"].result))
    assert fresh["html"] not in shown["html"]
    assert session.exercise(shown["sheet"], page, 3) == {}  # nothing went wrong there
    assert session.marked(fresh["sheet"], fresh["html"]).mark()["total"] == 0


@pytest.mark.parametrize("recipe", [STARTER, f"{STARTER} --ask S,Z --marks Z=7"])
def test_a_line_is_told_alone_and_what_is_saved_is_marked_alike_by_check(recipe, tmp_path):
    session = Session()
    shown, sheet = drawn(session, recipe, 7, "de")
    right = lines_of(sheet)
    assert "Hier steht noch nichts." in session.marked(shown["sheet"], shown["html"]).check(1)["html"]
    page = filled(shown["html"], cells_of(sheet, right))
    assert "Richtig." in session.marked(shown["sheet"], page).check(1)["html"]
    page = filled(shown["html"], cells_of(sheet, one_wrong(right)))
    saved = session.marked(shown["sheet"], page).attempt()
    path = tmp_path / saved["name"]
    path.write_text(saved["text"], "utf-8")
    marking, marked = symattn.check(path, path), session.marked(shown["sheet"], page).mark()
    assert (marking.total, marking.available) == (marked["total"], marked["of"])
    assert [v.state for v in marking.reports[0].verdicts] == [e["state"] for e in marked["entries"]]


def test_what_cannot_be_read_is_told_with_its_place(session, starter):
    shown, _ = starter
    said = session.marked(shown["sheet"], filled(shown["html"], {(1, 3, 1): "x/"})).check(1)["html"]
    assert said.count("Entry (3, 1) cannot be read: ") == 1


def test_cells_that_were_left_white_are_not_judged_one_by_one(session):
    shown, sheet = drawn(session, "attention --problem masks", 3)
    hidden = {(i + 1, j + 1) for i, j in sheet.question.parts[0].answer.cells}
    wrong = next(place for _, *place in places(shown["html"]) if tuple(place) not in hidden)
    page = filled(shown["html"], {(1, *wrong): "x"})
    marked = session.marked(shown["sheet"], page).mark()
    assert [(e["row"], e["column"], e["state"]) for e in marked["entries"] if e["part"] == 1] == [(*wrong, "wrong")]
    said = session.marked(shown["sheet"], page).check(1)["html"]
    assert not any(f"({i}, {j})" in said for i, j in hidden)


@pytest.mark.parametrize(
    "request_",
    [
        {"verb": "draw", "recipe": "atention", "seed": 1},
        {"verb": "draw", "recipe": "attention --nothing", "seed": 1},
        {"verb": "draw", "recipe": "attention 'open", "seed": 1},
        {"verb": "mark", "sheet": 99_999, "page": ""},
    ],
)
def test_what_cannot_be_done_is_a_sentence(request_):
    said = json.loads(answer(json.dumps(request_)))
    assert list(said) == ["error"]
    assert said["error"].endswith((".", "?"))


WRONG = tomllib.loads(Path(__file__).with_name("wrong_courses.toml").read_text("utf-8"))["wrong"]


def test_the_course_that_comes_with_it_goes_from_dot_products_to_many_heads():
    course = read_course()
    assert "step=scores" in course.topics[0].recipe
    assert course.topics[-1].recipe == "multi_head_attention"


def test_every_level_of_the_course_has_sheets_of_its_own():
    for topic in read_course().topics:
        made = [next(sheets(recipe_of(recipe, 7), 1)).worksheet.blocks for recipe in topic.recipes()]
        assert all(one != other for one, other in combinations(made, 2)), topic.title


def read_in_its_box(session, starter, typed):
    shown, _ = starter
    page = filled(shown["html"], {(1, 1, 1): typed})
    return session.marked(shown["sheet"], page).reading(1, 1, 1)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("1/2", ["<mfrac>"]), ("0,5", ["<mn>0.5</mn>"]), ("2e^2", ["<mn>2</mn>", "<msup>"]), ("√3", ["<msqrt>"])],
)
def test_a_box_says_how_it_is_read(session, starter, typed, shown):
    told = read_in_its_box(session, starter, typed)
    assert not told["says"]
    assert all(one in told["html"] for one in shown)


def test_what_is_saved_has_tables_that_viewers_show_and_is_marked_the_same(session, starter):
    shown, sheet = starter
    page = filled(shown["html"], cells_of(sheet, lines_of(sheet)))
    saved = session.marked(shown["sheet"], page).attempt()["text"]
    parts = [part for part in sheet.question.parts if isinstance(part.answer, StepAnswer)]
    assert MarkdownIt("gfm-like", {"linkify": False}).render(saved).count("<table>") == len(parts)
    [report] = symattn.check(sheet, saved).reports
    assert report.total == report.available


def test_a_box_that_cannot_be_read_says_why(session, starter):
    said = {"html": "", "says": "The text ends where a number was expected."}
    assert read_in_its_box(session, starter, "1/") == said
    assert read_in_its_box(session, starter, "") == {"html": "", "says": ""}


NO_MATRIX = {"choice", "counts", "design", "estimate", "heatmap", "recurrence", "shapes"}


@pytest.mark.covering(most=4)
@pytest.mark.parametrize(
    "recipe", ["language_model", *(f"--problem {name}" for name in sorted({*drawn_types()} - NO_MATRIX))]
)
def test_no_box_with_its_right_answer_is_said_to_be_unreadable(session, recipe):
    """Boxes are read as marking reads them, whatever is asked for there."""
    shown, sheet = drawn(session, recipe, 7)
    right = right_values(sheet)
    cells = {place: str(right[place]) for place in places(shown["html"]) if place in right}
    marked = session.marked(shown["sheet"], filled(shown["html"], cells))
    assert cells
    for part, row, column in cells:
        assert not marked.reading(part, row, column)["says"], (part, row, column)


@pytest.mark.covering(most=4, rest=2)
@pytest.mark.parametrize("name", sorted(drawn_types()))
def test_nobody_is_told_to_wait_for_a_person(name, session):
    shown, sheet = drawn(session, f"--problem {name}", 7)
    page = re.sub('<input type="text"', '<input type="text" value="1/"', shown["html"])
    page = re.sub("(<textarea[^>]*>)", r"\1Because it is.", page)
    marked = session.marked(shown["sheet"], page)
    told = [marked.mark()["html"], *(marked.check(k)["html"] for k in range(1, len(sheet.question.parts) + 1))]
    assert not [one for one in told if re.search(r"\bperson\b|\bpending\b", one)]


@pytest.mark.parametrize(("text", "says"), WRONG)
def test_a_course_that_is_none_is_refused_where_it_goes_wrong(tmp_path, text, says):
    path = tmp_path / "practice.toml"
    path.write_text(text, "utf-8")
    with refused_saying(says) as refused:
        read_course(path)
    assert "practice.toml" in str(refused.value)


def test_nothing_is_asked_for_that_has_no_box():
    """On paper, the shape is written beside the name."""
    shown, sheet = drawn(Session(), "self_attention", 7)
    assert any(mark.rule == "shapes" for part in sheet.question.parts for mark in part.marks)
    assert "beside its name" in html.write(sheet.worksheet)
    assert "beside its name" not in shown["html"]
