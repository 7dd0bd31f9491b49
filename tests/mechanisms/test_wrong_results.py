"""What comes of wrong beliefs about heads, blocks, gradients, positions, blocks of keys, caches and recurrences.

NumPy works each out with a formula of its own; figures that were worked out by hand stand in `wrong_by_hand.toml`.
Those of plain attention have their witness in tests/misconceptions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from tomllib import loads
from typing import Any

import numpy as np
import oracles
import pytest
from witnesses import part, phases, softmax, turned

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconception, replayed
from symattn.derivation.misconceptions.block import MISCONCEPTIONS as BLOCK
from symattn.derivation.misconceptions.heads import MISCONCEPTIONS as HEADS
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problems.remarks import feedback

FILE = loads(Path(__file__).with_name("wrong_by_hand.toml").read_text(encoding="utf-8"))
GIVEN, FIGURES = FILE["given"], FILE["variant"]
Given = Mapping[str, Any]
Array = np.ndarray
NOWHERE, STOPS = None, "stops"

rng = np.random.default_rng(34)


def whole(*shape: int) -> Array:
    return rng.integers(-2, 3, shape)


def run(name: str, given: Given, settings: Mapping[str, object], orientation: str = "rows") -> Derivation:
    chosen = mechanism(name)
    rows = {
        one: [[str(x) for x in row] for row in (np.transpose(m) if orientation == "columns" else m)]
        for one, m in given.items()
    }
    return chosen.run(rows, Settings.read({**chosen.defaults, **settings, "orientation": orientation}))


# ------------------------------------------------------------------------------------------------ heads

LAYER = {"X": [[1, 0, 2], [0, 1, -1]], "W_Q": whole(3, 8), "W_K": whole(3, 8), "W_V": whole(3, 4), "W_O": whole(4, 4)}


def layer(
    parts: Callable[[Array], list[Array]],
    merge: Callable[[list[Array]], Array] = np.hstack,
    weights_of: tuple[int, int] = (0, 1),
    widen: float = 1,
) -> Array:
    """Two heads side by side, before W_O; every argument is a place where someone may do something else."""
    q, k, v = (parts(np.array(LAYER["X"]) @ LAYER[f"W_{role}"]) for role in "QKV")
    a = [softmax(q[i] @ k[i].T / math.sqrt(4 * widen)) for i in (0, 1)]
    return merge([a[weights_of[i]] @ v[i] for i in (0, 1)])


def halves(m: Array) -> list[Array]:
    return [part(m, i, 2, {}) for i in (0, 1)]


def reread(m: Array) -> list[Array]:
    return list(m.reshape(2, m.shape[0], -1))


C, W_O = layer(halves), LAYER["W_O"]
JOINED = {
    "C11": layer(halves, widen=2),
    "H1": layer(reread),
    "H2": layer(halves, lambda z: np.stack(z).reshape(2, -1)),
    "H3": layer(halves, lambda z: np.hstack(z[::-1])),
    "H6": layer(halves, weights_of=(0, 0)),
    "H7": layer(lambda m: [m[:, 0::2], m[:, 1::2]]),
}
OF_HEADS = {
    **{id: {"C": c, "O": c @ W_O} for id, c in JOINED.items()},
    "H4": {"O": C}, "H8": {"O": C @ W_O.T}, "H8b": {"O": STOPS},
    "H5": {"C": layer(halves, lambda z: (z[0] + z[1]) / 2), "O": STOPS},
    "H5b": {"C": layer(halves, lambda z: z[0] + z[1]), "O": STOPS},
    "H5c": {"C": layer(halves, lambda z: np.maximum(*z)), "O": STOPS},
}  # fmt: skip
INTERLEAVED = {"H7": NOWHERE, "H7b": {"C": C}, "H1": {"C": layer(reread)}}

# ------------------------------------------------------------------------------------------------ blocks

HALF = GIVEN["after attention"]
EPSILON = 0.25


def normal(
    x: Array, ddof: int = 0, axis: int = 1, deviation: Callable[[Array], Array] = lambda v: np.sqrt(v + EPSILON)
) -> Array:
    return (x - x.mean(axis=axis, keepdims=True)) / deviation(x.var(axis=axis, ddof=ddof, keepdims=True))


def half(
    pre: bool,
    norm=normal,
    first=np.add,
    second=lambda kept, normed, f: kept + f,
    hidden=lambda p, b: np.maximum(p + b, 0),
) -> Array:
    """The second half of a block."""
    g = {name: np.array(m, dtype=float) for name, m in HALF.items()}

    def network(x: Array) -> Array:
        return hidden(x @ g["W_1"], g["b_1"]) @ g["W_2"] + g["b_2"]

    r = first(g["X"], g["Z"])
    n = norm(r)
    return second(r, n, network(n)) if pre else norm(second(n, n, network(n)))


HABITS: Mapping[str, dict[str, Any]] = {
    "B1": {"first": lambda x, z: z, "second": lambda kept, normed, f: f},
    "B2": {"second": lambda kept, normed, f: normed + f},
    "B3": {"norm": lambda x: normal(x, axis=0)},
    "B4": {"norm": lambda x: normal(x, ddof=1)},
    "B5": {"norm": lambda x: normal(x, deviation=lambda v: np.sqrt(v) + EPSILON)},
    "B6": {"norm": lambda x: normal(x, deviation=lambda v: v + EPSILON)},
    "B8": {"hidden": lambda p, b: np.maximum(p, 0) + b},
    "B9": {"hidden": lambda p, b: p + b},
    "B11": {"norm": lambda x: x},
}


def of_half(pre: bool) -> dict[str, Any]:
    last = "R2" if pre else "N2"
    found = {id: {last: half(pre, **change)} for id, change in HABITS.items()}
    return {**found, **({} if pre else {"B2": NOWHERE})}


# ------------------------------------------------------------------------------------------------ gradients

BACK = GIVEN["weights"]
A = np.array(BACK["A"])
K, of_z = np.array(BACK["K"]), np.array(BACK["dZ"])
of_a = of_z @ np.transpose(BACK["V"])
of_s = A * (of_a - (A * of_a).sum(axis=1, keepdims=True))
SQUARE = {**BACK, "A": [[1 / 4, 3 / 4], [3 / 8, 5 / 8]], "K": BACK["K"][:2], "V": BACK["V"][:2]}
a, da = np.array(SQUARE["A"]), of_z @ np.transpose(SQUARE["V"])
ds = a * (da - (a * da).sum(axis=1, keepdims=True))
CUT = np.array([[0.5, 0.5], [0.25, 0.75]])
HIDDEN = GIVEN["causal"]
h_da = np.array([[1], [2]]) @ np.array([[1, 3]])
h_ds = np.array([[0, h_da[0, 1] - h_da[0, 0]], (h_da[1] - [1 / 4, 3 / 4] @ h_da[1]) * [1 / 4, 3 / 4]])
ONCE = (h_ds * [[0, 0], [1, 1]]) @ np.array([[0], [1]]) @ np.array([[1, 2]])
NET = GIVEN["network"]
of_h = np.array([[1, 3]]) @ np.array([[1, 2], [0, 1]])
x, g = np.array([[1.0, 3, 3, 9]]), np.array([[2, -1, 0, 1]])
LOSS = GIVEN["loss"]
STEP = GIVEN["descent"]
slope = np.transpose(STEP["N"]) @ (softmax(np.array(STEP["N"]) @ np.eye(2)) - np.eye(2)) / 2
MODEL = GIVEN["model"]
logits = np.array(MODEL["W_U"])
kept = softmax(logits / 2)
TWO_HEADS = {**{name: [[1, 2], [0, 1]] for name in ("X", "W_Q", "W_K", "W_V", "W_O")}, "dO": [[1, 0], [2, 1]],
             "A_1": [[1 / 4, 3 / 4], [1 / 8, 7 / 8]], "A_2": CUT}  # fmt: skip
of_c = np.array([[1, 0], [2, 1]]) @ np.array([[1, 0], [2, 1]])
V = np.array([[1, 4], [0, 1]])
WEIGHTS = {head: np.array(TWO_HEADS[f"A_{head}"]) for head in (1, 2)}
DIAGONAL = {f"dS_{i}": w * (1 - w) * np.outer(of_c[:, i - 1], V[:, i - 1]) for i, w in WEIGHTS.items()}

# ------------------------------------------------------------------------------------------------ positions

E, W = whole(3, 4), {role: whole(4, 2 if role == "V" else 4) for role in "QKV"}
ADDED = {"E": E, **{f"W_{role}": w for role, w in W.items()}}
PAPER = {"angles": "90, 3/5+4/5i"}
POSITION = {**PAPER, "position": "rotary"}


def table(first: int = 0, cosine_first: bool = False) -> Array:
    phase = phases(3, 4, {**POSITION, "first_position": first})
    waves = (np.cos(phase), np.sin(phase)) if cosine_first else (np.sin(phase), np.cos(phase))
    return np.stack(waves, axis=2).reshape(3, 4)


def attended(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.T / 2) @ v


def of_sum(x: Array) -> dict[str, Array]:
    return {"X": x, "Z": attended(x @ W["Q"], x @ W["K"], x @ W["V"])}


P = table()
WIDE = {**ADDED, "W_V": W["Q"]}
TURNED = {"Q": E, "K": E @ W["Q"], "V": E @ W["K"]}
q, k, v = TURNED.values()


def turn(m: Array, **other: object) -> Array:
    return turned(m, {**POSITION, **other})


def against(m: Array) -> Array:
    """Turned back: what is turned forwards, with every second feature the other way round before and after."""
    flip = np.array([1, -1, 1, -1])
    return turn(m * flip) * flip


OF_TURNS = {
    "E6": (q, k, v), "E7": (turn(q), turn(k), turn(v)), "E8": (turn(q), k, v),
    "E9": (turn(q), turn(k, first_position=1), v),
    "E10": (against(q), against(k), v), "E11": (turn(q, position="halves"), turn(k, position="halves"), v),
    "E12": (q, k, v), "E13": (turn(q, first_position=1), turn(k, first_position=1), v),
}  # fmt: skip

# ------------------------------------------------------------------------------------------------ keys in blocks

TILES = GIVEN["tiles"]
SCORES, VALUES = np.array(TILES["Q"]) @ np.transpose(TILES["K"]) / 2, np.array(TILES["V"])
largest = [SCORES[:, :2].max(axis=1, keepdims=True), SCORES.max(axis=1, keepdims=True)]
powers = [np.exp(SCORES[:, :2] - largest[0]), np.exp(SCORES[:, 2:] - largest[1])]
sums, outputs = (
    [p.sum(axis=1, keepdims=True) for p in powers],
    [p @ w for p, w in zip(powers, (VALUES[:2], VALUES[2:]), strict=True)],
)
shrink = np.exp(largest[0] - largest[1])
OF_TILES = {
    "F1": {"l_2": sums[0] + sums[1], "Z": (outputs[0] + outputs[1]) / (sums[0] + sums[1])},
    "F2": {"O_run_2": outputs[0] + outputs[1], "Z": (outputs[0] + outputs[1]) / (shrink * sums[0] + sums[1])},
    "F3": {"alpha_2": 1 / shrink, "Z": (outputs[0] / shrink + outputs[1]) / (sums[0] / shrink + sums[1])},
    "F4": {"Z": shrink * outputs[0] + outputs[1]},
    "F5": {"l_2": sums[1], "Z": outputs[1] / sums[1]},
    "C1": {"Z": softmax(2 * SCORES) @ VALUES},
}
CACHE = GIVEN["cache"]
tokens = {role: np.array(CACHE["X"]) @ np.array(CACHE[f"W_{role}"]) for role in "QKV"}


def seeing(seen: list[list[int]]) -> Array:
    """Each token's output when it sees these tokens."""
    return np.vstack(
        [softmax(tokens["Q"][[t]] @ tokens["K"][s].T / math.sqrt(2)) @ tokens["V"][s] for t, s in enumerate(seen)]
    )


