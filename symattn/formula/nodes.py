"""What is written: a closed union of formula nodes, without a word of any format.

A writer turns a formula into LaTeX, Typst, Markdown or plain text by `match`ing on these classes.  What
stands in a node is exactly what is to appear: nothing here computes, and `Sum((Number("1"), Number("2")))`
is written 1 + 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Any, Literal, TypeVar, dataclass_transform

Bracket = Literal["[", "(", "⟨", "|", ""]
CellKind = Literal["integer", "decimal", "fraction", "exponential", "word"]


GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "vartheta": "θ",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "upsilon": "υ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ",
    "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "epsilon": "ϵ", "phi": "ϕ", "ell": "ℓ",
}  # fmt: skip
"""Letters by their names in TeX, of two for one letter the usual name last."""

T = TypeVar("T", bound="type[Node]")


class Node:
    """What all nodes have in common: a hash and a width that are worked out once.

    Writers look up what they wrote of a node, and a line is measured for one arrangement after the other.
    """

    __slots__ = ("_hash", "_width")
    _hash: int
    _width: float


@dataclass_transform(frozen_default=True)
def _node(kind: T) -> T:
    """A kind of node: an immutable dataclass."""
    made: Any = dataclass(frozen=True, slots=True)(kind)
    hash_of_fields = made.__hash__

    def hash_once(self: Any) -> int:
        try:
            value: int = self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", value := hash_of_fields(self))
        return value

    made.__hash__ = hash_once
    return made  # type: ignore[no-any-return]


@_node
class Number(Node):
    """Digits as they are to be printed, without a sign: `2`, `0.50`."""

    digits: str


@_node
class Name(Node):
    """A letter with its decorations: W^Q, q_{1,2}, S'', ŝ_{1,2}.

    A base of one letter is a variable (italic); a longer one is a word (upright): softmax, Input.
    Primes come before indices.  `sup` is a label such as the q of W^q, never a power.
    """

    base: str
    sub: tuple[Formula, ...] = ()
    sup: str = ""
    primes: int = 0
    hat: bool = False


@_node
class Text(Node):
    """Words inside a formula."""

    words: str


@_node
class Infinity(Node):
    """∞; minus infinity is `Negative(Infinity())`."""


@_node
class Dots(Node):
    """An ellipsis: `horizontal` …, `vertical` ⋮, `diagonal` ⋱, or `cell`, a centred dot for "some number"."""

    kind: Literal["horizontal", "vertical", "diagonal", "cell"] = "horizontal"


@_node
class Blank(Node):
    """A place to write an answer in."""

    kind: CellKind = "integer"


@_node
class Negative(Node):
    """−x."""

    body: Formula


@_node
class Sum(Node):
    """Terms joined by +; a term that is `Negative` is joined by −."""

    terms: tuple[Formula, ...]


@_node
class Product(Node):
    """Factors joined by a sign; the empty sign sets them side by side."""

    factors: tuple[Formula, ...]
    sign: Literal["", "·", "×", "⊙"] = ""


@_node
class Fraction(Node):
    """A numerator over a denominator: with a bar, or with a slash inside an exponent or an index."""

    above: Formula
    below: Formula


@_node
class Power(Node):
    """base^exponent."""

    base: Formula
    exponent: Formula


@_node
class Root(Node):
    """√body."""

    body: Formula


@_node
class Transposed(Node):
    """bodyᵀ, or with another sign for it."""

    body: Formula
    sign: Literal["⊤", "T", "′"] = "⊤"


@_node
class Call(Node):
    """A named function of its arguments: softmax(S), f(W_q c_1)."""

    function: Name
    arguments: tuple[Formula, ...]
    separator: Literal[",", ";"] = ","


@_node
class Bracketed(Node):
    """A formula in brackets that are really written."""

    body: Formula
    bracket: Bracket = "("


@_node
class ListOf(Node):
    """Entries on one line in brackets: [1, 0, 1], ⟨q_2k_1, q_2k_2⟩; the empty separator leaves gaps."""

    items: tuple[Formula, ...]
    bracket: Bracket = "["
    separator: Literal["", ",", ";"] = ""


@_node
class MatrixOf(Node):
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

    @property
    def entries(self) -> tuple[Formula, ...]:
        """Row by row."""
        return tuple(cell for row in self.rows for cell in row)


@_node
class Shape(Node):
    """The shape of a matrix: (3, 4) or 3×4."""

    rows: Formula
    columns: Formula
    style: Literal["tuple", "cross"] = "tuple"
    separator: Literal[",", ";"] = ","


@_node
class Annotated(Node):
    """A formula with a note at it, mostly its shape: under it, beside it, or as an index."""

    body: Formula
    note: Formula
    place: Literal["under", "beside", "index"] = "under"


@_node
class Marked(Node):
    """A formula as it was marked: a small sign behind it (2 ✓), which is read out as `words`."""

    body: Formula
    sign: str
    words: str


@_node
class BigSum(Node):
    """Σ with its index and bounds, before its body; empty bounds are left out."""

    index: Formula
    lower: Formula
    upper: Formula
    body: Formula


@_node
class Relation(Node):
    """A chain: parts joined by relation signs, one fewer than parts.

    A relation before the first part (an empty `Text`) continues a chain from the line above.
    """

    parts: tuple[Formula, ...]
    signs: tuple[str, ...]  # "=", "≈", "→", ":=", "≠", "<", ">", "≤", "≥"; "·" where a product goes on

    def __post_init__(self) -> None:
        if len(self.signs) != len(self.parts) - 1:
            raise ValueError(f"a chain of {len(self.parts)} parts has {len(self.signs)} signs")


def equal(*parts: Formula) -> Relation:
    """A chain of equal parts: Q = X W = …"""
    return Relation(parts, ("=",) * (len(parts) - 1))


@_node
class Row(Node):
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


def unsigned(node: Formula) -> Formula:
    """It without its minus."""
    return node.body if isinstance(node, Negative) else node


def is_short_fraction(node: Formula) -> bool:
    """Whether it is a fraction of plain numbers, such as 1/2, −3/4: legible when small."""
    return isinstance(node, Fraction) and all(isinstance(unsigned(x), Number) for x in (node.above, node.below))


def is_signed_number(node: Formula) -> bool:
    """Whether it is a number, ∞ or a fraction of plain numbers, with a minus or without."""
    return isinstance(unsigned(node), Number | Infinity) or is_short_fraction(unsigned(node))


def children(node: Formula) -> list[Formula]:
    """The formulas directly inside a node, in reading order."""
    formulas: list[Formula] = []
    kind: Any = node.__class__
    for name in _inner_fields(kind):
        _add_formulas(getattr(node, name), formulas)
    return formulas


def rebuilt(node: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """The node with each formula directly inside it changed."""

    def changed(value: Any) -> Any:
        return tuple(map(changed, value)) if isinstance(value, tuple) else change(value)

    kind: Any = node.__class__
    inner = {name: changed(getattr(node, name)) for name in _inner_fields(kind)}
    return replace(node, **inner) if inner else node


def put_in(node: Formula, formulas: Mapping[Formula, Formula]) -> Formula:
    """The node with formulas in place of others that stand anywhere in it; what takes their place is left as it is."""
    return formulas[node] if node in formulas else rebuilt(node, lambda part: put_in(part, formulas))


def parts_of(node: Formula) -> Iterator[Formula]:
    """The node and all that stands in it, indices and exponents, too."""
    yield node
    for child in children(node):
        yield from parts_of(child)


@cache
def _inner_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a kind of node in which formulas may stand."""
    return tuple(field.name for field in fields(kind) if "Formula" in field.type or field.type == "Name")


