"""Shapes: of expressions, of every matrix of a mechanism, of a derivation that breaks (rules.md 5, type 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import prod
from random import Random

from symattn.derivation.derivation import Op
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Stack, Transpose
from symattn.errors import ShapeError
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
    Shape,
    Sum,
    Transposed,
    equal,
    read_formula,
    rebuilt,
    written,
)
from symattn.foundation.dice import pick, sample, shuffled
from symattn.foundation.languages import listed, message, sentences
from symattn.page.document import (
    Block,
    Display,
    Inlines,
    ItemList,
    TextLike,
    Together,
    as_text,
    listing,
    sentence,
    table,
)
from symattn.page.notation import Notation, load_notation
from symattn.teaching.problems.asking import (
    Offer,
    Phrase,
    Prose,
    bank,
    choice_part,
    fill_in,
    for_columns,
    make_part,
    put_in,
)
from symattn.teaching.problems.draws import ATTENTION, Draw, Item, ProblemType, ProvedQuestion, Record, question
from symattn.teaching.question import Mark, MatrixAnswer, OneLess, Part, ShapeAnswer

Size = tuple[int, int]

GIVEN = {
    "X": ("n", "d_model"),
    "W_Q": ("d_model", "d_k"),
    "W_K": ("d_model", "d_k"),
    "W_V": ("d_model", "d_v"),
    "Q": ("n", "d_k"),
    "K": ("n", "d_k"),
    "V": ("n", "d_v"),
    "A": ("n", "n"),
}
HEADS = {"H_1": ("n", "d_v"), "H_2": ("n", "d_v"), "W_O": ("2d_v", "d_model")}
"""Two heads side by side, and what maps them back to the width of the inputs."""

# ------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True)
class Entry:
    """A row of a table: a matrix in words, and its shape in letters."""

    text: str
    rows: str
    columns: str


@dataclass(frozen=True)
class Fault:
    """A line of a derivation gone wrong: which line, what stands there, which line is then not defined, and why."""

    line: int
    formula: str
    breaks: int
    why: Phrase


@dataclass(frozen=True)
class ShapesBank:
    """What `shapes.toml` has."""

    expressions: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, tuple[Entry, ...]]
    excuses: tuple[str, ...]
    fault: tuple[Fault, ...]


BANK = bank(ShapesBank, "shapes")
FAULTS: Mapping[str, Fault] = {fault.formula: fault for fault in BANK.fault}
LINES = ("Q = X W_Q", "K = X W_K", "V = X W_V", "S = Q K^T", "A = softmax(S)", "Z = A V")


def as_it_lies(text: str, say: Prose) -> Formula:
    """A standard expression, or a line of a derivation, for tokens as they lie in the notation."""
    formula = read_formula(text)
    return for_columns(formula) if say.columns else formula


Rule = Callable[..., Size]
"""What an operation, by its name, makes of shapes."""


def _by_rule(formula: Formula, shapes: Mapping[str, Size], rule: Rule) -> Size:
    """The shape of a matrix expression."""

    def of(part: Formula) -> Size:
        return _by_rule(part, shapes, rule)

    def pairwise(name: str, parts: Sequence[Formula]) -> Size:
        return reduce(lambda a, b: rule(name, a, b), map(of, parts))

    match formula:
        case Name():
            return shapes[written(formula)]
        case Transposed(body):
            return rule("transpose", of(body))
        case Bracketed(body):
            return of(body)
        case Call(Name(name), parts):
            return rule(name, *map(of, parts))
        case Product(factors, sign):
            return pairwise("entrywise" if sign else "product", factors)
        case Sum(terms):
            return pairwise("sum", terms)
    raise TypeError(f"{type(formula).__name__} stands in no expression of this problem type")


def shape_of(formula: Formula, shapes: Mapping[str, Size], columns: bool = False) -> Size:
    """The shape of a matrix expression; `ShapeError` says in one sentence why it has none.

    With `columns`, Concat puts matrices one below the other.
    """

    def rule(name: str, a: Size, *others: Size) -> Size:
        match name:
            case "transpose":
                return a[::-1]
            case "softmax":
                return a
            case "product":
                return _times(a, *others)
            case "Concat" if columns:
                below = "Matrices one below the other need equal numbers of columns; those of {shapes} differ."
                _alike([width for _, width in (a, *others)], below, (a, *others))
                return sum(rows for rows, _ in (a, *others)), a[1]
            case "Concat":
                beside = "Matrices side by side need equal numbers of rows; those of {shapes} differ."
                _alike([rows for rows, _ in (a, *others)], beside, (a, *others))
                return a[0], sum(width for _, width in (a, *others))
        differ = "Only matrices of one shape can be multiplied entry by entry; {shapes} differ."
        if name == "sum":
            differ = "Only matrices of one shape can be added; {shapes} differ."
        _alike((a, *others), differ, (a, *others))
        return a

    return _by_rule(formula, shapes, rule)


def _alike(sizes: Sequence[object], text: str, shapes: Sequence[Size]) -> None:
    if len({*sizes}) > 1:
        raise ShapeError(message(text, shapes=listed(list(map(_cross, shapes)))))


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


OPS: Mapping[str, Op] = {
    "transpose": Transpose(),
    "softmax": Softmax(),
    "Concat": Stack("columns"),
    "product": MatMul(),
    "entrywise": Hadamard(),
    "sum": Add(),
}


def by_ops(formula: Formula, shapes: Mapping[str, Size]) -> Size | None:
    """The shape by the rules of the ops that derivations are made of; None if one of them refuses."""

    def rule(name: str, *operands: Size) -> Size:
        rows, columns = OPS[name].shape(*operands)
        return int(rows), int(columns)

    try:
        return _by_rule(formula, shapes, rule)
    except ShapeError:
        return None


def output_weights(notation: Notation) -> Formula:
    """W_O as the notation has it."""
    return read_formula(notation.named("W_O").matrix)


def signs(name: str) -> Prose:
    """The notation's signs; its letters only where it has one for every size (note 003 has m for d_k and d_v)."""
    notation = load_notation(name)
    letters = [notation.letters.get(size, size) for size in ("n", "d_model", "d_k", "d_v")]
    if len(set(letters)) < len(letters):
        notation = replace(notation, letters={})
    return Prose(notation, signs={"W_O": output_weights(notation)})


