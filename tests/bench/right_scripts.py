"""Right scripts in random styles of rounding: none may be accused; and wrong ones, few of which may pass as rounding.

    python tests/bench/right_scripts.py [-n 2000] [--wrong 10000] [--outputs 300] [--seed 1] [--list 10]

Students work in decimal arithmetic of their own (`tests/marking/students.py`): two to eight places by step, e^x, sums
and roots rounded or not, cut off or not, fractions and decimals mixed, float32 and float64, percent, decimal commas,
scores shifted before the softmax, 1/√d in place of √d, steps left out.

`--outputs` are right scripts with one entry of the output ten units of its last place farther from the key: none may
pass without a word.
"""

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from decimal import Decimal, DivisionByZero, InvalidOperation
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from symattn.api import make_recipe
from symattn.derivation.misconceptions import replayed
from symattn.exact import NEGATIVE_INFINITY
from symattn.exact.rounding import near
from symattn.marking.marker import mark
from symattn.marking.marker.diagnosis import ROUNDING
from symattn.marking.submissions.entries import grid
from symattn.teaching.sheets import sheets
from tests.marking.students import Slip, copied, random_style, right_script, script

SUBJECTS = (
    *["self_attention"] * 4, *["attention"] * 2, *["causal_self_attention"] * 2, "cross_attention",
    "multi_head_attention", "layer_norm", "rms_norm", "attention_gradient",
)  # fmt: skip


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("-n", type=int, default=2000)
    arguments.add_argument("--wrong", type=int, default=0)
    arguments.add_argument("--outputs", type=int, default=0)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--list", type=int, default=10)
    given = arguments.parse_args()
    rng, accused, lost, spent = Random(given.seed), Counter(), Counter(), 0.0
    drawn = {
        name: [sheet.question for sheet in sheets(make_recipe(name, seed=given.seed), 4)] for name in set(SUBJECTS)
    }
    shown = 0
    for k in range(given.n):
        name = rng.choice(SUBJECTS)
        question = rng.choice(drawn[name])
        style = random_style(rng, [part.name for part in question.parts])
        attempt = right_script(question, style)
        started = time.process_time()
        report = mark(question, attempt)
        spent += time.process_time() - started
        if any(event.kind != "rounding" for event in report.events):
            accused[name] += 1
            if shown < given.list:
                shown += 1
                print(f"{k} {name}: {style}")
                for event in report.events:
                    print("   ", event.part, event.kind, [c.id for c in event.candidates], event.entries)
                    for part, i, j in event.entries[:2]:
                        v = report.of(part)[i, j]
                        print("       ", part, i, j, v.written.text, "against", v.compared, v.state)
        elif report.total < report.available:
            lost[name] += 1
    print(f"{given.n} right scripts: accused {sum(accused.values())} {dict(accused)}, other losses {dict(lost)}")
    print(f"{1000 * spent / max(1, given.n):.1f} ms of processor time each")
    wrong(given.wrong, rng, drawn, given.list)
    off_by_ten(given.outputs, Random(given.seed), drawn, given.list)


def wrong(number, rng, drawn, listed):
    """Scripts with one slip or one misconception, gone on with: how many pass as rounding, by kind."""
    planted, passed = Counter(), Counter()
    while planted.total() < number:
        name = rng.choice(SUBJECTS)
        question = rng.choice(drawn[name])
        style = replace(random_style(rng, [part.name for part in question.parts]), machine="")
        attempt = right_script(question, style)
        if rng.random() < 0.4:
            beliefs = beliefs_at(question)
            if not beliefs:
                continue
            belief = rng.choice(beliefs)
            kind = belief.misconception.id
            other = copied(question, belief.derivation, style)
        else:
            kind = rng.choice(list(SLIPS))
            part = rng.choice([part.name for part in question.parts if part.name not in style.left_out])
            rows = attempt.answers[part].shape
            at = rng.randrange(rows[0]), rng.randrange(rows[1])
            try:
                other = script(question, question.problem.derivation, style, Slip(part, at, SLIPS[kind]))
            except (TypeError, InvalidOperation, DivisionByZero):
                continue
        if texts(other) == texts(attempt):
            continue
        planted[kind] += 1
        report = mark(question, other)
        wrongly = [event for event in report.events if event.kind != "rounding"]
        if kind not in ROUNDING and not wrongly and not any(v.state in ("wrong", "missing") for v in report.verdicts):
            passed[kind] += 1
            if passed.total() <= listed:
                print(f"passes: {kind} in {name}: {style}")
                for part, rows in texts(other).items():
                    if rows != texts(attempt).get(part):
                        print("     ", part, rows, "instead of", texts(attempt).get(part))
                        break
    share = 100 * passed.total() / max(1, planted.total())
    print(f"{planted.total()} wrong scripts: {passed.total()} pass ({share:.2f} %)")
    for kind, many in planted.most_common():
        print(f"  {kind:20} {passed[kind]:4} of {many}")


