"""Every error that symattn raises on purpose.

Each message is one or two whole sentences: where, what came, what was expected.  Code deep down says only
what it knows; the caller that knows the step or the file adds that with `raise ... from`.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

LONGEST = 1200
AROUND = 30
"""Characters that are shown before and after the one that could not be read."""


class SymattnError(Exception):
    """The base of all of them: catch this to catch any."""

    def __str__(self) -> str:
        """The message, on one line; long quotations and repetitions are cut short."""
        said = " ".join(super().__str__().splitlines())
        if len(said) > LONGEST:
            said = _LONG.sub(r"\1…\2", said)
        return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} … {said[-LONGEST // 3 :]}"

    @property
    def said(self) -> str:
        """The message as it was made, so that it can be translated; as `str` where that is cut short."""
        whole = self.args[0] if self.args else ""
        return whole if isinstance(whole, str) and whole == str(self) else str(self)


_LONG = re.compile(r"(\S{60})\S{60,}(\S{3})")


class InputError(SymattnError, ValueError):
    """What the user gave cannot be used: a wrong name, a ragged matrix, a file that isn't there.

    `file` is the file, or the argument, that the message names as its place; None if it names none.
    """

    file: str | None = None


class ReadError(InputError):
    """A text could not be read as an exact value or as a formula.

    `position` is the index of the offending character in `text`; `pointer` shows it.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(message)
        self.text = text
        self.position = position

    @property
    def pointer(self) -> str:
        """The text around the character and, below it, a caret: two lines for a terminal."""
        start, end = max(0, self.position - AROUND), self.position + AROUND
        before, after = (_visible(text) for text in (self.text[start : self.position], self.text[self.position : end]))
        before, after = "…" * (start > 0) + before, after + "…" * (end < len(self.text))
        return f"{before}{after}\n{' ' * columns_of(before)}^"


def _visible(text: str) -> str:
    """The text without what moves the cursor: line breaks, tabs, control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


@lru_cache(maxsize=4096)
def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def unread(error: BaseException) -> ReadError | None:
    """What an error comes from, if that is a text that could not be read."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ReadError):
        cause = cause.__cause__
    return cause


def pointer_of(error: BaseException) -> str:
    """The pointer of the text that could not be read, if that is what an error comes from; else ""."""
    return cause.pointer if (cause := unread(error)) else ""


class PlacedError(InputError):
    """Something in a file or among arguments is wrong: the sentence says where it stands; `file` names the file."""

    def __init__(self, sentence: str, file: str = "") -> None:
        super().__init__(sentence)
        self.file = file


class ShapeError(InputError):
    """Matrices whose shapes do not fit the operation."""


class LetterError(InputError):
    """A size that is a letter where a number is needed."""


class OutsideError(InputError, IndexError):
    """An index that a matrix has not."""


class UndefinedError(InputError):
    """A value that mathematics does not define: a softmax over no visible entry, 0 · (−∞), a division by 0."""


class OutgrownError(InputError):
    """An exact number would have more terms than are worked with; in decimals the work can go on."""


class UndecidedError(SymattnError, ArithmeticError):
    """Two values agree to as many digits as were tried, and no proof either way is known."""


class SelfCheckError(SymattnError, AssertionError):
    """A key did not survive being recomputed by a second route.  Nothing is written then: it is our defect."""


# ------------------------------------------------------------------------------------------------ names that are wrong

MOST_OFFERED = 3
MOST_LISTED = 24


def offered(name: object, known: Iterable[object], otherwise: str = "there are {}", see: str = "") -> str:
    """The end of a sentence about a name that is unknown: the nearest that there are, else all of them, each once.

    Of too many, the first are named, or what lists them (`see`).

    >>> offered("selfattention", ["attention", "self_attention"]), offered("x", ["ecf", "ib"])
    ('did you mean self_attention?', 'there are ecf, ib.')
    >>> offered("x", ["ecf", "ib", "ecf"]), offered("x", ["", ",", "none"])
    ('there are ecf, ib.', 'there are "", ",", none.')
    >>> offered("x", range(100)), offered("x", range(100), see="symattn list ops")
    ('there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (100 in all).', 'see symattn list ops.')
    """
    names = list(dict.fromkeys(map(str, known)))
    if near := nearest(name, names):
        *first, last = near
        return f"did you mean {', '.join(first)}{' or ' if first else ''}{last}?"
    listed = [in_sentence(name) for name in names]
    if len(listed) > MOST_LISTED:
        if see:
            return f"see {see}."
        listed[MOST_LISTED // 2 :] = [f"… ({len(listed)} in all)"]
    return otherwise.replace("{}", ", ".join(listed) or "none") + "."


def in_sentence(name: str) -> str:
    """A name in quotes, where a sentence would swallow it: nothing, a comma, a bracket."""
    return name if name.strip(string.punctuation) else f'"{name}"'


def nearest(name: object, known: Iterable[str]) -> list[str]:
    """The names that may have been meant: the fewest typing errors away, else the same words in another order, else
    those that begin so.

    Capitals, hyphens and underscores make no difference; where too many are as near as one another, none is meant.

    >>> nearest("past_K", ["K", "K_past", "V_past"])
    ['K_past']
    """
    if not isinstance(name, str) or len(name) > 80:
        return []
    meant, by_errors = _plain(name), dict[int, list[str]]()
    most = max(1, len(meant) // 4) if len(meant) > 1 else 0
    for one in dict.fromkeys(known):
        by_errors.setdefault(_typing_errors(meant, _plain(one)), []).append(one)
    least = min(by_errors, default=0)
    near = by_errors.get(least, []) if least <= most else []
    if not near:
        near = [one for ones in by_errors.values() for one in ones if _words(one) == _words(name)]
    if not near and len(meant) > 2:
        near = [one for ones in by_errors.values() for one in ones if _plain(one).startswith(meant)]
    return near if len(near) <= MOST_OFFERED else []


def _words(name: str) -> list[str]:
    return sorted(re.split(r"[-_ ]+", name.casefold()))


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


def _typing_errors(a: str, b: str) -> int:
    """How many letters are wrong, missing, too many, or exchanged with their neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        twice_before, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            errors = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                errors = min(errors, twice_before[j - 2] + 1)
            row.append(errors)
    return row[-1]
