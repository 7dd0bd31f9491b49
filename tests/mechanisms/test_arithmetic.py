"""Whole derivations in decimals: the same numbers as exactly, as NumPy's, and as far as exact ones do not go."""

from functools import cache
from random import Random

import pytest
from strategies import any_numbers

from symattn import derive
from symattn.api import make_recipe
from symattn.derivation.derivation import in_decimals, is_short
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.errors import OutgrownError
from symattn.exact import Real
from symattn.marking.marker import mark
from symattn.marking.trial import right_scripts
from symattn.teaching.explanation.steps import DECIMALS, TOO_LONG
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.sheets import sheets

MECHANISMS = list(mechanisms())


def some(rng, rows, columns):
    return [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]


def small(name):
    return {letter: min(size, 2) for letter, size in make_recipe(name).spec.chosen_sizes().items()}


# ------------------------------------------------------------------------------------------------ the same numbers


@pytest.mark.covering(most=18, product=False)
@pytest.mark.parametrize("arithmetic", ["decimal", "auto"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_line_is_the_exact_one(name, arithmetic):
    """With ordinary softmax and norms, but for norms in blocks, which are too long to be printed exactly."""
    chosen = mechanism(name)
    plain = {"norm": "none"} if name in ("encoder", "decoder_block") else {}
    settings = {**chosen.defaults, **plain}
    exact = any_numbers(name, Settings.read(settings), small(name), Random(name), range(-2, 3))
    d = chosen.run(exact.givens, Settings.read({**settings, "arithmetic": arithmetic}))
    assert [step.name for step in d] == [step.name for step in exact]
    for ours, other in zip(d, exact, strict=True):
        assert ours.result.decimals(12) == other.result.decimals(12), ours.name
        if arithmetic == "auto" and not in_decimals(ours.result):
            assert all(map(is_short, ours.result))
    self_check(d)


def test_a_replay_gives_the_same_objects():
    d = derive("encoder_block", **block(Random(1), 3, 4, 8), heads=2, arithmetic="decimal").derivation
    again = d.replay()
    assert again == d
    pairs = [(x, y) for one, other in zip(d, again, strict=True)
             for x, y in zip(one.result, other.result, strict=True)]  # fmt: skip
    assert all(x is y for x, y in pairs if isinstance(x, Real))


# ------------------------------------------------------------------------------------------------ beyond exact values


def block(rng, n, d_model, d_ff, blocks=1):
    """Givens of an encoder block with biases, heads together as wide as the model; numbered where there are several."""

    def own(number):
        mark = f"^{number}" if blocks > 1 else ""
        weights = {f"W_{role}{mark}": some(rng, d_model, d_model) for role in "QKVO"}
        return {
            **weights,
            f"W_1{mark}": some(rng, d_model, d_ff), f"W_2{mark}": some(rng, d_ff, d_model),
            f"b_1{mark}": some(rng, 1, d_ff), f"b_2{mark}": some(rng, 1, d_model),
        }  # fmt: skip

    return {"X": some(rng, n, d_model)} | {k: v for number in range(1, blocks + 1) for k, v in own(number).items()}


@pytest.mark.slow
def test_what_exact_arithmetic_gives_up_names_the_other_two():
    with pytest.raises(OutgrownError, match=r"arithmetic = .*auto"):
        derive("encoder", **block(Random(2), 3, 4, 6, 2), heads=2, blocks=2)


# ------------------------------------------------------------------------------------------------ pages


def solution(arithmetic, **settings):
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
def made(name, arithmetic="decimal"):
    [sheet] = sheets(make_recipe(name, {"arithmetic": arithmetic}, seed=5), 1)
    return sheet


@pytest.mark.slow
def test_auto_asks_for_exact_values_as_far_as_they_go():
    sheet = made("encoder_block", "auto")
    first = next(step for step in sheet.problem.steps if in_decimals(step.result))
    parts = {part.name: " ".join(str(block) for block in part.ask) for part in sheet.question.parts}
    told = [name for name, text in parts.items() if "From here on, give decimals" in text]
    assert told == [first.name]
    for form, attempt in right_scripts(sheet.question, sheet.problem.derivation):
        report = mark(sheet.question, attempt)
        assert report.total == report.available > 0, form
