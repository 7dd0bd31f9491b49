"""Positions: sinusoids and rotations against mpmath and NumPy, and the laws they obey exactly."""

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from witnesses import turned

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops.position import Direction, Rotate
from symattn.exact import Matrix, decide, exact
from symattn.exact.intervals import enclose
from symattn.exact.reading import read, typed
from symattn.teaching.explanation.parts import conventions, wording_of

# ------------------------------------------------------------------------------------------------ exact


points = st.tuples(st.integers(1, 6), st.integers(-6, 6)).map(  # every rational point but (−1, 0)
    lambda t: Direction(
        Fraction(t[0] ** 2 - t[1] ** 2, t[0] ** 2 + t[1] ** 2), Fraction(2 * t[0] * t[1], t[0] ** 2 + t[1] ** 2)
    )
)
layouts = st.sampled_from(["pairs", "halves"])
vectors = st.lists(st.integers(-3, 3), min_size=4, max_size=4)


@given(angles=st.tuples(points, points), layout=layouts, x=vectors, p=st.integers(-4, 6))
def test_turning_keeps_lengths_and_is_a_product_with_its_matrix(angles, layout, x, p):
    op = Rotate(angles, (p,), layout)
    result = list(op.apply(Matrix([x])))
    assert sum(y * y for y in result) == sum(y * y for y in x)
    matrix = op.matrix(p).sympy()
    assert sympy.Matrix([x]) * matrix == sympy.Matrix([[sympy.Rational(y.numerator, y.denominator) for y in result]])
    assert matrix * matrix.T == sympy.eye(4)


@given(st.fractions(-(10**6), 10**6, max_denominator=10**4), st.sampled_from([6, 25, 60]))
def test_sines_and_cosines_are_enclosed(x, digits):
    for wave, witness in ((sympy.sin, mpmath.sin), (sympy.cos, mpmath.cos)):
        value = exact(wave(sympy.Rational(x.numerator, x.denominator)))
        with mpmath.workdps(digits + 40):
            truth = Fraction(str(witness(mpmath.mpf(x.numerator) / x.denominator)))
        low, high = map(Fraction, enclose(value, digits))
        slack = Fraction(1, 10 ** (digits + 20))  # of the witness
        assert low - slack <= truth <= high + slack
        assert high - low <= (abs(x) + 1) * Fraction(1, 10 ** (digits - 2))


def test_conventions_say_which_positions_and_angles():
    given = {"Q": [[1, 2]], "K": [[1, 1]], "V": [[3]]}
    problem = derive("rotary_attention", **given, angles="3/5+4/5i", first_position=1).problem
    said = str(conventions(problem, wording_of(problem)))
    assert "The positions are" in said
    assert "Neighbouring features form pairs" in said
    assert "The angles are" in said


def test_sines_can_be_typed():
    assert read("2 + sin(1/100)").value == 2 + sympy.sin(sympy.Rational(1, 100))
    value = exact(3 - sympy.cos(2) / 2)
    assert decide(read(typed(value)).value, value).equal
    assert read("\\cos(0)").value == 1


@pytest.mark.parametrize("seed", range(2))
def test_random_numbers_come_out_well(seed):
    """Whole rotated queries and scores, rows of scores that differ, weights that are neither even nor saturated."""
    chosen = mechanism("rotary_attention")
    drawn = chosen.draw(Settings.read({**chosen.defaults, **chosen.drawn}), chosen.default_sizes, random.Random(seed))
    q, k = (np.array(drawn[name].rows, dtype=float) for name in "QK")
    right = {"position": "rotary", "angles": "90"}
    scores = turned(q, right) @ turned(k, right).T / 2
    np.testing.assert_allclose(scores, np.round(scores), rtol=0, atol=1e-12)
    scores = np.round(scores)
    assert len({tuple(row) for row in scores.tolist()}) == 3
    assert all(len(set(row)) == 3 and max(row) - min(row) <= 3 for row in scores.tolist())
