r"""Matrices written in LaTeX as people type them: `Q = XW = \frac12\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}` is
the statement `Q = XW = \frac12[1 & 2; 3 & 4]`.

Nothing but what separates formulas, rows and cells means anything here; no macro is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_ROUNDS = 8
"""Environments inside one another."""

_KIND = r"(?:[pbBvV]?(?:small)?matrix|array)\*?"
_ENVIRONMENT = re.compile(
    rf"\\begin\s*\{{{_KIND}\}}(?:\[[^\]\n]{{0,80}}\])?(?:\s*\{{[lcrp|@.\s]{{0,40}}\}})?"
    rf"(?P<inside>(?:[^\\]|\\(?!(?:begin|end)\s*\{{))*+)\\end\s*\{{{_KIND}\}}"
)
_ROW = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?|\\cr(?![A-Za-z])|\\tabularnewline(?![A-Za-z])")
_IDLE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|displaystyle|textstyle|q?quad)(?![A-Za-z])|\\[,;:!]"
    r"|(?<=\d)\\phantom\{(?:[^{}]|\{,\}){0,80}\}"  # places that a number lacks beside those in its column
)
_SIZED = r"(?:\\(?:left|right|[bB]igg?[lrm]?)\s?)"
_BEFORE = re.compile(rf"(?:{_SIZED}(?:\\?[(\[{{|.]|\\lbrack)|(?<!\\)[(\[]|\\\{{|\\lbrack)\s*(?=\[\uE000)")
_BEHIND = re.compile(rf"(?<=\uE001\])\s*(?:{_SIZED}(?:\\?[)\]}}|.]|\\rbrack)|[)\]]|\\\}}|\\rbrack)")
"""Brackets that are drawn round a matrix."""
_SPACE = re.compile(r"\\(?:q?quad(?![A-Za-z])|[,;:! ])|~")
_NEXT = "\ue002"
"""Where a statement ends."""
_FORMULA = re.compile(
    r"(\$\$?)(?P<dollars>[^$]+)\1"
    r"|\\\[(?P<display>(?:[^\\]|\\(?!\]))*+)\\\]"
    r"|\\\((?P<inline>(?:[^\\]|\\(?!\)))*+)\\\)"
)
_DISPLAY = re.compile(
    r"\\(?P<which>begin|end)\s*\{(?:align(?:ed|at)?|equation|gather(?:ed)?|multline|split|eqnarray|displaymath|math)\*?\}"
    r"(?:\{\d\})?"
)
_GOES_ON = re.compile(r"\s*&?\s*(?:=|≈|\\(?:approx|simeq|cong|doteq)(?![A-Za-z]))")
_EQUALS = re.compile(r"&\s?(?==|≈|\\approx|:)")
_ABOUT = re.compile(r"\\(?:approx|simeq|cong|doteq)(?![A-Za-z])|≅")
_BELOW = re.compile(r"(?<=\uE001\])([\s.,;]*\n)(?!\s*(?:&?\s*[=≈]|[\s*/+−-]|\\(?:approx|times|cdot)))")


def statements(text: str) -> Iterator[tuple[int, str]]:
    r"""The statements of a paragraph with matrices in it, each with the number of its line, from 0.

    >>> typed = r"$S = \begin{pmatrix} 1 \\ 2 \end{pmatrix}$, $A = \tfrac12\left(\begin{matrix} 3&4\end{matrix}\right)$"
    >>> [*statements(typed)]
    [(0, 'S = [1; 2]'), (0, ', A = \\tfrac12[3 & 4]')]
    """
    line = 0
    for statement in _in_brackets(text).split(_NEXT):
        said = statement.replace("\ue000", "").replace("\ue001", "")
        start = line + said[: len(said) - len(said.lstrip())].count("\n")
        if said.strip(" \t\n&.,;"):
            yield start, said.strip()
        line += said.count("\n")


def _in_brackets(text: str) -> str:
    for _ in range(MOST_ROUNDS):
        changed = _ENVIRONMENT.sub(_bracketed, text)
        if changed == text:
            break
        text = changed
    text = _BEHIND.sub("", _BEFORE.sub("", text))
    text = _FORMULA.sub(_formula, _DISPLAY.sub(_displayed, text))
    text = _SPACE.sub(" ", _ABOUT.sub("≈", _EQUALS.sub("", text)))
    return _ROW.sub(lambda found: "" if _GOES_ON.match(text, found.end()) else _NEXT, _BELOW.sub(rf"\1{_NEXT}", text))


def _bracketed(found: re.Match[str]) -> str:
    """A matrix with its rows in one pair of brackets, on as many lines as before."""
    rows = (map(_cell, _BETWEEN_CELLS.split(row)) for row in _ROW.split(found["inside"]))
    filled = filter(lambda row: row.strip(" &"), map(" & ".join, rows))
    lines = "\n" * found[0].count("\n")
    return f"[\ue000{'; '.join(filled)}{lines}\ue001]"


def _cell(text: str) -> str:
    return " ".join(_IDLE.sub(" ", text).split())


_BETWEEN_CELLS = re.compile(r"(?<!\\)&")


def _formula(found: re.Match[str]) -> str:
    """A formula without its signs; behind a matrix another statement begins."""
    inside = next(part for part in (found["dollars"], found["display"], found["inline"]) if part is not None)
    return inside.replace("$", "") + (_NEXT if "\ue001]" in inside else " ")


def _displayed(found: re.Match[str]) -> str:
    return _NEXT if found["which"] == "end" else ""
