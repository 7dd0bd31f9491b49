"""Slips: each value is wrong in the way that its kind says, and what follows from it follows."""

from fractions import Fraction

import oracles
import pytest
import strategies
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from test_golden_variant import GIVENS, worked_out
from trials import at_least_one, tries

from symattn.api import derive
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import replayed
from symattn.derivation.ops.entrywise import ActivationGradient
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.slips import SLIPS, PossibleSlips, misread, slips
from symattn.derivation.varied import said
from symattn.exact import Matrix


def found(d, step, i, j):
    by_kind = {}
    for s in slips(d, step, i, j):
        by_kind.setdefault(s.slip.id, []).append(s.value)
    return by_kind


def test_by_hand():
    # v_12 = 0·1 + 1·(−1) + (−1)·2 + (−1)·2 + (−1)·2 = −7
    values = found(worked_out(), "V", 0, 1)
    assert values["A1"] == [7, -5, -3]
    assert values["A2"] == [-6, -5]
    assert values["A3"] == [-8, -9]
    assert values["A4"] == [-6, -8, -5, -9]
    assert values["A5"] == [-6, -4]
    assert values["A6"] == [6, -3, 3]
    assert values["A9"] == [3, -17]
    assert values["A10"] == [-6, -8]
    assert values["A11"] == [-6, -5]
    assert "A8" not in values  # one digit
    assert "A13" not in values
    # q_14 = 0·(−1) + 1·(−1) + (−1)·0 + (−1)·1 + (−1)·0 has no product of two negative numbers, q_13 has one
    assert "A13" not in found(worked_out(), "Q", 0, 3)
    assert found(worked_out(), "K", 0, 0)["A13"] == [-1]  # 1 = (−1)·1 + (−1)·(−1) + (−1)·(−1): 1 − 2 = −1


def test_a_copy_error_spoils_the_row():
    copies = [s for s in slips(worked_out(), "V", 0, 1) if s.slip.id == "A7"]
    first = copies[0]
    assert first.says == "entry 1 of row 1 was copied as 1 instead of 0"
    assert dict(first.entries) == {(0, 0): 3, (0, 1): -6}  # + 1·(0, 1)
    assert first.on(worked_out()).value("V") == Matrix([[3, -6], [-1, 6], [1, -3]])


def test_fractions_added_above_and_below():
    d = mechanism("weighted_values").run({"A": [["1/2", "1/3"]], "V": [[1], [1]]}, Settings())
    assert found(d, "Z", 0, 0)["A12"] == [Fraction(2, 5)]
    whole = mechanism("weighted_values").run({"A": [[1, 2]], "V": [[1], [1]]}, Settings())
    assert "A12" not in found(whole, "Z", 0, 0)
    by_token = mechanism("weighted_values").run({"A": [["1/2", "1/3"]], "V": [[1], [1]]}, Settings(by="token"))
    assert found(by_token, "Z.1", 0, 0)["A12"] == [Fraction(2, 5)]


def test_digits():
    d = mechanism("weighted_values").run({"A": [[1]], "V": [[-120, 11, 35]]}, Settings())
    assert found(d, "Z", 0, 0)["A8"] == [-210, -102]
    assert "A8" not in found(d, "Z", 0, 1)
    assert found(d, "Z", 0, 2)["A8"] == [53]


def test_any_step_may_be_off_by_one_and_hidden_scores_have_no_slips():
    d = worked_out(mask="causal")
    assert found(d, "S'", 2, 2) == {"A9": [13, -7], "A10": [4, 2]}
    assert found(d, "M", 0, 1) == {}
    assert found(d, "A", 1, 0) == {}


# ------------------------------------------------------------------------------------------ laws


def exactly(x):
    return Matrix([[x]]).sympy()[0, 0]


@pytest.mark.slow
@given(strategies.problems("self_attention", layout={}, exotic=False), st.data())
@tries(40)
def test_every_slip_keeps_the_law_of_its_kind(problem, data):
    d = problem.run()
    step = data.draw(st.sampled_from([s for s in d if isinstance(s.op, MatMul) and s.name != "Z"]))
    result = step.result.sympy()
    i = data.draw(st.integers(0, result.rows - 1))
    j = data.draw(st.integers(0, result.cols - 1))
    first, second = (o.of(d.value(o.name)).sympy() for o in step.operands)
    assert first * second == result
    e = result[i, j]
    factors = [(first[i, k], second[k, j]) for k in range(first.cols)]
    terms = [a * b for a, b in factors]
    off_by = {
        "A1": [-2 * x for x in (e, *terms)],
        "A2": [-x for x in terms],
        "A3": terms,
        "A4": [sign * x for pair in factors for x in pair for sign in (1, -1)],
        "A5": [a + b - a * b for a, b in factors],
        "A6": [x - e for x in (*result.row(i), *result.col(j))],
        "A9": [10, -10],
        "A10": [1, -1],
        "A11": [*(a + b for a, b in factors if 0 in (a, b)), *(1 - a * b for a, b in factors if 1 in (a, b))],
        "A13": [-2 * a * b for a, b in factors if a < 0 and b < 0],
    }
    seen = []
    for s in slips(d, step.name, i, j):
        wrong = exactly(s.value)
        assert wrong != e
        assert (s.slip.id, wrong) not in seen
        seen.append((s.slip.id, wrong))
        assert s.entries[i, j] == s.value
        assert s.says
        match s.slip.id:
            case "A7":
                differences = sympy.zeros(*result.shape)
                for place, x in s.entries.items():
                    differences[place] = result[place] - exactly(x)
                assert differences.rank() == 1
                rows = [r for r in range(result.rows) if not differences.row(r).is_zero_matrix]
                columns = [c for c in range(result.cols) if not differences.col(c).is_zero_matrix]
                along_row = rows == [i] and any(
                    _parallel(differences.row(i), second.row(k)) for k in range(second.rows)
                )
                down = columns == [j] and any(_parallel(differences.col(j), first.col(k)) for k in range(first.cols))
                assert along_row or down
            case "A8":
                assert sorted(str(abs(wrong))) == sorted(str(abs(e)))
                assert wrong * e > 0
            case "A12":
                assert any(t.q != 1 for t in terms)
                kept = [t for t in terms if t]
                assert wrong == sympy.Rational(sum(t.p for t in kept), sum(t.q for t in kept))
            case id:
                assert wrong - e in off_by[id], id
    order = [list(SLIPS).index(id) for id, _ in seen]
    assert order == sorted(order)


