"""Reasoning without computing: order rows, say what a change does to a weight, find limits (rules.md 5, type 17).

Rows that are to be ordered can be compared by eye: each comes from the one before by moving weight to a smaller part,
or by lowering a score that is not the largest.  Every claim is decided exactly in `prove`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import prod
from types import MappingProxyType
from typing import Any, Literal, cast

from symattn.dice import pick, sample, shuffled, whole
from symattn.document import FillIn, FillIns, Inlines, ItemList, Math, Paragraph, Words, WorkingSpace
from symattn.errors import SelfCheckError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, compare, divide
from symattn.formula import Infinity, ListOf, Negative
from symattn.ops import Softmax
from symattn.problems.asking import (
    LETTERS,
    Offer,
    Prose,
    choice,
    choices,
    choices_key,
    no_sizes,
    prose,
    tokens_are_rows,
)
from symattn.problems.base import Family, ProblemType, Spec
from symattn.question import ChoiceAnswer, Content, Mark, OrderAnswer, Part, Question

Drawn = dict[str, Any]
Item = Mapping[str, Any]
Row = list[int | None]  # scores; None is hidden

ITEMS: Mapping[str, tuple[str, ...]] = {
    "starter": ("largest", "effect", "effect"),
    "standard": ("entropy", "largest", "effect", "effect", "effect", "limit"),
    "long": ("entropy", "largest", *["effect"] * 5, "limit", "limit"),
}
ORDERED = 4  # rows to be put in order
ENTROPY: Inlines = (
    Words("The entropy of a row is minus the sum of every weight times its logarithm; a weight of 0 adds nothing."),
)

# ------------------------------------------------------------------------------------------------ what a change does

Outcome = Literal["grows", "falls", "stays"]
OUTCOMES: tuple[Outcome, ...] = ("grows", "falls", "stays")
_SAID = {"grows": "It becomes larger.", "falls": "It becomes smaller.", "stays": "It stays the same."}


@dataclass(frozen=True)
class Effect:
    """A change to one row of scores and what it does to the weight of one key.

    `key` is the place of the key in the sorted row that is watched (−1 the largest score, 0 the smallest), `other` that
    of the key that is changed.  `change` says what is done and `after` gives the row of scores after it.
    """

    outcome: Outcome
    key: int
    other: int
    change: str
    after: Callable[[Row, int], list[Any]]
    reason: str


def _replaced(row: Row, j: int, score: int | None) -> Row:
    return [*row[:j], score, *row[j + 1 :]]


def _times(factor: int | Fraction) -> Callable[[Row, int], list[Any]]:
    return lambda row, j: [None if s is None else s * factor for s in row]


def _raised(by: int) -> Callable[[Row, int], list[Any]]:
    return lambda row, j: _replaced(row, j, cast(int, row[j]) + by)


def _same(row: Row, j: int) -> list[Any]:
    return list(row)


EFFECTS: Mapping[str, Effect] = MappingProxyType(
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
            "grows", -1, 0, "These scores have been divided by $sqrt(d_k) = 2$; now that is left out.", _times(2),
            "Scores twice as far apart move weight to the largest one.",
        ),
        "colder": Effect(
            "grows", -1, 0, "The temperature is lowered from 1 to one half.", _times(2),
            "A lower temperature moves weight to the largest score.",
        ),
        "other lowered": Effect(
            "grows", 1, 2, "The score of $other$ is lowered by 1.", _raised(-1),
            "Its own power stays the same, and the denominator becomes smaller.",
        ),
        "doubled, smallest": Effect(
            "falls", 0, -1, "All scores are doubled.", _times(2),
            "It has the smallest score, and the ratio of every other weight to it, which is above 1, is squared.",
        ),
        "other raised": Effect(
            "falls", 1, 0, "The score of $other$ is raised by 1.", _raised(1),
            "Its own power stays the same, and the denominator becomes larger.",
        ),
        "warmer": Effect(
            "falls", -1, 0, "The temperature is raised from 1 to 2.", _times(Fraction(1, 2)),
            "A higher temperature moves weight from the largest score to the others.",
        ),
        "copied": Effect(
            "falls", -1, 1, "A second copy of $other$ and its value is put at the end.", lambda row, j: [*row, row[j]],
            "The copy adds one more positive term to the denominator.",
        ),
        "seen": Effect(
            "falls", 1, -1, "A further key with the score 0 can now be seen.", lambda row, j: [*row, 0],
            "A score of 0 adds $e^{0} = 1$ to the denominator.",
        ),
        "shifted": Effect(
            "stays", -1, 0, "All scores become greater by 3.", lambda row, j: [cast(int, s) + 3 for s in row],
            "Every power is multiplied by $e^{3}$, which cancels.",
        ),
        "exchanged": Effect(
            "stays", -1, 0, "The two keys other than $key$ change places, with their values.",
            lambda row, j: _exchanged(row), "The denominator has the same terms in another order.",
        ),
        "value": Effect(
            "stays", 1, 1, "The value vector of $key$ is doubled.", _same,
            "Weights come from queries and keys; values do not enter.",
        ),
        "balanced": Effect(
            "stays", -1, 0, "All queries are doubled and all keys are halved.", _same,
            "Every score is a product of a query and a key, so the two factors cancel.",
        ),
        "key bias": Effect(
            "stays", 0, 0, "The same vector is added to every key.", lambda row, j: [cast(int, s) + 2 for s in row],
            "This adds the same number to all scores of the query, which cancels.",
        ),
    }
)  # fmt: skip


def _exchanged(row: Row) -> Row:
    """The places of the two keys that do not have the largest score, exchanged."""
    one, other = sorted(range(len(row)), key=lambda j: cast(int, row[j]))[:2]
    moved = list(row)
    moved[one], moved[other] = row[other], row[one]
    return moved


def _place(row: Row, rank: int) -> int:
    return sorted(range(len(row)), key=lambda j: cast(int, row[j]))[rank]


# ------------------------------------------------------------------------------------------------ drawing


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    tokens_are_rows(spec)
    no_sizes(spec)
    kinds = ITEMS[spec.level]
    effects = iter(_effects(rng, number, kinds.count("effect")))
    limits = iter(enumerate(shuffled(rng, ["cold", "hot"])))
    rows = iter(_different_rows(rng, len(kinds)))
    items: list[Drawn] = []
    for kind in kinds:
        match kind:
            case "entropy":
                items.append({"kind": kind, "rows": _entropy_rows(rng)})
            case "largest":
                items.append({"kind": kind, "rows": _largest_rows(rng)})
            case "effect":
                items.append({"kind": kind, "effect": next(effects), "row": cast("Any", next(rows))})
            case "limit":
                turn, limit = next(limits)
                place = (number - 1 + turn * (1 + number // 4)) % 4
                items.append({"kind": kind, **_limit(rng, limit), "order": _with_key_at(rng, place)})
    reasons = TYPE.option(spec, "reasons")
    return {"type": spec.type, "notation": spec.notation, "reasons": reasons, "items": cast("Any", items)}


def _effects(rng: random.Random, number: int, count: int) -> list[str]:
    """Different ones; over 3^count variants every combination of outcomes comes once, so that none can be guessed."""
    chosen: list[str] = []
    for turn in shuffled(rng, range(count)):
        outcome = OUTCOMES[(number - 1) // 3**turn % 3]
        left = [name for name, e in EFFECTS.items() if e.outcome == outcome and not _alike(name, chosen)]
        chosen.append(pick(rng, left))
    return chosen


def _alike(name: str, chosen: Sequence[str]) -> bool:
    return any(EFFECTS[name].change == EFFECTS[other].change for other in chosen)


def _different_rows(rng: random.Random, count: int) -> list[list[int]]:
    """Rows of three different scores, a range of at most 4."""
    found: list[list[int]] = []
    while len(found) < count:
        row = sample(rng, range(-2, 6), 3)
        if max(row) - min(row) <= 4 and row not in found:
            found.append(row)
    return found


def _with_key_at(rng: random.Random, place: int) -> list[int]:
    wrong = shuffled(rng, [1, 2, 3])
    return [*wrong[:place], 0, *wrong[place:]]


def _entropy_rows(rng: random.Random) -> list[list[int]]:
    """Four rows of weights in parts of one whole, each more even than the one before (majorisation), then shuffled."""
    total = pick(rng, [8, 10, 12])
    while True:
        rows = sorted((_partition(rng, total) for _ in range(ORDERED)), reverse=True)
        if all(_more_even(b, a) for a, b in pairwise(rows)):
            return shuffled(rng, [shuffled(rng, row) for row in rows])


def _partition(rng: random.Random, total: int) -> list[int]:
    cuts = sorted(whole(rng, 0, total) for _ in range(3))
    return sorted((b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)), reverse=True)


def _more_even(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether a is majorised by b: for every k its k largest parts are together not greater."""
    return a != b and all(x <= y for x, y in zip(accumulate(a), accumulate(b), strict=True))


