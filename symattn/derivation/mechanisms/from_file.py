"""Mechanisms from files: steps of one's own, drawn and varied like any other mechanism's.

A file says the shapes of what is given, in letters, the sizes that are usual, and the steps, as `custom` reads them:

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

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import custom
from symattn.derivation.mechanisms.base import Mechanism, Settings
from symattn.errors import InputError
from symattn.exact import Size
from symattn.exact.carry import Arithmetic
from symattn.foundation.files import read_toml
from symattn.foundation.typed import Between, Key, Matching, NotEmpty, Place, read

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
    """What such a file says."""

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
    file = read(MechanismFile, data, place)
    givens = {name: (str(shape.rows), str(shape.columns)) for name, shape in file.given.items()}
    letters = {letter for shape in givens.values() for letter in shape if not letter.isdigit()}
    place.at("sizes").know(file.sizes, sorted(letters))
    if missing := sorted(letters - {*file.sizes}):
        raise place.at("sizes").lacks(missing[0], "a number for every letter of the shapes")

    def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
        with custom.located(place.file):
            return custom.followed(d, file.steps)

    return Mechanism(
        name=place.file,
        title=file.title or stem,
        givens=givens,
        derive=derive,
        defaults={"arithmetic": file.arithmetic} if file.arithmetic != "exact" else {},
        default_sizes=file.sizes,
    )
