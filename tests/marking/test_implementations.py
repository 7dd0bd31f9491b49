"""Somebody's own attention beside a derivation: wrong ones are named, right ones in any style are never accused."""

import math
import sys
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from commands import python
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside
from trials import tries

from symattn import compare, derive, trace
from symattn.testing import assert_attention

GIVEN = tables_beside(__file__)
Q, K, V = (GIVEN["plain"][name] for name in "QKV")


@cache
def plain():
    return derive("attention", **GIVEN["plain"])


@cache
def causal():
    return derive("attention", mask="causal", **GIVEN["plain"])


@cache
def heads():
    return derive("multi_head_attention", heads=2, **GIVEN["heads"])


def softmax(s, axis=-1):
    powers = np.exp(s - s.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def scaled(q, k):
    return q @ k.T / np.sqrt(k.shape[1])


TRIANGLE = np.tril(np.ones((3, 3), dtype=bool))


# ------------------------------------------------------------------------------------------------ wrong ones


def wrong_axis(q, k, v):
    return softmax(scaled(q, k), 0) @ v


def unscaled(q, k, v):
    scores = q @ k.T
    return softmax(scores) @ v


def scaled_after(q, k, v):
    return softmax(q @ k.T) / np.sqrt(k.shape[1]) @ v


def queries_and_keys_swapped(q, k, v):
    return softmax(k @ q.T / np.sqrt(k.shape[1])) @ v


def weights_transposed(q, k, v):
    weights = softmax(scaled(q, k))
    return weights.T @ v


def softmax_twice(q, k, v):
    return softmax(softmax(scaled(q, k))) @ v


def not_normalised(q, k, v):
    return np.exp(scaled(q, k)) @ v


def log_softmax(q, k, v):
    return np.log(softmax(scaled(q, k))) @ v


def unmasked(q, k, v):
    return softmax(scaled(q, k)) @ v


def masked_with_zero(q, k, v):
    return softmax(scaled(q, k) * TRIANGLE) @ v


def masked_the_wrong_way_round(q, k, v):
    return softmax(np.where(TRIANGLE, -1e9, scaled(q, k))) @ v


def sees_the_next(q, k, v):
    seen = np.tril(np.ones((3, 3)), 1) > 0
    return softmax(np.where(seen, scaled(q, k), -1e9)) @ v


def in_heads(x, w_q, w_k, w_v, w_o, split=None, join=None):
    """Two heads in NumPy; what differs is said by the caller."""
    split = split or (lambda m: m.reshape(3, 2, 2).transpose(1, 0, 2))
    join = join or (lambda m: m.transpose(1, 0, 2).reshape(3, 4))
    q, k, v = (split(x @ w) for w in (w_q, w_k, w_v))
    return join(softmax(q @ k.transpose(0, 2, 1) / np.sqrt(2)) @ v) @ w_o


def viewed_as_heads(x, w_q, w_k, w_v, w_o):
    return in_heads(x, w_q, w_k, w_v, w_o, split=lambda m: m.reshape(2, 3, 2))


def joined_without_transposing(x, w_q, w_k, w_v, w_o):
    return in_heads(x, w_q, w_k, w_v, w_o, join=lambda m: m.reshape(3, 4))


def without_output_weights(x, w_q, w_k, w_v, w_o):
    return in_heads(x, w_q, w_k, w_v, np.eye(4, dtype=x.dtype))


WRONG = [
    (wrong_axis, plain, "A", "X1"),
    (unscaled, plain, "S'", "C1"),
    (scaled_after, plain, "S'", "C8"),
    (queries_and_keys_swapped, plain, "S", "T2"),
    (weights_transposed, plain, "Z", "O1"),
    (softmax_twice, plain, "A", "X7"),
    (not_normalised, plain, "A", "X6"),
    (log_softmax, plain, "A", "I1"),
    (unmasked, causal, "M", "M1"),
    (masked_with_zero, causal, "M", "M4"),
    (masked_the_wrong_way_round, causal, "M", "I5"),
    (sees_the_next, causal, "M", "M6"),
    (viewed_as_heads, heads, "Q_1", "H1"),
    (joined_without_transposing, heads, "C", "H2"),
    (without_output_weights, heads, "O", "H4"),
]


@pytest.mark.covering(most=3)
@pytest.mark.parametrize(("function", "derivation", "step", "id"), WRONG)
def test_what_is_wrong_is_named(function, derivation, step, id):
    found = trace(function, derivation(), precision="float16" if id in ("C1", "X1", "M1", "H4") else "float64")
    assert not found.right
    assert (found.first, found.named) == (step, (id,))
    assert id in str(found)


def test_two_mistakes_are_both_named():
    def both(q, k, v):
        scores = q @ k.T
        weights = softmax(scores, 0)
        return weights @ v

    found = trace(both, plain())
    assert [(one.step, one.misconceptions[0].id) for one in found.departures] == [("S'", "C1"), ("A", "X1")]


def test_what_follows_is_not_blamed_again():
    d = plain()
    scores = np.array(Q) @ np.array(K).T / 2
    weights = softmax(scores, 0)
    found = compare(d, {"S'": scores, "A": weights, "Z": weights @ np.array(V)})
    assert {line.step: line.status for line in found.lines} == {
        "S": "not seen", "S'": "right", "A": "departs", "Z": "follows",
    }  # fmt: skip


def test_later_results_decide_between_misconceptions_that_give_one_step_alike():
    """Scores that were not scaled may never be, or after the softmax."""
    scores = np.array(Q) @ np.array(K).T
    for weights, id in [(softmax(scores), "C1"), (softmax(scores) / 2, "C8")]:
        found = compare(plain(), {"S": scores, "S'": scores, "A": weights, "Z": weights @ np.array(V)})
        assert [(one.step, [m.id for m in one.misconceptions]) for one in found.departures] == [("S'", [id])]
        assert {line.step: line.status for line in found.lines}["Z"] == "follows"


def test_what_nothing_explains_departs_without_a_name():
    weights = [[0.5, 0.25, 0.25], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]]
    found = compare(plain(), {"A": weights})
    assert (found.first, found.named) == ("A", ())
    assert "or a step before it that was not seen" in str(found)
    found = compare(plain(), {"S": plain()["S"].result, "S'": plain()["S'"].result, "A": weights})
    assert (found.first, found.named) == ("A", ())
    assert "No misconception in the catalogue explains this result." in str(found)


