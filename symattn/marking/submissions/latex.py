r"""A document in LaTeX as a text: headings, items, and formulas in which a matrix is an environment, whatever stands
round it.

Macros that the document defines are put in; nothing else is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import count, islice, takewhile

from symattn.foundation.identity import is_identity
from symattn.marking.submissions.alphabet import rewriting
from symattn.marking.submissions.labels import BULLETS, before_item
from symattn.marking.submissions.tables import closed

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
_ITEM = re.compile(
    r"\\(?P<edge>begin|end)\s*\{(?P<kind>enumerate|itemize|description)\*?\}(?:\[(?P<how>[^\]\n]{0,80})\])?"
    r"|\\item\b\s*(?:\[(?P<own>[^\]\n]{0,40})\])?[ \t]*"
)
_LAYOUT = re.compile(
    r"\\(?:begin|end)\s*\{(?:center|flushleft|flushright|table|figure|document|quote"
    r"|minipage|multicols|columns?|block|tcolorbox|mdframed|framed|small|tikzpicture)\*?\}"
    r"(?:\[[^\]\n]{0,80}\])*(?:\{[^{}\n]{0,40}\})?"
    r"|(?<=\\end\{pmatrix\});"  # behind a matrix of TikZ
    r"|\\(?:noindent|newpage|clearpage|pagebreak|maketitle|medskip|bigskip|smallskip|par|centering|indent|hfill)(?![A-Za-z])"
    r"|\\(?:vspace|hspace|label|usepackage|title|author|date|setlength|pagestyle)\*?\s*(?:\[[^\]\n]{0,80}\])?\s*\{[^{}]*\}"
)
_WRAPPER = re.compile(
    r"\\(?P<wrapper>boxed|fbox|framebox|mathbf|boldsymbol|underline|overline|ensuremath|text|mathrm|hl|uuline|Aboxed|bm"
    r"|underbrace|overbrace|(?:text|math)?color|colorbox|fcolorbox|phantom|displaystyle)(?![A-Za-z])\s*(?=[\[{])"
)
_MATRIX_MACRO = re.compile(
    r"\\(?P<plain>p?b?matrix|bordermatrix|cases)\s*(?=\{)"
    r"|\\(?P<drawn>matrix)\s*(?:\(\w{0,20}\)\s*)?\[(?:[^][{}]|\{[^{}\n]{0,20}\}){0,400}\]\s*(?=\{)"  # TikZ
    r"|\\(?P<kind>[pbvBVs]?)(?:mqty|matrixquantity|pmat|mat)\*?\s*(?=[({\[])"
)
_TABULAR = re.compile(r"\\(begin|end)\s*\{(?:tabular[*xy]?|longtable|tabu)\}(?:\[[^\]\n]{0,20}\])?")
_VERBATIM = re.compile(r"\\(?:begin|end)\s*\{(?:verbatim|lstlisting|minted)\*?\}(?:\[[^\]\n]{0,80}\])?(?:\{python\})?")
"""Round lines that are shown as they were typed."""


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
    text = rewritten(rewritten(text, _HEADING, _heading), _CAPTION, _caption)
    return _LAYOUT.sub("", _with_items(text))


def _with_items(text: str) -> str:
    """Lists with what stands before their items: the label that was typed, a number, a letter, or a bullet."""
    lists: list[Iterator[str]] = []

    def written(found: re.Match[str]) -> str:
        match found["edge"]:
            case "begin":
                is_counted, is_lettered = found["kind"] == "enumerate", lists or "alph" in (found["how"] or "").lower()
                numbers = ("lowerLetter" if is_lettered else "decimal") if is_counted else "bullet"
                lists.append(map(partial(before_item, numbers), count(1)))
                return ""
            case "end":
                del lists[-1:]
                return ""
        return f"• {found['own']} " if found["own"] else next(lists[-1]) if lists else "• "

    return _ITEM.sub(written, text)


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
    text = _VERBATIM.sub("", _TABULAR.sub(r"\\\1{array}", text))
    for _ in range(MOST_ROUNDS):
        changed = rewritten(rewritten(text, _MATRIX_MACRO, _environment), _WRAPPER, _argument)
        if changed == text:
            break
        text = changed
    return text


@lru_cache(1)  # many commands are sought in one text
def _closings(text: str) -> Mapping[int, int]:
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


Replaced = tuple[str, int] | None
"""What stands in place of a command, and where it ends with its arguments; None where it stays."""


def rewritten(text: str, commands: re.Pattern[str], write: Callable[[re.Match[str], Groups], Replaced]) -> str:
    """The text with its commands rewritten, each with the groups in brackets that stand behind it."""
    if not commands.search(text):
        return text
    parts, start, closings = list[str](), 0, _closings(text)
    for command in commands.finditer(text):
        groups = [*_groups(text, command.end(), closings)]
        if command.start() >= start and (written := write(command, groups)):
            parts += [text[start : command.start()], written[0]]
            start = written[1]
    return "".join((*parts, text[start:]))


Groups = Sequence[tuple[int, int]]


def _groups(text: str, at: int, closings: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The groups in brackets that stand one behind the other: the arguments of a command."""
    while end := closings.get(at, 0):
        yield at, end
        at = end


