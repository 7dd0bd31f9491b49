"""Answers that stand alone: right ones in any form, wrong ones named, marks by the scheme, nothing that crashes.

Witnesses: marks counted by hand, Python's decimal and fractions, SymPy, NumPy, and brute force over orders.
"""

import itertools
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scripts import drawn, ids, right_answer
from tables import tables_beside

import symattn
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.slips import SLIPS
from symattn.exact import NEGATIVE_INFINITY, Matrix, to_sympy
from symattn.exact.reading import read
from symattn.marking.attempt import (
    Attempt,
    Grids,
    Ordered,
    Shaded,
    Shaped,
    Text,
    Ticked,
    Unreadable,
)
from symattn.marking.marker.answers import accuracy, folded, mark_answer
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions.entries import entry, grid
from symattn.page.document import Words
from symattn.teaching.problems import counts
from symattn.teaching.problems.counts import ITEMS, polynomial
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    Lesser,
    Mark,
    MatrixAnswer,
    OneLess,
    Option,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
)

F = Fraction
ECF = POLICIES["ecf"]


def part_of(answer, *marks, name="a"):
    return Part(name, (), (), (), answer, marks)


def question_of(*parts):
    return Question("made up", "A question", (), parts, {})


def marked(answer, said, *marks, policy=ECF, method=False):
    part = part_of(answer, *marks)
    ticked = Attempt({}, methods=frozenset({part.name} if method else ()))
    return mark_answer(part, said, question_of(part), policy, attempt=ticked)


def given_marks(found):
    return [given.given for given in found.marks]


def states(found):
    return [verdict.state for verdict in found.verdicts]


def named(found):
    return [id for event in found.events for id in ids(event)]


def told(found):
    return [candidate.says for event in found.events for candidate in event.candidates]


def consistent(found):
    """Events and verdicts refer to one another, every wrong entry has its event, and marks stay in their bounds."""
    assert [event.number for event in found.events] == list(range(len(found.events)))
    for verdict in found.verdicts:
        assert (verdict.state == "wrong") == (verdict.event is not None)
        if verdict.event is not None:
            assert (verdict.part, verdict.i, verdict.j) in found.events[verdict.event].entries
    for mark in found.marks:
        assert 0 <= mark.given <= mark.of


# ------------------------------------------------------------------------------------------------ the table

RULES = {
    "": {},
    "rows": {"rule": "rows"},
    "swap": {"rule": "one swap"},
    "reason": {"rule": "reason"},
    "-1": {"rule": OneLess()},
    "-2": {"rule": OneLess(2)},
    "2/3": {"rule": Lesser(F(2, 3))},
    "3/4": {"rule": Lesser(F(3, 4))},
    "sum": {"follows": "sum"},
    "quotient": {"follows": "quotient"},
    "shading": {"follows": "shading"},
}
SCORES = PropertyAnswer(
    "weights of scores",
    {"base": "e", "weights": [["1/3", "2/3"], ["1/4", "3/4"]]},
    {"S": Matrix([[0, "ln(2)"], [0, "ln(3)"]])},
)
KEYS = PropertyAnswer(
    "exact weights",
    {"asked": "K", "q": [1, 0], "shape": [2, 2], "base": 2, "weights": ["1/3", "2/3"]},
    {"K": Matrix([[0, 0], [1, 0]])},
)


def scheme(text):
    marks = []
    for word in text.split():
        mark, *rules = word.split(":")
        marks.append(Mark(mark[0], int(mark[1:]), **{k: v for rule in rules for k, v in RULES[rule].items()}))
    return tuple(marks)


def table(text):
    return [row.split() for row in text.split(";")]


