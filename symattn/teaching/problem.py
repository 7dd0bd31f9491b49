"""A problem: a derivation, how it is written, what is asked of the student, and how figures are rounded; and its
file, as a person writes it in TOML: givens, mechanism, notation and what is asked.

The five notes are such files, with errata and with what differs between the note as written and corrected.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.mechanisms import Mechanism, Settings, mechanism, mechanisms
from symattn.derivation.mechanisms.descent import gradient
from symattn.derivation.mechanisms.settings import layered
from symattn.derivation.sizes import read_size
from symattn.errors import InputError, LetterError, ReadError, offered
from symattn.exact import AnyMatrix, Matrix, Outline, Size, exact, is_symbolic, matrix
from symattn.exact.reading import read
from symattn.exact.values import listed
from symattn.foundation.files import read_toml
from symattn.foundation.languages import Quoted
from symattn.foundation.typed import Absent, Between, Key, OrOne, Place, ReadBy, Rest, keys
from symattn.foundation.typed import read as read_data
from symattn.page.notation import MatrixNames, Notation, load_notation, with_decimals

OWN = "custom"
"""The mechanism of a program of one's own steps."""


@dataclass(frozen=True, slots=True)
class Erratum:
    """A mistake or an oddity of a note: what it says, what it should say, of which kind, and why."""

    id: str
    kind: str
    as_written: str
    corrected: str
    why: str = ""
    at: str = ""
    patch: str = ""


@dataclass(frozen=True)
class Problem:
    """One piece of work.

    `asked` are the names of the steps that a worksheet asks for, all in which something is worked out if it is empty;
    `exact` asks for exact values, otherwise for decimals with `places` places.  Decimals that are carried on are asked
    for as decimals, and printed with as many places.
    """

    title: str
    mechanism: str
    derivation: Derivation
    notation: Notation
    asked: tuple[str, ...] = ()
    exact: bool = True
    places: int = 4
    introduction: tuple[str, ...] = ()
    errata: tuple[Erratum, ...] = ()
    corrected: bool = True

    def __post_init__(self) -> None:
        if self.derivation.arithmetic != "exact":
            object.__setattr__(self, "exact", self.exact and self.derivation.arithmetic == "auto")
            object.__setattr__(self, "notation", with_decimals(self.notation, self.places))

    def __getitem__(self, name: str) -> Step:
        """The step of that name."""
        return self.derivation[name]

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.derivation.steps

    @property
    def givens(self) -> dict[str, AnyMatrix]:
        return dict(self.derivation.givens)

    @property
    def asked_steps(self) -> tuple[Step, ...]:
        """The steps that have boxes on the worksheet: those named, else all in which something is worked out."""
        return tuple(s for s in self.steps if (s.name in self.asked if self.asked else not s.op.trivial))


# ------------------------------------------------------------------------------------------------ files

SETTINGS = frozenset(f.name for f in fields(Settings))
NOTHING: Mapping[str, str] = MappingProxyType({})
OF_CUSTOM = frozenset({"arithmetic"})
"""The settings of a program of steps, which say all else themselves."""

Stated = Annotated[Mapping[str, Any], Rest(Settings)]
Tables = tuple[Mapping[str, Any], ...]


def _mechanism(data: object, place: Place) -> str:
    if not isinstance(data, str):
        raise place.wrong(data, f"one of {', '.join(mechanisms())} or custom")
    if data != "custom":
        mechanism(data)  # says what there is
    return data


def _notation(data: object, place: Place) -> str | Path:
    if not isinstance(data, str | Path):
        raise place.wrong(data, "the name of a notation or of a .toml file")
    load_notation(data)  # says what is wrong with it
    return data


@dataclass(frozen=True)
class Ask:
    """What is asked for: which steps (by default all), exact or to a number of places."""

    steps: tuple[str, ...] = ()
    exact: bool = True
    places: Annotated[int, Between(0, 50)] | None = None


