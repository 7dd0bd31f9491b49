"""Attention versus recurrence and convolution: cost, waiting, distance, and claims to judge (rules.md 5, type 15).

The three kinds of layer are those of Vaswani et al. 2017, table 1, with every number counted instead of O(…): in
derivations of a layer of these sizes, where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import count
from random import Random
from typing import Literal

from symattn.derivation.counting import chain, depth, independent, multiply_adds
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import Outline
from symattn.formula import read_formula
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.foundation.languages import message
from symattn.page.document import (
    Inlines,
    ItemList,
    Paragraph,
    Strong,
    TextLike,
    WorkingSpace,
    as_text,
    listing,
    sentence,
)
from symattn.page.notation import load_notation
from symattn.teaching.problems.asking import (
    WORKED_OUT,
    Offer,
    Prose,
    TableRow,
    bank,
    choice_part,
    comes_to,
    in_digits,
    make_part,
    number_part,
    table_part,
    ticks,
)
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, Record, question
from symattn.teaching.question import LETTERS, Lesser, Mark, Part, RubricAnswer

# ------------------------------------------------------------------------------------------------ the bank


Layer = Literal["attention", "recurrent"]


@dataclass(frozen=True)
class Claim:
    """A claim, whether it is true, why in one sentence, and what to write instead if it is false.

    Of claims that share a `topic` only one is set at a time: they would answer one another.
    """

    text: str
    true: bool
    why: str
    correction: str = ""
    topic: str = ""


@dataclass(frozen=True)
class Work:
    """Steps of a layer of three positions that may or may not be done at the same time, and why."""

    text: str
    layer: Layer
    steps: tuple[str, ...]
    why: str

    @property
    def parallel(self) -> bool:
        """Whether none of them waits for another: told by the derivation."""
        return independent(layer(self.layer, 3, 2, "token" if "." in self.steps[0] else "matrix"), self.steps)


@dataclass(frozen=True)
class ClaimBank:
    """What `recurrence.toml` has."""

    claims: Mapping[str, Claim]
    work: Mapping[str, Work]


BANK = bank(ClaimBank, "recurrence")
STATEMENTS, WORK = BANK.claims, BANK.work

# ------------------------------------------------------------------------------------------------ counting


def stacked_layers(distance: int, k: int) -> int:
    """Causal convolutions of width k, one on another, to reach back `distance` positions: each reaches k − 1."""
    return -(-distance // (k - 1))


def dilated_layers(distance: int, k: int) -> int:
    """The same with dilations 1, k, k², …: L layers see k^L positions, which are distances 0 to k^L − 1."""
    return next(layers for layers in count() if k**layers > distance)


# ------------------------------------------------------------------------------------------------ derivations


@lru_cache(maxsize=64)
def layer(kind: Layer, n: int, d: int, by: str = "matrix") -> Derivation:
    """A layer over n tokens of width d, in shapes alone: scores are scaled, and a state is given to begin with."""
    chosen = mechanism({"attention": "self_attention", "recurrent": "recurrent_network"}[kind])
    settings = Settings.read({"by": by} if kind == "attention" else {"by": by, "function": "tanh"})
    shapes = chosen.given_shapes({**dict.fromkeys(chosen.letters, d), "n": n}, settings)
    givens = {name: Outline(shape) for name, shape in shapes.items()}
    return chosen.run(givens if kind == "attention" else {**givens, "H_0": Outline((1, d))}, settings)


# ------------------------------------------------------------------------------------------------ drawing

SIZES = {
    "starter": ((4, 5, 6, 7, 8, 9), (2, 3, 4, 5)),
    "standard": ((10, 12, 15, 20, 25, 30, 40, 50), (4, 6, 8, 10, 16, 20, 32)),
    "long": ((50, 64, 80, 100, 128, 200, 250), (16, 32, 48, 64, 100, 128)),
}
"""Numbers of tokens, and widths."""
WIDTHS = (24, 36, 40, 48, 56, 60, 64, 72, 80, 96, 100, 112, 120, 128, 144, 160, 192, 200, 256, 300, 320, 384, 512)
CLAIMS = {"starter": 4, "standard": 6, "long": 8}
"""Statements to judge; half of them are true."""


def draw_variant(rng: Random, draw: Draw) -> Record:
    level = draw.spec.level
    tokens, widths = SIZES[level]
    n = pick(rng, tokens)
    d = pick(rng, [width for width in widths if width != n])
    first = whole(rng, 1, max(1, n // 4))
    return {
        "n": n,
        "d": d,
        "k": pick(rng, [k for k in (2, 3, 4, 5, 7) if k not in (n, d)]),
        "from": first,
        "to": whole(rng, first + max(2, n // 2), n),
        "wide": pick(rng, [width for width in WIDTHS if width != d]),
        "statements": _statements(CLAIMS[level] // 2, rng),
        "parallel": _works(rng),
        "through": whole(rng, 4, 9),
        "slope": pick(rng, ("2", "3", "3/2", "4")),
    }


def _works(rng: Random) -> tuple[str, ...]:
    """Three pieces of work that can be done at once and three that cannot, in random order."""
    sorts = [[name for name, work in WORK.items() if work.parallel == parallel] for parallel in (True, False)]
    return tuple(shuffled(rng, [name for names in sorts for name in sample(rng, names, 3)]))


def _statements(each: int, rng: Random) -> tuple[str, ...]:
    """`each` true claims and as many false ones, on different topics, in random order."""
    chosen: list[str] = []
    topics: set[str] = set()
    wanted = {True: each, False: each}
    for name in shuffled(rng, list(STATEMENTS)):
        claim = STATEMENTS[name]
        if wanted[claim.true] and (not claim.topic or claim.topic not in topics):
            wanted[claim.true] -= 1
            topics.add(claim.topic)
            chosen.append(name)
    return tuple(chosen)


# ------------------------------------------------------------------------------------------------ the question

say = Prose(load_notation("standard"))


@dataclass(frozen=True)
class Sizes:
    """Tokens and width, width of a convolution, two positions, and a width of larger layers."""

    n: int
    d: int
    k: int
    first: int
    last: int
    wide: int

    @property
    def distance(self) -> int:
        return self.last - self.first


def ask(draw: Draw) -> ProvedQuestion:
    """The chains, what is parallel and the gradients are missing in what was frozen before they were asked for."""
    draw.together(draw_variant)
    sizes = Sizes(*(draw[name] for name in ("n", "d", "k", "from", "to", "wide")))
    claims = [STATEMENTS[name] for name in draw["statements"]]
    parallel = draw["parallel"] if draw.has("parallel") else ()
    parts: list[Part | Item] = [_cost(sizes), _steps(sizes)]
    if parallel:
        parts += [_chains(sizes), _parallel([WORK[name] for name in parallel])]
    parts += [_paths(sizes), _overtaking(sizes)]
    if draw.has("through") and draw["through"]:
        parts.append(_gradients(draw["through"], Fraction(draw["slope"])))
    parts += [_judged(claims), _corrected(claims)]
    layers = (
        say("self-attention with one head, no mask, $d_k = d_v = d$, and no output matrix;"),
        say("a recurrent layer $h_t = f(W x_t + U h_{t-1})$, with $W$ and $U$ of size $d$×$d$;"),
        say(
            "a causal convolution of width $k = {width}$: output $t$ is the sum of $k$ products of a $d$×$d$ matrix "
            "with one of the inputs $t - k + 1$ to $t$; where there is no input, zeros are put in and multiplied as "
            "well.",
            width=sizes.k,
        ),
    )
    sequence = "A sequence of $n = {tokens}$ tokens, every vector of width $d = {width}$:"
    return question(
        draw,
        parts,
        introduction="Three kinds of layer read the same sequence. Give exact numbers, not orders of growth.",
        given=(say(sequence, tokens=sizes.n, width=sizes.d), ItemList(layers)),
        conventions=(
            say("A multiply-add is one operation; softmax, scaling, biases and $f$ are not counted."),
            say(
                "Sequential steps: the fewest steps in which a layer can be worked out, when all positions that do "
                "not wait for one another are done in one step."
            ),
        ),
        features={"load": float(8 + len(claims)), "true": float(sum(claim.true for claim in claims))},
        positions={"true": "".join("FT"[claim.true] for claim in claims)},
    )


def _line(what: TextLike, value: int | Fraction, how: str, **shown: Inlines | str | int) -> TableRow:
    return TableRow(what, value, say(how, value=(Strong(in_digits(value)),), **shown))


def _product(what: TextLike, factors: str) -> TableRow:
    return _line(what, comes_to(factors), "{factors} = {value}", factors=factors)


def _cost(sizes: Sizes) -> Item:
    n, d, k = sizes.n, sizes.d, sizes.k
    pairs = "Self-attention: scores and weighted values"

    def again() -> list[int]:
        """Position by position; in derivations of the layers it comes to the same."""
        counts = [
            sum(d * d for _ in range(n) for _ in "QKV"),
            sum(2 * d for _ in range(n) for _ in range(n)),
            sum(d * d for _ in range(n) for _ in "WU"),
            sum(d * d for _ in range(n) for _ in range(k)),
        ]
        layers = [multiply_adds(layer("attention", n, d)), multiply_adds(layer("recurrent", n, d))]
        return counts if layers == [counts[0] + counts[1], counts[2]] else layers

    part = table_part(
        "Operations",
        "How many multiply-adds does each layer take for the whole sequence?",
        ("Layer", message("Multiply-adds")),
        [
            _product(say("Self-attention: $Q$, $K$ and $V$"), f"3·{n}·{d}·{d}"),
            _product(pairs, f"2·{n}·{n}·{d}"),
            _product("Recurrent layer", f"{n}·2·{d}·{d}"),
            _product("Convolution", f"{n}·{k}·{d}·{d}"),
        ],
        Mark("M", 1),
        Mark("A", 2, "all four; A1 for three", Lesser(Fraction(3, 4))),
        name="cost",
    )
    return Item(part, again=again)


def _steps(sizes: Sizes) -> Part:
    return table_part(
        "Sequential steps",
        "How many sequential steps does each layer need?",
        ("Layer", "Sequential steps"),
        [
            _line("Self-attention", 1, "no output waits for another: {value}"),
            _line("Recurrent layer", sizes.n, "each state waits for the one before it: {value}"),
            _line("Convolution", 1, "no output waits for another: {value}"),
        ],
        name="steps",
    )


def _chains(sizes: Sizes) -> Item:
    lines = []
    for tokens in (sizes.n, 2 * sizes.n):
        attention = layer("attention", tokens, sizes.d)
        steps = listing([as_text(read_formula(step.name)) for step in chain(attention)], last="")
        what = say("Self-attention, {tokens} tokens", tokens=tokens)
        lines.append(_line(what, depth(attention), "{steps}: {value}", steps=steps))
    for tokens in (sizes.n, 2 * sizes.n):
        how = "$U h_{t-1}$, the sum and $f$ at each position; $W x_t$ is done in the meantime: 3·{tokens} = {value}"
        what = say("Recurrent layer, {tokens} tokens", tokens=tokens)
        lines.append(_line(what, depth(layer("recurrent", tokens, sizes.d)), how, tokens=tokens))
    asked = say(
        "Now in more detail: multiplying by a matrix (one token or all tokens), a sum, a scaling, a softmax and $f$ "
        "count as one step each. A step can start as soon as everything that it needs is available, and any number "
        "of steps can run at once. How many steps are there in the longest chain in which each step waits for the "
        "one before it? (Self-attention scales its scores; $h_0$ is given.)"
    )
    marks = Mark("M", 1), Mark("A", 1, "all four")
    part = table_part("Longest chain", asked, ("Layer", "Steps in a chain"), lines, *marks, name="chains")
    again = [_projected(), _projected(), _unrolled(sizes.n), _unrolled(2 * sizes.n)]
    return Item(part, again=lambda: again)


def _paths(sizes: Sizes) -> Item:
    k, distance = sizes.k, sizes.distance
    dilated = dilated_layers(distance, k)
    asked = say(
        "Information must travel from input {first} to output {last}. What is the smallest number of each of these "
        "that it has to pass through? (With dilation $a$, the inputs of a convolution are $a$ positions apart.)",
        first=sizes.first,
        last=sizes.last,
    )
    lines = [
        _line("Self-attention layers", 1, "every query meets every key: {value}"),
        _line(
            "Steps from state to state in one recurrent layer",
            distance,
            "{last} − {first} = {value}",
            last=sizes.last,
            first=sizes.first,
        ),
        _line(
            say("Stacked convolutions of width {width}", width=k),
            stacked_layers(distance, k),
            "each reaches {reach} back; {distance}/{reach}, rounded up: {value}",
            reach=k - 1,
            distance=distance,
        ),
        _line(
            say("Such convolutions with dilations 1, {width}, {square}, …", width=k, square=k * k),
            dilated,
            "$L$ of them reach ${width}^L - 1$ back, "
            "${width}^{layers} - 1 = {reach} ≥ {distance} > {width}^{fewer} - 1 = {short}$: {value}",
            width=k,
            layers=dilated,
            reach=k**dilated - 1,
            distance=distance,
            fewer=dilated - 1,
            short=k ** (dilated - 1) - 1,
        ),
    ]
    marks = (Mark("B", 1, "self-attention and recurrence"), Mark("B", 1, "both convolutions"))
    part = table_part("Distance", asked, ("What is passed", "How many"), lines, *marks, name="paths")
    states = len(range(sizes.first, sizes.last))
    return Item(part, again=lambda: [1, states, *(_walk(distance, k, dilated=dilated) for dilated in (False, True))])


def _gradients(steps: int, large: Fraction) -> Part:
    slopes = (
        ("${weight}^{steps}$, which vanishes: {value}", 1 / large),
        ("${weight}^{steps}$, which stays: {value}", Fraction(1)),
        ("${weight}^{steps}$, which explodes: {value}", large),
    )
    lines = [
        _line(say("$w = {weight}$", weight=str(w)), w**steps, how, weight=_base(w), steps=steps) for how, w in slopes
    ]
    asked = say(
        "A recurrent layer of width 1 without an activation has $h_t = w h_{t-1} + x_t$. What is the derivative of "
        "$h_{steps}$ with respect to $h_0$?",
        steps=steps,
    )
    part = table_part("Gradients through time", asked, ("Weight", "Derivative"), lines, name="gradients")
    unstable = say(
        "Every step multiplies by $w$. With a function $f$ it multiplies by $w$ times a slope of $f$, which for tanh "
        "and ReLU is at most 1: gradients vanish more easily then. So a recurrent network is not numerically unstable "
        "as such: it depends on its weights."
    )
    return replace(part, key=(*part.key, Paragraph(unstable)))


def _base(w: Fraction) -> str:
    return f"({w})" if w.denominator > 1 else str(w)


def _overtaking(sizes: Sizes) -> Item:
    d, k = sizes.wide, sizes.k
    n = k * d // 2 + 1  # the first whole number above k·d/2
    asked = say(
        "Now $d = {width}$. What is the smallest $n$ for which the scores and weighted values of "
        "self-attention take more multiply-adds than the convolution?",
        width=d,
    )
    why = say(
        "$2 n^2 d > {width} n d^2$ means $n > frac({width} d, 2) = {bound}$; "
        "the smallest whole number above that is {smallest}.",
        width=k,
        bound=str(Fraction(k * d, 2)),
        smallest=n,
    )
    title, label = "When the scores cost more", say("$n$ =")
    part = number_part(title, [asked], label, n, [why], *WORKED_OUT, name="overtaking", room=24, width=30)
    return Item(part, again=lambda: next(n for n in count(1) if 2 * n * n * d > k * n * d * d))


def _parallel(works: Sequence[Work]) -> Part:
    asked = "Tick everything that can be done at the same time, and nothing else."
    offers = [Offer(say(work.text), say(work.why), work.parallel) for work in works]
    return choice_part("At the same time", [asked], offers, ticks(2), several=True, name="parallel")


def _judged(claims: Sequence[Claim]) -> Part:
    asked = "Tick every statement that is true, and no other."
    offers = []
    for claim in claims:
        why = sentence("true. {reason}" if claim.true else "false. {reason}", reason=say(claim.why))
        offers.append(Offer(say(claim.text), why, claim.true))
    return choice_part("True or false", [asked], offers, ticks(2), several=True, name="claims")


def _corrected(claims: Sequence[Claim]) -> Part:
    points = tuple(
        sentence("{letter}: {reason}", letter=letter, reason=say(claim.correction))
        for letter, claim in zip(LETTERS, claims, strict=False)
        if not claim.true
    )
    return make_part(
        "Correct the false statements",
        [
            "Rewrite each false statement so that it is true. Give its letter first.",
            WorkingSpace(16 * max(3, len(points)), ruled=True),
        ],
        ["Any true sentence on the same point that is not merely a denial; for example:", ItemList(points)],
        RubricAnswer(points),
        Mark("B", len(points), "one for each"),
        name="corrections",
    )


# ------------------------------------------------------------------------------------------------ by another route


def _projected() -> int:
    """When the outputs of self-attention are there, if every step takes 1: for all tokens at the same time."""
    queries = keys = values = 1
    scores = max(queries, keys) + 1
    weights = scores + 1 + 1  # scaled, then the softmax
    return max(weights, values) + 1


def _unrolled(n: int) -> int:
    """When the last state of a recurrent layer is there."""
    inputs, state = 1, 0
    for _ in range(n):
        total = max(inputs, state + 1) + 1
        state = total + 1
    return state


def _walk(distance: int, k: int, dilated: bool) -> int:
    """Layers until a position so far back is reached, spreading layer by layer from the last position."""
    reached, layers = {0}, 0
    while distance not in reached:
        step = k**layers if dilated else 1
        reached = {back + step * a for back in reached for a in range(k) if back + step * a <= distance}
        layers += 1
    return layers


TYPE = ProblemType(ask, name="recurrence", title="Attention versus recurrence")
