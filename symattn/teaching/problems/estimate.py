"""Reasoning without computing: order lists, say what a change does to a weight, find limits (rules.md 5, type 17).

Rows that are to be ordered can be compared by eye: each comes from the one before by moving weight to a smaller part,
or by lowering a score that is not the largest.  Every claim is decided exactly in `prove`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import prod
from random import Random

from symattn.exact import NEGATIVE_INFINITY, Value, compare, divide
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.foundation.languages import message
from symattn.page.document import ItemList, WorkingSpace, as_text
from symattn.teaching.problems.asking import (
    BlockLike,
    Offer,
    Prose,
    blocks,
    choice_part,
    labelled,
    order_part,
    put_in,
)
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, Record, question
from symattn.teaching.problems.systems import Row, softmax
from symattn.teaching.question import LETTERS, Mark, OrderAnswer, Part

ITEMS = {
    "starter": ("largest", "effect", "effect"),
    "standard": ("entropy", "largest", "effect", "effect", "effect", "limit"),
    "long": ("entropy", "largest", *["effect"] * 5, "limit", "limit"),
}
ENTROPY = "The entropy of weights is minus the sum of every weight times its logarithm; a weight of 0 adds nothing."


def scores_of(row: Sequence[int | Fraction | None]) -> list[Value]:
    """A row of scores; None is hidden."""
    return [NEGATIVE_INFINITY if s is None else divide(s, 1) for s in row]


def weights_of(row: Sequence[int | Fraction | None]) -> tuple[Value, ...]:
    return softmax([scores_of(row)]).rows[0]


# ------------------------------------------------------------------------------------------------ rows in order

ORDERED = 4


@dataclass(frozen=True)
class Ordering:
    """By what rows are put in order: `rank` does, and `line` is what shows it of a row."""

    title: str
    ask: str
    reason: str
    rank: Callable[[Sequence[int]], list[int]]
    line: Callable[[Sequence[int]], list[int]]


def _parts(row: Sequence[int]) -> list[int]:
    return sorted(row, reverse=True)


def _entropy_rank(parts: Sequence[int]) -> list[int]:
    """Π n^n falls as the entropy of n/D grows, for one D: D·H = D ln D − Σ n ln n."""
    powers: list[int] = [n**n for n in parts if n]
    return [-prod(powers)]


def _gaps(row: Sequence[int]) -> list[int]:
    return sorted(max(row) - s for s in row)


ORDERINGS: Mapping[str, Ordering] = {
    "entropy": Ordering(
        "Entropy",
        "Put these lists of weights in order of entropy, smallest first. The weights are given as multiples of "
        "$frac(1, {whole})$, so each list sums to {whole}.",
        "The more evenly weights are spread, the greater their entropy. Sorted, each list comes from the one before by "
        "moving weight from a larger part to a smaller one:",
        _entropy_rank,
        _parts,
    ),
    "largest": Ordering(
        "Largest weight",
        "Put these lists of scores in order of the largest weight that softmax gives them, smallest first.",
        "Only differences count. The other scores lie below the largest of their list by these numbers, which grow "
        "from list to list:",
        _gaps,
        lambda row: _gaps(row)[1:],
    ),
}


def rows_of_weights(rng: Random) -> list[list[int]]:
    """Weights in parts of one whole, each row more even than the one before (majorisation), then shuffled."""
    total = pick(rng, [8, 10, 12])
    while True:
        rows = sorted((_partition(rng, total) for _ in range(ORDERED)), reverse=True)
        if all(_more_even(b, a) for a, b in pairwise(rows)):
            return shuffled(rng, [shuffled(rng, row) for row in rows])


def rows_of_scores(rng: Random) -> list[list[int]]:
    """The gaps below the largest score grow from row to row, and constants hide it."""
    while True:
        gaps = sorted([whole(rng, 0, 4), whole(rng, 1, 5)] for _ in range(ORDERED))
        gaps = sorted(sorted(pair) for pair in gaps)
        chain = all(a != b and a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(gaps))
        if chain and gaps[0] != [0, 0]:
            rows = []
            for one, other in gaps:
                top = whole(rng, -1, 7)
                rows.append(shuffled(rng, [top, top - one, top - other]))
            if len({max(row) for row in rows}) > 2:
                return shuffled(rng, rows)


def in_order(draw: Draw, say: Prose, place: int) -> Item:
    """Rows of weights to be ordered by entropy, or rows of scores by their largest weight."""
    kind = draw["kind"]
    by, rows = ORDERINGS[kind], draw("rows", rows_of_weights if kind == "entropy" else rows_of_scores)
    order = sorted(range(ORDERED), key=lambda r: by.rank(rows[r]))
    lines = labelled(say.row(by.line(row)) for row in rows)

    def check(part: Part) -> str:
        assert isinstance(part.answer, OrderAnswer)
        said = [rows[LETTERS.index(letter)] for (letter,) in part.answer.groups]
        if kind == "entropy":
            ordered = all(_more_even(_parts(b), _parts(a)) for a, b in pairwise(said))
        else:
            largest = [weights_of(row)[row.index(max(row))] for row in said]
            ordered = all(compare(a, b) < 0 for a, b in pairwise(largest))
        return "" if ordered else "the rows do not grow"

    asked, mark = say(by.ask, whole=sum(rows[0])), Mark("B", 2, "B1 if two neighbours are swapped", "one swap")
    key: list[BlockLike] = [say(by.reason), ItemList(tuple(lines[r] for r in order))]
    return Item(order_part(by.title, asked, map(say.row, rows), order, key, mark), check, 4, kind)


def _partition(rng: Random, total: int) -> list[int]:
    cuts = sorted(whole(rng, 0, total) for _ in range(3))
    return _parts([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])


def _more_even(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether a is majorised by b: for every k its k largest parts are together not greater."""
    return a != b and all(x <= y for x, y in zip(accumulate(a), accumulate(b), strict=True))


