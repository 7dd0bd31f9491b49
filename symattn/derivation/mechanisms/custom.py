"""Any straight-line program of ops, written in a problem file: `mechanism = "custom"` and `[[step]]` entries.

`[[gradient]]` entries take gradients of its steps, and of those of any mechanism, with respect to what is given.
Steps with shapes of what they start from are a mechanism of one's own, drawn and varied like any other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Literal, get_origin, get_type_hints

from symattn.derivation.derivation import Arithmetic, Derivation, Op, Operand, StepName
from symattn.derivation.mechanisms.backward import backward, seeded
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.descent import descended
from symattn.derivation.mechanisms.settings import (
    Base,
    FirstPosition,
    FunctionName,
    MaskRows,
    Number,
    Positive,
    Rounding,
    Settings,
    Sizes,
    Stated,
    WordList,
)
from symattn.derivation.mechanisms.steps import mask_op, scale_op
from symattn.derivation.ops import operations
from symattn.derivation.ops.attention import MaskStyle
from symattn.derivation.ops.entrywise import Activation, Round, ToFloat
from symattn.derivation.ops.linear import Multiple, Scale, Slice, Transpose
from symattn.derivation.ops.position import Positional, Rotate, Sinusoids
from symattn.derivation.ops.scores import Temperature
from symattn.derivation.ops.words import ArgMax, LookUp
from symattn.errors import InputError, ReadError, offered
from symattn.exact import Size, Value, exact, matrix
from symattn.exact.reading import read
from symattn.exact.rounding import FORMATS
from symattn.formula import read_formula
from symattn.foundation.files import read_toml
from symattn.foundation.languages import Quoted
from symattn.foundation.typed import Between, Key, Matching, NotEmpty, OneOf, OrOne, Place, ReadBy, keys, kind_of
from symattn.foundation.typed import read as read_data

LONGEST_NAME = 60

NAMED_IN_WORDS = frozenset({"Q", "K", "V", "S", "S'", "M", "A", "Z"})
"""Steps of attention, which are called in a program of one's own as they are in attention: S is the scores."""
Count = Annotated[int, Between(1)]


# ------------------------------------------------------------------------------------------------ what ops are told


@dataclass(frozen=True)
class OfScale:
    by: Annotated[object, ReadBy(lambda given, place: given, expected="the number that it divides by")]
    written: str = ""


@dataclass(frozen=True)
class OfMask:
    mask: MaskRows = "causal"
    style: MaskStyle = "additive"


@dataclass(frozen=True)
class OfTemperature:
    by: Positive


@dataclass(frozen=True)
class OfActivation:
    function: FunctionName = "f"


@dataclass(frozen=True)
class OfPart:
    first: Count = 1
    count: Count = 1
    every: Count = 1
    of: Literal["columns", "rows"] = "columns"


@dataclass(frozen=True)
class OfMultiple:
    by: Number = 1


@dataclass(frozen=True)
class OfFloat:
    format: Annotated[str, OneOf(lambda: FORMATS)] = next(iter(FORMATS))


@dataclass(frozen=True)
class OfWaves:
    wavelength: Number = 10000
    angles: Stated = None
    first_position: FirstPosition = 0
    layout: Literal["pairs", "halves"] = "pairs"


@dataclass(frozen=True)
class OfPositions:
    formula: Annotated[
        tuple[str, ...],
        OrOne(),
        NotEmpty("one of the position p, such as sin(p/10000^(2*k/d)), or a list of them"),
    ]
    first_position: FirstPosition = 0


@dataclass(frozen=True)
class OfLookUp:
    rows: Annotated[tuple[Count, ...], OrOne(), NotEmpty("the number of a row, from 1, or a list of them")]
    along: Literal["rows", "columns"] = "rows"


@dataclass(frozen=True)
class OfArgMax:
    words: WordList = ""
    along: Literal["rows", "columns"] = "rows"


@dataclass(frozen=True)
class Before:
    """What an op follows: the derivation so far, the step's name and its operands."""

    derivation: Derivation
    name: str
    operands: Sequence[Operand]

    @property
    def shape(self) -> tuple[Size, Size]:
        """That of the first operand."""
        return self.derivation.then(self.name, Transpose(), self.operands[0]).last.result.shape[::-1]


