"""The work of a step, counted: its rule read once more, for what there is to multiply, add, divide and exponentiate.

What stands in several entries is counted once, as one works it out by hand or in a program: the exponentials
of a row of scores, and their sum, serve all weights of the row.  Signs, numbers that are copied, and entries behind a
mask cost nothing.  Where sizes are letters, counts are polynomials in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

from symattn.derivation.algebra import Algebra, Base, Entries, Index, Indices, Known, size_in_sympy
from symattn.derivation.derivation import Derivation, Operand, RuleOp, Step
from symattn.errors import InputError, LetterError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Size, Value

LETTERS = ("i", "j")
WRITTEN_OUT = 16
"""Up to this size rows, columns and terms are counted one by one: some may be masked, or differ otherwise."""


@dataclass(frozen=True)
class Counts:
    """How many of each: whole numbers, or SymPy's polynomials where sizes are letters.

    `functions` are those that are none of the others: ln, tanh, |x|, activations, feature maps.
    """

    multiplications: Any = 0
    additions: Any = 0
    divisions: Any = 0
    exponentials: Any = 0
    roots: Any = 0
    comparisons: Any = 0
    functions: Any = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Counts)))


@dataclass(frozen=True)
class Subexpression:
    """Something that is worked out: what it is, whichever entry is meant; the letters on which it depends."""

    what: Hashable
    letters: frozenset[str] = frozenset()
    hidden: bool = False


class Counting(Algebra[Subexpression]):
    """A rule read for its work.  `size` are the sizes behind letters; what came before is not counted again."""

    def __init__(self, sizes: Mapping[str, Size]) -> None:
        self.sizes = dict(sizes)
        self.found: dict[Subexpression, tuple[str, Any]] = {}

    def _made(
        self, kind: str, many: Any, *parts: Subexpression, of: Hashable = None, without: str = ""
    ) -> Subexpression:
        letters = frozenset[str]().union(*(part.letters for part in parts)) - {without}
        # the same is the same, whichever letter runs over its rows: only the sizes behind the letters count
        over = tuple(sorted(str(self.sizes[letter]) for letter in letters))
        made = Subexpression((kind, of, over, *(part.what for part in parts)), letters)
        self.found.setdefault(Subexpression(made.what), (kind, many * self._times(letters)))
        return made

    def _times(self, letters: frozenset[str]) -> Any:
        times: Any = 1
        for letter in sorted(letters):
            times *= size_in_sympy(self.sizes[letter])
        return times

    @property
    def counts(self) -> Counts:
        total: Counter[str] = Counter()
        for kind, many in self.found.values():
            total[kind] += many
        return Counts(**total)

    def number(self, value: Value) -> Subexpression:
        return Subexpression(("number", value))

    def size(self, indices: Indices, less: int = 0) -> Subexpression:
        return Subexpression(("size", indices.size, indices.only, less))

    def total(self, indices: Indices, term: Callable[[Index], Subexpression]) -> Subexpression:
        if indices.only is not None or not _by_letter(indices.size):
            return self.sum(*map(term, indices.counted))
        letter = f"k_{len(self.sizes)}"
        self.sizes[letter] = indices.size
        body = term(letter)
        return self._made("additions", size_in_sympy(indices.size) - 1, body, without=letter)

    def sum(self, *terms: Subexpression) -> Subexpression:
        return self._made("additions", len(terms) - 1, *terms) if len(terms) > 1 else terms[0]

    def negative(self, x: Subexpression) -> Subexpression:
        return Subexpression(("minus", x.what), x.letters)

    def product(self, *factors: Subexpression) -> Subexpression:
        return self._made("multiplications", len(factors) - 1, *factors) if len(factors) > 1 else factors[0]

    def quotient(self, x: Subexpression, y: Subexpression) -> Subexpression:
        return self._made("divisions", 1, x, y)

    def square(self, x: Subexpression) -> Subexpression:
        return self._made("multiplications", 1, x, x)

    def exponential(self, x: Subexpression, base: Base = "e") -> Subexpression:
        return self._made("exponentials", 1, x, of=str(base))

    def root(self, x: Subexpression) -> Subexpression:
        return self._made("roots", 1, x)

    def apply(self, function: str, x: Subexpression) -> Subexpression:
        return self._made("functions", 1, x, of=function)

    def known(self, function: Known, x: Subexpression) -> Subexpression:
        return self._made("functions", 1, x, of=repr(function))

    def maximum(self, *terms: Subexpression) -> Subexpression:
        return self._made("comparisons", len(terms) - 1, *terms) if len(terms) > 1 else terms[0]

    def hidden(self, x: Subexpression) -> bool:
        return x.hidden

    def named(self, name: str, i: Index, j: Index) -> Subexpression:
        return self.entry(name, i, j)

    def nth(self, i: Index, start: Size, step: int = 1) -> Index:
        """Which line it is makes no difference to the work."""
        return i if isinstance(i, str) else super().nth(i, start, step)

    def constant(self, name: str, work: Callable[[], Subexpression]) -> Subexpression:
        return Subexpression(("constant", name))

    def of_several(
        self, i: Index, heights: Sequence[Size], piece: Callable[[int, Index], Subexpression]
    ) -> Subexpression:
        """The work for a line of any of them is that of the first."""
        return piece(0, i)

    def of_turns(self, i: Index, count: int, piece: Callable[[int, Index], Subexpression]) -> Subexpression:
        return piece(0, i)

    def dots(self) -> Subexpression:
        return Subexpression("any of them", frozenset(letter for letter in LETTERS if letter in self.sizes))

    def entry(self, name: str, i: Index, j: Index, hidden: bool = False) -> Subexpression:
        """An entry of a matrix that is there already."""
        letters = frozenset(index for index in (i, j) if isinstance(index, str))
        place = tuple(("any", self.sizes[x]) if isinstance(x, str) else x for x in (i, j))
        return Subexpression((name, place), letters, hidden)


def counts(d: Derivation) -> dict[str, Counts]:
    """The work of each step, by its name; what is no rule, such as rounding, counts nothing."""
    return {step.name: _counted(d, step) for step in d}


def _counted(d: Derivation, step: Step) -> Counts:
    if not isinstance(step.op, RuleOp):
        return Counts()
    shape = step.result.shape
    algebra = Counting({letter: size for letter, size in zip(LETTERS, shape, strict=True) if _by_letter(size)})
    operands = [_entries(algebra, d, operand) for operand in step.operands]
    try:
        for i, j in product(*map(_places, LETTERS, shape)):
            step.op.rule(algebra, i, j, *operands)
    except (TypeError, LetterError) as error:
        raise InputError(f"The work of step {step.name!r} can be counted only where its sizes are numbers.") from error
    return algebra.counts


def _by_letter(size: Size) -> bool:
    return isinstance(size, str) or size > WRITTEN_OUT


def _places(letter: str, size: Size) -> Iterable[Index]:
    """Every row or column; one for any of them, where they are not counted one by one."""
    return (letter,) if isinstance(size, str) or size > WRITTEN_OUT else range(size)


def _entries(algebra: Counting, d: Derivation, operand: Operand) -> Entries[Subexpression]:
    whole = d.value(operand.name)

    def entry(i: Index, j: Index) -> Subexpression:
        row, column = operand.place(i, j)
        hidden = False
        if isinstance(whole, Matrix) and isinstance(row, int) and isinstance(column, int):
            hidden = whole[row, column] is NEGATIVE_INFINITY
        return algebra.entry(operand.name, row, column, hidden)

    return Entries(operand.of(whole).shape, entry, not isinstance(whole, Matrix))
