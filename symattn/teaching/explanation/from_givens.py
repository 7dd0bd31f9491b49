"""Entries in terms of the givens alone, where sizes are letters: the rules of earlier steps put into those of later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from symattn.derivation.algebra import index, size_formula
from symattn.derivation.derivation import Index, Operand, Step, View
from symattn.derivation.sizes import letters_of
from symattn.exact import Outline
from symattn.formula import Dots, Formula, ListOf, Name, contains, parts_of, put_in
from symattn.formula.width import width
from symattn.teaching.explanation.wording import LINE, Wording, any_place

INDICES = tuple(map(Name, "lprtuvw"))
"""What is summed over within a sum, from inside out; the outermost index is k."""


@lru_cache(maxsize=1)
def from_givens(wording: Wording) -> FromGivens:
    """What the steps of a page have in common."""
    return FromGivens(wording)


class FromGivens:
    """The workings of a derivation's steps; one that has no room on a line has the entries before it by name."""

    def __init__(self, wording: Wording) -> None:
        self.wording = wording
        d = wording.derivation
        letters = {letter for given in d.givens.values() for size in given.shape for letter in letters_of(size)}
        sizes = [formula for letter in letters for formula in (size_formula(letter), wording.size(letter))]
        self._sizes: dict[Formula, Formula] = {size: size for size in sizes}  # k is no index in d_k
        self._workings: dict[str, Formula] = {}

    def working(self, step: Step) -> Formula:
        """Any entry of a step written out."""
        if step.name not in self._workings:
            whole = step.op.working(*any_place(step), *map(self._view, step.operands))
            fits = width(whole) <= LINE
            self._workings[step.name] = whole if fits else self.wording.working(step, *any_place(step))
        return self._workings[step.name]

    def begins_by_name(self, step: Step) -> bool:
        """Whether it is the first that has entries of earlier steps by name."""
        return step is next(filter(self._has_names, self.wording.derivation), None)

    def _has_names(self, step: Step) -> bool:
        d = self.wording.derivation
        before = [d[operand.name] for operand in step.operands if operand.name not in d.givens]
        if not before or not isinstance(step.result, Outline):
            return False
        by_name = self.wording.working(step, *any_place(step))
        return self.working(step) == by_name or any(self._entry(one) is None for one in before)

    def _view(self, operand: Operand) -> View:
        named, d = self.wording.view(operand), self.wording.derivation
        if operand.name in d.givens or (entry := self._entry(d[operand.name])) is None:
            return named
        return replace(named, entry=lambda i, j: entry(*operand.place(i, j)))

    def _entry(self, step: Step) -> Callable[[Index, Index], Formula] | None:
        """Each entry of a step; None where one formula does not say them all.

        What is summed over in it has a letter of its own, so that k is free in what it is put into.
        """
        whole, place = self.working(step), any_place(step)
        free = next((letter for letter in INDICES if letter not in parts_of(whole)), None)
        of_one = any(isinstance(k, int) and size != 1 for k, size in zip(place, step.result.shape, strict=True))
        if free is None or of_one or contains(whole, Dots, ListOf):
            return None
        apart = put_in(whole, self._sizes | {Name("k"): free})
        return lambda i, j: put_in(apart, self._sizes | {Name("i"): self._index(i), Name("j"): self._index(j)})

    def _index(self, i: Index) -> Formula:
        return index(i) if isinstance(i, str) else index(i + self.wording.notation.first_index - 1)


__all__ = ["FromGivens", "from_givens"]
