"""The online softmax: the same as the plain one, against PyTorch, a loop in NumPy and ourselves, exactly."""

import random

import numpy as np
import pytest
from tables import tables_beside

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import decide
from symattn.teaching.explanation.parts import agreement, wording_of

TABLES = tables_beside(__file__)

ONLINE = mechanism("online_softmax")


GIVENS = TABLES["givens"]


def test_finite_masks_are_cut_into_blocks_as_well():
    mask = "additive:[[0, 1, 0, -1], [1, 0, 0, 0]]"
    d, at_once = (derive(name, **GIVENS, mask=mask) for name in ("online_softmax", "attention"))
    pairs = zip(d["Z"].result, at_once["Z"].result, strict=True)
    assert all(decide(x, y).equal for x, y in pairs)
    assert len(agreement(d.problem, wording_of(d.problem))) == 1


@pytest.mark.parametrize(("stated", "said"), [({}, 1), ({"stop_at": "l_2"}, 0)])
def test_the_key_says_that_both_ways_agree(stated, said):
    problem = derive("online_softmax", **GIVENS, **stated).problem
    assert len(agreement(problem, wording_of(problem))) == said


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sizes", [{"n": 2, "m": 4, "d_k": 4, "d_v": 2}, {"n": 1, "m": 5, "d_k": 2, "d_v": 1}])
def test_random_numbers_rescale_something_and_not_everything(seed, sizes):
    assert ONLINE.draw is not None
    drawn = ONLINE.draw(Settings(), sizes, random.Random(seed))
    q, k = (np.array(drawn[name].rows, dtype=float) for name in "QK")
    scores = q @ k.T / np.sqrt(sizes["d_k"])
    grows = scores.max(axis=1) > scores[:, :2].max(axis=1)
    assert grows.tolist() == [True] * max(1, sizes["n"] - 1) + [False] * (sizes["n"] - 1 > 0)
    assert (np.ptp(scores, axis=1) <= 3.1).all()
    if sizes["d_k"] == 4:
        assert (scores == np.round(scores)).all()
    again = ONLINE.draw(Settings(), sizes, random.Random(seed))
    assert again == drawn
