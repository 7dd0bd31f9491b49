"""Right answers in the layouts and formats that people hand in; nothing here knows how any of them is read.

A layout takes the answers of a sheet, worked out with NumPy, and writes a file; `layouts.toml` has those that are one
pattern.  Where some were seen is said; the numbers are always ours.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass
from functools import wraps
from html import escape
from itertools import chain

import numpy as np
from tables import tables_beside


@dataclass(frozen=True)
class Answer:
    """One matrix: its sign on the sheet, its name in words, and its numbers."""

    sign: str
    word: str
    values: np.ndarray

    @property
    def places(self):
        return 0 if np.allclose(self.values[np.isfinite(self.values)] % 1, 0) else 4

    @property
    def texts(self):
        return [[written(x, self.places) for x in row] for row in self.values]

    @property
    def name(self):
        """What a program calls it."""
        return re.sub(r"\W", "", self.sign.replace("'", "p")) or "x"


def written(x, places):
    return "-inf" if np.isneginf(x) else f"{x:.{places}f}"


TABLE = tables_beside(__file__)
PRINTED, VARIABLES, VECTORS, FORMULAS, CODED = TABLE["called"].values()
"""What other people call the steps, in prints, as variables, as vectors, in formulas and in code."""

LAYOUTS = {}


def layout(ending):
    """Registers a layout by its function's name, with the ending of its files."""
    return lambda write: registered(write.__name__.replace("_", " "), ending, write)


def each(ending, between="\n\n"):
    """Registers a layout of one answer below the other, by what is written of an answer, or of one with its number."""

    def register(write):
        @layout(ending)
        @wraps(write)
        def all_of_them(work):
            numbered = write.__code__.co_argcount == 2
            return between.join(write(a, k) if numbered else write(a) for k, a in enumerate(work, 1))

    return register


def registered(name, ending, write):
    LAYOUTS[name] = lambda work: (f"answers.{ending}", write(work))
    return LAYOUTS[name]


# ------------------------------------------------------------------------------------ small pieces


def aligned(rows, gap="  "):
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [gap.join(x.rjust(w) for x, w in zip(row, wide, strict=True)) for row in rows]


def listed(rows):
    inner = ", ".join(f"[{', '.join(row)}]" for row in rows)
    return f"[{inner}]"


def numpy_prints(answer, array=False):
    lines = aligned(answer.texts, ", " if array else " ")
    start, end = ("array([", "])") if array else ("[", "]")
    gap = ("," if array else "") + "\n" + " " * len(start)
    return start + gap.join(f"[{line}]" for line in lines) + end


def torch_prints(answer):
    rows = ",\n        ".join(f"[{', '.join(row)}]" for row in answer.texts)
    return f"tensor([{rows}])"


def pipes(rows):
    return [f"| {' | '.join(row)} |" for row in rows]


def ruled(rows):
    head, *below = pipes(rows)
    return [head, f"|{'---|' * len(rows[0])}", *below]


def below_names(work, lines, name="{sign} ="):
    return "\n\n".join("\n".join((name.format(sign=a.sign, word=a.word), *lines(a))) for a in work) + "\n"


def numbered(texts, corner, columns, rows):
    """With a head for every column and every row."""
    heads = [[corner, *columns[: len(texts[0])]]]
    return heads + [[label, *row] for label, row in zip(rows, texts, strict=False)]


# ------------------------------------------------------------------------------------ layouts by their table


def from_table(about):
    """A layout by what `layouts.toml` says of it."""

    def counted(pattern, count):
        return [pattern.format(j=j + 1, z=j) for j in range(count)]

    def cell(x):
        for old, new in about.get("swap", {}).items():
            x = x.replace(old, new)
        return about["cell"].format(x=x)

    def of(k, a):
        rows = texts = [[cell(x) for x in row] for row in a.texts]
        told = {"sign": a.sign, "word": a.word, "lower": a.word.lower(), "name": a.name, "k": k}
        height, width = len(texts), len(texts[0])
        if "columns" in about:
            rows = [counted(about["columns"], width), *texts]
        if "heads" in about:
            corner, columns, beside = about["heads"]
            rows = numbered(texts, corner.format(**told), counted(columns, width), counted(beside, height))
        if "table" in about:
            lines = {"pipes": pipes, "ruled": ruled}[about["table"]](rows)
        else:
            joined = aligned(rows, about["gap"]) if "aligned" in about else map(about["gap"].join, rows)
            lines = [about["row"].format(i=i, cells=cells, **told) for i, cells in enumerate(joined, 1)]
        return about["each"].format(
            **told, lines=about["rows"].join(lines), list=listed(texts), numpy=numpy_prints(a),
            array=numpy_prints(a, array=True), torch=torch_prints(a), html=html_table(a.texts), tex=tex_rows(a),
            height=height, width=width, columns="c" * width, formula=formula(a), bmatrix=bmatrix(a.texts),
            summed=summed(a.texts), factor=FACTOR, coded=CODED.get(a.sign, a.sign), vectors=called(a, VECTORS),
            printed=called(a, PRINTED | {"Z": "Self-Attention Output"}),
        )  # fmt: skip

    def write(work):
        body = about["before"] + about["join"].join(of(k, a) for k, a in enumerate(work, 1)) + about["after"]
        return document(body, about["document"]) if "document" in about else body

    return write


ONE_TO = [str(k) for k in range(1, 20)]


