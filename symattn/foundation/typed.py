"""Plain data, as TOML and JSON have it, read into frozen dataclasses by their type hints, and written back.

    @dataclass(frozen=True)
    class Question:
        type: Filled
        points: Annotated[int, Between(1, 1000)] | None = None

    read(Question, {"type": "full", "pionts": 5}, "exam.toml")
    InputError: exam.toml has 'pionts'; did you mean points?

Whatever is wrong is said in one sentence: the file, the place in it, what came, what was expected, and the nearest
thing that there is.  A field without a default must be there; one that equals its default is not written.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin, overload

from symattn.errors import InputError, PlacedError, in_sentence, offered

T = TypeVar("T")
NO_WORDS: Mapping[str, str] = MappingProxyType({})


# ------------------------------------------------------------------------------------------------ places


@dataclass(frozen=True)
class Place:
    """Where something stands: the name of a file, "" for none, then keys, and numbers of items from 1."""

    file: str = ""
    path: tuple[str | int, ...] = ()

    def at(self, *path: str | int) -> Place:
        return Place(self.file, self.path + path)

    def __str__(self) -> str:
        """exam.toml: question 2, ask.places; of an entry of a matrix, X (1, 2)."""
        text = ""
        for before, key in zip(("", *self.path), self.path, strict=False):
            if isinstance(key, int):
                text += f" {key}"
            else:
                text += f", {key}" if isinstance(before, int) else f".{key}" if before else key
        text = re.sub(r" (\d+) (\d+)$", r" (\1, \2)", text)
        return ": ".join(filter(None, (self.file, text.strip())))

    def says(self, sentence: object) -> PlacedError:
        """An error with a sentence about what stands here."""
        return PlacedError(f"{self}: {sentence}" if self else str(sentence), self.file)

    @contextmanager
    def here(self) -> Iterator[None]:
        """Adds the place to an `InputError` of any kind that does not name one in the same file."""
        try:
            yield
        except InputError as error:
            if self and error.file != self.file:
                error.args, error.file = (f"{self}: {error}",), self.file
            raise

    def wrong(self, value: object, expected: str, names: Iterable[object] = ()) -> PlacedError:
        """What stands here is not what was expected: one of some names, or what `expected` says."""
        listed = [name for name in names if isinstance(name, str)]
        tail = offered(value, listed, "one of {} was expected") if listed else f"{expected} was expected."
        return PlacedError(f"{self or 'It'} is {value!r}; {tail}", self.file)

    def know(self, given: Iterable[object], known: Iterable[str], meant: Mapping[str, str] = NO_WORDS) -> None:
        """`PlacedError` if the table here has a key that is unknown; `meant` has other words for keys."""
        listed = list(known)
        for key in given:
            if key not in listed:
                has = f"{self} has" if self else "There is no"
                said = meant.get(key, key) if isinstance(key, str) else key
                raise PlacedError(f"{has} {key!r}; {offered(said, listed, '{} are known')}", self.file)

    def lacks(self, key: str, expected: str) -> PlacedError:
        """The table here has not the key that it must have."""
        return PlacedError(f"{self or 'It'} has no {key}; {expected} was expected.", self.file)

    def __bool__(self) -> bool:
        return bool(self.file or self.path)


# ------------------------------------------------------------------------------------------------ constraints


@dataclass(frozen=True)
class Constraint:
    """What must hold of a value besides its type."""

    def holds(self, value: Any) -> bool:
        raise NotImplementedError

    def words(self, expected: str) -> str:
        """What is expected, made from the words for the type."""
        raise NotImplementedError

    def names(self) -> Iterable[object]:
        """All values that there are, if they can be listed."""
        return ()


@dataclass(frozen=True)
class Between(Constraint):
    """A number from `low` to `high`, both included, that is called something else than "a whole number"."""

    low: float
    high: float | None = None
    called: str = ""

    def holds(self, value: Any) -> bool:
        return bool(self.low <= value and (self.high is None or value <= self.high))

    def words(self, expected: str) -> str:
        return f"{self.called or expected} from {self.low}" + ("" if self.high is None else f" to {self.high}")


@dataclass(frozen=True)
class NotEmpty(Constraint):
    """A text or a list with something in it; `called` says what that is."""

    called: str = ""

    def holds(self, value: Any) -> bool:
        return bool(value)

    def words(self, expected: str) -> str:
        return self.called or f"{expected} that is not empty"


@dataclass(frozen=True)
class Such(Constraint):
    """Anything of the type, with an example of how it is written for the error message."""

    example: str

    def holds(self, value: Any) -> bool:
        return True

    def words(self, expected: str) -> str:
        return f"{expected} such as {self.example}"


@dataclass(frozen=True)
class Matching(Constraint):
    """A text of a form, which `described` says in words."""

    pattern: str
    described: str

    def holds(self, value: Any) -> bool:
        return re.fullmatch(self.pattern, value) is not None

    def words(self, expected: str) -> str:
        return self.described


@dataclass(frozen=True)
class OneOf(Constraint):
    """One of some names that are found out when they are wanted."""

    known: Callable[[], Iterable[object]]

    def holds(self, value: Any) -> bool:
        return any(type(value) is type(one) and value == one for one in self.known())

    def words(self, expected: str) -> str:
        return f"one of {', '.join(map(str, self.known()))}"

    def names(self) -> Iterable[object]:
        return self.known()


@dataclass(frozen=True)
class Check:
    """What a function accepts: it raises an `InputError`, to which the place is added."""

    function: Callable[[Any], object]


@dataclass(frozen=True)
class OrOne:
    """Of a list: one thing may stand there by itself."""


@dataclass(frozen=True)
class Digits:
    """Of a whole number: it may stand there as text, as it is typed on the command line."""


@dataclass(frozen=True)
class ReadBy:
    """What a function reads: from the data and its place, to what is meant.  `plain` writes it as data again.

    The function raises what `Place.wrong` and `Place.says` make, or any `InputError`, to which the place is added.
    """

    function: Callable[[Any, Place], Any]
    plain: Callable[[Any], Any] | None = None
    expected: str = "something else"


@dataclass(frozen=True)
class Key:
    """The key of a field, where that is not the field's name: `lines: Annotated[tuple[Line, ...], Key("line")]`."""

    name: str


