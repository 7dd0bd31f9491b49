"""Which part or step a line of a text is about, and what it says of that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from symattn.foundation.languages import message
from symattn.foundation.languages.words import any_of, whole_word
from symattn.marking.submissions import labels
from symattn.marking.submissions.entries import undecorated, without_shape
from symattn.marking.submissions.labels import AND, BULLETS, IS, ROW, SO
from symattn.marking.submissions.matrices import fits, has_numbers, matrix_in, open_brackets
from symattn.marking.submissions.names import (
    AROUND,
    FUNCTION,
    LETTERS,
    LONGEST_SIGN,
    MARKED,
    PLACE,
    Resolver,
    place_in,
    transposed,
)
from symattn.marking.submissions.tables import FIRST_ROW, are_counted, count_numbers, split, without_row_numbers
from symattn.marking.submissions.written import Written

Place = tuple[int, ...]
"""A row, or a row and a column."""

Placed = tuple[str, Place, tuple[str, ...]]
"""The name of a matrix, the place of an entry or a row, and what stands there."""


@dataclass
class Naming:
    """Names as the lines of a text have them."""

    written: Written
    resolver: Resolver

    def __post_init__(self) -> None:
        self.names = self.written.names
        self.done = frozenset(self.written.parts)

    def label(self, text: str, further: int = 3) -> tuple[str, str]:
        """The part or the step that a line begins with, and what stands behind its name; "" if it has none.

        Other names may stand before it: "Step 1: (a) S = …"; but no more than three.
        """
        first = FIRST_ROW.match(text) if without_row_numbers(text) != text else None
        if first and (name := self.resolver.called(first[1].strip(" =:->→⟶⇒"))):
            return name, text[first.end(1) :]  # for Q I get row 1: 3 4, row 2: 5 6
        head, sign, rest = partition(text)
        if head[:1] == "[" and (name := self.resolver.called(rest)):
            return name, head  # [[1, 2], [3, 4]] = S
        if sign and len({*_NUMBERS_ALONE.findall(without_shape(head))}) < 2:
            name = self.resolver.called(head)
            goes_on = further and sign != "=" and (not name or PLACE.fullmatch(head.strip()))
            inner = self.label(rest, further - 1) if goes_on else ("", "")
            return inner if inner[0] else (name, rest)
        if found := MARKED.match(text):
            inner = self.label(found[2], further - 1) if further else ("", "")
            if inner[0]:
                return inner
            if found[2] and (numbered := self.names.place(found[1])) and not self.resolver.called(text):
                return (numbered, found[2]) if any(map(str.isdigit, found[2])) else ("", "")
        behind = head = rest = ""
        for number in filter(None, (*_numbers_behind_words(text), _MATRIX.search(text))):
            head, rest = text[: number.start()], text[number.start() :]
            is_of_another = len(_NUMBERS_ALONE.findall(head)) > 2
            if behind := self.resolver.called(head) if head and not is_of_another else "":
                break
        if not _MATRIX.search(text) and (name := self.resolver.called(text)):
            # One whole number may be of the name, but behind a verb.
            if behind and not rest.strip(" .").isdigit() and fits(rest, self.written.shape(behind)):
                return behind, rest
            shape = self.written.shape(name)
            is_said = shape != (1, 1) or not rest.strip(" .").isdigit() or _ENDS_WITH_IS.search(head)
            is_row = count_numbers(rest, shape[1]) == shape[1]
            return name, rest if name == behind and is_said and (is_row or fits(rest, shape)) else ""
        return behind, rest

    def others(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Wherever another part or step is named: what stands before it, its name and what stands behind that."""
        for gap in _GAP.finditer(text):
            before, statement = text[: gap.start()], text[gap.end() :]
            name, value = self.label(statement) if not (_is_in_round(before) or open_brackets(before) > 0) else ("", "")
            head = statement[: len(statement) - len(value)].rstrip(" ,;")
            if name and "]" not in head and (len(head) > LONGEST_SIGN or _SAYS.search(head)):
                yield before, name, value

    def apart(self, text: str) -> tuple[str, str, str]:
        """What stands before another name, that name, and what stands behind it, as in `[[1]], and K is [[2]]`."""
        others = (other for other in self.others(text) if _VALUE.match(other[2]))
        return next(others, (text, "", ""))

    def ends_in_another(self, text: str, target: str) -> bool:
        """Whether behind numbers another part or step is named, or something in words: [1 2] → weights = [3 4]."""
        before = text.rpartition("\n")[2].rpartition("=")[0]
        has_words = has_numbers(before) and _WORD_BETWEEN.search(before) is not None
        return has_words or any(has_numbers(before) and name != target for before, name, _ in self.others(text))

    def transposed(self, text: str) -> str:
        """The part of whose transpose a line speaks, S^T = [[1, 2], [3, 4]]; "" if it speaks of none."""
        head, sign, _ = partition(text)
        plain = transposed(head).strip(AROUND)
        name = self.names.sign(plain) if sign and plain != head.strip(AROUND) else ""
        return name if name in self.names.parts else ""

    def is_of_another(self, text: str) -> bool:
        """Whether a line says what something else is, that is made of a step: K^T = [[1, 2]], exp(S') = [[1, 2]]."""
        head, sign, _ = partition(without_marker(text))
        plain = transposed(head).strip(AROUND)
        return sign == "=" and bool(
            FUNCTION.match(head) or (plain != head.strip(AROUND) and self.resolver.called(plain))
        )

    def are_statements(self, lines: Sequence[str]) -> bool:
        """Whether one of the lines says what a step is, and is no row with a word before it; q1, q2, q3 are rows."""
        first = (line.strip().partition("\n")[0] for line in lines)
        parted = (_SAYS.split(MARKED.sub(r"\2", text), maxsplit=1) for text in first)
        heads = [head.strip() for head, *row in parted if row]
        return any(map(self.names.sign, heads)) and not (len(heads) == len(lines) > 1 and are_counted(heads))

    def begins_another(self, lines: Sequence[str], target: str) -> bool:
        """Whether one of the rows begins with the sign of a step that is not the target; q1, q2, q3 are rows, and a may
        be a word.
        """
        first = (_FIRST_CELL.match(line) for line in lines)
        signs = [found[1] for found in first if found and _SIGN.fullmatch(found[1])]
        own = ("", target, *self.names.pieces(target))
        return any(self.names.sign(sign) not in own for sign in signs) and not (len(signs) > 1 and are_counted(signs))

    def entries(self, text: str) -> list[Placed]:
        """The entries and rows that a line consists of; none if there is anything else in it."""
        found = list(map(self._entry, _entry_by_entry(text)))
        return [one for one in found if one] if all(found) else []

    def _of_entries(self, sign: str) -> str:
        """The part or the step whose entry has a sign: S_11 of S, and below Head 2: of S_2."""
        section = self.resolver.section
        known = self.resolver.find(sign, self.names.sign) or self.names.find(sign)
        return known or (self.names.within(sign, *section) if section else "")

    def _entry(self, text: str) -> Placed | None:
        """An entry or a row of a step, and where it stands; None if it is neither."""
        head, sign, rest = partition(text)
        if not sign or not any(map(str.isdigit, head)):
            return None
        head = _of_entry(head)
        if product := _PRODUCT.fullmatch(head):  # q₁·k₂ = 3, and k₂·q₁ = 3
            one, i, other, j = product.groups()
            ways = ((self.names.scores(one, other), i, j), (self.names.scores(other, one), j, i))
            found = ((name, (int(row), int(column)), (rest,)) for name, row, column in ways if name)
            return next((one for one in found if one[0] not in self.done), None)
        called, place = place_in(head) or ("", ())
        name = self._of_entries(called) if place else ""
        other = self.names.find(head)
        if not name or name in self.done or (other and len(place) == 2):
            return None
        if len(place) == 2:
            return name, place, (rest,)
        matrix = matrix_in(rest, (1, self.written.shape(name)[1]))
        if matrix is None or len(matrix.rows) != 1 or _WORD_BETWEEN.search(rest.rpartition("=")[0]):
            return None
        wide = self.written.shape(other)[1] if other else 0
        if wide == 1 or wide == len(matrix.rows[0]):  # Q_1 is the first head; a row as wide as Q is row 1 of Q
            return None
        return name, place, matrix.rows[0]


