"""Marks that a person gives where the marker leaves them pending: a table beside the gradebook, read by the next run.

A row is a line of the scheme in one submission.  What is given holds for that version of the file alone; when something
else is handed in, the line is pending anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from symattn.errors import InputError
from symattn.foundation.languages import message, sentences
from symattn.foundation.tables import read_table, typed_again
from symattn.marking.grading.record import Result, Row, line_name
from symattn.marking.marker.report import Given, Report

PENDING = "pending.csv"
HEAD = ("name", "id", "paper", "file", "version", "question", "line", "pending", "marks", "why")
VERSION = 12
"""Characters of a file's hash that tell one version from another."""

Key = tuple[str, str]
Marks = dict[str, dict[str, int]]
"""By question (from 1; "" for what belongs to none), by line of the scheme."""


@dataclass(frozen=True)
class Settled:
    """What a person has given, by file and version; `rows` are the rows of the table in which marks stand."""

    marks: Mapping[Key, Marks] = field(default_factory=dict)
    rows: Sequence[Sequence[str]] = ()

    def of(self, file: str, hash: str) -> Marks:
        return self.marks.get((" ".join(file.split()), hash[:VERSION]), {})


def read_settled(path: Path) -> Settled:
    """The table as somebody has filled it in; `InputError` names the row in which no such marks can be given."""
    if not path.is_file():
        return Settled()
    head, *lines = read_table(path) or [[]]
    at = {name.strip().casefold(): place for place, name in enumerate(head)}
    if lacking := [name for name in HEAD if name not in at and name not in ("name", "id", "paper", "why")]:
        raise InputError(f"{path} has no column {lacking[0]!r}; correct it, or delete the file to have it made again.")
    marks: dict[Key, Marks] = {}
    rows: list[list[str]] = []
    for number, line in enumerate(lines, 2):
        cells = {name: typed_again(line[place]).strip() if place < len(line) else "" for name, place in at.items()}
        if not cells["marks"]:
            continue
        most = int(cells["pending"]) if cells["pending"].isdecimal() else 0
        if not cells["marks"].isdecimal() or int(cells["marks"]) > most:
            raise InputError(
                f"{path}, row {number}: the marks are {cells['marks']!r}; a whole number from 0 to {most} was expected."
            )
        given = marks.setdefault((cells["file"], cells["version"]), {})
        given.setdefault(cells["question"], {})[cells["line"]] = int(cells["marks"])
        rows.append([cells.get(name, "") for name in HEAD])
    return Settled(marks, rows)


def settled(report: Report, marks: Mapping[str, int]) -> Report:
    """A report in which a person has given the pending marks of some lines."""
    left = dict(marks)
    given: list[Given] = []
    for one in report.marks:
        name = line_name(one.parts)
        if one.pending and name in left:
            more = min(left[name], one.of - one.given)
            left[name] -= more
            one = replace(one, given=one.given + more, pending=False, why=None)
        given.append(one)
    read = {part for one in report.marks if one.pending and line_name(one.parts) in marks for part in one.parts}
    told = {doubt.says for name, doubt in report.attempt.doubts.items() if name in read}
    notices = tuple(
        one for one in report.notices if one.part not in read or (one.kind != "human" and one.says not in told)
    )
    return replace(report, marks=tuple(given), notices=notices)


def pending_table(rows: Iterable[tuple[Row, bool]], before: Settled) -> list[list[object]]:
    """The table of what a person has to settle, and of what has been; empty if there is nothing.

    The flag of a row says whether there are answers in it that belong to no question.
    """
    table = [line for row, loose in rows for line in (*_open(row), *(_loose(row) if loose else ()))]
    lines = [*table, *(list[object](row) for row in before.rows)]
    return [list[object](HEAD), *lines] if lines else []


def _open(row: Row) -> Iterator[list[object]]:
    for number, result in enumerate(row.results, 1):
        open_parts = dict.fromkeys(part for one in result.marks if one.pending for part in one.parts)
        notices = {part: _said_of(result, part) for part in open_parts}
        reasons = {part: says for part, says in notices.items() if says}
        others = [message("{place}: {notice}", place=part, notice=says) for part, says in reasons.items()]
        for name, count in result.pending.items():
            parts = [part for one in result.marks if one.pending and line_name(one.parts) == name for part in one.parts]
            own = (reasons[part] for part in parts if part in reasons)
            yield [*_about(row), number, name, count, "", next(own, next(iter(others), ""))]


def _said_of(result: Result, part: str) -> str:
    """Why somebody has to look at a part; "" if it waits only because of another."""
    return sentences(
        *dict.fromkeys(n.says for n in result.notices if n.part == part and n.kind in ("human", "reading"))
    )


def _loose(row: Row) -> Iterator[list[object]]:
    yield [*_about(row), "", "", 0, "", row.reason]


def _about(row: Row) -> list[object]:
    return [row.name, row.id, row.sheet, row.file, row.hash[:VERSION]]