def _largest_rows(rng: random.Random) -> list[list[int]]:
    """Four rows of scores; the gaps below the largest one grow from row to row, and constants hide it."""
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


def _limit(rng: random.Random, which: str) -> Drawn:
    """Four scores, perhaps two largest ones, perhaps one hidden."""
    tie, masked = pick(rng, [True, False]), pick(rng, [True, False])
    while True:
        row: Row = [whole(rng, -2, 5) for _ in range(4)]
        seen = row[:3] if masked else row
        scores = sorted(cast("list[int]", seen))
        if (scores[-1] == scores[-2]) == tie and scores[-3] < scores[-2] and scores[0] < scores[1]:
            return {"limit": which, "row": [*seen, None] if masked else row}


# ------------------------------------------------------------------------------------------------ parts


def _order_part(item: Item, say: Prose) -> Part:
    rows = cast("list[list[int]]", item["rows"])
    entropy = item["kind"] == "entropy"
    shown = [say.row(row) for row in rows]
    order = sorted(range(ORDERED), key=lambda r: _entropy_rank(rows[r]) if entropy else _gap_rank(rows[r]))
    letters = [LETTERS[r] for r in order]
    if entropy:
        title, sentence = (
            "Entropy",
            "Put these rows of weights in order by their entropy, the smallest first. The weights are given in parts "
            f"of {sum(rows[0])}: 1 stands for $frac(1, {sum(rows[0])})$.",
        )
        reason = (
            "The more evenly a row is spread, the greater its entropy. Sorted, each row comes from the one before by "
            "moving weight from a larger part to a smaller one:"
        )
        lines = [sorted(row, reverse=True) for row in (rows[r] for r in order)]
    else:
        title, sentence = (
            "Largest weight",
            "Put these rows of scores in order by the largest weight that softmax gives, the smallest first.",
        )
        reason = (
            "Only differences count. Below the largest score of each row, the others lie by these numbers, which grow "
            "from row to row:"
        )
        lines = [sorted(max(row) - s for s in row)[1:] for row in (rows[r] for r in order)]
    listed = tuple((Words(f"{LETTERS[r]}: "), Math(formula)) for r, formula in enumerate(shown))
    ask = (say.paragraph(sentence), ItemList(listed), FillIns((FillIn((Words("Order:"),), boxes=ORDERED),)))
    steps = tuple((Words(f"{letter}: "), Math(say.row(line))) for letter, line in zip(letters, lines, strict=True))
    key = (say.paragraph(f"The order is {', '.join(letters)}."), say.paragraph(reason), ItemList(steps))
    answer = OrderAnswer(tuple((letter,) for letter in letters))
    return Part(
        "", (Words(title),), ask, key, answer, (Mark("B", 2, "B1 for one exchange of neighbours", "one exchange"),)
    )


