"""Expressions as trees, evaluated in whatever ring is asked for.

The reader makes such a tree from a text and the bridge from a SymPy expression; nothing is computed on the
way.  The same tree can then be evaluated exactly (`ExactRing`), in intervals (`intervals.IntervalRing`) or
modulo a prime (`decide.PrimeField`): a huge answer can be tested without being expanded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce
from typing import Any, Generic, TypeAlias, TypeGuard, TypeVar

from symattn.errors import OutgrownError, SymattnError, UndefinedError
from symattn.exact import values
from symattn.exact.upward import upward
from symattn.exact.values import (
    NEGATIVE_INFINITY,
    RATIONAL,
    ExpSum,
    Finite,
    NegativeInfinity,
    Rational,
    Value,
    denominator_of,
    is_finite,
    is_symbolic,
    numerator_of,
    terms_of,
)
from symattn.foundation.languages import message

T = TypeVar("T")
_at = partial(field, default=0, kw_only=True, compare=False)  # where the node begins in the text that was read


@dataclass(frozen=True, slots=True)
class Number:
    value: Rational
    digits: str = field(default="", kw_only=True, compare=False)  # as they were typed
    at: int = _at()


@dataclass(frozen=True, slots=True)
class MinusInfinity:
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Opposite:
    body: Node
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Total:
    terms: tuple[Node, ...]
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple[Node, ...]
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Over:
    numerator: Node
    denominator: Node
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Power:
    base: Node
    exponent: Node
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the arguments: exp, sqrt, ln, tanh, erf, sin, cos, max, min, abs; e and pi of none."""

    function: str
    arguments: tuple[Node, ...]
    at: int = _at()


Node: TypeAlias = Number | MinusInfinity | Symbol | Opposite | Total | Product | Over | Power | Apply


def is_node(v: object) -> TypeGuard[Node]:
    return isinstance(v, Number | MinusInfinity | Symbol | Opposite | Total | Product | Over | Power | Apply)


LARGEST_OUTSIDE = 4  # digits of an exponent with which the class of exact numbers may be left
LONGEST_OUTSIDE = 256  # bits of the coefficients with which it may be left
LARGEST_POWER = 20  # of an expression outside the class of which a root is taken
LARGEST_FACTOR = 10**6  # of a logarithm with which SymPy is left to work
FARTHEST_OUTSIDE = 500  # digits, before or after the point, of other numbers with which it may be left


class OverBudget(SymattnError, ArithmeticError):  # noqa: N818  (a signal between modules, never shown to a user)
    """An exact computation would be larger than it is allowed to be."""


class OutsideTheClass(SymattnError, ArithmeticError):  # noqa: N818
    """The value is not a quotient of sums c·√r·e^a, or this ring does not know the function."""


