"""What is kept of one submission: a row of the gradebook, as plain data that survives being written and read.

Where the marker leaves marks pending a person gives them, in a table beside the gradebook that the next run reads.  A
row of it is a line of the scheme in one submission.  What is given holds for that version of the file alone; when
something else is handed in, the line is pending anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import Any, Literal

from symattn.derivation.derivation import Orientation
from symattn.errors import InputError
from symattn.foundation.languages import Message, in_context, message, packed, sentences, unpacked
from symattn.marking.marker.report import Candidate, Event, Given, Notice, Report, Verdict
from symattn.teaching.question import Json

Status = Literal["marked", "pending", "broken", "missing"]
"""`pending`: somebody has to read an answer first, or to see whose work it is.  `broken`: handed in, and not to be
marked.  The reason says why."""

STATUSES: tuple[Status, ...] = ("marked", "pending", "broken", "missing")
FOR_A_PERSON = ("human", "reading", "veto")
"""The kinds of notices that ask for somebody's judgement."""


def _tells_more(verdict: Verdict) -> bool:
    """Whether a verdict on an entry tells more than that it is right, follows, or was left out."""
    flagged = "rounded" in verdict.flags or verdict.event is not None
    return flagged or verdict.state in ("wrong", "unreadable")


TABLES: Mapping[str, tuple[str, ...]] = {
    "marks": ("parts", "code", "given", "of", "why", "pending"),
    "mistakes": ("part", "step", "kind", "ids", "how", "besides"),
    "verdicts": ("part", "row", "column", "state", "written", "compared", "way", "proof", "flags", "mistake"),
    "notices": ("part", "kind", "says", "marks"),
}
"""What a record has many of, as rows of these columns.  `says` is the number of a message, from 0; `besides` are the
entries of a mistake on which there is no verdict."""


@dataclass(frozen=True)
class Result:
    """One question marked: what is known of its variant, and what of its report is one student's alone.

    `question` is that of `report_json`; `found` has the marks, mistakes and notices, as `TABLES` says, but texts in
    notices; `more` has the answers and the verdicts in JSON, for in a class's gradebook nobody reads them.  The
    verdicts are those on entries that are wrong, cannot be read, or were rounded too early: the others are nine tenths
    of a class, and the answers and the mistakes say them.
    """

    variant: str
    question: Mapping[str, Any]
    found: Mapping[str, Any]
    more: str

    @classmethod
    def of_report(cls, report: Report, variant: str) -> Result:
        from symattn.marking.reports import report_json

        told = replace(report, verdicts=tuple(filter(_tells_more, report.verdicts)))
        return cls.of_json(report_json(told), variant)

    @classmethod
    def of_json(cls, report: Mapping[str, Any], variant: str) -> Result:
        """Of a report as data: without what follows from the question, the policy, or the rest of it.

        The policy is that of all rows; verdicts name the mistake that they belong to, by its number from 1; keys are
        the question's; what an entry means is read again from its text; what was remarked in reading is a notice.
        """
        judged = {_place(verdict, verdict["mistake"]) for verdict in report["verdicts"]}
        lines = {
            "marks": report["marks"],
            "mistakes": [
                {
                    **mistake,
                    "ids": [one["id"] for one in mistake["candidates"]],
                    "how": [one["says"] for one in mistake["candidates"]],
                    "besides": [
                        [entry["part"], entry["row"], entry["column"]]
                        for entry in mistake["entries"]
                        if _place(entry, mistake["number"]) not in judged
                    ],
                }
                for mistake in report["mistakes"]
            ],
            "verdicts": [{**verdict, "written": verdict["written"]["text"]} for verdict in report["verdicts"]],
            "notices": [
                *report["notices"],
                *(
                    {"part": one["where"], "kind": "reading", "says": one["says"], "marks": 0}
                    for one in report["remarks"]
                ),
            ],
        }
        tables = {name: [[line[head] for head in heads] for line in lines[name]] for name, heads in TABLES.items()}
        return cls.of_data({**report, **tables}, variant, report["question"])

    @classmethod
    def of_data(cls, data: Mapping[str, Any], variant: str, question: Mapping[str, Any]) -> Result:
        found = _with_shared_texts({name: data[name] for name in ("total", "of", "marks", "mistakes", "notices")})
        more = {name: data[name] for name in ("answers", "more", "methods", "verdicts")}
        return cls(variant, question, found, json.dumps(more, ensure_ascii=False))

    @property
    def title(self) -> str:
        return str(self.question["title"])

    @property
    def orientation(self) -> Orientation:
        """Whether tokens are rows or columns; reports that do not say it are of tokens as rows."""
        return "columns" if self.question.get("orientation") == "columns" else "rows"

    def called(self, line: str) -> list[tuple[str, str]]:
        """What the parts of a line of the scheme are called, in English words and by their signs: Scaled scores, S'.

        A part without words has only a sign, that of the step or the letter of the part: (a).
        """
        names = self.question.get("names", {})
        return [self._called(part, names.get(part, ("", ""))) for part in line.split(", ")]

    @staticmethod
    def _called(part: str, name: Sequence[str]) -> tuple[str, str]:
        words, sign = name
        if words:
            return words, sign
        return "", f"({part})" if len(part) == 1 and part.islower() else part

    @property
    def total(self) -> int:
        return int(self.found["total"])

    @property
    def of(self) -> int:
        return int(self.found["of"])

    @cached_property
    def marks(self) -> tuple[Given, ...]:
        return tuple(
            Given(tuple(parts), code, given, of, None, pending)
            for parts, code, given, of, _, pending in self.found["marks"]
        )

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The mistakes, by the steps that they are charged to, without their entries."""
        return tuple(
            Event(number, step or part, (step or part,), kind, tuple(Candidate(kind, id) for id in ids))
            for number, (part, step, kind, ids, *_) in enumerate(self.found["mistakes"])
        )

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """What was noticed in marking and in reading."""
        return tuple(Notice(*notice) for notice in self.found["notices"])

    @cached_property
    def points(self) -> Mapping[str, tuple[int, int]]:
        """Marks given and marks there are, line by line of the scheme."""
        found: dict[str, tuple[int, int]] = {}
        for given in self.marks:
            name = line_name(given.parts)
            had, of = found.get(name, (0, 0))
            found[name] = had + given.given, of + given.of
        return found

    @cached_property
    def pending(self) -> Mapping[str, int]:
        """Marks that a person has to give or not, by line of the scheme."""
        found: dict[str, int] = {}
        for given in self.marks:
            if given.pending:
                name = line_name(given.parts)
                found[name] = found.get(name, 0) + given.of - given.given
        return found


def _place(entry: Mapping[str, Any], mistake: int | None) -> tuple[object, ...]:
    return mistake, entry["part"], entry["row"], entry["column"]


def in_short(event: Event) -> str:
    """S': C1/C8; the kind where nothing is known."""
    return f"{event.step}: {'/'.join(filter(None, event.ids)) or event.kind}"


