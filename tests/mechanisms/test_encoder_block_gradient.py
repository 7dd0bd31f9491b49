"""An encoder block there and back in decimals, and what else is gone back through, against PyTorch's autograd."""

from __future__ import annotations

import random
import time
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from autograd import Autograd

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.mechanisms.backward import SECTION
from symattn.derivation.ops import Rotate, RotateBack
from symattn.derivation.ops.position import Degrees, Direction
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.exact.approximate import approximate
from symattn.teaching.fairness.selfcheck import self_check

CLOSE = 1e-9
SECONDS = 5.0
"""Of processor time, for one block and all its gradients."""

Given = dict[str, list[list[Any]]]


def numbers(rng: random.Random, rows: int, columns: int) -> list[list[Fraction]]:
    """Hundredths: exact here, and the nearest floats there."""
    return [[Fraction(rng.randint(-150, 150), 100) for _ in range(columns)] for _ in range(rows)]


def worked_out(name: str, given: Given, **settings: object) -> Derivation:
    chosen = mechanism(name)
    return chosen.run(given, Settings.read({**chosen.defaults, **settings}))


def floats(d: Derivation, name: str) -> np.ndarray:
    value = d.value(name)
    assert isinstance(value, Matrix)
    return np.array([[approximate(x) for x in row] for row in value.rows])


def autograd(given: Given) -> Autograd:
    return Autograd({name: [[float(x) for x in row] for row in rows] for name, rows in given.items()})


def block(rng: random.Random, n: int, heads: int, norm: str = "layer") -> Given:
    """A block of width 4 with every bias, γ and β that it may have."""
    d, d_k, d_v, d_ff = 4, 2, 2, rng.randint(2, 4)
    norms = {f"{letter}_{i}": (1, d) for letter in ("gamma", "beta") for i in (1, 2) if norm != "none"}
    shapes = {
        "X": (n, d), "W_Q": (d, heads * d_k), "W_K": (d, heads * d_k), "W_V": (d, heads * d_v), "W_O": (heads * d_v, d),
        "W_1": (d, d_ff), "W_2": (d_ff, d), "b_Q": (1, heads * d_k), "b_K": (1, heads * d_k), "b_V": (1, heads * d_v),
        "b_O": (1, d), "b_1": (1, d_ff), "b_2": (1, d), **norms, "dY": (n, d),
    }  # fmt: skip
    return {name: numbers(rng, *shape) for name, shape in shapes.items()}


def agrees(given: Given, close: float = CLOSE, **settings: Any) -> None:
    """The output and the gradients of everything that is given."""
    d = worked_out("encoder_block_gradient", given, **settings)
    back = autograd(given)
    output = back.encoder_block(back["X"], settings)
    assert np.abs(floats(d, "Y") - output.detach().numpy()).max() <= close
    back.back(output, "dY")
    back.agrees(lambda name: floats(d, name), [name for name in given if name != "dY"], close)


KINDS = list(product((2, 3, 4), (1, 2), ("post", "pre"), (0, Fraction(1, 100_000))))
"""How many tokens and heads, where the norms stand, and ε."""


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("seed", range(60))
def test_softmax_and_norms_in_decimals(seed: int) -> None:
    """Each of the 24 kinds comes at least twice."""
    n, heads, place, epsilon = KINDS[seed % len(KINDS)]
    rng = random.Random(seed)
    norm = "rms" if seed % 5 == 4 else "layer"
    started = time.process_time()
    agrees(block(rng, n, heads, norm), heads=heads, norm=norm, norm_place=place, epsilon=epsilon, arithmetic="decimal")
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("place", ["post", "pre"])
def test_without_norms_in_fractions_and_logarithms(place: str) -> None:
    """With base 2 every weight is rational: exact arithmetic, at the width of a dozen digits."""
    rng = random.Random(3)
    given = {
        name: [[rng.randint(-1, 1) for _ in row] for row in rows] for name, rows in block(rng, 2, 2, "none").items()
    }
    agrees(given, 1e-12, heads=2, norm="none", norm_place=place, base=2, scale="none")


