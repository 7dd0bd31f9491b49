"""The two operations that make attention attention: the mask and the softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from itertools import accumulate
from operator import add, mul
from typing import Any, Literal, Self

from symattn.derivation.algebra import FORMULAS, MINUS_INFINITY, Algebra, Base, Condition, Entries, Index, T
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
from symattn.derivation.numpy_source import assigned, by_line, helper_axis, value
from symattn.derivation.ops.lines import LineRuleOp
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import (
    HIDDEN,
    NOTHING,
    RING,
    UNIT,
    Box,
    Window,
    at_least_0,
    log_of,
    minus,
    point,
    sigmoid_slope,
    times,
)
from symattn.derivation.witnesses import rate_of
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, exponential, logarithm
from symattn.exact.sums import shares
from symattn.formula import (
    ONE,
    ZERO,
    Call,
    Formula,
    MatrixOf,
    Name,
    Negative,
    Product,
    Sum,
    Transposed,
    number,
)
from symattn.foundation.languages import Message, message, sentences

Keep = tuple[tuple[bool, ...], ...]
MaskStyle = Literal["additive", "multiplicative", "keep", "block"]
Empty = Literal["undefined", "zero"]


@dataclass(frozen=True)
class Pattern:
    """A mask by its rule, which holds for any sizes: what query i sees of the keys, both counted from 0.

    Where there are more keys than queries, the last query is the token of the last key; only causal:top-left has query
    i see keys up to i in any case, as PyTorch's `is_causal` does.
    """

    kind: Literal["causal", "causal:top-left", "past", "window", "window:both", "prefix", "padding", "blocks"]
    numbers: tuple[int, ...] = ()

    def alternatives(self, i: Any, j: Any, lead: Any) -> Condition:
        """Query i sees key j where, in one of these, no number is negative; `lead` is how many more keys there are.

        The numbers are of the type of i, j and `lead`: integers, or expressions of SymPy.
        """
        distance = i + lead - j
        match self.kind, self.numbers:
            case "causal", ():
                return [[distance]]
            case "causal:top-left", ():
                return [[i - j]]
            case "past", ():  # the first token sees none
                return [[distance - 1]]
            case "window", (width,):  # itself and the width − 1 tokens before it
                return [[distance, width - 1 - distance]]
            case "window:both", (width,):  # and as many after it
                return [[width - 1 + distance, width - 1 - distance]]
            case "prefix", (first,):  # the first ones are seen by every token (Raffel et al. 2020, figure 4)
                return [[distance], [first - 1 - j]]
            case "padding", (real,):
                return [[real - 1 - j]]
            case "blocks", sizes:
                ends = list(accumulate(sizes))
                return [[i - a, j - a, b - 1 - i, b - 1 - j] for a, b in zip([0, *ends], ends, strict=False)]
        raise ValueError(self)

    def keep(self, rows: int, columns: int) -> Keep:
        """Which keys each query may see."""
        lead = columns - rows
        return tuple(tuple(_holds(self.alternatives(i, j, lead)) for j in range(columns)) for i in range(rows))


def _holds(condition: Condition) -> bool:
    return any(all(x >= 0 for x in one) for one in condition)


@dataclass(frozen=True)
class Mask(RuleOp):
    """Leaves the scores that may be seen and makes the others −∞, so that softmax gives them exactly 0.

    `keep[i][j]` is true where query i may see key j.  The styles are ways of writing the same thing, but for one:
    additive: S + (0 or −∞);  keep, block: a Boolean matrix, true where seen or where hidden;
    multiplicative: S ∘ (1 or −∞), as note 004 has it, which is right only where the hidden scores are positive.

    `patterns` are the rules that a key must pass, where the mask is made of rules; where a size is a letter, `keep` is
    empty.
    """

    keep: Keep
    style: MaskStyle = "additive"
    kind: str = "custom"
    patterns: tuple[Pattern, ...] = ()
    along: Axis = "rows"

    @property
    def title(self) -> str:
        return "Mask"

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = shapes[0]
        if self.keep and (rows, columns) != (len(self.keep), len(self.keep[0])):
            raise ShapeError(f"the mask is {len(self.keep)}×{len(self.keep[0])} and must fit the scores;")
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        return Matrix.of(
            [self._entry(x, seen, i, j) for j, (x, seen) in enumerate(zip(row, kept, strict=True), 1)]
            for i, (row, kept) in enumerate(zip(operands[0].rows, self.keep, strict=True), 1)
        )

    def _entry(self, x: Value, seen: bool, i: int, j: int) -> Value:
        if seen:
            return x
        if self.style != "multiplicative":
            return NEGATIVE_INFINITY
        try:
            return x * NEGATIVE_INFINITY
        except UndefinedError as error:
            raise UndefinedError(
                f"The hidden score ({i}, {j}) is {x}, and {x}·(−∞) is not −∞: multiplying by −∞ hides positive scores "
                "only. Add 0 or −∞ instead (mask_style = 'additive')."
            ) from error

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        entry = operands[0][i, j]
        if isinstance(i, str) or isinstance(j, str):
            return A.where(self._conditions, (i, j), operands[0].shape, entry)
        return entry if self.keep[i][j] else A.number(NEGATIVE_INFINITY)

    def _conditions(self, i: Any, j: Any, rows: Any, columns: Any) -> Sequence[Condition]:
        """What must all hold for entry (i, j) to be seen."""
        if not self.keep:
            query, key, lead = (i, j, columns - rows) if self.along == "rows" else (j, i, rows - columns)
            return [pattern.alternatives(query, key, lead) for pattern in self.patterns]
        seen = [(a, b) for a, row in enumerate(self.keep) for b, kept in enumerate(row) if kept]
        return [[[i - a, a - i, j - b, b - j] for a, b in seen]]

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        entry = operands[0].entry(i, j)
        if isinstance(i, str) or isinstance(j, str):
            return self.rule(FORMULAS, i, j, *operands)
        seen = self.keep[i][j]
        if self.style == "multiplicative":
            return Product((entry, ONE if seen else MINUS_INFINITY), "·")
        if self.style == "additive":
            return Sum((entry, ZERO if seen else MINUS_INFINITY))
        return entry if seen else MINUS_INFINITY

    def turn(self) -> Self:
        if not self.keep:  # the rules go along the other way
            return super().turn()
        return replace(self, keep=tuple(zip(*self.keep, strict=True)))

    def pull(self, use: Use) -> Pull:
        """To −∞ no gradient goes, and the softmax after it has none for it: its weight is 0."""
        return Pull((use.g,))

    def witness(self, *operands: Floats) -> Floats:
        pairs = (zip(*rows, strict=True) for rows in zip(*operands, self.keep, strict=True))
        return [[x if seen else -math.inf for x, seen in row] for row in pairs]

    def written(self, style: Style, *operands: Formula) -> Formula:
        if self.style == "multiplicative":
            return Product((operands[0], Name("mask")), "⊙")
        if self.style == "additive":
            return Sum((operands[0], Name("mask")))
        return Call(Name("mask"), operands)

    def numpy(self, *operands: str) -> str:
        (scores,) = operands
        match self.style:
            case "additive":
                return f"{scores} + mask"
            case "multiplicative":
                return f"{scores} * mask"
            case "keep":
                return f"np.where(mask == 1, {scores}, -np.inf)"
            case "block":
                return f"np.where(mask == 1, -np.inf, {scores})"

    def numpy_above(self) -> tuple[str, ...]:
        return (assigned("mask", self.values),)

    def range(self, *boxes: Box) -> Box:
        (a,) = boxes
        keep = zip(a, self.keep, strict=True)
        return tuple(tuple(x if seen else self._hidden(x) for x, seen in zip(*rows, strict=True)) for rows in keep)

    def _hidden(self, x: Window) -> Window:
        return times(x, HIDDEN) if self.style == "multiplicative" else HIDDEN

    @property
    def values(self) -> Matrix:
        """The mask itself, in numbers."""
        seen, hidden = _MARKS[self.style]
        return Matrix.of([seen if kept else hidden for kept in row] for row in self.keep)

    def matrix(self) -> MatrixOf:
        """The mask itself as it is written."""
        return MatrixOf(tuple(tuple(map(number, row)) for row in self.values.rows))

    def own_matrix(self, style: Style) -> tuple[Name, MatrixOf] | None:
        return (Name("mask"), replace(self.matrix(), bracket=style.bracket)) if self.keep else None

    def factors(self, style: Style, *matrices: Formula) -> Formula:
        match self.style, self.own_matrix(style):
            case "multiplicative", (_, mask):
                return Product((*matrices, mask), "⊙")
            case "additive", (_, mask):
                return Sum((*matrices, mask))
        return self.written(style, *matrices)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention(sentences(self.hides, MARKED[self.style]))]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if not self.keep or len(self.keep) != len(self.keep[0]):
            return self.conventions(steps, signs)
        hidden = _HIDES_IN_BRIEF.get(self.kind, message("as given"))
        return [convention(message("Mask: {hidden}; {signs}", hidden=hidden, signs=_SIGNS[self.style]))]

    @property
    def hides(self) -> str:
        """What the mask hides, in a sentence for each of those that were put together."""
        if not self.keep or len(self.keep) == len(self.keep[0]):
            kinds = self.kind.replace("causal:top-left", "causal").split("+")
        else:
            kinds = [f"{kind}, unequal" if kind == "causal" else kind for kind in self.kind.split("+")]
        return sentences(*(HIDES.get(kind, HIDES["custom"]) for kind in kinds))


@dataclass(frozen=True)
class Softmax(LineRuleOp):
    """b^x over the sum of b^x along each row (or each column); −∞ counts nothing and gets exactly 0.

    Vaswani et al. 2017, section 3.2.1, with base e and along the keys.  A row of nothing but −∞ is undefined; `empty`
    takes it as a row of zeros instead, as people do who have hidden too much.
    """

    along: Axis = "rows"
    base: Base = "e"
    empty: Empty = "undefined"
    title = "Softmax"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    weighs = True
    brings = "powers"

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return normalised(operands[0], self.line, self.empty, self._normalised)

    def _normalised(self, scores: Sequence[Value]) -> list[Value]:
        return shares([exponential(x, self.base) for x in scores])

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (s,) = operands
        if A.hidden(s[i, j]):
            return A.number(0)

        def whole() -> T:
            seen = A.visible(s.columns, lambda k: s[i, k])
            return A.total(seen, lambda k: A.exponential(s[i, k], self.base))

        return A.quotient(A.exponential(s[i, j], self.base), A.once(whole))

    def pull(self, use: Use) -> Pull:
        return Pull((use.result, use.g), SoftmaxGradient(self.along, self.base))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By the logarithm of the sum."""
        rate, rows = rate_of(self.base), []
        for row in operands[0]:
            exponents = [rate * s if s > -math.inf else s for s in row]
            top = max(exponents)
            if top == -math.inf:  # nothing is seen
                rows.append([0.0] * len(row))
                continue
            log_total = top + math.log(math.fsum(math.exp(s - top) for s in exponents))
            rows.append([math.exp(s - log_total) for s in exponents])
        return rows

    def written(self, style: Style, *operands: Formula) -> Formula:
        name = Name(style.softmax)
        if self.base != "e":
            name = Name(style.softmax, (number(self.base),))
        return Call(name, operands)

    def numpy(self, *operands: str) -> str:
        (scores,) = operands
        if self.base != "e":
            return f"shares(powers_of({value(self.base)}, {scores}){helper_axis(self.along)})"
        name = "softmax" if self.empty == "undefined" else "softmax_or_zero"
        return f"{name}({scores}{helper_axis(self.along)})"

    def range_of_rows(self, *boxes: Box) -> Box:
        """p_i/Σ p_j over all p_j = b^s_j in their windows: it grows with p_i and falls with every other p_j."""
        rate = log_of(self.base)
        return range_of_weights(boxes[0], self.empty, lambda scores: _shares_of_powers(scores, rate))

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        lines = [convention(_SOFTMAX[self.along], base=signs.base(self.base))]
        return lines if self.empty == "undefined" else [*lines, convention(_ALL_HIDDEN[self.along])]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        plain, with_zeros = _SOFTMAX_IN_BRIEF[self.along]
        return [convention(with_zeros if self.empty == "zero" else plain, base=signs.base(self.base))]


