"""Every text of the grammar that a question states is right if its value is, and no value two tolerances away is.

The numbers of the grammar are read from the question's own text, and values are worked out here, in fractions and
floats.  What follows from a known mistake has its points as well, and is no wrong value.
"""

import random
import re
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import partial
from math import ceil, floor

import canvas_reader
import cloze_reader
import numpy
import pytest
import qti_reader
import sympy
from test_bank_scores import FORMATS
from trials import at_least_one

import symattn
from symattn.api import make_recipe
from symattn.teaching.bank.items import make_bank
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.problems.counts import ITEMS, polynomial
from symattn.teaching.question import FormulaAnswer
from symattn.teaching.sheets import Setting, sheets, write_sheets

ROUNDS = 3
"""Scripts of each kind: with 33 boxes in each of two questions 198 texts and as many wrong values."""

FRACTIONS = re.compile(r"fractions such as -1/3, or decimals rounded to (\d+) to (\d+) places, .*? up to (\d+) times")
DECIMALS = re.compile(
    r"a point and without spaces, such as -0\.25\. Give at most (\d+) places, or (\d+) significant digits .*? "
    r"off by at most ([\d.]+), and by at most half of the right value if that is not 0\."
)
FOLLOWS = "This follows from a mistake in an earlier line."


def attention(dice, base):
    """Queries, keys and values of three tokens; d_k = 4, and scores that 2 and 4 divide where weights are rational."""
    times = 2 if base == 2 else 1
    Q = [[times * dice.randint(-2, 2) for _ in range(4)] for _ in range(3)]
    K, V = ([[dice.randint(-2, 2) for _ in range(k)] for _ in range(3)] for k in (4, 2))
    return {"Q": Q, "K": K, "V": V}


def worked_out(Q, K, V, base):
    """The four matrices in fractions, or in floats where there are powers of e; entries row by row."""
    scores = [[sum(map(lambda x, y: x * y, q, k)) for k in K] for q in Q]
    scaled = [[Fraction(s, 2) for s in row] for row in scores]
    powers = [[Fraction(2) ** int(s) if base == 2 else numpy.exp(float(s)) for s in row] for row in scaled]
    weights = [[p / sum(row) for p in row] for row in powers]
    output = [[sum(w * v[j] for w, v in zip(row, V, strict=True)) for j in range(2)] for row in weights]
    return [x for matrix in (scores, scaled, weights, output) for row in matrix for x in row]


class Paper:
    """A question in every format, its right values, and the grammar of each box as the page states it."""

    def __init__(self, folder, base, seed):
        self.folder, self.base, dice = folder, base, random.Random(seed)
        if base == "decimals":  # all that is no whole number is asked for with three places
            recipe = make_recipe("attention", seed=seed, exact=False, places=3, sizes={"n": 3, "d_k": 4, "d_v": 2})
            (sheet,) = sheets(recipe, 1)
            givens = {name: sheet.problem.givens[name].rows for name in "QKV"}
        else:
            givens = attention(dice, base)
            sheet = symattn.derive("attention", base=base, **givens).worksheet()
        write_sheets([sheet], folder, Setting(FORMATS, "own"))
        self.values = worked_out(**givens, base=base)
        self.question = cloze_reader.only(folder / "own.moodle.xml")
        self.item = qti_reader.only(folder / "own.qti3.zip")
        self.canvas = canvas_reader.only(folder / "own.canvas.zip")
        self.grammars = list(stated(self.question.text.split("<h4")))
        assert len(self.grammars) == len(self.values) == len(self.question.parts)

    def right(self, dice):
        """A text of the grammar for every box."""
        return [grammar.text(dice, x) for grammar, x in zip(self.grammars, self.values, strict=True)]

    def wrong(self, dice):
        """A text of the grammar for every box, of a value at least two tolerances away, that follows from nothing."""
        found = []
        for grammar, x, box in zip(self.grammars, self.values, self.question.parts, strict=True):
            text = ""
            while not text or follows(box, text):
                text = grammar.text(dice, grammar.other(dice, x))
            found.append(text)
        return found

    def follows(self, k, text):
        return follows(self.question.parts[k], text)

    def points(self, form, texts):
        """What texts are worth, of 1."""
        if form == "moodle":
            return float(self.question.points(texts, 1))
        if form == "canvas":
            return self.canvas.points(texts) / self.canvas.possible
        return qti_points(self.item, texts)


