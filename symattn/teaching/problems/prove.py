"""Explain and prove: a theorem of attention, and an instance of it with numbers (rules.md 5, type 12).

The proof is marked by a rubric, or its lines are put in order; the instance is marked exactly.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from symattn.errors import InputError, SelfCheckError
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
from symattn.teaching.problems.asking import LETTERS, Prose, no_sizes, prose, tokens_are_rows
from symattn.teaching.problems.base import Family, ProblemType, Spec, first_place, turn_of
from symattn.teaching.problems.instances_of_weights import Temperature
from symattn.teaching.problems.theorems import INSTANCES, THEOREMS, AnInstance, Direct, Task, Theorem
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
    tokens_are_rows(spec)
    no_sizes(spec)
    name = _chosen(TYPE.option(spec, "theorem"), number)
    turn = (turn_of(number, family) - 1 + (number - 1) // len(THEOREMS)) % 4
    wrong = shuffled(rng, [1, 2, 3])
    instance = INSTANCES[name].drawn(rng, (*wrong[:turn], 0, *wrong[turn:]))
    lines = list(range(len(THEOREMS[name].proof)))
    while (given := shuffled(rng, lines)) == lines:
        pass
    return Content(spec.type, spec.notation, name, instance, tuple(given) if TYPE.option(spec, "lines") else ())


def _chosen(name: str, number: int) -> str:
    if not name:
        return list(THEOREMS)[(number - 1) % len(THEOREMS)]
    if name not in THEOREMS:
        raise InputError(f"There is no theorem {name!r}; there are {', '.join(THEOREMS)}.")
    return name


def make(content: Content) -> Question:
    theorem, say = THEOREMS[content.theorem], prose(content.notation)
    given, *tasks = content.instance.tasks(say)
    proof = _in_order(theorem, content.lines, say) if content.lines else _proof(theorem, say)
    return Question(
        type=TYPE.name,
        title=theorem.title,
        given=(Box("Theorem", (say.paragraph(theorem.statement),)),),
        parts=(
            proof,
            *(_part(name, task, given if name == "b" else ()) for name, task in zip("bc", tasks, strict=True)),
        ),
        content=content,
        introduction=(Paragraph((Words("Prove the theorem, then check it with numbers. Give exact values."),)),),
        conventions=_conventions(content, say),
        features={"load": float(len(theorem.points) + sum(map(_size, tasks)))},
        positions=_positions(tasks),
    )


def _conventions(content: Content, say: Prose) -> tuple[Inlines, ...]:
    lines = [say("Tokens are rows; softmax is taken along each row, with base $e$.")]
    if isinstance(content.instance, Temperature):
        lines.append(say("Softmax with the temperature $T$ is softmax of the scores divided by $T$."))
    return tuple(lines)


def _proof(theorem: Theorem, say: Prose) -> Part:
    points = tuple(map(say, theorem.points))
    room = (Paragraph((Words("Prove the theorem. Say what you use in every step."),)), WorkingSpace(72, ruled=True))
    key = (ItemList(tuple(map(say, theorem.proof)), ordered=True),)
    marking = (
        Paragraph((Words("One mark for each of these points; any other valid proof earns the same marks."),)),
        ItemList(points),
    )
    marks = (Mark("B", len(points), "one for each point"),)
    return Part("a", (Words("Proof"),), room, key, RubricAnswer(points), marks, marking)


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
    return Part("a", (Words("Proof"),), (ask, ItemList(shown), boxes), key, answer, marks)


def _part(name: str, task: Task, given: tuple[Block, ...]) -> Part:
    single = isinstance(task.answer, ChoiceAnswer) and not task.answer.several
    marks = (Mark("B", 2),) if single else (Mark("M", 1), Mark("A", 1))
    title = {"b": "An instance", "c": "The same instance"}[name]
    return Part(name, (Words(title),), (*given, Paragraph(task.ask), *task.room), task.key, task.answer, marks)


def _size(task: Task) -> int:
    return sum(1 for _ in task.answer.value) if isinstance(task.answer, MatrixAnswer) else 2


def _positions(tasks: list[Task]) -> dict[str, str]:
    """Where the right option stands, in an instance that has a choice of one."""
    answers = [task.answer for task in tasks if isinstance(task.answer, ChoiceAnswer) and not task.answer.several]
    right = "".join(LETTERS[min(answer.right)] for answer in answers)
    return {"key": right} if right else {}


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """The answers of the instance once more, without the theorem; every choice has exactly one right option."""
    content: Content = question.content
    for part, value in zip(question.parts[1:], content.instance.direct(), strict=True):
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
        case ChoiceAnswer(options, several):
            texts = [option.text for option in options]
            distinct = all(a != b for i, a in enumerate(texts) for b in texts[:i])
            return answer.right == value and distinct and (several or len(answer.right) == 1)
    return False


TYPE = ProblemType(
    name="prove",
    title="Explain and prove",
    family=first_place,
    draw=draw,
    make=make,
    content=Content,
    prove=prove,
    options={
        "theorem": ("", f"which theorem; all in turn where none is named: {', '.join(THEOREMS)}"),
        "lines": (False, "whether the lines of the proof are given, to be put in order"),
    },
)
