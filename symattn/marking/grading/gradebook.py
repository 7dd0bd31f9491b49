"""The gradebook of a class: a row for everybody, as CSV, what changed since the last run, and the grades in the forms
that learning platforms import.

Each platform knows its students by other columns.  They are those of the class list, as it was exported; only with a
list of names and ids is the id the platform's student number.  Whose marks are pending, and who handed nothing in, has
an empty cell, which is no grade anywhere; a 0 would be one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path

from symattn.errors import InputError, offered
from symattn.exact import decimal_text
from symattn.foundation.languages import sentences
from symattn.foundation.tables import csv_lines
from symattn.marking.grading.record import Result, Row, counted, in_short, line_name
from symattn.marking.grading.roster import Entrant
from symattn.marking.grading.summary import summary_document
from symattn.marking.marker.policy import Terms
from symattn.page.document import Document
from symattn.teaching.exam.class_list import EMAILS, FIRST, LAST, LOGINS, NUMBERS, Listed, plain_heading, read_class
from symattn.teaching.rendering import render, shown

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
            columns = [*_columns(self.rows)]
            lines = ([cell(row) for _, cell in columns] for row in self.rows)
            return "".join(csv_lines([[head for head, _ in columns], *lines]))
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


def _columns(rows: Sequence[Row]) -> Iterator[tuple[str, Callable[[Row], object]]]:
    """The headings of the gradebook, each with what stands below it in a row."""
    yield "number", lambda row: row.number
    yield "name", lambda row: row.name
    yield "id", lambda row: row.id
    yield "paper", lambda row: row.sheet
    yield "status", lambda row: row.status
    yield "total", lambda row: _so_far(row.total, row.unread) if row.has_marks else ""
    yield "of", lambda row: row.of if row.has_marks else ""
    yield "percent", _percent
    for question, names in enumerate(_lines(rows)):
        yield f"Q{question + 1}", partial(_of_question, question)
        yield from ((f"Q{question + 1} {name}", partial(_of_line, question, line)) for line, name in names.items())
    for code in CODES:
        if any(g.code == code for row in rows for result in row.results for g in result.marks):
            yield code, partial(_of_code, code)
    yield "events", lambda row: "; ".join(_mistakes(row))
    yield "notices", lambda row: sentences(row.reason, *row.said)
    yield "file", lambda row: row.file


def _percent(row: Row) -> str:
    return decimal_text(Fraction(100 * row.total, row.of), 1) if row.has_marks and row.of and not row.unread else ""


def _of_question(question: int, row: Row) -> int | str:
    return next((_so_far(one.total, bool(one.pending)) for one in row.results[question : question + 1]), "")


def _of_line(question: int, line: str, row: Row) -> int | str:
    own = (result for result in row.results[question : question + 1] if line in result.points)
    return next((_so_far(result.points[line][0], line in result.pending) for result in own), "")


def _of_code(code: str, row: Row) -> int | str:
    marks = [g for result in row.results for g in result.marks if g.code == code]
    return _so_far(sum(g.given for g in marks), any(g.pending for g in marks)) if row.results else ""


def _so_far(given: int, pending: bool) -> int | str:
    """Marks; "12+?" while others are pending, which no spreadsheet takes for a number."""
    return (f"{given}+?" if given else "?") if pending else given


def _lines(rows: Sequence[Row]) -> list[dict[str, str]]:
    """The lines of the scheme of every question, in the order of the question's parts, with what they are called."""
    lines: list[dict[str, str]] = [{} for _ in range(max((len(row.results) for row in rows), default=0))]
    for row in rows:
        for known, result in zip(lines, row.results, strict=False):
            for line in result.points:
                if line not in known:
                    name = ", ".join(" ".join(filter(None, part)) for part in result.called(line))
                    known[line] = f"{name} ({line})" if name in known.values() else name
    return lines


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
    old, new = terms
    said += [says for name, says in OF_TERMS.items() if getattr(old, name) != getattr(new, name)]
    if software[0] != software[1]:
        said.append(f"{software[0]} → {software[1]}")
    return ", ".join(said) or "marked again"


OF_TERMS = {"policy": "another policy", "own": "another scheme", "decimal_mark": "another decimal mark"}


def _what(before: Result, after: Result | None) -> str:
    """The marks that differ: "S' A 2 → 1"."""
    if after is None:
        return ""
    old, new = _by_code(before), _by_code(after)
    lines = dict.fromkeys([*old, *new, "taken off", "of"])
    for found, result in ((old, before), (new, after)):
        found.update({"taken off": sum(notice.marks for notice in result.notices), "of": result.of})
    return "; ".join(f"{line} {old[line]} → {new[line]}" for line in lines if old[line] != new[line])


def _by_code(result: Result) -> Counter[str]:
    found = Counter[str]()
    for given in result.marks:
        found[f"{line_name(given.parts)} {given.code}"] += given.given
    return found


PLAIN = "plain"
"""The gradebook that is always written: `gradebook.csv`, with every line of the scheme."""

Table = list[list[str]]
Column = tuple[str, Callable[["Grade"], str]]


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


