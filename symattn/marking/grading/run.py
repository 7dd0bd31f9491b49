"""A class marked: every submission by itself, what was done kept at once, and the gradebook made of all of it.

What is kept of a submission holds as long as the file, the questions and the terms are the same.  So a run that was
ended, however abruptly, is continued by the next, and leaves the same bytes, whatever the number of processes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from symattn.errors import InputError
from symattn.foundation.crew import Crew, crew
from symattn.foundation.files import alone_in, put, staging_in
from symattn.foundation.identity import digest
from symattn.foundation.installed import VERSION
from symattn.foundation.languages import message, unpacked
from symattn.foundation.progress import Progress, silent
from symattn.foundation.tables import csv_lines
from symattn.foundation.workers import Limits, LostError
from symattn.marking.grading.entries import Ask, in_words, read_entries
from symattn.marking.grading.gradebook import PLATFORMS, Change, Gradebook, changed, check_platforms, listed_in
from symattn.marking.grading.handed_in import Handed, Head, matched
from symattn.marking.grading.record import (
    FORMAT,
    PENDING,
    Marks,
    Row,
    Settled,
    of_format_1,
    pending_table,
    read_record,
    read_settled,
    record,
    streamed,
)
from symattn.marking.grading.source import Papers, papers
from symattn.marking.grading.unpacking import RECORDS, File, Member, files
from symattn.marking.grading.worker import FOLDERS, HEAD, LOOKED_INTO, MARKED, PRACTICE
from symattn.marking.marker.policy import Terms
from symattn.marking.reports import Reader
from symattn.page.document import DEFAULT_LOOK, Look
from symattn.page.writers import page
from symattn.teaching.rendering import check_formats, formats, render, suffix

MARKS, CHANGES, HEADS, UNFINISHED = "marks.json", "changes.csv", f"{RECORDS}/heads", "unfinished"
SOFTWARE = f"symattn {VERSION}"
MEMORY = 2 * 2**30  # bytes, of a process that marks
FOR_EXCEL = "utf-8-sig"
"""The encoding of tables that people open: without the mark, Excel reads é as two letters.  Platforms want none."""


def grade_class(
    source: str | Path,
    submissions: str | Path | None,
    terms: Terms,
    *,
    entries: str | Path | None = None,
    ask: Ask | None = None,
    out: str | Path | None = None,
    forms: Sequence[str] = ("pdf",),
    feedback: Sequence[str] | None = None,
    look: Look = DEFAULT_LOOK,
    readers: Sequence[Reader] = ("student",),
    jobs: int = 0,
    executor: Executor | None = None,
    time_limit: float = 60,
    progress: Progress = silent,
    gradebooks: Sequence[str] = (),
    class_list: str | Path | None = None,
) -> Gradebook:
    """Mark everything in a folder or a zip against an exam, and write what comes of it into a folder, if one is named.

    `entries` is a table of what stands on scripts on paper, instead of `submissions` or besides; `ask` answers what has
    to be asked about it.
    `forms` are the formats of the summary and of feedback, which has other ones, or none, if `feedback` says so; `look`
    is how it looks, one document for each of the `readers`; `jobs` how many processes (0: as many as pay, of
    those that there are processors for), unless an `executor` brings its own; `time_limit` the seconds of processor
    time after which one submission is given up.  Whatever was handed in is read in these processes alone.
    `gradebooks` are the platforms for which totals are written as well; `class_list` is a list as the platform exports
    it, where the exam was made with another.
    `InputError` if source or submissions cannot be used at all; a single submission that cannot is a row with its
    reason.
    """
    against, forms = papers(source), check_formats(forms)
    feedback = forms if feedback is None else check_formats(feedback) if feedback else ()
    gradebooks, listed_cells = _platforms(gradebooks, class_list, against, terms)
    first = against.some_questions()
    terms.scheme_for(first[0], first)  # a scheme that fits nothing is refused before anything is marked
    if submissions is None and entries is None:
        raise InputError("Nothing is given to be marked; a folder or a zip of submissions, or entries, was expected.")
    found = files(Path(submissions)) if submissions is not None else []
    if out is not None and submissions is not None and Path(out).resolve() == Path(submissions).resolve():
        raise InputError(f"The marks cannot be written to {out}, where the submissions are; choose another --out.")
    typed = read_entries(Path(entries), against, terms.decimal_mark, ask) if entries is not None else None
    with _folder(out, against, terms, forms, feedback, look, readers, gradebooks) as folder:
        settings: dict[str, Any] = {
            "source": str(source),
            "hash": against.hash,
            "terms": terms.json(),
            "forms": list(feedback) if folder else [],
            "look": asdict(look),
            "typesetting": page.chosen(),
            "templates": page.own_templates(),
            "readers": list(readers),
        }
        number = inf if any(file.is_zip for file in found) else len(found) + len(typed.handed if typed else ())
        with crew(jobs, executor, strangers=number, limits=Limits(time_limit, MEMORY)) as workers:
            heads = partial(heads_of, folder=folder, workers=workers)
            handed = matched(looked_into(found, workers), heads, against, typed.handed if typed else ())
            rows = _rows(handed, folder, workers, settings, progress)
        listed = tuple(_everybody(against, rows))
        replied = tuple(in_words(typed)) if typed else ()
        book = Gradebook(against.title, terms, listed, replied=replied, listed=listed_cells)
        return folder.finish(book, rows) if folder else book


def _rows(
    handed: Sequence[Handed], folder: MarkedFolder | None, workers: Crew, settings: dict[str, Any], progress: Progress
) -> list[tuple[Handed, Row]]:
    """The row of everything that was handed in: that of the last run if it holds, else it is marked."""
    rows: dict[str, Row] = {}
    todo: list[Handed] = []
    for one in handed:
        kept = folder.kept(one) if folder else None
        if one.complaint or one.unclear or kept is not None:
            rows[one.stem] = kept or _row(one)
        else:
            todo.append(one)
    todo.sort(key=lambda one: one.sheet)  # so that a process makes the questions of few sheets
    with progress(len(todo)) as step:
        jobs = ((one, _job(one, folder.given(one) if folder else {})) for one in todo)
        for one, answer in workers.as_done(MARKED, settings, jobs):
            rows[one.stem] = row_of(one, answer, folder)
            step(one)
    return [(one, rows[one.stem]) for one in handed]


def _platforms(
    names: Sequence[str], class_list: str | Path | None, against: Papers, terms: Terms
) -> tuple[tuple[str, ...], dict[int, tuple[tuple[str, str], ...]]]:
    """The platforms that are asked for, and the cells by which they know the students, by number."""
    listed = {entrant.number: entrant.listed for entrant in against.entrants}
    if not names and class_list is None:
        return (), listed
    names = check_platforms(names)
    if names and not terms.used.marks:
        raise InputError(f"The policy {terms.used.name} gives no marks, so there is no gradebook for {names[0]}.")
    if class_list is not None:
        listed = listed_in(Path(class_list), against.entrants)
    return names, listed


def looked_into(found: Sequence[File], workers: Crew) -> list[File]:
    """The files, and those in the zips among them; a zip that cannot be unpacked is one file, with the reason."""
    inside: dict[int, list[File]] = {}

    def zips() -> Iterator[tuple[int, dict[str, Any]]]:
        for at, file in enumerate(found):
            if file.is_zip:
                try:
                    yield at, {"data": file.read()}
                except InputError as error:
                    inside[at] = [replace(file, complaint=error.said)]

    for at, answer in workers.as_done(LOOKED_INTO, None, zips()):
        why = f"Unpacking it {answer.why}." if isinstance(answer, LostError) else unpacked(answer["complaint"])
        members = [] if why else [found[at].holding(Member.read(member)) for member in answer["members"]]
        inside[at] = [replace(found[at], complaint=why)] if why else members
    return [one for at, file in enumerate(found) for one in inside.get(at, [file])]


def heads_of(found: Sequence[File], folder: MarkedFolder | None, workers: Crew) -> list[Head]:
    """What every file says about itself, as far as it is not known from the last run."""
    kept = folder.heads() if folder else {}
    heads: dict[int, Head] = {}
    hashes: dict[int, str] = {}
    keys: dict[int, str] = {}  # of heads that hold until the file changes

    def unknown() -> Iterator[tuple[int, dict[str, Any]]]:
        for at, file in enumerate(found):
            try:
                if file.complaint:
                    raise InputError(file.complaint)
                data = file.read()
            except InputError as error:
                heads[at] = Head(complaint=error.said)
                continue
            hashes[at] = sha256(data).hexdigest() if file.zipped is None else file.hash
            keys[at] = digest([hashes[at], file.form, SOFTWARE])
            if keys[at] in kept:
                heads[at] = kept[keys[at]]
            else:
                yield at, {"form": file.form, "data": data, "zipped": file.zipped}

    for at, answer in workers.as_done(HEAD, None, unknown()):
        lost = isinstance(answer, LostError)
        heads[at] = Head(complaint=_told(answer)) if lost else Head.read(answer["head"])
        if lost or not answer["keep"]:
            del keys[at]
    if folder:
        folder.keep_heads({key: heads[at] for at, key in keys.items()})
    return [replace(heads[at], hash=hashes.get(at, "")) for at in range(len(found))]


def _row(one: Handed) -> Row:
    """The row of a submission before it is marked, and for good if it is not."""
    about: dict[str, Any] = {"file": one.file.path, "hash": one.hash, "notices": one.notices}
    if one.complaint:
        about |= {"status": "broken", "reason": one.complaint}
    elif reason := one.unclear or one.doubt:
        about |= {"status": "pending", "reason": reason}
    if one.entrant is None:
        return Row(None, one.name, one.id, one.sheet, **about)
    entrant = one.entrant
    return Row(entrant.number, entrant.name, entrant.id, one.sheet or entrant.sheet, **about)


def _job(one: Handed, given: Marks) -> dict[str, Any]:
    read = {"data": one.file.read(), "zipped": one.file.zipped}
    return {"record": record([_row(one)]), "stem": one.stem, **read, "settled": given}


def row_of(one: Handed, answer: Any, folder: MarkedFolder | None) -> Row:
    """The row that a worker answered with, kept for the next run."""
    if isinstance(answer, LostError):
        return replace(_row(one), status="broken", reason=_told(answer))
    [row] = read_record(answer["record"])
    if folder:
        folder.take(one, answer.get("pages", {}), row if answer["keep"] else None)
    return row


def _told(lost: LostError) -> str:
    """What is said of a submission whose process ended."""
    return f"Marking it {lost.why}."


def _everybody(against: Papers, rows: Sequence[tuple[Handed, Row]]) -> Iterator[Row]:
    """A row for everybody in the class list, in its order, then one for each submission that is nobody's."""
    found = {one.entrant.number: row for one, row in rows if one.entrant}
    for entrant in against.entrants:
        missing = Row(entrant.number, entrant.name, entrant.id, entrant.sheet)
        if perhaps := ", ".join(row.file for one, row in rows if entrant in one.perhaps):
            missing = replace(missing, notices=(message("Perhaps from this student: {files}.", files=perhaps),))
        yield found.get(entrant.number) or missing
    yield from (row for one, row in rows if not one.entrant)