def _parallel(a, b):
    return sympy.Matrix.vstack(sympy.Matrix([list(a)]), sympy.Matrix([list(b)])).rank() == 1


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("by", ["matrix", "token"])
def test_what_follows_from_a_slip_follows(by):
    d = worked_out(by=by, mask="causal")
    name = "S" if by == "matrix" else "S.2"
    row = 1 if by == "matrix" else 0
    right = d.value(name).sympy()
    for s in at_least_one(slips(d, name, row, 0)):
        wrong = s.on(d)
        assert wrong[name].pinned
        spoilt = right.as_mutable()
        for place, x in s.entries.items():
            spoilt[place] = exactly(x)
        assert wrong.value(name).sympy() == spoilt
        scaled = "S'" if by == "matrix" else "S'.2"
        assert wrong.value(scaled).sympy() == spoilt / 2
        assert wrong.value("Q") is d.value("Q")
        m = wrong.value("M" if by == "matrix" else "M.2").sympy().row(row)
        p = sympy.exp(m[0]) / (sympy.exp(m[0]) + sympy.exp(m[1]))
        v = sympy.Matrix([[3, -7], [-1, 6], [1, -3]])
        assert oracles.same_matrix(wrong.value("Z").sympy().row(1), p * v.row(0) + (1 - p) * v.row(1))


def test_a_misread_given_runs_through_everything():
    d = misread(worked_out(), "X", 0, 2, 1)
    x = sympy.Matrix(GIVENS["X"])
    x[0, 2] = 1
    for role in "QKV":
        assert d.value(role).sympy() == x * sympy.Matrix(GIVENS[f"W_{role}"])
    assert d.value("S").sympy() == d.value("Q").sympy() * d.value("K").sympy().T


def test_what_cannot_be():
    with refused_saying(r"V is 3×2; it has no entry \(4, 1\)"):
        list(slips(worked_out(), "V", 3, 0))
    with refused_saying("S is not a given matrix"):
        misread(worked_out(), "S", 0, 0, 1)
    with refused_saying(r"X is 3×5; it has no entry \(1, 6\)"):
        misread(worked_out(), "X", 0, 5, 1)


def test_the_catalogue_of_slips():
    assert list(SLIPS) == [f"A{i}" for i in range(1, 20)]
    for id, slip in SLIPS.items():
        assert slip.id == id
        assert slip.name
        assert slip.detect
        assert slip.feedback.endswith(".")


def test_a_slip_in_a_slope_names_the_function():
    """What goes wrong beside f′(x) is told in signs, whatever the function is in the program."""
    d = Derivation({"g": Matrix([[3]]), "x": Matrix([[2]])}).then("h", ActivationGradient("relu"), "g", "x")
    says = [slip.says for slip in PossibleSlips(d, "h").at(0, 0, lambda x: True)]
    assert "3·(f′(2)) was taken as 3 + f′(2)" in says or "3·f′(2) was taken as 3 + f′(2)" in says, says


@pytest.mark.parametrize(
    ("value", "written"),
    [("0.12", "0.12"), ("0.875", "7/8"), ("0.8808", "0.8808"), ("1/3", "1/3"), ("1/37", "0.0270"), ("-2.25", "−9/4")],
)
def test_a_decimal_is_told_as_it_was_written(value, written):
    """0.12 and not 0.1200; what was rounded for telling keeps its places."""
    assert said(Fraction(value)) == written


def test_padding_hides_no_diagonal():
    """Which key is a query's own is nothing to a query of padding."""
    givens = {name: [[1, 0], [0, 1], [1, 1]] for name in "QKV"}
    found = {mask: {w.misconception.id for w in replayed(derive("attention", mask=mask, **givens).derivation)}
             for mask in ("padding:2", "causal")}  # fmt: skip
    assert ("M3" in found["causal"], "M3" in found["padding:2"]) == (True, False)
