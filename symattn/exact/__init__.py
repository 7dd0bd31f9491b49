"""The exact numbers: arithmetic, equality that is decided, correct rounding, and reading what people type."""

from symattn.exact.bridge import from_sympy, to_sympy
from symattn.exact.decide import Decision, compare, decide, is_zero, sign
from symattn.exact.matrix import AnyMatrix, Matrix, Outline, Size, in_numbers, indices, matrix, values_of
from symattn.exact.reading import read
from symattn.exact.real import Real
from symattn.exact.rounding import (
    decimal_text,
    largest_remainder,
    rounded,
    significant_text,
    truncated,
)
from symattn.exact.values import (
    NEGATIVE_INFINITY,
    ExpSum,
    Finite,
    NegativeInfinity,
    Quotient,
    Rational,
    Value,
    divide,
    exact,
    exponential,
    has_symbols,
    is_symbolic,
    logarithm,
    power,
    square_root,
    squared,
)

__all__ = [
    "NEGATIVE_INFINITY",
    "AnyMatrix",
    "Decision",
    "ExpSum",
    "Finite",
    "Matrix",
    "NegativeInfinity",
    "Outline",
    "Quotient",
    "Rational",
    "Real",
    "Size",
    "Value",
    "compare",
    "decide",
    "decimal_text",
    "divide",
    "exact",
    "exponential",
    "from_sympy",
    "has_symbols",
    "in_numbers",
    "indices",
    "is_symbolic",
    "is_zero",
    "largest_remainder",
    "logarithm",
    "matrix",
    "power",
    "read",
    "rounded",
    "sign",
    "significant_text",
    "square_root",
    "squared",
    "to_sympy",
    "truncated",
    "values_of",
]
