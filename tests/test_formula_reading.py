"""The authors' formula language: what each text becomes, what is refused and where, and nothing else ever."""

import contextlib
import os
import pickle

import oracles
import pytest
import sympy
from commands import python
from hypothesis import given
from hypothesis import strategies as st
from printed_lines import evaluated
from tables import tables_beside
from trials import tries

from symattn.errors import ReadError
from symattn.formula import (
    Annotated,
    BigSum,
    Blank,
    Bracketed,
    Call,
    Dots,
    Fraction,
    Infinity,
    ListOf,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Scope,
    Sum,
    Text,
    Transposed,
    elided_range,
    read_formula,
    written,
)

TABLES = tables_beside(__file__)

a, b, c, x = (Name(letter) for letter in "abcx")
one, two, three = (Number(digit) for digit in "123")
q12 = Name("q", (one, two))

TREES = {
    "x": x,
    "12": Number("12"),
    "0.50": Number("0.50"),
    "softmax": Name("softmax"),
    "α": Name("α"),
    '"weighted v"': Text("weighted v"),
    "∞": Infinity(),
    "-∞": Negative(Infinity()),
    "−x": Negative(x),
    "...": Dots(),
    "…": Dots(),
    "S''": Name("S", primes=2),
    "W^Q": Name("W", sup="Q"),
    "W^q_1": Name("W", (one,), "q"),
    "w^Q_{i,j}": Name("w", (Name("i"), Name("j")), "Q"),
    "q_{1,2}": q12,
    "q_1_2": q12,
    "s_{1;2}": Name("s", (ListOf((one, two), "", ","),)),
    '"Input"_1': Name("Input", (one,)),
    "hat(S)_1": Name("S", (one,), hat=True),
    "K^T": Transposed(Name("K")),
    "k_1^T": Transposed(Name("k", (one,))),
    "x^2": Power(x, two),
    "e^x": Power(Name("e"), x),
    "e^{a + b}": Power(Name("e"), Sum((a, b))),
    "e^-1": Power(Name("e"), Negative(one)),
    "a b": Product((a, b)),
    "a b c": Product((a, b, c)),
    "a·b·c": Product((a, b, c), "·"),
    "a*b": Product((a, b), "·"),
    "a × b": Product((a, b), "×"),
    "a ⊙ b": Product((a, b), "⊙"),
    "a·b c": Product((Product((a, b), "·"), c)),
    "a/b": Fraction(a, b),
    "a/b/c": Fraction(Fraction(a, b), c),
    "frac(a, b)": Fraction(a, b),
    "a + b - c": Sum((a, b, Negative(c))),
    "-a b": Negative(Product((a, b))),
    "sqrt(x)": Root(x),
    "softmax(a, b)": Call(Name("softmax"), (a, b)),
    "softmax (a)": Product((Name("softmax"), Bracketed(a))),
    "f(x)": Product((Name("f"), Bracketed(x))),
    "(a + b)": Bracketed(Sum((a, b))),
    "a = b": Relation((a, b), ("=",)),
    "a = b ≈ c": Relation((a, b, c), ("=", "≈")),
    "a -> b": Relation((a, b), ("→",)),
    "a := b": Relation((a, b), (":=",)),
    "= b": Relation((Text(""), b), ("=",)),
    "a || b": Row((a, b)),
    "a = b || c": Row((Relation((a, b), ("=",)), c)),
    "[a, b]": ListOf((a, b)),
    "[a; b]": MatrixOf(((a,), (b,))),
    "[a;]": MatrixOf(((a,),)),
    "[1, 2; 3, x]": MatrixOf(((one, two), (three, x))),
    "⟨a, b⟩": ListOf((a, b), "⟨", ","),
    "commas(a, b)": ListOf((a, b), "[", ","),
    "tuple(a, b)": ListOf((a, b), "(", ","),
    "under(a, b)": Annotated(a, b, "under"),
    "beside(a, b)": Annotated(a, b, "beside"),
    "index(a, b)": Annotated(a, b, "index"),
    "blank(decimal)": Blank("decimal"),
    "Σ_{k=1}^{3} x": BigSum(Name("k"), one, three, x),
    "Σ_{k=1}^3 a b": BigSum(Name("k"), one, three, Product((a, b))),
    "Σ_{k} x": BigSum(Name("k"), Text(""), Text(""), x),
    "Σ x": BigSum(Text(""), Text(""), Text(""), x),
    "[x for i:2]": ListOf((x, x)),
    "[x_i for i:2]": ListOf((Name("x", (one,)), Name("x", (two,)))),
    "[x_i for i:2;]": MatrixOf(((Name("x", (one,)),), (Name("x", (two,)),))),
    "[x_{i,j} for i:1, j:2]": MatrixOf(((Name("x", (one, one)), Name("x", (one, two))),)),
    "⟨x_i for i:2⟩": ListOf((Name("x", (one,)), Name("x", (two,))), "⟨", ","),
    "Q K^T": Product((Name("Q"), Transposed(Name("K")))),
    "frac(Q K^T, sqrt(d_k))": Fraction(Product((Name("Q"), Transposed(Name("K")))), Root(Name("d", (Name("k"),)))),
}


@pytest.mark.parametrize("text", TREES)
def test_what_each_text_becomes(text):
    assert read_formula(text) == TREES[text]


PLACES = TABLES["places"]


@pytest.mark.parametrize("text", PLACES)
def test_what_is_refused_is_shown_with_its_place(text):
    with pytest.raises(ReadError) as error:
        read_formula(text)
    assert error.value.position == PLACES[text]
    assert error.value.text == text
    shown, caret = error.value.pointer.split("\n")[-2:] if text.strip() else ("", "^")
    assert caret.endswith("^")
    assert len(caret) <= len(shown) + 1
    assert repr(text) in str(error.value)


