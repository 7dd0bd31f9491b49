"""Worksheets per second, stage by stage, beside what this machine could do at all.

    python tests/bench/throughput.py [--limits PATH/TO/limit.py] [-n 60]

Machines are noisy and differ; what counts is the ratio to the limits measured in the same run.  `--limits` runs a
script that prints such limits (name, value, unit) in a process of its own; without it, the two limits that matter
most are measured here: integer products alone, and writing the bytes of the finished pages alone.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import symattn.derivation.mechanisms as mechanisms
from symattn.api import make_recipe
from symattn.exact import decide, decimal_text, divide, exponential
from symattn.exact.reading import read
from symattn.page.notation import load_notation
from symattn.teaching.explanation import question_document
from symattn.teaching.fairness import self_check
from symattn.teaching.sheets import render, variant

SIZES = {"n": 4, "d_model": 4, "d_k": 4, "d_v": 4}


def best(work: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of several times, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def entries() -> None:
    """What one entry costs: reading it, deciding whether it is right, rounding it."""
    rng = random.Random(1)
    rows = [[rng.randint(-4, 4) for _ in range(4)] for _ in range(100)]
    typed = [f"e^{row[0]}/({' + '.join(f'e^({s})' for s in row)})" for row in rows]
    truths = [
        divide(exponential(row[0] + 3), sum((exponential(s + 3) for s in row[1:]), exponential(row[0] + 3)))
        for row in rows
    ]
    near = [truth + Fraction(1, 10**60) for truth in truths]
    values = [read(text).value for text in typed]
    works: dict[str, Callable[[], object]] = {
        "read a typed weight": lambda: [read(text).value for text in typed],
        "decide: equal, written otherwise": lambda: [decide(v, t) for v, t in zip(values, truths, strict=True)],
        "decide: wrong by 1e-60": lambda: [decide(v, t) for v, t in zip(values, near, strict=True)],
        "round to 4 places, proved": lambda: [decimal_text(t, 4) for t in truths],
    }
    print("\nOne entry of 4 terms; microseconds each")
    for name, work in works.items():
        print(f"{name:<42} {best(work) / len(rows) * 1e6:>10.1f} µs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", type=Path, default=Path("../shared/bench/limit.py"))
    parser.add_argument("-n", type=int, default=60)
    options = parser.parse_args()
    n = options.n

    recipe = make_recipe("self_attention", {}, sizes=SIZES, seed=1)
    notation = load_notation("standard")
    problems = [variant(recipe, notation, i) for i in range(1, n + 1)]
    worksheets = [question_document(p) for p in problems]
    keys = [question_document(p, solutions="key") for p in problems]
    chosen = mechanisms.mechanism("self_attention")
    pages = [render(key, "latex")[1] for key in keys]

    def products() -> None:
        for p in problems:
            x, wq, wk, wv = (p.derivation.value(g).rows for g in ("X", "W_Q", "W_K", "W_V"))
            q, k, _ = (
                [[sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*w, strict=True)] for row in x]
                for w in (wq, wk, wv)
            )
            [[sum(a * b for a, b in zip(row, other, strict=True)) for other in k] for row in q]

    def writing() -> None:
        with tempfile.TemporaryDirectory() as folder:
            for i, page in enumerate(pages):
                (Path(folder) / f"{i}.tex").write_bytes(page)

    stages: dict[str, Callable[[], object]] = {
        "limit: integer products Q, K, V, S": products,
        "limit: writing the finished LaTeX keys": writing,
        "draw a variant": lambda: [variant(recipe, notation, i) for i in range(1, n + 1)],
        "derive exactly": lambda: [chosen.run(p.givens, recipe.settings) for p in problems],
        "check by a second route": lambda: [self_check(p.derivation) for p in problems],
        "explain: worksheet": lambda: [question_document(p) for p in problems],
        "explain: key": lambda: [question_document(p, solutions="key") for p in problems],
        "write key: latex": lambda: [render(key, "latex") for key in keys],
        "write key: markdown": lambda: [render(key, "markdown") for key in keys],
        "write key: text": lambda: [render(key, "text") for key in keys],
        "write worksheet and key: pdf": lambda: [render(d, "pdf") for d in (*worksheets[:20], *keys[:20])],
    }
    print(f"{n} worksheets, n = d = 4, one process; milliseconds each, and how many a second")
    spent = 0.0
    for name, work in stages.items():
        count = 20 if name.endswith("pdf") else n
        seconds = best(work) / count
        if not name.startswith("limit"):
            spent += seconds
        print(f"{name:<42} {seconds * 1000:>10.3f} ms {1 / seconds:>10.0f} /s")
    print(f"{'all stages':<42} {spent * 1000:>10.3f} ms {1 / spent:>10.0f} /s")
    entries()
    if options.limits.is_file():
        print(f"\nLimits, from {options.limits.name}:")
        sys.stdout.flush()
        subprocess.run([sys.executable, str(options.limits), "200", "4", "4"], check=False)


if __name__ == "__main__":
    main()
