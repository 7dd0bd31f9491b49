"""A step in the default form: its rule, its numbers, its entries written out, its decimals; or boxes to fill in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction as Ratio
from functools import lru_cache
from math import ceil
from operator import mul
from typing import Literal

from symattn.derivation.algebra import Index, index, size_formula
from symattn.derivation.derivation import Derivation, Op, Operand, Step, StepName, View, in_decimals
from symattn.derivation.mechanisms.steps import layer_words
from symattn.derivation.ops.attention import Mask
from symattn.derivation.ops.entrywise import Rounding
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.sizes import letters_of
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Outline, Real, Value, has_symbols, indices, is_symbolic
from symattn.formula import (
    NOTHING,
    CellKind,
    Dots,
    Formula,
    Fraction,
    ListOf,
    Name,
    Number,
    Power,
    Product,
    Relation,
    Row,
    Sum,
    Text,
    contains,
    decimal,
    equal,
    parts_of,
    put_in,
    shortest,
)
from symattn.formula.width import fold, width
from symattn.foundation.languages import Message, message, sentences
from symattn.page.document import (
    AnswerGrid,
    Block,
    Display,
    Entries,
    FillIn,
    FillIns,
    Inlines,
    WorkingSpace,
    as_text,
    paragraph,
    sentence,
)
from symattn.teaching.explanation.wording import LINE, LONG, Wording, any_place, terminates

MOST_COLUMNS = 6
"""Of entries that are written out."""

GAP = 2.0
"""Between equations side by side, in em."""

WhichEntries = Literal["auto", "all", "first-row", "none"] | tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a step is shown.

    `entries` written out: all, the first row, none, chosen ones (indices from 0), or auto: all of them, but above
    8 × 8 only the corners.  `places` of the decimals beside exact values; none for no decimals.
    """

    entries: WhichEntries = "auto"
    places: int | None = 4


def explain_step(step: Step, wording: Wording, detail: Detail) -> list[Block]:
    """The step for a reader: rule, numbers, entries, decimals."""
    if isinstance(step.result, Outline):
        return _outlined(step, wording)
    plain = wording.name(step.name)
    rule = wording.rule(step, shapes=not isinstance(step.op, Mask))
    lines = [equal(wording.shaped(plain, step.result), rule)]
    if not step.op.trivial and step.op.shows_factors and (factors := _with_room(step, wording)):
        lines.append(Relation((NOTHING, factors), (wording.equals(step),)))
    rule_shown = Display(tuple(_folded(lines)), step=step.name, role="rule")
    blocks: list[Block] = [*remark_on_decimals(step, wording.derivation), rule_shown]
    if wording.derivation.staged and (block := wording.block_form(step, "i", "j")):
        blocks.append(Display((equal(wording.entry(step.name, "i", "j"), block),)))
    carried = in_decimals(step.result)
    ends = carried or all(map(terminates, step.result)) or isinstance(step.op, Rounding | Mask)
    places = None if ends else detail.places  # of the matrix in decimals, after all entries
    written_out = entries(step, wording, detail, decimals=places is None)
    blocks += written_out
    if wording.derivation.staged and written_out:
        return blocks
    values = _values(step.name, step.result, wording)
    decimals = [] if places is None else _decimals(step.name, step.result, wording, places)
    if decimals and width(values) + GAP + width(decimals[0]) <= LINE:
        return [*blocks, Display((Row((values, *decimals)),), step=step.name, role="values")]
    if width(values) <= LINE or not written_out or carried:
        blocks.append(Display(fold(values, LINE), step=step.name, role="" if carried else "values"))
    return [*blocks, *(Display(fold(line, LINE)) for line in decimals)]


def _with_room(step: Step, wording: Wording) -> Formula | None:
    """The operation with its operands' entries; with letters in them that have no room, by the names of entries."""
    for by_name in (False, True):
        factors = wording.factors(step, by_name)
        if width(factors) <= LINE:
            return factors
    return None


