"""Multi-head attention: Vaswani et al. 2017, section 3.2.2.

The weights of all heads stand side by side, so that head i has the i-th block of columns of Q, K and V.  With fewer key
and value heads, groups of query heads share them: one for all is multi-query attention (Shazeer 2019), more of them
grouped-query attention (Ainslie et al. 2023).
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism, Shapes
from symattn.derivation.mechanisms.drawing import attention_weights, entries, first_success, number
from symattn.derivation.mechanisms.settings import HEADS, SCORES, Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import Scope, affine, attend, layer_words, project
from symattn.derivation.ops.linear import HeadSlice, Slice, Stack
from symattn.derivation.sizes import share
from symattn.errors import InputError
from symattn.exact import Matrix, Size
from symattn.foundation.languages import message


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return heads(d, settings, sizes)


def heads(
    d: Derivation, settings: Settings, sizes: Sizes, source: str = "X", memory: str = "", place: str = ""
) -> Derivation:
    """The whole layer: projections, the heads, their outputs side by side, and W_O.

    Queries are projected from `source`, keys and values from `memory`, or from `source` where there is none.  The last
    step is O; without W_O it is C, and Z with a single head.
    """
    for role in settings.order:
        d = project(d, role, settings, source if role == "Q" else memory or source, place)
    d = each_head(d, settings, sizes, place) if settings.heads > 1 else attend(d, settings, sizes, Scope(place=place))
    return combine(d, settings, place)


def combine(d: Derivation, settings: Settings, place: str = "") -> Derivation:
    """The heads' outputs side by side, C = [Z_1 Z_2 …]; then W_O and its bias, where they are given."""
    at, last = Scope(place=place), Scope(place=place)("Z")
    if settings.heads > 1:
        outputs = (Scope(i, place)("Z") for i in range(1, settings.heads + 1))
        section: str = message("all heads")
        if place:
            section = message("{place}, all heads", place=layer_words(place))
        d, last = d.then(at("C"), Stack("columns"), *outputs, section=section), at("C")
    if at("W_O") not in d.givens:
        return d
    return affine(d, at("O"), last, at("W_O"), at("b_O"), section=d.last.section)


def each_head(
    d: Derivation,
    settings: Settings,
    sizes: Sizes,
    place: str = "",
    keys: str = "K",
    values: str = "V",
) -> Derivation:
    """The heads, one after the other; `keys` and `values` are the matrices that theirs are parts of."""
    h, g = settings.heads, settings.groups
    for i in range(1, h + 1):
        scope, shared = Scope(i, place, h), Scope((i - 1) * g // h + 1, place)
        d, q = own_part(d, settings, "Q", scope, h, scope)
        d, k = own_part(d, settings, "K", shared, g, scope, keys)
        d, v = own_part(d, settings, "V", shared, g, scope, values)
        d = attend(d, settings, sizes, scope, (q, k, v))
    return d


def own_part(
    d: Derivation, settings: Settings, role: str, owner: Scope, of: int, scope: Scope, whole: str = ""
) -> tuple[Derivation, str]:
    """The columns of one head of `of`, and what they are called; made where they are first used, in `scope`.

    `whole` is the matrix of which they are columns, where it is not called by the role.
    """
    whole, own = Scope(place=owner.place)(whole or role), owner(role)
    if of == 1:
        return d, whole
    if own not in d:
        assert owner.head is not None
        op = part(settings, d.value(whole).shape[1], of, owner.head)
        d = d.then(own, op, whole, section=scope.section)
    return d, own


def part(settings: Settings, width: Size, of: int, own: int) -> Slice | HeadSlice:
    """The columns of head `own` (from 1) of `of` heads."""
    one = share(width, of)
    if one is None:
        raise InputError(f"{of} heads cannot share {width} columns evenly.")
    if isinstance(one, str):
        return HeadSlice(own, of, one, settings.split)
    return Slice.of_head(own, of, one, settings.split)


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Inputs, and weights whose heads are worth comparing."""

    def drawn() -> Givens | None:
        x = entries(number(sizes, "n"), number(sizes, "d_model"), rng)
        weights = attention_weights(x, x, settings, sizes, rng)
        return weights and {"X": Matrix(x), **weights}

    return first_success(drawn, "heads that are worth comparing")


def alike(d: Derivation) -> str:
    """Why heads are not worth setting beside one another: two with the same weights; "" if there are none."""
    weights = [step for step in d if step.stem == "A" and step.token is None]
    for i, step in enumerate(weights):
        for other in weights[:i]:
            if step.result == other.result:
                return f"{other.name} and {step.name} are equal"
    return ""


def projections(source: str = "d_model") -> Shapes:
    """The weights of the queries of all heads, and of keys and values that come from inputs of some width."""
    return {"W_Q": ("d_model", "h*d_k"), "W_K": (source, "g*d_k"), "W_V": (source, "g*d_v")}


def output_and_biases(width: str) -> Shapes:
    """What heads may have besides their projections, with an output so wide."""
    return {
        "W_O": ("h*d_v", width),
        "b_Q": ("1", "h*d_k"),
        "b_K": ("1", "g*d_k"),
        "b_V": ("1", "g*d_v"),
        "b_O": ("1", width),
    }


MECHANISM = Mechanism(
    name="multi_head_attention",
    title="Multi-head attention",
    givens={"X": ("n", "d_model"), **projections()},
    optional={**output_and_biases("d_out"), "B": ("n", "n"), "B_{head}": ("n", "n")},
    usual=("W_O",),
    defaults={"heads": 2},
    uses=SCORES | HEADS,
    default_sizes={"n": 2, "d_model": 3, "d_k": 4, "d_v": 2, "d_out": 3},
    derive=derive,
    draw=draw,
    complaint=alike,
)
