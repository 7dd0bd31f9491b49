"""Finds the families that are kept in symattn/teaching/fairness/families, each longer than a sheet may wait for it.

    python docs/make/families.py [MECHANISM …]

What is found there already stays as it is; a family that is to be found anew is deleted first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain, product, zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.teaching import pool
from symattn.teaching.fairness import family, search
from symattn.teaching.pool import Drawn, Tally, choose
from symattn.teaching.problems import Spec, derived, problem_type
from symattn.teaching.problems.derived import kind_of, thawed

FOLDER = ROOT / "symattn" / "teaching" / "fairness" / "families"

MEMBERS, BOUND = 24, 48
"""How many members a family is to have; more where tokens are bound to their places, so that fewer orders are left."""

LONGER = 8
"""How many times as long as for a sheet is searched."""

DRAWS, ORDERS = 100, 60
"""How many members are tried, each in so many orders, until the one least like the others will do."""

FEW = 8
"""With fewer members another seed is tried."""

LEVELS = ("standard", "starter", "long")
SOFTMAX = ("e", "base 2", "base 3", "equal")
SIZES = (2, 3, 4, 5, 6)
LARGE = (7, 8)
"""Of plain attention, self-attention and causal self-attention."""


def wanted(name: str) -> Iterator[Spec]:
    """The usual sizes with all kinds of weights, and all sizes alike, on every level."""
    full, chosen = problem_type("full"), mechanism(name)
    levels = LEVELS if chosen.is_attention and "A" not in chosen.givens else LEVELS[:1]
    for level in levels:
        for softmax in SOFTMAX if levels is LEVELS else SOFTMAX[:1]:
            yield full.spec({"mechanism": name, "level": level, "softmax": softmax})
    sizes = (*SIZES, *LARGE) if levels is LEVELS else SIZES
    for level, size in product(levels, sizes):
        try:
            yield full.spec({"mechanism": name, "level": level, "sizes": dict.fromkeys(chosen.letters, size)})
        except InputError:  # heads that do not go into these widths, and the like
            continue


def found(spec: Spec) -> list[str]:
    """The members of the best of a few families, as lines: as many as there are before keys overlap too much."""
    best: list[str] = []
    for seed in (1, 2):
        members: list[str] = []
        tally = Tally()
        try:
            drawn = Drawn(spec, Dice.seeded(seed))
            free = drawn.family.free.keys()
            most = MEMBERS if free & {"n", "m"} else BOUND
            for candidate in choose(spec, drawn, tally):
                if tally.room is not None:
                    break
                members.append(family.written_member(thawed(candidate.content.given)))
                if len(members) == most:
                    return members
        except InputError as error:
            print(f"  {error}", flush=True)
        best = max(best, members, key=len)
        if not best or len(best) >= FEW:
            break
    return best


def main(names: list[str]) -> None:
    search.EFFORT.update({name: LONGER * steps for name, steps in search.EFFORT.items()})
    family.DRAWING *= LONGER
    pool.ENOUGH_DRAWS, derived.RELABELLINGS = DRAWS, ORDERS
    FOLDER.mkdir(exist_ok=True)
    for spec in chain.from_iterable(zip_longest(*map(wanted, names))):  # the usual sizes of all first
        if spec is None or family.kept(kind := kind_of(spec)):
            continue
        members = found(spec)
        print(f"{spec.mechanism}: {kind.title}: {len(members)}", flush=True)
        if len(members) > 1:
            file = FOLDER / f"{spec.mechanism}.txt"
            before = file.read_text(encoding="utf-8") + "\n" if file.exists() else ""
            file.write_text(before + "\n".join((kind.title, *members)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or [name for name in mechanisms() if name != "custom"])
