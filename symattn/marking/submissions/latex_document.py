r"""A document in LaTeX as a text: headings, items, and formulas in which a matrix is an environment, whatever stands
round it.

Macros that the document defines are put in; nothing else is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_MACROS, MOST_ROUNDS, LONGEST = 50, 8, 400_000
"""Definitions that are used, rounds in which they are put in, and characters of what may come of it."""

_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_DEFINITION = re.compile(
    r"\\(?:re|provide)?newcommand\*?\s*\{?\\(?P<new>[A-Za-z]+)\}?\s*(?:\[(?P<count>\d)\])?\s*(?=\{)"
    r"|\\def\s*\\(?P<def>[A-Za-z]+)\s*(?P<numbers>(?:#\d)*)\s*(?=\{)"
)
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
    r"|\\(?P<kind>[pbvBVs]?)(?:mqty|matrixquantity|pmat|mat)\*?\s*(?=[({\[|])"
)
_CLOSED_BY = {"{": "}", "(": ")", "[": "]", "|": "|"}
_TABULAR = re.compile(r"\\(begin|end)\s*\{(?:tabular[*xy]?|longtable|tabu)\}(?:\[[^\]\n]{0,20}\])?")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|cline\{[^{}]*\})")


def latex_text(source: str) -> str:
    r"""The body of a document as a text that is read like any other; a line is in its place, but behind headings that
    stand in the midst of one.

    >>> latex_text(r"\section*{Scores} \[ S = \boxed{\begin{bmatrix} 1 & 2 \end{bmatrix}} \]")
    '## Scores\n \\[ S = \\begin{bmatrix} 1 & 2 \\end{bmatrix} \\]'
    """
    text = _COMMENT.sub("", source)
    text = with_matrices(_with_macros(text))
    body = _BODY.search(text)
    before = "\n" * text[: body.start(1)].count("\n") if body else ""
    text = before + body[1] if body else text
    text = _LAYOUT.sub("", _with_headings(text))
    return _ITEM.sub(lambda found: f"- {found[1] or ''} ".replace("  ", " "), text)


def with_matrices(text: str) -> str:
    r"""Formulas in which every matrix is an environment, without what is set round one: boxes, colours, braces below.

    >>> with_matrices(r"\textcolor{red}{\pmatrix{1 & 2 \cr 3 & 4\cr}}")
    '\\begin{pmatrix}1 & 2 \\cr 3 & 4\\cr\\end{pmatrix}'
    """
    if "\\" not in text:
        return text
    text = _RULES.sub("", _TABULAR.sub(r"\\\1{array}", text))
    for _ in range(MOST_ROUNDS):
        changed = _unwrapped(_with_environments(text))
        if changed == text:
            break
        text = changed
    return text


def _group(text: str, at: int) -> int:
    """Behind the group that begins with the bracket at `at`; 0 if it is not closed."""
    opening, closing = text[at : at + 1], _CLOSED_BY.get(text[at : at + 1], "")
    if not closing:
        return 0
    depth = 0
    for k in range(at, len(text)):
        if (text[k] in "{}" and text[k - 1] != "\\") or text[k] in opening + closing:
            if text[k] == "}" or (text[k] == closing and depth == 1):
                depth -= 1
            elif text[k] == "{" or (text[k] == opening and depth == 0):
                depth += 1
        if depth == 0:
            return k + 1
    return 0


def _with_environments(text: str) -> str:
    r"""\pmatrix{…}, \mqty(…), \bmqty{…} as environments."""
    found, start = [], 0
    for macro in _MATRIX_MACRO.finditer(text):
        end = _group(text, macro.end())
        if macro.start() < start or not end:
            continue
        inside = text[macro.end() + 1 : end - 1]
        if "&" not in inside and "\\" not in inside:
            continue
        found += [text[start : macro.start()], "\\begin{pmatrix}", inside, "\\end{pmatrix}"]
        start = end
    return "".join((*found, text[start:]))


def _unwrapped(text: str) -> str:
    """Without the commands whose argument is a matrix."""
    found, start = [], 0
    for command in _WRAPPER.finditer(text):
        if command.start() < start:
            continue
        groups = [*_groups(text, command.end())]
        argument = text[slice(*groups[-1])] if groups else ""
        if "\\begin" not in argument:
            continue
        found += [text[start : command.start()], argument[1:-1].strip()]
        start = groups[-1][1]
        if command["wrapper"] in ("underbrace", "overbrace") and (label := _LABEL.match(text, start)):
            start = _group(text, label.end()) or start
    return "".join((*found, text[start:]))


_LABEL = re.compile(r"\s*[_^]\s*(?=\{)")


def _groups(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The groups in brackets that stand one behind the other: the arguments of a command."""
    while text[at : at + 1] in ("{", "[") and (end := _group(text, at)):
        yield at, end
        at = end


def _with_headings(text: str) -> str:
    found, start = [], 0
    for heading in _HEADING.finditer(text):
        end = _group(text, heading.end())
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
    for found in [*_DEFINITION.finditer(text)][:MOST_MACROS]:
        if end := _group(text, found.end()):
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
    found, start = [], 0
    for macro in pattern.finditer(text):
        count, body = macros[macro[1]]
        groups = [*_groups(text, macro.end())][:count]
        if macro.start() < start or len(groups) < count:
            continue
        for number, (begin, end) in enumerate(groups, 1):
            body = body.replace(f"#{number}", text[begin + 1 : end - 1])
        found += [text[start : macro.start()], body]
        start = groups[-1][1] if groups else macro.end()
    return "".join((*found, text[start:]))


__all__ = ["latex_text", "with_matrices"]
