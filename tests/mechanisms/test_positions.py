"""Positions: sinusoids and rotations against NumPy and PyTorch, the laws they obey exactly, and common mistakes."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from oracles import numpy_attention

from symattn.api import derive
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconception, replayed
from symattn.derivation.ops import Multiple, Rotate, Sinusoids
from symattn.derivation.ops.position import Angle, Degrees, Direction, Frequency
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, decide, decimal_text, exact
from symattn.exact.intervals import enclose
from symattn.exact.reading import read, typed
from symattn.marking.marker.windows import cell, window
from symattn.page.document import Math, spans
from symattn.page.notation import load_notation
from symattn.teaching.explanation.parts import conventions, wording_of
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import Problem

THREE_FOUR = math.atan2(4, 3)
ANGLES: list[tuple[object, list[float]]] = [
    ("90", [math.pi / 2] * 3),
    ("45°", [math.pi / 4] * 3),
    (60, [math.pi / 3] * 3),
    ("3/5+4/5i", [THREE_FOUR] * 3),
    ("-5/13-12/13i", [math.atan2(-12, -5)] * 3),
    ("i", [math.pi / 2] * 3),
]
"""Angles as they are typed, and in radians."""


def run(name: str, givens: dict[str, object], **settings: object) -> Derivation:
    chosen = mechanism(name)
    return chosen.run(givens, Settings.read({**chosen.defaults, "angles": None, **settings}))


def floats(d: Derivation, name: str) -> np.ndarray:
    matrix = d.value(name)
    assert isinstance(matrix, Matrix)
    return np.array([[float(decimal_text(x, 15)) for x in row] for row in matrix.rows])


def whole_numbers(rng: random.Random, rows: int, columns: int) -> list[list[int]]:
    return [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]


def frequencies(d: int, wavelength: float) -> list[float]:
    """Vaswani et al. 2017, section 3.5: 1/wavelength^(2i/d)."""
    return [wavelength ** (-2 * i / d) for i in range(d // 2)]


def sinusoids(positions: range, thetas: list[float], halves: bool) -> np.ndarray:
    phase = np.outer(np.array(positions), thetas)
    if halves:
        return np.concatenate([np.sin(phase), np.cos(phase)], axis=1)
    table = np.empty((len(positions), 2 * len(thetas)))
    table[:, 0::2], table[:, 1::2] = np.sin(phase), np.cos(phase)
    return table


def turned(x: np.ndarray, positions: range, thetas: list[float], halves: bool) -> np.ndarray:
    """With blocks of rotation matrices, as Su et al. 2021 define it (equation 15)."""
    d = x.shape[1]
    rows = []
    for row, p in zip(x, positions, strict=True):
        matrix = np.zeros((d, d))
        for k, theta in enumerate(thetas):
            a, b = (k, k + d // 2) if halves else (2 * k, 2 * k + 1)
            matrix[a, a] = matrix[b, b] = math.cos(p * theta)
            matrix[a, b], matrix[b, a] = -math.sin(p * theta), math.sin(p * theta)
        rows.append(matrix @ row)
    return np.array(rows)


def random_angles(rng: random.Random, pairs: int, width: int) -> tuple[dict[str, object], list[float]]:
    """Settings for angles, and what they are in radians."""
    kind = rng.randrange(4)
    if kind == 0:
        wavelength = rng.choice([10000, 100, 7])
        return {"wavelength": wavelength}, frequencies(width, wavelength)
    if kind == 1:
        stated, radians = rng.choice(ANGLES)
        return {"angles": stated}, radians[:pairs]
    chosen = [rng.choice(ANGLES) for _ in range(pairs)]
    listed: object = [stated for stated, _ in chosen]
    return {"angles": listed if kind == 2 else ", ".join(str(stated) for stated, _ in chosen)}, [
        radians[0] for _, radians in chosen
    ]


# ------------------------------------------------------------------------------------------------ against NumPy, torch


@pytest.mark.parametrize("seed", range(30))
def test_sinusoids_and_what_they_are_added_to(seed: int) -> None:
    rng = random.Random(f"sinusoids {seed}")
    n, pairs = rng.randint(1, 4), rng.randint(1, 3)
    settings, thetas = random_angles(rng, pairs, 2 * pairs)
    first, halves, scaled = rng.randint(0, 1), rng.random() < 0.5, rng.random() < 0.5
    e = whole_numbers(rng, n, 2 * pairs)
    d = run(
        "positional_encoding",
        {"E": e},
        position="sinusoidal-halves" if halves else "sinusoidal",
        first_position=first,
        embedding="scaled" if scaled else "plain",
        **settings,
    )
    p = sinusoids(range(first, first + n), thetas, halves)
    np.testing.assert_allclose(floats(d, "P"), p, rtol=0, atol=1e-10)
    embedded = np.array(e) * (math.sqrt(2 * pairs) if scaled else 1)
    np.testing.assert_allclose(floats(d, "X"), embedded + p, rtol=0, atol=1e-10)
    self_check(d)


@pytest.mark.covering(most=15)
@pytest.mark.parametrize("seed", range(40))
def test_rotary_attention_against_pytorch(seed: int) -> None:
    """Pairs as complex numbers times e^(ipθ), then scaled_dot_product_attention."""
    torch = pytest.importorskip("torch")
    rng = random.Random(f"rotary {seed}")
    n, pairs, d_v = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 3)
    settings, thetas = random_angles(rng, pairs, 2 * pairs)
    first, halves, causal = rng.randint(0, 1), rng.random() < 0.5, rng.random() < 0.5
    q, k, v = (whole_numbers(rng, n, width) for width in (2 * pairs, 2 * pairs, d_v))
    d = run(
        "rotary_attention",
        {"Q": q, "K": k, "V": v},
        position="rotary-halves" if halves else "rotary",
        first_position=first,
        mask="causal" if causal else None,
        **settings,
    )
    phase = torch.outer(torch.arange(first, first + n, dtype=torch.float64), torch.tensor(thetas, dtype=torch.float64))

    def turn(rows: list[list[int]]) -> object:
        x = torch.tensor(rows, dtype=torch.float64)
        paired = x.reshape(n, 2, pairs).transpose(1, 2) if halves else x.reshape(n, pairs, 2)
        z = torch.view_as_real(torch.view_as_complex(paired.contiguous()) * torch.polar(torch.ones_like(phase), phase))
        return (z.transpose(1, 2) if halves else z).reshape(n, 2 * pairs)

    output = torch.nn.functional.scaled_dot_product_attention(
        turn(q), turn(k), torch.tensor(v, dtype=torch.float64), is_causal=causal
    )
    np.testing.assert_allclose(floats(d, "R_Q"), turn(q).numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(floats(d, "R_K"), turn(k).numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(floats(d, "Z"), output.numpy(), rtol=0, atol=1e-10)
    self_check(d)


@pytest.mark.parametrize("seed", range(20))
def test_self_attention_with_positions(seed: int) -> None:
    rng = random.Random(f"positional self-attention {seed}")
    n, pairs, d_k, d_v = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 3)
    kind = rng.choice(["sinusoidal", "sinusoidal-halves", "learned"])
    settings, thetas = random_angles(rng, pairs, 2 * pairs) if kind != "learned" else ({}, [])
    width, scaled = 2 * pairs, rng.random() < 0.5
    givens: dict[str, object] = {"E": whole_numbers(rng, n, width)}
    for name, columns in (("W_Q", d_k), ("W_K", d_k), ("W_V", d_v)):
        givens[name] = whole_numbers(rng, width, columns)
    if kind == "learned":
        givens["P"] = whole_numbers(rng, n, width)
    bias = rng.random() < 0.5
    if bias:
        givens["b_Q"] = whole_numbers(rng, 1, d_k)
    mask = rng.choice([None, "causal"])
    d = run("positional_self_attention", givens, position=kind, mask=mask, scale="none",
            embedding="scaled" if scaled else "plain", **settings)  # fmt: skip
    p = np.array(givens["P"]) if kind == "learned" else sinusoids(range(n), thetas, kind.endswith("halves"))
    x = np.array(givens["E"]) * (math.sqrt(width) if scaled else 1) + p
    q = x @ np.array(givens["W_Q"]) + (np.array(givens["b_Q"]) if bias else 0)
    keep = np.tril(np.ones((n, n), dtype=bool)) if mask else None
    expected = numpy_attention(q, x @ np.array(givens["W_K"]), x @ np.array(givens["W_V"]), keep=keep)
    np.testing.assert_allclose(floats(d, "Z"), expected["Z"], rtol=0, atol=1e-10)


# ------------------------------------------------------------------------------------------------ exact


def test_the_table_of_the_paper() -> None:
    """PE(pos, 2i) = sin(pos/10000^(2i/d)), PE(pos, 2i+1) = cos(…), for d = 4."""
    d = run("positional_encoding", {"E": [[0] * 4] * 3})
    sin, cos, hundredth = sympy.sin, sympy.cos, sympy.Rational(1, 100)
    assert d.value("P").sympy() == sympy.Matrix(
        [
            [0, 1, 0, 1],
            [sin(1), cos(1), sin(hundredth), cos(hundredth)],
            [sin(2), cos(2), sin(2 * hundredth), cos(2 * hundredth)],
        ]
    )


def test_right_angles_keep_whole_numbers_and_halves_of_them_give_roots() -> None:
    quarter = run("rotary_attention", {"Q": [[1, 2]] * 4, "K": [[1, 0]] * 4, "V": [[1]] * 4}, angles="90")
    assert quarter.value("R_Q") == Matrix([[1, 2], [-2, 1], [-1, -2], [2, -1]])
    eighth = run("rotary_attention", {"Q": [[1, 0]] * 3, "K": [[1, 0]] * 3, "V": [[1]] * 3}, angles="45")
    assert eighth.value("R_Q") == Matrix([[1, 0], ["sqrt(2)/2", "sqrt(2)/2"], [0, 1]])
    rational = run("rotary_attention", {"Q": [[1, 0]] * 3, "K": [[1, 0]] * 3, "V": [[1]] * 3}, angles="3/5+4/5i")
    assert rational.value("R_K") == Matrix([[1, 0], ["3/5", "4/5"], ["-7/25", "24/25"]])


points = st.tuples(st.integers(1, 6), st.integers(-6, 6)).map(  # every rational point but (−1, 0)
    lambda t: Direction(
        Fraction(t[0] ** 2 - t[1] ** 2, t[0] ** 2 + t[1] ** 2), Fraction(2 * t[0] * t[1], t[0] ** 2 + t[1] ** 2)
    )
)
right_angles = st.sampled_from([0, 30, 45, 60, 90, 120, 135, 180, -90]).map(lambda x: Degrees(x))
layouts = st.sampled_from(["pairs", "halves"])
vectors = st.lists(st.integers(-3, 3), min_size=4, max_size=4)


@given(
    angles=st.one_of(st.tuples(points, points), st.tuples(right_angles, right_angles)),
    layout=layouts, q=vectors, k=vectors, i=st.integers(0, 4), j=st.integers(0, 4), shift=st.integers(-3, 5),
)  # fmt: skip
def test_scores_depend_on_the_distance_alone(
    angles: tuple[Angle, ...], layout: str, q: list[int], k: list[int], i: int, j: int, shift: int
) -> None:
    def score(i: int, j: int) -> object:
        a, b = (Rotate(angles, (p,), layout).apply(Matrix([x])) for p, x in ((i, q), (j, k)))
        return sum((x * y for x, y in zip(a, b, strict=True)), 0)

    assert decide(score(i, j), score(i + shift, j + shift)).equal


@given(angles=st.tuples(points, points), layout=layouts, x=vectors, p=st.integers(-4, 6))
def test_turning_keeps_lengths_and_is_a_product_with_its_matrix(
    angles: tuple[Angle, ...], layout: str, x: list[int], p: int
) -> None:
    op = Rotate(angles, (p,), layout)
    result = list(op.apply(Matrix([x])))
    assert sum(y * y for y in result) == sum(y * y for y in x)
    matrix = op.matrix(p).sympy()
    assert sympy.Matrix([x]) * matrix == sympy.Matrix([[sympy.Rational(y.numerator, y.denominator) for y in result]])
    assert matrix * matrix.T == sympy.eye(4)


@given(angles=st.tuples(points, points), layout=layouts, p=st.integers(0, 5), shift=st.integers(0, 4))
def test_a_shift_of_positions_is_linear_in_the_encoding(
    angles: tuple[Angle, ...], layout: str, p: int, shift: int
) -> None:
    """Section 3.5: PE(pos + k) is a linear function of PE(pos), a rotation that depends on k alone."""
    here, there = (Sinusoids(angles, (at,), layout).apply() for at in (p, p + shift))
    backwards = Rotate(angles, (-shift,), layout)
    assert backwards.apply(here) == there  # (sin, cos) turns the other way


def test_an_angle_in_radians_by_the_theorems_of_addition() -> None:
    theta = Frequency(10000, 2, 4)
    (c1, s1), (c3, s3), (c2, _) = theta.at(1), theta.at(3), theta.at(2)
    assert sympy.trigsimp(c1 * c3 + s1 * s3 - c2) == 0


@given(st.fractions(-(10**6), 10**6, max_denominator=10**4), st.sampled_from([6, 25, 60]))
def test_sines_and_cosines_are_enclosed(x: Fraction, digits: int) -> None:
    for wave, witness in ((sympy.sin, mpmath.sin), (sympy.cos, mpmath.cos)):
        value = exact(wave(sympy.Rational(x.numerator, x.denominator)))
        with mpmath.workdps(digits + 40):
            truth = Fraction(str(witness(mpmath.mpf(x.numerator) / x.denominator)))
        low, high = map(Fraction, enclose(value, digits))
        slack = Fraction(1, 10 ** (digits + 20))  # of the witness
        assert low - slack <= truth <= high + slack
        assert high - low <= (abs(x) + 1) * Fraction(1, 10 ** (digits - 2))


def test_columns_are_rows_turned() -> None:
    for name, givens in (
        ("positional_encoding", {"E": [[1, 2], [3, 4], [0, 1]]}),
        ("rotary_attention", {"Q": [[1, 2], [0, 1]], "K": [[1, 1], [2, 1]], "V": [[3], [1]]}),
    ):
        upright = run(name, givens)
        columns = run(
            name, {k: [list(c) for c in zip(*v, strict=True)] for k, v in givens.items()}, orientation="columns"
        )
        for step in upright:
            assert columns.value(step.name).T.sympy() == step.result.sympy(), step.name
        self_check(columns)


def test_ranges_contain_what_is_exact() -> None:
    theta = Direction(Fraction(3, 5), Fraction(4, 5))
    unit = Fraction(1, 100)
    box = tuple(tuple(cell(exact(x), unit) for x in row) for row in (("0.25", "-1.10"), ("0.33", "0.67")))
    for tokens in ("rows", "columns"):
        op = Rotate((theta,), (1, 2), "pairs", tokens)
        found = window(op, box)
        for x, y in ((Fraction(1, 4), Fraction(-11, 10)), (Fraction(249, 1000), Fraction(-1101, 1000))):
            rows = Matrix([[x, y], [Fraction(33, 100), Fraction(67, 100)]])
            assert all(
                w.low <= v <= w.high for w, v in zip((w for row in found for w in row), op.apply(rows), strict=True)
            )
    (row,) = window(Sinusoids((Frequency(10000, 0, 2),), (1,)))
    with mpmath.workdps(50):
        truths = [Fraction(str(f(1))) for f in (mpmath.sin, mpmath.cos)]
    assert all(w.low <= truth <= w.high for w, truth in zip(row, truths, strict=True))
    ((w,),) = window(Multiple(2), ((cell(exact("0.5"), unit),),))
    assert (w.low, w.high) == (Fraction("0.99"), Fraction("1.01"))


def test_conventions_say_which_positions_and_angles() -> None:
    d = run("rotary_attention", {"Q": [[1, 2]], "K": [[1, 1]], "V": [[3]]}, angles="3/5+4/5i", first_position=1)
    problem = Problem("", "rotary_attention", d, load_notation("standard"))
    said = str(conventions(problem, wording_of(problem)))
    assert "The positions are" in said
    assert "Neighbouring features form pairs" in said
    assert "The angles are" in said


def test_sines_can_be_typed() -> None:
    assert read("2 + sin(1/100)").value == 2 + sympy.sin(sympy.Rational(1, 100))
    value = exact(3 - sympy.cos(2) / 2)
    assert decide(read(typed(value)).value, value).equal
    assert read("\\cos(0)").value == 1


@pytest.mark.parametrize("seed", range(5))
def test_random_numbers_come_out_well(seed: int) -> None:
    """Whole rotated queries and scores, rows of scores that differ, weights that are neither even nor saturated."""
    chosen = mechanism("rotary_attention")
    assert chosen.draw is not None
    drawn = chosen.draw(Settings.read({**chosen.defaults, **chosen.drawn}), chosen.default_sizes, random.Random(seed))
    q, k = (np.array(drawn[name].rows, dtype=float) for name in "QK")
    theta = [math.pi / 2] * 2
    scores = turned(q, range(3), theta, False) @ turned(k, range(3), theta, False).T / 2
    np.testing.assert_allclose(scores, np.round(scores), rtol=0, atol=1e-12)
    scores = np.round(scores)
    assert len({tuple(row) for row in scores.tolist()}) == 3
    assert all(len(set(row)) == 3 and max(row) - min(row) <= 3 for row in scores.tolist())


@pytest.mark.parametrize("width", [1, 3, 5, 7])
@pytest.mark.parametrize("kind", ["sinusoidal", "sinusoidal-halves"])
@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_an_odd_number_of_features_ends_in_a_sine_without_its_cosine(width: int, kind: str, orientation: str) -> None:
    zeros = np.zeros((3, width) if orientation == "rows" else (width, 3)).astype(int).tolist()
    d = run("positional_encoding", {"E": zeros}, position=kind, wavelength=100, orientation=orientation)
    turns = np.outer(range(3), 100.0 ** (-np.arange(0, width, 2) / width))
    expected = np.zeros((3, width))
    sines, cosines = (
        (slice(0, None, 2), slice(1, None, 2))
        if kind == "sinusoidal"
        else np.split(np.arange(width), [(width + 1) // 2])
    )
    expected[:, sines], expected[:, cosines] = np.sin(turns), np.cos(turns)[:, : width // 2]
    np.testing.assert_allclose(floats(d, "P"), expected if orientation == "rows" else expected.T, atol=1e-12)
    self_check(d)


# ------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("name", "givens", "settings", "words"),
    [
        ("positional_encoding", {"E": [[1, 2]]}, {"angles": "90, 45"}, "angles has 2 angles; 1 or 1"),
        ("positional_encoding", {"E": [[1, 2]]}, {"angles": "1/2+1/2i"}, "squares sum to 1/2"),
        ("positional_encoding", {"E": [[1, 2]]}, {"angles": "sqrt(2)"}, "not a whole number or fraction of degrees"),
        ("positional_encoding", {"E": [[1, 2]]}, {"angles": "right"}, "cannot be read"),
        ("positional_encoding", {"E": [[1, 2]]}, {"wavelength": 0}, "a positive number such as 10000"),
        ("positional_encoding", {"E": [[1, 2]]}, {"position": "rotary"}, "sinusoidal, sinusoidal-halves or learned"),
        ("positional_encoding", {"E": [[1, 2]]}, {"position": "learned"}, "no P is given"),
        ("positional_encoding", {"E": [[1, 2]], "P": [[1, 2]]}, {}, "P is given for learned positions"),
        ("rotary_attention", {"Q": [[1, 2]], "K": [[1, 2]], "V": [[1]]}, {"position": "none"}, "rotary or rotary-"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(name: str, givens: dict[str, object], settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        run(name, givens, **settings)


def test_angles_that_are_stated_need_a_number_of_pairs() -> None:
    chosen = mechanism("rotary_attention")
    settings = Settings.read({**chosen.defaults, **chosen.drawn})
    assert chosen.run(chosen.symbolic({"n": "n", "d_k": 2, "d_v": 1}, settings), settings, staged=True)
    with pytest.raises(InputError, match="Angles are stated for every pair of features, so their number cannot be d_k"):
        chosen.run(chosen.symbolic({"n": 2, "d_k": "d_k", "d_v": 1}, settings), settings)


def test_a_rotation_of_another_width_is_a_wrong_shape() -> None:
    with pytest.raises(ShapeError, match="needs 2 features"):
        Rotate((Degrees(90),), (0,)).shape((1, 3))
    with pytest.raises(ShapeError, match="2 positions needs as many tokens"):
        Rotate((Degrees(90),), (0, 1)).shape((1, 2))


# ------------------------------------------------------------------------------------------------ misconceptions

E, W_Q, W_K, W_V = (
    np.array(rows)
    for rows in (
        [[1, 0, 2, -1], [0, 1, -1, 1], [2, 1, 0, 1]],
        [[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, -1, 0], [0, 0, 1, 1]],
        [[0, 1, 1, 0], [1, 0, 0, -1], [0, 1, 0, 1], [1, 0, 0, 0]],
        [[1, 0], [0, 1], [1, 1], [0, 2]],
    )
)
THETAS = [math.pi / 2, THREE_FOUR]
PAPER = {"angles": "90, 3/5+4/5i"}


def attended(x: np.ndarray, q: object = 0, k: object = 0, v: object = 0) -> np.ndarray:
    """Self-attention with these weights, and something added to queries, keys and values."""
    return numpy_attention(x @ W_Q + q, x @ W_K + k, x @ W_V + v, scale=2.0)["Z"]


def wrong(id: str, d: Derivation, step: str) -> np.ndarray:
    found = misconception(id).on(d)
    assert found is not None
    assert found.first is not None
    return np.array([[float(decimal_text(x, 15)) for x in row] for row in found.value(step).rows])


def test_what_comes_of_positions_added_wrongly() -> None:
    givens = {"E": E.tolist(), "W_Q": W_Q.tolist(), "W_K": W_K.tolist(), "W_V": W_V.tolist()}
    d = run("positional_self_attention", givens, embedding="scaled", **PAPER)
    p, scaled = sinusoids(range(3), THETAS, halves=False), 2 * E
    late = sinusoids(range(1, 4), THETAS, halves=False)
    swapped = p[:, [1, 0, 3, 2]]
    expected = {"E2": scaled + late, "E3": scaled + swapped, "E5": E + p, "E6": scaled}
    for id, x in expected.items():
        np.testing.assert_allclose(wrong(id, d, "X"), x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(wrong(id, d, "Z"), attended(x), rtol=0, atol=1e-10)
    concatenated = misconception("E4").on(d)
    assert concatenated is not None
    assert concatenated.stopped.startswith("Q is not defined")
    np.testing.assert_allclose(wrong("E4", d, "X"), np.hstack([scaled, p]), rtol=0, atol=1e-12)
    narrow = misconception("E1").on(d)
    assert narrow is not None
    assert narrow.stopped.startswith("V is not defined")
    wide = run("positional_self_attention", {**givens, "W_V": W_Q.tolist()}, embedding="scaled", **PAPER)
    own = numpy_attention(scaled @ W_Q + p, scaled @ W_K + p, scaled @ W_Q + p, scale=2.0)["Z"]
    np.testing.assert_allclose(wrong("E1", wide, "Z"), own, rtol=0, atol=1e-10)


def test_what_comes_of_turning_wrongly() -> None:
    q, k, v = E, E @ W_Q, E[:, :4] @ W_K
    d = run("rotary_attention", {"Q": q.tolist(), "K": k.tolist(), "V": v.tolist()}, **PAPER)

    def turn(x: np.ndarray, first: int = 0, sign: int = 1, halves: bool = False) -> np.ndarray:
        return turned(x, range(first, first + 3), [sign * theta for theta in THETAS], halves)

    expected = {
        "E6": (q, k, v),
        "E7": (turn(q), turn(k), turn(v)),
        "E8": (turn(q), k, v),
        "E9": (turn(q), turn(k, first=1), v),
        "E10": (turn(q, sign=-1), turn(k, sign=-1), v),
        "E11": (turn(q, halves=True), turn(k, halves=True), v),
        "E12": (q, k, v),
        "E13": (turn(q, first=1), turn(k, first=1), v),
    }
    for id, operands in expected.items():
        output = numpy_attention(*operands, scale=2.0)["Z"]
        np.testing.assert_allclose(wrong(id, d, "Z"), output, rtol=0, atol=1e-10, err_msg=id)
    assert all(misconception(f"E{i}").on(d) is None for i in range(1, 6))
    one_pair = run("rotary_attention", {"Q": [[1, 2]], "K": [[1, 1]], "V": [[3]]})
    assert misconception("E11").on(one_pair) is None
    assert misconception("E7").on(one_pair) is None


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("notation", ["standard", "columns", "note-000"])
def test_what_is_said_to_students_names_what_is_there(notation: str) -> None:
    said, words = set(), {word: word for word in ("row", "rows", "column", "columns")}
    added = {"E": E.tolist(), "W_Q": W_Q.tolist(), "W_K": W_K.tolist(), "W_V": W_V.tolist()}
    rotated = {"Q": E.tolist(), "K": (E @ W_Q).tolist(), "V": E.tolist()}
    blocks = {"Q": E.tolist(), "K": E.tolist(), "V": E.tolist()}
    for name, givens, settings in (
        ("positional_self_attention", added, {"embedding": "scaled", **PAPER}),
        ("rotary_attention", rotated, PAPER),
        ("online_softmax", blocks, {"tile": 2}),
        ("kv_cache", {"X": E.tolist(), **{k: v for k, v in added.items() if k != "E"}}, {}),
    ):
        d = mechanism(name).run(givens, Settings.read({**mechanism(name).defaults, **settings}))
        wording = Wording(d, load_notation(notation))
        for wrong in replayed(d):
            said.add(wrong.misconception.id)
            for part in spans(wording.inlines(wrong.misconception.feedback, words)):
                assert isinstance(part, Math) or not set(part.text) & set("{}$@")
    assert {*(f"E{i}" for i in range(1, 13)), *(f"F{i}" for i in range(1, 8))} <= said


# ------------------------------------------------------------------------------------------------ angles as typed


@pytest.mark.parametrize(
    ("typed", "radians"),
    [
        ("90", math.pi / 2), ("1/2 rad", 0.5), ("0.25rad", 0.25), ("-3 rad", -3), ("pi/6", math.pi / 6),
        ("2π/3", 2 * math.pi / 3), ("-pi", -math.pi), ("3*pi/4 rad", 3 * math.pi / 4), ("3/5+4/5i", math.atan2(4, 3)),
    ],
)  # fmt: skip
def test_an_angle_in_degrees_in_radians_or_by_its_cosine(typed: str, radians: float) -> None:
    givens = {"Q": [[1, 2], [3, -1]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
    d = run("rotary_attention", givens, angles=typed)
    q = np.array(givens["Q"], dtype=float)
    np.testing.assert_allclose(floats(d, "R_Q"), turned(q, range(2), [radians], False), rtol=0, atol=1e-12)
    self_check(d)
    solution = derive("rotary_attention", **givens, angles=typed)
    assert solution.text("text")
    assert solution.text("notebook")


def test_rotary_positions_are_those_of_the_paper_unless_others_are_stated() -> None:
    """θ_k = 10000^(−2(k − 1)/d) (Su et al. 2021, section 3.2.2)."""
    rng = random.Random(8)
    q, k, v = (np.array([[rng.randint(-2, 2) for _ in range(4)] for _ in range(3)], dtype=float) for _ in range(3))
    solution = derive(
        "rotary_attention", **{name: m.astype(int).tolist() for name, m in zip("QKV", (q, k, v), strict=True)}
    )
    theta = [1, 10000**-0.5]
    scores = turned(q, range(3), theta, False) @ turned(k, range(3), theta, False).T / 2
    powers = np.exp(scores)
    expected = powers / powers.sum(1, keepdims=True) @ v
    np.testing.assert_allclose(floats(solution.derivation, "Z"), expected, rtol=0, atol=1e-12)
    assert solution.text()


@pytest.mark.parametrize("typed", ["x", "sqrt(2) rad", "pi/0"])
def test_what_is_no_angle_is_one_sentence(typed: str) -> None:
    with pytest.raises(InputError, match="angle"):
        run("rotary_attention", {"Q": [[1, 2]], "K": [[1, 0]], "V": [[1]]}, angles=typed)


@pytest.mark.parametrize("position", ["rotary", "rotary-halves"])
def test_projections_and_rotary_positions_in_one_mechanism(position: str) -> None:
    """What rotary attention makes of Q, K and V that are projected beforehand."""
    rng = random.Random(3)
    e, q, k, v = ([[rng.randint(-2, 2) for _ in range(4)] for _ in range(rows)] for rows in (3, 4, 4, 4))
    settings = {"position": position, "angles": "3/5+4/5i", "mask": "causal", "arithmetic": "exact"}
    whole = run("positional_self_attention", {"E": e, "W_Q": q, "W_K": k, "W_V": v}, **settings)
    projected = {role: (np.array(e) @ np.array(w)).tolist() for role, w in (("Q", q), ("K", k), ("V", v))}
    assert whole.value("Z") == run("rotary_attention", projected, **settings).value("Z")
    scaled = run("positional_self_attention", {"E": e, "W_Q": q, "W_K": k, "W_V": v}, embedding="scaled", **settings)
    doubled = {role: (2 * np.array(rows)).tolist() for role, rows in projected.items()}
    assert scaled.value("Z") == run("rotary_attention", doubled, **settings).value("Z")


def test_learned_positions_are_not_given_where_positions_turn() -> None:
    eye = [[1, 0], [0, 1]]
    with pytest.raises(InputError, match="position is 'rotary', and P is given"):
        run("positional_self_attention", {"E": eye, "W_Q": eye, "W_K": eye, "W_V": eye, "P": eye}, position="rotary")
