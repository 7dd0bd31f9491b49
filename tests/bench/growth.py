"""Exact attention, n = d = 2 … 64, beside integers and dictionaries with nothing round them, and beside floats.

    python tests/bench/growth.py [2 4 8 …]

Milliseconds of processor time, the least of several runs, with the ratio to the prototype and the growth from half the
size (8 is cubic).  Entries are whole numbers from −3 to 3.
"""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from symattn.api import derive


def main():
    sizes = [int(n) for n in sys.argv[1:]] or [2, 4, 8, 16, 32, 64]
    print("    n   symattn prototype     NumPy  symattn/prototype  growth")
    before = 0.0
    for n in sizes:
        rng = Random(n)
        Q, K, V = ([[rng.randint(-3, 3) for _ in range(n)] for _ in range(n)] for _ in range(3))
        arrays = [np.array(m, dtype=float) for m in (Q, K, V)]
        ours = least(partial(derive, "attention", Q=Q, K=K, V=V), n)
        plain = least(partial(prototype, Q, K, V), n)
        floats = least(partial(in_floats, *arrays), n)
        growth = f"{ours / before:6.1f}" if before else ""
        print(f"{n:5}{ours:10.2f}{plain:10.2f}{floats:10.3f}{ours / plain:19.1f}  {growth}")
        before = ours


def prototype(Q, K, V):
    """The numerators of Z by their exponents in units of 1/√d; the denominator of a row is the sum of its numbers."""
    columns = list(zip(*V, strict=True))
    found = []
    for q in Q:
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) for k in K]
        row = []
        for column in columns:
            terms = {}
            for s, v in zip(scores, column, strict=True):
                terms[s] = terms.get(s, 0) + v
            row.append(terms)
        found.append(row)
    return found


def in_floats(Q, K, V):
    powers = np.exp(Q @ K.T / math.sqrt(len(Q[0])))
    return powers / powers.sum(axis=1, keepdims=True) @ V


def least(work, n):
    found = []
    for _ in range(3 if n > 16 else 20):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return 1000 * min(found)


if __name__ == "__main__":
    main()