def _scale(told: OfScale, before: Before) -> Scale:
    by, d = told.by, before.derivation
    keys = next((name for name in ("K", "Q") if name in d), None)
    sizes = {"d_k": d.value(keys).shape[1]} if keys else {}
    if isinstance(by, str) and not told.written and "d_k" in by and "d_k" in sizes:
        made = scale_op(by, sizes)
        assert made is not None
        return made
    divisor: Value = read(by, symbols=True).value if isinstance(by, str) else exact(by)
    made = scale_op(divisor, {})
    assert made is not None
    if told.written:
        read_formula(told.written)  # a ReadError here, and not when it is printed
    return Scale(made.divisor, told.written)


def _mask(told: OfMask, before: Before) -> Op:
    mask = mask_op(Settings(mask=told.mask, mask_style=told.style), *before.shape)
    if mask is None:
        raise InputError(f"Step {before.name!r} is a mask, but its mask is none.")
    return mask


def _waves(kind: type[Sinusoids] | type[Rotate], told: OfWaves, before: Before) -> Op:
    """Sinusoids, or a rotation, for tokens as rows: as many positions and features as the operand has."""
    from symattn.derivation.mechanisms.positional_encoding import angles, positions  # most steps have none

    settings = Settings(wavelength=told.wavelength, angles=told.angles, first_position=told.first_position)
    rows, width = before.shape
    waves = kind(angles(settings, width, alone=kind is Sinusoids), positions(settings, rows), told.layout)
    return replace(waves, odd=width % 2 == 1) if isinstance(waves, Sinusoids) and isinstance(width, int) else waves


def _positional(told: OfPositions, before: Before) -> Op:
    """Positions by a formula, or by several in turn."""
    from symattn.derivation.mechanisms.positional_encoding import positions

    rows, width = before.shape
    places = positions(Settings(first_position=told.first_position), rows)
    if not isinstance(width, int) or not isinstance(places, tuple):
        raise InputError(f"Step {before.name!r}: how many tokens and features there are must be numbers.")
    return Positional(told.formula, places, width)


TOLD: Mapping[str, tuple[type, Callable[[Any, Before], Op]]] = {
    "scale": (OfScale, _scale),
    "mask": (OfMask, _mask),
    "temperature": (OfTemperature, lambda told, _: Temperature(told.by)),
    "round": (Rounding, lambda told, _: Round(told.places, told.method, told.ties)),
    "activation": (OfActivation, lambda told, _: Activation(told.function)),
    "part": (OfPart, lambda told, _: Slice(told.first - 1, told.count, told.every, told.of)),
    "multiple": (OfMultiple, lambda told, _: Multiple(told.by)),
    "float": (OfFloat, lambda told, _: ToFloat(FORMATS[told.format])),
    "sinusoids": (OfWaves, lambda told, before: _waves(Sinusoids, told, before)),
    "rotate": (OfWaves, lambda told, before: _waves(Rotate, told, before)),
    "positions": (OfPositions, _positional),
    "look_up": (OfLookUp, lambda told, _: LookUp(tuple(row - 1 for row in told.rows), along=told.along)),
    "argmax": (OfArgMax, lambda told, _: ArgMax(tuple(told.words.split()), told.along)),
}
"""What a step says besides its name, op and operands, and the op that it makes; of other ops, their own fields."""


# ------------------------------------------------------------------------------------------------ steps