# ------------------------------------------------------------------------------------------------ what a change does

OUTCOMES = {
    "grows": "It becomes larger.",
    "falls": "It becomes smaller.",
    "stays": "It stays the same.",
}
Changed = Sequence[int | Fraction | None]
WAY = "A weight is the exponential of its score over the sum of all exponentials. What does the change do to each?"
"""What is told about a wrong outcome; the key says once, for all of them, why the right one is right."""


@dataclass(frozen=True)
class Effect:
    """A change to one row of scores and what it does to the weight of one key.

    `key` is the place of the key in the sorted row that is watched (−1 the largest score, 0 the smallest), `other` that
    of the key that is changed.  `change` says what is done and `after` gives the row of scores after it.
    """

    outcome: str
    key: int
    other: int
    change: str
    after: Callable[[Row, int], Changed]
    reason: str


def _replaced(row: Row, j: int, score: int | None) -> Changed:
    return (*row[:j], score, *row[j + 1 :])


def _times(factor: int | Fraction) -> Callable[[Row, int], Changed]:
    return lambda row, j: [s * factor for s in row]


def _raised(by: int) -> Callable[[Row, int], Changed]:
    return lambda row, j: _replaced(row, j, row[j] + by)


def _shifted(by: int) -> Callable[[Row, int], Changed]:
    return lambda row, j: [s + by for s in row]


def _exchanged(row: Row) -> Changed:
    """The places of the two keys that do not have the largest score, exchanged."""
    one, other = sorted(range(len(row)), key=row.__getitem__)[:2]
    moved = list(row)
    moved[one], moved[other] = row[other], row[one]
    return moved


