"""The catalogue: one sheet for each mechanism and each problem type, on a covering table of all other choices.

A row says its notation, level, language, layout and format, so that each value of each comes at least once, and most
pairs do.  How to use it, in any test:

    from catalogue_sheets import Row, document, every_row, only, page, sheet, written

    @every_row                                       # or @only(kind="mechanism"), @only(form="html"), …
    def test_a_law(row: Row) -> None:
        sheet(row)                                   # the `Sheet`, drawn once for all workers
        document(row, "key")                         # its document in the row's layout, in English
        page(row, "key")                             # the same in the row's language, as writers take it
        written(row, "key")                          # the page in the row's format, as text; `form=` takes another
        pdf(row, "key")
        leaves(page(row), MatrixOf)                  # everything of a kind in it

Sheets are drawn and pages written once: they stay in a folder of the system's temporary files that is named by the
digest of the package, where all workers and later runs find them.  Nothing is kept in the repository.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import uuid4

import pytest
from exams import freeze_sheets
from finished_languages import FINISHED
from trials import LONG

from symattn.api import make_recipe
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import mechanisms
from symattn.page.document import Document, Sentence, Solutions
from symattn.page.notation import notations
from symattn.page.presentation import make_look, presented
from symattn.page.writers import FORMATS
from symattn.teaching.explanation import LAYOUTS, Layout
from symattn.teaching.problems import drawn_types
from symattn.teaching.recipe import Recipe
from symattn.teaching.rendering import render
from symattn.teaching.sheets import Sheet, sheets, thaw_sheets

LEVELS = ("starter", "standard", "long")
ROOT = Path(__file__).parents[1]
DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Row:
    """A mechanism or a problem type, with a value of each of the other choices."""

    kind: str
    name: str
    notation: str
    level: str
    language: str
    layout: Layout
    form: str

    def __str__(self) -> str:
        return "-".join((self.name, self.notation, self.level, self.language, self.layout, self.form))

    @property
    def recipe(self) -> Recipe:
        mechanism, problem = (self.name, "full") if self.kind == "mechanism" else ("", self.name)
        return make_recipe(mechanism, problem=problem, seed=7, notation=self.notation, level=self.level)


def _rows() -> tuple[Row, ...]:
    subjects = [*(("mechanism", name) for name in mechanisms()), *(("type", name) for name in drawn_types())]
    notation, language, form = sorted(notations()), FINISHED, sorted(FORMATS)
    return tuple(
        Row(kind, name, notation[k % len(notation)], LEVELS[k // len(notation) % len(LEVELS)],
            language[k % len(language)], LAYOUTS[k % len(LAYOUTS)], form[k % len(form)])
        for k, (kind, name) in enumerate(subjects)
    )  # fmt: skip


ROWS = _rows()
BY_NAME = {row.name: row for row in ROWS}


def only(**values: str) -> pytest.MarkDecorator:
    """Cases of a test: the rows that have these values."""
    return the(*(row for row in ROWS if all(getattr(row, choice) == value for choice, value in values.items())))


def the(*rows: Row) -> pytest.MarkDecorator:
    """Cases of a test: these rows; those of very many steps are left to the whole suite."""
    cases = [pytest.param(row, marks=pytest.mark.slow if row.name in LONG else ()) for row in rows]
    return pytest.mark.parametrize("row", cases, ids=str)


every_row = only()


# ------------------------------------------------------------------------------------------------ made once


@cache
def folder() -> Path:
    """Where everything made of this package is kept; what other versions left is removed after a day."""
    found = hashlib.sha256(sys.version.encode())
    for path in sorted(path for part in ("symattn", "templates") for path in (ROOT / part).rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            found.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    found.update(Path(__file__).read_bytes())
    here = Path(tempfile.gettempdir(), "symattn-catalogue", found.hexdigest()[:20])
    if not here.exists():
        with suppress(OSError):
            here.mkdir(parents=True)
        for old in here.parent.glob("*"):
            if time.time() - old.stat().st_mtime > DAY:
                rmtree(old, ignore_errors=True)
    return here


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """What was kept under a name, else made and kept: whole or not at all, whoever else makes it at the same time."""
    path = folder() / name
    with suppress(OSError):
        return path.read_bytes()
    content, beside = make(), path.with_suffix(f".{uuid4().hex}")
    with suppress(OSError):
        beside.write_bytes(content)
        beside.replace(path)
    return content


def draw(row: Row) -> Sheet:
    return next(sheets(row.recipe, 1))


@cache
def sheet(row: Row) -> Sheet:
    """Its question comes out of the frozen form, as that of every sheet which is marked does."""
    text = kept(f"{row.kind}-{row.name}.json", lambda: freeze_sheets([draw(row)]).encode()).decode()
    [(name, question)] = thaw_sheets(text, "catalogue").items()
    return Sheet(question, name, row.recipe.command(), 1)


def sheet_of(name: str) -> Sheet:
    return sheet(BY_NAME[name])


def derivation(row: Row) -> Derivation:
    return sheet(row).problem.derivation


@cache
def document(row: Row, solutions: Solutions = "blank") -> Document:
    """A document of the sheet in the row's layout, in English."""
    return sheet(row).document(solutions, layout=row.layout)


@cache
def page(row: Row, solutions: Solutions = "blank") -> Document:
    """The same in the row's language, as writers take it."""
    return presented(replace(document(row, solutions), look=make_look(language=row.language)))


def written(row: Row, solutions: Solutions = "blank", form: str = "") -> str:
    """The page in the row's format, or in another."""
    form = form or row.form
    name = f"{row.kind}-{row.name}-{solutions}.{form}"
    return kept(name, lambda: FORMATS[form].write(page(row, solutions)).encode()).decode()


def pdf(row: Row, solutions: Solutions = "blank") -> bytes:
    """The page in PDF, for which Typst takes a program."""
    name = f"{row.kind}-{row.name}-{solutions}.pdf"
    return kept(name, lambda: render(page(row, solutions), "pdf")[1])


# ------------------------------------------------------------------------------------------------ looked at


def leaves(node: object, kind: type) -> Iterator[Any]:
    """Everything of a kind in a document, in reading order."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, tuple):
        inside: Iterable[object] = node
    elif isinstance(node, Sentence):
        inside = [node.english]
    elif is_dataclass(node):
        inside = (getattr(node, field.name) for field in fields(node))
    else:
        inside = ()
    for one in inside:
        yield from leaves(one, kind)
