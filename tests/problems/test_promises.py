"""What every type promises, as tables: variants, where right answers stand, wrong keys, and what is refused."""

from collections import Counter
from dataclasses import replace

import pytest
from problem_laws import contents, keeps_its_promises, questions
from sentences import refused_saying
from tables import tables_beside

from symattn.errors import SelfCheckError
from symattn.foundation.identity import identity
from symattn.teaching.problems import problem_type

TABLES = tables_beside(__file__)


PROMISES = TABLES["promises"]
"""Types, how many variants, and what is stated: every level, and a notation that differs from the standard one."""


WITH_NAMES = ("counts", "faded", "masks", "recurrence", "shapes")
"""Types whose parts have names, and no letters."""


def keeps(name, count, **stated):
    chosen = problem_type(name)
    if name not in WITH_NAMES:
        keeps_its_promises(chosen, count, **stated)
        return
    made = list(questions(chosen, count, **stated))
    assert len({identity(question.frozen) for question in made}) == count
    for content, question in zip(contents(chosen, count, **stated), made, strict=True):
        chosen.prove(question)
        assert question.content == content
        assert list(chosen.make(content).entries()) == list(question.entries())


@pytest.mark.covering(rest=2)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "count", "stated"), PROMISES, ids=str)
def test_variants_keep_the_promises_of_every_type(name, count, stated):
    keeps(name, count, **stated)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", ["counts", "design", "drills", "estimate", "heatmap", "masks", "recurrence", "shapes"])
def test_a_few_variants_keep_them_and_are_worth_the_same(name):
    keeps(name, 3)
    assert len({question.marks for question in questions(problem_type(name), 3)}) == 1


PLACES = TABLES["places"]


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("name", "stated", "place", "letters", "count", "apart"), PLACES)
def test_the_right_option_stands_everywhere_alike(name, stated, place, letters, count, apart):
    found = Counter("".join(question.positions[place] for question in questions(problem_type(name), count, **stated)))
    assert set(found) == set(letters)
    assert max(found.values()) - min(found.values()) <= apart


# ------------------------------------------------------------------------------------------------ wrong keys


def of_kind(kind, **changed):
    """What makes an item of that kind wrong."""

    def spoil(frozen):
        next(item for item in frozen["items"] if item["kind"] == kind).update(changed)

    return spoil


def no_input(frozen):
    frozen["X"] = [[0, 0]] * 3


def pale_head(frozen):
    next(item for item in frozen["items"] if item["kind"] == "head")["parts"][1] = [28, 4, 4, 4]


def false_statement(frozen):
    statement = next(item for item in frozen["items"] if item["kind"] == "statements")["statements"][0]
    statement["true"] = not statement["true"]


def equal_rows(kind, more):
    """The first of four rows becomes the second, or one that has the same weights."""

    def spoil(frozen):
        item = next(item for item in frozen["items"] if item["kind"] == kind)
        item["rows"][0] = [x + more for x in item["rows"][1]]

    return spoil


UNCLEAR = {
    "weights that are no powers of 2": ("design", ["exact"], of_kind("exact", weights=[3, 1, 1])),
    "inputs without a number": ("design", ["missing"], no_input),
    "values that are equal": ("design", ["mask"], of_kind("mask", V=[[1, 1], [1, 1], [2, 2]])),
    "other inputs that are 0": ("design", ["impossible"], of_kind("impossible", X=[[0, 0]] * 3)),
    "rows that are the same with every mask": (
        "heatmap", None, of_kind("matrix", scores=[[0, 0, 0], [0, 0, 0], [0, 9, 0]]),
    ),
    "a weight close to 0": ("heatmap", None, of_kind("mask", scores=[[0, 9, 0, 0]] * 4)),
    "a head that is not clear": ("heatmap", None, pale_head),
    "a statement that is turned": ("heatmap", None, false_statement),
    "nothing that is the largest": ("estimate", None, of_kind("effect", row=[2, 2, 2], effect="doubled")),
    "an end that is there already": ("estimate", None, of_kind("limit", row=[2, 2, 2, 2])),
    "two rows of one entropy": ("estimate", None, equal_rows("entropy", 0)),
    "two rows of one largest weight": ("estimate", None, equal_rows("largest", 1)),
}  # fmt: skip


@pytest.mark.parametrize("what", UNCLEAR)
def test_what_is_not_unique_or_not_true_does_not_survive(what):
    name, items, spoil = UNCLEAR[what]
    chosen = problem_type(name)
    (content,) = contents(chosen, 1, **({"options": {"items": items}} if items else {}))
    spoil(content)
    with pytest.raises(SelfCheckError):
        chosen.prove(chosen.make(content))


OTHER_NUMBERS = TABLES["other_numbers"]


@pytest.mark.covering(most=4)
@pytest.mark.parametrize(("name", "part", "changed"), OTHER_NUMBERS)
def test_the_key_of_other_numbers_is_found(name, part, changed):
    chosen = problem_type(name)
    (question,) = questions(chosen, 1)
    other = chosen.make({**question.frozen, **changed})
    parts = zip(question.parts, other.parts, strict=True)
    with pytest.raises(SelfCheckError, match=part):
        chosen.prove(replace(question, parts=tuple(theirs if theirs.name == part else own for own, theirs in parts)))


# ------------------------------------------------------------------------------------------------ what is refused

REFUSED = TABLES["refused"]


@pytest.mark.parametrize(("name", "stated", "said"), REFUSED)
def test_what_a_type_cannot_do_is_refused_in_a_sentence(name, stated, said):
    with refused_saying(said):
        next(contents(problem_type(name), 1, **stated))