EFFECTS: Mapping[str, Effect] = (
    {
        "doubled": Effect(
            "grows", -1, 0, "All scores are doubled.", _times(2),
            "It has the largest score, and doubling squares the ratio of every other weight to it, which is below 1.",
        ),
        "hidden": Effect(
            "grows", 1, 2, "Then $other$ is hidden by a mask.", lambda row, j: _replaced(row, j, None),
            "One positive term of the denominator is gone, so every other weight grows by the same factor.",
        ),
        "unscaled": Effect(
            "grows", -1, 0, "These scores have been divided by $sqrt(d_k) = 2$; now the division is left out.",
            _times(2),
            "Scores twice as far apart move weight to the largest one.",
        ),
        "colder": Effect(
            "grows", -1, 0, "The temperature is lowered from 1 to one half.", _times(2),
            "A lower temperature moves weight to the largest score.",
        ),
        "other lowered": Effect(
            "grows", 1, 2, "The score of $other$ is lowered by 1.", _raised(-1),
            "Its own exponential stays the same, and the denominator becomes smaller.",
        ),
        "doubled, smallest": Effect(
            "falls", 0, -1, "All scores are doubled.", _times(2),
            "It has the smallest score, and the ratio of every other weight to it, which is above 1, is squared.",
        ),
        "other raised": Effect(
            "falls", 1, 0, "The score of $other$ is raised by 1.", _raised(1),
            "Its own exponential stays the same, and the denominator becomes larger.",
        ),
        "warmer": Effect(
            "falls", -1, 0, "The temperature is raised from 1 to 2.", _times(Fraction(1, 2)),
            "A higher temperature moves weight from the largest score to the others.",
        ),
        "copied": Effect(
            "falls", -1, 1, "A second copy of $other$ and its value is added at the end.",
            lambda row, j: (*row, row[j]),
            "The copy adds one more positive term to the denominator.",
        ),
        "seen": Effect(
            "falls", 1, -1, "A further key with the score 0 becomes visible.", lambda row, j: (*row, 0),
            "A score of 0 adds $e^{0} = 1$ to the denominator.",
        ),
        "shifted": Effect(
            "stays", -1, 0, "3 is added to every score.", _shifted(3),
            "Every exponential is multiplied by $e^{3}$, which cancels.",
        ),
        "exchanged": Effect(
            "stays", -1, 0, "The two keys other than $key$ are swapped, with their values.",
            lambda row, j: _exchanged(row), "The denominator has the same terms in another order.",
        ),
        "value": Effect(
            "stays", 1, 1, "The value vector of $key$ is doubled.", lambda row, j: row,
            "Weights come from queries and keys; values do not enter.",
        ),
        "balanced": Effect(
            "stays", -1, 0, "All queries are doubled and all keys are halved.", lambda row, j: row,
            "Every score is a product of a query and a key, so the two factors cancel.",
        ),
        "key bias": Effect(
            "stays", 0, 0, "The same vector is added to every key.", _shifted(2),
            "This adds the same number to all scores of the query, which cancels.",
        ),
    }
)  # fmt: skip


def change(draw: Draw, say: Prose, place: int) -> Item:
    """What a change to a row of scores does to the weight of a key."""
    effect, row = EFFECTS[draw["effect"]], draw["row"]
    ranked = sorted(range(len(row)), key=row.__getitem__)
    watched, changed = ranked[effect.key], ranked[effect.other]
    key, other = (say.formula(f"k_{place + 1}") for place in (watched, changed))
    offers = [Offer(text, WAY, outcome == effect.outcome) for outcome, text in OUTCOMES.items()]

    def again() -> set[int]:
        before, after = weights_of(row), weights_of(effect.after(row, changed))
        outcome = {1: "grows", -1: "falls", 0: "stays"}[compare(after[watched], before[watched])]
        return {list(OUTCOMES).index(outcome)}

    asked = say(
        "A query has the scores $row$. {change} What happens to the weight of $key$?",
        row=scores_of(row),
        change=say(effect.change, key=key, other=other),
        key=key,
    )
    part = choice_part(message("A change"), [asked], offers)
    ticked, _ = part.key
    return Item(replace(part, key=(ticked, say.paragraph(effect.reason))), load=2, kind="effect", again=again)


