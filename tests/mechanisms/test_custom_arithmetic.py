"""Differences, quotients, powers, roots, binary formats and positions in programs of one's own, against NumPy and
PyTorch: the values, their windows, the turned derivation, the code of notebooks and every format."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import custom
from symattn.derivation.numpy_source import HELPERS, helpers_called
from symattn.derivation.ops.turning import turned
from symattn.exact import Matrix
from symattn.exact.approximate import approximate
from symattn.teaching.fairness import self_check

A, B = [[1, "1/3"], [3, "5/2"]], [[2, 4], ["1/2", 1]]
GIVENS = {"A": A, "B": B, "row": [[4, 9]], "column": [["1/2"], [2]], "number": [[3]]}
a, b = np.array([[1, 1 / 3], [3, 2.5]]), np.array([[2, 4], [0.5, 1]])
row, column = np.array([[4, 9]]), np.array([[0.5], [2]])
p = np.arange(2)[:, None]
TURN = np.array([[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]])

PROGRAMS: list[tuple[dict[str, Any], np.ndarray]] = [
    ({"op": "subtract", "operands": ["A", "B"]}, a - b),
    ({"op": "subtract", "operands": ["A", "row"]}, a - row),
    ({"op": "subtract", "operands": ["column", "A"]}, column - a),
    ({"op": "subtract", "operands": ["number", "A"]}, 3 - a),
    ({"op": "divide", "operands": ["A", "B"]}, a / b),
    ({"op": "divide", "operands": ["A", "row"]}, a / row),
    ({"op": "divide", "operands": ["number", "A^T"]}, 3 / a.T),
    ({"op": "divide", "operands": ["row", "column"]}, row / column),
    ({"op": "opposite", "operands": ["A"]}, -a),
    ({"op": "exp", "operands": ["A"]}, np.exp(a)),
    ({"op": "exp", "operands": ["A"], "base": 2}, 2**a),
    ({"op": "sqrt", "operands": ["A"]}, np.sqrt(a)),
    ({"op": "multiple", "operands": ["A"], "by": "1/3"}, a / 3),
    ({"op": "float", "operands": ["A"]}, a.astype(np.float16).astype(float)),
    ({"op": "float", "operands": ["A"], "format": "float32"}, a.astype(np.float32).astype(float)),
    ({"op": "float", "operands": ["A"], "format": "bfloat16"}, np.array([[1, 0.333984375], [3, 2.5]])),
    ({"op": "sinusoids", "operands": ["A"]}, np.hstack([np.sin(p), np.cos(p)])),
    ({"op": "sinusoids", "operands": ["A"], "first_position": 1}, np.hstack([np.sin(p + 1), np.cos(p + 1)])),
    ({"op": "rotate", "operands": ["A"], "angles": "90"}, np.array([[1, 1 / 3], [-2.5, 3]])),
    ({"op": "rotate", "operands": ["A"]}, np.vstack([a[0], TURN @ a[1]])),
    ({"op": "positions", "operands": ["A"], "formula": "p/(k+1)"}, np.array([[0, 0], [1, 0.5]])),
    ({"op": "positions", "operands": ["A"], "formula": ["sin(p/9^(2k/d))", "p"]}, np.hstack([np.sin(p), p])),
]  # fmt: skip
IDS = [f"{k}-{step['op']}" for k, (step, _) in enumerate(PROGRAMS)]


def derived(step: dict[str, Any]) -> Derivation:
    return custom.run(GIVENS, [{"name": "Y", **step}])


def floats(m: object) -> np.ndarray:
    assert isinstance(m, Matrix)
    return np.array([[approximate(x) for x in row] for row in m.rows])


@pytest.mark.parametrize(("step", "expected"), PROGRAMS, ids=IDS)
def test_values_and_the_code_of_notebooks_are_those_of_numpy(step, expected):
    d = derived(step)
    assert np.allclose(floats(d.last.result), expected, rtol=1e-14, atol=0)
    self_check(d)
    self_check(turned(d))
    decimal = custom.run(GIVENS, [{"name": "Y", **step}], arithmetic="decimal")
    assert np.allclose(floats(decimal.last.result), expected, rtol=1e-14, atol=0)
    names = [o.name + (".T" if o.transposed else "") for o in d.last.operands]
    line = d.last.op.numpy(*names)
    space: dict[str, Any] = {"np": np, "math": math, **{n: floats(m) for n, m in d.givens.items()}}
    for helper in helpers_called(line):
        exec(HELPERS[helper], space)
    for above in d.last.op.numpy_above():
        exec(above, space)
    assert np.allclose(eval(line, space), expected, rtol=1e-14, atol=0)


# ------------------------------------------------------------------------------------------------ windows


# ------------------------------------------------------------------------------------------------ refusals


# ------------------------------------------------------------------------------------------------ marking
