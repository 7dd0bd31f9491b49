"""Whose work a file is: by what the platform or the teacher called it, never by what a student may have chosen.

    Anna Maria Muster_12345_assignsubmission_file_/sheet.md      Moodle, also without a folder
    musterannamaria_LATE_123_456_sheet.md                        Canvas
    submission_123456/sheet.md, and submission_metadata.yml      Gradescope
    Anna Maria Muster/sheet.md, 003-20231954.md                  folders and files named by hand

A path is read from its beginning.  The first part that a platform made, or that names somebody of the class list,
decides; what stands below it is the student's own choice, and may agree or say nothing.  Where it names somebody else,
or nobody can be told for certain, the file waits for a person: it is given to nobody, so that it changes nothing for
anybody else.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from pathlib import PurePosixPath

from anyascii import anyascii

from symattn.foundation.languages import message
from symattn.marking.grading.source import Entrant, plain_name

SHORT, SHORTEST = 4, 3
"""Digits of a number that may stand in a name for anything else, a homework's or a year; and, if it is the whole name,
the fewest that are taken for an id."""
LONGEST_NAME = 100
LONGEST_PART = 500
"""Characters of a part of a path that are looked at; those in zips may be long, and a pattern takes their square."""

Submitters = tuple[tuple[str, str], ...]
"""Names and ids of whoever handed something in, as a platform's list says."""


@dataclass(frozen=True, slots=True)
class Meant:
    """Whom a name may mean: those that each id and each name in it fits, and those that only a short number fits."""

    fits: tuple[frozenset[Entrant], ...] = ()
    by_number: frozenset[Entrant] = frozenset()

    @property
    def students(self) -> frozenset[Entrant]:
        """Those that everything in it fits."""
        return reduce(frozenset.__and__, self.fits) if self.fits else frozenset()

    @property
    def all(self) -> frozenset[Entrant]:
        return frozenset().union(*self.fits)


