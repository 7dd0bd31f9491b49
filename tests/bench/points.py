"""Questions for any points: the key gets everything, whatever is wrong costs something, notes say what is done.

    python tests/bench/points.py [--seed 1] [--types full,faded] [--minutes 20] [--parts 3] [--every-value]

Takes every type of problem with every mechanism that it accepts, and types that draw their items several times, at one
point, at as many as there are lines, at its own, at twice as many, and at some between; or at every value.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "marking"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from test_points import law_of_notes, law_of_points

import symattn
from symattn.derivation.mechanisms import mechanisms
from symattn.errors import InputError
from symattn.teaching.problems import problem_types
from symattn.teaching.question import marked_together

DRAWN = 4
"""How often a type is drawn without a mechanism."""

POLICIES = ("ecf", "ib", "uk", "strict")


def questions(types, seed):
    """Every type with every mechanism that it takes, no question twice: some types set the same with any mechanism."""
    for name in types:
        seen = set[tuple[str, ...]]()
        for mechanism in ("", *mechanisms()):
            for draw in range(1 if mechanism else DRAWN):
                try:
                    [sheet] = symattn.worksheet(mechanism, problem=name, seed=seed + draw)
                except InputError:  # not a mechanism of this type, or none was named
                    break
                except Exception as error:  # which is no answer to anybody
                    print(f"FAILED {name} {mechanism} --seed {seed + draw}: {type(error).__name__}: {error}")
                    break
                entries = tuple(sheet.question.entries())
                if entries not in seen:
                    yield f"{name} {mechanism} --seed {seed + draw}", sheet.question
                seen.add(entries)


def values(q, every, rng):
    """The points that a question is tried with."""
    if every:
        return list(range(1, 2 * q.marks + 1))
    lines = sum(any(part.marks for part in line) for line in marked_together(q.parts))
    between = rng.randint(min(lines, q.marks), q.marks), rng.randint(q.marks, 2 * q.marks)
    some = {1, rng.randint(1, lines), lines, q.marks, 2 * q.marks, *between}
    return sorted(points for points in some if points <= 2 * q.marks)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--types", default=",".join(problem_types()), help="in this order")
    arguments.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    arguments.add_argument(
        "--parts", type=int, default=3, help="how many answers are wrong for each value, one at a time"
    )
    arguments.add_argument("--every-value", action="store_true", help="all points from 1 to twice its own")
    asked = arguments.parse_args()
    end, counts = time.monotonic() + 60 * asked.minutes, Counter[str]()
    for name, q in questions(asked.types.split(","), asked.seed):
        rng, before = Random(f"{asked.seed} {name}"), counts["scripts"]
        counts["questions"] += 1
        for points in values(q, asked.every_value, rng):
            if time.monotonic() > end:
                break
            counts["values of points"] += 1
            policy = rng.choice(POLICIES)
            for law in ("scripts", "notes"):
                try:
                    if law == "scripts":
                        counts[law] += law_of_points(q, points, rng, policies=(policy,), parts=asked.parts)
                    else:
                        counts[law] += law_of_notes(q, points, rng, asked.parts)
                except Exception as error:
                    counts["failed"] += 1
                    says = str(error).splitlines()[0] if str(error) else ""
                    print(f"FAILED {name}, {points} of {q.marks} points, {law}: {type(error).__name__}: {says}")
        print(f"{name}: {counts['scripts'] - before} scripts", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
