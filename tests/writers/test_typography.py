"""What a typographer would look at: columns of numbers, sizes of letters, feet of pages."""

import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import pypdf
import pytest
from writer_samples import words

from symattn.formula.nodes import (
    Fraction,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Row,
    Sum,
)
from symattn.formula.width import wrapped
from symattn.page.document import (
    Code,
    Display,
    Document,
    Heading,
    Look,
    Math,
    Paragraph,
    Table,
    Words,
    WorkingSpace,
)
from symattn.page.writers import typst
from symattn.teaching.explanation.wording import LINE
from symattn.teaching.rendering import render

DIGIT = 0.5  # em: how wide digits are in Computer Modern and its descendants
DECIMALS = ("0.5 1 -12", "-10.25 0.333 0", "3 2.5 7")


WORD = "#sym.wj#"  # within which a line does not end


def typed(digits):
    return Negative(Number(digits[1:])) if digits.startswith("-") else Number(digits)


def matrix(rows):
    return MatrixOf(tuple(tuple(map(typed, row.split())) for row in rows))


def page(*blocks):
    return Document("T", blocks)


def glyphs(document, form="pdf"):
    """What stands on each page, run by run as the PDF has it."""
    found = []
    for one in pypdf.PdfReader(BytesIO(render(document, form)[1])).pages:
        here = []

        def seen(text, cm, tm, _, size, here=here):
            if text.strip():
                x = cm[4] + tm[4] * cm[0]
                here.append((text.strip(), x, cm[5] + tm[5] * cm[3], size * abs(tm[3] * cm[3])))

        one.extract_text(visitor_text=seen)
        found.append(here)
    return found


def numbers(here):
    """Numbers whose digits stand close to one another: digits, left and right edge, height."""
    lines = defaultdict(list)
    for text, x, y, size in here:
        if set(text) <= set("0123456789.−"):
            lines[round(y)].append((x, text, size))
    for y, line in lines.items():
        digits, left, right = "", 0.0, 0.0
        for x, text, size in sorted(line):
            if digits and x > right + 0.2 * size:
                yield digits, left, right, y
                digits = ""
            left = left if digits else x
            digits += text
            right = x + size * sum(0.278 if c == "." else 0.778 if c == "−" else DIGIT for c in text)
        yield digits, left, right, y


def test_decimals_are_below_one_another_and_columns_equally_wide():
    [here] = glyphs(page(Display((Relation((Name("A"), matrix(DECIMALS)), ("=",)),))))
    rows = defaultdict(list)
    for digits, left, right, y in numbers([g for g in here if g[3] > 11]):
        rows[y].append((digits, left, right))
    found = [sorted(row, key=lambda cell: cell[1]) for _, row in sorted(rows.items(), reverse=True)]
    assert [" ".join(cell[0] for cell in row) for row in found] == [row.replace("-", "−") for row in DECIMALS]
    em, middles = 11 * 1.04, []
    for column in zip(*found, strict=True):
        points = [right - em * (DIGIT * len(d.partition(".")[2]) + 0.278 * ("." in d)) for d, _, right in column]
        assert max(points) - min(points) < 0.15, column
        middles.append((min(left for _, left, _ in column) + max(right for _, _, right in column)) / 2)
    first, *others = (after - before for before, after in pairwise(middles))
    assert others == pytest.approx([first] * len(others), abs=0.2)


def test_columns_of_latex_are_aligned_and_equally_wide():
    source = render(page(Display((matrix(DECIMALS),))), "latex")[1].decode().rpartition("\\begin{document}")[2]
    lines = source.partition("{bmatrix}[*{3}{N{")[2].partition("\\end{bmatrix}")[0].split("\n")
    rows = [line.strip().removesuffix("\\\\").split("&") for line in lines if "&" in line]
    assert len(rows) == len(DECIMALS)
    for column in zip(*rows, strict=True):  # with what is not shown all numbers have the same places
        whole = [re.sub(r"\\phantom\{(.*)\}", r"\1", cell).strip() for cell in column]
        assert len({number.partition(".")[2] and len(number.partition(".")[2]) for number in whole}) == 1


def test_columns_in_html_are_padded_to_the_same_width():
    source = render(page(Display((matrix(DECIMALS),))), "html")[1].decode()
    table = ET.fromstring(source[source.index('<mtable class="matrix"') :].partition("</mtable>")[0] + "</mtable>")
    widths = [[width(cell) for cell in row] for row in table]
    assert [max(column) for column in zip(*widths, strict=True)] == pytest.approx([max(widths[0])] * 3, abs=0.01)
    for column in zip(*table, strict=True):
        assert len({round(width(cell, until_point=True), 2) for cell in column[1:]}) == 1  # the first one makes room


def width(cell, until_point=False):
    total = 0.0
    for node in cell.iter():
        match node.tag, node.text or "":
            case "mspace", _:
                total += float(node.get("width", "0em").removesuffix("em"))
            case "mo", _:
                total += 0.778
            case "mn", digits if until_point:
                return total + DIGIT * len(digits.partition(".")[0])
            case "mn", digits:
                total += sum(0.278 if c == "." else DIGIT for c in digits)
    return total


def e(power):
    return Power(Name("e"), power)


