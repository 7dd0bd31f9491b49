"""Scripts: what somebody might hand in for a question, built line by line and written in any form.

A *page* is a matrix of numbers, or of texts, as nested lists.  *Pages* by name are matrix by matrix with tokens as
rows, whatever the question's layout is; `laid` puts them where the question asks for them: turned for tokens as
columns, cut into the lines of single tokens for a derivation token by token.  So every wrong way is said once for all
layouts.
"""

import re
from collections import deque
from dataclasses import replace
from fractions import Fraction
from functools import cache

import sympy

from symattn.api import worksheet
from symattn.derivation.matrixwise import matrixwise
from symattn.exact import NEGATIVE_INFINITY, Matrix, Quotient, decimal_text, is_symbolic, to_sympy
from symattn.marking.attempt import Attempt, Entry, Grid, Grids, Ordered, Shaded, Shaped, Text, Ticked, Unreadable
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions.entries import entry, grid
from symattn.page.notation import load_notation
from symattn.teaching.derivation_question import question as full_question
from symattn.teaching.fairness.separation import Separation
from symattn.teaching.problem import Problem
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    MatrixAnswer,
    OrderAnswer,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
)

# ------------------------------------------------------------------------------------------------ questions


@cache
def drawn(mechanism="", seed=1, **chosen):
    """The question of a worksheet."""
    [sheet] = worksheet(mechanism, seed=seed, **chosen)
    return sheet.question


def asked(d, exact=True, places=4):
    """The full question of any derivation."""
    notation = load_notation("columns" if d.orientation == "columns" else "standard")
    return full_question(Problem("A variant", "", d, notation, exact=exact, places=places), {}, Separation(d, ()))


# ------------------------------------------------------------------------------------------------ pages


def page(matrix):
    return [list(row) for row in matrix.rows]


def turned(rows):
    """The transpose."""
    return [list(column) for column in zip(*rows, strict=True)]


def pages(d):
    """Every given and every step, matrix by matrix, tokens as rows."""
    d = matrixwise(d)
    matrices = {**d.givens, **{step.name: step.result for step in d}}
    found = {name: page(matrix) for name, matrix in matrices.items()}
    return found if d.orientation == "rows" else {name: turned(rows) for name, rows in found.items()}


def numbers_times(a, b):
    return a * b


def texts_times(a, b):
    return f"({a})*({b})"


def legible(value):
    """Exact as far as a person would write it out, else to 12 places."""
    if is_symbolic(value):
        return decimals(12)(value)
    text = exactly(value)
    return text if len(text) <= 400 else decimals(12)(value)


def laid(question, found, times=numbers_times):
    """Pages by the part of the question that asks for them; what is not among them is left out.

    The weighted values of a token are made from its weights and the values, unless the output was not made so.
    """
    asked = {}
    for part in question.parts:
        step = step_of(question, part)
        if step is not None and (rows := _line(derivation_of(question, part), step, found, times)) is not None:
            asked[part.name] = rows
    return asked


def derivation_of(question, part):
    """The derivation behind a part: its own, or the question's."""
    if isinstance(part.answer, MatrixAnswer) and part.answer.derivation is not None:
        return part.answer.derivation
    return question.problem.derivation


def step_of(question, part):
    """The step that a part asks for, if it is one of a derivation (and no given matrix)."""
    match part.answer:
        case StepAnswer(step) | EntriesAnswer(step, _):
            name = step
        case MatrixAnswer(_, derivation, step) if derivation is not None:
            name = step
        case _:
            return None
    return next((step for step in derivation_of(question, part) if step.name == name), None)


def _line(d, step, found, times):
    columns = d.orientation == "columns"
    if step.token is None:
        rows = found.get(step.name)
        return turned(rows) if rows is not None and columns else rows
    t = step.token - 1
    if step.role == "weighted":
        weights = found.get("A_rounded", found.get("A"))
        if weights is None or "V" not in found or t >= len(weights):
            return None
        if len(weights[t]) != len(found["V"]) or NEGATIVE_INFINITY in weights[t]:
            return None
        rows = [[times(a, v) for v in values] for a, values in zip(weights[t], found["V"], strict=True)]
        return turned(rows) if columns else rows
    rows = found.get(step.role)
    if rows is None or t >= len(rows):
        return None
    upright = columns or step.result.shape[1] == 1
    return turned([rows[t]]) if upright else [list(rows[t])]


