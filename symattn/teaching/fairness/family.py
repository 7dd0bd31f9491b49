"""Families: givens that are equally hard, and the orders in which each of them may be set (rules.md 4.7, 4.8).

Those of the usual sizes were found once and are kept in `families/`; others are looked for when they are asked for, one
by one, and each search has an end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from itertools import chain, cycle, islice
from math import factorial, prod
from random import Random
from typing import Literal

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Mechanism, Settings
from symattn.derivation.witnesses import close, worked_out
from symattn.errors import InputError, SymattnError
from symattn.exact import Matrix, Value
from symattn.foundation.dice import shuffled, whole

Level = Literal["starter", "standard", "long"]
SoftmaxKind = Literal["e", "base 2", "base 3", "equal"]
Givens = Mapping[str, Matrix]

PARENTS = 6
"""Members by which it is found out what no variant of a family can show."""

SEVERAL = 24
"""Members that are looked for, where tokens may stand in any order, before these come again in others."""


@dataclass(frozen=True)
class Kind:
    """One kind of variant: what is known of it before any number is drawn; settings are upright."""

    mechanism: Mechanism
    settings: Settings
    sizes: Mapping[str, int]
    level: Level
    softmax: SoftmaxKind

    @property
    def is_found_backwards(self) -> bool:
        """Whether siblings are found from the softmax rows that they are to have."""
        return self.mechanism.is_attention and self.settings.plain_scores and "A" not in self.mechanism.givens

    @property
    def title(self) -> str:
        """What a kept family is found by: sizes, the settings that change numbers, and the level where it counts."""
        stated = [(f.name, getattr(self.settings, f.name), f.default) for f in fields(Settings)]
        changed = [f"{name}={value}" for name, value, default in stated if value != default]
        wanted = (self.level, self.softmax) if self.is_found_backwards else ()
        return " ".join((*(f"{letter}={size}" for letter, size in self.sizes.items()), *changed, *wanted))

    @property
    def none(self) -> str:
        """What is said where there are no variants of this kind."""
        listed = ", ".join(f"{letter} = {size}" for letter, size in self.sizes.items())
        wanted = f", the level {self.level!r} and softmax {self.softmax!r}" if self.is_found_backwards else ""
        return f"A long search found no variants of {self.mechanism.name} that are equally hard, with {listed}{wanted}."


Search = Callable[[Kind, Random, Sequence[str]], Iterator[Givens]]
"""What finds members of a family beyond those on some lines: `search.searched`."""


def in_turn(kind: Kind, rng: Random, searched: Search) -> tuple[Iterator[Givens], dict[str, int]]:
    """The members of a family without end, and the sizes along which they may be set in any order.

    Those that are kept come from anywhere on, all in one order, so that keys have no more in common than was found, and
    again in every other order before others are looked for.  Where none is kept, so do the first few that are found, if
    tokens may stand in any order.  What there is comes again and again in the end.  `InputError` if no family is found.
    """
    lines = kept(kind)
    start = whole(rng, 0, len(lines) - 1) if lines else 0
    further = iter(()) if all_found(kind) else searched(kind, rng, lines[:PARENTS])
    found = chain(map(read_member, (*lines[start:], *lines[:start])), further)
    try:
        if (first := next(found, None)) is None:
            raise InputError(kind.none)
    except InputError as error:
        raise InputError(f"{error}{_where_there_is_one(kind)}") from error
    free = free_sizes(kind.mechanism, kind.settings, first)
    found = chain([first], found)
    several = max(len(lines), SEVERAL) if {*TOKENS} & free.keys() else len(lines)
    orders = prod(map(factorial, free.values()))
    members = cycle(chain(islice(cycle(islice(found, several)), several * orders), found))
    return _ordered(members, len(lines) or 1, kind, free, rng), free


def _ordered(
    members: Iterator[Givens], together: int, kind: Kind, free: Mapping[str, int], rng: Random
) -> Iterator[Givens]:
    """Members, so many at a time in the same order."""
    shapes = kind.mechanism.shapes(kind.settings)
    for k, member in enumerate(members):
        if k % together == 0:
            orders = any_order(free, rng)
        yield permuted(member, shapes, orders)


# -------------------------------------------------------------------------------------------- other orders (4.7.1)

TOKENS = ("n", "m")
"""The letters of axes along which tokens lie."""


def permuted(
    givens: Mapping[str, Matrix], shapes: Mapping[str, tuple[str, str]], orders: Mapping[str, Sequence[int]]
) -> dict[str, Matrix]:
    """Line i along a letter is what was line `orders[letter][i]`; letters that are left out keep their order."""
    found = {}
    for name, matrix in givens.items():
        rows, columns = (
            orders.get(letter, range(size)) for letter, size in zip(shapes[name], matrix.shape, strict=True)
        )
        found[name] = Matrix.of([matrix[i, j] for j in columns] for i in rows)
    return found


def free_sizes(mechanism: Mechanism, settings: Settings, givens: Mapping[str, Matrix]) -> dict[str, int]:
    """The sizes along which lines may be put in any order: no step of these givens changes but in its own order.

    Found by doing it, with an exchange and a turn, of which all orders are made: what a mask, a position or the token
    before decides is so found to be bound to its place.
    """
    shapes, d = mechanism.shapes(settings.upright), mechanism.run(givens, settings.upright)
    before = _entries(d, givens)
    sizes = {letter: size for name, m in givens.items() for letter, size in zip(shapes[name], m.shape, strict=True)}

    def changes_nothing(letter: str, order: Sequence[int]) -> bool:
        try:
            after = _entries(d, permuted(givens, shapes, {letter: order}))
        except SymattnError:
            return False
        return len(after) == len(before) and all(map(close, before, after))

    free = {}
    for letter in mechanism.letters:
        size = sizes.get(letter, 1)
        exchange, turn = (1, 0, *range(2, size)), (*range(1, size), 0)
        if size > 1 and changes_nothing(letter, exchange) and (turn == exchange or changes_nothing(letter, turn)):
            free[letter] = size
    if sizes.get("m", 1) > 1 and "m" not in free:  # a student may take queries for keys
        free.pop("n", None)
    return free


def _entries(d: Derivation, givens: Mapping[str, Matrix]) -> list[float]:
    """The entries for such givens in floats, those of each step in order of size, up to a step that is not defined."""
    made = worked_out(d, givens)
    return [x for step in d for x in sorted(chain.from_iterable(made.get(step.name, ())))]


def any_order(free: Mapping[str, int], rng: Random) -> dict[str, list[int]]:
    """An order for each of these sizes; where there are as many keys as queries, they are the same tokens."""
    orders = {letter: shuffled(rng, range(size)) for letter, size in free.items()}
    if "n" in free and free.get("m") == free["n"]:
        orders["m"] = orders["n"]
    return orders


# ------------------------------------------------------------------------------------------------ kept families

ALL_FOUND = "-"
"""The last line of a family to which a long search added none; of one without members, there is none."""


def kept(kind: Kind) -> Sequence[str]:
    """The members of the family that is kept for a kind, each on a line; empty if none is kept."""
    return [line for line in _paragraph(kind) if line != ALL_FOUND]


def all_found(kind: Kind) -> bool:
    """Whether a long search found no further members than those that are kept."""
    return ALL_FOUND in _paragraph(kind)[-1:]


def _paragraph(kind: Kind) -> Sequence[str]:
    return families(kind.mechanism.name).get(kind.title, ())


@lru_cache(maxsize=8)
def families(mechanism: str) -> Mapping[str, Sequence[str]]:
    """The families of a file by their titles: paragraphs, a title first and then a line for each member."""
    file = files(__package__).joinpath("families", f"{mechanism}.txt")
    paragraphs = file.read_text(encoding="utf-8").strip().split("\n\n") if file.is_file() else []
    return {first: members for first, *members in (paragraph.splitlines() for paragraph in paragraphs)}


def _where_there_is_one(kind: Kind) -> str:
    """A sentence that names sizes with a family, all else being as it is."""
    own = _of_title(kind.title)[1]
    others = [_of_title(title) for title, lines in families(kind.mechanism.name).items() if lines[:1] != [ALL_FOUND]]
    listed = [", ".join(f"{letter} = {size}" for letter, size in its.items()) for its, rest in others if rest == own]
    return f" There is a family with {'; with '.join(listed[:NAMED])}." if listed else ""


NAMED = 5
"""Sizes that are named at most."""


def _of_title(title: str) -> tuple[dict[str, str], str]:
    """The sizes of a title, and the rest of it."""
    return dict(SIZE.findall(title)), SIZE.sub("", title)


SIZE = re.compile(r"\b(n|m|d_\w+)=(\d+) ?")
NUMBER = re.compile(r"-?\d|\((-?\d+(?:/\d+)?)\)")
"""A digit, perhaps with a sign, or another number in brackets."""


def read_member(line: str) -> Givens:
    """Givens as they are written on a line: `Q=4:01-10… K=…`, the width and every row of each."""
    found = {}
    for text in line.split():
        name, _, rest = text.partition("=")
        columns, _, entries = rest.partition(":")
        numbers = [_number(match) for match in NUMBER.finditer(entries)]
        width = int(columns)
        found[name] = Matrix.of(numbers[start : start + width] for start in range(0, len(numbers), width))
    return found


def _number(match: re.Match[str]) -> int | Fraction:
    number = Fraction(match[1] or match[0])
    return number.numerator if number.denominator == 1 else number


def written_member(givens: Givens) -> str:
    """Givens as a line, which `read_member` reads."""
    return " ".join(f"{name}={m.shape[1]}:{''.join(map(_written, m))}" for name, m in givens.items())


def _written(x: Value) -> str:
    return str(x) if isinstance(x, int) and abs(x) < 10 else f"({x})"
