"""What the marker calls mistakes that were planted: every mechanism, every misconception, slips of every kind.

    python tests/bench/diagnosis.py [--only MECHANISM …] [--beliefs N] [--slips 40] [--parts 6] [--seed 1] [--list]

With `--beliefs 10 --slips 12 --parts 0` all mechanisms take two minutes.  Planted are each misconception that can be
seen, in full; some that hold in one row or column only, or in all but one; and slips in single entries.  The slips come
from SymPy's own tree of an entry, and from what pens do to digits, not from the catalogue.  Whoever made one goes on
rightly from it.  A mistake is named if it is one event and what was planted is among its explanations, or a
misconception that would have the same in every box.
"""

import argparse
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random

import sympy

from symattn.api import make_recipe
from symattn.derivation.algebra import IN_SYMPY, Entries
from symattn.derivation.derivation import Derivation, RuleOp
from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.misconceptions.base import followed
from symattn.exact import NEGATIVE_INFINITY, Matrix, decide, decimal_text, from_sympy, to_sympy
from symattn.exact.reading import typed
from symattn.exact.values import is_symbolic
from symattn.marking.marker import mark
from symattn.marking.marker.report import Report
from symattn.marking.trial import script, value_of
from symattn.teaching.sheets import sheets

PLACES = 4
SLIPS = {
    "sign of the result": {"A1", "A13"},
    "sign of a term": {"A1", "A13"},
    "term dropped": {"A2"},
    "term doubled": {"A3"},
    "factor dropped": {"A2", "A16"},
    "divisor dropped": {"A2", "A16"},
    "square forgotten": {"A16"},
    "added for multiplied": {"A5"},
    "wrong index": {"A6", "A7"},
    "neighbour copied": {"A6"},
    "upside down": {"A17"},
    "off by one": {"A10", "A4"},
    "digits swapped": {"A8"},
    "decimal point": {"A15"},
    "entries swapped": {"A18"},
}
"""Kinds of slips, and which of the catalogue they are."""
DECIMAL = ("digits swapped", "decimal point")


@dataclass(frozen=True)
class Planted:
    """A wrong derivation, and what it is called: one of `ids`."""

    group: str  # misconception, partly, slip
    kind: str
    step: str
    ids: frozenset[str]
    wrong: Derivation
    decimals: bool = False
    where: str = ""


@cache
def asked(name):
    """The question about a mechanism, its derivation, and the steps that are asked for.

    After the mechanism settings, sizes and a seed may be stated: "attention mask=causal+window:2 n=5 seed=8".
    """
    chosen, *stated = name.split()
    settings = dict(setting.split("=", 1) for setting in stated)
    seed = int(settings.pop("seed", 7))
    sizes = {letter: int(settings.pop(letter)) for letter in mechanism(chosen).letters if letter in settings}
    [sheet] = sheets(make_recipe(chosen, settings, seed=seed, sizes=sizes or None), 1)
    return sheet.question, sheet.problem.derivation, tuple(step.name for step in sheet.problem.asked_steps)


# ------------------------------------------------------------------------------------------------ misconceptions


def beliefs(name):
    """Every misconception that can be carried through and is seen in a box."""
    _, d, steps = asked(name)
    for wrong in replayed(d):
        if not wrong.stopped and any(not same(value_of(wrong.derivation, s), value_of(d, s)) for s in steps):
            id = wrong.misconception.id
            decimals = any(foreign(wrong.derivation, d, s) for s in steps)
            yield Planted("misconception", id, wrong.first or "", frozenset({id}), wrong.derivation, decimals)


def foreign(wrong, right, step):
    """Whether a step has numbers such as sin 90 rad and should have none: these are written in decimals."""
    values, own = value_of(wrong, step), value_of(right, step)
    return values is not None and any(map(is_symbolic, values)) and not any(map(is_symbolic, own or ()))


