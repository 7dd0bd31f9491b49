"""Where tokens are columns: SymPy does what a way of working says, and no page says of rows what is true of columns."""

import re
from contextlib import suppress

import pytest
import sympy
from problem_laws import questions
from sentences import refused_saying

import symattn
from symattn.api import worksheet
from symattn.errors import InputError
from symattn.formula import Bracketed, Name, Product, Root, Transposed
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problems import drawn_types
from symattn.teaching.problems.choice import TYPE
from symattn.teaching.problems.ways import WAYS
from symattn.teaching.question import ChoiceAnswer

Table = sympy.Matrix
exp = sympy.exp


class Columns:
    """The matrices of a question as they lie, worked out from the inputs: S = K^T Q, softmax down, Z = V A."""

    def __init__(self, question):
        d = question.problem.derivation
        assert d.orientation == "columns"
        self.X, self.W_Q, self.W_K, self.W_V = (d.value(name).sympy() for name in ("X", "W_Q", "W_K", "W_V"))
        self.Q, self.K, self.V = self.W_Q * self.X, self.W_K * self.X, self.W_V * self.X
        self.S = self.K.T * self.Q
        self.divisor = sympy.sqrt(self.K.rows)
        self.scaled = self.S / self.divisor
        powers = self.scaled.applyfunc(exp)
        self.A = Table(*powers.shape, lambda i, j: powers[i, j] / sum(powers[:, j]))
        self.Z = self.V * self.A
        wording = Wording(d, question.problem.notation)
        names = ("X", "W_Q", "W_K", "W_V", "Q", "K", "V", "S", "A")
        self.signs = {wording.name(name): getattr(self, name) for name in names}

    def value(self, node):
        """A formula as printed, in matrices that lie as they do."""
        if node in self.signs:
            return self.signs[node]
        match node:
            case Product(factors, ""):
                return sympy.prod([self.value(factor) for factor in factors[1:]], start=self.value(factors[0]))
            case Transposed(body):
                return self.value(body).T
            case Bracketed(body):
                return self.value(body)
            case Root(Name("d", (Name("k"),))):
                return self.divisor
        raise AssertionError(node)


SAID = {
    "F": lambda c, f: f,
    "the transpose of F": lambda c, f: f.T,
    "F, without the queries and the keys": lambda c, f: f,
    "row by row: one key at a time times the queries F": lambda c, q: Table.vstack(
        *(c.K[:, j].T * q for j in range(c.K.cols))
    ),
    "every query times the key of its own token, and 0 elsewhere": lambda c: sympy.diag(
        *(c.Q[:, j].dot(c.K[:, j]) for j in range(c.Q.cols))
    ),
    "every entry of F divided by F": lambda c, s, root: s / root,
    "the queries F divided by F first, and then multiplied by F from the left": lambda c, q, root, k: k * (q / root),
    "the keys F divided by F first, and then the scores as usual": lambda c, k, root: (k / root).T * c.Q,
    "F and F both divided by the square root of F, and then the scores as usual": lambda c, q, k, root: (
        (k / sympy.sqrt(root)).T * (q / sympy.sqrt(root))
    ),
    "F divided by F before anything else": lambda c, w, root: c.K.T * (w / root * c.X),
    "F and F both divided by F, and then the scores as usual": lambda c, q, k, root: (k / root).T * (q / root),
    "every entry of F times F": lambda c, s, root: s * root,
    "every entry of F divided by the square root of the number of tokens": lambda c, s: s / sympy.sqrt(c.X.cols),
    "every entry of F divided by the square root of the width of the values": lambda c, s: s / sympy.sqrt(c.V.rows),
    "F: the inputs mixed first, and then projected": lambda c, f: f,
    "for every token j, column j of F times row j of F; all these matrices added up": lambda c, v, a: sum(
        (v[:, j] * a[j, :] for j in range(v.cols)), sympy.zeros(v.rows, a.cols)
    ),
    "every column of F times the weight that its token gives to itself": lambda c, v: Table.hstack(
        *(v[:, j] * c.A[j, j] for j in range(v.cols))
    ),
    "F, divided by the number of tokens": lambda c, f: f / c.X.cols,
}
"""What the sentences with formulas say of tokens as columns, done by hand; F is a formula, evaluated as printed."""


