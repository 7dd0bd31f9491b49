"""Every value of every setting on every mechanism that has it, with one line wrong: is it marked?

    python tests/bench/settings_marked.py [--every 1] [--lines 1]

Says what stopped the marker, which wrong entry was accepted, and how many combinations a mechanism itself refuses.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "marking"))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from test_settings_marked import assert_marked, cases, derived

from symattn.errors import InputError


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--every", type=int, default=1, help="try every so many-th combination")
    arguments.add_argument("--lines", type=int, default=1, help="how many lines of each are wrong, one at a time")
    asked = arguments.parse_args()
    outcomes = Counter()
    for case in cases()[:: asked.every]:
        try:
            derived(*case)
        except InputError:
            outcomes["refused by the mechanism"] += 1
            continue
        except ValueError as error:  # a mechanism's own draw, with which this has nothing to do
            outcomes["not drawn"] += 1
            print(f"{case} is not drawn: {error}", flush=True)
            continue
        try:
            outcomes["wrong lines marked"] += assert_marked(*case, lines=asked.lines)
            outcomes["combinations marked"] += 1
        except Exception as error:
            outcomes["failed"] += 1
            print(f"{case}: {type(error).__name__}: {error}", flush=True)
        if outcomes.total() % 100 == 0:
            print(dict(outcomes), flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))


if __name__ == "__main__":
    main()