# ------------------------------------------------------------------------------------------------ recurrences

NETWORK = GIVEN["recurrence"]


RECURRENT = np.array(NETWORK["W_h"])


def unrolled(
    w: str = "W_x",
    u: Array = RECURRENT,
    f=lambda s: np.maximum(s, 0),
    push=lambda p, h, u: p + h @ u,
    carry=lambda h, s, start: h,
) -> dict[str, Array]:
    """The states of somebody with another function, another sum, or another state to go on from."""
    start = h = np.array(NETWORK["H_0"])
    states = []
    for p in np.array(NETWORK["X"]) @ np.array(NETWORK[w]):
        s = push(p, h, u)
        states.append(f(s)[0])
        h = carry(f(s), s, start)
    return {"H": np.array(states)}


OF_STATES = {
    "U1": unrolled(f=lambda s: s),
    "U2": unrolled(push=lambda p, h, u: p + 0 * h),
    "U3": unrolled(carry=lambda h, s, start: s),
    "U4": unrolled(carry=lambda h, s, start: start),
    "U5": unrolled(u=np.transpose(NETWORK["W_h"])),
    "U6": unrolled(w="W_h", u=np.array(NETWORK["W_x"])),
}
STATES = GIVEN["states"]


def through_time(
    jacobian=lambda u, s: u * s, times=np.matmul, norm=lambda m: np.abs(m).sum(axis=1).max()
) -> dict[str, Array]:
    total, found = np.eye(2), {}
    for t, h in enumerate(np.array(STATES["H"]), 1):
        own = jacobian(np.array(STATES["W_h"]), (h > 0)[None, :])
        total = own if t == 1 else times(total, own)
        found |= {f"norm.{t}": np.array([[norm(total)]])} | ({f"G.{t}": total} if t > 1 else {})
    return found


