"""The decoder block, stacks of encoder blocks, and the output layer with its loss; PyTorch is the witness."""

import math
import random
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.mechanisms import Settings, custom, mechanism
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.ops import CrossEntropy, Rescale, Scale, Softmax, Standardise
from symattn.errors import InputError, ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, decide, decimal_text, rounded
from symattn.exact.approximate import approximate
from symattn.exact.reading import read
from symattn.marking.marker.windows import cell, window
from symattn.teaching.fairness import draw, self_check
from symattn.teaching.problems import problem_type

TOLERANCE = 1e-10
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


@dataclass(frozen=True)
class Rounded(Derivation):
    """A derivation each of whose results is rounded to 25 places before the next step starts from it.

    Blocks nest roots and powers of e beyond what can be worked out exactly in a moment; the operations are the same.
    """

    def extended(self, step: Step) -> Derivation:
        d = super().extended(step)
        assert isinstance(d.last.result, Matrix)
        result = d.last.result.map(lambda x: x if x is NEGATIVE_INFINITY else rounded(x, 25))
        return replace(d, steps=(*d.steps[:-1], replace(d.last, result=result)))


def run_rounded(chosen: Mechanism, givens: dict[str, Matrix], s: Settings) -> Derivation:
    return chosen.derive(Rounded(givens), s, chosen.sizes(givens, s))


# ------------------------------------------------------------------------------------------ PyTorch


def load_attention(layer: object, givens: dict[str, Matrix], at: str) -> None:
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.tensor(np.hstack([floats(givens[f"W_{r}{at}"]) for r in "QKV"]).T))  # type: ignore[attr-defined]
        layer.in_proj_bias.copy_(torch.tensor(np.hstack([floats(givens[f"b_{r}{at}"])[0] for r in "QKV"])))  # type: ignore[attr-defined]
    load_linear(layer.out_proj, givens[f"W_O{at}"], givens[f"b_O{at}"])  # type: ignore[attr-defined]


def load_linear(layer: object, weight: Matrix, bias: Matrix) -> None:
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(floats(weight).T))  # type: ignore[attr-defined]
        layer.bias.copy_(torch.tensor(floats(bias)[0]))  # type: ignore[attr-defined]


def load_norm(layer: object, gamma: Matrix, beta: Matrix) -> None:
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(floats(gamma)[0]))  # type: ignore[attr-defined]
        layer.bias.copy_(torch.tensor(floats(beta)[0]))  # type: ignore[attr-defined]


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("seed", range(20))
def test_decoder_block_agrees_with_torch(seed: int) -> None:
    """Post- and pre-norm, one head and two, any lengths."""
    torch = pytest.importorskip("torch")
    rng = random.Random(seed)
    place, h = rng.choice(("post", "pre")), rng.choice((1, 2))
    n, m, width, d_ff = rng.randint(1, 3), rng.randint(1, 3), 2 * h, rng.randint(1, 3)
    s = settings(DECODER, heads=h, norm_place=place, epsilon="1/1000")
    sizes = {"n": n, "m": m, "d_model": width, "d_source": width, "d_k": 2, "d_v": 2, "d_ff": d_ff}
    givens = random_givens(DECODER, sizes, s, rng)
    layer = torch.nn.TransformerDecoderLayer(
        width, h, d_ff, 0.0, layer_norm_eps=1e-3, batch_first=True, norm_first=place == "pre", dtype=torch.float64
    ).eval()
    load_attention(layer.self_attn, givens, "^self")
    load_attention(layer.multihead_attn, givens, "^cross")
    load_linear(layer.linear1, givens["W_1"], givens["b_1"])
    load_linear(layer.linear2, givens["W_2"], givens["b_2"])
    for i in (1, 2, 3):
        load_norm(getattr(layer, f"norm{i}"), givens[f"gamma_{i}"], givens[f"beta_{i}"])
    x, memory = (torch.tensor(floats(givens[name]))[None] for name in "XE")
    hidden = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
    with torch.no_grad():
        expected = layer(x, memory, tgt_mask=hidden)[0].numpy()
    d = run_rounded(DECODER, givens, s)
    assert d.last.name == ("N3" if place == "post" else "R3")
    assert np.abs(floats(d.last.result) - expected).max() < TOLERANCE


@pytest.mark.parametrize("seed", range(15))
def test_encoder_agrees_with_torch(seed: int) -> None:
    """Stacks of one and two blocks, with and without a norm at the end."""
    torch = pytest.importorskip("torch")
    rng = random.Random(100 + seed)
    place, h, blocks, last = rng.choice(("post", "pre")), rng.choice((1, 2)), rng.choice((1, 2, 2)), rng.random() < 0.5
    n, width, d_ff = rng.randint(1, 2), 2 * h, rng.randint(1, 2)
    s = settings(ENCODER, heads=h, blocks=blocks, norm_place=place, epsilon="1/1000")
    sizes = {"n": n, "d_model": width, "d_k": 2, "d_v": 2, "d_ff": d_ff}
    givens = random_givens(ENCODER, sizes, s, rng)
    if not last:
        del givens["gamma"], givens["beta"]
    one = torch.nn.TransformerEncoderLayer(
        width, h, d_ff, 0.0, layer_norm_eps=1e-3, batch_first=True, norm_first=place == "pre", dtype=torch.float64
    )
    norm = torch.nn.LayerNorm(width, eps=1e-3, dtype=torch.float64) if last else None
    stack = torch.nn.TransformerEncoder(one, blocks, norm, enable_nested_tensor=False).eval()
    for number, layer in enumerate(stack.layers, 1):
        at = f"^{number}"
        load_attention(layer.self_attn, givens, at)
        load_linear(layer.linear1, givens[f"W_1{at}"], givens[f"b_1{at}"])
        load_linear(layer.linear2, givens[f"W_2{at}"], givens[f"b_2{at}"])
        for i in (1, 2):
            load_norm(getattr(layer, f"norm{i}"), givens[f"gamma_{i}{at}"], givens[f"beta_{i}{at}"])
    if norm is not None:
        load_norm(stack.norm, givens["gamma"], givens["beta"])
    with torch.no_grad():
        expected = stack(torch.tensor(floats(givens["X"]))[None])[0].numpy()
    d = run_rounded(ENCODER, givens, s)
    assert d.last.name == "Y"
    assert np.abs(floats(d.last.result) - expected).max() < TOLERANCE


