"""Formulas typed by authors of notations, examples and problem files.

A small language, close to what one would write on a board:

    S'' = softmax(frac(Q K^T, sqrt(d_x)))            names, primes, labels, calls, fractions, roots
    [x_{i,j} for i:n, j:d_model]                     a matrix, entry by entry; sizes come from the scope
    [Q_i for i:n;]     [k_j^T for j:n]               a column, a row
    X W^q || X W^k                                   formulas side by side
    under(X, @shape(X)) = @values(X)                 @…: what the scope supplies, such as numbers

Words of several letters are set upright; `"quoted text"` is taken as it stands.  A name with one letter as
superscript (`W^q`) carries a label; `^T` transposes; any other superscript is a power.

The text is data from a file: it is only ever read, never run.  `ReadError` says what was found and where.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from symattn.errors import ReadError, SymattnError
from symattn.formula.nodes import (
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
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Sum,
    Text,
    Transposed,
)
from symattn.foundation.languages import message

DEEPEST = 40
"""Levels of nesting."""

MOST_CELLS = 10_000


@dataclass(frozen=True, slots=True)
class Scope:
    """What a formula may refer to.

    `indices` replaces an index letter by a number (i → 2); `sizes` bounds `for i:n`; `names` replaces a whole
    name (d_k → d_x); `slots` supplies `@name(arguments)`. Indices count from 1 here; they are written from `first`.
    """

    indices: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int | str] = field(default_factory=dict)
    names: Mapping[str, Formula] = field(default_factory=dict)
    slots: Mapping[str, Callable[..., Formula]] = field(default_factory=dict)
    first: int = 1


EMPTY = Scope()


def read_formula(text: str, scope: Scope = EMPTY) -> Formula:
    """Read one formula; `ReadError` names what was found, where, and what was expected."""
    return _Reader(text, scope).whole()


# --- what this language and LaTeX have in common ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A part of a text: what it is, as it stands, where it begins, and whether a space is before it."""

    kind: str
    text: str
    start: int
    glued: bool = False


class Grammar(ABC):
    """A formula read from its tokens, loosest signs first; a language has signs of its own, and factors."""

    relations: ClassVar[Mapping[str, str]]
    products: ClassVar[Mapping[str, str]]
    minus: ClassVar[tuple[str, ...]]

    def __init__(self, text: str, shown: str, tokens: Iterable[Lexeme]) -> None:
        """Errors have the text as it is `shown`."""
        self.text, self.shown = text, shown
        end = Lexeme("end", "", len(text))
        self.tokens = [*tokens, end, end]
        self.at = 0
        self.depth = 0

    # -- walking the tokens

    @property
    def token(self) -> Lexeme:
        return self.tokens[self.at]

    def take(self) -> Lexeme:
        token = self.token
        self.at = min(self.at + 1, len(self.tokens) - 1)  # the last of two ends
        return token

    def peek(self, *texts: str) -> bool:
        return self.token.text in texts

    def accept(self, *texts: str) -> str:
        return self.take().text if self.peek(*texts) else ""

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"{self.quoted(text)} was expected")

    def quoted(self, text: str) -> str:
        """How a token is called in an error."""
        return text

    def error(self, expected: str, token: Lexeme | None = None) -> ReadError:
        token = token or self.token
        came = f"{self.quoted(token.text)} came" if token.text else "the formula ends"
        return ReadError(
            f"In the formula {self.shown}, at character {token.start + 1}, {expected}, but {came}.",
            self.text,
            token.start,
        )

    def deeper(self, depth: int) -> int:
        """One level more, if there may be."""
        if depth >= DEEPEST:
            raise self.error(f"at most {DEEPEST} levels of nesting were expected")
        return depth + 1

    # -- the grammar

    def whole(self) -> Formula:
        formula = self.row()
        if self.token.kind != "end":
            raise self.error("a sign or the end was expected")
        return formula

    def relation(self) -> Formula:
        parts: list[Formula] = [NOTHING if self.peek(*self.relations) else self.sum()]
        signs: list[str] = []
        while sign := self.accept(*self.relations):
            signs.append(self.relations[sign])
            parts.append(self.sum())
        return parts[0] if not signs else Relation(tuple(parts), tuple(signs))

    def sum(self) -> Formula:
        terms = [Negative(self.product()) if self.accept(*self.minus) else self.product()]
        while sign := self.accept("+", *self.minus):
            terms.append(self.product() if sign == "+" else Negative(self.product()))
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def product(self) -> Formula:
        result = self.factor()
        before: str | None = None
        slashes = 0
        while True:
            if sign := self.accept(*self.products):
                sign = self.products[sign]
            elif self.accept("/"):
                slashes = self.deeper(slashes)
                result, before = Fraction(result, self.factor()), None
                continue
            elif not self.starts_factor():
                return result
            factor = self.factor()
            if before == sign and isinstance(result, Product):
                result = Product((*result.factors, factor), result.sign)
            else:
                result = Product((result, factor), sign)  # type: ignore[arg-type]
            before = sign

    @abstractmethod
    def row(self) -> Formula:
        """Everything, formulas side by side."""

    @abstractmethod
    def factor(self) -> Formula:
        """What holds together more tightly than products: an atom with its scripts."""

    @abstractmethod
    def starts_factor(self) -> bool:
        """Whether a factor begins here, though no sign is before it."""


