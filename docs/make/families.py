"""Finds the families that are kept in symattn/teaching/fairness/families, each longer than a sheet may wait for it.

    python docs/make/families.py [MECHANISM …] [--only PATTERN] [--seconds 60]

A family that has fewer members than it is to have is lengthened; after so many seconds of processor time it is kept as
far as it was found.  Where the search itself ended, or took too long for each, the family is marked as all that is
found, and without members as none, so that no sheet looks for more.  With `--only`, those alone in whose titles the
pattern is found: "n=4 ", "starter e$".
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, compress, product, zip_longest
from math import ceil, factorial, prod
from pathlib import Path
from time import process_time
from typing import Any

from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.teaching.fairness import family, search
from symattn.teaching.fairness.family import Kind, free_sizes
from symattn.teaching.fairness.features import work
from symattn.teaching.pool import OVERLAP as OVERLAP_OF
from symattn.teaching.pool import Keys
from symattn.teaching.problems import Spec, derived, problem_type
from symattn.teaching.problems.derived import kind_of
from symattn.teaching.problems.draws import Record

FOLDER = Path(__file__).parents[2] / "symattn" / "teaching" / "fairness" / "families"

MANY, SOME = 64, 24
"""How many members a family is to have: where orders are few, or tokens are bound to their places, or other orders are
not looked at when a key is too much like another one; and elsewhere."""

FEW_ORDERS, DRAWS = 100, 160
"""Orders of a member that are few, and how many draws the members in all their orders are to last for: once keys have
to be alike, each variant takes two."""

OVERLAP = 0.45
"""What two keys may have in common at most, where there are too few that differ as the level wants it."""

ORDERS = 40
"""In how many orders a member is tried, of which the one with least in common with the others is kept."""

LONGER, FIRST = 2, 12
"""How many times as long as for a sheet is searched, and among how many the one is chosen that hides least."""

LEVELS = ("standard", "starter", "long")
SOFTMAX = ("e", "base 2", "base 3", "equal")
SIZES = (2, 3, 4, 5, 6)
LARGE = (7, 8)
"""Of plain attention, self-attention and causal self-attention."""


def wanted(name: str) -> Iterator[Spec]:
    """The usual sizes, other numbers of tokens and features, and all sizes alike; of attention, on every level, and the
    usual sizes with all kinds of weights; with projections, which leave room for keys that differ, under a causal mask.
    """
    full, chosen = problem_type("full"), mechanism(name)
    of_attention = chosen.is_attention and "A" not in chosen.givens
    alike = [dict.fromkeys(chosen.letters, size) for size in ((*SIZES, *LARGE) if of_attention else SIZES)]
    one_other = [{letter: size} for letter, size in product(("n", "d_model"), SIZES) if letter in chosen.letters]
    stated: list[dict[str, Any]] = [{"level": level} for level in (LEVELS if of_attention else LEVELS[:1])]
    if of_attention:
        stated += [{"sizes": sizes} for sizes in one_other]
    stated += [{"sizes": sizes} for sizes in alike]
    if not of_attention:  # the starter level may change a setting, and so the numbers
        stated += [{"level": "starter", **more} for more in ({}, *({"sizes": sizes} for sizes in alike))]
    if of_attention:
        stated += [{"level": level, "softmax": softmax} for level, softmax in product(LEVELS, SOFTMAX[1:])]
        stated += [{"level": level, "sizes": sizes} for level, sizes in product(LEVELS[1:], (*one_other, *alike))]
        if "d_model" in chosen.letters and chosen.defaults.get("mask") != "causal":
            stated += [{"settings": {"mask": "causal"}}]
    for each in stated:
        with suppress(InputError):  # heads that do not go into these widths, and the like
            yield full.spec({"mechanism": name, **each})


class Lengthened:
    """A family as far as it is found: lines, in an order in which the first have least in common."""

    def __init__(self, spec: Spec, seconds: float) -> None:
        self.spec, self.kind, self.ends = spec, kind_of(spec), process_time() + seconds
        self.rng = Dice.seeded(1).rng("family", len(family.kept(self.kind)))
        self.lines, self.keys = list(family.kept(self.kind)), Keys()
        for line in self.lines:
            self.keys.add(derived.key(self._content(family.read_member(line))))
        self.is_all = not self._searched()
        if not self.kind.is_found_backwards:
            self.lines = self._equally_hard()

    def _searched(self) -> bool:
        """Whether the search was ended, and not by itself."""
        waiting: list[tuple[float, str, tuple[str, ...]]] = []
        most, many, fewest, was_ended = OVERLAP_OF[self.spec.level], SOME, FEWEST, False
        try:
            for member in search.searched(self.kind, self.rng, self.lines[: family.PARENTS]):
                free = free_sizes(self.kind.mechanism, self.kind.settings, member)
                many = many_of(self.kind, free)
                if not self.kind.mechanism.is_attention:
                    fewest = max(FEWEST, min(many, VARIANTS // orders_of(free)))
                alike, line, key = self._least_alike(member, free)
                if alike <= most:
                    self._add(line, key)
                elif line not in self.lines:
                    waiting.append((alike, line, key))
                was_ended = process_time() > self.ends or len(self.lines) >= many or len(waiting) > many
                if was_ended:
                    break
        except InputError as error:
            print(f"  {error}", flush=True)
        while waiting and len(self.lines) < many:
            alike, line, key = min((self.keys.likeness(key), line, key) for _, line, key in waiting)
            waiting = [one for one in waiting if one[1] != line]
            if alike <= OVERLAP or len(self.lines) < fewest:
                self._add(line, key)
        return was_ended

    def _equally_hard(self) -> list[str]:
        """The most members of which none is further from another than siblings may be (rules.md 4.8)."""
        worked_out = (self.kind.mechanism.run(family.read_member(line), self.kind.settings) for line in self.lines)
        works = list(map(work, worked_out))
        longest: list[str] = []
        for load, hard in product({one.load for one in works}, {one.hard for one in works}):
            highest = load * (1 + search.LIKE) / (1 - search.LIKE), hard + 2 * search.HARD
            fit = [load <= one.load <= highest[0] and hard <= one.hard <= highest[1] for one in works]
            longest = max(longest, list(compress(self.lines, fit)), key=len)
        return longest

    def _least_alike(self, member: family.Givens, free: Mapping[str, int]) -> tuple[float, str, tuple[str, ...]]:
        content = self._content(member)
        others = derived.relabellings(content, self.spec, derived.Family(free=free), self.rng)
        orders = ((key, make) for key, make in chain([(derived.key(content), lambda: content)], others))
        alike, _, key, make = min((self.keys.likeness(key), k, key, make) for k, (key, make) in enumerate(orders))
        return alike, family.written_member(self._upright(make())), key

    def _content(self, member: family.Givens) -> Record:
        members = iter([member])
        return derived.numbers(self.spec, derived.Family(members))

    def _upright(self, content: Record) -> family.Givens:
        return derived.thawed(content["given"])

    def _add(self, line: str, key: tuple[str, ...]) -> None:
        self.lines.append(line)
        self.keys.add(key)


AT_ONCE = 0.3
"""Seconds in which it may be said why there is none: nothing is kept then."""

TOO_LONG = 5
"""Seconds for a further member for which no sheet is to wait."""

FEWEST, VARIANTS = 8, 512
"""So many are kept whatever they have in common, and of all but attention as many as make so many variants in all
orders: of a few draws, one is taken."""


def is_long_enough(spec: Spec) -> bool:
    """Whether a family has as many members as it is to have, or all there are."""
    kind = kind_of(spec)
    if family.all_found(kind) or not (lines := family.kept(kind)):
        return family.all_found(kind)
    return len(lines) >= many_of(kind, free_sizes(kind.mechanism, kind.settings, family.read_member(lines[0])))


def many_of(kind: Kind, free: Mapping[str, int]) -> int:
    few = not {*family.TOKENS} & free.keys() or orders_of(free) < FEW_ORDERS or not kind.mechanism.is_attention
    return max(MANY, ceil(DRAWS / orders_of(free))) if few else SOME


def orders_of(free: Mapping[str, int]) -> int:
    return prod(map(factorial, free.values()))


def write(mechanism: str, families: Mapping[str, Sequence[str]]) -> None:
    text = "\n\n".join("\n".join((title, *lines)) for title, lines in families.items())
    (FOLDER / f"{mechanism}.txt").write_text(text + "\n", encoding="utf-8")
    family.families.cache_clear()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", metavar="MECHANISM", help="all, if none is named")
    arguments.add_argument("--only", default="", metavar="PATTERN", help="families in whose titles this is found")
    arguments.add_argument("--seconds", type=float, default=60, help="for each family")
    asked = arguments.parse_args()
    search._Backwards.numbers *= LONGER * FIRST  # for all of the first
    search.SIBLING *= LONGER
    search._Forwards.numbers *= LONGER * FIRST
    family.PARENTS = search.PARENTS = FIRST
    derived.RELABELLINGS = ORDERS
    FOLDER.mkdir(exist_ok=True)
    names = asked.names or [name for name in mechanisms() if name != "custom"]
    for spec in chain.from_iterable(zip_longest(*map(wanted, names))):  # the usual sizes of all first
        if spec is None or not re.search(asked.only, kind_of(spec).title) or is_long_enough(spec):
            continue
        kind, started = kind_of(spec), process_time()
        before, longer = len(family.kept(kind)), Lengthened(spec, asked.seconds)
        took = process_time() - started
        if not longer.lines and took < AT_ONCE:
            continue
        is_all = longer.is_all or took > TOO_LONG * (len(longer.lines) - before)
        title, mark = kind.title, [family.ALL_FOUND] * is_all
        found = f"{before} to {len(longer.lines)}{' (all)' * is_all}"
        print(f"{spec.mechanism}: {title}: {found} in {took:.0f} s", flush=True)
        write(spec.mechanism, {**family.families(spec.mechanism), title: [*longer.lines, *mark]})


if __name__ == "__main__":
    main()
