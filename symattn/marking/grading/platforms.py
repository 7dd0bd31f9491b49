"""The grades of a class in the forms that learning platforms import.

Each platform knows its students by other columns.  They are those of the class list, as it was exported; only with a
list of names and ids is the id the platform's student number.  Whose marks are pending, and who handed nothing in, has
an empty cell, which is no grade anywhere; a 0 would be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from symattn.errors import InputError, offered
from symattn.marking.grading.record import Row
from symattn.marking.grading.source import Entrant
from symattn.teaching.exam.class_list import EMAILS, FIRST, LAST, LOGINS, NUMBERS, plain_heading, read_class
from symattn.teaching.exam.students import Listed

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
