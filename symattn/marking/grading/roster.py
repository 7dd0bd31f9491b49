"""The class list in marking: who is meant by an id or a name, as people and programs write them, and whose a path is.

That is said by what the platform or the teacher called it, never by what a student may have chosen:

    Anna Maria Muster_12345_assignsubmission_file_/sheet.md      Moodle, also without a folder
    musterannamaria_LATE_123_456_sheet.md                        Canvas
    123-456 - Anna Maria Muster - Nov 30, 2026 510 PM/sheet.md   Brightspace
    submission_123456/sheet.md, and submission_metadata.yml      Gradescope
    Anna Maria Muster/sheet.md, 003-20231954.md                  folders and files named by hand

A path is read from its beginning.  The first part that a platform made, or that names somebody of the class list,
decides; what stands below it is the student's own choice, and may agree or say nothing.  Where it names somebody else,
or nobody can be told for certain, that is refused with the reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from pathlib import PurePosixPath

from anyascii import anyascii

from symattn.errors import InputError
from symattn.foundation.identity import plain_name
from symattn.foundation.languages import message

SHORT, SHORTEST = 4, 3
"""Digits of a number that may stand in a name for anything else, a homework's or a year; and, if it is the whole name,
the fewest that are taken for an id."""
LONGEST_NAME = 100
LONGEST_PART = 500
"""Characters of a part of a path that are looked at; those in zips may be long, and a pattern takes their square."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody of the class list: the number in it, from 1, the sheet that was given out, the name of its file, the
    seat, and the cells by which a learning platform knows the student, by their headings."""

    number: int
    name: str
    id: str
    sheet: str
    stem: str
    seat: str = ""
    listed: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.name!r} ({self.id!r})"


Students = frozenset[Entrant]


class UnclearOwnerError(InputError):
    """Whose a file is cannot be told for certain; `students` are those who may be meant."""

    def __init__(self, message: str, students: Students = frozenset()) -> None:
        super().__init__(message)
        self.students = students


# ------------------------------------------------------------------------------------------------ names and ids


@dataclass(frozen=True, slots=True)
class Meant:
    """Whom a name may mean: those that each id and each name in it fits, and those that only a short number fits."""

    fits: tuple[Students, ...] = ()
    by_number: Students = frozenset()

    @property
    def students(self) -> Students:
        """Those that everything in it fits."""
        return reduce(frozenset.__and__, self.fits) if self.fits else frozenset()

    @property
    def all(self) -> Students:
        return Students().union(*self.fits)


class Roster:
    """The class list, looked up by ids and by names."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        self._by_id = _collected((folded(e.id), e) for e in entrants)
        self._by_name = _in_plain_letters(_in_any_order(entrants))
        self._joined = _collected((key.replace(" ", ""), e) for key, them in self._by_name.items() for e in them)
        self._by_stem = {e.stem: e for e in entrants}
        given = Counter(e.sheet for e in entrants)
        self._by_sheet = {plain_name(e.sheet): e for e in entrants if e.sheet and given[e.sheet] == 1}
        self._stem = re.compile(rf"(?:{_any_of(self._by_stem)}){_NO_MORE}")
        self._id = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_id)}){_NO_MORE}")
        self._name = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_name)}){_NO_MORE}")

    def with_id(self, id: str) -> Students:
        """Those with this id, in capitals or not; one of them alone if it is written exactly so."""
        found = self._by_id.get(folded(id), frozenset())
        return frozenset(e for e in found if e.id == id) or found

    def with_name(self, name: str) -> Students:
        """Those with this name: in any order of its words, and in the letters a to z, all of it or in part."""
        words = _words(name)
        return self._by_name.get(words) or self._by_name.get(_plain_letters(words), frozenset())

    def joined(self, name: str) -> Students:
        """Those whose name this is, written in one word, as Canvas does: lovelaceada."""
        return self._joined.get(_words(name).replace(" ", ""), frozenset())

    def meant(self, name: str) -> Meant:
        """Whom a name typed by hand means: its stem or sheet, and every id and every full name in it."""
        name = as_saved(name)
        if owner := self._by_sheet.get(plain_name(name)):
            return Meant((frozenset({owner}),))
        fits = list[Students]()
        if beginning := self._stem.match(name):
            fits.append(frozenset({self._by_stem[beginning[0]]}))
            name = name[beginning.end() :]
        elif (whole := folded(name)) in self._by_id and not (whole.isdecimal() and len(whole) < SHORTEST):
            fits.append(self._by_id[whole])
            name = ""
        ids = set(self._id.findall(folded(name)))
        short = {id for id in ids if id.isdecimal() and len(id) <= SHORT}
        fits += [self._by_id[id] for id in sorted(ids - short)]
        words = _words(name)
        names = set(self._name.findall(words)) or set(self._name.findall(_plain_letters(words)))
        fits += [self._by_name[found] for found in sorted(names)]
        return Meant(tuple(fits), Students().union(*(self._by_id[id] for id in short)))


