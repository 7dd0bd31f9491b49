"""What holds between mechanisms for any numbers: two ways to one result, and what changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul, Transpose
from symattn.derivation.ops.position import Degrees, Rotate, Sinusoids
from symattn.derivation.ops.scores import FeatureMap, Hardmax, OverSum
from symattn.errors import UndefinedError
from symattn.exact import Matrix, decide

whole = st.integers(-2, 2)


def matrix(rows, columns, entries=whole):
    return st.lists(st.lists(entries, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


def run(name, given, **settings):
    return mechanism(name).run(given, Settings.read({**mechanism(name).defaults, **settings}))


def same(one, other):
    return one.shape == other.shape and all(decide(x, y).equal for x, y in zip(one, other, strict=True))


projections = st.fixed_dictionaries(
    {"X": matrix(3, 2), "W_Q": matrix(2, 4), "W_K": matrix(2, 4), "W_V": matrix(2, 4), "b_V": matrix(1, 4)}
)


@given(projections, st.permutations(range(3)))
def test_tokens_in_another_order_give_their_outputs_in_that_order(given, order):
    outputs = run("multi_head_attention", given, heads=2).value("C")
    moved = run("multi_head_attention", {**given, "X": [given["X"][i] for i in order]}, heads=2).value("C")
    assert moved == Matrix.of(outputs.rows[i] for i in order)


@given(matrix(3, 2), matrix(3, 2), matrix(3, 2), st.sampled_from(["elu+1", "square", "relu"]))
def test_linear_attention_from_the_right_is_from_the_left(q, k, v, feature):
    """φ(Q) (φ(K)ᵀ V) over φ(Q) Σ φ(k) is φ(Q) φ(K)ᵀ, every row over its sum, times V: exactly."""
    given, phi = {"Q": q, "K": k, "V": v}, FeatureMap(feature)
    similar = MatMul().apply(phi.apply(Matrix(q)), Transpose().apply(phi.apply(Matrix(k))))
    try:
        quadratic = MatMul().apply(OverSum().apply(similar), Matrix(v))
    except UndefinedError:
        with pytest.raises(UndefinedError, match="divided by 0"):
            run("linear_attention", given, feature=feature)
        return
    assert run("linear_attention", given, feature=feature).value("Z") == quadratic


@given(matrix(3, 2), matrix(3, 2), matrix(3, 2))
def test_what_comes_later_changes_nothing_before(q, k, v):
    for name in ("linear_attention", "attention"):
        outputs = run(name, {"Q": q, "K": k, "V": v}, mask="causal").value("Z")
        first = run(name, {"Q": q[:2], "K": k[:2], "V": v[:2]}, mask="causal").value("Z")
        assert outputs.rows[:2] == first.rows


angles = st.lists(st.sampled_from([0, 30, 45, 60, 90, 120, 135, 180, -90]).map(Degrees), min_size=2, max_size=2)
layouts = st.sampled_from(["pairs", "halves"])


@given(angles.map(tuple), layouts, matrix(2, 4), st.integers(0, 4), st.integers(0, 4), st.integers(-3, 5))
def test_scores_of_rotated_rows_depend_on_their_distance_alone(turns, layout, rows, i, j, shift):
    def score(i, j):
        a, b = (Rotate(turns, (p,), layout).apply(Matrix([x])) for p, x in zip((i, j), rows, strict=True))
        return sum((x * y for x, y in zip(a, b, strict=True)), 0)

    assert decide(score(i, j), score(i + shift, j + shift)).equal


@given(angles.map(tuple), layouts, st.integers(0, 5), st.integers(0, 4))
def test_a_shift_of_positions_is_a_rotation_of_the_encoding(turns, layout, p, shift):
    """Vaswani et al. 2017, section 3.5: PE(pos + k) is a linear function of PE(pos) that depends on k alone."""
    here, there = (Sinusoids(turns, (at,), layout).apply() for at in (p, p + shift))
    assert same(Rotate(turns, (-shift,), layout).apply(here), there)  # (sin, cos) turns the other way


@given(matrix(2, 3, st.integers(-4, 4)), st.fractions(-3, 3, max_denominator=4), st.integers(1, 5))
def test_a_shift_changes_no_softmax_and_a_factor_no_share_of_the_sum(scores, shift, factor):
    for op in (Softmax(), Softmax(base=2), Hardmax()):
        assert op.apply(Matrix(scores)) == op.apply(Matrix([[x + shift for x in row] for row in scores]))
    if all(map(sum, scores)):
        assert OverSum().apply(Matrix(scores)) == OverSum().apply(Matrix([[factor * x for x in row] for row in scores]))
