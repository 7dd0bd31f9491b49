"""`--expanded` where sizes are letters: what is printed of any entry, worked out from the givens, is that entry."""

import math
from functools import cache
from random import Random

import oracles
import printed_lines
import pytest
from sympy import Symbol
from test_letters import SETTINGS, SIZES, in_letters_of

import symattn
from symattn.derivation.algebra import size_in_sympy
from symattn.derivation.mechanisms import mechanisms
from symattn.exact import Outline
from symattn.formula import (
    ZERO,
    BigSum,
    Bracketed,
    Call,
    Dots,
    ListOf,
    Name,
    Relation,
    children,
    contains,
    parts_of,
    rebuilt,
)
from symattn.formula.width import width
from symattn.page.document import Display
from symattn.page.notation import load_notation
from symattn.teaching.explanation.steps import BY_NAME, Detail, explain_step
from symattn.teaching.explanation.wording import LINE, Wording, any_place


class Reader:
    """Works formulas out in floating point, in the way that a reader does: letters for indices, names for matrices."""

    def __init__(self, wording, matrices, sizes):
        self.sizes = sizes
        self.named = {}
        for name, rows in matrices.items():
            pattern = wording.entry(name, "i", "j")
            self.named.setdefault(first_letter(pattern), []).append((pattern, rows))
        masked = next((rows for name, rows in matrices.items() if name.startswith("M")), [[0.0]])
        self.turned = wording.orientation == "columns"
        self.seen_after = abs(len(masked[0]) - len(masked))
        """A causal mask lets the last query see every key."""

    def value(self, node, env):
        return float(printed_lines.value(node, lambda part: self.known(part, env)))

    def known(self, node, env):
        """What has a value by its letters: an entry, a size, an index, a sum over one."""
        value = self.value
        if as_typed(node) in self.sizes:  # d_k, where an entry may be d_i
            return self.sizes[as_typed(node)]
        if (known := self.entry(node, env)) is not None:
            return known
        match node:
            case BigSum(Name(letter), lower, upper, body):
                first, last = (round(value(bound, env)) for bound in (lower, upper))
                return sum(value(body, {**env, letter: k}) for k in range(first, last + 1))
            case Bracketed(Relation((x, y), (">",)), "["):
                return float(value(x, env) > value(y, env))
            case Bracketed(body, "|"):
                return abs(value(body, env))
            case Call(Name("max", (Name(letter),)), (body,)):
                return max(value(body, {**env, letter: k + 1}) for k in range(self.sizes["d_h"]))
            case Name("δ", (i, j)):
                return float(value(i, env) == value(j, env))
            case Name("mask", (i, j)):
                after = (value(i, env) - value(j, env)) if self.turned else (value(j, env) - value(i, env))
                return 0 if after <= self.seen_after else -math.inf
            case Name(letter, ()) if letter not in "eπ":
                return env.get(letter, 0.25)  # an index, or the ratio of the slopes
        return None

    def entry(self, node, env):
        """The number of an entry that is written by its name."""
        for pattern, rows in self.named.get(first_letter(node), ()):
            place = {}
            if self.fits(pattern, node, place, env):
                i, j = place.get("i", 1), place.get("j", 1)
                if i <= len(rows) and j <= len(rows[0]):  # the rows of a cache are called as those of the keys
                    return rows[i - 1][j - 1]
        return None

    def fits(self, pattern, node, place, env):
        """Whether a formula is the pattern with indices in place of i and j, which are added to `place`."""
        if pattern in (Name("i"), Name("j")):
            place[pattern.base] = round(self.value(node, env))
            return True
        if type(pattern) is not type(node):
            return False
        ours, theirs = children(pattern), children(node)
        alike = len(ours) == len(theirs) and skeleton(pattern) == skeleton(node)
        return alike and all(self.fits(x, y, place, env) for x, y in zip(ours, theirs, strict=True))


@cache
def skeleton(node):
    """The node with nothing inside."""
    return rebuilt(node, lambda _: ZERO)


