"""What one slip anywhere in the working of an entry makes of it, read off the rule of the operation.

A rule is read in an algebra whose numbers carry their variants: themselves with one sub-term left out, doubled, of the
wrong sign, upside down, or with one entry of an operand miscopied.  So every operation that is a rule has slips.
Variants are known as floats, and exactly on request.  `uniform` is what one rule makes of a whole matrix: one
factor, one amount, another order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import chain, product
from math import isfinite
from operator import add, itemgetter, mul
from typing import Any

from symattn.derivation.algebra import VALUES, Algebra, Base, Entries, Index, Indices, Known
from symattn.derivation.derivation import Derivation, RuleOp
from symattn.errors import InputError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decimal_text, exact, has_symbols
from symattn.exact.intervals import Interval, interval_ring
from symattn.exact.rounding import near
from symattn.exact.values import RATIONAL, text
from symattn.foundation.languages import Message, message

TOGETHER = {"sum": add, "product": mul}
"""Verbs that take any number of things, in any order."""

LONGEST = 40
"""A sub-term whose working is longer is told by its value."""

Cause = Hashable
"""What a slip did, by which it is recognised in the entries beside: which entry of an operand, or where in the rule."""


@dataclass(slots=True)
class Variant:
    """What a slip makes of the number that it was made in: of which kind it is, by what cause, and how to say so."""

    id: str
    cause: Cause
    near: float
    exact: Callable[[], Value]
    says: Callable[[], Message]


Slips = Callable[["Varied"], Iterator[Variant]]

Wrong = Callable[..., Any]
"""What comes of a slip in any algebra, which is its first argument; the others are what the verb was given."""


@dataclass(slots=True)
class Varied:
    """A number as a float, how it was made and is written, and what single slips make of it, as floats by their causes.

    `rational` if it is worked out from rational numbers by the four kinds of arithmetic alone; `power` if it is e^x, or
    another power, of which a softmax adds up several.  `slips` gives those
    that can be made there, at the verb that was the `at`-th; computed lazily.
    """

    near: float
    does: Callable[..., Value]
    args: tuple[Varied, ...]
    written: Callable[[Varied], str]
    slips: Slips
    at: int = 0
    rational: bool = False
    power: bool = False
    variants: dict[Cause, float] = field(default_factory=dict)
    _exact: Value | None = None
    _text: str | None = None

    def exact(self) -> Value:
        """The number itself."""
        if self._exact is None:
            self._exact = self.does(*(x.exact() for x in self.args))
        return self._exact

    def text(self) -> str:
        """How it is written."""
        if self._text is None:
            self._text = self.written(self)
        return self._text

    def varied(self) -> Varied:
        """The number, with the slips that can be made in it among its variants."""
        for slip in self.slips(self):
            self.variants[slip.cause] = slip.near
        return self

    def spoilt(self, cause: Cause) -> Value:
        """The number with a slip in its working."""
        if cause not in self.variants:
            return self.exact()
        if any(cause in x.variants for x in self.args):
            return self.does(*(x.spoilt(cause) for x in self.args))
        return self.slip(cause).exact()

    def slip(self, cause: Cause) -> Variant:
        """What was done where the slip was made."""
        before = next((x for x in self.args if cause in x.variants), None)
        return before.slip(cause) if before else next(slip for slip in self.slips(self) if slip.cause == cause)

    def instead(
        self, template: str, id: str, wrong: Wrong | Value, where: Hashable = None, **terms: Varied | object
    ) -> Variant:
        """One thing that can go wrong with the number, `where` among what it was made of, and how to say so.

        `wrong` is the number that comes of it, or what it is in any algebra, of what the number was made of.  Most
        come near nothing that was written, and are never put into words.
        """

        def says() -> Message:
            return message(template, **{name: _in_words(x) for name, x in terms.items()})

        def worked_out() -> Value:
            return wrong(VALUES, *(x.exact() for x in self.args)) if callable(wrong) else wrong

        off = _in_floats(partial(wrong, FLOATS), [x.near for x in self.args]) if callable(wrong) else near(wrong)
        return Variant(id, (id, self.at, where), off, worked_out, says)


def _in_words(x: object) -> object:
    return x.text() if isinstance(x, Varied) else x() if callable(x) else x


def _in_floats(work: Callable[..., float], numbers: Sequence[float]) -> float:
    """What comes of floats; ∞ where that is not defined, which is near nothing."""
    try:
        return float(work(*numbers))
    except (ArithmeticError, ValueError):
        return math.inf


class Slipping(Algebra[Varied]):
    """Numbers with what single slips make of them; one for each entry, since it counts its verbs."""

    def __init__(self) -> None:
        self.verbs = 0

    # -- putting together

    def _made(
        self,
        verb: str,
        args: tuple[Varied, ...],
        written: Callable[[Varied], str],
        slips: Slips,
        rational: bool = False,
    ) -> Varied:
        """What a verb makes of its arguments, and of their variants: one cause spoils every argument that has it."""
        self.verbs += 1
        in_floats, nears = getattr(FLOATS, verb), [x.near for x in args]
        rational = rational and all(x.rational for x in args)
        result = Varied(_in_floats(in_floats, nears), getattr(VALUES, verb), args, written, slips, self.verbs, rational)
        causes = list(chain.from_iterable(x.variants for x in args))
        result.variants = dict.fromkeys(causes, 0.0)
        put_together = TOGETHER.get(verb)
        if put_together and len(result.variants) == len(causes) and all(map(math.isfinite, nears)):
            for k, x in enumerate(args):  # each cause spoils one of them: the others are put together once
                others = in_floats(*nears[:k], *nears[k + 1 :])
                for cause, value in x.variants.items():
                    result.variants[cause] = put_together(others, value)
        else:
            for cause in result.variants:
                result.variants[cause] = _in_floats(in_floats, [x.variants.get(cause, x.near) for x in args])
        return result.varied()

    # -- verbs

    def number(self, value: Value) -> Varied:
        return _itself(value)

    def size(self, indices: Indices, less: int = 0) -> Varied:
        return self.number(VALUES.size(indices, less))

    def delta(self, i: Index, j: Index) -> Varied:
        right = int(i == j)

        def slips(result: Varied) -> Iterator[Variant]:
            yield result.instead("{taken} stands where {right} belongs", "A11", 1 - right, taken=1 - right, right=right)

        self.verbs += 1
        return _itself(right, slips, self.verbs).varied()

    def sum(self, *terms: Varied) -> Varied:
        def slips(result: Varied) -> Iterator[Variant]:
            for k in range(len(terms)):
                yield from _term_slips(result, terms, k)
            for value, whole, taken in _mediant([x.exact() for x in terms]) if result.rational else ():
                yield result.instead("{sum} was taken as {taken}", "A12", value, sum=whole, taken=taken)

        return self._made("sum", terms, lambda x: _short(_added([term.text() for term in terms]), x), slips, True)

    def negative(self, x: Varied) -> Varied:
        def slips(result: Varied) -> Iterator[Variant]:
            yield result.instead("the sign of {term} was lost", "A1", lambda A, x: x, term=x)

        return self._made("negative", (x,), lambda _: f"−{_factor(x)}", slips, True)

    def product(self, *factors: Varied) -> Varied:
        def written() -> str:
            return "·".join(map(_factor, factors))

        def slips(result: Varied) -> Iterator[Variant]:
            for k in range(len(factors) if len(factors) > 1 else 0):
                without = _without(k, lambda A, *others: A.product(*others))
                yield result.instead("the factor {factor} was left out", "A16", without, k, factor=factors[k])
            if len(factors) != 2:
                return
            readings: Iterable[tuple[str, Value | Wrong, Hashable, Callable[[], str]]]
            if result.rational:
                readings = [
                    (id, value, taken, partial(_joined, " + " if id == "A5" else "·", taken))
                    for id, value, taken in _times(factors[0].exact(), factors[1].exact())
                ]
            else:
                readings = [("A5", lambda A, *xs: A.sum(*xs), None, lambda: " + ".join(map(_factor, factors)))]
            for id, wrong, where, taken in readings:
                own = result if result.rational else written
                yield result.instead("{product} was taken as {taken}", id, wrong, where, product=own, taken=taken)

        return self._made("product", factors, lambda x: _short(written(), x), slips, True)

    def quotient(self, x: Varied, y: Varied) -> Varied:
        def slips(result: Varied) -> Iterator[Variant]:
            yield result.instead("it was not divided by {divisor}", "A16", lambda A, x, y: x, divisor=y)
            yield result.instead(
                "it was multiplied by {divisor} instead of divided", "A17", lambda A, x, y: A.product(x, y), divisor=y
            )
            yield result.instead(
                "{numerator} was left out of the numerator", "A16",
                lambda A, x, y: A.quotient(A.number(1), y), "above", numerator=x,
            )  # fmt: skip
            yield result.instead("the fraction is upside down", "A17", lambda A, x, y: A.quotient(y, x), "turned")

        return self._made("quotient", (x, y), lambda q: _short(f"{_factor(x)}/{_factor(y)}", q), slips, True)

    def square(self, x: Varied) -> Varied:
        def slips(result: Varied) -> Iterator[Variant]:
            yield result.instead("{term} was not squared", "A16", lambda A, x: x, term=x)
            yield result.instead(
                "{term} was doubled instead of squared", "A5", lambda A, x: A.product(A.number(2), x), term=x
            )

        return self._made("square", (x,), lambda _: f"{_factor(x)}²", slips, True)

    def exponential(self, x: Varied, base: Base = "e") -> Varied:
        def sign_lost(result: Varied) -> Iterator[Variant]:
            yield result.instead(
                "the sign of the exponent {term} was lost", "A1",
                lambda A, x, base: A.exponential(A.negative(x), base), term=x,
            )  # fmt: skip

        result = self._by_name("exponential", x, base, written=lambda: f"{base}^{_factor(x)}", more_slips=sign_lost)
        result.power = True
        return result

    def root(self, x: Varied) -> Varied:
        return self._by_name("root", x, written=lambda: f"√{_factor(x)}")

    def apply(self, function: str, x: Varied) -> Varied:
        return self._by_name("apply", x, function, first=True, written=lambda: f"{function}({x.text()})")

    def known(self, function: Known, x: Varied) -> Varied:
        name = written if isinstance(written := getattr(function, "written", None), str) else "f′"
        return self._by_name("known", x, function, first=True, written=lambda: f"{name}({x.text()})")

    def _by_name(
        self,
        verb: str,
        x: Varied,
        *more: Any,
        written: Callable[[], str],
        first: bool = False,
        more_slips: Slips = lambda result: iter(()),
    ) -> Varied:
        """A function of one number, which may be left out; `more` is what the verb wants besides."""

        def slips(result: Varied) -> Iterator[Variant]:
            if x.near != -math.inf:
                own = (lambda A, *args: args[-1]) if first else (lambda A, *args: args[0])
                yield result.instead("{term} was not worked out", "A16", own, term=written)
            yield from more_slips(result)

        fixed = tuple(Varied(value, partial(_same, value), (), str, _no_slips) for value in more)
        return self._made(verb, (*fixed, x) if first else (x, *fixed), lambda _: written(), slips)

    def maximum(self, *terms: Varied) -> Varied:
        def slips(result: Varied) -> Iterator[Variant]:
            for k, x in enumerate(terms):
                if x.near != result.near and x.near != -math.inf:
                    yield result.instead("{term} was taken to be the largest", "A6", partial(_itself_of, k), k, term=x)

        return self._made("maximum", terms, lambda _: f"max({', '.join(x.text() for x in terms)})", slips)

    def hidden(self, x: Varied) -> bool:
        return x.near == -math.inf


def _no_slips(result: Varied) -> Iterator[Variant]:
    return iter(())


def _itself(value: Value, slips: Slips = _no_slips, at: int = 0) -> Varied:
    """A number that nothing was done with."""
    return Varied(near(value), partial(_same, value), (), lambda _: said(value), slips, at, isinstance(value, RATIONAL))


def _term_slips(result: Varied, terms: tuple[Varied, ...], k: int) -> Iterator[Variant]:
    """A term of a sum left out, added twice, or with the wrong sign."""
    x = terms[k]
    if x.near == -math.inf:
        return
    subtracted = x.rational and _both_negative(x)
    yield result.instead(
        "the power {power} is missing from the sum" if x.power else "the term {product} was dropped",
        "A2", _without(k, lambda A, *others: A.sum(*others)), k, power=x, product=x,
    )  # fmt: skip
    yield result.instead(
        "the power {power} was counted twice in the sum" if x.power else "the term {product} was added twice",
        "A3", lambda A, *xs: A.sum(*xs, xs[k]), k, power=x, product=x,
    )  # fmt: skip
    yield result.instead(
        "{product} was subtracted instead of added" if subtracted else "the power {power} was subtracted in the sum"
        if x.power else "the term {product} has the wrong sign",
        "A13" if subtracted else "A1",
        lambda A, *xs: A.minus(A.sum(*xs), A.sum(xs[k], xs[k])), k, power=x, product=x,
    )  # fmt: skip


def _without(k: int, together: Wrong) -> Wrong:
    """What is put together without number k."""
    return lambda A, *xs: together(A, *xs[:k], *xs[k + 1 :])


def _itself_of(k: int, A: Algebra[Any], *xs: Any) -> Any:
    return xs[k]


class Floats(Algebra[float]):
    """Numbers to the nearest float, which tell quickly which slips need not be looked at."""

    def number(self, value: Value) -> float:
        return near(value)

    def size(self, indices: Indices, less: int = 0) -> float:
        return len(indices.counted) - less

    def sum(self, *terms: float) -> float:
        return sum(terms)

    def negative(self, x: float) -> float:
        return -x

    def product(self, *factors: float) -> float:
        return math.prod(factors)

    def quotient(self, x: float, y: float) -> float:
        return x / y

    def square(self, x: float) -> float:
        return x * x

    def exponential(self, x: float, base: Any = "e") -> float:
        return math.exp(x) if base == "e" else near(base) ** x

    def root(self, x: float) -> float:
        return math.sqrt(x)

    def apply(self, function: str, x: float) -> float:
        match function:
            case "ln":
                return math.log(x)
            case "tanh":
                return math.tanh(x)
            case "abs":
                return abs(x)
            case "positive":
                return float(x > 0)
        return math.nan

    def known(self, function: Known, x: float) -> float:
        if not math.isfinite(x):
            return x
        if over := getattr(function, "over", None):
            low, high = over(RING, Interval(Decimal(x), Decimal(x)))
            return float(low + high) / 2
        return near(function.value(exact(decimal_text(exact(repr(x)), 15))))

    def maximum(self, *terms: float) -> float:
        return max(terms)


FLOATS, RING = Floats(), interval_ring(20)


class Working:
    """The working of a step, entry by entry, with what single slips make of it.

    `UndefinedError` and the like are no slips: what cannot be worked out is left out.
    """

    def __init__(self, d: Derivation, step: str) -> None:
        self._op = next((s.op for s in d if s.name == step), None)
        self._entries: dict[tuple[int, int], Varied] = {}
        operands = next(s.operands for s in d if s.name == step) if self._op else ()
        matrices = list(map(d.operand, operands))
        self._operands = [m for m in matrices if isinstance(m, Matrix)]
        self._leaves: dict[tuple[int, int, int], Varied] = {}
        self.symbolic = any(has_symbols(x) for m in self._operands for x in m)

    def __getitem__(self, place: tuple[int, int]) -> Varied:
        """An entry; one without variants where the operation is no rule."""
        if place not in self._entries:
            self._entries[place] = self._read(*place) if isinstance(self._op, RuleOp) else _itself(0)
        return self._entries[place]

    def _read(self, i: int, j: int) -> Varied:
        assert isinstance(self._op, RuleOp)
        views = [
            Entries(m.shape, partial(self._leaf, k)) for k, m in enumerate(self._operands)
        ]  # fmt: skip
        try:
            return self._op.rule(Slipping(), i, j, *views)
        except (InputError, UndecidedError, ArithmeticError, TypeError):
            return _itself(0)

    def _leaf(self, k: int, i: Index, j: Index) -> Varied:
        """Entry (i, j) of an operand, which may be copied with the wrong sign, or from a place beside it."""
        assert isinstance(i, int)
        assert isinstance(j, int)
        if (k, i, j) not in self._leaves:
            m = self._operands[k]
            right = m[i, j]
            self._leaves[k, i, j] = _itself(right, partial(_copies, k, m, i, j)).varied()
        return self._leaves[k, i, j]


# ------------------------------------------------------------------------------------------------ single numbers


def _same(value: Value) -> Value:
    return value


def _copied(right: Value, copy: Value) -> Message:
    return message("{right} was copied as {copy}", right=said(right), copy=said(copy))


def _copies(k: int, m: Matrix, i: int, j: int, result: Varied) -> Iterator[Variant]:
    """Entry (i, j) of operand k with the wrong sign, or copied from a place beside it."""
    right = m[i, j]
    if right is NEGATIVE_INFINITY:
        return
    copies: list[tuple[Hashable, Value]] = [("sign", -right)]
    for r, c in ((i, j - 1), (i, j + 1), (i - 1, j), (i + 1, j)):
        if 0 <= r < m.shape[0] and 0 <= c < m.shape[1] and m[r, c] is not NEGATIVE_INFINITY:
            copies.append(((r, c), m[r, c]))
    for how, copy in copies:
        cause = "copied", k, i, j, how
        yield Variant("A7", cause, near(copy), partial(_same, copy), partial(_copied, right, copy))


def _both_negative(term: Varied) -> bool:
    """Whether a term is written as the product of two negative numbers."""
    return term.text().count("(−") == 2 and term.near > 0


def _times(a: Value, b: Value) -> Iterator[tuple[str, Value, tuple[Value, ...]]]:
    """What two rational numbers are taken for that should be multiplied, and as what the product is read."""
    for wrong_a, wrong_b in ((a, b + 1), (a, b - 1), (a + 1, b), (a - 1, b)):
        if a and b and isinstance(a if b == wrong_b else b, int):
            yield "A4", wrong_a * wrong_b, (wrong_a, wrong_b)
    yield "A5", a + b, (a, b)
    if 0 in (a, b):
        yield "A11", a + b, (a + b,)
    elif 1 in (a, b):
        yield "A11", 1, (1,)


def _joined(sign: str, numbers: Sequence[Value]) -> str:
    return sign.join(map(bracketed, numbers))


def _mediant(terms: Sequence[Value]) -> Iterator[tuple[Value, str, str]]:
    """Numerators and denominators added up, for a sum with a fraction in it: what comes, the sum, and the quotient."""
    added = [x for x in terms if isinstance(x, RATIONAL) and x]
    if len(added) > 1 and any(x.denominator != 1 for x in added):
        above, below = sum(x.numerator for x in added), sum(x.denominator for x in added)
        yield VALUES.quotient(above, below), _joined(" + ", added), f"{said(above)}/{below}"


# ------------------------------------------------------------------------------------------------ as it is written


def said(value: Value) -> str:
    """A number in short: exactly, or to four places where that is long, or a sum or a quotient with powers in it."""
    whole = text(value)
    is_long = value.denominator > 20 if isinstance(value, RATIONAL) else not {" ", "/"}.isdisjoint(whole)
    if (is_long or len(whole) > LONGEST) and not has_symbols(value):
        whole = decimal_text(value, 4)
        if isinstance(value, RATIONAL) and Fraction(whole) == value:  # 0.12, as it was written, and not 0.1200
            whole = whole.rstrip("0").rstrip(".")
    return whole.replace("-", "−")


def bracketed(value: Value) -> str:
    whole = said(value)
    return f"({whole})" if whole.startswith("−") else whole


def _factor(x: Varied) -> str:
    whole = x.text()
    return f"({whole})" if " " in whole or "/" in whole or whole.startswith("−") else whole


def _short(whole: str, x: Varied) -> str:
    return whole if len(whole) <= LONGEST else said(x.exact())


def _added(terms: Sequence[str]) -> str:
    return " + ".join(terms).replace("+ −", "− ")


# ------------------------------------------------------------------------------------ one rule for every entry


FINEST = 20
"""The largest denominator of a constant: from rounded entries no finer one can be told."""

Rule = Callable[[int, int], Value]
"""What stands at (i, j)."""

Cell = tuple[int, int]
"""The row and the column of an entry, from 0."""


def uniform(right: Matrix, wrong: Mapping[Cell, Value]) -> Iterator[tuple[Rule, Message]]:
    """The rules for a whole matrix that its wrong entries suggest, each with its clause."""
    if any(map(has_symbols, (*right, *wrong.values()))):
        return
    yield from _worked_out(right, wrong)
    down, across = map(list, map(range, right.shape))
    shifted = [(down[k:] + down[:k], across) for k in range(1, len(down))]
    shifted += [(down, across[k:] + across[:k]) for k in range(1, len(across))]
    for order in shifted:
        yield _moved(right, *order), message("whole rows or columns are shifted")
    for order in product((down, down[::-1]), (across, across[::-1])):
        yield _moved(right, *order), message("whole rows or columns are in reverse order")
    repeated = [(len(down) * [i], across) for i in down] + [(down, len(across) * [j]) for j in across]
    for order in repeated:
        yield _moved(right, *order), message("one row or column stands in the place of all")
    yield from _in_some_places(right, wrong)


def _worked_out(right: Matrix, wrong: Mapping[Cell, Value]) -> Iterator[tuple[Rule, Message]]:
    """Those by which every entry is worked out from the right one."""
    yield from _with_constants(
        right,
        wrong,
        lambda place: 0,
        message("every entry is off by the same factor"),
        message("every entry is off by the same amount"),
    )
    yield _but_infinity(right, lambda i, j: right[i, j] * right[i, j]), message("every entry is squared")
    for axis in (0, 1):
        yield from _with_constants(
            right,
            wrong,
            itemgetter(axis),
            message("every row or column is off by a factor of its own"),
            message("every row or column is off by an amount of its own"),
        )


def _in_some_places(right: Matrix, wrong: Mapping[Cell, Value]) -> Iterator[tuple[Rule, Message]]:
    """What was done to some entries alone, as to those above the diagonal, or to the negative ones."""
    number = next(iter(wrong.values()))
    yield lambda i, j: number if (i, j) in wrong else right[i, j], message("the same number stands in several places")
    yield from _with_constants(
        right,
        wrong,
        lambda place: 0 if place in wrong else None,
        message("several entries are off by the same factor"),
        message("several entries are off by the same amount"),
    )


def _with_constants(
    right: Matrix,
    wrong: Mapping[Cell, Value],
    line_of: Callable[[Cell], int | None],
    with_factors: Message,
    with_amounts: Message,
) -> Iterator[tuple[Rule, Message]]:
    """A factor or an amount for each line, told by its largest wrong entry; lines without one are right.

    An entry that tells a constant bears nothing out: each line needs another one, and two must do so.
    """
    lines: dict[int | None, list[Cell]] = {}
    for place in wrong:
        lines.setdefault(line_of(place), []).append(place)
    if len(wrong) < len(lines) + 2 or any(len(places) < 2 for places in lines.values()):
        return
    factors, amounts = dict[int | None, Fraction](), dict[int | None, Fraction]()
    for line, places in lines.items():
        place = max(places, key=lambda c: abs(near(right[c])))
        own, due = near(wrong[place]), near(right[place])
        if not isfinite(own) or not isfinite(due):
            return
        factors[line] = Fraction(own / due).limit_denominator(FINEST) if due else Fraction(0)
        amounts[line] = Fraction(own - due).limit_denominator(FINEST)
    if all(factors.values()):
        yield _but_infinity(right, lambda i, j: right[i, j] * factors.get(line_of((i, j)), 1)), with_factors
    yield _but_infinity(right, lambda i, j: right[i, j] + amounts.get(line_of((i, j)), 0)), with_amounts


def _but_infinity(right: Matrix, rule: Rule) -> Rule:
    """A rule for finite numbers, with −∞ left as it is."""
    return lambda i, j: right[i, j] if right[i, j] is NEGATIVE_INFINITY else rule(i, j)


def _moved(right: Matrix, rows: list[int], columns: list[int]) -> Rule:
    """What belongs to the rows and columns in this order."""
    return lambda i, j: right[rows[i], columns[j]]