_NO_LESS = r"(?<![^\W_])"
_NO_MORE = r"(?![^\W_])"


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True) if text) or "(?!)"


def _collected(named: Iterable[tuple[str, Entrant]]) -> dict[str, Students]:
    found: dict[str, Students] = {}
    for name, entrant in named:
        if name:
            found[name] = found.get(name, frozenset()) | {entrant}
    return found


def _in_any_order(entrants: Sequence[Entrant]) -> dict[str, Students]:
    """Everybody by the words of the name, and in any other order (Muster, Anna Maria) that is nobody's own."""
    split = [(_words(e.name).split(), e) for e in entrants]
    turned = _collected((" ".join(words[k:] + words[:k]), e) for words, e in split for k in range(1, len(words)))
    return turned | _collected((" ".join(words), e) for words, e in split)


def _in_plain_letters(names: Mapping[str, Students]) -> dict[str, Students]:
    """Names as they are, and in the letters a to z, where that is nobody's own: Jürgen, Jurgen and Juergen."""
    ways = (
        (_plain_letters(way), entrant)
        for name, them in names.items()
        for way in (name, name.translate(_UMLAUTS))
        for entrant in them
    )
    return _collected(ways) | dict(names)


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def _plain_letters(text: str) -> str:
    """Latin letters as a to z, as many programs and people write them."""
    return "".join(anyascii(c) if unicodedata.name(c, "").startswith("LATIN") else c for c in text)


def _words(text: str) -> str:
    """The words of a text alone: Ada_Lovelace and "ada lovelace" are the same."""
    return " ".join(re.findall(r"[^\W_]+", folded(text)))


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def as_saved(name: str) -> str:
    """A name without what browsers put behind that of a second copy.

    >>> as_saved("003-s003 (2)"), as_saved("answers(1) (2)")
    ('003-s003', 'answers')
    """
    return _COPIED.sub("", unicodedata.normalize("NFC", name))


_COPIED = re.compile(r"(?:\s*\(\d{1,3}\))+\Z")


def printable(text: str) -> str:
    """A text without control characters and what is no character at all."""
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") else c for c in text)


# ------------------------------------------------------------------------------------------------ platforms

METADATA = "submission_metadata.yml"
_GRADESCOPE = re.compile(r"submission_\d+")
_MADE = re.compile(
    r"(?P<moodle>.+?)_\d+_assignsubmission_[a-z]+_?"
    r"|(?P<blind>(?:LATE_)?anon_[^\W_]+)_(?:\d+_|(?:text|link)\.html\Z)"
    r"|(?P<canvas>[^\s.,()-]+?)(?:_LATE)?_\d+_(?:\d+_|(?:text|link)\.html\Z)"
    r"|\d+-\d+ - (?P<brightspace>.+?) - (?P<sent>[^-]+ \d{3,4} [AP]M)(?: - |\Z)"
    r"|(?P<gradescope>submission_\d{5,})(?:\.\w+)?\Z",
    re.IGNORECASE,
)
"""What platforms call a student's file or folder, or begin its name with: Moodle and Brightspace with the full name,
Canvas with the name in one word, whose marks and signs `\\w` does not know, or anon and letters; a submission_2 may be
anybody's."""
_NAMED = {"moodle": "Moodle", "blind": "Canvas", "canvas": "Canvas", "brightspace": "Brightspace"}
_INDEX = "index.html"
"""What Brightspace puts beside the folders of its export."""

Submitters = tuple[tuple[str, str], ...]
"""Names and ids of whoever handed something in, as a platform's list says."""


