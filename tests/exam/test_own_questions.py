"""Questions in the teacher's own words, and the parts of a question that are asked."""

from __future__ import annotations

import json

import pytest
from exams import exam_file, written
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts import drawn
from trials import at_least_one

import symattn
from symattn.formula import Relation
from symattn.marking.attempt import Attempt, Text
from symattn.marking.grading.record import TABLES
from symattn.marking.marker import mark
from symattn.teaching.explanation.layouts import formulas_among
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.question import RubricAnswer, total

EXAM = r"""
title = "Midterm"
instructions = ["Answers **without** reasons earn nothing, unless $n = 1$."]
variants = 2

[[question]]
mechanism = "self_attention"
ask = ["S", "A", "Z"]
marks = {S = 5}
title = "Attention $Z = \\mathrm{softmax}(Q K^\\top) V$"
text = "Work out the **scores** $S$, and what follows."

[[question]]
type = "choice"
items = 3
ask = ["a", "c"]

[[question]]
type = "text"
title = "Why divide by $\\sqrt{d_k}$?"
text = '''
Explain why scores are divided by $\sqrt{d_k}$:

$$ s'_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} $$
'''
points = 4
answer = "The variance of $q \\cdot k$ grows with $d_k$."
scheme = ["variance grows", "softmax saturates"]

[[question]]
type = "text"
title = "Short ones"
[[question.part]]
text = "Which products are defined?"
options = ["$X X^\\top$", "$X X$", "$X^\\top X$"]
answer = ["A", "C"]
points = 2
[[question.part]]
text = "How many parameters?"
answer = 8
name = "p"
[[question.part]]
text = "The causal mask of two tokens:"
name = "M"
answer = [[1, 0], [1, 1]]
points = 2
[[question.part]]
text = "What does it cost?"
answer = "n^2*d"
boxes = true
[[question.part]]
text = "What is it called?"
answer = "softmax"
boxes = true
[[question.part]]
text = "Anything else?"
lines = 3
points = 3
"""

HANDED_IN = """\
Question 3
Products of many entries
have a larger variance.

Question 4
(a) A, C
(b) p = 8
(c) M =
1 0
1 1
(d) d n^2
(e) Softmax
(f) Nothing.
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return written(exam_file(tmp_path_factory.mktemp("own"), EXAM), seed=2)


def test_own_words_stand_on_paper_and_key(made):
    exam, folder = made
    paper = (folder / "papers" / f"{exam.ids[0]}.md").read_text(encoding="utf-8")
    key = (folder / "keys" / f"{exam.ids[0]}-key.md").read_text(encoding="utf-8")
    assert "Answers **without** reasons earn nothing, unless $n = 1$." in paper
    assert "Work out the **scores** $S$, and what follows." in paper
    assert r"\frac{q_{i} \cdot k_{j}}{\sqrt{d_{k}}}" in paper
    assert "The variance of" not in paper
    assert "The variance of $q \\cdot k$ grows with $d_{k}$." in key
    assert "- softmax saturates" in key
    assert "[x] **A.**" in key
    assert "### (a)" not in paper.partition("## Question 3.")[2].partition("## Question 4.")[0]  # it is one part


def test_nothing_of_own_words_varies(made):
    exam, _ = made
    assert [len(pool) for pool in exam.pools] == [2, 2, 1, 1]
    assert exam.question(2, 0).title == "Why divide by √dₖ?"


def test_parts_that_are_asked_have_their_marks(made):
    exam, folder = made
    full, choice, why, short = exam.questions(0)
    assert {part.name: total(part.marks) for part in full.parts} == {"S": 5, "A": 4, "Z": 4}
    assert [part.name for part in choice.parts] == ["a", "b"]
    assert choice.marks == 2
    assert why.marks == 4
    assert [total(part.marks) for part in short.parts] == [2, 1, 2, 1, 1, 3]
    kept = json.loads((folder / "exam.json").read_text(encoding="utf-8"))
    assert [part["name"] for part in kept["questions"][0]["variants"][0]["parts"]] == ["S", "A", "Z"]


@pytest.mark.parametrize("left_out", ["Q", "S", "S'", "A"])
def test_what_other_parts_want_and_are_worth_stays_without_one(left_out):
    drawn_whole = drawn("self_attention", seed=4)
    names = [part.name for part in drawn_whole.parts if part.name != left_out]
    alone, whole = (
        [(part.name, part.title, part.answer, part.marks) for part in question.parts if part.name != left_out]
        for question in (drawn_whole.asking(names), drawn_whole)
    )
    assert alone == whole


@pytest.mark.parametrize(
    "mechanism", ["causal_self_attention", "multi_head_attention", "self_attention_gradient", "online_softmax"]
)
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_what_is_used_and_not_asked_is_given_by_its_rule_and_worked_out_in_the_key(mechanism, data):
    """On paper and key, every step that an asked one rests on stands on the left of an equation above its boxes."""
    question = drawn(mechanism, seed=4)
    names = [part.name for part in question.parts]
    asked = question.asking(data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True)))
    d, wording = question.problem.derivation, wording_of(question.problem)
    on_paper, in_key = set(), set()
    for part in at_least_one(asked.parts):
        on_paper |= left_sides(part.ask)
        in_key |= left_sides(part.key)
        rests_on = d.before(part.name) - {other.name for other in asked.parts}
        assert {wording.name(name) for name in rests_on} <= on_paper
        assert {wording.name(name) for name in rests_on if name in names} <= in_key


def left_sides(blocks):
    return {formula.parts[0] for formula in formulas_among(blocks) if isinstance(formula, Relation)}


def test_all_heads_of_a_step_are_asked_by_its_name():
    asked = drawn("multi_head_attention", seed=4).asking(["Z", "S"])
    assert [part.name for part in asked.parts] == ["S_1", "Z_1", "S_2", "Z_2"]


def test_what_is_handed_in_is_marked_in_boxes_and_read_by_a_person_in_words(made, tmp_path):
    exam, folder = made
    (tmp_path / f"{exam.ids[1]}.txt").write_text(HANDED_IN, encoding="utf-8")
    symattn.grade(folder, tmp_path, out=tmp_path / "marked", forms=["markdown"])
    [script] = json.loads((tmp_path / "marked" / "marks.json").read_text(encoding="utf-8"))["rows"]
    heads = TABLES["marks"]
    why, short = ([dict(zip(heads, mark, strict=True)) for mark in one["marks"]] for one in script["results"][2:])
    assert [mark["given"] for mark in short] == [2, 1, 2, 1, 1, 0]
    assert [mark["of"] for mark in (*why, *short) if mark["pending"]] == [4, 3]


def test_a_person_gives_marks_however_many_points_the_scheme_has(made):
    exam, _ = made
    why, short = exam.questions(0)[2:]
    assert isinstance(why.parts[0].answer, RubricAnswer)
    assert len(why.parts[0].answer.points) == 2
    for part, marks in ((why.parts[0], 4), (short.parts[5], 3)):
        assert part.points == marks
    for points in range(5):
        report = mark(why, Attempt({why.parts[0].name: Text("Read by somebody.", points)}))
        assert report.total == points