@dataclass(frozen=True)
class Assume:
    """What is assumed of letters."""

    positive: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mode:
    """What holds as written or corrected only: settings, names of matrices, more steps."""

    names: Mapping[str, MatrixNames] = field(default_factory=dict)
    steps: Annotated[Tables, Key("step")] = ()
    settings: Stated = field(default_factory=dict)


@dataclass(frozen=True)
class ProblemFile:
    """What a problem file says, read and checked but not worked out.

    `sizes` are for worksheets, which draw numbers where shapes are given in letters.
    """

    name: Annotated[str, Absent()] = ""
    mechanism: Annotated[str, ReadBy(_mechanism)] = "self_attention"
    title: str = ""
    notation: Annotated[str | Path, ReadBy(_notation)] = "standard"
    given: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Annotated[int, Between(1)]] = field(default_factory=dict)
    ask: Ask = Ask()
    steps: Annotated[Tables, Key("step")] = ()
    gradients: Annotated[Tables, Key("gradient")] = ()
    introduction: Annotated[tuple[str, ...], OrOne()] = ()
    assume: Assume = Assume()
    miniature: Mapping[str, Any] | None = None
    as_written: Mode = Mode()
    corrected: Mode = Mode()
    errata: Annotated[tuple[Erratum, ...], Key("erratum")] = ()
    source: str = ""
    seed: int = 1
    settings: Stated = field(default_factory=dict)
    places: Annotated[Mapping[str, str], Absent()] = field(default_factory=dict)
    """What the tables of steps and of gradients are called, where they came from Python and not from a file."""

    def problem(
        self,
        *,
        corrected: bool = True,
        notation: Notation | None = None,
        settings: Mapping[str, object] | None = None,
        symbolic: bool = False,
        sizes: Mapping[str, Size] | None = None,
        miniature: bool = False,
    ) -> Problem:
        """Work it out.

        `corrected` or as written, where the file has errata; `notation` instead of its own; `settings` over its own;
        `symbolic` replaces the givens by named entries (or by shapes alone, where `sizes` has letters);
        `miniature` takes the small numbers that stand for a note that has none.
        """
        own = load_notation(self.notation)
        mode = self.corrected if corrected else self.as_written
        if miniature:  # smaller numbers may go with fewer heads
            small = {key: value for key, value in self._small.items() if key in SETTINGS}
            mode = replace(mode, settings={**mode.settings, **small})
        if notation is None:
            own = replace(own, names={**own.names, **mode.names})
        used = notation or own
        chosen = self._settings(mode, used, notation is not None, settings or {})
        with Place(self.name if self.name.endswith(".toml") else "").here():
            derivation = self._derive(mode, chosen, symbolic, sizes or {}, miniature)
            for step in self.ask.steps:
                derivation[step]  # names what there is, if there is no such step
        return Problem(
            title=self.title,
            mechanism=self.mechanism,
            derivation=derivation,
            notation=used,
            asked=self.ask.steps,
            exact=self.ask.exact,
            places=used.decimals if self.ask.places is None else self.ask.places,
            introduction=self.introduction,
            errata=self.errata if notation is None else (),
            corrected=corrected or notation is not None,
        )

    @property
    def upstream(self) -> set[str]:
        """The names of the gradients that are given: those of the steps from which a way back starts."""
        if not self.gradients:
            return set()
        from symattn.derivation.mechanisms.custom import upstreams

        return {gradient(of) for of in upstreams(self.gradients, self.places)}

    @property
    def _small(self) -> Mapping[str, Any]:
        """The miniature: givens, and settings of its own."""
        if self.miniature is None:
            raise InputError(f"{self.name} has no miniature; it has numbers of its own, or none at all.")
        return self.miniature

    def _settings(self, mode: Mode, notation: Notation, foreign: bool, over: Mapping[str, object]) -> Settings:
        """The notation's way of going about it, then the file's own, then what the mode and the caller say."""
        layout = {"by", "order", "scores", "orientation"} if foreign else set()
        stated = {key: value for key, value in layered(self.settings, mode.settings).items() if key not in layout}
        if self.mechanism == "custom":
            for key in (*stated, *over):
                if key not in OF_CUSTOM:
                    raise InputError(
                        f"A custom problem has no setting {key!r}, since its steps say how they are worked out; "
                        f"{', '.join(OF_CUSTOM)} can be set."
                    )
            return Settings.read({**stated, **over})
        chosen = mechanism(self.mechanism)
        return Settings.read(layered(chosen.defaults, chosen.layout(notation.settings), stated, over))

    def _derive(
        self, mode: Mode, settings: Settings, symbolic: bool, sizes: Mapping[str, Size], miniature: bool
    ) -> Derivation:
        given = self.given
        if miniature:
            given = {key: value for key, value in self._small.items() if key not in SETTINGS}
        if self.mechanism == "custom":
            if symbolic or sizes:
                raise InputError("A custom problem uses the givens it has; put symbols among them.")
            return self._derive_steps(self._read(given), mode, settings)
        chosen, upstream = mechanism(self.mechanism), self.upstream
        if unknown := [key for key in given if not chosen.has_given(key) and key not in upstream]:
            raise chosen.no_given(unknown[0], settings)
        own = load_notation(self.notation).settings.get("orientation", "rows")
        givens = _turned(self._read(given), str(self.settings.get("orientation", own)), settings)
        if sizes and not symbolic and any(isinstance(given, Matrix) for given in givens.values()):
            raise InputError(
                f"{self.name} has numbers: to choose its sizes, have it in letters as well (--symbolic, in Python "
                "symbolic=True)."
            )
        aside = {key: given for key, given in givens.items() if key in upstream - set(chosen.shapes(settings))}
        givens = {key: given for key, given in givens.items() if key not in aside}
        if symbolic or sizes:
            return self._differentiated(_in_letters(chosen, settings, givens, sizes))
        derivation = chosen.run(givens, settings)
        return self._differentiated(replace(derivation, givens={**derivation.givens, **aside}))

    def _derive_steps(self, givens: Mapping[str, AnyMatrix], mode: Mode, settings: Settings) -> Derivation:
        from symattn.derivation.mechanisms import custom

        steps = [*self.steps, *mode.steps]
        return custom.run(givens, steps, arithmetic=settings.arithmetic, gradients=self.gradients, places=self.places)

    def _differentiated(self, derivation: Derivation) -> Derivation:
        if not self.gradients:
            return derivation
        from symattn.derivation.mechanisms.custom import differentiated

        return differentiated(derivation, self.gradients, self.places)

    def _read(self, given: Mapping[str, object]) -> dict[str, AnyMatrix]:
        positive = frozenset(self.assume.positive)
        return {key: read_given(key, value, positive) for key, value in given.items()}


