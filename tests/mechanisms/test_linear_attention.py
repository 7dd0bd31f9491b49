"""Linear attention: right to left, token by token, and as the quadratic form that it is equal to."""

from fractions import Fraction

import pytest

from symattn.api import worksheet


@pytest.mark.slow
def test_random_worksheets_have_one_token_with_powers_of_e():
    for sheet in worksheet("linear_attention", n=3, seed=7):
        rational = [all(isinstance(x, int | Fraction) for x in row) for row in sheet.problem["Z"].result.rows]
        assert rational.count(False) == 1
    for sheet in worksheet("linear_attention", n=2, seed=7, feature="relu", mask="causal"):
        assert all(isinstance(x, int | Fraction) for x in sheet.problem["Z"].result)
