"""The gradebook of a class: a row for everybody, as CSV, what changed since the last run, and the grades in the forms
that learning platforms import.

Each platform knows its students by other columns.  They are those of the class list, as it was exported; only with a
list of names and ids is the id the platform's student number.  Whose marks are pending, and who handed nothing in, has
an empty cell, which is no grade anywhere; a 0 would be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path

from symattn.errors import InputError, offered
from symattn.exact import decimal_text
from symattn.foundation.tables import csv_lines
from symattn.marking.grading.record import Result, Row, Terms, counted, in_short, line_name
from symattn.marking.grading.source import Entrant
from symattn.marking.grading.summary import summary_document
from symattn.marking.marker.report import Given
from symattn.page.document import Document
from symattn.teaching.exam.class_list import EMAILS, FIRST, LAST, LOGINS, NUMBERS, Listed, plain_heading, read_class
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


PLAIN = "plain"
"""The gradebook that is always written: `gradebook.csv`, with every line of the scheme."""

Table = list[list[str]]


@dataclass(frozen=True)
class Grade:
    """A student's marks, None where they are not final, and the cells of the class list by `plain_heading`.

    `status` is that of the row; `headings` are those cells' as they stand in the list.
    """

    name: str
    id: str
    marks: int | None
    status: str
    cells: Mapping[str, str]
    headings: Mapping[str, str]

    def cell(self, *headings: str) -> str:
        """The first of these cells in which something stands."""
        return next((self.cells[h] for h in headings if self.cells.get(h)), "")

    @property
    def number(self) -> str:
        """The student number: of a list of names and ids, the id."""
        return self.cell(*NUMBERS) if self.cells else self.id

    @property
    def names(self) -> tuple[str, str] | None:
        """First and last name, where the class list has them apart; a name in one column is not guessed at."""
        first, last = self.cell(*FIRST), self.cell(*LAST)
        turned = self.cell("student").split(",")  # Canvas
        if not (first or last) and len(turned) == 2:
            last, first = (part.strip() for part in turned)
        return (first, last) if first or last else None

    @property
    def score(self) -> str:
        return "" if self.marks is None else str(self.marks)


def platform_table(name: str, title: str, grades: Sequence[Grade], of: int) -> Table:
    """The table that a platform imports, for an exam of `of` marks; `InputError` if there is no such platform, or if
    the class list does not say by what the platform knows a student.
    """
    check_platforms([name])
    return PLATFORMS[name](title, grades, of)


def check_platforms(names: Sequence[str]) -> tuple[str, ...]:
    """The platforms of these names, each once; `InputError` if there is no such one."""
    for name in names:
        if name not in (PLAIN, *PLATFORMS):
            raise InputError(f"There is no gradebook {name!r}; {offered(name, (PLAIN, *PLATFORMS))}")
    return tuple(name for name in dict.fromkeys(names) if name != PLAIN)


def grades(rows: Sequence[Row], listed: Mapping[int, Listed]) -> list[Grade]:
    """The grades of everybody in the class list, in its order; without one, of everybody who has a name or an id.

    `listed` are the cells of the class list, by the numbers of its rows.
    """
    in_list = any(row.number is not None for row in rows)
    return [
        _grade(row, listed.get(row.number or 0, ()))
        for row in rows
        if (row.number is not None if in_list else row.id or row.name)
    ]


def _grade(row: Row, listed: Listed) -> Grade:
    is_final = row.status == "marked" and row.has_marks and not row.unread
    cells = {plain_heading(heading): cell for heading, cell in reversed(listed)}
    headings = {plain_heading(heading): heading for heading, _ in listed}
    return Grade(row.name, row.id, row.total if is_final else None, row.status, cells, headings)


def listed_in(path: Path, entrants: Sequence[Entrant]) -> dict[int, Listed]:
    """The cells of another class list for everybody in an exam's, by the id; `InputError` if they share nobody."""
    known = {student.id: student.listed for student in read_class(path)}
    if entrants and not any(entrant.id in known for entrant in entrants):
        raise InputError(f"The class list {path.name} has nobody's id of this exam; {entrants[0].id} was expected.")
    return {entrant.number: known.get(entrant.id, entrant.listed) for entrant in entrants}


# ------------------------------------------------------------------------------------------------ the platforms


def _moodle(title: str, grades: Sequence[Grade], of: int) -> Table:
    """Moodle, import from CSV file: whoever imports says which column identifies users (ID number, email address or
    username) and which grade item the last one is; an empty cell is no grade.

    Source: docs.moodle.org, "Grade import"; grade/import/csv in Moodle's own source.
    """
    columns: list[tuple[str, Callable[[Grade], str]]] = [
        ("First name", lambda grade: (grade.names or ("", ""))[0]),
        ("Last name", lambda grade: (grade.names or ("", ""))[1]),
        ("ID number", lambda grade: grade.number),
        ("Email address", lambda grade: grade.cell(*EMAILS)),
        ("Username", lambda grade: grade.cell(*LOGINS)),
    ]
    used = [(head, of_grade) for head, of_grade in columns if any(map(of_grade, grades))]
    _require("moodle", grades, [of_grade for head, of_grade in columns[2:]], "an ID number, email address or username")
    lines = [[*(of_grade(grade) for _, of_grade in used), grade.score] for grade in grades]
    return [[*(head for head, _ in used), title], *lines]


