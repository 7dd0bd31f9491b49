"""Kinds of masks: who sees whom, and in which words."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

from symattn.derivation.ops.attention import Keep, MaskStyle, blocks, causal, padding, window
from symattn.errors import InputError
from symattn.foundation.dice import whole
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
