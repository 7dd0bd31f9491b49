"""A figure in words, for those who listen: every box, every label, every arrow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symattn.document import Diagram, Inlines, Math, Place
from symattn.formula import Annotated, Formula, Relation
from symattn.formula.speech import speak


def described(diagram: Diagram, what: str) -> Diagram:
    """The diagram with a description: `what` it shows, then its layers from the bottom, arrows and frames."""
    said = {place: speak(box) for place, box in _boxes(diagram)}
    sentences = [f"{what}.", "Arrows run from bottom to top."]
    for number, (i, layer) in enumerate(reversed(list(enumerate(diagram.layers))), 1):
        boxes = "; ".join(said[i, j] for j in range(len(layer.boxes)))
        sentences.append(f"Layer {number}: {boxes}.")
        if layer.remark:
            sentences.append(f"Beside it: {_spoken(layer.remark)}.")
    short = {place: speak(_name(box)) for place, box in _boxes(diagram)}
    targets: dict[tuple[Place, ...], list[Place]] = {}
    for target in dict.fromkeys(target for _, target in sorted(diagram.edges, key=lambda edge: -edge[1][0])):
        sources = tuple(source for source, other in diagram.edges if other == target)
        targets.setdefault(sources, []).append(target)
    for sources, reached in targets.items():
        sentences.append(f"From {_listed(short[p] for p in sources)} to {_listed(short[p] for p in reached)}.")
    for frame in diagram.frames:
        sentences.append(f"In a frame, {_spoken(frame.label)}: {_listed(short[place] for place in frame.boxes)}.")
    return replace(diagram, description=" ".join(sentences))


def _boxes(diagram: Diagram) -> Iterable[tuple[Place, Formula]]:
    return (((i, j), box) for i, layer in enumerate(diagram.layers) for j, box in enumerate(layer.boxes))


def _name(box: Formula) -> Formula:
    """What a box is called, without its shape, its rule or its numbers."""
    match box:
        case Annotated(body, _, _):
            return _name(body)
        case Relation((name, *_), _):
            return name
        case _:
            return box


def _spoken(content: Inlines) -> str:
    return " ".join("".join(speak(i.formula) if isinstance(i, Math) else i.text for i in content).split())


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