def sentence_and_formulas(text):
    """An option as text with F for its formulas, and the formulas."""
    [said] = text
    shown = dict(said.places)
    found = []
    for key in re.findall(r"\$[^$]*\$", said.template):
        [math] = shown[key]
        found.append(math.formula)
    return re.sub(r"\$[^$]*\$", "F", said.template), found


def done(columns, text):
    """What somebody gets who does what an option says; None where a product is not defined."""
    said, formulas = sentence_and_formulas(text)
    try:
        return SAID[said](columns, *map(columns.value, formulas))
    except sympy.matrices.exceptions.ShapeError:
        return None


def gives(columns, step, text):
    result, right = done(columns, text), {"S": columns.S, "S'": columns.scaled, "A": columns.A, "Z": columns.Z}[step]
    if result is None or result.shape != right.shape:
        return False
    return all(abs(sympy.N(x, 40)) < 1e-30 for x in result - right)


def with_all_ways(question):
    """The same question with every way that has a place in it among its options."""
    items = [
        {**item, "options": [w.id for w in WAYS.values() if w.step == item["step"]]}
        for item in question.content["items"]
    ]
    return TYPE.make({**question.content, "items": items})


def test_what_sentences_with_formulas_say_of_columns_gives_the_step_where_they_are_ticked():
    """Those without are the same in rows but for their directions, of which the next test is."""
    tried = set()
    said = {"mechanism": "self_attention", "options": {"several": True}, "notation": "columns"}
    for drawn in questions(TYPE, 1, **said):
        question = with_all_ways(drawn)
        columns = Columns(question)
        for item, part in zip(question.content["items"], question.parts, strict=True):
            for option in part.answer.options:
                sentence, _ = sentence_and_formulas(option.text)
                if sentence in SAID:
                    tried.add(sentence)
                    assert gives(columns, item["step"], option.text) == option.right, option.text
    assert tried == {*SAID}


DIRECTION = re.compile(r"\b(rows?|columns?|left(?! of its)|right)\b")
TURNED = {"row": "column", "rows": "columns", "column": "row", "columns": "rows", "left": "right", "right": "left"}


@pytest.mark.parametrize("way", WAYS.values(), ids=lambda way: way.id)
def test_what_names_a_direction_is_said_anew_of_columns(way):
    for text, *turned in (way.text, way.why):
        if words := DIRECTION.findall(text):
            assert sorted(DIRECTION.findall(*turned)) == sorted(TURNED[word] for word in words)


def test_settings_lay_tokens_as_a_notation_does():
    """Columns by the setting, in the notation of rows: the same sentences, in that notation's signs."""
    said = {"mechanism": "attention", "options": {"several": True}}
    [by_setting] = questions(TYPE, 1, **said, settings={"orientation": "columns"})
    assert load_notation("standard").settings.get("orientation", "rows") == "rows"
    [by_notation] = questions(TYPE, 1, **said, notation="columns")
    for one, other in zip(by_setting.parts, by_notation.parts, strict=True):
        texts = [[sentence_and_formulas(o.text)[0] for o in part.answer.options] for part in (one, other)]
        assert texts[0] == texts[1]


NONE = ("cross_entropy_gradient", "feed_forward", "language_model", "layer_norm")
SOME = ("cross_attention", pytest.param("kv_cache", marks=pytest.mark.slow))


@pytest.mark.parametrize("name", [*NONE, *SOME])
def test_a_mechanism_has_ways_or_a_sentence(name):
    """No sheet without a question, none whose key is wrong, in rows and in columns."""
    for stated in ({}, {"options": {"several": True}, "notation": "columns"}):
        if name in NONE:
            with refused_saying(rf"^[^\n]*{name} has none[^\n]*\.$"):
                symattn.worksheet(name, problem="choice", jobs=1, **stated)
            continue
        with suppress(InputError):  # which is a sentence: anything else is an error of the program
            [sheet] = symattn.worksheet(name, problem="choice", jobs=1, **stated)
            assert all(isinstance(part.answer, ChoiceAnswer) for part in sheet.question.parts)


# ------------------------------------------------------------------------------------------------ directions

MINE = """
title = "Tokens c_i are columns"
shapes = "index"
[settings]
orientation = "columns"
[names]
X = {matrix = "C", entry = "c_{i,j}", row = "c_i", word = "Tokens"}
W_Q = {matrix = "W_q", entry = "w^q_{i,j}"}
W_K = {matrix = "W_k", entry = "w^k_{i,j}"}
W_V = {matrix = "W_v", entry = "w^v_{i,j}"}
"""

