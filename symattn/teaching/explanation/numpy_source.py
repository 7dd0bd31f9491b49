"""Every operation as a line of NumPy, as a student would write it, and exact values as Python expressions.

Helper functions stand at the top of a program, and only those that it calls.  They work along axis 1, the entries of a
row; along columns they get axis 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction as Ratio
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from symattn.derivation.algebra import IN_SYMPY, Entries
from symattn.derivation.derivation import RuleOp, Shape, Step
from symattn.derivation.ops import (
    Activation,
    ActivationGradient,
    Add,
    Copy,
    CrossEntropyGradient,
    Hadamard,
    Interleave,
    Mask,
    MatMul,
    NormGradient,
    Padded,
    Part,
    ProductSum,
    Round,
    Scale,
    SoftCapGradient,
    Softmax,
    SoftmaxGradient,
    SoftmaxJacobian,
    Spread,
    SpreadEvenly,
    Stack,
    SumOver,
    Total,
    Transpose,
)
from symattn.derivation.ops.arithmetic import (
    Divide,
    DivisorGradient,
    Exponential,
    Opposite,
    SquareRoot,
    Subtract,
    ToFloat,
)
from symattn.derivation.ops.jacobian import InfinityNorm, Slope
from symattn.derivation.ops.loss import CrossEntropy
from symattn.derivation.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import (
    Angle,
    Degrees,
    Direction,
    Frequency,
    Multiple,
    Radians,
    Rotate,
    RotateBack,
    Sinusoids,
)
from symattn.derivation.ops.positional import Positional
from symattn.derivation.ops.scores import Bias, FeatureMap, Hardmax, Over, OverSum, SoftCap
from symattn.errors import InputError, ReadError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Rational, Real, Value, is_symbolic, tree
from symattn.exact.approximate import approximate
from symattn.exact.expressions import tree_of
from symattn.exact.reading import read
from symattn.exact.rounding import significant_text

# --- values -------------------------------------------------------------------------------------------

WIDEST = 72  # characters of a row with exact entries; in a matrix with a longer one they are decimals
DIGITS = 12  # of a decimal
LARGEST = 10**6  # from here on integers are floats, which do not overflow

SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly an expression holds together
Source = tuple[str, int]


def value(x: Value) -> str:
    """A number as Python source: 1/2, np.sqrt(3), np.exp(2)/(np.exp(2) + 1), -np.inf.

    >>> value(Ratio(-1, 2)), value(NEGATIVE_INFINITY), value(10**9)
    ('-1/2', '-np.inf', '1000000000.0')
    """
    return _value(x)[0]


def factor(x: Value) -> str:
    """The same as a factor: in brackets if it is a sum, a product or a quotient.

    >>> factor(Ratio(1, 2)), factor(3)
    ('(1/2)', '3')
    """
    return _at_least(POWER, _value(x))


def _value(x: Value) -> Source:
    if x is NEGATIVE_INFINITY:
        return "-np.inf", SUM
    if isinstance(x, int | Ratio):
        return _rational(x)
    if isinstance(x, Real):
        return repr(approximate(x)), SUM
    try:
        return _node(tree_of(x)) if is_symbolic(x) else _irrational(str(x))
    except (KeyError, ReadError):  # a function that NumPy has not; digits too many to be printed
        return _decimal(x), SUM


@lru_cache(maxsize=1024)  # the same weights come again and again
def _irrational(text: str) -> Source:
    return _node(read(text).tree)


def _decimal(x: Value) -> str:
    """The same as a decimal, where it is irrational."""
    rational = x is NEGATIVE_INFINITY or isinstance(x, int | Ratio)
    digits = value(x) if rational else significant_text(x, DIGITS)
    return digits if rational or "." in digits else f"{digits}.0"  # NumPy has no integers that long


def _rational(x: Rational) -> Source:
    if isinstance(x, int):
        return f"{x}.0" if abs(x) >= LARGEST else str(x), ATOM if x >= 0 else SUM
    return f"{_rational(x.numerator)[0]}/{_rational(x.denominator)[0]}", PRODUCT if x > 0 else SUM


_FUNCTIONS = {"sqrt": "sqrt", "exp": "exp", "ln": "log", "tanh": "tanh", "sin": "sin", "cos": "cos", "abs": "abs"}


def _node(node: tree.Node) -> Source:
    match node:
        case tree.Number(x):
            return _rational(x)
        case tree.Opposite(body):
            return f"-{_at_least(PRODUCT, _node(body))}", SUM
        case tree.Total(terms):
            first, *others = map(_node, terms)
            signed = (f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text, _ in others)
            return first[0] + "".join(signed), SUM
        case tree.Product((tree.Number(-1), *factors)):
            return _node(tree.Opposite(tree.Product(tuple(factors))))
        case tree.Product(factors):
            return "*".join(_at_least(POWER, _node(one)) for one in factors), PRODUCT
        case tree.Over(above, below):
            return f"{_at_least(PRODUCT, _node(above))}/{_at_least(POWER, _node(below))}", PRODUCT
        case tree.Power(tree.Apply("e", ()), exponent):
            return f"np.exp({_node(exponent)[0]})", ATOM
        case tree.Power(base, exponent):
            return f"{_at_least(ATOM, _node(base))}**{_at_least(ATOM, _node(exponent))}", POWER
        case tree.Apply("e" | "pi" as constant, ()):
            return f"np.{constant}", ATOM
        case tree.Apply(function, (argument,)):
            return f"np.{_FUNCTIONS[function]}({_node(argument)[0]})", ATOM
        case _:
            raise KeyError(node)


def _at_least(tightness: int, source: Source) -> str:
    text, own = source
    return text if own >= tightness else f"({text})"


def array(matrix: Matrix, before: str = "") -> str:
    """A matrix as nested lists, a row a line; what stands `before` it on its first line says how far rows go in.

    Its entries are exact where that is short, and else decimals with 12 digits.
    """
    rows = [", ".join(map(value, row)) for row in matrix.rows]
    if max(map(len, rows)) > WIDEST:
        rows = [", ".join(map(_decimal, row)) for row in matrix.rows]
    below = ",\n" + " " * (len(before) + 1)
    return f"{before}[{below.join(f'[{row}]' for row in rows)}]"


def assigned(name: str, matrix: Matrix) -> str:
    """The matrix as an array with a name."""
    return array(matrix, f"{name} = np.array(") + ")"


# --- helper functions ---------------------------------------------------------------------------------

HELPERS: Mapping[str, str] = MappingProxyType(
    {
        "softmax": '''
def softmax(S, axis=1):
    """Powers of e over their sum; a hidden score (-inf) gets 0."""
    powers = np.exp(S - S.max(axis=axis, keepdims=True))  # the maximum cancels
    return powers / powers.sum(axis=axis, keepdims=True)
''',
        "softmax_or_zero": '''
def softmax_or_zero(S, axis=1):
    """The softmax; where everything is hidden (-inf), all weights are 0."""
    seen = (S > -np.inf).any(axis=axis, keepdims=True)
    return np.where(seen, softmax(np.where(seen, S, 0), axis), 0)
''',
        "powers_of": '''
def powers_of(base, X):
    """The base to the power of each entry; 0 for -inf."""
    seen = X > -np.inf
    return np.where(seen, base ** np.where(seen, X, 0.0), 0)
''',
        "shares": '''
def shares(X, axis=1):
    """Each entry over the sum of its row; a hidden one (-inf) gets 0."""
    seen = np.where(X > -np.inf, X, 0)
    total = seen.sum(axis=axis, keepdims=True)
    return seen / np.where(total == 0, 1, total)
''',
        "hardmax": '''
def hardmax(S, axis=1):
    """All weight on the largest score of each row, shared by those that tie."""
    largest = np.isclose(S, S.max(axis=axis, keepdims=True)) & (S > -np.inf)
    return shares(largest.astype(float), axis)
''',
        "gelu": '''
def gelu(X):
    """x/2 times 1 + erf(x/sqrt(2)), entry by entry."""
    return X / 2 * (1 + np.vectorize(math.erf)(X / np.sqrt(2)))
''',
        "gelu_tanh": '''
def gelu_tanh(X):
    """GELU by the hyperbolic tangent, entry by entry."""
    return X / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))
''',
        "gelu_slope": '''
def gelu_slope(X):
    """The derivative of GELU, entry by entry."""
    below = (1 + np.vectorize(math.erf)(X / np.sqrt(2))) / 2
    return below + X * np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi)
''',
        "gelu_tanh_slope": '''
def gelu_tanh_slope(X):
    """The derivative of GELU by the hyperbolic tangent, entry by entry."""
    rate = np.sqrt(2 / np.pi)
    t = np.tanh(rate * (X + 0.044715 * X**3))
    return (1 + t) / 2 + X / 2 * (1 - t**2) * rate * (1 + 3 * 0.044715 * X**2)
''',
        "silu_slope": '''
def silu_slope(X):
    """The derivative of SiLU, entry by entry."""
    s = 1 / (1 + np.exp(-X))
    return s * (1 + X * (1 - s))
''',
        "units": '''
def units(A, places):
    """Units of the last place; half a unit by hand is half a unit here."""
    return np.round(A * 10.0**places, 8)
''',
        "by_largest_remainder": '''
def by_largest_remainder(A, places, axis=1):
    """Rows cut off; units missing from the sum go to those that lost most."""
    rows = units(A if axis == 1 else A.T, places)
    whole = np.floor(rows)
    lost = np.round(rows - whole, 7)
    for i, missing in enumerate(np.round(lost.sum(axis=1)).astype(int)):
        whole[i, np.argsort(-lost[i], kind="stable")[:missing]] += 1
    return (whole if axis == 1 else whole.T) / 10**places
''',
        "bfloat16": '''
def bfloat16(X):
    """The nearest numbers with 8 binary digits, ties to even."""
    exponents = np.maximum(np.frexp(X)[1], -125) - 8
    return np.ldexp(np.round(np.ldexp(X, -exponents)), exponents)
''',
        "sinusoids": '''
def sinusoids(positions, angles, in_pairs=True):
    """sin and cos of positions times angles: in turn, or sines before cosines."""
    turns = np.outer(positions, angles)
    if in_pairs:
        return np.stack([np.sin(turns), np.cos(turns)], axis=2).reshape(len(turns), -1)
    return np.hstack([np.sin(turns), np.cos(turns)])
''',
        "rotated": '''
def rotated(X, positions, angles, in_pairs=True):
    """Each row's pairs of features turned by its position times their angle."""
    turns = np.outer(positions, angles)
    x, y = (X[:, 0::2], X[:, 1::2]) if in_pairs else np.split(X, 2, axis=1)
    cos, sin = np.cos(turns), np.sin(turns)
    pairs = [x * cos - y * sin, x * sin + y * cos]
    return np.stack(pairs, axis=2).reshape(X.shape) if in_pairs else np.hstack(pairs)