def line_name(parts: Sequence[str]) -> str:
    """What a line of the scheme is called: S; also where it is asked token by token (S.1, S.2); else Q, K, V."""
    roles = list(dict.fromkeys(part.partition(".")[0] for part in parts))
    return roles[0] if len(parts) > 1 and len(roles) == 1 else ", ".join(parts) or "all"


@dataclass(frozen=True)
class Row:
    """One line of the gradebook; `number` is that in the class list, none for somebody who is not in it."""

    number: int | None
    name: str
    id: str
    sheet: str
    file: str = ""
    hash: str = ""
    status: Status = "missing"
    reason: str = ""
    notices: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def has_marks(self) -> bool:
        return bool(self.results)

    @property
    def is_unmarked(self) -> bool:
        """Whether it was handed in and has no marks: it is broken, or nobody can tell whose it is."""
        return self.status != "missing" and not self.results

    @property
    def unread(self) -> bool:
        """Whether an answer has to be read by somebody."""
        return any(given.pending for result in self.results for given in result.marks)

    @property
    def total(self) -> int:
        return sum(result.total for result in self.results)

    @property
    def of(self) -> int:
        return sum(result.of for result in self.results)

    @property
    def said(self) -> tuple[str, ...]:
        """Everything about it that a person should look at, one sentence each."""
        found = list(self.notices)
        for number, result in enumerate(self.results, 1):
            where = message("Question {number}", number=number) if len(self.results) > 1 else ""
            found += (_placed(where, n) for n in result.notices if n.kind in FOR_A_PERSON)
        return tuple(found)


# ------------------------------------------------------------------------------------------------ as plain data

FORMAT = 2


