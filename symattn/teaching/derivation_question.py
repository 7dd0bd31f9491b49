"""The question that asks for a derivation, step by step in boxes: of a drawn one as of a problem of one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING

from symattn.derivation.derivation import Derivation, Op, Operand, Step
from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.derivation.mechanisms.descent import is_gradient
from symattn.derivation.ops.attention import Mask, Softmax, SoftmaxGradient
from symattn.derivation.ops.entrywise import Activation
from symattn.derivation.ops.linear import Add, MatMul, Stack, SumOver
from symattn.errors import InputError
from symattn.exact import Matrix, Outline
from symattn.formula import Shape
from symattn.foundation.languages import message
from symattn.page.document import Block, Heading, ItemList, Paragraph, Together, as_text, paragraph, sentence
from symattn.teaching.explanation.parts import (
    asked,
    checks,
    conventions,
    givens,
    instructions,
    introduction,
    leading_to,
    wording_of,
    worked,
)
from symattn.teaching.explanation.steps import Detail, step_title
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.features import features, work
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import OWN, Problem
from symattn.teaching.question import (
    Answer,
    Json,
    Lesser,
    Mark,
    Marks,
    Part,
    Question,
    ShapeAnswer,
    StepAnswer,
    in_proportion,
    share,
)

if TYPE_CHECKING:  # what compares misconceptions is imported where a diagnosis is wanted
    from symattn.teaching.fairness.separation import Separation


def proved(problem: Problem, detail: Detail | None = None) -> Question:
    """The question of any problem, its key checked first (`SelfCheckError`)."""
    self_check(problem.derivation)
    content: dict[str, Json] = {
        "mechanism": problem.mechanism,
        "notation": problem.notation.name,
        "exact": problem.exact,
        "places": problem.places,
        "given": {name: _content(m) for name, m in problem.derivation.givens.items()},
        "steps": [[s.name, repr(s.op)] for s in problem.derivation],
    }
    return replace(question(problem, content, detail=detail), intended=False)


def _content(matrix: Matrix | Outline) -> Json:
    if isinstance(matrix, Outline):
        return [str(size) for size in matrix.shape]
    return [[str(x) for x in row] for row in matrix.rows]


def question(
    problem: Problem,
    content: object,
    separated: Separation | None = None,
    detail: Detail | None = None,
    worth: Mapping[str, Marks] | None = None,
) -> Question:
    """A problem with room for every step that is asked, and its key; of a step without numbers, its shape is asked.

    The key works out the steps that are used and not asked as well.  What a step is `worth` is the scheme's.
    """
    wording = wording_of(problem)
    detail = detail or Detail(places=problem.places)
    room, ways, steps = asked(problem, wording), leading_to(problem), _asked_once(problem)
    worth = worth or scheme(problem)
    features, positions = measured(problem)
    parts = tuple(
        Part(
            name=step.name,
            title=step_title(step, wording),
            ask=(*_shape_asked(step, worth[step.name], wording), *room[step.name]),
            key=(*_worked_out(ways[step.name], step, wording, detail), *_shape(step, wording)),
            answer=_answer(step),
            marks=worth[step.name],
        )
        for step in steps
    )
    once = (paragraph(ONCE),) if len(steps) < len(problem.asked_steps) else ()
    return Question(
        type="full",
        title=problem.title,
        introduction=(*introduction(problem), instructions(problem), *once),
        given=all_given(problem, wording),
        parts=parts,
        content=content,
        problem=problem,
        conventions=conventions(problem, wording),
        checks=partial(_checks, problem, wording),
        diagnoses=partial(_diagnoses, problem, separated),
        features=features,
        positions=positions,
        of_steps=partial(_of_steps, problem, content, separated, detail),
    )


def _of_steps(
    problem: Problem, content: object, separated: Separation | None, detail: Detail, steps: tuple[str, ...]
) -> Question:
    """The question that asks for some of the steps; each is worth what it is among all of them."""
    return question(replace(problem, asked=steps), content, separated, detail, scheme(problem))


def _worked_out(way: Sequence[Step], step: Step, wording: Wording, detail: Detail) -> Iterator[Block]:
    """A step, and before it those of the way to it in which something is worked out, each then under its name."""
    steps = [*(one for one in way if not one.op.trivial), step]
    for one in steps:
        blocks = worked(one, wording, detail)
        if steps[1:]:
            yield Together((Paragraph(step_title(one, wording)), *blocks[:1]))
        yield from blocks[1:] if steps[1:] else blocks


def _diagnoses(problem: Problem, separated: Separation | None) -> tuple[Block, ...]:
    from symattn.teaching.explanation.diagnoses import diagnoses
    from symattn.teaching.fairness.separation import separation

    return diagnoses(problem, separated or separation(problem.derivation))


def _checks(problem: Problem, wording: Wording) -> tuple[Block, ...]:
    """Below a key: identities that a marker can check at a glance."""
    lines = checks(problem, wording)
    return (Heading(as_text("Checks"), 1), ItemList(tuple(lines))) if lines else ()


def _shape_asked(step: Step, marks: Marks, wording: Wording) -> tuple[Block, ...]:
    """A mark for the shape says that it is wanted: it is not printed with the name of what is asked."""
    if not any(mark.rule == "shapes" for mark in marks):
        return ()
    asks = sentence("Give the shape of {matrix} (rows × columns) beside its name.", matrix=wording.name(step.name))
    return (Paragraph(asks, by_hand=True),)


def _answer(step: Step) -> Answer:
    return ShapeAnswer(step.result.shape) if isinstance(step.result, Outline) else StepAnswer(step.name)


def _shape(step: Step, wording: Wording) -> tuple[Block, ...]:
    """The shape in a sentence, where that is what was asked for."""
    if isinstance(step.result, Matrix):
        return ()
    rows, columns = map(wording.size, step.result.shape)
    return (Paragraph(sentence("The shape is {shape}.", shape=Shape(rows, columns, "cross"))),)


ONCE = message("A shape that is the same for every token or head is asked for only once.")


def _asked_once(problem: Problem) -> list[Step]:
    """The steps that are asked; where steps are not named, of shapes that tokens or heads have in common, the first.

    What is done is the same where the stem, the operation and the shape are.
    """
    first_of_kind: dict[object, Step] = {}
    for step in problem.asked_steps:
        alike = isinstance(step.result, Outline) and not problem.asked
        first_of_kind.setdefault((step.stem, type(step.op), step.result.shape) if alike else step.name, step)
    return list(first_of_kind.values())


# ------------------------------------------------------------------------------------------------ marks


def scheme(problem: Problem) -> dict[str, Marks]:
    """The marks of every step asked: rules.md 3.10, for three tokens 20 marks, one accuracy mark for every token.

    Keys and values are worked out as queries are, so that the method of all three is marked once; so is that of
    further heads, layers and blocks.  Without a mask its marks go to the scores.  Token by token, a role's marks are
    shared by its steps, and unmasked every product has an accuracy mark: weighted values have one of the output's
    marks, their sums the others; the line that only puts tokens together has none, nor has the weight of a token
    that sees but one.  In a long derivation a line has one accuracy mark, whatever the number of tokens, and one that
    only adds up has no other: so that 13 to 30 lines come to 20 to 40 marks.  In one still longer no line has more
    than one mark.  A shape is worth one mark.

    A mechanism's steps are known by their names; the steps of one's own problem by what they are, whatever they
    are called (`roles_of_own`).
    """
    lines = _lines(problem)
    stems, done = {line.called for line in lines}, set[tuple[str, type[Op]]]()
    masked = any(isinstance(step.op, Mask) for step in problem.steps)
    marks: dict[str, Marks] = {step.name: (Mark("B", 1),) for step in problem.asked_steps}
    marks |= {step.name: () for line in lines for step in line.all}
    for line in lines:
        if not any(line.work):
            continue
        like_queries = _LIKE_QUERIES.sub(r"\1Q", line.stem)
        if len(lines) > LONGER or line.kind in done or (like_queries != line.stem and like_queries in stems):
            whole: Marks = (Mark("A", 1),)
        elif len(lines) > LONG:
            whole = _marks_of_many(line.steps[0], line.called)
        else:
            whole = _marks(line, problem, masked)
        if line.by_token and isinstance(line.steps[0].op, MatMul) and not masked and len(lines) <= LONG:
            whole = tuple(_for_every(line.steps, mark) for mark in whole)  # each token's product is worked out anew
        marks |= line.shared(whole)
        if line.stem:
            done.add(line.kind)
    return marks


@dataclass(frozen=True)
class _Line:
    """What has one role, in `all` its steps: one line of a scheme.

    Token by token its marks are shared by the `steps` of single tokens.  It is `called` what it is in attention, or "".
    """

    all: Sequence[Step]
    called: str
    by_token: bool

    @cached_property
    def steps(self) -> list[Step]:
        return [step for step in self.all if step.token is not None] if self.by_token else [*self.all]

    @cached_property
    def work(self) -> list[int]:
        """1 for each step, or 0 where there is nothing to work out."""
        return [0 if _is_settled(step) else 1 for step in self.steps]

    @property
    def stem(self) -> str:
        return _NUMBER.sub("", self.called)

    @property
    def kind(self) -> tuple[str, type[Op]]:
        """What is alike in further heads, layers and blocks."""
        return self.stem, type(self.steps[0].op)

    def shared(self, whole: Marks) -> dict[str, Marks]:
        """The marks of each step."""
        if not self.by_token:
            return {step.name: whole for step in self.steps}
        shares = [_shared(mark, self.work) for mark in whole]
        own = zip(*shares, strict=True)
        return {step.name: tuple(m for m in marks if m.number) for step, marks in zip(self.steps, own, strict=True)}


def _lines(problem: Problem) -> list[_Line]:
    """The steps that are asked and have values, by their roles; each step of one's own is a line."""
    own = problem.mechanism == OWN
    roles = roles_of_own(problem.derivation) if own else {}
    of_role: dict[str, list[Step]] = {}
    for step in problem.asked_steps:
        if not isinstance(step.result, Outline):
            of_role.setdefault(step.name if own else step.role, []).append(step)
    return [
        _Line(
            steps,
            called=roles.get(steps[0].name, "") if own else steps[0].stem,
            by_token=not own and any(step.token is not None for step in steps),
        )
        for steps in of_role.values()
    ]


