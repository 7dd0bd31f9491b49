"""Multiple choice whose wrong options are what misconceptions lead to (rules.md 5, type 5).

With `several`, the options are ways of working, among them some that look wrong and are right (rules.md 2.6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from random import Random
from typing import Literal

from symattn.derivation.derivation import Derivation, Step, Style, oriented, turned_step
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.misconceptions import drawn_misconceptions, replayed
from symattn.derivation.misconceptions.base import Misconception, ReplacementOp, WrongDerivation
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.slips import SLIPS, slips
from symattn.errors import InputError
from symattn.exact import (
    NEGATIVE_INFINITY,
    Matrix,
    Value,
    decimal_text,
    values_of,
)
from symattn.formula import Formula, Name, decimal, equal, shortest
from symattn.formula.width import width
from symattn.foundation.dice import sample, shuffled
from symattn.foundation.languages import message
from symattn.page.document import Inlines, sentence
from symattn.teaching.explanation.diagnoses import diagnosis
from symattn.teaching.explanation.steps import ends_within, step_title
from symattn.teaching.explanation.wording import LINE, Wording, terminates
from symattn.teaching.fairness.separation import Separation
from symattn.teaching.problem import Problem
from symattn.teaching.problems import derived
from symattn.teaching.problems.asking import Offer, Prose, choice_part, put_in, ticks
from symattn.teaching.problems.derived import Family, balanced_places
from symattn.teaching.problems.draws import Draw, Item, ProvedQuestion, Record, Spec, up_to
from symattn.teaching.problems.ways import WAYS, Entries, apart, gives, size

FIRST = ("A", "Z", "S'", "S", "formula", "M", "V", "Q", "K")
"""What is asked about where there is not room for everything."""

FORMULAS = ("S", "Z")
"""Whose formula may be asked for."""

ORDER = ("formula", "Q", "K", "V", "S", "S'", "M", "A", "Z")
WRONG = {"starter": 3, "standard": 3, "long": 4}
"""How many wrong options there are."""

WAYS_OF = ("S", "S'", "A", "Z")
"""The steps whose ways of working are asked for with `several`."""

MOST_ITEMS = 12
WAYS_SHOWN = 5
REDRAWN = 60
SHORT = 4
"""The most places of a short decimal."""
MORE = 8
"""How many places more a small number may get."""


# ------------------------------------------------------------------------------------------------ drawing


def family(spec: Spec, rng: Random) -> Family:
    """With the places of the right options, item by item."""
    shared = derived.family(spec, rng)
    return replace(shared, places=balanced_places(rng, WRONG[spec.level] + 1, MOST_ITEMS))


@dataclass(frozen=True)
class ChoiceItem:
    """One token's row of a step, its formula, or all ways of working it out are to be found.

    Of the `options`, "" is the right one; others are the misconceptions that lead to them, or slips as "A2 1 5": the
    slip, the entry of the row, its value.  Ways are options by their ids.
    """

    kind: Literal["row", "formula", "ways"]
    step: str
    token: int | None = None
    options: tuple[str, ...] = ()


def draw_variant(rng: Random, draw: Draw) -> Record:
    """A derivation, and what is asked of it."""
    several = draw.option("several")
    for _ in range(REDRAWN):
        drawn = derived.drawn_numbers(rng, draw)
        separated = derived.made(drawn).separation
        items = _several(separated, draw, rng) if several else _items(separated, draw, rng)
        if items is not None:
            return {**drawn, "several": several, "items": items}
    raise InputError(f"No variant of {draw.spec.mechanism} with these sizes gives enough different wrong options.")


def _items(separated: Separation, draw: Draw, rng: Random) -> list[ChoiceItem] | None:
    """The items of a variant; None if one of them has too few wrong options on a side of the right one."""
    number, wrong = draw.number, WRONG[draw.spec.level]
    there = {step.name for step in separated.derivation if isinstance(step.result, Matrix)}
    slots = [slot for slot in FIRST if slot in there or (slot == "formula" and there.issuperset(FORMULAS))]
    if not slots:
        steps = ", ".join(slot for slot in ORDER if slot != "formula")
        raise InputError(
            f"Multiple choice asks about the steps {steps}, and {draw.spec.mechanism} has none that is called so; "
            "another mechanism or another problem type was expected."
        )
    kinds = sorted((slots[k % len(slots)] for k in range(draw.option("items"))), key=ORDER.index)
    items: list[ChoiceItem] = []
    for k, kind in enumerate(kinds):
        place = draw.family.place(k, number)
        if kind == "formula":
            item = _formula_item(separated, FORMULAS[(number + kinds[:k].count(kind)) % 2], place, wrong, rng)
        else:
            asked = [i.token for i in items if i.kind == "row" and i.step == kind]
            item = _row_item(separated, kind, number + k, asked, place, wrong, rng)
        if item is None:
            return None
        items.append(item)
    return items


def _formula_item(separated: Separation, name: str, place: int, wrong: int, rng: Random) -> ChoiceItem | None:
    rules = [m.id for m, _ in rewritten(separated.derivation, name)]
    if len(rules) < wrong:
        return None
    options = sample(rng, rules, wrong)
    return ChoiceItem("formula", name, options=put_in(options, place, ""))


def rewritten(d: Derivation, name: str) -> Iterator[tuple[Misconception, Step]]:
    """The misconceptions that are a formula of their own for a step, such as K Qᵀ for the scores."""
    rows = oriented(d, "rows")
    right = rows[name]
    seen = [_formula(right)]
    for m in drawn_misconceptions():
        step = (m.change(rows) or {}).get(name) if m.at == name else None
        if step and not isinstance(step.op, ReplacementOp) and _formula(step) not in seen:
            seen.append(_formula(step))
            yield m, step if d.orientation == "rows" else turned_step(step)


def _formula(step: Step) -> Formula:
    return step.op.written(Style(), *(Name(str(operand)) for operand in step.operands))


def _row_item(
    separated: Separation, name: str, turn: int, asked: Sequence[int | None], place: int, wrong: int, rng: Random
) -> ChoiceItem | None:
    """One token's row of a step; the token takes turns, but for those whose row gives too few wrong options."""
    tokens = len(_by_token(separated.derivation, values_of(separated.derivation.value(name))))
    for shift in range(tokens):
        token = (turn + shift) % tokens
        if token not in asked and (options := _options(separated, name, token, place, wrong, rng)) is not None:
            return ChoiceItem("row", name, token, options)
    return None


