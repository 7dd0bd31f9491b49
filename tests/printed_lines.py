"""A reader with a calculator: every line "0.6421 − 0.0838 ≈ 0.5583" of a page, worked out from what is printed.

It reads formulas as they are printed, and nothing of what they were made from.  Numbers are worked out with mpmath, and
compared with what stands right of ≈ in its last place; what is written beside an entry is worked out exactly.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import prod

import mpmath
import numpy as np
import oracles
import sympy

from symattn import formula as f
from symattn.derivation.ops.entrywise import Round
from symattn.page.document import Display, Entries, Falk, all_blocks, settled
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording

DIGITS = 120
"""That are worked with: more than twice as many as can be printed."""


class NotReadError(Exception):
    """A formula that has no value of its own: there is a name in it."""


@dataclass(frozen=True)
class Line:
    """Left ≈ right, with decimals on the left."""

    left: f.Formula
    right: f.Formula

    @property
    def whole(self):
        """Whether it is one of matrices."""
        return oracles.contains(self.right, f.MatrixOf) or oracles.contains(self.right, f.ListOf)

    @property
    def follows(self):
        """Whether a calculator comes to what is printed, from what is printed."""
        with mpmath.workdps(DIGITS):
            return all(map(_rounds_to, _entries(value(self.left)), _digits(self.right)))

    def __str__(self):
        return f"{oracles.plain(self.left)} ≈ {oracles.plain(self.right)}"


def lines(document):
    """The lines of a page whose left side has decimals and no names."""
    return (line for line in _rounded(document) if _is_read(line.left) and _is_read(line.right))


def unread(document):
    """Those with decimals on both sides that no calculator could work out."""
    for line in _rounded(document):
        if _has_decimals(line.right) and not (_is_read(line.left) and _is_read(line.right)):
            yield line


def _rounded(document):
    for chain in _chains(all_blocks(settled(document).blocks)):
        for (left, _), (right, sign) in pairwise(chain):
            if sign == "≈" and _has_decimals(left):
                yield Line(left, right)


def value(formula, known=lambda formula: None):
    """A number of mpmath, or a list of rows of them; `known` has what a reader knows of a formula besides."""
    if (found := known(formula)) is not None:
        return found
    read = partial(value, known=known)
    match formula:
        case f.MatrixOf():
            return [[read(x) for x in row] for row in formula.rows]
        case f.ListOf():
            return [[read(x) for x in formula.items]]
        case f.Number():
            return mpmath.mpf(formula.digits)
        case f.Infinity():
            return mpmath.inf
        case f.Name(base="e", sub=(), sup=""):
            return mpmath.e
        case f.Name(base="π"):
            return +mpmath.pi
        case f.Bracketed() | f.Annotated():
            return read(formula.body)
        case f.Negative():
            return _each(lambda x: -x, read(formula.body))
        case f.Transposed():
            return [list(column) for column in zip(*read(formula.body), strict=True)]
        case f.Sum():
            return _together(lambda *x: sum(x), map(read, formula.terms))
        case f.Product(sign="⊙"):
            return _together(lambda *x: prod(x), map(read, formula.factors))
        case f.Product():
            return _product(list(map(read, formula.factors)))
        case f.Fraction():
            return _together(lambda x, y: x / y, map(read, (formula.above, formula.below)))
        case f.Power():
            return read(formula.base) ** read(formula.exponent)
        case f.Root():
            return _each(_root, read(formula.body))
        case f.Call(function=f.Name(base=function, primes=primes)) if function + "'" * primes in FUNCTIONS:
            return _each(FUNCTIONS[function + "'" * primes], *map(read, formula.arguments))
    raise NotReadError(oracles.plain(formula))


FUNCTIONS = {
    "max": lambda *x: max(x), "min": lambda *x: min(x), "ReLU": lambda x: max(x, 0), "relu": lambda x: max(x, 0),
    "exp": mpmath.exp, "ln": mpmath.log, "sqrt": lambda x: _root(x), "tanh": mpmath.tanh, "erf": mpmath.erf,
    "ReLU'": lambda x: mpmath.mpf(x > 0),
    "cos": mpmath.cos, "sin": mpmath.sin, "elu": lambda x: x if x > 0 else mpmath.expm1(x),
}  # fmt: skip


def _root(x):
    """√x; no calculator has one of a negative number."""
    return mpmath.sqrt(x) if x >= 0 else mpmath.nan


def _each(function, *values):
    return _together(function, values)


def _together(function, values):
    """Entry by entry; a number, a single row and a single column are taken again and again."""
    found = list(values)
    matrices = [x for x in found if isinstance(x, list)]
    if not matrices:
        return function(*found)
    rows, columns = max(map(len, matrices)), max(len(m[0]) for m in matrices)

    def at(x, i, j):
        return x[min(i, len(x) - 1)][min(j, len(x[0]) - 1)] if isinstance(x, list) else x

    return [[function(*(at(x, i, j) for x in found)) for j in range(columns)] for i in range(rows)]


def _product(factors):
    first, *others = factors
    for other in others:
        if isinstance(first, list) and isinstance(other, list):
            first = [
                [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*other, strict=True)]
                for row in first
            ]
        else:
            first = _together(lambda x, y: x * y, (first, other))
    return first


# ------------------------------------------------------------------------------------------------ exactly


def evaluated(formula, lookup=lambda name, bound: None, bound=None):
    """The value in SymPy; `lookup` has what a name means, `bound` numbers for index letters, also inside a Σ."""
    bound = bound or {}

    def known(part):
        match part:
            case f.Number():
                return sympy.Rational(part.digits)
            case f.Infinity():
                return sympy.oo
            case f.Name(base="e", sub=(), sup=""):
                return sympy.E
            case f.Name(base="π"):
                return sympy.pi
            case f.Name(base=letter, sub=()) if letter in bound:
                return bound[letter]
            case f.Name():
                return lookup(part, bound)
            case f.Root():
                return sympy.sqrt(read(part.body))
            case f.Call(function=f.Name(base=function)):
                arguments = list(map(read, part.arguments))
                if any(isinstance(argument, list) for argument in arguments):
                    raise NotReadError(oracles.plain(part))
                return EXACTLY.get(function, sympy.Function(function))(*arguments)
            case f.BigSum():
                span = range(read(part.lower), read(part.upper) + 1)
                return sympy.Add(*(evaluated(part.body, lookup, {**bound, part.index.base: k}) for k in span))
        return None

    read = partial(value, known=known)
    return read(formula)


EXACTLY = {
    **dict.fromkeys(("max", "ReLU"), lambda *x: sympy.Max(0, *x)), "elu": lambda x: x if x > 0 else sympy.exp(x) - 1,
    "ln": sympy.log, "tanh": sympy.tanh, "erf": sympy.erf,
}  # fmt: skip


def is_written_out(derivation, notation="standard"):
    """How many entries are, in numbers, what their working on the page comes to; rounded ones to their places."""
    wording, checked = Wording(derivation, load_notation(notation)), 0
    for step in derivation:
        table = step.result.sympy()
        for i, j in np.ndindex(*step.result.shape):
            written = evaluated(wording.working(step, i, j))
            if isinstance(step.op, Round):
                assert abs(written - table[i, j]) <= 10**-step.op.places
            elif written is not sympy.nan:  # a hidden score times 0
                assert oracles.same(written, table[i, j]), f"{step.name} ({i + 1}, {j + 1})"
                checked += 1
    return checked


# ------------------------------------------------------------------------------------------------ what is printed


def _chains(blocks):
    """Chains of equations, put together again where they were folded, each part with the sign before it.

    The numbers of a rule, "≈ [0.5 1] ⊙ [2 3]", and the values printed after them are one chain; so is a scheme.
    """
    rule = []
    for block in blocks:
        if isinstance(block, Entries):
            yield from map(_chain, block.equations)
        if isinstance(block, Falk) and isinstance(block.inside, f.MatrixOf):
            yield [(f.Product((block.left, block.above)), ""), (block.inside, "≈")]
        if isinstance(block, Display):
            for chain in _unfolded(block.lines):
                yield chain
                if rule and len(chain) > 1 and chain[1][1] == "≈" and chain[0][0] == rule[0][0]:
                    yield [*rule[-1:], *chain[1:]]
                if block.role == "rule":
                    rule = [(_bare(chain[0][0]), ""), *chain[1:]]


def _bare(name):
    """A name without its shape."""
    if isinstance(name, f.Annotated):
        return _bare(name.body)
    if isinstance(name, f.Name):
        return f.Name(
            name.base, tuple(x for x in name.sub if not isinstance(x, f.Shape)), name.sup, name.primes, name.hat
        )
    return name


def _unfolded(printed):
    found = []
    for line in printed:
        for item in line.items if isinstance(line, f.Row) else (line,):
            chain = _chain(item)
            first, _ = chain[0]
            if isinstance(first, f.Sum) and first.terms[:1] == (f.NOTHING,):  # a sum goes on
                before, sign = found[-1]
                terms = before.terms if isinstance(before, f.Sum) else (before,)
                found[-1] = (f.Sum((*terms, *first.terms[1:])), sign)
                found += chain[1:]
            elif first == f.NOTHING and found:
                if chain[1][1] == "·":
                    before, sign = found[-1]
                    factors = before.factors if isinstance(before, f.Product) else (before,)
                    found[-1] = (f.Product((*factors, chain[1][0])), sign)
                    found += chain[2:]
                else:
                    found += chain[1:]
            else:
                if found:
                    yield found
                found = chain
    if found:
        yield found


def _chain(formula):
    if not isinstance(formula, f.Relation):
        return [(formula, "")]
    return list(zip(formula.parts, ("", *formula.signs), strict=True))


def floats(grid):
    """A printed matrix as floating point, if all of its entries are numbers."""
    return np.array(value(grid), dtype=float) if _is_read(grid) else None


def _is_read(formula):
    try:
        with mpmath.workdps(15):
            value(formula)
    except (NotReadError, ZeroDivisionError):
        return False
    return True


def _has_decimals(formula):
    if isinstance(formula, f.Number):
        return "." in formula.digits
    return any(map(_has_decimals, f.children(formula)))


def _entries(x):
    return [entry for row in x for entry in row] if isinstance(x, list) else [x]


def _digits(formula):
    match formula:
        case f.MatrixOf():
            return [x for row in formula.rows for x in row]
        case f.ListOf():
            return list(formula.items)
    return [formula]


def _rounds_to(x, printed):
    """Whether x is nearer to what is printed than half a unit of its last place; exact forms it must be."""
    shown, body = value(printed), printed.body if isinstance(printed, f.Negative) else printed
    if mpmath.isinf(shown) or mpmath.isinf(x):
        return x == shown
    places = len(body.digits.partition(".")[2]) if isinstance(body, f.Number) and "." in body.digits else PLACES
    return abs(x - shown) < mpmath.mpf(10) ** -places / 2


PLACES = 2
"""To which an exact number right of ≈ must agree; so a page with no decimal places at all cannot be read."""
