"""Tier A: exact isomorphs of a variant, by permuting what has no order of its own (rules.md 4.7.1).

Every axis of every given carries a letter: X is n × d_model, W_Q is d_model × d_k.  One permutation for each letter,
applied wherever the letter stands, leaves the computation what it is: scores and outputs are the permuted ones, and
nothing that counts as difficulty changes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import chain

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Mechanism, Settings
from symattn.derivation.witnesses import close
from symattn.errors import SymattnError
from symattn.exact import Matrix
from symattn.foundation.dice import shuffled
from symattn.teaching.fairness.separation import floats_of, has_witness, in_floats

TOKENS = ("n", "m")
"""The letters of axes along which tokens lie."""


def permuted(
    givens: Mapping[str, Matrix], shapes: Mapping[str, tuple[str, str]], orders: Mapping[str, Sequence[int]]
) -> dict[str, Matrix]:
    """Line i along a letter is what was line `orders[letter][i]`; letters that are left out keep their order."""
    found = {}
    for name, matrix in givens.items():
        rows, columns = (
            orders.get(letter, range(size)) for letter, size in zip(shapes[name], matrix.shape, strict=True)
        )
        found[name] = Matrix.of([matrix[i, j] for j in columns] for i in rows)
    return found


def free_sizes(mechanism: Mechanism, settings: Settings, givens: Mapping[str, Matrix]) -> dict[str, int]:
    """The sizes along which lines may be put in any order: no step of these givens changes but in its own order.

    Found by doing it, with an exchange and a turn, of which all orders are made: what a mask, a position or the token
    before decides is so found to be bound to its place.  Features, which little binds, are tried together first.
    """
    shapes, d = mechanism.shapes(settings.upright), mechanism.run(givens, settings.upright)
    before = _entries(d, givens)
    sizes = {letter: size for name, m in givens.items() for letter, size in zip(shapes[name], m.shape, strict=True)}

    def changes_nothing(orders: Mapping[str, Sequence[int]]) -> bool:
        try:
            after = _entries(d, permuted(givens, shapes, orders))
        except SymattnError:
            return False
        return len(after) == len(before) and all(map(close, before, after))

    def free_of(letters: Sequence[str]) -> Sequence[str]:
        exchanges = {letter: [1, 0, *range(2, sizes[letter])] for letter in letters}
        turns = {letter: [*range(1, sizes[letter]), 0] for letter in letters}
        if changes_nothing(exchanges) and (turns == exchanges or changes_nothing(turns)):
            return letters
        return [letter for one in letters for letter in free_of([one])] if len(letters) > 1 else []

    several = [letter for letter in mechanism.letters if sizes.get(letter, 1) > 1]
    tokens, features = ([letter for letter in several if (letter in TOKENS) == is_token] for is_token in (True, False))
    found = [*chain.from_iterable(free_of([letter]) for letter in tokens), *free_of(features)]
    free = {letter: sizes[letter] for letter in several if letter in found}
    if sizes.get("m", 1) > 1 and "m" not in free:  # a student may take queries for keys
        free.pop("n", None)
    return free


def _entries(d: Derivation, givens: Mapping[str, Matrix]) -> list[float]:
    """The entries for such givens, those of each step in order of size: in floats, if each step has a witness.

    They end before a step that is not defined.
    """
    made = {name: floats_of(m) for name, m in givens.items()}
    again = None if all(map(has_witness, d)) else d.replay(givens=givens)
    found = list[float]()
    for step in d:
        result = floats_of(again.value(step.name)) if again else in_floats(step, made)
        if result is None:
            break
        made[step.name] = result
        found += sorted(chain.from_iterable(result))
    return found


def any_order(free: Mapping[str, int], rng: random.Random) -> dict[str, list[int]]:
    """An order for each of these sizes; where there are as many keys as queries, they are the same tokens."""
    orders = {letter: shuffled(rng, range(size)) for letter, size in free.items()}
    if "n" in free and free.get("m") == free["n"]:
        orders["m"] = orders["n"]
    return orders
