"""What a step of one's own is called changes nothing: neither how its work is counted, nor how answers are marked."""

import re
from itertools import permutations

import pytest
import test_self_check

import symattn
from symattn.teaching.derivation_question import measured, scheme
from symattn.teaching.problem import problem_file
from symattn.teaching.question import marks_text

GENERAL_SCORE = {"s": [[1, -1]], "W": [[1, 2], [0, 1]], "H": [[1, 0], [0, 2], [1, 1]]}
RIGHT = ([["1", "1"]], [["1", "2", "2"]], [["0.1554", "0.4223", "0.4223"]], [["0.5777", "1.2670"]])
"""(1, −1) W = (1, 1); its products with the rows of H are 1, 2, 2; e^1 = 2.7183 and e^2 = 7.3891 are 0.1554, 0.4223 and
0.4223 of their sum 17.4964; 0.1554 + 0.4223 = 0.5777 and 0.4223·3 = 1.2670."""
ROLES = ("S", "S'", "A", "Z", "Q", "V", "X", "M", "V_cache")


def general_score(query, scores, weights, context):
    """Luong's general score, its four steps under any names."""
    steps = [
        {"name": query, "op": "matmul", "of": ["s", "W"]},
        {"name": scores, "op": "matmul", "of": [query, "H^T"]},
        {"name": weights, "op": "softmax", "of": [scores]},
        {"name": context, "op": "matmul", "of": [weights, "H"]},
    ]
    return symattn.derive("custom", steps=steps, **GENERAL_SCORE)


@pytest.mark.parametrize("names", [("U", "e", "A", "c"), *list(permutations(ROLES, 4))[::601]])
def test_names_of_steps_change_no_mark(names):
    solution = general_score(*names)
    report = symattn.check(solution, dict(zip(names, RIGHT, strict=True)))
    assert report.total == report.available > 0
    assert measured(solution.problem) == measured(general_score("u", "e", "a", "c").problem)


X, W, V = [[1, 0, 1], [0, 1, 1], [1, 1, 0]], [[1, 0], [0, 1], [1, 1]], [[1], [2], [1]]
PROJECTED = [
    {"name": "Q", "op": "matmul", "of": ["X", "W_Q"]},
    {"name": "K", "op": "matmul", "of": ["X", "W_K"]},
    {"name": "V", "op": "matmul", "of": ["X", "W_V"]},
]
SCORED = [
    {"name": "S", "op": "matmul", "of": ["Q", "K^T"]},
    {"name": "S'", "op": "scale", "by": "sqrt(2)", "of": "S"},
]
MASKED = [{"name": "M", "op": "mask", "mask": "causal", "of": "S'"}]
MIXED = [{"name": "A", "op": "softmax", "of": "S'"}, {"name": "Z", "op": "matmul", "of": ["A", "V"]}]
MIXED_MASKED = [{"name": "A", "op": "softmax", "of": "M"}, {"name": "Z", "op": "matmul", "of": ["A", "V"]}]

WRITTEN_OUT = {
    "attention": ([*SCORED, *MIXED], {"Q": W, "K": W, "V": V}),
    "self_attention": ([*PROJECTED, *SCORED, *MIXED], {"X": X, "W_Q": W, "W_K": W, "W_V": V}),
    "causal_self_attention": ([*PROJECTED, *SCORED, *MASKED, *MIXED_MASKED], {"X": X, "W_Q": W, "W_K": W, "W_V": V}),
}
"""Mechanisms as somebody writes them out, and their givens."""

OTHER_NAMES = ("a", "Z", "S", "Q", "phi_K", "dV", "x.1", "V", "weighted", "H", "C", "K", "N1", "N2", "J", "A")


def marks_of(solution):
    return [marks_text(marks) for marks in scheme(solution.problem).values()]


def renamed(steps, names):
    """The same steps under other names."""
    called = dict(zip((step["name"] for step in steps), names, strict=False))

    def name(operand):
        return re.sub(r"^[^^]+", lambda found: called.get(found[0], found[0]), operand)

    def operands(of):
        return name(of) if isinstance(of, str) else [name(operand) for operand in of]

    return [{**step, "name": called[step["name"]], "of": operands(step["of"])} for step in steps]


