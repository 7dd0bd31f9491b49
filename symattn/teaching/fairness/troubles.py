"""What the core of a variant hides: which misconceptions cannot be seen in it, or not be told apart.

Misconceptions are followed no further than is needed for a verdict, and compared in floats.  After the last operation
without a witness they are worked out in floats, too: exactly they would be most of the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, Rewritten, following, rewritten_everywhere
from symattn.teaching.fairness.separation import (
    LEAST,
    Compared,
    Floats,
    Replay,
    distance,
    floats_of,
    has_numbers,
    has_witness,
    in_floats,
)


def troubles(derivation: Derivation, *, at_the_end: bool = True) -> frozenset[str]:
    """What is wrong with the core of a variant, as ids: "C3" cannot be seen, "C2=C6" can't be told apart.

    With ~ for what can be told apart, but by less than `LEAST`; with ≈ for what comes so near `at_the_end`, if that
    counts.  Nothing where there are letters.
    """
    if not has_numbers(derivation):
        return frozenset()
    core = _Core(MatrixwiseDerivation(derivation)).compared
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
    ends = [(r.id, end) for r, _ in core.shown if (end := r.value(core.last)) is not None]
    yield from (
        "≈".join(sorted((one, other))) for (one, a), (other, b) in combinations(ends, 2) if distance(a, b) < LEAST
    )


class _Core:
    """A derivation, tokens as rows and matrix by matrix, with the core misconceptions replayed in its place."""

    def __init__(self, laid: MatrixwiseDerivation) -> None:
        self.rows = laid.rows
        self.right = {step.name: floats_of(step.result) for step in self.rows}
        self.alike: dict[str, list[Replay]] = {}
        core = [m for m in misconceptions().values() if m.core]
        changed = [(m.id, rewritten_everywhere(self.rows, m.change, laid.parts)) for m in core]
        self.compared = Compared(self.right, [self._replay(id, rewritten) for id, rewritten in changed if rewritten])

    def _replay(self, id: str, rewritten: Rewritten) -> Replay:
        """A misconception; as an earlier one, if it writes the same in the only step that both do otherwise."""
        steps, known = self._followed(rewritten), dict[str, Floats | None]()

        def value(name: str) -> Floats | None:
            while name not in known and (found := next(steps, None)):
                known[found[0]] = found[1]
            return known.get(name)

        first = next((name for name, right in self.right.items() if distance(value(name), right)), None)
        found = Replay(id, first, value)
        if first is None or value(first) is None or len(rewritten) > 1:
            return found
        others = self.alike.setdefault(first, [])
        same = next((other for other in others if not distance(value(first), other.value(first))), None)
        if same:
            return replace(same, id=id)
        others.append(found)
        return found

    def _followed(self, rewritten: Rewritten) -> Iterator[tuple[str, Floats | None]]:
        """Every step with what it gives; it ends with one that is not defined."""
        steps, right = self.rows.steps, {name: floats_of(m) for name, m in self.rows.givens.items()} | self.right
        exact = max((k for k, s in enumerate(steps, 1) if not has_witness(rewritten.get(s.name, s))), default=0)
        made = dict(right)
        for step, fails in following(replace(self.rows, steps=steps[:exact]), rewritten):
            made[step.name] = None if fails else floats_of(step.result)
            yield step.name, made[step.name]
            if fails:
                return
        for step in steps[exact:]:
            if step.name in rewritten or any(made[operand.name] != right[operand.name] for operand in step.operands):
                made[step.name] = in_floats(rewritten.get(step.name, step), made)
            yield step.name, made[step.name]
            if made[step.name] is None:
                return
