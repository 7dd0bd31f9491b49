"""Catalogues that are read by listing their folder: symattn's own, and those in folders of the user's.

`SYMATTN_PATH` names folders, as `PATH` does.  What lies there in mechanisms/, ops/, misconceptions/, problems/,
writers/ and exporters/ is Python, is run, and is in the catalogues beside symattn's own, in worker processes as well.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from symattn.errors import InputError, SymattnError

VARIABLE = "SYMATTN_PATH"


def added(catalogue: str) -> list[str]:
    """The user's folders for a catalogue."""
    roots = [Path(root).absolute() for root in os.environ.get(VARIABLE, "").split(os.pathsep) if root]
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{VARIABLE} names {root}, which is no folder.")
    return [str(root / catalogue) for root in roots if (root / catalogue).is_dir()]


def modules(package: str, path: Iterable[str]) -> Iterator[ModuleType]:
    """The modules in the folders of a catalogue, its own first; `InputError` for a file of the user's that is wrong."""
    own, *others = path
    names: dict[str, str] = {}
    for folder in (own, *others):
        for info in pkgutil.iter_modules([folder]):
            file = Path(folder) / f"{info.name}.py"
            if info.name in names:
                raise InputError(f"{file} has the name of {names[info.name]}; another name is needed.")
            names[info.name] = f"{file}"
            try:
                module = importlib.import_module(f"{package}.{info.name}")
            except SymattnError:
                raise
            except Exception as error:
                if folder == own:
                    raise
                raise InputError(f"{file} cannot be used: {type(error).__name__}: {error}") from error
            yield module
