"""Find the error: a script with a wrong line in it, from which the rest follows rightly (rules.md 5, type 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.misconceptions import drawn_misconceptions, misconception, replayed
from symattn.derivation.misconceptions.base import WrongDerivation
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.slips import Slipped, slips
from symattn.errors import InputError, SelfCheckError, UndefinedError
from symattn.exact import Matrix, indices, values_of
from symattn.exact.rounding import approximate
from symattn.formula import Formula, Name, Relation, equal, written
from symattn.formula.width import fold, width, wrapped
from symattn.foundation.dice import pick, shuffled
from symattn.page.document import (
    AnswerGrid,
    Block,
    Blocks,
    Display,
    Entries,
    Heading,
    TextLike,
    WorkingSpace,
    as_text,
    in_turn,
    sentence,
)
from symattn.teaching.derivation_question import all_given
from symattn.teaching.explanation.diagnoses import diagnosis
from symattn.teaching.explanation.parts import instruction, wording_of, worked
from symattn.teaching.explanation.steps import Detail, cell_kind
from symattn.teaching.explanation.wording import LINE, Wording, terminates
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.fairness.separation import LEAST, Separation
from symattn.teaching.problem import Problem
from symattn.teaching.problems import derived
from symattn.teaching.problems.asking import (
    WORKED_OUT,
    BlockLike,
    Offer,
    choice_part,
    fill_in,
    lettered,
    make_part,
    put_in,
    right_letters,
)
from symattn.teaching.problems.choice import rewritten
from symattn.teaching.problems.derived import balanced_places
from symattn.teaching.problems.draws import Draw, ProvedQuestion, Record, Spec, up_to
from symattn.teaching.question import MatrixAnswer, Part, WordAnswer

OPTIONS = 5
SLIP = "slip"
PARENTS = 3
REDRAWN = 60
MOST_ERRORS = 2


@dataclass(frozen=True)
class Planted:
    """What is wrong in a line: a misconception, by its id, or a slip in entry (i, j), of a kind such as A2."""

    id: str
    step: str
    i: int | None = None
    j: int | None = None
    kind: str = ""
    value: str = ""

    def slip(self, d: Derivation) -> Slipped | None:
        """The slip in a script; None if it is a misconception."""
        if self.i is None or self.j is None:
            return None
        listed = slips(d, self.step, self.i, self.j)
        return next(s for s in listed if (s.slip.id, str(s.value)) == (self.kind, self.value))


class Plant(NamedTuple):
    """What may be planted in a line: a misconception, by its id, or a slip that is still to be drawn."""

    id: str
    step: str


@dataclass(frozen=True)
class PlantFamily(derived.Family):
    """What derivations share, and what is planted in turn."""

    plants: tuple[Plant, ...] = ()


# ------------------------------------------------------------------------------------------------ what can be planted


def at_step(d: Derivation, step: str) -> Separation:
    """The misconceptions that have their place at this step, on what has been written so far."""
    wrongs = replayed(d, [m.id for m in drawn_misconceptions() if m.at == step])
    return Separation(wrongs[0].right if wrongs else d, wrongs)


def plantable(separated: Separation) -> dict[str, WrongDerivation]:
    """The misconceptions that make one wrong line, which is seen, which nothing else explains, and which goes on."""
    return {w.misconception.id: w for w in separated.wrongs if w.misconception.is_usual and _is_plantable(w, separated)}


def _is_plantable(w: WrongDerivation, separated: Separation) -> bool:
    if w.first is None or w.stopped:
        return False
    right, value = separated.derivation.value(w.first), w.value(w.first)
    if not isinstance(right, Matrix) or not isinstance(value, Matrix) or value.shape != right.shape:
        return False
    differences = [abs(a - b) for a, b in zip(_floats(value), _floats(right), strict=True) if a != b]
    if len(differences) < 2 or not max(differences) >= LEAST:  # one entry alone would be taken for a slip
        return False
    try:
        script = separated.derivation.replay(pinned={**_pinned(separated.derivation), w.first: value})
    except UndefinedError:
        return False
    return explanations(separated, w.first, script) == [w.misconception.id]


def explanations(separated: Separation, step: str, script: Derivation) -> list[str]:
    """The misconceptions that write this very script: the same wrong line, and the same after it."""
    return [
        w.misconception.id
        for w in separated.wrongs
        if w.first == step and w.value(step) == script.value(step) and all(w.value(s.name) == s.result for s in script)
    ]


def _floats(matrix: Matrix) -> list[float]:
    return [round(approximate(x), 9) for x in matrix]


def slip_steps(d: Derivation) -> list[str]:
    """The products of whole numbers, in which a slip is one among many terms."""
    return [s.name for s in d if isinstance(s.op, MatMul) and all(isinstance(x, int) for x in values_of(s.result))]


def plantable_slips(separated: Separation, step: str) -> list[Slipped]:
    """Slips that spoil one entry, which no misconception explains."""
    d = separated.derivation
    entries = indices(values_of(d.value(step)).shape)
    listed = [s for i, j in entries for s in slips(d, step, i, j) if len(s.entries) == 1]
    lines = [w.value(step) for w in separated.wrongs if w.first == step]
    return [s for s in listed if s.line(d) not in lines or not explanations(separated, step, s.on(d))]


# ------------------------------------------------------------------------------------------------ drawing


def family(spec: Spec, rng: Random) -> PlantFamily:
    shared = derived.family(spec, rng)
    by_step: dict[str, dict[Plant, None]] = {}
    for _ in range(PARENTS):
        d = matrixwise(derived.problem_of(derived.numbers(spec, shared)).derivation)
        for step in d:
            fitting = (id for id, w in plantable(at_step(d, step.name)).items() if w.first == step.name)
            by_step.setdefault(step.name, {}).update((Plant(id, step.name), None) for id in fitting)
    for name in slip_steps(d):
        by_step[name][Plant(SLIP, name)] = None
    queues = [shuffled(rng, list(plants)) for plants in by_step.values() if plants]
    if not queues:
        raise InputError(f"No mistake can be planted in {spec.mechanism} with these settings.")
    rounds = (shuffled(rng, queues) for _ in range(max(map(len, queues))))
    plants = [queue[turn] for turn, in_turn in enumerate(rounds) for queue in in_turn if turn < len(queue)]
    places = balanced_places(rng, OPTIONS, MOST_ERRORS)
    return PlantFamily(**vars(replace(shared, places=places)), plants=tuple(plants))


def draw_variant(rng: Random, draw: Draw) -> Record:
    """A derivation, what is wrong with which of its lines, and what is offered for each of them."""
    plants = draw.family.plants
    for attempt in range(REDRAWN * len(plants)):
        drawn = derived.drawn_numbers(rng, draw)
        first = (draw.number - 1 + attempt // REDRAWN) % len(plants)
        wanted = [plants[first]]
        if draw.option("errors") > 1:
            wanted.append(pick(rng, [plant for plant in plants if plant.step != wanted[0].step]))
        if errors := _plant(derived.problem_of(drawn).derivation, wanted, rng):
            where = [draw.family.place(k, draw.number) for k in range(MOST_ERRORS)]
            offered = _offered(drawn, errors, where, rng)
            if offered is not None:
                return {**drawn, "errors": errors, "offered": offered}
    raise InputError(f"No mistake can be planted in {draw.spec.mechanism} with these numbers so that it is unique.")


def _plant(d: Derivation, wanted: Sequence[Plant], rng: Random) -> list[Planted] | None:
    """The mistakes one after the other, each on what the one before has left; None if one of them does not fit."""
    script, errors = matrixwise(d), list[Planted]()
    order = [step.name for step in script]
    for id, step in sorted(wanted, key=lambda plant: order.index(plant.step)):
        separated = at_step(script, step)
        if id != SLIP:
            wrong = plantable(separated).get(id)
            if wrong is None or wrong.first != step:
                return None
            errors.append(Planted(id, step))
        elif step in slip_steps(script) and (listed := plantable_slips(separated, step)):
            slip = pick(rng, listed)
            errors.append(Planted(SLIP, step, slip.i, slip.j, slip.slip.id, str(slip.value)))
        else:
            return None
        script = with_error(script, errors[-1])
    return errors


def with_error(d: Derivation, error: Planted) -> Derivation:
    """The script of someone who makes this mistake: its line pinned, what follows from it worked out."""
    if slip := error.slip(d):
        return slip.on(d)
    wrong = misconception(error.id).on(d)
    assert wrong is not None
    value = wrong.value(error.step)
    assert value is not None
    return d.replay(pinned={**_pinned(d), error.step: value})


def _pinned(d: Derivation) -> dict[str, object]:
    return {step.name: step.result for step in d if step.pinned}


def _offered(
    drawn: Record, errors: Sequence[Planted], places: Sequence[int], rng: Random
) -> list[tuple[str, ...]] | None:
    """What may have been done: two things at the step itself and others elsewhere, so that no step is given away."""
    script = matrixwise(derived.problem_of(drawn).derivation)
    planted = [error.step for error in errors]
    seen = [w for w in replayed(script, [m.id for m in drawn_misconceptions() if m.is_usual]) if w.first is not None]
    known = {w.misconception.id for w in seen}
    elsewhere = [w.misconception.id for w in seen if w.first not in planted and w.misconception.at not in planted]
    lists: list[tuple[str, ...]] = []
    for error, place in zip(errors, places, strict=False):
        beside = [w for w in at_step(script, error.step).wrongs if w.first == error.step]
        script = with_error(script, error)
        value = script.value(error.step)
        here = [w.misconception.id for w in beside if w.value(error.step) != value]
        wrong = shuffled(rng, [id for id in here if id in known and id != error.id])[:2]
        wrong += [SLIP] if error.id != SLIP else []
        wrong += shuffled(rng, elsewhere)[: OPTIONS - 1 - len(wrong)]
        if len(wrong) < OPTIONS - 1:
            return None
        lists.append(put_in(shuffled(rng, wrong), place, error.id))
    return lists


# ------------------------------------------------------------------------------------------------ making


def made(draw: Draw) -> ProvedQuestion:
    problem = derived.problem_of(draw.record, TYPE.title)
    problem = replace(problem, derivation=matrixwise(problem.derivation))
    errors = [Planted(**error) for error in draw["errors"]]
    several = len(errors) > 1
    scripts = [problem.derivation]
    for error in errors:
        scripts.append(with_error(scripts[-1], error))
    wording = wording_of(problem)
    parts: list[Part] = []
    for words, error, offered, before in zip(WORDS[several], errors, draw["offered"], scripts, strict=False):
        parts.append(_which(words, problem.derivation[error.step], wording))
        parts.append(_what(words, error, offered, before, problem.derivation, wording))
    parts += _corrected(errors[0].step, several, wording, problem)
    named = lettered(parts)
    introduction = (
        "A student's working is given below. One line of it is wrong; every line after it follows correctly from the "
        "lines above it."
    )
    if several:
        introduction = (
            "A student's working is given below. Two lines of it are wrong; every other line follows correctly from "
            "the lines above it."
        )
    script = (Heading(as_text("The student's working"), 1), *_script(scripts[-1], problem))
    return derived.question(
        draw,
        problem,
        named,
        introduction,
        given=(*all_given(problem, wording), *script),
        positions={"wrong step": " ".join(error.step for error in errors), **right_letters(named)},
        proof=lambda question: prove(problem.derivation, errors),
    )


def _script(script: Derivation, problem: Problem) -> Blocks:
    """Every line by name and value; how it was worked out would give the mistake away."""
    wording = Wording(script, problem.notation)
    blocks: list[Block] = []
    for step in script:
        result = values_of(step.result)
        name = wording.name(step.name)
        equation = equal(name, wording.values(result))
        lines = [equation] if problem.exact else []
        if not all(map(terminates, result)):
            lines.append(Relation((name, wording.rounded(result, problem.places)), ("≈",)))
        elif not problem.exact:
            lines.append(equation)
        if problem.exact and width(equation) > LINE:
            blocks.append(Entries(tuple(_entry_equations(step, wording)), 2))
            del lines[0]
        blocks += [
            Display(fold(line, LINE) if isinstance(line, Relation) else (line,)) for line in wrapped(lines, LINE)
        ]
    return tuple(blocks)


def _entry_equations(step: Step, wording: Wording) -> Iterator[Formula]:
    for i, row in enumerate(values_of(step.result).rows):
        for j, x in enumerate(row):
            yield equal(wording.entry(step.name, i, j), wording.number(x))


class LineWords(NamedTuple):
    """How a wrong line is asked for and told, and then what was done in it."""

    title: str
    asks: str
    told: str
    mistake: str
    asks_mistake: str


WORDS = {
    False: (
        LineWords(
            "The wrong line",
            "Which line is wrong?",
            "The wrong line is that of {matrix}.",
            "The mistake",
            "What mistake was made in that line?",
        ),
    ),
    True: (
        LineWords(
            "The first wrong line",
            "Which line is the first wrong one?",
            "The first wrong line is that of {matrix}.",
            "The first mistake",
            "What mistake was made in the first wrong line?",
        ),
        LineWords(
            "The second wrong line",
            "Which line is the second wrong one?",
            "The second wrong line is that of {matrix}.",
            "The second mistake",
            "What mistake was made in the second wrong line?",
        ),
    ),
}
"""By whether several lines are wrong."""


def _which(words: LineWords, step: Step, wording: Wording) -> Part:
    name, word = wording.name(step.name), wording.word(step)
    names = [written(name)] if isinstance(name, Name) else []
    first, *others = dict.fromkeys([*names, *([word] if word else []), step.name][:2])
    told, answer = sentence(words.told, matrix=name), WordAnswer(first, tuple(others))
    return make_part(words.title, [fill_in(words.asks, 30)], [told], answer)


def _what(
    words: LineWords,
    error: Planted,
    offered: Sequence[str],
    before: Derivation,
    right: Derivation,
    wording: Wording,
) -> Part:
    wrongs = {w.misconception.id: w for w in replayed(right, [id for id in offered if id != SLIP])}
    offers = []
    for id in offered:
        if id == SLIP:
            offers.append(_slip_offer(error, before, wording))
            continue
        w = wrongs[id]
        why = as_text("this would not give the numbers in the working.")
        if id == error.id:
            why = sentence("right: {diagnosis}", diagnosis=diagnosis(w, wording))
        offers.append(Offer(_done(w, right, wording), why, id == error.id))
    return choice_part(words.mistake, [words.asks_mistake], offers, key=[words.asks_mistake])


def _slip_offer(error: Planted, before: Derivation, wording: Wording) -> Offer:
    text = "A slip in one entry; the rule was right."
    if (slip := error.slip(before)) is None:
        return Offer(text, "more than one entry is wrong.")
    entry, right = wording.entry(error.step, slip.i, slip.j), "right: {code} – {name}. In {entry} {how}."
    return Offer(text, sentence(right, code=slip.slip.id, name=slip.slip.name, entry=entry, how=slip.says), True)


def _done(w: WrongDerivation, d: Derivation, wording: Wording) -> TextLike:
    """What a misconception does, as a formula where it is one, in the words of the orientation."""
    m = w.misconception
    step = next((step for other, step in rewritten(d, m.at) if other.id == m.id), None) if m.at in d else None
    if step is not None:
        return equal(wording.name(step.name), wording.rule(step))
    what = wording.in_signs(m.called(d.orientation))
    return sentence("{matrix}: {what}", matrix=wording.name(w.first or m.at), what=what)


def _corrected(wrong: str, several: bool, wording: Wording, problem: Problem) -> Iterator[Part]:
    """The wrong line, or the first of two, as it should be, and all that follows from it."""
    d = problem.derivation
    line = "Give the correct value of the first wrong line." if several else "Give the correct value of that line."
    asked: BlockLike = instruction(line, "Show how it is worked out.")
    products, others = Detail(places=problem.places), Detail("none", problem.places)
    key: list[BlockLike] = [*worked(d[wrong], wording, products)]
    yield make_part("The correct line", [asked, WorkingSpace(70)], key, MatrixAnswer.of(d, wrong), *WORKED_OUT)
    last, answer = d.last, MatrixAnswer.of(d, d.last.name)
    once = "If the output itself is the wrong line, it is enough to write it once."
    asked = in_turn((as_text("Carry on from there to the output."), () if several else as_text(once)))
    grid = AnswerGrid(
        wording.name(last.name), *answer.value.shape, cell_kind(last.result, problem.exact), step=last.name
    )
    following = d.steps[d.steps.index(d[wrong]) + 1 :]
    key = [x for step in following for x in worked(step, wording, products if isinstance(step.op, MatMul) else others)]
    at_once = "The output is the line that was wrong; its correct value is the answer above."
    yield make_part("The correct output", [asked, WorkingSpace(70), grid], key or [at_once], answer, *WORKED_OUT)


# ------------------------------------------------------------------------------------------------ proving


def prove(script: Derivation, errors: Sequence[Planted]) -> None:
    """Every line but the planted ones follows from those above, by a second route; and one explanation fits each."""
    for error in errors:
        separated = at_step(script, error.step)
        script = with_error(script, error)
        if script.value(error.step) == separated.derivation.value(error.step):
            raise SelfCheckError(f"The mistake {error.id} cannot be seen in {error.step}.")
        expected = [] if error.id == SLIP else [error.id]
        if (fitting := explanations(separated, error.step, script)) != expected:
            raise SelfCheckError(f"The mistake {error.id} in {error.step} is explained by {fitting}.")
    for k, step in enumerate(script):
        above = {**script.givens, **{earlier.name: earlier.result for earlier in script.steps[:k]}}
        self_check(Derivation(above, (step,), orientation=script.orientation))
    if {step.name for step in script if step.pinned} != {error.step for error in errors}:
        raise SelfCheckError("The script has other wrong lines than those that were planted.")


TYPE = derived.about_derivations(
    made,
    draw_variant,
    name="find-error",
    title="Find the error",
    family=family,
    options={"errors": (1, f"how many lines are wrong: 1 or {MOST_ERRORS}", up_to(MOST_ERRORS))},
    defaults={"mechanism": "attention"},
)
