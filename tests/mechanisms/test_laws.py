"""What holds between mechanisms for any numbers: two ways to one result, and what changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops import FeatureMap, Hardmax, MatMul, OverSum, Rotate, Sinusoids, Softmax, Transpose
from symattn.derivation.ops.position import Degrees
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


@given(projections, st.sampled_from(["e", 2]))
def test_a_cache_gives_what_one_causal_pass_gives(given, base):
    at_once = run("causal_self_attention", given, base=base).value("Z")
    assert same(run("kv_cache", given, base=base).value("Z"), at_once)


@given(
    matrix(2, 4), matrix(4, 4), matrix(4, 2), st.integers(1, 5), st.sampled_from([None, [[1, 0, 1, 0], [0, 1, 1, 1]]])
)
def test_block_by_block_the_softmax_is_the_plain_one(q, k, v, tile, mask):
    given = {"Q": q, "K": k, "V": v}
    at_once = run("attention", given, base=2, mask=mask).value("Z")
    assert same(run("online_softmax", given, tile=tile, base=2, mask=mask).value("Z"), at_once)


@given(projections, st.sampled_from(["consecutive", "interleaved"]), st.sampled_from([None, "causal"]))
def test_a_head_is_attention_of_its_own_columns(given, split, mask):
    together = run("multi_head_attention", given, heads=2, split=split, mask=mask)
    for head in (0, 1):
        columns = slice(2 * head, 2 * head + 2) if split == "consecutive" else slice(head, None, 2)
        own = {name: [row[columns] if name != "X" else row for row in rows] for name, rows in given.items()}
        assert together.value(f"Z_{head + 1}") == run("self_attention", own, mask=mask).value("Z")


@given(projections, st.permutations(range(3)))
def test_tokens_in_another_order_give_their_outputs_in_that_order(given, order):
    outputs = run("multi_head_attention", given, heads=2).value("C")
    moved = run("multi_head_attention", {**given, "X": [given["X"][i] for i in order]}, heads=2).value("C")
    assert moved == Matrix.of(outputs.rows[i] for i in order)


@given(projections, st.sampled_from([2, 1]))
def test_shared_keys_and_values_are_the_same_ones_twice(given, width):
    shared = {name: [row[: width * 2] for row in rows] for name, rows in given.items() if name in ("W_K", "W_V", "b_V")}
    twice = {name: [row + row for row in rows] for name, rows in shared.items()}
    queries = {"X": given["X"], "W_Q": [(row + row)[: 4 * width] for row in given["W_Q"]]}
    one = run("multi_head_attention", {**queries, **shared}, heads=2, kv_heads=1)
    assert one.value("C") == run("multi_head_attention", {**queries, **twice}, heads=2).value("C")


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