def _for_every(steps: Sequence[Step], mark: Mark) -> Mark:
    """At least one accuracy mark for every step."""
    return replace(mark, number=max(mark.number, len(steps))) if mark.code == "A" else mark


def roles_of_own(d: Derivation) -> dict[str, str]:
    """What steps of a program are in attention, as mechanisms name them; a step that is nothing of it is left out.

    A product that takes a mean by weights is the output (Z); the softmax that gives them, the weights (A); the product
    that this is taken of, perhaps scaled or masked (S', S'' …), the scores (S).  Of the products that scores and
    outputs are made of, the first gives the queries (Q), the others keys and values (K).  What is put side by side are
    heads (C).
    """
    roles = {step.name: "C" for step in d if step.op == Stack("columns")}
    inputs: list[Operand] = []
    for output in filter(_is_product, d):
        for place, operand in enumerate(output.operands):
            *between, weights = _entry_by_entry(d, operand) or (output,)
            if not weights.op.weighs or not _is_mean(weights, place, operand):
                continue
            roles |= {output.name: "Z", weights.name: "A"}
            *between, scores = _entry_by_entry(d, weights.operands[0]) or (weights,)
            if _is_product(scores):
                roles |= {step.name: "S" + "'" * k for k, step in enumerate(reversed(between), 1)}
                roles[scores.name] = "S"
                inputs += scores.operands
            inputs += output.operands
    ends = {way[-1].name for operand in inputs if (way := _entry_by_entry(d, operand)) and _is_product(way[-1])}
    made = [step.name for step in d if step.name in ends - roles.keys()]
    return roles | {name: "K" if k else "Q" for k, name in enumerate(made)}


