"""What the problem types share that have a derivation behind them: its numbers drawn fairly, frozen and made again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, cast

from symattn.document import Block, Heading, Inlines, ItemList, Math, Paragraph, Table, Words
from symattn.exact import AnyMatrix, Matrix
from symattn.explanation.parts import checks, givens, instructions
from symattn.explanation.wording import Wording
from symattn.fairness import draw
from symattn.fairness.family import Band, balanced, draw_givens, suits
from symattn.fairness.features import features
from symattn.fairness.separation import Separation, separation
from symattn.mechanisms import Settings, mechanism
from symattn.misconceptions import Wrong
from symattn.notation import load_notation
from symattn.problem import Problem
from symattn.problem_file import read_given
from symattn.problems.base import Family, Spec
from symattn.question import Content, Json

CYCLE = 36  # after so many variants the positions of the largest weights come again
PARENTS = 6  # drawn to find out what no variant of a family can show


# ------------------------------------------------------------------------------------------------ drawing


def family(spec: Spec, rng: random.Random) -> Family:
    """What siblings share: the band of difficulty, the positions, and the misconceptions that none of them can show."""
    if spec.given or not _backwards(spec):
        return {}
    settings, sizes = spec.chosen_settings(), spec.chosen_sizes()
    chosen = mechanism(spec.mechanism)
    band: Band | None = None
    troubles: frozenset[str] | None = None
    for _ in range(PARENTS):
        drawn = draw_givens(chosen, settings, sizes, spec.level, spec.softmax, rng, None, band)
        derivation = chosen.run(drawn, settings)
        band = band or Band.of(features(derivation), spec.level)
        found = separation(derivation).troubles()
        troubles = found if troubles is None else troubles & found
    assert band is not None and troubles is not None
    return {
        "band": band.json(),
        "argmax": [list(positions) for positions in balanced(rng, CYCLE, sizes.get("n", 1))],
        "unavoidable": sorted(troubles),
    }


def content(spec: Spec, rng: random.Random, number: int, family: Family) -> dict[str, Json]:
    """The numbers of one variant, with everything that is needed to work them out again, as JSON."""
    settings, chosen = spec.chosen_settings(), mechanism(spec.mechanism)
    given: Mapping[str, AnyMatrix]
    if spec.given:
        given = {name: read_given(name, rows) for name, rows in spec.given.items()}
    elif family:
        argmax = cast("list[list[int]]", family["argmax"])
        band = Band.read(family["band"])
        positions = tuple(argmax[(number - 1) % len(argmax)])
        given = draw_givens(chosen, settings, spec.chosen_sizes(), spec.level, spec.softmax, rng, positions, band)
    else:
        given = draw(chosen, settings, spec.chosen_sizes(), rng).givens
    return {
        "type": spec.type,
        "mechanism": chosen.name,
        "settings": frozen_settings(settings),
        "notation": spec.notation,
        "exact": spec.exact,
        "places": spec.places,
        "given": {name: frozen(m) for name, m in given.items() if isinstance(m, Matrix)},
    }


def _backwards(spec: Spec) -> bool:
    return suits(mechanism(spec.mechanism), spec.chosen_settings(), spec.chosen_sizes())


def unfair(problem: Problem, family: Family) -> str:
    """Why a variant hides a mistake that its siblings show; "" if it does not."""
    avoidable = separation(problem.derivation).troubles() - set(cast("list[str]", family.get("unavoidable", [])))
    return f"misconceptions hidden: {', '.join(sorted(avoidable))}" if family and avoidable else ""


# ------------------------------------------------------------------------------------------------ freezing


def frozen(matrix: Matrix) -> Json:
    """A matrix as JSON: whole numbers as numbers, everything else as text that reads back exactly."""
    return [[x if isinstance(x, int) else _text(x) for x in row] for row in matrix.rows]


def frozen_settings(settings: Settings) -> dict[str, Json]:
    """Settings in the words of a problem file; those that are not the default."""
    default, found = Settings(), dict[str, Json]()
    for f in fields(Settings):
        value = getattr(settings, f.name)
        if value != getattr(default, f.name):
            found[f.name] = _json(value)
    return found


def _json(value: object) -> Json:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Matrix):
        return frozen(value)
    if isinstance(value, list | tuple):
        return [_json(x) for x in value]
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: _json(getattr(value, f.name)) for f in fields(cast(Any, value))}
    return _text(value)


def _text(x: object) -> str:
    return f"{x.numerator}/{x.denominator}" if isinstance(x, Fraction) else str(x)


def problem_of(content: Content, title: str = "") -> Problem:
    """The problem that a content stands for, worked out."""
    chosen = mechanism(str(content["mechanism"]))
    settings = Settings.read(cast("Mapping[str, object]", content["settings"]))
    given = cast("Mapping[str, object]", content["given"])
    derivation = chosen.run({name: read_given(name, rows) for name, rows in given.items()}, settings)
    return Problem(
        title=title or chosen.title,
        mechanism=chosen.name,
        derivation=derivation,
        notation=load_notation(str(content["notation"])),
        exact=bool(content["exact"]),
        places=int(cast(int, content["places"])),
    )


# ------------------------------------------------------------------------------------------------ for the key


def measured(problem: Problem) -> dict[str, float]:
    """The features that siblings are compared by, as numbers."""
    return features(problem.derivation).numbers()


def positions(problem: Problem) -> dict[str, str]:
    """Where the largest weight of every token lies."""
    found = features(problem.derivation).argmax
    return {"largest weights": " ".join(str(j + 1) for j in found)} if found else {}


def remarks(problem: Problem, wording: Wording, found: Separation) -> tuple[Block, ...]:
    """Below a key: check lines, common wrong answers with their diagnosis, and what this variant cannot tell apart."""
    blocks: list[Block] = []
    if lines := checks(problem, wording):
        blocks += [Heading((Words("Checks"),), 1), ItemList(tuple(lines))]
    shown = [w for w in found.wrongs if w.first is not None and w.value(w.first) is not None and _usual(w)]
    if shown:
        blocks.append(Heading((Words("Common wrong answers"),), 1))
        for step in found.derivation:
            if here := [w for w in shown if w.first == step.name]:
                blocks.append(wrong_answers(here, wording, problem.places))
    if lines := _undefined(found) + _collisions(found):
        blocks += [Heading((Words("What this variant cannot show"),), 1), ItemList(tuple(lines))]
    return tuple(blocks)


def _usual(wrong: Wrong) -> bool:
    return wrong.misconception.core or wrong.misconception.prior != "low"


def wrong_answers(wrongs: list[Wrong], wording: Wording, places: int) -> Table:
    """Misconceptions that show at the same step: what is written there, what comes of it in the end, what it means."""
    first = wrongs[0].first
    assert first is not None
    last = wrongs[0].derivation.last.name
    name = Math(wording.name(first))
    header: tuple[Inlines, ...] = ((Words("If "), name, Words(" is")), (Words("Diagnosis and feedback"),))
    rows = []
    for wrong in wrongs:
        cells: list[Inlines] = [_written(wrong, first, wording, places)]
        said: Inlines = (Words(f"{wrong.misconception.id} {wrong.misconception.name}. "), *feedback(wrong, wording))
        if first != last and wrong.value(last) is not None:
            said = (
                *said,
                Words(" Then "),
                Math(wording.name(last)),
                Words(" is "),
                *_written(wrong, last, wording, places),
            )
        rows.append((*cells, said))
    return Table(header, tuple(rows))


def _written(wrong: Wrong, step: str, wording: Wording, places: int) -> Inlines:
    matrix = wrong.value(step)
    if not isinstance(matrix, Matrix):
        return (Words("not defined"),)
    whole = all(isinstance(x, int) for x in matrix)
    return (Math(wording.values(matrix) if whole else wording.decimals(matrix, min(places, 3))),)


def feedback(wrong: Wrong, wording: Wording) -> Inlines:
    """The sentence to the student, in the problem's own signs."""
    rows = wording.orientation == "rows"
    words = {"row": "row", "rows": "rows", "column": "column", "columns": "columns"}
    turned = {"row": "column", "rows": "columns", "column": "row", "columns": "rows"}
    return wording.inlines(wrong.misconception.feedback, words if rows else turned)


def _undefined(found: Separation) -> list[Inlines]:
    hidden = [w.misconception for w in found.wrongs if w.first is None and _usual(w)]
    return [(Words(f"{m.id} {m.name} changes nothing here."),) for m in hidden]


def _collisions(found: Separation) -> list[Inlines]:
    names = {w.misconception.id: w for w in found.wrongs}
    lines: list[Inlines] = []
    for c in found.collisions:
        if _usual(names[c.one]) and _usual(names[c.other]):
            parts = f"they part at {c.parts}" if c.parts else "they never part"
            lines.append((Words(f"{c.one} and {c.other} write the same at {c.at}; {parts}."),))
    return lines


def given(problem: Problem, wording: Wording, only: tuple[str, ...] = ()) -> tuple[Block, ...]:
    """The heading and the matrices one starts from."""
    return (Heading((Words("Given"),), 1), givens(problem, wording, only))


def opening(problem: Problem) -> tuple[Block, ...]:
    return (Paragraph((Words(instructions(problem)),)),)