def follows(box, text):
    """Whether a text in a box follows from a mistake in an earlier line: then it has its points."""
    taken = box.taken(text)
    return bool(taken) and taken.feedback == FOLLOWS


def stated(parts):
    """The grammar of every box: what a part states holds from there on."""
    grammar = None
    for part in parts:
        kinds = ((Fractions, FRACTIONS.search(part)), (Decimals, DECIMALS.search(part)))
        found = [kind(*numbers.groups()) for kind, numbers in kinds if numbers]
        assert len(found) < 2
        grammar = found[0] if found else grammar
        yield from [grammar] * part.count("□")


class Fractions:
    """Whole numbers, fractions and rounded decimals."""

    def __init__(self, fewest, most, times):
        self.fewest, self.most, self.times = int(fewest), int(most), int(times)
        self.tolerance = Fraction(1, 2 * 10**self.fewest)

    def text(self, dice, x):
        x = Fraction(x)
        k = dice.randint(1, self.times)
        forms = [f"{k * x.numerator}/{k * x.denominator}", str(x)]
        exact = Decimal(x.numerator) / Decimal(x.denominator)
        places = Decimal(1).scaleb(-dice.randint(self.fewest, self.most))
        rounded = exact.quantize(places, dice.choice((ROUND_HALF_EVEN, ROUND_HALF_UP)))
        if rounded or not x:
            forms.append(f"{rounded + 0:f}".replace(".", dice.choice(".,")))  # and no -0.00
        return dice.choice(("", " ")) + dice.choice(forms).replace("-", dice.choice("-−"))

    def other(self, dice, x):
        """Whatever is typed of it, within a tolerance of it, is two tolerances off."""
        off = 3 * self.tolerance + Fraction(dice.randint(0, 200), dice.choice((7, 60, 100)))
        return Fraction(x) + dice.choice((1, -1)) * off


class Decimals:
    """Decimals within a tolerance, which is no more than half of the value."""

    def __init__(self, places, digits, tolerance):
        self.places, self.digits, self.tolerance = int(places), int(digits), Fraction(tolerance)

    def off(self, x):
        return min(self.tolerance, abs(x) / 2) if x else self.tolerance

    def text(self, dice, x):
        """One of the decimals with few enough places or significant digits that are near enough."""
        x = Fraction(x)
        off = self.off(x)
        written = []
        for places in range(1, self.places + 12):
            unit = 10**places
            near = range(ceil((x - off) * unit), floor((x + off) * unit) + 1)
            written += [
                (n, places) for n in near if places <= self.places or len(str(abs(n)).lstrip("0")) <= self.digits
            ]
            if len(near) > 200:
                break
        n, places = dice.choice(written)
        text = f"{Decimal(n).scaleb(-places):f}"
        return text if dice.random() < 0.7 else re.sub(r"^(-?)0\.", r"\1.", text)

    def other(self, dice, x):
        """Whatever is typed of it, within a tolerance of it, is two tolerances off."""
        return Fraction(x) + dice.choice((1, -1)) * (3 * self.tolerance + Fraction(dice.randint(0, 1000), 1000))


@pytest.fixture(scope="module", params=[("e", 1), (2, 3), ("decimals", 5)], ids=str)
def paper(request, tmp_path_factory):
    return Paper(tmp_path_factory.mktemp("grammar"), *request.param)


@pytest.mark.covering(most=1)
def test_the_form_of_answers_is_said_by_the_boxes_alone(paper):
    """The worksheet asks for fractions, roots and powers of e, and decimals from some line on."""
    first, *parts = paper.question.text.split("<h4")
    assert "<p>Fill in every box.</p>" in first
    assert not re.search("exact|fraction|powers|decimal", first)
    assert not re.search("exact values|give decimals", "".join(parts))
    irrational = any(isinstance(x, float) for x in paper.values)
    assert {type(grammar) for grammar in paper.grammars} == ({Fractions, Decimals} if irrational else {Fractions})


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("form", FORMATS)
def test_every_text_of_the_grammar_has_full_marks_and_no_value_two_tolerances_away_has_any(paper, form):
    dice = random.Random(7)
    for _ in range(ROUNDS):
        texts = paper.right(dice)
        assert paper.points(form, texts) == pytest.approx(1), texts
        texts = paper.wrong(dice)
        assert paper.points(form, texts) == 0, texts


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_right_for_a_number_other_than_zero(paper, form):
    """Neither 0 nor twice the number, which are two tolerances off where it is small."""
    small = [k for k, x in enumerate(paper.values) if isinstance(x, float) and 0 < abs(x) < 0.005]
    assert bool(small) == (paper.base == "e")
    twice = [f"{2 * x:.12f}" if k in small else "" for k, x in enumerate(paper.values)]
    for texts in (twice, *([text if x else "" for x in paper.values] for text in ("0", "0.000", "-0.00"))):
        texts = ["" if paper.follows(k, one) else one for k, one in enumerate(texts)]
        assert paper.points(form, texts) == 0


