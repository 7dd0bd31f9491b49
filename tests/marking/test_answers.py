"""Answers that stand alone: right ones in any form, wrong ones named, marks by the scheme, nothing that crashes.

Witnesses: marks counted by hand, Python's decimal and fractions, SymPy, NumPy, and brute force over orders.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

import symattn
from symattn.derivation.misconceptions import SLIPS, misconceptions
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, from_sympy, to_sympy
from symattn.exact.reading import read
from symattn.marking.attempt import (
    BLANK,
    Attempt,
    Entry,
    Grid,
    Grids,
    Ordered,
    Said,
    Shaded,
    Shaped,
    Text,
    Ticked,
    Unreadable,
)
from symattn.marking.marker.answers import Marked, accuracy, folded, mark_answer
from symattn.marking.marker.policy import POLICIES, Policy
from symattn.marking.submissions.entries import entry, grid
from symattn.page.document import Words
from symattn.teaching.problems.counted import ITEMS, polynomial
from symattn.teaching.question import (
    Answer,
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
    Rule,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
    total,
)

F = Fraction
ECF = POLICIES["ecf"]


def part_of(answer: Answer, *marks: Mark, name: str = "a") -> Part:
    return Part(name, (), (), (), answer, marks)


def question_of(*parts: Part, type: str = "made up", content: Mapping[str, Any] | None = None) -> Question:
    return Question(type, "A question", (), parts, content or {})


def marked(
    answer: Answer, said: Said | None, *marks: Mark, policy: Policy = ECF, method: bool = False, **more: Any
) -> Marked:
    part = part_of(answer, *marks)
    return mark_answer(part, said, question_of(part, **more), policy, 0, method)


def given_marks(found: Marked) -> list[int]:
    return [given.given for given in found.marks]


def states(found: Marked) -> list[str]:
    return [verdict.state for verdict in found.verdicts]


def named(found: Marked) -> list[str]:
    return [candidate.id for event in found.events for candidate in event.candidates]


def told(found: Marked) -> list[str]:
    return [candidate.says for event in found.events for candidate in event.candidates]


def consistent(found: Marked, first: int = 0) -> None:
    """Events and verdicts refer to one another, every wrong entry has its event, and marks stay in their bounds."""
    assert [event.number for event in found.events] == list(range(first, first + len(found.events)))
    for verdict in found.verdicts:
        assert (verdict.state == "wrong") == (verdict.event is not None)
        if verdict.event is not None:
            assert (verdict.part, verdict.i, verdict.j) in found.events[verdict.event - first].entries
    for mark in found.marks:
        assert 0 <= mark.given <= mark.of


# ------------------------------------------------------------------------------------------------ marks

NINE_SIX = [[True, True, True], [True, True, True], [False, False, False]]
NINE_FIVE = [[True, True, True], [True, True, False], [False, False, False]]


@pytest.mark.parametrize(
    ("mark", "accepted", "expected"),
    [
        (Mark("A", 2, "all entries; A1 for two thirds of them", Lesser(F(2, 3))), [[True] * 3] * 3, 2),
        (Mark("A", 2, "all entries; A1 for two thirds of them", Lesser(F(2, 3))), NINE_SIX, 1),
        (Mark("A", 2, "all entries; A1 for two thirds of them", Lesser(F(2, 3))), NINE_FIVE, 0),
        (Mark("A", 3, "one for each row", "rows"), NINE_SIX, 2),
        (Mark("A", 3, "one for every token", "rows"), NINE_FIVE, 1),
        (Mark("A", 3), NINE_FIVE, 1),
        (Mark("A", 1), NINE_SIX, 0),
        (Mark("A", 1), [[True] * 3] * 3, 1),
        (Mark("A", 4), NINE_SIX, 2),
        (Mark("A", 4, "two for every row", "rows"), [[True, True], [True, False]], 2),
        (Mark("A", 2, "shared equally among the missing entries"), [[True, True], [True, False]], 1),
        (Mark("A", 2, "all four; A1 for three", Lesser(F(3, 4))), [[True], [True], [False], [True]], 1),
        (Mark("A", 2, "all four; A1 for three", Lesser(F(3, 4))), [[True], [False], [False], [True]], 0),
        (
            Mark("A", 3, "deduct one for every wrong number, with follow-through to the sum", OneLess(), "sum"),
            [[True]] * 4 + [[False]],
            2,
        ),
        (Mark("B", 4, "deduct one for every two wrong numbers", OneLess(2)), [[True, False]] * 2 + [[True, False]], 2),
        (Mark("B", 4, "deduct one for every two wrong numbers", OneLess(2)), [[False, False]] * 6, 0),
        (
            Mark("B", 2, "deduct one for every wrong or missing tick", OneLess()),
            [[True], [False], [False], [False]],
            0,
        ),
        (Mark("B", 3, "deduct one for each line that must be moved", OneLess()), [[False]], 0),
        (Mark("A", 3, "one for each row", "rows"), [[True], [], [False]], 1),
        (Mark("A", 2), [], 0),
    ],
)
def test_marks_as_the_scheme_shares_them(mark: Mark, accepted: Sequence[Sequence[bool]], expected: int) -> None:
    assert accuracy(mark, accepted)[0] == expected


def test_words_say_for_what_marks_are_and_never_how_they_are_earned() -> None:
    for words in (
        "one fewer for every wrong number",
        "deduct one for every wrong number",
        "one for each row",
        "reason",
    ):
        assert accuracy(Mark("A", 3, words), NINE_FIVE) == accuracy(Mark("A", 3, "work"), NINE_FIVE)
        assert accuracy(Mark("A", 9, words, OneLess()), NINE_FIVE)[0] == 5


RULES: tuple[Rule | None, ...] = (None, "rows", Lesser(F(2, 3)), Lesser(F(3, 4)), OneLess(2), OneLess())
rows_of_bools = st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=5)


@given(st.sampled_from(RULES), st.integers(1, 6), rows_of_bools, st.data())
def test_all_marks_for_all_entries_only_and_never_fewer_for_more(
    rule: Rule | None, number: int, rows: list[list[bool]], data: st.DataObject
) -> None:
    mark = Mark("A", number, rule=rule)
    earned, _ = accuracy(mark, rows)
    assert 0 <= earned <= number
    assert (earned == number) == all(map(all, rows))
    assert earned == 0 or any(map(any, rows))
    i = data.draw(st.integers(0, len(rows) - 1))
    j = data.draw(st.integers(0, len(rows[i]) - 1))
    better = [[x or (r, c) == (i, j) for c, x in enumerate(row)] for r, row in enumerate(rows)]
    assert accuracy(mark, better)[0] >= earned


def test_accuracy_needs_method_unless_it_is_independent() -> None:
    answer, marks = MatrixAnswer(Matrix([[1, 2], [3, 4]])), (Mark("M", 1), Mark("A", 2, "one for each row", "rows"))
    said = grid([["1", "2"], ["9", ""]])
    strict_half = replace(ECF, threshold=F(3, 4))
    assert given_marks(marked(answer, said, *marks)) == [1, 1]
    assert given_marks(marked(answer, said, *marks, policy=strict_half)) == [0, 1]
    dependent = replace(strict_half, independent_accuracy=False)
    assert given_marks(marked(answer, said, *marks, policy=dependent)) == [0, 0]
    assert given_marks(marked(answer, said, *marks, policy=dependent, method=True)) == [1, 1]
    assert marked(answer, said, *marks, policy=POLICIES["formative"]).marks == ()


def test_several_marks_of_a_kind_share_the_rows_in_order() -> None:
    marks = (Mark("B", 1, "self-attention and recurrence"), Mark("B", 1, "both convolutions"))
    answer = MatrixAnswer(Matrix([[1], [5], [3], [2]]))
    assert given_marks(marked(answer, grid([["1"], ["5"], ["4"], ["2"]]), *marks)) == [1, 0]
    assert given_marks(marked(answer, grid([["1"], ["6"], ["3"], ["2"]]), *marks)) == [0, 1]


def test_a_reason_is_for_a_person_to_read() -> None:
    answer = ChoiceAnswer((Option((), True), Option(())))
    marks = (Mark("B", 1), Mark("B", 1, "reason", "reason"))
    right = marked(answer, Ticked(frozenset({0})), *marks)
    assert given_marks(right) == [1, 0]
    assert [given.pending for given in right.marks] == [False, True]
    assert given_marks(marked(answer, Ticked(frozenset({0})), *marks, method=True)) == [1, 1]
    assert not any(given.pending for given in marked(answer, None, *marks).marks)


# ------------------------------------------------------------------------------------------------ matrices

fractions = st.fractions(-20, 20, max_denominator=12)


@st.composite
def ways_of_writing(draw: st.DrawFn, q: Fraction) -> str:
    """The number as somebody may write it."""
    k = draw(st.integers(2, 5))
    above, below = q.numerator, q.denominator
    texts = [str(q), f"{k * above}/{k * below}", f"({q - k}) + {k}", f"$\\frac{{{above}}}{{{below}}}$"]
    if q >= 0:
        texts.append(f"{above // below} + {q - above // below}")
        texts.append(f"e^(ln({q}))" if q else "ln(1)")
    if 10**6 % below == 0:
        exactly = Decimal(above) / Decimal(below)
        texts += [f"{exactly:f}", f"{exactly * 100:f} %"]
    return draw(st.sampled_from(texts))


@st.composite
def rational_matrices(draw: st.DrawFn) -> list[list[Fraction]]:
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return draw(st.lists(st.lists(fractions, min_size=columns, max_size=columns), min_size=rows, max_size=rows))


@given(rational_matrices(), st.data())
def test_a_right_matrix_earns_everything_in_any_form(rows: list[list[Fraction]], data: st.DataObject) -> None:
    texts = [[data.draw(ways_of_writing(x)) for x in row] for row in rows]
    marks = (Mark("M", 1), Mark("A", 3))
    found = marked(MatrixAnswer(Matrix(rows)), grid(texts), *marks)
    assert set(states(found)) == {"correct"}
    assert given_marks(found) == [1, 3]
    assert found.events == () == found.notices


@given(rational_matrices(), st.data())
def test_a_wrong_number_is_wrong_alone(rows: list[list[Fraction]], data: st.DataObject) -> None:
    i, j = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
    wrong = rows[i][j] + data.draw(st.sampled_from([F(1, 10**60), F(-1, 10**12), F(1, 7), F(3)]))
    texts = [[str(wrong if (r, c) == (i, j) else x) for c, x in enumerate(row)] for r, row in enumerate(rows)]
    found = marked(MatrixAnswer(Matrix(rows)), grid(texts), Mark("A", 1))
    assert [(v.i, v.j) for v in found.verdicts if v.state == "wrong"] == [(i, j)]
    assert len(found.events) == 1
    assert given_marks(found) == [0]
    consistent(found)


@given(fractions, st.integers(1, 5), st.integers(-2, 2))
def test_a_decimal_counts_where_it_is_rounded_from_the_value(q: Fraction, places: int, off: int) -> None:
    unit = Decimal(1).scaleb(-places)
    nearest = (Decimal(q.numerator) / Decimal(q.denominator)).quantize(unit, ROUND_HALF_EVEN)
    typed = nearest + off * unit
    found = marked(MatrixAnswer(Matrix([[q]])), grid([[f"{typed:f}"]]), Mark("A", 1))
    right = abs(F(typed) - q) <= F(unit) / 2
    assert states(found) == ["correct" if right else "wrong"]
    assert given_marks(found) == [int(right)]
    assert found.verdicts[0].flags == (("precision",) if right and F(typed) != q else ())


def test_decimals_of_enough_places_are_not_flagged_where_decimals_are_asked_for() -> None:
    problem = symattn.derive("note-000").problem
    part = part_of(MatrixAnswer(Matrix([["1/3"]])), Mark("A", 1))
    question = replace(question_of(part), problem=replace(problem, exact=False, places=3))
    flags = {
        text: mark_answer(part, grid([[text]]), question, ECF).verdicts[0].flags for text in ("0.33", "0.333", "0.3333")
    }
    assert flags == {"0.33": ("precision",), "0.333": (), "0.3333": ()}


SQUARE = Matrix([[1, "1/2", 7], [-3, 4, 0], [2, 12, "e"]])


@pytest.mark.parametrize(
    ("rows", "says", "id"),
    [
        ([["1", "-3", "2"], ["1/2", "4", "12"], ["7", "0", "e"]], "rows and columns are swapped", ""),
        ([["-1", "-0.5", "-7"], ["3", "-4", "0"], ["-2", "-12", "-e"]], "every sign is wrong", "A1"),
        ([["2", "12", "e"], ["-3", "4", "0"], ["1", "1/2", "7"]], "rows 1 and 3 are swapped", ""),
        ([["1/2", "1", "7"], ["4", "-3", "0"], ["12", "2", "e"]], "columns 1 and 2 are swapped", ""),
    ],
)
def test_a_whole_matrix_written_wrongly_is_one_event(rows: list[list[str]], says: str, id: str) -> None:
    found = marked(MatrixAnswer(SQUARE), grid(rows), Mark("M", 1), Mark("A", 3))
    assert (told(found), named(found)) == ([says], [id])
    consistent(found)


def test_two_entries_that_changed_places_are_one_event() -> None:
    found = marked(MatrixAnswer(Matrix([[1, 2], [3, 4]])), grid([["1", "3"], ["2", "4"]]), Mark("A", 2))
    assert told(found) == ["rows and columns are swapped"]
    assert found.events[0].entries == (("a", 0, 1), ("a", 1, 0))


def test_a_mask_with_its_marks_exchanged_is_one_event() -> None:
    found = marked(MatrixAnswer(Matrix([[1, 0], [1, 1]])), grid([["0", "1"], ["0", "0"]]), Mark("B", 1))
    assert told(found) == ["the two values are swapped"]
    infinite = MatrixAnswer(Matrix.of([[0, NEGATIVE_INFINITY], [0, 0]]))
    assert states(marked(infinite, grid([["0", "-inf"], ["0", "0"]]), Mark("B", 1))) == ["correct"] * 4
    assert states(marked(infinite, grid([["0", "-1000"], ["0", "0"]]), Mark("B", 1)))[1] == "wrong"


@pytest.mark.parametrize(
    ("right", "written", "ids"),
    [
        ("12", "-12", ["A1"]),
        ("12", "21", ["A8"]),
        ("12", "22", ["A9"]),
        ("12", "11", ["A10"]),
        ("1/3", "3", [""]),
        ("1/3", "-0.33", ["A1"]),
        ("5", "-5", ["A1"]),  # off by ten as well, which nobody would say
        ("e^2", "e^3", []),
        ("0", "17", []),
    ],
)
def test_slips_are_named(right: str, written: str, ids: list[str]) -> None:
    found = marked(MatrixAnswer(Matrix([[right]])), grid([[written]]), Mark("A", 1))
    assert named(found) == ids
    assert found.events[0].kind == ("slip" if ids else "unknown")


def test_two_slips_are_two_events() -> None:
    found = marked(MatrixAnswer(SQUARE), grid([["-1", "1/2", "7"], ["-3", "4", "0"], ["2", "21", "e"]]), Mark("A", 3))
    assert named(found) == ["A1", "A8"]
    assert [event.entries for event in found.events] == [(("a", 0, 0),), (("a", 2, 1),)]
    assert given_marks(found) == [1]


def test_a_turned_shape_is_read_transposed_and_noted() -> None:
    right = MatrixAnswer(Matrix([[1, 2, 3], [4, 5, 6]]))
    found = marked(right, grid([["1", "4"], ["2", "5"], ["3", "6"]]), Mark("M", 1), Mark("A", 2))
    assert given_marks(found) == [1, 2]
    assert [notice.kind for notice in found.notices] == ["layout"]
    column = marked(MatrixAnswer(Matrix([[1], [2], [3]])), grid([["1", "5", "4"]]), Mark("A", 1))
    assert states(column) == ["correct", "wrong", "wrong"]


@pytest.mark.parametrize(
    ("part", "states_of_all"),
    [
        ([["1", "2"], ["4", "5"]], "++. ++."),
        ([["2", "3"], ["5", "6"]], ".++ .++"),
        ([["1", "3"], ["4", "6"]], "+.+ +.+"),
        ([["4", "5", "6"]], "... +++"),
        ([["5"]], "... .+."),
        ([["77"]], "-.. ..."),
    ],
)
def test_a_part_of_a_matrix_counts_as_the_whole_with_the_rest_blank(part, states_of_all) -> None:
    right = MatrixAnswer(Matrix([[1, 2, 3], [4, 5, 6]]))
    found = marked(right, grid(part), Mark("M", 1), Mark("A", 6, "shared equally among the missing entries"))
    sign = {"correct": "+", "missing": ".", "wrong": "-"}
    assert "".join(sign[state] for state in states(found)) == states_of_all.replace(" ", "")
    assert given_marks(found)[1] == states_of_all.count("+")
    assert [notice.kind for notice in found.notices] == ["blank"]
    assert "2×3" in found.notices[0].says
    consistent(found)


def test_a_larger_shape_is_one_event() -> None:
    right = MatrixAnswer(Matrix([[1, 2, 3], [4, 5, 6]]))
    found = marked(right, grid([["9", "9"], ["8", "8"], ["7", "7"]]), Mark("A", 2))
    assert [event.kind for event in found.events] == ["shape"]
    assert told(found) == ["the matrix is 3×2 and must be 2×3"]
    assert given_marks(found) == [0]
    consistent(found)


def test_empty_margins_change_no_shape() -> None:
    right = MatrixAnswer(Matrix([[1, 2]]))
    assert given_marks(marked(right, grid([["1", "2", ""], ["", "", ""]]), Mark("A", 1))) == [1]


LETTERS = sympy.symbols("n d h")


def product_of(powers: Sequence[int], number: int) -> sympy.Expr:
    return sympy.Mul(number, *(letter**power for letter, power in zip(LETTERS, powers, strict=True)))


@tries(10)
@given(st.tuples(*[st.integers(0, 2)] * 3), st.tuples(*[st.integers(0, 2)] * 3), st.integers(1, 5), st.integers(1, 5))
def test_what_is_said_of_a_count_in_letters_makes_it_right(own, right, a, b):
    """A factor that is missing or too much, read back and put right by SymPy, gives the key."""
    written, meant = product_of(own, 7 * a), product_of(right, 7 * b)
    if written == meant or not (written.free_symbols and meant.free_symbols):
        return
    found = marked(FormulaAnswer(from_sympy(meant)), entry(str(written).replace("**", "^"), symbols=True))
    says = [candidate.says for event in found.events for candidate in event.candidates if candidate.kind == "answer"]
    if not says:  # a slip that is known, as another digit
        return
    put_right = written
    if match := re.fullmatch(r"there is an extra factor (.+)", says[0]):
        put_right = written / to_sympy(read(match[1], symbols=True).value)
    elif match := re.fullmatch(r"a factor (.+) is missing", says[0]):
        put_right = written * to_sympy(read(match[1], symbols=True).value)
    elif match := re.fullmatch(r"there is a factor (.+) in place of (.+)", says[0]):
        above, below = (to_sympy(read(text, symbols=True).value) for text in match.groups())
        put_right = written / above * below
    assert sympy.expand(put_right - meant) == 0, says


@pytest.mark.parametrize(
    ("right", "own", "says"),
    [
        ("4d^2 + 4d", "4d^2", "4 d is missing"),
        ("4d^2", "4d^2 + 4d", "there is an extra term 4 d"),
        ("4n d^2 + 2n^2 d", "3n d^2 + 2n^2 d", "d^2 n is missing"),
        ("4d^2", "4096", "the answer should be in letters, and there are none in it"),
        ("1500000", "3000000", "there is an extra factor 2"),
        ("1500000", "500000", "a factor 3 is missing"),
        ("1500000", "1125000", "there is a factor 3 in place of 4"),
    ],
)
def test_what_is_said_of_a_count(right, own, says):
    found = marked(FormulaAnswer(read(right, symbols=True).value), entry(own, symbols=True), Mark("B", 1))
    assert told(found) == [says]


def test_nothing_is_said_of_a_count_that_has_nothing_to_do_with_the_right_one():
    assert told(marked(FormulaAnswer(72), entry("1"), Mark("B", 1))) == []  # "a factor 72 is missing" tells the key
    assert told(marked(FormulaAnswer(7919), entry("4001"), Mark("B", 1))) == []
    assert told(marked(FormulaAnswer(read("4d^2 + 4d", symbols=True).value), entry("n + h", symbols=True))) == []


def test_a_total_is_compared_with_the_students_own_lines():
    answer = MatrixAnswer(Matrix([[40], [60], [100]]))
    found = marked(answer, grid([["40"], ["80"], ["777"]]), Mark("A", 3, follows="sum"))
    assert "with your other lines it is 120" in told(found)


def test_blank_and_unreadable_entries_are_no_events() -> None:
    found = marked(
        MatrixAnswer(Matrix([[1, 2, 3]])),
        grid([["1", "", "2//"]]),
        Mark("A", 3, "shared equally among the missing entries"),
    )
    assert states(found) == ["correct", "missing", "unreadable"]
    assert found.events == ()
    assert [notice.kind for notice in found.notices] == ["reading"]
    assert "(1, 3)" in found.notices[0].says
    assert given_marks(found) == [1]
    nothing = marked(MatrixAnswer(Matrix([[1, 2]])), Grid.blank(1, 2), Mark("M", 1), Mark("A", 1))
    assert states(nothing) == ["missing"] * 2
    assert given_marks(nothing) == [0, 0]
    assert nothing.events == () == nothing.notices


def test_a_table_may_follow_its_own_numbers_to_the_sum() -> None:
    answer, marks = (
        MatrixAnswer(Matrix([[96], [36], [36], [32], [200]])),
        (Mark("M", 1), Mark("A", 3, "", OneLess(), "sum")),
    )
    said = grid([["96"], ["38"], ["36"], ["32"], ["202"]])
    found = marked(answer, said, *marks)
    assert states(found) == ["correct", "wrong", "correct", "correct", "follows"]
    assert given_marks(found) == [1, 2]
    for policy in ("strict", "ib"):
        assert given_marks(marked(answer, said, *marks, policy=POLICIES[policy])) == [1, 1]
    bytes_ = MatrixAnswer(Matrix([[100], [400]]))
    marks = (Mark("M", 1), Mark("A", 1, "both, the bytes with follow-through", follows="quotient"))
    assert states(marked(bytes_, grid([["50"], ["200"]]), *marks)) == ["wrong", "follows"]
    assert states(marked(bytes_, grid([["x"], ["200"]]), *marks)) == ["unreadable", "wrong"]


def test_a_mask_may_follow_the_students_own_shading() -> None:
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


@pytest.mark.covering(most=10)
@pytest.mark.parametrize("name", list(ITEMS))
def test_formulas_in_letters_are_right_however_they_are_written(name: str) -> None:
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
def counts_in_letters() -> Mapping[str, Answer]:
    """The answer of every item, from worksheets that ask for it."""
    found: dict[str, Answer] = {}
    for seed, level in product(range(1, 60), ("starter", "standard", "long")):
        question = symattn.worksheet(problem="counts", seed=seed, level=level)[0].question
        answers = [part.answer for part in question.parts if part.name.startswith("letters")]
        found |= zip(map(str, question.frozen["polynomials"]), answers, strict=True)
        if len(found) == len(ITEMS):
            break
    return found


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("name", list(ITEMS))
def test_wrong_counts_in_letters_are_named(name: str) -> None:
    for id, typed, means in ITEMS[name].wrong:
        found = marked(counts_in_letters()[name], entry(typed, symbols=True), Mark("B", 1))
        assert id in named(found)
        assert means.replace("$", "") in told(found)
        assert given_marks(found) == [0]


@pytest.mark.parametrize("seed", range(1, 6))
def test_wrong_counts_in_tables_are_named(seed: int) -> None:
    """What is forgotten or counted twice, taken off the key or added to it."""
    parts = {p.name: p for p in symattn.worksheet(problem="counts", seed=seed)[0].question.parts}

    def names(part: str, wrong: Mapping[int, int]) -> list[set[str]]:
        rows = [[str(wrong.get(k, x))] for k, (x,) in enumerate(parts[part].answer.value.rows)]
        return [{c.id for c in event.candidates} for event in marked(parts[part].answer, grid(rows)).events]

    scores, mixing, output, whole = (parts["operations"].answer.value[k, 0] for k in (1, 2, 3, 4))
    for k, wrong, id in [(1, 2 * scores, "N4"), (4, whole - scores - mixing, "N5"), (4, whole - output, "N3")]:
        assert any(id in found for found in names("operations", {k: wrong})), id
    words, norms, last, model = (parts["whole"].answer.value[k, 0] for k in (0, 4, 6, 7))
    for k, wrong, id in [(4, norms // 2, "N7"), (6, last // 2, "N7"), (7, model + words, "N6")]:
        assert any(id in found for found in names("whole", {k: wrong})), id


def test_letters_that_no_identity_settles_are_compared_at_sizes() -> None:
    d = sympy.Symbol("d")
    answer = FormulaAnswer(4 * d**2)
    root = marked(answer, entry("4d sqrt(d^2)", symbols=True), Mark("B", 1))
    assert given_marks(root) == [1]
    assert [notice.kind for notice in root.notices] == ["human"]
    other = marked(answer, entry("3d sqrt(d^2)", symbols=True), Mark("B", 1))
    assert (given_marks(other), other.notices) == ([0], ())
    undefined = marked(answer, entry("4d^2 + sqrt(-d)", symbols=True), Mark("B", 1))
    assert given_marks(undefined) == [0]
    assert [notice.kind for notice in undefined.notices] == ["human"]
    assert undefined.marks[0].pending


def test_a_number_with_letters_in_it_that_is_too_large_is_not_taken_for_right() -> None:
    written = entry("(1 + e + e^2 + e^3)^200·d", symbols=True)
    assert written.value is None
    for answer in (FormulaAnswer(12), MatrixAnswer(Matrix([[12]]))):
        found = marked(answer, written, Mark("B", 1))
        assert given_marks(found) == [0]
        assert found.marks[0].pending
        assert [notice.kind for notice in found.notices] == ["human"]


def test_one_number_that_is_wrong_leaves_the_method_to_a_person() -> None:
    marks = (Mark("M", 1, "both counts"), Mark("A", 1))
    found = marked(FormulaAnswer(33), entry("32"), *marks)
    assert (given_marks(found), named(found)) == ([0, 0], ["A10"])
    assert [notice.kind for notice in found.notices] == ["method"]
    seen = marked(FormulaAnswer(33), entry("32"), *marks, method=True)
    assert (given_marks(seen), seen.notices) == ([1, 0], ())
    assert given_marks(marked(FormulaAnswer(33), grid([["33.0"]]), *marks)) == [1, 1]


# ------------------------------------------------------------------------------------------------ shapes to cells


@pytest.mark.parametrize(
    ("right", "said", "earned", "says"),
    [
        ((2, 3), (2, 3), 1, []),
        ((2, 3), ("2", 3), 1, []),
        ((2, 3), (3, 2), 0, ["rows and columns are swapped"]),
        ((2, 2), (2, 3), 0, []),
        ((2, 3), None, 0, []),
        (None, None, 1, []),
        (None, (2, 3), 0, []),
        (("n", 3), ("n", 3), 1, []),
        (("n", 3), (3, "n"), 0, ["rows and columns are swapped"]),
    ],
)
def test_shapes(right: Any, said: Any, earned: int, says: list[str]) -> None:
    found = marked(ShapeAnswer(right), Shaped(said), Mark("B", 1))
    assert given_marks(found) == [earned]
    assert told(found) == says
    consistent(found)


FOUR = ChoiceAnswer((Option((), diagnosis="C1"), Option((), True), Option((), diagnosis="A10"), Option(())))


def test_one_option_is_all_or_nothing() -> None:
    for ticked, earned, ids in ((1, 2, []), (0, 0, ["C1"]), (2, 0, ["A10"]), (3, 0, []), (99, 0, []), (-1, 0, [])):
        found = marked(FOUR, Ticked(frozenset({ticked})), Mark("B", 2))
        assert given_marks(found) == [earned]
        assert named(found) == ids
        consistent(found)


def test_two_ticks_where_one_was_asked_for_contradict_one_another() -> None:
    found = marked(FOUR, Ticked(frozenset({0, 1})), Mark("B", 2))
    assert given_marks(found) == [0]
    assert found.verdicts[0].flags == ("contradiction",)
    assert [notice.says for notice in found.notices] == ["2 options are ticked (A, B), where one was asked for."]
    assert states(marked(FOUR, Ticked(frozenset()), Mark("B", 2))) == ["missing"]


def test_several_options_are_marked_in_proportion() -> None:
    options = (Option((), True), Option((), True), Option((), diagnosis="C1"), Option(()))
    answer = ChoiceAnswer(options, several=True)
    expected = {
        # ticks: (in proportion of B4: right less wrong ones; "deduct one a wrong tick" of B2; A1; M1 by overlap)
        (0, 1): (4, 2, 1),
        (0,): (2, 1, 1),
        (0, 1, 2): (2, 1, 1),
        (0, 2): (0, 0, 0),
        (2, 3): (0, 0, 0),
        (0, 1, 2, 3): (0, 0, 1),
        (): (0, 0, 0),
    }
    for ticks, (proportion, less, method) in expected.items():
        said = Ticked(frozenset(ticks))
        assert given_marks(marked(answer, said, Mark("B", 4))) == [proportion]
        assert given_marks(marked(answer, said, Mark("B", 2, "deduct one for every wrong tick", OneLess()))) == [less]
        assert given_marks(marked(answer, said, Mark("M", 1), Mark("A", 1))) == [method, int(ticks == (0, 1))]
        found = marked(answer, said, Mark("B", 4))
        assert ("C1" in named(found)) == (2 in ticks)
        consistent(found)
    none = ChoiceAnswer((Option(()), Option(())), several=True)
    assert given_marks(marked(none, Ticked(frozenset()), Mark("B", 2))) == [2]
    assert given_marks(marked(none, Ticked(frozenset({1})), Mark("B", 2))) == [0]


def later(n: int) -> frozenset[tuple[int, int]]:
    return frozenset((i, j) for i in range(n) for j in range(n) if j > i)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_wrong_shadings_of_a_causal_mask_are_named(n: int) -> None:
    everything = frozenset(itertools.product(range(n), repeat=2))
    answer, marks = CellsAnswer((n, n), later(n)), (Mark("M", 1), Mark("A", n, "one for each row", "rows"))
    diagonal = frozenset((i, i) for i in range(n))
    earlier = frozenset((j, i) for i, j in later(n))
    assert given_marks(marked(answer, Shaded(later(n)), *marks)) == [1, n]
    triangle = marked(answer, Shaded(earlier), *marks)
    assert "M2" in named(triangle)
    assert given_marks(triangle) == [0, 0]
    with_diagonal = marked(answer, Shaded(later(n) | diagonal), *marks)
    assert named(with_diagonal) == ["M3"]
    assert given_marks(with_diagonal)[1] == 0
    complement = marked(answer, Shaded(everything - later(n)), *marks)
    assert "hidden and visible cells are swapped" in told(complement)
    assert given_marks(complement) == [0, 0]
    one_more = marked(answer, Shaded(frozenset(c for c in later(n) if c[1] > c[0] + 1)), *marks)
    assert named(one_more) == ["M6"]
    assert given_marks(one_more)[1] == 1  # the last row hides nothing either way
    for found in (triangle, with_diagonal, complement, one_more):
        assert len(found.events) == 1
        consistent(found)


def test_nothing_shaded_is_no_answer_unless_nothing_is_hidden() -> None:
    assert states(marked(CellsAnswer((2, 2), later(2)), Shaded(frozenset()), Mark("M", 1))) == ["missing"] * 4
    assert given_marks(marked(CellsAnswer((2, 2), frozenset()), Shaded(frozenset()), Mark("A", 1))) == [1]


def test_padding_hidden_by_rows_is_named() -> None:
    hidden = frozenset((i, 2) for i in range(3))
    found = marked(CellsAnswer((3, 3), hidden), Shaded(frozenset((j, i) for i, j in hidden)), Mark("A", 1))
    assert "M9" in named(found)


def test_a_cell_more_is_recognised_as_nothing_in_particular() -> None:
    found = marked(
        CellsAnswer((3, 3), later(3)), Shaded(later(3) | {(2, 0), (7, 7)}), Mark("A", 3, "one for each row", "rows")
    )
    assert [event.kind for event in found.events] == ["unknown"]
    assert found.events[0].entries == (("a", 2, 0), ("a", 7, 7))
    consistent(found)


# ------------------------------------------------------------------------------------------------ orders


def moves(order: Sequence[str], right: Sequence[str]) -> int:
    """How many must be moved, by trying every part that may stay."""
    for stay in range(len(right), 0, -1):
        for kept in itertools.combinations(order, stay):
            if list(kept) == [x for x in right if x in kept]:
                return len(right) - stay
    return len(right)


def exchanges(order: Sequence[str]) -> set[tuple[str, ...]]:
    """Everything that one swap of neighbours gives."""
    made = set()
    for k in range(len(order) - 1):
        swapped = list(order)
        swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
        made.add(tuple(swapped))
    return made


@pytest.mark.parametrize("labels", ["ABC", "ABCD", "ABCDE"])
def test_orders_of_single_labels_by_brute_force(labels: str) -> None:
    right = tuple(labels)
    answer = OrderAnswer(tuple((label,) for label in right))
    near = exchanges(right)
    for order in itertools.permutations(right):
        said = Ordered(tuple((label,) for label in order))
        lines = marked(answer, said, Mark("B", 3, "deduct one for each line that must be moved", OneLess()))
        assert given_marks(lines) == [max(0, 3 - moves(order, right))]
        rows = marked(answer, said, Mark("B", 2, "B1 if two neighbours are swapped", "one swap"))
        assert given_marks(rows) == [2 if order == right else int(order in near)]
        pairs = sum(order.index(a) < order.index(b) for a, b in itertools.pairwise(right))
        share = marked(answer, said, Mark("B", 6))
        assert given_marks(share) == [6 * pairs // (len(right) - 1)]
        assert (told(share) == ["the order is reversed"]) == (order == right[::-1])
        consistent(share)


def test_equal_labels_stand_in_any_order_and_others_are_not_equal() -> None:
    answer, mark = OrderAnswer((("A",), ("B", "C"), ("D",))), Mark("B", 2)
    assert given_marks(marked(answer, Ordered((("A",), ("C",), ("B",), ("D",))), mark)) == [2]
    assert given_marks(marked(answer, Ordered((("a",), ("c", "b"), ("d",))), mark)) == [2]
    assert states(marked(answer, Ordered((("A", "B"), ("C",), ("D",))), mark)) == ["wrong"]
    assert states(marked(answer, Ordered((("C",), ("A",), ("B",), ("D",))), mark)) == ["wrong"]


@pytest.mark.parametrize("order", ["AB", "ABCC", "ABCX", "AABC", "BACC", "ABC ABC"])
def test_labels_left_out_repeated_or_unknown_are_wrong(order: str) -> None:
    answer = OrderAnswer((("A",), ("B",), ("C",), ("D",)))
    said = Ordered(tuple((label,) for label in order if label != " "))
    for mark in (Mark("B", 3, "deduct one for each line that must be moved", OneLess()), Mark("B", 3), Mark("A", 1)):
        found = marked(answer, said, mark)
        assert states(found) == ["wrong"]
        assert given_marks(found)[0] < mark.number
    assert given_marks(marked(answer, said, Mark("B", 2, "B1 if two neighbours are swapped", "one swap"))) == [0]
    three = OrderAnswer((("A",), ("B",), ("C",)))
    assert (
        given_marks(marked(three, said, Mark("B", 3, "deduct one for each line that must be moved", OneLess())))[0] < 3
    )


# ------------------------------------------------------------------------------------------------ properties

SCORES = PropertyAnswer(
    "weights of scores",
    {"base": "e", "weights": [["1/3", "2/3"], ["1/4", "3/4"]]},
    {"S": Matrix([[0, "ln(2)"], [0, "ln(3)"]])},
)
BY_ROW = (Mark("M", 1), Mark("A", 2, "one for each row", "rows"))


@given(st.lists(st.fractions(-5, 5, max_denominator=6), min_size=2, max_size=2), st.booleans())
def test_scores_are_right_whatever_is_added_to_a_row(added: list[Fraction], exchanged: bool) -> None:
    """Witness: NumPy's exponentials."""
    a, b = ("ln(3)", "ln(2)") if exchanged else ("ln(2)", "ln(3)")
    rows = [[f"{added[0]}", f"{a} + ({added[0]})"], [f"{added[1]}", f"({added[1]}) + {b}"]]
    logs = {"ln(2)": np.log(2), "ln(3)": np.log(3)}
    scores = np.array([[0, logs[a]], [0, logs[b]]]) + np.array([[float(x)] for x in added])
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    right = np.allclose(weights, [[1 / 3, 2 / 3], [1 / 4, 3 / 4]])
    found = marked(SCORES, Grids({"S": grid(rows)}), *BY_ROW)
    assert states(found) == ["correct" if right else "wrong"]
    assert given_marks(found) == ([1, 2] if right else [0, 0])


