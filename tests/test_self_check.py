"""A wrong key does not leave: whatever is planted in whatever kind of step, the second route finds it."""

from dataclasses import replace
from functools import cache, reduce
from itertools import product
from operator import add

import pytest
import strategies
from hypothesis import given
from sentences import refused_saying
from tables import tables_beside
from trials import tries

from symattn.api import derive, worksheet
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops import operations
from symattn.errors import SelfCheckError, SymattnError
from symattn.exact import NEGATIVE_INFINITY, Matrix, decide
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import problem_file
from symattn.teaching.sheets import Setting, make_sheet, write_sheets

PROGRAM = tables_beside(__file__, "every_operation.toml")
GIVENS, STEPS = PROGRAM["given"], PROGRAM["step"]


def every_op():
    return problem_file(PROGRAM, "every op").problem().derivation


def with_entry(matrix, i, j, value):
    rows = [list(row) for row in matrix.rows]
    rows[i][j] = value
    return Matrix.of(rows)


def planted(derivation, name, *entry):
    """The derivation with one entry of one result replaced, and nothing worked out again."""
    steps = tuple(replace(s, result=with_entry(s.result, *entry)) if s.name == name else s for s in derivation)
    return replace(derivation, steps=steps)


def test_every_op_is_here():
    assert {type(step.op) for step in every_op()} == set(operations().values())


def test_what_is_right_passes():
    self_check(every_op())


def test_squares_about_another_mean_are_no_mistake():
    """Of 1 and −2 about 3, and of 3 and 4 about 1: (4 + 25)/2 and (4 + 9)/2."""
    steps = [{"name": "v", "op": "variance", "operands": ["A", "m"]}]
    d = derive("custom", steps=steps, A=GIVENS["A"], m=[[3], [1]]).derivation
    assert d.value("v") == Matrix([["29/2"], ["13/2"]])
    self_check(d)


def test_what_an_op_says_of_itself_is_true_of_its_result():
    """What only moves entries has no others, and weights sum to 1."""
    d = every_op()
    for step in d:
        if step.op.moves:
            assert set(map(str, step.result)) <= {str(x) for m in d.operands(step) for x in m}, step.name
        if step.op.weighs:
            lines = step.result.rows if step.op.along == "rows" else step.result.T.rows
            assert all(decide(reduce(add, line), 1).equal for line in lines), step.name
    assert {step.name for step in d if step.op.moves} == {"transpose", "stack", "stack_columns", "look_up"}


@pytest.mark.covering(most=10)
@pytest.mark.parametrize("name", [step["name"] for step in STEPS])
def test_a_wrong_entry_is_found_in_every_kind_of_step(name):
    derivation = every_op()
    for i, j in product(*map(range, derivation.value(name).shape)):
        value = derivation.value(name)[i, j]
        wrong = 1 if repr(value) == "-∞" else value + 1
        with pytest.raises(SelfCheckError, match=rf"{name!r}, entry \({i + 1}, {j + 1}\)"):
            self_check(planted(derivation, name, i, j, wrong))


@pytest.mark.covering(most=6, rest=3)
@pytest.mark.parametrize("name", [s["name"] for s in STEPS if s["name"] not in ("round",)])
def test_a_small_error_is_found_too(name):
    derivation = every_op()
    value = derivation.value(name)[0, 0]
    with pytest.raises(SelfCheckError):
        self_check(planted(derivation, name, 0, 0, value + Matrix([["1/1000000"]])[0, 0]))


def carried(derivation, name, *entry):
    """One entry replaced as if the op had made it, and everything after it following from it."""
    replayed = derivation.replay(pinned={name: with_entry(derivation.value(name), *entry)})
    return replace(replayed, steps=tuple(replace(s, pinned=False) for s in replayed))


@cache
def sheet_with_a_mask():
    return worksheet("causal_self_attention", seed=2)[0].problem.derivation


def attention(q, k, **settings):
    return mechanism("attention").run({"Q": q, "K": k, "V": [[1], [2]]}, Settings.read(settings))


def note_2():
    return derive("note-002", corrected=False).derivation


