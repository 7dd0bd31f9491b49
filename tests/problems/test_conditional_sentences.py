"""Whatever a page says about its numbers is so, and nothing is said without a condition that is looked at here.

Sentences are read as words with ◊ for each formula.  `FACTS` has every one that stands in a conventions box, among the
checks, and below "What this variant cannot show", with what must be so of the numbers, worked out in NumPy; `due` says
when it must be there.  A sentence that is not among them fails.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, pairwise

import numpy as np
import pytest
from oracles import floats, plain
from strategies import drawn
from tables import tables_beside

from symattn.derivation.derivation import StepName
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import Activation, ActivationGradient, Round
from symattn.derivation.ops.gradient import Descent, InfinityNorm, Slope
from symattn.derivation.ops.linear import Hadamard, MatMul, Multiple, Scale, Slice, SumOver
from symattn.derivation.ops.normalisation import Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import Rotate, RotateBack, Sinusoids
from symattn.derivation.ops.scores import Bias, FeatureMap, Hardmax, LogitTemperature, Over, OverSum, SoftCap
from symattn.derivation.ops.words import ArgMax, CrossEntropy, LookUp, TopK
from symattn.exact import Matrix
from symattn.formula import Formula, Relation
from symattn.page.document import Heading, ItemList, Math, Table, Words, spans
from symattn.page.notation import load_notation
from symattn.teaching.explanation.diagnoses import diagnoses
from symattn.teaching.explanation.parts import checks, conventions
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.separation import separation
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_type

TABLES = tables_beside(__file__)

# ------------------------------------------------------------------------------------------------ pages


@dataclass(frozen=True)
class Page:
    """A derivation with numbers, its wording, and all its matrices as arrays."""

    problem: Problem
    settings: Settings
    wording: Wording = field(repr=False)

    @cached_property
    def numbers(self):
        return {name: floats(m) for name, m in self.problem.derivation.matrices.items()}

    @property
    def upright(self):
        return self.settings.orientation == "rows"

    def steps(self, *kinds):
        return [step for step in self.problem.steps if isinstance(step.op, kinds)]

    def stems(self):
        return {step.stem for step in self.problem.steps}

    def named(self, formula):
        """The matrix that a formula is the name of."""
        [name] = {n for n in self.problem.derivation.matrices if self.wording.name(n) == formula}
        return name


def page(name, seed=1, given=None, **stated):
    spec = problem_type("full").spec({"mechanism": name, "settings": stated})
    chosen, settings = mechanism(name), spec.chosen_settings()
    derivation = chosen.run(TABLES["givens"][given], settings) if given else drawn(name, seed, **stated)
    problem = Problem(chosen.title, chosen.name, derivation, load_notation("standard"))
    return Page(problem, settings, Wording(derivation, problem.notation))


VARIED = TABLES["varied"]
PAGES = [*mechanisms(), *VARIED]
PAGES.remove("custom") if "custom" in PAGES else None


@cache
def shown(name):
    if name in VARIED:
        base, stated = VARIED[name]
        return page(base, 2, **stated)
    return page(name)


def read(content):
    """A sentence as words with ◊ for each formula, and the formulas."""
    parts = list(spans(content))
    words = "".join("◊" if isinstance(part, Math) else part.text for part in parts)
    return words, [part.formula for part in parts if isinstance(part, Math)]


@cache
def sentences(name):
    """Every sentence of the conventions and the checks, each by itself; those of a mask have no formulas."""
    p = shown(name)
    items = map(read, (*conventions(p.problem, p.wording), *checks(p.problem, p.wording)))
    return tuple((one, formulas) for words, formulas in items for one in re.split(r"(?<=\.) (?=[A-Z])", words))


# ------------------------------------------------------------------------------------------------ what must be so

Holds = Callable[[Page, re.Match[str], list[Formula]], bool]
Due = Callable[[Page], int | None]


@dataclass(frozen=True)
class Fact:
    """A sentence; what must be so wherever it stands; how often it must stand on a page (None: that cannot be told).

    Without `holds` it is agreed on, and not found: it says how something is meant to be worked out.
    """

    pattern: str
    holds: Holds | None = None
    due: Due | None = None


def axis(line):
    return 1 if line.startswith("row") else 0


def along(*kinds):
    """Where there is such a step; a row is said to be a token's where tokens are rows."""

    def holds(p, m, formulas):
        line = next((group for group in m.groups() if group in ("row", "column")), "row" if p.upright else "column")
        return bool(p.steps(*kinds)) and (line == "row") == p.upright

    return holds


