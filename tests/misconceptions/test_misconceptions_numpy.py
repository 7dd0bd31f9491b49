"""Every misconception against its second implementation in NumPy, on random variants in every layout."""

import math
import random

import numpy as np
import oracles
import pytest
from numpy_misconceptions import HABITS, Variant, wrong_values

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.misconceptions.block import MISCONCEPTIONS as BLOCK
from symattn.derivation.misconceptions.gradient import MISCONCEPTIONS as GRADIENT
from symattn.derivation.misconceptions.gradient import MISCONCEPTIONS as LOSS
from symattn.derivation.misconceptions.heads import MISCONCEPTIONS as HEADS
from symattn.derivation.misconceptions.incremental import MISCONCEPTIONS as INCREMENTAL
from symattn.derivation.misconceptions.incremental import MISCONCEPTIONS as RECURRENCE
from symattn.derivation.misconceptions.position import MISCONCEPTIONS as POSITION

DIVISORS = {"sqrt(d_k)": lambda s: math.sqrt(s["d_k"]), "none": lambda s: None, "3": lambda s: 3.0}
MASKS = [None, "causal", "padding:2", "window:2:both", "causal+window:2", "causal+padding:2", "custom"]
BASES = ["e", "e", "e", "2"]


def test_every_misconception_of_plain_attention_has_a_witness():
    """Those of the other families have theirs in tests/mechanisms."""
    others = {m.id for family in (HEADS, BLOCK, POSITION, INCREMENTAL, RECURRENCE, GRADIENT, LOSS) for m in family}
    assert list(HABITS) == [id for id in misconceptions() if id not in others]


def variant(seed):
    """Givens in plain lists, the settings, and the same for NumPy."""
    rng = random.Random(seed)

    def pick(options):
        return options[int(rng.random() * len(options))]

    sizes = {"n": pick([3, 3, 4]), "d_model": pick([2, 3, 5]), "d_k": pick([2, 3, 4, 4]), "d_v": pick([2, 3, 4])}
    if seed % 5 == 0:
        sizes = dict.fromkeys(sizes, 3)  # where shape errors are silent
    n = sizes["n"]
    shapes = {"X": ("n", "d_model"), "W_Q": ("d_model", "d_k"), "W_K": ("d_model", "d_k"), "W_V": ("d_model", "d_v")}
    givens = {
        name: [[pick([-1, -1, 0, 1, 1, 2]) for _ in range(sizes[b])] for _ in range(sizes[a])]
        for name, (a, b) in shapes.items()
    }
    for role, width in (("Q", "d_k"), ("K", "d_k"), ("V", "d_v")):
        if pick([True, False, False]):
            givens[f"b_{role}"] = [[pick([-1, 1, 2]) for _ in range(sizes[width])]]
    scale, mask, base = pick(list(DIVISORS)), pick(MASKS), pick(BASES)
    if base != "e":
        scale = scale if math.isqrt(sizes["d_k"]) ** 2 == sizes["d_k"] else "none"  # 2^√3 takes long
    if mask == "custom":
        mask = [[1 if i == j else pick([0, 1]) for j in range(n)] for i in range(n)]
    settings = {"scale": scale, "mask": mask, "base": base}
    arrays = {name: np.array(rows, dtype=float) for name, rows in givens.items()}
    number = math.e if base == "e" else float(base)
    return givens, settings, Variant(arrays, DIVISORS[scale](sizes), oracles.kept(mask, n, n), mask, number, sizes)


def agree(wrong, witness, columns):
    id = wrong.misconception.id
    expected, stopped = wrong_values(witness, id)
    given = wrong.derivation.givens
    found = {s.name: oracles.floats(s.result) for s in wrong.derivation if s.name not in given}
    if columns:
        found = {name: a.T for name, a in found.items()}
    assert list(found) == list(expected), (id, wrong.stopped)
    for name, value in found.items():
        assert value.shape == expected[name].shape, (id, name)
        assert np.allclose(value, expected[name], rtol=1e-9, atol=1e-9), (id, name, value, expected[name])
    assert bool(wrong.stopped) == bool(stopped), (id, wrong.stopped)
    if wrong.stopped:
        assert wrong.stopped.startswith(f"{stopped} is not defined"), (id, wrong.stopped)


SEEDS = range(12)


@pytest.mark.covering(most=1, rest=2)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_step_of_every_misconception(seed):
    givens, settings, witness = variant(seed)
    orientation = ("rows", "columns")[seed % 2]
    if orientation == "columns":
        givens = {name: [list(c) for c in zip(*rows, strict=True)] for name, rows in givens.items()}
    d = mechanism("self_attention").run(givens, Settings.read({**settings, "orientation": orientation}))
    wrongs = replayed(d)
    assert len(wrongs) > 30
    for wrong in wrongs:
        assert wrong.right == d
        assert wrong.derivation.orientation == orientation
        agree(wrong, witness, orientation == "columns")
        assert wrong.first == first_that_differs(wrong, witness, orientation == "columns"), wrong.misconception.id


def first_that_differs(wrong, witness, columns):
    expected, _ = wrong_values(witness, wrong.misconception.id)
    for step in wrong.right:
        right = oracles.floats(step.result).T if columns else oracles.floats(step.result)
        found = expected.get(step.name)
        if found is None or found.shape != right.shape or not np.allclose(found, right, atol=1e-12):
            return step.name
    return None


@pytest.mark.slow
def test_every_misconception_has_been_seen_in_the_variants():
    seen = set()
    for seed in SEEDS:
        givens, settings, _ = variant(seed)
        d = mechanism("self_attention").run(givens, Settings.read(settings))
        seen |= {wrong.misconception.id for wrong in replayed(d)}
    assert seen == set(HABITS)
