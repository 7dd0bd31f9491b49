"""Equality and sign, decided: by intervals, exactly, modulo a prime, or honestly not at all.

Different numbers are nearly always told apart by an interval of 25 digits.  Equal ones are proved equal
exactly: a sum c·√r·e^a is zero only if it has no term (Lindemann–Weierstrass), and a + b·√R = 0 means
a² = b²R with opposite signs.  When that would be too large, the difference is evaluated modulo a random prime
(Schwartz 1980, Zippel 1979).  Outside the class of exact numbers equality can be proved formally, and
inequality by intervals; between the two remains `undecided`.  Numbers that are known by intervals alone (`Real`) are
taken for equal if they agree to 200 digits, and the decision says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, gcd, lcm, prod
from random import SystemRandom
from typing import Any, Literal, TypeAlias

from symattn.errors import InputError, OutgrownError, UndecidedError, UndefinedError
from symattn.exact import values
from symattn.exact.intervals import (
    FIRST_DIGITS,
    LINE,
    MOST_DIGITS,
    ONE,
    Interval,
    IntervalRing,
    enclose,
    interval_ring,
)
from symattn.exact.lowest import by_size, less
from symattn.exact.real import Real
from symattn.exact.tree import (
    Apply,
    Budget,
    ExactRing,
    MinusInfinity,
    Node,
    Number,
    Opposite,
    OutsideTheClass,
    Over,
    OverBudget,
    Power,
    Product,
    Ring,
    Symbol,
    Total,
    by_exponentials,
    is_node,
    tree_of,
)
from symattn.exact.upward import upward
from symattn.exact.values import (
    RATIONAL,
    ExpSum,
    Finite,
    Key,
    NegativeInfinity,
    Quotient,
    Rational,
    Value,
    denominator_of,
    has_symbols,
    is_symbolic,
    numerator_of,
    of_exponent,
    terms_of,
)

Proof: TypeAlias = Literal["interval", "exact", "modular", "formal", "to 200 digits", "undecided"]
Operand: TypeAlias = "Value | Node"

FARTHEST_DIGITS = 6400  # tried for the sign of what is proved not to be 0
BUDGET = 30_000
LONGEST_STEP = 250  # bits of what a prime of the modular test is 1 by, or has to exceed: others take too long to find
DIGITS_OF_REALS = 200  # to which numbers must agree that are known by intervals alone
RANDOM = SystemRandom()  # unpredictable, so that answers cannot be crafted against it
SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether two values are equal (None: not known), what proves it, and the digits that were compared.

    Where it is not known, the digits are those to which the values agree; None if they are not seen to agree.
    """

    equal: bool | None
    proof: Proof
    digits: int | None = None


def decide(a: Value, b: Value, *, budget: Budget | None = None) -> Decision:
    """Whether a = b, with the proof.

    >>> from symattn.exact.reading import read
    >>> decide(read("e^2/(1+2e^2)").value, read("1/(2+e^-2)").value)
    Decision(equal=True, proof='exact', digits=None)
    """
    if isinstance(a, NegativeInfinity) or isinstance(b, NegativeInfinity):
        return Decision(a is b, "exact")
    if isinstance(a, Real) or isinstance(b, Real):
        return _decide_reals(a, b)
    a, b = values.opened(a), values.opened(b)
    if isinstance(a, RATIONAL) and isinstance(b, RATIONAL):
        return Decision(a == b, "exact")
    symbols = has_symbols(a) or has_symbols(b)
    ring = PointRing(FIRST_DIGITS) if symbols else interval_ring(FIRST_DIGITS)
    if _apart(ring.enclose(a), ring.enclose(b)):
        return Decision(False, "interval", FIRST_DIGITS)
    if values.is_finite(a) and values.is_finite(b):
        try:
            return Decision(_equal(a, b, budget or Budget(BUDGET)), "exact")
        except (OverBudget, OutgrownError):
            pass
    return _beyond_exact(a, b, numeric=not symbols)


