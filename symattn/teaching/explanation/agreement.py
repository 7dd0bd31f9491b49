"""For mechanisms that go another way to the output of attention: that it is the same."""

from __future__ import annotations

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.ops.turning import turned
from symattn.errors import SelfCheckError
from symattn.exact import Matrix, decide, has_symbols
from symattn.formula import Relation
from symattn.foundation.languages import message
from symattn.page.document import Inlines, Words, sentence
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem


def agreement(problem: Problem, wording: Wording) -> list[Inlines]:
    """The weights of the usual way, and that they give the same output: decided exactly, entry by entry.

    Nothing where the mechanism is the usual way, where it does not reach its end, or where there are no numbers.
    """
    chosen, d = mechanisms().get(problem.mechanism), problem.derivation
    if chosen is None or chosen.other_way is None or "Z" not in d:
        return []
    if any(not isinstance(m, Matrix) or any(map(has_symbols, m)) for m in d.givens.values()):
        return []
    usual = chosen.other_way(d) if d.orientation == "rows" else turned(chosen.other_way(turned(d)))
    output, again = d.value("Z"), usual.value("Z")
    assert isinstance(output, Matrix) and isinstance(again, Matrix)
    equal = [decide(x, y).equal for x, y in zip(output, again, strict=True)]
    if False in equal:
        raise SelfCheckError(f"{problem.title} gives another output than attention worked out at once.")
    if None in equal:
        return []  # nothing is said that is not proved
    own = Wording(usual, problem.notation)
    weights = Relation((own.name("A"), own.values(usual["A"].result)), ("=",))
    same = Relation((own.rule(usual["Z"]), wording.name("Z")), ("=",))
    return [
        sentence("All weights at once: {weights}, and exactly {output}.", weights=weights, output=same),
        *_saved(d),
    ]


def _saved(d: Derivation) -> list[Inlines]:
    """How many keys a cache keeps from being worked out again: t of them for every token t."""
    n = sum(step.role == "K_cache" for step in d)
    if n < 2:
        return []
    words = message(
        "With the cache, {keys} keys and {keys} values are worked out; without it, {afresh} of each.",
        keys=n, afresh=n * (n + 1) // 2,
    )  # fmt: skip
    return [(Words(words),)]
