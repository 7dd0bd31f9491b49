"""Decoding with a key/value cache: the same as a causal pass, against PyTorch, NumPy and ourselves, exactly."""

import numpy as np
import pytest
from tables import tables_beside

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops import Append
from symattn.errors import SelfCheckError
from symattn.exact import Matrix
from symattn.formula import Sum
from symattn.page.document import Math, Words, spans
from symattn.page.notation import load_notation
from symattn.teaching.explanation.parts import agreement, wording_of
from symattn.teaching.problem import Problem

TABLES = tables_beside(__file__)


def run(name, givens, **settings):
    return mechanism(name).run(givens, Settings.read(settings))


GIVENS = TABLES["givens"]
X, W_Q, W_K, W_V = (np.array(GIVENS[name]) for name in ("X", "W_Q", "W_K", "W_V"))


def test_what_is_kept_is_shown_and_not_asked():
    d = run("kv_cache", GIVENS)
    kept = [step for step in d if isinstance(step.op, Append)]
    assert [step.name for step in kept if step.role == "K_cache"] == ["K_cache.1", "K_cache.2", "K_cache.3"]
    assert all(step.op.trivial for step in kept)
    assert d.value("K_cache.2") == Matrix((X @ W_K)[:2].tolist())


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_the_key_says_that_both_ways_agree(orientation):
    turn = orientation == "columns"
    givens = {k: [list(c) for c in zip(*v, strict=True)] if turn else v for k, v in GIVENS.items()}
    problem = Problem("", "kv_cache", run("kv_cache", givens, orientation=orientation), load_notation("standard"))
    agreed, (saved,) = agreement(problem, wording_of(problem))
    first, weights, then, output, end = spans(agreed)
    assert saved == Words("With the cache, 3 keys and 3 values are worked out; without it, 6 of each.")
    assert (first, then, end) == (Words("All weights at once: "), Words(", and exactly "), Words("."))
    assert isinstance(weights, Math)
    assert isinstance(output, Math)
    other = problem.derivation.replay(pinned={"Z": [[0, 0, 0], [0, 0, 0]] if turn else [[0, 0], [0, 0], [0, 0]]})
    spoilt = Problem("", "kv_cache", other, load_notation("standard"))
    with pytest.raises(SelfCheckError):
        agreement(spoilt, wording_of(spoilt))


def test_in_letters_every_kept_key_has_its_own_name():
    chosen = mechanism("kv_cache")
    sizes = {"n": 2, "d_model": 1, "d_k": 1, "d_v": 1}
    d = chosen.run(chosen.symbolic(sizes, Settings()), Settings(), staged=True)
    wording = wording_of(Problem("", "kv_cache", d, load_notation("standard")))
    assert wording.working(d["S.2"], 0, 1) == Sum((wording.read("q_{2,1}·k_{2,1}"),))
    assert wording.working(d["S.2"], 0, 0) == Sum((wording.read("q_{2,1}·k_{1,1}"),))