def off_by_ten(number, rng, drawn, listed):
    """Right scripts with an output ten units of its last place farther from the key: how many pass without a word.

    Where all lines have as many places, and where every line has its own: there an output of more places than the
    weights have may by chance be what follows from them as they are written, which is right.
    """
    for kind in ("places throughout", "places by line"):
        told = Counter()
        while told.total() < number:
            question = rng.choice(drawn[rng.choice(SUBJECTS)])
            style = replace(random_style(rng, [part.name for part in question.parts]), machine="")
            if (len(set(style.written.values())) == 1) != (kind == "places throughout"):
                continue
            attempt, final = right_script(question, style), question.parts[-1].name
            rows = texts(attempt)[final]
            at = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
            key = question.problem.derivation[question.parts[-1].answer.step].result[at]
            if (other := ten_units_off(rows, at, float(key), "," if style.comma else ".")) is None:
                continue
            report = mark(question, replace(attempt, answers={**attempt.answers, final: other}))
            verdict = report.of(final)[at]
            follows = verdict.accepted and verdict.way != "window"
            how = "told" if not verdict.accepted or "rounded" in verdict.flags else "right" if follows else "silent"
            told[how] += 1
            if how != "told" and told.total() - told["told"] <= listed:
                print(f"{how}: {verdict.written.text} for {rows[at[0]][at[1]]} in {final} {at}: {style}")
        print(f"{told.total()} outputs ten units off, {kind}: {dict(told)}")


def ten_units_off(rows, at, key, point):
    """The matrix with one decimal ten units of its last place farther from the key; none where no decimal is there."""
    typed = rows[at[0]][at[1]].replace(",", ".")
    if "." not in typed or "/" in typed or "%" in typed:
        return None
    x = Decimal(typed)
    off = x + Decimal((int(x < key), (1, 0), x.as_tuple().exponent))
    other = [list(row) for row in rows]
    other[at[0]][at[1]] = f"{off:f}".replace(".", point)
    return grid(other, point)


def differs(question, belief):
    """Whether a belief changes an entry by more than rounding does: one row alone may be the same either way."""
    right = question.problem.derivation
    return any(
        abs(near(x) - near(y)) > 0.02
        for step in right
        if step.name in belief.derivation and belief.derivation[step.name].result.shape == step.result.shape
        for x, y in zip(belief.derivation[step.name].result, step.result, strict=True)
        if x is not NEGATIVE_INFINITY and y is not NEGATIVE_INFINITY
    )


def beliefs_at(question):
    """The misconceptions that can be carried through."""
    if id(question) not in BELIEFS:
        BELIEFS[id(question)] = [
            wrong for wrong in replayed(question.problem.derivation) if not wrong.stopped and differs(question, wrong)
        ]
    return BELIEFS[id(question)]


BELIEFS = {}


def texts(attempt):
    return {part: [[e.text for e in row] for row in grid.rows] for part, grid in attempt.answers.items()}


def swapped_digits(x):
    digits = f"{x:.4f}"
    if digits[-3] == digits[-4]:
        raise InvalidOperation("nothing to swap")
    return Decimal(digits[:-4] + digits[-3] + digits[-4] + digits[-2:])


SLIPS = {
    "sign": lambda x: -x,
    "one more": lambda x: x + 1,
    "one less": lambda x: x - 1,
    "doubled": lambda x: 2 * x,
    "halved": lambda x: x / 2,
    "point": lambda x: x / 10,
    "swapped digits": swapped_digits,
    "tenth off": lambda x: x + Decimal("0.1"),
}


if __name__ == "__main__":
    main()
