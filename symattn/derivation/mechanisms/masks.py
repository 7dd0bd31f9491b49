"""Masks as people give them: by name (causal, padding:2), by rows of 1 and 0, by rows of what is added to the scores,
or several of these, joined by + or in a list; read once, and then asked what each query sees."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add

from symattn.derivation.ops.attention import Keep, Pattern, both
from symattn.errors import InputError, LetterError, ShapeError, offered
from symattn.exact import NEGATIVE_INFINITY, Matrix, Size, Value

_EXPECTED = (
    "causal, causal:top-left, past, padding:2, window:2, window:2:both, prefix:2, blocks:2,1, rows of 1 (seen) and 0 "
    "(hidden), hidden: and rows of 1 for what is hidden, additive: and rows of numbers, or several of these joined by "
    "+ were expected"
)
_NAMES = ("causal", "past", "padding", "window", "prefix", "blocks")
_HIDDEN, _ADDITIVE = "hidden:", "additive:"

HIDDEN_FROM = -10_000
"""From here on down, what a program adds to a score hides it: its weight is 0 in every format."""


@dataclass(frozen=True)
class Named:
    """A mask that is made for the sizes: causal, padding:2."""

    spec: str

    @property
    def kind(self) -> str:
        return self.spec if self.spec == "causal:top-left" else self.spec.partition(":")[0].strip()

    def pattern(self, columns: Size) -> Pattern:
        """Its rule for `columns` keys; `ValueError` if it is no mask, or its numbers do not fit."""
        kind, *numbers = (part.strip() for part in self.spec.split(":"))
        match kind, numbers:
            case "causal" | "past", []:
                return Pattern(kind)
            case "causal", ["top-left"]:
                return Pattern("causal:top-left")
            case "padding", [number]:  # no real token at all is a sequence of padding in a batch
                return Pattern(kind, (_within(int(number), columns, least=0),))
            case "window" | "prefix", [number]:
                return Pattern(kind, (_within(int(number), columns),))
            case "window", [width, "both"]:
                return Pattern("window:both", (_within(int(width), columns),))
            case "blocks", [sizes]:
                listed = tuple(int(size) for size in sizes.split(","))
                if min(listed) > 0 and sum(listed) == columns:
                    return Pattern(kind, listed)
        raise ValueError(self.spec)

    def keep(self, rows: int, columns: int) -> Keep:
        """Which keys each query may see; `InputError` where the mask does not fit."""
        try:
            pattern = self.pattern(columns)
            if pattern.kind == "blocks" and rows != columns:
                raise ValueError(self.spec)
        except ValueError:
            raise InputError(
                f"The mask {self.spec!r} does not fit {rows} queries and {columns} keys; {_EXPECTED}."
            ) from None
        return pattern.keep(rows, columns)


@dataclass(frozen=True)
class Rows:
    """What is seen and what is not, entry by entry."""

    seen: Keep
    kind = "custom"

    def keep(self, rows: int, columns: int) -> Keep:
        if len(self.seen) != rows or any(len(row) != columns for row in self.seen):
            lengths = "/".join(sorted({str(len(row)) for row in self.seen}))
            raise ShapeError(
                f"The mask has {len(self.seen)} rows of {lengths} entries; the scores are {rows}×{columns}."
            )
        return self.seen


@dataclass(frozen=True)
class Added:
    """What is added to the scores; −∞ hides."""

    values: Matrix
    kind = "custom"

    def keep(self, rows: int, columns: int) -> Keep:
        if self.values.shape != (rows, columns):
            have = "×".join(map(str, self.values.shape))
            raise ShapeError(f"The mask is {have}; the scores are {rows}×{columns}.")
        return tuple(tuple(x is not NEGATIVE_INFINITY for x in row) for row in self.values.rows)


@dataclass(frozen=True)
class Masks:
    """The masks that are joined: a query sees what all of them let through, and their finite values are added up."""

    joined: tuple[Named | Rows | Added, ...]

    @property
    def kind(self) -> str:
        """What it is called, in whichever order it is said: causal, padding, …; causal+padding; custom, by rows."""
        kinds = {mask.kind for mask in self.joined}
        return "+".join(kind for kind in (*_KINDS, "custom") if kind in kinds)

    def rules(self, columns: int) -> tuple[Pattern, ...]:
        """The rules of those joined, in one order however they were stated; empty if one is given by its entries."""
        named = [mask for mask in self.joined if isinstance(mask, Named)]
        ordered = sorted(named, key=lambda mask: (_KINDS.index(mask.kind), mask.spec))
        return tuple(dict.fromkeys(mask.pattern(columns) for mask in ordered)) if len(named) == len(self.joined) else ()

    def keep(self, rows: int, columns: int) -> Keep:
        """Which keys each query may see."""
        return reduce(both, (mask.keep(rows, columns) for mask in self.joined))

    def patterns(self, rows: Size, columns: Size) -> tuple[Pattern, ...]:
        """The rules of a mask for scores of which a size is a letter; `LetterError` if it has entries, not rules."""
        patterns = []
        for mask in self.joined:
            if not isinstance(mask, Named):
                raise LetterError("A mask by its entries needs sizes in numbers.")
            try:
                patterns.append(mask.pattern(columns))
            except ValueError:
                refused = LetterError if mask.kind == "blocks" else InputError  # blocks fit a number of tokens alone
                raise refused(f"The mask {mask.spec!r} does not fit {rows} queries and {columns} keys.") from None
        return tuple(patterns)

    def added(self, keep: Keep) -> Matrix | None:
        """What is added where something is seen, if any of it is not 0."""
        added = [mask.values for mask in self.joined if isinstance(mask, Added)]
        if all(x is NEGATIVE_INFINITY or x == 0 for values in added for x in values):
            return None
        return Matrix.of(
            [_sum(values[i, j] for values in added) if seen else NEGATIVE_INFINITY for j, seen in enumerate(row)]
            for i, row in enumerate(keep)
        )


_KINDS = ("causal", "causal:top-left", *_NAMES[1:])


def masks(spec: object) -> Masks | None:
    """The masks that a setting asks for; none for none.  `InputError` if it is neither a name nor rows.

    >>> masks(["causal", "padding:2"]) == masks("causal+padding:2"), masks("none")
    (True, None)
    """
    if spec is None or spec is False:
        return None
    if isinstance(spec, Sequence) and not isinstance(spec, str) and any(isinstance(part, str) for part in spec):
        asked = [one for part in spec if (one := masks(part))]
        return Masks(tuple(mask for one in asked for mask in one.joined)) if asked else None
    if not isinstance(spec, str):
        return Masks((_of_rows(spec),))
    parts = [part.strip() for part in re.split(r"\+(?![^\[]*\])", spec)]  # causal+additive:[[0, 1+1], [0, 0]] is two
    named = [part for part in parts if part.lower() != "none"]
    return Masks(tuple(map(_part, named))) if spec.strip() and named else None


def mask_keep(spec: object, rows: Size, columns: Size) -> Keep | None:
    """Which keys each query may see; none for no mask, () where the sizes are letters."""
    asked = masks(spec)
    if asked is None or not isinstance(rows, int) or not isinstance(columns, int):
        return None if asked is None else ()
    return asked.keep(rows, columns)


def _part(text: str) -> Named | Rows | Added:
    if text.startswith("["):
        return Rows(_written_rows(text))
    if text.startswith(_HIDDEN):
        hidden = _written_rows(text.removeprefix(_HIDDEN))
        return Rows(tuple(tuple(not x for x in row) for row in hidden))
    if text.startswith(_ADDITIVE):
        return Added(_written_numbers(text))
    name = text.partition(":")[0].strip()
    if text and name not in _NAMES:
        raise InputError(f"There is no mask {text[:60]!r}; {offered(name, (*_NAMES, 'hidden', 'additive'), _EXPECTED)}")
    return Named(text)


def _written_numbers(text: str) -> Matrix:
    """additive:[[0, -10], [0, 0]]."""
    rows = text.removeprefix(_ADDITIVE).strip()
    if not re.fullmatch(r"\[\s*\[[^\[\]]*\](\s*,\s*\[[^\[\]]*\])*\s*\]", rows):
        raise InputError(
            f"The mask {text[:60]!r} is not written as rows of numbers, such as additive:[[0, -10], [0, 0]]."
        )
    try:
        return Matrix([entry.strip() for entry in row.split(",")] for row in re.findall(r"\[([^\[\]]+)\]", rows))
    except InputError as error:
        raise InputError(f"The mask {text[:60]!r}: {error}") from error


def _written_rows(text: str) -> Keep:
    if not re.fullmatch(r"\s*\[\s*\[[01,\s]*\](\s*,\s*\[[01,\s]*\])*\s*\]\s*", text):
        raise InputError(f"The mask {text[:60]!r} is not written as rows of 1 and 0, such as [[1, 0], [1, 1]].")
    try:
        return _seen(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(f"The mask {text[:60]!r} cannot be read at character {error.pos + 1}.") from error


def _of_rows(spec: object) -> Rows | Added:
    """Rows of 1 and 0, or of what is added, as programs have them: 0 and −∞ or −1e9."""
    rows = spec.rows if isinstance(spec, Matrix) else spec
    if not isinstance(rows, Sequence) or not all(isinstance(row, Sequence) for row in rows):
        raise InputError(f"The mask {spec!r} is neither a name such as causal nor rows of 1 (visible) and 0 (hidden).")
    entries = [str(x) for row in rows for x in row if x != 0]
    if entries and all(x.startswith(("-", "−")) for x in entries):
        try:
            return Added(Matrix([_added(x) for x in row] for row in rows))
        except InputError as error:
            raise InputError(f"The mask: {error}") from error
    return Rows(_seen(rows))


def _added(x: object) -> object:
    return NEGATIVE_INFINITY if isinstance(x, int | float | Fraction) and x <= HIDDEN_FROM else x


def _seen(rows: Iterable[Sequence[object]]) -> Keep:
    listed = [tuple(row) for row in rows]
    if any(x not in (0, 1) for row in listed for x in row):
        raise InputError(
            "A mask given by rows has only the entries 1 (visible) and 0 (hidden), or only 0 (visible) and −∞ "
            "(hidden); what is added to the scores is written additive:[[0, -10], [0, 0]]."
        )
    return tuple(tuple(map(bool, row)) for row in listed)


def _sum(values: Iterable[Value]) -> Value:
    return reduce(add, values)


def _within(number: int, keys: Size, least: int = 1) -> int:
    if number < least or (isinstance(keys, int) and number > keys):
        raise ValueError(number)
    return number
