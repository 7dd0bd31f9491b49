"""A wrong key does not leave: whatever is planted in whatever kind of step, the second route finds it."""

from dataclasses import replace
from functools import reduce
from operator import add

import pytest
import strategies
from hypothesis import given
from trials import tries

from symattn.api import derive, worksheet
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops import OPS
from symattn.errors import SelfCheckError, SymattnError
from symattn.exact import NEGATIVE_INFINITY, Matrix, decide, divide, exponential, square_root
from symattn.teaching.fairness import self_check
from symattn.teaching.problem_file import problem_file
from symattn.teaching.sheets import Setting, make_sheet, write_sheets

GIVENS = {"A": [[1, -2], [3, 4]], "B": [[1, 0], [2, 1]], "row": [[10, 20]], "one_hot": [[0, 1], [1, 0]]}
STEPS = [
    {"name": "matmul", "op": "matmul", "operands": ["A", "B"]},
    {"name": "transpose", "op": "transpose", "operands": ["A"]},
    {"name": "add", "op": "add", "operands": ["A", "row"]},
    {"name": "hadamard", "op": "hadamard", "operands": ["A", "B"]},
    {"name": "sum", "op": "sum", "operands": ["A"]},
    {"name": "sum_columns", "op": "sum", "operands": ["A"], "over": "columns"},
    {"name": "scale", "op": "scale", "operands": ["A"], "by": "sqrt(3)"},
    {"name": "stack", "op": "stack", "operands": ["A", "row"]},
    {"name": "stack_columns", "op": "stack", "operands": ["A", "B"], "along": "columns"},
    {"name": "mask", "op": "mask", "operands": ["A"], "mask": "causal"},
    {"name": "softmax", "op": "softmax", "operands": ["A"]},
    {"name": "softmax_masked", "op": "softmax", "operands": ["mask"]},
    {"name": "softmax_columns", "op": "softmax", "operands": ["A"], "along": "columns", "base": 2},
    {"name": "round", "op": "round", "operands": ["softmax"], "places": 1},
    {"name": "activation", "op": "activation", "operands": ["A"], "function": "relu"},
    {"name": "identity", "op": "activation", "operands": ["A"], "function": "identity"},
    {"name": "gelu", "op": "activation", "operands": ["A"], "function": "gelu"},
    {"name": "temperature", "op": "temperature", "operands": ["A"], "by": 2},
    {"name": "soft_cap", "op": "soft_cap", "operands": ["A"], "cap": 3},
    {"name": "over_sum", "op": "over_sum", "operands": ["A"]},
    {"name": "hardmax", "op": "hardmax", "operands": ["A"]},
    {"name": "feature_map", "op": "feature_map", "operands": ["A"], "feature": "elu+1"},
    {"name": "mean", "op": "mean", "operands": ["A"]},
    {"name": "mean_down", "op": "mean", "operands": ["A"], "over": "rows"},
    {"name": "variance", "op": "variance", "operands": ["A", "mean"]},
    {"name": "variance_of_sample", "op": "variance", "operands": ["A", "mean"], "of": "sample"},
    {"name": "standardise", "op": "standardise", "operands": ["A", "mean", "variance"], "epsilon": "1/4"},
    {"name": "mean_square", "op": "mean_square", "operands": ["A"]},
    {"name": "rescale", "op": "rescale", "operands": ["A", "mean_square"]},
    {"name": "over", "op": "over", "operands": ["A", "mean_square"]},
    {"name": "softmax_jacobian", "op": "softmax_jacobian", "operands": ["softmax[1]"]},
    {"name": "softmax_gradient", "op": "softmax_gradient", "operands": ["softmax", "A"]},
    {"name": "cross_entropy", "op": "cross_entropy", "operands": ["softmax", "one_hot"]},
    {"name": "slope", "op": "slope", "operands": ["A"], "function": "tanh"},
    {"name": "norm", "op": "norm", "operands": ["A"]},
    {"name": "running_maximum", "op": "running_maximum", "operands": ["A"]},
    {"name": "exponentials", "op": "exponentials", "operands": ["A", "running_maximum"]},
    {"name": "part", "op": "part", "operands": ["A"], "first": 2},
    {"name": "accumulate", "op": "accumulate", "operands": ["mean_square", "A", "B"]},
    {"name": "subtract", "op": "subtract", "operands": ["A", "row"]},
    {"name": "divide", "op": "divide", "operands": ["A", "row"]},
    {"name": "opposite", "op": "opposite", "operands": ["A"]},
    {"name": "exp", "op": "exp", "operands": ["A"]},
    {"name": "sqrt", "op": "sqrt", "operands": ["B"]},
    {"name": "multiple", "op": "multiple", "operands": ["A"], "by": "1/3"},
    {"name": "float", "op": "float", "operands": ["softmax"], "format": "float16"},
    {"name": "sinusoids", "op": "sinusoids", "operands": ["A"]},
    {"name": "rotate", "op": "rotate", "operands": ["A"], "angles": "90"},
    {"name": "look_up", "op": "look_up", "operands": ["A"], "rows": [2, 1, 2]},
    {"name": "top_k", "op": "top_k", "operands": ["softmax"], "k": 1},
    {"name": "argmax", "op": "argmax", "operands": ["A"]},
    {"name": "descent", "op": "descent", "operands": ["A", "B"], "rate": "1/10"},
    {"name": "positions", "op": "positions", "operands": ["A"], "formula": "p/(k+2)"},
]


