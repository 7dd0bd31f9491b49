"""Documents as Typst markup, which the typst in our wheel turns into tagged PDF (PDF/UA-1).

Text of a document appears only inside string literals: never as markup, never as code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, assert_never

from symattn.errors import InputError
from symattn.formula.nodes import (
    NOTHING,
    Blank,
    Formula,
    MatrixOf,
    contains,
    equal,
)
from symattn.formula.speech import speak
from symattn.formula.width import matrix_columns
from symattn.foundation.languages import catalogue, say, speaking
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Besides,
    Block,
    Box,
    Cells,
    Choices,
    Columns,
    Diagram,
    Display,
    Document,
    Entries,
    Falk,
    FillIn,
    FillIns,
    Flow,
    FlowGrid,
    FlowSheet,
    Heading,
    HeatMap,
    HeatMaps,
    Inlines,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Program,
    Solved,
    Span,
    Table,
    Together,
    WorkingSpace,
    as_text,
    settled,
    spans,
)
from symattn.page.writers import common, coverage, figures, flow, measure, paper, tables
from symattn.page.writers.characters import plain
from symattn.page.writers.forms import Form, Kind, Spot
from symattn.page.writers.page import Attachment, filled, masthead
from symattn.page.writers.paper import Page
from symattn.page.writers.rows import (
    ENTRIES_APART,
    Asked,
    Group,
    InRow,
    Labelled,
    Placed,
    SideBySide,
    WorkedRow,
    columns_of_choices,
    columns_of_entries,
    groups,
    in_part,
    in_rows,
    pages_in_rows,
    pictured,
    tightened,
    width_of_columns,
    worked_in_rows,
)
from symattn.page.writers.typst_text import (
    LIGATURE,
    array,
    choices_have_room,
    chunk_call,
    curled,
    display_call,
    formula_content,
    formula_lines,
    formulas_call,
    has_room,
    heading_has_room,
    inline_content,
    literal,
    math_source,
    printable_text,
    spoken_words,
    text_content,
    title_content,
    words_content,
)

SUFFIX = ".typ"
BESIDES: frozenset[Besides] = frozenset()

_PAGE_NUMBERS = "#counter(page).display()", "#counter(page).final().first()"
_PAPER = {"a4": "a4", "letter": "us-letter"}

_ABOVE_HEADING = ("auto", "1.25em", "1.15em")  # by its level: space of a group that begins with a heading
_LONG_TABLE = 14  # a table of more rows may go on on the next page; with matrices, which are as high as 3, of a third


def formula(formula: Formula) -> str:
    """One formula as it stands between dollar signs."""
    return math_source(formula, "normal")


# --- documents ----------------------------------------------------------------------------------------


def write(document: Document) -> str:
    """The whole document, to be printed: fields are made in a finished PDF."""
    return written(replace(document, look=replace(document.look, fillable=False)))[0]


def written(
    document: Document,
    also: Iterable[str] = (),
    *,
    careful: bool = False,
    closer: bool = False,
    ends: bool = False,
) -> tuple[str, Mapping[str, str]]:
    """The whole document, and what stands in it in the place of text that cannot be printed.

    The characters `also` can be printed too; `careful`, only Latin letters are.  `closer`, there is less space between
    what stands in it, and above and below, and questions stand side by side wherever that is lower; with `ends`, the
    last questions can be kept on one page (`with_whole_end`).
    """
    with speaking(document.look.language), coverage.printing(also, careful) as account:
        return _document(settled(document), account, closer, ends), account.replaced


WORKED = frozenset({"key", "worked"})
"""Documents in which lines are close, for nothing is written into them."""


def _document(document: Document, account: coverage.Printing, closer: bool, ends: bool) -> str:
    asked = document.look.fillable and document.solutions == "blank"
    worked = document.solutions in WORKED
    form = Form(document.sheet, document.look.text_size) if asked else None
    page = Page(document.look, dense=worked, closer=closer, form=form)
    line = " · ".join(filter(None, map(common.visible, (document.title, document.sheet, document.footer))))
    blocks = common.with_marks_in_headings(common.with_sound_levels(document.blocks), page.line)
    return filled(
        "document.typ.j2",
        sheet_comment=line,
        title=literal(curled(printable_text(document.title)) or say("Untitled")),
        subtitle=literal(curled(printable_text(document.subtitle))) if document.subtitle else "",
        form=asked,
        air="0.4" if worked else "0.65" if page.compact else "1",
        fields=[literal(curled(printable_text(common.label(name)))) for name in document.fields],
        addresses=[_address(page, "line", name) for name in document.fields],
        field_columns=1 if page.large else min(3, len(document.fields)),
        sheet=literal(printable_text(document.sheet)),
        recipe=_recipe(document.footer),
        footers=_footers(document),
        language=literal(catalogue(document.look.language).code),
        page_number="".join(common.page_words(*_PAGE_NUMBERS, words_content)),
        page=page,
        formula_size=page.formula_size,
        paper=_PAPER[document.look.paper],
        uses=common.parts_used(document),
        side=paper.SQUARE,
        body=_below_rule(_body(blocks, page, ends)),
        ends=_WHOLE.format(0) if ends else "",
        logo=_logo(masthead().logo),
        ligatures=not (
            LIGATURE.search("\n".join((document.title, document.subtitle, document.sheet, *document.fields)))
        ),
        long_word=_long_word(page) if account.longest >= _long_word(page) else 0,
        has_han=account.has_han,  # this and what is above are known only now that all text has been written
    )


_FOOTER = 1.7  # millimetres of a character of 8 pt
_UNBROKEN = 40  # characters that stand on one line


def _footers(document: Document) -> int:
    """How many lines a footer has: a command that has no room beside the sheet's name and the page stands below."""
    command = _FOOTER * len(document.footer)
    beside = command + _FOOTER * len(document.sheet) <= 0.75 * paper.PAGE_WIDTH
    return 1 if beside else 1 + math.ceil(command / (0.9 * paper.PAGE_WIDTH))


