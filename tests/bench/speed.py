"""What everyday work costs, beside its goal and beside what others take for theirs in the same run.

    python tests/bench/speed.py [--long] [--only TEXT] [--history FILE]

Milliseconds of processor time, those of child processes and of their orphans included; the least of several runs.
Machines differ and are noisy, so what counts is the ratio to plain SymPy, which derives the same sheet in the same run:
its column, the goals, and the change since the run before, are in these units.  `--long` adds what takes minutes.
"""

import argparse
import ctypes
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from operator import mul
from pathlib import Path

import numpy as np
import sympy as sp

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from symattn.api import derive, make_recipe
from symattn.derivation.misconceptions import replayed
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.submissions.entries import grid
from symattn.page.writers.compiling import COMPILER
from symattn.teaching.sheets import Setting, sheets, write_sheets
from tests.bench.by_hand import worksheet
from tests.marking.students import Style, copied, right_script

ROOT = Path(__file__).parents[2]
BYTECODE = tempfile.TemporaryDirectory()
SQUARE = {"n": 4, "d_model": 4, "d_k": 4, "d_v": 4}


PR_SET_CHILD_SUBREAPER = 36  # as Linux numbers it


def adopt_orphans():
    """Have processes whose parent ended first become children of this one, so that their time counts."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def spent():
    """Milliseconds of processor time that this process and its children have used."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1000 * (sum(one.ru_utime + one.ru_stime for one in used) + compiling())


def compiling():
    """Seconds of processor time of the process that compiles: no child's time is known before it has ended."""
    return time.clock_gettime(~COMPILER.pid << 3 | 2) if COMPILER.pid else 0.0  # its clock, as Linux numbers them


def least(work, repeats=5):
    """The least of several times."""
    times = []
    for _ in range(repeats):
        start = spent()
        work()
        times.append(spent() - start)
    return min(times)


def each(work, count, repeats=3):
    """Of so many small things done one after the other, what one costs."""

    def all_of_them():
        for _ in range(count):
            work()

    return least(all_of_them, repeats) / count


# ------------------------------------------------------------------------------------------------ what others take


DRAWS = random.Random(1)


def matrices(n, d_model, d, rng=DRAWS):
    """X, W^Q, W^K, W^V: others each time, for SymPy remembers what it has met."""
    return [
        [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]
        for rows, columns in ((n, d_model), (d_model, d), (d_model, d), (d_model, d))
    ]


def plain_sympy():
    """One sheet as anybody would write it with SymPy: every matrix and every product written out, as LaTeX."""
    x, wq, wk, wv = map(sp.Matrix, matrices(3, 5, 4))
    q, k, v = x * wq, x * wk, x * wv
    s = q * k.T
    scaled = s / sp.sqrt(4)
    powers = scaled.applyfunc(sp.exp)
    a = sp.Matrix(3, 3, lambda i, j: powers[i, j] / sum(powers.row(i)))
    for m in (x, wq, wk, wv, q, k, v, s, scaled, a, a * v):
        sp.latex(m)
    for left, right in ((x, wq), (x, wk), (x, wv), (q, k.T), (a, v)):
        for i in range(left.rows):
            for j in range(right.cols):
                terms = zip(left.row(i), right.col(j), strict=True)
                sp.latex(sp.Add(*(sp.Mul(*pair, evaluate=False) for pair in terms), evaluate=False))


def joined_strings():
    """The floor: integer products and their LaTeX by joining strings, with nothing proved and nothing chosen."""
    x, *weights = matrices(3, 5, 4)
    for w in weights:
        for row in x:
            for column in zip(*w, strict=True):
                r" + ".join(f"{a} \\cdot {b}" for a, b in zip(row, column, strict=True))
                str(sum(map(mul, row, column)))


def in_numpy():
    """The numbers alone, rounded."""
    x, wq, wk, wv = (np.array(m, dtype=float) for m in matrices(3, 5, 4))
    s = np.exp(x @ wq @ (x @ wk).T / math.sqrt(4))
    s / s.sum(axis=1, keepdims=True) @ (x @ wv)


QUOTED = {
    "CheckIt, a drill of scores": 4.1,
    "QuizGenerator 0.27.1, attention n = d = 4, rounded, Typst": 0.94,
    "QuizGenerator 0.27.1, the same as LaTeX": 53.5,
}
"""Measured elsewhere, without symattn's machine in the same run: orders of magnitude."""


# ------------------------------------------------------------------------------------------------ what symattn takes


def cold(*arguments, **variables):
    """A command in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return least(lambda: symattn(folder, *arguments, **variables), 3)


def symattn(folder, *arguments, **variables):
    """Run a command in a folder."""
    command = [sys.executable, "-m", "symattn", *arguments]
    subprocess.run(command, cwd=folder, env=environment() | variables, check=True, capture_output=True)


def environment():
    """In which the second run finds bytecode, as every run of an installed package does."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": BYTECODE.name}