@dataclass(frozen=True)
class Rest:
    """Of a field that takes the keys of another dataclass, as they came: they are looked at, but not yet read."""

    kind: type


@dataclass(frozen=True)
class Some:
    """Of a table with some of the fields of a dataclass, as they are read."""

    kind: type


@dataclass(frozen=True)
class Absent:
    """Of a field that is no key of the file."""


Filled = Annotated[str, NotEmpty()]


# ------------------------------------------------------------------------------------------------ reading and writing


@overload
def read(kind: type[T], data: object, where: str | Place = "") -> T: ...
@overload
def read(kind: Any, data: object, where: str | Place = "") -> Any: ...
def read(kind: Any, data: object, where: str | Place = "") -> Any:
    """What the data means as this kind, a dataclass or any other type hint; `InputError` begins with `where`."""
    return kind_of(kind).read(data, where if isinstance(where, Place) else Place(where))


def faults(
    kind: type,
    data: Mapping[str, Any],
    place: Place,
    meant: Mapping[str, str] = NO_WORDS,
    others: Iterable[str] = (),
) -> list[InputError]:
    """Everything that is wrong in a table, key by key, where `read` says the first; what keys say together apart.

    `meant` has other words for keys, and `others` are keys that are read elsewhere.
    """
    table, errors = Table(kind), list[InputError]()
    kinds = {key: kind for fields in (table.fields, *table.rest.values()) for key, (_, kind) in fields.items()}
    known = [*kinds, *others]
    for key, value in data.items():
        try:
            place.know([key], known, meant)
            if key in kinds:
                kinds[key].read(value, place.at(key))
        except InputError as error:
            errors.append(error)
    needed = [(key, kind) for key, (f, kind) in table.fields.items() if _usual(f) is MISSING]
    return errors + [place.lacks(key, kind.expected) for key, kind in needed if key not in data]