def test_rows_of_scores_are_marked_one_by_one() -> None:
    found = marked(SCORES, grid([["0", "ln(2)"], ["0", "1"]]), *BY_ROW)
    assert given_marks(found) == [1, 1]
    assert told(found) == ["Softmax of row 2 is not the row of weights that was asked for."]
    part = marked(SCORES, grid([["0", ""], ["5", "5 + ln(3)"]]), *BY_ROW)
    assert given_marks(part) == [1, 1]
    assert told(part) == ["Entry (1, 2) of S is empty."]
    rounded = marked(SCORES, grid([["0", "0.69"], ["0", "1.10"]]), *BY_ROW)
    assert given_marks(rounded) == [1, 2]  # logarithms may be left as they are, or evaluated
    coarse = marked(SCORES, grid([["0", "0.7"], ["0", "1.1"]]), *BY_ROW)
    assert given_marks(coarse) == [0, 0]


def test_properties_of_other_shapes_and_names() -> None:
    assert told(marked(SCORES, grid([["0", "1", "2"]]), *BY_ROW)) == ["The shape of S is 1×3; it must be 2×2."]
    assert told(marked(SCORES, Grids({"T": grid([["0"]])}), *BY_ROW)) == ["There is no S."]
    assert states(marked(SCORES, Grids({}), *BY_ROW)) == ["missing"]
    unread = marked(SCORES, grid([["0", "ln(2"], ["0", "ln(3)"]]), *BY_ROW)
    assert states(unread) == ["unreadable"]
    assert unread.events == ()
    assert "reading" in [notice.kind for notice in unread.notices]
    assert given_marks(unread) == [1, 1]