def _entropy_rank(parts: Sequence[int]) -> int:
    """Π n^n falls as the entropy of n/D grows, for one D: D·H = D ln D − Σ n ln n."""
    powers: list[int] = [n**n for n in parts if n]
    return -prod(powers)


def _gap_rank(row: Sequence[int]) -> list[int]:
    return sorted(max(row) - s for s in row)


def _effect_part(item: Item, say: Prose) -> Part:
    effect, row = EFFECTS[item["effect"]], cast("Row", item["row"])
    key, other = _place(row, effect.key), _place(row, effect.other)
    changed = effect.change.replace("$key$", f"$k_{key + 1}$").replace("$other$", f"$k_{other + 1}$")
    ask = say.paragraph(
        f"A query has the scores $row$. {changed} What happens to the weight of $k_{key + 1}$?", row=_scores(say, row)
    )
    offers = [Offer((Words(_SAID[outcome]),), (), outcome == effect.outcome) for outcome in OUTCOMES]
    ticked, _ = choices_key(offers)
    explained = (ticked, say.paragraph(effect.reason))
    return Part("", (Words("A change"),), (ask, choices(offers)), explained, choice(offers), (Mark("B", 1),))


def _scores(say: Prose, row: Row) -> ListOf:
    hidden = Negative(Infinity())
    return ListOf(tuple(hidden if s is None else say.number(s) for s in row), "(", ",")


