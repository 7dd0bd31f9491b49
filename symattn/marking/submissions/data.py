"""Answers in TOML, JSON and CSV.

sheet = "X6A9-X3ZM"                      {"sheet": "X6A9-X3ZM",            part,row,column,answer
name = "Ada"                              "answers": {                     Q,1,1,1
[answers]                                   "Q": [[1, "1/2"]],             Q,1,2,1/2
Q = [[1, "1/2"], [0, 2]]                    "b": ["A", "C"]}}              b,,,A C
b = ["A", "C"]
[answers.q2]                  (of an exam with several questions)
S = "1/7 * [[1, 2], [3, 4]]"
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Any

from symattn.errors import InputError
from symattn.foundation.files import toml
from symattn.foundation.languages import message
from symattn.marking.submissions import labels
from symattn.marking.submissions.alphabet import plain_signs
from symattn.marking.submissions.answers import Raw, RawText, Several
from symattn.marking.submissions.entries import entry
from symattn.marking.submissions.tables import Cells
from symattn.marking.submissions.written import Paper, Written
from symattn.teaching.question import ChoiceAnswer, PropertyAnswer, Question, RubricAnswer

HEAD = {"sheet": "sheet", "paper": "sheet", "name": "name", "student": "student", "id": "student",
        "student id": "student", "student_id": "student"}  # fmt: skip
MOST_VALUES = 20_000
"""Numbers and texts in one file, nested at most as deep as `DEEPEST`."""
DEEPEST = 8
MOST_ROWS = 64
"""Rows and columns by whose numbers an entry may be called."""
MOST_MEANT = 100
"""Remarks up to which the part is looked for that an unknown name may mean."""


class TooMuchError(InputError):
    """More than any sheet has: nothing else is made of the file."""


@cache
def _head() -> Mapping[str, str]:
    """What names the sheet and the student, in every language."""
    shown = {label.casefold(): field for label, field in labels.fields().items()}
    return {**labels.in_every_language(HEAD), **shown, **HEAD}


_NUMBER = re.compile(r"(?i)(?:q[ _-]?)?(\d{1,3})")


def _question(name: str) -> int:
    """The number of a question, from 0: of 2, q2, Question 2, Aufgabe 2; −1 if it is none."""
    found = _NUMBER.fullmatch(name.strip()) or labels.question().fullmatch(name.strip())
    return labels.number_in(found) - 1 if found else -1


def toml_data(text: str, decimal_mark: str) -> dict[str, Any]:
    """A TOML file; decimals keep their digits.  `InputError` says where it cannot be read."""
    return toml(text, "It", _digits(decimal_mark))


def json_data(text: str, decimal_mark: str) -> dict[str, Any]:
    """A JSON file; numbers keep their digits.  `InputError` says where it cannot be read."""
    try:
        data = json.loads(text, parse_float=_digits(decimal_mark), parse_int=str, parse_constant=str.lower)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"This is not JSON, or it is cut off: {error.msg} ({place}).") from error
    except RecursionError as error:
        raise InputError("This JSON is nested too deeply to be used.") from error
    data = _by_name(data)
    if not isinstance(data, dict):
        raise InputError(f'It holds {_kind(data)}, where an object such as {{"answers": {{…}}}} was expected.')
    return data


def _by_name(data: Any) -> Any:
    """A list of objects with a name and a value each, as a table of values by name; anything else as it is.

    >>> _by_name([{"part": "S", "value": [[1]]}, {"part": "b", "value": "A"}]), _by_name([1, 2])
    ({'S': [[1]], 'b': 'A'}, [1, 2])
    """
    pairs = [_named_value(item) for item in data] if isinstance(data, list) else []
    named = dict(filter(None, pairs))
    return named if len(named) == len(pairs) > 0 else data


def _named_value(item: Any) -> tuple[str, Any] | None:
    names = [key for key in item if _columns().get(key.casefold()) == "part"] if isinstance(item, dict) else []
    if len(names) != 1 or len(item) != 2 or not isinstance(item[names[0]], str):
        return None
    return item[names[0]], next(value for key, value in item.items() if key != names[0])


def _digits(decimal_mark: str) -> Callable[[str], str]:
    """Decimals of the file's own syntax as text, in the student's decimal mark if one was stated.

    25e-2 is 0.25 here, and no product with e.
    """

    def text(number: str) -> str:
        power = number.lower().partition("e")[2]
        short = power.lstrip("+-").isdigit() and len(power) < 4
        plain = format(Decimal(number), "f") if short else number
        return plain.replace(".", ",") if decimal_mark == "," else plain

    return text


def head_of(data: Mapping[str, Any]) -> tuple[str, str, str]:
    """The sheet's identity, the name and the number of the student, as far as they are there."""
    found = {"sheet": "", "name": "", "student": ""}
    for key, value in data.items():
        if (field := _head().get(key.casefold())) and isinstance(value, str | int):
            found[field] = str(value).strip()
    return found["sheet"], found["name"], found["student"]


