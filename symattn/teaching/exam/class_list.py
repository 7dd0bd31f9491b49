"""The class: its list, as learning platforms export it and as spreadsheets save it, read right or refused in a
sentence; and who gets which paper: no neighbours with the same one, all papers equally often.

Headings may be in any of the languages.  What a program has spoilt is told with its line; no name is ever guessed at.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Annotated
from unicodedata import category

from symattn.errors import InputError
from symattn.foundation.dice import shuffled
from symattn.foundation.languages.words import any_of, words_for
from symattn.foundation.tables import read_table
from symattn.foundation.typed import Absent, Digits, Filled, Key, Matching, OneOf, Place, read
from symattn.page.presentation import TEXT_SIZES

_LOG = logging.getLogger("symattn")

_NUMBERED = r"(\d{1,4})\s*[-/.:,]\s*(\d{1,4})"
_LETTERED = r"([A-Za-z])\s*-?\s*(\d{1,4})"


Listed = tuple[tuple[str, str], ...]
"""Cells of a class list, each behind its heading."""


@dataclass(frozen=True, slots=True)
class Student:
    """One line of the class list; `listed` are the cells by which a learning platform knows the student, by their
    headings, where these are more than a name and an id.
    """

    name: str = ""
    id: Filled = ""
    seat: Annotated[str, Matching(f"{_NUMBERED}|{_LETTERED}", "a row and a column such as 3-12 or C12")] = ""
    text_size: Annotated[int, Key("text size"), Digits(), OneOf(lambda: TEXT_SIZES)] = 0
    listed: Annotated[Listed, Absent()] = ()

    @property
    def place(self) -> tuple[int, int] | None:
        """The row and the column of the seat, where the list names it: 3-12 is (3, 12), and so is C12."""
        if match := re.fullmatch(_NUMBERED, self.seat):
            return int(match[1]), int(match[2])
        if match := re.fullmatch(_LETTERED, self.seat):
            return ord(match[1].upper()) - ord("A") + 1, int(match[2])
        return None


EMAILS = words_for("email|email address|e-mail|e-mail address|mail")
LOGINS = words_for("username|user name|login|sis login id")
NUMBERS = words_for(
    "sis user id|student id|studentid|student number|orgdefinedid|sid|matriculation|matriculation number|id number"
    "|idnumber|institutional identifier|user unique id|unique user id"
) + words_for("id|number")
FIRST = words_for("first name|firstname|given name|first")
LAST = words_for("last name|lastname|surname|family name|last")
_COLUMNS = {
    "name": words_for("name|student|full name|fullname|student name|display name"),
    "first": FIRST,
    "last": LAST,
    "id": (*NUMBERS, *LOGINS, *EMAILS),
    "seat": words_for("seat|place"),
    "text size": words_for("text size|textsize|size|pt"),
}
"""Headings as lists and learning platforms have them, of those that a list may have together the best one first."""

_LISTED = {
    *(heading for column in ("name", "first", "last", "id") for heading in _COLUMNS[column]),
    *("integration id", "root account", "section", "sections"),
}
"""Headings of what a platform knows students by, which its gradebook wants back."""

MOST_SHORT = 4
"""One in this many numbers may have lost zeros: chance gives one in ten; where more are short, lengths differ."""

_ROLES = words_for("role|roles|status")
_STAFF = re.compile(rf"(?i)\b(?:ta|reader)\b|{any_of('admin|instructor|teacher|lecturer|tutor')}")
_LEARNER = re.compile(f"(?i){any_of('student|learner|member')}")
_NO_STUDENTS = re.compile(r"(?i)points possible|student, test|test, student")
"""Cells of lines of Canvas that are no student's."""
_NOTES = re.compile(r"(?i)muted|manual posting.*|\(read only\)")
"""Cells of a line of Canvas about its assignments."""


