r"""Matrices written in LaTeX: `Q = XW = \frac12\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`.

One pass over the text, in which only what separates equations, rows and cells means anything; no macro is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from symattn.marking.submissions.matrices import Rows, TextMatrix, factor_outside, read_matrix

MATRICES = frozenset({"array", *(f"{kind}matrix" for kind in ("", *"pbBvV", "small", "psmall", "bsmall"))})

_TOKEN = re.compile(
    r"\\begin\s*\{(?P<begin>[A-Za-z]{1,20})\*?\}(?:\[[^\]\n]{0,80}\])?"
    r"|\\end\s*\{(?P<end>[A-Za-z]{1,20})\*?\}"
    r"|(?P<row>\\\\(?:\[[^\]\n]{0,20}\])?|\\cr(?![A-Za-z])|\\tabularnewline(?![A-Za-z]))"
    r"|(?P<approx>≈|≅|\\(?:approx|simeq|cong|doteq)(?![A-Za-z]))"
    r"|(?P<equals>&?\s?=)"
    r"|(?P<end_of_equation>\$\$?|\\[\[\]()]|\n[ \t]*\n)"
    r"|(?P<gap>\\q?quad(?![A-Za-z])|[,;](?![^\s]))"
    r"|(?P<cell>(?<!\\)&)"
    r"|(?P<space>\\[,;:! ]|~)"
    r"|(?P<other>\\[A-Za-z]+|\\.|[^\\&=$\n,;≈≅]+|.)",
    re.DOTALL,
)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_COLUMNS = re.compile(r"\s*\{[^{}]{0,80}\}")


_RUN = re.compile(r"[ \t]{3,}")


@dataclass(slots=True)
class _Side:
    """What stands between two relation signs: words, matrices, words."""

    approximate: bool = False
    words: list[str] = field(default_factory=list)
    matrices: list[Rows] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        (self.behind if self.matrices else self.words).append(text)

    @property
    def before(self) -> str:
        return "".join(self.words).strip(" &\n\t")

    @property
    def text(self) -> str:
        """All of it on one line, rows of matrices with semicolons between them."""
        matrices = "".join(f" {'; '.join(' '.join(row) for row in rows)} " for rows in self.matrices)
        return " ".join(f"{self.before}{matrices}{''.join(self.behind)}".split())

    def next_name(self) -> str:
        """What stands on a line of its own below a matrix: the name in another equation; taken off, "" if nothing."""
        behind, newline, name = "".join(self.behind).rpartition("\n")
        if not newline or not name.strip() or _CLOSING.sub("", behind):
            return ""
        self.behind = [behind]
        return name

    def value(self) -> tuple[Rows, str] | None:
        """Its matrix and the common factor, if it is nothing else: neither a product nor a transpose."""
        if len(self.matrices) != 1:
            return None
        behind = _CLOSING.sub("", "".join(self.behind))
        if behind and not behind.startswith("/"):
            return None
        return self.matrices[0], factor_outside(_OPENING.sub("", self.before), behind)


_SIZED = r"\\(?:left|right|[bB]igg?[lrm]?)"
_OPENING = re.compile(rf"(?:{_SIZED}\s?)?(?:[(\[|.]|\\[{{|]|\\lbrack)$")
_CLOSING = re.compile(rf"^(?:\s|{_SIZED}|[)\]|.]|\\[}}|]|\\rbrack|,|;|\\[,;:! ]|~)*")


def latex_matrices(text: str, *, comments: bool = False) -> Iterator[tuple[int, TextMatrix]]:
    r"""Every matrix that an equation says something equals, with the number of its line.

    Of a chain of equations the last side counts that is a matrix, a decimal approximation (behind ≈) only if there is
    no other; the name is the first side, or what stands before a colon right before the formula.  With `comments`,
    what stands behind % is left out.

    >>> [m for _, m in latex_matrices(r"S = QK^T = \tfrac12\begin{pmatrix} 1 & -1 \\ 0 & \frac12 \end{pmatrix}")]
    [TextMatrix(rows=(('1', '-1'), ('0', '\\frac12')), name='S', factor='\\tfrac12')]
    """
    for line, said in latex_formulas(text, comments=comments):
        if isinstance(said, TextMatrix):
            yield line, said


@dataclass(frozen=True, slots=True)
class UnreadFormula:
    """An equation with numbers on a side of it that are no matrix as it stands: its first side, and all of it."""

    name: str
    text: str


def latex_formulas(text: str, *, comments: bool = False) -> Iterator[tuple[int, TextMatrix | UnreadFormula]]:
    r"""The same matrices, and between them the equations with numbers of which no matrix could be made.

    >>> [said for _, said in latex_formulas(r"\[ Z = \boxed{\begin{bmatrix} 1 \\ 2 \end{bmatrix}} \]")]
    [UnreadFormula(name='Z', text='Z = \\boxed{ 1; 2 }')]
    """
    name = label = ""
    unread: tuple[int, UnreadFormula] | None = None
    for line, sides, goes_on in _equations(_RUN.sub("  ", _COMMENT.sub("", text) if comments else text)):
        first = sides[0].before.strip()
        continues = not first and len(sides) > 1  # it begins with an equals sign
        name = name if continues else first
        matrix = _value(name, sides)
        if unread and not (continues and matrix):
            yield unread
        unread = None
        if matrix:
            yield line, matrix if matrix.name else replace(matrix, name=label)
        elif any(map(_has_numbers, sides[len(sides) > 1 :])):
            unread = line, UnreadFormula(name, " = ".join(side.text for side in sides))
        label = first.rstrip("*_ ").removesuffix(":") if _LABEL.search(first) else ""
        name = name if goes_on else ""
    if unread:
        yield unread


def _has_numbers(side: _Side) -> bool:
    """Whether a side has a matrix in it, or numbers and no letters: what a macro of somebody's own is given."""
    plain = _MACRO.sub(" ", side.before)
    numbers = _DIGIT.search(plain) is not None and _LETTER.search(plain) is None and "\\" in side.before
    return bool(side.matrices) or numbers