def _logo(logo: Attachment | None) -> str:
    """The bytes of a picture and their format; nothing where there is none."""
    if logo is None:
        return ""
    if logo.kind == "pdf":
        raise InputError(f"{logo.name} cannot stand in accessible PDF (PDF/A-2a); an SVG, PNG or JPEG was expected.")
    if logo.kind == "svg":
        text = logo.content.decode("utf-8", "replace").replace("\\", "\\\\").replace('"', '\\"')
        return f'bytes("{text}"), format: "svg"'
    kind = "jpg" if logo.kind == "jpeg" else logo.kind
    return f'bytes(({", ".join(map(str, logo.content))},)), format: "{kind}"'


def _recipe(command: str) -> str:
    """A command as an array of what lines may end between: an option stays with its value."""
    pieces: list[str] = []
    for piece in re.split(r" (?=--|-n )", printable_text(command)):
        pieces += [piece] if len(piece) <= _UNBROKEN else piece.split(" ")
    return array(f"box({literal(p)})" if len(p) <= _UNBROKEN else literal(p) for p in pieces) if command else ""


_SHORT = 12  # characters: a shorter word never leaves a page


def _long_word(page: Page) -> int:
    """How many characters a word has that may be broken anywhere, so that it does not leave the page."""
    return max(_SHORT, int(36 / page.scale))


def fewest_pages(document: Document) -> int:
    """About how many pages a worksheet takes if as much is to stand on them as has room; 0 for anything else."""
    if document.solutions != "blank" or document.look.fillable:
        return 0
    with speaking(document.look.language):
        return pages_in_rows(settled(document).blocks, Page(document.look, closer=True))


_BOX = "#notebox("


def _below_rule(body: str) -> str:
    """What stands below a rule; a box with which it begins has none of its own on top."""
    return _BOX + "top: false, " + body.removeprefix(_BOX) if body.startswith(_BOX) else body


_MOST_WHOLE = 2  # questions at the end that can be kept on one page
_WHOLE = "\n#let whole-questions = {}\n"


def _body(blocks: Sequence[Block], page: Page, ends: bool) -> str:
    """The blocks of a page, with questions side by side where they have room."""
    placed = worked_in_rows(blocks, page) if page.dense else in_rows(blocks, page)
    starts = [k for k, one in enumerate(placed) if isinstance(one, Heading | WorkedRow)][1:] if ends else []
    cuts = pairwise((0, *starts[-_MOST_WHOLE:], len(placed)))
    parts = [[*_sources(placed[start:end], page)] for start, end in cuts]
    for questions in range(1, len(parts)):
        end = "\n\n".join(parts.pop())
        parts[-1].append(f"{_AT_END.format(questions)}{{ whole-end }} else {{ it => it }})[\n{end}\n]")
    return "\n\n".join(parts[0])


_HEADING = re.compile(r"#(?:heading|asked)\(")
_AT_END = "#(if whole-questions == {} "


def headings_at_end(source: str, questions: int) -> int:
    """How many headings there are in the last `questions` questions; 0 where there are not so many."""
    return len(_HEADING.findall(source.partition(_AT_END.format(questions))[2]))