def drawn(mechanism, form, count=8, families=5, **chosen):
    """One more variant of a set that has begun: drawn fairly, proved, sheet and key written.

    The mean over a few families, for in one it takes three times as long as in another.
    """
    taken = 0.0
    for seed in range(1, 1 + families):
        made = sheets(make_recipe(mechanism, seed=seed, **chosen), 1 + count)
        with tempfile.TemporaryDirectory() as folder:
            write_sheets(islice(made, 1), Path(folder) / "first", Setting([form]))
            taken += least(lambda: write_sheets(made, Path(folder) / "others", Setting([form])), 1)  # noqa: B023
    return taken / count / families


def pdf_page():
    """A page of finished worksheets and keys from their documents to PDF."""
    from pypdf import PdfReader

    made = list(sheets(make_recipe("self_attention", seed=5), 10))
    with tempfile.TemporaryDirectory() as folder:
        for sheet in made:  # what is kept of a sheet's documents is no part of writing them
            sheet.worksheet, sheet.key  # noqa: B018
        write_sheets(made[:1], Path(folder) / "first", Setting(["pdf"]))
        taken = least(lambda: write_sheets(made, Path(folder) / "all", Setting(["pdf"])), 3)
        return taken / sum(len(PdfReader(path).pages) for path in (Path(folder) / "all").glob("*.pdf"))


def derived(n):
    """Attention of n tokens, n wide, from integers of −3 … 3, exactly."""
    rng = random.Random(1)
    given = {name: [[rng.randint(-3, 3) for _ in range(n)] for _ in range(n)] for name in "QKV"}
    return least(lambda: derive("attention", **given), 3)