def _decide_reals(a: Operand, b: Operand) -> Decision:
    if a is b:
        return Decision(True, "exact")
    if not has_symbols(a) and not has_symbols(b):
        for digits in (FIRST_DIGITS, *(k * DIGITS_OF_REALS + FIRST_DIGITS for k in (1, 2, 4))):
            x, y = _enclosed(a, digits), _enclosed(b, digits)
            if _apart(x, y):
                return Decision(False, "interval", digits)
            if _close(x, y, DIGITS_OF_REALS):
                return Decision(True, "to 200 digits", DIGITS_OF_REALS)
    return Decision(None, "undecided")


def is_zero(v: Value) -> bool:
    """Whether v = 0."""
    return compare(v, 0) == 0 if not has_symbols(v) else _sure(decide(v, 0), v)


def sign(v: Value, *, budget: Budget | None = None) -> int:
    """−1, 0 or 1."""
    if isinstance(v, RATIONAL):
        return (v > 0) - (v < 0)
    if isinstance(v, NegativeInfinity):
        return -1
    known = enclose(v, FIRST_DIGITS).sign
    if known is not None:
        return known
    if _sure(decide(v, 0, budget=budget), v):
        return 0
    if isinstance(v, Quotient):
        return sign(v.numerator, budget=budget) * sign(v.denominator, budget=budget)
    if isinstance(v, ExpSum):
        v = _without_largest_unit(v)
    digits = FIRST_DIGITS
    while digits < FARTHEST_DIGITS:
        digits *= 2
        if budget is not None:
            budget.digits(v, digits)
        known = enclose(v, digits).sign
        if known is not None:
            return known
    raise UndecidedError(f"The sign of {values.text(v)} is not known even with {digits} digits.")


upward.decide, upward.sign = decide, sign


def _without_largest_unit(v: ExpSum) -> ExpSum:
    """v/e^a with the largest a of all terms, which has the same sign, and is no number that decimals cannot hold."""
    largest = max((a for a, _, _ in v.terms), key=by_size)
    return ExpSum({(less(a, largest), r, roots): c for (a, r, roots), c in v.terms.items()})


def compare(a: Value, b: Value) -> int:
    """−1, 0 or 1 as a is less than, equal to or greater than b."""
    if isinstance(a, NegativeInfinity) or isinstance(b, NegativeInfinity):
        return (b is a) - 1 if isinstance(a, NegativeInfinity) else 1
    if isinstance(a, RATIONAL) and isinstance(b, RATIONAL):
        return (a > b) - (a < b)
    x, y = enclose(a, FIRST_DIGITS), enclose(b, FIRST_DIGITS)
    if x.high < y.low:
        return -1
    if x.low > y.high:
        return 1
    try:
        return sign(a - b)
    except OutgrownError:
        return _compared(a, b)


def _compared(a: Value, b: Value) -> int:
    """The same where a − b has too many terms to be formed."""
    decision = decide(a, b)
    if decision.equal:
        return 0
    digits = FIRST_DIGITS
    while digits < FARTHEST_DIGITS:
        digits *= 2
        x, y = enclose(a, digits), enclose(b, digits)
        if _apart(x, y):
            return -1 if x.high < y.low else 1
    raise UndecidedError(f"Which of two numbers is larger is not known even with {digits} digits.")


def decide_tree(tree: Node, truth: Value) -> Decision:
    """Whether a tree that is too large to be multiplied out has this value: by intervals, then modulo a prime."""
    if isinstance(truth, NegativeInfinity):  # which is not large
        return Decision(False, "exact")
    if isinstance(truth, Real):
        return _decide_reals(tree, truth)
    symbols = has_symbols(truth)
    if symbols and _apart((ring := PointRing(FIRST_DIGITS)).enclose(truth), ring.enclose_tree(tree)):
        return Decision(False, "interval", FIRST_DIGITS)
    return _beyond_exact(tree, truth, numeric=not symbols)


# ------------------------------------------------------------------------------------ the exact zero test


def _equal(a: Finite, b: Finite, budget: Budget) -> bool:
    """a = b, by cross-multiplication."""
    (n, d), (m, e) = (numerator_of(a), denominator_of(a)), (numerator_of(b), denominator_of(b))
    if d is e or (type(d) is type(e) and d == e):
        return _is_zero(n - m, budget)
    budget.product(n, e)
    budget.product(m, d)
    return _is_zero(n * e - m * d, budget)


