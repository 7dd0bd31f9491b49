"""One pass in front of every writer of formulas makes explicit what follows from them: brackets and signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symattn.formula.nodes import (
    NEGATIVE,
    POWER,
    PRODUCT,
    Annotated,
    BigSum,
    Bracketed,
    Formula,
    Fraction,
    ListOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Shape,
    Sum,
    Text,
    Transposed,
    base_needs_brackets,
    factor_needs_brackets,
    index_needs_brackets,
    tightness,
)

INVISIBLE, THIN = "\u2062", "\u2009"
"""The signs of a product whose factors stand side by side: nothing, or a thin space beside words."""


def parenthesize(node: Formula, level: int) -> Formula:
    """The node, in brackets where it is looser than its place asks."""
    return _in_brackets(node, tightness(node) < level)


def _in_brackets(node: Formula, brackets: bool) -> Formula:
    return Bracketed(node) if brackets else node


def explicit(node: Formula) -> Formula:
    """The node, what stands directly in it in brackets where it needs them.

    The parts of sums and products, and of fractions with a slash, come with their signs: see `pieces`.

    >>> explicit(Negative(Sum((Number("1"), Number("2"))))).body.__class__.__name__
    'Bracketed'
    """
    match node:
        case Negative(body):
            return Negative(parenthesize(body, PRODUCT))
        case Power(base, exponent):
            return Power(_in_brackets(base, base_needs_brackets(base)), exponent)
        case Transposed(body, sign):
            return Transposed(_in_brackets(body, base_needs_brackets(body)), sign)
        case Annotated(body, note, "index"):
            return Annotated(_in_brackets(body, index_needs_brackets(body)), note, "index")
        case BigSum(body=body) if not isinstance(body, BigSum):
            return replace(node, body=parenthesize(body, NEGATIVE))
        case Shape(rows, columns, "tuple", separator):
            return ListOf((rows, columns), "(", separator)
    return node


def pieces(node: Sum | Product | Fraction, slashed: bool = False) -> Iterator[tuple[str, Formula]]:
    """The parts of a chain in the brackets that they need, each with the sign before it, "" for the first.

    A fraction is a chain where it is written with a slash; `slashed`, so are those in a product.

    >>> [sign for sign, _ in pieces(Sum((Number("1"), Negative(Number("2")))))]
    ['', '−']
    """
    match node:
        case Sum(terms):
            last = len(terms) - 1
            for i, term in enumerate(terms):
                match term:
                    case Negative(body) if i:
                        yield "−", parenthesize(body, PRODUCT)
                    case BigSum():
                        yield "+" if i else "", _in_brackets(term, i < last)
                    case _:
                        yield "+" if i else "", parenthesize(term, NEGATIVE)
        case Fraction(above, below):
            yield "", _in_brackets(above, tightness(above) < NEGATIVE or isinstance(above, Fraction))
            yield "/", _in_brackets(below, tightness(below) < POWER or isinstance(below, Fraction))
        case Product(factors, sign):
            for i, factor in enumerate(factors):
                brackets = factor_needs_brackets(factor, i == 0, sign)
                if slashed and isinstance(factor, Fraction):  # (1/2)x, but 1/2 · x
                    brackets = sign == ""
                yield _sign(factors[i - 1], factor, sign) if i else "", _in_brackets(factor, brackets)


def _sign(left: Formula, right: Formula, sign: str) -> str:
    """The sign between two factors.  Digits get one in any case: 2·3 is not to read 23."""
    if sign:
        return sign
    if _ends_with_digit(left) and _begins_with_digit(right):
        return "·"
    return THIN if run_together(left, right) else INVISIBLE


def run_together(left: Formula, right: Formula) -> bool:
    """Whether two factors side by side need a space: words, and formulas with notes under them."""
    return any(
        isinstance(node, Text | Annotated) or (isinstance(node, Name) and len(node.base) > 1) for node in (left, right)
    )


def _ends_with_digit(node: Formula) -> bool:
    match node:
        case Number():
            return True
        case Product((*_, last)) | Negative(last):
            return _ends_with_digit(last)
        case _:
            return False


def _begins_with_digit(node: Formula) -> bool:
    match node:
        case Number():
            return True
        case Power(first, _) | Product((first, *_)):
            return _begins_with_digit(first)
        case _:
            return False
