"""What a decoder keeps of the tokens so far."""

from __future__ import annotations

from dataclasses import dataclass

from symattn.derivation.ops.linear import Stack


@dataclass(frozen=True)
class Append(Stack):
    """A new row (or column) put at the end of those that are kept; nothing has to be worked out."""

    trivial = True
    title = "Append"


__all__ = ["Append"]