def _environment(macro: re.Match[str], groups: Groups) -> Replaced:
    r"""\pmatrix{…}, \mqty(…), \bmqty{…} as environments."""
    inside = macro.string[groups[0][0] + 1 : groups[0][1] - 1] if groups else ""
    is_matrix = "&" in inside or "\\" in inside or "qty" in macro[0]
    return (rf"\begin{{pmatrix}}{inside}\end{{pmatrix}}", groups[0][1]) if is_matrix else None


def _argument(command: re.Match[str], groups: Groups) -> Replaced:
    """The argument of a command, where it is a matrix; what is set below a brace goes."""
    text, own = command.string, [*takewhile(lambda group: command.string[group[0]] != "(", groups)]
    start, end = own[-1] if own else (0, 0)
    if "\\begin" not in text[start:end]:
        return None
    label = _LABEL.match(text, end) if command["wrapper"].endswith("brace") else None
    return text[start + 1 : end - 1].strip(), label.end() if label else end


_LABEL = re.compile(r"\s*[_^]\s*\{(?:[^{}]|\{[^{}]*\})*\}")


def _heading(command: re.Match[str], groups: Groups) -> Replaced:
    """A heading on a line of its own."""
    if not groups:
        return None
    text, (start, end) = command.string, groups[0]
    before = text[text.rfind("\n", 0, command.start()) + 1 : command.start()].strip(" \t")
    behind = text[end : text.find("\n", end) if "\n" in text[end:] else None].strip()
    title = " ".join(text[start + 1 : end - 1].split())
    return "\n" * bool(before) + f"## {title}" + "\n" * bool(behind), end


_CAPTION = re.compile(r"\\caption\s*(?=\{)")
_TABLE_EDGE = re.compile(r"\\(begin\s*\{array|end\s*\{table)")


def _caption(command: re.Match[str], groups: Groups) -> Replaced:
    """The caption above a table as its name."""
    edge = _TABLE_EDGE.search(command.string, groups[0][1]) if groups else None
    is_above = edge is not None and edge[1].startswith("begin")
    return (f"{command.string[groups[0][0] + 1 : groups[0][1] - 1].strip()}: ", groups[0][1]) if is_above else None


def _with_macros(text: str) -> str:
    """The text with the macros that it defines put in, as long as it stays of a readable length."""
    macros: dict[str, tuple[int, str]] = {}
    closings = _closings(text)
    for found in islice(_DEFINITION.finditer(text), MOST_MACROS):
        if end := closings.get(found.end()):
            count = int(found["count"] or 0) + (found["numbers"] or "").count("#")
            macros[found["new"] or found["def"]] = count, text[found.end() + 1 : end - 1]
            text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start() : end]) + text[end:]
    macros = _ABOVE_OR_BELOW | macros

    def put_in(macro: re.Match[str], groups: Groups) -> Replaced:
        count, body = macros[macro[1]]
        if len(groups) < count:
            return None
        for number, (begin, end) in enumerate(groups[:count], 1):
            body = body.replace(f"#{number}", macro.string[begin + 1 : end - 1])
        return body, groups[count - 1][1] if count else macro.end()

    commands = re.compile(rf"\\({'|'.join(map(re.escape, macros))})(?![A-Za-z])\s*")
    for _ in range(MOST_ROUNDS):
        changed = rewritten(text, commands, put_in)
        if changed == text or len(changed) > LONGEST:
            break
        text = changed
    return text


_ABOVE_OR_BELOW = dict.fromkeys(("underset", "overset", "stackrel"), (2, "#2"))
"""Of what is set above or below something, that alone is read: S of \\underset{2 \\times 3}{S}."""
_ARRAY = r"[pbBvV]?(?:array|NiceArray)"
_KIND = rf"(?:{_ARRAY}|[pbBvV]?(?:small|Nice)?[mM]atrix)\*?"
_COLUMNS = r"(?:[lcrp|@.\s]|\*\{\d\d?\}|\{[lcr|]\})"
_COLUMNS_OF_ANY_KIND = r"(?:[A-Za-z|@.!>\s]|\*\{\d\d?\}|\{[^{}\n]{0,20}\}|\[[^\[\]\n]{0,40}\])"
_ENVIRONMENT = re.compile(
    rf"\\begin\s*\{{(?:(?P<array>{_ARRAY}\*?)|{_KIND})\}}(?:\[[^\]\n]{{0,80}}\])?"
    rf"(?:\s*\{{(?(array){_COLUMNS_OF_ANY_KIND}|{_COLUMNS}){{0,40}}\}})?"
    rf"(?P<inside>[^\\]*+(?:\\(?!(?:begin|end)\s*\{{)[^\\]*+)*)\\end\s*\{{{_KIND}\}}"
)
_ROW = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?|\\cr(?![A-Za-z])|\\tabularnewline(?![A-Za-z])")
_IDLE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|displaystyle|textstyle|q?quad)(?![A-Za-z])|\\[,;:!]"
    r"|\\c(?:line|midrule)(?:\([^()\n]{0,9}\))?\{[^{}\n]{0,20}\}"
    r"|\\h?phantom\{(?:[^{}]|\{,\}){0,80}\}"  # places that a number lacks beside those in its column
)
_SIZED = r"(?:\\(?:left|right|[bB]igg?[lrm]?)\s?)"
_NEXT = "\ue002"
"""Where a statement ends."""
_GOES_ON = re.compile(r"\s*&?\s*(?:=|≈|\\(?:approx|simeq|cong|doteq)(?![A-Za-z]))")


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
    return _in_statements(text)


