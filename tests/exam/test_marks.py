"""Marks that are shared out: whole numbers in proportion, none lost, none of a part left without."""

import json
from fractions import Fraction

from exams import exam_file, written
from finished_languages import OTHERS
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying

from symattn.foundation.languages import say, speaking
from symattn.foundation.typed import plain, read
from symattn.page.document import Words
from symattn.teaching.question import Lesser, Mark, Part, Question, WordAnswer, share, total, with_notes


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


of_rules = st.builds(
    Mark,
    st.sampled_from(["A", "B"]),
    st.integers(1, 4),
    rule=st.sampled_from([None, "all", "one swap", "rows", Lesser(Fraction(2, 3)), Lesser(Fraction(3, 4))]),
)


@given(st.lists(st.lists(of_rules, min_size=1, max_size=3), min_size=1, max_size=5), st.integers(1, 12))
def test_notes_of_frozen_marks_are_said_in_every_language(parts, points):
    made = tuple(mark for part in question(parts).worth(points).parts for mark in part.marks)
    restored = with_notes(read(tuple[Mark, ...], json.loads(json.dumps(plain(made))), "Marks"))
    assert restored == made
    for language in OTHERS:
        with speaking(language):
            said = [say(mark.what) for mark in restored if mark.what]
            assert said == [say(mark.what) for mark in made if mark.what]
            assert not set(said) & {mark.what for mark in made}


def test_an_exam_with_fewer_points_than_lines_says_so_in_its_language(tmp_path, caplog):
    file = exam_file(tmp_path, 'language = "de"\nvariants = 1\n[[question]]\ntype = "counts"\npoints = 5\n')
    _, folder = written(file)
    (key,) = folder.glob("keys/*-key.md")
    assert "diese Antwort und die nächste" in key.read_text()
    assert "stays English" not in caplog.text