def read_data(data: Mapping[str, Any], questions: Sequence[Question]) -> Paper:
    """The answers in a TOML or JSON file."""
    paper = Paper.of(questions, *head_of(data))
    if sum(1 for _ in _values(data)) > MOST_VALUES:
        raise TooMuchError(f"It holds more than {MOST_VALUES} values; that is not a sheet of answers.")
    own = {key: value for key, value in data.items() if key.casefold() not in _head() and key not in _SECTIONS}
    sections = {"": own, "answers": _by_name(data.get("answers", {}))}
    sections |= {key: _by_number(data.get(key, {})) for key in ("question", "questions")}
    for key, section in sections.items():
        if isinstance(section, Mapping):
            _read_answers(paper, section, f"{key}." if key else "")
        elif key == "answers":
            says = message("It is {kind}, where a table of parts was expected.", kind=_kind(section))
            paper.not_read(key, says)
    if len(questions) == 1:
        _read_extras(paper.written[0], data)
    if data.get(ABOUT) == ENTERED:
        for written in paper.written:
            written.entered = True
    return paper


ABOUT, ENTERED = "symattn", {"entered": True}
"""What a file says of itself: a person who saw the paper entered it, so that nothing in it may be meant otherwise."""

_SECTIONS = ("answers", "question", "questions", "methods", "points", ABOUT)


def _values(value: object, depth: int = 0) -> Iterator[object]:
    if depth > DEEPEST:
        raise TooMuchError(f"It is nested more than {DEEPEST} deep; that is not a sheet of answers.")
    if isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _values(inner, depth + 1)
    else:
        yield value


def _by_number(value: Any) -> Any:
    """[[question]] one after the other as [question.1], [question.2]; anything else as it is."""
    return {str(number): one for number, one in enumerate(value, 1)} if isinstance(value, list) else value


def _read_answers(paper: Paper, answers: Mapping[str, Any], where: str) -> None:
    """Answers by part, or by question and then by part."""
    for key, value in answers.items():
        number = _question(key)
        if isinstance(value, Mapping) and 0 <= number < len(paper.written):
            written = paper.written[number]
            inner = value.get("answers", value)
            for name, answer in inner.items() if isinstance(inner, Mapping) else ():
                if name not in ("methods", "points"):
                    _put(written, name, answer, f"{where}{key}.{name}")
            _read_extras(written, value)
        elif len(paper.written) == 1:
            _put(paper.written[0], key, value, f"{where}{key}")
        else:
            unclear = message(
                "It is not clear which question {name} belongs to; write [answers.q1], [answers.q2] and so on.",
                name=repr(key),
            )
            says = message(
                "There is no question {number}; the paper has {count}.", number=number + 1, count=len(paper.written)
            )
            is_numbered = number >= 0 and isinstance(value, Mapping)
            paper.not_read(f"{where}{key}", says if is_numbered else unclear, loose=True)


