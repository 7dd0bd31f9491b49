"""One alphabet: what people, editors and programs write in many ways, in the one that is read on.

Every text passes here once, before anybody looks for names and numbers in it.  The lines stay as many as they were.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby, islice, pairwise, takewhile

from symattn.foundation.languages.words import any_of, words_for
from symattn.marking.submissions.labels import COLUMN, IS, MINUS, ROW

Sign = str | Callable[[re.Match[str]], str]
Rewriting = tuple[str, Sign] | tuple[str, Sign, str]
"""A pattern, what is read in its place, and perhaps characters of which one is in whatever it finds: in a text without
them, it need not be sought."""

_ENTITY = r"&(?:[A-Za-z]{2,8}|#\d{1,5}|#x[0-9A-Fa-f]{1,5});"
_DASHES = "\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_NUMBER_BEGINS = r"(?:[\d.,√∞\uff10-\uff19]|\\(?:infty|sqrt|d?frac)|inf)"
_VALUES = (
    rf"(?:{_NUMBER_BEGINS}|[-+−\[({{])(?:(?![`*\"'$\n]).)*\d[,;\s/](?:(?![`*\"'$\n]).)*[\d\])}}%]"
    r"|\[[-+−]?\d[\d.,/]{0,40}\]"
)
"""Numbers, more than one or one in brackets, as they stand in quotation marks, in bold or as code."""
_JOINTS, _LINES = "+|┌┬┐├┼┤└┴┘┏┳┓┣╋┫┗┻┛╔╦╗╠╬╣╚╩╝╒╤╕╞╪╡╘╧╛┡╇┩┝┿┥┠╂┨╟╫╢", "─━═-"
"""What the rules of a drawn table consist of."""
_SCALAR = r"(?:\w{1,8}\.)?(?:float|int|Float|Integer|tensor|mpf|Fraction|Decimal)(?:16|32|64|128)?"


_ORDINALS = (
    words_for("first"), words_for("second"), words_for("third"), words_for("fourth"),
    words_for("fifth"), words_for("sixth"), words_for("seventh"), words_for("eighth"),
)  # fmt: skip
_ROW = any_of("row|rows")
_FIRST_ENTRY = rf"[ \t]+[-+−(\[]{{0,3}}(?:{_NUMBER_BEGINS}|e(?![^\W\d_])|(?:sqrt|exp|ln|log)\()"
_ORDINAL = "|".join(word for words in _ORDINALS for word in words)
_LINE_BY_NUMBER = (
    rf"(?i)(?<!\w)(?:(?P<number>\d{{1,2}})(?:st|nd|rd|th|\.|e|re|[èe]re|[èe]me|ª|a)|(?P<word>{_ORDINAL}))"
    rf" (?:(?P<row>{_ROW})|{COLUMN})"
    rf"(?=\s*[:=]|\s+of\s+\S+\s*[:=]|\s{IS}\b|{_FIRST_ENTRY})"
)
_LINE_IN_CHINESE = (
    rf"第\s?(?:(?P<number>\d{{1,2}})|(?P<word>{_ORDINAL}))\s?(?:(?P<row>{_ROW})|{COLUMN})(?=\s*[:：=]|{_FIRST_ENTRY})"
)


def _initials(*words: str) -> str:
    """The letters that words begin with, small and capital."""
    return "".join(dict.fromkeys(letter for word in words for letter in (word[0], word[0].upper())))


def _by_number(found: re.Match[str]) -> str:
    """Row 2 for the second row, the 2nd row and 第二行; and so for columns."""
    words = (number for number, words in enumerate(_ORDINALS, 1) if (found["word"] or "").lower() in words)
    return f"{'row' if found['row'] else 'column'} {found['number'] or next(words)}"


def _of_word(found: re.Match[str]) -> str:
    """A matrix of Word's equations in their linear form, ■(1&2@3&4), in brackets."""
    return f"[{found['inside'].replace('@', '; ').replace('&', ' & ')}]"


def _in_square(found: re.Match[str]) -> str:
    """Rows on lines of their own in one pair of round brackets, in square ones."""
    return f"{found['before']}[{found['inside']}]"


