"""Whole derivations in decimals: the same numbers as exactly, as NumPy's, and as far as exact ones do not go."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest

from symattn import derive
from symattn.api import Solution, make_recipe
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.misconceptions import replayed
from symattn.errors import OutgrownError
from symattn.exact import Matrix, Real
from symattn.exact.approximate import approximate
from symattn.exact.carry import in_decimals, is_short
from symattn.marking.marker import mark
from symattn.marking.submissions import fill, read_submission
from symattn.marking.trial import right_scripts, script
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.steps import DECIMALS, TOO_LONG
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.sheets import Sheet, render, sheets
from tests.mechanisms.test_every_mechanism import in_numbers, small

MECHANISMS = list(mechanisms())


def some(rng: Random, rows: int, columns: int) -> list[list[int]]:
    return [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]


def numbers(matrix: object) -> Matrix:
    assert isinstance(matrix, Matrix)
    return matrix


def array(matrix: object) -> np.ndarray:
    return np.array([[approximate(x) for x in row] for row in numbers(matrix).rows])


# ------------------------------------------------------------------------------------------------ the same numbers


@pytest.mark.covering(most=25)
@pytest.mark.parametrize("arithmetic", ["decimal", "auto"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_line_is_the_exact_one(name, arithmetic):
    """With ordinary softmax and norms, but for norms in blocks, which are too long to be printed exactly."""
    chosen = mechanism(name)
    plain = {"norm": "none"} if name in ("encoder", "decoder_block") else {}
    settings = {**chosen.defaults, **plain}
    exact = in_numbers(chosen, Settings.read(settings), small(name), Random(name))
    d = chosen.run(exact.givens, Settings.read({**settings, "arithmetic": arithmetic}))
    assert [step.name for step in d] == [step.name for step in exact]
    for ours, other in zip(d, exact, strict=True):
        assert numbers(ours.result).decimals(12) == numbers(other.result).decimals(12), ours.name
        if arithmetic == "auto" and not in_decimals(numbers(ours.result)):
            assert all(map(is_short, numbers(ours.result)))
    self_check(d)


def test_a_replay_gives_the_same_objects():
    d = derive("encoder_block", **block(Random(1), 3, 4, 8), heads=2, arithmetic="decimal").derivation
    again = d.replay()
    assert again == d
    pairs = [(x, y) for one, other in zip(d, again, strict=True)
             for x, y in zip(numbers(one.result), numbers(other.result), strict=True)]  # fmt: skip
    assert all(x is y for x, y in pairs if isinstance(x, Real))


# ------------------------------------------------------------------------------------------------ beyond exact values


def block(rng: Random, n: int, d_model: int, d_ff: int, blocks: int = 1) -> dict[str, object]:
    """Givens of an encoder block with biases, heads together as wide as the model; numbered where there are several."""

    def own(number: int) -> dict[str, object]:
        mark = f"^{number}" if blocks > 1 else ""
        weights = {f"W_{role}{mark}": some(rng, d_model, d_model) for role in "QKVO"}
        return {
            **weights,
            f"W_1{mark}": some(rng, d_model, d_ff), f"W_2{mark}": some(rng, d_ff, d_model),
            f"b_1{mark}": some(rng, 1, d_ff), f"b_2{mark}": some(rng, 1, d_model),
        }  # fmt: skip

    return {"X": some(rng, n, d_model)} | {k: v for number in range(1, blocks + 1) for k, v in own(number).items()}


def norm(x, epsilon):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon)


def block_in_numpy(x, weight, heads, epsilon):
    """Post-norm: Vaswani et al. 2017, section 3.1."""

    def attention(x):
        q, k, v = (np.split(x @ weight(f"W_{role}"), heads, axis=1) for role in "QKV")
        outputs = []
        for q_h, k_h, v_h in zip(q, k, v, strict=True):
            powers = np.exp(q_h @ k_h.T / np.sqrt(q_h.shape[1]))
            outputs.append(powers / powers.sum(1, keepdims=True) @ v_h)
        return np.hstack(outputs) @ weight("W_O")

    x = norm(x + attention(x), epsilon)
    return norm(x + np.maximum(0, x @ weight("W_1") + weight("b_1")) @ weight("W_2") + weight("b_2"), epsilon)


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("epsilon", ["0", "1/100000"])
def test_encoders_with_softmax_and_layer_norm(blocks, heads, epsilon):
    givens = block(Random(3), 3, 4, 6, blocks)
    name = "encoder_block" if blocks == 1 else "encoder"
    stacked = {} if blocks == 1 else {"blocks": blocks}
    d = derive(name, **givens, heads=heads, epsilon=epsilon, arithmetic="decimal", **stacked).derivation
    x = np.array(givens["X"], float)
    for number in range(1, blocks + 1):

        def weight(name, mark=f"^{number}" if blocks > 1 else ""):
            return np.array(givens[name + mark], float)

        x = block_in_numpy(x, weight, heads, 0 if epsilon == "0" else 1e-5)
    assert np.abs(array(d.last.result) - x).max() < 1e-9
    assert np.abs(np.array(numbers(d.last.result).decimals(12), float) - x).max() < 1e-9


@pytest.mark.slow
def test_attention_of_64_tokens():
    rng = Random(64)
    Q, K, V = (some(rng, 64, 64) for _ in range(3))
    Z = derive("attention", Q=Q, K=K, V=V, arithmetic="auto")["Z"].result
    powers = np.exp(np.array(Q) @ np.array(K).T / 8 - 60)
    assert np.abs(array(Z) - powers / powers.sum(1, keepdims=True) @ np.array(V)).max() < 1e-9
    assert in_decimals(numbers(Z))


def test_a_recurrent_network_of_six_units():
    rng = Random(6)
    X, W_x, W_h = some(rng, 4, 3), some(rng, 3, 6), some(rng, 6, 6)
    small = [[f"{x}/4" for x in row] for row in W_h]
    d = derive("recurrent_network", X=X, W_x=W_x, W_h=small, function="tanh", arithmetic="decimal").derivation
    h = np.zeros(6)
    for x in X:
        h = np.tanh(np.array(x) @ np.array(W_x) + h @ np.array(W_h) / 4)
    assert np.abs(array(d.last.result)[-1] - h).max() < 1e-9


@pytest.mark.parametrize("arithmetic", ["decimal", "auto"])
def test_gradients_through_attention_of_four_tokens(arithmetic):
    """To the weights and the inputs, n = d = 4, against PyTorch's autograd."""
    torch = pytest.importorskip("torch")
    rng = Random(44)
    givens = {name: some(rng, 4, 4) for name in ("X", "W_Q", "W_K", "W_V", "dZ")}
    d = derive("self_attention_gradient", **givens, arithmetic=arithmetic).derivation
    t = {name: torch.tensor(m, dtype=torch.float64, requires_grad=True) for name, m in givens.items()}
    Q, K, V = (t["X"] @ t[f"W_{role}"] for role in "QKV")
    (torch.softmax(Q @ K.T / 2, 1) @ V * t["dZ"].detach()).sum().backward()
    for name in ("X", "W_Q", "W_K", "W_V"):
        assert np.abs(array(d.value(f"d{name}")) - t[name].grad.numpy()).max() < 1e-9, name


