"""Rounding windows: never too narrow, tight, and decided exactly at their ends.

Witnesses: NumPy for random points of a box, mpmath and fractions for all its vertices (where the functions in question
have their extremes), the decimal module for rounding.  None of them uses a rule of the code under test.
"""

from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import Activation, Round
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, SumOver
from symattn.derivation.windows import Window
from symattn.errors import ShapeError
from symattn.exact import NEGATIVE_INFINITY, divide, exponential, square_root
from symattn.marking.marker.windows import ByHand, Rounded, cell, claimed, holds, meet, width, window

F = Fraction
HIDDEN = Window(Decimal("-Infinity"), Decimal("-Infinity"))
SLACK = F(1, 10**20)  # far above the rounding of the ends, far below 1 % of any window here
ROUNDINGS = ("nearest", "truncate", "largest-remainder")


@pytest.fixture(autouse=True, scope="module")
def _digits():
    with mpmath.workdps(60):
        yield


units = st.integers(1, 4).map(lambda places: F(1, 10**places))


@st.composite
def decimals(draw, low=-4, high=4):
    """A decimal with its unit."""
    unit = draw(units)
    return draw(st.integers(int(low / unit), int(high / unit))) * unit, unit


def boxes(rows, columns, entry):
    """Ends of windows as an array (2, rows, columns) of fractions."""
    flat = st.lists(entry, min_size=rows * columns, max_size=rows * columns)
    return flat.map(
        lambda e: np.array([[v - u / 2 for v, u in e], [v + u / 2 for v, u in e]]).reshape(2, rows, columns)
    )


def written(ends):
    """The box as the code under test takes it."""
    return tuple(
        tuple(cell((low + high) / 2, high - low) for low, high in zip(lows, highs, strict=True))
        for lows, highs in zip(*ends, strict=True)
    )


def points(rng, *arrays):
    """A random point of the boxes, in fractions, so that no rounding can push it out."""
    share = np.vectorize(lambda low, high, t: low + (high - low) * F(int(t), 1000), otypes=[object])
    return [share(a[0], a[1], rng.integers(0, 1001, a[0].shape)) for a in arrays]


def inside(x, w):
    """x a fraction, or an mpmath number."""
    if isinstance(x, int | F):
        return F(w.low) <= x <= F(w.high)
    return mpmath.mpf(str(w.low)) - mpmath.mpf(10) ** -40 <= x <= mpmath.mpf(str(w.high)) + mpmath.mpf(10) ** -40


def same(x, end):
    """Equal but for the rounding of the end."""
    return abs(F(end) - x) <= SLACK if isinstance(x, int | F) else abs(mpmath.mpf(str(end)) - x) <= 1e-20


def tight_and_wide_enough(windows, results):
    """The windows are exactly the ranges of the results, which include the extremes."""
    for i, row in enumerate(windows):
        for j, w in enumerate(row):
            values = [r[i][j] for r in results]
            assert all(inside(v, w) for v in values)
            assert same(min(values), w.low)
            assert same(max(values), w.high)


# ------------------------------------------------------------------------------------ what a decimal stands for


@given(st.decimals(-100, 100, allow_nan=False, places=9), st.integers(1, 4))
def test_every_number_lies_in_the_cell_of_its_decimal(x, places):
    unit = Decimal(1).scaleb(-places)
    for mode, rounding in (
        (ROUND_HALF_EVEN, "nearest"),
        (ROUND_HALF_UP, "nearest"),
        (ROUND_HALF_DOWN, "nearest"),
        (ROUND_DOWN, "truncate"),
    ):
        decimal = F(x.quantize(unit, mode))
        assert F(x) in cell(decimal, F(unit), rounding)
        assert holds(F(x), decimal, F(unit), rounding) == (True, "rounding")