def _scaled(found: re.Match[str]) -> str:
    """Rows below their common factor in brackets behind it, on as many lines."""
    rows = "; ".join(found[3].strip().split("\n"))
    return f"{found[1]} * [{rows}]" + "\n" * found[0].count("\n")


def _to_its_places(found: re.Match[str]) -> str:
    """A decimal without a tolerance that says no more than its places do: 0.4555 ± 0.0001."""
    decimals = re.split("[.,]", found[1])[1]
    return found[1] if float(found[2].replace(",", ".")) <= 10 ** (1 - len(decimals)) else found[0]


_NARROW = str.maketrans("＝（）［］【】｛｝｜", "=()[][]{}|")
_INSIDE = r"(?:[^()\[\]\n=:]|\([^()\n]{0,40}\)){0,400}"


NUMBERS: tuple[Rewriting, ...] = (
    (_ENTITY, lambda found: html.unescape(found[0]), "&"),  # &minus;
    (rf"(?<![\w)\]}}%.,])[{_DASHES}](?=[ \t]?{_NUMBER_BEGINS})", "-", "‐‑‒–—―−﹘﹣－"),
    (
        rf"(?i)(?<![^\s\[(,;=:|&])(?<![\d)\]] ){MINUS}[ \t]+(?=[\d.,√∞])",
        "-",
        _initials(*words_for("minus|negative")),
    ),
    (r"(?<=\d)[ \t]?([x×·⋅*])[ \t]?10[ \t]?(?=\^|[⁻⁰¹²³⁴-⁹])", r"\g<1>10", "x×·⋅*"),  # 4.74 x 10^-2
    (r"\b(?:Fraction|Rational)\(([-+−]?\d+), ?(\d+)\)", r"\1/\2", "("),
    (rf"\b{_SCALAR}\((['\"]?)([-+−]?(?:[\d.,e+-]+|inf|nan))\1\)", r"\2", "("),  # np.float64(0.04), Decimal('0.04')
    (r"\b(?:np|numpy|jnp|torch|math|sp|sympy)\.(?=(?:exp|sqrt|log|sin|cos|array|inf|e|pi)\b)", "", "ph"),
    (r"\$`([^`\n]*)`\$", r"$\1$", "`"),  # GitLab
    (rf"(?<![^\s=:(])([`*_\"'$]{{1,2}})({_VALUES})\1(?![^\s.,;:)])", r"\2", "`*_\"'$"),  # **1 2**, "[1, 2]" in words
    (rf"(?<![^\s=:(])[“„«][ \t]?({_VALUES})[ \t]?[”“»](?![^\s.,;:)])", r"\1", "“„«"),
    (r"(?<![\w.,])(\d*[.,]\d+)[ \t]?(?:±|\+/-|\\pm)[ \t]?(\d*[.,]\d+)(?![\w.,]*\d)", _to_its_places, "±+\\"),
    (rf"(?i)(?<!\S)([*_]{{1,3}})({ROW}[ \t]\d{{1,2}}:?)\1(?=:?[ \t])", r"\2", "*_"),  # **Row 1:**
    (_LINE_IN_CHINESE, _by_number, "第"),
    (_LINE_BY_NUMBER, _by_number, _initials(*words_for("row|rows"), *words_for("column|col"))),
    (  # row 1 0.5, 2
        rf"(?i)(?<!\w)({ROW}[ \t]\d{{1,2}})(?={_FIRST_ENTRY})",
        r"\1:",
        _initials(*words_for("row|token")),
    ),
    (r"(?<=[.,]\d{3})[\u2009\u202f](?=\d{1,3}(?!\d))", "", "\u2009\u202f"),  # 0.455 5, in groups of three
    (r"\\(?:left|right|[bB]igg?[lrm]?)[ \t]*(?=[\[\]()])", "", "\\"),
    (r"</?(?:details|summary|section|div|center|font|b|strong|em|u|span|h[1-6])\b[^<>\n]{0,200}>", "", "<"),
    (r"(?m)^[ \t]{0,3}(?!>>>)(?:>[ \t]?)+", "", ">"),  # quoted
)  # fmt: skip
"""What is written in a number or round one, as a pattern, and what is read in its place, in this order."""

