"""Between words and numbers: the row of an embedding matrix for a word, and from probabilities to the next word.

The cross-entropy says how far the probabilities are from what was wanted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key, reduce
from typing import Any

from symattn.derivation.algebra import Algebra, Entries, Index, T, index, sum_over
from symattn.derivation.derivation import (
    Convention,
    Floats,
    Pull,
    RuleOp,
    Shape,
    Signs,
    Step,
    Style,
    Use,
    View,
    convention,
)
from symattn.derivation.numpy_source import by_line
from symattn.derivation.ops.lines import LineOp, LineRuleOp
from symattn.derivation.ops.scores import row_written
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import NOTHING, RING, Box, Window, at_least_0, point, times
from symattn.derivation.witnesses import entrywise
from symattn.errors import InputError, LetterError, OutsideError, ShapeError, UndefinedError
from symattn.exact import (
    ExpSum,
    Matrix,
    Quotient,
    Rational,
    Real,
    Value,
    compare,
    exponential,
    has_symbols,
    is_symbolic,
    logarithm,
    sign,
    to_sympy,
)
from symattn.exact.bridge import from_sympy
from symattn.exact.sums import shares, total
from symattn.exact.values import coefficients, terms_of
from symattn.formula import (
    ONE,
    ZERO,
    Call,
    Formula,
    Fraction,
    ListOf,
    Name,
    Negative,
    Number,
    Product,
    Sum,
    Text,
    equal,
)

# ------------------------------------------------------------------------------------------------ look-up


@dataclass(frozen=True)
class LookUp(LineRuleOp):
    """Some rows of a matrix (words × d), one for each word of a text (n × d): what an embedding layer does.

    Row i of the result is row `rows[i]`, counted from 0 (Vaswani et al. 2017, section 3.4; Bengio et al. 2003, section
    2, where the matrix is C).  It is the product of one-hot rows with the matrix.
    """

    rows: tuple[int, ...]
    text: tuple[str, ...] = ()
    along: Axis = "rows"
    title = "Look-up"
    moves = True
    shows_factors = False

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((count, width),) = shapes
        if isinstance(count, int) and (beyond := [r for r in self.rows if r >= count]):
            raise OutsideError(f"{self.line} {beyond[0] + 1} is looked up, and there are {count}.")
        return len(self.rows), width

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (table,) = operands
        if isinstance(i, int):
            return table[self.rows[i], j]
        return A.pieces(i, [1] * len(self.rows), lambda p, k: table[self.rows[p], j])

    def pull(self, use: Use) -> Pull:
        count = use.shapes[0][0 if self.along == "rows" else 1]
        if not isinstance(count, int):
            raise LetterError(f"Step {use.step.name!r}: for a gradient, the number of words must not be {count}.")
        return Pull((use.g,), LookUpGradient(self.rows, count, self.along))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By the product with one-hot rows."""
        (table,) = operands
        one_hot = [[float(r == row) for r in range(len(table))] for row in self.rows]
        columns = list(zip(*table, strict=True))
        return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in one_hot]

    def written(self, style: Style, *operands: Formula) -> Formula:
        numbers = ListOf(tuple(Number(str(row + 1)) for row in self.rows), "", ",")
        return Call(Name("rows" if self.along == "rows" else "columns", (numbers,)), operands)

    def numpy(self, *operands: str) -> str:
        numbers = list(self.rows)
        return f"{operands[0]}[{numbers}]" if self.along == "rows" else f"{operands[0]}[:, {numbers}]"

    def range_of_rows(self, *boxes: Box) -> Box:
        return tuple(boxes[0][row] for row in self.rows)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if not self.text:
            return []
        return [convention(_LOOKED_UP[self.along], words=ListOf(tuple(map(Text, self.text)), "", ","))]


_LOOKED_UP: dict[Axis, str] = {
    "rows": "The words are looked up in the table in this order: {words}. Each has its row.",
    "columns": "The words are looked up in the table in this order: {words}. Each has its column.",
}