# ------------------------------------------------------------------------------------ plain text


@layout("txt")
def decimals_over_powers_of_ten(work):
    """4555/10000 for 0.4555."""

    def cell(x):
        whole, point, digits = x.partition(".")
        return f"{int(whole + digits)}/{10 ** len(digits)}" if point else x

    return below_names(work, lambda a: (" ".join(map(cell, row)) for row in a.texts))


def name_beside(ending, between):
    """Registers what is pasted from a spreadsheet, or saved: the name beside the first row."""

    def of(a):
        return "\n".join(between.join([a.sign if i == 0 else "", *row]) for i, row in enumerate(a.texts))

    registered(f"name beside the first row, {ending}", ending, lambda work: "\n".join(map(of, work)))


name_beside("txt", "\t")
name_beside("csv", ",")


def framed(rows, width=10):
    """A frame of + and - round cells."""
    rule = "+" + "+".join("-" * width for _ in rows[0]) + "+"
    return rule, ["|" + "|".join(f" {x:<{width - 1}}" for x in row) + "|" for row in rows]


@layout("txt")
def grid_table(work):
    """Seen in pandoc's grid tables."""

    def lines(a):
        rule, rows = framed(a.texts)
        return [rule, *(line for row in rows for line in (row, rule))]

    return below_names(work, lines, "{sign}:\n")


@layout("txt")
def simple_table(work):
    """Seen in pandoc's simple tables."""

    def lines(a):
        rule = "  ".join("-" * 8 for _ in a.texts[0])
        return [rule, *("  ".join(f"{x:<8}" for x in row) for row in a.texts), rule]

    return below_names(work, lines, "{sign}:\n")


@layout("txt")
def box_of_lines(work):
    """Seen in rich and SQLite draw such boxes."""

    def lines(a):
        count = len(a.texts[0])
        top, middle, end = (left + between.join("─" * 9 for _ in range(count)) + right
                            for left, between, right in ("┌┬┐", "├┼┤", "└┴┘"))  # fmt: skip
        rows = ["│" + "│".join(f" {x:<8}" for x in row) + "│" for row in a.texts]
        return [top, *(line for row in rows[:-1] for line in (row, middle)), rows[-1], end]

    return below_names(work, lines)


@layout("txt")
def box_with_heads(work):
    """Seen in tabulate, in its psql form."""

    def lines(a):
        rule, (head, *below) = framed(numbered(a.texts, "", ONE_TO, ONE_TO))
        return [rule, head, rule, *below, rule]

    return below_names(work, lines)


@each("txt", "\n")
def first_try_and_corrected(a):
    wrong = [[written(-x if np.isfinite(x) else x, a.places) for x in row] for row in a.values + 1]
    return f"{a.sign} (first try, wrong) = {listed(wrong)}\n{a.sign} (corrected) = {listed(a.texts)}"


@layout("txt")
def dashes_of_unicode(work):
    dashes = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"
    done = iter(range(10**6))
    text = "\n".join(f"{a.sign} = {listed(a.texts)}" for a in work)
    return re.sub(r"-(?=\d)", lambda _: dashes[next(done) % len(dashes)], text)


@each("txt", "\n")
def minus_in_words(a):
    return f"{a.sign} = {re.sub(r'-(?=[0-9])', 'minus ', listed(a.texts))}"


@each("txt", "\n")
def powers_of_ten(a):
    def entry(x):
        return f"{x * 100:.{a.places - 2}f} x 10^-2" if a.places and 0 < abs(x) < 1 else written(x, a.places)

    return f"{a.sign} = {listed([list(map(entry, row)) for row in a.values])}"


@each("txt", "\n")
def full_width_digits(a):
    wide = str.maketrans("0123456789.-", "０１２３４５６７８９．－")
    return f"{a.sign} = {listed(a.texts).translate(wide)}"


@layout("txt")
def printed_by_sympy(work):
    def drawn(a):
        lines = aligned(a.texts)
        spaced = [line for row in lines for line in (row, " " * len(row))][:-1]
        left = ["⎡", *["⎢"] * (len(spaced) - 2), "⎣"] if len(spaced) > 1 else ["["]
        right = ["⎤", *["⎥"] * (len(spaced) - 2), "⎦"] if len(spaced) > 1 else ["]"]
        return [one + line + other for one, line, other in zip(left, spaced, right, strict=True)]

    return below_names(work, drawn)


@layout("txt")
def entries_one_by_one(work):
    return (
        "\n".join(
            f"{a.sign}_{i}{j} = {x}" for a in work for i, row in enumerate(a.texts, 1) for j, x in enumerate(row, 1)
        )
        if all("_" not in a.sign for a in work)
        else "\n".join(f"{a.sign} = {listed(a.texts)}" for a in work)
    )


@each("txt", "\n")
def entries_of_programs(a):
    """Every row on a line, its entries by their places from 0."""
    rows = enumerate(a.texts)
    return "\n".join(", ".join(f"{a.sign}[{i}][{j}]={x}" for j, x in enumerate(row)) for i, row in rows)


@each("txt", "\n")
def r_column_by_column(a):
    """As R fills a matrix where nothing else is said."""
    numbers = ", ".join(x for column in zip(*a.texts, strict=True) for x in column)
    return f"{a.sign} <- matrix(c({numbers}), nrow={len(a.texts)})"


