"""Starter is easier than standard in whatever is counted (rules.md 4.6, 4.8)."""

from functools import cache
from statistics import median

import pytest

from symattn.exact.approximate import approximate
from symattn.teaching.fairness.family import kept, read_member
from symattn.teaching.fairness.features import features
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.derived import kind_of

MOST = 12

LESS_IS_EASIER = {
    "z": lambda f: f.counts.z,
    "u": lambda f: f.counts.u,
    "h": lambda f: f.counts.h,
    "adds": lambda f: f.counts.adds,
    "neg": lambda f: f.counts.neg,
    "two": lambda f: f.counts.two,
    "L_S": lambda f: f.load_scores,
    "L_out": lambda f: f.load_output,
    "L": lambda f: f.load,
    "ties": lambda f: f.ties,
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
    assert max(f.load_output for f in drawn("starter", name)) <= median(f.load_output for f in drawn("standard", name))


def test_the_default_of_starter_is_attention_and_that_of_standard_is_self_attention():
    chosen = {level: problem_type("full").spec({"level": level}).mechanism for level in ("starter", "standard")}
    assert chosen == {"starter": "attention", "standard": "self_attention"}