def _is_product(step: Step) -> bool:
    return isinstance(step.op, MatMul)


def _is_mean(weights: Step, place: int, operand: Operand) -> bool:
    """Whether a product adds up along the lines of weights that sum to 1: A V, V A^T, or V A of columns; not A^T dZ."""
    along = getattr(weights.op, "along", "rows")
    return (place == 0) != operand.transposed if along == "rows" else (place == 0) == operand.transposed


def _entry_by_entry(d: Derivation, operand: Operand) -> list[Step]:
    """The steps that an operand comes of entry by entry, the last first, back to a product, weights or a given."""
    steps, path = {step.name: step for step in d}, list[Step]()
    while (step := steps.get(operand.name)) is not None:
        path.append(step)
        if _is_product(step) or step.op.weighs or step.op.moves or step.op.norms or not step.operands:
            break
        operand = step.operands[0]
        source = steps.get(operand.name)
        if operand.transposed or source is None or source.result.shape != step.result.shape:
            break
    return path


def _shared(mark: Mark, weights: list[int]) -> list[Mark]:
    """A mark as the lines of single tokens have it: one for each, or all of it where they begin."""
    if mark.rule == "shapes" or mark.code != "A" or mark.number % sum(weights) == 0:
        plain = mark if mark.rule == "shapes" else replace(mark, what="", rule=None)
        return [replace(plain, number=number) for number in share(mark.number, weights)]
    first = weights.index(1)
    whole = replace(mark, what=in_proportion(mark.number, together=True), rule=None)
    return [replace(whole, number=mark.number if k == first else 0) for k in range(len(weights))]


