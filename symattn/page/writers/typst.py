"""Documents as Typst markup, which the typst in our wheel turns into tagged PDF (PDF/UA-1).

Text of a document appears only inside string literals: never as markup, never as code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, Literal, assert_never

from symattn.errors import InputError
from symattn.formula.nodes import (
    INVISIBLE,
    NOTHING,
    THIN,
    Annotated,
    BigSum,
    Blank,
    Bracket,
    Bracketed,
    Call,
    Dots,
    Formula,
    Fraction,
    Infinity,
    ListOf,
    Marked,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Shape,
    Sum,
    Text,
    Transposed,
    contains,
    equal,
    explicit,
    is_tall,
    pieces,
)
from symattn.formula.speech import speak
from symattn.formula.width import Pads, matrix_columns, width, wrapped
from symattn.foundation.languages import catalogue, say, speaking
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Besides,
    Block,
    Box,
    Cells,
    Choices,
    Code,
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
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
    as_text,
    settled,
    spans,
)
from symattn.page.writers import common, coverage, figures, flow
from symattn.page.writers.characters import plain
from symattn.page.writers.common import Page
from symattn.page.writers.forms import Form, Kind, Spot
from symattn.page.writers.page import Attachment, filled, masthead
from symattn.page.writers.rows import (
    LEGIBLE,
    Asked,
    InRow,
    Labelled,
    Placed,
    SideBySide,
    WorkedRow,
    are_legible,
    in_part,
    in_rows,
    pages_in_rows,
    parted,
    pictured,
    worked_in_rows,
)

SUFFIX = ".typ"
BESIDES: frozenset[Besides] = frozenset()

# Signs that the font would draw as one other: – for --, „ for ,,
_LIGATURE = re.compile(r"--|,,|''|``|<<|>>|[?!]`")

Style = Literal["normal", "tall", "part", "script"]  # `part` of a fraction

_DOTS = {"horizontal": "…", "vertical": "⋮", "diagonal": "⋱", "cell": "⋅"}
_SIGNS = {"": "", "/": "\\/", "·": " ⋅ ", **{sign: f" {sign} " for sign in "+−×⊙"}, THIN: " thin ", INVISIBLE: " "}
_OPEN: dict[Bracket, str] = {"[": "[", "(": "(", "⟨": "⟨", "|": "lr(| ", "": ""}
_CLOSE: dict[Bracket, str] = {"[": "]", "(": ")", "⟨": "⟩", "|": " |)", "": ""}
_DELIMITER: dict[Bracket, str] = {"[": '"["', "(": '"("', "|": '"|"', "⟨": '#("⟨", "⟩")', "": "#none"}

_PAGE_NUMBERS = "#counter(page).display()", "#counter(page).final().first()"
_PAPER = {"a4": "a4", "letter": "us-letter"}

_ABOVE_HEADING = ("auto", "1.25em", "1.15em")  # by its level: space of a group that begins with a heading
_LONG_TABLE = 14  # a table of more rows may go on on the next page; with matrices, which are as high as 3, of a third


# --- text ---------------------------------------------------------------------------------------------


def literal(words: str) -> str:
    """A string literal of Typst."""
    return '"' + common.visible(words).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _words(words: str, wrap: str = "text") -> str:
    """Calls that print text: what cannot be printed is transliterated or shown by its code."""
    return "".join(
        _call(run, wrap) if printable else f'#unprintable("{ord(run):04X}")'
        for printable, run in coverage.shown(common.visible(words))
    )


def _call(run: str, wrap: str) -> str:
    if wrap != "raw" and _LIGATURE.search(run):
        verbatim = f"text(ligatures: false, {literal(run)})"
        return f"#{verbatim}" if wrap == "text" else f"#{wrap}({verbatim})"
    return f"#{wrap}({literal(run)})"


def _text(content: Inlines, room: float = common.LINE) -> str:
    """Text with formulas; one that is wider than `room` em is made smaller."""
    return "".join(_inline(inline, room) for inline in spans(content))


def _title(content: Inlines) -> str:
    """Text of a heading, which breaks before a short formula and not at its equals sign."""
    return "".join(
        f"#box[{_inline(part)}]" if isinstance(part, Math) and common.stays_whole(part.formula) else _inline(part)
        for part in spans(content)
    )


def _inline(inline: Span, room: float = common.LINE) -> str:
    match inline:
        case Words(words):
            return _words(words)
        case Strong(words):
            return _words(words, "strong")
        case Code(words):
            return _words(words, "raw")
        case Math(formula):
            dense, matrix = common.has_dense_fraction(formula), contains(formula, MatrixOf)
            source = _math(formula, "tall" if dense else "normal")
            # In a line of text typst would set the cells of a matrix as small as an index.
            source = f"display({source})" if matrix else source
            call = f"m({_spoken(formula)}, ${source}$)"
            if width(formula) > room or "[U+" in source:  # codes are wider than their characters
                call = f"whole({call})"
            elif dense or matrix:
                call = f"high({call})"
            return f"#{call}" if source else ""
        case _:
            assert_never(inline)


# --- formulas -----------------------------------------------------------------------------------------


def formula(formula: Formula) -> str:
    """One formula as it stands between dollar signs."""
    return _math(formula, "normal")


@coverage.once_for_a_document
def _math(node: Formula, style: Style) -> str:
    def inner(child: Formula) -> str:
        return _math(child, style)

    def script(child: Formula) -> str:
        return _script(child, style)

    slashed = style == "script"
    match explicit(node):
        case Number(digits):
            return digits if all(c in "0123456789." for c in digits) and digits[0] != "." else _string(digits)
        case Name() as name:
            return _name(name, style)
        case Text(words):
            return _string(words)
        case Infinity():
            return "∞"
        case Dots(kind):
            return _DOTS[kind]
        case Blank(kind):
            return f"#blank({common.BLANK[kind]}mm) "
        case Negative(body):
            return "−" + inner(body)
        case Fraction(above, below) if not slashed:
            parts = (_math(part, "part") for part in (above, below))
            fraction = f"frac({', '.join(_kept(part, style) for part in parts)})"
            return f"display({fraction})" if style == "tall" else fraction
        case Sum() | Product() | Fraction() as chain:
            return "".join(_SIGNS[sign] + inner(part) for sign, part in pieces(chain, slashed))
        case Power(base, exponent):
            return f"attach({inner(base)}, t: {script(exponent)})"
        case Root(body):
            return f"sqrt({inner(body)})"
        case Transposed(body, sign):
            raised = 'sans("T")' if sign == "T" else sign
            return f"attach({inner(body)}, t: {raised})"
        case Call(function, arguments, separator):
            return f"{_function(function, style)} ({_list(map(inner, arguments), separator)})"
        case Bracketed(body, bracket):
            return f"{_OPEN[bracket]}{inner(body)}{_CLOSE[bracket]}"
        case ListOf(items, bracket, separator):
            return f"{_OPEN[bracket]}{_list(map(inner, items), separator)}{_CLOSE[bracket]}"
        case MatrixOf() as matrix:
            return _matrix(matrix)
        case Shape(rows, columns):
            return f"{inner(rows)} × {inner(columns)}"
        case Annotated(body, note, "under"):
            return f"attach(limits({inner(body)}), b: {script(note)})"
        case Annotated(body, note, "index"):
            return f"attach({inner(body)}, b: {script(note)})"
        case Annotated(body, note, _):
            return f"{inner(body)} quad {inner(note)}"
        case Marked(body, sign, _):
            return f"{inner(body)} thin script({_string(sign)})".lstrip()
        case BigSum(index, lower, upper, body):
            start = script(index) + (f" = {script(lower)}" if lower != NOTHING else "")
            bounds = (f", b: {start}" if start else "") + (f", t: {script(upper)}" if upper != NOTHING else "")
            return f"attach(∑{bounds}) {inner(body)}"
        case Relation(parts, signs):
            first, *others = map(inner, parts)
            return " ".join([first, *(f"{s} {part}" for s, part in zip(signs, others, strict=True))]).strip()
        case Row(items):
            return " quad quad ".join(map(inner, items))
        case unknown:
            assert_never(unknown)


def _string(words: str) -> str:
    return literal(_printable(words)) if words else ""


def _letters(base: str) -> str:
    """One letter as a variable, more as an upright word."""
    return base if len(base) == 1 and base.isalpha() and coverage.is_printable(base) else f"upright({_string(base)})"


def _script(child: Formula, style: Style) -> str:
    source = _math(child, "script")
    return _kept(source, style) if source else ""


def _kept(source: str, style: Style) -> str:
    """Scripts of scripts, and in fractions, are set no smaller than others."""
    return f"script({source})" if style in ("part", "script") else source


def _name(name: Name, style: Style) -> str:
    base = _letters(name.base)
    return _scripts(f"hat({base})" if name.hat else base, name, style)


def _function(name: Name, style: Style) -> str:
    return _name(name, style) if len(name.base) == 1 or name.hat else _scripts(f"op({_string(name.base)})", name, style)


def _scripts(base: str, name: Name, style: Style) -> str:
    comma = "\\," if common.index_comma(name.sub) else " "
    index = comma.join(_math(item, "script") for item in name.sub)
    label = ("′" * name.primes + (f" {_letters(name.sup)}" if name.sup else "")).strip()
    scripts = (f", b: {_kept(index, style)}" if index else "") + (f", t: {_kept(label, style)}" if label else "")
    return f"attach({base}{scripts})" if scripts else base


def _list(items: Iterator[str], separator: str) -> str:
    return (f"\\{separator} " if separator else " #h(0.6em) ").join(items)


def _matrix(node: MatrixOf) -> str:
    style: Style = "tall" if any(map(common.has_tall_fraction, node.entries)) else "normal"
    pads = matrix_columns(node).pads
    rows = [[_cell(node, i, j, style, pads) for j in range(len(row))] for i, row in enumerate(node.rows)]
    options = [f"delim: {_DELIMITER[node.bracket]}"]
    if any(map(is_tall, node.entries)):
        options.append("row-gap: #0.7em")
    if node.row_labels or node.column_labels:
        lines = ("hline: 1, " if node.column_labels else "") + ("vline: 1, " if node.row_labels else "")
        options = ["delim: #none", f"augment: #({lines}stroke: 0.5pt)", *options[1:]]
        rows = [[*labels, *row] for labels, row in zip(_row_labels(node), rows, strict=True)]
        if node.column_labels:
            corner = ["#none"] if node.row_labels else []
            rows = [[*corner, *(_math(label, "normal") for label in node.column_labels)], *rows]
    return f"mat({', '.join(options)}, {'; '.join(', '.join(row) for row in rows)})"


def _row_labels(node: MatrixOf) -> list[list[str]]:
    labels = [[_math(label, "normal")] for label in node.row_labels]
    return labels or [[] for _ in node.rows]


def _cell(node: MatrixOf, i: int, j: int, style: Style, pads: Pads) -> str:
    cell = node.rows[i][j]
    source = _padded(_math(cell, style), *pads.get((i, j), (0.0, 0.0)))
    if (i, j) in node.excluded:
        source = f"#shaded({_spoken(cell)}, ${source}$) "
    sign = common.sign_after(node, i, j)
    if node.nested:
        bracket, last = node.bracket or "[", j == len(node.rows[i]) - 1
        # A bracket that has no partner in its cell is only a sign.
        source = (f"\\{_OPEN[bracket]} " if j == 0 else "") + source + (f" \\{_CLOSE[bracket]}" if last else "")
    return source + (f"\\{sign}" if sign else "")


def _padded(source: str, left: float, right: float) -> str:
    before, after = (f"#h({pad}em) " if pad else "" for pad in (left, right))
    return before + source + (f" {after}" if after else "")


def _aligned(line: Formula) -> str:
    before, after = common.before_sign(line)
    if before is None:
        indent = 'quad "" ' if common.goes_on_with_a_sum(line) else ""
        return f"& {indent}{_math(after, 'normal')}"
    return f"{_math(before, 'normal')} &{_math(after, 'normal')}".strip()


def _aligned_all(lines: Sequence[Formula]) -> list[str]:
    return [_aligned(line) for line in lines]


def _spoken(*formulas: Formula, lead: Inlines = ()) -> str:
    """What is read out in place of formulas; PDF/UA wants it to be something."""
    words = [plain(lead), *map(speak, formulas)]
    return literal("; ".join(filter(None, words)) or say("a gap"))


def _formulas(
    spoken: str, lines: Sequence[str], wide: float, page: Page, whole: bool = False, close: bool = False
) -> str:
    """Lines of formulas, `wide` by an estimate; the `whole` of them stays on one page.

    Typst need not measure what surely has room: that takes as long as setting it.
    """
    fits = _at_most(wide, lines) < _SURE * page.room
    body = " \\\n  ".join(lines)
    options = ", whole: true" * whole + ", fits: true" * fits + ", close: true" * close
    return f"#formulas({spoken}{options}, $\n  {body}\n$)"


_ALIGNED = 8  # lines higher than half a page that are aligned all the same: a PDF has limits for words in their place
_NARROW, _FREE = 0.85, 4.0  # of a line, and em, if they are narrow
_STRING = re.compile(r'((?:upright|op)\()?"([^"]*)"')
_OF_WORDS = 2.2  # of their estimated width, words may take
_SURE = 0.95  # of a line: formulas are estimated to be 4% too narrow at most


def _lines(lines: Sequence[Formula], page: Page, whole: bool = False) -> str:
    """Lines of formulas aligned at their signs."""
    return _formulas(_spoken(*lines), _aligned_all(lines), _width_aligned(lines), page, whole)


def _are_narrow(lines: Sequence[Formula], room: float) -> bool:
    """Whether lines leave some of their room free."""
    return _at_most(_width_aligned(lines), _aligned_all(lines)) + _FREE < _NARROW * room


def _at_most(wide: float, sources: Iterable[str]) -> float:
    """How wide formulas of an estimated width may be: of words, and of names in foreign letters, the mean is known."""
    strings = (string for source in sources for string in _STRING.findall(source))
    has_words = any((len(words) > 1 or words.isalpha()) and not (name and words.isascii()) for name, words in strings)
    return wide * (_OF_WORDS if has_words else 1)


def _display(shown: Display, page: Page) -> str:
    """Formulas behind the words that lead to them, or below these; what is high, in chunks that pages end between."""
    lead, room = shown.lead, page.room
    folded = [part for line in common.folded(shown.lines, lead, room) for part in _by_rows(line, room)]
    if common.lead_stands_above(folded, lead, room):
        return f"#block(sticky: true)[{_text(lead)}]\n\n{_lines(folded, page)}"
    if lead:
        return _formulas(_spoken(*folded, lead=lead), _with_lead(lead, _aligned_all(folded)), math.inf, page)
    chunks = common.in_chunks(folded, page)
    if 1 < len(chunks) <= _ALIGNED and _are_narrow(folded, room):
        chunks = [folded]  # nothing is made smaller, so that a page may end between lines that are aligned
    return "\n\n".join(_chunk(chunk, page) for chunk in chunks)


def _chunk(lines: Sequence[Formula], page: Page) -> str:
    """Lines that stay on one page, if they are few and not high."""
    return _lines(lines, page, len(lines) <= common.FEW and len(common.in_chunks(lines, page)) == 1)


_TOO_SMALL = 0.75  # a matrix that would have to be made smaller than this is set row by row


def _by_rows(line: Formula, room: float) -> list[Formula]:
    """A line that ends with a matrix much too wide for it: its rows one below the other, cut where they are wide."""
    match line:
        case _ if width(line) <= room / _TOO_SMALL:
            return [line]
        case Relation((*before, MatrixOf() as matrix), signs):
            pass
        case MatrixOf() as matrix:
            before, signs = [], ()
        case _:
            return [line]
    if matrix.excluded or matrix.column_labels:
        return [line]
    lines: list[Formula] = []
    for i, row in enumerate(matrix.rows):
        label: Formula = matrix.row_labels[i] if matrix.row_labels else Text(say("row {row}", row=i + 1))
        for piece in wrapped(row, room - 8):
            lines.append(Row((label, *(piece.items if isinstance(piece, Row) else (piece,)))))
            label = Text("")
    return [Relation((*before, lines[0]), signs), *lines[1:]] if signs else lines


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
        title=literal(_printable(document.title) or say("Untitled")),
        subtitle=literal(_printable(document.subtitle)) if document.subtitle else "",
        form=asked,
        air="0.4" if worked else "0.65" if page.compact else "1",
        fields=[literal(_printable(common.label(name))) for name in document.fields],
        addresses=[_address(page, "line", name) for name in document.fields],
        field_columns=1 if page.large else min(3, len(document.fields)),
        sheet=literal(_printable(document.sheet)),
        recipe=_recipe(document.footer),
        footers=_footers(document),
        language=literal(catalogue(document.look.language).code),
        page_number="".join(common.page_words(*_PAGE_NUMBERS, _words)),
        page=page,
        formula_size=page.formula_size,
        paper=_PAPER[document.look.paper],
        uses=common.parts_used(document),
        side=common.SQUARE,
        body=_below_title(_body(blocks, page, ends)),
        ends=_WHOLE.format(0) if ends else "",
        logo=_logo(masthead().logo),
        ligatures=not (
            _LIGATURE.search("\n".join((document.title, document.subtitle, document.sheet, *document.fields)))
        ),
        long_word=_long_word(page) if account.longest >= _long_word(page) else 0,
        has_han=account.has_han,  # this and what is above are known only now that all text has been written
    )


_FOOTER = 1.7  # millimetres of a character of 8 pt
_UNBROKEN = 40  # characters that stand on one line


def _footers(document: Document) -> int:
    """How many lines a footer has: a command that has no room beside the sheet's name and the page stands below."""
    command = _FOOTER * len(document.footer)
    beside = command + _FOOTER * len(document.sheet) <= 0.75 * common.PAGE_WIDTH
    return 1 if beside else 1 + math.ceil(command / (0.9 * common.PAGE_WIDTH))


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
    for piece in re.split(r" (?=--|-n )", _printable(command)):
        pieces += [piece] if len(piece) <= _UNBROKEN else piece.split(" ")
    return _array(f"box({literal(p)})" if len(p) <= _UNBROKEN else literal(p) for p in pieces) if command else ""