def submitters(text: str) -> dict[str, Submitters]:
    """The names and ids of submitters by the folder or file, from a list in YAML as Gradescope writes it."""
    told: dict[str, Submitters] = {}
    _, *parts = re.split(r"(?m)^(\S.*):\s*$", text)
    for name, below in zip(parts[::2], parts[1::2], strict=True):
        each = (dict(_FIELD.findall(person)) for person in re.split(r"(?m)^[ \t]+-", below))
        people = [[one.get(field, "").strip("'\"") for field in ("name", "sid")] for one in each if one]
        if people and _GRADESCOPE.match(name := name.strip("'\"")):
            told[name] = tuple((name, id) for name, id in people)
    return told


_FIELD = re.compile(r"(?m)^[ \t]*:(name|sid):[ \t]*(.*?)[ \t\r]*$")


def is_index(name: str, beside: Iterable[str]) -> bool:
    """Whether a file is the page that Brightspace puts beside the folders of its export."""
    made = (_MADE.match(other) for other in beside)
    return name == _INDEX and any(found and found["brightspace"] for found in made)


def sent(path: Iterable[str]) -> datetime:
    """When a file was handed in, as Brightspace's folders say in English; else the least time there is."""
    for part in path:
        if (made := _MADE.match(part)) and made["sent"]:
            with suppress(ValueError):
                return datetime.strptime(made["sent"].upper(), "%b %d, %Y %I%M %p")
    return datetime.min


# ------------------------------------------------------------------------------------------------ whose a path is