class Roster:
    """The class list, looked up by ids and by names as people and programs write them."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        self._by_id = _collected((folded(e.id), e) for e in entrants)
        self._by_name = _typed(_by_name(entrants))
        self._joined = _collected((key.replace(" ", ""), e) for key, them in self._by_name.items() for e in them)
        self._by_stem = {e.stem: e for e in entrants}
        given = Counter(e.sheet for e in entrants)
        self._by_sheet = {plain_name(e.sheet): e for e in entrants if e.sheet and given[e.sheet] == 1}
        self._stem = re.compile(rf"(?:{_any_of(self._by_stem)}){_NO_MORE}")
        self._id = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_id)}){_NO_MORE}")
        self._name = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_name)}){_NO_MORE}")

    def with_id(self, id: str) -> frozenset[Entrant]:
        """Those with this id, in capitals or not; one of them alone if it is written exactly so."""
        found = self._by_id.get(folded(id), frozenset())
        return frozenset(e for e in found if e.id == id) or found

    def with_name(self, name: str) -> frozenset[Entrant]:
        """Those with this name: in any order of its words, and in the letters a to z."""
        return self._by_name.get(_words(name), frozenset())

    def joined(self, name: str) -> frozenset[Entrant]:
        """Those whose name this is, written in one word, as Canvas does: lovelaceada."""
        return self._joined.get(_words(name).replace(" ", ""), frozenset())

    def meant(self, name: str) -> Meant:
        """Whom a name typed by hand means: its stem or sheet, and every id and every full name in it."""
        name = as_saved(name)
        if owner := self._by_sheet.get(plain_name(name)):
            return Meant((frozenset({owner}),))
        fits = list[frozenset[Entrant]]()
        if beginning := self._stem.match(name):
            fits.append(frozenset({self._by_stem[beginning[0]]}))
            name = name[beginning.end() :]
        elif (whole := folded(name)) in self._by_id and not (whole.isdecimal() and len(whole) < SHORTEST):
            fits.append(self._by_id[whole])
            name = ""
        ids = set(self._id.findall(folded(name)))
        short = {id for id in ids if id.isdecimal() and len(id) <= SHORT}
        fits += [self._by_id[id] for id in sorted(ids - short)]
        fits += [self._by_name[found] for found in sorted(set(self._name.findall(_words(name))))]
        return Meant(tuple(fits), frozenset().union(*(self._by_id[id] for id in short)))


class Owners:
    """Whose each of some files is, by their paths among one another; `told` has Gradescope's folders."""

    def __init__(
        self, entrants: Sequence[Entrant], paths: Iterable[Sequence[str]], told: Mapping[str, Submitters]
    ) -> None:
        self._roster = Roster(entrants)
        self._told = told
        self._seen: dict[str, Meant] = {}
        cut = [_cut(path) for path in paths]
        made = (_MADE.match(part) for path in cut for part in path)
        self._group = _group({found["moodle"] for found in made if found and found["moodle"]})
        folders = {path[: k + 1] for path in cut for k in range(len(path) - 1)}
        self._of_students = {path[:-1] for path in folders if self._platform(path) or self._meant(path[-1]).fits}
        """Folders that hold one for each student."""

    def of(self, outer: Sequence[str], inner: Sequence[str] = ()) -> Entrant | str:
        """Whose a file is, or why that is not clear.

        `outer` are the parts of its path; if it lies in a zip among them, up to that, and `inner` the parts in the zip.
        """
        outer, inner = _cut(outer), _cut(inner)
        for k, part in enumerate(outer):
            name = part if k < len(outer) - 1 else _stem(part)
            below = [*outer[k + 1 : -1], *map(_stem, outer[k + 1 :][-1:]), *inner[:-1], *map(_stem, inner[-1:])]
            if made := self._platform(outer[: k + 1]):
                found = self._by_platform(made, "/".join(outer[: k + 1]))
                below.insert(0, _stem(part)[made.end() :])
            elif (meant := self._meant(name)).fits:
                found = self._by_hand(part, meant)
            elif k < len(outer) - 1 and outer[:k] in self._of_students:
                return message(
                    "It is not clear whose it is: the folder {folder}, beside those of students, names nobody in the "
                    "class list.",
                    folder=repr(part),
                )
            else:
                continue
            return found if isinstance(found, str) else self._unless_contradicted(found, part, below)
        return self._of_nobody(outer, inner)

    def _meant(self, name: str) -> Meant:
        if name not in self._seen:
            self._seen[name] = self._roster.meant(name)
        return self._seen[name]

    def _platform(self, path: Sequence[str]) -> re.Match[str] | None:
        """What a platform puts before the name of a student's file, or calls the folder."""
        if "/".join(path) in self._told:
            return _GRADESCOPE.match(path[-1])
        return _MADE.match(path[-1])

    def _by_platform(self, made: re.Match[str], path: str) -> Entrant | str:
        """Whoever a platform says; it says so by the full name, or in a list."""
        match made.lastgroup:
            case "moodle":
                platform, name = "Moodle", made["moodle"]
                found = self._roster.with_name(name) or self._roster.with_name(name.removeprefix(self._group))
            case "canvas" | "blind" as kind:
                platform, name = "Canvas", made[kind]
                found = self._roster.joined(name)
            case _:
                return self._by_list(path)
        if len(found) == 1:
            return next(iter(found))
        if found:
            return message(
                "It is not clear whose it is: {platform} has it from {name}, and that may be {students}.",
                platform=platform,
                name=repr(name),
                students=_listed(found),
            )
        return message(
            "{platform} has it from {name}, and nobody in the class list is called so.",
            platform=platform,
            name=repr(name),
        )

    def _by_list(self, path: str) -> Entrant | str:
        people = self._told.get(path)
        if not people:
            return message(
                "It is in a folder of Gradescope's, and no submission_metadata.yml at the top of the export says whose "
                "that is."
            )
        known = []
        for name, id in people:
            by_id, by_name = self._roster.with_id(id), self._roster.with_name(name)
            if by_id and by_name and not by_id & by_name:
                return self._by_hand(f"{name} ({id})", Meant((by_id, by_name)))
            known.append(by_id or by_name)
        names = printable(", ".join(f"{name} ({id})" for name, id in people))[:LONGEST_NAME]
        students = frozenset().union(*known)
        if len(students) > 1 or (students and len(people) > 1):
            return message("Several students handed it in: {names}; mark it for each of them.", names=names)
        if not students:
            return message("It was handed in by {names}: not in the class list.", names=names)
        return next(iter(students))

    def _by_hand(self, part: str, meant: Meant) -> Entrant | str:
        if len(meant.students) == 1:
            return next(iter(meant.students))
        return message(
            "It is not clear whose it is: the name {part} fits {students}.",
            part=repr(part),
            students=_listed(meant.students or meant.all),
        )

    def _unless_contradicted(self, owner: Entrant, part: str, below: Iterable[str]) -> Entrant | str:
        for other in below:
            for fits in self._meant(other).fits:
                if owner not in fits:
                    return message(
                        "It is not clear whose it is: {part} is the name of {one}, and {other} in it that of "
                        "{students}.",
                        part=repr(part),
                        one=who(owner),
                        other=repr(other),
                        students=_listed(fits),
                    )
        return owner

    def _of_nobody(self, outer: Sequence[str], inner: Sequence[str]) -> str:
        if inner:
            return message(
                "It is not clear whose it is: it is in a zip with no student's name, and names in a zip do not count. "
                "If the zip holds a whole class, unpack it first."
            )
        numbers = [self._meant(name).by_number for name in (*outer[:-1], _stem(outer[-1]))]
        if found := frozenset().union(*numbers):
            return message(
                "It is not clear whose it is: only a short number in its name fits an id, that of {students}, and it "
                "may be any other number.",
                students=_listed(found),
            )
        return message(
            "It is not clear whose it is: neither the file's name nor its folder's has an id or "
            "a name from the class list, and what is written inside does not count."
        )


