"""A practice session says what `symattn.check` says of the same answers given in Python, and its hints add up."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import pairwise

import pytest
from practice_pages import cells_of, drawn, filled, lines_of, places

import symattn
from symattn.derivation.ops import MatMul
from symattn.errors import InputError
from symattn.page.document import AnswerGrid, all_blocks
from symattn.page.writers import html
from symattn.practice.course import read_course
from symattn.practice.session import Session, answer
from symattn.teaching.problems import problem_types

RECIPES = ("attention --level starter", "self_attention", "causal_self_attention", "multi_head_attention")


def right(lines):
    return lines


def one_wrong(lines):
    """One more in the first number of the first line: all that follows is as the key has it."""
    name = next(iter(lines))
    first = [[str(Fraction(lines[name][0][0]) + 1), *lines[name][0][1:]], *lines[name][1:]]
    return {**lines, name: first}


def begun(lines):
    """The first line and nothing else."""
    return dict(list(lines.items())[:1])


def turned(lines):
    """Every line turned round row by row."""
    return {name: [row[::-1] for row in rows] for name, rows in lines.items()}


def unreadable(lines):
    name = next(iter(lines))
    return {**lines, name: [["1/", *lines[name][0][1:]], *lines[name][1:]]}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("script", [right, one_wrong, begun, turned, unreadable])
@pytest.mark.covering(most=2, product=False)
def test_a_page_is_marked_as_check_marks_the_same_answers(recipe, script):
    session = Session()
    shown, sheet = drawn(session, recipe, 7)
    lines = script(lines_of(sheet))
    marked = session.mark(shown["sheet"], filled(shown["html"], cells_of(sheet, lines)))
    [report] = symattn.check(sheet, lines).reports
    names = [part.name for part in sheet.question.parts]
    assert (marked["total"], marked["of"]) == (report.total, report.available)
    assert [(e["part"], e["row"], e["column"], e["state"]) for e in marked["entries"]] == [
        (names.index(v.part) + 1, v.i + 1, v.j + 1, v.state) for v in report.verdicts
    ]
    assert [(e["part"], e["kind"], e["candidates"]) for e in marked["events"]] == [
        (names.index(e.part) + 1, e.kind, [c.id for c in e.candidates]) for e in report.events
    ]
    assert marked["total"] == marked["of"] or script is not right


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("name", sorted(problem_types()))
def test_a_blank_page_waits_for_nobody_and_needs_no_fonts_which_a_browser_has_not(name, monkeypatch):
    session = Session()
    shown, _ = drawn(session, f"--problem {name}", 3)
    monkeypatch.setattr(html, "write", lambda document: pytest.fail("a page with its fonts was written"))
    marked = session.mark(shown["sheet"], shown["html"])
    assert (marked["total"], marked["pending"], marked["events"]) == (0, False, [])


@pytest.mark.parametrize("name", sorted(problem_types()))
@pytest.mark.covering(most=5)
def test_every_box_of_a_page_says_its_place(name):
    session = Session()
    shown, sheet = drawn(session, f"--problem {name}", 3)
    grids = [b for b in all_blocks(sheet.worksheet.blocks) if isinstance(b, AnswerGrid)]
    assert len(places(shown["html"])) == sum(g.rows * g.columns - len(g.filled) for g in grids)
    headings = re.findall(r'<h\d data-part="(\d+)"', shown["html"])
    assert headings == [str(k) for k in range(1, len(sheet.question.parts) + 1)]


def test_hints_tell_a_little_more_each_time_and_end_with_the_dot_product():
    session = Session()
    shown, sheet = drawn(session, "self_attention", 7)
    givens = sheet.problem.givens
    assert isinstance(sheet.problem["Q"].op, MatMul)
    product = sum(givens["X"][1, k] * givens["W_Q"][k, 2] for k in range(givens["X"].shape[1]))
    told = [session.hint(shown["sheet"], shown["html"], 1, 2, 3, level)["html"] for level in range(1, 5)]
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


def test_hints_go_on_with_what_was_written():
    session = Session()
    shown, sheet = drawn(session, "attention --level starter", 7)
    lines = {"A": [["2", "3", "4"], ["1", "1", "1"], ["1", "1", "1"]], "S": lines_of(sheet)["S"]}
    page = filled(shown["html"], cells_of(sheet, lines))
    values = sheet.problem.givens["V"]
    expected = sum(weight * values[k, 0] for k, weight in enumerate((2, 3, 4)))
    told = session.hint(shown["sheet"], page, 3, 1, 1, 4)["html"]
    assert f"equals {expected}" in told
    assert "Fill in" in session.hint(shown["sheet"], shown["html"], 3, 1, 1, 4)["html"]


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("recipe", ["attention --level starter", "--problem block", "--problem choice"])
@pytest.mark.parametrize("solved", [True, False])
def test_every_level_of_a_hint_says_more_and_the_last_is_told_to_be_the_last(recipe, solved):
    session = Session()
    shown, sheet = drawn(session, recipe, 7)
    page = filled(shown["html"], cells_of(sheet, lines_of(sheet))) if solved and "starter" in recipe else shown["html"]
    for part in range(1, len(sheet.question.parts) + 1):
        first = session.hint(shown["sheet"], page, part, 1, 1, 1)
        told = [session.hint(shown["sheet"], page, part, 1, 1, level) for level in range(1, first["of"] + 1)]
        assert [one["level"] for one in told] == list(range(1, first["of"] + 1))
        assert all(len(less["html"]) < len(more["html"]) for less, more in pairwise(told))
        assert session.hint(shown["sheet"], page, part, 1, 1, first["of"] + 1) == told[-1]


def test_what_stands_above_is_no_hint():
    session = Session()
    shown, _ = drawn(session, "--problem choice", 1)
    assert shown["parts"][0]["hints"] is False
    assert "no hint" in session.hint(shown["sheet"], shown["html"], 1, 1, 1, 1)["html"]


def test_a_fresh_exercise_asks_for_the_step_that_went_wrong_with_other_numbers():
    session = Session()
    shown, sheet = drawn(session, "attention --level starter", 7)
    page = filled(shown["html"], cells_of(sheet, one_wrong(lines_of(sheet))))
    fresh = session.exercise(shown["sheet"], page, 1)
    assert len(fresh["parts"]) == 1
    assert len(places(fresh["html"])) == len(list(sheet.problem["S"].result))
    assert fresh["html"] not in shown["html"]
    assert session.exercise(shown["sheet"], page, 3) == {}  # nothing went wrong there
    assert session.mark(fresh["sheet"], fresh["html"])["total"] == 0


def test_what_is_saved_is_marked_alike_by_check(tmp_path):
    session = Session()
    shown, sheet = drawn(session, "attention --level starter", 7, "de")
    page = filled(shown["html"], cells_of(sheet, one_wrong(lines_of(sheet))))
    saved = session.attempt(shown["sheet"], page)
    path = tmp_path / saved["name"]
    path.write_text(saved["text"], encoding="utf-8")
    marking, marked = symattn.check(path, path), session.mark(shown["sheet"], page)
    assert (marking.total, marking.available) == (marked["total"], marked["of"])
    assert [v.state for v in marking.reports[0].verdicts] == [e["state"] for e in marked["entries"]]


def test_a_line_is_told_alone_and_in_the_language_of_the_page():
    session = Session()
    shown, sheet = drawn(session, "attention --level starter", 7, "de")
    blank = session.check(shown["sheet"], shown["html"], 1)["html"]
    page = filled(shown["html"], cells_of(sheet, lines_of(sheet)))
    assert "Hier steht noch nichts." in blank
    assert "Richtig." in session.check(shown["sheet"], page, 1)["html"]


def test_what_cannot_be_read_is_told_with_its_place():
    session = Session()
    shown, _ = drawn(session, "attention --level starter", 7)
    said = session.check(shown["sheet"], filled(shown["html"], {(1, 3, 1): "x/"}), 1)["html"]
    assert said.count("Entry (3, 1) cannot be read: ") == 1


def test_cells_that_were_left_white_are_not_judged_one_by_one():
    session = Session()
    shown, sheet = drawn(session, "attention --problem masks", 3)
    hidden = {(i + 1, j + 1) for i, j in sheet.question.parts[0].answer.cells}
    wrong = next(place for _, *place in places(shown["html"]) if tuple(place) not in hidden)
    page = filled(shown["html"], {(1, *wrong): "x"})
    marked = session.mark(shown["sheet"], page)
    assert [(e["row"], e["column"], e["state"]) for e in marked["entries"] if e["part"] == 1] == [(*wrong, "wrong")]
    said = session.check(shown["sheet"], page, 1)["html"]
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


def test_the_course_that_comes_with_it_goes_from_dot_products_to_many_heads():
    course = read_course()
    assert "step=scores" in course.topics[0].recipe
    assert course.topics[-1].recipe == "multi_head_attention"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no topic"),
        ('[[topic]]\ntitle = "A"\nrecipe = "atention"', "topic 1"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention --seed 3"', "leave out --seed"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention --seed=3"', "leave out --seed"),
        ('[[topic]]\ntitle = "A"\nrecipe = ""', "a mechanism or --problem was expected"),
        ('[[topic]]\ntitle = "A"\nrecipe = "masks"', "masks is a type of problem: --problem masks"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention --levl long"', r"did you mean --level\?$"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention --format pdf"', "--format does not belong to a recipe"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention \'open"', "is not a recipe: No closing quotation"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention --size n=400"', "topic 1, recipe: "),
        ('[[topic]]\ntitle = "A"\nrecipe = "--problem masks"\n' * 2, "topic 2, recipe: It is that of another topic"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention --level long"\nlevels = ["starter"]', "leave out --level"),
        ('[[topic]]\ntitle = "A"\nrecipe = "attention"\nlevels = ["easy"]', "levels"),
        ('pass = 0\n[[topic]]\ntitle = "A"\nrecipe = "attention"', "pass is 0"),
        ('[[topic]]\ntitle = ""\nrecipe = "attention"', "title"),
    ],
)
def test_a_course_that_is_none_is_refused_where_it_goes_wrong(tmp_path, text, says):
    path = tmp_path / "practice.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says) as refused:
        read_course(path)
    assert "practice.toml" in str(refused.value)


def test_nothing_is_asked_for_that_has_no_box():
    """On paper, the shape is written beside the name."""
    shown, sheet = drawn(Session(), "self_attention", 7)
    assert any(mark.rule == "shapes" for part in sheet.question.parts for mark in part.marks)
    assert "beside its name" in html.write(sheet.worksheet)
    assert "beside its name" not in shown["html"]