OF_JACOBIANS = {
    "U7": through_time(jacobian=lambda u, s: u + 0 * s),
    "U8": through_time(jacobian=lambda u, s: u * s.T),
    "U9": through_time(times=np.multiply),
    "U10": through_time(times=lambda m, j: j @ m),
    "U11": through_time(norm=lambda m: abs(m.sum(axis=1)).max()),
}

# ------------------------------------------------------------------------------------------------ the table

TABLE: list[tuple[str, Given, dict[str, object], dict[str, dict[str, Any] | None]]] = [
    ("multi_head_attention", LAYER, {}, OF_HEADS),
    ("multi_head_attention", LAYER, {"split": "interleaved"}, INTERLEAVED),
    ("block_after_attention", HALF, {"epsilon": "1/4"}, of_half(pre=False)),
    ("block_after_attention", HALF, {"epsilon": "1/4", "norm_place": "pre"}, of_half(pre=True)),
    ("block_after_attention", HALF, {"epsilon": "1/4", "variance": "sample"}, {"B4": NOWHERE}),
    ("block_after_attention", HALF, {"epsilon": "1/4", "norm_place": "pre"}, {"B7": {"last": half(pre=False)}}),
    ("block_after_attention", HALF, {"epsilon": "1/4"}, {"B7": {"last": half(pre=True)}}),
    ("block_after_attention", HALF, {}, {"B5": NOWHERE}),
    ("layer_norm", {"X": [[1, 3, 3, 9]]}, {}, {"B10": NOWHERE}),
    ("weights_given_gradient", BACK, {}, {
        "D1": {"dS'": A * (1 - A) * of_a, "dQ": A * (1 - A) * of_a / 2 @ K}, "D2": {"dS": of_s, "dQ": of_s @ K},
        "D3": {"dV": STOPS}, "D4": NOWHERE}),
    ("weights_given_gradient", BACK, {"scale": "none"}, {"D2": NOWHERE}),
    ("weights_given_gradient", SQUARE, {}, {"D3": {"dV": a @ of_z, "dK": ds / 2 @ SQUARE["Q"]}}),
    ("attention_gradient", {one: SQUARE[one] for one in ("Q", "K", "V", "dZ")}, {}, {"D2": {"dS": None}}),
    ("softmax_jacobian", {"a": A[:1], "da": [[4, 0, 2]]}, {}, {
        "D1": {"J_softmax": np.diag(A[0] * (1 - A[0])), "ds": [A[0] * (1 - A[0]) * [4, 0, 2]]}}),
    ("self_attention_gradient", HIDDEN, {"mask": "causal", "scale": "none"}, {"D4": {"dS": h_ds}, "D5": {"dX": ONCE}}),
    ("feed_forward_gradient", NET, {}, {"D6": {"dH_linear": of_h, "dX": of_h @ np.array([[1, 0], [-2, 1]])}}),
    ("layer_norm_gradient", {"X": x, "dN": g}, {}, {"D7": {"dX": g / x.std()}}),
    ("layer_norm_gradient", {"X": x, "dN": g}, {"norm": "rms"}, {"D7": {"dX": g / np.sqrt((x * x).mean())}}),
    ("cross_entropy_gradient", LOSS, {}, {"D8": {"dL": (np.eye(2) - LOSS["probabilities"]) / 2}}),
    ("multi_head_gradient", TWO_HEADS, {}, {"D1": DIAGONAL}),
    ("cross_entropy_gradient", STEP, {"learning_rate": "1/10"}, {
        "D10": {"W_U^new": np.eye(2) + slope / 10}, "D11": {"W_U^new": np.eye(2) - slope}}),
    ("cross_entropy_gradient", STEP, {"learning_rate": 1}, {"D11": NOWHERE}),
    ("cross_entropy_gradient", STEP, {}, {"D10": NOWHERE}),
    ("language_model", MODEL, {"top_k": 2, "temperature": 2}, {
        "X19": {"top_k": np.where(kept == kept.min(axis=1, keepdims=True), 0, kept)}, "X20": {"L_T": 2 * logits}}),
    ("language_model", MODEL, {}, {"X20": NOWHERE}),
    ("positional_self_attention", ADDED, {"embedding": "scaled", **PAPER}, {
        "E2": of_sum(2 * E + table(1)), "E3": of_sum(2 * E + table(cosine_first=True)), "E5": of_sum(E + P),
        "E6": of_sum(2 * E), "E4": {"X": np.hstack([2 * E, P]), "Q": STOPS}, "E1": {"V": STOPS}}),
    ("positional_self_attention", WIDE, {"embedding": "scaled", **PAPER}, {
        "E1": {"Z": attended(*(2 * E @ w + P for w in (W["Q"], W["K"], W["Q"])))}}),
    ("rotary_attention", TURNED, PAPER, {
        **{id: {"Z": attended(*operands)} for id, operands in OF_TURNS.items()},
        **{f"E{i}": NOWHERE for i in range(1, 6)}}),
    ("rotary_attention", {"Q": [[1, 2]], "K": [[1, 1]], "V": [[3]]}, {}, {"E11": NOWHERE, "E7": NOWHERE}),
    ("online_softmax", TILES, {}, OF_TILES),
    ("online_softmax", TILES, {"tile": 4}, {f"F{i}": NOWHERE for i in (1, 2, 3, 5)}),
    ("attention", TILES, {}, {"F4": NOWHERE}),
    ("kv_cache", CACHE, {}, {"F6": {"Z": seeing([[0], [0], [0, 1]])}, "F7": {"Z": seeing([[0], [0], [0]])}}),
    ("causal_self_attention", CACHE, {"by": "token"}, {"F6": NOWHERE, "F7": NOWHERE}),
    ("recurrent_network", NETWORK, {}, OF_STATES),
    ("recurrent_network", NETWORK, {"by": "token"}, OF_STATES),
    ("recurrent_network", NETWORK, {"function": "identity"}, dict.fromkeys(("U1", "U3"), NOWHERE)),
    ("recurrent_jacobian", STATES, {}, OF_JACOBIANS),
]  # fmt: skip


