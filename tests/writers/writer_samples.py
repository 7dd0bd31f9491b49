"""Formulas and documents that between them hold every kind of node."""

from symattn.formula.nodes import (
    NOTHING,
    Annotated,
    Blank,
    Bracketed,
    Call,
    Dots,
    Fraction,
    Infinity,
    ListOf,
    Marked,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Shape,
    Sum,
    Text,
    Transposed,
)
from symattn.formula.reading import read_formula
from symattn.page.document import (
    AnswerGrid,
    Box,
    Code,
    Diagram,
    DiagramLayer,
    Display,
    Document,
    Entries,
    Heading,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Solved,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
)


def n(value):
    """Short forms: 3, -2, "S"; a formula stays as it is."""
    if isinstance(value, int):
        return Negative(Number(str(-value))) if value < 0 else Number(str(value))
    return Name(value) if isinstance(value, str) else value


def indexed(base, *sub, **decoration):
    return Name(base, tuple(map(n, sub)), **decoration)


def words(text):
    return (Words(text),)


def paragraph(text):
    return Paragraph(words(text))


def matrix(*rows, **options):
    return MatrixOf(tuple(tuple(map(n, row)) for row in rows), **options)


def equal(*parts):
    return Relation(tuple(map(n, parts)), ("=",) * (len(parts) - 1))


def times(*factors, sign=""):
    return Product(tuple(map(n, factors)), sign)


def over(above, below):
    return Fraction(n(above), n(below))


def exp(exponent):
    return Power(Name("e"), n(exponent))


def plus(*terms):
    return Sum(tuple(map(n, terms)))


W_Q = read_formula("W^Q")
ROOT_D = read_formula("sqrt(d_k)")
WEIGHT = read_formula("frac(e^{frac(3, sqrt(2))}, e^{frac(3, sqrt(2))} + 2 e^{-frac(1, 2)})")
X = read_formula("[1, 0, 1, 0, 2; 0, 2, 0, 2, -1; 1, 1, 1, 1, 3]")
W = read_formula("[1, 0, 1, 2; 1, 0, 0, -1; 0, 0, 1, 3; 0, 1, 1, -2; 2, 1, 0, 1]")

READ = """
integer                  | 17
decimal                  | 0.50
negative                 | -3
letter                   | S
greek letter             | α
word                     | Input
index                    | q_{1,2}
index of several figures | q_{10,2}
index word               | W_query
label                    | W^Q
primes                   | S''
primes and index         | S'_1
label and index          | W_1^q
text                     | "for this example"
infinity                 | -∞
figures side by side     | 2 3
product of words         | softmaxed v
fraction                 | frac(1, 2)
fraction of a product    | frac(Q K^T, sqrt(d_k))
power                    | 2^10
fraction in an exponent  | e^{frac(1 + a, 2 b)}
half of x in an exponent | e^{frac(1, 2) x}
weight                   | frac(e^{frac(3, sqrt(2))}, e^{frac(3, sqrt(2))} + 2 e^{-frac(1, 2)})
root                     | sqrt(3)
transposed               | K^T
transposed with a label  | W^Q^T
transposed matrix        | [1, 0; 2, 3]^T
call                     | softmax(S)
call of a fraction       | softmax(frac(S, sqrt(d_k)))
list                     | [1, 0, -1]
matrix                   | [1, 0, -1; 2, 14, 3]
big sum                  | Σ_{i=1}^n a_i v_i
chain                    | S = Q K^T = [2, 4; 4, 16]
row                      | Q = X W^Q || K = X W^K
continued                | = 1 ≥ 2
hat                      | hat(s)_{1,2}
list with commas         | ⟨1, 0, -1⟩
matrix of lists          | [[1, 2]; [3, 4]]
matrix of weights        | [frac(e^{frac(3, sqrt(2))}, e^{frac(3, sqrt(2))} + 2 e^{-frac(1, 2)}), 1; 0, frac(1, 2)]
sum without bounds       | Σ_{j} e^{s_j}
relation signs           | 0 ≈ 1 → 2 := 3 ≠ 4 < 5 > 6 ≤ 7
"""
"""As authors of notations write them."""

