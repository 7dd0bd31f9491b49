"""The vocabulary of steps, and their names for problem files."""

from symattn.derivation.derivation import Op
from symattn.derivation.ops.arithmetic import Divide, Exponential, Opposite, SquareRoot, Subtract, ToFloat
from symattn.derivation.ops.attention import Mask, Softmax, blocks, causal, padding, window
from symattn.derivation.ops.cache import Append
from symattn.derivation.ops.entrywise import Activation, Round
from symattn.derivation.ops.gradient import SoftmaxGradient, SoftmaxJacobian
from symattn.derivation.ops.heads import Part
from symattn.derivation.ops.jacobian import InfinityNorm, Slope
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver, Transpose
from symattn.derivation.ops.loss import CrossEntropy
from symattn.derivation.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import Multiple, Rotate, RotateBack, Sinusoids
from symattn.derivation.ops.positional import Positional
from symattn.derivation.ops.scores import Bias, FeatureMap, Hardmax, Over, OverSum, SoftCap, Temperature
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
    "Add",
    "Append",
    "Bias",
    "CrossEntropy",
    "Divide",
    "Exponential",
    "Exponentials",
    "FeatureMap",
    "Hadamard",
    "Hardmax",
    "InfinityNorm",
    "Mask",
    "MatMul",
    "Mean",
    "MeanSquare",
    "Multiple",
    "Opposite",
    "Over",
    "OverSum",
    "Part",
    "Positional",
    "Rescale",
    "Rotate",
    "RotateBack",
    "Round",
    "RunningMaximum",
    "Scale",
    "Sinusoids",
    "Slope",
    "SoftCap",
    "Softmax",
    "SoftmaxGradient",
    "SoftmaxJacobian",
    "SquareRoot",
    "Stack",
    "Standardise",
    "Subtract",
    "SumOver",
    "Temperature",
    "ToFloat",
    "Transpose",
    "Variance",
    "blocks",
    "causal",
    "padding",
    "window",
]
