"""What every mechanism gives, in NumPy and with no code of symattn's: float64, tokens as rows, results by their names.

`forward` works a mechanism out as the papers have it; `slopes` are the gradients of a loss by central differences.
"""

import math
from fractions import Fraction

import numpy as np
import oracles
from oracles import softmax

ANGLES = {
    "90": math.pi / 2, "45°": math.pi / 4, "3/5+4/5i": math.atan2(4, 3), "-5/13-12/13i": math.atan2(-12, -5),
    "i": math.pi / 2, "1/2 rad": 0.5, "-3 rad": -3, "2π/3": 2 * math.pi / 3, "3*pi/4 rad": 3 * math.pi / 4,
    "0.25rad": 0.25, "-pi": -math.pi,
}  # fmt: skip
"""Angles as they are typed, in radians."""

FUNCTIONS = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}
FEATURES = {
    "elu+1": lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))),
    "relu": lambda x: np.maximum(x, 0),
    "square": np.square,
    "identity": lambda x: x,
}


def number(x):
    return math.e if x == "e" else float(Fraction(str(x)))


def project(x, given, role, at=""):
    return x @ given[f"W_{role}{at}"] + given.get(f"b_{role}{at}", 0)


# ------------------------------------------------------------------------------------------------ attention


def weights(masked, s):
    seen = np.isfinite(masked)
    if s.get("weights", "softmax") == "softmax":
        return softmax(masked, number(s.get("base", "e")))
    best = seen & np.isclose(masked, masked.max(axis=1, keepdims=True))
    shares = np.where(seen, masked, 0) if s["weights"] == "sum" else best
    return shares / np.where(seen.any(axis=1, keepdims=True), shares.sum(axis=1, keepdims=True), 1)


def slope(head, s):
    """Press et al. 2022: 2^(−8k/h) for h heads, a power of two; or as it is stated."""
    stated = s["bias"].partition(":")[2]
    heads = s.get("heads", 1)
    return number(stated.split(",")[head % len(stated.split(","))]) if stated else 2 ** (-8 * (head + 1) / heads)


def one_head(q, k, v, given, s, head=0):
    """Scale, temperature, cap, bias, mask, weights: in this order."""
    found = {"S": q @ k.T}
    n, m = found["S"].shape
    x = found["S'"] = found["S"] / float(oracles.divisor(s.get("scale", "sqrt(d_k)"), {"d_k": q.shape[1]}))
    if "temperature" in s:
        x = found["S_T"] = x / number(s["temperature"])
    if "cap" in s:
        x = found["S_cap"] = s["cap"] * np.tanh(x / s["cap"])
    if "bias" in s:
        i, j = np.indices((n, m))
        x = found["S_B"] = x - slope(head, s) * np.abs((n - i) - (m - j))
    added = given.get("B", given.get(f"B_{head + 1}"))
    if added is not None:
        x = found["S_B"] = x + added
    keep = oracles.kept(s.get("mask"), n, m)
    if keep is not None:
        x = found["M"] = np.where(keep, x, -np.inf)
    found["A"] = weights(x, s)
    return {**found, "Z": found["A"] @ v}


def part(x, which, of, s):
    width = x.shape[1] // of
    return x[:, which::of] if s.get("split") == "interleaved" else x[:, which * width : (which + 1) * width]


def attention(q, k, v, given, s):
    """Every head, with what was before them, side by side, and times W_O where there is one."""
    heads = s.get("heads", 1)
    groups = s.get("kv_heads") or heads
    if "K_past" in given:
        k, v = np.vstack([given["K_past"], k]), np.vstack([given["V_past"], v])
    found = {}
    for i in range(heads):
        group = i * groups // heads
        steps = one_head(part(q, i, heads, s), part(k, group, groups, s), part(v, group, groups, s), given, s, i)
        found |= {name if heads == 1 else f"{name}_{i + 1}": x for name, x in steps.items()}
    output = found["Z"] if heads == 1 else np.hstack([found[f"Z_{i + 1}"] for i in range(heads)])
    found["C" if heads > 1 else "Z"] = output
    if "W_O" in given:
        found["O"] = project(output, given, "O")
    return found


