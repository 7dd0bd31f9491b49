"""Short names for content, printed on paper and typed by hand: a hash with a check character.

Letters are Crockford's base 32 (no I, L, O, U).  The check character is a weighted sum over the field of 32 elements,
with weights 1, α, α², … for a primitive α: it finds every single wrong character and every exchange of two.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_READ_AS = str.maketrans({"I": "1", "L": "1", "O": "0"})
_LENGTH = 7  # 35 bits: among 300 variants two agree once in a million sets


def digest(content: object) -> str:
    """SHA-256 of some JSON, in hexadecimal; the order of keys makes no difference."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def identity(content: object) -> str:
    """The short name of some JSON: equal content has equal names.

    >>> identity({"X": [[1, 0]]}) == identity({"X": [[1, 0]]}), is_identity(identity([]))
    (True, True)
    """
    number = int(digest(content), 16)
    letters = "".join(ALPHABET[(number >> 5 * i) & 31] for i in range(_LENGTH))
    letters += _check(letters)
    return f"{letters[:4]}-{letters[4:]}"


def is_identity(text: str) -> bool:
    """Whether a text is such a name with the right check character; small letters, I, L and O are forgiven."""
    letters = plain_name(text)
    known = len(letters) == _LENGTH + 1 and all(c in ALPHABET for c in letters)
    return known and _check(letters[:-1]) == letters[-1]


def plain_name(text: str) -> str:
    """A name as it is compared: without hyphens, in capitals, and with the letters that nobody can mistake.

    >>> plain_name("0bx9-9eho")
    '0BX99EH0'
    """
    return re.sub(r"[-\s]", "", text).upper().translate(_READ_AS)


def _check(letters: str) -> str:
    total, weight = 0, 1
    for letter in letters:
        weight = _times_alpha(weight)
        total ^= _times(weight, ALPHABET.index(letter))
    return ALPHABET[total]


def _times_alpha(a: int) -> int:
    """a·α in GF(32) = GF(2)[α]/(α⁵ + α² + 1)."""
    return (a << 1) ^ (0b100101 if a & 16 else 0)


def _times(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = _times_alpha(a), b >> 1
    return product


@dataclass(frozen=True, eq=False, slots=True)
class Same(Generic[T]):
    """A thing as the key of a cache: the object that it is, for what is equal by proof has no hash."""

    thing: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)
