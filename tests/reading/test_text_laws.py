"""Laws of texts that people type of their own: nothing right is made wrong, and what was not read waits or is told."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cache

import pytest
import sympy
from filling import fill
from hypothesis import example, given
from hypothesis import strategies as st
from scripts import decimals, exactly, ids, key_of, marked, texts
from tables import tables_beside
from trials import tries

import symattn
from symattn.api import make_recipe
from symattn.derivation.derivation import StepName
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, decide
from symattn.exact.bridge import from_sympy
from symattn.marking.attempt import Attempt, Grid
from symattn.marking.submissions import entry, read_submission
from symattn.marking.submissions.blocks import page
from symattn.marking.submissions.entries import AUTO
from symattn.marking.submissions.latex import statements
from symattn.marking.submissions.tables import entries_of, read_matrix
from symattn.page.writers import markdown
from symattn.page.writers import text as plain
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.question import FormulaAnswer
from symattn.teaching.sheets import sheets


@cache
def question(mechanism="self_attention", problem="full", seed=11):
    recipe = make_recipe(mechanism, seed=seed) if problem == "full" else make_recipe(problem=problem, seed=seed)
    (sheet,) = sheets(recipe, 1)
    return sheet.question


@cache
def key(mechanism="self_attention", places=3):
    return texts(key_of(question(mechanism)), decimals(places))


def read(text, asked, form="markdown"):
    return read_submission(text, [asked], form=form).attempts[0]


def values(said):
    assert isinstance(said, Grid)
    return [[entry.text.strip("()") for entry in row] for row in said.rows]


def lines(rows, between="  "):
    return "\n".join(between.join(row) for row in rows)


def brackets(rows):
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


# ------------------------------------------------------------------------------------------------ sentences

MECHANISMS = ["self_attention", "causal_self_attention", "multi_head_attention", "kv_cache", "layer_norm",
              "feed_forward", "attention_gradient"]  # fmt: skip
LISTS = [
    brackets,
    lambda rows: ", ".join("(" + ", ".join(row) + ")" for row in rows),
    lambda rows: "; ".join(map(" ".join, rows)),
    lambda rows: " / ".join(map(" ".join, rows)),
    lambda rows: "rows " + " and ".join(map(", ".join, rows)),
]
BEFORE = ["", "", "so ", "then ", "I get ", "this gives ", "because of that "]
BEHIND = ["", "", " as we saw", " (checked)", ", I think", " that was easy", ", + b = 3 4", " -> ok"]


@tries(8)
@given(st.data())
def test_no_sentence_makes_a_right_answer_wrong(data):
    """Whatever stands between right answers, each of them is read as it is, or left to a person."""
    mechanism = data.draw(st.sampled_from(MECHANISMS))
    asked, text = key(mechanism), ""
    for name, rows in asked.items():
        called = StepName.of(name)
        if called.head or called.token:
            text += f"\n{'Head' if called.head else 'Token'} {called.head or called.token}: "
        sign = data.draw(st.sampled_from([" = ", ": ", " is ", " are "]))
        below = f"{sign.rstrip()}\n{lines(rows)}" if text.endswith("\n") else sign + brackets(rows)
        said = data.draw(st.sampled_from([below, *(sign + write(rows) for write in LISTS)]))
        text += data.draw(st.sampled_from(BEFORE)) + called.stem + said
        text += data.draw(st.sampled_from(BEHIND)) if "\n" not in said else ""
        text += data.draw(st.sampled_from(["\n", "\n\n", ", ", "; ", ". "])) if "\n" not in said else "\n"
    try:
        attempt = read(text, question(mechanism))
    except InputError:
        return  # nothing could be read at all
    answers = {name: values(said) for name, said in attempt.answers.items()}
    for name, found in answers.items():
        assert [len(row) for row in found] == [len(row) for row in asked[name]], (name, text)
        assert all(x in ("", y) for one, other in zip(found, asked[name], strict=True)
                   for x, y in zip(one, other, strict=True)), (name, text)  # fmt: skip
        assert all(map(all, found)) or attempt.unread, (name, text)
    assert set(answers) == set(asked) or attempt.unread, text


@pytest.mark.parametrize("gap", [" " * 200, " \t" * 5000, "\N{NO-BREAK SPACE}" * 3000])
def test_long_gaps_between_numbers_change_nothing(gap):
    """They cost no time either: patterns that seek in them would take their square."""
    rows = [["2", "1", "3"], ["0", "1", "1"], ["2", "2", "2"]]
    assert values(read(f"S =\n{lines(rows, gap)}", question()).answers["S"]) == rows


def test_lines_that_may_be_rows_or_places_wait_unless_they_are_right():
    """Rows that begin with 1 1, 1 2 and 1 3, and a first row by places: as rows they count, else a person sees them."""
    rows = [["1", "1", "2"], ["1", "2", "1"], ["1", "3", "3"]]
    text = "\n".join(",".join(["S", *row]) for row in rows)
    assert values(read(text, question(), "csv").answers["S"]) == rows
    for scores, is_right in ((rows, True), ([["2", "1", "3"], ["4", "0", "5"], ["7", "2", "2"]], False)):
        d = symattn.derive("attention", Q=scores, K=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], V=[[1], [0], [2]], scale="none")
        [report] = symattn.check(d, f"{text}\n").reports
        assert not report.events
        assert ("S" in {part for given in report.marks if given.pending for part in given.parts}) is not is_right
    for clear in ("S,1,1,2\nS,1,2,1\nS,1,4,3", "part,row,column,answer\nS,1,1,2\nS,1,2,1\nS,1,3,3"):
        assert not [doubt for doubt in read(clear, question(), "csv").doubts.values() if not doubt.of_shape]


def test_no_table_holds_the_reader_up():
    source = ["S = | | 0 | 1 |", "| --- | --- | --- |", "| 0 | 2 | 1 |"]
    assert [(block.kind, block.start, block.end) for block in page("\n".join(source)).blocks] == [("table", 0, 3)]


# ------------------------------------------------------------------------------------------------ names


@example("\r")
@example("\u200b")
@given(st.characters(categories=("Zs", "Zl", "Zp", "Cc", "Cf"), exclude_characters="\x00"))
def test_a_matrix_whose_name_cannot_be_seen_is_told(character):
    """Whatever else was written is read; a bare carriage return once ended in an IndexError."""
    text = "".join(rf"\[ {name} = \begin{{bmatrix}} {cells} \end{{bmatrix}} \]"
                   for name, cells in (("S", r"2 & 1 \\ 0 & 1"), (character, r"7 & 2 \\ 3 & 4")))  # fmt: skip
    attempt = read(rf"\begin{{document}}{text}\end{{document}}", question(), form="latex")
    assert set(attempt.answers) == {"S"}
    assert ["= [7 & 2; 3 & 4]" in remark.says for remark in attempt.remarks] == [True]
    assert "Z" in attempt.unread


# ------------------------------------------------------------------------------------------------ LaTeX

half, e = sympy.Rational(1, 2), sympy.E
CONTENTS = {
    r"-\infty": -sympy.oo, r"{-}\infty": -sympy.oo, "2": sympy.Integer(2), "{-}3": sympy.Integer(-3),
    "12{}": sympy.Integer(12), "-0{,}5": -half, "1{.}5": 3 * half, r"-\frac{{1}}{{2}}": -half, "1{/}2": half,
    r"2{\cdot}3": sympy.Integer(6), r"\sqrt{{2}}": sympy.sqrt(2), r"2{e}^{2}": 2 * e**2, r"\bf 7": sympy.Integer(7),
    r"\textcolor{red}{7}": sympy.Integer(7), r"\color{blue} 7": sympy.Integer(7),
}  # fmt: skip
"""Numbers as they are typed in LaTeX, and what is printed."""

WRAPPED = ("%s", "{%s}", "{ %s }", "{{%s}}", r"\mathbf{%s}", r"\boxed{{%s}}", r"{\color{red} %s}")
CELLS = st.tuples(st.sampled_from(sorted(CONTENTS)), st.sampled_from(WRAPPED))
MATRICES = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=1, max_size=4)
)


def means(text, value):
    found = entry(text, AUTO).value
    if value == -sympy.oo:
        return found is NEGATIVE_INFINITY
    return found is not None and decide(found, from_sympy(value)).equal is True


@tries(60)
@given(
    MATRICES,
    st.sampled_from(["pmatrix", "bmatrix", "matrix", "array"]),
    st.sampled_from(["\\\\", "\\\\\n", "\\\\[2pt]", "\\cr"]),
    st.sampled_from(["&", " & ", "\n&"]),
)
def test_every_cell_of_a_matrix_is_read(rows, environment, end, between):
    """Whatever stands in it, first or last in a row, right behind what begins the matrix or the row."""
    columns = "{%s}" % ("r" * len(rows[0])) if environment == "array" else ""
    cells = end.join(between.join(wrapped % content for content, wrapped in row) for row in rows)
    source = rf"\[ M = \begin{{{environment}}}{columns}{cells}\end{{{environment}}} \]"
    ((_, statement),) = statements(source)
    matrix = read_matrix(statement)
    assert matrix is not None
    assert [len(row) for row in matrix.rows] == [len(row) for row in rows]
    for typed, row in zip(matrix.rows, rows, strict=True):
        for text, (content, _) in zip(typed, row, strict=True):
            assert means(text, CONTENTS[content]), (text, source)


# ------------------------------------------------------------------------------------------------ on a sheet


@cache
def blank(problem="full"):
    return markdown.write(question_document(question(problem=problem)))


def below_heading(text, k, what):
    """The sheet with something more below the heading of a part."""
    heading = next(line for line in text.splitlines() if line.startswith(f"## {k}\\."))
    return text.replace(heading, f"{heading}\n\n{what}")


def test_what_stands_below_an_empty_grid_or_beside_the_parts_is_told():
    text = below_heading(blank().replace("## Given", "lorem ipsum\n\n## Given"), 3, "I did it dolor sit")
    says = [remark.says for remark in read(text, question()).remarks]
    assert [("lorem ipsum" in said, "dolor sit" in said) for said in says] == [(True, False), (False, True)]


@pytest.mark.parametrize("way", ["{} = {}", "{}:\n{}"])
def test_a_matrix_beside_its_empty_grid_counts(way):
    text = blank()
    for k, (name, rows) in enumerate(key().items(), 1):
        text = below_heading(text, k, way.format(name, brackets(rows) if "=" in way else lines(rows)))
    attempt = read(text, question())
    assert ({name: values(said) for name, said in attempt.answers.items()}, attempt.remarks) == (key(), ())


def test_working_beside_a_filled_grid_is_working():
    filled = fill(blank(), [question()], [read(f"Q = {brackets(key()['Q'])}", question())])
    text = filled.replace("*Working:*", "*Working:* 1·0 + 2·3 = 6, and so on", 1)
    assert not read(text, question()).remarks


def test_working_beside_a_wrong_number_keeps_its_method_mark_open():
    asked = question(problem="recurrence", seed=50016)
    page, number = blank_of(asked), [part.name for part in asked.parts].index("overtaking") + 1
    head, rest = page.split(f"## {number}\\.")
    line = next(line for line in rest.splitlines() if line.startswith("$n$"))
    answered = head + f"## {number}\\." + rest.replace(line, "$n$ \\= 640", 1)
    worked = answered.replace("$n$ \\= 640", "2n²d = 4nd² => n = 2d = 640\n\n$n$ \\= 640", 1)
    for text, pending in ((answered, {"M": False, "A": False}), (worked, {"M": True, "A": False})):
        marks = marked(asked, read(text, asked)).marks
        assert {given.code: given.pending for given in marks if "overtaking" in given.parts} == pending


def blank_of(asked):
    return markdown.write(question_document(asked))


@pytest.mark.covering
@pytest.mark.parametrize("mechanism", ["layer_norm", "linear_attention"])
def test_our_plain_text_filled_in_is_read(mechanism):
    """What stands in the boxes is right, and nothing that is printed is taken for an answer."""
    asked = question(mechanism)
    sheet = plain.write(question_document(asked))
    rows_of_key = key_of(asked).values()
    entries = iter([exactly(x).replace(" ", "") for rows in rows_of_key for row in rows for x in row])
    head, _, boxes = sheet.partition("━━━")
    filled = re.sub(r"_{4,}", lambda found: next(entries).ljust(len(found[0])), boxes)
    assert next(entries, None) is None
    report = marked(asked, read(head + "━━━" + filled, asked, "text"))
    assert (report.total, report.events) == (report.available, ())
    assert not read(sheet, asked, "text").answers


# ------------------------------------------------------------------------------------------------ shapes

PUT = "beside its name."


@pytest.mark.parametrize(
    ("where", "written", "shape"),
    [
        (PUT, f"{PUT} 3×4", (3, 4)),
        (PUT, f"{PUT}\n\nShape of Q: 3×4", (3, 4)),
        ("| Q |", "| Q (3×4) |", (3, 4)),
        ("| Q |", "| Q 4×3 |", (4, 3)),
    ],
)
def test_a_right_shape_stated_on_a_sheet_of_ours_earns_its_mark_and_a_wrong_one_is_told(where, written, shape):
    asked = question(seed=9)
    assert blank_of(asked).count(where) == 1
    report = marked(asked, read(blank_of(asked).replace(where, written), asked))
    assert (report.total, report.attempt.shapes, report.attempt.unread) == (shape == (3, 4), {"Q": shape}, frozenset())
    told = "The shape is not 4×3: a shape is rows × columns." in [str(notice.says) for notice in report.notices]
    assert told == (shape == (4, 3))


# ------------------------------------------------------------------------------------------------ not too generous


def test_what_a_person_entered_in_another_shape_is_told_clearly():
    wide = [[*row, "7"] for row in key()["S"]]
    text = json.dumps({"answers": {**key(), "S": wide}, "symattn": {"entered": True}})
    report = marked(question(), read(text, question(), ""))
    assert (report.pending, [event.kind for event in report.events][:1]) == (False, ["shape"])


def test_a_count_is_not_rounded():
    asked, long = question(problem="counts", seed=1), 0
    for part in asked.parts:
        if isinstance(part.answer, FormulaAnswer) and isinstance(number := part.answer.value, int):
            power = len(str(number)) - 1
            long += power > 2
            rounded = f"{number / 10**power:.2f} × 10^{power}"
            for text, is_right in ((rounded, number % 10 ** (power - 2) == 0), (str(number), True)):
                report = marked(asked, Attempt({part.name: entry(text, symbols=True)}))
                assert all((given.given == given.of) is is_right for given in report.marks if part.name in given.parts)
    assert long


@pytest.mark.parametrize("written", [("N",), ("N_gamma", "N")])
def test_a_norm_without_scale_and_shift_earns_neither(written):
    right = key("layer_norm", 4)
    answers = {**{name: rows for name, rows in right.items() if name != "N_gamma"},
               **dict.fromkeys(written, right["N_hat"])}  # fmt: skip
    report = marked(question("layer_norm"), read(json.dumps(answers), question("layer_norm"), ""))
    lost = {given.parts[0] for given in report.marks if given.code != "N" and given.given < given.of}
    assert lost == {"N_gamma", "N"}
    assert [id for event in report.events for id in ids(event)][:1] == ["B10"]


WITH_A_SMALL_OUTPUT = tables_beside(__file__)["with_a_small_output"]


@pytest.mark.parametrize(("at", "right"), [((1, 1), True), ((2, 1), False)])
def test_a_whole_number_among_decimals_has_the_places_of_its_own_matrix(at, right):
    """0 beside 1.82 is 0.00, though the same number has six places in another line: 0.004277, and not 0.271649."""
    asked = symattn.derive("self_attention", **WITH_A_SMALL_OUTPUT, notation="note-003").worksheet().question
    rows = texts(key_of(asked), decimals(6))
    assert (abs(float(rows["Z"][at[0]][at[1]])) <= 0.005) is right
    rows["Z"] = [
        ["0" if (i, j) == at else f"{float(x):.2f}" for j, x in enumerate(row)] for i, row in enumerate(rows["Z"])
    ]
    text = "\n\n".join(f"{name} = {brackets(m)}" for name, m in rows.items())
    assert marked(asked, read(text, asked)).of("Z")[at].accepted is right


def test_a_whole_number_is_never_cut_off_to_a_tenth():
    """What is worked out from whole numbers alone has no digits to be cut off."""
    d = symattn.derive("self_attention", X=[[1], [-1]], W_Q=[[2]], W_K=[[1]], W_V=[[1]], scale="none")
    page = {name: [[str(x) for x in row] for row in d[name].result.rows] for name in ("Q", "K", "V", "S", "A", "Z")}
    assert symattn.check(d, page).right
    for rows in ([["2"], ["-1.9"]], [["2.1"], ["-2"]]):
        assert not symattn.check(d, {**page, "Q": rows}).right


# ------------------------------------------------------------------------------------------------ anything at all

NAMES = (
    "sheet",
    "answers",
    "Q",
    "cells",
    "source",
    "cell_type",
    "code",
    "outputs",
    "data",
    "text",
    "metadata",
    "nbformat",
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(NAMES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)


@tries(30)
@given(ANYTHING, st.sampled_from(["json", "notebook"]), st.booleans())
def test_anything_in_json_is_read_or_refused_in_a_sentence(value, form, right):
    whole = {"nbformat": 4, "cells": [value], "answers": {"Q": value}} if right else value
    refusal = ""
    try:
        found = read_submission(json.dumps(whole), [question()], form=form)
    except InputError as error:
        refusal = str(error)
    assert refusal.startswith("The text: ") if refusal else len(found.attempts) == 1


@given(st.text(alphabet="\\begin{pmatrix}end&=$[](), 12\n", max_size=300))
def test_any_latex_is_taken_apart(text):
    assert all(statement.strip() for _, statement in statements(text))
    with suppress(InputError):
        assert len(read_submission(text, [question()], form="latex").attempts) == 1


def test_a_key_may_be_the_function_that_leads_to_a_step():
    """softmax(S) is A, in a mapping as in a text, and never S."""
    said = {**key(places=4)}
    said["softmax(S)"] = said.pop("A")
    found = symattn.check(question(), said).reports[0]
    assert (found.total, found.pending) == (found.available, False)


def test_below_a_long_line_of_words_nothing_is_wider_than_what_was_written():
    """Under "Scaled scores S" two rows of two numbers are no column of labels and a row that lacks an entry."""
    block = entries_of([["Scaled", "scores", "S′^(2)"], ["0", "2"], ["1", "0"]], (2, 2))
    assert block is not None
    assert all(all(row) for row in block.rows)
