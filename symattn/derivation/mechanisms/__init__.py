"""The mechanisms, one a file, found by listing the folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.settings import Rounding, Settings
from symattn.derivation.sizes import LARGEST_SIZE
from symattn.errors import InputError, offered
from symattn.foundation.additions import Catalogue, added

__path__ += added("mechanisms")


@cache
def mechanisms() -> Mapping[str, Mechanism]:
    """Every mechanism by its name."""
    return Catalogue(__name__, __path__, _entries)


def _entries(module: ModuleType) -> list[tuple[str, Mechanism]]:
    own: Mechanism | None = getattr(module, "MECHANISM", None)
    return [] if own is None else [(own.name, own)]


def mechanism(name: str) -> Mechanism:
    """The mechanism of that name, or that a .toml file has; `InputError` names the nearest, or how to list all."""
    if isinstance(name, str) and _is_file(name):
        from symattn.derivation.mechanisms.custom import from_file

        return from_file(name)
    own = mechanisms().get(name.replace("-", "_")) if isinstance(name, str) else None
    if own is None and name == "custom":
        raise InputError("A custom mechanism is the steps of a problem file: symattn derive FILE.toml works them out.")
    if own is None:
        raise InputError(
            f"There is no mechanism {name!r}; {offered(name, mechanisms(), see='symattn list mechanisms')}"
        )
    return own


def _is_file(name: str) -> bool:
    """Whether a mechanism is meant that stands in a file, or that was kept as the contents of one."""
    return name.endswith(".toml") or name.startswith("{")


def named_mechanism(name: str) -> str:
    """What a mechanism is called, for `mechanism`: its own name, or that of its file."""
    own = mechanism(name)  # says what there is
    return name if _is_file(name) else own.name


def kept_mechanism(name: str) -> str:
    """A mechanism as it is frozen, for `mechanism`: its name as it stands, or the contents of its file in JSON."""
    if not name.endswith(".toml"):
        return name
    from symattn.derivation.mechanisms.custom import kept

    return kept(Path(name))


__all__ = ["Mechanism", "Rounding", "Settings", "kept_mechanism", "mechanism", "mechanisms", "named_mechanism"]


def typed_sizes(text: str | None) -> dict[str, int | str] | None:
    """Sizes as they are typed: n=3,d_k=d → {"n": 3, "d_k": "d"}; `InputError` for what is none."""
    if text is None:
        return None
    known = dict.fromkeys(letter for chosen in mechanisms().values() for letter in chosen.letters)
    own = dict.fromkeys(("h", *known))  # heads, which the problem type counts has among its sizes
    sizes: dict[str, int | str] = {}
    for part in text.split(","):
        name, sign, size = (p.strip() for p in part.partition("="))
        if sign and size and name not in own:
            raise InputError(f"There is no size {name!r}; {offered(name, known, 'the sizes are {}')}")
        if not sign or not size:
            raise InputError(
                f"--size has {part!r}; something like n=3,d_model=5,d_k=4,d_v=2 was expected, the sizes being "
                f"{', '.join(known)}."
            )
        if size.isdecimal():
            if len(size) > 9 or not 1 <= int(size) <= LARGEST_SIZE:
                raise InputError(f"--size has {part!r}; a size is from 1 to {LARGEST_SIZE}.")
            sizes[name] = int(size)
        elif size.isidentifier() and len(size) <= 12:
            sizes[name] = size
        else:
            raise InputError(f"--size has {part!r}; a size is a number from 1 or a letter.")
    return sizes
