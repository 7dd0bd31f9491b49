"""What a decoder keeps of the tokens so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symattn.derivation.derivation import Convention, Signs, Step, convention
from symattn.derivation.ops.linear import Stack


@dataclass(frozen=True)
class Append(Stack):
    """A new row (or column) put at the end of those that are kept; nothing has to be worked out."""

    trivial = True
    title = "Append"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if steps[0].stem not in ("K_cache", "V_cache"):  # states of a recurrent network are put together, too
            return []
        return [convention("The key and value of a new token are cached before its query is used.")]