def annotated(node: Formula, shapes: Mapping[str, Size], say: Prose) -> Formula:
    """An expression with the shape of every matrix, or transposed matrix, under it."""
    match node:
        case Name() | Transposed(Name()):
            return Annotated(say.formula(node), _written(shape_of(node, shapes)))
        case Call(function, arguments):
            return Call(function, tuple(annotated(part, shapes, say) for part in arguments))
    return rebuilt(node, lambda part: annotated(part, shapes, say))


def table_shapes(table: str, sizes: Mapping[str, int]) -> list[Size]:
    return [(_size(entry.rows, sizes), _size(entry.columns, sizes)) for entry in BANK.tables[table]]


def _size(letters: str, sizes: Mapping[str, int]) -> int:
    """A product of sizes: h d_v."""
    return prod(sizes[letter] for letter in letters.split())


# ------------------------------------------------------------------------------------------------ drawing

COUNTS = {"starter": (4, 2), "standard": (5, 3), "long": (7, 3)}
"""How many expressions are defined, and how many are not."""


def draw_variant(rng: Random, draw: Draw) -> Record:
    level = draw.spec.level
    defined, undefined = COUNTS[level]
    heads = level != "starter"
    expressions = sample(rng, BANK.expressions["defined"], defined - heads)
    bad = sample(rng, BANK.expressions["undefined"], undefined - heads)
    if heads:
        expressions.append(pick(rng, BANK.expressions["with_heads"]))
        bad.append(pick(rng, BANK.expressions["with_heads_undefined"]))
    fault = pick(rng, BANK.fault)
    lines = [k for k in (1, 2, 3, 4, 5, 6) if k != fault.breaks]
    wrong = sample(rng, [k for k in lines if k != fault.line], 2 if fault.line != fault.breaks else 3)
    if fault.line != fault.breaks:
        wrong.append(fault.line)
    table = _sizes(rng)
    if heads:
        table["h"] = pick(rng, [h for h in range(2, 9) if not {h, h * table["d_v"]} & set(table.values())])
    return {
        "table": "heads" if heads else "one head",
        "table sizes": table,
        "fault": fault.formula,
        "wrong": wrong,
        "sizes": _sizes(rng),
        "expressions": shuffled(rng, [*expressions, *bad]),
        "fault sizes": _sizes(rng),
    }


