"""What a step of one's own is called changes nothing: neither how its work is counted, nor how answers are marked."""

import re
from itertools import permutations

import pytest
import test_self_check

import symattn
from symattn.teaching.problem_file import problem_file
from symattn.teaching.problems.derived import measured

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


def test_a_column_may_be_added_to_every_column():
    steps = [{"name": "T", "op": "add", "of": ["M", "c"]}]
    solution = symattn.derive("custom", steps=steps, M=[[1, 2], [3, 4]], c=[[1], [2]])
    report = symattn.check(solution, {"T": [[2, 3], [5, 6]]})
    assert report.total == report.available > 0


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
