"""Random numbers for whole blocks, drawn sublayer by sublayer along the stream of residuals.

Where arithmetic is exact, the weights at the end of a sublayer are chosen so that the norm after it comes out, and in
whole numbers where attention comes next, so that its scores are whole as well.  In decimals nothing has to come out:
the stream is followed to three places, for choosing only, and no token may lose its deviation or equal another one.
All searches end after counted tries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm, sqrt
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.drawing import (
    Rows,
    attention_weights,
    entries,
    first,
    is_small,
    number,
    numbers,
    plus,
    product,
    tried,
)
from symattn.derivation.mechanisms.feed_forward import BIASES, drawn_hidden
from symattn.derivation.mechanisms.layer_norm import WEIGHTS, Grid, differ, drawn_output, moments, normed
from symattn.derivation.mechanisms.multi_head_attention import heads
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import Scope
from symattn.errors import InputError, UndefinedError
from symattn.exact import AnyMatrix, Matrix, Rational
from symattn.exact.rounding import approximate
from symattn.foundation.dice import pick, whole

TRIES, FEWER_TRIES = 2000, 100
"""Draws of a hidden layer until what it starts from is drawn again: exactly, and in decimals, which come cheap."""

STARTS = 20
"""Draws of inputs whose norms are to differ."""

LARGEST_COMMON = 35
"""Common denominator of what attention gives; sums with a larger one hardly ever have a norm that comes out."""

PLACES = 3
"""Places to which a stream of decimals is followed."""

LEAST_DEVIATION = 0.5
"""What a token in a stream of decimals needs to be normed."""

LARGEST_SIZE, LARGEST_SEEN = 20, 3
"""How large the entries of a stream of decimals may be, and those that attention sees."""


@dataclass(frozen=True)
class Stream:
    """The residuals of a block so far, and what its next sublayer sees: the same, or in pre-norm their norm."""

    rows: Grid
    seen: Grid

    @classmethod
    def of(cls, rows: Grid, settings: Settings) -> Stream | None:
        """The stream from these sums on; None if their norm is irrational and has no short decimal."""
        norm = normed if settings.arithmetic == "exact" else _nearly_normed
        out = [row for row in (norm(row, settings) for row in rows) if row is not None]
        if len(out) < len(rows) or (settings.arithmetic != "exact" and len(set(map(tuple, out))) < len(out)):
            return None
        return cls(rows if settings.norm_place == "pre" else out, out)

    @classmethod
    def start(cls, rows: Rows, settings: Settings) -> Stream | None:
        """The stream at the beginning of a block, which is normed in pre-norm alone."""
        grid: Grid = [list(row) for row in rows]
        return cls.of(grid, settings) if settings.norm_place == "pre" else cls(grid, grid)


def _nearly_normed(row: Sequence[Rational], settings: Settings) -> list[Rational] | None:
    """A row of decimals normed to a few places; None if it is too large, or its variance is close to zero."""
    if any(not -LARGEST_SIZE <= x <= LARGEST_SIZE for x in row):
        return None
    if settings.norm == "none":
        return list(row)
    mean, variance = moments(row, settings)
    if variance < LEAST_DEVIATION**2:
        return None
    root = sqrt(float(variance) + approximate(settings.epsilon))
    return [_to_places(float(x - mean) / root) for x in row]


def _to_places(x: float) -> Rational:
    return Fraction(round(x * 10**PLACES), 10**PLACES)


def _whole_norms(n: int, width: int, settings: Settings, rng: Random) -> Rows | None:
    """Rows of small whole numbers whose norms are whole, and differ."""
    rows = [first(lambda: _whole_norm(width, settings, rng), TRIES) for _ in range(n)]
    normed_rows = [row for row in rows if row]
    if len(normed_rows) < n:
        raise InputError(f"Of {TRIES} rows of {width} whole numbers none has a norm of whole numbers.")
    out = [normed(row, settings) for row in normed_rows]
    return normed_rows if all(row not in out[:i] for i, row in enumerate(out)) else None


def _whole_norm(width: int, settings: Settings, rng: Random) -> list[int] | None:
    row = [whole(rng, -3, 4) for _ in range(width)]
    out = normed(row, settings)
    return row if out and len(set(row)) > 1 and whole_rows([out]) else None


def whole_rows(rows: Grid) -> Rows | None:
    """Rows of whole numbers; none for others."""
    whole_rows = [[int(x) for x in row] for row in rows]
    return whole_rows if whole_rows == rows else None


@dataclass
class Sublayers:
    """Sublayers that are drawn one after the other along a stream; each method gives None if its draw fails.

    `left` is how many may still be drawn, so that what is hopeless is given up within seconds, the same anywhere.
    """

    settings: Settings
    sizes: Sizes
    rng: Random
    left: int = 300

    def __post_init__(self) -> None:
        self.exactly = self.settings.arithmetic == "exact"

    def started(self) -> tuple[Matrix, Stream] | None:
        """The inputs of a block and the stream that begins with them, whose normalised inputs have to be integers."""
        n, width = numbers(self.sizes, "n", "d_model")
        pre = self.settings.norm_place == "pre" and self.exactly
        whole = first(lambda: _whole_norms(n, width, self.settings, self.rng), STARTS) if pre else None
        x = whole if pre else entries(n, width, self.rng)
        stream = x and Stream.start(x, self.settings)
        return (Matrix(x), stream) if x and stream else None

    def attended(
        self, stream: Stream, *, memory: Rows | None = None, place: str = "", before_attention: bool = False
    ) -> tuple[Givens, Stream] | None:
        """Weights of attention of a stream to itself or to all of `memory`, and the stream after it.

        `InputError` where no norm can come out, for the weights are irrational.
        """
        self._spend()
        source = whole_rows(stream.seen) if self.exactly else stream.seen
        if source is None:
            return None
        settings = self.settings if memory is None else replace(self.settings, mask=None)
        seen = memory or source
        sizes = {**self.sizes, "m": len(seen), "d_out": number(self.sizes, "d_model")}
        given = attention_weights(_floats(source), _floats(seen), settings, sizes, self.rng, place)
        if given is None:
            return None
        at = Scope(place=place)
        del given[at("W_O")]
        alone = Derivation({"X": Matrix(source), "E": Matrix(seen), **given}, arithmetic=settings.arithmetic)
        try:
            last = tried(heads(alone, settings, sizes, "X", "E" if memory else "", place), self.rng).last
        except UndefinedError:  # scores over a sum of 0
            return None
        outputs = rational(last.result) if self.exactly else _nearly(last.result)
        if outputs is None:
            raise InputError(
                "These settings make the weights of attention irrational, so that no norm after it comes out: "
                "arithmetic = decimal takes any; exactly, a softmax with base 2 or 3 and d_k = 1 or 4, or weights by "
                "hardmax leave room."
            )
        if self.exactly and lcm(*(x.denominator for row in outputs for x in row)) > LARGEST_COMMON:
            return None
        ended = self._ended(stream, outputs, (0,), settings, before_attention)
        return ended and ({**given, at("W_O"): ended[0]}, ended[2])

    def fed_forward(self, stream: Stream, *, before_attention: bool = False) -> tuple[Givens, Stream] | None:
        """Weights of a feed-forward network, and the stream after it.

        In pre-norm what a block ends with is normed only `before_attention`, by the next block.
        """
        self._spend()
        settings, d_ff = self.settings, number(self.sizes, "d_ff")
        tries = TRIES if self.exactly else FEWER_TRIES
        layers = first(lambda: drawn_hidden(stream.seen, d_ff, settings, self.rng), tries)
        if layers is None:
            return None
        given, hidden = layers
        if settings.norm_place == "pre" and not before_attention:
            settings = replace(settings, norm="none")
        ended = self._ended(stream, hidden, BIASES, settings, before_attention)
        return ended and ({**given, "W_2": ended[0], "b_2": ended[1]}, ended[2])

    def _spend(self) -> None:
        self.left -= 1
        if self.left < 0 and not self.exactly:
            raise InputError(
                "No block that is worth setting was found with these sizes and settings; other sizes leave more room."
            )
        if self.left < 0:
            raise InputError(
                "No block whose norms come out was found with these sizes and settings; d_model = 4 leaves the most "
                "room, and arithmetic = decimal takes any."
            )

    def _ended(
        self, stream: Stream, inputs: Grid, biases: tuple[int, ...], settings: Settings, before_attention: bool
    ) -> tuple[Matrix, Matrix, Stream] | None:
        """The weights and the bias that end a sublayer, and the stream after its residual and its norm."""

        def after(weights: Grid, bias: list[Rational]) -> Stream | None:
            sums = plus(plus(stream.rows, product(inputs, weights)), [bias] * len(inputs))
            if self.exactly and not all(is_small(x) for row in sums for x in row):
                return None
            return Stream.of(sums, settings)

        def any_end() -> tuple[Matrix, Matrix, Stream] | None:
            """Any weights and any bias after which the stream goes on in decimals."""
            width = len(stream.rows[0])
            weights: Grid = [[pick(self.rng, WEIGHTS) for _ in range(width)] for _ in inputs[0]]
            bias: list[Rational] = [pick(self.rng, biases) for _ in range(width)]
            on = after(weights, bias) if differ(weights) else None
            if not on or (before_attention and any(abs(x) > LARGEST_SEEN for row in _floats(on.seen) for x in row)):
                return None
            return Matrix(weights), Matrix([bias]), on

        if not self.exactly:
            return first(any_end, ENDS)
        drawn = drawn_output(
            stream.rows, inputs, biases, settings, self.rng,
            lambda out: not before_attention or whole_rows(out) is not None,
        )  # fmt: skip
        on = drawn and after(*drawn)
        return (Matrix(drawn[0]), Matrix([drawn[1]]), on) if drawn and on else None


ENDS = 200
"""Draws of any weights that end a sublayer, until what they start from is drawn again."""


def _floats(rows: Sequence[Sequence[Rational]]) -> list[list[float]]:
    """For choosing only; whole numbers stay."""
    return [[x if isinstance(x, int) else float(x) for x in row] for row in rows]


def _nearly(m: AnyMatrix) -> Grid | None:
    return [[_to_places(approximate(x)) for x in row] for row in m.rows] if isinstance(m, Matrix) else None


def rational(m: AnyMatrix) -> Grid | None:
    """The rows of a matrix of rational numbers, none for any other."""
    if not isinstance(m, Matrix) or not all(isinstance(x, int | Fraction) for x in m):
        return None
    return [[x for x in row if isinstance(x, int | Fraction)] for row in m.rows]
