"""Answers alone, to mark a stack of papers by: final matrices, exact and in decimals, short answers, marks.

All sheets of a set stand side by side: what each starts from, its last answer on a line, its weights as a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from symattn.derivation.derivation import Derivation
from symattn.exact import AnyMatrix, Matrix
from symattn.formula import Formula, ListOf, Name, Row, Shape, decimal, equal
from symattn.formula.numbers import number
from symattn.formula.width import fold, width
from symattn.foundation.languages import Message, counted, listed, message
from symattn.page.document import (
    Block,
    Display,
    Document,
    HeatMaps,
    Inlines,
    Quoted,
    Strong,
    TextLike,
    Together,
    Words,
    as_text,
    listing,
    paragraph,
    table,
)
from symattn.teaching.explanation.diagrams import weight_maps
from symattn.teaching.explanation.page import rows_of
from symattn.teaching.explanation.parts import wording_of
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
    StepAnswer,
    WordAnswer,
    answer_in_short,
    asked_step,
    total,
)


def _counted(position: int) -> str:
    """1., 2., …: as the parts of a worksheet are numbered."""
    return f"{position + 1}."


def answers(question: Question, numbered: Callable[[int], str] = _counted) -> tuple[Block, ...]:
    """Every final answer, with the number of its part on the sheet, and the marks with their total."""
    named = {part.name: listed for part in question.parts if (listed := _named(question, part))}
    apart = len({step for _, step, _ in named.values()}) < len(named)  # one name for several matrices
    blocks: list[Block] = []
    together: list[Formula] = []
    for k, part in enumerate(question.parts):
        if listed := named.get(part.name):
            formulas = [
                Row((Name(numbered(k)), formula)) if apart else formula for formula in _formulas(question, *listed)
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
        blocks.append(table(("Question", "Answer"), short))
    return (*blocks, Together((_marks(question, numbered),)))


# ------------------------------------------------------------------------------------------------ matrices


def _named(question: Question, part: Part) -> tuple[Derivation, str, Matrix] | None:
    """The matrix of numbers that a part asks for, if it has a name, which it has in a derivation."""
    if asked := asked_step(question, part):
        derivation, step = asked
        matrix = derivation.value(step)
        return (derivation, step, matrix) if isinstance(matrix, Matrix) else None
    return None


def _formulas(question: Question, derivation: Derivation, step: str, matrix: Matrix) -> Iterator[Formula]:
    """The matrix as it is, and in decimals if it needs them; folded where it is too wide."""
    for relation in in_short(step, matrix, Wording(derivation, question.notation), question.places):
        yield from fold(relation, LINE)


# ------------------------------------------------------------------------------------------------ short answers


def _short(question: Question, part: Part) -> Inlines:
    """An answer that goes into a line."""
    match part.answer:
        case FormulaAnswer(value):
            return as_text(number(value))
        case MatrixAnswer(value) if 1 in value.shape:
            return listing([as_text(number(x)) for x in value], last="")
        case MatrixAnswer(value):
            return as_text(Wording(Derivation({}), question.notation).values(value))
        case ShapeAnswer(None):
            return as_text("not defined")
        case ShapeAnswer(shape) if shape is not None:
            return as_text(Shape(_size(shape[0]), _size(shape[1]), "cross"))
        case ChoiceAnswer() as answer:
            return as_text(listed([LETTERS[i] for i in sorted(answer.right)]))
        case CellsAnswer(cells=cells):
            return as_text(", ".join(f"({i + 1}, {j + 1})" for i, j in sorted(cells)))
        case OrderAnswer(groups):
            return as_text(", ".join(" = ".join(group) for group in groups))
        case PropertyAnswer(model=model):
            wording = Wording(Derivation({}), question.notation)
            shown = (equal(wording.name(name), wording.values(m)) for name, m in model.items())
            return (Words(message("For example")), Words(" "), *listing([as_text(one) for one in shown], last=""))
        case WordAnswer(word):
            return step_in_signs(word)
        case RubricAnswer():
            return as_text(message("See the key."))
    raise TypeError(f"{part.name} has no answer of its own.")


def _size(size: int | str) -> Formula:
    return number(size) if isinstance(size, int) else Name(size)


def _marks(question: Question, numbered: Callable[[int], str]) -> Block:
    """The marks of every part and their total, in a table that goes across where it fits."""
    parts = [(k, part) for k, part in enumerate(question.parts) if part.marks]
    heads = ("Question", *(numbered(k).rstrip(".") for k, _ in parts), "Total")
    return table(heads, [("Marks", *(total(part.marks) for _, part in parts), question.marks)])


# -------------------------------------------------------------------------------- a set side by side

_PLACES = 2
_ROOM = 32.0  # em: after so much, further givens are left out


def set_overview(title: str, sheets: Sequence[tuple[str, Question]], recipe: str = "") -> Document:
    """A page or two for the teacher who hands out and marks the worksheets; `sheets` are their ids and questions."""
    shown = [(name, _givens(question), last_answer(question)) for name, question in sheets]
    columns = ["Sheet", *(["Given"] if any(given for _, given, _ in shown) else []), "Final answer"]
    rows: list[tuple[TextLike, ...]] = [
        (Quoted(name), *([given] if "Given" in columns else []), answer) for name, given, answer in shown
    ]
    return Document(
        title,
        (table(columns, rows), *weights_overview(sheets)),
        subtitle=counted("Overview of {n} sheet", "Overview of {n} sheets", n=len(sheets)),
        recipe=recipe,
    )


SHEETS_WEIGHTS: Mapping[str, Message] = {
    "rows": message(
        "The weights of every sheet: a row is a query, a column a key; white is 0 and black more than 0.7."
    ),
    "columns": message(
        "The weights of every sheet: a column is a query, a row a key; white is 0 and black more than 0.7."
    ),
}


def weights_overview(
    sheets: Iterable[tuple[str, Question]], leads: Mapping[str, Message] = SHEETS_WEIGHTS
) -> list[Block]:
    """The weights of all sheets as small heat maps under their ids; nothing where there are none in numbers.

    `leads` says of tokens as rows, and as columns, what is seen.
    """
    maps, lead = [], leads["rows"]
    for name, question in sheets:
        if question.problem is not None:
            lead = leads[question.problem.derivation.orientation]
            for _, picture in weight_maps(wording_of(question.problem)):
                bare = replace(picture, row_labels=(), column_labels=(), words=())
                maps.append((as_text(Quoted(name)), bare))
    if not maps:
        return []
    return [paragraph(lead), HeatMaps(tuple(maps), small=True)]


def last_answer(question: Question) -> Inlines:
    """The last answer of a question in short: a matrix in decimals on one line, anything else as text."""
    last = question.parts[-1].answer
    match last:
        case StepAnswer(step) if question.problem is not None:
            result: AnyMatrix = question.problem[step].result
        case MatrixAnswer(result):
            pass
        case _:
            return as_text(answer_in_short(last, question.problem))
    assert isinstance(result, Matrix)
    whole = all(isinstance(x, int) for x in result)
    return as_text(_on_one_line([[decimal(x) for x in row] for row in result.decimals(0 if whole else _PLACES)]))


def _givens(question: Question) -> Inlines:
    """The matrices that a question starts from, each on one line: the first ones, as far as there is room."""
    if question.problem is None:
        return ()
    wording = wording_of(question.problem)
    shown: list[Inlines] = []
    used = 0.0
    for name, matrix in question.problem.givens.items():
        if isinstance(matrix, Matrix):
            cells = _on_one_line([[wording.number(x) for x in row] for row in matrix.rows])
            equation = equal(wording.name(name), cells)
            used += width(equation)
            if shown and used > _ROOM:
                break
            shown.append(as_text(equation))
    return listing(shown, last="")


def _on_one_line(rows: Sequence[Sequence[Formula]]) -> Formula:
    """[1 0; 0 1]: rows parted by semicolons."""
    return ListOf(tuple(ListOf(tuple(row), "") for row in rows), "[", ";")
