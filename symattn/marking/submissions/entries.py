"""One number or one shape as a student typed it, with all the decoration that editors and habits put round it.

`symattn.exact.reading` knows the notation of numbers; this module knows that of people: what means "nothing written",
what is crossed out, which of two values counts.  Nothing a student can type raises here: what cannot be read is an
`Entry` with a complaint.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from typing import Literal, NamedTuple

from symattn.errors import InputError, ReadError, SymattnError, pointer_of
from symattn.exact import Value, compare, is_symbolic
from symattn.exact.intervals import Interval, IntervalRing, enclose
from symattn.exact.reading import LONGEST_TEXT, Reading, read
from symattn.exact.tree import Node, Number, OverBudget, Product
from symattn.exact.values import RATIONAL, NegativeInfinity, has_symbols
from symattn.foundation.languages import message
from symattn.foundation.languages.words import any_of, whole_word
from symattn.marking.attempt import BLANK, Entry, Grid, Shaped, Unreadable
from symattn.marking.submissions import labels
from symattn.marking.submissions.alphabet import number_signs, rewriting

LONGEST_SIZE = 1000
"""Digits of a factor: as a fraction e^(-10^12) would have as many as that."""

ENOUGH, NOISE = 30, Decimal("1e-20")
"""Digits with which it is worked out how far rounded numbers lead, and what is nothing there."""

_DECIMALS = re.compile(r"[.,](\d{2,})$")

AUTO = "auto"
"""A decimal mark: each number as it can be read, with a point if with either."""


class Noticed(NamedTuple):
    """An entry, and in one sentence what else stood in its box, "" if nothing did; `twofold`, another value."""

    entry: Entry
    remark: str = ""
    twofold: bool = False


def entry(text: str, decimal_mark: str = ".", *, symbols: bool = False, factor: Reading | None = None) -> Entry:
    """One number as it was written: with a common `factor` outside the matrix multiplied in.

    Never raises for anything typed: what cannot be read becomes an entry with a complaint, what says "nothing here"
    (underscores, a question mark, a dash, crossed out) a blank one.  `decimal_mark` is ".", "," or "auto".

    >>> entry("**0,25**", ",").value, entry("25 %").unit, entry("___").blank
    (Fraction(1, 4), Fraction(1, 100), True)
    """
    return noticed(text, decimal_mark, symbols=symbols, factor=factor).entry


def noticed(
    text: str,
    decimal_mark: str = ".",
    *,
    symbols: bool = False,
    factor: Reading | None = None,
    counted: bool = True,
) -> Noticed:
    """As `entry`, and told whether two values stood in one box; only numbers of what is `counted` have units."""
    if len(text) > LONGEST_TEXT:
        says = message(
            "The answer has {length} characters; at most {most} can be read as one number.",
            length=len(text), most=LONGEST_TEXT,
        )  # fmt: skip
        return Noticed(Entry(text[:LONGEST_TEXT], complaint=says))
    notice = _known_notice if len(text) <= _LONGEST_KNOWN else _notice
    noticed = notice(text, decimal_mark, symbols, counted)
    return noticed if factor is None else noticed._replace(entry=_scaled(noticed.entry, factor))


def _notice(text: str, decimal_mark: str, symbols: bool, counted: bool) -> Noticed:
    shown = visible(text).strip()
    source = undecorated(without_crossed_out(shown))
    if is_blank(source):
        return Noticed(BLANK)
    *before, last = _ALTERNATIVES.split(source)
    sure, last = last.rstrip("? "), told_again(last.rstrip("? "))
    chosen, differs = _last_of_chain(shown, last, decimal_mark, symbols, counted)
    if sure != source and source.endswith("?") and not before:
        return Noticed(chosen, message("{text} is marked as unsure.", text=shortened(shown)))
    if before:
        remark = message("There are two values in one box ({text}); the last one counts.", text=shortened(shown))
        others = [one for one in before[-_LONGEST_CHAIN:] if one] if chosen.readable else []
        entries = (_read(shown, one, decimal_mark, symbols, counted) for one in others)
        twofold = any(one.readable and not _agree(one, chosen) for one in entries)
        return Noticed(chosen, remark, twofold)
    if not differs:
        return Noticed(chosen)
    remark = message("The two sides of {text} are not equal; the last one counts.", text=shortened(shown))
    return Noticed(chosen, remark)


_known_notice = lru_cache(maxsize=2**12)(_notice)
_LONGEST_KNOWN = 120
"""Students of a class write the same numbers, and a line is looked at several times before it is clear what it is: of
such texts the short ones are remembered."""


def is_number(text: str) -> bool:
    """Whether a text can be read as one number, or says that nothing was written."""
    return kind_of(text) != "words"


def kind_of(text: str) -> Literal["number", "blank", "words"]:
    """Whether a text is a number, says that nothing was written, or is anything else."""
    return _known_kind(text) if len(text) <= _LONGEST_KNOWN else _kind(text)


def _kind(text: str) -> Literal["number", "blank", "words"]:
    if PLAIN_NUMBER.fullmatch(text):
        return "number"
    if begins_with_a_word(text):
        return "words"
    if not may_hold_number(text):
        return "blank" if is_blank(undecorated(without_crossed_out(visible(text).strip()))) else "words"
    found = entry(text, AUTO)
    return "number" if found.readable else "blank" if found.blank else "words"


def may_hold_number(text: str) -> bool:
    """Whether a text has a digit, a fraction, e or a word for infinity in it, without which there is no number.

    >>> [may_hold_number(text) for text in ("softmax", "exp(-e)", "½", "-inf", "the mean", "-\\\\infty", "x²", "x")]
    [False, True, True, True, False, True, False, False]
    """
    return _OF_A_NUMBER.search(visible(text)) is not None


_OF_A_NUMBER = re.compile(r"(?i)[\d∞½⅓⅔¼¾⅕-⅞]|(?<![a-z])(?:e|inf(?:inity|ty)?|oo)(?![a-z])")


def begins_with_a_word(text: str) -> bool:
    """Whether a text begins as no number does, with a word, and says of nothing behind it that it counts instead.

    >>> [begins_with_a_word(text) for text in ("these scores are 2", "about 2", "sqrt(2)", "~~wrong~~ 2", "2 tokens")]
    [True, False, False, False, False]
    >>> begins_with_a_word("half of it, so 2")
    False
    """
    return bool(_FIRST_WORD.match(text)) and not (_ALTERNATIVES.search(text) or _CHAIN.search(text))


_FIRST_WORD = re.compile(
    r"(?i)[^\d()\[\]{}~<>\\|$*_=]*?(?<![^\s\"'(,.;:])"
    rf"(?!(?:sqrt|infty|infinity|array|tensor|{labels.MATRIX}|{labels.MINUS}|{labels.ABOUT})(?![a-z]))"
    r"[a-z]{4,}(?![^\s.,;:!?'’\"])"
)

PLAIN_NUMBER = re.compile(r"[-+−]?\d{1,40}(?:[.,]\d{1,40})?", re.ASCII)
"""Most numbers: what can be read as nothing else need not be read to see that it is one."""

_known_kind = lru_cache(maxsize=2**13)(_kind)


def grid(rows: Sequence[Sequence[str]], decimal_mark: str = ".") -> Grid:
    """A matrix of numbers; short rows are filled up with blanks."""
    return grid_of([[entry(text, decimal_mark) for text in row] for row in rows])


def grid_of(rows: Iterable[Sequence[Entry]]) -> Grid:
    """Rows of entries as a matrix; short ones are filled up with blanks."""
    columns = zip_longest(*rows, fillvalue=BLANK)
    return Grid(tuple(zip(*columns, strict=True)))


# ------------------------------------------------------------------------------------------------ what is written


def visible(text: str) -> str:
    """The text without characters that cannot be seen, and with every digit, letter and sign in its plain form.

    Digits of any script and full-width, bold or slanted characters become those of ASCII; superscripts and fractions
    (½) stay, since they mean something else than the plain character.

    >>> visible("\\u200b１∕２ 𝑒² ٣")
    '1∕2 e² 3'
    """
    return text if text.isascii() else text.translate(_PLAIN)


class _PlainForms(dict[int, str]):
    """Characters in their plain form, by their code points."""

    def __missing__(self, code: int) -> str:
        return self.setdefault(code, _plain(chr(code)))


_PLAIN = _PlainForms()


def _plain(character: str) -> str:
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Zs":
        return " "
    if category == "Cf":
        return ""
    way = unicodedata.decomposition(character).partition(" ")[0]
    return unicodedata.normalize("NFKC", character) if way in ("<wide>", "<font>", "<small>") else character


_CROSSED_OUT = re.compile(
    r"~~[^~]*~~"
    r"|<(del|s|strike)>[^<]*</\1>"
    r"|\\(?:cancel|bcancel|xcancel|sout|st)\s*\{(?:[^{}]|\{[^{}]*\})*\}"
    "|(?:[^\u0335-\u0338][\u0335-\u0338])+",
)


def without_crossed_out(text: str) -> str:
    """What is left of ~~3~~ 4, <del>3</del> 4, \\cancel{3} 4, and 3̶ 4.

    >>> without_crossed_out("~~3~~ 4").strip()
    '4'
    """
    return _CROSSED_OUT.sub(" ", text)


_WRAPPED = [
    (re.compile(pattern, re.DOTALL), keep)
    for pattern, keep in (
        (r"\$\$([^$]*)\$\$", 1),
        (r"\$`([^`]*)`\$", 1),
        (r"\$([^$]*)\$", 1),
        (r"\\\(((?:(?!\\[()]).)*)\\\)", 1),
        (r"\\\[((?:(?!\\[\[\]]).)*)\\\]", 1),
        (r"\*\*(.*)\*\*", 1),
        (r"__([^_]+)__", 1),
        (r"\*([^*]*)\*", 1),
        (r"_([^_]+)_", 1),
        (r"`+([^`]*)`+", 1),
        (r"<([a-z]{1,6})>([^<]*)</\1>", 2),
        (r"\\(boxed|num|mathbf|boldsymbol|bm|text|mathrm|underline|textbf|ensuremath)\s*\{(.*)\}", 2),
    )
]
_END_OF_SENTENCE = re.compile(r"[0-9)}%][.,]$")
_ESCAPED = re.compile(r"\\([-+*/=._^()\[\]<>|~#&`'\"?@$])")
_STYLE = re.compile(
    r"\\(?:text)?color\s*(?:\[[^][{}]*\]\s*)?\{[^{}]*\}"
    r"|\\(?:mathrm|mathit|mathsf|text|operatorname|mathbf|bf|bfseries|boldmath|rm|it|sf)(?![A-Za-z])\s*"
)
"""What changes the look of a formula in LaTeX and not its meaning."""
_GROUPED_SIGNS = re.compile(
    r"(?<![\\^_A-Za-z])"
    r"\{((?:[-+−–·⋅×/.,∞\s]|\\(?:cdot|times|div|infty|[,;:! ])(?![A-Za-z])|inf(?:ty|inity)?(?![A-Za-z]))*)\}"
)
"""Signs in braces that are no argument and no exponent: LaTeX prints nothing for the braces of 0{,}5 and {-\\infty}."""
_DEEPEST_WRAPPING = 8
_RAISED = re.compile(r"<sup>([^<]*)</sup>")


def undecorated(text: str) -> str:
    """A number without dollars, stars, backticks, boxes, entities and escapes of Markdown, HTML and LaTeX.

    >>> undecorated("**$`\\\\boxed{\\\\mathrm{e}^2}`$**"), undecorated("2\\\\*3"), undecorated("e<sup>2</sup>")
    ('{e}^2', '2*3', 'e^(2)')
    >>> undecorated("{-\\\\infty}"), undecorated("0{,}5"), undecorated("{\\\\bf 2}{\\\\cdot}3")
    ('-\\\\infty', '0,5', '{2}\\\\cdot3')
    """
    text = visible(html.unescape(text)).strip() if "&" in text else text.strip()
    if text.isalnum():
        return text
    for _ in range(_DEEPEST_WRAPPING):
        bare = next((found[keep] for wrap, keep in _WRAPPED if (found := wrap.fullmatch(text))), "")
        if not bare or _unbalanced(bare):
            break
        text = bare.strip()
    text = without_idle_braces(_STYLE.sub("", _RAISED.sub(r"^(\1)", text)))
    text = _ESCAPED.sub(r"\1", text).strip()
    return ungrouped(text[:-1] if _END_OF_SENTENCE.search(text) else text)


def without_idle_braces(text: str) -> str:
    """A formula in LaTeX without braces round signs alone, of which nothing is printed.

    >>> without_idle_braces("0{,}5"), without_idle_braces("{-{\\\\infty}}"), without_idle_braces("e^{-}")
    ('0,5', '-\\\\infty', 'e^{-}')
    """
    for _ in range(_DEEPEST_WRAPPING if "{" in text else 0):
        text = _GROUPED_SIGNS.sub(r"\1", text)
    return text


def _unbalanced(text: str) -> bool:
    """Whether what stands between a first and a last brace is no single group: `a}{b`."""
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return True
    return depth != 0


_NOTHING = re.compile(
    r"(?:[\s_?☐□▢⬜◻…⋯·–—−.{}-]|\\(?:square|Box|quad|qquad|cdot|dots|ldots|cdots|[ ,;:!])"
    r"|\\(?:underline|phantom|hphantom|hspace)\s*\{[^{}]*\})*"
)


def is_blank(text: str) -> bool:
    """Whether a text says that nothing was written: nothing, a line to write on, an empty box, a question mark, a dash.

    >>> [is_blank(text) for text in ("", "____", "?", "–", "☐", "\\\\underline{\\\\quad}", "0", "-1")]
    [True, True, True, True, True, True, False, False]
    """
    return bool(_NOTHING.fullmatch(text))


_MASKED = frozenset("x×✗✘*■#/") | {"masked", "hidden"}


def is_crossed(text: str) -> bool:
    """Whether a cell of a matrix is crossed out as a whole, which means −∞ where it is masked."""
    return mark_in(text) in _MASKED


def mark_in(text: str) -> str:
    """What a cell is marked with, in small letters and without brackets."""
    return visible(undecorated(text)).strip().strip("[]").strip().lower()


_ALTERNATIVES = re.compile(r"\s*(?:;|→|⇒|->|=>|\bor\b|,?\s*\b(?:so|hence|thus|therefore)\b|\\(?:to|rightarrow)\b)\s*")
_CHAIN = re.compile(r"\s*(?:=|≈|≅|≐|≃|\\approx\b|\\doteq\b|\\simeq\b|\\cong\b)\s*")
_LONGEST_CHAIN = 6
_MATHEMATICS = r"(?!(?:e|exp|ln|log|sqrt|sin|cos|[xX]\s?10)(?![^\W\d_]))"
_OF_ANOTHER = re.compile(
    rf"[\d.)\]}}%](?:[,;]\s+{_MATHEMATICS}[^\W\d_][^=≈]{{0,30}}|\s+{_MATHEMATICS}[^\W\d_][^\s,;=≈]{{0,20}}[\d\])}}])\s*[=≈]"
)
"""A name behind a number and a comma, or one with an index behind a gap: where another entry begins."""


def _last_of_chain(shown: str, source: str, mark: str, symbols: bool, counted: bool) -> tuple[Entry, bool]:
    """What counts of 2/6 = 1/3 ≈ 0.33, and whether its sides differ.

    The last side counts; a decimal at the end counts for the exact value that it is rounded from.  Where another entry
    begins, as in `1, S_12 = 2`, nothing does.
    """
    texts = [source] if _OF_ANOTHER.search(source) else _CHAIN.split(source)
    *before, last = [text for text in texts if not is_blank(text)] or [source]
    counts = _read(shown, last, mark, symbols, counted)
    if not counts.readable:
        return counts, False
    sides = [_read(shown, side, mark, symbols, counted) for side in before[-_LONGEST_CHAIN:]]
    known = [side for side in sides if side.readable]
    if known:  # 4·1000 = 4,000 says what the comma is
        counts = next((way for way in counts.readings if all(_agree(side, way) for side in known)), counts)
    differs = False
    for side in reversed(known):
        if not _agree(side, counts):
            differs = True
        elif counts.unit is not None and side.unit is None and not has_decimal(side.reading):
            counts = side
    return counts, differs


def _agree(a: Entry, b: Entry) -> bool:
    """Whether two values are one, as far as their decimals go; values that are not numbers are not compared."""
    if a.value is None or b.value is None or has_symbols(a.value) or has_symbols(b.value):
        return True
    if isinstance(a.value, NegativeInfinity) or isinstance(b.value, NegativeInfinity):
        return a.value is b.value
    slack = (a.unit or 0) + (b.unit or 0)
    try:
        return compare(a.value, b.value + slack) <= 0 <= compare(a.value, b.value - slack)
    except SymattnError:
        return True


# ------------------------------------------------------------------------------------------------ what it means


def _read(shown: str, source: str, mark: str, symbols: bool, counted: bool) -> Entry:
    """The first way to read a text that leads to a number; others are kept as alternatives."""
    plain = _bare(source, counted)
    signs = [mark] if mark != AUTO else [",", "."] if _ONE_GROUP.fullmatch(plain) else [".", ","]
    if _FIRST_WORD.match(source) or not _MAY_BE_DECIMAL.search(source):
        signs = signs[-1:]  # neither makes a number of a sentence, and both make the same of whole numbers
    texts = [(way, sign) for sign in signs for way in _ways(plain, sign)]
    entries = [_read_with(shown, way, sign, symbols) for way, sign in texts]
    if symbols and not any(entry.readable for entry in entries):
        entries = [_read_with(shown, letter_by_letter(source), signs[0], symbols), *entries]
    first, *others = [entry for entry in entries if entry.readable] or entries[-1:]
    if first.reading is None:
        return first
    known, kept = {first.reading.echo()}, [*first.reading.alternatives]
    for other in others:
        if other.reading is not None and other.reading.echo() not in known:
            known.add(other.reading.echo())
            kept.append(other.reading)
    return replace(first, reading=replace(first.reading, alternatives=tuple(kept)))


_MAY_BE_DECIMAL = re.compile("[.,·]")


def _read_with(shown: str, source: str, mark: str, symbols: bool) -> Entry:
    try:
        reading = read(source, mark, symbols=symbols)
        value = reading.evaluate()
    except ReadError as error:
        return Entry(shown, complaint=error.said, pointer=error.pointer)
    except OverBudget:
        value = None
    return Entry(shown, reading, value, _unit(reading), goes_on(shown))


def _unit(reading: Reading) -> Fraction | None:
    """What one more in the last place means; where rounded numbers are calculated with, how far they may lead."""
    if reading.places is not None:
        return Fraction(1, 10**reading.places)
    if not has_decimal(reading):
        return None
    try:
        low, high = _Rounded(ENOUGH)(reading.tree)
        off = high - low
    except (SymattnError, ArithmeticError):  # not defined, or as good as infinite
        return None
    # 1E-434294482 takes a long time to become a fraction.
    return Fraction(off) if off.is_finite() and off > NOISE and off.adjusted() <= LONGEST_SIZE else None


class _Rounded(IntervalRing):
    """Decimals with two places or more are all that may be rounded to them: 7.39/12.09."""

    def __call__(self, node: Node) -> Interval:
        if isinstance(node, Number) and (found := _DECIMALS.search(node.digits)):
            return self.enclose_with(node.value, len(found[1]))
        return super().__call__(node)

    def enclose_with(self, value: Value, places: int) -> Interval:
        assert isinstance(value, RATIONAL)
        half = Fraction(1, 2 * 10**places)
        return Interval(self.number(value - half).low, self.number(value + half).high)


def _scaled(written: Entry, factor: Reading | None) -> Entry:
    """The entry times a common factor; an entry of c·x may be off by |c|·(unit of x) + |x|·(unit of c)."""
    if factor is None or written.reading is None:
        return written
    own = written.reading
    reading, *others = (
        Reading(written.text, Product((factor.tree, one.tree)), "exact", None) for one in (own, *own.alternatives)
    )
    reading = replace(reading, alternatives=tuple(others))
    try:
        c, value = factor.evaluate(), reading.evaluate()
        off = [
            _size(scale) * unit
            for scale, unit in ((c, written.unit), (written.value, _unit(factor)))
            if unit is not None and scale is not None
        ]
    except (ReadError, InputError) as error:
        return Entry(written.text, complaint=error.said, pointer=pointer_of(error))
    except OverBudget:
        return Entry(written.text, reading)
    return Entry(written.text, reading, value, sum(off, Fraction(0)) or None, written.goes_on)


def _size(value: Value) -> Fraction:
    """The absolute value, where it is irrational a bound of it from above that is as good as equal."""
    if isinstance(value, NegativeInfinity) or is_symbolic(value):
        return Fraction(0)
    if isinstance(value, RATIONAL):
        return abs(Fraction(value))
    around = enclose(value, 25)
    high = max(around.low.copy_abs(), around.high.copy_abs())
    if high.adjusted() > LONGEST_SIZE:
        raise InputError(message("The common factor is too large to be multiplied in."))
    return Fraction(high) if high.adjusted() > -LONGEST_SIZE else Fraction(1, 10**LONGEST_SIZE)


def shortened(text: str, most: int = 60) -> str:
    """A text on one line, and no longer than that."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."


