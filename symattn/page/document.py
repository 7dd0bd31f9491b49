"""A page: a closed union of block and inline nodes, without a word of any format.

Writers `match` on these classes; formulas stand inside them.  Text is always plain text: no writer ever
reads markup in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeGuard, TypeVar, get_args

from symattn.formula import Annotated, Blank, CellKind, Formula, MatrixOf, Relation
from symattn.foundation.languages import PLACES, capitalised, say
from symattn.foundation.languages import Quoted as Quoted


class Total(Quoted):
    """A number of marks: those of a question, by its number, or all for 0.  Where marks can be added up, they are."""

    of: int

    def __new__(cls, marks: int, of: int) -> Total:
        made = super().__new__(cls, str(marks))
        made.of = of
        return made


@dataclass(frozen=True, slots=True)
class Words:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Text with weight."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text as it is typed: a command, a recipe."""

    text: str


@dataclass(frozen=True, slots=True)
class Math:
    """A formula in a line of text."""

    formula: Formula


@dataclass(frozen=True)
class Sentence:
    """A sentence with formulas: a template in English, and what stands in its places.

    A place is a name in braces, {divisor}, or a formula between dollar signs, $W_Q$; `places` has them as they stand in
    the template.  With `plural`, `n` chooses between the two as in `languages.counted`; `capital` begins it with a
    capital letter.
    """

    template: str
    places: tuple[tuple[str, Inlines], ...] = ()
    plural: str = ""
    n: int = 1
    capital: bool = False

    def said(self, template: str) -> Inlines:
        """This sentence by a template of its language."""
        standing = dict(self.places)
        parts = PLACES.split(template[:1].upper() + template[1:] if self.capital else template)
        return joined(x for part in parts if part for x in standing.get(part, (Words(part),)))

    @cached_property
    def english(self) -> Inlines:
        return self.said(self.plural if self.plural and self.n != 1 else self.template)


Span = Words | Strong | Code | Math
Inline = Span | Sentence
Inlines = tuple[Inline, ...]

Part = TypeVar("Part", bound=Inline)


TextLike = Inlines | Inline | Formula | str | int
"""Text of a page; words, numbers and formulas as they are."""


def as_text(content: TextLike) -> Inlines:
    """As text of a page: nothing of no text.

    >>> as_text("three"), as_text(3), as_text("")
    ((Words(text='three'),), (Words(text='3'),), ())
    """
    match content:
        case tuple():
            return content
        case str():
            return (Words(content),) if content != "" else ()
        case int():
            return (Words(str(content)),)
        case Words() | Strong() | Code() | Math() | Sentence():
            return (content,)
    return (Math(content),)


def sentence(template: str, /, **standing: TextLike) -> Inlines:
    """A sentence as text of a page.

    >>> sentence("{name} has {n} rows.", name=Words("Q"), n=3)[0].english
    (Words(text='Q has 3 rows.'),)
    """
    return (Sentence(template, places_of(standing)),)


def places_of(standing: Mapping[str, TextLike]) -> tuple[tuple[str, Inlines], ...]:
    """What stands in the places of a sentence, by name, as text of a page."""
    return tuple((f"{{{name}}}", as_text(value)) for name, value in standing.items())


def listing(items: Sequence[Inlines], last: Literal["", "and", "or"] = "and") -> Inlines:
    """a; a and b; a, b and c: as `languages.listed`, for text with formulas; with no last word, commas alone."""
    *before, end = items or [()]
    if not before:
        return end
    said = before[0]
    for item in before[1:]:
        said = sentence("{items}, {item}", items=said, item=item)
    match last:
        case "and":
            return sentence("{items} and {item}", items=said, item=end)
        case "or":
            return sentence("{items} or {item}", items=said, item=end)
        case "":
            return sentence("{items}, {item}", items=said, item=end)