def test_powers_too_large_to_be_multiplied_out_are_left_to_a_person() -> None:
    answer = PropertyAnswer(
        "exact weights",
        {"asked": "K", "q": [1, 0], "shape": [2, 2], "base": 2, "weights": ["1/3", "2/3"]},
        {"K": Matrix([[0, 0], [1, 0]])},
    )
    found = marked(answer, grid([["0", "0"], ["10^190", "0"]]), Mark("M", 1), Mark("A", 2))
    assert given_marks(found) == [0, 0]
    assert any(notice.kind == "human" for notice in found.notices)
    assert all(given.pending for given in found.marks)
    assert given_marks(marked(answer, grid([["700", "1"], ["701", "2"]]), Mark("M", 1), Mark("A", 2))) == [1, 2]


# ------------------------------------------------------------------------------------------------ words and texts


@pytest.mark.parametrize(
    ("right", "said", "same"),
    [
        ("Q", "q", True),
        ("W_Q", " $W^Q$ ", True),
        ("scaled scores", "Scaled-Scores.", True),
        ("Größe", "grösse", True),
        ("Gewichte", "géwichte", True),
        ("S'", "S′", True),
        ("S'", "S’", True),
        ("S'", "S", False),
        ("S", "S'", False),
        ("S''", "S'", False),
        ("Ŝ", "S\u0302", True),
        ("Ŝ", "S", False),
        ("A", "AA", False),
        ("C1", "c 1", True),
        ("C1", "C2", False),
    ],
)
def test_names(right: str, said: str, same: bool) -> None:
    assert (folded(right) == folded(said)) is same
    assert given_marks(marked(WordAnswer(right), Text(said), Mark("B", 1))) == [int(same)]
    assert given_marks(marked(WordAnswer("something else", (right,)), Text(said), Mark("B", 1))) == [int(same)]