def in_part(name, rng):
    """Misconceptions that hold in one row or column of the first line that they spoil, or in all but one."""
    _, d, steps = asked(name)
    for wrong in replayed(d):
        first, id = wrong.first, wrong.misconception.id
        if wrong.stopped or first not in steps or first not in wrong.derivation:
            continue
        right, spoilt = d.value(first), wrong.derivation.value(first)
        if right.shape != spoilt.shape or any(x is NEGATIVE_INFINITY for x in right):
            continue
        for upright in (True, False):
            a, b = (m if upright else m.T for m in (right, spoilt))
            differing = [k for k in range(a.shape[0]) if not same(a.row(k), b.row(k))]
            if len(differing) < 2 or a.shape[1] < 2:
                continue
            one = rng.choice(differing)
            lines = [one] if rng.random() < 0.5 else [k for k in differing if k != one]
            mixed = Matrix.of(b.rows[k] if k in lines else a.rows[k] for k in range(a.shape[0]))
            mixed = mixed if upright else mixed.T
            if sum(1 for x, y in zip(mixed, right, strict=True) if decide(x, y).equal is False) < 2:
                continue
            kind = f"{'row' if upright else 'column'}, {'one' if len(lines) == 1 else 'all but one'}"
            if (after := gone_on(d, first, mixed)) is not None:
                yield Planted("partly", kind, first, frozenset({id}), after, where=id)


# ------------------------------------------------------------------------------------------------ slips


def slips(name, rng):
    """A slip of each kind in each step, in an entry chosen at random, in random order."""
    _, d, steps = asked(name)
    places = [(step, kind) for step in d if step.name in steps for kind in SLIPS]
    rng.shuffle(places)
    for step, kind in places:
        cells = [(i, j) for i in range(step.result.shape[0]) for j in range(step.result.shape[1])]
        rng.shuffle(cells)
        for i, j in cells[:3]:
            found = None if step.result[i, j] is NEGATIVE_INFINITY else list(made(d, step, i, j, kind))
            if found and (planted := spoilt_by(d, step, i, j, kind, rng.choice(found), rng)):
                yield planted
                break


def spoilt_by(d, step, i, j, kind, value, rng):
    rows = [list(row) for row in step.result.rows]
    right = rows[i][j]
    rational = isinstance(value, int | Fraction) and value.denominator < 10**6
    decimals = kind in DECIMAL or not rational or rng.random() < 0.4
    if kind in DECIMAL:
        value = Fraction(decimal_text(value, PLACES))
    unit = Fraction(2, 10**PLACES) if decimals else 0
    if abs(float(to_sympy(value)) - float(to_sympy(right))) <= unit:
        return None
    if kind == "entries swapped":
        other = (j + 1) % len(rows[i])
        if rows[i][other] is NEGATIVE_INFINITY or decide(rows[i][other], right).equal is not False:
            return None
        rows[i][other] = right
    rows[i][j] = value
    after = gone_on(d, step.name, Matrix.of(rows))
    if after is None:
        return None
    return Planted("slip", kind, step.name, frozenset(SLIPS[kind]), after, decimals, f"({i + 1}, {j + 1})")


def made(d, step, i, j, kind):
    """The values that a slip of this kind makes of an entry."""
    right, row = step.result[i, j], step.result.rows[i]
    match kind:
        case "sign of the result":
            yield -right
        case "neighbour copied":
            beside = [row[k] for k in range(len(row)) if k != j]
            beside += [step.result[k, j] for k in range(step.result.shape[0]) if k != i]
            yield from (x for x in beside if x is not NEGATIVE_INFINITY)
        case "entries swapped":
            if len(row) > 1 and row[(j + 1) % len(row)] is not NEGATIVE_INFINITY:
                yield row[(j + 1) % len(row)]
        case "upside down":
            if isinstance(right, Fraction) and right.numerator not in (1, -1):
                yield 1 / right
        case "off by one":
            if isinstance(right, int):
                yield from (right + 1, right - 1)
        case "digits swapped":
            text = decimal_text(right, PLACES)
            for k in range(len(text) - 1):
                if text[k : k + 2].isdigit() and text[k] != text[k + 1] and (k or text[1] != "0"):
                    yield Fraction(text[:k] + text[k + 1] + text[k] + text[k + 2 :])
        case "decimal point":
            if not isinstance(right, int):
                yield from (Fraction(decimal_text(right, PLACES)) * f for f in (10, Fraction(1, 10)))
        case _:
            yield from by_the_rule(d, step, i, j, kind)


