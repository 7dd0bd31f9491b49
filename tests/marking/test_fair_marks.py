"""What mistakes cost in types of their own: the marks were decided beforehand from the scheme that is printed.

The wrong answers are worked out here, from the numbers on the sheet, and not by the catalogue.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from oracles import floats, softmax
from scripts import drawn, ids, key_script, lost, marked, mistakes
from scripts import right_answer as right

from symattn.exact import decimal_text
from symattn.marking.attempt import Attempt, Grid, Grids
from symattn.marking.submissions.entries import entry, grid
from symattn.teaching.problems.masks import keep_of


def answered(question, **changed):
    """The key, with other answers to some parts."""
    return Attempt({**{part.name: right(part) for part in question.parts if part.name not in key(question)},
                    **key_script(question).answers, **changed})  # fmt: skip


def key(question):
    return set(key_script(question).answers)


# ------------------------------------------------------------------------------------------------ masks


def keep(question):
    """Which scores are seen."""
    content = question.content
    return keep_of(content["kind"], content["parameters"], len(content["scores"]), len(content["tokens"]))


def weights(question, wrong):
    """The weights of somebody who ignores the mask, adds 0 for it, or masks afterwards."""
    scores = question.problem.derivation.value("S'")
    rows = []
    for i, seen in enumerate(keep(question)):
        powers = [
            Fraction(math.exp(float(decimal_text(scores[i, j], 15)))).limit_denominator(50) for j in range(len(seen))
        ]
        if wrong == "zeros":
            powers = [p if s else Fraction(1) for p, s in zip(powers, seen, strict=True)]
        shares = [p / sum(powers) for p in powers]
        if wrong == "afterwards":
            shares = [p if s else Fraction(0) for p, s in zip(shares, seen, strict=True)]
        rows.append([str(x) if i in question.content["asked"] else "" for x in shares])
    return grid(rows)


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize(("wrong", "id", "method"), [("ignored", "M1", 0), ("zeros", "M4", 0), ("afterwards", "M5", 1)])
def test_a_mask_that_is_not_used_costs_the_marks_for_the_weights(seed, wrong, id, method):
    """M1 is for hidden keys with no weight, and accuracy for rows that are right: none of them is."""
    question = drawn(problem="masks", seed=seed)
    report = marked(question, answered(question, weights=weights(question, wrong)))
    [event] = mistakes(report)
    assert id in ids(event)
    given = {mark.code: mark.given for mark in report.marks if mark.parts == ("weights",)}
    assert given == {"M": method, "A": 0}
    assert set(lost(report)) == {"weights"}


def test_one_other_number_for_what_is_hidden_is_one_mistake():
    question = next(
        q for q in (drawn(problem="masks", seed=seed) for seed in range(1, 20)) if q.content["style"] == "additive"
    )
    rows = [["0" if seen else "1" for seen in row] for row in keep(question)]
    report = marked(question, answered(question, mask=grid(rows)))
    [event] = mistakes(report)
    assert [candidate.says for candidate in event.candidates] == ["1 was written for −∞ throughout"]
    assert lost(report) == {"mask": 1}


# ------------------------------------------------------------------------------------------------ designs


def designed(question, form):
    """Scores for the weights asked for, as their logarithms in numbers."""
    weights = question.parts[0].answer.parameters["weights"]
    return grid([[form(math.log(Fraction(x))) for x in row] for row in weights])


@pytest.mark.covering(most=3, product=False)
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("places", [2, 3, 4, 9])
@pytest.mark.parametrize("cut", [False, True])
def test_logarithms_that_were_evaluated_are_right(seed, places, cut):
    """They may be left as they are, so they need not."""
    question = drawn(problem="design", seed=seed)
    form = (lambda x: f"{math.trunc(x * 10**places) / 10**places:.{places}f}") if cut else (lambda x: f"{x:.{places}f}")
    report = marked(question, answered(question, a=Grids({"S": designed(question, form)})))
    assert not mistakes(report)
    assert "a" not in lost(report)


@pytest.mark.covering(most=3, product=False)
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("form", [
    lambda x: f"{x / math.log(2):.3f}",  # to base 2
    lambda x: f"{math.exp(x):.3f}",  # the weights themselves
    lambda x: f"{1.1 * x:.3f}",  # in another proportion
    lambda x: f"{x:.0f}.0",  # too coarse to show anything
])  # fmt: skip
def test_other_numbers_are_not(seed, form):
    question = drawn(problem="design", seed=seed)
    report = marked(question, answered(question, a=Grids({"S": designed(question, form)})))
    assert [event.part for event in mistakes(report)] == ["a"]


def test_working_that_may_show_the_method_is_for_a_person_to_read():
    question = drawn(problem="design")
    wrong = answered(question, a=Grids({"S": grid([["0"] * 3] * 2)}))
    assert not marked(question, wrong).pending
    report = marked(question, replace(wrong, worked=frozenset("a")))
    assert {(mark.code, mark.pending) for mark in report.marks if mark.parts == ("a",)} == {("M", True), ("A", False)}


# ------------------------------------------------------------------------------------------------ rotations


def test_rotations_counted_from_the_wrong_number_are_one_mistake_that_was_carried_on():
    """Every distance is right, so that scores follow from the wrong lines and equal the key."""
    question = drawn("rotary_attention")
    d = question.problem.derivation
    wrong = {}
    for role in "QK":
        turn = d[f"R_{role}"].op
        rows = [[int(x) for x in row] for row in d.value(role).rows]
        found = []
        for row, position in zip(rows, turn.positions, strict=True):
            pairs = [complex(x, y) for x, y in zip(row[::2], row[1::2], strict=True)]
            units = [complex(*map(int, angle.at(1))) for angle in turn.angles]  # quarter turns
            late = [z * u ** (position + 1) for z, u in zip(pairs, units, strict=True)]
            found.append([str(round(x)) for z in late for x in (z.real, z.imag)])
        wrong[f"R_{role}"] = grid(found)
    report = marked(question, answered(question, **wrong))
    assert [ids(event) for event in mistakes(report)] == [["E13"]]
    assert lost(report) == {"R_Q": 2, "R_K": 1}
    assert not [notice for notice in report.notices if notice.kind == "blank"]


# ------------------------------------------------------------------------------------------------ translations


def test_in_a_translation_nothing_is_implied_by_a_later_line():
    question = drawn(problem="translate")
    scores = next(part for part in question.parts if getattr(part.answer, "step", "") == "S")
    turned = Grid(tuple(zip(*answered(question).answers[scores.name].rows, strict=True)))
    report = marked(question, answered(question, **{scores.name: turned}))
    [event] = mistakes(report)
    assert ids(event) == ["T2"]  # and not P4: there are no weights to be mixed up
    assert lost(report) == {scores.name: 2}


# ------------------------------------------------------------------------------------------------ one slip


def by_numpy(question):
    d = question.problem.derivation
    return {name: floats(d.value(name)) for name in "SAV"}


def page(rows):
    return grid([[f"{x:.4f}" for x in row] for row in rows])


def test_a_slip_with_a_name_costs_no_method():
    """Rows 2 and 3 of three exchanged: M1 stays, and A1 of A3 for the row that is right."""
    question = drawn("attention", seed=3, softmax="base 2")
    found = by_numpy(question)
    output = (found["A"] @ found["V"])[[0, 2, 1]]
    report = marked(question, answered(question, Z=page(output)), "ib")
    assert [ids(event)[0] for event in mistakes(report)] == ["A18"]
    assert {mark.code: mark.given for mark in report.marks if mark.parts == ("Z",)} == {"M": 1, "A": 1}


def test_weights_that_became_one_hot_are_not_called_uniform():
    for seed in (1, 3):
        question = drawn("attention", seed=seed, softmax="base 2")
        found = by_numpy(question)
        largest = (found["S"] == found["S"].max(axis=1, keepdims=True)).astype(float)
        weights = largest / largest.sum(axis=1, keepdims=True)
        report = marked(question, answered(question, A=page(weights), Z=page(weights @ found["V"])))
        said = " ".join(str(notice.says) for notice in report.notices if notice.kind == "veto")
        assert "Easier than intended" in said
        assert "uniform" not in said
        assert ("one-hot" in said) == (set(largest.sum(axis=1)) == {1})


# ------------------------------------------------------------------------------------------------ drills and counts


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("seed", range(1, 3))
def test_scores_of_a_drill_divided_by_d_k_are_named(seed):
    question = drawn(problem="drills", seed=seed)
    part = next((part for part in question.parts if getattr(part.answer, "step", "") == "S'"), None)
    if part is None:
        pytest.skip("No drill of this sheet scales.")
    d = part.answer.derivation
    rows = [[str(Fraction(x) / d["S'"].op.divisor ** 2) for x in row] for row in d.value("S").rows]
    report = marked(question, answered(question, **{part.name: grid(rows)}))
    [event] = mistakes(report)
    assert ids(event)[0] == "C2"


def test_what_the_key_lists_as_wrong_is_recognised():
    """The numbers before "one head only" and "keys or values, not both" in the key."""
    question = drawn(problem="counts")
    n, cache = question.content["scores"]["n"], next(part for part in question.parts if part.name == "cache")
    numbers, size = cache.answer.value[0, 0], cache.answer.value[1, 0]
    half = grid([[str(numbers // 2)], [str(size // 2)]])
    report = marked(question, answered(question, scores=entry(str(n**2)), cache=half))
    said = [event.candidates[0].says for event in mistakes(report)]
    assert said == ["one head only was counted", "keys or values were counted, not both"]


# ------------------------------------------------------------------------------------------------ losses


@pytest.mark.parametrize(("id", "part"), [("X16", "probabilities"), ("X17", "loss"), ("X18", "loss")])
def test_wrong_losses_are_named(id, part):
    question = drawn("language_model")
    d = question.problem.derivation
    logits, wanted = (floats(d.value(name)) for name in ("L", "T"))
    shares = softmax(logits, axis=0 if id == "X16" else 1)
    losses = -np.log((shares * wanted).sum(axis=1, keepdims=True)) / {"X17": np.log(10), "X18": np.log(2)}.get(id, 1)
    own = {"probabilities": shares, "loss": losses, "mean_loss": losses.mean(keepdims=True)}
    report = marked(question, answered(question, **{name: page(rows) for name, rows in own.items()}))
    assert [ids(event) for event in mistakes(report)] == [[id]]
    assert set(lost(report)) == {part}


def test_weights_of_head_1_in_every_head_are_one_mistake():
    question = drawn("multi_head_attention", seed=2)
    first = floats(question.problem.derivation.value("A_1"))
    report = marked(question, answered(question, A_2=page(first)))
    assert "H9" in ids(mistakes(report)[0])