@each("txt")
def round_brackets_beside_names(a):
    middle, before = (len(a.texts) - 1) // 2, f"{a.sign} = "
    rows = enumerate(aligned(a.texts))
    return "\n".join(f"{before if i == middle else ' ' * len(before)}( {row} )" for i, row in rows)


@each("txt", "\n")
def printed_by_ruby(a):
    return f"{a.name} = Matrix{listed(a.texts)}"


@each("txt", "\n")
def representation_of_tensorflow(a):
    shape = f"({len(a.texts)}, {len(a.texts[0])})"
    rows = ",\n       ".join(f"[{', '.join(row)}]" for row in a.texts)
    return f"{a.name}: <tf.Tensor: shape={shape}, dtype=float32, numpy=\narray([{rows}], dtype=float32)>"


@each("txt", "\n")
def printed_by_polars(a):
    """Above the numbers the names of the columns, and what kinds of numbers they hold."""
    columns = [f"column_{j}" for j in range(len(a.texts[0]))]
    lines = [f"│ {' ┆ '.join(x.ljust(9) for x in row)} │" for row in (columns, ["f64"] * len(columns), *a.texts)]
    above, between, below = (
        f"{first}{middle.join([line * 11] * len(columns))}{last}"
        for first, line, middle, last in ("┌─┬┐", "╞═╪╡", "└─┴┘")
    )
    shape = f"shape: ({len(a.texts)}, {len(columns)})"
    return "\n".join((a.sign, shape, above, *lines[:2], between, *lines[2:], below))


@each("txt")
def listed_by_stata(a):
    columns = "  ".join(f"{f'c{j}':>9}" for j in range(1, len(a.texts[0]) + 1))
    rows = (f"r{i}  " + "  ".join(f"{x:>9}" for x in row) for i, row in enumerate(a.texts, 1))
    return "\n".join((
        f". matrix list {a.name}", "", f"{a.name}[{len(a.texts)},{len(a.texts[0])}]", f"    {columns}", *rows,
    ))  # fmt: skip


@each("txt")
def every_row_with_its_factor(a):
    """A tenth before the bracket of every other row, a hundredth before those between them."""

    def row(k, values):
        shift = 1 + k % 2
        if not all(map(np.isfinite, values)):
            return " ".join(written(x, a.places) for x in values)
        return f"1/{10**shift} * [{', '.join(written(x * 10**shift, a.places) for x in values)}]"

    return "\n".join((f"{a.sign}:", *(f"row {k} = {row(k, values)}" for k, values in enumerate(a.values, 1))))


@each("txt")
def code_fences_beside_rows(a):
    """As messengers take them: the fences stand on the lines of the first and the last row."""
    return f"*{a.sign}*\n```" + "\n".join(aligned(a.texts)) + "```"


# ------------------------------------------------------------------------------------ Markdown and HTML


@each("md")
def markdown_sums_of_rows(a):
    head, *below = numbered(a.texts, a.sign, ONE_TO, ONE_TO)
    sums = [f"{sum(row):.1f}" for row in a.values] if np.isfinite(a.values).all() else ["" for _ in below]
    return "\n".join(ruled([[*head, "sum"], *([*row, total] for row, total in zip(below, sums, strict=True))]))


@each("md")
def markdown_column_of_remarks(a):
    head, *below = numbered(a.texts, a.sign, ONE_TO, ONE_TO)
    remarked = ([*row, "done" if k else "checked twice"] for k, row in enumerate(below))
    return "\n".join(ruled([[*head, "remark"], *remarked]))


def html_table(rows):
    return "<table>" + "".join(f"<tr>{''.join(f'<td>{x}</td>' for x in row)}</tr>" for row in rows) + "</table>"


@layout("html")
def html_of_pandas(work):
    """Seen in DataFrame.to_html of pandas."""

    def table(a):
        head = "".join(f"<th>{j}</th>" for j in range(len(a.texts[0])))
        body = "".join(f"<tr><th>{i}</th>{''.join(f'<td>{x}</td>' for x in row)}</tr>" for i, row in enumerate(a.texts))
        first = f'<tr style="text-align: right;"><th></th>{head}</tr>'
        return f'<table border="1" class="dataframe"><thead>{first}</thead><tbody>{body}</tbody></table>'

    return "<html><body>" + "".join(f"<p>{a.sign}</p>{table(a)}" for a in work) + "</body></html>"


@layout("html")
def mathml(work):
    """As word processors and computer algebra copy formulas to the web."""

    def table(a):
        rows = (f"<mtr>{''.join(f'<mtd><mn>{x}</mn></mtd>' for x in row)}</mtr>" for row in a.texts)
        inside = f"<mo>[</mo><mtable>{''.join(rows)}</mtable><mo>]</mo>"
        return f"<p><math><mi>{a.sign}</mi><mo>=</mo><mrow>{inside}</mrow></math></p>"

    return f"<html><body>{''.join(map(table, work))}</body></html>"


# ------------------------------------------------------------------------------------ LaTeX


def tex_rows(a, end=r" \\ "):
    return end.join(" & ".join(x.replace("-inf", r"-\infty") for x in row) for row in a.texts)


def document(body, head=""):
    return (
        f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n{head}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )


@layout("tex")
def tex_names_in_bold(work):
    def display(a):
        letter, *rest = re.split(r"(?=['_])", a.sign, maxsplit=1)
        return rf"\[ \mathbf{{{letter}}}{''.join(rest)} = \begin{{bmatrix}}{tex_rows(a)}\end{{bmatrix}} \]"

    return document("\n".join(map(display, work)))


