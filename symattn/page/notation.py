"""How a derivation is written: names, shapes, signs, order, step labels.  A notation is data, never code.

The ready ones are `page/notations/*.toml`; a user's own file has the same form.  Formulas in it are in the language of
`symattn.formula.reading`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from symattn.derivation.algebra import Index
from symattn.derivation.derivation import Style, own_name
from symattn.derivation.mechanisms import Settings
from symattn.errors import InputError, ReadError, offered
from symattn.exact import Size
from symattn.formula import Formula, Name, Scope, read_formula
from symattn.foundation.files import read_toml
from symattn.foundation.typed import Between, Check, Key, OrOne, Place, ReadBy, read


def _check_formula(text: str) -> None:
    read_formula(text, Scope(sizes=dict.fromkeys(("n", "m", "d_model", "d_k", "d_v"), 2)))


def _check_rows(table: Sequence[Sequence[str]]) -> None:
    if len({len(row) for row in table}) > 1:
        raise InputError("rows of equally many texts were expected.")


FormulaText = Annotated[str, Check(_check_formula)]
Texts = Annotated[tuple[str, ...], OrOne()]


@dataclass(frozen=True, slots=True)
class MatrixNames:
    """How one matrix is called: as a whole, one row, one entry, in words.

    The row's index is i, the entry's are i and j, and before them t where there is a matrix for each token.
    """

    matrix: FormulaText
    row: FormulaText = ""
    entry: FormulaText = ""
    word: str = ""

    @property
    def are_for_tokens(self) -> bool:
        """Whether they name a matrix for each token."""
        return "{t;" in self.entry


@dataclass(frozen=True, slots=True)
class PageItem:
    """One thing on the page: a paragraph, formulas, steps in the default form, their entries alone, a table, a figure.

    Exactly one of `text`, `math`, `steps`, `entries`, `table`, `diagram` is set.  `repeat` repeats it for an index (i:
    each token), `needs` leaves it out where the derivation has no such matrix, `only` where it is not this mode, and an
    erratum finds it by `id`.
    """

    id: str = ""
    text: str = ""
    math: Texts = ()
    lead: Texts = ()  # before the formula; with `repeat`, the first one, the second one, …, then the last
    steps: Texts = ()
    entries: Texts = ()  # of these steps, written out
    table: Annotated[tuple[Texts, ...], Check(_check_rows)] = ()
    diagram: str = ""
    repeat: str = ""
    needs: Texts = ()
    only: Literal["", "as-written", "corrected"] = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.text, self.math, self.steps, self.entries, self.table, self.diagram))) != 1:
            raise InputError("an item has exactly one of text, math, steps, entries, table and diagram.")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it; `repeat` makes one for each token.

    `covers` names the matrices that its own words and formulas take care of (`S.i`: every token's).
    """

    label: str = ""
    title: str = ""
    items: tuple[PageItem, ...] = ()
    covers: Texts = ()
    repeat: str = ""
    needs: Texts = ()
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
    names: Annotated[Mapping[str, MatrixNames], ReadBy(_names)]
    settings: Mapping[str, object] = field(default_factory=dict)
    letters: Mapping[str, FormulaText] = field(default_factory=dict)
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
    decimals: Annotated[int, Between(0, 50)] = 4
    first_index: Literal[0, 1] = 1
    sections: Annotated[tuple[Section, ...], Key("section")] = ()

    def __hash__(self) -> int:
        """By what it is called: what is read of its formulas is remembered, and it is seldom another of that name."""
        return hash((self.name, self.title))

    @property
    def place(self) -> Place:
        """Where it says something wrong: in its file; nowhere where it is one of ours."""
        return Place("" if self.name in notations() else f"{self.name}.toml")

    @cached_property
    def style(self) -> Style:
        return Style(self.product, self.softmax, self.bracket, self.letter_formulas)

    @cached_property
    def letter_formulas(self) -> Mapping[str, Formula]:
        return {name: read_formula(letter) for name, letter in self.letters.items()}

    def named(self, role: str) -> MatrixNames:
        """The names of a matrix; made from its own name where the notation has none for it."""
        return self.names.get(role) or default_names(role)


Indices = tuple[tuple[str, Index], ...]
Sizes = tuple[tuple[str, Size], ...]


@lru_cache(maxsize=2**14)  # the names of entries come again in every line of every sheet
def read_name(notation: Notation, text: str, indices: Indices, sizes: Sizes) -> Formula:
    """A formula of a notation with its index letters replaced, by numbers or by other letters."""
    numbers = {k: v for k, v in indices if isinstance(v, int)}
    letters = {k: notation.letter_formulas.get(v) or read_formula(v) for k, v in indices if isinstance(v, str)}
    scope = Scope(numbers, dict(sizes), {**notation.letter_formulas, **letters}, first=notation.first_index)
    return read_formula(text, scope)