def key_of(question):
    """The right matrix of every part that asks for one, as it is laid out there."""
    found = {}
    for part in question.parts:
        match part.answer:
            case StepAnswer(step) | EntriesAnswer(step, _):
                matrix = derivation_of(question, part).value(step)
                found[part.name] = page(matrix)
            case MatrixAnswer(value):
                found[part.name] = page(value)
    return found


# ------------------------------------------------------------------------------------------------ numbers as texts


def texts(pages, form=None):
    """Pages as they are typed into a file: every number in a form, else exactly."""
    return {name: [[(form or exactly)(x) for x in row] for row in rows] for name, rows in pages.items()}


def exactly(value):
    """The exact value as SymPy prints it: (3*exp(2) + 1)/(1 + exp(2)), -1/2, sqrt(3)/3; -∞ where that is meant."""
    if value is NEGATIVE_INFINITY:
        return "-∞"
    if isinstance(value, Quotient):
        return f"({_sympy_text(value.numerator)})/({_sympy_text(value.denominator)})"
    return _sympy_text(value)


def _sympy_text(value):
    text = sympy.sstr(to_sympy(value)).replace("**", "^")
    return re.sub(r"\bE\b", "e", text)


def decimals(places):
    """Rounded to so many places."""
    return lambda value: "-∞" if value is NEGATIVE_INFINITY else decimal_text(value, places)


def percent(places):
    """As a percentage with so many places; what is no rational multiple of itself is what it is."""
    return lambda value: "-∞" if value is NEGATIVE_INFINITY else f"{decimal_text(value * 100, places)} %"


def mixed(value):
    """Fractions above 1 as mixed numbers: 1 1/2."""
    if not isinstance(value, Fraction) or abs(value) < 1:
        return exactly(value)
    number, rest = divmod(abs(value), 1)
    return f"{'-' * (value < 0)}{number} {rest}"


def not_cancelled(value):
    """Rational numbers not cancelled: 6/3 for 2."""
    if not isinstance(value, int | Fraction):
        return exactly(value)
    q = Fraction(value)
    return f"{3 * q.numerator}/{3 * q.denominator}"


def terminating(value):
    """Rational numbers whose decimals end, as these decimals, all of them: 1/2 is 0.5, 3 is 3.0."""
    if not isinstance(value, int | Fraction):
        return exactly(value)
    for places in range(1, 8):
        if Fraction(value) * 10**places % 1 == 0:
            return decimal_text(value, places)
    return exactly(value)


def terminating_percent(value):
    """The same as percentages: 1/2 is 50 %."""
    if isinstance(value, int | Fraction) and Fraction(value) * 10**6 % 1 == 0:
        return f"{terminating(Fraction(value) * 100)} %"
    return exactly(value)


def without_zero(value):
    """.5 for 0.5."""
    return re.sub(r"(?<![0-9])0\.(?=[0-9])", ".", terminating(value))


EXACT_FORMS = {
    "SymPy's": exactly,
    "mixed numbers": mixed,
    "not cancelled": not_cancelled,
    "decimals that end": terminating,
    "percentages that end": terminating_percent,
    "no zero before the point": without_zero,
}
"""Forms that are the value itself, so that they cost nothing under any policy."""


def at_random(rng, forms):
    """Each entry in a form of its own."""
    return lambda value: forms[int(rng.random() * len(forms))](value)


# ------------------------------------------------------------------------------------------------ weights by hand


def unsimplified(found, last, *, shifted):
    """Weights and outputs as texts made of the last scores by hand, nothing worked out: e^(1)/(e^(1) + e^(-2)).

    `shifted`: with the largest score of each row taken off first.
    """
    weights, outputs = [], []
    values = found.get("V")
    for row in found[last]:
        seen = [x for x in row if x is not NEGATIVE_INFINITY]
        off = f" - ({_largest(seen)})" if shifted else ""
        powers = ["0" if x is NEGATIVE_INFINITY else f"e^({exactly(x)}{off})" for x in row]
        below = " + ".join(p for p in powers if p != "0")
        weights.append(["0" if p == "0" else f"{p}/({below})" for p in powers])
        if values:
            sums = [" + ".join(f"({exactly(v)})*{p}" for p, v in zip(powers, c, strict=True)) for c in turned(values)]
            outputs.append([f"({above})/({below})" for above in sums])
    return {"A": weights, "Z": outputs} if values else {"A": weights}


