"""A figure in words, for those who listen: every box, every label, every arrow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symattn.formula import Annotated, Formula, Relation
from symattn.formula.speech import speak
from symattn.foundation.languages import say
from symattn.page.document import Diagram, Inlines, Math, Place, spans

ARROWS = "Arrows run from bottom to top."


def described(diagram: Diagram, what: str) -> Diagram:
    """The diagram with a description: `what` it shows, then its layers from the bottom, arrows and frames.

    It is in the language that is spoken (`symattn.foundation.languages.speaking`); so are `what` and the words in the
    diagram.
    """
    said = {place: speak(box) for place, box in _boxes(diagram)}
    sentences = [say("{figure}.", figure=what), say(ARROWS)]
    for number, (i, layer) in enumerate(reversed(list(enumerate(diagram.layers))), 1):
        boxes = "; ".join(said[i, j] for j in range(len(layer.boxes)))
        sentences.append(say("Layer {layer}: {boxes}.", layer=number, boxes=boxes))
        if layer.remark:
            sentences.append(say("Beside it: {remark}.", remark=spoken(layer.remark)))
    short = {place: speak(_name(box)) for place, box in _boxes(diagram)}
    targets: dict[tuple[Place, ...], list[Place]] = {}
    for target in dict.fromkeys(target for _, target in sorted(diagram.edges, key=lambda edge: -edge[1][0])):
        sources = tuple(source for source, other in diagram.edges if other == target)
        targets.setdefault(sources, []).append(target)
    for sources, reached in targets.items():
        start, end = _listed(short[p] for p in sources), _listed(short[p] for p in reached)
        sentences.append(say("From {sources} to {targets}.", sources=start, targets=end))
    for frame in diagram.frames:
        boxes = _listed(short[place] for place in frame.boxes)
        sentences.append(say("In a frame, {frame}: {boxes}.", frame=spoken(frame.label), boxes=boxes))
    return replace(diagram, title=what, description=" ".join(sentences))


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


def spoken(content: Inlines) -> str:
    """Text with formulas in words."""
    words = "".join(speak(part.formula) if isinstance(part, Math) else part.text for part in spans(content))
    return " ".join(filter(None, words.split(" ")))


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return say("{items} and {item}", items=", ".join(others), item=last) if others else last
