"""Answers as a part asks for them: options that were chosen, an order, cells that are shaded; and what was written for
one part, before it is read: cells, a text, or several matrices.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice

from symattn.foundation.languages import message
from symattn.foundation.languages.words import whole_word, words_for
from symattn.marking.attempt import Ordered, Said, Shaded, Shaped, Ticked, Unreadable
from symattn.marking.submissions import labels
from symattn.marking.submissions.entries import (
    AUTO,
    Shape,
    is_blank,
    is_number,
    mark_in,
    noticed,
    quoted,
    shape,
    undecorated,
    visible,
    without_crossed_out,
)
from symattn.marking.submissions.tables import Cells, Rows, read_matrix
from symattn.page.document import AnswerGrid, Table, all_blocks
from symattn.page.writers import characters, common
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
)


@dataclass(frozen=True, slots=True)
class RawText:
    """Words, a number, or a matrix in one text."""

    text: str

    def texts(self) -> Iterator[str]:
        yield self.text

    @property
    def blank(self) -> bool:
        return is_blank(undecorated(self.text))


@dataclass(frozen=True, slots=True)
class Several:
    """Matrices by name, where a part asks for more than one or says so."""

    matrices: Mapping[str, Cells | RawText]

    def texts(self) -> Iterator[str]:
        for matrix in self.matrices.values():
            yield from matrix.texts()

    @property
    def blank(self) -> bool:
        return all(matrix.blank for matrix in self.matrices.values())


Raw = Cells | RawText | Several


def is_line(part: Part) -> bool:
    """Whether a part asks for a line of a derivation, or for some of its entries."""
    return isinstance(part.answer, LINES)


LINES = (StepAnswer, EntriesAnswer)

MATRICES = (StepAnswer, EntriesAnswer, MatrixAnswer, PropertyAnswer)


def grids_of(part: Part) -> list[AnswerGrid]:
    """The grids that a part prints to be filled in."""
    return [block for block in all_blocks(part.ask) if isinstance(block, AnswerGrid)]


def tables_of(part: Part) -> list[Table]:
    """The tables that a part prints to be filled in; their first column says what."""
    tables = (block for block in all_blocks(part.ask) if isinstance(block, Table))
    return [table for table in tables if isinstance(part.answer, MatrixAnswer) and table.row_heads]


def in_rows_of_table(part: Part, text: str) -> Cells | None:
    """Numbers behind words for the rows of the table that a part prints, in its order: "attention 1, recurrent 30";
    where it has two columns, these may be shapes, "Q: 7×11", which may also stand alone, one for every row.

    None where they do not say of every row which number is in it; of one row they may have a word that is not printed.
    """
    labels = [characters.plain(row[0]).casefold() for table in tables_of(part)[:1] for row in table.rows]
    if shape_of(part)[1] == 2 and (shapes := _shapes_of_rows(text, labels)):
        return Cells(shapes)
    items = [_NUMBER_BEHIND_WORDS.fullmatch(item) for item in _BETWEEN_ITEMS.split(text.strip(" .\n"))]
    named = [(_rows_called(item[1], labels), item[2]) for item in items if item and is_number(item[2])]
    numbers = {rows[0]: number for rows, number in named if len(rows) == 1}
    others = [number for rows, number in named if len(rows) != 1]
    left = [row for row in range(len(labels)) if row not in numbers]
    if len(left) == len(others) == 1:
        numbers[left[0]] = others[0]
    is_whole = len(items) == len(named) == len(numbers) == len(labels)
    return Cells(tuple((numbers[row],) for row in range(len(labels)))) if is_whole else None


def _rows_called(words: str, labels: Sequence[str]) -> list[int]:
    """The rows whose labels have all of the words in them."""
    sought = re.findall(r"[^\W\d_]{3,}", words.casefold())
    return [row for row, label in enumerate(labels) if sought and all(word in label for word in sought)]


def _shapes_of_rows(text: str, labels: Sequence[str]) -> Rows:
    """The numbers of rows and columns in shapes for all of the labels, in their order; nothing if that is not clear."""
    items = [_SHAPE_BEHIND.fullmatch(item) for item in _BETWEEN_SHAPES.split(text.strip(" .\n"))]
    found = [(_sign(item["words"]), (item["rows"], item["columns"])) for item in items if item]
    if not len(items) == len(found) == len(labels):
        return ()
    if not any(sign for sign, _ in found):
        return tuple(shape for _, shape in found)
    signs = [{_sign(word) for word in label.split()} for label in labels]
    shapes = {k: shape for sign, shape in found for k in range(len(labels)) if sign in signs[k]}
    one_each = all(sum(sign in own for own in signs) == 1 for sign, _ in found)
    return tuple(shapes[k] for k in range(len(labels))) if one_each and len(shapes) == len(labels) else ()


def _sign(words: str) -> str:
    """A sign without what marks its index, in small letters: wk for W^K and W_K."""
    return re.sub(r"[^\w'′]|_", "", words.casefold())


_BETWEEN_SHAPES = re.compile(r"[,;]\s+(?![^()\[\]\n]*[)\]])|\s*\n\s*")
_SHAPE_BEHIND = re.compile(
    rf"\s*(?P<words>[^\s\d:=]*)(?:\s*[:=]|\s+{labels.IS}\b)?\s*"
    rf"[(\[]?(?P<rows>\d{{1,9}})\s*(?:[xX×*,]|{labels.BY})\s*(?P<columns>\d{{1,9}})[)\]]?"
)
_BETWEEN_ITEMS = re.compile(r"[,;]\s+|\s*\n\s*")
_NUMBER_BEHIND_WORDS = re.compile(r"\s*([^\d=:]*[^\W\d_][^\d=:]*?)\s*[\s:=]\s*([-+−.\d√(].*)")


def shape_of(part: Part) -> Shape:
    """The shape of the matrix that a part asks for; (0, 0) where it asks for none."""
    if grids := grids_of(part):
        return grids[0].rows, grids[0].columns
    return part.answer.value.shape if isinstance(part.answer, MatrixAnswer) else (0, 0)


def one_text(raw: Raw) -> str:
    return " ".join(text for text in raw.texts() if text.strip()) if not isinstance(raw, RawText) else raw.text


# ------------------------------------------------------------------------------------------ options that somebody chose

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
    if (in_turn := _in_turn(text, texts, several)) is not None:
        return in_turn
    if _MARK.search(text):
        ways = []
    ways += [_listed(items, texts, several) for items in _ways_apart(text, len(texts))]
    found = {way for way in ways if way is not None}
    return found.pop() if len(found) == 1 else None


_CHANGED = re.compile(r"^(?:\(?[A-Za-z]\)?\s*(?:[-=]+>|[→⇒⟶])\s*)+(?=\(?[A-Za-z]\)?\W*$)")
"""What an answer was before it was changed."""
_LONGEST, _MOST_REASONS = 8000, 40  # more is no answer to a choice
_REASON = re.compile(rf"\s*(?:[,;:.(–—-]\s*(?=[(\w])|\s(?={whole_word('as|because|since')}))")
_OPTION = re.compile(r"(?<![\w'^/·*=+(-])(?:\(([a-z])\)|([A-Z]))(?![\w'^(·*=+])")
_DENIED = re.compile(rf"(?i){whole_word('no|nope')}(?=\W*[,;:.!–—-]|\W*$)|{whole_word('wait|wrong|false|incorrect')}")
_OTHERS = re.compile(rf"(?i){whole_word('not')}\s+\(?[a-z]\)?(?![\w'])")


def _speaks_of_options(reason: str, count: int) -> bool:
    """Whether a reason speaks of other options than to say that they are not chosen, or takes something back."""
    reason = _OTHERS.sub("", reason)
    letters = {found[1] or found[2] for found in _OPTION.finditer(reason)}
    return bool(_DENIED.search(reason)) or any(_place(letter, count) is not None for letter in letters)


# ------------------------------------------------------------------------------------------------ letters and words


_FILLERS = re.compile(
    "(?i)"
    + whole_word(
        "option|options|letter|letters|choice|choices|answer|i choose|i pick|i tick|i think|i say|i take|it's|it|the"
        "|is|are|and|only|so|both|right|true|correct"
    )
)
"""Words between and before letters."""


def _letters(text: str, count: int) -> Options | None:
    """B, "A and C", (b), AC; a word of small letters is one of options only if they stand in order: bad is none.

    Small letters and capitals beside each other are not all options: "a: C" is C for part a.
    """
    words = re.findall(r"\w+", _FILLERS.sub(" ", text)[:200])
    found = list[int]()
    for word in words:
        letters = [word] if _place(word, count) is not None else list(word)
        places = [place for letter in letters if (place := _place(letter, count)) is not None]
        in_order = places == sorted(set(places))
        if len(places) < len(letters) or not (in_order or word.isupper()) or (word.istitle() and len(letters) > 1):
            return None
        found += places
    is_mixed = len(set(found)) > 1 and len({letter.isupper() for word in words for letter in word}) > 1
    return frozenset(found) if found and not is_mixed and not _UNCLEAR.search(text) else None


_UNCLEAR = re.compile(r"[?]|\d|\b[A-Za-z]\)?\s*[-–—:=]\s*\(?[A-Za-z]\b")  # A-C may be three; B: A is A for part b


def _place(letter: str, count: int) -> int | None:
    called = [common.letter(k) for k in range(count)]
    return called.index(letter.upper()) if letter.upper() in called else None


def _bare(text: str) -> str:
    """A text without spaces, signs of formulas and full stops, for looking it up."""
    plain = unicodedata.normalize("NFKC", undecorated(text)).casefold().replace("−", "-")
    return re.sub(r"[\s$\\{}_^.;,!]", "", plain)


def _by_text(text: str, texts: Sequence[str]) -> Options | None:
    """The option of which the whole text is written; a text of one letter may be the letter of an option."""
    said = _bare(text)
    own = frozenset(k for k, option in enumerate(texts) if said and _bare(option) == said)
    if not own and (verdict := _VERDICTS.get(said)) is not None:  # ja, where yes and no are the options
        own = frozenset(k for k, option in enumerate(texts) if _verdict(option) == verdict)
    return own if len(own) == 1 and len(said) > said.isascii() else None


def _verdict(option: str) -> bool | None:
    """What an option says that is yes or no, or true or false, in a word."""
    word = _bare(option)
    return _VERDICTS.get(word) if len(word) > word.isascii() else None


# ------------------------------------------------------------------------------------------------ one after the other


_MARKS = r"\[\s?[xX✓✔✗]?\s?\]|\(\s?\)|\([xX✓✔]\)|[☒☑☐□✓✔✅✗✘❌]"
_MARK = re.compile(_MARKS)
_ITEM = re.compile(
    rf"\s*(?:[{labels.BULLETS}]\s+)?(?P<mark>{_MARKS}|[xX](?=\s+\(?[A-Za-z][.):]))?\s*[*_]{{0,2}}\(?(?P<letter>[A-Za-z])(?![\w'^])"
    rf"[).:=]{{0,2}}[*_]{{0,2}}\s*(?P<rest>.*?)(?P<behind>{_MARKS})?\s*"
)
_EMPTY = frozenset(("[]", "()", "☐", "□"))
_CROSS = frozenset("✗✘❌")
_LETTERS_OF_VERDICTS = dict.fromkeys(words_for("t|y"), True) | dict.fromkeys(words_for("f|n"), False)
_VERDICTS = {
    **dict.fromkeys(words_for("true|yes|right|correct"), True),
    **dict.fromkeys(words_for("false|no|wrong|incorrect"), False),
    **_LETTERS_OF_VERDICTS,
}
_SIGNS_OF_VERDICTS = _LETTERS_OF_VERDICTS | dict.fromkeys("✓✔✅√", True) | dict.fromkeys("✗✘❌×", False)
_VERDICT_ALONE = re.compile(r"[^\W\d_]+|[✓✔✅√✗✘❌×]")


def _in_turn(text: str, texts: Sequence[str], several: bool) -> Options | None:
    """True or false for every option in their order: TTFFF, "wahr, wahr, falsch", ✓ ✗ ✗; None of any other text."""
    words = [word.casefold() for word in _VERDICT_ALONE.findall(text)]
    letters = [*"".join(words)]
    if len(letters) == len(texts) and all(letter in _SIGNS_OF_VERDICTS for letter in letters):
        verdicts = [_SIGNS_OF_VERDICTS[letter] for letter in letters]
    elif len(words) == len(texts) and all(word in _VERDICTS and len(word) > 1 - word.isascii() for word in words):
        verdicts, letters = [_VERDICTS[word] for word in words], []
    else:
        return None
    are_letters = all(_place(letter, len(texts)) is not None for letter in letters) and bool(letters)
    own = any(_verdict(option) is not None for option in texts)
    ticked = frozenset(k for k, is_right in enumerate(verdicts) if is_right)
    is_clear = len(texts) > 1 and not (are_letters or own) and (several or len(ticked) == 1)
    return ticked if is_clear and not _VERDICT_ALONE.sub("", text).strip(" \t\n,;/|.-–") else None


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
        cases = {item["letter"].isupper() for item in items if item}
        if len({*places} - {None}) == len(items) and len(cases) == 1:
            yield [item for item in items if item]


def _listed(items: Sequence[re.Match[str]], texts: Sequence[str], several: bool) -> Options | None:
    """What the marks beside letters say, or true and false behind them; else the letters, unless they are all."""
    said = [(_place(item["letter"], len(texts)), item) for item in items]
    marks = {k: re.sub(r"\s", "", item["mark"] or item["behind"] or "") for k, item in said if k is not None}
    words = {k: item["rest"].strip(" :=–—-().").casefold() for k, item in said if k is not None}
    own = {k: not words[k] or _bare(items[n]["rest"]) == _bare(texts[k]) for n, k in enumerate(words)}
    if any(marks.values()):
        ticked = frozenset(k for k, mark in marks.items() if mark and mark not in _EMPTY | _CROSS)
        all_marked = len(marks) == len(texts) and all(marks.values())
        marked_twice = any(item["mark"] and item["behind"] for item in items)
        clear = bool(ticked) and all(own.values()) and (all_marked or not _CROSS & {*marks.values()})
        return ticked if clear and not marked_twice else None
    verdicts = {k: _VERDICTS[word] for k, word in words.items() if word in _VERDICTS}
    if len(verdicts) == len(words):
        whole = len(words) == len(texts)
        clear = whole or (all(verdicts.values()) and all(len(word) > 1 for word in words.values()))
        return frozenset(k for k, right in verdicts.items() if right) if clear else None
    copied = len(words) == len(texts) or (not several and len(words) > 1)  # without a tick, a copy says nothing
    return frozenset(words) if all(own.values()) and not (copied and any(words.values())) else None


# ------------------------------------------------------------------------------------------ answers that are no numbers


def reader_of(part: Part) -> Callable[[str], Said] | None:
    """What reads a text as an answer to a part that asks for a shape, for options, or for an order."""
    match part.answer:
        case ShapeAnswer():
            return shape
        case ChoiceAnswer(several=several) as choice:
            return partial(ticked, options=option_texts(choice), several=several)
        case OrderAnswer(groups):
            return partial(ordered, labels=sorted(label for group in groups for label in group))
    return None


def answer_in(part: Part, text: str) -> str:
    """As much of a line as answers a part that asks for no matrix: all of it, or what stands before the reason given
    for it; "" if nothing does, or if that is not clear: "B, no, C".
    """
    match part.answer:
        case CellsAnswer(shape=size):
            pairs = [found[0] for found in _PAIR.finditer(text)]
            return text if pairs and not isinstance(shaded(RawText(text), size), Unreadable) else ""
        case FormulaAnswer():
            return text if noticed(text, AUTO, symbols=True).entry.readable else ""
        case RubricAnswer() | WordAnswer():
            return text
    read = reader_of(part)
    if read is None or len(text) > _LONGEST:
        return ""
    ends = _REASON if isinstance(part.answer, ChoiceAnswer) else _FURTHER_WORD
    reasons = reversed([*islice(ends.finditer(text), _MOST_REASONS)])
    for answer in (text, *(text[: found.start()] for found in reasons)):
        said = read(answer) if answer.strip() else Unreadable("", "")
        rest = text[len(answer) :]
        if not isinstance(said, Unreadable) and not (rest and _goes_on(said, rest, part)):
            return answer
    return ""


def _goes_on(said: Said, rest: str, part: Part) -> bool:
    """Whether what stands behind an answer belongs to it: further options, further labels of an order, another
    shape.
    """
    match said, part.answer:
        case Ordered(groups), OrderAnswer(asked):
            return sum(map(len, groups)) < sum(map(len, asked))
        case Ticked(letters), ChoiceAnswer(options, several=several):
            return (len(letters) > 1 and not several) or _speaks_of_options(rest, len(options))
        case Shaped(shape), _:
            return shape is not None and _SHAPE_WITHIN.search(rest) is not None
    return False


_SHAPE_WITHIN = re.compile(r"\d\s*[x×*⨯,]\s*\d")
_FURTHER_WORD = re.compile(r"\s*[,;:.(–—-]?\s+(?:\(|\w{2,})")


def ticked(text: str, options: Sequence[str], several: bool = True) -> Ticked | Unreadable:
    """The options that were chosen, as `chosen` reads them.

    >>> ticked("A and C", ["1", "2", "3", "4"]).options == {0, 2}
    True
    """
    found = chosen(text, options, several)
    if found is None:
        last = common.letter(len(options) - 1)
        says = message("Found {text}, where letters from A to {last} were expected.", text=quoted(text), last=last)
        return Unreadable(text, says)
    return Ticked(found)


@cache
def option_texts(answer: ChoiceAnswer) -> tuple[str, ...]:
    """What the options say, on one line each."""
    return tuple(characters.plain(option.text) for option in answer.options)


SHADED = frozenset("x1■☑☒█▓▒✓✔✗✘⬛●#*") | {"yes", "true", "shaded", "hidden", "black", "grey", "gray"}
SHADED |= {"-inf", "-∞", "−∞"}
WHITE = frozenset("0☐□◻⬜○o.–-·") | {"", "no", "false", "seen", "visible", "white"}
HIDDEN = noticed("-∞").entry
_PAIR = re.compile(r"[(\[]\s*(\d{1,3})\s*[,;]\s*(\d{1,3})\s*[)\]]")


def shaded(raw: Raw, size: Shape) -> Shaded | Unreadable:
    """A grid with marks in the shaded cells, or the places (1, 2), (1, 3) of these cells, from 1."""
    text = one_text(raw)
    rows: Rows = raw.rows if isinstance(raw, Cells) else ()
    pairs: Rows = () if isinstance(raw, Cells) else tuple(_PAIR.findall(text))
    if not isinstance(raw, Cells) and not pairs and (matrix := read_matrix(text, size)):
        rows = matrix.rows
    is_grid = (len(rows), max(map(len, rows), default=0)) == size
    if rows and not is_grid and all(len(row) == 2 for row in rows):
        pairs = rows
    if pairs:
        places = [tuple(int(x) - 1 if x.strip().isdecimal() and len(x) < 10 else -1 for x in pair) for pair in pairs]
        inside = all(0 <= i < size[0] and 0 <= j < size[1] for i, j in places)
        return Shaded(frozenset((i, j) for i, j in places)) if inside else _no_cells(text, size)
    if rows and not is_grid:
        return _no_cells(text, size)
    marks = {(i, j): mark_in(mark) for i, row in enumerate(rows) for j, mark in enumerate(row)}
    if strange := next((mark for mark in marks.values() if mark not in SHADED | WHITE), ""):
        says = message("Found {text} in a cell, where x or nothing was expected.", text=quoted(strange))
        return Unreadable(text, says)
    return Shaded(frozenset(place for place, mark in marks.items() if mark in SHADED))


def _no_cells(text: str, size: Shape) -> Unreadable:
    says = message(
        "Found {text}, where a grid of {shape} cells, or places such as (1, 2), was expected.",
        text=quoted(text), shape=f"{size[0]}×{size[1]}",
    )  # fmt: skip
    return Unreadable(text, says)


_BETWEEN_LABELS = r"(?:[<>≤≥=~,;|→≈/]|-+>?|–)(?!\s*[<>≤≥=~–-])"
"""One sign; <- and => are none of them."""
_NUMBERED_LABELS = re.compile(r"(?<![\w.])\d{1,2}[.):]\s*(?=\(?[A-Za-z]\b)")
_IN_WORDS_OF_ORDER = re.compile(
    rf"(?i){whole_word('order|the order')}(?: {labels.IS}\b)?\s*:?"
    rf"|\(?{whole_word('smallest first|lowest first|least first|largest last|highest last|greatest last')}\)?\s*:?"
)
_DOWNWARDS = re.compile(
    rf"(?i)\(?{whole_word('largest first|highest first|greatest first|smallest last|lowest last|least last')}\)?\s*:?"
)
_BEFORE_LAST = re.compile(rf"\s*(?:,\s*)?{whole_word('and|then')}\s*")


def ordered(text: str, labels: list[str]) -> Ordered | Unreadable:
    """Labels in their order: C < A = B, "C, A, B", CAB; with > throughout or "largest first", the other way round.

    >>> ordered("C < A = B", ["A", "B", "C"]).groups, ordered("C > B > A", ["A", "B", "C"]).groups
    ((('C',), ('A', 'B')), (('A',), ('B',), ('C',)))
    >>> ordered("C, B, A (largest first)", ["A", "B", "C"]).groups
    (('A',), ('B',), ('C',))
    """
    plain_text, downwards = _DOWNWARDS.subn(" ", _NUMBERED_LABELS.sub(" ", text))
    line = visible(undecorated(_IN_WORDS_OF_ORDER.sub(" ", plain_text))).replace("\\lt", "<")
    line = " ".join(line.replace("\\", "").replace("_", " ").split())[:400].strip("|.,;:[](){} ")
    line = _BEFORE_LAST.sub(", ", line)
    line = re.sub(r"\(([A-Za-z])\)", r"\1", line)
    names = {label.casefold(): label for label in labels}
    longest_first = sorted(map(re.escape, labels), key=len, reverse=True)
    token = re.compile(f"(?i){'|'.join(longest_first)}|{_BETWEEN_LABELS}")
    tokens = token.findall(line)
    falls, rises = (any(sign in tokens for sign in pair) for pair in (">≥", "<≤"))
    groups, is_equal = list[list[str]](), False
    for found in tokens:
        label = names.get(found.casefold())
        if label and is_equal and groups:
            groups[-1].append(label)
        elif label:
            groups.append([label])
        is_equal = not label and (is_equal or found in "=~≈")
    if not groups or token.sub("", line).strip() or (rises and (falls or downwards)):
        says = message(
            "Found {text}, where {labels} were expected in some order.",
            text=quoted(text),
            labels=", ".join(labels),
        )
        return Unreadable(text, says)
    in_order = reversed(groups) if falls or downwards else groups
    return Ordered(tuple(tuple(group) for group in in_order))
