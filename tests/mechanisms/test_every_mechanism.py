"""Every mechanism: listed, set fairly, checked, turned, in letters; new files are tested on arrival.

That its pages are whole and its key earns everything is seen in `tests/catalogue`.
"""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add
from random import Random

import pytest
from catalogue_sheets import BY_NAME, sheet_of
from duals import DUALS, Dual
from test_self_check import STEPS, every_op, with_entry
from trials import at_least_one

from symattn.derivation.algebra import VALUES, Entries, Intervals
from symattn.derivation.derivation import RuleOp
from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.derivation.mechanisms.backward import backward, seeded
from symattn.derivation.mechanisms.descent import gradient
from symattn.derivation.ops.attention import SoftmaxGradient, SoftmaxJacobian
from symattn.derivation.ops.entrywise import ActivationGradient, Round, ToFloat
from symattn.derivation.ops.gradient import InfinityNorm, Slope
from symattn.derivation.ops.position import Positional, Sinusoids
from symattn.derivation.ops.scores import FeatureMap, Hardmax
from symattn.derivation.ops.words import ArgMax, TopK
from symattn.derivation.symbolic import in_symbols, substituted
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Real, decide, decimal_text, to_sympy, values_of
from symattn.exact.intervals import enclose, interval_ring
from symattn.exact.real import as_real
from symattn.exact.rounding import approximate
from symattn.marking.marker.trace import rests_on
from symattn.marking.marker.windows import Rounded, cell, meet, window
from symattn.marking.marker.windows import worked as by_hand
from symattn.page.notation import load_notation, notations, read_notation
from symattn.page.writers import text
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.selfcheck import self_check

MECHANISMS = list(mechanisms())
RENAMED = {"X": "C", "W_Q": "Q", "W_K": "K", "W_V": "V", "Q": "q", "Z": "H", "S": "A", "O": "Y"}
"""Names that are others' in the standard notation."""


def derivation(name):
    """That of its sheet in the catalogue."""
    return sheet_of(name).problem.derivation


# ------------------------------------------------------------------------------------------------ names


@pytest.mark.covering(most=12, rest=3)
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_notation_calls_two_matrices_alike(name):
    """C = X and C = [Z^(1) Z^(2)] on one paper, or dQ both for the queries and for weights that are called Q."""
    d = derivation(name)
    for notation in (*map(load_notation, notations()), read_notation({"names": RENAMED}, "renamed")):
        wording = Wording(d, notation)
        names = [text.formula(wording.name(matrix)) for matrix in d.matrices if "." not in matrix]
        assert len(set(names)) == len(names), notation.name


# ------------------------------------------------------------------------------------------------ one rule


@pytest.mark.covering(most=3, rest=3)
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_symbolic_derivation_with_the_givens_put_in_is_the_exact_one(name):
    d = derivation(name)
    by_sympy = substituted(in_symbols(d), d.givens)
    for mine, own in zip(by_sympy, d, strict=True):
        assert_equal(mine.result, own.result, f"{name}: {own.name}")


@pytest.mark.covering(most=18)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_rule_gives_the_values_and_its_intervals_contain_them(name):
    d, intervals = derivation(name), Intervals(interval_ring(40))
    for step in at_least_one(rules(d)):
        matrices = d.operands(step)
        rows, columns = step.result.shape
        assert step.op.shape(*(m.shape for m in matrices)) == (rows, columns)
        assert_equal(Matrix.of(step.op.read(VALUES, *(m.rows for m in matrices))), step.result, step.name)
        if any(x is NEGATIVE_INFINITY for m in (*matrices, step.result) for x in m) or isinstance(step.op, BY_NUMBERS):
            continue
        enclosed = [Entries(m.shape, lambda i, j, m=m: enclose(m[i, j], 40)) for m in matrices]
        for i, j in product(range(rows), range(columns)):
            low, high = step.op.rule(intervals, i, j, *enclosed)
            least, most = enclose(step.result[i, j], 30)
            assert low <= most, step
            assert least <= high, step
            assert high - low < Decimal("1e-25") * max(1, abs(high)), step


