"""Every word that a report says, in one place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from symattn.marking.report import Flag, Kind, State, Way

# --- the document ---------------------------------------------------------------------------------------

FEEDBACK, MARKING = "Feedback", "Marking"
STUDENT, SHEET, QUESTION, MARKS, TOTAL = "student ID", "sheet", "Question", "Marks", "Total"
LINE, ANSWER = "Line", "Answer"
AS_READ = "As it was read"
FIRST, NOTES, MISTAKES, DETAIL = "Where to look first", "Also", "Mistakes", "Answers beside the key"
ENTRY, WRITTEN, COMPARED, HOW, KEY = "Entry", "Written", "Compared with", "How", "Answer key"
NO_MARKS = "No marks: this is a diagnosis"
NOTHING = "nothing"
ELLIPSIS = "…"
AND, BETWEEN = " and ", " · "

SIGNS: Mapping[State, tuple[str, str]] = {
    "correct": ("✓", "right"),
    "follows": ("✓ft", "right after your own lines"),
    "implied": ("✓imp.", "not written, but a later line shows it"),
    "wrong": ("✗", "wrong"),
    "missing": ("–", "nothing written"),
    "unreadable": ("?", "could not be read"),
}
"""The sign at an entry, and what it says: to those who listen, and in the legend."""

NUMBERED = "with the number of the mistake"
PRINTED = ("·", "printed in the question")
WRONG_BECAUSE = "wrong, mistake {number}"
UNREAD = ("…", "still to be read by a person")
SHADED = "x"


def question_number(number: int) -> str:
    return f"Question {number}. "


def marked_by(title: str) -> str:
    return f"Marked by {title}."


def out_of(total: int, available: int, pending: int) -> str:
    """18/20; 15/20, 3 pending."""
    return f"{total}/{available}" + (f", {pending} pending" if pending else "")


def wait_for_a_person(pending: int) -> str:
    marks = "1 mark is" if pending == 1 else f"{pending} marks are"
    return f"{marks} pending: a person has to read the answer first."


# --- where to look --------------------------------------------------------------------------------------

ALL_RIGHT = "Everything is right."
NOTHING_WRONG = "Nothing that was written is wrong."
TO_BE_READ = "A person has to read an answer first."
REST_FOLLOWS = "What comes after it was marked by your own lines."
GIVENS = "Compare the given numbers with those that you worked with (mistake {number})."


BEGIN_WITH = "Begin with "
PRACTICE = "More of this step alone, to practise: "
LOOK_UP = "Exactly what was done, and how to tell it from similar mistakes: "


def begun(number: int) -> str:
    return f" (mistake {number})."


BEGIN_LEFT_OUT = ", which is not written"


def empty_lines(count: int) -> str:
    return "One line is still empty." if count == 1 else f"{count} lines are still empty."


# --- places ---------------------------------------------------------------------------------------------


def listed(items: Sequence[str], last: str = "and") -> str:
    """a; a and b; a, b and c."""
    *before, end = items
    return f"{', '.join(before)} {last} {end}" if before else end


def place(row: int, column: int) -> str:
    return f"row {row}, column {column}"


def rows(numbers: Sequence[int]) -> str:
    return _counted("row", numbers)


def columns(numbers: Sequence[int]) -> str:
    return _counted("column", numbers)


def _counted(noun: str, numbers: Sequence[int]) -> str:
    return f"{noun}{'s' * (len(numbers) > 1)} {listed([*map(str, numbers)])}"


def entries(places: Sequence[tuple[int, int]], more: int) -> str:
    """entries (1, 2), (2, 3) and 4 more, row first."""
    shown = [f"({i},\N{NO-BREAK SPACE}{j})" for i, j in places]
    return "entries " + listed([*shown, f"{more} more"] if more else shown)


EVERY_ENTRY = "every entry"


def capital(text: str) -> str:
    """The text with its first word begun large; a formula stays as it is.

    >>> capital("a row is short"), capital("e^a + e^b is more"), capital("ε is small")
    ('A row is short', 'e^a + e^b is more', 'ε is small')
    """
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{2}|a [a-z]{2}", text) else text


# --- mistakes -------------------------------------------------------------------------------------------


def mistake(number: int) -> str:
    return f"Mistake {number}"


SAME_MISTAKE = "The same mistake {number} as before."
LEFT_OUT = "It was made on the way here, in "
LEFT_OUT_END = ", which was not written. "
MORE_FIT = "{count} more"


def fits(names: Sequence[str]) -> str:
    """All explanations that cannot be told apart."""
    first, *others = names
    return f"This fits {first}, and also {listed(others)}; they cannot be told apart here."


NOT_RECOGNISED = "This is wrong, and it was not recognised how it came about. Work it out once more."
OTHER_SHAPE = "The matrix has another shape than it must have."
NOT_RIGHT = "This is not right. Read the question once more."
AT_ONE_ENTRY = "This is wrong. Check it against the lines before."
OPTIONS_MISSING = "{count} more belong to the answer."
ONE_OPTION_MISSING = "One more belongs to the answer."
CELLS_MISSING = "{count} more cells must be shaded."
ONE_CELL_MISSING = "One more cell must be shaded."
CHARGED, SHOWN_AT = "charged to ", "seen at "

KINDS: Mapping[Kind, str] = {
    "misconception": "misconception",
    "slip": "slip",
    "misread": "given number misread",
    "shape": "shape",
    "rounding": "rounding",
    "unknown": "not recognised",
    "answer": "answer",
}

# --- what follows ---------------------------------------------------------------------------------------

CONSISTENT: Mapping[Way, tuple[str, str]] = {
    "key": ("consistent with ", ""),
    "written": ("consistent with ", ""),
    "unrounded": ("consistent with ", " before rounding"),
    "window": ("consistent with ", " as it was rounded"),
    "event": ("consistent with the mistake that was made before", ""),
    "other way": ("right by another way of working", ""),
}
OWN = {"student": "your ", "teacher": "the student's "}
LINES_BEFORE = "earlier lines"
WITHOUT_SOURCES: tuple[Way, ...] = ("event", "other way")
FLAGS: Mapping[Flag, str] = {
    "precision": "",  # said once a question, by a notice
    "recovered": "right, although it does not follow from the lines before",
    "easier": "easier than intended",
    "inappropriate": "not a possible value",
    "contradiction": "",  # the mistake says it
    "form": "right, but not in the form that was asked for",
}
FOR_A_PERSON = "A person will look at this."

# --- marks ----------------------------------------------------------------------------------------------

NO_WORKING = "no working"
"""The reason that marking gives for every mark where a final answer stands alone: told once, and not line by line."""

WITHOUT_WORKING = "There is no working: the marks for the way cannot be given."
PLAIN = (NO_WORKING,)
TOLD_OF_MISSING = ("wrong method",)
"""Why a line that is empty has no marks, other than that it is empty."""


def taken_off(marks: int, says: str) -> str:
    return f"−{marks}: {says}"


# --- for the teacher ------------------------------------------------------------------------------------

WAYS: Mapping[Way, str] = {
    "key": "the key",
    "written": "the lines as written",
    "unrounded": "the lines before rounding",
    "window": "anything the lines may be rounded from",
    "event": "the mistake made before",
    "other way": "another way of working",
}
SAME_AS_KEY = "the key"


def equal_to_key(count: int, proofs: Sequence[tuple[str, int]]) -> str:
    """18 entries are equal to the key: 12 exact; 6 rounding."""
    entries_are = "1 entry is" if count == 1 else f"{count} entries are"
    return f"{entries_are} equal to the key: {'; '.join(f'{n} {proof}' for proof, n in proofs)}."