def _effects(rng: Random, number: int, count: int) -> list[str]:
    """Different ones; over 3^count variants every combination of outcomes comes once, so that none can be guessed."""
    chosen: list[str] = []
    for turn in shuffled(rng, range(count)):
        outcome = list(OUTCOMES)[(number - 1) // 3**turn % 3]
        said = {EFFECTS[name].change for name in chosen}
        chosen.append(pick(rng, [name for name, e in EFFECTS.items() if e.outcome == outcome and e.change not in said]))
    return chosen


def _different_rows(rng: Random, count: int) -> list[Row]:
    """Rows of three different scores, a range of at most 4."""
    rows: list[Row] = []
    while len(rows) < count:
        row = tuple(sample(rng, range(-2, 6), 3))
        if max(row) - min(row) <= 4 and row not in rows:
            rows.append(row)
    return rows


# ------------------------------------------------------------------------------------------------ limits


@dataclass(frozen=True)
class Limit:
    """What is asked of an extreme temperature, why the answer is right, and why that at the other extreme is not."""

    temperature: Fraction
    ask: str
    why: str
    why_not: str
    diagnosis: str = ""


LIMITS: Mapping[str, Limit] = {
    "cold": Limit(
        Fraction(1, 20),
        "A query has the scores $row$. What do its weights tend to as the temperature $T$ tends to 0?",
        "the ratio of any other weight to the largest, $e^{-d/T}$ with $d > 0$, tends to 0; equal scores share.",
        "the weights of all visible keys become equal only as the temperature grows without bound.",
    ),
    "hot": Limit(
        Fraction(10**8),
        "A query has the scores $row$. What do its weights tend to as the temperature $T$ grows without bound?",
        "all differences of visible scores, divided by $T$, tend to 0.",
        "the largest scores take all the weight only as the temperature tends to 0.",
        "X10",
    ),
}


MaskedRow = Sequence[int | None]
"""Scores, None where a key is hidden."""


def limit(draw: Draw, say: Prose, place: int) -> Item:
    """To what the weights tend as the temperature falls or grows; `order` is that of the options, 0 the right one."""

    def row_and_order(rng: Random) -> tuple[MaskedRow, Sequence[int]]:
        row = _row_with_a_limit(rng)
        return row, put_in(shuffled(rng, [1, 2, 3]), (draw.turn - 1 + place * (1 + draw.turn // 4)) % 4, 0)

    of = LIMITS[draw["limit"]]
    row, order = draw.several("row order", row_and_order)
    (right, *_), *_ = sharing = _sharing(row, draw["limit"])

    def check(part: Part) -> str:
        """The weights must be within a millionth of the limit at an extreme temperature."""
        weights = weights_of([None if s is None else s / of.temperature for s in row])
        limits, near = _equal_shares(right, len(row)), Fraction(1, 10**6)
        tends = all(compare(a - x, near) < 0 < compare(a - x, -near) for a, x in zip(weights, limits, strict=True))
        return "" if tends else f"the weights do not tend to {limits}"

    offers = [
        Offer(say.row(_equal_shares(keys, len(row))), say(why), k == 0, id) for k, (keys, why, id) in enumerate(sharing)
    ]
    asked = say(of.ask, row=scores_of(row))
    return Item(choice_part(message("A limit"), [asked], [offers[k] for k in order]), check, 2, "limit")


def _row_with_a_limit(rng: Random) -> MaskedRow:
    """Four scores, perhaps two largest ones, perhaps one hidden."""
    tie, masked = pick(rng, [True, False]), pick(rng, [True, False])
    while True:
        row = [whole(rng, -2, 5) for _ in range(4)]
        seen = row[:3] if masked else row
        scores = sorted(seen)
        if (scores[-1] == scores[-2]) == tie and scores[-3] < scores[-2] and scores[0] < scores[1]:
            return [*seen, None] if masked else row


def _equal_shares(keys: Sequence[int], count: int) -> list[Fraction]:
    """The weights of which these keys, of a number of them, have equal shares."""
    return [Fraction(j in keys, len(keys)) for j in range(count)]


def _sharing(row: MaskedRow, extreme: str) -> list[tuple[Sequence[int], str, str]]:
    """The keys that share all the weight at an extreme temperature, why, and ""; then those of three mistakes."""
    of = LIMITS[extreme]
    ranked = sorted({s for s in row if s is not None})

    def keys(*scores: int) -> list[int]:
        return [j for j, s in enumerate(row) if s in scores]

    largest = keys(ranked[-1])
    extremes = {"cold": largest, "hot": keys(*ranked)}
    right = extremes.pop(extreme)
    (other,) = extremes.values()
    misread: tuple[Sequence[int], str, str]
    if None in row and extreme == "hot":
        misread = range(len(row)), "the hidden key has the weight 0 at every temperature.", "M1"
    elif len(largest) > 1:
        misread = largest[:1], "equal scores have equal weights at every temperature.", ""
    else:
        misread = keys(*ranked[-2:]), "the two scores differ, so their weights differ.", ""
    return [
        (right, of.why, ""),
        (other, of.why_not, of.diagnosis),
        (keys(ranked[0]), "that is the smallest score; weight never moves to it alone.", "X9"),
        misread,
    ]


# ------------------------------------------------------------------------------------------------ the question


KINDS: Mapping[str, Callable[[Draw, Prose, int], Item]] = {
    "entropy": in_order,
    "largest": in_order,
    "effect": change,
    "limit": limit,
}


def ask(draw: Draw) -> ProvedQuestion:
    say = draw.prose()

    def begun() -> list[Record]:
        """Changes of every outcome, limits of both kinds, and rows of scores that differ, shared out."""
        assert draw.rng is not None
        kinds = ITEMS[draw.spec.level]
        effects = iter(_effects(draw.rng, draw.turn, kinds.count("effect")))
        limits = iter(shuffled(draw.rng, ["cold", "hot"]))
        rows = iter(_different_rows(draw.rng, len(kinds)))
        more: Mapping[str, Callable[[], Record]] = {
            "effect": lambda: {"effect": next(effects), "row": next(rows)},
            "limit": lambda: {"limit": next(limits)},
        }
        return [{"kind": kind, **more.get(kind, dict)()} for kind in kinds]

    reasons = draw("reasons", lambda rng: draw.option("reasons"))
    items = draw.each("items", begun)
    first = next((k for k, item in enumerate(items) if item["kind"] == "limit"), 0)
    asked = [KINDS[item["kind"]](item, say, k - first) for k, item in enumerate(items)]
    return question(
        draw,
        [replace(item, part=_reasoned(item.part)) for item in asked] if reasons else asked,
        introduction="Answer without working out any weight.",
        conventions=(
            say("Softmax is taken over all scores of a query, with base $e$; hidden scores are $-∞$."),
            say("Softmax with the temperature $T$ is softmax of the scores divided by $T$."),
            *([as_text(ENTROPY)] if any(item["kind"] == "entropy" for item in items) else []),
        ),
    )


def _reasoned(part: Part) -> Part:
    """The part with a line for the reason, and a mark for it."""
    room = blocks(["Give a reason in one sentence.", WorkingSpace(16, ruled=True)])
    return replace(part, ask=(*part.ask, *room), marks=(*part.marks, Mark("B", 1, message("reason"), "reason")))


TYPE = ProblemType(
    ask,
    name="estimate",
    title="Reason without computing",
    options={"reasons": (True, "whether a reason in one sentence is asked for, with a mark of its own")},
)