def begun(content: Inlines) -> Inlines:
    """Text as it begins a sentence: a word gets a capital letter, a formula stays as it is.

    >>> begun(sentence("divided by {divisor}", divisor="2"))[0].english
    (Words(text='Divided by 2'),)
    """
    match content:
        case (Sentence(template) as first, *others) if capitalised(template) != template:
            return (replace(first, capital=True), *others)
        case (Words(text), *others):
            return (Words(capitalised(text)), *others)
    return content


def in_turn(parts: Iterable[Inlines]) -> Inlines:
    """Sentences one after the other, as `languages.sentences`, for text with formulas; empty ones are left out."""
    said, *others = [part for part in parts if part] or [()]
    for part in others:
        said = sentence("{sentences} {sentence}", sentences=said, sentence=part)
    return said


def joined(content: Iterable[Part]) -> tuple[Part, ...]:
    """Neighbouring texts joined; a person's own words stay apart."""
    done: list[Part] = []
    for part in content:
        match done, part:
            case _, Words(""):
                pass
            case [*_, Words(before)], Words(text) if not isinstance(text, Quoted) and not isinstance(before, Quoted):
                done[-1] = replace(part, text=before + text)
            case _:
                done.append(part)
    return tuple(done)


def spans(content: Inlines, totals: bool = False) -> Iterator[Span]:
    """Text with formulas in it, its sentences in English; `totals` stand apart, or as any number in words."""
    parts = tuple(_without_sentences(content))
    if totals or not any(map(_is_total, parts)):
        return iter(parts)
    return iter(joined(Words(str(part.text)) if _is_total(part) else part for part in parts))


def _is_total(part: Inline) -> TypeGuard[Words]:
    return isinstance(part, Words) and isinstance(part.text, Total)


def _without_sentences(content: Inlines) -> Iterator[Span]:
    for part in content:
        if isinstance(part, Sentence):
            yield from _without_sentences(part.english)
        else:
            yield part


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, level 1 below the title, 2 below that; `marks` stand at the right margin.

    `label` numbers what the heading is of, a question ("1.", "Question 2.") or a part of one ("(a)"), and stands before
    the content; `of` says which, for formats that count these themselves, or that what is given stands below.
    """

    content: Inlines
    level: int = 1
    marks: str = ""
    label: Inlines = ()
    of: Literal["", "question", "part", "given"] = ""

    @property
    def whole(self) -> Inlines:
        """The content behind its label."""
        return (*self.label, Words(" "), *self.content) if self.label else self.content


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text; `marks` stand at the right margin of its last line: "[2]", "M1 A2".

    `marks_alone` say all that the content says of them, for a heading: "M1 A2 (one for each row)".  What is `by_hand`
    asks for something that only paper has room for.  `typed` stands instead of the content in a question bank, where
    every box says itself in what form it is answered: without the form that is wanted on paper, nothing if empty.
    """

    content: Inlines
    marks: str = ""
    marks_alone: str = ""
    by_hand: bool = False
    typed: Inlines | None = None

    @property
    def announces(self) -> bool:
        """Whether it leads to what comes next: it ends with a colon."""
        *_, last = (None, *spans(self.content))
        return isinstance(last, Words | Strong) and last.text.rstrip().endswith(":")


def paragraph(content: TextLike) -> Paragraph:
    return Paragraph(as_text(content))


ONLY_MARKS = (Words("Marks"),)
"""What stands before codes of marks of which no more is said."""


@dataclass(frozen=True, slots=True)
class Display:
    """Formulas on lines of their own, the lines aligned at their first relation sign.

    A line that begins with a relation sign (`Relation((NOTHING, …), …)`) continues the one above.
    `lead` is text before the formula on the same line ("Queries:").  `step` is the step of a derivation that the lines
    are of, where they are its rule or its values, which is its `role`.
    """

    lines: tuple[Formula, ...]
    lead: Inlines = ()
    step: str = ""
    role: Literal["", "rule", "values"] = ""


@dataclass(frozen=True, slots=True)
class Entries:
    """Short equations, one for each entry of a matrix, set in columns and read row by row."""

    equations: tuple[Formula, ...]
    columns: int = 1


