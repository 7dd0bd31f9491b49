"""Faded examples: a derivation with blanks that what is printed determines, and is proved to (rules.md 5, type 2)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from symattn.derivation.derivation import Derivation, Index, Operand, Step, View
from symattn.derivation.ops import MatMul, Softmax, Transpose
from symattn.errors import InputError, SelfCheckError
from symattn.exact import AnyMatrix, Matrix, values_of
from symattn.formula import Formula, Relation
from symattn.formula.width import fold
from symattn.foundation.dice import sample, shuffled
from symattn.page.document import AnswerGrid, Block, Display, Math, Paragraph, Words, WorkingSpace, sentence
from symattn.teaching.explanation.page import rows_of
from symattn.teaching.explanation.parts import mask_shown, wording_of
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
from symattn.teaching.problems.base import ProblemType, Spec, up_to
from symattn.teaching.problems.determined import (
    LINEAR,
    Blanks,
    Cell,
    Place,
    cells_of,
    equation_of,
    result_of,
    undetermined,
    value_at,
)
from symattn.teaching.question import EntriesAnswer, Json, Mark, MatrixAnswer, Part, Question

BACKWARDS: Mapping[str, int] = {"starter": 1, "standard": 2, "long": 3}
"""How many entries are blank in each given matrix that is to be recovered."""

TRIES = 400


# ------------------------------------------------------------------------------------------------ drawing


@dataclass(frozen=True)
class Content(derived.Content):
    """A derivation, and the entries that are blank in it."""

    blanks: Blanks


def draw(spec: Spec, rng: random.Random, number: int, family: derived.Family) -> Content:
    drawn = derived.content(spec, rng, number, family)
    problem = derived.problem_of(drawn)
    share, fade = TYPE.option(spec, "share"), TYPE.option(spec, "fade")
    chosen = _chosen(problem, TYPE.option(spec, "blank"))
    d, line = problem.derivation, number - 1
    for _ in range(TRIES):
        if fade:
            last = chosen[-1 - line % len(chosen) :]
            blanks = {step.name: cells_of(step) for step in last}
        else:
            blanks = _backwards(d, BACKWARDS[spec.level], rng) if TYPE.option(spec, "backwards") else {}
            told = [step.name for step in d if any(operand.name in blanks for operand in step.operands)]
            blanks |= {step.name: _some(step, share, line, d, rng) for step in chosen if step.name not in told}
        if not undetermined(d, blanks):
            return Content(**vars(drawn), blanks=blanks)
    raise InputError(f"No blanks of {spec.mechanism} with these sizes are determined by what is printed.")


def _chosen(problem: Problem, names: Sequence[Json]) -> list[Step]:
    """The steps that get blanks: those named by their role, or every one."""
    roles = dict.fromkeys(step.role for step in problem.steps)
    for name in names:
        if name not in roles:
            raise InputError(f"The option blank of faded has {name!r}; the steps are {', '.join(roles)}.")
    return [step for step in problem.steps if not names or step.role in names]


def _some(step: Step, share: int, line: int, d: Derivation, rng: random.Random) -> tuple[tuple[int, int], ...]:
    """About so many of its entries: all of one token's, as many as that leaves of the others, evenly by token.

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


def _backwards(d: Derivation, count: int, rng: random.Random) -> dict[str, tuple[tuple[int, int], ...]]:
    """Entries of the right factor of every product of two givens; where there is none, of Q and K."""
    factors = [
        step.operands[1 if d.orientation == "rows" else 0].name
        for step in d
        if isinstance(step.op, MatMul) and all(operand.name in d.givens for operand in step.operands)
    ]
    if not factors or factors == ["V"]:
        raise InputError("Working backwards needs a product of two given matrices with whole entries.")
    names = dict.fromkeys(["Q", "K"] if "Q" in d.givens else factors)
    found = {}
    for name in names:
        rows, columns = values_of(d.value(name)).shape
        found[name] = tuple(sorted(sample(rng, [(i, j) for i in range(rows) for j in range(columns)], count)))
    return found


# ------------------------------------------------------------------------------------------------ making


def make(content: Content) -> Question:
    problem = derived.problem_of(content, TYPE.title)
    wording, d = wording_of(problem), problem.derivation
    blanks = content.blanks
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
        way: tuple[Block, ...] = (Display(tuple(printed)),) if printed else ()
        parts.append(_completed(step, blanks[step.name], way, problem, wording))
        printed = []
    shown = tuple(name for name in d.givens if name not in blanks)
    return derived.question(
        TYPE,
        content,
        problem,
        parts,
        _instructions(problem),
        given=derived.all_given(problem, wording, shown) if shown else (),
        features={"blanks": float(sum(map(len, blanks.values())))},
        positions=derived.measured(problem)[1],
    )


def _instructions(problem: Problem) -> Paragraph:
    typed = sentence("Some entries of this derivation are missing. Fill in every empty box.")
    if problem.exact:
        asked = sentence("Some entries of this derivation are missing. Fill in every empty box; give exact values.")
    else:
        asked = sentence(
            "Some entries of this derivation are missing. Fill in every empty box; give decimals with {places} places.",
            places=problem.places,
        )
    return Paragraph(asked, typed=typed)


