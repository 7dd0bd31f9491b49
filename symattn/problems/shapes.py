"""Shapes: of expressions, of every matrix of a mechanism, of a derivation that breaks (rules.md 5, type 6)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import cast

from symattn.dice import pick, sample, shuffled
from symattn.document import Block, Display, FillIn, FillIns, Inlines, ItemList, Math, Paragraph, Table, Together, Words
from symattn.errors import InputError, SelfCheckError, ShapeError
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
from symattn.notation import Notation, load_notation
from symattn.ops import Add, Hadamard, MatMul, Softmax, Stack, Transpose
from symattn.problems.asking import Offer, Prose, choice, choices, choices_key, tokens_are_rows
from symattn.problems.base import Family, ProblemType, Spec
from symattn.question import Content, Json, Mark, MatrixAnswer, OneLess, Part, Question, ShapeAnswer

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

DEFINED = (
    "Q K^T",
    "Q^T K",
    "K^T V",
    "K Q^T",
    "X W_V",
    "X^T X",
    "X X^T",
    "V^T V",
    "W_Q W_K^T",
    "W_Q^T W_V",
    "W_V^T W_K",
    "A V",
    "A^T V",
    "A X",
    "X^T A",
    "V^T A",
    "A X W_V",
    "Q + X W_Q",
    "Q ⊙ K",
    "A ⊙ (Q K^T)",
    "softmax(Q K^T) V",
    "softmax(K^T Q)",
    "Q K^T V",
    "Q (K^T V)",
    "X W_Q W_K^T X^T",
    "A + Q K^T",
    "(Q + K)^T V",
    "X^T A^T",
)
UNDEFINED = (
    "Q K",
    "Q V^T",
    "V A",
    "W_Q X",
    "X W_Q^T",
    "X^T W_Q",
    "Q + V",
    "Q ⊙ K^T",
    "K V",
    "A W_V",
    "W_Q W_K",
    "W_V K^T",
    "softmax(Q K^T) V^T",
    "Q^T K V",
    "X + V",
    "A ⊙ V",
    "A + K^T Q",
    "X^T X W_Q^T",
    "softmax(Q V^T)",
    "V K^T",
)
WITH_HEADS = (
    "Concat(H_1, H_2)",
    "Concat(H_1, H_2) W_O",
    "Concat(A V, H_2)",
    "H_1 + H_2",
    "H_1 H_2^T",
    "Concat(H_1, H_2)^T X",
    "X + Concat(H_1, H_2) W_O",
    "W_O^T Concat(H_1, H_2)^T",
)
WITH_HEADS_UNDEFINED = (
    "H_1 W_O",
    "(H_1 + H_2) W_O",
    "W_O Concat(H_1, H_2)",
    "Concat(H_1, H_2) W_O^T",
    "Concat(H_1, H_2) + X",
    "H_1 H_2",
    "Concat(Q^T, H_2)",
    "Concat(H_1, H_2) + Q",
)


def shape_of(formula: Formula, shapes: Mapping[str, Size]) -> Size:
    """The shape of a matrix expression; `ShapeError` says in one sentence why it has none."""
    match formula:
        case Name():
            return shapes[written(formula)]
        case Transposed(body):
            rows, columns = shape_of(body, shapes)
            return columns, rows
        case Bracketed(body):
            return shape_of(body, shapes)
        case Call(Name("Concat"), parts):
            found = [shape_of(part, shapes) for part in parts]
            if len({rows for rows, _ in found}) > 1:
                raise ShapeError(f"Matrices side by side need equally many rows; {_list(found)} have not.")
            return found[0][0], sum(columns for _, columns in found)
        case Call(Name("softmax"), (body,)):
            return shape_of(body, shapes)
        case Product(factors, ""):
            return reduce(_times, (shape_of(factor, shapes) for factor in factors))
        case Product(parts) | Sum(parts):
            found = [shape_of(part, shapes) for part in parts]
            if len(set(found)) > 1:
                verb = "added" if isinstance(formula, Sum) else "multiplied entry by entry"
                raise ShapeError(f"Only matrices of one shape can be {verb}; {_list(found)} differ.")
            return found[0]
    raise TypeError(_foreign(formula))


def _foreign(node: Formula) -> str:
    return f"{type(node).__name__} stands in no expression of this problem type"


def _times(a: Size, b: Size) -> Size:
    if a[1] != b[0]:
        raise ShapeError(
            f"In a product the inner sizes must agree: {_cross(a)} times {_cross(b)} has {a[1]} and {b[0]}."
        )
    return a[0], b[1]


def _cross(shape: Size) -> str:
    return f"{shape[0]}×{shape[1]}"


def _list(shapes: Sequence[Size]) -> str:
    return " and ".join(map(_cross, shapes))


def output_weights(notation: Notation) -> Formula:
    """W_O as the notation has it."""
    return read_formula(notation.named("W_O").matrix)


def signs(name: str) -> Prose:
    """The notation's signs; its letters only where it has one for every size (note 003 has m for d_k and d_v)."""
    notation = load_notation(name)
    letters = [notation.letters.get(size, size) for size in ("n", "d_model", "d_k", "d_v")]
    return Prose(notation if len(set(letters)) == len(letters) else replace(notation, letters={}))


