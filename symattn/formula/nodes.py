"""What is written: a closed union of formula nodes, without a word of any format.

A writer turns a formula into LaTeX, Typst, Markdown or plain text by `match`ing on these classes.  What
stands in a node is exactly what is to appear: nothing here computes, and `Sum((Number("1"), Number("2")))`
is written 1 + 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

Bracket = Literal["[", "(", "⟨", "|", ""]
CellKind = Literal["integer", "decimal", "fraction", "exponential", "word"]


@dataclass(frozen=True, slots=True)
class Number:
    """Digits as they are to be printed, without a sign: `2`, `0.50`."""

    digits: str


@dataclass(frozen=True, slots=True)
class Name:
    """A letter with its decorations: W^Q, q_{1,2}, S'', ŝ_{1,2}.

    A base of one letter is a variable (italic); a longer one is a word (upright): softmax, Input.
    Primes come before indices.  `sup` is a label such as the q of W^q, never a power.
    """

    base: str
    sub: tuple[Formula, ...] = ()
    sup: str = ""
    primes: int = 0
    hat: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Words inside a formula."""

    words: str


@dataclass(frozen=True, slots=True)
class Infinity:
    """∞; minus infinity is `Negative(Infinity())`."""


@dataclass(frozen=True, slots=True)
class Dots:
    """An ellipsis: `horizontal` …, `vertical` ⋮, `diagonal` ⋱, or `cell`, a centred dot for "some number"."""

    kind: Literal["horizontal", "vertical", "diagonal", "cell"] = "horizontal"


@dataclass(frozen=True, slots=True)
class Blank:
    """A place to write an answer in."""

    kind: CellKind = "integer"


@dataclass(frozen=True, slots=True)
class Negative:
    """−x."""

    body: Formula


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms joined by +; a term that is `Negative` is joined by −."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Factors joined by a sign; the empty sign sets them side by side."""

    factors: tuple[Formula, ...]
    sign: Literal["", "·", "×", "⊙"] = ""


@dataclass(frozen=True, slots=True)
class Fraction:
    """A numerator over a denominator: with a bar, or with a slash inside an exponent or an index."""

    above: Formula
    below: Formula


@dataclass(frozen=True, slots=True)
class Power:
    """base^exponent."""

    base: Formula
    exponent: Formula


@dataclass(frozen=True, slots=True)
class Root:
    """√body."""

    body: Formula


@dataclass(frozen=True, slots=True)
class Transposed:
    """bodyᵀ, or with another sign for it."""

    body: Formula
    sign: Literal["⊤", "T", "′"] = "⊤"


@dataclass(frozen=True, slots=True)
class Call:
    """A named function of its arguments: softmax(S), f(W_q c_1)."""

    function: Name
    arguments: tuple[Formula, ...]
    separator: Literal[",", ";"] = ","


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A formula in brackets that are really written."""

    body: Formula
    bracket: Bracket = "("


@dataclass(frozen=True, slots=True)
class ListOf:
    """Entries on one line in brackets: [1, 0, 1], ⟨q_2k_1, q_2k_2⟩; the empty separator leaves gaps."""

    items: tuple[Formula, ...]
    bracket: Bracket = "["
    separator: Literal["", ",", ";"] = ""


@dataclass(frozen=True, slots=True)
class MatrixOf:
    """A grid of formulas in brackets.

    `separator` and `row_end` are printed between entries and after every row but the last (note 002 writes
    `[1,0,1,⏎ 1,0,0]`); `nested` puts each row in brackets of its own (note 000).  `row_labels` and
    `column_labels`, if any, stand outside; cells in `excluded` are shaded.
    """

    rows: tuple[tuple[Formula, ...], ...]
    bracket: Bracket = "["
    separator: Literal["", ",", ";"] = ""
    row_end: Literal["", ",", ";"] = ""
    nested: bool = False
    row_labels: tuple[Formula, ...] = ()
    column_labels: tuple[Formula, ...] = ()
    excluded: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a matrix: (3, 4) or 3×4."""

    rows: Formula
    columns: Formula
    style: Literal["tuple", "cross"] = "tuple"
    separator: Literal[",", ";"] = ","


