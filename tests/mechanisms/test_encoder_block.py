"""Encoder blocks against PyTorch's, over heads, biases, norms and functions; and random ones."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix
from symattn.foundation.dice import Counted
from symattn.teaching.description import describe
from symattn.teaching.fairness import self_check
from tests import oracles


def some(rng, rows, columns):
    return [[rng.choice((-1, -1, 0, 1, 1, 2)) for _ in range(columns)] for _ in range(rows)]


def block_givens(rng, n, d_model, d_ff, extras):
    """What PyTorch's layer has: heads as wide as the model together."""
    givens = {"X": some(rng, n, d_model)}
    givens |= {f"W_{role}": some(rng, d_model, d_model) for role in "QKVO"}
    givens |= {"W_1": some(rng, d_model, d_ff), "W_2": some(rng, d_ff, d_model)}
    if extras:
        givens |= {f"b_{role}": some(rng, 1, d_model) for role in "QKVO"}
        givens |= {"b_1": some(rng, 1, d_ff), "b_2": some(rng, 1, d_model)}
        for k in "12":
            givens |= {f"gamma_{k}": some(rng, 1, d_model), f"beta_{k}": some(rng, 1, d_model)}
    return givens


def torch_block(torch, givens, heads, function, first, epsilon, base):
    """nn.TransformerEncoderLayer with these weights; queries times ln b make its softmax one of base b."""
    t = {name: torch.tensor(np.array(m, dtype=float)) for name, m in givens.items()}
    d_model, d_ff = t["W_1"].shape
    layer = torch.nn.TransformerEncoderLayer(
        d_model, heads, d_ff, dropout=0.0, activation=function, layer_norm_eps=epsilon, norm_first=first,
        batch_first=True, dtype=torch.float64,
    )  # fmt: skip
    zero = torch.zeros(1, d_model, dtype=torch.float64)
    rate = math.log(base)
    with torch.no_grad():
        attention = layer.self_attn
        attention.in_proj_weight.copy_(torch.cat([t["W_Q"].T * rate, t["W_K"].T, t["W_V"].T]))
        attention.in_proj_bias.copy_(
            torch.cat([t.get("b_Q", zero) * rate, t.get("b_K", zero), t.get("b_V", zero)], 1)[0]
        )
        attention.out_proj.weight.copy_(t["W_O"].T)
        attention.out_proj.bias.copy_(t.get("b_O", zero)[0])
        for k, (linear, norm) in enumerate(((layer.linear1, layer.norm1), (layer.linear2, layer.norm2)), 1):
            linear.weight.copy_(t[f"W_{k}"].T)
            linear.bias.copy_(t[f"b_{k}"][0] if f"b_{k}" in t else torch.zeros_like(linear.bias))
            if f"gamma_{k}" in t:
                norm.weight.copy_(t[f"gamma_{k}"][0])
                norm.bias.copy_(t[f"beta_{k}"][0])
    layer.train()  # the slow path, which is the one that is documented; without dropout it gives the same
    return layer(t["X"][None])[0].detach().numpy()


CASES = [
    (heads, function, place, extras, base)
    for heads in (1, 2)
    for function in ("relu", "gelu")
    for place in ("post", "pre")
    for extras in (False, True)
    for base in (2, "e")
    if base == 2 or ((function, extras) == ("relu", False) and (heads, place) != (2, "post"))  # roots of roots of sums
]


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("heads", "function", "place", "extras", "base"), CASES)
@pytest.mark.parametrize("seed", range(2))
def test_blocks_are_those_of_pytorch(heads, function, place, extras, base, seed):
    torch = pytest.importorskip("torch")
    rng = random.Random(f"{heads} {function} {place} {extras} {base} {seed}")
    width = 2 if base == "e" or function == "gelu" else rng.choice((2, 4 if heads > 1 else 3))
    givens = block_givens(rng, 2, width, rng.choice((1, 2)), extras)
    epsilon = Fraction(1, 10)
    settings = Settings(heads=heads, function=function, norm_place=place, epsilon=epsilon, base=base)
    d = mechanism("encoder_block").run(givens, settings)
    expected = torch_block(
        torch, givens, heads, function, place == "pre", float(epsilon), math.e if base == "e" else base
    )
    assert np.allclose(oracles.floats(d.last.result), expected, atol=1e-10)


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("norm", ["layer", "rms", "none"])
@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("function", ["relu", "silu"])
def test_half_blocks_are_those_of_numpy(norm, place, function):
    for seed in range(3):
        rng = random.Random(f"{norm} {place} {function} {seed}")
        n, d, d_ff = rng.randint(1, 2), rng.randint(2, 3), rng.randint(1, 2)
        givens = {"X": some(rng, n, d), "Z": some(rng, n, d), "W_1": some(rng, d, d_ff), "b_1": some(rng, 1, d_ff),
                  "W_2": some(rng, d_ff, d), "b_2": some(rng, 1, d)}  # fmt: skip
        settings = Settings(norm=norm, norm_place=place, function=function, epsilon=Fraction(1, 4))
        a = {name: np.array(m, dtype=float) for name, m in givens.items()}

        def normal(x):
            if norm == "none":
                return x
            x = x - x.mean(axis=1, keepdims=True) if norm == "layer" else x
            return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 0.25)

        def network(x):
            h = x @ a["W_1"] + a["b_1"]  # noqa: B023  (called in the same turn of the loop)
            h = np.maximum(h, 0) if function == "relu" else h / (1 + np.exp(-h))
            return h @ a["W_2"] + a["b_2"]  # noqa: B023

        r = a["X"] + a["Z"]
        expected = r + network(normal(r)) if place == "pre" else normal(normal(r) + network(normal(r)))
        d = mechanism("block_after_attention").run(givens, settings)
        assert np.allclose(oracles.floats(d.last.result), expected, atol=1e-10)
        self_check(d)