def plain(value: Any) -> Any:
    """What `read` makes it of again: `read(type(x), plain(x)) == x`.  What is plain data already is copied."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return [plain(item) for item in sorted(value)]
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    kind: Any = type(value)
    return kind_of(kind).plain(value)


# ------------------------------------------------------------------------------------------------ kinds of data


class Kind:
    """How data of one kind is called ("a whole number", several "whole numbers"), read, and written."""

    def __init__(self, expected: str, several: str) -> None:
        self.expected = expected
        self.several = several

    def fits(self, data: Any) -> bool:
        """Whether it looks like this from outside: a number, a text, a list, a table."""
        raise NotImplementedError

    def read(self, data: Any, place: Place) -> Any:
        if not self.fits(data):
            raise place.wrong(data, self.expected)
        return self.made(data, place)

    def made(self, data: Any, place: Place) -> Any:
        """What data that fits means."""
        return data

    def plain(self, value: Any) -> Any:
        return plain(value)


class Scalar(Kind):
    """Data without data in it, which means itself or what a function makes of it."""

    def __init__(
        self, expected: str, several: str, fits: Callable[[Any], bool], meant: Callable[[Any], Any] | None = None
    ) -> None:
        super().__init__(expected, several)
        self.looks_right, self.meant = fits, meant

    def fits(self, data: Any) -> bool:
        return self.looks_right(data)

    def made(self, data: Any, place: Place) -> Any:
        return self.meant(data) if self.meant else data

    def are_meant(self, several: Iterable[Any]) -> bool:
        """Whether all of these fit, and mean themselves."""
        return self.meant is None and all(map(self.fits, several))


class Choice(Kind):
    """One of some values."""

    def __init__(self, allowed: tuple[object, ...]) -> None:
        words = ("one of " if allowed[1:] else "") + ", ".join(map(_shown, allowed))
        super().__init__(words, words)
        self.allowed = allowed

    def fits(self, data: Any) -> bool:
        return any(type(data) is type(one) and data == one for one in self.allowed)

    def read(self, data: Any, place: Place) -> Any:
        if not self.fits(data):
            raise place.wrong(data, self.expected, self.allowed)
        return data


class Enumeration(Choice):
    """A member of an enumeration, by its value."""

    def __init__(self, of: type[Enum]) -> None:
        super().__init__(tuple(member.value for member in of))
        self.of = of

    def read(self, data: Any, place: Place) -> Any:
        return data if isinstance(data, self.of) else self.of(super().read(data, place))


class Sequence(Kind):
    """A list of anything of one kind."""

    def __init__(self, item: Kind, of: type) -> None:
        super().__init__(f"a list of {item.several}", f"lists of {item.several}")
        self.item = item
        self.of = of

    def fits(self, data: Any) -> bool:
        return isinstance(data, list | tuple | frozenset)

    def made(self, data: Any, place: Place) -> Any:
        if isinstance(self.item, Scalar) and self.item.are_meant(data):
            return self.of(data)
        return self.of(self.item.read(one, place.at(number)) for number, one in enumerate(data, 1))

    def plain(self, value: Any) -> list[Any]:
        return [self.item.plain(one) for one in (sorted(value) if self.of is frozenset else value)]


class Fixed(Kind):
    """A fixed-length list, each item of its own kind."""

    def __init__(self, items: list[Kind]) -> None:
        super().__init__(f"a list of {len(items)} ({', '.join(item.expected for item in items)})", "lists")
        self.items = items

    def fits(self, data: Any) -> bool:
        return isinstance(data, list | tuple) and len(data) == len(self.items)

    def made(self, data: Any, place: Place) -> tuple[Any, ...]:
        listed = enumerate(zip(self.items, data, strict=True), 1)
        return tuple(item.read(one, place.at(number)) for number, (item, one) in listed)

    def plain(self, value: Any) -> list[Any]:
        return [item.plain(one) for item, one in zip(self.items, value, strict=True)]


class Named(Kind):
    """A table of anything of one kind, by names."""

    def __init__(self, item: Kind) -> None:
        super().__init__("a table", "tables")
        self.item = item

    def fits(self, data: Any) -> bool:
        return isinstance(data, Mapping)

    def made(self, data: Any, place: Place) -> dict[str, Any]:
        if isinstance(self.item, Scalar) and self.item.are_meant(data.values()):
            return dict(data)
        return {key: self.item.read(one, place.at(str(key))) for key, one in data.items()}

    def plain(self, value: Any) -> dict[str, Any]:
        return {key: self.item.plain(one) for key, one in value.items()}


class PartialTable(Named):
    """A table with some of the fields of a dataclass."""

    def __init__(self, of: Table) -> None:
        super().__init__(ANYTHING)
        self.of = of

    def made(self, data: Any, place: Place) -> dict[str, Any]:
        place.know(data, self.of.fields)
        return {key: self.of.fields[key][1].read(one, place.at(key)) for key, one in data.items()}


class OneOrSeveral(Kind):
    """A list, or one thing that might stand in it."""

    def __init__(self, several: Sequence) -> None:
        super().__init__(f"{several.item.expected} or {several.expected}", several.several)
        self.kind = several

    def fits(self, data: Any) -> bool:
        return self.kind.fits(data) or self.kind.item.fits(data)

    def made(self, data: Any, place: Place) -> Any:
        return self.kind.read(data, place) if self.kind.fits(data) else self.kind.of([self.kind.item.read(data, place)])

    def plain(self, value: Any) -> Any:
        return self.kind.plain(value)


class Constrained(Kind):
    """A kind with constraints and checks."""

    def __init__(self, kind: Kind, constraints: list[Constraint], checks: list[Check]) -> None:
        super().__init__(kind.expected, kind.several)
        for constraint in constraints:
            self.expected = constraint.words(self.expected)
        self.kind = kind
        self.constraints = constraints
        self.checks = checks

    def fits(self, data: Any) -> bool:
        return self.kind.fits(data)

    def read(self, data: Any, place: Place) -> Any:
        value = self.kind.read(data, place) if self.fits(data) else None
        for constraint in self.constraints:
            if not self.fits(data) or not constraint.holds(value):
                raise place.wrong(data, self.expected, constraint.names())
        if not self.fits(data):
            raise place.wrong(data, self.expected)
        with place.here():
            for check in self.checks:
                check.function(value)
        return value

    def plain(self, value: Any) -> Any:
        return self.kind.plain(value)


class Function(Kind):
    """What a function of our own reads."""

    def __init__(self, note: ReadBy) -> None:
        super().__init__(note.expected, note.expected)
        self.note = note

    def fits(self, data: Any) -> bool:
        return True

    def made(self, data: Any, place: Place) -> Any:
        with place.here():
            return self.note.function(data, place)

    def plain(self, value: Any) -> Any:
        return (self.note.plain or plain)(value)


class OneKindOf(Kind):
    """The first of several kinds that data can be read as; what is said is what is wrong with the nearest."""

    def __init__(self, kinds: list[Kind]) -> None:
        told = [kind for kind in kinds if kind is not NOTHING]
        super().__init__(
            " or ".join(dict.fromkeys(kind.expected for kind in told)),
            " or ".join(dict.fromkeys(kind.several for kind in told)),
        )
        self.kinds = kinds
        self.told = told

    def fits(self, data: Any) -> bool:
        return any(kind.fits(data) for kind in self.kinds)

    def read(self, data: Any, place: Place) -> Any:
        errors: dict[Kind, InputError] = {}
        if data is None and NOTHING in self.kinds:
            return None
        for kind in self.kinds:
            if kind.fits(data):
                try:
                    return kind.read(data, place)
                except InputError as error:
                    errors[kind] = error
        if len(self.told) == 1:
            return self.told[0].read(data, place)
        if tables := [kind for kind in errors if isinstance(kind, Table)]:
            raise _untagged(tables, data, place) or errors[max(tables, key=lambda table: table.likeness(data))]
        raise next(iter(errors.values())) if len(errors) == 1 else place.wrong(data, self.expected)

    def plain(self, value: Any) -> Any:
        functions = [kind for kind in self.kinds if isinstance(kind, Function)]
        return functions[0].plain(value) if functions and not _is_plain(value) else plain(value)


def _untagged(tables: list[Table], data: Mapping[str, Any], place: Place) -> PlacedError | None:
    """The error for a table that does not say which of several it is."""
    for key in dict.fromkeys(key for table in tables for key in table.tags):
        allowed = [tag for table in tables for tag in table.tags.get(key, ())]
        if data.get(key) not in allowed:
            expected = f"one of {', '.join(map(_shown, allowed))}"
            return place.at(key).wrong(data[key], expected, allowed) if key in data else place.lacks(key, expected)
    return None


class Table(Kind):
    """A dataclass; its fields are looked at when they are first wanted, for they may be of the same kind."""

    def __init__(self, of: type) -> None:
        super().__init__("a table", "tables")
        self.of = of

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of the fields; what these refer to in quotes is not looked at."""
        hints: dict[str, Any] = {}
        for base in reversed(self.of.__mro__):
            known, own = vars(sys.modules[base.__module__]), dict(vars(base))
            for name, hint in own.get("__annotations__", {}).items():
                hints[name] = eval(hint, known, own) if isinstance(hint, str) else hint
        return hints

    @cached_property
    def notes(self) -> Mapping[str, tuple[Any, ...]]:
        """What stands beside the types of the fields."""
        return {name: getattr(hint, "__metadata__", ()) for name, hint in self.hints.items()}

    @cached_property
    def fields(self) -> Mapping[str, tuple[Field[Any], Kind]]:
        """The fields by their keys."""
        keys_of = {}
        for f in fields(self.of):
            notes = self.notes[f.name]
            if f.init and not any(isinstance(note, Absent | Rest) for note in notes):
                key = next((note.name for note in notes if isinstance(note, Key)), f.name)
                keys_of[key] = f, kind_of(self.hints[f.name])
        return keys_of

    @cached_property
    def rest(self) -> Mapping[str, Mapping[str, tuple[Field[Any], Kind]]]:
        """The fields that take the keys of other dataclasses, each with these."""
        rests = {name: [note for note in notes if isinstance(note, Rest)] for name, notes in self.notes.items()}
        return {name: Table(notes[0].kind).fields for name, notes in rests.items() if notes}

    @property
    def keys(self) -> list[str]:
        """All keys that may stand in the table."""
        return [*self.fields, *(key for others in self.rest.values() for key in others)]

    @cached_property
    def tags(self) -> Mapping[str, tuple[object, ...]]:
        """The keys that must have one of a few values, by which it can be told from other tables."""
        must = {key: kind for key, (f, kind) in self.fields.items() if _usual(f) is MISSING}
        return {key: kind.allowed for key, kind in must.items() if isinstance(kind, Choice)}

    def likeness(self, data: Mapping[str, Any]) -> tuple[int, int]:
        """How much a table is like this one: in what it says that it is, then in its keys."""
        tags = sum(data.get(key) in allowed for key, allowed in self.tags.items())
        return tags, len(set(data) & set(self.fields))

    def fits(self, data: Any) -> bool:
        return isinstance(data, Mapping | self.of)

    def made(self, data: Any, place: Place) -> Any:
        if isinstance(data, self.of):
            return data
        place.know(data, self.keys)
        values: dict[str, Any] = {}
        for key, (f, kind) in self.fields.items():
            if key in data:
                values[f.name] = kind.read(data[key], place.at(key))
            elif _usual(f) is MISSING:
                raise place.lacks(key, kind.expected)
        for name, others in self.rest.items():
            values[name] = {key: value for key, value in data.items() if key in others}
            for key, value in values[name].items():
                others[key][1].read(value, place.at(key))
        with place.here():
            return self.of(**values)

    def plain(self, value: Any) -> dict[str, Any]:
        """Without what equals its default."""
        data: dict[str, Any] = {}
        for key, (f, kind) in self.fields.items():
            item, usual = getattr(value, f.name), _usual(f)
            if item != usual or type(item) is not type(usual):
                data[key] = kind.plain(item)
        for name in self.rest:
            data |= plain(getattr(value, name))
        return data