class EvaluationError(UndefinedError):
    """The part of a tree that begins at `at` has no value."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(slots=True)
class Budget:
    """How much work is left, in products of two terms with coefficients of ordinary length (about 1 µs)."""

    left: int
    longest: int = 8192  # bits of a coefficient

    def spend(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise OverBudget("The number is too large to be evaluated exactly.")

    def product(self, a: Finite, b: Finite) -> None:
        self.spend(
            (size(numerator_of(a)) * size(numerator_of(b)) + size(denominator_of(a)) * size(denominator_of(b)))
            * self._weight(a, b)
        )

    def sum(self, a: Finite, b: Finite) -> None:
        if isinstance(a, values.Quotient) and isinstance(b, values.Quotient):
            self.product(a, b)
            self.product(values.Quotient(a.numerator, a.denominator), b.denominator)
            self.product(values.Quotient(b.numerator, b.denominator), a.denominator)
        elif isinstance(a, values.Quotient) or isinstance(b, values.Quotient):
            self.product(a, b)
        else:
            self.spend((size(a) + size(b)) * self._weight(a, b))

    def digits(self, v: Value, digits: int) -> None:
        """The work of enclosing v with `digits` digits."""
        terms = values.length(numerator_of(v)) + values.length(denominator_of(v)) if is_finite(v) else _storeys(v)
        self.spend(terms * digits**2 // 400)

    def _weight(self, a: Finite, b: Finite) -> int:
        longest = bits(a) + bits(b)
        if longest > self.longest:
            raise OverBudget("The number is too long to be evaluated exactly.")
        return 1 + longest // 256 + (longest // 1024) ** 2 + 5 * (_has_fractions(a) or _has_fractions(b))


def by_exponentials(x: Node) -> Node:
    """tanh x as (1 − e^−2x)/(1 + e^−2x)."""
    shrinking = Power(Apply("e", ()), Product((Number(-2), x)))
    return Over(Total((Number(1), Opposite(shrinking))), Total((Number(1), shrinking)))


def exponent_of(v: Any) -> int:
    """The largest exponent among the factors of a SymPy expression, for (x^a)^b becomes x^(a·b)."""
    powers = (factor for factor in (v.args if v.is_Mul else (v,)) if factor.is_Pow and factor.exp.is_Rational)
    return max((int(abs(factor.exp)) for factor in powers), default=1)


def bits_of_coefficient(v: Any) -> int:
    """The length of the rational factor of a SymPy expression, for (c·x)^a becomes c^a·x^a."""
    coefficient, _ = v.as_coeff_Mul(rational=True)
    return max(int(coefficient.p).bit_length(), int(coefficient.q).bit_length())


def size(v: Rational | ExpSum) -> int:
    """The number of terms, those with roots of the tower counted eight times."""
    return len(v.terms) * (8 if v.height else 1) if isinstance(v, ExpSum) else 1


def _has_fractions(v: Finite) -> bool:
    """Whether exponents are fractions, which take several times as long to add and to look up."""
    keys = (*terms_of(numerator_of(v)), *terms_of(denominator_of(v)))
    return any(q != 1 for exponent, _, _ in keys for _, _, q in exponent)


def bits(v: Finite) -> int:
    """The length of the longest coefficient."""
    coefficients = (*terms_of(numerator_of(v)).values(), *terms_of(denominator_of(v)).values())
    return max((max(c.numerator.bit_length(), c.denominator.bit_length()) for c in coefficients), default=1)


class Ring(ABC, Generic[T]):
    """What it takes to evaluate a tree."""

    def __call__(self, node: Node) -> T:
        try:
            match node:
                case Number(value):
                    return self.number(value)
                case Opposite(body):
                    return self.negate(self(body))
                case Total(terms):
                    return reduce(self.add, map(self, terms))
                case Product(factors):
                    return reduce(self.multiply, map(self, factors))
                case Over(numerator, denominator):
                    return self.divide(self(numerator), self(denominator))
                case Power(base, exponent):
                    return self.power(base, exponent)
                case Apply("e", ()):
                    return self.apply("exp", (Number(1),))
                case Apply(function, arguments):
                    return self.apply(function, arguments)
                case MinusInfinity() | Symbol():
                    return self.other(node)
        except OutgrownError as error:
            raise OverBudget(str(error)) from error
        except UndefinedError as error:
            if isinstance(error, EvaluationError):
                raise
            raise EvaluationError(error.said, node.at) from error

    @abstractmethod
    def number(self, q: Rational) -> T: ...

    @abstractmethod
    def negate(self, a: T) -> T: ...

    @abstractmethod
    def add(self, a: T, b: T) -> T: ...

    @abstractmethod
    def multiply(self, a: T, b: T) -> T: ...

    @abstractmethod
    def divide(self, a: T, b: T) -> T: ...

    @abstractmethod
    def power(self, base: Node, exponent: Node) -> T: ...

    @abstractmethod
    def apply(self, function: str, arguments: tuple[Node, ...]) -> T: ...

    def other(self, node: MinusInfinity | Symbol) -> T:
        raise OutsideTheClass(f"{node} cannot be evaluated here.")

    def integer_power(self, base: T, exponent: int) -> T:
        """By repeated squaring, for any integer exponent."""
        if exponent < 0:
            return self.divide(self.number(1), self.integer_power(base, -exponent))
        result = self.number(1)
        while exponent:
            if exponent & 1:
                result = self.multiply(result, base)
            exponent >>= 1
            if exponent:
                base = self.multiply(base, base)
        return result


@dataclass(slots=True)
class ExactRing(Ring[Value]):
    """Exact values, under a budget.  `closed` refuses whatever leaves the class of exact numbers; otherwise
    it becomes a SymPy expression."""

    budget: Budget
    closed: bool = False

    def number(self, q: Rational) -> Value:
        return values.tidy(q)

    def negate(self, a: Value) -> Value:
        return self._kept(-a)

    def add(self, a: Value, b: Value) -> Value:
        if is_finite(a) and is_finite(b):
            self.budget.sum(a, b)
        else:
            self._mixed(a, b)
        return self._kept(a + b)

    def multiply(self, a: Value, b: Value) -> Value:
        if is_finite(a) and is_finite(b):
            self.budget.product(a, b)
        else:
            self._mixed(a, b)
        return self._kept(a * b)

    def divide(self, a: Value, b: Value) -> Value:
        if is_finite(a) and is_finite(b):
            self.budget.product(a, _swapped(b))
            self.require_sign(b)
        else:
            self._mixed(a, b)
            self.budget.spend(1000)
        return self._kept(values.divide(a, b))

    def power(self, base: Node, exponent: Node) -> Value:
        b, x = self(base), self(exponent)
        logarithm = None if isinstance(x, NegativeInfinity) else values.logarithm_of_unit(b)
        if logarithm is not None:
            return self._exponential(self.multiply(logarithm, x))
        if not isinstance(x, RATIONAL):
            return self._open(lambda: values.power(b, x))
        if is_symbolic(b):
            return self._power_of_symbols(b, x)
        if not is_finite(b):
            self.budget.spend(100)
            return self._kept(values.power(b, x))
        return self._whole_power(b, x) if isinstance(x, int) else self._root_of_power(b, x)

    def _whole_power(self, b: Finite, x: int) -> Value:
        if x <= 0 and values.is_zero_for_sure(b):
            raise UndefinedError(message("0^({exponent}) is not defined.", exponent=x))
        self.budget.spend(x.bit_length() * 4)
        if isinstance(b, int) and b.bit_length() * abs(x) > self.budget.longest and abs(b) > 1:
            raise OverBudget("The power is too long to be evaluated exactly.")
        return self.integer_power(b, x)

    def _root_of_power(self, b: Finite, x: Fraction) -> Value:
        self.budget.spend(100 if x.denominator == 2 else 500)
        if abs(x.numerator) * bits(b) > self.budget.longest or x.denominator > self.budget.longest:
            raise OverBudget("The power is too long to be evaluated exactly.")
        if x.denominator == 2:
            return self._root(self.integer_power(b, x.numerator))
        if max(abs(x.numerator), x.denominator.bit_length()) * bits(b) > LONGEST_OUTSIDE:
            raise OverBudget("The root is of a number with too many digits.")
        self._require_modest_numbers(b)
        if values.length(numerator_of(b)) + values.length(denominator_of(b)) > 2:
            self.budget.spend(len(terms_of(numerator_of(b))) ** min(abs(x.numerator), 20))
            if abs(x.numerator) > 20:
                raise OverBudget("The power of a sum is too large to be evaluated exactly.")
        return self._kept(values.power(b, x))

    def _power_of_symbols(self, b: Any, x: Rational) -> Value:
        self.budget.spend(100)
        self._mixed(b)
        if values.absolute(exponent_of(b) * x) > 1000:
            raise OverBudget("The power is too large to be evaluated.")
        if bits_of_coefficient(b) * values.absolute(x) > self.budget.longest:
            raise OverBudget("The power is too long to be evaluated.")
        if isinstance(x, Fraction):
            _require_small_powers(b)
            if b.is_Pow and values.has_symbols(b):
                return self._open(lambda: _power_of_power(b, x))
        return self._kept(values.power(b, x))

    def apply(self, function: str, arguments: tuple[Node, ...]) -> Value:
        args = tuple(map(self, arguments))
        self.budget.spend(20)
        match function, args:
            case "exp", (a,):
                return self._exponential(a)
            case "sqrt", (a,):
                return self._root(a)
            case "ln", (a,):
                logarithm = 0 if a == 1 else values.logarithm_of_unit(a)
                if logarithm is not None:
                    return logarithm
                if is_finite(a) and self.require_sign(a) != 1:
                    raise UndefinedError(f"The logarithm of {values.text(a)} is not defined: it is not positive.")
            case "tanh", (a,) if values.as_exponent(a) is not None:
                shrinking = self._exponential(self.multiply(a, -2))
                return self.divide(self.add(1, self.negate(shrinking)), self.add(1, shrinking))
        self.budget.spend(sum(_work_of_leaving(a) for a in args if is_symbolic(a)))

        def leave() -> Value:
            for a in args:
                self._require_modest(a, FARTHEST_OUTSIDE)
                self.budget.spend(0 if is_symbolic(a) else _work_of_leaving(a))
            return _of_sympy(function, args)

        return self._open(leave)

    def other(self, node: MinusInfinity | Symbol) -> Value:
        if isinstance(node, MinusInfinity):
            return NEGATIVE_INFINITY

        def symbol() -> Value:
            import sympy

            return sympy.Symbol(node.name)

        return self._open(symbol)

    def require_sign(self, v: Value) -> int:
        self.budget.spend(1 if isinstance(v, RATIONAL) else 50)
        return upward.sign(v, budget=self.budget)

    def _root(self, a: Value) -> Value:
        if not is_finite(a):
            _require_small_powers(a)
            if values.has_symbols(a) and a.is_Pow:
                return self._open(lambda: _power_of_power(a, Fraction(1, 2)))
            return self._open(lambda: values.square_root(a))
        self.budget.spend(50 + 200 * (not isinstance(a, RATIONAL)))
        sign = self.require_sign(a)
        return values.root_of_positive(a) if sign == 1 else values.square_root(a if sign else 0)

    def _exponential(self, a: Value) -> Value:
        if isinstance(a, NegativeInfinity) or values.as_exponent(a) is not None:
            return values.exponential(a)

        def leave() -> Value:
            self._require_modest(a)
            self.budget.spend(_work_of_leaving(a))
            return values.exponential(a)

        return self._open(leave)

    def _mixed(self, *operands: Value) -> None:
        """Before SymPy's operators take over."""
        self.budget.spend(100)
        for v in operands:
            if is_symbolic(v):
                self.budget.spend(100 * _storeys(v))
            self._require_modest_numbers(v)

    def _require_modest_numbers(self, v: Value) -> None:
        """No long numbers, for SymPy looks for factors in them; no huge exponents, and nothing that logarithms could
        turn into some: SymPy makes 2^(10^60) of 10^60·ln 2."""
        if (is_finite(v) and bits(v) > LONGEST_OUTSIDE) or (is_symbolic(v) and _has_long_numbers(v)):
            raise OverBudget("The number has digits too many to leave the class of exact numbers.")
        if isinstance(v, ExpSum | values.Quotient):
            for exponent, _, _ in (*terms_of(numerator_of(v)), *terms_of(denominator_of(v))):
                if exponent:
                    self._require_modest(values.of_exponent(exponent))

    def _require_modest(self, a: Value, digits: int = LARGEST_OUTSIDE) -> None:
        """SymPy evaluates what it builds: e^(e^(e^(e^e))) would keep it busy for ever, and so would sin(e^(10^20)), for
        which it needs as many digits of π as the argument has.

        Numbers near 0 are as bad: 1 + e^(-10^12) differs from 1 only after 10^12 places.
        """
        if isinstance(a, NegativeInfinity) or values.has_symbols(a):
            return
        self._require_modest_numbers(a)
        low, high = upward.enclose(a, 12)
        if max(low.adjusted(), high.adjusted()) >= digits or not (low.is_finite() and high.is_finite()):
            raise OverBudget("The number is too large for the functions that leave the class of exact numbers.")
        if (low > 0 or high < 0) and max(low.adjusted(), high.adjusted()) < -FARTHEST_OUTSIDE:
            raise OverBudget("The number is too small for the functions that leave the class of exact numbers.")

    def _open(self, leave: Callable[[], Value]) -> Value:
        self.budget.spend(1000)
        if self.closed:
            raise OutsideTheClass("The expression is not a quotient of sums of c·√r·e^a.")
        return leave()

    def _kept(self, v: Value) -> Value:
        if self.closed and is_symbolic(v):
            raise OutsideTheClass("The expression is not a quotient of sums of c·√r·e^a.")
        return v