def shown(text: str, say: Prose) -> Formula:
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


# ------------------------------------------------------------------------------------------------ faults


@dataclass(frozen=True)
class Fault:
    """A line of a derivation gone wrong: which line, what stands there, which line is then not defined, and why."""

    line: int
    formula: str
    breaks: int
    why: str


LINES = ("Q = X W_Q", "K = X W_K", "V = X W_V", "S = Q K^T", "A = softmax(S)", "Z = A V")
_FAULTS = (
    Fault(4, "S = Q K", 4, "$Q$ and $K$ are both $n$×$d_k$, so one of them must be transposed"),
    Fault(4, "S = Q V^T", 4, "$Q$ and $V$ have the widths $d_k$ and $d_v$, which differ"),
    Fault(1, "Q = X W_Q^T", 1, "$X$ has $d_model$ columns, and the transposed weights have $d_k$ rows"),
    Fault(2, "K = X W_K^T", 2, "$X$ has $d_model$ columns, and the transposed weights have $d_k$ rows"),
    Fault(1, "Q = W_Q X", 1, "the weights have $d_k$ columns, and $X$ has $n$ rows"),
    Fault(3, "V = W_V X", 3, "the weights have $d_v$ columns, and $X$ has $n$ rows"),
    Fault(6, "Z = V A", 6, "$V$ has $d_v$ columns, and $A$ has $n$ rows"),
    Fault(6, "Z = A V^T", 6, "$A$ has $n$ columns, and the transposed values have $d_v$ rows"),
    Fault(4, "S = Q^T K", 6, "$S$ and $A$ are $d_k$×$d_k$, and $V$ has $n$ rows"),
    Fault(4, "S = Q ⊙ K", 6, "$S$ and $A$ are $n$×$d_k$, and $V$ has $n$ rows"),
    Fault(2, "K = X W_V", 4, "$Q$ has $d_k$ columns, but $K$ has $d_v$ of them now"),
    Fault(1, "Q = X W_V", 4, "$K$ has $d_k$ columns, but $Q$ has $d_v$ of them now"),
)
FAULTS: Mapping[str, Fault] = {fault.formula: fault for fault in _FAULTS}
EXCUSES: Mapping[int, str] = {
    1: "$X$ and its weights have different shapes",
    2: "$X$ is not square",
    3: "$V$ may not be narrower or wider than $Q$ and $K$",
    4: "only square matrices can be transposed",
    5: "softmax needs a square matrix",
    6: "$A$ and $V$ have different shapes",
}
"""What sounds like a reason and is none: no such rule exists."""


# ------------------------------------------------------------------------------------------------ the shape table

TABLES: Mapping[str, tuple[tuple[str, str, str, str], ...]] = {
    "one head": (
        ("the weights of the keys", "W_K", "d_model", "d_k"),
        ("the queries", "Q", "n", "d_k"),
        ("the values", "V", "n", "d_v"),
        ("the scores", "S", "n", "n"),
        ("the weights after softmax", "A", "n", "n"),
        ("the output", "Z", "n", "d_v"),
    ),
    "heads": (
        ("the weights of the keys, one head", "W_K", "d_model", "d_k"),
        ("the queries of one head", "Q", "n", "d_k"),
        ("the values of one head", "V", "n", "d_v"),
        ("the scores of one head", "S", "n", "n"),
        ("the output of one head", "Z", "n", "d_v"),
        ("all heads side by side", "Concat", "n", "h d_v"),
        ("the weights of the output", "W_O", "h d_v", "d_model"),
        ("the output of the layer", "Y", "n", "d_model"),
    ),
}


def table_shapes(table: str, sizes: Mapping[str, int]) -> list[Size]:
    return [(_size(rows, sizes), _size(columns, sizes)) for _, _, rows, columns in TABLES[table]]


def _size(letters: str, sizes: Mapping[str, int]) -> int:
    """A product of sizes: h d_v."""
    return reduce(lambda a, b: a * b, (sizes[letter] for letter in letters.split()))


# ------------------------------------------------------------------------------------------------ drawing

