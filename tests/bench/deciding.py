"""How long one entry takes: reading what was typed, and deciding whether it is the key's, right or wrong.

    python tests/bench/deciding.py [--seeds 10] [--slowest 5]

Every form that students write, of the weights and outputs of random derivations, and near misses of each: a fraction
of 1e-12 or 1e-60 added, an exponent or a value off by so much.  Each text is decided once, in CPU time of its own
thread, so that other processes do not count.  SymPy is warmed up before, and the garbage collector, which stays on,
need not look through the answers that wait.  The goal: median < 1 ms, 99 of 100 < 10 ms.
"""

import argparse
import gc
import sys
import time
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parent.parent / "marking"))
from written_forms import FORMS, NEAR_MISSES, PROBLEMS, entries, one_fraction

from symattn.api import worksheet
from symattn.exact import Value, decimal_text
from symattn.exact.reading import decide_reading, read
from symattn.marking.marker.windows import holds

GOALS = {"median": 1.0, "p99": 10.0}  # ms
PLACES = 4

Case = tuple[str, str, str, Value, bool]
"""Form, what is wrong with it ("right" if nothing), the text, the key, whether it is right."""


def cases(seeds):
    for seed in range(1, seeds + 1):
        yield from integers(seed)
        for kind in PROBLEMS:
            for entry in entries(kind, seed):
                yield from forms(entry)
                yield from decimals(entry)


def integers(seed):
    [sheet] = worksheet(seed=seed)
    for name in ("Q", "K", "V", "S"):
        for x in sheet.problem[name].result:
            yield "plain integer", "right", str(x), x, True
            yield "plain integer", "1 too large", str(x + 1), x, False
            for places in (12, 60):
                yield "plain integer", f"a fraction added, 1e-{places}", f"{x} + 1/10^{places}", x, False


def forms(entry):
    written = dict(FORMS)
    if entry.base:
        written["one fraction"] = one_fraction
    for name, form in written.items():
        yield name, "right", form(entry).text, entry.truth, True
        for miss, spoil in NEAR_MISSES.items():
            if form is one_fraction and miss != "a fraction added":
                continue
            for places in (12, 60):
                yield name, f"{miss}, 1e-{places}", spoil(entry, form, places).text, entry.truth, False


def decimals(entry):
    text = decimal_text(entry.truth, PLACES)
    next_text = decimal_text(Fraction(text) + Fraction(1, 10**PLACES), PLACES)
    yield "decimal", "right", text, entry.truth, True
    yield "decimal", "1 unit off", next_text, entry.truth, False


def verdict(form, text, truth):
    """What marking asks of one entry."""
    reading = read(text)
    if form == "decimal":
        return holds(truth, reading.value, Fraction(1, 10**PLACES), "nearest")[0]
    return decide_reading(reading, truth).equal


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def row(name, times):
    return (
        f"{name:<34} {len(times):>7} {median(times):>9.3f} {percentile(times, 0.9):>9.3f} "
        f"{percentile(times, 0.99):>9.3f} {max(times):>9.3f}"
    )


def table(title, groups):
    print(f"\n{title:<34} {'entries':>7} {'median':>9} {'p90':>9} {'p99':>9} {'slowest':>9}   (ms)")
    for name, times in groups.items():
        print(row(name, times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="derivations of each kind")
    parser.add_argument("--slowest", type=int, default=5, help="how many of the slowest entries are shown")
    options = parser.parse_args()

    by_form, by_miss, both = (defaultdict[str, list[float]](list) for _ in range(3))
    slowest = []
    wrong = []
    waiting = list(cases(options.seeds))
    read("ln(2)/3 + e^(e^2)").evaluate()
    gc.collect()
    gc.freeze()
    for form, miss, text, truth, right in waiting:
        start = time.thread_time()
        said = verdict(form, text, truth)
        spent = (time.thread_time() - start) * 1000
        if said is not right:
            wrong.append((form, miss, text, said))
        by_form[f"{form}, {'right' if right else 'wrong'}"].append(spent)
        by_miss[miss].append(spent)
        both["right answers" if right else "wrong answers"].append(spent)
        slowest.append((spent, form, miss, text))

    table("By form", by_form)
    table("By what is wrong", by_miss)
    both["all"] = [t for times in both.values() for t in times]
    table("Total", both)
    print(f"\nThe {options.slowest} slowest:")
    for spent, form, miss, text in sorted(slowest, reverse=True)[: options.slowest]:
        print(f"{spent:>9.3f} ms  {form}; {miss}: {text if len(text) <= 200 else text[:200] + '…'}")
    print(f"\nWrongly decided or undecided: {len(wrong)}")
    for line in wrong[:20]:
        print("  ", *line)
    met = all(
        median(times) < GOALS["median"] and percentile(times, 0.99) < GOALS["p99"]
        for times in (both["right answers"], both["wrong answers"])
    )
    print(f"Median < {GOALS['median']:g} ms and p99 < {GOALS['p99']:g} ms, right or wrong: {'yes' if met else 'NO'}")
    sys.exit(0 if met and not wrong else 1)


if __name__ == "__main__":
    main()