@pytest.mark.parametrize("first", range(len(OTHER_NAMES)))
@pytest.mark.parametrize("mechanism", WRITTEN_OUT)
def test_own_steps_have_the_marks_of_what_they_are(mechanism, first):
    """Attention written out step by step has the marks that it has as a mechanism, under any names."""
    steps, givens = WRITTEN_OUT[mechanism]
    built_in = marks_of(symattn.derive(mechanism, **givens))
    assert marks_of(symattn.derive("custom", steps=steps, **givens)) == built_in
    given = {name: f"G{k}" for k, name in enumerate(givens)}
    of_given = renamed([*({"name": name, "of": name} for name in givens), *steps], [*given.values(), *(
        (OTHER_NAMES * 2)[first : first + len(steps)]
    )])[len(givens) :]  # fmt: skip
    solution = symattn.derive("custom", steps=of_given, **{given[name]: rows for name, rows in givens.items()})
    assert marks_of(solution) == built_in


@pytest.mark.parametrize("names", [("L", "P"), ("S", "A"), ("Q", "Z")])
def test_a_softmax_without_an_output_has_no_scores(names):
    """The logits of a classifier are a product as any other; probabilities have a mark for each row."""
    logits, probabilities = names
    steps = [
        {"name": logits, "op": "matmul", "of": ["X", "U"]},
        {"name": probabilities, "op": "softmax", "of": logits},
    ]
    assert marks_of(symattn.derive("custom", steps=steps, X=X, U=W)) == ["M1 A1", "M1 A3"]


def test_a_product_across_the_weights_is_no_output():
    """A^T dZ adds up over queries, whose weights for a key need not sum to 1; the output is A V, or V A of columns."""

    def last(along, of, **more):
        steps = [{"name": "A", "op": "softmax", "of": "T", "along": along}, {"name": "P", "op": "matmul", "of": of}]
        return marks_of(symattn.derive("custom", steps=steps, T=X, Y=X, **more))[-1]

    outputs = [("rows", ["A", "Y"]), ("rows", ["Y", "A^T"]), ("columns", ["Y", "A"]), ("columns", ["A^T", "Y"])]
    across = [("rows", ["A^T", "Y"]), ("rows", ["Y", "A"]), ("columns", ["Y", "A^T"]), ("columns", ["A", "Y"])]
    assert [last(*one) for one in outputs] == ["M1 A3"] * 4
    assert [last(*one) for one in across] == ["M1 A1"] * 4


def test_a_column_may_be_added_to_every_column():
    steps = [{"name": "T", "op": "add", "of": ["M", "c"]}]
    solution = symattn.derive("custom", steps=steps, M=[[1, 2], [3, 4]], c=[[1], [2]])
    report = symattn.check(solution, {"T": [[2, 3], [5, 6]]})
    assert report.total == report.available > 0


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("name", ROLES)
def test_every_op_may_have_any_name(name):
    """Every seventh step of a program of all ops in turn is called as a step of attention is."""
    count = measured(own_program(""))
    assert count[0]["load"] > 0
    for at in range(ROLES.index(name) % 7, len(test_self_check.STEPS), 7):
        assert measured(own_program(name, at)) == count


def own_program(name, at=0):
    old = test_self_check.STEPS[at]["name"]
    renamed = {old: name, "A": "given"} if name else {}
    steps = []
    for step in test_self_check.STEPS:
        operands = [re.sub(r"^\w+", lambda found: renamed.get(found[0], found[0]), x) for x in step["operands"]]
        steps.append({**step, "name": renamed.get(step["name"], step["name"]), "operands": operands})
    givens = {renamed.get(given, given): rows for given, rows in test_self_check.GIVENS.items()}
    data = {"mechanism": "custom", "given": givens, "step": steps}
    return problem_file(data, "own").problem()
