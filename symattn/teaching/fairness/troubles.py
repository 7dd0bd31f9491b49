"""What the core of a variant hides: which misconceptions cannot be seen in it, or not be told apart.

Misconceptions are followed no further than is needed for a verdict, and compared in floats.  After the last operation
without a witness they are worked out in floats, too: exactly they would be most of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, Rewritten, following, rewritten_everywhere
from symattn.exact import Matrix, has_symbols
from symattn.teaching.fairness.separation import LEAST, Floats, distance, floats_of, has_witness, in_floats


def troubles(derivation: Derivation, *, at_the_end: bool = True) -> frozenset[str]:
    """What is wrong with the core of a variant, as ids: "C3" cannot be seen, "C2=C6" can't be told apart.

    With ~ for what can be told apart, but by less than `LEAST`; with ≈ for what comes so near `at_the_end`, if that
    counts.  Nothing where there are letters.
    """
    matrices = [*derivation.givens.values(), *(step.result for step in derivation)]
    if not all(isinstance(m, Matrix) and not any(map(has_symbols, m)) for m in matrices):
        return frozenset()
    core = _Core(MatrixwiseDerivation(derivation))
    return frozenset(chain(core.on_the_way(), core.last_lines() if at_the_end else ()))


@dataclass(frozen=True)
class _Replay:
    """What one misconception writes, in floats: `value` gives a step, or None after the last one that it reaches.

    It is the same function for what writes the same everywhere.  `first` is the first step whose value is not the right
    one, None if the misconception cannot be seen.
    """

    id: str
    first: str | None
    value: Callable[[str], Floats | None]


class _Core:
    """A derivation, tokens as rows and matrix by matrix, with the core misconceptions replayed in its place."""

    def __init__(self, laid: MatrixwiseDerivation) -> None:
        self.rows = laid.rows
        self.truth = {step.name: floats_of(step.result) for step in self.rows}
        self.givens = {name: floats_of(m) for name, m in self.rows.givens.items()}
        self.alike: dict[str, list[_Replay]] = {}
        core = [m for m in misconceptions().values() if m.core]
        changed = [(m.id, rewritten_everywhere(self.rows, m.change, laid.parts)) for m in core]
        self.replays = [self._replay(id, rewritten) for id, rewritten in changed if rewritten]

    def _replay(self, id: str, rewritten: Rewritten) -> _Replay:
        """A misconception; as an earlier one, if it writes the same in the only step that both do otherwise."""
        steps, known = self._followed(rewritten), dict[str, Floats | None]()

        def value(name: str) -> Floats | None:
            while name not in known and (found := next(steps, None)):
                known[found[0]] = found[1]
            return known.get(name)

        first = next((name for name, right in self.truth.items() if distance(value(name), right)), None)
        found = _Replay(id, first, value)
        if first is None or value(first) is None or len(rewritten) > 1:
            return found
        others = self.alike.setdefault(first, [])
        same = next((other for other in others if not distance(value(first), other.value(first))), None)
        if same:
            return _Replay(id, first, same.value)
        others.append(found)
        return found

    def _followed(self, rewritten: Rewritten) -> Iterator[tuple[str, Floats | None]]:
        """Every step with what it gives; it ends with one that is not defined."""
        steps, right = self.rows.steps, {**self.givens, **self.truth}
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

    def on_the_way(self) -> Iterator[str]:
        """Where misconceptions first show, and where those part that first show in the same step."""
        shown = [(r, r.first) for r in self.replays if r.first is not None]
        yield from (r.id for r in self.replays if r.first is None)
        yield from (f"{r.id}~" for r, first in shown if distance(r.value(first), self.truth[first]) < LEAST)
        for (a, first), (b, other) in combinations(shown, 2):
            if first != other:
                continue
            steps = (first, *self.truth) if a.value is not b.value else ()
            apart = next((d for s in steps if (d := distance(a.value(s), b.value(s)))), 0)
            if apart < LEAST:
                yield ("~" if apart else "=").join(sorted((a.id, b.id)))

    def last_lines(self) -> Iterator[str]:
        last = list(self.truth)[-1]
        ends = [(r, r.value(last)) for r in self.replays if r.first is not None]
        yield from (f"{r.id}≈" for r, end in ends if distance(end, self.truth[last]) < LEAST)
        for (a, end), (b, its_end) in combinations(ends, 2):
            if end is not None and its_end is not None and distance(end, its_end) < LEAST:
                yield "≈".join(sorted((a.id, b.id)))
