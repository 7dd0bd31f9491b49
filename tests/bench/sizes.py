"""What a first, a tenth and a sixtieth variant cost, for every mechanism and type of problem, size and level.

    python tests/bench/sizes.py [--variants 60] [--only TEXT] [--level standard] [--limit 20]

Seconds of processor time for choosing alone, and what is refused, in which time, where plain SymPy takes 100 ms for a
sheet in the same run.  The law is that the first comes within two seconds or is refused within one, and that the
sixtieth costs at most 1.5 times the tenth.  An attempt is ended after `--limit` seconds of this machine.
"""

import argparse
import signal
import sys
from collections import Counter
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[2]))

from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.teaching.pool import Drawn, Tally, choose
from symattn.teaching.problems import problem_type, problem_types
from tests.bench.speed import each, plain_sympy

FIRST, REFUSED, GROWTH = 2.0, 1.0, 1.5
NEAR = 5
"""So many variants around the tenth, and the last ones, are averaged."""


class TooLongError(Exception):
    pass


def too_long(number, frame):
    raise TooLongError


def asked(level):
    """Every mechanism with the usual sizes and with all sizes alike, and every other type of problem."""
    for name in mechanisms():
        if name == "custom":
            continue
        letters = mechanism(name).letters
        for size in (None, 2, 3, 4, 5, 6):
            stated = {"mechanism": name, "level": level}
            if size:
                stated["sizes"] = dict.fromkeys(letters, size)
            try:
                yield f"{name} {size or 'usual'}", problem_type("full").spec(stated)
            except InputError:  # heads that do not go into these widths, and the like
                continue
    for name in problem_types():
        if name != "full":
            yield f"{name}, a type", problem_type(name).spec({"level": level})


def measured(spec, variants, limit, unit):
    """Seconds for the first variant, for one about the tenth, and for one of the last; or what was said."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    start, times = process_time(), []

    def taken():
        return (process_time() - start) / unit

    try:
        chosen = choose(spec, Drawn(spec, Dice.seeded(7)), Tally())
        for _ in range(variants):
            next(chosen)
            times.append(taken())
    except InputError as error:
        return {"refused": taken(), "after": len(times), "said": str(error)}
    except TooLongError:
        return {"ended": taken(), "after": len(times), **({"first": times[0]} if times else {})}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if variants < 10 + NEAR:
        return {"first": times[0]}
    tenth = (times[9 + NEAR] - times[9 - NEAR]) / (2 * NEAR)
    last = (times[-1] - times[-1 - NEAR]) / NEAR
    return {"first": times[0], "tenth": tenth, "last": last}


def verdict(found):
    """Which part of the law does not hold; "" if all of it does."""
    if float(found.get("first", found.get("ended", 0))) > FIRST:
        return "slow"
    if "ended" in found:
        return "not ended"
    if "refused" in found:
        return "refused" if float(found["refused"]) <= REFUSED or found["after"] else "refused late"
    few = 0.02  # of a second, which is little whatever it grows from
    return "grows" if float(found.get("last", 0)) > max(GROWTH * float(found.get("tenth", 0)), few) else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variants", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--level", default="standard")
    parser.add_argument("--limit", type=float, default=20)
    given = parser.parse_args()
    signal.signal(signal.SIGPROF, too_long)
    unit = each(plain_sympy, 5) / 100
    print(f"plain SymPy takes {100 * unit:.1f} ms for a sheet")
    counted = Counter()
    for name, spec in asked(given.level):
        if given.only not in name:
            continue
        found = measured(spec, given.variants, given.limit, unit)
        held = verdict(found)
        counted[held or "holds"] += 1
        shown = (f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in found.items())
        print(f"{name:36} {held:12} {', '.join(shown)[:160]}", flush=True)
    print(dict(counted))


if __name__ == "__main__":
    main()
