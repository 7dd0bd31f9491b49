"""A formula in words, for those who listen: every number and every name of it, in reading order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import assert_never

from symattn.formula.nodes import (
    ATOM,
    NOTHING,
    Annotated,
    BigSum,
    Blank,
    Bracketed,
    Call,
    Dots,
    Formula,
    Fraction,
    Infinity,
    ListOf,
    Marked,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Shape,
    Sum,
    Text,
    Transposed,
    base_needs_brackets,
    factor_needs_brackets,
    tightness,
)

_DOTS = {"horizontal": "and so on", "vertical": "and so on", "diagonal": "and so on", "cell": "a number"}
_SIGN = {
    "=": "equals", "≈": "is about", "→": "goes to", ":=": "is defined as", "≠": "is not equal to",
    "<": "is less than", ">": "is greater than", "≤": "is at most", "≥": "is at least", "∈": "is in",
}  # fmt: skip
_TIMES = {"": "times", "·": "times", "×": "times", "⊙": "times entry by entry"}
_BRACKET = {"(": "bracket", "[": "square bracket", "⟨": "angle bracket", "|": "bar", "": ""}


def speak(formula: Formula) -> str:
    """The formula in English.

    >>> speak(Relation((Name("S"), MatrixOf(((Number("2"), Negative(Number("4"))),))), ("=",)))
    'S equals 1 by 2 matrix, row 1: 2, minus 4'
    """
    return re.sub(r",(?=[,;]|$)", "", " ".join(_speak(formula).split()))


def _speak(node: Formula) -> str:
    match node:
        case Number(digits):
            return digits
        case Name():
            return _name(node)
        case Text(words):
            return words
        case Infinity():
            return "infinity"
        case Dots(kind):
            return _DOTS[kind]
        case Blank():
            return "blank"
        case Negative(body):
            return "minus " + _bracketed(body, isinstance(body, Sum | Negative))
        case Sum(terms):
            return _speak(terms[0]) + "".join(map(_term, terms[1:])) if terms else ""
        case Product(factors, sign):
            return f" {_TIMES[sign]} ".join(
                _bracketed(factor, factor_needs_brackets(factor, i == 0, sign)) for i, factor in enumerate(factors)
            )
        case Fraction(above, below) if _is_atom(above) and _is_atom(below):
            return f"{_speak(above)} over {_speak(below)}"
        case Fraction(above, below):
            return f"the fraction {_speak(above)} over {_speak(below)}, end of fraction,"
        case Power(base, exponent) if _is_atom(exponent):
            return f"{_bracketed(base, base_needs_brackets(base))} to the power {_speak(exponent)}"
        case Power(base, exponent):
            return f"{_bracketed(base, base_needs_brackets(base))} to the power {_speak(exponent)}, end of exponent,"
        case Root(body):
            return f"the square root of {_speak(body)}" + ("" if _is_atom(body) else ", end of root,")
        case Transposed(body):
            return f"{_bracketed(body, base_needs_brackets(body))} transposed"
        case Call(function, arguments):
            inside = " and ".join(map(_speak, arguments))
            short = len(arguments) == 1 and _is_atom(arguments[0])
            return f"{_name(function)} of {inside}" + ("" if short else f", end of {_name(function)},")
        case Bracketed(body, bracket):
            return f"open {_BRACKET[bracket]} {_speak(body)} close {_BRACKET[bracket]}" if bracket else _speak(body)
        case ListOf(items, _, _):
            return f"list {', '.join(map(_speak, items))}, end of list,"
        case MatrixOf():
            return _matrix(node)
        case Shape(rows, columns):
            return f"{_speak(rows)} by {_speak(columns)}"
        case Annotated(body, note, _):
            return f"{_speak(body)}, {_speak(note)},"
        case Marked(body, _, words):
            return f"{_speak(body)} {words}"
        case BigSum(index, lower, upper, body):
            lowest = f" from {_speak(lower)}" if lower != NOTHING else ""
            highest = f" to {_speak(upper)}" if upper != NOTHING else ""
            return f"the sum over {_speak(index)}{lowest}{highest} of {_bracketed(body, isinstance(body, Sum))}"
        case Relation(parts, signs):
            first, *others = map(_speak, parts)
            return first + "".join(f" {_SIGN.get(s, s)} {part}" for s, part in zip(signs, others, strict=True))
        case Row(items):
            return "; ".join(map(_speak, items))
        case _:
            assert_never(node)


def _is_atom(node: Formula) -> bool:
    return (isinstance(node, Negative) and _is_atom(node.body)) or (
        tightness(node) == ATOM and not isinstance(node, MatrixOf | ListOf | Annotated)
    )


def _bracketed(body: Formula, brackets: bool) -> str:
    return f"open bracket {_speak(body)} close bracket" if brackets else _speak(body)


def _term(term: Formula) -> str:
    match term:
        case Negative(body):
            return " minus " + _bracketed(body, isinstance(body, Sum | Negative))
        case _:
            return " plus " + _bracketed(term, isinstance(term, Sum))


def _letter(base: str) -> str:
    """The name of a Greek letter; any other word as it is."""
    if len(base) == 1 and unicodedata.name(base, "").startswith("GREEK "):
        return unicodedata.name(base).split(" LETTER ")[-1].lower()
    return base


def _name(name: Name) -> str:
    words = [_letter(name.base)]
    words += ["hat"] * name.hat + ["prime"] * name.primes
    words += ["super", _letter(name.sup)] if name.sup else []
    words += ["sub", *map(_speak, name.sub)] if name.sub else []
    return " ".join(words)


def _matrix(node: MatrixOf) -> str:
    width = len(node.rows[0]) if node.rows else 0
    heads = f", columns {', '.join(map(_speak, node.column_labels))}" if node.column_labels else ""
    labels: Iterable[str] = map(_speak, node.row_labels) if node.row_labels else map(str, range(1, len(node.rows) + 1))
    rows = (f"row {label}: " + ", ".join(_cell(node, i, j) for j in range(width)) for i, label in enumerate(labels))
    return f"{len(node.rows)} by {width} matrix{heads}, {'; '.join(rows)}"


def _cell(node: MatrixOf, i: int, j: int) -> str:
    return _speak(node.rows[i][j]).rstrip(",") + (" excluded" if (i, j) in node.excluded else "")
