"""The pieces of papers and keys: givens, what is asked, some of it done, what is worked out, checks, conventions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from symattn.derivation.derivation import Derivation, Op, Step, StepName, Taken, oriented
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.entrywise import ActivationGradient
from symattn.derivation.ops.linear import MatMul, Scale, Slice, Stack
from symattn.derivation.sizes import Axis
from symattn.errors import SelfCheckError
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix, Outline, decide, in_numbers
from symattn.exact.sums import total
from symattn.formula import Formula, Fraction, Name, Product, Relation, equal
from symattn.formula.width import wrapped
from symattn.foundation.languages import Message, listed, message, sentences
from symattn.page.document import (
    ONLY_MARKS,
    AnswerGrid,
    AnswerSpace,
    Block,
    Blocks,
    Display,
    Falk,
    Inlines,
    Paragraph,
    Together,
    WorkingSpace,
    as_text,
    listing,
    paragraph,
    sentence,
)
from symattn.teaching.explanation.steps import Detail, ask_step, begins_decimals, explain_step
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.problem import Problem
from symattn.teaching.question import Marks, Part, marks_text


def wording_of(problem: Problem) -> Wording:
    return Wording(problem.derivation, problem.notation)


def introduction(problem: Problem) -> list[Block]:
    return [paragraph(text) for text in problem.introduction]


def givens(problem: Problem, wording: Wording, only: tuple[str, ...] = ()) -> Together:
    """The matrices one starts from, or only some of them, next to one another as far as a line goes."""
    wanted = {name: m for name, m in problem.derivation.givens.items() if not only or name in only}
    formulas: list[Formula] = [given_as_equation(name, matrix, wording) for name, matrix in wanted.items()]
    return Together((Display(wrapped(formulas, LINE)),))


def given_as_equation(name: str, matrix: AnyMatrix, wording: Wording) -> Relation:
    """X = its numbers, or its named entries."""
    return equal(wording.shaped(wording.name(name), matrix), wording.values(matrix, name))


def asked(problem: Problem, wording: Wording) -> dict[str, Blocks]:
    """For each step asked: the lines that lead to it without being asked, its rule, space for working, its boxes."""
    blocks: dict[str, Blocks] = {}
    for name, way in leading_to(problem).items():
        step = problem[name]
        rules = [rule for one in way for rule in (*_mask_of(one, wording), wording.equation(one))]
        display = (Display(wrapped(rules, LINE)),) if rules else ()
        decimals = any(begins_decimals(one, problem.derivation) for one in (*way, step))
        form = decimals_wanted(problem) if problem.exact and decimals else ()
        blocks[name] = (*display, *form, *mask_shown(step, wording), *ask_step(step, wording, problem.exact, way))
    return blocks


def leading_to(problem: Problem) -> dict[str, list[Step]]:
    """For each step asked, by its name, those before it that are used and not asked: S' = S/√d_k."""
    used = frozenset[str]().union(*(problem.derivation.before(step.name) for step in problem.asked_steps))
    ways: dict[str, list[Step]] = {}
    way: list[Step] = []
    for step in problem.steps:
        if step in problem.asked_steps:
            ways[step.name], way = way, []
        elif step.name in used:
            way.append(step)
    return ways


def decimals_wanted(problem: Problem) -> Blocks:
    """Where exact values end in the middle of a question."""
    wanted = message(
        "From here on, give decimals with {places} places, and carry at least two more places than you quote.",
        places=problem.places,
    )
    return (Paragraph(as_text(wanted), typed=()),)


def worked(step: Step, wording: Wording, detail: Detail) -> Blocks:
    """A step for the key: every product, every entry, exact values and decimals."""
    return (*mask_shown(step, wording), *explain_step(step, wording, detail))


def instructions(problem: Problem) -> Paragraph:
    """What the student is to do, and in what form answers are wanted on paper."""
    shapes = [isinstance(step.result, Outline) for step in problem.asked_steps]
    if all(shapes):
        return paragraph(message("Give the shape of each matrix, such as 3×4. A shape is rows × columns."))
    mixed = "Where a matrix has no boxes, give its shape, such as 3×4. A shape is rows × columns."
    more = mixed if any(shapes) else ""
    asked = sentences("Fill in every box. Show the products.", _form(problem), more)
    return Paragraph(as_text(asked), typed=as_text(sentences("Fill in every box.", more)))


