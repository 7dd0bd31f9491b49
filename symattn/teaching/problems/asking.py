"""What problem types share that have no derivation behind them: sentences with formulas, choices, and their keys."""

from __future__ import annotations

import re
import tomllib
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import resources
from typing import Literal, TypeAlias, TypeVar, cast

from symattn.derivation.derivation import Derivation
from symattn.exact import AnyMatrix, Matrix, Value
from symattn.exact.reading import read as exact_number
from symattn.formula import (
    Annotated,
    Blank,
    Bracketed,
    Call,
    CellKind,
    Formula,
    ListOf,
    Name,
    Power,
    Product,
    Scope,
    Sum,
    Transposed,
    equal,
    read_formula,
    rebuilt,
    written,
)
from symattn.formula.width import wrapped
from symattn.foundation.languages import filled, message
from symattn.foundation.typed import OrOne, read
from symattn.page.document import (
    AnswerGrid,
    Block,
    Blocks,
    Choices,
    Display,
    FillIn,
    FillIns,
    Inlines,
    ItemList,
    Paragraph,
    Sentence,
    TextLike,
    WorkingSpace,
    as_text,
    listing,
    places_of,
    sentence,
    table,
)
from symattn.page.notation import Notation, read_name
from symattn.teaching.explanation.steps import cell_kind
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.question import (
    LETTERS,
    Answer,
    ChoiceAnswer,
    FormulaAnswer,
    KnownError,
    Mark,
    MatrixAnswer,
    OneLess,
    Option,
    OrderAnswer,
    Part,
)

MATRICES = ("X", "W_Q", "W_K", "W_V", "Q", "K", "V", "S", "A", "Z")
NO_SIGNS: Mapping[str, Formula] = {}
_ROW = re.compile(r"([xqkvaz])_(\w)")
_ENTRY = re.compile(r"([sa])_\{(\w),(\w)\}")


T = TypeVar("T")
BlockLike = Block | Inlines | str
Shown: TypeAlias = "TextLike | AnyMatrix | Value | Sequence[Value]"
"""What is put into a sentence."""
Phrase = typing.Annotated[tuple[str, ...], OrOne()]
"""What a bank says, for `say(*phrase)`: a text; or one for tokens as rows, and one for tokens as columns."""


def blocks(shown: Sequence[BlockLike]) -> Blocks:
    """Blocks of a page; a text is a paragraph."""
    return tuple(Paragraph(as_text(x)) if isinstance(x, tuple | str) else x for x in shown)


