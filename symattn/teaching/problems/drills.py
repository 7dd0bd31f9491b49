"""Drills: one step at a time, several short ones to a sheet (rules.md 5, type 7), with the pretty rows of 4.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import isqrt
from operator import mul
from random import Random
from typing import Any, Literal

from symattn.derivation.derivation import Derivation, Operand, Orientation, oriented, transposed
from symattn.derivation.mechanisms import Settings
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.steps import mask_op
from symattn.derivation.ops.attention import MARKED, MaskStyle, Softmax
from symattn.derivation.ops.linear import MatMul, Scale
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, decide, square_root, values_of
from symattn.exact.sums import total
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.page.document import TextLike, sentence
from symattn.page.notation import load_notation
from symattn.teaching.explanation.parts import EXACT_FORMS, answer_form, givens, instruction, mask_shown, worked
from symattn.teaching.explanation.steps import Detail, ask_step, step_title
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.features import Row, dot_counts, mixed_patterns, product_counts, row_patterns
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import Problem
from symattn.teaching.problems.asking import WORKED_OUT, Prose, make_part
from symattn.teaching.problems.derived import FrozenRows, frozen, thawed
from symattn.teaching.problems.draws import (
    Asked,
    Draw,
    Item,
    ProblemType,
    ProvedQuestion,
    Record,
    Spec,
    one_of,
    question,
    up_to,
)
from symattn.teaching.problems.systems import Rows
from symattn.teaching.question import LETTERS, MatrixAnswer, Part, answer_entries

FORMS = ("logs", "powers", "base 2", "equal", "masked", "base 3")
"""Rows of scores whose softmax is pretty: logarithms of whole numbers, whole numbers for base e, 2 or 3, equal scores,
and logarithms of which one is hidden."""

SIZES = {
    "starter": {"n": 2, "m": 2, "d_model": 2, "d_k": 2, "d_v": 2},
    "standard": {"n": 2, "m": 3, "d_model": 3, "d_k": 3, "d_v": 2},
    "long": {"n": 3, "m": 4, "d_model": 4, "d_k": 4, "d_v": 3},
}
DIVISORS = {"starter": (4, 9), "standard": (4, 9, 16), "long": (2, 3, 5, 6, 8)}
"""The d_k that scores are scaled for."""

MOST_ITEMS = 12
TRIES = 1000

SPREAD = 0.1
"""How far the arithmetic of a product may lie from its siblings', as a share."""

PARENTS = 15


class _Wanted:
    """What an item is drawn for."""

    def __init__(self, spec: Spec, rng: Random, turn: int, form: str) -> None:
        self.spec, self.rng, self.turn, self.form = spec, rng, turn, form
        self.size = {**SIZES[spec.level], **spec.sizes}

    def integers(self, rows: int, columns: int, low: int, high: int) -> Rows:
        """Whole numbers, without a line of zeros and without equal rows or columns."""
        for _ in range(TRIES):
            drawn = tuple(tuple([whole(self.rng, low, high) for _ in range(columns)]) for _ in range(rows))
            lines = (drawn, tuple(zip(*drawn, strict=True)))
            if all(len(set(ls)) == len(ls) and all(map(any, ls)) for ls in lines):
                return drawn
        raise InputError(f"There is no {rows}×{columns} matrix of numbers from {low} to {high} without equal lines.")


# ------------------------------------------------------------------------------------------------ items