_MACRO = re.compile(r"\\[A-Za-z]+")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")


_LABEL = re.compile(r":[*_]*\s*$")


def _equations(text: str) -> Iterator[tuple[int, list[_Side], bool]]:
    """The sides of every equation, the number of its line, and whether the next one may continue it."""
    line = start = 1
    at, sides, empty = 0, [_Side()], True
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        kind, source = token.lastgroup, token.group()
        start = line if empty else start
        empty = empty and source.isspace()
        if kind == "begin" and token["begin"] in MATRICES:
            rows, at = _rows(text, at, token["begin"])
            sides[-1].matrices.append(rows)
            source = text[token.start() : at]
        elif kind in ("equals", "approx"):
            if name := sides[-1].next_name():
                yield start, sides, False
                sides, start = [_Side(words=[name])], line
            sides.append(_Side(kind == "approx"))
        elif kind in ("begin", "end", "row", "end_of_equation") or (kind == "gap" and sides[-1].matrices):
            yield start, sides, kind == "row"
            sides, empty = [_Side()], True
        elif kind != "cell":
            sides[-1].add(" " if kind == "space" else source)
        line += source.count("\n")
    yield start, sides, False


def _rows(text: str, at: int, environment: str) -> tuple[Rows, int]:
    """The cells up to the end of the environment, and where that is; environments inside stay in their cell."""
    if environment == "array" and (columns := _COLUMNS.match(text, at)):
        at = columns.end()
    rows: list[list[list[str]]] = [[[]]]
    depth = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        kind, source = token.lastgroup, token.group()
        if kind == "end" and depth == 0:
            break
        depth += (kind == "begin") - (kind == "end")
        if depth == 0 and kind == "row":
            rows.append([[]])
        elif depth == 0 and source.startswith("&"):
            rows[-1].append([source[1:]])
        else:
            rows[-1][-1].append(source)
    cells = (tuple(_cell("".join(cell)) for cell in row) for row in rows)
    return tuple(row for row in cells if row != ("",)), at


_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|displaystyle|textstyle|q?quad)(?![A-Za-z])|\\[,;:!]"
    r"|(?<=\d)\\phantom\{(?:[^{}]|\{,\}){0,80}\}"  # places that a number lacks beside those in its column
)


def _cell(text: str) -> str:
    return _RULE.sub(" ", text).strip()


def _value(name: str, sides: list[_Side]) -> TextMatrix | None:
    """The matrix that an equation ends in, if there is one; brackets in plain text count as well."""
    name = name if len(sides) > 1 else ""
    plain = [(side.approximate, found) for side in sides if (found := side.value())]
    if plain:
        rows, factor = next((found for approximate, found in reversed(plain) if not approximate), plain[-1][1])
        return TextMatrix(rows, name, factor) if rows else None
    if len(sides) == 1 or any(side.matrices for side in sides):
        return None
    last = next((side for side in reversed(sides) if not side.approximate), sides[-1]).before
    matrix = read_matrix(last) if last.startswith(("[", "(")) and last.endswith(("]", ")")) else None
    return replace(matrix, name=name) if matrix and max(map(len, matrix.rows)) > 1 else None
