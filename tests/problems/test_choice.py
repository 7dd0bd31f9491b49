"""Multiple choice: keys and wrong options by NumPy, places of the key counted, ways carried out by SymPy."""

from collections import Counter
from contextlib import suppress

import numpy as np
import pytest
import sympy
from oracles import floats, sympy_attention
from printed_lines import value
from problem_laws import items_of, questions
from test_golden_variant import worked_out

from symattn.derivation.misconceptions import misconception, misconceptions
from symattn.formula import Negative
from symattn.formula import Number as Digits
from symattn.page.document import Words, spans
from symattn.teaching.problems.choice import TYPE
from symattn.teaching.problems.ways import WAYS, MissingError, carried_out


def shown(option):
    """The numbers of an option as printed."""
    (inline,) = option.text
    return np.array([value(item) for item in inline.formula.items], dtype=float)


@pytest.mark.slow
def test_keys_and_wrong_options_are_rows_of_derivations():
    """Those of beliefs, of which NumPy knows the numbers (tests/misconceptions), and of the right way."""
    checked = Counter()
    for question in questions(TYPE, 15):
        d = question.problem.derivation
        for item, part in zip(question.frozen["items"], question.parts, strict=True):
            if item["kind"] != "row":
                continue
            right = floats(d.value(item["step"]))[item["token"]]
            for id, option in zip(item["options"], part.answer.options, strict=True):
                assert option.right == (not id)
                wrong = misconception(id).on(d) if id in misconceptions() else None
                expected = floats(wrong.value(item["step"]))[item["token"]] if wrong else right
                assert np.allclose(shown(option), expected, atol=6e-5) == (bool(wrong) or not id), (id, item)
                checked[id] += 1
    assert len(checked) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("stated", [{}, {"settings": {"mask": "causal"}}])
def test_options_are_apart_and_in_order_and_the_right_one_is_not_the_only_whole_one(stated):
    for item, part in items_of(questions(TYPE, 6, **stated)):
        assert len(part.answer.right) == 1
        if item["kind"] != "row" or item["step"] == "M":
            continue
        rows = [shown(option) for option in part.answer.options]
        assert [tuple(row) for row in rows] == sorted(tuple(row) for row in rows)
        for i, row in enumerate(rows):
            assert all(np.abs(row - other).max() >= 0.0499 for other in rows[:i])
        digits = [x.digits for o in part.answer.options for x in o.text[0].formula.items if isinstance(x, Digits)]
        assert "0" in digits or all(float(text) for text in digits)  # what is 0 is written so, and nothing else
        assert not any("." in text and float(text) == 0 for text in digits)
        if all(isinstance(x, Digits | Negative) for o in part.answer.options for x in o.text[0].formula.items):
            whole = [all(row == row.round()) for row in rows]
            ends = [all(np.abs(1000 * row - (1000 * row).round()) < 1e-9) for row in rows]
            right = next(iter(part.answer.right))
            assert whole.count(whole[right]) > 1 or ends.count(ends[right]) > 1


def test_places_are_balanced_in_every_block():
    from symattn.foundation.dice import Dice
    from symattn.teaching.problems.derived import BLOCKS, balanced_places

    places, other = balanced_places(Dice.seeded(1).rng("places"), 4, 2)
    assert places != other
    assert len(places) == 4 * BLOCKS
    assert all(sorted(places[i : i + 4]) == [0, 1, 2, 3] for i in range(0, len(places), 4))


# ------------------------------------------------------------------------------------------------ ways


@pytest.mark.slow
@pytest.mark.parametrize("mask", [None, "causal"])
def test_ways_that_are_called_right_are_right_and_the_others_are_not(mask):
    d = worked_out(mask=mask)  # variant G1 of rules.md 2.3
    keep = np.tril(np.ones((3, 3), bool)) if mask else None
    right = sympy_attention(*(d.value(name).sympy() for name in "QKV"), scale=2, keep=keep)
    results = {}
    for way in WAYS.values():
        if not (way.unmasked and mask):
            with suppress(MissingError):
                results[way] = carried_out(way, d)
    assert {way.step for way in results} == {"S", "S'", "A", "Z"}
    for way, result in results.items():
        assert way.holds(d)
        equal = result is not None and result.shape == right[way.step].shape
        equal = equal and all(sympy.simplify(x) == 0 for x in result.sympy() - right[way.step])
        assert equal == way.right, way.id


def test_every_wrong_option_says_why():
    for question in questions(TYPE, 2):
        for part in question.parts:
            reasons = part.key[-1].items
            assert len(reasons) == len(part.answer.options)
            for reason, option in zip(reasons, part.answer.options, strict=True):
                said = " ".join(x.text for x in spans(reason) if isinstance(x, Words))
                assert ("right" in said) if option.right else (option.diagnosis in said)