def _sizes(rng: Random) -> dict[str, int]:
    """Pairwise different, and none twice d_v, which two heads have: then a product is defined by right alone."""
    letters = ("n", "d_model", "d_k", "d_v")
    while True:
        drawn = dict(zip(letters, sample(rng, range(2, 16), 4), strict=True))
        if 2 * drawn["d_v"] not in drawn.values():
            return drawn


# ------------------------------------------------------------------------------------------------ the question


def ask(draw: Draw) -> ProvedQuestion:
    say = signs(draw.notation())
    draw.together(draw_variant)
    at = draw("at", lambda rng: (draw.turn - 1) % 4)
    expressions: tuple[str, ...] = draw["expressions"]
    sizes = {**draw["sizes"], "2d_v": 2 * draw["sizes"]["d_v"]}
    heads = HEADS if any("H_" in text or "W_O" in text for text in expressions) else {}
    as_rows = {name: (sizes[rows], sizes[columns]) for name, (rows, columns) in {**GIVEN, **heads}.items()}
    shapes = {name: shape[::-1] if say.columns else shape for name, shape in as_rows.items()}

    def again(text: str) -> Size | None:
        """The shape by the ops themselves, for tokens as rows."""
        shape = by_ops(read_formula(text), as_rows)
        return shape[::-1] if shape and say.columns else shape

    return question(
        draw,
        [
            *(Item(_expression(text, shapes, say), again=partial(again, text)) for text in expressions),
            _table(draw["table"], draw["table sizes"], say),
            Item(_fault(draw, at, say), lambda part: _broken(FAULTS[draw["fault"]], draw["fault sizes"])),
        ],
        introduction="Give the shape of each expression, such as 3×4, or write “not defined”.",
        given=(_given(shapes, say),),
        conventions=(
            say("Tokens are rows. A shape is rows × columns.", "Tokens are columns. A shape is rows × columns."),
            say(
                "⊙ multiplies entry by entry; there is no broadcasting. Concat puts matrices side by side.",
                "⊙ multiplies entry by entry; there is no broadcasting. Concat puts matrices one below the other.",
            ),
        ),
        features={"load": float(sum(_steps(read_formula(text)) for text in expressions))},
        positions={"fault": str(at)},
    )


def _lines(fault: Fault) -> list[str]:
    """The derivation with its fault."""
    return [fault.formula if k == fault.line else line for k, line in enumerate(LINES, 1)]


def _broken(fault: Fault, sizes: Mapping[str, int]) -> str:
    """What is wrong with the faulty derivation, line by line, for tokens as rows; "" if nothing is."""
    known = {name: (sizes[rows], sizes[columns]) for name, (rows, columns) in GIVEN.items() if name[0] in "XW"}
    for k, line in enumerate(_lines(fault), 1):
        name, _, formula = line.partition(" = ")
        shape = by_ops(read_formula(formula), known)
        if (shape is None) != (k == fault.breaks):
            return f"line {k} of {fault.formula!r} breaks where the key says line {fault.breaks}"
        if shape is None:
            break
        known[name] = shape
    return ""


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
    header: list[TextLike] = ["Matrix", *map(say.formula, shapes)]
    return Together((table(header, [["Shape", *map(_written, shapes.values())]]),))


