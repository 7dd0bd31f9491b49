"""Every misconception a second time, in NumPy, with formulas of its own and tokens as rows.

`wrong_values` gives the steps in order, as far as they go: a product that is not defined or a number that is none ends
them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import oracles

Array = np.ndarray


@dataclass
class Variant:
    """Givens as arrays, tokens as rows, and what is to be done with them."""

    givens: dict[str, Array]
    divisor: float | None = 1.0
    keep: Array | None = None
    mask: object = None
    base: float = np.e
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass
class Person:
    """Somebody who works attention out; each method is one step, and a mistake replaces one or two of them."""

    variant: Variant
    habits: dict[str, Callable[..., Any]]

    def does(self, step, *arguments):
        if step in self.habits:
            return self.habits[step](self.variant, *arguments)
        return RIGHT[step](self.variant, *arguments)

    def steps(self):
        v = self.variant
        made = dict(v.givens)
        for role in "QKV":
            if f"W_{role}" in v.givens:
                product = self.does("product", role)
                if f"b_{role}" in v.givens:
                    yield f"{role}_product", product
                    product = self.does("bias", product, v.givens[f"b_{role}"])
                made[role] = self.does("finish", role, product)
                yield role, made[role]
        q, k, values = made["Q"], made["K"], made["V"]
        scores = self.does("scores", q, k, values)
        yield "S", scores
        if v.divisor is not None:
            scores = self.does("scale", scores)
            yield "S'", scores
        if v.keep is not None:
            scores = self.does("mask", scores)
            yield "M", scores
        weights = self.does("softmax", scores)
        yield "A", weights
        yield "Z", self.does("output", weights, values, made)


def softmax(v, m, base=None):
    powers = np.exp(m * np.log(base or v.base)) if np.isfinite(m).all() else _powers(m, base or v.base)
    return powers / powers.sum(axis=1, keepdims=True)


def _powers(m, base):
    out = np.zeros(m.shape)
    out[np.isfinite(m)] = np.exp(m[np.isfinite(m)] * np.log(base))
    return out


def _visible(m):
    return np.where(np.isfinite(m), m, 0)


def _zeros_for_nan(a):
    return np.nan_to_num(a, nan=0.0)


def _same_shape(a, b):
    if a.shape != b.shape:
        raise ValueError("shapes")
    return a * b


def _square(a):
    if a.shape[0] != a.shape[1]:
        raise ValueError("not square")
    return a


def _masked(v, s, keep=None, hidden=-np.inf):
    keep = v.keep if keep is None else keep
    if s.shape != keep.shape:
        raise ValueError("mask")
    return np.where(keep, s, hidden)


RIGHT = {
    "product": lambda v, r: v.givens["X"] @ v.givens[f"W_{r}"],
    "bias": lambda v, p, b: p + b if p.shape[1] == b.shape[1] else _fail(),
    "finish": lambda v, r, p: p,
    "scores": lambda v, q, k, values: q @ k.T,
    "scale": lambda v, s: s / v.divisor,
    "mask": _masked,
    "softmax": softmax,
    "output": lambda v, a, values, made: a @ values,
}


def _fail():
    raise ValueError


def _every(v, product):
    """All projections so, if any is defined those that are."""

    def defined(role):
        try:
            product(v.givens["X"], v.givens[f"W_{role}"])
        except ValueError:
            return False
        return True

    some = any(defined(r) for r in "QKV")
    return {
        "product": lambda v, r: (
            product(v.givens["X"], v.givens[f"W_{r}"]) if defined(r) or not some else RIGHT["product"](v, r)
        )
    }


def _swap(a, b):
    def habits(v):
        other = {a: b, b: a}
        both = f"b_{a}" in v.givens and f"b_{b}" in v.givens
        biases = {id(v.givens[f"b_{r}"]): v.givens[f"b_{o}"] for r, o in other.items()} if both else {}
        return {
            "product": lambda v, r: v.givens["X"] @ v.givens[f"W_{other.get(r, r)}"],
            "bias": lambda v, p, bias: RIGHT["bias"](v, p, biases.get(id(bias), bias)),
        }

    return habits


def _by_token(v):
    def product(v, role):
        ws = [v.givens[f"W_{r}"] for r in "QKV" if v.givens[f"W_{r}"].shape == v.givens[f"W_{role}"].shape]
        return np.stack([x @ ws[i % len(ws)] for i, x in enumerate(v.givens["X"])])

    return {"product": product}


def _cosines(v, q, k, values):
    return q @ k.T / np.linalg.norm(q, axis=1)[:, None] / np.linalg.norm(k, axis=1)[None, :]


def _eye(a):
    return np.eye(*a.shape, dtype=bool)


def _divide(number, root):
    return lambda v: {"scale": lambda v, s: s / (np.sqrt(v.sizes[number]) if root else v.sizes[number])}


def _first_only(v, s):
    out = s.astype(float).copy()
    out[0] /= v.divisor
    return out


def _triangle(v):
    n, m = v.keep.shape
    i, j = np.indices((n, m))
    causal = (v.keep == (j <= i + m - n)).all()
    return {"mask": lambda v, s: _masked(v, s, j >= i + m - n if causal else ~v.keep)}


def _padding_queries(v):
    """Rows of the tokens that nobody sees hidden too, and zeros for their weights."""
    keep = v.keep & v.keep.any(axis=0)[:, None] if v.keep.shape[0] == v.keep.shape[1] else v.keep
    return {"mask": lambda v, s: _masked(v, s, keep), "softmax": lambda v, s: _zeros_for_nan(softmax(v, s))}


def _diagonal(v):
    n, m = v.keep.shape
    i, j = np.indices((n, m))
    return {
        "mask": lambda v, s: _masked(v, s, v.keep & (j - i != m - n)),
        "softmax": lambda v, s: _zeros_for_nan(softmax(v, s)),
    }


def _one_later(v):
    n, m = v.keep.shape
    i, j = np.indices((n, m))
    return {"mask": lambda v, s: _masked(v, s, v.keep | (j - i == m - n + 1))}


def _wider(mask):
    """The window's number one larger: "window:2:both" becomes "window:3:both"."""
    return re.sub(r"(?<=window:)\d+", lambda width: str(int(width[0]) + 1), str(mask))


