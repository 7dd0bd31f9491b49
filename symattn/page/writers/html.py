"""Documents as one HTML file: MathML for formulas, nothing loaded from elsewhere, good to print.

What is to be filled in can be typed in, and is printed with what was typed.  Since browsers save a page as it was
loaded, a page to fill in has a button that saves what was typed, and a script of a few lines for it, the only one that
may run; without it, the page can be filled in and printed all the same.

The source is well-formed XML as well, so that any parser reads it.  Text is escaped wherever it comes from.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from html import escape
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
    equal,
    explicit,
    is_tall,
    pieces,
)
from symattn.formula.speech import speak
from symattn.formula.width import BLANK, Pads, matrix_columns, width
from symattn.foundation.installed import fonts
from symattn.foundation.languages import say, speaking
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Besides,
    Block,
    Box,
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
    Quoted,
    Solutions,
    Solved,
    Span,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
    all_blocks,
    as_text,
    settled,
    spans,
    spoken,
)
from symattn.page.writers import common, figures, flow, measure, paper, tables
from symattn.page.writers.page import filled, text_of
from symattn.page.writers.paper import Page

SUFFIX = ".html"
BESIDES: frozenset[Besides] = frozenset({"ask", "key"})

Style = Literal["normal", "script"]  # fractions with a bar, or with a slash

_INDENT = 1.5  # em, of formulas on lines of their own
_BETWEEN = 2  # em, between formulas in one line
_PHONE = 11.0  # em: what fits on a narrow screen; wider formulas can be moved to and fro with the keyboard

_CLOSE_TO = ' lspace="0em" rspace="0em"'
_UNSIGNED = {THIN: '<mspace width="0.17em"/>', INVISIBLE: "<mo>&#x2062;</mo>"}
_DOTS = {"horizontal": "…", "vertical": "⋮", "diagonal": "⋱", "cell": "·"}
_LEANING = {"V": 0.22, "Y": 0.22, **dict.fromkeys("FPTW", 0.14), **dict.fromkeys("MNU", 0.11)}  # italic corrections
_CLOSE: dict[Bracket, str] = {"[": "]", "(": ")", "⟨": "⟩", "|": "|", "": ""}


# --- text ---------------------------------------------------------------------------------------------


def escaped(words: str) -> str:
    """Text that is nothing but text, in an element and in an attribute.

    >>> print(escaped('a < "b" & c'))
    a &lt; &quot;b&quot; &amp; c
    """
    return escape(common.visible(words))


def _text(content: Inlines) -> str:
    return "".join(map(_inline, spans(content)))


def _inline(inline: Span) -> str:
    match inline:
        case Words(words):
            return f"<bdi>{escaped(words)}</bdi>" if isinstance(words, Quoted) else escaped(words)
        case Strong(words):
            return f"<strong>{escaped(words)}</strong>" if words else ""
        case Code(words):
            return f"<code>{escaped(words)}</code>" if words else ""
        case Math(formula):
            source = f"<math{_spoken(formula)}>{inside}</math>" if (inside := _math(formula, "normal")) else ""
            moved = _moved(say("Formula"), width(formula))
            return f'<span class="long"{moved}>{source}</span>' if moved else source
        case _:
            assert_never(inline)


# --- formulas -----------------------------------------------------------------------------------------


def formula(formula: Formula) -> str:
    """One formula as the inside of a `math` element."""
    return _math(formula, "normal")


def _spoken(*formulas: Formula) -> str:
    """What is read out: always as the text in place of the formula, and instead of it where it has signs of marking."""
    words = escaped("; ".join(map(speak, formulas)))
    label = f' aria-label="{words}"' if any(contains(f, Marked) for f in formulas) else ""
    return f' alttext="{words}"{label}'


def _moved(label: str, wide: float) -> str:
    """Attributes of something `wide`, in em, that is moved to and fro on a narrow screen, also with the keyboard.

    On paper it is made smaller if need be: how wide it is, the style sheet is told.  Nothing for what fits anywhere.
    """
    if wide <= _PHONE:
        return ""
    return f' tabindex="0" role="group" aria-label="{escaped(label)}"{_style(needs=f"{wide:.1f}")}'


@lru_cache(maxsize=2**14)  # most parts of a sheet stand on others as well
def _math(node: Formula, style: Style) -> str:
    def inner(child: Formula) -> str:
        return _math(child, style)

    def sign(sign: str) -> str:
        return _sign(sign, style)

    def script(child: Formula) -> str:
        return _row(_math(child, "script"))

    slashed = style == "script"
    match explicit(node):
        case Number(digits):
            return f"<mn>{escaped(digits)}</mn>"
        case Name() as name:
            return _name(name)
        case Text(words):
            return f"<mtext>{escaped(words)}</mtext>" if words else ""
        case Infinity():
            return "<mn>∞</mn>"
        case Dots(kind):
            return f"<mo>{_DOTS[kind]}</mo>"
        case Blank(kind):
            return f'<mspace class="blank" width="{BLANK[kind]}em" height="0.8em" depth="0.2em"/>'
        case Negative(body):
            return f'<mo form="prefix">−</mo>{inner(body)}'
        case Fraction(above, below) if not slashed:
            return f"<mfrac>{_row(inner(above))}{_row(inner(below))}</mfrac>"
        case Sum() | Product() | Fraction() as chain:
            form = _INFIX if measure.goes_on_with_a_sum(chain) else ""
            return "".join(_before(s, form, style) + inner(part) for s, part in pieces(chain, slashed))
        case Power(base, exponent):
            return f"<msup>{_row(inner(base))}{script(exponent)}</msup>"
        case Root(body):
            return f"<msqrt>{inner(body)}</msqrt>"
        case Transposed(body, above):
            raised = '<mi mathvariant="normal">T</mi>' if above == "T" else f"<mo>{above}</mo>"
            return f"<msup>{_row(inner(body))}{raised}</msup>"
        case Call(function, arguments, separator):
            listed = _fenced(_list(map(inner, arguments), separator), "(", any(map(is_tall, arguments)))
            return f"{_name(function)}<mo>&#x2061;</mo>{listed}"
        case Bracketed(body, bracket):
            return _fenced(inner(body), bracket, is_tall(body))
        case ListOf(items, bracket, separator):
            return _fenced(_list(map(inner, items), separator), bracket, any(map(is_tall, items)))
        case MatrixOf() as matrix:
            return _matrix(matrix)
        case Shape(rows, columns):
            return f"{inner(rows)}{sign('×')}{inner(columns)}"
        case Annotated(body, note, "under"):
            return f"<munder>{_row(inner(body))}{script(note)}</munder>"
        case Annotated(body, note, "index"):
            return f"<msub>{_row(inner(body))}{script(note)}</msub>"
        case Annotated(body, note, _):
            return f'{inner(body)}<mspace width="1em"/>{inner(note)}'
        case Marked(body, mark, _):
            gap = '<mspace width="0.17em"/>' if (source := inner(body)) else ""
            return f'{source}{gap}<mtext class="sign">{escaped(mark)}</mtext>'
        case BigSum(index, lower, upper, body):
            start = _math(index, "script") + (_sign("=", "script") + _math(lower, "script") if lower != NOTHING else "")
            bounds = f"<mo>∑</mo>{_row(start)}{script(upper)}"
            return f"<munderover>{bounds}</munderover>{inner(body)}"
        case Relation(parts, signs):
            first, *others = map(inner, parts)
            return first + "".join(sign(s) + part for s, part in zip(signs, others, strict=True))
        case Row(items):
            return _gap(_BETWEEN).join(map(inner, items))
        case unknown:
            assert_never(unknown)


def _row(source: str) -> str:
    return f"<mrow>{source}</mrow>"


def _sign(sign: str, style: Style, form: str = "") -> str:
    """A sign between two things; in an index or an exponent there is no space round it."""
    return f"<mo{form}{_CLOSE_TO if style == 'script' else ''}>{escaped(sign)}</mo>"


_INFIX = ' form="infix"'
"""At the beginning of a piece, a sign still stands between two things."""


def _breakable(formula: Formula) -> str:
    """In pieces where it is too wide for a narrow screen: the formulas of a row, else from one sign to the next."""
    if width(formula) <= _PHONE:
        return _row(_math(formula, "normal"))
    if isinstance(formula, Row):
        return _gap(_BETWEEN).join(f'<mrow class="item">{_breakable(item)}</mrow>' for item in formula.items)
    shown = ((sign, part) for sign, part in _pieces(formula) if sign or part != NOTHING)
    return "".join(_row(_before(sign, _INFIX) + _math(part, "normal")) for sign, part in shown)


def _before(sign: str, form: str = "", style: Style = "normal") -> str:
    """The sign before a piece, which may be invisible; nothing before the first."""
    return _UNSIGNED.get(sign) or (_sign(sign, style, form) if sign else "")


def _pieces(formula: Formula) -> Iterator[tuple[str, Formula]]:
    match formula:
        case Relation(parts, signs):
            for sign, part in zip(("", *signs), parts, strict=True):
                (_, first), *others = _pieces(part)
                yield sign, first
                yield from others
        case Sum() | Product() if isinstance(formula, Sum) or width(formula) > _PHONE:
            yield from pieces(formula)
        case _:
            yield "", formula


def _fenced(source: str, bracket: Bracket, tall: bool) -> str:
    """In brackets, which grow with what is `tall`: browsers would make others grow as well, and set them off."""
    if not bracket:
        return source
    grows = "" if tall else ' stretchy="false"'
    left, right = f'<mo form="prefix"{grows}>{bracket}</mo>', f'<mo form="postfix"{grows}>{_CLOSE[bracket]}</mo>'
    return _row(left + source + right)


def _letters(base: str) -> str:
    """One letter as a variable, anything else upright."""
    upright = "" if len(base) != 1 or base.isalpha() else ' mathvariant="normal"'
    return f"<mi{upright}>{escaped(base)}</mi>"


def _name(name: Name) -> str:
    base = _letters(name.base)
    if name.hat:
        base = f'<mover accent="true">{base}<mo>^</mo></mover>'
    comma = f"<mo{_CLOSE_TO}>,</mo>" if measure.index_comma(name.sub) else ""
    below = comma.join(_math(item, "script") for item in name.sub)
    above = f"<mo>{'′' * name.primes}</mo>" * bool(name.primes) + (_letters(name.sup) if name.sup else "")
    match bool(below), bool(above):
        case True, True:
            return f"<msubsup>{base}{_row(below)}{_row(above)}</msubsup>"
        case True, False:
            return f"<msub>{base}{_row(below)}</msub>"
        case False, True:
            return f"<msup>{base}{_row(above)}</msup>"
        case _:
            return base + _gap(_LEANING[name.base]) if name.base in _LEANING else base


def _gap(wide: float) -> str:
    return f'<mspace width="{wide}em"/>'


def _list(items: Iterable[str], separator: str) -> str:
    gap = f'<mo separator="true">{separator}</mo>' if separator else '<mspace width="0.6em"/>'
    return gap.join(items)


def _matrix(node: MatrixOf) -> str:
    labelled = node.row_labels or node.column_labels
    rows = []
    if node.column_labels:
        corner = "<mtd></mtd>" if node.row_labels else ""
        heads = "".join(f'<mtd class="above">{_math(label, "normal")}</mtd>' for label in node.column_labels)
        rows.append(f"<mtr>{corner}{heads}</mtr>")
    pads = matrix_columns(node).pads
    for i, row in enumerate(node.rows):
        label = f'<mtd class="before">{_math(node.row_labels[i], "normal")}</mtd>' if node.row_labels else ""
        rows.append(f"<mtr>{label}{''.join(_cell(node, i, j, pads) for j in range(len(row)))}</mtr>")
    tall = any(map(measure.has_tall_fraction, node.entries))
    large = ' displaystyle="true"' if tall else ""
    table = f'<mtable class="matrix"{large}>{"".join(rows)}</mtable>'
    return table if labelled else _fenced(table, node.bracket, tall=True)


def _cell(node: MatrixOf, i: int, j: int, pads: Pads) -> str:
    left, right = (_gap(pad) if pad else "" for pad in pads.get((i, j), (0.0, 0.0)))
    source = left + _math(node.rows[i][j], "normal") + right
    if node.nested:
        bracket, last = node.bracket or "[", j == len(node.rows[i]) - 1
        source = (_still(bracket) if j == 0 else "") + source + (_still(_CLOSE[bracket]) if last else "")
    sign = measure.sign_after(node, i, j)
    excluded = ' class="excluded"' if (i, j) in node.excluded else ""
    return f"<mtd{excluded}>{source}{_still(sign) if sign else ''}</mtd>"


def _still(sign: str) -> str:
    """A sign that does not grow."""
    return f'<mo stretchy="false">{sign}</mo>'


# --- documents ----------------------------------------------------------------------------------------


@dataclass
class _Screen:
    """What is written to: a page of the reader's choice, and what has been met on it.

    The headings of a fragment are a level lower than those of a page.  `heading` is the last one, in words; `groups`
    are the groups of options so far, which need names that differ, and `parts` the parts, which scripts find by number.
    """

    page: Page
    sheet: str = ""
    solutions: Solutions = "blank"
    level: int = 1
    heading: str = ""
    groups: int = 0
    parts: int = 0

    @classmethod
    def of(cls, document: Document, level: int = 1) -> _Screen:
        return cls(Page(document.look), document.sheet, document.solutions, level)

    def label(self, words: str) -> str:
        """A label that is told from others of its kind by the heading it stands under."""
        return escaped(f"{words}, {self.heading}" if self.heading else words)


def write(document: Document) -> str:
    """The whole document."""
    with speaking(document.look.language):
        screen = _Screen.of(document)
        body = _body(document, screen)
        page = screen.page
        asks = document.solutions in ("blank", "partly") and re.search("<(?:input|textarea) ", body)
        saving = text_of("saving.js") if asks else ""
        return filled(
            "document.html.j2",
            language=escaped(document.look.language),
            title=escaped(document.title) or say("Untitled"),
            sheet=escaped(document.sheet),
            recipe=escaped(document.footer),
            spacing=document.look.spacing,
            scale=f"{page.scale:.3g}",
            line=f"{page.line:.1f}",
            text_size=document.look.text_size,
            paper={"a4": "A4", "letter": "letter"}[document.look.paper],
            margins=f"{page.top}mm {page.side}mm {page.bottom}mm",
            identity=_css_string(" · ".join(filter(None, (document.sheet, document.title)))),
            page_number=" ".join(common.page_words("counter(page)", "counter(pages)", _css_string)),
            font=_font() if "<math" in body else "",
            body=body,
            save=say("Save my work"),
            saving=saving,
            saving_hash="sha256-" + b64encode(sha256(f"\n{saving}".encode()).digest()).decode(),
        )


def fragment(document: Document) -> str:
    """The document as a piece of another page, a notebook's output: its styles hold for nothing but itself.

    The font of formulas is left to the reader's machine, since a notebook has many such pieces.
    """
    with speaking(document.look.language):
        body = _body(document, _Screen.of(document, level=2))
        return filled("fragment.html.j2", spacing=document.look.spacing, line=measure.LINE, body=body)


def bare(document: Document, head: bool = True) -> str:
    """The document for a page that has `style`: in an element of the class symattn; perhaps without title and lines."""
    with speaking(document.look.language):
        screen = _Screen.of(document, level=2)
        return _body(document, screen) if head else _blocks(common.with_sound_levels(document.blocks), screen)


def style() -> str:
    """The styles of documents that are `bare`, and the font of their formulas."""
    face = f'@font-face {{ font-family: "Symattn Math"; src: url(data:font/woff2;base64,{_font()}) format("woff2"); }}'
    return f"{face}\n{filled('document.css.j2')}"


@cache
def _font() -> str:
    return b64encode((fonts() / "symattn-math.woff2").read_bytes()).decode()


def _css_string(words: str) -> str:
    """Text as a string in a style sheet, every sign that is no letter or figure by its number.

    >>> print(_css_string('a"</style>'))
    "a\\22 \\3c \\2f style\\3e "
    """
    signs = (c if c.isascii() and c.isalnum() else f"\\{ord(c):x} " for c in common.visible(words))
    return f'"{"".join(signs)}"'


def _body(document: Document, screen: _Screen) -> str:
    """Everything below the furniture of the page: the title, the lines at its head, and the blocks."""
    if document.solutions in ("blank", "partly"):
        document = settled(document)
    parts = [
        f'<h{screen.level} class="title" dir="auto">{escaped(document.title) or say("Untitled")}</h{screen.level}>'
    ]
    if document.subtitle:
        parts.append(f'<p class="subtitle" dir="auto">{escaped(document.subtitle)}</p>')
    if document.fields:
        items = tuple(FillIn(as_text(common.label(name)), 34) for name in document.fields)
        parts.append(_fill_ins(items, screen))
    head = "\n".join(parts)
    if any(isinstance(block, Solved) for block in all_blocks(document.blocks)):
        words = say("Show every solution")
        head += f'\n<p><label class="show-all"><input type="checkbox"/> {words}</label></p>'
    blocks = _blocks(common.with_sound_levels(document.blocks), screen)
    return f'<div class="head">\n{head}\n</div>\n{blocks}'


def _blocks(blocks: Iterable[Block], screen: _Screen) -> str:
    return "\n".join(_block(block, screen) for block in common.without_programs(blocks))


def _block(block: Block, screen: _Screen) -> str:
    page = screen.page
    if (own := common.replaced(block)) is not None:
        return own
    match block:
        case Heading():
            return _heading(block, screen)
        case Paragraph(content, marks):
            return f"<p>{_text(content)}{_marks(marks)}</p>"
        case Display() if line := measure.in_one_line(block):
            return f"<p>{_text(line)}</p>"
        case Display(lines, lead):
            words = f'<p class="lead">{_text(lead)}</p>\n' if lead else ""
            return words + _formulas([[line] for line in measure.folded(lines, limit=page.line)])
        case Entries():
            return _formulas(measure.entries_in_lines(block, page.line, measure.ON_A_SCREEN))
        case AnswerGrid():
            return _grid(block, page)
        case WorkingSpace():
            return _working(block, screen, paper.space_height(block, page))
        case AnswerSpace(boxes, working):
            high = paper.boxes_height(boxes, page) + paper.below_boxes(block, page)
            return f'<div class="answer">\n{_block(boxes, screen)}\n{_working(working, screen, high)}\n</div>'
        case FillIns(items):
            return _fill_ins(items, screen)
        case Choices():
            return _choices(block, screen)
        case HeatMap():
            return _heat_map(block)
        case HeatMaps(items):
            pictures = (_heat_map(picture, _text(caption)) for caption, picture in items)
            return f'<div class="heat-maps{" small" * block.small}">\n{chr(10).join(pictures)}\n</div>'
        case ItemList():
            return _items(block)
        case Table():
            return _table(block)
        case Box(title, blocks):
            head = f"<p><strong>{escaped(title)}</strong></p>\n" if title else ""
            return f'<div class="box">\n{head}{_blocks(blocks, screen)}\n</div>'
        case Together(blocks):
            return f'<div class="together">\n{_blocks(blocks, screen)}\n</div>'
        case Falk():
            return _falk(block, page)
        case Flow():
            return _blocks(flow.shown(block, page), screen)
        case FlowSheet():
            return _flow_sheet(block, screen)
        case Columns() if page.large:
            return _blocks(common.one_after_another(block), screen)
        case Columns():
            return _columns(block, screen)
        case Solved():
            return _solved(block, screen)
        case Diagram():
            return _figure(figures.drawn(block))
        case Program():  # for notebooks
            return ""
        case PageBreak():
            return '<hr class="page-break"/>'
        case _:
            assert_never(block)


def _heading(heading: Heading, screen: _Screen) -> str:
    """Questions are counted: what is written below one is saved by its number."""
    content = heading.whole
    screen.heading = spoken(content)
    name = f"h{min(6, heading.level + screen.level)}"
    screen.parts += heading.of == "question"
    number = f' data-part="{screen.parts}"' if heading.of == "question" else ""
    return f"<{name}{number}>{_text(content)}{_marks(heading.marks)}</{name}>"


def _items(listed: ItemList) -> str:
    name = "ol" if listed.ordered else "ul"
    items = "\n".join(f"<li>{_text(item)}</li>" for item in listed.items)
    return f"<{name}>\n{items}\n</{name}>" if items else ""


def _figure(drawing: figures.Drawing) -> str:
    moved = _moved(say("Figure"), drawing.width / paper.EM)
    return f'<figure><div class="wide"{moved}>{_svg(drawing)}</div></figure>'


def _marks(marks: str) -> str:
    return f' <span class="marks">{escaped(marks)}</span>' if marks else ""


def _style(**lengths: str) -> str:
    return f' style="{"; ".join(f"--{name}: {length}" for name, length in lengths.items())}"'


# --- formulas and tables of them ----------------------------------------------------------------------


def _formulas(lines: Sequence[Sequence[Formula]]) -> str:
    """Lines of formulas, aligned at the first relation sign of each."""
    every = [formula for line in lines for formula in line]
    if len(every) == 1:
        math, wide = _breakable(every[0]), width(every[0])
    else:
        rows = "".join(f"<mtr>{''.join(map(_aligned, line))}</mtr>" for line in lines)
        math = f'<mtable class="aligned" displaystyle="true">{rows}</mtable>'
        wide = max((sum(map(width, line)) + 2.2 * (len(line) - 1) for line in lines), default=0.0)
    source = f'<math display="block"{_spoken(*every)}>{math}</math>'
    return f'<div class="formula"{_moved(say("Formula"), wide + _INDENT)}>{source}</div>'


def _aligned(line: Formula) -> str:
    before, after = measure.before_sign(line)
    first = _row(_math(before, "normal")) if before is not None else ""
    indent = '<mspace width="2em"/>' if before is None and measure.goes_on_with_a_sum(line) else ""
    return f"<mtd>{first}</mtd><mtd>{indent}{_breakable(after)}</mtd>"


def _cell_of(formula: Formula) -> str:
    return _inline(Math(formula))


def _falk(falk: Falk, page: Page) -> str:
    """The factors left of and above the product, in rows and columns of one size."""
    cells = [cell for row in falk.above.rows for cell in row]
    if isinstance(falk.inside, AnswerGrid):
        across, down = paper.box_size(falk.inside, page)
        column, lengths = across / page.millimetres(paper.EM), {"column": f"{across}mm", "row": f"{down}mm"}
        inside = f'<div class="inside">{_grid_table(falk.inside, page)}</div>'
    else:
        cells += [cell for row in falk.inside.rows for cell in row]
        column = max(map(width, cells), default=0.0) + 0.9
        tall = any(contains(matrix, Fraction) for matrix in (falk.left, falk.inside))
        lengths = {"column": f"{column:.2f}em", "row": "2.8em" if tall else "1.35em"}
        inside = _part_of_falk("inside", falk.inside)
    names = [_part_of_falk(place, name) for place, name in zip(("left-name", "top-name"), falk.names, strict=False)]
    parts = [*names[:1], _part_of_falk("left", falk.left), *names[1:], _part_of_falk("top", falk.above), inside]
    columns = max((len(row) for row in falk.above.rows), default=0)
    wide = max(map(width, falk.names), default=0.0) + width(falk.left) + columns * column + 3
    source = f'<div class="falk"{_style(**lengths)}>{"".join(parts)}</div>'
    return f'<div class="wide"{_moved(say("Matrix product"), wide)}>{source}</div>'


def _part_of_falk(place: str, formula: Formula) -> str:
    return f'<math class="{place}" display="block"{_spoken(formula)}>{_math(formula, "normal")}</math>'


def _flow_sheet(sheet: FlowSheet, screen: _Screen) -> str:
    """A flow sheet: everything in its place, in the order in which it is read; on a narrow screen it is moved."""
    begun: set[Heading] = set()
    pictures = [_flow_picture(picture, screen, begun) for picture in flow.fitted(sheet, screen.page)]
    legend = [f"<p>{_text(sheet.legend)}</p>"] if sheet.legend else []
    return "\n".join([*legend, *pictures])


def _flow_picture(picture: flow.Picture, screen: _Screen, begun: set[Heading]) -> str:
    """One page of it; `begun` are the parts whose heading there is already."""
    parts = []

    def put(name: str, kind: str, place: str, content: str = "") -> None:
        parts.append(f'<{name} class="{kind}" style="{place}">{content}</{name}>')

    for shape in picture.shapes:
        match shape:
            case flow.Boxes(grid):
                parts.append(_flow_boxes(grid, f' style="{_place(shape.x, shape.y)}"'))
            case flow.Title(grid, lines, x, y, ends):
                name = "p"
                if grid.heading and grid.heading not in begun:  # other heads' parts of it have no heading of their own
                    begun.add(grid.heading)
                    name = f"h{min(6, grid.heading.level + screen.level)}"
                    screen.heading = spoken(grid.heading.whole)
                words = "".join(f"<span>{_text(line)}</span>" for line in lines) if len(lines) > 1 else _text(lines[0])
                put(name, "title-of ends" if ends else "title-of", _place(x, y - flow.TITLE * len(lines)), words)
            case flow.Token(token):
                put("span", f"token token-{token % flow.PATTERNS}", _place_of(shape))
            case flow.Outline():
                put("span", "outline", _place_of(shape))
            case flow.Note(content, x, y):
                put("p", "note", _place(x, y), _text(content))
            case figures.Line():
                pass
            case _:
                assert_never(shape)
    arrows = _svg_of_lines(picture)
    across, down = _em(picture.width), _em(picture.height)
    label = f' tabindex="0" role="group" aria-label="{say("Flow sheet")}"'
    size = _style(needs=across.removesuffix("em"), across=across, down=down)
    body = "\n".join(parts)
    return f'<div class="wide sheet"{label}{size}><div class="flow">{arrows}\n{body}\n</div></div>'


_MM = 3.88  # an em in millimetres, at 11 pt


def _em(millimetres: float) -> str:
    return f"{millimetres / _MM:.2f}em"


def _place(x: float, y: float) -> str:
    return f"left: {_em(x)}; top: {_em(y)}"


def _place_of(shape: flow.Token | flow.Outline) -> str:
    return f"{_place(shape.x, shape.y)}; width: {_em(shape.width)}; height: {_em(shape.height)}"


def _flow_boxes(grid: FlowGrid, place: str) -> str:
    """Boxes as a table, what has none left as a formula."""
    inside, (wide, high) = grid.inside, map(_em, grid.cell)
    if isinstance(inside, AnswerGrid) and len(inside.filled) < inside.rows * inside.columns:
        source = _table_of_grid(inside, wide, high, grid.start, working=grid.heading is None)
    else:
        given = isinstance(inside, MatrixOf)
        matrix = MatrixOf(grid.cells, bracket="")
        called = inside.name if isinstance(inside, AnswerGrid) else grid.rule
        spoken = _spoken(equal(called, matrix))
        lengths = _style(column=wide, row=high)
        source = f'<math class="{"given" if given else "done"}"{lengths}{spoken}>{_math(matrix, "normal")}</math>'
    return f"<div{place}>{source}</div>"


def _columns(columns: Columns, screen: _Screen) -> str:
    """Two columns side by side, on a narrow screen one below the other."""
    head = "".join(_head("col", cell) for cell in columns.heads)
    rows = [
        f"<tr><td>{_blocks(left, screen)}</td>\n<td>{_blocks(right, screen)}</td></tr>" for left, right in columns.rows
    ]
    return f'<table class="columns">\n{_parts_of_table(head, rows)}</table>'


def _parts_of_table(head: str, rows: Iterable[str]) -> str:
    above, body = f"<thead><tr>{head}</tr></thead>\n" if head else "", "\n".join(rows)
    return f"{above}<tbody>\n{body}\n</tbody>\n"


def _head(scope: Literal["row", "col"], content: Inlines) -> str:
    """The head of a row or a column, formulas in it also in words: not every reader takes a formula for text."""
    if not content:
        return "<td></td>"
    words = f'<span class="heard">{escaped(spoken(content))}</span>' if any(measure.formulas_in(content)) else ""
    shown = f'<span aria-hidden="true">{_text(content)}</span>' if words else _text(content)
    return f'<th scope="{scope}">{words}{shown}</th>'


def _heat_map(picture: HeatMap, caption: str = "") -> str:
    """Cells told apart by tone and pattern; where there is no word in them, their level is there to be heard."""

    def cell(i: int, j: int, level: int) -> str:
        word = escaped(common.word_in(picture, i, j))
        said = f"<span>{word}</span>" if word else f'<span class="heard">{level}</span>'
        return f'<td class="level-{level}">{said}</td>'

    labels = [_head("row", as_text(label)) for label in picture.row_labels] or [""] * len(picture.levels)
    rows = [
        f"<tr>{label}{''.join(cell(i, j, level) for j, level in enumerate(row))}</tr>"
        for i, (label, row) in enumerate(zip(labels, picture.levels, strict=True))
    ]
    heads = "".join(_head("col", as_text(label)) for label in picture.column_labels)
    corner = "<td></td>" if heads and picture.row_labels else ""
    table = f'<table class="heat-map">\n{_parts_of_table(corner + heads, rows)}</table>'
    across = len(picture.levels[0]) * max(3.1, paper.cell_width(picture) / paper.EM) if picture.levels else 0
    description = f'<span class="heard">{escaped(picture.description)}</span>' if picture.description else ""
    moved = _moved(say("Table"), across + max(map(width, picture.row_labels), default=0))
    return f'<figure><div class="wide"{moved}>{table}</div><figcaption>{caption}{description}</figcaption></figure>'


def _table(table: Table) -> str:
    head = "".join(_head("col", cell) for cell in table.header)
    rows = []
    for row in table.rows:
        by_hand = tables.is_for_writing(row, table)
        first, *others = row
        cells = [_head("row", first) if table.row_heads else f"<td>{_text(first)}</td>"]
        for cell, above in zip(others, table.header[1:], strict=True):
            label = ", ".join(filter(None, (spoken(first), spoken(above))))
            cells.append(f"<td>{_entry(label) if by_hand or tables.is_blank(cell) else _text(cell)}</td>")
        kind = ' class="writing"' if by_hand else ""
        rows.append(f"<tr{kind}>{''.join(cells)}</tr>")
    wide = sum(max(map(_needed, column)) for column in table.columns)
    inner = _parts_of_table(head, rows)
    return f'<div class="wide"{_moved(say("Table"), wide)}><table class="table">\n{inner}</table></div>'


def _needed(content: Inlines) -> float:
    """The width that a cell of a table needs, in em: words are wrapped, formulas are not."""
    widest = max(map(width, measure.formulas_in(content)), default=0.0)
    return max(widest, min(measure.inlines_width(content), 5.0)) + 1.4


# --- figures ------------------------------------------------------------------------------------------

_UNIT = 16 / 3.88  # units of a picture in a millimetre: an em of 11 pt, or 3.88 mm, has 16


def _svg(drawing: figures.Drawing) -> str:
    """A figure, read out as its description; its lines have the colour of the text, and are seen in the dark as well.

    Formulas and words are the page's own, in foreign objects: they are set in its fonts and grow with its text.
    """
    shapes = "\n".join(part for shape in drawing.shapes for part in _drawn(shape))
    first, _, rest = common.visible(drawing.description).partition(". ")
    described = f"<desc>{escape(rest)}</desc>" if rest else ""
    wide, high = drawing.width + 1, drawing.height + 1
    return (
        f'<svg role="img" class="figure" viewBox="{_n(-0.5)} {_n(-0.5)} {_n(wide)} {_n(high)}" '
        f'style="width: {wide * _UNIT / 16:.1f}em" xmlns="http://www.w3.org/2000/svg">\n'
        f"<title>{escape(first or say('Figure'))}</title>{described}\n{shapes}\n</svg>"
    )


def _svg_of_lines(picture: flow.Picture) -> str:
    """Arrows alone, which say nothing that is not said elsewhere."""
    drawn = "\n".join(part for shape in picture.shapes if isinstance(shape, figures.Line) for part in _drawn(shape))
    size = f'viewBox="0 0 {_n(picture.width)} {_n(picture.height)}"'
    return f'<svg aria-hidden="true" class="figure" {size} xmlns="http://www.w3.org/2000/svg">\n{drawn}\n</svg>'


def _n(length: float) -> str:
    return f"{length * _UNIT:.1f}"


def _points(*points: figures.Point) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _drawn(shape: figures.Shape) -> Iterator[str]:
    match shape:
        case figures.Box(content, x, y, wide, high, shaded):
            at = _rectangle(x - wide / 2, y - high / 2, wide, high)
            yield f'<rect class="{"given" if shaded else "box"}" {at} rx="3"/>'
            yield _foreign(at, "inside", _cell_of(content))
        case figures.Line(points, arrow):
            pieces = (f" {'L' if len(piece) == 1 else 'C'} {_points(*piece)}" for piece in shape.pieces())
            yield f'<path class="line" d="M {_points(points[0])}{"".join(pieces)}"/>'
            if arrow:
                (x, y), (right, down) = shape.head
                back = [(x - 2.2 * right + 0.8 * s * down, y - 2.2 * down + 0.8 * s * right) for s in (1, -1)]
                yield f'<polygon class="tip" points="{_points((x, y), *back)}"/>'
        case figures.Remark(content, x, y, wide):
            yield _foreign(_rectangle(x, y - 4, wide + 2, 8), "beside", _text(content))
        case figures.Frame(label, x, y, wide, high):
            yield f'<rect class="frame" {_rectangle(x, y, wide, high)} rx="6"/>'
            if label:
                yield _foreign(_rectangle(x + 1.5, y, wide - 3, 7), "beside", _text(label))


def _rectangle(x: float, y: float, wide: float, high: float) -> str:
    return f'x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}"'


def _foreign(at: str, place: str, source: str) -> str:
    inside = f'<div xmlns="http://www.w3.org/1999/xhtml" class="{place}"><span>{source}</span></div>'
    return f"<foreignObject {at}>{inside}</foreignObject>"


# --- places to write ----------------------------------------------------------------------------------


def _entry(label: str, name: str = "", **lengths: str) -> str:
    """A place to type in.  The empty placeholder tells the style sheet whether something was typed."""
    kind = f' class="{name}"' if name else ""
    style = _style(**lengths) if lengths else ""
    return f'<input type="text"{kind} placeholder=" " autocapitalize="none" aria-label="{escaped(label)}"{style}/>'


def _grid(grid: AnswerGrid, page: Page) -> str:
    """Boxes to write in, as a table whose rows and columns are numbered or labelled."""
    box, _ = paper.box_size(grid, page)
    across = 3.0
    for j in range(grid.columns):
        across += max([box / page.millimetres(paper.EM), *(width(value) for (_, k), value in grid.filled if k == j)])
    empty = len(grid.filled) < grid.rows * grid.columns  # boxes are reached by the keyboard themselves
    moved = _style(needs=f"{across:.1f}") if empty else _moved(say("Table"), across)
    return f'<div class="wide"{moved}>{_grid_table(grid, page)}</div>'


def _grid_table(grid: AnswerGrid, page: Page) -> str:
    wide, high = (f"{length}mm" for length in paper.box_size(grid, page))
    return _table_of_grid(grid, wide, high)


def _table_of_grid(
    grid: AnswerGrid, wide: str, high: str, start: tuple[int, int] = (0, 0), working: bool = False
) -> str:  # fmt: skip
    """The boxes of a grid; rows and columns without labels are numbered from `start` on.

    Those for `working` say so, lest the transposed keys be taken for the keys.
    """
    above, before = _labels(grid.column_labels, grid.columns, start[1]), _labels(grid.row_labels, grid.rows, start[0])
    name = speak(grid.name) or say("Answer")

    def box(i: int, j: int, cell: Formula) -> str:
        if not isinstance(cell, Blank):
            return f"<td>{_cell_of(cell)}</td>"
        label = say("{name}, row {row}, column {column}", name=name, row=spoken(before[i]), column=spoken(above[j]))
        place = f' data-row="{start[0] + i + 1}" data-column="{start[1] + j + 1}"'
        return f"<td{place}>{_square(label) if grid.shade else _entry(label)}</td>"

    rows = [
        f"<tr>{_head('row', before[i])}{''.join(box(i, j, cell) for j, cell in enumerate(row))}</tr>"
        for i, row in enumerate(grid.cells)
    ]
    first = f"{common.label(say('Working'))} " if working else ""
    title = f"<caption>{first}{_cell_of(equal(grid.name, NOTHING))}</caption>\n" if grid.name != NOTHING else ""
    head = "".join(_head("col", label) for label in above)
    inner = _parts_of_table(f'<td class="corner"></td>{head}', rows)
    return f'<table class="grid"{_style(wide=wide, high=high)}>\n{title}{inner}</table>'


def _labels(labels: Sequence[Formula], count: int, after: int = 0) -> list[Inlines]:
    return [as_text(label) for label in labels] or [as_text(str(after + k + 1)) for k in range(count)]


def _square(label: str) -> str:
    """A box to be shaded or left white."""
    return f'<input type="checkbox" aria-label="{escaped(label)}"/>'


def _working(space: WorkingSpace, screen: _Screen, high: int) -> str:
    name = "working ruled" if space.ruled else "working"
    page = screen.page
    lengths = {"high": f"{high}mm", "ruling": f"{page.millimetres(paper.RULING)}mm"}
    label = screen.label(say("Working"))
    return f'<textarea class="{name}" placeholder=" " aria-label="{label}"{_style(**lengths)}></textarea>'


def _fill_ins(items: Sequence[FillIn], screen: _Screen) -> str:
    return f'<div class="fill-ins">{" ".join(_fill_in(item, screen.page) for item in items)}</div>'


def _fill_in(item: FillIn, page: Page) -> str:
    """A label and a place to write; what stands there already is text."""
    label = spoken(item.label)
    if common.has_character_boxes(item):
        boxes = (
            f"<span>{escaped(c)}</span>"
            if item.value
            else _entry(say("{label}, box {box} of {count}", label=label, box=k, count=item.boxes))
            for k, c in enumerate(common.in_boxes(item), 1)
        )
        place = f'<span class="characters">{"".join(boxes)}</span>'
    elif item.value:
        wide = f"{paper.line_width(item, page)}mm"
        place = f'<bdi class="line"{_style(wide=wide)}>{escaped(item.value)}</bdi>'
    else:
        place = _entry(label or say("Answer"), "line", wide=f"{paper.line_width(item, page)}mm")
    return f'<span class="fill-in">{_text(item.label)} {place} {_text(item.after)}</span>'


def _choices(choices: Choices, screen: _Screen) -> str:
    """Options to choose from; where some are ticked already, they are only shown."""
    if not choices.items:
        return ""
    widest = max(map(measure.inlines_width, choices.items)) + paper.CHOICE_LABEL
    option = _style(option=f"{min(widest, screen.page.line):.1f}em")
    if choices.ticked:
        listed = "\n".join(_ticked(i, item, i in choices.ticked) for i, item in enumerate(choices.items))
        return f'<ul class="choices"{option}>\n{listed}\n</ul>'
    screen.groups += 1
    kind, asked = ("checkbox", say("Tick all that apply")) if choices.several else ("radio", say("Tick one"))
    box = f'<input type="{kind}" name="{escaped(f"choice {screen.groups} {screen.sheet}".strip())}"/>'
    listed = "\n".join(
        f"<label>{box} <strong>{common.letter(i)}.</strong> <span>{_text(item)}</span></label>"
        for i, item in enumerate(choices.items)
    )
    legend = f'<legend class="heard">{screen.label(asked)}</legend>'
    return f'<fieldset class="choices"{option}>{legend}\n{listed}\n</fieldset>'


def _ticked(i: int, item: Inlines, ticked: bool) -> str:
    sign, says = ("☒", say("ticked")) if ticked else ("☐", say("not ticked"))
    box = f'<span role="img" aria-label="{says}">{sign}</span>'
    return f"<li>{box} <strong>{common.letter(i)}.</strong> <span>{_text(item)}</span></li>"


def _solved(solved: Solved, screen: _Screen) -> str:
    """What is asked, and the solution, if there is one, for the reader to open."""
    asked = _blocks(solved.ask, screen)
    heading = screen.heading if solved.ask else ""
    if not (solution := _blocks(solved.shown(screen.solutions), screen)):
        return asked
    title = say("Solution") if solved.ask else say("For marking")
    heading = f'<span class="heard">, {escaped(heading)}</span>' if heading else ""
    summary = f"<summary>{title}{heading}</summary>"
    return (
        f'<div class="solved">\n<div class="asked">\n{asked}\n</div>\n'
        f"<details>{summary}\n{solution}\n</details>\n</div>"
    )