@dataclass(frozen=True, slots=True)
class AnswerGrid:
    """`name` = an empty matrix of boxes to write in, one for each entry.

    `filled` says what stands in some of them already (indices from 0).  With `shade`, the boxes are squares to be
    shaded or left white, as in drawing a mask.  Labels stand before the rows and above the columns.  `step` is the step
    of a derivation that is asked for.
    """

    name: Formula
    rows: int
    columns: int
    kind: CellKind = "integer"
    filled: tuple[tuple[tuple[int, int], Formula], ...] = ()
    shade: bool = False
    row_labels: tuple[Formula, ...] = ()
    column_labels: tuple[Formula, ...] = ()
    step: str = ""

    @property
    def in_brackets(self) -> bool:
        """Whether brackets stand round it: not round squares to shade, nor beside labels."""
        return not (self.shade or self.row_labels or self.column_labels)

    @property
    def cells(self) -> Cells:
        """What stands in the boxes, with a blank in those to fill in."""
        filled, blank = dict(self.filled), Blank(self.kind)
        return tuple(tuple(filled.get((i, j), blank) for j in range(self.columns)) for i in range(self.rows))


Cells = tuple[tuple[Formula, ...], ...]


@dataclass(frozen=True, slots=True)
class WorkingSpace:
    """Space for working: `count` pieces, each `width` by `height` millimetres as written by hand; blank, or ruled.

    A piece of no width takes whole lines.
    """

    height: float
    ruled: bool = False
    width: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True)
class AnswerSpace:
    """Boxes to fill in, with space for working beside and below them: on paper in one frame, on one page."""

    boxes: AnswerGrid | Falk
    working: WorkingSpace


@dataclass(frozen=True, slots=True)
class FillIn:
    """A label and a place to write: a line `width` millimetres long, or `boxes` boxes for one character each.

    `value` stands there already (a name from the class list), `after` behind it (a unit).  Where it is the `student`'s,
    LaTeX can keep it apart from a page that many have.
    """

    label: Inlines
    width: int = 40
    boxes: int = 0
    value: str = ""
    after: Inlines = ()
    student: Literal["", "name", "id", "seat"] = ""


