"""One output format a file.  No writer computes, and none knows another's format."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from symattn.document import Document
from symattn.formula.nodes import Formula


class Writer(Protocol):
    """What a module of this folder has to offer to be an output format."""

    SUFFIX: str

    def write(self, document: Document) -> str:
        """The document as the text of a file."""

    def formula(self, formula: Formula) -> str:
        """One formula, without anything round it."""


def _found() -> Iterator[tuple[str, Writer]]:
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(module, "SUFFIX"):
            yield info.name, cast(Writer, module)


FORMATS: Mapping[str, Writer] = dict(_found())
