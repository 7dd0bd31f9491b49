"""Cross-attention: queries from one sequence, keys and values from another, against PyTorch."""

import random

import numpy as np
import oracles
import pytest

from symattn.api import derive, worksheet
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import InputError, ShapeError
from symattn.teaching.fairness import self_check


def numbers(rng: random.Random, rows: int, columns: int) -> list[list[int]]:
    return [[int(rng.random() * 5) - 2 for _ in range(columns)] for _ in range(rows)]


def pick(rng: random.Random, *choices: object) -> object:
    return choices[int(rng.random() * len(choices))]


def random_layer(rng: random.Random) -> tuple[dict[str, list[list[int]]], dict[str, object]]:
    """Givens and settings, tokens as rows; sizes all different, heads one or two, parts of it left out."""
    n, m, heads = 1 + int(rng.random() * 3), 2 + int(rng.random() * 3), 1 + int(rng.random() * 2)
    d_model, d_source, d_k, d_v = heads * (1 + int(rng.random() * 2)), 1 + int(rng.random() * 4), 2, 1
    given = {"X": numbers(rng, n, d_model), "E": numbers(rng, m, d_source), "W_Q": numbers(rng, d_model, heads * d_k)}
    given |= {"W_K": numbers(rng, d_source, heads * d_k), "W_V": numbers(rng, d_source, heads * d_v)}
    for name, width in (("b_Q", heads * d_k), ("b_K", heads * d_k), ("b_V", heads * d_v)):
        given |= {name: numbers(rng, 1, width)} if rng.random() < 0.5 else {}
    if rng.random() < 0.5:
        given["W_O"] = numbers(rng, heads * d_v, 3)
        given |= {"b_O": numbers(rng, 1, 3)} if rng.random() < 0.5 else {}
    given |= {"B": numbers(rng, n, m)} if rng.random() < 0.3 else {}
    return given, {"heads": heads, "mask": pick(rng, "none", "padding:1", "padding:2", "causal:top-left")}


