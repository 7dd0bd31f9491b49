"""A class of paper scripts in one table: a row a student, by exception or box by box (`by_exception`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from symattn.errors import InputError, offered
from symattn.foundation.languages import counted, listed, message
from symattn.foundation.tables import Rows, check_kind, read_table, table
from symattn.marking.grading.by_exception import BLANK, FOLLOWS, KEY, LETTERS, Doubt, Entered
from symattn.marking.grading.handed_in import Handed, another_paper
from symattn.marking.grading.roster import Entrant, Roster, folded
from symattn.marking.grading.source import Papers
from symattn.marking.grading.unpacking import File
from symattn.marking.submissions.data import ABOUT, ENTERED
from symattn.teaching.exam.class_list import columns_of, is_of_platform, of_students

HEADS = {
    "paper": ("paper", "sheet", "variant"),
    "rest": ("rest", "the rest"),
    "then": ("then",),
    "": ("number", "seat", "place", "text size", "would be", "comment", "comments", "note", "notes", "remarks"),
}
"""Columns by what they are called; those of "" are not read.  Who a row is about stands in those of a class list
(`class_list`).  The others hold statements or are named like a box."""

WHO, NOT_READ = ("name", "first", "last", "id"), "not read"
ABOUT_WHOM = (*WHO, "paper")
FREE = ("differs", "then")
"""Columns of statements about any box."""

STATEMENTS = ("differs", "differences", "exceptions", "entries", "errors", "mistakes", "wrong", "")
_HELD_BY = {
    **{heading: column or NOT_READ for column, headings in HEADS.items() for heading in headings},
    **dict.fromkeys(STATEMENTS, "differs"),
}
MOST_TOLD = 8
"""Rows or columns of which a refusal says what is wrong."""
ALL_THAT_REMAIN = "F"
ANSWERS = {"": FOLLOWS, ALL_THAT_REMAIN: FOLLOWS, **LETTERS}

Ask = Callable[["Question"], str]


@dataclass(frozen=True)
class Question:
    """What has to be asked about a row: whose it is, what was said, and which boxes are in doubt; `complaint` says what
    was wrong with the last answer."""

    who: str
    said: str
    doubt: Doubt
    complaint: str = ""


@dataclass
class _Row:
    """One line of the table: whose it is, and what it says, by columns; `number` counts from 1, with the headings.

    `open` are doubts that were not decided, and `then` is what was decided of the others.
    """

    number: int
    name: str
    id: str
    sheet: str
    told: list[tuple[str, str]]
    entrant: Entrant | None = None
    entered: Entered | None = None
    open: list[Doubt] = field(default_factory=list)
    then: list[str] = field(default_factory=list)
    complaint: str = ""

    @property
    def who(self) -> str:
        return f"{self.name} ({self.id})" if self.name and self.id else self.name or self.id or f"row {self.number}"

    @property
    def said(self) -> str:
        return "; ".join(cell if column in FREE else f"{column}={cell}" for column, cell in self.told)

    @property
    def follows(self) -> str:
        """The boxes that were taken to follow."""
        return "; ".join(line for doubt in self.open for line in doubt.follows)


@dataclass(frozen=True)
class Entries:
    """What a table gives: every row in which something is said, as handed in; what was taken for granted, a line for
    each; and the sheet in which that can be said otherwise."""

    handed: tuple[Handed, ...]
    taken: tuple[str, ...] = ()
    sheet: Path | None = None
    answered: bool = False


def read_entries(path: Path, against: Papers, decimal_mark: str = "auto", ask: Ask | None = None) -> Entries:
    """The rows of a table as what was handed in.

    A row about which something has to be asked goes to `ask`; without that, what follows is taken to stand on the
    paper.  Either way a copy of the table beside it says what was taken, to be changed and given instead of the table.
    `InputError` if the table cannot be used at all; a row that cannot is handed in with a complaint.
    """
    lines = read_table(path)
    head, rows = _headed(path, lines, against)
    _with_owners(path, rows, against)
    for row in rows:
        try:
            _read(row, "rest" in head, against, decimal_mark)
        except InputError as error:
            row.complaint = error.said
    said = [row for row in rows if row.told or row.complaint]
    if not said:
        raise InputError(f"{path} says nothing about anybody; all right, or what differs from the key, was expected.")
    asked = [row for row in said if row.entered and row.entered.doubts]
    try:
        if ask:
            _ask(asked, ask)
    finally:
        for row in asked:
            row.open = row.entered.doubts if row.entered else []
            row.then += [f"{FOLLOWS}: {' '.join(doubt.name for doubt in row.open)}"] if row.open and not ask else []
        sheet = _keep(path, lines, head, asked, answered=ask is not None) if asked else None
    taken = tuple(f"{row.who}: {row.follows}" for row in asked if row.open)
    return Entries(tuple(_handed(path, row) for row in said), taken, sheet, ask is not None)


# ------------------------------------------------------------------------------------------------ the table


def _headed(path: Path, lines: Rows, against: Papers) -> tuple[list[str], list[_Row]]:
    """The columns, by what they are or the name of their box, and the rows below; `InputError` if one is neither."""
    start = next((k for k, line in enumerate(lines) if any(line)), None)
    if start is None:
        raise InputError(f"{path} is empty; a line of headings with name or id was expected.")
    head, below = _held_by(lines[start], lines[start + 1 :]), list(enumerate(lines[start + 1 :], start + 2))
    if not {*WHO} & {*head}:
        shown = ", ".join(repr(cell) for cell in lines[start][:6])
        raise InputError(f"{path}, row {start + 1}: the headings are {shown}; one of them must be name or id.")
    boxes = [column for column in head if column not in (*ABOUT_WHOM, *HEADS, "differs", NOT_READ)]
    wrong = ((column, _no_column(column, against)) for column in boxes)
    _refuse(path, [f"column {column!r}: {why}" for column, why in wrong if why])
    head += ["differs"] * (max(map(len, lines)) - len(head))
    rows = []
    for number, line in of_students(lines[start], below):
        cells = [(column, cell) for column, cell in zip(head, line, strict=False) if cell]
        first = dict(zip(reversed(head[: len(line)]), reversed(line), strict=True))  # where a heading comes twice
        name, *apart, id, sheet = (first.get(column, "") for column in ABOUT_WHOM)
        name = name or " ".join(filter(None, apart))
        if cells:
            told = [(column, cell) for column, cell in cells if column not in (*ABOUT_WHOM, NOT_READ)]
            rows.append(_Row(number, name, id, sheet, told))
    return head, rows


def _held_by(headings: Sequence[str], below: Rows) -> list[str]:
    """What every column holds: statements, whom a row is about, nothing that is read, or a box that it is named by."""
    own = [_HELD_BY.get(" ".join(heading.casefold().split()), "") for heading in headings]
    others = ["" if column else heading for column, heading in zip(own, headings, strict=True)]
    for column, place in columns_of(others, below).items():
        own[place] = column if column in WHO else NOT_READ
    named = (NOT_READ if is_of_platform(heading) else heading for heading in headings)
    return [column or name for column, name in zip(own, named, strict=True)]


def _no_column(column: str, against: Papers) -> str:
    """Why no paper has a box of that name; "" if one has."""
    complaint = ""
    for sheet in against.papers:
        try:
            Entered(against.questions(sheet)).target(column)
        except InputError as error:
            complaint = complaint or str(error)
        else:
            return ""
    known = ["name", "id", *filter(None, _HELD_BY)]
    return f"{complaint.rstrip('.?')}; {offered(column, known, 'besides boxes there are {}')}"


def _with_owners(path: Path, rows: Sequence[_Row], against: Papers) -> None:
    """Whose each row is; `InputError` names every row of somebody who is not in the class list, or comes twice."""
    roster = Roster(against.entrants)
    seen: dict[object, int] = {}
    wrong: list[str] = []
    for row in rows:
        try:
            if not (row.id or row.name):
                continue
            if against.entrants:
                row.entrant = _entrant(row, roster, against.entrants)
                row.name, row.id = row.entrant.name, row.entrant.id
            whose: object = row.entrant or (folded(row.name), folded(row.id), folded(row.sheet))
            if seen.setdefault(whose, row.number) != row.number:
                raise InputError(f"{row.who} comes a second time; the first is row {seen[whose]}.")
        except InputError as error:
            wrong.append(f"row {row.number}: {error}")
    _refuse(path, wrong)


def _entrant(row: _Row, roster: Roster, entrants: Sequence[Entrant]) -> Entrant:
    """Whoever of the class list a row names: by the id if there is one, and the name must not be another's."""
    named = roster.with_name(row.name) if row.name else frozenset()
    found = roster.with_id(row.id) if row.id else named
    what, own = ("id", row.id) if row.id else ("name", row.name)
    if not found:
        near = offered(own, [getattr(e, what) for e in entrants], f"{len(entrants)} others are")
        raise InputError(f"the {what} {own!r} is not in the class list; {near}")
    if row.id and row.name and not found & named:
        whose = " or ".join(sorted(e.name for e in found))
        raise InputError(f"the id {row.id} is that of {whose}, and the name is {row.name}.")
    both = found & named if row.id and row.name else found
    if len(both) > 1:
        several = " or ".join(f"{e.name} ({e.id})" for e in sorted(both, key=lambda e: e.number))
        raise InputError(f"the {what} {own!r} may be that of {several}; give the id as it is in the class list.")
    return next(iter(both))