def read_class(path: Path) -> tuple[Student, ...]:
    """The students of a table (CSV or .xlsx): a line of headings, at least a name and an id, then one line each.

    Headings may be those of a learning platform, in any of the languages; the name may stand in two columns.  A seat is
    a row and a column: 3-12, or C12.
    """
    if not path.is_file():
        raise InputError(f"There is no class list {path.name} beside the exam file.")
    try:
        lines = read_table(path, strict=True)
    except InputError as error:
        raise InputError(f"The class list {path.name}: {str(error).removeprefix(f'{path}: ')}") from error
    numbered = [(k, line) for k, line in enumerate(lines, 1) if any(line)]
    if not numbered:
        raise InputError(f"The class list {path.name} is empty; a line of headings with name and id was expected.")
    head = numbered[0][1]
    people = of_students(head, numbered[1:])
    _check_width(head, people, path.name)
    columns = _columns(head, [line for _, line in people], path.name)
    is_turned = head[columns["name"]].strip().lower() == "student" if "name" in columns else False
    students = [_student(line, columns, Place(path.name).at("line", k), is_turned) for k, line in people]
    if not students:
        raise InputError(f"The class list {path.name} names no students.")
    nameless = [k for (k, _), student in zip(people, students, strict=True) if not student.name]
    if 0 < len(nameless) < len(students):
        raise Place(path.name).at("line", nameless[0]).says("there is an id and no name.")
    for what, values in (("id", [s.id for s in students]), ("seat", [s.seat for s in students if s.seat])):
        if twice := next((v for v in values if values.count(v) > 1), ""):
            raise InputError(f"In the class list {path.name}, the {what} {twice} comes twice.")
    listed = [_listed(head, line) for _, line in people]
    if all(len(cells) == len({*columns} & {"name", "id"}) for cells in listed):
        return tuple(students)
    return tuple(replace(student, listed=cells) for student, cells in zip(students, listed, strict=True))


def tell_of_lost_zeros(where: str, students: Iterable[Student]) -> None:
    """A warning in the log of symattn where a spreadsheet may have dropped zeros in front of numbers."""
    if short := _short_of_zeros([student.id for student in students]):
        _LOG.warning(
            "The class list %s has ids with fewer digits than the others: %s. If a spreadsheet dropped zeros in front "
            "of them, format the column as text there.", where, ", ".join(short),
        )  # fmt: skip


def _short_of_zeros(ids: Sequence[str]) -> list[str]:
    """Numbers shorter than nearly all others, none of which is longer or begins with a zero.

    >>> _short_of_zeros(["104512", "87121", "220981", "310442"]), _short_of_zeros(["104512", "087121", "22098"])
    (['87121'], [])
    """
    longest = max(map(len, ids), default=0)
    short = [one for one in ids if len(one) < longest]
    numbers = all(one.isdecimal() and not one.startswith("0") for one in ids)
    return short if numbers and len(ids) >= MOST_SHORT * len(short) else []


def plain_heading(heading: str) -> str:
    """A heading as it is compared.

    >>> plain_heading(" First_Name ")
    'first name'
    """
    return " ".join(heading.replace("’", "'").replace("_", " ").lower().split())


def _listed(head: Sequence[str], line: Sequence[str]) -> Listed:
    """What a platform knows a student by: the cells under known headings, as they stand there."""
    cells = zip(head, (*line, *[""] * (len(head) - len(line))), strict=False)
    return tuple((heading.strip(), cell) for heading, cell in cells if plain_heading(heading) in _LISTED)


def is_of_platform(heading: str) -> bool:
    """Whether a platform has such a column in its lists, to know students by."""
    return plain_heading(heading) in _LISTED


def columns_of(head: Sequence[str], lines: Sequence[Sequence[str]]) -> dict[str, int]:
    """The place of every column by what it holds, "name", "first", "last", "id", "seat", "text size": of several that
    may hold it, that of the best heading below which something stands.
    """
    headings = [plain_heading(cell) for cell in head]
    columns: dict[str, int] = {}
    for column, names in _COLUMNS.items():
        places = [headings.index(name) for name in names if name in headings]
        filled = (k for k in places if any(k < len(line) and line[k].strip() for line in lines))
        if places:
            columns[column] = next(filled, places[0])
    return columns


def _columns(head: Sequence[str], lines: Sequence[Sequence[str]], where: str) -> dict[str, int]:
    """The same of a class list; `InputError` if two are headed alike, or there is no name or no id."""
    headings = [plain_heading(cell) for cell in head]
    known = [name for names in _COLUMNS.values() for name in names if headings.count(name) > 1]
    if known:
        raise InputError(f"The class list {where} has two columns {known[0]}; leave one of them out.")
    columns = columns_of(head, lines)
    named = columns.keys() & {"name", "first", "last"}
    for needed, is_there in (("name", named), ("id", "id" in columns)):
        if not is_there:
            listed = ", ".join(cell.strip() or "(empty)" for cell in head)
            raise InputError(f"The class list {where} has the columns {listed}; a column {needed} was expected.")
    return columns


