"""Every mechanism gives what its witness in NumPy gives, there and back; the witnesses are PyTorch's layers."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import oracles
import pytest
from tables import tables_beside
from test_notebook import program, run
from trials import some
from witnesses import BACKWARD, WITNESSES, slopes, softmax

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import UndefinedError
from symattn.teaching.fairness.selfcheck import self_check

SETTINGS = tables_beside(__file__, "settings.toml")
VALUES, POSITIONS = SETTINGS["values"], SETTINGS["positions"]


NEEDS = {"V_past": "K_past", "b_O": "W_O", "c": "W_y", "beta_1": "gamma_1", "beta_2": "gamma_2"}
"""Givens that there are with others, or not at all."""

SIZES = ("n", "m", "d_k", "d_v", "d_h", "d_ff", "d_out", "d_source", "m_past")


def stated(name, seed):
    """Every value of every setting that a mechanism has comes in so many seeds, beside other ones each time."""
    chosen = mechanism(name)
    known = {"orientation", *chosen.uses}
    if any(given[:3] in ("Q", "W_Q") for given in chosen.givens) and name != "linear_attention":
        known |= {"scale", "base", "mask", "mask_style"}
    if "W_Q" in chosen.givens and ("by" in chosen.uses or name == "kv_cache"):
        known |= {"activation", "order"}
    s = {}
    for setting in sorted(known & {*VALUES}):
        turn, place = divmod(seed, len(VALUES[setting]))
        values = Random(f"{name} {setting} {turn}").sample(VALUES[setting], len(VALUES[setting]))
        if (value := values[place]) != "":
            s[setting] = value
    if name in POSITIONS:
        s["position"] = POSITIONS[name][seed % len(POSITIONS[name])]
    if "recurrent" in name or "through_time" in name:
        s["function"] = ("relu", "tanh", "sigmoid", "identity")[seed % 4]
    if name in ("linear_attention", "kv_cache", "causal_self_attention", "decoder_block"):
        s["mask"] = "none" if name == "linear_attention" and seed % 2 else "causal"
    if "bias" in s:  # a slope for each head
        slopes = s["bias"].split(",")
        s["bias"] = ",".join(slopes[: s.get("heads", chosen.defaults.get("heads", 1))])
    if name == "layer_norm_gradient" and s.get("norm") == "none":
        del s["norm"]
    return {setting: value for setting, value in s.items() if setting not in excluded(name, s)}


def excluded(name, s):
    """What others say nothing of, or do not go with."""
    token = s.get("by") == "token"
    gone = {"temperature", "cap", "bias", "heads", "kv_heads", "split", "weights"} if token else {"scores"}
    if s.get("weights"):
        gone |= {"base", "cap"}
    if s.get("heads", 1) in (1, s.get("kv_heads")):
        gone |= {"kv_heads"}
    if "wavelength" in s or s.get("position") == "learned":
        gone |= {"angles"}
    if s.get("position") == "learned":
        gone |= {"wavelength", "first_position"}
    return gone


def shapes(name, s, rng):
    """Small sizes, and each given that there need not be half of the time."""
    chosen = mechanism(name)
    settings = Settings.read({**chosen.defaults, **s, "orientation": "rows"})
    required = replace(chosen, usual=()).expected(settings)
    sizes = {letter: rng.randint(1, 3) for letter in SIZES} | {"h": settings.heads, "g": settings.groups}
    sizes |= {"d_model": rng.randint(2, 4), "d_vocab": rng.randint(2, 4)}
    if any(kind in str(s.get("mask")) for kind in ("[", "blocks", "window:3")) or name == "linear_attention":
        sizes |= {"n": 3, "m": 3}
    if s.get("mask") not in (None, "none"):
        sizes |= {"n": max(2, sizes["n"]), "m": 3}
    if "position" in s:
        sizes |= {"d_model": 4, "d_k": rng.choice([2, 4])}
        if s["position"].startswith("sinusoidal") and name == "positional_encoding" and "angles" not in s:
            sizes["d_model"] = rng.randint(1, 5)
    if s.get("base") not in (None, "e"):
        sizes["d_k"] = rng.choice([2, 4] if "rotary" in str(s.get("position")) else [1, 4])
    found = {}
    for given, shape in chosen.shapes(settings).items():
        if given in required or wanted(given, s, {*found}, "norm_place" in chosen.uses, rng):
            past = {} if "K_past" in {given, *found} or given == "V_past" else {"m_past": 0}
            rows, columns = (eval(spec, {}, {**sizes, **past}) for spec in shape)
            found[given] = (rows, columns)
    return found


def wanted(given, s, found, residual, rng):
    """Whether a given that there need not be is there; some of them depend on what else there is."""
    stem, *mark = given.split("^")
    if stem in NEEDS:
        return "^".join([NEEDS[stem], *mark]) in found
    if stem.startswith(("gamma", "beta")) and s.get("norm") == "none":
        return False
    if given.startswith("B_") and given != "B_1":
        return "B_1" in found
    if given == "P":
        return s["position"] == "learned"
    if given in ("B", "B_1"):
        return "bias" not in s and s.get("by") != "token" and "B" not in found and rng.random() < 0.4
    if given == "K_past":
        return s.get("by") != "token" and s.get("mask") in (None, "causal") and rng.random() < 0.5
    if given[0] in "dAE" or given == "probabilities":
        return False  # put in once it is known what they must be
    return given[:3] in ("W_1", "W_2") or (stem == "W_O" and residual) or rng.random() < 0.5


def numbers(shape, rng, edges=True):
    """Integers and halves; without `edges`, numbers with which no step function is at its edge."""
    rows = [[Fraction(rng.randint(-4, 4), rng.choice((1, 2, 2))) for _ in range(shape[1])] for _ in range(shape[0])]
    return (
        rows if edges else [[x + Fraction(rng.choice((-1, 1)), rng.choice((7, 11, 13))) for x in row] for row in rows]
    )


def shares(rows):
    """Weights as exact numbers, each row with the sum 1."""
    exact = [[Fraction(x) for x in row] for row in rows]
    for row in exact:
        row[row.index(max(row))] += 1 - sum(row)
    return exact


def problem(name, seed):
    """Givens, tokens as rows, and settings."""
    s, rng = stated(name, seed), Random(f"{name} {seed}")
    given = {
        one: numbers(shape, rng, name not in BACKWARD or "base" in s) for one, shape in shapes(name, s, rng).items()
    }
    for one in given:
        if one in ("a", "T") or one[0] == "A":  # weights, or what is wanted
            given[one] = shares(softmax(floats(given[one])))
    if "T" not in given and name == "cross_entropy_gradient":
        given["T"] = shares(np.eye(*np.shape(given["N"] @ given["W_U"])))
    n, m = (next((len(given[one]) for one in names if one in given), 0) for names in ("QXE", "KEX"))
    keep = oracles.kept(s.get("mask"), n, m + len(given.get("K_past", [])))
    if keep is not None and not keep.any(axis=1).all():
        s |= {"empty": "zero"} if "empty" in mechanism(name).uses else {"mask": "none"}
    return given, s


def floats(rows):
    return np.array([[float(x) for x in row] for row in rows])


def derived(name, given, s):
    """With decimals where what is exact would be long."""
    chosen = mechanism(name)
    d = chosen.run(
        oracles.turned(given) if s.get("orientation") == "columns" else given, Settings.read({**chosen.defaults, **s})
    )
    self_check(d)
    return d


def result(d, name, tokens):
    """A result with tokens as rows, put together where it was made token by token."""
    upright = d.orientation == "rows"
    if name in d:
        return oracles.floats(d.value(name)) if upright else oracles.floats(d.value(name)).T
    if f"{name}.1" not in d:
        return None
    lines = [oracles.floats(d.value(f"{name}.{t}")) for t in range(1, tokens + 1)]
    return np.vstack([line.reshape(1, -1) for line in lines])


def assert_close(found, expected, what, close=1e-10):
    assert found.shape == expected.shape, what
    np.testing.assert_allclose(found, expected, rtol=close, atol=close, err_msg=str(what))


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in some(range(4, 13), 3))]


@pytest.mark.parametrize("name", WITNESSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_result_is_that_of_numpy(name, seed):
    given, s = problem(name, seed)
    s["arithmetic"] = "decimal" if seed % 3 or {"base", "cap", "epsilon", "heads", "position"} & {*s} else "exact"
    with np.errstate(all="ignore"):
        expected = WITNESSES[name](
            {one: floats(rows) for one, rows in given.items()}, {**mechanism(name).defaults, **s}
        )
    last = [*expected.values()][-1]
    if not np.isfinite(last).all():
        with pytest.raises(UndefinedError):
            derived(name, given, s)
        return
    d = derived(name, given, s)
    compared = set()
    for step, right in expected.items():
        found = result(d, step, len(right))
        if found is not None:
            assert_close(found, right, (step, s, given))
            compared.add(step)
    assert [*expected][-1] in compared, (d.last.name, s)


# ------------------------------------------------------------------------------------------------ gradients


def with_upstream(name, given, s, rng):
    """The output whose gradient is given, by that name, put among the givens; the weights too, where they are given."""
    forward = BACKWARD[name]
    exactly = {one: floats(rows) for one, rows in given.items()}
    steps = WITNESSES[forward](exactly, {**mechanism(forward).defaults, **s})
    output = [*steps][-1]
    upstream = {"encoder_block_gradient": "dY", "cross_entropy_gradient": ""}.get(name, f"d{output}")
    if upstream:
        given[upstream] = numbers(steps[output].shape, rng)
    taken = [one for one in steps if one[0] == "A" or one == "probabilities"]
    if name == "weights_given_gradient" or (
        rng.random() < 0.3 and {"A", "A_{head}", "probabilities"} & {*mechanism(name).optional}
    ):
        given |= {one: shares(steps[one]) for one in taken}
    return output, upstream


@pytest.mark.covering(rest=4)
@pytest.mark.parametrize("name", BACKWARD)
@pytest.mark.parametrize("seed", [*SEEDS[:4], *some(SEEDS[4:], 3)])
def test_every_gradient_is_a_slope(name, seed):
    given, s = problem(name, seed)
    s["arithmetic"] = "decimal"
    start = {one: floats(rows) for one, rows in given.items() if one != "A"}
    output, upstream = with_upstream(name, given, s, Random(seed))
    stated = {**mechanism(name).defaults, **s}

    def loss(moved):
        return float(
            (WITNESSES[BACKWARD[name]](moved, stated)[output] * (floats(given[upstream]) if upstream else 1)).sum()
        )

    expected = slopes(loss, start)
    d = derived(name, given, s)
    reached = [one for one in start if f"d{one}" in d]
    assert {one for one in start if one not in reached and expected[one].any()} <= {"T"}
    for one in reached:
        found = result(d, f"d{one}", 0)
        assert_close(found, expected[one], (one, s, given), 1e-6)
        if "learning_rate" in s and f"{one}^new" in d:
            assert_close(result(d, f"{one}^new", 0), start[one] - found / 10, one)
    assert reached
    assert "X^new" not in d  # no parameter


@pytest.mark.covering(most=16, rest=4)
@pytest.mark.parametrize("name", [*WITNESSES, *BACKWARD])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_the_program_of_a_notebook_asserts_the_same(name, seed):
    given, s = problem(name, seed)
    if name in BACKWARD:
        with_upstream(name, given, s, Random(seed))
    with suppress(UndefinedError):  # a sum that is 0
        run(*program(derived(name, given, {**s, "arithmetic": "decimal"})))


# ------------------------------------------------------------------------------------------------ the witnesses


def loaded(layer, given, names):
    """A layer of PyTorch's with these matrices as its parameters, which stand the other way there."""
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        for parameter, name in names.items():
            whole = np.hstack([given[one] for one in name.split()])
            own = layer.get_parameter(parameter)
            own.copy_(torch.tensor(whole.T).reshape(own.shape))
    return layer.eval()


