"""Catalogues that are read by listing their folder: symattn's own, and those in folders of the user's.

`SYMATTN_PATH` names folders, as `PATH` does.  What lies there in mechanisms/, ops/, misconceptions/, problems/,
writers/ and exporters/ is Python, is run, and is in the catalogues beside symattn's own, in worker processes as well.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TypeVar

from symattn.errors import InputError, SymattnError

T = TypeVar("T")
VARIABLE = "SYMATTN_PATH"


def added(catalogue: str) -> list[str]:
    """The user's folders for a catalogue."""
    roots = [Path(root).absolute() for root in os.environ.get(VARIABLE, "").split(os.pathsep) if root]
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{VARIABLE} names {root}, which is not a folder.")
    return [str(root / catalogue) for root in roots if (root / catalogue).is_dir()]


class Catalogue(Mapping[str, T]):
    """The entries in the folders of a catalogue by their names, mostly one a file.

    A file is imported when the entry of its name is asked for, or one whose `home` it is; all are when the entries are
    listed, or when there is no such file.  `entries` gives the entries of a module with their names.
    """

    def __init__(
        self,
        package: str,
        path: Iterable[str],
        entries: Callable[[ModuleType], Iterable[tuple[str, T]]],
        home: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.package, self.path, self.entries, self.home = package, list(path), entries, home
        self.known: dict[str, T] = {}
        self.complete = False

    def __getitem__(self, name: str) -> T:
        if name not in self.known and not self.complete:
            listed, file = files(self.path), self.home.get(name, name)
            if file in listed:
                self._take([module(self.package, file, listed[file], self.path)])
            if name not in self.known:
                self._all()
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, T]:
        if not self.complete:
            self._take(modules(self.package, self.path))
            self.complete = True
        return self.known

    def _take(self, modules: Iterable[ModuleType]) -> None:
        for one in modules:
            self.known.update(self.entries(one))


def modules(package: str, path: Iterable[str]) -> Iterator[ModuleType]:
    """The modules in the folders of a catalogue, its own first; `InputError` for a file of the user's that is wrong."""
    folders = list(path)
    for name, file in files(folders).items():
        yield module(package, name, file, folders)


def is_format(module: ModuleType) -> bool:
    """Whether a module is a format, as its SUFFIX says; `InputError` if no file can end so."""
    suffix = getattr(module, "SUFFIX", None)
    if suffix is not None and not (isinstance(suffix, str) and re.fullmatch(r"\.[^\s/\\]+", suffix)):
        raise InputError(f"{module.__file__}: SUFFIX is {suffix!r}; an ending with its dot was expected, as in '.txt'.")
    return suffix is not None


def files(path: Iterable[str]) -> dict[str, Path]:
    """The files in the folders of a catalogue by the names of their modules."""
    paths: dict[str, Path] = {}
    for folder in path:
        for info in pkgutil.iter_modules([folder]):
            file = Path(folder) / f"{info.name}.py"
            if info.name in paths:
                raise InputError(f"{file} has the name of {paths[info.name]}; another name is needed.")
            paths[info.name] = file
    return paths


def module(package: str, name: str, file: Path, path: Sequence[str]) -> ModuleType:
    """A module in one of the folders of a catalogue."""
    try:
        return importlib.import_module(f"{package}.{name}")
    except SymattnError:
        raise
    except Exception as error:
        if file.parent == Path(path[0]):  # one of symattn's own
            raise
        raise InputError(f"{file} cannot be used: {type(error).__name__}: {error}") from error
