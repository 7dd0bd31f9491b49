"""The end of multi-head attention alone: the weights of every head given, values mixed, heads put together, and W_O."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import Rows, dull, first_success, number, output_weights, side_by_side
from symattn.derivation.mechanisms.multi_head_attention import combine, own_part
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import Scope, mix
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.foundation.dice import pick, picks, sample, whole


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    h = settings.heads
    if h == 1:
        raise InputError("The weights of a single head are mixed by weighted_values; 2 heads or more were expected.")
    for i in range(1, h + 1):
        scope = Scope(i, of=h)
        d, values = own_part(d, settings, "V", scope, h, scope)
        d = mix(d, settings, scope, values)
    return combine(d, settings)


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Weights in quarters, fifths or tenths, and values that differ by multiples of 4, 5 or 10: outputs are whole."""
    h, n, m, d_v = settings.heads, number(sizes, "n"), number(sizes, "m"), number(sizes, "d_v")
    denominators = [pick(rng, (4, 5) if m < 4 else (10,)) for _ in range(h)]
    weights = [first_success(partial(_weights, n, m, of, rng), "rows of weights that differ") for of in denominators]
    values = [first_success(partial(_values, m, d_v, of, rng), "values that differ") for of in denominators]
    outputs = first_success(lambda: output_weights(h, d_v, number(sizes, "d_out"), rng), "outputs that differ")
    return {
        **{f"A_{i}": w for i, w in enumerate(weights, 1)},
        "V": Matrix(side_by_side(values, settings)),
        "W_O": Matrix(outputs),
    }


def _weights(n: int, m: int, of: int, rng: Random) -> Matrix | None:
    """Rows of positive fractions over one denominator that sum to 1; None if two are equal or all are uniform, or
    where they make a symmetric matrix."""
    rows = []
    for _ in range(n):
        cuts = [0, *sorted(sample(rng, range(1, of), m - 1)), of]
        rows.append(tuple(Fraction(b - a, of) for a, b in pairwise(cuts)))
    weights = Matrix(rows)
    uniform = all(len(set(row)) == 1 < m for row in rows)
    return None if uniform or len(set(rows)) < n or weights == weights.T else weights


LARGEST = 9
"""The largest size of values."""


def _values(m: int, d_v: int, step: int, rng: Random) -> Rows | None:
    """Values up to `LARGEST`, those of one feature apart by multiples of `step` and not all the same."""

    def column() -> list[int]:
        first = whole(rng, -4, 4)
        others = [x for x in (first - step, first, first + step) if abs(x) <= LARGEST]
        return [first, *picks(rng, others, m - 1)]

    columns = [column() for _ in range(d_v)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return rows if not dull(rows) and all(len(set(column)) > 1 for column in columns) else None


def complaint(d: Derivation) -> str:
    """Why heads are not worth setting beside one another: two have the same weights; "" if none have."""
    weights = [(name, m) for name, m in d.givens.items() if name.startswith("A_")]
    for i, (name, m) in enumerate(weights):
        for other, n in weights[:i]:
            if m == n:
                return f"{other} and {name} are equal"
    return ""


MECHANISM = Mechanism(
    name="weighted_heads",
    title="Given the weights: putting heads together",
    givens={"A_{head}": ("n", "m"), "V": ("m", "h*d_v"), "W_O": ("h*d_v", "d_out")},
    optional={"b_O": ("1", "d_out")},
    defaults={"heads": 2},
    uses=frozenset({"heads", "split"}),
    default_sizes={"n": 2, "m": 2, "d_v": 2, "d_out": 4},
    derive=derive,
    draw=draw,
    complaint=complaint,
)