def instruction(what: str, form: str) -> Paragraph:
    """What is to be done, and on paper in what form answers are wanted."""
    return Paragraph(as_text(sentences(what, form)), typed=as_text(what))


def answer_form(exact: bool, places: int, exactly: str = "Give exact values.") -> str:
    return exactly if exact else message("Give decimals with {places} places.", places=places)


def _form(problem: Problem) -> str:
    """In what form answers are wanted; "" if nothing but whole numbers, and −∞, is asked for."""
    if _whole_numbers(problem):
        return ""
    if not problem.exact:
        return message(
            "Give decimals with {places} places, and carry at least two more places than you quote.",
            places=problem.places,
        )
    powers = any(step.op.brings == "powers" for step in problem.steps)
    sines = any(step.op.brings == "sines" for step in problem.derivation)
    return EXACT_FORMS[powers, sines]


def _whole_numbers(problem: Problem) -> bool:
    """Whether nothing but whole numbers, and −∞, is asked for."""
    asked = (step.result for step in problem.asked_steps if isinstance(step.result, Matrix))
    return all(isinstance(entry, int) or entry is NEGATIVE_INFINITY for result in asked for entry in result)


EXACT_FORMS = {
    (False, False): message("Give exact values: leave answers as fractions."),
    (True, False): message("Give exact values: leave answers as fractions, roots and powers of e."),
    (False, True): message("Give exact values: leave answers as sines, cosines and fractions."),
    (True, True): message("Give exact values: leave answers as sines, cosines, fractions, roots and powers of e."),
}
"""By whether there are powers of e, and sines."""


def mask_shown(step: Step, wording: Wording) -> Blocks:
    return tuple(Display((mask,)) for mask in _mask_of(step, wording))


def _mask_of(step: Step, wording: Wording) -> list[Formula]:
    """The matrix that the operation has of its own, as an equation."""
    own = step.op.own_matrix(wording.style)
    return [Relation(own, ("=",))] if own else []


_SUM_TO_1: Mapping[Axis, str] = {
    "rows": "Every row of {weights} sums to 1.",
    "columns": "Every column of {weights} sums to 1.",
}


def checks(problem: Problem, wording: Wording) -> list[Inlines]:
    """Identities that a marker can check at a glance, each of them verified here."""
    lines: list[Inlines] = []
    by_token = []
    for step in problem.steps:
        if isinstance(step.op, Softmax) and step.token is not None:
            by_token.append(_sums_to_1(step))
        elif isinstance(step.op, Softmax) and _sums_to_1(step):
            lines.append(sentence(_SUM_TO_1[step.op.along], weights=wording.name(step.name)))
    if by_token and all(by_token):
        lines.append(as_text("The weights of every token sum to 1."))
    for step in problem.steps:
        if isinstance(step.op, MatMul) and step.name in ("Q", "K", "V"):
            lines += _column_sums(step, wording)
    return [*lines, *agreement(problem, wording)]


def _column_sums(step: Step, wording: Wording) -> list[Inlines]:
    """Those of a product are those of its left factor times the right one."""
    a, b = step.operands
    left, right = wording.derivation.operands(step)
    if not (isinstance(left, Matrix) and isinstance(right, Matrix) and isinstance(step.result, Matrix)):
        return []
    sums, whole = (Matrix.of([[total(column) for column in matrix.T.rows]]) for matrix in (left, step.result))
    if MatMul().apply(sums, right) != whole:
        return []
    return [
        sentence(
            "Column sums of {product}: {sums} = column sums of {left} times {right}.",
            product=wording.name(step.name),
            sums=wording.values(whole),
            left=wording.operand(a),
            right=wording.operand(b),
        )
    ]


def _sums_to_1(step: Step) -> bool:
    """Whether what a softmax gave sums to 1 along its lines: decided, not assumed."""
    if not isinstance(step.op, Softmax) or not isinstance(step.result, Matrix):
        return False
    lines = step.result.rows if step.op.along == "rows" else step.result.T.rows
    return all(decide(total(line), 1).equal for line in lines)