class _Numbered:
    """Plain data of which equal pieces are kept once; a piece is named by its number among them, from 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, piece: object) -> int:
        return self._numbers.setdefault(json.dumps(piece, ensure_ascii=False), len(self._numbers))

    def __iter__(self) -> Iterator[Json]:
        return map(json.loads, self._numbers)


def record(rows: Iterable[Row]) -> dict[str, Json]:
    """Rows as plain data that is written and read."""
    return {name: value if isinstance(value, dict) else list(value) for name, value in streamed(rows).items()}


def streamed(rows: Iterable[Row]) -> dict[str, dict[str, Json] | Iterable[Json]]:
    """The same piece by piece: `questions` and `messages` are complete when `rows` have been taken, for in rows stand
    their numbers.  How a message is made is kept, so that it can be said in any language again.
    """
    questions, messages = _Numbered(), _Numbered()

    def number(text: object) -> int:
        return messages.number(packed(text))

    def result_data(result: Result) -> dict[str, Json]:
        named = {"variant": result.variant, "question": questions.number(result.question)}
        return {**named, **result.found, "notices": _with_says(result.found, number), **json.loads(result.more)}

    def row_data(row: Row) -> dict[str, Json]:
        return {
            **{field.name: getattr(row, field.name) for field in fields(row)},
            "reason": number(row.reason),
            "notices": list(map(number, row.notices)),
            "results": list(map(result_data, row.results)),
        }

    columns: dict[str, Json] = {name: list[Json](heads) for name, heads in TABLES.items()}
    return {"columns": columns, "rows": map(row_data, rows), "questions": questions, "messages": messages}


def read_record(data: Mapping[str, Any]) -> list[Row]:
    """The rows of which `record` made plain data."""
    messages, questions = list(map(unpacked, data["messages"])), _with_shared_texts(data["questions"])

    def result_of(data: Mapping[str, Any]) -> Result:
        says = {"notices": _with_says(data, messages.__getitem__)}
        return Result.of_data({**data, **says}, data["variant"], questions[data["question"]])

    def row_of(data: Mapping[str, Any]) -> Row:
        about = {
            "reason": messages[data["reason"]],
            "notices": tuple(messages[number] for number in data["notices"]),
            "results": tuple(map(result_of, data["results"])),
        }
        return Row(**{**data, **about})

    return list(map(row_of, data["rows"]))


def _with_says(found: Mapping[str, Any], put: Callable[[Any], Any]) -> list[Json]:
    """The notices of a question with something else in place of what they say."""
    return [[part, kind, put(says), marks] for part, kind, says, marks in found["notices"]]


def _with_shared_texts(data: Any) -> Any:
    """Plain data in which equal texts are one text: the rows of a class have the same ones thousands of times over."""
    if isinstance(data, dict):
        return {intern(key): _with_shared_texts(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_shared_texts(one) for one in data]
    return intern(data) if type(data) is str else data


def of_format_1(data: Mapping[str, Any]) -> dict[str, Any]:
    """A record of the first format, in which every row has whole reports and its messages by text, in today's."""
    rows = []
    for row in data["rows"]:
        known = {text: unpacked(kept) for text, kept in row["messages"].items()}

        def says(text: str, known: Mapping[str, Any] = known) -> Any:
            return known.get(text, text)

        results = (Result.of_json(one["report"], one["variant"]) for one in row["results"])
        about = {
            "reason": says(row["reason"]),
            "notices": tuple(map(says, row["notices"])),
            "results": tuple(
                replace(one, found={**one.found, "notices": _with_says(one.found, says)}) for one in results
            ),
        }
        rows.append(Row(**{name: value for name, value in row.items() if name != "messages"} | about))
    return {**data, "format": FORMAT, **record(rows)}


_IN_WORDS: Mapping[Status, Message] = {
    "marked": in_context("status", "marked"),
    "pending": in_context("status", "pending"),
    "broken": in_context("status", "broken"),
    "missing": in_context("status", "missing"),
}


def counted(rows: Iterable[Row]) -> list[str]:
    """How many rows have which status: "11 marked", "1 broken"."""
    statuses = [row.status for row in rows]
    return [
        message("{count} {status}", count=statuses.count(status), status=_IN_WORDS[status])
        for status in STATUSES
        if status in statuses
    ]


def _placed(where: str, notice: Notice) -> str:
    place = (
        message("{question}, {part}", question=where, part=notice.part)
        if where and notice.part
        else where or notice.part
    )
    return message("{place}: {notice}", place=place, notice=notice.says) if place else notice.says


# -------------------------------------------------------------------------------------------- marks that a person gives

PENDING = "pending.csv"
PENDING_COLUMNS = ("name", "id", "paper", "file", "version", "question", "line", "pending", "marks", "why")
HASH_SHOWN = 12
"""Characters of a file's hash that tell one version from another."""

FileVersion = tuple[str, str]
Marks = dict[str, dict[str, int]]
"""By question (from 1; "" for what belongs to none), by line of the scheme."""


@dataclass(frozen=True)
class Settled:
    """What a person has given, by file and version; `rows` are the rows of the table in which marks stand."""

    marks: Mapping[FileVersion, Marks] = field(default_factory=dict)
    rows: Sequence[Sequence[str]] = ()

    def of(self, file: str, hash: str) -> Marks:
        return self.marks.get((" ".join(file.split()), hash[:HASH_SHOWN]), {})


def read_settled(path: Path) -> Settled:
    """The table as somebody has filled it in; `InputError` names the row in which no such marks can be given."""
    from symattn.foundation.tables import read_table, typed_again  # where a class is marked

    if not path.is_file():
        return Settled()
    head, *lines = read_table(path) or [[]]
    at = {name.strip().casefold(): place for place, name in enumerate(head)}
    if lacking := [name for name in PENDING_COLUMNS if name not in at and name not in ("name", "id", "paper", "why")]:
        raise InputError(f"{path} has no column {lacking[0]!r}; correct it, or delete the file to have it made again.")
    marks: dict[FileVersion, Marks] = {}
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
        rows.append([cells.get(name, "") for name in PENDING_COLUMNS])
    return Settled(marks, rows)


def settled(report: Report, marks: Mapping[str, int]) -> Report:
    """A report in which a person has given the pending marks of some lines."""
    if not marks:
        return report
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
    return [list[object](PENDING_COLUMNS), *lines] if lines else []


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
    return [row.name, row.id, row.sheet, row.file, row.hash[:HASH_SHOWN]]
