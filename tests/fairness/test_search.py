"""Tier B: siblings share what 4.6 calls radicals, and none is degenerate; NumPy checks."""

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import symattn
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import InputError
from symattn.teaching.fairness.features import features
from symattn.teaching.fairness.search import Band, draw_givens

FULL = {"n": 3, "d_model": 5, "d_k": 4, "d_v": 2}
GIVEN = {"n": 3, "m": 3, "d_k": 4, "d_v": 2}
CAUSAL = ((True, False, False), (True, True, False), (True, True, True))


def family(name, sizes, level="standard", softmax="e", count=8, seed=1, **setting):
    """The band of a first variant, and its siblings as (givens, features)."""
    m, rng = mechanism(name), random.Random(seed)
    settings = Settings.read({**m.defaults, **setting})
    first = draw_givens(m, settings, sizes, level, softmax, rng)
    band = Band.of(features(m.run(first, settings)), level)
    drawn = [draw_givens(m, settings, sizes, level, softmax, rng, band) for _ in range(count)]
    return band, [(g, features(m.run(g, settings))) for g in drawn]


def arrays(givens):
    found = {name: np.array([[int(x) for x in row] for row in m.rows]) for name, m in givens.items()}
    for role in "QKV":
        if f"W_{role}" in found:
            found[role] = found["X"] @ found[f"W_{role}"]
    return found | {"S": found["Q"] @ found["K"].T}


def lines_are_sound(matrix):
    for lines in (matrix, matrix.T):
        assert len(np.unique(lines, axis=0)) == len(lines)
        assert (lines != 0).any(axis=1).all()


CASES = [("self_attention", FULL), ("causal_self_attention", FULL), ("attention", GIVEN)]


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_siblings_share_their_radicals_and_none_is_degenerate(name, sizes):
    band, siblings = family(name, sizes, seed=2)
    for givens, found in siblings:
        assert abs(found.load - band.load) <= 0.05 * band.load
        assert abs(found.counts.h - band.h) <= 1
        assert abs(found.counts.two - band.two) <= 1
        assert abs(found.counts.neg - band.neg) <= 2
        assert abs(found.counts.adds - band.adds) <= 3
        assert found.ties == band.ties
        assert Counter(found.offsets) == Counter(band.patterns)
        a = arrays(givens)
        for role in "QKV":
            lines_are_sound(a[role])
            assert abs(a[role]).max() <= {"Q": 4, "K": 4, "V": 9}[role]
        if "X" in a:
            lines_are_sound(a["X"])
            assert all((a[w] != 0).any(axis=1).all() for w in ("W_Q", "W_K", "W_V"))
            assert all(abs(a[w]).max() == 1 for w in ("X", "W_Q", "W_K", "W_V"))
            entries = np.concatenate([a[w].ravel() for w in ("X", "W_Q", "W_K", "W_V")])
            assert 0.25 <= (entries == 0).mean() <= 0.45
        S = a["S"]
        assert not (S == S.T).all()
        assert not (a["Q"] == a["K"]).all()
        assert len(np.unique(S, axis=0)) == len(np.unique(S.T, axis=0)) == 3
        assert (S % 2 == 0).all()  # √d_k = 2, and scaled scores are integers
        assert abs(S).max() <= 12
        keep = np.array(CAUSAL) if name.startswith("causal") else np.ones((3, 3), bool)
        hidden = S[~keep] / 2
        if hidden.size:
            assert sorted(np.sign(hidden)) == [-1, 0, 1]
            assert abs(hidden).max() <= 3
        weights = np.where(keep, np.exp(S / 2), 0)
        weights /= weights.sum(axis=1, keepdims=True)
        for row, seen in zip(weights, keep, strict=True):
            if seen.sum() > 1:
                assert 0.40 <= row.max() <= 0.90
                assert row.max() > row[seen].min()
        assert Fraction(15, 100) <= found.negatives <= Fraction(30, 100)


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_values_tell_multiplied_scores_from_all_weight_on_the_largest(name, sizes):
    """C4 and X10 in NumPy; half the siblings that nobody asked for it would not show it."""
    m, rng = mechanism(name), random.Random(5)
    settings = Settings.read(m.defaults)
    band = Band.of(features(m.run(draw_givens(m, settings, sizes, "standard", "e", rng), settings)), "standard")
    keep = np.array(CAUSAL) if name.startswith("causal") else np.ones((3, 3), bool)
    for _ in range(4):
        a = arrays(draw_givens(m, settings, sizes, "standard", "e", rng, band, steep=True))
        multiplied, largest = np.where(keep, np.exp(2 * a["S"]), 0), np.where(keep, a["S"], -np.inf)
        hard = largest == largest.max(axis=1, keepdims=True)
        weights = (w / w.sum(axis=1, keepdims=True) for w in (multiplied, hard))
        one, other = (w @ a["V"] for w in weights)
        assert abs(one - other).max() >= 0.05


