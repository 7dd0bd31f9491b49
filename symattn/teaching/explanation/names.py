"""What matrices are called in programs, for NumPy and for SymPy."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable

from symattn.derivation.derivation import StepName
from symattn.derivation.numpy_source import HELPERS

RESERVED = frozenset({"np", "math", "mask", "bias", "positions", "angles", *HELPERS, *keyword.kwlist})


def identifier(name: str) -> str:
    """The name of a step as a name in Python.

    >>> identifier("S'_2^self.3"), identifier("W_Q"), identifier("2 x"), identifier("mask")
    ('S_scaled_2_self_token_3', 'W_Q', 'x', 'mask_')
    """
    called = StepName.of(name)
    parts = [called.stem.replace("'", "_scaled"), called.head, called.place]
    parts += [] if called.token is None else ["token", called.token]
    joined = unicodedata.normalize("NFKC", "_".join(str(part) for part in parts if part not in (None, "")))
    letters = "".join(c for c in joined if f"a{c}".isidentifier()).lstrip("_0123456789")
    found = letters if letters.isidentifier() else f"M_{letters}"
    return f"{found}_" if found in RESERVED else found


def unlike(others: Iterable[str], name: str) -> str:
    """A name that none of the others has: itself, or with a number."""
    taken, count, unlike = set(others), 1, name
    while unlike in taken:
        count += 1
        unlike = f"{name}_no_{count}"
    return unlike


__all__ = ["identifier", "unlike"]