def platform_table(name: str, title: str, grades: Sequence[Grade], of: int) -> Table:
    """The table that a platform imports, for an exam of `of` marks; `InputError` if there is no such platform, or if
    the class list does not say by what the platform knows a student.
    """
    check_platforms([name])
    columns, (what, known_by) = PLATFORMS[name](title, grades, of), KNOWN_BY[name]
    if lost := next((grade for grade in grades if not any(cell(grade) for cell in known_by)), None):
        raise InputError(
            f"The gradebook for {name} needs {what} of every student, and {lost.name or lost.id} has none; give the "
            "class list as the platform exports it with --class."
        )
    points = [["    Points Possible", *[""] * (len(columns) - 2), str(of)]] if name == "canvas" else []
    return [[head for head, _ in columns], *points, *([cell(grade) for _, cell in columns] for grade in grades)]


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


def _used(grades: Sequence[Grade], *columns: Column) -> list[Column]:
    """The columns in which something stands."""
    return [(head, cell) for head, cell in columns if any(map(cell, grades))]


def _number(grade: Grade) -> str:
    return grade.number


def _email(grade: Grade) -> str:
    return grade.cell(*EMAILS)


def _login(grade: Grade) -> str:
    return grade.cell(*LOGINS)


def _first(grade: Grade) -> str:
    return grade.names[0] if grade.names else ""


def _last(grade: Grade) -> str:
    return grade.names[1] if grade.names else ""


def _score(grade: Grade) -> str:
    return "" if grade.marks is None else str(grade.marks)


def _moodle(title: str, grades: Sequence[Grade], of: int) -> list[Column]:
    """Moodle, import from CSV file: whoever imports says which column identifies users (ID number, email address or
    username) and which grade item the last one is; an empty cell is no grade.

    Source: docs.moodle.org, "Grade import"; grade/import/csv in Moodle's own source.
    """
    names: list[Column] = [("First name", _first), ("Last name", _last)]
    ids: list[Column] = [("ID number", _number), ("Email address", _email), ("Username", _login)]
    return [*_used(grades, *names, *ids), (title, _score)]


_CANVAS = ("student", "lastname", "firstname", "id", "sis user id", "sis login id", "integration id", "root account",
           "section")  # fmt: skip


def _canvas(title: str, grades: Sequence[Grade], of: int) -> list[Column]:
    """Canvas, gradebook import: the columns about students as its export has them, then the assignment; a line says
    the points possible.  Canvas finds a student by its own ID, else by the SIS ids.

    Source: community.canvaslms.com, "How do I import grades in the Gradebook?"; lib/gradebook_importer.rb in Canvas's
    own source, which wants Student and ID in front and Section last.
    """
    own = next((grade.headings for grade in grades if {"id", "section"} <= grade.headings.keys()), {})
    if own.keys() & {"student", "lastname"}:
        kept: list[Column] = [
            (head, lambda grade, name=name: grade.cells.get(name, ""))  # type: ignore[misc]
            for name, head in own.items()
            if name in _CANVAS
        ]
        return [*kept, (title, _score)]
    return [
        ("Student", lambda grade: ", ".join(reversed(grade.names)) if grade.names else grade.name),  # Lovelace, Ada
        ("ID", lambda grade: ""),
        ("SIS User ID", _number),
        ("SIS Login ID", _login),
        ("Section", lambda grade: ""),
        (title, _score),
    ]


def _gradescope(title: str, grades: Sequence[Grade], of: int) -> list[Column]:
    """Gradescope: a roster with scores, under the headings of its own export of grades.

    Source: guides.gradescope.com, "Adding Students and Staff" (names in one column or in two, email, sections) and
    "Reviewing grades and exporting".
    """
    names: list[Column] = [("First Name", _first), ("Last Name", _last)]
    return [
        *(names if all(grade.names for grade in grades) else [("Name", lambda grade: grade.name)]),
        ("SID", _number),
        *_used(grades, ("Email", _email), ("Sections", lambda grade: grade.cell("sections", "section"))),
        ("Total Score", _score),
        ("Max Points", lambda grade: str(of)),
        ("Status", _status),
    ]


def _status(grade: Grade) -> str:
    """As Gradescope says it."""
    return "Graded" if grade.marks is not None else "Missing" if grade.status == "missing" else "Ungraded"


_NOT_IN_BRIGHTSPACE = re.compile(r'[/"*<>+=|,%]')
"""What the name of a grade item cannot have in it."""


def _brightspace(title: str, grades: Sequence[Grade], of: int) -> list[Column]:
    """Brightspace, import grades: OrgDefinedId or Username or both, the item's name with its kind, and a column that
    ends the line.

    Source: community.d2l.com, "Importing grades", and its sample file; the suffix is that of its exports.
    """
    item = " ".join(_NOT_IN_BRIGHTSPACE.sub(" ", title).split())
    return [
        *_used(grades, ("OrgDefinedId", _number), ("Username", _login)),
        (f"{item} Points Grade <Numeric MaxPoints:{of}>", _score),
        ("End-of-Line Indicator", lambda grade: "#"),
    ]


PLATFORMS: Mapping[str, Callable[[str, Sequence[Grade], int], list[Column]]] = {
    "moodle": _moodle,
    "canvas": _canvas,
    "gradescope": _gradescope,
    "brightspace": _brightspace,
}
KNOWN_BY: Mapping[str, tuple[str, Sequence[Callable[[Grade], str]]]] = {
    "moodle": ("an ID number, email address or username", (_number, _email, _login)),
    "canvas": ("an ID or SIS id", (_number, lambda grade: grade.cell("id", *LOGINS))),
    "gradescope": ("an SID or an email address", (_number, _email)),
    "brightspace": ("an OrgDefinedId or a username", (_number, _login)),
}
"""By what a platform knows a student, in words and as cells."""