def _limit_part(item: Item, say: Prose) -> Part:
    row, cold = cast("Row", item["row"]), item["limit"] == "cold"
    offers = _limits(row, cold, say)
    placed = [offers[i] for i in item["order"]]
    where = "falls to 0" if cold else "grows without end"
    ask = say.paragraph(
        "A query has the scores $row$. The temperature $T$ {where}. To what do its weights tend?",
        row=_scores(say, row), where=where,
    )  # fmt: skip
    return Part("", (Words("A limit"),), (ask, choices(placed)), choices_key(placed), choice(placed), (Mark("B", 1),))


def _limits(row: Row, cold: bool, say: Prose) -> list[Offer]:
    """The right one first, then three others, all different."""
    seen = [s for s in row if s is not None]
    ranked = sorted(set(seen))
    coldest, hottest = _even(row, lambda s: s == ranked[-1]), _even(row, lambda s: True)
    tied = seen.count(ranked[-1]) > 1
    wrong: list[tuple[list[Fraction], str, str]] = [
        (hottest, "all visible keys have the same weight only at a high temperature.", "")
        if cold
        else (coldest, "the largest scores take all the weight only at a low temperature.", "X10"),
        (_even(row, lambda s: s == ranked[0]), "that is the smallest score; weight never moves to it alone.", "X9"),
    ]
    if len(seen) < len(row) and not cold:
        wrong.append(
            ([Fraction(1, len(row))] * len(row), "the hidden key has the weight 0 at every temperature.", "M1")
        )
    elif tied:
        first = row.index(ranked[-1])
        only = [Fraction(int(j == first)) for j in range(len(row))]
        wrong.append((only, "equal scores have equal weights at every temperature.", ""))
    else:
        wrong.append((_even(row, lambda s: s in ranked[-2:]), "the two scores differ, so their weights differ.", ""))
    right = coldest if cold else hottest
    why = (
        "the ratio of any other weight to the largest, $e^{-d/T}$ with $d > 0$, tends to 0; equal scores share."
        if cold
        else "all differences of visible scores, divided by $T$, tend to 0."
    )
    listed = [Offer(_list(say, right), say(why), right=True)]
    return listed + [Offer(_list(say, limit), say(reason), diagnosis=d) for limit, reason, d in wrong]


def _even(row: Row, chosen: Callable[[int], bool]) -> list[Fraction]:
    """Equal weights for the visible scores that are chosen."""
    which = [s is not None and chosen(s) for s in row]
    return [Fraction(int(w), sum(which)) for w in which]


def _list(say: Prose, limit: Sequence[Fraction]) -> tuple[Math]:
    return (Math(say.row([divide(x, 1) for x in limit])),)


def _reasoned(part: Part) -> Part:
    """The part with a line for the reason, and a mark for it."""
    room = (Paragraph((Words("Give a reason in one sentence."),)), WorkingSpace(16, ruled=True))
    return replace(part, ask=(*part.ask, *room), marks=(*part.marks, Mark("B", 1, "reason", "reason")))


