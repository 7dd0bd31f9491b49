"""What the problem types share that have a derivation behind them: its numbers drawn fairly, frozen and made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import chain, compress
from operator import add
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from symattn.derivation.derivation import Step, oriented
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.mechanisms import Settings, kept_mechanism, mechanism
from symattn.derivation.ops.attention import Mask
from symattn.derivation.ops.linear import Scale
from symattn.derivation.witnesses import worked_out
from symattn.exact import AnyMatrix, Matrix, values_of
from symattn.formula import Formula, Relation
from symattn.formula.width import fold
from symattn.foundation.dice import shuffled
from symattn.foundation.typed import plain
from symattn.page.notation import kept_notation, load_notation
from symattn.teaching.derivation_question import all_given, measured
from symattn.teaching.explanation.parts import conventions, wording_of
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.fairness.family import Givens, Kind, any_order, in_turn, permuted
from symattn.teaching.problem import OWN, Problem, read_given
from symattn.teaching.problems import draws
from symattn.teaching.problems.asking import BlockLike, lettered, right_letters
from symattn.teaching.problems.draws import NOTHING, Draw, Item, ProblemType, Record, Spec
from symattn.teaching.question import Json, Part

if TYPE_CHECKING:
    from symattn.teaching.fairness.separation import Separation

RELABELLINGS = 40  # other orders of a variant that are tried where its key is too much like another one
BLOCKS = 12  # blocks of variants after which the places of right options come again


# ------------------------------------------------------------------------------------------------ drawing


@dataclass(frozen=True)
class Family:
    """What siblings share: equally hard givens, and the sizes along which these may be set in any order.

    Members come in turn, tokens as rows, without end; with numbers of the teacher's own there are none.  `places` has
    where right options stand, choice by choice.
    """

    members: Iterator[Givens] | None = None
    free: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    places: tuple[tuple[int, ...], ...] = ()

    def place(self, choice: int, number: int) -> int:
        """Where the right option of a choice stands in a variant."""
        return self.places[choice][(number - 1) % len(self.places[choice])]


def family(spec: Spec, rng: Random) -> Family:
    """The family of a pool: one that is kept, begun anywhere, or else a new one."""
    if spec.given:
        return Family()
    members, free = in_turn(kind_of(spec), rng, _searched)
    return Family(members, free)


def _searched(kind: Kind, rng: Random, lines: Sequence[str]) -> Iterator[Givens]:
    """Members beyond those that are kept, to which most sets do not come."""
    from symattn.teaching.fairness.search import searched

    yield from searched(kind, rng, lines)


def kind_of(spec: Spec) -> Kind:
    """What is wanted of the numbers of a variant."""
    settings = spec.chosen_settings().upright
    return Kind(mechanism(spec.mechanism), settings, spec.chosen_sizes(), spec.level, spec.softmax)


def balanced_places(rng: Random, options: int, choices: int) -> tuple[tuple[int, ...], ...]:
    """Where the right option stands: each place once in every `options` variants."""
    return tuple(tuple(p for _ in range(BLOCKS) for p in shuffled(rng, range(options))) for _ in range(choices))


FrozenRows = tuple[tuple[int | str, ...], ...]
"""A matrix as JSON: whole numbers as numbers, everything else as text that reads back exactly."""


def drawn_numbers(rng: Random, draw: Draw) -> Record:
    return numbers(draw.spec, draw.family)


def numbers(spec: Spec, family: Family) -> Record:
    """The numbers of the member of a family whose turn it is, with all that is needed to work them out again.

    Settings are in the words of a problem file, those that are not the default.
    """
    settings = spec.chosen_settings()
    given: Mapping[str, AnyMatrix]
    if family.members is None:
        given = {name: read_given(name, rows) for name, rows in spec.given.items()}
    else:
        upright = next(family.members)
        given = upright if settings.orientation == "rows" else {name: m.T for name, m in upright.items()}
    return {
        "mechanism": kept_mechanism(spec.mechanism),
        "settings": frozen_settings(settings),
        "notation": kept_notation(spec.notation),
        "exact": spec.exact,
        "places": spec.places,
        "given": {name: frozen(m) for name, m in given.items() if isinstance(m, Matrix)},
    }


def about_derivations(
    made: Callable[[Draw], draws.ProvedQuestion],
    drawn: Callable[[Random, Draw], Record] = drawn_numbers,
    **stated: Any,
) -> ProblemType:
    """Make a problem type of a function that asks about one derivation, of any mechanism; `drawn` is all of its record.

    Most of what is drawn is only compared, so that the question is made when it is wanted.
    """

    def ask(draw: Draw) -> Callable[[], draws.ProvedQuestion]:
        draw.together(drawn)
        return partial(made, draw)

    return ProblemType(ask, **{"family": family, "key": key, "mechanisms": (), "draws": (), **stated})


# ------------------------------------------------------------------------------------------------ freezing


def frozen(matrix: Matrix) -> FrozenRows:
    return tuple(tuple(x if isinstance(x, int) else _text(x) for x in row) for row in matrix.rows)


def thawed(given: Mapping[str, FrozenRows]) -> dict[str, Matrix]:
    """Given matrices by name."""
    return {name: _thawed(name, rows) for name, rows in given.items()}


def _thawed(name: str, rows: FrozenRows) -> Matrix:
    """Whole numbers are what they are; anything else is read."""
    whole = [[x for x in row if type(x) is int] for row in rows]
    if whole and whole[0] and {*map(len, whole)} == {*map(len, rows)} == {len(rows[0])}:
        return Matrix.of(whole)
    return values_of(read_given(name, [list(row) for row in rows]))


def frozen_settings(settings: Settings) -> dict[str, Json]:
    """Settings in the words of a problem file; those that are not the default."""
    default, stated = Settings(), dict[str, Json]()
    for f in fields(Settings):
        value = getattr(settings, f.name)
        if value != getattr(default, f.name):
            stated[f.name] = _json(value)
    return stated


def _json(value: object) -> Json:
    if isinstance(value, str) and value.lstrip().startswith("["):
        rows: Json = json.loads(value)  # a mask by rows, as it is typed on the command line
        return rows
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Matrix):
        return [[*row] for row in frozen(value)]
    if isinstance(value, list | tuple):
        return [_json(int(x) if isinstance(x, bool) else x) for x in value]
    if is_dataclass(value):
        return {f.name: _json(getattr(value, f.name)) for f in fields(value)}
    return _text(value)


def _text(x: object) -> str:
    return f"{x.numerator}/{x.denominator}" if isinstance(x, Fraction) else str(x)


@dataclass(frozen=True)
class Made:
    """What comes of a content: its problem, worked out, and the misconceptions on it."""

    problem: Problem

    @cached_property
    def separation(self) -> Separation:
        from symattn.teaching.fairness.separation import separation  # many types plant no misconceptions

        return separation(self.problem.derivation)


def made(content: Record) -> Made:
    """A content worked out; the last few are remembered, for a variant is judged, set and proved in turn."""
    settings, given = (json.dumps(content[name]) for name in ("settings", "given"))
    return _made(content["mechanism"], settings, content["notation"], content["exact"], content["places"], given)


@lru_cache(maxsize=8)
def _made(name: str, settings: str, notation: str, exact: bool, places: int, given: str) -> Made:
    chosen = mechanism(name)
    derivation = chosen.run(thawed(json.loads(given)), _read_settings(settings))
    own = OWN if name.startswith("{") else name
    return Made(Problem(chosen.title, own, derivation, load_notation(notation), exact=exact, places=places))


@lru_cache(maxsize=8)
def _read_settings(settings: str) -> Settings:
    """All variants of a pool have the same."""
    return Settings.read(json.loads(settings))


def problem_of(content: Record, title: str = "") -> Problem:
    """The problem that a content stands for, worked out."""
    problem = made(content).problem
    return replace(problem, title=title) if title else problem


def key(content: Record) -> tuple[str, ...]:
    """The entries by which two keys are compared: those asked that have to be worked out, with where they stand.

    Lines that only scale or mask the one above, weights that the mask alone decides, and the outputs of tokens that see
    a single one are left out: they agree where others do, or in every variant.
    """
    return _entries(_texts(content))


Texts = Mapping[str, Sequence[Sequence[str]]]
"""The entries of every step asked as decimals, tokens as rows; "" for one that is not compared."""


def _texts(content: Record) -> Texts:
    """What is compared, in floats: most of what is drawn is not set, and exactly it would be most of the work."""
    givens = thawed(content["given"])
    shapes = tuple(m.shape for m in givens.values())
    program = _program(_Kind(content["mechanism"], json.dumps(content["settings"]), shapes, content))
    made = worked_out(program.steps, {name: m.T for name, m in givens.items()} if program.by_columns else givens)
    weights = made.get("A", ())
    sees_one = [1 in row for row in weights]

    def text(name: str, x: float, i: int) -> str:
        if name in ("A", "Z") and weights and (sees_one[i] or (name == "A" and x == 0)):
            return ""
        return f"{round(x, PLACES) + 0.0:.9g}"  # no -0

    compared = ((name, made[name]) for name in program.compared if name in made)
    return {name: [[text(name, x, i) for x in row] for i, row in enumerate(rows)] for name, rows in compared}


PLACES = 9
"""To so many places, two floats are the same number."""


@dataclass(frozen=True)
class _Kind:
    """What the steps of a content depend on: the same for all numbers."""

    mechanism: str
    settings: str
    shapes: tuple[tuple[int, int], ...]
    content: Record = field(compare=False)


class _Program(NamedTuple):
    """Steps, tokens as rows, the names of those that are compared, and whether tokens are columns in the content."""

    steps: Sequence[Step]
    compared: Sequence[str]
    by_columns: bool


@lru_cache(maxsize=8)
def _program(kind: _Kind) -> _Program:
    problem = problem_of(kind.content)
    d, roles = oriented(matrixwise(problem.derivation), "rows"), {step.role for step in problem.asked_steps}
    asked = [step for step in d if step.role in roles and isinstance(step.result, Matrix)]
    compared = [step.name for step in asked if not isinstance(step.op, Scale | Mask)]
    return _Program(d.steps, compared, problem.derivation.orientation == "columns")


def _entries(texts: Texts) -> tuple[str, ...]:
    tokens = list[str]()
    for name, rows in texts.items():
        labels, entries = _labels(name, len(rows), len(rows[0])), tuple(chain.from_iterable(rows))
        tokens += compress(map(add, labels, entries), entries)
    return tuple(tokens)


@lru_cache(maxsize=256)
def _labels(name: str, rows: int, columns: int) -> tuple[str, ...]:
    """Where the entries of a step stand, row by row."""
    return tuple(f"{name}[{i},{j}]=" for i in range(1, rows + 1) for j in range(1, columns + 1))


AXES = {"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v"), "Z": ("n", "d_v")}
"""What the lines of a step stand for; those of scores and weights for tokens both ways."""


def relabellings(
    content: Record, spec: Spec, family: Family, rng: Random
) -> Iterator[tuple[tuple[str, ...], Callable[[], Record]]]:
    """The same variant with its features and, unmasked, its tokens in other orders: equally hard (tier A).

    Each is a key, which is the permuted one and need not be worked out, and what makes its content.
    """
    chosen, settings = mechanism(spec.mechanism), spec.chosen_settings()
    if not chosen.is_attention:
        return
    shapes, texts, given = chosen.shapes(settings), _texts(content), thawed(content["given"])
    keys = "m" if "m" in chosen.letters else "n"
    axes = {name: AXES.get(name.partition("_")[0], ("n", "m")) for name in texts}
    letters = {
        name: (keys if line == "m" else line, keys if column == "m" else column)
        for name, (line, column) in axes.items()
    }
    tried = {str(orders): orders for orders in (any_order(family.free, rng) for _ in range(RELABELLINGS))}
    for orders in tried.values():
        moved = {}
        for name, rows in texts.items():
            line, column = letters[name]
            columns = orders.get(column, range(len(rows[0])))
            moved[name] = [[rows[i][j] for j in columns] for i in orders.get(line, range(len(rows)))]
        yield _entries(moved), partial(_permuted, content, given, shapes, orders)


def _permuted(
    content: Record,
    given: Mapping[str, Matrix],
    shapes: Mapping[str, tuple[str, str]],
    orders: Mapping[str, list[int]],
) -> Record:
    return {**content, "given": plain({name: frozen(m) for name, m in permuted(given, shapes, orders).items()})}


# ------------------------------------------------------------------------------------------------ for the question


def question(
    draw: Draw, problem: Problem, parts: Sequence[Part | Item], introduction: BlockLike, **more: Any
) -> draws.ProvedQuestion:
    """The question about a problem: all that is given is printed, its work is measured, its keys are balanced.

    `more` are further arguments of `draws.question`, or take the place of these.
    """
    wording = wording_of(problem)
    usual = {
        "title": problem.title,
        "problem": problem,
        "given": all_given(problem, wording),
        "features": measured(problem)[0],
        "positions": right_letters(lettered(item.part if isinstance(item, Item) else item for item in parts)),
    }
    return draws.question(draw, parts, introduction, conventions(problem, wording), **{**usual, **more})


def printed(step: Step, wording: Wording) -> tuple[Formula, ...]:
    """A step that is printed in full: its rule and its values."""
    parts = (wording.name(step.name), wording.rule(step), wording.values(step.result))
    return tuple(fold(Relation(parts, ("=", "=")), LINE))
