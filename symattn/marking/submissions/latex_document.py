r"""A document in LaTeX as a text: headings, items, and formulas in which a matrix is an environment, whatever stands
round it.

Macros that the document defines are put in; nothing else is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from symattn.foundation.identity import is_identity

MOST_MACROS, MOST_ROUNDS, LONGEST = 50, 8, 400_000
"""Definitions that are used, rounds in which they are put in, and characters of what may come of it."""

_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_DEFINITION = re.compile(
    r"\\(?:re|provide)?newcommand\*?\s*\{?\\(?P<new>[A-Za-z]+)\}?\s*(?:\[(?P<count>\d)\])?\s*(?=\{)"
    r"|\\def\s*\\(?P<def>[A-Za-z]+)\s*(?P<numbers>(?:#\d)*)\s*(?=\{)"
)
_HEAD_FIELD = re.compile(r"\\headfield\{([^{}]*)\}")
_WRITING_LINE = re.compile(r"\\fillin[a-z]*\{([^{}~]*)~\\writingline\{[^{}]*\}\{([^{}]*)\}\}")
"""The lines for the name and the number that our own sheets have."""
_HEADING = re.compile(r"\\(?:part|chapter|(?:sub){0,2}section|paragraph|subparagraph)\*?\s*(?=\{)")
_ITEM = re.compile(r"\\item\b\s*(?:\[([^\]\n]{0,40})\])?[ \t]*")
_LAYOUT = re.compile(
    r"\\(?:begin|end)\s*\{(?:enumerate|itemize|description|center|flushleft|flushright|table|figure|document|quote)\*?\}"
    r"(?:\[[^\]\n]{0,80}\])?"
    r"|\\(?:noindent|newpage|clearpage|pagebreak|maketitle|medskip|bigskip|smallskip|par|centering|indent|hfill)(?![A-Za-z])"
    r"|\\(?:vspace|hspace|label|usepackage|title|author|date|setlength|pagestyle)\*?\s*(?:\[[^\]\n]{0,80}\])?\s*\{[^{}]*\}"
)
_WRAPPER = re.compile(
    r"\\(?P<wrapper>boxed|fbox|framebox|mathbf|boldsymbol|underline|overline|ensuremath|text|mathrm|hl|uuline|Aboxed|bm"
    r"|underbrace|overbrace|(?:text|math)?color|colorbox|fcolorbox|phantom|displaystyle)(?![A-Za-z])\s*(?=[\[{])"
)
_MATRIX_MACRO = re.compile(
    r"\\(?P<plain>p?b?matrix|cases)\s*(?=\{)"
    r"|\\(?P<kind>[pbvBVs]?)(?:mqty|matrixquantity|pmat|mat)\*?\s*(?=[({\[])"
)
_TABULAR = re.compile(r"\\(begin|end)\s*\{(?:tabular[*xy]?|longtable|tabu)\}(?:\[[^\]\n]{0,20}\])?")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|cline\{[^{}]*\})")


def latex_text(source: str) -> str:
    r"""The body of a document as a text that is read like any other; a line is in its place, but behind headings that
    stand in the midst of one.

    >>> latex_text(r"\section*{Scores} \[ S = \boxed{\begin{bmatrix} 1 & 2 \end{bmatrix}} \]")
    '## Scores\n \\[ S = \\begin{bmatrix} 1 & 2 \\end{bmatrix} \\]'
    """
    text = with_matrices(_COMMENT.sub(_identity, source))
    body = _BODY.search(text)
    if body:
        head = (_head_fields(line) for line in text[: body.start(1)].split("\n"))
        text = "\n".join(head) + body[1]
    text = _LAYOUT.sub("", _with_headings(text))
    return _ITEM.sub(lambda found: f"- {found[1] or ''} ".replace("  ", " "), text)


def _identity(comment: re.Match[str]) -> str:
    """The identity of a sheet of ours, which stands in a comment; nothing of any other."""
    said = comment[0].strip("% \t")
    return said if is_identity(said) else ""


def _head_fields(line: str) -> str:
    """What a line before the body says: the identity of the sheet, the name and the number of the student."""
    fields = [*_HEAD_FIELD.findall(line), *(": ".join(one) for one in _WRITING_LINE.findall(line))]
    return "\n".join(fields) or (line.strip() if is_identity(line.strip()) else "")


def with_matrices(text: str) -> str:
    r"""Formulas in which every matrix is an environment, without what is set round one: boxes, colours, braces below.

    >>> with_matrices(r"\textcolor{red}{\pmatrix{1 & 2 \cr 3 & 4\cr}}")
    '\\begin{pmatrix}1 & 2 \\cr 3 & 4\\cr\\end{pmatrix}'
    """
    if "\\" not in text:
        return text
    text = _with_macros(text)
    text = _RULES.sub("", _TABULAR.sub(r"\\\1{array}", text))
    for _ in range(MOST_ROUNDS):
        changed = _unwrapped(_with_environments(text))
        if changed == text:
            break
        text = changed
    return text


def _closings(text: str) -> dict[int, int]:
    """For every bracket that is closed, the place behind what closes it, by its own place; each kind for itself."""
    found: dict[int, int] = {}
    opened: dict[str, list[int]] = {"{": [], "(": [], "[": []}
    for token in _BRACKETS.finditer(text):
        sign = token[0]
        if sign in opened:
            opened[sign].append(token.start())
        elif sign in _OPENED_BY and opened[_OPENED_BY[sign]]:
            found[opened[_OPENED_BY[sign]].pop()] = token.end()
    return found


_BRACKETS = re.compile(r"\\(?s:.)|[{}()\[\]]")
_OPENED_BY = {"}": "{", ")": "(", "]": "["}


def _with_environments(text: str) -> str:
    r"""\pmatrix{…}, \mqty(…), \bmqty{…} as environments."""
    found, start, closings = [], 0, _closings(text)
    for macro in _MATRIX_MACRO.finditer(text):
        end = closings.get(macro.end(), 0)
        if macro.start() < start or not end:
            continue
        inside = text[macro.end() + 1 : end - 1]
        if "&" not in inside and "\\" not in inside:
            continue
        found += [text[start : macro.start()], rf"\begin{{pmatrix}}{inside}\end{{pmatrix}}"]
        start = end
    return "".join((*found, text[start:]))


def _unwrapped(text: str) -> str:
    """Without the commands whose argument is a matrix."""
    found, start, closings = [], 0, _closings(text)
    for command in _WRAPPER.finditer(text):
        if command.start() < start:
            continue
        groups = [*_groups(text, command.end(), closings)]
        argument = text[slice(*groups[-1])] if groups else ""
        if "\\begin" not in argument:
            continue
        found += [text[start : command.start()], argument[1:-1].strip()]
        start = groups[-1][1]
        if command["wrapper"] in ("underbrace", "overbrace") and (label := _LABEL.match(text, start)):
            start = closings.get(label.end(), start)
    return "".join((*found, text[start:]))


_LABEL = re.compile(r"\s*[_^]\s*(?=\{)")


def _groups(text: str, at: int, closings: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The groups in brackets that stand one behind the other: the arguments of a command."""
    while text[at : at + 1] in ("{", "[") and (end := closings.get(at, 0)):
        yield at, end
        at = end


