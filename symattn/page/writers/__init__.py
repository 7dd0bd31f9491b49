"""One output format a file.  No writer computes, and none knows another's format."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from symattn.foundation.additions import Catalogue, added, is_format

if TYPE_CHECKING:
    from symattn.formula.nodes import Formula
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


def _entries(module: ModuleType) -> list[tuple[str, Writer]]:
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    return [(name, cast(Writer, module))] if is_format(module) else []


FORMATS: Catalogue[Writer] = Catalogue(__name__, __path__, _entries)
"""By the name of the module, latex-body for latex_body, with the first line of its docstring as its description."""
