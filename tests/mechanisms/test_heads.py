"""Multi-head attention: the laws that it has to keep, exactly, and PyTorch as its witness."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import InputError
from symattn.exact import Matrix, Outline
from symattn.exact.approximate import approximate
from symattn.teaching.fairness import draw

HEADS = mechanism("multi_head_attention")


def integers(rng: random.Random, rows: int, columns: int) -> Matrix:
    return Matrix([[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)])


def floats(matrix: Matrix) -> np.ndarray:
    return np.array([[approximate(x) for x in row] for row in matrix.rows])


def run(givens: dict[str, Matrix], **settings: object) -> Derivation:
    return HEADS.run(givens, Settings.read({"heads": 2, **settings}))


def problem(
    rng: random.Random, n: int = 3, d_model: int = 4, d_k: int = 2, d_v: int = 2, heads: int = 2, groups: int = 0
) -> dict[str, Matrix]:
    """Random givens of the right shapes."""
    g = groups or heads
    shapes = {
        "X": (n, d_model),
        "W_Q": (d_model, heads * d_k),
        "W_K": (d_model, g * d_k),
        "W_V": (d_model, g * d_v),
        "W_O": (heads * d_v, d_model),
    }
    return {name: integers(rng, *shape) for name, shape in shapes.items()}


def columns(m: Matrix, *chosen: int) -> Matrix:
    return Matrix([[row[j] for j in chosen] for row in m.rows])


def rows(m: Matrix, *chosen: int) -> Matrix:
    return Matrix([m.rows[i] for i in chosen])


SEEDS = st.integers(0, 10**6)
MASKS = st.sampled_from([None, "causal"])


# ------------------------------------------------------------------------------------------ laws


@given(SEEDS, MASKS, st.sampled_from(["consecutive", "interleaved"]))
def test_a_head_alone_is_single_head_attention(seed: int, mask: str | None, split: str) -> None:
    givens = problem(random.Random(seed), heads=2, d_k=2, d_v=3)
    d = run(givens, mask=mask, split=split)
    for head in (0, 1):
        own = {"Q": 2, "K": 2, "V": 3}
        parts = {
            f"W_{role}": columns(
                givens[f"W_{role}"],
                *(range(head * w, (head + 1) * w) if split == "consecutive" else range(head, 2 * w, 2)),
            )
            for role, w in own.items()
        }
        alone = mechanism("self_attention").run({"X": givens["X"], **parts}, Settings.read({"mask": mask}))
        for stem in ("S", "S'", "A", "Z"):
            assert d.value(f"{stem}_{head + 1}") == alone.value(stem)


@given(SEEDS, st.sampled_from([(2, 1), (4, 2), (4, 1)]))
def test_shared_keys_are_equal_keys(seed: int, counts: tuple[int, int]) -> None:
    """Heads that share keys and values are heads with keys and values of their own that are the same."""
    heads, groups = counts
    givens = problem(random.Random(seed), n=2, d_k=1, d_v=2, heads=heads, groups=groups)
    each = heads // groups
    repeated = {
        **givens,
        "W_K": columns(givens["W_K"], *(i // each for i in range(heads))),
        "W_V": columns(givens["W_V"], *(2 * (i // each) + j for i in range(heads) for j in (0, 1))),
    }
    shared = run(givens, heads=heads, kv_heads=groups)
    assert shared.value("O") == run(repeated, heads=heads).value("O")


@given(SEEDS, st.permutations(range(3)))
def test_tokens_in_another_order_give_their_outputs_in_that_order(seed: int, order: list[int]) -> None:
    givens = problem(random.Random(seed))
    moved = {**givens, "X": rows(givens["X"], *order)}
    assert rows(run(givens).value("O"), *order) == run(moved).value("O")  # type: ignore[arg-type]


@given(SEEDS)
def test_without_w_o_the_heads_side_by_side_are_the_result(seed: int) -> None:
    givens = problem(random.Random(seed))
    whole = run(givens)
    short = run({name: m for name, m in givens.items() if name != "W_O"})
    assert short.last.name == "C"
    assert short.value("C") == whole.value("C")
    assert tuple(row[:2] for row in short.last.result.rows) == short.value("Z_1").rows  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------ what is refused


def test_heads_of_a_width_in_letters() -> None:
    shapes = {"X": ("n", "d"), "W_Q": ("d", "k"), "W_K": ("d", "k"), "W_V": ("d", "k")}
    with pytest.raises(
        InputError, match=r"the columns of W_Q must be a number or as 2\*k, so that a head has some of them, not k"
    ):
        HEADS.run({name: Outline(shape) for name, shape in shapes.items()}, Settings.read({"heads": 2}))
    shapes = {name: (rows, "2*k" if columns == "k" else columns) for name, (rows, columns) in shapes.items()}
    d = HEADS.run({name: Outline(shape) for name, shape in shapes.items()}, Settings.read({"heads": 2}))
    assert d["Z_2"].result.shape == ("n", "k")
    assert d["C"].result.shape == ("n", "2*k")


def test_one_head_ends_at_z_or_o() -> None:
    givens = problem(random.Random(5), heads=1)
    assert run(givens, heads=1).last.name == "O"
    del givens["W_O"]
    assert run(givens, heads=1).last.name == "Z"


# ------------------------------------------------------------------------------------------ random worksheets


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    "settings",
    [{}, {"mask": "causal"}, {"kv_heads": 1}, {"split": "interleaved"}, {"orientation": "columns"}, {"base": 2}],
    ids=str,
)
def test_random_numbers_are_worth_setting(settings: dict[str, object]) -> None:
    """Scaled scores are whole, no row of weights is saturated, and heads weigh differently: judged in NumPy."""
    chosen = Settings.read({**HEADS.defaults, **settings})
    for seed in range(3):
        givens = draw(HEADS, chosen, HEADS.default_sizes, random.Random(seed)).givens
        x, w_q, w_k = (floats(givens[name]) for name in ("X", "W_Q", "W_K"))
        if chosen.orientation == "columns":
            x, w_q, w_k = x.T, w_q.T, w_k.T
        patterns = []
        for head in (0, 1):
            own = slice(head, None, 2) if chosen.split == "interleaved" else slice(4 * head, 4 * head + 4)
            k = (x @ w_k)[:, own] if not chosen.kv_heads else x @ w_k
            scaled = (x @ w_q)[:, own] @ k.T / 2
            assert np.array_equal(scaled, scaled.round())
            gaps = scaled[:, 1] - scaled[:, 0]
            seen = gaps[1:] if chosen.mask else gaps
            base = np.e if chosen.base == "e" else 2.0
            assert all(0.5 < 1 / (1 + base ** -abs(gap)) <= 0.95 for gap in seen)
            patterns.append(tuple(seen))
        assert patterns[0] != patterns[1]


# ------------------------------------------------------------------------------------------ PyTorch


# ------------------------------------------------------------------------------------------------ a bias for each head
