"""A derivation that goes on in decimals, since exact values outgrow a page, is followed in decimals from a student's
lines, too: otherwise roots of decimals under exponentials take seconds a script.
"""

import numpy as np
from oracles import floats
from scripts import decimals, page

import symattn
from symattn.exact import Matrix
from symattn.exact.carry import is_short
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import Trace
from symattn.marking.submissions.entries import grid


def test_what_follows_from_rounded_weights_stays_as_short_as_the_key():
    d = symattn.worksheet("encoder", problem="full", seed=7)[0].question.problem.derivation
    rounded = [[decimals(4)(x) for x in row] for row in page(d.value("A^1"))]
    trace = Trace(Script(d, {"A^1": grid(rounded)}, frozenset({d.last.name}), exact=False), POLICIES["ecf"])
    results = {name: m for name, m in trace.carried.items() if isinstance(m, Matrix)}
    assert {step.name for step in d} <= set(results)
    assert [name for name, m in results.items() if not all(map(is_short, m))] == []
    before, after = (floats(results[name]) for name in ("R1^1", "N1^1"))
    centred = before - before.mean(axis=1, keepdims=True)
    assert np.allclose(after, centred / np.sqrt((centred**2).mean(axis=1, keepdims=True)), rtol=0, atol=1e-9)
