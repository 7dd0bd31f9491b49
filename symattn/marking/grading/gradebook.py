"""The gradebook of a class: a row for everybody, as CSV, and what changed since the last run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path

from symattn.exact import decimal_text
from symattn.foundation.spreadsheet import csv_lines
from symattn.marking.grading.record import Result, Row, Terms, counted, in_short, line_name
from symattn.marking.grading.summary import summary_document
from symattn.marking.marker.report import Given
from symattn.page.document import Document
from symattn.teaching.sheets import render, shown

CODES = ("M", "A", "B", "N")


@dataclass(frozen=True, slots=True)
class Change:
    """A total that another run gave otherwise: who, which question (from 1), what, and why."""

    run: int
    student: str
    question: int
    old_total: int
    new_total: int | None
    old_policy: str
    new_policy: str
    why: str
    what: str


@dataclass(frozen=True, repr=False)
class Gradebook:
    """Everything that marking a class gave.

    `rows` are in the order of the class list, those that belong to nobody in it last.  `changes` are all that any run
    into the same folder brought.  `written` are the files; `replied` is what was taken for granted about entries.
    `listed` are the cells by which platforms know the students, by the numbers of their rows.
    """

    title: str
    terms: Terms
    rows: tuple[Row, ...]
    changes: tuple[Change, ...] = ()
    written: tuple[Path, ...] = ()
    replied: tuple[str, ...] = ()
    listed: Mapping[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    @property
    def summary(self) -> Document:
        """The class on a page or two: marks, steps, mistakes, variants, and what is left to do by hand."""
        return summary_document(self.title, str(self.terms), self.rows)

    def csv(self, platform: str = "plain") -> str:
        """The gradebook as CSV (RFC 4180): plain, with every line of the scheme, or as moodle, canvas, gradescope or
        brightspace import it, with the totals that are final.

        `InputError` for another platform, or if the class list lacks what the platform knows students by.
        """
        if platform == "plain":
            return "".join(csv_lines(_table(self.rows)))
        from symattn.marking.grading.platforms import grades, platform_table

        of = max((row.of for row in self.rows), default=0)
        return "".join(csv_lines(platform_table(platform, self.title, grades(self.rows, self.listed), of)))

    @property
    def pending(self) -> tuple[Row, ...]:
        """The rows whose marks are not final: a person has to read an answer, see whose it is, or why it is broken."""
        return tuple(row for row in self.rows if row.status in ("pending", "broken") or row.unread)

    def changes_csv(self) -> str:
        head = [name.replace("_", " ") for name in Change.__dataclass_fields__]
        return "".join(csv_lines([head, *(list(asdict(change).values()) for change in self.changes)]))

    def text(self, form: str = "text") -> str:
        """The summary as text in one format."""
        return render(self.summary, form)[1].decode()

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{self.title}: {', '.join(counted(self.rows))}>"

    def _repr_html_(self) -> str:
        return shown(self.summary, "html")

    def _repr_markdown_(self) -> str:
        return shown(self.summary, "markdown")


# ------------------------------------------------------------------------------------------------ the table


def _table(rows: Sequence[Row]) -> Iterator[list[object]]:
    columns = _columns(rows)
    codes = [code for code in CODES if any(g.code == code for row in rows for r in row.results for g in r.marks)]
    steps = [
        step for q, names in enumerate(columns, 1) for step in (f"Q{q}", *(f"Q{q} {name}" for name in names.values()))
    ]
    head = ["number", "name", "id", "paper", "status", "total", "of", "percent"]
    yield [*head, *steps, *codes, "events", "notices", "file"]
    for row in rows:
        share = (
            decimal_text(Fraction(100 * row.total, row.of), 1) if row.has_marks and row.of and not row.unread else ""
        )
        own: list[object] = [row.number, row.name, row.id, row.sheet, row.status]
        own += [_so_far(row.total, row.unread), row.of, share] if row.has_marks else ["", "", ""]
        for question, names in enumerate(columns):
            result = row.results[question] if question < len(row.results) else None
            given, open_ = (result.points, result.pending) if result else ({}, {})
            own.append(_so_far(result.total, bool(open_)) if result else "")
            own += [_so_far(given[name][0], name in open_) if name in given else "" for name in names]
        for code in codes:
            marks = [g for r in row.results for g in r.marks if g.code == code]
            own.append(_so_far(sum(g.given for g in marks), any(g.pending for g in marks)) if row.results else "")
        own += ["; ".join(_mistakes(row)), " ".join((*filter(None, [row.reason]), *row.said)), row.file]
        yield own


def _so_far(given: int, pending: bool) -> int | str:
    """Marks; "12+?" while others are pending, which no spreadsheet takes for a number."""
    return (f"{given}+?" if given else "?") if pending else given


def _columns(rows: Sequence[Row]) -> list[dict[str, str]]:
    """The lines of the scheme of every question, in the order of the question's parts, with what they are called."""
    columns: list[dict[str, str]] = []
    for row in rows:
        for number, result in enumerate(row.results):
            if number == len(columns):
                columns.append({})
            column = columns[number]
            for line in result.points:
                if line not in column:
                    name = ", ".join(" ".join(filter(None, part)) for part in result.called(line))
                    column[line] = f"{name} ({line})" if name in column.values() else name
    return columns


