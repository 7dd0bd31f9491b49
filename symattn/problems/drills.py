"""Drills: one step at a time, several short ones to a sheet (rules.md 5, type 7), with the pretty rows of 4.3."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt
from typing import Any, cast

from symattn.derivation import Derivation, transposed
from symattn.dice import pick, sample, shuffled, whole
from symattn.document import Block, Inlines, Paragraph, Words, sentence
from symattn.errors import InputError, SelfCheckError, offered
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decide, square_root
from symattn.explanation.parts import givens, mask_shown, worked
from symattn.explanation.steps import Detail, ask_step, step_title
from symattn.explanation.wording import Wording
from symattn.fairness import self_check
from symattn.fairness.features import product_counts
from symattn.fairness.patterns import mixed_patterns, row_patterns
from symattn.mechanisms.base import mask_keep, mask_kind
from symattn.notation import load_notation
from symattn.ops import Mask, MatMul, Scale, Softmax
from symattn.ops.turning import turned
from symattn.problem import Problem
from symattn.problem_file import read_given
from symattn.problems.asking import Prose
from symattn.problems.base import Family, ProblemType, Spec
from symattn.problems.derived import frozen
from symattn.question import Content, Json, Mark, MatrixAnswer, Part, Question

STEPS = ("projection", "scores", "scale", "mask", "softmax", "output")
FORMS = ("logs", "powers", "base 2", "equal", "masked", "base 3")
"""Rows of scores whose softmax is pretty: logarithms of whole numbers, whole numbers for base e, 2 or 3, equal scores,
and logarithms of which one is hidden."""

SIZES: Mapping[str, Mapping[str, int]] = {
    "starter": {"n": 2, "m": 2, "d_model": 2, "d_k": 2, "d_v": 2},
    "standard": {"n": 2, "m": 3, "d_model": 3, "d_k": 3, "d_v": 2},
    "long": {"n": 3, "m": 4, "d_model": 4, "d_k": 4, "d_v": 3},
}
DIVISORS: Mapping[str, tuple[int, ...]] = {"starter": (4, 9), "standard": (4, 9, 16), "long": (2, 3, 5, 6, 8)}
"""The d_k that scores are scaled for."""

MOST_ITEMS = 12
TRIES = 1000

Given = dict[str, Matrix]
Item = dict[str, Json]


SPREAD = 0.1
"""How far the arithmetic of a product may lie from its siblings', as a share."""

PARENTS = 15


# ------------------------------------------------------------------------------------------------ drawing