_SHORT = 12  # characters: a shorter word never leaves a page


def _long_word(page: Page) -> int:
    """How many characters a word has that may be broken anywhere, so that it does not leave the page."""
    return max(_SHORT, int(36 / page.scale))


def _printable(words: str) -> str:
    """Text for places that hold no markup: what cannot be printed is transliterated or its code in brackets."""
    runs = coverage.shown(common.visible(words))
    return "".join(run if printable else f"[{coverage.codes(run)}]" for printable, run in runs)


def fewest_pages(document: Document) -> int:
    """About how many pages a worksheet takes if as much is to stand on them as has room; 0 for anything else."""
    if document.solutions != "blank" or document.look.fillable:
        return 0
    with speaking(document.look.language):
        return pages_in_rows(settled(document).blocks, Page(document.look, closer=True))


_BOX = "#notebox("


def _below_title(body: str) -> str:
    """The body of a page; a box with which it begins has no rule of its own below that of the title."""
    return _BOX + "top: false, " + body.removeprefix(_BOX) if body.startswith(_BOX) else body


_MOST_WHOLE = 2  # questions at the end that can be kept on one page
_WHOLE = "\n#let whole-questions = {}\n"


def _body(blocks: Sequence[Block], page: Page, ends: bool) -> str:
    """The blocks of a page, with questions side by side where they have room."""
    placed = (
        worked_in_rows(blocks, page, lambda blocks: _Measured.of(blocks).height)
        if page.dense
        else in_rows(blocks, page)
    )
    starts = [k for k, one in enumerate(placed) if isinstance(one, Heading | WorkedRow)][1:] if ends else []
    cuts = pairwise((0, *starts[-_MOST_WHOLE:], len(placed)))
    parts = [[*_sources(placed[start:end], page)] for start, end in cuts]
    for questions in range(1, len(parts)):
        end = "\n\n".join(parts.pop())
        parts[-1].append(f"{_AT_END.format(questions)}{{ whole-end }} else {{ it => it }})[\n{end}\n]")
    return "\n\n".join(parts[0])


