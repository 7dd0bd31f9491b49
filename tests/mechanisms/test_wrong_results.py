"""What comes of wrong beliefs about heads, blocks, gradients, positions, blocks of keys, caches and recurrences.

`wrong_by_hand.toml` has the figures, worked out by hand or by a formula of its own for each belief.  Those of plain
attention have their witness in tests/misconceptions.
"""

import numpy as np
import oracles
import pytest
from tables import tables_beside

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconception, replayed
from symattn.derivation.misconceptions.block import MISCONCEPTIONS as BLOCK
from symattn.derivation.misconceptions.heads import MISCONCEPTIONS as HEADS
from symattn.page.notation import load_notation
from symattn.teaching.explanation.diagnoses import feedback
from symattn.teaching.explanation.wording import Wording

FILE = tables_beside(__file__, "wrong_by_hand.toml")
GIVEN, VARIANTS = FILE["given"], FILE["variant"]


def run(name, given, settings, orientation="rows"):
    chosen = mechanism(name)
    rows = {
        one: [[str(x) for x in row] for row in (np.transpose(m) if orientation == "columns" else m)]
        for one, m in given.items()
    }
    return chosen.run(rows, Settings.read({**chosen.defaults, **settings, "orientation": orientation}))


@pytest.mark.covering
@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant["about"])
def test_what_comes_of_a_wrong_belief(variant, orientation):
    given = variant["given"]
    d = run(
        variant["mechanism"],
        GIVEN[given] if isinstance(given, str) else given,
        variant.get("settings", {}),
        orientation,
    )
    for id in variant.get("nowhere", ()):
        wrong = misconception(id).on(d)
        assert wrong is None or wrong.first is None, id
    for id, expected in variant.get("wrong", {}).items():
        wrong = misconception(id).on(d)
        assert wrong.first, id
        assert feedback(wrong, Wording(d, load_notation("standard")))  # names and divisors that there are
        assert wrong.stopped.startswith(expected.get("stops", "")), id
        assert bool(wrong.stopped) == ("stops" in expected), id
        assert wrong.first == expected.get("first", wrong.first), id
        for step in expected.keys() - {"stops", "first"}:
            found = oracles.floats(wrong.value(step))
            right = np.array(oracles.table(expected[step]).tolist(), dtype=float)
            found = found.T if orientation == "columns" else found
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-9, err_msg=f"{id}: {step}")
    only = variant.get("only")
    assert not only or {w.misconception.id for w in replayed(d) if w.misconception.id[0] in only[0]} == set(only)


def test_every_belief_of_heads_and_blocks_is_here():
    """H9 is tried where marks are fair (tests/marking/test_fair_marks.py), those that no problem type draws in
    tests/misconceptions/test_beliefs_of_code.py.
    """
    known = {id for variant in VARIANTS for id in variant.get("wrong", ())} | {"H9", "H10", "B12"}
    assert {m.id for m in (*HEADS, *BLOCK)} <= known
    assert {*(f"D{i}" for i in range(1, 9)), *(f"E{i}" for i in range(1, 14)), *(f"F{i}" for i in range(1, 8))} <= known
    assert {f"U{i}" for i in range(1, 12)} <= known


def test_heads_alone_can_be_put_together_wrongly():
    alone = {"X": [[1, 0], [1, 1]], "W_Q": [[1], [2]], "W_K": [[1], [0]], "W_V": [[1], [1]]}
    assert not [w for w in replayed(run("self_attention", alone, {})) if w.misconception in HEADS]
    d = run("multi_head_attention", {**alone, "W_O": [[2, 3]]}, {"heads": 1})
    assert {w.misconception.id for w in replayed(d) if w.misconception in HEADS} == {"H4", "H8", "H8b"}
    layer = {name: np.array(rows) for name, rows in GIVEN["layer"].items()}
    few = {**layer, "W_K": layer["W_K"][:, :4], "W_V": layer["W_V"][:, :2]}
    shared = run("multi_head_attention", few, {"kv_heads": 1})
    wrong = misconception("H1").on(shared)  # keys and values that all heads share are not split
    first = (layer["X"] @ layer["W_Q"]).reshape(2, 2, -1)[0]
    np.testing.assert_array_equal(oracles.floats(wrong.value("Q_1")), first)
    assert wrong.value("V") == shared.value("V")