def _is_settled(step: Step) -> bool:
    """Whether there is nothing to work out: the weight of the only key is 1."""
    return isinstance(step.op, Softmax) and step.result.shape == (1, 1)


def _tokens(problem: Problem, step: Step) -> int:
    """How many tokens have a line in a step that is worked out."""
    rows, columns = step.result.shape
    return int(rows if problem.derivation.orientation == "rows" else columns)


LONG, LONGER = 12, 30
"""Lines of a derivation; one with more is long, or longer."""

_LIKE_QUERIES = re.compile(r"^(dW_|dX_|phi_|R_|d(?=K)|)[KV](?=_|$)")
"""Keys and values are worked out as queries are, dK as dQ, phi_K as phi_Q; dV and KV are others."""

_NUMBER = re.compile(r"\d")
"""The second norm, N2, is worked out as the first."""


def _marks_of_many(step: Step, stem: str) -> Marks:
    """The marks of one line of a long derivation."""
    from symattn.derivation.ops.normalisation import Mean  # most derivations are short

    method, right = Mark("M", 1), Mark("A", 1)
    if stem == "Q":
        return (Mark("B", 1, "shapes", "shapes"), method, right)
    if isinstance(step.op, Stack):
        return (Mark("B", 1, "side by side, in order"),)
    return (right,) if isinstance(step.op, Add | Activation | Mean | SumOver) else (method, right)


def _marks(line: _Line, problem: Problem, masked: bool) -> Marks:
    """The marks of one line whose method has not been marked before."""
    step = line.steps[0]
    tokens = sum(line.work) if line.by_token else _tokens(problem, step)
    method, each = Mark("M", 1), Mark("A", tokens, "one for every token", "rows")
    match line.called:
        case "Q":
            return (Mark("B", 1, "shapes", "shapes"), method, Mark("A", 1))
        case "S" if masked:
            return (method, Mark("A", 2, "all entries; A1 for two thirds of them", Lesser(Fraction(2, 3))))
        case "S":
            return (Mark("M", 2), each)
        case "weighted":
            return (Mark("A", 1),)
        case "Z" if line.by_token and any(step.role == "weighted" for step in problem.asked_steps):
            return (each,)
        case "Z" | "A":
            return (method, each)
        case "C":
            return (Mark("B", 1, "side by side, in order"),)
        case "H_h" | "H_linear" | "H" | "J" | "G" | "norm" if step.token is not None:
            return (method, each)
        case _ if isinstance(step.op, Softmax | SoftmaxGradient):
            return (method, each)
        case _:
            return (method, Mark("A", 1))


# ------------------------------------------------------------------------------------------------ measures and givens


def measured(problem: Problem) -> tuple[dict[str, float], dict[str, str]]:
    """The features that siblings are compared by, and where the largest weight of every token lies.

    What attention is made of has roles only in a mechanism that is nothing but attention, where a step called A holds
    weights; of any other steps the work alone is counted, and no weight is looked for.  Empty where there are letters.
    """
    derivation = problem.derivation
    try:
        if not _is_attention(problem):
            return {"load": round(work(derivation).load, 1)}, {}
        counted_features = features(derivation)
    except InputError:
        return {}, {}
    counted = {
        "load": round(counted_features.load, 1),
        "scores": round(counted_features.counts.load, 1),
        "output": round(counted_features.output_counts.load, 1),
        "hard": counted_features.counts.h,
        "additions": counted_features.counts.adds,
        "negative": counted_features.counts.neg,
        "two digits": counted_features.counts.two,
        "ties": counted_features.ties,
    }
    return counted, {
        "largest weights": " ".join(str(j + 1) for j in counted_features.argmax)
    } if counted_features.argmax else {}


def _is_attention(problem: Problem) -> bool:
    """Whether the steps are those of a mechanism of attention, without gradients after them."""
    if problem.mechanism not in mechanisms() or not mechanism(problem.mechanism).is_attention:
        return False
    return not any(map(is_gradient, problem.derivation))


def all_given(problem: Problem, wording: Wording, only: tuple[str, ...] = ()) -> tuple[Block, ...]:
    """The heading and the matrices one starts from, on one page if they are no higher than half of it."""
    matrices = givens(problem, wording, only)
    rows = sum(len(m.rows) if isinstance(m, Matrix) else 1 for m in problem.derivation.givens.values())
    return (Heading(as_text("Given"), 1, of="given"), *(matrices.blocks if rows > HALF_A_PAGE else (matrices,)))


HALF_A_PAGE = 30
"""Rows of given matrices, of which two or three stand side by side."""