LINES: tuple[Rewriting, ...] = (
    (r"(?m)^([ \t]*(?:[A-Za-z]\w*\.)*[A-Za-z]\w*)[ \t]*<-[ \t]*(?=\[|(?:c|matrix|array|[rc]bind)\()", r"\1 = ", "<"),
    (r"<tf\.Tensor:[^<>\n]{0,80}numpy=(\s*)([^<>]*)>", r"\2\1", "<"),
    (r"torch\.Size\(\[(?:\d{1,3}, ?)*(\d{1,3}), ?(\d{1,3})\]\)", r"(\1×\2)", "("),
    (r"(?m)^\(def[ \t]+([^\s()\[\]]+)[ \t]+(\[[^\n]*\])\)[ \t]*$", r"\1 = \2", "["),  # Clojure
    (r"(?<=[=:][ \t])[A-Z][A-Za-z]+(?=\[\[)", "", "["),  # Ruby's Matrix[[1, 2], [3, 4]]
    (r"(?m)^\.[ \t]matrix[ ]list \w+[ \t]*(\n+)([A-Za-z]\w*)\[\d{1,2},\d{1,2}\][ \t]*$", r"\1\2 =", "["),  # Stata
    (  # scores: (3, 3), as programs print it above the array
        r"(?m)^([ \t]*[^\W\d][^\n=;()\[\]|:]{0,60}?)[ \t]*:?[ \t]*\(\d{1,3}(?:, ?\d{1,3}){1,3}\)[ \t]*$"
        r"(?=\n[ \t]*(?:tensor\(|array\()?\[\[)",
        r"\1 =",
        "(",
    ),
    (r"\^[ \t]?\{?\[(\d{1,2})\]\}?", r"^(\1)", "^"),  # the second layer's Q^[2]
    (r"(?m)^={2,6}(?=[ \t]+\S)", "##", "="),  # AsciiDoc
    (r"(?m)^#{1,2}[ \t]+(?=\[)", "", "#"),  # what a program prints, as a comment
    (r"(?m)^([ \t]*)#(\d{1,2})[:.)]?(?=[ \t]+\S)", r"\1\2)", "#"),
    (r"(?:\[\d{0,2}\]){1,2}(?:float|int)\d{0,2}[ \t]*(?=\{)", "", "{"),  # Go
    (r"\bMatrix\(\d{1,2}, ?\d{1,2}, ?(?=\[)", "Matrix(", "("),  # Maple
    (  # a calculator's memory: [[1,2][3,4]]→s
        r"(?m)^([ \t]*\[[^\n=:→]*\])[ \t]*→[ \t]*([^\W\d_]\w{0,20})[ \t]*$",
        r"\2 = \1",
        "→",
    ),
    (r"(?m)^\{(?=(['\"])[^'\"\n]{1,40}\1:)([^{}]*)\}[ \t]*$", r"\2", "{"),  # a dictionary of Python's
    (r"(?m)^([ \t]*)'([^'\n]{1,40})'(?=:[ \t]*\S)", r"\1\2", "'"),
    (  # of which more stands on one line
        r"(?<=\])([ \t]*,[ \t]*)(['\"])(\w[^'\"\n]{0,40})\2:(?=[ \t]*\[)",
        r"\1\3 =",
        "]",
    ),
    (  # print("scores", S)
        r"(?m)^([^\W\d_][^\n=:;(){}\[\]|]{0,60}?)[ \t]+(?=(?:tensor|array)\(\[)",
        r"\1 = ",
        "(",
    ),
    (  # fences of which one has something beside it
        r"(?m)^([ \t]*)```(?:(?=[ \t]*(?:[-+−.\d√\[(|]|e[\s^/*]))|[A-Za-z]*(?=\n)(?=[^`]*[^\s`]```))([^`]+)```[ \t]*$",
        r"\1\2",
        "`",
    ),
    (  # MATLAB, of a matrix with large or small numbers
        r"(?m)^[ \t]*(1\.0e[+-]\d\d)[ \t]*\*[ \t]*\n([ \t]*\n)?((?:[ \t]*[-\d][-\d. \t]*(?:\n|\Z)){1,40})",
        _scaled,
        "*",
    ),
    (r"(?<=[;, ])\.\.\.[ \t]*(?=\n)", "", "\n"),  # MATLAB
    (r"(?m)^([ \t]*\d{1,2})、", r"\1. ", "、"),
    (r"[，、][ \t]?", ", ", "，、"),
    (r"；[ \t]?", "; ", "；"),
    (r"：[ \t]?", ": ", "："),
    (r"(?m)^([ \t]*（(?:[a-z]|\d{1,2})）)(?=\S)", r"\1 ", "（"),
    (r"[＝（）［］【】｛｝｜]", lambda found: found[0].translate(_NARROW), "＝（）［］【】｛｝｜"),
    (r"(?<=[\d\])])。", ".", "。"),
    (r"(?m)^([ \t]*\((?:[a-z]|\d{1,2})\))(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])(?=[A-Za-z])", r"\g<1> "),  # (1)分数S
    (  # Mathematica: a name that is given its value, or one alone
        r"(?m)^[ \t]*In\[\d+\]:=[ \t]*(?:([A-Za-z]\w*)[ \t]*:?=[^=\n]*"
        r"|(?:[A-Z]\w*\[)*([A-Za-z]\w*)\]*(?:[ \t]*//[ \t]*\w+)?[ \t]*;?[ \t]*)$",
        lambda found: f"{found[1] or found[2]} =",
        "[",
    ),
    (r"(?m)^[ \t]*\(%i\d+\)[ \t]*([A-Za-z]\w*)[ \t]*:[^\n]*[;$][ \t]*$", r"\1 =", "%"),  # Maxima
    (r"(?m)^[ \t]*\(%o\d+\)", "", "%"),
    (r"(?m)^[ \t]*Out\[\d+\](?:[ \t]*//[ \t]*\w+)?[ \t]*=[ \t]*", "", "["),
    (rf"[\[(|{{]?\s?(?:■\d?|\\matrix)\((?P<inside>{_INSIDE}&{_INSIDE})\)\s?[\])|}}]?", _of_word, "&"),
    (
        rf"(?P<before>[=:≈][ \t]*)\((?P<inside>{_INSIDE}(?:\n{_INSIDE}){{1,40}})\)(?=[.,;]?[ \t]*$)",
        _in_square,
        "(",
    ),
    (  # messengers, before what was said
        r"(?m)^[ \t]*\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp]\.?[Mm]\.?)?\]?(?: -)?"
        r" [^:=\[\]\n]{1,40}: ",
        "",
        ":",
    ),
    (rf"[⟨〈]([^⟨⟩〈〉\n]*)[⟩〉]|(?<![\w)\]])<(?=-?{_NUMBER_BEGINS})([^<>\n]*[\d)])>", r"(\1\2)", "⟩〉>"),
    (r"(?m)^[ \t]*(?:julia|octave(?::\d+)?|sage|In \[\d+\])>[ \t]*(?=\S)", "", ">"),
    (r"(?m)^[ \t]*\d+[×x]\d+ (?:Matrix|Array|LinearAlgebra\.\w+|adjoint\([^\n]*)\b[^\n]*:[ \t]*$", "", ":"),  # Julia
    (
        rf"(?m)^([ \t]*)(?=[^\n]*[{_LINES}]{{2}})(?=[^\n]*[{_JOINTS}])[{_JOINTS}=:{_LINES}]{{3,}}[ \t]*$",
        r"\1|---|---|",
        _LINES,
    ),
    (  # Polars, above a table: its shape and what kinds of numbers its columns hold
        r"(?m)^shape: \(\d+, ?\d+\)(?=\n┌)|^│(?:[ \t]*[fiu](?:8|16|32|64)[ \t]*[┆│])+$",
        "",
        "┌│",
    ),
    (r"┆", "|", "┆"),
    (r"[│┃║](?=[^\n]*[│┃║])|(?<=[ \t])[│┃║](?=[ \t]*$)", "|", "│┃║"),
    (r"[⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠]", " ", "⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠"),  # drawn otherwise than `undrawn` knows
)
"""The same of what stands in lines of a text."""