@pytest.mark.covering(most=12)
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_turned_gives_the_transpose(name):
    for step in derivation(name):
        operands = [m.T for m in derivation(name).operands(step)]
        turned = step.op.turn()
        assert turned.turn() == step.op
        assert_equal(turned.apply(*(operands[::-1] if step.op.reverses else operands)), step.result.T, step.name)


BY_NUMBERS = (ActivationGradient, FeatureMap, Slope)
"""Read only in values and in symbols: what they take is told by signs, which an interval may not have."""


@pytest.mark.covering(most=12)
@pytest.mark.parametrize("name", [name for name in MECHANISMS if "gradient" not in name])
def test_rules_in_dual_numbers_change_as_the_gradients_say(name):
    d, rng = derivation(name), Random(name)
    last = d.last
    try:
        back = backward(seeded(d, last.name), last.name)
    except InputError:
        assert name in NO_WAY_BACK, name
        return
    assert name not in NO_WAY_BACK
    assert_goes_back(d, back, rng)


def assert_goes_back(d, back, rng):
    """⟨G, dZ⟩ by dual numbers, which go forward, is Σ ⟨gradient, direction⟩ by the steps that go back."""
    last = d.last.name
    wanted = [given for given in d.givens if gradient(given) in back]
    directions = {given: random_matrix(d.givens[given].shape, rng) for given in wanted}
    slopes = in_duals(d, directions)[last]
    along = approximate(total(g * x.slope for g, x in zip(back.value(gradient(last)), slopes, strict=True)))
    backwards = total(
        g * v for given in wanted for g, v in zip(back.value(gradient(given)), directions[given], strict=True)
    )
    assert wanted
    assert along == pytest.approx(approximate(backwards), rel=1e-9, abs=1e-9)


@pytest.mark.covering(most=12)
@pytest.mark.parametrize("name", [str(step["name"]) for step in STEPS])
def test_every_operation_is_gone_back_through_or_known_not_to_be(name):
    """Of all operations, also those that no mechanism has, for the gradients ±1, ±2, … of what each gives."""
    d, rng = every_op(), Random(name)
    needed = d.before(name) | {name}
    used = {operand.name for step in d if step.name in needed for operand in step.operands}
    d = replace(d, givens={given: m for given, m in d.givens.items() if given in used})
    positive = {"B": [[1, 3], [2, 1]]} if name == "sqrt" else {}  # the root of 0 has no derivative
    d = d.replay(lambda step: step if step.name in needed else (), givens=positive)
    upstream = random_matrix(d[name].result.shape, rng)
    if name == "mask":  # what is hidden gets none from a softmax
        upstream = Matrix.of(
            [g if s else 0 for g, s in zip(*rows, strict=True)]
            for rows in zip(upstream.rows, d[name].op.keep, strict=True)
        )
    given = {**d.givens, gradient(name): upstream}
    try:
        back = backward(replace(d, givens=given), name)
    except InputError:
        assert type(d[name].op) in NO_GRADIENT or isinstance(d[name].op, SelfContained), name
        return
    assert type(d[name].op) not in NO_GRADIENT
    self_check(back)
    assert_goes_back(d, back, rng)


NO_GRADIENT = {Round, ToFloat, Hardmax, TopK, ArgMax, SoftmaxJacobian, SoftmaxGradient, Slope, InfinityNorm}
"""What is constant but for jumps, is a gradient itself, or says how large a matrix is."""

SelfContained = Positional | Sinusoids
"""What has no operands has nothing to hand a gradient on to."""


def in_duals(d, directions):
    """Every matrix with how it changes when the givens go along some directions, entry by entry, in decimals."""
    tables = {}
    for given, m in d.givens.items():
        cells = list(product(*map(range, m.shape)))
        tables[given] = {at: Dual(as_real(m[at]), directions[given][at] if given in directions else 0) for at in cells}
    for step in d:
        assert isinstance(step.op, RuleOp), step
        operands = [
            Entries(m.shape, lambda i, j, o=o: tables[o.name][o.place(i, j)])
            for m, o in zip(d.operands(step), step.operands, strict=True)
        ]
        cells = product(*map(range, step.result.shape))
        tables[step.name] = {at: step.op.rule(DUALS, *at, *operands) for at in cells}
    return {name: list(table.values()) for name, table in tables.items()}


