"""What is frozen of a question besides its content: what is asked, what is right, and what it is worth.

That is enough to mark by, whatever a later version says, draws or lays out otherwise.  Only a key that would be another
number is refused, since then a student would be marked by another key than the one that was printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symattn.errors import InputError, SymattnError
from symattn.exact import decide
from symattn.exact.reading import read as read_number
from symattn.foundation.identity import digest
from symattn.foundation.installed import VERSION
from symattn.teaching.question import (
    Answer,
    EntriesAnswer,
    FormulaAnswer,
    Json,
    Marks,
    MatrixAnswer,
    Part,
    Question,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    answer_entries,
    at_least_one,
    share,
    total,
    with_notes,
)

FORMAT = 2
"""Of frozen exams and sets; format 1 had answers, or a hash of them, in place of the parts, and is still read."""
UNDEFINED = "undefined"
"""The key of a shape that there is not."""


@dataclass(frozen=True)
class FrozenPart:
    """One part: its name, the right text for every place that is asked for, and its marks.

    Numbers are exact, as `symattn.exact.reading` reads them; a place is an entry, "[1,2]", or "" for the whole answer.
    """

    name: str
    right: Mapping[str, str]
    marks: Marks


def sealed(data: Mapping[str, Json]) -> str:
    """What is frozen as the text of its file, with a hash by which any change is seen."""
    return json.dumps({**data, "hash": digest(data)}, ensure_ascii=False, indent=1) + "\n"


def unsealed(text: str, where: str | Path, what: str, has: str = "hash", otherwise: str = "") -> dict[str, Any]:
    """The contents of such a file; `InputError` if it was changed, or is not `what` was expected, which `has` a key.

    What may be done `otherwise` ends the sentence.
    """
    tail = f"; {otherwise}." if otherwise else "."
    try:
        data: dict[str, Any] = json.loads(text)
        _, intact = data[has], data["hash"] == digest({key: value for key, value in data.items() if key != "hash"})
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"{where} is not {what}{tail}") from error
    if not intact:
        raise InputError(f"{where} was changed after it was written (its hash does not fit){tail}")
    form = data.get("format", FORMAT)
    if form not in range(1, FORMAT + 1):
        raise InputError(f"{where} has the format {form}; this version of symattn reads 1 to {FORMAT}.")
    return data


def freeze_parts(question: Question) -> tuple[FrozenPart, ...]:
    """The parts of a question as they are frozen."""
    return tuple(FrozenPart(part.name, dict(_right(question, part)), part.marks) for part in question.parts)


def _right(question: Question, part: Part) -> Iterator[tuple[str, str]]:
    match part.answer:
        case RubricAnswer():  # judged by a person
            return
        case ShapeAnswer(None):
            yield "", UNDEFINED
        case answer:
            yield from answer_entries(answer, question.problem)


def as_frozen(question: Question, parts: Sequence[FrozenPart], where: str, software: str) -> Question:
    """The question with the parts and the marks that were frozen; `InputError` where its key is another one now.

    `where` is what the question is called, "Sheet 7K2M-4TQX of set.json"; `software` is what froze it.
    """
    made = {part.name: part for part in question.parts}
    restored = []
    for frozen in parts:
        if frozen.name not in made:
            raise refused(where, f"its part {frozen.name} is not made any more", software)
        part = made[frozen.name]
        if said := _difference(frozen, part.answer, dict(_right(question, part))):
            raise refused(where, said, software)
        restored.append(part if _alike(part.marks, frozen.marks) else replace(part, marks=with_notes(frozen.marks)))
    return question if tuple(restored) == question.parts else replace(question, parts=tuple(restored))


def _alike(marks: Marks, frozen: Marks) -> bool:
    """Whether marks are given alike; what they are for may be said in other words."""
    return [replace(mark, what="") for mark in marks] == [replace(mark, what="") for mark in frozen] and [
        bool(mark.what) for mark in marks
    ] == [bool(mark.what) for mark in frozen]


def _difference(frozen: FrozenPart, answer: Answer, now: Mapping[str, str]) -> str:
    """What is right now and was not when it was frozen, in words; "" if nothing is."""
    for place in dict.fromkeys((*frozen.right, *now)):
        name = f"{frozen.name}{place}"
        if place not in frozen.right or place not in now:
            return f"{name} is asked for {'no more' if place in frozen.right else 'only now'}"
        if not _same(frozen.right[place], now[place], answer):
            return f"{name} was {frozen.right[place]} on the key, and is {now[place]} now"
    return ""


def _same(one: str, other: str, answer: Answer) -> bool:
    """Whether two texts of a key mean the same: as they stand, or as numbers where the answer is one (no shape is)."""
    if one == other or not isinstance(answer, StepAnswer | EntriesAnswer | MatrixAnswer | FormulaAnswer):
        return one == other
    try:
        return bool(decide(*(read_number(text, symbols=True).value for text in (one, other))).equal)
    except SymattnError:  # too long to be read, or no number any more
        return False


def refused(where: str, said: str, software: str) -> InputError:
    """The message for a question whose key has changed: which it is, and what to do."""
    made_by = "an earlier copy of this version" if software == f"symattn {VERSION}" else software
    return InputError(
        f"{where} would be marked by another key than the one that was printed: {said}. Compare the printed key: where "
        f"it is right, mark with {made_by}, which made it; where it is wrong, mark these papers by hand."
    )


# ------------------------------------------------------------------------------------------------ format 1


def as_format_1(question: Question, entries: Sequence[str], where: str, software: str) -> Question:
    """The question, if its answers, entry by entry, are those of a file of format 1, which has no marks."""
    now = [
        (f"{part.name}{place}", text, part.answer)
        for part in question.parts
        for place, text in answer_entries(part.answer, question.problem)
    ]
    if len(now) != len(entries):
        raise refused(where, f"{len(now)} entries are asked for now, and {len(entries)} were", software)
    for frozen, (name, text, answer) in zip(entries, now, strict=True):
        named, _, was = frozen.partition("=")
        if named != name or not _same(was, text, answer):
            raise refused(where, f"{named} was {was} on the key, and {name} is {text} now", software)
    return question


def worth_in_format_1(question: Question, points: int) -> Question:
    """The question for `points` marks, with the number for each part that format 1 gave it, which stands on paper.

    Within a part they are what this version makes of them, where it comes to the same numbers.
    """
    own = [total(part.marks) for part in question.parts if part.marks]
    shares = at_least_one(points, own)
    with suppress(InputError):  # fewer points than it takes today
        today = question.worth(points)
        if [total(part.marks) for part in today.parts if part.marks] == shares:
            return today
    left = iter(shares)
    parts = []
    for part in question.parts:
        numbers = share(next(left), [mark.number for mark in part.marks]) if part.marks else []
        marks = (replace(mark, number=n) for mark, n in zip(part.marks, numbers, strict=True) if n)
        parts.append(replace(part, marks=tuple(marks)))
    return replace(question, parts=tuple(parts))