def log_sum_exp(scores):
    """Weights as e^(s - ln Σ e^s)."""
    found = []
    for row in scores:
        inside = " + ".join(f"e^({exactly(x)})" for x in row if x is not NEGATIVE_INFINITY)
        found.append(["0" if x is NEGATIVE_INFINITY else f"e^({exactly(x)} - ln({inside}))" for x in row])
    return found


def _largest(values):
    return exactly(max(values, key=lambda x: float(sympy.N(to_sympy(x), 30))))


# ------------------------------------------------------------------------------------------------ scripts


def script(
    question,
    written,
    form=exactly,
    *,
    decimal_mark=".",
    more=None,
    methods=frozenset(),
):
    """An attempt from what is written by part: values in a form, texts as they are, none for a blank.

    Entries that are printed are left blank; parts that ask for no matrix are answered rightly.
    """
    answers = {}
    for part in question.parts:
        if part.name in written:
            answers[part.name] = _grid(part, written[part.name], form, decimal_mark)
        elif part.name not in key_of(question):
            answers[part.name] = right_answer(part)
    extra = {name: _texts(rows, form, decimal_mark) for name, rows in (more or {}).items()}
    return Attempt(answers, extra, methods)


def key_script(question, form=exactly, decimal_mark="."):
    """Everything right, in one form."""
    return script(question, key_of(question), form, decimal_mark=decimal_mark)


def _grid(part, rows, form, mark):
    if isinstance(part.answer, EntriesAnswer):
        cells = part.answer.cells
        rows = [[x if (i, j) in cells else None for j, x in enumerate(row)] for i, row in enumerate(rows)]
    return _texts(rows, form, mark)


def _texts(rows, form, mark):
    def text(x):
        written = "" if x is None else x if isinstance(x, str) else form(x)
        return written.replace(".", ",") if mark == "," else written

    return grid([[text(x) for x in row] for row in rows], mark)


def right_answer(part):
    """The key of a part that asks for no matrix, as somebody would hand it in."""
    match part.answer:
        case ChoiceAnswer() as choice:
            return Ticked(choice.right)
        case CellsAnswer(_, cells):
            return Shaded(cells)
        case ShapeAnswer(shape):
            return Shaped(shape)
        case OrderAnswer(groups):
            return Ordered(groups)
        case WordAnswer(word):
            return Text(word)
        case RubricAnswer():
            return Text("Read by somebody.", part.points)
        case PropertyAnswer(model=model):
            return Grids({name: _texts(page(matrix), exactly, ".") for name, matrix in model.items()})
        case FormulaAnswer(value):
            return entry(_sympy_text(value), symbols=True)
    raise AssertionError(part.answer)


def with_entry(attempt, part, i, j, new):
    """The same with one entry changed."""
    said = attempt.answers[part]
    return Attempt({**attempt.answers, part: said.put(i, j, new)}, attempt.more, attempt.methods)


def without(attempt, *parts):
    """The same with nothing written for these parts."""
    return Attempt({k: v for k, v in attempt.answers.items() if k not in parts}, attempt.more, attempt.methods)


# ------------------------------------------------------------------------------------------------ other keys


def other_answer(answer):
    """An answer to the same request that is another one, with other reasons."""
    match answer:
        case OrderAnswer(groups):
            return OrderAnswer(groups[::-1])
        case ChoiceAnswer(options):
            others = (replace(option, right=not option.right, diagnosis="", why=()) for option in options)
            return replace(answer, options=tuple(others))
        case ShapeAnswer():
            return ShapeAnswer((77, 78))
        case FormulaAnswer():
            return FormulaAnswer(987654321)
        case WordAnswer():
            return WordAnswer("otherwise")
        case RubricAnswer(points):
            return RubricAnswer(points[::-1])
        case CellsAnswer(shape, cells):
            everything = frozenset((i, j) for i in range(shape[0]) for j in range(shape[1]))
            return CellsAnswer(shape, everything - cells)
        case MatrixAnswer(value, d, step):
            return MatrixAnswer(other_matrix(value), d and other_results(d), step)
        case PropertyAnswer(model=model):
            return replace(answer, parameters={}, model={name: other_matrix(m) for name, m in model.items()})
    return answer