def _read_extras(written: Written, data: Mapping[str, Any]) -> None:
    """The parts whose method a person has ticked, and the points that one gave."""
    methods = data.get("methods", [])
    for name in methods if isinstance(methods, list) else [methods]:
        part = written.names.find(str(name))
        if part:
            written.methods.append(part)
        else:
            written.remark("methods", message("There is no part {name} in this question.", name=repr(name)))
    points = data.get("points", {})
    for name, number in points.items() if isinstance(points, Mapping) else ():
        part = written.names.find(name)
        if part and len(str(number)) < 4 and str(number).isdecimal():
            written.points[part] = int(number)
        else:
            says = message(
                "{name} = {points} was not used: a part and a whole number of points were expected.",
                name=repr(name),
                points=repr(number),
            )
            written.remark("points", says)


def _put(written: Written, name: str, value: Any, where: str) -> None:
    named = "" if written.names.pieces(name) else written.names.find(name)
    part = next((part for part in written.question.parts if part.name == named), None)
    raw = _raw(value, letters=part is not None and isinstance(part.answer, ChoiceAnswer))
    if raw is None:
        says = message("Found {kind}, where a matrix, a number or a text was expected.", kind=_kind(value))
        written.remark(where, says)
        written.unread.add("" if part is None else part.name)
    elif part is None and isinstance(raw, Several):
        _belongs_nowhere(written, name, where)
    else:
        match part and part.answer, raw:
            case PropertyAnswer(model=model), Cells() | RawText() if name in model:
                raw = Several({name: raw})
            case RubricAnswer(), Cells(rows):
                raw = RawText("\n".join(map(" ".join, rows)))
        if not written.put(name, raw, where) and not raw.blank:
            written.called_otherwise.update([raw.shape] if isinstance(raw, Cells) else ())
            _belongs_nowhere(written, name, where)


def _belongs_nowhere(written: Written, name: str, where: str) -> None:
    parts = ", ".join(written.names.parts)
    says = message("{name} is not a part of the question; the parts are {parts}.", name=repr(name), parts=parts)
    if len(written.remarks) < MOST_MEANT and (near := written.names.nearest(name)):
        says = message("{name} is not a part of the question; did you mean {near}?", name=repr(name), near=near)
    written.remark(where, says)
    written.unread.add("")


def _raw(value: Any, letters: bool = False) -> Raw | None:
    """A value of the file as something that was written: rows, a list as one row, a text, matrices by name."""
    match value:
        case None | bool() | int() | float() | str():
            return RawText(_text(value))
        case [*rows] if rows and all(isinstance(row, list) for row in rows):
            return Cells(tuple(tuple(map(_text, row)) for row in rows)) if _flat(rows) else None
        case [*row] if not any(isinstance(x, list | dict) for x in row):
            return RawText(" ".join(map(_text, row))) if letters else Cells((tuple(map(_text, row)),))
        case {"factor": factor, "rows": rows} if isinstance(rows, list):
            inner = _raw(rows)
            return Cells(inner.rows, _text(factor)) if isinstance(inner, Cells) else None
        case {**named}:
            matrices = {str(name): raw for name, x in named.items() if isinstance(raw := _raw(x), Cells | RawText)}
            return Several(matrices) if len(matrices) == len(named) and matrices else None
    return None


def _flat(rows: list[list[Any]]) -> bool:
    return not any(isinstance(x, list | dict) for row in rows for x in row)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _kind(value: object) -> str:
    match value:
        case list():
            return message("a list") if _flat([value]) else message("a list of lists")
        case Mapping():
            return message("a table")
    return repr(str(value)[:40])


# ------------------------------------------------------------------------------------ CSV