@dataclass(frozen=True)
class LookUpGradient(LineRuleOp):
    """Each row of the gradient added to the row that was looked up; 0 in rows that were not (n × d becomes words × d).

    A word that comes twice gets the sum of both.
    """

    rows: tuple[int, ...]
    size: int
    along: Axis = "rows"
    title = "Back through the look-up"
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((count, width),) = shapes
        if count != len(self.rows):
            raise ShapeError(f"{len(self.rows)} {self.along} were looked up;")
        return self.size, width

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (g,) = operands
        if isinstance(i, str):
            return A.pieces(i, [1] * self.size, lambda p, k: self._row(A, g, p, j))
        return self._row(A, g, i, j)

    def _row(self, A: Algebra[T], g: Entries[T], row: int, j: Index) -> T:
        terms = [g[k, j] for k, looked_up in enumerate(self.rows) if looked_up == row]
        return reduce(A.sum, terms) if terms else A.number(0)

    def witness_of_rows(self, *operands: Floats) -> Floats:
        rows = [[0.0] * len(operands[0][0]) for _ in range(self.size)]
        for row, line in zip(self.rows, operands[0], strict=True):
            rows[row] = [x + y for x, y in zip(rows[row], line, strict=True)]
        return rows

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("spread"), operands)

    def numpy(self, *operands: str) -> str:
        places = f"np.eye({self.size})[{list(self.rows)}]"
        return f"{places}.T @ {operands[0]}" if self.along == "rows" else f"{operands[0]} @ {places}"


# ------------------------------------------------------------------------------------------------ the next word