def _refuse(path: Path, wrong: Sequence[str]) -> None:
    """`InputError` with everything that is wrong, as far as it can be read in one go."""
    if wrong:
        more = f" … and {len(wrong) - MOST_TOLD} more." if len(wrong) > MOST_TOLD else ""
        raise InputError(f"{path}, {' '.join(wrong[:MOST_TOLD])}{more}")


def _read(row: _Row, has_rest: bool, against: Papers, decimal_mark: str) -> None:
    """Everything that a row says; `InputError` says in which columns what is wrong."""
    if not row.told:
        return
    if not (row.name or row.id):
        raise InputError("it has no name and no id.")
    row.sheet = against.sheet(row.sheet or (row.entrant.sheet if row.entrant else ""))
    entered = Entered(against.questions(row.sheet), decimal_mark)
    wrong = list[str]()
    for column, cell in row.told:
        try:
            if column in FREE:
                entered.say(cell)
            elif column == "rest":
                entered.rest(cell)
            else:
                entered.put(column, cell)
        except InputError as error:
            wrong.append(f"column {column}: {error}")
    if wrong:
        raise InputError(" ".join(wrong))
    if has_rest and entered.unsaid:
        raise InputError(
            f"{entered.boxes - entered.unsaid} of {entered.boxes} boxes are filled in; whether the rest is as in the "
            f"key or blank must stand in the column “rest” ({KEY} or {BLANK})."
        )
    row.entered = entered