class Owners:
    """Whose each of some files is, by their paths among one another; `told` has Gradescope's folders."""

    def __init__(
        self, entrants: Sequence[Entrant], paths: Iterable[Sequence[str]], told: Mapping[str, Submitters]
    ) -> None:
        self._roster = Roster(entrants)
        self._told = told
        self._meanings: dict[str, Meant] = {}
        cut = [_cut(path) for path in paths]
        made = (_MADE.match(part) for path in cut for part in path)
        self._group = _group({found["moodle"] for found in made if found and found["moodle"]})
        folders = {path[: k + 1] for path in cut for k in range(len(path) - 1)}
        self._of_students = {path[:-1] for path in folders if self._platform(path) or self._meant(path[-1]).fits}
        """Folders that hold one for each student."""

    def of(self, outer: Sequence[str], inner: Sequence[str] = ()) -> Entrant:
        """Whose a file is; `UnclearOwnerError` says why that is not clear.

        `outer` are the parts of its path; if it lies in a zip among them, up to that, and `inner` the parts in the zip.
        """
        outer, inner = _cut(outer), _cut(inner)
        names = _names(outer)
        for k, (part, name) in enumerate(zip(outer, names, strict=True)):
            below = [*names[k + 1 :], *_names(inner)]
            if made := self._platform(outer[: k + 1]):
                owner = self._by_platform(made, "/".join(outer[: k + 1]))
                below.insert(0, _stem(part)[made.end() :])
            elif (meant := self._meant(name)).fits:
                owner = _only(part, meant)
            elif k < len(outer) - 1 and outer[:k] in self._of_students:
                raise UnclearOwnerError(
                    message(
                        "It is not clear whose it is: the folder {folder}, beside those of students, names nobody in "
                        "the class list.",
                        folder=repr(part),
                    )
                )
            else:
                continue
            self._check_not_contradicted(owner, part, below)
            return owner
        raise self._of_nobody(names, bool(inner))

    def _meant(self, name: str) -> Meant:
        if name not in self._meanings:
            self._meanings[name] = self._roster.meant(name)
        return self._meanings[name]

    def _platform(self, path: Sequence[str]) -> re.Match[str] | None:
        """What a platform puts before the name of a student's file, or calls the folder."""
        pattern = _GRADESCOPE if "/".join(path) in self._told else _MADE
        return pattern.match(path[-1])

    def _by_platform(self, made: re.Match[str], path: str) -> Entrant:
        """Whoever a platform says; it says so by the full name, or in a list."""
        said = made.groupdict()
        kind = next((kind for kind in _NAMED if said.get(kind)), "")
        if not kind:
            return self._by_list(path)
        name = said[kind]
        if kind in ("canvas", "blind"):
            found = self._roster.joined(name)
        else:
            found = self._roster.with_name(name) or self._roster.with_name(name.removeprefix(self._group))
        if len(found) == 1:
            return next(iter(found))
        if found:
            raise UnclearOwnerError(
                message(
                    "It is not clear whose it is: {platform} has it from {name}, and that may be {students}.",
                    platform=_NAMED[kind],
                    name=repr(name),
                    students=_listed(found),
                ),
                found,
            )
        raise UnclearOwnerError(
            message(
                "{platform} has it from {name}, and nobody in the class list is called so.",
                platform=_NAMED[kind],
                name=repr(name),
            )
        )

    def _by_list(self, path: str) -> Entrant:
        people = self._told.get(path)
        if not people:
            raise UnclearOwnerError(
                message(
                    "It is in a folder of Gradescope's, and no submission_metadata.yml at the top of the export says "
                    "whose that is."
                )
            )
        known = []
        for name, id in people:
            by_id, by_name = self._roster.with_id(id), self._roster.with_name(name)
            if by_id and by_name and not by_id & by_name:
                return _only(_with_id(name, id), Meant((by_id, by_name)))
            known.append(by_id or by_name)
        names = printable(", ".join(_with_id(name, id) for name, id in people))[:LONGEST_NAME]
        students = Students().union(*known)
        if len(students) > 1 or (students and len(people) > 1):
            raise UnclearOwnerError(
                message("Several students handed it in: {names}; mark it for each of them.", names=names), students
            )
        if not students:
            raise UnclearOwnerError(message("It was handed in by {names}: not in the class list.", names=names))
        return next(iter(students))

    def _check_not_contradicted(self, owner: Entrant, part: str, below: Iterable[str]) -> None:
        """`UnclearOwnerError` if something below that part of a path is the name of another student."""
        for other in below:
            for fits in self._meant(other).fits:
                if owner not in fits:
                    raise UnclearOwnerError(
                        message(
                            "It is not clear whose it is: {part} is the name of {one}, and {other} in it that of "
                            "{students}.",
                            part=repr(part),
                            one=str(owner),
                            other=repr(other),
                            students=_listed(fits),
                        ),
                        fits | {owner},
                    )

    def _of_nobody(self, names: Sequence[str], in_a_zip: bool) -> UnclearOwnerError:
        if in_a_zip:
            return UnclearOwnerError(
                message(
                    "It is not clear whose it is: it is in a zip with no student's name, and names in a zip do not "
                    "count. If the zip holds a whole class, unpack it first."
                )
            )
        if found := Students().union(*(self._meant(name).by_number for name in names)):
            return UnclearOwnerError(
                message(
                    "It is not clear whose it is: only a short number in its name fits an id, that of {students}, and "
                    "it may be any other number.",
                    students=_listed(found),
                ),
                found,
            )
        return UnclearOwnerError(
            message(
                "It is not clear whose it is: neither the file's name nor its folder's has an id or "
                "a name from the class list, and what is written inside does not count."
            )
        )


def _only(part: str, meant: Meant) -> Entrant:
    """The one student whom a name means."""
    if len(meant.students) == 1:
        return next(iter(meant.students))
    found = meant.students or meant.all
    raise UnclearOwnerError(
        message(
            "It is not clear whose it is: the name {part} fits {students}.", part=repr(part), students=_listed(found)
        ),
        found,
    )


def _with_id(name: str, id: str) -> str:
    return f"{name} ({id})" if name and id else name or id


def _group(names: Set[str]) -> str:
    """What Moodle puts before all names if a group's work is downloaded: "Group 1-"."""
    heads = [{name[: at.end()] for at in re.finditer("-", name)} for name in names]
    return max(set[str].intersection(*heads), key=len, default="") if len(names) > 1 else ""


def _cut(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part[:LONGEST_PART]) for part in path)


def _names(path: Sequence[str]) -> list[str]:
    """The parts of a path, the last without its suffix."""
    return [*path[:-1], *map(_stem, path[-1:])]


def _stem(part: str) -> str:
    return PurePosixPath(part).stem


def _listed(students: Iterable[Entrant]) -> str:
    found = sorted(students, key=lambda e: e.number)
    return ", ".join(map(str, found[:3])) + " …" * (len(found) > 3)