@dataclass(frozen=True, slots=True)
class FillIns:
    """Places to write a short answer, next to one another as far as a line goes."""

    items: tuple[FillIn, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """Options A, B, C … with a box each to tick: one of them, or `several`; those in `ticked` (from 0) are ticked."""

    items: tuple[Inlines, ...]
    several: bool = False
    ticked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A picture of a matrix: cells from level 0 (white) to 4 (black), told apart by pattern as well as by tone.

    `words` may stand in the cells; `description` says in words what the picture shows.
    """

    levels: tuple[tuple[int, ...], ...]
    description: str
    row_labels: tuple[Formula, ...] = ()
    column_labels: tuple[Formula, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class HeatMaps:
    """Heat maps side by side as far as a line goes, each with a caption: heads, or variants, to be compared.

    `small` ones have no room for words in their cells.
    """

    items: tuple[tuple[Inlines, HeatMap], ...]
    small: bool = False

    @property
    def description(self) -> str:
        """Of all of them."""
        return " ".join(picture.description for _, picture in self.items)


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list; `ordered` numbers its items from 1."""

    items: tuple[Inlines, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first row and, if `row_heads`, first column are headings."""

    header: tuple[Inlines, ...]
    rows: tuple[tuple[Inlines, ...], ...]
    row_heads: bool = False

    @property
    def columns(self) -> list[tuple[Inlines, ...]]:
        """Each below its head."""
        return list(zip(self.header, *self.rows, strict=True))


def table(heads: Iterable[TextLike], rows: Iterable[Iterable[TextLike]], row_heads: bool = True) -> Table:
    """A table of texts, whose rows begin with their heads unless `row_heads` says otherwise."""
    return Table(tuple(map(as_text, heads)), tuple(tuple(map(as_text, row)) for row in rows), row_heads)


@dataclass(frozen=True, slots=True)
class Box:
    """Blocks set apart under a title: conventions, errata, a hint."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """Blocks that stay on one page."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Falk:
    """Falk's scheme of a matrix product: `left` times `above` is `inside`, where their rows and columns cross.

    `inside` is the product, or its boxes to write in.  All three are grids of entries, so that rows and columns can be
    aligned; blanks among them are places for what was worked out before.  `names` are the two factors' own, with their
    shapes where the notation shows them; a writer puts each beside its factor.
    """

    left: MatrixOf
    above: MatrixOf
    inside: MatrixOf | AnswerGrid
    names: tuple[Formula, ...] = ()

    @property
    def product(self) -> Cells:
        return cells_of(self.inside)


def cells_of(grid: MatrixOf | AnswerGrid) -> Cells:
    """The entries of a matrix, or what stands in its boxes."""
    return grid.rows if isinstance(grid, MatrixOf) else grid.cells


@dataclass(frozen=True, slots=True)
class FlowGrid:
    """A matrix on a flow sheet: numbers that are given, or boxes to write in, filled or not.

    `role` says what it is (X, W_Q, K, "K^T" for the keys turned over, exp and sum for the powers of a softmax and their
    sums …), `rule` its name, or how it is made, and `head` of which head it is, from 1, or 0.  A box is `cell`
    millimetres wide and high at 11 pt.  `rows` and `columns` are the tokens that they are of, from 0, if they are of
    tokens.  `heading` is that of the part that asks for the boxes; without one they are for working.  They are the
    boxes of the answer from row and column `start` on.
    """

    role: str
    rule: Formula
    inside: MatrixOf | AnswerGrid
    cell: tuple[float, float]
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    head: int = 0
    heading: Heading | None = None
    start: tuple[int, int] = (0, 0)

    @property
    def cells(self) -> Cells:
        return cells_of(self.inside)


@dataclass(frozen=True, slots=True)
class FlowSheet:
    """Attention on one page: its matrices from the inputs at the foot to the output on top, in reading order.

    Factors stand left of and below their products, in rows and columns of one size.  Softmax goes `along` rows or
    columns.  `tokens` are what the tokens are called that rows and columns are of, and `dot` is one dot product, as a
    chain of equal parts: the entry in the last row and the first column of the scores.  `headings` are those of the
    parts that ask for something, in their order.
    """

    grids: tuple[FlowGrid, ...]
    along: Literal["rows", "columns"]
    tokens: tuple[Formula, ...]
    dot: tuple[Formula, ...]
    headings: tuple[Heading, ...] = ()
    legend: Inlines = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow sheet with what belongs to it, and the same in the usual form, for wherever a sheet cannot be drawn."""

    sheet: tuple[Block, ...]
    otherwise: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of two cells side by side under two heads: the step, and its working."""

    heads: tuple[Inlines, Inlines]
    rows: tuple[tuple[tuple[Block, ...], tuple[Block, ...]], ...]


@dataclass(frozen=True, slots=True)
class Solved:
    """What is asked, and what may stand there in its place: `Document.solutions` says which.

    `ask` has boxes to fill in, `partly` the same with some of it done, `worked` the solution, and `key` what a marker
    reads besides.  LaTeX keeps all of them in one source, with a switch; HTML lets the reader open the solution.
    """

    ask: tuple[Block, ...]
    partly: tuple[Block, ...]
    worked: tuple[Block, ...]
    key: tuple[Block, ...] = ()

    def shown(self, solutions: Solutions) -> tuple[Block, ...]:
        """What is shown where there is no switch."""
        match solutions:
            case "blank":
                return self.ask
            case "partly":
                return self.partly
            case "worked":
                return self.worked
            case "key":
                return (*self.worked, *self.key)
            case "answers" | "diagnosis":
                return ()


@dataclass(frozen=True, slots=True)
class DiagramLayer:
    """One level of a bottom-up figure: its boxes from left to right, and a remark at the right."""

    boxes: tuple[Formula, ...]
    remark: Inlines = ()


Place = tuple[int, int]
"""Of a box in a diagram: its layer and its place in it, from 0."""


@dataclass(frozen=True, slots=True)
class DiagramFrame:
    """A frame round some boxes of a diagram: a head, a block that is repeated."""

    boxes: tuple[Place, ...]
    label: Inlines = ()


@dataclass(frozen=True, slots=True)
class Diagram:
    """A bottom-up data-flow figure: `layers` from top to bottom, arrows point up, or to a neighbour in the layer.

    An edge runs from the first of two boxes to the second.  Boxes stand in the order given, unless they are `free` to
    be exchanged within their layer.  `description` says in words what the figure shows; with a `title` it is made of
    that and of the figure's own words (`described`), in any language.
    """

    layers: tuple[DiagramLayer, ...]
    edges: tuple[tuple[Place, Place], ...]
    description: str = ""
    frames: tuple[DiagramFrame, ...] = ()
    free: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """Python source that computes what stands above it, in the English of programs: for notebooks, which can run it.

    Other formats leave it out.
    """

    source: str


@dataclass(frozen=True, slots=True)
class PageBreak:
    """A new page; with `leaf` the front of a leaf, where a page is printed by PDF or TeX: browsers have no such."""

    leaf: bool = False


Block = (
    Heading
    | Paragraph
    | Display
    | Entries
    | AnswerGrid
    | WorkingSpace
    | AnswerSpace
    | FillIns
    | Choices
    | HeatMap
    | HeatMaps
    | ItemList
    | Table
    | Box
    | Together
    | Falk
    | FlowSheet
    | Flow
    | Columns
    | Solved
    | Diagram
    | Program
    | PageBreak
)

Solutions = Literal["blank", "partly", "worked", "key", "answers", "diagnosis"]

Besides = Literal["ask", "partly", "worked", "key", "programs"]
"""What a document may hold besides what it shows: the other versions of every `Solved`, and programs."""

EVERYTHING: frozenset[Besides] = frozenset(get_args(Besides))


@dataclass(frozen=True, slots=True)
class Look:
    """What a reader chooses about a page: nothing of it changes what is said.

    text_size    points: 11, or 18 and 24 for large print
    paper        A4 or US letter
    spacing      roomy, or compact where paper is short
    decimal      the decimal sign; with a comma, entries are parted by semicolons
    brackets     of matrices and lists; empty: as the notation has them
    transpose    the sign of a transposed matrix; empty: as the notation has it
    language     a language file of `symattn.foundation.languages`
    fillable     whether PDF has a field in every place to write in, where nothing is worked out
    """

    text_size: int = 11
    paper: Literal["a4", "letter"] = "a4"
    spacing: Literal["roomy", "compact"] = "roomy"
    decimal: Literal[".", ","] = "."
    brackets: Literal["", "[", "("] = ""
    transpose: Literal["", "⊤", "T", "′"] = ""
    language: str = "en"
    fillable: bool = False


DEFAULT_LOOK = Look()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole page or booklet.

    `fields` are the lines to fill in at the head (Name, Date); `sheet` is its short identity, printed on every
    page; `recipe` says how to make it again, and its key: nothing of it is written unless it is to be
    `recipe_printed`.  `solutions` says what of every `Solved` is shown.
    """

    title: str
    blocks: tuple[Block, ...]
    subtitle: str = ""
    fields: tuple[str, ...] = ()
    sheet: str = ""
    recipe: str = ""
    solutions: Solutions = "blank"
    look: Look = DEFAULT_LOOK
    recipe_printed: bool = True

    @property
    def footer(self) -> str:
        """The recipe, where it is printed: all that any format writes of it."""
        return self.recipe if self.recipe_printed else ""


Blocks = tuple[Block, ...]


def with_blocks_inside(block: Block, change: Callable[[Blocks], Blocks]) -> Block:
    """The block with every list of blocks directly inside it changed; one that has none, as it is."""
    match block:
        case Box() | Together():
            return replace(block, blocks=change(block.blocks))
        case Falk(inside=AnswerGrid() as grid):
            (changed,) = change((grid,))
            assert isinstance(changed, AnswerGrid)
            return replace(block, inside=changed)
        case AnswerSpace():
            boxes, working = change((block.boxes, block.working))
            assert isinstance(boxes, AnswerGrid | Falk) and isinstance(working, WorkingSpace)
            return AnswerSpace(boxes, working)
        case Flow():
            return Flow(change(block.sheet), change(block.otherwise))
        case Columns():
            return replace(block, rows=tuple((change(left), change(right)) for left, right in block.rows))
        case Solved():
            return Solved(change(block.ask), change(block.partly), change(block.worked), change(block.key))
        case _:
            return block


def blocks_inside(block: Block) -> Blocks:
    """The blocks directly inside a block, in reading order."""
    shown: list[Block] = []

    def kept(blocks: Blocks) -> Blocks:
        shown.extend(blocks)
        return blocks

    with_blocks_inside(block, kept)
    return tuple(shown)


def all_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks and the blocks inside them."""
    for block in blocks:
        yield block
        yield from all_blocks(blocks_inside(block))


def settled(document: Document) -> Document:
    """The document with every `Solved` replaced by what of it is shown, for formats that have no switch."""

    def choose(blocks: Iterable[Block]) -> Blocks:
        chosen: list[Block] = []
        for block in blocks:
            shown = block.shown(document.solutions) if isinstance(block, Solved) else (block,)
            chosen += [with_blocks_inside(part, choose) for part in shown]
        return tuple(chosen)

    return replace(document, blocks=choose(document.blocks))


# --- figures in words, for those who listen: every box, every label, every arrow ----------------------


def described(diagram: Diagram, what: str) -> Diagram:
    """The diagram with a description: `what` it shows, then its layers from the bottom, arrows and frames.

    It is in the language that is spoken (`symattn.foundation.languages.speaking`); so are `what` and the words in the
    diagram.
    """
    from symattn.formula.speech import speak  # most pages say nothing aloud

    said = {place: speak(box) for place, box in _boxes(diagram)}
    sentences = [say("{figure}.", figure=what), say("Arrows run from bottom to top.")]
    for number, (i, layer) in enumerate(reversed(list(enumerate(diagram.layers))), 1):
        boxes = "; ".join(said[i, j] for j in range(len(layer.boxes)))
        sentences.append(say("Layer {layer}: {boxes}.", layer=number, boxes=boxes))
        if layer.remark:
            sentences.append(say("Beside it: {remark}.", remark=spoken(layer.remark)))
    short = {place: speak(_name(box)) for place, box in _boxes(diagram)}
    targets: dict[tuple[Place, ...], list[Place]] = {}
    for target in dict.fromkeys(target for _, target in sorted(diagram.edges, key=lambda edge: -edge[1][0])):
        sources = tuple(source for source, other in diagram.edges if other == target)
        targets.setdefault(sources, []).append(target)
    for sources, reached in targets.items():
        start, end = _listed(short[p] for p in sources), _listed(short[p] for p in reached)
        sentences.append(say("From {sources} to {targets}.", sources=start, targets=end))
    for frame in diagram.frames:
        boxes = _listed(short[place] for place in frame.boxes)
        sentences.append(say("In a frame, {frame}: {boxes}.", frame=spoken(frame.label), boxes=boxes))
    return replace(diagram, title=what, description=" ".join(sentences))


def _boxes(diagram: Diagram) -> Iterable[tuple[Place, Formula]]:
    return (((i, j), box) for i, layer in enumerate(diagram.layers) for j, box in enumerate(layer.boxes))


def _name(box: Formula) -> Formula:
    """What a box is called, without its shape, its rule or its numbers."""
    match box:
        case Annotated(body, _, _):
            return _name(body)
        case Relation((name, *_), _):
            return name
        case _:
            return box


def spoken(content: Inlines) -> str:
    """Text with formulas in words."""
    from symattn.formula.speech import speak

    words = "".join(speak(part.formula) if isinstance(part, Math) else part.text for part in spans(content))
    return " ".join(filter(None, words.split(" ")))


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return say("{items} and {item}", items=", ".join(others), item=last) if others else last
