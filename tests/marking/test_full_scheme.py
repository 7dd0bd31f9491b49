"""The marks of a full question: the scheme of rules.md 3.10 as it is printed there, also token by token."""

import re

import pytest

from symattn.api import derive, make_recipe, worksheet
from symattn.derivation.ops import MatMul, Softmax
from symattn.teaching.problems.full import scheme
from symattn.teaching.question import marks_text, total
from symattn.teaching.sheets import sheets

PRINTED = (
    "shapes B1 · Q M1 A1 · K A1 · V A1 · S M1 A2 (A2: all; A1: ≥ 6 of 9) · scale M1 A1 · mask M1 A1 "
    "(unmasked: give these to S) · weights M1 A3 (one per row) · Y M1 A3 (one per row)"
)
"""rules.md 3.10, for three tokens and one head, 20 marks."""

STEPS = {"Q": "Q", "K": "K", "V": "V", "S": "S", "scale": "S'", "mask": "M", "weights": "A", "Y": "Z"}


def printed():
    """The codes of each step as rules.md prints them; the mark for shapes is Q's."""
    found = {}
    for item in re.sub(r" \([^)]*\)", "", PRINTED).split(" · "):
        name, *codes = item.split()
        found[STEPS.get(name, "shapes")] = codes
    found["Q"] = found.pop("shapes") + found["Q"]
    return found


def codes(problem):
    return {name: marks_text(marks).split() for name, marks in scheme(problem).items() if marks}


def role_marks(problem, role):
    """M2 A3 of all the steps of a role together."""
    summed = {}
    for name, marks in scheme(problem).items():
        if name.partition(".")[0] == role:
            for mark in marks:
                summed[mark.code] = summed.get(mark.code, 0) + mark.number
    return summed


def test_masked_it_is_the_printed_scheme():
    [sheet] = worksheet("causal_self_attention")
    assert codes(sheet.problem) == printed()
    assert sheet.question.marks == 20


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("stated", [{}, {"orientation": "columns"}, {"order": "KVQ"}])
def test_unmasked_the_marks_of_the_mask_are_the_scores(stated):
    [sheet] = worksheet(**stated)
    expected = printed()
    del expected["M"]
    expected["S"] = ["M2", "A3"]
    assert codes(sheet.problem) == expected
    assert sheet.question.marks == 20


@pytest.mark.slow
@pytest.mark.parametrize("stated", [{"mask": "causal"}, {"scores": "column", "order": "KVQ"}])
def test_token_by_token_every_role_has_the_marks_that_its_matrix_has(stated):
    [whole] = worksheet(**{k: v for k, v in stated.items() if k != "scores"})
    [sheet] = worksheet(by="token", **stated)
    assert sheet.question.marks == whole.question.marks == 20
    for role in ("Q", "K", "V", "S", "S'", "M", "A"):
        assert role_marks(sheet.problem, role) == role_marks(whole.problem, role)
    assert role_marks(sheet.problem, "weighted") == {"A": 1}
    assert role_marks(sheet.problem, "Z") == {"A": 3}
    assert scheme(sheet.problem)["Z"] == ()
    assert [total(scheme(sheet.problem)[f"A.{t}"]) for t in (1, 2, 3)] == [2, 1, 1]


def test_note_002_is_a_script_of_20_marks():
    """rules.md 3.11, case 1: its key is the corrected note."""
    assert sum(map(total, scheme(derive("note-002").problem).values())) == 20


def test_without_queries_the_keys_have_their_own_method_mark():
    d = derive("note-004").problem  # queries, keys and values are one projection H
    assert codes(d)["H"] == ["M1", "A1"]
    [sheet] = worksheet("attention")
    assert set(codes(sheet.problem)) == {"S", "S'", "A", "Z"}


def test_where_sizes_are_letters_each_shape_is_one_mark():
    sheet = derive("self_attention", symbolic=True).worksheet()
    assert [marks_text(part.marks) for part in sheet.question.parts] == ["B1"] * 7


def test_lines_without_marks_stay_without_when_the_points_are_others():
    [sheet] = worksheet(by="token")
    worth = sheet.question.worth(40)
    assert worth.marks == 40
    without = [part.name for part in worth.parts if not part.marks]
    assert {part.name for part in sheet.question.parts if not part.marks} <= {*without} != set()


def test_every_product_of_a_cache_has_a_mark_and_the_only_weight_none():
    for seed in (7, 11):
        [sheet] = sheets(make_recipe("kv_cache", {}, seed=seed), 1)
        worth = {name: total(marks) for name, marks in scheme(sheet.problem).items()}
        for step in sheet.problem.asked_steps:
            if isinstance(step.op, MatMul):
                assert worth[step.name] > 0, step.name
            if isinstance(step.op, Softmax):
                assert (worth[step.name] == 0) == (step.result.shape == (1, 1)), step.name
