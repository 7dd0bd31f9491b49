"""Nobody is accused who is right, however they round on the way; and what is wrong does not pass as rounding."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.api import make_recipe
from symattn.marking.marker import mark
from symattn.teaching.question import Question
from symattn.teaching.sheets import sheets
from tests.marking.students import Slip, Style, random_style, right_script, script

SUBJECTS = ("self_attention", "causal_self_attention", "multi_head_attention", "layer_norm", "attention_gradient")
GIVEN = {"Q": [[1, 0, 2], [0, 1, 1]], "K": [[2, 1, 0], [0, 1, 1]], "V": [[1, 0], [2, 3]]}


@cache
def question(name: str, seed: int = 1) -> Question:
    (sheet,) = sheets(make_recipe(name, seed=seed), 1)
    return sheet.question


@given(st.sampled_from(SUBJECTS), st.integers(0, 10**6))
def test_no_right_script_is_accused(name, seed):
    asked = question(name)
    style = random_style(Random(seed), [part.name for part in asked.parts])
    report = mark(asked, right_script(asked, style))
    assert not [event for event in report.events if event.kind != "rounding"], style
    assert report.total == report.available, style


@given(st.integers(0, 10**6), st.sampled_from([Decimal("-1"), Decimal(1), Decimal("0.1")]))
def test_a_slip_does_not_pass_as_rounding(seed, off):
    asked = question("self_attention")
    rng = Random(seed)
    style = Style(places=rng.randint(2, 6), powers=rng.choice([None, 2, 3]), roots=rng.choice([None, 2, 3]))
    step = rng.choice(["Q", "S", "S'", "A", "Z"])
    rows, columns = asked.problem.derivation[step].result.shape
    slip = Slip(step, (rng.randrange(rows), rng.randrange(columns)), lambda x: x + off)
    report = mark(asked, script(asked, asked.problem.derivation, style, slip))
    assert [event for event in report.events if event.kind != "rounding"], (style, slip)


def checked(**written):
    d = symattn.derive("attention", **GIVEN)
    page = {name: [[str(x) for x in row] for row in d[name].result.rows] for name in ("S", "S'", "A", "Z")}
    return symattn.check(d, page | written)


@pytest.mark.parametrize("root", ["1.73", "1.732", "1.7"])
def test_a_root_may_be_rounded_to_two_places(root):
    rows = [[f"{Decimal(x) / Decimal(root):.3f}" for x in row] for row in ((2, 2), (1, 2))]
    assert checked(**{"S'": rows}).right is (root != "1.7")


def test_a_quotient_of_decimals_is_as_near_as_its_decimals():
    """e^(2/√3) = 3.17 and e^(1/√3) = 1.78, so that the second row is 1.78/4.95 and 3.17/4.95."""
    assert checked(A=[["1/2", "1/2"], ["1.78/4.95", "3.17/4.95"]]).right
    assert not checked(A=[["1/2", "1/2"], ["1.18/4.95", "3.17/4.95"]]).right


@pytest.mark.parametrize("hidden", ["-10^9", "-1e9", "-10000", "-1000000000", "-inf"])
def test_a_huge_negative_score_hides_as_infinity_does(hidden):
    d = symattn.derive("causal_self_attention", X=[[1], [2]], W_Q=[[1]], W_K=[[1]], W_V=[[1]])
    page = {
        name: [[str(x) for x in row] for row in d[name].result.rows]
        for name in ("Q", "K", "V", "S", "S'", "M", "A", "Z")
    }
    page["M"][0][1] = hidden
    assert symattn.check(d, page).right


@pytest.mark.parametrize(("value", "typed"), [("2.204", "2·204"), ("160000", "160,000"), ("4", "4 (5)")])
def test_the_reading_that_is_right_is_taken_and_told(value, typed):
    d = symattn.derive("attention", Q=[[1]], K=[[1]], V=[[symattn.exact.exact(value)]], scale="none")
    checked = symattn.check(d, {"S": [[1]], "A": [[1]], "Z": [[typed]]})
    assert checked.right
    assert "was read as" in str(checked.reports[0].notices)


def test_a_person_looks_where_no_reading_is_right():
    d = symattn.derive("attention", Q=[[1]], K=[[1]], V=[[7]], scale="none")
    checked = symattn.check(d, {"S": [[1]], "A": [[1]], "Z": [["4 (5)"]]})
    assert not checked.right
    assert [notice.kind for notice in checked.reports[0].notices] == ["human"]
