"""Questions of every kind, and what nobody should write for them: whatever is handed in must come out marked."""

from dataclasses import replace
from functools import cache

from scripts import key_of, key_script, spoilt

import symattn
from symattn.derivation.mechanisms import mechanisms
from symattn.exact import Matrix, exact, has_symbols
from symattn.foundation.dice import Dice
from symattn.marking.attempt import Attempt, Entry, Grid, Grids, Ordered, Shaded, Shaped, Text, Ticked, Unreadable
from symattn.marking.submissions.entries import entry
from symattn.teaching.examples import examples
from symattn.teaching.pool import pool
from symattn.teaching.problems import drawn_types, problem_types

# ------------------------------------------------------------------------------------------------ questions

LAYOUTS = {
    "tokens as rows": {},
    "tokens as columns": {"settings": {"orientation": "columns"}},
    "token by token": {"settings": {"by": "token"}},
    "token by token, columns": {"settings": {"by": "token", "orientation": "columns"}},
    "scores in a column": {"settings": {"by": "token", "scores": "column"}},
    "causal": {"settings": {"mask": "causal"}},
    "decimals": {"exact": False, "places": 3},
    "decimals, token by token": {"exact": False, "places": 2, "settings": {"by": "token"}},
    "powers of two": {"softmax": "base 2"},
}
"""Ways in which the same derivation is asked for."""

PROBLEMS = {
    **{f"type {name}": {"type": name} for name in drawn_types()},
    **{f"type {chosen.name}, {what}": {"type": chosen.name, "options": {"what": what}}
       for chosen in problem_types().values() for what in chosen.presets},
    **{f"mechanism {name}": {"mechanism": name} for name in mechanisms()},
    **{f"self-attention, {name}": {"mechanism": "self_attention", **said} for name, said in LAYOUTS.items()},
}  # fmt: skip
SYMBOLIC = ("note-000", "note-002")
NAMES = (*PROBLEMS, *(f"example {name}" for name in examples()), *(f"symbolic {name}" for name in SYMBOLIC))
QUICK = [
    name for name in NAMES
    if name in ("example note-000", "example note-004") or (name.startswith("type ") and "," not in name)
]  # fmt: skip
"""One of each type, and what has symbols."""
FEW = [name for k, name in enumerate(NAMES) if name in QUICK or k % 4 == 0]
"""These, and every fourth of the mechanisms, presets, layouts and examples, whose keys the catalogue marks anyhow."""


@cache
def question(name, seed):
    """A question by its name; what is drawn differs by seed."""
    kind, _, source = name.partition(" ")
    if kind in ("example", "symbolic"):
        return symattn.derive(source, symbolic=kind == "symbolic").worksheet().question
    said = dict(PROBLEMS[name])
    return next(pool(problem_types()[said.pop("type", "full")].spec(said), Dice.seeded(seed)))


# ------------------------------------------------------------------------------------------------ what is handed in

TEXTS = (
    "", "0", "1", "-1", "17", "0.5", "0.333", "33 %", "1/2e", "??", "-inf", "inf", "-∞", "1/0", "0/0", "10^400",
    "1e999", "9" * 60, "-1999", "2001", "e^1999", "e^(10^9)", "e^(e^2)", "2^0.8165", "sqrt(-1)", "sqrt(2)", "√3/3",
    "ln(0)", "ln 2", "sin(1)", "1/3", "e/(1+e)", "1/(e-e)", "x", "q_1", "a + b", "1 | 2", "0,25", "1.000000001",
    "ln(2) + ln(3) - ln(6)", "(2^(1/3) - 1)^(1/3) - (1/9)^(1/3) + (2/9)^(1/3) - (4/9)^(1/3)",
)  # fmt: skip
"""The last is 0, as Ramanujan found, and nothing here proves it."""

LETTERS = ("x", "2a + b", "q_1 k_1/sqrt(d)", "e^x/(e^x + 1)", "v_1", "x/(x - x)", "1/x")


def written(rng):
    """Any entry at all."""
    return entry(rng.choice(LETTERS), symbols=True) if rng.random() < 0.15 else entry(rng.choice(TEXTS))


def any_grid(rng, rows, columns):
    return Grid(tuple(tuple(written(rng) for _ in range(columns)) for _ in range(rows)))


def other_said(rng):
    """An answer of any kind, whatever was asked."""
    made = any_grid(rng, rng.randrange(1, 5), rng.randrange(1, 5))
    said = [
        made, written(rng), Grids({"S": made, "?": made}), Grids({}), Ticked(frozenset()), Ticked(frozenset({0, 25})),
        Shaded(frozenset()), Shaded(frozenset({(40, 40)})), Shaped(None), Shaped((0, 0)), Shaped(("n", "?")),
        Ordered(()), Ordered((("a", "b"), ("zzz",))), Text(""), Text("x" * 300), Text("so", 99),
        Unreadable("<b>", "It cannot be read."),
    ]  # fmt: skip
    return rng.choice(said)


def _has_symbols(asked):
    given = asked.problem.derivation.givens.values() if asked.problem else ()
    return any(has_symbols(x) for matrix in given if isinstance(matrix, Matrix) for x in matrix)


def in_symbols(asked):
    """The key of a derivation in symbols, some of which nobody can type (w^Q_{11})."""
    read = entry("x", symbols=True).reading
    answers = {
        name: Grid(tuple(tuple(Entry(str(x), read, None if x is None else exact(x)) for x in row) for row in rows))
        for name, rows in key_of(asked).items()
    }
    return Attempt(answers)


def key(asked):
    """Everything right, and a person has seen the reasons."""
    right = in_symbols(asked) if _has_symbols(asked) else key_script(asked)
    return replace(right, methods=frozenset(part.name for part in asked.parts))


def attempt(asked, rng):
    """A spoilt script: answers left out, changed, of another kind, exchanged, or given for what was not asked."""
    answers = dict(in_symbols(asked).answers if _has_symbols(asked) else spoilt(asked, rng).answers)
    answers |= {name: other_said(rng) for name in [*answers, "?"] if rng.random() < 0.2}
    if len(answers) > 1:
        one, other = rng.sample(sorted(answers), 2)
        answers[one], answers[other] = answers[other], answers[one]
    steps = [step.name for step in asked.problem.steps] if asked.problem else []
    more = {name: any_grid(rng, 3, 3) for name in (*steps, "?") if rng.random() < 0.1}
    return Attempt(answers, more, frozenset(part.name for part in asked.parts if rng.random() < 0.1))
