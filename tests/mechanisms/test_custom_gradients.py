"""Gradients of programs of one's own, and of any mechanism in a problem file, against dual numbers."""

from random import Random

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside
from trials import tries

from symattn.derivation.mechanisms import custom
from symattn.derivation.mechanisms.backward import backward, seeded
from symattn.derivation.misconceptions import misconceptions
from symattn.errors import InputError
from symattn.exact import matrix
from symattn.teaching.explanation.program import OPENING, Computation, functions
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import problem_file
from tests.mechanisms.test_every_mechanism import assert_goes_back

TABLES = tables_beside(__file__)

GIVENS = TABLES["givens"]


# ------------------------------------------------------------------------------------------------ random programs


OPERATIONS = (
    "matmul", "transpose", "add", "hadamard", "sum", "mean", "scale", "temperature", "soft_cap", "softmax",
    "activation", "stack", "part", "subtract", "divide", "opposite", "multiple",
)  # fmt: skip
"""Every operation that is tried."""
PARAMETERS = TABLES["parameters"]


@st.composite
def programs(draw):
    """Two to six steps from given matrices, each of whatever there is by then; the last adds up to one row."""
    steps = []
    square = ["A", "B"]  # 2×2, which every operation takes
    for k in range(draw(st.integers(2, 6))):
        op = draw(st.sampled_from(OPERATIONS))
        first = draw(st.sampled_from(square)) + draw(st.sampled_from(["", "^T"]))
        operands = [first]
        if op == "divide":
            operands.append(draw(st.sampled_from(["row", "column", "number", "A"])))  # none of their entries is 0
        elif op in ("matmul", "hadamard", "add", "subtract", "stack"):
            others = {"matmul": [], "stack": ["A[2]"]}.get(op, ["row", "column", "number", "A[1]", "A[2]"])
            operands.append(draw(st.sampled_from([*square, *others])))
        steps.append({"name": f"Y{k}", "op": op, "operands": operands, **PARAMETERS.get(op, {})})
        if op not in ("sum", "mean", "stack", "part"):
            square.append(f"Y{k}")
    steps.append({"name": "last", "op": "sum", "operands": [steps[-1]["name"]]})
    return steps


def goes_back(d, forward):
    """By a second route, and as dual numbers change, which go forward."""
    self_check(d)
    assert_goes_back(forward, d, Random(1))


@tries(40)
@for_all(programs())
def test_random_programs(steps):
    agrees(steps)


def agrees(steps):
    forward = custom.run(GIVENS, steps, arithmetic="decimal")
    back = backward(seeded(forward, "last"), "last")
    goes_back(back, forward)
    d = custom.run(GIVENS, steps, gradients=[{"of": "last"}], arithmetic="decimal")
    reached = [name for name in GIVENS if f"d{name}" in d]
    assert reached == [name for name in GIVENS if f"d{name}" in back]


SCORES, TARGETS = [[1, -2], [3, "1/2"]], [["1/4", "3/4"], [0, 1]]
SEVERAL = TABLES["several"]


@pytest.mark.parametrize("name", SEVERAL)
def test_weights_features_and_losses(name):
    """The gradient of the sum of Y ⊙ Y: another one for each entry."""
    steps = [*SEVERAL[name][:-1], {"name": "Y", **SEVERAL[name][-1]}]
    steps.append({"name": "last", "op": "hadamard", "operands": ["Y", "Y"]})
    given = {"S": SCORES, "T": TARGETS}
    d = custom.run(given, steps, gradients=[{"of": "last", "wrt": ["S"]}])
    forward = custom.run(given, steps)
    goes_back(backward(seeded(forward, "last"), "last", ("S",)), forward)
    source = Computation(d)
    lines = source.worked(d.steps)
    exec("\n".join((OPENING, functions(lines, set()), source.givens(d.givens), lines)), {})  # it asserts every line


def test_of_numbers_that_tie_each_has_its_share():
    """The largest of 1, 1 and 0: half of the gradient for each, as PyTorch's amax has it."""
    steps = [{"name": "Y", "op": "running_maximum", "operands": ["S"], "along": "columns"}]
    d = custom.run({"S": [[1], [1], [0]], "dY": [[3]]}, steps, gradients=[{"of": "Y", "wrt": ["S"]}])
    assert d.value("dS") == matrix([["3/2"], ["3/2"], [0]])


