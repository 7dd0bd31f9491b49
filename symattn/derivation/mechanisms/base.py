"""What mechanisms share: their settings, the shapes of their givens, and the way from Q, K, V to the output."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, reduce
from itertools import permutations
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from symattn.derivation.algebra import size_in_sympy
from symattn.derivation.derivation import (
    Arithmetic,
    Derivation,
    Op,
    Operand,
    Step,
    StepName,
    own_name,
    row_of,
    symbols,
    transposed,
    turned,
)
from symattn.derivation.mechanisms.masks import masks
from symattn.derivation.ops.attention import Mask, MaskStyle, Softmax
from symattn.derivation.ops.entrywise import Activation, Round, RoundingMethod
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver
from symattn.derivation.settings import ABOUT
from symattn.derivation.sizes import Axis, letters_of, share, times
from symattn.errors import InputError, LetterError, ReadError, ShapeError, offered
from symattn.exact import (
    AnyMatrix,
    Matrix,
    Outline,
    Size,
    Value,
    exact,
    from_sympy,
    has_symbols,
    is_symbolic,
    matrix,
    sign,
)
from symattn.exact.reading import read
from symattn.exact.values import listed
from symattn.formula.numbers import LETTERS
from symattn.foundation.languages import message
from symattn.foundation.typed import Between, Digits, Matching, Place, ReadBy, Such, choices
from symattn.foundation.typed import read as read_data

if TYPE_CHECKING:
    from symattn.derivation.ops.scores import Bias

SIZE_NAMES = ("n", "m", "h", "g", "d_model", "d_k", "d_v", "d_ff")
_SIZES = re.compile(rf"\b(?:{'|'.join(SIZE_NAMES)})\b")
_SIZE = re.compile(r"[dghkmn](?:_\w+)?")
"""What a reader would take a letter in a scale for."""


@dataclass(frozen=True)
class Rounding:
    """Rounding of the weights as a step; what follows is worked out from the rounded values."""

    places: Annotated[int, Between(0, 50)]
    method: RoundingMethod = "nearest"
    ties: Literal["even", "up", "down"] = "even"

    def op(self, along: Axis = "rows") -> Round:
        return Round(self.places, self.method, self.ties, along)


def _stated(given: object, place: Place) -> object:
    given = listed(given)
    if isinstance(given, float) and not math.isfinite(given):
        raise place.wrong(given, "a number")
    return given


def read_number(given: object, place: Place) -> Value:
    given = _stated(given, place)
    try:
        return exact(given)
    except InputError as error:
        unread = isinstance(given, str)
        raise (
            place.says(f"{given!r} cannot be used: {error}") if unread else place.wrong(given, "a number")
        ) from error


_PARAMETER = re.compile(rf"(?!e$)(?:[^\W\d_]|{'|'.join(LETTERS)})(?:_\w{{1,8}})?")


def parameter(name: str) -> Value:
    """A letter that stands for a positive number: T, c, tau, m_1.

    A spelled letter is the Greek one, as SymPy prints it; `InputError` for other words.
    """
    import sympy

    if not _PARAMETER.fullmatch(name):
        raise InputError(f"{name!r} is neither a number nor a letter that could stand for one.")
    return from_sympy(sympy.Symbol(name, positive=True))


def read_parameter(given: object, place: Place) -> Value:
    """A number, or a letter in place of it."""
    if isinstance(given, str) and _PARAMETER.fullmatch(given.strip()):
        return parameter(given.strip())
    return read_number(given, place)


def _base(given: object, place: Place) -> Value | Literal["e"]:
    if given == "e":
        return "e"
    base = read_parameter(given, place)
    if not is_symbolic(base) and (sign(base) <= 0 or base == 1):
        raise place.wrong(given, "a positive number other than 1")
    return base


def _mask(given: object, place: Place) -> object:
    """Rows that are given may be those of an array, 1.0 and 0.0."""
    rows = _stated(given, place)
    if not isinstance(rows, list):
        return rows
    return [[x if x not in (0, 1) else int(bool(x)) for x in row] if isinstance(row, list) else row for row in rows]


def _positive_number(given: object, place: Place) -> Value:
    number = read_parameter(given, place)
    if not is_symbolic(number) and sign(number) <= 0:
        raise place.wrong(given, "a positive number")
    return number


def _word_list(given: object, place: Place) -> str:
    """A list of words, or a text in which spaces or commas stand between them, with one space between two."""
    given = listed(given)
    words = re.split(r"[\s,]+", given.strip(" ,\t\n")) if isinstance(given, str) else given
    if not isinstance(words, list) or not all(isinstance(x, str | int) and not isinstance(x, bool) for x in words):
        raise place.wrong(given, "a list of words, such as the, students, open")
    words = [str(word) for word in words]
    if broken := [word for word in words if given and not re.fullmatch(r"[^\s,;|&<>$\\]{1,30}", word)]:
        raise place.says(f"{broken[0]!r} is no word of up to 30 letters without spaces and special signs.")
    return " ".join(words)


Stated: TypeAlias = Annotated[object, ReadBy(_stated)]
Number: TypeAlias = Annotated[Value, ReadBy(read_parameter, expected="a number")]
Base: TypeAlias = Annotated[Value | Literal["e"], ReadBy(_base)]
Positive: TypeAlias = Annotated[Value, ReadBy(_positive_number, expected="a positive number")]
WordList: TypeAlias = Annotated[str, ReadBy(_word_list, expected="a list of words")]
MaskRows: TypeAlias = Annotated[object, ReadBy(_mask)]
FunctionName: TypeAlias = Annotated[str, Matching(r"[A-Za-zσφ]\w{0,20}", "a name such as identity, relu or f")]
FirstPosition: TypeAlias = Annotated[int, Digits(), Between(0, 1)]
Feature: TypeAlias = Literal["elu+1", "relu", "square", "identity"]
Empty: TypeAlias = Literal["undefined", "zero"]
ORDERS = "|".join(map("".join, permutations("QKV")))


@dataclass(frozen=True)
class Settings:
    """How a mechanism is to be worked out: what a problem file may say; `symattn.derivation.settings` says it field by
    field.

    Some belong to some mechanisms only, which name them in `Mechanism.uses`; the rest refuse them.
    """

    arithmetic: Arithmetic = "exact"
    scale: Stated = "sqrt(d_k)"
    mask: MaskRows = None
    mask_style: MaskStyle = "additive"
    base: Base = "e"
    orientation: Literal["rows", "columns"] = "rows"
    by: Literal["matrix", "token"] = "matrix"
    scores: Literal["row", "column"] = "row"
    activation: FunctionName = "identity"
    order: Annotated[str, Matching(ORDERS, "the letters Q, K, V in some order")] = "QKV"
    rounding: Annotated[Rounding, Such("{places = 2}")] | None = None
    stop_at: str = ""
    heads: Annotated[int, Digits(), Between(1, 128)] = 1
    kv_heads: Annotated[int, Digits(), Between(0, 128)] = 0
    split: Literal["consecutive", "interleaved"] = "consecutive"
    empty: Empty = "undefined"
    weights: Literal["softmax", "sum", "hardmax"] = "softmax"
    cap: Number | None = None
    temperature: Number | None = None
    bias: str = ""
    feature: Feature = "elu+1"
    position: Literal["none", "sinusoidal", "sinusoidal-halves", "learned", "rotary", "rotary-halves"] = "none"
    wavelength: Number = 10000
    angles: Stated = None
    first_position: FirstPosition = 0
    embedding: Literal["plain", "scaled"] = "plain"
    norm: Literal["layer", "rms", "none"] = "layer"
    norm_place: Literal["post", "pre"] = "post"
    epsilon: Number = 0
    variance: Literal["population", "sample"] = "population"
    function: Literal["relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "identity"] = "relu"
    blocks: Annotated[int, Digits(), Between(1, 6)] = 1
    tile: Annotated[int, Digits(), Between(1, 64)] = 2
    prompt: WordList = ""
    top_k: Annotated[int, Digits(), Between(0, 1000)] = 0
    words: WordList = ""
    learning_rate: Positive | None = None

    @property
    def upright(self) -> Settings:
        """The same, laid out as usual: tokens as rows, and matrix by matrix."""
        return replace(self, orientation="rows", by="matrix", scores="row", order="QKV")

    @property
    def plain_scores(self) -> bool:
        """Whether there is one head, whose scores are scaled and masked alone before an ordinary softmax."""
        changed = self.bias or self.cap is not None or self.temperature is not None
        return self.heads == 1 and self.weights == "softmax" and self.empty == "undefined" and not changed

    @property
    def groups(self) -> int:
        """How many heads keys and values have."""
        return self.kv_heads or self.heads

    @property
    def letters(self) -> list[tuple[str, object]]:
        """The settings in which a letter stands for a number, each with its letter."""
        stated = [(f.name, getattr(self, f.name)) for f in fields(self)]
        in_scale = re.findall(r"[^\W\d]\w*", str(self.scale))
        slopes = map(str.strip, self.bias.partition(":")[2].split(","))
        return [
            *((name, value) for name, value in stated if has_symbols(value)),
            *(("scale", word) for word in in_scale if _PARAMETER.fullmatch(word) and not _SIZE.fullmatch(word)),
            *(("bias", slope) for slope in slopes if _PARAMETER.fullmatch(slope)),
        ]

    @classmethod
    def read(cls, given: Mapping[str, object], where: str | Place = "") -> Settings:
        """Settings from a problem file or from keyword arguments; `InputError` names what is wrong."""
        known = sorted(f.name for f in fields(cls))
        for name in given:
            if name not in known:
                raise InputError(f"There is no setting {name!r}; {offered(name, known, 'the settings are {}')}")
        settings = read_data(cls, {name: value for name, value in given.items() if not is_unset(name, value)}, where)
        if settings.heads % settings.groups:
            raise InputError(f"{settings.heads} heads cannot share {settings.kv_heads} key and value heads evenly.")
        if settings.angles is not None and given.get("wavelength") is not None:
            raise InputError("Angles follow from a wavelength or are stated; wavelength and angles are both given.")
        return settings


UNSET: Mapping[str, str] = {f.name: ABOUT[f.name].unset for f in fields(Settings) if f.default in (None, "")}
"""What is said of settings that are not set, by their names."""


def is_unset(name: str, value: object) -> bool:
    """Whether this says that the setting is not set: as it is listed, so it may be typed (cap = none)."""
    return value is None or (isinstance(value, str) and value.strip() == UNSET.get(name))


INSTEAD: Mapping[str, str] = {"wavelength": "angles", "angles": "wavelength"}
"""What a setting takes the place of, another way of saying the same."""


def layered(*levels: Mapping[str, object]) -> dict[str, object]:
    """Settings of several levels, each over those before it: what one says is said no more in another way by these."""
    merged: dict[str, object] = {}
    for level in levels:
        stated = {name for name, value in level.items() if value is not None}
        merged = {name: value for name, value in merged.items() if INSTEAD.get(name) not in stated} | dict(level)
    return merged


CHOICES = choices(Settings)
"""The settings that take one of a few words."""

SCORES = frozenset({"empty", "weights", "cap", "temperature", "bias"})
"""What every mechanism with scores may be told."""

BY_TOKEN = frozenset({"by", "scores"})
"""Of mechanisms that can go token by token."""

ROTARY = frozenset({"position", "wavelength", "angles", "first_position"})
POSITIONS = ROTARY | {"embedding"}
HEADS = frozenset({"heads", "kv_heads", "split"})
NORM = frozenset({"norm", "norm_place", "epsilon", "variance"})
NEXT_WORD = frozenset({"prompt", "temperature", "top_k", "words"})
DESCENT = frozenset({"learning_rate"})
NOT_OF_ALL = (
    SCORES | BY_TOKEN | POSITIONS | HEADS | NORM | NEXT_WORD | DESCENT | {"feature", "function", "blocks", "tile"}
)
"""The settings that not every mechanism has."""


@dataclass(frozen=True)
class Mechanism:
    """One kind of computation: what it starts from and how it goes on.

    `givens` maps each given to its shape in letters (`X` is n × d_model), tokens as rows; a letter may have a factor h
    or g, the heads and the key and value heads (`W_Q` is d_model × h*d_k).  A size may be the sum of those of matrices
    before it, as far as they are given (`B` is n × m_past+m).  A name with {head} or {block} in it stands
    for one given in every head or block: `A_{head}` for A_1, A_2, …  `optional` givens may be left out; those that are
    `usual` come all the same in letters and in random numbers.  `derive` gets givens whose shapes have been checked,
    tokens as rows, and says the steps; no step has values then.  `uses` are the settings it has besides those of all.
     `starts_from` says which of the required and usual givens are so with some settings:
    embeddings E in place of N where a prompt is looked up.

    For random worksheets: `default_sizes` of its letters; `drawn`, settings that make numbers come out, and
    `drawn_exactly`, further ones where arithmetic is stated to be exact; `draw` makes givens that suit it (any of the
    right shapes; what they lead to is judged afterwards); `complaint` says why a derivation is not worth setting;
    `is_attention` that it is nothing but attention, whose numbers are judged as such.

    `other_way` works the output of a derivation out as someone would who does not know this mechanism, ending in a step
    of the same name: for keys, which say that the two agree.
    """

    name: str
    title: str
    givens: Mapping[str, tuple[str, str]]
    derive: Callable[[Derivation, Settings, Mapping[str, Size]], Derivation]
    optional: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    usual: tuple[str, ...] = ()
    defaults: Mapping[str, object] = field(default_factory=dict)
    drawn: Mapping[str, object] = field(default_factory=dict)
    drawn_exactly: Mapping[str, object] = field(default_factory=dict)
    uses: frozenset[str] = frozenset()
    default_sizes: Mapping[str, int] = field(default_factory=dict)
    draw: Callable[[Settings, Mapping[str, Size], random.Random], Mapping[str, Matrix]] | None = None
    complaint: Callable[[Derivation], str] = lambda d: ""
    is_attention: bool = False
    other_way: Callable[[Derivation], Derivation] | None = None
    starts_from: Callable[[str, Settings], bool] = lambda name, settings: True

    def shapes(self, settings: Settings) -> dict[str, tuple[str, str]]:
        """Every given, required or not, with its shape in letters for this orientation; h*d_k is d_k with one head."""
        listed = numbered({**self.givens, **self.optional}, settings)
        single = [f"{factor}*" for factor, count in _head_counts(settings).items() if count == 1]
        plain = {name: tuple(_without(spec, single) for spec in shape) for name, shape in listed.items()}
        return {name: (r, c) if settings.orientation == "rows" else (c, r) for name, (r, c) in plain.items()}

    def has_given(self, name: str) -> bool:
        """Whether a given is called so, in whichever head or block."""
        named = (re.escape(one) for one in (*self.givens, *self.optional))
        return any(re.fullmatch(re.sub(r"\\\{\w+\\\}", r"\\d+", one), own_name(name)) for one in named)

    def no_given(self, name: str, settings: Settings) -> InputError:
        """The error for an unknown given."""
        return InputError(f"{self.name} has no given {name!r}; {offered(name, self.shapes(settings), 'it knows {}')}")

    def layout(self, preset: Mapping[str, object]) -> dict[str, object]:
        """Of a notation's way of going about things, what this mechanism has: heads do not go token by token."""
        return {name: value for name, value in preset.items() if name in self.uses or name not in NOT_OF_ALL}

    def expected(self, settings: Settings) -> tuple[str, ...]:
        """The givens that letters and random numbers are made for: the required and the usual ones."""
        usual = {name: self.optional[name] for name in self.usual}
        return tuple(name for name in numbered({**self.givens, **usual}, settings) if self.starts_from(name, settings))

    @property
    def letters(self) -> tuple[str, ...]:
        """The sizes that its givens have: n, d_model, d_k, …"""
        shapes = [*self.givens.values(), *(self.optional[name] for name in self.usual)]
        size_letters = (_factored(s)[1] for shape in shapes for s in shape if not s.isdigit())
        return tuple(dict.fromkeys(size_letters))

    def run(self, givens: Mapping[str, object], settings: Settings, *, staged: bool = False) -> Derivation:
        """Check the givens and work everything out.

        `InputError` for a given that is missing or unknown or a setting that this mechanism has not, `ShapeError` for
        shapes that contradict one another.
        """
        default = Settings()
        for name in sorted(NOT_OF_ALL - self.uses):
            if getattr(settings, name) != getattr(default, name):
                tail = offered(name, sorted(self.uses), "its own are {}" if self.uses else "it has those of all alone")
                raise InputError(f"{self.name} has no setting {name!r}; {tail}")
        read = {own_name(name): _given(name, value) for name, value in givens.items()}
        if len(read) < len(givens):
            twice = next(name for name in givens if own_name(name) in givens and own_name(name) != name)
            raise InputError(f"{twice} and {own_name(twice)} are the same matrix, and both are given.")
        sizes = self.sizes(read, settings)
        of_sizes = {letter for size in sizes.values() for letter in letters_of(size)}
        for name, letter in settings.letters:
            if name != "scale" and str(letter) in of_sizes:
                raise InputError(f"{name} has the letter {letter}, which is a size here; another one was expected.")
        d = Derivation(read, (), staged, settings.orientation, settings.arithmetic)
        plan = self._plan(d, settings, sizes)
        return reduce(Derivation.extended, _until(plan, settings.stop_at), replace(d, taken=plan.taken))

    def _plan(self, d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
        """All steps with their shapes: said for tokens as rows, and turned where they are columns."""
        plan: Derivation = _Plan(d.givens, (), d.staged, d.orientation)
        if columns := settings.orientation == "columns":
            plan, settings = turned(plan), replace(settings, orientation="rows", scores="row")
        plan = self.derive(plan, settings, sizes)
        if settings.learning_rate is not None:
            plan = descended(plan, settings.learning_rate)
        return turned(plan) if columns else plan

    def sizes(self, givens: Mapping[str, AnyMatrix], settings: Settings) -> dict[str, Size]:
        """What n, d_model, d_k, d_v are, as the givens' shapes tell; h and g, if there are heads.

        `InputError` for a given that is missing or unknown, `ShapeError` for shapes that contradict one another.
        """
        shapes = self.shapes(settings)
        required = [name for name in numbered(self.givens, settings) if self.starts_from(name, settings)]
        if required and not givens:
            raise InputError(
                f"{self.name} starts from {', '.join(required)}, and no matrix is given. For letters in place of "
                f"numbers there is --symbolic, in Python symbolic=True; `symattn worksheet {self.name}` draws numbers."
            )
        for name in required:
            if name not in givens:
                raise InputError(f"{self.name} starts from {', '.join(required)}; {name} is missing.")
        for name in givens:
            if name not in shapes:
                raise self.no_given(name, settings)
        read = _Sizes(settings, {"h": settings.heads, "g": settings.groups} if "heads" in self.uses else {})
        for name, letters in shapes.items():
            if name in givens:
                read.shape(name, givens[name].shape, letters)
        return read.sizes

    def given_shapes(self, sizes: Mapping[str, Size], settings: Settings) -> dict[str, tuple[Size, Size]]:
        """The shapes of the expected givens in numbers, as far as the sizes are numbers."""
        known, shapes = _head_counts(settings), self.shapes(settings)
        by_name: dict[str, tuple[Size, Size]] = {}
        for name in self.expected(settings):
            rows, columns = (_whole(spec, sizes, known) for spec in shapes[name])
            by_name[name] = (rows, columns)
        return by_name

    def symbolic(self, sizes: Mapping[str, Size], settings: Settings) -> dict[str, AnyMatrix]:
        """Givens named entry by entry (x_11, x_12, …); shapes alone where a size is a letter or above 8."""
        shapes = self.given_shapes(sizes, settings)
        written_out = all(isinstance(s, int) and s <= 8 for shape in shapes.values() for s in shape)
        result: dict[str, AnyMatrix] = {}
        for name, (rows, columns) in shapes.items():
            if written_out and isinstance(rows, int) and isinstance(columns, int):
                result[name] = symbols(name, rows, columns)
            else:
                result[name] = Outline((rows, columns))
        return result


def numbered(named: Mapping[str, tuple[str, str]], settings: Settings) -> dict[str, tuple[str, str]]:
    """Names with {head} or {block} in them once for each: A_1, A_2; W_Q^1, W_Q^2."""
    by_name = dict(named)
    for mark, count in (("{head}", settings.heads), ("{block}", settings.blocks)):
        by_name = {
            name.replace(mark, str(number)): shape
            for name, shape in by_name.items()
            for number in (range(1, count + 1) if mark in name else (0,))
        }
    return by_name


def _factored(spec: str) -> tuple[str, str]:
    """h*d_k as h and d_k; n as "" and n."""
    factor, star, letter = spec.partition("*")
    return (factor, letter) if star else ("", spec)


def _head_counts(settings: Settings) -> dict[str, int]:
    """What the factors of shapes stand for: all heads, and those of keys and values."""
    return {"h": settings.heads, "g": settings.groups}


def _without(spec: str, single: Sequence[str]) -> str:
    """d_k for h*d_k where there is one head."""
    return reduce(lambda text, factor: text.removeprefix(factor), single, spec)


@dataclass
class _Sizes:
    """Sizes by their letters, read off one given after the other; `source` says which one told each first."""

    settings: Settings
    sizes: dict[str, Size]
    source: dict[str, str] = field(default_factory=dict)

    def shape(self, name: str, shape: tuple[Size, Size], letters: tuple[str, str]) -> None:
        """Read the sizes of a given off its shape; `ShapeError` where they are others than those read before."""
        said = f"{name} is {shape[0]}×{shape[1]}"
        for spec, whole, axis in zip(letters, shape, ("rows", "columns"), strict=True):
            terms = {letter: self.sizes[letter] for letter in spec.split("+") if letter in self.sizes}
            if len(terms) > 1:
                _check_total(said, whole, axis, terms)
                continue
            factor, letter = _factored(next(iter(terms)) if "+" in spec else spec)
            size = self._share(name, whole, factor, axis)
            if letter.isdigit():
                if size != int(letter):
                    raise ShapeError(f"{said}; {letter} of its {axis} was expected.")
            elif self.sizes.setdefault(letter, size) != size:
                before, source = self.sizes[letter], self.source[letter]
                raise ShapeError(f"{said}, so {letter} would be {size}; but {letter} is {before} by {source}.")
            else:
                self.source.setdefault(letter, f"{name} ({shape[0]}×{shape[1]})")

    def _share(self, name: str, size: Size, factor: str, axis: str) -> Size:
        """The share of one head in a size."""
        heads = {**_head_counts(self.settings), "": 1}[factor]
        if heads == 1:
            return size
        one = share(size, heads)
        if one is None and isinstance(size, str):
            raise LetterError(
                f"With {heads} heads, the {axis} of {name} must be a number or as {heads}*{size}, so that a head has "
                f"some of them, not {size}."
            )
        if one is None:
            raise ShapeError(f"{name} has {size} {axis}, which {heads} heads cannot share evenly.")
        return one


def _check_total(said: str, size: Size, axis: str, terms: Mapping[str, Size]) -> None:
    """`ShapeError` where a size is not the sum of others, as far as all are numbers."""
    numbers = [n for n in terms.values() if isinstance(n, int)]
    if isinstance(size, int) and len(numbers) == len(terms) and size != sum(numbers):
        sums = " + ".join(terms), " + ".join(map(str, numbers))
        raise ShapeError(f"{said}; {sum(numbers)} {axis} were expected: {sums[0]} = {sums[1]}.")


def _whole(spec: str, sizes: Mapping[str, Size], heads: Mapping[str, int]) -> Size:
    factor, letter = _factored(spec)
    size = int(letter) if letter.isdigit() else sizes.get(letter, letter)
    return times(heads[factor], size) if factor else size


class _Plan(Derivation):
    """A derivation of which only the shapes are worked out, to see which steps there are."""

    def _result(self, step: Step) -> AnyMatrix:
        return super()._result(step) if step.operands else Outline(step.op.shape())

    def _operand(self, step: Step, operand: Operand) -> AnyMatrix:
        return Outline(super()._operand(step, operand).shape)


_LAST_ROLES = ("S", "S'", "S_T", "S_cap", "S_B", "M", "A", "A_rounded", "weighted", "Z")


def _until(d: Derivation, stop: str) -> tuple[Step, ...]:
    """The steps up to the role `stop`, if one is named, and what is beside them, also where it goes token by token."""
    if not stop:
        return d.steps
    if stop not in {step.role for step in d}:
        roles = dict.fromkeys(step.role for step in d)
        raise InputError(f"stop_at is {stop!r}; {offered(stop, roles, 'one of the steps {} was expected')}")
    if stop in d:
        return d.until(stop).steps
    if stop not in _LAST_ROLES:  # every position has one
        return d.until([step.name for step in d if step.role == stop][-1]).steps
    later, dropped = _LAST_ROLES[_LAST_ROLES.index(stop) + 1 :], set[str]()
    for step in d:
        if step.role in later or any(operand.name in dropped for operand in step.operands):
            dropped.add(step.name)
    return tuple(step for step in d if step.name not in dropped)


def _given(name: str, value: object) -> AnyMatrix:
    try:
        return matrix(value)
    except InputError as error:
        raise InputError(f"Given {name}: {error}") from error


# ---------------------------------------------------------------------------------------------- the common way


def affine(
    d: Derivation,
    name: str,
    source: str | Operand,
    weights: str,
    bias: str,
    function: str = "identity",
    section: str = "",
) -> Derivation:
    """f(source · weights + bias), with the bias if it is given; what comes before is Q_product and Q_linear for Q."""
    linear = name if function == "identity" else _unfinished(name, "linear")
    product = _unfinished(name, "product") if bias in d.givens else linear
    d = d.then(product, MatMul(), source, weights, section=section)
    if product != linear:
        d = d.then(linear, Add(), product, bias, section=section)
    return d if linear == name else d.then(name, Activation(function), linear, section=section)


def _unfinished(name: str, so_far: str) -> str:
    """Q_linear^self for Q^self."""
    return re.sub(r"(?=[\^.])|$", f"_{so_far}", name, count=1)


def project(d: Derivation, role: str, settings: Settings, source: str = "X", place: str = "") -> Derivation:
    """Q = X W_Q, with a bias and an activation where there are any.

    `source` is what is projected, in place of X; `place` says in which layer: Q^self = X W_Q^self.
    """
    at = f"^{place}" if place else ""
    return affine(d, role + at, source, f"W_{role}{at}", f"b_{role}{at}", settings.activation, layer_words(place))


def layer_words(place: str) -> str:
    """A layer in words, from its place in names: self-attention of Q^self, block 2 of Q^2; "" where there is none."""
    return message("block {block}", block=place) if place.isdecimal() else _ATTENTIONS.get(place, place)


_ATTENTIONS = {"self": message("self-attention"), "cross": message("cross-attention")}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where steps stand: in which of how many heads, in which layer, for which token.  Names end in it: S_1^self.2."""

    head: int | None = None
    place: str = ""
    of: int = 1
    token: int | None = None

    def __call__(self, stem: str) -> str:
        head, place = f"_{self.head}" if self.head else "", f"^{self.place}" if self.place else ""
        return stem + head + place + (f".{self.token}" if self.token else "")

    @property
    def section(self) -> str:
        if self.token:
            return message("token {token}", token=self.token)
        if not self.head:
            return layer_words(self.place)
        if not self.place:
            return message("head {head}", head=self.head)
        return message("head {head}, {place}", head=self.head, place=layer_words(self.place))


@dataclass
class Section:
    """A part of a derivation that is being written: steps under one heading, in the names of their scope."""

    d: Derivation
    scope: Scope
    heading: str | None = None

    def add(self, stem: str, op: Op, *operands: str | Operand) -> str:
        """One more step; what it is called."""
        name, heading = self.scope(stem), self.scope.section if self.heading is None else self.heading
        self.d = self.d.then(name, op, *operands, section=heading)
        return name


def attend(
    d: Derivation,
    settings: Settings,
    sizes: Mapping[str, Size],
    scope: Scope = Scope(),
    operands: tuple[str, str, str] | None = None,
) -> Derivation:
    """softmax(Q Kᵀ / √d_k + mask) V (Vaswani et al. 2017, section 3.2.1, equation 1).

    `operands` are the names of Q, K and V where they are not those of the scope (heads that share keys).  Scores may be
    changed on the way: divided by a temperature, capped, biased; the order is that of scale, temperature, cap, bias,
    mask.
    """
    n, m = sizes["n"], sizes.get("m", sizes["n"])
    q, k, v = operands or (scope("Q"), scope("K"), scope("V"))
    scale = scale_op(settings.scale, sizes)
    mask = mask_op(settings, n, m)
    if settings.by == "token":
        if not isinstance(n, int):
            raise LetterError("Token by token, the number of tokens must be a number.")
        changed = [name for name in ("temperature", "cap", "bias") if getattr(settings, name)]
        changed += ["B"] if "B" in d.givens else []
        if changed or scope != Scope() or settings.weights != "softmax" or not isinstance(mask, Mask | None):
            raise InputError(
                "Token by token there is one head, a softmax, and only scale and mask before it; what else is done "
                "to scores goes matrix by matrix (by = 'matrix')."
            )
        return _attend_by_token(d, settings, n, scale, mask)
    lines = Section(d, scope)
    last = lines.add("S", MatMul(), q, transposed(k))  # n × m, row i: query i against every key
    if scale:
        last = lines.add("S'", scale, last)
    for stem, op, *others in _changes(d, settings, scope, (n, m)):
        last = lines.add(stem, op, last, *others)
    if mask:
        last = lines.add("M", mask, last)
    lines.add("A", weights_op(settings), last)
    return mix(lines.d, settings, scope, v)


def _changes(
    d: Derivation, settings: Settings, scope: Scope, shape: tuple[Size, Size]
) -> Iterator[tuple[str, Op, *tuple[str, ...]]]:
    """The steps between scale and mask: S_T over the temperature, S_cap capped, S_B with a bias."""
    own = f"B_{scope.head or 1}"
    biases = [name for name in dict.fromkeys(("B", own)) if name in d.givens]
    if settings.bias and biases:
        raise InputError(f"A bias is given as {biases[0]} and as {settings.bias!r}; only one can be added.")
    if len(biases) > 1:
        raise InputError(f"A bias is given as B for all heads and as {own}; only one can be added.")
    if scope.head and not biases and any(re.fullmatch(r"B_\d+", name) for name in d.givens):
        raise InputError(f"A bias is given for some heads, and {own} is missing; all heads have one, or none.")
    if settings.temperature is not None:
        from symattn.derivation.ops.scores import Temperature

        temperature = Temperature(positive("temperature", settings.temperature))
        yield "S_T", replace(temperature, of="") if has_symbols(settings.temperature) else temperature
    if settings.cap is not None:
        from symattn.derivation.ops.scores import SoftCap

        yield "S_cap", SoftCap(positive("cap", settings.cap))
    if settings.bias:
        yield "S_B", _alibi(settings.bias, scope, shape)
    if biases:
        yield "S_B", Add(), biases[0]


def positive(setting: str, number: Value) -> Value:
    if not is_symbolic(number) and sign(number) <= 0:
        raise InputError(f"The {setting} is {number}; a positive number was expected.")
    return number


def _alibi(bias: str, scope: Scope, shape: tuple[Size, Size]) -> Op:
    """A head's bias, with ALiBi's own slope or the one that is stated for it."""
    from symattn.derivation.ops.scores import alibi, alibi_slope

    rows, columns = shape
    kind, colon, listed = bias.partition(":")
    if kind != "alibi":
        raise InputError(f"bias is {bias!r}; alibi, or alibi:1/2,1/4 (a slope for every head), was expected.")
    head = scope.head or 1
    if not colon:
        return alibi(alibi_slope(head, scope.of), rows, columns)
    slopes = listed.split(",")
    if len(slopes) != scope.of:
        raise InputError(f"bias is {bias!r}; a slope for every head, and so {scope.of} of them, were expected.")
    return alibi(read_parameter(slopes[head - 1], Place().at("bias")), rows, columns)


def weights_op(settings: Settings) -> Op:
    """How a row of scores becomes a row of weights."""
    if settings.weights != "softmax" and settings.base != "e":
        raise InputError(f"The base is {settings.base}, but the weights are {settings.weights}, without any powers.")
    if settings.weights == "softmax":
        return Softmax(base=settings.base, empty=settings.empty)
    from symattn.derivation.ops.scores import Hardmax, OverSum

    return (OverSum if settings.weights == "sum" else Hardmax)(empty=settings.empty)


def mix(d: Derivation, settings: Settings, scope: Scope = Scope(), values: str = "V") -> Derivation:
    """From the weights A to the output Z: the values weighted and summed, with the weights rounded first if asked."""
    lines, weights = Section(d, scope), scope("A")
    if settings.rounding:
        weights = lines.add("A_rounded", settings.rounding.op(), weights)
    lines.add("Z", MatMul(), weights, values)  # n × d_v
    return lines.d


def _attend_by_token(d: Derivation, settings: Settings, n: int, scale: Scale | None, mask: Mask | None) -> Derivation:
    """The same, one token after the other: its scores, its weights, the values times the weights, their sum."""
    upright = settings.scores == "column"
    along: Axis = "columns" if upright else "rows"
    for t in range(n):
        lines = Section(d, Scope(token=t + 1))
        last = lines.add("S", MatMul(), *(("K", transposed("Q", t)) if upright else (row_of("Q", t), transposed("K"))))
        if scale:
            last = lines.add("S'", scale, last)
        if mask:
            own = replace(mask, keep=mask.keep[t : t + 1])
            last = lines.add("M", own.turn() if upright else own, last)
        weights = lines.add("A", Softmax(along, settings.base, settings.empty), last)
        d = mix_token(lines.d, settings, t, Operand(weights), along)
    return gather(d, n)


def mix_token(d: Derivation, settings: Settings, t: int, weights: Operand, along: Axis = "rows") -> Derivation:
    """One token's output: every value times its weight, then the sum; weights stand `along` a row or a column."""
    lines = Section(d, Scope(token=t + 1))
    if settings.rounding:
        weights = Operand(lines.add("A_rounded", settings.rounding.op(along), weights))
    below = weights.flipped if along == "rows" else weights
    weighted = lines.add("weighted", Hadamard(), below, "V")  # n × d_v
    lines.add("Z", SumOver("rows"), weighted)  # 1 × d_v
    return lines.d


def gather(d: Derivation, n: int) -> Derivation:
    """The tokens' outputs put together: Z."""
    return d.then("Z", Stack("rows"), *(f"Z.{t + 1}" for t in range(n)))


# ---------------------------------------------------------------------------------------------- scale and mask


def scale_op(spec: object, sizes: Mapping[str, Size]) -> Scale | None:
    """The scaling step that `spec` asks for: none, √d_k, a number, an expression in the sizes."""
    if spec is None or (isinstance(spec, str) and spec.strip().lower() in ("", "none")):
        return None
    if not isinstance(spec, str):
        return Scale(_divisor(read_number(spec, Place().at("scale")), spec))
    of = re.sub(r"\bd_x\b", "d_model", spec.strip())
    used = [name for name in SIZE_NAMES if name in _SIZES.findall(of)]
    if missing := [name for name in used if name not in sizes]:
        raise InputError(f"The scale is {spec!r}, but {missing[0]} is not known here; {', '.join(sizes)} are.")
    free = (letter for letter in "abcdfghjklmnopqrstuvwxyz" if not re.search(rf"\b{letter}\b", of))
    short = {name: next(free) for name in used if isinstance(sizes[name], str)}  # d_k is no name that can be read
    filled = _SIZES.sub(lambda name: short.get(name[0], f"({sizes[name[0]]})"), of)
    try:
        divisor = _formula_of_sizes(filled)
    except ReadError as error:
        raise InputError(f"The scale {spec!r} cannot be read: {error}") from error
    if has_symbols(divisor):
        meant = {letter: size_in_sympy(sizes[name]) for name, letter in short.items()}
        meant |= {x.name: _letter_of(x.name, spec, sizes) for x in divisor.free_symbols if x.name not in meant}
        divisor = divisor.xreplace({x: meant[x.name] for x in divisor.free_symbols})
    return Scale(_divisor(divisor, spec), _SIZES.sub(lambda name: _own_letter(name[0], sizes), of) if used else "")


def _letter_of(letter: str, scale: str, sizes: Mapping[str, Size]) -> Any:
    """What a letter of a scale that names no size stands for: what a size is called here, or a number of its own."""
    if any(letter in letters_of(size) for size in sizes.values()):
        return size_in_sympy(letter)
    if _SIZE.fullmatch(letter):
        raise InputError(f"The scale is {scale!r}, but {letter} is not known here; {', '.join(sizes)} are.")
    return parameter(letter)


def _own_letter(name: str, sizes: Mapping[str, Size]) -> str:
    """The letter that a size has here: p for d_k where d_k is p; its name where it is a number."""
    size = sizes[name]
    if not isinstance(size, str):
        return name
    return size if size.isidentifier() else f"({size})"


@lru_cache(maxsize=64)
def _formula_of_sizes(text: str) -> Value:
    """The same for all variants of a pool."""
    return read(text, symbols=True).value


def _divisor(divisor: Value, spec: object) -> Value:
    if not is_symbolic(divisor) and divisor == 0:
        raise InputError(f"The scale is {spec!r}, which is 0; scores cannot be divided by 0.")
    return divisor


def mask_op(settings: Settings, rows: Size, columns: Size) -> Mask | Bias | None:
    """The masking step: what is hidden becomes −∞; finite values are added; none for no mask."""
    mask = masks(settings.mask)
    if mask is None:
        return None
    if not isinstance(rows, int) or not isinstance(columns, int):
        return Mask((), settings.mask_style, mask.kind, mask.patterns(rows, columns))
    keep = mask.keep(rows, columns)
    if added := mask.added(keep):
        from symattn.derivation.ops.scores import Bias

        return Bias(added)
    return Mask(keep, settings.mask_style, mask.kind, mask.rules(columns))


# ------------------------------------------------------------------------------------ gradient descent
def gradient(name: str) -> str:
    """What the gradient with respect to a matrix is called: dS'_2 for S'_2."""
    return f"d{name}"


SECTION = message("gradients")
"""Under what the steps of the way back stand."""


def is_gradient(step: Step) -> bool:
    """Whether it is a step of the way back."""
    return step.section.partition(",")[0] == SECTION


LEARNED = re.compile(r"(?:W|b|c|gamma|beta)(?:_\w+)?")
"""What a model learns: weights, biases, and γ and β of norms."""


def descended(d: Derivation, rate: Value, names: Sequence[str] = ()) -> Derivation:
    """The derivation with a step W^new for each of `names`, else for every parameter W that has a gradient dW.

    Where no parameter has one, as in attention of Q, K and V, whatever is given and has one takes the step.
    `InputError` where there is none.
    """
    from symattn.derivation.ops.gradient import Descent  # here, since few derivations need it

    fixed = {name for name, _ in d.taken}
    moved = [name for name in d.givens if f"d{name}" in {step.name for step in d} and name not in fixed]
    learned = [name for name in moved if LEARNED.fullmatch(StepName.of(name).stem)] or moved
    if not learned:
        raise InputError("A learning rate is given, and nothing that is given has a gradient; leave it out.")
    for name in names or learned:
        d = d.then(after_descent(name), Descent(rate), name, f"d{name}", section=message("gradient descent"))
    return d


def after_descent(name: str) -> str:
    """What a parameter is called after the step: W_Q^new; W_Q^self_new in a layer."""
    return f"{name}_new" if StepName.of(name).place else f"{name}^new"
