"""Documents as one HTML file: MathML for formulas, no scripts, nothing loaded from elsewhere, good to print.

The source is well-formed XML as well, so that any parser reads it.  Text is escaped wherever it comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Literal, assert_never

from symattn.document import (
    AnswerGrid,
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
    Heading,
    HeatMap,
    Inline,
    Inlines,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Solved,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
    settled,
)
from symattn.formula.nodes import (
    NOTHING,
    Annotated,
    BigSum,
    Blank,
    Bracket,
    Bracketed,
    Call,
    CellKind,
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
    base_needs_brackets,
    factor_needs_brackets,
    index_needs_brackets,
)
from symattn.formula.speech import speak
from symattn.writers import common, text
from symattn.writers.common import Page
from symattn.writers.page import filled

SUFFIX = ".html"

Style = Literal["normal", "script"]  # fractions with a bar, or with a slash

_DOTS = {"horizontal": "…", "vertical": "⋮", "diagonal": "⋱", "cell": "·"}
_BLANK: dict[CellKind, float] = {"integer": 2.9, "decimal": 4.7, "fraction": 4.0, "exponential": 7.8, "word": 10.4}
_OPEN: dict[Bracket, str] = {"[": "[", "(": "(", "⟨": "⟨", "|": "|", "": ""}
_CLOSE: dict[Bracket, str] = {"[": "]", "(": ")", "⟨": "⟩", "|": "|", "": ""}


# --- text ---------------------------------------------------------------------------------------------


def escaped(words: str) -> str:
    """Text that is nothing but text, in an element and in an attribute.

    >>> print(escaped('a < "b" & c'))
    a &lt; &quot;b&quot; &amp; c
    """
    return escape(common.visible(words))


def _text(content: Inlines) -> str:
    return "".join(map(_inline, content))


def _inline(inline: Inline) -> str:
    match inline:
        case Words(words):
            return escaped(words)
        case Strong(words):
            return f"<strong>{escaped(words)}</strong>" if words else ""
        case Code(words):
            return f"<code>{escaped(words)}</code>" if words else ""
        case Math(formula):
            source = _math(formula, "normal")
            return f"<math{_spoken(formula)}>{source}</math>" if source else ""
        case _:
            assert_never(inline)


# --- formulas -----------------------------------------------------------------------------------------


def formula(formula: Formula) -> str:
    """One formula as the inside of a `math` element."""
    return _math(formula, "normal")


def _spoken(*formulas: Formula) -> str:
    """What is read out: always as the text in place of the formula, and instead of it where it has signs of marking."""
    words = escaped("; ".join(map(speak, formulas)))
    label = f' aria-label="{words}"' if any(common.contains(f, Marked) for f in formulas) else ""
    return f' alttext="{words}"{label}'


def _math(node: Formula, style: Style) -> str:
    def inner(child: Formula, brackets: bool = False) -> str:
        source = _math(child, style)
        return _fenced(source, "(") if brackets else source

    def script(child: Formula) -> str:
        return _row(_math(child, "script"))

    match node:
        case Number(digits):
            return f"<mn>{escaped(digits)}</mn>"
        case Name():
            return _name(node)
        case Text(words):
            return f"<mtext>{escaped(words)}</mtext>" if words else ""
        case Infinity():
            return "<mn>∞</mn>"
        case Dots(kind):
            return f"<mo>{_DOTS[kind]}</mo>"
        case Blank(kind):
            return f'<mspace class="blank" width="{_BLANK[kind]}em" height="0.8em" depth="0.2em"/>'
        case Negative(body):
            return f'<mo form="prefix">−</mo>{inner(body, common.opposite_needs_brackets(body))}'
        case Sum(terms):
            return "".join(_terms(terms, style))
        case Product():
            return _product(node, style)
        case Fraction(above, below) if style == "script":
            upper = inner(above, common.above_slash_needs_brackets(above))
            return f"{upper}<mo>/</mo>{inner(below, common.below_slash_needs_brackets(below))}"
        case Fraction(above, below):
            return f"<mfrac>{_row(inner(above))}{_row(inner(below))}</mfrac>"
        case Power(base, exponent):
            return f"<msup>{_row(inner(base, base_needs_brackets(base)))}{script(exponent)}</msup>"
        case Root(body):
            return f"<msqrt>{inner(body)}</msqrt>"
        case Transposed(body, sign):
            raised = '<mi mathvariant="normal">T</mi>' if sign == "T" else f"<mo>{sign}</mo>"
            return f"<msup>{_row(inner(body, base_needs_brackets(body)))}{raised}</msup>"
        case Call(function, arguments, separator):
            return f"{_name(function)}<mo>&#x2061;</mo>{_fenced(_list(map(inner, arguments), separator), '(')}"
        case Bracketed(body, bracket):
            return _fenced(inner(body), bracket)
        case ListOf(items, bracket, separator):
            return _fenced(_list(map(inner, items), separator), bracket)
        case MatrixOf():
            return _matrix(node)
        case Shape(rows, columns, "tuple", separator):
            return _fenced(_list(map(inner, (rows, columns)), separator), "(")
        case Shape(rows, columns):
            return f"{inner(rows)}<mo>×</mo>{inner(columns)}"
        case Annotated(body, note, "under"):
            return f"<munder>{_row(inner(body))}{script(note)}</munder>"
        case Annotated(body, note, "index"):
            return f"<msub>{_row(inner(body, index_needs_brackets(body)))}{script(note)}</msub>"
        case Annotated(body, note, _):
            return f'{inner(body)}<mspace width="1em"/>{inner(note)}'
        case Marked(body, sign, _):
            gap = '<mspace width="0.17em"/>' if (source := inner(body)) else ""
            return f'{source}{gap}<mtext class="sign">{escaped(sign)}</mtext>'
        case BigSum(index, lower, upper, body):
            start = _math(index, "script") + (f"<mo>=</mo>{_math(lower, 'script')}" if lower != NOTHING else "")
            bounds = f"<mo>∑</mo>{_row(start)}{script(upper)}"
            return f"<munderover>{bounds}</munderover>{inner(body, common.summand_needs_brackets(body))}"
        case Relation(parts, signs):
            first, *others = map(inner, parts)
            return first + "".join(f"<mo>{escaped(s)}</mo>{part}" for s, part in zip(signs, others, strict=True))
        case Row(items):
            return '<mspace width="2em"/>'.join(map(inner, items))
        case _:
            assert_never(node)


def _row(source: str) -> str:
    return f"<mrow>{source}</mrow>"


def _fenced(source: str, bracket: Bracket) -> str:
    if not bracket:
        return source
    return _row(f'<mo form="prefix">{_OPEN[bracket]}</mo>{source}<mo form="postfix">{_CLOSE[bracket]}</mo>')


def _letters(base: str) -> str:
    """One letter as a variable, anything else upright."""
    upright = "" if len(base) != 1 or base.isalpha() else ' mathvariant="normal"'
    return f"<mi{upright}>{escaped(base)}</mi>"


def _name(name: Name) -> str:
    base = _letters(name.base)
    if name.hat:
        base = f'<mover accent="true">{base}<mo>^</mo></mover>'
    comma = "<mo>,</mo>" if common.index_comma(name.sub) else ""
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
            return base


def _list(items: Iterable[str], separator: str) -> str:
    gap = f'<mo separator="true">{separator}</mo>' if separator else '<mspace width="0.6em"/>'
    return gap.join(items)


def _terms(terms: Sequence[Formula], style: Style) -> Iterator[str]:
    last = len(terms) - 1
    for i, term in enumerate(terms):
        negative = i > 0 and isinstance(term, Negative)
        body = term.body if negative and isinstance(term, Negative) else term
        brackets = common.opposite_needs_brackets(body) if negative else common.term_needs_brackets(body, i == last)
        source = _math(body, style)
        sign = f"<mo>{'−' if negative else '+'}</mo>" if i else ""
        yield sign + (_fenced(source, "(") if brackets else source)


def _product(node: Product, style: Style) -> str:
    needs_brackets = common.slashed_factor_needs_brackets if style == "script" else factor_needs_brackets
    factors = [
        _fenced(_math(factor, style), "(") if needs_brackets(factor, i == 0, node.sign) else _math(factor, style)
        for i, factor in enumerate(node.factors)
    ]
    signs = [
        f"<mo>{sign}</mo>"
        if sign
        else ('<mspace width="0.17em"/>' if common.run_together(*node.factors[i : i + 2]) else "<mo>&#x2062;</mo>")
        for i, sign in enumerate(common.factor_signs(node))
    ]
    return "".join(part for pair in zip(["", *signs], factors, strict=True) for part in pair)


def _matrix(node: MatrixOf) -> str:
    labelled = node.row_labels or node.column_labels
    rows = []
    if node.column_labels:
        corner = "<mtd></mtd>" if node.row_labels else ""
        heads = "".join(f'<mtd class="above">{_math(label, "normal")}</mtd>' for label in node.column_labels)
        rows.append(f"<mtr>{corner}{heads}</mtr>")
    for i, row in enumerate(node.rows):
        label = f'<mtd class="before">{_math(node.row_labels[i], "normal")}</mtd>' if node.row_labels else ""
        rows.append(f"<mtr>{label}{''.join(_cell(node, i, j) for j in range(len(row)))}</mtr>")
    tall = any(common.has_tall_fraction(cell) for row in node.rows for cell in row)
    large = ' displaystyle="true"' if tall else ""
    table = f'<mtable class="matrix"{large}>{"".join(rows)}</mtable>'
    return table if labelled else _fenced(table, node.bracket)


def _cell(node: MatrixOf, i: int, j: int) -> str:
    source, last = _math(node.rows[i][j], "normal"), j == len(node.rows[i]) - 1
    if node.nested:
        bracket = node.bracket or "["
        source = (_still(_OPEN[bracket]) if j == 0 else "") + source + (_still(_CLOSE[bracket]) if last else "")
    sign = node.separator if not last else (node.row_end if i < len(node.rows) - 1 else "")
    excluded = ' class="excluded"' if (i, j) in node.excluded else ""
    return f"<mtd{excluded}>{source}{_still(sign) if sign else ''}</mtd>"


def _still(sign: str) -> str:
    """A sign that does not grow."""
    return f'<mo stretchy="false">{sign}</mo>'


# --- documents ----------------------------------------------------------------------------------------


def write(document: Document) -> str:
    """The whole document."""
    document = settled(document)
    return filled(
        "document.html.j2",
        language=escaped(document.look.language),
        title=escaped(document.title) or "Untitled",
        subtitle=escaped(document.subtitle),
        fields=[escaped(name) for name in document.fields],
        sheet=escaped(document.sheet),
        recipe=escaped(document.recipe),
        text_size=document.look.text_size,
        body=_blocks(common.with_sound_levels(document.blocks), Page(document.look)),
    )


def _blocks(blocks: Iterable[Block], page: Page) -> str:
    return "\n".join(_block(block, page) for block in blocks)


def _block(block: Block, page: Page) -> str:
    match block:
        case Heading(content, level, marks):
            name = f"h{min(6, level + 1)}"
            return f"<{name}>{_text(content)}{_marks(marks)}</{name}>"
        case Paragraph(content, marks):
            return f"<p>{_text(content)}{_marks(marks)}</p>"
        case Display(lines, lead):
            words = f"<p>{_text(lead)}</p>\n" if lead else ""
            return words + _formulas([[line] for line in common.folded(lines, limit=page.line)])
        case Entries(equations, columns):
            columns = common.columns_that_fit(equations, columns, page.line)
            lines = tuple(common.folded(equations, limit=page.line)) if columns == 1 else equations
            return _formulas([lines[i : i + columns] for i in range(0, len(lines), columns)])
        case AnswerGrid():
            return _grid(block, page)
        case WorkingSpace(ruled=ruled):
            name, height = "ruled" if ruled else "working", common.space_height(block, page)
            return f'<div class="{name}" style="height: {height}mm"></div>'
        case FillIns(items):
            return f'<p class="fill-ins">{" ".join(_fill_in(item, page) for item in items)}</p>'
        case Choices():
            return _choices(block)
        case HeatMap():
            return _heat_map(block)
        case ItemList(items, ordered):
            name = "ol" if ordered else "ul"
            listed = "\n".join(f"<li>{_text(item)}</li>" for item in items)
            return f"<{name}>\n{listed}\n</{name}>" if items else ""
        case Table():
            return _table(block)
        case Box(title, blocks):
            head = f"<p><strong>{escaped(title)}</strong></p>"
            return f'<section class="box">\n{head}\n{_blocks(blocks, page)}\n</section>'
        case Together(blocks):
            return f'<div class="together">\n{_blocks(blocks, page)}\n</div>'
        case Falk() | Columns() | Solved():
            return _blocks(common.one_after_another(block), page)
        case Diagram(description=description):
            drawing = escape("\n".join(map(common.visible, text.figure(block).split("\n"))))
            return f'<figure><pre aria-hidden="true">{drawing}</pre>{_caption(description)}</figure>'
        case PageBreak():
            return '<hr class="page-break"/>'
        case _:
            assert_never(block)


def _marks(marks: str) -> str:
    return f' <span class="marks">{escaped(marks)}</span>' if marks else ""


def _caption(description: str) -> str:
    return f"<figcaption>{escaped(description)}</figcaption>" if description else ""


def _formulas(lines: Sequence[Sequence[Formula]]) -> str:
    """Lines of formulas, aligned at the first relation sign of each."""
    every = [formula for line in lines for formula in line]
    if len(every) == 1:
        return f'<math display="block"{_spoken(*every)}>{_math(every[0], "normal")}</math>'
    rows = "".join(f"<mtr>{''.join(map(_aligned, line))}</mtr>" for line in lines)
    table = f'<mtable class="aligned" displaystyle="true">{rows}</mtable>'
    return f'<math display="block"{_spoken(*every)}>{table}</math>'


def _aligned(line: Formula) -> str:
    before, after = common.before_sign(line)
    first = _math(before, "normal") if before is not None else ""
    indent = '<mspace width="2em"/>' if before is None and common.goes_on_with_a_sum(line) else ""
    return f"<mtd>{first}</mtd><mtd>{indent}{_math(after, 'normal')}</mtd>"


def _grid(grid: AnswerGrid, page: Page) -> str:
    """Boxes to write in, as a table whose rows and columns are numbered or labelled."""
    wide, high = common.box_size(grid, page)
    filled_in = dict(grid.filled)
    heads = [_cell_of(label) for label in grid.column_labels] or [str(j + 1) for j in range(grid.columns)]
    labels = [_cell_of(label) for label in grid.row_labels] or [str(i + 1) for i in range(grid.rows)]
    box = f'<td style="width: {wide}mm; height: {high}mm">'
    rows = [
        f'<tr><th scope="row">{label}</th>'
        + "".join(f"{box}{_cell_of(filled_in.get((i, j), NOTHING))}</td>" for j in range(grid.columns))
        + "</tr>"
        for i, label in enumerate(labels)
    ]
    head = "".join(f'<th scope="col">{label}</th>' for label in heads)
    name = f"<caption>{_cell_of(Relation((grid.name, NOTHING), ('=',)))}</caption>" if grid.name != NOTHING else ""
    return _as_table("grid", name, f"<td></td>{head}", rows)


def _as_table(name: str, caption: str, head: str, rows: Sequence[str]) -> str:
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table class="{name}">{caption}\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _cell_of(formula: Formula) -> str:
    return _inline(Math(formula))


def _fill_in(item: FillIn, page: Page) -> str:
    """A label and a place to write."""
    if common.has_character_boxes(item):
        value = common.characters(item.value)
        boxes = (f"<span>{escaped(c)}</span>" for c in (*value, *[""] * (item.boxes - len(value))))
        place = f'<span class="characters">{"".join(boxes)}</span>'
    else:
        width = common.line_width(item, page)
        place = f'<span class="line" style="min-width: {width}mm">{escaped(item.value)}</span>'
    return f'<span class="fill-in">{_text(item.label)} {place} {_text(item.after)}</span>'


def _choices(choices: Choices) -> str:
    def option(i: int, item: Inlines) -> str:
        sign, says = ("☒", "ticked") if i in choices.ticked else ("☐", "not ticked")
        box = f'<span role="img" aria-label="{says}">{sign}</span>'
        return f"<li>{box} <strong>{common.letter(i)}</strong> {_text(item)}</li>"

    listed = "\n".join(option(i, item) for i, item in enumerate(choices.items))
    return f'<ul class="choices">\n{listed}\n</ul>' if choices.items else ""


def _heat_map(picture: HeatMap) -> str:
    """Cells told apart by tone and pattern; their level is written for those who listen."""

    def cell(i: int, j: int, level: int) -> str:
        word = f"<span>{escaped(common.word_in(picture, i, j))}</span>" if common.word_in(picture, i, j) else ""
        return f'<td class="level-{level}" aria-label="{escaped(common.word_in(picture, i, j)) or level}">{word}</td>'

    labels = [f'<th scope="row">{_cell_of(label)}</th>' for label in picture.row_labels] or [""] * len(picture.levels)
    rows = [
        f"<tr>{label}{''.join(cell(i, j, level) for j, level in enumerate(row))}</tr>"
        for i, (label, row) in enumerate(zip(labels, picture.levels, strict=True))
    ]
    head = "".join(f'<th scope="col">{_cell_of(label)}</th>' for label in picture.column_labels)
    corner = "<td></td>" if head and picture.row_labels else ""
    return f"<figure>{_as_table('heat-map', '', corner + head, rows)}{_caption(picture.description)}</figure>"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in table.header)
    rows = []
    for row in table.rows:
        first, *others = map(_text, row)
        cells = [f'<th scope="row">{first}</th>' if table.row_heads else f"<td>{first}</td>"]
        cells += [f"<td>{cell}</td>" for cell in others]
        writing = ' class="writing"' if common.is_for_writing(row, table) else ""
        rows.append(f"<tr{writing}>{''.join(cells)}</tr>")
    return _as_table("table", "", head, rows)