def _options(
    separated: Separation, name: str, token: int, place: int, wrong: int, rng: Random
) -> tuple[str, ...] | None:
    """Diagnoses in the order of their values, "" for the right one at its place; None if there are too few."""
    key = row_of(separated.derivation, name, token)
    kept: list[tuple[str, Entries]] = []
    for id, row in _candidates(separated, name, token, rng):
        if all(apart(row, other) for other in (key, *(r for _, r in kept))):
            kept.append((id, row))
    below = [c for c in kept if size(c[1]) < size(key)]
    above = [c for c in kept if size(c[1]) > size(key)]
    if len(below) < place or len(above) < wrong - place:
        return None
    chosen = sorted([*below[:place], *above[: wrong - place]], key=lambda c: size(c[1]))
    look = _whole if _exactly([key, *(row for _, row in chosen)]) else _short
    if not any(look(row) == look(key) for _, row in chosen):
        return None  # the right one would be the odd one out
    return put_in([id for id, _ in chosen], place, "")


def _candidates(separated: Separation, name: str, token: int, rng: Random) -> Iterator[tuple[str, Entries]]:
    """What people write there: first those who go wrong at this very step, then others, then slips."""
    right = values_of(separated.derivation.value(name))
    likely, elsewhere, unlikely = list[WrongDerivation](), list[WrongDerivation](), list[WrongDerivation]()
    for w in separated.wrongs:
        value = w.value(name) if w.first is not None else None
        if not isinstance(value, Matrix) or value.shape != right.shape or (_hides(value) and not _hides(right)):
            continue
        if w.first == name:
            (unlikely if w.misconception.prior == "low" else likely).append(w)
        elif w.misconception.core:
            elsewhere.append(w)
    for group in (likely, elsewhere, unlikely):
        yield from ((w.misconception.id, row_of(w.derivation, name, token)) for w in shuffled(rng, group))
    step = separated.derivation[name]
    if isinstance(step.op, MatMul) and all(isinstance(x, int) for x in right):
        yield from shuffled(rng, list(_slips(separated.derivation, name, token)))


def _hides(matrix: Matrix) -> bool:
    return any(x is NEGATIVE_INFINITY for x in matrix)