def quoted(text: str, most: int = 60) -> str:
    """The same in quotation marks."""
    return repr(shortened(text, most))


_QUOTED = re.compile(r"""(['"‘“«„])\s*(.*?)\s*['"’”»“]""")
_BRACKETED = re.compile(r"(\()\s*([-+−]?[\d.,]+\s*%?)\s*\)")
_in_usual_signs = rewriting(
    # a tick beside a number, and words in brackets behind it
    (r"\A[✓✔✅☑]\s*(?=[-+−\d.,√(])|(?<=\S)\s*[✓✔✅☑]\Z|(?<=\S)\s+\((?=[^()]*[^\W\d_]{3})[^()\d=+*/^]{3,40}\)\Z", ""),
    (r"(?<=\d)\s?[x×·⋅*]\s?10\s?\^\s?[({]{0,2}\s?([-+−]?\d{1,3})\s?[)}]{0,2}", r"*10^(\1)"),
    (r"(?<![A-Za-z._\\])E(?![A-Za-z\d_(]|(?<=\dE)[-+−]?\d)", "e"),  # SymPy's, where no matrix is written
)
_without_words = rewriting(
    (
        rf"(?is)\A(.*?)(?:{labels.ABOUT}|[~≈≃≅])\s*(?=[-+−\d.,√(])",
        r"\1",
    ),
    (rf"(?i)\s*\(?{any_of('rounded|rounded off|approx|approx.|approximately|exactly|exact')}\)?\Z", ""),
)


