"""Attention from Q, K and V with several heads and with keys and values of earlier tokens, there and back: PyTorch."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from autograd import Autograd

from symattn.api import derive
from symattn.derivation.misconceptions import misconceptions
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, Outline
from symattn.exact.approximate import approximate
from symattn.page.writers import FORMATS
from symattn.teaching.fairness import self_check

CASES: list[dict[str, Any]] = [
    {"heads": 2},
    {"heads": 2, "kv_heads": 1, "mask": "causal"},
    {"heads": 4, "kv_heads": 2, "split": "interleaved"},
    {"past": 2},
    {"past": 2, "mask": "causal"},
    {"past": 1, "heads": 2, "mask": "causal", "bias": "alibi:1/2,1/4"},
    {"past": 1, "heads": 2, "kv_heads": 1, "cap": 3},
    {"past": 2, "B": True, "mask": "causal"},
    {"past": 1, "heads": 2, "B": True},
]


def drawn(case: dict[str, Any], rng: Random) -> dict[str, list[list[int]]]:
    """Two queries and keys (three keys without a past), heads of width 1 or 2."""
    h = case.get("heads", 1)
    g = case.get("kv_heads", h)
    d = 4 // h if h > 1 else 3
    n, m = 2, 2 if "past" in case else 3

    def some(rows: int, columns: int) -> list[list[int]]:
        return [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]

    given = {"Q": some(n, h * d), "K": some(m, g * d), "V": some(m, g * 2)}
    if "past" in case:
        given |= {"K_past": some(case["past"], g * d), "V_past": some(case["past"], g * 2)}
    if "B" in case:
        given["B"] = some(n, m + case["past"])
    return {**given, ("dC" if h > 1 else "dZ"): some(n, h * 2)}


def in_pytorch(torch: Any, t: Any, case: dict[str, Any]) -> Any:
    h = case.get("heads", 1)
    g = case.get("kv_heads", h)

    def split(m: Any, count: int) -> Any:
        width = m.shape[1] // count
        if case.get("split") == "interleaved":
            return m.reshape(len(m), width, count).permute(2, 0, 1)
        return m.reshape(len(m), count, width).permute(1, 0, 2)

    keys = torch.cat((t["K_past"], t["K"])) if "past" in case else t["K"]
    values = torch.cat((t["V_past"], t["V"])) if "past" in case else t["V"]
    q, k, v = split(t["Q"], h), split(keys, g), split(values, g)
    k, v = (x.repeat_interleave(h // g, 0) for x in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    n, m = scores.shape[1:]
    if "cap" in case:
        scores = case["cap"] * torch.tanh(scores / case["cap"])
    if "B" in case:
        scores = scores + t["B"]
    ahead = torch.arange(n)[:, None] + (m - n) - torch.arange(m)
    if "bias" in case:
        slopes = torch.tensor([0.5, 0.25], dtype=torch.float64)
        scores = scores - slopes[:, None, None] * ahead.abs()
    if "mask" in case:
        scores = scores.masked_fill(ahead < 0, -torch.inf)
    return torch.cat(tuple(torch.softmax(scores, -1) @ v), 1)


def floats(m: object) -> np.ndarray:
    assert isinstance(m, Matrix)
    return np.array([[approximate(x) for x in row] for row in m.rows])


def laid(m: list[list[int]], way: str) -> list[list[int]]:
    return m if way == "rows" else [list(column) for column in zip(*m, strict=True)]


@pytest.mark.parametrize("way", ["rows", "columns"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_there_and_back(case, way):
    given = drawn(case, Random(str(case)))
    back = Autograd(given)
    expected = in_pytorch(back.torch, back.leaves, case)
    settings = {key: value for key, value in case.items() if key not in ("past", "B")}
    upstream = "dC" if "dC" in given else "dZ"
    forward = {name: laid(m, way) for name, m in given.items() if name != upstream}
    d = derive("attention", **forward, **settings, orientation=way).derivation
    found = floats(d.last.result)
    assert np.allclose(found if way == "rows" else found.T, expected.detach().numpy(), atol=1e-12)
    self_check(d)
    both = derive(
        "attention_gradient", **forward, **{upstream: laid(given[upstream], way)}, **settings, orientation=way,
        arithmetic="decimal",
    ).derivation  # fmt: skip
    self_check(both)
    back.back(expected, upstream)

    def gradient(name: str) -> np.ndarray:
        value = floats(both.value(name))
        return value if way == "rows" else value.T

    back.agrees(gradient, [name for name in given if name != upstream])


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(
    "case", CASES[:-1], ids=str
)  # a soft cap takes long to be written exactly, and is no news here
def test_pages_and_misconceptions(case):
    given = drawn(case, Random(str(case)))
    settings = {key: value for key, value in case.items() if key not in ("past", "B")}
    solution = derive("attention", **{n: m for n, m in given.items() if n[0] != "d"}, **settings)
    for name in FORMATS:
        if "pdf" not in name:
            assert solution.text(name)
    assert solution.worksheet()
    told = [name for name, own in misconceptions().items() if own.on(solution.derivation)]
    assert told  # someone may always go wrong


def test_a_cache_is_what_all_tokens_at_once_give():
    """Two tokens after three, against the last two rows of five under a causal mask."""
    rng = Random(5)
    Q, K, V = ([[rng.randint(-2, 2) for _ in range(4)] for _ in range(5)] for _ in range(3))
    whole = derive("attention", Q=Q, K=K, V=V, heads=2, mask="causal")["C"].result
    parts = derive("attention", Q=Q[3:], K=K[3:], V=V[3:], K_past=K[:3], V_past=V[:3], heads=2, mask="causal")
    assert parts["C"].result.rows == whole.rows[3:]


def test_multi_head_attention_back_without_its_output_weights():
    rng = Random(6)
    given = {name: [[rng.randint(-2, 2) for _ in range(4)] for _ in range(rows)]
             for name, rows in (("X", 2), ("W_Q", 4), ("W_K", 4), ("W_V", 4), ("dC", 2))}  # fmt: skip
    back = Autograd(given)
    t = back.leaves
    projected = {role: t["X"] @ t[f"W_{role}"] for role in "QKV"}
    back.back(in_pytorch(back.torch, projected, {"heads": 2}), "dC")
    d = derive("multi_head_gradient", **given, heads=2, scale="sqrt(d_k)", arithmetic="decimal").derivation
    back.agrees(lambda name: floats(d.value(name)), ["X", "W_Q", "W_K", "W_V"])


def test_as_many_heads_as_large_models_have():
    """GPT-3 has 96 heads of width 128 (Brown et al. 2020, table 2.1)."""
    d = derive("attention", symbolic=True, sizes={"n": "n", "m": "n", "d_k": 128, "d_v": 128}, heads=96)
    assert d["C"].result == Outline(("n", 96 * 128))


@pytest.mark.parametrize(
    ("givens", "settings", "complaint"),
    [
        ({"K_past": [[1, 0]]}, {}, "V_past is missing"),
        ({"K_past": [[1, 0]], "V_past": [[1, 0], [0, 1]]}, {}, "m_past would be 2"),
        ({"K_past": [[1]], "V_past": [[1, 0]]}, {}, "d_k"),
        ({"K_past": [[1, 0]], "V_past": [[1, 0]]}, {"by": "token"}, "matrix by matrix"),
        (
            {"K_past": [[1, 0]], "V_past": [[1, 0]], "B": [[0, 0], [0, 0]]},
            {},
            r"B is 2×2; 3 columns .*: m_past \+ m = 1 \+ 2",
        ),
        ({"B": [[0], [0]]}, {}, "B is 2×1, so m would be 1; but m is 2 by K"),
        ({}, {"heads": 3}, "which 3 heads cannot share evenly"),
        ({}, {"heads": 129}, "a whole number from 1 to 128"),
    ],
)
def test_what_does_not_fit_is_one_sentence(givens, settings, complaint):
    q = [[1, 0], [0, 1]]
    with pytest.raises((InputError, ShapeError), match=complaint):
        derive("attention", Q=q, K=q, V=q, **givens, **settings)


@pytest.mark.parametrize("mask", ["blocks:2,2", "blocks:2,2+causal"])
def test_a_batch_is_its_sequences_one_below_the_other(mask):
    """With blocks as the mask no sequence sees another: outputs and gradients are PyTorch's of the batch."""
    rng = Random(mask)
    given = {name: [[rng.randint(-2, 2) for _ in range(4)] for _ in range(4)] for name in ("Q", "K", "V", "dC")}
    back = Autograd(given)
    torch = back.torch
    q, k, v = (back[name].reshape(2, 2, 2, 2).transpose(1, 2) for name in "QKV")  # sequence × head × token × width
    causal = "causal" in mask
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    expected = attended.transpose(1, 2).reshape(4, 4)
    back.back(expected, "dC")
    d = derive("attention_gradient", **given, heads=2, mask=mask, arithmetic="decimal").derivation
    assert np.allclose(floats(d.value("C")), expected.detach().numpy(), atol=1e-12)
    back.agrees(lambda name: floats(d.value(name)), ["Q", "K", "V"])
