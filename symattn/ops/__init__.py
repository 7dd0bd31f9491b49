"""The vocabulary of steps, and their names for problem files."""

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
    "softmax_jacobian": SoftmaxJacobian,
    "softmax_gradient": SoftmaxGradient,
    "round": Round,
    "activation": Activation,
    "part": Part,
    "cross_entropy": CrossEntropy,
    "temperature": Temperature,
    "soft_cap": SoftCap,
    "over_sum": OverSum,
    "hardmax": Hardmax,
    "feature_map": FeatureMap,
    "over": Over,
    "slope": Slope,
    "norm": InfinityNorm,
    "mean": Mean,
    "variance": Variance,
    "mean_square": MeanSquare,
    "standardise": Standardise,
    "rescale": Rescale,
    "running_maximum": RunningMaximum,
    "exponentials": Exponentials,
    "accumulate": Accumulate,
    "subtract": Subtract,
    "divide": Divide,
    "opposite": Opposite,
    "exp": Exponential,
    "sqrt": SquareRoot,
    "multiple": Multiple,
    "float": ToFloat,
    "sinusoids": Sinusoids,
    "rotate": Rotate,
    "positions": Positional,
}

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
