"""How formulas are written: every node in every format."""

import re

import pytest
from writer_samples import FORMULAS, matrix, n, over, sheet, times

from symattn.formula.nodes import Number, Relation, children
from symattn.formula.speech import speak
from symattn.page.document import Math, Paragraph, Words
from symattn.page.writers import FORMATS

# formula | LaTeX | Typst | text
LINES = r"""
negative                 | -3 | −\3 | −3
minus a sum              | -(1 + 2) | −(\1 + \2) | −(1 + 2)
decimal comma            | 0{,}50 | 0","50 | 0,50
greek letter             | \alpha | α | α
word                     | \mathrm{Input} | upright("Input") | Input
index                    | q_{12} | attach(q, b: \1 \2) | q₁₂
index of several figures | q_{10,2} | attach(q, b: 10\,\2) | q₁₀,₂
index word               | W_{\mathrm{query}} | attach(W, b: upright("query")) | W_query
label                    | W^{Q} | attach(W, t: Q) | W^Q
primes                   | S'' | attach(S, t: ′′) | S′′
primes and index         | S_{1}' | attach(S, b: \1, t: ′) | S′₁
hat                      | \hat s_{12} | attach(hat(s), b: \1 \2) | ŝ₁₂
infinity                 | -\infty | −∞ | −∞
sum                      | a - b + c - (d + 1) | a − b + c − (d + \1) | a − b + c − (d + 1)
dot product              | s_{12} = 1 \cdot 0 + 0 \cdot (-1) + 2 \cdot 3 = 6 | attach(s, b: \1 \2) = \1 ⋅ \0 + \0 ⋅ \(−\1\) + \2 ⋅ \3 = \6 | s₁₂ = 1·0 + 0·(−1) + 2·3 = 6
negative factor first    | (-1) \cdot 2 | \(−\1\) ⋅ \2 | (−1)·2
negative factor last     | a (-b) | a (−b) | a(−b)
negative factor unsigned | -a b | −a b | −ab
product of sums          | (a + 1) (b - 2) | (a + \1) (b − \2) | (a + 1)(b − 2)
figures side by side     | 2 \cdot 3 | \2 ⋅ \3 | 2·3
fraction                 | \frac{1}{2} | frac(\1, \2) | 1/2
power of a sum           | (a + b)^{2} | attach((a + b), t: \2) | (a + b)²
fraction in an exponent  | e^{(1 + a)/(2 b)} | attach(e, t: (\1 + a)\/(\2 b)) | e^((1 + a)/(2b))
half of x in an exponent | e^{(1/2) x} | attach(e, t: (\1\/\2) x) | e^((1/2)x)
root                     | \sqrt{3} | sqrt(\3) | √3
root of a sum            | \sqrt{x + 1} | sqrt(x + \1) | √(x + 1)
transposed               | K^{\top} | attach(K, t: ⊤) | Kᵀ
transposed with a label  | (W^{Q})^{\top} | attach((attach(W, t: Q)), t: ⊤) | (W^Q)ᵀ
call                     | \operatorname{softmax}(S) | op("softmax") (S) | softmax(S)
list                     | [1 \;\; 0 \;\; {-1}] | [\1 #h(0.6em) \0 #h(0.6em) −\1] | [1  0  −1]
list with commas         | \langle 1, 0, -1 \rangle | ⟨\1\, \0\, −\1⟩ | ⟨1, 0, −1⟩
shape                    | (3, 4) | (\3\, \4) | (3, 4)
cross shape              | 3 \times 4 | \3 × \4 | 3×4
note under               | \underset{(3, 4)}{X} \, \underset{(4, 3)}{W^{Q}} | attach(limits(X), b: (\3\, \4)) thin attach(limits(attach(W, t: Q)), b: (\4\, \3)) | X (3, 4) W^Q (4, 3)
big sum                  | \sum_{i=1}^{n} a_{i} v_{i} | attach(∑, b: i = \1, t: n) attach(a, b: i) attach(v, b: i) | Σᵢ₌₁^n aᵢvᵢ
continued                | {} = 1 \geq 2 | = \1 ≥ \2 | = 1 ≥ 2
transposed matrix        | \begin{bmatrix} 1 & 0 \\ 2 & 3 \end{bmatrix}^{\top} | attach(mat(delim: "[", \1, \0; \2, \3), t: ⊤) | [1 0; 2 3]ᵀ
matrix with commas       | \begin{bmatrix} 1, & 0, & 1, \\ 1, & 0, & 0 \end{bmatrix} | mat(delim: "[", \1\,, \0\,, \1\,; \1\,, \0\,, \0) | [1, 0, 1; 1, 0, 0]
nested matrix            | \begin{bmatrix} {}[1 & 0 & 2] \\ {}[-2 & 2 & 2] \end{bmatrix} | mat(delim: "[", \[ #h(0.778em) \1, #h(0.389em) \0 #h(0.389em) , #h(0.389em) \2 #h(0.389em)  \]; \[ −\2, \2, \2 \]) | [[1 0 2] [−2 2 2]]
"""  # noqa: E501
CASES = [tuple(map(str.strip, line.split(" | "))) for line in LINES.strip().splitlines()]


