"""In what an operation's rule is read: exact values, formulas, SymPy, intervals.

`Op.rule` says one entry of a result in the few verbs of an `Algebra`.  Read in values it gives the number, in formulas
the working as it is written, in SymPy the symbolic entry, in intervals an enclosure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, reduce
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

from symattn import exact
from symattn.derivation import sizes
from symattn.exact import NEGATIVE_INFINITY, Size, Value, compare, divide, has_symbols, is_symbolic
from symattn.exact.intervals import Interval, IntervalRing
from symattn.exact.real import Real, real
from symattn.exact.sums import dot, total
from symattn.exact.values import quotient_of_symbols, square_of_symbols
from symattn.formula import (
    ONE,
    ZERO,
    BigSum,
    Bracketed,
    Call,
    Dots,
    Formula,
    Fraction,
    Infinity,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Sum,
    number,
    read_formula,
)

T = TypeVar("T")
Index = int | str

"""An index from 0, or a letter for "any"."""
Base: TypeAlias = Value | Literal["e"]
Positive: TypeAlias = Value

WRITTEN_OUT = 8
"""The longest sum that is written out in SymPy where another size is a letter."""

TWO = Number("2")
MINUS_INFINITY = Negative(Infinity())


Condition: TypeAlias = Sequence[Sequence[Any]]
"""Holds where, in one of several alternatives, no number is negative."""
Conditions: TypeAlias = Callable[[Any, Any, Any, Any], Sequence[Condition]]
"""What must all hold at row i and column j of a matrix of the given numbers of rows and columns."""


@dataclass(frozen=True, slots=True)
class Indices:
    """The rows or the columns of an operand: how many there are, or a letter; some of them alone in `only`.

    `long` says that they are too many to be written out, as in 512 → 64; `first` is what the first is called, 1 or 0.
    """

    size: Size
    long: bool = False
    first: int = 1
    only: tuple[int, ...] | None = None

    @property
    def counted(self) -> Sequence[int]:
        """Each of them, where their number is known."""
        if isinstance(self.size, str):
            raise TypeError(f"{self.size} of them cannot be counted.")
        return range(self.size) if self.only is None else self.only

    def __and__(self, other: Indices) -> Indices:
        """The index that two operands share."""
        return self if self.long or not other.long else replace(self, long=True)


@dataclass(frozen=True)
class Entries(Generic[T]):
    """An operand as a rule sees it: its shape, and each entry in some algebra.  A letter stands for any index."""

    shape: tuple[Size, Size]
    entry: Callable[[Index, Index], T]
    long: bool = False
    first: int = 1

    @staticmethod
    def of(rows: Sequence[Sequence[T]]) -> Entries[T]:
        """Those of a matrix in numbers."""
        return Entries((len(rows), len(rows[0])), lambda i, j: rows[i][j])  # type: ignore[index]

    def __getitem__(self, place: tuple[Index, Index]) -> T:
        return self.entry(*place)

    @property
    def rows(self) -> Indices:
        return Indices(self.shape[0], self.long, self.first)

    @property
    def columns(self) -> Indices:
        return Indices(self.shape[1], self.long, self.first)

    @property
    def transposed(self) -> Entries[T]:
        return replace(self, shape=self.shape[::-1], entry=lambda i, j: self.entry(j, i))

    def stretched(self, i: Index, j: Index) -> T:
        """Entry (i, j), where a single row stands for every row and a single column for every column."""
        return self.entry(0 if self.shape[0] == 1 else i, 0 if self.shape[1] == 1 else j)


class Known(Protocol):
    """A function of one number, by its exact values (of symbols, too) and as it is written."""

    @property
    def value(self) -> Callable[[Value], Value]: ...

    @property
    def working(self) -> Callable[[Formula], Formula]: ...


class Algebra(ABC, Generic[T]):
    """What a rule may do with entries."""

    @abstractmethod
    def number(self, value: Value) -> T:
        """A number of the operation's own."""

    @abstractmethod
    def size(self, indices: Indices, less: int = 0) -> T:
        """How many there are, less a few."""

    def total(self, indices: Indices, term: Callable[[Index], T]) -> T:
        """Σ_k term(k)."""
        return self.sum(*map(term, indices.counted))

    def dot(self, indices: Indices, left: Callable[[Index], T], right: Callable[[Index], T]) -> T:
        """Σ_k left(k)·right(k)."""
        return self.total(indices, lambda k: self.product(left(k), right(k)))

    @abstractmethod
    def sum(self, *terms: T) -> T: ...

    @abstractmethod
    def negative(self, x: T) -> T: ...

    @abstractmethod
    def product(self, *factors: T) -> T: ...

    @abstractmethod
    def quotient(self, x: T, y: T) -> T: ...

    @abstractmethod
    def square(self, x: T) -> T: ...

    @abstractmethod
    def exponential(self, x: T, base: Base = "e") -> T:
        """base^x, and 0 for −∞."""

    @abstractmethod
    def root(self, x: T) -> T: ...

    @abstractmethod
    def apply(self, function: str, x: T) -> T:
        """ln, tanh; abs; positive, which is 1 where x > 0 and else 0; any other stays by its name."""

    @abstractmethod
    def known(self, function: Known, x: T) -> T:
        """A function of one number that says itself what it is here."""

    @abstractmethod
    def maximum(self, *terms: T) -> T: ...

    def hidden(self, x: T) -> bool:
        """Whether x is the −∞ behind a mask."""
        return False

    def delta(self, i: Index, j: Index) -> T:
        """1 where i = j, else 0 (Kronecker)."""
        return self.number(int(i == j))

    def named(self, name: str, i: Index, j: Index) -> T:
        """Entry (i, j), for any i and j, of a matrix that belongs to the operation."""
        raise TypeError(f"Which entry of the {name} is meant is known only where it is counted.")

    def dots(self) -> T:
        """What stands for any of the entries of matrices that are put together."""
        raise TypeError("Which of the matrices an entry comes from is known only where it is counted.")

    def constant(self, name: str, work: Callable[[], T]) -> T:
        """A number that an operation brings: for who uses it there is nothing to work out."""
        return work()

    def once(self, work: Callable[[], T], divides: bool = False) -> T:
        """A number that is worked out once for a whole line of the result, and may divide all of it."""
        return work()

    def index(self, i: Index) -> T:
        """The number of a line, from 0."""
        if isinstance(i, str):
            raise TypeError(f"Which line {i} is, is known only where lines are counted.")
        return self.number(i)

    def pieces(self, i: Index, heights: Sequence[Size], piece: Callable[[int, Index], T]) -> T:
        """piece(p, k), where line i is line k of matrix p of several that stand one after the other."""
        start = 0
        for p, height in enumerate(heights):
            if isinstance(i, str) or isinstance(height, str):
                break
            if i < start + height:
                return piece(p, i - start)
            start += height
        return self.of_several(i, heights, piece)

    def of_several(self, i: Index, heights: Sequence[Size], piece: Callable[[int, Index], T]) -> T:
        """The same where line i is not known to be in one of them."""
        return self.dots()

    def in_turn(self, i: Index, count: int, piece: Callable[[int, Index], T]) -> T:
        """piece(p, k), where line i is line k of matrix p of `count` that take turns."""
        return piece(i % count, i // count) if isinstance(i, int) else self.of_turns(i, count, piece)

    def of_turns(self, i: Index, count: int, piece: Callable[[int, Index], T]) -> T:
        """The same where line i is any."""
        return self.dots()

    def nth(self, i: Index, start: Size, step: int = 1) -> Index:
        """Line i of every `step`-th line from `start` (from 0)."""
        if isinstance(i, int) and isinstance(start, int):
            return start + step * i
        return str(sizes.plus(start, sizes.times(step, i)))

    def where(self, seen: Conditions, place: tuple[Index, Index], shape: tuple[Size, Size], x: T) -> T:
        """x where a mask lets through what stands at `place`, one of whose indices is a letter, and −∞ elsewhere."""
        return self.sum(x, self.named("mask", *place))

    def minus(self, x: T, y: T) -> T:
        return self.sum(x, self.negative(y))

    def visible(self, indices: Indices, entry: Callable[[Index], T]) -> Indices:
        """Those whose entry is not hidden; all of them where they are not counted."""
        if isinstance(indices.size, str) or indices.long:
            return indices
        return replace(indices, only=tuple(k for k in indices.counted if not self.hidden(entry(k))))


# ------------------------------------------------------------------------------------------------ values


class Values(Algebra[Value]):
    """Exact numbers; SymPy expressions where there are symbols."""

    def number(self, value: Value) -> Value:
        return value

    def size(self, indices: Indices, less: int = 0) -> Value:
        return len(indices.counted) - less

    def dot(self, indices: Indices, left: Callable[[Index], Value], right: Callable[[Index], Value]) -> Value:
        return dot([left(k) for k in indices.counted], [right(k) for k in indices.counted])

    def sum(self, *terms: Value) -> Value:
        return total(terms)

    def negative(self, x: Value) -> Value:
        return -x

    def product(self, *factors: Value) -> Value:
        return reduce(lambda a, b: a * b, factors)

    def quotient(self, x: Value, y: Value) -> Value:
        return divide(x, y)

    def square(self, x: Value) -> Value:
        return exact.squared(x)

    def exponential(self, x: Value, base: Base = "e") -> Value:
        return exact.exponential(x, base)

    def root(self, x: Value) -> Value:
        return exact.square_root(x)

    def apply(self, function: str, x: Value) -> Value:
        match function:
            case "ln":
                return exact.logarithm(x)
            case "tanh":
                return tanh(x)
            case "abs" if not has_symbols(x):
                return -x if exact.sign(x) < 0 else x
            case "positive" if not has_symbols(x):
                return int(exact.sign(x) > 0)
        return IN_SYMPY.apply(function, exact.to_sympy(x))

    def known(self, function: Known, x: Value) -> Value:
        return function.value(x)

    def maximum(self, *terms: Value) -> Value:
        if any(map(has_symbols, terms)):
            return IN_SYMPY.maximum(*map(exact.to_sympy, terms))
        return reduce(lambda a, b: a if compare(a, b) >= 0 else b, terms)

    def hidden(self, x: Value) -> bool:
        return x is NEGATIVE_INFINITY


def tanh(x: Value) -> Value:
    """The hyperbolic tangent (1 − e^−2x)/(1 + e^−2x); of a symbol it stays by its name."""
    if isinstance(x, Real):
        return real("tanh", x)
    if is_symbolic(x):
        return exact.from_sympy(IN_SYMPY.apply("tanh", exact.to_sympy(x)))
    power = exact.exponential(-2 * x)
    return divide(1 - power, 1 + power)


# ------------------------------------------------------------------------------------------------ formulas


class Formulas(Algebra[Formula]):
    """What is written, nothing worked out; Σ where a size is a letter or too large."""

    def number(self, value: Value) -> Formula:
        return number(value)

    def size(self, indices: Indices, less: int = 0) -> Formula:
        if isinstance(indices.size, int):
            return Number(str(indices.size - less))
        letters = size_formula(indices.size)
        return Sum((letters, Negative(Number(str(less))))) if less else letters

    def total(self, indices: Indices, term: Callable[[Index], Formula]) -> Formula:
        if isinstance(indices.size, str) or indices.long:
            return sum_over(indices.size, term("k"), indices.first)
        return Sum(tuple(map(term, indices.counted)))

    def dot(self, indices: Indices, left: Callable[[Index], Formula], right: Callable[[Index], Formula]) -> Formula:
        sign: Literal["", "·"] = "" if isinstance(indices.size, str) or indices.long else "·"  # Σ x_ik w_kj
        return self.total(indices, lambda k: _pair(left(k), right(k), sign))

    def sum(self, *terms: Formula) -> Formula:
        return Sum(terms)

    def negative(self, x: Formula) -> Formula:
        return Negative(x)

    def product(self, *factors: Formula) -> Formula:
        return Product(factors, "·")

    def quotient(self, x: Formula, y: Formula) -> Formula:
        return Fraction(x, y)

    def square(self, x: Formula) -> Formula:
        return Power(x, TWO)

    def exponential(self, x: Formula, base: Base = "e") -> Formula:
        if x == MINUS_INFINITY:
            return ZERO
        return Power(Name("e") if base == "e" else number(base), x)

    def root(self, x: Formula) -> Formula:
        return Root(x)

    def apply(self, function: str, x: Formula) -> Formula:
        match function:
            case "abs":
                return Bracketed(x, "|")
            case "positive":
                return Bracketed(Relation((x, ZERO), (">",)), "[")
        return Call(Name(function), (x,))

    def known(self, function: Known, x: Formula) -> Formula:
        return function.working(x)

    def delta(self, i: Index, j: Index) -> Formula:
        if isinstance(i, str) or isinstance(j, str):
            return Name("δ", (index(i), index(j)))
        return number(int(i == j))

    def named(self, name: str, i: Index, j: Index) -> Formula:
        return Name(name, (index(i), index(j)))

    def index(self, i: Index) -> Formula:
        return index(i)

    def dots(self) -> Formula:
        return Dots()

    def nth(self, i: Index, start: Size, step: int = 1) -> Index:
        """Letters count from 1, so every second column from the first is 2j − 1."""
        place = super().nth(i, start, step)
        return str(sizes.plus(place, 1 - step)) if isinstance(i, str) else place

    def maximum(self, *terms: Formula) -> Formula:
        return Call(Name("max"), terms)

    def hidden(self, x: Formula) -> bool:
        return x == MINUS_INFINITY


@lru_cache(maxsize=4096)
def _pair(left: Formula, right: Formula, sign: Literal["", "·"]) -> Product:
    """Products of small numbers come again and again."""
    return Product((left, right), sign)


@lru_cache(maxsize=1024)
def index(i: Index) -> Formula:
    """An index as it is written, from 1; a letter stays."""
    return read_formula(i) if isinstance(i, str) else Number(str(i + 1))


def size_formula(size: Size) -> Formula:
    """A size as it is written: a number, or its letter."""
    return Number(str(size)) if isinstance(size, int) else read_formula(size)


def sum_over(size: Size, body: Formula, first: int) -> Formula:
    """Σ over k of `size` terms, counted from `first`."""
    last: Formula = size_formula(size)
    if first == 0:
        last = Number(str(size - 1)) if isinstance(size, int) else Sum((last, Negative(ONE)))
    return BigSum(Name("k"), Number(str(first)), last, body)


# ------------------------------------------------------------------------------------------------ SymPy


class InSympy(Algebra[Any]):
    """SymPy expressions; Σ where a size is a letter, over an index that is called `over`."""

    def __init__(self, over: str = "k") -> None:
        self.over = over

    def number(self, value: Value) -> Any:
        return exact.to_sympy(value)

    def size(self, indices: Indices, less: int = 0) -> Any:
        return size_in_sympy(indices.size) - less

    def total(self, indices: Indices, term: Callable[[Index], Any]) -> Any:
        import sympy

        if isinstance(indices.size, int) and (not indices.long or indices.size <= WRITTEN_OUT):
            return sympy.Add(*map(term, indices.counted))
        k = index_in_sympy(self.over)
        return sympy.Sum(term(self.over), (k, 0, size_in_sympy(indices.size) - 1))

    def sum(self, *terms: Any) -> Any:
        import sympy

        return sympy.Add(*terms)

    def negative(self, x: Any) -> Any:
        return -x

    def product(self, *factors: Any) -> Any:
        import sympy

        return sympy.Mul(*factors)

    def quotient(self, x: Any, y: Any) -> Any:
        return quotient_of_symbols(x, y)

    def square(self, x: Any) -> Any:
        return square_of_symbols(x)

    def exponential(self, x: Any, base: Base = "e") -> Any:
        import sympy

        return sympy.exp(x) if base == "e" else exact.to_sympy(base) ** x

    def root(self, x: Any) -> Any:
        import sympy

        return sympy.sqrt(x)

    def apply(self, function: str, x: Any) -> Any:
        import sympy

        if function == "positive":
            return sympy.Heaviside(x, 0)
        named = {"ln": sympy.log, "tanh": sympy.tanh, "abs": sympy.Abs, "cos": sympy.cos, "sin": sympy.sin}
        return named.get(function, sympy.Function(function))(x)

    def known(self, function: Known, x: Any) -> Any:
        return exact.to_sympy(function.value(exact.from_sympy(x)))

    def delta(self, i: Index, j: Index) -> Any:
        import sympy

        return sympy.KroneckerDelta(index_in_sympy(i), index_in_sympy(j))

    def named(self, name: str, i: Index, j: Index) -> Any:
        import sympy

        return sympy.Function(name)(index_in_sympy(i), index_in_sympy(j))

    def where(self, seen: Conditions, place: tuple[Index, Index], shape: tuple[Size, Size], x: Any) -> Any:
        import sympy

        conditions = seen(*map(index_in_sympy, place), *map(size_in_sympy, shape))
        lets_through = (
            sympy.Or(*(sympy.And(*(_not_negative(y) for y in one)) for one in any_of)) for any_of in conditions
        )
        return sympy.Piecewise((x, sympy.And(*lets_through)), (-sympy.oo, True))

    def index(self, i: Index) -> Any:
        return index_in_sympy(i)

    def of_several(self, i: Index, heights: Sequence[Size], piece: Callable[[int, Index], Any]) -> Any:
        import sympy

        alike, cases, start = len(set(heights)) == 1, [], cast(Size, 0)
        within = _letter_for(sympy.Mod(index_in_sympy(i), size_in_sympy(heights[0])))
        for p, height in enumerate(heights):
            end = sizes.plus(start, height)
            inside = index_in_sympy(i) < size_in_sympy(end) if p < len(heights) - 1 else True
            cases.append((piece(p, within if alike else self.nth(i, sizes.times(-1, start))), inside))
            start = end
        return sympy.Piecewise(*cases)

    def of_turns(self, i: Index, count: int, piece: Callable[[int, Index], Any]) -> Any:
        import sympy

        place = index_in_sympy(i)
        k = _letter_for(sympy.floor(place / count))
        cases = [(piece(p, k), sympy.Eq(sympy.Mod(place, count), p)) for p in range(count - 1)]
        return sympy.Piecewise(*cases, (piece(count - 1, k), True))

    def maximum(self, *terms: Any) -> Any:
        import sympy

        return sympy.Max(*terms, evaluate=False)  # to order long terms takes seconds

    def hidden(self, x: Any) -> bool:
        import sympy

        return x is sympy.S.NegativeInfinity


def _not_negative(x: Any) -> Any:
    """x ≥ 0 as it is read: j ≤ i for i − j ≥ 0."""
    negative = [term for term in x.as_ordered_terms() if term.could_extract_minus_sign()]
    below = -sum(negative)
    return below <= x + below


def index_in_sympy(index: Index) -> Any:
    """An index from 0: a number, or a letter for any; one that is summed over (k, k_3) is a `Dummy`.

    So no k that somebody puts into a matrix is taken for that of a sum, and the same sum is always the same expression.
    """
    return sizes.in_sympy(index, _index_letter)


_LETTERS: dict[Any, str] = {}
_INDICES: dict[str, Any] = {}


def _letter_for(index: Any) -> Index:
    """A letter for an index that is no sum of letters: ⌊j/2⌋, j mod d; a number is itself.

    It is in range in every case of a `Piecewise`, also in those that are not taken, which SymPy works out all the same.
    """
    if index.is_Integer:
        return int(index)
    letter = _LETTERS.setdefault(index, f"⟨{len(_LETTERS)}⟩")
    _INDICES[letter] = index
    return letter


def _index_letter(letter: str) -> Any:
    import sympy

    if letter in _INDICES:
        return _INDICES[letter]
    stem, _, number = letter.partition("_")
    if stem == "k" and (number.isdecimal() or not number):
        return sympy.Dummy(letter, dummy_index=-1 - int(number or -1), integer=True, nonnegative=True)
    if letter in ("i", "j"):
        return sympy.Symbol(letter, integer=True, nonnegative=True)
    return _size_letter(letter)


def size_in_sympy(size: Size) -> Any:
    """A number, a letter, or what is written of them with + and *: h*d_k, n+1."""
    return sizes.in_sympy(size, _size_letter)


def _size_letter(letter: str) -> Any:
    import sympy

    factors = (sympy.Symbol(factor, integer=True, positive=True) for factor in letter.split("*"))
    return sympy.Mul(*factors)


# ------------------------------------------------------------------------------------------------ intervals


class Intervals(Algebra[Interval]):
    """Interval arithmetic with outward rounding, to a given number of digits."""

    def __init__(self, ring: IntervalRing) -> None:
        self.ring = ring

    def number(self, value: Value) -> Interval:
        return self.ring.enclose(value)

    def size(self, indices: Indices, less: int = 0) -> Interval:
        return self.ring.number(len(indices.counted) - less)

    def sum(self, *terms: Interval) -> Interval:
        return reduce(self.ring.add, terms)

    def negative(self, x: Interval) -> Interval:
        return self.ring.negate(x)

    def product(self, *factors: Interval) -> Interval:
        return reduce(self.ring.multiply, factors)

    def quotient(self, x: Interval, y: Interval) -> Interval:
        return self.ring.divide(x, y)

    def square(self, x: Interval) -> Interval:
        return self.ring.integer_power(x, 2)

    def exponential(self, x: Interval, base: Base = "e") -> Interval:
        if base == "e":
            return self.ring.exp(x)
        return self.ring.exp(self.ring.multiply(x, self.number(exact.logarithm(base))))

    def root(self, x: Interval) -> Interval:
        return self.ring.sqrt(x)

    def apply(self, function: str, x: Interval) -> Interval:
        match function:
            case "ln":
                return self.ring.ln(x)
            case "tanh":
                return self.ring.tanh(x)
            case "abs":
                return self.maximum(x, self.ring.negate(x))
            case "positive":
                return Interval(Decimal(x.low > 0), Decimal(x.high > 0))
        raise TypeError(f"Nothing is known of the function {function}.")

    def known(self, function: Known, x: Interval) -> Interval:
        if over := getattr(function, "over", None):
            return cast(Interval, over(self.ring, x))
        raise TypeError("The range of the function is not known.")

    def maximum(self, *terms: Interval) -> Interval:
        return Interval(max(x.low for x in terms), max(x.high for x in terms))


VALUES, FORMULAS, IN_SYMPY = Values(), Formulas(), InSympy()
