"""How marks are given: by a policy, how far mistakes are followed and what is taken off (rules.md 3.1, 3.4); by a
scheme, what each line is worth, how its accuracy marks are shared, and what may follow (rules.md 3.10).

The default scheme is that of the question.  A teacher's own is a TOML file that says what is different:

    policy = "ib"              # the policy that the others are measured from
    [settings]
    precision = 1              # any field of Policy
    [[line]]
    part = "S"                 # a part by its name, or several: ["S.1", "S.2"]
    marks = "M1 A2"
    follow = "cao"             # "ft" (default), "cao" or "hence"
    flagged = true             # whether follow-through is allowed under the policy "uk"
    seen = true                # must be seen: never implied by a later line
    group = "a"                # lines of one part, for the policy "ib"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from symattn.errors import InputError, offered
from symattn.foundation.files import toml
from symattn.foundation.languages import message
from symattn.foundation.typed import Absent, Between, Key, NotEmpty, OneOf, OrOne, Place, ReadBy, Some, read
from symattn.marking.attempt import Entry
from symattn.teaching.question import (
    Json,
    Lesser,
    Mark,
    Marks,
    OneLess,
    Part,
    Question,
    Rule,
    marked_together,
    marks_text,
)

FollowThrough = Literal["everywhere", "between parts", "flagged", "never"]
Rounding = Literal["nearest", "truncate", "largest-remainder"]
Share = Annotated[Fraction, Between(0, 1, 'a share such as "3/5",')]


@dataclass(frozen=True, slots=True)
class Policy:
    """One way of giving marks.

    `follow_through`: everywhere; between parts (inside a part no accuracy mark for what rests on a mistake); only for
    lines flagged so; never.  `independent_accuracy`: whether accuracy marks count without the method mark.  `threshold`
    is the share of a step's entries that earns its method mark.  `implied_accuracy`: whether a step that was left out
    earns its accuracy too if the next one is right.  `misread` and `precision` are marks taken off, once a question.
    `repeat_penalty`: whether a mistake that is made alike in several steps loses the method mark once or each time.
    `no_working` is the share of the marks for a right final answer with nothing before it.  `rounding` says which
    decimals count as rounded from a value.  `widest_window` is how many final tolerances wide a window may be that is
    evidence.  `marks`: false for a diagnosis without marks.
    """

    name: Annotated[str, Absent()]
    title: Annotated[str, Absent()]
    follow_through: FollowThrough = "everywhere"
    independent_accuracy: bool = False
    threshold: Share = Fraction(1, 2)
    implied_accuracy: bool = True
    misread: Annotated[int, Between(0)] = 1
    precision: Annotated[int, Between(0)] = 0
    repeat_penalty: Literal["once", "each"] = "once"
    no_working: Share = Fraction(3, 5)
    rounding: Rounding = "nearest"
    widest_window: Annotated[int, Between(0)] = 10
    marks: bool = True

    def shows_method(self, accepted: int, of: int) -> bool:
        """Whether so many accepted entries show the method."""
        return accepted >= max(1, ceil(self.threshold * of))

    def rounding_of(self, entry: Entry) -> Rounding:
        """How a decimal comes of a number: cut off where dots say that its digits go on."""
        return "truncate" if entry.goes_on and self.rounding == "nearest" else self.rounding


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
            Policy("ecf", message("ecf: follow-through everywhere, one penalty per mistake"),
                   independent_accuracy=True),
            Policy("ib", message("ib: follow-through between parts, none inside a part"),
                   follow_through="between parts"),
            Policy("uk", message("uk: accuracy needs method, follow-through where the scheme flags it"),
                   follow_through="flagged", precision=1),
            Policy("strict", message("strict: correct answers only"), follow_through="never", implied_accuracy=False),
            Policy("formative", message("formative: no marks, diagnosis only"), marks=False),
        )
    }
)  # fmt: skip


def policy(name: str) -> Policy:
    """The preset of that name; `InputError` lists those there are."""
    if name not in list(POLICIES):  # in Python it may be anything
        raise InputError(f"There is no policy {name!r}; {offered(name, POLICIES)}")
    return POLICIES[name]


# ------------------------------------------------------------------------------------------------ schemes

Code = Literal["M", "A", "B"]
Follow = Literal["ft", "cao", "hence"]
_MARK = re.compile(r"([MAB])(\d{1,3})")


@dataclass(frozen=True, slots=True)
class SchemeLine:
    """What is marked together: one part, or the lines of all tokens where a step is asked token by token.

    `follow`: "ft" lets an accepted line follow from the student's own; "cao" takes correct answers only; "hence" takes
    only what follows.  `flagged` allows follow-through under a policy that asks for a flag.  `seen`: never implied.
    `group` is the part in which, between parts, no accuracy is given for what rests on a mistake made in it.
    """

    parts: tuple[str, ...]
    marks: Marks
    follow: Follow = "ft"
    flagged: bool = True
    seen: bool = False
    group: str = ""


def _marks(text: object, place: Place) -> Marks:
    """M1 A2 as marks."""
    words = [_MARK.fullmatch(word) for word in text.split()] if isinstance(text, str) else [None]
    found = [Mark(cast(Code, word[1]), int(word[2])) for word in words if word]
    if len(found) < len(words):
        raise place.wrong(text, "a text of codes such as M1 A2 B1")
    return tuple(found)


PolicyName = Annotated[str, OneOf(lambda: POLICIES)]
StatedMarks = Annotated[Marks, ReadBy(_marks, marks_text)]


@dataclass(frozen=True, slots=True)
class StatedLine:
    """What a scheme says of a line otherwise than the question; None where it says nothing."""

    parts: Annotated[tuple[str, ...], Key("part"), OrOne(), NotEmpty()]
    marks: StatedMarks | None = None
    accuracy: str | None = None
    follow: Follow | None = None
    flagged: bool | None = None
    seen: bool | None = None
    group: str | None = None


@dataclass(frozen=True)
class Scheme:
    """A teacher's own scheme: settings of the policy, and what lines say otherwise than the question, by part."""

    policy: PolicyName = ""
    settings: Annotated[Mapping[str, Any], Some(Policy)] = field(default_factory=lambda: MappingProxyType({}))
    lines: Annotated[tuple[StatedLine, ...], Key("line")] = ()

    def over(self, base: Policy) -> Policy:
        """The policy with the settings of the scheme."""
        return replace(policy(self.policy) if self.policy else base, **self.settings)


