"""What has to be said about positions before anyone can work with them."""

from __future__ import annotations

from symattn.derivation import Derivation, Step
from symattn.document import Inlines, Math, Words
from symattn.explanation.wording import Wording
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
from symattn.ops import Multiple, Positional, Rotate, Sinusoids
from symattn.ops.position import Frequency, Radians

P, THETA = Name("p"), Name("θ")


def position_conventions(op: Sinusoids | Rotate) -> list[Inlines]:
    """Which positions there are, what becomes of each pair of features, and by which angles."""
    listed = ListOf(tuple(Number(str(p)) for p in op.positions), "", ",")
    items: list[Inlines] = [(Words("The positions are "), Math(Relation((P, listed), ("=",))), Words("."))]
    thetas: list[Formula] = [Name("θ", (Number(str(k + 1)),)) for k in range(len(op.angles))]
    stated = [part for angle, theta in zip(op.angles, thetas, strict=True) for part in angle.stated(theta)]
    if isinstance(op, Sinusoids):
        waves = [_wave(function, theta) for theta in thetas for function in ("sin", "cos")]
        ordered = tuple(waves if op.layout == "pairs" else (*waves[::2], *waves[1::2]))
        line = "row" if op.tokens == "rows" else "column"
        items.append((Words(f"The {line} of a position is "), Math(ListOf(ordered, separator=",")), Words(".")))
    else:
        which = "Neighbouring features" if op.layout == "pairs" else "Features half the width apart"
        items.append((Words(f"{which} make pairs, and a pair turns so: "), Math(_turn()), Words(".")))
        if all(angle == op.angles[0] for angle in op.angles):
            stated = list(op.angles[0].stated(THETA))
    radians = ", in radians." if any(isinstance(angle, Frequency | Radians) for angle in op.angles) else "."
    items.append((Words("The angles are: "), Math(Row(tuple(stated))), Words(radians)))
    return items


def positional_conventions(op: Positional, written: Formula) -> list[Inlines]:
    """Which positions there are, and the formulas of their features."""
    listed = ListOf(tuple(Number(str(p)) for p in op.positions), "", ",")
    width = Relation((Name("d"), Number(str(op.width))), ("=",))
    several = len(op.formulas) > 1
    words = "The features of a position are in turn, for " if several else "The features of a position are, for "
    groups = Relation((Name("k"), ListOf((ZERO, ONE, Dots()), "", ",")), ("=",))
    return [
        (Words("The positions are "), Math(Relation((P, listed), ("=",))), Words(".")),
        (Words(words), Math(groups), Words(" and "), Math(width), Words(": "), Math(written), Words(".")),
    ]


def turned_back() -> Inlines:
    """How gradients go back through a rotation: (x, y) → (x cos pθ + y sin pθ, y cos pθ − x sin pθ)."""
    x, y = Name("x"), Name("y")
    cosine, sine = (_wave(function, THETA) for function in ("cos", "sin"))
    first = Sum((Product((x, cosine), "·"), Product((y, sine), "·")))
    second = Sum((Product((y, cosine), "·"), Negative(Product((x, sine), "·"))))
    turn = Relation((ListOf((x, y), "(", ","), ListOf((first, second), "(", ",")), ("→",))
    return (Words("Gradients turn back: "), Math(turn), Words("."))


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
    return (Words("Embeddings are multiplied by "), Math(shown), Words("."))


def _turn() -> Formula:
    """(x, y) → (x cos pθ − y sin pθ, x sin pθ + y cos pθ)."""
    x, y = Name("x"), Name("y")
    cosine, sine = (_wave(function, THETA) for function in ("cos", "sin"))
    first = Sum((Product((x, cosine), "·"), Negative(Product((y, sine), "·"))))
    second = Sum((Product((x, sine), "·"), Product((y, cosine), "·")))
    return Relation((ListOf((x, y), "(", ","), ListOf((first, second), "(", ",")), ("→",))


def _wave(function: str, theta: Formula) -> Formula:
    return Call(Name(function), (Product((P, theta)),))