def with_whole_end(source: str, questions: int) -> str:
    """The source with its last `questions` questions whole on one page.

    Nothing else is changed, so typst, which keeps what it laid out, lays out the end alone.
    """
    return source.replace(_WHOLE.format(0), _WHOLE.format(questions), 1)


def _sources(placed: Sequence[Placed], page: Page) -> Iterator[str]:
    for _, run in groupby(placed, lambda one: isinstance(one, SideBySide)):
        blocks: list[Block] = []
        for one in run:
            if isinstance(one, SideBySide):
                yield _side_by_side(one, page)
            else:
                blocks.append(one)
        if blocks:
            yield _blocks(blocks, page)


def _side_by_side(placed: SideBySide, page: Page) -> str:
    match placed:
        case Labelled(heading, shown):
            return f"#labelled({len(shown.lines)})[\n{_block(heading, page)}\n][\n{_block(shown, page)}\n]"
        case InRow():
            return _in_row(placed, page)
        case WorkedRow(questions, shares):
            widths = array(f"{wide:.1f}mm" for wide in shares)
            parts = zip(questions, shares, strict=True)
            cells = (f"[\n{_blocks(blocks, in_part(page, wide))}\n]" for blocks, wide in parts)
            return f"#worked-row({widths})" + "".join(cells)


def _in_row(row: InRow, page: Page) -> str:
    shares = zip(row.questions, row.widths, strict=True)
    cells = "".join(f"[\n{_question(question, wide, row, page)}\n]" for question, wide in shares)
    widths = array(f"{wide:.1f}mm" for wide in row.widths)
    call = f"#in-row({widths}, {row.below}mm, [{words_content(say('Working'))}]){cells}"
    return call + "\n#more-space" * (row.below > 0)


def _question(question: Asked, wide: float, row: InRow, page: Page) -> str:
    """A question in its part of a line, in millimetres."""
    before = _blocks((question.heading, *question.said), in_part(page, wide))
    formulas, boxes = _blocks(question.shown, page), _block(question.boxes, replace(page, narrow=row.narrow))
    if row.beside and formulas:
        return f"{before}\n#given-and-boxes[\n{formulas}\n][\n{boxes}\n]"
    return f"{before}\n#moved-out[\n{formulas}\n\n{boxes}\n]"


def _in_columns(equations: tuple[Formula, ...], columns: int, page: Page) -> str:
    cells, widths = tightened(equations)
    rows = [*map(f" & #h({ENTRIES_APART}em) ".join, measure.in_lines(cells, columns))]
    return formulas_call(spoken_words(*equations), rows, width_of_columns(widths, columns), page, close=True)


def _blocks(blocks: Sequence[Block], page: Page, together: bool = False) -> str:
    blocks = common.without_programs(blocks)
    kept, sources, end = common.stays_with_next(blocks, together), list[str](), 0
    for group in groups(blocks, page):
        source = _group(group, page)
        if end and isinstance(blocks[end - 1], Box):
            source = _below_rule(source)
        end += len(group.blocks)
        apart = "(apart: 1.15em)" if isinstance(blocks[end - 1], Display) else ""  # as round any formula
        sources.append(f"#kept{apart}[{source}]" if kept[end - 1] else source)
    return "\n\n".join(sources)


def _group(group: Group, page: Page) -> str:
    match group.blocks:
        case (block,):
            return _block(block, page)
        case (HeatMap() as picture, Choices() as options) if wide := pictured(picture, options, page):
            part = in_part(page, wide)
            return f"#pictured({wide:.1f}mm)[\n{_block(picture, page)}\n][\n{_block(options, part)}\n]"
    parts = []
    for block in group.blocks:
        if isinstance(block, Entries):
            parts.append(_in_columns(block.equations, group.columns, page))
        elif isinstance(block, Display):
            parts.append(formula_lines(block.lines, page))
    return "#beside" + "(fits: true)" * group.fits + "".join(f"[\n{part}\n]" for part in parts)


