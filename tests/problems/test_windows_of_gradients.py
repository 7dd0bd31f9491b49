"""Windows of the operations of gradients: they hold whatever may come of numbers inside their boxes."""

import random
from fractions import Fraction

import numpy as np
import pytest

from symattn.derivation.ops import (
    ActivationGradient,
    CrossEntropyGradient,
    NormGradient,
    ProductSum,
    SoftCapGradient,
    SoftmaxGradient,
    SoftmaxJacobian,
    Total,
)
from symattn.exact import Matrix
from symattn.exact.approximate import approximate
from symattn.marking.marker.windows import cell, window

OPS = [
    (SoftmaxJacobian(), [(1, 3)], "weights"),
    (SoftmaxGradient(), [(2, 3), (2, 3)], "weights"),
    (SoftmaxGradient("columns", 2), [(3, 2), (3, 2)], "weights"),
    (ActivationGradient("relu"), [(2, 2), (2, 2)], "any"),
    (ActivationGradient("tanh"), [(2, 2), (2, 2)], "any"),
    (ActivationGradient("sigmoid"), [(2, 2), (2, 2)], "any"),
    (SoftCapGradient(3), [(2, 2), (2, 2)], "any"),
    (NormGradient(), [(2, 3), (2, 3), (2, 1)], "positive last"),
    (NormGradient("sample", Fraction(1, 2)), [(2, 3), (2, 3), (2, 1)], "positive last"),
    (NormGradient("rms", 0, "rows"), [(3, 2), (3, 2), (1, 2)], "positive last"),
    (CrossEntropyGradient(2), [(2, 3), (2, 3)], "any"),
    (ProductSum(), [(2, 3), (2, 3)], "any"),
    (Total(), [(2, 2), (2, 2), (2, 2)], "any"),
]


@pytest.mark.parametrize(("op", "shapes", "kind"), OPS)
def test_a_window_holds_whatever_may_come_of_its_boxes(op, shapes, kind):
    """Numbers within half a tenth of the middle: what comes of them lies in the window."""
    rng = random.Random(3)
    for _ in range(5):
        middles, boxes = [], []
        for k, (rows, columns) in enumerate(shapes):
            low = 0.1 if kind == "weights" and k == 0 else 1 if kind == "positive last" and k == len(shapes) - 1 else -1
            middle = [
                [Fraction(round(10 * rng.uniform(low, low + 1)), 10) for _ in range(columns)] for _ in range(rows)
            ]
            middles.append(middle)
            boxes.append(tuple(tuple(cell(x, Fraction(1, 10)) for x in row) for row in middle))
        found = window(op, *boxes)
        assert found is not None
        for _ in range(10):
            moved = [
                Matrix([[x + Fraction(rng.randint(-50, 50), 1000) for x in row] for row in middle])
                for middle in middles
            ]
            values = np.array([[approximate(x) for x in row] for row in op.apply(*moved).rows])
            for row, windows in zip(values, found, strict=True):
                for x, w in zip(row, windows, strict=True):
                    assert float(w.low) - 1e-12 <= x <= float(w.high) + 1e-12