def remark_on_decimals(step: Step, derivation: Derivation) -> list[Block]:
    """A remark where decimals begin that are carried on: on the first step that has any."""
    if not begins_decimals(step, derivation):
        return []
    return [paragraph(DECIMALS if derivation.arithmetic == "decimal" else TOO_LONG)]


def begins_decimals(step: Step, derivation: Derivation) -> bool:
    """Whether it is the first with decimals that are carried on."""
    carries = (s for s in derivation if isinstance(s.result, Matrix) and in_decimals(s.result))
    return isinstance(step.result, Matrix) and in_decimals(step.result) and step is next(carries)


BY_NAME = message("Entries that appear by name are those of an earlier step.")
DECIMALS = message(
    "From here on, numbers are decimals. They are carried with as many digits as needed and rounded "
    "only where they are printed, so every printed digit is correct."
)
TOO_LONG = sentences(message("Exact values would be too long to read."), DECIMALS)


def in_short(step: str, result: Matrix, wording: Wording, places: int) -> Iterator[Relation]:
    """A result as it is, and in decimals where it needs them."""
    yield _values(step, result, wording)
    if not in_decimals(result) and not all(map(terminates, result)):
        yield from _decimals(step, result, wording, places)


def _values(step: str, result: Matrix, wording: Wording) -> Relation:
    """The result as it is: exact, or the decimals that were carried on."""
    shown = Relation((wording.name(step), wording.values(result)), ("≈" if in_decimals(result) else "=",))
    words = wording.derivation[step].op.words if step not in wording.derivation.givens else ()
    if not words or not all(isinstance(x, int) and 1 <= x <= len(words) for x in result):
        return shown
    named = wording.grid([[Text(words[x - 1]) for x in row if isinstance(x, int)] for row in result.rows])
    return Relation((*shown.parts, named), (*shown.signs, "="))


def _decimals(step: str, result: Matrix, wording: Wording, places: int) -> list[Relation]:
    """The result in decimals: as short as they are where all of them end, else rounded to `places` places; nothing
    where a notation writes fractions as decimals anyway."""
    name = wording.name(step)
    if all(ends_within(x, places) for x in result):
        cells = [[decimal(shortest(x) or "") for x in row] for row in result.rows]
        grid = wording.grid(cells)
        return [] if grid == wording.values(result) else [equal(name, grid)]
    return [Relation((name, wording.rounded(result, places)), ("≈",))]


def entries(step: Step, wording: Wording, detail: Detail, decimals: bool = True) -> list[Block]:
    """Every entry, or those chosen, as an equation: q_12 = 1·0 + 0·1 = 0; with `decimals` where they do not end."""
    if not isinstance(step.result, Matrix) or not _is_written_out(step.op):
        return []
    chosen, remark = which(step.result.shape, detail.entries)
    by_name = detail.places is not None and any(_unwieldy(x, wording) for x in step.result)
    equations = tuple(_fitting(_entry(step, wording, i, j, detail, by_name, decimals)) for i, j in chosen)
    if not equations:
        return []
    blocks: list[Block] = [paragraph(remark)] if remark else []
    if max(map(width, equations)) > LINE:
        blocks += [Display(fold(equation, LINE)) for equation in equations]
    else:
        blocks.append(Entries(equations, MOST_COLUMNS))  # where they have room
    return blocks


def _is_written_out(op: Op) -> bool:
    """Whether entries have a working: not those that are only moved or rounded."""
    return not (op.trivial or op.moves or isinstance(op, Rounding))


def _fitting(equation: Relation) -> Relation:
    """The equation with its working over one denominator, where two with a fraction in every term have no room."""
    name, working, *rest = equation.parts
    if width(equation) <= (LINE - GAP) / 2 or (shorter := over_one_denominator(working)) is working:
        return equation
    return Relation((name, shorter, *rest), equation.signs)