def _is_zero(v: Rational | ExpSum, budget: Budget) -> bool:
    """A sum without roots of the tower is 0 only if it is empty; a + b·√R as in the head of this module."""
    if not isinstance(v, ExpSum):
        return v == 0
    if not v.height or enclose(v, FIRST_DIGITS).sign is not None:
        return False
    R = max((R for _, _, roots in v.terms for R in roots), key=values.order)
    a = ExpSum.of({key: c for key, c in v.terms.items() if R not in key[2]})
    b = ExpSum.of({(x, r, tuple(S for S in s if S != R)): c for (x, r, s), c in v.terms.items() if R in s})
    budget.spend(100 + len(v.terms))
    if _is_zero(b, budget):
        return _is_zero(a, budget)
    if _is_zero(a, budget) or _sign_of_nonzero(a, budget) == _sign_of_nonzero(b, budget):
        return False
    budget.product(a, a)
    budget.product(b, b)
    square = b * b
    budget.product(square, R)
    return _is_zero(a * a - square * R, budget)


def _sign_of_nonzero(v: Rational | ExpSum, budget: Budget) -> int:
    digits = FIRST_DIGITS
    while digits <= FARTHEST_DIGITS:
        budget.digits(v, digits)
        known = enclose(v, digits).sign
        if known is not None:
            return known
        digits *= 2
    raise OverBudget("The sign of a number that is not zero needs more digits than are allowed.")


# ------------------------------------------------------------------------------------ beyond it