@dataclass(frozen=True)
class Drill:
    """One step, with what it starts from, and what its kind has besides."""

    kind: Literal["projection", "scores", "scale", "mask", "softmax", "output"]
    given: Mapping[str, FrozenRows]
    role: str = ""
    d_k: int = 0
    mask: Any = None
    base: str = ""

    @property
    def product(self) -> tuple[str, Operand, Operand] | None:
        """What is worked out as a product, and its factors."""
        match self.kind:
            case "projection":
                return self.role, Operand("X"), Operand(f"W_{self.role}")
            case "scores":
                return "S", Operand("Q"), transposed("K")
            case "output":
                return "Z", Operand("A"), Operand("V")
        return None

    @property
    def factors(self) -> tuple[Sequence[Row], Sequence[Row]] | None:
        """The rows of the first factor, and the columns of the second."""
        if self.product is None:
            return None
        _, first, second = self.product
        left, right = ([tuple(map(_rational, row)) for row in self.given[of.name]] for of in (first, second))
        return left, right if second.transposed else list(zip(*right, strict=True))

    def derivation(self, orientation: Orientation, mask_style: MaskStyle) -> Derivation:
        """The step worked out."""
        d = Derivation(thawed(self.given))
        match self.kind:
            case "scale":
                d = d.then("S'", Scale(square_root(self.d_k), "sqrt(d_k)"), "S")
            case "mask":
                op = mask_op(Settings(mask=self.mask, mask_style=mask_style), *values_of(d.value("S'")).shape)
                assert op
                d = d.then("M", op, "S'")
            case "softmax":
                d = d.then("A", Softmax("rows", "e" if self.base == "e" else int(self.base)), "S'")
            case _:
                assert self.product is not None
                name, *operands = self.product
                d = d.then(name, MatMul(), *operands)
        return oriented(d, orientation)

    def entries(self, orientation: Orientation, mask_style: MaskStyle) -> Iterable[tuple[str, str]]:
        """The entries of its answer with where they stand.

        Most products are drawn only to be compared: their sums are worked out without a derivation.
        """
        if (factors := self.factors) is None:
            yield from answer_entries(_answer(self.derivation(orientation, mask_style)), None)
            return
        lines, others = factors if orientation == "rows" else factors[::-1]
        for i, line in enumerate(lines, 1):
            yield from ((f"[{i},{j}]", str(sum(map(mul, line, other)))) for j, other in enumerate(others, 1))


def _rational(entry: int | str) -> int | Fraction:
    return entry if isinstance(entry, int) else Fraction(entry)


SENTENCES = {
    "projection": "Project the inputs.",
    "scores": "Work out the scores of every query with every key; do not scale them.",
    "scale": "The keys have $d_k = {d_k}$ entries. Scale the scores.",
    "mask": "Mask the scaled scores.",
    "softmax": "Turn the scores of one token into weights; the base of the softmax is ${base}$.",
    "output": "The weights are given. Work out the weighted sums of the values.",
}
"""What is to be done in a drill of each kind."""


def _projection(w: _Wanted) -> Drill:
    role = "QKV"[w.turn % 3]
    x = w.integers(w.size["n"], w.size["d_model"], -1, 2)
    weights = w.integers(w.size["d_model"], w.size["d_v" if role == "V" else "d_k"], -1, 2)
    return Drill("projection", {"X": x, f"W_{role}": weights}, role=role)


def _scores(w: _Wanted) -> Drill:
    queries = w.integers(w.size["n"], w.size["d_k"], -1, 3)
    return Drill("scores", {"Q": queries, "K": w.integers(w.size["m"], w.size["d_k"], -1, 2)})


def _scaling(w: _Wanted) -> Drill:
    """Some scores are divisible and some are not."""
    divisors = DIVISORS[w.spec.level]
    d_k = divisors[w.turn % len(divisors)]
    root = isqrt(d_k) if isqrt(d_k) ** 2 == d_k else 2
    for _ in range(TRIES):
        scores = w.integers(w.size["n"], w.size["m"], -6, 9)
        if 0 < sum(not x % root for x in chain(*scores)) < w.size["n"] * w.size["m"]:
            return Drill("scale", {"S": scores}, d_k=d_k)
    raise InputError("No scores are divisible in part.")


def _masking(w: _Wanted) -> Drill:
    """Causal, unless another mask is stated; hidden scores of both signs."""
    mask = w.spec.settings.get("mask") or "causal"
    n = max(3, w.size["m"])
    keep = mask_keep(mask, n, n)
    assert keep
    for _ in range(TRIES):
        scores = w.integers(n, n, -3, 5)
        hidden = [x for x, kept in zip(chain(*scores), chain(*keep), strict=True) if not kept]
        if len(hidden) >= 2 and min(hidden) < 0 < max(hidden):
            return Drill("mask", {"S'": scores}, mask=mask)
    raise InputError("No scores are hidden that have both signs.")


