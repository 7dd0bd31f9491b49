"""Gradients of programs of one's own, and of any mechanism in a problem file, against PyTorch's autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from autograd import Autograd
from hypothesis import given as for_all
from hypothesis import strategies as st
from trials import tries

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import custom
from symattn.derivation.misconceptions import misconceptions
from symattn.errors import InputError
from symattn.exact import Matrix, matrix
from symattn.exact.approximate import approximate
from symattn.teaching.explanation.program import OPENING, Computation, functions
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem_file import problem_file

GIVENS = {"A": [[1, -2], [3, "1/2"]], "B": [[0, 1], [2, -1]], "row": [[1, -1]], "column": [[2], [-1]], "number": [[3]]}


def floats(d: Derivation, name: str) -> np.ndarray:
    value = d.value(name)
    assert isinstance(value, Matrix)
    return np.array([[approximate(x) for x in row] for row in value.rows])


def autograd(d: Derivation) -> Autograd:
    return Autograd({name: floats(d, name).tolist() for name in d.givens})


# ------------------------------------------------------------------------------------------------ random programs

TORCH: dict[str, Any] = {
    "matmul": lambda torch, a, b: a @ b,
    "transpose": lambda torch, a: a.T,
    "add": lambda torch, a, b: a + b,
    "hadamard": lambda torch, a, b: a * b,
    "sum": lambda torch, a: a.sum(0, keepdim=True),
    "mean": lambda torch, a: a.mean(1, keepdim=True),
    "scale": lambda torch, a: a / 3,
    "temperature": lambda torch, a: a / 2,
    "soft_cap": lambda torch, a: 2 * torch.tanh(a / 2),
    "softmax": lambda torch, a: torch.softmax(a, 1),
    "activation": lambda torch, a: torch.sigmoid(a),
    "stack": lambda torch, a, b: torch.cat((a, b)),
    "part": lambda torch, a: a[:, :1],
    "subtract": lambda torch, a, b: a - b,
    "divide": lambda torch, a, b: a / b,
    "opposite": lambda torch, a: -a,
    "multiple": lambda torch, a: a / 3,
}
"""Every operation that is tried, with what it is in PyTorch."""

PARAMETERS: dict[str, dict[str, object]] = {
    "scale": {"by": 3}, "temperature": {"by": 2}, "soft_cap": {"cap": 2}, "activation": {"function": "sigmoid"},
    "part": {"count": 1}, "multiple": {"by": "1/3"},
}  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Two to six steps from given matrices, each of whatever there is by then; the last adds up to one row."""
    steps: list[dict[str, Any]] = []
    square = ["A", "B"]  # 2×2, which every operation takes
    for k in range(draw(st.integers(2, 6))):
        op = draw(st.sampled_from(sorted(TORCH)))
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


@tries(75)
@for_all(programs())
def test_random_programs(steps: list[dict[str, Any]]) -> None:
    agrees(steps)


def agrees(steps: list[dict[str, Any]]) -> None:
    """The gradients of the last step's sum, by a second route and by PyTorch."""
    d = custom.run(GIVENS, steps, gradients=[{"of": "last"}], arithmetic="decimal")
    self_check(d)
    back = autograd(d)
    known = dict(back.leaves)

    def operand(text: str) -> Any:
        if text.endswith("]"):
            return known["A"][int(text[2]) - 1 :][:1]
        return known[text[:-2]].T if text.endswith("^T") else known[text]

    for step in steps:
        known[step["name"]] = TORCH[step["op"]](back.torch, *map(operand, step["operands"]))
    known["last"].sum().backward()
    reached = [name for name in GIVENS if back[name].grad is not None]
    assert reached
    back.agrees(lambda name: floats(d, name), reached)
    assert not [name for name in GIVENS if name not in reached and f"d{name}" in d]


LAST = {"name": "last", "op": "hadamard", "operands": ["Y", "Y"]}
"""What makes the gradient of the operation's result another for each entry: 2 Y."""


