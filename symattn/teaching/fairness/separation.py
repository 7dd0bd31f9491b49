"""Whether a variant shows the mistakes that it is meant to show, and tells them apart (rules.md 2.4, rules D1–D6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

from symattn.derivation.derivation import Derivation, Op, Operand, Step
from symattn.derivation.misconceptions import WrongDerivation, drawn_misconceptions, misconceptions, replayed, whole
from symattn.derivation.witnesses import transposed
from symattn.errors import InputError
from symattn.exact import AnyMatrix, Matrix, has_symbols
from symattn.exact.approximate import approximate

LEAST = 0.05
"""The smallest difference that counts, ten times a marking tolerance of 0.005 (rules.md 4.8)."""


Floats = tuple[tuple[float, ...], ...]


def floats_of(matrix: AnyMatrix | None) -> Floats | None:
    return tuple(tuple(map(approximate, row)) for row in matrix.rows) if isinstance(matrix, Matrix) else None


def has_witness(step: Step) -> bool:
    """Whether a step can be worked out in floats."""
    return type(step.op).witness is not Op.witness


def in_floats(step: Step, made: Mapping[str, Floats | None]) -> Floats | None:
    """What a step gives by the witness of its operation; None where it is not defined, or where shapes do not fit."""
    operands = [_used(operand, made[operand.name] or ()) for operand in step.operands]
    try:
        step.op.shape(*((len(rows), len(rows[0])) for rows in operands))
        found = step.op.witness(*operands)
    except (InputError, ArithmeticError, ValueError):
        return None
    return tuple(map(tuple, found)) if found and all(x < math.inf for row in found for x in row) else None


def _used(operand: Operand, rows: Floats) -> list[list[float]]:
    """The part of a matrix that a step uses."""
    part = [list(row) for row in rows] if operand.row is None else [list(rows[operand.row])]
    part = part if operand.column is None else [[row[operand.column]] for row in part]
    return transposed(part) if operand.transposed else part


def distance(a: Floats | None, b: Floats | None) -> float:
    """The largest difference between two entries; infinite for other shapes; 0 below what floats can tell."""
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    if (len(a), len(a[0])) != (len(b), len(b[0])):
        return math.inf
    pairs = [(x, y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True)]
    largest = max(0.0 if x == y else abs(x - y) for x, y in pairs)
    return 0.0 if largest < SMALLEST else largest


SMALLEST = 1e-9
"""Differences below this are those of floats."""


@dataclass(frozen=True)
class Collision:
    """Two misconceptions that write the same at the first step they spoil; `parts` is where they part, "" nowhere."""

    one: str
    other: str
    at: str
    parts: str


@dataclass(frozen=True)
class Separation:
    """Misconceptions on one derivation, compared with the right values and with one another.

    `core` are those that a variant must show; `others` works the rest out, which takes twice as long, for who asks.
    """

    derivation: Derivation
    core: tuple[WrongDerivation, ...]
    others: Callable[[], tuple[WrongDerivation, ...]] = tuple

    @cached_property
    def wrongs(self) -> tuple[WrongDerivation, ...]:
        """All of them, in the order of the catalogue."""
        order = {id: k for k, id in enumerate(misconceptions())}
        return tuple(sorted((*self.core, *self.others()), key=lambda w: order[w.misconception.id]))

    @cached_property
    def invisible(self) -> tuple[str, ...]:
        """Those that change nothing in this variant."""
        return tuple(w.misconception.id for w in self.wrongs if w.first is None)

    @cached_property
    def collisions(self) -> tuple[Collision, ...]:
        """Pairs of visible ones that write exactly the same at their first step."""
        found = []
        for a, b in self._pairs(self.wrongs):
            assert a.first is not None
            if a.value(a.first) is not None and self._between(a, b, a.first) == 0:
                found.append(Collision(a.misconception.id, b.misconception.id, a.first, self._parting(a, b)))
        return tuple(found)

    @cached_property
    def silent(self) -> tuple[str, ...]:
        """Those that show on the way and leave the last line right."""
        shown = [w for w in self.wrongs if w.first not in (None, self._last)]
        return tuple(w.misconception.id for w in shown if self._off_at_the_end(w) == 0)

    @cached_property
    def merged(self) -> tuple[tuple[str, str], ...]:
        """Pairs that write the same wrong last line, though not the same on the way."""
        quiet = {*self.invisible, *self.silent}
        together = {(c.one, c.other) for c in self.collisions if not c.parts}
        ends = [w for w in self.wrongs if w.misconception.id not in quiet and w.value(self._last) is not None]
        pairs = ((a, b) for a, b in combinations(ends, 2) if self._between(a, b, self._last) == 0)
        named = ((a.misconception.id, b.misconception.id) for a, b in pairs)
        return tuple(pair for pair in named if pair not in together)

    @property
    def _last(self) -> str:
        return self.derivation.last.name

    @cached_property
    def nearest(self) -> float:
        """How near a core misconception comes to the truth, or to another one, where it first shows and differs."""
        shown = [w for w in self.core if w.first is not None]
        distances = [self._from_truth(w) for w in shown]
        for a, b in self._pairs(shown):
            step = a.first
            assert step is not None
            apart = self._between(a, b, step)
            distances.append(apart if apart else self._between(a, b, self._parting(a, b) or step) or math.inf)
        return min(distances, default=math.inf)

    # -- distances: the largest difference of two entries

    def _pairs(self, wrongs: Sequence[WrongDerivation]) -> Iterable[tuple[WrongDerivation, WrongDerivation]]:
        """Pairs that first go wrong at the same step."""
        return ((a, b) for a, b in combinations(wrongs, 2) if a.first is not None and a.first == b.first)

    def _from_truth(self, wrong: WrongDerivation) -> float:
        assert wrong.first is not None
        return distance(self._floats(wrong, wrong.first), floats_of(self.derivation.value(wrong.first)))

    def _off_at_the_end(self, wrong: WrongDerivation) -> float:
        return distance(self._floats(wrong, self._last), floats_of(self.derivation.value(self._last)))

    def _between(self, a: WrongDerivation, b: WrongDerivation, step: str) -> float:
        return distance(self._floats(a, step), self._floats(b, step))

    def _parting(self, a: WrongDerivation, b: WrongDerivation) -> str:
        """The first step at which two wrong ways differ."""
        return next((s.name for s in self.derivation if self._between(a, b, s.name)), "")

    def _floats(self, wrong: WrongDerivation, step: str) -> Floats | None:
        key = (wrong.misconception.id, step)
        if key not in self._known:
            self._known[key] = floats_of(wrong.value(step))
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[str, str], Floats | None]:
        return {}


def separation(derivation: Derivation) -> Separation:
    """Every misconception that problem types draw and that has a place, replayed; none where there are letters."""
    matrices = [*derivation.givens.values(), *(step.result for step in derivation)]
    if not all(isinstance(m, Matrix) and not any(map(has_symbols, m)) for m in matrices):
        return Separation(derivation, ())
    core = [m.id for m in drawn_misconceptions() if m.core]
    others = [m.id for m in drawn_misconceptions() if not m.core]
    return Separation(whole(derivation), replayed(derivation, core), partial(replayed, derivation, others))