def _fraction(found: re.Match[str]) -> str:
    """0.1(6) as a fraction in brackets: (16 − 1)/90."""
    sign, whole, before, bracket, overlined = found.groups()
    period = bracket or re.sub(r"[\u0305\u0304]", "", overlined)
    above = int(whole + before + period) - int(whole + before)
    return f"{sign}({above}/{(10 ** len(period) - 1) * 10 ** len(before)})"


_in_numbers = rewriting(
    (r"(?i)(?<!\\)\b(ln|log|sqrt|exp)\s*(\d+(?:[.,]\d+)?)(?![\d.,(])", r"\1(\2)"),
    (r"(?i)(?<![a-z\\])inf(?:inity|ty)?(?![a-z])", "inf"),
    (r"(?<=\d)(?:…|\.{2,3})\Z", ""),
    (r"([-+−]?)(\d+)[.,](\d*)(?:\((\d+)\)|((?:\d[\u0305\u0304])+))", _fraction),
    (r"(?<=\d)\.(?=[\s()*·/+−eE-]|\Z)", ""),  # as NumPy prints whole numbers: 1. and 2.e+00
)
_USUAL = re.compile(r"[-+\d.,/ ()^*e√]*")
"""Signs that say the same in every way of writing."""
_UNIT = re.compile(
    r"(?i)(?<=[\d)])\s*"
    + any_of(
        "token|tokens|word|words|number|numbers|entry|entries|parameter|parameters|param|params|weight|weights|byte|bytes"
        "|operation|operations|ops|flop|flops|multiplication|multiplications|multiply-add|multiply-adds|addition"
        "|additions|score|scores|value|values|pair|pairs|step|steps|layer|layers|head|heads|row|rows|column|columns"
        "|mark|marks|point|points"
    )
    + "$"
)
_THOUSANDS = re.compile(r"[-+−]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3}){2,}|(?:\.\d{3})+,\d+)")
_GROUPED = re.compile(r"[+\-−]?\d{1,3}(?:[ '’]\d{3}){1,60}")
_NO_GROUPING = str.maketrans("", "", " '’")
_ONE_GROUP = re.compile(r"[-+−]?[1-9]\d{0,2},\d{3}")
_LETTERS = re.compile(r"(?<![A-Za-z\\_])(?!ln\()[nmdkhlvtbNMDKHLVTB]{2,4}(?![A-Za-z])")  # of sizes, and no word
_RAISED_DOT, _NO_FACTOR = re.compile(r"([-+−]?\d+)·(\d+)"), re.compile(r"0\d+")
_POWER = re.compile(r"(.*\be|\be)\^\s*([-+−]?\d+)\s*/\s*(\d+)")
_AGAIN = re.compile(r"([^()]*[^()\s])\s+\(\s*([≈=~]?)\s*([^()]*[\d%])\s*\)")