HIDES: Mapping[str, str] = {
    "causal": message("No token sees a later one: hidden scores are −∞, so their weights are 0."),
    "causal, unequal": message(
        "The last query sees every key, and each query before it one key fewer; hidden scores are "
        "−∞, so their weights are 0."
    ),
    "causal:top-left": message("Query i sees keys 1 to i: hidden scores are −∞, so their weights are 0."),
    "past": message("A token sees only earlier tokens, not itself: hidden scores are −∞, so their weights are 0."),
    "prefix": message(
        "All tokens see the first ones; no token sees any other later one: hidden scores are −∞, so their "
        "weights are 0."
    ),
    "padding": message("Padding is hidden: its scores are −∞, so its weights are 0."),
    "window": message("Tokens see only nearby tokens: all other scores are −∞, so their weights are 0."),
    "blocks": message("Tokens see only their own block: all other scores are −∞, so their weights are 0."),
    "custom": message("Scores that the mask hides are −∞, so their weights are 0."),
}
"""What a mask of a kind hides."""

_HIDES_IN_BRIEF: Mapping[str, Message] = {
    "causal": message("causal, later tokens hidden"),
    "causal:top-left": message("query i sees keys 1 to i"),
    "past": message("only earlier tokens visible"),
    "padding": message("padding hidden"),
}
_MARKS: Mapping[MaskStyle, tuple[Value, Value]] = {
    "additive": (0, NEGATIVE_INFINITY),
    "multiplicative": (1, NEGATIVE_INFINITY),
    "keep": (1, 0),
    "block": (0, 1),
}
"""What stands in a mask for seen and for hidden."""

