"""An encoder block there and back in decimals, and what else is gone back through, against PyTorch's autograd."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from symattn.derivation.ops import Rotate, RotateBack
from symattn.derivation.ops.position import Degrees, Direction
from symattn.exact import Matrix


@pytest.mark.parametrize("tokens", ["rows", "columns"])
@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_what_is_turned_and_turned_back_is_as_it_was(layout: Any, tokens: Any) -> None:
    angles = (Degrees(Fraction(60)), Direction(Fraction(3, 5), Fraction(4, 5)))
    m = Matrix([[1, 2, 3, 4], [-1, 0, 5, 2], [0, 1, 1, -3]])
    m = m if tokens == "rows" else m.T
    turned = Rotate(angles, (0, 1, 2), layout, tokens).apply(m)
    assert turned != m
    assert RotateBack(angles, (0, 1, 2), layout, tokens).apply(turned) == m