def _slips(d: Derivation, name: str, token: int) -> Iterator[tuple[str, Entries]]:
    """Slips in one entry of a token's row, as "A2 entry value"."""
    key = row_of(d, name, token)
    for k in range(len(key)):
        i, j = (token, k) if d.orientation == "rows" else (k, token)
        for slip in slips(d, name, i, j):
            if len(slip.entries) == 1:
                yield f"{slip.slip.id} {k} {slip.value}", (*key[:k], slip.value, *key[k + 1 :])


def _by_token(d: Derivation, matrix: Matrix) -> tuple[Entries, ...]:
    return matrix.rows if d.orientation == "rows" else matrix.T.rows


def row_of(d: Derivation, name: str, token: int) -> Entries:
    """What belongs to a token (from 0)."""
    return _by_token(d, values_of(d.value(name)))[token]


def _whole(row: Entries) -> bool:
    return all(isinstance(x, int) or x is NEGATIVE_INFINITY for x in row)


def _short(row: Entries) -> bool:
    """Whether a row stands as it is among decimals, and nothing in it is rounded."""
    return all(x is NEGATIVE_INFINITY or ends_within(x, SHORT) for x in row)


def _exactly(rows: Sequence[Entries]) -> bool:
    """Whether options can stand as they are: rational numbers all; otherwise all of them become decimals."""
    return all(isinstance(x, int | Fraction) or x is NEGATIVE_INFINITY for row in rows for x in row)


def _several(separated: Separation, draw: Draw, rng: Random) -> list[ChoiceItem] | None:
    """Ways of working out a step, two or three of which are right.

    A way is offered for what it is: a right one where it gives the step, a wrong one where that is seen.
    """
    d = oriented(separated.derivation, "rows")
    holding = {
        name: [way for way in WAYS.values() if way.step == name and way.holds(d)] for name in WAYS_OF if name in d
    }
    steps = [name for name, ways in holding.items() if any(way.right for way in ways)]
    if not steps:
        raise InputError(
            f"Multiple choice with several asks for ways to work out {', '.join(WAYS_OF)} as attention has them, and "
            f"{draw.spec.mechanism} has none of these; another mechanism or another problem type was expected."
        )
    items: list[ChoiceItem] = []
    for k, name in enumerate(steps[: draw.option("items")]):
        right, wrong = ([way.id for way in holding[name] if way.right == wanted] for wanted in (True, False))
        many = min(2 + (draw.number + k) % 2, len(right))
        if many < 1 or len(wrong) < WAYS_SHOWN - many:
            return None
        chosen = sample(rng, right, many) + sample(rng, wrong, WAYS_SHOWN - many)
        items.append(ChoiceItem("ways", name, options=tuple(shuffled(rng, chosen))))
    return items


# ------------------------------------------------------------------------------------------------ making


def made(draw: Draw) -> ProvedQuestion:
    problem = derived.problem_of(draw.record, TYPE.title)
    d = matrixwise(problem.derivation)
    wording = Wording(d, problem.notation)
    several, items = draw["several"], [ChoiceItem(**item) for item in draw["items"]]
    marks = [ticks(2)] if several else []
    parts: list[Item] = []
    for item in items:
        prompt, offers = ASKED[item.kind](item, d, wording, problem)
        title = step_title(d[item.step], wording)
        part = choice_part(title, [prompt], offers, *marks, key=[prompt], several=several)
        parts.append(Item(part, again=partial(_right, item, d)))
    return derived.question(draw, problem, parts, _SEVERAL if several else _ONE)


_ONE = (
    "Tick one option for each question. All the questions are about one derivation, which starts "
    "from these matrices. Long decimals are rounded."
)
_SEVERAL = "Tick every option that gives the right result, by whatever method; each question has at least one."

PromptAndOffers = tuple[Inlines, list[Offer]]


def _offered(item: ChoiceItem, problem: Problem) -> dict[str, WrongDerivation]:
    """What the misconceptions among the options make of the derivation, by id; slips have a space in theirs."""
    ids = [id for id in item.options if id and " " not in id]
    return {w.misconception.id: w for w in replayed(problem.derivation, ids)}


