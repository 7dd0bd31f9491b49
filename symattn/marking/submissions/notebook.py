"""Filled-in Jupyter notebooks: tables and boxes in their text as in any worksheet, matrices in their code.

A notebook is data here: its code is looked at (`symattn.marking.submissions.code`) and never run, and of its outputs
only a printed matrix is used, as what a name that was computed stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from symattn.errors import InputError
from symattn.foundation.languages import message
from symattn.marking.attempt import Remark
from symattn.marking.submissions import blocks as md
from symattn.marking.submissions.alphabet import plain_signs
from symattn.marking.submissions.answers import shape_of
from symattn.marking.submissions.code import Code, read_code, taken_apart
from symattn.marking.submissions.data import json_data
from symattn.marking.submissions.entries import AUTO
from symattn.marking.submissions.markdown import FilledSheet, Place, read_page
from symattn.marking.submissions.tables import Cells, split
from symattn.marking.submissions.webpage import as_markdown
from symattn.marking.submissions.written import Paper
from symattn.teaching.explanation.program import Variables, identifier, variables
from symattn.teaching.question import MatrixAnswer, PropertyAnswer, Question

MOST_CELLS = 2_000
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_LETTERS = re.compile(r"[^\W\d_]")
_COMMENT_ABOVE = re.compile(r"#[ \t]*([^\n]{1,60})\n[^#]+\Z")
_ROUND_A_NAME = " :={},"
"""What stands round a name in front of its value, in a dictionary too."""
_IN_QUOTES = re.compile(r"""(['"])(.*)\1""")
_ROW_OF_NUMBERS = re.compile(
    r"(?m)^(?:[^\n]*\d\.?[\s,;|&]+[-+−]?[\d.]+[^\n]*|[^\n\[]{0,40}\[[ \t]*[-+−]?\d+\.?\d*[ \t]*\][ \t]*)$"
)
_NUMBER_ALONE = re.compile(r"(?m)^[ \t]*(?:\[\d+,\][ \t]+)?[-+−]?\d+\.?\d*(?:e[-+]?\d+)?[ \t]*$")
"""A row of a matrix with one column."""
_NAME_AT_END = re.compile(
    r"(?:^|\n)[ \t]*(?:(?:print\(|show\()?([A-Za-z]\w*)\)?[ \t]*;?|([A-Za-z]\w*)[ \t]*=(?!=)[^\n;]*)\s*\Z"
)
"""In any language: a variable alone in the last line, or one that is given its value there, as Julia shows it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what was typed into it, and the texts that it printed or showed."""

    kind: Literal["code", "markdown"]
    source: str
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """A notebook taken apart: its cells, the language that its code is in, and what symattn has noted in it."""

    cells: tuple[Cell, ...]
    language: str
    head: dict[str, str]

    @property
    def is_python(self) -> bool:
        return self.language.lower() in ("python", "ipython", "python3")

    @property
    def page(self) -> md.Page:
        """Its cells one below the other, as one page."""
        return self.page_with({})

    def page_with(self, outputs: Mapping[int, str]) -> md.Page:
        """Its cells one below the other, and below some of them what they show, by their numbers."""
        return md.page_of_cells([(cell.kind, cell.source) for cell in self.cells], self.head, outputs)


def notebook(text: str) -> Notebook:
    """A notebook; `InputError` says in one sentence why it is none."""
    data = json_data(text, ".")
    version, cells = str(data.get("nbformat", "")), data.get("cells")
    if version != "4":
        said = f"nbformat {version[:20]}" if version else "no nbformat"
        raise InputError(f"This notebook cannot be read: it has {said}; nbformat 4 was expected.")
    if not isinstance(cells, list):
        raise InputError("This is not a notebook: it has no list of cells.")
    if len(cells) > MOST_CELLS:
        raise InputError(f"It has {len(cells)} cells; at most {MOST_CELLS} are read.")
    about = _table(data.get("metadata"))
    spoken = [_table(about.get(key)).get(name) for key, name in (("kernelspec", "language"), ("language_info", "name"))]
    language = next((name for name in spoken if isinstance(name, str) and name), "python")
    head = {key: value for key, value in _table(about.get("symattn")).items() if isinstance(value, str)}
    return Notebook(tuple(_cell(cell, number) for number, cell in enumerate(cells, 1)), language, head)


def _cell(cell: object, number: int) -> Cell:
    source = _text(cell.get("source")) if isinstance(cell, dict) else None
    if not isinstance(cell, dict) or source is None:
        raise InputError(f"Its cell {number} is broken: a cell with a source in lines of text was expected.")
    outputs = cell.get("outputs")
    shown = tuple(filter(None, map(_output, outputs if isinstance(outputs, list) else ())))
    return Cell("code" if cell.get("cell_type") == "code" else "markdown", source, shown)


def _output(output: object) -> str:
    """What is shown or printed as plain text, "" for pictures, errors and the like."""
    said = _table(output)
    data = _table(said.get("data"))
    page, plain = _text(data.get("text/html")), _text(data.get("text/plain")) or ""
    if plain.startswith("<"):  # what it is called in Python, where a formula is shown
        plain = _text(data.get("text/latex")) or plain
    if words := _IN_QUOTES.fullmatch(plain):
        plain = f"{words[2]}\n"  # display("S", S)
    return plain or _text(said.get("text")) or (as_markdown(page) if page else "")


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    """A text, in one piece or in lines."""
    lines = value if isinstance(value, list) else [value]
    texts = [line for line in lines if isinstance(line, str)]
    return "".join(texts) if len(texts) == len(lines) else None


# ------------------------------------------------------------------------------------ reading


def read_notebook(text: str, questions: Sequence[Question], decimal_mark: str = AUTO) -> Paper:
    """Everything that was written into a worksheet or an exam paper.

    What the code says is read as a text below its cell, and counts for parts whose tables were left empty.  Decimals
    in code, which have points, are given in the `decimal_mark` in which they will be read.
    """
    book = notebook(text)
    md.readable("\n".join(cell.source for cell in book.cells if cell.kind == "markdown"))
    _check_length(cell.source for cell in book.cells if cell.kind == "code")
    session = _Session(book, FilledSheet(book.page, questions), "," if decimal_mark == "," else ".")
    session.read()
    _check_length(session.texts.values())
    paper = read_page(FilledSheet(book.page_with(session.texts), questions))
    for q, written in enumerate(paper.written):
        for (at, name), number in session.computed.items():
            if at != q or name not in written.names.parts:
                continue
            says = message(
                "It is computed in cell {cell}, but the result is not in the file. Run the cell and save it.",
                cell=number,
            )
            if name not in written.parts:
                written.remark(name, says)
            elif 0 < session.displayed.get((at, name), 0) < number:  # what was shown is not what it became
                written.doubt(name, says)
        for at, number, said in session.strange:
            if at in (None, q):
                written.not_read(message("cell {cell}", cell=number), said, "")
    for number in session.broken:
        says = message("It cannot be read as Python, so nothing in it counts.")
        paper.not_read(message("cell {cell}", cell=number), says)
    if not book.is_python and any(cell.kind == "code" and cell.source.strip() for cell in book.cells):
        says = message(
            "Its code is in {language}, but only Python is read. Answers in tables and boxes count, and what is "
            "shown below the code.",
            language=repr(book.language[:40]),
        )
        paper.remarks.append(Remark("", says))
    return paper


def _check_length(texts: Iterable[str]) -> None:
    """`InputError` if there is far more of code, or of what it shows, than of answers, in however many lines."""
    md.readable(" ".join(texts).replace("\n", " "))


@dataclass
class _Session:
    """The cells of code from the first to the last, as the text that they make of a session."""

    book: Notebook
    sheet: FilledSheet
    mark: str
    texts: dict[int, str] = field(default_factory=dict)
    """By the number of its cell, what is written out in it and what it shows."""
    computed: dict[tuple[int | None, str], int] = field(default_factory=dict)
    """By question and part or step, the cell in which it was computed last."""
    displayed: dict[tuple[int | None, str], int] = field(default_factory=dict)
    """By question and part or step, the cell that showed it last."""
    strange: list[tuple[int | None, int, str]] = field(default_factory=list)
    """What is written out and belongs nowhere: the question that it stands under, its cell, what it is called."""
    broken: list[int] = field(default_factory=list)
    """The cells that are no Python."""
    _typed: set[str] = field(default_factory=set)
    """The variables whose values are written out in the code."""
    _shows: dict[str, dict[Cells, str]] = field(default_factory=dict)
    """By variable, what is shown of it, and below which heading."""

    def read(self) -> None:
        cells, heading = list[tuple[Code, int, Place]](), ""
        for block, place in self.sheet.standing:
            heading = block.text if block.kind == "heading" else heading
            if block.kind != "program":
                continue
            number = self.sheet.page.cells[block.start]
            code = read_code(block.text) if self.book.is_python else None
            if code is None and self.book.is_python:
                self.broken.append(number)
            code = code or Code(shown=tuple(map("".join, _NAME_AT_END.findall(block.text))))
            cells.append((code, number, place))
            for variable, matrix in zip(code.shown, self.matrices(number), strict=False):
                self._shows.setdefault(variable, {})[matrix] = heading
        for code, number, place in cells:
            said = (*self.typed(code, number, place), self.shown(code, number, place))
            self.texts[number] = plain_signs("\n".join(said)).strip("\n")

    def typed(self, code: Code, number: int, place: Place) -> Iterator[str]:
        """What is written out in the code of a cell; what is computed in it is noted, what belongs nowhere is told."""
        for variable, raw in code.names.items():
            (self._typed.discard if raw is None else self._typed.add)(variable)
            name = self.called(variable, place)
            if raw is None:
                self.computed[place[0], name] = number
            elif name:
                yield f"{name} = {_listed(raw, self.mark) if isinstance(raw, Cells) else raw.text}"
            elif isinstance(raw, Cells) and variable not in self.given:
                self.strange.append((place[0], number, f"{variable} = …"))

    def matrices(self, number: int) -> list[Cells]:
        """What a cell shows, if it is nothing but matrices."""
        pieces = [piece for output in self.book.cells[number - 1].outputs for piece in taken_apart(output)]
        return [matrix for words, matrix in pieces if matrix and not _LETTERS.search(words)]

    def shown(self, code: Code, number: int, place: Place) -> str:
        """What a cell shows: before a matrix the name of its variable, where no words stand there."""
        pieces = [piece for output in self.book.cells[number - 1].outputs for piece in taken_apart(output)]
        words = "".join(before for before, _ in pieces)
        matrices = sum(matrix is not None for _, matrix in pieces)
        unnamed = not _LETTERS.search(words) and matrices == len(code.shown)
        variables, text = iter(code.shown if unnamed else ()), ""
        for before, matrix in pieces:
            if matrix is None:
                text += before
                continue
            variable = next(variables, "") or _name_in(before)
            name = self.called(variable, place) if variable.isidentifier() else ""
            if variable in self.given or (name and variable in self._typed):
                continue
            if name:
                self.displayed[place[0], name] = number
            if name or (unnamed and variable and not self.names_nothing(variable)):
                above = before.rstrip().rpartition("\n")[0]
                before = f"{above}\n{name or variable} = "
            text += f"{before}{_listed(matrix, self.mark)}\n"
        if unnamed and len(code.shown) == 1 and (above := self.above(number, place)):
            text = above + text if not self.called(code.shown[0], place) else text
        has_rows = "\\begin{" in text or _ROW_OF_NUMBERS.search(text) is not None
        if len(code.shown) == 1 and code.shown[0] and not matrices:
            has_rows = has_rows or bool(self.called(code.shown[0], place) and _NUMBER_ALONE.search(words))
            text = f"{code.shown[0]} =\n{text}" if has_rows else text
        has_number = self.asks_numbers and any(map(str.isdigit, words))
        return text if matrices or has_rows or has_number else ""

    def above(self, number: int, place: Place) -> str:
        """The comment above the last line of a cell, where that is the name of what the line comes to."""
        comment = _COMMENT_ABOVE.search(self.book.cells[number - 1].source)
        return f"{comment[1]}:\n" if comment and self.called(comment[1], place) else ""

    def names_nothing(self, variable: str) -> bool:
        """Whether it shows matrices of several shapes, or several below headings of their own: it is used again and
        again.
        """
        shown = self._shows.get(variable, {})
        return len({matrix.shape for matrix in shown}) > 1 or len({*shown.values()}) > 1

    @cached_property
    def asks_numbers(self) -> bool:
        """Whether something else than a matrix is asked for, which a number beside words may be."""
        return any(shape_of(part) in ((0, 0), (1, 1)) for question in self.sheet.asked for part in question.parts)

    @cached_property
    def given(self) -> frozenset[str]:
        """What programs call the matrices that are given."""
        asked = self.sheet.asked
        own = (part.answer.derivation for question in asked for part in question.parts
               if isinstance(part.answer, MatrixAnswer))  # fmt: skip
        derivations = (*(question.problem.derivation for question in asked if question.problem), *filter(None, own))
        return frozenset(identifier(name) for derivation in derivations for name in derivation.givens)

    @cached_property
    def known(self) -> list[Variables]:
        return [variables(question) for question in self.sheet.asked]

    def called(self, variable: str, place: Place) -> str:
        """The part or the step that a variable stands for at a place, "" if none does.

        A part with a derivation of its own has givens of its own: what is called so there is nothing else.
        """
        question, position = place
        if question is None or self.names_nothing(variable):
            return ""
        parts, known = self.sheet.asked[question].parts, self.known[question]
        here = parts[position] if position is not None else None
        match here.answer if here else None:
            case PropertyAnswer(model=model):
                return next((name for name in model if identifier(name) == variable), "")
            case MatrixAnswer():
                return here.name if here and known.parts.get(here.name) == variable else ""
        named = [part.name for part in parts if known.parts.get(part.name) == variable]
        if named:
            return here.name if here and here.name in named else named[0] * (len(named) == 1)
        return known.steps.get(variable) or self.sheet.names[question].variable(variable)


def _listed(cells: Cells, mark: str) -> str:
    """A list of rows, its decimals, which have points in code, with the mark in which they will be read."""

    def entry(text: str) -> str:
        text = _POINT.sub(mark, " ".join(text.split()))
        gaps = "," if "=" in text or "≈" in text else " ,"  # 1/3 ≈ 0.33 is one entry as it stands
        return f"({text})" if len([*split(text, gaps)]) > 1 else text or "_"

    rows = ", ".join(f"[{', '.join(map(entry, row))}]" for row in cells.rows)
    listed = rows if len(cells.rows) == 1 and "(" not in rows else f"[{rows}]"  # [1, 2] may be a column
    return f"{cells.factor} * {listed}" if cells.factor else listed


def _name_in(before: str) -> str:
    """What stands in front of a value, if it is a name: 'S' in quotes is called S, and S' is not."""
    name = before.rstrip().rpartition("\n")[2].strip(_ROUND_A_NAME)
    return quoted_name[2] if (quoted_name := _IN_QUOTES.fullmatch(name)) else name