def rewriting(*table: Rewriting) -> Callable[[str], str]:
    """What replaces patterns by what is read in their place, one after the other."""
    compiled = [(re.compile(pattern, re.MULTILINE), sign, "".join(needs)) for pattern, sign, *needs in table]

    def rewritten(text: str) -> str:
        there = set(text)
        for pattern, sign, needs in compiled:
            if (not needs or not there.isdisjoint(needs)) and (changed := pattern.sub(sign, text)) != text:
                text, there = changed, set(changed)
        return text

    return rewritten


number_signs = rewriting(*NUMBERS)
"""A number in the one alphabet, as a cell has it."""
_line_signs = rewriting(*LINES)


def plain_signs(text: str) -> str:
    """A text in the one alphabet.

    >>> plain_signs("&minus;1, \u20132, minus 3, np.float64(0.5), 4 x 10^-2, np.exp(-3)")
    '-1, -2, -3, 0.5, 4x10^-2, exp(-3)'
    >>> plain_signs("3 \u2212 1, 4 \u2013 2")
    '3 - 1, 4 - 2'
    >>> plain_signs("3 minus 2, 1\u20132, the answer \u2014 as I said")
    '3 minus 2, 1\u20132, the answer \u2014 as I said'
    """
    return _line_signs(number_signs(text))