def by_the_rule(d, step, i, j, kind):
    if not isinstance(step.op, RuleOp):
        return
    matrices = d.operands(step)
    if any(isinstance(x, float) for m in matrices for x in m):
        return
    values = {}
    seen = []
    for k, m in enumerate(matrices):

        def entry(r, c, k=k, m=m):
            if m[r, c] is NEGATIVE_INFINITY:
                return -sympy.oo
            symbol = sympy.Symbol(f"m{k}_{r}_{c}", real=True)
            values[symbol] = m[r, c]
            return symbol

        seen.append(Entries(m.shape, entry))
    try:
        with sympy.evaluate(False):  # 1/3·(a + b) stays as it is
            expression = step.op.rule(IN_SYMPY, i, j, *seen)
    except (TypeError, ValueError, AttributeError):
        expression = step.op.rule(IN_SYMPY, i, j, *seen)
    if expression.has(sympy.Max, sympy.Min, sympy.Heaviside):  # functions by parts are not written so
        return
    for m, view in zip(matrices, seen, strict=True):  # neighbours have symbols, too
        for r in range(m.shape[0]):
            for c in range(m.shape[1]):
                view[r, c]
    for other in sorted(set(changed(expression, kind, values)), key=sympy.default_sort_key):  # whatever hashes are
        if other != expression and (value := evaluated(other, values)) is not None:
            yield value


def changed(node, kind, values):
    """The expression with one sub-term of it changed, in every place where that can be done."""
    args = node.args
    rest = [args[:k] + args[k + 1 :] for k in range(len(args))]
    if node.is_Add and node.free_symbols:
        for x, others in zip(args, rest, strict=True):
            match kind:
                case "term dropped":
                    yield node.func(*others)
                case "term doubled":
                    yield node + x
                case "sign of a term":
                    yield node - 2 * x
    elif node.is_Mul:
        for x, others in zip(args, rest, strict=True):
            unit = x.is_Rational and abs(x.p) == 1 and x.q > 1
            below = unit or (x.is_Pow and x.exp.is_negative)
            others = node.func(*others)
            if kind == ("divisor dropped" if below else "factor dropped") and others.free_symbols and x != -1:
                yield others
            if kind == "sign of a term" and x == -1:
                yield others
        if kind == "added for multiplied" and len(args) == 2 and all(x.is_Symbol for x in args):
            yield sympy.Add(*args)
    elif node.is_Pow and kind == "square forgotten" and abs(node.exp) == 2:
        yield node.base ** (node.exp / 2)
    elif node.is_Symbol and kind == "wrong index":
        m, r, c = (int(part.lstrip("m")) for part in node.name.split("_"))
        for near in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            symbol = sympy.Symbol(f"m{m}_{near[0]}_{near[1]}", real=True)
            if symbol in values:
                yield symbol
    for k, x in enumerate(args):
        for other in changed(x, kind, values):
            yield node.func(*args[:k], other, *args[k + 1 :])


def evaluated(expression, values):
    """Exactly where everything is rational, else with 30 digits; None where it is not defined."""
    number = expression.subs({s: to_sympy(x) for s, x in values.items() if s in expression.free_symbols})
    if number.is_Rational:
        return from_sympy(number)
    near = number.evalf(20)
    if not near.is_Float or not near.is_finite:
        return None
    return Fraction(str(near))


def gone_on(d, step, value):
    """What somebody hands in who has this for a step, and goes on rightly."""
    after, failed = followed(d, {step: replace(d[step], result=value, pinned=True)})
    return after if failed is None else None


def same(a, b):
    if a is None or b is None or a.shape != b.shape:
        return a is b
    return all(decide(x, y).equal is not False for x, y in zip(a, b, strict=True))


# ------------------------------------------------------------------------------------------------ what comes of them


