"""All sheets of a set side by side: what each starts from, its last answer on a line, its weights as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from symattn.exact import AnyMatrix, Matrix
from symattn.formula import Formula, ListOf, Relation, decimal
from symattn.formula.width import width
from symattn.foundation.languages import Message, counted, message
from symattn.page.document import Block, Document, HeatMaps, Inlines, Math, Paragraph, Quoted, Table, Words, listing
from symattn.teaching.explanation.diagrams_weights import weight_maps
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.question import MatrixAnswer, Question, StepAnswer, answer_in_short

_PLACES = 2
_ROOM = 32.0  # em: after so much, further givens are left out


def set_overview(title: str, sheets: Sequence[tuple[str, Question]], recipe: str = "") -> Document:
    """A page or two for whoever hands out the sheets and marks them; `sheets` are their ids and their questions."""
    shown = [(name, _givens(question), last_answer(question)) for name, question in sheets]
    columns = ["Sheet", *(["Given"] if any(given for _, given, _ in shown) else []), "Final answer"]
    rows = tuple(
        ((Words(Quoted(name)),), *([given] if "Given" in columns else []), answer) for name, given, answer in shown
    )
    blocks: list[Block] = [Table(tuple((Words(head),) for head in columns), rows, row_heads=True)]
    blocks += weights_overview(sheets)
    return Document(
        title,
        tuple(blocks),
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
            found = list(weight_maps(wording_of(question.problem)))
            for _, picture in found:
                bare = replace(picture, row_labels=(), column_labels=(), words=())
                maps.append(((Words(Quoted(name)),), bare))
    if not maps:
        return []
    return [Paragraph((Words(lead),)), HeatMaps(tuple(maps), small=True)]


def last_answer(question: Question) -> Inlines:
    """The last answer of a question in short: a matrix in decimals on one line, anything else as text."""
    last = question.parts[-1].answer
    match last:
        case StepAnswer(step) if question.problem is not None:
            result: AnyMatrix = question.problem[step].result
        case MatrixAnswer(result):
            pass
        case _:
            return (Words(answer_in_short(last, question.problem)),)
    assert isinstance(result, Matrix)
    whole = all(isinstance(x, int) for x in result)
    return (Math(_on_one_line([[decimal(x) for x in row] for row in result.decimals(0 if whole else _PLACES)])),)


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
            equation = Relation((wording.name(name), cells), ("=",))
            used += width(equation)
            if shown and used > _ROOM:
                break
            shown.append((Math(equation),))
    return listing(shown, last="")


def _on_one_line(rows: Sequence[Sequence[Formula]]) -> Formula:
    """[1 0; 0 1]: rows parted by semicolons."""
    return ListOf(tuple(ListOf(tuple(row), "") for row in rows), "[", ";")