def _by_mask(spec):
    """Another mask, by its name."""
    return lambda v: {"mask": lambda v, s: _masked(v, s, oracles.kept(spec(str(v.mask)), *v.keep.shape))}


def _before_itself(v):
    keep = oracles.kept(_wider(v.mask), *v.keep.shape) & ~_eye(v.keep)
    return {"mask": lambda v, s: _masked(v, s, keep), "softmax": lambda v, s: _zeros_for_nan(softmax(v, s))}


def _times_infinity(v, s):
    if (s[~v.keep] <= 0).any():
        raise ValueError("no −∞")
    return _masked(v, s)


def _hardmax(v, m):
    best = np.isclose(m, m.max(axis=1, keepdims=True)) & np.isfinite(m)
    return best / best.sum(axis=1, keepdims=True)


def _linear(v, m):
    return _visible(m) / _over(_visible(m).sum(axis=1, keepdims=True))


def _over(sums):
    """What is divided by, with 0 for what is 0 but for floats."""
    return np.where(np.isclose(sums, 0), 0, sums)


def _late_maximum(v, m):
    powers = _powers(m, v.base)
    less = np.where(np.isfinite(m), powers - np.where(np.isfinite(m), powers, -np.inf).max(axis=1, keepdims=True), 0)
    sums = less.sum(axis=1, keepdims=True)
    return less / np.where(np.isclose(sums, 0), 0, sums)


def _columns(v, m):
    powers = _powers(m, v.base)
    return powers / powers.sum(axis=0, keepdims=True)


def _no_zero_power(v, m):
    powers = np.where(m == 0, 0, _powers(m, v.base))
    return powers / powers.sum(axis=1, keepdims=True)


def _next_sum(v, m):
    powers = _powers(m, v.base)
    return powers / np.roll(powers.sum(axis=1), -1)[:, None]


