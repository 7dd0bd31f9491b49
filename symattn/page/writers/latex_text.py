"""Any text as LaTeX: escaped, Unicode as the commands that every TeX knows, and else as letters or codes."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from symattn.page.writers.common import visible
from symattn.page.writers.coverage import transliterated
from symattn.page.writers.tex import COMMANDS

_ASCII = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "`": r"\textasciigrave{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip

_PUNCTUATION = {
    "\N{NO-BREAK SPACE}": "~", "\N{NARROW NO-BREAK SPACE}": r"\,", "\N{THIN SPACE}": r"\,",
    "–": "--", "—": "---", "‑": "-", "‐": "-", "“": "``", "”": "''", "‘": "`", "’": "'", "„": r"\quotedblbase{}",
    "✓": r"\tick{}", "‚": r"\quotesinglbase{}", "«": r"\guillemotleft{}", "»": r"\guillemotright{}", "…": r"\dots{}",
    "•": r"\textbullet{}", "·": r"\textperiodcentered{}", "§": r"\S{}", "¶": r"\P{}", "©": r"\textcopyright{}",
    "®": r"\textregistered{}", "™": r"\texttrademark{}", "°": r"\textdegree{}", "€": r"\texteuro{}",
    "£": r"\pounds{}", "¡": r"\textexclamdown{}", "¿": r"\textquestiondown{}", "ª": r"\textordfeminine{}",
    "º": r"\textordmasculine{}", "½": r"\textonehalf{}", "¼": r"\textonequarter{}", "¾": r"\textthreequarters{}",
    "ß": r"\ss{}", "ÿ": r"\"{y}", "œ": r"\oe{}", "Œ": r"\OE{}", "ł": r"\l{}", "Ł": r"\L{}", "đ": r"\dj{}",
    "Đ": r"\DJ{}", "ı": r"\i{}", "ŋ": r"\ng{}", "Ŋ": r"\NG{}", "↳": r"\thenright{}",
} | {sign: rf"\textcircled{{\scriptsize {n}}}" for n, sign in enumerate("①②③④⑤⑥⑦⑧⑨", 1)}  # fmt: skip

_MATHS = {
    "−": "-", "×": r"\times", "÷": r"\div", "±": r"\pm", "⊙": r"\odot", "⊗": r"\otimes", "⊕": r"\oplus",
    "√": r"\surd", "∞": r"\infty", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv",
    "→": r"\to", "←": r"\leftarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow", "↑": r"\uparrow",
    "↓": r"\downarrow", "∈": r"\in", "∉": r"\notin", "∑": r"\sum", "∏": r"\prod", "∂": r"\partial",
    "∇": r"\nabla", "∀": r"\forall", "∃": r"\exists", "⟨": r"\langle", "⟩": r"\rangle", "ᵀ": r"^{\mathsf{T}}",
    "⊤": r"\top", "⊥": r"\perp", "′": "'", "″": "''", "⋅": r"\cdot", "∙": r"\cdot", "⋮": r"\vdots",
    "⋱": r"\ddots", "¬": r"\neg", "µ": r"\mu", "∩": r"\cap", "∪": r"\cup", "⊂": r"\subset", "∝": r"\propto",
    "✗": r"\times", "∘": r"\circ", "ο": "o", "ς": r"\varsigma", "ϑ": r"\vartheta", "‖": r"\|", "∥": r"\parallel",
} | COMMANDS  # fmt: skip
_SPACED = {"×": r" \times "}
_JOINING = "".join(sign for sign, source in _MATHS.items() if re.fullmatch(r"\\[A-Za-z]+|-", source))
_IN_MATHS = re.compile(rf"(\d+×\d+\b|√(?:[a-z]|\d+)\b|[{_JOINING}]+|[{''.join(_MATHS)}])")
_LATIN_TWIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))  # Greek capitals TeX has no sign for

_ACCENT = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0328": "k",
    "\u0331": "b",
}  # fmt: skip

# T1 and Latin-1 agree on these letters, so every engine sets them as they are.
_AS_THEY_ARE = frozenset(map(chr, range(0xC0, 0xFF))) - set("×÷ß")

# Letters that side by side would become another sign: -- – and ,, „
_LIGATURE = re.compile(r"(?<=[-,'])(?=[-,'])")
# At the start of an item or a cell these would be taken for an argument of the command before.
_SPELT = ("ARMENIAN", "CYRILLIC", "GEORGIAN", "GREEK", "LATIN")
_ARGUMENT = re.compile(r"\A\s*[\[*]")
_WORD = re.compile(r"\S+")
_LONG = 36  # letters of a word that TeX is not left to hyphenate, if it can
_CHUNK = re.compile(r".{12}(?=.)")
_CODE = re.compile(r"[\d_]|\w[^\w'’-]+\w")  # what no word of a language has in it
_SMALL_CHUNK = re.compile(r".{4}(?=.)")
_BREAK = "\N{ZERO WIDTH SPACE}"


@lru_cache(maxsize=4096)
def escaped(text: str, room: float = 41) -> str:
    """Text for a paragraph: nothing in it is a command, and nothing in it stops TeX, if foreign letters are listed.

    A word may be broken anywhere if it is very long, or if it is wider than `room` em and no word of a language.

    >>> print(escaped("50 % of {x_1} — naïve αβ 中 😀, 3×4 or −∞"))
    50 \\% of \\{x\\_1\\} --- naïve $\\alpha\\beta$ 中 \\unprintable{1F600}, $3 \\times 4$ or $-\\infty$
    """
    words = unicodedata.normalize("NFC", visible(text))
    words = _WORD.sub(lambda word: _breakable(word.group(), room), words)
    source = "".join(
        _mathematics(part) if k % 2 else "".join(map(_character, part))
        for k, part in enumerate(_IN_MATHS.split(_LIGATURE.sub("\0", words)))
    )
    return _ARGUMENT.sub(r"{\g<0>}", source)


def _mathematics(signs: str) -> str:
    """Signs, and the numbers or the letter that belong to them, as one formula in a line of text."""
    if signs[0] == "√" and len(signs) > 1:
        return rf"$\sqrt{{{signs[1:]}}}$"
    source = "".join(_SPACED.get(sign, _MATHS.get(sign, sign)) for sign in signs)
    return f"${source.strip()}$"


def _breakable(word: str, room: float) -> str:
    if len(word) >= _LONG:
        return _CHUNK.sub(rf"\g<0>{_BREAK}", word)
    if 0.6 * len(word) > room and _CODE.search(word):
        return _SMALL_CHUNK.sub(rf"\g<0>{_BREAK}", word)
    return word


def code(text: str) -> str:
    """Text as it is typed, for \\texttt: straight quotes, and places to break a line after signs."""
    words = re.sub(r"(?<=[/=_.,:&?-])(?=\w)", _BREAK, visible(text))
    return r"\textquotesingle{}".join(map(escaped, words.split("'")))


def _character(character: str) -> str:
    match character:
        case "\0":
            return "{}"
        case "\N{ZERO WIDTH SPACE}":
            return r"\wbr{}"
        case _ if character.isascii():
            return _ASCII.get(character, character)
        case _ if character in _PUNCTUATION:
            return _PUNCTUATION[character]
        case _ if character in _LATIN_TWIN:
            return _LATIN_TWIN[character]
        case _ if character in _AS_THEY_ARE:
            return character
        case _:
            return _decomposed(character)


def in_latin(letter: str) -> str:
    """What stands for a letter that TeX has no font for; nothing where there is no custom of writing it so."""
    return transliterated(letter) if unicodedata.name(letter, "").startswith("CYRILLIC") else ""


def is_foreign(character: str) -> bool:
    """Whether a TeX with the right font prints what pdfTeX does not: East Asian letters, and those of scripts that join
    and reorder nothing."""
    kind = unicodedata.category(character)
    if unicodedata.east_asian_width(character) in "WF":
        return not kind.startswith("S")
    return kind.startswith("L") and unicodedata.name(character, "").startswith(_SPELT) and character > "\xff"


def _decomposed(character: str) -> str:
    """A letter with accents as commands, a raised or lowered figure as such, and else a letter or its code."""
    base, *accents = list(unicodedata.normalize("NFD", character))
    if base.isascii() and accents and all(accent in _ACCENT for accent in accents):
        for accent in accents:
            base = rf"\{_ACCENT[accent]}{{{base}}}"
        return base
    kind, _, points = unicodedata.decomposition(character).partition(" ")
    plain = "".join(chr(int(point, 16)) for point in points.split()) if kind.startswith("<") else ""
    if plain.isascii() and plain.isalnum():
        match kind:
            case "<super>":
                return rf"\textsuperscript{{{plain}}}"
            case "<sub>":
                return rf"\textsubscript{{{plain}}}"
            case "<compat>" | "<wide>" | "<narrow>":
                return plain
    return character if is_foreign(character) else rf"\unprintable{{{ord(character):04X}}}"