FORMULAS = {
    **{name.strip(): read_formula(text) for name, text in (line.split("|", 1) for line in READ.strip().splitlines())},
    "decimal comma": Number("0,50"),
    "minus a sum": Negative(plus(1, 2)),
    "dots": Row((Dots(), Dots("vertical"), Dots("diagonal"), Dots("cell"))),
    "blanks": Row(tuple(map(Blank, ("integer", "decimal", "fraction", "exponential", "word")))),
    "sum": plus("a", Negative(n("b")), "c", Negative(plus("d", 1))),
    "dot product": equal(
        indexed("s", 1, 2), plus(times(1, 0, sign="·"), times(0, -1, sign="·"), times(2, 3, sign="·")), 6
    ),
    "signs": Row((times("a", "b", sign="×"), times("a", "b", sign="⊙"), times(-1, 2, sign="·"))),
    "negative factor first": times(-1, 2, sign="·"),
    "negative factor last": times("a", Negative(Name("b"))),
    "negative factor unsigned": times(Negative(Name("a")), "b"),
    "product of sums": times(plus("a", 1), plus("b", -2)),
    "power of a sum": Power(plus("a", "b"), n(2)),
    "root of a sum": Root(plus(times("x"), 1)),
    "call of two": Call(Name("f"), (n("x"), n("y"))),
    "brackets": Row(tuple(Bracketed(plus("a", 1), bracket) for bracket in ("[", "(", "⟨", "|", ""))),
    "list with semicolons": ListOf((n(1), over(1, 2)), "(", ";"),
    "matrix of fractions": matrix([1, over(1, 2)], [-3, Negative(over(1, 3))], bracket="("),
    "matrix with commas": matrix([1, 0, 1], [1, 0, 0], separator=",", row_end=","),
    "nested matrix": matrix([1, 0, 2], [-2, 2, 2], nested=True),
    "matrix in angles": matrix(["a", "b"], ["c", "d"], bracket="⟨"),
    "determinant": matrix(["a", "b"], ["c", "d"], bracket="|"),
    "bare matrix": matrix(["a", "b"], ["c", "d"], bracket=""),
    "labelled matrix": matrix(
        [0, Negative(Infinity())], [5, 7],
        row_labels=(indexed("q", 1), indexed("q", 2)), column_labels=(indexed("k", 1), indexed("k", 2)),
        excluded=frozenset({(0, 1)}),
    ),
    "row labels": matrix([1, 2], [3, 4], row_labels=(n("a"), n("b"))),
    "column labels": matrix([1, 2], [3, 4], column_labels=(n("a"), n("b"))),
    "excluded first cell": matrix([-1, 2], [3, 4], excluded=frozenset({(0, 0)})),
    "shape": Shape(n(3), n(4)),
    "cross shape": Shape(n(3), n(4), "cross"),
    "note under": times(Annotated(n("X"), Shape(n(3), n(4))), Annotated(W_Q, Shape(n(4), n(3)))),
    "note under a matrix": Annotated(matrix([1, 0], [0, 1]), Shape(n(2), n(2))),
    "note beside": Annotated(n("S"), Shape(n(3), n(3)), "beside"),
    "note as index": Annotated(matrix([1, 0], [0, 1]), Shape(n(2), n(2), "cross"), "index"),
    "marked": matrix(
        [Marked(n(-1), "✓", "right"), Marked(over(1, 2), "✓ft", "right, given your own earlier lines")],
        [Marked(WEIGHT, "✗₁", "wrong"), Marked(NOTHING, "–", "nothing written")],
    ),
    "marked sum": Marked(plus("a", -2), "✗", "wrong"),
    "wide product": equal("Q", times("X", W_Q), times(X, W), matrix([3, 1, 2, 4], [0, 1, 2, 3], [9, 8, 7, 6])),
}  # fmt: skip

HOSTILE = (
    r"\input{/etc/passwd} \write18{ls} \end{document}",
    "$x$ %comment #1 & ~tilde ^hat _under {brace} \\",
    '#read("x") *bold* _it_ = heading <label> @ref // comment /* more */ \\u{41}',
    "<script>alert(1)</script> &amp; <!-- x -->",
    "[link](http://x) `code` | pipe | **b** # no heading",
    "- no list", "+ none", "1. none", "1) none", "= none", "> none", "[1] none", "* none", "---", "```",
    "-- --- ,, '' `` << >> ?` !`",
    "naïve Žižek Łódź Nguyễn Øre ß Œuvre",
    "αβγ Ω −∞ × · √3 ≤ ≥ ≠ → ½ ² ₁ ″ ᵀ",
    "Привет, мир", "中文 日本語", "emoji 😀👍🏽", "שלום", "مرحبا", "tab\tnew\nline\r\n\x00\x07\x1b[31m\x7f",
    "zero\u200bwidth\u202eright-to-left\ufeff", "lone \ud800 surrogate", "\ufffe\uffff\U0010ffff\ue000",
    "a" * 400, "", " ", "e\u0301\u0323 x\u20d7", "0" * 300 + " " + "-" * 300,
)  # fmt: skip


def sheet(*blocks, **furniture):
    return Document("A sheet", blocks, **furniture)


FIGURE = Diagram(
    (
        DiagramLayer((indexed("h", 1), indexed("h", 2)), words("outputs")),
        DiagramLayer((Call(Name("softmax"), (n("S"),)),), (Words("row by row, by "), Math(ROOT_D))),
        DiagramLayer((n("Q"), n("K"), n("V"))),
        DiagramLayer((n("X"),), words("input")),
    ),
    (
        *(((3, 0), (2, j)) for j in range(3)),
        *(((2, j), (1, 0)) for j in range(2)),
        *(((1, 0), (0, j)) for j in range(2)),
        ((2, 2), (0, 1)),
        ((2, 0), (0, 0)),
    ),
    "Bottom up: X gives Q, K and V; Q and K meet in the softmax of S; with V it gives h1 and h2.",
)