def _without_self(v, m):
    return _zeros_for_nan(softmax(v, np.where(_eye(_square(m)), -np.inf, m)))


def _round_half_even(a, places):
    return np.round(a, places)


def _cut_off(v, m):
    weights = softmax(v, m)
    below_1 = (weights > 1 - 1e-9) & (np.isfinite(m).sum(axis=1, keepdims=True) > 1)  # by less than floats can tell
    return np.where(below_1, 0.99, np.floor(weights * 100 + 1e-12) / 100)


def _diagonal_sum(v, a, values, made):
    return np.tile(np.diag(_square(a)) @ values, (a.shape[0], 1))


def _softmax_is(function):
    return lambda v: {"softmax": function}


def _scores_are(function):
    return lambda v: {"scores": function}


def _output_is(function):
    return lambda v: {"output": function}


def _mask_is(function):
    return lambda v: {"mask": function}


HABITS = {
    "P1": lambda v: _every(v, lambda x, w: x @ w.T),
    "P2": lambda v: _every(v, lambda x, w: w @ x),
    "P3": lambda v: _every(v, _same_shape),
    "P4": _swap("Q", "K"),
    "P5": _swap("K", "V"),
    "P6": _swap("Q", "V"),
    "P7": lambda v: {"finish": lambda v, r, p: v.givens["X"] if r == "V" else p},
    "P8": lambda v: {"product": lambda v, r: v.givens["X"] @ v.givens["W_Q" if r == "K" else f"W_{r}"]},
    "P9": lambda v: _every(v, lambda x, w: np.ones((x.shape[0], 1)) @ (x[:1] @ w)),
    "P9b": _by_token,
    "P10": lambda v: {"bias": lambda v, p, b: p},
    "P10b": lambda v: {"bias": lambda v, p, b: np.vstack([p[:1] + b, p[1:]])},
    "T1": _scores_are(lambda v, q, k, values: q @ k),
    "T2": _scores_are(lambda v, q, k, values: (q @ k.T).T),
    "T3": _scores_are(lambda v, q, k, values: q.T @ k),
    "T4": _scores_are(lambda v, q, k, values: q @ values.T),
    "T5": _scores_are(lambda v, q, k, values: _same_shape(q, k)),
    "T6": _scores_are(_cosines),
    "T7": _scores_are(lambda v, q, k, values: (q @ k.T) * np.eye(len(q))),
    "T7b": _scores_are(lambda v, q, k, values: np.ones((len(q), 1)) @ (q[:1] @ k.T)),
    "T8": lambda v: {
        "scores": lambda v, q, k, values: np.where(np.eye(len(q), dtype=bool), -np.inf, q @ k.T),
        "softmax": lambda v, m: _zeros_for_nan(softmax(v, m)),
    },
    "C1": lambda v: {"scale": lambda v, s: s},
    "C2": _divide("d_k", False),
    "C3": _divide("d_model", True),
    "C4": lambda v: {"scale": lambda v, s: s * v.divisor},
    "C5": _divide("n", True),
    "C6": _divide("n", False),
    "C7": _divide("d_model", False),
    "C8": lambda v: {"scale": lambda v, s: s, "softmax": lambda v, m: softmax(v, m) / v.divisor},
    "C9": _divide("d_v", True),
    "C10": lambda v: {"scale": _first_only},
    "M1": _mask_is(lambda v, s: s),
    "M2": _triangle,
    "M3": _diagonal,
    "M4": _mask_is(lambda v, s: _masked(v, s, hidden=0.0)),
    "M5": lambda v: {"mask": lambda v, s: s, "softmax": lambda v, m: softmax(v, m) * v.keep},
    "M6": _one_later,
    "M7": _mask_is(_times_infinity),
    "M8": _mask_is(lambda v, s: s),
    "M9": _mask_is(lambda v, s: _masked(v, s, v.keep.T)),
    "M10": _mask_is(lambda v, s: np.where(v.keep, s, s - 10 / (v.divisor or 1.0))),
    "M11": _padding_queries,
    "M12": _by_mask(_wider),
    "M13": _before_itself,
    "M14": _by_mask(lambda mask: mask.split("+")[0]),
    "M14b": _by_mask(lambda mask: mask.split("+")[1]),
    "X1": _softmax_is(_columns),
    "X2": _softmax_is(lambda v, m: _powers(m, v.base) / _powers(m, v.base).sum()),
    "X3": _softmax_is(lambda v, m: softmax(v, m, 2.0 if v.base == np.e else np.e)),
    "X4": _softmax_is(lambda v, m: softmax(v, m, 10.0 if v.base != 10 else np.e)),
    "X5": _softmax_is(_linear),
    "X5b": _softmax_is(lambda v, m: _powers(m, v.base) / _over(_visible(m).sum(axis=1, keepdims=True))),
    "X6": _softmax_is(lambda v, m: _powers(m, v.base)),
    "X6b": _softmax_is(lambda v, m: np.where(np.isfinite(m), 1 / (1 + v.base ** -_visible(m)), 0)),
    "X7": _softmax_is(lambda v, m: softmax(v, softmax(v, m))),
    "X8": _softmax_is(_late_maximum),
    "X9": _softmax_is(lambda v, m: softmax(v, m, 1 / v.base)),
    "X10": _softmax_is(_hardmax),
    "X10b": _softmax_is(lambda v, m: np.isfinite(m) / np.isfinite(m).sum(axis=1, keepdims=True)),
    "X11": _softmax_is(lambda v, m: _round_half_even(softmax(v, m), 1)),
    "X12": _softmax_is(_without_self),
    "X13": _softmax_is(lambda v, m: m),
    "X13b": lambda v: {"softmax": lambda v, m: m, "output": lambda v, a, values, made: softmax(v, a @ values)},
    "X14": _softmax_is(_no_zero_power),
    "X14b": _softmax_is(lambda v, m: _powers(m, v.base) / v.base ** _visible(m).sum(axis=1, keepdims=True)),
    "X15": _softmax_is(_next_sum),
    "X15b": _softmax_is(lambda v, m: _powers(m, v.base) / (1 + _powers(m, v.base).sum(axis=1, keepdims=True))),
    "O1": _output_is(lambda v, a, values, made: a.T @ values),
    "O2": _output_is(lambda v, a, values, made: values @ a),
    "O3": _output_is(lambda v, a, values, made: a @ made["K"]),
    "O4": _output_is(lambda v, a, values, made: a @ made["Q"]),
    "O5": _output_is(lambda v, a, values, made: a @ made["X"]),
    "O6": _output_is(lambda v, a, values, made: _same_shape(a, values)),
    "O7": _output_is(lambda v, a, values, made: np.diag(_square(a))[:, None] * values),
    "O7b": _output_is(_diagonal_sum),
    "O8": _output_is(lambda v, a, values, made: a @ values / len(values)),
    "O9": _output_is(lambda v, a, values, made: a),
    "O10": _output_is(lambda v, a, values, made: np.einsum("ij,jc->ijc", a, values).reshape(-1, values.shape[1])),
    "O11": _output_is(lambda v, a, values, made: np.ones((len(a), 1)) @ (a[:1] @ values)),
    "R2": _softmax_is(lambda v, m: _round_half_even(softmax(v, m), 2)),
    "R3": _softmax_is(_cut_off),
    "R4": lambda v: {"scale": lambda v, s: s / round(v.divisor, 1)},
    "R6": _softmax_is(lambda v, m: softmax(v, m, 2.7)),
}


def wrong_values(v, id):
    """Every step that somebody with this habit writes, and the step at which there is no going on, or ""."""
    found = {}
    order = [s for s, _ in Person(v, {}).steps()]
    try:
        with np.errstate(all="ignore"):
            for name, value in Person(v, HABITS[id](v)).steps():
                if np.isnan(value).any() or np.isposinf(value).any():
                    break
                found[name] = value
    except ValueError:
        pass
    return found, next((name for name in order if name not in found), "")