def _usual(f: Field[Any]) -> Any:
    """What a field is where nothing is said; `MISSING` if something must be."""
    return f.default if f.default_factory is MISSING else f.default_factory()


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | Fraction | list | tuple | Mapping | Enum)


def _shown(value: object) -> str:
    return in_sentence(str(value))


# ------------------------------------------------------------------------------------------------ type hints

ANYTHING = Scalar("something", "things", lambda data: True)
NOTHING = Scalar("nothing", "nothing", lambda data: data is None)
_IN_DIGITS = Scalar(
    "a whole number",
    "whole numbers",
    lambda data: _is_whole(data) or (isinstance(data, str) and data.isdecimal() and len(data) < 9),
    int,
)
_FRACTION = re.compile(r"[+-]?\d{1,500}(?:[./]\d{1,500})?")


def _is_fraction(data: object) -> bool:
    if isinstance(data, str):
        return bool(_FRACTION.fullmatch(data)) and not re.fullmatch(r".*/0+", data)
    return isinstance(data, Fraction) or _is_number(data)


_SIMPLE: Mapping[Any, Kind] = {
    str: Scalar("a text", "texts", lambda data: isinstance(data, str)),
    int: Scalar("a whole number", "whole numbers", _is_whole),
    float: Scalar("a number", "numbers", _is_number),
    bool: Scalar("true or false", "true or false", lambda data: isinstance(data, bool)),
    Fraction: Scalar(
        'a number such as 3 or "3/5"', "numbers", _is_fraction, lambda data: Fraction(str(data))
    ),  # 0.6 is 3/5
    dict: Scalar("a table", "tables", lambda data: isinstance(data, Mapping)),
    NoneType: NOTHING,
    object: ANYTHING,
    Any: ANYTHING,
}


