"""Wrong rounding (rules.md 2.2, rounding).  R1 is X11."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symattn.derivation.derivation import Derivation, Op
from symattn.derivation.misconceptions.base import Misconception, Rewritten, replaced, step_of_kind
from symattn.derivation.misconceptions.scores import rescaled
from symattn.derivation.misconceptions.softmax import weights_rounded
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.entrywise import Round
from symattn.derivation.ops.linear import Scale
from symattn.exact import rounded
from symattn.exact.values import RATIONAL


def rounded_early(d: Derivation) -> Rewritten | None:
    """No place where rounding the weights is what the question asks for."""
    return None if step_of_kind(d, "A_rounded", Round) else weights_rounded(Round(2))(d)


def divisor_to_one_place(d: Derivation, own: Scale) -> Op | None:
    short = 0 if isinstance(own.divisor, RATIONAL) else rounded(own.divisor, 1)
    return Scale(short) if short else None


def short_e(own: Softmax) -> Op | None:
    return replace(own, base=Fraction(27, 10)) if own.base == "e" else None


MISCONCEPTIONS = (
    Misconception(
        "R2",
        "rounded too early",
        "A",
        rounded_early,
        exactly="the weights are rounded to two places and carried on, with no one asking for it",
        tell="Near the right values; nothing is wrong but the last places.",
        feedback="Carry exact values through, and round only the last result.",
    ),
    Misconception(
        "R3",
        "truncated instead of rounded",
        "A",
        weights_rounded(Round(2, "truncate")),
        exactly="the weights are cut off after two places (as many as are declared) and carried on",
        tell="Every weight is too small or right.",
        feedback="Round to the nearest: do not cut the digits off.",
        prior="low",
    ),
    Misconception(
        "R4",
        "root in the divisor rounded to one place",
        "S'",
        rescaled(divisor_to_one_place),
        exactly="√d_k to one decimal place: 1.7 for √3",
        tell="All scaled scores are off by the same small factor.",
        feedback="Keep $@scale(S')$ as it is: with one decimal place the scores are already off.",
        prior="low",
    ),
    Misconception(
        "R6",
        "2.7 used for e",
        "A",
        replaced(Softmax, short_e, "A"),
        exactly="a_ij = 2.7^{m_ij} / Σ_j 2.7^{m_ij}",
        tell="Near the right values; ratios of weights are powers of 2.7.",
        feedback="Keep e as it is, unless the question gives a number for it.",
        source="integer-friendly courses replace e by a near number, which may be declared",
        prior="low",
    ),
)