# --- the language of notations ----------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>\d+(?:\.\d+)?)
    | (?P<word>[A-Za-zΑ-ΡΤ-ωϕ]+)
    | (?P<text>"[^"]*")
    | (?P<sign>\|\||:=|->|\.\.\.|[=≈→≠<>≤≥+\-−·×⊙*/^_'()\[\]{},;:@∞…Σ⟨⟩.])
    )""",
    re.VERBOSE,
)
_SAME = {"->": "→", "−": "-", "*": "·", "...": "…"}


_RELATIONS = {sign: sign for sign in ("=", "≈", "→", ":=", "≠", "<", ">", "≤", "≥")}
_PRODUCTS = {sign: sign for sign in "·×⊙"}


class _Reader(Grammar):
    relations, products, minus = _RELATIONS, _PRODUCTS, ("-",)

    def __init__(self, text: str, scope: Scope) -> None:
        super().__init__(text, repr(text), _tokens(text))
        self.scope = scope
        self.cells = 0

    def quoted(self, text: str) -> str:
        return repr(text)

    def row(self) -> Formula:
        items = [self.relation()]
        while self.accept("||"):
            items.append(self.relation())
        return items[0] if len(items) == 1 else Row(tuple(items))

    def starts_factor(self) -> bool:
        token = self.token
        if token.kind == "word" and token.text == "for":
            return False
        return token.kind in ("number", "word", "text") or self.peek("(", "[", "⟨", "@", "∞", "…", "Σ")

    def factor(self) -> Formula:
        self.depth = self.deeper(self.depth)
        formula = self.atom()
        added = 0
        while True:
            added = self.deeper(added)
            if self.accept("'"):
                formula = self.decorate(formula, primes=1)
            elif self.accept("_"):
                formula = self.decorate(formula, sub=self.index())
            elif self.accept("^"):
                formula = self.superscript(formula)
            else:
                self.depth -= 1
                return self.scope.names.get(written(formula), formula) if isinstance(formula, Name) else formula

    def decorate(self, formula: Formula, primes: int = 0, sub: tuple[Formula, ...] = ()) -> Formula:
        if isinstance(formula, Text):
            return Name(formula.words, sub)
        if not isinstance(formula, Name):
            raise self.error("a name before a prime or an index was expected")
        return replace(formula, primes=formula.primes + primes, sub=formula.sub + sub)

    def superscript(self, formula: Formula) -> Formula:
        token = self.token
        if token.kind == "word" and token.text == "T":
            self.take()
            return Transposed(formula)
        if token.kind == "word" and isinstance(formula, Name) and formula.base != "e":
            self.take()
            return replace(formula, sup=token.text)
        if self.accept("{"):
            exponent = self.sum()
            self.expect("}")
            return Power(formula, exponent)
        return Power(formula, Negative(self.atom()) if self.accept("-") else self.atom())

    def index(self) -> tuple[Formula, ...]:
        if not self.accept("{"):
            token = self.take()
            if token.kind not in ("number", "word"):
                self.at -= 1
                raise self.error("an index was expected")
            return (self.scope.names.get(token.text) or self.index_item(token),)
        items = [self.sum()]
        commas = ""
        while sign := self.accept(",", ";"):
            commas = sign
            items.append(self.sum())
        self.expect("}")
        return (ListOf(tuple(items), "", ","),) if commas == ";" else tuple(items)

    def index_item(self, token: Lexeme) -> Formula:
        if token.text in self.scope.indices:
            return Number(str(self.scope.indices[token.text] - 1 + self.scope.first))
        return Number(token.text) if token.kind == "number" else Name(token.text)

    def atom(self) -> Formula:
        token = self.take()
        match token.kind, token.text:
            case "number", digits:
                return Number(digits)
            case "text", words:
                return Text(self.filled(words[1:-1]))
            case "word", word:
                if self.peek("(") and self.token.glued and len(word) > 1:
                    return self.call(word)
                return self.index_item(token)
            case "sign", "∞":
                return Infinity()
            case "sign", "…":
                return Dots()
            case "sign", "@":
                return self.slot()
            case "sign", "Σ":
                return self.big_sum()
            case "sign", "(":
                body = self.row()
                self.expect(")")
                return Bracketed(body)
            case "sign", "[":
                return self.grid("]")
            case "sign", "⟨":
                return self.grid("⟩")
        self.at -= 1
        raise self.error("a number, a name or a bracket was expected")

    def filled(self, words: str) -> str:
        """Quoted text, a message in whose places {i} and {n} stand the index or the size, as a number or a letter."""
        letters = {name: written(letter) for name, letter in self.scope.names.items() if isinstance(letter, Name)}
        known = {**letters, **self.scope.sizes, **self.scope.indices}
        standing = {letter: number for letter, number in known.items() if f"{{{letter}}}" in words}
        return message(words, **standing) if standing else words

    def arguments(self) -> tuple[Formula, ...]:
        self.expect("(")
        items = [self.row()]
        while self.accept(","):
            items.append(self.row())
        self.expect(")")
        return tuple(items)

    def call(self, word: str) -> Formula:
        arguments = self.arguments()
        match word, arguments:
            case "sqrt", (body,):
                return Root(body)
            case "frac", (above, below):
                return Fraction(above, below)
            case "hat", (Name() as name,):
                return replace(name, hat=True)
            case "under" | "beside" | "index", (body, note):
                return Annotated(body, note, word)
            case "commas" | "tuple", items:
                return ListOf(items, "[" if word == "commas" else "(", ",")
            case "blank", (Name(kind),) if kind in ("integer", "decimal", "fraction", "exponential", "word"):
                return Blank(kind)  # type: ignore[arg-type]
        return Call(self.index_free(word), arguments)

    def index_free(self, word: str) -> Name:
        name = self.scope.names.get(word, Name(word))
        return name if isinstance(name, Name) else Name(word)

    def slot(self) -> Formula:
        """@name(a, b): the arguments go to the scope as typed, indices replaced by their numbers."""
        name = self.take()
        supply = self.scope.slots.get(name.text)
        if supply is None:
            self.at -= 1
            known = ", ".join(sorted(self.scope.slots)) or "nothing"
            raise self.error(f"one of {known} was expected after @")
        self.expect("(")
        arguments: list[str] = [""]
        depth = 0
        while depth or not self.peek(")"):
            token = self.take()
            if token.kind == "end":
                self.at -= 1
                raise self.error("')' was expected")
            depth += (token.text == "(") - (token.text == ")")
            if token.text == "," and not depth:
                arguments.append("")
            else:
                arguments[-1] += str(self.scope.indices.get(token.text, token.text))
        self.expect(")")
        try:
            return supply(*arguments)
        except (TypeError, ValueError, IndexError) as error:
            if isinstance(error, SymattnError) and not isinstance(error, IndexError):
                raise
            raise self.error(
                f"arguments that @{name.text} can take were expected, not ({', '.join(arguments)})"
            ) from error

    def big_sum(self) -> Formula:
        index: Formula = NOTHING
        lower: Formula = NOTHING
        upper: Formula = NOTHING
        if self.accept("_"):
            self.expect("{")
            index = self.sum()
            if self.accept("="):
                lower = self.sum()
            self.expect("}")
        if self.accept("^"):
            if self.accept("{"):
                upper = self.sum()
                self.expect("}")
            else:
                upper = self.atom()
        return BigSum(index, lower, upper, self.product())

    # -- brackets: lists, rows, columns, matrices, written out or by a rule

    def grid(self, close: str) -> Formula:
        start = self.at
        rows: list[list[Formula]] = [[self.row()]]
        if self.token.kind == "word" and self.token.text == "for":
            return self.comprehension(start, close)
        column = False
        while not self.accept(close):
            if self.accept(","):
                rows[-1].append(self.row())
            elif self.accept(";"):
                column = True
                if not self.peek(close):
                    rows.append([self.row()])
            else:
                raise self.error(f"',', ';' or {close!r} was expected")
        if close == "⟩":
            return ListOf(tuple(rows[0]), "⟨", ",")
        if column:
            return MatrixOf(tuple(map(tuple, rows)))
        return ListOf(tuple(rows[0]))

    def comprehension(self, start: int, close: str) -> Formula:
        """[body for i:n] a row, [body for i:n;] a column, [body for i:n, j:m] a matrix."""
        self.take()
        ranges = [self.range()]
        while self.accept(","):
            ranges.append(self.range())
        column = bool(self.accept(";"))
        self.expect(close)
        end = self.at

        def body(indices: Mapping[str, int | str]) -> Formula:
            self.cells += 1
            if self.cells > MOST_CELLS:
                raise self.error(f"at most {MOST_CELLS} entries made by rules were expected")
            numbers = {k: v for k, v in indices.items() if k and isinstance(v, int)}
            letters = {k: read_formula(v) for k, v in indices.items() if isinstance(v, str)}
            outer = self.scope
            self.scope = replace(outer, indices={**outer.indices, **numbers}, names={**outer.names, **letters})
            self.at = start
            formula = self.row()
            self.scope = outer
            return formula

        once: tuple[str, list[int | str | None]] = "", [1]
        match ranges:
            case [down, across]:
                pass
            case [only, *_]:
                down, across = (only, once) if column else (once, only)
        cells = tuple(
            tuple(_elided(i, j) or body({down[0]: i, across[0]: j}) for j in across[1])  # type: ignore[dict-item]
            for i in down[1]
        )
        self.at = end
        if column or len(ranges) == 2:
            return MatrixOf(cells)
        return ListOf(cells[0], "⟨", ",") if close == "⟩" else ListOf(cells[0])

    def range(self) -> tuple[str, list[int | str | None]]:
        letter = self.take()
        if letter.kind != "word":
            self.at -= 1
            raise self.error("an index letter was expected")
        self.expect(":")
        start, token = self.at, self.take()
        bound: int | str
        if token.kind == "number":
            bound = int(token.text)
        else:
            key = token.text
            while self.peek("_"):
                self.take()
                key += "_" + self.take().text
            known = {**self.scope.sizes, **self.scope.indices}
            if key not in known:
                self.at = start
                raise self.error(f"a size ({', '.join(self.scope.sizes) or 'a number'}) was expected")
            bound = known[key]
        return letter.text, elided_range(bound)


LONGEST = 8
"""Terms that are written out."""


def elided_range(bound: int | str) -> list[int | str | None]:
    """1 … bound as far as it is written out; None stands for the dots between."""
    return list(range(1, bound + 1)) if isinstance(bound, int) and bound <= LONGEST else [1, 2, None, bound]


def _elided(row: object, column: object) -> Formula | None:
    if row is None and column is None:
        return Dots("diagonal")
    if row is None:
        return Dots("vertical")
    return Dots("horizontal") if column is None else None


def written(name: Name) -> str:
    """The name as it is typed: `d_k`, `W^Q`, `S''`."""
    subs = [written(s) if isinstance(s, Name) else s.digits if isinstance(s, Number) else "?" for s in name.sub]
    index = "" if not subs else "_" + (subs[0] if len(subs) == 1 else "{" + ",".join(subs) + "}")
    base = f"hat({name.base})" if name.hat else name.base
    return base + "'" * name.primes + index + ("^" + name.sup if name.sup else "")


def _tokens(text: str) -> Iterator[Lexeme]:
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if not match:
            start = len(text) - len(text[at:].lstrip())
            raise ReadError(
                f"In the formula {text!r}, character {start + 1}, {text[start]!r}, has no meaning here.", text, start
            )
        kind = str(match.lastgroup)
        word = match.group(kind)
        yield Lexeme(kind, _SAME.get(word, word), match.start(kind), match.start(kind) == at)
        at = match.end()