def _power_of_power(base: Any, exponent: Fraction) -> Any:
    """√(x²) and the like as it stands: whether that is x depends on x, and SymPy takes long to find out."""
    import sympy

    return sympy.Pow(base, sympy.Rational(exponent.numerator, exponent.denominator), evaluate=False)


def _work_of_leaving(a: Value) -> int:
    """What SymPy does to e^a, beyond the usual: it evaluates a again for each of its terms, and again at each storey
    of a tower of exponentials."""
    if is_symbolic(a):
        logarithm = a.as_coeff_Mul()[1]  # e^(3 ln 2) is 8 at once
        at_once = logarithm.is_Function and logarithm.func.__name__ == "log" and logarithm.args[0].is_Rational
        return 0 if at_once else 500 * _storeys(a) ** 2
    if not is_finite(a) or isinstance(a, RATIONAL):
        return 0
    terms = size(numerator_of(a)) + size(denominator_of(a))
    return 300 * terms + 20 * terms**2


def _require_small_powers(v: Value) -> None:
    """SymPy multiplies out real and imaginary parts of (1 + x)^99 to see what its root is."""
    import sympy

    if is_symbolic(v) and any(exponent_of(power) > LARGEST_POWER for power in v.atoms(sympy.Pow)):
        raise OverBudget("The root is of a power that is too large.")