COUNTS: Mapping[str, tuple[int, int]] = {"starter": (4, 2), "standard": (5, 3), "long": (7, 3)}
"""How many expressions are defined, and how many are not."""


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    tokens_are_rows(spec)
    if spec.sizes or spec.given:
        raise InputError(f"The problem type {spec.type} draws its own sizes; leave sizes and given out.")
    defined, undefined = COUNTS[spec.level]
    heads = spec.level != "starter"
    good = sample(rng, DEFINED, defined - heads)
    bad = sample(rng, UNDEFINED, undefined - heads)
    if heads:
        good.append(pick(rng, WITH_HEADS))
        bad.append(pick(rng, WITH_HEADS_UNDEFINED))
    fault = pick(rng, _FAULTS)
    lines = [k for k in (1, 2, 3, 4, 5, 6) if k != fault.breaks]
    wrong = sample(rng, [k for k in lines if k != fault.line], 2 if fault.line != fault.breaks else 3)
    if fault.line != fault.breaks:
        wrong.append(fault.line)
    table: dict[str, Json] = _sizes(rng)
    if heads:
        d_v = cast(int, table["d_v"])
        table["h"] = pick(rng, [h for h in range(2, 9) if not {h, h * d_v} & set(table.values())])
    return {
        "type": spec.type,
        "notation": spec.notation,
        "sizes": _sizes(rng),
        "expressions": cast("list[Json]", shuffled(rng, [*good, *bad])),
        "table": "heads" if heads else "one head",
        "table sizes": table,
        "fault": fault.formula,
        "fault sizes": _sizes(rng),
        "wrong": cast("list[Json]", wrong),
        "at": (number - 1) % 4,
    }


def _sizes(rng: random.Random) -> dict[str, Json]:
    """Pairwise different, and none twice d_v, which two heads have: then a product is defined by right alone."""
    letters = ("n", "d_model", "d_k", "d_v")
    while True:
        drawn: dict[str, Json] = dict(zip(letters, sample(rng, range(2, 16), 4), strict=True))
        if 2 * cast(int, drawn["d_v"]) not in drawn.values():
            return drawn


# ------------------------------------------------------------------------------------------------ the question


def _known(content: Content, key: str) -> dict[str, int]:
    sizes = cast("dict[str, int]", content[key])
    return {**sizes, "2d_v": 2 * sizes["d_v"]}


def _shapes(content: Content) -> dict[str, Size]:
    sizes = _known(content, "sizes")
    listed = {**GIVEN, **HEADS} if any(_has_heads(x) for x in _expressions(content)) else GIVEN
    return {name: (sizes[rows], sizes[columns]) for name, (rows, columns) in listed.items()}


def _has_heads(expression: str) -> bool:
    return "H_" in expression or "W_O" in expression


def _expressions(content: Content) -> list[str]:
    return cast("list[str]", content["expressions"])


def make(content: Content) -> Question:
    say, shapes = signs(str(content["notation"])), _shapes(content)
    named = zip("abcdefghijklm", _expressions(content), strict=False)
    expressions = [_expression(letter, text, shapes, say) for letter, text in named]
    return Question(
        type=TYPE.name,
        title=TYPE.title,
        introduction=(Paragraph((Words("Give the shape of each expression, such as 3×4, or write “not defined”."),)),),
        given=(_given(shapes, say),),
        parts=(*expressions, _table(content, say), _fault(content, say)),
        content=content,
        conventions=(
            (Words("Tokens are rows. A shape is rows × columns."),),
            (Words("⊙ multiplies entry by entry; nothing is stretched to fit. Concat sets matrices side by side."),),
        ),
        features={"load": float(sum(_steps(read_formula(text)) for text in _expressions(content)))},
        positions={"fault": str(content["at"])},
    )


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


def _expression(letter: str, text: str, shapes: Mapping[str, Size], say: Prose) -> Part:
    formula = read_formula(text)
    shape: Size | None
    try:
        shape = shape_of(formula, shapes)
        said: Inlines = (Words("The shape is "), Math(_written(shape)), Words("."))
    except ShapeError as error:
        shape, said = None, (Words(f"Not defined. {error}"),)
    return Part(
        name=letter,
        title=(Math(shown(text, say)),),
        ask=(FillIns((FillIn((Words("Shape:"),), 50),)),),
        key=(Display((annotated(formula, shapes, say),)), Paragraph(said)),
        answer=ShapeAnswer(shape),
        marks=(Mark("B", 1),),
    )


