"""What every problem type promises, whatever it asks: the tests of each type run these over many variants."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from symattn.errors import InputError
from symattn.explanation import key_document, worksheet_document
from symattn.fairness.dice import Dice
from symattn.identity import identity
from symattn.problems.base import ProblemType
from symattn.question import Content, Question
from symattn.writers import FORMATS

DICE = Dice.seeded(2026)


def contents(chosen: ProblemType, count: int, **stated: object) -> Iterator[Content]:
    """The contents of that many variants."""
    spec = chosen.spec(stated)
    family = chosen.family(spec, DICE.rng("family"))
    for number in range(1, count + 1):
        yield chosen.draw(spec, DICE.rng(number), number, family)


def questions(chosen: ProblemType, count: int, **stated: object) -> Iterator[Question]:
    """The same made, from their frozen form."""
    return (chosen.make(json.loads(json.dumps(content))) for content in contents(chosen, count, **stated))


def keeps_its_promises(chosen: ProblemType, count: int = 200, **stated: object) -> None:
    """Different contents, every one proved, the same one again from JSON, marks the same for all, names in order."""
    drawn = list(contents(chosen, count, **stated))
    assert len({identity(content) for content in drawn}) == count
    made = list(questions(chosen, count, **stated))
    for content, question in zip(drawn, made, strict=True):
        chosen.prove(question)
        assert question.content == content
        assert list(chosen.make(content).entries()) == list(question.entries())
        assert [part.name for part in question.parts] == list("abcdefghij")[: len(question.parts)]
        assert question.features["load"] > 0
    assert list(contents(chosen, count, **stated)) == drawn


def is_written(question: Question) -> None:
    """Worksheet and key in every format that is text."""
    for document in (worksheet_document(question), key_document(question)):
        for writer in FORMATS.values():
            assert writer.write(document)


def refuses_columns_and_sizes(chosen: ProblemType) -> None:
    with pytest.raises(InputError, match="columns"):
        next(contents(chosen, 1, notation="columns"))
    with pytest.raises(InputError, match="sizes of its own"):
        next(contents(chosen, 1, sizes={"n": 4}))