STARTER = [
    pytest.param("self_attention", (3, 6), marks=pytest.mark.slow),
    ("attention", (1, 2)),
    pytest.param("causal_self_attention", (5,), marks=pytest.mark.slow),
]


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("name", "seeds"), STARTER)
def test_small_numbers_have_a_family_at_the_level_s_own_sizes(name, seeds):
    for seed in seeds:
        sheets = symattn.worksheet(name, n=4, level="starter", seed=seed)
        assert len(sheets) == 4
        for sheet in sheets:
            matrices = sheet.question.problem.derivation.givens.values()
            assert {int(x) for m in matrices for row in m.rows for x in row} <= {0, 1, 2}


def test_a_fresh_family_lies_in_the_band_that_the_table_of_targets_states():
    m = mechanism("self_attention")
    load = features(m.run(draw_givens(m, Settings(), FULL, "standard", "e", random.Random(4)), Settings())).load
    assert 240 <= load <= 265


@pytest.mark.slow
@pytest.mark.parametrize(("base", "mask"), [(2, None), (2, "causal"), (3, None)])
def test_weights_that_are_finite_decimals(base, mask):
    _, siblings = family("self_attention", FULL, softmax=f"base {base}", count=2, base=base, mask=mask)
    for _, found in siblings:
        assert all(10**6 % D == 0 for D in found.D)


@pytest.mark.slow
def test_equal_scores_when_asked():
    _, siblings = family("self_attention", FULL, softmax="equal", count=2)
    for givens, found in siblings:
        assert (np.ptp(arrays(givens)["S"], axis=1) == 0).all()
        assert found.D == (3, 3, 3)


def test_two_tokens_for_a_start():
    band, siblings = family("attention", {"n": 2, "m": 2, "d_k": 2, "d_v": 2}, "starter", count=5)
    assert 20 <= band.load <= 25
    for givens, found in siblings:
        assert found.counts.neg == 0
        assert all(0 <= x <= 2 for m in givens.values() for x in m)


def test_columns_are_the_transposed_rows():
    m = mechanism("self_attention")
    rows, columns = Settings(), Settings.read({"orientation": "columns"})
    a = draw_givens(m, rows, FULL, "standard", "e", random.Random(6))
    b = draw_givens(m, columns, FULL, "standard", "e", random.Random(6))
    assert {name: matrix.T for name, matrix in b.items()} == a


def test_what_is_impossible_is_said():
    m = mechanism("attention")
    with pytest.raises(InputError, match="at least two keys"):
        draw_givens(m, Settings(), GIVEN | {"m": 1}, "standard", "e", random.Random(1))
    with pytest.raises(InputError, match="the base is set to e"):
        draw_givens(m, Settings(), GIVEN, "standard", "base 2", random.Random(1))
    with pytest.raises(InputError, match="rational scale"):
        draw_givens(m, Settings(base=2), GIVEN | {"d_k": 3}, "standard", "base 2", random.Random(1))
    with pytest.raises(InputError, match="no scores"):
        draw_givens(mechanism("weighted_values"), Settings(), GIVEN, "standard", "e", random.Random(1))