def test_a_text_waits_for_a_person_and_never_earns_more_than_its_points() -> None:
    points = tuple((Words(word),) for word in ("one", "two", "three"))
    answer, mark = RubricAnswer(points), Mark("B", 3, "one for each point")
    waiting = marked(answer, Text("Because."), mark)
    assert (given_marks(waiting), waiting.marks[0].pending) == ([0], True)
    assert [notice.kind for notice in waiting.notices] == ["human"]
    for seen, earned in ((0, 0), (2, 2), (3, 3), (7, 3), (-1, 0)):
        read_by_somebody = marked(answer, Text("Because.", seen), mark)
        assert (given_marks(read_by_somebody), read_by_somebody.marks[0].pending) == ([earned], False)
    assert states(marked(answer, Text(" "), mark)) == ["missing"]


# ------------------------------------------------------------------------------------------------ anything at all

ANSWERS: tuple[Answer, ...] = (
    MatrixAnswer(SQUARE),
    MatrixAnswer(Matrix([["1/3"], ["e^2/(1 + e^2)"], [0]])),
    MatrixAnswer(Matrix.of([[0, NEGATIVE_INFINITY], [0, 0]])),
    FormulaAnswer(12),
    FormulaAnswer(read("4 n d^2 + 2 n^2 d", symbols=True).value),
    ShapeAnswer((2, "n")),
    ShapeAnswer(None),
    FOUR,
    ChoiceAnswer((Option((), True), Option((), True), Option((), diagnosis="N3")), several=True),
    CellsAnswer((3, 3), later(3)),
    OrderAnswer((("A",), ("B", "C"))),
    SCORES,
    PropertyAnswer(
        "attends",
        {"asked": "W_Q", "x": [1, 0], "K": [[1, 0], [0, 1]], "base": 2, "to": 1, "least": "9/10"},
        {"W_Q": Matrix([[0, 4], [0, 0]])},
    ),
    RubricAnswer(((), ())),
    WordAnswer("S'", ("scaled scores",)),
)
texts = st.one_of(
    st.sampled_from(["", "0", "-1", "1/3", "0.33", "33 %", "1/0", "-inf", "e^2/(1+e^2)", "10^190", "e^e^9", "ln(0)",
                     "sqrt(-1)", "2d", "d^2/n", "ln(-d)", "sqrt(n-d)", "x_1", "1 1/2", "((((", "1e5", "𝟙", "√2", "A"]),
    st.text("0123456789.+-*/^()e√%n d", max_size=12),
)  # fmt: skip
entries = st.builds(entry, texts, symbols=st.booleans())
grids = st.integers(0, 4).flatmap(
    lambda columns: st.lists(st.lists(entries, min_size=columns, max_size=columns).map(tuple), max_size=4).map(
        lambda rows: Grid(tuple(rows))
    )
)
cells = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)
labels = st.lists(st.text("ABCabc ", max_size=2), max_size=3).map(tuple)
sizes = st.one_of(st.integers(-1, 4), st.sampled_from(["n", "2", "", "²"]))
anything: st.SearchStrategy[Said | None] = st.one_of(
    st.none(),
    entries,
    grids,
    st.builds(Grids, st.dictionaries(st.sampled_from(["S", "W_Q", "K"]), grids, max_size=2)),
    st.builds(Ticked, st.frozensets(st.integers(-1, 30), max_size=4)),
    st.builds(Shaded, cells),
    st.builds(Shaped, st.one_of(st.none(), st.tuples(sizes, sizes))),
    st.builds(Ordered, st.lists(labels, max_size=4).map(tuple)),
    st.builds(Text, st.text(max_size=6), st.one_of(st.none(), st.integers(-2, 9))),
    st.builds(Unreadable, st.just("?"), st.just("Nothing can be made of this.")),
)
SCHEMES = (
    (Mark("M", 1), Mark("A", 2, "one for each row", "rows")),
    (Mark("B", 2, "deduct one for every wrong tick", OneLess()), Mark("B", 1, "reason", "reason")),
    (Mark("M", 1), Mark("A", 1, "both, the bytes with follow-through", follows="quotient")),
    (Mark("B", 1, "follows the shading, marks as stated", follows="shading"),),
    (Mark("B", 3, "with follow-through to the sum", follows="sum"),),
    (),
)