_SIGNS: Mapping[MaskStyle, Message] = {
    "additive": message("0 visible, −∞ hidden"),
    "multiplicative": message("1 visible, −∞ hidden"),
    "keep": message("1 visible, 0 hidden"),
    "block": message("1 hidden, 0 visible"),
}
MARKED: Mapping[MaskStyle, Message] = {
    "additive": message("In the mask, 0 means visible and −∞ means hidden."),
    "multiplicative": message("In the mask, 1 means visible and −∞ means hidden."),
    "keep": message("In the mask, 1 means visible and 0 means hidden."),
    "block": message("In the mask, 1 means hidden and 0 means visible."),
}
_SOFTMAX: Mapping[Axis, str] = {
    "rows": "Softmax is taken along each row, with base {base}.",
    "columns": "Softmax is taken along each column, with base {base}.",
}
_SOFTMAX_IN_BRIEF: Mapping[Axis, tuple[str, str]] = {
    "rows": ("Softmax by rows, base {base}", "Softmax by rows, base {base}; 0 where all is hidden"),
    "columns": ("Softmax by columns, base {base}", "Softmax by columns, base {base}; 0 where all is hidden"),
}
_ALL_HIDDEN: Mapping[Axis, str] = {
    "rows": "Weights of a row in which everything is hidden are 0.",
    "columns": "Weights of a column in which everything is hidden are 0.",
}


