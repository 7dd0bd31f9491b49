"""Beliefs that public code has held: what they make of each step, by NumPy, and that marking tells each as one event.

Those of plain attention have their witness in numpy_misconceptions.py; here are those of positions, heads and norms.
"""

import numpy as np
import oracles
import pytest
from scripts import ids
from tables import tables_beside

from symattn.api import make_recipe
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import drawn_misconceptions, misconception, misconceptions, replayed
from symattn.exact import decimal_text
from symattn.exact.reading import typed
from symattn.marking.marker import mark
from symattn.marking.trial import script
from symattn.teaching.sheets import sheets

TABLES = tables_beside(__file__)

E = np.array([[1, 0, 2, 1], [0, 1, 1, 0], [2, 1, 0, 1]])
Q, K = np.array([[1, 0, 2, 1], [0, 1, 1, -1], [2, 1, 0, 1]]), np.array([[1, 1, 0, 2], [0, -1, 1, 1], [2, 0, 1, 0]])
V = np.array([[1, 2], [0, -1], [3, 1]])
X = np.array([[0, 0, 1], [2, -2, -2], [2, 2, -1]])
W_Q = np.array([[-1, 2, 0, -1], [2, -1, 0, 1], [0, -2, -2, 2]])
W_K, W_V = np.array([[1, 2], [0, 2], [-1, 0]]), np.array([[1, -2], [-1, -2], [0, 2]])
NORMED = np.array([[1, 3, 3, 9], [0, -2, 4, 1], [2, 2, 5, 7]])

QKV = {"Q": Q, "K": K, "V": V}
HEADS = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}


# ------------------------------------------------------------------------------------------ positions


def sinusoids(exponent, base, unit=1.0, width=4):
    """Feature j of position p: the sine or, where j is odd, the cosine of p/base^exponent(j)."""
    found = np.zeros((3, width))
    for p in range(3):
        for j in range(width):
            angle = p / base ** exponent(j) * unit
            found[p, j] = np.cos(angle) if j % 2 else np.sin(angle)
    return {"P": found, "X": E[:, :width] + found}


