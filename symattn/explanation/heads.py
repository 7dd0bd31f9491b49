"""How heads are split, shared and put together, in the words of a conventions box."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.derivation import Called, Derivation, Step
from symattn.document import Inlines, Math, Words
from symattn.explanation.wording import Wording
from symattn.ops import Part, RunningMaximum, Stack


def head_conventions(derivation: Derivation, wording: Wording) -> tuple[Inlines, ...]:
    """A line each on the split, on keys and values that are shared, and on C; of the first layer that has heads.

    An online softmax has blocks of keys in their place.
    """
    steps = [step for step in derivation if Called.of(step.name).head is not None]
    parts = [step for step in steps if isinstance(step.op, Part)]
    if not parts:
        return ()
    place = Called.of(parts[0].name).place
    part = "block" if any(isinstance(step.op, RunningMaximum) for step in derivation) else "head"
    items: list[Inlines] = [_split([step for step in parts if Called.of(step.name).place == place], wording, part)]
    owners = {stem: _heads(steps, stem, place) for stem in ("Z", "V")}
    if owners["V"] < owners["Z"]:
        items.append((Words(_shared(owners["Z"], owners["V"] or 1)),))
    merged = next((step for step in derivation if step.stem == "C" and isinstance(step.op, Stack)), None)
    if merged and isinstance(merged.op, Stack):
        how = "side by side" if merged.op.along == "columns" else "one below the other"
        words = f"The outputs of the heads stand {how} in "
        items.append((Words(words), Math(wording.name(merged.name)), Words(", head 1 first.")))
    return tuple(items)


def _split(parts: Sequence[Step], wording: Wording, part: str) -> Inlines:
    """Which columns (or rows) of which matrices head (or block) 1 gets, and which the next."""
    groups: dict[Part, list[str]] = {}
    for step in parts:
        if isinstance(step.op, Part) and step.op.start == 0:
            groups.setdefault(step.op, []).append(step.operands[0].name)
    said: list[Words | Math] = [Words(f"{part.capitalize()} 1 has ")]
    for op, names in groups.items():
        said.append(Words(" and " if len(said) > 1 else ""))
        said.append(Words(_lines(op) + " of "))
        for i, name in enumerate(names):
            said += [Words("" if i == 0 else " and " if i == len(names) - 1 else ", "), Math(wording.name(name))]
    turns = any(op.step > 1 for op in groups)
    rest = "those beside them: heads take turns." if turns else "the next, and so on."
    said.append(Words(f", {part} 2 {rest}"))
    return tuple(piece for piece in said if piece != Words(""))


def _lines(op: Part) -> str:
    if op.step > 1:
        return f"{op.of} 1, {op.step + 1}, …" if op.count > 1 else f"{op.of[:-1]} 1"
    return f"the first {op.count} {op.of}" if op.count > 1 else f"the first {op.of[:-1]}"


def _heads(steps: Sequence[Step], stem: str, place: str) -> int:
    return sum(step.stem == stem and Called.of(step.name).place == place for step in steps)


def _shared(heads: int, groups: int) -> str:
    if groups == 1:
        return "All heads share the same keys and values."
    size = heads // groups
    first, second = _listed(range(1, size + 1)), _listed(range(size + 1, 2 * size + 1))
    return f"Heads share keys and values: heads {first} those of head 1, heads {second} those of head 2, and so on."


def _listed(numbers: Sequence[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} and {last}"