@pytest.mark.parametrize("arithmetic", ["decimal", "auto"])
def test_gradients_through_time_of_six_units(arithmetic):
    """tanh, four steps, against PyTorch's autograd."""
    torch = pytest.importorskip("torch")
    rng = Random(46)
    X, W_x, W_h, dH = some(rng, 4, 4), some(rng, 4, 6), some(rng, 6, 6), some(rng, 4, 6)
    thirds = [[f"{x}/3" for x in row] for row in W_h]
    d = derive("backpropagation_through_time", X=X, W_x=W_x, W_h=thirds, dH=dH, function="tanh",
               arithmetic=arithmetic).derivation  # fmt: skip
    x, w_x, w_h, g = (torch.tensor(m, dtype=torch.float64) for m in (X, W_x, W_h, dH))
    w_x.requires_grad_(), (w_h := w_h / 3).requires_grad_()
    h, loss = torch.zeros(6, dtype=torch.float64), 0
    for step, row in enumerate(x):
        h = torch.tanh(row @ w_x + h @ w_h)
        loss = loss + (h * g[step]).sum()
    loss.backward()
    assert np.abs(array(d.value("dW_x")) - w_x.grad.numpy()).max() < 1e-9
    assert np.abs(array(d.value("dW_h")) - w_h.grad.numpy()).max() < 1e-9


@pytest.mark.parametrize("function", ["gelu", "gelu_tanh", "silu", "sigmoid", "tanh"])
def test_activations_of_decimals(function):
    """Each in a block, of numbers that are decimals already, against PyTorch."""
    torch = pytest.importorskip("torch")
    givens = {"X": [[1, "sqrt(2)"], ["-1/3", 2]], "W_1": [[1, -1, 2], [0, 1, 1]], "W_2": [[1, 0], [-1, 1], [2, 1]]}
    d = derive("feed_forward", **givens, function=function, arithmetic="decimal").derivation
    x = torch.tensor([[1, 2**0.5], [-1 / 3, 2]], dtype=torch.float64)
    known = {
        "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu, "sigmoid": torch.sigmoid,
        "tanh": torch.tanh, "gelu_tanh": lambda y: torch.nn.functional.gelu(y, approximate="tanh"),
    }  # fmt: skip
    hidden = known[function](x @ torch.tensor(givens["W_1"], dtype=torch.float64))
    expected = (hidden @ torch.tensor(givens["W_2"], dtype=torch.float64)).numpy()
    assert np.abs(array(d.last.result) - expected).max() < 1e-9


@pytest.mark.slow
def test_what_exact_arithmetic_gives_up_names_the_other_two():
    with pytest.raises(OutgrownError, match=r"arithmetic = .*auto"):
        derive("encoder", **block(Random(2), 3, 4, 6, 2), heads=2, blocks=2)


# ------------------------------------------------------------------------------------------------ pages