# ------------------------------------------------------------------------------------------------ the folder


@contextmanager
def _folder(out: str | Path | None, *about: Any) -> Iterator[MarkedFolder | None]:
    """The folder that marks are written to, if one is named, which no other run writes to meanwhile."""
    if out is None:
        yield None
        return
    path = Path(out)
    with alone_in(path), staging_in(path / RECORDS, UNFINISHED) as staging:
        yield MarkedFolder(path, staging, *about)


@dataclass(frozen=True)
class MarkedFolder:
    """Where a class's marks are written; refuses a folder that holds another exam's."""

    path: Path
    staging: Path
    against: Papers
    terms: Terms
    forms: Sequence[str]
    feedback: Sequence[str]
    look: Look
    readers: Sequence[Reader]
    gradebooks: Sequence[str] = ()

    def __post_init__(self) -> None:
        before = self.before()
        if before and before["exam"]["hash"] != self.against.hash:
            raise InputError(
                f"The folder {self.path} holds the marks of {before['exam']['title']!r}, which is another exam; "
                "choose another folder with --out."
            )
        if not before and (self.path / CHANGES).exists():
            raise InputError(
                f"The folder {self.path} has a record of changes and no {MARKS} that it belongs to; "
                "choose another folder with --out."
            )

    # -- single submissions

    def kept(self, one: Handed) -> Row | None:
        """The row of the last run, if it still holds and what was written about it is there."""
        if one.complaint:
            return None
        data = _read_json(self._record(one))
        if data is None or data["fingerprint"] != self._fingerprint(one):
            return None
        [row] = read_record(data["record"])
        whole = not row.has_marks or all((self.path / name).is_file() for name in self._pages(one.stem))
        return row if whole else None

    def take(self, one: Handed, pages: Mapping[str, bytes], row: Row | None) -> None:
        """Put the pages about a submission in their place, and then on record what was found, if it holds.

        Until then there is no record: a run that is ended in between leaves none of pages that are not its own.
        """
        try:
            self._record(one).unlink(missing_ok=True)
            for name in self._practice(one.stem):
                (self.path / name).unlink()
        except OSError as error:
            raise self._failed(error) from error
        for name, content in pages.items():
            self.put(name, content)
        if row is not None:
            self.put(
                f"{RECORDS}/{one.stem}.json", _json({"fingerprint": self._fingerprint(one), "record": record([row])})
            )

    def heads(self) -> dict[str, Head]:
        """The heads of files that the last run looked into."""
        return {key: Head.read(head) for key, head in (_read_json(self.path / HEADS) or {}).items()}

    def keep_heads(self, heads: Mapping[str, Head]) -> None:
        content = _json({key: head.json() for key, head in heads.items()})
        if not (self.path / HEADS).is_file() or (self.path / HEADS).read_bytes() != content:
            self.put(HEADS, content)

    @cached_property
    def settled(self) -> Settled:
        """The marks that a person has given since the last run, or before, where some were pending."""
        return read_settled(self.path / PENDING)

    def given(self, one: Handed) -> Marks:
        return self.settled.of(one.file.path, one.hash)

    def _record(self, one: Handed) -> Path:
        return self.path / RECORDS / f"{one.stem}.json"

    def _fingerprint(self, one: Handed) -> str:
        what = [
            FORMAT,
            record([_row(one)]),
            self.against.hash,
            self.terms.json(),
            SOFTWARE,
            *filter(None, [self.given(one)]),
        ]
        return digest([*what, list(self.feedback), asdict(self.look), self._typesetting, list(self.readers)])

    @cached_property
    def _typesetting(self) -> str:
        return digest([page.latex_class(), page.own_templates()])

    def _pages(self, stem: str) -> list[str]:
        return [f"{FOLDERS[reader]}/{stem}{suffix(form)}" for reader in self.readers for form in self.feedback]

    def _practice(self, stem: str) -> list[str]:
        """The exercise that goes with a submission's feedback, and its solution, if there are any."""
        folders = PRACTICE if "student" in self.readers else ()
        names = [f"{folder}/{stem}{suffix(form)}" for folder in folders for form in self.feedback]
        return [name for name in names if (self.path / name).is_file()]

    # -- the whole

    def before(self) -> dict[str, Any] | None:
        """What the last run that came to its end left."""
        path = self.path / MARKS
        data = _read_json(path)
        if data is not None and data.get("format") == FORMAT:
            return data
        if data is not None and data.get("format") == 1:
            return of_format_1(data)
        if path.exists():
            raise InputError(f"{path} is not a record of marks that this version of symattn reads.")
        return None

    def finish(self, book: Gradebook, rows: Sequence[tuple[Handed, Row]]) -> Gradebook:
        """Write everything that is about the whole class; `rows` are those of what was handed in.

        What former runs wrote and what holds no more is taken away; their changes stay on record.
        """
        data, changes = self._recorded(book)
        book = replace(book, changes=tuple(changes))
        marked = [(one, row) for one, row in rows if row.has_marks]
        stems = [one.stem for one, _ in marked]
        pages = [name for stem in stems for name in (*self._pages(stem), *self._practice(stem))]
        own = {MARKS: data, "gradebook.csv": book.csv().encode(FOR_EXCEL)}
        own |= {f"gradebook-{name}.csv": book.csv(name).encode() for name in self.gradebooks}
        if changes:
            own[CHANGES] = book.changes_csv().encode(FOR_EXCEL)
        loose = ((row, bool(row.reason) and row.reason != one.doubt) for one, row in marked)
        if pending := pending_table(loose, self.settled):
            own[PENDING] = "".join(csv_lines(pending)).encode(FOR_EXCEL)
        summary = replace(book.summary, look=self.look)
        own |= {f"summary{end}": content for end, content in (render(summary, form) for form in self.forms)}
        self._clear({*pages, *own}, stems)
        written = [self.put(name, content) for name, content in own.items()]
        return replace(book, written=(*written, *(self.path / name for name in pages)))

    def _recorded(self, book: Gradebook) -> tuple[bytes, list[Change]]:
        """The record of all runs with this one, if that gave anything else than the one before; and its changes."""
        before = self.before()
        runs, changes = (before["runs"], [Change(**c) for c in before["changes"]]) if before else ([], [])
        now = self._data(book)
        if before is None or _hash({name: before[name] for name in now}) != _hash(now):
            new = list(_changes(len(runs) + 1, before, book)) if before else []
            runs.append({"run": len(runs) + 1, "software": SOFTWARE, "policy": str(self.terms), "changes": len(new)})
            changes += new
        history = {"runs": runs, "changes": [asdict(change) for change in changes]}
        return b"".join(_by_lines({**self._data(book), **history})), changes

    def _data(self, book: Gradebook) -> dict[str, Any]:
        """What this run gave."""
        return {
            "format": FORMAT,
            "software": SOFTWARE,
            "exam": {"title": self.against.title, "hash": self.against.hash},
            "terms": self.terms.json(),
            **streamed(book.rows),
        }

    def _clear(self, current: set[str], stems: Sequence[str]) -> None:
        """Take away pages of former runs, in other formats or about files that have no marks any more."""
        ends = [suffix(form) for form in formats()]
        old = [PENDING, *(f"summary{end}" for end in ends), *(f"gradebook-{name}.csv" for name in PLATFORMS)]
        for kept in (self.path / RECORDS).glob("*.json"):
            old += [f"{folder}/{kept.stem}{end}" for folder in (*FOLDERS.values(), *PRACTICE) for end in ends]
            if kept.stem not in stems:
                kept.unlink()
        for name in old:
            if name not in current:
                (self.path / name).unlink(missing_ok=True)

    def put(self, name: str, content: bytes) -> Path:
        try:
            put(self.path / name, content, self.staging)
        except OSError as error:
            raise self._failed(error) from error
        return self.path / name

    def _failed(self, error: OSError) -> InputError:
        return InputError(f"Writing to the folder {self.path} failed: {error.strerror}.")


def _changes(run: int, before: Mapping[str, Any], book: Gradebook) -> Iterator[Change]:
    return changed(
        run, read_record(before), book.rows, (Terms.read(before["terms"]), book.terms), (before["software"], SOFTWARE)
    )


def _json(data: object) -> bytes:
    return _line(data) + b"\n"


def _line(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def _by_lines(data: Mapping[str, Any]) -> Iterator[bytes]:
    """The same as people read it, with each item of a list, such as a row of the gradebook, on a line of its own."""
    for place, (name, value) in enumerate(data.items()):
        yield b",\n " if place else b"{\n "
        yield _line(name) + b": "
        if isinstance(value, str | int | Mapping):
            yield _line(value)
        else:
            yield b"["
            for number, item in enumerate(value):
                yield b",\n  " if number else b"\n  "
                yield _line(item)
            yield b"\n ]"
    yield b"\n}\n"


def _hash(data: Mapping[str, Any]) -> str:
    """That of a record as it is written, which is many megabytes."""
    found = sha256()
    for piece in _by_lines(data):
        found.update(piece)
    return found.hexdigest()


def _read_json(path: Path) -> dict[str, Any] | None:
    """The table in a file; None if there is no such file or it is incomplete."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