def _grid(
    name: str, matrix: Matrix, cells: Sequence[tuple[int, int]], step: Step, problem: Problem, wording: Wording
) -> AnswerGrid:
    rows, columns = matrix.shape
    printed = wording if problem.exact else Wording(problem.derivation, problem.notation, problem.places)
    show = wording.number if all(isinstance(x, int) for x in matrix) else printed.number
    filled = tuple(((i, j), show(matrix[i, j])) for i in range(rows) for j in range(columns) if (i, j) not in cells)
    return AnswerGrid(wording.name(name), rows, columns, cell_kind(step.result, problem.exact), filled, step=name)


def _completed(
    step: Step, cells: tuple[tuple[int, int], ...], way: tuple[Block, ...], problem: Problem, wording: Wording
) -> Part:
    """A step some of whose entries are missing."""
    rule = Relation((wording.name(step.name), wording.rule(step, shapes=True)), ("=",))
    whole = working_space(step, problem.derivation, problem.exact)
    room = (replace(whole, count=min(whole.count, len(cells))),) if step.op.by_hand else ()
    grid = _grid(step.name, result_of(step), cells, step, problem, wording)
    ask = (*way, *mask_shown(step, wording), Display((rule,), step=step.name, role="rule"), *room, grid)
    key = (*entries(step, wording, Detail(cells, problem.places)), _values(step.name, result_of(step), wording))
    method = (Mark("M", 1),) if isinstance(step.op, MatMul | Softmax) else ()
    number = max(1, len(cells) // 3)
    accurate = Mark("A", number, "shared equally among the missing entries" if number > 1 else "")  # one is not shared
    return Part(step.name, step_title(step, wording), ask, key, EntriesAnswer(step.name, cells), (*method, accurate))


def _values(name: str, matrix: Matrix, wording: Wording) -> Display:
    return Display(
        tuple(fold(Relation((wording.name(name), wording.values(matrix)), ("=",)), LINE)), step=name, role="values"
    )


def _recover(name: str, cells: tuple[tuple[int, int], ...], blanks: Blanks, problem: Problem, wording: Wording) -> Part:
    """A given matrix some of whose entries are missing, with a product that tells them."""
    d = problem.derivation
    matrix = values_of(d.value(name))
    products = [step for step in d if any(operand.name == name for operand in step.operands)]
    lines = [line for step in products if step.name not in blanks for line in derived.printed(step, wording)]
    word = wording.notation.named(name).word
    symbol = wording.name(name)
    title = sentence("{word} {symbol}", word=word, symbol=symbol) if word else (Math(symbol),)
    say = Paragraph((Words("Work backwards: the product is known, and some entries of a factor are not."),))
    stand_in = Step(name, Transpose(), (Operand(name),), matrix)
    grid = _grid(name, matrix, cells, stand_in, problem, wording)
    ask = (say, Display(tuple(lines)), WorkingSpace(2 * LINE_BY_HAND, width=PAPER // 2, count=len(cells)), grid)
    key = (*_equation_lines(name, cells, products, blanks, wording), _values(name, matrix, wording))
    return Part(name, title, ask, key, MatrixAnswer(matrix), (Mark("M", 1), Mark("A", len(cells))))


def _equation_lines(
    name: str, cells: Sequence[tuple[int, int]], products: Sequence[Step], blanks: Blanks, wording: Wording
) -> tuple[Block, ...]:
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
        Relation((wording.entry(*cell), wording.number(value_at(d, cell))), ("=",))
        for cell in ((name, i, j) for i, j in cells)
    ]
    return (Display(tuple(lines)), Display(tuple(rows_of(values))))


def _with_names(operand: Operand, hidden: set[Cell], wording: Wording) -> View:
    """An operand with its missing entries by name and the others as numbers."""
    view, place = wording.view(operand), Place(wording.derivation, operand)

    def entry(i: Index, j: Index) -> Formula:
        cell = place(int(i), int(j))
        return wording.entry(*cell) if cell in hidden else view.entry(i, j)

    return replace(view, entry=entry)


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Every blank follows from what is printed; a given one that is changed alone contradicts a printed product."""
    assert question.problem is not None
    content: Content = question.content
    d, blanks = question.problem.derivation, content.blanks
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


TYPE = ProblemType(
    name="faded",
    title="Faded example: fill in the blanks",
    draw=draw,
    make=make,
    content=Content,
    family=derived.family,
    proof=prove,
    key=derived.key,
    options={
        "blank": ([], "the steps that have blanks, such as S and A; every step where none is named"),
        "share": (40, "how many of their entries are blank, in percent", up_to(100)),
        "backwards": (False, "whether entries of given matrices are blank as well, with their products printed"),
        "fade": (False, "a series: the last step is blank, then the last two, and so on"),
    },
)

__all__ = ["TYPE", "Content"]