def over_one_denominator(formula: Formula) -> Formula:
    """a/d·x + b/d·y as (a·x + b·y)/d, if every term has the same d or is 0; else as it is."""
    if not isinstance(formula, Sum):
        return formula
    terms: list[Formula] = []
    below: Formula | None = None
    for term in formula.terms:
        match term:
            case Product((Fraction(above, d), *others), sign) if below in (None, d):
                below = d
                terms.append(Product((above, *others), sign))
            case Product((Number("0"), *_)):
                terms.append(term)
            case _:
                return formula
    return Fraction(Sum(tuple(terms)), below) if below is not None else formula


def refuse_outside(entries: WhichEntries, steps: Iterable[Step]) -> None:
    """`InputError` for chosen entries that no matrix of the steps has; one with a letter for a size has them all."""
    shapes = list(dict.fromkeys(step.result.shape for step in steps))
    for entry in () if isinstance(entries, str) else entries:
        within = (all(not isinstance(n, int) or k < n for k, n in zip(entry, shape, strict=True)) for shape in shapes)
        if not any(within):
            known = ", ".join(f"{rows}×{columns}" for rows, columns in shapes)
            raise InputError(f"No matrix has the entry {entry[0] + 1},{entry[1] + 1}; they are {known}.")


def which(shape: tuple[int, int], entries: WhichEntries) -> tuple[list[tuple[int, int]], str]:
    """The entries to write out, and a sentence if they are not all."""
    rows, columns = shape
    every = indices(shape)
    if entries == "auto":
        if rows <= LONG and columns <= LONG:
            return every, ""
        corners = sorted({(i, j) for i in (0, rows - 1) for j in (0, columns - 1)})
        return corners, message("The matrix is {shape}; its corner entries are written out.", shape=f"{rows}×{columns}")
    if entries == "all":
        return every, ""
    if entries == "none":
        return [], ""
    if entries == "first-row":
        return [(0, j) for j in range(columns)], message("The first row is written out.") if rows > 1 else ""
    assert not isinstance(entries, str)
    listed = [(i, j) for i, j in entries if i < rows and j < columns]
    return listed, ""


def _unwieldy(value: Value, wording: Wording) -> bool:
    """Whether a number is no use as it is, such as e^tanh(1/2)/(e^tanh(1/2) + …): then its decimals are."""
    return is_symbolic(value) and not has_symbols(value) and width(wording.number(value)) > LINE / 4


def _entry(
    step: Step, wording: Wording, i: int, j: int, detail: Detail, by_name: bool = False, decimals: bool = True
) -> Relation:
    """The entry with what it is worked out from, exactly and in decimals; `by_name`, in decimals where it is long."""
    assert isinstance(step.result, Matrix)
    value = step.result[i, j]
    working, exact = wording.working(step, i, j, by_name), wording.number(value)
    unwieldy = by_name and _unwieldy(value, wording)
    parts, signs = [wording.entry(step.name, i, j), working], [wording.equals(step)]
    if isinstance(value, Real):
        return Relation((*parts, exact), (*signs, "≈"))
    named = wording.derivation.staged and is_symbolic(value)  # named entries are not put back in
    if exact != working and not named and not unwieldy:
        parts.append(exact)
        signs.append("=")
    ends = terminates(value) or (detail.places is not None and ends_within(value, detail.places))
    if detail.places is not None and not ends and (unwieldy or (decimals and step.op.ends_in_decimals)):
        parts.append(wording.decimal(value, detail.places))
        signs.append("≈")
    return Relation(tuple(parts), tuple(signs))


