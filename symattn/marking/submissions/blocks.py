"""The blocks of a Markdown file, with their lines: as much of Markdown as survives editors, formatters and pandoc.

Only the shape of lines is looked at, once and from the top, so that no text can make it slow.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from symattn.errors import InputError
from symattn.foundation.languages import message
from symattn.marking.submissions.entries import visible
from symattn.marking.submissions.tables import count_numbers

Kind = Literal["heading", "grid", "choices", "table", "tasks", "math", "code", "text", "program", "output"]


LONGEST_TEXT, MOST_LINES = 300_000, 6000
"""Characters and lines of a text that is read as answers; those of an exam have thirty thousand, and some hundreds."""


@dataclass(frozen=True, slots=True)
class TickBox:
    """One box to tick: its line, whether it is ticked, and the words behind it."""

    line: int
    ticked: bool
    text: str


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """One block: its lines from `start` to `end` (from 0, the end left out).

    `text` is what stands in it, for a comment the id; `rows` are the cells of a table, its head first; `items` the
    boxes of a list to tick.  A program is a cell of a notebook with code in it.
    """

    kind: Kind
    start: int
    end: int
    text: str
    rows: tuple[tuple[str, ...], ...] = ()
    items: tuple[TickBox, ...] = ()

    def below(self, lines: int) -> MarkdownBlock:
        """The same block with so many lines above it."""
        items = tuple(replace(item, line=item.line + lines) for item in self.items)
        return replace(self, start=self.start + lines, end=self.end + lines, items=items)


@dataclass
class Page:
    """A file taken apart: its lines, what stands at its head between lines of `---`, and its blocks.

    Of a notebook, `cells` has the number of the cell that each line belongs to, from 1; it is empty for other files.
    """

    lines: list[str]
    head: dict[str, str] = field(default_factory=dict)
    blocks: list[MarkdownBlock] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)

    def where(self, line: int) -> str:
        """A line (from 0) as people find it: by its number, in a notebook that of its cell."""
        return message("cell {cell}", cell=self.cells[line]) if self.cells else message("line {line}", line=line + 1)


def readable(text: str) -> str:
    """The same; `InputError` if it is far longer than answers are."""
    if len(text) > LONGEST_TEXT:
        most = LONGEST_TEXT // 1000
        raise InputError(f"It has {len(text) // 1000} thousand characters; answers have at most {most} thousand.")
    lines = sum(map(bool, map(str.strip, text.splitlines())))
    if lines > MOST_LINES:
        raise InputError(f"It has {lines} lines; answers have at most {MOST_LINES}.")
    return text


def page(text: str) -> Page:
    """A Markdown file as lines and blocks."""
    lines = _lines(text)
    start, head = _front_matter(lines)
    return Page(lines, head, list(_blocks(lines, start)))


def page_of_cells(
    cells: Sequence[tuple[Literal["code", "markdown"], str]], head: dict[str, str], outputs: Mapping[int, str]
) -> Page:
    """The cells of a notebook one after another, each with an empty line below it; no block goes beyond its cell.

    Below a cell stands what it shows, in which there are no headings.
    """
    found = Page([], head)
    for number, (kind, source) in enumerate(cells, 1):
        for text, is_output in ((source, False), (outputs.get(number, ""), True)):
            if is_output and not text:
                continue
            start, lines = len(found.lines), _lines(text)
            if kind == "code" and not is_output:
                found.blocks.append(MarkdownBlock("program", start, start + len(lines), text))
            else:
                blocks = (block.below(start) for block in _blocks(lines, 0))
                found.blocks += (replace(block, kind="output") if is_output and block.kind != "table" else block
                                 for block in blocks)  # fmt: skip
            found.lines += [*lines, ""]
            found.cells += [number] * (len(lines) + 1)
    return found


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _front_matter(lines: list[str]) -> tuple[int, dict[str, str]]:
    if not lines or lines[0].strip() != "---":
        return 0, {}
    end = next((i for i, line in enumerate(lines[1:60], 1) if line.strip() in ("---", "...")), 0)
    pairs = (line.partition(":") for line in lines[1:end])
    return end + 1 if end else 0, {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_GRID = re.compile(r"\s*<!--\s*symattn:(grid|choices)\s+(?:id=(\S+))?")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}\s+(.*)$")
_LIKE_A_HEADING = re.compile(r"\*\*(?:Question\s+\d|\(?[a-z0-9]{1,2}\)|\d+\\?\.|END OF QUESTIONS).*\*\*$")
_RULE = re.compile(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")
_TASK = re.compile(
    r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\\?\[(?P<box>[^\[\]]{0,3}?)\\?\]|(?P<sign>[☐☑☒■□✓✔✗✘]))\s*(?P<text>.*)$"
)
_CROSSED_OUT = re.compile(r"~~.*~~\s*$")
_UNTICKED = frozenset(["", "_", "☐", "□", "✗", "✘"])


def _blocks(lines: list[str], at: int) -> Iterator[MarkdownBlock]:
    while at < len(lines):
        line = lines[at]
        block = _block(lines, at) if line.strip() else None
        if block:
            yield block
        at = block.end if block else at + 1


def _block(lines: list[str], at: int) -> MarkdownBlock:
    line = lines[at]
    if found := _beginning(lines, at):
        return found
    if _LIKE_A_HEADING.match(line.strip()):
        return MarkdownBlock("heading", at, at + 1, line.strip()[2:-2])
    if _RULE.match(line):
        return MarkdownBlock("text", at, at + 1, "")
    end = next((i for i in range(at + 1, len(lines)) if not lines[i].strip() or _beginning(lines, i)), len(lines))
    return MarkdownBlock("text", at, end, "\n".join(lines[at:end]).strip())


def _beginning(lines: list[str], at: int) -> MarkdownBlock | None:
    """The block that begins in a line, even right below a paragraph; None if none does."""
    line = lines[at]
    if _QUOTE.match(line):
        return _quoted(lines, at)
    if fence := _FENCE.match(line):
        end = next((i for i in range(at + 1, len(lines)) if lines[i].strip().startswith(fence[1])), len(lines) - 1)
        return MarkdownBlock("code", at, end + 1, "\n".join(lines[at + 1 : end]))
    if line.lstrip().startswith("<!--"):
        return _comment(lines, at)
    if heading := _HEADING.match(line):
        return MarkdownBlock("heading", at, at + 1, heading[1].rstrip(" #"))
    if line.lstrip().startswith("$$"):
        return _math(lines, at)
    if _begins_table(lines, at):
        return _table(lines, at)
    return _tasks(lines, at) if _TASK.match(line) else None


def _quoted(lines: list[str], at: int) -> MarkdownBlock:
    """A quotation is words, whatever its lines look like."""
    end = next((i for i in range(at, len(lines)) if not _QUOTE.match(lines[i])), len(lines))
    return MarkdownBlock("text", at, end, "\n".join(_QUOTE.sub("", line, count=1) for line in lines[at:end]).strip())


def _comment(lines: list[str], at: int) -> MarkdownBlock:
    end = next((i for i in range(at, min(len(lines), at + 50)) if "-->" in lines[i]), at)
    if found := _GRID.match(lines[at]):
        return MarkdownBlock("grid" if found[1] == "grid" else "choices", at, end + 1, found[2] or "")
    return MarkdownBlock("text", at, end + 1, "")


def _math(lines: list[str], at: int) -> MarkdownBlock:
    """From $$ to $$, or to the next empty line where the second one is missing."""
    if lines[at].strip()[2:].endswith("$$"):
        return MarkdownBlock("math", at, at + 1, lines[at].strip()[2:-2])
    end = next(i for i in range(at + 1, len(lines) + 1) if i == len(lines) or not lines[i].strip() or _closes(lines[i]))
    end += end < len(lines) and _closes(lines[end])
    return MarkdownBlock("math", at, end, "\n".join(lines[at:end]).strip().strip("$"))


def _closes(line: str) -> bool:
    return line.rstrip().endswith("$$")


def _begins_table(lines: list[str], at: int) -> bool:
    """A line of cells with a line of dashes below it, or without one if it begins and ends as a row does, or ends as
    one behind a name and goes on below."""
    line = lines[at].strip()
    if "|" not in line:
        return False
    below = lines[at + 1].strip() if at + 1 < len(lines) else ""
    begins = line[0] == "|" or (_begins_matrix(line) and below[:1] == "|" == below[-1:])
    return ("|" in below and _is_delimiter(below)) or (begins and line[-1] == "|" and line.count("|") > 2)


def _begins_matrix(line: str) -> bool:
    """Whether a line has a name and an equals sign before its first bar: 2. A = | 1 | 2 |"""
    return line.partition("|")[0].rstrip().endswith("=")


def _is_delimiter(line: str) -> bool:
    """The line of dashes below the head of a table."""
    return "-" in line and not line.strip(" \t|:-")


def _table(lines: list[str], at: int) -> MarkdownBlock:
    after = range(at + 1, len(lines))
    end = next((i for i in after if "|" not in lines[i] or _begins_matrix(lines[i])), len(lines))
    rows = tuple(cells(line) for line in lines[at:end] if not _is_delimiter(line))
    kind: Kind = "table" if rows else "text"  # lines of dashes alone head nothing
    return MarkdownBlock(kind, at, end, "\n".join(lines[at:end]), rows)


_BAR = re.compile(r"(?<!\\)\|")


def cells(line: str) -> tuple[str, ...]:
    r"""The cells of a line of a table.

    >>> cells(r"| **1** | 2 \| 3 |   |")
    ('**1**', '2 \\| 3', '')
    """
    inside = line.strip()
    inside = inside[1:] if inside.startswith("|") else inside
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    return tuple(cell.strip() for cell in _BAR.split(inside))


def _tasks(lines: list[str], at: int) -> MarkdownBlock:
    items: list[TickBox] = []
    end = at
    while end < len(lines):
        line = lines[end]
        if found := _TASK.match(line):
            box = (found["sign"] or found["box"] or "").strip()
            crossed_out = bool(_CROSSED_OUT.match(found["text"]))
            items.append(TickBox(end, box not in _UNTICKED and not crossed_out, found["text"]))
        elif line.strip() and line[0].isspace():  # the item goes on
            items[-1] = TickBox(items[-1].line, items[-1].ticked, f"{items[-1].text} {line.strip()}")
        elif line.strip() or not any(_TASK.match(below) for below in lines[end + 1 : end + 2]):
            break
        end += 1
    return MarkdownBlock("tasks", at, end, "\n".join(lines[at:end]), items=tuple(items))


_MARKER = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}\\?[.)])[ \t]+", re.MULTILINE)
_NOT_OF_TEXT = re.compile(r"[^\w+\-=/.,^|<>]|_")


def normal(text: str) -> str:
    """What of a text no reformatting changes: letters, digits and a few signs."""
    return _NOT_OF_TEXT.sub("", visible(html.unescape(_MARKER.sub("", text)).replace("\\backslash", "")))


# ------------------------------------------------------------------------------------ text in cells and lines

_ESCAPED = re.compile(r"\\([|*_`<>#&~])")
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z])")


def unescaped(text: str) -> str:
    r"""The text of a cell without Markdown's own backslashes; those of LaTeX stay.

    >>> unescaped(r"2\*3"), unescaped(r"$\\frac{1}{2}$"), unescaped(r"\frac{1}{2}")
    ('2*3', '$\\frac{1}{2}$', '\\frac{1}{2}')
    """
    return _ESCAPED.sub(r"\1", _DOUBLED.sub(r"\\", text))


def table_row(cells: Iterable[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(map(escaped, map(in_one_line, cells)))} |"


def in_one_line(cell: str) -> str:
    """The text of a cell in one line; the rows of a matrix in it stay apart.

    >>> in_one_line("1 2\\n3 4"), in_one_line("a long\\nname")
    ('1 2<br>3 4', 'a long name')
    """
    lines = [" ".join(line.split()) for line in cell.split("\n") if line.strip()]
    are_rows = len(lines) > 1 and all(count_numbers(line, 0) > 1 for line in lines)
    return ("<br>" if are_rows else " ").join(lines)


def escaped(text: str) -> str:
    r"""The text as it can be written into a cell or a line, so that `unescaped` gives it back.

    >>> escaped("2*3"), escaped("$x_1$")
    ('2\\*3', '$x_1$')
    """
    signs = r"([|])" if "$" in text or "`" in text else r"([|*_])"
    return re.sub(signs, r"\\\1", " ".join(text.split()))
