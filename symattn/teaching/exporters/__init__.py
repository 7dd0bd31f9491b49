"""Question banks of other systems, one format a file: questions with their answers, not pages.

A module is a format if it has SUFFIX, LOST, one sentence on what its system cannot do, and `write`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Protocol, cast

from symattn.foundation.additions import added, modules
from symattn.foundation.languages import Message
from symattn.teaching.bank.items import Bank, left_out
from symattn.teaching.question import Question

__path__ += added("exporters")


class Exporter(Protocol):
    """What a module of this folder has to offer to be a format of question banks."""

    SUFFIX: str
    LOST: Message

    def write(self, bank: Bank) -> bytes:
        """The bank as a file; the same bytes for the same bank."""


@cache
def exporters() -> Mapping[str, Exporter]:
    """By the name of the module, with the first line of its docstring as what is said of it."""
    found = {m.__name__.rpartition(".")[2]: m for m in modules(__name__, __path__) if hasattr(m, "SUFFIX")}
    return MappingProxyType({name: cast(Exporter, module) for name, module in found.items()})


def not_carried(forms: Iterable[str], questions: Iterable[Question]) -> list[str]:
    """What formats of banks cannot do, and what of the questions is not in them: a sentence each."""
    lost = [exporters()[form].LOST for form in forms]
    needs = [f"Not marked there: {said}" for question in questions for said in left_out(question)] if lost else []
    return list(dict.fromkeys([*lost, *needs]))


__all__ = ["Exporter", "exporters", "not_carried"]