def some(*kinds):
    """Said once where there is such a step."""
    return lambda p: int(bool(p.steps(*kinds)))


def if_scored(condition):
    """Said once where the condition holds, on pages with scores of which weights are made."""
    return lambda p: int(condition(p)) if "S" in p.stems() and p.steps(Softmax) else None


def column_sums(p, m, formulas):
    """1ᵀ(AB) = (1ᵀA)B, and the numbers that are printed are these sums."""
    product, printed, left, right = formulas
    step = p.problem[p.named(product)]
    assert (left, right) == tuple(map(p.wording.operand, step.operands))
    exact = Matrix.of([[sum(column[1:], column[0]) for column in step.result.T.rows]])
    return np.allclose(floats(exact)[0], p.numbers[step.name].sum(axis=0)) and printed == p.wording.values(exact)


def hidden(p):
    """Which scores each mask hides, queries as rows."""
    found = [np.isneginf(p.numbers[step.name]) for step in p.steps(Mask) if step.token is None]
    return found if p.upright else [h.T for h in found]


def masked_so(which):
    return lambda p, m, formulas: bool(hidden(p)) and all(map(which, hidden(p)))


def later(h):
    return np.triu(np.ones(h.shape, bool), 1)


def by_distance(h):
    n = len(h)
    return h.any() and all(
        len({bool(h[i, j]) for i in range(n) for j in range(n) if i - j == k}) <= 1 for k in range(n)
    )


def marked_so(p, m, formulas):
    """The signs in the mask that is printed are those that are named, where its scores are hidden and seen."""
    seen, out = (m[1], m[3]) if m[2] == "visible" else (m[3], m[1])
    masks = [step for step in p.steps(Mask) if step.op.keep]
    wanted = [[[out if np.isneginf(x) else seen for x in row] for row in p.numbers[step.name]] for step in masks]
    return wanted == [[[plain(cell) for cell in row] for row in p.wording.mask(step).rows] for step in masks]


def variances(p, m, formulas):
    """By how many the sum is divided."""
    width = p.problem.derivation.value("X").shape[1 if p.upright else 0]
    whole = formulas[0] == p.wording.size(width)
    return along(Variance)(p, m, formulas) and whole == (p.settings.variance == "population")


def cached_keys(p, m, formulas):
    n = len(p.numbers["X"]) if p.upright else p.numbers["X"].shape[1]
    return (int(m[1]), int(m[2]), int(m[3])) == (n, n, sum(range(1, n + 1)))


def tenths(p, m, formulas):
    """What is rounded to tenths is given, and has no further digits."""
    names = list(map(p.named, formulas))
    return all(n in p.problem.givens and np.allclose(p.numbers[n] * 10, np.round(p.numbers[n] * 10)) for n in names)


def product_so(p, m, formulas):
    """The equation that shows which factor stands where is that of a product."""
    rules = (Relation((p.wording.name(s.name), p.wording.rule(s)), ("=",)) for s in p.steps(MatMul))
    return formulas[0] in rules


def stated(number):
    return lambda p, m, formulas: plain(formulas[0]).endswith(str(number))


def epsilon_so(p, m, formulas):
    return bool(p.steps(Standardise, Rescale)) and plain(formulas[0]) == plain(p.wording.number(p.settings.epsilon))


def sums_to_1(p, name, line):
    return np.allclose(p.numbers[name].sum(axis=axis(line)), 1)