def _has_long_numbers(v: Any) -> bool:
    import sympy

    longest = max((max(abs(int(q.p)), int(q.q)) for q in v.atoms(sympy.Rational)), default=0)
    return longest.bit_length() > LONGEST_OUTSIDE or (longest > LARGEST_FACTOR and v.has(sympy.log))


def _storeys(v: Any) -> int:
    """How many powers and functions stand inside one another."""
    inside: int = max(map(_storeys, v.args), default=0)
    return inside + 1 if v.is_Pow or v.is_Function else inside


def _of_sympy(function: str, arguments: tuple[Value, ...]) -> Value:
    import sympy

    named: dict[str, Any] = {
        "ln": sympy.log, "tanh": sympy.tanh, "erf": sympy.erf, "sin": sympy.sin, "cos": sympy.cos, "sqrt": sympy.sqrt,
        "max": sympy.Max, "min": sympy.Min, "abs": sympy.Abs,
    }  # fmt: skip
    if function == "pi":
        return sympy.pi
    return upward.from_sympy(named[function](*map(upward.to_sympy, arguments)))


def _swapped(v: Finite) -> Finite:
    return values.Quotient(v.denominator, v.numerator) if isinstance(v, values.Quotient) else v  # type: ignore[arg-type]


def tree_of(expr: Any) -> Node:
    """A SymPy expression as a tree; what no ring knows is refused as outside the class."""
    import sympy

    if expr.is_Rational:
        return Number(values.tidy(Fraction(int(expr.p), int(expr.q))))
    if expr.is_Float:
        return Number(of_float(expr))
    if expr.is_Add:
        return Total(tuple(map(tree_of, expr.args)))
    if expr.is_Mul:
        return Product(tuple(map(tree_of, expr.args)))
    if expr is sympy.E:
        return Apply("e", ())
    if expr is sympy.pi:
        return Apply("pi", ())
    if expr is sympy.S.NegativeInfinity:
        return MinusInfinity()
    if isinstance(expr, sympy.exp):
        return Power(Apply("e", ()), tree_of(expr.exp))
    if expr.is_Pow:
        return Power(tree_of(expr.base), tree_of(expr.exp))
    if expr.is_Symbol:  # x_{11} is x_11, as it is when it is read
        return Symbol(expr.name.replace("{", "").replace("}", ""))
    name = _FUNCTIONS.get(type(expr).__name__)
    if name is None:
        raise OutsideTheClass(f"The expression {expr} cannot be evaluated here.")
    return Apply(name, tuple(map(tree_of, expr.args)))


_FUNCTIONS = {
    "log": "ln", "tanh": "tanh", "erf": "erf", "sin": "sin", "cos": "cos", "Max": "max", "Min": "min", "Abs": "abs"
}  # fmt: skip
"""SymPy's functions, and what they are called in trees."""


def of_float(x: Any) -> values.Rational:
    """The shortest decimal that is this float; of a Float of another precision, the digits it prints."""
    shortest = repr(float(x)) if x._prec == 53 else str(x)
    return values.tidy(Fraction(shortest))
