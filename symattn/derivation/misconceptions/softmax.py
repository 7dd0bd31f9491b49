"""Wrong weights, and wrong outputs made of weights (rules.md 2.2, softmax and output).

Hidden scores, −∞, get the weight 0 and count nothing unless it is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cmp_to_key

from symattn.derivation.derivation import Derivation, Op, Operand, Shape, Step, carried
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    EntryByEntry,
    Misconception,
    ReplacementOp,
    Rewritten,
    copying,
    done_later,
    done_otherwise,
    everywhere,
    first_row_repeated,
    replaced,
    square,
    step_of_kind,
)
from symattn.derivation.misconceptions.base import Rule as ShapeRule
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import Round
from symattn.derivation.ops.linear import MatMul
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, compare, divide, exponential, has_symbols
from symattn.exact.sums import total
from symattn.exact.values import as_exponent, is_zero_for_sure

Row = Sequence[Value]

# ------------------------------------------------------------------------------------------ what is changed


def instead(does: Callable[[Softmax, Matrix], Matrix]) -> Change:
    """Something else in place of the softmax."""
    return done_otherwise(Softmax, does, "A")


def by_row(weights: Callable[[Softmax, Row], Row]) -> Change:
    """Something else in place of the softmax, row by row; errors name the token."""

    def does(of: Softmax, scores: Matrix) -> Matrix:
        rows = []
        for i, row in enumerate(scores.rows, 1):
            try:
                rows.append(weights(of, row))
            except UndefinedError as error:
                raise UndefinedError(f"for token {i} {error}") from error
        return Matrix.of(rows)

    return instead(does)


def with_base(wrong: Value) -> Change:
    """Another base than the one declared; e where the wrong one is what is declared."""

    def other(own: Softmax) -> Op:
        return replace(own, base="e" if own.base != "e" and (own.base == wrong or wrong == 2) else wrong)

    return replaced(Softmax, other, "A")


def _twice(own: Softmax) -> Op | None:
    """No place with another base than e: 10^(1000/1001) is no number that one could go on with."""
    return ReplacementOp(own, _softmax_twice) if own.base == "e" else None


def _without_self(d: Derivation, step: Step, own: Softmax) -> Op | None:
    rows, columns = d.operand(step.operands[0]).shape
    return ReplacementOp(own, _self_excluded) if rows == columns else None


def hiding_too_much(change: Change) -> Change:
    """A change after which rows may see nothing: who writes it gives them zeros."""
    zeros = replaced(Softmax, lambda own: replace(own, empty="zero"), "A")

    def both(d: Derivation) -> Rewritten | None:
        changed = change(d)
        return changed and {**changed, **(zeros(d) or {})}

    return both


def weights_rounded(does: Round) -> Change:
    """Weights rounded so: where they are to be rounded, to as many places; else with no one asking for it."""
    where_asked = replaced(Round, lambda own: replace(does, places=own.places), "A_rounded")
    unasked = replaced(Softmax, lambda own: ReplacementOp(own, _then_rounded, given=(does,)), "A")
    return lambda d: where_asked(d) or unasked(d)


def _then_rounded(does: Round, of: Softmax, scores: Matrix) -> Matrix:
    return does.apply(of.apply(scores))


def after_product(d: Derivation) -> Rewritten | None:
    """The scores multiplied by V, and the softmax of that; no place with a mask, for −∞ cannot be multiplied."""
    if "M" in d:
        return None
    return done_later(step_of_kind(d, "A", Softmax), step_of_kind(d, "Z", MatMul), _then_softmax)


def _then_softmax(softmax: Softmax, of: MatMul, scores: Matrix, values: Matrix) -> Matrix:
    return _softmax_of_a_result(softmax, of.apply(scores, values))


# ------------------------------------------------------------------------------------------ softmax gone wrong


def _shares(row: Row, of_sum: Value, which: str = "numbers") -> list[Value]:
    if is_zero_for_sure(of_sum):
        raise UndefinedError(f"the {which} add up to 0, and nothing can be divided by that.")
    return [divide(x, of_sum) for x in row]


def _visible(row: Row) -> list[Value]:
    return [x for x in row if x is not NEGATIVE_INFINITY]


def _softmax_of_a_result(of: Softmax, result: Matrix) -> Matrix:
    """In decimals if a power of it is no exact number: e^(e/(1 + e)) is nothing to be written or compared exactly."""
    exact = all(x is NEGATIVE_INFINITY or has_symbols(x) or as_exponent(x) is not None for x in result)
    return carried(of.apply, [result], "exact" if exact or of.base != "e" else "decimal")


def _softmax_twice(of: Softmax, scores: Matrix) -> Matrix:
    return _softmax_of_a_result(of, of.apply(scores))


def _whole_matrix(of: Softmax, scores: Matrix) -> Matrix:
    powers = scores.map(lambda x: exponential(x, of.base))
    whole = total(list(powers))
    return Matrix.of(_shares(row, whole) for row in powers.rows)


def _linear(of: Softmax, row: Row) -> Row:
    return _shares([0 if x is NEGATIVE_INFINITY else x for x in row], total(_visible(row)), "scores")


def _powers(of: Softmax, row: Row) -> Row:
    return [exponential(x, of.base) for x in row]


def _largest(row: Row) -> Value:
    if not row:
        raise UndefinedError("there is no visible score.")
    return max(row, key=cmp_to_key(compare))


def _maximum_subtracted_after(of: Softmax, row: Row) -> Row:
    largest = _largest([exponential(x, of.base) for x in _visible(row)])
    less = [0 if x is NEGATIVE_INFINITY else exponential(x, of.base) - largest for x in row]
    return _shares(less, total(less), "differences")


def _hardmax(of: Softmax, row: Row) -> Row:
    largest = _largest(_visible(row))
    winners = [x is not NEGATIVE_INFINITY and compare(x, largest) == 0 for x in row]
    return [divide(1, sum(winners)) if won else 0 for won in winners]


def _self_excluded(of: Softmax, scores: Matrix) -> Matrix:
    square(scores, "the own key")
    keep = tuple(tuple(i != j for j in range(scores.shape[1])) for i in range(scores.shape[0]))
    return replace(of, empty="zero").apply(Mask(keep).apply(scores))


def _zero_to_the_zero(of: Softmax, row: Row) -> Row:
    powers = [0 if x is NEGATIVE_INFINITY or is_zero_for_sure(x) else exponential(x, of.base) for x in row]
    return _shares(powers, total(powers), "powers")


def _sum_of_exponents(of: Softmax, row: Row) -> Row:
    return _shares(_powers(of, row), exponential(total(_visible(row)), of.base))


def _over_raw_sum(of: Softmax, row: Row) -> Row:
    return _shares(_powers(of, row), total(_visible(row)), "scores")


def _sigmoid(of: Softmax, row: Row) -> Row:
    return [divide(x, 1 + x) for x in _powers(of, row)]


def _one_more(of: Softmax, row: Row) -> Row:
    powers = _powers(of, row)
    return _shares(powers, 1 + total(powers))


def _uniform(of: Softmax, row: Row) -> Row:
    return _shares([int(x is not NEGATIVE_INFINITY) for x in row], len(_visible(row)))


def _next_rows_sum(of: Softmax, scores: Matrix) -> Matrix:
    powers = [_powers(of, row) for row in scores.rows]
    sums = [total(row) for row in powers]
    return Matrix.of(_shares(row, other, "next token's powers") for row, other in zip(powers, _next(sums), strict=True))


def _next(values: list[Value]) -> list[Value]:
    return values[1:] + values[:1]


# ------------------------------------------------------------------------------------------ output


def rewritten(rewrite: Callable[[Step, Operand, Operand], Step | Op | None], *needed: str) -> Change:
    """The output in another way, made from the step, the weights and the values."""

    def write(d: Derivation, step: Step, own: MatMul) -> Step | Op | None:
        fits = step.operands[1] == Operand("V") and all(name in d for name in needed)
        return rewrite(step, *step.operands) if fits else None

    return everywhere(MatMul, write, "Z")


def mixing(wrong: str) -> Change:
    """Another matrix in place of V."""
    return rewritten(lambda step, weights, values: step.with_operands(weights, wrong), wrong)


def for_product(does: Callable[..., Matrix], rule: ShapeRule | None = None) -> Change:
    return rewritten(lambda step, weights, values: ReplacementOp(MatMul(), does, rule))


def among_equals(does: Callable[..., Matrix]) -> Change:
    """As `for_product`, for what has a meaning only where every token has a value of its own."""

    def write(d: Derivation, step: Step, own: MatMul) -> Op | None:
        weights, values = step.operands
        squared = values == Operand("V") and len(set(d.value(weights.name).shape)) == 1
        return ReplacementOp(MatMul(), does) if squared else None

    return everywhere(MatMul, write, "Z")


def _own_weight(of: Op, a: Matrix, v: Matrix) -> Matrix:
    """a_ii v_i."""
    square(a, "a weight of a token for itself")
    return Matrix.of([a[i, i] * x for x in row] for i, row in enumerate(v.rows))


def _diagonal_weights(of: Op, a: Matrix, v: Matrix) -> Matrix:
    """Σ_j a_jj v_j, the same for every token."""
    square(a, "a weight of a token for itself")
    (row,) = of.apply(Matrix.of([[a[j, j] for j in range(a.shape[0])]]), v).rows
    return Matrix.of(row for _ in a.rows)


def _averaged_again(of: Op, a: Matrix, v: Matrix) -> Matrix:
    return of.apply(a, v).map(lambda x: divide(x, v.shape[0]))


def _not_summed(of: Op, a: Matrix, v: Matrix) -> Matrix:
    return Matrix.of([weight * x for x in value] for row in a.rows for weight, value in zip(row, v.rows, strict=True))


def _every_pair(a: Shape, v: Shape) -> Shape:
    """A row for every token and every value."""
    if a[1] != v[0] or isinstance(a[0], str) or isinstance(a[1], str):
        raise ShapeError("every value needs a weight;")
    return a[0] * a[1], v[1]


# ------------------------------------------------------------------------------------------ the entries

OWN_WEIGHT = "Value j is scaled by the weight that query i gives to token j."


MISCONCEPTIONS = (
    Misconception(
        "X1",
        "softmax over columns",
        "A",
        replaced(Softmax, lambda own: replace(own, along="columns"), "A"),
        exactly="a_ij = e^{m_ij} / Σ_i e^{m_ij}",
        tell="The columns of A sum to 1.",
        feedback="Normalise the {row} of each query: the {rows} of $@name(A)$ must sum to 1.",
        source="vision-transformer #1 (confirmed), llms-from-scratch-rs PR #30, PyTorch-NLP #2",
        prior="high",
        core=True,
        turned_name="softmax over rows",
    ),
    Misconception(
        "X2",
        "softmax over the whole matrix",
        "A",
        instead(_whole_matrix),
        exactly="a_ij = e^{m_ij} / Σ_kl e^{m_kl}",
        tell="All of A sums to 1.",
        feedback="Normalise the {row} of each query by itself: every {row} of $@name(A)$ must sum to 1.",
        source="perceiver-pytorch #46 (asked whether softmax is over the whole matrix)",
        core=True,
    ),
    Misconception(
        "X3",
        "wrong base used: 2 (or e, where another base is declared)",
        "A",
        with_base(2),
        exactly="a_ij = 2^{m_ij} / Σ_j 2^{m_ij}; with e where another base is declared",
        tell="Ratios of weights are powers of the other base.",
        feedback="Use the base that the question gives; it is e unless it says otherwise.",
        core=True,
    ),
    Misconception(
        "X4",
        "base 10 used",
        "A",
        with_base(10),
        exactly="a_ij = 10^{m_ij} / Σ_j 10^{m_ij}; with e where base 10 is declared",
        tell="Ratios of weights are powers of 10.",
        feedback="Use the base that the question gives; it is e unless it says otherwise.",
        prior="low",
    ),
    Misconception(
        "X5",
        "scores divided by their sum",
        "A",
        by_row(_linear),
        exactly="a_ij = m_ij / Σ_j m_ij",
        tell="Negative weights; not defined where a row sums to 0.",
        feedback="Exponentiate first, then divide.",
    ),
    Misconception(
        "X5b",
        "powers divided by the sum of the scores",
        "A",
        by_row(_over_raw_sum),
        exactly="a_ij = e^{m_ij} / Σ_j m_ij",
        tell="The rows do not sum to 1; not defined where the scores of a row sum to 0.",
        feedback="Divide by the sum of the powers, not by the sum of the scores.",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "X6",
        "not normalised",
        "A",
        by_row(_powers),
        exactly="a_ij = e^{m_ij}",
        tell="Entries above 1.",
        feedback="Divide by the sum of the {row}, so that the weights of a token sum to 1.",
        source='quizzes list "skipping softmax normalization"',
        core=True,
    ),
    Misconception(
        "X6b",
        "sigmoid used instead of the softmax",
        "A",
        by_row(_sigmoid),
        exactly="a_ij = e^{m_ij} / (1 + e^{m_ij})",
        tell="A weight depends on its own score alone; a score of 0 gives 1/2.",
        feedback="Divide each power by the sum of the powers in its {row}: the weights of a token must sum to 1.",
        source="codekansas/keras-language-modeling #30",
        drawn=False,
    ),
    Misconception(
        "X7",
        "softmax twice",
        "A",
        replaced(Softmax, _twice, "A"),
        exactly="A = softmax(softmax(M)), also over what is hidden",
        tell="No weight of a row is more than e times another.",
        feedback="The softmax is applied once.",
        source="note 001 read literally; DisKT #6 (a second softmax leaked masked positions)",
        prior="low",
    ),
    Misconception(
        "X8",
        "maximum subtracted after exponentiating",
        "A",
        by_row(_maximum_subtracted_after),
        exactly="a_ij = (e^{m_ij} − max_j e^{m_ij}) / Σ_j (e^{m_ij} − max_j e^{m_ij})",
        tell="The largest score gets 0.",
        feedback="Subtract the maximum before exponentiating, where it cancels, not afterwards.",
        prior="low",
    ),
    Misconception(
        "X9",
        "negative exponents",
        "A",
        replaced(Softmax, lambda own: replace(own, base=exponential(-1, own.base)), "A"),
        exactly="a_ij = e^{−m_ij} / Σ_j e^{−m_ij}",
        tell="The order of the weights is reversed.",
        feedback="The larger the score, the larger the weight.",
        prior="low",
    ),
    Misconception(
        "X10",
        "all weight on the largest score",
        "A",
        by_row(_hardmax),
        exactly="a_ij = 1 where m_ij is the largest of row i (shared by ties), and 0 elsewhere",
        tell="Only 0 and 1.",
        feedback="The softmax is soft: the others keep some weight.",
        core=True,
    ),
    Misconception(
        "X10b",
        "all weights equal",
        "A",
        by_row(_uniform),
        exactly="a_ij = 1 / (number of visible keys of row i)",
        tell="The weights of a row are equal, whatever its scores are.",
        feedback="The weights depend on the scores: the larger the score, the larger the weight.",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "X11",
        "each weight rounded on its own",
        "A",
        weights_rounded(Round(1)),
        exactly="each weight is rounded to one place (to as many as are declared), and carried on",
        tell="Short decimals; a row may not sum to 1.",
        feedback="Weights that are rounded one by one need not sum to 1: keep them exact, or round as the question "
        "says.",
        source="note 002; happens in 54 to 76 of 100 variants with three tokens",
    ),
    Misconception(
        "X12",
        "self excluded from the softmax",
        "A",
        everywhere(Softmax, _without_self, "A"),
        exactly="m_ii = −∞ in the softmax; a row that sees nothing is taken as zeros",
        tell="The diagonal of A is 0, while that of the scores is there.",
        feedback="Include the token itself.",
        prior="low",
    ),
    Misconception(
        "X13",
        "softmax skipped",
        "A",
        replaced(Softmax, COPY, "A"),
        exactly="A = M",
        tell="The scores are used as weights.",
        feedback="Turn scores into weights first: $@name(A)$ is the softmax of the scores.",
        source="flexflow #467",
        core=True,
    ),
    Misconception(
        "X13b",
        "softmax after the product with V",
        "A",
        after_product,
        exactly="A = M, and Z = softmax(M V)",
        tell="The rows of Z sum to 1; with X13 they do not.",
        feedback="Apply the softmax to the scores first, and multiply the weights by $@name(V)$.",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "X14",
        "e^0 = 0",
        "A",
        by_row(_zero_to_the_zero),
        exactly="e^{m_ij} = 0 where m_ij = 0",
        tell="The weight is 0 where the score is 0.",
        feedback="A score of 0 counts as 1, because $e^0 = 1$.",
        source='pointer-generator #88 ("check e^0")',
    ),
    Misconception(
        "X14b",
        "e^a + e^b = e^(a+b)",
        "A",
        by_row(_sum_of_exponents),
        exactly="a_ij = e^{m_ij} / e^{Σ_j m_ij}",
        tell="Every weight is a single power of e.",
        feedback="A sum of powers is not a power of the sum: add the powers themselves.",
    ),
    Misconception(
        "X15",
        "the next row's denominator",
        "A",
        instead(_next_rows_sum),
        exactly="a_ij = e^{m_ij} / Σ_j e^{m_{i+1,j}}, the last row by the sum of the first",
        tell="Rows are right but for a factor, and do not sum to 1.",
        feedback="Divide by the sum of the same {row}.",
        prior="low",
        turned_name="the next column's denominator",
    ),
    Misconception(
        "X15b",
        "1 added to the denominator",
        "A",
        by_row(_one_more),
        exactly="a_ij = e^{m_ij} / (1 + Σ_j e^{m_ij})",
        tell="Rows are right but for a factor, and sum to less than 1.",
        feedback="The denominator is just the sum of the powers in the {row}: the weights must sum to 1.",
        source="a variant that is proposed now and then: karpathy/llama2.c #59",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "O1",
        "Aᵀ V",
        "Z",
        rewritten(lambda step, weights, values: step.with_operands(weights.flipped, values)),
        exactly="Z = Aᵀ V, that is z_i = Σ_j a_ji v_j",
        tell="The columns of A are used, which do not sum to 1.",
        feedback="The weights for token i are {row} i of $@name(A)$: you used {column} i.",
        core=True,
    ),
    Misconception(
        "O2",
        "V A",
        "Z",
        rewritten(lambda step, weights, values: step.with_operands(values, weights)),
        exactly="Z = V A",
        tell="Defined only where d_v = n.",
        feedback="Exchange the two factors: the weights of a token multiply the {rows} of $@name(V)$.",
    ),
    Misconception(
        "O3",
        "A K",
        "Z",
        mixing("K"),
        exactly="Z = A K",
        tell="As wide as a key.",
        feedback="Mix the values $@name(V)$, not the keys.",
    ),
    Misconception(
        "O4",
        "A Q",
        "Z",
        mixing("Q"),
        exactly="Z = A Q",
        tell="As wide as a query.",
        feedback="Mix the values $@name(V)$, not the queries.",
    ),
    Misconception(
        "O5",
        "A X",
        "Z",
        mixing("X"),
        exactly="Z = A X",
        tell="As wide as an input; with P7 V is wrong already.",
        feedback="Mix the values $@name(V)$, not the inputs.",
        core=True,
    ),
    Misconception(
        "O6",
        "A ∘ V",
        "Z",
        rewritten(lambda step, weights, values: EntryByEntry()),
        exactly="Z = A ∘ V",
        tell="Defined only where n = d_v.",
        feedback="An output is a weighted sum of the {rows} of $@name(V)$: multiply and add up.",
        prior="low",
    ),
    Misconception(
        "O7",
        "value scaled by its own weight alone",
        "Z",
        among_equals(_own_weight),
        exactly="z_i = a_ii v_i",
        tell="Every output is a multiple of the token's own value.",
        feedback=OWN_WEIGHT,
        source="note 003",
        prior="high",
        core=True,
    ),
    Misconception(
        "O7b",
        "every value scaled by its own weight",
        "Z",
        among_equals(_diagonal_weights),
        exactly="z_i = Σ_j a_jj v_j for every i",
        tell="All outputs are equal.",
        feedback=OWN_WEIGHT,
        source="note 003",
        prior="high",
    ),
    Misconception(
        "O8",
        "divided by n again",
        "Z",
        for_product(_averaged_again),
        exactly="Z = A V/n, with n the number of values",
        tell="The right output divided by n.",
        feedback="The weights sum to 1, so they already average: do not divide again.",
        prior="low",
    ),
    Misconception(
        "O9",
        "stops at the weights",
        "Z",
        rewritten(lambda step, weights, values: copying(step)),
        exactly="Z = A",
        tell="n × n.",
        feedback="The weights are not the output yet: multiply by $@name(V)$.",
        source="note 000",
    ),
    Misconception(
        "O10",
        "weighted values not summed",
        "Z",
        for_product(_not_summed, _every_pair),
        exactly="a_ij v_j for every i and j, one below the other",
        tell="n vectors for each token in place of one.",
        feedback="Add up the weighted values of each token.",
        source="notes 001 and 002 have the sum as a step of its own",
    ),
    Misconception(
        "O11",
        "first output repeated for all",
        "Z",
        for_product(first_row_repeated),
        exactly="z_i = z_1 for every i",
        tell="Row 1 is right, and all rows are equal.",
        feedback="Each token has weights of its own, and so an output of its own.",
        source="note 002",
    ),
)
