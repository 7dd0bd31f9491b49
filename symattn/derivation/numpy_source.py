"""What lines of NumPy are made of: exact values as Python expressions, axes, and helper functions.

Helper functions stand at the top of a program, and only those that it calls.  They work along axis 1, the entries of a
row; along columns they get axis 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction as Ratio
from functools import lru_cache
from types import MappingProxyType

from symattn.derivation.sizes import Axis
from symattn.errors import ReadError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Rational, Real, Value, is_symbolic, tree
from symattn.exact.reading import read
from symattn.exact.rounding import approximate, significant_text
from symattn.exact.tree import tree_of

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
    return in_brackets(POWER, _value(x))


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
            return f"-{in_brackets(PRODUCT, _node(body))}", SUM
        case tree.Total(terms):
            first, *others = map(_node, terms)
            signed = (f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text, _ in others)
            return first[0] + "".join(signed), SUM
        case tree.Product((tree.Number(-1), *factors)):
            return _node(tree.Opposite(tree.Product(tuple(factors))))
        case tree.Product(factors):
            return "*".join(in_brackets(POWER, _node(one)) for one in factors), PRODUCT
        case tree.Over(above, below):
            return f"{in_brackets(PRODUCT, _node(above))}/{in_brackets(POWER, _node(below))}", PRODUCT
        case tree.Power(tree.Apply("e", ()), exponent):
            return f"np.exp({_node(exponent)[0]})", ATOM
        case tree.Power(base, exponent):
            return f"{in_brackets(ATOM, _node(base))}**{in_brackets(ATOM, _node(exponent))}", POWER
        case tree.Apply("e" | "pi" as constant, ()):
            return f"np.{constant}", ATOM
        case tree.Apply(function, (argument,)):
            return f"np.{_FUNCTIONS[function]}({_node(argument)[0]})", ATOM
        case _:
            raise KeyError(node)


def in_brackets(tightness: int, source: Source) -> str:
    """An expression, in brackets unless it holds together as tightly."""
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
        "top_shares": '''
def top_shares(P, k, axis=1):
    """The k largest of each row over their sum, and 0 for the others; of equal ones the first are kept."""
    first = np.argsort(-np.round(P, 12), axis=axis, kind="stable")
    kept = np.where(np.argsort(first, axis=axis) < k, P, 0)
    return kept / kept.sum(axis=axis, keepdims=True)
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


# --- matrices -----------------------------------------------------------------------------------------


def by_line(along: Axis) -> str:
    """The arguments by which each row (or column) is reduced to one number."""
    return f"axis={1 if along == 'rows' else 0}, keepdims=True"


def over_all(over: Axis) -> str:
    """The arguments by which all rows (or columns) are reduced to one."""
    return f"axis={0 if over == 'rows' else 1}, keepdims=True"


def helper_axis(along: Axis) -> str:
    """The argument of a helper function, which works along axis 1 unless it is told otherwise."""
    return "" if along == "rows" else ", axis=0"


def joined(along: Axis, *names: str) -> str:
    """Matrices one above the other, or side by side."""
    return f"np.{'vstack' if along == 'rows' else 'hstack'}([{', '.join(names)}])"
