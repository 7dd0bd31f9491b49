"""How a derivation is written: names, shapes, signs, order, step labels.  A notation is data, never code.

The ready ones are `notations/*.toml`; a user's own file has the same form.  Formulas in it are in the language of
`symattn.formula.reading`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

from symattn.derivation import Style
from symattn.errors import InputError, ReadError, offered
from symattn.files import read_toml
from symattn.formula import Formula, Name, Scope, read_formula


@dataclass(frozen=True, slots=True)
class MatrixNames:
    """How one matrix is called: as a whole, one row, one entry, in words.

    The row's index is i, the entry's are i and j; `weighted` also has t, the token it is worked out for.
    """

    matrix: str
    row: str = ""
    entry: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on the page: a paragraph, formulas, steps in the default form, a table, a figure.

    Exactly one of `text`, `math`, `steps`, `table`, `diagram` is set.  `repeat` repeats it for an index (i: each
    token), `needs` leaves it out where the derivation has no such matrix, `only` where it is not this mode, and an
    erratum finds it by `id`.
    """

    id: str = ""
    text: str = ""
    math: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()  # before the formula; with `repeat`, the first one, the second one, …, then the last
    steps: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    diagram: str = ""
    repeat: str = ""
    needs: tuple[str, ...] = ()
    only: Literal["", "as-written", "corrected"] = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it; `repeat` makes one for each token.

    `covers` names the matrices that its own words and formulas take care of (`S.i`: every token's).
    """

    label: str = ""
    title: str = ""
    items: tuple[Item, ...] = ()
    covers: tuple[str, ...] = ()
    repeat: str = ""
    needs: tuple[str, ...] = ()
    only: Literal["", "as-written", "corrected"] = ""


@dataclass(frozen=True)
class Notation:
    """Everything about writing that does not change what is computed.  Field by field, a notation file.

    settings      how the derivation is laid out by default: order, by, scores, orientation, mask_style
    letters       how the sizes n, d_model, d_k, d_v are written
    product       the sign between matrices: "", "×" or "·"
    softmax       how the function is written
    shapes        where a shape stands: under, beside, index, none;  shape_style: (3, 4) or 3×4
    bracket, separator, row_end, nested    of matrices;  list_separator of single rows
    numbers       exact, or shortest decimals where they are exact
    decimals      places shown after ≈
    first_index   whether indices are written from 1 or from 0
    sections      the page, in order; steps that no section shows are put in where they belong
    """

    name: str
    title: str
    names: Mapping[str, MatrixNames]
    settings: Mapping[str, object] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)
    product: Literal["", "×", "·"] = ""
    softmax: str = "softmax"
    shapes: Literal["under", "beside", "index", "none"] = "none"
    shape_style: Literal["tuple", "cross"] = "cross"
    bracket: Literal["[", "("] = "["
    separator: Literal["", ",", ";"] = ""
    row_end: Literal["", ",", ";"] = ""
    nested: bool = False
    list_separator: Literal["", ",", ";"] = ""
    numbers: Literal["exact", "shortest"] = "exact"
    decimals: int = 4
    first_index: Literal[0, 1] = 1
    sections: tuple[Section, ...] = ()

    @property
    def style(self) -> Style:
        return Style(self.product, self.softmax, self.letter_formulas)

    @property
    def letter_formulas(self) -> Mapping[str, Formula]:
        return {name: read_formula(letter) for name, letter in self.letters.items()}

    def named(self, role: str) -> MatrixNames:
        """The names of a matrix; made from its own name where the notation has none for it."""
        return self.names.get(role) or _default_names(role)


def _default_names(role: str) -> MatrixNames:
    """X: matrix X, row x_i, entry x_{i,j}; a name that is no formula, or is an index itself, is quoted."""
    base, _, label = role.partition("_")
    letter = base.rstrip("'")
    primes = base[len(letter) :]
    small = letter.lower() if len(letter) == 1 else letter
    stem = f"{small}{primes}^{label}" if label else small + primes
    names = MatrixNames(f"{base}_{label}" if label else base, f"{stem}_i", f"{stem}_{{i,j}}")
    try:
        for text in (names.matrix, names.row, names.entry):
            formula = read_formula(text, Scope(indices={"i": 1, "j": 1, "t": 1}))
            if not isinstance(formula, Name):
                raise ReadError(f"{text} is no name.", text, 0)
    except ReadError:
        quoted = '"' + role.replace('"', "'") + '"'
        return MatrixNames(quoted, f"{quoted}_i", f"{quoted}_{{i,j}}")
    return names


@cache
def notations() -> tuple[str, ...]:
    """The names of the ready notations."""
    folder = resources.files("symattn.notations")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_notation(name: str | Path) -> Notation:
    """A ready notation by name, or one from a file; `InputError` says what is wrong with it, and where."""
    if not isinstance(name, str | Path):
        raise InputError(f"notation is {name!r}; the name of a notation or of a .toml file was expected.")
    return _ready(str(name)) if str(name) in notations() else _from_file(Path(name))


@cache
def _ready(name: str) -> Notation:
    text = (resources.files("symattn.notations") / f"{name}.toml").read_text(encoding="utf-8")
    return read_notation(tomllib.loads(text), name)


def _from_file(path: Path) -> Notation:
    if path.suffix != ".toml":
        raise InputError(
            f"There is no notation {str(path)!r}; {offered(str(path), notations(), 'there are {}, or a .toml file')}"
        )
    return read_notation(read_toml(path), path.stem)


def read_notation(data: Mapping[str, Any], where: str) -> Notation:
    """A notation from the contents of its file; what is not given is as in the standard notation."""
    known = {f.name for f in fields(Notation)} - {"sections"} | {"section"}
    if unknown := sorted(set(data) - known):
        raise InputError(
            f"The notation {where} has {unknown[0]!r}; {offered(unknown[0], sorted(known), '{} are known')}"
        )
    values = {key: value for key, value in data.items() if key not in ("names", "section", "letters")}
    values.setdefault("name", where)
    values.setdefault("title", where)
    for key, allowed in _ALLOWED.items():
        if key in values and (type(values[key]) is not type(allowed[0]) or values[key] not in allowed):
            choices = ", ".join(repr(a) for a in allowed)
            tail = offered(values[key], map(str, allowed), f"one of {choices} was expected")
            raise InputError(f"In the notation {where}, {key} is {values[key]!r}; {tail}")
    for key, kind, what in _TABLES:
        if not isinstance(data.get(key, kind()), kind):
            raise InputError(f"In the notation {where}, {key} is {data[key]!r}; {what} was expected.")
    for key in ("name", "title", "softmax"):
        _text(values, key, f"In the notation {where}")
    letters = data.get("letters", {})
    names = {} if where == "standard" else dict(load_notation("standard").names)
    names |= {role: _names(role, given, where) for role, given in data.get("names", {}).items()}
    for role in letters:
        letter = _text(letters, role, f"In the notation {where}, letters")
        _check_formula(letter, f"the letter for {role}", where)
    sections = tuple(_section(s, where) for s in data.get("section", ()))
    return Notation(**values, names=MappingProxyType(names), letters=MappingProxyType(dict(letters)), sections=sections)


_TABLES = (
    ("names", dict, "a table"),
    ("letters", dict, "a table"),
    ("settings", dict, "a table"),
    ("section", list, "a list of tables"),
)
_ALLOWED: dict[str, tuple[object, ...]] = {
    "product": ("", "×", "·"),
    "shapes": ("under", "beside", "index", "none"),
    "shape_style": ("tuple", "cross"),
    "bracket": ("[", "("),
    "separator": ("", ",", ";"),
    "row_end": ("", ",", ";"),
    "list_separator": ("", ",", ";"),
    "nested": (True, False),
    "numbers": ("exact", "shortest"),
    "decimals": tuple(range(51)),
    "first_index": (0, 1),
}


def _names(role: str, given: object, where: str) -> MatrixNames:
    if isinstance(given, str):
        given = {"matrix": given}
    if not isinstance(given, Mapping) or not set(given) <= {"matrix", "row", "entry", "word"}:
        raise InputError(f"In the notation {where}, the names of {role} are a table of matrix, row, entry and word.")
    at = f"In the notation {where}, names.{role}"
    default = _default_names(role)
    matrix = _text(given, "matrix", at, default.matrix)
    guessed = _from_matrix(matrix) or default
    names = MatrixNames(
        matrix,
        _text(given, "row", at, guessed.row),
        _text(given, "entry", at, guessed.entry),
        _text(given, "word", at),
    )
    for text in (names.matrix, names.row, names.entry):
        _check_formula(text, f"a name of {role}", where)
    return names


def _from_matrix(matrix: str) -> MatrixNames | None:
    """Row and entry names that go with a matrix name: W^Q gives w^Q_i and w^Q_{i,j}."""
    try:
        name = read_formula(matrix)
    except ReadError:
        return None
    if not isinstance(name, Name) or len(name.base) != 1 or name.sub:
        return None
    small = matrix.replace(name.base, name.base.lower(), 1)
    return MatrixNames(matrix, f"{small}_i", f"{small}_{{i,j}}")


def _check_formula(text: str, what: str, where: str) -> None:
    try:
        read_formula(text, Scope(sizes=dict.fromkeys(("n", "m", "d_model", "d_k", "d_v"), 2)))
    except ReadError as error:
        raise InputError(f"In the notation {where}, {what} cannot be read. {error}") from error


def _section(data: Any, where: str) -> Section:
    if not isinstance(data, Mapping) or not isinstance(data.get("items", []), list):
        raise InputError(f"In the notation {where}, a section is a table whose items are a list of tables.")
    known = {f.name for f in fields(Section)}
    if unknown := sorted(set(data) - known):
        raise InputError(
            f"In the notation {where}, a section has {unknown[0]!r}; "
            + offered(unknown[0], sorted(known), "{} are known")
        )
    at = f"In the notation {where}, a section"
    return Section(
        label=_text(data, "label", at),
        title=_text(data, "title", at),
        items=tuple(_item(i, where) for i in data.get("items", ())),
        covers=_texts(data, "covers", at),
        repeat=_text(data, "repeat", at),
        needs=_texts(data, "needs", at),
        only=_only(data, at),
    )


def _item(data: Any, where: str) -> Item:
    if not isinstance(data, Mapping):
        raise InputError(f"In the notation {where}, an item of a section is {data!r}; a table was expected.")
    known = {f.name for f in fields(Item)}
    if unknown := sorted(set(data) - known):
        tail = offered(unknown[0], sorted(known), "{} are known")
        raise InputError(f"In the notation {where}, an item has {unknown[0]!r}; {tail}")
    if sum(key in data for key in ("text", "math", "steps", "table", "diagram")) != 1:
        raise InputError(f"In the notation {where}, an item has exactly one of text, math, steps, table and diagram.")
    at = f"In the notation {where}, an item"
    return Item(
        id=_text(data, "id", at),
        text=_text(data, "text", at),
        math=_texts(data, "math", at),
        lead=_texts(data, "lead", at),
        steps=_texts(data, "steps", at),
        table=_table(data.get("table", []), at),
        diagram=_text(data, "diagram", at),
        repeat=_text(data, "repeat", at),
        needs=_texts(data, "needs", at),
        only=_only(data, at),
    )


def _text(data: Mapping[str, Any], key: str, at: str, default: str = "") -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise InputError(f"{at}: {key} is {value!r}; a text was expected.")
    return value


def _texts(data: Mapping[str, Any], key: str, at: str) -> tuple[str, ...]:
    """A text, or several in a list."""
    value = data.get(key, [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise InputError(f"{at}: {key} is {value!r}; a text or a list of texts was expected.")
    return tuple(listed)


def _only(data: Mapping[str, Any], at: str) -> Literal["", "as-written", "corrected"]:
    only = data.get("only", "")
    if only not in ("", "as-written", "corrected"):
        raise InputError(f"{at}: only is {only!r}; as-written or corrected was expected.")
    return cast(Literal["", "as-written", "corrected"], only)


def _table(rows: object, at: str) -> tuple[tuple[str, ...], ...]:
    whole = isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    if not isinstance(rows, list) or not whole or len({len(row) for row in rows}) > 1:
        raise InputError(f"{at}: table is {rows!r}; rows of equally many texts were expected.")
    return tuple(_texts({"table": row}, "table", at) for row in rows)
