"""What was handed in: each file with whose it is (`roster`) and what it says about itself.

Where nobody can be told for certain, the file waits for a person: it is given to nobody, so that it changes nothing for
anybody else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from symattn.errors import InputError
from symattn.foundation.languages import message, sentences
from symattn.marking.grading.roster import (
    LONGEST_NAME,
    METADATA,
    Entrant,
    Owners,
    Roster,
    Students,
    Submitters,
    UnclearOwnerError,
    as_saved,
    folded,
    is_index,
    printable,
    sent,
    submitters,
)
from symattn.marking.grading.source import Papers
from symattn.marking.grading.unpacking import File, PlainData, common_folder, natural


@dataclass(frozen=True, slots=True)
class Head(PlainData):
    """What a file says about itself; `complaint` says why it cannot be read, "" if it can; and the hash of it."""

    sheet: str = ""
    name: str = ""
    id: str = ""
    complaint: str = ""
    hash: str = ""


Heads = Callable[[Sequence[File]], Sequence[Head]]


@dataclass(frozen=True, slots=True)
class Handed:
    """A file and what it is taken for.

    `entrant` is whoever of the class list it belongs to, if there is a class list; `sheet`, `name` and `id` are as the
    file states them, `hash` that of what is in it. `complaint` says why it cannot be marked, "" if it can; `unclear`
    why it waits, unmarked, for somebody to say whose it is, and `perhaps` who it may be from; `doubt` why somebody has
    to see it before its marks hold; `notices` are for whoever marks. `stem` is the name, unlike all others, of the
    files that are written about it.
    """

    file: File
    sheet: str = ""
    name: str = ""
    id: str = ""
    entrant: Entrant | None = None
    complaint: str = ""
    doubt: str = ""
    notices: tuple[str, ...] = ()
    stem: str = ""
    hash: str = ""
    unclear: str = ""
    perhaps: Students = frozenset()

    def noticed(self, notice: str) -> Handed:
        """The same with a notice more."""
        return replace(self, notices=(*self.notices, notice))


def matched(found: Sequence[File], heads: Heads, papers: Papers, entered: Sequence[Handed] = ()) -> list[Handed]:
    """Every file, with its head, and whoever it is from, in the order of the class list, then of the files' names.

    Whose a file is, its path says, and nothing that is written inside: where that says something else,
    somebody has to look.  Of several files of one person the last is marked, and that is said; what was
    `entered` in a table counts before any file.  Hidden files count if they are somebody's.  `heads` reads those that
    are needed.
    """
    found, told = _lists_apart(found)
    if not papers.entrants:
        rows = _read_in([Handed(file) for file in found if not file.is_hidden], heads)
        return _with_stems(_said_if_twice([*(_on_sheet(one, papers) for one in rows), *entered]))
    roster, owned = Roster(papers.entrants), _owned(found, papers.entrants, told)
    theirs = [_on_sheet(_compared(one, roster), papers) for one in _read_in(_once_each(owned), heads)]
    nobodys = [one for one in owned if not one.entrant and not one.file.is_hidden]
    handed = _entered_first([*theirs, *nobodys], entered, owned)
    handed.sort(key=lambda one: one.entrant.number if one.entrant else len(papers.entrants) + 1)
    return _with_stems(handed)


# ------------------------------------------------------------------------------------------------ whose they are


def _lists_apart(found: Sequence[File]) -> tuple[list[File], dict[str, Submitters]]:
    """The files without those of a platform's own, and whose the folders of Gradescope are, as its list says.

    They are a platform's beside the folders of all students alone.  Anywhere else a student handed them in.
    """
    top = common_folder(found)
    beside = {file.parts[len(top)] for file in found if len(file.parts) > len(top)}
    told: dict[str, Submitters] = {}
    others = list[File]()
    for file in found:
        is_on_top = file.zipped is None and not file.complaint and file.parts[:-1] == top
        if is_on_top and file.parts[-1] == METADATA and (said := submitters(file.read().decode("utf-8", "replace"))):
            told |= {"/".join((*top, name)): people for name, people in said.items()}
        elif not (is_on_top and is_index(file.parts[-1], beside)):
            others.append(file)
    return others, told


def _owned(found: Sequence[File], entrants: Sequence[Entrant], told: Mapping[str, Submitters]) -> list[Handed]:
    """Every file with whoever it is from, or why that is not clear."""
    owners = Owners(entrants, [file.place for file in found], told)
    owned = []
    for file in found:
        one = Handed(file, complaint=file.complaint)
        try:
            owned.append(replace(one, entrant=owners.of(file.place, file.in_zip)))
        except UnclearOwnerError as error:
            owned.append(replace(one, unclear=error.said, perhaps=error.students))
    return owned


def _once_each(handed: Sequence[Handed]) -> list[Handed]:
    """Of several files of one person, the last (of those that can be read and may be text); the others are named with
    it."""
    kept = []
    for files in _by_entrant(handed).values():
        *others, last = sorted(files, key=_rank)
        if others:
            left = ", ".join(other.file.path for other in others)
            if len({sent(one.file.place) for one in files}) > 1:
                said = message(
                    "{count} files were handed in; the latest is marked, not {others}.", count=len(files), others=left
                )
            else:
                said = message(
                    "{count} files were handed in; the last by name is marked, not {others}.",
                    count=len(files), others=left,
                )  # fmt: skip
            last = last.noticed(said)
        kept.append(last)
    return kept


def _rank(one: Handed) -> tuple[object, ...]:
    file = one.file
    return not one.complaint, file.form != "", not file.is_hidden, sent(file.place), natural(file.stem)


def _entered_first(handed: Sequence[Handed], entered: Sequence[Handed], every: Sequence[Handed]) -> list[Handed]:
    """The rows of a table, each with all of its student's files, and the files of those who have no row."""
    files, rows = _by_entrant(every), _by_entrant(entered)
    said = []
    for one in entered:
        if one.entrant and one.entrant.number in files:
            paths = ", ".join(other.file.path for other in files[one.entrant.number])
            one = one.noticed(message("It was entered in the table; files not marked: {files}.", files=paths))
        said.append(one)
    return [*(one for one in handed if not (one.entrant and one.entrant.number in rows)), *said]


