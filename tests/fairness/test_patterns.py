"""The tables of rules.md 4.3 and 4.4."""

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