def _handed(path: Path, row: _Row) -> Handed:
    """A row as a file that was handed in."""
    entered, doubt, notices = row.entered, "", []
    answers = entered.answers() if entered and not entered.blank else {}
    data = {"sheet": row.sheet, "name": row.name, "student": row.id, "answers": answers, ABOUT: ENTERED}
    file = File.of(f"{path.name}/row {row.number}", json.dumps(data, ensure_ascii=False).encode())
    if row.entrant and row.sheet != row.entrant.sheet and not row.complaint:
        doubt = another_paper(row.sheet, row.entrant.sheet)
    if entered and entered.misshapen:
        says = message(
            "{matrices} has a different shape: lines after it that were not entered were taken from the key.",
            matrices=listed(entered.misshapen),
        )
        notices.append(says)
    if row.open:
        says = message("What follows from the entries was assumed to be on the paper: {boxes}.", boxes=row.follows)
        notices.append(says)
    return Handed(file, row.sheet, row.name, row.id, row.entrant, row.complaint, doubt, tuple(notices), hash=file.hash)


# ------------------------------------------------------------------------------------------------ what follows


def _ask(rows: Sequence[_Row], ask: Ask) -> None:
    """Ask about every matrix in doubt, those that rest on one before after that one."""
    everything = ""
    for row in rows:
        complaint = ""
        while row.entered and (doubts := row.entered.doubts):
            doubt = doubts[0]
            answer = everything or ask(Question(row.who, row.said, doubt, complaint)).strip()
            everything = answer if answer == ALL_THAT_REMAIN else ""
            word = ANSWERS.get(answer, answer)
            statement = f"{word}: {doubt.name}" if word in (FOLLOWS, KEY, BLANK) else answer
            try:
                row.entered.say(statement)
            except InputError as error:
                complaint = str(error)
            else:
                complaint = ""
                row.then.append(statement)


