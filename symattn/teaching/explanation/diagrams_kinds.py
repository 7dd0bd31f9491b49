"""The figures that can be had of a derivation, by name: `symattn derive … --diagram=KIND`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from symattn.derivation.mechanisms.backward import is_gradient
from symattn.errors import InputError, offered
from symattn.page.document import Block, Document
from symattn.teaching.explanation.diagrams_attention import dot_products, heads
from symattn.teaching.explanation.diagrams_blocks import blocks, recurrence
from symattn.teaching.explanation.diagrams_graph import graph
from symattn.teaching.explanation.diagrams_weights import weights
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem

Kind = Callable[[Wording], list[Block]]

DIAGRAMS: Mapping[str, Kind] = MappingProxyType(
    {
        "graph": graph,
        "dot-products": dot_products,
        "weights": weights,
        "heads": heads,
        "blocks": blocks,
        "recurrence": recurrence,
    }
)
"""Each gives blocks, or an `InputError` that says why the derivation has no such figure."""


_DEFAULT = {
    "multi_head_attention": "heads",
    "encoder_block": "blocks",
    "encoder_block_gradient": "blocks",
    "decoder_block": "blocks",
    "encoder": "blocks",
    "recurrent_network": "recurrence",
}


def default_diagram(problem: Problem) -> list[Block]:
    """The figure that a derivation begins with: of mechanisms that are put together of others, an overview.

    A note as it was written has what it has.
    """
    kind = _DEFAULT.get(problem.mechanism)
    if kind is None or not problem.corrected:
        return []
    try:
        return _drawn(problem, kind)
    except InputError:  # with a single head there are no heads to show
        return []


def diagram_document(problem: Problem, kind: str = "graph") -> Document:
    """One figure of a problem as a document of its own; `InputError` where there is no such figure."""
    if kind not in DIAGRAMS:
        raise InputError(f"There is no diagram {kind!r}; {offered(kind, DIAGRAMS)}")
    return Document(problem.title, tuple(_drawn(problem, kind)))


def _drawn(problem: Problem, kind: str) -> list[Block]:
    """One figure; the way back is drawn in the graph of the computation alone, the others are of the forward pass."""
    d = problem.derivation
    if kind != "graph":
        d = replace(d, steps=tuple(step for step in d if not is_gradient(step)))
    return DIAGRAMS[kind](Wording(d, problem.notation))