def test_a_key_with_a_scale_that_is_none_of_scores():
    """The misconception about the scale of scores says nothing of other programs."""
    step = [{"name": "Y", "op": "scale", "operands": ["A"], "by": 3}]
    problem = problem_file(
        {"mechanism": "custom", "given": GIVENS, "step": step, "gradient": [{"of": "Y"}]}, "scaled"
    ).problem()
    assert misconceptions()["D2"].on(problem.derivation) is None


PARTS = TABLES["parts"]


@pytest.mark.parametrize("name", PARTS)
def test_what_is_used_in_parts(name):
    """A row and a column of a 2×2 matrix have its line numbers 1 and 2 between them, and are not all of it."""
    steps = [
        {"name": named[0] if named else f"Y{k}", "op": op, "operands": operands, **PARAMETERS.get(op, {})}
        for k, (op, operands, *named) in enumerate(PARTS[name])
    ]
    agrees([*steps, {"name": "last", "op": "sum", "operands": [str(steps[-1]["name"])]}])


# ------------------------------------------------------------------------------------------------ what is written

SQUARES = """
mechanism = "custom"
[given]
X = [[1, 2], [0, 1]]
W = [[1, 0], [1, -1]]
[[step]]
name = "Y"
op = "matmul"
operands = ["X", "W"]
[[step]]
name = "squares"
op = "hadamard"
operands = ["Y", "Y"]
[[step]]
name = "means"
op = "mean"
operands = "squares"
"""


def from_text(text):
    import tomllib

    return problem_file(tomllib.loads(text), "it").problem().derivation


def test_the_sum_of_what_nobody_gave_a_gradient_for():
    """∂Σ y²/2 = y, for y = x W with rows of two: dW = Xᵀ Y."""
    d = from_text(SQUARES + '[[gradient]]\nof = "means"\nwrt = ["W"]\n')
    assert d.value("dmeans") == matrix([[1], [1]])
    assert d.value("dW") == matrix([[3, -2], [7, -5]])  # by hand: Y = [[3, -2], [1, -1]]
    assert "dX" not in d


def test_a_gradient_on_the_way_that_is_given_is_not_taken_for_that_of_another_loss():
    """dY of the sum of Y is not that of the sum of the means."""
    tables = '[[gradient]]\nof = "Y"\nwrt = "X"\n[[gradient]]\nof = "means"\nwrt = "W"\n'
    with refused_saying("The way back from means leads to dY, and there is a matrix of that name"):
        from_text(SQUARES + tables)


def test_a_gradient_that_is_given():
    text = SQUARES.replace("[given]", "[given]\ndmeans = [[2], [-1]]") + '[[gradient]]\nof = "means"\nwrt = "X"\n'
    d = from_text(text)
    assert d.value("dX") == matrix([[6, 10], [-1, -2]])  # by hand: (2y₁; −y₂) Wᵀ


@pytest.mark.parametrize(
    ("table", "complaint"),
    TABLES["complaints"],
)
def test_what_is_wrong_is_said(table, complaint):
    with pytest.raises(InputError) as error:
        from_text(f"{SQUARES}[[gradient]]\n{table}\n")
    assert complaint in str(error.value)


@pytest.mark.parametrize("wrong", [3, "dX", {"of": "Y"}, [3], ["Y"]])
def test_no_list_of_tables(wrong):
    step = {"name": "Y", "op": "transpose", "operands": ["X"]}
    data = {"mechanism": "custom", "given": {"X": [[1]]}, "step": [step], "gradient": wrong}
    with refused_saying(r"gradient (1 )?is|Gradient 1 is"):
        problem_file(data, "it").problem()


# ------------------------------------------------------------------------------------------------ any mechanism


def test_in_letters_the_gradient_is_letters_too():
    data = {"mechanism": "attention", "given": {}, "gradient": [{"of": "Z"}]}
    sizes = {"n": 1, "m": 2, "d_k": 1, "d_v": 1}
    d = problem_file(data, "it").problem(symbolic=True, sizes=sizes).derivation
    assert [str(x) for x in d.value("dZ")] == ["dZ_{11}"]
    outlined = problem_file(data, "it").problem(symbolic=True, sizes={**sizes, "n": "N"}).derivation
    assert outlined.value("dQ").shape == ("N", 1)
