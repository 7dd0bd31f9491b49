"""Whole derivations in decimals: the same numbers as exactly, as NumPy's, and as far as exact ones do not go."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest

from symattn import derive
from symattn.api import Solution, make_recipe
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.errors import OutgrownError
from symattn.exact import Matrix, Real
from symattn.exact.approximate import approximate
from symattn.exact.carry import in_decimals, is_short
from symattn.marking.marker import mark
from symattn.marking.trial import right_scripts
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.steps import DECIMALS, TOO_LONG
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.sheets import Sheet, sheets
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


@pytest.mark.covering(most=18, product=False)
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


@pytest.mark.slow
def test_attention_of_64_tokens():
    rng = Random(64)
    Q, K, V = (some(rng, 64, 64) for _ in range(3))
    Z = derive("attention", Q=Q, K=K, V=V, arithmetic="auto")["Z"].result
    powers = np.exp(np.array(Q) @ np.array(K).T / 8 - 60)
    assert np.abs(array(Z) - powers / powers.sum(1, keepdims=True) @ np.array(V)).max() < 1e-9
    assert in_decimals(numbers(Z))


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


@pytest.mark.covering(most=6, product=False)
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


@cache
def made(name: str, arithmetic: str = "decimal") -> Sheet:
    [sheet] = sheets(make_recipe(name, {"arithmetic": arithmetic}, seed=5), 1)
    return sheet


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
