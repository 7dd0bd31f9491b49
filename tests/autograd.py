"""PyTorch's autograd beside our gradients: attention, norms and feed-forward networks in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import oracles
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

    def get(self, name: str) -> Any:
        return self.leaves.get(name, 0.0)

    def back(self, output: Any, upstream: str = "") -> None:
        (output if not upstream else (output * self[upstream].detach()).sum()).backward()

    def agrees(self, found: Callable[[str], np.ndarray], names: Iterable[str], close: float = CLOSE) -> None:
        for name in names:
            expected = self[name].grad.numpy()
            assert found(f"d{name}").shape == expected.shape, name
            assert np.abs(found(f"d{name}") - expected).max() <= close * max(1, np.abs(expected).max()), name

    def attention(self, q: Any, k: Any, v: Any, s: Mapping[str, Any], head: int = 1) -> Any:
        """softmax of the scores, changed as the settings say, times V."""
        scores = q @ k.mT * math.log(float(s.get("base", math.e)))
        if s.get("scale") != "none":
            scores = scores / q.shape[-1] ** 0.5
        if "temperature" in s:
            scores = scores / float(s["temperature"])
        if "cap" in s:
            scores = float(s["cap"]) * self.torch.tanh(scores / float(s["cap"]))
        if "bias" in s:
            slope = (1 / 2, 1 / 4)[head - 1]
            n, m = scores.shape
            far = (self.torch.arange(n)[:, None] + m - n - self.torch.arange(m)).abs()
            scores = scores - slope * far
        if "B" in self.leaves:
            scores = scores + self["B"]
        if (keep := hidden(s.get("mask"), *scores.shape)) is not None:
            scores = scores.masked_fill(self.torch.tensor(keep), -self.torch.inf)
        return self.torch.softmax(scores, -1) @ v

    def heads(self, x: Any, s: Mapping[str, Any], memory: Any = None) -> Any:
        """Multi-head attention of x, or from x to `memory`, heads side by side, with W_O where there is one."""
        h = s.get("heads", 1)
        g = s.get("kv_heads", 0) or h
        sources = {"Q": x, "K": x if memory is None else memory, "V": x if memory is None else memory}
        whole = {role: source @ self[f"W_{role}"] + self.get(f"b_{role}") for role, source in sources.items()}

        def part(role: str, own: int, of: int) -> Any:
            width = whole[role].shape[1] // of
            where = slice(own, None, of) if s.get("split") == "interleaved" else slice(own * width, (own + 1) * width)
            return whole[role][:, where]

        outputs = [
            self.attention(part("Q", i, h), part("K", i * g // h, g), part("V", i * g // h, g), s, i + 1)
            for i in range(h)
        ]
        joined = self.torch.cat(outputs, -1)
        return joined @ self["W_O"] + self.get("b_O") if "W_O" in self.leaves else joined

    def norm(self, x: Any, s: Mapping[str, Any], number: str = "") -> Any:
        kind, epsilon = s.get("norm", "layer"), float(s.get("epsilon", 0))
        if kind == "none":
            return x
        if kind == "rms":
            result = x / self.torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon)
        elif s.get("variance") == "sample":
            result = (x - x.mean(-1, keepdim=True)) / self.torch.sqrt(x.var(-1, keepdim=True) + epsilon)
        else:
            result = self.torch.nn.functional.layer_norm(x, x.shape[-1:], eps=epsilon)
        gamma, beta = (f"{letter}_{number}".rstrip("_") for letter in ("gamma", "beta"))
        return (result * self.leaves[gamma] if gamma in self.leaves else result) + self.get(beta)

    def function(self, name: str, x: Any) -> Any:
        functional = self.torch.nn.functional
        return {
            "relu": functional.relu,
            "gelu": functional.gelu,
            "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
            "silu": functional.silu,
            "sigmoid": self.torch.sigmoid,
            "tanh": self.torch.tanh,
            "identity": lambda x: x,
        }[name](x)

    def feed_forward(self, x: Any, s: Mapping[str, Any]) -> Any:
        hidden_units = self.function(s.get("function") or "relu", x @ self["W_1"] + self.get("b_1"))
        return hidden_units @ self["W_2"] + self.get("b_2")

    def encoder_block(self, x: Any, s: Mapping[str, Any]) -> Any:
        """Post-norm unless the settings say pre."""
        if s.get("norm_place") == "pre":
            first = x + self.heads(self.norm(x, s, "1"), s)
            return first + self.feed_forward(self.norm(first, s, "2"), s)
        first = self.norm(x + self.heads(x, s), s, "1")
        return self.norm(first + self.feed_forward(first, s), s, "2")


def hidden(mask: object, n: int, m: int) -> np.ndarray | None:
    """Which keys are hidden from each query."""
    seen = oracles.kept(mask, n, m)
    return None if seen is None else ~seen
