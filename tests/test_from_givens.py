"""`--expanded` where sizes are letters: what is printed of any entry, worked out from the givens, is that entry."""

import math
from collections.abc import Callable, Mapping
from random import Random

import pytest
from test_letters import SETTINGS, SIZES, in_letters_of

import symattn
from symattn.derivation.mechanisms import mechanisms
from symattn.exact import Outline
from symattn.formula import (
    ZERO,
    BigSum,
    Bracketed,
    Call,
    Dots,
    Formula,
    Fraction,
    ListOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Sum,
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

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "max": max, "ReLU": lambda x: max(0.0, x), "ln": math.log, "tanh": math.tanh, "cos": math.cos, "sin": math.sin,
    "elu": lambda x: x if x > 0 else math.expm1(x), "ReLU'": lambda x: float(x > 0),
}  # fmt: skip


class Reader:
    """Works formulas out in floating point, in the way that a reader does: letters for indices, names for matrices."""

    def __init__(self, wording: Wording, matrices: Mapping[str, list[list[float]]], sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        self.named: dict[str, list[tuple[Formula, list[list[float]]]]] = {}
        for name, rows in matrices.items():
            pattern = wording.entry(name, "i", "j")
            self.named.setdefault(first_letter(pattern), []).append((pattern, rows))
        masked = next((rows for name, rows in matrices.items() if name.startswith("M")), [[0.0]])
        self.turned = wording.orientation == "columns"
        self.seen_after = abs(len(masked[0]) - len(masked))
        """A causal mask lets the last query see every key."""

    def value(self, node: Formula, env: Mapping[str, int]) -> float:
        value = self.value
        if as_typed(node) in self.sizes:  # d_k, where an entry may be d_i
            return self.sizes[as_typed(node)]
        if (known := self.entry(node, env)) is not None:
            return known
        match node:
            case Number(digits):
                return float(digits)
            case Negative(body):
                return -value(body, env)
            case Sum(terms):
                return sum(value(term, env) for term in terms)
            case Product(factors):
                return math.prod(value(factor, env) for factor in factors)
            case Fraction(above, below):
                return value(above, env) / value(below, env)
            case Power(Name("e"), exponent):
                return math.exp(value(exponent, env))
            case Power(base, exponent):
                return value(base, env) ** value(exponent, env)
            case Root(body):
                return math.sqrt(value(body, env))
            case BigSum(Name(letter), lower, upper, body):
                first, last = (round(value(bound, env)) for bound in (lower, upper))
                return sum(value(body, {**env, letter: k}) for k in range(first, last + 1))
            case Bracketed(Relation((x, y), (">",)), "["):
                return float(value(x, env) > value(y, env))
            case Bracketed(body, "|"):
                return abs(value(body, env))
            case Bracketed(body):
                return value(body, env)
            case Call(Name("max", (Name(letter),)), (body,)):
                return max(value(body, {**env, letter: k + 1}) for k in range(self.sizes["d_h"]))
            case Call(Name(function, (), "", primes), arguments):
                return FUNCTIONS[function + "'" * primes](*(value(one, env) for one in arguments))
            case Name("δ", (i, j)):
                return float(value(i, env) == value(j, env))
            case Name("mask", (i, j)):
                after = (value(i, env) - value(j, env)) if self.turned else (value(j, env) - value(i, env))
                return 0 if after <= self.seen_after else -math.inf
            case Name(letter, ()):
                return env.get(letter, 0.25)  # an index, or the ratio of the slopes
        raise TypeError(f"What is {node}?")

    def entry(self, node: Formula, env: Mapping[str, int]) -> float | None:
        """The number of an entry that is written by its name."""
        for pattern, rows in self.named.get(first_letter(node), ()):
            place: dict[str, int] = {}
            if self.fits(pattern, node, place, env):
                i, j = place.get("i", 1), place.get("j", 1)
                if i <= len(rows) and j <= len(rows[0]):  # the rows of a cache are called as those of the keys
                    return rows[i - 1][j - 1]
        return None

    def fits(self, pattern: Formula, node: Formula, place: dict[str, int], env: Mapping[str, int]) -> bool:
        """Whether a formula is the pattern with indices in place of i and j, which are added to `place`."""
        if pattern in (Name("i"), Name("j")):
            place[pattern.base] = round(self.value(node, env))
            return True
        if type(pattern) is not type(node):
            return False
        ours, theirs = children(pattern), children(node)
        alike = len(ours) == len(theirs) and rebuilt(pattern, lambda _: ZERO) == rebuilt(node, lambda _: ZERO)
        return alike and all(self.fits(x, y, place, env) for x, y in zip(ours, theirs, strict=True))


def first_letter(node: Formula) -> str:
    """The letter of an entry that is written by its name: σ of σ²_i."""
    names = (part for part in parts_of(node) if isinstance(part, Name))
    return next((name.base for name in names), "")


def as_typed(node: Formula) -> str:
    """A name with its index as it is typed: d_k."""
    return "_".join(part.base for part in parts_of(node) if isinstance(part, Name)) if isinstance(node, Name) else ""


def in_numbers(name: str, settings: dict[str, str]) -> tuple[dict[str, list[list[float]]], dict[str, int]]:
    """Every matrix of the mechanism for random givens, by SymPy and NumPy; letters in place of a size are sizes."""
    rng, sizes = Random(name), {letter: SIZES[letter] for letter in mechanisms()[name].letters}
    solution = symattn.derive(name, symbolic=True, sizes=sizes, **settings)
    givens = {
        one: [[rng.choice((-2, -1, 1, 2, 3)) / 4 for _ in range(given.shape[1])] for _ in range(given.shape[0])]
        for one, given in solution.givens.items()
    }
    more = {"r": 0.25} if "r" in solution.symbols else {}
    return givens | {one: rows.tolist() for one, rows in solution.lambdify()(**givens, **more).items()}, sizes


def printed(expanded: symattn.Solution, wording: Wording) -> dict[str, Formula]:
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


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("notation", ["standard", "columns"])
@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_what_is_printed_of_an_entry_is_that_entry(name, settings, notation):
    more = {"orientation": "columns"} if notation == "columns" else {}
    expanded = in_letters_of(name, settings | more).expanded()
    wording = Wording(expanded.derivation, load_notation(notation))
    matrices, sizes = in_numbers(name, settings | more)
    reader = Reader(wording, matrices, sizes)
    for one, working in printed(expanded, wording).items():
        if contains(working, Dots, ListOf):
            continue  # "…" stands for any head, and a pair of columns has two entries
        rows = matrices[one]
        for i, j in ((1, 1), (len(rows), len(rows[0]))):
            assert reader.value(working, {"i": i, "j": j}) == pytest.approx(rows[i - 1][j - 1]), (one, i, j)


@pytest.mark.parametrize(("name", "times"), [("encoder_block", 1), ("self_attention", 0)])
def test_that_steps_stand_by_their_names_is_told_once(name, times):
    page = " ".join(str(symattn.derive(name, symbolic=True).expanded()).split())
    assert page.count(str(BY_NAME)) == times


def test_nothing_is_expanded_that_has_no_room_on_a_line():
    for name in ("encoder_block", "encoder_block_gradient", "decoder_block"):
        expanded = symattn.derive(name, symbolic=True).expanded()
        wording = Wording(expanded.derivation, load_notation("standard"))
        for step, working in printed(expanded, wording).items():
            assert width(working) <= max(LINE, width(wording.working(expanded[step], *any_place(expanded[step])))), step
