"""Where a share of the marks begins and ends (rules.md 3.5), and which entry is called wrong, whatever the layout."""

from dataclasses import replace

import pytest
from scripts import turned

from symattn.api import derive
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions.entries import grid

Q, K, V = [[1, 0], [2, 1], [0, 3]], [[1, 0], [0, 1]], [[1], [5]]
"""S = Q Kᵀ is Q here."""


def marked(answers, orientation="rows"):
    upright = orientation == "rows"
    given = {name: m if upright else turned(m) for name, m in (("Q", Q), ("K", K), ("V", V))}
    sheet = derive("attention", **given, scale="none", orientation=orientation).worksheet()
    typed = {name: grid([map(str, row) for row in rows]) for name, rows in answers.items()}
    question = replace(sheet.question, intended=True)  # as if these numbers had been drawn
    return mark(question, Attempt(typed), POLICIES["ecf"])


def mark_for(report, part, code):
    return next(given for given in report.marks if given.parts == (part,) and given.code == code)


@pytest.mark.parametrize(("right", "earned"), [(2, 0), (3, 2), (4, 2)])
def test_half_of_the_entries_of_a_line_show_its_method_and_one_less_does_not(right, earned):
    """Three of six: the others are no number that a known mistake gives."""
    wrong, entries = iter((41, -57, 83, 29)), [x for row in Q for x in row]
    typed = [x if k < right else next(wrong) for k, x in enumerate(entries)]
    given = mark_for(marked({"S": [typed[:2], typed[2:4], typed[4:]]}), "S", "M")
    assert (given.given, given.of) == (earned, 2), given.why


def test_of_three_marks_on_an_easier_path_one_can_be_had():
    """Scores that are all alike make weights that need no working; the outputs that follow are the means of V."""
    report = marked({"S": [[4, 4]] * 3, "A": [["1/2", "1/2"]] * 3, "Z": [[3]] * 3})
    given = mark_for(report, "Z", "A")
    assert (given.given, given.of) == (1, 3), given.why  # half, rounded down


@pytest.mark.parametrize(("easier", "earned"), [(1, 3), (2, 1), (3, 1)])
def test_what_equals_the_key_keeps_its_marks_on_an_easier_path(easier, earned):
    """Two rows of three are enough work; of three marks half, rounded down, is one, and so is that of the other row."""
    scores = [[4, 4]] * easier + Q[easier:]
    powers = [[f"e^{x}" for x in row] for row in scores]
    weights = [[f"{x}/({a}+{b})" for x in (a, b)] for a, b in powers]
    outputs = [[f"({a}+5{b})/({a}+{b})"] for a, b in powers]
    report = marked({"S": scores, "A": weights, "Z": outputs})
    assert all(verdict.accepted for part in "AZ" for verdict in report.of(part).values())
    for part in "AZ":
        assert mark_for(report, part, "A").given == earned


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_an_entry_is_wrong_where_it_was_written(orientation):
    typed = [row.copy() for row in (Q if orientation == "rows" else turned(Q))]
    place = (2, 0) if orientation == "rows" else (0, 2)
    typed[place[0]][place[1]] = 77
    report = marked({"S": typed}, orientation)
    assert [(v.part, v.i, v.j) for v in report.verdicts if v.state == "wrong"] == [("S", *place)]
    assert [event.entries for event in report.events] == [(("S", *place),)]