def is_given(p, *_):
    return {"X", "Z"} <= set(p.problem.givens) and not p.stems() & {"S", "A"}


def is_differentiated(p, *_):
    return any(p.wording.differentiated(n) for n in p.numbers)


ZERO = "hidden scores are −∞, so their weights are 0"
OTHERS_ZERO = "all other scores are −∞, so their weights are 0"
WHEREVER = {
    r"The largest score of each (row|column) gets the weight 1; ties share it\.": Hardmax,
    r"Each has its (row|column)\.": LookUp,
    r"Top-k with ◊ keeps the k largest probabilities of each (row|column), divides them by their sum, and makes the "
    r"others 0; of equal ones, those further (?:to the left|up) are kept\.": TopK,
}
"""What stands once where there is such a step, and nowhere else."""
WHERE = {
    r"A weight is its score divided by the sum of its (row|column); no powers are taken\.": OverSum,
    r"Entry by entry, ◊\.": Activation,
    r"⊙ multiplies entry by entry; a single row or column is used for all\.": Hadamard,
    r"Each (row|column) of ◊ is divided by its own entry of ◊\.": Over,
    r"(?:Head|Block) 1 has .*(?:rows?|columns?) of ◊.*, (?:head|block) 2 the next, and so on\.": Slice,
    r"The soft cap turns each score ◊ into ◊\.": SoftCap,
    r"The mask is added to the scores\.": Bias,
    r"ALiBi: the bias is minus the slope times the distance between query and key; the slope is ◊\.": Bias,
    r"Round to 1 decimal place, and continue with the rounded values\.": Round,
    r"The slope of ReLU is 1 where its argument is positive, and 0 elsewhere\.": ActivationGradient,
    r"A condition in square brackets is 1 where it is true and 0 where it is false\.": Slope,
    r"In the exponent, each (row|column) uses its own maximum\.": Exponentials,
    r"max is the largest number in each (row|column), over all the matrices in the brackets\.": RunningMaximum,
    r"⊙ multiplies each (row|column) by its own number\.": Accumulate,
    r"The norm is the largest sum of absolute values in a (row|column)\.": InfinityNorm,
    r"The loss of a token is minus the sum, over its (row|column), of target times ln of probability; ln has base e, "
    r"and a term with target 0 counts as 0\.": CrossEntropy,
    r"The feature map is, entry by entry, ◊, which is ◊ where ◊ is positive, and ◊ elsewhere\.": FeatureMap,
    r"Neighbouring features form pairs, and each pair is rotated: ◊\.": Rotate,
    r"Gradients are rotated back: ◊\.": RotateBack,
    r"The (row|column) of a position is ◊\.": Sinusoids,
    r"Embeddings are multiplied by ◊\.": Multiple,
}
"""What may stand where there is such a step only."""
FACTS = (
    *(Fact(pattern, along(kind), some(kind)) for pattern, kind in WHEREVER.items()),
    *(Fact(pattern, along(kind)) for pattern, kind in WHERE.items()),
    Fact(r"Tokens are (rows|columns)\.", lambda p, m, f: m[1] == p.settings.orientation, lambda p: 1),
    Fact(r"Products are written as in ◊\.", product_so),
    Fact(
        r"Scores are not scaled\.",
        lambda p, m, f: "S'" not in p.stems(),
        if_scored(lambda p: "S'" not in p.stems()),
    ),
    Fact(r"Scores are divided by ◊\.", along(Scale), if_scored(lambda p: "S'" in p.stems())),
    Fact(r"◊ is given; it is not worked out from ◊\.", is_given, lambda p: int({"X", "Z"} <= set(p.problem.givens))),
    Fact(
        r"Softmax is taken along each (row|column), with base ◊\.",
        lambda p, m, f: along(Softmax)(p, m, f) and (f[0] == p.wording.read("e")) == (p.settings.base == "e"),
        some(Softmax),
    ),
    Fact(
        rf"No token sees a later one: {ZERO}\.",
        masked_so(lambda h: (h | later(h) == h).all() and h[later(h)].all()),
    ),
    Fact(r"Padding is hidden: its scores are −∞, so its weights are 0\.", masked_so(lambda h: h.all(axis=0).any())),
    Fact(rf"Tokens see only nearby tokens: {OTHERS_ZERO}\.", masked_so(by_distance)),
    Fact(
        rf"All tokens see the first ones; no token sees any other later one: {ZERO}\.",
        masked_so(lambda h: not h[:, 0].any() and not h[~later(h)].any() and h.any()),
    ),
    Fact(r"In the mask, (0|1) means (visible|hidden) and (0|1|−∞) means (?:visible|hidden)\.", marked_so),
    Fact(
        r"Every (row|column) of ◊ sums to 1\.",
        lambda p, m, f: sums_to_1(p, p.named(f[0]), m[1]),
        lambda p: sum(s.token is None and sums_to_1(p, s.name, p.settings.orientation) for s in p.steps(Softmax)),
    ),
    Fact(
        r"The weights of every token sum to 1\.",
        lambda p, m, f: all(np.isclose(p.numbers[s.name].sum(), 1) for s in p.steps(Softmax) if s.token),
        lambda p: int(any(s.token for s in p.steps(Softmax))),
    ),
    Fact(
        r"Column sums of ◊: ◊ = column sums of ◊ times ◊\.",
        column_sums,
        lambda p: sum(s.name in ("Q", "K", "V") for s in p.steps(MatMul)),
    ),
    Fact(r"With the cache, (\d+) keys and (\d+) values are worked out; without it, (\d+) of each\.", cached_keys),
    Fact(
        r"Each (row|column) has its own mean and variance; the variance is the sum of the squared deviations "
        r"divided by ◊\.",
        variances,
    ),
    Fact(r"ε, added under the root, is ◊\.", epsilon_so),
    Fact(
        r"Sum adds the entries of each (row|column)\.",
        lambda p, m, f: any(s.result.shape[axis(m[1])] == 1 for s in p.steps(SumOver)),
    ),
    Fact(r"◊(?:, ◊)* comes? from the forward pass, rounded to tenths; take (?:it|them) as given\.", tenths),
    Fact(r"Scores are divided by the temperature ◊\.", stated(2)),
    Fact(r"Logits are divided by the temperature ◊\.", stated(2), some(LogitTemperature)),
    Fact(
        r"The words are looked up in the table in this order: ◊\.",
        lambda p, m, f: plain(f[0]) in ("green, blue", "2, 3"),
        some(LookUp),
    ),
    Fact(
        r"The words are numbered ◊\.",
        stated("1 red, 2 green, 3 blue"),
        lambda p: int(any(step.op.words for step in p.steps(ArgMax))),
    ),
    Fact(
        r"The next word is the one with the largest probability in its (row|column), of equal ones the first; write "
        r"the word or its number\.",
        along(ArgMax),
        lambda p: int(any(step.op.words for step in p.steps(ArgMax))),
    ),
    Fact(
        r"Arg max is the number of the largest entry in a (row|column), counted from 1; of equal ones, of the first\.",
        along(ArgMax),
        lambda p: int(any(not step.op.words for step in p.steps(ArgMax))),
    ),
    Fact(r"Gradient descent takes one step with the learning rate ◊\.", stated("1/10"), some(Descent)),
    Fact(
        rf"Tokens see only their own block: {OTHERS_ZERO}\.",
        masked_so(lambda h: ((~h).astype(int) @ ~h > 0).tolist() == (~h).tolist() and (h == h.T).all() and h.any()),
    ),
    Fact(rf"Query i sees keys 1 to i: {ZERO}\.", masked_so(lambda h: (h == later(h)).all())),
    Fact(
        rf"The last query sees every key, and each query before it one key fewer; {ZERO}\.",
        masked_so(
            lambda h: [line.tolist().count(False) for line in h][::-1] == [h.shape[1] - k for k in range(len(h))]
        ),
    ),
    Fact(r"Scores that the mask hides are −∞, so their weights are 0\.", masked_so(lambda h: h.any())),
    Fact(r"Weights of a (row|column) in which everything is hidden are 0\.", masked_so(lambda h: h.all(axis=1).any())),
    Fact(
        r"Head 1 has columns 1, \d+, … of ◊.*, head 2 those beside them: heads take turns\.",
        lambda p, m, f: p.settings.split == "interleaved",
    ),
    Fact(
        r"The outputs of the heads stand (side by side|one below the other) in ◊, head 1 first\.",
        lambda p, m, f: (m[1] == "side by side") == p.upright and StepName.of(p.named(f[0])).stem == "C",
    ),
    Fact(r"Gradients are those of the loss ◊, as in ◊\.", is_differentiated, lambda p: int(is_differentiated(p))),
    Fact(
        r"The positions are ◊\.",
        lambda p, m, f: plain(f[0]).replace(" ", "") == "p=" + ",".join(map(str, range(positions(p)))),
    ),
    # what is agreed on, and not found
    Fact(r"The angles are: ◊(, in radians)?\."),
    Fact(r"All weights at once: ◊, and exactly ◊\."),
    Fact(r"The key and value of a new token are cached before its query is used\."),
    Fact(r"◊ is the derivative of ◊ with respect to ◊(, ◊ is the derivative of ◊ with respect to ◊)*\."),
)


