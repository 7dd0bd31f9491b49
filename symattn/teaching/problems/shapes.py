"""Shapes: of expressions, of every matrix of a mechanism, of a derivation that breaks (rules.md 5, type 6)."""

from __future__ import annotations

import random
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from symattn.derivation.ops import Add, Hadamard, MatMul, Softmax, Stack, Transpose
from symattn.errors import SelfCheckError, ShapeError
from symattn.exact import Matrix
from symattn.formula import (
    Annotated,
    Blank,
    Bracketed,
    Call,
    Formula,
    Name,
    Number,
    Product,
    Relation,
    Shape,
    Sum,
    Transposed,
    read_formula,
    written,
)
from symattn.foundation.dice import pick, sample, shuffled
from symattn.foundation.languages import listed, message, sentences
from symattn.foundation.typed import Key
from symattn.page.document import (
    Block,
    Display,
    FillIn,
    FillIns,
    Inlines,
    ItemList,
    Math,
    Paragraph,
    Table,
    Together,
    Words,
    listing,
    sentence,
)
from symattn.page.notation import Notation, kept_notation, load_notation
from symattn.teaching.problems.asking import Offer, Prose, bank, choice_part, for_columns, lettered, put_in
from symattn.teaching.problems.base import ATTENTION, Family, ProblemType, Spec, turn_of
from symattn.teaching.question import Mark, MatrixAnswer, OneLess, Part, Question, ShapeAnswer

Size = tuple[int, int]

GIVEN: Mapping[str, tuple[str, str]] = {
    "X": ("n", "d_model"),
    "W_Q": ("d_model", "d_k"),
    "W_K": ("d_model", "d_k"),
    "W_V": ("d_model", "d_v"),
    "Q": ("n", "d_k"),
    "K": ("n", "d_k"),
    "V": ("n", "d_v"),
    "A": ("n", "n"),
}
HEADS: Mapping[str, tuple[str, str]] = {"H_1": ("n", "d_v"), "H_2": ("n", "d_v"), "W_O": ("2d_v", "d_model")}
"""Two heads side by side, and what maps them back to the width of the inputs."""

