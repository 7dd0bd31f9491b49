"""Finds the families that are kept in symattn/teaching/fairness/families, each longer than a sheet may wait for it.

    python docs/make/families.py [MECHANISM …] [--only PATTERN]

What is found there already stays as it is; a family that is to be found anew is deleted first.  With `--only`, those
alone in whose titles the pattern is found: "n=4 ", "starter e$".
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice, product, zip_longest
from pathlib import Path
from typing import Any

from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.teaching import pool
from symattn.teaching.fairness import family
from symattn.teaching.pool import Drawn, Tally, choose
from symattn.teaching.problems import Spec, derived, problem_type
from symattn.teaching.problems.derived import kind_of, thawed

FOLDER = Path(__file__).parents[2] / "symattn" / "teaching" / "fairness" / "families"

MANY, SOME = 60, 24
"""How many members a family is to have: of the usual sizes, and of others."""

OVERLAP = 0.45
"""Where even the least alike of so many draws has more in common with another, a family ends."""

LONGER, FIRST = 2, 12
"""How many times as long as for a sheet is searched, and among how many the one is chosen that hides least."""

DRAWS, ORDERS = 4, 40
"""How many members are tried, each in so many orders, until the one least like the others will do."""

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
    if of_attention:
        stated += [{"level": level, "softmax": softmax} for level, softmax in product(LEVELS, SOFTMAX[1:])]
        stated += [{"level": level, "sizes": sizes} for level, sizes in product(LEVELS[1:], (*one_other, *alike))]
        if "d_model" in chosen.letters and chosen.defaults.get("mask") != "causal":
            stated += [{"settings": {"mask": "causal"}}]
    for each in stated:
        with suppress(InputError):  # heads that do not go into these widths, and the like
            yield full.spec({"mechanism": name, **each})


def found(spec: Spec) -> list[str]:
    """The members of a family as lines, in an order in which the first have least in common."""
    members: list[str] = []
    tally = Tally()
    most = MANY if not spec.sizes and kind_of(spec).is_found_backwards else SOME
    try:
        for candidate in islice(choose(spec, Drawn(spec, Dice.seeded(1)), tally), most):
            if tally.alike and tally.alike[-1] > OVERLAP:
                break
            members.append(family.written_member(thawed(candidate.content.given)))
    except InputError as error:
        print(f"  {error}", flush=True)
    return members


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", metavar="MECHANISM", help="all, if none is named")
    arguments.add_argument("--only", default="", metavar="PATTERN", help="families in whose titles this is found")
    asked = arguments.parse_args()
    family._Backwards.numbers *= LONGER * FIRST  # for all of the first
    family.SIBLING *= LONGER
    family._Forwards.numbers *= LONGER
    family.SEVERAL, family.PARENTS = MANY, FIRST
    pool.ENOUGH_DRAWS, pool.FEW_DRAWS, derived.RELABELLINGS = DRAWS, DRAWS, ORDERS
    FOLDER.mkdir(exist_ok=True)
    names = asked.names or [name for name in mechanisms() if name != "custom"]
    for spec in chain.from_iterable(zip_longest(*map(wanted, names))):  # the usual sizes of all first
        if spec is None or family.kept(kind := kind_of(spec)) or not re.search(asked.only, kind.title):
            continue
        members = found(spec)
        print(f"{spec.mechanism}: {kind.title}: {len(members)}", flush=True)
        if len(members) > 1:
            file = FOLDER / f"{spec.mechanism}.txt"
            before = file.read_text(encoding="utf-8") + "\n" if file.exists() else ""
            file.write_text(before + "\n".join((kind.title, *members)) + "\n", encoding="utf-8")
            family._kept.cache_clear()


if __name__ == "__main__":
    main()
