"""Decoding with a key/value cache: the same as a causal pass, against PyTorch, NumPy and ourselves, exactly."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import turned
from tables import tables_beside

from symattn.api import derive
from symattn.derivation.ops.linear import Append
from symattn.errors import SelfCheckError
from symattn.exact import Matrix
from symattn.formula import Sum
from symattn.page.document import Math, Words, spans
from symattn.teaching.explanation.parts import agreement, wording_of

TABLES = tables_beside(__file__)


GIVENS = TABLES["givens"]
X, W_K = (np.array(GIVENS[name]) for name in ("X", "W_K"))


def test_what_is_kept_is_shown_and_not_asked():
    d = derive("kv_cache", **GIVENS)
    kept = [step for step in d if isinstance(step.op, Append)]
    assert [step.name for step in kept if step.role == "K_cache"] == ["K_cache.1", "K_cache.2", "K_cache.3"]
    assert all(step.op.trivial for step in kept)
    assert d["K_cache.2"].result == Matrix((X @ W_K)[:2].tolist())


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_the_key_says_that_both_ways_agree(orientation):
    turn = orientation == "columns"
    problem = derive("kv_cache", **(turned(GIVENS) if turn else GIVENS), orientation=orientation).problem
    agreed, (saved,) = agreement(problem, wording_of(problem))
    first, weights, then, output, end = spans(agreed)
    assert saved == Words("With the cache, 3 keys and 3 values are worked out; without it, 6 of each.")
    assert (first, then, end) == (Words("All weights at once: "), Words(", and exactly "), Words("."))
    assert isinstance(weights, Math)
    assert isinstance(output, Math)
    other = problem.derivation.replay(pinned={"Z": [[0, 0, 0], [0, 0, 0]] if turn else [[0, 0], [0, 0], [0, 0]]})
    spoilt = replace(problem, derivation=other)
    with pytest.raises(SelfCheckError):
        agreement(spoilt, wording_of(spoilt))


def test_in_letters_every_kept_key_has_its_own_name():
    d = derive("kv_cache", symbolic=True, sizes={"n": 2, "d_model": 1, "d_k": 1, "d_v": 1})
    wording = wording_of(d.problem)
    assert wording.working(d["S.2"], 0, 1) == Sum((wording.read("q_{2,1}·k_{2,1}"),))
    assert wording.working(d["S.2"], 0, 0) == Sum((wording.read("q_{2,1}·k_{1,1}"),))
