"""The vocabulary of steps, and their names for problem files."""

from symattn.derivation.derivation import Op
from symattn.derivation.ops.attention import (
    Mask,
    Softmax,
    SoftmaxGradient,
    SoftmaxJacobian,
    blocks,
    causal,
    padding,
    window,
)
from symattn.derivation.ops.entrywise import (
    Activation,
    ActivationGradient,
    Divide,
    DivisorGradient,
    Exponential,
    Opposite,
    Round,
    SquareRoot,
    Subtract,
    ToFloat,
)
from symattn.derivation.ops.gradient import Copy, Descent, InfinityNorm, Interleave, Padded, PutTogether, Slope, Total
from symattn.derivation.ops.linear import (
    Add,
    Append,
    Hadamard,
    HeadSlice,
    MatMul,
    ProductSum,
    Scale,
    Slice,
    Spread,
    Stack,
    SumOver,
    Transpose,
)
from symattn.derivation.ops.normalisation import (
    Mean,
    MeanSquare,
    NormGradient,
    Rescale,
    SpreadEvenly,
    Standardise,
    Variance,
)
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import Multiple, Positional, Rotate, RotateBack, Sinusoids
from symattn.derivation.ops.scores import (
    Bias,
    FeatureMap,
    Hardmax,
    Over,
    OverSum,
    SoftCap,
    SoftCapGradient,
    Temperature,
)
from symattn.derivation.ops.words import ArgMax, CrossEntropy, CrossEntropyGradient, LookUp, LookUpGradient, TopK
from symattn.foundation.additions import added, modules

__path__ += added("ops")

OPS: dict[str, type[Op]] = dict(
    sorted((name, op) for module in modules(__name__, __path__) for name, op in getattr(module, "OPS", {}).items())
)
"""By their names in problem files, which their modules give them."""

__all__ = [
    "OPS",
    "Accumulate",
    "Activation",
    "ActivationGradient",
    "Add",
    "Append",
    "ArgMax",
    "Bias",
    "Copy",
    "CrossEntropy",
    "CrossEntropyGradient",
    "Descent",
    "Divide",
    "DivisorGradient",
    "Exponential",
    "Exponentials",
    "FeatureMap",
    "Hadamard",
    "Hardmax",
    "HeadSlice",
    "InfinityNorm",
    "Interleave",
    "LookUp",
    "LookUpGradient",
    "Mask",
    "MatMul",
    "Mean",
    "MeanSquare",
    "Multiple",
    "NormGradient",
    "Opposite",
    "Over",
    "OverSum",
    "Padded",
    "Positional",
    "ProductSum",
    "PutTogether",
    "Rescale",
    "Rotate",
    "RotateBack",
    "Round",
    "RunningMaximum",
    "Scale",
    "Sinusoids",
    "Slice",
    "Slope",
    "SoftCap",
    "SoftCapGradient",
    "Softmax",
    "SoftmaxGradient",
    "SoftmaxJacobian",
    "Spread",
    "SpreadEvenly",
    "SquareRoot",
    "Stack",
    "Standardise",
    "Subtract",
    "SumOver",
    "Temperature",
    "ToFloat",
    "TopK",
    "Total",
    "Transpose",
    "Variance",
    "blocks",
    "causal",
    "padding",
    "window",
]