def test_the_second_half_is_the_block_from_the_output_of_attention_on():
    rng = random.Random(5)
    givens = block_givens(rng, 2, 2, 2, extras=True)
    settings = Settings(heads=2, base=2, epsilon=1)
    whole = mechanism("encoder_block").run(givens, settings)
    names = ("X", "W_1", "b_1", "W_2", "b_2", "gamma_1", "beta_1", "gamma_2", "beta_2")
    half = mechanism("block_after_attention").run(
        {**{name: givens[name] for name in names}, "Z": whole.value("O")}, Settings(epsilon=1)
    )
    assert half.last.result == whole.last.result
    assert [step.name for step in half] == [step.name for step in whole][-len(half.steps) :]


@pytest.mark.slow
def test_columns_are_rows_turned():
    givens = block_givens(random.Random(4), 2, 2, 2, extras=True)
    settings = {"base": 2, "epsilon": 1}
    rows = mechanism("encoder_block").run(givens, Settings(**settings))
    turned = {name: Matrix(m).T for name, m in givens.items()}
    columns = mechanism("encoder_block").run(turned, Settings(orientation="columns", **settings))
    assert [s.name for s in columns] == [s.name for s in rows]
    assert rows.last.result == columns.last.result.T


def test_what_attention_gives_must_be_as_wide_as_the_input():
    given = {"X": [[1, 2]], "W_Q": [[1], [0]], "W_K": [[0], [1]], "W_V": [[1], [1]], "W_1": [[1], [1]], "W_2": [[1, 1]]}
    with pytest.raises(ShapeError, match=r"R1 adds Z \(1×1\) to X \(1×2\)"):
        mechanism("encoder_block").run(given, Settings())


def test_half_a_network_is_refused():
    with pytest.raises(InputError, match="W_2 is missing"):
        mechanism("block_after_attention").run({"X": [[1, 2]], "Z": [[1, 3]], "W_1": [[1], [1]]}, Settings())


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("stated", [{}, {"norm_place": "pre"}, {"norm": "rms"}, {"variance": "sample"}, {"epsilon": 1}])
def test_random_half_blocks_come_out(stated):
    chosen = mechanism("block_after_attention")
    for seed in range(3):
        d = chosen.run(chosen.draw(Settings(**stated), chosen.default_sizes, random.Random(seed)), Settings(**stated))
        assert all(isinstance(x, int | Fraction) for step in d for x in step.result)
        self_check(d)


@pytest.mark.parametrize("seed", range(2))
def test_random_blocks_come_out_in_base_2(seed):
    chosen, settings = mechanism("encoder_block"), Settings(base=2)
    d = chosen.run(chosen.draw(settings, chosen.default_sizes, random.Random(seed)), settings)
    assert all(isinstance(x, int | Fraction) for step in d for x in step.result)
    self_check(d)


def test_random_blocks_of_pre_norm_have_inputs_whose_norm_comes_out():
    chosen, settings = mechanism("encoder_block"), Settings(norm_place="pre")
    givens = chosen.draw(settings, chosen.default_sizes, random.Random(1))
    d = chosen.run(givens, Settings(norm_place="pre", stop_at="N1"))
    assert all(isinstance(x, int | Fraction) for x in d.value("N1"))


@pytest.mark.slow
def test_powers_of_fractions_are_not_set_as_exact_ones():
    """2^(1/3) is nothing to work with by hand: in pre-norm, base 2 needs decimals."""
    chosen = mechanism("encoder_block")
    with pytest.raises(InputError):
        chosen.draw(Settings(base=2, norm_place="pre"), chosen.default_sizes, Counted(1))
    settings = Settings(base=2, norm_place="pre", arithmetic="decimal")
    d = chosen.run(chosen.draw(settings, chosen.default_sizes, Counted(1)), settings)
    assert d.last.name == "R2"


def test_the_scales_of_norms_may_be_written_as_biases_are():
    """gamma_1 beside b_1; both spellings at once are one too many."""
    eye = [[1, 0], [0, 1]]
    givens = {"X": [[1, 2], [3, 5]], **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"), eye)}
    numbered = derive("encoder_block", **givens, gamma_1=[[2, 1]], beta_2=[[1, 3]], arithmetic="decimal")
    assert numbered.derivation == derive(
        "encoder_block", **givens, gamma1=[[2, 1]], beta2=[[1, 3]], arithmetic="decimal"
    ).derivation  # fmt: skip
    assert "gamma_1" in numbered.givens  # and so it is called wherever it is spoken of
    said = str(describe("encoder_block"))
    assert "gamma_1" in said
    assert "gamma1" not in said
    with pytest.raises(ShapeError, match="gamma_1 is 1×3"):
        derive("encoder_block", **givens, gamma1=[[2, 1, 1]])
    with pytest.raises(InputError, match="gamma1 and gamma_1 are the same matrix"):
        derive("encoder_block", **givens, gamma1=[[2, 1]], gamma_1=[[2, 1]])
