"""Students, and who gets which paper: no neighbours with the same one, all papers equally often."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from symattn.errors import InputError
from symattn.foundation.dice import shuffled
from symattn.foundation.typed import Absent, Digits, Filled, Key, Matching, OneOf
from symattn.page.presentation import TEXT_SIZES

_NUMBERED = r"(\d{1,4})\s*[-/.:,]\s*(\d{1,4})"
_LETTERED = r"([A-Za-z])\s*-?\s*(\d{1,4})"


Listed = tuple[tuple[str, str], ...]
"""Cells of a class list, each behind its heading."""


@dataclass(frozen=True, slots=True)
class Student:
    """One line of the class list; `listed` are the cells by which a learning platform knows the student, by their
    headings, where these are more than a name and an id.
    """

    name: str = ""
    id: Filled = ""
    seat: Annotated[str, Matching(f"{_NUMBERED}|{_LETTERED}", "a row and a column such as 3-12 or C12")] = ""
    text_size: Annotated[int, Key("text size"), Digits(), OneOf(lambda: TEXT_SIZES)] = 0
    listed: Annotated[Listed, Absent()] = ()

    @property
    def place(self) -> tuple[int, int] | None:
        """The row and the column of the seat, where the list names it: 3-12 is (3, 12), and so is C12."""
        if match := re.fullmatch(_NUMBERED, self.seat):
            return int(match[1]), int(match[2])
        if match := re.fullmatch(_LETTERED, self.seat):
            return ord(match[1].upper()) - ord("A") + 1, int(match[2])
        return None


# ------------------------------------------------------------------------------------------------ who gets what


def places(students: Sequence[Student], seats_per_row: int) -> list[tuple[int, int]]:
    """Where everybody sits: as the list says, else in its order, row by row (one long row without a length)."""
    if all(s.place for s in students):
        return [s.place for s in students if s.place]
    length = seats_per_row or len(students)
    return [divmod(k, length) for k in range(len(students))]


def assign(seats: Sequence[tuple[int, int]], papers: int, rng: random.Random) -> list[int]:
    """A paper (from 0) for every seat: never the same as a neighbour's (beside, before, behind, across a corner).

    Every paper goes out equally often, as far as seats allow, and which one to whom is random.  With fewer papers
    than would be needed, seats beside each other come first; `InputError` if not even they can differ.
    """
    paper_of: dict[tuple[int, int], int] = {}
    used = [0] * papers
    for row, column in sorted(seats):
        beside = {paper_of.get((row, column - 1)), paper_of.get((row, column + 1))}
        around = beside | {paper_of.get((row + r, column + c)) for r in (-1, 0, 1) for c in (-1, 0, 1)}
        order = shuffled(rng, range(papers))
        free = [p for p in order if p not in around] or [p for p in order if p not in beside]
        if not free:
            raise InputError(
                f"{papers} variant{'s' * (papers != 1)} cannot part all neighbours; at least 2 are needed."
            )
        chosen = min(free, key=lambda p: used[p])
        paper_of[row, column] = chosen
        used[chosen] += 1
    return [paper_of[seat] for seat in seats]


def neighbours(seats: Sequence[tuple[int, int]], given: Sequence[int]) -> int:
    """How many pairs of neighbours have the same paper."""
    at = dict(zip(seats, given, strict=True))
    steps = ((0, 1), (1, -1), (1, 0), (1, 1))
    return sum(at[r, c] == at.get((r + dr, c + dc)) for r, c in at for dr, dc in steps)


def balanced(loads: Sequence[Sequence[float]]) -> list[list[int]]:
    """Papers of one variant of every question each, so that their totals are as near to one another as can be.

    `loads[q][v]` is the load of variant v of question q; the result's paper p has variant `result[p][q]`.  Heavy
    variants of one question go with light ones of the next (Sud, West and Zilles 2019 choose jointly, too).
    """
    papers = [[v] for v in range(len(loads[0]))]
    totals = list(loads[0])
    for load in loads[1:]:
        heavy = sorted(range(len(totals)), key=lambda p: (-totals[p], p))
        light = sorted(range(len(load)), key=lambda v: (load[v], v))
        for p, v in zip(heavy, light, strict=True):
            papers[p].append(v)
            totals[p] += load[v]
    return papers