def shaded(text):
    rows = [row.strip() for row in text.split(";")]
    return frozenset((i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell == "#")


def size(text):
    return None if text == "none" else tuple(int(x) if x.isdigit() else x for x in text.split())


def groups(text):
    return tuple(tuple(group) for group in text.split())


def written(text):
    return grid([["" if x == "·" else x for x in row] for row in table(text)])


def answer_of(kind, text):
    match kind:
        case "matrix":
            return MatrixAnswer(Matrix.of([[NEGATIVE_INFINITY if x == "-∞" else read(x).value for x in row]
                                           for row in table(text)]))  # fmt: skip
        case "formula":
            return FormulaAnswer(read(text, symbols=True).value)
        case "shape":
            return ShapeAnswer(size(text))
        case "options" | "several":
            options = [Option((), x == "+", diagnosis="" if x in "+?" else x) for x in text.split()]
            return ChoiceAnswer(tuple(options), several=kind == "several")
        case "cells":
            rows = text.split(";")
            return CellsAnswer((len(rows), len(rows[0])), shaded(text))
        case "order":
            return OrderAnswer(groups(text))
        case "word":
            return WordAnswer(text)
        case "rubric":
            return RubricAnswer(tuple((Words(point),) for point in text.split()))
    return {"scores": SCORES, "keys": KEYS}[kind]


def said_of(kind, said, points):
    if isinstance(said, dict):
        return Grids({name: written(text) for name, text in said.items()})
    match kind:
        case "formula":
            return entry(said, symbols=True)
        case "shape":
            return Shaped(size(said))
        case "options" | "several":
            return Ticked(frozenset(map(int, said.split())))
        case "cells":
            return Shaded(shaded(said))
        case "order":
            return Ordered(groups(said))
        case "word" | "rubric":
            return Text(said, points)
    return written(said)


SIGNS = {"+": "correct", "-": "wrong", ".": "missing", "?": "unreadable", ">": "follows"}
TABLES = tables_beside(__file__)
ROWS = TABLES["row"]


@pytest.mark.parametrize("row", ROWS, ids=[row["about"] for row in ROWS])
def test_answers_that_stand_alone(row):
    kind, _, text = row["part"].partition(" ")
    policy = replace(
        POLICIES[row.get("policy", "ecf")],
        threshold=F(row.get("threshold", ECF.threshold)),
        independent_accuracy="dependent" not in row,
    )
    marks, said = scheme(row["scheme"]), said_of(kind, row["said"], row.get("points"))
    found = marked(answer_of(kind, text), said, *marks, policy=policy, method="method" in row)
    consistent(found)
    if "states" in row:
        assert states(found) == [SIGNS[sign] for sign in row["states"]]
    expected = {
        "earned": given_marks(found),
        "pending": [given.pending for given in found.marks],
        "says": told(found),
        "ids": named(found),
        "kinds": [event.kind for event in found.events],
        "entries": [[i, j] for event in found.events for _, i, j in event.entries],
        "notices": [notice.kind for notice in found.notices],
        "flags": [flag for verdict in found.verdicts for flag in verdict.flags],
    }
    checked = expected.keys() & row.keys()
    assert {key: expected[key] for key in checked} == {key: row[key] for key in checked}
    assert row.get("id", "") in ["", *named(found)]
    assert row.get("told", "") in ["", *told(found)]
    assert row.get("notice", "") in "".join(notice.says for notice in found.notices)
    assert "fewer" not in row or all(given.given < given.of for given in found.marks)
    if kind == "word":
        also = WordAnswer("something else", (text,))
        assert (folded(text) == folded(row["said"])) == bool(row["earned"][0])
        assert given_marks(marked(also, said, *marks)) == row["earned"]


# ------------------------------------------------------------------------------------------------ marks


@pytest.mark.parametrize(("mark", "accepted", "expected"), [tuple(row) for row in TABLES["shared"]])
def test_marks_as_the_scheme_shares_them(mark, accepted, expected):
    """Counted by hand; what the mark is for in words changes nothing."""
    [made] = scheme(mark)
    rows = [[sign == "+" for sign in row] for row in accepted.split()]
    for words in ("", "deduct one for every wrong number", "one for each row", "reason"):
        assert accuracy(replace(made, what=words), rows)[0] == expected


def test_a_row_without_entries_earns_nothing():
    assert accuracy(Mark("A", 3, rule="rows"), [[True], [], [False]])[0] == 1


rows_of_bools = st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=5)