def test_every_given_has_its_gradient_and_every_line_a_second_route() -> None:
    given = block(random.Random(1), 2, 2)
    d = worked_out("encoder_block_gradient", given, heads=2, arithmetic="decimal")
    found = {step.name for step in d if step.section.startswith(SECTION)}
    assert {f"d{name}" for name in given if name != "dY"} <= found
    self_check(d)


@pytest.mark.parametrize(("heads", "output"), [(1, "dZ"), (2, "dC"), (1, "dO"), (2, "dO")])
def test_cross_attention(heads: int, output: str) -> None:
    rng = random.Random(heads)
    n, m, d_model, d_source, d_k, d_v, d_out = 2, 3, 3, 2, 2, 2, 3
    given = {
        "X": numbers(rng, n, d_model),
        "E": numbers(rng, m, d_source),
        "W_Q": numbers(rng, d_model, heads * d_k),
        "W_K": numbers(rng, d_source, heads * d_k),
        "W_V": numbers(rng, d_source, heads * d_v),
        output: numbers(rng, n, d_out if output == "dO" else heads * d_v),
        **({"W_O": numbers(rng, heads * d_v, d_out)} if output == "dO" else {}),
    }
    d = worked_out("cross_attention_gradient", given, heads=heads, arithmetic="decimal")
    back = autograd(given)
    back.back(back.heads(back["X"], {"heads": heads}, back["E"]), output)
    back.agrees(lambda name: floats(d, name), [name for name in given if name != output], CLOSE)


def test_the_gradient_of_something_else_than_the_output_is_refused() -> None:
    rows = [[1, 0], [0, 1]]
    given = {"X": rows, "E": rows, "W_Q": rows, "W_K": rows, "W_V": rows}
    for wrong in ({"dO": rows}, {}, {"dZ": rows, "dO": rows}):
        with pytest.raises(InputError, match="The output is Z here, so that dZ must be given, and no other"):
            worked_out("cross_attention_gradient", {**given, **wrong})


@pytest.mark.parametrize("layout", ["rotary", "rotary-halves"])
@pytest.mark.parametrize("mask", [None, "causal"])
def test_rotary_attention(layout: str, mask: str | None) -> None:
    rng = random.Random(5)
    n, d_k, d_v = 3, 4, 2
    given = {
        "Q": numbers(rng, n, d_k), "K": numbers(rng, n, d_k), "V": numbers(rng, n, d_v), "dZ": numbers(rng, n, d_v)
    }  # fmt: skip
    settings = {"position": layout, "angles": "40,10", "first_position": 1, "mask": mask}
    d = worked_out("rotary_attention_gradient", given, arithmetic="decimal", **settings)
    back = autograd(given)
    pairs = [(0, 1), (2, 3)] if layout == "rotary" else [(0, 2), (1, 3)]
    turns = np.zeros((n, d_k, d_k))
    for p, ((a, b), degrees) in product(range(n), zip(pairs, (40, 10), strict=True)):
        angle = np.radians((p + 1) * degrees)
        turns[p][np.ix_((a, b), (a, b))] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    turn = back.torch.tensor(turns)
    q, k = ((back[name].unsqueeze(1) @ turn).squeeze(1) for name in "QK")
    back.back(back.attention(q, k, back["V"], settings), "dZ")
    back.agrees(lambda name: floats(d, name), "QKV", CLOSE)


@pytest.mark.parametrize("tokens", ["rows", "columns"])
@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_what_is_turned_and_turned_back_is_as_it_was(layout: Any, tokens: Any) -> None:
    angles = (Degrees(Fraction(60)), Direction(Fraction(3, 5), Fraction(4, 5)))
    m = Matrix([[1, 2, 3, 4], [-1, 0, 5, 2], [0, 1, 1, -3]])
    m = m if tokens == "rows" else m.T
    turned = Rotate(angles, (0, 1, 2), layout, tokens).apply(m)
    assert turned != m
    assert RotateBack(angles, (0, 1, 2), layout, tokens).apply(turned) == m
