"""Kinds of masks: who sees whom, and in which words; and scores under which every mistake with a mask shows."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Literal, get_args

from symattn.derivation.ops.attention import Keep, MaskStyle, blocks, causal, padding, window
from symattn.errors import InputError
from symattn.foundation.dice import pick, whole
from symattn.foundation.languages import Message, counted, message

Kind = Literal["causal", "padding", "window", "prefix", "blocks", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STYLES: tuple[MaskStyle, ...] = ("additive", "keep", "block")
FEWEST, MOST = 3, 6
KIND_NAMES: Mapping[Kind, Message] = {
    "causal": message("causal"),
    "padding": message("padding"),
    "window": message("window"),
    "prefix": message("prefix"),
    "blocks": message("blocks"),
    "cross": message("cross"),
}


def keep_of(kind: str, parameters: Sequence[int], rows: int, columns: int) -> Keep:
    """Which keys each query sees; `parameters` are what the kind leaves open."""
    match kind, parameters:
        case "causal" | "cross", ():
            return causal(rows, columns)
        case "padding", (real,):
            return padding(rows, columns, real)
        case "window", (width,):
            return window(rows, columns, width)
        case "prefix", (length,):
            return prefix(rows, length)
        case "blocks", sizes:
            return blocks(sizes)
    raise InputError(f"There is no mask {kind!r} with {list(parameters)}; the kinds are {', '.join(KINDS)}.")


def prefix(tokens: int, length: int) -> Keep:
    """Every token sees the first `length` tokens; from there on it is causal (Raffel et al. 2020, section 3.2.1)."""
    return tuple(tuple(j < length or j <= i for j in range(tokens)) for i in range(tokens))


def drawn_parameters(kind: Kind, tokens: int, rng: random.Random) -> tuple[int, ...]:
    match kind:
        case "padding":
            return (whole(rng, 2, tokens - 1),)
        case "window" | "prefix":
            return (whole(rng, 2, max(2, tokens - 2)),)
        case "blocks":
            first = whole(rng, 2, tokens - 2) if tokens > FEWEST else whole(rng, 1, 2)
            return (first, tokens - first)
    return ()


def rule(kind: Kind, parameters: Sequence[int], rows: int, columns: int, turned: bool = False) -> str:
    """What the mask is for, in words from which it can be drawn; `turned`: a column is a query."""
    match kind, parameters:
        case "causal", ():
            return "The mask is causal: no token sees a later one."
        case "padding", (real,) if turned:
            return counted(
                "The last token is padding. No token sees padding; the columns of the padding itself are kept, "
                "but their output is not used.",
                "The last {n} tokens are padding. No token sees padding; the columns of the padding itself are kept, "
                "but their output is not used.",
                n=columns - real,
            )
        case "padding", (real,):
            return counted(
                "The last token is padding. No token sees padding; the rows of the padding itself are kept, "
                "but their output is not used.",
                "The last {n} tokens are padding. No token sees padding; the rows of the padding itself are kept, "
                "but their output is not used.",
                n=columns - real,
            )
        case "window", (width,):
            return counted(
                "The mask is a local window of width {width}: a token sees itself and the token before it, "
                "and nothing else.",
                "The mask is a local window of width {width}: a token sees itself and the {n} tokens before it, "
                "and nothing else.",
                n=width - 1,
                width=width,
            )
        case "prefix", (length,):
            return message(
                "The first {length} tokens are a prompt (a prefix): every token sees all of them. In "
                "addition, a token sees itself and every earlier one, and no others.",
                length=length,
            )
        case "blocks", (first, _):
            return message(
                "Two texts share one sequence: {first} and {second}. A token sees its own text and nothing of the "
                "other.",
                first=_span(1, first),
                second=_span(first + 1, columns),
            )
    return counted(
        "There are {keys} keys but only {queries} queries: the first token is in the cache, and query i is "
        "token {n} + i. A query sees its own token and every earlier one.",
        "There are {keys} keys but only {queries} queries: the first {n} tokens are in the cache, and query i is "
        "token {n} + i. A query sees its own token and every earlier one.",
        n=columns - rows,
        keys=columns,
        queries=rows,
    )


def _span(first: int, last: int) -> str:
    if first == last:
        return message("token {token}", token=first)
    return message("tokens {first} to {last}", first=first, last=last)


# ------------------------------------------------------------------------------------------------ pictures

Sees = Callable[[int, int], bool]

PICTURES: Mapping[str, tuple[Sees, str, str]] = {
    "causal": (lambda i, j: j <= i, "A token sees itself and all earlier tokens.", ""),
    "future": (lambda i, j: j >= i, "A token sees itself and all later tokens.", "M2"),
    "others": (lambda i, j: j < i, "A token sees all earlier tokens, but not itself.", "M3"),
    "ahead": (lambda i, j: j <= i + 1, "A token sees itself, all earlier tokens and the next one.", "M6"),
    "window": (lambda i, j: i - 1 <= j <= i, "A token sees itself and the token before it.", ""),
    "prefix": (lambda i, j: j < 2 or j <= i, "A token sees the first two tokens, itself and all earlier ones.", ""),
    "padding": (lambda i, j: j < 3, "Every token sees the first three tokens and no others.", ""),
    "blocks": (lambda i, j: (i < 2) == (j < 2), "The first two tokens see each other, and so do the last three.", ""),
}
"""Masks of five tokens, no two alike: who sees whom, the same in words, the misconception that draws it."""
PICTURED = 5


# ------------------------------------------------------------------------------------------------ scores

LARGEST_SUM = 20  # of the powers in a row, in lowest terms
APART = 0.05  # what two wrong answers must differ by in some weight (rules.md 4.8)
TRIES = 2000
Scores = tuple[tuple[str, ...], ...]

LOGS = {
    "-ln(2)": Fraction(1, 2),
    "0": Fraction(1),
    "ln(2)": Fraction(2),
    "ln(3)": Fraction(3),
    "ln(4)": Fraction(4),
}
"""Scores whose powers of e are rational."""


def telling_scores(keep: Keep, asked: Sequence[int], softmax: str, logs: bool, rng: random.Random) -> Scores:
    """Scaled scores of which masking mistakes show: hidden ones of every sign (rules.md 2.4, D4), no two rows equal."""
    for _ in range(TRIES):
        rows = tuple(_row(seen, i in asked, softmax, logs, rng) for i, seen in enumerate(keep))
        hidden = [
            _sign(x) for row, seen in zip(rows, keep, strict=True) for x, s in zip(row, seen, strict=True) if not s
        ]
        signs = {_sign(rows[i][j]) for i in asked for j, s in enumerate(keep[i]) if not s}
        if len(set(rows)) < len(rows) or signs == {1}:
            continue
        if len(set(hidden)) == 3 or len(hidden) < 3:
            return rows
    raise InputError("No scores were found under which every mistake with this mask would show.")


def _row(seen: Sequence[bool], asked: bool, softmax: str, logs: bool, rng: random.Random) -> tuple[str, ...]:
    choices_: Sequence[str] = list(LOGS) if logs else [str(x) for x in (-1, 0, 1, 2)]
    for _ in range(TRIES):
        row = tuple(pick(rng, choices_) for _ in seen)
        if softmax == "equal":
            row = tuple(row[0] if s else x for x, s in zip(row, seen, strict=True))
        if not asked or _pretty(row, seen, softmax, logs):
            return row
    raise InputError(f"No row of scores gives pretty weights with softmax = {softmax!r} here.")


def _pretty(row: Sequence[str], seen: Sequence[bool], softmax: str, logs: bool) -> bool:
    """Whether weights are worth working out: mistakes show, of a small sum, not all equal unless that is wished for."""
    visible = [x for x, s in zip(row, seen, strict=True) if s]
    if not _telling(row, seen, float(softmax[-1]) if softmax.startswith("base") else math.e):
        return False
    if softmax == "equal":
        return True
    if len(set(visible)) < 2:
        return False
    if softmax == "e" and not logs:
        return True
    powers = [LOGS[x] if logs else Fraction(int(softmax[-1])) ** int(x) for x in visible]
    total = sum(powers) / min(powers)
    small = total.denominator * total <= LARGEST_SUM
    return small and (logs or all(_terminates(p / sum(powers)) for p in powers))


def _telling(row: Sequence[str], seen: Sequence[bool], base: float) -> bool:
    """Whether no mask (M1), 0 for −∞ (M4) and masking after softmax (M5) give three other rows of weights."""
    powers = [float(LOGS[x]) if x in LOGS else base ** int(x) for x in row]
    unmasked = _shares(powers)
    answers = [
        _shares([p if s else 0.0 for p, s in zip(powers, seen, strict=True)]),
        unmasked,
        _shares([p if s else 1.0 for p, s in zip(powers, seen, strict=True)]),
        [w if s else 0.0 for w, s in zip(unmasked, seen, strict=True)],
    ]
    return all(max(abs(x - y) for x, y in zip(a, b, strict=True)) >= APART for a, b in combinations(answers, 2))


def _shares(powers: Sequence[float]) -> list[float]:
    return [power / sum(powers) for power in powers]


def _terminates(x: Fraction) -> bool:
    return bool(10**12 % x.denominator == 0)


def _sign(score: str) -> int:
    return -1 if score.startswith("-") else 0 if score == "0" else 1
