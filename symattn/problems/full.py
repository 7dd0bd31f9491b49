"""The full derivation in boxes: every step asked, from the givens to the output (PEDAGOGY 5, type 1)."""

from __future__ import annotations

from typing import cast

from symattn.derivation import Step
from symattn.explanation import Detail
from symattn.explanation.parts import asked, conventions, introduction, wording_of, worked
from symattn.explanation.steps import step_title
from symattn.fairness.separation import Separation, separation
from symattn.ops import Mask, Softmax
from symattn.problem import Problem
from symattn.problems import derived
from symattn.problems.base import ProblemType
from symattn.question import Content, Mark, Marks, Part, Question, StepAnswer, share


def make(content: Content) -> Question:
    made = derived.made(content)
    return question(made.problem, content, made.separation)


def question(
    problem: Problem, content: Content, found: Separation | None = None, detail: Detail | None = None
) -> Question:
    """A problem with room for every step that is asked, and its key."""
    wording = wording_of(problem)
    detail = detail or Detail(places=problem.places)
    room, worth = asked(problem, wording), scheme(problem)
    parts = tuple(
        Part(
            name=step.name,
            title=step_title(step, wording),
            ask=room[step.name],
            key=worked(step, wording, detail),
            answer=StepAnswer(step.name),
            marks=worth[step.name],
        )
        for step in problem.asked_steps
    )
    return Question(
        type=TYPE.name,
        title=problem.title,
        introduction=(*introduction(problem), *derived.opening(problem)),
        given=derived.given(problem, wording),
        parts=parts,
        content=content,
        problem=problem,
        conventions=conventions(problem, wording),
        after=derived.remarks(problem, wording, found or separation(problem.derivation)),
        features=derived.measured(problem),
        positions=derived.positions(problem),
    )


# ------------------------------------------------------------------------------------------------ marks


def scheme(problem: Problem) -> dict[str, Marks]:
    """The marks of every step asked: PEDAGOGY 3.10, for three tokens 20 marks, one accuracy mark for every row.

    Without a mask its marks go to the scores.  Token by token, a role's marks are shared by its steps.
    """
    masked = any(isinstance(step.op, Mask) for step in problem.steps)
    by_role: dict[str, list[Step]] = {}
    for step in problem.asked_steps:
        by_role.setdefault(step.role, []).append(step)
    found: dict[str, Marks] = {}
    for steps in by_role.values():
        rows = cast(int, steps[0].result.shape[0]) if len(steps) == 1 else len(steps)
        if problem.derivation.orientation == "columns" and len(steps) == 1:
            rows = cast(int, steps[0].result.shape[1])
        whole = _marks(steps[0], rows, masked)
        shares = [share(mark.number, [1] * len(steps)) for mark in whole]
        for k, step in enumerate(steps):
            own = (Mark(m.code, s[k], m.what) for m, s in zip(whole, shares, strict=True) if s[k])
            found[step.name] = tuple(own)
    return found


def _marks(step: Step, rows: int, masked: bool) -> Marks:
    each = "one for every token"
    match step.role:
        case "Q":
            return (Mark("B", 1, "shapes"), Mark("M", 1), Mark("A", 1))
        case "S" if masked:
            return (Mark("M", 1), Mark("A", 2, "all entries; A1 for two thirds of them"))
        case "S":
            return (Mark("M", 2), Mark("A", 3, each))
        case "Z" | "A":
            return (Mark("M", 1), Mark("A", rows, each))
        case _ if isinstance(step.op, Softmax):
            return (Mark("M", 1), Mark("A", rows, each))
        case _:
            return (Mark("M", 1), Mark("A", 1))


TYPE = ProblemType(
    name="full",
    title="Full derivation in answer boxes",
    draw=derived.content,
    make=make,
    family=derived.family,
    complaint=derived.complaint,
    key=derived.key,
    relabellings=derived.relabellings,
)
