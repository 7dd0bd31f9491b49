"""Question banks of other systems, one format a file: questions with their answers, not pages.

A module is a format if it has SUFFIX, LOST, one sentence on what its system cannot do, and `write`; WANTS says what it
wants of items, where that is not numbers in every form and formulas in MathML.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from symattn.foundation.additions import Catalogue, added, is_format
from symattn.foundation.languages import Message
from symattn.teaching.question import Question

if TYPE_CHECKING:  # what a bank is made of is imported by what makes one
    from symattn.teaching.bank.items import Bank, Wants

__path__ += added("exporters")


class Exporter(Protocol):
    """What a module of this folder has to offer to be a format of question banks."""

    SUFFIX: str
    LOST: Message

    def write(self, bank: Bank) -> bytes:
        """The bank as a file, in the language that is spoken then; the same bytes for the same bank."""


def _entries(module: ModuleType) -> list[tuple[str, Exporter]]:
    return [(module.__name__.rpartition(".")[2], cast(Exporter, module))] if is_format(module) else []


EXPORTERS: Catalogue[Exporter] = Catalogue(__name__, __path__, _entries)
"""By the name of the module, with the first line of its docstring as its description."""


def wants(form: str) -> Wants:
    """What a format wants of the items of a bank."""
    from symattn.teaching.bank.items import Wants

    return cast(Wants, getattr(EXPORTERS[form], "WANTS", Wants()))


def not_carried(forms: Iterable[str], questions: Iterable[Question]) -> list[str]:
    """What formats of banks cannot do, and what of the questions is not in them: a sentence each."""
    lost = [EXPORTERS[form].LOST for form in forms]
    if not lost:
        return []
    from symattn.teaching.bank.items import left_out

    needs = [f"Not marked there: {said}" for question in questions for said in left_out(question)]
    return list(dict.fromkeys([*lost, *needs]))


__all__ = ["EXPORTERS", "Exporter", "not_carried", "wants"]
