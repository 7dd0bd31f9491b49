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
from symattn.marking.submissions.answers import Cells, RawText, Several
from symattn.marking.submissions.code import Code, read_code, taken_apart
from symattn.marking.submissions.data import json_data
from symattn.marking.submissions.entries import AUTO
from symattn.marking.submissions.markdown import FilledSheet, Place, read_page
from symattn.marking.submissions.webpage import as_markdown
from symattn.marking.submissions.written import Paper
from symattn.teaching.explanation.program import Variables, identifier, variables
from symattn.teaching.question import MatrixAnswer, PropertyAnswer, Question

MOST_CELLS = 2_000
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_LETTERS = re.compile(r"[^\W\d_]")
_SHORT = {"out": "output"}
"""Variables that are called by a part of a word, which is another word in a sentence."""
_COMMENT_ABOVE = re.compile(r"#[ \t]*([^\n]{1,60})\n[^\n#]+\s*\Z")
_ROUND_A_NAME = " :={},"
"""What stands round a name in front of its value, in a dictionary too."""
_IN_QUOTES = re.compile(r"""(['"])(.*)\1""")
_ROW_OF_NUMBERS = re.compile(r"(?m)^[^\n]*\d[\s,;|&]+[-+−]?[\d.]+[^\n]*$")
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

    What stands in the tables comes first; what the code says counts for parts whose tables were left empty.  Decimals
    in code, which have points, are given in the `decimal_mark` in which they will be read.
    """
    book = notebook(text)
    md.readable("\n".join(cell.source for cell in book.cells if cell.kind == "markdown"))
    _check_length(cell.source for cell in book.cells if cell.kind == "code")
    code = _Program(book, FilledSheet(book.page, questions), "," if decimal_mark == "," else ".")
    code.read()
    _check_length(code.outputs.values())
    paper = read_page(FilledSheet(book.page_with(code.outputs), questions))
    for question, (written, more) in enumerate(zip(paper.written, code.paper.written, strict=True)):
        for part, number in code.not_shown(question):
            if part not in written.parts and part not in more.parts:
                says = message(
                    "It is computed in cell {cell}, but the result is not in the file. Run the cell and save it.",
                    cell=number,
                )
                more.remark(part, says)
        written.doubts = {**more.doubts, **written.doubts}
        written.parts = {**more.parts, **written.parts}
        written.more = {**more.more, **written.more}
        written.remarks += more.remarks
        written.unread |= more.unread
    paper.remarks += code.paper.remarks
    return paper


def _check_length(texts: Iterable[str]) -> None:
    """`InputError` if there is far more of code, or of what it shows, than of answers, in however many lines."""
    md.readable(" ".join(texts).replace("\n", " "))


Target = tuple[int, str, str]
"""A question, a part or a step of it, and the matrix that is meant where the part has several."""


@dataclass
class _Program:
    """The cells of code from the first to the last, with what each says about the answers."""

    book: Notebook
    sheet: FilledSheet
    mark: str
    paper: Paper = field(init=False)
    known: list[Variables] = field(init=False)
    open: dict[Target, int] = field(default_factory=dict)
    """What was computed in a cell and has not been shown since."""
    outputs: dict[int, str] = field(default_factory=dict)
    """By the number of its cell, what is shown and no variable says what it is: text like any other."""
    _typed: set[str] = field(default_factory=set)
    """The variables whose values are written out in the code."""

    def __post_init__(self) -> None:
        self.paper = Paper.of(self.sheet.asked)
        self.known = [variables(question) for question in self.sheet.asked]

    def read(self) -> None:
        if not self.is_python and any(cell.kind == "code" and cell.source.strip() for cell in self.book.cells):
            says = message(
                "Its code is in {language}, but only Python is read. Answers in tables and boxes count, and what is "
                "shown below the code.",
                language=repr(self.book.language[:40]),
            )
            self.paper.remarks.append(Remark("", says))
        for block, place in zip(self.sheet.blocks, self.sheet.places, strict=True):
            if block.kind != "program":
                continue
            number = self.sheet.page.cells[block.start]
            code = read_code(block.text) if self.is_python else None
            if code is None and self.is_python:
                says = message("It cannot be read as Python, so nothing in it counts.")
                self.paper.not_read(message("cell {cell}", cell=number), says)
            code = code or Code(shown=tuple(map("".join, _NAME_AT_END.findall(block.text))))
            self.cell(code, number, place)
            self.shown(code, number, place)

    @property
    def is_python(self) -> bool:
        return self.book.language.lower() in ("python", "ipython", "python3")

    def not_shown(self, question: int) -> Iterator[tuple[str, int]]:
        """Parts of a question that were computed, each with its cell, and whose results are not there."""
        for (number, name, _), cell in self.open.items():
            if number == question and name in self.known[question].parts:
                yield name, cell

    def cell(self, code: Code, number: int, place: Place) -> None:
        """What is written out in the code of a cell, and what is computed in it; what belongs nowhere is told."""
        for variable, raw in code.names.items():
            (self._typed.discard if raw is None else self._typed.add)(variable)
            target = self.target(variable, place)
            if target is not None:
                self.put(target, raw, number)
            elif isinstance(raw, Cells) and variable not in self.given:
                for q in range(len(self.known)) if place[0] is None else (place[0],):
                    self.paper.written[q].not_read(message("cell {cell}", cell=number), f"{variable} = …", "")

    def shown(self, code: Code, number: int, place: Place) -> None:
        """What a cell shows: matrices by the names of their variables, the rest as a text."""
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
            target = self.target(variable, place) if variable.isidentifier() else None
            if variable in self.given or (variable in self._typed and target is not None):
                continue
            if target is not None:
                self.put(target, matrix, number)
            else:
                name = f"{variable} = " if unnamed and variable else ""
                rows = ", ".join(f"[{', '.join(row)}]" for row in self.in_mark(matrix).rows)
                text += f"{before}{name}[{rows}]\n"
        if len(code.shown) == 1 and unnamed and not code.shown[0]:
            text = f"{self.above(number, place)}{text}"
        if len(code.shown) == 1 and not matrices and _ROW_OF_NUMBERS.search(words):
            text = f"{code.shown[0]} =\n{text}" if code.shown[0] else text
        if matrices or _ROW_OF_NUMBERS.search(text):
            self.outputs[number] = plain_signs(text).strip("\n")

    def above(self, number: int, place: Place) -> str:
        """The comment above the last line of a cell, where that is the name of what the line comes to."""
        comment = _COMMENT_ABOVE.search(self.book.cells[number - 1].source)
        names = self.paper.written[place[0] or 0].names
        return f"{comment[1]}:\n" if comment and names.sign(comment[1]) else ""

    @cached_property
    def given(self) -> frozenset[str]:
        """What programs call the matrices that are given."""
        asked = self.sheet.asked
        own = (part.answer.derivation for question in asked for part in question.parts
               if isinstance(part.answer, MatrixAnswer))  # fmt: skip
        derivations = (*(question.problem.derivation for question in asked if question.problem), *filter(None, own))
        return frozenset(identifier(name) for derivation in derivations for name in derivation.givens)

    def put(self, target: Target, raw: Cells | RawText | None, number: int) -> None:
        """What a variable stands for from a cell on; nothing is known of it where it is computed."""
        self.open.pop(target, None)
        if raw is None:
            self.open[target] = number
            return
        question, name, matrix = target
        raw = self.in_mark(raw) if isinstance(raw, Cells) else raw
        where = message("cell {cell}", cell=number)
        self.paper.written[question].put(name, Several({matrix: raw}) if matrix else raw, where)

    def in_mark(self, cells: Cells) -> Cells:
        """Decimals of a program, which have points, with the mark in which they will be read."""
        if self.mark == ".":
            return cells
        return Cells(tuple(tuple(_POINT.sub(self.mark, x) for x in row) for row in cells.rows), cells.factor)

    def target(self, variable: str, place: Place) -> Target | None:
        """What a variable stands for at a place: the part there, else the only one called so, else a step."""
        question, position = place
        numbers = range(len(self.known)) if question is None else (question,)
        found = [(q, *names) for q in numbers for names in self.named(variable, q, position)]
        return found[0] if len(found) == 1 else None

    def named(self, variable: str, question: int, position: int | None) -> Iterator[tuple[str, str]]:
        """The answers of a question that a variable may stand for.

        A part with a derivation of its own has givens of its own: what is called so there is nothing else.
        """
        parts, known = self.sheet.asked[question].parts, self.known[question]
        here = parts[position] if position is not None else None
        if here and isinstance(here.answer, PropertyAnswer):
            yield from ((here.name, name) for name in here.answer.model if identifier(name) == variable)
        elif here and isinstance(here.answer, MatrixAnswer):
            yield from ((name, "") for name in (here.name,) if known.parts.get(name) == variable)
        elif named := [part.name for part in parts if known.parts.get(part.name) == variable]:
            yield from ((name, "") for name in ([here.name] if here and here.name in named else named))
        elif name := known.steps.get(variable) or self.paper.written[question].names.sign(
            _SHORT.get(variable, variable)
        ):
            yield name, ""


def _name_in(before: str) -> str:
    """What stands in front of a value, if it is a name: 'S' in quotes is called S, and S' is not."""
    name = before.rstrip().rpartition("\n")[2].strip(_ROUND_A_NAME)
    return quoted_name[2] if (quoted_name := _IN_QUOTES.fullmatch(name)) else name