def first_letter(node):
    """The letter of an entry that is written by its name: σ of σ²_i."""
    names = (part for part in parts_of(node) if isinstance(part, Name))
    return next((name.base for name in names), "")


def as_typed(node):
    """A name with its index as it is typed: d_k."""
    return "_".join(part.base for part in parts_of(node) if isinstance(part, Name)) if isinstance(node, Name) else ""


def in_numbers(letters, settings):
    """Every matrix of the mechanism for random givens, worked out in numbers."""
    name = letters.problem.mechanism
    rng, sizes = Random(name), {letter: SIZES[letter] for letter in mechanisms()[name].letters}
    numbers = {Symbol(letter, integer=True, positive=True): size for letter, size in sizes.items()}
    givens = {}
    for one, given in letters.givens.items():
        rows, columns = (int(size_in_sympy(size).subs(numbers)) for size in given.shape)
        drawn = [[rng.choice((-2, -1, 1, 2, 3)) for _ in range(columns)] for _ in range(rows)]
        givens[one] = [[f"{x}/4" for x in row] for row in drawn]
        if one[0] in "AT":  # those of a query sum to 1: weights, targets
            turned = settings.get("orientation") == "columns"
            wide, lines = (rows, columns) if turned else (columns, rows)
            weights = [[f"1/{wide + 1}"] * (wide - 1) + [f"2/{wide + 1}"] for _ in range(lines)]
            givens[one] = [list(line) for line in zip(*weights, strict=True)] if turned else weights
    stated = {key: value.replace(":r", ":1/4") if isinstance(value, str) else value for key, value in settings.items()}
    solution = symattn.derive(name, **givens, **stated, arithmetic="decimal")
    matrices = {**solution.givens, **{step.name: step.result for step in solution}}
    return {one: oracles.floats(rows).tolist() for one, rows in matrices.items()}, sizes


def printed(expanded, wording):
    """The working of any entry of every step that is written out, as it stands on the page."""
    found = {}
    for step in expanded:
        if not isinstance(step.result, Outline):
            continue
        entry = wording.entry(step.name, *any_place(step))
        for block in explain_step(step, wording, Detail()):
            lines = block.lines if isinstance(block, Display) else ()
            shown = [line.parts[1] for line in lines if isinstance(line, Relation) and line.parts[0] == entry]
            found.update(zip([step.name] * len(shown), shown, strict=True))
    return found


CASES = [
    pytest.param(name, settings, ("standard", "columns")[k % 2], marks=[pytest.mark.slow] * (name == "encoder_block"))
    for k, (name, settings) in enumerate(SETTINGS)
]
"""In either notation each operation is somewhere."""


@pytest.mark.covering(most=3)
@pytest.mark.parametrize(("name", "settings", "notation"), CASES)
def test_what_is_printed_of_an_entry_is_that_entry_and_has_room(name, settings, notation):
    more = {"orientation": "columns"} if notation == "columns" else {}
    letters = in_letters_of(name, settings | more)
    expanded = letters.expanded()
    wording = Wording(expanded.derivation, load_notation(notation))
    matrices, sizes = in_numbers(letters, settings | more)
    reader = Reader(wording, matrices, sizes)
    for one, working in printed(expanded, wording).items():
        assert width(working) <= max(LINE, width(wording.working(expanded[one], *any_place(expanded[one])))), one
        if contains(working, Dots, ListOf):
            continue  # "…" stands for any head, and a pair of columns has two entries
        rows = matrices[one]
        for i, j in ((1, 1), (len(rows), len(rows[0]))):
            assert reader.value(working, {"i": i, "j": j}) == pytest.approx(rows[i - 1][j - 1]), (one, i, j)


@pytest.mark.parametrize(("name", "times"), [("encoder_block", 1), ("self_attention", 0)])
def test_that_steps_stand_by_their_names_is_told_once(name, times):
    page = " ".join(str(symattn.derive(name, symbolic=True).expanded()).split())
    assert page.count(str(BY_NAME)) == times
