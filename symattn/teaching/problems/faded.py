"""Faded examples: a derivation with blanks that what is printed determines, and is proved to (rules.md 5, type 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from random import Random

from symattn.derivation.algebra import Index
from symattn.derivation.derivation import Derivation, Operand, Step, View
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver, Transpose
from symattn.errors import InputError, SelfCheckError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Value, indices, values_of
from symattn.formula import Formula, Relation, equal
from symattn.formula.width import fold, wrapped
from symattn.foundation.dice import sample, shuffled
from symattn.page.document import AnswerGrid, Blocks, Display, WorkingSpace, sentence
from symattn.teaching.derivation_question import all_given, measured
from symattn.teaching.explanation.parts import answer_form, instruction, mask_shown, wording_of
from symattn.teaching.explanation.steps import (
    LINE_BY_HAND,
    PAPER,
    Detail,
    cell_kind,
    entries,
    step_title,
    working_space,
)
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.problem import Problem
from symattn.teaching.problems import derived
from symattn.teaching.problems.asking import make_part
from symattn.teaching.problems.draws import Draw, ProvedQuestion, Record, up_to
from symattn.teaching.problems.systems import reduced
from symattn.teaching.question import EntriesAnswer, Json, Mark, MatrixAnswer, Part

# ------------------------------------------------------------------------------------------------ what follows

Cell = tuple[str, int, int]
"""A matrix, and an entry of it (from 0)."""

Cells = tuple[tuple[int, int], ...]
"""Rows and columns of entries."""

Blanks = Mapping[str, Cells]


def result_of(step: Step) -> Matrix:
    if not isinstance(step.result, Matrix):
        raise InputError(f"A faded example needs numbers; of {step.name} only the shape is known.")
    return step.result


def cells_of(step: Step) -> Cells:
    return tuple(indices(result_of(step).shape))


def undetermined(d: Derivation, blanks: Blanks) -> set[Cell]:
    """The blanks that do not follow from the printed entries.

    What is known grows until nothing is added: by systems of linear equations over the rationals, of which only
    the unknowns that have a single value count; through a softmax forwards, by its sum rule, and backwards from the
    ratios of its weights.  Values are the true ones, so that every system has a solution, and only the coefficients
    decide whether it is the only one.
    """
    unknown = {(name, i, j) for name, cells in blanks.items() for i, j in cells}
    before = None
    while unknown and unknown != before:
        before = set(unknown)
        equations = [e for step in d for e in _equations(d, step, unknown)]
        unknown -= _solved(equations)
        for step in d:
            if isinstance(step.op, Softmax):
                for line in _lines(step):
                    unknown -= _by_softmax(line, unknown)
            elif not isinstance(step.op, LINEAR):
                unknown -= _forwards(step, unknown)
    return unknown


Equation = dict[Cell, Value]
"""The coefficients of the unknowns in a linear equation."""

LINEAR = (MatMul, Scale, Add, Hadamard, SumOver, Stack, Transpose, Mask)


def _equations(d: Derivation, step: Step, unknown: set[Cell]) -> Iterator[Equation]:
    """One for every entry of a step that is linear in the unknowns."""
    if isinstance(step.op, LINEAR):
        for i, j in cells_of(step):
            if equation := equation_of(d, step, i, j, unknown):
                yield equation


def equation_of(d: Derivation, step: Step, i: int, j: int, unknown: set[Cell]) -> Equation | None:
    """The terms of an entry less the entry itself; None if it is not linear, empty where all is known.

    A scaled score is counted in units of 1/√d_k, so that an irrational divisor leaves the coefficients rational.
    """
    own = (step.name, i, j)
    if result_of(step)[i, j] is NEGATIVE_INFINITY:
        return {own: 1} if own in unknown else {}  # what the mask hides is −∞, whatever is known
    equation: Equation = {own: -1} if own in unknown else {}
    for factors in _terms(d, step, i, j):
        blank = [cell for cell in factors if cell in unknown]
        if len(blank) > 1:
            return None
        for cell in blank:
            weight: Value = 1
            for other in factors:
                weight = weight if other == cell else weight * value_at(d, other)
            equation[cell] = equation.get(cell, 0) + weight
    return {cell: c for cell, c in equation.items() if c != 0}


def _terms(d: Derivation, step: Step, i: int, j: int) -> Iterator[tuple[Cell, ...]]:
    """The products of entries that an entry of a linear step is the sum of."""
    sized = [(operand, *values_of(d.operand(operand)).shape) for operand in step.operands]
    stretched = [source(o, i if rows > 1 else 0, j if columns > 1 else 0) for o, rows, columns in sized]
    first, rows, columns = sized[0]
    match step.op:
        case MatMul():
            yield from ((source(first, i, k), source(step.operands[1], k, j)) for k in range(columns))
        case Hadamard():
            yield tuple(stretched)
        case Add():
            yield from ((cell,) for cell in stretched)
        case SumOver("rows"):
            yield from ((source(first, k, j),) for k in range(rows))
        case SumOver():
            yield from ((source(first, i, k),) for k in range(columns))
        case Stack(along):
            for operand, rows, columns in sized:
                if (i < rows) if along == "rows" else (j < columns):
                    yield (source(operand, i, j),)
                    return
                i, j = (i - rows, j) if along == "rows" else (i, j - columns)
        case Transpose():
            yield (source(first, j, i),)
        case _:
            yield (source(first, i, j),)


def source(operand: Operand, i: int, j: int) -> Cell:
    """Where an entry of an operand stands in the matrix that it is taken from."""
    row, column = operand.place(i, j)
    return operand.name, int(row), int(column)


def value_at(d: Derivation, cell: Cell) -> Value:
    name, i, j = cell
    return values_of(d.value(name))[i, j]


def _solved(equations: Iterable[Equation]) -> set[Cell]:
    """The unknowns that have one value only: alone in an equation, or in a row of the reduced echelon form."""
    listed = [e for e in equations if e]
    known = {cell for e in listed if len(e) == 1 for cell in e}
    rational = ({cell: Fraction(c) for cell, c in e.items() if isinstance(c, int | Fraction)} for e in listed)
    whole = (new for new, e in zip(rational, listed, strict=True) if len(new) == len(e))
    return known | {pivot for pivot, row in reduced(whole) if len(row) == 1}


def _lines(step: Step) -> Iterator[list[tuple[Cell, Cell, bool]]]:
    """The lines that a softmax goes along: of every entry its weight, its score, and whether it is hidden."""
    assert isinstance(step.op, Softmax)
    result = result_of(step)
    cells = [[(i, j) for j in range(result.shape[1])] for i in range(result.shape[0])]
    for line in cells if step.op.along == "rows" else zip(*cells, strict=True):
        yield [((step.name, i, j), source(step.operands[0], i, j), result[i, j] == 0) for i, j in line]


def _by_softmax(line: list[tuple[Cell, Cell, bool]], unknown: set[Cell]) -> set[Cell]:
    weights = [weight for weight, _, _ in line]
    scores = [score for _, score, hidden in line if not hidden]
    determined = {weight for weight, score, hidden in line if hidden and score not in unknown}
    if all(score not in unknown for _, score, _ in line):
        determined |= set(weights)
    if len(missing := [weight for weight in weights if weight in unknown]) == 1:
        determined |= set(missing)  # they sum to 1
    if all(weight not in unknown for weight in weights) and any(score not in unknown for score in scores):
        determined |= set(scores)  # the ratio of two weights gives the difference of their scores
    return determined & unknown


def _forwards(step: Step, unknown: set[Cell]) -> set[Cell]:
    """All of a step that is not linear, once all that it starts from is known."""
    sources = {operand.name for operand in step.operands}
    return set() if any(name in sources for name, _, _ in unknown) else {(step.name, i, j) for i, j in cells_of(step)}


# ------------------------------------------------------------------------------------------------ drawing

BACKWARDS = {"starter": 1, "standard": 2, "long": 3}
"""How many entries are blank in each given matrix that is to be recovered."""

TRIES = 400


def draw_variant(rng: Random, draw: Draw) -> Record:
    """A derivation, and the entries that are blank in it."""
    drawn = derived.drawn_numbers(rng, draw)
    problem = derived.problem_of(drawn)
    chosen = _chosen(problem, draw.option("blank"))
    d, line = problem.derivation, draw.number - 1
    for _ in range(TRIES):
        if draw.option("fade"):
            last = chosen[-1 - line % len(chosen) :]
            blanks = {step.name: cells_of(step) for step in last}
        else:
            blanks = _backwards(d, BACKWARDS[draw.spec.level], rng) if draw.option("backwards") else {}
            told = [step.name for step in d if any(operand.name in blanks for operand in step.operands)]
            share = draw.option("share")
            blanks |= {step.name: _some(step, share, line, d, rng) for step in chosen if step.name not in told}
        if not undetermined(d, blanks):
            return {**drawn, "blanks": blanks}
    raise InputError(f"No blanks of {draw.spec.mechanism} with these sizes are determined by what is printed.")


def _chosen(problem: Problem, names: Sequence[Json]) -> list[Step]:
    """The steps that get blanks: those named by their role, or every one."""
    roles = dict.fromkeys(step.role for step in problem.steps)
    for name in names:
        if name not in roles:
            raise InputError(f"The option blank of faded has {name!r}; the steps are {', '.join(roles)}.")
    return [step for step in problem.steps if not names or step.role in names]


def _some(step: Step, share: int, line: int, d: Derivation, rng: Random) -> Cells:
    """About that share of its entries: all of one token's, as many as that leaves of the others, evenly by token.

    The token with everything blank takes turns from variant to variant, so that every variant asks for as much.
    """
    by_token: dict[int, list[tuple[int, int]]] = {}
    for i, j in cells_of(step):
        by_token.setdefault(i if d.orientation == "rows" else j, []).append((i, j))
    tokens = list(by_token.values())
    count = max(1, ceil(len(cells_of(step)) * share / 100))
    whole = tokens[line % len(tokens)] if len(tokens[0]) <= count else []
    rest = [shuffled(rng, cells) for cells in tokens if cells is not whole]
    others = [cell for cells in zip(*rest, strict=True) for cell in cells] if rest else []
    return tuple(sorted([*whole, *others[: count - len(whole)]]))


def _backwards(d: Derivation, count: int, rng: Random) -> dict[str, Cells]:
    """Entries of the right factor of every product of two givens; where there is none, of Q and K."""
    factors = [
        step.operands[1 if d.orientation == "rows" else 0].name
        for step in d
        if isinstance(step.op, MatMul) and all(operand.name in d.givens for operand in step.operands)
    ]
    if not factors or factors == ["V"]:
        raise InputError("Working backwards needs a product of two given matrices with whole entries.")
    names = dict.fromkeys(["Q", "K"] if "Q" in d.givens else factors)
    blanks_of = {}
    for name in names:
        blanks_of[name] = tuple(sorted(sample(rng, indices(values_of(d.value(name)).shape), count)))
    return blanks_of


# ------------------------------------------------------------------------------------------------ making


def made(draw: Draw) -> ProvedQuestion:
    problem = derived.problem_of(draw.record, TYPE.title)
    wording, d, blanks = wording_of(problem), problem.derivation, draw["blanks"]
    printed: list[Formula] = []
    parts: list[Part] = []
    recovered = [name for name in d.givens if name in blanks]
    for name in recovered:
        parts.append(_recover(name, blanks[name], blanks, problem, wording))
    for step in problem.steps:
        if step.name not in blanks:
            if not recovered or not any(o.name in recovered for o in step.operands):
                printed += derived.printed(step, wording)
            continue
        way: Blocks = (Display(tuple(printed)),) if printed else ()
        parts.append(_completed(step, blanks[step.name], way, problem, wording))
        printed = []
    shown = tuple(name for name in d.givens if name not in blanks)
    features, positions = measured(problem)
    return derived.question(
        draw,
        problem,
        parts,
        instruction(
            "Some entries of this derivation are missing. Fill in every empty box.",
            answer_form(problem.exact, problem.places),
        ),
        given=all_given(problem, wording, shown) if shown else (),
        features={**features, "blanks": float(sum(map(len, blanks.values())))},
        positions=positions,
        proof=lambda question: prove(d, blanks),
    )


def _grid(
    name: str, matrix: Matrix, cells: Sequence[tuple[int, int]], step: Step, problem: Problem, wording: Wording
) -> AnswerGrid:
    rows, columns = matrix.shape
    printed = wording if problem.exact else Wording(problem.derivation, problem.notation, problem.places)
    show = wording.number if all(isinstance(x, int) for x in matrix) else printed.number
    filled = tuple(((i, j), show(matrix[i, j])) for i, j in indices(matrix.shape) if (i, j) not in cells)
    return AnswerGrid(wording.name(name), rows, columns, cell_kind(step.result, problem.exact), filled, step=name)


def _completed(step: Step, cells: Cells, way: Blocks, problem: Problem, wording: Wording) -> Part:
    """A step some of whose entries are missing."""
    rule = equal(wording.name(step.name), wording.rule(step, shapes=True))
    whole = working_space(step, problem.derivation, problem.exact)
    room = (replace(whole, count=min(whole.count, len(cells))),) if step.op.by_hand else ()
    grid = _grid(step.name, result_of(step), cells, step, problem, wording)
    method = (Mark("M", 1),) if isinstance(step.op, MatMul | Softmax) else ()
    number = max(1, len(cells) // 3)
    return make_part(
        step_title(step, wording),
        [*way, *mask_shown(step, wording), Display((rule,), step=step.name, role="rule"), *room, grid],
        [*entries(step, wording, Detail(cells, problem.places)), _values(step.name, result_of(step), wording)],
        EntriesAnswer(step.name, cells),
        *method,
        Mark("A", number, "shared equally among the missing entries" if number > 1 else ""),  # one is not shared
        name=step.name,
    )


def _values(name: str, matrix: Matrix, wording: Wording) -> Display:
    return Display(tuple(fold(equal(wording.name(name), wording.values(matrix)), LINE)), step=name, role="values")


def _recover(name: str, cells: Cells, blanks: Blanks, problem: Problem, wording: Wording) -> Part:
    """A given matrix some of whose entries are missing, with a product that tells them."""
    d = problem.derivation
    matrix = values_of(d.value(name))
    products = [step for step in d if any(operand.name == name for operand in step.operands)]
    lines = [line for step in products if step.name not in blanks for line in derived.printed(step, wording)]
    word = wording.notation.named(name).word
    symbol = wording.name(name)
    stand_in = Step(name, Transpose(), (Operand(name),), matrix)
    return make_part(
        sentence("{word} {symbol}", word=word, symbol=symbol) if word else symbol,
        [
            "Work backwards: the product is known, and some entries of a factor are not.",
            Display(tuple(lines)),
            WorkingSpace(2 * LINE_BY_HAND, width=PAPER // 2, count=len(cells)),
            _grid(name, matrix, cells, stand_in, problem, wording),
        ],
        [*_equation_lines(name, cells, products, blanks, wording), _values(name, matrix, wording)],
        MatrixAnswer(matrix),
        Mark("M", 1),
        Mark("A", len(cells)),
        name=name,
    )


def _equation_lines(
    name: str, cells: Sequence[tuple[int, int]], products: Sequence[Step], blanks: Blanks, wording: Wording
) -> Blocks:
    """For the key: equations for the missing entries, one after another as they follow, then their values."""
    d = wording.derivation
    hidden = {(n, i, j) for n, listed in blanks.items() for i, j in listed}
    left = [(name, i, j) for i, j in cells]
    places = [(step, i, j) for step in products if isinstance(step.op, LINEAR) for i, j in cells_of(step)]
    lines: dict[Formula, None] = {}
    for most in (1, 2, len(cells)):  # first what a single equation tells, then what several do together
        for step, i, j in places:
            used = set(equation_of(d, step, i, j, hidden) or {})
            if used and used <= set(left) and len(used) <= most and (step.name, i, j) not in used:
                views = [_with_names(operand, hidden, wording) for operand in step.operands]
                value = wording.number(value_at(d, (step.name, i, j)))
                equation = (wording.entry(step.name, i, j), step.op.working(i, j, *views), value)
                lines[Relation(equation, ("=", "="))] = None
                if most == 1:
                    hidden -= used
                    left = [cell for cell in left if cell not in used]
    values: list[Formula] = [
        equal(wording.entry(*cell), wording.number(value_at(d, cell))) for cell in ((name, i, j) for i, j in cells)
    ]
    return (Display(tuple(lines)), Display(wrapped(values, LINE)))


def _with_names(operand: Operand, hidden: set[Cell], wording: Wording) -> View:
    """An operand with its missing entries by name and the others as numbers."""
    view = wording.view(operand)

    def entry(i: Index, j: Index) -> Formula:
        cell = source(operand, int(i), int(j))
        return wording.entry(*cell) if cell in hidden else view.entry(i, j)

    return replace(view, entry=entry)


# ------------------------------------------------------------------------------------------------ proving


def prove(d: Derivation, blanks: Blanks) -> None:
    """Every blank follows from what is printed; a given one that is changed alone contradicts a printed product."""
    if left := undetermined(d, blanks):
        name, i, j = min(left)
        raise SelfCheckError(f"Nothing that is printed tells entry ({i + 1}, {j + 1}) of {name}.")
    for name in (name for name in d.givens if name in blanks):
        for i, j in blanks[name]:
            other = d.replay(givens={name: _changed(d.value(name), i, j)})
            if all(result_of(other[step.name]) == step.result for step in d if step.name not in blanks):
                raise SelfCheckError(f"Entry ({i + 1}, {j + 1}) of {name} may be changed without any printed one.")


def _changed(matrix: AnyMatrix, i: int, j: int) -> Matrix:
    known = values_of(matrix)
    return Matrix.of([x + ((r, c) == (i, j)) for c, x in enumerate(row)] for r, row in enumerate(known.rows))


TYPE = derived.about_derivations(
    made,
    draw_variant,
    name="faded",
    title="Faded example: fill in the blanks",
    options={
        "blank": ([], "the steps that have blanks, such as S and A; every step where none is named"),
        "share": (40, "how many of their entries are blank, in percent", up_to(100)),
        "backwards": (False, "whether entries of given matrices are blank as well, with their products printed"),
        "fade": (False, "a series: the last step is blank, then the last two, and so on"),
    },
)
