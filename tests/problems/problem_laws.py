"""What every problem type promises, whatever it asks: the tests of each type run these over many variants."""

import json
from copy import deepcopy
from functools import cache

from trials import at_least_one

from symattn.foundation.dice import Dice
from symattn.foundation.identity import identity
from symattn.teaching.problems import problem_type

DICE = Dice.seeded(2026)
AGAIN = 20
"""How many variants are drawn a second time; each one is drawn from dice of its own."""


class Drawing:
    """The contents of variants, each drawn when it is first asked for."""

    def __init__(self, chosen, stated):
        self.chosen, self.spec, self.drawn = chosen, chosen.spec(stated), []
        self.family = chosen.family(self.spec, DICE.rng("family"))

    def __getitem__(self, k):
        for number in range(len(self.drawn) + 1, k + 2):
            self.drawn.append(self.chosen.draw(self.spec, DICE.rng(number), number, self.family))
        return deepcopy(self.drawn[k])


def answer(q, name):
    return next(part.answer for part in q.parts if part.name == name)


def again(content):
    """The content as it comes out of the JSON of an exam."""
    return json.loads(json.dumps(content))


@cache
def _drawing(name, stated):
    return Drawing(problem_type(name), json.loads(stated))


def contents(chosen, count, **stated):
    """The contents of that many variants, drawn once for all tests of a run."""
    drawing = _drawing(chosen.name, json.dumps(stated))
    return (drawing[k] for k in range(count))


@cache
def _variant(name, seed, number, stated):
    chosen = problem_type(name)
    spec = chosen.spec({"type": name, **json.loads(stated)})
    return chosen.make(chosen.draw(spec, Dice.seeded(seed).rng(number), number, {}))


def variant_of(chosen, seed):
    """A function for the variants of a type, drawn with dice of its own: the number, and what is stated."""
    return lambda number, **stated: _variant(chosen.name, seed, number, json.dumps(stated))


def questions(chosen, count, **stated):
    """The same made, from their frozen form."""
    return (chosen.make(again(content)) for content in contents(chosen, count, **stated))


def items_of(questions, *kinds):
    """Frozen items, each with the part that it became; perhaps of some kinds alone."""
    pairs = (pair for question in questions for pair in zip(question.frozen["items"], question.parts, strict=True))
    return at_least_one((item, part) for item, part in pairs if not kinds or item["kind"] in kinds)


def keeps_its_promises(chosen, count=200, **stated):
    """Different contents, every one proved, the same one again from JSON, names in order, the same ones drawn again.

    A variant is judged as soon as it is drawn: what was worked out for it is still remembered then.
    """
    drawn = []
    for content in contents(chosen, count, **stated):
        drawn.append(content)
        assert again(content) == content
        question = chosen.make(again(content))
        chosen.prove(question)
        assert question.content == content
        assert list(chosen.make(content).entries()) == list(question.entries())
        assert [part.name for part in question.parts] == list("abcdefghij")[: len(question.parts)]
        assert question.features["load"] > 0
    assert len({identity(content) for content in drawn}) == count
    anew = Drawing(chosen, stated)
    assert [anew[k] for k in range(min(count, AGAIN))] == drawn[:AGAIN]
