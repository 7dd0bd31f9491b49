"""Every gradient in letters, compiled for NumPy, beside central differences of the pass forward."""

from random import Random

import numpy as np
import pytest
from test_letters import SIZES

import symattn
from symattn.derivation.mechanisms import mechanisms

STEP, CLOSE = 1e-5, 1e-7

PASSES = {
    "attention_gradient": ("attention", "Z", {}),
    "backpropagation_through_time": ("recurrent_network", "H", {}),
    "cross_attention_gradient": ("cross_attention", "Z", {}),
    "cross_entropy_gradient": ("language_model", "mean_loss", {"probabilities": "probabilities"}),
    "encoder_block_gradient": ("encoder_block", "N2", {}),
    "feed_forward_gradient": ("feed_forward", "F", {}),
    "layer_norm_gradient": ("layer_norm", "N", {}),
    "multi_head_gradient": ("multi_head_attention", "O", {"A_1": "A_1", "A_2": "A_2"}),
    "rotary_attention_gradient": ("rotary_attention", "Z", {}),
    "self_attention_gradient": ("self_attention", "Z", {"A": "A"}),
    "weights_given_gradient": ("attention", "Z", {"A": "A"}),
}
"""The mechanism forward, its output, and what the pass backward is given of its results."""


def compiled(name):
    sizes = {letter: SIZES[letter] for letter in mechanisms()[name].letters}
    solution = symattn.derive(name, symbolic=True, sizes=sizes)
    return solution, solution.lambdify()


def test_every_pass_backward_is_here():
    backward = {name for name in mechanisms() if name.endswith("_gradient")} | {"backpropagation_through_time"}
    assert backward == {*PASSES}


@pytest.mark.parametrize("name", sorted(PASSES))
def test_gradients_are_central_differences(name):
    forward, output, taken = PASSES[name]
    solution, gradients = compiled(name)
    ahead, run = compiled(forward)
    rng = Random(name)
    givens = {
        one: np.array([[rng.uniform(-1, 1) for _ in range(given.shape[1])] for _ in range(given.shape[0])])
        for one, given in {**ahead.givens, **solution.givens}.items()
    }
    if "T" in givens:
        givens["T"] = np.eye(*givens["T"].shape)  # targets are words
    inputs = {one: givens[one] for one in ahead.givens}
    results = run(**inputs)
    upstream = [givens[one] for one in solution.givens if one not in ahead.givens and one not in taken]
    back = gradients(**{one: results[taken[one]] if one in taken else givens[one] for one in solution.givens})

    def loss(one, at, step):
        moved = inputs[one].copy()
        moved[at] += step
        result = run(**{**inputs, one: moved})[output]
        return float(sum((one * result).sum() for one in upstream) if upstream else result.sum())

    compared = [one for one in inputs if f"d{one}" in back]
    assert compared
    for one in compared:
        for at in np.ndindex(inputs[one].shape):
            slope = (loss(one, at, STEP) - loss(one, at, -STEP)) / (2 * STEP)
            assert back[f"d{one}"][at] == pytest.approx(slope, rel=CLOSE, abs=1e-6), (one, at)
