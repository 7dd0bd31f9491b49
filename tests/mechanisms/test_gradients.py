"""Gradients against PyTorch's autograd, SymPy's derivatives and the laws that they keep."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from autograd import Autograd

from symattn.api import derive
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.mechanisms.backward import SECTION, backward
from symattn.derivation.ops import MatMul, RotateBack, SoftmaxGradient, SoftmaxJacobian, Transpose
from symattn.derivation.ops.position import Direction
from symattn.errors import InputError
from symattn.exact import Matrix, Outline, decide, matrix, to_sympy
from symattn.exact.approximate import approximate
from symattn.teaching.fairness import draw
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problems import problem_type

Given = dict[str, list[list[Any]]]


def numbers(rng: random.Random, rows: int, columns: int, low: int = -2, high: int = 2) -> list[list[int]]:
    return [[rng.randint(low, high) for _ in range(columns)] for _ in range(rows)]


def real(rng: random.Random, rows: int, columns: int) -> list[list[float]]:
    return [[rng.uniform(-1.5, 1.5) for _ in range(columns)] for _ in range(rows)]


def exactly(name: str, given: Given, **settings: object) -> Derivation:
    chosen = mechanism(name)
    return chosen.run(given, Settings.read({**chosen.defaults, **settings}))


def floats(d: Derivation, name: str) -> np.ndarray:
    value = d.value(name)
    assert isinstance(value, Matrix)
    return np.array([[approximate(x) for x in row] for row in value.rows])


def in_floats(d: Derivation, given: Given) -> dict[str, np.ndarray]:
    """The steps of a derivation of which only shapes are known, worked out in floating point by the second routes."""
    found = {name: [list(map(float, row)) for row in rows] for name, rows in given.items()}
    for step in d:
        operands = []
        for o in step.operands:
            m = np.array(found[o.name])
            m = m[[o.row]] if o.row is not None else m
            m = m[:, [o.column]] if o.column is not None else m
            operands.append((m.T if o.transposed else m).tolist())
        again = step.op.witness(*operands)
        assert again is not None, step.name
        found[step.name] = again
    return {name: np.array(rows) for name, rows in found.items()}


def planned(name: str, given: Given, **settings: object) -> Derivation:
    chosen = mechanism(name)
    outlines = {key: Outline((len(rows), len(rows[0]))) for key, rows in given.items()}
    return chosen.run(outlines, Settings.read({**chosen.defaults, **settings}))


def biases(rng: random.Random, widths: Mapping[str, int]) -> Given:
    """Each bias with probability one half."""
    return {name: real(rng, 1, width) for name, width in widths.items() if rng.random() < 0.5}


def changes(rng: random.Random, *, bias: bool) -> dict[str, Any]:
    """Random settings of the scores."""
    found: dict[str, Any] = {"mask": rng.choice([None, "causal", "padding:2"])}
    if rng.random() < 0.3:
        found["temperature"] = Fraction(3, 2)
    if rng.random() < 0.3:
        found["cap"] = 2
    if bias and rng.random() < 0.4:
        found["bias"] = "alibi:1/2,1/4"
    return found


# ------------------------------------------------------------------------------------------------ against autograd


@pytest.mark.parametrize("seed", range(12))
def test_attention_exactly(seed: int) -> None:
    rng = random.Random(seed)
    n, m, d_k, d_v = 2, rng.choice([2, 3]), rng.choice([1, 2, 4]), rng.choice([1, 2])
    given: Given = {
        "Q": numbers(rng, n, d_k), "K": numbers(rng, m, d_k), "V": numbers(rng, m, d_v), "dZ": numbers(rng, n, d_v)
    }  # fmt: skip
    settings = {"mask": rng.choice([None, "causal"]), "scale": rng.choice(["sqrt(d_k)", "none"])}
    d = exactly("attention_gradient", given, **settings)
    back = Autograd(given)
    back.back(back.attention(back["Q"], back["K"], back["V"], settings), "dZ")
    back.agrees(lambda name: floats(d, name), ["Q", "K", "V"])
    self_check(d)


@pytest.mark.parametrize("mask", ["causal", "padding:2", "window:2", [[1, 0, 1], [1, 1, 0], [0, 1, 1]]])
@pytest.mark.parametrize("name", ["self_attention_gradient", "multi_head_gradient"])
def test_a_mask_may_be_stated(name: str, mask: object) -> None:
    """As it is asked for from outside, which refuses settings that change no step."""
    rng = random.Random(f"{name} {mask}")
    heads = 1 if name == "self_attention_gradient" else 2
    given: Given = {"X": numbers(rng, 3, 2), **{f"W_{role}": numbers(rng, 2, heads) for role in "QKV"}}
    upstream = "dZ" if heads == 1 else "dC"
    given[upstream] = numbers(rng, 3, heads)
    settings = {"mask": mask, "heads": heads, "scale": "none"}
    d = derive(name, **given, mask=mask, scale="none")
    back = Autograd(given)
    back.back(back.heads(back["X"], settings), upstream)
    back.agrees(lambda matrix: floats(d.problem.derivation, matrix), ["X", "W_Q", "W_K", "W_V"])


@pytest.mark.parametrize("name", ["self_attention_gradient", "multi_head_gradient", "rotary_attention_gradient"])
def test_a_masked_sheet_can_be_drawn(name: str) -> None:
    """The first token sees one key, so that its scores get no gradient: that is no reason to draw again."""
    spec = problem_type("full").spec({"mechanism": name, "settings": {"mask": "causal"}})
    d = draw(mechanism(name), spec.chosen_settings(), spec.chosen_sizes(), random.Random(1)).derivation
    backs = [step for step in d if isinstance(step.op, SoftmaxGradient)]
    assert backs
    assert all(step.result[0, 1] == 0 != step.result[1, 0] for step in backs)
    for step in backs:  # each row of the weights' gradient times the Jacobian of the softmax
        weights, upstream = (floats(d, operand.name) for operand in step.operands)
        expected = weights * (upstream - (weights * upstream).sum(axis=1, keepdims=True))
        rate = math.log(2) if name == "rotary_attention_gradient" else 1
        np.testing.assert_allclose(floats(d, step.name), rate * expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_attention_with_changed_scores(seed: int) -> None:
    rng = random.Random(100 + seed)
    n, m, d_k, d_v = rng.randint(1, 4), rng.randint(2, 4), rng.randint(1, 4), rng.randint(1, 3)
    n = min(n, m)
    given: Given = {"Q": real(rng, n, d_k), "K": real(rng, m, d_k), "V": real(rng, m, d_v), "dZ": real(rng, n, d_v)}
    settings = changes(rng, bias=False)
    if rng.random() < 0.5:
        given["B"] = real(rng, n, m)
    found = in_floats(planned("attention_gradient", given, **settings), given)
    back = Autograd(given)
    back.back(back.attention(back["Q"], back["K"], back["V"], settings), "dZ")
    back.agrees(found.__getitem__, [name for name in given if name != "dZ"])


@pytest.mark.parametrize("seed", range(20))
def test_self_attention(seed: int) -> None:
    rng = random.Random(200 + seed)
    n, d_model, d_k, d_v = rng.randint(2, 4), rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 3)
    widths = {"b_Q": d_k, "b_K": d_k, "b_V": d_v}
    given: Given = {
        "X": real(rng, n, d_model),
        "W_Q": real(rng, d_model, d_k),
        "W_K": real(rng, d_model, d_k),
        "W_V": real(rng, d_model, d_v),
        "dZ": real(rng, n, d_v),
        **biases(rng, widths),
    }
    settings = changes(rng, bias=False)
    if rng.random() < 0.3:
        given["B"] = real(rng, n, n)
    found = in_floats(planned("self_attention_gradient", given, **settings), given)
    back = Autograd(given)
    back.back(back.heads(back["X"], settings), "dZ")
    back.agrees(found.__getitem__, [name for name in given if name != "dZ"])


@pytest.mark.covering(most=10)
@pytest.mark.parametrize("seed", range(40))
def test_heads_of_every_kind(seed: int) -> None:
    rng = random.Random(300 + seed)
    h, shared = rng.choice([(1, 0), (2, 0), (2, 1), (4, 2), (3, 0), (4, 1)])
    g = shared or h
    n, d_model, d_k, d_v, d_out = (rng.randint(2, 3) for _ in range(5))
    given: Given = {
        "X": real(rng, n, d_model),
        "W_Q": real(rng, d_model, h * d_k),
        "W_K": real(rng, d_model, g * d_k),
        "W_V": real(rng, d_model, g * d_v),
        "W_O": real(rng, h * d_v, d_out),
        "dO": real(rng, n, d_out),
        **biases(rng, {"b_Q": h * d_k, "b_K": g * d_k, "b_V": g * d_v, "b_O": d_out}),
    }
    settings = {
        **changes(rng, bias=h == 2),
        "heads": h,
        "kv_heads": shared,
        "split": rng.choice(["consecutive", "interleaved"]),
        "scale": "sqrt(d_k)",
    }
    if "bias" not in settings and rng.random() < 0.3:
        given["B"] = real(rng, n, n)
    found = in_floats(planned("multi_head_gradient", given, **settings), given)
    back = Autograd(given)
    back.back(back.heads(back["X"], settings), "dO")
    back.agrees(found.__getitem__, [name for name in given if name != "dO"])


@pytest.mark.parametrize("seed", range(25))
def test_norms(seed: int) -> None:
    rng = random.Random(400 + seed)
    n, width = rng.randint(1, 4), rng.randint(2, 5)
    given: Given = {
        "X": real(rng, n, width), "dN": real(rng, n, width), **biases(rng, {"gamma": width, "beta": width})
    }  # fmt: skip
    settings = {
        "norm": rng.choice(["layer", "rms"]),
        "variance": rng.choice(["population", "sample"]),
        "epsilon": rng.choice([0, Fraction(1, 10)]),
    }
    found = in_floats(planned("layer_norm_gradient", given, **settings), given)
    back = Autograd(given)
    back.back(back.norm(back["X"], settings), "dN")
    back.agrees(found.__getitem__, [name for name in given if name != "dN"])


@pytest.mark.parametrize("function", ["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "identity"])
@pytest.mark.parametrize("seed", range(3))
def test_feed_forward(function: str, seed: int) -> None:
    rng = random.Random(500 + seed)
    n, d_model, d_ff, d_out = (rng.randint(1, 4) for _ in range(4))
    given: Given = {
        "X": real(rng, n, d_model),
        "W_1": real(rng, d_model, d_ff),
        "W_2": real(rng, d_ff, d_out),
        "dF": real(rng, n, d_out),
        **biases(rng, {"b_1": d_ff, "b_2": d_out}),
    }
    found = in_floats(planned("feed_forward_gradient", given, function=function), given)
    back = Autograd(given)
    back.back(back.feed_forward(back["X"], {"function": function}), "dF")
    back.agrees(found.__getitem__, [name for name in given if name != "dF"])


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("seed", range(24))
def test_through_a_whole_encoder_block(seed: int) -> None:
    """Both residuals, both norms, several heads: whatever the forward pass is made of is gone back through."""
    rng = random.Random(600 + seed)
    h, shared = rng.choice([(1, 0), (2, 0), (2, 1)])
    g, n, width, d_k, d_v, d_ff = shared or h, rng.randint(2, 3), rng.randint(2, 4), 2, 2, rng.randint(2, 4)
    settings = {
        **changes(rng, bias=False),
        "heads": h,
        "kv_heads": shared,
        "norm": rng.choice(["layer", "layer", "rms", "none"]),
        "norm_place": rng.choice(["pre", "post"]),
        "variance": rng.choice(["population", "sample"]),
        "epsilon": rng.choice([Fraction(1, 100), Fraction(1, 10)]),
        "function": rng.choice(["relu", "gelu", "silu", "tanh"]),
    }
    norms = {f"{name}_{i}": width for name in ("gamma", "beta") for i in (1, 2) if settings["norm"] != "none"}
    given: Given = {
        "X": real(rng, n, width),
        "W_Q": real(rng, width, h * d_k),
        "W_K": real(rng, width, g * d_k),
        "W_V": real(rng, width, g * d_v),
        "W_O": real(rng, h * d_v, width),
        "W_1": real(rng, width, d_ff),
        "W_2": real(rng, d_ff, width),
        **biases(rng, {"b_Q": h * d_k, "b_K": g * d_k, "b_V": g * d_v, "b_O": width, "b_1": d_ff, "b_2": width}),
        **biases(rng, norms),
    }
    d = planned("encoder_block", given, **settings)
    of, upstream = d.last.name, real(rng, n, width)
    d = backward(replace(d, givens={**d.givens, f"d{of}": Outline((n, width))}), of)
    found = in_floats(d, {**given, f"d{of}": upstream})
    back = Autograd({**given, "upstream": upstream})
    back.back(back.encoder_block(back["X"], settings), "upstream")
    back.agrees(found.__getitem__, list(given))


@pytest.mark.parametrize("seed", range(20))
def test_back_through_time(seed: int) -> None:
    rng = random.Random(700 + seed)
    n, d_model, d_h, d_out = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
    function = rng.choice(["relu", "tanh", "identity", "sigmoid"])
    given: Given = {
        "X": real(rng, n, d_model),
        "W_x": real(rng, d_model, d_h),
        "W_h": real(rng, d_h, d_h),
        **biases(rng, {"b": d_h, "H_0": d_h}),
    }
    if rng.random() < 0.5:
        given |= {"W_y": real(rng, d_h, d_out), "dY": real(rng, n, d_out), **biases(rng, {"c": d_out})}
    else:
        given["dH"] = real(rng, n, d_h)
    found = in_floats(planned("backpropagation_through_time", given, function=function), given)
    back = Autograd(given)
    state, states = back.get("H_0"), []
    for t in range(n):
        before = 0.0 if t == 0 and "H_0" not in given else state @ back["W_h"]
        state = back.function(function, back["X"][t : t + 1] @ back["W_x"] + back.get("b") + before)
        states.append(state)
    output = back.torch.cat(states)
    upstream = "dH"
    if "W_y" in given:
        output, upstream = output @ back["W_y"] + back.get("c"), "dY"
    back.back(output, upstream)
    reached = [name for name in given if name != upstream and back[name].grad is not None]
    back.agrees(found.__getitem__, reached)
    assert set(given) - set(reached) - {upstream} <= {"W_h"}  # one position alone has no state before it


@pytest.mark.parametrize("seed", range(20))
def test_cross_entropy(seed: int) -> None:
    rng = random.Random(800 + seed)
    n, d_model, vocabulary = rng.randint(1, 4), rng.randint(1, 3), rng.randint(2, 5)
    wanted = [rng.randrange(vocabulary) for _ in range(n)]
    given: Given = {
        "N": real(rng, n, d_model),
        "W_U": real(rng, d_model, vocabulary),
        "T": [[int(j == w) for j in range(vocabulary)] for w in wanted],
        **biases(rng, {"b_U": vocabulary}),
    }
    found = in_floats(planned("cross_entropy_gradient", given), given)
    back = Autograd(given)
    logits = back["N"] @ back["W_U"] + back.get("b_U")
    back.back(back.torch.nn.functional.cross_entropy(logits, back.torch.tensor(wanted)))
    back.agrees(found.__getitem__, [name for name in given if name != "T"])


# ------------------------------------------------------------------------------------------------ exactly

FORWARD = {"n": 2, "m": 2, "d_k": 1, "d_v": 1}


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("mask", [None, "causal"])
def test_sympy_differentiates_attention_to_the_same(mask: str | None) -> None:
    chosen = mechanism("attention_gradient")
    settings = Settings.read({"mask": mask, "scale": "3"})
    d = chosen.run(chosen.symbolic(FORWARD, settings), settings, staged=True).expanded()
    z, upstream = d.value("Z"), d.value("dZ")
    assert isinstance(z, Matrix)
    assert isinstance(upstream, Matrix)
    loss = sum(to_sympy(a) * to_sympy(b) for a, b in zip(z, upstream, strict=True))
    for name in ("Q", "K", "V"):
        leaf, found = d.value(name), d.value(f"d{name}")
        assert isinstance(leaf, Matrix)
        assert isinstance(found, Matrix)
        for x, g in zip(leaf, found, strict=True):
            assert sympy.simplify(sympy.diff(loss, x) - to_sympy(g)) == 0


def test_sympy_differentiates_layer_norm_to_the_same() -> None:
    chosen = mechanism("layer_norm_gradient")
    settings = Settings.read({"epsilon": "1/2"})
    d = chosen.run(chosen.symbolic({"n": 1, "d_model": 2}, settings), settings, staged=True).expanded()
    n, upstream = d.value("N"), d.value("dN")
    assert isinstance(n, Matrix)
    assert isinstance(upstream, Matrix)
    loss = sum(to_sympy(a) * to_sympy(b) for a, b in zip(n, upstream, strict=True))
    for name in ("X", "gamma", "beta"):
        leaf, found = d.value(name), d.value(f"d{name}")
        assert isinstance(leaf, Matrix)
        assert isinstance(found, Matrix)
        for x, g in zip(leaf, found, strict=True):
            assert sympy.simplify(sympy.diff(loss, x) - to_sympy(g)) == 0


def test_the_jacobian_is_that_of_sympy() -> None:
    """J at rational weights: at scores that are their logarithms."""
    weights = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    s = sympy.symbols("s1:4")
    total = sum(map(sympy.exp, s))
    at = {x: sympy.log(sympy.Rational(a.numerator, a.denominator)) for x, a in zip(s, weights, strict=True)}
    found = SoftmaxJacobian().apply(matrix([weights]))
    for i in range(3):
        for j in range(3):
            assert sympy.diff(sympy.exp(s[i]) / total, s[j]).subs(at) == to_sympy(found[i, j])


def test_a_gradient_times_the_jacobian_is_what_softmax_hands_back() -> None:
    weights, upstream = matrix([["1/2", "1/3", "1/6"]]), matrix([[3, -1, 4]])
    by_jacobian = MatMul().apply(upstream, SoftmaxJacobian().apply(weights))
    assert SoftmaxGradient().apply(weights, upstream) == by_jacobian
    assert SoftmaxGradient("columns").apply(weights.T, upstream.T) == Transpose().apply(by_jacobian)


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_the_scores_gradient_sum_to_0_and_nothing_goes_to_what_is_hidden(seed: int) -> None:
    rng = random.Random(900 + seed)
    given: Given = {"Q": numbers(rng, 3, 1), "K": numbers(rng, 3, 1), "V": numbers(rng, 3, 1), "dZ": numbers(rng, 3, 1)}
    d = exactly("attention_gradient", given, mask="causal")
    back = d.value("dS'")
    assert isinstance(back, Matrix)
    for i, row in enumerate(back.rows):
        assert decide(row[0] + row[1] + row[2], 0).equal is True
        assert all(x == 0 for x in row[i + 1 :])


def test_a_base_other_than_e_brings_in_its_logarithm() -> None:
    given: Given = {"Q": [[1]], "K": [[1], [0]], "V": [[1], [0]], "dZ": [[1]]}
    d = exactly("attention_gradient", given, base=2)
    back = d.value("dS'")
    assert isinstance(back, Matrix)  # weights 2/3 and 1/3, so a·(1 − a)·ln 2
    assert [to_sympy(x) for x in back] == [sympy.Rational(2, 9) * sympy.log(2), -sympy.Rational(2, 9) * sympy.log(2)]


def test_back_from_given_weights_is_back_from_the_forward_pass() -> None:
    """The weights that the forward pass gives, given: the same gradients, and no scores to work out."""
    rng = random.Random(7)
    given: Given = {name: numbers(rng, 2, 2) for name in ("X", "W_Q", "W_K", "W_V", "W_O", "dO")}
    whole = exactly("multi_head_gradient", given)
    back = exactly("multi_head_gradient", {**given, "A_1": whole.value("A_1"), "A_2": whole.value("A_2")})
    assert not any(step.stem in ("S", "S'", "A") for step in back)
    for step in whole:
        if step.section.startswith(SECTION):
            assert back.value(step.name) == step.result


@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("split", ["consecutive", "interleaved"])
def test_columns_are_the_transpose_of_rows(orientation: str, split: str) -> None:
    rng = random.Random(8)
    upright: Given = {
        "X": numbers(rng, 2, 2),
        "W_Q": numbers(rng, 2, 2),
        "W_K": numbers(rng, 2, 2),
        "W_V": numbers(rng, 2, 2),
        "W_O": numbers(rng, 2, 2),
        "dO": numbers(rng, 2, 2),
        "b_Q": numbers(rng, 1, 2),
    }
    rows = exactly("multi_head_gradient", upright, split=split)
    turned = exactly(
        "multi_head_gradient",
        {name: [list(line) for line in zip(*m, strict=True)] for name, m in upright.items()},
        split=split,
        orientation="columns",
    )
    for step in rows:
        value = turned.value(step.name)
        assert isinstance(value, Matrix)
        assert step.result == value.T
    self_check(turned if orientation == "columns" else rows)


# ------------------------------------------------------------------------------------------------ what is refused


def test_what_cannot_be_gone_back_through_is_said() -> None:
    given: Given = {"Q": [[1]], "K": [[1], [0]], "V": [[1], [0]], "dZ": [[1]]}
    with pytest.raises(InputError, match="attention_gradient has no setting 'weights'"):
        exactly("attention_gradient", given, weights="hardmax")
    with pytest.raises(InputError, match="'Round to 1 decimal place' is not known"):
        exactly("attention_gradient", given, rounding={"places": 1})


def test_a_rotation_back_is_gone_back_through_by_the_rotation() -> None:
    """∂⟨G, X Rᵀ⟩/∂X = G R: 3/5 and 4/5 turn (x, y) back to (3x/5 + 4y/5, 3y/5 − 4x/5)."""
    back = RotateBack((Direction(Fraction(3, 5), Fraction(4, 5)),), (1,))
    d = Derivation({"X": matrix([[1, 2]]), "dY": matrix([[5, 10]])}).then("Y", back, "X")
    d = backward(d, "Y")
    matrix_of_rotation = np.array([[0.6, -0.8], [0.8, 0.6]])  # x ↦ x M
    assert np.allclose(floats(d, "Y"), np.array([[1, 2]]) @ matrix_of_rotation)
    assert np.allclose(floats(d, "dX"), np.array([[5, 10]]) @ matrix_of_rotation.T)


def test_a_gradient_of_another_shape_is_refused() -> None:
    d = exactly("attention", {"Q": [[1]], "K": [[1]], "V": [[1, 2]]})
    d = replace(d, givens={**d.givens, "dZ": matrix([[1]])})
    with pytest.raises(InputError, match="dZ is 1×1; like Z it must be 1×2"):
        backward(d, "Z")


def test_only_what_is_wanted_is_worked_out() -> None:
    d = exactly("attention", {"Q": [[1]], "K": [[1], [0]], "V": [[1], [2]]})
    d = replace(d, givens={**d.givens, "dZ": matrix([[1]])})
    assert [step.name for step in backward(d, "Z", ("Q",)) if step.section == SECTION] == ["dA", "dS'", "dS", "dQ"]
    with pytest.raises(InputError, match="Z does not depend on a given 'X'; it does on Q, K, V"):
        backward(d, "Z", ("X",))


def test_weights_that_are_none_are_refused() -> None:
    given: Given = {"Q": [[1]], "K": [[1], [0]], "V": [[1], [2]], "dZ": [[1]]}
    with pytest.raises(InputError, match="Row 1 of the weights A sums to 3/4"):
        exactly("weights_given_gradient", {**given, "A": [["1/2", "1/4"]]})
    with pytest.raises(InputError, match="where the mask hides a key"):
        exactly("weights_given_gradient", {**given, "A": [["1/2", "1/2"]]}, mask=[[1, 0]])


# ------------------------------------------------------------------------------------------------ defaults

THERE = {
    "multi_head_gradient": "multi_head_attention",
    "backpropagation_through_time": "recurrent_network",
    "recurrent_jacobian": "recurrent_network",
    "weights_given_gradient": "attention",
    **{name: name.removesuffix("_gradient") for name in mechanisms() if name.removesuffix("_gradient") in mechanisms()},
}
"""Mechanisms that go there and back, and those that only go there."""


@pytest.mark.parametrize("name", sorted(set(THERE) - set(THERE.values())))
def test_a_mechanism_and_its_gradient_have_the_same_defaults(name):
    assert mechanism(name).defaults == mechanism(THERE[name]).defaults


def test_every_gradient_has_its_forward_pass():
    back = {name for name in mechanisms() if "gradient" in name or "backprop" in name}
    assert back <= {*THERE, "cross_entropy_gradient"}  # which starts from logits, and has no forward pass of its own


# ------------------------------------------------------------------------------------------------ names of steps

WITH_SCORES = sorted({name for name in mechanisms() if "attention" in name or "head" in name} - {"linear_attention"})
"""All but the one that goes another way beneath a mask, token by token."""

CHANGED: list[dict[str, object]] = [{"mask": "causal"}, {"mask": "additive:[[0, -1], [0, 0]]"}, {"mask": "padding:1"}]


@pytest.mark.parametrize("changed", CHANGED, ids=str)
@pytest.mark.parametrize("name", WITH_SCORES)
def test_a_mask_changes_no_names(name: str, changed: dict[str, object]) -> None:
    """The steps that there are without a mask are there with one, under the same names: d.value("dS'") is always it."""
    chosen = mechanism(name)
    sizes = {**chosen.default_sizes, **dict.fromkeys(("n", "m"), 2)}
    plain = Settings.read({**chosen.defaults, "mask": None})
    masked = replace(plain, **changed)

    def names(settings: Settings) -> list[str]:
        given = {k: Outline(shape) for k, shape in chosen.given_shapes(sizes, settings).items()}
        return [step.name for step in chosen.run(given, settings)]

    assert [called for called in names(masked) if not called.startswith("M")] == names(plain)
