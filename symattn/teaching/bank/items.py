"""A question as other systems ask it: what is read, with places to answer in it, each marked by itself.

A place says what is right in it, what is wrong and known, and what it is worth.  No format is known here.  What follows
from a mistake cannot be seen by a system that marks entry by entry; but what follows from a *common* mistake is known
beforehand: such an entry has its points, as it would under the policy ecf, and the mistake itself has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import count, permutations
from math import ceil
from typing import assert_never

from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decimal_text, has_symbols, indices, rounded
from symattn.foundation.languages import Message, capitalised, listed, message, say, speaking
from symattn.page.document import (
    DEFAULT_LOOK,
    Block,
    Document,
    Heading,
    Inlines,
    Look,
    Paragraph,
    as_text,
)
from symattn.page.presentation import presented
from symattn.page.writers import html
from symattn.teaching.bank.forms import (
    EXPANDED,
    FEWEST_PLACES,
    HIDDEN,
    MOST_PLACES,
    few,
    in_any_order,
    in_proportion,
    is_listed,
    typed,
)
from symattn.teaching.bank.known import Known, KnownWrong
from symattn.teaching.bank.prompts import Piece, Slot, formulas_as_tex, grid, inlines, plain, prompt
from symattn.teaching.explanation.documents import answers, conventions_box
from symattn.teaching.explanation.layouts import headed
from symattn.teaching.problem import Problem
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    Marks,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
    asked_step,
    marks_in_words,
    matrix_of,
    total,
)

Cell = tuple[int, int]


# ------------------------------------------------------------------------------------------------ places


@dataclass(frozen=True, slots=True)
class WrongText:
    """Texts for which it is known what was done: what is told, as HTML, and whether they have the points still."""

    texts: tuple[str, ...]
    told: str
    follows: bool = False


@dataclass(frozen=True, slots=True)
class WrongNumber:
    """The same for a number that is compared within a tolerance of its own."""

    value: Fraction
    tolerance: Fraction
    told: str
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """What every place has: a name, what it is called in its part, and what it is worth."""

    name: str
    label: str
    points: Fraction


@dataclass(frozen=True, slots=True)
class Typed(Place):
    """A box for a text, `size` characters long: each of `texts` is right, and the first of them is shown."""

    texts: tuple[str, ...]
    wrong: tuple[WrongText, ...] = ()
    size: int = 8


@dataclass(frozen=True, slots=True)
class Measured(Place):
    """A box for a decimal with at most `places` places: right within `tolerance` of `value`.

    The part asks for `asked` places; a small number needs more of them.
    """

    value: Fraction
    tolerance: Fraction
    places: int
    asked: int
    wrong: tuple[WrongNumber, ...] = ()
    size: int = 8


@dataclass(frozen=True, slots=True)
class Offered:
    """An option, as HTML, and the feedback for choosing it where it is wrong."""

    shown: str
    right: bool
    told: str = ""


@dataclass(frozen=True, slots=True)
class Chosen(Place):
    """One option, or `several`: then every right one is a share of the points, and a wrong one takes a share away."""

    options: tuple[Offered, ...]
    several: bool = False


@dataclass(frozen=True, slots=True)
class Shaded(Place):
    """A cell to be shaded or left white."""

    right: bool


Spot = Typed | Measured | Chosen | Shaded
"""A place in an item."""

Body = tuple[str | Spot, ...]


@dataclass(frozen=True, slots=True)
class BankItem:
    """One variant of a question: what it begins with and each of its parts are HTML with places between it.

    `id` is its own in the bank, `sheet` the short name of the variant; `answers` is what is right, as HTML.
    """

    id: str
    sheet: str
    title: str
    parts: tuple[Body, ...]
    answers: str

    @property
    def body(self) -> Body:
        return tuple(piece for part in self.parts for piece in part)

    @property
    def text(self) -> str:
        """What is read, without the places."""
        return "".join(piece for piece in self.body if isinstance(piece, str))

    @property
    def places(self) -> tuple[Spot, ...]:
        return tuple(piece for piece in self.body if not isinstance(piece, str))

    @property
    def points(self) -> Fraction:
        return sum((place.points for place in self.places), Fraction(0))

    @property
    def weights(self) -> dict[Spot, int]:
        """What its places are worth, as whole numbers."""
        return dict(zip(self.places, in_proportion([place.points for place in self.places]), strict=True))


@dataclass(frozen=True, slots=True)
class Pool:
    """Variants of one question, of which everybody gets one."""

    title: str
    items: tuple[BankItem, ...]


@dataclass(frozen=True, slots=True)
class Bank:
    """What is exported: a set of worksheets is one pool, an exam one for each of its questions."""

    title: str
    pools: tuple[Pool, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Wants:
    """What a format wants of items: `decimals` for every number, where its system reads no other forms, and formulas in
    `tex`, where it typesets them itself.
    """

    decimals: bool = False
    tex: bool = False


# ------------------------------------------------------------------------------------------------ from questions

Named = tuple[str, Question]
"""A question, and the short name of its variant."""


def make_bank(title: str, pools: Sequence[Sequence[Named]], look: Look = DEFAULT_LOOK, wants: Wants = Wants()) -> Bank:
    """The bank of the variants of each question; `InputError` where nothing can be marked by a list of answers."""
    with speaking(look.language), formulas_as_tex(wants.tex):
        made = []
        for number, variants in enumerate(pools, 1):
            items = (_item(f"q{number}-{name}", name, question, look, wants) for name, question in variants)
            if kept := tuple(item for item in items if item.places):
                made.append(Pool(kept[0].title, kept))
        if not made:
            raise InputError(f"Nothing of {title} can be marked by a list of answers: all of it needs a person.")
        return Bank(say(title), tuple(made), look.language)


def left_out(question: Question) -> list[Message]:
    """What of a question needs a person, and is not in a bank."""
    parts: dict[Message, list[str]] = {}
    for number, part in enumerate(question.parts, 1):
        if why := needs_a_person(part):
            parts.setdefault(why, []).append(str(number))
    return [
        message("{question}, {numbers}: {why}", question=question.title, numbers=listed(numbers), why=why)
        for why, numbers in parts.items()
    ]


def _item(id: str, sheet: str, question: Question, look: Look, wants: Wants) -> BankItem:
    def shown(*blocks: Block) -> tuple[Block, ...]:
        return presented(Document("", blocks, look=look)).blocks

    def said(content: Inlines) -> str:
        (paragraph,) = shown(Paragraph(content))
        assert isinstance(paragraph, Paragraph)
        return inlines(paragraph.content)

    known = Known(question, said)
    parts: list[Body] = []
    stated: tuple[Message, ...] = ()  # what holds from the part before on is not said again
    for number, part in enumerate(map(headed, question.parts), 1):
        heading = Heading(part.title, 1, _worth(part), as_text(f"{number}."))
        body: list[str | Spot] = [plain(shown(heading))]
        if _is_left_out(part):
            body.append(plain(shown(*part.ask)))
        else:
            name = f"p{number}"
            made = _places(part, name, question, known, said, wants)
            hints = tuple(how_to_type(part, made.values()))
            body += [_in_italics(hint) for hint in hints if hint not in stated]
            stated = stated if {*hints} <= {*stated} else hints
            body += _laid(tuple(prompt(shown(*part.ask))), made)
            body += _shape_of(part, name, question)
            if isinstance(part.answer, CellsAnswer):
                every = message("Give an answer for every cell, shaded or white; a cell left empty counts as wrong.")
                body.append(_in_italics(every))
        if why := needs_a_person(part):
            body.append(_in_italics(message("Not marked here: {why}", why=why)))
        parts.append(_joined(body))
    opening = plain(shown(*question.introduction, *conventions_box([replace(question, spelling=())]), *question.given))
    marked = replace(question, parts=tuple(part for part in question.parts if not _is_left_out(part)))
    return BankItem(id, sheet, say(question.title), ((opening,), *parts), plain(shown(*answers(marked))))


def needs_a_person(part: Part) -> Message | None:
    """Why a part cannot be marked by a list of answers."""
    match part.answer:
        case RubricAnswer():
            return message("an explanation in words; somebody has to read it, on paper or elsewhere.")
        case PropertyAnswer():
            return message(
                "matrices of the student's own choice with a given property; no list of answers could hold them all."
            )
    if len(_marked(part)) < len(part.marks):
        return message("the reason; somebody has to read it, on paper or elsewhere.")
    return None


def _is_left_out(part: Part) -> bool:
    """Whether nothing of a part can be marked by a list of answers."""
    return isinstance(part.answer, RubricAnswer | PropertyAnswer)


def _marked(part: Part) -> Marks:
    """The marks without those that a person gives for a reason."""
    return tuple(mark for mark in part.marks if mark.rule != "reason")


def _worth(part: Part) -> str:
    """(3 marks), as it stands beside a heading: what is in square brackets is a blank to Canvas."""
    marked = _marked(part)
    return message("({marks})", marks=marks_in_words(total(marked))) if marked else ""


def _in_italics(says: Message) -> str:
    return f"<p><em>{html.escaped(say(says))}</em></p>\n"


def how_to_type(part: Part, places: Iterable[Spot]) -> Iterator[Message]:
    """The grammar of what is accepted in the boxes of a part that asks for numbers: a sentence for each kind of box."""
    if not isinstance(part.answer, StepAnswer | EntriesAnswer | MatrixAnswer | FormulaAnswer):
        return
    boxes = list(places)
    if isinstance(part.answer, FormulaAnswer) and has_symbols(part.answer.value):
        yield IN_ANY_ORDER if in_any_order(part.answer.value) else IN_THE_ORDER_OF_THE_ALPHABET
    first = [place.texts[0] for place in boxes if isinstance(place, Typed)]
    if any(map(is_a_number, first)):
        yield message(
            "From here on, type whole numbers, fractions such as -1/3, or decimals rounded to {fewest} to {most} "
            "places, with a point or a comma. Fractions need not be in lowest terms: the numerator and the denominator "
            "may be up to {times} times as large.",
            fewest=FEWEST_PLACES, most=MOST_PLACES, times=EXPANDED,
        )  # fmt: skip
    if measured := next((place for place in boxes if isinstance(place, Measured)), None):
        asked = measured.asked
        yield message(
            "From here on, type decimals instead of fractions, roots and powers of e: with a point and without spaces, "
            "such as -0.25. Give at most {places} places, or {digits} significant digits of a small number, such as "
            "0.00012. An answer is right if it is off by at most {tolerance}, and by at most half of the right value "
            "if that is not 0.",
            places=asked, digits=SIGNIFICANT, tolerance=decimal_text(tolerance(asked), asked + 1).rstrip("0"),
        )  # fmt: skip
    if HIDDEN[0] in first:
        yield message("Type -inf for −∞.")


IN_ANY_ORDER = message(
    "From here on, type a sum of products, multiplied out and with like terms collected, such as 4 n d^2 - 2 n/h: in "
    "each product the number first, then letters in any order, then what is divided by, each behind a /. Between "
    "factors type a space, * or nothing, but the same throughout, and ^ for powers. The terms may be in any order, and "
    "+ and - may have a space on both sides."
)
IN_THE_ORDER_OF_THE_ALPHABET = message(
    "From here on, type a sum of products, multiplied out and with like terms collected, such as 4 d^2 n - 2 n/h: in "
    "each product the number first, then letters in alphabetical order, then what is divided by, each behind a /. "
    "Between factors type a space, * or nothing, but the same throughout, and ^ for powers. The terms may be in any "
    "order, and + and - may have a space on both sides."
)


def is_a_number(form: str) -> bool:
    """Whether a form is a whole number or a fraction, and not an expression in letters."""
    return form.lstrip("-").replace("/", "", 1).isdecimal()


def _joined(body: Sequence[str | Spot]) -> tuple[str | Spot, ...]:
    """The same with HTML that follows on HTML in one piece."""
    joined: list[str | Spot] = []
    for piece in body:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


Made = dict[Cell, Spot]
"""The places of a part, by the entry that they are for; one that is a single thing at (0, 0)."""


def _laid(pieces: Sequence[Piece], made: Made) -> Iterator[str | Spot]:
    """The places where the question has them; where it has none, or others, below it as a matrix."""
    slots = [piece.cell for piece in pieces if isinstance(piece, Slot)]
    cells = {cell for cell in slots if cell}
    in_order = not cells and len(slots) == len(made)
    if in_order or (cells == made.keys() and len(slots) == len(made)):
        rest = iter(made.values() if in_order else [made[cell or (0, 0)] for cell in slots])
        yield from (next(rest) if isinstance(piece, Slot) else piece for piece in pieces)
        return
    yield from (piece for piece in pieces if isinstance(piece, str))
    rows, columns = (1 + max(cell[k] for cell in made) for k in (0, 1))
    for piece in grid(rows, columns):
        yield piece if isinstance(piece, str) else made.get(piece.cell or (0, 0), "")


def _shape_of(part: Part, name: str, question: Question) -> Body:
    """A box for the shape of a matrix, where there is a mark for it."""
    points = sum(mark.number for mark in part.marks if mark.rule == "shapes")
    if not points:
        return ()
    matrix, _ = _asked(part, question)
    place = Place(f"{name}s", say("Shape"), Fraction(points))
    box = _text(place, _shape(matrix.shape), *_turned(matrix.shape))
    return (f"<p>{html.escaped(say('Shape (rows × columns):'))} ", box, "</p>\n")


def _places(
    part: Part, name: str, question: Question, known: Known, said: Callable[[Inlines], str], wants: Wants
) -> Made:
    """The places of a part, which share its points; one point where no part of the question has any."""
    worth = sum(mark.number for mark in _marked(part) if mark.rule != "shapes")
    place = Place(name, "", Fraction(worth if any(other.marks for other in question.parts) else 1))
    alone = (0, 0)
    match part.answer:
        case StepAnswer() | EntriesAnswer() | MatrixAnswer():
            matrix, cells = _asked(part, question)
            places = _decimal_places(matrix, question.problem, wants)
            at = {alone: place} if matrix.shape == (1, 1) else _shares(place, cells)
            return _of_one_size({c: _number(at[c], matrix[c], known.of(part, c), places) for c in cells})
        case FormulaAnswer(value):
            listed = is_listed(value) and (has_symbols(value) or not wants.decimals)
            return _of_one_size({alone: _number(place, value, known.of(part, alone), None if listed else PLACES)})
        case ChoiceAnswer():
            return {alone: _choice(place, part.answer, said, known)}
        case CellsAnswer(shape, shaded):
            shares = _shares(place, indices(shape))
            return {cell: Shaded(**asdict(share), right=cell in shaded) for cell, share in shares.items()}
        case ShapeAnswer(shape):
            return {alone: _text(place, _shape(shape), *(_turned(shape) if shape else ()))}
        case OrderAnswer(groups):
            return {alone: _text(place, _order(groups))}
        case WordAnswer(word, accepted):
            return {alone: _text(place, (word, *accepted, *(say(text) for text in (word, *accepted))))}
        case RubricAnswer() | PropertyAnswer():
            raise TypeError(f"{part.name} needs a person.")
        case _:
            assert_never(part.answer)


def _shares(place: Place, cells: Sequence[Cell]) -> dict[Cell, Place]:
    """The places of some entries, which share the points of their part."""
    shares = {}
    for i, j in cells:
        label = capitalised(say("row {row}, column {column}", row=i + 1, column=j + 1))
        shares[i, j] = Place(f"{place.name}r{i + 1}c{j + 1}", label, place.points / len(cells))
    return shares


def _decimal_places(matrix: Matrix, problem: Problem | None, wants: Wants) -> int | None:
    """The places of the decimals that are asked for; None where entries are taken by their forms."""
    if problem is not None and not problem.exact and not all(isinstance(x, int) for x in matrix):
        return problem.places
    return PLACES if wants.decimals or not all(map(is_listed, matrix)) else None


SIZES = (8, 14, 22, 30)


def _of_one_size(made: Made) -> Made:
    """The boxes of a part as large as the largest of them needs, roughly: none tells how long its answer is."""
    longest = max(len(p.texts[0]) if isinstance(p, Typed) else 8 for p in made.values()) + 2
    size = next((size for size in SIZES if size >= longest), SIZES[-1])
    return {cell: replace(p, size=size) if isinstance(p, Typed | Measured) else p for cell, p in made.items()}


def _asked(part: Part, question: Question) -> tuple[Matrix, Sequence[Cell]]:
    """The matrix of a part, and which of its entries are asked for."""
    asked = asked_step(question, part)
    if isinstance(part.answer, MatrixAnswer):
        matrix = part.answer.value
    else:
        assert asked is not None
        matrix = matrix_of(*asked)
    if isinstance(part.answer, EntriesAnswer):
        return matrix, part.answer.cells
    return matrix, indices(matrix.shape)


PLACES = 3
"""Of decimals in place of exact values whose forms cannot be listed: as many as the largest tolerance has."""

LARGEST_TOLERANCE = Fraction(1, 200)
"""A tenth of what misconceptions differ by at least (fairness.separation)."""


def tolerance(places: int) -> Fraction:
    """How far a decimal may be off: five units in its last place, since lines before it were rounded, but at most
    0.005; half a unit in any case.

    >>> tolerance(4), tolerance(3), tolerance(1)
    (Fraction(1, 2000), Fraction(1, 200), Fraction(1, 20))
    """
    unit = Fraction(1, 10**places)
    return max(unit / 2, min(5 * unit, LARGEST_TOLERANCE))


SIGNIFICANT = 2
"""Digits of a number that is too small for the places asked for."""


@dataclass(frozen=True, slots=True)
class Window:
    """Decimals that are taken for a number: within a tolerance, with at most `places` places.

    These are the places asked for, or as many as show two significant digits of all of them.
    """

    middle: Fraction
    tolerance: Fraction
    places: int = 0

    @classmethod
    def around(cls, value: Value, places: int) -> Window:
        """The window of a number where decimals with `places` places are asked for.

        Half of the number is the largest tolerance, so 0 and twice the number are wrong.  Since the middle is rounded,
        the tolerance is rounded up: whatever is typed within it of the number itself is taken.

        >>> Window.around(Fraction(2, 3), 3), Window.around(Fraction(1, 300), 3)  # doctest: +NORMALIZE_WHITESPACE
        (Window(middle=Fraction(667, 1000), tolerance=Fraction(1, 200), places=3),
         Window(middle=Fraction(33, 10000), tolerance=Fraction(17, 10000), places=4))
        """
        off = tolerance(places)
        if value == 0:
            return cls(Fraction(0), off, places)
        return next(window for window in (cls._to(value, k, off) for k in count(places)) if window._is_clear_of_zero)

    @classmethod
    def _to(cls, value: Value, places: int, most: Fraction) -> Window:
        """The window whose middle is rounded to `places` places."""
        middle, near = (Fraction(rounded(value, k)) for k in (places, places + 3))
        unit = Fraction(1, 10 ** (places + 1))
        half = ceil((abs(near) / 2 + abs(near - middle)) / unit) * unit
        return cls(middle, min(most, half), places)

    @property
    def _is_clear_of_zero(self) -> bool:
        least = abs(self.middle) - self.tolerance
        return least >= Fraction(10 ** (SIGNIFICANT - 1), 10**self.places)


def _number(place: Place, value: Value, wrong: Sequence[KnownWrong], places: int | None) -> Spot:
    """A number, by its forms, or within a tolerance where decimals with `places` places are asked for."""
    if places is not None:
        return _decimal(place, value, wrong, places)
    texts = typed(value)
    taken = set(texts)
    told: dict[tuple[str, bool], list[str]] = {}
    for one in _followed_first(wrong):
        own = [text for text in few(one.value, 6 if one.follows else 1) if text not in taken]
        taken.update(own)
        told.setdefault((one.told, one.follows), []).extend(own)
    known = tuple(WrongText(tuple(own), *what) for what, own in told.items() if own)
    return Typed(**asdict(place), texts=texts, wrong=known)


def _decimal(place: Place, value: Value, wrong: Sequence[KnownWrong], places: int) -> Spot:
    if value is NEGATIVE_INFINITY or has_symbols(value):
        return Typed(**asdict(place), texts=typed(value))
    right = Window.around(value, places)
    told: list[WrongNumber] = []
    for one in _followed_first(wrong):
        if one.value is NEGATIVE_INFINITY:
            continue
        own = Window.around(one.value, places)
        others = [right, *(Window(o.value, o.tolerance) for o in told if not (one.follows and o.follows))]
        if all(abs(own.middle - other.middle) > own.tolerance + other.tolerance for other in others):
            told.append(WrongNumber(own.middle, own.tolerance, one.told, one.follows))
    return Measured(
        **asdict(place),
        value=right.middle,
        tolerance=right.tolerance,
        places=right.places,
        asked=places,
        wrong=tuple(told),
    )


def _choice(place: Place, answer: ChoiceAnswer, said: Callable[[Inlines], str], known: Known) -> Chosen:
    options = [
        Offered(said(option.text), option.right, "" if option.right else known.named(option.diagnosis))
        for option in answer.options
    ]
    if not answer.right:
        options.append(Offered(say("None of these."), True))
    return Chosen(**asdict(place), options=tuple(options), several=answer.several)


def _text(place: Place, texts: Sequence[str], *turned: str) -> Typed:
    wrong = (WrongText(turned, say("rows and columns are swapped")),) if turned else ()
    return Typed(**asdict(place), texts=tuple(dict.fromkeys(texts)), wrong=wrong, size=12)


def _followed_first(wrong: Sequence[KnownWrong]) -> list[KnownWrong]:
    """What has its points comes before what has none, so that a value nearby costs none."""
    return sorted(wrong, key=lambda one: not one.follows)


def _shape(shape: tuple[int | str, int | str] | None) -> tuple[str, ...]:
    if shape is None:
        return ("not defined", "undefined", say("not defined"), "-", "–", "−", "none", "n/a", "nd", "n.d.")
    m, n = shape
    signs = ("×", "x", "X", "*", " × ", " x ", " X ", " * ", " by ", ",", ", ", "/")
    return (*(f"{m}{sign}{n}" for sign in signs), *(f"({m}{sign}{n})" for sign in (",", ", ", "×", "x")))


def _turned(shape: tuple[int | str, int | str]) -> tuple[str, ...]:
    return _shape(shape[::-1]) if shape != shape[::-1] else ()


def _order(groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Labels in order, those of one group in any; ABC, A B C, A, B, C, A<B<C."""
    orders: list[tuple[str, ...]] = [()]
    for group in groups:
        orders = [(*order, *own) for order in orders for own in permutations(group)]
    joints = ("", " ", ",", ", ", "<", " < ", "-", ";", "; ")
    equal = "<".join("=".join(group) for group in groups)
    return (*(joint.join(order) for order in orders for joint in joints), equal)