@given(st.sampled_from(["", "rows", "2/3", "3/4", "-2", "-1"]), st.integers(1, 6), rows_of_bools, st.data())
def test_all_marks_for_all_entries_only_and_never_fewer_for_more(rule, number, rows, data):
    mark = Mark("A", number, **RULES[rule])
    earned, _ = accuracy(mark, rows)
    assert 0 <= earned <= number
    assert (earned == number) == all(map(all, rows))
    assert earned == 0 or any(map(any, rows))
    i = data.draw(st.integers(0, len(rows) - 1))
    j = data.draw(st.integers(0, len(rows[i]) - 1))
    better = [[x or (r, c) == (i, j) for c, x in enumerate(row)] for r, row in enumerate(rows)]
    assert accuracy(mark, better)[0] >= earned


# ------------------------------------------------------------------------------------------------ matrices

fractions = st.fractions(-20, 20, max_denominator=12)


@given(st.lists(st.lists(fractions, min_size=2, max_size=2), min_size=1, max_size=3), st.data())
def test_a_wrong_number_is_wrong_alone(rows, data):
    i, j = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 1))
    key = [list(row) for row in rows]
    key[i][j] += data.draw(st.sampled_from([F(1, 10**60), F(-1, 10**12), F(1, 7), F(3)]))
    found = marked(MatrixAnswer(Matrix(key)), grid([[str(x) for x in row] for row in rows]), Mark("A", 1))
    assert [(v.i, v.j) for v in found.verdicts if v.state == "wrong"] == [(i, j)]
    assert len(found.events) == 1
    assert given_marks(found) == [0]
    consistent(found)


def test_decimals_of_enough_places_are_not_flagged_where_decimals_are_asked_for():
    problem = symattn.derive("note-000").problem
    part = part_of(MatrixAnswer(Matrix([["1/3"]])), Mark("A", 1))
    question = replace(question_of(part), problem=replace(problem, exact=False, places=3))
    flags = {
        text: mark_answer(part, grid([[text]]), question, ECF).verdicts[0].flags for text in ("0.33", "0.333", "0.3333")
    }
    assert flags == {"0.33": ("precision",), "0.333": (), "0.3333": ()}


def test_a_mask_may_follow_the_students_own_shading():
    shading = part_of(CellsAnswer((2, 2), frozenset({(0, 1)})), Mark("B", 1), name="shade")
    matrix = part_of(
        MatrixAnswer(Matrix.of([[0, NEGATIVE_INFINITY], [0, 0]])),
        Mark("B", 1, "follows the shading, marks as stated", follows="shading"),
        name="mask",
    )
    question = question_of(shading, matrix)
    said = grid([["0", "0"], ["-inf", "0"]])
    attempt = Attempt({"shade": Shaded(frozenset({(1, 0)})), "mask": said})
    found = mark_answer(matrix, said, question, ECF, attempt=attempt)
    assert states(found) == ["correct", "follows", "follows", "correct"]
    assert given_marks(found) == [1]
    assert given_marks(mark_answer(matrix, said, question, POLICIES["strict"], attempt=attempt)) == [0]
    assert given_marks(mark_answer(matrix, said, question, ECF)) == [0]


# ------------------------------------------------------------------------------------------------ formulas


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("name", list(ITEMS)[::3])
def test_formulas_in_letters_are_right_however_they_are_written(name):
    """Witness: SymPy rewrites the polynomial, and says whether what is left is zero."""
    value = polynomial(name)
    d, n = sympy.Symbol("d"), sympy.Symbol("n")
    forms = [sympy.factor(value), sympy.expand(value), sympy.collect(value, d), sympy.collect(value, n), value + d - d]
    forms += [value * (d + 1) / (d + 1), sympy.Add(value, d**2, -(d**2), evaluate=False)]
    for form in forms:
        assert sympy.simplify(form - value) == 0
        found = marked(FormulaAnswer(value), entry(str(form), symbols=True), Mark("B", 1))
        assert given_marks(found) == [1], str(form)
        assert found.notices == ()
    for wrong in (value + 1, value * d, 2 * value, value + d):
        assert given_marks(marked(FormulaAnswer(value), entry(str(wrong), symbols=True), Mark("B", 1))) == [0]