def _entry_by_entry(text: str) -> list[str]:
    """A text taken apart where the name of another entry or row, or a product of tokens, begins before an equals sign.

    >>> _entry_by_entry("s11 = 1·2 + 1 = 3, s12 = 4 and S[1, 0]=-2\\tS'_1[1][1]=5")
    ['s11 = 1·2 + 1 = 3', 's12 = 4', 'S[1, 0]=-2', "S'_1[1][1]=5"]
    """
    starts = [gap for gap in _BEFORE_ENTRY.finditer(text) if _names_entry(text[gap.end() : gap.end() + _LONGEST_HEAD])]
    ends = [*(gap.start() for gap in starts), len(text)]
    return [text[start:end] for start, end in zip([0, *(gap.end() for gap in starts)], ends, strict=True)]


def _names_entry(text: str) -> bool:
    head, sign, _ = partition(text)
    if sign != "=" or _WORD_GAP.search(_INNER_GAP.sub("", head)):
        return False
    name = _of_entry(head)
    return _PRODUCT.fullmatch(name) is not None or place_in(name) is not None


def _of_entry(head: str) -> str:
    """What stands before an equals sign, as names of entries are looked up."""
    return undecorated(head.strip(" \t*`$")).translate(_LOWERED)


_BEFORE_ENTRY = re.compile(rf"(?:(?<![\s,;·.*⋅∙•×])|(?<=\d\.))(?<!\\cdot)(?<!\\times)[\s,;]+(?:{AND}\s+)?(?=[^\W\d_])")


