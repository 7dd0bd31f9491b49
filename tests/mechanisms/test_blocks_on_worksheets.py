"""Worksheets of blocks: what is left out is said, draws in vain end, and so do wrong answers beyond any page."""

import random
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from oracles import floats
from sentences import refused_saying
from strategies import drawn

from symattn.derivation.mechanisms import mechanism
from symattn.exact.real import going_on, real
from symattn.exact.rounding import approximate
from symattn.exact.values import power, text
from symattn.foundation.dice import MOST_NUMBERS, Counted, Dice
from symattn.page.document import spans
from symattn.page.notation import load_notation
from symattn.teaching.explanation.parts import conventions, wording_of
from symattn.teaching.fairness.draw import draw
from symattn.teaching.pool import pool
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_type

FULL = problem_type("full")


def problem(name, **stated):
    return Problem("", name, drawn(name, **stated), load_notation("standard"))


def said(shown):
    lines = conventions(shown, wording_of(shown))
    return "\n".join("".join(getattr(part, "text", "…") for part in spans(line)) for line in lines)


@pytest.mark.parametrize(("name", "norm", "scale", "weights"), [
    ("encoder", "layer", "sqrt(d_k)", "softmax"), ("decoder_block", "none", "sqrt(d_k)", "hardmax"),
    ("encoder_block", "none", "none", "hardmax"), ("decoder_block", "rms", "none", "softmax"),
])  # fmt: skip
def test_a_page_says_what_is_left_out(name, norm, scale, weights):
    shown = said(problem(name, norm=norm, scale=scale, weights=weights, arithmetic="decimal"))
    assert ("There is no norm." in shown) == (norm == "none")
    assert ("Scores are not scaled." in shown) == (scale == "none")
    assert ("The largest score of each row gets the weight 1" in shown) == (weights == "hardmax")
    assert ("Softmax is taken along each row" in shown) == (weights == "softmax")


def test_mechanisms_without_blocks_do_not_speak_of_norms():
    assert "no norm" not in said(problem("self_attention"))


COMBINATIONS = list(product(("layer", "rms", "none"), ("pre", "post"), ("softmax", "hardmax")))


@pytest.mark.covering(most=12, product=False)
@pytest.mark.parametrize(("norm", "place", "weights"), COMBINATIONS)
@pytest.mark.parametrize("name", ["encoder", "decoder_block"])
def test_every_combination_can_be_drawn(name, norm, place, weights):
    d = problem(name, norm=norm, norm_place=place, weights=weights, epsilon="1e-5").derivation
    assert all(abs(approximate(x)) < 50 for step in d if step.stem in ("R1", "R2", "R3", "Y") for x in step.result)


def test_the_block_of_the_issue_is_drawn_within_the_count():
    spec = FULL.spec({"mechanism": "decoder_block", "softmax": "base 2", "settings": {"norm": "rms"}})
    rng = Counted(2)
    draw(mechanism("decoder_block"), spec.chosen_settings(), spec.chosen_sizes(), rng)
    assert rng.left > MOST_NUMBERS // 2


def test_a_counted_generator_gives_pythons_numbers_and_ends():
    counted, plain = Counted(7), random.Random(7)
    assert [counted.random() for _ in range(100)] == [plain.random() for _ in range(100)]
    assert isinstance(Dice.seeded(1).rng("family"), Counted)
    counted.left = 1
    counted.random()
    with refused_saying("No variant that is worth setting was found"):
        counted.random()


# ------------------------------------------------------------------------------------ wrong answers beyond any page


@mpmath.workdps(40)
def test_powers_with_long_fractions_are_worked_out_in_decimals_at_once():
    """No root of degree 10^28 is taken; mpmath is the witness."""
    with going_on("decimal"):
        for q in (Fraction(123456789, 1000003), Fraction(10**29 + 1, 10**28), Fraction(1, 1001), Fraction(-7, 3)):
            expected = mpmath.power(2, mpmath.mpf(q.numerator) / q.denominator)
            assert approximate(power(2, q)) == pytest.approx(float(expected), rel=1e-14)


def test_the_text_of_any_number_is_short():
    """Of numbers with thousands of digits, or with a sign that nobody knows, the text asked for itself without end."""
    one = real("exp", Fraction(1, 3))
    for number, shown in [
        (real("exp", 10**4), "≈10^4342"), (real("exp", -(10**4)), "≈10^-4343"), (real("exp", 10**40), "≈10^…"),
        (real("sum", one, real("product", -1, real("exp", Fraction(2, 6) + 0))), "≈0"),
    ]:  # fmt: skip
        assert text(number) == shown


@pytest.mark.slow
@pytest.mark.parametrize("stated", [{"norm": "none"}, {"norm": "none", "norm_place": "pre", "scale": "none"}], ids=str)
def test_wrong_answers_of_any_size_stay_out_of_the_key(stated):
    assert next(pool(FULL.spec({"mechanism": "encoder", "settings": stated}), Dice.seeded(1))).parts


# ------------------------------------------------------------------------------------ what is given as Z


@pytest.mark.parametrize("seed", range(3))
def test_some_attention_gives_the_z_that_is_given(seed):
    """With any invertible weights A, Z = A X W has a solution W: least squares leave nothing over."""
    givens = drawn("block_after_attention", seed).givens
    x, z = (floats(givens[n]) for n in "XZ")
    weights = np.full((len(x), len(x)), 0.1) + np.eye(len(x)) * (1 - 0.1 * len(x))
    solved, *_ = np.linalg.lstsq(weights @ x, z, rcond=None)
    assert np.allclose(weights @ x @ solved, z)
    shown = said(problem("block_after_attention"))
    assert "… is given; it is not worked out from …." in shown