CARRIED = {
    **{f"a wrong {name}": (sheet_with_a_mask, name, 1, 0, "9/10") for name in ("S", "S'", "M", "A", "Z")},
    "a score that the mask should have hidden": (sheet_with_a_mask, "M", 0, 1, 1),
    "a score that the mask should have left": (sheet_with_a_mask, "M", 1, 0, NEGATIVE_INFINITY),
    # half a unit is what rounding to the nearest may move; from 0.5 to 0.6 is more
    "a wrongly rounded weight": (
        lambda: attention([[0]], [[1], [2]], rounding={"places": 1}), "A_rounded", 0, 0, "0.6",
    ),
    # largest remainder promises the sum; 0.1 for 0.063 lies within a unit and breaks it
    "rounded weights that no longer sum to 1": (note_2, "A_rounded.1", 0, 0, "0.1"),
    "rounded values of too many places": (note_2, "A_rounded.1", 0, 0, "0.05"),
}  # fmt: skip


@pytest.mark.parametrize("what", CARRIED)
def test_an_error_is_found_where_it_was_made_also_if_everything_follows_from_it(what):
    made, name, i, j, value = CARRIED[what]
    with pytest.raises(SelfCheckError, match=name):
        self_check(carried(made(), name, i, j, Matrix([[value]])[0, 0]))


@pytest.mark.parametrize("mask", ["causal", "padding:1"])
def test_a_base_below_1_is_no_reason_to_refuse(mask):
    derivation = attention([[1], [2]], [[1], [3]], base="1/2", mask=mask, scale="none")
    assert sum(derivation.value("A").rows[1]) == 1
    self_check(derivation)


def test_an_error_below_every_tolerance_is_found_in_the_output():
    # 10^-15 passes any comparison of floats; the exact route by tokens sees it
    derivation = attention([[1]], [[1], [2]])
    tiny = Matrix([["1/1000000000000000"]])[0, 0]
    with pytest.raises(SelfCheckError, match=r"Output \(1, 1\)"):
        self_check(planted(derivation, "Z", 0, 0, derivation.value("Z")[0, 0] + tiny))


def test_weights_that_are_given_are_taken_as_they_are():
    whole = derive("attention", Q=[[1, 0], [0, 1]], K=[[1, 2], [0, 1]], V=[[1, 2], [3, 4]]).derivation
    last = whole["Z"]
    self_check(Derivation({"A": whole.value("A"), "V": whole.value("V")}, (last,)))


def test_what_was_pinned_is_not_judged_but_what_follows_from_it_is():
    derivation = attention([[1]], [[1], [2]], scale="none")
    pinned = derivation.replay(pinned={"S": [[5, 5]]})
    self_check(pinned)
    with pytest.raises(SelfCheckError):
        self_check(planted(pinned, "A", 0, 0, 1))


def test_with_a_wrong_key_nothing_is_written(tmp_path):
    good, other = worksheet(n=2, seed=1)
    wrong = replace(other.problem, derivation=planted(other.problem.derivation, "S", 0, 0, 99))

    def made():
        yield good
        yield make_sheet(wrong)

    with pytest.raises(SelfCheckError):
        write_sheets(made(), tmp_path / "out", Setting(["text"]))
    assert not list((tmp_path / "out").rglob("*"))


@pytest.mark.slow
@tries(40)
@given(strategies.problems())
def test_no_right_key_is_refused(problem):
    self_check(problem.run())


@pytest.mark.slow
@tries(20)
@given(strategies.problems("attention", {"orientation": "rows", "by": "token", "scores": "row"}, exotic=False))
def test_large_numbers_are_no_reason_to_refuse(problem):
    givens = {name: [[x * 40 for x in row] for row in rows] for name, rows in problem.givens.items()}
    try:
        derivation = replace(problem, givens=givens).run()
    except SymattnError:
        return
    self_check(derivation)


def word_wanted_against(score, arithmetic="exact"):
    """The loss of a word whose score is so far below the other's."""
    return derive("language_model", N=[[1]], W_U=[[0, score]], T=[[1, 0]], arithmetic=arithmetic).derivation


@pytest.mark.parametrize("arithmetic", ["exact", "decimal"])
@pytest.mark.parametrize("score", [5, 30, 60, 700])
def test_a_tiny_probability_is_no_reason_to_refuse(score, arithmetic):
    """With 18 places, e^-30 had 5 digits left, and e^-60 none."""
    self_check(word_wanted_against(score, arithmetic))


def test_a_probability_that_no_float_is_near_to_is_told_with_its_step():
    with refused_saying(r"^Step 'loss' has numbers beyond 10.308, or closer to 0 than"):
        self_check(word_wanted_against(800))