@dataclass(frozen=True, slots=True)
class Annotated:
    """A formula with a note at it, mostly its shape: under it, beside it, or as an index."""

    body: Formula
    note: Formula
    place: Literal["under", "beside", "index"] = "under"


@dataclass(frozen=True, slots=True)
class Marked:
    """A formula as it was marked: a small sign behind it (2 ✓), which is read out as `words`."""

    body: Formula
    sign: str
    words: str


@dataclass(frozen=True, slots=True)
class BigSum:
    """Σ with its index and bounds, before its body; empty bounds are left out."""

    index: Formula
    lower: Formula
    upper: Formula
    body: Formula


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain: parts joined by relation signs, one fewer than parts.

    A relation before the first part (an empty `Text`) continues a chain from the line above.
    """

    parts: tuple[Formula, ...]
    signs: tuple[str, ...]  # "=", "≈", "→", ":=", "≠", "<", ">", "≤", "≥"; "·" where a product goes on

    def __post_init__(self) -> None:
        if len(self.signs) != len(self.parts) - 1:
            raise ValueError(f"a chain of {len(self.parts)} parts has {len(self.signs)} signs")


@dataclass(frozen=True, slots=True)
class Row:
    """Formulas next to one another with a gap between: Q = XW, K = XW, V = XW."""

    items: tuple[Formula, ...]


Formula = (
    Number
    | Name
    | Text
    | Infinity
    | Dots
    | Blank
    | Negative
    | Sum
    | Product
    | Fraction
    | Power
    | Root
    | Transposed
    | Call
    | Bracketed
    | ListOf
    | MatrixOf
    | Shape
    | Annotated
    | Marked
    | BigSum
    | Relation
    | Row
)

ONE = Number("1")
ZERO = Number("0")
NOTHING = Text("")

# How tightly a node holds together, loosest first: a child looser than its place asks needs brackets.
RELATION, SUM, NEGATIVE, PRODUCT, POWER, ATOM = range(6)


def tightness(node: Formula) -> int:
    """The precedence of a node: what stands in a tighter place than this is put in brackets."""
    match node:
        case Relation() | Row():
            return RELATION
        case Sum((only,)) | Product((only,)):
            return tightness(only)
        case Sum():
            return SUM
        case BigSum():
            return SUM
        case Negative():
            return NEGATIVE
        case Product():
            return PRODUCT
        case Annotated(body=body):
            return tightness(body)
        case Power() | Fraction() | Transposed():
            return POWER
        case _:
            return ATOM


def factor_needs_brackets(factor: Formula, first: bool, sign: str) -> bool:
    """Whether a factor of a product is bracketed: sums always, a negative one unless it comes first.

    A first negative factor before a written sign is bracketed as well, as teachers write (−1)·2.
    """
    if isinstance(factor, Negative):
        return not first or sign != ""
    return tightness(factor) <= SUM


def base_needs_brackets(base: Formula) -> bool:
    """Whether what is raised to a power or transposed is bracketed."""
    return tightness(base) < ATOM or (isinstance(base, Name) and bool(base.sup))


def index_needs_brackets(base: Formula) -> bool:
    """Whether what gets an index is bracketed: a name that has scripts already, and whatever is looser."""
    return base_needs_brackets(base) or (isinstance(base, Name) and bool(base.sub))


def children(node: Formula) -> Iterator[Formula]:
    """The formulas directly inside a node, in reading order."""
    for field in fields(node):
        yield from _formulas(getattr(node, field.name))


def _formulas(value: object) -> Iterator[Formula]:
    if isinstance(value, Formula):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _formulas(item)


def contains(node: Formula, *kinds: type[Formula]) -> bool:
    """Whether there is a node of one of these kinds in the formula, exponents and indices left aside."""
    match node:
        case _ if isinstance(node, kinds):
            return True
        case Power(base, _):
            return contains(base, *kinds)
        case Name():
            return False
        case _:
            return any(contains(child, *kinds) for child in children(node))


def is_tall(node: Formula) -> bool:
    """Whether brackets round it must grow."""
    return contains(node, Fraction, MatrixOf, BigSum)
