"""Wrong masks (rules.md 2.2, mask)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    Misconception,
    ReplacementOp,
    Rewritten,
    done_later,
    everywhere,
    step_of_kind,
    where,
)
from symattn.derivation.misconceptions.softmax import hiding_too_much
from symattn.derivation.ops.attention import Keep, Mask, Softmax, both, causal, padding
from symattn.derivation.ops.attention import Pattern as Rule
from symattn.derivation.ops.linear import Scale
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, divide

Pattern = Callable[[Keep], "Keep | None"]

# ------------------------------------------------------------------------------------------ what is changed


def masking(d: Derivation) -> tuple[Step, Mask] | None:
    """The step that masks, where it is known what it hides."""
    place = step_of_kind(d, "M", Mask)
    return place if place and place[1].keep else None


def masked(write: Callable[[Mask], Op | None]) -> Change:
    """Another mask, or none, where it is known what the right one hides; no place where `write` gives None."""
    return everywhere(Mask, lambda d, step, own: write(own) if own.keep else None, "M")


def hiding(pattern: Pattern) -> Change:
    """Other entries masked than should be; None if the pattern has no meaning for the mask."""
    return masked(lambda own: replace(own, keep=keep) if (keep := pattern(own.keep)) is not None else None)


def ruled_by(rules: Callable[[Mask], Sequence[Rule]]) -> Change:
    """Other rules than those that the mask is made of; None if there are no others."""

    def write(own: Mask) -> Op | None:
        other = tuple(rules(own))
        return replace(own, keep=keep_by(other, own.keep), patterns=other) if other else None

    return masked(write)


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


def before_itself(own: Mask) -> Op | None:
    """A window of as many keys that ends before the token itself; None if it looks ahead."""
    if not any(rule.kind == "window" for rule in own.patterns):
        return None
    return replace(own, keep=without_itself(keep_by(one_wider(own), own.keep)))


def hidden_as(value: Callable[[Value, Value], Value]) -> Change:
    """A number in place of −∞, made from the score and from the divisor of the scores."""

    def write(d: Derivation, step: Step, own: Mask) -> Op | None:
        scale = step_of_kind(d, "S'", Scale)
        return ReplacementOp(own, _hidden, given=(value, scale[1].divisor if scale else 1)) if own.keep else None

    return everywhere(Mask, write, "M")


def _hidden(value: Callable[[Value, Value], Value], divisor: Value, of: Mask, scores: Matrix) -> Matrix:
    return where(lambda i, j: of.keep[i][j], scores, lambda x: value(x, divisor))


def masked_after_softmax(d: Derivation) -> Rewritten | None:
    return done_later(masking(d), step_of_kind(d, "A", Softmax), _removed)


def _removed(mask: Mask, of: Op, scores: Matrix) -> Matrix:
    """The result of the operation with 0 for what is hidden."""
    hidden = Mask(mask.keep)
    hidden.shape(scores.shape)
    return hidden.apply(of.apply(scores)).map(lambda x: 0 if x is NEGATIVE_INFINITY else x)


# ------------------------------------------------------------------------------------------ patterns


def offset(keep: Keep) -> int:
    """How far the last query's own key lies to the right of the diagonal, as `causal` has it."""
    return len(keep[0]) - len(keep)


def is_padding(keep: Keep) -> bool:
    real = sum(keep[0])
    return 0 < real < len(keep[0]) and keep == padding(len(keep), len(keep[0]), real)


def without_itself(keep: Keep) -> Keep:
    """A query's own key hidden as well; to padding, which hides keys whoever looks, it is nothing."""
    return _each(keep, lambda i, j: keep[i][j] and j != i + offset(keep))


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
        masked(lambda own: None if is_padding(own.keep) else COPY),
        exactly="M = S'",
        tell="No weight is 0; with M5 those of hidden tokens become 0 later.",
        feedback="Hide what the mask hides: the hidden scores become −∞ before the softmax.",
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
        hiding_too_much(hiding(lambda keep: None if is_padding(keep) else without_itself(keep))),
        exactly="m_ii = −∞ as well; a row that sees nothing is taken as zeros",
        tell="Row 1 sees nothing, and is undefined or left at 0.",
        feedback="A token may attend to itself.",
        source="TransformerLens #284, GPT-SoVITS #965",
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
        core=True,
    ),
    Misconception(
        "M7",
        "multiplied by −∞",
        "M",
        masked(lambda own: replace(own, style="multiplicative") if own.style != "multiplicative" else None),
        exactly="hidden scores are multiplied by −∞: +∞ for negative ones, not defined for 0",
        tell="Wrong only where a hidden score is not positive.",
        feedback="Add −∞ to a hidden score, which works for every score; multiplying does not.",
        source="note 004; sign slip in memory-compressed-attention #2",
    ),
    Misconception(
        "M8",
        "padding attended to",
        "M",
        masked(lambda own: COPY if is_padding(own.keep) else None),
        exactly="M = S': the keys of the padding tokens are kept",
        tell="The sums of the softmax are larger, by e^0 for every padding token that is 0.",
        feedback="Mask the padding tokens as well.",
        source="note 001",
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
        prior="low",
    ),
    Misconception(
        "M11",
        "padding hidden as queries too",
        "M",
        hiding_too_much(hiding(padding_rows_too)),
        exactly="m_ij = −∞ as well where token i is padding; a row that sees nothing is taken as zeros",
        tell="The rows of the padding tokens are empty; those of the real ones are right.",
        feedback="Padding is hidden as a key; as queries, its tokens still see the real ones.",
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
        drawn=False,
    ),
    Misconception(
        "M13",
        "window without the token itself",
        "M",
        hiding_too_much(masked(before_itself)),
        exactly="the w tokens before token i are seen, and not itself; a row that sees nothing is taken as zeros",
        tell="The diagonal of A is 0, as with M3, but the window goes one token further back.",
        feedback="The token itself belongs to its window: the window ends with it, not before it.",
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
        drawn=False,
    ),
)
