"""Differences, quotients, powers, roots, binary formats and positions in programs of one's own: values and code.

`custom_arithmetic.toml` has what NumPy gets.
"""

import math

import numpy as np
import pytest
from oracles import floats
from tables import tables_beside

from symattn.derivation.mechanisms import custom
from symattn.derivation.numpy_source import HELPERS, helpers_called
from symattn.derivation.ops.turning import turned
from symattn.teaching.fairness import self_check

TABLES = tables_beside(__file__)

GIVENS = TABLES["givens"]
PROGRAMS = TABLES["programs"]  # fmt: skip


def derived(step):
    return custom.run(GIVENS, [{"name": "Y", **step}])


@pytest.mark.parametrize(("step", "expected"), PROGRAMS)
def test_values_and_the_code_of_notebooks_are_those_of_numpy(step, expected):
    d = derived(step)
    assert np.allclose(floats(d.last.result), expected, rtol=1e-14, atol=0)
    self_check(d)
    self_check(turned(d))
    decimal = custom.run(GIVENS, [{"name": "Y", **step}], arithmetic="decimal")
    assert np.allclose(floats(decimal.last.result), expected, rtol=1e-14, atol=0)
    names = [o.name + (".T" if o.transposed else "") for o in d.last.operands]
    line = d.last.op.numpy(*names)
    space = {"np": np, "math": math, **{n: floats(m) for n, m in d.givens.items()}}
    for helper in helpers_called(line):
        exec(HELPERS[helper], space)
    for above in d.last.op.numpy_above():
        exec(above, space)
    assert np.allclose(eval(line, space), expected, rtol=1e-14, atol=0)