def _keep(path: Path, lines: Rows, head: Sequence[str], asked: Sequence[_Row], *, answered: bool) -> Path:
    """The table once more, with what was taken or answered, and what would follow, in two more columns."""
    own = {row.number: row for row in asked}
    first = next(k for k, line in enumerate(lines) if any(line))
    wide = len(head)
    there = head.index("then") if "then" in head else wide
    would = next((j for j, cell in enumerate(lines[first]) if cell.casefold() == "would be"), max(wide, there + 1))
    made: Rows = []
    for number, line in enumerate(lines, 1):
        cells = [*line, *[""] * (max(would, there) + 1 - len(line))]
        if number == first + 1:
            cells[there], cells[would] = "then", "would be"
        elif row := own.get(number):
            cells[there] = "; ".join(filter(None, [cells[there], *row.then]))
            cells[would] = row.follows
        made.append(cells)
    stem = path.stem.removesuffix("-to-fill").removesuffix("-answered")
    return write_new(path.with_stem(f"{stem}-{'answered' if answered else 'to-fill'}"), made)


def write_new(path: Path, rows: Rows) -> Path:
    """Write a table beside what is there: under the name with a number behind it, if the name is taken by another."""
    content, number, free = table(path, rows), 1, path
    while free.exists():
        with suppress(InputError):
            if read_table(free) == [[cell.strip() for cell in row] for row in rows]:
                return free
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    try:
        with free.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise InputError(f"{free} cannot be written: {error.strerror}.") from error
    return free


# ------------------------------------------------------------------------------------------------ an empty table


def empty_table(against: Papers) -> Rows:
    """A row for everybody, or for every sheet where there is no class list; a column for every box."""
    columns: dict[str, tuple[int, ...]] = {}
    for sheet in against.papers:
        for name, order in _columns(Entered(against.questions(sheet))):
            columns[name] = min(order, columns.get(name, order))
    boxes = sorted(columns, key=lambda name: columns[name])
    entrants = against.entrants or [Entrant(0, "", "", sheet, "") for sheet in against.papers]
    seats = any(entrant.seat for entrant in entrants)
    head = ["name", "id", *["seat"] * seats, "paper", "rest", *boxes]
    rows = [[e.name, e.id, *[e.seat] * seats, e.sheet, *[""] * (1 + len(boxes))] for e in entrants]
    return [head, *rows]


def write_table(path: Path, against: Papers) -> int:
    """Write the empty table of a class, and say how many boxes it has; `InputError` if the file is there already."""
    check_kind(path)
    if path.exists():
        raise InputError(f"{path} is there already, and nothing is overwritten; give --table another name.")
    rows = empty_table(against)
    write_new(path, rows)
    return len(rows[0]) - rows[0].index("rest") - 1


def _columns(entered: Entered) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The boxes of a paper with their order."""
    for number, place in enumerate(entered.places):
        for i, j in place.boxes:
            yield entered.box(place, i, j), (place.question, number, i, j)


def in_words(entries: Entries) -> Iterator[str]:
    """What is said about a table that was read."""
    yield from (f"follows: {line}" for line in entries.taken)
    if entries.sheet and entries.answered:
        yield f"Your answers are in {entries.sheet}: with --entries {entries.sheet} nothing is asked again."
    elif entries.sheet:
        rows = counted("{n} row", "{n} rows", n=len(entries.taken))
        yield (
            f"In {rows}, later boxes were assumed to follow from what you entered. If a paper says otherwise, edit "
            f"the column “then” in {entries.sheet} (key, blank, or values), and mark again with --entries and that "
            "file."
        )
