"""What a conventions box says: what notes forget, in sentences, or in formulas and a word or two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from symattn.derivation.derivation import Derivation, Op, Step, StepName, Taken
from symattn.derivation.ops import ActivationGradient, MatMul, RunningMaximum, Scale, Slice, Stack
from symattn.derivation.ops.jacobian import InfinityNorm
from symattn.derivation.ops.loss import CrossEntropy
from symattn.formula import Formula, Fraction, Name, Product, equal
from symattn.foundation.languages import Message, listed, message
from symattn.page.document import Inlines, as_text, listing, sentence
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem


def conventions(problem: Problem, wording: Wording, *, brief: bool = False) -> tuple[Inlines, ...]:
    """What stands where, the divisor, the softmax, the mask …, one line each; `brief`, in the shortest form it has."""
    d = problem.derivation
    items: list[Inlines] = [as_text(TOKENS[d.orientation] if brief else _TOKENS_IN_FULL[d.orientation])]
    if first := _first_product(problem, wording):
        product = wording.equation(first)
        items.append(as_text(product) if brief else sentence("Products are written as in {product}.", product=product))
    items += _of_gradients(problem, wording)
    items += agreed(problem, wording, brief=brief)
    items += _of_heads(d, wording)
    if not brief and {"X", "Z"} <= d.givens.keys():
        x, z = wording.name("X"), wording.name("Z")
        items.append(sentence("{output} is given; it is not worked out from {tokens}.", output=z, tokens=x))
    if unscaled(problem):
        items.append(as_text("No scaling" if brief else "Scores are not scaled."))
    if not brief and _without_norm(problem):
        items.append(as_text("There is no norm."))
    return tuple(items)


TOKENS = {"rows": "Tokens: rows", "columns": "Tokens: columns"}
_TOKENS_IN_FULL = {"rows": "Tokens are rows.", "columns": "Tokens are columns."}


def _first_product(problem: Problem, wording: Wording) -> Step | None:
    """A product to show which factor stands on which side."""
    products = (s for s in problem.steps if isinstance(s.op, MatMul))
    return next((s for s in products if wording.name(s.name) != wording.rule(s)), None)


def unscaled(problem: Problem) -> bool:
    """Whether there are weights, and their scores are not scaled."""
    weighs = any(s.op.weighs for s in problem.steps)
    return weighs and not any(isinstance(s.op, Scale | CrossEntropy) for s in problem.steps)


def _without_norm(problem: Problem) -> bool:
    """Whether there are residuals, and none of them is normed."""
    residual = any(_RESIDUAL.fullmatch(step.stem) for step in problem.steps)
    return residual and not any(step.op.norms for step in problem.steps)


_RESIDUAL = re.compile(r"R\d")


def agreed(problem: Problem, wording: Wording, *, brief: bool = False) -> Iterator[Inlines]:
    """What has to be agreed on before the operations can be worked out, each once: by token they come again and again.

    `brief`: in formulas and a word or two.
    """
    groups: dict[type[Op], list[Step]] = {}
    for step in problem.steps:
        groups.setdefault(type(step.op), []).append(step)
    for steps in groups.values():
        op = steps[0].op
        if isinstance(op, InfinityNorm) and "W_h" in problem.derivation.givens:
            yield _through_time(problem, wording)
        for one in op.in_brief(steps, wording) if brief else op.conventions(steps, wording):
            yield sentence(one.sentence, **one.places) if one.places else as_text(one.sentence)


def _through_time(problem: Problem, wording: Wording) -> Inlines:
    """What the Jacobians of a recurrent network are, and their products."""
    state, before, first = wording.row("H", "t"), wording.row("H", "t − 1"), wording.name("H_0")
    derivatives: tuple[tuple[str, Formula], ...] = (("J", before), ("G", first))
    said = [
        sentence(
            "{jacobian} is the derivative of {state} with respect to {other}",
            jacobian=wording.row(stem, "t"), state=state, other=by,
        )
        for stem, by in derivatives
        if any(s.stem == stem for s in problem.steps)
    ]  # fmt: skip
    return sentence("{derivatives}.", derivatives=listing(said, last=""))


# ---------------------------------------------------------------------------------------------- gradients


def _of_gradients(problem: Problem, wording: Wording) -> list[Inlines]:
    """One line each; empty if nothing is a gradient."""
    d = problem.derivation
    names = [name for name in (*d.givens, *(step.name for step in d)) if wording.differentiated(name)]
    if not names:
        return []
    return [_meaning(names, wording), *_given(problem, wording), *_slopes(problem)]


def _meaning(gradients: Sequence[str], wording: Wording) -> Inlines:
    """dZ = ∂L/∂Z; the loss is J where L is something else, such as logits."""
    d = wording.derivation
    matrices = (*d.givens, *(step.name for step in d), *map(wording.differentiated, gradients))
    loss: Formula = Name("J") if Name("L") in map(wording.name, matrices) else Name("L")
    if "mean_loss" in d:
        loss = wording.name("mean_loss")
    first = gradients[0]
    derivative = Fraction(Product((Name("∂"), loss)), Product((Name("∂"), wording.name(first[1:]))))
    shown = equal(wording.name(first), derivative)
    return sentence("Gradients are those of the loss {loss}, as in {derivative}.", loss=loss, derivative=shown)


def _given(problem: Problem, wording: Wording) -> list[Inlines]:
    """Of results of the forward pass that are given, what they are beside what the other givens lead to."""
    names_of: dict[Taken, list[str]] = {}
    for name, taken in problem.derivation.taken:
        names_of.setdefault(taken, []).append(name)
    return [_as_taken(taken, names, wording) for taken, names in names_of.items()]


def _as_taken(taken: Taken, names: Sequence[str], wording: Wording) -> Inlines:
    matrices = listing([as_text(wording.name(name)) for name in names], last="")
    one, several = _TAKEN.get(taken, _ROUNDED)
    return sentence(several if names[1:] else one, matrices=matrices, places=taken)


_TAKEN: Mapping[Taken, tuple[str, str]] = {
    "result": (
        "{matrices} comes from the forward pass: take it as given, and do not work it out.",
        "{matrices} come from the forward pass: take them as given, and do not work them out.",
    ),
    "other": (
        "Take {matrices} as given: the other givens do not lead to it.",
        "Take {matrices} as given: the other givens do not lead to them.",
    ),
    1: (
        "{matrices} comes from the forward pass, rounded to tenths; take it as given.",
        "{matrices} come from the forward pass, rounded to tenths; take them as given.",
    ),
}
_ROUNDED = (
    "{matrices} comes from the forward pass, rounded to {places} decimal places; take it as given.",
    "{matrices} come from the forward pass, rounded to {places} decimal places; take them as given.",
)


def _slopes(problem: Problem) -> list[Inlines]:
    relu = any(isinstance(step.op, ActivationGradient) and step.op.name == "relu" for step in problem.steps)
    return [as_text("The slope of ReLU is 1 where its argument is positive, and 0 elsewhere.")] if relu else []


# -------------------------------------------------------------------------------------------------- heads


def _of_heads(derivation: Derivation, wording: Wording) -> tuple[Inlines, ...]:
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
        items.append(as_text(_shared(owners["Z"], owners["V"] or 1)))
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
        matrices = listing([as_text(wording.name(name)) for name in names])
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