def _block(block: Block, page: Page) -> str:
    if (own := common.replaced(block)) is not None:
        return own
    match block:
        case Heading():
            if page.form:
                page.form.heading(block)
            return _heading(block, page)
        case Paragraph(content, marks):
            return text_content(content, page.line) + _marks(marks)
        case Display():
            return display_call(block, page)
        case Entries():
            return _entries(block, page)
        case AnswerGrid():
            return _grid(block, page)
        case WorkingSpace():
            return _working_space(block, page)
        case AnswerSpace():
            return _answer_space(block, page)
        case FillIns(items):
            return _fill_ins(items, page)
        case Choices():
            return _choices(block, page)
        case HeatMap():
            return f"#heat-map({_cells_of(block)})"
        case HeatMaps():
            return _heat_maps(block)
        case ItemList():
            return _list(block, page)
        case Table():
            return _table(block, page)
        case Box():
            return _box(block, page)
        case Together():
            return _together(block, page)
        case Falk():
            return _falk(block, page)
        case Flow():
            return _blocks(flow.shown(block, page), page)
        case FlowSheet():
            return _flow_sheet(block, page)
        case Columns():
            return _columns(block, page)
        case Solved():
            return _blocks(common.one_after_another(block), page)
        case Diagram():
            return _drawing(figures.drawn(block), page)
        case Program():  # for notebooks
            return ""
        case PageBreak(leaf):
            return '#pagebreak(weak: true, to: "odd")' if leaf else "#pagebreak(weak: true)"
        case _:
            assert_never(block)


def _entries(entries: Entries, page: Page) -> str:
    """Equations in columns; where one is too wide for a line, each on lines of its own."""
    _, widths = tightened(entries.equations)
    if max(widths, default=0.0) > page.room:
        return "\n\n".join(chunk_call(measure.folded((x,), limit=page.room), page) for x in entries.equations)
    return _in_columns(entries.equations, columns_of_entries(widths, entries.columns, page), page)


def _working_space(space: WorkingSpace, page: Page) -> str:
    address = _more(_address(page, "space", say("Working"), holds="lines"))
    if space.ruled:
        return f"#ruled-space({paper.ruled_lines(space, page)}, {page.millimetres(paper.RULING)}mm{address})"
    return f"#working-space({paper.space_height(space, page)}mm, [{words_content(say('Working'))}]{address})"


def _heat_maps(maps: HeatMaps) -> str:
    pictures = "".join(f"  ([{text_content(caption)}], {_cells_of(picture)}),\n" for caption, picture in maps.items)
    return f"#heat-maps({paper.SMALL if maps.small else 1},\n{pictures})"


def _list(listed: ItemList, page: Page) -> str:
    items = "".join(f"  [{text_content(item, page.line - 3)}],\n" for item in listed.items)
    if first := paper.in_first_column(listed, page):
        fits = ", fits: true" * paper.have_room_in_columns(listed, first, page)
        return f"#list-in-columns({first}{fits},\n{items})"
    return f"#{'enum' if listed.ordered else 'list'}(\n{items})" if items else ""


def _box(box: Box, page: Page) -> str:
    """In a key, a list goes on in the line of the title."""
    match box.blocks:
        case (ItemList(items, ordered=False),) if page.dense and not page.large:
            told = "#h(1em)".join(text_content(item, page.line) for item in items)
            return f"{_BOX}[])[{words_content(box.title, 'strong')}#h(1em){told}]"
    return f"{_BOX}[{words_content(box.title)}])[\n{_blocks(box.blocks, page)}\n]"


def _together(group: Together, page: Page) -> str:
    """Blocks on one page; the frame of boxes at their end may take what is left of it."""
    above = _ABOVE_HEADING[min(2, common.level_of_first_heading(group))]
    match group.blocks:
        case (*before, AnswerSpace() as last) if not page.form and page.share == 1:
            shown = _blocks((*before, Paragraph(())), page, together=True)
            return f"#together({above}, below: 0pt)[\n{shown}\n{_answer_space(last, page, open=True)}\n]\n#more-space"
    return f"#together({above})[\n{_blocks(group.blocks, page, together=True)}\n]"


# --- form fields --------------------------------------------------------------------------------------


def _address(page: Page, kind: Kind, says: str, **how: Any) -> str:
    """The address of the field for the next place of a kind; "" where nothing is to be filled in on a screen."""
    if page.form is None:
        return ""
    says = common.visible(says).strip() or say("Answer")
    return literal(page.form.address(page.form.spot(kind, says), says, **how))


def _more(address: str) -> str:
    """An address as one more argument of a call."""
    return f", {address}" if address else ""


def _addresses(
    page: Page, place: Kind | Spot, name: Formula, rows: Cells, start: tuple[int, int] = (0, 0), **how: Any
) -> str:
    """Those of the blanks in a matrix, as one more argument; the first is in the row and column after `start`."""
    if page.form is None:
        return ""
    spot = place if isinstance(place, Spot) else page.form.spot(place)
    made = []
    for i, row in enumerate(rows, 1 + start[0]):
        for j, cell in enumerate(row, 1 + start[1]):
            says = say("{name}, row {row}, column {column}", name=speak(name) or say("Answer"), row=i, column=j)
            blank = isinstance(cell, Blank)
            made.append(literal(page.form.address(spot, says, i, j, **how)) if blank else "none")
    return array(made)


