"""Whatever a page says about its numbers is so, and nothing is said without a condition that is looked at here.

Sentences are read as words with ◊ for each formula.  `FACTS` has every one that stands in a conventions box, among the
checks, and below "What this variant cannot show", with what must be so of the numbers, worked out in NumPy; `due` says
when it must be there.  A sentence that is not among them fails.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, pairwise

import numpy as np
import pytest
from oracles import floats, plain

from symattn.derivation.derivation import StepName
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.ops import (
    Activation,
    ActivationGradient,
    Hadamard,
    Mask,
    MatMul,
    Round,
    Scale,
    Slice,
    Softmax,
    SumOver,
)
from symattn.derivation.ops.descent import Descent
from symattn.derivation.ops.jacobian import InfinityNorm, Slope
from symattn.derivation.ops.loss import CrossEntropy
from symattn.derivation.ops.normalisation import Mean, Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import Multiple, Rotate, RotateBack, Sinusoids
from symattn.derivation.ops.scores import Bias, FeatureMap, Hardmax, LogitTemperature, Over, OverSum, SoftCap
from symattn.derivation.ops.words import ArgMax, LookUp, TopK
from symattn.exact import Matrix
from symattn.formula import Formula, Relation
from symattn.page.document import Heading, ItemList, Math, Strong, Table, Words, spans
from symattn.page.notation import load_notation
from symattn.teaching.explanation.parts import checks, conventions
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness import draw
from symattn.teaching.fairness.separation import separation
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.remarks import diagnoses

Array = np.ndarray

# ------------------------------------------------------------------------------------------------ pages


@dataclass(frozen=True)
class Page:
    """A derivation with numbers, its wording, and all its matrices as arrays."""

    problem: Problem
    settings: Settings
    wording: Wording = field(repr=False)

    @cached_property
    def numbers(self):
        d = self.problem.derivation
        return {name: floats(d.value(name)) for name in (*d.givens, *(step.name for step in d))}

    def operands(self, step):
        found = []
        for o in step.operands:
            array = self.numbers[o.name]
            array = array if o.row is None else array[[o.row]]
            array = array if o.column is None else array[:, [o.column]]
            found.append(array.T if o.transposed else array)
        return found

    def steps(self, *kinds):
        """The steps with such an operation, what goes into each, and what comes of it."""
        found = [step for step in self.problem.steps if isinstance(step.op, kinds)]
        return [(step, self.operands(step), self.numbers[step.name]) for step in found]

    def named(self, formula):
        """The matrix that a formula is the name of."""
        d = self.problem.derivation
        [name] = {n for n in (*d.givens, *(s.name for s in d)) if self.wording.name(n) == formula}
        return name

    @cached_property
    def scored(self):
        """Scores before they are scaled, and the weights that softmax makes of them: by head and layer."""
        found = []
        for step, _, weights in self.steps(Softmax):
            scope = step.name.removeprefix(StepName.of(step.name).stem)
            if step.stem == "A" and f"S{scope}" in self.numbers:
                found.append((self.numbers[f"S{scope}"], weights))
        return found

    def divisors(self):
        """By what scores were divided, as the weights tell: (s − t) / log(a / b) for two weights of a row."""
        base = np.e if self.settings.base == "e" else float(self.settings.base)
        found = set()
        for scores, weights in self.scored:
            lines = zip(scores, weights, strict=True)
            for s, a in lines if self.settings.orientation == "rows" else zip(scores.T, weights.T, strict=True):
                for i, j in combinations(np.flatnonzero(a > 0), 2):
                    if not np.isclose(s[i], s[j]):
                        found.add(round(float((s[i] - s[j]) / (np.log(a[i] / a[j]) / np.log(base))), 6))
        return found


def page(name, seed=1, given=None, **stated):
    spec = problem_type("full").spec({"mechanism": name, "settings": stated})
    chosen, settings = mechanism(name), spec.chosen_settings()
    derivation = chosen.run(given or draw(chosen, settings, spec.chosen_sizes(), random.Random(seed)).givens, settings)
    problem = Problem(chosen.title, chosen.name, derivation, load_notation("standard"))
    return Page(problem, settings, Wording(derivation, problem.notation))


GIVEN = {"X": [[1, 0], [1, 2], [2, 1]], "W_Q": [[1, 0], [0, 1]], "W_K": [[1, 1], [0, 1]], "W_V": [[1, 0], [2, 1]]}
MODEL = {"E": [[1, 0], [0, 1], [1, 1]], "W_U": [[0, 1, 2], [3, 0, 1]]}
TURNED = {name: [list(row) for row in zip(*rows, strict=True)] for name, rows in MODEL.items()}
VARIED = {
    "columns": ("self_attention", {"orientation": "columns"}),
    "token by token": ("self_attention", {"by": "token"}),
    "not scaled": ("self_attention", {"scale": "none"}),
    "scaled by 3": ("self_attention", {"scale": "3"}),
    "base 2": ("causal_self_attention", {"base": 2}),
    "causal columns": ("causal_self_attention", {"orientation": "columns", "mask_style": "keep"}),
    "padding": ("self_attention", {"mask": "padding:2", "mask_style": "block"}),
    "window": ("self_attention", {"mask": "window:2"}),
    "prefix": ("self_attention", {"mask": "prefix:2"}),
    "causal and padding": ("self_attention", {"mask": "causal+padding:2"}),
    "hardmax": ("self_attention", {"weights": "hardmax"}),
    "sums": ("self_attention", {"weights": "sum", "given": GIVEN}),
    "temperature": ("self_attention", {"temperature": "2", "base": 2, "given": GIVEN}),
    "soft cap": ("self_attention", {"cap": "5", "given": GIVEN}),
    "a bias": ("self_attention", {"mask": "additive:[[0,-1,0],[0,0,0],[1,0,0]]", "given": GIVEN}),
    "alibi": ("self_attention", {"bias": "alibi", "given": GIVEN}),
    "a row that sees nothing": (
        "self_attention",
        {"mask": "[[0,0,0],[1,1,0],[0,1,1]]", "empty": "zero", "given": GIVEN},
    ),
    "blocks": ("self_attention", {"mask": "blocks:2,1"}),
    "top left": ("cross_attention", {"mask": "causal:top-left"}),
    "bottom right": ("cross_attention", {"mask": "causal"}),
    "turns": ("multi_head_attention", {"split": "interleaved"}),
    "rounded": ("self_attention", {"rounding": {"places": 1, "method": "nearest"}, "given": GIVEN}),
    "embedding": ("positional_self_attention", {"embedding": "scaled"}),
    "heads, columns": ("multi_head_attention", {"orientation": "columns"}),
    "epsilon": ("layer_norm", {"epsilon": "10^-12", "given": {"X": [[1, 9, 2], [3, 3, 5]]}}),
    "next word": (
        "language_model",
        {"words": "red, green, blue", "prompt": "green blue", "temperature": "2", "top_k": 2, "given": MODEL},
    ),
    "next word in columns": (
        "language_model",
        {"words": "numbers", "prompt": "2 3", "top_k": 2, "orientation": "columns", "given": TURNED},
    ),
    "numbered in columns": ("language_model", {"words": "red, green, blue", "orientation": "columns"}),
    "numbered": ("language_model", {"words": "numbers"}),
    "descent": ("cross_entropy_gradient", {"learning_rate": "1/10"}),
    "sample variance": ("layer_norm", {"variance": "sample", "given": {"X": [[1, 9, 2], [3, 3, 5]]}}),
}
PAGES = [*mechanisms(), *VARIED]
PAGES.remove("custom") if "custom" in PAGES else None


@cache
def shown(name):
    if name in VARIED:
        base, stated = VARIED[name]
        return page(base, 2, **stated)
    return page(name)


Said = tuple[str, list[Formula]]


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


def each(kind, result):
    """What every step with such an operation makes of its operands, worked out again as the sentence has it."""
    return lambda p, m, f: all(np.allclose(result(m, *o), r) for _, o, r in p.steps(kind))


def some(*kinds):
    """Said once where there is such a step."""
    return lambda p: int(bool(p.steps(*kinds)))


def softmax(scores, base, along):
    """Zeros where everything is hidden."""
    powers = np.power(base, scores)
    sums = powers.sum(axis=along, keepdims=True)
    return powers / np.where(sums == 0, 1, sums)


def softmax_is_so(p, m, formulas):
    """Of every softmax: along the line, and with the base, that are said."""
    base = np.e if formulas[0] == p.wording.read("e") else float(str(p.settings.base))
    return each(Softmax, lambda m, x: softmax(x, base, axis(m[1])))(p, m, formulas)


def column_sums(p, m, formulas):
    """1ᵀ(AB) = (1ᵀA)B, and the numbers that are printed are these sums."""
    product, printed, left, right = formulas
    name = p.named(product)
    step = p.problem[name]
    a, b = p.operands(step)
    assert (left, right) == tuple(map(p.wording.operand, step.operands))
    sums = p.numbers[name].sum(axis=0)
    exact = Matrix.of([[sum(column[1:], column[0]) for column in step.result.T.rows]])
    return (
        np.allclose(floats(exact)[0], sums) and printed == p.wording.values(exact) and np.allclose(sums, a.sum(0) @ b)
    )


def hidden(p):
    """Which scores each mask hides, queries as rows."""
    found = [np.isneginf(result) for step, _, result in p.steps(Mask) if step.token is None]
    return found if p.settings.orientation == "rows" else [h.T for h in found]


def masked_so(which):
    def holds(p, m, formulas):
        weights = [r for s, _, r in p.steps(Softmax) if s.stem == "A" and s.token is None]
        weights = weights if p.settings.orientation == "rows" else [a.T for a in weights]
        masks = hidden(p)
        zero = all(((a == 0) == h).all() for a, h in zip(weights[: len(masks)], masks, strict=False))
        return bool(masks) and zero and all(map(which, masks))

    return holds


def later(h):
    return np.triu(np.ones(h.shape, bool), 1)


def by_distance(h):
    n = len(h)
    return h.any() and all(
        len({bool(h[i, j]) for i in range(n) for j in range(n) if i - j == k}) <= 1 for k in range(n)
    )


def marked_so(p, m, formulas):
    """The signs in the mask that is printed are those that are named, where its scores are hidden and seen."""
    texts = {"0": "0", "1": "1", "−∞": "−∞"}
    seen, out = (m[1], m[3]) if m[2] == "visible" else (m[3], m[1])
    wanted = [
        [[texts[out if np.isneginf(value) else seen] for value in row] for row in result]
        for step, _, result in p.steps(Mask) if step.op.keep
    ]  # fmt: skip
    printed = [
        [[plain(cell) for cell in row] for row in p.wording.mask(step).rows]
        for step, _, _ in p.steps(Mask) if step.op.keep
    ]  # fmt: skip
    return printed == wanted


def largest(m, scores):
    most = scores == scores.max(axis=axis(m[1]), keepdims=True)
    return most / most.sum(axis=axis(m[1]), keepdims=True)


def variances(p, m, formulas):
    along = axis(m[1])
    ok = True
    for _, [x, *_], result in p.steps(Variance):
        less = 0 if formulas[0] == p.wording.size(x.shape[along]) else 1
        ok = ok and np.allclose(result, x.var(axis=along, ddof=less, keepdims=True))
    return ok and not any(step.op.over == "tokens" for step, *_ in p.steps(Mean))


def entry_by_entry(p, m, formulas):
    does = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh, "identity": lambda x: x}
    steps = [(s, o, r) for s, o, r in p.steps(Activation) if s.op.function]
    return bool(steps) and all(np.allclose(does[s.op.name.lower()](o[0]), r) for s, o, r in steps)


def heads_split_so(p, m, formulas):
    """Part 1 of each matrix is its first lines, and part 2 the next ones."""
    ok = True
    for step, [whole], result in p.steps(Slice):
        number = StepName.of(step.name).head or 1
        along = 1 if m[3].startswith("column") else 0
        size = result.shape[along]
        lines = np.split(whole, range(size, whole.shape[along], size), axis=along)
        ok = ok and np.allclose(lines[min(number, len(lines)) - 1], result)
    return ok


def attention_at_once(p, m, formulas):
    """Z is softmax(QKᵀ/c)V with all tokens together, for the c and the mask of the settings."""

    def whole(role):
        tokens = [p.numbers[s.name] for s in p.problem.steps if s.role == role and s.token is not None]
        found = p.numbers[role] if role in p.numbers else np.vstack(tokens)
        return found if p.settings.orientation == "rows" else found.T

    Q, K, V, Z = map(whole, "QKVZ")
    scores = Q @ K.T / (np.sqrt(K.shape[1]) if p.settings.scale == "sqrt(d_k)" else 1)
    if p.problem.mechanism == "kv_cache" or p.settings.mask == "causal":
        scores = np.where(later(scores), -np.inf, scores)
    base = np.e if p.settings.base == "e" else float(p.settings.base)
    return np.allclose(softmax(scores, base, 1) @ V, Z)


def cached_keys(p, m, formulas):
    n = len(p.numbers["X"]) if p.settings.orientation == "rows" else p.numbers["X"].shape[1]
    return (int(m[1]), int(m[2]), int(m[3])) == (n, n, sum(range(1, n + 1)))


def tenths(p, m, formulas):
    """What is rounded to tenths is given, and has no further digits."""
    names = list(map(p.named, formulas))
    return all(n in p.problem.givens and np.allclose(p.numbers[n] * 10, np.round(p.numbers[n] * 10)) for n in names)


def soft(p):
    return [s for s, *_ in p.steps(Softmax)]


def is_multiple(scaled, scores):
    """Whether one is the other divided by a number."""
    seen = ~np.isclose(scores, 0)
    return not seen.any() or np.allclose(scores, scaled * (scores[seen][0] / scaled[seen][0]))


def product_so(p, m, formulas):
    """The equation that shows which factor stands where is that of a product, and its numbers are that product."""
    of = [
        (o, r)
        for s, o, r in p.steps(MatMul)
        if Relation((p.wording.name(s.name), p.wording.rule(s)), ("=",)) == formulas[0]
    ]
    return bool(of) and all(np.allclose(a @ b, r) for (a, b), r in of)


def norms_so(p, m, formulas):
    """Entries over the root of their mean square and ε (centred first, for a layer norm)."""
    epsilon = float(floats(Matrix.of([[p.settings.epsilon]]))[0, 0])
    found = [(o, r) for _, o, r in p.steps(Standardise, Rescale)]
    centred = [o[0] - o[1] if len(o) == 3 else o[0] for o, _ in found]
    return bool(found) and all(
        np.allclose(x / np.sqrt(o[-1] + epsilon), r) for x, (o, r) in zip(centred, found, strict=True)
    )


def is_stated(formula, number):
    return plain(formula).endswith(f"= {number}")


def slope_so(p, m, formulas):
    """The bias is minus a slope times |i − j|."""
    slope = float(Fraction(plain(formulas[0])))
    return each(Bias, lambda m, x: x - slope * np.abs(np.subtract(*np.indices(x.shape))))(p, m, formulas)


def outputs(p):
    heads = [s.name for s in p.problem.steps if s.stem == "Z" and StepName.of(s.name).head]
    first = min(StepName.of(name).place for name in heads)
    return [p.numbers[name] for name in heads if StepName.of(name).place == first]


def pairs(rows):
    """The squared length of each pair of neighbouring features, which a rotation leaves."""
    return rows[:, ::2] ** 2 + rows[:, 1::2] ** 2


def lengths_kept(kind):
    return lambda p, m, f: all(np.allclose(pairs(o[0]), pairs(r)) for _, o, r in p.steps(kind))


def absolute_sums(m, x):
    return np.abs(x).sum(axis=axis(m[1])).max()


def kept_by_top_2(p, m, formulas):
    found = [r for *_, r in p.steps(TopK)]
    sums = all(np.allclose(r.sum(axis=axis(m[1])), 1) and ((r > 0).sum(axis=axis(m[1])) == 2).all() for r in found)
    return sums and is_stated(formulas[0], 2) and (m[1] == "row") == (m[2] == "to the left")


number_of_largest = each(ArgMax, lambda m, x: np.expand_dims(1 + x.argmax(axis=axis(m[1])), axis(m[1])))
ZERO = "hidden scores are −∞, so their weights are 0"
OTHERS_ZERO = "all other scores are −∞, so their weights are 0"


FACTS = (
    Fact(r"Tokens are (rows|columns)\.", lambda p, m, f: m[1] == p.settings.orientation, lambda p: 1),
    Fact(r"Products are written as in ◊\.", product_so),
    Fact(
        r"Scores are not scaled\.",
        lambda p, m, f: p.divisors() <= {1.0} and not any(s.stem == "S'" for s in p.problem.steps),
        lambda p: int(p.divisors() == {1.0}) if p.divisors() else None,
    ),
    Fact(
        r"◊ is given; it is not worked out from ◊\.",
        lambda p, m, f: {"X", "Z"} <= set(p.problem.givens) and not any(s.stem in ("S", "A") for s in p.problem.steps),
        lambda p: int({"X", "Z"} <= set(p.problem.givens)),
    ),
    Fact(
        r"Scores are divided by ◊\.",
        lambda p, m, f: p.divisors() != {1.0} and all(is_multiple(r, o[0]) for _, o, r in p.steps(Scale)),
        lambda p: int(p.divisors() != {1.0}) if p.divisors() else None,
    ),
    Fact(r"Softmax is taken along each (row|column), with base ◊\.", softmax_is_so, some(Softmax)),
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
        lambda p, m, f: np.allclose(p.numbers[p.named(f[0])].sum(axis=axis(m[1])), 1),
        lambda p: sum(
            s.token is None and np.allclose(p.numbers[s.name].sum(axis=axis(p.settings.orientation)), 1)
            for s in soft(p)
        ),
    ),
    Fact(
        r"The weights of every token sum to 1\.",
        lambda p, m, f: all(np.isclose(p.numbers[s.name].sum(), 1) for s in soft(p) if s.token),
        lambda p: int(any(s.token for s in soft(p))),
    ),
    Fact(
        r"Column sums of ◊: ◊ = column sums of ◊ times ◊\.",
        column_sums,
        lambda p: sum(s.name in ("Q", "K", "V") for s, *_ in p.steps(MatMul)),
    ),
    Fact(r"All weights at once: ◊, and exactly ◊\.", attention_at_once),
    Fact(r"With the cache, (\d+) keys and (\d+) values are worked out; without it, (\d+) of each\.", cached_keys),
    Fact(
        r"The largest score of each (row|column) gets the weight 1; ties share it\.",
        each(Hardmax, largest),
        some(Hardmax),
    ),
    Fact(
        r"A weight is its score divided by the sum of its (row|column); no powers are taken\.",
        each(OverSum, lambda m, s: s / s.sum(axis=axis(m[1]), keepdims=True)),
    ),
    Fact(
        r"Each (row|column) has its own mean and variance; the variance is the sum of the squared deviations "
        r"divided by ◊\.",
        variances,
    ),
    Fact(r"ε, added under the root, is ◊\.", norms_so),
    Fact(r"Entry by entry, ◊\.", entry_by_entry),
    Fact(
        r"⊙ multiplies entry by entry; a single row or column is used for all\.",
        each(Hadamard, lambda m, a, b, *_: a * b),
    ),
    Fact(
        r"Sum adds the entries of each (row|column)\.",
        lambda p, m, f: all(
            np.allclose(o[0].sum(axis=1 - axis(m[1])), r.ravel()) for s, o, r in p.steps(SumOver) if s.op.over == m[1]
        ),
    ),
    Fact(r"Each (row|column) of ◊ is divided by its own entry of ◊\.", each(Over, lambda m, a, b: a / b)),
    Fact(r"(Head|Block) 1 has (.*?(rows?|columns?) of ◊.*), (?:head|block) 2 the next, and so on\.", heads_split_so),
    Fact(r"◊(?:, ◊)* comes? from the forward pass, rounded to tenths; take (?:it|them) as given\.", tenths),
    Fact(
        r"Scores are divided by the temperature ◊\.",
        lambda p, m, f: is_stated(f[0], 2) and p.divisors() == {round(2 * 2**0.5, 6)},
    ),
    Fact(
        r"Logits are divided by the temperature ◊\.",
        lambda p, m, f: is_stated(f[0], 2) and each(LogitTemperature, lambda m, x: x / 2)(p, m, f),
        some(LogitTemperature),
    ),
    Fact(
        r"The words are looked up in the table in this order: ◊\.",
        lambda p, m, f: plain(f[0]) in ("green, blue", "2, 3"),
        some(LookUp),
    ),
    Fact(
        r"Each has its (row|column)\.",
        each(LookUp, lambda m, x, *_: np.take(x, [1, 2], 1 - axis(m[1]))),
        some(LookUp),
    ),
    Fact(
        r"Top-k with ◊ keeps the k largest probabilities of each (row|column), divides them by their sum, and makes "
        r"the others 0; of equal ones, those further (to the left|up) are kept\.",
        kept_by_top_2,
        some(TopK),
    ),
    Fact(
        r"The words are numbered ◊\.",
        lambda p, m, f: plain(f[0]) == "1 red, 2 green, 3 blue",
        lambda p: int(any(step.op.words for step, _, _ in p.steps(ArgMax))),
    ),
    Fact(
        r"The next word is the one with the largest probability in its (row|column), of equal ones the first; write "
        r"the word or its number\.",
        number_of_largest,
        lambda p: int(any(step.op.words for step, _, _ in p.steps(ArgMax))),
    ),
    Fact(
        r"Arg max is the number of the largest entry in a (row|column), counted from 1; of equal ones, of the first\.",
        number_of_largest,
        lambda p: int(any(not step.op.words for step, _, _ in p.steps(ArgMax))),
    ),
    Fact(
        r"Gradient descent takes one step with the learning rate ◊\.",
        lambda p, m, f: plain(f[0]).endswith("1/10") and each(Descent, lambda m, x, dx: x - dx / 10)(p, m, f),
        some(Descent),
    ),
    Fact(r"The soft cap turns each score ◊ into ◊\.", each(SoftCap, lambda m, x: 5 * np.tanh(x / 5))),
    Fact(
        r"The mask is added to the scores\.",
        each(Bias, lambda m, x, *_: np.add(x, [[0, -1, 0], [0, 0, 0], [1, 0, 0]])),
    ),
    Fact(
        r"ALiBi: the bias is minus the slope times the distance between query and key; the slope is ◊\.",
        slope_so,
    ),
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
    Fact(
        r"Weights of a (row|column) in which everything is hidden are 0\.",
        lambda p, m, f: all(
            not a[h.all(axis=1)].any() for a, h in zip([r for _, _, r in p.steps(Softmax)], hidden(p), strict=True)
        ),
    ),
    Fact(
        r"Head 1 has columns 1, (\d+), … of ◊.*, head 2 those beside them: heads take turns\.",
        lambda p, m, f: all(
            np.allclose(o[0][:, (StepName.of(s.name).head or 1) - 1 :: int(m[1]) - 1], r) for s, o, r in p.steps(Slice)
        ),
    ),
    Fact(
        r"Round to 1 decimal place, and continue with the rounded values\.",
        lambda p, m, f: all(
            np.abs(o[0] - r).max() <= 0.05 + 1e-12 and np.allclose(r * 10, np.round(r * 10))
            for _, o, r in p.steps(Round)
        ),
    ),
    Fact(
        r"The outputs of the heads stand (side by side|one below the other) in ◊, head 1 first\.",
        lambda p, m, f: np.allclose(
            np.concatenate(outputs(p), axis=1 if m[1] == "side by side" else 0), p.numbers[p.named(f[0])]
        ),
    ),
    Fact(
        r"Gradients are those of the loss ◊, as in ◊\.",
        lambda p, m, f: any(p.wording.differentiated(n) for n in p.numbers),
        lambda p: int(any(p.wording.differentiated(n) for n in p.numbers)),
    ),
    Fact(
        r"The slope of ReLU is 1 where its argument is positive, and 0 elsewhere\.",
        each(ActivationGradient, lambda m, dx, x: dx * (x > 0)),
    ),
    Fact(
        r"A condition in square brackets is 1 where it is true and 0 where it is false\.",
        lambda p, m, f: all(np.allclose(r.sum(), (o[0] > 0).sum()) for _, o, r in p.steps(Slope)),
    ),
    Fact(
        r"In the exponent, each (row|column) uses its own maximum\.",
        each(Exponentials, lambda m, x, most: np.exp(x - most)),
    ),
    Fact(
        r"max is the largest number in each (row|column), over all the matrices in the brackets\.",
        each(
            RunningMaximum,
            lambda m, *all: np.concatenate(all, axis=axis(m[1])).max(axis=axis(m[1]), keepdims=True),
        ),
    ),
    Fact(
        r"⊙ multiplies each (row|column) by its own number\.",
        lambda p, m, f: all(
            all(x.shape[axis(m[1])] == 1 and len(x) == len(r) for x in o if x.shape != r.shape)
            for _, o, r in p.steps(Accumulate)
        ),
    ),
    Fact(r"The norm is the largest sum of absolute values in a (row|column)\.", each(InfinityNorm, absolute_sums)),
    Fact(r"The key and value of a new token are cached before its query is used\.", attention_at_once),
    Fact(
        r"The loss of a token is minus the sum, over its (row|column), of target times ln of probability; ln has base "
        r"e, and a term with target 0 counts as 0\.",
        lambda p, m, f: all(
            np.allclose(-(o[1] * np.log(np.where(o[1] == 0, 1, o[0]))).sum(axis=axis(m[1])), r.ravel())
            for _, o, r in p.steps(CrossEntropy)
        ),
    ),
    Fact(
        r"The feature map is, entry by entry, ◊, which is ◊ where ◊ is positive, and ◊ elsewhere\.",
        each(FeatureMap, lambda m, x: np.where(x > 0, x + 1, np.exp(x))),
    ),
    Fact(r"Neighbouring features form pairs, and each pair is rotated: ◊\.", lengths_kept(Rotate)),
    Fact(r"Gradients are rotated back: ◊\.", lengths_kept(RotateBack)),
    Fact(
        r"The positions are ◊\.",
        lambda p, m, f: all(
            plain(f[0]).replace(" ", "") == "p=" + ",".join(map(str, range(len(r))))
            for _, _, r in p.steps(Sinusoids, Rotate)
        ),
    ),
    Fact(
        r"The (row|column) of a position is ◊\.",
        lambda p, m, f: all(np.allclose(pairs(r), 1) for *_, r in p.steps(Sinusoids)),
    ),
    Fact(r"Embeddings are multiplied by ◊\.", each(Multiple, lambda m, x: x * np.sqrt(x.shape[1]))),
    # what is agreed on, and not found
    Fact(r"The angles are: ◊(, in radians)?\."),
    Fact(r"◊ is the derivative of ◊ with respect to ◊(, ◊ is the derivative of ◊ with respect to ◊)*\."),
)


@pytest.mark.covering(most=30)
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


Ways = dict[str, dict[str, Array]]


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


SHAPES = (
    (r"(\w+) .*changes nothing here\.", "{0}: nothing", None),
    (r"(\w+) .*shows at ◊, but the last line, ◊, comes out right\.", "{0}: silent", -2),
    (r"(\w+) and (\w+) give the same result at ◊; they first differ at ◊\.", "{0} and {1}: alike", 1),
    (r"(\w+) and (\w+) give the same result at ◊ and never differ\.", "{0} and {1}: alike", None),
    (r"(\w+) and (\w+) give the same ◊\.", "{0} and {1}: merged", -1),
)
"""Sentences about wrong ways, how they begin, and which of their formulas is the step that they are about."""


def code(diagnosis):
    """The misconception that a row of a table is about."""
    first = next(spans(diagnosis))
    assert isinstance(first, Strong)
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