_LONGEST_HEAD = 40


_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


_FACTOR = r"([^\W\d_]'*)_?\{?(\d)\}?"


_TIMES = r"\s*(?:\^?\{?(?:T|ᵀ|⊤|\\top)\}?\s*)?(?:[·.*⋅∙•×@]|\\cdot|(?<=[Tᵀ⊤}p]))\s*"


_PRODUCT = re.compile(_FACTOR + _TIMES + _FACTOR)


_INNER_GAP = re.compile(rf",?[\[({{][^\[\](){{}}]*[\])}}]|{_TIMES}|(?i:\s{ROW}\s)(?=\d)|\s+(?=[\[(=]|$)")


_WORD_GAP = re.compile(r"[\s,;]")


_WORD_BETWEEN = re.compile(r"(?<![\\\w])(?!(?:sqrt|exp|log|max|sum|softmax|array|tensor|matrix|inf)\b)[^\W\d_]{3,}")


def _numbers_behind_words(text: str) -> Iterator[re.Match[str]]:
    """Where the first number begins; and the first one behind further words, which that of a head may stand before."""
    first = FIRST_NUMBER.search(text)
    word = LETTERS.search(text, first.end()) if first and LETTERS.search(text, 0, first.start()) else None
    yield from filter(None, (first, word and FIRST_NUMBER.search(text, word.end())))


FIRST_NUMBER = re.compile(  # none of a name, Q.2; a word in brackets is none, but for e and π: (e)/(1 + e)
    r"(?<![\w^_'′])(?<![^\W\d]\.)(?<!['′]\.)(?<![\^_][(\[])"
    r"(?:\((?=(?:e|pi)\)\s*[/^*·])|\((?![A-Za-z'′]{1,12}\))|[-+−]?[.√]?\d)|(?<![\^_])\[|\\begin\b"
)


_NUMBERS_ALONE = re.compile(r"(?<![\w^.,])\d+(?:[.,]\d+)?")  # none in R1^1


_MATRIX = re.compile(r"\[\s*\[")


_VALUE = re.compile(r"(?:[^=\[\]]{0,40}[=≈:])?[\s≈]*[\[({+−.\d√-]")  # numbers, perhaps behind a formula


