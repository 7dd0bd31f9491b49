"""What is written beside an entry, worked out by a reader, is that entry: for every op, entry and mechanism."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import oracles
import printed_lines
import pytest
import strategies
import sympy
from hypothesis import given
from hypothesis import strategies as st
from printed_lines import evaluated, is_written_out
from test_letters import SETTINGS, SIZES, in_letters_of
from trials import at_least_one, tries

import symattn
from symattn import formula as f
from symattn.api import derive
from symattn.derivation.derivation import View
from symattn.derivation.mechanisms import Settings, mechanisms
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import FUNCTIONS, Activation
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver, Transpose
from symattn.derivation.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.exact import NEGATIVE_INFINITY, Matrix, Outline
from symattn.formula import (
    ZERO,
    BigSum,
    Bracketed,
    Call,
    Dots,
    ListOf,
    Name,
    Relation,
    children,
    contains,
    parts_of,
    rebuilt,
)
from symattn.formula.width import width
from symattn.page.document import Display
from symattn.page.notation import load_notation, notations
from symattn.teaching.explanation.steps import BY_NAME, Detail, explain_step
from symattn.teaching.explanation.wording import LINE, Wording, any_place


def named_view(letter, matrix, long=False):
    """Entries as names a_{i,j}: what they mean is told apart from how they are written."""

    def entry(i, j):
        indices = tuple(f.Name(x) if isinstance(x, str) else f.Number(str(x + 1)) for x in (i, j))
        return f.Name(letter, indices)

    return View(matrix.shape, entry, long)


def meaning(operands):
    tables = {letter: m.sympy() for letter, m in zip("abcd", operands, strict=False)}

    def lookup(name, bound):
        i, j = oracles.index_of(name, bound)
        return tables[name.base][i - 1, j - 1]

    return lookup


numbers = st.one_of(strategies.entries, strategies.roots)


@st.composite
def uses(draw):
    """An op and operands that fit it."""
    r, c, k = (draw(st.integers(1, 3)) for _ in range(3))
    a = Matrix(draw(strategies.matrices(r, c, numbers)))
    keep = tuple(map(tuple, draw(strategies.matrices(r, c, st.booleans()))))
    same_shape = Matrix(draw(strategies.matrices(r, c)))
    row, column = Matrix(draw(strategies.matrices(1, c))), Matrix(draw(strategies.matrices(r, 1)))
    return draw(
        st.sampled_from(
            [
                (MatMul(), [a, Matrix(draw(strategies.matrices(c, k)))]),
                (Transpose(), [a]),
                (Add(), [a, draw(st.sampled_from([same_shape, row, column]))]),
                (Add(), [draw(st.sampled_from([row, column])), a]),
                (Hadamard(), [draw(st.sampled_from([same_shape, row, column])), a]),
                (SumOver(draw(st.sampled_from(["rows", "columns"]))), [a]),
                (Scale(draw(st.sampled_from([2, -3]))), [a]),
                (Scale(Matrix([["sqrt(3)"]])[0, 0]), [a]),
                (Stack("rows"), [a, row, a]),
                (Stack("columns"), [a, column]),
                (Mask(keep, draw(st.sampled_from(["additive", "keep", "block"]))), [a]),
                (Softmax(draw(st.sampled_from(["rows", "columns"]))), [a]),
                (Softmax("rows", draw(st.sampled_from([2, 3]))), [same_shape]),
                (Activation("relu"), [a]),
                (Activation("identity"), [a]),
                (Activation("f"), [a]),
            ]
        )
    )


@tries(15)
@given(uses())
def test_the_working_of_an_entry_is_its_value(use):
    op, operands = use
    result = op.apply(*operands).sympy()
    views = [named_view(letter, m) for letter, m in zip("abcd", operands, strict=False)]
    for i, j in np.ndindex(result.shape):
        written = op.working(i, j, *views)
        value = evaluated(written, meaning(operands))
        assert oracles.same(value, result[i, j]), f"{type(op).__name__} ({i + 1}, {j + 1}): {oracles.plain(written)}"


ROWS = [[1, 2, 6], [0, -1, 4]]
SUMMING = [
    (MatMul(), [ROWS, [[1, 0], [2, -1], [7, 3]]]),
    *((op(along), [ROWS]) for op in (SumOver, Softmax, Mean, MeanSquare) for along in ("rows", "columns")),
    (Softmax("rows", 2), [ROWS]),
    *((Variance(divisor), [ROWS, [[3], [1]]]) for divisor in ("population", "sample")),
    (Variance("population", "rows"), [ROWS, [["1/2", "1/2", 5]]]),
]


ENTRYWISE = [
    *((op, [[[1, -2], [3, 4], [5, 6]], [[7, 8], [9, 1], [2, 3]]][: op.arity])
      for op in (Add(), Hadamard(), Scale(4), Transpose(), *map(Activation, FUNCTIONS))),
    *((Standardise(epsilon), [ROWS, [[3], [1]], [[2], [6]]]) for epsilon in (0, Fraction(1, 4))),
    (Rescale(), [ROWS, [[4], [9]]]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "rows"), SUMMING + ENTRYWISE, ids=repr)
def test_the_entry_for_any_i_and_j_is_right_for_each_of_them(op, rows):
    """Long rows of sums are written with a sum sign, each entry by itself too; short ones term by term."""
    operands = [Matrix(m) for m in rows]
    result = op.apply(*operands).sympy()
    views, term_by_term = (
        [named_view(letter, m, long) for letter, m in zip("abc", operands, strict=False)] for long in (True, False)
    )
    i, j = (0 if size == 1 else letter for size, letter in zip(result.shape, "ij", strict=True))
    general = op.working(i, j, *views)
    for place in np.ndindex(result.shape):
        own, short = (op.working(*place, *seen) for seen in (views, term_by_term))
        assert (op, rows) in ENTRYWISE or oracles.contains(own, f.BigSum)
        for written, indices in ((general, {"i": place[0] + 1, "j": place[1] + 1}), (own, {}), (short, {})):
            assert oracles.same(evaluated(written, meaning(operands), indices), result[place])


# ------------------------------------------------------------------------------------------------ mechanisms


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("name", strategies.MECHANISMS)
@pytest.mark.parametrize("layout", strategies.LAYOUTS, ids=lambda layout: "-".join(layout.values()))
def test_every_entry_on_the_page_of_every_mechanism_is_right(name, layout):
    @tries(2)
    @given(strategies.problems(name, layout))
    def check(problem):
        assert is_written_out(problem.run()) > 0

    check()


@pytest.mark.covering(most=3, product=False)
@pytest.mark.parametrize("notation", notations())
@pytest.mark.parametrize("example", ["note-000", "note-002"])
@pytest.mark.parametrize("corrected", [True, False])
def test_every_entry_of_the_numeric_notes_is_right_in_every_notation(example, corrected, notation):
    solution = derive(example, corrected=corrected, notation=notation)
    assert is_written_out(solution.derivation, notation) >= 50


def test_a_multiplicative_mask_is_written_as_a_product():
    op = Mask(((True, False), (True, True)), "multiplicative")
    scores = Matrix([[3, 2], [5, 7]])
    written = op.working(0, 1, named_view("a", scores))
    assert oracles.plain(written) == "a_{1,2} · −∞"
    assert evaluated(written, meaning([scores])) == -sympy.oo
    assert op.apply(scores) == Matrix.of([[3, NEGATIVE_INFINITY], [5, 7]])


# ------------------------------------------------------------------------------------------------ letters


def symbol_table(wording, names):
    """What each written entry of these matrices means: the symbol that stands for it."""
    meant = {}
    for name in names:
        entries = wording.derivation.seen(name).sympy()
        for place in np.ndindex(entries.shape):
            written, x = oracles.plain(wording.entry(name, *place)), entries[place]
            assert meant.setdefault(written, x) == x, f"{written} stands for {meant[written]} and for {x}"
    return meant


def named_entries(**settings):
    sizes = {"n": 2, "d_model": 2, "d_k": 2, "d_v": 2}
    solution = derive("self_attention", symbolic=True, sizes=sizes, **settings)
    return Wording(solution.derivation, solution.problem.notation)


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("by", ["matrix", "token"])
@pytest.mark.parametrize("mask", [None, "causal"])
@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_every_symbolic_entry_is_written_with_the_entries_before_it(by, mask, orientation):
    wording = named_entries(by=by, mask=mask, orientation=orientation)
    for step in at_least_one(wording.derivation):
        meant = symbol_table(wording, [operand.name for operand in step.operands])
        result = step.result.sympy()
        for i, j in np.ndindex(result.shape):
            written = wording.working(step, i, j)
            value = evaluated(written, lambda name, bound, meant=meant: meant[oracles.plain(name)])
            assert oracles.same(value, result[i, j]), f"{step.name} ({i + 1}, {j + 1}): {oracles.plain(written)}"


@pytest.mark.parametrize("by", ["matrix", "token"])
@pytest.mark.parametrize("notation", ["standard", "columns"])
def test_no_two_entries_of_a_derivation_are_written_alike(by, notation):
    wording = named_entries(by=by, notation=notation)
    symbol_table(wording, [*wording.derivation.givens, *(s.name for s in wording.derivation)])


@pytest.mark.parametrize("by", ["matrix", "token"])
def test_with_letters_for_sizes_the_sums_have_a_sum_sign(by):
    sizes = {"n": "N", "d_model": "d", "d_k": "p", "d_v": "r"} if by == "matrix" else {"n": 2, "d_k": "p"}
    solution = derive("self_attention", symbolic=True, sizes=sizes, by=by)
    wording = Wording(solution.derivation, solution.problem.notation)
    for step in at_least_one(solution.derivation):
        i, j = (0 if size == 1 else letter for size, letter in zip(step.result.shape, "ij", strict=True))
        written = wording.working(step, i, j)
        if isinstance(step.op, MatMul) or (isinstance(step.op, Softmax) and by == "matrix"):
            assert oracles.contains(written, f.BigSum), step.name


def test_replacing_an_op_changes_its_working_too():
    # what a misconception's solution shows must be the misconception's own working
    derivation = derive("attention", Q=[[2]], K=[[3], [1]], V=[[1], [2]], scale=2).derivation
    wrong = derivation.replay(lambda s: s.with_op(replace(s.op, divisor=4, of="")) if s.name == "S'" else s)
    assert is_written_out(wrong) > 0
    assert wrong.value("S'").sympy() == sympy.Matrix([["3/2", "1/2"]])


def test_whoever_rounds_works_in_decimals():
    """0.12 and not 3/25, in the rounded step and in all that follows; NumPy works them out."""
    Q, K, V = np.array([[2, 1, 1], [1, 3, 0]]), np.array([[0, 2, 0], [2, 1, -1]]), np.array([[2, 1, 2], [1, 3, 2]])
    weights = np.round(oracles.softmax(Q @ K.T), 2)
    solution = derive("attention", Q=Q.tolist(), K=K.tolist(), V=V.tolist(), scale="none", rounding={"places": 2})
    text = str(solution).partition("Rounded weights")[2]
    assert all(f"{x:.2f}".rstrip("0") in text for x in (*weights.flat, *(weights @ V).flat))
    assert "/" not in text
    exact = derive("attention", Q=Q.tolist(), K=K.tolist(), V=[["1/2"], [1]], scale="none")
    assert "0.5 " not in str(exact)


# ------------------------------------------------------------------------------------------------ from the givens


class Reader:
    """Works formulas out in floating point, in the way that a reader does: letters for indices, names for matrices."""

    def __init__(self, wording, matrices, sizes):
        self.sizes = sizes
        self.named = {}
        for name, rows in matrices.items():
            pattern = wording.entry(name, "i", "j")
            self.named.setdefault(first_letter(pattern), []).append((pattern, rows))
        masked = next((rows for name, rows in matrices.items() if name.startswith("M")), [[0.0]])
        self.turned = wording.orientation == "columns"
        self.seen_after = abs(len(masked[0]) - len(masked))
        """A causal mask lets the last query see every key."""

    def value(self, node, env):
        return float(printed_lines.value(node, lambda part: self.known(part, env)))

    def known(self, node, env):
        """What has a value by its letters: an entry, a size, an index, a sum over one."""
        value = self.value
        if as_typed(node) in self.sizes:  # d_k, where an entry may be d_i
            return self.sizes[as_typed(node)]
        if (known := self.entry(node, env)) is not None:
            return known
        match node:
            case BigSum(Name(letter), lower, upper, body):
                first, last = (round(value(bound, env)) for bound in (lower, upper))
                return sum(value(body, {**env, letter: k}) for k in range(first, last + 1))
            case Bracketed(Relation((x, y), (">",)), "["):
                return float(value(x, env) > value(y, env))
            case Bracketed(body, "|"):
                return abs(value(body, env))
            case Call(Name("max", (Name(letter),)), (body,)):
                return max(value(body, {**env, letter: k + 1}) for k in range(self.sizes["d_h"]))
            case Name("δ", (i, j)):
                return float(value(i, env) == value(j, env))
            case Name("mask", (i, j)):
                after = (value(i, env) - value(j, env)) if self.turned else (value(j, env) - value(i, env))
                return 0 if after <= self.seen_after else -math.inf
            case Name(letter, ()) if letter not in "eπ":
                return env.get(letter, 0.25)  # an index, or the ratio of the slopes
        return None

    def entry(self, node, env):
        """The number of an entry that is written by its name."""
        for pattern, rows in self.named.get(first_letter(node), ()):
            place = {}
            if self.fits(pattern, node, place, env):
                i, j = place.get("i", 1), place.get("j", 1)
                if i <= len(rows) and j <= len(rows[0]):  # the rows of a cache are called as those of the keys
                    return rows[i - 1][j - 1]
        return None

    def fits(self, pattern, node, place, env):
        """Whether a formula is the pattern with indices in place of i and j, which are added to `place`."""
        if pattern in (Name("i"), Name("j")):
            place[pattern.base] = round(self.value(node, env))
            return True
        if type(pattern) is not type(node):
            return False
        ours, theirs = children(pattern), children(node)
        alike = len(ours) == len(theirs) and skeleton(pattern) == skeleton(node)
        return alike and all(self.fits(x, y, place, env) for x, y in zip(ours, theirs, strict=True))


@cache
def skeleton(node):
    """The node with nothing inside."""
    return rebuilt(node, lambda _: ZERO)


def first_letter(node):
    """The letter of an entry that is written by its name: σ of σ²_i."""
    names = (part for part in parts_of(node) if isinstance(part, Name))
    return next((name.base for name in names), "")


def as_typed(node):
    """A name with its index as it is typed: d_k."""
    return "_".join(part.base for part in parts_of(node) if isinstance(part, Name)) if isinstance(node, Name) else ""


def in_numbers(letters, settings):
    """Every matrix of the mechanism for random givens, worked out in numbers."""
    name = letters.problem.mechanism
    sizes = {letter: SIZES[letter] for letter in mechanisms()[name].letters}
    stated = {key: value.replace(":r", ":1/4") if isinstance(value, str) else value for key, value in settings.items()}
    chosen = Settings.read({**mechanisms()[name].defaults, **stated, "arithmetic": "decimal"})
    quarters = [Fraction(x, 4) for x in (-2, -1, 1, 2, 3)]
    d = strategies.any_numbers(name, chosen, sizes, Random(name), quarters)
    return {one: oracles.floats(rows).tolist() for one, rows in d.matrices.items()}, sizes


def printed(expanded, wording):
    """The working of any entry of every step that is written out, as it stands on the page."""
    found = {}
    for step in expanded:
        if not isinstance(step.result, Outline):
            continue
        entry = wording.entry(step.name, *any_place(step))
        for block in explain_step(step, wording, Detail()):
            lines = block.lines if isinstance(block, Display) else ()
            shown = [line.parts[1] for line in lines if isinstance(line, Relation) and line.parts[0] == entry]
            found.update(zip([step.name] * len(shown), shown, strict=True))
    return found


CASES = [
    pytest.param(name, settings, ("standard", "columns")[k % 2], marks=[pytest.mark.slow] * (name == "encoder_block"))
    for k, (name, settings) in enumerate(SETTINGS)
]
"""In either notation each operation is somewhere."""


@pytest.mark.covering(most=3, rest=3)
@pytest.mark.parametrize(("name", "settings", "notation"), CASES)
def test_what_is_printed_of_an_entry_is_that_entry_and_has_room(name, settings, notation):
    more = {"orientation": "columns"} if notation == "columns" else {}
    letters = in_letters_of(name, settings | more)
    expanded = letters.expanded()
    wording = Wording(expanded.derivation, load_notation(notation))
    matrices, sizes = in_numbers(letters, settings | more)
    reader = Reader(wording, matrices, sizes)
    for one, working in at_least_one(printed(expanded, wording).items()):
        assert width(working) <= max(LINE, width(wording.working(expanded[one], *any_place(expanded[one])))), one
        if contains(working, Dots, ListOf):
            continue  # "…" stands for any head, and a pair of columns has two entries
        rows = matrices[one]
        for i, j in ((1, 1), (len(rows), len(rows[0]))):
            assert reader.value(working, {"i": i, "j": j}) == pytest.approx(rows[i - 1][j - 1]), (one, i, j)


@pytest.mark.parametrize(("name", "times"), [("encoder_block", 1), ("self_attention", 0)])
def test_that_steps_stand_by_their_names_is_told_once(name, times):
    page = " ".join(str(symattn.derive(name, symbolic=True).expanded()).split())
    assert page.count(str(BY_NAME)) == times