def total(terms):
    return reduce(add, terms)


NO_WAY_BACK = {
    "backpropagation_through_time",
    "recurrent_jacobian",
    "softmax_jacobian",
}
"""Mechanisms that are gradients themselves, or have a step through which none is known."""


def assert_equal(mine, own, where):
    assert mine.shape == own.shape
    for x, y in zip(mine, own, strict=True):
        if isinstance(y, Real) or isinstance(x, Real):
            assert abs(to_sympy(x) - to_sympy(y)) <= 1e-20 * max(1, abs(to_sympy(y))), where
        else:
            assert decide(x, y).equal is True, f"{where}: {x} and {y}"


def rules(d):
    return (step for step in d if isinstance(step.op, RuleOp))


def random_matrix(shape, rng):
    return Matrix.of([rng.randint(-3, 3) for _ in range(shape[1])] for _ in range(shape[0]))


# ------------------------------------------------------------------------------------------------ checked


@pytest.mark.covering(most=18)
@pytest.mark.parametrize("name", MECHANISMS)
def test_only_what_rests_on_an_entry_changes_with_it(name):
    d, rng = derivation(name), Random(name)
    for step in at_least_one(rules(d)):
        operands = d.operands(step)
        resting = rests_on(step.op, tuple(m.shape for m in operands))
        for k, operand in enumerate(operands):
            i, j = rng.randrange(operand.shape[0]), rng.randrange(operand.shape[1])
            changed = with_entry(operand, i, j, 3 if operand[i, j] is NEGATIVE_INFINITY else operand[i, j] + 1)
            try:
                other = step.op.apply(*operands[:k], changed, *operands[k + 1 :])
            except InputError:  # no longer a number of keys, or a matrix of weights
                continue
            cells = product(*map(range, other.shape))
            changed = {place for place in cells if decide(other[place], step.result[place]).equal is not True}
            assert changed <= set(resting.get((k, i, j), ())), f"{step.name}: ({i}, {j}) of operand {k}"


@pytest.mark.covering(most=18)
@pytest.mark.parametrize("name", MECHANISMS)
def test_windows_hold_what_rounded_numbers_stand_for(name):
    """Every operand to two places: the right result lies in the range of what may follow from them.

    Whoever works on from exact numbers by hand comes to it, too.
    """
    d = derivation(name)
    for step in d:
        operands = d.operands(step)
        range_ = window(step.op, *map(box, operands))
        assert range_ is not None, step
        for x, span in zip(step.result, (span for row in range_ for span in row), strict=True):
            assert x is NEGATIVE_INFINITY or span.low <= Decimal(decimal_text(x, 12)) + SLACK, (step.name, x, span)
            assert x is NEGATIVE_INFINITY or span.high >= Decimal(decimal_text(x, 12)) - SLACK, (step.name, x, span)
        lines = [[[Rounded(cell(x, None), False) for x in row] for row in values_of(m).rows] for m in operands]
        for row, right in zip(by_hand(step.op, lines, 4), values_of(step.result).rows, strict=True):
            assert all(meet(x.span, cell(value, None)) for x, value in zip(row, right, strict=True)), step.name


SLACK = Decimal("1e-11")


def box(matrix):
    return tuple(tuple(cell(*rounded_to_cents(x)) for x in row) for row in matrix.rows)


def rounded_to_cents(x):
    """A number with its unit; what is whole or hidden is written as it is."""
    if x is NEGATIVE_INFINITY or isinstance(x, int):
        return x, None
    return Fraction(decimal_text(x, 2)), Fraction(1, 100)


# ------------------------------------------------------------------------------------------------ in letters, turned


@pytest.mark.covering(most=20)
@pytest.mark.parametrize("name", MECHANISMS)
def test_tokens_as_columns_are_the_transpose(name):
    d = derivation(name)
    settings = replace(BY_NAME[name].recipe.spec.chosen_settings(), by="matrix")
    other = "columns" if settings.orientation == "rows" else "rows"
    one = mechanism(name).run(d.givens, settings)
    givens = {given: m.T for given, m in d.givens.items()}
    turned = mechanism(name).run(givens, replace(settings, orientation=other))
    assert {step.name: step.result.T for step in turned} == {step.name: step.result for step in one}