def _written(shape: Size) -> Shape:
    return Shape(Number(str(shape[0])), Number(str(shape[1])), "cross")


def _expression(text: str, shapes: Mapping[str, Size], say: Prose) -> Part:
    formula = as_it_lies(text, say)
    shape: Size | None
    try:
        shape = shape_of(formula, shapes, say.columns)
        why = sentence("The shape is {shape}.", shape=_written(shape))
    except ShapeError as error:
        shape, why = None, sentence("Not defined. {reason}", reason=error.args[0])
    return make_part(
        say.formula(formula),
        [fill_in("Shape:", 50)],
        [Display((annotated(formula, shapes, say),)), why],
        ShapeAnswer(shape),
    )


def _equal(sizes: Mapping[str, int], say: Prose) -> Inlines:
    """n = 3, d_k = 2, …"""
    return listing([as_text(say.formula(f"{letter} = {size}")) for letter, size in sizes.items()], last="")


SETTINGS = {
    "one head": "Self-attention with {sizes}.",
    "heads": "Multi-head self-attention with {sizes} ($d_k$ and $d_v$ are those of one head).",
}


def _table(of: str, sizes: Mapping[str, int], say: Prose) -> Part:
    shapes = table_shapes(of, sizes)
    asked, solved = list[list[TextLike]](), list[list[TextLike]]()
    for entry, shape in zip(BANK.tables[of], shapes, strict=True):
        named, blank = say(entry.text), Blank("integer")
        asked.append([named, blank, blank])
        letters = list(zip((entry.rows, entry.columns), shape, strict=True))[:: -1 if say.columns else 1]
        numbers = (equal(say.formula(text), Number(str(size))) for text, size in letters)
        solved.append([named, *numbers])
    given = say(SETTINGS[of], sizes=_equal(sizes, say))
    heads = ["Matrix", "Rows", "Columns"]
    return make_part(
        "All the shapes",
        [say("{given} Fill in the table.", given=given), table(heads, asked)],
        [given, table(heads, solved)],
        MatrixAnswer(Matrix([shape[::-1] if say.columns else shape for shape in shapes])),
        Mark("B", 4, "deduct one for every two wrong numbers", OneLess(each=2)),
        name="table",
    )


def _fault(draw: Draw, at: int, say: Prose) -> Part:
    fault = FAULTS[draw["fault"]]
    right = Offer(
        say("Line {line}: {why}", line=fault.breaks, why=say(*fault.why)),
        say(
            "The fault is in line {line}, which should be {formula}.",
            line=fault.line,
            formula=as_text(say.formula(as_it_lies(LINES[fault.line - 1], say))),
        ),
        True,
    )
    asked = say(
        "Given $X$ ($n$×$d_model$), $W_Q$ and $W_K$ ($d_model$×$d_k$) and $W_V$ ($d_model$×$d_v$) with {sizes}: "
        "which line is the first that is not defined, and why?",
        "Given $X$ ($d_model$×$n$), $W_Q$ and $W_K$ ($d_k$×$d_model$) and $W_V$ ($d_v$×$d_model$) with {sizes}: "
        "which line is the first that is not defined, and why?",
        sizes=_equal(draw["fault sizes"], say),
    )
    derivation = ItemList(tuple(as_text(say.formula(as_it_lies(line, say))) for line in _lines(fault)), ordered=True)
    offers = put_in([_excuse(k, say, fault) for k in draw["wrong"]], at, right)
    return choice_part("The line that breaks", (asked, derivation), offers, Mark("B", 2), name="fault")


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
    return Offer(say("Line {line}: {why}", line=k, why=excuse), sentences(why, planted), tells=tells)


TYPE = ProblemType(ask, name="shapes", title="Shapes", mechanisms=(*ATTENTION, "multi_head_attention"))
