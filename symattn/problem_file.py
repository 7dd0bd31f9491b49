"""Problem files: givens, mechanism, notation and what is asked, as a person writes them in TOML.

The examples are such files too, with errata and with what differs between the note as written and corrected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from symattn.derivation import Derivation
from symattn.errors import InputError, ReadError, offered
from symattn.exact import AnyMatrix, Matrix, Outline, Size, exact, is_symbolic, matrix
from symattn.exact.outside import listed
from symattn.exact.reading import read
from symattn.files import read_toml
from symattn.mechanisms import Settings, custom, mechanism, mechanisms
from symattn.mechanisms.backward import gradient
from symattn.notation import MatrixNames, Notation, load_notation
from symattn.problem import Erratum, Problem

SETTINGS = frozenset(f.name for f in fields(Settings))
KEYS = {
    "title", "mechanism", "notation", "given", "ask", "step", "introduction", "assume", "miniature", "as_written",
    "corrected", "erratum", "source", "seed", "gradient",
}  # fmt: skip
ASK = {"steps", "exact", "places"}
NOTHING: Mapping[str, str] = MappingProxyType({})
OF_CUSTOM = frozenset({"arithmetic"})
"""The settings of a program of steps, which say all else themselves."""


@dataclass(frozen=True)
class ProblemFile:
    """What a problem file says, read and checked but not worked out."""

    name: str
    data: Mapping[str, Any]
    places: Mapping[str, str] = field(default_factory=dict)
    """What the tables of steps and of gradients are called, where they came from Python and not from a file."""

    @property
    def title(self) -> str:
        return str(self.data.get("title", self.name))

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
        own = load_notation(self.data.get("notation", "standard"))
        mode = self.data.get("corrected" if corrected else "as_written", {})
        if miniature:  # smaller numbers may go with fewer heads
            mode = {**mode, **{key: value for key, value in self._small.items() if key in SETTINGS}}
        if notation is None and "names" in mode:
            own = replace(own, names={**own.names, **_names(mode["names"])})
        used = notation or own
        chosen = self._settings(mode, used, notation is not None, settings or {})
        derivation, name = self._derive(mode, chosen, symbolic, sizes or {}, miniature)
        ask = self.data.get("ask", {})
        for step in ask.get("steps", ()):
            derivation[step]  # names what there is, if there is no such step
        return Problem(
            title=self.title,
            mechanism=name,
            derivation=derivation,
            notation=used,
            asked=tuple(ask.get("steps", ())),
            exact=bool(ask.get("exact", True)),
            places=int(ask.get("places", used.decimals)),
            introduction=_texts(self.data.get("introduction", ())),
            errata=tuple(_erratum(e) for e in self.data.get("erratum", ())) if notation is None else (),
            corrected=corrected or notation is not None,
        )

    @property
    def _small(self) -> Mapping[str, Any]:
        """The miniature: givens, and settings of its own."""
        if "miniature" not in self.data:
            raise InputError(f"{self.name} has no miniature; it has numbers of its own, or none at all.")
        small: Mapping[str, Any] = self.data["miniature"]
        return small

    def _settings(
        self, mode: Mapping[str, Any], notation: Notation, foreign: bool, over: Mapping[str, object]
    ) -> Settings:
        """The notation's way of going about it, then the file's own, then what the mode and the caller say."""
        own = {key: self.data[key] for key in SETTINGS if key in self.data}
        own |= {key: mode[key] for key in SETTINGS if key in mode}
        layout = {"by", "order", "scores", "orientation"} if foreign else set()
        stated = {key: value for key, value in own.items() if key not in layout}
        name = self.data.get("mechanism", "self_attention")
        if name == "custom":
            for key in (*stated, *over):
                if key not in OF_CUSTOM:
                    raise InputError(
                        f"A custom problem has no setting {key!r}, for its steps say how they are worked out; "
                        f"{', '.join(OF_CUSTOM)} can be set."
                    )
            return Settings.read({**stated, **over})
        chosen = mechanism(name)
        return Settings.read({**chosen.defaults, **chosen.layout(notation.settings), **stated, **over})

    def _derive(
        self,
        mode: Mapping[str, Any],
        settings: Settings,
        symbolic: bool,
        sizes: Mapping[str, Size],
        miniature: bool,
    ) -> tuple[Derivation, str]:
        name = str(self.data.get("mechanism", "self_attention"))
        given = self.data.get("given", {})
        if miniature:
            given = {key: value for key, value in self._small.items() if key not in SETTINGS}
        gradients = self.data.get("gradient", ())
        upstream = {gradient(of) for of in custom.upstreams(gradients, self.places)}
        positive = frozenset(self.data.get("assume", {}).get("positive", ()))
        if name != "custom" and (
            unknown := [key for key in given if not mechanism(name).has_given(key) and key not in upstream]
        ):
            raise mechanism(name).no_given(unknown[0], settings)
        givens = {key: read_given(key, value, positive) for key, value in given.items()}
        if name == "custom":
            if symbolic or sizes:
                raise InputError("A custom problem uses the givens it has; put symbols among them.")
            steps = [*self.data.get("step", ()), *mode.get("step", ())]
            d = custom.run(givens, steps, arithmetic=settings.arithmetic, gradients=gradients, places=self.places)
            return d, name
        chosen = mechanism(name)
        own = load_notation(self.data.get("notation", "standard")).settings.get("orientation", "rows")
        givens = _turned(givens, str(self.data.get("orientation", own)), settings)
        if sizes and not symbolic and any(isinstance(given, Matrix) for given in givens.values()):
            raise InputError(f"{self.name} has numbers: to choose its sizes, have it in letters as well (--symbolic).")
        aside = {key: given for key, given in givens.items() if key in upstream - set(chosen.shapes(settings))}
        givens = {key: given for key, given in givens.items() if key not in aside}
        if symbolic or sizes:
            settings = replace(settings, rounding=None)  # letters have no decimals
            known = chosen.sizes(givens, settings) if givens else {}
            named = {s: s for shape in chosen.givens.values() for s in shape}
            givens, aside = chosen.symbolic({**named, **known, **sizes}, settings), {}
        derivation = chosen.run(givens, settings, staged=symbolic or bool(sizes))
        if aside:
            derivation = replace(derivation, givens={**derivation.givens, **aside})
        return custom.differentiated(derivation, gradients, self.places), name


def read_problem_file(path: Path) -> ProblemFile:
    """Read a problem file; `InputError` says what is wrong with it, and where."""
    return problem_file(read_toml(path), path.name)


def problem_file(data: Mapping[str, Any], name: str, places: Mapping[str, str] = NOTHING) -> ProblemFile:
    """What a problem file says, from its contents; `name` and `places` are what errors call it and its tables."""
    if unknown := sorted(set(data) - KEYS - SETTINGS):
        raise InputError(f"{name} has {unknown[0]!r}; {offered(unknown[0], sorted(KEYS | SETTINGS), '{} are known')}")
    for key in ("given", "ask", "miniature", "as_written", "corrected"):
        if not isinstance(data.get(key, {}), Mapping):
            raise InputError(f"In {name}, {key} is {data[key]!r}; a table was expected.")
    for key in ("mechanism", "title", "source"):
        if not isinstance(data.get(key, ""), str):
            raise InputError(f"In {name}, {key} is {data[key]!r}; a text was expected{_hint(key)}.")
    introduction = data.get("introduction", "")
    if not isinstance(introduction, str) and not _is_texts(introduction):
        raise InputError(f"In {name}, introduction is {introduction!r}; a text or a list of texts was expected.")
    for key in ("as_written", "corrected"):
        _check_mode(data.get(key, {}), f"In {name}, {key}")
    for key in ("step", "gradient", "erratum"):
        _check_tables(data.get(key, []), places.get(key, f"In {name}, {key}"))
    assume = data.get("assume", {})
    if not isinstance(assume, Mapping) or not _is_texts(assume.get("positive", [])):
        raise InputError(f'In {name}, assume is {assume!r}; {{positive = ["a", …]}} was expected.')
    for erratum in data.get("erratum", ()):
        _erratum(erratum)
    ask = data.get("ask", {})
    if not _is_texts(ask.get("steps", [])):
        raise InputError(f"In {name}, ask.steps is {ask['steps']!r}; a list of names was expected.")
    if not isinstance(ask.get("exact", True), bool):
        raise InputError(f"In {name}, ask.exact is {ask['exact']!r}; true or false was expected.")
    if unknown := sorted(set(ask) - ASK):
        raise InputError(f"In {name}, [ask] has {unknown[0]!r}; {offered(unknown[0], sorted(ASK), '{} are known')}")
    digits = ask.get("places", 4)
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 50:
        raise InputError(f"In {name}, ask.places is {digits!r}; a number of decimal places from 0 to 50 was expected.")
    return ProblemFile(name, data, places)


def _check_mode(mode: Mapping[str, Any], where: str) -> None:
    """What holds in one mode only: settings, names of matrices, more steps."""
    if unknown := sorted(set(mode) - SETTINGS - {"names", "step"}):
        raise InputError(f"{where} has {unknown[0]!r}; names, step and the settings are known there.")
    _check_tables(mode.get("step", []), f"{where}.step")
    names = mode.get("names", {})
    known = {f.name for f in fields(MatrixNames)}
    if not isinstance(names, Mapping):
        raise InputError(f"{where}.names is {names!r}; a table of matrices was expected.")
    for role, said in names.items():
        told = isinstance(said, Mapping) and "matrix" in said and set(said) <= known
        if not told or not all(isinstance(text, str) for text in said.values()):
            raise InputError(f"{where}.names.{role} is {said!r}; texts for matrix, row, entry and word were expected.")


def _check_tables(listed: object, where: str) -> None:
    if not isinstance(listed, list) or not all(isinstance(table, Mapping) for table in listed):
        raise InputError(f"{where} is {listed!r}; a list of tables was expected.")


def read_given(name: str, value: object, positive: frozenset[str] = frozenset()) -> AnyMatrix:
    """A given matrix: rows of entries, in which letters are symbols; or {rows = …, columns = …}, its shape alone."""
    if isinstance(value, Mapping):
        if set(value) != {"rows", "columns"}:
            raise InputError(f"Given {name}: a shape is {{rows = …, columns = …}}.")
        rows, columns = (_size(name, value[key]) for key in ("rows", "columns"))
        return Outline((rows, columns))
    value = listed(value)
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
    if isinstance(size, bool) or not isinstance(size, int | str) or (isinstance(size, int) and size < 1):
        raise InputError(f"Given {name}: {size!r} is not a size; a number from 1 or a letter was expected.")
    return size


def _turned(givens: Mapping[str, AnyMatrix], written: str, settings: Settings) -> dict[str, AnyMatrix]:
    """The givens as the settings want them: transposed, if they were written for the other orientation."""
    if written == settings.orientation:
        return dict(givens)
    return {name: given.T for name, given in givens.items()}


def _hint(key: str) -> str:
    return f" ({', '.join(mechanisms())} or custom)" if key == "mechanism" else ""


def _is_texts(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(x, str) for x in given)


def _erratum(data: object) -> Erratum:
    known = {f.name for f in fields(Erratum)}
    required = ("id", "kind", "as_written", "corrected")
    if isinstance(data, Mapping) and (unknown := sorted(set(data) - known)):
        raise InputError(f"An erratum has {unknown[0]!r}; {offered(unknown[0], sorted(known), '{} are known')}")
    texts = isinstance(data, Mapping) and all(isinstance(value, str) for value in data.values())
    if not isinstance(data, Mapping) or not texts or not set(required) <= set(data):
        raise InputError(
            f"An erratum is {data!r}; texts for {', '.join(required)}, perhaps why, at, patch, were expected."
        )
    return Erratum(**data)


def _names(data: Mapping[str, Any]) -> dict[str, MatrixNames]:
    return {role: MatrixNames(**names) for role, names in data.items()}


def _texts(given: object) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given)) if isinstance(given, list | tuple) else ()


__all__ = ["ProblemFile", "problem_file", "read_given", "read_problem_file"]
