"""Wrong masks (rules.md 2.2, mask)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.misconceptions.base import COPY, Change, Misconception, ReplacementOp, Rewritten, step_of_kind
from symattn.derivation.misconceptions.softmax import without_empty_rows
from symattn.derivation.ops import Mask, Scale, Softmax, causal, padding
from symattn.derivation.ops.attention import Keep, both
from symattn.derivation.ops.attention import Pattern as Rule
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, divide

Pattern = Callable[[Keep], "Keep | None"]

# ------------------------------------------------------------------------------------------ what is changed


def masking(d: Derivation) -> tuple[Step, Mask] | None:
    """The step that masks, where it is known what it hides."""
    place = step_of_kind(d, "M", Mask)
    return place if place and place[1].keep else None


def hiding(pattern: Pattern) -> Change:
    """Other entries masked than should be; None if the pattern has no meaning for the mask."""

    def change(d: Derivation) -> Rewritten | None:
        if (place := masking(d)) is None or (keep := pattern(place[1].keep)) is None:
            return None
        return {"M": place[0].with_op(replace(place[1], keep=keep))}

    return change


def ignored(d: Derivation) -> Rewritten | None:
    place = masking(d)
    return {"M": place[0].with_op(COPY)} if place and not is_padding(place[1].keep) else None


def padding_attended(d: Derivation) -> Rewritten | None:
    place = masking(d)
    return {"M": place[0].with_op(COPY)} if place and is_padding(place[1].keep) else None


def diagonal_hidden_too(d: Derivation) -> Rewritten | None:
    """None where padding hides keys whoever looks: which of them is a query's own is nothing to a query there."""
    if (place := masking(d)) is not None and is_padding(place[1].keep):
        return None
    change = hiding(lambda keep: _each(keep, lambda i, j: keep[i][j] and j != i + offset(keep)))(d)
    return {**change, **without_empty_rows(d)} if change else None


def padding_queries_hidden_too(d: Derivation) -> Rewritten | None:
    change = hiding(padding_rows_too)(d)
    return {**change, **without_empty_rows(d)} if change else None


def ruled_by(rules: Callable[[Mask], Sequence[Rule]]) -> Change:
    """Other rules than those that the mask is made of; None if there are no others."""

    def change(d: Derivation) -> Rewritten | None:
        if (place := masking(d)) is None or not (other := rules(place[1])):
            return None
        return {"M": place[0].with_op(replace(place[1], keep=keep_by(other, place[1].keep), patterns=tuple(other)))}

    return change


def keep_by(rules: Sequence[Rule], keep: Keep) -> Keep:
    """What these rules let through of scores of the same shape."""
    return reduce(both, (rule.keep(len(keep), len(keep[0])) for rule in rules))


def one_wider(mask: Mask) -> Sequence[Rule]:
    """Windows that see one key more, on both sides where they look ahead."""
    wider = [replace(rule, numbers=(rule.numbers[0] + 1,)) if is_window(rule) else rule for rule in mask.patterns]
    return wider if any(map(is_window, mask.patterns)) else ()


def is_window(rule: Rule) -> bool:
    return rule.kind in ("window", "window:both")


def one_of_two(which: int) -> Callable[[Mask], Sequence[Rule]]:
    """Of two masks that are joined, one alone: the first (0) or the second that the sheet names."""
    return lambda mask: [mask.patterns[which]] if len(mask.patterns) == 2 else ()


def before_itself(d: Derivation) -> Rewritten | None:
    """A window of as many keys that ends before the token itself; None if it looks ahead."""
    place = masking(d)
    if place is None or not any(rule.kind == "window" for rule in place[1].patterns):
        return None
    step, own = place
    wider = keep_by(one_wider(own), own.keep)
    keep = _each(wider, lambda i, j: wider[i][j] and j != i + offset(wider))
    return {"M": step.with_op(replace(own, keep=keep)), **without_empty_rows(d)}


def hidden_as(value: Callable[[Value, Value], Value]) -> Change:
    """A number in place of −∞, made from the score and from the divisor of the scores."""

    def change(d: Derivation) -> Rewritten | None:
        if (place := masking(d)) is None:
            return None
        scale = step_of_kind(d, "S'", Scale)
        return {"M": place[0].with_op(ReplacementOp(place[1], _Hidden(value, scale[1].divisor if scale else 1)))}

    return change


def masked_after_softmax(d: Derivation) -> Rewritten | None:
    place, weights = masking(d), step_of_kind(d, "A", Softmax)
    if place is None or weights is None:
        return None
    return {"M": place[0].with_op(COPY), "A": weights[0].with_op(ReplacementOp(weights[1], _Removed(place[1].keep)))}


