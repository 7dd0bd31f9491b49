"""Explain and prove: a theorem of attention, and an instance of it with numbers (rules.md 5, type 12).

The proof is marked by a rubric, or its lines are put in order; the instance is marked exactly.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from symattn.errors import SelfCheckError
from symattn.exact import Matrix
from symattn.foundation.dice import shuffled
from symattn.page.document import (
    Block,
    Box,
    FillIn,
    FillIns,
    Inlines,
    ItemList,
    Paragraph,
    Words,
    WorkingSpace,
    sentence,
)
from symattn.page.notation import kept_notation
from symattn.teaching.problems.asking import LETTERS, Prose, lettered, put_in, right_letter, turning_prose
from symattn.teaching.problems.base import ATTENTION, Family, ProblemType, Spec, one_of, turn_of
from symattn.teaching.problems.instances_of_weights import Temperature
from symattn.teaching.problems.theorems import INSTANCES, THEOREMS, AnInstance, Direct, Theorem
from symattn.teaching.question import (
    Answer,
    ChoiceAnswer,
    FormulaAnswer,
    Mark,
    MatrixAnswer,
    OneLess,
    OrderAnswer,
    Part,
    Question,
    RubricAnswer,
)


@dataclass(frozen=True)
class Content:
    """A theorem, its instance, and the lines of its proof as they are given to be put in order, if they are."""

    type: str
    notation: str
    theorem: str
    instance: AnInstance
    lines: tuple[int, ...]


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    name = TYPE.option(spec, "theorem") or list(THEOREMS)[(number - 1) % len(THEOREMS)]
    turn = (turn_of(number, family) - 1 + (number - 1) // len(THEOREMS)) % 4
    wrong = shuffled(rng, [1, 2, 3])
    instance = INSTANCES[name].drawn(rng, put_in(wrong, turn, 0))
    lines = list(range(len(THEOREMS[name].proof)))
    while (given := shuffled(rng, lines)) == lines:
        pass
    return Content(
        spec.type, kept_notation(spec.notation), name, instance, tuple(given) if TYPE.option(spec, "lines") else ()
    )


def make(content: Content) -> Question:
    say = turning_prose(content.notation)
    theorem = THEOREMS[content.theorem].lying(say.columns)
    given, first, second = content.instance.tasks(say)
    proof = _in_order(theorem, content.lines, say) if content.lines else _proof(theorem, say)
    first = replace(first, title=(Words("An instance"),), ask=(*given, *first.ask))
    parts = lettered((proof, first, replace(second, title=(Words("The same instance"),))))
    right = "".join(map(right_letter, parts))
    return Question(
        type=TYPE.name,
        title=theorem.title,
        given=(Box("Theorem", (say.paragraph(theorem.statement),)),),
        parts=parts,
        content=content,
        introduction=(
            Paragraph(
                (Words("Prove the theorem, then check it with numbers. Give exact values."),),
                typed=(Words("Prove the theorem, then check it with numbers."),),
            ),
        ),
        conventions=_conventions(content, say),
        features={"load": float(len(theorem.points) + _size(first) + _size(second))},
        positions={"key": right} if right else {},
    )


def _conventions(content: Content, say: Prose) -> tuple[Inlines, ...]:
    lines = [say(_ALONG[say.columns])]
    if isinstance(content.instance, Temperature):
        lines.append(say("Softmax with the temperature $T$ is softmax of the scores divided by $T$."))
    return tuple(lines)


_ALONG = {
    False: "Tokens are rows; softmax is taken along each row, with base $e$.",
    True: "Tokens are columns; softmax is taken along each column, with base $e$.",
}


def _proof(theorem: Theorem, say: Prose) -> Part:
    points = tuple(map(say, theorem.points))
    room = (Paragraph((Words("Prove the theorem. Say what you use in every step."),)), WorkingSpace(72, ruled=True))
    key = (ItemList(tuple(map(say, theorem.proof)), ordered=True),)
    marking = (
        Paragraph((Words("One mark for each of these points; any other valid proof earns the same marks."),)),
        ItemList(points),
    )
    marks = (Mark("B", len(points), "one for each point"),)
    return Part("", (Words("Proof"),), room, key, RubricAnswer(points), marks, marking)


def _in_order(theorem: Theorem, lines: tuple[int, ...], say: Prose) -> Part:
    shown = tuple(
        sentence("{letter}: {line}", letter=LETTERS[place], line=say(theorem.proof[line]))
        for place, line in enumerate(lines)
    )
    right = [LETTERS[lines.index(line)] for line in range(len(lines))]
    ask = say.paragraph("Here is a proof with its lines out of order. Write down their letters in the right order.")
    boxes = FillIns((FillIn((Words("Order:"),), boxes=len(lines)),))
    key: tuple[Block, ...] = (
        say.paragraph("The order is {order}.", order=", ".join(right)),
        ItemList(tuple(map(say, theorem.proof)), ordered=True),
    )
    marks = (Mark("B", 3, "deduct one for each line that must be moved", OneLess()),)
    answer = OrderAnswer(tuple((letter,) for letter in right))
    return Part("", (Words("Proof"),), (ask, ItemList(shown), boxes), key, answer, marks)


def _size(task: Part) -> int:
    return sum(1 for _ in task.answer.value) if isinstance(task.answer, MatrixAnswer) else 2


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """The answers of the instance once more, without the theorem; every choice has exactly one right option."""
    content: Content = question.content
    say = turning_prose(content.notation)
    for part, value in zip(question.parts[1:], content.instance.direct(), strict=True):
        if isinstance(value, Matrix):
            value = say.turned(value)
        if not _agrees(part.answer, value):
            raise SelfCheckError(
                f"Part {part.name} of the theorem {content.theorem} is {part.answer}; directly, it is {value}."
            )


def _agrees(answer: Answer, value: Direct) -> bool:
    match answer:
        case MatrixAnswer(matrix):
            return isinstance(value, Matrix) and matrix == value
        case FormulaAnswer(number):
            return bool(number == value)
        case ChoiceAnswer():
            return answer.right == value
    return False


TYPE = ProblemType(
    name="prove",
    title="Explain and prove",
    draw=draw,
    make=make,
    content=Content,
    proof=prove,
    options={
        "theorem": ("", f"which theorem; all in turn where none is named: {', '.join(THEOREMS)}", one_of(THEOREMS)),
        "lines": (False, "whether the lines of the proof are given, to be put in order"),
    },
    mechanisms=ATTENTION,
    draws=("sizes", "given"),
)