# --- blocks -------------------------------------------------------------------------------------------


def _heading(heading: Heading, page: Page) -> str:
    """A heading; an empty one is none, which PDF/UA refuses.

    Typst need not measure what surely has room: that takes as long as setting it.
    """
    match tuple(spans(heading.whole)):
        case (*words, Math() as rule) if words:
            marks = f"[{words_content(heading.marks)}]" if heading.marks else "none"
            fits = ", fits: true" * heading_has_room(heading, page)
            return f"#asked({heading.level}, [{title_content(tuple(words))}], [{inline_content(rule)}], {marks}{fits})"
        case content if plain(content).strip():
            return f"#heading(level: {heading.level})[{title_content(content)}{_marks(heading.marks)}]"
    return _marks(heading.marks)


def _marks(marks: str) -> str:
    return f"#at-margin[{words_content(marks)}]" if marks else ""


_SURE_GRID = 0.85  # of a line: boxes are as wide as they are, and a name may be wider than it is estimated to be


def _grid(grid: AnswerGrid, page: Page) -> str:
    wide, high = paper.box_size(grid, page)
    # Before labels of rows an equals sign would be read with one of them: mask = 2.
    name = f"[{inline_content(Math(grid.name if grid.row_labels else equal(grid.name, NOTHING)))}]"
    size = f"{grid.rows}, {grid.columns}, {wide}mm, {high}mm"
    matrix = MatrixOf(grid.cells, row_labels=grid.row_labels, column_labels=grid.column_labels)
    spoken = spoken_words(matrix if grid.name == NOTHING else equal(grid.name, matrix))
    fields = _more(_addresses(page, "grid", grid.name, matrix.rows, holds="shade" if grid.shade else "line"))
    fits = ", fits: true" * (paper.grid_size(grid, page)[0] < _SURE_GRID * page.width)
    if common.is_plain(grid):
        return f"#answer-grid({spoken}, {name}, {size}{fields}{fits})"
    brackets = str(grid.in_brackets).lower()
    labels = (array(map(formula_content, labels)) for labels in (grid.row_labels, grid.column_labels))
    parts = (
        spoken,
        "none" if grid.name == NOTHING else name,
        size,
        brackets,
        array(map(formula_content, matrix.entries)),
        *labels,
    )
    return f"#cell-grid({', '.join(parts)}{fields}{fits})"


def _answer_space(answer: AnswerSpace, page: Page, open: bool = False) -> str:
    """Boxes, and space for working round them in one frame, which is `open` below where more space follows."""
    boxes, more = _block(answer.boxes, page), ""
    if page.form:
        across = paper.grid_size(answer.boxes, page)[0] if isinstance(answer.boxes, AnswerGrid) else page.width
        more = f", {min(across + page.millimetres(8), page.width)}mm"
    label = words_content(paper.working_label(answer, page))
    below = f"{paper.below_boxes(answer, page)}mm, [{label}], {str(open).lower()}"
    address = _more(_address(page, "space", say("Working"), holds="lines"))
    return f"#answer-space({below}{more}{address})[{boxes}]"


_LEFT_COLUMN = 0.36  # of the line; the right one has the rest, but for the gap between them
_RIGHT_COLUMN = 0.6


def _columns(columns: Columns, page: Page) -> str:
    sides = (replace(page, share=_LEFT_COLUMN), replace(page, share=_RIGHT_COLUMN))
    heads = ", ".join(f"[{text_content(head)}]" for head in columns.heads)
    rows = "".join(
        "  " + ", ".join(f"[\n{_blocks(cell, side)}\n]" for cell, side in zip(row, sides, strict=True)) + ",\n"
        for row in columns.rows
    )
    return f"#two-columns({_LEFT_COLUMN}fr, {_RIGHT_COLUMN}fr, {heads},\n{rows})"


