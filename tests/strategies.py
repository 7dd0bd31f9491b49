"""Hypothesis strategies for our own types: entries, matrices, problems with their settings; and any numbers at all."""

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from hypothesis import strategies as st
from oracles import turned

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import InputError, UndefinedError
from symattn.teaching.fairness.draw import draw as draw_worth_setting
from symattn.teaching.problems import problem_type

MECHANISMS = ("self_attention", "causal_self_attention", "attention", "weighted_values")
LAYOUTS = [
    {"orientation": orientation, **way}
    for orientation in ("rows", "columns")
    for way in ({"by": "matrix"}, {"by": "token", "scores": "row"}, {"by": "token", "scores": "column"})
]

Rows = list[list[object]]

integers = st.integers(-3, 3)
entries = st.one_of(integers, integers, st.fractions(-2, 2, max_denominator=4))
roots = st.sampled_from(["sqrt(2)", "-sqrt(3)", "sqrt(2)/2", "1 + sqrt(2)"])


@dataclass(frozen=True)
class RandomProblem:
    """Givens as plain lists, tokens as rows, and settings as a problem file has them."""

    name: str
    sizes: dict[str, int]
    givens: dict[str, Rows]
    settings: dict[str, object]

    def run(self, **other):
        """Worked out by symattn, the givens turned as the orientation wants them."""
        uses = mechanism(self.name).uses
        stated = {**self.settings, **other}
        settings = Settings.read({key: value for key, value in stated.items() if key != "scores" or key in uses})
        givens = turned(self.givens) if settings.orientation == "columns" else self.givens
        return mechanism(self.name).run(givens, settings)


def matrices(rows, columns, entry=entries):
    return st.lists(st.lists(entry, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


@st.composite
def masks(draw, n, m):
    """Any mask that leaves every query something to see; those of wrong sizes are tested by themselves."""
    kinds = ["none", f"padding:{draw(st.integers(1, m))}"]
    if n <= m:
        kinds.append("causal")
    if n == m:
        width = draw(st.integers(1, n))
        kinds += [f"window:{width}", f"window:{width}:both", f"blocks:{','.join(['1'] * (n - 1) + ['1'])}"]
        if n > 1:
            cut = draw(st.integers(1, n - 1))
            kinds.append(f"blocks:{cut},{n - cut}")
    rows = draw(matrices(n, m, st.integers(0, 1)))
    for row in rows:
        row[draw(st.integers(0, m - 1))] = 1
    kinds.append(rows)
    return draw(st.sampled_from(kinds))


@st.composite
def problems(draw, name=None, layout=None, exotic=True):
    """A mechanism with random givens, scale, mask, base, biases and activation.

    `exotic` draws roots among the givens, scales that are no integers, and other bases than e.
    """
    name = name or draw(st.sampled_from(MECHANISMS))
    layout = layout if layout is not None else draw(st.sampled_from(LAYOUTS))
    sizes = {size: draw(st.integers(1, 3)) for size in ("n", "d_k", "d_v")}
    sizes["m"] = sizes["n"]
    settings = dict(layout)
    givens = {}
    if name in ("attention", "weighted_values"):
        sizes["m"] = draw(st.integers(1, 4))
    if name == "weighted_values":
        givens["A"] = [_weights(draw, sizes["m"]) for _ in range(sizes["n"])]
        givens["V"] = draw(matrices(sizes["m"], sizes["d_v"]))
        return RandomProblem(name, sizes, givens, settings)
    if name == "attention":
        shapes = {"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v")}
    else:
        sizes["d_model"] = draw(st.integers(1, 4))
        shapes = {"X": ("n", "d_model"), "W_Q": ("d_model", "d_k"), "W_K": ("d_model", "d_k")}
        shapes["W_V"] = ("d_model", "d_v")
        settings["order"] = draw(st.sampled_from(["QKV", "KVQ", "VQK"]))
        settings["activation"] = draw(st.sampled_from(["identity", "identity", "relu"]))
    for given, (rows, columns) in shapes.items():
        givens[given] = draw(matrices(sizes[rows], sizes[columns]))
    if name != "attention":
        for bias, width in (("b_Q", "d_k"), ("b_K", "d_k"), ("b_V", "d_v")):
            if draw(st.booleans()):
                givens[bias] = draw(matrices(1, sizes[width]))
    if exotic and name == "attention":
        givens["V"][0][0] = draw(roots)
    scales = ["none", "sqrt(d_k)", "d_k", 2]
    if exotic:
        scales += [3, "1/2", "sqrt(5)"] + (["sqrt(d_model)", "2*d_model"] if "d_model" in sizes else [])
    settings["scale"] = draw(st.sampled_from(scales))
    if name == "causal_self_attention":
        settings["mask"] = "causal"
    else:
        settings["mask"] = draw(masks(sizes["n"], sizes["m"]))
    settings["mask_style"] = draw(st.sampled_from(["additive", "keep", "block"]))
    settings["base"] = draw(st.sampled_from(["e", "e", 2, 3, "1/2"] if exotic else ["e"]))
    return RandomProblem(name, sizes, givens, settings)


def _weights(draw, m):
    parts = draw(st.lists(st.integers(0, 5), min_size=m, max_size=m).filter(any))
    return [Fraction(p, sum(parts)) for p in parts]


def drawn(name, seed=1, sizes=None, **stated):
    """A derivation of random numbers that are worth setting, as the full worksheet of these settings has them."""
    spec = problem_type("full").spec({"mechanism": name, "settings": stated, "sizes": sizes or {}})
    return draw_worth_setting(mechanism(name), spec.chosen_settings(), spec.chosen_sizes(), Random(seed))


def any_numbers(name, settings, sizes, rng, numbers=(-1, 0, 1, 2)):
    """A mechanism worked out for any of these numbers for which it is defined; weights and targets sum to 1."""
    chosen, across = mechanism(name), settings.orientation == "rows"

    def given(one, rows, columns):
        if one[0] not in "AT":
            return [[rng.choice(numbers) for _ in range(columns)] for _ in range(rows)]
        last = (columns if across else rows) - 1
        return [[Fraction(1 + ((j if across else i) == last), last + 2) for j in range(columns)] for i in range(rows)]

    shapes = chosen.given_shapes(sizes, settings)
    for _ in range(20):
        with suppress(UndefinedError):  # nothing is divided by features that add up to 0
            return chosen.run({one: given(one, *shape) for one, shape in shapes.items()}, settings)
    raise InputError(f"{name}: no numbers for which {settings} are defined.")
