"""Formulas and text as Typst source: formulas between dollar signs, text in string literals, content in brackets."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal, assert_never

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
    explicit,
    is_tall,
    pieces,
)
from symattn.formula.speech import speak
from symattn.formula.width import Pads, matrix_columns, width, wrapped
from symattn.foundation.languages import say
from symattn.page.document import (
    Choices,
    Code,
    Display,
    Heading,
    Inlines,
    Math,
    Span,
    Strong,
    Table,
    Words,
    as_text,
    spans,
)
from symattn.page.writers import common, coverage, measure, paper, tables
from symattn.page.writers.characters import plain
from symattn.page.writers.paper import Page

# Signs that the font would draw as one other: – for --, „ for ,,
LIGATURE = re.compile(r"--|,,|''|``|<<|>>|[?!]`")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")

Style = Literal["normal", "tall", "part", "script"]  # `part` of a fraction

_DOTS = {"horizontal": "…", "vertical": "⋮", "diagonal": "⋱", "cell": "⋅"}
_SIGNS = {"": "", "/": "\\/", "·": " ⋅ ", **{sign: f" {sign} " for sign in "+−×⊙"}, THIN: " thin ", INVISIBLE: " "}
_OPEN: dict[Bracket, str] = {"[": "[", "(": "(", "⟨": "⟨", "|": "lr(| ", "": ""}
_CLOSE: dict[Bracket, str] = {"[": "]", "(": ")", "⟨": "⟩", "|": " |)", "": ""}
_DELIMITER: dict[Bracket, str] = {"[": '"["', "(": '"("', "|": '"|"', "⟨": '#("⟨", "⟩")', "": "#none"}


# --- text ---------------------------------------------------------------------------------------------


def literal(words: str) -> str:
    """A string literal of Typst."""
    return '"' + common.visible(words).replace("\\", "\\\\").replace('"', '\\"') + '"'


def curled(words: str) -> str:
    """Text with apostrophes between letters as they are printed, and as TeX prints all of them."""
    return _APOSTROPHE.sub("\N{RIGHT SINGLE QUOTATION MARK}", words)


def words_content(words: str, wrap: str = "text") -> str:
    """Calls that print text: what cannot be printed is transliterated or shown by its code."""
    printed = words if wrap == "raw" else curled(words)
    return "".join(
        _call(run, wrap) if printable else f'#unprintable("{ord(run):04X}")'
        for printable, run in coverage.shown(common.visible(printed))
    )


def _call(run: str, wrap: str) -> str:
    if wrap != "raw" and LIGATURE.search(run):
        verbatim = f"text(ligatures: false, {literal(run)})"
        return f"#{verbatim}" if wrap == "text" else f"#{wrap}({verbatim})"
    return f"#{wrap}({literal(run)})"


def text_content(content: Inlines, room: float = measure.LINE) -> str:
    """Text with formulas; one that is wider than `room` em is made smaller."""
    parts = tuple(spans(content))
    sources = []
    for part, after in zip_longest(parts, parts[1:]):
        sources.append(inline_content(_tied(part) if _is_symbol(after) else part, room))
        sources.append("#sym.wj" * _are_one_word(part, after))
    return "".join(sources)


def _is_symbol(part: Span | None) -> bool:
    """Whether it is a name or a number, with which no line begins: with base e, the 2 columns."""
    return isinstance(part, Math) and isinstance(part.formula, Name | Number)


def _tied(part: Span) -> Span:
    """Words whose last space does not end a line."""
    match part:
        case Words(words) if words.endswith(" "):
            return Words(words[:-1] + "\N{NO-BREAK SPACE}")
    return part


def _are_one_word(before: Span, after: Span | None) -> bool:
    """Whether a formula and the text next to it stand in one word, as in n×d, in which a line does not end."""
    match before, after:
        case (Math(), Words(words)) if words:
            sign = words[0]
        case (Words(words), Math()) if words:
            sign = words[-1]
        case _:
            return False
    return unicodedata.category(sign)[0] in "LNS" and unicodedata.east_asian_width(sign) not in "WF"


def title_content(content: Inlines) -> str:
    """Text of a heading, which breaks before a short formula and not at its equals sign."""
    return "".join(
        f"#box[{inline_content(part)}]"
        if isinstance(part, Math) and measure.stays_whole(part.formula)
        else inline_content(part)
        for part in spans(content)
    )


def inline_content(inline: Span, room: float = measure.LINE) -> str:
    match inline:
        case Words(words):
            return words_content(words)
        case Strong(words):
            return words_content(words, "strong")
        case Code(words):
            return words_content(words, "raw")
        case Math(formula):
            dense, matrix = measure.has_dense_fraction(formula), contains(formula, MatrixOf)
            source = math_source(formula, "tall" if dense else "normal")
            # In a line of text typst would set the cells of a matrix as small as an index.
            source = f"display({source})" if matrix else source
            call = f"m({spoken_words(formula)}, ${source}$)"
            if width(formula) > room or "[U+" in source:  # codes are wider than their characters
                call = f"whole({call})"
            elif dense or matrix:
                call = f"high({call})"
            return f"#{call}" if source else ""
        case _:
            assert_never(inline)


def printable_text(words: str) -> str:
    """Text for places that hold no markup: what cannot be printed is transliterated or its code in brackets."""
    runs = coverage.shown(common.visible(words))
    return "".join(run if printable else f"[{coverage.codes(run)}]" for printable, run in runs)


def array(items: Iterable[str]) -> str:
    """An array of Typst, also of one item."""
    return "(" + "".join(f"{item}, " for item in items).strip() + ")"


# --- formulas -----------------------------------------------------------------------------------------


@coverage.once_for_a_document
def math_source(node: Formula, style: Style) -> str:
    def inner(child: Formula) -> str:
        return math_source(child, style)

    def script(child: Formula) -> str:
        return _script(child, style)

    slashed = style == "script"
    match explicit(node):
        case Number(digits):
            return _number(digits)
        case Name() as name:
            return _name(name, style)
        case Text(words):
            return _string(words)
        case Infinity():
            return "∞"
        case Dots(kind):
            return _DOTS[kind]
        case Blank(kind):
            return f"#blank({paper.BLANK[kind]}mm) "
        case Negative(body):
            return "−" + inner(body)
        case Fraction(above, below) if not slashed:
            parts = (math_source(part, "part") for part in (above, below))
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
        case Bracketed(Negative(Number()) as body, "("):
            return rf"\({inner(body)}\)"  # signs: a pair of brackets is measured, to be as high as what is in them
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


_DIGITS = re.compile(r"\d[\d.]*|\d+,\d+", re.ASCII)


def _number(digits: str) -> str:
    """Digits as a number: its comma, in quotes, is no punctuation; all in quotes would be set apart from signs.

    One digit is a sign, which Typst sets faster than a number.
    """
    if not _DIGITS.fullmatch(digits):
        return _string(digits)
    return f"\\{digits}" if len(digits) == 1 else digits.replace(",", '","')


def _string(words: str) -> str:
    return literal(printable_text(words)) if words else ""


def _letters(base: str) -> str:
    """One letter as a variable, more as an upright word."""
    return base if len(base) == 1 and base.isalpha() and coverage.is_printable(base) else f"upright({_string(base)})"


def _script(child: Formula, style: Style) -> str:
    source = math_source(child, "script")
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
    comma = "\\," if measure.index_comma(name.sub) else " "
    index = comma.join(math_source(item, "script") for item in name.sub)
    label = ("′" * name.primes + (f" {_letters(name.sup)}" if name.sup else "")).strip()
    scripts = (f", b: {_kept(index, style)}" if index else "") + (f", t: {_kept(label, style)}" if label else "")
    return f"attach({base}{scripts})" if scripts else base


def _list(items: Iterator[str], separator: str) -> str:
    return (f"\\{separator} " if separator else " #h(0.6em) ").join(items)


def _matrix(node: MatrixOf) -> str:
    style: Style = "tall" if any(map(measure.has_tall_fraction, node.entries)) else "normal"
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
            rows = [[*corner, *(math_source(label, "normal") for label in node.column_labels)], *rows]
    return f"mat({', '.join(options)}, {'; '.join(', '.join(row) for row in rows)})"


def _row_labels(node: MatrixOf) -> list[list[str]]:
    labels = [[math_source(label, "normal")] for label in node.row_labels]
    return labels or [[] for _ in node.rows]


def _cell(node: MatrixOf, i: int, j: int, style: Style, pads: Pads) -> str:
    cell = node.rows[i][j]
    source = padded(math_source(cell, style), *pads.get((i, j), (0.0, 0.0)))
    if (i, j) in node.excluded:
        source = f"#shaded({spoken_words(cell)}, ${source}$) "
    sign = measure.sign_after(node, i, j)
    if node.nested:
        bracket, last = node.bracket or "[", j == len(node.rows[i]) - 1
        # A bracket that has no partner in its cell is only a sign.
        source = (f"\\{_OPEN[bracket]} " if j == 0 else "") + source + (f" \\{_CLOSE[bracket]}" if last else "")
    return source + (f"\\{sign}" if sign else "")


def padded(source: str, left: float, right: float) -> str:
    before, after = (f"#h({pad}em) " if pad else "" for pad in (left, right))
    return before + source + (f" {after}" if after else "")


def formula_content(formula: Formula, pads: tuple[float, float] = (0.0, 0.0)) -> str:
    """A formula as content, fractions as high as on a line of their own, with space at both sides; a blank is empty."""
    if isinstance(formula, Blank):
        return "[]"
    source = padded(math_source(formula, "tall"), *pads)
    return f"[#m({spoken_words(formula)}, ${source}$)]" if source else "[]"


# --- lines of formulas --------------------------------------------------------------------------------


def _aligned(line: Formula) -> str:
    before, after = measure.before_sign(line)
    if before is None:
        indent = 'quad "" ' if measure.goes_on_with_a_sum(line) else ""
        return f"& {indent}{math_source(after, 'normal')}"
    return f"{math_source(before, 'normal')} &{math_source(after, 'normal')}".strip()


def aligned_lines(lines: Sequence[Formula]) -> list[str]:
    return [_aligned(line) for line in lines]


def spoken_words(*formulas: Formula, lead: Inlines = ()) -> str:
    """What is read out in place of formulas; PDF/UA wants it to be something."""
    words = [plain(lead), *map(speak, formulas)]
    return literal("; ".join(filter(None, words)) or say("a gap"))


def formulas_call(
    spoken: str, lines: Sequence[str], wide: float, page: Page, whole: bool = False, close: bool = False
) -> str:
    """Lines of formulas, `wide` by an estimate; the `whole` of them stays on one page.

    Typst need not measure what surely has room: that takes as long as setting it.
    """
    fits = widest(wide, lines) < SURE * page.room
    body = " \\\n  ".join(lines)
    options = ", whole: true" * whole + ", fits: true" * fits + ", close: true" * close
    return f"#formulas({spoken}{options}, $\n  {body}\n$)"


_ALIGNED = 8  # lines higher than half a page that are aligned all the same: a PDF has limits for words in their place
_NARROW, _FREE = 0.85, 4.0  # of a line, and em, if they are narrow
_STRING = re.compile(r'((?:upright|op)\()?"([^"]*)"')
_OF_WORDS = 2.2  # of their estimated width, words may take
SURE = 0.95  # of a line: formulas are estimated to be 4% too narrow at most


def width_aligned(lines: Sequence[Formula]) -> float:
    """The width of lines that are aligned at their signs."""
    parts = [measure.before_sign(line) for line in lines]
    names = (width(name) for name, _ in parts if name is not None)
    return max(names, default=0.0) + max((width(rest) for _, rest in parts), default=0.0)


def _with_lead(lead: Inlines, lines: Sequence[str]) -> Sequence[str]:
    """Lines with text before the first of them, in two columns more for the alignment."""
    first, *others = lines
    wide = max(4.6, measure.inlines_width(lead) + 0.6)
    return [f"#lead({wide:.1f}em)[{text_content(lead)}] && {first}", *(f"&& {line}" for line in others)]


def formula_lines(lines: Sequence[Formula], page: Page, whole: bool = False) -> str:
    """Lines of formulas aligned at their signs."""
    return formulas_call(spoken_words(*lines), aligned_lines(lines), width_aligned(lines), page, whole)


def _are_narrow(lines: Sequence[Formula], room: float) -> bool:
    """Whether lines leave some of their room free."""
    return widest(width_aligned(lines), aligned_lines(lines)) + _FREE < _NARROW * room


def widest(wide: float, sources: Iterable[str]) -> float:
    """How wide formulas of an estimated width may be: of words, and of names in foreign letters, the mean is known."""
    strings = (string for source in sources for string in _STRING.findall(source))
    has_words = any((len(words) > 1 or words.isalpha()) and not (name and words.isascii()) for name, words in strings)
    return wide * (_OF_WORDS if has_words else 1)


_KNOWN = re.compile("[ -\u017f]*")
_THIN, _SMALL = frozenset("fijlrst .,:;!'()[]-"), frozenset("abcdeghknopquvxyz0123456789?/")
_CAPITAL = frozenset("ABCDEFGHIJKLNOPQRSTUVXYZmw")
_LETTERS = {**dict.fromkeys(_THIN, 0.48), **dict.fromkeys(_SMALL, 0.65), **dict.fromkeys(_CAPITAL, 0.96)}
_LETTER = 1.2
"""Em that letters of our fonts have at most, in bold."""


def has_room(table: Table, room: float) -> bool:
    """Whether a table whose columns are as wide as what stands in them is surely no wider than `room` em."""
    least = 1.3 * paper.WRITING / _MILLIMETRES if tables.has_rows_for_writing(table) else 0.0
    widths = (max(least, *map(_widest_cell, column)) + tables.CELL_INSET for column in table.columns)
    return sum(widths) < SURE * room


def heading_has_room(heading: Heading, page: Page) -> bool:
    """Whether a heading with its marks surely has room in one line."""
    words = _widest_cell(heading.whole) * (_FIRST_HEADING if heading.level == 1 else 1)
    marks = _widest_cell(as_text(heading.marks)) + _BEFORE_MARKS if heading.marks else 0.0
    return (words + marks) * page.text_size * _POINT < page.width


_FIRST_HEADING = 12.5 / 11  # times as large as text
_BEFORE_MARKS = 0.8  # em
_POINT = 25.4 / 72  # millimetres


def choices_have_room(choices: Choices, columns: Sequence[str], page: Page) -> bool:
    """Whether options surely are no wider than their columns: as wide as the widest, or as they are."""
    widths = [_widest_cell(item) + paper.CHOICE_LABEL + paper.CHOICE_GAP for item in choices.items]
    wide = sum(widths) if "auto" in columns else max(widths) * len(columns)
    return wide < SURE * page.line


def _widest_cell(cell: Inlines) -> float:
    """How wide text may be in em; without end where its letters are not known."""
    return sum(map(_widest_part, spans(cell)))


def _widest_part(part: Span) -> float:
    match part:
        case Math(Blank(kind)):
            return paper.BLANK[kind] / _MILLIMETRES
        case Math(formula) if not contains(formula, Blank):
            return _FORMULA * widest(width(formula), [math_source(formula, "normal")])
        case Words(words) | Strong(words) if _KNOWN.fullmatch(words):
            return sum(_LETTERS.get(letter, _LETTER) for letter in words)
        case _:
            return math.inf


_FORMULA = 1.08  # times as large as text, formulas may be
_MILLIMETRES = 3.8  # of an em at 11 pt, at least


def display_call(shown: Display, page: Page) -> str:
    """Formulas behind the words that lead to them, or below these; what is high, in chunks that pages end between."""
    lead, room = shown.lead, page.room
    folded = [part for line in measure.folded(shown.lines, lead, room) for part in _by_rows(line, room)]
    if measure.lead_stands_above(folded, lead, room):
        return f"#block(sticky: true)[{text_content(lead)}]\n\n{formula_lines(folded, page)}"
    if lead:
        return formulas_call(spoken_words(*folded, lead=lead), _with_lead(lead, aligned_lines(folded)), math.inf, page)
    chunks = paper.in_chunks(folded, page)
    if 1 < len(chunks) <= _ALIGNED and _are_narrow(folded, room):
        chunks = [folded]  # nothing is made smaller, so that a page may end between lines that are aligned
    return "\n\n".join(chunk_call(chunk, page) for chunk in chunks)


def chunk_call(lines: Sequence[Formula], page: Page) -> str:
    """Lines that stay on one page, if they are few and not high."""
    return formula_lines(lines, page, len(lines) <= common.FEW and len(paper.in_chunks(lines, page)) == 1)


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
