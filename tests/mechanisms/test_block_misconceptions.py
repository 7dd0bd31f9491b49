"""What wrong beliefs about blocks give: the golden variant G3, and a second implementation in NumPy."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.misconceptions.block import MISCONCEPTIONS as BLOCK
from symattn.exact import Matrix, square_root
from tests import oracles

IDS = [f"B{k}" for k in range(1, 12)]


def wrongs(name, givens, **stated):
    return {w.misconception.id: w for w in replayed(mechanism(name).run(givens, Settings(**stated)), IDS)}


def test_the_family_is_that_of_the_catalogue():
    assert [m.id for m in BLOCK] == IDS
    assert set(IDS) <= set(misconceptions())


def test_golden_variant_g3():
    """x = (2, 2, 6, 6), z = (−1, 1, −3, 3): figures of rules.md 2.3."""
    found = wrongs("block_after_attention", {"X": [[2, 2, 6, 6]], "Z": [[-1, 1, -3, 3]]})
    root = square_root(3)
    assert found["B4"].value("N1_var") == Matrix([[12]])
    parts = [[root * Fraction(-1, 2), root * Fraction(-1, 6), root * Fraction(-1, 6), root * Fraction(5, 6)]]
    assert found["B4"].value("N1") == Matrix(parts)
    assert found["B1"].value("N1") == Matrix([[x * square_root(Fraction(1, 5)) for x in (-1, 1, -3, 3)]])
    assert found["B6"].value("N1") == Matrix([["-1/3", "-1/9", "-1/9", "5/9"]])
    assert found["B11"].value("N1") == Matrix([[1, 3, 3, 9]])
    assert "is not defined" in found["B3"].stopped  # one token alone
    assert set(found) == {"B1", "B3", "B4", "B6", "B11"}


# ------------------------------------------------------------------------------------------------ NumPy


def normal(x, ddof=0, axis=1, epsilon=0.0, divide=lambda v, e: np.sqrt(v + e)):
    return (x - x.mean(axis=axis, keepdims=True)) / divide(x.var(axis=axis, ddof=ddof, keepdims=True), epsilon)


def relu(x):
    return np.maximum(x, 0)


def half(a, place, norm=normal, first=None, second=None, hidden=None):
    """The second half of a block; every argument is a place where someone may do something else."""
    first = first or (lambda x, z: x + z)
    second = second or (lambda kept, normed, f: kept + f)
    hidden = hidden or (lambda p, b: relu(p + b))

    def network(x):
        return hidden(x @ a["W_1"], a["b_1"]) @ a["W_2"] + a["b_2"]

    r = first(a["X"], a["Z"])
    n = norm(r)
    if place == "pre":
        return second(r, n, network(n))
    return norm(second(n, n, network(n)))


EPSILON = 0.25
WRONG = {
    "B1": {"first": lambda x, z: z, "second": lambda kept, normed, f: f},
    "B2": {"second": lambda kept, normed, f: normed + f},
    "B3": {"norm": lambda x: normal(x, axis=0, epsilon=EPSILON)},
    "B4": {"norm": lambda x: normal(x, ddof=1, epsilon=EPSILON)},
    "B5": {"norm": lambda x: normal(x, epsilon=EPSILON, divide=lambda v, e: np.sqrt(v) + e)},
    "B6": {"norm": lambda x: normal(x, epsilon=EPSILON, divide=lambda v, e: v + e)},
    "B8": {"hidden": lambda p, b: relu(p) + b},
    "B9": {"hidden": lambda p, b: p + b},
    "B11": {"norm": lambda x: x},
}


def drawn_half(seed, place):
    chosen = mechanism("block_after_attention")
    return chosen.draw(Settings(norm_place=place), chosen.default_sizes, random.Random(seed))


@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("seed", range(4))
def test_wrong_halves_are_those_of_numpy(place, seed):
    givens = drawn_half(seed, place)
    a = {name: oracles.floats(m) for name, m in givens.items()}
    found = wrongs("block_after_attention", givens, norm_place=place, epsilon=Fraction(1, 4))
    right = {"norm": lambda x: normal(x, epsilon=EPSILON)}
    for id, change in WRONG.items():
        if id == "B2" and place == "post":
            assert id not in found
            continue
        wrong = found[id]
        assert not wrong.stopped
        expected = half(a, place, **{**right, **change})
        assert np.allclose(oracles.floats(wrong.derivation.last.result), expected, atol=1e-10), id


@pytest.mark.parametrize("seed", range(4))
def test_exchanged_norms_give_the_other_kind_of_block(seed):
    """In the half block: what follows attention, worked out as the other kind has it."""
    for place, other in (("post", "pre"), ("pre", "post")):
        givens = drawn_half(seed, place)
        a = {name: oracles.floats(m) for name, m in givens.items()}
        wrong = wrongs("block_after_attention", givens, norm_place=place)["B7"]
        assert np.allclose(oracles.floats(wrong.derivation.last.result), half(a, other), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["post", "pre"])
def test_exchanged_norms_in_a_whole_block_give_the_other_block(place):
    chosen, other = mechanism("encoder_block"), "pre" if place == "post" else "post"
    how = {} if place == "post" else {"arithmetic": "decimal"}  # exact powers of 2 need whole exponents
    settings = Settings(base=2, norm_place=place, **how)
    givens = chosen.draw(settings, chosen.default_sizes, random.Random(2))
    (wrong,) = replayed(chosen.run(givens, settings), ["B7"])
    exchanged = chosen.run(givens, replace(settings, norm_place=other))
    assert np.allclose(oracles.floats(wrong.derivation.last.result), oracles.floats(exchanged.last.result), atol=1e-10)


def test_gamma_and_beta_left_out():
    found = wrongs("layer_norm", {"X": [[1, 3, 3, 9]], "gamma": [[2, 1, 1, 1]], "beta": [[0, 0, 0, 3]]})
    assert found["B10"].derivation.last.result == Matrix([[-1, "-1/3", "-1/3", "5/3"]])
    assert "B10" not in wrongs("layer_norm", {"X": [[1, 3, 3, 9]]})


def test_a_declared_convention_is_no_mistake():
    x = {"X": [[1, 3, 3, 9], [0, 1, 1, 5]]}
    assert "B4" not in wrongs("layer_norm", x, variance="sample")
    assert "B5" not in wrongs("layer_norm", x)
