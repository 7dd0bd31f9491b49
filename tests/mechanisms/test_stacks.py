"""The decoder block, stacks of encoder blocks, and the output layer with its loss; PyTorch is the witness."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.ops import CrossEntropy, Rescale, Scale, Softmax, Standardise
from symattn.errors import InputError, ShapeError, UndefinedError
from symattn.exact import Matrix, decide, decimal_text
from symattn.exact.approximate import approximate
from symattn.exact.reading import read
from symattn.teaching.fairness import draw
from symattn.teaching.problems import problem_type

DECODER, ENCODER, MODEL = mechanism("decoder_block"), mechanism("encoder"), mechanism("language_model")


def fractions(rng: random.Random, rows: int, columns: int) -> Matrix:
    return Matrix([[Fraction(rng.randint(-6, 6), rng.randint(2, 5)) for _ in range(columns)] for _ in range(rows)])


def floats(matrix: object) -> np.ndarray:
    assert isinstance(matrix, Matrix)
    return np.array([[approximate(x) for x in row] for row in matrix.rows])


def settings(chosen: Mechanism, **stated: object) -> Settings:
    return Settings.read({**chosen.defaults, **stated})


def random_givens(chosen: Mechanism, sizes: dict[str, int], s: Settings, rng: random.Random) -> dict[str, Matrix]:
    """Every given that the mechanism may have, but for a bias of the scores."""
    known = {**sizes, "h": s.heads, "g": s.groups, "1": 1}
    found = {}
    for name, shape in chosen.shapes(s).items():
        rows, columns = (math.prod(known[letter] for letter in spec.split("*")) for spec in shape)
        if name.partition("_")[0] != "B":
            found[name] = fractions(rng, rows, columns)
    return found


# ------------------------------------------------------------------------------------------ PyTorch


# ------------------------------------------------------------------------------------------ structure


def test_a_stack_of_one_block_is_the_block() -> None:
    block = mechanism("encoder_block")
    rng = random.Random(1)
    s = settings(ENCODER, blocks=1, norm="rms", epsilon=1)
    sizes = {"n": 2, "d_model": 2, "d_k": 1, "d_v": 2, "d_ff": 2}
    givens = random_givens(ENCODER, sizes, s, rng)
    del givens["gamma"], givens["beta"]
    alone = {name.removesuffix("^1"): m for name, m in givens.items()}
    assert ENCODER.run(givens, s).value("Y") == block.run(alone, settings(block, norm="rms", epsilon=1)).last.result


def test_the_second_block_starts_from_the_first_ones_output() -> None:
    """Two blocks at once are the same as one after the other, with whole numbers all the way."""
    s = settings(ENCODER, blocks=2, norm="none", weights="hardmax")
    givens = draw(ENCODER, s, ENCODER.default_sizes, random.Random(3)).givens
    both = ENCODER.run(givens, s)
    block, one = mechanism("encoder_block"), settings(mechanism("encoder_block"), norm="none", weights="hardmax")
    stream: object = givens["X"]
    for number in (1, 2):
        at = f"^{number}"
        own = {name.removesuffix(at): m for name, m in givens.items() if name.endswith(at)}
        stream = block.run({"X": stream, **own}, one).last.result
    assert both.value("Y") == stream
    assert both.value("X^2") == both.value("R2^1")


def test_no_token_of_a_decoder_sees_a_later_one() -> None:
    """Another last token changes nothing before it, whatever the encoder gives."""
    s = settings(DECODER, norm="none")
    sizes = {"n": 3, "m": 2, "d_model": 2, "d_source": 1, "d_k": 1, "d_v": 1, "d_ff": 1}
    givens = {name: m for name, m in random_givens(DECODER, sizes, s, random.Random(4)).items() if "mma" not in name}
    givens = {name: m for name, m in givens.items() if not name.startswith("beta")}
    other = {**givens, "X": Matrix([*givens["X"].rows[:2], (7, -3)])}
    one, two = DECODER.run(givens, s).value("R1"), DECODER.run(other, s).value("R1")
    assert isinstance(one, Matrix)
    assert isinstance(two, Matrix)
    assert one.rows[:2] == two.rows[:2]
    assert one.rows[2] != two.rows[2]


@pytest.mark.slow
def test_random_stacks_keep_to_whole_numbers_where_they_are_to_be_exact() -> None:
    s = settings(ENCODER, **ENCODER.drawn | ENCODER.drawn_exactly | {"arithmetic": "exact"})
    for seed in range(3):
        d = ENCODER.run(draw(ENCODER, s, ENCODER.default_sizes, random.Random(seed)).givens, s)
        assert all(x.is_integer() for x in floats(d.last.result).ravel())
        hidden = [step for step in d if step.name in ("H_linear", "H_linear^1", "H_linear^2")]
        assert all((floats(step.result) < 0).any() for step in hidden)  # ReLU has something to cut off


@pytest.mark.slow
def test_random_decoder_blocks_that_are_exact_have_norms_that_come_out() -> None:
    s = settings(DECODER, **DECODER.drawn | DECODER.drawn_exactly | {"arithmetic": "exact"})
    for seed in range(3):
        d = DECODER.run(draw(DECODER, s, DECODER.default_sizes, random.Random(seed)).givens, s)
        assert all(isinstance(x, int | Fraction) for step in d if step.stem != "M" for x in step.result)
        normed = floats(d.value("N3"))
        assert np.allclose(normed.mean(axis=1), 0)
        assert np.allclose((normed**2).mean(axis=1), 1)


@pytest.mark.covering(most=5)
@pytest.mark.parametrize(
    "stated", [{}, {"norm_place": "pre"}, {"norm": "rms", "epsilon": "1e-5"}, {"heads": 2}], ids=str
)
@pytest.mark.parametrize("chosen", [DECODER, ENCODER], ids=lambda m: m.name)
def test_a_worksheet_of_a_block_has_softmax_scale_and_norms(chosen: Mechanism, stated: dict[str, object]) -> None:
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
def test_a_hopeless_draw_of_a_block_is_given_up(stated: dict[str, object], says: str) -> None:
    """Counted: no more sublayers are drawn than an effort allows."""
    with pytest.raises(InputError, match=says):
        draw(DECODER, settings(DECODER, **stated), DECODER.default_sizes, random.Random(2))


# ------------------------------------------------------------------------------------------ the loss, exactly


def model(logits: list[list[object]], targets: list[list[object]]) -> Derivation:
    """The logits themselves as inputs, by the identity."""
    size = len(logits[0])
    identity = [[int(i == j) for j in range(size)] for i in range(size)]
    return MODEL.run({"N": logits, "W_U": identity, "T": targets}, Settings())


def test_the_loss_is_exact_and_has_proved_decimals() -> None:
    """ln(1 + e + e²) − 2 ≈ 0.40760596: the logits 0, 1, 2, of which the last was wanted."""
    loss = model([[0, 1, 2]], [[0, 0, 1]]).value("loss")
    assert isinstance(loss, Matrix)
    value = loss[0, 0]
    assert str(value) == "-2 + log(1 + E + exp(2))"
    assert decimal_text(value, 8) == f"{math.log(1 + math.e + math.e**2) - 2:.8f}"
    for typed in ("ln(1+e+e^2) - 2", "-ln(e^2/(1+e+e^2))", "ln(1 + e^-1 + e^-2)", "-ln(e^2) + ln(e^2+e+1)"):
        decision = decide(read(typed).value, value)
        assert (decision.equal, decision.proof) == (True, "exact")
    assert decide(read("ln(1+e+e^2) - 1").value, value).equal is False


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=4), st.integers(-3, 3), st.data())
def test_a_shift_of_all_logits_costs_nothing(logits: list[int], shift: int, data: st.DataObject) -> None:
    own = data.draw(st.integers(0, len(logits) - 1))
    wanted = [[int(j == own) for j in range(len(logits))]]
    one = model([logits], wanted).value("loss")
    other = model([[x + shift for x in logits]], wanted).value("loss")
    assert isinstance(one, Matrix)
    assert isinstance(other, Matrix)
    assert decide(one[0, 0], other[0, 0]).equal


def test_what_is_wanted_must_be_possible() -> None:
    with pytest.raises(UndefinedError, match="Token 1 is to have entry 2, whose probability is 0"):
        CrossEntropy().apply(Matrix([[1, 0]]), Matrix([[0, 1]]))
    assert CrossEntropy().apply(Matrix([[1, 0]]), Matrix([[1, 0]])) == Matrix([[0]])
    with pytest.raises(ShapeError, match="every probability needs a target"):
        CrossEntropy().shape((2, 3), (2, 2))