def _weighing(w: _Wanted) -> Drill:
    count, rng, base = max(3, w.size["m"]), w.rng, "e"
    match w.form:
        case "logs" | "masked":
            visible = count - (w.form == "masked")
            weights = pick(rng, mixed_patterns(visible, 20, terminating=False))
            row = [f"ln({x})" if x > 1 else "0" for x in shuffled(rng, weights)]
            if w.form == "masked":
                row.insert(whole(rng, 0, visible), "-inf")
        case "equal":
            hidden = [1] + [whole(rng, 0, 1) for _ in range(count - 1)]
            score = str(whole(rng, -4, 6))
            row = ["-inf" if h else score for h in shuffled(rng, [*hidden[: count - 2], 0, 0])]
        case "powers":
            least = whole(rng, -2, 1)
            offsets = [0, *sample(rng, (1, 2, 3), 2), *(whole(rng, 0, 3) for _ in range(count - 3))]
            row = [str(least + x) for x in shuffled(rng, offsets)]
        case form:
            base, number, reach = ("2", 2, 3) if form == "base 2" else ("3", 3, 2)
            weights = pick(rng, row_patterns(count, number, reach, terminating=True))
            least = whole(rng, -1, 1)
            exponents = {number**k: k for k in range(max(weights))}
            row = [str(least + exponents[x]) for x in shuffled(rng, weights)]
    return Drill("softmax", {"S'": frozen(Matrix([row]))}, base=base)


def _mixing(w: _Wanted) -> Drill:
    """Weights that end in decimals (note 004), and whole values."""
    count = w.size["m"]
    patterns = row_patterns(count, 2, 3, terminating=True) + row_patterns(count, 3, 2, terminating=True)
    patterns += mixed_patterns(count)
    rows: list[list[Fraction]] = []
    for _ in range(TRIES):
        pattern = pick(w.rng, patterns)
        row = [Fraction(x, sum(pattern)) for x in shuffled(w.rng, pattern)]
        if row not in rows:
            rows.append(row)
        if len(rows) == w.size["n"]:
            return Drill("output", {"A": frozen(Matrix(rows)), "V": w.integers(count, w.size["d_v"], -2, 4)})
    raise InputError(f"There are no {w.size['n']} different rows of {count} weights.")


DRAWN: Mapping[str, Callable[[_Wanted], Drill]] = {
    "projection": _projection,
    "scores": _scores,
    "scale": _scaling,
    "mask": _masking,
    "softmax": _weighing,
    "output": _mixing,
}
STEPS = tuple(DRAWN)


# ------------------------------------------------------------------------------------------------ drawing


@dataclass(frozen=True)
class DrillFamily:
    """The middling load of every product (Q, K, V, S and Z), from which siblings differ by little."""

    loads: Mapping[str, float]

    def fits(self, item: Drill) -> bool:
        if item.product is None:
            return True
        centre = self.loads[item.product[0]]
        return abs(_load(item) - centre) <= SPREAD * centre


def _load(item: Drill) -> float:
    """The arithmetic of a product."""
    assert item.factors is not None
    return dot_counts(*item.factors).load


