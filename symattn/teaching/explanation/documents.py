"""Whole documents: worksheets, keys, answers alone, a set side by side, a derivation on the page of its notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from symattn.derivation.derivation import Derivation, Step
from symattn.errors import InputError, offered
from symattn.exact import AnyMatrix, Matrix, Outline, in_numbers
from symattn.formula import Formula, ListOf, Name, Relation, Row, Shape, decimal, equal, numbers, read_formula
from symattn.formula.width import fold, width, wrapped
from symattn.foundation.languages import Message, capitalised, counted, listed, message
from symattn.page.document import (
    EVERYTHING,
    Besides,
    Block,
    Blocks,
    Box,
    Columns,
    Diagram,
    Display,
    Document,
    Entries,
    Flow,
    Heading,
    HeatMaps,
    Inlines,
    ItemList,
    PageBreak,
    Paragraph,
    Quoted,
    Solutions,
    Solved,
    Strong,
    TextLike,
    Together,
    Words,
    as_text,
    in_turn,
    listing,
    paragraph,
    sentence,
    settled,
    spans,
    table,
    with_blocks_inside,
)
from symattn.page.notation import PageItem, Section
from symattn.teaching.explanation import CONVENTIONS, LAYOUTS, Conventions, Layout
from symattn.teaching.explanation.layouts import (
    QUESTION,
    STEP,
    PartialSolution,
    Schemes,
    headed,
    in_schemes,
    joined,
    question_apart,
    titled,
    with_rule_apart,
)
from symattn.teaching.explanation.parts import (
    conventions,
    given_as_equation,
    introduction,
    marking,
    with_answer_space,
    wording_of,
)
from symattn.teaching.explanation.steps import Detail, entries, explain_step, in_short, step_title
from symattn.teaching.explanation.wording import LINE, Wording, step_in_signs
from symattn.teaching.problem import Erratum, Problem
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
    marks_in_brackets,
    total,
)

if TYPE_CHECKING:
    from symattn.teaching.explanation.program import Programs, StepPrograms


def derivation_document(
    problem: Problem,
    detail: Detail | None = None,
    layout: Layout = "matrix",
    besides: frozenset[Besides] = EVERYTHING,
) -> Document:
    """The derivation worked out, in its notation, with the errata of a note listed.

    Each step has its program below it, if there shall be `programs` besides what is shown.
    """
    from symattn.teaching.explanation.diagrams import default_diagram  # figures only where they are drawn

    known_choice("layout", layout, LAYOUTS)
    blocks = [*introduction(problem), *default_diagram(problem)]
    code = None
    if "programs" in besides:
        from symattn.teaching.explanation.program import step_programs  # so are programs: most pages have none

        code = step_programs(problem)
    worked = page(problem, detail or Detail(places=problem.notation.decimals), layout, code)
    if layout == "flow":
        from symattn.teaching.explanation.flow import sheet_of_derivation

        blocks += [Flow(picture, ())] if (picture := sheet_of_derivation(problem)) else []
    blocks += worked
    return Document(problem.title, tuple(blocks))


def _shown(problem: Problem, name: str, detail: Detail | None) -> list[Block]:
    """A given, or a step worked out."""
    wording, d = wording_of(problem), problem.derivation
    if name in d.givens:
        return [Display((given_as_equation(name, d.givens[name], wording),))]
    return explain_step(d[name], wording, detail or Detail(places=problem.notation.decimals))


def steps_document(problem: Problem, names: Sequence[str], detail: Detail | None = None) -> Document:
    """Some steps alone, each worked out, and some givens; no words before or between them."""
    return Document(problem.title, tuple(block for name in names for block in _shown(problem, name, detail)))


def lines_of(problem: Problem, name: str, detail: Detail | None = None) -> list[Formula]:
    """The formulas of one step, its rule, numbers and entries, or the matrix of a given."""
    lines: list[Formula] = []
    for block in _shown(problem, name, detail):
        match block:
            case Display(lines=shown):
                lines += (part for line in shown for part in (line.items if isinstance(line, Row) else (line,)))
            case Entries(equations=shown):
                lines += shown
    return lines


class Pages:
    """A question in one layout; what several of its documents have in common is made once."""

    def __init__(self, question: Question, layout: Layout = "matrix", conventions: Conventions = "full") -> None:
        known_choice("layout", layout, LAYOUTS)
        known_choice("conventions", conventions, CONVENTIONS)
        self.question = question
        self.layout = layout
        self.conventions = conventions

    def document(
        self, solutions: Solutions, sheet: str = "", recipe: str = "", besides: frozenset[Besides] = EVERYTHING
    ) -> Document:
        """The question to be filled in, partly worked, worked out, or with everything that a marker needs.

        It is the same structure each time, `Solved` blocks with what is shown and what is wanted `besides`, for formats
        that have a switch or run programs; a blank one holds no solution at all.
        """
        known_choice("solutions", solutions, tuple(SUBTITLES))
        question, subtitle = self.question, SUBTITLES[solutions]
        if solutions in ("answers", "diagnosis"):
            alone = answers(question) if solutions == "answers" else _diagnosis(question)
            return Document(question.title, alone, subtitle, (), sheet, recipe, solutions="key")
        switch = frozenset[Besides]() if solutions == "blank" else besides - {"programs"}
        blocks = tuple(self._blocks(switch | SHOWN[solutions], "programs" in besides))
        fields = ("Name", "Student ID", "Date") if solutions in ("blank", "partly") else ()
        document = Document(question.title, blocks, subtitle, fields, sheet, recipe, solutions=solutions)
        return document if switch else settled(document)

    def _blocks(self, wanted: frozenset[Besides], programs: bool) -> Iterator[Block]:
        question = self.question
        usual = self._usual(wanted, self._programs if programs else None)
        if self.layout == "flow":
            from symattn.teaching.explanation.flow import flow_sheet

            headings = [_heading(part, number) for number, part in enumerate(question.parts, 1)]
            if picture := flow_sheet(question, headings, self.conventions, wanted):
                usual = iter([Flow((picture,), tuple(usual))])
        yield from usual

    def _usual(self, wanted: frozenset[Besides], code: Programs | None) -> Iterator[Block]:
        question = self.question
        if question.introduction:
            yield Solved(question.introduction, question.introduction, ())
        yield from self._conventions
        yield from question.given
        yield from code.opening if code else ()
        yield from joined(self._parts(wanted, code))
        if "key" in wanted and question.after:
            yield Solved((), (), (), question.after)

    @cached_property
    def _programs(self) -> Programs:
        from symattn.teaching.explanation.program import programs

        return programs(self.question)

    @cached_property
    def _conventions(self) -> list[Block]:
        return conventions_box([self.question], self.conventions)

    @cached_property
    def _arranged(self) -> Question:
        return in_schemes(self.question) if self.layout == "falk" else self.question

    @cached_property
    def _headed(self) -> tuple[Part, ...]:
        return tuple(map(headed, self._arranged.parts))

    def _parts(self, wanted: frozenset[Besides], code: Programs | None) -> Iterator[Block]:
        """Each part under its heading, or beside it."""
        begun = PartialSolution(self._arranged)

        def solved(part: Part, number: int) -> Solved:
            """A part with what may stand in its place; its boxes and the space for working stay on one page."""
            shown = Solved(
                ask=_boxed(part.ask) if "ask" in wanted else (),
                partly=_boxed(begun.partly(part)) if "partly" in wanted else (),
                worked=part.key if "worked" in wanted else (),
                key=marking(part) if "key" in wanted else (),
            )
            return code.below(shown, number) if code else shown

        for number, (part, under) in enumerate(zip(self._arranged.parts, self._headed, strict=True), 1):
            if self.layout == "columns" and (apart := question_apart(part)):
                asked, room = apart
                beside = solved(replace(part, ask=room, key=with_rule_apart(part.key)[1]), number)
                yield Columns(QUESTION, (((_heading(part, number), *asked), (beside,)),))
            else:
                yield _heading(under, number)
                yield solved(under, number)


def question_document(
    question: Question,
    sheet: str = "",
    recipe: str = "",
    solutions: Solutions = "blank",
    layout: Layout = "matrix",
    conventions: Conventions = "full",
) -> Document:
    """One document of a question: see `Pages.document`."""
    return Pages(question, layout, conventions).document(solutions, sheet, recipe)


def known_choice(what: str, chosen: str, choices: Sequence[str]) -> None:
    """`InputError` for an unknown choice."""
    if chosen not in choices:
        raise InputError(f"{what} is {chosen!r}; {offered(chosen, choices, 'one of {} was expected')}")


SUBTITLES: Mapping[Solutions, str] = {
    "blank": "",
    "partly": "Partly worked",
    "worked": "Worked solutions",
    "key": "Answer key",
    "answers": "Answers",
    "diagnosis": "Common wrong answers",
}


SHOWN: Mapping[Solutions, frozenset[Besides]] = {
    "blank": frozenset({"ask"}),
    "partly": frozenset({"partly"}),
    "worked": frozenset({"worked"}),
    "key": frozenset({"worked", "key"}),
}
"""What is shown of every `Solved`."""


def _diagnosis(question: Question) -> Blocks:
    if not question.diagnosis:
        raise InputError(
            f"Questions of the type {question.type} have no common wrong answers to list; leave out diagnosis."
        )
    return question.diagnosis


def _boxed(asked: Blocks) -> Blocks:
    return (Together(with_answer_space(asked)),)


def _heading(part: Part, number: int) -> Heading:
    marks = marks_in_brackets(part.marks)
    return Heading(part.title, 1, marks, as_text(f"{number}."), "question")


def conventions_box(questions: Sequence[Question], form: Conventions = "full") -> list[Block]:
    """What holds for the questions, those that share their conventions together; nothing where there is none."""
    if form == "none":
        return []
    shared: dict[tuple[Inlines, ...], list[int]] = {}
    for number, question in enumerate(questions, 1):
        shared.setdefault(_conventions(question, form), []).append(number)
    if len(shared) == 1:
        (items,) = shared
    else:
        items = tuple(
            in_turn([(Strong(questions_of(which)),), *_apart(said)]) for said, which in shared.items() if said
        )
    return [Box("Conventions", (ItemList(items),))] if items else []


def _apart(said: Sequence[Inlines]) -> Iterator[Inlines]:
    """Conventions that stand one behind the other: a semicolon after each that is no sentence, but for the last."""
    for k, convention in enumerate(said, 1):
        *_, end = spans(convention)
        is_sentence = isinstance(end, Words) and end.text.endswith((".", "。"))
        yield convention if is_sentence or k == len(said) else (*convention, Words(";"))


def _conventions(question: Question, form: Conventions) -> tuple[Inlines, ...]:
    """A question without a derivation has its conventions in sentences only."""
    if form == "bare" and question.problem is not None and question.conventions:
        return conventions(question.problem, wording_of(question.problem), brief=True)
    return (*question.conventions, *question.spelling)


def questions_of(numbers: list[int]) -> Message:
    """Question 1: Questions 1 and 3:"""
    if len(numbers) == 1:
        return message("Question {number}:", number=numbers[0])
    return message("Questions {numbers}:", numbers=listed([*map(str, numbers)]))


def booklet(documents: Sequence[Document]) -> Document:
    """Several documents in one, each on a new page under a heading of its own."""
    blocks: list[Block] = []
    for document in documents:
        if blocks:
            blocks.append(PageBreak())
        title: Inlines = as_text(document.subtitle or "Worksheet")
        if document.sheet:
            title = sentence("{document} {sheet}", document=title, sheet=document.sheet)
        blocks.append(Heading(title, 1))
        if document.fields:
            fields = [sentence("{field}: ______________________", field=field) for field in document.fields]
            blocks.append(Paragraph(tuple(x for k, one in enumerate(fields) for x in (*_APART[: 1 if k else 0], *one))))
        blocks += [lowered(block) for block in document.blocks]
    first = documents[0]
    recipe = f"{documents[-1].recipe} --together" if first.recipe else ""
    return replace(first, blocks=tuple(blocks), fields=(), sheet="", recipe=recipe)


_APART = as_text("   ")


def lowered(block: Block) -> Block:
    """The block with its headings one level lower."""
    if isinstance(block, Heading):
        return replace(block, level=block.level + 1)
    return with_blocks_inside(block, lambda inside: tuple(map(lowered, inside)))


# ------------------------------------------------------------------------------------------------ answers alone


def _counted(position: int) -> str:
    """1., 2., …: as the parts of a worksheet are numbered."""
    return f"{position + 1}."


def answers(question: Question, numbered: Callable[[int], str] = _counted) -> Blocks:
    """Every final answer, with the number of its part on the sheet, and the marks with their total."""
    named = {part.name: listed for part in question.parts if (listed := _named(question, part))}
    apart = len({step for _, step, _ in named.values()}) < len(named)  # one name for several matrices
    blocks: list[Block] = []
    together = [
        Row((Name(numbered(k)), formula)) if apart else formula
        for k, part in enumerate(question.parts)
        if part.name in named
        for formula in _formulas(question, *named[part.name])
    ]
    if together:
        blocks.append(Display(tuple(row if isinstance(row, Row) else Row((row,)) for row in wrapped(together, LINE))))
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
            return as_text(numbers.number(value))
        case MatrixAnswer(value) if 1 in value.shape:
            return listing([as_text(numbers.number(x)) for x in value], last="")
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
    return numbers.number(size) if isinstance(size, int) else Name(size)


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
    from symattn.teaching.explanation.diagrams import weight_maps

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


# -------------------------------------------------------------------- a derivation on the page of its notation

Mode = Literal["as-written", "corrected"]

SHORT = 40
"""Leading words up to this length stand on the line of their formula."""


def page(
    problem: Problem, detail: Detail, layout: Layout = "matrix", programs: StepPrograms | None = None
) -> list[Block]:
    """The body of a derivation's document: givens, then every step, with its program below it if there are any.

    A layout of the reader's choice is another page than the notation's own.  `InputError` if a note is to be printed as
    it was written in another layout than its own.
    """
    if layout != "matrix" and not problem.corrected:
        raise InputError(f"A note as it was written has a layout of its own; {layout} goes with it corrected.")
    builder = _Page(problem, detail, "matrix" if layout == "flow" else layout)
    pieces = _with_programs(builder.pieces(), programs, problem.derivation) if programs else builder.pieces()
    blocks = joined(led(block for piece in pieces for block in piece.blocks))
    return [*blocks, *builder.errata()] if problem.errata else blocks


class _Piece(NamedTuple):
    """Some blocks of a page, and the names of the steps that they show; those of the givens show `GIVENS`."""

    blocks: Blocks
    steps: frozenset[str] = frozenset()


GIVENS = frozenset({""})


def _with_programs(pieces: Iterable[_Piece], programs: StepPrograms, derivation: Derivation) -> Iterator[_Piece]:
    """The pieces with the programs of their steps, and of all before them, below the last one that shows a step."""
    cells = [programs.opening, *(programs.steps.get(step.name, ()) for step in derivation)]
    places = {name: k for k, name in enumerate(["", *(step.name for step in derivation)], 1)}
    pending, done = _Piece(()), 0
    for piece in chain(pieces, [_Piece(())]):
        if pending.steps & piece.steps:
            pending = _Piece((*pending.blocks, *piece.blocks), pending.steps | piece.steps)
            continue
        last = max((places[name] for name in pending.steps), default=done)
        yield _with_cells(pending, [cell for of_step in cells[done:last] for cell in of_step])
        pending, done = piece, max(done, last)
    yield _Piece((*(cell for of_step in cells[done:] for cell in of_step), *programs.closing))


def _with_cells(piece: _Piece, cells: Sequence[Block]) -> _Piece:
    """The piece with programs below it, or in its right column."""
    match piece.blocks:
        case (Columns(heads, ((step, working),)),) if heads == STEP:
            return _Piece((Columns(heads, ((step, (*working, *cells)),)),))
    return _Piece((*piece.blocks, *cells))


Indices = Mapping[str, int]
"""By the letters of a notation, which tokens are meant."""
NO_INDICES: Indices = MappingProxyType({})


class _Page:
    """The page of a derivation in its notation, piece by piece."""

    def __init__(self, problem: Problem, detail: Detail, layout: Layout) -> None:
        self.problem, self.detail, self.layout = problem, detail, layout
        self.derivation = problem.derivation
        self.wording = wording_of(problem)
        self.mode: Mode = "corrected" if problem.corrected else "as-written"
        self.patches = {e.at: e.patch for e in problem.errata if e.at and not problem.corrected}
        self.covered: set[str] = set()
        self.shown: set[str] = set()
        self.section = ""

    def pieces(self) -> Iterator[_Piece]:
        sections = [(s, self.mentions(s)) for s in self.notation_sections() if self.applies(s)]
        self.covered = set[str]().union(*(names for _, names in sections))
        givens = [name for name in self.derivation.givens if name not in self.covered]
        if givens and not (self.mode == "as-written" and sections):
            formulas = (given_as_equation(name, self.derivation.value(name), self.wording) for name in givens)
            shown = Display(wrapped(formulas, LINE))
            yield _Piece((Heading(as_text("Given"), 1, of="given"), shown), GIVENS)
        for section, names in sections:
            if first := next((s.name for s in self.derivation if s.name in names - self.shown), ""):
                yield from self.catch_up(first)
            with self.wording.notation.place.here():
                for indices in self.each(section.repeat):
                    yield _Piece(tuple(self.heading(section, indices)))
                    for item in filter(self.applies, section.items):
                        yield from self.item(item, self.each(item.repeat, indices))
            self.shown |= names
        yield from self.catch_up()

    def notation_sections(self) -> tuple[Section, ...]:
        """The notation's page; None if tokens lie the other way, for its words and products would be wrong."""
        notation = self.problem.notation
        lies = notation.settings.get("orientation", "rows") == self.derivation.orientation
        return notation.sections if lies and self.layout == "matrix" else ()

    def errata(self) -> Iterator[Block]:
        """What a note says, what it should say, and why."""
        title = "Errata corrected here" if self.mode == "corrected" else "Errata of the note, left as they are"
        yield Heading(as_text(title), 1)
        yield ItemList(tuple(map(self.erratum, self.problem.errata)))

    def erratum(self, erratum: Erratum) -> Inlines:
        told = sentence(
            "{id} ({kind}). As written: {written} Correct: {corrected}",
            id=erratum.id, kind=erratum.kind,
            written=self.inlines(erratum.as_written), corrected=self.inlines(erratum.corrected),
        )  # fmt: skip
        return in_turn([told, self.inlines(erratum.why.rstrip())] if erratum.why.strip() else [told])

    # -- what the sections leave out

    def catch_up(self, until: str = "") -> Iterator[_Piece]:
        """The steps that no section shows, as far as they come before step `until`; all of them without it."""
        if self.mode == "as-written":
            return  # a note is printed as it stands
        for step in self.derivation:
            if step.name == until:
                return
            if step.name not in self.covered and step.name not in self.shown:
                self.shown.add(step.name)
                yield from self.default(step)

    def default(self, step: Step) -> Iterator[_Piece]:
        if step.section and step.section != self.section:
            self.section = step.section
            named = isinstance(step.section, Message)
            yield _Piece((Heading(as_text(capitalised(step.section) if named else _begun(step.section)), 1),))
        title, worked = step_title(step, self.wording), tuple(explain_step(step, self.wording, self.detail))
        blocks: Blocks
        if self.layout == "columns":
            rule, rest = with_rule_apart(worked)
            blocks = (Columns(STEP, (((titled(title), *rule), rest),)),)
        else:
            worked = Schemes(self.wording).shown(worked) if self.layout == "falk" else worked
            blocks = (Heading(title, 2 if step.section else 1), *worked)
        yield _Piece(blocks, frozenset({step.name}))

    # -- the sections

    def applies(self, thing: Section | PageItem) -> bool:
        if thing.only not in ("", self.mode) or not all(map(self.has, thing.needs)):
            return False
        if isinstance(thing, Section):
            return not thing.items or any(map(self.applies, thing.items))
        math, steps = " ".join(thing.math), (*thing.steps, *thing.entries)
        if _NUMERIC.search(math) and not self.facts["numbers"]:
            return False
        return all(map(self.has, _STEP.findall(math))) and (not steps or any(map(self.has, steps)))

    @cached_property
    def facts(self) -> Mapping[str, bool]:
        """What an item may need besides matrices.

        `tokens`, as many as a number says; `numbers` in all givens, or `letters` for sizes of some; `symbols` among the
        entries; `note`, the page of a note and not of another problem in its notation.
        """
        givens = self.derivation.givens.values()
        letters = any(isinstance(given, Outline) for given in givens)
        return {
            "tokens": isinstance(self.wording.sizes.get("n"), int),
            "numbers": not letters,
            "letters": letters,
            "symbols": not all(map(in_numbers, givens)),
            "note": bool(self.problem.errata),
        }

    def has(self, name: str) -> bool:
        """Whether the derivation has the matrix; `S.i` stands for one token's, `!S'` for none such; so do `facts`."""
        if name.startswith("!"):
            return not self.has(name[1:])
        role, dot, token = name.partition(".")
        return self.facts.get(name, (role + ".1" if dot and not token.isdigit() else name) in self.derivation)

    def mentions(self, section: Section) -> set[str]:
        """The givens and steps that a section shows."""
        names = set(section.covers)
        for item in filter(self.applies, section.items):
            names.update(item.steps, _SHOWN.findall(" ".join(item.math)))
        by_token = {name.partition(".")[0] for name in names if "." in name}
        return names | {step.name for step in self.derivation if step.token and step.role in by_token}

    def each(self, letter: str, indices: Indices = NO_INDICES) -> list[Indices]:
        """The indices of every token, if there is a letter for it, beside others."""
        n = self.wording.sizes.get("n", 0)
        if not letter:
            return [indices]
        return [{**indices, letter: token} for token in range(1, (n if isinstance(n, int) else 0) + 1)]

    def heading(self, section: Section, indices: Indices) -> Iterator[Heading]:
        label, title = (self.inlines(text, indices) for text in (section.label, section.title))
        if not (section.label and section.title):
            if section.label or section.title:
                yield Heading(title if section.title else label)
        elif section.label.endswith("."):
            yield Heading(title, label=label, of="question")
        else:
            yield Heading(sentence("{label}: {title}", label=label, title=title))

    def item(self, item: PageItem, each: Sequence[Indices]) -> Iterator[_Piece]:
        named = [*item.steps, *item.entries, *_SHOWN.findall(" ".join(item.math))]
        steps = frozenset(step.name for own in each for step in self.meant_by(named, own))
        if item.math:
            yield _Piece(tuple(self.displays(item, each)), steps)
            return
        for indices in each:
            for name in item.steps:
                for step in self.meant_by([name], indices):
                    yield from self.catch_up(step.name)
                    yield _Piece(tuple(explain_step(step, self.wording, self.detail)), steps)
            yield _Piece(tuple(self.shown_by(item, indices)), steps)

    def shown_by(self, item: PageItem, indices: Indices) -> Iterator[Block]:
        """An item that shows no whole steps and no formulas alone."""
        patch = self.patches.get(item.id)
        if item.text:
            yield Paragraph(self.inlines(patch or item.text, indices))
        elif item.table:
            header, *rows = [[self.inlines(cell, indices) for cell in row] for row in item.table]
            yield table(header, rows)
        elif item.diagram:
            from symattn.teaching.explanation.diagrams import diagram

            yield diagram(patch or item.diagram, self.wording)
        for step in self.meant_by(item.entries, indices):
            yield from entries(step, self.wording, self.detail)

    def displays(self, item: PageItem, each: Sequence[Indices]) -> Iterator[Block]:
        """Formulas with what leads to them: short words on the same line, long ones above.

        Of several words the first are for the first token, and so on, the last for all further ones.
        """
        patch = self.patches.get(item.id)
        groups: list[tuple[str, Indices, list[Formula]]] = []
        for indices in each:
            number = indices.get(item.repeat, 1)
            lead = item.lead[min(number, len(item.lead)) - 1] if item.lead else ""
            lines = [line for text in ((patch,) if patch else item.math) for line in self.lines(text, indices)]
            groups.append((lead, indices, lines))
        if groups and len(item.lead) < 3 and not any("{" in lead for lead in item.lead):
            groups = [(*groups[0][:2], [line for *_, lines in groups for line in lines])]
        above = any(len(lead) > SHORT for lead, *_ in groups)
        for lead, indices, lines in groups:
            words = self.inlines(lead, indices) if lead else ()
            if above and words:
                yield Paragraph(words)
            yield Display(tuple(lines), () if above else words)

    def meant_by(self, names: Iterable[str], indices: Indices) -> Iterator[Step]:
        """The steps of these names, in the order of the names."""
        for name in names:
            yield from (step for step in self.derivation if self.meant(step, name, indices))

    def meant(self, step: Step, name: str, indices: Indices) -> bool:
        """`S.2` is that step; `S.i` is token i's, or every token's where i is no index here."""
        role, _, token = name.partition(".")
        if not token or token.isdigit():
            return step.name == name
        return step.role == role and step.token is not None and step.token == indices.get(token, step.token)

    def lines(self, text: str, indices: Indices) -> list[Formula]:
        formula = read_formula(text, self.wording.scope(**indices))
        match formula:
            case Relation():
                return list(fold(formula, LINE))
            case Row(items) if width(formula) > LINE:
                return list(wrapped(items, LINE))
        return [formula]

    def inlines(self, text: str, indices: Indices = NO_INDICES) -> Inlines:
        return self.wording.inlines(text, {**self.wording.sizes, **indices}, **indices)


_WITH_NUMBERS = "values|nested|decimals|numbers|visible|entry|sums|weighing|totals|grid"
_STEP = re.compile(rf"@(?:{_WITH_NUMBERS}|named|shape|scale|labelledmask)\(([^,()\[\]^]+)")
_SHOWN = re.compile(rf"@(?:{_WITH_NUMBERS})\(([^,()\[\]^]+)")
_NUMERIC = re.compile(r"@(?:decimals|entry|weight|weighing|sums|totals|grid)\(")


def _begun(text: str) -> str:
    """A person's own text, its first letter large."""
    return text[:1].upper() + text[1:]


def led(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, words that lead to a figure or a formula ("That is to say:") on one page with it."""
    before: Paragraph | None = None
    for block in blocks:
        if before and (isinstance(block, Diagram) or (isinstance(block, Display) and before.announces)):
            yield Together((before, block))
            before = None
            continue
        if before:
            yield before
        before = block if isinstance(block, Paragraph) else None
        if not before:
            yield block
    if before:
        yield before