# ------------------------------------------------------------------------------------ spreadsheets and data


@layout("csv")
def csv_column_of_remarks(work):
    wide = max(len(a.texts[0]) for a in work)
    rows = [[a.sign, str(i), *row, *[""] * (wide - len(row))] for a in work for i, row in enumerate(a.texts, 1)]
    head = ["matrix", "row", *ONE_TO[:wide], "remark"]
    return "\n".join(map(",".join, [head, *([*row, "ok"] for row in rows)]))


def workbook(sheets):
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(re.sub(r"[][:*?/\\]", "", title)[:30])
        for row in rows:
            sheet.append([float(x) if re.fullmatch(r"-?\d+(\.\d+)?", x) else x for x in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@layout("xlsx")
def workbook_a_sheet_each(work):
    return workbook({a.sign.replace("'", "′"): a.texts for a in work})


@layout("xlsx")
def workbook_words_a_sheet_each(work):
    return workbook({a.word if "_" not in a.sign else f"{a.word} {a.sign[-1]}": a.texts for a in work})


@layout("xlsx")
def workbook_one_sheet(work):
    return workbook({"Sheet1": [row for a in work for row in ([a.sign], *a.texts, [])]})


def beside(work, counted=False):
    """Rows of answers side by side with an empty column between: their names, perhaps numbers of columns, entries."""
    wide, high = [len(a.texts[0]) for a in work], max(len(a.texts) for a in work)
    heads = [x for a, w in zip(work, wide, strict=True) for x in (a.sign, *[""] * w)]
    numbers = [x for w in wide for x in (*ONE_TO[:w], "")]
    entries = [
        [x for a, w in zip(work, wide, strict=True) for x in (*(a.texts[i] if i < len(a.texts) else [""] * w), "")]
        for i in range(high)
    ]
    return [heads, *([numbers] if counted else []), *entries]


@layout("xlsx")
def workbook_side_by_side(work):
    return workbook({"Sheet1": beside(work)})


@layout("xlsx")
def workbook_side_by_side_numbered(work):
    return workbook({"Tabelle1": beside(work, counted=True)})


@layout("xlsx")
def workbook_with_heads(work):
    return workbook({"Sheet1": [row for a in work for row in (*numbered(a.texts, a.sign, ONE_TO, ONE_TO), [])]})


@layout("json")
def data_of_json(work):
    rows = {a.sign: [[float(x) if "i" not in x else x for x in row] for row in a.texts] for a in work}
    return json.dumps({"answers": rows})


@layout("json")
def data_by_names(work):
    return json.dumps([{"name": a.sign, "value": a.texts} for a in work])


# ------------------------------------------------------------------------------------ documents of word processors


def paragraph(text):
    return f'<w:p><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def word_table(rows):
    cells = ("".join(f"<w:tc>{paragraph(x)}</w:tc>" for x in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(body, numbering=""):
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("[Content_Types].xml", '<?xml version="1.0"?><Types xmlns='
                         '"http://schemas.openxmlformats.org/package/2006/content-types"/>')  # fmt: skip
        archive.writestr(
            "word/document.xml", f'<?xml version="1.0"?><w:document {space}><w:body>{body}</w:body></w:document>'
        )
        if numbering:
            archive.writestr(
                "word/numbering.xml", f'<?xml version="1.0"?><w:numbering {space}>{numbering}</w:numbering>'
            )
    return content.getvalue()


SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
                        ("style", "style"), ("fo", "xsl-fo-compatible"))
) + ' xmlns:xlink="http://www.w3.org/1999/xlink"'  # fmt: skip


def opendocument(body, kind="text", styles="", **members):
    """A document or a spreadsheet of LibreOffice; `members` are the equations that are in it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", (
            f'<?xml version="1.0"?><office:document-content {SPACES}><office:automatic-styles>{styles}'
            f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body>"
            "</office:document-content>"
        ))  # fmt: skip
        for name, equation in members.items():
            archive.writestr(f"{name}/content.xml", equation)
    return content.getvalue()


def open_paragraph(text):
    return f"<text:p>{escape(text)}</text:p>"


def open_table(rows):
    cells = ("".join(f"<table:table-cell>{open_paragraph(x)}</table:table-cell>" for x in row) for row in rows)
    return f"<table:table>{''.join(f'<table:table-row>{row}</table:table-row>' for row in cells)}</table:table>"


@layout("odt")
def open_tables(work):
    return opendocument("".join(open_paragraph(f"{a.sign} =") + open_table(a.texts) for a in work))


@layout("odt")
def open_lines(work):
    return opendocument("".join(open_paragraph(f"{a.word}: {listed(a.texts)}") for a in work))


@layout("ods")
def open_sheets(work):
    return opendocument("".join(open_table([[a.sign], *a.texts, [""]]) for a in work), "spreadsheet")


@layout("docx")
def word_tables(work):
    return docx("".join(paragraph(f"{a.sign} =") + word_table(a.texts) for a in work))


@layout("docx")
def word_rows_with_tabs(work):
    return docx("".join(paragraph(x) for a in work for x in (f"{a.sign} =", *map("\t".join, a.texts))))


@layout("docx")
def word_lines(work):
    return docx("".join(paragraph(f"{a.word}: {listed(a.texts)}") for a in work))


# ------------------------------------------------------------------------------------ notebooks


def code(source, *outputs):
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def text(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def stream(said):
    return {"output_type": "stream", "name": "stdout", "text": said + "\n"}


def shown(said, kind="execute_result", **others):
    data = {"text/plain": said, **others}
    return {"output_type": kind, "metadata": {}, "execution_count": 1, "data": data}


def cells(*found):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(found)})


def source_of(work):
    return code("import numpy as np\n" + "\n".join(f"{a.name} = compute('{a.name}')" for a in work))


@layout("ipynb")
def notebook_prints_with_names(work):
    source = "\n".join(rf"print('{a.name} =\n', {a.name})" for a in work)
    printed = "\n".join(f"{a.sign} =\n {numpy_prints(a).replace(chr(10), chr(10) + ' ')}" for a in work)
    return cells(source_of(work), code(source, stream(printed)))


@layout("ipynb")
def notebook_prints_with_words(work):
    source = "\n".join(f'print("{a.word}:", {a.name})' for a in work)
    return cells(source_of(work), code(source, stream("\n".join(f"{a.word}: {torch_prints(a)}" for a in work))))


@layout("ipynb")
def notebook_print_in_cells(work):
    return cells(source_of(work), *(code(f"print({a.name})", stream(numpy_prints(a))) for a in work))


@layout("ipynb")
def notebook_prints_without_names(work):
    source = "\n".join(f"print({a.name})" for a in work)
    return cells(source_of(work), code(source, stream("\n".join(map(numpy_prints, work)))))


@layout("ipynb")
def notebook_display(work):
    backwards = work[::-1]
    shows = [shown(numpy_prints(a, array=True), "display_data") for a in backwards]
    return cells(source_of(work), code("\n".join(f"display({a.name})" for a in backwards), *shows))


@layout("ipynb")
def notebook_last_lines(work):
    return cells(*(
        code(f"{a.name} = compute('{a.name}')\n{a.name}", shown(numpy_prints(a, array=True))) for a in work
    ))  # fmt: skip


@layout("ipynb")
def notebook_last_lines_without_names(work):
    heads = (text(f"## {a.word}") for a in work)
    shows = (code(f"compute('{a.name}')", shown(numpy_prints(a, array=True))) for a in work)
    return cells(*chain(*zip(heads, shows, strict=True)))


@layout("ipynb")
def notebook_headings_above_prints(work):
    heads = (text(f"### {a.sign}") for a in work)
    prints = (code(f"print(compute('{a.name}'))", stream(numpy_prints(a))) for a in work)
    return cells(*chain(*zip(heads, prints, strict=True)))


@layout("ipynb")
def notebook_rounded(work):
    return cells(source_of(work), *(code(f"np.round({a.name}, 4)", shown(numpy_prints(a, array=True))) for a in work))


@layout("ipynb")
def notebook_of_sympy(work):
    def result(a):
        tex = r"$\displaystyle \left[\begin{matrix}" + tex_rows(a, r"\\") + r"\end{matrix}\right]$"
        return shown(f"Matrix({listed(a.texts)})", **{"text/latex": tex})

    return cells(source_of(work), *(code(a.name, result(a)) for a in work))


@layout("ipynb")
def notebook_of_pandas(work):
    counted = [str(k) for k in range(20)]
    frames = (aligned(numbered(a.texts, "", counted, counted)) for a in work)
    found = (code(f"pd.DataFrame({a.name})", shown("\n".join(frame))) for a, frame in zip(work, frames, strict=True))
    return cells(source_of(work), *found)


@layout("ipynb")
def notebook_of_jax(work):
    def shows(a):
        rows = ",\n       ".join(f"[{', '.join(row)}]" for row in a.texts)
        return shown(f"Array([{rows}], dtype=float32)")

    return cells(source_of(work), *(code(a.name, shows(a)) for a in work))


@layout("ipynb")
def notebook_of_a_dictionary(work):
    inside = ",\n ".join(f"{a.sign!r}: {numpy_prints(a, array=True)}" for a in work)
    return cells(source_of(work), code("results", shown(f"{{{inside}}}")))


@layout("ipynb")
def notebook_formulas_in_text(work):
    return cells(*(
        text(rf"$${a.sign} = \begin{{bmatrix}}{tex_rows(a)}\end{{bmatrix}}$$") for a in work
    ))  # fmt: skip


@layout("ipynb")
def notebook_prints_f_strings(work):
    source = "\n".join(f'print(f"{a.sign}:\\n{{{a.name}}}")' for a in work)
    return cells(source_of(work), code(source, stream("\n".join(f"{a.sign}:\n{numpy_prints(a)}" for a in work))))


# ------------------------------------------------------------------------------------ as other people lay them out

TOKENS = ("please", "study", "man", "now", "here")


def called(a, names):
    """A name in somebody else's words, with the number of the head where there is one."""
    stem, _, head = a.sign.partition("_")
    said = names.get(stem, a.word if not head else a.sign)
    return f"{said} {head}".strip() if head and head.isdigit() and "head" not in said else said


@layout("ipynb")
def prints_with_words_and_brackets(work):
    """Seen in a notebook in KawsarAhmad43/Learnify."""
    shows = [stream(f"\n{called(a, PRINTED)}:\n {numpy_prints(a).replace(chr(10), chr(10) + ' ')}") for a in work]
    return cells(source_of(work), *(code(f"print({a.name!r})", one) for a, one in zip(work, shows, strict=True)))


@layout("ipynb")
def variables_at_the_end_of_cells(work):
    """Seen in notebooks in UnfoldDataScience/YouTube-Videos-files and VikramTaviti/tuts."""
    found = []
    for k, a in enumerate(work, 1):
        stem, _, head = a.sign.partition("_")
        name = f"{VARIABLES.get(stem, stem)}{'_' + head if head else ''}"
        found += [code(f"# Step {k}: {a.word.lower()}\n{name} = compute({k})")]
        found += [code(name, shown(numpy_prints(a, array=True)))]
    return cells(*found)


@each("txt")
def tokens_with_arrows(a):
    """Seen in a walkthrough of self-attention by omkarchebale: please → [1, 0]."""
    lines = (f"{token} → [{', '.join(row)}]" for token, row in zip(TOKENS, a.texts, strict=False))
    return "\n".join((f"{called(a, VECTORS)}:", *lines))


# ------------------------------------------------------------------------------------ worked examples of other people


def formula(a):
    """What somebody works out, in the formulas of Vaswani et al.; by its sign where it is a head's, or has none."""
    return FORMULAS.get(a.sign, a.sign)


def bmatrix(texts):
    rows = r" \\ ".join(" & ".join(row) for row in texts)
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


def summed(texts):
    """The same numbers as sums, as far as they are finite: 0 + 2."""
    return bmatrix([[x if "inf" in x else f"0 + {x}" for x in row] for row in texts])


FACTOR = bmatrix([["1.0", "0.2"], ["0.0", "1.0"]])


@each("md")
def tex_entries_before_the_matrix(a):
    """Seen in lecture notes, "it is $n \\times n$, independent of $d_k$": dot products one by one, then the matrix."""
    places = [(i, j, x) for i, row in enumerate(a.texts, 1) for j, x in enumerate(row, 1)]
    items = [rf"- $s_{{{i}{j}}} = [1, 0] \cdot [{x}, 1] = {x}$" for i, j, x in places if a.sign == "S"]
    return "\n".join((*items, "", rf"$${formula(a)} = {bmatrix(a.texts)}$$"))


@layout("md")
def tex_softmax_of_a_matrix(work):
    """Seen in "Apply softmax to get attention weights", and in "TotalAttention(Q, K, V)"."""

    def of(a, before):
        inside = bmatrix(before.texts) if before else a.sign
        left = rf"\text{{softmax}}\left({inside}\right)" if a.sign.startswith("A") else formula(a)
        return f"{left} = {bmatrix(a.texts)}"

    shows = (of(a, before) for a, before in zip(work, (None, *work), strict=False))
    return "\n\n".join(
        f"{k}. {a.word}:\n\\[\n{show}\n\\]" for k, (a, show) in enumerate(zip(work, shows, strict=True), 1)
    )


@each("md")
def tex_chain_of_displays(a):
    """Seen in a tutorial, "Attention(Q, K, V)" = softmax(…)V: every display says it anew with more worked out."""
    half = [rf"\text{{softmax}}\left({FACTOR}\right) {FACTOR}"] if a.sign.startswith("Z") else []
    shows = (f"$$\n{formula(a)} = {step}\n$$" for step in (*half, bmatrix(a.texts)))
    return "\n\n".join((f"{a.word}:", *shows))


@each("md", "\n")
def tex_with_entities(a, k):
    """Seen in a summary on transformers, "3. Similarity scores:", pasted from a page of HTML."""
    return f"{k}. {a.word}: ${formula(a)} = {bmatrix(a.texts).replace('&', '&amp;')}$."


@layout("md")
def code_with_comments_behind(work):
    """Seen in "softmax(scores) = […]  # Reasonable distribution"."""
    lines = (f"{CODED.get(a.sign, a.sign).partition(' = ')[0]} = {listed(a.texts)}  # {a.word.lower()}" for a in work)
    return "\n".join(("```python", *lines, "```"))


@layout("md")
def code_with_working_below(work):
    """Seen in "数值计算完整示例": output = weights @ V, and below it lines that begin with =."""

    def of(a):
        sums = [[x if "inf" in x else f"0+{x}" for x in row] for row in a.texts]
        return f"{CODED.get(a.sign, a.sign)}\n        = {listed(sums)}\n        = {listed(a.texts)}"

    return "\n".join(("```", *map(of, work), "```"))


LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def dot_products(a, first, join):
    """The scores one by one, as products of queries and keys that count from `first`; nothing of other answers."""
    rows = list(enumerate(a.texts, first)) if a.sign == "S" else []
    low = [[(f"q{i}·k{j}".translate(LOW), x) for j, x in enumerate(row, first)] for i, row in rows]
    return [join.join(f"{name} = 1×{x} + 0×1 = {x}" for name, x in row) for row in low]


@each("md")
def products_from_zero_before_the_matrix(a):
    """Seen in "token 0 作为 query": Q₀·K₀ = 1.0×1.0 + 0.0×0.0 = 1.0, and then the matrix of all."""
    return "\n".join(
        (f"**{a.word}**", "", "```", *dot_products(a, 0, "\n"), "", f"{a.word}:", *aligned_in_brackets(a), "```")
    )


def aligned_in_brackets(a):
    """[[1, 2],
    [3, 4]]"""
    rows = [f"[{line}]" for line in aligned(a.texts, ", ")]
    return [("[" if k == 0 else " ") + row + ("," if k < len(rows) - 1 else "]") for k, row in enumerate(rows)]


@each("md")
def products_side_by_side(a):
    """Seen in "计算注意力分数：Q × Kᵀ": q₁·k₁ = 1+0+1+0 = 2      q₁·k₂ = 0, a line for each query."""
    lines = dot_products(a, 1, "      ") or [f"{a.sign} = {listed(a.texts)}"]
    return "\n".join((f"### {a.word}", "```", *lines, "```"))


@each("md")
def products_in_the_cells_of_a_table(a):
    """Seen in "| Qᵢ ↓ / Kⱼ → | The (K₁) | dog (K₂) |", where a cell is Q₁·K₁ = 0.33."""
    rows = [
        [f"{f'Q{i}·K{j}'.translate(LOW)} = {x}" if a.sign == "S" else x for j, x in enumerate(row, 1)]
        for i, row in enumerate(a.texts, 1)
    ]
    wide = len(rows[0])
    heads = ["Qᵢ ↓ / Kⱼ →", *(f"{TOKENS[j % 5]} (K{j + 1})" for j in range(wide))]
    return "\n".join(
        [
            f"### {a.word}",
            "",
            *ruled([heads, *([f"**{TOKENS[i]} (Q{i + 1})**", *row] for i, row in enumerate(rows))]),
        ]
    )


@each("txt")
def rows_round_the_name(a):
    """Seen in "S_bruto  =  [3  6  3]": the rows in brackets of their own, the name beside the middle one."""
    rows = [f"[{line}]" for line in aligned(a.texts)]
    head = f"{a.sign}  =  "
    middle = len(rows) // 2
    return "\n".join((head if k == middle else " " * len(head)) + row for k, row in enumerate(rows))


@each("txt")
def rows_from_the_name_on(a):
    """Seen in "Attention Weights = [0.33  0.67]", with the next row right below the first."""
    rows = [f"[{line}]" for line in aligned(a.texts)]
    head = f"{a.word} = "
    return "\n".join((head if k == 0 else " " * len(head)) + row for k, row in enumerate(rows))


@each("txt")
def bars_round_the_name(a):
    """As a scan is read that has the name in the middle: a bracket becomes a bar in every line."""
    rows = [f"| {line} |" for line in aligned(a.texts)]
    head = f"{a.sign} = "
    return "\n".join((head if k == (len(rows) - 1) // 2 else " " * len(head)) + row for k, row in enumerate(rows))


@each("txt")
def columns_by_their_numbers(a):
    """A matrix column by column, in words."""
    return "\n".join(
        (f"{a.sign}:", *(f"column {j}: {', '.join(x)}" for j, x in enumerate(zip(*a.texts, strict=True), 1)))
    )


@each("txt", "\n")
def transposes_where_they_are_asked(a):
    """S^T for S: whoever writes keys in columns has the scores so."""
    return f"{a.sign}^T = {listed([*map(list, zip(*a.texts, strict=True))])}"


@each("txt", "\n")
def pairs_in_words(a):
    rows = " and ".join(f"({', '.join(row)})" for row in a.texts)
    return f"{a.word.lower()} are {rows}"


@each("md", "\n")
def rows_with_low_numbers(a):
    """Seen in "weights `A₁ = [0.506479, 0.186323, 0.307197]`": a matrix by its rows, each in backticks."""
    if "_" in a.sign:
        return f"- {a.word}: `{a.sign} = {listed(a.texts)}`"
    rows = ((str(i).translate(LOW), ", ".join(row)) for i, row in enumerate(a.texts, 1))
    return "\n".join(f"- `{a.sign}{i} = [{row}]`" for i, row in rows)


@each("md")
def softmax_row_by_row(a):
    """Seen in "softmax(row 0) = softmax([0.71, 0]) ≈ [0.67, 0.33]", and as "Softmax(Row 1)" in LaTeX."""
    lines = [f"{a.sign} = {listed(a.texts)}"]
    if a.sign == "A":
        rows = (f"softmax(row {i}) = [{', '.join(row)}]" for i, row in enumerate(a.texts, 1))
        lines = [*rows, "", f"{a.word} = {listed(a.texts)}"]
    return "\n".join((f"### {a.word}", "```", *lines, "```"))


@each("md")
def percent_behind_numbers(a):
    """Seen in "| 0 (oldest) | Home | 0.02 (2%) |": weights are said twice."""
    rows = a.texts
    if a.sign.startswith("A"):
        rows = [[f"{x} ({100 * float(x):.2f}%)" for x in row] for row in rows]
    keys, queries = ([f"{letter}{k}" for k in ONE_TO] for letter in "kq")
    return "\n".join([f"### {a.word}", "", *ruled(numbered(rows, "", keys, queries))])


@each("md")
def rows_in_tex_brackets(a):
    """Seen in "$$\\text{Softmax(Row 1)} = \\left[ …, … \\right]$$", where no matrix is an environment."""
    if "_" in a.sign:
        return rf"$${a.sign} = \left[ {listed(a.texts)[1:-1]} \right]$$"
    rows = ((i, ", ".join(row)) for i, row in enumerate(a.texts, 1))
    return "\n".join(rf"$$\text{{{a.sign}, row {i}}} = \left[ {row} \right]$$" for i, row in rows)


@each("txt")
def places_of_lists_from_zero(a):
    """Seen in chapter 2, section 3, of book-ai.org's book on transformers: scores[0][0] = … = 2.0, row by row."""
    if "_" in a.sign:
        return f"{a.word}\n\n{a.sign} = {listed(a.texts)}"
    lines = ([f"{a.sign}[{i}][{j}] = {x} + 0 = {x}" for j, x in enumerate(row)] for i, row in enumerate(a.texts))
    rows = ("\n".join((f"Row {i} (Query = Token {i}):", *row)) for i, row in enumerate(lines))
    return "\n\n".join((a.word, *rows))


@each("txt")
def comments_behind_rows_of_a_list(a):
    """Seen on the same page, and in canivel/llm-from-scratch: [[0.43, 0.15], # Your."""
    rows = [f"[{', '.join(row)}]" for row in a.texts]
    closed = [
        *(f"{row},   # Token {i}" for i, row in enumerate(rows[:-1])),
        f"{rows[-1]}]  # Token {len(rows) - 1}",
    ]
    return f"{a.sign} = [" + "\n     ".join(closed)


@each("md")
def vectors_in_the_cells_of_a_table(a):
    """Seen on nursnaaz.github.io, "V Vector (4D)": a row of the table has a token, its vector, and words for it."""
    rows = [[token, f"[{', '.join(row)}]", "information"] for token, row in zip(TOKENS, a.texts, strict=False)]
    return "\n".join([f"### {a.word}", "", *ruled([["Word", f"{a.sign} Vector", "Content"], *rows])])


def side_by_side(blocks, gap):
    """Blocks of lines beside one another, as they are typed where letters are equally wide."""
    columns = [[line.ljust(max(map(len, lines))) for line in lines] for lines in blocks]
    return "```\n" + "\n".join((" " * gap).join(row).rstrip() for row in zip(*columns, strict=True)) + "\n```"


@layout("md")
def rows_of_three_side_by_side(work):
    """Seen in a Vietnamese walkthrough, "Ma trận kết quả:": Q = [0.1]    K = [0.1], and the next rows below."""

    def of(those):
        blocks = []
        for a in those:
            rows = [f"[{', '.join(row)}]" for row in a.texts]
            name = f"{a.sign} = "
            blocks.append([name + rows[0], *(" " * len(name) + row for row in rows[1:])])
        return side_by_side(blocks, 4)

    return "\n\n".join(of(work[k : k + 3]) for k in range(0, len(work), 3))


@layout("md")
def lists_of_two_side_by_side(work):
    """Seen in a lesson, "Each output row is a weighted blend": Q = [[1,0],     K = [[1,1], and the next rows below."""

    def of(those):
        blocks = []
        for a in those:
            rows = [f"[{','.join(row)}]" for row in a.texts]
            lines = [f"{a.sign} = [{rows[0]}", *(" " * (len(a.sign) + 4) + row for row in rows[1:])]
            blocks.append([*(f"{line}," for line in lines[:-1]), f"{lines[-1]}]"])
        return side_by_side(blocks, 5)

    return "\n\n".join(of(work[k : k + 2]) for k in range(0, len(work), 2))


@each("md")
def tokens_round_rows_in_brackets(a):
    """Seen in "For a 3-word sentence": Love   [s11   s12   s13 ], below the tokens of the columns."""
    heads = "        " + "  ".join(f"{token:>6}" for token in TOKENS[: len(a.texts[0])])
    rows = [f"{token:<7}[{'  '.join(f'{x:>6}' for x in row)} ]" for token, row in zip(TOKENS, a.texts, strict=False)]
    heads = [heads] if len(a.texts[0]) <= len(TOKENS) else []
    return "\n".join(["```", f"{a.word} matrix:", *heads, *rows, "```"])


@each("md")
def lists_in_displays(a):
    """Seen in a Chinese text on transformers, "应用softmax函数": $$ attention_weights = softmax(scores) = […] $$."""
    stem = a.sign.partition("_")[0]
    middle = {"A": "softmax(scores) = "}.get(a.sign, "")
    name = a.sign if "_" in a.sign else VARIABLES.get(stem, stem)
    return f"1. **{a.word}**\n\n   $$ {name} = {middle}{listed(a.texts)} $$"


@each("txt")
def tokens_before_vectors(a):
    """Seen in zhubert.com's notebooks, where format_vector gives every number seven places: Token 0: [ 0.1000, …]."""
    rows = (f"  Token {i}: [{', '.join(f'{x:>7}' for x in row)}]" for i, row in enumerate(a.texts))
    return "\n".join((f"{a.word}:", *rows))


@each("md")
def scores_of_one_token_to_another(a):
    """Seen in "Score(1→1) = Q1 · K1": every score by its two tokens, other matrices as lists."""
    lines = [f"{a.sign} = {listed(a.texts)}"]
    if a.sign == "S":
        places = ((i, j, x) for i, row in enumerate(a.texts, 1) for j, x in enumerate(row, 1))
        lines = [f"- Score({i}→{j}) = Q{i} · K{j} = {x}" for i, j, x in places]
    return "\n".join((f"**{a.word}**", "", *lines))


for name, about in TABLE.items():
    if name not in ("defaults", "called", "papers"):
        whole = TABLE["defaults"] | about
        registered(name, whole["ending"], from_table(whole))