# ------------------------------------------------------------------------------------------------ right ones


def scaled_first(q, k, v):
    q = q / np.sqrt(np.sqrt(k.shape[1]))
    k = k / np.sqrt(np.sqrt(k.shape[1]))
    return softmax(q @ k.T) @ v


def divided_at_the_end(q, k, v):
    powers = np.exp(scaled(q, k))
    return powers @ v / powers.sum(axis=1, keepdims=True)


def in_tiles(q, k, v):
    """FlashAttention's way: running maxima and sums, a key at a time."""
    out = np.zeros((len(q), v.shape[1]), dtype=q.dtype)
    top, total = np.full((len(q), 1), -np.inf, dtype=q.dtype), np.zeros((len(q), 1), dtype=q.dtype)
    for j in range(len(k)):
        scores = (q @ k[j : j + 1].T / np.sqrt(k.shape[1])).astype(q.dtype)
        above = np.maximum(top, scores)
        power, rescaled = np.exp(scores - above), np.exp(top - above)
        out, total, top = out * rescaled + power @ v[j : j + 1], total * rescaled + power, above
    return out / total


def backwards(q, k, v):
    """Sums in the opposite order."""
    s = (q[:, ::-1] @ k[:, ::-1].T) * (1 / np.sqrt(k.shape[1]))
    return softmax(s)[:, ::-1] @ v[::-1]


def powers_of_two(q, k, v):
    s = q @ k.T * np.asarray(math.log2(math.e) / math.sqrt(k.shape[1]), dtype=q.dtype)
    power = np.exp2(s - s.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True) @ v


def in_place(q, k, v):
    s = q @ k.T
    s /= np.asarray(np.sqrt(k.shape[1]), dtype=s.dtype)
    s -= s.max(axis=1, keepdims=True)
    np.exp(s, out=s)
    s /= s.sum(axis=1, keepdims=True)
    return s @ v


RIGHT = [scaled_first, divided_at_the_end, in_tiles, backwards, powers_of_two, in_place]


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("precision", ["float16", "float32", "float64"])
@pytest.mark.parametrize("function", RIGHT)
def test_who_is_right_is_not_accused(function, precision):
    found = trace(function, plain(), precision=precision)
    assert found.right
    assert all(line.status in ("right", "not seen") for line in found.lines)


class Card(np.ndarray):
    """Multiplied as graphics cards multiply in TF32: of each factor eleven digits are left."""

    keep, most = staticmethod(np.trunc), 2.0**11

    def __matmul__(self, other):
        return (self.short(self) @ self.short(other)).view(type(self))

    def __rmatmul__(self, other):
        return (self.short(other) @ self.short(self)).view(type(self))

    @classmethod
    def short(cls, x):
        x = np.asarray(x)
        digits, exponent = np.frexp(x)
        return np.ldexp(cls.keep(digits * cls.most) / cls.most, exponent).astype(x.dtype)


class RoundingCard(Card):
    """The nearest number of eleven digits, in place of the next towards 0."""

    keep = staticmethod(np.rint)


