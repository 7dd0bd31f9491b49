"""PyTorch's autograd beside our gradients, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

CLOSE = 1e-10


class Autograd:
    """PyTorch in double precision: leaves by name, and their gradients after `loss`."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.torch = pytest.importorskip("torch")
        self.leaves = {
            name: self.torch.tensor(rows, dtype=self.torch.float64, requires_grad=True) for name, rows in given.items()
        }

    def __getitem__(self, name: str) -> Any:
        return self.leaves[name]

    def agrees(self, found: Callable[[str], np.ndarray], names: Iterable[str], close: float = CLOSE) -> None:
        for name in names:
            expected = self[name].grad.numpy()
            assert found(f"d{name}").shape == expected.shape, name
            assert np.abs(found(f"d{name}") - expected).max() <= close * max(1, np.abs(expected).max()), name