def _add_formulas(value: Any, formulas: list[Formula]) -> None:
    if isinstance(value, tuple):
        for item in value:
            _add_formulas(item, formulas)
    else:
        formulas.append(value)


def contains(node: Formula, *kinds: type[Formula]) -> bool:
    """Whether there is a node of one of these kinds in the formula, exponents and indices left aside."""
    return _contains(node, kinds)


@lru_cache(maxsize=2**13)
def _contains(node: Formula, kinds: Any) -> bool:
    match node:
        case _ if isinstance(node, kinds):
            return True
        case Power(base, _):
            return _contains(base, kinds)
        case Name() | Number():
            return False
        case _:
            return any(_contains(child, kinds) for child in children(node))


def is_tall(node: Formula) -> bool:
    """Whether brackets round it must grow."""
    return contains(node, Fraction, MatrixOf, BigSum)


# --- brackets and signs, which follow from what is written: one pass in front of every writer ------------

RELATION, SUM, NEGATIVE, PRODUCT, POWER, LABELLED, INDEXED, ATOM = range(8)
"""How tightly a node holds together, loosest first: a child looser than its place asks stands in brackets."""

INVISIBLE, THIN = "\u2062", "\u2009"
"""The signs of a product whose factors stand side by side: nothing, or a thin space beside words."""


