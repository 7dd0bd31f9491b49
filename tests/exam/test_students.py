"""Who gets which paper: judged by brute force over all pairs of seats."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying

from symattn.teaching.exam.class_list import assign, balanced, neighbours, places, read_class


def write(folder, text):
    path = folder / "class.csv"
    path.write_text(text, "utf-8")
    return path


def touching(seats, given_out):
    """Pairs of seats at most one row and one column apart that have the same paper, all pairs tried."""
    pairs = [(a, b) for a in range(len(seats)) for b in range(a)]
    near = [(a, b) for a, b in pairs if all(abs(x - y) <= 1 for x, y in zip(seats[a], seats[b], strict=True))]
    return sum(given_out[a] == given_out[b] for a, b in near)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=60, unique=True),
    st.integers(5, 12),
    st.integers(0, 99),
)
def test_no_neighbours_have_the_same_paper(seats, papers, seed):
    given_out = assign(seats, papers, random.Random(seed))
    assert touching(seats, given_out) == neighbours(seats, given_out) == 0


@given(st.integers(1, 40), st.integers(10, 20), st.integers(0, 99))
def test_every_paper_goes_out_equally_often(rows, papers, seed):
    seats = [(r, c) for r in range(rows) for c in range(7)]
    given_out = assign(seats, papers, random.Random(seed))
    used = [given_out.count(p) for p in range(papers)]
    assert max(used) - min(used) <= 2
    assert touching(seats, given_out) == 0


def test_few_papers_part_those_beside_each_other_and_one_is_refused():
    seats = [(0, c) for c in range(9)]
    given_out = assign(seats, 2, random.Random(1))
    assert all(a != b for a, b in itertools.pairwise(given_out))
    with refused_saying("at least 2"):
        assign(seats, 1, random.Random(1))


def test_who_gets_what_cannot_be_read_off_the_order():
    seats = [(0, c) for c in range(40)]
    assert assign(seats, 10, random.Random(1)) != assign(seats, 10, random.Random(2))


def test_seats_from_the_list_or_row_by_row(tmp_path):
    listed = read_class(write(tmp_path, "name,id,seat\nA,1,2-3\nB,2,2-4"))
    assert places(listed, 0) == [(2, 3), (2, 4)]
    unlisted = read_class(write(tmp_path, "name,id\nA,1\nB,2\nC,3"))
    assert places(unlisted, 2) == [(0, 0), (0, 1), (1, 0)]
    assert places(unlisted, 0) == [(0, 0), (0, 1), (0, 2)]


@given(st.integers(1, 4).flatmap(lambda q: st.lists(
    st.lists(st.floats(50, 60), min_size=12, max_size=12), min_size=q, max_size=q)))  # fmt: skip
def test_papers_use_every_variant_once_and_totals_spread_no_more_than_the_worst_question(loads):
    papers = balanced(loads)
    for q in range(len(loads)):
        assert sorted(paper[q] for paper in papers) == list(range(12))
    totals = [sum(loads[q][v] for q, v in enumerate(paper)) for paper in papers]
    widest = max(max(load) - min(load) for load in loads)
    assert max(totals) - min(totals) <= widest + 1e-9


def test_two_questions_are_paired_as_well_as_any_pairing_can_do():
    rng = random.Random(5)
    for _ in range(20):
        loads = [[rng.random() for _ in range(5)] for _ in range(2)]
        best = min(
            max(t) - min(t)
            for order in itertools.permutations(range(5))
            for t in [[loads[0][p] + loads[1][v] for p, v in enumerate(order)]]
        )
        totals = [loads[0][a] + loads[1][b] for a, b in balanced(loads)]
        assert max(totals) - min(totals) == pytest.approx(best, abs=1e-12)