class Prose:
    """Sentences in the signs of a notation.

    `say("The score $s_{1,2}$ is $found$.", found=…)`: between dollar signs stand formulas, in which Q, W_Q, q_2, a_i
    and s_{1,2} are written as the notation has them.  What is handed in stands by its name in braces as it is, a
    number, a text or a sentence, which may stand in formulas too: $q_{row}$.  By its bare name it stands as a formula:
    a number, a matrix with its values, a sequence of numbers in round brackets.  A second text is said where tokens are
    columns.

    One that `turns` is said for tokens as rows, and its formulas and matrices lie as the notation's do.  `orientation`
    is that of a derivation, whose settings may say it in the notation's place; `signs` are further ones by name.
    """

    def __init__(
        self, notation: Notation, turns: bool = False, orientation: str = "", signs: Mapping[str, Formula] = NO_SIGNS
    ) -> None:
        self.notation, self.signs = notation, signs
        self.columns = (orientation or notation.settings.get("orientation")) == "columns"
        self.turns = turns and self.columns
        self.wording = Wording(Derivation({}), notation)
        self.number = self.wording.number

    def __call__(self, text: str, in_columns: str = "", /, **shown: Shown) -> Inlines:
        text = self.either(text, in_columns or text)
        parts = text.split("$")[1::2]
        words = {name: cast(TextLike, x) for name, x in shown.items() if f"{{{name}}}" in text}
        formulas = {name: x for name, x in shown.items() if name not in words}
        written = {f"${part}$": as_text(self.formula(filled(part, words), **formulas)) for part in parts}
        return (Sentence(text, (*written.items(), *places_of(words))),)

    def shown(self, x: Shown) -> Formula:
        """What is handed in as a formula."""
        if isinstance(x, Formula):
            return x
        if isinstance(x, Matrix):
            return self.values(x)
        return self.row(cast(Sequence[Value], x)) if isinstance(x, Sequence) else self.number(cast(Value, x))

    def either(self, rows: T, columns: T) -> T:
        """One thing or another, a text most often, as tokens are rows or columns."""
        return columns if self.columns else rows

    def values(self, matrix: AnyMatrix) -> Formula:
        return self.wording.values(matrix.T if self.turns else matrix)

    def boxes(self, name: str, shape: tuple[int, int], kind: CellKind) -> AnswerGrid:
        """Boxes for a matrix of this shape where tokens are rows."""
        rows, columns = shape[::-1] if self.columns else shape
        return AnswerGrid(self.formula(name), rows, columns, kind)

    def turned(self, m: Matrix) -> Matrix:
        """A matrix that belongs to tokens as rows, as it lies in this notation."""
        return m.T if self.columns else m

    def cell(self, query: int, key: int) -> Mapping[str, int]:
        """Where the weight of a query and a key stands, as row and column from 1; both come from 0."""
        row, column = (key, query) if self.columns else (query, key)
        return {"row": row + 1, "column": column + 1}

    def formula(self, text: str | Formula, **shown: Shown) -> Formula:
        if isinstance(text, str):
            text = read_formula(text, Scope(first=self.notation.first_index))
        return self._in_signs(for_columns(text) if self.turns else text, {**self.signs, **shown})

    def paragraph(self, text: str, in_columns: str = "", /, **shown: Shown) -> Paragraph:
        return Paragraph(self(text, in_columns, **shown))

    def block(self, text: str, in_columns: str = "", /, **shown: Shown) -> Block:
        """A paragraph; a formula alone, $a = b$, on a line of its own."""
        parts = text.split("$")
        alone = len(parts) == 3 and not parts[0] and not parts[2]
        return Display((self.formula(parts[1], **shown),)) if alone else self.paragraph(text, in_columns, **shown)

    def formulas(self, texts: Sequence[str], last: Literal["", "and"] = "") -> Inlines:
        """Formulas in a sentence: x_2, x_1, x_3, or k_1 and k_2."""
        return listing([as_text(self.formula(text)) for text in texts], last)

    def equation(self, name: str, value: Matrix) -> Formula:
        """name = its values."""
        return equal(self.formula(name), self.values(value))

    def equations(self, **matrices: Matrix) -> Display:
        """Each matrix by name with its values, next to one another as far as a line goes."""
        return Display(wrapped((self.equation(name, value) for name, value in matrices.items()), LINE))

    def row(self, values: Sequence[Value]) -> Formula:
        """Numbers in round brackets: (2, 0, 1)."""
        return ListOf(tuple(map(self.number, values)), "(", ",")

    def _in_signs(self, node: Formula, shown: Mapping[str, Shown]) -> Formula:
        """The formula with every standard name replaced by the notation's, every word by what is shown for it."""
        if isinstance(node, Name):
            name = written(node)
            if name in shown:
                return self.shown(shown[name])
            if sign := self._signs(name):
                return sign
        return rebuilt(node, lambda part: self._in_signs(part, shown))

    def _signs(self, name: str) -> Formula | None:
        """What a standard name is in this notation: a matrix, a size, a row q_2, an entry s_{1,2}."""
        if name in MATRICES:
            return self._read(self.notation.named(name).matrix)
        if match := _ROW.fullmatch(name):
            return self._read(self.notation.named(match[1].upper()).row, match[2])
        if match := _ENTRY.fullmatch(name):
            return self._read(self.notation.named(match[1].upper()).entry, match[2], match[3])
        return self.notation.letter_formulas.get(name)

    def _read(self, text: str, i: str = "", j: str = "") -> Formula:
        given = {"i": i, "j": j, "t": i}
        indices = tuple((letter, int(x) if x.isdigit() else x) for letter, x in given.items() if x)
        return read_name(self.notation, text, indices, (("n", "n"),))


def for_columns(node: Formula) -> Formula:
    """A formula for tokens as rows as it is where every matrix is transposed, and every row vector a column.

    Factors change places and keep their ᵀ, for (A Bᵀ)ᵀ = B Aᵀ is Bᵀ A of the transposes; entries exchange their
    indices.  Products of numbers stay as they are.
    """
    if isinstance(node, Name):
        return replace(node, sub=node.sub[::-1]) if node.base in _OF_ENTRIES and len(node.sub) == 2 else node
    made = rebuilt(node, for_columns)
    if isinstance(made, Product) and not made.sign and _is_of_matrices(made):
        return replace(made, factors=made.factors[::-1])
    return made


