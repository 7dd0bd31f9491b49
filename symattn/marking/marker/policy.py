"""Marking policies: how far mistakes are followed, and what is taken off (rules.md 3.1, 3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Annotated, Literal

from symattn.errors import InputError, offered
from symattn.foundation.languages import message
from symattn.foundation.typed import Absent, Between
from symattn.marking.attempt import Entry

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
