"""Mark schemes: what each line is worth, how its accuracy marks are shared, and what may follow (rules.md 3.10).

The default is that of the question.  A teacher's own is a TOML file that says what is different:

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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, cast

from symattn.errors import InputError, offered
from symattn.files import toml
from symattn.marking.policy import POLICIES, Policy, policy
from symattn.question import Lesser, Mark, Marks, OneLess, Part, Question, Rule, ShapeAnswer

Follow = Literal["ft", "cao", "hence"]
_MARK = re.compile(r"([MAB])(\d{1,3})")


@dataclass(frozen=True, slots=True)
class Line:
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


@dataclass(frozen=True)
class Scheme:
    """A teacher's own scheme: settings of the policy, and what lines say otherwise than the question, by part."""

    policy: str = ""
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    lines: tuple[Mapping[str, Any], ...] = ()

    def over(self, base: Policy) -> Policy:
        """The policy with the settings of the scheme."""
        return replace(policy(self.policy) if self.policy else base, **self.settings)


def lines_of(question: Question, scheme: Scheme | None = None) -> tuple[Line, ...]:
    """The lines of a question; `InputError` if the scheme names a part that the question lacks."""
    together: dict[str, list[Part]] = {}
    for part in question.parts:
        role, _, token = part.name.partition(".")
        by_token = token.isdigit() and not isinstance(part.answer, ShapeAnswer)  # a shape stands alone
        together.setdefault(role if by_token else part.name, []).append(part)
    lines = [_line(parts) for parts in together.values()]
    for stated in scheme.lines if scheme else ():
        lines = _with(lines, stated)
    return tuple(lines)


def _line(parts: list[Part]) -> Line:
    """A part as it is; of the lines of all tokens, marks of one code are added up."""
    if len(parts) == 1:
        return Line((parts[0].name,), parts[0].marks, group=parts[0].name)
    found: dict[str, Mark] = {}
    for mark in (mark for part in parts for mark in part.marks):
        known = found.get(mark.code)
        found[mark.code] = replace(known, number=known.number + mark.number) if known else mark
    return Line(tuple(part.name for part in parts), tuple(found.values()), group=parts[0].name)


def _with(lines: list[Line], stated: Mapping[str, Any]) -> list[Line]:
    names = stated["part"] if isinstance(stated["part"], list) else [stated["part"]]
    known = {name: line for line in lines for name in line.parts}
    for name in names:
        if name not in known and not any(line.parts[0].partition(".")[0] == name for line in lines):
            raise InputError(f"The mark scheme has the part {name!r}; the question has {', '.join(known)}.")
    found = known.get(names[0]) or next(line for line in lines if line.parts[0].partition(".")[0] == names[0])
    marks = marks_of(stated["marks"]) if "marks" in stated else found.marks
    if "accuracy" in stated:
        marks = tuple(
            replace(m, what=stated["accuracy"], rule=_RULES.get(stated["accuracy"])) if m.code == "A" else m
            for m in marks
        )
    other = {key: stated[key] for key in ("follow", "flagged", "seen", "group") if key in stated}
    return [replace(line, marks=marks, **other) if line is found else line for line in lines]


def marks_of(text: str) -> Marks:
    """M1 A2 as marks; `InputError` for anything else."""
    found = []
    for word in str(text).split():
        match = _MARK.fullmatch(word)
        if match is None:
            raise InputError(f"Marks are {text!r}; codes such as M1 A2 B1 were expected.")
        found.append(Mark(cast(Literal["M", "A", "B"], match[1]), int(match[2])))
    return tuple(found)


_RULES: Mapping[str, Rule] = {
    "one for each row": "rows",
    "one for every row": "rows",
    "two for every row": "rows",
    "one for every token": "rows",
    "one less for every wrong number": OneLess(),
    "one less for every wrong entry": OneLess(),
    "one less for every wrong tick": OneLess(),
    "one less for every two wrong numbers": OneLess(each=2),
    "one less for every two wrong entries": OneLess(each=2),
    "all entries; A1 for two thirds of them": Lesser(Fraction(2, 3)),
    "all four; A1 for three": Lesser(Fraction(3, 4)),
}
"""How a scheme may say that accuracy marks are earned; anything else is told to markers and changes no mark."""