ALL = sheet(
    Box("Conventions", (
        ItemList(((Words("Tokens are rows: "), Math(equal("Q", times("X", W_Q)))), (Strong("No rounding."),))),
        Paragraph((Words("Typed as "), Code("e^(1/2)"), Words("."))),
    )),
    Heading((Words("Given "), Math(Shape(n(3), n(5))))),
    Together((
        Paragraph((Words("The input is "), Math(equal("X", matrix([1, 2], [3, 4]))), Words(" and more."))),
        Display((equal(Annotated(n("X"), Shape(n(3), n(5))), X),)),
        Display((Row((equal(W_Q, W), equal(Name("W", sup="K"), W), equal(Name("W", sup="V"), W))),)),
    )),
    Heading(words("Answers")),
    Together((AnswerGrid(n("Q"), 3, 4), AnswerGrid(indexed("S", 1), 2, 2, "exponential"))),
    AnswerGrid(n("A"), 2, 12, "word"),
    WorkingSpace(30),
    Heading(words("Deeper"), 2),
    FIGURE,
    PageBreak(),
    Heading(words("Key")),
    Display((FORMULAS["wide product"],), words("Queries:")),
    Display((equal("S", times("Q", Transposed(n("K")))), equal(NOTHING, matrix([2, 4], [4, 16])), n("S"))),
    Entries(tuple(equal(indexed("q", i, j), plus(times(i, j, sign="·"), times(2, -1, sign="·")), 2 * i - j)
                  for i in (1, 2, 3) for j in (1, 2, 3)), 3),
    Entries(tuple(equal(indexed("a", i, 1), WEIGHT) for i in range(4)), 2),
    ItemList((words("one"), words("two")), ordered=True),
    Table((words("step"), words("value"), words("what it says")), (
        (words("S"), (Math(matrix([1, 2], [3, 4])),), words("long words " * 20)),
        (words("A"), (Math(over(1, 2)),), (Code("x"),)),
    )),
    Table(((Math(n("k")),), (Math(exp("k")),)), tuple((words(str(k)), words("7.3891")) for k in range(60)),
          row_heads=True),
    subtitle="With everything", fields=("Name", "Date"), sheet="3f9a-0007", recipe="symattn worksheet --seed 7",
)  # fmt: skip

EMPTY = Document("", ())

DEEP = sheet(Heading(words("starts deep"), 3), Box("", (Heading(words("deeper"), 5),)))

WIDE = sheet(
    Display((equal("A", *[matrix([10**9 + i for i in range(12)])] * 4),)),
    Display((matrix([10**9 + i for i in range(30)]),)),
    Display((equal("A", matrix(*[[WEIGHT] * 8] * 8)),), words("A lead of some words:")),
    Display(tuple(equal("x" if i == 0 else NOTHING, matrix([10**9 + i for i in range(30)])) for i in range(3))),
    Entries((equal("x", plus(*range(60))),) * 4, 3),
    Paragraph((Words("inline "), Math(equal("A", matrix([10**9 + i for i in range(6)]), 1)), Words(" x" * 60))),
    AnswerGrid(n("A"), 30, 30, "exponential"),
    Table(tuple(words(f"column {i}") for i in range(14)), (tuple((Math(WEIGHT),) for _ in range(14)),)),
    Diagram((DiagramLayer(tuple(indexed("a", i) for i in range(40)), words("remark " * 9)),
             DiagramLayer((n("X"),))), (((1, 0), (0, 39)),), "wide"),
)  # fmt: skip

HOSTILES = Document(
    HOSTILE[0],
    (
        *(block for text in HOSTILE for block in (
            Heading(words(text), 1),
            Paragraph((Words(text), Words(" "), Strong(text), Words(" "), Code(text))),
            Paragraph((Math(Text(text)),)),
            Paragraph((Math(Name(text or "x")),)),
        )),
        ItemList(tuple(words(text) for text in HOSTILE)),
        Table(tuple(words(text) for text in HOSTILE[:3]), ((*(words(text) for text in HOSTILE[4:7]),),)),
        *(Box(text, (Display((Name("q", (Text(text),), text),), words(text)),)) for text in HOSTILE),
        Diagram((DiagramLayer((Text(HOSTILE[1]),), words(HOSTILE[2])),), (), HOSTILE[3]),
    ),
    subtitle=HOSTILE[1], fields=HOSTILE[:6], sheet=HOSTILE[2], recipe=HOSTILE[4],
)  # fmt: skip

DOCUMENTS = {"all": ALL, "empty": EMPTY, "deep": DEEP, "wide": WIDE, "hostile": HOSTILES}

SOLVED = Solved(
    (paragraph("asked words"), AnswerGrid(n("S"), 2, 2)),
    (paragraph("partly words"), AnswerGrid(n("S"), 2, 2, filled=(((0, 0), n(7)),))),
    (paragraph("worked words & more"), Display((equal("S", matrix([1, 2], [3, 4])),))),
    (Paragraph(words("key words"), "M1 A2"),),
)
