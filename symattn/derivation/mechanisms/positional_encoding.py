"""Positions added to embeddings, X = E + P: sinusoids (Vaswani et al. 2017, section 3.5), or learned ones, given.

Where d_model is odd, the last feature is a sine without its cosine.  `positioned` and `angles` serve the mechanisms
that go on from there.
"""

from __future__ import annotations

import re
from random import Random

from symattn.derivation.algebra import size_in_sympy
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import numbers, small
from symattn.derivation.mechanisms.settings import POSITIONS, Givens, Settings, Sizes
from symattn.derivation.ops.linear import Add, Multiple
from symattn.derivation.ops.position import (
    Angle,
    Angles,
    Consecutive,
    Degrees,
    Direction,
    Frequencies,
    Frequency,
    Layout,
    Positions,
    Radians,
    Sinusoids,
)
from symattn.errors import InputError, LetterError
from symattn.exact import Matrix, Rational, Size, exact, has_symbols, is_symbolic, sign, square_root


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return positioned(d, settings, sizes)


def positioned(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """X from E: E_scaled = √d_model E where the setting says so, P unless it is given, and their sum."""
    d, source = embedded(d, settings, sizes)
    if settings.position not in ("sinusoidal", "sinusoidal-halves", "learned"):
        raise InputError(
            f"position is {settings.position!r}; sinusoidal, sinusoidal-halves or learned can be added to embeddings."
        )
    if (settings.position == "learned") != ("P" in d.givens):
        missing = "P" not in d.givens
        raise InputError(
            f"position is {settings.position!r}, and {'no P is given' if missing else 'P is given'}; "
            "P is given for learned positions, and worked out for others."
        )
    if settings.position != "learned":
        d = d.then("P", sinusoids(settings, sizes["n"], sizes["d_model"]))
    return d.then("X", Add(), source, "P")


def embedded(d: Derivation, settings: Settings, sizes: Sizes) -> tuple[Derivation, str]:
    """The embeddings by name, scaled by √d_model where the setting says so."""
    if settings.embedding == "plain":
        return d, "E"
    root = square_root(exact(size_in_sympy(sizes["d_model"])))
    return d.then("E_scaled", Multiple(root, "sqrt(d_model)"), "E"), "E_scaled"


# ------------------------------------------------------------------------------------------ positions and angles


def sinusoids(settings: Settings, n: Size, width: Size) -> Sinusoids:
    """The encodings of n positions, `width` features wide."""
    turns = angles(settings, width, alone=True)
    return Sinusoids(turns, positions(settings, n), layout(settings), odd=isinstance(width, int) and width % 2 == 1)


def positions(settings: Settings, n: Size) -> Positions:
    """The numbers of the positions, from 0 or 1."""
    if isinstance(n, str):
        return Consecutive(settings.first_position, n)
    return tuple(range(settings.first_position, settings.first_position + n))


def layout(settings: Settings) -> Layout:
    """Which features make a pair."""
    return "halves" if settings.position.endswith("-halves") else "pairs"


def angles(settings: Settings, width: Size, *, alone: bool = False) -> Angles:
    """An angle for every pair of features: wavelength^(−2k/width) for k = 0, 1, …, or as the setting says.

    With `alone` the last feature of an odd number has one, too; a width that is a letter is taken to be even.
    """
    base = settings.wavelength
    if not has_symbols(base) and (is_symbolic(base) or sign(base) <= 0):
        raise InputError(f"wavelength is {base}; a positive number such as 10000 was expected.")
    if isinstance(width, str):
        if settings.angles is not None:
            raise LetterError(f"Angles are stated for every pair of features, so their number cannot be {width}.")
        return Frequencies(base, width)
    if width % 2 and not alone:
        raise InputError(f"Positions go by pairs of features, so there must be an even number of them, not {width}.")
    pairs = (width + 1) // 2
    if settings.angles is None:
        return tuple(Frequency(base, 2 * k, width) for k in range(pairs))
    stated = settings.angles
    listed = stated.split(",") if isinstance(stated, str) else stated if isinstance(stated, list | tuple) else [stated]
    read = tuple(map(_angle, listed))
    if len(read) not in (1, pairs):
        raise InputError(f"angles has {len(read)} angles; 1 or {pairs} were expected, one for every pair of features.")
    return read * pairs if len(read) == 1 else read


_POINT = re.compile(r"(?:(?P<cosine>.*?)(?P<sign>[+-]))?(?P<sine>[^+-]*)i")


def _angle(given: object) -> Angle:
    """An angle as it is typed: 90 (degrees), 1/2 rad or pi/6 (radians), or 3/5+4/5i (its cosine and sine)."""
    text = str(given).replace(" ", "").replace("−", "-").replace("π", "pi")
    try:
        if turn := _TURN.fullmatch(text):  # a fraction of π is one of 180°
            return Degrees(_fraction_of_turn(turn))
        if point := _POINT.fullmatch(text):
            size = exact(point["sine"].rstrip("*·") or 1)
            return Direction(exact(point["cosine"] or 0), -size if point["sign"] == "-" else size)
        if text.endswith("rad"):
            return Radians(_rational(text.removesuffix("rad")))
        degrees = exact(text.removesuffix("°"))
    except InputError as error:
        raise InputError(f"The angle {given!r} cannot be read: {error}") from error
    if not isinstance(degrees, Rational):
        raise InputError(
            f"The angle {given!r} is not a whole number or fraction of degrees, such as 90; "
            "radians are 1/2 rad or pi/6."
        )
    return Degrees(degrees)


_TURN = re.compile(r"(?P<above>[+-]?[\d./]*)[*·]?pi(?:/(?P<below>\d+))?(?:rad)?")


def _fraction_of_turn(turn: re.Match[str]) -> Rational:
    above = turn["above"] if turn["above"].strip("+-") else f"{turn['above']}1"
    return _rational(f"180*({above})/{turn['below'] or 1}")


def _rational(text: str) -> Rational:
    number = exact(text)
    if not isinstance(number, Rational):
        raise InputError(f"{text} is not a whole number or fraction.")
    return number


# ------------------------------------------------------------------------------------------ random numbers


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Embeddings of whole numbers up to 3, and positions where they are learned."""
    return embeddings(settings, sizes, 3, rng)


def embeddings(settings: Settings, sizes: Sizes, largest: int, rng: Random) -> Givens:
    """E in whole numbers up to a size, and a P of −1, 0 and 1 where positions are learned."""
    n, width = numbers(sizes, "n", "d_model")
    drawn = {"E": Matrix(small(n, width, largest, rng))}
    return {**drawn, "P": Matrix(small(n, width, 1, rng))} if settings.position == "learned" else drawn


MECHANISM = Mechanism(
    name="positional_encoding",
    title="Positional encoding",
    givens={"E": ("n", "d_model")},
    optional={"P": ("n", "d_model")},
    defaults={"position": "sinusoidal"},
    uses=POSITIONS,
    default_sizes={"n": 3, "d_model": 4},
    draw=draw,
    derive=derive,
)