def normalised(scores: Matrix, line: str, empty: Empty, weights: Callable[[Sequence[Value]], list[Value]]) -> Matrix:
    """Each row of scores as weights: those that `weights` makes of the visible ones, 0 for the others.

    Errors call a row `line`: a row or a column.
    """
    weight_rows = []
    for i, row in enumerate(scores.rows, 1):
        visible = [x for x in row if x is not NEGATIVE_INFINITY]
        if not visible and empty == "undefined":
            raise UndefinedError(
                f"{line.capitalize()} {i} has no visible score (all are −∞), so its weights are undefined; "
                "let it see at least one, or declare its weights to be 0 (empty = 'zero')."
            )
        try:
            row_weights = iter(weights(visible) if visible else ())
        except UndefinedError as error:
            raise UndefinedError(f"In {line} {i}, {error}") from error
        weight_rows.append([0 if x is NEGATIVE_INFINITY else next(row_weights) for x in row])
    return Matrix.of(weight_rows)


def range_of_weights(scores: Box, empty: Empty, weights: Callable[[Sequence[Window]], Sequence[Window]]) -> Box:
    """The ranges of weights that `weights` makes of the visible scores of each row; 0 for the others."""

    def line(row: Sequence[Window]) -> tuple[Window, ...]:
        seen = [x for x in row if x != HIDDEN]
        if not seen and empty == "undefined":
            raise UndefinedError("Nothing but −∞ has no weights.")
        weights_seen = iter(weights(seen) if seen else ())
        return tuple(NOTHING if x == HIDDEN else next(weights_seen) for x in row)

    return tuple(map(line, scores))