def of_attention(to="", mark=""):
    return {
        f"{to}in_proj_weight": f"W_Q{mark} W_K{mark} W_V{mark}", f"{to}in_proj_bias": f"b_Q{mark} b_K{mark} b_V{mark}",
        f"{to}out_proj.weight": f"W_O{mark}", f"{to}out_proj.bias": f"b_O{mark}",
    }  # fmt: skip


def of_block(norms, mark=""):
    linear = {
        f"linear{k}.{kind}": f"{letter}_{k}{mark}" for k in (1, 2) for kind, letter in (("weight", "W"), ("bias", "b"))
    }
    return linear | {f"norm{k}.{kind}": f"{letter}_{k}{mark}" for k in range(1, norms + 1)
                     for kind, letter in (("weight", "gamma"), ("bias", "beta"))}  # fmt: skip


WIDTHS = {"X": (3, 4), "E": (2, 4), "W_1": (4, 3), "b_1": (1, 3), "W_2": (3, 4)}


@pytest.fixture
def g():
    """Everything that a layer of width 4 may have."""
    rng = np.random.default_rng(1)
    marks = ("", "^1", "^2", "^self", "^cross")
    square = {f"W_{r}{mark}": (4, 4) for r in "QKVO" for mark in marks} | {"W_x": (4, 4), "W_h": (4, 4)}
    lines = [f"b_{r}{mark}" for r in "QKVO2" for mark in marks] + ["b", "H_0"]
    lines += [f"{letter}_{k}{mark}" for letter in ("gamma", "beta") for k in (1, 2, 3) for mark in marks]
    widths = {f"{name}{mark}": shape for name, shape in WIDTHS.items() for mark in marks}
    shapes = square | dict.fromkeys(lines, (1, 4)) | widths
    return {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}


