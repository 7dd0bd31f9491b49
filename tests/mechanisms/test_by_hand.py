"""Numbers that were worked out by hand: the table `by_hand.toml`, and what it says of each case."""

import oracles
import pytest
from tables import tables_beside

from symattn.api import derive
from symattn.derivation.mechanisms import custom
from symattn.teaching.fairness.selfcheck import self_check

CASES = tables_beside(__file__)["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_numbers_by_hand(case):
    stated = {name: value for name, value in case.items() if name not in ("about", "steps", "results", "mechanism")}
    if case["mechanism"] == "custom":
        d = custom.run(stated, stated.pop("own"), gradients=stated.pop("gradients", ()))
    else:
        d = derive(case["mechanism"], **stated).derivation
    self_check(d)
    for name, rows in case["results"].items():
        assert oracles.same_matrix(d.value(name).sympy(), oracles.table(rows)), name
    assert case.get("steps", [step.name for step in d]) == [step.name for step in d]