def test_exact_forms_and_infinity():
    assert cell(NEGATIVE_INFINITY, None) == HIDDEN
    assert cell(F(1, 4), None) == Window(Decimal("0.25"), Decimal("0.25"))
    assert cell(sympy.Symbol("x"), None) is None
    for value, number in (
        (square_root(3), mpmath.sqrt(3)),
        (divide(exponential(2), exponential(2) + 1), mpmath.e**2 / (mpmath.e**2 + 1)),
        (F(1, 3), mpmath.mpf(1) / 3),
    ):
        w = cell(value, None)
        low, high = mpmath.mpf(str(w.low)), mpmath.mpf(str(w.high))
        assert low < number < high
        assert high - low < mpmath.mpf(10) ** -27


NEAR = F(1, 10**60)


@given(decimals(), st.sampled_from(ROUNDINGS), st.sampled_from((-1, 1)), st.sampled_from((-NEAR, F(0), NEAR)))
def test_ends_are_decided_exactly(decimal, rounding, side, beyond):
    """At the end, 1e-60 inside and 1e-60 outside, for rational and for transcendental values."""
    value, unit = decimal
    reach = unit / 2 if rounding == "nearest" else unit
    truth = value + side * (reach + beyond)
    expected = beyond < 0 or (beyond == 0 and rounding == "nearest")
    assert holds(truth, value, unit, rounding) == (expected, "rounding")
    if beyond:
        irrational = value + side * (reach + beyond * exponential(F(1, 3)))
        assert holds(irrational, value, unit, rounding) == (expected, "rounding")


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=4), st.integers(1, 4))
def test_weights_are_held_by_the_decimal_that_mpmath_rounds_them_to(scores, places):
    total = sum((exponential(s) for s in scores[1:]), exponential(scores[0]))
    truth = divide(exponential(scores[0]), total)
    number = mpmath.exp(scores[0]) / mpmath.fsum(map(mpmath.exp, scores))
    unit = F(1, 10**places)
    nearest = int(mpmath.nint(number * 10**places))
    floor = int(mpmath.floor(number * 10**places))
    for units_written in range(nearest - 3, nearest + 4):
        value = units_written * unit
        if len(set(scores)) > 1:  # else the weight is rational, which is tested above
            assert holds(truth, value, unit, "nearest")[0] is (units_written == nearest)
            for rounding in ("truncate", "largest-remainder"):
                assert holds(truth, value, unit, rounding)[0] is (units_written in (floor, floor + 1))


def test_exact_forms_are_decided_with_their_proof():
    third = divide(exponential(1), 3 * exponential(1))
    assert holds(third, F(1, 3), None, "nearest") == (True, "exact")
    assert holds(third, F(333, 1000), None, "nearest") == (False, "exact")
    assert holds(square_root(2), F(1414, 1000), None, "nearest") == (False, "interval")
    assert holds(NEGATIVE_INFINITY, NEGATIVE_INFINITY, None, "nearest") == (True, "exact")
    assert holds(NEGATIVE_INFINITY, F(1, 10), F(1, 10), "nearest")[0] is False
    assert holds(sympy.Symbol("x"), F(1, 10), F(1, 10), "nearest")[0] is False


def test_what_cannot_be_decided_is_said():
    """tanh ln 2 = 3/5, which no method here proves, and an interval cannot."""
    truth = sympy.tanh(sympy.log(2), evaluate=False)
    assert holds(truth, F(3, 5), None, "nearest") == (None, "undecided to 400 digits")
    assert holds(truth, F(1, 2), F(1, 5), "nearest") == (None, "undecided to 400 digits")
    assert holds(truth, F(1, 2), F(1, 10), "nearest") == (False, "rounding")
    assert holds(truth, F(6, 10), F(1, 10), "nearest") == (True, "rounding")


def test_windows_meet():
    a, b, c = (cell(F(n, 10), F(1, 10)) for n in (1, 2, 3))
    assert meet(a, b)
    assert not meet(a, c)
    assert meet(HIDDEN, HIDDEN)
    assert not meet(a, HIDDEN)
    huge = Window(Decimal("1E-999999999999"), Decimal(1))
    assert meet(huge, cell(F(1, 3), None))