def as_declared(j):
    return 2 * (j // 2) / 4


ANGLES = np.array([np.pi / 2, np.arctan2(4, 3)])
PARTNER = {"rotary": (1, 0, 3, 2), "rotary-halves": (2, 3, 0, 1)}
PAIR_OF = {"rotary": (0, 0, 1, 1), "rotary-halves": (0, 1, 0, 1)}
FIRST = {"rotary": (1, 0, 1, 0), "rotary-halves": (1, 1, 0, 0)}


def rotated(partners, angles):
    """x_j cos − partner sin for the first of a pair, x_j cos + partner sin for the second."""

    def turned(x):
        found = np.zeros(x.shape)
        for p in range(3):
            for j in range(4):
                angle = p * ANGLES[PAIR_OF[angles][j]]
                sign = -1 if FIRST[partners][j] else 1
                found[p, j] = x[p, j] * np.cos(angle) + sign * x[p, PARTNER[partners][j]] * np.sin(angle)
        return found

    scores = turned(Q) @ turned(K).T
    return {"R_Q": turned(Q), "R_K": turned(K), "S": scores, "Z": oracles.softmax(scores / 2) @ V}


def turned_by(radians):
    """One pair of features, as complex numbers."""

    def turned(x):
        z = (x[:, 0] + 1j * x[:, 1]) * np.exp(1j * radians * np.arange(3))
        return np.stack([z.real, z.imag], axis=1)

    return {"R_Q": turned(Q[:, :2]), "R_K": turned(K[:, :2])}


def slopes(*of_head):
    distance = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    width = 4 // len(of_head)
    found = {}
    for h, slope in enumerate(of_head):
        q, k = (X @ w[:, width * h : width * (h + 1)] for w in (W_Q, W_Q[:, ::-1]))
        found[f"S_B_{h + 1}"] = q @ k.T / np.sqrt(width) - slope * distance
    return found


# ------------------------------------------------------------------------------------------ heads and norms


def shared(key_head_of):
    """Four query heads, each as wide as one column, with the key and value head that is said."""
    found, outputs = {}, []
    for h, g in enumerate(key_head_of):
        scores = (X @ W_Q[:, h : h + 1]) @ (X @ W_K[:, g : g + 1]).T
        outputs.append(oracles.softmax(scores) @ (X @ W_V[:, g : g + 1]))
        found |= {f"S_{h + 1}": scores, f"Z_{h + 1}": outputs[-1]}
    return {**found, "C": np.hstack(outputs)}


def normed(x, epsilon):
    return {"N": (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + epsilon)}


CASES = [
    ("E14", "positional_encoding", {}, {"E": E}, sinusoids(lambda j: 2 * j / 4, 10_000)),
    ("E15", "positional_encoding", {}, {"E": E}, sinusoids(lambda j: j / 4, 10_000)),
    ("E15", "positional_encoding", {}, {"E": E[:, :3]}, sinusoids(lambda j: j / 3, 10_000, width=3)),
    ("E16", "positional_encoding", {}, {"E": E}, sinusoids(as_declared, 1000)),
    ("E16", "positional_encoding", {"wavelength": 100}, {"E": E}, sinusoids(as_declared, 10_000)),
    ("E16b", "positional_encoding", {}, {"E": E}, sinusoids(lambda j: (j // 2) / 4, 10_000)),
    *(
        (id, "rotary_attention", {"angles": "90, 3/5+4/5i", "position": position}, QKV, rotated(*pairs))
        for position, other in (("rotary", "rotary-halves"), ("rotary-halves", "rotary"))
        for id, pairs in (("E17", (other, position)), ("E17b", (position, other)))
    ),
    ("E18", "positional_encoding", {}, {"E": E}, sinusoids(as_declared, 10_000, np.pi / 180)),
    ("E18", "rotary_attention", {"angles": "60"}, {"Q": Q[:, :2], "K": K[:, :2], "V": V}, turned_by(60)),
    ("E18", "rotary_attention", {"angles": "2 rad"}, {"Q": Q[:, :2], "K": K[:, :2], "V": V}, turned_by(np.pi / 90)),
    (
        "E19",
        "multi_head_attention",
        {"bias": "alibi", "heads": 2},
        {"X": X, "W_Q": W_Q, "W_K": W_Q[:, ::-1], "W_V": W_V},
        slopes(1, 2**-4),
    ),
    (
        "E19",
        "multi_head_attention",
        {"bias": "alibi", "heads": 4},
        {"X": X, "W_Q": W_Q, "W_K": W_Q[:, ::-1], "W_V": np.hstack([W_V, W_V])},
        slopes(1, 2**-2, 2**-4, 2**-6),
    ),
    ("H10", "multi_head_attention", {"heads": 4, "kv_heads": 2}, HEADS, shared([0, 1, 0, 1])),
    ("B12", "layer_norm", {"epsilon": 1}, {"X": NORMED}, normed(NORMED, 1)),
    ("B12", "rms_norm", {"epsilon": 0}, {"X": NORMED}, {"N": NORMED / np.sqrt((NORMED**2).mean())}),
]


@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize(("id", "name", "settings", "given", "expected"), CASES)
def test_each_step_is_as_numpy_has_it(id, name, settings, given, expected, orientation):
    across = orientation == "columns"
    chosen = mechanism(name)
    rows = {one: [[str(x) for x in row] for row in (m.T if across else m)] for one, m in given.items()}
    d = chosen.run(rows, Settings.read({**chosen.defaults, **settings, "orientation": orientation}))
    wrong = misconception(id).on(d)
    assert wrong.first
    assert not wrong.stopped
    for step, right in expected.items():
        found = oracles.floats(wrong.value(step))
        np.testing.assert_allclose(found.T if across else found, right, rtol=1e-9, atol=1e-9, err_msg=step)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("ids", "name", "settings"), TABLES["quiet"])
def test_where_there_is_no_place_for_it(ids, name, settings):
    [sheet] = sheets(make_recipe(name, settings, seed=2), 1)
    assert not {wrong.misconception.id for wrong in replayed(sheet.problem.derivation)} & {*ids.split()}


# ------------------------------------------------------------------------------------------ as marking tells them


def test_all_that_only_marking_knows_are_here():
    assert set(TABLES["places"]) == set(misconceptions()) - {m.id for m in drawn_misconceptions()}


@pytest.mark.covering(most=5, product=False)
@pytest.mark.parametrize("seed", [4, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("id", TABLES["places"])
def test_a_script_that_goes_on_from_it_is_one_event_of_this_name(id, seed):
    name, settings, sizes = TABLES["places"][id]
    [sheet] = sheets(make_recipe(name, settings, seed=seed, sizes=sizes or None), 1)
    wrong = misconception(id).on(sheet.problem.derivation)
    assert wrong.first
    assert not wrong.stopped
    for say in (typed, lambda x: typed(x) if isinstance(x, int) else decimal_text(x, 4)):
        [event] = mark(sheet.question, script(sheet.question, wrong.derivation, say)).events
        assert id in ids(event)
        for other in event.candidates:
            assert other.kind == "misconception"