def positions(p):
    shapes = [p.numbers[step.name].shape for step in p.steps(Sinusoids, Rotate)]
    return max(rows if p.upright else columns for rows, columns in shapes)


@pytest.mark.covering(most=20, rest=3)
@pytest.mark.parametrize("name", PAGES)
def test_every_sentence_is_so_and_what_is_so_is_said_once(name):
    p = shown(name)
    found = []
    for sentence, formulas in sentences(name):
        [(fact, m)] = [(fact, m) for fact in FACTS if (m := re.fullmatch(fact.pattern, sentence))]
        assert fact.holds is None or fact.holds(p, m, formulas), sentence
        found.append(fact.pattern)
    for fact in FACTS:
        due = fact.due(p) if fact.due else None
        assert due in (None, found.count(fact.pattern)), fact.pattern


@pytest.mark.slow
def test_no_condition_is_left_behind_by_its_sentence():
    """A pattern that no page has any more is out of date."""
    said = {sentence for name in PAGES for sentence, _ in sentences(name)}
    assert [fact.pattern for fact in FACTS if not any(re.fullmatch(fact.pattern, sentence) for sentence in said)] == []


# ------------------------------------------------------------------------------------------ what cannot be seen

SAME = 1e-9
"""Whether two entries are the same, of arrays that are worked out to 15 digits."""
TELLING = [
    "causal_self_attention", "hardmax", "next word",
    *(pytest.param(name, marks=pytest.mark.slow)
      for name in ("self_attention", "multi_head_attention", "layer_norm", "columns", "window", "base 2")),
]  # fmt: skip
"""Pages on which each kind of sentence about wrong ways stands."""


