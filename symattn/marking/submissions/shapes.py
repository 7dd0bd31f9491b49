"""Shapes as people state them: as an answer, and beside the name of a matrix: Q (3×4), "the shape of Q: (3, 4)"."""

from __future__ import annotations

import re

from symattn.foundation.languages import message
from symattn.marking.attempt import Shaped, Unreadable
from symattn.marking.submissions import labels
from symattn.marking.submissions.entries import quoted, undecorated, visible

Shape = tuple[int, int]


def alone(text: str) -> Shape | None:
    """The shape that a text is, and nothing else.

    >>> alone("(3 x 4)"), alone("3 by 4"), alone("3×4×5"), alone("3 4")
    ((3, 4), (3, 4), None, None)
    """
    found = _ALONE.fullmatch(text)
    return _shape(found) if found else None


def of_something(text: str) -> tuple[str, Shape] | None:
    """A statement of a shape and of nothing else: the words for what has it, and the shape.

    >>> of_something("Q is a 3×4 matrix"), of_something("The shape of Q is (3, 4)."), of_something("Q ∈ ℝ^{3×4}")
    (('Q is a', (3, 4)), ('The of Q is', (3, 4)), ('Q', (3, 4)))
    >>> of_something("Q = (3, 4)"), of_something("3×5 times 5×4"), of_something("3×4")
    (None, None, None)
    """
    text = _raised(text)
    found = _STATEMENT.fullmatch(text)
    if found is None:
        head, says_shape = _WORDS.subn(" ", text)
        found = _PAIR.fullmatch(head) if says_shape else None
    if found is None or _SIZES.search(found["what"]):
        return None
    what = " ".join(_WORDS.sub(" ", found["what"]).split())
    return (what, _shape(found)) if what else None


def beside(name: str) -> Shape | None:
    """The shape that stands beside a name; none if there are several, as of two factors.

    >>> beside("Q (3 x 4)"), beside("Q_{3×4}"), beside("Q₃ₓ₄"), beside("X W_Q (3×5)(5×4)")
    ((3, 4), (3, 4), (3, 4), None)
    """
    found = [*_SIZES.finditer(_raised(name))]
    return _shape(found[0]) if len(found) == 1 else None


def without(name: str) -> str:
    """A name without the shape beside it, in numbers or in letters.

    >>> without("Q (3 x 4)"), without("Q_{3 × 4}"), without("Q₃ₓ₄"), without("K (n×d_k)"), without("(dX_K)")
    ('Q', 'Q', 'Q', 'K', '(dX_K)')
    """
    return _ANY.sub("", _raised(name))


def without_last(text: str) -> tuple[str, Shape | None]:
    """What stands before the shape behind the last bracket of a matrix, and that shape.

    >>> without_last("[1 2; 3 4], 2×2"), without_last("[1 2; 3 4]"), without_last("X W (3×5)(5×4)")
    (('[1 2; 3 4]', (2, 2)), ('[1 2; 3 4]', None), ('X W (3×5)(5×4)', None))
    """
    found = _BEHIND.search(text)
    if found is None or _SIZES.search(text[: found.start()]):
        return text, None
    return text[: found.start()], _shape(found)


def _raised(text: str) -> str:
    """A shape that is set below the line, as our own plain text does it, on the line."""
    return _LOW.sub(lambda found: f"_{{{found[0].translate(_DIGITS)}}}", text) if "ₓ" in text else text


def _shape(found: re.Match[str]) -> Shape:
    return int(found["rows"]), int(found["columns"])