# ------------------------------------------------------------------------------------------------ letters


IN_LETTERS = re.compile(
    r"From here on, type a sum of products, multiplied out .*? letters in (any|alphabetical) order, then what is "
    r"divided by, each behind a /\. Between factors type a space, \* or nothing, but the same throughout, and \^ for "
    r"powers\. The terms may be in any order, and \+ and - may have a space on both sides\."
)


def lettered(folder):
    """A question that asks for everything that is counted in letters, in every format; the values."""
    (sheet,) = sheets(make_recipe(problem="counts", seed=3), 1)
    values = [polynomial(name) for name in ITEMS]
    part = next(part for part in sheet.question.parts if part.name == "letters 1")
    parts = tuple(replace(part, name=f"letters {k}", answer=FormulaAnswer(x)) for k, x in enumerate(values))
    bank = make_bank("Letters", [[("own", replace(sheet.question, parts=parts))]])
    for form in FORMATS:
        (folder / f"own.{form}").write_bytes(EXPORTERS[form].write(bank))
    return values


def players(folder):
    """What texts are worth in every format, of 1, by its name; the text of the question."""
    question = cloze_reader.only(folder / "own.moodle")
    canvas = canvas_reader.only(folder / "own.canvas")
    yield "moodle", lambda texts: float(question.points(texts, 1)), question.text
    yield "canvas", lambda texts: canvas.points(texts) / canvas.possible, canvas.text
    for form in ("qti21", "qti3"):
        (((_, items),), _) = qti_reader.items(folder / f"own.{form}")
        yield form, partial(qti_points, qti_reader.Item(items[0])), question.text


def qti_points(item, texts):
    outcomes = item.worked_out(dict(zip(item.declared, texts, strict=True)))
    return outcomes["SCORE"] / outcomes["MAXSCORE"]


def summed(dice, value, free):
    """A text of the grammar, made from SymPy's terms."""
    joint, space = dice.choice((" ", "*", "")), dice.choice((" ", ""))
    terms = list(sympy.Add.make_args(sympy.expand(value)))
    dice.shuffle(terms)
    text = ""
    for term in terms:
        above, below = sympy.fraction(term)
        number, rest = above.as_coeff_Mul()
        powers = sorted(rest.as_powers_dict().items(), key=lambda power: str(power[0]).lower()) if rest != 1 else []
        if free:
            dice.shuffle(powers)
        factors = [f"{base}^{e}" if e != 1 else str(base) for base, e in powers]
        front = [str(abs(number))] if abs(number) != 1 or not factors else []
        sign = "-" if number < 0 else "+" if text else ""
        sign = f"{space}{sign}{space}" if text else sign
        text += sign + joint.join(front + factors) + (f"/{below}" if below != 1 else "")
    return text


def test_every_text_of_the_grammar_of_letters_has_full_marks_and_no_other_value_has_any(tmp_path):
    values = lettered(tmp_path)
    dice = random.Random(9)
    d = sympy.Symbol("d")
    for form, points, text in at_least_one(players(tmp_path)):
        assert "Write a product of letters" not in text  # it is said once, by the grammar
        orders = []  # what a part states holds from there on
        for part in text.split("<h4")[1:]:
            orders.append(said[1] if (said := IN_LETTERS.search(part)) else orders[-1])
        free = [order == "any" for order in orders]
        assert len(free) == len(values)
        assert {*free} == {True, False}
        for _ in range(ROUNDS):
            right = [summed(dice, *pair) for pair in zip(values, free, strict=True)]
            assert points(right) == pytest.approx(1), (form, right)
            wrong = [dice.choice((x + d, 2 * x, x * d, x - sympy.Add.make_args(x)[0] + 1)) for x in values]
            assert points([summed(dice, *pair) for pair in zip(wrong, free, strict=True)]) == 0, form