def _in_letters(
    chosen: Mechanism, settings: Settings, givens: Mapping[str, AnyMatrix], sizes: Mapping[str, Size]
) -> Derivation:
    """A mechanism with its entries in letters: of the stated sizes, else those of its numbers, else letters."""
    for size in sizes:
        if size not in chosen.letters:
            raise InputError(f"There is no size {size!r}; {offered(size, chosen.letters, 'the sizes are {}')}")
    settings = replace(settings, rounding=None)  # letters have no decimals
    letters = {letter: letter for shape in chosen.givens.values() for letter in shape}
    known = chosen.sizes(givens, settings) if givens else {}
    try:
        return chosen.run(chosen.symbolic({**letters, **known, **sizes}, settings), settings, staged=True)
    except LetterError as error:
        said = ",".join(f"{letter}={chosen.default_sizes.get(letter, 2)}" for letter in chosen.letters)
        raise InputError(f"{error} For example: --size {said}, in Python sizes={{…}}.") from error


def read_problem_file(path: Path) -> ProblemFile:
    """Read a problem file; `InputError` says what is wrong with it, and where."""
    return in_own_words(problem_file(read_toml(path), path.name))


def in_own_words(file: ProblemFile) -> ProblemFile:
    """With title and introduction as somebody wrote them, which no language translates; those of our notes are."""
    return replace(file, title=Quoted(file.title), introduction=tuple(map(Quoted, file.introduction)))


def _is_matrix(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)


