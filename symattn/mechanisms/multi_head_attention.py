"""Multi-head attention: Vaswani et al. 2017, section 3.2.2.

The weights of all heads stand side by side, so that head i has the i-th block of columns of Q, K and V.  With fewer key
and value heads, groups of query heads share them: one for all is multi-query attention (Shazeer 2019), more of them
grouped-query attention (Ainslie et al. 2023).
"""

from __future__ import annotations

from collections.abc import Mapping

from symattn.derivation import Derivation
from symattn.exact import Size
from symattn.mechanisms.base import HEADS, SCORES, Mechanism, Scope, Settings, attend, project
from symattn.ops import Add, MatMul, Part, Stack


def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
    return heads(d, settings, sizes)


def heads(
    d: Derivation, settings: Settings, sizes: Mapping[str, Size], source: str = "X", memory: str = "", place: str = ""
) -> Derivation:
    """The whole layer: projections, the heads, their outputs side by side, and W_O.

    Queries are projected from `source`, keys and values from `memory`, or from `source` where there is none.  With one
    head and no W_O the last step is Z, otherwise O.
    """
    at = f"^{place}" if place else ""
    for role in settings.order:
        d = project(d, role, settings, source if role == "Q" else memory or source, place)
    h, output = settings.heads, f"W_O{at}" in d.givens
    if h == 1:
        d = attend(d, settings, sizes, Scope(place=place))
    else:
        d = _each_head(d, settings, sizes, place)
        d = d.then(f"C{at}", Stack("columns"), *(f"Z_{i}{at}" for i in range(1, h + 1)), section="all heads")
    if not output:
        return d
    names = [f"O{at}"] if f"b_O{at}" not in d.givens else [f"O_product{at}", f"O{at}"]
    d = d.then(names[0], MatMul(), f"Z{at}" if h == 1 else f"C{at}", f"W_O{at}", section=d.last.section)
    return d.then(names[1], Add(), names[0], f"b_O{at}", section=d.last.section) if names[1:] else d


def _each_head(d: Derivation, settings: Settings, sizes: Mapping[str, Size], place: str) -> Derivation:
    h, g = settings.heads, settings.groups
    at = f"^{place}" if place else ""
    for i in range(1, h + 1):
        group = (i - 1) // (h // g) + 1
        names = []
        for role, of, own in (("Q", h, i), ("K", g, group), ("V", g, group)):
            name = f"{role}_{own}{at}"
            if of == 1:
                name = f"{role}{at}"
            elif name not in d:
                d = d.then(name, part(settings, d.value(f"{role}{at}").shape[1], of, own), f"{role}{at}",
                           section=Scope(i, place).section)  # fmt: skip
            names.append(name)
        d = attend(d, settings, sizes, Scope(i, place, h), (names[0], names[1], names[2]))
    return d


def part(settings: Settings, width: Size, of: int, own: int) -> Part:
    """The columns of one head of several."""
    assert isinstance(width, int)
    count = width // of
    return Part(own - 1, count, of) if settings.split == "interleaved" else Part((own - 1) * count, count)


MECHANISM = Mechanism(
    name="multi_head_attention",
    title="Multi-head attention",
    givens={
        "X": ("n", "d_model"),
        "W_Q": ("d_model", "h*d_k"),
        "W_K": ("d_model", "g*d_k"),
        "W_V": ("d_model", "g*d_v"),
        "W_O": ("h*d_v", "d_out"),
    },
    optional={
        "b_Q": ("1", "h*d_k"),
        "b_K": ("1", "g*d_k"),
        "b_V": ("1", "g*d_v"),
        "b_O": ("1", "d_out"),
        "B": ("n", "n"),
    },
    defaults={"heads": 2},
    uses=SCORES | HEADS,
    default_sizes={"n": 2, "d_model": 4, "d_k": 1, "d_v": 2, "d_out": 4},
    derive=derive,
)