@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize(("name", "given", "settings", "beliefs"), TABLE, ids=lambda x: x if isinstance(x, str) else "")
def test_what_comes_of_a_wrong_belief(name, given, settings, beliefs, orientation):
    d = run(name, given, {"arithmetic": "decimal", **settings}, orientation)
    for id, expected in beliefs.items():
        wrong = misconception(id).on(d)
        if expected is NOWHERE:
            assert wrong is None or wrong.first is None, id
            continue
        assert wrong.first, id
        assert feedback(wrong, Wording(d, load_notation("standard")))  # names and divisors that there are
        for step, value in expected.items():
            if value is STOPS:
                assert wrong.stopped.startswith(f"{step} is not defined"), id
            elif value is None:
                assert wrong.first == step, id
            else:
                found = oracles.floats(wrong.value(wrong.derivation.last.name if step == "last" else step))
                found = found.T if orientation == "columns" else found
                np.testing.assert_allclose(found, value, rtol=0, atol=1e-9, err_msg=f"{id}: {step}")


@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("variant", FIGURES, ids=lambda variant: variant["about"])
def test_figures_by_hand(variant, orientation):
    d = run(variant["mechanism"], variant["given"], variant.get("settings", {}), orientation)
    outputs = []
    for id, expected in variant["wrong"].items():
        wrong = misconception(id).on(d)
        for step, rows in expected.items():
            if step != "stops":
                value = wrong.value(step).sympy()
                assert oracles.same_matrix(value.T if orientation == "columns" else value, oracles.table(rows)), (
                    id,
                    step,
                )
                outputs.append(rows)
        assert wrong.stopped.startswith(expected.get("stops", "")), id
        assert bool(wrong.stopped) == ("stops" in expected), id
    assert len({str(rows) for rows in outputs}) == len(outputs)  # no two are the same
    only = variant.get("only")
    assert not only or {w.misconception.id for w in replayed(d) if w.misconception.id[0] in only[0]} == set(only)