_GAP = re.compile(  # behind it another statement may begin: after a number, a bracket, a comma, a full stop, an arrow
    r"(?:(?:(?<=[\])\d%✓`\"'$])|(?<=\*\*)|(?<=[\w\])%`]\.))(?:\s*[,;:]\s*|\s+)|(?<=\w)[,;]\s+|(?<=[>→⟶⇒])\s*)"
    rf"(?:(?:[-=]>|[→⟶⇒]|{AND}|{SO})\s+)*(?!{AND}\s+[(\[\d])(?=[^\W\d]|\([^\W\d]\S{{0,8}}\)²)"
)


@cache
def section_pattern() -> re.Pattern[str]:
    """Head 2: and Token 2: or Row 2: at the beginning of a line, in every language."""
    said = (labels.said(message("Head {head}", head=7)), labels.said(message("token {token}", token=7)))
    head, token = ("|".join(re.escape(way.replace("7", "").strip()) for way in ways) for ways in said)
    number = r"\s*=?\s*(\d)(?=\W*$|\s*[:.,)–-]|\s+[^\W\d])[\s*_:.,)–-]*"
    return re.compile(
        rf"\W*(?i:{any_of('for')}\s+)?(?:(?i:{head}){number}|(?:(?i:{token}|{any_of('time|query|input')}|{ROW})|t){number})"
    )


def without_version(text: str) -> tuple[str, str]:
    """A label without what is said of it as one of several: old in "S (first try)", new in "A, corrected:"; else ""."""
    head, sign, rest = partition(text)
    found = _VERSION.search(head) if sign else None
    if found is None:
        return text, ""
    version = "old" if found["old"] or found["old_word"] else "new"
    return f"{head[: found.start()]}{head[found.end() :]}{sign} {rest}", version


_OLD = whole_word(
    "first try|first attempt|first version|1st try|1st attempt|1st version|wrong|old|incorrect|draft|scratch"
)
_NEW = whole_word(
    "second try|second attempt|second version|2nd try|2nd attempt|2nd version|final try|final attempt|final version"
    "|last try|last attempt|last version|corrected|correction|revised|fixed"
)
_VERSION = re.compile(
    rf"(?i)[\s,]*[(\[][^()\[\]]{{0,20}}?(?:(?P<old>{_OLD})|{_NEW})[^()\[\]]{{0,40}}[)\]]"
    rf"|[\s,]*(?:(?P<old_word>{_OLD})|{_NEW})"
)


def without_marker(text: str) -> str:
    return _ARROW.sub(r"\1 =", _MARKER.sub("", text)).strip()


_MARKER = re.compile(rf"^\s*(?:(?:[{BULLETS}>→⇒∴]|[-=]>|#{{1,6}})\s+)*")


# A name before an arrow may hold digits, as S_1, norm 3 or dW_h_2; a row of numbers is none.
_ARROW = re.compile(
    r"^((?:[^=:\[\]\d]|(?<=[^\d,.\s][ ._^])\d(?![\d,]|\.\d)|(?<=[^\W\d_])\d(?![\d,]|\.\d)){1,40}?)\s*(?:[-=]>|[→⟶⇒]|:=)"
)


_FIRST_CELL, _SIGN = re.compile(r"\s*([^\s,;]+)[\s,;]"), re.compile(r"(?![a-z]$)[^\W\d]\S*")
_SAYS = re.compile(rf"[=:：≈→]|[-=]>|\s{IS}\s")
_ENDS_WITH_IS = re.compile(rf"\s{IS}\s*$")


_PARTING_SIGNS = "=:：≈"
_PARTING = re.compile(f"[{_PARTING_SIGNS}]")


def partition(text: str) -> tuple[str, str, str]:
    """At the first equals sign or colon that stands in no bracket."""
    first = _PARTING.search(text)
    is_inside = first is not None and not {*"([{"}.isdisjoint(text[: first.start()])
    head = split(text, _PARTING_SIGNS)[0] if is_inside else text[: first.start()] if first else text
    return head, text[len(head) : len(head) + 1], text[len(head) + 1 :].strip()


def _is_in_round(text: str) -> bool:
    """Whether a round bracket is open at the end."""
    return text.count("(") > text.count(")")
