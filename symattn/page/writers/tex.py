"""Formulas as TeX: the common ground of the LaTeX and the Markdown writer.

What the two do differently is a `Dialect`.  A matrix takes one line of source for each of its rows, and no line of
source begins with a sign that Markdown would take for its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, assert_never

from symattn.formula.nodes import (
    GREEK,
    INVISIBLE,
    NOTHING,
    THIN,
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
    children,
    explicit,
    is_tall,
    pieces,
    unsigned,
)
from symattn.formula.width import matrix_columns
from symattn.page.writers import measure

Style = Literal["normal", "tall", "script"]  # fractions as \frac, as \dfrac, with a slash


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """What differs between TeX in a LaTeX file and TeX in Markdown."""

    escaped: Callable[[str], str]  # text for \text{…}
    transpose: str
    functions: tuple[str, ...]  # names that have a command of their own
    blank: dict[CellKind, str]
    excluded: str  # a command for a cell that is shaded
    high_row: str  # the end of a row of high cells
    guarded: bool = False  # whether a line of source must not begin with a minus
    columns: bool = False  # whether \begin{bmatrix} takes columns in brackets, as that of symattn.sty does
    most_columns: int = 1000  # of \begin{bmatrix}; a matrix that has more is an array in brackets
    flat: bool = False  # whether a matrix is written on one line: [1 0; 0 1]
    commands: bool = False  # whether weights with a label are written by a command of their own
    plain: tuple[Command, ...] = ()  # commands that mean something else in the document


Command = tuple[str, str]
r"""For a name, with what it stands for: \WQ for W^Q."""


COMMANDS = {letter: f"\\{name}" for name, letter in GREEK.items()}
"""For Greek letters."""

_OPERATORS = {"∂": "\\partial", "∇": "\\nabla"}
"""Names that are signs."""

_SIGN = {"=": "=", "≈": "\\approx", "→": "\\to", ":=": ":=", "≠": "\\neq", "<": "<", ">": ">", "≤": "\\leq",
         "≥": "\\geq", "∈": "\\in", "⇒": "\\Rightarrow", "·": "\\cdot", "≡": "\\equiv"}  # fmt: skip
_SIGNS = {
    "": "",
    "/": "/",
    "+": " + ",
    "−": " - ",
    "·": " \\cdot ",
    "×": " \\times ",
    "⊙": " \\odot ",
    THIN: " \\, ",
    INVISIBLE: " ",
}
_DOTS = {"horizontal": "\\dots", "vertical": "\\vdots", "diagonal": "\\ddots", "cell": "\\cdot"}
_OPEN: dict[Bracket, str] = {"[": "[", "(": "(", "⟨": "\\langle ", "|": "\\lvert ", "": ""}
_CLOSE: dict[Bracket, str] = {"[": "]", "(": ")", "⟨": " \\rangle", "|": " \\rvert", "": ""}
_MATRIX: dict[Bracket, str] = {"[": "bmatrix", "(": "pmatrix", "|": "vmatrix", "⟨": "matrix", "": "matrix"}


def write(node: Formula, tex: Dialect, style: Style = "normal", notation: dict[str, str] | None = None) -> str:
    """A formula as TeX for math mode; the commands that it uses go into the `notation`, each with one meaning."""
    if notation is not None and tex.commands and (commands := _commands(node, tex)):
        plain = tuple(used for used in commands if notation.setdefault(*used) != used[1])
        tex = replace(tex, plain=plain) if plain else tex
    return _source(node, tex, style)


@lru_cache(maxsize=2**14)  # most parts of a sheet stand on others as well
def _source(node: Formula, tex: Dialect, style: Style = "normal") -> str:
    def inner(child: Formula) -> str:
        return _source(child, tex, style)

    def script(child: Formula) -> str:
        return _source(child, tex, "script")

    slashed = style == "script"
    match explicit(node):
        case Number(digits):
            return _digits(digits, tex)
        case Name() as name:
            return _name(name, tex)
        case Relation(parts, signs):
            first, *others = map(inner, parts)
            rest = (f"{_SIGN[sign]} {part}" for sign, part in zip(signs, others, strict=True))
            return " ".join((first, *rest)) if first else " ".join(("{}", *rest))
        case Power(base, exponent):
            return f"{_base(inner(base), base)}^{{{script(exponent)}}}"
        case MatrixOf() as matrix:
            return _matrix(matrix, tex)
        case Text(words):
            return f"\\text{{{tex.escaped(words)}}}" if words else ""
        case Infinity():
            return "\\infty"
        case Dots(kind):
            return _DOTS[kind]
        case Blank(kind):
            return tex.blank[kind]
        case Negative(body):
            return "-" + inner(body)
        case Fraction(above, below) if not slashed:
            # What stands in the parts of a fraction is small already, so no \dfrac there.
            upper, lower = _source(above, tex), _source(below, tex)
            command = "\\dfrac" if style == "tall" else "\\frac"
            return f"{command}{{{upper}}}{{{lower}}}"
        case Sum() | Product() | Fraction() as chain:
            return "".join(_SIGNS[sign] + inner(part) for sign, part in pieces(chain, slashed))
        case Root(body):
            return f"\\sqrt{{{inner(body)}}}"
        case Transposed(body, sign):
            raised = {"⊤": tex.transpose, "T": "\\mathsf{T}", "′": "\\prime"}[sign]
            return f"{_base(inner(body), body)}^{{{raised}}}"
        case Call(function, arguments, separator):
            opened = f"{separator} ".join(map(inner, arguments))
            tall = not slashed and any(map(is_tall, arguments))
            return _function(function, tex) + (f"\\!\\left({opened}\\right)" if tall else f"({opened})")
        case Bracketed(body, bracket):
            return _delimited(inner(body), bracket, not slashed and is_tall(body))
        case ListOf(items, bracket, separator):
            listed = f"{separator} ".join(map(inner, items)) if separator else _apart(map(inner, items))
            return _delimited(listed, bracket, not slashed and any(map(is_tall, items)))
        case Shape(rows, columns):
            return f"{inner(rows)} \\times {inner(columns)}"
        case Annotated(body, note, "under"):
            return f"\\underset{{{script(note)}}}{{{inner(body)}}}"
        case Annotated(body, note, "index"):
            return f"{inner(body)}_{{{script(note)}}}"
        case Annotated(body, note, _):
            return f"{inner(body)} \\quad {inner(note)}"
        case Marked(body, sign, _):
            return f"{inner(body)} \\, {{\\scriptstyle\\text{{{tex.escaped(sign)}}}}}".lstrip()
        case BigSum(index, lower, upper, body):
            start = script(index) + (f"={script(lower)}" if lower != NOTHING else "")
            bounds = (f"_{{{start}}}" if start else "") + (f"^{{{script(upper)}}}" if upper != NOTHING else "")
            return f"\\sum{bounds} {inner(body)}"
        case Row(items):
            return " \\qquad ".join(map(inner, items))
        case unknown:
            assert_never(unknown)


def aligned(line: Formula, tex: Dialect, notation: dict[str, str] | None = None) -> str:
    """A line of several, with the mark & before its first relation sign."""
    if isinstance(line, Relation) and line.signs:
        first, *others = line.parts
        rest = [
            f"{_SIGN[sign]} {write(part, tex, 'normal', notation)}"
            for sign, part in zip(line.signs, others, strict=True)
        ]
        return f"{write(first, tex, 'normal', notation)} &{' '.join(rest)}".strip()
    source = write(line, tex, "normal", notation)
    return f"& \\quad {source.lstrip()}" if measure.goes_on_with_a_sum(line) else f"& {source}"


def indented(source: str) -> str:
    """Source with two spaces for every environment or group that is open at the start of a line."""
    lines, depth = list[str](), 0
    for line in filter(None, map(str.strip, source.split("\n"))):
        closing = line.startswith("\\end{")
        lines.append("  " * (depth - closing) + line)
        depth += line.count("\\begin{") - line.count("\\end{")
    return "\n".join(lines)


# --- parts of formulas --------------------------------------------------------------------------------


def _digits(digits: str, tex: Dialect) -> str:
    if all(character in "0123456789." for character in digits):
        return digits
    if all(character in "0123456789.," for character in digits):
        return digits.replace(",", "{,}")
    return f"\\text{{{tex.escaped(digits)}}}"


def _letters(base: str, tex: Dialect) -> str:
    """One letter as a variable, more as an upright word."""
    if sign := COMMANDS.get(base) or _OPERATORS.get(base):
        return sign
    if base.isascii() and base.isalpha():
        return base if len(base) == 1 else f"\\mathrm{{{base}}}"
    return f"\\text{{{tex.escaped(base)}}}"


def _name(name: Name, tex: Dialect) -> str:
    if tex.commands and (weights := _weights(name)):
        command, named, index = weights
        if (command, _decorated(named, tex)) not in tex.plain:
            return command + _scripts(Name("", index), tex)
    return _decorated(name, tex)


@lru_cache(maxsize=2**13)
def _commands(node: Formula, tex: Dialect) -> tuple[Command, ...]:
    """The commands that a formula uses, in reading order."""
    inside: Iterable[Formula] = children(node)
    own: tuple[Command, ...] = ()
    if isinstance(node, Name) and (weights := _weights(node)):
        command, named, inside = weights
        own = ((command, _decorated(named, tex)),)
    return tuple(dict.fromkeys((*own, *(used for child in inside for used in _commands(child, tex)))))


def _decorated(name: Name, tex: Dialect) -> str:
    base = _letters(name.base, tex)
    if name.hat:
        # \\hat s rather than \\hat{s}: an index after a brace could be taken for emphasis in Markdown.
        base = f"\\hat {base}" if len(name.base) == 1 else f"\\widehat{{{base}}}"
    return base + _scripts(name, tex)


def _weights(name: Name) -> tuple[str, Name, tuple[Formula, ...]] | None:
    """Weights with a label have a command, \\WQ for W^Q and W_Q: the command, what it stands for, further indices."""
    match name:
        case Name("W", index, str(label), 0, False) if label.isascii() and label.isalpha():
            return f"\\W{label}", Name("W", sup=label), index
        case Name("W", (Name(str(label), (), "", 0, False),), "", 0, False) if label.isascii() and label.isalpha():
            return f"\\W{label}", name, ()
        case _:
            return None


def _function(name: Name, tex: Dialect) -> str:
    if len(name.base) == 1 or name.hat:
        return _name(name, tex)
    if name.base in tex.functions:
        return f"\\{name.base}" + _scripts(name, tex)
    plain = name.base.isascii() and name.base.isalpha()
    letters = name.base if plain else f"\\text{{{tex.escaped(name.base)}}}"
    return f"\\operatorname{{{letters}}}" + _scripts(name, tex)


def _scripts(name: Name, tex: Dialect) -> str:
    index = measure.index_comma(name.sub).join(_source(item, tex, "script") for item in name.sub)
    label = _letters(name.sup, tex) if name.sup else ""
    return (f"_{{{index}}}" if index else "") + "'" * name.primes + (f"^{{{label}}}" if label else "")


def _base(source: str, base: Formula) -> str:
    """What an exponent is put to: in braces where it has a script of that kind, or lets nothing be put to it."""
    match base:
        case Name(primes=primes) | Bracketed(Name(primes=primes)) if primes:
            return f"{{{source}}}"
        case Annotated() | Call() | Shape():
            return f"{{{source}}}"
        case _:
            return source


def _apart(items: Iterable[str], gap: str = " \\;\\; ") -> str:
    """Items with gaps alone between them: in braces a minus after a gap is a sign, else it would be a difference."""
    return gap.join(f"{{{item}}}" if k and item.startswith("-") else item for k, item in enumerate(items))


def _delimited(source: str, bracket: Bracket, tall: bool) -> str:
    if bracket == "":
        return source
    if tall:
        return f"\\left{_OPEN[bracket]}{source}\\right{_CLOSE[bracket].strip()}"
    return f"{_OPEN[bracket]}{source}{_CLOSE[bracket]}"


# --- matrices -----------------------------------------------------------------------------------------


def _matrix(node: MatrixOf, tex: Dialect) -> str:
    """The rows of a grid in an environment, in brackets or, with its labels, in rules."""
    if tex.flat:
        return _matrix_on_one_line(node, tex)
    count = max(map(len, node.rows), default=0)
    style: Style = "tall" if any(map(measure.has_tall_fraction, node.entries)) else "normal"
    longest = _longest_places(node) if tex.columns else [""] * count
    rows = [_row(node, i, tex, style, longest) for i in range(len(node.rows))]
    name, columns, bracket = "array", "c" * count, node.bracket
    if node.row_labels or node.column_labels:
        rows, bracket = _labelled(node, rows, tex), ""
        columns = "c|" * bool(node.row_labels) + columns
    elif count <= tex.most_columns:
        name, bracket = _MATRIX[node.bracket], "⟨" if node.bracket == "⟨" else ""
    options = f"{{{columns}}}" if name == "array" else _columns(node) if tex.columns else ""
    end = tex.high_row if any(map(is_tall, node.entries)) else "\\\\"
    body = f" {end}\n".join(rows)
    return _delimited(f"\n\\begin{{{name}}}{options}\n{body}\n\\end{{{name}}}", bracket, tall=True)


def _columns(node: MatrixOf) -> str:
    """How columns of numbers are aligned, N{width} where all are equally wide; nothing where they are centred."""
    columns = matrix_columns(node)
    if columns.even:
        kind = "N" if all(isinstance(unsigned(cell), Number | Infinity) for cell in node.entries) else "E"
        return f"[*{{{len(columns.even)}}}{{{kind}{{{columns.even[0]:.2f}em}}}}]"
    return f"[{''.join('r' if numbers else 'c' for numbers in columns.numbers)}]" if any(columns.numbers) else ""


def _longest_places(node: MatrixOf) -> list[str]:
    """The most decimal places of each column of numbers; none for others."""
    columns = zip(*node.rows, strict=True)
    numbers = (column if all(isinstance(unsigned(x), Number | Infinity) for x in column) else () for column in columns)
    return [max(map(_places, column), key=len, default="") for column in numbers]


def _missing(cell: Formula, longest: str, tex: Dialect) -> str:
    r"""Decimal places that a number lacks beside those in its column: \phantom{.25}."""
    rest = longest[len(_places(cell)) :] if longest and isinstance(unsigned(cell), Number) else ""
    return f"\\phantom{{{_digits(rest, tex)}}}" if rest else ""


def _places(cell: Formula) -> str:
    """The decimal sign and what is behind it."""
    match unsigned(cell):
        case Number(digits) if places := re.search("[.,].*", digits):
            return places[0]
        case _:
            return ""


def _row(node: MatrixOf, i: int, tex: Dialect, style: Style, longest: Sequence[str]) -> str:
    cells = []
    for j, cell in enumerate(node.rows[i]):
        source = _source(cell, tex, style) + _missing(cell, longest[j], tex)
        if (i, j) in node.excluded:
            source = f"{tex.excluded}{{{source}}}"
        elif j == 0 and source.startswith("["):
            source = "{}" + source  # or it would be taken for an argument of the \\ before it
        elif j == 0 and tex.guarded and source.startswith("-"):
            source = f"{{{source}}}"
        cells.append(source)
    row = f"{node.separator} & ".join(cells)
    if node.nested:
        opening, closing = _OPEN[node.bracket or "["], _CLOSE[node.bracket or "["]
        row = f"{{}}{opening}{row}{closing}"
    return row + (node.row_end if i < len(node.rows) - 1 else "")


def _matrix_on_one_line(node: MatrixOf, tex: Dialect) -> str:
    rows = [[_source(cell, tex) for cell in row] for row in node.rows]
    lines = [f"{node.separator}\\; ".join(row) if node.separator else _apart(row, "\\;\\; ") for row in rows]
    if node.nested:
        lines = [_delimited(line, node.bracket or "[", tall=False) for line in lines]
    return _delimited(f"{'' if node.nested else ';'}\\; ".join(lines), node.bracket, tall=False)


def _labelled(node: MatrixOf, rows: list[str], tex: Dialect) -> list[str]:
    """Rows with their labels, and those of columns above the first."""
    if node.row_labels:
        rows = [f"{_source(label, tex)} & {row}" for label, row in zip(node.row_labels, rows, strict=True)]
    if node.column_labels:
        heads = " & ".join(_source(label, tex) for label in node.column_labels)
        rows[0] = f"{'& ' if node.row_labels else ''}{heads} \\\\ \\hline\n{rows[0]}"
    return rows