def arrays(d):
    return {s.name: floats(s.result) for s in d if isinstance(s.result, Matrix)}


def same(a, b):
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and np.allclose(a, b, rtol=0, atol=SAME)


def expected(right, wrong, usual, name):
    """How each sentence about wrong ways begins, and the step that it ends with, from the arrays alone."""

    def differs(one, other):
        return [step for step in right if not same(one.get(step), other.get(step))]

    last = list(right)[-1]
    off = {id: differs(way, right) for id, way in wrong.items()}
    quiet = [id for id in wrong if not off[id] or (off[id][0] != last and last not in off[id])]
    apart_never = set()
    for id in filter(usual, wrong):
        if not off[id]:
            yield f"{id}: nothing", None
        elif id in quiet:
            yield f"{id}: silent", name(off[id][0])
    for a, b in combinations(wrong, 2):
        if off[a] and off[b] and off[a][0] == off[b][0] and off[a][0] in wrong[a] and off[a][0] in wrong[b]:
            parts = differs(wrong[a], wrong[b])
            if off[a][0] in parts:
                continue
            if not parts:
                apart_never.add((a, b))
            if usual(a, b):
                yield f"{a} and {b}: alike", name(parts[0]) if parts else None
    for a, b in combinations([id for id in wrong if id not in quiet and last in wrong[id]], 2):
        if same(wrong[a][last], wrong[b][last]) and (a, b) not in apart_never and usual(a, b):
            yield f"{a} and {b}: merged", name(last)


