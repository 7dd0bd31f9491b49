"""How a mechanism is to be worked out: its settings, as problem files and keyword arguments say them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import permutations
from typing import Annotated, Literal, TypeAlias

from symattn.derivation.derivation import Arithmetic
from symattn.derivation.ops.attention import MaskStyle
from symattn.derivation.ops.entrywise import Round, RoundingMethod
from symattn.derivation.settings import ABOUT
from symattn.derivation.sizes import Axis
from symattn.errors import InputError, offered
from symattn.exact import Matrix, Size, Value, exact, from_sympy, has_symbols, is_symbolic, sign
from symattn.exact.values import listed
from symattn.formula.numbers import LETTERS
from symattn.foundation.typed import Between, Digits, Matching, Place, ReadBy, Such, choices
from symattn.foundation.typed import read as read_data

Sizes = Mapping[str, Size]
"""What the letters are in the shapes of a mechanism: n, d_k …"""

Givens = dict[str, Matrix]
"""Matrices by name that a mechanism starts from."""

SIZE = re.compile(r"[dghkmn](?:_\w+)?")
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
            *(("scale", word) for word in in_scale if _PARAMETER.fullmatch(word) and not SIZE.fullmatch(word)),
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