_NO_LESS = r"(?<![^\W_])"
_NO_MORE = r"(?![^\W_])"
_GRADESCOPE = re.compile(r"submission_\d+")
_MADE = re.compile(
    r"(?P<moodle>.+?)_\d+_assignsubmission_[a-z]+_?"
    r"|(?P<blind>(?:LATE_)?anon_[^\W_]+)_(?:\d+_|(?:text|link)\.html\Z)"
    r"|(?P<canvas>[^\s.,()-]+?)(?:_LATE)?_\d+_(?:\d+_|(?:text|link)\.html\Z)"
    r"|(?P<gradescope>submission_\d{5,})(?:\.\w+)?\Z",
    re.IGNORECASE,
)
"""What platforms call a student's file or folder, or begin its name with: Moodle with the full name, Canvas with the
name in one word, whose marks and signs `\\w` does not know, or anon and letters; a submission_2 may be anybody's."""
_COPIED = re.compile(r"(?:\s*\(\d{1,3}\))+\Z")


def _cut(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part[:LONGEST_PART]) for part in path)


def _group(names: Set[str]) -> str:
    """What Moodle puts before all names if a group's work is downloaded: "Group 1-"."""
    heads = [{name[: at.end()] for at in re.finditer("-", name)} for name in names]
    return max(set[str].intersection(*heads), key=len, default="") if len(names) > 1 else ""


def _stem(part: str) -> str:
    return PurePosixPath(part).stem


def as_saved(name: str) -> str:
    """A name without what browsers put behind that of a second copy.

    >>> as_saved("003-s003 (2)"), as_saved("answers(1) (2)")
    ('003-s003', 'answers')
    """
    return _COPIED.sub("", unicodedata.normalize("NFC", name))


def _collected(named: Iterable[tuple[str, Entrant]]) -> dict[str, frozenset[Entrant]]:
    found: dict[str, frozenset[Entrant]] = {}
    for name, entrant in named:
        if name:
            found[name] = found.get(name, frozenset()) | {entrant}
    return found


def _by_name(entrants: Sequence[Entrant]) -> dict[str, frozenset[Entrant]]:
    """Everybody by the words of the name, and in any other order (Muster, Anna Maria) that is nobody's own."""
    split = [(_words(e.name).split(), e) for e in entrants]
    turned = _collected((" ".join(words[k:] + words[:k]), e) for words, e in split for k in range(1, len(words)))
    return turned | _collected((" ".join(words), e) for words, e in split)


def _typed(names: Mapping[str, frozenset[Entrant]]) -> dict[str, frozenset[Entrant]]:
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


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True) if text) or "(?!)"


def who(entrant: Entrant) -> str:
    return f"{entrant.name!r} ({entrant.id!r})"


def _listed(students: Iterable[Entrant]) -> str:
    found = sorted(students, key=lambda e: e.number)
    return ", ".join(map(who, found[:3])) + " …" * (len(found) > 3)


def printable(text: str) -> str:
    """A text without control characters and what is no character at all."""
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") else c for c in text)


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