def tightness(node: Formula) -> int:
    """The precedence of a node: a name with scripts lets no further one of their kind be put to it."""
    match node:
        case Relation() | Row():
            return RELATION
        case Sum((only,)) | Product((only,)):
            return tightness(only)
        case Sum() | BigSum():
            return SUM
        case Negative():
            return NEGATIVE
        case Product():
            return PRODUCT
        case Power() | Fraction() | Transposed():
            return POWER
        case Name(sub=sub, sup=sup):
            return LABELLED if sup else INDEXED if sub else ATOM
        case Annotated(body=body) if (inner := tightness(body)) < LABELLED:
            return inner
        case _:
            return ATOM


def parenthesize(node: Formula, level: int) -> Formula:
    """The node, in brackets where it is looser than its place asks."""
    return node if tightness(node) >= level else Bracketed(node)


def explicit(node: Formula) -> Formula:
    """The node, what stands directly in it in brackets where it needs them.

    The parts of sums and products, and of fractions with a slash, come with their signs: see `pieces`.

    >>> explicit(Negative(Sum((Number("1"), Number("2"))))).body.__class__.__name__
    'Bracketed'
    """
    match node:
        case Negative(body) if tightness(body) < PRODUCT:
            return Negative(Bracketed(body))
        case Power(base, exponent) if tightness(base) < INDEXED:
            return Power(Bracketed(base), exponent)
        case Transposed(body, sign) if tightness(body) < INDEXED:
            return Transposed(Bracketed(body), sign)
        case Annotated(body, note, "index") if tightness(body) < ATOM:
            return Annotated(Bracketed(body), note, "index")
        case BigSum(body=body) if tightness(body) < NEGATIVE and not isinstance(body, BigSum):
            return replace(node, body=Bracketed(body))
        case Shape(rows, columns, "tuple", separator):
            return ListOf((rows, columns), "(", separator)
    return node


def pieces(node: Sum | Product | Fraction, slashed: bool = False) -> Iterator[tuple[str, Formula]]:
    """The parts of a chain in the brackets that they need, each with the sign before it, "" for the first.

    A fraction is a chain where it is written with a slash; `slashed`, so are those in a product.  A negative factor
    stands in brackets unless it comes first and no sign is written: (−1)·2, as teachers write.

    >>> [sign for sign, _ in pieces(Sum((Number("1"), Negative(Number("2")))))]
    ['', '−']
    """
    match node:
        case Sum(terms):
            for i, term in enumerate(terms):
                match term:
                    case Negative(body) if i:
                        yield "−", parenthesize(body, PRODUCT)
                    case BigSum() if i == len(terms) - 1:  # what it sums ends with the whole
                        yield "+" if i else "", term
                    case _:
                        yield "+" if i else "", parenthesize(term, NEGATIVE)
        case Fraction(above, below):
            yield "", Bracketed(above) if isinstance(above, Fraction) else parenthesize(above, NEGATIVE)
            yield "/", Bracketed(below) if isinstance(below, Fraction) else parenthesize(below, POWER)
        case Product(factors, sign):
            for i, factor in enumerate(factors):
                shown = parenthesize(factor, PRODUCT if i or sign else NEGATIVE)
                if slashed and not sign and isinstance(factor, Fraction):  # (1/2)x, but 1/2 · x
                    shown = Bracketed(factor)
                yield _sign(factors[i - 1], factor, sign) if i else "", shown


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