EITHER = (
    r"A shape is rows × columns", r"\(rows × columns\)",
    r"[Rr]ow N: [\d, ./]+", r"rows and columns (exchanged|were swapped|swapped)", r"^Rows × columns:$",
    r"(sums? of products|one product|a row and a column)", r"in the row and the column",
    r"[Rr]ow N, column N", r"(one|a single) row or column", r"whole rows or columns", r"^[Rr]ow N:$", r"rows=N cols=N",
    r"^Column sums of F|column sums of F times F", "its rows are the columns of the picture", "symattn worksheet",
)  # fmt: skip
"""What is true of both: where a cell stands, how a shape is written."""

SHAPES = re.compile(r"\W*Matrix\W+Rows\W+Columns\W*")
"""The heading of a table of shapes, whose cells are no sentences."""


def directions(text):
    """The sentences that name a direction, without numbers and formulas."""
    found = set()
    for line in text.splitlines():
        if SHAPES.fullmatch(line):
            continue
        line = re.sub(r"\$[^$]*\$", "F", line)
        for said in re.split(r"(?<=[.;:|])\s+", re.sub(r"\d+(?:[./]\d+)?", "N", line)):
            said = said.strip(" |*-")
            if re.search(r"\b(rows?|columns?)\b", said, re.IGNORECASE) and not any(re.search(e, said) for e in EITHER):
                found.add(said)
    return found


def pages(
    folder, notation, problem, mechanism, options = None,
    **sizes,
):  # fmt: skip
    """All that is written of a sheet: blank, its key, common wrong answers, the overview."""
    worksheet(
        mechanism, problem=problem, notation=str(notation), seed=5, out=folder, forms=["markdown"], overview=True,
        solutions=["blank", "key", "diagnosis"], jobs=1, sizes=sizes or None, options=options,
    )  # fmt: skip
    return "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("*.md")))


KINDS = [
    ("full", "attention"), ("full", "layer_norm_gradient"), ("full", "multi_head_attention"), ("full", "kv_cache"),
    ("full", "language_model"), ("full", "recurrent_network"), ("full", "positional_self_attention"),
    *((name, "") for name in drawn_types() if name not in ("full", "block", "extensions", "gradient")),
]  # fmt: skip
"""Every operation that has a direction, and every type that asks in words of its own."""


@pytest.fixture(scope="session")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("notation") / "mine.toml"
    path.write_text(MINE, "utf-8")
    return path


@pytest.mark.covering(most=3, rest=3)
@pytest.mark.parametrize(("problem", "name"), KINDS)
def test_no_sentence_on_a_direction_is_that_of_the_other_one(problem, name, tmp_path):
    """What is said of rows where tokens are rows is said of columns, or not at all, where they are columns."""
    rows, columns = (
        directions(pages(tmp_path / lies, notation, problem, name))
        for lies, notation in (("rows", "standard"), ("columns", "columns"))
    )
    assert not rows & columns


def test_no_way_of_working_goes_the_other_way(mine, tmp_path):
    """Options that are ways of working, and why each is right or wrong."""
    rows, columns, own = (
        directions(pages(tmp_path / str(k), notation, "choice", "causal_self_attention", {"several": True}))
        for k, notation in enumerate(("standard", "columns", mine))
    )
    assert rows
    assert not {said for said in rows if "column j of F times row j of F" not in said} & (columns | own)


def test_every_letter_is_that_of_the_notation(mine, tmp_path):
    """Inputs are C there, and W_q is one of the weights: no X, and no W^Q as in the standard notation."""
    text = pages(tmp_path, mine, "full", "causal_self_attention", n=3, d_model=4)
    formulas = " ".join(re.findall(r"\$[^$]+\$", text))
    assert re.search(r"\bC\b", formulas)
    assert not re.search(r"\bX\b|W\^\{[QKV]", formulas)
    assert not re.search(r"(?<!\*\*)\b[XZ] [A-Z]ᵀ|[QKX] [QKX]ᵀ", text)
    assert {r"$W^{\top} C$", r"$Q^{\top} K$"} <= set(re.findall(r"\$[^$]+\$", text))  # P1 and T2, turned