@pytest.mark.slow
@tries(300)
@given(
    st.sampled_from(ANSWERS),
    anything,
    st.sampled_from(SCHEMES),
    st.sampled_from(list(POLICIES)),
    st.booleans(),
    st.integers(0, 3),
)
def test_anything_can_be_said_to_anything(
    answer: Answer, said: Said | None, marks: tuple[Mark, ...], name: str, method: bool, first: int
) -> None:
    policy, part = POLICIES[name], part_of(answer, *marks)
    found = mark_answer(part, said, question_of(part), policy, first, method, Attempt({}))
    consistent(found, first)
    assert len(found.marks) == (len(marks) if policy.marks else 0)
    assert [given.of for given in found.marks] == [mark.number for mark in marks if policy.marks]
    for notice in found.notices:
        assert notice.says.strip()
        assert notice.marks == 0
    again = mark_answer(part, said, question_of(part), policy, first, method, Attempt({}))
    assert found == again
    nothing = mark_answer(part, None, question_of(part), policy, first, method, Attempt({}))
    assert sum(given_marks(found)) >= sum(given_marks(nothing))
    assert nothing.events == ()


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_what_cannot_be_read_is_said_and_costs_nothing_else(answer: Answer) -> None:
    found = marked(answer, Unreadable("?", "Nothing can be made of this."), Mark("B", 2))
    assert set(states(found)) == {"unreadable"}
    assert found.events == ()
    assert [(notice.kind, notice.says) for notice in found.notices] == [("reading", "Nothing can be made of this.")]
    other = Shaped((1, 1)) if not isinstance(answer, ShapeAnswer) else Shaded(frozenset())
    mismatch = marked(answer, other, Mark("B", 2))
    assert set(states(mismatch)) == {"unreadable"}
    assert [notice.kind for notice in mismatch.notices] == ["reading"]