@given(decimals(), decimals())
def test_widths(a, b):
    w = Window(cell(*min(a, b)).low, cell(*max(a, b)).high)
    exact = F(w.high) - F(w.low)
    assert exact <= F(width(w)) <= exact + SLACK
    assert width(w) >= exact  # a Decimal and a Fraction compare exactly
    assert width(cell(*a)) == a[1]


# ------------------------------------------------------------------------------------ linear operations


@given(decimals(), st.integers(0, 3), st.sampled_from(["even", "up", "down"]))
def test_rounding_is_tight(decimal, places, ties):
    value, unit = decimal
    ends = value - unit / 2, value + unit / 2
    modes = {"even": ROUND_HALF_EVEN, "up": ROUND_HALF_UP, "down": ROUND_HALF_DOWN}

    def quantised(x, mode):
        return F((Decimal(x.numerator) / x.denominator).quantize(Decimal(1).scaleb(-places), mode))

    box_ = ((cell(value, unit), HIDDEN),)
    for op, mode in ((Round(places, ties=ties), modes[ties]), (Round(places, "truncate"), ROUND_DOWN)):
        ((w, hidden),) = window(op, box_)
        assert hidden == HIDDEN
        assert (F(w.low), F(w.high)) == tuple(quantised(end, mode) for end in ends)


# ------------------------------------------------------------------------------------ masks


def test_masks_of_all_styles():
    a = ((cell(F(1), F(1, 10)), cell(F(2), F(1, 10))), (cell(F(-1), F(1, 10)), cell(F(1, 2), F(1, 10))))
    keep = ((True, False), (True, True))
    for style in ("additive", "keep", "block", "multiplicative"):
        assert window(Mask(keep, style), a) == ((a[0][0], HIDDEN), a[1])
    negative = ((True, True), (False, True))
    assert window(Mask(negative, "additive"), a) == (a[0], (HIDDEN, a[1][1]))
    assert window(Mask(negative, "multiplicative"), a) is None  # −1·(−∞)


def test_hidden_scores_stay_hidden_under_what_keeps_them():
    one = cell(1, F(1, 10))
    assert window(Scale(2), ((HIDDEN,),)) == ((HIDDEN,),)
    assert window(Scale(-2), ((HIDDEN,),)) is None
    assert window(Add(), ((HIDDEN,),), ((one,),)) == ((HIDDEN,),)
    assert window(SumOver("columns"), ((HIDDEN, one),)) == ((HIDDEN,),)
    assert window(Hadamard(), ((HIDDEN,),), ((one,),)) == ((HIDDEN,),)
    assert window(MatMul(), ((one, one),), ((HIDDEN,), (one,))) == ((HIDDEN,),)
    assert window(MatMul(), ((cell(0, F(1, 10)), one),), ((HIDDEN,), (one,))) is None


# ------------------------------------------------------------------------------------ softmax


def mp_softmax(row, base):
    """Of fractions, None where hidden; at the precision that is set."""
    number = mpmath.e if base == "e" else mpmath.mpf(F(base).numerator) / F(base).denominator
    powers = [mpmath.mpf(0) if s is None else number ** (mpmath.mpf(s.numerator) / s.denominator) for s in row]
    return [p / mpmath.fsum(powers) for p in powers]


@st.composite
def rows_of_scores(draw):
    """Up to four scores with their units, some hidden, at least one not."""
    row = draw(st.lists(decimals(), min_size=1, max_size=4))
    hidden = draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row)).filter(lambda h: not all(h)))
    return [None if h else entry for h, entry in zip(hidden, row, strict=True)]


@given(rows_of_scores(), st.sampled_from(["e", "e", 2, 3, F(1, 2)]), st.sampled_from(["rows", "columns"]))
def test_softmax_is_the_range_over_all_vertices(row, base, along):
    """Each weight is monotone in every score, so that its extremes are at vertices."""
    line = tuple(HIDDEN if entry is None else cell(*entry) for entry in row)
    both = (line, line[::-1])  # two rows, of which neither changes the other
    found = window(Softmax(along, base), both if along == "rows" else tuple(zip(*both, strict=True)))
    weights, backwards = found if along == "rows" else zip(*found, strict=True)
    ends = [[None] if entry is None else [entry[0] - entry[1] / 2, entry[0] + entry[1] / 2] for entry in row]
    results = [mp_softmax(corner, base) for corner in product(*ends)]
    tight_and_wide_enough([weights, backwards[::-1]], [[row, row] for row in results])
    for entry, weight in zip(row, weights, strict=True):
        if entry is None:
            assert weight == Window(Decimal(0), Decimal(0))