def unescaped_export(text: str) -> str:
    r"""A text whose every sign was escaped, as word processors on the web do that write Markdown; any other as it is.

    Displays of LaTeX, in which commands are none of Markdown's escapes, stay.

    >>> unescaped_export(r"S \= \[\[1, \-2\]\]"), unescaped_export(r"\[ S = x \]")
    ('S = [[1, -2]]', '\\[ S = x \\]')
    >>> print(unescaped_export("S \\= 1\n\\[\nA = \\frac{1}{2}\n\\]"))
    S = 1
    \[
    A = \frac{1}{2}
    \]
    """
    return _ESCAPED.sub(lambda found: found[1] or found[0], text) if "\\=" in text or "\\[\\[" in text else text


_ESCAPED = re.compile(r"^\\\[\n.*\\[A-Za-z](?:.*\n){0,40}?\\\]$|\\([!-/:-@\[\]^_`{|}~])", re.MULTILINE)

_PARTS = {"⎡": ("⎢", "⎣", "⎤", "⎥", "⎦"), "⎛": ("⎜", "⎝", "⎞", "⎟", "⎠")}
"""Of a bracket that opens at its top: what goes on and ends it, and the same of the one that closes."""

_MARKED = re.compile(r"\S[\u0300-\u036f\u20d0-\u20ff]{1,4}")
"""A character and the accents over it, which take no room."""

HIGHEST = 100
"""Lines of a drawn matrix."""


def undrawn(text: str) -> str:
    r"""The text with every matrix in brackets on the line of its name, or on its own first; as many lines as before.

    >>> undrawn("    ⎡1  2⎤\nQ = ⎢    ⎥\n    ⎣3  4⎦")
    '\nQ = [1 & 2; 3 & 4]\n'
    >>> undrawn("    ⎡1  2⎤\nN̂ = ⎢    ⎥\n    ⎣3  4⎦")
    '\nN̂ = [1 & 2; 3 & 4]\n'
    >>> undrawn("Q = [1, 2]   K = [5, 6]\n    [3, 4]       [7, 8]")
    'Q = [1, 2; 3, 4]    K = [5, 6; 7, 8]\n'
    >>> undrawn("S:\n  - - 1\n    - 2\n  - - 3\n    - 4")
    'S:\n  [[1, 2], [3, 4]]\n\n\n'
    >>> undrawn("⎡ ℯ⎤\n⎢──⎥\n⎣ 2⎦")
    '[(ℯ)/(2)]\n\n'
    >>> undrawn("    [1 2]\nQ = [3 4]\n    [5 6]"), undrawn("    | 1 2 |\nQ = | 3 4 |")
    ('\nQ = [1 2; 3 4; 5 6]\n', '\nQ = [1 2; 3 4]')
    """
    text = _BARRED.sub(lambda found: _BARS.sub(r"[\1]", found[0]), text)
    text = _side_by_side(_ROUND_A_NAME.sub(_on_its_line, text))
    text = _PRODUCT.sub(_in_one_line, _NESTED.sub(_of_items, text))
    if not any(top in text for top in _PARTS):
        return text
    text = _flattened(text)
    spare = (sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in text)
    signs = dict(zip(sorted(set(_MARKED.findall(text))), spare, strict=False))
    if not signs:
        return text
    flat = _flattened(_MARKED.sub(lambda found: signs.get(found[0], found[0]), text))
    return reduce(lambda whole, sign: whole.replace(sign[1], sign[0]), signs.items(), flat)


