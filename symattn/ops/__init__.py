"""The vocabulary of steps, and their names for problem files."""

from symattn.derivation import Op
from symattn.ops.attention import Mask, Softmax, blocks, causal, padding, window
from symattn.ops.entrywise import Activation, Round
from symattn.ops.heads import Part
from symattn.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver, Transpose

OPS: dict[str, type[Op]] = {
    "matmul": MatMul,
    "transpose": Transpose,
    "add": Add,
    "hadamard": Hadamard,
    "sum": SumOver,
    "scale": Scale,
    "stack": Stack,
    "mask": Mask,
    "softmax": Softmax,
    "round": Round,
    "activation": Activation,
}

__all__ = [
    "OPS",
    "Activation",
    "Add",
    "Hadamard",
    "Mask",
    "MatMul",
    "Part",
    "Round",
    "Scale",
    "Softmax",
    "Stack",
    "SumOver",
    "Transpose",
    "blocks",
    "causal",
    "padding",
    "window",
]
