"""The full derivation in boxes: every step asked, from the givens to the output (PEDAGOGY 5, type 1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

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
    """The marks of every step asked: PEDAGOGY 3.10, for three tokens 20 marks, one accuracy mark for every token.

    Keys and values are worked out as queries are, so that the method of all three is marked once.  Without a mask its
    marks go to the scores.  Token by token, a role's marks are shared by its steps: weighted values have the output's
    method mark, their sums its accuracy, and the line that only puts tokens together has none.
    """
    by_role: dict[str, list[Step]] = {}
    for step in problem.asked_steps:
        by_role.setdefault(step.role, []).append(step)
    masked = any(isinstance(step.op, Mask) for step in problem.steps)
    found: dict[str, Marks] = {step.name: () for step in problem.asked_steps}
    for steps in by_role.values():
        by_token = [step for step in steps if step.token is not None]
        lines = by_token or steps
        whole = _marks(lines[0], len(by_token) or _tokens(problem, steps[0]), by_role.keys(), masked)
        shares = [share(mark.number, [1] * len(lines)) for mark in whole]
        for k, step in enumerate(lines):
            own = (replace(m, number=s[k], what="" if by_token else m.what) for m, s in zip(whole, shares, strict=True))
            found[step.name] = tuple(mark for mark in own if mark.number)
    return found


def _tokens(problem: Problem, step: Step) -> int:
    """How many tokens have a line in a step; 1 where that is a letter, since one rule then stands for all of them."""
    rows, columns = step.result.shape
    tokens = rows if problem.derivation.orientation == "rows" else columns
    return tokens if isinstance(tokens, int) else 1


_LIKE = {"K": "Q", "V": "Q", "K_linear": "Q_linear", "V_linear": "Q_linear"}
"""Steps that are worked out as another one is."""


def _marks(step: Step, tokens: int, roles: Collection[str], masked: bool) -> Marks:
    method, each = Mark("M", 1), Mark("A", tokens, "one for every token")
    match step.stem:
        case "Q":
            return (Mark("B", 1, "shapes"), method, Mark("A", 1))
        case role if _LIKE.get(role) in roles:
            return (Mark("A", 1),)
        case "S" if masked:
            return (method, Mark("A", 2, "all entries; A1 for two thirds of them"))
        case "S":
            return (Mark("M", 2), each)
        case "weighted":
            return (method,)
        case "Z" if "weighted" in roles:
            return (each,)
        case "Z" | "A":
            return (method, each)
        case "C":
            return (Mark("B", 1, "heads side by side, in order"),)
        case _ if isinstance(step.op, Softmax):
            return (method, each)
        case _:
            return (method, Mark("A", 1))


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
