"""Heads, encoder and decoder blocks, stacks of them, and the output layer with its loss."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from oracles import floats
from sentences import refused_saying
from strategies import drawn

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import Scale
from symattn.derivation.ops.normalisation import Rescale, Standardise
from symattn.derivation.ops.words import CrossEntropy
from symattn.errors import InputError, ShapeError, UndefinedError
from symattn.exact import Matrix, Outline, decide, decimal_text
from symattn.exact.reading import read
from symattn.foundation.dice import Counted
from symattn.foundation.languages import say, speaking
from symattn.page.notation import notations
from symattn.page.writers.characters import plain
from symattn.teaching.description import describe
from symattn.teaching.explanation.steps import step_title
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.draw import draw
from symattn.teaching.fairness.selfcheck import self_check

DECODER, ENCODER, MODEL = mechanism("decoder_block"), mechanism("encoder"), mechanism("language_model")


SMALL = {"n": 2, "d_model": 2, "d_k": 1, "d_v": 2, "d_ff": 2}


def settings(chosen, **stated):
    return Settings.read({**chosen.defaults, **stated})


# ------------------------------------------------------------------------------------------ structure


def drawn_exactly(chosen):
    return drawn(chosen.name, 0, **chosen.drawn | chosen.drawn_exactly | {"arithmetic": "exact"})


@pytest.mark.slow
def test_random_stacks_keep_to_whole_numbers_where_they_are_to_be_exact():
    d = drawn_exactly(ENCODER)
    assert all(x.is_integer() for x in floats(d.last.result).ravel())
    hidden = [step for step in d if step.stem == "H_linear"]
    assert hidden
    assert all((floats(step.result) < 0).any() for step in hidden)  # ReLU has something to cut off


@pytest.mark.slow
def test_random_decoder_blocks_that_are_exact_have_norms_that_come_out():
    d = drawn_exactly(DECODER)
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
    wanted = {"decoder_block": (2, 3), "encoder": (2, 4)}[chosen.name]  # attentions, norms
    for seed in (1, 2, 11):
        d = drawn(chosen.name, seed, **stated)
        ops = [type(step.op) for step in d]
        assert ops.count(Softmax) == ops.count(Scale) == wanted[0] * stated.get("heads", 1)
        norms = [step for step in d if isinstance(step.op, Standardise | Rescale)]
        assert len(norms) == wanted[1]
        for step in norms:
            before, after = floats(d.value(step.operands[0].name)), floats(step.result)
            assert len({tuple(row) for row in after.round(3)}) == len(after)
            assert before.std(axis=1).min() > 0.1 or "norm" in stated
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


# ------------------------------------------------------------------------------------------------ encoder blocks

NORMS = [{}, {"epsilon": 1}, {"variance": "sample"}, {"norm_place": "pre"}, {"norm": "rms"}]


@pytest.mark.covering(most=7)
@pytest.mark.parametrize(
    ("name", "stated", "until"),
    [
        *(("layer_norm", stated, "") for stated in NORMS[:3]), *(("rms_norm", stated, "") for stated in NORMS[:2]),
        *(("block_after_attention", stated, "") for stated in NORMS),
        ("encoder_block", {"base": 2}, ""), ("encoder_block", {"norm_place": "pre"}, "N1"),
    ],
)  # fmt: skip
def test_what_is_drawn_comes_out_in_rational_numbers(name, stated, until):
    chosen = mechanism(name)
    for seed in range(3):
        givens = chosen.draw(Settings(**stated), chosen.default_sizes, random.Random(seed))
        d = chosen.run(givens, Settings(**stated, stop_at=until))
        assert all(isinstance(x, int | Fraction) for step in d for x in step.result)
        self_check(d)


@pytest.mark.slow
def test_powers_of_fractions_are_not_set_as_exact_ones():
    """2^(1/3) is nothing to work with by hand: in pre-norm, base 2 needs decimals."""
    chosen = mechanism("encoder_block")
    with pytest.raises(InputError):
        chosen.draw(Settings(base=2, norm_place="pre"), chosen.default_sizes, Counted(1))
    settings = Settings(base=2, norm_place="pre", arithmetic="decimal")
    d = chosen.run(chosen.draw(settings, chosen.default_sizes, Counted(1)), settings)
    assert d.last.name == "R2"


def test_the_scales_of_norms_may_be_written_as_biases_are():
    """gamma_1 beside b_1; both spellings at once are one too many."""
    eye = [[1, 0], [0, 1]]
    givens = {"X": [[1, 2], [3, 5]], **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"), eye)}
    numbered = derive("encoder_block", **givens, gamma_1=[[2, 1]], beta_2=[[1, 3]], arithmetic="decimal")
    assert numbered.derivation == derive(
        "encoder_block", **givens, gamma1=[[2, 1]], beta2=[[1, 3]], arithmetic="decimal"
    ).derivation  # fmt: skip
    assert "gamma_1" in numbered.givens  # and so it is called wherever it is spoken of
    said = str(describe("encoder_block"))
    assert "gamma_1" in said
    assert "gamma1" not in said
    with pytest.raises(ShapeError, match="gamma_1 is 1×3"):
        derive("encoder_block", **givens, gamma1=[[2, 1, 1]])
    with refused_saying("gamma1 and gamma_1 are the same matrix"):
        derive("encoder_block", **givens, gamma1=[[2, 1]], gamma_1=[[2, 1]])


# ------------------------------------------------------------------------------------------------ heads

HEADS = mechanism("multi_head_attention")


# ------------------------------------------------------------------------------------------ what is refused


def test_heads_of_a_width_in_letters():
    shapes = {"X": ("n", "d"), "W_Q": ("d", "k"), "W_K": ("d", "k"), "W_V": ("d", "k")}
    with refused_saying(r"the columns of W_Q must be a number or as 2\*k, so that a head has some of them, not k"):
        HEADS.run({name: Outline(shape) for name, shape in shapes.items()}, Settings.read({"heads": 2}))
    shapes = {name: (rows, "2*k" if columns == "k" else columns) for name, (rows, columns) in shapes.items()}
    d = HEADS.run({name: Outline(shape) for name, shape in shapes.items()}, Settings.read({"heads": 2}))
    assert d["Z_2"].result.shape == ("n", "k")
    assert d["C"].result.shape == ("n", "2*k")


# ------------------------------------------------------------------------------------------ random worksheets


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    "settings",
    [{}, {"mask": "causal"}, {"kv_heads": 1}, {"split": "interleaved"}, {"orientation": "columns"}, {"base": 2}],
    ids=str,
)
def test_random_numbers_are_worth_setting(settings):
    """Scaled scores are whole, no row of weights is saturated, and heads weigh differently: judged in NumPy."""
    chosen = Settings.read({**HEADS.defaults, **settings})
    for seed in range(3):
        givens = draw(HEADS, chosen, HEADS.default_sizes, random.Random(seed)).givens
        x, w_q, w_k = (floats(givens[name]) for name in ("X", "W_Q", "W_K"))
        if chosen.orientation == "columns":
            x, w_q, w_k = x.T, w_q.T, w_k.T
        patterns = []
        for head in (0, 1):
            own = slice(head, None, 2) if chosen.split == "interleaved" else slice(4 * head, 4 * head + 4)
            k = (x @ w_k)[:, own] if not chosen.kv_heads else x @ w_k
            scaled = (x @ w_q)[:, own] @ k.T / 2
            assert np.array_equal(scaled, scaled.round())
            gaps = scaled[:, 1] - scaled[:, 0]
            seen = gaps[1:] if chosen.mask else gaps
            base = np.e if chosen.base == "e" else 2.0
            assert all(0.5 < 1 / (1 + base ** -abs(gap)) <= 0.95 for gap in seen)
            patterns.append(tuple(seen))
        assert patterns[0] != patterns[1]


@pytest.mark.parametrize("notation", sorted(notations()))
@pytest.mark.parametrize("name", ["encoder", "decoder_block"])
def test_no_two_steps_of_a_stack_have_one_title(name, notation):
    """Also where matrices are called by words, which have no place for the layer."""
    problem = derive(name, symbolic=True, sizes=SMALL, notation=notation).problem
    wording = Wording(problem.derivation, problem.notation)
    titles = [plain(step_title(step, wording)) for step in problem.steps]
    assert sorted(set(titles)) == sorted(titles)


def test_sections_of_a_stack_are_layers_in_words():
    sections = dict.fromkeys(step.section for step in derive("encoder", symbolic=True, sizes=SMALL).steps)
    assert list(sections) == ["block 1", "block 2", ""]
    sections = dict.fromkeys(step.section for step in derive("decoder_block", symbolic=True, sizes=SMALL).steps)
    assert list(sections) == ["self-attention", "", "cross-attention"]
    with speaking("de"):
        assert [say(section) for section in sections if section] == ["Selbstaufmerksamkeit", "Kreuzaufmerksamkeit"]