def _row_offers(item: ChoiceItem, d: Derivation, wording: Wording, problem: Problem) -> PromptAndOffers:
    name, token = item.step, item.token
    assert token is not None
    wrongs = _offered(item, problem)
    known = dict(_slips(d, name, token)) if any(" " in id for id in item.options) else {}
    key = row_of(d, name, token)
    rows = [known.get(id) or (row_of(wrongs[id].derivation, name, token) if id else key) for id in item.options]
    exact = all(map(_whole, rows)) or (problem.exact and _exactly(rows))
    offers = []
    for id, row in zip(item.options, rows, strict=True):
        text = wording.grid([[wording.number(x) if exact else _decimal(x, wording, problem.places) for x in row]])
        if not id:
            offers.append(Offer(text, _derived(d[name], token, wording), True))
        elif id in known:
            slip = SLIPS[id.partition(" ")[0]]
            why = sentence("{code} – {name}. {feedback}", code=slip.id, name=slip.name, feedback=slip.feedback)
            offers.append(Offer(text, why, False, slip.id))
        else:
            offers.append(Offer(text, diagnosis(wrongs[id], wording), False, id))
    asked = "Which of these is row {token} of {matrix}?"
    if d.orientation == "columns":
        asked = "Which of these is column {token} of {matrix}?"
    return sentence(asked, token=token + 1, matrix=wording.name(name)), offers


def _decimal(value: Value, wording: Wording, places: int) -> Formula:
    """Whole numbers and short decimals as they are; others rounded, with more places where they would be 0."""
    if terminates(value):
        return wording.number(value)
    if ends_within(value, places):
        return decimal(shortest(value) or "")
    enough = (p for p in range(places, places + MORE) if float(decimal_text(value, p)) != 0)
    return wording.decimal(value, next(enough, places))


def _derived(step: Step, token: int, wording: Wording) -> Inlines:
    """Why the right row is right: how its first entry comes about, and by which rule."""
    i, j = (token, 0) if wording.orientation == "rows" else (0, token)
    matrix = values_of(step.result)
    rule = equal(wording.name(step.name), wording.rule(step))
    entry = equal(wording.entry(step.name, i, j), wording.working(step, i, j), wording.number(matrix[i, j]))
    if width(entry) > LINE / 2:
        return sentence("right: {rule}.", rule=rule)
    return sentence("right: {rule}, so {entry}; the others likewise.", rule=rule, entry=entry)


def _formula_offers(item: ChoiceItem, d: Derivation, wording: Wording, problem: Problem) -> PromptAndOffers:
    name = item.step
    steps = {m.id: step for m, step in rewritten(d, name)}
    whys = {id: diagnosis(wrong, wording) for id, wrong in _offered(item, problem).items()}
    offers = [
        Offer(wording.rule(steps.get(id, d[name])), whys.get(id, message("right.")), not id, id) for id in item.options
    ]
    return sentence("Which formula gives {matrix}?", matrix=wording.name(name)), offers


def _way_offers(item: ChoiceItem, d: Derivation, wording: Wording, problem: Problem) -> PromptAndOffers:
    say, divisor = Prose(problem.notation, True, d.orientation), {}
    if item.step == "S'":
        divisor["divisor"] = wording.divisor(d["S'"])
    offers = []
    for way in (WAYS[id] for id in item.options):
        why = sentence("right: {reason}" if way.right else "wrong: {reason}", reason=say(*way.why))
        offers.append(Offer(say(*way.text, **divisor), why, way.right, way.diagnosis))
    return sentence("Which of these give {matrix}?", matrix=wording.name(item.step)), offers


ASKED: Mapping[str, Callable[[ChoiceItem, Derivation, Wording, Problem], PromptAndOffers]] = {
    "row": _row_offers,
    "formula": _formula_offers,
    "ways": _way_offers,
}


# ------------------------------------------------------------------------------------------------ proving


def _right(item: ChoiceItem, d: Derivation) -> set[int]:
    """The ways that give the result, or the option that is no mistake."""
    d = oriented(d, "rows")
    return {i for i, id in enumerate(item.options) if (gives(WAYS[id], d) is True if item.kind == "ways" else not id)}


TYPE = derived.about_derivations(
    made,
    draw_variant,
    name="choice",
    title="Multiple choice",
    family=family,
    options={
        "items": (
            5,
            f"how many questions, from 1 to {MOST_ITEMS}; with several, one for a step at most",
            up_to(MOST_ITEMS),
        ),
        "several": (False, "whether several options may be right: ways of working, some of which only look wrong"),
    },
    defaults={"mechanism": "attention"},
)