''',
    }
)

_CALL = re.compile(r"\w+(?=\()")


def helpers_called(source: str) -> list[str]:
    """The helper functions that some source calls, and those that they call, in the order of `HELPERS`.

    >>> helpers_called("A = softmax_or_zero(S)")
    ['softmax', 'softmax_or_zero']
    """
    called: set[str] = set()
    waiting = [source]
    while waiting:
        new = set(_CALL.findall(waiting.pop())) & HELPERS.keys() - called
        called |= new
        waiting += [HELPERS[name] for name in new]
    return [name for name in HELPERS if name in called]


# --- operations ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lines:
    """An expression, and the assignments that stand above it."""

    expression: str
    above: tuple[str, ...] = ()


def numpy_lines(step: Step, operands: Sequence[str], shapes: Sequence[Shape] = ()) -> Lines:
    """The step with its operands by name; they are names, parts of matrices (`X[0:1]`), or transposed (`K.T`).

    An operation without a line of its own is written entry by entry, for operands of some shapes.
    """
    if line := step.op.numpy(*operands):
        return Lines(line)
    if kind := next((kind for kind in type(step.op).__mro__ if kind in RULES), None):
        return RULES[kind](step.op, operands)
    if not isinstance(step.op, RuleOp):
        raise InputError(f"{step.op.title} ({type(step.op).__name__}) needs a line of NumPy: its method `numpy`.")
    return _entry_by_entry(step.op, operands, shapes)


def _entry_by_entry(op: RuleOp, names: Sequence[str], shapes: Sequence[Shape]) -> Lines:
    """The rule in SymPy, printed as NumPy: np.array([[S[0, 0]**3, …], …])."""
    import sympy
    from sympy.printing.numpy import NumPyPrinter

    def seen(name: str, shape: Shape) -> Entries[Any]:
        return Entries(shape, lambda i, j: sympy.Symbol(f"{name}[{i}, {j}]", real=True))

    class Printer(NumPyPrinter):  # type: ignore[misc]
        def _print_Max(self, largest: Any) -> str:  # noqa: N802  (SymPy's own needs functools)
            return f"numpy.max([{', '.join(map(self._print, largest.args))}])"

    printer = Printer({"fully_qualified_modules": True})
    entries = [seen(name, shape) for name, shape in zip(names, shapes, strict=True)]
    rows, columns = op.shape(*shapes)
    lines = [
        ", ".join(printer.doprint(op.rule(IN_SYMPY, i, j, *entries)) for j in range(int(columns)))
        for i in range(int(rows))
    ]
    return Lines(f"np.array([{', '.join(f'[{line}]' for line in lines)}])".replace("numpy.", "np."))


Rule = Callable[..., Lines]


def _axis(along: str) -> int:
    return 1 if along == "rows" else 0


def _own_axis(along: str) -> str:
    """The argument of a helper function, which works along axis 1 unless it is told otherwise."""
    return "" if along == "rows" else ", axis=0"


def _over(over: str) -> str:
    """The arguments of a sum over all rows, or over all columns."""
    return f"axis={0 if over == 'rows' else 1}, keepdims=True"


def _template(text: str) -> Rule:
    """An operation without parameters: {0} is its first operand."""
    return lambda op, names: Lines(text.format(*names))


def _joined(along: str, names: Iterable[str]) -> str:
    return f"np.{'vstack' if along == 'rows' else 'hstack'}([{', '.join(names)}])"


def _mask(op: Mask, names: Sequence[str]) -> Lines:
    (scores,) = names
    seen, hidden = {
        "additive": (0, NEGATIVE_INFINITY),
        "multiplicative": (1, NEGATIVE_INFINITY),
        "keep": (1, 0),
        "block": (0, 1),
    }[op.style]
    mask = assigned("mask", Matrix.of([seen if kept else hidden for kept in row] for row in op.keep))
    expression = {
        "additive": f"{scores} + mask",
        "multiplicative": f"{scores} * mask",
        "keep": f"np.where(mask == 1, {scores}, -np.inf)",
        "block": f"np.where(mask == 1, -np.inf, {scores})",
    }[op.style]
    return Lines(expression, (mask,))


def _softmax(op: Softmax, names: Sequence[str]) -> Lines:
    (scores,) = names
    if op.base != "e":
        return Lines(f"shares(powers_of({value(op.base)}, {scores}){_own_axis(op.along)})")
    name = "softmax" if op.empty == "undefined" else "softmax_or_zero"
    return Lines(f"{name}({scores}{_own_axis(op.along)})")


def _bias(op: Bias, names: Sequence[str]) -> Lines:
    name = op.sign.base
    return Lines(f"{names[0]} + {name}", (assigned(name, op.values),))


def _part(op: Part, names: Sequence[str]) -> Lines:
    which = f"{op.start}:{op.indices[-1] + 1}" + (f":{op.step}" if op.step > 1 else "")
    return Lines(f"{names[0]}[{which}]" if op.of == "rows" else f"{names[0]}[:, {which}]")


def _round(op: Round, names: Sequence[str]) -> Lines:
    (exact,) = names
    if op.method == "largest-remainder":
        return Lines(f"by_largest_remainder({exact}, {op.places}{_own_axis(op.along)})")
    counted = f"units({exact}, {op.places})"
    nearest = {"even": f"np.round({counted})", "up": f"np.floor({counted} + 1/2)", "down": f"np.ceil({counted} - 1/2)"}
    whole = f"np.trunc({counted})" if op.method == "truncate" else nearest[op.ties]
    return Lines(f"{whole} / 10**{op.places}")


_ACTIVATIONS = {
    "identity": "{0}",
    "relu": "np.maximum({0}, 0)",
    "gelu": "gelu({0})",
    "gelu_tanh": "gelu_tanh({0})",
    "silu": "{0} / (1 + np.exp(-{0}))",
    "sigmoid": "1 / (1 + np.exp(-{0}))",
    "tanh": "np.tanh({0})",
}
_SLOPES = {
    "relu": "{0} * ({1} > 0)",
    "gelu": "{0} * gelu_slope({1})",
    "gelu_tanh": "{0} * gelu_tanh_slope({1})",
    "silu": "{0} * silu_slope({1})",
    "sigmoid": "{0} * {1} * (1 - {1})",
    "tanh": "{0} * (1 - {1}**2)",
}
_SLOPES_OF_VALUES = {"tanh": "1 - {0}**2", "sigmoid": "{0} * (1 - {0})", "relu": "np.where({0} > 0, 1, 0)"}
_FEATURES = {
    "elu+1": "np.where({0} > 0, {0} + 1, np.exp(np.minimum({0}, 0)))",
    "relu": "np.maximum({0}, 0)",
    "square": "{0}**2",
    "identity": "{0}",
}


def _back_through_softmax(op: SoftmaxGradient, names: Sequence[str]) -> Lines:
    weights, gradient = names
    rate = "" if op.base == "e" else f"np.log({value(op.base)}) * "
    mean = f"({weights} * {gradient}).sum(axis={_axis(op.along)}, keepdims=True)"
    return Lines(f"{rate}{weights} * ({gradient} - {mean})")


def _plus(name: str, epsilon: Value) -> str:
    """What stands under the root of a norm."""
    return name if isinstance(epsilon, int) and epsilon == 0 else f"{name} + {value(epsilon)}"


def _back_through_norm(op: NormGradient, names: Sequence[str]) -> Lines:
    gradient, normed, variance = names
    along = _over(op.over)
    mean = "" if op.kind == "rms" else f" - {gradient}.mean({along})"
    products = f"({gradient} * {normed}).mean({along})"
    if op.kind == "sample":
        products = f"({gradient} * {normed}).sum({along}) / ({_length(gradient, op.over)} - 1)"
    return Lines(f"({gradient}{mean} - {normed} * {products}) / np.sqrt({_plus(variance, op.epsilon)})")


def _length(name: str, over: str) -> str:
    return f"{name}.shape[{0 if over == 'rows' else 1}]"


def _variance(op: Variance, names: Sequence[str]) -> Lines:
    x, mean = names
    if op.of == "population":
        return Lines(f"(({x} - {mean})**2).mean({_over(op.over)})")
    return Lines(f"(({x} - {mean})**2).sum({_over(op.over)}) / ({_length(x, op.over)} - 1)")


def _padded(op: Padded, names: Sequence[str]) -> Lines:
    which = f"{op.part.start}:{op.part.indices[-1] + 1}" + (f":{op.part.step}" if op.part.step > 1 else "")
    places = f"np.eye({op.size})[{which}]"
    return Lines(f"{names[0]} @ {places}" if op.part.of == "columns" else f"{places}.T @ {names[0]}")


def _spread(op: Spread, names: Sequence[str]) -> Lines:
    repeated = f"np.repeat({names[0]}, {op.count}, axis={0 if op.over == 'rows' else 1})"
    return Lines(f"{repeated} / {op.count}" if isinstance(op, SpreadEvenly) else repeated)


def _interleave(op: Interleave, names: Sequence[str]) -> Lines:
    stacked = f"np.stack([{', '.join(names)}], axis={2 if op.along == 'columns' else 1})"
    first = names[0]
    shape = f"len({first}), -1" if op.along == "columns" else f"-1, {first}.shape[1]"
    return Lines(f"{stacked}.reshape({shape})")


def _exponentials(op: Exponentials, names: Sequence[str]) -> Lines:
    scores, greatest = names
    below = f"{scores} - np.where({greatest} > -np.inf, {greatest}, 0)"
    return Lines(f"np.exp({below})" if op.base == "e" else f"powers_of({value(op.base)}, {below})")


def _exponential(op: Exponential, names: Sequence[str]) -> Lines:
    return Lines(f"np.exp({names[0]})" if op.base == "e" else f"{factor(op.base)} ** {names[0]}")


def _to_float(op: ToFloat, names: Sequence[str]) -> Lines:
    """NumPy has all formats but one."""
    known = op.format.name != "bfloat16"
    return Lines(f"{names[0]}.astype(np.{op.format.name}).astype(float)" if known else f"bfloat16({names[0]})")


def _running_maximum(op: RunningMaximum, names: Sequence[str]) -> Lines:
    together = names[0] if len(names) == 1 else _joined("columns" if op.along == "rows" else "rows", names)
    return Lines(f"{together}.max(axis={_axis(op.along)}, keepdims=True)")


def _norm(op: InfinityNorm, names: Sequence[str]) -> Lines:
    along, other = (1, 0) if op.along == "rows" else (0, 1)
    return Lines(f"np.abs({names[0]}).sum(axis={along}, keepdims=True).max(axis={other}, keepdims=True)")


def _cross_entropy(op: CrossEntropy, names: Sequence[str]) -> Lines:
    p, t = names  # where nothing is wanted, the logarithm is of 1, and counts nothing
    return Lines(f"-({t} * np.log(np.where({t} == 0, 1, {p}))).sum(axis={_axis(op.along)}, keepdims=True)")


def _turns(positions: tuple[int, ...], angles: tuple[Angle, ...], layout: str) -> tuple[tuple[str, ...], str]:
    """Where tokens stand and how far their features turn, and the arguments that say so."""
    above = (f"positions = {list(positions)}", f"angles = [{', '.join(map(_angle, angles))}]")
    return above, "positions, angles" + ("" if layout == "pairs" else ", in_pairs=False")


def _angle(angle: Angle) -> str:
    match angle:
        case Frequency(base, above, below):
            return f"1 / {factor(base)}**({above}/{below})"
        case Radians(radians):
            return value(radians)
        case Degrees(degrees):
            return f"np.radians({value(degrees)})"
        case Direction(cosine, sine):
            return f"np.arctan2({value(sine)}, {value(cosine)})"
        case _:
            raise TypeError(f"{type(angle).__name__} has no NumPy source.")


def _sinusoids(op: Sinusoids, names: Sequence[str]) -> Lines:
    above, arguments = _turns(op.positions, op.angles, op.layout)
    return Lines(f"sinusoids({arguments})" + (".T" if op.tokens == "columns" else ""), above)


def _positional(op: Positional, names: Sequence[str]) -> Lines:
    return Lines("positional", (assigned("positional", op.apply()),))


def _rotate(op: Rotate, names: Sequence[str]) -> Lines:
    positions = tuple(-p for p in op.positions) if isinstance(op, RotateBack) else op.positions
    above, arguments = _turns(positions, op.angles, op.layout)
    if op.tokens == "rows":
        return Lines(f"rotated({names[0]}, {arguments})", above)
    return Lines(f"rotated({names[0]}.T, {arguments}).T", above)


RULES: Mapping[type, Rule] = MappingProxyType(
    {
        MatMul: _template("{0} @ {1}"),
        Transpose: _template("{0}.T"),
        Add: _template("{0} + {1}"),
        Hadamard: _template("{0} * {1}"),
        SumOver: lambda op, names: Lines(f"{names[0]}.sum({_over(op.over)})"),
        Scale: lambda op, names: Lines(f"{names[0]} / {factor(op.divisor)}"),
        Multiple: lambda op, names: Lines(f"{factor(op.factor)} * {names[0]}"),
        Stack: lambda op, names: Lines(_joined(op.along, names)),
        Part: _part,
        Copy: _template("{0}"),
        Mask: _mask,
        Bias: _bias,
        SoftCap: lambda op, names: Lines(f"{factor(op.cap)} * np.tanh({names[0]} / {factor(op.cap)})"),
        Softmax: _softmax,
        OverSum: lambda op, names: Lines(f"shares({names[0]}{_own_axis(op.along)})"),
        Hardmax: lambda op, names: Lines(f"hardmax({names[0]}{_own_axis(op.along)})"),
        FeatureMap: lambda op, names: Lines(_FEATURES[op.feature].format(*names)),
        Over: _template("{0} / {1}"),
        Round: _round,
        Activation: lambda op, names: Lines(_ACTIVATIONS[op.name.lower()].format(*names)),
        Mean: lambda op, names: Lines(f"{names[0]}.mean({_over(op.over)})"),
        Variance: _variance,
        MeanSquare: lambda op, names: Lines(f"({names[0]}**2).mean({_over(op.over)})"),
        Standardise: lambda op, names: Lines(f"({names[0]} - {names[1]}) / np.sqrt({_plus(names[2], op.epsilon)})"),
        Rescale: lambda op, names: Lines(f"{names[0]} / np.sqrt({_plus(names[1], op.epsilon)})"),
        RunningMaximum: _running_maximum,
        Exponentials: _exponentials,
        Accumulate: _template("{0} * {1} + {2}"),
        Subtract: _template("{0} - {1}"),
        Divide: _template("{0} / {1}"),
        Opposite: _template("-{0}"),
        Exponential: _exponential,
        SquareRoot: _template("np.sqrt({0})"),
        ToFloat: _to_float,
        DivisorGradient: _template("-{0} * {1} / {2}"),
        Positional: _positional,
        Sinusoids: _sinusoids,
        Rotate: _rotate,
        RotateBack: _rotate,
        Slope: lambda op, names: Lines(_SLOPES_OF_VALUES[op.function].format(*names)),
        InfinityNorm: _norm,
        CrossEntropy: _cross_entropy,
        SoftmaxJacobian: _template("np.diag({0}.ravel()) - np.outer({0}, {0})"),
        SoftmaxGradient: _back_through_softmax,
        ActivationGradient: lambda op, names: Lines(_SLOPES[op.name].format(*names)),
        SoftCapGradient: lambda op, names: Lines(f"{names[0]} * (1 - ({names[1]} / {factor(op.cap)})**2)"),
        NormGradient: _back_through_norm,
        CrossEntropyGradient: lambda op, names: Lines(
            " - ".join(names) if op.tokens == 1 else f"({' - '.join(names)}) / {op.tokens}"
        ),
        ProductSum: lambda op, names: Lines(f"({names[0]} * {names[1]}).sum({_over(op.over)})"),
        Padded: _padded,
        Spread: _spread,
        SpreadEvenly: _spread,
        Total: lambda op, names: Lines(" + ".join(names)),
        Interleave: _interleave,
    }
)

__all__ = ["HELPERS", "Lines", "array", "assigned", "helpers_called", "numpy_lines", "value"]