# ------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True)
class Expressions:
    defined: tuple[str, ...]
    undefined: tuple[str, ...]
    with_heads: tuple[str, ...]
    with_heads_undefined: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A row of a table: a matrix in words, and its shape in letters; `turned` are other words for tokens as columns."""

    text: str
    rows: str
    columns: str
    turned: str = ""


@dataclass(frozen=True)
class Fault:
    """A line of a derivation gone wrong: which line, what stands there, which line is then not defined, and why.

    All of it is said for tokens as rows; `turned` is the reason where they are columns.
    """

    line: int
    formula: str
    breaks: int
    why: str
    turned: str


@dataclass(frozen=True)
class Bank:
    """What `shapes.toml` has."""

    expressions: Expressions
    tables: Mapping[str, tuple[Entry, ...]]
    excuses: tuple[str, ...]
    fault: tuple[Fault, ...]


BANK = bank(Bank, "shapes")
FAULTS: Mapping[str, Fault] = {fault.formula: fault for fault in BANK.fault}
LINES = ("Q = X W_Q", "K = X W_K", "V = X W_V", "S = Q K^T", "A = softmax(S)", "Z = A V")


def as_it_lies(text: str, say: Prose) -> Formula:
    """A standard expression, or a line of a derivation, for tokens as they lie in the notation."""
    formula = read_formula(text)
    return for_columns(formula) if say.columns else formula


def shape_of(formula: Formula, shapes: Mapping[str, Size], columns: bool = False) -> Size:
    """The shape of a matrix expression; `ShapeError` says in one sentence why it has none.

    With `columns`, Concat puts matrices one below the other.
    """
    match formula:
        case Name():
            return shapes[written(formula)]
        case Transposed(body):
            return shape_of(body, shapes, columns)[::-1]
        case Bracketed(body):
            return shape_of(body, shapes, columns)
        case Call(Name("Concat"), parts) if columns:
            found = [shape_of(part, shapes, columns) for part in parts]
            if len({width for _, width in found}) > 1:
                raise ShapeError(
                    message(
                        "Matrices one below the other need equal numbers of columns; those of {shapes} differ.",
                        shapes=_list(found),
                    )
                )
            return sum(rows for rows, _ in found), found[0][1]
        case Call(Name("Concat"), parts):
            found = [shape_of(part, shapes) for part in parts]
            if len({rows for rows, _ in found}) > 1:
                raise ShapeError(
                    message(
                        "Matrices side by side need equal numbers of rows; those of {shapes} differ.",
                        shapes=_list(found),
                    )
                )
            return found[0][0], sum(width for _, width in found)
        case Call(Name("softmax"), (body,)):
            return shape_of(body, shapes, columns)
        case Product(factors, ""):
            return reduce(_times, (shape_of(factor, shapes, columns) for factor in factors))
        case Product(parts) | Sum(parts):
            found = [shape_of(part, shapes, columns) for part in parts]
            if len(set(found)) > 1:
                differ = "Only matrices of one shape can be multiplied entry by entry; {shapes} differ."
                if isinstance(formula, Sum):
                    differ = "Only matrices of one shape can be added; {shapes} differ."
                raise ShapeError(message(differ, shapes=_list(found)))
            return found[0]
    raise TypeError(_foreign(formula))


def _foreign(node: Formula) -> str:
    return f"{type(node).__name__} stands in no expression of this problem type"


def _times(a: Size, b: Size) -> Size:
    if a[1] != b[0]:
        raise ShapeError(
            message(
                "In a product the inner sizes must agree: {left} times {right} has {columns} and {rows}.",
                left=_cross(a),
                right=_cross(b),
                columns=a[1],
                rows=b[0],
            )
        )
    return a[0], b[1]


def _cross(shape: Size) -> str:
    return f"{shape[0]}×{shape[1]}"


def _list(shapes: Sequence[Size]) -> str:
    return listed([_cross(shape) for shape in shapes])


def output_weights(notation: Notation) -> Formula:
    """W_O as the notation has it."""
    return read_formula(notation.named("W_O").matrix)


def signs(name: str) -> Prose:
    """The notation's signs; its letters only where it has one for every size (note 003 has m for d_k and d_v)."""
    notation = load_notation(name)
    letters = [notation.letters.get(size, size) for size in ("n", "d_model", "d_k", "d_v")]
    return Prose(notation if len(set(letters)) == len(letters) else replace(notation, letters={}))


def shown(text: str | Formula, say: Prose) -> Formula:
    """A standard expression as the notation has it."""
    return say.formula(text, W_O=output_weights(say.notation))