SCORES, TARGETS = [[1, -2], [3, "1/2"]], [["1/4", "3/4"], [0, 1]]
MASKED = {"name": "M", "op": "mask", "operands": ["S"], "mask": "causal"}
SEVERAL: dict[str, tuple[list[dict[str, Any]], Any]] = {
    **{
        f"feature map {feature}": ([{"op": "feature_map", "operands": ["S"], "feature": feature}], formula)
        for feature, formula in {
            "elu+1": lambda torch, s, t: torch.nn.functional.elu(s) + 1,
            "relu": lambda torch, s, t: torch.relu(s),
            "square": lambda torch, s, t: s**2,
            "identity": lambda torch, s, t: s,
        }.items()
    },
    "over the sum": ([{"op": "over_sum", "operands": ["S"]}], lambda torch, s, t: s / s.sum(1, keepdim=True)),
    "over the sum of a column": (
        [{"op": "over_sum", "operands": ["S"], "along": "columns"}], lambda torch, s, t: s / s.sum(0),
    ),
    "over the sum of what is seen": (
        [MASKED, {"op": "over_sum", "operands": ["M"]}],
        lambda torch, s, t: s.tril() / s.tril().sum(1, keepdim=True),
    ),
    "mean square": ([{"op": "mean_square", "operands": ["S"]}], lambda torch, s, t: (s**2).mean(1, keepdim=True)),
    "mean square of a column": (
        [{"op": "mean_square", "operands": ["S"], "over": "rows"}], lambda torch, s, t: (s**2).mean(0, keepdim=True),
    ),
    "variance": (
        [{"name": "m", "op": "mean", "operands": ["S"]}, {"op": "variance", "operands": ["S", "m"]}],
        lambda torch, s, t: s.var(1, unbiased=False, keepdim=True),
    ),
    "variance of a sample, of columns": (
        [
            {"name": "m", "op": "mean", "operands": ["S"], "over": "rows"},
            {"op": "variance", "operands": ["S", "m"], "of": "sample", "over": "rows"},
        ],
        lambda torch, s, t: s.var(0, unbiased=True, keepdim=True),
    ),
    "squares about another mean": (
        [{"name": "m", "op": "scale", "operands": ["S[1]^T"], "by": 2}, {"op": "variance", "operands": ["S", "m"]}],
        lambda torch, s, t: ((s - s[:1].T / 2) ** 2).mean(1, keepdim=True),
    ),
    "maximum": (
        [{"op": "running_maximum", "operands": ["S", "T"]}], lambda torch, s, t: torch.cat((s, t), 1).amax(1, True),
    ),
    "maximum of what is seen": ([MASKED, {"op": "running_maximum", "operands": ["M"]}],
        lambda torch, s, t: torch.stack((s[0, :1], s[1].amax(0, True)))),
    "maximum of columns that tie": (
        [{"name": "U", "op": "stack", "operands": ["S", "S"]},
         {"op": "running_maximum", "operands": ["U", "T"], "along": "columns"}],
        lambda torch, s, t: torch.cat((s, s, t)).amax(0, True),
    ),
    "cross-entropy": (
        [{"name": "P", "op": "softmax", "operands": ["S"]}, {"op": "cross_entropy", "operands": ["P", "T"]}],
        lambda torch, s, t: -(t * torch.log_softmax(s, 1)).sum(1, keepdim=True),
    ),
    "cross-entropy of columns": (
        [
            {"name": "P", "op": "softmax", "operands": ["S"], "along": "columns"},
            {"op": "cross_entropy", "operands": ["P", "T^T"], "along": "columns"},
        ],
        lambda torch, s, t: -(t.T * torch.log_softmax(s, 0)).sum(0, keepdim=True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_weights_features_and_losses(name: str) -> None:
    before, formula = SEVERAL[name]
    steps = [*before[:-1], {"name": "Y", **before[-1]}, LAST]
    d = custom.run({"S": SCORES, "T": TARGETS}, steps, gradients=[{"of": "last", "wrt": ["S"]}])
    self_check(d)
    back = autograd(d)
    y = formula(back.torch, back["S"], back["T"])
    (y * y).sum().backward()
    back.agrees(lambda name: floats(d, name), ["S"])
    source = Computation(d)
    lines = source.worked(d.steps)
    exec("\n".join((OPENING, functions(lines, set()), source.givens(d.givens), lines)), {})  # it asserts every line


def test_a_key_with_a_scale_that_is_none_of_scores() -> None:
    """The misconception about the scale of scores says nothing of other programs."""
    step = [{"name": "Y", "op": "scale", "operands": ["A"], "by": 3}]
    problem = problem_file(
        {"mechanism": "custom", "given": GIVENS, "step": step, "gradient": [{"of": "Y"}]}, "scaled"
    ).problem()
    assert misconceptions()["D2"].on(problem.derivation) is None


PARTS = {
    "a row beside the whole": [("stack", ["A", "A[2]"])],
    "one row alone": [("hadamard", ["B", "A[2]"])],
    "one row twice": [("stack", ["A[1]", "A[1]"])],
    "a row and a column": [("part", ["A"]), ("matmul", ["Y0", "A[2]"])],
    "rows that are all of it": [("stack", ["A[2]", "A[1]"])],
    "a row in a step, twice": [("hadamard", ["A[2]", "A[2]"])],
    "steps with like names": [("matmul", ["A", "B"], "Y_a"), ("matmul", ["A", "A"], "Y_b"), ("add", ["Y_a", "Y_b"])],
}


@pytest.mark.parametrize("name", PARTS)
def test_what_is_used_in_parts(name: str) -> None:
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


def from_text(text: str) -> Derivation:
    import tomllib

    return problem_file(tomllib.loads(text), "it").problem().derivation


def test_the_sum_of_what_nobody_gave_a_gradient_for() -> None:
    """∂Σ y²/2 = y, for y = x W with rows of two: dW = Xᵀ Y."""
    d = from_text(SQUARES + '[[gradient]]\nof = "means"\nwrt = ["W"]\n')
    assert d.value("dmeans") == matrix([[1], [1]])
    x, w = floats(d, "X"), floats(d, "W")
    assert np.array_equal(floats(d, "dW"), x.T @ (x @ w))
    assert "dX" not in d


def test_a_gradient_on_the_way_that_is_given_is_not_taken_for_that_of_another_loss() -> None:
    """dY of the sum of Y is not that of the sum of the means."""
    tables = '[[gradient]]\nof = "Y"\nwrt = "X"\n[[gradient]]\nof = "means"\nwrt = "W"\n'
    with pytest.raises(InputError, match="The way back from means leads to dY, and there is a matrix of that name"):
        from_text(SQUARES + tables)


def test_a_gradient_that_is_given() -> None:
    text = SQUARES.replace("[given]", "[given]\ndmeans = [[2], [-1]]") + '[[gradient]]\nof = "means"\nwrt = "X"\n'
    d = from_text(text)
    x, w = floats(d, "X"), floats(d, "W")
    assert np.array_equal(floats(d, "dX"), (np.array([[2], [-1]]) * (x @ w)) @ w.T)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('of = "Q"', "There is no step 'Q'; the steps are Y, squares, means."),
        ('of = "X"', "There is no step 'X'"),
        ('of = "Y"\nwrt = ["V"]', "Y does not depend on a given 'V'; it does on X, W."),
        ('of = "Y"\nwrt = [1]', "a list of givens was expected"),
        ('of = "Y"\nwrt = 3', "a list of givens was expected"),
        ("of = 3", "the name of a step was expected"),
        ('wrt = "X"', "the name of a step was expected"),
        ('of = "Y"\nto = "X"', "Gradient 1 has 'to'; of, wrt and learning_rate are known."),
        (
            'of = "Y"\n[[gradient]]\nof = "means"',
            "The way back from means leads to dX, and there is a matrix of that name.",
        ),
    ],
)
def test_what_is_wrong_is_said(table: str, complaint: str) -> None:
    with pytest.raises(InputError) as error:
        from_text(f"{SQUARES}[[gradient]]\n{table}\n")
    assert complaint in str(error.value)


@pytest.mark.parametrize("wrong", [3, "dX", {"of": "Y"}, [3], ["Y"]])
def test_no_list_of_tables(wrong: object) -> None:
    step = {"name": "Y", "op": "transpose", "operands": ["X"]}
    data = {"mechanism": "custom", "given": {"X": [[1]]}, "step": [step], "gradient": wrong}
    with pytest.raises(InputError, match=r"gradient (1 )?is|Gradient 1 is"):
        problem_file(data, "it").problem()


# ------------------------------------------------------------------------------------------------ any mechanism


def test_in_letters_the_gradient_is_letters_too() -> None:
    data = {"mechanism": "attention", "given": {}, "gradient": [{"of": "Z"}]}
    sizes = {"n": 1, "m": 2, "d_k": 1, "d_v": 1}
    d = problem_file(data, "it").problem(symbolic=True, sizes=sizes).derivation
    assert [str(x) for x in d.value("dZ")] == ["dZ_{11}"]
    outlined = problem_file(data, "it").problem(symbolic=True, sizes={**sizes, "n": "N"}).derivation
    assert outlined.value("dQ").shape == ("N", 1)


# ------------------------------------------------------------------------------------------------ spreading
