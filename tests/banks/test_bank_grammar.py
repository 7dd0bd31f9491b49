"""Every text of the grammar that a question states is right if its value is, and no value two tolerances away is.

The numbers of the grammar are read from the question's own text, and values are worked out here, in fractions and
floats.  What follows from a known mistake has its points as well, and is no wrong value.
"""

import random
import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import canvas_reader
import cloze_reader
import numpy
import pytest
import qti_reader
from test_bank_scores import FORMATS

import symattn
from symattn.teaching.sheets import Setting, write_sheets

ROUNDS = 3
"""Scripts of each kind: with 33 boxes in each of three questions 297 texts and as many wrong values."""

FRACTIONS = re.compile(r"fractions such as -1/3, or decimals rounded to (\d+) to (\d+) places, .*? up to (\d+) times")
DECIMALS = re.compile(r"a point and at most (\d+) places, such as -0\.25, without spaces\. .*? no more than ([\d.]+)\.")
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
        self.folder, dice = folder, random.Random(seed)
        givens = attention(dice, base)
        sheet = symattn.derive("attention", base=base, **givens).worksheet()
        write_sheets([sheet], folder, Setting(FORMATS, "own"))
        self.values = worked_out(**givens, base=base)
        ((self.question,), _) = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
        (((_, items),), _) = qti_reader.items(folder / "own.qti3.zip")
        self.item = qti_reader.Item(items[0])
        ((_, (self.canvas,)),) = canvas_reader.read(folder / "own.canvas.zip")
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
            while not text or (box.taken(text) and box.taken(text).feedback == FOLLOWS):
                text = grammar.text(dice, grammar.other(dice, x))
            found.append(text)
        return found

    def points(self, form, texts):
        """What texts are worth, of 1."""
        if form == "moodle":
            return float(self.question.points(texts, 1))
        if form == "canvas":
            return self.canvas.points(texts) / self.canvas.possible
        outcomes = self.item.worked_out(dict(zip(self.item.declared, texts, strict=True)))
        return outcomes["SCORE"] / outcomes["MAXSCORE"]


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
    """Decimals within a tolerance."""

    def __init__(self, places, tolerance):
        self.places, self.tolerance = int(places), Fraction(tolerance)

    def text(self, dice, x):
        places = dice.randint(2, self.places)
        unit, x = 10**places, Fraction(x)
        near = range(-int(-(x - self.tolerance) * unit // 1), int((x + self.tolerance) * unit // 1) + 1)
        n = dice.choice([n for n in near if abs(Fraction(n, unit) - x) <= self.tolerance])
        written = f"{n / unit:.{places}f}"
        return written if dice.random() < 0.7 else written.replace("0.", ".", 1) if abs(n) < unit else written

    def other(self, dice, x):
        """Whatever is typed of it, within a tolerance of it, is two tolerances off."""
        return Fraction(x) + dice.choice((1, -1)) * (3 * self.tolerance + Fraction(dice.randint(0, 1000), 1000))


@pytest.fixture(scope="module", params=[("e", 1), ("e", 2), (2, 3)], ids=str)
def paper(request, tmp_path_factory):
    return Paper(tmp_path_factory.mktemp("grammar"), *request.param)


@pytest.mark.parametrize("form", FORMATS)
def test_every_text_of_the_grammar_has_full_marks(paper, form):
    dice = random.Random(7)
    for _ in range(ROUNDS):
        texts = paper.right(dice)
        assert paper.points(form, texts) == pytest.approx(1), texts


@pytest.mark.parametrize("form", FORMATS)
def test_no_value_two_tolerances_away_has_marks(paper, form):
    dice = random.Random(8)
    for _ in range(ROUNDS):
        texts = paper.wrong(dice)
        assert paper.points(form, texts) == 0, texts


def test_the_kinds_of_boxes_are_all_tried(paper):
    kinds = {type(grammar) for grammar in paper.grammars}
    assert Fractions in kinds
    assert (Decimals in kinds) == any(isinstance(x, float) for x in paper.values)