def run(
    givens: Mapping[str, object],
    steps: Sequence[Mapping[str, object]],
    *,
    staged: bool = False,
    arithmetic: Arithmetic = "exact",
    gradients: Sequence[Mapping[str, object]] = (),
    places: Mapping[str, str] = MappingProxyType({}),
) -> Derivation:
    """Work out the steps one after the other; errors name the step.

    A step is a table: `name`, `op` (by `operations`), `operands` or `of` (names; `K^T` transposes, `Q[2]` is row 2),
    and what it needs: scale: by, written;  mask: mask, style;  softmax: along, base, empty;  over_sum, hardmax: along,
    empty;  over, cross_entropy: along;  temperature: by;  soft_cap: cap;  feature_map: feature;  round: places, method,
    ties;  activation, slope: function;  sum, mean, mean_square: over;  variance: of, over;  standardise, rescale:
    epsilon;  norm: along;  stack: along;  part: first, count, every, of;  exp: base;  multiple: by;  float: format;
    look_up: rows (from 1), along;  top_k: k, along;  argmax: words, along;  descent: rate;
    sinusoids, rotate: wavelength, angles, first_position, layout;  positions: formula (or several, in turn) of the
    position p, the group k of features and the width d, first_position.

    What is not in this list needs the fields of its class.

    sinusoids and positions make a matrix as large as their operand, which is nothing but a measure.

    The gradients follow: see `differentiated`.  `places` says what the two lists are called where they stand in Python,
    so that errors say where: steps[1] is the second step.
    """
    d = Derivation({name: matrix(value) for name, value in givens.items()}, staged=staged, arithmetic=arithmetic)
    if not steps:
        raise InputError("A custom problem needs at least one [[step]] with name, op and operands.")
    return differentiated(followed(d, steps, places), gradients, places)


def followed(
    d: Derivation, steps: Sequence[Mapping[str, object]], places: Mapping[str, str] = MappingProxyType({})
) -> Derivation:
    """The derivation with these steps after it."""
    for number, step in enumerate(steps):
        place = _place(places, "step", number)
        with Place(place).here():
            d = _followed(d, step, place or f"Step {number + 1}")
    return d


def _followed(d: Derivation, step: Mapping[str, object], place: str) -> Derivation:
    """The derivation with one more step."""
    name, op = step.get("name"), step.get("op")
    if not isinstance(name, str) or not name:
        raise InputError(f"{place} has no name, or one that is not text.")
    if len(name) > LONGEST_NAME:
        raise InputError(f"{place} has a name of {len(name)} characters; {LONGEST_NAME} are enough.")
    if not isinstance(op, str) or op not in operations():
        raise InputError(f"Step {name!r} has the op {op!r}; {offered(op, operations(), 'one of {} was expected')}")
    known = {"name", "op", "operands", "of", "section", "title", *parameters_of(op)}
    if unknown := sorted(set(step) - known):
        raise InputError(
            f"Step {name!r} ({op}) has {unknown[0]!r}; {offered(unknown[0], sorted(known), '{} are known')}"
        )
    step = _with_operands(step, op)
    operands = step.get("operands")
    if isinstance(operands, str):
        operands = [operands]
    if not isinstance(operands, list | tuple) or not operands or not all(isinstance(o, str) for o in operands):
        raise InputError(f'Step {name!r} needs operands: a list of names such as ["Q", "K^T"].')
    used = [_operand(o, name) for o in operands]
    try:
        made = _op(op, step, Before(d, name, used))
    except ReadError as error:
        raise ReadError(f"Step {name!r} ({op}): {error}", error.text, error.position) from error
    title = step.get("title")
    if title is not None and (not isinstance(title, str) or len(title) > LONGEST_NAME):
        raise InputError(
            f"Step {name!r} has the title {title!r}; a text of at most {LONGEST_NAME} characters was expected."
        )
    if title is None and StepName.of(name).stem not in NAMED_IN_WORDS and not _is_gradient(d, name):
        title = made.title  # somebody's F need not be the output of a feed-forward network
    section = str(step.get("section", ""))
    return d.then(name, made, *used[: None if made.arity else 0], section=section, title=title)


def _is_gradient(d: Derivation, name: str) -> bool:
    """Whether it is called dS, after a matrix that there is."""
    return name.startswith("d") and (name[1:] in d or name[1:] in d.givens)


def _with_operands(step: Mapping[str, object], op: str) -> Mapping[str, object]:
    """The step with operands, where it has them by their shorter name; `of` says something else of some ops."""
    of = step.get("of")
    if of is None or (isinstance(of, str) and "of" in parameters_of(op)):
        return step
    if "operands" in step:
        raise InputError(f"Step {step['name']!r} has operands and of, which mean the same; one of them was expected.")
    return {**{key: value for key, value in step.items() if key != "of"}, "operands": of}