def multiplied(d: Derivation) -> Rewritten | None:
    place = masking(d)
    if place is None or place[1].style == "multiplicative":
        return None
    return {"M": place[0].with_op(replace(place[1], style="multiplicative"))}


@dataclass(frozen=True)
class _Hidden:
    """Hidden entries become a number."""

    value: Callable[[Value, Value], Value]
    divisor: Value

    def __call__(self, of: Mask, scores: Matrix) -> Matrix:
        return Matrix.of(
            [x if seen else self.value(x, self.divisor) for x, seen in zip(row, kept, strict=True)]
            for row, kept in zip(scores.rows, of.keep, strict=True)
        )


@dataclass(frozen=True)
class _Removed:
    """The result of the operation with 0 for what is hidden."""

    keep: Keep

    def __call__(self, of: Op, scores: Matrix) -> Matrix:
        hidden = Mask(self.keep)
        hidden.shape(scores.shape)
        return hidden.apply(of.apply(scores)).map(lambda x: 0 if x is NEGATIVE_INFINITY else x)


# ------------------------------------------------------------------------------------------ patterns


def offset(keep: Keep) -> int:
    """How far the last query's own key lies to the right of the diagonal, as `causal` has it."""
    return len(keep[0]) - len(keep)


def is_padding(keep: Keep) -> bool:
    real = sum(keep[0])
    return 0 < real < len(keep[0]) and keep == padding(len(keep), len(keep[0]), real)


def other_half(keep: Keep) -> Keep:
    """The transposed triangle for a causal mask; for any other what is hidden and what is seen exchanged."""
    if keep == causal(len(keep), len(keep[0])):
        return _each(keep, lambda i, j: j >= i + offset(keep))
    return _each(keep, lambda i, j: not keep[i][j])


def one_later(keep: Keep) -> Keep | None:
    """One later token is seen as well; no meaning for a mask that does not hide what is later."""
    if any(keep[i][j] and j > i + offset(keep) for i, j in _places(keep)):
        return None
    return _each(keep, lambda i, j: keep[i][j] or j == i + offset(keep) + 1)


def queries_hidden(keep: Keep) -> Keep | None:
    """The rows of the padding tokens hidden in place of their columns."""
    if not is_padding(keep) or offset(keep):
        return None
    return _each(keep, lambda i, j: keep[0][i])


def padding_rows_too(keep: Keep) -> Keep | None:
    """The rows of the padding tokens hidden besides their columns: those of the last tokens, whom no query sees."""
    columns = range(len(keep[0]))
    real = max((j + 1 for j in columns if any(row[j] for row in keep)), default=0)
    if offset(keep) or real in (0, len(keep)):
        return None
    return _each(keep, lambda i, j: keep[i][j] and i < real)


def _each(keep: Keep, seen: Callable[[int, int], bool]) -> Keep:
    return tuple(tuple(seen(i, j) for j in range(len(keep[0]))) for i in range(len(keep)))


