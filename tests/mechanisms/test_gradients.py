"""The way back: from given weights, through rotations, only where it is wanted, and what it shares with the way there.

Values are those of test_values.py, and dual numbers of test_every_mechanism.py."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from oracles import floats
from sentences import refused_saying

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.descent import GRADIENTS
from symattn.derivation.ops.position import Direction, RotateBack
from symattn.exact import Outline, matrix


def numbers(rng, rows, columns, low=-2, high=2):
    return [[rng.randint(low, high) for _ in range(columns)] for _ in range(rows)]


def exactly(name, given, **settings):
    chosen = mechanism(name)
    return chosen.run(given, Settings.read({**chosen.defaults, **settings}))


# ------------------------------------------------------------------------------------------------ exactly


def test_back_from_given_weights_is_back_from_the_forward_pass():
    """The weights that the forward pass gives, given: the same gradients, and no scores to work out."""
    rng = random.Random(7)
    given = {name: numbers(rng, 2, 2) for name in ("X", "W_Q", "W_K", "W_V", "W_O", "dO")}
    whole = exactly("multi_head_gradient", given)
    back = exactly("multi_head_gradient", {**given, "A_1": whole.value("A_1"), "A_2": whole.value("A_2")})
    assert not any(step.stem in ("S", "S'", "A") for step in back)
    for step in whole:
        if step.section.startswith(GRADIENTS):
            assert back.value(step.name) == step.result


# ------------------------------------------------------------------------------------------------ what is refused


def test_a_rotation_back_is_gone_back_through_by_the_rotation():
    """∂⟨G, X Rᵀ⟩/∂X = G R: 3/5 and 4/5 turn (x, y) back to (3x/5 + 4y/5, 3y/5 − 4x/5)."""
    back = RotateBack((Direction(Fraction(3, 5), Fraction(4, 5)),), (1,))
    d = Derivation({"X": matrix([[1, 2]]), "dY": matrix([[5, 10]])}).then("Y", back, "X")
    d = backward(d, "Y")
    matrix_of_rotation = np.array([[0.6, -0.8], [0.8, 0.6]])  # x ↦ x M
    assert np.allclose(floats(d.value("Y")), np.array([[1, 2]]) @ matrix_of_rotation)
    assert np.allclose(floats(d.value("dX")), np.array([[5, 10]]) @ matrix_of_rotation.T)


def test_a_gradient_of_another_shape_is_refused():
    d = exactly("attention", {"Q": [[1]], "K": [[1]], "V": [[1, 2]]})
    d = replace(d, givens={**d.givens, "dZ": matrix([[1]])})
    with refused_saying("dZ is 1×1; like Z it must be 1×2"):
        backward(d, "Z")


def test_only_what_is_wanted_is_worked_out():
    d = exactly("attention", {"Q": [[1]], "K": [[1], [0]], "V": [[1], [2]]})
    d = replace(d, givens={**d.givens, "dZ": matrix([[1]])})
    assert [step.name for step in backward(d, "Z", ("Q",)) if step.section == GRADIENTS] == ["dA", "dS'", "dS", "dQ"]
    with refused_saying("Z does not depend on a given 'X'; it does on Q, K, V"):
        backward(d, "Z", ("X",))


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

CHANGED = [{"mask": "causal"}, {"mask": "additive:[[0, -1], [0, 0]]"}, {"mask": "padding:1"}]


@pytest.mark.parametrize("changed", CHANGED, ids=str)
@pytest.mark.parametrize("name", WITH_SCORES)
def test_a_mask_changes_no_names(name, changed):
    """The steps that there are without a mask are there with one, under the same names: d.value("dS'") is always it."""
    chosen = mechanism(name)
    sizes = {**chosen.default_sizes, **dict.fromkeys(("n", "m"), 2)}
    plain = Settings.read({**chosen.defaults, "mask": None})
    masked = replace(plain, **changed)

    def names(settings):
        given = {k: Outline(shape) for k, shape in chosen.given_shapes(sizes, settings).items()}
        return [step.name for step in chosen.run(given, settings)]

    assert [called for called in names(masked) if not called.startswith("M")] == names(plain)
