"""What is kept from one script to the next, and what is asked of shapes alone, changes nothing."""

from random import Random

import pytest
from scripts import drawn, key_script, laid, legible, pages, script

from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, rewritten_everywhere
from symattn.errors import InputError, UndecidedError
from symattn.exact import Matrix
from symattn.marking.attempt import Attempt, Grid
from symattn.marking.marker import mark
from symattn.marking.marker import script as marker_script
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