def every_op() -> Derivation:
    return problem_file({"mechanism": "custom", "given": GIVENS, "step": STEPS}, "every op").problem().derivation


def planted(derivation: Derivation, name: str, i: int, j: int, value: object) -> Derivation:
    """The derivation with one entry of one result replaced, and nothing worked out again."""
    rows = [list(row) for row in derivation.value(name).rows]
    rows[i][j] = value
    steps = tuple(replace(s, result=Matrix.of(rows)) if s.name == name else s for s in derivation)
    return replace(derivation, steps=steps)


def test_every_op_is_here():
    assert {type(step.op) for step in every_op()} == set(OPS.values())


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
        operands = [set(map(str, o.of(d.value(o.name)))) for o in step.operands]
        if step.op.moves:
            assert set(map(str, step.result)) <= set().union(*operands), step.name
        if step.op.weighs:
            lines = step.result.rows if step.op.along == "rows" else step.result.T.rows
            assert all(decide(reduce(add, line), 1).equal for line in lines), step.name
    assert {step.name for step in d if step.op.moves} == {"transpose", "stack", "stack_columns", "look_up"}


@pytest.mark.covering(most=18)
@pytest.mark.parametrize("name", [step["name"] for step in STEPS])
def test_a_wrong_entry_is_found_in_every_kind_of_step(name):
    derivation = every_op()
    rows, columns = derivation.value(name).shape
    for i in range(rows):
        for j in range(columns):
            value = derivation.value(name)[i, j]
            wrong = 1 if repr(value) == "-∞" else value + 1
            with pytest.raises(SelfCheckError, match=rf"{name!r}, entry \({i + 1}, {j + 1}\)"):
                self_check(planted(derivation, name, i, j, wrong))


@pytest.mark.covering(most=16)
@pytest.mark.parametrize("name", [s["name"] for s in STEPS if s["name"] not in ("round",)])
def test_a_small_error_is_found_too(name):
    derivation = every_op()
    value = derivation.value(name)[0, 0]
    with pytest.raises(SelfCheckError):
        self_check(planted(derivation, name, 0, 0, value + Matrix([["1/1000000"]])[0, 0]))


def carried(derivation: Derivation, name: str, i: int, j: int, value: object) -> Derivation:
    """One entry replaced as if the op had made it, and everything after it following from it."""
    rows = [list(row) for row in derivation.value(name).rows]
    rows[i][j] = value
    replayed = derivation.replay(pinned={name: Matrix(rows)})
    return replace(replayed, steps=tuple(replace(s, pinned=False) for s in replayed))


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", ["S", "S'", "M", "A", "Z"])
def test_an_error_is_found_where_it_was_made_also_if_everything_follows_from_it(name):
    derivation = worksheet("causal_self_attention", seed=2)[0].problem.derivation
    with pytest.raises(SelfCheckError, match=name):
        self_check(carried(derivation, name, 1, 0, Matrix([["9/10"]])[0, 0]))


def test_a_score_that_the_mask_should_have_hidden_is_found():
    derivation = worksheet("causal_self_attention", seed=2)[0].problem.derivation
    with pytest.raises(SelfCheckError, match="'M'"):
        self_check(carried(derivation, "M", 0, 1, 1))


def test_a_score_that_the_mask_should_have_left_is_found():
    derivation = worksheet("causal_self_attention", seed=2)[0].problem.derivation
    with pytest.raises(SelfCheckError, match="'M'"):
        self_check(carried(derivation, "M", 1, 0, NEGATIVE_INFINITY))