def lines_of(question: Question, scheme: Scheme | None = None) -> tuple[SchemeLine, ...]:
    """The lines of a question; `InputError` if the scheme names a part that the question lacks."""
    lines = [_line(parts) for parts in marked_together(question.parts)]
    for stated in scheme.lines if scheme else ():
        lines = _with(lines, stated)
    return tuple(lines)


def _line(parts: list[Part]) -> SchemeLine:
    """A part as it is; of the lines of all tokens, marks of one code are added up."""
    if len(parts) == 1:
        return SchemeLine((parts[0].name,), parts[0].marks, group=parts[0].name)
    found: dict[str, Mark] = {}
    for mark in (mark for part in parts for mark in part.marks):
        known = found.get(mark.code)
        found[mark.code] = replace(known, number=known.number + mark.number) if known else mark
    return SchemeLine(tuple(part.name for part in parts), tuple(found.values()), group=parts[0].name)


def _with(lines: list[SchemeLine], stated: StatedLine) -> list[SchemeLine]:
    known = {name: line for line in lines for name in line.parts}
    for name in stated.parts:
        if name not in known and not any(line.parts[0].partition(".")[0] == name for line in lines):
            raise InputError(f"The mark scheme has the part {name!r}; the question has {', '.join(known)}.")
    first = stated.parts[0]
    found = known.get(first) or next(line for line in lines if line.parts[0].partition(".")[0] == first)
    marks = found.marks if stated.marks is None else stated.marks
    if stated.accuracy is not None:
        marks = tuple(
            replace(m, what=stated.accuracy, rule=_RULES.get(stated.accuracy)) if m.code == "A" else m for m in marks
        )
    names = ("follow", "flagged", "seen", "group")
    other = {name: value for name in names if (value := getattr(stated, name)) is not None}
    return [replace(line, marks=marks, **other) if line is found else line for line in lines]


_RULES: Mapping[str, Rule] = {
    "one for each row": "rows",
    "one for every row": "rows",
    "two for every row": "rows",
    "one for each column": "rows",
    "one for every column": "rows",
    "two for every column": "rows",
    "one for every token": "rows",
    "one less for every wrong number": OneLess(),
    "one less for every wrong entry": OneLess(),
    "deduct one for every wrong tick": OneLess(),
    "deduct one for every wrong or missing tick": OneLess(),
    "deduct one for every two wrong numbers": OneLess(each=2),
    "one less for every two wrong entries": OneLess(each=2),
    "all entries; A1 for two thirds of them": Lesser(Fraction(2, 3)),
    "all four; A1 for three": Lesser(Fraction(3, 4)),
}
"""How a scheme may say that accuracy marks are earned; anything else is told to markers and changes no mark."""


def read_scheme(text: str) -> Scheme:
    """A mark scheme in TOML; `InputError` says which key is unknown or has the wrong kind of value."""
    where = "The mark scheme"
    return read(Scheme, toml(text, where), where)


# ------------------------------------------------------------------------------------------------ a policy and a scheme


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