# ------------------------------------------------------------------------------------------------ the file


_LINE: Mapping[str, tuple[type, ...]] = {
    "part": (str, list), "marks": (str,), "accuracy": (str,), "follow": (str,), "flagged": (bool,), "seen": (bool,),
    "group": (str,),
}  # fmt: skip
_FOLLOW = ("ft", "cao", "hence")


def read_scheme(text: str, where: str = "the mark scheme") -> Scheme:
    """A mark scheme in TOML; `InputError` says which key is unknown or has the wrong kind of value."""
    data = toml(text, where[:1].upper() + where[1:])
    _known(data, ("policy", "settings", "line"), where)
    base = data.get("policy", "")
    if not isinstance(base, str):
        raise InputError(f"{where}: policy is {base!r}; the name of a policy was expected.")
    if base:
        policy(base)
    settings = data.get("settings", {})
    lines = data.get("line", [])
    if not isinstance(settings, dict) or not isinstance(lines, list):
        raise InputError(f"{where}: settings must be a table and line a list of tables, [[line]].")
    for number, line in enumerate(lines, 1):
        at = f"{where}, line {number}"
        if not isinstance(line, dict) or "part" not in line:
            raise InputError(f'{at}: a line needs the part that it is for, such as part = "S".')
        _known(line, _LINE, at)
        for key, value in line.items():
            if not isinstance(value, _LINE[key]):
                raise InputError(f"{at}: {key} is {value!r}; {_KINDS[_LINE[key][0]]} was expected.")
        part = line["part"]
        if isinstance(part, list) and not (part and all(isinstance(name, str) for name in part)):
            raise InputError(f"{at}: part is {part!r}; a name or a list of names was expected.")
        if line.get("follow", "ft") not in _FOLLOW:
            tail = offered(line["follow"], _FOLLOW, "one of {} was expected")
            raise InputError(f"{at}: follow is {line['follow']!r}; {tail}")
        if "marks" in line:
            marks_of(line["marks"])
    return Scheme(base, _settings(settings, where), tuple(lines))


def _settings(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Fields of a policy, each of the kind that the presets have."""
    usual = POLICIES["ecf"]
    names = [f.name for f in fields(Policy) if f.name not in ("name", "title")]
    _known(given, names, f"{where}, settings")
    found: dict[str, Any] = {}
    for key, value in given.items():
        kind, allowed = type(getattr(usual, key)), _ALLOWED.get(key)
        if kind is Fraction:
            value = _share(value, f"{where}, settings: {key}")
        elif type(value) is not kind or (allowed and value not in allowed) or (kind is int and value < 0):
            expected = "one of {}" if allowed else _KINDS[kind]
            tail = offered(value, allowed or (), f"{expected} was expected")
            raise InputError(f"{where}, settings: {key} is {value!r}; {tail}")
        found[key] = value
    return found


_ALLOWED = {
    "follow_through": ("everywhere", "between parts", "flagged", "never"),
    "repeat_penalty": ("once", "each"),
    "rounding": ("nearest", "truncate", "largest-remainder"),
}
_KINDS: Mapping[type, str] = {bool: "true or false", int: "a whole number from 0", str: "a text"}


def _share(value: object, where: str) -> Fraction:
    """A share from 0 to 1: "3/5", 0.6, 1."""
    try:
        share = Fraction(str(value))
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(f'{where} is {value!r}; a share such as "3/5" was expected.') from error
    if not 0 <= share <= 1:
        raise InputError(f"{where} is {value!r}; a share from 0 to 1 was expected.")
    return share


def _known(given: Iterable[str], names: Iterable[str], where: str) -> None:
    listed = list(names)
    if unknown := [name for name in given if name not in listed]:
        raise InputError(f"{where}: {unknown[0]!r} is not known; {offered(unknown[0], listed, 'known are {}')}")


__all__ = ["Follow", "Line", "Scheme", "lines_of", "marks_of", "read_scheme"]