def problem_file(data: Mapping[str, Any], name: str, places: Mapping[str, str] = NOTHING) -> ProblemFile:
    """What a problem file says, from its contents; `name` and `places` are what errors call it and its tables."""
    known = keys(ProblemFile)
    if above := next((key for key, value in data.items() if key not in known and _is_matrix(value)), ""):
        where = "that line" if "given" in data else "a line [given]"
        raise InputError(f"{name} has the matrix {above} above [given]; it belongs below {where}.")
    file = read_data(ProblemFile, data, name)
    return replace(file, name=name, title=file.title or name, places=places)


def read_given(name: str, value: object, positive: frozenset[str] = frozenset()) -> AnyMatrix:
    """A given matrix: rows of entries, in which letters are symbols; or {rows = …, columns = …}, its shape alone."""
    if isinstance(value, Mapping):
        if set(value) != {"rows", "columns"}:
            raise InputError(f"Given {name}: a shape is {{rows = …, columns = …}}.")
        rows, columns = (_size(name, value[key]) for key in ("rows", "columns"))
        return Outline((rows, columns))
    if type(value).__name__ == "MatrixSymbol":
        return _outline(name, value)
    value = listed(value)
    if is_batch(value):
        raise InputError(
            f"Given {name} has three dimensions or more; one matrix was expected, or symattn.batch for a batch of them."
        )
    if isinstance(value, list):
        nested = value if value and isinstance(value[0], list) else [value]
        value = [
            [_entry(name, x, i, j, positive) for j, x in enumerate(row, 1)] if isinstance(row, list) else row
            for i, row in enumerate(nested, 1)
        ]
    try:
        return matrix(value)
    except InputError as error:
        raise InputError(f"Given {name}: {error}") from error


def _outline(name: str, symbol: Any) -> AnyMatrix:
    """The shape of SymPy's `MatrixSymbol`, which stands for the given whose name it has."""
    if symbol.name != name:
        raise InputError(f"Given {name}: a MatrixSymbol called {name} was expected; this one is called {symbol.name}.")
    rows, columns = (_size(name, size) for size in symbol.shape)
    return Outline((rows, columns))


def is_batch(value: object) -> bool:
    """Whether a given is a list of matrices: an array of three dimensions, batch × rows × columns."""
    value = listed(value)
    return isinstance(value, list) and any(isinstance(m, list) and any(isinstance(r, list) for r in m) for m in value)


def _entry(name: str, x: object, i: int, j: int, positive: frozenset[str]) -> object:
    try:
        value = read(x, symbols=True).value if isinstance(x, str) else exact(x)
    except ReadError as error:
        raise InputError(f"Given {name}, entry ({i}, {j}), {x!r}, cannot be read: {error}") from error
    except InputError as error:
        raise InputError(f"Given {name}, entry ({i}, {j}): {error}") from error
    if positive and is_symbolic(value):
        import sympy

        swaps = {s: sympy.Symbol(s.name, positive=True) for s in value.free_symbols if s.name in positive}
        return value.xreplace(swaps)
    return value


def _size(name: str, size: object) -> Size:
    known = read_size(size)
    if known is None:
        raise InputError(f"Given {name}: {size!r} is not a size; a number from 1 or a letter was expected.")
    return known


def _turned(givens: Mapping[str, AnyMatrix], written: str, settings: Settings) -> dict[str, AnyMatrix]:
    """The givens as the settings want them: transposed, if they were written for the other orientation."""
    if written == settings.orientation:
        return dict(givens)
    return {name: given.T for name, given in givens.items()}


# ------------------------------------------------------------------------------------------------ the notes


@cache
def examples() -> tuple[str, ...]:
    """The names of the examples."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in _folder_of_examples().iterdir()))


def _folder_of_examples() -> Traversable:
    return resources.files("symattn.teaching") / "examples"


def load_example(name: str) -> ProblemFile:
    """An example by name; `InputError` lists those there are."""
    if name not in examples():
        raise InputError(f"There is no example {name!r}; {offered(name, examples())}")
    text = (_folder_of_examples() / f"{name}.toml").read_text(encoding="utf-8")
    return problem_file(tomllib.loads(text), name)
