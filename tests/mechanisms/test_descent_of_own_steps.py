"""One step of gradient descent after steps of one's own: y = xW, z = y + b, and the loss is the sum of z's entries."""

from fractions import Fraction

import pytest
from sentences import refused_saying

from symattn.derivation.mechanisms import custom
from symattn.exact import matrix

GIVEN = {"x": [[1, 2]], "W": [[1, 0], [0, 1]], "b": [[1, 1]]}
STEPS = [{"name": "y", "op": "matmul", "operands": ["x", "W"]}, {"name": "z", "op": "add", "operands": ["y", "b"]}]


def run(**told):
    return custom.run(GIVEN, STEPS, gradients=[{"of": "z", **told}])


def test_weights_and_biases_take_the_step():
    d = run(learning_rate=Fraction(1, 10))
    assert d.value("W^new") == matrix([["9/10", "-1/10"], ["-1/5", "4/5"]])  # by hand: dW = xᵀ[1 1]
    assert d.value("b^new") == matrix([["9/10", "9/10"]])
    assert "x^new" not in d


def test_what_is_named_takes_the_step_and_nothing_else():
    d = run(learning_rate=1, wrt=["x"])
    assert d.value("x^new") == matrix([[0, 1]])  # by hand: dx = [1 1]Wᵀ
    assert "W^new" not in d
    assert "b^new" not in d


def test_without_a_rate_there_is_no_step():
    assert not [step.name for step in run() if step.name.endswith("^new")]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"learning_rate": 0}, "learning_rate is 0; a positive number was expected"),
        ({"rate": 1}, "'rate'; of, wrt and learning_rate are known"),
    ],
)
def test_what_is_wrong_is_said(told, said):
    with refused_saying(said):
        run(**told)