def test_softmax_of_rows_without_scores():
    row = ((HIDDEN, HIDDEN),)
    zero = Window(Decimal(0), Decimal(0))
    assert window(Softmax(), row) is None
    assert window(Softmax(empty="zero"), row) == ((zero, zero),)
    assert window(Softmax(), ((HIDDEN, cell(F(3), F(1, 10))),)) == ((zero, Window(Decimal(1), Decimal(1))),)


@pytest.mark.parametrize("size", [10**7, 10**25, 10**200])
def test_softmax_of_enormous_scores(size):
    """What nobody should write, but somebody may: no overflow, no endless computation, and never wrong."""
    for unit in (F(1, 10), None):
        ((low, high),) = window(Softmax(), ((cell(-size, unit), cell(size, unit)),))
        assert 0 <= low.low <= low.high <= 1 == high.high
        assert size > 10**25 or (low.high < Decimal("1e-1000000") and 1 - Decimal("1e-25") < high.low)


# ------------------------------------------------------------------------------------ weighted averages


def simplex_vertices(ends):
    """The vertices of {l ≤ a ≤ u, a ≥ 0, Σ a = 1}: all but one coordinate at an end, that one what is missing."""
    ends = [(max(F(0), low), high) for low, high in ends]
    found = []
    for free in range(len(ends)):
        others = [pair for i, pair in enumerate(ends) if i != free]
        for choice in product(*others):
            rest = 1 - sum(choice)
            if ends[free][0] <= rest <= ends[free][1]:
                found.append([*choice[:free], rest, *choice[free:]])
    return found


@st.composite
def rows_of_weights(draw):
    """The ends of a row of rounded weights, each rounded on its own, which need not sum to 1."""
    parts = draw(st.lists(st.integers(0, 40), min_size=1, max_size=4).filter(any))
    unit = draw(units)
    written_ = [round(F(p, sum(parts)) / unit) * unit for p in parts]
    return [(w - unit / 2, w + unit / 2) for w in written_]


@given(rows_of_weights(), st.data())
def test_weighted_averages_are_the_linear_programme(ends, data):
    """Of two rows of weights and two columns of values, each with the other."""
    rounded_values = data.draw(st.booleans())
    values = data.draw(st.lists(decimals(), min_size=len(ends), max_size=len(ends)))
    rows = (ends, ends[::-1])
    columns = [[(s * v, u) for v, u in values] for s in (1, -1)]
    weights = tuple(tuple(cell((low + high) / 2, high - low) for low, high in row) for row in rows)
    cells = tuple(tuple(cell(v, u if rounded_values else None) for v, u in row) for row in zip(*columns, strict=True))
    averages, wider = window(MatMul(), weights, cells, weights=True), window(MatMul(), weights, cells)
    for i, k in product((0, 1), (0, 1)):
        corners = simplex_vertices(rows[i])
        assert corners  # rounding to the nearest leaves the true row in the box
        column = [[v - u / 2, v + u / 2] if rounded_values else [v] for v, u in columns[k]]
        results = [sum(a * v for a, v in zip(corner, vs, strict=True)) for corner in corners for vs in product(*column)]
        w = averages[i][k]
        tight_and_wide_enough([[w]], [[[r]] for r in results])
        assert wider[i][k].low - Decimal("1e-25") <= w.low
        assert w.high <= wider[i][k].high + Decimal("1e-25")


