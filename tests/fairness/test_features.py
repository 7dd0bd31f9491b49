"""Difficulty features: the figures of rules.md 2.3 and 4.6, and a plain loop as a second count."""

from functools import cache
from operator import attrgetter
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import turned
from sentences import refused_saying
from strategies import LAYOUTS
from test_golden_variant import GIVENS

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import Matrix
from symattn.exact.rounding import approximate
from symattn.teaching.fairness.family import kept, read_member
from symattn.teaching.fairness.features import Counts, features, mixed_patterns, product_counts, row_patterns
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.derived import kind_of


def worked_out(givens, name="self_attention", **setting):
    return mechanism(name).run(givens, Settings.read(setting))


def counted(a, b):
    """z, u, h, adds, neg, two of the product of two lists of lists of integers."""
    z = u = h = adds = neg = two = 0
    for row in a:
        for j in range(len(b[0])):
            terms = [x * b[k][j] for k, x in enumerate(row)]
            sizes = [(abs(x), abs(b[k][j])) for k, x in enumerate(row)]
            z += sum(t == 0 for t in terms)
            u += sum(t != 0 and min(s) == 1 for t, s in zip(terms, sizes, strict=True))
            h += sum(min(s) >= 2 for s in sizes)
            adds += max(0, sum(t != 0 for t in terms) - 1)
            neg += sum(t < 0 for t in terms)
            two += len(str(abs(sum(terms)))) >= 2
    return Counts(z, u, h, adds, neg, two)


def load(givens, found):
    """rules.md 4.6: of the products, the last with powers for weights, what their terms and results are worth."""
    powers = np.round(2.0 ** ((found["S"] - found["S"].min(axis=1, keepdims=True)) / 2))
    products = [(givens["X"], givens[f"W_{r}"]) for r in "QKV" if f"W_{r}" in givens]
    products += [(found["Q"], found["K"].T), (powers, found["V"])]
    parts = (counted(a.astype(int).tolist(), b.astype(int).tolist()) for a, b in products)
    return sum(np.dot(part, (0.4, 1.0, 2.5, 1.5, 0.8, 1.0)) for part in parts)


def test_the_textbook_example_has_the_printed_counts():
    found = features(derive("note-000", by="matrix").derivation)
    assert found.counts == Counts(z=81, u=47, h=7, adds=22, neg=0, two=4)
    assert found.counts.load == pytest.approx(133.9)


def test_the_golden_variant_is_heavy():
    found = features(worked_out(GIVENS))
    assert found.counts.neg == 41
    assert round(found.counts.load) == 257
    assert found.offsets == ((0, 2, 3), (0, 1, 2), (0, 2, 3))
    assert (found.argmax, found.ties) == ((0, 0, 2), 0)


def test_a_causal_mask_hides_three_of_nine():
    found = features(worked_out(GIVENS, mask="causal", base=2))
    assert found.offsets == ((0,), (0, 1), (0, 2, 3))
    assert found.argmax[0] == 0


@given(st.data())
def test_a_product_is_counted_as_a_loop_counts_it(data):
    n, k, m = (data.draw(st.integers(1, 4)) for _ in range(3))
    entry = st.integers(-5, 5)
    a = data.draw(st.lists(st.lists(entry, min_size=k, max_size=k), min_size=n, max_size=n))
    b = data.draw(st.lists(st.lists(entry, min_size=m, max_size=m), min_size=k, max_size=k))
    assert product_counts(Matrix(a), Matrix(b)) == counted(a, b)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_the_layout_makes_no_difference(layout, mask):
    givens = turned(GIVENS) if layout["orientation"] == "columns" else GIVENS
    assert features(worked_out(givens, mask=mask, **layout)) == features(worked_out(GIVENS, mask=mask))


def test_a_bias_is_one_more_term():
    plain, biased = features(worked_out(GIVENS)), features(worked_out(GIVENS | {"b_V": [[-2, 0]]}))
    assert biased.counts.adds - plain.counts.adds == 3  # no entry of V is 0 before
    assert biased.counts.neg - plain.counts.neg == 3


def test_letters_have_no_load():
    m = mechanism("self_attention")
    d = m.run(m.symbolic({"n": 2, "d_model": 2, "d_k": 2, "d_v": 2}, Settings()), Settings())
    with refused_saying("has letters"):
        features(d)


# ------------------------------------------------------------------------------------------------ levels

MOST = 12

LESS_IS_EASIER = {
    **{f"counts.{kind}": attrgetter(f"counts.{kind}") for kind in ("z", "u", "h", "adds", "neg", "two", "load")},
    **{kind: attrgetter(kind) for kind in ("output_counts.load", "load", "ties")},
    "range": lambda f: max(max(map(approximate, row)) for row in f.offsets),
    "D": lambda f: max(sum(2 ** approximate(x) for x in row) for row in f.offsets),
}
"""A tie counts as a difficulty, for 4.8 allows none on the starter level."""


@cache
def drawn(level, name):
    """The features of some members of the family of a level's default worksheet."""
    kind = kind_of(problem_type("full").spec({"level": level} | ({"mechanism": name} if name else {})))
    members = (kind.mechanism.run(read_member(line), kind.settings) for line in kept(kind)[:MOST])
    return tuple(map(features, members))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("starter", "standard"),
    [("", "self_attention"), ("attention", "attention"), ("self_attention", "self_attention")],
)
def test_starter_is_no_harder_than_standard(starter, standard):
    for feature, count in LESS_IS_EASIER.items():
        easy, usual = (median(map(count, drawn(*of))) for of in (("starter", starter), ("standard", standard)))
        assert easy <= usual, feature


@pytest.mark.parametrize("name", ["attention", pytest.param("self_attention", marks=pytest.mark.slow)])
def test_every_starter_variant_has_less_output_to_work_out_than_the_standard_ones_have_by_and_large(name):
    assert max(f.output_counts.load for f in drawn("starter", name)) <= median(
        f.output_counts.load for f in drawn("standard", name)
    )


def test_the_default_of_starter_is_attention_and_that_of_standard_is_self_attention():
    chosen = {level: problem_type("full").spec({"level": level}).mechanism for level in ("starter", "standard")}
    assert chosen == {"starter": "attention", "standard": "self_attention"}


# ------------------------------------------------------------------------------------------------ patterns

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
    return f"{':'.join(map(str, pattern))} /{sum(pattern)}"


def marked(pattern):
    """As the table prints it: with ● if every weight ends as a decimal."""
    return printed(pattern) + "●" * (10**9 % sum(pattern) == 0)


@pytest.mark.parametrize("cell", TABLE)
def test_the_printed_rows_are_all_there_are_up_to_16(cell):
    assert " · ".join(marked(p) for p in row_patterns(*cell) if sum(p) <= 16) == TABLE[cell]


@pytest.mark.parametrize("cell", EXAMPLES)
def test_rows_of_four(cell):
    listed = EXAMPLES[cell].split(" · ")
    assert set(listed) <= {marked(p) for p in row_patterns(*cell)}
    ended = [marked(p) for p in row_patterns(*cell, terminating=True) if sum(p) <= 20]
    assert ended == [p for p in listed if p.endswith("●")]


@pytest.mark.parametrize("n", MIXED)
def test_mixed_rows_with_finite_decimals(n):
    found = [printed(p) for p in mixed_patterns(n)]
    number, listed = MIXED[n]
    assert len(found) == number
    assert set(listed.split(" · ")) <= set(found)
