"""Keys take no more pages than they need, and lose nothing by it: results, marks, and what notebooks have besides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as Ratio
from functools import cache
from itertools import chain

import pytest
from pdf_marks import pages, words_on
from writer_samples import equal, indexed, n, over, plus, sheet

from symattn.api import make_recipe
from symattn.derivation.mechanisms import mechanisms
from symattn.formula.nodes import (
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Negative,
    Number,
    Product,
    Relation,
    Row,
    Sum,
    Text,
    contains,
)
from symattn.formula.width import fold, width
from symattn.page.document import (
    Block,
    Display,
    Document,
    Entries,
    Heading,
    Paragraph,
    Program,
    Words,
    all_blocks,
    settled,
)
from symattn.page.writers import FORMATS, typst
from symattn.page.writers.compiling import COMPILER
from symattn.page.writers.pdf import write_pdf
from symattn.teaching.explanation.layouts import formulas_among
from symattn.teaching.sheets import Sheet, sheets

MECHANISMS = [name for name in mechanisms() if name != "custom"]


@cache
def made(mechanism: str) -> Sheet:
    return next(iter(sheets(make_recipe(mechanism, seed=11), 1)))


def words_of(data: bytes) -> Counter[str]:
    """What stands on all pages but for their heads and feet."""
    whole = " ".join(map(words_on, pages(data)))
    return Counter(re.sub(r"page \d+ of \d+|A sheet", "", whole).split())


# --- what stands beside something else is not lost, and stands once ---------------------------------------


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mark_of_a_key_stands_on_its_pages(mechanism: str) -> None:
    key = settled(made(mechanism).document("key"))
    wanted = Counter(block.marks for block in all_blocks(key.blocks) if isinstance(block, Paragraph) and block.marks)
    source = typst.write(key)
    assert {marks: source.count(f'"{marks}"') for marks in wanted} == wanted


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_results_that_move_behind_their_factors_stand_there_once(mechanism: str) -> None:
    """Every matrix that the parts' keys hold is in the document, as often as there."""
    held = Counter(chain.from_iterable(_matrices(part.key) for part in made(mechanism).question.parts))
    shown = Counter(_matrices(settled(made(mechanism).document("worked")).blocks))
    given = Counter(_matrices(made(mechanism).question.given))
    assert shown == held + given


def _matrices(blocks: tuple[Block, ...]) -> Iterator[Formula]:
    """The matrices of numbers in the equations."""
    for formula in formulas_among(blocks):
        if isinstance(formula, Relation):
            factors = (part.factors if isinstance(part, Product) else (part,) for part in formula.parts)
            found = (part for part in chain.from_iterable(factors) if isinstance(part, MatrixOf))
            yield from (matrix for matrix in found if not contains(matrix, Name))


def test_equal_marks_that_have_no_room_are_written_too() -> None:
    wide, narrow = Display((equal("A", n("x" * 40), n("y" * 36)),)), Display((equal("B", 1),))
    marks = Paragraph((Words("Marks"),), "M1 A1")
    source = typst.write(sheet(narrow, marks, wide, marks))
    assert source.count('"M1 A1"') == 2
    assert source.count("#marked") == 1


# --- equations in columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4, 5, 8, 9, 12])
@pytest.mark.parametrize("digits", [3, 12, 17, 40])
def test_equations_take_the_fewest_lines_and_of_these_the_fewest_columns(count: int, digits: int) -> None:
    equations = tuple(equal(indexed("q", 1, k % 9), Number("1" * digits)) for k in range(count))
    source = typst.write(sheet(Entries(equations, 6)))
    body = source[source.rindex("#formulas(") :]
    lines = [line.count("tightequal") for line in body.split("\\\n")]
    # A line is 174 mm long, 9 of them are the usual indent: 8.6 pt a digit, 11 pt with them and the signs around.
    most = max(k for k in range(1, 7) if k == 1 or k * 0.98 * width(equations[0]) + (k - 1) * 1.4 <= 43.3 / 1.04)
    fewest = -(-count // min(most, count))
    assert len(lines) == fewest
    assert max(lines) == next(k for k in range(1, count + 1) if -(-count // k) == fewest)


def test_a_result_stands_beside_equations_where_that_is_lower() -> None:
    short, result = tuple(equal(indexed("h", k), k) for k in (1, 2)), Display((equal("H", MatrixOf(((n(1), n(2)),))),))
    assert typst.write(sheet(Entries(short, 6), result)).count("#beside[") == 1
    long = tuple(equal(indexed("h", k), Number("1" * 70)) for k in (1, 2))
    assert typst.write(sheet(Entries(long, 6), result)).count("#beside[") == 0


# --- long fractions -----------------------------------------------------------------------------------------


def value(formula: Formula) -> Ratio:
    match formula:
        case Name() | Text():
            return Ratio(0)
        case Relation(parts) | Row(parts):
            return sum(map(value, parts), Ratio(0))
        case Number(digits):
            return Ratio(digits)
        case Negative(body):
            return -value(body)
        case Fraction(above, below):
            return value(above) / value(below)
        case Sum(terms):
            return sum(map(value, terms), Ratio(0))
    raise AssertionError(formula)


@pytest.mark.parametrize("count", range(2, 9))
@pytest.mark.parametrize("limit", [12, 20, 40])
def test_a_fraction_that_is_too_wide_becomes_a_sum_of_fractions_with_its_value(count: int, limit: int) -> None:
    terms = tuple(Negative(Number(str(3**k))) if k % 3 == 1 else Number(str(7**k)) for k in range(6, 6 + count))
    whole = over(plus(*terms), 4)
    lines = fold(Relation((Name("v"), whole), ("=",)), limit)
    assert all(width(line) <= limit for line in lines)
    assert sum(map(value, lines)) == value(whole)


# --- the last page ------------------------------------------------------------------------------------------


def _of_headings(count: int) -> Document:
    """Headings and equations, as keys have them."""
    line = Display((equal("x", 1),))
    blocks = [block for k in range(count) for block in (Heading((Words(f"Step {k}"),), 1), line)]
    return replace(sheet(*blocks), solutions="key")


def test_a_last_page_with_little_on_it_is_pulled_in() -> None:
    one_page = next(k for k in range(60, 5, -1) if len(pages(plain(_of_headings(k)))) == 1)
    document = _of_headings(one_page + 1)
    pulled = write_pdf(document)
    assert len(pages(pulled)) == 1 < len(pages(plain(document)))
    assert words_of(pulled) == words_of(plain(document))
    assert write_pdf(document) == pulled
    long = _of_headings(2 * one_page - 2)  # nothing is won where the last page is full
    assert write_pdf(long) == plain(long)


def plain(document: Document) -> bytes:
    return COMPILER.compile(typst.write(document).encode())


def test_a_pdf_whose_pages_cannot_be_told_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILER, "compile", lambda source, system_fonts: b"%PDF-1.7")
    assert write_pdf(sheet()) == b"%PDF-1.7"


# --- programs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["typst", "html", "latex", "text", "markdown"])
def test_programs_part_nothing(form: str) -> None:
    marks, line = Paragraph((Words("Marks"),), "M1 A1"), Display((equal("x", 1),))
    without, program = (Heading((Words("Step"),), 1), line, marks), Program("x = 1")
    among = tuple(chain.from_iterable((block, program) for block in without))
    assert FORMATS[form].write(sheet(*among)) == FORMATS[form].write(sheet(*without))
