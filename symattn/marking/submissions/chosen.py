"""Options that somebody chose, as people say it: B, "A and C", the text of one, ticks, true or false of each."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

from symattn.marking.submissions import labels
from symattn.marking.submissions.entries import undecorated, visible, without_crossed_out
from symattn.page.writers import common

Options = frozenset[int]


def chosen(text: str, texts: Sequence[str], several: bool = True) -> Options | None:
    """The options, from 0, that a text says were chosen, given what each of them says; None if that is not clear.

    Where one is to be chosen, several that are written out are a copy of the sheet.

    >>> four = ("QK", "KQ", "AV", "VA")
    >>> [sorted(chosen(said, four) or ()) for said in ("A and C", "(b)", "AC", "AV", "[x] D", "C. AV")]
    [[0, 2], [1], [0, 2], [2], [3], [2]]
    >>> [sorted(chosen(said, four) or ()) for said in ("B -> A", "~~B~~ A")]
    [[0], [0]]
    >>> [chosen(said, four) for said in ("A or C", "C. VA", "[ ] A", "A–C")]
    [None, None, None, None]
    """
    text = re.sub(r"\\([\[\]()])", r"\1", without_crossed_out(visible(text))).strip()
    text = _CHANGED.sub("", text)
    ways = [_letters(undecorated(text), len(texts)), _by_text(text, texts)]
    if _MARK.search(text):
        ways = []
    ways += [_listed(items, texts, several) for items in _ways_apart(text, len(texts))]
    found = {way for way in ways if way is not None}
    return found.pop() if len(found) == 1 else None


def chosen_first(text: str, texts: Sequence[str], several: bool) -> str:
    """As much of a line as says what was chosen, before the reason that is given; "" if that is not clear.

    >>> four = ("QK", "KQ", "AV", "VA")
    >>> [chosen_first(said, four, False) for said in ("B, since it is", "B or C", "B, no, C", "A wrong, B right")]
    ['B', '', '', '']
    """
    if len(text) > _LONGEST:
        return ""
    if chosen(text, texts, several) is not None:
        return text
    for found in reversed([*islice(_REASON.finditer(text), _MOST_REASONS)]):
        first, reason = text[: found.start()], text[found.start() :]
        options = chosen(first, texts, several)
        if options is not None and (several or len(options) == 1) and not _speaks_of_options(reason, len(texts)):
            return first
    return ""


_CHANGED = re.compile(r"^(?:\(?[A-Za-z]\)?\s*(?:[-=]+>|[→⇒⟶])\s*)+(?=\(?[A-Za-z]\)?\W*$)")
"""What an answer was before it was changed."""
_LONGEST, _MOST_REASONS = 8000, 40  # more is no answer to a choice
_REASON = re.compile(r"\s*(?:[,;:.(–—-]\s*(?=[(\w])|\s(?=(?:as|because|since|weil|da|denn|car|parce|porque|ya)\b))")
_OPTION = re.compile(r"(?<![\w'^/·*=+(-])(?:\(([a-z])\)|([A-Z]))(?![\w'^(·*=+])")
_DENIED = re.compile(
    r"(?i)(?<!\w)(?:no|nope|nein|non)(?=\W*[,;:.!–—-]|\W*$)|(?<!\w)(?:wait|wrong|false|incorrect|falsch|faux|falso)(?!\w)"
)
_OTHERS = re.compile(r"(?i)\b(?:not|nicht|pas|no)\s+\(?[a-z]\)?(?![\w'])")


def _speaks_of_options(reason: str, count: int) -> bool:
    """Whether a reason speaks of other options than to say that they are not chosen, or takes something back."""
    reason = _OTHERS.sub("", reason)
    letters = {found[1] or found[2] for found in _OPTION.finditer(reason)}
    return bool(_DENIED.search(reason)) or any(_place(letter, count) is not None for letter in letters)


# ------------------------------------------------------------------------------------ letters and words


@cache
def _filler() -> re.Pattern[str]:
    """Words between and before letters; only words in Latin letters have an end that can be seen."""
    words = (*labels.ands(), *labels.said("Answer"), *_FILLERS)
    return re.compile("(?i)" + "|".join(rf"\b{word}\b" if word.isascii() else word for word in words))


_FILLERS = (
    "options?", "letters?", "i (?:choose|pick|tick|think|say|take)", "it's", "it", "the", "is", "are", "only",
    "so", "both", "right", "true", "correct", "ich (?:wähle|nehme)", "die", "ist", "sind", "richtige?", "wahr", "nur",
    "la", "les", "est", "sont", "es", "son", "correcta?", "vrai(?:es?)?", "justes?", "verdaderas?",
)  # fmt: skip


def _letters(text: str, count: int) -> Options | None:
    """B, "A and C", (b), AC; a word of small letters is one of options only if they stand in order: bad is none."""
    words = re.findall(r"\w+", _filler().sub(" ", text)[:200])
    found = list[int]()
    for word in words:
        letters = [word] if _place(word, count) is not None else list(word)
        places = [place for letter in letters if (place := _place(letter, count)) is not None]
        in_order = places == sorted(set(places))
        if len(places) < len(letters) or not (in_order or word.isupper()) or (word.istitle() and len(letters) > 1):
            return None
        found += places
    return frozenset(found) if found and not _UNCLEAR.search(text) else None


_UNCLEAR = re.compile(r"[?]|\d|\b[A-Za-z]\)?\s*[-–—]\s*\(?[A-Za-z]\b")  # A-C may be three


def _place(letter: str, count: int) -> int | None:
    called = [common.letter(k) for k in range(count)]
    return called.index(letter.upper()) if letter.upper() in called else None


def _bare(text: str) -> str:
    """A text without spaces, signs of formulas and full stops, for looking it up."""
    plain = unicodedata.normalize("NFKC", undecorated(text)).casefold().replace("−", "-")
    return re.sub(r"[\s$\\{}_^.;,]", "", plain)


def _by_text(text: str, texts: Sequence[str]) -> Options | None:
    """The option of which the whole text is written; a text of one letter may be the letter of an option."""
    said = _bare(text)
    own = frozenset(k for k, option in enumerate(texts) if said and _bare(option) == said)
    return own if len(own) == 1 and len(said) > 1 else None


# ------------------------------------------------------------------------------------ one after the other


_MARKS = r"\[\s?[xX✓✔✗]?\s?\]|\(\s?\)|\([xX✓✔]\)|[☒☑☐□✓✔✅✗✘❌]"
_MARK = re.compile(_MARKS)
_ITEM = re.compile(
    rf"\s*(?:[-*•+]\s+)?(?P<mark>{_MARKS}|[xX](?=\s+\(?[A-Za-z][.):]))?\s*[*_]{{0,2}}\(?(?P<letter>[A-Za-z])(?![\w'^])"
    rf"[).:=]{{0,2}}[*_]{{0,2}}\s*(?P<rest>.*?)(?P<behind>{_MARKS})?\s*"
)
_EMPTY = frozenset(("[]", "()", "☐", "□"))
_CROSS = frozenset("✗✘❌")
_VERDICTS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "right", "correct", "t", "y", "wahr", "ja", "richtig"), True),
    **dict.fromkeys(("vrai", "oui", "juste", "verdadero", "sí", "si", "correcto"), True),
    **dict.fromkeys(("false", "no", "wrong", "incorrect", "f", "n", "falsch", "nein"), False),
    **dict.fromkeys(("faux", "non", "falso", "incorrecto"), False),
    **dict.fromkeys(("对", "正确", "是"), True),
    **dict.fromkeys(("错", "错误", "否"), False),
}


def _ways_apart(text: str, count: int) -> Iterator[list[re.Match[str]]]:
    """The text as items that begin with the letter of an option: its lines; what commas part; or what marks part."""
    lines = [line for line in text.splitlines() if line.strip()]
    ways = [lines]
    if len(lines) == 1:
        ways += [re.split(r"[,;]\s*", text.rstrip(".")), re.split(rf"\s+(?=(?:{_MARKS})\s*\(?[A-Za-z]\b)", text)]
        ways += [re.split(r"(?<=[☒☑☐✓✔✗✘\])])\s+(?=[A-Z])", text)]
    for way in ways:
        items = [_ITEM.fullmatch(item) for item in way]
        places = [_place(item["letter"], count) for item in items if item]
        if len(places) == len(items) and None not in places and len(set(places)) == len(places):
            yield [item for item in items if item]


def _listed(items: Sequence[re.Match[str]], texts: Sequence[str], several: bool) -> Options | None:
    """What the marks beside letters say, or true and false behind them; else the letters, unless they are all."""
    said = [(_place(item["letter"], len(texts)), item) for item in items]
    marks = {k: re.sub(r"\s", "", item["mark"] or item["behind"] or "") for k, item in said if k is not None}
    words = {k: item["rest"].strip(" :=–—().").casefold() for k, item in said if k is not None}
    own = {k: not words[k] or _bare(items[n]["rest"]) == _bare(texts[k]) for n, k in enumerate(words)}
    if any(marks.values()):
        ticked = frozenset(k for k, mark in marks.items() if mark and mark not in _EMPTY | _CROSS)
        clear = bool(ticked) and all(own.values()) and not (_CROSS & {*marks.values()} and len(marks) < len(texts))
        return ticked if clear else None
    verdicts = {k: _VERDICTS[word] for k, word in words.items() if word in _VERDICTS}
    if len(verdicts) == len(words):
        whole = len(words) == len(texts)
        clear = whole or (all(verdicts.values()) and all(len(word) > 1 for word in words.values()))
        return frozenset(k for k, right in verdicts.items() if right) if clear else None
    copied = len(words) == len(texts) or (not several and len(words) > 1)  # without a tick, a copy says nothing
    return frozenset(words) if all(own.values()) and not (copied and any(words.values())) else None