def _falk(falk: Falk, page: Page) -> str:
    """The factors left of and above the product, in rows and columns of one size."""
    names = [formula_content(name) for name in falk.names] or ["[]", "[]"]
    inside = falk.inside
    if isinstance(inside, AnswerGrid):
        wide, high = paper.box_size(inside, page)
        box, product = f"({wide}mm, {high}mm)", MatrixOf(inside.cells)
        names.append(formula_content(inside.name))
        fields = _addresses(page, "grid", inside.name, product.rows)
    else:
        box, product, fields = "none", inside, _addresses(page, "copy", NOTHING, inside.rows)
        names.append("[]")
    called = falk.names or (NOTHING, NOTHING)
    factors = (
        _part_of_falk(factor, _box_of_blanks(factor, page), _addresses(page, "copy", name, factor.rows))
        for factor, name in zip((falk.left, falk.above), called, strict=True)
    )
    parts = (*factors, _part_of_falk(product, box, fields))
    spoken = spoken_words(*falk.names, falk.left, falk.above, product, lead=as_text(say("Matrix product")))
    rounded = str(falk.left.bracket == "(").lower()
    return f"#falk({', '.join([spoken, rounded, *names, *parts])})"


def _flow_sheet(sheet: FlowSheet, page: Page) -> str:
    """A flow sheet as calls that place its shapes, in their order."""
    pictures, spots = flow.fitted(sheet, page), {}
    for heading in sheet.headings if page.form else ():
        assert page.form is not None
        page.form.heading(heading)
        spots[heading] = page.form.spot("grid")
    sources = [text_content(sheet.legend, page.line)] if sheet.legend else []
    for picture in pictures:
        parts = "".join(f"  {part},\n" for shape in picture.shapes for part in _drawn_flow(shape, page, spots))
        named = [equal(grid.rule, MatrixOf(grid.cells)) for grid in picture.grids]
        spoken = spoken_words(*named, lead=as_text(say("Flow sheet")))
        size = f"{picture.width:.1f}, {picture.height:.1f}, {picture.smaller(page) * 100:.1f}%"
        sources.append(f"#flow-sheet({spoken}, {size},\n{parts})")
    return "\n\n".join(sources)


def _drawn_flow(shape: flow.Shape, page: Page, spots: Mapping[Heading, Spot]) -> Iterator[str]:
    match shape:
        case flow.Boxes(grid, x, y):
            cells = array(formula_content(cell) for row in grid.cells for cell in row)
            fields = _more(_flow_fields(grid, page, spots))
            given = str(isinstance(grid.inside, MatrixOf)).lower()
            size = f"{len(grid.cells[0])}, {_numbers(*grid.cell)}"
            yield f"flow-boxes({_numbers(x, y)}, {size}, {given}, {cells}{fields})"
        case flow.Title(_, lines, x, y, ends):
            words = ", ".join("[" + "".join(map(_high, spans(line))) + "]" for line in lines)
            yield f"flow-title({_numbers(x, y)}, {str(ends).lower()}, {words})"
        case flow.Token(token, x, y, wide, high):
            yield f"flow-token({token % flow.PATTERNS}, {_numbers(x, y, wide, high)})"
        case flow.Outline(x, y, wide, high):
            yield f"flow-outline({_numbers(x, y, wide, high)})"
        case flow.Note(content, x, y):
            yield f"flow-note({_numbers(x, y)}, [{''.join(map(_high, spans(content)))}])"
        case figures.Line():
            points = ", ".join(f"flow-at({_numbers(*point)})" for point in shape.points)
            (x, y), (right, down) = shape.head
            yield f"flow-arrow({points}, head: ({x:.1f}, {y:.1f}, {right:.0f}, {down:.0f}))"
        case _:
            assert_never(shape)


def _high(part: Span) -> str:
    """Text with fractions as high as on a line of their own."""
    match part:
        case Math(formula):
            before = '"" ' if measure.goes_on(formula) else ""
            return f"#m({spoken_words(formula)}, ${before}{math_source(formula, 'tall')}$)"
    return inline_content(part)


def _flow_fields(grid: FlowGrid, page: Page, spots: Mapping[Heading, Spot]) -> str:
    """The fields of its empty boxes, as places in the matrix that is asked for, or for working."""
    spot: Kind | Spot = spots[grid.heading] if page.form and grid.heading else "copy"
    name = grid.inside.name if isinstance(grid.inside, AnswerGrid) else NOTHING
    return _addresses(page, spot, name, grid.cells, grid.start)


def _part_of_falk(matrix: MatrixOf, box: str, fields: str) -> str:
    """A grid of entries; with boxes of the given size round them, if there is one, and fields in them."""
    pads = matrix_columns(matrix).pads
    cells = array(
        array(formula_content(cell, pads.get((i, j), (0.0, 0.0))) for j, cell in enumerate(row))
        for i, row in enumerate(matrix.rows)
    )
    return f"(box: {box}, cells: {cells}{f', fields: {fields}' if fields else ''})"


