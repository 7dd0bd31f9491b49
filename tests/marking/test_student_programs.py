"""What students hand in to an autograder: right in odd styles, wrong in classic ways, verdicts decided beforehand."""

import functools

import numpy as np
import pytest
from test_implementations import divided_at_the_end, softmax, unscaled

from symattn.derivation.misconceptions import replayed
from symattn.testing import CASES, MASKED, assert_attention

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


def turned(a):
    return np.swapaxes(a, -1, -2)


def scaled(q, k):
    return q @ turned(k) / np.sqrt(k.shape[-1])


# ------------------------------------------------------------------------------------------------ right ones


def by_einsum(query, key, value, mask=None):
    s = np.einsum("...id,...jd->...ij", query, key) * key.shape[-1] ** -0.5
    return np.einsum("...ij,...jc->...ic", softmax(s if mask is None else np.where(mask, s, -1e9)), value)


def by_keyword_alone(*, query, key, value):
    return softmax(scaled(query, key)) @ value


def keys_first(keys, queries, values):
    return softmax(scaled(queries, keys)) @ values


def mask_last(x, y, z, scale=None, attn_mask=None):
    s = x @ turned(y) * (scale or 1 / np.sqrt(y.shape[-1]))
    return softmax(s if attn_mask is None else np.where(attn_mask, s, -np.inf)) @ z


def masked_in_place(q, k, v, mask):
    s = scaled(q, k)
    s[np.broadcast_to(~mask, s.shape)] = -1e9
    a = softmax(s)
    return a @ v, a


def in_a_dict(q, k, v):
    s = q @ turned(k)
    a = softmax(s / np.sqrt(k.shape[-1]))
    return {"S": s, "A": a, "Z": a @ v}


def one_sequence_after_the_other(q, k, v):
    return [softmax(scaled(one, k[b])) @ v[b] for b, one in enumerate(q)]


def in_half_precision(q, k, v):
    q, k, v = (x.astype(np.float16) for x in (q, k, v))
    return softmax(q @ turned(k) / np.float16(np.sqrt(k.shape[-1]))) @ v


def with_matrices(q, k, v):
    q, k, v = map(np.asmatrix, (q, k, v))
    powers = np.exp(q * k.T / np.sqrt(k.shape[1]))
    return np.multiply(powers, 1 / powers.sum(axis=1)) * v


RIGHT = [
    (by_einsum, {"mask": "keep", "batch": 2, "stable": True}),
    (by_keyword_alone, {"batch": 1}),
    (keys_first, {"batch": 1}),
    (mask_last, {"mask": "keep", "batch": 1}),
    (functools.partial(mask_last, scale=0.5), {}),
    (masked_in_place, {"mask": "keep", "batch": 2}),
    (in_a_dict, {"batch": 2}),
    (one_sequence_after_the_other, {"batch": 1}),
    (in_half_precision, {"batch": 1}),
    (with_matrices, {}),
]


@pytest.mark.covering(most=4)
@pytest.mark.parametrize(("function", "settings"), RIGHT)
def test_right_programs_in_odd_styles_pass(function, settings):
    assert_attention(function, **settings)


# ------------------------------------------------------------------------------------------------ wrong ones


def weights_first(q, k, v):
    a = softmax(scaled(q, k))
    return a, a @ v


def weights_alone(q, k, v):
    return softmax(scaled(q, k))


def over_axis_one(q, k, v):
    return softmax(scaled(q, k), 1) @ v


def keys_reshaped(q, k, v):
    return softmax(q @ k.reshape(k.shape[-1], -1) / np.sqrt(k.shape[-1])) @ v


def scaled_by_the_keys(q, k, v):
    return softmax(q @ k.T / np.sqrt(len(k))) @ v


def keys_as_they_are(q, k, v):
    return softmax(q @ k / np.sqrt(k.shape[-1])) @ v


def masked_with_almost_nothing(q, k, v, mask):
    """-1e-9 for -1e9."""
    return softmax(np.where(mask, scaled(q, k), -1e-9)) @ v


def causal_whatever_the_mask(q, k, v, mask):
    s = scaled(q, k)
    return softmax(np.where(np.tril(np.ones(s.shape)) > 0, s, -np.inf)) @ v


def scores_cut_to_integers(q, k, v):
    return softmax(scaled(q, k).astype(int)) @ v


def nothing_returned(q, k, v):
    softmax(scaled(q, k)) @ v


def queries_spoilt(q, k, v):
    q /= 2.0
    return softmax(q @ k.T) @ v


def mask_spoilt(q, k, v, mask):
    out = softmax(np.where(mask, scaled(q, k), -np.inf)) @ v
    mask[:] = True
    return out


def in_half_precision_and_back(q, k, v):
    return in_half_precision(q, k, v).astype(np.float64)