_ROW = r"(?:\[[^\[\]\n]*\]|\([^()\n]*\)|\|[^|=\n]*\|)"
_BARS = re.compile(r"\|([^|=\n]*)\|")
_BARRED = re.compile(
    rf"(?m)^(?:[^\n|=]*=[ \t]*{_BARS.pattern}[ \t]*){{2,6}}(?:\n(?:[ \t]*{_BARS.pattern}){{1,6}}[ \t]*)*$"
)
"""Matrices beside each other, each in bars behind its name."""
_ROUND_A_NAME = re.compile(
    rf"(?m)^(?P<above>(?:[ \t]+{_ROW}[ \t]*\n){{1,40}})"
    rf"(?P<name>[^\s\[\]()][^\[\]\n]{{0,60}}[=:≈][ \t]*)(?P<row>{_ROW})[ \t]*"
    rf"(?P<below>(?:\n[ \t]+{_ROW}[ \t]*){{0,40}})$"
)
"""Rows in brackets, one below the other, the name beside one in their midst."""


_NUMBER = r"(?![-*+][ \t])(?=[^\n]{0,39}(?:\d|∞|inf))[^\s=:][^\n=:]{0,40}"
_ITEMS_OF_A_ROW = rf"[ \t]*[-*+][ \t]+[-*+][ \t]+{_NUMBER}(?:\n[ \t]+[-*+][ \t]+{_NUMBER})*"
_NESTED = re.compile(rf"(?m)^(?P<indent>[ \t]*)(?=[-*+][ \t]+[-*+][ \t])(?:{_ITEMS_OF_A_ROW})(?:\n{_ITEMS_OF_A_ROW})*$")
"""Lists in a list, an item for every entry, as YAML and reStructuredText have them."""
_FIRST_ITEM, _ITEM = re.compile(r"(?m)^[ \t]*[-*+][ \t]+(?=[-*+][ \t])"), re.compile(r"(?m)^[ \t]*[-*+][ \t]+")


def _of_items(lists: re.Match[str]) -> str:
    rows = ([item.strip() for item in _ITEM.split(row) if item.strip()] for row in _FIRST_ITEM.split(lists[0]))
    inside = ", ".join(f"[{', '.join(row)}]" for row in rows if row)
    return f"{lists['indent']}[{inside}]" + "\n" * lists[0].count("\n")


def _on_its_line(found: re.Match[str]) -> str:
    """The rows on the line of their name, if they stand in one column; the other lines stay, and are empty."""
    rows = [*found["above"].splitlines(), " " * len(found["name"]) + found["row"], *found["below"].splitlines()[1:]]
    if len({len(row) - len(row.lstrip()) for row in rows}) > 1:
        return found[0]
    inside = "; ".join(row.strip()[1:-1].strip() for row in rows)
    return "\n" * found["above"].count("\n") + f"{found['name']}[{inside}]" + "\n" * found["below"].count("\n")


def _side_by_side(text: str) -> str:
    """Matrices in columns of a page, each below its name or behind it, on the line of their names.

    >>> _side_by_side("Q =      K =\\n1  0     0.5  2\\n3  4     1    7")
    'Q = [1  0; 3  4]    K = [0.5  2; 1    7]\\n\\n'
    """
    lines = text.split("\n")
    for number, line in enumerate(lines):
        starts = [name.start() for name in _NAME_IN_A_COLUMN.finditer(line[:_WIDEST])]
        columns = [*pairwise([0, *starts[1:], None])]
        heads = [*filter(None, (_HEAD_OF_A_COLUMN.fullmatch(line[i:j]) for i, j in columns))]
        if not starts[1:] or len(heads) < len(columns):
            continue
        below = [*takewhile(partial(_is_cut, starts), islice(lines, number + 1, None))]
        rows = [[head[2] or "" for head in heads], *([row[i:j] for i, j in columns] for row in below)]
        cells = [[cell.strip(" \t,;[]") for cell in row] for row in rows]
        inside = ["; ".join(filter(None, column)) for column in zip(*cells, strict=True)]
        if below and all(inside) and not any(set("[]=") & set(column) for column in inside):
            whole = (f"{head[1]} = [{own}]" for head, own in zip(heads, inside, strict=True))
            lines[number : number + len(rows)] = ["    ".join(whole), *[""] * len(below)]
    return "\n".join(lines)


