"""The window of a result holds whatever may be meant by rounded numbers, and its ends are reached."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from symattn.derivation.ops.attention import Softmax, SoftmaxGradient, SoftmaxJacobian
from symattn.derivation.ops.entrywise import (
    Activation,
    ActivationGradient,
    Divide,
    DivisorGradient,
    Exponential,
    Opposite,
    SquareRoot,
    Subtract,
    ToFloat,
)
from symattn.derivation.ops.gradient import InfinityNorm, Slope, Total
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Multiple, ProductSum, Scale, Stack, SumOver, Transpose
from symattn.derivation.ops.normalisation import Mean, MeanSquare, NormGradient, Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import Direction, Frequency, Rotate, Sinusoids
from symattn.derivation.ops.scores import FeatureMap, Hardmax, Over, OverSum, SoftCap, SoftCapGradient
from symattn.derivation.ops.words import ArgMax, CrossEntropyGradient, TopK
from symattn.derivation.windows import HIDDEN
from symattn.exact import Matrix, square_root
from symattn.exact.rounding import approximate
from symattn.marking.marker.windows import cell, window

TENTH = Fraction(1, 10)
TURN = (Direction(Fraction(3, 5), Fraction(4, 5)),)
LINE, ROW, COLUMN = [["1.2", "-0.3"]], [["1.5", "2.1"]], [["1.5"], ["0.8"]]
TWO = [["1.0", "2.0"], ["0.4", "-1.2"]]
WEIGHTS = [["0.3", "0.7"]]
POSITIVE = [["1.4", "2.3"], ["0.9", "1.7"]]

REACHED = [
    (MatMul(), [TWO, POSITIVE]),
    *((op, [TWO, POSITIVE]) for op in (Add(), Hadamard(), Stack("rows"), Stack("columns"))),
    *((Hadamard(), [TWO, line]) for line in (ROW, COLUMN)),
    *((op, [TWO]) for op in (Transpose(), Scale(-3), Scale(Fraction(1, 2)), Scale(square_root(3), "sqrt(d_k)"))),
    *((SumOver(along), [TWO]) for along in ("rows", "columns")),
    *((Activation(function), [TWO]) for function in ("identity", "relu")),
    (SoftCap(Fraction(3, 2)), [LINE]),
    (OverSum(), [POSITIVE[:1]]),
    (Softmax(), [LINE]),
    *((FeatureMap(feature), [LINE]) for feature in ("elu+1", "relu", "identity")),
    (Mean(), [TWO]),
    (Mean("rows"), [TWO]),
    (MeanSquare(), [TWO]),
    (MeanSquare("rows"), [TWO]),
    (Rescale(), [TWO, COLUMN]),
    (Subtract(), [POSITIVE, ROW]),
    (Divide(), [TWO, COLUMN]),
    (Divide(), [POSITIVE, [["1.5"]]]),
    (Over(), [LINE, COLUMN[:1]]),
    (Opposite(), [TWO]),
    (Exponential(), [TWO]),
    (Exponential(Fraction(1, 2)), [TWO]),
    (SquareRoot(), [POSITIVE]),
    (Slope("sigmoid"), [[["0.3", "0.8"]]]),
    (Slope("tanh"), [[["0.3", "-0.8"]]]),
    (Slope("relu"), [[["0.3", "-0.8"]]]),
    (InfinityNorm(), [TWO]),
    (InfinityNorm("columns"), [TWO]),
    (RunningMaximum(), [LINE, [["1.1"]]]),
    (RunningMaximum("columns"), [COLUMN, [["1.2"]]]),
    (Exponentials(base=2), [TWO, COLUMN]),
    (Accumulate(), [COLUMN, POSITIVE, TWO]),
    (Multiple(2), [TWO]),
    (Rotate(TURN, (1, 2), "pairs"), [TWO]),
    (Rotate(TURN, (1, 2), "pairs", "columns"), [TWO]),
]
HELD = [
    (Hardmax(), [LINE]),
    (FeatureMap("square"), [[["0.1", "-0.04"]]]),
    (Variance(), [TWO, [["1.5"], ["-0.4"]]]),
    (Variance("sample"), [TWO, [["1.5"], ["-0.4"]]]),
    (Variance("population", "rows"), [TWO, [["0.7", "0.4"]]]),
    (Standardise(), [TWO, [["1.5"], ["-0.4"]], [["0.3"], ["0.6"]]]),
    (Standardise(Fraction(1, 4)), [TWO, [["1.5"], ["-0.4"]], [["0.3"], ["0.6"]]]),
    (ToFloat(), [POSITIVE]),
    (DivisorGradient(), [TWO, POSITIVE, ROW]),
    (Sinusoids((Frequency(10000, 0, 2),), (1,)), []),
    (TopK(1), [ROW]),
    (ArgMax(), [ROW]),
    (SoftmaxJacobian(), [WEIGHTS]),
    (SoftmaxGradient(), [[*WEIGHTS, *WEIGHTS], TWO]),
    (SoftmaxGradient("columns", 2), [POSITIVE, TWO]),
    *((ActivationGradient(function), [TWO, POSITIVE]) for function in ("relu", "tanh", "sigmoid")),
    (SoftCapGradient(3), [TWO, POSITIVE]),
    (NormGradient(), [TWO, POSITIVE, COLUMN]),
    (NormGradient("sample", Fraction(1, 2)), [TWO, POSITIVE, COLUMN]),
    (NormGradient("rms", 0, "rows"), [TWO, POSITIVE, ROW]),
    (CrossEntropyGradient(2), [TWO, POSITIVE]),
    (ProductSum(), [TWO, POSITIVE]),
    (Total(), [TWO, POSITIVE, TWO]),
]
"""Windows that may be wider than what their operands lead to, or of what jumps and turns between the corners."""


CASES = [*((*row, True) for row in REACHED), *((*row, False) for row in HELD)]


def leads_to(op, boxes, middles):
    """Results at points of the boxes: all corners, and some points inside."""
    rng, entries = Random(repr(op)), [x for m in middles for row in m for x in row]
    corners = list(product((-1, 1), repeat=len(entries)))
    inside = [[Fraction(rng.randint(-10, 10), 10) for _ in entries] for _ in range(20)]
    for shares in [*rng.sample(corners, min(256, len(corners))), *inside]:
        moved = iter(Fraction(x) + share * TENTH / 2 for x, share in zip(entries, shares, strict=True))
        yield [approximate(x) for x in op.apply(*(Matrix([[next(moved) for _ in row] for row in m]) for m in middles))]


@pytest.mark.covering(most=24)
@pytest.mark.parametrize(("op", "middles", "reached"), CASES, ids=repr)
def test_a_window_holds_what_may_be_meant(op, middles, reached):
    boxes = [tuple(tuple(cell(Fraction(x), TENTH) for x in row) for row in m) for m in middles]
    spans = [span for row in window(op, *boxes) for span in row]
    results = list(zip(*leads_to(op, boxes, middles), strict=True))
    for span, values in zip(spans, results, strict=True):
        low, high = float(span.low), float(span.high)
        assert low - 1e-12 <= min(values) <= max(values) <= high + 1e-12
        assert high - low < 20  # and says something
        if reached:
            assert (min(values), max(values)) == pytest.approx((low, high), abs=1e-9)


def test_a_window_that_may_hold_no_number_is_none():
    def box(x, unit=TENTH):
        return ((cell(Fraction(x), unit),),)

    assert window(Divide(), box(0), box(0)) is None
    assert window(SquareRoot(), box(-1)) is None
    assert window(ToFloat(), box(65520, Fraction(1))) is None
    assert window(OverSum(), (box(1)[0] + box(-1)[0],)) is None


def test_what_is_hidden_is_a_power_of_0():
    ((power, hidden),) = window(
        Exponentials(base=2), ((cell(Fraction(1), TENTH), HIDDEN),), ((cell(Fraction(2), TENTH),),)
    )
    assert power.low <= Fraction(1, 2) <= power.high
    assert (hidden.low, hidden.high) == (0, 0)