def family(spec: Spec, rng: Random) -> DrillFamily:
    loads: dict[str, float] = {}
    for turn, kind in enumerate(("projection", "projection", "projection", "scores", "output")):
        items = [DRAWN[kind](_Wanted(spec, rng, turn, "logs")) for _ in range(PARENTS)]
        assert items[0].product
        loads[items[0].product[0]] = sorted(map(_load, items))[PARENTS // 2]
    return DrillFamily(loads)


def stated(rng: Random, draw: Draw) -> Record:
    """How tokens lie, how masks are written, and in what form answers are wanted."""
    spec, settings = draw.spec, draw.spec.chosen_settings()
    return {
        "orientation": settings.orientation,
        "mask_style": settings.mask_style,
        "exact": spec.exact,
        "places": spec.places,
    }


def draw_drills(rng: Random, draw: Draw) -> list[Any]:
    spec, step, count = draw.spec, draw.option("step"), draw.option("items")
    kinds = [STEPS[k % len(STEPS)] if step == "mixed" else step for k in range(count)]
    drawn: list[Drill] = []
    for k, kind in enumerate(kinds):
        form = _form(spec.softmax, k if step == "softmax" else 0)
        for _ in range(TRIES):
            item = DRAWN[kind](_Wanted(spec, rng, k + draw.number, form))
            if item not in drawn and draw.family.fits(item):
                break
        else:
            raise InputError(f"There are no {count} different drills of {kind} at level {spec.level}.")
        drawn.append(item)
    return drawn


def _form(softmax: str, k: int) -> str:
    """Sheets of softmax alone go through every form; a sheet of all steps has the one that was asked for."""
    first = "logs" if softmax == "e" else softmax
    rest = [form for form in FORMS if form != first]
    return [first, *rest][k % len(FORMS)]


# ------------------------------------------------------------------------------------------------ making


def ask(draw: Draw) -> Asked:
    notation = load_notation(draw.notation())
    draw.together(stated)
    say = Prose(notation, orientation=draw["orientation"])
    items = [Drill(**item) for item in draw("items", lambda rng: draw_drills(rng, draw))]

    def made() -> ProvedQuestion:
        asked = [_item(item, item.derivation(draw["orientation"], draw["mask_style"]), draw, say) for item in items]
        form = answer_form(draw["exact"], draw["places"], EXACT_FORMS[True, False])
        introduction = instruction("Every item is a single step, with its own numbers.", form)
        return question(draw, asked, introduction, _conventions(items, draw["mask_style"], say))

    return made


def _item(item: Drill, d: Derivation, draw: Draw, say: Prose) -> Item:
    problem = Problem(item.kind, "", d, say.notation, exact=draw["exact"], places=draw["places"])
    wording, step = Wording(d, say.notation), d.last
    asked = (
        say(SENTENCES[item.kind], d_k=item.d_k, base=item.base),
        givens(problem, wording),
        *mask_shown(step, wording),
        *ask_step(step, wording, problem.exact),
    )
    key = worked(step, wording, Detail(places=problem.places))
    marks = () if item.kind == "mask" else WORKED_OUT

    def check(part: Part) -> str:
        """The step a second time in floating point, and weights exactly: a row is proportional to its powers."""
        self_check(d)
        return _wrong_weights(d) if item.kind == "softmax" else ""

    return Item(make_part(step_title(step, wording), asked, key, _answer(d), *marks), check, _work(d))


def _answer(d: Derivation) -> MatrixAnswer:
    return MatrixAnswer.of(d, d.last.name)


def _conventions(items: Sequence[Drill], mask_style: MaskStyle, say: Prose) -> list[TextLike]:
    kinds = {item.kind for item in items}
    lines: list[TextLike] = [say("Tokens are rows.", "Tokens are columns.")]
    if "scale" in kinds:
        lines.append(sentence("Scores are divided by {divisor}.", divisor=say.wording.read("sqrt(d_k)")))
    if "mask" in kinds:
        lines.append(MARKED[mask_style])
    if "softmax" in kinds:
        lines.append(
            say(
                "Softmax is taken along each row; a score of −∞ gets the weight 0.",
                "Softmax is taken along each column; a score of −∞ gets the weight 0.",
            )
        )
    return lines


def _work(d: Derivation) -> float:
    step = d.last
    if isinstance(step.op, MatMul):
        a, b = map(values_of, d.operands(step))
        return product_counts(a, b).load
    return float(len(list(values_of(step.result))))


# ------------------------------------------------------------------------------------------------ proving


def _wrong_weights(d: Derivation) -> str:
    weights = values_of(d.last.result)
    for x, score in zip(weights, values_of(d.value("S'")), strict=True):
        if score is NEGATIVE_INFINITY and x != 0:
            return f"a hidden score has the weight {x}"
    whole = total(list(weights))
    return "" if decide(whole, 1).equal is True else f"the weights sum to {whole}"


def _key(content: Record) -> tuple[str, ...]:
    """The entries of the question, which need not be written for it."""
    return tuple(
        f"{letter}{where}={text}"
        for letter, item in zip(LETTERS.lower(), content["items"], strict=False)
        for where, text in Drill(**item).entries(content["orientation"], content["mask_style"])
    )


TYPE = ProblemType(
    ask,
    name="drills",
    title="One-step drills",
    family=family,
    key=_key,
    options={
        "step": ("mixed", f"which step: {', '.join(STEPS)}, or mixed, all of them in turn", one_of((*STEPS, "mixed"))),
        "items": (6, f"how many drills, from 1 to {MOST_ITEMS}", up_to(MOST_ITEMS)),
    },
    defaults={"mechanism": "attention"},
    settings=("mask", "mask_style", "orientation"),
    draws=("given",),
)
