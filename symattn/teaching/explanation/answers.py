"""Answers alone, to mark a stack of papers by: final matrices, exact and in decimals, short answers, marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from symattn.derivation.derivation import Derivation
from symattn.exact import Matrix
from symattn.formula import Formula, Name, Relation, Row, Shape
from symattn.formula.numbers import number
from symattn.formula.width import fold
from symattn.foundation.languages import listed, message
from symattn.page.document import Block, Display, Inline, Inlines, Math, Strong, Table, Together, Words
from symattn.page.notation import Notation
from symattn.teaching.explanation.page import rows_of
from symattn.teaching.explanation.steps import in_short
from symattn.teaching.explanation.wording import LINE, Wording, step_in_signs
from symattn.teaching.question import (
    LETTERS,
    CellsAnswer,
    ChoiceAnswer,
    FormulaAnswer,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    WordAnswer,
    asked_step,
    total,
)


class _Named(NamedTuple):
    """A matrix that is the answer of a part, and the derivation and the notation that it has its name in."""

    step: str
    matrix: Matrix
    derivation: Derivation
    notation: Notation


def _counted(position: int) -> str:
    """1., 2., …: as the parts of a worksheet are numbered."""
    return f"{position + 1}."


def answers(question: Question, numbered: Callable[[int], str] = _counted) -> tuple[Block, ...]:
    """Every final answer, with the number of its part on the sheet, and the marks with their total."""
    named = {part.name: found for part in question.parts if (found := _named(question, part))}
    apart = len({found.step for found in named.values()}) < len(named)  # one name for several matrices
    blocks: list[Block] = []
    together: list[Formula] = []
    for k, part in enumerate(question.parts):
        if found := named.get(part.name):
            formulas = [
                Row((Name(numbered(k)), formula)) if apart else formula for formula in _formulas(question, found)
            ]
            together += formulas
    if together:
        blocks.append(Display(tuple(row if isinstance(row, Row) else Row((row,)) for row in rows_of(together, LINE))))
    short = [
        ((Strong(numbered(k)), Words(" "), *part.title), _short(question, part))
        for k, part in enumerate(question.parts)
        if part.name not in named
    ]
    if short:
        blocks.append(Table(((Words("Question"),), (Words("Answer"),)), tuple(short), row_heads=True))
    return (*blocks, Together((_marks(question, numbered),)))


# ------------------------------------------------------------------------------------------------ matrices


def _named(question: Question, part: Part) -> _Named | None:
    """The matrix of numbers that a part asks for, if it has a name."""
    if (asked := asked_step(question, part)) is None:
        return None
    derivation, step = asked
    matrix = derivation.value(step)
    if not isinstance(matrix, Matrix):
        return None
    return _Named(step, matrix, derivation, question.notation)


def _formulas(question: Question, found: _Named) -> Iterator[Formula]:
    """The matrix as it is, and in decimals if it needs them; folded where it is too wide."""
    places = question.problem.places if question.problem else int(str(question.frozen.get("places", 4)))
    for relation in in_short(found.step, found.matrix, Wording(found.derivation, found.notation), places):
        yield from fold(relation, LINE)


# ------------------------------------------------------------------------------------------------ short answers


def _short(question: Question, part: Part) -> Inlines:
    """An answer that goes into a line."""
    match part.answer:
        case FormulaAnswer(value):
            return (Math(number(value)),)
        case MatrixAnswer(value) if 1 in value.shape:
            return tuple(_listed([Math(number(x)) for x in value]))
        case MatrixAnswer(value):
            return (Math(Wording(Derivation({}), question.notation).values(value)),)
        case ShapeAnswer(None):
            return (Words("not defined"),)
        case ShapeAnswer(shape) if shape is not None:
            return (Math(Shape(_size(shape[0]), _size(shape[1]), "cross")),)
        case ChoiceAnswer() as answer:
            return (Words(listed([LETTERS[i] for i in sorted(answer.right)])),)
        case CellsAnswer(cells=cells):
            return (Words(", ".join(f"({i + 1}, {j + 1})" for i, j in sorted(cells))),)
        case OrderAnswer(groups):
            return (Words(", ".join(" = ".join(group) for group in groups)),)
        case PropertyAnswer(model=model):
            wording = Wording(Derivation({}), question.notation)
            return (Words(message("For example")), Words(" "), *(_example(wording, model)))
        case WordAnswer(word):
            return step_in_signs(word)
        case RubricAnswer():
            return (Words(message("See the key.")),)
    raise TypeError(f"{part.name} has no answer of its own.")


def _example(wording: Wording, model: Mapping[str, Matrix]) -> Iterator[Inline]:
    equations = (Relation((wording.name(name), wording.values(matrix)), ("=",)) for name, matrix in model.items())
    yield from _listed([Math(equation) for equation in equations])


def _listed(items: Sequence[Inline]) -> Iterator[Inline]:
    """With commas between."""
    for k, item in enumerate(items):
        yield from (Words(", "), item) if k else (item,)


def _size(size: int | str) -> Formula:
    return number(size) if isinstance(size, int) else Name(size)


def _marks(question: Question, numbered: Callable[[int], str]) -> Block:
    """The marks of every part and their total, in a table that goes across where it fits."""
    parts = [(k, part) for k, part in enumerate(question.parts) if part.marks]
    heads = [(Words("Question"),), *((Words(numbered(k).rstrip(".")),) for k, _ in parts), (Words("Total"),)]
    row = [(Words("Marks"),), *((Words(str(total(part.marks))),) for _, part in parts), (Words(str(question.marks)),)]
    return Table(tuple(heads), (tuple(row),), row_heads=True)


__all__ = ["answers"]