def _shares_of_powers(scores: Sequence[Window], rate: Window) -> list[Window]:
    """Each end of a weight is one evaluation.

    The scores are shifted by the greatest, which changes no weight and keeps the powers below 1.
    """
    exponents = [RING.multiply(rate, s) for s in scores]
    shift = point(max(x.high for x in exponents).copy_negate())
    powers = [RING.exp(RING.add(x, shift)) for x in exponents]
    windows = []
    for i, p in enumerate(powers):
        others = [q for k, q in enumerate(powers) if k != i]
        low = _share(p.low, [q.high for q in others]).low
        windows.append(Window(low, _share(p.high, [q.low for q in others]).high))
    return windows


def _share(p: Decimal, others: Sequence[Decimal]) -> Window:
    """p/(p + Σ others)."""
    return RING.divide(point(p), reduce(RING.add, map(point, others), point(p))) if others else UNIT


def causal(rows: int, columns: int, *, top_left: bool = False) -> Keep:
    """Token i sees tokens 1 … i; with more keys than queries the last query sees every key.

    `top_left` has query i see keys 1 … i in any case, as PyTorch's `is_causal` does.
    """
    return Pattern("causal:top-left" if top_left else "causal").keep(rows, columns)


def window(rows: int, columns: int, width: int, looking_ahead: bool = False) -> Keep:
    """Token i sees itself and the `width` − 1 tokens before it (and as many after it, if it may look ahead)."""
    return Pattern("window:both" if looking_ahead else "window", (width,)).keep(rows, columns)


def prefix(rows: int, columns: int, first: int) -> Keep:
    """Causal, but for the first `first` tokens, which every token sees."""
    return Pattern("prefix", (first,)).keep(rows, columns)


def padding(rows: int, columns: int, real: int) -> Keep:
    """Every token sees the first `real` tokens; the rest are padding."""
    return Pattern("padding", (real,)).keep(rows, columns)


def blocks(sizes: Sequence[int]) -> Keep:
    """Block-diagonal: each token sees its own block, of the sizes given."""
    return Pattern("blocks", tuple(sizes)).keep(sum(sizes), sum(sizes))


def both(one: Keep, other: Keep) -> Keep:
    """What two masks let through."""
    return tuple(tuple(a and b for a, b in zip(*rows, strict=True)) for rows in zip(one, other, strict=True))


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True)
class SoftmaxJacobian(LineRuleOp):
    """J = diag(a) − aᵀa for one row a of weights (1×m): J_ij = ∂a_i/∂s_j = a_i·(δ_ij − a_j), m×m and symmetric.

    Along columns the weights are one column (m×1).
    """

    along: Axis = "rows"
    title = "Softmax Jacobian"
    shows_factors = False
    by_hand = True
    in_numpy = "np.diag({0}.ravel()) - np.outer({0}, {0})"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((lines, length),) = shapes
        if lines != 1:
            raise ShapeError(f"the Jacobian is that of one {self.line} of weights;")
        return length, length

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (a,) = operands
        one, other = a[0, i], a[0, j]
        if isinstance(i, int) and isinstance(j, int) and i != j:
            return A.negative(A.product(one, other))
        return A.product(one, A.minus(A.delta(i, j), other))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """The covariances of one draw with these probabilities."""
        ((*a,),) = operands[0]
        return [[x * (i == j) - x * y for j, y in enumerate(a)] for i, x in enumerate(a)]

    def written(self, style: Style, *operands: Formula) -> Formula:
        (a,) = operands
        outer = (Transposed(a), a) if self.along == "rows" else (a, Transposed(a))
        return Sum((Call(Name("diag"), (a,)), Negative(Product(outer))))

    def range_of_rows(self, *boxes: Box) -> Box:
        ((a,),) = boxes
        return tuple(
            tuple(sigmoid_slope(x) if i == j else RING.negate(times(x, y)) for j, y in enumerate(a))
            for i, x in enumerate(a)
        )


