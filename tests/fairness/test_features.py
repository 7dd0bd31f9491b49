"""Difficulty features: the figures of rules.md 2.3 and 4.6, and a plain loop as a second count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import turned
from sentences import refused_saying
from strategies import LAYOUTS
from test_golden_variant import GIVENS

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import Matrix
from symattn.teaching.fairness.features import Counts, features, product_counts

TEXTBOOK = {  # the example of notes 000 and 002
    "X": [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]],
    "W_Q": [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
    "W_K": [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]],
    "W_V": [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]],
}


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


def test_the_textbook_example_has_the_printed_counts():
    found = features(worked_out(TEXTBOOK))
    assert found.counts == Counts(z=81, u=47, h=7, adds=22, neg=0, two=4)
    assert found.load_scores == pytest.approx(133.9)


def test_the_golden_variant_is_heavy():
    found = features(worked_out(GIVENS))
    assert found.counts.neg == 41
    assert round(found.load_scores) == 257
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