def other_matrix(matrix):
    return matrix.map(lambda _: 987654321)


def other_results(d, names=None):
    """A derivation in which these steps, or all, have come to something else."""
    return replace(d, steps=tuple(
        replace(step, result=other_matrix(step.result), pinned=True)
        if isinstance(step.result, Matrix) and (names is None or step.name in names) else step
        for step in d
    ))  # fmt: skip


# ------------------------------------------------------------------------------------------------ spoilt scripts


def spoilt(question, rng):
    """The key with answers left out, changed and made unreadable."""
    right = key_script(question)
    answers = {}
    for part in question.parts:
        said = right.answers.get(part.name) or right_answer(part)
        if rng.random() > 0.2:
            answers[part.name] = _spoilt(said, rng) if rng.random() < 0.8 else said
    return Attempt(answers)


def _spoilt(said, rng):
    match said:
        case Grid():
            return _spoilt_grid(said, rng)
        case Entry():
            return _changed(rng)
        case Grids(grids):
            return Grids({name: _spoilt_grid(one, rng) for name, one in grids.items()})
        case Ticked(options):
            return Ticked(options ^ {rng.randrange(4)})
        case Shaded(cells):
            return Shaded(cells ^ {(rng.randrange(3), rng.randrange(3))})
        case Shaped():
            return Shaped(rng.choice([(7, 9), None]))
        case Ordered(groups):
            return Ordered(groups[::-1])
        case Text(words):
            return rng.choice([Text(words), Text("something else"), Unreadable("??", "It cannot be read.")])
        case _:
            return said


def _spoilt_grid(written, rng):
    return Grid(tuple(tuple(_changed(rng) if rng.random() < 0.3 else x for x in row) for row in written.rows))


def _changed(rng):
    return rng.choice([entry("17"), entry("0.73"), entry(f"{rng.randrange(50)}/7"), entry(""), entry("1/2e")])


# ------------------------------------------------------------------------------------------------ reports


LAST = deque(maxlen=2)
"""The last reports, which a failing test shows (conftest.py)."""


def marked(question, attempt, policy="ecf"):
    report = mark(question, attempt, POLICIES[policy] if isinstance(policy, str) else policy)
    LAST.append(report)
    return report


def lost(report):
    """The marks that were not given, by the part that they belong to (the first of several)."""
    found = {}
    for given in report.marks:
        if given.of > given.given:
            found[given.parts[0]] = found.get(given.parts[0], 0) + given.of - given.given
    return found


def mistakes(report):
    """Events without those that only say that something was rounded."""
    return [event for event in report.events if event.kind != "rounding"]


def ids(event):
    return [candidate.id for candidate in event.candidates]


def shown(report):
    """The script and what became of it, as a failing test shows it."""
    question, attempt = report.question, report.attempt
    lines = [f"{question.title} ({question.type}), {report.policy.name}: {report.total}/{report.available}"]
    if question.problem is not None:
        d = question.problem.derivation
        lines += [f"  given {name} = {[list(map(exactly, row)) for row in page(m)]}" for name, m in d.givens.items()]
        lines += [f"  {step.op} → {step.name}" for step in d]
    for name, said in attempt.answers.items():
        lines.append(f"{name}: {_said(said)}")
        states = report.of(name)
        lines.append("    " + " ".join(f"({i + 1},{j + 1}) {v.state}/{v.way}" for (i, j), v in sorted(states.items())))
    lines += [f"more {name}: {_said(said)}" for name, said in attempt.more.items()]
    lines += [f"event {e.number} at {e.part}, step {e.step}: {e.kind} {ids(e)} {e.entries}" for e in report.events]
    lines += [f"{given.parts} {given.code} {given.given}/{given.of} {given.why}" for given in report.marks]
    lines += [f"notice {n.part} {n.kind} −{n.marks}: {n.says}" for n in report.notices]
    return "\n".join(lines)


def _said(said):
    if isinstance(said, Grid):
        return "; ".join(" | ".join(_short(entry.text) or "·" for entry in row) for row in said.rows)
    return _short(repr(said))


def _short(text):
    return text if len(text) <= 60 else text[:57] + "..."