_AT_END = "#(if whole-questions == {} "


def headings_at_end(source: str, questions: int) -> int:
    """How many headings there are in the last `questions` questions; 0 where there are not so many."""
    return source.partition(_AT_END.format(questions))[2].count("#heading(")


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
            widths = _array(f"{wide:.1f}mm" for wide in shares)
            parts = zip(questions, shares, strict=True)
            cells = (f"[\n{_headed(blocks, wide, in_part(page, wide))}\n]" for blocks, wide in parts)
            return f"#worked-row({widths})" + "".join(cells)


def _in_row(row: InRow, page: Page) -> str:
    shares = zip(row.questions, row.widths, strict=True)
    cells = "".join(f"[\n{_question(question, wide, row, page)}\n]" for question, wide in shares)
    widths = _array(f"{wide:.1f}mm" for wide in row.widths)
    return f"#in-row({widths}, {row.below}mm, [{_words(say('Working'))}]){cells}" + "\n#more-space" * (row.below > 0)


def _headed(blocks: Sequence[Block], wide: float, page: Page) -> str:
    """Blocks under a heading of a width in mm; if that takes two lines, marks are at the end of the first."""
    match blocks:
        case [Heading(level=level, marks=marks) as heading, *rest] if apart := parted(heading, wide):
            words, rule = apart
            lines = f"{_title(words)}{_marks(marks)}#linebreak(){_title((rule,))}"
            return f"#heading(level: {level})[{lines}]\n\n{_blocks(rest, page)}"
    return _blocks(blocks, page)