def _outlined(step: Step, wording: Wording) -> list[Block]:
    """A step of which only shapes are known: the rule, the shapes, and any entry (or each, where they are few)."""
    name = wording.shaped(wording.name(step.name), step.result)
    blocks: list[Block] = [Display((equal(name, wording.rule(step, shapes=True)),))]
    if not _is_written_out(step.op):
        return blocks
    i, j = any_place(step)
    entry = wording.entry(step.name, i, j)
    if wording.derivation.from_givens:
        put_in = from_givens(wording)
        blocks.append(Display((equal(entry, put_in.working(step)),)))
        if put_in.begins_by_name(step):
            blocks.append(paragraph(BY_NAME))
    else:
        block, working = wording.block_form(step, i, j), wording.working(step, i, j)
        parts = (entry, block, working) if block else (entry, working)
        blocks.append(Display((Relation(parts, ("=",) * (len(parts) - 1)),)))
    if isinstance(step.op, Mask):
        blocks.append(paragraph(step.op.hides))
    return blocks


def ends_within(value: Value, places: int) -> bool:
    """Whether the decimal with `places` places is the value itself."""
    digits = shortest(value)
    return digits is not None and len(digits.partition(".")[2]) <= places


def _folded(lines: Iterable[Relation]) -> list[Formula]:
    return [part for line in lines for part in fold(line, LINE)]


# ------------------------------------------------------------------------------- in letters, from the givens alone

INDICES = tuple(map(Name, "lprtuvw"))
"""What is summed over within a sum, from inside out; the outermost index is k."""


@lru_cache(maxsize=1)
def from_givens(wording: Wording) -> FromGivens:
    """What the steps of a page have in common."""
    return FromGivens(wording)


class FromGivens:
    """The workings of a derivation's steps; one that has no room on a line has the entries before it by name."""

    def __init__(self, wording: Wording) -> None:
        self.wording = wording
        d = wording.derivation
        letters = {letter for given in d.givens.values() for size in given.shape for letter in letters_of(size)}
        sizes = [formula for letter in letters for formula in (size_formula(letter), wording.size(letter))]
        self._sizes: dict[Formula, Formula] = {size: size for size in sizes}  # k is no index in d_k
        self._workings: dict[str, Formula] = {}

    def working(self, step: Step) -> Formula:
        """Any entry of a step written out."""
        if step.name not in self._workings:
            whole = step.op.working(*any_place(step), *map(self._view, step.operands))
            fits = width(whole) <= LINE
            self._workings[step.name] = whole if fits else self.wording.working(step, *any_place(step))
        return self._workings[step.name]

    def begins_by_name(self, step: Step) -> bool:
        """Whether it is the first that has entries of earlier steps by name."""
        return step is next(filter(self._has_names, self.wording.derivation), None)

    def _has_names(self, step: Step) -> bool:
        d = self.wording.derivation
        before = [d[operand.name] for operand in step.operands if operand.name not in d.givens]
        if not before or not isinstance(step.result, Outline):
            return False
        by_name = self.wording.working(step, *any_place(step))
        return self.working(step) == by_name or any(self._entry(one) is None for one in before)

    def _view(self, operand: Operand) -> View:
        named, d = self.wording.view(operand), self.wording.derivation
        if operand.name in d.givens or (entry := self._entry(d[operand.name])) is None:
            return named
        return replace(named, entry=lambda i, j: entry(*operand.place(i, j)))

    def _entry(self, step: Step) -> Callable[[Index, Index], Formula] | None:
        """Each entry of a step; None if one formula does not say them all.

        What is summed over in it has a letter of its own, so that k is free in what it is put into.
        """
        whole, place = self.working(step), any_place(step)
        free = next((letter for letter in INDICES if letter not in parts_of(whole)), None)
        of_one = any(isinstance(k, int) and size != 1 for k, size in zip(place, step.result.shape, strict=True))
        if free is None or of_one or contains(whole, Dots, ListOf):
            return None
        apart = put_in(whole, self._sizes | {Name("k"): free})
        return lambda i, j: put_in(apart, self._sizes | {Name("i"): self._index(i), Name("j"): self._index(j)})

    def _index(self, i: Index) -> Formula:
        return index(i) if isinstance(i, str) else index(i + self.wording.notation.first_index - 1)


