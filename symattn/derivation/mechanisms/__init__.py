"""The mechanisms, one a file, found by listing the folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from symattn.derivation.mechanisms.base import Mechanism, Rounding, Settings
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
