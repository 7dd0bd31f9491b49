"""Tier A: relabelling permutes scores and outputs, and changes nothing that counts as difficulty."""

import random

from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import Matrix
from symattn.teaching.fairness.family import permuted

SIZES = {"n": 3, "m": 3, "d_model": 4, "d_k": 2, "d_v": 2}
seeds = st.integers(0, 2**32)


def instance(rng, name, settings):
    shapes = mechanism(name).shapes(settings)
    return {
        given: Matrix([[rng.randrange(-1, 3) for _ in range(SIZES[shapes[given][1]])] for _ in range(SIZES[rows])])
        for given, (rows, _) in shapes.items()
        if given in mechanism(name).givens
    }


@given(
    st.permutations(range(3)), st.permutations(range(4)), st.permutations(range(2)), st.permutations(range(2)), seeds
)
def test_scores_and_outputs_are_the_permuted_ones(tokens, inner, keys, values, seed):
    m, settings = mechanism("self_attention"), Settings()
    parent = instance(random.Random(seed), "self_attention", settings)
    orders = {"n": tokens, "d_model": inner, "d_k": keys, "d_v": values}
    before = m.run(parent, settings)
    after = m.run(permuted(parent, m.shapes(settings), orders), settings)
    S, Z = before.value("S"), before.value("Z")
    assert after.value("S") == Matrix([[S[i, j] for j in tokens] for i in tokens])
    assert after.value("Z") == Matrix([[Z[i, c] for c in values] for i in tokens])