def marked(kind):
    """Marking one script of a question that was marked before; the median over scripts."""
    (sheet,) = sheets(make_recipe("self_attention", seed=5), 1)
    question = sheet.question
    right = right_script(question, Style())
    rng = random.Random(1)
    if kind == "right":
        attempts = [right] * 9
    elif kind == "misconception":
        attempts = [copied(question, wrong.derivation, Style()) for wrong in replayed(sheet.problem.derivation)]
    else:
        attempts = [
            Attempt(
                {
                    part: grid([[str(rng.randint(-9, 9)) for _ in row] for row in written.rows])
                    for part, written in right.answers.items()
                }
            )
            for _ in range(9)
        ]
    mark(question, attempts[0])
    times = sorted(least(lambda a=a: mark(question, a), 1) for a in attempts)
    return times[len(times) // 2]


EXAM = """
title = "Midterm"
variants = {papers}
class = "class.csv"

[[question]]
type = "full"
mechanism = "causal_self_attention"
points = 15

[[question]]
type = "choice"
mechanism = "self_attention"
points = 5

[[question]]
type = "gradient"
points = 10
"""

DIFFERS = (
    "Q1 C1", "Q1 C2; Q2(a)=A", "Q1 S12=7", "blank: Q3", "Q1 C3; blank: Q2",
    "all right", "Q1 Z11=3", "Q1 C5", "Q1 S'=S", "Q1 S12=7; blank: Q3",
)  # fmt: skip
"""From the key, what a class writes."""


def write_exam(folder, students, papers):
    """The files of an exam."""
    lines = (f"Student {k},{1000 + k}\n" for k in range(1, students + 1))
    (Path(folder) / "class.csv").write_text("name,id\n" + "".join(lines))
    (Path(folder) / "exam.toml").write_text(EXAM.format(papers=papers))


def exam(students, papers):
    """An exam with everything that is made of it, as a user gets it."""
    with tempfile.TemporaryDirectory() as folder:
        write_exam(folder, students, papers)
        return least(lambda: symattn(folder, "worksheet", "exam.toml", "--seed", "1", "--out", "out"), 1)


def feedback(form, students=20):
    """A script of a class that is marked from a table: feedback, exercises and their solutions, a summary."""
    with tempfile.TemporaryDirectory() as folder:
        write_exam(folder, students, 2)
        symattn(folder, "worksheet", "exam.toml", "--seed", "1", "--format", "markdown", "--out", "out")
        lines = (f"Student {k},{DIFFERS[k % len(DIFFERS)]}\n" for k in range(1, students + 1))
        (Path(folder) / "scripts.csv").write_text("name,differs\n" + "".join(lines))
        command = ("grade", "out/exam", "--entries", "scripts.csv", "--feedback", form, "--out")
        runs = iter(("first", "second"))
        return least(lambda: symattn(folder, *command, next(runs)), 2) / students


@dataclass(frozen=True)
class Row:
    """One line of the table.

    before    milliseconds that it took when this was first measured; 0: not measured
    goal      in plain SymPy's sheets
    """

    name: str
    before: int
    goal: float
    take: Callable[[], float]
    long: bool = False


def rows():
    sheet = ("worksheet", "self_attention", "--seed", "5", "--out", "out")
    many = (*sheet, "--jobs", "1")
    for form in ("markdown", "latex"):
        yield Row(f"a further variant, 3×5, {form}", 515, 0.25, lambda form=form: drawn("self_attention", form))
    yield Row(
        "a further variant, n = d = 4, markdown", 2154, 0.25, lambda: drawn("self_attention", "markdown", sizes=SQUARE)
    )
    yield Row("the first, cold, markdown", 2800, 4.5, lambda: cold(*sheet, "--format", "markdown"))
    yield Row("the first, cold, pdf", 3400, 6.5, lambda: cold(*sheet, "--format", "pdf"))
    for count, form, before, goal in (
        (30, "markdown", 18_000, 15),
        (30, "pdf", 32_000, 50),
        (300, "markdown", 0, 100),
        (1000, "markdown", 3_600_000, 300),
    ):
        yield Row(
            f"-n {count}, {form}", before, goal,
            lambda count=count, form=form: cold(*many, "-n", str(count), "--format", form), count > 30,
        )  # fmt: skip
    yield Row(
        "a drill of 2×3 scores", 63, 0.04,
        lambda: drawn("", "markdown", problem="drills", options={"step": "scores", "items": 1}),
    )  # fmt: skip
    yield Row("a page of PDF", 24, 0.15, pdf_page)
    for n, before, goal in ((16, 65, 0.11), (32, 961, 0.55), (64, 13_070, 2.7)):
        yield Row(f"derive attention, n = d = {n}", before, goal, lambda n=n: derived(n))
    yield Row("list, cold, nothing kept", 1547, 3, lambda: cold("list", SYMATTN_CACHE=""))
    yield Row("check, cold", 2700, 14, checked)
    for kind, before, goal in (("right", 12, 0.09), ("misconception", 45, 0.36), ("nonsense", 461, 1.8)):
        yield Row(f"marking, warm: {kind}", before, goal, lambda kind=kind: marked(kind))
    for form in ("pdf", "html"):
        yield Row(f"a script with its feedback, {form}", 197, 0.6, lambda form=form: feedback(form))
    for students, papers, goal in ((10, 10, 150), (100, 10, 600), (100, 100, 1500)):
        yield Row(
            f"exam of {students} students, {papers} papers, all files", 0, goal,
            lambda students=students, papers=papers: exam(students, papers), students > 10,
        )  # fmt: skip


def checked():
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "symattn"]
        make = ["worksheet", "self_attention", "--seed", "5", "--format", "markdown", "--out", "."]
        run = {"cwd": folder, "env": environment(), "capture_output": True}
        subprocess.run([*command, *make], check=True, **run)
        sheet = next(path for path in Path(folder).glob("*.md") if "key" not in path.name)
        return least(lambda: subprocess.run([*command, "check", sheet.name, sheet.name], **run), 3)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--long", action="store_true", help="hundreds of sheets, and exams for a hundred, as well")
    arguments.add_argument("--only", default="", metavar="TEXT", help="only lines in whose names this stands")
    arguments.add_argument("--history", type=Path, metavar="FILE", help="compare with the last run there, and add this")
    given = arguments.parse_args()

    adopt_orphans()
    plain = each(plain_sympy, 5)
    earlier = last_run(given.history)
    now = {}
    print(f"{'':<44}{'before':>10}{'now':>10} ms {'in plain SymPy':>14}{'goal':>9}{'since last run':>16}")
    for row in rows():
        if given.only not in row.name or (row.long and not given.long):
            continue
        taken = row.take()
        now[row.name] = taken / plain
        change = f"× {now[row.name] / earlier[row.name]:.2f}" if row.name in earlier else ""
        reached = "✓" if now[row.name] <= row.goal else " "
        before = f"{row.before:,}" if row.before else "–"
        print(
            f"{row.name:<44}{before:>10}{taken:>10,.1f} {reached}{taken / plain:>16.3f}{row.goal:>9,.5g}{change:>16}",
            flush=True,
        )
    print("\nin the same run")
    anchors = {"plain SymPy: derive and latex() of 3×5": plain, "joined strings": each(joined_strings, 200)}
    anchors["worksheet and key by hand: fractions, Jinja2"] = each(lambda: worksheet(DRAWS), 50)
    for name, value in {**anchors, "NumPy, rounded": each(in_numpy, 2000)}.items():
        print(f"{name:<61}{value:>10,.3f} ms {value / plain:>15.5f}")
    print("\nquoted")
    for name, value in QUOTED.items():
        print(f"{name:<61}{value:>10,.3f} ms")
    if given.history:
        with given.history.open("a", encoding="utf-8") as history:
            history.write(json.dumps({"at": time.strftime("%Y-%m-%d %H:%M"), "in plain SymPy": now}) + "\n")


def last_run(history):
    """What each line took in the last run that is written down, in units of plain SymPy."""
    found = {}
    if history is not None and history.is_file():
        for line in history.read_text("utf-8").splitlines():
            found.update(json.loads(line)["in plain SymPy"])
    return found


if __name__ == "__main__":
    main()
