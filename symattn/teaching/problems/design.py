"""Inverse problems: scores, weight matrices, keys or a mask that make attention do what is wanted (rules.md 5, type 9).

What the student chooses is marked by its property (`properties.py`); the items are those of `design_items.py`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from symattn.derivation.ops import Softmax
from symattn.errors import SelfCheckError
from symattn.exact import Matrix, compare, exact
from symattn.foundation.typed import OneOf
from symattn.page.notation import kept_notation
from symattn.teaching.problems.asking import lettered, right_letter, turning_prose
from symattn.teaching.problems.base import ATTENTION, Family, ProblemType, Spec, turn_of
from symattn.teaching.problems.design_items import KINDS, Given, Item
from symattn.teaching.problems.properties import verdict
from symattn.teaching.problems.systems import Rows, times
from symattn.teaching.question import PropertyAnswer, Question

ITEMS: Mapping[str, tuple[str, ...]] = {
    "starter": ("scores", "mask", "keys"),
    "standard": ("scores", "exact", "attend", "impossible"),
    "long": ("scores", "mask", "exact", "attend", "missing", "impossible"),
}

# ------------------------------------------------------------------------------------------------ the question


@dataclass(frozen=True)
class Content:
    """What is given, and the items."""

    type: str
    notation: str
    X: Rows
    K: Rows
    items: tuple[Item, ...]

    @property
    def given(self) -> Given:
        return Given(self.X, self.K, shown=any(item.about_given for item in self.items))


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    asked = TYPE.option(spec, "items") or ITEMS[spec.level]
    given = Given.drawn(rng)
    items = tuple(KINDS[name](rng, given, turn_of(number, family)) for name in asked)
    return Content(spec.type, kept_notation(spec.notation), given.X, given.K, items)


def make(content: Content) -> Question:
    say, given = turning_prose(content.notation), content.given
    parts = lettered(part for item in content.items for part in item.parts(given, say))
    right = "".join(map(right_letter, parts))
    return Question(
        type=TYPE.name,
        title="Design attention",
        introduction=(
            say.paragraph(
                "Choose the matrices asked for. Any choice that does what is asked is right; show that it does."
            ),
        ),
        given=(say.equations(X=Matrix(given.X), K=Matrix(given.K)),) if given.shown else (),
        parts=parts,
        content=content,
        conventions=(*map(say, _CONVENTIONS[say.columns]),),
        features={"load": float(sum(item.load for item in content.items))},
        positions={"impossible request": right} if right else {},
    )


_CONVENTIONS = {
    False: (
        "Tokens are rows; $Q = X W_Q$ and $S = Q K^T$. Scores are not scaled.",
        "Softmax is taken along each row; its base is given in the question.",
    ),
    True: (
        "Tokens are columns; $Q = X W_Q$ and $S = Q K^T$. Scores are not scaled.",
        "Softmax is taken along each column; its base is given in the question.",
    ),
}
"""By whether tokens are columns; the formulas are turned where they are printed."""


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Model answers have their property by the rule and by the whole softmax; single answers are the only ones."""
    content: Content = question.content
    for part in question.parts:
        if isinstance(part.answer, PropertyAnswer):
            _prove_property(part.answer)
    for item in content.items:
        item.prove(content.given)


def _prove_property(answer: PropertyAnswer) -> None:
    judged = verdict(answer.rule, answer.parameters, answer.model)
    if not judged.holds:
        raise SelfCheckError(f"A model answer does not have its property: {judged.says}")
    parameters: Mapping[str, Any] = answer.parameters
    found = Softmax(base=parameters["base"]).apply(_scores(parameters, answer.model))
    if "to" in parameters:
        holds = compare(found[0, parameters["to"]], exact(parameters["least"])) >= 0
    else:
        wanted = parameters["weights"]
        holds = found == Matrix(wanted if isinstance(wanted[0], list) else [wanted])
    if not holds:
        raise SelfCheckError(f"A model answer for {answer.rule!r} gives the weights {found}.")


def _scores(parameters: Mapping[str, Any], model: Mapping[str, Matrix]) -> Matrix:
    if parameters.get("tokens") == "columns":
        model = {name: matrix.T for name, matrix in model.items()}
    if "S" in model:
        return model["S"]
    query = Matrix([parameters["q"]]) if "q" in parameters else times(Matrix([parameters["x"]]), model["W_Q"])
    return times(query, (model["K"] if "K" in model else Matrix(parameters["K"])).T)


TYPE = ProblemType(
    name="design",
    title="Design: choose matrices with a property",
    draw=draw,
    make=make,
    content=Content,
    proof=prove,
    options={
        "items": (
            [],
            f"which items, in order, of {', '.join(KINDS)}; those of the level where none are named",
            tuple[Annotated[str, OneOf(lambda: KINDS)], ...],
        )
    },
    mechanisms=ATTENTION,
    draws=("sizes", "given"),
)
