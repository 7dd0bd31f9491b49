"""A class of scripts on paper, five mistakes each, typed in full and by exception.

Scripts are worked out here by SymPy, step by step, each step from the lines before it as this student has them.
"""

import csv
import json
import random
from dataclasses import dataclass

import sympy
from exams import frozen

from symattn.marking.grading.source import papers

STUDENTS, MISTAKES = 30, 5
EXAM = """
title = "Midterm"
variants = 3
class = "class.csv"

[[question]]
type = "full"
mechanism = "attention"
level = "starter"
scale = "sqrt(d_k)"
"""
STEPS = ("S", "S'", "A", "Z")


def made_exam(folder, more=""):
    return frozen(folder, EXAM + more, [(f"Student {k}", f"s{k:03}") for k in range(1, STUDENTS + 1)], seed=11)


@dataclass(frozen=True)
class Script:
    """What one student wrote, and how a teacher types what differs: both say the same."""

    steps: dict[str, list[list[str]]]
    differs: str


def script(question, rng):
    """Somebody with five mistakes: wrong entries anywhere, perhaps S copied into S′, perhaps a blank box of Z."""
    Q, K, V = (
        sympy.Matrix([[sympy.Rational(str(x)) for x in row] for row in question.problem.givens[n].rows]) for n in "QKV"
    )
    kinds = rng.choices(["slip", "copied", "blank"], [10, 1, 1], k=MISTAKES)
    copied, blanks = "copied" in kinds, kinds.count("blank")
    n, d_v = K.rows, V.cols
    slips = {}
    boxes = [(s, i, j) for s in STEPS for i in range(n) for j in range(d_v if s == "Z" else n)]
    if copied:
        boxes = [box for box in boxes if box[0] != "S'"]
    chosen = rng.sample(boxes, MISTAKES - copied - blanks)
    left = [box for box in boxes if box[0] == "Z" and box not in chosen]
    blank = rng.sample(left, blanks)
    said = ["S'=S"] * copied
    steps = {}
    before = sympy.Matrix()
    for name in STEPS:
        if name == "S":
            M = Q * K.T
        elif name == "S'":
            M = before.copy() if copied else before / sympy.sqrt(Q.cols)
        elif name == "A":
            powers = before.applyfunc(sympy.exp)
            M = sympy.Matrix(n, n, lambda i, j, p=powers: p[i, j] / sum(p[i, :]))
        else:
            M = before * V
        for step, i, j in chosen:
            if step == name:
                off = rng.choice([-2, -1, 1, 2])
                typed = {"S": f"{M[i, j] + off}", "A": f".{rng.randint(1, 9)}"}.get(name, f"{float(M[i, j]) + off:.1f}")
                said.append(f"{name}{i + 1}{j + 1}={typed}")
                slips[step, i, j], M[i, j] = typed, sympy.Rational(typed)
        steps[name] = [
            [slips.get((name, i, j), str(M[i, j]).replace("E", "e")) for j in range(M.cols)] for i in range(M.rows)
        ]
        before = M
    for step, i, j in blank:
        steps[step][i][j] = ""
        said.append(f"{step}{i + 1}{j + 1}=-")
    return Script(steps, "; ".join(said))


def made_class(exam, folder, count):
    """A file of every student in full, and one table of all by exception, with the scripts by id."""
    rng, known = random.Random(5), papers(exam)
    entrants = known.entrants[:count]
    scripts = {e.id: script(known.questions(e.sheet)[0], rng) for e in entrants}
    (folder / "submissions").mkdir()
    for entrant in entrants:
        data = {"sheet": entrant.sheet, "answers": scripts[entrant.id].steps}
        (folder / f"submissions/{entrant.stem}.json").write_text(json.dumps(data), "utf-8")
    with (folder / "class.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "differs"), *((id, one.differs) for id, one in scripts.items())])
    return scripts