class BfloatCard(RoundingCard):
    """bfloat16 factors with float32 results, as TPUs multiply."""

    most = 2.0**8


def on_a_card(function, card):
    return lambda q, k, v: function(q.view(card), k.view(card), v.view(card))


thirds = st.integers(-30, 30).map(lambda n: f"{n}/3")
SHORT = [(Card, "tf32", None), (RoundingCard, "tf32", None), (BfloatCard, "bfloat16", "float32")]


@tries(6)
@given(st.data(), st.integers(1, 4), st.integers(1, 6), st.sampled_from(RIGHT), st.sampled_from(SHORT))
def test_right_programs_with_short_factors_are_not_accused(data, n, width, function, short):
    card, precision, dtype = short
    q, k, v = (
        data.draw(st.lists(st.lists(thirds, min_size=width, max_size=width), min_size=n, max_size=n)) for _ in "qkv"
    )
    d = derive("attention", Q=q, K=k, V=v)
    assert trace(on_a_card(function, card), d, precision=precision, **({"dtype": dtype} if dtype else {})).right


def test_short_factors_are_long_enough_for_mistakes():
    for wrong, card, precision, dtype in zip(WRONG[:3], *zip(*SHORT, strict=True), strict=True):
        function, derivation, step, id = wrong
        more = {"dtype": dtype} if dtype else {}
        found = trace(on_a_card(function, card), derivation(), precision=precision, **more)
        assert (found.first, found.named) == (step, (id,))


def test_sums_that_cancel_are_as_near_as_their_terms():
    """(1/3 + 1/7 − 1/3)·3 is 3/7 but for what the thirds were rounded to, whichever are added first."""
    thirds = [["1/3", "1/7", "-1/3", "100/3", "-100/3"]]
    d = derive("attention", Q=thirds, K=[[3, 3, 3, 1, 1], [1, 0, 1, 3, 3]], V=[[1], [2]], scale="none")
    for order in ([0, 1, 2, 3, 4], [3, 0, 4, 1, 2], [3, 1, 0, 2, 4]):

        def attention(q, k, v, order=order):
            scores = np.zeros((1, 2), dtype=q.dtype)
            for c in order:
                scores = scores + q[:, c : c + 1] * k[:, c : c + 1].T
            return {"S": scores, "Z": softmax(scores) @ v}

        for precision in ("float16", "float32", "float64"):
            assert trace(attention, d, precision=precision).right


def test_small_terms_that_are_lost_one_after_the_other_are_no_mistake():
    """2048 + 1 is 2048 in float16, so that 2048 + 1 + … + 1 − 2048 comes to 0 there, and to 8 in truth."""
    d = derive("attention", Q=[[2048, *[1] * 8, -2048]], K=[[1] * 10], V=[[1]], scale="none")

    def attention(q, k, v):
        scores = np.zeros((1, 1), dtype=q.dtype)
        for c in range(10):
            scores = scores + q[:, c : c + 1] * k[:, c : c + 1].T
        return {"S": scores, "Z": softmax(scores) @ v}

    assert trace(attention, d, precision="float16").right


def test_lists_without_any_library():
    def attention(queries, keys, values):
        out = []
        for query in queries:
            powers = [math.exp(sum(map(lambda a, b: a * b, query, key)) / 2) for key in keys]
            out.append([sum(p * v[c] for p, v in zip(powers, values, strict=True)) / sum(powers) for c in (0, 1)])
        return out

    assert trace(attention, plain(), library="python").right


def test_rounded_numbers_are_no_machine_numbers():
    """Six places are not what float64 comes to, but float16 may."""
    z = np.round(np.asarray(plain().output, dtype=float), 6)
    assert not compare(plain(), z).right
    assert compare(plain(), z, precision="float16").right


@pytest.mark.parametrize(
    ("epsilon", "named"), [(0, None), (1e-5, Fraction(1, 10**5)), (1e-6, Fraction(1, 10**6)), (0.5, None)]
)
def test_another_epsilon_under_the_root_is_told(epsilon, named):
    """As PyTorch and Flax have it; 1/2 is nobody's.  The rows have variances of 5 and 11/4."""
    d = derive("layer_norm", X=[[3, -3, 1, -1], [2, 0, 0, 4]])

    def normed(x):
        x = np.asarray(x, dtype=float)
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon)

    found = trace(normed, d)
    assert found.right is (epsilon == 0)
    assert found.epsilon == named
    assert ("is right with ε = 1e-0" in str(found)) is (named is not None)
    assert "precision=" not in str(found)


# ------------------------------------------------------------------------------------------------ arrays of all kinds


