"""A problem type tried a thousand times: what it costs, how far its variants differ, and what a student could guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from statistics import mean, median
from time import perf_counter
from typing import Any

from symattn.foundation.crew import Crew
from symattn.foundation.dice import Dice
from symattn.foundation.typed import plain, read
from symattn.foundation.workers import Job
from symattn.page.document import Block, Document, Heading, ItemList, Table, as_text, paragraph, table
from symattn.teaching.fairness.separation import LEAST, separation
from symattn.teaching.pool import OVERLAP, Tally, chosen_contents, pool, prove, shared
from symattn.teaching.problems import Spec, problem_type
from symattn.teaching.question import Question

MOST_COMPARED = 100
"""Above this number of variants keys may overlap (a pool of a thousand must), and only these are compared."""

GUESSABLE = 0.6
"""An answer that is the same in more than this share of the variants could be guessed."""


@dataclass(frozen=True)
class Apart:
    """How far misconceptions are apart on one variant, and which of them cannot be seen or told from another."""

    core: int
    wrongs: int
    nearest: float
    invisible: tuple[str, ...]
    collisions: tuple[str, ...]
    never: tuple[str, ...]


@dataclass(frozen=True)
class Tried:
    """The report on one variant."""

    key: tuple[str, ...]
    features: Mapping[str, float]
    positions: Mapping[str, str]
    apart: Apart | None

    @classmethod
    def of(cls, question: Question) -> Tried:
        key = problem_type(question.type).key
        separated = separation(question.problem.derivation) if question.problem is not None else None
        apart = None
        if separated and separated.wrongs:
            pairs = [(f"{c.one}={c.other}", bool(c.parts)) for c in separated.collisions]
            apart = Apart(
                sum(w.misconception.core for w in separated.wrongs),
                len(separated.wrongs),
                separated.nearest,
                tuple(separated.invisible),
                tuple(pair for pair, _ in pairs),
                tuple(pair for pair, told in pairs if not told),
            )
        return cls(
            tuple(key(question.content) if key else question.entries()),
            dict(question.features),
            dict(question.positions),
            apart,
        )


def trying(settings: Any) -> Job:
    """The job of making a variant from its frozen content, proving its key and looking at it."""
    chosen = problem_type(settings["type"])

    def job(content: Any) -> Any:
        question = chosen.make(content)
        prove(question, chosen)
        return plain(Tried.of(question))

    return job


TRY = f"{__name__}:trying"


@dataclass(frozen=True)
class Stress:
    """Variants as they came, with the seconds that each took."""

    spec: Spec
    variants: tuple[Tried, ...]
    seconds: tuple[float, ...]
    tally: Tally

    def document(self) -> Document:
        """The report: numbers, then what deserves a look."""
        count = len(self.variants)
        blocks: list[Block] = [paragraph(self._costs())]
        if self.tally.refused:
            rows = Counter(self.tally.refused).most_common(12)
            blocks += [Heading(as_text("Drawn again")), table(("because", "times"), rows, row_heads=False)]
        if features := self._features():
            blocks += [Heading(as_text("Features")), features]
        blocks += [Heading(as_text("Answers")), ItemList(tuple(map(as_text, self._answers())))]
        if lines := self._misconceptions():
            blocks += [Heading(as_text("Misconceptions")), ItemList(tuple(map(as_text, lines)))]
        return Document(f"{count} variants of {self.spec.type}", tuple(blocks))

    def _costs(self) -> str:
        first, rest = self.seconds[0], self.seconds[1:] or self.seconds
        slowest = max(rest)
        return (
            f"{sum(self.seconds):.1f} s in all; the first {first * 1000:.0f} ms (with what the family shares), then "
            f"{median(rest) * 1000:.0f} ms each, at most {slowest * 1000:.0f} ms. {self.tally.drawn} were drawn for "
            f"{len(self.variants)} that may be set. Every one came out of its frozen form as it went in, and its key "
            "was recomputed by a second route."
        )

    def _features(self) -> Table | None:
        names = list(dict.fromkeys(name for v in self.variants for name in v.features))
        if not names:
            return None
        rows = []
        for name in names:
            values = [v.features.get(name, 0.0) for v in self.variants]
            middle = (min(values) + max(values)) / 2
            spread = f"± {100 * (max(values) - min(values)) / 2 / middle:.1f}%" if middle > 0 else ""
            rows.append((name, f"{min(values):g}", f"{median(values):g}", f"{max(values):g}", spread))
        return table(("feature", "least", "median", "most", "spread"), rows)

    def _answers(self) -> list[str]:
        keys = [variant.key for variant in self.variants]
        lines = [f"{len(keys) - len(set(keys))} of {len(keys)} keys duplicate another one."]
        compared = keys[:MOST_COMPARED]
        if pairs := [shared(a, b) for a, b in combinations(compared, 2)]:
            lines.append(
                f"Two keys share at most {100 * max(pairs):.0f}% of the entries that have to be worked out, on "
                f"average {100 * mean(pairs):.0f}% (the first {len(compared)} compared)."
            )
        if self.tally.alike:
            lines.append(
                f"{len(self.tally.alike)} variants overlap with another one by more than is wanted, by up to "
                f"{100 * max(self.tally.alike):.0f}%: the family has no more room."
            )
        for name in dict.fromkeys(name for v in self.variants for name in v.positions):
            listed = Counter(v.positions.get(name, "") for v in self.variants)
            least, most = min(listed.values()), max(listed.values())
            lines.append(f"{name}: {len(listed)} different, each {least} to {most} times.")
        common = Counter(entry for key in keys for entry in key)
        guessed = [(e, n) for e, n in common.most_common(50) if n > GUESSABLE * len(keys) and len(keys) > 4]
        for entry, n in guessed[:8]:
            lines.append(f"Guessable: {entry} in {100 * n / len(keys):.0f}% of the variants.")
        if not guessed:
            lines.append(f"No answer is the same in more than {100 * GUESSABLE:.0f}% of the variants.")
        return lines

    def _misconceptions(self) -> list[str]:
        separations = [variant.apart for variant in self.variants if variant.apart]
        if not separations:
            return []
        nearest = min(apart.nearest for apart in separations)
        lines = [
            f"{separations[0].core} core misconceptions of the {separations[0].wrongs} that are possible here.",
            "The nearest that two core misconceptions, or one and the truth, come to each other where they first show: "
            f"{nearest:.3f} (at least {LEAST} wanted).",
        ]
        lines += _counted("Cannot be seen", [apart.invisible for apart in separations])
        lines += _counted("The same at their first step", [apart.collisions for apart in separations])
        return lines + _counted("Never told apart", [apart.never for apart in separations])


def _counted(what: str, lists: Sequence[Sequence[str]]) -> list[str]:
    """What stands in the lists, with the share of the lists where it does not stand in all."""
    counted = Counter(name for names in lists for name in names)
    told = [name if n == len(lists) else f"{name} ({100 * n / len(lists):.0f}%)" for name, n in sorted(counted.items())]
    return [f"{what}: {', '.join(told)}."] if told else []


def stress(
    spec: Spec,
    count: int,
    dice: Dice,
    step: Callable[[object], None] = lambda variant: None,
    crew: Crew | None = None,
) -> Stress:
    """Draw, make and prove `count` variants, by a crew if there is one; beyond a hundred, keys may overlap anyhow."""
    tally, tried, seconds = Tally(), [], []
    start = perf_counter()
    for variant in _tried(spec, count, dice, tally, OVERLAP[spec.level] if count <= MOST_COMPARED else 1.0, crew):
        now = perf_counter()
        seconds.append(now - start)
        start = now
        tried.append(variant)
        step(variant)
    return Stress(spec, tuple(tried), tuple(seconds), tally)


def _tried(spec: Spec, count: int, dice: Dice, tally: Tally, overlap: float, crew: Crew | None) -> Iterator[Tried]:
    if crew is None or crew.alone:
        yield from map(Tried.of, islice(pool(spec, dice, tally, overlap), count))
        return
    contents = enumerate(chosen_contents(spec, dice, count, tally, overlap), 1)
    jobs = ((f"variant {number}", content) for number, content in contents)
    yield from (read(Tried, said) for _, said in crew.in_order(TRY, {"type": spec.type}, jobs))
