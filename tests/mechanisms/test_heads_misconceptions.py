"""The misconceptions about heads: the figures of golden variant G2 (rules.md 2.3), and NumPy for whole layers."""

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconception, misconceptions, replayed
from symattn.derivation.misconceptions.heads import MISCONCEPTIONS as HEADS
from symattn.exact import Matrix
from symattn.exact.approximate import approximate
from symattn.teaching.fairness import draw

TWO = Settings.read({"heads": 2})

G2 = {
    "A_1": [["3/4", "1/4"], ["1/4", "3/4"]],
    "A_2": [["1/5", "4/5"], ["1/2", "1/2"]],
    "V": [[4, 0, 5, -5], [0, 8, 0, 10]],
    "W_O": [[1, 0, 0, 1], [0, 1, 1, 0], [1, -1, 0, 0], [0, 0, 2, 1]],
}

WRONG = {
    "H1": [
        [Fraction(17, 4), Fraction(-5, 4), Fraction(359, 20), Fraction(277, 20)],
        [Fraction(19, 4), Fraction(-15, 4), Fraction(57, 4), Fraction(55, 4)],
    ],
    "H2": [[4, 1, 14, 9], [Fraction(7, 2), Fraction(9, 2), 12, Fraction(7, 2)]],
    "H3": [[4, 4, 11, 3], [Fraction(7, 2), Fraction(3, 2), Fraction(29, 2), Fraction(17, 2)]],
    "H4": [[3, 2, 1, 7], [1, 6, Fraction(5, 2), Fraction(5, 2)]],
    "H6": [
        [Fraction(27, 4), Fraction(-7, 4), Fraction(-1, 2), Fraction(7, 4)],
        [Fraction(9, 4), Fraction(19, 4), Fraction(37, 2), Fraction(29, 4)],
    ],
    "H7": [
        [Fraction(47, 5), Fraction(-53, 20), Fraction(71, 4), 10],
        [5, Fraction(-11, 4), Fraction(25, 4), Fraction(7, 2)],
    ],
    "H8": [[10, 3, 1, 9], [Fraction(7, 2), Fraction(17, 2), -5, Fraction(15, 2)]],
}


def floats(m: object) -> np.ndarray:
    assert isinstance(m, Matrix)
    return np.array([[approximate(x) for x in row] for row in m.rows])


def golden(orientation: str = "rows") -> Derivation:
    settings = Settings.read({"heads": 2, "orientation": orientation})
    turned = {name: Matrix(rows).T if orientation == "columns" else Matrix(rows) for name, rows in G2.items()}
    return mechanism("weighted_heads").run(turned, settings)


def written(id: str, step: str, d: Derivation) -> Matrix:
    """What someone with the misconception writes, tokens as rows."""
    wrong = misconception(id).on(d)
    assert wrong is not None
    value = wrong.value(step)
    assert isinstance(value, Matrix)
    return value if d.orientation == "rows" else value.T


# ------------------------------------------------------------------------------------------ golden variant G2


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_g2(orientation: str) -> None:
    d = golden(orientation)
    found = {name: d.value(name) if orientation == "rows" else d.value(name).T for name in ("Z_1", "Z_2", "O")}
    assert found["Z_1"] == Matrix([[3, 2], [1, 6]])
    assert found["Z_2"] == Matrix([[1, 7], [Fraction(5, 2), Fraction(5, 2)]])
    assert found["O"] == Matrix([[4, 1, 16, 10], [Fraction(7, 2), Fraction(7, 2), 11, Fraction(7, 2)]])


@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("id", WRONG)
def test_g2_with_a_misconception(id: str, orientation: str) -> None:
    assert written(id, "O", golden(orientation)) == Matrix(WRONG[id])


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_g2_with_heads_that_are_averaged(orientation: str) -> None:
    """W_O, which is four rows high, does not fit any more: that gives H5 away."""
    d = golden(orientation)
    assert written("H5", "C", d) == Matrix([[2, Fraction(9, 2)], [Fraction(7, 4), Fraction(17, 4)]])
    wrong = misconception("H5").on(d)
    assert wrong is not None
    assert wrong.first == "C"
    assert wrong.stopped.startswith("O is not defined")
    assert written("H5b", "C", d) == Matrix([[4, 9], [Fraction(7, 2), Fraction(17, 2)]])
    assert written("H5c", "C", d) == Matrix([[3, 7], [Fraction(5, 2), 6]])


def test_g2_tells_them_all_apart() -> None:
    """No two give the same output, and each is wrong: rules.md 2.3 chose the numbers so."""
    outputs = [Matrix(rows) for rows in WRONG.values()]
    assert len({str(m.rows) for m in [*outputs, golden().value("O")]}) == len(WRONG) + 1


# ------------------------------------------------------------------------------------------ whole layers, in NumPy

Heads = list[np.ndarray]


def split(m: np.ndarray) -> Heads:
    return list(np.split(m, 2, axis=1))


def reread(m: np.ndarray) -> Heads:
    return list(m.reshape(2, m.shape[0], -1))


def every_second(m: np.ndarray) -> Heads:
    return [m[:, 0::2], m[:, 1::2]]


def weights(q: np.ndarray, k: np.ndarray, divisor: float) -> np.ndarray:
    powers = np.exp(q @ k.T / divisor)
    return powers / powers.sum(axis=1, keepdims=True)


