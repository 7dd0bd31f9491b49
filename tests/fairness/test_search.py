"""Tier B: siblings share what 4.6 calls radicals, and none is degenerate; NumPy checks."""

import numpy as np
import pytest
from oracles import softmax
from sentences import refused_saying
from test_generator import check
from trials import at_least_one

import symattn
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.foundation.dice import Counted
from symattn.teaching.fairness.family import Kind
from symattn.teaching.fairness.features import features
from symattn.teaching.fairness.search import Band, draw_givens

FULL = {"n": 3, "d_model": 5, "d_k": 4, "d_v": 2}
GIVEN = {"n": 3, "m": 3, "d_k": 4, "d_v": 2}
CAUSAL = ((True, False, False), (True, True, False), (True, True, True))


def kind(name, sizes, level="standard", softmax="e", **setting):
    m = mechanism(name)
    return Kind(m, Settings.read({**m.defaults, **setting}), sizes, level, softmax)


def numbers(seed):
    """More than a sheet has: here nothing depends on luck."""
    rng = Counted(seed)
    rng.left = 40_000_000
    return rng


def worked_out(of, givens):
    return features(of.mechanism.run(givens, of.settings))


def family(*stated, count=8, seed=1, **setting):
    """The band of a first variant, and its siblings as (givens, features)."""
    of, rng = kind(*stated, **setting), numbers(seed)
    band = Band.of(worked_out(of, draw_givens(of, rng)), of.settings.base)
    return band, [(g, worked_out(of, g)) for g in (draw_givens(of, rng, band) for _ in range(count))]


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
    band, siblings = family(name, sizes, count=4, seed=5)
    for givens, found in at_least_one(siblings):
        assert abs(found.load - band.load) <= 0.05 * band.load
        for count, apart in {"h": 1, "two": 1, "neg": 2, "adds": 3}.items():
            assert abs(getattr(found.counts, count) - getattr(band.counts, count)) <= apart
        assert found.ties == band.ties
        a, causal = arrays(givens), name.startswith("causal")
        check(name, givens, "causal" if causal else None, 2, most=1 if "X" in a else 2)
        for role in "QKVX" if "X" in a else "QKV":
            lines_are_sound(a[role])
        if "X" in a:
            assert all((a[w] != 0).any(axis=1).all() for w in ("W_Q", "W_K", "W_V"))
            entries = np.concatenate([a[w].ravel() for w in ("X", "W_Q", "W_K", "W_V")])
            assert 0.25 <= (entries == 0).mean() <= 0.45
        S = a["S"]
        assert not (a["Q"] == a["K"]).all()
        assert len(np.unique(S, axis=0)) == len(np.unique(S.T, axis=0)) == 3
        assert (S % 2 == 0).all()  # √d_k = 2, and scaled scores are integers
        keep = np.array(CAUSAL) if causal else np.ones((3, 3), bool)
        hidden = S[~keep] / 2
        if hidden.size:
            assert sorted(np.sign(hidden)) == [-1, 0, 1]
            assert abs(hidden).max() <= 3
        weights = softmax(np.where(keep, S / 2, -np.inf))
        for row, seen in zip(weights, keep, strict=True):
            if seen.sum() > 1:
                assert 0.40 <= row.max() <= 0.90
                assert row.max() > row[seen].min()
        assert 0.15 <= found.counts.neg / (found.counts.u + found.counts.h) <= 0.30


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_values_tell_multiplied_scores_from_all_weight_on_the_largest(name, sizes):
    """C4 and X10 in NumPy; half of what is drawn without asking for it would not show it."""
    of, rng = kind(name, sizes), numbers(5)
    keep = np.array(CAUSAL) if name.startswith("causal") else np.ones((3, 3), bool)
    for _ in range(4):
        a = arrays(draw_givens(of, rng, steep=True))
        seen = np.where(keep, a["S"], -np.inf)
        hard = seen == seen.max(axis=1, keepdims=True)
        one, other = (w @ a["V"] for w in (softmax(2 * seen), hard / hard.sum(axis=1, keepdims=True)))
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
    of = kind("self_attention", FULL)
    assert 240 <= worked_out(of, draw_givens(of, numbers(4))).load <= 265


@pytest.mark.parametrize(
    ("base", "mask"), [(2, None), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((2, "causal"), (3, None)))]
)
def test_weights_that_are_finite_decimals(base, mask):
    _, siblings = family("self_attention", FULL, softmax=f"base {base}", count=2, base=base, mask=mask)
    for givens, _ in at_least_one(siblings):
        S = arrays(givens)["S"] // 2
        for row, kept in zip(S, np.tri(3, dtype=bool) if mask else np.ones((3, 3), bool), strict=True):
            assert 10**6 % (base ** (row[kept] - row[kept].min())).sum() == 0


def test_scaled_scores_are_whole_where_the_scale_is():
    """For an odd number of features: others are drawn in pairs, whose products are even anyway."""
    givens = draw_givens(kind("attention", GIVEN | {"d_k": 3}, scale="2"), numbers(1))
    assert (arrays(givens)["S"] % 2 == 0).all()


@pytest.mark.slow
def test_equal_scores_when_asked():
    of, rng = kind("self_attention", FULL, softmax="equal"), numbers(1)
    for _ in range(2):
        assert (np.ptp(arrays(draw_givens(of, rng))["S"], axis=1) == 0).all()


def test_two_tokens_for_a_start():
    band, siblings = family("attention", {"n": 2, "m": 2, "d_k": 2, "d_v": 2}, "starter", count=5, scale="none")
    assert 20 <= band.load <= 25
    for givens, found in siblings:
        assert found.counts.neg == 0
        assert all(0 <= x <= 2 for m in givens.values() for x in m)


def test_rows_of_many_keys_have_sums_and_ties_next_to_those_of_the_first():
    """One more or less for each key beyond three; powers of 2 stand in for those of e."""
    of, rng = kind("attention", {"n": 5, "m": 5, "d_k": 4, "d_v": 3}), numbers(2)

    def rows(givens):
        S = arrays(givens)["S"] / 2
        return np.sort((2.0 ** (S - S.min(axis=1, keepdims=True))).sum(axis=1)), sum(5 - len({*row}) for row in S)

    first = draw_givens(of, rng)
    band, (sums, ties) = Band.of(worked_out(of, first)), rows(first)
    for _ in range(3):
        its_sums, its_ties = rows(draw_givens(of, rng, band))
        assert abs(its_sums - sums).max() <= 2
        assert abs(its_ties - ties) <= 2


def test_what_is_impossible_is_said():
    for of, said in (
        (kind("attention", GIVEN | {"m": 1}), "at least two keys"),
        (kind("attention", GIVEN, softmax="base 2"), "the base is set to e"),
        (kind("attention", GIVEN | {"d_k": 3}, softmax="base 2", base=2), "rational scale"),
    ):
        with refused_saying(said):
            draw_givens(of, numbers(1))


def test_a_search_ends():
    """When its numbers are used up, and not only when it is lucky: so many queries of one feature cannot differ."""
    rng = numbers(1)
    rng.left = 20_000
    with refused_saying("no variants of attention that are equally hard, with n = 9"):
        draw_givens(kind("attention", {"n": 9, "m": 9, "d_k": 1, "d_v": 2}, "starter"), rng)