def _places(keep: Keep) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(keep)) for j in range(len(keep[0]))]


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "M1",
        "mask ignored",
        "M",
        ignored,
        exactly="M = S'",
        tell="No weight is 0; with M5 those of hidden tokens become 0 later.",
        feedback="Hide what the mask hides: the hidden scores become −∞ before the softmax.",
        source="experience",
        prior="high",
        core=True,
    ),
    Misconception(
        "M2",
        "wrong triangle",
        "M",
        hiding(other_half),
        exactly="j ≥ i is seen in place of j ≤ i; for other masks what is seen and what is hidden are exchanged",
        tell="The last row is 1 on itself and 0 elsewhere, and row 1 is full.",
        feedback="You hid what should be visible and left visible what should be hidden.",
        source="nanoGPT #170, mildlyoverfitted #20; Boolean masks: LLMs-from-scratch #1061, pytorch PR #170415, "
        "x-transformers #164",
        prior="high",
        core=True,
    ),
    Misconception(
        "M3",
        "diagonal masked too",
        "M",
        diagonal_hidden_too,
        exactly="m_ii = −∞ as well; a row that sees nothing is taken as zeros",
        tell="Row 1 sees nothing, and is undefined or left at 0.",
        feedback="A token may attend to itself.",
        source="TransformerLens #284, GPT-SoVITS #965",
        prior="medium",
    ),
    Misconception(
        "M4",
        "masked scores set to 0 instead of −∞",
        "M",
        hidden_as(lambda score, divisor: 0),
        exactly="hidden scores become 0, so that e^0 = 1 stays in the sum",
        tell="The weights of hidden tokens are not 0, and equal within a row.",
        feedback="A score of 0 still gets a weight: use −∞.",
        source="georg-wolflein/good-features PR #1; the same misunderstanding in pointer-generator #88",
        prior="high",
        core=True,
    ),
    Misconception(
        "M5",
        "masked after the softmax, not renormalised",
        "M",
        masked_after_softmax,
        exactly="M = S', and A = softmax(S') with 0 for what is hidden",
        tell="Some rows of A sum to less than 1.",
        feedback="After removing entries from $@name(A)$ the {row} must be rescaled to sum to 1.",
        source="timm PR #2236; self-critical #89",
        prior="high",
        core=True,
    ),
    Misconception(
        "M6",
        "one later token visible",
        "M",
        hiding(one_later),
        exactly="j ≤ i + 1 is seen",
        tell="The first diagonal above the main one is not 0.",
        feedback="Token i may see the tokens up to i itself, but not the next one.",
        source="GPT-SoVITS #965 (discussion)",
        prior="medium",
        core=True,
    ),
    Misconception(
        "M7",
        "multiplied by −∞",
        "M",
        multiplied,
        exactly="hidden scores are multiplied by −∞: +∞ for negative ones, not defined for 0",
        tell="Wrong only where a hidden score is not positive.",
        feedback="Add −∞ to a hidden score, which works for every score; multiplying does not.",
        source="note 004; sign slip in memory-compressed-attention #2",
        prior="medium",
    ),
    Misconception(
        "M8",
        "padding attended to",
        "M",
        padding_attended,
        exactly="M = S': the keys of the padding tokens are kept",
        tell="The sums of the softmax are larger, by e^0 for every padding token that is 0.",
        feedback="Mask the padding tokens as well.",
        source="note 001",
        prior="medium",
        core=True,
    ),
    Misconception(
        "M9",
        "rows masked instead of columns",
        "M",
        hiding(queries_hidden),
        exactly="all scores of the padding tokens' queries become −∞, and none of their keys'",
        tell="A whole row is undefined, or uniform where −10^9 is used for −∞.",
        feedback="Hide keys, which are {columns} of the scores: hiding a {row} hides a query.",
        source="lsdefine #16; a masked row becomes uniform with −10^9: apex #1390",
        prior="low",
        turned_name="columns masked instead of rows",
    ),
    Misconception(
        "M10",
        "masked with −10 before scaling",
        "M",
        hidden_as(lambda score, divisor: score + divide(-10, divisor)),
        exactly="−10/√d_k is added to hidden scaled scores in place of −∞",
        tell="The weights of hidden tokens are tiny, and not 0.",
        feedback="Use −∞, so that the weight is exactly 0.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "M11",
        "padding hidden as queries too",
        "M",
        padding_queries_hidden_too,
        exactly="m_ij = −∞ as well where token i is padding; a row that sees nothing is taken as zeros",
        tell="The rows of the padding tokens are empty; those of the real ones are right.",
        feedback="Padding is hidden as a key; as queries, its tokens still see the real ones.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "M12",
        "window one too wide",
        "M",
        ruled_by(one_wider),
        exactly="a window of w keys sees w + 1 of them",
        tell="One diagonal too many is not 0.",
        feedback="The token itself counts as part of the window, so the window reaches one token less far.",
        source="huggingface/transformers #39408, apple/axlearn #1009, ml-explore/mlx-lm #390",
        prior="medium",
        drawn=False,
    ),
    Misconception(
        "M13",
        "window without the token itself",
        "M",
        before_itself,
        exactly="the w tokens before token i are seen, and not itself; a row that sees nothing is taken as zeros",
        tell="The diagonal of A is 0, as with M3, but the window goes one token further back.",
        feedback="The token itself belongs to its window: the window ends with it, not before it.",
        source="experience",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "M14",
        "only the first of two masks used",
        "M",
        ruled_by(one_of_two(0)),
        exactly="of two masks that are joined, the second is forgotten",
        tell="Some weights that only the second mask hides are not 0.",
        feedback="Two masks apply here: hide what either of them hides, not just what the first one does.",
        source="AI-Hypercomputer/maxtext #878",
        prior="medium",
        drawn=False,
    ),
    Misconception(
        "M14b",
        "only the second of two masks used",
        "M",
        ruled_by(one_of_two(1)),
        exactly="of two masks that are joined, the first is forgotten",
        tell="Some weights that only the first mask hides are not 0.",
        feedback="Two masks apply here: hide what either of them hides, not just what the second one does.",
        source="facebookresearch/xformers #104",
        prior="medium",
        drawn=False,
    ),
)