def _ways(plain: str, mark: str) -> Iterator[str]:
    """Texts that the one typed may stand for, with `mark` as the decimal mark.

    >>> list(_ways("4,915,200", ".")), list(_ways("2·204", ".")), list(_ways("0·05", "."))
    (['4915200'], ['2·204', '2.204'], ['0.05'])
    """
    if _THOUSANDS.fullmatch(plain):
        group = "," if "," in plain and "." not in plain.partition(",")[0] else "."
        digits = plain.replace(group, "")
        ambiguous = plain.count(group) == 1 and group == mark
        yield from (plain, digits) if ambiguous else (digits,)
        return
    raised = _RAISED_DOT.fullmatch(plain)
    if raised is None or not _NO_FACTOR.fullmatch(raised[2]):
        yield plain
    if raised:
        yield f"{raised[1]}{mark}{raised[2]}"
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


def _bare(text: str, counted: bool = True) -> str:
    """Without quotation marks and words, and without the units of what is counted; recurring decimals as fractions."""
    text = (text if _USUAL.fullmatch(text) else _in_usual_signs(number_signs(text))).strip()
    if found := _QUOTED.fullmatch(text) or _BRACKETED.fullmatch(text):
        text = found[2]
    text = _without_words(text)
    return _in_numbers(ungrouped(_UNIT.sub("", text)) if counted else text).strip()


