"""One output format a file.  No writer computes, and none knows another's format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from symattn.formula.nodes import Formula
from symattn.foundation.additions import added, modules
from symattn.page.document import Document

__path__ += added("writers")


class Writer(Protocol):
    """What a module of this folder has to offer to be an output format.

    One that does not read everything a document may hold besides what it shows says so in `BESIDES`.
    """

    SUFFIX: str

    def write(self, document: Document) -> str:
        """The document as the text of a file."""

    def formula(self, formula: Formula) -> str:
        """One formula, without anything round it."""


def _found() -> Iterator[tuple[str, Writer]]:
    for module in modules(__name__, __path__):
        if hasattr(module, "SUFFIX"):
            yield module.__name__.rpartition(".")[2], cast(Writer, module)


FORMATS: Mapping[str, Writer] = dict(_found())
"""By the name of the module, with the first line of its docstring as what is said of it."""