def test_a_wrongly_rounded_weight_is_found():
    # half a unit is what rounding to the nearest may move; from 0.5 to 0.6 is more
    derivation = mechanism("attention").run(
        {"Q": [[0]], "K": [[1], [2]], "V": [[1], [2]]}, Settings.read({"rounding": {"places": 1}})
    )
    assert derivation.value("A_rounded") == Matrix([["1/2", "1/2"]])
    with pytest.raises(SelfCheckError):
        self_check(carried(derivation, "A_rounded", 0, 0, Matrix([["0.6"]])[0, 0]))


def test_rounded_weights_that_no_longer_sum_to_1_are_found():
    # largest remainder promises the sum; 0.1 for 0.063 lies within a unit and breaks it
    derivation = derive("note-002", corrected=False).derivation
    with pytest.raises(SelfCheckError):
        self_check(carried(derivation, "A_rounded.1", 0, 0, Matrix([["0.1"]])[0, 0]))


def test_rounded_values_have_no_more_places_than_they_should():
    derivation = derive("note-002", corrected=False).derivation
    with pytest.raises(SelfCheckError):
        self_check(carried(derivation, "A_rounded.1", 0, 0, Matrix([["0.05"]])[0, 0]))


@pytest.mark.parametrize("mask", ["causal", "padding:1"])
def test_a_base_below_1_is_no_reason_to_refuse(mask):
    settings = Settings.read({"base": "1/2", "mask": mask, "scale": "none"})
    derivation = mechanism("attention").run({"Q": [[1], [2]], "K": [[1], [3]], "V": [[1], [2]]}, settings)
    assert sum(derivation.value("A").rows[1]) == 1
    self_check(derivation)


def test_a_weight_in_an_unseen_place_is_found():
    derivation = mechanism("causal_self_attention").run(
        {"X": [[1], [2]], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}, Settings(mask="causal")
    )
    with pytest.raises(SelfCheckError):
        self_check(planted(derivation, "A", 0, 1, Matrix([["1/10000000"]])[0, 0]))


def test_an_error_below_every_tolerance_is_found_in_the_output():
    # 10^-15 passes any comparison of floats; the exact route by tokens sees it
    derivation = mechanism("attention").run({"Q": [[1]], "K": [[1], [2]], "V": [[1], [2]]}, Settings())
    tiny = Matrix([["1/1000000000000000"]])[0, 0]
    with pytest.raises(SelfCheckError, match=r"Output \(1, 1\)"):
        self_check(planted(derivation, "Z", 0, 0, derivation.value("Z")[0, 0] + tiny))


def test_the_mixed_up_softmax_is_found():
    # the classic: normalised along columns, a key that looks right
    derivation = mechanism("attention").run({"Q": [[1], [2]], "K": [[1], [3]], "V": [[1], [2]]}, Settings(scale="none"))
    e = exponential
    wrong = [
        [divide(e(1), e(1) + e(2)), divide(e(3), e(3) + e(6))],
        [divide(e(2), e(1) + e(2)), divide(e(6), e(3) + e(6))],
    ]
    steps = tuple(replace(s, result=Matrix(wrong)) if s.name == "A" else s for s in derivation)
    with pytest.raises(SelfCheckError, match="'A'"):
        self_check(replace(derivation, steps=steps))


def test_a_wrong_root_is_found():
    derivation = mechanism("attention").run({"Q": [[1, 1]], "K": [[1, 2]], "V": [[1]]}, Settings())
    with pytest.raises(SelfCheckError, match=r'"S\'"'):
        self_check(planted(derivation, "S'", 0, 0, square_root(3)))


def test_what_was_pinned_is_not_judged_but_what_follows_from_it_is():
    derivation = mechanism("attention").run({"Q": [[1]], "K": [[1], [2]], "V": [[1], [2]]}, Settings(scale="none"))
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


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_an_output_that_is_wrong_by_less_than_a_float_can_tell_is_found(orientation, mask):
    derivation = worksheet("self_attention", seed=3, orientation=orientation, mask=mask)[0].problem.derivation
    self_check(derivation)
    value = derivation.value("Z")[1, 1]
    with pytest.raises(SelfCheckError, match=r"Output \(2, 2\)"):
        self_check(planted(derivation, "Z", 1, 1, value + Matrix([["1/10^30"]])[0, 0]))