@dataclass(frozen=True)
class SoftmaxGradient(LineRuleOp):
    """a_ij·(g_ij − Σ_k a_ik·g_ik) for weights A and the gradient G with respect to them (each n×m), along each row.

    Each row of G times the Jacobian of its softmax (FlashAttention: Dao et al. 2022, appendix B.2).  Where a weight is
    0, as behind a mask, it is 0.  With another base b than e, everything is multiplied by ln b.
    """

    along: Axis = "rows"
    base: Base = "e"
    arity = 2
    title = "Back through softmax"
    shows_factors = False
    by_hand = True

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return Matrix.of(map(self._line, *(m.rows for m in operands)))

    def _line(self, weights: Sequence[Value], gradient: Sequence[Value]) -> list[Value]:
        mean = reduce(add, map(mul, weights, gradient))
        rate = self._rate
        return [rate * (a * (g - mean)) for a, g in zip(weights, gradient, strict=True)]

    @property
    def _rate(self) -> Value:
        return 1 if self.base == "e" else logarithm(self.base)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        a, g = operands
        mean = A.once(lambda: A.total(a.columns, lambda k: A.product(a[i, k], g[i, k])))
        rate = () if self.base == "e" else (A.apply("ln", A.number(self.base)),)
        return A.product(*rate, a[i, j], A.minus(g[i, j], mean))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """Σ_k a_i·a_k·(g_i − g_k), since weights sum to 1, times the logarithm of the base."""
        rate, rows = rate_of(self.base), []
        for lines in zip(*operands, strict=True):
            row = list(zip(*lines, strict=True))
            rows.append([rate * math.fsum(a * b * (g - h) for b, h in row) for a, g in row])
        return rows

    def written(self, style: Style, *operands: Formula) -> Formula:
        a, g = operands
        mean = Call(Name(f"{self.line}sums"), (Product((a, g), "⊙"),))
        product = Product((a, Sum((g, Negative(mean)))), "⊙")
        return Product((*self._written_rate, product), "·") if self._written_rate else product

    def numpy(self, *operands: str) -> str:
        weights, gradient = operands
        rate = "" if self.base == "e" else f"np.log({value(self.base)}) * "
        return f"{rate}{weights} * ({gradient} - ({weights} * {gradient}).sum({by_line(self.along)}))"

    def range_of_rows(self, *boxes: Box) -> Box:
        rate = log_of(self.base)
        return tuple(_back(rate, *lines) for lines in zip(*boxes, strict=True))

    @property
    def _written_rate(self) -> tuple[Formula, ...]:
        return () if self.base == "e" else (Call(Name("ln"), (number(self.base),)),)


def _back(rate: Window, weights: Sequence[Window], gradient: Sequence[Window]) -> tuple[Window, ...]:
    """a_i·((1 − a_i)·g_i − Σ_k≠i a_k·g_k), the weights in their windows and not negative; every other number once."""
    a = list(map(at_least_0, weights))
    row_slopes = []
    for i, (own, g) in enumerate(zip(a, gradient, strict=True)):
        others = [times(x, y) for k, (x, y) in enumerate(zip(a, gradient, strict=True)) if k != i]
        bracket = minus(times(minus(UNIT, own), g), reduce(RING.add, others, NOTHING))
        row_slopes.append(times(rate, times(own, bracket)))
    return tuple(row_slopes)


OPS = {
    "mask": Mask,
    "softmax": Softmax,
    "softmax_jacobian": SoftmaxJacobian,
    "softmax_gradient": SoftmaxGradient,
}