def test_lines_of_a_derivation_are_not_marked_here() -> None:
    for answer in (StepAnswer("Q"), EntriesAnswer("Q", ((0, 0),))):
        with pytest.raises(TypeError, match="derivation"):
            marked(answer, None)


# ------------------------------------------------------------------------------------------------ every problem type


def key_of(answer: Answer, form: Callable[[Value], str] = str) -> Said:
    """The right answer as a student would hand it in, with numbers in one form."""
    match answer:
        case MatrixAnswer(value):
            return grid([[form(x) for x in row] for row in value.rows])
        case FormulaAnswer(value):
            return entry(str(value), symbols=True)
        case ShapeAnswer(shape):
            return Shaped(shape)
        case ChoiceAnswer():
            return Ticked(answer.right)
        case CellsAnswer(_, shaded):
            return Shaded(shaded)
        case OrderAnswer(groups):
            return Ordered(tuple(group[::-1] for group in groups))
        case PropertyAnswer(_, _, model):
            return Grids({name: grid([[str(x) for x in row] for row in m.rows]) for name, m in model.items()})
        case RubricAnswer(points):
            return Text("Read by somebody.", len(points))
        case WordAnswer(word):
            return Text(word.upper())
    raise AssertionError(answer)


def to_six_places(x: Value) -> str:
    """Rounded by SymPy, unless it is whole."""
    if isinstance(x, int) or x is NEGATIVE_INFINITY:
        return str(x)
    return f"{Decimal(str(sympy.N(to_sympy(x), 30))).quantize(Decimal('1e-6'))}"


