"""One alphabet: what people, editors and programs write in many ways, in the one that is read on.

Every text passes here once, before anybody looks for names and numbers in it.  The lines stay as many as they were.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

Sign = str | Callable[[re.Match[str]], str]

_ENTITY = r"&(?:[A-Za-z]{2,8}|#\d{1,5}|#x[0-9A-Fa-f]{1,5});"
_DASHES = "\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_NUMBER_BEGINS = r"(?:[\d.,√∞\uff10-\uff19]|\\(?:infty|sqrt|d?frac)|inf)"
_JOINTS, _LINES = "+|┌┬┐├┼┤└┴┘┏┳┓┣╋┫┗┻┛╔╦╗╠╬╣╚╩╝╒╤╕╞╪╡╘╧╛", "─━═-"
"""What the rules of a drawn table consist of."""
_SCALAR = r"(?:\w{1,8}\.)?(?:float|int|Float|Integer|tensor|mpf)(?:16|32|64|128)?"

SIGNS: tuple[tuple[str, Sign], ...] = (
    (_ENTITY, lambda found: html.unescape(found[0])),  # &minus;
    (rf"(?<![\w)\]}}%.,])[{_DASHES}](?=[ \t]?{_NUMBER_BEGINS})", "-"),
    (r"(?i)(?<![^\s\[(,;=:|&])(?<![\d)\]] )(?:minus|negative|moins|menos)[ \t]+(?=[\d.,√∞])", "-"),
    (r"(?<=\d)[ \t]?([x×·⋅*])[ \t]?10[ \t]?(?=\^|[⁻⁰¹²³⁴-⁹])", r"\g<1>10"),  # 4.74 x 10^-2
    (rf"\b{_SCALAR}\(([-+−]?(?:[\d.,e+-]+|inf|nan))\)", r"\1"),  # np.float64(0.04), tensor(0.04)
    (r"\b(?:np|numpy|jnp|torch|math|sp|sympy)\.(?=(?:exp|sqrt|log|sin|cos|array|inf|e|pi)\b)", ""),
    (r"\$`([^`\n]*)`\$", r"$\1$"),  # GitLab
    (r"(?m)^[ \t]*(?:julia|octave(?::\d+)?|sage|In \[\d+\])>[ \t]*(?=\S)", ""),
    (r"(?m)^[ \t]*\d+[×x]\d+ (?:Matrix|Array|LinearAlgebra\.\w+|adjoint\([^\n]*)\b[^\n]*:[ \t]*$", ""),  # Julia
    (rf"(?m)^([ \t]*)(?=[^\n]*[{_LINES}]{{2}})(?=[^\n]*[{_JOINTS}])[{_JOINTS}=:{_LINES}]{{3,}}[ \t]*$", r"\1|---|---|"),
    (r"[│┃║](?=[^\n]*[│┃║])|(?<=[ \t])[│┃║](?=[ \t]*$)", "|"),
)  # fmt: skip
"""What is written, as a pattern, and what is read in its place, in the order in which they are replaced."""

_SIGNS = tuple((re.compile(pattern, re.MULTILINE), sign) for pattern, sign in SIGNS)


def plain_signs(text: str) -> str:
    """A text in the one alphabet.

    >>> plain_signs("&minus;1, \u20132, minus 3, np.float64(0.5), 4 x 10^-2, np.exp(-3)")
    '-1, -2, -3, 0.5, 4x10^-2, exp(-3)'
    >>> plain_signs("3 \u2212 1, 4 \u2013 2")
    '3 - 1, 4 - 2'
    >>> plain_signs("3 minus 2, 1\u20132, the answer \u2014 as I said")
    '3 minus 2, 1\u20132, the answer \u2014 as I said'
    """
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    return text
