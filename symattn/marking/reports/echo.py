"""What a student wrote, as formulas: the tree that was read, drawn as it stands, so that nobody has to guess."""

from __future__ import annotations

from typing import assert_never

from symattn.exact import tree
from symattn.formula import (
    Call,
    Formula,
    Fraction,
    Infinity,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Root,
    Sum,
    Text,
    number,
)
from symattn.marking.attempt import Entry
from symattn.marking.reports import words
from symattn.page.document import Quoted

LONGEST = 60
"""Characters of a student's text that are shown."""

LONGEST_TO_READ = 4000
"""Characters that are shown to somebody who has to read the text."""


def short(text: str, longest: int = LONGEST) -> Quoted:
    """A student's text of any length, cut to what is shown of it."""
    return Quoted(text if len(text) <= longest else text[:longest] + words.ELLIPSIS)


def as_read(entry: Entry) -> Formula:
    """An entry as it was read, a word as a word; as text, cut, where it was not read, or where it is long."""
    if entry.word:
        return Text(short(entry.word))
    if entry.reading is None or len(entry.echo) > LONGEST:
        return Text(short(entry.echo or entry.text))
    return formula_of(entry.reading.tree)


def formula_of(node: tree.Node) -> Formula:
    """The formula that a tree says, nothing worked out."""
    match node:
        case tree.Number(value, digits=digits):
            return Number(digits) if digits else number(value)
        case tree.MinusInfinity():
            return Negative(Infinity())
        case tree.Symbol(name):
            base, _, index = name.partition("_")
            return Name(Quoted(base), (Number(index.strip("{}")),) if index else ())
        case tree.Opposite(body):
            return Negative(formula_of(body))
        case tree.Total(terms):
            return Sum(tuple(map(formula_of, terms)))
        case tree.Product(factors):
            return _product(tuple(map(formula_of, factors)))
        case tree.Over(numerator, denominator):
            return Fraction(formula_of(numerator), formula_of(denominator))
        case tree.Power(base, exponent):
            return Power(formula_of(base), formula_of(exponent))
        case tree.Apply("sqrt", (body,)):
            return Root(formula_of(body))
        case tree.Apply(function, ()):
            return Name({"pi": "π"}.get(function, function))
        case tree.Apply(function, arguments):
            return Call(Name(function), tuple(map(formula_of, arguments)))
        case _:
            assert_never(node)


def _product(factors: tuple[Formula, ...]) -> Product:
    """3e² side by side; with a fraction in it with dots, for 1½ would be a sum."""
    return Product(factors, "·" if any(isinstance(factor, Fraction) for factor in factors) else "")