def _question(question: Asked, wide: float, row: InRow, page: Page) -> str:
    """A question in its part of a line."""
    before = _headed((question.heading, *question.said), wide, page)
    formulas, boxes = _blocks(question.shown, page), _block(question.boxes, replace(page, narrow=row.narrow))
    if row.beside and formulas:
        return f"{before}\n#given-and-boxes[\n{formulas}\n][\n{boxes}\n]"
    return f"{before}\n#moved-out[\n{formulas}\n\n{boxes}\n]"


_ENTRIES_APART = 1.0  # em
_GENEROUS = 0.98  # of their estimated width, equations of digits take
_TIGHT = {  # and what of the width in em is saved
    " ⋅ ": (" tightdot ", 0.36),
    " + ": (" tightplus ", 0.29),
    " − ": (" tightminus ", 0.29),
    "= ": ("tightequal ", 0.2),
    "≈ ": ("tightapprox ", 0.2),
}


@coverage.once_for_a_document
def _tightened(equations: tuple[Formula, ...]) -> tuple[list[str], list[float]]:
    """Equations with less space round their signs, so that more of them stand in a line, and their widths in em."""
    cells, widths = _aligned_all(equations), [_GENEROUS * width(equation) for equation in equations]
    for sign, (tight, saved) in _TIGHT.items():
        widths = [wide - saved * cell.count(sign) for wide, cell in zip(widths, cells, strict=True)]
        cells = [cell.replace(sign, tight) for cell in cells]
    return cells, widths