def annotated(node: Formula, shapes: Mapping[str, Size], say: Prose) -> Formula:
    """The same with the shape of every matrix, or transposed matrix, under it."""

    def inside(parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
        return tuple(annotated(part, shapes, say) for part in parts)

    match node:
        case Name():
            return Annotated(shown(written(node), say), _written(shape_of(node, shapes)))
        case Transposed(Name() as name):
            return Annotated(shown(f"{written(name)}^T", say), _written(shape_of(node, shapes)))
        case Transposed(body, sign):
            return Transposed(annotated(body, shapes, say), sign)
        case Bracketed(body):
            return Bracketed(annotated(body, shapes, say))
        case Product(factors, sign):
            return Product(inside(factors), sign)
        case Sum(terms):
            return Sum(inside(terms))
        case Call(function, arguments):
            return Call(function, inside(arguments))
    raise TypeError(_foreign(node))


def table_shapes(table: str, sizes: Mapping[str, int]) -> list[Size]:
    return [(_size(entry.rows, sizes), _size(entry.columns, sizes)) for entry in BANK.tables[table]]


def _size(letters: str, sizes: Mapping[str, int]) -> int:
    """A product of sizes: h d_v."""
    return reduce(lambda a, b: a * b, (sizes[letter] for letter in letters.split()))


# ------------------------------------------------------------------------------------------------ drawing

COUNTS: Mapping[str, tuple[int, int]] = {"starter": (4, 2), "standard": (5, 3), "long": (7, 3)}
"""How many expressions are defined, and how many are not."""


@dataclass(frozen=True)
class Content:
    """What a variant is made from."""

    type: str
    notation: str
    sizes: Mapping[str, int]
    expressions: tuple[str, ...]
    table: typing.Literal["one head", "heads"]
    table_sizes: typing.Annotated[Mapping[str, int], Key("table sizes")]
    fault: str
    fault_sizes: typing.Annotated[Mapping[str, int], Key("fault sizes")]
    wrong: tuple[int, ...]
    at: int

    @property
    def shapes(self) -> dict[str, Size]:
        """The matrices that stand in the expressions, and their shapes."""
        sizes = {**self.sizes, "2d_v": 2 * self.sizes["d_v"]}
        heads = HEADS if any("H_" in text or "W_O" in text for text in self.expressions) else {}
        return {name: (sizes[rows], sizes[columns]) for name, (rows, columns) in {**GIVEN, **heads}.items()}

    @property
    def lines(self) -> list[str]:
        """The derivation with its fault."""
        fault = FAULTS[self.fault]
        return [fault.formula if k == fault.line else line for k, line in enumerate(LINES, 1)]


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    defined, undefined = COUNTS[spec.level]
    heads = spec.level != "starter"
    good = sample(rng, BANK.expressions.defined, defined - heads)
    bad = sample(rng, BANK.expressions.undefined, undefined - heads)
    if heads:
        good.append(pick(rng, BANK.expressions.with_heads))
        bad.append(pick(rng, BANK.expressions.with_heads_undefined))
    fault = pick(rng, BANK.fault)
    lines = [k for k in (1, 2, 3, 4, 5, 6) if k != fault.breaks]
    wrong = sample(rng, [k for k in lines if k != fault.line], 2 if fault.line != fault.breaks else 3)
    if fault.line != fault.breaks:
        wrong.append(fault.line)
    table = _sizes(rng)
    if heads:
        table["h"] = pick(rng, [h for h in range(2, 9) if not {h, h * table["d_v"]} & set(table.values())])
    return Content(
        type=spec.type,
        notation=kept_notation(spec.notation),
        sizes=_sizes(rng),
        expressions=tuple(shuffled(rng, [*good, *bad])),
        table="heads" if heads else "one head",
        table_sizes=table,
        fault=fault.formula,
        fault_sizes=_sizes(rng),
        wrong=tuple(wrong),
        at=(turn_of(number, family) - 1) % 4,
    )


def _sizes(rng: random.Random) -> dict[str, int]:
    """Pairwise different, and none twice d_v, which two heads have: then a product is defined by right alone."""
    letters = ("n", "d_model", "d_k", "d_v")
    while True:
        drawn = dict(zip(letters, sample(rng, range(2, 16), 4), strict=True))
        if 2 * drawn["d_v"] not in drawn.values():
            return drawn


# ------------------------------------------------------------------------------------------------ the question


def make(content: Content) -> Question:
    say, shapes = signs(content.notation), content.shapes
    if say.columns:
        shapes = {name: shape[::-1] for name, shape in shapes.items()}
    expressions = lettered(_expression(text, shapes, say) for text in content.expressions)
    return Question(
        type=TYPE.name,
        title=TYPE.title,
        introduction=(Paragraph((Words("Give the shape of each expression, such as 3×4, or write “not defined”."),)),),
        given=(_given(shapes, say),),
        parts=(*expressions, _table(content, say), _fault(content, say)),
        content=content,
        conventions=tuple((Words(line),) for line in _CONVENTIONS[say.columns]),
        features={"load": float(sum(_steps(read_formula(text)) for text in content.expressions))},
        positions={"fault": str(content.at)},
    )


_CONVENTIONS = {
    False: (
        "Tokens are rows. A shape is rows × columns.",
        "⊙ multiplies entry by entry; there is no broadcasting. Concat puts matrices side by side.",
    ),
    True: (
        "Tokens are columns. A shape is rows × columns.",
        "⊙ multiplies entry by entry; there is no broadcasting. Concat puts matrices one below the other.",
    ),
}
"""By whether tokens are columns."""


def _steps(formula: Formula) -> int:
    """How many operations an expression has."""
    match formula:
        case Product(parts) | Sum(parts) | Call(_, parts):
            return max(1, len(parts) - 1) + sum(map(_steps, parts))
        case Transposed(body):
            return 1 + _steps(body)
        case Bracketed(body):
            return _steps(body)
    return 0


def _given(shapes: Mapping[str, Size], say: Prose) -> Block:
    header: tuple[Inlines, ...] = ((Words("Matrix"),), *((Math(shown(name, say)),) for name in shapes))
    cells = tuple((Math(_written(shape)),) for shape in shapes.values())
    return Together((Table(header, (((Words("Shape"),), *cells),), row_heads=True),))


def _written(shape: Size) -> Shape:
    return Shape(Number(str(shape[0])), Number(str(shape[1])), "cross")


def _expression(text: str, shapes: Mapping[str, Size], say: Prose) -> Part:
    formula = as_it_lies(text, say)
    shape: Size | None
    try:
        shape = shape_of(formula, shapes, say.columns)
        why = sentence("The shape is {shape}.", shape=_written(shape))
    except ShapeError as error:
        shape, why = None, (Words(message("Not defined. {reason}", reason=error.args[0])),)
    return Part(
        name="",
        title=(Math(shown(formula, say)),),
        ask=(FillIns((FillIn((Words("Shape:"),), 50),)),),
        key=(Display((annotated(formula, shapes, say),)), Paragraph(why)),
        answer=ShapeAnswer(shape),
        marks=(Mark("B", 1),),
    )


def _equal(sizes: Mapping[str, int], say: Prose) -> Inlines:
    """n = 3, d_k = 2, …"""
    return listing([(Math(say.formula(f"{letter} = {size}")),) for letter, size in sizes.items()], last="")


SETTINGS = {
    "one head": "Self-attention with {sizes}.",
    "heads": "Multi-head self-attention with {sizes} ($d_k$ and $d_v$ are those of one head).",
}


def _table(content: Content, say: Prose) -> Part:
    found = table_shapes(content.table, content.table_sizes)
    header: tuple[Inlines, ...] = ((Words("Matrix"),), (Words("Rows"),), (Words("Columns"),))
    blank: Inlines = (Math(Blank("integer")),)
    asked, solved = [], []
    for entry, shape in zip(BANK.tables[content.table], found, strict=True):
        called = entry.turned if say.columns and entry.turned else entry.text
        named = say(called, W_O=output_weights(say.notation))
        asked.append((named, blank, blank))
        letters = list(zip((entry.rows, entry.columns), shape, strict=True))[:: -1 if say.columns else 1]
        solved.append(
            (named, *((Math(Relation((say.formula(text), Number(str(size))), ("=",))),) for text, size in letters))
        )
    given = say(SETTINGS[content.table], sizes=_equal(content.table_sizes, say))
    return Part(
        name="table",
        title=(Words("All the shapes"),),
        ask=(say.paragraph("{given} Fill in the table.", given=given), Table(header, tuple(asked), True)),
        key=(Paragraph(given), Table(header, tuple(solved), True)),
        answer=MatrixAnswer(Matrix([shape[::-1] if say.columns else shape for shape in found])),
        marks=(Mark("B", 4, "deduct one for every two wrong numbers", OneLess(each=2)),),
    )


def _fault(content: Content, say: Prose) -> Part:
    fault, lines = FAULTS[content.fault], content.lines
    right = Offer(
        say("Line {line}: {why}", line=fault.breaks, why=say(fault.turned if say.columns else fault.why)),
        say(
            "The fault is in line {line}, which should be {formula}.",
            line=fault.line,
            formula=(Math(say.formula(as_it_lies(LINES[fault.line - 1], say))),),
        ),
        True,
    )
    ask = say.paragraph(_GIVEN[say.columns], sizes=_equal(content.fault_sizes, say))
    derivation = ItemList(tuple((Math(shown(as_it_lies(line, say), say)),) for line in lines), ordered=True)
    offers = put_in([_excuse(k, say, fault) for k in content.wrong], content.at, right)
    return choice_part("fault", (Words("The line that breaks"),), (ask, derivation), offers, Mark("B", 2))


_GIVEN = {
    False: (
        "Given $X$ ($n$×$d_model$), $W_Q$ and $W_K$ ($d_model$×$d_k$) and $W_V$ ($d_model$×$d_v$) with {sizes}: "
        "which line is the first that is not defined, and why?"
    ),
    True: (
        "Given $X$ ($d_model$×$n$), $W_Q$ and $W_K$ ($d_k$×$d_model$) and $W_V$ ($d_v$×$d_model$) with {sizes}: "
        "which line is the first that is not defined, and why?"
    ),
}
"""By whether tokens are columns."""


def _excuse(k: int, say: Prose, fault: Fault) -> Offer:
    """A line that does not break first, with a reason that is none."""
    tells = k > fault.breaks
    if tells:
        reached = "Line {line} is reached only after line {broken}, and there is no such rule."
        why = message(reached, line=k, broken=fault.breaks)
    else:
        why = message("Line {line} is defined: there is no such rule.", line=k)
    planted = "The fault is here, but this line still has a shape." if k == fault.line else ""
    excuse = say(BANK.excuses[k - 1])
    return Offer(say("Line {line}: {why}", line=k, why=excuse), (Words(sentences(why, planted)),), tells=tells)


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Every shape once more by the ops themselves, and the faulty derivation line by line; both for tokens as rows."""
    content: Content = question.content
    shapes, columns = content.shapes, signs(content.notation).columns
    for text, part in zip(content.expressions, question.parts, strict=False):
        assert isinstance(part.answer, ShapeAnswer)
        again = by_ops(read_formula(text), shapes)
        if again and columns:
            again = again[::-1]
        if again != part.answer.shape:
            raise SelfCheckError(
                f"The key says {part.answer.shape} for {text}; the operations themselves give {again}."
            )
    fault, sizes = FAULTS[content.fault], content.fault_sizes
    known = {name: (sizes[rows], sizes[columns]) for name, (rows, columns) in GIVEN.items() if name[0] in "XW"}
    for k, line in enumerate(content.lines, 1):
        name, _, formula = line.partition(" = ")
        found = by_ops(read_formula(formula), known)
        if (found is None) != (k == fault.breaks):
            raise SelfCheckError(f"Line {k} of {fault.formula!r} breaks where the key says line {fault.breaks}.")
        if found is None:
            return
        known[name] = found


def by_ops(formula: Formula, shapes: Mapping[str, Size]) -> Size | None:
    """The shape by the rules of the ops that derivations are made of; None where one of them refuses."""
    try:
        rows, columns = _by_ops(formula, shapes)
        return int(rows), int(columns)
    except ShapeError:
        return None


def _by_ops(formula: Formula, shapes: Mapping[str, Size]) -> tuple[int | str, int | str]:
    match formula:
        case Name():
            return shapes[written(formula)]
        case Transposed(body):
            return Transpose().shape(_by_ops(body, shapes))
        case Bracketed(body):
            return _by_ops(body, shapes)
        case Call(Name(base), parts):
            op = Stack("columns") if base == "Concat" else Softmax()
            return op.shape(*(_by_ops(part, shapes) for part in parts))
        case Product(parts, sign):
            return reduce((Hadamard() if sign else MatMul()).shape, (_by_ops(part, shapes) for part in parts))
        case Sum(parts):
            return reduce(Add().shape, (_by_ops(part, shapes) for part in parts))
    raise TypeError(_foreign(formula))


TYPE = ProblemType(
    name="shapes",
    title="Shapes",
    draw=draw,
    make=make,
    content=Content,
    proof=prove,
    mechanisms=ATTENTION,
    draws=("sizes", "given"),
)