def test_every_belief_of_heads_and_blocks_is_here():
    """B10 has its figures, and H9 is tried where marks are fair (tests/marking/test_fair_marks.py)."""
    known = {id for *_, beliefs in TABLE for id, expected in beliefs.items() if expected} | {"B10", "H9"}
    assert {m.id for m in (*HEADS, *BLOCK)} <= known
    assert {*(f"D{i}" for i in range(1, 9)), *(f"E{i}" for i in range(1, 14)), *(f"F{i}" for i in range(1, 8))} <= known
    assert {f"U{i}" for i in range(1, 12)} <= known


def test_heads_alone_can_be_put_together_wrongly():
    alone = {"X": [[1, 0], [1, 1]], "W_Q": [[1], [2]], "W_K": [[1], [0]], "W_V": [[1], [1]]}
    assert not [w for w in replayed(run("self_attention", alone, {})) if w.misconception in HEADS]
    d = run("multi_head_attention", {**alone, "W_O": [[2, 3]]}, {"heads": 1})
    assert {w.misconception.id for w in replayed(d) if w.misconception in HEADS} == {"H4", "H8", "H8b"}
    shared = run(
        "multi_head_attention", {**LAYER, "W_K": LAYER["W_K"][:, :4], "W_V": LAYER["W_V"][:, :2]}, {"kv_heads": 1}
    )
    wrong = misconception("H1").on(shared)  # keys and values that all heads share are not split
    np.testing.assert_array_equal(oracles.floats(wrong.value("Q_1")), reread(np.array(LAYER["X"]) @ LAYER["W_Q"])[0])
    assert wrong.value("V") == shared.value("V")