def solution(arithmetic: str, **settings: object) -> Solution:
    return derive("self_attention", X=[[1, 0], [0, 1]], W_Q=[[1, 2], [0, 1]], W_K=[[1, 0], [1, 1]], W_V=[[2], [1]],
                  arithmetic=arithmetic, **settings)  # fmt: skip


def test_pages_say_once_where_decimals_begin():
    flat = " ".join(solution("decimal").text("markdown").split())
    assert flat.count(DECIMALS) == 1
    assert flat.index(DECIMALS) > flat.index("S =")
    assert DECIMALS not in " ".join(solution("exact").text("markdown").split())
    assert DECIMALS not in " ".join(solution("auto").text("markdown").split())
    long = derive("encoder_block", **block(Random(4), 2, 4, 4), heads=2, arithmetic="auto")
    assert " ".join(long.text("markdown").split()).count(TOO_LONG) == 1


@pytest.mark.parametrize("form", [form for form in FORMATS if "pdf" not in form])
@pytest.mark.parametrize("layout", ["matrix", "falk", "columns"])
def test_decimals_in_every_format_and_layout(form, layout):
    made = derive("self_attention", X=[[1, 0], [0, 1]], W_Q=[[1, 2], [0, 1]], W_K=[[1, 0], [1, 1]], W_V=[[2], [1]],
                  arithmetic="decimal", layout=layout, places=3)  # fmt: skip
    written = made.text(form)
    for text in (cell for row in numbers(made["Z"].result).decimals(3) for cell in row):
        assert text in written
    assert str(made["Z"].result[0, 0]) not in written  # the digits of messages stand on no page


def test_small_decimals_are_not_printed_as_nothing_but_zeros():
    d = derive("attention", Q=[[1, 0]], K=[[0, 0], [20, 0]], V=[[1], [0]], scale="none", arithmetic="decimal")
    assert "0.0000000021" in d.text("markdown")  # 1/(1 + e^20)


@pytest.mark.parametrize("score", [100, 10_000, 10**7])
def test_decimals_that_nobody_would_write_are_zeros(score):
    """e^−100 has 43 zeros before its first digit, e^(−10^7) four million."""
    d = derive("attention", Q=[[1, 0]], K=[[0, 0], [score, 0]], V=[[1], [2]], scale="none", arithmetic="decimal")
    written = d.text("markdown")
    assert "0.0000" in written
    assert "0.00000000000" not in written
    assert d["Z"].result.decimals(4) == (("2.0000",),)


# ------------------------------------------------------------------------------------------------ worksheets

SHEETS = ["attention", "self_attention", "multi_head_attention", "encoder_block", "attention_gradient"]


@cache
def made(name: str, arithmetic: str = "decimal") -> Sheet:
    [sheet] = sheets(make_recipe(name, {"arithmetic": arithmetic}, seed=5), 1)
    return sheet


def derivation(name: str) -> Derivation:
    return made(name).problem.derivation


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", SHEETS)
def test_worksheets_have_an_ordinary_softmax_and_ask_for_decimals(name):
    sheet = made(name)
    assert all(getattr(step.op, "base", "e") == "e" for step in sheet.problem.steps)
    assert not sheet.problem.exact
    blank = render(sheet.worksheet, "markdown")[1].decode()
    assert "Give decimals with 4 places" in blank


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_the_key_earns_everything_in_every_form(name):
    question = made(name).question
    for form, attempt in right_scripts(question, derivation(name)):
        report = mark(question, attempt)
        assert not report.events, f"{form}: {report.events}"
        assert report.total == report.available > 0, form


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", SHEETS)
def test_the_key_filled_into_the_worksheet_earns_everything(name):
    sheet = made(name)
    attempt = script(sheet.question, sheet.problem.derivation)
    filled = fill(render(sheet.worksheet, "markdown")[1].decode(), [sheet.question], [attempt])
    report = mark(sheet.question, read_submission(filled, [sheet.question], form="markdown").attempts[0])
    assert report.total == report.available > 0


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", SHEETS)
def test_a_belief_carried_on_is_one_event(name):
    question, asked = made(name).question, [step.name for step in made(name).problem.asked_steps]
    beliefs = [w for w in replayed(derivation(name)) if not w.stopped and w.first in asked and w.misconception.core]
    for wrong in Random(name).sample(beliefs, min(4, len(beliefs))):
        report = mark(question, script(question, wrong.derivation))
        found = [[c.id for c in event.candidates] for event in report.events]
        assert len(found) == 1, (wrong.misconception.id, found)
        assert wrong.misconception.id in found[0]


@pytest.mark.slow
def test_auto_asks_for_exact_values_as_far_as_they_go():
    sheet = made("encoder_block", "auto")
    first = next(step for step in sheet.problem.steps if in_decimals(numbers(step.result)))
    parts = {part.name: " ".join(str(block) for block in part.ask) for part in sheet.question.parts}
    told = [name for name, text in parts.items() if "From here on, give decimals" in text]
    assert told == [first.name]
    for form, attempt in right_scripts(sheet.question, sheet.problem.derivation):
        report = mark(sheet.question, attempt)
        assert report.total == report.available > 0, form
