"""The vocabulary of steps, and their names for problem files."""

from symattn.additions import added, modules
from symattn.derivation import Op
from symattn.ops.arithmetic import Divide, Exponential, Opposite, SquareRoot, Subtract, ToFloat
from symattn.ops.attention import Mask, Softmax, blocks, causal, padding, window
from symattn.ops.cache import Append
from symattn.ops.entrywise import Activation, Round
from symattn.ops.gradient import SoftmaxGradient, SoftmaxJacobian
from symattn.ops.heads import Part
from symattn.ops.jacobian import InfinityNorm, Slope
from symattn.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver, Transpose
from symattn.ops.loss import CrossEntropy
from symattn.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.ops.position import Multiple, Rotate, RotateBack, Sinusoids
from symattn.ops.positional import Positional
from symattn.ops.scores import Bias, FeatureMap, Hardmax, Over, OverSum, SoftCap, Temperature

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
