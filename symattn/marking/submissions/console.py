"""A session at the prompt of Python or IPython, copied out: what was typed, and below it what Python showed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.marking.submissions.code import Code, read_code

_TYPED = re.compile(r"\s*(?:>>>|In \[\d+\]:)(?: |$)")
_GOES_ON = re.compile(r"\s*\.\.\.:?(?: |$)")
_SHOWN = re.compile(r"\s*Out\[\d+\]:\s?")


def is_session(text: str) -> bool:
    """Whether lines begin with the prompt of Python or of IPython."""
    return any(map(_TYPED.match, text.splitlines()))


def as_text(session: str) -> str:
    r"""The same lines as plain text: `S =` in place of a name that was asked for, and nothing in place of what only
    leads there.

    >>> as_text(">>> S = Q @ K.T\n>>> S\n[[1 2]\n [3 4]]\nThat is all.")
    '\nS =\n[[1 2]\n [3 4]]\nThat is all.'
    """
    statements = [(lines, read_code("\n".join(lines)) if typed else None) for typed, lines in _statements(session)]
    shown = {name for _, code in statements if code for name in code.shown}
    return "\n".join(line for lines, code in statements for line in _written(lines, code, shown))


def _statements(session: str) -> Iterator[tuple[bool, list[str]]]:
    """What was typed at one prompt, without the prompts, and what stands below it: whether it was typed, its lines."""
    typed: list[str] = []
    for line in session.splitlines():
        if typed and (prompt := _GOES_ON.match(line)):
            typed.append(line[prompt.end() :])
            continue
        if typed:
            yield True, typed
        prompt = _TYPED.match(line)
        typed = [line[prompt.end() :]] if prompt else []
        if not prompt:
            yield False, [_SHOWN.sub("", line)]
    if typed:
        yield True, typed


def _written(lines: list[str], code: Code | None, shown: set[str]) -> list[str]:
    if code is None or any(value is not None for value in code.names.values()):
        return lines  # words, or numbers that were typed
    if not code.is_code:
        return [line.lstrip("# ") for line in lines]
    if code.shown and code.shown[-1]:
        return [*[""] * (len(lines) - 1), f"{code.shown[-1]} ="]
    return [""] * len(lines) if code.names.keys() <= shown else lines