_NAME_IN_A_COLUMN = re.compile(r"(?:^|(?<=\s\s)|(?<=[\],;]\s))[^\s\[\]=:,;][^\[\]=:\n]{0,20}?[ \t]*[=:](?=\s|\[|$)")
_HEAD_OF_A_COLUMN = re.compile(r"[ \t]*([^\s\[\]=:][^\[\]=:]{0,20}?)[ \t]*[=:][ \t]*(\[.*)?")
_ROWS_OF_NUMBERS = re.compile(r"[ \t]*[-+−]?[\d.∞(i][-+−\d.,/ \tein∞f()]{0,400}|[ \t]*\[[^=:]*")


_GROUP = r"\[[^\[\]\n]*\]"
_ROW_OF_GROUPS = rf"[^\[\]\n]{{0,60}}{_GROUP}(?:[ \t]*[*x×·@=]?[ \t]*{_GROUP}){{0,5}}[ \t]*"
_PRODUCT = re.compile(
    rf"(?m)^(?=(?:{_ROW_OF_GROUPS}\n){{0,6}}[^\n]*\][ \t]*[*x×·@=][ \t]*\[){_ROW_OF_GROUPS}(?:\n{_ROW_OF_GROUPS})+$"
)
"""Factors and their product beside each other, each in rows of brackets."""


def _in_one_line(found: re.Match[str]) -> str:
    """The matrices of a product with their rows in one pair of brackets, on the line of the name, or else the first."""
    lines = found[0].split("\n")
    groups = [[*re.finditer(_GROUP, line)] for line in lines]
    is_even = len({len(row) for row in groups}) == 1
    columns: dict[int, list[re.Match[str]]] = {}  # by their order, or where there are rows below one of them alone
    for row in groups:
        for k, group in enumerate(row):
            columns.setdefault(k if is_even else group.start(), []).append(group)
    matrices = [columns[key] for key in sorted(columns)]
    if len(matrices) != max(map(len, groups)):
        return found[0]
    before = [row[0].string[: row[0].start()].strip() for row in groups]
    number = next((k for k, name in enumerate(before) if name), 0)
    text = before[number]
    for k, rows in enumerate(matrices):
        inside = "; ".join(row[0][1:-1].strip() for row in rows)
        signs = (_SIGN.match(row.string, row.end()) for row in rows) if k + 1 < len(matrices) else ()
        text += f" [{inside}] " + next((sign[1] for sign in signs if sign), "")
    return "\n" * number + text + "\n" * (len(lines) - 1 - number)


_SIGN = re.compile(r"[ \t]*([*x×·@=])")


def _is_cut(columns: Sequence[int], line: str) -> bool:
    """Whether a line is of rows that are parted before each of these columns but the first."""
    parted = not any(line[column - 2 : column].strip(" \t,;]") for column in columns[1:])
    return parted and _ROWS_OF_NUMBERS.fullmatch(line) is not None