_OF_ENTRIES = frozenset("saxw")
_OF_VECTORS = frozenset("qkvxzab")


def _is_of_matrices(product: Product) -> bool:
    """Whether a product is one of matrices and vectors; vectors beside one another without ᵀ are numbers of theirs."""
    turns = any(isinstance(factor, Transposed) or not _is_vector(factor) for factor in product.factors)
    return turns and all(_is_matrix(factor) or _is_vector(factor) for factor in product.factors)


def _is_vector(node: Formula) -> bool:
    return isinstance(node, Name) and node.base in _OF_VECTORS and len(node.sub) < 2


def _is_matrix(node: Formula) -> bool:
    match node:
        case Name(base):
            return len(base) == 1 and base.isupper()
        case Transposed(body) | Bracketed(body) | Annotated(body):
            return _is_matrix(body) or _is_vector(body)
        case Power(base):
            return _is_matrix(base)
        case Call(Name(function)):
            return function in ("softmax", "Concat")
        case Product(parts) | Sum(parts):
            return all(_is_matrix(part) or _is_vector(part) for part in parts)
    return False


def bank(kind: type[T], name: str) -> T:
    """What stands in the file `name`.toml of this folder."""
    text = resources.files("symattn.teaching.problems").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return read(kind, tomllib.loads(text), f"{name}.toml")


def in_digits(count: int | Fraction) -> str:
    """With gaps between thousands, which read alike where the comma is the decimal mark: 1 048 576; but 4096."""
    gaps = isinstance(count, int) and count >= 10_000
    return f"{count:,}".replace(",", "\N{NO-BREAK SPACE}") if gaps else str(count)


def comes_to(product: str) -> int:
    """What a product of sizes, or a sum of such, comes to as it is printed: 3·12·12, 10 000·64.

    >>> comes_to("2·(3·3 + 3)")
    24
    """
    value = exact_number(product.replace("\N{NO-BREAK SPACE}", "")).value
    assert isinstance(value, int)
    return value


# ------------------------------------------------------------------------------------------------ parts


def make_part(
    title: TextLike, ask: Sequence[BlockLike], key: Sequence[BlockLike], answer: Answer, *marks: Mark,
    name: str = "", marking: Sequence[BlockLike] = (),
) -> Part:  # fmt: skip
    """A part, worth B1 unless `marks` say otherwise."""
    return Part(name, as_text(title), blocks(ask), blocks(key), answer, marks or (Mark("B", 1),), blocks(marking))


WORKED_OUT = (Mark("M", 1), Mark("A", 1))
"""The marks of what is worked out in one go."""


@dataclass(frozen=True)
class TableRow:
    """A line of a table: what is asked for, its value, and how that comes about."""

    what: TextLike
    value: int | Fraction
    how: TextLike


def table_part(
    title: TextLike, asked: BlockLike, heads: tuple[TextLike, TextLike], lines: Sequence[TableRow], *marks: Mark,
    name: str, kind: CellKind = "exponential", sums: Mapping[int, Mapping[int, int]] | None = None,
    errors: Sequence[KnownError] = (), slips: Sequence[Inlines] = (),
) -> Part:  # fmt: skip
    """A part with a table whose second column is to be filled in.

    `sums` are its rows that are made of others (see `MatrixAnswer`), `errors` wrong numbers that are known, and `slips`
    what the key says of them.
    """
    asking = [[line.what, Blank(kind)] for line in lines]
    return make_part(
        title,
        [asked, table(heads, asking)],
        [table(heads, [[line.what, line.how] for line in lines]), *([ItemList(tuple(slips))] if slips else [])],
        MatrixAnswer(Matrix([[line.value] for line in lines]), sums=sums or {}, errors=tuple(errors)),
        *marks,
        name=name,
    )


@dataclass(frozen=True)
class Offer:
    """One option of a choice, with the sentence of the key that says why it is right or wrong; `tells` where that of a
    wrong one names the right one, so that only the key may say it.
    """

    text: TextLike
    why: TextLike
    right: bool = False
    diagnosis: str = ""
    tells: bool = False