TYPES = ("choice", "counts", "design", "drills", "estimate", "find-error", "heatmap", "masks", "prove", "recurrence",
         "shapes", "translate")  # fmt: skip


@pytest.fixture(scope="module", params=TYPES)
def drawn(request: pytest.FixtureRequest) -> list[Question]:
    """Two questions of a type, one of them easy."""
    levels = ("standard", "starter")
    return [symattn.worksheet(problem=request.param, seed=5, level=level)[0].question for level in levels]


def alone(question: Question) -> list[Part]:
    return [part for part in question.parts if not isinstance(part.answer, StepAnswer | EntriesAnswer)]


def everything_is_earned(question: Question, policy: Policy) -> None:
    """By the key in exact values and in decimals; the mark for a reason waits for a person."""
    for part in alone(question):
        for form in (str, to_six_places):
            said = key_of(part.answer, form)
            found = mark_answer(part, said, question, policy)
            assert set(states(found)) <= {"correct"}, (question.title, part.name)
            assert found.events == () == found.notices
            for mark, earned in zip(part.marks, found.marks, strict=True):
                assert earned.pending == (mark.rule == "reason")
                assert earned.given == (0 if earned.pending else mark.number)
            seen = mark_answer(part, said, question, policy, method=True)
            assert sum(given_marks(seen)) == total(part.marks)


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("policy", ["ecf", "ib", "uk", "strict"])
def test_the_key_earns_every_mark(drawn: list[Question], policy: str) -> None:
    for question in drawn:
        everything_is_earned(question, POLICIES[policy])