@dataclass(frozen=True)
class TopK(LineOp):
    """The k largest probabilities of each row over their sum, and 0 for the others; of equal ones the first are kept.

    Top-k sampling draws the next word from these (Fan, Lewis and Dauphin 2018, section 5.1).
    """

    k: int
    along: Axis = "rows"
    title = "Top-k"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    weighs = True
    in_numpy = "top_shares({0}, {op.k}{op.helper_axis})"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        count = shapes[0][1]
        if isinstance(count, int) and self.k > count:
            raise ShapeError(f"the {self.k} largest of {count} were asked for;")
        return shapes[0]

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        _refuse_letters(a, self.title)
        return Matrix.of(map(self._kept, a.rows))

    def _kept(self, row: Sequence[Value]) -> list[Value]:
        if negative := [x for x in row if sign(x) < 0]:
            raise UndefinedError(f"Top-k is taken of probabilities, which are 0 or more, not {negative[0]}.")
        best = _largest_first(row)[: self.k]
        kept = [row[j] for j in best]
        if total(kept) == 0:
            raise UndefinedError(f"The {self.k} largest are 0, and nothing can be divided by their sum.")
        row_shares: list[Value] = [0] * len(row)
        for j, share in zip(best, shares(kept), strict=True):
            row_shares[j] = share
        return row_shares

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        """Component j of the top-k of row i: top_{2;3}(1/4, 1/4, 1/2)."""
        return Call(Name("top", (Number(str(self.k)), index(j))), row_written(i, *operands))

    def in_numbers(self, i: int, j: int, matrices: Sequence[Matrix], *operands: View) -> Formula:
        """The probability over the sum of those that are kept, or 0."""
        (a,), (seen,) = matrices, operands
        if any(map(has_symbols, a)):
            return self.working(i, j, *operands)
        if self.turned:
            i, j, a, seen = j, i, a.T, seen.transposed
        best = sorted(_largest_first(a.rows[i])[: self.k])
        if j not in best:
            return ZERO
        kept = tuple(seen.entry(i, k) for k in best)
        return Fraction(kept[best.index(j)], Sum(kept))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By their ranks: one is kept if fewer than k others are larger, or as large and before it."""
        return [self._by_ranks([round(x, DIGITS) for x in row], row) for row in operands[0]]

    def _by_ranks(self, rounded: Sequence[float], row: Sequence[float]) -> list[float]:
        ranks = [sum(y > x or (y == x and i < j) for i, y in enumerate(rounded)) for j, x in enumerate(rounded)]
        whole = sum(x for x, rank in zip(row, ranks, strict=True) if rank < self.k)
        return [x / whole if rank < self.k else 0.0 for x, rank in zip(row, ranks, strict=True)]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("top", (Number(str(self.k)),)), operands)

    def range_of_rows(self, *boxes: Box) -> Box:
        """A share grows with its own number, and falls with the k − 1 largest others, which are kept beside it."""

        def line(row: Sequence[Window]) -> tuple[Window, ...]:
            return tuple(self._range(at_least_0(x), [at_least_0(y) for y in (*row[:j], *row[j + 1 :])])
                         for j, x in enumerate(row))  # fmt: skip

        return tuple(map(line, *boxes))

    def _range(self, x: Window, others: Sequence[Window]) -> Window:
        if sum(y.low > x.high for y in others) >= self.k:
            return NOTHING
        most = reduce(RING.add, map(point, sorted((y.high for y in others), reverse=True)[: self.k - 1]), NOTHING)
        least = reduce(RING.add, map(point, sorted((y.low for y in others), reverse=True)[: self.k - 1]), NOTHING)
        if (whole := RING.add(point(x.high), least)).low <= 0:
            raise UndefinedError("The sum may be 0.")
        high = RING.divide(point(x.high), whole).high
        surely = sum(y.high >= x.low for y in others) < self.k and x.low > 0
        return Window(RING.divide(point(x.low), RING.add(point(x.low), most)).low if surely else NOTHING.low, high)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention(_TOP[self.along], k=equal(Name("k"), Number(str(self.k))))]


_TOP: dict[Axis, str] = {
    "rows": "Top-k with {k} keeps the k largest probabilities of each row, divides them by their sum, and makes the "
    "others 0; of equal ones, those further to the left are kept.",
    "columns": "Top-k with {k} keeps the k largest probabilities of each column, divides them by their sum, and makes "
    "the others 0; of equal ones, those further up are kept.",
}


@dataclass(frozen=True)
class ArgMax(LineOp):
    """The number of the largest entry of each row, from 1 (n × c becomes n × 1); of equal ones, of the first.

    Of probabilities it is the next word of greedy decoding.  `words` are what the numbers stand for, none where they
    are asked for as numbers.
    """

    words: tuple[str, ...] = ()
    along: Axis = "rows"
    title = "Arg max"
    shows_factors = False

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, columns),) = shapes
        if self.words and isinstance(columns, int) and columns != len(self.words):
            raise ShapeError(f"there are {len(self.words)} words, and each needs a number;")
        return rows, 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        _refuse_letters(a, self.title)
        return Matrix.of([_largest_first(row)[0] + 1] for row in a.rows)

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        return Call(Name("argmax"), row_written(i, *operands))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        rounded = ([round(x, DIGITS) for x in row] for row in operands[0])
        return [[float(1 + row.index(max(row)))] for row in rounded]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("argmax"), operands)

    def numpy(self, *operands: str) -> str:
        return f"np.argmax(np.round({operands[0]}, {DIGITS}), {by_line(self.along)}) + 1"

    def range_of_rows(self, *boxes: Box) -> Box | None:
        """The numbers of those that may be the largest, where they stand side by side."""
        windows: list[tuple[Window, ...]] = []
        for row in boxes[0]:
            highest = max(x.low for x in row)
            may_be = [j for j, x in enumerate(row, 1) if x.high >= highest]
            if may_be[-1] - may_be[0] >= len(may_be):
                return None
            windows.append((Window(RING.number(may_be[0]).low, RING.number(may_be[-1]).high),))
        return tuple(windows)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if self.words:
            return [convention(_WORDS[self.along], words=_listed(self.words))]
        return [convention(_NUMBERS[self.along])]


_WORDS: dict[Axis, str] = {
    "rows": "The words are numbered {words}. The next word is the one with the largest probability in its row, of "
    "equal ones the first; write the word or its number.",
    "columns": "The words are numbered {words}. The next word is the one with the largest probability in its column, "
    "of equal ones the first; write the word or its number.",
}
_NUMBERS: dict[Axis, str] = {
    "rows": "Arg max is the number of the largest entry in a row, counted from 1; of equal ones, of the first.",
    "columns": "Arg max is the number of the largest entry in a column, counted from 1; of equal ones, of the first.",
}

DIGITS = 12
"""Floats that agree so far are equal."""


def _listed(words: Sequence[str]) -> Formula:
    """1 the, 2 students, …"""
    return ListOf(tuple(Text(f"{number} {word}") for number, word in enumerate(words, 1)), "", ",")


def _largest_first(row: Sequence[Value]) -> list[int]:
    """The places of the entries, from 0, in order of size; of equal ones the first comes first."""
    order: Callable[[int], object] = cmp_to_key(lambda i, j: compare(row[j], row[i]))
    return sorted(range(len(row)), key=order)  # type: ignore[arg-type]


def _refuse_letters(a: Matrix, what: str) -> None:
    if any(map(has_symbols, a)):
        raise InputError(
            f"Which of several entries in letters is the largest is not known; {what.lower()} needs numbers."
        )


# ------------------------------------------------------------------------------------ cross-entropy


@dataclass(frozen=True)
class CrossEntropy(LineRuleOp):
    """−Σ_j t_j ln p_j of each row (n×c and n×c become n×1), or of each column (1×n): in nats.

    p are probabilities, t the target: one-hot, or any distribution.  What is not wanted at all (t = 0) counts nothing,
    whatever its probability; what is wanted and has probability 0 makes the loss infinite, which is an
    `UndefinedError`.
    """

    along: Axis = "rows"
    arity = 2
    title = "Cross-entropy"
    shows_factors = False
    by_hand = True
    is_loss = True
    in_numpy = "-({1} * np.log(np.where({1} == 0, 1, {0}))).sum({op.axis})"  # where nothing is wanted, it is ln 1
    says = (
        "The loss of a token is minus the sum, over its row, of target times ln of probability; ln "
        "has base e, and a term with target 0 counts as 0.",
        "The loss of a token is minus the sum, over its column, of target times ln of probability; "
        "ln has base e, and a term with target 0 counts as 0.",
    )

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        p, t = shapes
        if p != t:
            raise ShapeError("every probability needs a target;")
        return p[0], 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        p, t = operands
        return Matrix.of([_cross_entropy(*lines, i)] for i, lines in enumerate(zip(p.rows, t.rows, strict=True), 1))

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        p, t = operands
        return A.negative(A.total(p.columns, lambda k: A.product(t[i, k], A.apply("ln", p[i, k]))))

    def flows(self, k: int) -> bool:
        return k == 0

    def pull(self, use: Use) -> Pull:
        """To the probabilities; what was wanted is no variable."""
        return Pull((use.g, *use.step.operands), ProbabilityGradient(self.along))

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        p, t = operands
        size = p.shape[1]

        def term(k: Index) -> Formula:
            wanted, logarithm = t.entry(i, k), Call(Name("ln"), (p.entry(i, k),))
            if wanted == ZERO:
                return ZERO
            return logarithm if wanted == ONE else Product((wanted, logarithm), "·")

        if isinstance(size, str) or p.long:
            return Negative(sum_over(size, term("k"), p.first))
        terms = [shown for k in range(size) if (shown := term(k)) != ZERO]
        return Sum(tuple(map(Negative, terms))) if terms[1:] else Negative(terms[0]) if terms else ZERO

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By the logarithm of one product of powers: −ln Π p^t."""
        pairs = (zip(*rows, strict=True) for rows in zip(*operands, strict=True))
        products = [math.prod(p**t for p, t in row) for row in pairs]
        if 0 in products:
            raise OverflowError("A probability is too near to 0 for a float.")
        return [[-math.log(product)] for product in products]

    def written(self, style: Style, *operands: Formula) -> Formula:
        """−Sum(T ⊙ ln(P))."""
        p, t = operands
        return Negative(Call(Name("Sum"), (Product((t, Call(Name("ln"), (p,))), "⊙"),)))

    def range_of_rows(self, *boxes: Box) -> Box:
        rows = zip(*boxes, strict=True)
        return tuple((RING.negate(reduce(RING.add, map(_wanted, *lines))),) for lines in rows)