def _columns_of_entries(widths: Sequence[float], most: int, page: Page) -> int:
    """In how many columns equations stand: as few as do with as few lines as have room."""
    columns = common.columns_as_wide(widths, most, page.room, _ENTRIES_APART)
    lines = -(-len(widths) // columns)
    return next(n for n in range(1, columns + 1) if -(-len(widths) // n) == lines)


def _blocks(blocks: Sequence[Block], page: Page, together: bool = False) -> str:
    blocks = common.without_programs(blocks)
    kept, sources, end = common.stays_with_next(blocks, together), list[str](), 0
    for group in _Measured.of(blocks).groups(page):
        end += len(group.blocks)
        source = _group(group, page)
        sources.append(f"#kept[{source}]" if kept[end - 1] else source)
    return "\n\n".join(sources)


def _in_columns(equations: tuple[Formula, ...], columns: int, page: Page) -> str:
    cells, widths = _tightened(equations)
    rows = [*map(f" & #h({_ENTRIES_APART}em) ".join, common.in_lines(cells, columns))]
    return _formulas(_spoken(*equations), rows, _width_of_columns(widths, columns), page, close=True)


_MOST_BESIDE = 6  # lines of equations with formulas beside them, all of which stay on one page
_MOST_IN_GROUP = 3  # blocks
_BESIDE = 1.5  # em, between formulas side by side


@dataclass(frozen=True)
class _Group:
    """Blocks that stand side by side if they are several, and how high they are in em, if they are formulas.

    Equations among them stand in `columns` columns; 0 for as many as they have alone.
    """

    blocks: tuple[Block, ...]
    columns: int
    high: float


@dataclass(frozen=True)
class _Equations:
    """The widths of equations in em, in how many columns they stand at most, and how high the highest of them is."""

    widths: Sequence[float]
    most: int
    high: float

    @classmethod
    def of(cls, block: Entries) -> _Equations:
        highest = max(map(common.line_height, block.equations))
        return cls(_tightened(block.equations)[1], block.columns, highest)

    def height(self, columns: int) -> float:
        return -(-len(self.widths) // columns) * self.high


@dataclass(frozen=True)
class Beside:
    """Equations, and the formulas of the same step beside them: how wide and how high these are, in em.

    `words` is by how much all may be wider than is estimated.
    """

    blocks: tuple[Block, ...]
    equations: _Equations
    width: float
    high: float
    words: float

    @classmethod
    def of(cls, blocks: tuple[Block, ...]) -> Beside | None:
        """None if the blocks are not of one step."""
        if (found := _of_one_step(blocks)) is None:
            return None
        own, shown = found
        beside = sum(_width_aligned(block.lines) + _BESIDE for block in shown)
        cells, _ = _tightened(own.equations)
        sources = (*cells, *(source for block in shown for source in _aligned_all(block.lines)))
        high = max((common.lines_height(one.lines) for one in shown), default=0.0)
        return cls(blocks, _Equations.of(own), beside, high, _at_most(1.0, sources))

    def group(self, room: float) -> _Group | None:
        """What stands side by side, equations in as many columns as have room; None if there is no room for that."""
        if room <= self.width:
            return None
        widths = self.equations.widths
        columns = common.columns_as_wide(widths, self.equations.most, room - self.width, _ENTRIES_APART)
        if self.words * (self.width + _width_of_columns(widths, columns)) > room:
            return None
        if -(-len(widths) // columns) > _MOST_BESIDE:
            return None
        return _Group(self.blocks, columns, max(self.equations.height(columns), self.high) + _BETWEEN)


@dataclass(frozen=True)
class _Measured:
    """Blocks, and what is the same of them in every part of a line: a key is tried in many.

    alone   how high each is in em if it is formulas, or equations, whose height depends on the room
    widths  how wide each is on one line, in em, if it is formulas or text
    beside  what may stand side by side, by where it ends
    """

    blocks: Sequence[Block]
    alone: Sequence[float | _Equations]
    widths: Sequence[float]
    beside: Mapping[int, Sequence[Beside]]

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> _Measured:
        beside: dict[int, list[Beside]] = {}
        for end in range(2, len(blocks) + 1):
            starts = range(end - 2, max(end - _MOST_IN_GROUP, 0) - 1, -1)
            found = (Beside.of(tuple(blocks[start:end])) for start in starts)
            beside[end] = [one for one in found if one]
        return cls(blocks, [*map(_alone, blocks)], [*map(_wide, blocks)], beside)

    def groups(self, page: Page) -> list[_Group]:
        """The blocks, equations with what is before or after them beside them where that is lower."""
        best: list[tuple[float, list[_Group]]] = [(0.0, [])]
        for end, block in enumerate(self.blocks, 1):
            if end > 1 and pictured(self.blocks[end - 2], block, page):
                high, before = best[end - 2]
                best.append((high, [*before, _Group(tuple(self.blocks[end - 2 : end]), 0, 0.0)]))
                continue
            high = _height_alone(self.alone[end - 1], page)
            options = [(best[-1][0] + high, [*best[-1][1], _Group((block,), 0, high)])]
            for beside in () if page.form or page.large else self.beside.get(end, ()):
                if group := beside.group(page.room):
                    before_it = best[end - len(group.blocks)]
                    options.append((before_it[0] + group.high + 0.1, [*before_it[1], group]))
            best.append(min(options, key=lambda option: option[0]))
        return best[-1][1]

    def height(self, page: Page) -> float:
        """About how high a part of a key is, in em; without end where it has no room, or is no text and formulas."""
        room, high, end = page.room, 0.0, 0
        for group in self.groups(page):
            wide = self.widths[end]
            end += len(group.blocks)
            match group.blocks:
                case (Paragraph(),):
                    lines = math.ceil(wide / page.line)
                    if lines > 1 and page.width < LEGIBLE:
                        return math.inf
                    high += 1.4 * lines + _BETWEEN
                case (Display() | Entries() as block,) if wide > room or (isinstance(block, Display) and block.lead):
                    return math.inf
                case (Display() | Entries(), *_):
                    high += group.high
                case (Choices(items) | ItemList(items),) if page.share < 1 and not are_legible(items, page):
                    return math.inf
                case (Choices() as choices,):
                    high += _height_of_choices(choices, page) + _BETWEEN
                case (ItemList(ordered=False) as listed,):
                    high += 1.35 * common.lines_of_list(listed, page) + _BETWEEN
                case _:
                    return math.inf
        return high


def _alone(block: Block) -> float | _Equations:
    match block:
        case Display(lines):
            return common.lines_height(lines) + _BETWEEN
        case Entries():
            return _Equations.of(block)
        case _:
            return 0.0


def _wide(block: Block) -> float:
    match block:
        case Paragraph(content, marks):
            return common.inlines_width((*content, Words(marks)))
        case Display(lines):
            return max(map(width, lines), default=0.0)
        case Entries(equations):
            return max(_tightened(equations)[1], default=0.0)
        case _:
            return 0.0


def _height_alone(block: float | _Equations, page: Page) -> float:
    """The height of formulas in em, with the space between them and what comes next; 0 for anything else."""
    if isinstance(block, float):
        return block
    return block.height(_columns_of_entries(block.widths, block.most, page)) + _BETWEEN


_BETWEEN = 0.5  # em, between blocks of a key


def _of_one_step(blocks: Sequence[Block]) -> tuple[Entries, list[Display]] | None:
    """The equations among some blocks, and the formulas that are all the others; None if these are of another step."""
    match [block for block in blocks if isinstance(block, Entries)]:
        case [own]:
            middle = blocks.index(own)
            shown = [block for block in blocks if isinstance(block, Display) and not block.lead]
            before, after = ({block.role for block in side} for side in (shown[:middle], shown[middle:]))
            if len(shown) == len(blocks) - 1 and "values" not in before and "rule" not in after:
                return own, shown
    return None


def _width_aligned(lines: Sequence[Formula]) -> float:
    """The width of lines that are aligned at their signs."""
    parts = [common.before_sign(line) for line in lines]
    names = (width(name) for name, _ in parts if name is not None)
    return max(names, default=0.0) + max((width(rest) for _, rest in parts), default=0.0)


def _width_of_columns(widths: Sequence[float], columns: int) -> float:
    return sum(max(widths[k::columns]) for k in range(columns)) + _ENTRIES_APART * (columns - 1)


def _group(group: _Group, page: Page) -> str:
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
            parts.append(_lines(block.lines, page))
    return "#beside" + "".join(f"[\n{part}\n]" for part in parts)


def _block(block: Block, page: Page) -> str:
    if (own := common.replaced(block)) is not None:
        return own
    match block:
        case Heading(level=level, marks=marks):
            if page.form:
                page.form.heading(block)
            content = block.whole
            # An empty heading is no heading: PDF/UA refuses it.
            words = plain(content).strip()
            return (
                f"#heading(level: {level})[{_title(content)}{_marks(marks, common.ends_whole(block))}]"
                if words
                else _marks(marks)
            )
        case Paragraph(content, marks):
            return _text(content, page.line) + _marks(marks)
        case Display():
            return _display(block, page)
        case Entries(equations, columns):
            _, widths = _tightened(equations)
            if max(widths, default=0.0) > page.room:
                return "\n\n".join(_chunk(common.folded((x,), limit=page.room), page) for x in equations)
            return _in_columns(equations, _columns_of_entries(widths, columns, page), page)
        case AnswerGrid():
            return _grid(block, page)
        case WorkingSpace(ruled=True):
            address = _more(_address(page, "space", say("Working"), holds="lines"))
            return f"#ruled-space({common.ruled_lines(block, page)}, {page.millimetres(common.RULING)}mm{address})"
        case WorkingSpace():
            address = _more(_address(page, "space", say("Working"), holds="lines"))
            return f"#working-space({common.space_height(block, page)}mm, [{_words(say('Working'))}]{address})"
        case AnswerSpace():
            return _answer_space(block, page)
        case FillIns(items):
            return _fill_ins(items, page)
        case Choices():
            return _choices(block, page)
        case HeatMap():
            return f"#heat-map({_cells_of(block)})"
        case HeatMaps(items):
            pictures = "".join(f"  ([{_text(caption)}], {_cells_of(picture)}),\n" for caption, picture in items)
            return f"#heat-maps({common.SMALL if block.small else 1},\n{pictures})"
        case ItemList(items, ordered):
            listed = "".join(f"  [{_text(item, page.line - 3)}],\n" for item in items)
            if first := common.in_first_column(block, page):
                return f"#list-in-columns({first},\n{listed})"
            return f"#{'enum' if ordered else 'list'}(\n{listed})" if items else ""
        case Table():
            return _table(block, page)
        case Box(title, (ItemList(items, ordered=False),)) if page.dense and not page.large:
            told = "#h(1em)".join(_text(item, page.line) for item in items)
            return f"{_BOX}[])[{_words(title, 'strong')}#h(1em){told}]"
        case Box(title, blocks):
            return f"{_BOX}[{_words(title)}])[\n{_blocks(blocks, page)}\n]"
        case Together(blocks):
            above = _ABOVE_HEADING[min(2, common.level_of_first_heading(block))]
            last = blocks[-1] if blocks else None
            if isinstance(last, AnswerSpace) and not page.form and page.share == 1:
                before = _blocks((*blocks[:-1], Paragraph(())), page, together=True)
                return (
                    f"#together({above}, below: 0pt)[\n{before}\n{_answer_space(last, page, open=True)}\n]\n#more-space"
                )
            return f"#together({above})[\n{_blocks(blocks, page, together=True)}\n]"
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
        case PageBreak():
            return "#pagebreak(weak: true)"
        case _:
            assert_never(block)


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
    return _array(made)


# --- blocks -------------------------------------------------------------------------------------------


def _marks(marks: str, joined: bool = False) -> str:
    return f"#at-margin{'(joined: true)' * joined}[{_words(marks)}]" if marks else ""


def _content(formula: Formula, pads: tuple[float, float] = (0.0, 0.0)) -> str:
    """A formula as content, fractions as high as on a line of their own, with space at both sides."""
    source = _padded(_math(formula, "tall"), *pads)
    return f"[#m({_spoken(formula)}, ${source}$)]" if source else "[]"


def _array(items: Iterable[str]) -> str:
    return "(" + "".join(f"{item}, " for item in items).strip() + ")"


_SURE_GRID = 0.85  # of a line: boxes are as wide as they are, and a name may be wider than it is estimated to be


def _grid(grid: AnswerGrid, page: Page) -> str:
    wide, high = common.box_size(grid, page)
    # Before labels of rows an equals sign would be read with one of them: mask = 2.
    name = f"[{_inline(Math(grid.name if grid.row_labels else equal(grid.name, NOTHING)))}]"
    size = f"{grid.rows}, {grid.columns}, {wide}mm, {high}mm"
    matrix = MatrixOf(grid.cells, row_labels=grid.row_labels, column_labels=grid.column_labels)
    spoken = _spoken(matrix if grid.name == NOTHING else equal(grid.name, matrix))
    fields = _more(_addresses(page, "grid", grid.name, matrix.rows, holds="shade" if grid.shade else "line"))
    fits = ", fits: true" * (common.grid_size(grid, page)[0] < _SURE_GRID * page.width)
    if common.is_plain(grid):
        return f"#answer-grid({spoken}, {name}, {size}{fields}{fits})"
    cells = ("[]" if isinstance(cell, Blank) else _content(cell) for row in matrix.rows for cell in row)
    brackets = str(grid.in_brackets).lower()
    labels = (_array(map(_content, labels)) for labels in (grid.row_labels, grid.column_labels))
    parts = (spoken, "none" if grid.name == NOTHING else name, size, brackets, _array(cells), *labels)
    return f"#cell-grid({', '.join(parts)}{fields}{fits})"


def _answer_space(answer: AnswerSpace, page: Page, open: bool = False) -> str:
    """Boxes, and space for working round them in one frame, which is `open` below where more space follows."""
    boxes, more = _block(answer.boxes, page), ""
    if page.form:
        across = common.grid_size(answer.boxes, page)[0] if isinstance(answer.boxes, AnswerGrid) else page.width
        more = f", {min(across + page.millimetres(8), page.width)}mm"
    below = f"{common.below_boxes(answer, page)}mm, [{_words(common.working_label(answer, page))}], {str(open).lower()}"
    address = _more(_address(page, "space", say("Working"), holds="lines"))
    return f"#answer-space({below}{more}{address})[{boxes}]"


_LEFT_COLUMN = 0.36  # of the line; the right one has the rest, but for the gap between them
_RIGHT_COLUMN = 0.6


def _columns(columns: Columns, page: Page) -> str:
    sides = (replace(page, share=_LEFT_COLUMN), replace(page, share=_RIGHT_COLUMN))
    heads = ", ".join(f"[{_text(head)}]" for head in columns.heads)
    rows = "".join(
        "  " + ", ".join(f"[\n{_blocks(cell, side)}\n]" for cell, side in zip(row, sides, strict=True)) + ",\n"
        for row in columns.rows
    )
    return f"#two-columns({_LEFT_COLUMN}fr, {_RIGHT_COLUMN}fr, {heads},\n{rows})"


def _falk(falk: Falk, page: Page) -> str:
    """The factors left of and above the product, in rows and columns of one size."""
    names = [_content(name) for name in falk.names] or ["[]", "[]"]
    inside = falk.inside
    if isinstance(inside, AnswerGrid):
        wide, high = common.box_size(inside, page)
        box, product = f"({wide}mm, {high}mm)", MatrixOf(inside.cells)
        names.append(_content(inside.name))
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
    spoken = _spoken(*falk.names, falk.left, falk.above, product, lead=as_text(say("Matrix product")))
    rounded = str(falk.left.bracket == "(").lower()
    return f"#falk({', '.join([spoken, rounded, *names, *parts])})"


def _flow_sheet(sheet: FlowSheet, page: Page) -> str:
    """A flow sheet as calls that place its shapes, in their order."""
    pictures, spots = flow.fitted(sheet, page), {}
    for heading in sheet.headings if page.form else ():
        assert page.form is not None
        page.form.heading(heading)
        spots[heading] = page.form.spot("grid")
    sources = [_text(sheet.legend, page.line)] if sheet.legend else []
    for picture in pictures:
        parts = "".join(f"  {part},\n" for shape in picture.shapes for part in _drawn_flow(shape, page, spots))
        named = [equal(grid.rule, MatrixOf(grid.cells)) for grid in picture.grids]
        spoken = _spoken(*named, lead=as_text(say("Flow sheet")))
        size = f"{picture.width:.1f}, {picture.height:.1f}, {picture.smaller(page) * 100:.1f}%"
        sources.append(f"#flow-sheet({spoken}, {size},\n{parts})")
    return "\n\n".join(sources)


def _drawn_flow(shape: flow.Shape, page: Page, spots: Mapping[Heading, Spot]) -> Iterator[str]:
    match shape:
        case flow.Boxes(grid, x, y):
            cells = _array("[]" if isinstance(cell, Blank) else _content(cell) for row in grid.cells for cell in row)
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
            before = '"" ' if common.goes_on(formula) else ""
            return f"#m({_spoken(formula)}, ${before}{_math(formula, 'tall')}$)"
    return _inline(part)


def _flow_fields(grid: FlowGrid, page: Page, spots: Mapping[Heading, Spot]) -> str:
    """The fields of its empty boxes, as places in the matrix that is asked for, or for working."""
    spot: Kind | Spot = spots[grid.heading] if page.form and grid.heading else "copy"
    name = grid.inside.name if isinstance(grid.inside, AnswerGrid) else NOTHING
    return _addresses(page, spot, name, grid.cells, grid.start)


def _part_of_falk(matrix: MatrixOf, box: str, fields: str) -> str:
    """A grid of entries; with boxes of the given size round them, if there is one, and fields in them."""
    pads = matrix_columns(matrix).pads
    cells = _array(
        _array(
            "[]" if isinstance(cell, Blank) else _content(cell, pads.get((i, j), (0.0, 0.0)))
            for j, cell in enumerate(row)
        )
        for i, row in enumerate(matrix.rows)
    )
    return f"(box: {box}, cells: {cells}{f', fields: {fields}' if fields else ''})"


def _box_of_blanks(factor: MatrixOf, page: Page) -> str:
    kinds = {cell.kind for row in factor.rows for cell in row if isinstance(cell, Blank)}
    if not kinds:
        return "none"
    grid = AnswerGrid(NOTHING, len(factor.rows), len(factor.rows[0]), max(kinds, key=lambda kind: common.BOX[kind]))
    wide, high = common.box_size(grid, page)
    return f"({wide}mm, {high}mm)"


def _fill_ins(items: Sequence[FillIn], page: Page) -> str:
    """Short items next to one another, long ones in paragraphs of their own."""
    parts: list[str] = []
    for short, run in groupby(items, lambda item: common.is_short(item, page)):
        if short:
            parts.append("#fill-ins({})".format(", ".join(f"box[{_fill_in(item, page)}]" for item in run)))
        else:
            parts += [f"#fill-ins([{_fill_in(item, page)}])" for item in run]
    return "\n\n".join(parts)


def _fill_in(item: FillIn, page: Page) -> str:
    if common.has_character_boxes(item):
        boxes = (f"[{_words(c)}]" for c in common.in_boxes(item))
        address = _field_of(item, page, boxes=item.boxes)
        place = f"#character-boxes({', '.join(filter(None, (address, *boxes)))})"
    else:
        address = _more(_field_of(item, page))
        place = f"#writing-line({common.line_width(item, page)}mm, [{_words(item.value)}]{address})"
    return " ".join(filter(None, (_text(item.label, page.line), place, _text(item.after, page.line))))


def _field_of(item: FillIn, page: Page, **how: Any) -> str:
    """Where something stands already, nothing is filled in."""
    address = _address(page, "line", plain(item.label).strip(" =:："), **how)
    return "none" if address and item.value else address


def _choices(choices: Choices, page: Page) -> str:
    form, ticks = page.form, [""] * len(choices.items)
    if form and choices.ticked:
        ticks = [", none"] * len(ticks)
    elif form:
        spot = form.spot("choices")
        says = [f"{common.label(common.letter(i))} {plain(item)}" for i, item in enumerate(choices.items)]
        ticks = [_more(literal(form.address(spot, said, i, holds="tick"))) for i, said in enumerate(says, 1)]
    items = (
        f'  choice("{common.letter(i)}", {str(i in choices.ticked).lower()}, [{_option(item)}]{ticks[i]}),\n'
        for i, item in enumerate(choices.items)
    )
    return f"#choices({_array(_columns_of_choices(choices, page))},\n{''.join(items)})" if choices.items else ""


def _height_of_choices(choices: Choices, page: Page) -> float:
    """The height of options in em, each as high as its lines, or as the highest formula."""
    columns = len(_columns_of_choices(choices, page))
    room = (page.line - common.CHOICE_GAP * (columns - 1)) / columns - common.CHOICE_LABEL
    highest = max((common.line_height(f) for item in choices.items for f in common.formulas_in(item)), default=0.0)
    lines = (1.35 * math.ceil(common.inlines_width(item) / room) for item in choices.items)
    rows = -(-len(choices.items) // columns)
    return sum(sorted((max(1.6, highest, high) for high in lines), reverse=True)[:rows]) + 0.5 * rows


def _columns_of_choices(choices: Choices, page: Page) -> Sequence[str]:
    """The columns in which options stand: in a key all in one line, if they have room there as wide as they are."""
    widths = [common.inlines_width(item) + common.CHOICE_LABEL + common.CHOICE_GAP for item in choices.items]
    columns = common.choice_columns(choices, page)
    if page.dense and columns < len(widths) and sum(widths) < page.line:
        return ["auto"] * len(widths)
    return ["1fr"] * columns


def _option(content: Inlines) -> str:
    match content:
        case [Math(formula)] if not contains(formula, MatrixOf):
            return f"#whole({_content(formula)})"
        case [Math()]:
            return f"#whole([{_text(content)}])"
        case _:
            return _text(content)


def _cells_of(picture: HeatMap) -> str:
    levels = _array(_array(map(str, row)) for row in picture.levels)
    cells = _array(_array(f"[{_words(word)}]" if word else "none" for word in row) for row in picture.words)
    labels = (_array(map(_content, labels)) for labels in (picture.row_labels, picture.column_labels))
    description = literal(picture.description.strip() or say("A picture of a matrix."))
    return ", ".join((description, f"{common.cell_width(picture):.1f}", levels, cells, *labels))


def _with_lead(lead: Inlines, lines: Sequence[str]) -> Sequence[str]:
    """Lines with text before the first of them, in two columns more for the alignment."""
    first, *others = lines
    wide = max(4.6, common.inlines_width(lead) + 0.6)
    return [f"#lead({wide:.1f}em)[{_text(lead)}] && {first}", *(f"&& {line}" for line in others)]


def _table(table: Table, page: Page) -> str:
    fields = _fields_of(table, page)
    turned = common.laid_out(table, page)
    if turned is not table:
        table, fields = turned, {(j, i): address for (i, j), address in fields.items()}
    shares = common.column_shares(table, page.line)
    if sum(shares) < 1:
        columns = f"({', '.join(f'{share:.3f}fr' for share in shares)},)" if shares else str(len(table.header))
    else:
        columns = f"({', '.join(f'{share * page.line + 1.2:.1f}em' for share in shares)},)"
    # A table that is made smaller cannot go on on the next page: it is cut into several.
    smaller = common.is_too_wide(table, shares, page.line)
    if smaller and page.large and not fields:
        return _row_by_row(table, page)
    if common.in_two_halves(table, page) and not fields:
        half = -(-len(table.rows) // 2)
        sides = (replace(table, rows=rows) for rows in (table.rows[:half], table.rows[half:]))
        return "#two-halves" + "".join(f"[{_part_of_table(side, columns, page, fields, 0)}]" for side in sides)
    parts = common.table_parts(table, shares, page, len(table.rows)) if smaller else [table.rows]
    above = 0
    sources = []
    for part in parts:
        sources.append(_part_of_table(replace(table, rows=part), columns, page, fields, above))
        above += len(part)
    return "\n\n".join(sources)


def _row_by_row(table: Table, page: Page) -> str:
    """A table that is too wide in large print: the cells of a row one below the other, each with its head."""
    rows = []
    for row in table.rows:
        cells = [
            f"strong[{_text(head)}#{literal(common.label(''))}] + [ {_text(cell, page.line)}]"
            if plain(head).strip()
            else f"[{_text(cell, page.line)}]"
            for head, cell in zip(table.header, row, strict=True)
        ]
        rows.append(f"({', '.join(cells)})")
    return f"#table-by-rows({', '.join(rows)})"


def _fields_of(table: Table, page: Page) -> dict[tuple[int, int], str]:
    """A call that draws the field of every blank in a table, by row and column, from 1, without the heads."""
    if page.form is None or not any(common.is_blank(cell) for row in table.rows for cell in row):
        return {}
    spot, fields = page.form.spot("table"), {}
    for i, row in enumerate(table.rows, 1):
        for j, cell in enumerate(row[1:], 1):
            match cell:
                case (Math(Blank(kind)),):
                    says = f"{plain(row[0])}, {plain(table.header[j])}"
                    fields[i, j] = (
                        f"#field-line({literal(page.form.address(spot, says, i, j))}, {common.BLANK[kind]} * mm)"
                    )
    return fields


def _part_of_table(
    table: Table, columns: str, page: Page, fields: Mapping[tuple[int, int], str], above: int
) -> str:  # fmt: skip
    """Rows of a table that has `above` rows above them."""
    heads = ", ".join(f"strong[{_text(cell)}]" for cell in table.header)
    rows = []
    for i, row in enumerate(table.rows, above + 1):
        head, *others = (
            f"[{'#room-to-write' * common.is_blank(cell)}{fields.get((i, j)) or _text(cell)}]"
            for j, cell in enumerate(row)
        )
        if common.is_for_writing(row, table):
            others = [f"[#box-to-write({page.millimetres(common.WRITING)}mm)]"] * len(others)
        rows.append("  " + ", ".join([f"strong{head}" if table.row_heads else head, *others]))
    high = common.has_matrices(table)
    long = ", long: true" if len(rows) > page.rows(_LONG_TABLE) // (3 if high else 1) else ""
    lines = ", lines: true" if high else ""
    if common.has_rows_for_writing(table):
        lines += ", boxes: true"
    options = f"{columns}, ({heads},){long}{lines}"
    return f"#sheet-table({options},\n{''.join(f'{row},{chr(10)}' for row in rows)})"


# --- figures: the functions that draw stand in the template -------------------------------------------


def _drawing(drawing: figures.Drawing, page: Page) -> str:
    parts = "".join(f"  {part},\n" for shape in drawing.shapes for part in _drawn(shape))
    size = f"{drawing.width:.1f}, {drawing.height:.1f}, {drawing.smaller(page) * 100:.1f}%"
    return f"#drawing({literal(drawing.description.strip() or say('Figure'))}, {size},\n{parts})"


def _drawn(shape: figures.Shape) -> Iterator[str]:
    match shape:
        case figures.Box(content, x, y, wide, high, shaded):
            yield f"node({_numbers(x, y, wide, high)}, {str(shaded).lower()}, [{_inline(Math(content))}])"
        case figures.Line(points, arrow):
            yield f"path({_point(*points[0])}, {', '.join(map(_piece, shape.pieces()))})"
            if arrow:
                (x, y), (right, down) = shape.head
                yield f"tip({_numbers(x, y, right, down)})"
        case figures.Remark(content, x, y, _):
            yield f"remark({_numbers(x, y)}, [{_text(content)}])"
        case figures.Frame(label, x, y, wide, high):
            yield f"frame({_numbers(x, y, wide, high)}, [{_text(label)}])"


def _numbers(*numbers: float) -> str:
    return ", ".join(f"{number:.1f}" for number in numbers)


def _point(x: float, y: float) -> str:
    return f"at({_numbers(x, y)})"


def _piece(piece: tuple[tuple[float, float], ...]) -> str:
    name = "line" if len(piece) == 1 else "cubic"
    return f"curve.{name}({', '.join(_point(*point) for point in piece)})"