def self_attention(given, s, source=None):
    memory = given["X"] if source is None else source
    made = {role: project(given["X"] if role == "Q" else memory, given, role) for role in "QKV"}
    made = {role: FUNCTIONS[s.get("activation", "identity")](x) for role, x in made.items()}
    return made | attention(*made.values(), given, s)


def cached(given, s):
    """Decoding token by token, as it is defined."""
    q, k, v = (FUNCTIONS[s.get("activation", "identity")](project(given["X"], given, role)) for role in "QKV")
    found = {}
    for t in range(1, len(q) + 1):
        own = one_head(q[t - 1 : t], k[:t], v[:t], {}, {**s, "mask": None})
        found |= {f"K_cache.{t}": k[:t], f"V_cache.{t}": v[:t], f"A.{t}": own["A"], f"Z.{t}": own["Z"]}
    return {**found, "Z": np.vstack([found[f"Z.{t}"] for t in range(1, len(q) + 1)])}


def online(given, s):
    """Milakov and Gimelshein 2018, algorithm 3, key by key; what there is after each block of keys."""
    scores = one_head(given["Q"], given["K"], given["V"], {}, s)
    masked, v, base = scores.get("M", scores["S'"]), given["V"], number(s.get("base", "e"))
    n, m = masked.shape
    tile = s.get("tile", 2)
    largest, total, output, found = np.full(n, -np.inf), np.zeros(n), np.zeros((n, v.shape[1])), {}
    for j in range(m):
        for i in np.flatnonzero(np.isfinite(masked[:, j])):
            new = max(largest[i], masked[i, j])
            shrink = base ** (largest[i] - new) if np.isfinite(largest[i]) else 0
            power = base ** (masked[i, j] - new)
            total[i], output[i], largest[i] = total[i] * shrink + power, output[i] * shrink + power * v[j], new
        if (j + 1) % tile == 0 or j == m - 1:
            block = -(-(j + 1) // tile)
            found |= {f"m_{block}": largest[:, None].copy(), f"l_{block}": total[:, None].copy(),
                      f"O_run_{block}": output.copy()}  # fmt: skip
    return {**found, "Z": scores["Z"]}


def linear_attention(given, s):
    """From the left: what it is equal to."""
    phi = FEATURES[s.get("feature", "elu+1")]
    similar = phi(given["Q"]) @ phi(given["K"]).T
    similar = np.tril(similar) if s.get("mask") == "causal" else similar
    return {"Z": similar / similar.sum(axis=1, keepdims=True) @ given["V"]}


# ------------------------------------------------------------------------------------------------ positions


def angles(pairs, width, s):
    """As they are stated; else Vaswani et al. 2017, section 3.5."""
    if "angles" in s:
        stated = s["angles"] if isinstance(s["angles"], list) else str(s["angles"]).split(", ")
        return [ANGLES[str(x)] for x in (stated * pairs if len(stated) == 1 else stated)]
    return [float(s.get("wavelength", 10000)) ** (-2 * i / width) for i in range(pairs)]


def phases(n, width, s):
    return np.outer(np.arange(n) + s.get("first_position", 0), angles((width + 1) // 2, width, s))


def embedded(given, s):
    e = given["E"]
    n, width = e.shape
    scaled = e * (math.sqrt(width) if s.get("embedding") == "scaled" else 1)
    if s["position"].startswith("rotary"):
        return {"X": scaled}
    if s["position"] == "learned":
        return {"P": given["P"], "X": scaled + given["P"]}
    phase, p = phases(n, width, s), np.empty((n, width))
    halves = s["position"].endswith("halves")
    order = [*range(0, width, 2), *range(1, width, 2)]  # sines first
    p[:, sorted(order) if halves else order] = np.hstack([np.sin(phase), np.cos(phase)[:, : width // 2]])
    return {"P": p, "X": scaled + p}


def turned(x, s):
    """Su et al. 2021, equation 15: each token times a block matrix of rotations."""
    n, width = x.shape
    rows = []
    for row, phase in zip(x, phases(n, width, s), strict=True):
        matrix = np.zeros((width, width))
        for k, angle in enumerate(phase):
            a, b = (k, k + width // 2) if s["position"].endswith("halves") else (2 * k, 2 * k + 1)
            matrix[np.ix_((a, b), (a, b))] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        rows.append(matrix @ row)
    return np.array(rows)


def rotary(given, s):
    made = {"R_Q": turned(given["Q"], s), "R_K": turned(given["K"], s)}
    return made | one_head(*made.values(), given["V"], given, s)


def positional_self_attention(given, s):
    made = embedded(given, s)
    projected = {role: project(made["X"], given, role) for role in "QKV"}
    if s["position"].startswith("rotary"):
        return projected | rotary({**given, **projected}, s)
    return made | projected | one_head(*projected.values(), given, s)


# ------------------------------------------------------------------------------------------------ blocks


def norm(x, given, s, mark=""):
    kind, epsilon = s.get("norm", "layer"), number(s.get("epsilon", 0))
    if kind == "none":
        return x
    centred = x if kind == "rms" else x - x.mean(axis=1, keepdims=True)
    less = kind == "layer" and s.get("variance") == "sample"
    square = (centred**2).sum(axis=1, keepdims=True) / (x.shape[1] - less)
    return centred / np.sqrt(square + epsilon) * given.get(f"gamma{mark}", 1) + given.get(f"beta{mark}", 0)


def feed_forward(x, given, s):
    linear = project(x, given, "1")
    hidden = FUNCTIONS[s.get("function") or "relu"](linear)
    return {"H_linear": linear, "H": hidden, "F": project(hidden, given, "2")}


def sublayers(x, given, s, *layers):
    """Each layer with its residual and its norm, before or after."""
    found = {}
    for k, layer in enumerate(layers, 1):
        pre = s.get("norm_place") == "pre"
        steps = layer(norm(x, given, s, f"_{k}") if pre else x)
        found |= steps
        x = found[f"R{k}"] = x + [*steps.values()][-1]
        if not pre and s.get("norm") != "none":
            x = found[f"N{k}"] = norm(x, given, s, f"_{k}")
    return found


def encoder_block(given, s):
    return sublayers(
        given["X"], given, s, lambda x: self_attention({**given, "X": x}, s), lambda x: feed_forward(x, given, s)
    )


def half_block(given, s):
    """What follows attention; in pre-norm, of its first norm nothing is left."""
    x = given["X"] + given["Z"]
    pre = s.get("norm_place") == "pre"
    first = x if pre else norm(x, given, s, "_1")
    network = feed_forward(norm(first, given, s, "_2") if pre else first, given, s)
    found = {"R1": x, **network, "R2": first + network["F"]}
    return found if pre or s.get("norm") == "none" else {**found, "N1": first, "N2": norm(found["R2"], given, s, "_2")}


def at(mark, given):
    """The givens of one block, under the names that they have in one block alone."""
    return {name.removesuffix(mark): x for name, x in given.items() if name.endswith(mark)}


def decoder_block(given, s):
    own, cross = at("^self", given), at("^cross", given)
    return sublayers(
        given["X"], given, s, lambda x: {"last": [*self_attention({**own, "X": x}, s).values()][-1]},
        lambda x: {"last": [*self_attention({**cross, "X": x}, {**s, "mask": None}, given["E"]).values()][-1]},
        lambda x: feed_forward(x, given, s),
    )  # fmt: skip


def encoder(given, s):
    x, found = given["X"], {}
    shared = {name: bias for name, bias in given.items() if name.startswith("B")}
    for number_ in range(1, s.get("blocks", 2) + 1):
        steps = encoder_block({**shared, **at(f"^{number_}", given), "X": x}, s)
        found |= {f"{name}^{number_}": m for name, m in steps.items()}
        x = [*steps.values()][-1]
    return {**found, "Y": norm(x, given, s) if {"gamma", "beta"} & {*given} else x}


# ------------------------------------------------------------------------------------------------ the rest


def language_model(given, s):
    logits = project(given["N"], given, "U")
    shares = softmax(logits / number(s.get("temperature", 1)))
    found = {"L": logits, "probabilities": shares}
    if "top_k" in s:
        order = np.argsort(np.argsort(-shares, axis=1, kind="stable"), axis=1)
        kept = np.where(order < s["top_k"], shares, 0)
        found["top_k"] = kept / kept.sum(axis=1, keepdims=True)
    if "T" in given:
        with np.errstate(divide="ignore", invalid="ignore"):
            found["loss"] = -np.where(given["T"] == 0, 0, given["T"] * np.log(shares)).sum(axis=1, keepdims=True)
        found["mean_loss"] = found["loss"].mean(keepdims=True)
    return found


def recurrent_network(given, s):
    function, states = FUNCTIONS[s.get("function", "relu")], [given.get("H_0", np.zeros((1, len(given["W_h"]))))]
    for x in given["X"]:
        states.append(function(x @ given["W_x"] + states[-1] @ given["W_h"] + given.get("b", 0)))
    found = {f"H.{t}": h for t, h in enumerate(states) if t} | {"H": np.vstack(states[1:])}
    return {**found, "Y": found["H"] @ given["W_y"] + given.get("c", 0)} if "W_y" in given else found


def recurrent_jacobian(given, s):
    """Of each state in the first: a product of W_h, each times the slopes, which the states tell."""
    known = {"identity": np.ones_like, "relu": lambda h: (h > 0) * 1.0, "tanh": lambda h: 1 - h**2,
             "sigmoid": lambda h: h * (1 - h)}  # fmt: skip
    total, found = np.eye(len(given["W_h"])), {}
    for t, h in enumerate(given["H"], 1):
        total = total @ (given["W_h"] * known[s.get("function", "relu")](h))
        found |= {f"G.{t}": total, f"norm.{t}": np.array([[np.abs(total).sum(axis=1).max()]])}
    return found


def weighted_heads(given, s):
    heads = s.get("heads", 2)
    outputs = [given[f"A_{i + 1}"] @ part(given["V"], i, heads, s) for i in range(heads)]
    found = {f"Z_{i + 1}": z for i, z in enumerate(outputs)} | {"C": np.hstack(outputs)}
    return {**found, "O": project(found["C"], given, "O")}


def softmax_jacobian(given, s):
    a = given["a"][0]
    found = {"J_softmax": np.diag(a) - np.outer(a, a)}
    return {**found, "ds": given["da"] @ found["J_softmax"]} if "da" in given else found


WITNESSES = {
    "attention": lambda g, s: attention(g["Q"], g["K"], g["V"], g, s),
    "block_after_attention": half_block,
    "causal_self_attention": self_attention,
    "cross_attention": lambda g, s: self_attention(g, s, g["E"]),
    "decoder_block": decoder_block,
    "encoder": encoder,
    "encoder_block": encoder_block,
    "feed_forward": lambda g, s: feed_forward(g["X"], g, s),
    "kv_cache": cached,
    "language_model": language_model,
    "layer_norm": lambda g, s: {"N": norm(g["X"], g, s)},
    "linear_attention": linear_attention,
    "multi_head_attention": self_attention,
    "online_softmax": online,
    "positional_encoding": embedded,
    "positional_self_attention": positional_self_attention,
    "recurrent_jacobian": recurrent_jacobian,
    "recurrent_network": recurrent_network,
    "rms_norm": lambda g, s: {"N": norm(g["X"], g, {**s, "norm": "rms"})},
    "rotary_attention": rotary,
    "self_attention": self_attention,
    "softmax_jacobian": softmax_jacobian,
    "weighted_heads": weighted_heads,
    "weighted_values": lambda g, s: {"Z": g["A"] @ g["V"]},
}

BACKWARD = {
    "attention_gradient": "attention",
    "backpropagation_through_time": "recurrent_network",
    "cross_attention_gradient": "cross_attention",
    "cross_entropy_gradient": "language_model",
    "encoder_block_gradient": "encoder_block",
    "feed_forward_gradient": "feed_forward",
    "layer_norm_gradient": "layer_norm",
    "multi_head_gradient": "multi_head_attention",
    "rotary_attention_gradient": "rotary_attention",
    "self_attention_gradient": "self_attention",
    "weights_given_gradient": "attention",
}
"""The mechanism that each of those with gradients goes back through."""


def slopes(loss, given, step=1e-5):
    """∂loss by every entry of every given."""
    found = {name: np.zeros(x.shape) for name, x in given.items()}
    for name, x in given.items():
        for place in np.ndindex(x.shape):
            ends = []
            for sign in (1, -1):
                moved = x.astype(float).copy()
                moved[place] += sign * step
                ends.append(loss({**given, name: moved}))
            found[name][place] = (ends[0] - ends[1]) / (2 * step)
    return found
