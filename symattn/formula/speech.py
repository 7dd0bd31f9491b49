"""A formula in words, for those who listen: every number and every name of it, in reading order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from typing import assert_never

from symattn.formula.nodes import (
    LABELLED,
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
    explicit,
    pieces,
    tightness,
)
from symattn.foundation.languages import say, spoken

DOTS = {"horizontal": "and so on", "vertical": "and so on", "diagonal": "and so on", "cell": "a number"}
RELATIONS = {
    "=": "{left} equals {right}", "≈": "{left} is about {right}", "→": "{left} goes to {right}",
    ":=": "{left} is defined as {right}", "≠": "{left} is not equal to {right}", "<": "{left} is less than {right}",
    ">": "{left} is greater than {right}", "≤": "{left} is at most {right}", "≥": "{left} is at least {right}",
    "∈": "{left} is in {right}", "·": "{left} times {right}",
}  # fmt: skip
AND = "{left} and {right}"
TIMES = "{left} times {right}"
PRODUCTS = {"": TIMES, "·": TIMES, "×": TIMES, "⊙": "{left} times entry by entry {right}"}
BRACKETS = {
    "(": "open bracket {body} close bracket",
    "[": "open square bracket {body} close square bracket",
    "⟨": "open angle bracket {body} close angle bracket",
    "|": "open bar {body} close bar",
}


def speak(formula: Formula) -> str:
    """The formula in the language that is spoken (`symattn.foundation.languages.speaking`).

    >>> speak(Relation((Name("S"), MatrixOf(((Number("2"), Negative(Number("4"))),))), ("=",)))
    'S equals 1 by 2 matrix, row 1: 2, minus 4'
    """
    return re.sub("[,，](?=[,;，；]|$)", "", " ".join(_speak(formula).split()))


def _speak(node: Formula) -> str:
    return _spoken(node, spoken())


@lru_cache(maxsize=2**14)
def _spoken(node: Formula, language: str) -> str:
    """The words for a node in the language that is spoken: no others are asked for."""
    match node if isinstance(node, Shape | Annotated) else explicit(node):
        case Number(digits):
            return digits
        case Name() as name:
            return _name(name)
        case Text(words):
            return words
        case Infinity():
            return say("infinity")
        case Dots(kind):
            return say(DOTS[kind])
        case Blank():
            return say("blank")
        case Negative(body):
            return say("minus {number}", number=_speak(body))
        case Sum() as total:
            return reduce(_added, pieces(total), "")
        case Product(sign=sign) as product:
            return _joined(PRODUCTS[sign], [_speak(factor) for _, factor in pieces(product)])
        case Fraction(above, below) if _is_atom(above) and _is_atom(below):
            return say("{above} over {below}", above=_speak(above), below=_speak(below))
        case Fraction(above, below):
            return say("the fraction {above} over {below}, end of fraction,", above=_speak(above), below=_speak(below))
        case Power(base, exponent):
            low, high = _speak(base), _speak(exponent)
            if _is_atom(exponent):
                return say("{base} to the power {exponent}", base=low, exponent=high)
            return say("{base} to the power {exponent}, end of exponent,", base=low, exponent=high)
        case Root(body) if _is_atom(body):
            return say("the square root of {body}", body=_speak(body))
        case Root(body):
            return say("the square root of {body}, end of root,", body=_speak(body))
        case Transposed(body):
            return say("{matrix} transposed", matrix=_speak(body))
        case Call(function, arguments):
            inside = _joined(AND, list(map(_speak, arguments)))
            if len(arguments) == 1 and _is_atom(arguments[0]):
                return say("{function} of {arguments}", function=_name(function), arguments=inside)
            return say("{function} of {arguments}, end of {function},", function=_name(function), arguments=inside)
        case Bracketed(body, bracket):
            return say(BRACKETS[bracket], body=_speak(body)) if bracket else _speak(body)
        case ListOf(items, _, _):
            return say("list {items}, end of list,", items=", ".join(map(_speak, items)))
        case MatrixOf() as matrix:
            return _matrix(matrix)
        case Shape(rows, columns):
            return say("{rows} by {columns}", rows=_speak(rows), columns=_speak(columns))
        case Annotated(body, note, _):
            return f"{_speak(body)}, {_speak(note)},"
        case Marked(body, _, words):
            return f"{_speak(body)} {words}"
        case BigSum() as sums:
            return _big_sum(sums)
        case Relation(parts, signs):
            first, *others = map(_speak, parts)
            return reduce(_related, zip(signs, others, strict=True), first)
        case Row(items):
            return "; ".join(map(_speak, items))
        case unknown:
            assert_never(unknown)


def _is_atom(node: Formula) -> bool:
    return (isinstance(node, Negative) and _is_atom(node.body)) or (
        tightness(node) >= LABELLED and not isinstance(node, MatrixOf | ListOf | Annotated)
    )


def _joined(text: str, spoken: Sequence[str]) -> str:
    return reduce(lambda left, right: say(text, left=left, right=right), spoken) if spoken else ""


def _added(before: str, piece: tuple[str, Formula]) -> str:
    sign, term = piece
    match sign:
        case "":
            return _speak(term)
        case "−":
            return say("{left} minus {right}", left=before, right=_speak(term))
        case _:
            return say("{left} plus {right}", left=before, right=_speak(term))


def _related(before: str, link: tuple[str, str]) -> str:
    sign, after = link
    return say(RELATIONS[sign], left=before, right=after) if sign in RELATIONS else f"{before} {sign} {after}"


def _big_sum(node: BigSum) -> str:
    index, body = _speak(node.index), _speak(node.body)
    lower, upper = _speak(node.lower), _speak(node.upper)
    match node.lower != NOTHING, node.upper != NOTHING:
        case True, True:
            return say(
                "the sum over {index} from {lower} to {upper} of {body}",
                index=index,
                lower=lower,
                upper=upper,
                body=body,
            )
        case True, False:
            return say("the sum over {index} from {lower} of {body}", index=index, lower=lower, body=body)
        case False, True:
            return say("the sum over {index} to {upper} of {body}", index=index, upper=upper, body=body)
        case _:
            return say("the sum over {index} of {body}", index=index, body=body)


def _letter(base: str) -> str:
    """The name of a Greek letter; any other word as it is."""
    if len(base) == 1 and unicodedata.name(base, "").startswith("GREEK "):
        return unicodedata.name(base).split(" LETTER ")[-1].lower()
    return base


def _name(name: Name) -> str:
    spoken = _letter(name.base)
    if name.hat:
        spoken = say("{name} hat", name=spoken)
    for _ in range(name.primes):
        spoken = say("{name} prime", name=spoken)
    if name.sup:
        spoken = say("{name} super {above}", name=spoken, above=_letter(name.sup))
    return say("{name} sub {below}", name=spoken, below=" ".join(map(_speak, name.sub))) if name.sub else spoken


def _matrix(node: MatrixOf) -> str:
    height, width = len(node.rows), len(node.rows[0]) if node.rows else 0
    said = say("{rows} by {columns} matrix", rows=height, columns=width)
    if node.column_labels:
        said += ", " + say("columns {labels}", labels=", ".join(map(_speak, node.column_labels)))
    labels: Iterable[object] = map(_speak, node.row_labels) if node.row_labels else range(1, height + 1)
    rows = (say("row {row}: {entries}", row=label, entries=_cells(node, i, width)) for i, label in enumerate(labels))
    return f"{said}, {'; '.join(rows)}"


def _cells(node: MatrixOf, i: int, width: int) -> str:
    return ", ".join(_cell(node, i, j) for j in range(width))


def _cell(node: MatrixOf, i: int, j: int) -> str:
    spoken = _speak(node.rows[i][j]).rstrip(",，")
    return say("{entry} excluded", entry=spoken) if (i, j) in node.excluded else spoken