@cache
def kind_of(hint: Any) -> Kind:
    """How what a type hint names is read; `TypeError` for one that is not supported."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if hasattr(hint, "__supertype__"):  # NewType
        return kind_of(hint.__supertype__)
    if origin is Annotated:
        return _annotated(*args)
    if origin is Literal:
        return Choice(args)
    if origin in (Union, UnionType):
        holding = [arg for arg in args if get_origin(arg) not in (Annotated, Literal)]
        itself = any(isinstance(part, str | ForwardRef) for arg in holding for part in get_args(arg))  # as JSON does
        return ANYTHING if itself else OneKindOf([kind_of(arg) for arg in args])
    if origin is tuple and args[-1:] != (...,):
        return Fixed([kind_of(arg) for arg in args])
    if origin in (tuple, list, frozenset):
        return Sequence(kind_of(args[0]), frozenset if origin is frozenset else tuple)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Named(kind_of(args[1]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Enumeration(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return Table(hint)
    raise TypeError(f"{hint} is not a kind of data that can be read.")


def keys(kind: type) -> list[str]:
    """The keys that a table of this kind may have."""
    return Table(kind).keys


def choices(kind: type) -> Mapping[str, tuple[Any, ...]]:
    """The keys of a dataclass that take one of a few values, with these."""
    return {key: field.allowed for key, (_, field) in Table(kind).fields.items() if isinstance(field, Choice)}


def _annotated(hint: Any, *notes: Any) -> Kind:
    for note in notes:
        if isinstance(note, ReadBy):
            return Function(note)
        if isinstance(note, Some):
            return PartialTable(Table(note.kind))
    kind: Kind = kind_of(hint) if not any(isinstance(note, Digits) for note in notes) else _IN_DIGITS
    if isinstance(kind, Sequence) and any(isinstance(note, OrOne) for note in notes):
        kind = OneOrSeveral(kind)
    constraints = [note for note in notes if isinstance(note, Constraint)]
    checks = [note for note in notes if isinstance(note, Check)]
    return Constrained(kind, constraints, checks) if constraints or checks else kind