def read_csv(text: str, questions: Sequence[Question]) -> Paper:
    """Lines of part, row, column, answer; or, part by part, a line with its name and then its rows."""
    rows = _csv_rows(text)
    if sum(map(len, rows)) > MOST_VALUES:
        raise InputError(f"It holds more than {MOST_VALUES} values; that is not a sheet of answers.")
    paper = Paper.of(questions)
    rows = [row for row in rows if not _csv_head(paper, row)]
    filled = [row for row in rows if any(row)]
    heads = [_columns().get(cell.casefold(), "") for cell in filled[0]] if filled else [""]
    if {"part", "answer"} <= set(heads):
        return _read_entries(paper, heads, filled[1:])
    are_entries = {len(row) for row in filled} in ({4}, {5}) and all(map(_is_entry, filled))
    are_rows = are_entries and _are_rows(paper.written[0], filled)
    if are_entries and not are_rows:
        return _read_entries(paper, _ORDER[-len(heads) :], filled)
    if heads[0] == "part" and not (paper.written[0].names.find(filled[0][0]) or _head().get(filled[0][0].casefold())):
        rows.remove(filled[0])  # matrix, row, 1, 2, 3
    read = _as_written(paper, rows)
    if are_rows and _name_places(paper.written[0], filled):
        read.written[0].remark("CSV", _AS_ROWS)
        for part in read.written[0].parts:
            read.written[0].doubt(part, _AS_ROWS, _AS_ROWS)
    return read


_ORDER = ("question", "part", "row", "column", "answer")
_AS_ROWS = message(
    "Three numbers after a name were taken as a row of the matrix; they could also be a row number, a column number "
    "and an entry."
)


def _is_entry(row: list[str]) -> bool:
    """Whether a line without heads may be a part, a row, a column and an answer; a question may stand before them."""
    *_, part, i, j, _ = row
    return part != "" and not part.isdigit() and f"{i}{j}0".isdecimal()


def _are_rows(written: Written, rows: list[list[str]]) -> bool:
    """Whether three numbers stand behind each name, as often as its matrix of three columns has rows."""
    counts = Counter(row[0] for row in rows)
    return all(name in written.names.parts and written.shape(name) == (count, 3) for name, count in counts.items())


def _name_places(written: Written, rows: list[list[str]]) -> bool:
    """Whether the first two numbers of such rows are a place in the matrix each, and none comes twice."""
    places = [(part, int(i[:4] or 0), int(j[:4] or 0)) for part, i, j, _ in rows]
    inside = all(0 < i <= written.shape(part)[0] and 0 < j <= 3 for part, i, j in places)
    return inside and len({*places}) == len(places)


def _as_written(head: Paper, rows: list[list[str]]) -> Paper:
    """Lines below and beside names, read as the text that they are."""
    from symattn.marking.submissions.markdown import read_markdown

    below = [*_one_below_the_other(rows, head.written[0])]
    filled = [row for row in below if any(row)]
    places = [row[0].lower() for row in filled if row[0] and any(row[1:])]
    in_capitals = 1 < len(places) == len(filled) and places == sorted({*places})
    lines = (_with_number(row, head, in_capitals) for row in below)
    text = plain_signs("\n".join("\t".join(row).rstrip() for row in lines))
    paper = read_markdown(text, [written.question for written in head.written])
    paper.sheet, paper.name, paper.student = head.sheet, head.name, head.student
    return paper


def _with_number(row: list[str], paper: Paper, in_capitals: bool) -> list[str]:
    """A line with the number of the part that it names, where that asks for no matrix: 3) for c, or for C where all
    lines begin with their parts in capitals; D, D, A, B in a line are answers.
    """
    names = [row[0], *([row[0].lower()] if in_capitals else ())] if row and row[0] else []
    for name in names:
        having = [written for written in paper.written if name in written.names.parts]
        for written in having:
            if written.shape(name) == (0, 0):
                return [f"{written.names.parts.index(name) + 1})", *row[1:]]
        if having:
            return row
    return row


def csv_head(text: str) -> tuple[str, str, str]:
    """The sheet's identity, the name and the number of the student, as far as there are lines that say them."""
    paper = Paper([])
    for row in _csv_rows(text):
        _csv_head(paper, row)
    return paper.sheet, paper.name, paper.student