def _table(content: Content, say: Prose) -> Part:
    table, sizes = str(content["table"]), cast("dict[str, int]", content["table sizes"])
    found = table_shapes(table, sizes)
    header: tuple[Inlines, ...] = ((Words("Matrix"),), (Words("Rows"),), (Words("Columns"),))
    blank: Inlines = (Math(Blank("integer")),)
    asked, solved = [], []
    for (what, name, rows, columns), shape in zip(TABLES[table], found, strict=True):
        named: Inlines = (Words(f"{what[0].upper()}{what[1:]} "), Math(shown(name, say)))
        asked.append((named, blank, blank))
        letters = zip((rows, columns), shape, strict=True)
        solved.append(
            (named, *((Math(Relation((say.formula(text), Number(str(size))), ("=",))),) for text, size in letters))
        )
    known = ", ".join(f"${letter} = {size}$" for letter, size in sizes.items())
    given = f"Multi-head self-attention with {known}" if "h" in sizes else f"Self-attention with {known}"
    per_head = " ($d_k$ and $d_v$ are those of one head)" if "h" in sizes else ""
    return Part(
        name="table",
        title=(Words("All the shapes"),),
        ask=(Paragraph(say(f"{given}{per_head}. Fill in the table.")), Table(header, tuple(asked), True)),
        key=(Paragraph(say(f"{given}{per_head}.")), Table(header, tuple(solved), True)),
        answer=MatrixAnswer(Matrix(found)),
        marks=(Mark("B", 4, "one less for every two wrong numbers", OneLess(each=2)),),
    )


def _fault(content: Content, say: Prose) -> Part:
    fault, sizes = FAULTS[str(content["fault"])], cast("dict[str, int]", content["fault sizes"])
    lines = [fault.formula if k == fault.line else line for k, line in enumerate(LINES, 1)]
    at, wrong = cast(int, content["at"]), cast("list[int]", content["wrong"])
    right = Offer(
        say(f"Line {fault.breaks}: {fault.why}."),
        say(f"The fault stands in line {fault.line}, which should be ${LINES[fault.line - 1]}$."),
        True,
    )
    offers = [_excuse(k, lines[k - 1], say, fault) for k in wrong]
    offers.insert(at, right)
    known = ", ".join(f"${letter} = {size}$" for letter, size in sizes.items())
    return Part(
        name="fault",
        title=(Words("The line that breaks"),),
        ask=(
            Paragraph(
                say(
                    "Somebody works with $X$, which is $n$×$d_model$, with $W_Q$ and $W_K$, which are "
                    f"$d_model$×$d_k$, and with $W_V$, which is $d_model$×$d_v$, where {known}. Which is the first "
                    "line that is not defined, and why?"
                )
            ),
            ItemList(tuple((Math(shown(line, say)),) for line in lines), ordered=True),
            choices(offers),
        ),
        key=choices_key(offers),
        answer=choice(offers),
        marks=(Mark("B", 2),),
    )


def _excuse(k: int, line: str, say: Prose, fault: Fault) -> Offer:
    """A line that does not break first, with a reason that is none."""
    why = "is defined" if k < fault.breaks else f"is reached only after line {fault.breaks}"
    planted = " The fault stands here, but this line has a shape all the same." if k == fault.line else ""
    return Offer(
        say(f"Line {k}: {EXCUSES[k]}."),
        (Words(f"Line {k} {why}, and there is no such rule.{planted}"),),
    )


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Every shape once more by the ops themselves, and the faulty derivation line by line."""
    content = question.content
    shapes = _shapes(content)
    for text, part in zip(_expressions(content), question.parts, strict=False):
        assert isinstance(part.answer, ShapeAnswer)
        again = by_ops(read_formula(text), shapes)
        if again != part.answer.shape:
            raise SelfCheckError(
                f"The key says {part.answer.shape} for {text}; the operations themselves give {again}."
            )
    fault, sizes = FAULTS[str(content["fault"])], cast("dict[str, int]", content["fault sizes"])
    known = {name: (sizes[rows], sizes[columns]) for name, (rows, columns) in GIVEN.items() if name[0] in "XW"}
    for k, line in enumerate(LINES, 1):
        name, _, formula = (fault.formula if k == fault.line else line).partition(" = ")
        found = by_ops(read_formula(formula), known)
        if (found is None) != (k == fault.breaks):
            raise SelfCheckError(f"Line {k} of {fault.formula!r} breaks where the key says line {fault.breaks}.")
        if found is None:
            return
        known[name] = found


def by_ops(formula: Formula, shapes: Mapping[str, Size]) -> Size | None:
    """The shape by the rules of the ops that derivations are made of; None where one of them refuses."""
    try:
        return cast(Size, _by_ops(formula, shapes))
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


TYPE = ProblemType(name="shapes", title="Shapes", draw=draw, make=make, prove=prove)