@dataclass(frozen=True)
class Outcome:
    mechanism: str
    planted: Planted
    report: Report
    seconds: float

    @property
    def one(self):
        return len(self.report.events) <= 1

    @property
    def named(self):
        ids = {c.id for e in self.report.events for c in e.candidates}
        by_last_resort = self.planted.kind == "off by one" and bool(ids)  # named only where nothing else fits
        return self.one and (bool(ids & self.planted.ids) or by_last_resort or self.collides(ids))

    def collides(self, ids):
        """Whether a misconception that is named would have the same in every box."""
        _, d, steps = asked(self.mechanism)
        known = [id for id in ids if id in misconceptions()]
        return any(
            wrong.misconception.id in ids
            and all(same(value_of(wrong.derivation, s), value_of(self.planted.wrong, s)) for s in steps)
            for wrong in replayed(d, known)
        )

    @property
    def explained(self):
        """Whether it has a name at all: another one that gives the same is a name, too."""
        return self.one and all(e.candidates for e in self.report.events)

    @property
    def several(self):
        return not self.one

    def __str__(self):
        events = ", ".join(f"{e.part}: {e.kind} {'/'.join(c.id for c in e.candidates)}" for e in self.report.events)
        p = self.planted
        return f"{self.mechanism}: {p.kind} in {p.step} {p.where} ({'decimals' if p.decimals else 'exact'}): {events}"


def tried(names, slip_count, part_count, seed, belief_count=None):
    """Every planted mistake marked; at most so many slips and misconceptions for each mechanism."""
    for name in names:
        question, d, _ = asked(name)
        mark(question, script(question, d))  # warm
        for planted in few(name, slip_count, part_count, seed, belief_count):
            say = (
                (lambda x: decimal_text(x, PLACES) if not isinstance(x, int) else typed(x))
                if planted.decimals
                else typed
            )
            attempt = script(question, planted.wrong, say)
            start = time.process_time()
            report = mark(question, attempt)
            seconds = time.process_time() - start
            if report.events or planted.group != "slip" or report.total < report.available:
                yield Outcome(name, planted, report, seconds)


def few(name, slip_count, part_count, seed, belief_count=None):
    rng = Random(f"{name} {seed}")
    whole = list(beliefs(name))
    yield from whole if belief_count is None else rng.sample(whole, min(belief_count, len(whole)))
    parts = list(in_part(name, rng)) if part_count else []
    yield from rng.sample(parts, min(part_count, len(parts)))
    for _, planted in zip(range(slip_count), slips(name, rng), strict=False):
        yield planted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(mechanisms()))
    parser.add_argument("--beliefs", type=int, help="misconceptions for each mechanism; all, if it is not said")
    parser.add_argument("--slips", type=int, default=40)
    parser.add_argument("--parts", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="what was not named, script by script")
    options = parser.parse_args()
    outcomes = []
    for name in options.only:
        start = time.process_time()
        outcomes += tried([name], options.slips, options.parts, options.seed, options.beliefs)
        print(f"{name}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    tables = defaultdict(list)
    for o in outcomes:
        for table in ("all", "mechanism", "kind"):
            what = {
                "all": "",
                "mechanism": o.mechanism,
                "kind": "" if o.planted.group == "misconception" else o.planted.kind,
            }
            tables[o.planted.group, f"{table} {what[table]}"].append(o)
    print(f"{'':<58}{'scripts':>8}{'named':>8}{'%':>7}{'explained':>10}{'more than one event':>21}")
    for (group, what), found in sorted(tables.items(), key=lambda item: item[0]):
        named, explained, more = (sum(getattr(o, what) for o in found) for what in ("named", "explained", "several"))
        head = f"{group}: {what}"
        print(f"{head:<58}{len(found):>8}{named:>8}{100 * named / len(found):>7.1f}{explained:>10}{more:>21}")
    for group in ("misconception", "partly", "slip"):
        times = sorted(o.seconds * 1000 for o in outcomes if o.planted.group == group)
        if times:
            print(
                f"{group}: median {times[len(times) // 2]:.0f} ms, 90 % {times[len(times) * 9 // 10]:.0f} ms, "
                f"longest {times[-1]:.0f} ms"
            )
    if options.list:
        for o in outcomes:
            if not o.named:
                print(o)


if __name__ == "__main__":
    main()
