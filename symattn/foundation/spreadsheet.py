"""CSV that no spreadsheet takes for formulas, whatever it takes for the separator."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence


def csv_lines(table: Iterable[Sequence[object]], end: str = "\r\n") -> Iterator[str]:
    """The lines of a table as CSV (RFC 4180), each cell on one line and harmless."""
    for cells in table:
        out = io.StringIO()
        csv.writer(out, lineterminator=end).writerow([harmless(cell) for cell in cells])
        yield out.getvalue()


def harmless(cell: object) -> object:
    """A text in which nothing begins like a formula, neither the whole nor a part behind a separator.

    A spreadsheet in another country splits at semicolons what was written with commas, and would run the second part of
    `foo;=cmd|…`.  So an apostrophe, which spreadsheets read as "this is text", stands before =, +, − or @ at the
    beginning of every such part.  Numbers stay numbers; a number that was typed as a text, an id +1, stays a text.

    >>> harmless("foo;=cmd|' /C calc'!A0"), harmless("-3"), harmless(-3)
    ("foo;'=cmd|' /C calc'!A0", "'-3", -3)
    """
    if not isinstance(cell, str):
        return "" if cell is None else cell
    return _FORMULA.sub(r"\1'", " ".join(cell.split()))


def typed_again(cell: str) -> str:
    """The text that `harmless` was given, without the apostrophes.

    >>> typed_again("[[1,'-2]]"), typed_again("S'=S")
    ('[[1,-2]]', "S'=S")
    """
    return _HARMLESS.sub(r"\1", cell)


_SIGNS = "=+@\\-＝＋－＠﹢﹣﹦﹫"  # also their wide and small forms, which some programs make plain
_FORMULA = re.compile(rf'((?:^|[;,|])[\s"]*)(?=[{_SIGNS}])')
_HARMLESS = re.compile(rf"""((?:^|[;,|])[\s"]*)'(?=[{_SIGNS}])""")
