"""What is kept from one script to the next, and what is asked of shapes alone, changes nothing."""

import json
from dataclasses import fields, replace
from random import Random

import pytest
from scripts import drawn, key_script, laid, legible, pages, script

from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, rewritten_everywhere
from symattn.errors import InputError, UndecidedError
from symattn.exact import Matrix
from symattn.marking.attempt import Attempt, Doubt, Grid, Remark, Text
from symattn.marking.grading.record import Row, record
from symattn.marking.grading.source import papers
from symattn.marking.grading.worker import marked
from symattn.marking.marker import mark
from symattn.marking.marker import script as marker_script
from symattn.marking.marker.policy import POLICIES, Terms
from symattn.marking.submissions.entries import grid


def scripts(q, rng):
    """Right, with misconceptions, with a line of nonsense, and with lines of two misconceptions."""
    right = key_script(q)
    wrongs = [w for w in replayed(q.problem.derivation) if w.first and not w.stopped]
    beliefs = [script(q, laid(q, pages(w.derivation)), legible) for w in rng.sample(wrongs, min(3, len(wrongs)))]
    part = rng.choice([name for name, said in right.answers.items() if isinstance(said, Grid)])
    said = right.answers[part]
    nonsense = grid([[str(rng.randint(-9, 9)) for _ in row] for row in said.rows])
    mixed = {name: rng.choice(beliefs).answers.get(name, said) for name, said in right.answers.items()}
    return [right, *beliefs, Attempt({**beliefs[0].answers, part: nonsense}), Attempt(mixed)]


def told(report):
    return report.marks, report.verdicts, report.events, report.notices


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("mechanism", ["attention", "layer_norm"])
def test_marks_are_the_same_whatever_was_marked_before(mechanism, monkeypatch):
    q, rng = drawn(mechanism), Random(mechanism)
    attempts = scripts(q, rng)
    alone = []
    for attempt in attempts:
        monkeypatch.setattr(marker_script, "KEYS", {})
        alone.append(told(mark(q, attempt)))
    rng.shuffle(order := list(range(len(attempts))))
    for k in (*order, *order):
        assert told(mark(q, attempts[k])) == alone[k]


def test_no_more_is_kept_than_that(monkeypatch):
    monkeypatch.setattr(marker_script, "KEYS", {})
    monkeypatch.setattr(marker_script, "MOST_KEYS", 2)
    for mechanism in ("attention", "rms_norm", "feed_forward", "attention"):
        mark(drawn(mechanism), key_script(drawn(mechanism)))
        assert len(marker_script.KEYS) <= 2
    kept = [memory for _, _, memory in marker_script.KEYS.values()]
    monkeypatch.setattr(marker_script, "MOST_KNOWN", 0)
    mark(drawn("attention"), key_script(drawn("attention")))
    assert marker_script.KEYS[id(drawn("attention").problem.derivation)][2] not in kept


SHAPED = ("attention", "layer_norm", "feed_forward_gradient", "multi_head_attention", "kv_cache", "recurrent_network")


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("mechanism", SHAPED)
def test_what_somebody_does_otherwise_depends_on_shapes_alone(mechanism):
    """The same steps, by the same operations on the same operands, whatever numbers are given."""
    problem = drawn(mechanism).problem
    d, places = problem.derivation, []
    givens = {name: m.map(lambda x: x + 1) for name, m in d.givens.items() if isinstance(m, Matrix) and name != "E"}
    for one in (d, d.replay(givens=givens)):
        rows = MatrixwiseDerivation(one).rows
        found = {}
        for id, m in misconceptions().items():
            try:
                steps = (rewritten_everywhere(rows, m.change) or {}).values()
            except (InputError, UndecidedError):
                steps = ()
            found[id] = {step.name: (type(step.op), step.operands) for step in steps}
        places.append(found)
    assert places[0] == places[1]


# ------------------------------------------------------------------------------------------------ the same again


def test_attempts_are_told_apart_by_every_field():
    """A script that says anything else than an earlier one has a report of its own."""
    said = {"Q": grid([["1", "2"]]), "b": Text("two")}
    attempt = Attempt(said)
    doubt, remark = Doubt("It may be Z."), Remark("Q", "It is unsure.")
    others = {
        "answers": [{}, {**said, "b": Text("two", 1)}, {"Q": grid([["1", "3"]]), "b": said["b"]}, {"Q": said["Q"]}],
        "more": [{"Q": said["Q"]}],
        "methods": [frozenset("Q")],
        "remarks": [(remark,), (remark, remark), (Remark("Q", "It is unsure.", "^"),)],
        "worked": [frozenset("Q")],
        "unread": [frozenset("Q")],
        "shapes": [{"Q": (1, 2)}],
        "doubts": [{"Q": doubt}, {"Q": replace(doubt, of_two=True)}],
    }
    assert [field.name for field in fields(Attempt)] == [*others]
    keys = [replace(attempt, **{name: value}).key for name, values in others.items() for value in values]
    assert len({attempt.key, *keys}) == 1 + len(keys)
    assert Attempt(dict(said)).key == attempt.key


def test_the_same_work_has_the_same_row():
    """Marked after somebody who wrote the same, or the same but for an entry, as if marked alone."""
    known = papers("note-002")
    [sheet] = known.papers
    answers = key_script(*known.questions(sheet)).answers
    right = {part: [[entry.text for entry in row] for row in said.rows] for part, said in answers.items()}
    wrong, other = ({**right, "Z": [[number, *right["Z"][0][1:]], *right["Z"][1:]]} for number in ("97", "98"))
    settings = {
        "source": "note-002", "hash": known.hash, "terms": Terms(POLICIES["ecf"]).json(), "forms": [],
        "look": {}, "typesetting": {}, "readers": ["student"],
    }  # fmt: skip
    row = record([Row(1, "Ann", "1", sheet, "a.json")])
    jobs = [
        {"record": row, "stem": "a", "zipped": None, "settled": {}, "data": json.dumps({"answers": one}).encode()}
        for one in (right, wrong, other, {"Z": right["Z"]})
    ]
    alone = [marked(settings)(job) for job in jobs]
    together = marked(settings)
    rows = [row for one in alone for row in one["record"]["rows"]]
    assert {row["status"] for row in rows} == {"marked"}
    assert [together(job) for job in (*jobs, *jobs)] == [*alone, *alone]
    assert len({json.dumps(row["results"]) for row in rows}) == len(jobs)
