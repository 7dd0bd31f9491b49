"""Any straight-line program of ops, written in a problem file: `mechanism = "custom"` and `[[step]]` entries.

`[[gradient]]` entries take gradients of its steps, and of those of any mechanism, with respect to what is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from symattn.derivation import Derivation, Op, Operand
from symattn.errors import InputError, ReadError, offered
from symattn.exact import Size, Value, exact, matrix, sign
from symattn.exact.carry import Arithmetic
from symattn.exact.floats import FORMATS
from symattn.exact.reading import read
from symattn.formula import read_formula
from symattn.mechanisms.backward import backward, seeded
from symattn.mechanisms.base import Settings, mask_op, scale_op
from symattn.mechanisms.positional_encoding import angles, positions
from symattn.ops import (
    OPS,
    Activation,
    Exponential,
    Multiple,
    Part,
    Positional,
    Rotate,
    Round,
    Scale,
    Sinusoids,
    Softmax,
    Stack,
    SumOver,
    ToFloat,
)
from symattn.ops.gradient import SoftmaxGradient, SoftmaxJacobian
from symattn.ops.jacobian import InfinityNorm, Slope
from symattn.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.ops.online import Exponentials
from symattn.ops.scores import FeatureMap, Over, SoftCap, Temperature

LONGEST_NAME = 60
PARAMETERS: dict[str, tuple[str, ...]] = {
    "scale": ("by", "written"),
    "mask": ("mask", "style"),
    "softmax": ("along", "base", "empty"),
    "softmax_jacobian": ("along",),
    "softmax_gradient": ("along", "base"),
    "temperature": ("by",),
    "soft_cap": ("cap",),
    "over_sum": ("along", "empty"),
    "hardmax": ("along", "empty"),
    "feature_map": ("feature",),
    "over": ("along",),
    "cross_entropy": ("along",),
    "round": ("places", "method", "ties"),
    "activation": ("function",),
    "slope": ("function",),
    "norm": ("along",),
    "sum": ("over",),
    "mean": ("over",),
    "mean_square": ("over",),
    "variance": ("of", "over"),
    "standardise": ("epsilon",),
    "rescale": ("epsilon",),
    "stack": ("along",),
    "part": ("first", "count", "every", "of"),
    "running_maximum": ("along",),
    "exponentials": ("along", "base"),
    "accumulate": ("along",),
    "exp": ("base",),
    "multiple": ("by",),
    "float": ("format",),
    "sinusoids": ("wavelength", "angles", "first_position", "layout"),
    "positions": ("formula", "first_position"),
    "rotate": ("wavelength", "angles", "first_position", "layout"),
}


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

    A step is a table: `name`, `op` (one of `OPS`), `operands` or `of` (names; `K^T` transposes, `Q[2]` is row 2), and
    what the op needs: scale: by, written;  mask: mask, style;  softmax: along, base, empty;  over_sum, hardmax: along,
    empty;  over, cross_entropy: along;  temperature: by;  soft_cap: cap;  feature_map: feature;  round: places, method,
    ties;  activation, slope: function;  sum, mean, mean_square: over;  variance: of, over;  standardise, rescale:
    epsilon;  norm: along;  stack: along;  part: first, count, every, of;  exp: base;  multiple: by;  float: format;
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
    for number, step in enumerate(steps):
        place = _place(places, "step", number)
        with located(place):
            d = _followed(d, step, place or f"Step {number + 1}")
    return differentiated(d, gradients, places)


def _followed(d: Derivation, step: Mapping[str, object], place: str) -> Derivation:
    """The derivation with one more step."""
    name, op = step.get("name"), step.get("op")
    if not isinstance(name, str) or not name:
        raise InputError(f"{place} has no name, or one that is not text.")
    if len(name) > LONGEST_NAME:
        raise InputError(f"{place} has a name of {len(name)} characters; {LONGEST_NAME} are enough.")
    if not isinstance(op, str) or op not in OPS:
        raise InputError(f"Step {name!r} has the op {op!r}; {offered(op, OPS, 'one of {} was expected')}")
    known = {"name", "op", "operands", "of", "section", *_parameters(op)}
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
        made = _op(op, step, d, used)
    except ReadError as error:
        raise ReadError(f"Step {name!r} ({op}): {error}", error.text, error.position) from error
    return d.then(name, made, *used[: None if made.arity else 0], section=str(step.get("section", "")))


def _with_operands(step: Mapping[str, object], op: str) -> Mapping[str, object]:
    """The step with operands, where it has them by their shorter name; `of` says something else of some ops."""
    of = step.get("of")
    if of is None or (isinstance(of, str) and "of" in _parameters(op)):
        return step
    if "operands" in step:
        raise InputError(f"Step {step['name']!r} has operands and of, which mean the same; one of them was expected.")
    return {**{key: value for key, value in step.items() if key != "of"}, "operands": of}


@contextmanager
def located(place: str) -> Iterator[None]:
    """Every sentence about what is wrong begins with the place, where there is one to name."""
    try:
        yield
    except InputError as error:
        if not place or str(error).startswith(place):
            raise
        message = f"{place}: {error}"
        if isinstance(error, ReadError):
            raise ReadError(message, error.text, error.position) from error
        raise type(error)(message) from error


def differentiated(
    d: Derivation, gradients: Sequence[Mapping[str, object]], places: Mapping[str, str] = MappingProxyType({})
) -> Derivation:
    """The derivation with gradients after it, each a table: `of`, the name of a step, and `wrt`, names of givens.

    For `of` = Z, dZ is the gradient of the loss with respect to Z: a given of that name, else 1 for every entry, so
    that the loss is the sum of Z.  Without `wrt` the gradients of everything given on which Z depends are worked out.
    """
    for number, (of, table) in enumerate(zip(upstreams(gradients, places), gradients, strict=True)):
        with located(_place(places, "gradient", number)):
            wrt = table.get("wrt", [])
            if isinstance(wrt, str):
                wrt = [wrt]
            if not isinstance(wrt, list | tuple) or not all(isinstance(name, str) for name in wrt):
                raise InputError(f"The gradient of {of!r}: wrt is {wrt!r}; a list of givens was expected.")
            d = backward(seeded(d, of), of, wrt)
    return d


def upstreams(gradients: Sequence[object], places: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """The steps whose gradients the tables start from; `InputError` where one is no such table."""
    return [_upstream(table, _place(places, "gradient", k) or f"Gradient {k + 1}") for k, table in enumerate(gradients)]


def _upstream(table: object, place: str) -> str:
    if not isinstance(table, Mapping):
        raise InputError(f"{place} is {table!r}; a table with of and wrt was expected.")
    if unknown := sorted(set(table) - {"of", "wrt"}):
        raise InputError(f"{place} has {unknown[0]!r}; of and wrt are known.")
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


def _op(op: str, step: Mapping[str, object], d: Derivation, operands: Sequence[Operand]) -> Op:
    name = step["name"]
    match op:
        case "scale":
            return _scale(step, d)
        case "mask":
            shape = _shape(d, step, operands)
            settings = Settings.read({"mask_style": step.get("style", "additive"), "mask": step.get("mask", "causal")})
            mask = mask_op(settings, *shape)
            if mask is None:
                raise InputError(f"Step {name!r} is a mask, but its mask is none.")
            return mask
        case "softmax" | "over_sum" | "hardmax":
            along = _choice(step, "along", ("rows", "columns"))
            settings = Settings.read({"base": step.get("base", "e"), "empty": step.get("empty", "undefined")})
            if op == "softmax":
                return Softmax(along, settings.base, settings.empty)  # type: ignore[arg-type]
            return OPS[op](along, settings.empty)  # type: ignore[call-arg]
        case "over":
            return Over(_choice(step, "along", ("rows", "columns")))  # type: ignore[arg-type]
        case "temperature":
            return Temperature(_number(step, "by"))
        case "soft_cap":
            return SoftCap(_number(step, "cap"))
        case "feature_map":
            return FeatureMap(Settings.read({"feature": step.get("feature", "elu+1")}).feature)
        case "softmax_jacobian":
            return SoftmaxJacobian(_choice(step, "along", ("rows", "columns")))  # type: ignore[arg-type]
        case "softmax_gradient":
            along = _choice(step, "along", ("rows", "columns"))
            return SoftmaxGradient(along, Settings.read({"base": step.get("base", "e")}).base)  # type: ignore[arg-type]
        case "round":
            rounding = Settings.read({"rounding": {k: step[k] for k in ("places", "method", "ties") if k in step}})
            assert rounding.rounding is not None
            return Round(rounding.rounding.places, rounding.rounding.method, rounding.rounding.ties)
        case "activation":
            return Activation(Settings.read({"activation": step.get("function", "f")}).activation)
        case "slope":
            return Slope(_choice(step, "function", ("tanh", "sigmoid", "relu")))  # type: ignore[arg-type]
        case "norm":
            return InfinityNorm(_choice(step, "along", ("rows", "columns")))  # type: ignore[arg-type]
        case "mean":
            return Mean(_choice(step, "over", ("columns", "rows")))  # type: ignore[arg-type]
        case "mean_square":
            return MeanSquare(_choice(step, "over", ("columns", "rows")))  # type: ignore[arg-type]
        case "variance":
            of, over = (_choice(step, key, allowed) for key, allowed in _VARIANCE.items())
            return Variance(of, over)  # type: ignore[arg-type]
        case "standardise" | "rescale":
            epsilon = Settings.read({"epsilon": step.get("epsilon", 0)}).epsilon
            return Standardise(epsilon) if op == "standardise" else Rescale(epsilon)
        case "sum":
            return SumOver(_choice(step, "over", ("rows", "columns")))  # type: ignore[arg-type]
        case "part":
            first, count, every = (_count(step, key) for key in ("first", "count", "every"))
            return Part(first - 1, count, every, _choice(step, "of", ("columns", "rows")))  # type: ignore[arg-type]
        case "stack":
            return Stack(_choice(step, "along", ("rows", "columns")))  # type: ignore[arg-type]
        case "exp":
            return Exponential(Settings.read({"base": step.get("base", "e")}).base)
        case "multiple":
            return Multiple(exact(step.get("by", 1)))
        case "float":
            return ToFloat(FORMATS[_choice(step, "format", tuple(FORMATS))])
        case "sinusoids" | "rotate":
            return _waves(op, step, _shape(d, step, operands))
        case "positions":
            return _positional(step, _shape(d, step, operands))
        case "running_maximum" | "accumulate" | "cross_entropy":
            return OPS[op](_choice(step, "along", ("rows", "columns")))  # type: ignore[call-arg]
        case "exponentials":
            along = _choice(step, "along", ("rows", "columns"))
            return Exponentials(along, Settings.read({"base": step.get("base", "e")}).base)  # type: ignore[arg-type]
    return _by_fields(op, step)


def _parameters(op: str) -> Sequence[str]:
    """What a step says beside its name, op and operands: what is listed above, else the fields of the operation."""
    return PARAMETERS.get(op) or [own.name for own in fields(OPS[op])]  # type: ignore[arg-type]


def _by_fields(op: str, step: Mapping[str, object]) -> Op:
    """An operation from its fields: one of a few words, a text, a whole number, or any number."""
    kind = OPS[op]
    said: dict[str, Any] = {}
    try:
        hints = get_type_hints(kind)
    except NameError:  # a type that is imported for type checkers alone, such as a SymPy expression
        hints = {}
    for own in fields(kind):  # type: ignore[arg-type]
        if own.name not in step:
            if own.default is MISSING and own.default_factory is MISSING:
                raise InputError(f"Step {step['name']!r} ({op}) needs {own.name}.")
            continue
        value, hint = step[own.name], hints.get(own.name)
        if get_origin(hint) is Literal:
            said[own.name] = _choice(step, own.name, get_args(hint))
        elif hint is str or (hint is None and isinstance(own.default, str)):
            if not isinstance(value, str):
                raise InputError(f"Step {step['name']!r}: {own.name} is {value!r}; a text was expected.")
            said[own.name] = value
        else:
            said[own.name] = _count(step, own.name) if hint is int else exact(value)
    return kind(**said)


def _shape(d: Derivation, step: Mapping[str, object], operands: Sequence[Operand]) -> tuple[Size, Size]:
    """The shape of the first operand."""
    return d.then(str(step["name"]), OPS["transpose"](), operands[0]).last.result.shape[::-1]


def _waves(op: str, step: Mapping[str, object], shape: tuple[Size, Size]) -> Op:
    """Sinusoids, or a rotation, for tokens as rows: as many positions and features as the operand has."""
    given = {key: step[key] for key in ("wavelength", "angles", "first_position") if key in step}
    settings, own_layout = Settings.read(given), _choice(step, "layout", ("pairs", "halves"))
    kind = Sinusoids if op == "sinusoids" else Rotate
    return kind(angles(settings, shape[1]), positions(settings, shape[0]), own_layout)  # type: ignore[arg-type]


def _positional(step: Mapping[str, object], shape: tuple[Size, Size]) -> Op:
    """Positions by a formula, or by several in turn."""
    formula = step.get("formula")
    formulas = [formula] if isinstance(formula, str) else formula
    if not isinstance(formulas, list) or not formulas or not all(isinstance(one, str) for one in formulas):
        raise InputError(
            f"Step {step['name']!r}: formula is {formula!r}; one of the position p, such as sin(p/10000^(2*k/d)), or a "
            "list of them was expected."
        )
    settings = Settings.read({key: step[key] for key in ("first_position",) if key in step})
    rows, width = shape
    if not isinstance(width, int):
        raise InputError(f"Step {step['name']!r}: the number of features must be a number, not {width}.")
    return Positional(tuple(formulas), positions(settings, rows), width)


_VARIANCE = {"of": ("population", "sample"), "over": ("columns", "rows")}


def _choice(step: Mapping[str, object], key: str, allowed: tuple[str, ...]) -> str:
    value = step.get(key, allowed[0])
    if value not in allowed:
        tail = offered(value, allowed, f"{', '.join(allowed[:-1])} or {allowed[-1]} was expected")
        raise InputError(f"Step {step['name']!r}: {key} is {value!r}; {tail}")
    return str(value)


def _number(step: Mapping[str, object], key: str) -> Value:
    number = exact(step.get(key, 0))
    if sign(number) <= 0:
        raise InputError(f"Step {step['name']!r}: {key} is {number}; a positive number was expected.")
    return number


def _count(step: Mapping[str, object], key: str) -> int:
    """A whole number from 1, which it is where nothing is said."""
    number = step.get(key, 1)
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(f"Step {step['name']!r}: {key} is {number!r}; a whole number from 1 was expected.")
    return number


def _scale(step: Mapping[str, object], d: Derivation) -> Scale:
    by, written = step.get("by"), str(step.get("written", ""))
    if by is None:
        raise InputError(f"Step {step['name']!r} scales: by, the number that it divides by, is missing.")
    keys = next((name for name in ("K", "Q") if name in d), None)
    sizes = {"d_k": d.value(keys).shape[1]} if keys else {}
    if isinstance(by, str) and not written and "d_k" in by and "d_k" in sizes:
        made = scale_op(by, sizes)
        assert made is not None
        return made
    divisor: Value = read(by, symbols=True).value if isinstance(by, str) else exact(by)
    made = scale_op(divisor, {})
    assert made is not None
    if written:
        read_formula(written)  # a ReadError here, and not when it is printed
    return Scale(made.divisor, written)