LAYER = {"dropout": 0.0, "batch_first": True, "layer_norm_eps": 0.01}
CAUSAL = np.triu(np.ones((3, 3), dtype=bool), 1)


@pytest.mark.parametrize("first", [False, True])
def test_blocks_are_those_of_pytorch(g, first, torch):
    nn, how = torch.nn, {**LAYER, "norm_first": first, "dtype": torch.float64}
    x, e = (torch.tensor(g[name])[None] for name in "XE")
    s = {"heads": 2, "norm_place": "pre" if first else "post", "epsilon": "1/100", "function": "gelu"}
    one = nn.TransformerEncoderLayer(4, 2, 3, activation="gelu", **how)
    stack = nn.TransformerEncoder(one, 2, enable_nested_tensor=False)
    decoder = nn.TransformerDecoderLayer(4, 2, 3, **how)
    loaded(decoder, g, of_attention("self_attn.", "^self") | of_attention("multihead_attn.", "^cross") | of_block(3))
    for number, layer in enumerate(stack.layers, 1):
        loaded(layer, g, of_attention("self_attn.", f"^{number}") | of_block(2, f"^{number}"))
    with torch.no_grad():
        expected = {
            "encoder_block": loaded(one, g, of_attention("self_attn.") | of_block(2))(x),
            "encoder": stack(x),
            "decoder_block": decoder(x, e, tgt_mask=torch.tensor(CAUSAL)),
        }
    for name, output in expected.items():
        own = s | ({"function": "relu", "mask": "causal"} if name == "decoder_block" else {})
        assert_close([*WITNESSES[name](g, own).values()][-1], output[0].numpy(), name)


@pytest.mark.parametrize("mask", [None, "causal"])
def test_attention_is_that_of_pytorch(g, mask, torch):
    layer = loaded(torch.nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64), g, of_attention())
    x, e = (torch.tensor(g[name])[None] for name in "XE")
    biases = np.random.default_rng(2).normal(size=(2, 3, 3))
    hidden = np.where(CAUSAL, -np.inf, 0) if mask else 0
    with torch.no_grad():
        own, shared = layer(x, x, x, attn_mask=torch.tensor(biases + hidden), average_attn_weights=False)
        cross, _ = layer(x, e, e)
    found = WITNESSES["multi_head_attention"]({**g, "B_1": biases[0], "B_2": biases[1]}, {"heads": 2, "mask": mask})
    assert_close(found["O"], own[0].numpy(), mask)
    assert_close(np.array([found["A_1"], found["A_2"]]), shared[0].numpy(), mask)
    assert_close(WITNESSES["cross_attention"](g, {"heads": 2})["O"], cross[0].numpy(), "E")
