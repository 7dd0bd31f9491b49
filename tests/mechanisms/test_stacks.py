"""The decoder block, stacks of encoder blocks, and the output layer with its loss; PyTorch is the witness."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from oracles import floats
from sentences import refused_saying

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops import CrossEntropy, Rescale, Scale, Softmax, Standardise
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import Matrix, decide, decimal_text
from symattn.exact.reading import read
from symattn.teaching.fairness import draw
from symattn.teaching.problems import problem_type

DECODER, ENCODER, MODEL = mechanism("decoder_block"), mechanism("encoder"), mechanism("language_model")


def settings(chosen, **stated):
    return Settings.read({**chosen.defaults, **stated})


# ------------------------------------------------------------------------------------------ structure


@pytest.mark.slow
def test_random_stacks_keep_to_whole_numbers_where_they_are_to_be_exact():
    s = settings(ENCODER, **ENCODER.drawn | ENCODER.drawn_exactly | {"arithmetic": "exact"})
    for seed in range(1):
        d = ENCODER.run(draw(ENCODER, s, ENCODER.default_sizes, random.Random(seed)).givens, s)
        assert all(x.is_integer() for x in floats(d.last.result).ravel())
        hidden = [step for step in d if step.name in ("H_linear", "H_linear^1", "H_linear^2")]
        assert all((floats(step.result) < 0).any() for step in hidden)  # ReLU has something to cut off


@pytest.mark.slow
def test_random_decoder_blocks_that_are_exact_have_norms_that_come_out():
    s = settings(DECODER, **DECODER.drawn | DECODER.drawn_exactly | {"arithmetic": "exact"})
    for seed in range(1):
        d = DECODER.run(draw(DECODER, s, DECODER.default_sizes, random.Random(seed)).givens, s)
        assert all(isinstance(x, int | Fraction) for step in d if step.stem != "M" for x in step.result)
        normed = floats(d.value("N3"))
        assert np.allclose(normed.mean(axis=1), 0)
        assert np.allclose((normed**2).mean(axis=1), 1)


@pytest.mark.covering(most=3)
@pytest.mark.parametrize(
    "stated", [{}, {"norm_place": "pre"}, {"norm": "rms", "epsilon": "1e-5"}, {"heads": 2}], ids=str
)
@pytest.mark.parametrize("chosen", [DECODER, ENCODER], ids=lambda m: m.name)
def test_a_worksheet_of_a_block_has_softmax_scale_and_norms(chosen, stated):
    """On any seed, and those at which a deviation was 0 before too; no token loses its deviation or equals another."""
    spec = problem_type("full").spec({"mechanism": chosen.name, "settings": stated})
    s = spec.chosen_settings()
    wanted = {"decoder_block": (2, 3), "encoder": (2, 4)}[chosen.name]  # attentions, norms
    for seed in (1, 2, 11):
        d = chosen.run(draw(chosen, s, spec.chosen_sizes(), random.Random(seed)).givens, s)
        ops = [type(step.op) for step in d]
        assert ops.count(Softmax) == ops.count(Scale) == wanted[0] * s.heads
        norms = [step for step in d if isinstance(step.op, Standardise | Rescale)]
        assert len(norms) == wanted[1]
        for step in norms:
            before, after = floats(d.value(step.operands[0].name)), floats(step.result)
            assert len({tuple(row) for row in after.round(3)}) == len(after)
            assert before.std(axis=1).min() > 0.1 or s.norm == "rms"
            assert np.allclose((after**2).mean(axis=1), 1, atol=0.01)


@pytest.mark.parametrize(("stated", "says"), [
    ({"base": "e"}, "make the weights of attention irrational"),
    ({"base": 2, "norm_place": "pre", "norm": "rms", "epsilon": Fraction(1, 100000)}, "norm of whole numbers"),
], ids=["e", "epsilon"])  # fmt: skip
def test_a_hopeless_draw_of_a_block_is_given_up(stated, says):
    """Counted: no more sublayers are drawn than an effort allows."""
    with refused_saying(says):
        draw(DECODER, settings(DECODER, **stated), DECODER.default_sizes, random.Random(2))


# ------------------------------------------------------------------------------------------ the loss, exactly


def model(logits, targets):
    """The logits themselves as inputs, by the identity."""
    size = len(logits[0])
    identity = [[int(i == j) for j in range(size)] for i in range(size)]
    return MODEL.run({"N": logits, "W_U": identity, "T": targets}, Settings())


def test_the_loss_is_exact_and_has_proved_decimals():
    """ln(1 + e + e²) − 2 ≈ 0.40760596: the logits 0, 1, 2, of which the last was wanted."""
    loss = model([[0, 1, 2]], [[0, 0, 1]]).value("loss")
    value = loss[0, 0]
    assert str(value) == "-2 + log(1 + E + exp(2))"
    assert decimal_text(value, 8) == f"{math.log(1 + math.e + math.e**2) - 2:.8f}"
    for typed in ("ln(1+e+e^2) - 2", "-ln(e^2/(1+e+e^2))", "ln(1 + e^-1 + e^-2)", "-ln(e^2) + ln(e^2+e+1)"):
        decision = decide(read(typed).value, value)
        assert (decision.equal, decision.proof) == (True, "exact")
    assert decide(read("ln(1+e+e^2) - 1").value, value).equal is False


def test_what_is_wanted_must_be_possible():
    with pytest.raises(UndefinedError, match="Token 1 is to have entry 2, whose probability is 0"):
        CrossEntropy().apply(Matrix([[1, 0]]), Matrix([[0, 1]]))
    assert CrossEntropy().apply(Matrix([[1, 0]]), Matrix([[1, 0]])) == Matrix([[0]])
    with pytest.raises(ShapeError, match="every probability needs a target"):
        CrossEntropy().shape((2, 3), (2, 2))