def labelled(items: Iterable[TextLike]) -> tuple[Inlines, ...]:
    """A: the first; B: the second."""
    return tuple(sentence("{letter}: {reason}", letter=LETTERS[i], reason=as_text(x)) for i, x in enumerate(items))


def choice_part(
    title: TextLike, ask: Sequence[BlockLike], offers: Sequence[Offer], *marks: Mark, key: Sequence[BlockLike] = (),
    several: bool = False, name: str = "",
) -> Part:  # fmt: skip
    """A part whose options are ticked; in the key, the right ones are, below `key`, with a sentence for each."""
    options = tuple(Option(as_text(o.text), o.right, o.diagnosis, () if o.tells else as_text(o.why)) for o in offers)
    boxes, answer = Choices(tuple(option.text for option in options), several), ChoiceAnswer(options, several)
    solved = (*key, replace(boxes, ticked=frozenset(answer.right)), ItemList(labelled(o.why for o in offers)))
    return make_part(title, (*ask, boxes), solved, answer, *marks, name=name)


def ticks(number: int) -> Mark:
    """The mark of a part with several right options: one that is ticked wrongly, or left out, costs one of them."""
    return Mark("B", number, "deduct one for every wrong or missing tick", OneLess())


def order_part(
    title: TextLike, ask: TextLike, items: Iterable[TextLike], order: Sequence[int], key: Sequence[BlockLike],
    *marks: Mark,
) -> Part:  # fmt: skip
    """A part whose items are to be put in order; `order` has their places, and `key` is what stands below it there."""
    listed = labelled(items)
    letters = [LETTERS[place] for place in order]
    told = sentence("The order is {order}.", order=", ".join(letters))
    return make_part(
        title,
        [as_text(ask), ItemList(listed), fill_in("Order:", boxes=len(listed))],
        [told, *key],
        OrderAnswer(tuple((letter,) for letter in letters)),
        *marks,
    )


def fill_in(label: TextLike, width: int = 40, boxes: int = 0) -> FillIns:
    """One line to write on, `width` millimetres long, or boxes for single characters, behind a label."""
    return FillIns((FillIn(as_text(label), width, boxes),))


def number_part(
    title: TextLike, ask: Sequence[BlockLike], label: TextLike, value: Value, key: Sequence[BlockLike], *marks: Mark,
    width: int, room: int = 0, name: str = "", errors: tuple[KnownError, ...] = (),
) -> Part:  # fmt: skip
    """A part with one number for its answer, which stands behind its label, below room for working; lengths in mm."""
    asked = [*ask, *([WorkingSpace(room)] if room else []), fill_in(label, width)]
    return make_part(title, asked, key, FormulaAnswer(value, errors), *marks, name=name)


def matrix_part(
    title: TextLike, ask: Sequence[BlockLike], name: str, value: Matrix, say: Prose, *marks: Mark,
    key: Sequence[BlockLike] = (),
) -> Part:  # fmt: skip
    """A part with a matrix for its answer, given for tokens as rows, in boxes behind its name."""
    asked = [*ask, say.boxes(name, value.shape, cell_kind(value, exact=True))]
    solved = [*key, Display((say.equation(name, value),))]
    return make_part(title, asked, solved, MatrixAnswer(say.turned(value)), *marks)


def named(name: Formula) -> Inlines:
    """A label: w =."""
    return (*as_text(name), *as_text(" ="))


# ------------------------------------------------------------------------------------------------ parts together


def lettered(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts called a, b, c, unless they have names already."""
    letters = iter(LETTERS.lower())
    return tuple(part if part.name else replace(part, name=next(letters)) for part in parts)


def put_in(others: Sequence[T], at: int, *inserted: T) -> tuple[T, ...]:
    """The others with something put in at a place: the right option among wrong ones."""
    return (*others[:at], *inserted, *others[at:])


def right_letter(part: Part) -> str:
    """The letter of the right option, where there is one; "" for any other part."""
    answer = part.answer
    return LETTERS[min(answer.right)] if isinstance(answer, ChoiceAnswer) and not answer.several else ""


def right_letters(parts: Iterable[Part]) -> dict[str, str]:
    """Where the right options stand, part by part, which is to be balanced."""
    return {message("answer {part}", part=part.name): letter for part in parts if (letter := right_letter(part))}