# -------------------------------------------------------------------------------------------- for the student


def ask_step(step: Step, wording: Wording, exact: bool, way: Sequence[Step] = ()) -> list[Block]:
    """The rule, space for working, and an empty matrix of boxes; where only shapes are known, room for the shape.

    The steps of the `way` to it, which are used and not asked, are worked out in the same space.
    """
    name = wording.name(step.name)
    if isinstance(step.result, Outline):
        rule = Display((equal(name, wording.rule(step)),))
        return [rule, FillIns((FillIn(as_text("Shape:"), 50),))]
    rows, columns = step.result.shape
    asked = equal(name, wording.rule(step, shapes=True))
    blocks: list[Block] = [Display((asked,), step=step.name, role="rule")]
    blocks += _space_for((*way, step), wording.derivation, exact)
    blocks.append(AnswerGrid(name, rows, columns, box_kind(step, exact), step=step.name))
    return blocks


def _space_for(steps: Iterable[Step], derivation: Derivation, exact: bool) -> list[WorkingSpace]:
    """Room for several steps one below the other; none where nothing is worked out by hand."""
    spaces = [working_space(step, derivation, exact) for step in steps if step.op.by_hand]
    if len(spaces) < 2:
        return spaces
    return [WorkingSpace(sum(space.height * ceil(space.count / (PAPER // space.width)) for space in spaces))]


def working_space(step: Step, derivation: Derivation, exact: bool) -> WorkingSpace:
    """Room for what the key works out, as students write it: a piece of working for every entry.

    A sum is as wide as its terms, a dot product's or those of a row that is summed, and takes two lines where there are
    fractions.  Of a dot product the first entry is written with all of its terms, and the others without those with a
    factor 0 (some of those whose factors are not printed).  Weights of a row have one denominator.  A softmax
    has the powers of a row on one line and their sum on the next, for the quotients stand in the boxes.
    """
    rows, columns = (int(s) for s in step.result.shape)
    operands = derivation.operands(step)
    kinds = [cell_kind(operand, exact) for operand in operands]
    lines = max(TERMS[kind][0] for kind in (*kinds, cell_kind(step.result, exact)))
    term = max((TERMS[kind][1] for kind in kinds), default=TERMS["integer"][1])
    if step.op.weighs:
        return WorkingSpace(2 * LINE_BY_HAND, width=min(PAPER, POWER * (columns + 1)), count=rows)
    count, terms = rows * columns, float(max((-(-_size(x) // (rows * columns)) for x in operands), default=1))
    if isinstance(step.op, MatMul):
        terms, inner = _terms_written(step, derivation)
        if "exponential" in kinds and _has_one_denominator(step, derivation):
            term = ABOVE_ONE_DENOMINATOR
        count += terms < inner  # the one with all of its terms
    named = NAMED if lines == 1 else NAMED_ALONE
    return WorkingSpace(lines * LINE_BY_HAND, width=min(PAPER, round(named + term * max(1.5, terms))), count=count)


def _terms_written(step: Step, derivation: Derivation) -> tuple[float, int]:
    """How many terms an entry of a product is written with on average, and how many it has."""
    left, right = derivation.operands(step)
    inner = left.shape[1]
    if not (isinstance(left, Matrix) and isinstance(right, Matrix) and isinstance(inner, int)):
        whole = inner if isinstance(inner, int) else 4  # a size in letters: of usual width
        return float(whole), whole
    printed = [operand.name in derivation.givens for operand in step.operands]
    beside, above = (  # for every term, how many entries of the two factors are not seen to be 0
        [sum(not (seen and x == 0) for x in line) for line in lines]
        for lines, seen in zip((left.T.rows, right.rows), printed, strict=True)
    )
    whole_numbers = all(isinstance(x, int) or x is NEGATIVE_INFINITY for x in (*left, *right))
    share = UNKNOWN_TERMS if whole_numbers and not all(printed) else 1.0
    return share * sum(map(mul, beside, above)) / (left.shape[0] * right.shape[1]), inner


def _has_one_denominator(step: Step, derivation: Derivation) -> bool:
    """Whether the left factor of a product is weights, of which those of a row have the same denominator."""
    name = step.operands[0].name
    return any(other.name == name and other.op.weighs for other in derivation)


def _size(value: Matrix | Outline) -> int:
    rows, columns = value.shape
    return rows * columns if isinstance(rows, int) and isinstance(columns, int) else 1


LINE_BY_HAND = 6.5
"""The height of a line that is written by hand, in millimetres."""

PAPER = 168
"""The width of a page."""

NAMED, NAMED_ALONE = 18, 10
"""What the name and the result of a line take of it by hand, and the name where the result stands in a box alone."""

POWER = 11
"""The width of a power and the plus before it."""

UNKNOWN_TERMS = 0.75
"""The share of terms that are written of whole numbers that are still to be found: some turn out to be 0."""

ABOVE_ONE_DENOMINATOR = 13
"""The width of a term in millimetres, where all of them stand over one denominator."""

TERMS: Mapping[CellKind, tuple[int, int]] = {
    "integer": (1, 12),
    "word": (1, 16),
    "decimal": (1, 22),
    "fraction": (2, 17),
    "exponential": (2, 24),
}
"""How many lines a term of a sum takes by hand, and its width in millimetres, by what its factors are."""


def cell_kind(value: Matrix | Outline, exact: bool) -> CellKind:
    """The kind of box that entries need: one for all of a matrix, a wider one where an entry is too wide for it."""
    if not isinstance(value, Matrix):
        return "exponential" if exact else "decimal"
    finite = [x for x in value if x is not NEGATIVE_INFINITY]
    if all(isinstance(x, int) for x in finite):
        return "integer" if _have_room("integer", finite) else "decimal"
    if not exact or in_decimals(value):
        return "decimal"
    return "fraction" if _have_room("fraction", finite) else "exponential"


def box_kind(step: Step, exact: bool) -> CellKind:
    """The kind of box for a step: wide enough for its words, where it has any."""
    return "word" if step.op.words else cell_kind(step.result, exact)


def _have_room(kind: CellKind, entries: Iterable[Value]) -> bool:
    """Whether all entries are rational and find room in boxes of a kind."""
    return all(isinstance(x, int | Ratio) and _by_hand(x) <= ROOM[kind] for x in entries)


ROOM: Mapping[CellKind, float] = {"integer": 2.2, "fraction": 3.0}
"""The widest answer for a box, in em of print, of which handwriting takes about 5 mm each (rules.md 6.1)."""


def _by_hand(x: int | Ratio) -> float:
    """The width of a number in em, of a fraction with one above the other."""
    digits = max(len(str(abs(x.numerator))), len(str(x.denominator)))
    return 0.5 * digits + 0.8 * (x < 0) + 0.26 * (x.denominator > 1)


def step_title(step: Step, wording: Wording) -> Inlines:
    """ "Scores", "Weights": the step's role in words, then its name."""
    word = wording.word(step) or step.op.title
    name = wording.name(step.name)
    sign = name.base if isinstance(name, Power) else name  # σ²
    letter = isinstance(sign, Name) and len(sign.base.removeprefix("d") or sign.base) == 1
    if not letter and word:  # notations that use words for symbols would say everything twice
        text = word if isinstance(word, Message) else message(word)
        if step.token:
            text = message("{matrix} {token}", matrix=text, token=step.token)
        named = StepName.of(step.name)
        if named.head:
            text = message("{matrix}, head {head}", matrix=text, head=named.head)
        if named.place:
            text = message("{matrix}, {layer}", matrix=text, layer=layer_words(named.place))
        return as_text(text)
    return sentence("{matrix} {name}", matrix=word, name=name) if word else as_text(name)