def differentiated(
    d: Derivation, gradients: Sequence[Mapping[str, object]], places: Mapping[str, str] = MappingProxyType({})
) -> Derivation:
    """The derivation with gradients after it, each a table: `of`, the name of a step, and `wrt`, names of givens.

    For `of` = Z, dZ is the gradient of the loss with respect to Z: a given of that name, else 1 for every entry, so
    that the loss is the sum of Z.  Without `wrt` the gradients of everything given on which Z depends are worked out.
    With a `learning_rate` η, one step of gradient descent follows, W − η·dW, for what is named in `wrt`, else for the
    weights and biases among the givens (see `descended`).
    """
    for number, (of, table) in enumerate(zip(upstreams(gradients, places), gradients, strict=True)):
        with Place(_place(places, "gradient", number)).here():
            wrt = table.get("wrt", [])
            if isinstance(wrt, str):
                wrt = [wrt]
            if not isinstance(wrt, list | tuple) or not all(isinstance(name, str) for name in wrt):
                raise InputError(f"The gradient of {of!r}: wrt is {wrt!r}; a list of givens was expected.")
            d = backward(seeded(d, of), of, wrt)
            if (rate := table.get("learning_rate")) is not None:
                at = Place(f"The gradient of {of!r}").at("learning_rate")
                d = descended(d, read_data(Positive, rate, at), wrt)
    return d