def _csv_rows(text: str) -> list[list[str]]:
    """The cells of every line, at tabs, semicolons or commas, whichever the lines have most alike, without columns on
    the left in which nothing stands.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    plain = [_QUOTED.sub("", line) for line in lines]
    counts = {mark: sum(mark in line for line in plain) for mark in ("\t", ";", ",")}
    in_tabs = counts["\t"] >= max(1, counts[";"], counts[","])  # decimals may have commas
    mark = "\t" if in_tabs else ";" if counts[";"] * 2 >= max(1, counts[","]) else ","
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines(), delimiter=mark)]
    except csv.Error as error:
        raise InputError(f"This is not CSV: {error}.") from error
    left = min((next(j for j, cell in enumerate(row) if cell) for row in rows if any(row)), default=0)
    return [row[left:] for row in rows]


_QUOTED = re.compile(r'"[^"]*"')


def _csv_head(paper: Paper, row: list[str]) -> bool:
    if len(row) < 2 or (field := _head().get(row[0].casefold().rstrip(":： "))) is None or any(row[2:]):
        return False
    setattr(paper, field, row[1])
    return True


COLUMNS = {"question": "question", message("part"): "part", "step": "part", "matrix": "part", "row": "row", "i": "row",
           "column": "column", "col": "column", "j": "column", "answer": "answer", "value": "answer",
           "entry": "answer", "name": "part"}  # fmt: skip


@cache
def _columns() -> Mapping[str, str]:
    """The heads of columns in every language."""
    return labels.in_every_language(COLUMNS)


def _read_entries(paper: Paper, heads: Sequence[str], rows: list[list[str]]) -> Paper:
    """An entry in every line."""
    entries: dict[tuple[int, str], dict[tuple[int, int], str]] = {}
    for row in rows:
        cell = dict.fromkeys(_ORDER, "") | dict(zip(heads, row, strict=False))
        question, part, answer = _question(cell["question"] or "1"), cell["part"], cell["answer"]
        i, j = (int(x[:4]) if x.isdecimal() else 0 for x in (cell["row"] or "1", cell["column"] or "1"))
        if not (0 <= question < len(paper.written) and 0 < i <= MOST_ROWS and 0 < j <= MOST_ROWS):
            says = message(
                "{text} does not name a question, a row and a column, counted from 1.", text=repr(", ".join(row)[:60])
            )
            paper.not_read(part, says)
            continue
        here = entries.setdefault((question, part), {})
        if here.get((i, j), answer) != answer:
            written = paper.written[question]
            written.answered_twice(written.names.find(part), f"{part}[{i},{j}]")
        here[i, j] = answer
    for (question, part), found in entries.items():
        high, wide = map(max, zip(*found, strict=True))
        rows = [list(row) for row in Cells.at_places(found, (high, wide)).rows]
        _put(paper.written[question], part, rows if high > 1 or wide > 1 else rows[0][0], part)
    return paper


def _one_below_the_other(rows: Sequence[list[str]], written: Written) -> Iterator[list[str]]:
    """Matrices that stand side by side, below a line of nothing but their names, each in a block of its own."""
    at = 0
    while at < len(rows):
        heads = [j for j, cell in enumerate(rows[at]) if cell]
        are_names = len(heads) > 1 and all(_is_name(rows[at][head], written) for head in heads)
        end = next((k for k in range(at, len(rows)) if not any(rows[k])), len(rows)) if are_names else at
        blocks = [*pairwise([*heads, max(map(len, rows[at:end]), default=0)])]
        if not are_names or not all(_has_room(rows[at][left], right - left, written) for left, right in blocks):
            yield rows[at]
            at += 1
            continue
        for left, right in blocks:
            yield from (row[left:right] for row in rows[at:end] if any(row[left:right]))
            yield []
        at = end


def _is_name(cell: str, written: Written) -> bool:
    """Whether a cell is the name of a matrix, and no number."""
    return cell in written.names.parts or bool(_called(cell, written) and not entry(cell).readable)


def _called(name: str, written: Written) -> str:
    """The part or the step that is called so, also one that is asked in pieces."""
    return written.names.find(name) or written.names.whole(name)


def _has_room(name: str, columns: int, written: Written) -> bool:
    """Whether there are columns enough for a matrix below its name."""
    return 0 < written.shape(_called(name, written))[1] <= columns
