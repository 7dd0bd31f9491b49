"""Multi-head attention: the laws that it has to keep, exactly, and PyTorch as its witness."""

import random

import numpy as np
import pytest
from oracles import floats
from sentences import refused_saying

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import Outline
from symattn.teaching.fairness import draw

HEADS = mechanism("multi_head_attention")


# ------------------------------------------------------------------------------------------ what is refused


def test_heads_of_a_width_in_letters():
    shapes = {"X": ("n", "d"), "W_Q": ("d", "k"), "W_K": ("d", "k"), "W_V": ("d", "k")}
    with refused_saying(r"the columns of W_Q must be a number or as 2\*k, so that a head has some of them, not k"):
        HEADS.run({name: Outline(shape) for name, shape in shapes.items()}, Settings.read({"heads": 2}))
    shapes = {name: (rows, "2*k" if columns == "k" else columns) for name, (rows, columns) in shapes.items()}
    d = HEADS.run({name: Outline(shape) for name, shape in shapes.items()}, Settings.read({"heads": 2}))
    assert d["Z_2"].result.shape == ("n", "k")
    assert d["C"].result.shape == ("n", "2*k")


# ------------------------------------------------------------------------------------------ random worksheets


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    "settings",
    [{}, {"mask": "causal"}, {"kv_heads": 1}, {"split": "interleaved"}, {"orientation": "columns"}, {"base": 2}],
    ids=str,
)
def test_random_numbers_are_worth_setting(settings):
    """Scaled scores are whole, no row of weights is saturated, and heads weigh differently: judged in NumPy."""
    chosen = Settings.read({**HEADS.defaults, **settings})
    for seed in range(3):
        givens = draw(HEADS, chosen, HEADS.default_sizes, random.Random(seed)).givens
        x, w_q, w_k = (floats(givens[name]) for name in ("X", "W_Q", "W_K"))
        if chosen.orientation == "columns":
            x, w_q, w_k = x.T, w_q.T, w_k.T
        patterns = []
        for head in (0, 1):
            own = slice(head, None, 2) if chosen.split == "interleaved" else slice(4 * head, 4 * head + 4)
            k = (x @ w_k)[:, own] if not chosen.kv_heads else x @ w_k
            scaled = (x @ w_q)[:, own] @ k.T / 2
            assert np.array_equal(scaled, scaled.round())
            gaps = scaled[:, 1] - scaled[:, 0]
            seen = gaps[1:] if chosen.mask else gaps
            base = np.e if chosen.base == "e" else 2.0
            assert all(0.5 < 1 / (1 + base ** -abs(gap)) <= 0.95 for gap in seen)
            patterns.append(tuple(seen))
        assert patterns[0] != patterns[1]