def _mistakes(row: Row) -> Iterator[str]:
    for number, result in enumerate(row.results, 1):
        where = f"Q{number} " if len(row.results) > 1 else ""
        yield from (f"{where}{in_short(event)}" for event in result.events)


# ------------------------------------------------------------------------------------------------ changes


def changed(
    run: int, old: Sequence[Row], new: Sequence[Row], terms: tuple[Terms, Terms], software: tuple[str, str]
) -> Iterator[Change]:
    """Every total of a question that was given before and is another now, or is there no more.

    `terms` and `software` are those of the run before and of this one.
    """
    now = {_whose(row): row for row in new}
    for before in old:
        after = now.get(_whose(before))
        for number, result in enumerate(before.results, 1):
            again = after.results[number - 1] if after and number <= len(after.results) else None
            if again is None or (again.total, again.of) != (result.total, result.of):
                yield Change(
                    run, before.id or before.name or before.file, number, result.total, again.total if again else None,
                    str(terms[0]), str(terms[1]), _why(before, after, terms, software), _what(result, again),
                )  # fmt: skip


def _whose(row: Row) -> tuple[int | None, str]:
    return (row.number, "") if row.number is not None else (None, row.file)


def _why(before: Row, after: Row | None, terms: tuple[Terms, Terms], software: tuple[str, str]) -> str:
    said = []
    if after is None or after.status == "missing":
        said.append("no file any more")
    elif not after.has_marks:
        said.append(f"{after.status}: {after.reason}")
    elif before.hash != after.hash:
        said.append("another file")
    elif before.unread and not after.unread:
        said.append("pending marks given")
    if after and before.sheet != after.sheet:
        said.append(f"paper {before.sheet} → {after.sheet}")
    if terms[0].policy != terms[1].policy:
        said.append("another policy")
    if terms[0].own != terms[1].own:
        said.append("another scheme")
    if terms[0].decimal_mark != terms[1].decimal_mark:
        said.append("another decimal mark")
    if software[0] != software[1]:
        said.append(f"{software[0]} → {software[1]}")
    return ", ".join(said) or "marked again"


def _what(before: Result, after: Result | None) -> str:
    """The marks that differ: "S' A 2 → 1"."""
    if after is None:
        return ""
    old, new = _by_code(before.marks), _by_code(after.marks)
    lines = [
        f"{key} {old.get(key, 0)} → {new.get(key, 0)}" for key in {**old, **new} if old.get(key, 0) != new.get(key, 0)
    ]
    taken = sum(n.marks for n in before.notices), sum(n.marks for n in after.notices)
    for what, (was, now) in (("taken off", taken), ("of", (before.of, after.of))):
        lines += [f"{what} {was} → {now}"] if was != now else []
    return "; ".join(lines)


def _by_code(marks: Iterable[Given]) -> dict[str, int]:
    found: dict[str, int] = {}
    for given in marks:
        key = f"{line_name(given.parts)} {given.code}"
        found[key] = found.get(key, 0) + given.given
    return found
