"""Several heads: names, one event for a belief held in all of them, other ways of working in one alone.

Scripts are worked out here, in SymPy, head by head, with one line of a head done otherwise.
"""

import pytest
import sympy
from scripts import ids, key_script, laid, marked, mistakes, script, with_entry
from tables import tables_beside

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.marking.attempt import Attempt
from symattn.marking.submissions.entries import entry
from symattn.marking.submissions.names import Names
from symattn.page.notation import load_notation
from symattn.teaching.derivation_question import question as full_question
from symattn.teaching.problem import Problem

TABLES = tables_beside(__file__)
GIVENS = TABLES["givens"]


def question(**chosen):
    settings = {"heads": 2, **chosen}
    given = {
        k: list(zip(*m, strict=True)) if settings.get("orientation") == "columns" else m for k, m in GIVENS.items()
    }
    d = mechanism("multi_head_attention").run(given, Settings.read(settings))
    notation = load_notation("columns" if d.orientation == "columns" else "standard")
    asked = tuple(step.name for step in d if step.name not in ("Q_1", "K_1", "V_1", "Q_2", "K_2", "V_2"))
    return full_question(Problem("Two heads", "", d, notation, asked), {})


# ------------------------------------------------------------------------------------------------ the witness


def softmax(scores):
    powers = scores.applyfunc(sympy.exp)
    return sympy.Matrix(*scores.shape, lambda i, j: powers[i, j] / sum(powers[i, :]))


def hidden_later(scores):
    return sympy.Matrix(*scores.shape, lambda i, j: scores[i, j] if j <= i else -sympy.oo)


RIGHT = {
    "S": lambda q, k: q * k.T,
    "S'": lambda s: s / sympy.sqrt(2),
    "M": hidden_later,
    "A": softmax,
    "Z": lambda a, v: a * v,
}
WRONG = {
    "T2": {"S": lambda q, k: k * q.T},
    "C1": {"S'": lambda s: s},
    "C4": {"S'": lambda s: s * sympy.sqrt(2)},
    "X1": {"A": lambda s: softmax(s.T).T},
    "X6": {"A": lambda s: s.applyfunc(sympy.exp)},
    "O1": {"Z": lambda a, v: a.T * v},
}
ON_THE_WAY = {
    "scaled at once": {"S": lambda q, k: q * k.T / sympy.sqrt(2), "S'": lambda s: s},
    "shifted": {"S'": lambda s: s / sympy.sqrt(2) - 3 * sympy.ones(3, 3)},
    "masked first": {"S'": lambda s: hidden_later(s / sympy.sqrt(2)), "M": lambda s: s},
    "keys in rows": {"S": lambda q, k: k * q.T, "A": lambda s: softmax(s.T).T, "Z": lambda a, v: a.T * v},
}


def written(wrong, causal=False):
    """Every line, with some of a head's lines done otherwise and everything carried on."""
    x, w_q, w_k, w_v, w_o = map(sympy.Matrix, GIVENS.values())
    found = {"Q": x * w_q, "K": x * w_k, "V": x * w_v}
    outputs = []
    for head in (1, 2):
        line = {**RIGHT, **wrong.get(head, {})}
        q, k, v = (found[role][:, 2 * head - 2 : 2 * head] for role in "QKV")
        s = line["S"](q, k)
        scaled = line["S'"](s)
        found |= {f"S_{head}": s, f"S'_{head}": scaled}
        if causal:
            scaled = found[f"M_{head}"] = line["M"](scaled)
        a = line["A"](scaled)
        z = line["Z"](a, v)
        found |= {f"A_{head}": a, f"Z_{head}": z}
        outputs.append(z)
    found["C"] = sympy.Matrix.hstack(*outputs)
    found["O"] = found["C"] * w_o
    return found


def handed_in(q, lines):
    texts = {name: [[text(x) for x in row] for row in m.tolist()] for name, m in lines.items()}
    return script(q, laid(q, texts))


def text(x):
    return "-∞" if x == -sympy.oo else sympy.sstr(x).replace("**", "^")


# ------------------------------------------------------------------------------------------------ right


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize("way", ON_THE_WAY)
@pytest.mark.parametrize("heads", [(1,), (2,), (1, 2)])
def test_another_way_in_one_head_or_in_all(heads, way):
    causal = way == "masked first"
    q = question(mask="causal" if causal else None)
    report = marked(q, handed_in(q, written(dict.fromkeys(heads, ON_THE_WAY[way]), causal)))
    assert not report.events
    assert report.total == report.available
    assert [notice for notice in report.notices if notice.kind == "method"]


def test_all_queries_scaled_at_once():
    """Before they are shared among the heads, whose scores are then scaled already."""
    q = question(orientation="columns")
    scaled = written({head: {"S": lambda q, k: q * k.T / sympy.sqrt(2), "S'": lambda s: s} for head in (1, 2)})
    report = marked(q, handed_in(q, {**scaled, "Q": scaled["Q"] / sympy.sqrt(2)}))
    assert not report.events
    assert report.total == report.available
    assert [n.says for n in report.notices] == ["The queries were scaled instead of the scores."]


# ------------------------------------------------------------------------------------------------ wrong


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize(("heads", "orientation"), [((1,), "rows"), ((2,), "columns"), ((1, 2), "rows")])
@pytest.mark.parametrize("belief", WRONG)
def test_a_belief_is_one_event_in_however_many_heads(belief, heads, orientation):
    q = question(orientation=orientation)
    report = marked(q, handed_in(q, written(dict.fromkeys(heads, WRONG[belief]))))
    [event] = mistakes(report)
    [spoilt] = WRONG[belief]
    assert event.step == f"{spoilt}_{heads[0]}"
    assert belief in ids(event)
    wrong = {verdict.part for verdict in report.verdicts if verdict.state == "wrong"}
    assert wrong == {f"{spoilt}_{head}" for head in heads}


def test_a_slip_in_one_head_spoils_nothing_in_the_other():
    q = question()
    report = marked(q, with_entry(key_script(q), "S_2", 0, 1, entry("9")))
    [event] = mistakes(report)
    assert event.entries == (("S_2", 0, 1),)
    states = {(v.part, v.i): v.state for v in report.verdicts}
    assert {state for (part, _), state in states.items() if part.endswith("_1")} == {"correct"}


def test_heads_left_out_are_implied_by_what_is_put_side_by_side():
    """Two steps at most: the outputs of both heads stand in C."""
    q = question()
    key = key_script(q)
    kept = {part: said for part, said in key.answers.items() if not part.startswith("Z_")}
    report = marked(q, Attempt(kept))
    assert {v.state for v in report.verdicts if v.part.startswith("Z_")} == {"implied"}


# ------------------------------------------------------------------------------------------------ names


def test_what_students_call_the_lines_of_a_head():
    names = Names(question())
    assert {step: [names.find(name) for name in called] for step, called in TABLES["names"].items()} == {
        step: [step] * len(called) for step, called in TABLES["names"].items()
    }
