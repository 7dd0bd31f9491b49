"""How heads are split, shared and put together, in the words of a conventions box."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.derivation.derivation import Derivation, Step, StepName
from symattn.derivation.ops import RunningMaximum, Slice, Stack
from symattn.foundation.languages import Message, listed, message
from symattn.page.document import Inlines, Math, Words, listing, sentence
from symattn.teaching.explanation.wording import Wording


def head_conventions(derivation: Derivation, wording: Wording) -> tuple[Inlines, ...]:
    """A line each on the split, on keys and values that are shared, and on C; of the first layer that has heads.

    An online softmax has blocks of keys in their place.
    """
    steps = [step for step in derivation if StepName.of(step.name).head is not None]
    parts = [step for step in steps if isinstance(step.op, Slice)]
    if not parts:
        return ()
    place = StepName.of(parts[0].name).place
    blocks = any(isinstance(step.op, RunningMaximum) for step in derivation)
    items: list[Inlines] = [_split([step for step in parts if StepName.of(step.name).place == place], wording, blocks)]
    owners = {stem: _heads(steps, stem, place) for stem in ("Z", "V")}
    if owners["V"] < owners["Z"]:
        items.append((Words(_shared(owners["Z"], owners["V"] or 1)),))
    merged = next((step for step in derivation if step.stem == "C" and isinstance(step.op, Stack)), None)
    if merged and isinstance(merged.op, Stack):
        items.append(sentence(_MERGED[merged.op.along], outputs=wording.name(merged.name)))
    return tuple(items)


_MERGED = {
    "columns": "The outputs of the heads stand side by side in {outputs}, head 1 first.",
    "rows": "The outputs of the heads stand one below the other in {outputs}, head 1 first.",
}


def _split(parts: Sequence[Step], wording: Wording, blocks: bool) -> Inlines:
    """Which columns (or rows) of which matrices head (or block) 1 gets, and which the next."""
    groups: dict[Slice, list[str]] = {}
    for step in parts:
        if isinstance(step.op, Slice) and step.op.start == 0:
            groups.setdefault(step.op, []).append(step.operands[0].name)
    taken: Inlines = ()
    for op, names in groups.items():
        matrices = listing([(Math(wording.name(name)),) for name in names])
        own = sentence("{lines} of {matrices}", lines=_lines(op), matrices=matrices)
        taken = sentence("{lines} and {others}", lines=taken, others=own) if taken else own
    turns = any(op.step > 1 for op in groups)
    return sentence(_SPLIT[blocks, turns], lines=taken)


_SPLIT = {
    (False, False): "Head 1 has {lines}, head 2 the next, and so on.",
    (False, True): "Head 1 has {lines}, head 2 those beside them: heads take turns.",
    (True, False): "Block 1 has {lines}, block 2 the next, and so on.",
    (True, True): "Block 1 has {lines}, block 2 those beside them: heads take turns.",
}
"""By whether blocks of keys stand in the place of heads, and whether these take turns."""


def _lines(op: Slice) -> Message:
    """Which rows or columns the first part has."""
    match op.of, op.step > 1, op.count > 1:
        case "rows", True, True:
            return message("rows 1, {second}, …", second=op.step + 1)
        case "rows", True, False:
            return message("row 1")
        case "rows", False, True:
            return message("the first {count} rows", count=op.count)
        case "rows", False, False:
            return message("the first row")
        case "columns", True, True:
            return message("columns 1, {second}, …", second=op.step + 1)
        case "columns", True, False:
            return message("column 1")
        case "columns", False, True:
            return message("the first {count} columns", count=op.count)
        case _:
            return message("the first column")


def _heads(steps: Sequence[Step], stem: str, place: str) -> int:
    return sum(step.stem == stem and StepName.of(step.name).place == place for step in steps)


def _shared(heads: int, groups: int) -> Message:
    if groups == 1:
        return message("All heads share the same keys and values.")
    size = heads // groups
    return message(
        "Heads share keys and values: heads {first} those of head 1, heads {second} those of head 2, and so on.",
        first=listed([*map(str, range(1, size + 1))]), second=listed([*map(str, range(size + 1, 2 * size + 1))]),
    )  # fmt: skip
