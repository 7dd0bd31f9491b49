"""Linear attention: right to left, token by token, and as the quadratic form that it is equal to."""

from fractions import Fraction

import oracles
import pytest

from symattn.api import derive, worksheet

Q, K, V = [[1, 2], [0, 1], [2, -1]], [[1, 0], [-1, 1], [1, 1]], [[1, 2], [0, 3], [4, -1]]


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("feature", ["elu+1", "relu", "square", "identity"])
@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_what_is_written_out_is_what_comes_of_it(feature, mask, orientation):
    given = {"Q": Q, "K": [[1, 1], [2, 1], [1, 3]], "V": V}
    given = oracles.turned(given) if orientation == "columns" else given
    d = derive("linear_attention", **given, feature=feature, mask=mask, orientation=orientation)
    assert oracles.is_written_out(d.derivation) == sum(len(list(step.result)) for step in d.steps)
    assert d.worksheet().key


def test_shapes_alone_with_letters_for_sizes():
    d = derive("linear_attention", symbolic=True, sizes={"n": "n", "m": "m", "d_k": "d_k", "d_v": "d_v"})
    assert [step.result.shape for step in d.steps[2:]] == [
        ("d_k", "d_v"), (1, "d_k"), ("n", "d_v"), ("n", 1), ("n", "d_v")
    ]  # fmt: skip
    assert "elu" in d.text()


@pytest.mark.slow
def test_random_worksheets_have_one_token_with_powers_of_e():
    for sheet in worksheet("linear_attention", n=3, seed=7):
        rational = [all(isinstance(x, int | Fraction) for x in row) for row in sheet.problem["Z"].result.rows]
        assert rational.count(False) == 1
    for sheet in worksheet("linear_attention", n=2, seed=7, feature="relu", mask="causal"):
        assert all(isinstance(x, int | Fraction) for x in sheet.problem["Z"].result)