@pytest.mark.covering(most=20)
@pytest.mark.parametrize("seed", range(60))
def test_random_layers_as_pytorch_has_them(seed):
    torch = pytest.importorskip("torch")
    rng = random.Random(f"cross {seed}")
    given, settings = random_layer(rng)
    t = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in given.items()}
    n, m, heads = len(given["X"]), len(given["E"]), settings["heads"]
    projected = {
        role: t["X" if role == "Q" else "E"] @ t[f"W_{role}"] + t.get(f"b_{role}", torch.zeros(1, dtype=torch.float64))
        for role in "QKV"
    }
    split = [x.reshape(len(x), heads, -1).transpose(0, 1) for x in projected.values()]
    keep = oracles.kept(settings["mask"], n, m)
    mask = t.get("B", torch.zeros(n, m, dtype=torch.float64))
    if keep is not None:
        mask = mask.masked_fill(~torch.tensor(keep), float("-inf"))
    z = torch.nn.functional.scaled_dot_product_attention(*split, attn_mask=mask)
    witness = z.transpose(0, 1).reshape(n, -1)
    if "W_O" in t:
        witness = witness @ t["W_O"] + t.get("b_O", 0)

    columns = rng.random() < 0.5
    if columns:
        given = {name: [list(c) for c in zip(*rows, strict=True)] for name, rows in given.items()}
    read = Settings.read({**settings, "orientation": "columns" if columns else "rows"})
    d = mechanism("cross_attention").run(given, read)
    self_check(d)
    assert d.last.name == ("O" if "W_O" in given else "Z" if heads == 1 else "C")
    found = oracles.floats(d.last.result)
    np.testing.assert_allclose(found.T if columns else found, witness.numpy(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_pytorchs_layer_with_keys_and_values_of_another_width(seed):
    torch = pytest.importorskip("torch")
    rng = random.Random(f"layer {seed}")
    n, m, width, source, heads = 2, 3, 4, 3, 2
    given = {"X": numbers(rng, n, width), "E": numbers(rng, m, source), "W_Q": numbers(rng, width, width)}
    given |= {name: numbers(rng, source, width) for name in ("W_K", "W_V")} | {"W_O": numbers(rng, width, width)}
    layer = torch.nn.MultiheadAttention(
        width, heads, bias=False, kdim=source, vdim=source, batch_first=True, dtype=torch.float64
    )
    parameters = {"q_proj_weight": "W_Q", "k_proj_weight": "W_K", "v_proj_weight": "W_V", "out_proj.weight": "W_O"}
    layer.load_state_dict({name: torch.tensor(given[w], dtype=torch.float64).T for name, w in parameters.items()})
    x, e = (torch.tensor([given[name]], dtype=torch.float64) for name in "XE")
    witness, weights = layer(x, e, e, average_attn_weights=False)
    d = derive("cross_attention", **given, heads=heads)
    np.testing.assert_allclose(oracles.floats(d["O"].result), witness.detach().numpy()[0], rtol=1e-10, atol=1e-10)
    for head in range(heads):
        found = oracles.floats(d[f"A_{head + 1}"].result)
        np.testing.assert_allclose(found, weights.detach().numpy()[0, head], rtol=1e-10, atol=1e-10)


# ------------------------------------------------------------------------------------------ laws


def layer(seed: int) -> dict[str, list[list[int]]]:
    rng = random.Random(f"laws {seed}")
    sizes = {"X": (2, 3), "E": (3, 4), "W_Q": (3, 4), "W_K": (4, 4), "W_V": (4, 2)}
    return {name: numbers(rng, *shape) for name, shape in sizes.items()}


@pytest.mark.parametrize("seed", range(5))
def test_the_source_itself_makes_it_self_attention(seed):
    given = layer(seed)
    given |= {"E": given["X"], "W_K": given["W_K"][:3], "W_V": given["W_V"][:3]}
    own = {name: rows for name, rows in given.items() if name != "E"}
    assert derive("cross_attention", **given)["Z"].result == derive("self_attention", **own)["Z"].result


@pytest.mark.parametrize("seed", range(5))
def test_the_source_may_be_in_any_order_and_queries_keep_theirs(seed):
    given = layer(seed)
    z = derive("cross_attention", **given)["Z"].result
    assert derive("cross_attention", **{**given, "E": given["E"][::-1]})["Z"].result == z
    turned = derive("cross_attention", **{**given, "X": given["X"][::-1]})["Z"].result
    assert turned == type(z).of(z.rows[::-1])


def test_padding_of_the_source_is_as_if_it_were_not_there():
    given = layer(1)
    padded = derive("cross_attention", **given, mask="padding:2")["Z"].result
    assert padded == derive("cross_attention", **{**given, "E": given["E"][:2]})["Z"].result


# ------------------------------------------------------------------------------------------ the rest


def test_what_does_not_fit_is_named():
    given = layer(1)
    with pytest.raises(ShapeError, match="d_source"):
        derive("cross_attention", **{**given, "W_K": given["W_K"][:3]})
    with pytest.raises(InputError, match="E is missing"):
        derive("cross_attention", **{name: rows for name, rows in given.items() if name != "E"})
    with pytest.raises(InputError, match="no setting 'bias'"):
        derive("cross_attention", **given, bias="alibi")


def test_letters_and_shapes_alone():
    sizes = {"n": 1, "m": 2, "d_model": 1, "d_source": 1, "d_k": 1, "d_v": 1}
    z = derive("cross_attention", symbolic=True, sizes=sizes).derivation.expanded()["Z"].result.sympy()[0, 0]
    assert {x.name for x in z.free_symbols} == {
        "x_{11}", "e_{11}", "e_{21}", "w^Q_{11}", "w^K_{11}", "w^V_{11}"
    }  # fmt: skip
    letters = {name: name for name in sizes}
    d = derive("cross_attention", symbolic=True, sizes=letters)
    assert {s.name: s.result.shape for s in d.steps}["S"] == ("n", "m")


@pytest.mark.slow
def test_random_worksheets_have_unequal_lengths_and_good_weights():
    for sheet in worksheet("cross_attention", n=2, seed=7):
        a = oracles.floats(sheet.problem["A"].result)
        assert a.shape == (2, 3)
        assert a.min() > 0.01
        assert a.max() < 0.96
