"""Every error that symattn raises on purpose.

Each message is one or two whole sentences: where, what came, what was expected.  Code deep down says only
what it knows; the caller that knows the step or the file adds that with `raise ... from`.
"""

import re

LONGEST = 1200


class SymattnError(Exception):
    """The base of all of them: catch this to catch any."""

    def __str__(self) -> str:
        """The message, on one line; what somebody wrote at length, and what is repeated in it, is cut short."""
        said = " ".join(super().__str__().splitlines())
        if len(said) > LONGEST:
            said = _LONG.sub(r"\1…\2", said)
        return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} … {said[-LONGEST // 3 :]}"


_LONG = re.compile(r"(\S{60})\S{60,}(\S{3})")


class InputError(SymattnError, ValueError):
    """What the user gave cannot be used: a wrong name, a ragged matrix, a file that isn't there."""


class ReadError(InputError):
    """A text could not be read as an exact value or as a formula.

    `position` is the index of the offending character in `text`; `pointer` draws a caret below it.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(message)
        self.text = text
        self.position = position

    @property
    def pointer(self) -> str:
        start = max(0, self.position - 30)
        return f"{self.text[start : self.position + 30]}\n{' ' * (self.position - start)}^"


class ShapeError(InputError):
    """Matrices whose shapes do not fit the operation."""


class UndefinedError(InputError):
    """A value that mathematics does not define: a softmax over no visible entry, 0 · (−∞), a division by 0."""


class UndecidedError(SymattnError, ArithmeticError):
    """Two values agree to as many digits as were tried, and no proof either way is known."""


class SelfCheckError(SymattnError, AssertionError):
    """A key did not survive being recomputed by a second route.  Nothing is written then: it is our defect."""
