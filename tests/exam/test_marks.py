"""Marks that are shared out: whole numbers in proportion, none lost, none of a part left without."""

from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying

from symattn.page.document import Words
from symattn.teaching.question import Mark, Part, Question, WordAnswer, share, total


@given(st.integers(0, 200), st.lists(st.integers(1, 20), min_size=1, max_size=12))
def test_shares_add_up_and_are_never_a_whole_mark_off(points, weights):
    shares = share(points, weights)
    assert sum(shares) == points
    for got, weight in zip(shares, weights, strict=True):
        assert abs(got - points * weight / sum(weights)) < 1


def question(marks):
    parts = (Part(str(k), (Words("x"),), (), (), WordAnswer("x"), tuple(own)) for k, own in enumerate(marks))
    return Question("full", "Title", (), tuple(parts), {})


marks = st.lists(st.builds(Mark, st.sampled_from(["M", "A", "B"]), st.integers(1, 6)), min_size=1, max_size=3)


@given(st.lists(marks, min_size=1, max_size=9), st.integers(0, 60))
def test_every_part_keeps_at_least_one_mark(parts, more):
    points = len(parts) + more
    worth = question(parts).worth(points)
    assert worth.marks == points
    assert all(total(part.marks) >= 1 for part in worth.parts)
    assert all(mark.number >= 1 for part in worth.parts for mark in part.marks)


@given(st.lists(marks, min_size=1, max_size=9), st.integers(1, 60))
def test_no_part_loses_its_last_accuracy_mark(parts, points):
    own = question(parts)
    for before, after in zip(own.parts, own.worth(points).parts, strict=True):
        if after.marks and any(mark.code != "M" for mark in before.marks):
            assert any(mark.code != "M" for mark in after.marks)


@given(st.lists(marks, min_size=2, max_size=9), st.data())
def test_fewer_points_than_lines_join_neighbours(parts, data):
    points = data.draw(st.integers(1, len(parts) - 1))
    worth = question(parts).worth(points)
    joined = [mark.joined for part in worth.parts for mark in part.marks]
    assert worth.marks == len(joined) == points
    assert [name for names in joined for name in names] == [part.name for part in worth.parts]


def test_its_own_marks_are_not_changed_and_no_points_are_refused():
    own = question([[Mark("M", 1), Mark("A", 3)], [Mark("B", 2)]])
    assert own.worth(own.marks) == own
    with refused_saying("points is 0; 1 or more were expected"):
        own.worth(0)