def agreement(problem: Problem, wording: Wording) -> list[Inlines]:
    """The weights of the usual way, and that they give the same output: decided exactly, entry by entry.

    Nothing where the mechanism is the usual way, where it does not reach its end, or where there are no numbers.
    """
    chosen, d = mechanisms().get(problem.mechanism), problem.derivation
    if chosen is None or chosen.other_way is None or "Z" not in d:
        return []
    if not all(map(in_numbers, d.givens.values())):
        return []
    usual = oriented(chosen.other_way(oriented(d, "rows")), d.orientation)
    output, again = d.value("Z"), usual.value("Z")
    assert isinstance(output, Matrix) and isinstance(again, Matrix)
    same = [decide(x, y).equal for x, y in zip(output, again, strict=True)]
    if False in same:
        raise SelfCheckError(f"{problem.title} gives another output than attention worked out at once.")
    if None in same:
        return []  # nothing is said that is not proved
    own = Wording(usual, problem.notation)
    weights = equal(own.name("A"), own.values(usual["A"].result))
    both = equal(own.rule(usual["Z"]), wording.name("Z"))
    return [
        sentence("All weights at once: {weights}, and exactly {output}.", weights=weights, output=both),
        *_saved(d),
    ]


def _saved(d: Derivation) -> list[Inlines]:
    """How many keys a cache keeps from being worked out again: t of them for every token t."""
    n = sum(step.role == "K_cache" for step in d)
    if n < 2:
        return []
    words = message(
        "With the cache, {keys} keys and {keys} values are worked out; without it, {afresh} of each.",
        keys=n, afresh=n * (n + 1) // 2,
    )  # fmt: skip
    return [as_text(words)]


# ------------------------------------------------------------- what may stand in the place of a question's part


def marking(part: Part) -> Blocks:
    """What only a marker needs, with the codes of the marks, and what each is for where it has to be said."""
    if not part.marks:
        return part.marking
    return (
        *part.marking,
        Paragraph(explained(part.marks) or ONLY_MARKS, marks_text(part.marks), in_short(part.marks)),
    )


def in_short(marks: Marks) -> str:
    """M1 A2 (one for each row)."""
    said = ""
    for mark in marks:
        code = message("{mark} ({purpose})", mark=str(mark), purpose=mark.what) if mark.what else str(mark)
        said = message("{marks} {mark}", marks=said, mark=code) if said else code
    return said


def explained(marks: Marks) -> Inlines:
    """What each mark is for, where it has to be said; empty if it is said of none."""
    told: Inlines = ()
    for mark in marks:
        if mark.what:
            own = sentence("{mark}: {purpose}", mark=str(mark), purpose=mark.what)
            told = sentence("{marks}; {mark}", marks=told, mark=own) if told else own
    return sentence("{marks}.", marks=told) if told else ()


def with_answer_space(asked: Blocks) -> Blocks:
    """What is asked, its space for working round its boxes."""
    boxes = [block for block in asked if isinstance(block, AnswerGrid | Falk)]
    space = [block for block in asked if isinstance(block, WorkingSpace) and not block.ruled]
    if len(boxes) != 1 or len(space) != 1:
        return asked
    return tuple(AnswerSpace(block, *space) if block in boxes else block for block in asked if block not in space)


# --------------------------------------------- what a conventions box says: what notes forget, in full or in brief


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
    return weighs and not any(isinstance(s.op, Scale) or s.op.is_loss for s in problem.steps)


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
        if "W_h" in problem.derivation.givens and _is_matrix_norm(op):
            yield _through_time(problem, wording)
        for one in op.in_brief(steps, wording) if brief else op.conventions(steps, wording):
            yield sentence(one.sentence, **one.places) if one.places else as_text(one.sentence)


def _is_matrix_norm(op: Op) -> bool:
    from symattn.derivation.ops.gradient import InfinityNorm  # few derivations have one

    return isinstance(op, InfinityNorm)


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
    names = [name for name in d.matrices if wording.differentiated(name)]
    if not names:
        return []
    return [_meaning(names, wording), *_given(problem, wording), *_slopes(problem)]


def _meaning(gradients: Sequence[str], wording: Wording) -> Inlines:
    """dZ = ∂L/∂Z; the loss is J where L is something else, such as logits."""
    d = wording.derivation
    matrices = (*d.matrices, *map(wording.differentiated, gradients))
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
    blocks = any(step.op.by_blocks for step in derivation)
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