def _cross_entropy(probabilities: Sequence[Value], targets: Sequence[Value], i: int) -> Value:
    total: Value = 0
    in_reals = any(isinstance(x, Real) for x in (*probabilities, *targets))
    for j, (p, t) in enumerate(zip(probabilities, targets, strict=True), 1):
        if not has_symbols(t) and t == 0:
            continue
        if not has_symbols(p) and sign(p) <= 0:
            raise UndefinedError(
                f"Token {i} is to have entry {j}, whose probability is {p}: the logarithm of that is not defined."
            )
        total = total - (t * logarithm(p) if in_reals else to_sympy(t) * written_logarithm(p))
    return from_sympy(total) if is_symbolic(total) else total


def _wanted(p: Window, t: Window) -> Window:
    """t ln p, and 0 where t is; p may not be 0 elsewhere."""
    if t == NOTHING:
        return NOTHING
    if p.low <= 0:
        raise UndefinedError("The logarithm of a number that may be 0 is undefined.")
    return times(t, RING.ln(p))


def written_logarithm(p: Value) -> Any:
    """ln p for p > 0, as SymPy expression: ln(e²/(1 + e + e²)) as 2 − ln(1 + e + e²)."""
    import sympy

    if isinstance(p, Quotient):
        least = _least_exponent(p.denominator)  # ln(1/e + 1 + e) as ln(1 + e + e²) − 1
        return (
            written_logarithm(p.numerator) - to_sympy(least) - sympy.log(to_sympy(p.denominator * exponential(-least)))
        )
    if isinstance(p, ExpSum) and len(terms_of(p)) == 1:  # c·√r·e^a
        return sympy.expand_log(sympy.log(to_sympy(p)), force=True)
    return sympy.log(to_sympy(p))


