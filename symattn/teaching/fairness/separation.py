"""Whether a variant shows the mistakes that it is meant to show, and tells them apart (rules.md 2.4, rules D1–D6).

A `Separation` is for pages: every misconception, replayed exactly.  `troubles` are for choosing: the core ones, worked
out no further than a verdict needs, in floats: exactly they would be most of the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, combinations

from symattn.derivation.derivation import Derivation
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.misconceptions import drawn_misconceptions, misconceptions_in, replayed
from symattn.derivation.misconceptions.base import (
    MatrixwiseDerivation,
    Rewritten,
    WrongDerivation,
    rewritten_everywhere,
)
from symattn.derivation.witnesses import FloatRows, floats_of, in_floats

LEAST = 0.05
"""The smallest difference that counts, ten times a marking tolerance of 0.005 (rules.md 4.8)."""


def distance(a: FloatRows | None, b: FloatRows | None) -> float:
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
class Replay:
    """What one misconception writes, in floats: `value` gives a step, or None after the last one that it reaches.

    `first` is the first step whose value is not the right one, None if the misconception cannot be seen.
    """

    id: str
    first: str | None
    value: Callable[[str], FloatRows | None]


@dataclass(frozen=True)
class Compared:
    """Misconceptions beside the right values and one another."""

    right: Mapping[str, FloatRows | None]
    replays: Sequence[Replay]

    @property
    def last(self) -> str:
        return list(self.right)[-1]

    @cached_property
    def shown(self) -> list[tuple[Replay, float]]:
        """Those that can be seen, with how far from the truth they are where they first show."""
        return [(r, self.from_truth(r, r.first)) for r in self.replays if r.first is not None]

    def from_truth(self, replay: Replay, step: str) -> float:
        return distance(replay.value(step), self.right[step])

    def pairs(self) -> Iterator[tuple[Replay, Replay, str, float]]:
        """Those that first show at the same step, with the step at which they part, and by how much; "" nowhere."""
        for (a, _), (b, _) in combinations(self.shown, 2):
            if a.first == b.first and a.first is not None:
                steps = () if a.value is b.value else (a.first, *self.right)
                yield a, b, *next(((s, d) for s in steps if (d := distance(a.value(s), b.value(s)))), ("", 0.0))

    def ends_within(self, most: float) -> Iterator[tuple[str, str]]:
        """Visible ones whose last lines are nearer to one another than that."""
        ends = [(r.id, end) for r, _ in self.shown if (end := r.value(self.last)) is not None]
        return ((one, other) for (one, a), (other, b) in combinations(ends, 2) if distance(a, b) < most)


@dataclass(frozen=True)
class Collision:
    """Two misconceptions that write the same at the first step they spoil; `parts` is where they part, "" nowhere."""

    one: str
    other: str
    at: str
    parts: str


@dataclass(frozen=True)
class Separation:
    """Misconceptions on one derivation, compared with the right values and with one another."""

    derivation: Derivation
    wrongs: tuple[WrongDerivation, ...]

    @cached_property
    def _compared(self) -> Compared:
        return _compared(self.derivation, self.wrongs)

    @cached_property
    def invisible(self) -> tuple[str, ...]:
        """Those that change nothing in this variant."""
        return tuple(w.misconception.id for w in self.wrongs if w.first is None)

    @cached_property
    def collisions(self) -> tuple[Collision, ...]:
        """Pairs of visible ones that write exactly the same at their first step."""
        pairs = ((a, b, a.first, parting) for a, b, parting, _ in self._compared.pairs())
        return tuple(
            Collision(a.id, b.id, at, parts) for a, b, at, parts in pairs if at and parts != at and a.value(at)
        )

    @cached_property
    def silent(self) -> tuple[str, ...]:
        """Those that show on the way and leave the last line right."""
        compared = self._compared
        shown = (r for r, _ in compared.shown if r.first != compared.last)
        return tuple(r.id for r in shown if compared.from_truth(r, compared.last) == 0)

    @cached_property
    def merged(self) -> tuple[tuple[str, str], ...]:
        """Pairs that write the same wrong last line, though not the same on the way."""
        together = {(c.one, c.other) for c in self.collisions if not c.parts}
        pairs = self._compared.ends_within(SMALLEST)
        return tuple(pair for pair in pairs if pair not in together and not {*pair} & {*self.silent})

    @cached_property
    def nearest(self) -> float:
        """How near a core misconception comes to the truth, or to another one, where it first shows and differs."""
        core = _compared(self.derivation, [w for w in self.wrongs if w.misconception.core])
        apart = (distance or math.inf for *_, distance in core.pairs())
        return min((*(distance for _, distance in core.shown), *apart), default=math.inf)


def _compared(derivation: Derivation, wrongs: Sequence[WrongDerivation]) -> Compared:
    def replay(wrong: WrongDerivation) -> Replay:
        return Replay(wrong.misconception.id, wrong.first, cache(lambda step: floats_of(wrong.value(step))))

    return Compared({step.name: floats_of(step.result) for step in derivation}, list(map(replay, wrongs)))


def separation(derivation: Derivation) -> Separation:
    """Every misconception that problem types draw and that has a place, replayed; none where there are letters."""
    if not derivation.in_numbers:
        return Separation(derivation, ())
    return Separation(matrixwise(derivation), replayed(derivation, [m.id for m in drawn_misconceptions()]))


# ------------------------------------------------------------------------------------- what the core of a variant hides


def troubles(derivation: Derivation, *, at_the_end: bool = True) -> frozenset[str]:
    """What is wrong with the core of a variant, as ids: "C3" cannot be seen, "C2=C6" can't be told apart.

    With ~ for what can be told apart, but by less than `LEAST`; with ≈ for what comes so near `at_the_end`, if that
    counts.  Nothing where there are letters.
    """
    if not derivation.in_numbers:
        return frozenset()
    core = _core(MatrixwiseDerivation(derivation))
    return frozenset(chain(_on_the_way(core), _in_last_lines(core) if at_the_end else ()))


def _on_the_way(core: Compared) -> Iterator[str]:
    """Where misconceptions first show, and where those part that first show in the same step."""
    yield from (r.id for r in core.replays if r.first is None)
    yield from (f"{r.id}~" for r, apart in core.shown if apart < LEAST)
    for a, b, _, apart in core.pairs():
        if apart < LEAST:
            yield ("~" if apart else "=").join(sorted((a.id, b.id)))


def _in_last_lines(core: Compared) -> Iterator[str]:
    yield from (f"{r.id}≈" for r, _ in core.shown if core.from_truth(r, core.last) < LEAST)
    yield from ("≈".join(sorted(pair)) for pair in core.ends_within(LEAST))


def _core(laid: MatrixwiseDerivation) -> Compared:
    """A derivation, tokens as rows and matrix by matrix, with the core misconceptions replayed as far as one looks."""
    d = laid.rows
    right = {step.name: floats_of(step.result) for step in d}
    givens = {name: floats_of(m) for name, m in d.givens.items()}

    def replay(id: str, rewritten: Rewritten) -> Replay:
        steps, known = _followed(d, givens | right, rewritten), dict[str, FloatRows | None]()

        def value(name: str) -> FloatRows | None:
            while name not in known and (found := next(steps, None)):
                known[found[0]] = found[1]
            return known.get(name)

        return Replay(id, next((name for name in right if distance(value(name), right[name])), None), value)

    changed = [(m.id, rewritten_everywhere(d, m.change, laid.parts)) for m in misconceptions_in(d).values() if m.core]
    return Compared(right, [replay(id, rewritten) for id, rewritten in changed if rewritten])


def _followed(
    d: Derivation, right: Mapping[str, FloatRows | None], rewritten: Rewritten
) -> Iterator[tuple[str, FloatRows | None]]:
    """Every step with what it gives where some are written otherwise; it ends with one that is not defined."""
    made = dict(right)
    for step in d:
        if step.name in rewritten or any(made[operand.name] != right[operand.name] for operand in step.operands):
            made[step.name] = in_floats(rewritten.get(step.name, step), made)
        yield step.name, made[step.name]
        if made[step.name] is None:
            return
