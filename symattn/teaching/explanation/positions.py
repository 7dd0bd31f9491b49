"""What has to be said about positions before anyone can work with them."""

from __future__ import annotations

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.ops import Multiple, Positional, Rotate, Sinusoids
from symattn.derivation.ops.position import Frequency, Radians
from symattn.formula import (
    ONE,
    ZERO,
    Call,
    Dots,
    Formula,
    ListOf,
    Name,
    Negative,
    Number,
    Product,
    Relation,
    Row,
    Sum,
)
from symattn.page.document import Inlines, sentence
from symattn.teaching.explanation.wording import Wording

P, THETA = Name("p"), Name("θ")


def position_conventions(op: Sinusoids | Rotate) -> list[Inlines]:
    """Which positions there are, what becomes of each pair of features, and by which angles."""
    listed = ListOf(tuple(Number(str(p)) for p in op.positions), "", ",")
    items: list[Inlines] = [sentence("The positions are {positions}.", positions=Relation((P, listed), ("=",)))]
    thetas: list[Formula] = [Name("θ", (Number(str(k + 1)),)) for k in range(len(op.angles))]
    stated = [part for angle, theta in zip(op.angles, thetas, strict=True) for part in angle.stated(theta)]
    if isinstance(op, Sinusoids):
        waves = [_wave(function, theta) for theta in thetas for function in ("sin", "cos")]
        ordered = tuple(waves if op.layout == "pairs" else (*waves[::2], *waves[1::2]))
        text = (
            "The row of a position is {features}." if op.tokens == "rows" else "The column of a position is {features}."
        )
        items.append(sentence(text, features=ListOf(ordered, separator=",")))
    else:
        items.append(sentence(_PAIRS[op.layout == "pairs"], turn=_turn()))
        if all(angle == op.angles[0] for angle in op.angles):
            stated = list(op.angles[0].stated(THETA))
    angles = Row(tuple(stated))
    if any(isinstance(angle, Frequency | Radians) for angle in op.angles):
        items.append(sentence("The angles are: {angles}, in radians.", angles=angles))
    else:
        items.append(sentence("The angles are: {angles}.", angles=angles))
    return items


_PAIRS = {
    True: "Neighbouring features make pairs, and a pair turns so: {turn}.",
    False: "Features half the width apart make pairs, and a pair turns so: {turn}.",
}


def positional_conventions(op: Positional, written: Formula) -> list[Inlines]:
    """Which positions there are, and the formulas of their features."""
    listed = ListOf(tuple(Number(str(p)) for p in op.positions), "", ",")
    width = Relation((Name("d"), Number(str(op.width))), ("=",))
    several = len(op.formulas) > 1
    groups = Relation((Name("k"), ListOf((ZERO, ONE, Dots()), "", ",")), ("=",))
    return [
        sentence("The positions are {positions}.", positions=Relation((P, listed), ("=",))),
        sentence(_FEATURES[several], groups=groups, width=width, features=written),
    ]


_FEATURES = {
    True: "The features of a position are in turn, for {groups} and {width}: {features}.",
    False: "The features of a position are, for {groups} and {width}: {features}.",
}


def turned_back() -> Inlines:
    """How gradients go back through a rotation: (x, y) → (x cos pθ + y sin pθ, y cos pθ − x sin pθ)."""
    x, y = Name("x"), Name("y")
    cosine, sine = (_wave(function, THETA) for function in ("cos", "sin"))
    first = Sum((Product((x, cosine), "·"), Product((y, sine), "·")))
    second = Sum((Product((y, cosine), "·"), Negative(Product((x, sine), "·"))))
    turn = Relation((ListOf((x, y), "(", ","), ListOf((first, second), "(", ",")), ("→",))
    return sentence("Gradients turn back: {turn}.", turn=turn)


def has_sines(d: Derivation) -> bool:
    """Whether there are sines and cosines that are no roots of fractions."""
    waves = (step.op for step in d if isinstance(step.op, Sinusoids | Rotate))
    formulas = "".join("".join(step.op.formulas) for step in d if isinstance(step.op, Positional))
    stated = "sin" in formulas or "cos" in formulas
    return stated or any(isinstance(angle, Frequency | Radians) for op in waves for angle in op.angles)


def multiple_convention(step: Step, wording: Wording) -> Inlines:
    """The number that a matrix is multiplied by: √d_model = 2."""
    assert isinstance(step.op, Multiple)
    shown = Relation((step.op.symbol(wording.notation.style), wording.number(step.op.factor)), ("=",))
    return sentence("Embeddings are multiplied by {factor}.", factor=shown)


def _turn() -> Formula:
    """(x, y) → (x cos pθ − y sin pθ, x sin pθ + y cos pθ)."""
    x, y = Name("x"), Name("y")
    cosine, sine = (_wave(function, THETA) for function in ("cos", "sin"))
    first = Sum((Product((x, cosine), "·"), Negative(Product((y, sine), "·"))))
    second = Sum((Product((x, sine), "·"), Product((y, cosine), "·")))
    return Relation((ListOf((x, y), "(", ","), ListOf((first, second), "(", ",")), ("→",))


def _wave(function: str, theta: Formula) -> Formula:
    return Call(Name(function), (Product((P, theta)),))
