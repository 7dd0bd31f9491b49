"""Variant G1 of the pedagogy notes: every value written out there, built again in SymPy."""

import oracles
import pytest
from sympy import Matrix, Rational, exp

from symattn.derivation.mechanisms import Settings, mechanism

GIVENS = {
    "X": [[0, 1, -1, -1, -1], [1, 1, 1, 1, 1], [0, 1, 1, -1, -1]],
    "W_Q": [[0, -1, -1, -1], [0, 1, -1, -1], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, -1, 0]],
    "W_K": [[-1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0], [-1, 1, -1, 0], [-1, -1, 0, 1]],
    "W_V": [[0, 1], [1, -1], [-1, 2], [-1, 2], [0, 2]],
}
INTEGERS = {
    "Q": [[0, 0, -1, -2], [0, 1, -2, -1], [0, 2, 1, -2]],
    "K": [[1, 1, 0, -1], [-2, 2, 0, 2], [3, 1, 2, -1]],
    "V": [[3, -7], [-1, 6], [1, -3]],
    "S": [[2, -4, 0], [2, 0, -2], [4, 0, 6]],
    "S'": [[1, -2, 0], [1, 0, -1], [2, 0, 3]],
}
E1, E2, E3 = exp(1), exp(2), exp(3)
THREE = E3 + E2 + 1
WEIGHTS = Matrix(
    [
        [E3 / THREE, 1 / THREE, E2 / THREE],
        [E2 / (E2 + E1 + 1), E1 / (E2 + E1 + 1), 1 / (E2 + E1 + 1)],
        [E2 / THREE, 1 / THREE, E3 / THREE],
    ]
)
PRINTED = {
    None: (("2.3405", "-5.5055"), ("1.8410", "-3.4584"), ("1.4488", "-3.7219")),
    "causal": (("3.0000", "-7.0000"), ("1.9242", "-3.5038"), ("1.4488", "-3.7219")),
}


def worked_out(**settings):
    return mechanism("self_attention").run(GIVENS, Settings.read(settings))


@pytest.mark.parametrize("name", INTEGERS)
def test_up_to_the_scores_everything_is_an_integer(name):
    assert worked_out().value(name).sympy() == Matrix(INTEGERS[name])


def test_the_weights_are_the_quotients_of_powers_of_e():
    assert oracles.same_matrix(worked_out().value("A").sympy(), WEIGHTS)


@pytest.mark.parametrize("by", ["matrix", "token"])
@pytest.mark.parametrize("mask", PRINTED)
def test_the_output_to_four_places(mask, by):
    assert worked_out(mask=mask, by=by).value("Z").decimals(4) == PRINTED[mask]


def test_the_causal_weights():
    found = worked_out(mask="causal").value("A").sympy()
    second = [E1 / (E1 + 1), 1 / (E1 + 1), 0]
    right = Matrix([[1, 0, 0], second, list(WEIGHTS.row(2))])
    assert oracles.same_matrix(found, right)


def test_with_base_2_everything_is_rational():
    found = worked_out(base=2)
    weights = [[8, 1, 4], [4, 2, 1], [4, 1, 8]]
    right = Matrix([[Rational(x, sum(row)) for x in row] for row in weights])
    assert found.value("A").sympy() == right
    assert found.value("Z").sympy().row(0) == Matrix([[Rational(27, 13), Rational(-62, 13)]])


def test_leaving_out_the_scale_or_taking_another_divisor_gives_the_values_of_its_own():
    # rows C1, C2, C3, C5, C9 of the same table
    printed = {
        "none": "2.7534 -6.4959 2.4990 -5.4115 1.2335 -3.4562",
        "d_k": "1.8492 -4.0886 1.3986 -2.2612 1.4191 -3.2284",
        "sqrt(d_model)": "2.2614 -5.2915 1.7502 -3.2033 1.4610 -3.6907",
        "sqrt(n)": "2.4389 -5.7615 1.9683 -3.8227 1.4216 -3.7270",
        "sqrt(d_v)": "2.5676 -6.0781 2.1624 -4.3914 1.3638 -3.6705",
    }
    for scale, figures in printed.items():
        output = worked_out(scale=scale).value("Z").decimals(4)
        assert " ".join(x for row in output for x in row) == figures, scale