def make(content: Content) -> Question:
    say = prose(str(content["notation"]))
    makers = {"entropy": _order_part, "largest": _order_part, "effect": _effect_part, "limit": _limit_part}
    items = cast("list[Item]", content["items"])
    parts = [makers[item["kind"]](item, say) for item in items]
    if content["reasons"]:
        parts = [_reasoned(part) for part in parts]
    return Question(
        type=TYPE.name,
        title="Reason without computing",
        introduction=(say.paragraph("Answer without working out any weight."),),
        given=(),
        parts=tuple(replace(part, name=letter) for letter, part in zip("abcdefghij", parts, strict=False)),
        content=content,
        conventions=(
            say("Softmax goes along each row, with base $e$; hidden scores are $-∞$."),
            say("Softmax with the temperature $T$ is softmax of the scores divided by $T$."),
            *([ENTROPY] if any(item["kind"] == "entropy" for item in items) else []),
        ),
        features={"load": float(sum({"entropy": 4, "largest": 4}.get(item["kind"], 2) for item in items))},
        positions=_positions(items, parts),
    )


def _positions(items: Sequence[Item], parts: Sequence[Part]) -> dict[str, str]:
    letters = {"effect": "", "limit": ""}
    for item, part in zip(items, parts, strict=True):
        if isinstance(part.answer, ChoiceAnswer):
            letters[item["kind"]] += LETTERS[min(part.answer.right)]
    return {kind: found for kind, found in letters.items() if found}


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Every order, every effect, every limit decided by exact softmax."""
    for item, part in zip(cast("list[Item]", question.content["items"]), question.parts, strict=True):
        if not _holds(item, part):
            raise SelfCheckError(f"Part {part.name}, {item}, does not have the answer {part.answer}.")


def _holds(item: Item, part: Part) -> bool:
    match part.answer:
        case OrderAnswer(groups):
            rows = [item["rows"][LETTERS.index(letter)] for (letter,) in groups]
            if item["kind"] == "entropy":
                return all(_more_even(*(sorted(r, reverse=True) for r in (b, a))) for a, b in pairwise(rows))
            largest = [_weights(row)[row.index(max(row))] for row in rows]
            return all(compare(a, b) < 0 for a, b in pairwise(largest))
        case ChoiceAnswer(options):
            (right,) = part.answer.right
            texts = [option.text for option in options]
            if any(a == b for i, a in enumerate(texts) for b in texts[:i]):
                return False
            if item["kind"] == "effect":
                return OUTCOMES[right] == _outcome(item)
            return _tends(item)
    return False


def _outcome(item: Item) -> Outcome:
    effect, row = EFFECTS[item["effect"]], cast("Row", item["row"])
    key, other = _place(row, effect.key), _place(row, effect.other)
    before, after = _weights(row), _weights(effect.after(row, other))
    return {1: OUTCOMES[0], -1: OUTCOMES[1], 0: OUTCOMES[2]}[compare(after[key], before[key])]


def _tends(item: Item) -> bool:
    """Whether the weights are within a millionth of the limit at an extreme temperature."""
    row, cold = cast("Row", item["row"]), item["limit"] == "cold"
    temperature = Fraction(1, 20) if cold else Fraction(10**8)
    weights = _weights([None if s is None else s / temperature for s in row])
    seen = [s for s in row if s is not None]
    limit = _even(row, (lambda s: s == max(seen)) if cold else lambda s: True)
    near = Fraction(1, 10**6)
    return all(compare(a - x, near) < 0 < compare(a - x, -near) for a, x in zip(weights, limit, strict=True))


def _weights(row: Sequence[int | Fraction | None]) -> tuple[Value, ...]:
    scores = [NEGATIVE_INFINITY if s is None else s for s in row]
    return Softmax().apply(Matrix([scores])).rows[0]


TYPE = ProblemType(
    name="estimate",
    title="Reason without computing",
    draw=draw,
    make=make,
    prove=prove,
    options={"reasons": (True, "whether a reason in one sentence is asked for, with a mark of its own")},
)