def _box_of_blanks(factor: MatrixOf, page: Page) -> str:
    kinds = {cell.kind for row in factor.rows for cell in row if isinstance(cell, Blank)}
    if not kinds:
        return "none"
    grid = AnswerGrid(NOTHING, len(factor.rows), len(factor.rows[0]), max(kinds, key=lambda kind: paper.BOX[kind]))
    wide, high = paper.box_size(grid, page)
    return f"({wide}mm, {high}mm)"


def _fill_ins(items: Sequence[FillIn], page: Page) -> str:
    """Short items next to one another, long ones in paragraphs of their own."""
    parts: list[str] = []
    for short, run in groupby(items, lambda item: paper.is_short(item, page)):
        if short:
            parts.append("#fill-ins({})".format(", ".join(f"box[{_fill_in(item, page)}]" for item in run)))
        else:
            parts += [f"#fill-ins([{_fill_in(item, page)}])" for item in run]
    return "\n\n".join(parts)


def _fill_in(item: FillIn, page: Page) -> str:
    if common.has_character_boxes(item):
        boxes = (f"[{words_content(c)}]" for c in common.in_boxes(item))
        address = _field_of(item, page, boxes=item.boxes)
        place = f"#character-boxes({', '.join(filter(None, (address, *boxes)))})"
    else:
        address = _more(_field_of(item, page))
        place = f"#writing-line({paper.line_width(item, page)}mm, [{words_content(item.value)}]{address})"
    return " ".join(filter(None, (text_content(item.label, page.line), place, text_content(item.after, page.line))))


def _field_of(item: FillIn, page: Page, **how: Any) -> str:
    """Where something stands already, nothing is filled in."""
    address = _address(page, "line", plain(item.label).strip(" =:："), **how)
    return "none" if address and item.value else address


def _choices(choices: Choices, page: Page) -> str:
    if not choices.items:
        return ""
    form, ticks = page.form, [""] * len(choices.items)
    if form and choices.ticked:
        ticks = [", none"] * len(ticks)
    elif form:
        spot = form.spot("choices")
        says = [f"{common.label(common.letter(i))} {plain(item)}" for i, item in enumerate(choices.items)]
        ticks = [_more(literal(form.address(spot, said, i, holds="tick"))) for i, said in enumerate(says, 1)]
    columns = columns_of_choices(choices, page)
    box = "#high" if choices_have_room(choices, columns, page) else "#whole"
    items = (
        f'  choice("{common.letter(i)}", {str(i in choices.ticked).lower()}, [{_option(item, box)}]{ticks[i]}),\n'
        for i, item in enumerate(choices.items)
    )
    return f"#choices({array(columns)},\n{''.join(items)})"


def _option(content: Inlines, box: str) -> str:
    match content:
        case [Math(formula)] if not contains(formula, MatrixOf):
            return f"{box}({formula_content(formula)})"
        case [Math()]:
            return f"{box}([{text_content(content)}])"
        case _:
            return text_content(content)


def _cells_of(picture: HeatMap) -> str:
    levels = array(array(map(str, row)) for row in picture.levels)
    cells = array(array(f"[{words_content(word)}]" if word else "none" for word in row) for row in picture.words)
    labels = (array(map(formula_content, labels)) for labels in (picture.row_labels, picture.column_labels))
    description = literal(picture.description.strip() or say("A picture of a matrix."))
    return ", ".join((description, f"{paper.cell_width(picture):.1f}", levels, cells, *labels))