def _bracketed(found: re.Match[str]) -> str:
    """A matrix with its rows in one pair of brackets, on as many lines as before."""
    inside = (_ONE_COLUMN.sub(r"\1", row) for row in _ROW.split(found["inside"]))
    rows = (map(_cell, _BETWEEN_CELLS.split(row)) for row in inside if "\\multicolumn" not in row)  # a head of several
    filled = filter(lambda row: row.strip(" &"), map(" & ".join, rows))
    lines = "\n" * found[0].count("\n")
    return f"[\ue000{'; '.join(filled)}{lines}\ue001]"


_ONE_COLUMN = re.compile(r"\\multicolumn\s*\{1\}\s*\{[^{}\n]{0,40}\}\s*\{([^{}\n]{0,80})\}")


def _cell(text: str) -> str:
    plain = " ".join(_IDLE.sub(" ", text).split())
    return plain[1:-1] if plain[:1] == "{" and closed(plain, 0, "{", "}") == len(plain) else plain  # {$k_1$}


_BETWEEN_CELLS = re.compile(r"(?<!\\)&")


def _formula(found: re.Match[str]) -> str:
    """A formula without its signs; behind a matrix, and behind a line of its own, another statement begins."""
    inside = next(part for part in (found["dollars"], found["display"], found["inline"]) if part is not None)
    is_alone = found["inline"] is None and found[1] != "$" and not inside.rstrip().endswith("=")
    return inside.replace("$", "") + (_NEXT if "\ue001]" in inside or is_alone else " ")


def _displayed(found: re.Match[str]) -> str:
    return _NEXT if found["which"] == "end" else ""


_in_statements = rewriting(
    # brackets that are drawn round a matrix
    (rf"(?:{_SIZED}(?:\\?[(\[{{|.]|\\lbrack)|(?<!\\)[(\[]|\\\{{|\\lbrack)\s*(?=\[\uE000)", ""),
    (rf"(?<=\uE001\])\s*(?:{_SIZED}(?:\\?[)\]}}|.]|\\rbrack)|[)\]]|\\\}}|\\rbrack)", ""),
    (rf"(:[*_]{{0,3}}[ \t]*\n)(?=\s*[{BULLETS}]\s)", rf"\1{_NEXT}"),  # a list that begins below its heading
    (
        r"\\(?P<which>begin|end)\s*\{(?:align(?:ed|at)?|equation|gather(?:ed)?|multline|split|eqnarray|displaymath|math)\*?\}"
        r"(?:\{\d\})?",
        _displayed,
    ),
    (
        r"(\$\$?)(?P<dollars>[^$]+)\1"
        r"|\\\[(?P<display>[^\\]*+(?:\\(?!\])[^\\]*+)*)\\\]"
        r"|\\\((?P<inline>[^\\]*+(?:\\(?!\))[^\\]*+)*)\\\)",
        _formula,
    ),
    (r"&\s?(?==|≈|\\approx|:)", ""),
    (r"(?<==)\s?&", ""),
    (r"\\(?:approx|simeq|cong|doteq)(?![A-Za-z])|≅", "≈"),
    (r"(?<!\\)\\(?:q?quad(?![A-Za-z])|[,;:! ])|~", " "),
    (r"(?<=\uE001\])([\s.,;]*\n)(?!\s*(?:&?\s*[=≈]|[\s*/+−-]|\\(?:approx|times|cdot)))", rf"\1{_NEXT}"),
    # a line that begins with a name, or with the number of a part
    (r"\n(?=[ \t]*(?:(?![&=≈\\])[^\s=:][^\n=:]{0,40}[:=]|\(?(?:[a-z]|\d{1,2})[.)][ \t]+[^\W\d]))", f"\n{_NEXT}"),
    (_ROW.pattern, lambda found: "" if _GOES_ON.match(found.string, found.end()) else _NEXT),
)