TWO = r"(\w+)(?: \(.*\))? and (\w+)(?: \(.*\))?"
"""Two codes, each with its name where it stands first."""

SHAPES = (
    (r"(\w+) .*changes nothing here\.", "{0}: nothing", None),
    (r"(\w+) .*shows at ◊, but the last line, ◊, comes out right\.", "{0}: silent", -2),
    (rf"{TWO} give the same result at ◊; they first differ at ◊\.", "{0} and {1}: alike", -1),
    (rf"{TWO} give the same result at ◊ and never differ\.", "{0} and {1}: alike", None),
    (rf"{TWO} give the same ◊\.", "{0} and {1}: merged", -1),
)
"""Sentences about wrong ways, how they begin, and which of their formulas is the step that they are about."""


def code(diagnosis):
    """The misconception that a row of a table is about."""
    first = next(spans(diagnosis))
    return first.text


@pytest.mark.parametrize("name", TELLING)
def test_what_is_said_of_wrong_ways_is_what_their_arrays_say(name):
    """What a variant cannot show is exactly what is said; and in the tables of common wrong answers no row begins with
    the right line as it would be printed, and none ends in the right last line."""
    p, found = shown(name), separation(shown(name).problem.derivation)
    by_id = {w.misconception.id: w.misconception for w in found.wrongs}
    right, wrong = arrays(found.derivation), {w.misconception.id: arrays(w.derivation) for w in found.wrongs}
    together = Wording(found.derivation, p.problem.notation)

    def usual(*ids):
        some = [by_id[id] for id in ids]
        return any(m.core for m in some) or all(m.prior != "low" for m in some)

    blocks = diagnoses(p.problem, found)
    title = Heading((Words("What this variant cannot show"),), 1)
    said = []
    for heading, block in pairwise(blocks):
        for words, formulas in map(read, block.items) if heading == title and isinstance(block, ItemList) else ():
            [(m, shape, at)] = [(m, *rest) for pattern, *rest in SHAPES if (m := re.fullmatch(pattern, words))]
            said.append((shape.format(*m.groups()), None if at is None else formulas[at]))
    assert sorted(said, key=str) == sorted(expected(right, wrong, usual, together.name), key=str)

    last = list(right)[-1]
    for table in (block for block in blocks if isinstance(block, Table)):
        step = next(s for s in found.derivation if list(spans(table.header[0]))[1] == Math(together.name(s.name)))
        whole = all(isinstance(x, int) for x in step.result)
        printed = together.values(step.result) if whole else together.rounded(step.result, min(p.problem.places, 3))
        for *cells, diagnosis in table.rows:
            id = code(diagnosis)
            assert cells[0] != (Math(printed),)
            assert last not in wrong[id] or step.name == last or not same(wrong[id][last], right[last]), id


def test_what_is_lost_in_rounding_is_no_common_wrong_answer():
    """Without ε = 10⁻¹² a norm has the same decimals, and so no row in the table."""
    p, found = shown("epsilon"), separation(shown("epsilon").problem.derivation)
    without = [w for w in found.wrongs if w.first and same(floats(w.value(w.first)), floats(w.right.value(w.first)))]
    assert without
    tables = (block for block in diagnoses(p.problem, found) if isinstance(block, Table))
    assert not {code(row[-1]) for table in tables for row in table.rows} & {w.misconception.id for w in without}