def layer(
    givens: dict[str, Matrix],
    parts: Callable[[np.ndarray], Heads] = split,
    merge: Callable[[Heads], np.ndarray] = np.hstack,
    first_weights: bool = False,
    widen: float = 1.0,
) -> np.ndarray:
    """Two heads put together, before W_O."""
    x = floats(givens["X"])
    q, k, v = (parts(x @ floats(givens[f"W_{role}"])) for role in "QKV")
    a = [weights(q[i], k[i], np.sqrt(q[i].shape[1] * widen)) for i in (0, 1)]
    return merge([(a[0] if first_weights else a[i]) @ v[i] for i in (0, 1)])


def row_by_row(z: Heads) -> np.ndarray:
    return np.stack(z).reshape(z[0].shape[0], -1)


BEFORE_W_O: dict[str, Callable[[dict[str, Matrix]], np.ndarray]] = {
    "C11": lambda g: layer(g, widen=2.0),
    "H1": lambda g: layer(g, parts=reread),
    "H2": lambda g: layer(g, merge=row_by_row),
    "H3": lambda g: layer(g, merge=lambda z: np.hstack(z[::-1])),
    "H6": lambda g: layer(g, first_weights=True),
    "H7": lambda g: layer(g, parts=every_second),
}
ALONE: dict[str, Callable[[Heads], np.ndarray]] = {
    "H5": lambda z: (z[0] + z[1]) / 2,
    "H5b": lambda z: z[0] + z[1],
    "H5c": lambda z: np.maximum(*z),
}


def variants(count: int, **sizes: int) -> list[tuple[dict[str, Matrix], Derivation]]:
    """Drawn for worksheets, d_k = 4 wide or as stated."""
    heads, found = mechanism("multi_head_attention"), []
    for seed in range(count):
        givens = dict(draw(heads, TWO, {**heads.default_sizes, **sizes}, random.Random(seed)).givens)
        found.append((givens, heads.run(givens, TWO)))
    return found


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("id", [*BEFORE_W_O, *ALONE])
def test_a_whole_layer(id: str) -> None:
    for givens, d in variants(3):
        if id in ALONE:
            assert np.allclose(floats(written(id, "C", d)), layer(givens, merge=ALONE[id]), rtol=0, atol=1e-10)
        else:
            expected = BEFORE_W_O[id](givens)
            assert np.allclose(floats(written(id, "C", d)), expected, rtol=0, atol=1e-10)
            assert np.allclose(floats(written(id, "O", d)), expected @ floats(givens["W_O"]), rtol=0, atol=1e-10)


def test_w_o_left_out_transposed_or_on_the_left() -> None:
    for givens, d in variants(2, d_out=4):
        c, w = layer(givens), floats(givens["W_O"])
        assert np.allclose(floats(written("H4", "O", d)), c, rtol=0, atol=1e-10)
        assert np.allclose(floats(written("H8", "O", d)), c @ w.T, rtol=0, atol=1e-10)
        wrong = misconception("H8b").on(d)
        assert wrong is not None
        assert wrong.stopped.startswith("O is not defined")


def test_a_declared_interleaved_split_makes_the_usual_one_wrong() -> None:
    heads = mechanism("multi_head_attention")
    settings = Settings.read({"heads": 2, "split": "interleaved"})
    givens = dict(draw(heads, settings, heads.default_sizes, random.Random(1)).givens)
    d = heads.run(givens, settings)
    assert misconception("H7").on(d) is None
    assert np.allclose(floats(written("H7b", "C", d)), layer(givens), rtol=0, atol=1e-10)
    assert np.allclose(floats(written("H1", "C", d)), layer(givens, parts=reread), rtol=0, atol=1e-10)


# ------------------------------------------------------------------------------------------ where they have a place


def test_no_place_without_heads() -> None:
    d = mechanism("self_attention").run(
        {"X": [[1, 0], [1, 1]], "W_Q": [[1], [2]], "W_K": [[1], [0]], "W_V": [[1], [1]]}, Settings()
    )
    assert not [w for w in replayed(d) if w.misconception in HEADS]


def test_one_head_with_w_o_can_forget_it() -> None:
    givens = {"X": [[1, 0], [1, 1]], "W_Q": [[1], [2]], "W_K": [[1], [0]], "W_V": [[1], [1]], "W_O": [[2, 3]]}
    d = mechanism("multi_head_attention").run(givens, Settings())
    assert {w.misconception.id for w in replayed(d) if w.misconception in HEADS} == {"H4", "H8", "H8b"}
    assert written("H4", "O", d) == d.value("Z")


@given(st.integers(0, 10**6))
def test_multi_query_attention_splits_queries_alone(seed: int) -> None:
    """Keys and values that all heads share are not split, rightly or wrongly."""
    rng = random.Random(seed)
    shapes = {"X": (2, 2), "W_Q": (2, 4), "W_K": (2, 2), "W_V": (2, 1)}
    givens = {n: Matrix([[rng.randint(-2, 2) for _ in range(c)] for _ in range(r)]) for n, (r, c) in shapes.items()}
    d = mechanism("multi_head_attention").run(givens, Settings.read({"heads": 2, "kv_heads": 1}))
    wrong = misconception("H1").on(d)
    assert wrong is not None
    q = floats(givens["X"]) @ floats(givens["W_Q"])
    assert np.array_equal(floats(wrong.value("Q_1")), reread(q)[0])
    assert wrong.value("V") == d.value("V")


def test_every_misconception_about_heads_can_be_read_by_a_student() -> None:
    """They stand in the catalogue, and none speaks of the letters of the code."""
    for m in HEADS:
        assert misconceptions()[m.id] is m
        assert "_" not in m.feedback.replace("$@name(W_O)$", "")