@cache
def counts_in_letters():
    """The answer of every item, from a worksheet that asks for all of them."""
    asked = counts.TYPE.make({**drawn(problem="counts", seed=5).content, "polynomials": [*ITEMS]})
    return dict(zip(ITEMS, [part.answer for part in asked.parts if part.name.startswith("letters")], strict=True))


@pytest.mark.parametrize("name", list(ITEMS))
def test_wrong_counts_in_letters_are_named(name):
    for id, typed, means in ITEMS[name].wrong:
        found = marked(counts_in_letters()[name], entry(typed, symbols=True), Mark("B", 1))
        assert id in named(found)
        assert means.replace("$", "") in told(found)
        assert given_marks(found) == [0]


def test_wrong_counts_in_tables_are_named():
    """What is forgotten or counted twice, taken off the key or added to it."""
    parts = {p.name: p for p in drawn(problem="counts", seed=5).parts}

    def names(part, wrong):
        rows = [[str(wrong.get(k, x))] for k, (x,) in enumerate(parts[part].answer.value.rows)]
        return [ids(event) for event in marked(parts[part].answer, grid(rows)).events]

    scores, mixing, output, whole = (parts["operations"].answer.value[k, 0] for k in (1, 2, 3, 4))
    for k, wrong, id in [(1, 2 * scores, "N4"), (4, whole - scores - mixing, "N5"), (4, whole - output, "N3")]:
        assert any(id in found for found in names("operations", {k: wrong})), id
    words, norms, last, model = (parts["whole"].answer.value[k, 0] for k in (0, 4, 6, 7))
    for k, wrong, id in [(4, norms // 2, "N7"), (6, last // 2, "N7"), (7, model + words, "N6")]:
        assert any(id in found for found in names("whole", {k: wrong})), id


# ------------------------------------------------------------------------------------------------ orders


def moves(order, right):
    """How many must be moved, by trying every part that may stay."""
    for stay in range(len(right), 0, -1):
        for kept in itertools.combinations(order, stay):
            if list(kept) == [x for x in right if x in kept]:
                return len(right) - stay
    return len(right)


def exchanges(order):
    """Everything that one swap of neighbours gives."""
    made = set()
    for k in range(len(order) - 1):
        swapped = list(order)
        swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
        made.add(tuple(swapped))
    return made


def test_orders_of_single_labels_by_brute_force():
    right = tuple("ABCD")
    answer = OrderAnswer(tuple((label,) for label in right))
    near = exchanges(right)
    for order in itertools.permutations(right):
        said = Ordered(tuple((label,) for label in order))
        lines = marked(answer, said, *scheme("B3:-1"))
        assert given_marks(lines) == [max(0, 3 - moves(order, right))]
        rows = marked(answer, said, *scheme("B2:swap"))
        assert given_marks(rows) == [2 if order == right else int(order in near)]
        pairs = sum(order.index(a) < order.index(b) for a, b in itertools.pairwise(right))
        share = marked(answer, said, Mark("B", 6))
        assert given_marks(share) == [6 * pairs // (len(right) - 1)]
        assert (told(share) == ["the order is reversed"]) == (order == right[::-1])
        consistent(share)


# ------------------------------------------------------------------------------------------------ anything at all

ANSWERS = (
    answer_of("matrix", "1 1/2 7; -3 4 0; 2 12 e"),
    answer_of("matrix", "1/3; e^2/(1+e^2); 0"),
    answer_of("matrix", "0 -∞; 0 0"),
    answer_of("formula", "12"),
    answer_of("formula", "4 n d^2 + 2 n^2 d"),
    answer_of("shape", "2 n"),
    answer_of("shape", "none"),
    answer_of("options", "C1 + A10 ?"),
    answer_of("several", "+ + N3"),
    answer_of("cells", ".##; ..#; ..."),
    answer_of("order", "A BC"),
    SCORES,
    PropertyAnswer(
        "attends",
        {"asked": "W_Q", "x": [1, 0], "K": [[1, 0], [0, 1]], "base": 2, "to": 1, "least": "9/10"},
        {"W_Q": Matrix([[0, 4], [0, 0]])},
    ),
    RubricAnswer(((), ())),
    WordAnswer("S'", ("scaled scores",)),
)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_what_cannot_be_read_is_said_and_costs_nothing_else(answer):
    found = marked(answer, Unreadable("?", "Nothing can be made of this."), Mark("B", 2))
    assert set(states(found)) == {"unreadable"}
    assert found.events == ()
    assert [(notice.kind, notice.says) for notice in found.notices] == [("reading", "Nothing can be made of this.")]
    other = Shaped((1, 1)) if not isinstance(answer, ShapeAnswer) else Shaded(frozenset())
    mismatch = marked(answer, other, Mark("B", 2))
    assert set(states(mismatch)) == {"unreadable"}
    assert [notice.kind for notice in mismatch.notices] == ["reading"]


# ------------------------------------------------------------------------------------------------ every problem type


def to_six_places(matrix):
    """Rounded by SymPy, unless it is whole."""

    def text(x):
        if isinstance(x, int) or x is NEGATIVE_INFINITY:
            return str(x)
        return f"{Decimal(str(sympy.N(to_sympy(x), 30))).quantize(Decimal('1e-6'))}"

    return grid([[text(x) for x in row] for row in matrix.rows])


TYPES = ("choice", "counts", "design", "drills", "estimate", "find-error", "heatmap", "masks", "prove", "recurrence",
         "shapes", "translate")  # fmt: skip
DIAGNOSES = {*misconceptions(), *SLIPS, "N1", "N2", "N3", "N4", "N5", "N8"}


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("problem", TYPES)
def test_answers_of_every_problem_type(problem):
    """The catalogue tries the key as it is; here it is in decimals, and options that are wrong have their names."""
    question = drawn(problem=problem, seed=5)
    for part in question.parts:
        answer = part.answer
        if isinstance(answer, StepAnswer | EntriesAnswer):
            continue
        said = right_answer(part) if not isinstance(answer, MatrixAnswer) else to_six_places(answer.value)
        found = mark_answer(part, said, question, ECF)
        assert set(states(found)) <= {"correct"}, (question.title, part.name)
        assert found.events == () == found.notices
        for mark, earned in zip(part.marks, found.marks, strict=True):
            assert earned.pending == (mark.rule == "reason")
            assert earned.given == (0 if earned.pending else mark.number)
        if isinstance(answer, ChoiceAnswer):
            every_wrong_option_is_named(part, question)


def every_wrong_option_is_named(part, question):
    for k, option in enumerate(part.answer.options):
        if option.diagnosis and not option.right:
            assert option.diagnosis in DIAGNOSES
            found = mark_answer(part, Ticked(frozenset({k})), question, ECF)
            assert option.diagnosis in named(found)
            assert [bool(says) for says in told(found)] == [option.diagnosis not in misconceptions()]


@pytest.mark.parametrize(
    ("said", "earns"),
    [
        ("The wrong line is that of {right}.", 1),
        ("I think that {right} is where it went wrong", 1),
        ("The wrong line is that of {other}.", 0),
        ("The wrong line is {right}, for {other} is right.", None),
        ("the one below the scores was not done properly", None),
    ],
)
def test_a_wrong_line_may_be_named_in_a_sentence(said, earns):
    """Of a sentence that names one line; with several, or none, a person reads it."""
    asked = drawn(problem="find-error", seed=5)
    part = next(part for part in asked.parts if isinstance(part.answer, WordAnswer))
    other = next(name for name in ("S", "A", "Z") if name not in (part.answer.word, *part.answer.accepted))
    [report] = symattn.check(asked, {part.name: said.format(right=part.answer.word, other=other)}).reports
    [given] = [given for given in report.marks if given.parts == (part.name,)]
    assert (given.given, given.pending) == (earns or 0, earns is None)