def _with_headings(text: str) -> str:
    found, start, closings = [], 0, _closings(text)
    for heading in _HEADING.finditer(text):
        end = closings.get(heading.end(), 0)
        if heading.start() < start or not end:
            continue
        before = text[start : heading.start()]
        found += [before if not before.strip(" \t") or before.endswith("\n") else before + "\n"]
        behind = text[end : text.find("\n", end) if "\n" in text[end:] else len(text)]
        found += ["## ", " ".join(text[heading.end() + 1 : end - 1].split()), "\n" * bool(behind.strip())]
        start = end
    return "".join((*found, text[start:]))


def _with_macros(text: str) -> str:
    """The text with the macros that it defines put in, as long as it stays of a readable length."""
    macros: dict[str, tuple[int, str]] = {}
    closings = _closings(text)
    for found in islice(_DEFINITION.finditer(text), MOST_MACROS):
        if end := closings.get(found.end()):
            count = int(found["count"] or 0) + (found["numbers"] or "").count("#")
            macros[found["new"] or found["def"]] = count, text[found.end() + 1 : end - 1]
            text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start() : end]) + text[end:]
    macros = {name: macro for name, macro in macros.items() if "\\begin" in macro[1] or "matri" in macro[1]}
    pattern = re.compile(rf"\\({'|'.join(map(re.escape, macros))})(?![A-Za-z])\s*") if macros else None
    for _ in range(MOST_ROUNDS if pattern else 0):
        assert pattern is not None
        changed = _put_in(text, pattern, macros)
        if changed == text or len(changed) > LONGEST:
            break
        text = changed
    return text


def _put_in(text: str, pattern: re.Pattern[str], macros: dict[str, tuple[int, str]]) -> str:
    found, start, closings = [], 0, _closings(text)
    for macro in pattern.finditer(text):
        count, body = macros[macro[1]]
        groups = [*islice(_groups(text, macro.end(), closings), count)]
        if macro.start() < start or len(groups) < count:
            continue
        for number, (begin, end) in enumerate(groups, 1):
            body = body.replace(f"#{number}", text[begin + 1 : end - 1])
        found += [text[start : macro.start()], body]
        start = groups[-1][1] if groups else macro.end()
    return "".join((*found, text[start:]))
