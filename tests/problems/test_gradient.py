"""The type `gradient`: every key is right, wrong ways are named, and pages come out."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import numpy as np
import pytest

from symattn.api import check, worksheet
from symattn.derivation.misconceptions import misconception
from symattn.derivation.ops import (
    ActivationGradient,
    CrossEntropyGradient,
    NormGradient,
    ProductSum,
    SoftCapGradient,
    SoftmaxGradient,
    SoftmaxJacobian,
    Total,
)
from symattn.exact import Matrix
from symattn.exact.approximate import approximate
from symattn.marking.marker.windows import cell, window
from symattn.teaching.explanation import question_document
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.gradient import TYPE
from symattn.teaching.sheets import render

QUICK = ["weights-given", "jacobian", "attention", "layer-norm", "feed-forward", "cross-entropy"]
WHATS = [*QUICK, *(pytest.param(what, marks=pytest.mark.slow) for what in TYPE.presets if what not in QUICK)]


def sheet(what):
    [made] = worksheet(problem="gradient", options={"what": what}, seed=5)
    return made.question


def answers(d, parts):
    """A derivation as somebody types it."""
    found = {}
    for part in parts:
        if part.name in d:
            value = d.value(part.name)
            assert isinstance(value, Matrix)
            found[part.name] = [
                [str(x).replace("exp(", "e^(").replace("E", "e") for x in row] for row in value.sympy().tolist()
            ]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("what", WHATS)
def test_the_key_is_right_and_a_wrong_entry_is_found(what):
    question = sheet(what)
    assert question.type == "gradient"
    right = answers(question.problem.derivation, question.parts)
    assert check(question, right).right
    last = question.parts[-1].name
    assert not check(question, {**right, last: [["29", *right[last][0][1:]], *right[last][1:]]}).right
    again = TYPE.make(TYPE.thaw(json.loads(json.dumps(question.frozen)), "exam.json"))
    assert list(again.entries()) == list(question.entries())
    assert "Gradients are those of the loss" in render(question_document(question), "text")[1].decode()


def test_gradients_that_are_right_for_a_wrong_line_before_follow():
    question = sheet("weights-given")
    d = question.problem.derivation
    wrong = misconception("D2").on(d)
    report = check(question, answers(wrong.derivation, question.parts))
    assert "The scale left out on the way back." in " ".join(str(report).replace("│", "").split())


def test_what_it_may_ask_for_has_a_mechanism_each():
    assert TYPE is problem_type("gradient")
    assert len({preset["mechanism"] for preset in TYPE.presets.values()}) == len(TYPE.presets)


# ------------------------------------------------------------------------------------------------ windows

OPS = [
    (SoftmaxJacobian(), [(1, 3)], "weights"),
    (SoftmaxGradient(), [(2, 3), (2, 3)], "weights"),
    (SoftmaxGradient("columns", 2), [(3, 2), (3, 2)], "weights"),
    (ActivationGradient("relu"), [(2, 2), (2, 2)], "any"),
    (ActivationGradient("tanh"), [(2, 2), (2, 2)], "any"),
    (ActivationGradient("sigmoid"), [(2, 2), (2, 2)], "any"),
    (SoftCapGradient(3), [(2, 2), (2, 2)], "any"),
    (NormGradient(), [(2, 3), (2, 3), (2, 1)], "positive last"),
    (NormGradient("sample", Fraction(1, 2)), [(2, 3), (2, 3), (2, 1)], "positive last"),
    (NormGradient("rms", 0, "rows"), [(3, 2), (3, 2), (1, 2)], "positive last"),
    (CrossEntropyGradient(2), [(2, 3), (2, 3)], "any"),
    (ProductSum(), [(2, 3), (2, 3)], "any"),
    (Total(), [(2, 2), (2, 2), (2, 2)], "any"),
]


@pytest.mark.parametrize(("op", "shapes", "kind"), OPS)
def test_a_window_holds_whatever_may_come_of_its_boxes(op, shapes, kind):
    """Numbers within half a tenth of the middle: what comes of them lies in the window."""
    rng = random.Random(3)
    for _ in range(5):
        middles, boxes = [], []
        for k, (rows, columns) in enumerate(shapes):
            low = 0.1 if kind == "weights" and k == 0 else 1 if kind == "positive last" and k == len(shapes) - 1 else -1
            middle = [
                [Fraction(round(10 * rng.uniform(low, low + 1)), 10) for _ in range(columns)] for _ in range(rows)
            ]
            middles.append(middle)
            boxes.append(tuple(tuple(cell(x, Fraction(1, 10)) for x in row) for row in middle))
        found = window(op, *boxes)
        assert found is not None
        for _ in range(10):
            moved = [
                Matrix([[x + Fraction(rng.randint(-50, 50), 1000) for x in row] for row in middle])
                for middle in middles
            ]
            values = np.array([[approximate(x) for x in row] for row in op.apply(*moved).rows])
            for row, windows in zip(values, found, strict=True):
                for x, w in zip(row, windows, strict=True):
                    assert float(w.low) - 1e-12 <= x <= float(w.high) + 1e-12
