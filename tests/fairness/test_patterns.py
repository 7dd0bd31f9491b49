"""The tables of rules.md 4.3 and 4.4, counted again by brute force in NumPy."""

from itertools import combinations_with_replacement, permutations, product
from math import isqrt

import numpy as np
import pytest

from symattn.teaching.fairness.patterns import mixed_patterns, row_patterns

# Table 4.3 as printed.  1:8:8 /17, 1:9:9 /19 and 1:8:8:8 /25, within its ranges, are left out there.
TABLE = {
    (2, 2, 3): "1:2 /3 · 1:4 /5● · 1:8 /9",
    (2, 3, 2): "1:3 /4● · 1:9 /10●",
    (3, 2, 3): "1:1:2 /4● · 1:2:2 /5● · 1:1:4 /6 · 1:2:4 /7 · 1:4:4 /9 · 1:1:8 /10● · 1:2:8 /11 · 1:4:8 /13",
    (3, 3, 2): "1:1:3 /5● · 1:3:3 /7 · 1:1:9 /11 · 1:3:9 /13",
}
EXAMPLES = {
    (4, 2, 3): "1:1:1:2 /5● · 1:1:2:4 /8● · 1:1:4:4 /10● · 1:1:2:2 /6 · 1:2:4:8 /15",
    (4, 3, 2): "1:1:3:3 /8● · 1:3:3:3 /10● · 1:3:3:9 /16● · 1:1:9:9 /20●",
}
MIXED = {
    2: (4, "1:3 /4 · 1:4 /5 · 2:3 /5 · 1:9 /10"),
    3: (15, "1:3:4 /8 · 1:3:6 /10 · 3:3:4 /10 · 2:9:9 /20"),
    4: (28, "1:2:3:4 /10 · 1:2:2:3 /8 · 1:3:4:8 /16"),
}


def printed(pattern):
    return f"{pattern}{'●' if pattern.terminating else ''}"


@pytest.mark.parametrize("cell", TABLE)
def test_the_printed_rows_are_all_there_are_up_to_16(cell):
    assert " · ".join(printed(p) for p in row_patterns(*cell) if p.D <= 16) == TABLE[cell]


@pytest.mark.parametrize("cell", EXAMPLES)
def test_rows_of_four(cell):
    listed = EXAMPLES[cell].split(" · ")
    assert set(listed) <= {printed(p) for p in row_patterns(*cell)}
    ended = [printed(p) for p in row_patterns(*cell, terminating=True) if p.D <= 20]
    assert ended == [p for p in listed if p.endswith("●")]


@pytest.mark.parametrize("n", MIXED)
def test_mixed_rows_with_finite_decimals(n):
    found = [str(p) for p in mixed_patterns(n)]
    number, listed = MIXED[n]
    assert len(found) == number
    assert set(listed.split(" · ")) <= set(found)


# (n, d_k), entries: all pairs, accepted, distinct S, up to relabelling
COUNTS = [
    ((2, 2), (0, 1, 2), (6561, 1084, 272, 271)),
    ((2, 2), (-1, 0, 1), (6561, 1312, 116, 82)),
    ((2, 3), (0, 1, 2), (531441, 132618, 1642, 11212)),
    ((2, 3), (-1, 0, 1), (531441, 167520, 532, 1856)),
    ((3, 2), (0, 1, 2), (531441, 33312, 12612, 2791)),
    ((3, 2), (-1, 0, 1), (531441, 63168, 5604, 1333)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "entries", "figures"), COUNTS)
def test_how_many_variants_there_are(sizes, entries, figures):
    pairs, scores, total = accepted(*sizes, entries)
    assert (total, len(pairs), len(np.unique(scores, axis=0))) == figures[:3]
    assert orbits(pairs, entries) == figures[3]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "figures"), [(2, (256, 4, 2)), (3, (4096, 24, 12)), (4, (65536, 0, 0))])
def test_entries_0_and_1_alone_are_unusable(n, figures):
    pairs, scores, total = accepted(n, 2, (0, 1))
    assert (total, len(pairs), len(np.unique(scores, axis=0)) if len(pairs) else 0) == figures


def accepted(n, d, entries):
    """Q, K with rows of S in the patterns of base 2, range ≤ 3, D ≤ 12, and nothing degenerate; S; all pairs."""
    every = np.array(list(product(entries, repeat=n * d))).reshape(-1, n, d)
    patterns = {tuple(w.bit_length() - 1 for w in p.weights) for p in row_patterns(n, 2, 3) if p.D <= 12}
    allowed = np.zeros((4,) * n, bool)
    for pattern in patterns:
        for offsets in permutations(pattern):
            allowed[offsets] = True
    filled = every[every.any(axis=2).all(axis=1)]
    kept, scores = [], []
    for q in filled:
        s = np.einsum("id,kjd->kij", q, filled)
        above = s - s.min(axis=2, keepdims=True)
        fine = (above <= 3).all(axis=(1, 2)) & (filled != q).any(axis=(1, 2)) & (s != s.swapaxes(1, 2)).any(axis=(1, 2))
        clipped = above.clip(max=3)
        for i in range(n):
            fine &= allowed[tuple(clipped[:, i, j] for j in range(n))]
            for other in range(i):
                fine &= (s[:, i] != s[:, other]).any(axis=1) & (s[:, :, i] != s[:, :, other]).any(axis=1)
        kept.append(np.stack([np.broadcast_to(q, (fine.sum(), n, d)), filled[fine]], axis=1))
        scores.append(s[fine].reshape(-1, n * n))
    return np.concatenate(kept), np.concatenate(scores), len(every) ** 2


def orbits(pairs, entries):
    """Classes under permutations of tokens and of features, and under signs of features where there are negatives."""
    n, d = pairs.shape[2:]
    digits = len(entries) ** np.arange(2 * n * d)
    signs = list(product((1, -1), repeat=d)) if min(entries) < 0 else [(1,) * d]
    least = None
    for tokens, columns, flips in product(permutations(range(n)), permutations(range(d)), signs):
        moved = pairs[:, :, list(tokens)][:, :, :, list(columns)] * np.array(flips) - min(entries)
        codes = moved.reshape(len(pairs), -1) @ digits
        least = codes if least is None else np.minimum(least, codes)
    return len(np.unique(least))


def test_layer_norm_of_three_integers_never_has_a_rational_deviation():
    # With deviations a, b, −a−b from the mean, σ² = 2(a² + ab + b²)/3, and σ = k rational asks for
    # 2(a² + ab + b²) = 3k².  The form a² + ab + b² holds the prime 2 an even number of times, so the left side does so
    # an odd number of times and the right side an even number: only a = b = k = 0.
    vectors = [v for v in combinations_with_replacement(range(9), 3) if len(set(v)) > 1]
    assert len(vectors) == 156
    for v in vectors:
        nine_variances = 3 * sum(x * x for x in v) - sum(v) ** 2  # 9σ², an integer; σ is rational if it is a square
        assert isqrt(nine_variances) ** 2 != nine_variances