def _beyond_exact(a: Operand, b: Operand, *, numeric: bool) -> Decision:
    digits = 2 * FIRST_DIGITS
    if numeric and _apart(_enclosed(a, digits), _enclosed(b, digits)):
        return Decision(False, "interval", digits)
    for test in (_logarithmic, equal_modulo_primes):
        try:
            decision = test(_as_operand(a), _as_operand(b))
        except (OverBudget, OutgrownError, OutsideTheClass, UndecidedError):
            continue
        if decision is not None:
            return decision
    if not numeric:
        return Decision(None, "undecided")
    while digits < MOST_DIGITS:
        digits *= 2
        x, y = _enclosed(a, digits), _enclosed(b, digits)
        if _apart(x, y):
            return Decision(False, "interval", digits)
    return Decision(None, "undecided", digits if _close(x, y, digits // 2) else None)


class PointRing(IntervalRing):
    """Functions of symbols at one point, the symbols being 3, 5, 7 …: where they differ there, they differ."""

    def __init__(self, digits: int) -> None:
        super().__init__(digits)
        self._points: dict[str, Interval] = {}

    def enclose(self, value: Value) -> Interval:
        try:
            return super().enclose(value)
        except InputError:  # not defined at this point, perhaps at others; or a function without intervals
            return LINE

    def enclose_tree(self, tree: Node) -> Interval:
        try:
            return self(tree)
        except UndefinedError:
            return LINE

    def other(self, node: MinusInfinity | Symbol) -> Interval:
        if isinstance(node, MinusInfinity):
            return super().other(node)
        return self._points.setdefault(node.name, self.number(2 * len(self._points) + 3))


def _as_operand(v: Operand) -> Operand:
    """A SymPy expression as a tree, with the exponents multiplied out."""
    if not is_symbolic(v):
        return v
    import sympy

    powers = [x.exp for x in v.atoms(sympy.Pow) if x.exp.is_Integer]
    if v.has(sympy.Symbol) and max(powers, default=0) <= 4 and v.count_ops() < 200:
        v = v.replace(sympy.exp, lambda x: sympy.exp(sympy.expand(x)))
    return tree_of(v)


def _enclosed(v: Operand, digits: int) -> Interval:
    try:
        return interval_ring(digits)(v) if is_node(v) else enclose(v, digits)
    except OutsideTheClass:  # a symbol in what was typed
        return LINE


def _apart(x: Interval, y: Interval) -> bool:
    return x.high < y.low or y.high < x.low


def _close(x: Interval, y: Interval, digits: int) -> bool:
    """Whether two intervals are so narrow that the numbers in them agree to `digits` digits.

    What is divided by something that cannot be told from 0 lies anywhere, and agrees with nothing.
    """
    if not (x.bounded and y.bounded):
        return False
    low, high = min(x.low, y.low), max(x.high, y.high)
    ring = interval_ring(FIRST_DIGITS)
    largest = max(low.copy_abs(), high.copy_abs(), ONE)
    return ring.ceiling.subtract(high, low) <= ring.floor.multiply(largest, Decimal((0, (1,), -digits)))


def _sure(decision: Decision, v: Value) -> bool:
    if decision.equal is None:
        known = f"; it agrees with 0 to {decision.digits} digits" if decision.digits else ""
        raise UndecidedError(f"Whether {values.text(v)} is 0 is not known{known}.")
    return decision.equal


# ------------------------------------------------------------------------------------ sums of logarithms


def _logarithmic(a: Operand, b: Operand) -> Decision | None:
    """s + Σ q·ln u = 0 is e^(Ds)·Π u^(Dq) = 1 with the common denominator D of the q, and that can be decided."""
    if not (_has_logarithm(a) or _has_logarithm(b)):
        return None
    budget = Budget(BUDGET)
    (s, logarithms), (t, more) = (_as_logarithms(v, budget) for v in (a, b))
    logarithms += [(-q, u) for q, u in more]
    scale = lcm(1, *(q.denominator for q, _ in logarithms))
    rest = s - t
    if not logarithms or values.as_exponent(rest) is None:
        return None
    ring = ExactRing(budget, closed=True)
    product: Value = values.exponential(rest * scale)
    for q, u in logarithms:
        product = ring.multiply(product, ring.integer_power(u, int(q * scale)))
    return Decision(values.is_finite(product) and _equal(product, 1, budget), "exact")


def _has_logarithm(v: Operand) -> bool:
    """Whether ln stands anywhere in a tree; it stands in no value."""
    match v:
        case Apply(function, arguments):
            return function == "ln" or any(map(_has_logarithm, arguments))
        case Total(inside) | Product(inside):
            return any(map(_has_logarithm, inside))
        case Over(x, y) | Power(x, y):
            return _has_logarithm(x) or _has_logarithm(y)
        case Opposite(body):
            return _has_logarithm(body)
    return False


def _as_logarithms(v: Operand, budget: Budget) -> tuple[Finite, list[tuple[Rational, Finite]]]:
    """v as s + Σ q·ln u, or OutsideTheClass."""
    if not is_node(v):
        if not values.is_finite(v):
            raise OutsideTheClass("Only finite numbers are sums of logarithms.")
        return v, []
    exact = ExactRing(budget, closed=True)
    try:
        return _finite(exact(v)), []
    except OutsideTheClass:
        pass
    match v:
        case Apply("ln", (u,)):
            return 0, [(1, _finite(exact(u)))]
        case Opposite(body):
            return _as_logarithms(Product((Number(-1), body)), budget)
        case Total((first, *rest)):
            s, logarithms = _as_logarithms(first, budget)
            for term in rest:
                t, more = _as_logarithms(term, budget)
                s, logarithms = s + t, logarithms + more
            return s, logarithms
        case Product((Number(q), *rest)):
            s, logarithms = _as_logarithms(rest[0] if len(rest) == 1 else Product(tuple(rest)), budget)
            return s * q, [(p * q, u) for p, u in logarithms]
        case Over(numerator, Number(d)) if d:
            return _as_logarithms(Product((Number(Fraction(1, d)), numerator)), budget)
    raise OutsideTheClass("The expression is not a sum of logarithms.")


def _finite(v: Value) -> Finite:
    if not values.is_finite(v):
        raise OutsideTheClass("−∞ is not a finite number.")
    return v


# ------------------------------------------------------------------------------------ identity modulo a prime
#
# Every exponential in the two operands is e^(Σ n_k·m_k/D) with rational n_k, where the m_k are the monomials
# √r·e^a and D is one common denominator of all exponents (D = 1 unless there are exponents like e²/(1+e²)).
# So all of them are products of powers of the y_k = e^(m_k/(D·L)), L the common denominator of the n_k, and
# the operands are rational functions of the y_k and of square roots.  Both are evaluated at random y_k modulo
# a prime p ≡ 1 (mod 8·Πb), where every √b exists.  A non-zero result proves that the functions differ, and, if
# D = 1, that the numbers do, for then the y_k are algebraically independent (Lindemann–Weierstrass).  If the
# functions differ, a zero result has probability < 2⁻¹⁰⁰.  Whatever else occurs, such as ln 2 or a root of the
# tower, is one more variable; then only a zero result says something.


def equal_modulo_primes(a: Operand, b: Operand) -> Decision | None:
    survey = Survey()
    degree = survey.add(survey.embed(a), survey.embed(b))
    for _ in range(3):
        field = survey.random_field(degree)
        try:
            difference = (field.embed(a) - field.embed(b)) % field.p
        except ZeroDivisionError:  # p happens to divide a denominator, or there is a 0 in one
            continue
        if field.faithful:
            return Decision(difference == 0, "modular")
        return None if difference else Decision(True, "formal")
    return None


Degree: TypeAlias = tuple[int, int]
FINE = 720720  # lcm(1, …, 16): e^(q·x) is a power of e^(x/FINE) for every such denominator of q


class Survey(Ring[Degree]):
    """What occurs in the operands: radicands, exponents, logarithms.  Evaluates to a bound of the degrees of
    (numerator, denominator), in which every exponential and every other new variable counts 1."""

    def __init__(self) -> None:
        self.radicands: set[int] = set()
        self.logarithms: set[int] = set()
        self.exponents: list[Finite] = []
        self.denominators: list[ExpSum] = []
        self.scale = 1
        self._known: dict[tuple[int, ...], tuple[Node, Finite | None]] = {}
        self._budget = Budget(BUDGET)

    def value(self, node: Node, *parts: Node) -> Finite | None:
        """The exact value of a node, if it has one; known by the identity of its parts, kept alive."""
        key = tuple(map(id, parts or (node,)))
        if key not in self._known:
            allowed = max(0, min(5000, self._budget.left))
            share = Budget(allowed)
            try:
                value: Any = ExactRing(share, closed=True)(node)
            except (OutsideTheClass, OverBudget, UndecidedError):
                value = None
            self._budget.left -= allowed - share.left
            self._known[key] = (node, value)
        return self._known[key][1]

    def exponent_parts(self, node: Node) -> list[tuple[Rational, Finite | Node]]:
        """An exponent as Σ q·part, each part a value if it has one."""
        value = self.value(node)
        if value is not None:
            return [(1, value)]
        match node:
            case Opposite(body):
                return [(-q, part) for q, part in self.exponent_parts(body)]
            case Total(terms):
                return [pair for term in terms for pair in self.exponent_parts(term)]
            case Product((Number(q), rest)) if (q * FINE).denominator == 1 and -(2**40) < q < 2**40:
                return [(q * p, part) for p, part in self.exponent_parts(rest)]
        return [(1, node)]

    def embed(self, v: Operand) -> Degree:
        if is_node(v):
            return self(v)
        if isinstance(v, Quotient):
            return self.divide(self.embed(v.numerator), self.embed(v.denominator))
        if isinstance(v, ExpSum):
            for exponent, r, roots in v.terms:
                self._exponential(of_exponent(exponent))
                self.radicands.add(r)
                for R in roots:
                    self.embed(R)
            return max(1 + len(roots) for _, _, roots in v.terms), 0
        if isinstance(v, RATIONAL):
            return 0, 0
        raise OutsideTheClass("Only finite numbers can be tested for identity.")

    def number(self, q: Rational) -> Degree:
        return 0, 0

    def negate(self, a: Degree) -> Degree:
        return a

    def add(self, a: Degree, b: Degree) -> Degree:
        return max(a[0] + b[1], b[0] + a[1]), a[1] + b[1]

    def multiply(self, a: Degree, b: Degree) -> Degree:
        return a[0] + b[0], a[1] + b[1]

    def divide(self, a: Degree, b: Degree) -> Degree:
        return a[0] + b[1], a[1] + b[0]

    def power(self, base: Node, exponent: Node) -> Degree:
        x = self.value(exponent)
        if isinstance(x, int):
            return self.integer_power(self(base), x)
        if base == Apply("e", ()):
            return self.apply("exp", (exponent,))
        whole = self.value(Power(base, exponent), base, exponent)
        if whole is not None:
            return self.embed(whole)
        self(base)
        self(exponent)
        return 1, 0

    def apply(self, function: str, arguments: tuple[Node, ...]) -> Degree:
        if function == "tanh":
            return self(by_exponentials(*arguments))
        if function == "exp":
            for _, part in self.exponent_parts(arguments[0]):
                if is_node(part):
                    self(part)
                else:
                    self._exponential(part)  # type: ignore[arg-type]
            return 1, 0
        for x in arguments:
            v = self.value(x)
            if v is None:
                self(x)
            elif function == "sqrt":
                return self.embed(values.square_root(v))
            elif function == "ln" and isinstance(v, RATIONAL) and v <= 0:
                raise UndefinedError(f"The logarithm of {values.text(v)} is not defined: it is not positive.")
            else:
                self.embed(v)
                self.logarithms.update(n for n in _parts(v) if isinstance(n, int))
        return 1, 0

    def other(self, node: MinusInfinity | Symbol) -> Degree:
        return (1, 0) if isinstance(node, Symbol) else super().other(node)

    def _exponential(self, v: Finite) -> None:
        """Note e^v, and what occurs inside v."""
        self.exponents.append(v)
        if isinstance(v, Quotient):
            if v.denominator not in self.denominators:
                self.denominators.append(v.denominator)
            self.embed(v)
        elif isinstance(v, ExpSum):
            self.embed(v) if any(a or roots for a, _, roots in v.terms) else None
            self.radicands.update(r for _, r, _ in v.terms)

    def coordinates(self, v: Finite) -> Mapping[Key, Rational]:
        """The n_k of an exponent v = Σ n_k·m_k/D, with D the product of all denominators."""
        numerator = numerator_of(v)
        for d in self.denominators:
            if not isinstance(v, Quotient) or d != v.denominator:
                self._budget.product(numerator, d)
                numerator = numerator * d
        return terms_of(numerator)

    def random_field(self, degree: Degree) -> PrimeField:
        rows = [self.coordinates(v) for v in self.exponents]
        self.scale = lcm(1, *(c.denominator for row in rows for c in row.values()))
        largest = max((sum(ceil(values.absolute(c) * self.scale) for c in row.values()) for row in rows), default=1)
        bound = (sum(degree) + 1) * (2 * largest + 1)
        base = coprime_base(self.radicands)
        step = 8 * prod(base)
        if step.bit_length() > LONGEST_STEP:
            raise OverBudget("There are too many different square roots for a test modulo a prime.")
        if bound.bit_length() > LONGEST_STEP:
            raise OverBudget("The exponents are too large for a test modulo a prime.")
        width = max(100, 200 + bound.bit_length() - step.bit_length())
        while not is_probable_prime(p := 1 + step * (RANDOM.getrandbits(width) + (1 << width))):
            pass
        return PrimeField(p, {b: square_root_modulo(b, p) for b in base}, self, coprime_base(self.logarithms))


class PrimeField(Ring[int]):
    """The integers modulo p, with a value for everything that the survey found."""

    def __init__(self, p: int, roots: dict[int, int], survey: Survey, logarithms: list[int]) -> None:
        self.p, self.roots, self.survey, self.logarithms = p, roots, survey, logarithms
        self.faithful = not survey.denominators  # whether a result that is not 0 proves the number not to be 0
        self._variables: dict[object, int] = {}

    def embed(self, v: Operand) -> int:
        if is_node(v):
            return self(v)
        if isinstance(v, Quotient):
            return self.divide(self.embed(v.numerator), self.embed(v.denominator))
        total = 0
        for (exponent, r, roots), c in terms_of(v).items():  # type: ignore[arg-type]
            term = self.number(c) * self._exponential(of_exponent(exponent))
            for b, root in self.roots.items():
                if r % b == 0:
                    term = term * root % self.p
            for R in roots:
                term *= self._other("root", self.embed(R))
            total += term
        return total % self.p

    def number(self, q: Rational) -> int:
        return q if isinstance(q, int) else self.divide(q.numerator, q.denominator)

    def negate(self, a: int) -> int:
        return -a

    def add(self, a: int, b: int) -> int:
        return (a + b) % self.p

    def multiply(self, a: int, b: int) -> int:
        return a * b % self.p

    def divide(self, a: int, b: int) -> int:
        if b % self.p == 0:
            raise ZeroDivisionError
        return a * pow(b, -1, self.p) % self.p

    def power(self, base: Node, exponent: Node) -> int:
        x = self.survey.value(exponent)
        if isinstance(x, int):
            return self.integer_power(self(base), x)
        if base == Apply("e", ()):
            return self.apply("exp", (exponent,))
        whole = self.survey.value(Power(base, exponent), base, exponent)
        return self._other("power", self(base), self(exponent)) if whole is None else self.embed(whole)

    def apply(self, function: str, arguments: tuple[Node, ...]) -> int:
        if function == "tanh":
            return self(by_exponentials(*arguments))
        if function == "exp":
            result = 1
            for q, part in self.survey.exponent_parts(arguments[0]):
                if not is_node(part):
                    factor = self._exponential(part)  # type: ignore[arg-type]
                    result *= factor if q == 1 else self.divide(1, factor)
                else:
                    result *= pow(self._other("exp", self(part)), int(q * FINE), self.p)
            return result % self.p
        known = [self.survey.value(x) for x in arguments]
        if function == "sqrt" and known[0] is not None:
            return self.embed(values.square_root(known[0]))
        if function == "ln" and known[0] is not None:
            above, below = map(self._logarithm, _parts(known[0]))
            return (above - below) % self.p
        return self._other(function, *map(self, arguments))

    def other(self, node: MinusInfinity | Symbol) -> int:
        if isinstance(node, MinusInfinity):
            return super().other(node)
        return self._other("symbol", node.name)

    def _exponential(self, v: Finite) -> int:
        result = 1
        for monomial, c in self.survey.coordinates(v).items():
            y = self._variable(monomial)
            result = result * pow(y, int(c * self.survey.scale), self.p) % self.p
        return result

    def _logarithm(self, v: Rational | ExpSum) -> int:
        if not isinstance(v, int):
            return self._other("ln", self.embed(v))
        total = 0
        for b in self.logarithms:
            while v % b == 0:
                v //= b
                total += self._other("ln", b)
        return total

    def _other(self, *name: object) -> int:
        self.faithful = False
        return self._variable(name)

    def _variable(self, name: object) -> int:
        if name not in self._variables:
            self._variables[name] = RANDOM.randrange(1, self.p)
        return self._variables[name]


def _parts(v: Finite) -> tuple[Rational | ExpSum, Rational | ExpSum]:
    """Numerator and denominator, of a Fraction as well."""
    return (v, 1) if isinstance(v, ExpSum) else (v.numerator, v.denominator)


def coprime_base(numbers: Iterable[int]) -> list[int]:
    """Pairwise coprime numbers > 1, of whose powers all the given ones are products.  Factors nothing.

    >>> sorted(coprime_base([6, 10, 15]))
    [2, 3, 5]
    """
    base: list[int] = []
    left = [n for n in numbers if n > 1]
    while left:
        n = left.pop()
        for i, b in enumerate(base):
            if (g := gcd(n, b)) > 1:
                del base[i]
                left += [m for m in (g, b // g, n // g) if m > 1]
                break
        else:
            base.append(n)
    return base


def is_probable_prime(n: int) -> bool:
    """The test of Miller and Rabin; a composite n passes with probability < 4⁻²⁴."""
    if n < 2 or any(n % p == 0 for p in SMALL_PRIMES):
        return n in SMALL_PRIMES
    twos = (n - 1 & 1 - n).bit_length() - 1
    for _ in range(24):
        x = pow(RANDOM.randrange(2, n), n - 1 >> twos, n)
        if x not in (1, n - 1) and not any((x := x * x % n) == n - 1 for _ in range(twos - 1)):
            return False
    return True


def square_root_modulo(a: int, p: int) -> int:
    """x with x² = a modulo a prime p where there is one (Tonelli and Shanks)."""
    twos = (p - 1 & 1 - p).bit_length() - 1
    odd = p - 1 >> twos
    z = next(z for z in iter(lambda: RANDOM.randrange(2, p), 0) if pow(z, p - 1 >> 1, p) == p - 1)
    c, x, t = pow(z, odd, p), pow(a, odd + 1 >> 1, p), pow(a, odd, p)
    while t != 1:
        i, s = 0, t
        while s != 1:
            s, i = s * s % p, i + 1
            if i == twos:
                raise ZeroDivisionError
        b = pow(c, 1 << twos - i - 1, p)
        x, c, twos = x * b % p, b * b % p, i
        t = t * c % p
    return x