KEEP = {"mask": "keep"}
WRONG = [
    (weights_first, {}, "Z is right but comes too late"),
    (weights_alone, {}, r"O9 \("),
    (over_axis_one, {"batch": 1}, r"X1 \("),
    (keys_reshaped, {}, r"I6 \("),
    (scaled_by_the_keys, {}, r"I7 \("),
    (masked_with_almost_nothing, KEEP, r"M4 \("),
    (causal_whatever_the_mask, KEEP, "With a mask that hides the last key"),
    (scores_cut_to_integers, {}, "Z is wrong, or a step before it"),
    (nothing_returned, {}, "With 3 tokens: the function returned None"),
    (queries_spoilt, {}, "changed the queries"),
    (mask_spoilt, KEEP, "changed the mask"),
    (unscaled, {}, r"C1 \("),
    (by_einsum, {"mask": "hide"}, "With a causal mask"),
    (divided_at_the_end, {"stable": True}, "nan"),
    (in_half_precision_and_back, {}, 'precision="float16"'),
]


@pytest.mark.parametrize(("function", "settings", "says"), WRONG)
def test_wrong_programs_fail_and_are_told_why(function, settings, says):
    with pytest.raises(AssertionError, match=says):
        assert_attention(function, **settings)


def test_what_raises_says_what_it_was_given():
    with pytest.raises(AssertionError, match=r"(?s)Q 3×4, K 3×4, V 3×2.*raised\s+ValueError: matmul"):
        assert_attention(keys_as_they_are)
    with pytest.raises(ValueError, match="matmul") as error:
        assert_attention(keys_as_they_are, trusted=True)
    assert error.value.__notes__ == ["This came up with 3 tokens: Q 3×4, K 3×4, V 3×2."]


def test_half_precision_passes_where_it_may_be():
    assert_attention(in_half_precision_and_back, precision="float16", dtype="float64")


def test_core_misconceptions_all_change_an_output():
    """One that changes no output of any case would pass."""
    seen = set()
    core = set()
    for case in (*CASES, *MASKED):
        d = case.solution().derivation
        for wrong in replayed(d):
            if wrong.misconception.core:
                core.add(wrong.misconception.id)
                if wrong.stopped or wrong.value("Z") != d.last.result:
                    seen.add(wrong.misconception.id)
    assert core == seen


# ------------------------------------------------------------------------------------------------ in PyTorch


def test_modules_and_gradients_pass(torch):

    class Attention(torch.nn.Module):
        def forward(self, query, key, value, mask=None):
            s = query @ key.transpose(-2, -1) / key.size(-1) ** 0.5
            a = (s if mask is None else s.masked_fill(mask == 0, -1e9)).softmax(-1)
            return a @ value, a

    def with_gradients(q, k, v):
        return torch.softmax(q.clone().requires_grad_() @ k.mT / k.shape[-1] ** 0.5, -1) @ v

    def in_place(q, k, v, mask):
        s = (q @ k.transpose(-2, -1)).div_(k.shape[-1] ** 0.5)
        return s.masked_fill_(~mask, -1e4).softmax(-1) @ v

    assert_attention(Attention(), library="torch", mask="keep", batch=2)
    assert_attention(with_gradients, library="torch", batch=1)
    assert_attention(in_place, library="torch", mask="keep", precision="float16", batch=1)


def test_short_factors_pass_where_they_may_be(torch):
    """bfloat16 factors with float32 results, as graphics cards and TPUs multiply, or written out."""

    def short_factors(q, k, v):
        s = q.bfloat16() @ k.bfloat16().mT
        return (torch.softmax(s.float() / k.shape[-1] ** 0.5, -1).bfloat16() @ v.bfloat16()).float()

    def autocast(q, k, v):
        with torch.autocast("cpu", torch.bfloat16):
            return torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, -1) @ v

    assert_attention(autocast, library="torch", batch=1)  # its results say that they are bfloat16
    for function in (short_factors, lambda q, k, v: autocast(q, k, v).float()):
        assert_attention(function, library="torch", precision="bfloat16", dtype="float32", batch=1)
        with pytest.raises(AssertionError, match="is right to the precision of"):
            assert_attention(function, library="torch")

    def unscaled(q, k, v):
        return torch.softmax((q.bfloat16() @ k.bfloat16().mT).float(), -1) @ v

    with pytest.raises(AssertionError, match=r"C1 \("):
        assert_attention(unscaled, library="torch", precision="bfloat16", dtype="float32")


def test_dropout_fails(torch):

    def attention(q, k, v):
        return torch.nn.functional.dropout(torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, -1), 0.5) @ v

    torch.manual_seed(0)
    with pytest.raises(AssertionError, match="Z is the first step that goes wrong"):
        assert_attention(attention, library="torch")