def upstreams(gradients: Sequence[object], places: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """The steps whose gradients the tables start from; `InputError` where one is no such table."""
    return [_upstream(table, _place(places, "gradient", k) or f"Gradient {k + 1}") for k, table in enumerate(gradients)]


def _upstream(table: object, place: str) -> str:
    if not isinstance(table, Mapping):
        raise InputError(f"{place} is {table!r}; a table with of and wrt was expected.")
    if unknown := sorted(set(table) - {"of", "wrt", "learning_rate"}):
        raise InputError(f"{place} has {unknown[0]!r}; of, wrt and learning_rate are known.")
    of = table.get("of")
    if not isinstance(of, str):
        raise InputError(f"{place}: of is {of!r}; the name of a step was expected.")
    return of


def _place(places: Mapping[str, str], what: str, number: int) -> str:
    """steps[1], where the tables stand in Python; nothing where they stand in a file."""
    return f"{places[what]}[{number}]" if what in places else ""


def operand_names(steps: Sequence[Mapping[str, object]]) -> set[str]:
    """The matrices that the operands of some steps name, as far as they can be read."""
    names: set[str] = set()
    for step in steps:
        for said in (step.get("operands"), step.get("of")):
            listed = said if isinstance(said, list | tuple) else [said]
            names |= {x.removesuffix("^T").partition("[")[0] for x in listed if isinstance(x, str)}
    return names


def _operand(text: str, step: str) -> Operand:
    name, turned = (text[:-2], True) if text.endswith("^T") else (text, False)
    row: int | None = None
    if name.endswith("]") and "[" in name:
        name, _, index = name[:-1].partition("[")
        if not index.isdecimal() or len(index) > 9 or int(index) < 1:
            raise InputError(f"Step {step!r}: {text!r} has no row number of 1 or more in its brackets.")
        row = int(index) - 1
    return Operand(name, turned, row)


def _op(op: str, step: Mapping[str, object], before: Before) -> Op:
    stated = {key: value for key, value in step.items() if key in parameters_of(op) and value is not None}
    place = Place(f"Step {before.name!r}")
    if op not in TOLD:
        return _by_fields(op, stated, place)
    kind, make = TOLD[op]
    return make(read_data(kind, stated, place), before)


def parameters_of(op: str) -> Sequence[str]:
    """What a step may say beside its name, op and operands: what is listed above, else the fields of the operation."""
    return keys(TOLD[op][0]) if op in TOLD else [parameter.name for parameter in fields(operations()[op])]  # type: ignore[arg-type]


def _by_fields(op: str, stated: Mapping[str, object], place: Place) -> Op:
    """An operation from its fields, each read as what it is: a word, a text, a whole number, or any number."""
    kind = operations()[op]
    arguments: dict[str, Any] = {}
    others = SimpleNamespace(__annotations__={f.name: f.type for f in fields(kind) if f.type not in NUMBERS})  # type: ignore[arg-type]
    try:
        hints = get_type_hints(others, vars(sys.modules[kind.__module__]))
    except NameError:  # a type that is imported for type checkers alone, such as a SymPy expression
        hints = {}
    for parameter in fields(kind):  # type: ignore[arg-type]
        hint = hints.get(parameter.name, str if isinstance(parameter.default, str) else Number)
        known = Count if hint is int else hint if hint is str or get_origin(hint) is Literal else Number
        known = NUMBERS.get(str(parameter.type), known)
        if parameter.name in stated:
            arguments[parameter.name] = read_data(known, stated[parameter.name], place.at(parameter.name))
        elif parameter.default is MISSING and parameter.default_factory is MISSING:
            raise place.lacks(parameter.name, kind_of(known).expected)
    return kind(**arguments)


NUMBERS = {"Value": Number, "Base": Base, "Positive": Positive}
"""How numbers are read that an operation has, by the names of their types there."""


# ------------------------------------------------------------------------------------ mechanisms from files

LARGEST = 50
"""Of sizes that are usual: a larger one is nothing to work out by hand."""


Letter = Annotated[str, Matching(r"[A-Za-z]\w*", "a letter such as n or d_k")]


@dataclass(frozen=True)
class GivenShape:
    """How large a given is: letters, or numbers, for tokens as rows."""

    rows: Letter | Annotated[int, Between(1)]
    columns: Letter | Annotated[int, Between(1)]


@dataclass(frozen=True)
class MechanismFile:
    """What such a file says: the shapes of what is given, in letters, the sizes that are usual, and the steps.

    title = "General scores"                      # Luong, Pham and Manning (2015), section 3.1

    [given]
    Q = {rows = "n", columns = "d_q"}
    W = {rows = "d_q", columns = "d_k"}
    K = {rows = "m", columns = "d_k"}

    [sizes]
    n = 2
    m = 3
    d_q = 2
    d_k = 3

    [[step]]
    name = "T"
    op = "matmul"
    operands = ["Q", "W"]

    [[step]]
    name = "S"
    op = "matmul"
    operands = ["T", "K^T"]
    """

    given: Annotated[Mapping[str, GivenShape], NotEmpty("shapes, such as Q = {rows = 'n', columns = 'd_k'}")]
    steps: Annotated[tuple[Mapping[str, Any], ...], Key("step"), NotEmpty("steps")]
    title: str = ""
    name: str = ""
    mechanism: Literal["custom"] = "custom"
    sizes: Mapping[str, Annotated[int, Between(1, LARGEST)]] = field(default_factory=dict)
    arithmetic: Arithmetic = "exact"
    source: str = ""


def is_mechanism(path: Path) -> bool:
    """Whether a TOML file is a mechanism: it has steps, and shapes of what they start from."""
    data = read_toml(path)
    given = data.get("given")
    return "step" in data and isinstance(given, Mapping) and all(isinstance(x, Mapping) for x in given.values())


def kept(path: Path) -> str:
    """What stands in a file, as JSON, with its name."""
    return json.dumps({"name": path.stem, **read_toml(path)}, ensure_ascii=False)


def from_file(name: str) -> Mechanism:
    """The mechanism of a file, or of what was kept of one; `InputError` says what is wrong with it, and where."""
    return _made(name if name.startswith("{") else kept(Path(name)))


@lru_cache(maxsize=32)
def _made(text: str) -> Mechanism:
    try:
        data = json.loads(text)
        stem = str(data["name"])
    except (ValueError, KeyError, RecursionError) as error:
        raise InputError(f"mechanism is {text[:40]!r}; a mechanism in JSON with its name was expected.") from error
    place = Place(f"{stem}.toml")
    file = read_data(MechanismFile, data, place)
    givens = {name: (str(shape.rows), str(shape.columns)) for name, shape in file.given.items()}
    letters = {letter for shape in givens.values() for letter in shape if not letter.isdigit()}
    place.at("sizes").know(file.sizes, sorted(letters))
    if missing := sorted(letters - {*file.sizes}):
        raise place.at("sizes").lacks(missing[0], "a number for every letter of the shapes")

    def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
        with place.here():
            return followed(d, file.steps)

    return Mechanism(
        name=place.file,
        title=Quoted(file.title or stem),
        givens=givens,
        derive=derive,
        defaults={"arithmetic": file.arithmetic} if file.arithmetic != "exact" else {},
        default_sizes=file.sizes,
    )