def _least_exponent(total: ExpSum) -> Rational:
    """The least a of the e^a in a sum, where all of them are rational; else 0."""
    exponents = [coefficients(a) for a, _, _ in total.terms]
    return min(a.get(1, 0) for a in exponents) if all(a.keys() <= {1} for a in exponents) else 0


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True)
class CrossEntropyGradient(RuleOp):
    """(P − T)/n: the gradient of the cross-entropy −Σ t·ln p with respect to the logits whose softmax is P (each n×c).

    For targets T whose rows sum to 1.  The loss is the mean over n tokens, or their sum, where n is 1.
    """

    tokens: int = 1
    arity = 2
    title = "Back through cross-entropy and softmax"
    by_hand = True

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        p, t = operands
        difference = A.minus(p[i, j], t[i, j])
        return difference if self.tokens == 1 else A.quotient(difference, A.number(self.tokens))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda p, t: (p - t) / self.tokens, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        p, t = operands
        difference = Sum((p, Negative(t)))
        return difference if self.tokens == 1 else Product((Fraction(ONE, Number(str(self.tokens))), difference))

    def numpy(self, *operands: str) -> str:
        difference = " - ".join(operands)
        return difference if self.tokens == 1 else f"({difference}) / {self.tokens}"


@dataclass(frozen=True)
class ProbabilityGradient(LineRuleOp):
    """−g·t/p for the gradients g of the losses of rows (n×1), or of columns, and P and T (each n×c); 0 where t = 0."""

    along: Axis = "rows"
    arity = 3
    title = "Back through cross-entropy"
    shows_factors = False
    by_hand = True
    in_numpy = "-{0} * {2} / np.where({2} == 0, 1, {1})"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        g, p, t = shapes
        if g != CrossEntropy().shape(p, t):
            raise ShapeError("every loss needs a gradient;")
        return p

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        g, p, t = operands
        rows = zip(p.rows, t.rows, strict=True)
        wanted = Matrix.of([x if y != 0 else 1 for x, y in zip(*lines, strict=True)] for lines in rows)
        return super().values_of_rows(g, wanted, t)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, p, t = operands
        return A.negative(A.quotient(A.product(g.stretched(i, j), t[i, j]), p[i, j]))

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, p, t = operands
        return Negative(Fraction(Product((g, t), "⊙"), p))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [
            [-(g / x) * y if y else 0.0 for x, y in zip(*lines, strict=True)]
            for (g,), *lines in zip(*operands, strict=True)
        ]


OPS = {
    "look_up": LookUp,
    "top_k": TopK,
    "argmax": ArgMax,
    "cross_entropy": CrossEntropy,
}