# ------------------------------------------------------------------------------------------------ shapes

Shape = tuple[int, int]


def shape_alone(text: str) -> Shape | None:
    """The shape that a text is, and nothing else.

    >>> shape_alone("(3 x 4)"), shape_alone("3 by 4"), shape_alone("3×4×5"), shape_alone("3 4")
    ((3, 4), (3, 4), None, None)
    """
    found = _ALONE.fullmatch(text)
    return _shape(found) if found else None


def stated_shape(text: str) -> tuple[str, Shape] | None:
    """A statement of a shape and of nothing else: the words for what has it, and the shape.

    >>> stated_shape("Q is a 3×4 matrix"), stated_shape("The shape of Q is (3, 4)."), stated_shape("Q ∈ ℝ^{3×4}")
    (('Q is a', (3, 4)), ('The of Q is', (3, 4)), ('Q', (3, 4)))
    >>> stated_shape("Q = (3, 4)"), stated_shape("3×5 times 5×4"), stated_shape("3×4")
    (None, None, None)
    """
    text = _raised(text)
    found = _STATEMENT.fullmatch(text)
    if found is None:
        head, says_shape = _WORDS.subn(" ", text)
        found = _PAIR.fullmatch(head) if says_shape else None
    if found is None or _SIZES.search(found["what"]):
        return None
    what = " ".join(_WORDS.sub(" ", found["what"]).split())
    return (what, _shape(found)) if what else None