@lru_cache(maxsize=64)
def with_decimals(notation: Notation, places: int) -> Notation:
    """The notation with `places` places behind ≈."""
    return replace(notation, decimals=places)


def default_names(role: str) -> MatrixNames:
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
                raise ReadError(f"{text} is not a name.", text, 0)
    except ReadError:
        quoted = '"' + role.replace('"', "'") + '"'
        return MatrixNames(quoted, f"{quoted}_i", f"{quoted}_{{i,j}}")
    return names


class _ReadyNames(Mapping[str, MatrixNames]):
    """The names in a notation of ours, each of which is read when it is wanted: a sheet has a dozen of some hundred.

    Those that are not stated are as `usual`.
    """

    def __init__(self, stated: Mapping[str, object], place: Place, usual: Mapping[str, MatrixNames]) -> None:
        self._stated = {own_name(role): (role, one) for role, one in stated.items()}
        self._place, self._usual = place, usual
        self._read: dict[str, MatrixNames] = {}

    def __getitem__(self, role: str) -> MatrixNames:
        if role not in self._stated:
            return self._usual[role]
        if role not in self._read:
            as_stated, one = self._stated[role]
            self._read[role] = _named(role, one, self._place.at(as_stated))
        return self._read[role]

    def __contains__(self, role: object) -> bool:
        return role in self._stated or role in self._usual

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._usual, *self._stated)))

    def __len__(self) -> int:
        return len({*self._usual, *self._stated})


def _names(data: Any, place: Place) -> dict[str, MatrixNames]:
    named = read(Mapping[str, object], data, place)
    return {own_name(role): _named(own_name(role), stated, place.at(role)) for role, stated in named.items()}


def _named(role: str, stated: Any, place: Place) -> MatrixNames:
    """What is not said follows from the name of the matrix, and that from its role."""
    default = default_names(role)
    if isinstance(stated, str):
        stated = {"matrix": stated}
    if not isinstance(stated, Mapping):
        raise place.wrong(stated, "a text or a table")
    names = read(MatrixNames, {"matrix": default.matrix, **stated}, place)
    guessed = _from_matrix(names.matrix) or default
    return replace(names, row=names.row or guessed.row, entry=names.entry or guessed.entry)


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


@cache
def notations() -> tuple[str, ...]:
    """The names of the ready notations."""
    folder = resources.files("symattn.page.notations")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_notation(name: str | Path) -> Notation:
    """A ready notation by name, one from a file, or a kept one; `InputError` says what is wrong with it, and where."""
    if not isinstance(name, str | Path):
        raise InputError(f"notation is {name!r}; the name of a notation or of a .toml file was expected.")
    if str(name).startswith("{"):
        return _kept(str(name))
    return _ready(str(name)) if str(name) in notations() else _from_file(Path(name))


def notation_title(name: str) -> str:
    """What a ready notation is called, without its formulas being read."""
    return str(_ready_table(name).get("title", name))


@cache
def _ready(name: str) -> Notation:
    table = _ready_table(name)
    names = table.pop("names", {})
    return replace(_stated(table, name), names=_ReadyNames(names, Place(f"{name}.toml"), _usual(name)))


def _ready_table(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("symattn.page.notations") / f"{name}.toml").read_text(encoding="utf-8"))


def _from_file(path: Path) -> Notation:
    if path.suffix != ".toml":
        raise InputError(
            f"There is no notation {str(path)!r}; {offered(str(path), notations(), 'there are {}, or a .toml file')}"
        )
    return read_notation(read_toml(path), path.stem)


def kept_notation(name: str) -> str:
    """A notation as it is frozen, for `load_notation`: a ready one by its name, a file as its contents in JSON."""
    if name.startswith("{") or name in notations():
        return name
    load_notation(name)  # says what is wrong with it
    path = Path(name)
    return json.dumps({"name": path.stem, **read_toml(path)}, ensure_ascii=False, sort_keys=True)


@lru_cache(maxsize=32)
def _kept(text: str) -> Notation:
    try:
        data = json.loads(text)
        name = str(data["name"])
    except (ValueError, KeyError, RecursionError) as error:
        raise InputError(f"notation is {text[:40]!r}; a notation in JSON with its name was expected.") from error
    return read_notation(data, name)


def read_notation(data: Mapping[str, Any], where: str) -> Notation:
    """A notation from the contents of its file; what is not given is as in the standard notation."""
    stated = _stated(data, where)
    return replace(stated, names={**_usual(where), **stated.names})


def _stated(data: Mapping[str, Any], where: str) -> Notation:
    place = Place(f"{where}.toml")
    stated = read(Notation, {"name": where, "title": where, "names": {}, **data}, place)
    with place.at("settings").here():
        Settings.read(stated.settings)
    return stated


def _usual(where: str) -> Mapping[str, MatrixNames]:
    return {} if where == "standard" else load_notation("standard").names
