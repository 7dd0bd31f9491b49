"""Pictures against NumPy: levels, masks, patterns of heads, statements, and that only one answer fits each."""

import numpy as np
from oracles import softmax
from problem_laws import items_of, questions
from trials import at_least_one

from symattn.page.document import HeatMap
from symattn.teaching.problems.heatmap import MASKS, PATTERNS, RANGES, TYPE

KEEP = {
    "none": np.ones((4, 4)),
    "causal": np.tril(np.ones((4, 4))),
    "window": np.tril(np.ones((4, 4))) - np.tril(np.ones((4, 4)), -2),
    "padding": np.ones((4, 4)) * (np.arange(4) < 3),
    "blocks": np.kron(np.eye(2), np.ones((2, 2))),
}


def hidden(scores, keep):
    return np.where(keep > 0, np.array(scores, float), -np.inf)


def levels(weights):
    """The declared ranges, with every weight at least 0.015 from an end."""
    ends = np.array([0.2, 0.4, 0.7])
    assert all(w == 0 or (w > 0.015 and min(abs(w - ends)) > 0.015) for w in np.ravel(weights))
    return [[0 if w == 0 else 1 + int((w > ends).sum()) for w in row] for row in weights]


def items(kind, count=20, level="standard"):
    for item, part in items_of(questions(TYPE, count, level=level), kind):
        *_, shown = (block for block in part.ask if isinstance(block, HeatMap))
        yield item, part, [list(row) for row in shown.levels]


WRONG = {"right": "", "transposed": "O1", "columns": "X1", "unmasked": "M1", "triangle": "M2"}
"""The misconception that each matrix comes of."""


def test_one_of_four_matrices_is_shown_and_the_others_are_what_misconceptions_give():
    keep = np.tril(np.ones((3, 3)))
    used = set()
    for item, part, shown in items("matrix"):
        S = item["scores"]
        right = softmax(hidden(S, keep))
        found = {
            "right": right,
            "transposed": right.T,
            "columns": softmax(hidden(S, keep), axis=0),
            "unmasked": softmax(np.array(S, float)),
            "triangle": softmax(hidden(S, keep.T)),
        }
        assert levels(right) == shown
        for name, option in zip(item["options"], part.answer.options, strict=True):
            text = option.text[0].formula
            printed = [[float(cell.digits) for cell in row] for row in text.rows]
            assert np.allclose(printed, found[name], atol=0.00501)
            outside = sum(not _within(w, shown[i][j]) for (i, j), w in np.ndenumerate(found[name]))
            assert option.right == (outside == 0)
            assert option.diagnosis == WRONG[name]
            used.add(name)
    assert used == set(found)


def _within(weight, level):
    return weight == 0 if level == 0 else [0, 0.2, 0.4, 0.7][level - 1] < weight <= [0.2, 0.4, 0.7, 1][level - 1]


def test_white_cells_are_those_of_one_mask_alone():
    used = set()
    for item, part, shown in items("mask"):
        assert levels(softmax(hidden(item["scores"], KEEP[item["mask"]]))) == shown
        fitting = {i for i, name in enumerate(MASKS) if ((np.array(shown) > 0) == (KEEP[name] > 0)).all()}
        assert part.answer.right == fitting
        assert len(fitting) == 1
        used |= fitting
    assert used == set(range(len(MASKS)))


def test_heads_are_recognised_by_their_pictures():
    used = set()
    for item, part, shown in items("head"):
        A = np.array(shown)
        n = len(A)
        uniform, mean = (A == 2).all(), shown == [[4, 0, 0, 0], [3, 3, 0, 0], [2, 2, 2, 0], [2, 2, 2, 2]]
        black = [[int(j) for j in np.flatnonzero(row == 4)] for row in A]
        fits = [
            black == [[max(i - 1, 0)] for i in range(n)],
            black == [[0]] * n,
            black == [[i] for i in range(n)],
            uniform,
            mean,
        ]
        assert part.answer.right == {i for i, fit in enumerate(fits) if fit}
        assert levels(np.array(item["parts"]) / np.sum(item["parts"], 1, keepdims=True)) == shown
        used.add(item["pattern"])
    assert used == set(PATTERNS)


def test_statements_are_true_or_false_by_the_weights():
    truths = []
    for item, part, shown in items("statements"):
        A = softmax(np.array(item["scores"], float))
        assert levels(A) == shown
        for place, s in enumerate(item["statements"]):
            i, j = s["cell"]
            match s["says"]:
                case "most":
                    true = A[i].argmax() == j
                case "range":
                    low, high = (float(x) for x in RANGES[s["level"]].split(" to "))
                    true = low < A[i, j] < high
                case _:
                    true = A[i, j] > A[j, i]
            assert (place in part.answer.right) == true
            truths.append(true)
        assert 2 <= len(part.answer.right) <= 3
    assert 0.4 <= np.mean(truths) <= 0.6


def test_two_heads_of_one_question_differ():
    for question in questions(TYPE, 10):
        patterns = [item["pattern"] for item in question.frozen["items"] if item["kind"] == "head"]
        assert len(set(patterns)) == 2


def test_every_head_rules_the_others_out_by_a_cell_that_shows_it():
    for _, part, _ in at_least_one(items("head")):
        reasons = part.key[-1].items
        assert len(reasons) == len(PATTERNS)
        assert sum("this is what the picture shows" in str(reason) for reason in reasons) == 1


def test_the_key_shows_every_picture():
    for question in questions(TYPE, 3):
        for part in question.parts:
            asked, shown = ([b for b in blocks if isinstance(b, HeatMap)] for blocks in (part.ask, part.key))
            assert asked
            assert shown == asked[-1:]  # before it, in one part, is the scale