def shape_beside(name: str) -> Shape | None:
    """The shape that stands beside a name; none if there are several, as of two factors.

    >>> shape_beside("Q (3 x 4)"), shape_beside("Q_{3×4}"), shape_beside("Q₃ₓ₄"), shape_beside("X W_Q (3×5)(5×4)")
    ((3, 4), (3, 4), (3, 4), None)
    """
    found = [*_SIZES.finditer(_raised(name))]
    return _shape(found[0]) if len(found) == 1 else None


def without_shape(name: str) -> str:
    """A name without the shape beside it, in numbers or in letters.

    >>> [*map(without_shape, ("Q (3 x 4)", "Q_{3 × 4}", "Q₃ₓ₄", "K (n×d_k)", "(dX_K)"))]
    ['Q', 'Q', 'Q', 'K', '(dX_K)']
    """
    return _ANY.sub("", _raised(name))


def without_last_shape(text: str) -> tuple[str, Shape | None]:
    """What stands before the shape behind the last bracket of a matrix, and that shape.

    >>> without_last_shape("[1 2; 3 4], 2×2"), without_last_shape("[1 2; 3 4]"), without_last_shape("X W (3×5)(5×4)")
    (('[1 2; 3 4]', (2, 2)), ('[1 2; 3 4]', None), ('X W (3×5)(5×4)', None))
    """
    found = _BEHIND.search(text)
    if found is None or _SIZES.search(text[: found.start()]):
        return text, None
    return text[: found.start()], _shape(found)


