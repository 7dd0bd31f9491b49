"""Multi-head attention: the laws that it has to keep, exactly, and PyTorch as its witness."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, custom, mechanism
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, Outline
from symattn.exact.approximate import approximate
from symattn.teaching.fairness import draw, self_check

HEADS = mechanism("multi_head_attention")
TOLERANCE = 1e-10


def integers(rng: random.Random, rows: int, columns: int) -> Matrix:
    return Matrix([[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)])


def fractions(rng: random.Random, rows: int, columns: int) -> Matrix:
    return Matrix([[Fraction(rng.randint(-6, 6), rng.randint(1, 4)) for _ in range(columns)] for _ in range(rows)])


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


def masked_by(keep: list[list[int]] | None) -> dict[str, object]:
    return {"mask": keep} if keep else {}


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


@pytest.mark.slow
@given(SEEDS, MASKS)
def test_heads_may_change_places_together_with_the_rows_of_w_o(seed: int, mask: str | None) -> None:
    givens = problem(random.Random(seed), heads=3, d_k=1, d_v=2)
    order = (2, 0, 1)
    moved = {
        "X": givens["X"],
        "W_Q": columns(givens["W_Q"], *order),
        "W_K": columns(givens["W_K"], *order),
        "W_V": columns(givens["W_V"], *(2 * i + j for i in order for j in (0, 1))),
        "W_O": rows(givens["W_O"], *(2 * i + j for i in order for j in (0, 1))),
    }
    settings = {"heads": 3, "mask": mask}
    one, other = run(givens, **settings), run(moved, **settings)
    assert [one.value(f"Z_{i + 1}") for i in order] == [other.value(f"Z_{i}") for i in (1, 2, 3)]
    assert one.value("O") == other.value("O")


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


@given(SEEDS, MASKS, st.sampled_from(["consecutive", "interleaved"]), st.sampled_from([(2, 0), (2, 1), (1, 0)]))
def test_tokens_as_columns_give_the_transpose(seed: int, mask: str | None, split: str, heads: tuple[int, int]) -> None:
    givens = problem(random.Random(seed), heads=heads[0], groups=heads[1])
    settings = {"heads": heads[0], "kv_heads": heads[1], "mask": mask, "split": split}
    upright = run(givens, **settings)
    turned = run({name: m.T for name, m in givens.items()}, **settings, orientation="columns")
    assert [step.name for step in upright] == [step.name for step in turned]
    assert all(turned.value(step.name) == step.result.T for step in upright)
    self_check(turned)


@given(SEEDS)
def test_without_w_o_the_heads_side_by_side_are_the_result(seed: int) -> None:
    givens = problem(random.Random(seed))
    whole = run(givens)
    short = run({name: m for name, m in givens.items() if name != "W_O"})
    assert short.last.name == "C"
    assert short.value("C") == whole.value("C")
    assert tuple(row[:2] for row in short.last.result.rows) == short.value("Z_1").rows  # type: ignore[union-attr]


def test_the_interleaved_split_puts_heads_together_one_after_the_other() -> None:
    """Declared: every second column makes a head, and C is [Z_1 Z_2] all the same."""
    x, one = Matrix([[1, 0], [0, 1]]), Matrix([[0, 0], [0, 0]])
    values = Matrix([[1, 2, 3, 4], [5, 6, 7, 8]])  # equal scores: every output is the mean of the values
    d = run({"X": x, "W_Q": one, "W_K": one, "W_V": values}, split="interleaved")
    assert d.value("V_1") == Matrix([[1, 3], [5, 7]])
    assert d.value("V_2") == Matrix([[2, 4], [6, 8]])
    assert d.value("C") == Matrix([[3, 5, 4, 6], [3, 5, 4, 6]])


# ------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("heads", "width", "message"),
    [(3, 4, "3 heads cannot share evenly"), (2, 3, "2 heads cannot share evenly")],
)
def test_widths_that_heads_cannot_share(heads: int, width: int, message: str) -> None:
    givens = {name: m for name, m in problem(random.Random(1)).items() if name != "W_O"}
    givens["W_V"] = integers(random.Random(2), 4, width)
    if heads == 3:
        givens |= {name: integers(random.Random(3), 4, 3) for name in ("W_Q", "W_K")}
    with pytest.raises(ShapeError, match=message):
        run(givens, heads=heads)


def test_heads_that_cannot_share_keys_evenly() -> None:
    with pytest.raises(InputError, match="4 heads cannot share 3 key and value heads"):
        Settings.read({"heads": 4, "kv_heads": 3})


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


def test_a_head_in_a_problem_file() -> None:
    """Columns 3 and 4; then every second row from the first."""
    steps: list[dict[str, object]] = [
        {"name": "Q_2", "op": "part", "operands": ["Q"], "first": 3, "count": 2},
        {"name": "R", "op": "part", "operands": ["Q_2"], "count": 2, "every": 2, "of": "rows"},
    ]
    d = custom.run({"Q": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]}, steps)
    assert d.value("Q_2") == Matrix([[3, 4], [7, 8], [11, 12]])
    assert d.value("R") == Matrix([[3, 4], [11, 12]])
    with pytest.raises(InputError, match="first is 0; a whole number from 1 was expected"):
        custom.run({"Q": [[1]]}, [{"name": "P", "op": "part", "operands": ["Q"], "first": 0}])
    with pytest.raises(ShapeError, match="column 2 is asked for"):
        custom.run({"Q": [[1]]}, [{"name": "P", "op": "part", "operands": ["Q"], "first": 2}])


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
    for seed in range(8):
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


def test_agrees_with_torch_multihead_attention() -> None:
    """All settings that nn.MultiheadAttention has: biases, masks, heads, inputs of other widths; 40 random problems."""
    torch = pytest.importorskip("torch")
    for seed in range(40):
        rng = random.Random(seed)
        n, h, d = rng.randint(1, 4), rng.choice((1, 2, 3)), rng.choice((1, 2))
        e = h * d
        biased, mask = rng.random() < 0.5, rng.choice(("none", "causal", "rows"))
        seen = [[1 if i == j else rng.randint(0, 1) for j in range(n)] for i in range(n)]
        names = ("W_Q", "W_K", "W_V", "W_O")
        givens = {"X": fractions(rng, n, e), **{name: fractions(rng, e, e) for name in names}}
        if biased:
            givens |= {name.replace("W", "b"): fractions(rng, 1, e) for name in names}
        layer = torch.nn.MultiheadAttention(e, h, bias=biased, batch_first=True, dtype=torch.float64).eval()
        with torch.no_grad():
            layer.in_proj_weight.copy_(torch.tensor(np.hstack([floats(givens[name]) for name in names[:3]]).T))
            layer.out_proj.weight.copy_(torch.tensor(floats(givens["W_O"]).T))
            if biased:
                layer.in_proj_bias.copy_(torch.tensor(np.hstack([floats(givens[f"b_{r}"])[0] for r in "QKV"])))
                layer.out_proj.bias.copy_(torch.tensor(floats(givens["b_O"])[0]))
            x = torch.tensor(floats(givens["X"]))[None]
            hidden = {"none": None, "causal": np.triu(np.ones((n, n)), 1), "rows": 1 - np.array(seen)}[mask]
            attn_mask = None if hidden is None else torch.tensor(hidden, dtype=torch.bool)
            expected, weights = layer(x, x, x, attn_mask=attn_mask, average_attn_weights=False)
        d = run(givens, heads=h, mask=seen if mask == "rows" else mask)
        assert np.abs(floats(d.value("O")) - expected[0].numpy()).max() < TOLERANCE
        for head in range(h):
            own = floats(d.value(f"A_{head + 1}" if h > 1 else "A"))
            assert np.abs(own - weights[0, head].numpy()).max() < TOLERANCE


def test_agrees_with_torch_where_keys_and_values_have_other_widths() -> None:
    """kdim and vdim: keys and values of one memory, as in cross-attention with several heads."""
    torch = pytest.importorskip("torch")
    cross = mechanism("cross_attention")
    for seed in range(20):
        rng = random.Random(1000 + seed)
        n, m, h, source = rng.randint(1, 3), rng.randint(1, 4), rng.choice((1, 2)), rng.choice((1, 3))
        e = 2 * h
        givens = {
            "X": fractions(rng, n, e),
            "E": fractions(rng, m, source),
            "W_Q": fractions(rng, e, e),
            "W_K": fractions(rng, source, e),
            "W_V": fractions(rng, source, e),
            "W_O": fractions(rng, e, e),
        }
        layer = torch.nn.MultiheadAttention(
            e, h, bias=False, kdim=source, vdim=source, batch_first=True, dtype=torch.float64
        ).eval()
        with torch.no_grad():
            for parameter, name in (("q_proj_weight", "W_Q"), ("k_proj_weight", "W_K"), ("v_proj_weight", "W_V")):
                getattr(layer, parameter).copy_(torch.tensor(floats(givens[name]).T))
            layer.out_proj.weight.copy_(torch.tensor(floats(givens["W_O"]).T))
            x, memory = (torch.tensor(floats(givens[name]))[None] for name in ("X", "E"))
            expected, _ = layer(x, memory, memory)
        d = cross.run(givens, Settings.read({"heads": h}))
        assert np.abs(floats(d.value("O")) - expected[0].numpy()).max() < TOLERANCE


def test_grouped_queries_agree_with_torch() -> None:
    """scaled_dot_product_attention with enable_gqa, with masks, a bias that is added, and any scale."""
    torch = pytest.importorskip("torch")
    for seed in range(40):
        rng = random.Random(2000 + seed)
        h, g = rng.choice(((2, 1), (4, 2), (4, 1), (3, 1), (2, 2)))
        n, d_k, d_v = rng.randint(1, 3), rng.choice((1, 2, 4)), rng.choice((1, 2))
        givens = problem(rng, n, 3, d_k, d_v, h, g)
        del givens["W_O"]
        kind, scale = rng.choice(("none", "causal", "bias")), rng.choice(("sqrt(d_k)", "3", "none"))
        if kind == "bias":
            givens["B"] = fractions(rng, n, n)
        x = floats(givens["X"])
        q, k, v = (
            torch.tensor((x @ floats(givens[f"W_{role}"])).reshape(n, heads, -1).swapaxes(0, 1))
            for role, heads in (("Q", h), ("K", g), ("V", g))
        )
        expected = torch.nn.functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=torch.tensor(floats(givens["B"])) if kind == "bias" else None,
            is_causal=kind == "causal",
            scale={"sqrt(d_k)": None, "3": 1 / 3, "none": 1.0}[scale],
            enable_gqa=True,
        )
        d = run(givens, heads=h, kv_heads=g, scale=scale, mask="causal" if kind == "causal" else None)
        found = floats(d.value("C"))
        assert np.abs(found - expected.numpy().swapaxes(0, 1).reshape(n, -1)).max() < TOLERANCE


# ------------------------------------------------------------------------------------------------ a bias for each head


def test_a_bias_for_each_head_is_the_mask_of_torch_for_each_head() -> None:
    """Finite biases and −∞, one matrix for a head, as `attn_mask` of shape (heads, n, n)."""
    torch = pytest.importorskip("torch")
    rng = random.Random(5)
    x, q, k, v, o = ([[rng.randint(-2, 2) for _ in range(4)] for _ in range(4)] for _ in range(5))
    biases = [[[rng.choice([0, 1, -1]) for _ in range(4)] for _ in range(4)] for _ in range(2)]
    biases[0][1][2] = biases[1][3][0] = float("-inf")
    module = torch.nn.MultiheadAttention(4, 2, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.tensor(np.vstack([np.array(w).T for w in (q, k, v)])))
        module.out_proj.weight.copy_(torch.tensor(o).T)
        inputs = torch.tensor([x], dtype=torch.float64)
        expected, _ = module(inputs, inputs, inputs, attn_mask=torch.tensor(biases, dtype=torch.float64))
    given = {"X": x, "W_Q": q, "W_K": k, "W_V": v, "W_O": o, "B_1": biases[0], "B_2": biases[1]}
    d = mechanism("multi_head_attention").run(given, Settings.read({"heads": 2, "arithmetic": "decimal"}))
    assert np.allclose([[approximate(entry) for entry in row] for row in d.value("O").rows], expected[0])


@pytest.mark.parametrize(
    ("biases", "says"),
    [
        ({"B_1": [[0, 0], [0, 0]]}, "A bias is given for some heads, and B_2 is missing"),
        ({"B": [[0, 0], [0, 0]], "B_1": [[0, 0], [0, 0]], "B_2": [[0, 0], [0, 0]]}, "for all heads and as B_1"),
        ({"B_3": [[0, 0], [0, 0]]}, "has no given 'B_3'"),
    ],
)
def test_a_bias_is_given_for_all_heads_or_for_none(biases: dict[str, object], says: str) -> None:
    eye = [[1, 0], [0, 1]]
    with pytest.raises(InputError, match=says):
        mechanism("multi_head_attention").run(
            {"X": eye, "W_Q": eye, "W_K": eye, "W_V": eye, **biases}, Settings.read({"heads": 2})
        )


def test_the_bias_of_the_only_head_is_added() -> None:
    eye = [[1, 0], [0, 1]]
    given = {"X": eye, "W_Q": eye, "W_K": eye, "W_V": eye, "B_1": [[0, 5], [0, 0]]}
    d = mechanism("multi_head_attention").run(given, Settings.read({"heads": 1, "scale": "none"}))
    assert d.value("S_B") == Matrix([[1, 5], [0, 1]])