def test_the_worked_example_of_a_knapsack():
    """Weights 0.7, 0.0, 0.3 to one place with values 2, 7, 1.

    For the greatest average: start at 0.65, 0, 0.25, pour 0.05 into the 7 and the other 0.05 into the 2:
    0.7·2 + 0.05·7 + 0.25·1 = 2.  For the least: 0.65·2 + 0·7 + 0.35·1 = 1.65.
    """
    unit = F(1, 10)
    weights = (tuple(cell(F(n, 10), unit) for n in (7, 0, 3)),)
    values = tuple((cell(v, None),) for v in (2, 7, 1))
    assert window(MatMul(), weights, values, weights=True) == ((Window(Decimal("1.65"), Decimal("2.00")),),)
    assert window(MatMul(), weights, values) == ((Window(Decimal("1.2"), Decimal("2.2")),),)


def test_weights_that_cannot_sum_to_one_are_taken_as_they_are():
    values = ((cell(2, None),), (cell(-1, None),))
    for row in ((F(1, 2), F(1, 4)), (F(3, 2), F(-1, 2)), (F(9, 10), F(9, 10))):
        weights = (tuple(cell(a, F(1, 100)) for a in row),)
        assert window(MatMul(), weights, values, weights=True) == window(MatMul(), weights, values)


# ------------------------------------------------------------------------------------ what has no range


def test_no_rule_and_no_fit():
    one = ((cell(F(1), F(1, 10)),),)
    assert window(Activation("f"), one) is None
    assert window(Round(1, "largest-remainder"), one) is None
    assert window(Scale(sympy.Symbol("d")), one) is None
    assert window(Softmax(base=-2), one) is None
    with pytest.raises(ShapeError):
        window(MatMul(), one, (one[0], one[0]))


# ------------------------------------------------------------------------------------ what the places shown explain


@given(boxes(2, 3, decimals()), boxes(3, 2, decimals()), units, st.integers(0, 2**32 - 1))
def test_whoever_rounds_to_the_places_shown_stays_in_the_window(a, b, unit, seed):
    """Sums of any numbers that the lines may stand for, rounded to the unit or cut off there."""
    windows = window(MatMul(), written(a), written(b), unit=unit)
    x, y = points(np.random.default_rng(seed), a, b)
    for row, result in zip(windows, x @ y, strict=True):
        for w, number in zip(row, result, strict=True):
            down = number // unit * unit
            assert inside(number, w)
            assert number == down or (inside(down, w) and inside(down + unit, w))


def test_what_ends_within_the_places_shown_was_not_rounded():
    exactly, third = ((cell(F(3, 4), None),),), ((cell(F(1, 3), None),),)
    one = ((cell(1, None),),)
    assert window(MatMul(), exactly, one, unit=F(1, 100)) == ((cell(F(3, 4), None),),)
    [[w]] = window(MatMul(), third, one, unit=F(1, 100))
    assert same(F(1, 3) - F(1, 100), w.low)
    assert same(F(1, 3) + F(1, 100), w.high)


@given(base=st.sampled_from([F(2), F(3), F(1, 2), F(10)]), exponent=st.integers(-4, 4), places=st.integers(2, 6))
def test_a_whole_power_of_a_rational_base_is_exact(base, exponent, places):
    """Nobody rounds 2² = 4, or what is divided by it."""
    power = ByHand(places).exponential(Rounded(Window(Decimal(exponent), Decimal(exponent)), short=True), base)
    truth = base**exponent
    assert F(power.span.low) <= truth <= F(power.span.high)
    ends = (truth * 10**places).denominator == 1
    assert power.short == ends
    assert not ends or F(power.span.low) == truth == F(power.span.high)


@given(st.decimals(-50, 50, allow_nan=False, places=6), st.integers(1, 4))
def test_what_is_claimed_rounds_to_one_place_fewer(x, places):
    """The decimal module rounds a number to the value's last place but one exactly where it is claimed."""
    short = Decimal(1).scaleb(-places + 1)
    value = x.quantize(short)
    w = claimed(F(value), F(1, 10**places))
    assert (F(w.low), F(w.high)) == (F(value) - F(short) / 2, F(value) + F(short) / 2)
    assert F(x) in w