def test_a_blank_earns_nothing(drawn: list[Question]) -> None:
    for question in drawn:
        for part in alone(question):
            found = mark_answer(part, None, question, ECF)
            assert set(states(found)) == {"missing"}
            assert given_marks(found) == [0] * len(part.marks)
            assert found.events == () == found.notices


@pytest.mark.slow
@pytest.mark.parametrize("problem", TYPES)
def test_the_keys_of_many_earn_every_mark(problem: str) -> None:
    for sheet in symattn.worksheet(problem=problem, n=8, seed=23):
        everything_is_earned(sheet.question, ECF)


def test_every_wrong_option_is_named(drawn: list[Question]) -> None:
    known = {*misconceptions(), *SLIPS, "N1", "N2", "N3", "N4", "N5", "N8"}
    for question in drawn:
        for part in alone(question):
            if isinstance(part.answer, ChoiceAnswer):
                for k, option in enumerate(part.answer.options):
                    if option.diagnosis and not option.right:
                        assert option.diagnosis in known
                        found = mark_answer(part, Ticked(frozenset({k})), question, ECF)
                        assert option.diagnosis in named(found)
                        catalogue = option.diagnosis in misconceptions()
                        assert [bool(says) for says in told(found)] == [not catalogue]


def test_one_wrong_number_costs_less_than_everything_and_more_than_nothing(drawn: list[Question]) -> None:
    for question in drawn:
        for part in alone(question):
            said = key_of(part.answer)
            if isinstance(part.answer, MatrixAnswer) and isinstance(said, Grid):
                i, j, first = next(iter(said.cells()))
                found = mark_answer(part, said.put(i, j, entry(f"{first.text}+1/7")), question, POLICIES["strict"])
                wrong = [(v.i, v.j) for v in found.verdicts if not v.accepted]
                infinite = part.answer.value[0, 0] is NEGATIVE_INFINITY
                assert wrong == [(i, j)]
                assert infinite or states(found)[0] == "wrong"
                assert sum(given_marks(found)) < total(part.marks)
                blank = mark_answer(part, said.put(i, j, BLANK), question, POLICIES["strict"])
                assert sum(given_marks(blank)) == sum(given_marks(found))


def test_a_misread_entry_is_no_answer() -> None:
    found = marked(FormulaAnswer(3), Entry("3x", complaint="The name 'x' is not known here."), Mark("B", 1))
    assert states(found) == ["unreadable"]
    assert found.notices[0].says == "The answer cannot be read: The name 'x' is not known here."


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
    asked = symattn.worksheet(problem="find-error", seed=3)[0].question
    part = next(part for part in asked.parts if isinstance(part.answer, WordAnswer))
    other = next(name for name in ("S", "A", "Z") if name not in (part.answer.word, *part.answer.accepted))
    [report] = symattn.check(asked, {part.name: said.format(right=part.answer.word, other=other)}).reports
    [given] = [given for given in report.marks if given.parts == (part.name,)]
    assert (given.given, given.pending) == (earns or 0, earns is None)