def _by_entrant(handed: Iterable[Handed]) -> dict[int, list[Handed]]:
    """What is somebody's, by the number in the class list."""
    found: dict[int, list[Handed]] = {}
    for one in handed:
        if one.entrant:
            found.setdefault(one.entrant.number, []).append(one)
    return found


# ------------------------------------------------------------------------------------------------ what they say


def _read_in(handed: Sequence[Handed], heads: Heads) -> list[Handed]:
    """With what each file says about itself."""
    read = heads([one.file for one in handed])
    return [_with_head(one, head) for one, head in zip(handed, read, strict=True)]


def _with_head(one: Handed, head: Head) -> Handed:
    sheet, name, id = (printable(said)[:LONGEST_NAME] for said in (head.sheet, head.name, head.id))
    return replace(one, sheet=sheet, name=name, id=id, complaint=head.complaint, hash=head.hash)


def _compared(one: Handed, roster: Roster) -> Handed:
    """With what speaks against the id in the file, if it is another's or nobody's."""
    inside = roster.with_id(one.id)
    if inside and one.entrant not in inside:
        student = str(min(inside, key=lambda e: e.number))
        doubt = message("The id inside is that of {student}; the file's name says whose it is.", student=student)
        return replace(one, doubt=doubt)
    if inside or not one.id:
        return one
    return one.noticed(
        message("The id inside, {id}, is not in the class list; the file's name says whose it is.", id=repr(one.id))
    )


def _on_sheet(one: Handed, papers: Papers) -> Handed:
    """The sheet that is marked: the one named in the file, or where there is none, as in a text of somebody's own, the
    one given out, or the one that the file is called by.

    A sheet that was not given out to whoever it is from is marked, and somebody has to look.
    """
    if one.complaint:
        return one
    given_out = one.entrant.sheet if one.entrant else ""
    try:
        named = papers.sheet(one.sheet or given_out or papers.called(as_saved(one.file.stem)))
    except InputError as error:
        if not given_out:
            return replace(one, complaint=error.said)
        said = message("{error} It is marked as {sheet}, which was handed out.", error=error.said, sheet=given_out)
        return _doubted(one, given_out, said)
    if given_out and one.sheet and named != given_out:
        return _doubted(one, named, another_paper(named, given_out))
    return replace(one, sheet=named)


def another_paper(named: str, given: str) -> str:
    """Why somebody has to see work on another paper than the one that was handed out."""
    return message(
        "It answers paper {named}, but {given} was handed out; it is marked as {named}.", named=named, given=given
    )


def _doubted(one: Handed, sheet: str, doubt: str) -> Handed:
    return replace(one, sheet=sheet, doubt=sentences(one.doubt, doubt))


def _said_if_twice(handed: Sequence[Handed]) -> list[Handed]:
    """With the other files that state the same id, where nobody knows whose they are."""
    same: dict[str, list[str]] = {}
    for one in handed:
        same.setdefault(folded(one.id), []).append(one.file.path)
    said = []
    for one in handed:
        others = ", ".join(path for path in same[folded(one.id)] if one.id and path != one.file.path)
        if others:
            one = one.noticed(message("The id {id} is also in {files}.", id=repr(one.id), files=others))
        said.append(one)
    return said


def _with_stems(handed: Iterable[Handed]) -> list[Handed]:
    """A name for each, that of the paper where it is known, else the file's own, made plain and different."""
    taken: set[str] = set()
    named = []
    for one in handed:
        stem = plain = one.entrant.stem if one.entrant else "file-" + _plain(one.file.stem)
        number = 1
        while stem.casefold() in taken:
            number += 1
            stem = f"{plain}-{number}"
        taken.add(stem.casefold())
        named.append(replace(one, stem=stem))
    return named


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "", text)[:40] or "unnamed"
