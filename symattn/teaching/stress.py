"""A problem type tried a thousand times: what it costs, how far its variants differ, and what a student could guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from statistics import mean, median
from time import perf_counter

from symattn.foundation.dice import Dice
from symattn.page.document import Block, Document, Heading, Inlines, ItemList, Paragraph, Table, Words
from symattn.teaching.fairness.separation import LEAST, Separation, separation
from symattn.teaching.pool import OVERLAP, Tally, pool, shared
from symattn.teaching.problems import Spec, problem_type
from symattn.teaching.question import Question

MOST_COMPARED = 100
"""Above so many variants keys may overlap as they like (a pool of a thousand must), and only these are compared."""

GUESSABLE = 0.6
"""An answer that is the same in more than this share of the variants could be guessed."""


@dataclass(frozen=True)
class Stress:
    """Variants as they came, with the seconds that each took."""

    spec: Spec
    questions: tuple[Question, ...]
    seconds: tuple[float, ...]
    tally: Tally

    def document(self) -> Document:
        """The report: numbers, then what deserves a look."""
        count = len(self.questions)
        blocks: list[Block] = [Paragraph((Words(self._costs()),))]
        if self.tally.refused:
            rows = [((Words(why),), (Words(str(n)),)) for why, n in Counter(self.tally.refused).most_common(12)]
            blocks += [Heading((Words("Drawn again"),)), Table(((Words("because"),), (Words("times"),)), tuple(rows))]
        if features := self._features():
            blocks += [Heading((Words("Features"),)), features]
        blocks += [Heading((Words("Answers"),)), ItemList(tuple((Words(line),) for line in self._answers()))]
        if lines := self._misconceptions():
            blocks += [Heading((Words("Misconceptions"),)), ItemList(tuple((Words(line),) for line in lines))]
        return Document(f"{count} variants of {self.spec.type}", tuple(blocks))

    def _costs(self) -> str:
        first, rest = self.seconds[0], self.seconds[1:] or self.seconds
        slowest = max(rest)
        return (
            f"{sum(self.seconds):.1f} s in all; the first {first * 1000:.0f} ms (with what the family shares), then "
            f"{median(rest) * 1000:.0f} ms each, at most {slowest * 1000:.0f} ms. {self.tally.drawn} were drawn for "
            f"{len(self.questions)} that may be set. Every one came out of its frozen form as it went in, and its key "
            "was recomputed by a second route."
        )

    def _features(self) -> Table | None:
        names = list(dict.fromkeys(name for q in self.questions for name in q.features))
        if not names:
            return None
        rows: list[tuple[Inlines, ...]] = []
        for name in names:
            values = [q.features.get(name, 0.0) for q in self.questions]
            middle = (min(values) + max(values)) / 2
            spread = f"± {100 * (max(values) - min(values)) / 2 / middle:.1f} %" if middle > 0 else ""
            cells = (name, f"{min(values):g}", f"{median(values):g}", f"{max(values):g}", spread)
            rows.append(tuple((Words(cell),) for cell in cells))
        header = tuple((Words(cell),) for cell in ("feature", "least", "median", "most", "spread"))
        return Table(header, tuple(rows), row_heads=True)

    def _answers(self) -> list[str]:
        key_of = problem_type(self.spec.type).key
        keys = [key_of(q.content) if key_of else tuple(q.entries()) for q in self.questions]
        lines = [f"{len(keys) - len(set(keys))} of {len(keys)} keys are the same as another one."]
        compared = keys[:MOST_COMPARED]
        if pairs := [shared(a, b) for a, b in combinations(compared, 2)]:
            lines.append(
                f"Two keys share at most {100 * max(pairs):.0f} % of the entries that have to be worked out, on "
                f"average {100 * mean(pairs):.0f} % (the first {len(compared)} compared)."
            )
        if self.tally.alike:
            lines.append(
                f"{len(self.tally.alike)} variants overlap with another one by more than is wanted, by up to "
                f"{100 * max(self.tally.alike):.0f} %: the family has no more room."
            )
        for name in dict.fromkeys(name for q in self.questions for name in q.positions):
            listed = Counter(q.positions.get(name, "") for q in self.questions)
            least, most = min(listed.values()), max(listed.values())
            lines.append(f"{name}: {len(listed)} different, each {least} to {most} times.")
        common = Counter(entry for key in keys for entry in key)
        guessed = [(e, n) for e, n in common.most_common(50) if n > GUESSABLE * len(keys) and len(keys) > 4]
        for entry, n in guessed[:8]:
            lines.append(f"Guessable: {entry} in {100 * n / len(keys):.0f} % of the variants.")
        if not guessed:
            lines.append(f"No answer is the same in more than {100 * GUESSABLE:.0f} % of the variants.")
        return lines

    def _misconceptions(self) -> list[str]:
        found = [separation(q.problem.derivation) for q in self.questions if q.problem is not None]
        found = [s for s in found if s.wrongs]
        if not found:
            return []
        nearest = min(s.nearest for s in found)
        lines = [
            f"{len(found[0].core)} core misconceptions of {len(found[0].wrongs)} that have a place.",
            "The nearest that two core misconceptions, or one and the truth, come to each other where they first show: "
            f"{nearest:.3f} (at least {LEAST} wanted).",
        ]
        lines += _listed("Cannot be seen", found, lambda s: s.invisible)
        pairs = _listed("The same at their first step", found, lambda s: [_pair(c.one, c.other) for c in s.collisions])
        never = [[_pair(c.one, c.other) for c in s.collisions if not c.parts] for s in found]
        return lines + pairs + _counted("Never told apart", never)


def _pair(one: str, other: str) -> str:
    return f"{one}={other}"


def _listed(what: str, found: Sequence[Separation], names: Callable[[Separation], Sequence[str]]) -> list[str]:
    return _counted(what, [names(s) for s in found])


def _counted(what: str, lists: Sequence[Sequence[str]]) -> list[str]:
    """What stands in the lists, with the share of the lists where it does not stand in all."""
    counted = Counter(name for names in lists for name in names)
    told = [
        name if n == len(lists) else f"{name} ({100 * n / len(lists):.0f} %)" for name, n in sorted(counted.items())
    ]
    return [f"{what}: {', '.join(told)}."] if told else []


def stress(spec: Spec, count: int, dice: Dice, step: Callable[[object], None] = lambda question: None) -> Stress:
    """Draw, make and prove so many variants; beyond a hundred of them keys may overlap as they like."""
    tally, questions, seconds = Tally(), [], []
    variants = islice(pool(spec, dice, tally, OVERLAP[spec.level] if count <= MOST_COMPARED else 1.0), count)
    start = perf_counter()
    for question in variants:
        now = perf_counter()
        seconds.append(now - start)
        start = now
        questions.append(question)
        step(question)
    return Stress(spec, tuple(questions), tuple(seconds), tally)


__all__ = ["Stress", "stress"]
