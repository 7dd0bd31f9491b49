"""Lines that are titles, names and dates, and no answers."""

from __future__ import annotations

import re

from symattn.marking.submissions import labels
from symattn.marking.submissions.entries import is_number

NO_WORDS = " \t\u00a0*_`~#>-=|$═━─"


MOST_WORDS = 8


_MONTH = r"[^\W\d_]{3,10}\.?"


_DATE = re.compile(
    rf"(?:[^\W\d_]+,? )?(?:\d{{1,2}}(?:\.|st|nd|rd|th)? (?:de )?{_MONTH},?(?: de)?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,?) \d{{4}}"
    r"|\d{1,2}([./-]) ?\d{1,2}\1 ?\d{4}|\d{4}([./-])\d{1,2}\2\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日"
)


_WORD_OF_A_TITLE = re.compile(r"[^\W\d_][\w'’.-]*|\d{1,3}|\d{5,12}")


def is_title(text: str) -> bool:
    """Whether a line is a title, a name or a date, or may be one: a few words, and nothing to calculate with.

    >>> [is_title(line) for line in ("Worksheet 3, Ada", "# Answers", "12 March 2025", "S = 2", "0.5 0.5", "ln 2")]
    [True, True, True, False, False, False]
    """
    line = " ".join(text.strip(NO_WORDS + ".:,!").split())
    words = [word for word in re.split(r"[\s,;:()&]+|[-–—](?=\s)", line) if word]
    return _DATE.fullmatch(line) is not None or (
        0 < len(words) <= MOST_WORDS
        and all(map(_WORD_OF_A_TITLE.fullmatch, words))
        and any(len(word) > 1 + word.isascii() and word.isalpha() for word in words)
        and not is_number(line)
    )


def is_surely_title(text: str) -> bool:
    """Whether a title can be nothing else: a heading, a date, "Worksheet 3, Ada"."""
    line = " ".join(text.strip(NO_WORDS + ".:,!").split())
    return text.lstrip().startswith("#") or bool(_DATE.fullmatch(line) or labels.title().fullmatch(line))