@pytest.mark.parametrize(("name", "latex", "typst", "text"), CASES, ids=[case[0] for case in CASES])
def test_a_formula_is_written(name, latex, typst, text):
    from symattn.page.writers.characters import on_one_line

    formula = FORMULAS[name]
    assert " ".join(FORMATS["latex"].formula(formula).split()) == latex
    assert FORMATS["typst"].formula(formula) == typst
    assert on_one_line(formula) == text


DRAWN = """
⎡ 1   0  −1 ⎤
⎣ 2  14   3 ⎦

⎛  1   1/2 ⎞
⎝ −3  −1/3 ⎠

⎡ [ 1  0  2] ⎤
⎣ [−2  2  2] ⎦

     k₁   k₂
q₁ ⎡ 0   ░−∞░ ⎤
q₂ ⎣ 5    7   ⎦

⎡ 1  0 ⎤ᵀ
⎣ 2  3 ⎦

  X     W^Q
(3, 4) (4, 3)

 n
 Σ  aᵢvᵢ
i=1

       ⎛  S  ⎞
softmax⎜ ─── ⎟
       ⎝ √dₖ ⎠

S = QKᵀ = ⎡ 2   4 ⎤
          ⎣ 4  16 ⎦
"""
NAMES = ("matrix", "matrix of fractions", "nested matrix", "labelled matrix", "transposed matrix", "note under",
         "big sum", "call of a fraction", "chain")  # fmt: skip


@pytest.mark.parametrize(("name", "drawing"), list(zip(NAMES, DRAWN.strip("\n").split("\n\n"), strict=True)))
def test_a_formula_is_drawn(name, drawing):
    assert FORMATS["text"].formula(FORMULAS[name]) == drawing


@pytest.mark.parametrize("name", list(FORMULAS))
def test_every_number_is_written_and_spoken(name):
    words = [word.strip(":;,") for word in speak(FORMULAS[name]).split()]
    for number in numbers(FORMULAS[name]):
        words.remove(number)
    figures = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789" * 2)
    for writer in FORMATS.values():
        source = re.sub(r'\{,\}|","', ",", writer.formula(FORMULAS[name])).translate(figures)
        for number in numbers(FORMULAS[name]):
            assert re.search(rf"(?<!\d){re.escape(number)}(?!\d)", source) or number in source


def numbers(formula):
    own = [formula.digits] if isinstance(formula, Number) else []
    return own + [number for child in children(formula) for number in numbers(child)]


def test_speech():
    assert speak(FORMULAS["chain"]) == ("S equals Q times K transposed equals 2 by 2 matrix, row 1: 2, 4; row 2: 4, 16")
    assert speak(FORMULAS["fraction in an exponent"]) == (
        "e to the power the fraction 1 plus a over 2 times b, end of fraction, end of exponent"
    )


@pytest.mark.parametrize("name", list(FORMULAS))
def test_brackets_are_balanced(name):
    for format in ("latex", "markdown"):
        source = FORMATS[format].formula(FORMULAS[name])
        assert source.count("{") == source.count("}")
        assert source.count("\\begin{") == source.count("\\end{")
        assert source.count("\\left") - source.count("\\left[\\right") >= 0


def test_text_is_cut_where_the_terminal_ends():
    long = Relation((n("q"), *(matrix(list(range(100, 108))) for _ in range(4))), ("=",) * 4)
    lines = FORMATS["text"].formula(long).split("\n")
    assert len(lines) > 1
    assert max(map(len, lines)) <= 100
    assert all(line.startswith(("q =", "  =")) for line in lines)


def test_formulas_with_a_cross_between_are_one_in_latex():
    """As people type them; a dollar sign that somebody wrote is no formula's."""
    shape = (Words("X is "), Math(n("n")), Words("×"), Math(n("d")), Words("; $×"), Math(n("m")))
    assert r"X is $n \times d$; \$$\times$$m$" in FORMATS["latex"].write(sheet(Paragraph(shape)))
    partial = over(times("∂", "L"), times("∂", "Z"))
    assert FORMATS["latex"].formula(partial) == FORMATS["markdown"].formula(partial) == r"\frac{\partial L}{\partial Z}"