def _flattened(text: str) -> str:
    """The same, where every character is as wide as any other, an accent too."""
    lines = text.split("\n")
    found = [drawn for number, line in enumerate(lines) for drawn in _tops(lines, number, line)]
    for drawn in sorted(found, key=lambda one: one.left, reverse=True):  # what is left of it stays in its place
        flat = drawn.flat()
        if flat is None:
            continue
        named = drawn.named(lines)
        for number, inside in zip(drawn.numbers, drawn.inside, strict=True):
            line, right = lines[number], drawn.left + len(inside) + 2
            lines[number] = (
                f"{line[: drawn.left]}{flat if number == named else ' ' * (right - drawn.left)}{line[right:]}"
            )
            lines[number] = lines[number].rstrip()
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A matrix in the lines with these numbers: the column of its left bracket, and what stands in its brackets."""

    numbers: range
    left: int
    inside: tuple[str, ...]

    def named(self, lines: Sequence[str]) -> int:
        """The line that has something right before the matrix, the middle one first; its first line if none has."""
        middle = self.numbers[(len(self.numbers) - 1) // 2]
        before = (n for n in (middle, *self.numbers) if _ENDS_IN_WORDS.search(lines[n][: self.left]))
        return next(before, self.numbers[0])

    def flat(self) -> str | None:
        """Its rows on one line; none if an entry is drawn in a way that is not known."""
        groups = [[line] for line in self.inside]
        if not all(map(str.strip, self.inside)):
            groups = [list(group) for full, group in groupby(self.inside, lambda line: bool(line.strip())) if full]
        elif any(map(_BAR.search, self.inside)):
            groups = [list(self.inside)]  # one row with fractions
        rows = []
        for group in groups:
            cells = [_entry(cell) for cell in _cells(group)]
            if not all(cells):
                return None
            rows.append(" & ".join(filter(None, cells)))
        return f"[{'; '.join(rows)}]" if rows else None


def _tops(lines: Sequence[str], number: int, line: str) -> Iterator[_Drawn]:
    """The matrices whose first line this is."""
    for found in re.finditer("[⎡⎛]", line[:_WIDEST]):
        left, (goes_on, ends, closes, beside, closed) = found.start(), _PARTS[found[0]]
        last = number + 1
        while last < min(len(lines), number + HIGHEST) and lines[last][left : left + 1] == goes_on:
            last += 1
        if last == len(lines) or lines[last][left : left + 1] != ends:
            continue
        numbers, signs = range(number, last + 1), [closes, *[beside] * (last - number - 1), closed]
        rights = [lines[n].find(sign, left, _WIDEST) for n, sign in zip(numbers, signs, strict=True)]
        inside = tuple(lines[n][left + 1 : right] for n, right in zip(numbers, rights, strict=True))
        if min(rights) > 0 and not any(map(_BRACKET.search, inside)):
            yield _Drawn(numbers, left, inside)


def _cells(group: Sequence[str]) -> list[list[str]]:
    """The lines of every entry of a row; two columns apart that are blank in all of its lines."""
    wide = max(map(len, group))
    padded = [line.ljust(wide) for line in group]
    filled = "".join(" " if set(column) == {" "} else "x" for column in zip(*padded, strict=True))
    return [[line[cell.start() : cell.end()] for line in padded] for cell in re.finditer("x(?: ?x)*", filled)]


def _entry(lines: Sequence[str]) -> str | None:
    """An entry on one line: what is drawn with a bar as a fraction, what is raised as an exponent."""
    bars = [k for k, line in enumerate(lines) if _BAR.fullmatch(line.strip())]
    if not bars:
        return _raised(lines)
    if len(bars) > 1:
        return None
    sign = lines[bars[0]].strip().strip("─ ")
    above, below = _raised(lines[: bars[0]]), _raised(lines[bars[0] + 1 :])
    return f"{sign}({above})/({below})" if above and below else None


def _raised(lines: Sequence[str]) -> str | None:
    """One line, or a line with exponents above it."""
    lines = [line for line in lines if line.strip()]
    if len(lines) == 1:
        return lines[0].strip()
    if len(lines) != 2:
        return None
    above, line = (line.ljust(max(map(len, lines))) for line in lines)
    found = [*re.finditer(r"\S+", above)]
    if any(line[one.start() : one.end()].strip() or not line[: one.start()].strip() for one in found):
        return None
    for one in reversed(found):
        line = f"{line[: one.start()].rstrip()}^({one[0]}){line[one.end() :]}"
    return line.strip()


_ENDS_IN_WORDS = re.compile(r"[^\s⎤⎥⎦⎞⎟⎠](?:\s{0,40})$")
_BRACKET = re.compile("[⎡-⎦⎛-⎠]")
_BAR = re.compile(r"[-−]?\s?─+")
_WIDEST = 2000
