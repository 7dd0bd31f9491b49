"""Banks for R/exams and PrairieLearn: read strictly after their documentation; numbers are worked out here."""

import random

import numpy as np
import prairielearn_reader
import pytest
import rexams_reader
from test_bank_grammar import attention, worked_out

import symattn
from symattn.teaching.sheets import Setting, write_sheets


@pytest.fixture(scope="module", params=[("e", 1), pytest.param((2, 3), marks=pytest.mark.slow)], ids=str)
def own(request, tmp_path_factory):
    """Attention of three tokens in both formats, and the entries of its four matrices."""
    folder, (base, seed) = tmp_path_factory.mktemp("courses"), request.param
    givens = attention(random.Random(seed), base)
    write_sheets(
        [symattn.derive("attention", base=base, **givens).worksheet()],
        folder,
        Setting(("rexams", "prairielearn"), "own"),
    )
    (exercise,) = rexams_reader.read(folder / "own.rexams.zip")
    (question,), _ = prairielearn_reader.read(folder / "own.prairielearn.zip")
    return exercise, question, [float(x) for x in worked_out(**givens, base=base)], unscaled(givens, base)


def unscaled(givens, base):
    """The entries of the four matrices where scores are not divided by √d_k = 2, by NumPy."""
    Q, K, V = (np.array(givens[name]) for name in "QKV")
    S = Q @ K.T
    powers = np.power(np.e if base == "e" else 2.0, S)
    A = powers / powers.sum(axis=1, keepdims=True)
    return [float(x) for matrix in (S, S, A, A @ V) for x in matrix.flat]


def test_every_box_has_the_number_that_numpy_gives(own):
    exercise, question, values, _ = own
    assert exercise.kinds == ["num"] * len(values)
    assert [one["kind"] for one in question.elements.values()] == ["pl-number-input"] * len(values)
    declared = [float(one["correct-answer"]) for one in question.elements.values()]
    assert declared == [float(x) for x in exercise.solutions]
    assert all(abs(x - y) <= 0.0005 + 1e-12 for x, y in zip(declared, values, strict=True))
    assert all(0 < off <= 0.005 for off in exercise.tolerances)


def test_rounded_answers_have_full_marks_and_others_none(own):
    exercise, question, values, _ = own
    texts = [f"{x:.3f}" if abs(x) >= 0.05 or not x else f"{x:.5f}" for x in values]
    names = list(question.elements)
    assert exercise.earned(texts) == pytest.approx(sum(exercise.points), abs=0.001)
    assert question.score(dict(zip(names, texts, strict=True)))[0] == pytest.approx(1)
    wrong = [f"{x + 7.3:.3f}" for x in values]
    assert exercise.earned(wrong) == 0
    assert question.score(dict(zip(names, wrong, strict=True)))[0] == 0
    assert question.score({})[0] == 0  # all boxes empty


def test_scores_that_were_not_scaled_are_named_and_what_follows_has_points(own):
    """S instead of S' costs its boxes; most of what follows keeps its points (docs/banks.md)."""
    _, question, values, wrong = own
    share, told = question.score({name: f"{x:.5f}" for name, x in zip(question.elements, wrong, strict=True)})
    off = [name for name, x, y in zip(question.elements, values, wrong, strict=True) if abs(x - y) > 0.01]
    weights = {name: int(one["weight"]) for name, one in question.elements.items()}
    scores, rest = (sum(weights[n] for n in off if n.startswith("p2") == here) for here in (True, False))
    assert 1 - (scores + rest / 2) / sum(weights.values()) < share <= 1 - scores / sum(weights.values())
    assert all("Divide the scores by" in told[name] for name in off if name.startswith("p2"))