def _raised(text: str) -> str:
    """A shape that is set below the line, as our own plain text does it, on the line."""
    return _LOW.sub(lambda found: f"_{{{found[0].translate(_DIGITS)}}}", text) if "ₓ" in text else text


def _shape(found: re.Match[str]) -> Shape:
    return int(found["rows"]), int(found["columns"])


_CROSSED = r"(?P<rows>\d{1,3})\s{0,9}(?:[xX×⨯]|\\times|" + labels.BY + r")\s{0,9}(?P<columns>\d{1,3})"
_SIZE = rf"[(\[{{]{{0,2}}\s{{0,9}}{_CROSSED}\s{{0,9}}[)\]}}]{{0,2}}"
_WHAT = r"(?P<what>[^\[\]=\n]{1,60}?)"
_IN = r"(?:\s{0,9}(?:∈|\\in)\s{0,9}(?:R|ℝ|\\mathbb\s?\{?R\}?)\s{0,9}\^?)?"
_ALONE = re.compile(rf"\s{{0,9}}{_SIZE}[\s.]{{0,9}}")
_SIZES = re.compile(rf"(?<![\d.]){_SIZE}(?![\d.])")
_STATEMENT = re.compile(rf"{_WHAT}{_IN}[\s:=(_]{{0,9}}{_SIZE}\s{{0,9}}{labels.MATRIX}?[\s.!]{{0,9}}", re.I)
_PAIR = re.compile(
    rf"{_WHAT}[\s:=]{{0,9}}[(\[]\s{{0,9}}(?P<rows>\d{{1,3}})\s{{0,9}}[,;]\s{{0,9}}(?P<columns>\d{{1,3}})\s{{0,9}}[)\]][\s.]{{0,9}}"
)
_WORDS = re.compile(rf"\.?{whole_word('shape|dimension|dimensions|dim|size|form|format')}", re.I)
_LOW = re.compile(r"[₀-₉]{1,3}ₓ[₀-₉]{1,3}")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₓ", "0123456789×")
_ANY = re.compile(
    r"\s{0,9}[(\[]\s{0,9}\w{1,5}\s{0,9}(?:[×*]|(?<=[\d\s])x(?=[\d\s]))\s{0,9}\w{1,5}\s{0,9}[)\]]"
    r"|_\{?\s?\d{1,3}\s?(?:x|×|\\times)\s?\d{1,3}(?!\d)\s?\}?",
    re.I,
)
_BEHIND = re.compile(rf"(?<=[\])])[\s,;_]{{0,9}}{_SIZE}[\s.]{{0,9}}$")


