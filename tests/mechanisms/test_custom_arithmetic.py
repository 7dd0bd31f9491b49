"""Differences, quotients, powers, roots, binary formats and positions in programs of one's own: values and code.

`custom_arithmetic.toml` has what NumPy gets.
"""

import numpy as np
import pytest
from oracles import floats
from tables import tables_beside
from test_notebook import program, run

from symattn.derivation.derivation import turned
from symattn.derivation.mechanisms import custom
from symattn.teaching.fairness.selfcheck import self_check

TABLES = tables_beside(__file__)

GIVENS = TABLES["givens"]
PROGRAMS = TABLES["programs"]  # fmt: skip


@pytest.mark.parametrize(("step", "expected"), PROGRAMS)
def test_values_and_the_code_of_notebooks_are_those_of_numpy(step, expected):
    for arithmetic in ("exact", "decimal"):
        d = custom.run(GIVENS, [{"name": "Y", **step}], arithmetic=arithmetic)
        assert np.allclose(floats(d.last.result), expected, rtol=1e-14, atol=0)
        run(*program(d))  # it asserts the same
    self_check(d)
    self_check(turned(d))
