"""Linear attention: right to left, token by token, and as the quadratic form that it is equal to."""

import random
from fractions import Fraction

import numpy as np
import oracles
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.api import derive, worksheet
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops import FeatureMap, MatMul, OverSum, Transpose
from symattn.errors import InputError, UndefinedError
from symattn.exact import Matrix
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness import self_check

MAPS = {
    "elu+1": lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))),
    "relu": lambda x: np.maximum(x, 0),
    "square": np.square,
    "identity": lambda x: x,
}
Q, K, V = [[1, 2], [0, 1], [2, -1]], [[1, 0], [-1, 1], [1, 1]], [[1, 2], [0, 3], [4, -1]]


def numbers(rng: random.Random, rows: int, columns: int) -> list[list[int]]:
    return [[int(rng.random() * 6) - 2 for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("seed", range(60))
def test_random_problems_as_numpy_has_them_left_to_right(seed):
    rng = random.Random(f"linear {seed}")
    feature = list(MAPS)[seed % 4]
    causal, columns = seed % 3 == 0, seed % 5 < 2
    n = 1 + int(rng.random() * 3)
    m, d_k, d_v = n if causal else 1 + int(rng.random() * 3), 1 + int(rng.random() * 3), 1 + int(rng.random() * 3)
    given = {"Q": numbers(rng, n, d_k), "K": numbers(rng, m, d_k), "V": numbers(rng, m, d_v)}
    q, k, v = (np.array(rows, dtype=float) for rows in given.values())
    similar = MAPS[feature](q) @ MAPS[feature](k).T
    similar = np.tril(similar) if causal else similar
    totals = similar.sum(axis=1, keepdims=True)
    settings = {"feature": feature, "mask": "causal" if causal else "none", "scale": "none"}
    if columns:
        given = {name: [list(c) for c in zip(*rows, strict=True)] for name, rows in given.items()}
        settings["orientation"] = "columns"
    if (totals == 0).any():
        with pytest.raises(UndefinedError, match="Step 'Z"):
            mechanism("linear_attention").run(given, Settings.read(settings))
        return
    d = mechanism("linear_attention").run(given, Settings.read(settings))
    self_check(d)
    found = oracles.floats(d["Z"].result)
    np.testing.assert_allclose(found.T if columns else found, similar / totals @ v, rtol=1e-10, atol=1e-10)


small = st.lists(st.lists(st.integers(-2, 3), min_size=2, max_size=2), min_size=3, max_size=3)


@given(small, small, small, st.sampled_from(["elu+1", "square", "relu"]))
def test_right_to_left_equals_left_to_right(q, k, v, feature):
    """φ(Q) (φ(K)ᵀ V) over φ(Q) Σ φ(k) is φ(Q) φ(K)ᵀ, every row over its sum, times V: exactly."""
    phi = FeatureMap(feature)
    similar = MatMul().apply(phi.apply(Matrix(q)), Transpose().apply(phi.apply(Matrix(k))))
    try:
        quadratic = MatMul().apply(OverSum().apply(similar), Matrix(v))
    except UndefinedError:
        with pytest.raises(UndefinedError, match="divided by 0"):
            derive("linear_attention", Q=q, K=k, V=v, feature=feature)
        return
    assert derive("linear_attention", Q=q, K=k, V=v, feature=feature)["Z"].result == quadratic


@given(small, small, small)
def test_the_last_token_of_the_causal_form_sees_everything(q, k, v):
    causal, full = (derive("linear_attention", Q=q, K=k, V=v, mask=mask) for mask in ("causal", "none"))
    assert causal["Z"].result.row(2) == full["Z"].result.row(2)
    assert causal["state.3"].result == full["KV"].result
    assert causal["k_state.3"].result == full["k_sum"].result


@given(small, small, small)
def test_what_comes_later_changes_nothing_that_was_before(q, k, v):
    whole = derive("linear_attention", Q=q, K=k, V=v, mask="causal")["Z"].result
    first = derive("linear_attention", Q=q[:2], K=k[:2], V=v[:2], mask="causal")["Z"].result
    assert whole.rows[:2] == first.rows


@pytest.mark.parametrize("order", [(1, 2, 0), (2, 1, 0)])
def test_keys_may_stand_in_any_order(order):
    moved = {"K": [K[i] for i in order], "V": [V[i] for i in order]}
    one, other = derive("linear_attention", Q=Q, K=K, V=V), derive("linear_attention", Q=Q, **moved)
    assert one["Z"].result == other["Z"].result


def test_elu_and_one_by_hand():
    d = derive("linear_attention", Q=[[1, -1]], K=[[0, 2], [1, 0]], V=[[1], [3]])
    e = sympy.E
    assert d["phi_Q"].result.sympy() == sympy.Matrix([[2, 1 / e]])
    assert d["phi_K"].result.sympy() == sympy.Matrix([[1, 3], [2, 1]])
    assert d["KV"].result.sympy() == sympy.Matrix([[7], [6]])
    assert d["k_sum"].result.sympy() == sympy.Matrix([[3, 4]])
    assert oracles.same(d["Z"].result.sympy()[0, 0], (14 + 6 / e) / (6 + 4 / e))


@pytest.mark.parametrize("feature", MAPS)
@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_what_is_written_out_is_what_comes_of_it(feature, mask, orientation):
    given = {"Q": Q, "K": [[1, 1], [2, 1], [1, 3]], "V": V}
    if orientation == "columns":
        given = {name: [list(c) for c in zip(*rows, strict=True)] for name, rows in given.items()}
    d = derive("linear_attention", **given, feature=feature, mask=mask, orientation=orientation)
    wording = Wording(d.derivation, load_notation("standard"))
    for step in d.steps:
        table = step.result.sympy()
        for i, j in np.ndindex(*step.result.shape):
            assert oracles.same(oracles.evaluated(wording.working(step, i, j), no_names), table[i, j], 25)
    assert d.worksheet().key


def no_names(name, bound):
    raise LookupError(name)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mask": "padding:2"}, "without a mask, or causal"),
        ({"mask": "causal", "K": K[:2], "V": V[:2]}, "3 queries and 2 keys"),
        ({"scale": "sqrt(d_k)"}, "no scores"),
        ({"feature": "softplus"}, "elu\\+1"),
        ({"cap": 2}, "no setting 'cap'"),
    ],
)
def test_what_it_has_not_is_named(settings, said):
    with pytest.raises(InputError, match=said):
        derive("linear_attention", **{"Q": Q, "K": K, "V": V, **settings})


@pytest.mark.parametrize("feature", ["relu", "square", "identity"])
def test_letters(feature):
    sizes = {"n": 1, "m": 2, "d_k": 1, "d_v": 1}
    z = derive("linear_attention", symbolic=True, sizes=sizes, feature=feature).derivation.expanded()["Z"]
    found = z.result.sympy()[0, 0]
    point = {x: {"q_{11}": 2, "k_{11}": 1, "k_{21}": 3, "v_{11}": 5, "v_{21}": -1}[x.name] for x in found.free_symbols}
    similar = [float(MAPS[feature](np.array(2.0)) * MAPS[feature](np.array(k))) for k in (1.0, 3.0)]
    assert float(found.subs(point)) == pytest.approx((5 * similar[0] - similar[1]) / sum(similar))


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