# ------------------------------------------------------------------------------------------------ as an answer

_UNDEFINED = re.compile(
    "(?i)(?:"
    + any_of("it is|this is|that is|it's|that's|this|that|it|is")
    + " )?"
    + any_of(
        "not defined|not def|not possible|not compatible|undefined|un-defined|undef|un-def|nd|n.d|n. d|n d|impossible"
        "|none|no|n/a|dne|does not exist|doesn't exist|does not work|doesn't work|cannot be multiplied"
        "|can't be multiplied|can not be multiplied|cannot be added|can't be added|can not be added|not conformable"
        "|mismatch|shape mismatch|shapes mismatch|size mismatch|sizes mismatch|dimension mismatch|dimensions mismatch"
        "|inner sizes mismatch|error|∅|✗|✘|×"
    )
    + r"\.?"
)
_LENGTH = r"\d{1,9}|\d{0,3}[^\W\d_]{1,3}(?:_\{?\w{1,8}\}?)?"
_SHAPE = re.compile(
    rf"({_LENGTH})\s*(?:×|\*|\\times|⨯|[xX]|-?{labels.BY}-?)\s*({_LENGTH})"
    rf"|[(\[]\s*({_LENGTH})\s*[,;]\s*({_LENGTH})\s*[)\]]"
    r"|(\d{1,9})(?:\s*[,;]\s*|\s+)(\d{1,9})"
)
_ROUND_A_SHAPE = re.compile(
    "(?i)(?:"
    + whole_word("the|it|its|it's|shape|size|is|of|a|an|so|defined|yes|torch.size|form")
    + rf"[\s:=,]*)*[:=]?\s*(.*?)(?:[-\s]{labels.MATRIX})?"
)


_COUNTED = re.compile("(?i)" + whole_word("row|rows|column|columns|and"))


def shape(text: str) -> Shaped | Unreadable:
    """3×4, 3x4, (3, 4), "3 by 4", "not defined".

    >>> shape("(3, 4)").shape, shape("n × d_k").shape, shape("not defined").shape, shape("(3×2)(2×4) = 3×4").shape
    ((3, 4), ('n', 'd_k'), None, (3, 4))
    """
    written = " ".join(visible(undecorated(text)).split())
    last = re.split(r"=|->|=>|→|⇒", _COUNTED.sub("", written))[-1].strip(" .!！")
    words = last.strip("()[]。")
    if _UNDEFINED.fullmatch(words) or words.casefold() in labels.said("not defined"):
        return Shaped(None)
    shapes = map(_SHAPE.fullmatch, (last, last.strip(" ()[]")))
    bare = _ROUND_A_SHAPE.fullmatch(last)
    found = next(filter(None, (*shapes, bare and _SHAPE.fullmatch(bare[1].strip()))), None)
    if not found:
        says = message('Found {text}, where a shape such as 3×4, or "not defined", was expected.', text=quoted(text))
        return Unreadable(text, says)
    rows, columns = (
        int(size) if size.isdecimal() and len(size) < 10 else re.sub(r"[{}]", "", size)
        for size in found.groups()
        if size
    )
    return Shaped((rows, columns))
