"""The class list, and who gets which paper: no neighbours with the same one, all papers equally often."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from unicodedata import category

from symattn.errors import InputError
from symattn.foundation.dice import shuffled
from symattn.foundation.tables import read_table
from symattn.foundation.typed import Digits, Filled, Key, Matching, OneOf, Place, read
from symattn.page.presentation import TEXT_SIZES

_NUMBERED = r"(\d{1,4})\s*[-/.:,]\s*(\d{1,4})"
_LETTERED = r"([A-Za-z])\s*-?\s*(\d{1,4})"


@dataclass(frozen=True, slots=True)
class Student:
    """One line of the class list."""

    name: str = ""
    id: Filled = ""
    seat: Annotated[str, Matching(f"{_NUMBERED}|{_LETTERED}", "a row and a column such as 3-12 or C12")] = ""
    text_size: Annotated[int, Key("text size"), Digits(), OneOf(lambda: TEXT_SIZES)] = 0

    @property
    def place(self) -> tuple[int, int] | None:
        """The row and the column of the seat, where the list names it: 3-12 is (3, 12), and so is C12."""
        if found := re.fullmatch(_NUMBERED, self.seat):
            return int(found[1]), int(found[2])
        if found := re.fullmatch(_LETTERED, self.seat):
            return ord(found[1].upper()) - ord("A") + 1, int(found[2])
        return None


_COLUMNS = {
    "name": ("name", "student", "full name", "fullname", "student name", "display name", "vollständiger name",
             "nom complet", "nombre completo", "姓名"),
    "first": ("first name", "firstname", "given name", "first", "vorname", "prénom", "prenom", "nombre", "名"),
    "last": ("last name", "lastname", "surname", "family name", "last", "nachname", "familienname", "nom",
             "nom de famille", "apellido", "apellidos", "apellido(s)", "姓"),
    "id": ("sis user id", "student id", "studentid", "student number", "orgdefinedid", "sid", "matriculation",
           "matriculation number", "matrikelnummer", "matrikel-nr.", "matrikelnr", "matrikel", "id number", "id-nummer",
           "numéro d'étudiant", "numéro d'identification", "número de id", "número de identificación", "matrícula",
           "学号", "id", "number", "username", "login"),
    "seat": ("seat", "place", "platz", "sitzplatz", "place assise", "asiento", "座位"),
    "text size": ("text size", "textsize", "size", "pt"),
}  # fmt: skip
"""Headings as lists and learning platforms have them, of those that a list may have together the best one first."""

_NO_STUDENTS = re.compile(r"(?i)points possible|student, test|test, student")
"""Lines of Canvas that are nobody's."""
_ROUNDED = re.compile(r"\d(?:[.,]\d+)?E\+\d+")
"""What a spreadsheet makes of a long number."""


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
    columns = _columns(numbered[0][1], path.name)
    is_turned = numbered[0][1][columns["name"]].strip().lower() == "student" if "name" in columns else False
    students = [
        _student(line, columns, Place(path.name).at("line", k), is_turned)
        for k, line in numbered[1:]
        if not any(map(_NO_STUDENTS.fullmatch, line))
    ]
    if not students:
        raise InputError(f"The class list {path.name} names no students.")
    for what, values in (("id", [s.id for s in students]), ("seat", [s.seat for s in students if s.seat])):
        if twice := next((v for v in values if values.count(v) > 1), ""):
            raise InputError(f"In the class list {path.name}, the {what} {twice} comes twice.")
    return tuple(students)


def _columns(head: Sequence[str], where: str) -> dict[str, int]:
    """The place of every column by what it holds: of several that may hold it, that of the best heading."""
    headings = [" ".join(cell.replace("’", "'").replace("_", " ").lower().split()) for cell in head]
    found = {
        column: headings.index(best)
        for column, names in _COLUMNS.items()
        if (best := next((name for name in names if name in headings), ""))
    }
    named = found.keys() & {"name", "first", "last"}
    for needed, is_there in (("name", named), ("id", "id" in found)):
        if not is_there:
            listed = ", ".join(cell.strip() or "(empty)" for cell in head)
            raise InputError(f"The class list {where} has the columns {listed}; a column {needed} was expected.")
    return found


def _is_strange(character: str) -> bool:
    """Whether a character cannot be seen, or stands for one that could not be read."""
    return character == "\ufffd" or (category(character) in ("Cc", "Cf") and character not in "\u200c\u200d")


def _student(line: Sequence[str], columns: Mapping[str, int], place: Place, is_turned: bool) -> Student:
    """One line; where names are turned, "Lovelace, Ada" is Ada Lovelace."""
    cells = {column: " ".join(line[k].split()) if k < len(line) else "" for column, k in columns.items()}
    apart = " ".join(filter(None, (cells.pop("first", ""), cells.pop("last", ""))))
    cells["name"] = cells.get("name") or apart
    if is_turned and cells["name"].count(",") == 1:
        cells["name"] = " ".join(part.strip() for part in reversed(cells["name"].split(",")))
    cells["id"] = cells["id"].removeprefix("#")  # Brightspace
    for column, cell in cells.items():
        if strange := next(filter(_is_strange, cell), ""):
            raise place.says(f"{column} has the character U+{ord(strange):04X} in it; type it again.")
    student = read(Student, {column: cell for column, cell in cells.items() if cell}, place)
    if not student.id:
        raise place.says(f"{student.name or 'the student'} has no id.")
    if _ROUNDED.fullmatch(student.id):
        raise place.says(f"the id {student.id} was rounded by a spreadsheet; format the column as text there.")
    return student


# ------------------------------------------------------------------------------------------------ who gets what


def places(students: Sequence[Student], seats_per_row: int) -> list[tuple[int, int]]:
    """Where everybody sits: as the list says, else in its order, row by row (one long row without a length)."""
    if all(s.place for s in students):
        return [s.place for s in students if s.place]
    length = seats_per_row or len(students)
    return [divmod(k, length) for k in range(len(students))]


def assign(seats: Sequence[tuple[int, int]], papers: int, rng: random.Random) -> list[int]:
    """A paper (from 0) for every seat: never the same as a neighbour's (beside, before, behind, across a corner).

    Every paper goes out equally often, as far as seats allow, and which one to whom is random.  With fewer papers
    than would be needed, seats beside each other come first; `InputError` if not even they can differ.
    """
    found: dict[tuple[int, int], int] = {}
    used = [0] * papers
    for row, column in sorted(seats):
        beside = {found.get((row, column - 1)), found.get((row, column + 1))}
        around = beside | {found.get((row + r, column + c)) for r in (-1, 0, 1) for c in (-1, 0, 1)}
        order = shuffled(rng, range(papers))
        free = [p for p in order if p not in around] or [p for p in order if p not in beside]
        if not free:
            raise InputError(
                f"{papers} variant{'s' * (papers != 1)} cannot part all neighbours; at least 2 are needed."
            )
        chosen = min(free, key=lambda p: used[p])
        found[row, column] = chosen
        used[chosen] += 1
    return [found[seat] for seat in seats]


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
