"""A report: what every entry is worth and why, which mistakes were made, and the marks that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from symattn.derivation.derivation import Derivation
from symattn.exact import Value
from symattn.marking.attempt import BLANK, Attempt, Entry
from symattn.marking.marker.policy import Policy
from symattn.teaching.question import Question

State = Literal["correct", "follows", "implied", "wrong", "missing", "unreadable"]
"""`correct`: equal to the key.  `follows`: right after what the student wrote before.  `implied`: not written, but a
later line is right that could not be without it."""

ACCEPTED: frozenset[State] = frozenset({"correct", "follows", "implied"})
"""What counts as right."""

Way = Literal["key", "written", "unrounded", "window", "event"]
"""What an entry was compared with: the key; what follows from the lines as they were written; what follows from them
before they were rounded; everything that follows from anything that they may be rounded from; what follows from a
mistake made before."""

Flag = Literal["precision", "rounded", "recovered", "contradiction"]
"""`precision`: written to fewer places than were asked for.  `rounded`: what the places that are shown do not explain,
and coarser rounding on the way does."""

OF_PLACES: frozenset[Flag] = frozenset({"precision", "rounded"})
"""What costs precision (rules.md 3.5)."""


Cell = tuple[int, int]
"""The row and the column of an entry, from 0."""

Place = tuple[str, int, int]
"""A part or a step, and an entry of it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One entry judged.

    (i, j), from 0, is its place in the part's own layout; while a script is followed, `part` is the step, and tokens
    are rows.  `compared` is the recomputed value that it was compared with (None where nothing could be computed),
    `right` that of the key; `proof` says how equality was decided ("exact", "interval", "rounding", "window",
    "undecided to 400 digits", …).  `event` is the number of the event that it is due to (from 0), None if there is no
    such.
    """

    part: str
    i: int
    j: int
    state: State
    written: Entry = BLANK
    compared: Value | None = None
    right: Value | None = None
    way: Way = "key"
    proof: str = ""
    flags: tuple[Flag, ...] = ()
    event: int | None = None

    @property
    def place(self) -> Place:
        return self.part, self.i, self.j

    @property
    def accepted(self) -> bool:
        return self.state in ACCEPTED


Kind = Literal["misconception", "slip", "misread", "shape", "rounding", "unknown", "answer"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One explanation of an event.

    `id` is that of the misconception or the slip ("C1", "A2"); `says` how it was done here, in plain words (slips), a
    clause or else a whole `sentence`; "" for misconceptions, whose name and feedback the catalogue has.
    """

    kind: Kind
    id: str
    says: str = ""
    sentence: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One independent mistake, however many entries it spoils.

    `part` is where it shows first; while a script is followed, its step.  `charged` are the steps that it is charged
    to, which may have been left out, the first one first.  `candidates` are all explanations that fit what was written,
    the likeliest first; several cannot be told apart here.  None at all: the mistake was not recognised.  `spoilt` are
    steps that were left out and are wrong as well, if it was made.  A misconception may explain it in some rows or
    columns only, `in_part`.
    """

    number: int
    part: str
    charged: tuple[str, ...]
    kind: Kind
    candidates: tuple[Candidate, ...] = ()
    entries: tuple[Place, ...] = ()
    spoilt: frozenset[str] = frozenset()
    in_part: bool = False

    @property
    def step(self) -> str:
        """The step that it is charged to first of all."""
        return self.charged[0]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all explanations; "" of what has none."""
        return tuple(candidate.id for candidate in self.candidates)


Reason = Literal[
    "entries", "right", "rows", "columns", "ticks",
    "method seen", "method not seen", "wrong method", "lost already", "no method", "shapes", "no working",
    "answer alone", "right answer", "reason seen", "to be read", "right order", "one swap", "wrong order",
    "not carried forward",
]  # fmt: skip
"""Why a line has its marks.  Counted are entries that show the method, entries that are right, rows or columns that
are, and options that were ticked rightly."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a line has the marks that it has: the reason, and what was counted for it.

    `wrong` is how many options were ticked wrongly; `withheld` says that a mark was withheld besides.
    """

    reason: Reason
    right: int = 0
    of: int = 0
    wrong: int = 0
    withheld: bool = False

    @property
    def counts(self) -> bool:
        return self.reason in ("entries", "right", "rows", "columns", "ticks")


@dataclass(frozen=True, slots=True)
class Given:
    """Marks of one code for one line of the scheme: how many were given of how many, and why, None if that is plain.

    N stands for no working: what a right answer with nothing before it would earn, a share of all the marks, beyond
    what the lines before it do; `of` 0.
    """

    parts: tuple[str, ...]
    code: Literal["M", "A", "B", "N"]
    given: int
    of: int
    why: Why | None = None
    pending: bool = False
    """Somebody has to read the answer first."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should look at, or a reduction: part ("" for the whole question), kind, one sentence.

    `event` is the number of the event that it is about, None if there is none: where the event is told, only `besides`
    remains to be said.
    """

    part: str
    kind: Literal["veto", "human", "precision", "misread", "method", "layout", "blank", "reading", "no working"]
    says: str
    marks: int = 0
    """Taken off the total: 1 for a misread number, 0 for what is said only."""
    event: int | None = None
    besides: str = ""


@dataclass(frozen=True)
class Report:
    """One question marked.

    `own`, by part, is the derivation that the part belongs to with the lines that were written in their places and the
    others worked out from them, laid out as on the page; only for derivations in which something went wrong.
    """

    question: Question
    attempt: Attempt
    policy: Policy
    verdicts: tuple[Verdict, ...]
    events: tuple[Event, ...]
    marks: tuple[Given, ...]
    notices: tuple[Notice, ...] = ()
    own: Mapping[str, Derivation] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def available(self) -> int:
        """All the marks there are; 0 under a policy that gives none."""
        return sum(given.of for given in self.marks)

    @property
    def total(self) -> int:
        """The marks earned, less what is taken off, never below 0."""
        return max(0, sum(given.given for given in self.marks) - sum(notice.marks for notice in self.notices))

    @property
    def pending(self) -> bool:
        """Whether a person has to read something before the total is final."""
        return any(given.pending for given in self.marks)

    def of(self, part: str) -> Mapping[Cell, Verdict]:
        """The verdicts of one part by place."""
        return {(v.i, v.j): v for v in self.verdicts if v.part == part}
