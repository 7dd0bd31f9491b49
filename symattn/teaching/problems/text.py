"""A question of the teacher's own, in an exam file: `type = "text"`.

Nothing is drawn: its text, its parts and its answers are what the file says, in Markdown with formulas between dollar
signs.  What is typed as the answer decides how it is asked and marked: rows of numbers are a matrix of boxes, a number
is a box, letters tick options; anything else is written on lines and read by a person, who gives one mark for each
point of the mark scheme, or as many marks as there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Annotated

from symattn.errors import InputError
from symattn.exact import exact, is_symbolic, values_of
from symattn.exact.reading import read as read_number
from symattn.formula import Formula, Name, Text, equal
from symattn.formula.from_tex import read_tex
from symattn.foundation.languages import message
from symattn.foundation.typed import Between, OrOne, Place, ReadBy, read
from symattn.page import markup
from symattn.page.document import AnswerGrid, Blocks, Choices, Display, ItemList, WorkingSpace, as_text
from symattn.teaching.explanation.steps import cell_kind
from symattn.teaching.problem import read_given
from symattn.teaching.problems.asking import Prose, fill_in, lettered, make_part, named, ticks
from symattn.teaching.problems.draws import Draw, ProblemType, ProvedQuestion
from symattn.teaching.question import (
    LETTERS,
    ChoiceAnswer,
    FormulaAnswer,
    Mark,
    MatrixAnswer,
    Option,
    Part,
    Question,
    RubricAnswer,
    WordAnswer,
    in_proportion,
)

LINE = 8
"""Millimetres from one line to write on to the next."""
LINES = 6
MOST_LINES = 60

Texts = Annotated[tuple[str, ...], OrOne()]


def _answered(given: object, place: Place) -> object:
    if isinstance(given, bool) or not isinstance(given, str | int | float | list):
        raise place.wrong(given, "text, a number, rows of a matrix, or letters of options")
    return given


Answered = Annotated[object, ReadBy(_answered)]


@dataclass(frozen=True)
class OwnPart:
    """A part as an exam file has it; a question without parts is one itself.

    text       what is asked
    points     its marks; otherwise as many as its mark scheme has points, or 1
    lines      lines to write on
    answer     what is right: text, a number, rows of a matrix, or the letters of options
    boxes      whether a short answer in letters stands in a box, as numbers do
    name       what stands before the box, a formula in LaTeX: S, \\alpha
    options    of multiple choice
    scheme     the points that a marker looks for, one mark each
    """

    text: str = ""
    points: Annotated[int, Between(1, 1000)] | None = None
    lines: Annotated[int, Between(0, MOST_LINES)] = LINES
    answer: Answered = ""
    boxes: bool = False
    name: str = ""
    options: Texts = ()
    scheme: Texts = ()


ONE_PART = tuple(f.name for f in fields(OwnPart) if f.name not in ("text", "points"))
"""What a question says that has no parts; its text and its points are those of every question."""


def ask(draw: Draw) -> ProvedQuestion:
    """What the file says, the same in every variant; `InputError` says what does not go together."""
    say = draw.prose(turns=True)
    text = draw("text", lambda rng: draw.option("text"))
    draw("parts", lambda rng: _stated(text, draw))
    parts = read(tuple[OwnPart, ...], draw.record["parts"])
    made = Question(
        type=TYPE.name,
        title="",
        given=(),
        parts=lettered(_part(part, Place("part").at(k), say) for k, part in enumerate(parts, 1)),
        content=draw.record,
        introduction=_blocks(text, Place("text")),
        intended=False,
    )
    return ProvedQuestion(made, lambda question: None)


def _stated(text: str, draw: Draw) -> tuple[OwnPart, ...]:
    parts, alone = draw.option("part"), {name: x for name, x in draw.spec.options.items() if name in ONE_PART}
    if not text and not parts:
        raise InputError("A question of the type text needs its text, or parts ([[question.part]]) that have one.")
    if parts and alone:
        raise InputError(f"{next(iter(alone))} belongs to one of the parts ([[question.part]]) of this question.")
    return read(tuple[OwnPart, ...], parts or [alone], "part" if parts else "")


# ------------------------------------------------------------------------------------------------ making


def _part(own: OwnPart, place: Place, say: Prose) -> Part:
    """A part, asked and marked by what its answer is."""
    ask = _blocks(own.text, place.at("text"))
    with place.here():
        if own.options:
            return _choice(own, ask)
        if not isinstance(own.answer, str) or own.boxes:
            return _boxes(own, ask, say)
        return _in_words(own, ask)


def _blocks(text: str, place: Place) -> Blocks:
    with place.here():
        return markup.blocks(text)


def _choice(own: OwnPart, ask: Blocks) -> Part:
    if not 1 < len(own.options) <= len(LETTERS) or len({*own.options}) < len(own.options):
        raise InputError(f"It has {len(own.options)} options; from 2 to {len(LETTERS)} different ones were expected.")
    letters = LETTERS[: len(own.options)]
    right = [own.answer] if isinstance(own.answer, str) else own.answer
    if not isinstance(right, list) or not right or not all(x in tuple(letters) for x in right):
        raise InputError(
            f"The answer is {own.answer!r}; letters of right options were expected, from A to {letters[-1]}."
        )
    several = isinstance(own.answer, list)
    texts = tuple(map(markup.inlines, own.options))
    options = tuple(Option(text, letter in right) for text, letter in zip(texts, letters, strict=True))
    ticked = frozenset(k for k, option in enumerate(options) if option.right)
    marks = ticks(own.points or 1) if several else Mark("B", own.points or 1)
    boxes, solved = Choices(texts, several), Choices(texts, several, ticked)
    return make_part("", [*ask, boxes], [*ask, solved], ChoiceAnswer(options, several), marks)


def _boxes(own: OwnPart, ask: Blocks, say: Prose) -> Part:
    """A matrix, a number, a formula in letters, or a word, in boxes."""
    name = read_tex(own.name) if own.name else None
    if isinstance(own.answer, list):
        matrix = values_of(read_given(own.name or "answer", own.answer))
        if any(map(is_symbolic, matrix)):
            raise InputError("The answer has letters in it; rows of numbers were expected.")
        grid = AnswerGrid(name or Name("A"), *matrix.shape, cell_kind(matrix, exact=True))
        marks = Mark("B", own.points or 1, in_proportion(own.points or 1))
        key = Display((equal(grid.name, say.values(matrix)),))
        return make_part("", [*ask, grid], [*ask, key], MatrixAnswer(matrix), marks)
    answer: FormulaAnswer | WordAnswer
    shown: Formula
    if isinstance(own.answer, str) and _WORD.fullmatch(own.answer):
        answer, shown = WordAnswer(own.answer), Text(own.answer)
    else:
        value = read_number(own.answer, symbols=True).value if isinstance(own.answer, str) else exact(own.answer)
        answer, shown = FormulaAnswer(value), say.number(value)
    label = named(name) if name else as_text(message("Answer:"))
    key = Display((equal(name, shown) if name else shown,))
    return make_part("", [*ask, fill_in(label)], [*ask, key], answer, Mark("B", own.points or 1))


_WORD = re.compile(r"[^\W\d_]{2,}([ -][^\W\d_]+)*")


def _in_words(own: OwnPart, ask: Blocks) -> Part:
    """An answer on lines, which a person reads."""
    points = tuple(map(markup.inlines, own.scheme))
    looked_for = "The marks are shared among these points; any other right answer earns the same marks."
    marks = Mark("B", own.points or len(points) or 1)
    if points and own.points in (None, len(points)):
        marks = replace(marks, what="one for each point")
    room = (WorkingSpace(own.lines * LINE, ruled=True),) if own.lines else ()
    return make_part(
        "",
        [*ask, *room],
        [*ask, *(markup.blocks(str(own.answer)) or ["A person reads the answer."])],
        RubricAnswer(points),
        marks,
        marking=[looked_for, ItemList(points)] if points else [],
    )


TYPE = ProblemType(
    ask,
    name="text",
    title="A question of your own",
    options={
        "text": ("", "the question, in Markdown; formulas in LaTeX stand between dollar signs", str),
        "lines": (LINES, "how many lines there are to write on", Annotated[int, Between(0, MOST_LINES)]),
        "answer": ("", "what is right: text, a number, the rows of a matrix, or the letters of options", Answered),
        "boxes": (False, "whether an answer in letters goes into a box, as a number does"),
        "name": ("", "what stands before the box, as LaTeX: S"),
        "options": ([], "the options of a multiple choice", Texts),
        "scheme": ([], "the points that a marker looks for, a mark for each", Texts),
        "part": ([], "parts with all of these, and points of their own", tuple[OwnPart, ...]),
    },
    fixed=True,
)
