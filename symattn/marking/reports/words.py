"""Every word that a report says, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from symattn.foundation.languages import Message, listed, message
from symattn.marking.marker.report import Kind, Reason, State, Way, Why
from symattn.page.document import Inlines, TextLike, as_text, sentence

# --- the document ---------------------------------------------------------------------------------------

FEEDBACK, MARKING = "Feedback", "Marking"
QUESTION, MARKS, TOTAL = "Question", "Marks", "Total"
LINE, ANSWER = "Line", "Answer"
AS_READ = "The answers, as they were read"
FIRST, NOTES, MISTAKES, DETAIL = "Where to look first", "Also", "Mistakes", "Answers beside the key"
ENTRY, WRITTEN, COMPARED, HOW, KEY = "Entry", "Written", "Compared with", "How", "Answer key"
NO_MARKS = "No marks: this is a diagnosis"
NOTHING = "nothing"
ELLIPSIS = "…"
BETWEEN = " · "


def parted(items: Iterable[TextLike]) -> Inlines:
    """a; b; c."""
    each = map(as_text, items)
    return reduce(lambda said, item: sentence("{items}; {item}", items=said, item=item), each, next(each, ()))


SIGNS: Mapping[State, tuple[str, str]] = {
    "correct": ("✓", "right"),
    "follows": ("✓ft", "right, given your own earlier lines"),
    "implied": ("✓imp.", "not written down, but shown by a later line"),
    "wrong": ("✗", "wrong"),
    "missing": ("–", "nothing written"),
    "unreadable": ("?", "could not be read"),
}
"""The sign at an entry, and what it says: to those who listen, and in the legend."""

NUMBERED = ("✗", "wrong, with the number of the mistake")
PRINTED = ("·", "printed in the question")
UNREAD = ("…", "still to be read by a person")
UNMARKED = ("…", "not marked here")
SHADED = "x"
UNDEFINED = "not defined"


# --- where to look --------------------------------------------------------------------------------------

ALL_RIGHT = message("Everything is right.")
NOTHING_WRONG = message("Nothing that was written is wrong.")
NOT_ALL_READ = message("What is marked ? could not be read. Nothing else that was written is wrong.")
TO_BE_READ = message("A person has to read an answer first.")
LEFT_EMPTY = message("This question was left empty.")
REST_FOLLOWS = message("What comes after it was marked with your own lines.")


EXERCISE = message(
    "To practise: this sheet comes with a fresh exercise on the first step that went wrong, and with its solution."
)

# --- places ---------------------------------------------------------------------------------------------


def rows(numbers: Sequence[int]) -> Message:
    if len(numbers) == 1:
        return message("row {row}", row=numbers[0])
    return message("rows {rows}", rows=listed([*map(str, numbers)]))


def columns(numbers: Sequence[int]) -> Message:
    if len(numbers) == 1:
        return message("column {column}", column=numbers[0])
    return message("columns {columns}", columns=listed([*map(str, numbers)]))


EVERY_ENTRY = message("every entry")


# --- mistakes -------------------------------------------------------------------------------------------


def mistake(number: int) -> Message:
    return message("Mistake {number}", number=number)


WRONG = message("This is not right. Work it out again.")
OTHER_SHAPE = message("The matrix has the wrong shape.")
SHAPES = message(
    "This is not right. Write the shape of each factor below it: the inner numbers must agree, the outer ones remain."
)
CELLS = message("This is not right. Take the rows one by one: which keys may this query see?")
COUNT = message("This is not right. Write it as a product of sizes, and count each factor once.")
AGAIN = message("This is not right either.")
NOT_RIGHT = message("This is not right.")
NEIGHBOURS = message("This is not right. Take two neighbours at a time: which of them comes first?")
LINES = message("This is not right. Work out each line from the lines above it, and compare.")
AT_ONE_ENTRY = message("This is wrong. Check it against the lines above.")


KINDS: Mapping[Kind, Message] = {
    "misconception": message("misconception"),
    "slip": message("slip"),
    "misread": message("given number misread"),
    "shape": message("wrong shape"),
    "rounding": message("rounding"),
    "unknown": message("unrecognised mistake"),
    "answer": message("wrong answer"),
}

# --- what follows ---------------------------------------------------------------------------------------

LINES_BEFORE = message("earlier lines")
FOR_A_PERSON = message("A person will look at this.")
LOOK_AGAIN = message("This could not be read for certain; write it out and check again.")
"""The same, where somebody checks work on a problem of their own, and nobody else will look."""
IN_WORDS = message("An answer in words is not marked here.")
METHOD = message("The method shows only in the working, which is not marked here.")


# --- marks ----------------------------------------------------------------------------------------------

WITHOUT_WORKING = "There is no working, so the method marks cannot be given."

_REASONS: Mapping[Reason, Message] = {
    "method seen": message("method seen"),
    "method not seen": message("method not seen"),
    "wrong method": message("wrong method"),
    "lost already": message("already deducted once"),
    "no method": message("no accuracy without method"),
    "shapes": message("shapes"),
    "no working": message("no working"),
    "answer alone": message("a right answer without working"),
    "right answer": message("a right answer would earn this much without any working"),
    "reason seen": message("reason seen"),
    "to be read": message("to be read"),
    "right order": message("right order"),
    "one swap": message("one swap"),
    "wrong order": message("wrong order"),
    "not carried forward": message("one mark off, for a mistake that was not carried forward"),
}


ANSWER_ALONE = message("Right answer alone")
DEDUCTION = message("Taken off")
TAKEN_OFF: Mapping[str, Message] = {"misread": message("Number misread"), "precision": message("Precision")}
"""What stands over marks that a line of its own has, beside those of the lines."""


def why(why: Why | None) -> str:
    """Why a line has the marks that it has; "" if nothing is said of it."""
    if why is None:
        return ""
    said = _counted(why) if why.counts else _REASONS[why.reason]
    return message("{reason}, but a mark is withheld", reason=said) if why.withheld else said


def _counted(why: Why) -> Message:
    right, of = why.right, why.of
    match why.reason:
        case "entries":
            return message("{right} of {of} entries", right=right, of=of)
        case "rows":
            return message("{right} of {of} rows right", right=right, of=of)
        case "columns":
            return message("{right} of {of} columns right", right=right, of=of)
        case "ticks":
            return message("{right} of {of} ticked, {wrong} wrongly", right=right, of=of, wrong=why.wrong)
        case _:
            return message("{right} of {of} right", right=right, of=of)


# --- for the teacher ------------------------------------------------------------------------------------

WAYS: Mapping[Way, Message] = {
    "key": message("the key"),
    "written": message("the lines as written"),
    "unrounded": message("the lines before rounding"),
    "window": message("any values the lines may have been rounded from"),
    "event": message("the earlier mistake"),
}
SAME_AS_KEY = "the key"

_PROOFS: Mapping[str, Message] = {
    "exact": message("exact"),
    "interval": message("interval"),
    "modular": message("modular"),
    "formal": message("formal"),
    "rounding": message("rounding"),
    "window": message("window"),
    "shape": message("shape"),
    "a later line": message("a later line"),
    "undecided": message("undecided"),
    "to 200 digits": message("to 200 digits"),
    "equal at a few sizes": message("equal at a few sizes"),
}


def proof(proof: str) -> str:
    """How equality was decided."""
    return _PROOFS.get(proof, proof)


def how(way: Way, proved: str) -> Message:
    """What an entry was compared with, and how that was decided."""
    return message("{way}, {proof}", way=WAYS[way], proof=proof(proved)) if proved else WAYS[way]