SMALL = (
    Relation((Name("s", (Number("1"), Name("i", (Number("2"),)))), e(Fraction(Number("3"), Number("4")))), ("=",)),
    Relation((Fraction(e(Name("s", (Number("12"),))), Sum((e(Number("2")), e(Negative(Number("1")))))), Number("1")),
             ("≈",)),
    MatrixOf(((Fraction(Number("1"), e(Number("2"))), Fraction(Number("1"), Fraction(Number("2"), Number("3")))),)),
    Relation((Name("Q"), Product((matrix(["1 0 0 -1 -1"] * 3), matrix(["1 -1 1 -1"] * 5)))), ("=",)),
)  # fmt: skip


def everything(size):
    """Indices of indices, fractions in lines of text, a wide table and a wide product, feet."""
    wide = tuple((Math(matrix(["0.123 0.456 0.789"] * 2)),) for _ in range(3))
    return Document(
        "Title",
        (
            Heading((Words("Weights "), Math(SMALL[0])), 1, "[3]"),
            Paragraph(tuple(Math(formula) for formula in SMALL[:3])),
            Display(SMALL),
            WorkingSpace(30),
            Table(tuple(words(f"then {i}") for i in range(3)), (wide, wide)),
        ),
        sheet="ABCD-EFGH",
        recipe="symattn worksheet self_attention --seed 7",
        look=Look(text_size=size),
    )


SIZES = [(11, 8.0), (18, 13.0), (24, 18.0)]
"""Of text, and of the smallest signs on a page, in points."""


@pytest.mark.parametrize(("size", "least"), SIZES)
def test_nothing_is_too_small(size, least):
    check_sizes(everything(size), "pdf", least)


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
@pytest.mark.parametrize(("size", "least"), SIZES[::2])
def test_nothing_is_too_small_in_tex(size, least):
    """TeX's points are smaller than those of a PDF; pieces of brackets come from a font of one size."""
    check_sizes(everything(size), "latex-pdf", least * 72 / 72.27)


def check_sizes(document, form, least):
    found = [glyph for here in glyphs(document, form) for glyph in here if glyph[0].isascii() or form == "pdf"]
    assert min(found, key=lambda glyph: glyph[3])[3] > least - 0.06
    assert any("symattn worksheet" in text for text, *_ in found)


RECIPE = "symattn worksheet causal_self_attention --decimal --places 3 --softmax e --seed 7 -n 12"


def test_the_foot_of_a_page_does_not_break():
    document = replace(page(Display((SMALL[0],))), sheet="ABCD-EFGH", recipe=RECIPE)
    [here] = glyphs(document)
    line = next(y for text, _, y, _ in here if "--seed" in text)
    assert "".join(text for text, _, y, _ in here if y == pytest.approx(line)).replace(" ", "") == RECIPE.replace(
        " ", ""
    )
    number = next(y for text, _, y, _ in here if "page" in text)
    assert next(y for text, _, y, _ in here if text == "ABCD-EFGH") == pytest.approx(number)


def test_the_last_row_of_givens_begins_where_the_others_do():
    """Seven matrices, three in a line: the last has a line to itself."""
    equations = [Relation((Name(name), matrix(["1 0 0 -1 -1 0"] * 3)), ("=",)) for name in "ABCDEFG"]
    lines = wrapped(equations, LINE)
    assert lines[-1] == Row((equations[-1],))
    [here] = glyphs(page(Display(lines)))
    begins = {}
    for text, x, y, size in here:
        if size > 11 and text in "𝐴𝐵𝐶𝐷𝐸𝐹𝐺":
            begins[round(y)] = min(x, begins.get(round(y), x))
    assert len(begins) > 1
    assert len({round(x, 1) for x in begins.values()}) == 1


def test_marks_stand_where_a_heading_begins_and_its_formula_is_whole_below():
    letters = [Name(letter) for letter in "abcdefgh"]
    rule = Relation((Name("Z"), Sum(tuple(letters))), ("=",))
    heading = Heading((Words("The sum of the rescaled powers of all blocks "), Math(rule)), 1, "[2]")
    [here] = glyphs(page(heading, Paragraph(words("Below."))))
    lines = {text: y for text, _, y, _ in here}
    first = next(y for text, y in lines.items() if text.startswith("The"))
    assert lines["[2]"] == pytest.approx(first)
    formula = {round(y, 1) for text, y in lines.items() if set(text) & set("𝑍𝑎𝑏𝑐𝑑𝑒𝑓𝑔ℎ")}
    assert len(formula) == 1
    assert formula.pop() < first - 12.5


def test_a_formula_and_the_text_next_to_it_are_one_word():
    def joints(before, after):
        return typst.write(page(Paragraph((Math(Name("n")), Words(before), Math(Name("d")), Words(after))))).count(WORD)

    assert joints("×", "-dimensional") == 2  # a line may end behind a hyphen
    assert joints("th ", ".") == 1
    assert joints(" and ", " are") == 0
    assert joints("行", "列") == 0  # a line of Chinese ends anywhere


def test_apostrophes_are_printed_as_tex_prints_them():
    source = typst.write(page(Paragraph((*words("l'entrée, S' and "), Code("l'x")))))
    assert '"l\N{RIGHT SINGLE QUOTATION MARK}entrée, S\' and "' in source
    assert '"l\'x"' in source


def test_no_line_begins_with_a_symbol():
    content = (Words("with base "), Math(Name("e")), Words(" or "), Math(Relation((Name("e"), Number("3")), (">",))))
    source = typst.write(page(Paragraph(content)))
    assert '"with base\N{NO-BREAK SPACE}"' in source
    assert '" or "' in source
