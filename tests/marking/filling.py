"""Worksheets, papers and notebooks filled in by a program, as a student fills them in by hand."""

import json

from symattn.foundation.languages import ENGLISH, say, speaking
from symattn.marking.attempt import (
    Entry,
    Grid,
    Grids,
    Ordered,
    Shaded,
    Shaped,
    Text,
    Ticked,
    Unreadable,
)
from symattn.marking.submissions import blocks as md
from symattn.marking.submissions import labels
from symattn.marking.submissions.blocks import escaped, unescaped
from symattn.marking.submissions.markdown import FilledSheet, behind_label, language_of, matrix_name
from symattn.marking.submissions.notebook import notebook
from symattn.page.document import AnswerGrid, Choices, FillIn, Table
from symattn.page.writers import common, markdown


def fill(text, questions, attempts, *, name="", student=""):
    """A blank worksheet or paper with answers written into it: what `read_markdown` gives back."""
    page = md.page(text)
    fill_page(page, questions, attempts, name, student)
    return "\n".join(page.lines)


def fill_page(page, questions, attempts, name, student):
    """Answers written into the lines of a blank page."""
    with speaking(language_of(page) or ENGLISH):
        sheet = FilledSheet(page, questions)
        changes = {}
        for number, slot in enumerate(sheet.slots):
            said = attempts[slot.question].answers.get(slot.part.name)
            if said is None:
                continue
            if isinstance(slot.block, AnswerGrid | Table):
                block = sheet.tables[number][0]
                changes[block.start] = (block.end, _filled_table(slot, block, said))
            elif isinstance(slot.block, Choices) and isinstance(said, Ticked):
                for option, item in enumerate(sheet.tasks[number].items):
                    if option in said.options:
                        line = page.lines[item.line]
                        changes[item.line] = (item.line + 1, [line.replace("[ ]", "[x]", 1)])
            elif slot.block is None:
                start, end = _space(sheet, slot)
                changes[start] = (end, _in_space(slot, said))
        for slot, block, _ in sheet.lines:
            said = attempts[slot.question].answers.get(slot.part.name)
            if said is not None and isinstance(slot.block, FillIn):
                label, after = markdown.in_line(slot.block.label), markdown.in_line(slot.block.after)
                changes[block.start] = (block.end, [" ".join(filter(None, (label, escaped(said_text(said)), after)))])
        for q, attempt in enumerate(attempts):
            end = max((block.end for block, (of, p) in zip(sheet.blocks, sheet.places, strict=True)
                       if of == q and p is not None and block.text), default=len(page.lines))  # fmt: skip
            added = [line for step, grid in attempt.more.items() for line in ["", *_table_of(step, grid), ""]]
            if added:
                changes[end] = (changes.get(end, (end,))[0], [*added, *changes.get(end, (end, []))[1]])
        _fill_fields(sheet, changes, {"name": name, "student": student})
        for start in sorted(changes, reverse=True):
            end, new = changes[start]
            put(page, start, end, new)


def put(page, start, end, lines):
    page.lines[start:end] = lines
    if page.cells:
        page.cells[start:end] = [page.cells[start]] * len(lines)


def _fill_fields(sheet, changes, fields):
    for block in sheet.blocks:
        for label, key in labels.fields(language_of(sheet.page)).items():
            value = fields[key]
            if value and block.kind == "text" and behind_label(block.text, label) == "":
                colon = ":" if block.text.startswith(f"{label}:") else ""
                changes[block.start] = (block.end, [f"{label}{colon} {escaped(value)}"])


def _filled_table(slot, table, said):
    """The table with entries in its cells; with numbers for heads if the answer has another shape."""
    if isinstance(said, Shaded):
        rows = [[("x" if (i, j) in said.cells else "☐") for j in range(len(table.rows[0]) - 1)]
                for i in range(len(table.rows) - 1)]  # fmt: skip
    elif isinstance(grid := _grid_of(slot, said), Grid):
        if grid.shape != (len(table.rows) - 1, len(table.rows[0]) - 1):
            return _table_of(unescaped(table.rows[0][0]), grid)
        rows = [[escaped(entry.text) for entry in row] for row in grid.rows]
    else:
        return [*table.text.split("\n"), "", said_text(said)]
    printed = slot.block.filled if isinstance(slot.block, AnswerGrid) else ()
    for (i, j), _ in printed:
        rows[i][j] = rows[i][j] or table.rows[i + 1][j + 1]
    body = [[label, *new] for (label, *_), new in zip(table.rows[1:], rows, strict=True)]
    return markdown.pipes(table.rows[0], body, ":---:").split("\n")


def _grid_of(slot, said):
    if not isinstance(said, Grids):
        return said
    return said.grids.get(matrix_name(slot.part.answer.model, slot.name), Grid.blank(*shape_of_grid(slot)))


def shape_of_grid(slot):
    return (slot.block.rows, slot.block.columns) if isinstance(slot.block, AnswerGrid) else (0, 0)


def _table_of(name, grid):
    heads = [escaped(name), *(str(j) for j in range(1, grid.shape[1] + 1))]
    rows = [[f"**{i}**", *(escaped(entry.text) for entry in row)] for i, row in enumerate(grid.rows, 1)]
    return markdown.pipes(heads, rows, ":---:").split("\n")


def _space(sheet, slot):
    """The lines of the space for working of a part."""
    place = slot.place
    found = zip(sheet.blocks, sheet.places, strict=True)
    here = [block for block, where in found if where == place and block.kind != "program"]
    for before, block in enumerate(here):
        if block.text.lstrip("*_").startswith(tuple(labels.said("Working"))):
            empty = [b for b in here[before + 1 :] if not md.normal(b.text) and "nbsp" in b.text]
            return block.end, max((b.end for b in empty), default=block.end)
    return here[-1].end, here[-1].end


def _in_space(slot, said):
    """Words as a quotation, in which nothing is taken for a heading; a matrix as a table."""
    if isinstance(said, Grid):
        return ["", *_table_of("", said)]
    return ["", *(f"> {line}".rstrip() for line in said_text(said).split("\n"))]


def said_text(said):
    """An answer of one line as it is written by hand."""
    match said:
        case Entry(text=text) | Text(text=text) | Unreadable(text=text):
            return text
        case Shaped(shape):
            return f"{shape[0]}×{shape[1]}" if shape else say("not defined")
        case Ordered(groups):
            return " < ".join(" = ".join(group) for group in groups)
        case Ticked(options):
            return ", ".join(common.letter(i) for i in sorted(options))
        case Shaded(cells):
            return ", ".join(f"({i + 1}, {j + 1})" for i, j in sorted(cells))
        case Grid(rows):
            return "\n".join(" & ".join(entry.text for entry in row) for row in rows)
        case Grids(grids):
            return "\n\n".join(f"{name} =\n{said_text(grid)}" for name, grid in grids.items())


def fill_notebook(text, questions, attempts, *, name="", student=""):
    """A blank notebook with answers written into its tables and boxes: what `read_notebook` gives back."""
    page = notebook(text).page
    fill_page(page, questions, attempts, name, student)
    data = json.loads(text)
    for number, cell in enumerate(data["cells"], 1):
        lines = [line for line, owner in zip(page.lines, page.cells, strict=True) if owner == number]
        cell["source"] = "\n".join(lines[:-1]).splitlines(keepends=True)
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