def test_the_scope_supplies_numbers_sizes_names_and_slots():
    scope = Scope(
        indices={"i": 2},
        sizes={"n": 3, "N": "N"},
        names={"d_k": Name("m"), "W^Q": Name("Q")},
        slots={"values": lambda *arguments: Text("|".join(arguments))},
    )
    assert read_formula("q_i", scope) == Name("q", (two,))
    assert read_formula("i", scope) == two
    assert read_formula("sqrt(d_k)", scope) == Root(Name("m"))
    assert read_formula("X W^Q", scope) == Product((Name("X"), Name("Q")))
    assert read_formula("[x for k:n]", scope) == ListOf((x,) * 3)
    assert read_formula("@values(Q[i], S.i)", scope) == Text("Q[2]|S.2")
    assert read_formula('"Input {i} of {n}"', scope) == Text("Input 2 of 3")
    elided = read_formula("[x_k for k:N]", scope)
    assert oracles.plain(elided) == "[x_1 x_2 … x_N]"
    inputs = read_formula('["Input {k}" for k:N;]', scope)  # the last has a letter for its number
    assert [cell for (cell,) in inputs.rows if isinstance(cell, Text)] == [Text(f"Input {k}") for k in (1, 2, "N")]


def test_an_unknown_slot_lists_the_known_ones():
    with pytest.raises(ReadError, match="one of shape, values was expected"):
        read_formula("@vlaues(Q)", Scope(slots={"values": lambda q: x, "shape": lambda q: x}))


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        (1, [1]),
        (3, [1, 2, 3]),
        (8, list(range(1, 9))),
        (9, [1, 2, None, 9]),
        (512, [1, 2, None, 512]),
        ("N", [1, 2, None, "N"]),
    ],
)
def test_long_ranges_are_elided(bound, shown):
    assert elided_range(bound) == shown


def test_a_long_matrix_has_dots_in_three_directions():
    text = oracles.plain(read_formula("[x_{i,j} for i:n, j:m]", Scope(sizes={"n": "N", "m": 20})))
    assert text == "[x_{1,1} x_{1,2} … x_{1,20}; x_{2,1} x_{2,2} … x_{2,20}; … … … …; x_{N,1} x_{N,2} … x_{N,20}]"


@pytest.mark.parametrize("text", ["W^Q", "S''", "q_{1,2}", "hat(s)_i", "w^Q_{i,j}", "x", "softmax"])
def test_names_are_written_as_they_are_typed(text):
    name = read_formula(text)
    assert read_formula(written(name)) == name


def test_deep_nesting_is_refused_and_not_a_crash():
    for opening, closing in (("(", ")"), ("[", "]"), ("sqrt(", ")"), ("a_{", "}"), ("a^{", "}"), ("⟨", "⟩")):
        read_formula(opening * 15 + "x" + closing * 15)
        with pytest.raises(ReadError, match="levels of nesting"):
            read_formula(opening * 5000 + "x" + closing * 5000)
    for chain in ("-", "Σ", "Σ ", "a^", "a/", "'"):
        with contextlib.suppress(ReadError):
            assert read_formula(chain * 5000 + "x")


@pytest.mark.skipif(os.name != "posix", reason="processor time is limited on POSIX only")
def test_nested_rules_are_bounded():
    # 64 × 64 × 64 × … cells in one short line of a file that someone else wrote
    text = "x"
    for letter in "abcdef":
        text = f"[{text} for {letter}:8, {letter}{letter}:8]"
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))  # seconds of processor time: without bounds it takes for ever
from symattn.errors import ReadError
from symattn.formula import read_formula
try:
    read_formula({text!r})
except ReadError:
    print("refused")
"""
    assert python("-c", code).stdout == "refused\n"


ALPHABET = [
    *list("abxKTeiΣ∞…·×⊙*/^_'()[]{},;:@=<>|.\"-+ 0129⟨⟩$#\\\n"),
    "for",
    "frac(",
    "sqrt(",
    "hat(",
    ":=",
    "->",
    "||",
    "blank(",
]


@tries(100)
@given(st.lists(st.sampled_from(ALPHABET), max_size=25).map("".join) | st.text(max_size=30))
def test_whatever_is_typed_is_read_or_refused(text):
    try:
        formula = read_formula(text, Scope(indices={"i": 1}, sizes={"n": 2}, slots={"a": lambda *x: Text("")}))
    except ReadError as refusal:
        place, pointer = refusal.position, refusal.pointer
    else:
        place, pointer = 0, oracles.plain(formula) or "nothing but blanks in quotes"
    assert 0 <= place <= len(text)
    assert pointer


@tries(40)
@given(st.recursive(
    st.sampled_from(["2", "7", "10"]),
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "·"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    | inner.map(lambda t: f"sqrt({t}·{t})") | st.tuples(inner, inner).map(lambda t: f"frac({t[0]}, {t[1]}·{t[1]} + 1)"),
    max_leaves=6,
))  # fmt: skip
def test_what_is_read_has_the_value_that_sympy_gives(text):
    # the same text in SymPy's own syntax
    python = text.replace("·", "*")
    while "frac(" in python:
        python = python.replace("frac(", "Div(", 1)
    right = sympy.sympify(python, locals={"Div": lambda above, below: above / below})
    value = evaluated(read_formula(text))
    assert oracles.same(value, right)


def test_equal_formulas_have_one_hash_that_no_other_process_gets():
    one, other = (read_formula("S'' = softmax(frac(Q K^T, sqrt(d_x)))") for _ in range(2))
    before = pickle.dumps(one)
    assert one is not other
    assert hash(one) == hash(other) == hash(pickle.loads(before))
    assert pickle.dumps(one) == before  # the hash of a text differs from process to process