def _table(table: Table, page: Page) -> str:
    fields = _fields_of(table, page)
    turned = tables.laid_out(table, page)
    if turned is not table:
        table, fields = turned, {(j, i): address for (i, j), address in fields.items()}
    shares = tables.column_shares(table, page.line)
    if sum(shares) < 1:
        columns = f"({', '.join(f'{share:.3f}fr' for share in shares)},)" if shares else str(len(table.header))
    else:
        columns = f"({', '.join(f'{share * page.line + 1.2:.1f}em' for share in shares)},)"
    # A table that is made smaller cannot go on on the next page: it is cut into several.
    smaller = tables.is_too_wide(table, shares, page.line)
    if smaller and page.large and not fields:
        return _row_by_row(table, page)
    if tables.in_two_halves(table, page) and not fields:
        half = -(-len(table.rows) // 2)
        sides = (replace(table, rows=rows) for rows in (table.rows[:half], table.rows[half:]))
        return "#two-halves" + "".join(
            f"[{_part_of_table(side, columns, page, fields, 0, page.line / 2 - 1)}]" for side in sides
        )
    parts = tables.table_parts(table, shares, page, len(table.rows)) if smaller else [table.rows]
    above = 0
    sources = []
    for part in parts:
        sources.append(_part_of_table(replace(table, rows=part), columns, page, fields, above, page.line))
        above += len(part)
    return "\n\n".join(sources)


def _row_by_row(table: Table, page: Page) -> str:
    """A table that is too wide in large print: the cells of a row one below the other, each with its head."""
    rows = []
    for row in table.rows:
        cells = [
            f"strong[{text_content(head)}#{literal(common.label(''))}] + [ {text_content(cell, page.line)}]"
            if plain(head).strip()
            else f"[{text_content(cell, page.line)}]"
            for head, cell in zip(table.header, row, strict=True)
        ]
        rows.append(f"({', '.join(cells)})")
    return f"#table-by-rows({', '.join(rows)})"


def _fields_of(table: Table, page: Page) -> dict[tuple[int, int], str]:
    """A call that draws the field of every blank in a table, by row and column, from 1, without the heads."""
    if page.form is None or not any(tables.is_blank(cell) for row in table.rows for cell in row):
        return {}
    spot, fields = page.form.spot("table"), {}
    for i, row in enumerate(table.rows, 1):
        for j, cell in enumerate(row[1:], 1):
            match cell:
                case (Math(Blank(kind)),):
                    says = f"{plain(row[0])}, {plain(table.header[j])}"
                    fields[i, j] = (
                        f"#field-line({literal(page.form.address(spot, says, i, j))}, {paper.BLANK[kind]} * mm)"
                    )
    return fields


def _part_of_table(
    table: Table, columns: str, page: Page, fields: Mapping[tuple[int, int], str], above: int, room: float
) -> str:
    """Rows of a table that has `above` rows above them, and so much room in a line.

    Typst need not measure what surely has room: that takes as long as setting it.
    """
    heads = ", ".join(f"strong[{text_content(cell)}]" for cell in table.header)
    rows = []
    for i, row in enumerate(table.rows, above + 1):
        head, *others = (
            f"[{'#room-to-write' * tables.is_blank(cell)}{fields.get((i, j)) or text_content(cell)}]"
            for j, cell in enumerate(row)
        )
        if tables.is_for_writing(row, table):
            others = [f"[#box-to-write({page.millimetres(paper.WRITING)}mm)]"] * len(others)
        rows.append("  " + ", ".join([f"strong{head}" if table.row_heads else head, *others]))
    high = tables.has_matrices(table)
    long = ", long: true" if len(rows) > page.rows(_LONG_TABLE) // (3 if high else 1) else ""
    lines = ", lines: true" * high + ", boxes: true" * tables.has_rows_for_writing(table)
    fits = ", fits: true" * (columns.isdecimal() and not page.large and not fields and has_room(table, room))
    options = f"{columns}, ({heads},){long}{lines}{fits}"
    return f"#sheet-table({options},\n{''.join(f'{row},{chr(10)}' for row in rows)})"


# --- figures: the functions that draw stand in the template -------------------------------------------


def _drawing(drawing: figures.Drawing, page: Page) -> str:
    parts = "".join(f"  {part},\n" for shape in drawing.shapes for part in _drawn(shape))
    size = f"{drawing.width:.1f}, {drawing.height:.1f}, {drawing.smaller(page) * 100:.1f}%"
    return f"#drawing({literal(drawing.description.strip() or say('Figure'))}, {size},\n{parts})"


def _drawn(shape: figures.Shape) -> Iterator[str]:
    match shape:
        case figures.Box(content, x, y, wide, high, shaded):
            yield f"node({_numbers(x, y, wide, high)}, {str(shaded).lower()}, [{inline_content(Math(content))}])"
        case figures.Line(points, arrow):
            yield f"path({_point(*points[0])}, {', '.join(map(_piece, shape.pieces()))})"
            if arrow:
                (x, y), (right, down) = shape.head
                yield f"tip({_numbers(x, y, right, down)})"
        case figures.Remark(content, x, y, _):
            yield f"remark({_numbers(x, y)}, [{text_content(content)}])"
        case figures.Frame(label, x, y, wide, high):
            yield f"frame({_numbers(x, y, wide, high)}, [{text_content(label)}])"


def _numbers(*numbers: float) -> str:
    return ", ".join(f"{number:.1f}" for number in numbers)


def _point(x: float, y: float) -> str:
    return f"at({_numbers(x, y)})"


def _piece(piece: tuple[figures.Point, ...]) -> str:
    name = "line" if len(piece) == 1 else "cubic"
    return f"curve.{name}({', '.join(_point(*point) for point in piece)})"
