"""A bias of each head's own, B_1, B_2, …: forward and back, beside NumPy and central differences."""

import numpy as np
import pytest

import symattn

STEP, CLOSE = 1e-5, 1e-6


def drawn(rng, **shapes):
    return {name: rng.integers(-2, 3, shape) for name, shape in shapes.items()}


def floats(solution, name):
    return np.array(solution[name].result.sympy().evalf().tolist(), dtype=float)


def weights(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


def heads(q, k, v, biases):
    """Two heads side by side, each with its own columns and its own bias (Vaswani et al. 2017, section 3.2.2)."""
    q, k, v = (np.split(whole, 2, axis=1) for whole in (q, k, v))
    scores = [q[i] @ k[i].T / np.sqrt(q[i].shape[1]) + bias for i, bias in enumerate(biases)]
    return np.hstack([weights(scores[i]) @ v[i] for i in range(2)])


def test_attention_of_given_heads():
    given = drawn(np.random.default_rng(1), Q=(2, 4), K=(3, 4), V=(3, 2), B_1=(2, 3), B_2=(2, 3))
    solution = symattn.derive("attention", heads=2, **{name: one.tolist() for name, one in given.items()})
    expected = heads(given["Q"], given["K"], given["V"], [given["B_1"], given["B_2"]])
    assert floats(solution, "C") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mechanism", ["multi_head_gradient", "cross_attention_gradient"])
def test_gradients(mechanism):
    rng = np.random.default_rng(2)
    given = drawn(rng, X=(2, 2), W_Q=(2, 4), W_K=(2, 4), W_V=(2, 2), dC=(2, 2), B_1=(2, 2), B_2=(2, 2))
    if mechanism == "cross_attention_gradient":
        given |= drawn(rng, E=(2, 2))
    source = given.get("E", given["X"])
    solution = symattn.derive(mechanism, heads=2, **{name: one.tolist() for name, one in given.items()})

    def loss(moved):
        output = heads(given["X"] @ moved["W_Q"], source @ moved["W_K"], source @ moved["W_V"],
                       [given["B_1"], given["B_2"]])  # fmt: skip
        return (output * given["dC"]).sum()

    for name in ("W_Q", "W_K", "W_V"):
        gradient = floats(solution, f"d{name}")
        for at in np.ndindex(*given[name].shape):
            step = np.zeros(given[name].shape)
            step[at] = STEP
            ahead, back = ({**given, name: given[name] + sign * step} for sign in (1, -1))
            assert gradient[at] == pytest.approx((loss(ahead) - loss(back)) / (2 * STEP), rel=CLOSE, abs=CLOSE)
