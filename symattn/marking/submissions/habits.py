"""How people write numbers who write for people: in quotation marks, with words and units, with digits in groups.

`ways` gives every plausible text for the strict reader, the likeliest first.  Whoever means one of them is not to be
taken at the word of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.exact.reading import Reading
from symattn.marking.submissions.alphabet import plain_signs

_QUOTED = re.compile(r"""(['"‘“«„])\s*(.*?)\s*['"’”»“]""")
_BRACKETED = re.compile(r"(\()\s*([-+−]?[\d.,]+\s*%?)\s*\)")
_ABOUT = re.compile(
    r"(?i)(?:approx(?:\.|imately)?|about|around|roughly|ca\.|circa|rounded(?: to)?|[~≈≃≅])\s*(?=[-+−\d.,√(])"
)
_ROUNDED = re.compile(r"(?i)\s*\(?(?:rounded|approx(?:\.|imately)?|rounded off|exactly|exact)\)?$")
_USUAL = re.compile(r"[-+\d.,/ ()^*e√]*")
"""Signs that say the same in every way of writing."""
_TICKED = re.compile(
    r"^[✓✔✅☑]\s*(?=[-+−\d.,√(])|(?<=\S)\s*[✓✔✅☑]$|(?<=\S)\s+\((?=[^()]*[^\W\d_]{3})[^()\d=+*/^]{3,40}\)$"
)
"""A tick beside a number, and words in brackets behind it."""
_TIMES_TEN = re.compile(r"(?<=\d)\s?[x×·⋅*]\s?10\s?\^\s?[({]{0,2}\s?([-+−]?\d{1,3})\s?[)}]{0,2}")
_UNIT = re.compile(
    r"(?i)(?<=[\d)])\s*(?:tokens?|words?|numbers?|entries|parameters?|params?|weights|bytes?|operations?|ops|flops?"
    r"|multiplications?|multiply-adds?|additions?|scores?|values?|pairs?|steps?|layers?|heads?|rows?|columns?|marks?|points?)$"
)
_NAKED = re.compile(r"(?i)(?<!\\)\b(ln|log|sqrt|exp)\s*(\d+(?:[.,]\d+)?)(?![\d.,(])")
_EULER = re.compile(r"(?<![A-Za-z._\\])E(?![A-Za-z\d_(]|(?<=\dE)[-+−]?\d)")
"""SymPy's E, where no matrix is written."""
_INFINITE = re.compile(r"(?i)(?<![a-z\\])inf(?:inity|ty)?(?![a-z])")
_RECURRING = re.compile(r"([-+−]?)(\d+)[.,](\d*)(?:\((\d+)\)|((?:\d[\u0305\u0304])+))")
_GOES_ON = re.compile(r"(?<=\d)(?:…|\.\.\.)$")
_NO_DECIMALS = re.compile(r"(?<=\d)\.(?=[\s()*·/+−eE-]|$)")
"""The point of 1. and 2.e+00, as NumPy prints whole numbers."""
_THOUSANDS = re.compile(r"[-+−]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3}){2,}|(?:\.\d{3})+,\d+)")
_GROUPED = re.compile(r"[+\-−]?\d{1,3}(?:[ '’]\d{3}){1,60}")
_NO_GROUPING = str.maketrans("", "", " '’")
_ONE_GROUP = re.compile(r"[-+−]?[1-9]\d{0,2},\d{3}")
_LETTERS = re.compile(r"(?<![A-Za-z\\_])(?!ln\()[nmdkhlvtbNMDKHLVTB]{2,4}(?![A-Za-z])")  # of sizes, and no word
_RAISED_DOT = re.compile(r"([-+−]?\d+)·(\d+)")
_POWER = re.compile(r"(.*\be|\be)\^\s*([-+−]?\d+)\s*/\s*(\d+)")
_AGAIN = re.compile(r"([^()]*[^()\s])\s+\(\s*([≈=~]?)\s*([^()]*[\d%])\s*\)")


def ways(text: str, mark: str, *, counted: bool = True) -> Iterator[str]:
    """Texts that the one typed may stand for, with `mark` as the decimal mark; what is `counted` may have a unit.

    >>> list(ways("approx. 0.12", ".")), list(ways("4,915,200", ".")), list(ways("2·204", "."))
    (['0.12'], ['4915200'], ['2·204', '2.204'])
    >>> list(ways("385 tokens", ".")), list(ways("385 tokens", ".", counted=False))
    (['385'], ['385 tokens'])
    """
    plain = _plain(text, counted)
    if _THOUSANDS.fullmatch(plain):
        group = "," if "," in plain and "." not in plain.partition(",")[0] else "."
        digits = plain.replace(group, "")
        ambiguous = plain.count(group) == 1 and group == mark
        yield from (plain, digits) if ambiguous else (digits,)
        return
    yield plain
    if found := _RAISED_DOT.fullmatch(plain):
        yield f"{found[1]}{mark}{found[2]}"
    if found := _POWER.fullmatch(plain):
        yield f"{found[1]}^({found[2]}/{found[3]})"
    if found := _AGAIN.fullmatch(plain):
        yield found[1]


def letter_by_letter(text: str) -> str:
    """A product of letters with a space between each two: 8nd² is 8·n·d².

    >>> letter_by_letter("8nd^2 + 2nd_k"), letter_by_letter("2nd(d + n)"), letter_by_letter("ln(n)")
    ('8n d^2 + 2n d_k', '2n d(d + n)', 'ln(n)')
    """
    return _LETTERS.sub(lambda found: " ".join(found[0]), text)


def ungrouped(text: str) -> str:
    """4 194 304 without the spaces between its groups; with commas it could be a decimal."""
    return text.translate(_NO_GROUPING) if _GROUPED.fullmatch(text) else text


def may_be_grouped(text: str) -> bool:
    """Whether a comma parts thousands here or decimals: 160,000."""
    return _ONE_GROUP.fullmatch(_plain(text)) is not None


def told_again(text: str) -> str:
    """0.611 (61.1 %) is one number told twice, as 61.1 % = 0.611 is.

    >>> told_again("0.611 (61.1%)"), told_again("1/2 (= 0.5)"), told_again("4 (5)")
    ('61.1% = 0.611', '0.5 = 1/2', '4 (5)')
    """
    found = _AGAIN.fullmatch(text.strip())
    return f"{found[3]} = {found[1]}" if found and (found[2] or found[3].endswith("%")) else text


def goes_on(text: str) -> bool:
    """Whether the digits go on where the text ends: 0.333…"""
    return re.search(r"\d(?:…|\.\.\.)", text) is not None


def has_decimal(reading: Reading | None) -> bool:
    """Whether decimals stand in what was typed: 7.39/12.09 is no exact form of anything."""
    return reading is not None and re.search(r"\d[.,]\d", reading.text) is not None


def _plain(text: str, counted: bool = True) -> str:
    """Without quotation marks and words, and without the units of what is counted; recurring decimals as fractions."""
    if not _USUAL.fullmatch(text):
        text = _EULER.sub("e", _TIMES_TEN.sub(r"*10^(\1)", _TICKED.sub("", plain_signs(text))))
    text = text.strip()
    if found := _QUOTED.fullmatch(text) or _BRACKETED.fullmatch(text):
        text = found[2]
    text = _ROUNDED.sub("", _ABOUT.sub("", text, count=1))
    text = ungrouped(_UNIT.sub("", text)) if counted else text
    text = _INFINITE.sub("inf", _NAKED.sub(r"\1(\2)", text))
    return _NO_DECIMALS.sub("", _RECURRING.sub(_fraction, _GOES_ON.sub("", text))).strip()


def _fraction(found: re.Match[str]) -> str:
    """0.1(6) as a fraction in brackets: (16 − 1)/90."""
    sign, whole, before, bracket, overlined = found.groups()
    period = bracket or re.sub(r"[\u0305\u0304]", "", overlined)
    above = int(whole + before + period) - int(whole + before)
    return f"{sign}({above}/{(10 ** len(period) - 1) * 10 ** len(before)})"
