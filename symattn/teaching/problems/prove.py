"""Explain and prove: a theorem of attention, and an instance of it with numbers (rules.md 5, type 12).

The proof is marked by a rubric, or its lines are put in order; the instance is marked exactly.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from symattn.foundation.dice import shuffled
from symattn.page.document import Box, ItemList, Paragraph, WorkingSpace, as_text
from symattn.teaching.problems.asking import Prose, bank, blocks, fill_in, labelled, make_part, put_in
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, one_of, question
from symattn.teaching.problems.instances import INSTANCES
from symattn.teaching.question import (
    LETTERS,
    Mark,
    OneLess,
    OrderAnswer,
    Part,
    RubricAnswer,
)


@dataclass(frozen=True)
class Theorem:
    """What `theorems.toml` says of one: what a marker looks for, one mark each, and the lines of a proof."""

    title: str
    statement: str
    points: tuple[str, ...]
    proof: tuple[str, ...]
    turned: Mapping[str, str] = field(default_factory=dict)

    def lying(self, columns: bool) -> Theorem:
        """The texts for tokens as rows or as columns: `turned` has those that differ, by their places."""
        if not columns:
            return self

        def lines(place: str, texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(self.turned.get(f"{place} {k}", text) for k, text in enumerate(texts, 1))

        statement = self.turned.get("statement", self.statement)
        return replace(self, statement=statement, points=lines("point", self.points), proof=lines("proof", self.proof))


THEOREMS: Mapping[str, Theorem] = MappingProxyType(bank(dict[str, Theorem], "theorems"))


def ask(draw: Draw) -> ProvedQuestion:
    say = draw.prose(turns=True)

    def order(rng: random.Random) -> tuple[int, ...]:
        """Of the options of a choice, with the right one, 0, where it is its turn."""
        turn = (draw.turn - 1 + (draw.number - 1) // len(THEOREMS)) % 4
        return put_in(shuffled(rng, [1, 2, 3]), turn, 0)

    def mixed(rng: random.Random) -> list[int]:
        lines = list(range(len(theorem.proof)))
        while (given := shuffled(rng, lines)) == lines:
            pass
        return given if draw.option("lines") else []

    name = draw("theorem", lambda rng: draw.option("theorem") or list(THEOREMS)[(draw.number - 1) % len(THEOREMS)])
    theorem, inside = THEOREMS[name].lying(say.columns), draw.inside("instance")
    inside("order", order)
    given, first, second = INSTANCES[name](inside, say)
    lines = draw("lines", mixed)
    first_part = replace(first.part, title=as_text("An instance"), ask=(*blocks(given), *first.part.ask))
    along = say(
        "Tokens are rows; softmax is taken along each row, with base $e$.",
        "Tokens are columns; softmax is taken along each column, with base $e$.",
    )
    divided = say("Softmax with the temperature $T$ is softmax of the scores divided by $T$.")
    return question(
        draw,
        [
            Item(_in_order(theorem, lines, say) if lines else _proof(theorem, say), load=len(theorem.points)),
            replace(first, part=first_part),
            replace(second, part=replace(second.part, title=as_text("The same instance"))),
        ],
        title=theorem.title,
        given=(Box("Theorem", (say.paragraph(theorem.statement),)),),
        introduction=Paragraph(
            as_text("Prove the theorem, then check it with numbers. Give exact values."),
            typed=as_text("Prove the theorem, then check it with numbers."),
        ),
        conventions=(along, divided) if name == "temperature" else (along,),
    )


def _proof(theorem: Theorem, say: Prose) -> Part:
    points = tuple(map(say, theorem.points))
    looked_for = "The marks are shared among these points; any other valid proof earns the same marks."
    return make_part(
        "Proof",
        ["Prove the theorem. Say what you use in every step.", WorkingSpace(72, ruled=True)],
        [ItemList(tuple(map(say, theorem.proof)), ordered=True)],
        RubricAnswer(points),
        Mark("B", len(points), "one for each point"),
        marking=[looked_for, ItemList(points)],
    )


def _in_order(theorem: Theorem, lines: Sequence[int], say: Prose) -> Part:
    """The lines of the proof out of order, to be put in order."""
    right = [LETTERS[lines.index(line)] for line in range(len(lines))]
    return make_part(
        "Proof",
        [
            "Here is a proof with its lines out of order. Write down their letters in the right order.",
            ItemList(tuple(labelled(say(theorem.proof[line]) for line in lines))),
            fill_in("Order:", boxes=len(lines)),
        ],
        [
            say("The order is {order}.", order=", ".join(right)),
            ItemList(tuple(map(say, theorem.proof)), ordered=True),
        ],
        OrderAnswer(tuple((letter,) for letter in right)),
        Mark("B", 3, "deduct one for each line that must be moved", OneLess()),
    )


TYPE = ProblemType(
    ask,
    name="prove",
    title="Explain and prove",
    options={
        "theorem": ("", f"which theorem; all in turn where none is named: {', '.join(THEOREMS)}", one_of(THEOREMS)),
        "lines": (False, "whether the lines of the proof are given, to be put in order"),
    },
)