def test_heads_one_after_the_other_or_side_by_side():
    d = heads()
    x, w_q = (np.array(GIVEN["heads"][name]) for name in ("X", "W_Q"))
    both = (x @ w_q).reshape(3, 2, 2)
    stacked = np.stack([np.asarray(d[f"A_{head}"].result, dtype=float) for head in (1, 2)])
    assert compare(d, {"Q": x @ w_q, "A": stacked}).right
    assert compare(d, {"S": stacked}).first == "S_1"
    assert both.shape == (3, 2, 2)


def test_shapes_are_told():
    found = compare(plain(), {"Z": np.zeros((4, 2))})
    assert "4×2" in str(found)
    assert "3×2" in str(found)
    turned = compare(plain(), {"Z": np.asarray(plain().output, dtype=float).T})
    assert "transposed" in str(turned)


def test_what_is_no_number_is_told():
    assert "nan" in str(compare(plain(), np.full((3, 2), np.nan)))


def test_notebooks_show_a_report():
    found = trace(unscaled, plain())
    assert "<table" in found._repr_html_()
    assert "C1" in found._repr_markdown_()
    assert repr(found) == "<wrong from S' on>"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: compare(plain(), {"B": V}), "There is no step 'B'"),
        (lambda: compare(plain(), {"Q": Q}), "Q is given"),
        (lambda: compare(plain(), {"Z": "text"}), "str came"),
        (lambda: compare(plain(), {}), "nothing to compare"),
        (lambda: compare(plain(), V, precision="float8"), "precision is 'float8'"),
        (lambda: compare(derive("attention", symbolic=True), V), "has no numbers"),
        (lambda: compare(V, V), "what derive gives"),
        (lambda: trace(lambda q, k: q, plain()), "takes q, k"),
        (lambda: trace(unscaled, plain(), library="tensorflow"), "library is 'tensorflow'"),
        (lambda: trace(unscaled, plain(), precision="bfloat16"), "NumPy has no bfloat16"),
        (lambda: compare(heads(), {"A": np.zeros((3, 3, 3))}), "2 heads were expected"),
        (lambda: assert_attention(unscaled, mask="seen"), "mask is 'seen'"),
        (lambda: assert_attention(unscaled, batch=3), "batch is 3"),
    ],
)
def test_bad_input_gets_one_sentence(call, says):
    with refused_saying(r"^[^\n]*$") as error:
        call()
    assert says in str(error.value)


@pytest.mark.slow
def test_a_wrong_program_fails_also_where_python_drops_asserts():
    wrong = "from symattn.testing import assert_attention\nassert_attention(lambda q, k, v: q @ k.T @ v)"
    assert "AssertionError: With 3 tokens" in python("-O", "-c", wrong).stderr


def test_a_tracer_that_was_there_is_put_back():
    before = sys.gettrace()
    trace(unscaled, plain(), trusted=True)
    assert sys.gettrace() is before


# ------------------------------------------------------------------------------------------------ in PyTorch


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_pytorch_is_right(precision, torch):
    attention = torch.nn.functional.scaled_dot_product_attention
    assert trace(attention, plain(), library="torch", precision=precision).right
    assert trace(attention, causal(), library="torch", precision=precision, is_causal=True).right
    assert_attention(attention, library="torch", precision=precision, mask="keep", batch=2, stable=True)
    assert_attention(attention, library="torch", precision=precision, mask="additive", batch=1)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_large_scores_in_short_formats_are_not_accused(precision, torch):
    """Scores above a hundred are off by a half in bfloat16, and an output near 0 by more than there is of it."""
    d = derive("attention", Q=[[6, 7, 12]], K=[[11, 8, 9], [12, 7, 9], [10, 9, 9]], V=[[3], [-2], [-1]])
    assert trace(torch.nn.functional.scaled_dot_product_attention, d, library="torch", precision=precision).right
    assert trace(lambda q, k, v: torch.softmax(q @ k.T / 3**0.5, -1) @ v, d, library="torch", precision=precision).right


def test_formats_shorter_than_are_known_are_refused(torch):
    if hasattr(torch, "float8_e4m3fn"):
        with refused_saying("float8_e4m3fn came"):
            compare(plain(), torch.tensor(V, dtype=torch.float32).to(torch.float8_e4m3fn))


def test_pytorch_wrong_ones_are_named(torch):
    functional = torch.nn.functional

    def over_queries(q, k, v):
        return functional.softmax(q @ k.T / k.shape[1] ** 0.5, dim=0) @ v

    def hidden_is_seen(q, k, v):
        mask = torch.tril(torch.ones(3, 3, dtype=torch.bool))
        return functional.softmax((q @ k.T / 2).masked_fill(mask, -1e9), dim=-1) @ v

    for function, d, id in (
        (over_queries, plain(), "X1"),
        (hidden_is_seen, causal(), "I5"),
    ):
        assert trace(function, d, library="torch", precision="float32").named == (id,)
