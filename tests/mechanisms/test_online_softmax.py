"""The online softmax: the same as the plain one, against PyTorch, a loop in NumPy and ourselves, exactly."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, custom, mechanism
from symattn.derivation.misconceptions import misconception
from symattn.derivation.ops import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.windows import HIDDEN
from symattn.errors import InputError, ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decide, decimal_text, exact
from symattn.marking.marker.windows import cell, window
from symattn.page.notation import load_notation
from symattn.teaching.explanation.agreement import agreement
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import Problem

ONLINE = mechanism("online_softmax")


def run(name: str, givens: dict[str, object], **settings: object) -> Derivation:
    return mechanism(name).run(givens, Settings.read(settings))


def floats(matrix: object) -> np.ndarray:
    assert isinstance(matrix, Matrix)
    return np.array(
        [[-np.inf if x is NEGATIVE_INFINITY else float(decimal_text(x, 15)) for x in row] for row in matrix.rows]
    )


def whole_numbers(rng: random.Random, rows: int, columns: int) -> list[list[int]]:
    return [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]


def online(scores: np.ndarray, v: np.ndarray, tile: int) -> list[dict[str, np.ndarray]]:
    """Milakov and Gimelshein 2018, algorithm 3, with the values on the way; one dictionary for every block.

    Key by key and without the trick of blocks: what it gives after each block is what a block has to give.
    """
    n, m = scores.shape
    largest, total, output = np.full(n, -np.inf), np.zeros(n), np.zeros((n, v.shape[1]))
    found = []
    for j in range(m):
        for i in range(n):
            s = scores[i, j]
            if s == -np.inf:
                continue
            new = max(largest[i], s)
            shrink = np.exp(largest[i] - new)
            total[i] = total[i] * shrink + np.exp(s - new)
            output[i] = output[i] * shrink + np.exp(s - new) * v[j]
            largest[i] = new
        if (j + 1) % tile == 0 or j == m - 1:
            found.append({"m": largest.copy(), "l": total.copy(), "O_run": output.copy()})
    return found


@pytest.mark.covering(most=20)
@pytest.mark.parametrize("seed", range(60))
def test_pytorch_and_a_loop_in_numpy(seed: int) -> None:
    torch = pytest.importorskip("torch")
    rng = random.Random(f"online {seed}")
    n, m, d_k, d_v = rng.randint(1, 3), rng.randint(1, 6), rng.randint(1, 4), rng.randint(1, 3)
    tile = rng.randint(1, m + 1)
    q, k, v = whole_numbers(rng, n, d_k), whole_numbers(rng, m, d_k), whole_numbers(rng, m, d_v)
    scale, divisor = rng.choice([("sqrt(d_k)", d_k**0.5), ("none", 1.0), (Fraction(5, 2), 2.5)])
    base = rng.choice(["e", "e", 2, 3])
    keep = np.array([[rng.random() < 0.7 for _ in range(m)] for _ in range(n)])
    keep[range(n), [rng.randrange(m) for _ in range(n)]] = True
    mask = keep.astype(int).tolist() if rng.random() < 0.6 else None
    columns = rng.random() < 0.3
    given = {"Q": q, "K": k, "V": v}
    given = {name: [list(c) for c in zip(*x, strict=True)] for name, x in given.items()} if columns else given
    style, way = rng.choice(["additive", "keep", "block"]), "columns" if columns else "rows"
    d = run("online_softmax", given, tile=tile, scale=scale, base=base, mask=mask, mask_style=style, orientation=way)
    self_check(d)
    rate = 1.0 if base == "e" else float(np.log(float(base)))
    q64, k64, v64 = (torch.tensor(x, dtype=torch.float64) for x in (q, k, v))
    plain = torch.nn.functional.scaled_dot_product_attention(
        q64, k64, v64, attn_mask=torch.from_numpy(keep) if mask else None, scale=rate / divisor
    )
    turn = np.transpose if columns else np.asarray
    np.testing.assert_allclose(turn(floats(d.value("Z"))), plain.numpy(), rtol=0, atol=1e-10)
    scores = np.array(q) @ np.array(k).T / divisor * rate
    blocks = online(np.where(keep, scores, -np.inf) if mask else scores, np.array(v, dtype=float), tile)
    assert len(blocks) == -(-m // tile)
    for b, block in enumerate(blocks, 1):
        np.testing.assert_allclose(turn(floats(d.value(f"m_{b}")))[:, 0] * rate, block["m"], rtol=0, atol=1e-10)
        np.testing.assert_allclose(turn(floats(d.value(f"l_{b}")))[:, 0], block["l"], rtol=0, atol=1e-10)
        np.testing.assert_allclose(turn(floats(d.value(f"O_run_{b}"))), block["O_run"], rtol=0, atol=1e-10)


@given(st.data(), st.integers(1, 5), st.integers(1, 5), st.sampled_from(["e", 2]), st.booleans())
def test_it_gives_exactly_what_the_plain_softmax_gives(
    data: st.DataObject, m: int, tile: int, base: object, masked: bool
) -> None:
    def matrix(height: int, width: int) -> list[list[int]]:
        row = st.lists(st.integers(-2, 2), min_size=width, max_size=width)
        return data.draw(st.lists(row, min_size=height, max_size=height))

    givens: dict[str, object] = {"Q": matrix(2, 4), "K": matrix(m, 4), "V": matrix(m, 2)}
    hidden = [[1] * (m - 1 - i % m) + [0] * (i % m) + [1] for i in range(2)]
    mask = [row[-m:] for row in hidden] if masked else None
    by_blocks = run("online_softmax", givens, tile=tile, base=base, mask=mask)
    at_once = run("attention", givens, base=base, mask=mask)
    pairs = zip(by_blocks.value("Z"), at_once.value("Z"), strict=True)
    assert all(decide(x, y).equal for x, y in pairs)


GIVENS: dict[str, object] = {
    "Q": [[-1, 0, 1, 1], [1, 1, 1, 0]],
    "K": [[-1, 0, -1, 0], [1, 1, 0, 1], [0, -1, -1, 1], [0, -1, 1, 1]],
    "V": [[1, 0], [3, -3], [-3, -3], [0, -1]],
}
Q, K, V = (np.array(GIVENS[name], dtype=float) for name in ("Q", "K", "V"))
SCORES = Q @ K.T / 2


def test_by_hand() -> None:
    """Row 1: scores 0, 0 | 0, 1: the maximum grows to 1.  Row 2: −1, 1 | −1, 0: it does not."""
    d = run("online_softmax", GIVENS)
    e = sympy.E
    expected = {
        "m_1": [[0], [1]],
        "powers_1": [[1, 1], [e**-2, 1]],
        "l_1": [[2], [e**-2 + 1]],
        "O_run_1": [[4, -3], [e**-2 + 3, -3]],
        "m_2": [[1], [1]],
        "powers_2": [[1 / e, 1], [e**-2, 1 / e]],
        "alpha_2": [[1 / e], [1]],
        "r_2": [[1 / e + 1], [e**-2 + 1 / e]],
        "l_2": [[3 / e + 1], [2 * e**-2 + 1 / e + 1]],
        "O_run_2": [[1 / e, -6 / e - 1], [3 - 2 * e**-2, -3 - 3 * e**-2 - 1 / e]],
    }
    for name, rows in expected.items():
        assert sympy.simplify(cast(Matrix, d.value(name)).sympy() - sympy.Matrix(rows)).is_zero_matrix, name
    first = cast(Matrix, d.value("Z"))[0, 0]
    assert decide(first, exact("1/(3+e)")).equal


def test_a_first_block_that_is_hidden_counts_nothing() -> None:
    d = run("online_softmax", GIVENS, mask=[[0, 0, 1, 1], [1, 1, 1, 1]])
    assert cast(Matrix, d.value("m_1"))[0, 0] is NEGATIVE_INFINITY
    assert list(cast(Matrix, d.value("powers_1")).row(0)) == [0, 0]
    assert cast(Matrix, d.value("alpha_2"))[0, 0] == 0
    self_check(d)


def test_finite_masks_are_cut_into_blocks_as_well() -> None:
    mask = "additive:[[0, 1, 0, -1], [1, 0, 0, 0]]"
    d, at_once = run("online_softmax", GIVENS, mask=mask), run("attention", GIVENS, mask=mask)
    pairs = zip(d.value("Z"), at_once.value("Z"), strict=True)
    assert all(decide(x, y).equal for x, y in pairs)
    problem = Problem("", "online_softmax", d, load_notation("standard"))
    assert len(agreement(problem, wording_of(problem))) == 1


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(UndefinedError, match="'Z'"):
        run("online_softmax", GIVENS, mask=[[0, 0, 0, 0], [1, 1, 1, 1]])
    with pytest.raises(InputError, match="no weights that could be rounded"):
        run("online_softmax", GIVENS, rounding={"places": 1})
    with pytest.raises(InputError, match="m must be a number"):
        ONLINE.run(ONLINE.symbolic({"n": 2, "m": "m", "d_k": 2, "d_v": 1}, Settings()), Settings())
    with pytest.raises(ShapeError, match="every row needs one number of its own"):
        Exponentials().shape((2, 3), (1, 3))
    with pytest.raises(ShapeError, match="of the shape of the sum so far"):
        Accumulate().shape((2, 1), (2, 3), (2, 2))
    with pytest.raises(ShapeError, match="as many rows"):
        RunningMaximum().shape((2, 1), (3, 1))


def test_the_key_says_that_both_ways_agree() -> None:
    problem = Problem("", "online_softmax", run("online_softmax", GIVENS), load_notation("standard"))
    assert len(agreement(problem, wording_of(problem))) == 1
    short = Problem("", "online_softmax", run("online_softmax", GIVENS, stop_at="l_2"), load_notation("standard"))
    assert agreement(short, wording_of(short)) == []


def test_in_letters_the_maximum_is_that_of_all_scores_so_far() -> None:
    sizes = {"n": 1, "m": 2, "d_k": 1, "d_v": 1}
    d = ONLINE.run(ONLINE.symbolic(sizes, Settings(tile=1)), Settings(tile=1, scale="none"))
    q, k1, k2, v1, v2 = sympy.symbols("q_{11} k_{11} k_{21} v_{11} v_{21}", real=True)
    z = cast(Matrix, d.value("Z"))[0, 0]
    plain = (sympy.exp(q * k1) * v1 + sympy.exp(q * k2) * v2) / (sympy.exp(q * k1) + sympy.exp(q * k2))
    for numbers in ((1, 2, 3, 4, 5), (-1, 2, 3, 4, 5), (2, 1, 1, -1, 3)):
        at = dict(zip((q, k1, k2, v1, v2), numbers, strict=True))
        assert sympy.simplify(z.subs(at) - plain.subs(at)) == 0


def test_its_lines_may_stand_in_a_problem_file() -> None:
    steps = [
        {"name": "m", "op": "running_maximum", "operands": ["S"]},
        {"name": "P", "op": "exponentials", "operands": ["S", "m"], "base": 2},
        {"name": "l", "op": "sum", "operands": ["P"], "over": "columns"},
        {"name": "o", "op": "accumulate", "operands": ["l", "P", "P"]},
    ]
    d = custom.run({"S": [[1, 3], [2, 0]]}, steps)
    assert d.value("P") == Matrix([["1/4", 1], [1, "1/4"]])
    assert d.value("o") == Matrix([["9/16", "9/4"], ["9/4", "9/16"]])


def test_ranges() -> None:
    unit = Fraction(1, 10)

    def box(*rows: tuple[object, ...]) -> tuple[tuple[object, ...], ...]:
        return tuple(tuple(cell(exact(x), unit) for x in row) for row in rows)

    a, b = box(("1.0", "0.5")), box(("0.9",))
    ((w,),) = window(RunningMaximum(), a, b)
    assert (w.low, w.high) == (Fraction("0.95"), Fraction("1.05"))
    ((w,),) = window(RunningMaximum("columns"), box(("1.0",)), box(("1.2",)))
    assert (w.low, w.high) == (Fraction("1.15"), Fraction("1.25"))
    ((p, hidden),) = window(Exponentials(base=2), ((*box(("1.0",))[0], HIDDEN),), box(("2.0",)))
    assert p.low <= Fraction(1, 2) <= p.high
    assert float(p.low) == pytest.approx(2**-1.1, abs=1e-15)
    assert float(p.high) == pytest.approx(2**-0.9, abs=1e-15)
    assert (hidden.low, hidden.high) == (0, 0)
    ((s,),) = window(Accumulate(), box(("0.5",)), box(("2.0",)), box(("1.0",)))
    assert (s.low, s.high) == (Fraction("0.45") * Fraction("1.95") + Fraction("0.95"),
                               Fraction("0.55") * Fraction("2.05") + Fraction("1.05"))  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sizes", [{"n": 2, "m": 4, "d_k": 4, "d_v": 2}, {"n": 1, "m": 5, "d_k": 2, "d_v": 1}])
def test_random_numbers_rescale_something_and_not_everything(seed: int, sizes: dict[str, int]) -> None:
    assert ONLINE.draw is not None
    drawn = ONLINE.draw(Settings(), sizes, random.Random(seed))
    q, k = (np.array(drawn[name].rows, dtype=float) for name in "QK")
    scores = q @ k.T / np.sqrt(sizes["d_k"])
    grows = scores.max(axis=1) > scores[:, :2].max(axis=1)
    assert grows.tolist() == [True] * max(1, sizes["n"] - 1) + [False] * (sizes["n"] - 1 > 0)
    assert (np.ptp(scores, axis=1) <= 3.1).all()
    if sizes["d_k"] == 4:
        assert (scores == np.round(scores)).all()
    again = ONLINE.draw(Settings(), sizes, random.Random(seed))
    assert again == drawn


# ------------------------------------------------------------------------------------------------ misconceptions


def traced(*, sums: bool = True, outputs: bool = True, inverse: bool = False, last: bool = False) -> np.ndarray:
    """Two blocks of two keys, with something left out of what is right."""
    first, second = SCORES[:, :2], SCORES[:, 2:]
    m1 = first.max(axis=1, keepdims=True)
    m2 = np.maximum(m1, second.max(axis=1, keepdims=True))
    shrink = np.exp(m2 - m1 if inverse else m1 - m2)
    p1, p2 = np.exp(first - m1), np.exp(second - m2)
    l1, o1 = p1.sum(axis=1, keepdims=True), p1 @ V[:2]
    if last:
        l1, o1 = 0 * l1, 0 * o1
    total = (shrink if sums else 1) * l1 + p2.sum(axis=1, keepdims=True)
    return cast(np.ndarray, ((shrink if outputs else 1) * o1 + p2 @ V[2:]) / total)


@pytest.mark.parametrize(
    ("id", "what", "at"),
    [
        ("F1", {"sums": False, "outputs": False}, "l_2"),
        ("F2", {"outputs": False}, "O_run_2"),
        ("F3", {"inverse": True}, "alpha_2"),
        ("F5", {"last": True}, "l_2"),
    ],
)
def test_what_comes_of_blocks_put_together_wrongly(id: str, what: dict[str, bool], at: str) -> None:
    wrong = misconception(id).on(run("online_softmax", GIVENS))
    assert wrong is not None
    assert wrong.first == at
    np.testing.assert_allclose(floats(wrong.value("Z")), traced(**what), rtol=0, atol=1e-10)


def test_what_is_not_divided_is_the_running_output() -> None:
    d = run("online_softmax", GIVENS)
    wrong = misconception("F4").on(d)
    assert wrong is not None
    assert wrong.first == "Z"
    assert wrong.value("Z") == d.value("O_run_2")


def test_the_scale_is_forgotten_in_every_block() -> None:
    wrong = misconception("C1").on(run("online_softmax", GIVENS))
    assert wrong is not None
    plain = run("attention", GIVENS, scale="none")
    pairs = zip(cast(Matrix, wrong.value("Z")), cast(Matrix, plain.value("Z")), strict=True)
    assert all(decide(cast(Value, x), cast(Value, y)).equal for x, y in pairs)


def test_one_block_has_nothing_to_rescale() -> None:
    d = run("online_softmax", GIVENS, tile=4)
    assert [misconception(f"F{i}").on(d) for i in (1, 2, 3, 5)] == [None] * 4
    assert misconception("F4").on(run("attention", GIVENS)) is None