def test_cross_entropy_agrees_with_torch() -> None:
    """One-hot targets and soft ones; 40 random problems."""
    torch = pytest.importorskip("torch")
    for seed in range(40):
        rng = random.Random(200 + seed)
        n, d_model, words = rng.randint(1, 3), rng.randint(1, 3), rng.randint(2, 4)
        givens = {"N": fractions(rng, n, d_model), "W_U": fractions(rng, d_model, words)}
        if rng.random() < 0.5:
            givens["b_U"] = fractions(rng, 1, words)
        if rng.random() < 0.5:
            wanted = [rng.randrange(words) for _ in range(n)]
            givens["T"] = Matrix([[int(j == own) for j in range(words)] for own in wanted])
        else:
            shares = [[rng.randint(0, 3) for _ in range(words)] for _ in range(n)]
            givens["T"] = Matrix([[Fraction(x, sum(row) or 1) for x in row] for row in shares])
        d = MODEL.run(givens, Settings())
        logits = floats(givens["N"]) @ floats(givens["W_U"])
        logits += floats(givens["b_U"]) if "b_U" in givens else 0.0
        args = torch.tensor(logits), torch.tensor(floats(givens["T"]))
        each = torch.nn.functional.cross_entropy(*args, reduction="none").numpy()
        mean = torch.nn.functional.cross_entropy(*args).item()
        assert np.abs(floats(d.value("loss"))[:, 0] - each).max() < TOLERANCE
        assert abs(floats(d.value("mean_loss"))[0, 0] - mean) < TOLERANCE
        self_check(d)


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


@pytest.mark.parametrize("chosen", [DECODER, ENCODER, MODEL], ids=lambda m: m.name)
def test_tokens_as_columns_give_the_transpose(chosen: Mechanism) -> None:
    for seed in range(3):
        stated = dict(chosen.drawn)
        givens = draw(chosen, settings(chosen, **stated), chosen.default_sizes, random.Random(seed)).givens
        upright = chosen.run(givens, settings(chosen, **stated))
        turned = chosen.run(
            {name: m.T for name, m in givens.items()}, settings(chosen, **stated, orientation="columns")
        )
        assert all(turned.value(step.name) == step.result.T for step in upright)
        self_check(turned)


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


def test_a_residual_needs_an_output_as_wide_as_the_input() -> None:
    s = settings(ENCODER, blocks=1, norm="none")
    names = {"X": (2, 2), "W_Q^1": (2, 1), "W_K^1": (2, 1), "W_V^1": (2, 3), "W_1^1": (2, 1), "W_2^1": (1, 2)}
    givens = {name: Matrix([[1] * c for _ in range(r)]) for name, (r, c) in names.items()}
    with pytest.raises(ShapeError, match="R1"):
        ENCODER.run(givens, s)


def test_every_block_needs_its_weights() -> None:
    s = settings(ENCODER, norm="none")
    with pytest.raises(InputError, match=r"W_Q\^2 is missing"):
        ENCODER.run({f"{name}^1" if name != "X" else name: Matrix([[1]]) for name in ("X", "W_Q")}, s)


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


def test_equal_logits_cost_the_logarithm_of_their_number() -> None:
    d = model([[3, 3, 3, 3], [0, 0, 0, 0]], [[0, 1, 0, 0], ["1/2", "1/4", "1/4", 0]])
    loss, mean = d.value("loss"), d.value("mean_loss")
    assert isinstance(loss, Matrix)
    assert isinstance(mean, Matrix)
    assert all(decide(x, read("2 ln(2)").value).equal for x in (*loss, *mean))


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


def test_the_loss_of_rounded_probabilities_has_a_window() -> None:
    """p = 0.25 to two places: −ln 0.255 to −ln 0.245, and a 0 that nobody wants does not matter."""
    p = tuple(cell(Fraction(x, 100), Fraction(1, 100)) for x in (25, 75, 0))
    t = tuple(cell(x, None) for x in (1, 0, 0))
    found = window(CrossEntropy(), (p,), (t,))  # type: ignore[arg-type]
    assert found is not None
    low, high = map(float, found[0][0])
    assert (low, high) == pytest.approx((-math.log(0.255), -math.log(0.245)), abs=1e-14)
    assert window(CrossEntropy(), (p,), (t[::-1],)) is None  # type: ignore[arg-type]


def test_the_loss_in_a_problem_file() -> None:
    steps = [
        {"name": "P", "op": "softmax", "operands": ["L"]},
        {"name": "loss", "op": "cross_entropy", "operands": ["P", "T"]},
    ]
    d = custom.run({"L": [[0, 0]], "T": [[1, 0]]}, steps)
    assert decide(d.value("loss")[0, 0], read("ln(2)").value).equal  # type: ignore[index]