def family(spec: Spec, rng: random.Random) -> Family:
    """The middling load of every kind of product, from which siblings differ by little."""
    loads: dict[str, Json] = {}
    for kind in ("projection", "scores", "output"):
        for role in "QKV" if kind == "projection" else [""]:
            turn = "QKV".find(role)
            items = (_ITEMS[kind](_Wanted(spec, rng, turn, "logs")) for _ in range(PARENTS))
            loads[kind + role] = sorted(_item_load(item) for item in items)[PARENTS // 2]
    return {"loads": loads}


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    settings = spec.chosen_settings()
    step, count = TYPE.option(spec, "step"), TYPE.option(spec, "items")
    if step not in (*STEPS, "mixed"):
        tail = offered(step, (*STEPS, "mixed"), "one of {} was expected")
        raise InputError(f"The option step of drills is {step!r}; {tail}")
    if not 1 <= count <= MOST_ITEMS:
        raise InputError(f"The option items of drills is {count}; a number from 1 to {MOST_ITEMS} was expected.")
    kinds = [STEPS[k % len(STEPS)] if step == "mixed" else step for k in range(count)]
    drawn: list[Item] = []
    for k, kind in enumerate(kinds):
        form = _form(spec.softmax, k if step == "softmax" else 0)
        for _ in range(TRIES):
            item = _ITEMS[kind](_Wanted(spec, rng, k + number, form))
            if item not in drawn and _fits(item, family):
                break
        else:
            raise InputError(f"There are no {count} different drills of {kind} at level {spec.level}.")
        drawn.append(item)
    return {
        "type": spec.type,
        "notation": spec.notation,
        "orientation": settings.orientation,
        "mask_style": settings.mask_style,
        "exact": spec.exact,
        "places": spec.places,
        "items": cast(Json, drawn),
    }


def _fits(item: Item, family: Family) -> bool:
    centre = cast("dict[str, float]", family.get("loads", {})).get(f"{item['kind']}{item.get('role', '')}")
    return centre is None or abs(_item_load(item) - centre) <= SPREAD * centre


def _item_load(item: Item) -> float:
    return _load(derivation_of(item, {"orientation": "rows", "mask_style": "additive"}))


def _form(softmax: str, k: int) -> str:
    """Sheets of softmax alone go through every form; a sheet of all steps has the one that was asked for."""
    first = "logs" if softmax == "e" else softmax
    rest = [form for form in FORMS if form != first]
    return [first, *rest][k % len(FORMS)]


class _Wanted:
    """What an item is drawn for."""

    def __init__(self, spec: Spec, rng: random.Random, turn: int, form: str) -> None:
        self.spec, self.rng, self.turn, self.form = spec, rng, turn, form
        self.size = {**SIZES[spec.level], **spec.sizes}

    def integers(self, rows: int, columns: int, low: int, high: int) -> Matrix:
        """Whole numbers, without a line of zeros and without equal rows or columns."""
        for _ in range(TRIES):
            matrix = Matrix.of([whole(self.rng, low, high) for _ in range(columns)] for _ in range(rows))
            lines = (matrix.rows, matrix.T.rows)
            if all(len(set(ls)) == len(ls) and all(any(line) for line in ls) for ls in lines):
                return matrix
        raise InputError(f"There is no {rows}×{columns} matrix of numbers from {low} to {high} without equal lines.")


def _projection(w: _Wanted) -> Item:
    role = "QKV"[w.turn % 3]
    width = w.size["d_v" if role == "V" else "d_k"]
    x = w.integers(w.size["n"], w.size["d_model"], -1, 2)
    return _item("projection", {"X": x, f"W_{role}": w.integers(w.size["d_model"], width, -1, 2)}, role=role)


def _scores(w: _Wanted) -> Item:
    width = w.size["d_k"]
    return _item("scores", {"Q": w.integers(w.size["n"], width, -1, 3), "K": w.integers(w.size["m"], width, -1, 2)})


def _scale(w: _Wanted) -> Item:
    """Some scores are divisible and some are not."""
    divisors = DIVISORS[w.spec.level]
    d_k = divisors[w.turn % len(divisors)]
    root = isqrt(d_k) if isqrt(d_k) ** 2 == d_k else 2
    for _ in range(TRIES):
        scores = w.integers(w.size["n"], w.size["m"], -6, 9)
        if 0 < sum(cast(int, x) % root == 0 for x in scores) < w.size["n"] * w.size["m"]:
            return _item("scale", {"S": scores}, d_k=d_k)
    raise InputError("No scores are divisible in part.")


def _mask(w: _Wanted) -> Item:
    """Causal, unless another mask is stated; hidden scores of both signs."""
    kind = w.spec.settings.get("mask") or "causal"
    n = max(3, w.size["m"])
    keep = mask_keep(kind, n, n)
    assert keep
    for _ in range(TRIES):
        scores = w.integers(n, n, -3, 5)
        hidden = [
            cast(int, x)
            for row, kept in zip(scores.rows, keep, strict=True)
            for x, seen in zip(row, kept, strict=True)
            if not seen
        ]
        if len(hidden) < 2 or min(hidden) < 0 < max(hidden):
            return _item("mask", {"S'": scores}, mask=cast(Json, kind))
    raise InputError("No scores are hidden that have both signs.")


def _softmax(w: _Wanted) -> Item:
    count = max(3, w.size["m"])
    rng, base = w.rng, "e"
    match w.form:
        case "logs" | "masked":
            visible = count - (w.form == "masked")
            weights = pick(rng, mixed_patterns(visible, 20, terminating=False)).weights
            row = [_logarithm(x) for x in shuffled(rng, weights)]
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
            base = form[-1]
            reach = 3 if base == "2" else 2
            weights = pick(rng, row_patterns(count, int(base), reach, terminating=True)).weights
            least = whole(rng, -1, 1)
            row = [str(least + _exponent(x, int(base))) for x in shuffled(rng, weights)]
    return _item("softmax", {"S'": Matrix([row])}, base=base)


def _logarithm(x: int) -> str:
    return f"ln({x})" if x > 1 else "0"


def _exponent(x: int, base: int) -> int:
    return next(k for k in range(x) if base**k == x)


def _output(w: _Wanted) -> Item:
    """Weights that end in decimals (note 004), and whole values."""
    count = w.size["m"]
    patterns = row_patterns(count, 2, 3, terminating=True) + row_patterns(count, 3, 2, terminating=True)
    patterns += mixed_patterns(count)
    rows: list[list[Fraction]] = []
    for _ in range(TRIES):
        pattern = pick(w.rng, patterns)
        row = [Fraction(x, pattern.D) for x in shuffled(w.rng, pattern.weights)]
        if row not in rows:
            rows.append(row)
        if len(rows) == w.size["n"]:
            return _item("output", {"A": Matrix(rows), "V": w.integers(count, w.size["d_v"], -2, 4)})
    raise InputError(f"There are no {w.size['n']} different rows of {count} weights.")


_ITEMS: Mapping[str, Callable[[_Wanted], Item]] = {
    "projection": _projection,
    "scores": _scores,
    "scale": _scale,
    "mask": _mask,
    "softmax": _softmax,
    "output": _output,
}


def _item(kind: str, given: Given, **rest: Json) -> Item:
    return {"kind": kind, "given": {name: frozen(m) for name, m in given.items()}, **rest}


# ------------------------------------------------------------------------------------------------ making


def derivation_of(item: Mapping[str, Any], content: Content) -> Derivation:
    """The one step of an item, with tokens as rows or as columns."""
    given = {name: read_given(name, rows) for name, rows in item["given"].items()}
    d = Derivation(given)
    match item["kind"]:
        case "projection":
            d = d.then(item["role"], MatMul(), "X", f"W_{item['role']}")
        case "scores":
            d = d.then("S", MatMul(), "Q", transposed("K"))
        case "scale":
            d = d.then("S'", Scale(square_root(item["d_k"]), "sqrt(d_k)"), "S")
        case "mask":
            rows, columns = given["S'"].shape
            keep = mask_keep(item["mask"], rows, columns)
            assert keep
            d = d.then("M", Mask(keep, cast(Any, content["mask_style"]), mask_kind(item["mask"])), "S'")
        case "softmax":
            d = d.then("A", Softmax("rows", "e" if item["base"] == "e" else int(item["base"])), "S'")
        case "output":
            d = d.then("Z", MatMul(), "A", "V")
    return turned(d) if content["orientation"] == "columns" else d


def make(content: Content) -> Question:
    notation, exact, places = (
        load_notation(str(content["notation"])),
        bool(content["exact"]),
        cast(int, content["places"]),
    )
    parts: list[Part] = []
    load = 0.0
    for letter, item in zip("abcdefghijkl", cast("list[dict[str, Any]]", content["items"]), strict=False):
        d = derivation_of(item, content)
        problem = Problem(item["kind"], "", d, notation, exact=exact, places=places)
        wording, say, step = Wording(d, notation), Prose(notation), d.last
        assert isinstance(step.result, Matrix)
        ask: tuple[Block, ...] = (
            say.paragraph(_SENTENCES[item["kind"]], **_filled(item)),
            givens(problem, wording),
            *mask_shown(step, wording),
            *ask_step(step, wording, exact),
        )
        key = worked(step, wording, Detail(places=places))
        title = step_title(step, wording)
        parts.append(Part(letter, title, ask, key, MatrixAnswer.of(d, step.name), _MARKS[item["kind"]]))
        load += _load(d)
    return Question(
        type=TYPE.name,
        title=TYPE.title,
        given=(),
        parts=tuple(parts),
        content=content,
        introduction=(Paragraph(_instructions(exact, places)),),
        conventions=_conventions(content, Wording(derivation_of(_first(content), content), notation)),
        features={"load": load},
    )


def _first(content: Content) -> Mapping[str, Any]:
    return cast("list[dict[str, Any]]", content["items"])[0]


_SENTENCES = {
    "projection": "Project the inputs.",
    "scores": "Work out the scores of every query with every key; do not scale them.",
    "scale": "The keys have $d_k = {d_k}$ entries. Scale the scores.",
    "mask": "Mask the scaled scores.",
    "softmax": "Turn the scores of one token into weights; the base of the softmax is ${base}$.",
    "output": "The weights are given. Mix the values.",
}
_MARKS = {
    "projection": (Mark("M", 1), Mark("A", 1)),
    "scores": (Mark("M", 1), Mark("A", 1)),
    "scale": (Mark("M", 1), Mark("A", 1)),
    "mask": (Mark("B", 1),),
    "softmax": (Mark("M", 1), Mark("A", 1)),
    "output": (Mark("M", 1), Mark("A", 1)),
}


def _filled(item: Mapping[str, Any]) -> dict[str, str | int]:
    """What its sentence says of an item."""
    return {name: item[name] for name in ("d_k", "base") if name in item}


def _instructions(exact: bool, places: int) -> Inlines:
    if exact:
        return sentence(
            "Every item is one step on its own, with numbers of its own. Give exact values: fractions, roots and "
            "powers of e may stand as they are."
        )
    return sentence(
        "Every item is one step on its own, with numbers of its own. Give decimals with {places} places.", places=places
    )


def _conventions(content: Content, wording: Wording) -> tuple[Inlines, ...]:
    rows, kinds = (
        content["orientation"] == "rows",
        [item["kind"] for item in cast("list[dict[str, Any]]", content["items"])],
    )
    lines: list[Inlines] = [(Words("Tokens are rows." if rows else "Tokens are columns."),)]
    if "scale" in kinds:
        lines.append(sentence("Scores are divided by {divisor}.", divisor=wording.read("sqrt(d_k)")))
    if "mask" in kinds:
        lines.append((Words(_POLARITY[str(content["mask_style"])]),))
    if "softmax" in kinds:
        along_rows = "Softmax goes along each row; a score of −∞ gets the weight 0."
        along_columns = "Softmax goes along each column; a score of −∞ gets the weight 0."
        lines.append((Words(along_rows if rows else along_columns),))
    return tuple(lines)


_POLARITY = {
    "additive": "In the mask, 0 stands for seen and −∞ for hidden.",
    "multiplicative": "In the mask, 1 stands for seen and −∞ for hidden.",
    "keep": "In the mask, 1 stands for seen and 0 for hidden.",
    "block": "In the mask, 1 stands for hidden and 0 for seen.",
}


def _load(d: Derivation) -> float:
    step = d.last
    if isinstance(step.op, MatMul):
        a, b = (o.of(d.value(o.name)) for o in step.operands)
        assert isinstance(a, Matrix) and isinstance(b, Matrix)
        return product_counts(a, b).load
    return float(len(list(cast(Matrix, step.result))))


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Every step a second time in floating point, and weights exactly: a row is proportional to its powers."""
    for item in cast("list[dict[str, Any]]", question.content["items"]):
        d = derivation_of(item, question.content)
        self_check(d)
        if item["kind"] == "softmax":
            _weights_sum(d)


def _weights_sum(d: Derivation) -> None:
    total: Value = 0
    for x, score in zip(cast(Matrix, d.last.result), cast(Matrix, d.value("S'")), strict=True):
        if score is NEGATIVE_INFINITY and x != 0:
            raise SelfCheckError(f"A hidden score has the weight {x}.")
        total = total + x
    if decide(total, 1).equal is not True:
        raise SelfCheckError(f"A drill's weights sum to {total}.")


TYPE = ProblemType(
    name="drills",
    title="One-step drills",
    draw=draw,
    make=make,
    family=family,
    prove=prove,
    key=lambda content: tuple(make(content).entries()),
    options={
        "step": ("mixed", f"which step: {', '.join(STEPS)}, or mixed, all of them in turn"),
        "items": (6, f"how many drills, from 1 to {MOST_ITEMS}"),
    },
    defaults={"mechanism": "attention"},
)

__all__ = ["FORMS", "STEPS", "TYPE", "derivation_of"]
