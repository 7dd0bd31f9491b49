"""What every type promises, as tables: variants, where right answers stand, wrong keys, and what is refused."""

from collections import Counter
from dataclasses import replace

import pytest
from problem_laws import contents, is_written, keeps_its_promises, questions

from symattn.errors import InputError, SelfCheckError
from symattn.foundation.identity import identity
from symattn.teaching.problems import problem_type

CAUSAL = {"settings": {"mask": "causal"}}
COLUMNS = {"notation": "columns"}

PROMISES = [
    ("choice", 3, {}),
    ("choice", 2, CAUSAL),
    ("choice", 1, {"options": {"several": True}, **COLUMNS}),
    ("counts", 12, {}),
    ("counts", 2, {"level": "long", "notation": "note-003"}),
    ("design", 8, {}),
    ("design", 2, {"level": "long", "notation": "note-002"}),
    ("drills", 8, {}),
    ("drills", 2, {"level": "long", **COLUMNS}),
    ("estimate", 12, {}),
    ("estimate", 2, {"level": "long", "notation": "note-003"}),
    ("faded", 5, {}),
    ("faded", 2, {"notation": "columns", "options": {"backwards": True}}),
    ("faded", 2, {"softmax": "base 2", "mechanism": "attention", "notation": "note-003"}),
    ("faded", 1, {"exact": False, "mechanism": "attention", **CAUSAL}),
    ("find-error", 3, {}),
    ("find-error", 2, {"options": {"errors": 2}, **CAUSAL}),
    ("find-error", 1, {"mechanism": "self_attention", **COLUMNS}),
    ("heatmap", 8, {}),
    ("heatmap", 2, {"level": "long", "notation": "note-001"}),
    ("masks", 12, {}),
    ("masks", 2, {"level": "long", "notation": "note-004"}),
    ("prove", 15, {}),
    ("prove", 4, {"options": {"theorem": "key bias"}, "notation": "note-002"}),
    ("recurrence", 12, {}),
    ("recurrence", 2, {"level": "long", "notation": "note-001"}),
    ("shapes", 12, {}),
    ("shapes", 2, {"level": "long", "notation": "note-003"}),
    ("translate", 4, {}),
    ("translate", 1, {"mechanism": "attention", **CAUSAL}),
]
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


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count", "stated"), PROMISES, ids=str)
def test_variants_keep_the_promises_of_every_type(name, count, stated):
    keeps(name, count, **stated)
    is_written(next(questions(problem_type(name), 1, **stated)))


@pytest.mark.parametrize("name", ["counts", "design", "drills", "estimate", "heatmap", "masks", "recurrence", "shapes"])
def test_a_few_variants_keep_them_and_are_worth_the_same(name):
    keeps(name, 3)
    assert len({question.marks for question in questions(problem_type(name), 3)}) == 1
    is_written(next(questions(problem_type(name), 1, notation="note-003")))


PLACES = [
    ("design", {}, "impossible request", "ABC", 30, 0),
    ("prove", {"options": {"theorem": "shift"}}, "key", "ABCD", 40, 8),
    ("heatmap", {}, "matrix", "ABCD", 20, 2),
    ("heatmap", {}, "mask", "ABCDE", 20, 2),
    ("heatmap", {}, "head", "ABCDE", 20, 2),
    ("estimate", {}, "limit", "ABCD", 40, 0),
    ("estimate", {}, "effect", "ABC", 27, 0),
    ("masks", {}, "reading", "0123", 36, 0),
    ("masks", {}, "picture", "0123", 36, 0),
]


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
    frozen = chosen.freeze(content)
    spoil(frozen)
    with pytest.raises(SelfCheckError):
        chosen.prove(chosen.make(chosen.thaw(frozen, "spoilt")))


OTHER_NUMBERS = [
    ("counts", "operations", {"toy": {"n": 9, "h": 3, "width": 4}}),
    ("counts", "crossover", {"crossover": {"pair": "one", "d": 2}}),
    ("counts", "whole", {"whole": {"words": 10, "positions": 3, "d": 2, "layers": 2}}),
    ("recurrence", "paths", {"to": 2, "from": 1}),
    ("recurrence", "cost", {"d": 5, "from": 1}),
    ("recurrence", "overtaking", {"wide": 7, "from": 1}),
    ("recurrence", "chains", {"n": 3, "from": 1}),
]


@pytest.mark.parametrize(("name", "part", "changed"), OTHER_NUMBERS)
def test_the_key_of_other_numbers_is_found(name, part, changed):
    chosen = problem_type(name)
    (question,) = questions(chosen, 1)
    other = chosen.make(chosen.thaw({**question.frozen, **changed}, ""))
    parts = zip(question.parts, other.parts, strict=True)
    with pytest.raises(SelfCheckError, match=part):
        chosen.prove(replace(question, parts=tuple(theirs if theirs.name == part else own for own, theirs in parts)))


# ------------------------------------------------------------------------------------------------ what is refused

REFUSED = [
    ("block", {"options": {"what": "dropout"}}, "option what of block is 'dropout'; one of after-attention, "),
    ("block", {"mechanism": "self_attention", "options": {"what": "layer-norm"}}, "with layer_norm, not with self_att"),
    ("extensions", {"mechanism": "attention", "options": {"what": "cache"}}, "with kv_cache, not with attention"),
    ("choice", {"options": {"items": 0}}, "1 to 12"),
    ("counts", {"sizes": {"h": 5, "d_model": 12}}, "There are no 2 or more heads for h = 5, d_model = 12"),
    ("counts", {"sizes": {"n": 4, "h": 4}}, "n and h are both 4"),
    ("counts", {"sizes": {"n": 1}}, "n is 1; for counting, a size from 2"),
    ("counts", {"sizes": {"n": 5000}}, "n is 5000; for counting"),
    ("counts", {"sizes": {"q": 3}}, "sizes has 'q'; n, h, d_model, d_k are known"),
    ("design", {"options": {"items": ["guess"]}}, "impossible"),
    ("drills", {"options": {"step": "backwards"}}, "projection"),
    ("drills", {"options": {"items": 13}}, "1 to 12"),
    ("faded", {"options": {"blank": ["B"]}}, "the steps are"),
    ("faded", {"options": {"share": 0}}, "1 to 100"),
    ("faded", {"options": {"share": 101}}, "1 to 100"),
    ("find-error", {"options": {"errors": 3}}, "1 to 2"),
    ("masks", {"options": {"kind": "diagonal"}}, "option kind of masks is 'diagonal'; one of causal, "),
    ("masks", {"sizes": {"n": 9}}, "3 to 6 tokens"),
    ("masks", {"given": {"S'": [[1, 2], [0, 1]]}}, "own numbers"),
    ("prove", {"options": {"theorem": "Fermat"}}, "key bias"),
    ("translate", {"settings": {"rounding": {"places": 1}}}, "rounded"),
    ("translate", {"options": {"into": "note-009"}}, "no notation"),
    ("translate", {"notation": "columns", "options": {"into": "columns"}}, "starts from"),
    *((name, {"sizes": {"n": 4}}, "own sizes") for name in ("design", "estimate", "heatmap", "prove", "shapes")),
]


@pytest.mark.parametrize(("name", "stated", "said"), REFUSED)
def test_what_a_type_cannot_do_is_refused_in_a_sentence(name, stated, said):
    with pytest.raises(InputError, match=said):
        next(contents(problem_type(name), 1, **stated))