_CROSSED = r"(?P<rows>\d{1,3})\s{0,9}(?:[xX×⨯]|\\times|by)\s{0,9}(?P<columns>\d{1,3})"
_SIZE = rf"[(\[{{]{{0,2}}\s{{0,9}}{_CROSSED}\s{{0,9}}[)\]}}]{{0,2}}"
_WHAT = r"(?P<what>[^\[\]=\n]{1,60}?)"
_IN = r"(?:\s{0,9}(?:∈|\\in)\s{0,9}(?:R|ℝ|\\mathbb\s?\{?R\}?)\s{0,9}\^?)?"
_ALONE = re.compile(rf"\s{{0,9}}{_SIZE}[\s.]{{0,9}}")
_SIZES = re.compile(rf"(?<![\d.]){_SIZE}(?![\d.])")
_STATEMENT = re.compile(rf"{_WHAT}{_IN}[\s:=(_]{{0,9}}{_SIZE}\s{{0,9}}(?:matrix|matriz|matrice)?[\s.!]{{0,9}}", re.I)
_PAIR = re.compile(
    rf"{_WHAT}[\s:=]{{0,9}}[(\[]\s{{0,9}}(?P<rows>\d{{1,3}})\s{{0,9}}[,;]\s{{0,9}}(?P<columns>\d{{1,3}})\s{{0,9}}[)\]][\s.]{{0,9}}"
)
_WORDS = re.compile(
    r"\.?\b(?:shape|dimensions?|dim|size|form|format|größe|taille|forma|dimensi(?:ón|ones))\b|形状|大小", re.I
)
_LOW = re.compile(r"[₀-₉]{1,3}ₓ[₀-₉]{1,3}")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₓ", "0123456789×")
_ANY = re.compile(
    r"\s{0,9}[(\[]\s{0,9}\w{1,5}\s{0,9}(?:[×*]|(?<=[\d\s])x(?=[\d\s]))\s{0,9}\w{1,5}\s{0,9}[)\]]"
    r"|_\{?\s?\d{1,3}\s?(?:x|×|\\times)\s?\d{1,3}(?!\d)\s?\}?",
    re.I,
)
_BEHIND = re.compile(rf"(?<=[\])])[\s,;_]{{0,9}}{_SIZE}[\s.]{{0,9}}$")


# ------------------------------------------------------------------------------------------------ as an answer

_UNDEFINED = re.compile(
    r"(?i)(?:(?:it|this|that)(?: is|'s|’s)? |is )?(?:not (?:defined|def\.?|possible|compatible)|undefined|un-?def\.?|"
    r"n\.? ?d\.?|impossible|none|no|n/a|dne|(?:does not|doesn['’]t) (?:exist|work)|"
    r"(?:cannot|can['’]t|can not) be (?:multiplied|added)|not conformable|"
    r"(?:(?:shapes?|sizes?|dimensions?|inner sizes) )?mismatch|error|nicht (?:def\.?|möglich)|geht nicht|∅|✗|✘|×)\.?"
)
_LENGTH = r"\d{1,9}|\d{0,3}[^\W\d_]{1,3}(?:_\{?\w{1,8}\}?)?"
_SHAPE = re.compile(
    rf"({_LENGTH})\s*(?:×|\*|\\times|⨯|[xX]|-?\bby\b-?)\s*({_LENGTH})"
    rf"|[(\[]\s*({_LENGTH})\s*[,;]\s*({_LENGTH})\s*[)\]]"
    r"|(\d{1,9})(?:\s*[,;]\s*|\s+)(\d{1,9})"
)
_ROUND_A_SHAPE = re.compile(
    r"(?i)(?:(?:the|it|its|it['’]s|shape|size|is|of|a|an|so|defined|yes|torch\.size|die|form|hat)\b[\s:=,]*)*[:=]?\s*"
    r"(.*?)(?:[-\s]matri(?:x|ces))?"
)


_COUNTED = re.compile(r"(?i)\b(?:rows?|columns?|zeilen|spalten|and|und)\b")


def shape(text: str) -> Shaped | Unreadable:
    """3×4, 3x4, (3, 4), "3 by 4", "not defined".

    >>> shape("(3, 4)").shape, shape("n × d_k").shape, shape("not defined").shape, shape("(3×2)(2×4) = 3×4").shape
    ((3, 4), ('n', 'd_k'), None, (3, 4))
    """
    written = " ".join(visible(undecorated(text)).split())
    last = re.split(r"=|->|=>|→|⇒", _COUNTED.sub("", written))[-1].strip(" .")
    words = last.strip("()[]。")
    if _UNDEFINED.fullmatch(words) or words.casefold() in labels.said("not defined"):
        return Shaped(None)
    shapes = map(_SHAPE.fullmatch, (last, last.strip(" ()[]")))
    bare = _ROUND_A_SHAPE.fullmatch(last)
    found = next(filter(None, (*shapes, bare and _SHAPE.fullmatch(bare[1].strip()))), None)
    if not found:
        says = message('Found {text}, where a shape such as 3×4, or "not defined", was expected.', text=quoted(text))
        return Unreadable(text, says)
    rows, columns = (
        int(size) if size.isdecimal() and len(size) < 10 else re.sub(r"[{}]", "", size)
        for size in found.groups()
        if size
    )
    return Shaped((rows, columns))