def of_students(head: Sequence[str], lines: Sequence[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The lines without those of a platform's own and of people whose role in the course is that of staff."""
    roles = [k for k, heading in enumerate(head) if plain_heading(heading) in _ROLES]

    def is_of_student(line: Sequence[str]) -> bool:
        if any(map(_NO_STUDENTS.fullmatch, (*line, ", ".join(line[:2])))):
            return False
        role = " ".join(line[k] for k in roles if k < len(line))
        is_staff = bool(_STAFF.search(role)) and not _LEARNER.search(role)
        return not is_staff and not all(_NOTES.fullmatch(cell) for cell in line if cell)

    return [(k, line) for k, line in lines if is_of_student(line)]


def _check_width(head: Sequence[str], lines: Sequence[tuple[int, list[str]]], where: str) -> None:
    """`InputError` where a line has a cell too many, by a comma in a name without quotation marks, that moves the rest;
    or where the last one alone ends early, as that of a file that was cut off.
    """
    widths = [len(line) for _, line in lines]
    for k, line in lines:
        if len(line) > len(head) and (len({*widths}) > 1 or any(line[len(head) :])):
            told = (
                f"there are {len(line)} cells below {len(head)} headings; put a cell with a comma in quotation marks."
            )
            raise Place(where).at("line", k).says(told)
    if len(lines) > 2 and len({*widths[:-1]}) == 1 and widths[-1] < widths[0]:
        told = f"it has {widths[-1]} of the {widths[0]} cells that all others have; the list may have been cut off."
        raise Place(where).at("line", lines[-1][0]).says(told)


# ------------------------------------------------------------------------------------------------ one student


_SPOILT = (
    ("id", re.compile(r"\d(?:[.,]\d+)?E\+\d+"), "was rounded by a spreadsheet; format the column as text there"),
    ("id", re.compile(r"\d+[.,]0+"), "was made a decimal by a program; format the column as text there"),
    ("id", re.compile(r"(?:REF|VALUE|NUM|NULL|DIV/0)!|N/A|NAME\?"), "is an error of a spreadsheet; type it again"),
    (
        "name",
        re.compile(r"#(?:(?:REF|VALUE|NUM|NULL|DIV/0)!|N/A|NAME\?)"),
        "is an error of a spreadsheet; type it again",
    ),
    (
        "name",
        re.compile(r"[\d\s.,/#-]*\d[\d\s.,/#-]*"),
        "is a number; compare the columns of this line with the headings",
    ),
    ("name", re.compile(r"\S+@\S+\.\S+"), "is an email address; compare the columns of this line with the headings"),
)
"""What no id and no name is, and what to do about it."""

_DIRECTIONS = "\u200c\u200d\u200e\u200f\u061c"
"""Signs of direction and of joining, which names have in scripts that need them; none of them turns other text."""

_BROKEN = re.compile(r"(?<=[^\W\d_])[ˆ˜“”„†‡•…‰‹›™¡¢£¤¥¦§¨©«¬®¯°±²³´¶¸¹»¼½¾¿](?=[^\W\d_])")
"""Signs between two letters, as they stand where text in another encoding was read as Windows-1252."""


def _is_strange(character: str, column: str) -> bool:
    """Whether a character could not be read, cannot be seen, or turns the text behind it round."""
    kept = character in "\n\r\t" or (column == "name" and character in _DIRECTIONS)
    return character == "\ufffd" or (category(character) in ("Cc", "Cf", "Co", "Zl", "Zp") and not kept)


def _was_misread(name: str) -> bool:
    """Whether a name is UTF-8 that some program read as Windows-1252: BjÃ¶rck; or has a sign between its letters.

    >>> _was_misread("BjÃ¶rck"), _was_misread("Bj„rck"), _was_misread("Björck"), _was_misread("O’Brien")
    (True, True, False, False)
    """
    if name.isascii():
        return False
    try:
        return name.encode("cp1252").decode("utf-8") != name
    except UnicodeError:
        return bool(_BROKEN.search(name))


def _student(line: Sequence[str], columns: Mapping[str, int], place: Place, is_turned: bool) -> Student:
    """One line; where names are turned, "Lovelace, Ada" is Ada Lovelace."""
    raw = {column: line[k] if k < len(line) else "" for column, k in columns.items()}
    cells = {column: " ".join(cell.split()) for column, cell in raw.items()}
    cells["id"] = cells["id"].lstrip("#")  # Brightspace
    for column, cell in cells.items():
        kind = "name" if column in ("first", "last") else column
        if strange := next((c for c in raw[column] if _is_strange(c, kind)), ""):
            raise place.says(f"{kind} has the character U+{ord(strange):04X} in it; type it again.")
        for of, pattern, told in _SPOILT:
            if of == kind and pattern.fullmatch(cell):
                raise place.says(f"the {kind} {cell} {told}.")
        if kind == "name" and _was_misread(cell):
            raise place.says(f"the name {cell} was read in another encoding than it has; save the list as UTF-8 (CSV).")
    apart = " ".join(filter(None, (cells.pop("first", ""), cells.pop("last", ""))))
    cells["name"] = cells.get("name") or apart
    if is_turned and cells["name"].count(",") == 1:
        cells["name"] = " ".join(part.strip() for part in reversed(cells["name"].split(",")))
    student = read(Student, {column: cell for column, cell in cells.items() if cell}, place)
    if not student.id:
        raise place.says(f"{student.name or 'the student'} has no id.")
    return student


# ------------------------------------------------------------------------------------------------ who gets what


def places(students: Sequence[Student], seats_per_row: int) -> list[tuple[int, int]]:
    """Where everybody sits: as the list says, else in its order, row by row (one long row without a length)."""
    if all(s.place for s in students):
        return [s.place for s in students if s.place]
    length = seats_per_row or len(students)
    return [divmod(k, length) for k in range(len(students))]


def assign(seats: Sequence[tuple[int, int]], papers: int, rng: Random) -> list[int]:
    """A paper (from 0) for every seat: never the same as a neighbour's (beside, before, behind, across a corner).

    Every paper goes out equally often, as far as seats allow, and which one to whom is random.  With fewer papers
    than would be needed, seats beside each other come first; `InputError` if not even they can differ.
    """
    paper_of: dict[tuple[int, int], int] = {}
    used = [0] * papers
    for row, column in sorted(seats):
        beside = {paper_of.get((row, column - 1)), paper_of.get((row, column + 1))}
        around = beside | {paper_of.get((row + r, column + c)) for r in (-1, 0, 1) for c in (-1, 0, 1)}
        order = shuffled(rng, range(papers))
        free = [p for p in order if p not in around] or [p for p in order if p not in beside]
        if not free:
            raise InputError(
                f"{papers} variant{'s' * (papers != 1)} cannot part all neighbours; at least 2 are needed."
            )
        chosen = min(free, key=lambda p: used[p])
        paper_of[row, column] = chosen
        used[chosen] += 1
    return [paper_of[seat] for seat in seats]


def neighbours(seats: Sequence[tuple[int, int]], given: Sequence[int]) -> int:
    """How many pairs of neighbours have the same paper."""
    at = dict(zip(seats, given, strict=True))
    steps = ((0, 1), (1, -1), (1, 0), (1, 1))
    return sum(at[r, c] == at.get((r + dr, c + dc)) for r, c in at for dr, dc in steps)


def balanced(loads: Sequence[Sequence[float]]) -> list[list[int]]:
    """Papers of one variant of every question each, so that their totals are as near to one another as can be.

    `loads[q][v]` is the load of variant v of question q; the result's paper p has variant `result[p][q]`.  Heavy
    variants of one question go with light ones of the next (Sud, West and Zilles 2019 choose jointly, too).
    """
    papers = [[v] for v in range(len(loads[0]))]
    totals = list(loads[0])
    for load in loads[1:]:
        heavy = sorted(range(len(totals)), key=lambda p: (-totals[p], p))
        light = sorted(range(len(load)), key=lambda v: (load[v], v))
        for p, v in zip(heavy, light, strict=True):
            papers[p].append(v)
            totals[p] += load[v]
    return papers
