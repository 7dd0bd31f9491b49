"""What is kept of one submission: a row of the gradebook, as plain data that survives being written and read.

Where the marker leaves marks pending a person gives them, in a table beside the gradebook that the next run reads.  A
row of it is a line of the scheme in one submission.  What is given holds for that version of the file alone; when
something else is handed in, the line is pending anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import Any, Literal

from symattn.derivation.derivation import Orientation
from symattn.errors import InputError, offered
from symattn.foundation.languages import Message, in_context, message, packed, sentences, unpacked
from symattn.marking.marker.policy import POLICIES, Policy, Scheme, read_scheme
from symattn.marking.marker.report import Candidate, Event, Given, Notice, Report, Verdict
from symattn.teaching.question import Json, Question

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


@dataclass(frozen=True)
class Result:
    """One question marked: of which variant, and the report, as `report_json` gives it.

    Of the verdicts it has those on entries that are wrong, cannot be read, or were rounded too early: the others are
    nine tenths of a class, and the answers and the mistakes say them.
    """

    variant: str
    report: Mapping[str, Any]

    @classmethod
    def of_report(cls, report: Report, variant: str) -> Result:
        from symattn.marking.reports import report_json

        return cls(variant, report_json(replace(report, verdicts=tuple(filter(_tells_more, report.verdicts)))))

    @property
    def title(self) -> str:
        return str(self.report["question"]["title"])

    @property
    def orientation(self) -> Orientation:
        """Whether tokens are rows or columns; reports that do not say it are of tokens as rows."""
        return "columns" if self.report["question"].get("orientation") == "columns" else "rows"

    def called(self, line: str) -> list[tuple[str, str]]:
        """What the parts of a line of the scheme are called, in English words and by their signs: Scaled scores, S'.

        A part without words has only a sign, that of the step or the letter of the part: (a).
        """
        names = self.report["question"].get("names", {})
        return [self._called(part, names.get(part, ("", ""))) for part in line.split(", ")]

    @staticmethod
    def _called(part: str, name: Sequence[str]) -> tuple[str, str]:
        words, sign = name
        if words:
            return words, sign
        return "", f"({part})" if len(part) == 1 and part.islower() else part

    @property
    def total(self) -> int:
        return int(self.report["total"])

    @property
    def of(self) -> int:
        return int(self.report["of"])

    @cached_property
    def marks(self) -> tuple[Given, ...]:
        return tuple(Given(**{**given, "parts": tuple(given["parts"]), "why": None}) for given in self.report["marks"])

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The mistakes, by the steps that they are charged to, without their entries."""
        found = []
        for number, event in enumerate(self.report["mistakes"]):
            candidates = tuple(Candidate(event["kind"], candidate["id"]) for candidate in event["candidates"])
            step = event["step"] or event["part"]
            found.append(Event(number, step, (step,), event["kind"], candidates))
        return tuple(found)

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """What was noticed in marking and, as remarks, in reading."""
        remarks = (Notice(remark["where"], "reading", remark["says"]) for remark in self.report["remarks"])
        return (*(Notice(**notice) for notice in self.report["notices"]), *remarks)

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

    def json(self) -> dict[str, Json]:
        """Plain data; `messages` says how its texts are made, so that they can be said in any language again."""
        said = [self.reason, *self.notices, *(notice.says for result in self.results for notice in result.notices)]
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        own["results"] = [{"variant": result.variant, "report": result.report} for result in self.results]
        return {**own, "messages": {text: packed(text) for text in said if isinstance(text, Message)}}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Row:
        known = {text: unpacked(kept) for text, kept in data.get("messages", {}).items()}
        results = tuple(
            Result(one["variant"], _said_again(_with_shared_texts(one["report"]), known)) for one in data["results"]
        )
        notices = tuple(known.get(text, text) for text in data["notices"])
        own = {name: x for name, x in data.items() if name != "messages"}
        own["reason"] = known.get(data["reason"], data["reason"])
        return cls(**{**own, "notices": notices, "results": results})


def _with_shared_texts(data: Any) -> Any:
    """Plain data in which equal texts are one text: the rows of a class have the same keys thousands of times over."""
    if isinstance(data, dict):
        return {intern(key): _with_shared_texts(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_shared_texts(one) for one in data]
    return intern(data) if type(data) is str else data


def _said_again(report: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """A report in which texts are messages again."""
    again = {
        name: [{**one, "says": known.get(one["says"], one["says"])} for one in report[name]]
        for name in ("notices", "remarks")
    }
    return {**report, **again}


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


# ------------------------------------------------------------------------------------------------ settings


@dataclass(frozen=True)
class Terms:
    """How everything is marked: what two runs must agree in to give the same marks.  `own` is a scheme in TOML."""

    policy: Policy
    own: str = ""
    decimal_mark: str = "auto"

    @cached_property
    def scheme(self) -> Scheme | None:
        return read_scheme(self.own) if self.own else None

    @property
    def used(self) -> Policy:
        """The policy with the scheme's settings."""
        return self.scheme.over(self.policy) if self.scheme else self.policy

    def scheme_for(self, question: Question, others: Sequence[Question] = ()) -> Scheme | None:
        """The scheme with those of its lines that are about this question.

        `InputError` if a line is about neither this nor one of the others.
        """
        if self.scheme is None:
            return None
        every = set[str]().union(*map(_names, (question, *others)))
        for line in self.scheme.lines:
            if unknown := sorted(set(line.parts) - every):
                raise InputError(
                    f"The mark scheme has the part {unknown[0]!r}, and no question has such a part; "
                    + offered(unknown[0], sorted(every), "the parts are {}")
                )
        names = _names(question)
        return replace(self.scheme, lines=tuple(line for line in self.scheme.lines if names.issuperset(line.parts)))

    def json(self) -> dict[str, Json]:
        policy = {key: str(x) if isinstance(x, Fraction) else x for key, x in asdict(self.policy).items()}
        return {"policy": policy, "scheme": self.own, "decimal_mark": self.decimal_mark}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Terms:
        shares = {f.name for f in fields(Policy) if isinstance(getattr(POLICIES["ecf"], f.name), Fraction)}
        policy: dict[str, Any] = {key: Fraction(x) if key in shares else x for key, x in data["policy"].items()}
        return cls(Policy(**policy), data["scheme"], data["decimal_mark"])

    def __str__(self) -> str:
        """The policy by name, and what differs from it: "ecf, precision 1, own scheme"."""
        used = self.used
        usual = POLICIES.get(used.name, used)
        changed = [f.name for f in fields(Policy) if getattr(used, f.name) != getattr(usual, f.name)]
        other = [f"{name.replace('_', ' ')} {getattr(used, name)}" for name in changed]
        own = ["own scheme"] if self.scheme and self.scheme.lines else []
        return ", ".join([used.name, *other, *own])


def _names(question: Question) -> set[str]:
    """The parts of a question; where a step is asked token by token (S.1, S.2), the step as well."""
    names = {part.name for part in question.parts}
    return names | {name.partition(".")[0] for name in names}


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