_CANVAS = ("student", "lastname", "firstname", "id", "sis user id", "sis login id", "integration id", "root account",
           "section")  # fmt: skip
_CANVAS_PLAIN = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def _canvas(title: str, grades: Sequence[Grade], of: int) -> Table:
    """Canvas, gradebook import: the columns about students as its export has them, then the assignment; a line says
    the points possible.  Canvas finds a student by its own ID, else by the SIS ids.

    Source: community.canvaslms.com, "How do I import grades in the Gradebook?"; lib/gradebook_importer.rb in Canvas's
    own source, which wants Student and ID in front and Section last.
    """
    own = next((grade.headings for grade in grades if {"id", "section"} <= grade.headings.keys()), None)
    if own is not None and own.keys() & {"student", "lastname"}:
        heads = [heading for heading in own if heading in _CANVAS]
        shown = [own[heading] for heading in heads]
        lines = [[grade.cells.get(heading, "") for heading in heads] for grade in grades]
    else:
        shown = list(_CANVAS_PLAIN)
        lines = [[_turned(grade), "", grade.number, grade.cell(*LOGINS), ""] for grade in grades]
    _require("canvas", grades, [lambda grade: grade.number or grade.cell("id", *LOGINS)], "an ID or SIS id")
    possible = ["    Points Possible", *[""] * (len(shown) - 1), str(of)]
    scores = [[*line, grade.score] for line, grade in zip(lines, grades, strict=True)]
    return [[*shown, title], possible, *scores]


def _turned(grade: Grade) -> str:
    """Lovelace, Ada."""
    return ", ".join(reversed(grade.names)) if grade.names else grade.name


def _gradescope(title: str, grades: Sequence[Grade], of: int) -> Table:
    """Gradescope: a roster with scores, under the headings of its own export of grades.

    Source: guides.gradescope.com, "Adding Students and Staff" (names in one column or in two, email, sections) and
    "Reviewing grades and exporting".
    """
    names = ["First Name", "Last Name"] if all(grade.names for grade in grades) else ["Name"]
    mail = ["Email"] * any(grade.cell(*EMAILS) for grade in grades)
    section = ["Sections"] * any(grade.cell("sections", "section") for grade in grades)
    _require("gradescope", grades, [lambda g: g.number, lambda g: g.cell(*EMAILS)], "an SID or an email address")
    return [
        [*names, "SID", *mail, *section, "Total Score", "Max Points", "Status"],
        *(
            [
                *(grade.names or () if len(names) == 2 else [grade.name]),
                grade.number,
                *[grade.cell(*EMAILS)] * len(mail),
                *[grade.cell("sections", "section")] * len(section),
                grade.score,
                str(of),
                _GRADESCOPE.get(grade.status, "Ungraded") if grade.marks is None else "Graded",
            ]
            for grade in grades
        ),
    ]


_GRADESCOPE = {"missing": "Missing"}
_NOT_IN_BRIGHTSPACE = re.compile(r'[/"*<>+=|,%]')
"""What the name of a grade item cannot have in it."""


def _brightspace(title: str, grades: Sequence[Grade], of: int) -> Table:
    """Brightspace, import grades: OrgDefinedId or Username or both, the item's name with its kind, and a column that
    ends the line.

    Source: community.d2l.com, "Importing grades", and its sample file; the suffix is that of its exports.
    """
    item = " ".join(_NOT_IN_BRIGHTSPACE.sub(" ", title).split())
    columns: list[tuple[str, Callable[[Grade], str]]] = [
        ("OrgDefinedId", lambda grade: grade.number),
        ("Username", lambda grade: grade.cell(*LOGINS)),
    ]
    used = [(head, of_grade) for head, of_grade in columns if any(map(of_grade, grades))]
    _require("brightspace", grades, [of_grade for _, of_grade in columns], "an OrgDefinedId or a username")
    return [
        [*(head for head, _ in used), f"{item} Points Grade <Numeric MaxPoints:{of}>", "End-of-Line Indicator"],
        *([*(of_grade(grade) for _, of_grade in used), grade.score, "#"] for grade in grades),
    ]


def _require(name: str, grades: Sequence[Grade], known_by: Sequence[Callable[[Grade], str]], what: str) -> None:
    """`InputError` that names the first student of whom the platform would know nothing."""
    if lost := next((grade for grade in grades if not any(of_grade(grade) for of_grade in known_by)), None):
        raise InputError(
            f"The gradebook for {name} needs {what} of every student, and {lost.name or lost.id} has none; give the "
            "class list as the platform exports it with --class."
        )


PLATFORMS: Mapping[str, Callable[[str, Sequence[Grade], int], Table]] = {
    "moodle": _moodle,
    "canvas": _canvas,
    "gradescope": _gradescope,
    "brightspace": _brightspace,
}
